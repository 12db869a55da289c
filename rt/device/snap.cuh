/* SPDX-License-Identifier: Apache-2.0
 *
 * snap.cuh: what a thread knows, and snapshots of it.
 *
 * A snapshot is written once, under its id, and never changed; a reader checks
 * the id before and after.  One that was overwritten (the arrays are rings)
 * counts as knowing everything: silence, counted as SNAP_LOST.
 */
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

FN struct gsan_snap *snap_of(u32 id)
{
	struct gsan_root *r = root();
	u32 n = id & GSAN_SNAP_NUMBER;
	if (id & GSAN_SNAP_LARGE)
		return at<struct gsan_snap>(r->snaps + (u64)(n % r->nsnaps) * r->know_bytes);
	return at<struct gsan_snap>(r->knows + (u64)(n % r->nknows) * GSAN_SMALL_BYTES);
}

FN struct gsan_own *snap_own(struct gsan_snap *s) { return (struct gsan_own *)((char *)s + 64); }
FN struct gsan_cross *snap_cross(struct gsan_snap *s) { return (struct gsan_cross *)((char *)s + 64 + 512); }

/* An object to fill; nobody takes it for a snapshot before snap_publish. */
FN struct gsan_snap *snap_new(bool large, u32 *id)
{
	struct gsan_root *r = root();
	u32 n = fetch_add(large ? &r->snap_next : &r->know_next, 1) + 1;
	*id = (n & GSAN_SNAP_NUMBER) | (large ? GSAN_SNAP_LARGE : 0);
	struct gsan_snap *s = snap_of(*id);
	store(&s->id, 0);
	store(&s->maker, *id);
	__threadfence();
	return s;
}

/* Unless the ring came round meanwhile, and then it is lost. */
FN void snap_publish(struct gsan_snap *s, u32 id)
{
	__threadfence();
	if (load(&s->maker) == id)
		store(&s->id, id);
	__threadfence();
}

FN struct gsan_cross load_cross(const struct gsan_cross *p)
{
	uint4 v = load_cg(p);
	struct gsan_cross e;
	e.start = v.x; e.base = v.y; e.top = v.z; e.mask = v.w;
	return e;
}

FN struct gsan_own load_own(const struct gsan_own *p)
{
	uint4 v = load_cg(p);
	struct gsan_own e;
	e.base = v.x; e.top = v.y; e.mask = v.z; e.pad = 0;
	return e;
}

FN void store_own(struct gsan_own *p, struct gsan_own e) { store_cg(p, four(e.base, e.top, e.mask, 0)); }
FN void store_cross(struct gsan_cross *p, struct gsan_cross e) { store_cg(p, four(e.start, e.base, e.top, e.mask)); }

/* The union of what two entries know; where it has no exact form, rounded
 * towards knowing more, and counted. */
SLOW struct gsan_own join_own(struct gsan_own a, struct gsan_own b)
{
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

/* A snapshot's knowledge of its own block, as one entry. */
FN struct gsan_cross snap_summary(struct gsan_snap *s)
{
	uint4 a = load_cg((char *)s), b = load_cg((char *)s + 16);
	u32 flags = a.y, start = a.w, floor = b.x;
	struct gsan_cross sum = cross_make(start, floor, b.y, b.w ? b.z : 0, b.w);
	if (flags & GSAN_SNAP_OWN)
		ROLLED
		for (u32 w = 0; w < 32; w++) {
			struct gsan_own e = load_own(snap_own(s) + w);
			if (e.base <= floor && (!e.mask || e.top <= floor))
				continue;
			if (e.base > floor)
				sum = join_cross(sum, cross_make(start, floor, w, e.base, ~0u));
			if (e.mask)
				sum = join_cross(sum, cross_make(start, floor, w, e.top, e.mask));
		}
	return sum;
}

/* Does snapshot `id` know all of `lanes` of `warp` in `slot` up to `clock`? */
SLOW bool snap_knows(u32 id, u32 slot, u32 warp, u32 lanes, u32 clock)
{
	struct gsan_snap *s = snap_of(id);
	uint4 a = load_cg(s), b = load_cg((char *)s + 16), c = load_cg((char *)s + 32);
	bool known = a.y & GSAN_SNAP_LOST;
	/* a: id flags slot start; b: floor warp top mask; c: nslots cluster */
	if (!known && a.z == slot && clock > a.w) {
		known = clock <= b.x ||
			(warp == b.y && clock <= b.z && !(lanes & ~b.w));
		if (!known && (a.y & GSAN_SNAP_OWN)) {
			struct gsan_own e = load_own(snap_own(s) + warp);
			known = clock <= e.base || (clock <= e.top && !(lanes & ~e.mask));
		}
	}
	if (!known && (a.y & GSAN_SNAP_CROSS) && slot < c.x) {
		struct gsan_cross e = load_cross(snap_cross(s) + slot);
		known = clock > CROSS_START(e) &&
			(clock <= e.base || (warp == CROSS_WARP(e) &&
			 clock <= CROSS_TOP(e) && !(lanes & ~e.mask)));
	}
	if (a.x != id || load(&s->id) != id) {
		count(GSAN_COUNT_SNAP_LOST, 1);
		return true;
	}
	return known;
}

FN bool refs_know(const struct gsan_refs *r, u32 slot, u32 warp, u32 lanes, u32 clock)
{
	ROLLED
	for (int i = 0; i < GSAN_REFS; i++)
		if (r->id[i] && snap_knows(r->id[i], slot, warp, lanes, clock))
			return true;
	return false;
}

/* Makes room for the first `n` slots: blocks may have come since it was begun. */
SLOW void snap_need_cross(struct gsan_snap *s, u32 n)
{
	u32 have = s->flags & GSAN_SNAP_CROSS ? s->nslots : 0;
	n = (n + 3) & ~3u;
	if (n < s->nslots)
		n = s->nslots;
	s->flags |= GSAN_SNAP_CROSS;
	s->nslots = n;
	ROLLED
	for (u32 i = have; i < n; i++)
		store_cg(snap_cross(s) + i, four(0, 0, 0, 0));
}

/* What snapshot `s` of the same block knows of it. */
SLOW void join_same(struct gsan_snap *to, struct gsan_snap *s)
{
	uint4 a = load_cg(s), b = load_cg((char *)s + 16);
	if (a.z != to->slot || a.w != to->start)
		return;
	/* A small one has no vector to load. */
	bool own = a.y & GSAN_SNAP_OWN;
	struct gsan_own *from = own ? snap_own(s) : snap_own(to);
	ROLLED
	for (u32 i = 0; i < 32; i += 4) {
		struct gsan_own e[4], x, y[4];
#pragma unroll
		for (u32 k = 0; k < 4; k++) {
			e[k] = load_own(snap_own(to) + i + k);
			y[k] = load_own(from + i + k);
		}
#pragma unroll
		for (u32 k = 0; k < 4; k++) {
			if (b.x > e[k].base)
				e[k].base = b.x;
			x.base = 0; x.top = b.z; x.mask = i + k == b.y ? b.w : 0; x.pad = 0;
			store_own(snap_own(to) + i + k, join_own(join_own(e[k], x), own ? y[k] : x));
		}
	}
}

/* What snapshot `s` knows of other blocks, its own among them if it is one. */
SLOW void join_others(struct gsan_snap *to, struct gsan_snap *s)
{
	uint4 a = load_cg(s), c = load_cg((char *)s + 32);
	bool other = a.z != to->slot || a.w != to->start, cross = a.y & GSAN_SNAP_CROSS;
	if (!other && !cross)
		return;
	u32 n = cross ? c.x : 0;
	snap_need_cross(to, other && a.z >= n ? a.z + 1 : n);
	/* By fours, so that eight loads are on their way at a time: one lane
	 * does this, and latency is all it costs. */
	ROLLED
	for (u32 i = 0; i < n; i += 4) {
		struct gsan_cross *p = snap_cross(to) + i, *q = snap_cross(s) + i, x[4], y[4];
#pragma unroll
		for (u32 k = 0; k < 4; k++) {
			x[k] = load_cross(p + k);
			y[k] = load_cross(q + k);
		}
#pragma unroll
		for (u32 k = 0; k < 4; k++)
			if (y[k].base | y[k].mask)
				store_cross(p + k, join_cross(x[k], y[k]));
	}
	if (!other)
		return;
	struct gsan_cross *p = snap_cross(to) + a.z;
	store_cross(p, join_cross(load_cross(p), snap_summary(s)));
}

/* Joins snapshot `id` (0: none) into the large object `to`, whose header is
 * set. */
SLOW void snap_join(struct gsan_snap *to, u32 id)
{
	if (!id)
		return;
	struct gsan_snap *s = snap_of(id);
	u32 flags = load(&s->flags);
	if (load(&s->id) != id) {
		count(GSAN_COUNT_SNAP_LOST, 1);
		flags = GSAN_SNAP_LOST;
		s = to;
	}
	to->flags |= flags & GSAN_SNAP_LOST;
	if (s == to)
		return;
	join_same(to, s);
	join_others(to, s);
	/* Overwritten while it was read? */
	if (load(&s->id) == id)
		return;
	count(GSAN_COUNT_SNAP_LOST, 1);
	to->flags |= GSAN_SNAP_LOST;
}

/* A large object for the block of `w`, knowing its floor and no more. */
SLOW struct gsan_snap *snap_begin(const struct gsan_warp *w, u32 *id)
{
	struct gsan_snap *s = snap_new(true, id);
	u32 floor = w->floor;
	s->flags = GSAN_SNAP_OWN;
	s->slot = w->slot;
	s->start = w->start;
	s->floor = floor;
	s->warp = 0;
	s->top = 0;
	s->mask = 0;
	s->nslots = 0;
	ROLLED
	for (u32 i = 0; i < 32; i++)
		store_cg(snap_own(s) + i, four(floor, 0, 0, 0));
	return s;
}

FN void snap_join_refs(struct gsan_snap *s, const struct gsan_refs *r)
{
	ROLLED
	for (int i = 0; i < GSAN_REFS; i++)
		snap_join(s, r->id[i]);
}

/* If one of two snapshots holds all of the other, that one; else 0. */
FN u32 the_wider(u32 a, u32 b)
{
	if (!(a & b & GSAN_SNAP_CHAIN))
		return a == b ? a : 0;
	return ((a - b) & GSAN_SNAP_NUMBER) < GSAN_SNAP_NUMBER / 2 ? a : b;
}

/* Adds an id (0: none) to a list that belongs to the caller or is locked by it. */
SLOW void refs_add(const struct gsan_warp *w, struct gsan_refs *r, u32 id)
{
	u32 k = 0;
	ROLLED
	while (k < GSAN_REFS && r->id[k] && !the_wider(r->id[k], id))
		k++;
	if (k < GSAN_REFS && id)
		r->id[k] = r->id[k] ? the_wider(r->id[k], id) : id;
	if (k < GSAN_REFS || !id)
		return;
	u32 joined;
	struct gsan_snap *s = snap_begin(w, &joined);
	snap_join_refs(s, r);
	snap_join(s, id);
	snap_publish(s, joined);
	r->id[0] = joined;
	r->id[1] = r->id[2] = r->id[3] = 0;
}

/* What the calling lane knows now, with `lanes` of its warp (itself among them)
 * up to `top`.  `chain`: GSAN_SNAP_CHAIN or 0.  Returns its id. */
SLOW u32 snap_take(struct gsan_warp *w, u32 lanes, u32 top, u32 chain)
{
	struct gsan_lane *l = lane_of(w, sreg_laneid());
	struct gsan_block *b = block_of(w->slot);
	u32 lane = 1u << sreg_laneid(), id;
	u32 mine = load(&w->m_refs) & lane, flags = load(&w->flags);
	bool own = (load(&w->m_own) & lane) && l->own_top > w->wfloor;
	bool large = mine || (flags & (GSAN_WARP_REFS | GSAN_WARP_BLOCK_REFS)) || own || w->wfloor > w->floor || chain;

	struct gsan_snap *s = large ? snap_begin(w, &id) : snap_new(false, &id);
	id |= chain;
	store(&s->maker, id);
	if (!large)
		s->flags = 0;
	s->slot = w->slot;
	s->start = w->start;
	s->floor = w->floor;
	s->warp = w->id & 31;
	s->top = top;
	s->mask = lanes;
	s->cluster = b->cluster;
	if (!large) {
		snap_publish(s, id);
		return id;
	}
	store_cg(snap_own(s) + (w->id & 31), four(w->wfloor > w->floor ? w->wfloor : w->floor,
						  own ? l->own_top : 0, own ? l->own_mask : 0, 0));
	ROLLED
	for (int i = 0; i < GSAN_REFS; i++) {
		snap_join(s, mine ? l->refs.id[i] : 0);
		snap_join(s, flags & GSAN_WARP_REFS ? w->refs.id[i] : 0);
		snap_join(s, flags & GSAN_WARP_BLOCK_REFS ? b->refs.id[i] : 0);
	}
	snap_publish(s, id);
	return id;
}
