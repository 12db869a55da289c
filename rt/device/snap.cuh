/* SPDX-License-Identifier: Apache-2.0
 *
 * snap.cuh: what a thread knows, and snapshots of it.
 *
 * A snapshot is written once, under its id, and never changed; a reader checks
 * the id before and after.  One that was overwritten (the arrays are rings)
 * counts as knowing everything: silence, counted as SNAP_LOST.  What it knows of other blocks is
 * an object in a ring of its own, which names it.
 */
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
	if (!known && (a.y & GSAN_SNAP_CROSS)) {
		known = cross_knows(c.x, slot, warp, lanes, clock);
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

/* What snapshot `s` knows of its own block, which is another than that of `to`. */
SLOW void join_block(struct gsan_snap *to, struct gsan_snap *s, const struct snap_head *h)
{
	u32 flags = h->a.y, slot = h->a.z, start = h->a.w, floor = h->b.x, base = h->c.z;
	struct gsan_block *home = block_of(slot);
	/* What fences of block scope published has no place in an entry. */
	if (h->d.y && load(&home->start) == start) {
		count(GSAN_COUNT_MERGED, 1);
		floor = block_clock(home, slot);
	}
	cross_add(to, slot, cross_make(start, floor, h->b.y, h->b.w ? h->b.z : 0, h->b.w));
	if (base > floor)
		cross_add(to, slot, cross_make(start, floor, h->b.y, base, ~0u));
	/* Of most warps nothing more is known. */
	ROLLED
	for (u32 w = 0; flags & GSAN_SNAP_OWN && w < GSAN_SNAP_ROWS(flags); w += 4) {
		uint4 x[4];
		u32 more = 0;
#pragma unroll
		for (u32 k = 0; k < 4; k++)
			x[k] = load_cg(snap_own(s) + w + k);
#pragma unroll
		for (u32 k = 0; k < 4; k++)
			more |= w + k < GSAN_SNAP_ROWS(flags) && (x[k].x > floor || (x[k].z && x[k].y > floor)) ? 1u << k : 0;
		ROLLED
		for (; more; more &= more - 1) {
			u32 k = __ffs(more) - 1;
			struct gsan_own e = own_in(k & 2 ? (k & 1 ? x[3] : x[2]) : k & 1 ? x[1] : x[0]);
			if (e.base > floor)
				cross_add(to, slot, cross_make(start, floor, w + k, e.base, ~0u));
			if (e.mask && e.top > e.base)
				cross_add(to, slot, cross_make(start, floor, w + k, e.top, e.mask));
		}
	}
}

/* What snapshot `s` knows of other blocks, its own among them if it is one. */
SLOW void join_others(struct gsan_snap *to, struct gsan_snap *s, const struct snap_head *h)
{
	if (h->a.y & GSAN_SNAP_CROSS)
		cross_join(to, h->c.x);
	if (h->a.z != to->slot || h->a.w != to->start)
		join_block(to, s, h);
}

/* Joins snapshot `id` (0: none) into the large object `to`, whose header is
 * set; `fresh`: its rows are not yet.  They go round by fours, so that eight loads are on their way at a time
 * and little code has to be fetched: one lane does this, and that is all it costs.  Returns whether it knows of
 * other blocks then (false if `id` is 0). */
SLOW bool join_rows(struct gsan_snap *to, u32 id, bool fresh)
{
	if (!id)
		return false;
	struct gsan_snap *s = snap_of(id);
	struct gsan_own *rows = snap_own(to), *its = snap_own(s), *end;
	uint4 a = load_cg(s), b = load_cg(&s->floor), c = load_cg(&s->nslots), d = load_cg(&s->sc);
	uint4 mine = load_cg(to), floors = load_cg(&to->floor), sc = load_cg(&to->sc);
	bool same = a.x == id && a.z == mine.z && a.w == mine.w, has = same && (a.y & GSAN_SNAP_OWN), raise = same && b.x > floors.x;
	end = rows + GSAN_SNAP_ROWS(mine.y);
	ROLLED
	for (; fresh && rows < end; rows += 4, its += 4) {
		uint4 x[4] = { };
		if (has) {
#pragma unroll
			for (u32 k = 0; k < 4; k++)
				x[k] = load_cg(its + k);
		}
#pragma unroll
		for (u32 k = 0; k < 4; k++)
			store_cg(rows + k, row_least(x[k], raise ? b.x : floors.x));
	}
	if (a.x != id) {
		count(GSAN_COUNT_SNAP_LOST, 1);
		to->flags |= GSAN_SNAP_LOST;
		return mine.y & GSAN_SNAP_CROSS;
	}
	/* An earlier one of the same lanes alone: who goes on forgets nothing (the_wider).  One that holds
	 * what they had acquired may have taken the place of just that in their list (refs_add). */
	if (b.w && !(id & GSAN_SNAP_LARGE) && same && b.y == floors.y && b.w == floors.w && b.z <= floors.z)
		return mine.y & GSAN_SNAP_CROSS;
	if (a.y & ~mine.y & GSAN_SNAP_LOST)
		to->flags |= GSAN_SNAP_LOST;
	if (d.x > sc.x)
		to->sc = d.x;
	if (d.w > sc.w)
		to->grids = d.w;
	if (same && d.y > sc.y)
		to->sc_cta = d.y;
	if (raise)
		to->floor = b.x;
	/* One without rows raises those that there are. */
	its = has ? its : rows;
	ROLLED
	for (; (has || raise) && rows < end; rows += 4, its += 4) {
		uint4 x[4], y[4];
#pragma unroll
		for (u32 k = 0; k < 4; k++) {
			x[k] = load_cg(rows + k);
			y[k] = load_cg(its + k);
		}
#pragma unroll
		for (u32 k = 0; k < 4; k++) {
			struct gsan_own was = own_in(x[k]), e = own_in(row_least(y[k], b.x));
			/* Mostly it says nothing new. */
			if (!own_within(e, was))
				store_own(rows + k, join_own(was, e));
		}
	}
	bool cross = a.y & GSAN_SNAP_CROSS;
	if (!same || cross) {
		struct snap_head h = { a, b, c, d };
		join_others(to, s, &h);
	}
	/* The warp's own, on top of what its row has become; and was it overwritten while it was read? */
	rows = snap_own(to) + b.y;
	struct gsan_own was = load_own(rows), e = own_of(b, c);
	bool still = load(&s->id) == id && (!cross || cross_stands(c.x, id));
	if (same && !own_within(e, was))
		store_own(rows, join_own(was, e));
	if (!still) {
		count(GSAN_COUNT_SNAP_LOST, 1);
		to->flags |= GSAN_SNAP_LOST;
	}
	return !same || cross || (mine.y & GSAN_SNAP_CROSS);
}

FN void snap_join(struct gsan_snap *to, u32 id) { (void)join_rows(to, id, false); }

FN void snap_header(struct gsan_snap *s, u32 flags, u32 slot, u32 start, u32 floor)
{
	s->flags = flags;
	s->slot = slot;
	s->start = start;
	store_cg(&s->floor, four(floor, 0, 0, 0));
	store_cg(&s->nslots, four(0, 0, 0, 0));
	s->sc = s->sc_cta = s->grids = 0;
}

/* A large object for the block that began at `start` in `slot`, which knows everyone up to `floor`. */
SLOW struct gsan_snap *snap_begin(u32 slot, u32 start, u32 *id, u32 floor)
{
	u32 warps = (block_of(slot)->ntid + 31) >> 5;
	struct gsan_snap *s = snap_new(true, id);
	snap_header(s, GSAN_SNAP_OWN | warps << GSAN_SNAP_ROWS_SHIFT, slot, start, floor);
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
		cross_join(s, c.x);
	ROLLED
	for (u32 i = 0; i < GSAN_SNAP_ROWS(a.y); i += 8)
		move_entries((uint4 *)snap_own(s) + i, (const uint4 *)snap_own(f) + i);
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
	} else if (sa.y & GSAN_SNAP_CROSS) {
		/* Of all warps, all lanes of one, and some of those: as far as it says anything of them. */
		return (tb.x <= start || cross_knows(sc.x, slot, 32, 0, tb.x)) && (tc.z <= tb.x || cross_knows(sc.x, slot, warp, ~0u, tc.z)) &&
		       (!tb.w || cross_knows(sc.x, slot, warp, tb.w, tb.z)) && cross_knows(sc.x, slot, warp, tb.w, start + 1) && cross_stands(sc.x, sa.x);
	}
	return floor >= tb.x && (e.base >= tc.z || (e.top >= tc.z && !~e.mask)) &&
	       (e.base >= tb.z || (e.top >= tb.z && !(tb.w & ~e.mask)));
}

/* If one of two snapshots is known to hold all of the other, that one; else 0.  `rows`: ask also for all that the
 * large one `a` says in the later large one `b`, both of one block and of nothing
 * else.  What mbarriers brought one after the other mostly is, and a list of one is passed on at a
 * fraction of what four take. */
SLOW u32 one_within(u32 a, u32 b, bool rows)
{
	if (a == b)
		return a;
	struct gsan_snap *s = snap_of(a), *t = snap_of(b);
	uint4 sa = load_cg(s), sb = load_cg(&s->floor), sc = load_cg(&s->nslots), sd = load_cg(&s->sc);
	uint4 ta = load_cg(t), tb = load_cg(&t->floor), tc = load_cg(&t->nslots), td = load_cg(&t->sc);
	if (sa.x != a || ta.x != b)
		return 0;
	bool same = sa.z == ta.z && sa.w == ta.w, later = ((b - a) & GSAN_SNAP_NUMBER) < GSAN_SNAP_NUMBER / 2;
	/* By the same lanes of a thread's warp: who goes on forgets nothing. */
	if (same && sb.w && sb.y == tb.y && sb.w == tb.w && sb.z != tb.z)
		return sb.z > tb.z ? a : b;
	if (tc.y == a)
		return b;
	/* Who runs fence.sc of gpu scope publishes all that those before it published, and its number says so.  (PTX ISA,
	 * Fence-SC order; Causality Order: base causality order is transitive) */
	if ((sa.y & ta.y & GSAN_SNAP_FENCE) && !((sa.y | ta.y) & GSAN_SNAP_LOST) && !(sd.y | td.y) && sd.w == td.w)
		return no_later(sd.x, td.x) ? b : a;
	if ((a ^ b) & GSAN_SNAP_LARGE)
		return a & GSAN_SNAP_LARGE ? (snap_within(t, s) ? a : 0) : snap_within(s, t) ? b : 0;
	if (!(a & GSAN_SNAP_LARGE))
		return 0;
	/* Of one line. */
	if (sc.w && !((sc.w ^ tc.w) & GSAN_SNAP_NUMBER))
		return later ? b : a;
	if (!rows || !later || !same || ((sa.y | ta.y) & GSAN_SNAP_CROSS) || (sa.y & ~ta.y & GSAN_SNAP_LOST) ||
	    sb.x > tb.x || (sd.x && !no_later(sd.x, td.x)) || (sd.y && !no_later(sd.y, td.y)) || sd.w > td.w)
		return 0;
	/* What the header tells of a warp is mostly nothing, where several brought something. */
	struct gsan_own mine = own_of(tb, tc), its = own_of(sb, sc), none = { tb.x, 0, 0, 0 };
	mine.base = mine.base > tb.x ? mine.base : tb.x;
	if (!own_within(its, none) && !(sb.y == tb.y && own_within(its, mine)) &&
	    !own_within(its, own_in(row_least(load_cg(snap_own(t) + sb.y), tb.x))))
		return 0;
	const struct gsan_own *x = snap_own(s), *y = snap_own(t), *named = y + tb.y;
	ROLLED
	for (const struct gsan_own *end = y + GSAN_SNAP_ROWS(ta.y); y < end; x += 4, y += 4) {
		uint4 e[4], was[4];
#pragma unroll
		for (u32 k = 0; k < 4; k++) {
			e[k] = load_cg(x + k);
			was[k] = load_cg(y + k);
		}
		u32 more = 0;
#pragma unroll
		for (u32 k = 0; k < 4; k++)
			/* Below its floor it says nothing. */
			more |= own_within(own_in(e[k]), own_in(row_least(was[k], tb.x))) ? 0 : 1u << k;
		if (!more)
			continue;
		u32 k = __ffs(more) - 1;
		if (y + k != named || (more & (more - 1)) || !own_within(load_own(x + k), mine))
			return 0;
	}
	/* Overwritten while they were read? */
	u32 again = load(&s->id), then = load(&t->id);
	return again == a && then == b ? b : 0;
}

FN u32 the_wider(u32 a, u32 b) { return one_within(a, b, false); }

/* Adds an id (0: none) to a list that belongs to the caller or is locked by it. */
SLOW void refs_add(const struct gsan_warp *w, struct gsan_refs *r, u32 id)
{
	u32 k = 0, wider = id;
	if (!id)
		return;
	ROLLED
	while (k < GSAN_REFS && r->id[k] && !(wider = one_within(r->id[k], id, true)))
		k++;
	if (k < GSAN_REFS) {
		r->id[k] = r->id[k] ? wider : id;
		return;
	}
	u32 joined;
	struct gsan_snap *s = snap_begin(w->slot, w->start, &joined, w->floor);
	snap_join_refs(s, r);
	snap_join(s, id);
	snap_publish(s, joined);
	r->id[0] = joined;
	r->id[1] = r->id[2] = r->id[3] = 0;
}

/* Is all of list `r` in snapshot `but`? */
FN bool refs_within(uint4 r, u32 but)
{
	bool all = true;
	ROLLED
	for (; r.x && all; r = four(r.y, r.z, r.w, 0))
		all = the_wider(r.x, but) == but;
	return all;
}

/* What the calling lane knows now lies in these: all that is needed, in one go, before it is looked at. */
struct lane_seen {
	uint4 me, now, fences, m, ours, state;  /* id start; clock floor wfloor; slot nslots sc sc_cta; own refs; own refs; state light live */
	uint4 mine, whole, block, rest;         /* own refs; the block's; launch_number; own mask sc sc_cta */
	u32 most, own_top, first, ntid;
};

FN struct lane_seen lane_look(struct gsan_warp *w)
{
	struct lane_seen x;
	u64 at_block = load_ca64(&w->block), at_lanes = ROOT_NOW(lanes);
	x.me = load_ca(&w->id);
	x.now = load_ca(w);
	x.fences = load_ca(&w->slot);
	x.m = load_cg(&w->m_own);
	x.ours = load_cg(&w->refs);
	x.state = load_cg(&w->state);
	struct gsan_block *b = at<struct gsan_block>(at_block);
	struct gsan_lane *l = at<struct gsan_lane>(at_lanes) + (((u64)x.me.x << 5) + sreg_laneid());
	x.mine = load_cg(&l->refs);
	x.whole = load_cg(&b->refs);
	x.block = load_ca(&b->launch_number);
	x.rest = load_ca(&l->own_mask);
	x.most = load(&b->sc);
	x.own_top = load_ca32(&l->own_top);
	x.first = load_ca32(&b->first);
	x.ntid = load_ca32(&b->ntid);
	return x;
}

/* That is this, and what lists name. */
struct lane_now {
	struct gsan_own row;    /* of its warp */
	u32 floor, sc, sc_cta, grids, lost;
	u32 id, start, warps;
	bool own, chained;
	uint4 mine, ours, whole;
};

FN struct lane_now lane_knows_now(const struct lane_seen &x)
{
	struct lane_now y;
	u32 lane = 1u << sreg_laneid();
	bool listed = x.m.y & lane;
	y.floor = x.now.y;
	y.own = (x.m.x & lane) && x.own_top > x.now.z;
	y.row.base = x.now.z > x.now.y ? x.now.z : x.now.y;
	y.row.top = y.own ? x.own_top : 0;
	y.row.mask = y.own ? x.rest.x : 0;
	y.row.pad = 0;
	y.sc = listed && x.rest.y > x.fences.z ? x.rest.y : x.fences.z;
	y.sc = x.most > y.sc ? x.most : y.sc;
	y.sc_cta = listed && x.rest.z > x.fences.w ? x.rest.z : x.fences.w;
	y.grids = x.state.x & GSAN_WARP_OVER ? x.block.x : 0;
	/* What it should have acquired it may pass on. */
	y.lost = x.state.x & GSAN_WARP_LOST ? GSAN_SNAP_LOST : 0;
	y.id = x.me.x;
	y.start = x.me.y;
	y.warps = (x.ntid + 31) >> 5;
	y.chained = x.first != x.block.x;
	y.mine = listed ? x.mine : four(0, 0, 0, 0);
	y.ours = x.state.x & GSAN_WARP_REFS ? x.ours : four(0, 0, 0, 0);
	y.whole = x.state.x & GSAN_WARP_BLOCK_REFS ? x.whole : four(0, 0, 0, 0);
	return y;
}

FN u32 lane_first(const struct lane_now &x) { return x.mine.x ? x.mine.x : x.ours.x ? x.ours.x : x.whole.x; }

/* Snapshot `s`, which is `id`, gets what the calling lane knows, with `lanes` of its warp (itself among them) up to
 * `top`.  `into`: it is one that several make of what they bring, one after the other, and others have brought
 * something already; `alone`: it is this lane's own.  `line`: see there.
 *
 * It has its number from the beginning: nobody else knows that before it is complete, and who makes the
 * next one in its place takes it away first. */
FN void snap_fill(struct gsan_snap *s, u32 id, bool into, bool alone, struct lane_now x, u32 kind, u32 lanes, u32 top, u32 line)
{
	struct gsan_own *rows = snap_own(s), *row = rows + (x.id & 31), was = { x.floor, 0, 0, 0 };
	u32 from = lane_first(x), holds = 0;
	bool fresh = !into && from, raise = false, large = kind & GSAN_SNAP_OWN;
	if (into) {
		uint4 a = load_cg(s), h = load_cg(&s->floor), c = load_cg(&s->nslots), d = load_cg(&s->sc);
		was = load_own(row);
		/* Whoever asks for it finds it lost. */
		if (a.x != id)
			return;
		holds = c.y;
		raise = x.floor > h.x;
		if (x.lost & ~a.y)
			store(&s->flags, a.y | x.lost);
		if (raise)
			store(&s->floor, x.floor);
		if (x.sc > d.x)
			store(&s->sc, x.sc);
		if (x.sc_cta > d.y)
			store(&s->sc_cta, x.sc_cta);
		if (x.grids > d.w)
			store(&s->grids, x.grids);
	} else {
		store(&s->id, 0);
		fence();
		store_cg(s, four(id, kind | x.lost, x.id >> 5, x.start));
		/* Of several it is not one of the lanes' own, each of which holds all of the one before. */
		store_cg(&s->floor, four(x.floor, alone ? x.id & 31 : 0, alone ? top : 0, alone ? lanes : 0));
		store_cg(&s->nslots, four(0, from, alone ? x.row.base : 0, line));
		store_cg(&s->sc, four(x.sc, x.sc_cta, id, x.grids));
	}
	ROLLED
	for (u32 i = 0; i < x.warps && (into ? raise : large && !from); i++) {
		struct gsan_own e = { x.floor, 0, 0, 0 };
		store_own(rows + i, into ? join_own(load_own(rows + i), e) : e);
	}
	bool cross = false, joined = false;
	ROLLED
	for (; from; from = lane_first(x), fresh = false) {
		if (x.mine.x)
			x.mine = four(x.mine.y, x.mine.z, x.mine.w, 0);
		else if (x.ours.x)
			x.ours = four(x.ours.y, x.ours.z, x.ours.w, 0);
		else
			x.whole = four(x.whole.y, x.whole.z, x.whole.w, 0);
		/* Others have mostly brought the same already. */
		if (from == holds)
			continue;
		cross = join_rows(s, from, fresh);
		joined = true;
	}
	if (x.own || !alone) {
		struct gsan_own latest = { x.row.base, top, alone ? 0 : lanes, 0 };
		if (joined)
			was = load_own(row);
		if (x.own)
			was = join_own(was, x.row);
		store_own(row, join_own(was, latest));
	}
	if (cross && !cross_stands(s->nslots, id))
		s->flags |= GSAN_SNAP_LOST;
}

/* A snapshot of what the calling lane knows now, with `lanes` of its warp (itself among them)
 * up to `top`.  What snapshot `but` holds may be left out, and
 * with GSAN_SNAP_FENCE in `flags` all that was acquired; with GSAN_SNAP_FIRST it may
 * begin a line, as it goes to one word only.  Returns its id. */
SLOW u32 snap_make(struct gsan_warp *w, u32 lanes, u32 top, u32 but, u32 flags)
{
	struct snap_rings rings = { ROOT_NOW(snaps), ROOT_NOW(knows), ROOT_NOW(nsnaps), ROOT_NOW(nknows) };
	struct lane_now x = lane_knows_now(lane_look(w));
	/* What was waited for no fence's number tells. */
	u32 none = x.chained ? 0 : flags & GSAN_SNAP_FENCE;
	if (none)
		x.mine = x.ours = x.whole = four(0, 0, 0, 0);
	/* Of two by one thread the later counts as the wider (the_wider): it has to hold all that its earlier one does. */
	if (but && !load(&snap_of(but)->mask)) {
		if (refs_within(x.mine, but))
			x.mine = four(0, 0, 0, 0);
		if (refs_within(x.ours, but))
			x.ours = four(0, 0, 0, 0);
		if (refs_within(x.whole, but))
			x.whole = four(0, 0, 0, 0);
	}
	struct gsan_root *r = root();
	bool large = x.own || lane_first(x);
	u32 id = fetch_add(large ? &r->snap_next : &r->know_next, 1) + 1;
	id = (id & GSAN_SNAP_NUMBER) | (large ? GSAN_SNAP_LARGE : 0);
	snap_fill(snap_in(rings, id), id, false, true, x, large ? GSAN_SNAP_OWN | x.warps << GSAN_SNAP_ROWS_SHIFT : none, lanes, top,
		  flags & GSAN_SNAP_FIRST ? id : 0);
	fence();
	return id;
}
