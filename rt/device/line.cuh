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
#define line_link       __gsan_v1_line_link
#define link_granule    __gsan_v1_link_granule
#define link_end        __gsan_v1_link_end
#define line_link_one   __gsan_v1_line_link_one
#define lines_global    __gsan_v1_lines_global
#define line_put        __gsan_v1_line_put
#define line_judge      __gsan_v1_line_judge
#define lines_begin     __gsan_v1_lines_begin
#define row_status      __gsan_v1_row_status
#define line_pass       __gsan_v1_line_pass
#define lines_issue     __gsan_v1_lines_issue

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
	u32 bits = clock << 2 | half << 1 | write;
	return (u64)(GSAN_ASYNC_CLOCK | bits >> 5) << 35 | (u64)id << 17 | (u64)(bits & 31) << 12 | GSAN_LINE;
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

/* Is the line of the slot's shared memory linked, at a moment? */
FN bool is_linked(u32 slot, u32 off)
{
	off &= SHARED_WINDOW;
	if (off + LINE_BYTES > load(&block_of(slot)->shared_limit))
		return false;
	u64 row = (u64)(off >> 13) * ROOT(nslots) + slot;
	return is_mark(load64(at<u64>(GSAN_SHADOW_SHARED + (row << 15) + (off & 0x1ff8) * 4) + 1));
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
	bool may = (ROOT(options) & GSAN_OPT_ROWS) && load(&launch_of(b)->opened) < LINE_BLOCKS;
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
		lines_spill(w, group, opens && swap(l.sh + 1, GSAN_MARK, GSAN_MARK_LOCKED) == GSAN_MARK, l.sh);
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

/* ---- Linking ------------------------------------------------------------------------ */

/* What the granules of a line must have, by place, with its site; a record that is of no
 * account is none. */
struct link { struct gsan_warp *w; u64 r[4]; u32 site[4]; bool shared, vacant; };

/* What of a granule's record is of account for linking; ~0: it cannot be linked.  In shared
 * memory what threads of the slot's earlier tenants left is of none, in global memory what
 * earlier launches did. */
FN u64 linkable(const struct link *k, u64 r)
{
	if (!r || is_mark(r))
		return r ? ~0ull : 0;
	if (GSAN_REC_KIND(r) != GSAN_KIND_ASYNC)
		return k->shared ? (GSAN_REC_CLOCK(r) <= k->w->start ? 0 : ~0ull) : GSAN_REC_CLOCK(r) < k->w->launch_base ? 0 : ~0ull;
	if (!k->shared)
		return line_over(k->w, r, false) ? 0 : ~0ull;
	if (k->vacant && !generic_too(r) && over_for_all(k->w, r, true))
		return 0;
	return GSAN_REC_BYTES(r) == 255 && ((async_what(r) & GSAN_ASYNC_MBAR) || async_how(r) == GSAN_HOW_BULK ||
					    async_how(r) == GSAN_HOW_WGMMA) ? r : ~0ull;
}

/* Takes a record out, puts `now` there.  False: another was quicker. */
FN bool replaced(u64 *place, u64 old, u64 now) { return old == now || swap(place, old, now) == old; }

/* Is granule `i` of the line as it must be?  If `mark`, it is marked, and the line's record
 * `own` takes place 2; the first one's mark is the lock, which is there. */
SLOW bool link_granule(const struct link *k, struct line l, u32 i, bool mark, u64 own)
{
	u64 *sh = l.sh + 4 * i;
	uint4 a = load_cg(sh), c = load_cg(sh + 2), words = load_cg(l.st + 4 * i);
	ROLLED
	for (u32 n = 0; n < 4; n++) {
		u32 p = n < 2 ? n ^ 1 : n;      /* the mark first */
		u64 r = p & 2 ? (p & 1 ? (u64)c.w << 32 | c.z : (u64)c.y << 32 | c.x) : (p & 1 ? (u64)a.w << 32 | a.z : (u64)a.y << 32 | a.x);
		u32 site = p & 2 ? (p & 1 ? words.w : words.z) : p & 1 ? words.y : words.x;
		if (mark && !i && p == 1)
			continue;
		u64 has = r == k->r[p] ? r : linkable(k, r);
		if (has != k->r[p] || (has && site != k->site[p]))
			return false;
		if (mark && !replaced(sh + p, r, p == 1 ? GSAN_MARK : p == 2 ? own : 0))
			return false;
	}
	return true;
}

/* Mostly nothing stands in global memory but what threads of earlier launches left.  Of four granules
 * that follow each other what is to be waited for is on its way at once. */
enum { VACANT_AT_ONCE = 4, MARKED_AT_ONCE = 8 };

FN bool link_vacant(const struct link *k, struct line l, u32 i, bool mark)
{
	u32 bound = HIGH(k->w->launch_base);
	u64 *sh = l.sh + 4 * i;
	uint4 a[VACANT_AT_ONCE], c[VACANT_AT_ONCE];
	bool fine = true;
#pragma unroll
	for (u32 n = 0; n < VACANT_AT_ONCE; n++) {
		a[n] = load_cg(sh + 4 * n);
		c[n] = load_cg(sh + 4 * n + 2);
	}
	u32 other = 0;          /* granules with something else */
#pragma unroll
	for (u32 n = 0; n < VACANT_AT_ONCE; n++)
		other |= (a[n].y >= bound) | ((a[n].w >= bound) & (i + n || !mark)) | (c[n].y >= bound) | (c[n].w >= bound) ? 1u << n : 0;
	ROLLED
	for (u32 m = other; m && fine; m &= m - 1)
		fine = link_granule(k, l, i + __ffs(m) - 1, mark, LINE_NONE);
	if (!mark || !fine)
		return fine;
	u64 marked[VACANT_AT_ONCE], own[VACANT_AT_ONCE];
#pragma unroll
	for (u32 n = 0; n < VACANT_AT_ONCE; n++) {
		bool locked = !(i + n), done = other >> n & 1;
		marked[n] = done || locked ? (u64)a[n].w << 32 | a[n].z : swap(sh + 4 * n + 1, (u64)a[n].w << 32 | a[n].z, GSAN_MARK);
		own[n] = done ? (u64)c[n].y << 32 | c[n].x : swap(sh + 4 * n + 2, (u64)c[n].y << 32 | c[n].x, LINE_NONE);
	}
#pragma unroll
	for (u32 n = 0; n < VACANT_AT_ONCE; n++) {
		fine &= marked[n] == ((u64)a[n].w << 32 | a[n].z) && own[n] == ((u64)c[n].y << 32 | c[n].x);
		if (other >> n & 1)
			continue;
		fine &= !(a[n].x | a[n].y) || replaced(sh + 4 * n, (u64)a[n].y << 32 | a[n].x, 0);
		fine &= !(c[n].z | c[n].w) || replaced(sh + 4 * n + 3, (u64)c[n].w << 32 | c[n].z, 0);
	}
	return fine;
}

/* Or nothing at all, in the whole line of global memory. */
FN bool line_empty(struct line l)
{
	u32 any = 0;
	ROLLED
	for (u32 i = 0; i < LINE_GLOBAL / 8; i += VACANT_AT_ONCE) {
		uint4 v[2 * VACANT_AT_ONCE];
#pragma unroll
		for (u32 n = 0; n < 2 * VACANT_AT_ONCE; n++)
			v[n] = load_cg(l.sh + 4 * i + 2 * n);
#pragma unroll
		for (u32 n = 0; n < 2 * VACANT_AT_ONCE; n++)
			any |= v[n].x | v[n].y | v[n].z | v[n].w;
	}
	return !any;
}

/* It is marked if nothing came. */
FN bool empty_marked(struct line l)
{
	u64 any = 0;
	ROLLED
	for (u32 i = 0; i < LINE_GLOBAL / 8; i += MARKED_AT_ONCE) {
		u64 was[MARKED_AT_ONCE], had[MARKED_AT_ONCE];
#pragma unroll
		for (u32 n = 0; n < MARKED_AT_ONCE; n++) {
			was[n] = i + n ? swap(l.sh + 4 * (i + n) + 1, 0, GSAN_MARK) : 0;
			had[n] = swap(l.sh + 4 * (i + n) + 2, 0, LINE_NONE);
		}
#pragma unroll
		for (u32 n = 0; n < MARKED_AT_ONCE; n++)
			any |= was[n] | had[n];
	}
	return !any;
}

/* Has granule `i`, which was marked, nothing but what it was given?  Who came between the look
 * and the mark is seen now; who comes later sees the mark. */
FN bool marked_alone(uint4 a, uint4 c) { return !(a.x | a.y | c.z | c.w) & is_mark((u64)a.w << 32 | a.z); }

FN bool link_stands(struct line l, u32 i)
{
	uint4 a = load_cg(l.sh + 4 * i), c = load_cg(l.sh + 4 * i + 2);
	return marked_alone(a, c) && (i < LINE_SITES || !(c.x | c.y));
}

/* The line is locked: it is linked if `fine`, else opened.  By all of `group`, which have linked it. */
SLOW void link_end(const struct link *k, u32 group, struct line l, bool fine)
{
	if (fine) {
		if (sreg_laneid() == __ffs(group) - 1)
			line_unlock(l, GSAN_MARK);
		meet_all(group);
		return;
	}
	struct line_state s;
	ROLLED
	for (u32 j = 0; j < LINE_RECORDS; j++) {
		s.r[j] = k->r[j] ? in_line(k->r[j]) : LINE_NONE;
		ROLLED
		for (u32 c = 0; c < 8; c++)
			s.site[j][c] = k->site[j];
	}
	line_spill(k->w, group, l, &s);
}

FN u64 link_own(const struct link *k, u32 i)
{
	return i >= LINE_SITES ? 0 : i < LINE_RECORDS && k->r[i] ? in_line(k->r[i]) : LINE_NONE;
}

enum { LINK_NOT, LINK_DONE, LINK_AGAIN };

/* The lanes of `group` link the line of the own block's shared memory, if a copy filled it
 * and nothing has come since but what is alike in all its granules; or if nothing of account
 * stands there at all and `vacant` is enough. */
SLOW u32 line_link(struct gsan_warp *w, u32 group, struct line l, bool vacant)
{
	u32 lead = __ffs(group) - 1, n = __popc(group), rank = __popc(group & ((1u << sreg_laneid()) - 1));
	struct link k;
	bool filled = vacant, fine = true;
	/* What the first lane sees: others may look at another moment. */
	u64 lock = __shfl_sync(group, load64(l.sh + 1), lead);
	k.w = w;
	k.shared = true;
	k.vacant = vacant;
	ROLLED
	for (u32 p = 0; p < 4; p++) {
		u64 r = linkable(&k, p == 1 ? lock : load64(l.sh + p));
		meet_all(group);
		k.r[p] = r = __shfl_sync(group, r, lead);
		k.site[p] = __shfl_sync(group, load(l.st + p), lead);
		filled |= (async_what(r) & GSAN_ASYNC_MBAR) && (r & ASYNC_WRITES);
		fine &= r != ~0ull;
	}
	if (is_mark(lock))
		return LINK_AGAIN;
	if (!filled || !fine)
		return LINK_NOT;
	ROLLED
	for (u32 i = rank; i < LINE_BYTES / 8; i += n)
		fine &= link_granule(&k, l, i, false, 0);
	meet_all(group);
	if (!__all_sync(group, fine))
		return LINK_NOT;
	if (!rank)
		fine = replaced(l.sh + 1, lock, GSAN_MARK_LOCKED);
	meet_all(group);
	if (!__all_sync(group, fine))
		return LINK_AGAIN;
	ROLLED
	for (u32 i = rank; i < LINE_BYTES / 8; i += n)
		fine &= link_granule(&k, l, i, true, link_own(&k, i));
	/* The sites of the line's records stand where no granule needs them any more. */
	meet_all(group);
	ROLLED
	for (u32 i = rank; i < 8 * LINE_RECORDS; i += n)
		store(line_site(l, i >> 3, i & 7), k.site[i >> 3]);
	__threadfence();
	meet_all(group);
	ROLLED
	for (u32 i = rank; i < LINE_BYTES / 8; i += n)
		fine &= link_stands(l, i);
	meet_all(group);
	fine = __all_sync(group, fine);
	link_end(&k, group, l, fine);
	return fine ? LINK_DONE : LINK_NOT;
}

/* The sites of an operation's columns are those of the line's record `j`. */
FN void sites_put(const struct issue *x, struct line l, u32 j, u64 now)
{
	ROLLED
	for (u32 m = (u32)now & 255; m; m &= m - 1) {
		u32 c = __ffs(m) - 1;
		store(line_site(l, j, c), site_word(site_of_column(x, c), whole(now)));
	}
}

/* The calling lane links a line of global memory, where nothing is of account, with record `now` of
 * its operation.  False: it is not in. */
SLOW bool line_link_one(const struct issue *x, struct line l, u64 now)
{
	struct link k;
	bool fine = true;
	u64 lock = load64(l.sh + 1);
	k.w = x->w;
	k.shared = k.vacant = false;
	ROLLED
	for (u32 p = 0; p < 4; p++)
		k.r[p] = k.site[p] = 0;
	bool empty = line_empty(l);
	ROLLED
	for (u32 i = 0; i < LINE_GLOBAL / 8 && fine && !empty; i += VACANT_AT_ONCE)
		fine = link_vacant(&k, l, i, false);
	if (!fine || is_mark(lock) || !replaced(l.sh + 1, lock, GSAN_MARK_LOCKED))
		return false;
	if (empty)
		fine = empty_marked(l);
	ROLLED
	for (u32 i = 0; i < LINE_GLOBAL / 8 && fine && !empty; i += VACANT_AT_ONCE)
		fine = link_vacant(&k, l, i, true);
	bool in = false;
	if (fine) {
		sites_put(x, l, 0, now);
		in = swap(line_record(l, 0), LINE_NONE, in_line(now)) == LINE_NONE;
	}
	__threadfence();
	u32 stands = 0;
	ROLLED
	for (u32 i = 0; i < LINE_GLOBAL / 8; i += VACANT_AT_ONCE) {
		uint4 a[VACANT_AT_ONCE], c[VACANT_AT_ONCE];
#pragma unroll
		for (u32 n = 0; n < VACANT_AT_ONCE; n++) {
			a[n] = load_cg(l.sh + 4 * (i + n));
			c[n] = load_cg(l.sh + 4 * (i + n) + 2);
		}
#pragma unroll
		for (u32 n = 0; n < VACANT_AT_ONCE; n++)
			stands += marked_alone(a[n], c[n]);
	}
	fine &= stands == LINE_GLOBAL / 8;
	/* What came is compared with it in granules. */
	if (in && !fine) {
		swap(line_record(l, 0), in_line(now), LINE_NONE);
		in = false;
	}
	link_end(&k, 1u << sreg_laneid(), l, fine);
	return in;
}

/* ---- Operations --------------------------------------------------------------------- */

/* What issue_status says of a line's record `prev`.  A product asks again and again of the
 * copy that filled its stage: what it came behind once it stays behind. */
FN u32 line_status(struct issue *x, u64 *sh, u64 prev, u64 now)
{
	if (is_ghost(x->w))
		return status_of(x, sh, prev, now);
	u32 *fine = &lane_of(x->w, sreg_laneid())->fine, hash = over_hash(x->w, prev);
	if (load_ca32(fine) == hash)
		return STATUS_FINE;
	u32 v = status_of(x, sh, prev, now);
	if ((v & 255) == STATUS_FINE)
		store_ca32(fine, hash);
	return v;
}

/* The operation with record `now` is compared with the line's record `r`.  Does it stand for
 * that one as well? */
SLOW u32 line_judge(struct issue *x, struct line l, u64 r, u64 now, u64 addr)
{
	u64 prev = operation(r);
	u32 both = (u32)(prev & now) & 255, v = line_status(x, l.sh, prev, now), s = v & 255;
	bool write = now & ASYNC_WRITES, writes = prev & ASYNC_WRITES;
	if (s == STATUS_BAD && both && (write || writes) && !(reduces(prev) && reduces(now))) {
		u32 j = 0, last = 0, last_site = 0;
		ROLLED
		while (j + 1 < LINE_RECORDS && load64(line_record(l, j)) != r)
			j++;
		/* Either may be several operations of a group, in columns of their own. */
		ROLLED
		for (u32 m = both; m; m &= m - 1) {
			u32 c = __ffs(m) - 1, word = load(line_site(l, j, c)), site = site_of_column(x, c);
			if (word != last || site != last_site) {
				u32 psite = site_in(word, whole(prev));
				issue_report(x->w, v, psite ? psite : site_of(l.st, 1, whole(prev)), whole(prev), whole(now),
					     addr + 16 * c | is_shared_line(l) | x->owner, site);
			}
			last = word;
			last_site = site;
		}
	}
	return s == STATUS_GONE || (s == STATUS_FINE && !(prev & ~now & 255) && (write || !writes));
}

/* What issue_status says of the row of record `r`; STATUS_BAD: its lanes have to be asked one by
 * one, in their granules. */
SLOW u32 row_status(struct issue *x, u64 *sh, u64 r, u64 now)
{
	bool apart = row_writes(r) && chosen(GSAN_CHOICE_proxy_war);
	return apart ? STATUS_BAD : status_of_all(x, sh, row_weak(r, 0), now) & 255;
}

/* Is it a read by another block of this launch?  That one is hardly known to be over: nobody is
 * told of its phases. */
FN bool reads_elsewhere(struct gsan_warp *w, u64 r) { return GSAN_REC_SLOT(r) != w->slot && !async_gone(w, r); }

/* The operation's record goes into the line of each lane for which it is `locked`, and is
 * compared with what stands.  False: there is no room for it, or a row of which more is to be asked,
 * or that comes at this moment.  By all lanes of `group`, which meet before each call: apart, they
 * would wait for memory one after the other. */
SLOW bool line_put(struct issue *x, u32 group, bool locked, struct line l, u64 addr, u32 columns)
{
	u64 now = x->rec | columns, all = now, r[LINE_RECORDS];
	u32 free = 0, old_ones = 0, reads = 0, copies = 0, rows = 0, same = LINE_RECORDS;
	bool write = now & ASYNC_WRITES, put = locked, fine = true;
	if (locked) {
#pragma unroll
		for (u32 j = 0; j < LINE_RECORDS; j++)
			r[j] = load64(line_record(l, j));
#pragma unroll
		for (u32 j = 0; j < LINE_RECORDS; j++)
			rows |= is_row(r[j]) ? 1u << j : 0;
	}
	/* Rows first: if they have to be asked in granules, so has all else. */
	ROLLED
	for (u32 m = rows; __ballot_sync(group, m); m &= m - 1) {
		if (m) {
			u32 j = __ffs(m) - 1, s = row_status(x, l.sh, r[j], now);
			bool writes = row_writes(r[j]);
			fine &= s != STATUS_BAD || !(write || writes);
			old_ones |= s == STATUS_GONE || (s == STATUS_FINE && columns == LINE_ALL && (write || !writes)) ? 1u << j : 0;
		}
		meet_all(group);
	}
	locked = put = locked && fine;
	ROLLED
	for (u32 j = 0; j < LINE_RECORDS; j++) {
		bool judged = false;
		if (locked) {
			if (!of_line(r[j]))
				r[j] = line_load(l, j);
			if (r[j] == LINE_NONE) {
				free |= 1u << j;
			} else if (is_row(r[j])) {
				/* See above. */
			} else if (write || (r[j] & ASYNC_WRITES)) {
				judged = true;
			} else if (!((operation(r[j]) ^ now) & ~255ull)) {
				/* Another read of the same group. */
				same = j;
				all |= r[j] & 255;
			} else if (is_shared_line(l) || !reads_elsewhere(x->w, r[j])) {
				reads |= 1u << j;
				copies |= async_what(r[j]) & GSAN_ASYNC_MBAR ? 1u << j : 0;
			}
		}
		meet_all(group);
		if (judged)
			old_ones |= line_judge(x, l, r[j], now, addr) << j;
		meet_all(group);
	}
	/* Reads do not mind each other: they are asked of if there is little room, those whose
	 * phases are not remembered for long somewhat earlier. */
	u32 asked = !locked || __popc(free) > 2 ? 0 : __popc(free) > 1 ? copies : reads;
	ROLLED
	while (__ballot_sync(group, asked)) {
		if (asked) {
			u32 j = __ffs(asked) - 1;
			asked &= asked - 1;
			if (line_judge(x, l, r[j], now, addr))
				old_ones |= 1u << j;
			else if ((r[j] & now & 255) && (line_status(x, l.sh, operation(r[j]), now) & 255) == STATUS_FINE)
				swap(line_record(l, j), r[j], r[j] & ~(now & 255));
		}
		meet_all(group);
	}
	if (locked && same == LINE_RECORDS) {
		/* Rows take the first places. */
		u32 room = free | old_ones;
		/* In global memory a read gives up itself. */
		if (!room && !write && !is_shared_line(l))
			fetch_add(&warp_of(x->w->slot, x->w->id & 31)->evicted, 1);
		put = room;
		locked = room || (!write && !is_shared_line(l));
		same = 31 - __clz(room);
		old_ones &= ~(1u << (same & 31));
	}
	if (put) {
		sites_put(x, l, same, now);
		bool late = swap(line_record(l, same), r[same], in_line(all)) != r[same];
		/* Others that it stands for are only in the way. */
		ROLLED
		for (u32 m = old_ones; m; m &= m - 1)
			swap(line_record(l, __ffs(m) - 1), r[__ffs(m) - 1], LINE_NONE);
		/* Rows come without the lock: who comes now sees the operation, who came is seen here. */
		if (ROOT(options) & GSAN_OPT_ROWS) {
			u64 v[LINE_RECORDS];
#pragma unroll
			for (u32 j = 0; j < LINE_RECORDS; j++)
				v[j] = load64(line_record(l, j));
#pragma unroll
			for (u32 j = 0; j < LINE_RECORDS; j++)
				late |= v[j] != r[j] && is_row(v[j]) && (write || row_writes(v[j]));
		}
		/* It goes into granules, then, which do not know their own from another's. */
		if (late)
			swap(line_record(l, same), in_line(all), r[same]);
		locked = !late;
	}
	meet_all(group);
	return locked;
}

/* What a line says before it is locked; the last two to a read alone: */
enum { LINE_OPEN, LINE_ASKS, LINE_HAS_IT, LINE_FULL };

/* The same read may stand already.  And global memory that whole grids read by copies is full
 * of reads of this launch, of which none is worth more than another: it is not locked for
 * that, which all who read it would wait for. */
FN u32 line_says(struct issue *x, struct line l, u64 now, u64 *mark)
{
	u64 r[LINE_RECORDS];
	*mark = load64(l.sh + 1);
	if (now & ASYNC_WRITES)
		return is_mark(*mark) ? LINE_ASKS : LINE_OPEN;
	u32 reads = 0, launch = own_block(x->w)->launch_number;
	bool found = false;
#pragma unroll
	for (u32 j = 0; j < LINE_RECORDS; j++)
		r[j] = load64(line_record(l, j));
#pragma unroll
	for (u32 j = 0; j < LINE_RECORDS; j++) {
		found |= !((r[j] ^ in_line(now)) & ~255ull) && !(now & ~r[j] & 255) && !is_row(r[j]);
		reads += of_line(r[j]) && r[j] != LINE_NONE && !(r[j] & ASYNC_WRITES);
	}
	if (!is_mark(*mark))
		return LINE_OPEN;
	if (found)
		return LINE_HAS_IT;
	if (is_shared_line(l) || reads < LINE_RECORDS)
		return LINE_ASKS;
	/* As async_gone says, of all at once. */
	u32 start[LINE_RECORDS], owner[LINE_RECORDS], first[LINE_RECORDS], number[LINE_RECORDS];
#pragma unroll
	for (u32 j = 0; j < LINE_RECORDS; j++) {
		const struct gsan_block *b = block_of(GSAN_REC_SLOT(r[j]));
		const struct gsan_mbar *m = mbars_of(GSAN_REC_SLOT(r[j])) + mbar_in(r[j]);
		number[j] = load(&b->launch_number);
		start[j] = load(&b->start);
		owner[j] = load(&m->start);
		first[j] = load(&m->first);
	}
	bool full = true;
#pragma unroll
	for (u32 j = 0; j < LINE_RECORDS; j++)
		full &= (async_what(r[j]) & GSAN_ASYNC_MBAR) && number[j] == launch && owner[j] == start[j] &&
			((phase_in(r[j]) - first[j]) & GSAN_MBAR_PHASES) <= GSAN_MBAR_PHASES / 2;
	return full ? LINE_FULL : LINE_ASKS;
}

/* Of each lane for which it is true, `mine`: the operation accesses columns of the line at
 * `addr`.  Returns whether that is still to be done, as the line is not linked, or has no
 * room.  By all lanes of `group`. */
SLOW bool line_pass(struct issue *x, u32 group, bool mine, u64 *sh, u64 addr, u32 columns)
{
	bool left = mine;
	struct line l = line_of(sh);
	meet_all(group);
	ROLLED
	while (__ballot_sync(group, mine)) {
		bool locked = false;
		if (mine) {
			u64 mark;
			u32 says = line_says(x, l, x->rec | columns, &mark);
			if (says == LINE_FULL)
				fetch_add(&warp_of(x->w->slot, x->w->id & 31)->evicted, 1);
			mine = says == LINE_ASKS;
			left = left && (mine || says == LINE_OPEN);
			if (mine && mark == GSAN_MARK)
				locked = swap(l.sh + 1, GSAN_MARK, GSAN_MARK_LOCKED) == GSAN_MARK;
		}
		bool room = true;
		meet_all(group);
		if (__ballot_sync(group, locked))
			room = line_put(x, group, locked, l, addr, columns) || !locked;
		if (locked && room) {
			fence();
			line_unlock(l, GSAN_MARK);
			mine = left = false;
		}
		meet_all(group);
		lines_spill(x->w, group, !room, l.sh);
		mine = mine && room;
		meet_all(group);
	}
	return left;
}

/* Lines of the shared memory of x->slot, one of each lane for which it is `mine`, of which
 * the operation accesses a run of columns.  What is not linked is linked if it can be (in the own
 * block's memory; `link`: what a copy filled), or done granule by granule, by all lanes together. */
SLOW void lines_issue(struct issue *x, u32 group, bool mine, u32 addr, u32 columns, bool link)
{
	u32 lane = sreg_laneid(), rank = __popc(group & ((1u << lane) - 1)), n = __popc(group);
	struct granule g;
	meet_all(group);
	bool there = mine && granule_at(x, &g, addr, (u64)addr + 8, load(&block_of(x->slot)->shared_limit));
	bool left = line_pass(x, group, there, g.sh, addr, columns);
	if (!__ballot_sync(group, mine && (left || !there)))
		return;
	struct gsan_block *b = own_block(x->w);
	bool vacant = agreed(group, may_link(b)), more = agreed(group, load(&b->opened) < LINE_OPENED);
	link = (link || vacant) && more && x->slot == x->w->slot;
	meet_all(group);
	if (mine && !there)
		fetch_add(&warp_of(x->w->slot, x->w->id & 31)->unbacked, LINE_BYTES / 8);
	meet_all(group);
	ROLLED
	for (u32 lanes = __ballot_sync(group, left); lanes; lanes &= lanes - 1) {
		u32 from = __ffs(lanes) - 1, start = __shfl_sync(group, addr, from), set = __shfl_sync(group, columns, from);
		u32 linked = LINK_NOT;
		u64 *sh = (u64 *)__shfl_sync(group, (u64)g.sh, from);
		if (__shfl_sync(group, (int)link, from))
			linked = line_link((struct gsan_warp *)__shfl_sync(group, (u64)x->w, from), group, line_of(sh), vacant);
		meet_all(group);
		bool open = true;
		if (linked != LINK_NOT)
			open = line_pass(x, group, lane == from, g.sh, addr, columns);
		open = __shfl_sync(group, (int)open, from);
		if (linked != LINK_NOT && !open)
			continue;
		if (vacant && linked == LINK_NOT && lane == from)
			line_failed(b);
		/* Other lanes' operations may be others. */
		struct issue y;
		issue_begin(&y, (struct gsan_warp *)__shfl_sync(group, (u64)x->w, from), __shfl_sync(group, x->slot, from),
			    __shfl_sync(group, x->rec, from), __shfl_sync(group, x->flags, from), __shfl_sync(group, x->site, from));
		y.post = (struct gsan_post *)__shfl_sync(group, (u64)x->post, from);
		y.side = __shfl_sync(group, x->side, from);
		y.products = (const struct gsan_products *)__shfl_sync(group, (u64)x->products, from);
		y.whose = __shfl_sync(group, x->whose, from);
		u32 wide = __popc(set);
		ROLLED
		for (u32 i = rank; __ballot_sync(group, i < 8 * wide); i += n) {
			u32 row = i / wide & 7, m = set;
			ROLLED
			for (u32 k = i % wide; k; k--)
				m &= m - 1;
			u32 c = __ffs(m) - 1;
			y.site = site_of_column(&y, c);
			async_range(&y, group, start + row * 128 + ((c ^ row) << 4), i < 8 * wide ? 16 : 0);
		}
		meet_all(group);
	}
}

/* Likewise of global memory, `bytes` bytes at `addr` within a line.  Returns whether it is
 * still to be done. */
SLOW bool lines_global(struct issue *x, u32 group, u64 addr, u32 bytes)
{
	u32 first = (u32)addr >> 4 & 7, columns = ((1u << (bytes >> 4)) - 1) << first;
	struct granule g;
	bool mine = bytes && !(((u32)addr | bytes) & 15) && granule_at(x, &g, addr, addr + bytes, 0);
	bool left = line_pass(x, group, mine, g.sh, addr & ~(u64)(LINE_GLOBAL - 1), columns);
	/* What copies write is mostly for threads to read. */
	bool link = left && !(x->rec & ASYNC_WRITES) && load(&own_block(x->w)->opened) < LINE_OPENED;
	bool in = false;
	meet_all(group);
	if (link)
		in = line_link_one(x, line_of(g.sh), x->rec | columns);
	meet_all(group);
	bool still = line_pass(x, group, link && !in, g.sh, addr & ~(u64)(LINE_GLOBAL - 1), columns);
	return bytes && (!mine || (link ? still : left));
}
