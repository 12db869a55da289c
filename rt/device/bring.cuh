/* SPDX-License-Identifier: Apache-2.0
 *
 * bring.cuh: what is brought to where several meet, an mbarrier or a barrier with a count.
 * What a whole warp brings goes into the snapshot that is being made there, each lane doing one row of it:
 * nobody needs one of the warp alone.
 */
#define gather_add      __gsan_v1_gather_add
#define gather_take     __gsan_v1_gather_take
#define warp_brings     __gsan_v1_warp_brings
#define warp_adds       __gsan_v1_warp_adds

/* As a snapshot would say it: each lane has the row of the block's warp of its number, the rest is
 * the same in all. */
struct brought {
	struct gsan_own row;
	u32 floor, sc, sc_cta, grids, flags;
	u32 slot, start, warps;                 /* whose it is */
};

/* `*p` as it is when what `seen` was computed of, clocks, has been loaded. */
FN u32 load_behind(const u32 *p, u32 seen)
{
	u32 v;
	asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %2, -1;\n\tmov.u32 %0, 0;\n\t@p ld.volatile.global.u32 %0, [%1];\n\t}"
		     : "=&r"(v) : "l"(p), "r"(seen) : "memory");
	return v;
}

/* As join_own, which is not called where that changes nothing. */
FN struct gsan_own join_quick(struct gsan_own a, struct gsan_own b)
{
	return own_within(b, a) ? a : join_own(a, b);
}

FN void brought_row(struct brought *x, u32 base, u32 top, u32 mask)
{
	struct gsan_own e;
	e.base = base; e.top = top; e.mask = mask; e.pad = 0;
	x->row = join_quick(x->row, e);
}

/* What all lanes know, up to clock `top` of their own: false if it takes more than one block's
 * rows.  By all 32, none of which knows more than the others.  The block's list may grow meanwhile:
 * what the warp acquired is in it. */
SLOW bool warp_brings(struct gsan_warp *w, u32 top, struct brought *x)
{
	u32 lane = sreg_laneid();
	struct gsan_block *b = at<struct gsan_block>(load_ca64(&w->block));
	/* clock floor wfloor; id start; slot nslots sc sc_cta; launch_number */
	uint4 now = load_ca(w), me = load_ca(&w->id), fences = load_ca(&w->slot);
	uint4 ours = load_cg(&w->refs), all = load_cg(&b->refs);
	u32 state = load(&w->state), sc = load(&b->sc), ntid = load_ca32(&b->ntid), floor = now.y, lost = 0;
	bool other = false, self = lane == (me.x & 31);
	x->row.base = self && now.z > floor ? now.z : floor;
	x->row.top = self ? top : 0;
	x->row.mask = self ? ~0u : 0;
	x->row.pad = 0;
	x->sc = fences.z > sc ? fences.z : sc;
	x->sc_cta = fences.w;
	x->grids = state & GSAN_WARP_OVER ? load_ca32(&b->launch_number) : 0;
	x->slot = me.x >> 5;
	x->start = me.y;
	x->warps = (ntid + 31) >> 5;
	x->flags = state & GSAN_WARP_LOST ? GSAN_SNAP_LOST : 0;
	if (!(state & GSAN_WARP_REFS))
		ours = four(0, 0, 0, 0);
	if (!(state & GSAN_WARP_BLOCK_REFS))
		all = four(0, 0, 0, 0);
	ROLLED
	while (ours.x | all.x) {
		u32 id = ours.x ? ours.x : all.x;
		if (ours.x)
			ours = four(ours.y, ours.z, ours.w, 0);
		else
			all = four(all.y, all.z, all.w, 0);
		struct gsan_snap *s = snap_of(id);
		uint4 a = load_cg(s), h = load_cg(&s->floor), c = load_cg(&s->nslots), d = load_cg(&s->sc);
		uint4 row = id & GSAN_SNAP_LARGE ? load_cg(snap_own(s) + lane) : four(0, 0, 0, 0);
		if (a.x != id) {
			lost = 1;
			continue;
		}
		/* Overwritten while it was read? */
		lost |= load_behind(&s->id, row.x | a.w | h.x | c.z | d.y) ^ id;
		other |= a.z != me.x >> 5 || a.w != me.y || (a.y & GSAN_SNAP_CROSS);
		x->flags |= a.y & GSAN_SNAP_LOST;
		x->sc = d.x > x->sc ? d.x : x->sc;
		x->sc_cta = d.y > x->sc_cta ? d.y : x->sc_cta;
		x->grids = d.w > x->grids ? d.w : x->grids;
		floor = h.x > floor ? h.x : floor;
		/* The floor first: what lies below it is no entry's exception. */
		bool has = lane < GSAN_SNAP_ROWS(a.y);
		brought_row(x, has && row.x > h.x ? row.x : h.x, has ? row.y : 0, has ? row.z : 0);
		if (lane == h.y)
			brought_row(x, c.z, h.z, h.w);
	}
	x->floor = floor;
	if (__any_sync(~0u, lost != 0)) {
		if (!lane)
			count(GSAN_COUNT_SNAP_LOST, 1);
		x->flags |= GSAN_SNAP_LOST;
	}
	return __all_sync(~0u, !other);
}

/* A snapshot of that, whose number is put into `at`: others may put there what they bring, and nobody
 * else learns of it before, so that it has its number from the beginning.  By all 32. */
FN void warp_begins(u32 *at, const struct brought *x)
{
	u32 id = 0, lane = sreg_laneid();
	if (!lane) {
		struct gsan_snap *s = snap_new(true, &id);
		store_cg(&s->floor, four(x->floor, 0, 0, 0));
		store_cg(&s->nslots, four(0, 0, 0, 0));
		store_cg(&s->sc, four(x->sc, x->sc_cta, id, x->grids));
		store_cg(s, four(id, GSAN_SNAP_OWN | x->flags | x->warps << GSAN_SNAP_ROWS_SHIFT, x->slot, x->start));
		store(at, id);
	}
	meet_all(~0u);
	id = __shfl_sync(~0u, id, 0);
	store_own(snap_own(snap_of(id)) + lane, x->row);
	meet_all(~0u);
}

/* That goes into the snapshot under construction, whose number `at` holds (0: none yet), and a
 * moment ago held `id`.  Returns what it held.  By all 32, with the lock that it stands under, which is
 * held as long as one answer takes. */
SLOW u32 warp_adds(struct gsan_warp *w, u32 *at, u32 id, const struct brought *x)
{
	u32 lane = sreg_laneid(), now;
	struct gsan_snap *s;
	uint4 row, a, h, d;
	ROLLED
	for (;; id = now) {
		s = snap_of(id);
		now = load(at);
		if (id) {
			a = load_cg(s);
			h = load_cg(&s->floor);
			row = load_cg(snap_own(s) + lane);
			d = load_cg(&s->sc);
		}
		if (now == id)
			break;
	}
	/* None goes on before all have looked: there may be one then. */
	if (!__shfl_sync(~0u, id, 0)) {
		warp_begins(at, x);
		return 0;
	}
	struct gsan_own was = own_in(row);
	if (lane < GSAN_SNAP_ROWS(a.y) && !own_within(x->row, was))
		store_own(snap_own(s) + lane, join_quick(was, x->row));
	if (!lane) {
		if (x->floor > h.x)
			s->floor = x->floor;
		if (x->flags & ~a.y)
			s->flags = a.y | x->flags;
		if (x->sc > d.x)
			s->sc = x->sc;
		if (x->sc_cta > d.y)
			s->sc_cta = x->sc_cta;
		if (x->grids > d.w)
			s->grids = x->grids;
	}
	meet_all(~0u);
	return id;
}

/* One more snapshot (0: none) for those who wait; lock held.  What is made of several is of the block that began at
 * `start` in `slot`, whoever comes first: its own warps put their rows into it without asking whose it is. */
SLOW void gather_add(struct gsan_gather *g, u32 id, u32 slot, u32 start)
{
	if (!id)
		return;
	u32 one = g->one, made;
	if (!g->builder) {
		u32 wider = one ? the_wider(one, id) : id;
		if (wider) {
			g->one = wider;
			return;
		}
		snap_begin(slot, start, &made, start);
		g->builder = made;
		snap_join(snap_of(made), one);
		/* Nobody learns of it before the phase is over. */
		store(&snap_of(made)->id, made);
	}
	snap_join(snap_of(g->builder), id);
}

/* What was gathered, as one snapshot. */
SLOW u32 gather_take(struct gsan_gather *g)
{
	if (g->builder) {
		snap_publish(snap_of(g->builder), g->builder);
		g->one = g->builder;
		g->builder = 0;
	}
	return g->one;
}
