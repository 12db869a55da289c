/* SPDX-License-Identifier: Apache-2.0
 *
 * cross.cuh: the entries of snapshots, and the objects that have what one knows of other blocks.
 *
 * Mostly those are a few blocks, of one cluster, say: a list of entries, of which a slot has several where one does
 * not tell all.  What knows of more has one entry for every slot up to the highest.  Objects of either kind are a ring, and name the
 * snapshot they belong to: one that was taken for another makes silent who asks, which is counted.
 */
#define cross_union     __gsan_v1_cross_union
#define cross_begin     __gsan_v1_cross_begin
#define cross_room      __gsan_v1_cross_room
#define few_shrink      __gsan_v1_few_shrink
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
FN struct gsan_cross cross_in(uint4 v)
{
	struct gsan_cross e;
	e.start = v.x; e.base = v.y; e.top = v.z; e.mask = v.w;
	return e;
}

FN struct gsan_cross load_cross(const struct gsan_cross *p) { return cross_in(load_cg(p)); }

FN void store_cross(struct gsan_cross *p, struct gsan_cross e) { store_cg(p, four(e.start, e.base, e.top, e.mask)); }

/* Says entry `e` nothing that `was` does not? */
FN bool own_within(struct gsan_own e, struct gsan_own was)
{
	return e.base <= was.base && (!e.mask || e.top <= was.base || (e.top <= was.top && !(e.mask & ~was.mask)));
}

/* The union of what two entries know; where it has no exact form, rounded
 * towards knowing more. */
FN struct gsan_own own_union(struct gsan_own a, struct gsan_own b, bool *round)
{
	if (own_within(a, b))
		return b;
	if (own_within(b, a))
		return a;
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
		*round |= !exact;
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

/* All lanes are the warp. */
FN struct gsan_own own_whole(struct gsan_own a)
{
	if (!~a.mask) {
		a.base = a.top > a.base ? a.top : a.base;
		a.top = a.mask = 0;
	}
	return a;
}

/* The same, and what is rounded is counted. */
SLOW struct gsan_own join_own(struct gsan_own a, struct gsan_own b)
{
	bool round = false;
	struct gsan_own e = own_union(own_whole(a), own_whole(b), &round);
	if (round)
		count(GSAN_COUNT_MERGED, 1);
	return e;
}

/* Of what is known of a slot, likewise. */
SLOW struct gsan_cross cross_union(struct gsan_cross a, struct gsan_cross b, bool *round)
{
	if (!b.base && !b.mask)
		return a;
	if (!a.base && !a.mask)
		return b;
	u32 as = CROSS_START(a), bs = CROSS_START(b);
	if (as != bs) {
		/* Two tenants of one slot: exact only if one range takes up
		 * where the other ends. */
		u32 low = as < bs ? a.base : b.base;
		u32 high = as < bs ? bs : as;
		*round |= low < high;
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
		*round = true;
		if (y.top > x.top) {
			base = x.top;
			x = y;
			warp = CROSS_WARP(b);
		} else {
			base = y.top;
		}
	} else if (y.mask) {
		x = own_union(x, y, round);
	}
	return cross_make(start, base, warp, x.mask ? x.top : 0, x.mask);
}

SLOW struct gsan_cross join_cross(struct gsan_cross a, struct gsan_cross b)
{
	bool round = false;
	struct gsan_cross e = cross_union(a, b, &round);
	if (round)
		count(GSAN_COUNT_MERGED, 1);
	return e;
}

/* ---- Objects ------------------------------------------------------------------------ */

FN u32 of_four(uint4 v, u32 k) { return k & 2 ? (k & 1 ? v.w : v.z) : k & 1 ? v.y : v.x; }

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
FN struct gsan_cross *cross_of(u32 word) { return (struct gsan_cross *)(cross_object(word) + (is_few(word) ? 4 + GSAN_FEW_SLOTS : 4)); }
FN bool cross_stands(u32 word, u32 id) { return load(cross_object(word)) == id; }

/* Which entries of a list are of `slot`; and which of those name `warp`, << 32. */
FN u64 few_find(u32 word, u32 slot, u32 warp)
{
	const uint4 *p = (const uint4 *)few_slots(word);
	uint4 v[GSAN_FEW_SLOTS / 4];
	u32 all = (1u << GSAN_CROSS_SLOTS(word)) - 1, found = 0, named = 0;
#pragma unroll
	for (u32 k = 0; k < GSAN_FEW_SLOTS / 4; k++)
		v[k] = load_cg(p + k);
#pragma unroll
	for (u32 k = 0; k < GSAN_FEW_SLOTS; k++) {
		u32 key = of_four(v[k / 4], k);
		found |= key >> 5 == slot ? 1u << k : 0;
		named |= key == (slot << 5 | warp) ? 1u << k : 0;
	}
	return (u64)(named & all) << 32 | (found & all);
}
FN u32 few_key(u32 slot, struct gsan_cross e) { return slot << 5 | CROSS_WARP(e); }
FN u32 few_slot(u32 word, u32 i) { return load(few_slots(word) + i) >> 5; }

/* Does entry `e` know all of `lanes` of `warp` up to `clock`? */
FN bool cross_tells(struct gsan_cross e, u32 warp, u32 lanes, u32 clock)
{
	return clock > CROSS_START(e) && (clock <= e.base || (warp == CROSS_WARP(e) && clock <= CROSS_TOP(e) && !(lanes & ~e.mask)));
}

/* Does one of `slot`? */
FN bool cross_knows(u32 word, u32 slot, u32 warp, u32 lanes, u32 clock)
{
	bool few = is_few(word), known = false;
	u32 entries = few ? (u32)few_find(word, slot, warp) : slot < GSAN_CROSS_SLOTS(word) ? 1 : 0;
	ROLLED
	for (; entries && !known; entries &= entries - 1)
		known = cross_tells(load_cross(cross_of(word) + (few ? __ffs(entries) - 1 : slot)), warp, lanes, clock);
	return known;
}

/* Says entry `e`, of a slot and warp, nothing that `was`, of the same, does not? */
FN bool cross_within(uint4 e, uint4 was)
{
	struct gsan_cross x = cross_in(e), y = cross_in(was);
	return CROSS_START(x) == CROSS_START(y) && x.base <= y.base &&
	       (!x.mask || CROSS_TOP(x) <= y.base || (CROSS_TOP(x) <= CROSS_TOP(y) && !(x.mask & ~y.mask)));
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
		for (u32 i = 0; i < have; i++) {
			struct gsan_cross *p = mine + few_slot(word, i);
			store_cross(p, join_cross(load_cross(p), load_cross(its + i)));
		}
		have = CROSS_ROOM(n);
	}
	n = CROSS_ROOM(n);
	s->nslots = (s->nslots & ~GSAN_CROSS_SLOTS(~0u)) | (n < have ? have : n);
	return have;
}

/* The list of snapshot `s` has room for one more. */
FN void few_put(struct gsan_snap *s, u32 slot, struct gsan_cross e)
{
	u32 word = s->nslots, n = GSAN_CROSS_SLOTS(word);
	store(few_slots(word) + n, few_key(slot, e));
	store_cross(cross_of(word) + n, e);
	s->nslots = word + 1;
}

/* One entry of a full list goes, if there are two of one slot: they become one.  False: there are none such. */
SLOW bool few_shrink(struct gsan_snap *s)
{
	u32 word = s->nslots, last = GSAN_CROSS_SLOTS(word) - 1;
	struct gsan_cross *mine = cross_of(word);
	ROLLED
	for (u32 i = 0; i < last; i++) {
		u32 slot = few_slot(word, i), others = (u32)few_find(word, slot, 0) & ~0u << i << 1;
		if (!others)
			continue;
		u32 k = __ffs(others) - 1;
		struct gsan_cross both = join_cross(load_cross(mine + i), load_cross(mine + k));
		store_cross(mine + i, both);
		store(few_slots(word) + i, few_key(slot, both));
		store_cross(mine + k, load_cross(mine + last));
		store(few_slots(word) + k, load(few_slots(word) + last));
		s->nslots = word - 1;
		return true;
	}
	return false;
}

/* What is known of `slot` joins what snapshot `s` knows of it: in a list, where an entry tells just both, or as one more. */
SLOW void cross_add(struct gsan_snap *s, u32 slot, struct gsan_cross e)
{
	/* Of its own block it has rows. */
	if (slot == s->slot && CROSS_START(e) == s->start && (s->flags & GSAN_SNAP_OWN)) {
		struct gsan_own row = { e.base, CROSS_TOP(e), e.mask, 0 }, *p = (struct gsan_own *)((char *)s + 64) + CROSS_WARP(e);
		if (e.base > load(&s->floor))
			store(&s->floor, e.base);
		if (e.mask)
			store_own(p, join_own(load_own(p), row));
		return;
	}
	if (!(s->flags & GSAN_SNAP_CROSS))
		cross_begin(s, true);
	u32 word = s->nslots, n = GSAN_CROSS_SLOTS(word), i = slot;
	if (is_few(word)) {
		struct gsan_cross *mine = cross_of(word);
		u64 found = few_find(word, slot, CROSS_WARP(e));
		u32 entries = (u32)found, first = e.mask ? (u32)(found >> 32) : entries;
		/* Where there is room, of other warps' entries none is asked. */
		ROLLED
		for (u32 m = first ? first : n < GSAN_FEW ? 0 : entries; m; m &= m - 1) {
			u32 at = __ffs(m) - 1;
			bool round = false;
			struct gsan_cross both = cross_union(load_cross(mine + at), e, &round);
			if (round)
				continue;
			store_cross(mine + at, both);
			store(few_slots(word) + at, few_key(slot, both));
			return;
		}
		if (n < GSAN_FEW) {
			few_put(s, slot, e);
			return;
		}
		i = entries ? __ffs(entries) - 1 : ~0u;
		if (!entries && few_shrink(s)) {
			few_put(s, slot, e);
			return;
		}
	}
	if (i >= n) {
		u32 have = cross_room(s, slot + 1);
		i = slot;
		ROLLED
		for (u32 k = have; k < CROSS_ROOM(slot + 1); k += 8)
			move_entries((uint4 *)(cross_of(s->nslots) + k), 0);
	}
	struct gsan_cross *p = cross_of(s->nslots) + i, both = join_cross(load_cross(p), e);
	store_cross(p, both);
	if (is_few(s->nslots))
		store(few_slots(s->nslots) + i, few_key(slot, both));
}

/* All that the object of `word` tells joins what snapshot `s` knows of other blocks. */
SLOW void cross_join(struct gsan_snap *s, u32 word)
{
	struct gsan_cross *its = cross_of(word);
	u32 n = GSAN_CROSS_SLOTS(word);
	bool few = is_few(word);
	if (few && (s->flags & GSAN_SNAP_CROSS)) {
		/* Mostly one list was made of the other, or both of a third, and entries of one slot and warp are at the same place. */
		ROLLED
		for (u32 i = 0; i < n; i += 4) {
			u32 most = is_few(s->nslots) ? GSAN_CROSS_SLOTS(s->nslots) : 0, add = 0, alike = 0;
			uint4 keys = load_cg((const uint4 *)few_slots(word) + i / 4), mine = keys, x[4], y[4];
			const uint4 *has = i < most ? (const uint4 *)cross_of(s->nslots) + i : (const uint4 *)its;
			if (i < most)
				mine = load_cg((const uint4 *)few_slots(s->nslots) + i / 4);
#pragma unroll
			for (u32 k = 0; k < 4; k++) {
				x[k] = load_cg(has + (i + k < GSAN_FEW ? k : 0));
				y[k] = load_cg((const uint4 *)its + (i + k < GSAN_FEW ? i + k : 0));
			}
#pragma unroll
			for (u32 k = 0; k < 4; k++) {
				bool same = i + k < most && of_four(mine, k) == of_four(keys, k);
				alike |= same ? 1u << k : 0;
				add |= i + k < n && !(same && cross_within(y[k], x[k])) ? 1u << k : 0;
			}
			ROLLED
			for (; add; add &= add - 1) {
				u32 k = __ffs(add) - 1;
				struct gsan_cross was = cross_in(k & 2 ? (k & 1 ? x[3] : x[2]) : k & 1 ? x[1] : x[0]);
				struct gsan_cross e = cross_in(k & 2 ? (k & 1 ? y[3] : y[2]) : k & 1 ? y[1] : y[0]), both;
				bool round = !(alike >> k & 1);
				if (!round)
					both = cross_union(was, e, &round);
				if (round) {
					cross_add(s, of_four(keys, k) >> 5, e);
					/* It may be another list then, or none. */
					alike = 0;
				} else {
					store_cross(cross_of(s->nslots) + i + k, both);
					store(few_slots(s->nslots) + i + k, few_key(of_four(keys, k) >> 5, both));
				}
			}
		}
		return;
	}
	/* Where it had nothing, what the other has is what it gets. */
	if (few) {
		cross_begin(s, true);
		s->nslots |= n;
		ROLLED
		for (u32 i = 0; i < GSAN_FEW_SLOTS / 4 + GSAN_FEW; i += 8)
			move_entries((uint4 *)few_slots(s->nslots) + i, (uint4 *)few_slots(word) + i);
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
