/* SPDX-License-Identifier: Apache-2.0
 *
 * cross.cuh: the entries of snapshots, and the objects that have what one knows of other blocks.
 *
 * Mostly those are a few blocks, of one cluster, say: a list of slots, and an entry for each.  What knows
 * of more has an entry for every slot up to the highest.  Objects of either kind are a ring, and name the
 * snapshot they belong to: one that was taken for another makes silent who asks, which is counted.
 */
#define cross_begin     __gsan_v1_cross_begin
#define cross_room      __gsan_v1_cross_room
#define cross_add       __gsan_v1_cross_add
#define cross_join      __gsan_v1_cross_join

#define CROSS_TOP(e)    ((e).top & GSAN_CLOCK_MAX)
#define CROSS_START(e)  ((e).start & GSAN_CLOCK_MAX)
#define CROSS_WARP(e)   ((e).top >> 29 | ((e).start >> 29 & 3) << 3)

FN struct gsan_cross cross_make(u32 start, u32 base, u32 warp, u32 top, u32 mask)
{
	struct gsan_cross e;
	e.start = start | (warp >> 3) << 29;
	e.base = base;
	e.top = top | (warp & 7) << 29;
	e.mask = mask;
	return e;
}

FN struct gsan_own own_in(uint4 v)
{
	struct gsan_own e;
	e.base = v.x; e.top = v.y; e.mask = v.z; e.pad = 0;
	return e;
}

FN struct gsan_own load_own(const struct gsan_own *p) { return own_in(load_cg(p)); }

FN void store_own(struct gsan_own *p, struct gsan_own e) { store_cg(p, four(e.base, e.top, e.mask, 0)); }
FN struct gsan_cross load_cross(const struct gsan_cross *p)
{
	uint4 v = load_cg(p);
	struct gsan_cross e;
	e.start = v.x; e.base = v.y; e.top = v.z; e.mask = v.w;
	return e;
}

FN void store_cross(struct gsan_cross *p, struct gsan_cross e) { store_cg(p, four(e.start, e.base, e.top, e.mask)); }

/* Says entry `e` nothing that `was` does not? */
FN bool own_within(struct gsan_own e, struct gsan_own was)
{
	return e.base <= was.base && (!e.mask || e.top <= was.base || (e.top <= was.top && !(e.mask & ~was.mask)));
}

/* The union of what two entries know; where it has no exact form, rounded
 * towards knowing more, and counted. */
SLOW struct gsan_own join_own(struct gsan_own a, struct gsan_own b)
{
	if (own_within(a, b))
		return b;
	if (b.base > a.base)
		a.base = b.base;
	if (b.top <= a.base || !b.mask)
		b.mask = 0;
	if (a.top <= a.base || !a.mask) {
		a.top = b.top;
		a.mask = b.mask;
	} else if (b.mask && (a.top != b.top || a.mask != b.mask)) {
		bool exact = a.top == b.top ||
			     (a.top > b.top ? !(b.mask & ~a.mask) : !(a.mask & ~b.mask));
		if (!exact)
			count(GSAN_COUNT_MERGED, 1);
		if (a.top == b.top || !exact) {
			a.mask |= b.mask;
			a.top = a.top > b.top ? a.top : b.top;
		} else if (b.top > a.top) {
			a.top = b.top;
			a.mask = b.mask;
		}
	}
	if (!a.mask)
		a.top = 0;
	return a;
}

SLOW struct gsan_cross join_cross(struct gsan_cross a, struct gsan_cross b)
{
	if (!b.base && !b.mask)
		return a;
	if (!a.base && !a.mask)
		return b;
	u32 as = CROSS_START(a), bs = CROSS_START(b);
	bool round = false;
	if (as != bs) {
		/* Two tenants of one slot: exact only if one range takes up
		 * where the other ends. */
		u32 low = as < bs ? a.base : b.base;
		u32 high = as < bs ? bs : as;
		if (low < high)
			round = true;
	}
	u32 start = as < bs ? as : bs;
	u32 base = a.base > b.base ? a.base : b.base;
	struct gsan_own x, y;
	x.base = base; x.top = CROSS_TOP(a); x.mask = a.mask; x.pad = 0;
	y.base = base; y.top = CROSS_TOP(b); y.mask = b.mask; y.pad = 0;
	u32 warp = CROSS_WARP(a);
	if (x.top <= base)
		x.mask = 0;
	if (y.top <= base)
		y.mask = 0;
	if (!x.mask) {
		x = y;
		warp = CROSS_WARP(b);
	} else if (y.mask && CROSS_WARP(b) != warp) {
		/* One exception is all there is room for: the higher one stays,
		 * the other becomes everybody's. */
		round = true;
		if (y.top > x.top) {
			base = x.top;
			x = y;
			warp = CROSS_WARP(b);
		} else {
			base = y.top;
		}
	} else if (y.mask) {
		x = join_own(x, y);
	}
	if (round)
		count(GSAN_COUNT_MERGED, 1);
	return cross_make(start, base, warp, x.mask ? x.top : 0, x.mask);
}

/* ---- Objects ------------------------------------------------------------------------ */

/* Eight entries; from NULL, empty ones. */
FN void move_entries(uint4 *to, const uint4 *from)
{
	uint4 x[8] = { };
	if (from)
#pragma unroll
		for (u32 k = 0; k < 8; k++)
			x[k] = load_cg(from + k);
#pragma unroll
	for (u32 k = 0; k < 8; k++)
		store_cg(to + k, x[k]);
}

/* Of the word gsan_snap.nslots: is what it names a list?  The object, its entries, and whether it is still that of
 * snapshot `id`. */
FN bool is_few(u32 word) { return word >> GSAN_CROSS_SHIFT < ROOT(nfews); }
FN u32 *cross_object(u32 word)
{
	u32 i = word >> GSAN_CROSS_SHIFT, fews = ROOT(nfews);
	return at<u32>(i < fews ? ROOT(fews) + (u64)i * GSAN_FEW_BYTES : ROOT(crosses) + (u64)(i - fews) * ROOT(cross_bytes));
}
FN u32 *few_slots(u32 word) { return cross_object(word) + 4; }
FN struct gsan_cross *cross_of(u32 word) { return (struct gsan_cross *)(cross_object(word) + (is_few(word) ? 12 : 4)); }
FN bool cross_stands(u32 word, u32 id) { return load(cross_object(word)) == id; }

/* The i-th slot of a list. */
FN u32 few_slot(u32 word, u32 i) { return load(few_slots(word) + i / 2) >> 16 * (i & 1) & 0xffff; }

/* Where in a list `slot` is; ~0: nowhere. */
FN u32 few_find(u32 word, u32 slot)
{
	const uint4 *p = (const uint4 *)few_slots(word);
	uint4 a = load_cg(p), b = load_cg(p + 1);
	u32 two[8] = { a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w }, n = GSAN_CROSS_SLOTS(word), found = ~0u;
#pragma unroll
	for (u32 k = 0; k < 8; k++) {
		found = 2 * k < n && (two[k] & 0xffff) == slot ? 2 * k : found;
		found = 2 * k + 1 < n && two[k] >> 16 == slot ? 2 * k + 1 : found;
	}
	return found;
}

/* What is known of `slot`. */
FN struct gsan_cross cross_entry(u32 word, u32 slot)
{
	struct gsan_cross none = { 0, 0, 0, 0 };
	u32 i = is_few(word) ? few_find(word, slot) : slot;
	return i < GSAN_CROSS_SLOTS(word) ? load_cross(cross_of(word) + i) : none;
}

/* Snapshot `s` gets an object, without entries. */
SLOW void cross_begin(struct gsan_snap *s, bool few)
{
	struct gsan_root *r = root();
	u32 i = few ? fetch_add(&r->few_next, 1) % ROOT(nfews) : ROOT(nfews) + fetch_add(&r->cross_next, 1) % ROOT(ncrosses);
	s->nslots = i << GSAN_CROSS_SHIFT;
	s->flags |= GSAN_SNAP_CROSS;
	store(cross_object(s->nslots), load(&s->maker));
	fence();
}

/* Makes room for an entry of each of the first `n` slots: blocks may have come since it was begun.  Returns how many it had; what is
 * behind those is yet to be written, up to CROSS_ROOM(n). */
#define CROSS_ROOM(n)   (((n) + 7) & ~7u)
SLOW u32 cross_room(struct gsan_snap *s, u32 n)
{
	u32 word = s->nslots, have = s->flags & GSAN_SNAP_CROSS ? GSAN_CROSS_SLOTS(word) : 0;
	bool list = have && is_few(word);
	if (!have || list)
		cross_begin(s, false);
	if (list) {
		struct gsan_cross *mine = cross_of(s->nslots), *its = cross_of(word);
		ROLLED
		for (u32 i = 0; i < have; i++)
			n = few_slot(word, i) >= n ? few_slot(word, i) + 1 : n;
		ROLLED
		for (u32 i = 0; i < CROSS_ROOM(n); i += 8)
			move_entries((uint4 *)(mine + i), 0);
		ROLLED
		for (u32 i = 0; i < have; i++)
			store_cross(mine + few_slot(word, i), load_cross(its + i));
		have = CROSS_ROOM(n);
	}
	n = CROSS_ROOM(n);
	s->nslots = (s->nslots & ~GSAN_CROSS_SLOTS(~0u)) | (n < have ? have : n);
	return have;
}

/* What is known of `slot` joins what snapshot `s` knows of it. */
SLOW void cross_add(struct gsan_snap *s, u32 slot, struct gsan_cross e)
{
	if (!(s->flags & GSAN_SNAP_CROSS))
		cross_begin(s, true);
	u32 word = s->nslots, n = GSAN_CROSS_SLOTS(word), i = is_few(word) ? few_find(word, slot) : slot;
	if (is_few(word) && i == ~0u && n < GSAN_FEW) {
		u32 *two = few_slots(word) + n / 2;
		store(two, n & 1 ? (load(two) & 0xffff) | slot << 16 : slot);
		store_cross(cross_of(word) + n, e);
		s->nslots = word + 1;
		return;
	}
	if (i >= n) {
		u32 have = cross_room(s, slot + 1);
		i = slot;
		ROLLED
		for (u32 k = have; k < CROSS_ROOM(slot + 1); k += 8)
			move_entries((uint4 *)(cross_of(s->nslots) + k), 0);
	}
	struct gsan_cross *p = cross_of(s->nslots) + i;
	store_cross(p, join_cross(load_cross(p), e));
}

/* All that the object of `word` tells joins what snapshot `s` knows of other blocks. */
SLOW void cross_join(struct gsan_snap *s, u32 word)
{
	struct gsan_cross *its = cross_of(word);
	u32 n = GSAN_CROSS_SLOTS(word);
	bool few = is_few(word);
	if (few && (s->flags & GSAN_SNAP_CROSS)) {
		ROLLED
		for (u32 i = 0; i < n; i++)
			cross_add(s, few_slot(word, i), load_cross(its + i));
		return;
	}
	/* Where it had nothing, what the other has is what it gets. */
	if (few) {
		cross_begin(s, true);
		s->nslots |= n;
		move_entries((uint4 *)few_slots(s->nslots), (uint4 *)few_slots(word));
		move_entries((uint4 *)few_slots(s->nslots) + 8, (uint4 *)few_slots(word) + 8);
		return;
	}
	u32 have = cross_room(s, n);
	struct gsan_cross *mine = cross_of(s->nslots);
	ROLLED
	for (u32 i = have; i < n; i += 8)
		move_entries((uint4 *)(mine + i), (uint4 *)(its + i));
	/* By fours, so that eight loads are on their way at a time: one lane
	 * does this, and latency is all it costs. */
	ROLLED
	for (u32 i = 0; i < n && i < have; i += 4) {
		uint4 *p = (uint4 *)(mine + i), *q = (uint4 *)(its + i), x[4], y[4];
#pragma unroll
		for (u32 k = 0; k < 4; k++) {
			x[k] = load_cg(p + k);
			y[k] = load_cg(q + k);
		}
#pragma unroll
		for (u32 k = 0; k < 4; k++) {
			if (same4(x[k], y[k]) || !(y[k].y | y[k].w))
				continue;
			/* The usual case: the same block, and one side is ahead. */
			if (!(x[k].y | x[k].w) || (x[k].x == y[k].x && !(x[k].w | y[k].w) && x[k].y <= y[k].y))
				store_cg(p + k, y[k]);
			else if (x[k].x != y[k].x || (x[k].w | y[k].w))
				store_cross((struct gsan_cross *)(p + k), join_cross(load_cross((struct gsan_cross *)(p + k)),
					    load_cross((struct gsan_cross *)(q + k))));
		}
	}
}
