/* SPDX-License-Identifier: Apache-2.0
 *
 * snap.cuh: what a thread knows, and snapshots of it.
 *
 * A snapshot is written once, under its id, and never changed; a reader checks
 * the id before and after.  One that was overwritten (the arrays are rings)
 * counts as knowing everything: silence, counted as SNAP_LOST.  What it knows of other blocks is
 * an object in a ring of its own, which names it.
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

/* Where they are. */
struct snap_rings { u64 snaps, knows; u32 nsnaps, nknows; };

FN struct gsan_snap *snap_in(struct snap_rings r, u32 id)
{
	bool large = id & GSAN_SNAP_LARGE;
	u32 n = large ? r.nsnaps : r.nknows, bytes = large ? GSAN_LARGE_BYTES : GSAN_SMALL_BYTES;
	return at<struct gsan_snap>((large ? r.snaps : r.knows) + (u64)(id & GSAN_SNAP_NUMBER & (n - 1)) * bytes);
}

FN struct gsan_snap *snap_of(u32 id)
{
	bool large = id & GSAN_SNAP_LARGE;
	u32 n = large ? ROOT(nsnaps) : ROOT(nknows), bytes = large ? GSAN_LARGE_BYTES : GSAN_SMALL_BYTES;
	return at<struct gsan_snap>((large ? ROOT(snaps) : ROOT(knows)) + (u64)(id & GSAN_SNAP_NUMBER & (n - 1)) * bytes);
}

FN struct gsan_own *snap_own(struct gsan_snap *s) { return (struct gsan_own *)((char *)s + 64); }

/* Of the word gsan_snap.nslots: the object that has what is known of other blocks, and whether
 * it is still that of snapshot `id`. */
FN u32 *cross_object(u32 word) { return at<u32>(ROOT(crosses) + (u64)(word >> GSAN_CROSS_SHIFT) * ROOT(cross_bytes)); }
FN struct gsan_cross *cross_of(u32 word) { return (struct gsan_cross *)(cross_object(word) + 4); }
FN bool cross_stands(u32 word, u32 id) { return load(cross_object(word)) == id; }

/* An object to fill; nobody takes it for a snapshot before snap_publish. */
FN struct gsan_snap *snap_new(bool large, u32 *id)
{
	struct gsan_root *r = root();
	u32 n = fetch_add(large ? &r->snap_next : &r->know_next, 1) + 1;
	*id = (n & GSAN_SNAP_NUMBER) | (large ? GSAN_SNAP_LARGE : 0);
	struct gsan_snap *s = snap_of(*id);
	store(&s->id, 0);
	store(&s->maker, *id);
	fence();
	return s;
}

/* Unless the ring came round meanwhile, and then it is lost.  Behind it, a fence. */
FN void snap_show(struct gsan_snap *s, u32 id)
{
	if ((s->flags & GSAN_SNAP_CROSS) && !cross_stands(s->nslots, id))
		s->flags |= GSAN_SNAP_LOST;
	fence();
	if (load(&s->maker) == id)
		store(&s->id, id);
}

FN void snap_publish(struct gsan_snap *s, u32 id)
{
	snap_show(s, id);
	fence();
}

FN struct gsan_cross load_cross(const struct gsan_cross *p)
{
	uint4 v = load_cg(p);
	struct gsan_cross e;
	e.start = v.x; e.base = v.y; e.top = v.z; e.mask = v.w;
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

/* A snapshot's knowledge of its own block, as one entry. */
SLOW struct gsan_cross snap_summary(struct gsan_snap *s)
{
	uint4 a = load_cg((char *)s), b = load_cg((char *)s + 16);
	u32 flags = a.y, start = a.w, floor = b.x, base = load(&s->base);
	struct gsan_cross sum = cross_make(start, floor, b.y, b.w ? b.z : 0, b.w);
	if (base > floor)
		sum = join_cross(sum, cross_make(start, floor, b.y, base, ~0u));
	/* What fences of block scope published has no place in an entry. */
	struct gsan_block *home = block_of(a.z);
	if (load(&s->sc_cta) && load(&home->start) == start) {
		count(GSAN_COUNT_MERGED, 1);
		sum.base = block_clock(home, a.z);
	}
	if (flags & GSAN_SNAP_OWN)
		ROLLED
		for (u32 w = 0; w < GSAN_SNAP_ROWS(flags); w++) {
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

/* Does snapshot `id` know all of `lanes` of `warp` in `slot` up to `clock`?
 * `end`: where the clocks of that block end. */
SLOW bool snap_knows(u32 id, u32 slot, u32 warp, u32 lanes, u32 clock, u32 end)
{
	struct gsan_snap *s = snap_of(id);
	uint4 a = load_cg(s), b = load_cg((char *)s + 16), c = load_cg((char *)s + 32);
	bool known = a.y & GSAN_SNAP_LOST;
	u32 sc_cta = load(&s->sc_cta);
	uint4 o = id & GSAN_SNAP_LARGE ? load_cg(snap_own(s) + warp) : four(0, 0, 0, 0);
	/* a: id flags slot start; b: floor warp top mask; c: nslots - base line */
	if (!known && a.z == slot && clock > a.w) {
		known = clock <= b.x ||
			(warp == b.y && (clock <= c.z || (clock <= b.z && !(lanes & ~b.w))));
		/* o: base top mask; of a later tenant, with more warps, there is none. */
		if (!known && warp < GSAN_SNAP_ROWS(a.y))
			known = clock <= o.x || (clock <= o.y && !(lanes & ~o.z));
		if (!known && sc_cta)
			known = fence_knows(slot, warp, lanes, clock, end, 0, sc_cta);
	}
	bool lost = false;
	if (!known && (a.y & GSAN_SNAP_CROSS) && slot < GSAN_CROSS_SLOTS(c.x)) {
		struct gsan_cross e = load_cross(cross_of(c.x) + slot);
		known = clock > CROSS_START(e) &&
			(clock <= e.base || (warp == CROSS_WARP(e) &&
			 clock <= CROSS_TOP(e) && !(lanes & ~e.mask)));
		lost = !cross_stands(c.x, id);
	}
	/* What says yes need not be asked again: it would come to the same. */
	if (a.x == id && (known || (!lost && load(&s->id) == id)))
		return known;
	count(GSAN_COUNT_SNAP_LOST, 1);
	return true;
}

/* Does one of list `r`, which may be a copy of the caller's? */
SLOW bool refs_know(const struct gsan_refs *r, u32 slot, u32 warp, u32 lanes, u32 clock, u32 end)
{
	bool known = false;
	ROLLED
	for (uint4 v = four(r->id[0], r->id[1], r->id[2], r->id[3]); v.x && !known; v = four(v.y, v.z, v.w, 0))
		known = snap_knows(v.x, slot, warp, lanes, clock, end);
	return known;
}

/* Makes room for the first `n` slots: blocks may have come since it was begun. */
SLOW void snap_need_cross(struct gsan_snap *s, u32 n)
{
	u32 word = s->nslots, have = GSAN_CROSS_SLOTS(word);
	if (!(s->flags & GSAN_SNAP_CROSS)) {
		word = fetch_add(&root()->cross_next, 1) % ROOT(ncrosses) << GSAN_CROSS_SHIFT;
		store(cross_object(word), load(&s->maker));
		fence();
	}
	n = (n + 7) & ~7u;
	if (n < have)
		n = have;
	s->flags |= GSAN_SNAP_CROSS;
	s->nslots = (word & ~GSAN_CROSS_SLOTS(~0u)) | n;
	ROLLED
	for (u32 i = have; i < n; i++)
		store_cg(cross_of(word) + i, four(0, 0, 0, 0));
}

FN void own_add(struct gsan_own *p, struct gsan_own e)
{
	store_own(p, join_own(load_own(p), e));
}

/* Row `x` where all is known up to `floor`. */
FN uint4 row_least(uint4 x, u32 floor) { return four(x.x > floor ? x.x : floor, x.y, x.z, 0); }

/* The header of a snapshot. */
struct snap_head { uint4 a, b, c, d; };         /* in the order of struct gsan_snap */

/* What the header tells of the warp whose snapshot it was. */
FN struct gsan_own own_of(uint4 b, uint4 c)
{
	struct gsan_own e;
	e.base = c.z; e.top = b.z; e.mask = b.w; e.pad = 0;
	return e;
}

/* What snapshot `s` of the same block knows of it; `to` has header mine, floors, _, sc.  Latency is all this costs, as one lane does
 * it: all that is needed at first is loaded together, then by fours. */
SLOW void join_same(struct gsan_snap *to, uint4 mine, uint4 floors, uint4 sc, struct gsan_snap *s, const struct snap_head *h)
{
	struct gsan_own *rows = snap_own(to);
	uint4 a = h->a, b = h->b, named = load_cg(rows + b.y), theirs = four(0, 0, 0, 0);
	u32 sc_cta = h->d.y, warps = GSAN_SNAP_ROWS(mine.y);
	if (a.z != mine.z || a.w != mine.w)
		return;
	if (a.y & GSAN_SNAP_OWN)
		theirs = load_cg(snap_own(s) + b.y);
	bool more = a.y & GSAN_SNAP_OWN, raise = b.x > floors.x;
	if (sc_cta > sc.y)
		to->sc_cta = sc_cta;
	struct gsan_own e, was;
	ROLLED
	for (u32 i = 0; i < warps && (more || raise); i += 4) {
		uint4 x[4], y[4] = { };
#pragma unroll
		for (u32 k = 0; k < 4; k++) {
			x[k] = load_cg(rows + i + k);
			if (more)
				y[k] = load_cg(snap_own(s) + i + k);
		}
#pragma unroll
		for (u32 k = 0; k < 4; k++) {
			was = own_in(x[k]);
			e = own_in(y[k]);
			if (e.base < b.x)
				e.base = b.x;
			/* Mostly it says nothing new. */
			if (!own_within(e, was))
				store_own(rows + i + k, join_own(was, e));
		}
	}
	/* The warp's own, on top of what its row has become. */
	was = own_in(row_least(named, raise ? b.x : 0));
	if (more) {
		e = own_in(row_least(theirs, b.x));
		was = own_within(e, was) ? was : join_own(was, e);
	}
	e = own_of(b, h->c);
	if (!own_within(e, was))
		store_own(rows + b.y, join_own(was, e));
	if (raise)
		to->floor = b.x;
}

/* What snapshot `s` knows of other blocks, its own among them if it is one. */
SLOW void join_others(struct gsan_snap *to, struct gsan_snap *s, const struct snap_head *h)
{
	uint4 a = h->a;
	bool other = a.z != to->slot || a.w != to->start, cross = a.y & GSAN_SNAP_CROSS;
	if (!other && !cross)
		return;
	u32 n = cross ? GSAN_CROSS_SLOTS(h->c.x) : 0;
	snap_need_cross(to, other && a.z >= n ? a.z + 1 : n);
	struct gsan_cross *mine = cross_of(to->nslots), *its = cross_of(h->c.x);
	/* By fours, so that eight loads are on their way at a time: one lane
	 * does this, and latency is all it costs. */
	ROLLED
	for (u32 i = 0; i < n; i += 4) {
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
	if (!other)
		return;
	store_cross(mine + a.z, join_cross(load_cross(mine + a.z), snap_summary(s)));
}

/* Joins snapshot `id` (0: none) into the large object `to`, whose header is
 * set. */
SLOW void snap_join(struct gsan_snap *to, u32 id)
{
	if (!id)
		return;
	struct gsan_snap *s = snap_of(id);
	uint4 a = load_cg(s), b = load_cg(&s->floor), c = load_cg(&s->nslots), d = load_cg(&s->sc);
	uint4 mine = load_cg(to), floors = load_cg(&to->floor), sc = load_cg(&to->sc);
	if (a.x != id) {
		count(GSAN_COUNT_SNAP_LOST, 1);
		to->flags |= GSAN_SNAP_LOST;
		return;
	}
	/* An earlier one of the same lanes alone: who goes on forgets nothing (the_wider).  One that holds
	 * what they had acquired may have taken the place of just that in their list (refs_add). */
	if (b.w && !(id & GSAN_SNAP_LARGE) && a.z == mine.z && a.w == mine.w && b.y == floors.y && b.w == floors.w && b.z <= floors.z)
		return;
	struct snap_head h = { a, b, c, d };
	if (a.y & GSAN_SNAP_LOST)
		to->flags |= GSAN_SNAP_LOST;
	if (d.x > sc.x)
		to->sc = d.x;
	if (d.w > sc.w)
		to->grids = d.w;
	join_same(to, mine, floors, sc, s, &h);
	join_others(to, s, &h);
	/* Overwritten while it was read? */
	if (load(&s->id) == id && (!(a.y & GSAN_SNAP_CROSS) || cross_stands(c.x, id)))
		return;
	count(GSAN_COUNT_SNAP_LOST, 1);
	to->flags |= GSAN_SNAP_LOST;
}

FN void snap_header(struct gsan_snap *s, u32 flags, u32 slot, u32 start, u32 floor)
{
	s->flags = flags;
	s->slot = slot;
	s->start = start;
	store_cg(&s->floor, four(floor, 0, 0, 0));
	store_cg(&s->nslots, four(0, 0, 0, 0));
	s->sc = s->sc_cta = s->grids = 0;
}

/* A large object for the block of `w` that knows everyone up to `floor`. */
SLOW struct gsan_snap *snap_begin(const struct gsan_warp *w, u32 *id, u32 floor)
{
	struct gsan_block *b = block_of(w->slot);
	u32 warps = (b->ntid + 31) >> 5;
	struct gsan_snap *s = snap_new(true, id);
	snap_header(s, GSAN_SNAP_OWN | warps << GSAN_SNAP_ROWS_SHIFT, w->slot, w->start, floor);
	ROLLED
	for (u32 i = 0; i < warps; i += 4)
#pragma unroll
		for (u32 k = 0; k < 4; k++)
			store_cg(snap_own(s) + i + k, four(floor, 0, 0, 0));
	return s;
}

/* A large object that holds what the large snapshot `from` of a word does: the
 * next of its line.  What went on already, and is published once more by who released
 * it, begins another: of two that follow one, neither holds all of the other. */
SLOW struct gsan_snap *snap_continue(u32 from, u32 *id)
{
	struct gsan_snap *s = snap_new(true, id), *f = snap_of(from);
	uint4 a = load_cg(f), b = load_cg((char *)f + 16), c = load_cg((char *)f + 32), d = load_cg((char *)f + 48);
	bool cross = a.y & GSAN_SNAP_CROSS;
	s->flags = a.y & ~GSAN_SNAP_CROSS;
	s->slot = a.z;
	s->start = a.w;
	/* No one thread's any more: whose it was is one of many. */
	store_cg(&s->floor, four(b.x, 0, 0, 0));
	u32 line = c.w ? fetch_and(&f->line, GSAN_SNAP_NUMBER) : 0;
	store_cg(&s->nslots, four(0, 0, 0, line & GSAN_SNAP_LARGE ? line : *id));
	s->sc = d.x;
	s->sc_cta = d.y;
	s->grids = d.w;
	if (cross)
		snap_need_cross(s, GSAN_CROSS_SLOTS(c.x));
	ROLLED
	for (u32 part = 0; part < (cross ? 2u : 1u); part++) {
		uint4 *p = part ? (uint4 *)cross_of(s->nslots) : (uint4 *)snap_own(s);
		uint4 *q = part ? (uint4 *)cross_of(c.x) : (uint4 *)snap_own(f);
		ROLLED
		for (u32 i = 0; i < (part ? GSAN_CROSS_SLOTS(c.x) : 32); i += 8) {
			uint4 x[8];
#pragma unroll
			for (u32 k = 0; k < 8; k++)
				x[k] = load_cg(q + i + k);
#pragma unroll
			for (u32 k = 0; k < 8; k++)
				store_cg(p + i + k, x[k]);
		}
	}
	struct gsan_own first;
	first.base = c.z; first.top = b.z; first.mask = b.w; first.pad = 0;
	own_add(snap_own(s) + b.y, first);
	if (load(&f->id) != from || (cross && !cross_stands(c.x, from))) {
		count(GSAN_COUNT_SNAP_LOST, 1);
		s->flags |= GSAN_SNAP_LOST;
	}
	return s;
}

FN void snap_join_refs(struct gsan_snap *s, const struct gsan_refs *r)
{
	ROLLED
	for (int i = 0; i < GSAN_REFS; i++)
		snap_join(s, r->id[i]);
}

/* Is all that the small snapshot `t` says in the large one `s`? */
SLOW bool snap_within(struct gsan_snap *t, struct gsan_snap *s)
{
	uint4 ta = load_cg(t), tb = load_cg((char *)t + 16), tc = load_cg((char *)t + 32), td = load_cg((char *)t + 48);
	uint4 sa = load_cg(s), sb = load_cg((char *)s + 16), sc = load_cg((char *)s + 32), sd = load_cg((char *)s + 48);
	u32 slot = ta.z, start = ta.w, floor = 0, warp = tb.y;
	struct gsan_own e;
	e.base = e.top = e.mask = 0;
	if ((ta.y & ~sa.y & GSAN_SNAP_LOST) || td.y || (td.x && !no_later(td.x, sd.x)) || td.w > sd.w)
		return false;
	if (sa.z == slot && sa.w == start && (sa.y & GSAN_SNAP_OWN)) {
		e = load_own(snap_own(s) + warp);
		floor = sb.x;
	} else if ((sa.y & GSAN_SNAP_CROSS) && slot < GSAN_CROSS_SLOTS(sc.x)) {
		struct gsan_cross c = load_cross(cross_of(sc.x) + slot);
		if (CROSS_START(c) > start || !cross_stands(sc.x, sa.x))
			return false;
		floor = e.base = c.base;
		e.top = CROSS_TOP(c);
		e.mask = CROSS_WARP(c) == warp ? c.mask : 0;
	}
	return floor >= tb.x && (e.base >= tc.z || (e.top >= tc.z && !~e.mask)) &&
	       (e.base >= tb.z || (e.top >= tb.z && !(tb.w & ~e.mask)));
}

/* If one of two snapshots is known to hold all of the other, that one; else 0. */
SLOW u32 the_wider(u32 a, u32 b)
{
	if (a == b)
		return a;
	struct gsan_snap *s = snap_of(a), *t = snap_of(b);
	uint4 x = load_cg(s), y = load_cg(t), v = load_cg((char *)s + 16), w = load_cg((char *)t + 16);
	if (x.x != a || y.x != b)
		return 0;
	/* By the same lanes of a thread's warp: who goes on forgets nothing. */
	if (v.w && x.z == y.z && x.w == y.w && v.y == w.y && v.w == w.w && v.z != w.z)
		return v.z > w.z ? a : b;
	if ((a ^ b) & GSAN_SNAP_LARGE)
		return a & GSAN_SNAP_LARGE ? (snap_within(t, s) ? a : 0) : snap_within(s, t) ? b : 0;
	u32 line = a & GSAN_SNAP_LARGE ? load(&s->line) : 0;
	if (!line || ((line ^ load(&t->line)) & GSAN_SNAP_NUMBER))
		return 0;
	return ((a - b) & GSAN_SNAP_NUMBER) < GSAN_SNAP_NUMBER / 2 ? a : b;
}

/* Is all that the large snapshot `a` says in the later large one `b`, both of one block and of nothing
 * else?  What mbarriers brought one after the other mostly is, and a list of one is passed on at a
 * fraction of what four take. */
SLOW bool rows_within(u32 a, u32 b)
{
	struct gsan_snap *s = snap_of(a), *t = snap_of(b);
	if (!(a & b & GSAN_SNAP_LARGE) || ((b - a) & GSAN_SNAP_NUMBER) >= GSAN_SNAP_NUMBER / 2)
		return false;
	uint4 sa = load_cg(s), sb = load_cg(&s->floor), sc = load_cg(&s->nslots), sd = load_cg(&s->sc);
	uint4 ta = load_cg(t), tb = load_cg(&t->floor), tc = load_cg(&t->nslots), td = load_cg(&t->sc);
	if (sa.x != a || ta.x != b || sa.z != ta.z || sa.w != ta.w || ((sa.y | ta.y) & GSAN_SNAP_CROSS) || (sa.y & ~ta.y & GSAN_SNAP_LOST) ||
	    sb.x > tb.x || (sd.x && !no_later(sd.x, td.x)) || (sd.y && !no_later(sd.y, td.y)) || sd.w > td.w)
		return false;
	struct gsan_own mine = own_of(tb, tc), its = own_of(sb, sc), e, was = load_own(snap_own(t) + sb.y);
	was.base = was.base > tb.x ? was.base : tb.x;
	bool all = own_within(its, was) || (sb.y == tb.y && own_within(its, mine));
	ROLLED
	for (u32 i = 0; i < GSAN_SNAP_ROWS(ta.y) && all; i += 4) {
		uint4 x[4], y[4];
#pragma unroll
		for (u32 k = 0; k < 4; k++) {
			x[k] = load_cg(snap_own(s) + i + k);
			y[k] = load_cg(snap_own(t) + i + k);
		}
#pragma unroll
		for (u32 k = 0; k < 4; k++) {
			e = own_in(x[k]);
			was = own_in(y[k]);
			/* Below its floor it says nothing. */
			was.base = was.base > tb.x ? was.base : tb.x;
			all &= own_within(e, was) || (i + k == tb.y && own_within(e, mine));
		}
	}
	/* Overwritten while they were read? */
	return all && load(&s->id) == a && load(&t->id) == b;
}

/* Adds an id (0: none) to a list that belongs to the caller or is locked by it. */
SLOW void refs_add(const struct gsan_warp *w, struct gsan_refs *r, u32 id)
{
	u32 k = 0, wider = id;
	if (!id)
		return;
	ROLLED
	while (k < GSAN_REFS && r->id[k] && !(wider = the_wider(r->id[k], id)) && !(wider = rows_within(r->id[k], id) ? id : 0))
		k++;
	if (k < GSAN_REFS) {
		r->id[k] = r->id[k] ? wider : id;
		return;
	}
	u32 joined;
	struct gsan_snap *s = snap_begin(w, &joined, w->floor);
	snap_join_refs(s, r);
	snap_join(s, id);
	snap_publish(s, joined);
	r->id[0] = joined;
	r->id[1] = r->id[2] = r->id[3] = 0;
}

/* Is all of list `r` in snapshot `but` (0: no such)? */
FN bool refs_within(uint4 r, u32 but)
{
	bool all = but || !r.x;
	ROLLED
	for (; r.x && all; r = four(r.y, r.z, r.w, 0))
		all = the_wider(r.x, but) == but;
	return all;
}

/* The rest of the rows of snapshot `s`, from row 4 on: what everybody knows up to `floor`, and what
 * `from` says, another's of the same block (NULL: nothing). */
FN void snap_rows(struct gsan_own *rows, u32 warps, u32 floor, const struct gsan_own *from)
{
	ROLLED
	for (u32 i = 4; i < warps; i += 8) {
		/* There are 32. */
		u32 at = i < 24 ? i : 24;
		uint4 x[8] = { };
		if (from) {
#pragma unroll
			for (u32 k = 0; k < 8; k++)
				x[k] = load_cg(from + at + k);
		}
#pragma unroll
		for (u32 k = 0; k < 8; k++)
			store_cg(rows + at + k, row_least(x[k], floor));
	}
}

/* What the calling lane knows now, with `lanes` of its warp (itself among them)
 * up to `top`, and what snapshot `more` does (0: none).  What snapshot `but` holds may be left out, and
 * with GSAN_SNAP_FENCE in `flags` all that was acquired; with GSAN_SNAP_FIRST it may
 * begin a line, as it goes to one word only; with GSAN_SNAP_HELD a release comes before anybody
 * learns of it.  Returns its id. */
SLOW u32 snap_make(struct gsan_warp *w, u32 lanes, u32 top, u32 but, u32 flags, u32 more)
{
	/* All that is needed, in one go: id start; clock floor wfloor; slot nslots sc sc_cta; own refs; own refs. */
	struct snap_rings rings = { ROOT_NOW(snaps), ROOT_NOW(knows), ROOT_NOW(nsnaps), ROOT_NOW(nknows) };
	u64 at_block = load_ca64(&w->block), at_lanes = ROOT_NOW(lanes);
	uint4 me = load_ca(&w->id), now = load_ca(w), fences = load_ca(&w->slot), m = load_cg(&w->m_own), ours = load_cg(&w->refs);
	u32 state = load(&w->state), lane = 1u << sreg_laneid(), warp = me.x & 31;
	struct gsan_block *b = at<struct gsan_block>(at_block);
	struct gsan_lane *l = at<struct gsan_lane>(at_lanes) + (((u64)me.x << 5) + sreg_laneid());
	uint4 mine = load_cg(&l->refs), whole = load_cg(&b->refs), block = load_ca(&b->launch_number);
	u32 most = load(&b->sc), own_top = load_ca32(&l->own_top), own_mask = load_ca32(&l->own_mask), first = load_ca32(&b->first);
	u32 lane_sc = load_ca32(&l->sc), lane_cta = load_ca32(&l->sc_cta), warps = (load_ca32(&b->ntid) + 31) >> 5;
	bool own = (m.x & lane) && own_top > now.z;
	/* What was waited for no fence's number tells. */
	if (first != block.x)
		flags &= ~GSAN_SNAP_FENCE;
	bool none = flags & GSAN_SNAP_FENCE;
	/* Of two by one thread the later counts as the wider (the_wider): it has to hold all that its earlier one does. */
	if (but && load(&snap_of(but)->mask))
		but = 0;
	if (none || !(m.y & lane) || refs_within(mine, but))
		mine = four(0, 0, 0, 0);
	if (none || !(state & GSAN_WARP_REFS) || refs_within(ours, but))
		ours = four(0, 0, 0, 0);
	if (none || !(state & GSAN_WARP_BLOCK_REFS) || refs_within(whole, but))
		whole = four(0, 0, 0, 0);
	/* The first of them is mostly the only one, and of this block: its rows are begun with. */
	u32 from = mine.x ? mine.x : ours.x ? ours.x : whole.x ? whole.x : more;
	bool large = own || from;
	struct gsan_root *r = root();
	u32 id = fetch_add(large ? &r->snap_next : &r->know_next, 1) + 1;
	struct gsan_snap *f = snap_in(rings, from);
	struct snap_head h = { };
	uint4 x[4] = { }, named = four(0, 0, 0, 0), self = named;
	if (from) {
		h.a = load_cg(f);
		h.b = load_cg(&f->floor);
		h.c = load_cg(&f->nslots);
		h.d = load_cg(&f->sc);
	}
	if (from & GSAN_SNAP_LARGE) {
#pragma unroll
		for (u32 k = 0; k < 4; k++)
			x[k] = load_cg(snap_own(f) + k);
		self = load_cg(snap_own(f) + warp);
		named = load_cg(snap_own(f) + (h.b.y & 31));
	}
	id = (id & GSAN_SNAP_NUMBER) | (large ? GSAN_SNAP_LARGE : 0);
	struct gsan_snap *s = snap_in(rings, id);
	store(&s->id, 0);
	store(&s->maker, id);
	fence();
	u32 floor = now.y, base = now.z > floor ? now.z : floor, sc = fences.z, sc_cta = fences.w, grids = state & GSAN_WARP_OVER ? block.x : 0;
	u32 kind = (large ? GSAN_SNAP_OWN | warps << GSAN_SNAP_ROWS_SHIFT : flags & GSAN_SNAP_FENCE) |
		/* What it should have acquired it may pass on. */
		(state & GSAN_WARP_LOST ? GSAN_SNAP_LOST : 0);
	bool same = from && h.a.x == from && h.a.z == me.x >> 5 && h.a.w == me.y && !(h.a.y & GSAN_SNAP_CROSS);
	bool rows = same && (h.a.y & GSAN_SNAP_OWN);
	if (same) {
		kind |= h.a.y & GSAN_SNAP_LOST;
		floor = h.b.x > floor ? h.b.x : floor;
		sc = h.d.x > sc ? h.d.x : sc;
		sc_cta = h.d.y > sc_cta ? h.d.y : sc_cta;
		grids = h.d.w > grids ? h.d.w : grids;
	}
	if (m.y & lane) {
		sc = lane_sc > sc ? lane_sc : sc;
		sc_cta = lane_cta > sc_cta ? lane_cta : sc_cta;
	}
	store_cg(s, four(0, kind, me.x >> 5, me.y));
	/* With what others brought it is not one of the lanes' own, each of which holds all of the one before. */
	bool alone = !more;
	store_cg(&s->floor, four(floor, warp, alone ? top : 0, alone ? lanes : 0));
	store_cg(&s->nslots, four(0, 0, base, flags & GSAN_SNAP_FIRST ? id : 0));
	store(&s->sc, most > sc ? most : sc);
	store(&s->sc_cta, sc_cta);
	store(&s->grids, grids);
	if (large) {
#pragma unroll
		for (u32 k = 0; k < 4; k++)
			store_cg(snap_own(s) + k, row_least(rows ? x[k] : four(0, 0, 0, 0), floor));
		snap_rows(snap_own(s), warps, floor, rows ? snap_own(f) : 0);
	}
	self = row_least(rows ? self : four(0, 0, 0, 0), floor);
	if (same) {
		struct gsan_own was = own_in(row_least(rows ? named : four(0, 0, 0, 0), floor)), e = own_of(h.b, h.c);
		if (!own_within(e, was)) {
			e = join_own(was, e);
			store_own(snap_own(s) + h.b.y, e);
			if (h.b.y == warp)
				self = four(e.base, e.top, e.mask, 0);
		}
	}
	if (own || !alone) {
		struct gsan_own e = { base, own_top, own ? own_mask : 0, 0 }, latest = { base, top, alone ? 0 : lanes, 0 };
		store_own(snap_own(s) + warp, join_own(join_own(own_in(self), e), latest));
	}
	bool joined = false;
	ROLLED
	while (mine.x | ours.x | whole.x | more) {
		u32 next = mine.x ? mine.x : ours.x ? ours.x : whole.x ? whole.x : more;
		if (mine.x)
			mine = four(mine.y, mine.z, mine.w, 0);
		else if (ours.x)
			ours = four(ours.y, ours.z, ours.w, 0);
		else if (whole.x)
			whole = four(whole.y, whole.z, whole.w, 0);
		else
			more = 0;
		if (same && next == from)
			continue;
		snap_join(s, next);
		joined = true;
	}
	/* Neither may have been overwritten meanwhile. */
	u32 still = same ? load(&f->id) : from, maker = load(&s->maker);
	kind = joined ? load(&s->flags) : kind;
	bool lost = same && still != from;
	if (lost)
		count(GSAN_COUNT_SNAP_LOST, 1);
	if ((kind & GSAN_SNAP_CROSS) && !cross_stands(s->nslots, id))
		lost = true;
	if (lost)
		store(&s->flags, kind | GSAN_SNAP_LOST);
	fence();
	if (maker == id)
		store(&s->id, id);
	if (!(flags & GSAN_SNAP_HELD))
		fence();
	return id;
}

FN u32 snap_take(struct gsan_warp *w, u32 lanes, u32 top, u32 but, u32 flags) { return snap_make(w, lanes, top, but, flags, 0); }
