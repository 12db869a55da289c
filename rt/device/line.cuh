/* SPDX-License-Identifier: Apache-2.0
 *
 * line.cuh: lines of memory, which copies and products of matrices access as a whole.
 *
 * A line is 128 bytes of global memory, or 1 KiB of shared memory: eight rows of 128 bytes, in
 * which the widest swizzle moves pieces of 16 bytes about.  (PTX ISA, Swizzling Modes;
 * Asynchronous Warpgroup Level Matrix Instructions: Strides)  While asynchronous operations
 * alone access it, each in whole columns of that swizzle, all granules of a column would have
 * the same records.  So they are kept once: the line is linked.  Each of its granules has a
 * mark in place 1, its first four a record of the line in place 2, whose byte mask says which
 * of eight columns it is of.
 * A line of shared memory may have records of rows, too: of a warp's weak access of 512 bytes,
 * half a line, by which each lane has 16 of them (row.cuh).
 * The mark is like the record of a write of all bytes that nobody knows to be over, so that
 * whoever accesses a granule in another way puts in his record, sees it, and opens the line:
 * every granule gets its column's records, and of a row that of the lane that accessed it.
 * Marks and records of operations change while the line is locked, in the mark of its first
 * granule; rows come without.
 */
#define line_spill      __gsan_v1_line_spill
#define lines_spill     __gsan_v1_lines_spill
#define line_state      __gsan_v1_line_state
#define lines_begin     __gsan_v1_lines_begin

#define LINE_BYTES      1024u   /* of shared memory */
#define LINE_GLOBAL     128u    /* of global memory */
#define LINE_RECORDS    4u      /* in place 2 of the first granules */
#define LINE_ALL        255u    /* columns */
#define LINE_SITES      16u     /* granules whose words of places 1 and 2 are the line's */
#define LINE_OPENED     64u     /* lines opened again, or not linked, before a block links no more */
#define LINE_BLOCKS     16u     /* such blocks before the launch's others do not begin to */
#define LINE_NONE       (GSAN_LINE | (u64)GSAN_ASYNC_CLOCK << 35)

struct line { u64 *sh; u32 *st, granules; };

FN bool is_shared_line(struct line l) { return l.granules > LINE_GLOBAL / 8; }

/* Of the granule with records at `sh`. */
FN struct line line_of(const u64 *sh)
{
	bool shared = (u64)sh >= GSAN_SHADOW_SHARED;
	u32 bytes = shared ? LINE_BYTES : LINE_GLOBAL;
	u64 off = ((u64)sh - (shared ? GSAN_SHADOW_SHARED : GSAN_SHADOW)) & ~(u64)(bytes * 4 - 1);
	struct line l;
	l.sh = at<u64>((shared ? GSAN_SHADOW_SHARED : GSAN_SHADOW) + off);
	l.st = at<u32>((shared ? GSAN_SITES_SHARED : GSAN_SITES) + off / 2);
	l.granules = bytes / 8;
	return l;
}

/* The column of a granule. */
FN u32 line_column(u32 i) { return (i >> 1 ^ i >> 4) & 7; }

FN u64 *line_record(struct line l, u32 j) { return l.sh + 4 * j + 2; }

/* Where the site of record `j` in a column is: the words of places 1 and 2 of two granules. */
FN u32 *line_site(struct line l, u32 j, u32 column) { return l.st + 4 * (2 * column + (j & 1)) + 1 + (j >> 1); }

/* Record `j`; what another has exchanged for his own for a moment (column_put) comes back. */
FN u64 line_load(struct line l, u32 j)
{
	u64 r = load64(line_record(l, j));
	ROLLED
	for (u32 k = 0; k < 1000 && !of_line(r); k++)
		r = load64(line_record(l, j));
	return of_line(r) ? r : LINE_NONE;
}

/* It as an operation's, as a granule of its columns has it, and back. */
FN u64 operation(u64 r) { return r | GSAN_KIND_ASYNC << 8; }
FN u64 whole(u64 r) { return operation(r) | 255; }
FN u64 in_line(u64 r) { return (r & ~(u64)(GSAN_KIND_ASYNC << 8)) | GSAN_LINE; }

/* The record of a row has no columns, and where others have 26 bits of clock and their lane it has
 * its warp's clock << 2 | which half << 1 | whether it writes. */
FN bool is_row(u64 r) { return of_line(r) && !(r & 255) && r != LINE_NONE; }
FN u32 row_bits(u64 r) { return (GSAN_REC_CLOCK(r) & ((1u << 26) - 1)) << 5 | GSAN_REC_LANE(r); }
FN u32 row_clock(u64 r) { return row_bits(r) >> 2; }
FN u32 row_half(u64 r) { return row_bits(r) >> 1 & 1; }
FN bool row_writes(u64 r) { return row_bits(r) & 1; }

FN u64 row_record(u32 clock, u32 id, u32 half, u32 write)
{
	u32 hi = GSAN_ASYNC_CLOCK << 3 | (clock & ~7u) | id >> 15, lo = id << 17 | (clock & 7) << 14 | half << 13 | write << 12 | GSAN_LINE;
	return (u64)hi << 32 | lo;
}

/* The same as a lane's record, in each of its granules. */
FN u64 row_weak(u64 r, u32 lane)
{
	return (u64)row_clock(r) << 35 | (r & 0x3ffffull << 17) | (u64)lane << 12 | (row_writes(r) ? GSAN_KIND_WRITE << 8 : 0) | 255;
}

/* Record `r` of a line as its granule `i` has it; 0: it is not of that one. */
FN u64 in_granule(u64 r, u32 i)
{
	if (is_row(r))
		return row_half(r) == i >> 6 ? row_weak(r, i >> 1 & 31) : 0;
	return r >> line_column(i) & 1 ? whole(r) : 0;
}

/* Locks a line whose first mark was `mark` a moment ago; false: others are at it. */
FN bool line_lock(struct line l, u64 mark)
{
	return is_mark(mark) && mark != GSAN_MARK_LOCKED && swap(l.sh + 1, mark, GSAN_MARK_LOCKED) == mark;
}

/* The line's lock is let go: its first granule's mark is now `v`.  Whoever exchanged it for
 * his own record for a moment puts it back. */
FN void line_unlock(struct line l, u64 v)
{
	ROLLED
	for (u32 k = 0; k < 10000; k++)
		if (swap(l.sh + 1, GSAN_MARK_LOCKED, v) == GSAN_MARK_LOCKED)
			return;
	exchange64(l.sh + 1, v);
}

/* Is a copy from or to there, in the slot's shared memory, walked line by line?  Where the line is linked, at a moment, or
 * may be: lines that threads have written a few bytes each are not, mostly, and are walked as granules, by several warps. */
FN bool by_lines(u32 slot, u32 off, bool may, bool writes)
{
	if (may && writes)
		return true;
	off &= SHARED_WINDOW;
	if (off + LINE_BYTES > load(&block_of(slot)->shared_limit))
		return false;
	u64 row = (u64)(off >> 13) * ROOT(nslots) + slot, *sh = at<u64>(GSAN_SHADOW_SHARED + (row << 15) + (off & 0x1ff8) * 4);
	uint4 a = load_cg(sh), c = load_cg(sh + 2);
	u32 low[4] = { a.x, a.z, c.x, c.z };
	bool parts = false;
#pragma unroll
	for (u32 k = 0; k < 4; k++)
		parts |= (low[k] & 0xf00) == GSAN_KIND_WRITE << 8 && (low[k] & 255) != 255;
	return is_mark((u64)a.w << 32 | a.z) || (may && !parts);
}

/* Is an operation's record of no account any more?  One of a launch that overlaps is not over
 * for its being of another. */
FN bool line_over(struct gsan_warp *w, u64 r, bool shared)
{
	return (shared || async_over(w, r, OF_LANE)) && over_for_all(w, r, shared);
}

/* Is the record of a row of an earlier tenant of the slot? */
FN bool row_gone(u64 r) { return row_clock(r) <= load(&block_of(GSAN_REC_SLOT(r))->start); }

/* The first copy of the block.  Where other blocks had to open many lines its own would be, too. */
SLOW void lines_begin(struct gsan_block *b)
{
	bool may = load(&launch_of(b)->opened) < LINE_BLOCKS;
	store_ca32(&b->lines, may ? GSAN_LINES_MAY : GSAN_LINES_NO_MORE);
}

/* A line was opened, or could not be linked. */
FN void line_failed(struct gsan_block *b)
{
	if (fetch_add(&b->opened, 1) + 1 != LINE_OPENED)
		return;
	store_ca32(&b->lines, GSAN_LINES_NO_MORE);
	fetch_add(&launch_of(b)->opened, 1);
}

/* What there is to know of a locked line.  Of a row the first site is the number itself. */
struct line_state { u64 r[LINE_RECORDS]; u32 site[LINE_RECORDS][8]; };

/* Takes record `j` out: rows come without the lock, and see that there is no line any more. */
FN u64 line_take(struct line l, u32 j)
{
	ROLLED
	for (u32 k = 0; k < 8; k++) {
		u64 r = line_load(l, j);
		if (swap(line_record(l, j), r, 0) == r)
			return r;
	}
	return LINE_NONE;
}

/* By all of `group`, to each of it. */
SLOW void line_state(u32 group, struct line l, struct line_state *s)
{
	u32 lead = __ffs(group) - 1;
	ROLLED
	for (u32 j = 0; j < LINE_RECORDS; j++) {
		u64 r = 0;
		if (sreg_laneid() == lead)
			r = line_take(l, j);
		s->r[j] = r = __shfl_sync(group, r, lead);
		ROLLED
		for (u32 c = 0; c < 8; c++)
			s->site[j][c] = load(line_site(l, j, c));
		/* It is stored behind the record. */
		bool row = is_row(r);
		u32 site = 0;
		ROLLED
		for (u32 k = 0; k < 1000 && row && !site; k++)
			site = site_in(load(line_site(l, j, 0)), row_weak(r, 0));
		s->site[j][0] = row ? site : s->site[j][0];
		meet_all(group);
	}
}

/* Puts `now` into a granule, if it is not there; false: the only place left is that of the
 * mark. */
FN bool spilled(u64 *sh, u32 *st, u64 now, u32 site, bool shared)
{
	uint4 a = load_cg(sh), c = load_cg(sh + 2);
	u32 free = (a.x | a.y ? 0 : 1) | (c.x | c.y ? 0 : 4) | (c.z | c.w ? 0 : 8), lo = (u32)now, hi = (u32)(now >> 32);
	if ((a.x == lo && a.y == hi) || (a.z == lo && a.w == hi) || (c.x == lo && c.y == hi) || (c.z == lo && c.w == hi))
		return true;
	u32 k = free ? place_in(free, first_place(now), shared) : 4;
	if (k == 4 || swap(sh + k, 0, now))
		return false;
	store(st + k, site);
	return true;
}

/* Granule `i` of an opened line gets its records. */
FN void granule_spill(struct gsan_warp *w, struct line l, const struct line_state *s, u32 over, u32 i)
{
	u32 *evicted = &warp_of(w->slot, w->id & 31)->evicted, last_site = 0;
	u64 *sh = l.sh + 4 * i, last = 0;
	if (i < LINE_SITES)
		swap(sh + 2, i < LINE_RECORDS ? s->r[i] : LINE_NONE, 0);
	ROLLED
	for (u32 j = 0; j < LINE_RECORDS; j++) {
		u64 r = s->r[j], now = over >> j & 1 ? 0 : in_granule(r, i);
		if (!now)
			continue;
		u32 site = s->site[j][is_row(r) ? 0 : line_column(i)];
		site = is_row(r) && site ? site_word(site, now) : site;
		if (spilled(sh, l.st + 4 * i, now, site, is_shared_line(l)))
			continue;
		if (last)
			fetch_add(evicted, 1);
		last = now;
		last_site = site;
	}
	if (last)
		store(l.st + 4 * i + 1, last_site);
	/* Somebody may have taken its place before it was there.  The first granule's mark is the lock. */
	if (!i)
		line_unlock(l, last);
	else if (swap(sh + 1, GSAN_MARK, last) != GSAN_MARK && last)
		fetch_add(evicted, 1);
}

/* The line is locked, and opened: its granules have records of their own again.  All of `group`
 * know its state. */
SLOW void line_spill(struct gsan_warp *w, u32 group, struct line l, const struct line_state *s)
{
	u32 over = 0, n = __popc(group), rank = __popc(group & ((1u << sreg_laneid()) - 1));
	ROLLED
	for (u32 j = 0; j < LINE_RECORDS; j++) {
		u64 r = s->r[j];
		bool gone = r == LINE_NONE || (is_row(r) ? row_gone(r) : line_over(w, whole(r), is_shared_line(l)));
		over |= gone ? 1u << j : 0;
	}
	meet_all(group);
	ROLLED
	for (u32 i = 1 + rank; i < l.granules; i += n)
		granule_spill(w, l, s, over, i);
	meet_all(group);
	if (!rank) {
		granule_spill(w, l, s, over, 0);
		line_failed(own_block(w));
	}
	meet_all(group);
}

/* Lines that lanes of the group, all of which come, have locked (`mine`), are opened. */
SLOW void lines_spill(struct gsan_warp *w, u32 group, bool mine, u64 *sh)
{
	ROLLED
	for (u32 lanes = __ballot_sync(group, mine); lanes; lanes &= lanes - 1) {
		u32 from = __ffs(lanes) - 1;
		struct line l = line_of((u64 *)__shfl_sync(group, (u64)sh, from));
		struct line_state s;
		line_state(group, l, &s);
		line_spill((struct gsan_warp *)__shfl_sync(group, (u64)w, from), group, l, &s);
	}
}

/* The granule at `sh` of each calling lane has a mark, or had one a moment ago.  Of lanes that
 * are together and come to one line the first opens it. */
SLOW void line_open(struct gsan_warp *w, u64 *sh)
{
	u32 group = together();
	struct line l = line_of(sh);
	bool opens = sreg_laneid() == __ffs(__match_any_sync(group, (u64)l.sh)) - 1;
	ROLLED
	while (__ballot_sync(group, is_mark(load64(sh + 1)))) {
		lines_spill(w, group, opens && line_lock(l, load64(l.sh + 1)), l.sh);
		/* A mark that was put back behind that (column_put), as may be a line's record. */
		if (!is_mark(load64(l.sh + 1)))
			swap(sh + 1, GSAN_MARK, 0);
		opens = true;
		meet_all(group);
	}
	u64 r = load64(sh + 2);
	if (of_line(r) && !is_mark(load64(sh + 1)) && !is_mark(load64(l.sh + 1)))
		swap(sh + 2, r, 0);
}
