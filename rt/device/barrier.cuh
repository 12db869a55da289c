/* SPDX-License-Identifier: Apache-2.0
 *
 * barrier.cuh: barriers of a block and of a warp, and what stands in for
 * synchronisation that is not modelled.  (PTX ISA, Parallel Synchronization and
 * Communication Instructions: bar, barrier, bar.warp.sync)
 *
 * A barrier of all threads needs no snapshot: everyone knows everyone up to the
 * highest clock brought along.  Each warp notes what it brings, and after the
 * barrier reads what all did; two places by turns suffice, since nobody can reach
 * the next but one before all have left this one.  A thread that exits counts as
 * arriving at the next one.  All that is on one multiprocessor, so that L1 serves.
 */
#define FULL_BARRIER    0xfffffffeu     /* | whose turn it is */

/* The highest `v` in `group`. */
FN u32 highest(u32 group, u32 v)
{
#if __CUDA_ARCH__ >= 800
	return __reduce_max_sync(group, v);
#else
	u32 top = 0;
	ROLLED
	for (u32 m = group; m; m &= m - 1) {
		u32 x = __shfl_sync(group, v, __ffs(m) - 1);
		top = x > top ? x : top;
	}
	return top;
#endif
}

/* What the warp brings to the barrier, or to the next one where `group` exits.
 * The clock only grows, and so must what stands there. */
FN void bring_clock(struct gsan_warp *w, struct gsan_bar *bar, u32 p, bool whole)
{
	if (!whole)
		take_lock(&w->lock);
	store_ca32(&bar->clocks[p][w->id & 31], load_ca32(&w->clock));
	if (!whole)
		unlock(&w->lock);
}

/* Only what says something of other blocks outlives a full barrier. */
FN bool snap_matters(const struct gsan_warp *w, u32 id)
{
	uint4 a = load_cg(snap_of(id));
	return a.x != id || (a.y & (GSAN_SNAP_CROSS | GSAN_SNAP_LOST)) || a.z != w->slot || a.w != w->start;
}

/* The warp knows that earlier launches are over: what they left is below its base. */
FN void grid_over(struct gsan_warp *w)
{
	struct gsan_block *b = own_block(w);
	store_ca32(&w->launch_base, load(&launch_of(b)->base) & GSAN_CLOCK_MAX);
	fetch_or(&w->state, GSAN_WARP_OVER);
}

/* Whoever leaves the full barrier will know it as well; block's lock held. */
FN void bring_over(struct gsan_block *b, struct gsan_bar *bar, u32 p)
{
	b->used_bars |= 1u << (bar - b->bar);
	store(&bar->over[p], 1);
}

/* Notes that a snapshot (0: none) is brought to a full barrier; block's lock
 * held. */
SLOW void bring_one(struct gsan_warp *w, struct gsan_bar *bar, u32 p, u32 id)
{
	struct gsan_block *b = block_of(w->slot);
	if (id && load(&snap_of(id)->grids) == b->launch_number)
		bring_over(b, bar, p);
	if (!id || !snap_matters(w, id))
		return;
	u32 k = 0;
	b->used_bars |= 1u << (bar - b->bar);
	ROLLED
	while (k < GSAN_PENDING && bar->pending[p][k] && !the_wider(bar->pending[p][k], id))
		k++;
	if (k < GSAN_PENDING) {
		bar->pending[p][k] = bar->pending[p][k] ? the_wider(bar->pending[p][k], id) : id;
		return;
	}
	u32 joined;
	struct gsan_snap *s = snap_begin(w->slot, w->start, &joined, w->floor);
	ROLLED
	for (k = 0; k < GSAN_PENDING; k++) {
		snap_join(s, bar->pending[p][k]);
		bar->pending[p][k] = 0;
	}
	snap_join(s, id);
	snap_publish(s, joined);
	bar->pending[p][0] = joined;
}

/* Does one of the snapshots of list `r`?  Mostly none: what comes of that has not to be brought. */
SLOW bool list_matters(const struct gsan_warp *w, const struct gsan_refs *list)
{
	u32 number = own_block(w)->launch_number;
	uint4 r = load_cg(list);
	bool any = false;
	ROLLED
	for (; r.x && !any; r = four(r.y, r.z, r.w, 0))
		any = snap_matters(w, r.x) || load(&snap_of(r.x)->grids) == number;
	return any;
}

/* The calling lane brings what it, or `ours` its warp, acquired. */
SLOW void bring_private(struct gsan_warp *w, struct gsan_bar *bar, u32 p, bool mine, bool ours)
{
	struct gsan_block *b = block_of(w->slot);
	struct gsan_lane *l = lane_of(w, sreg_laneid());
	u32 sc = mine && l->sc > w->sc ? l->sc : w->sc;
	take_lock(&b->lock);
	store(&b->brought, 1);
	if (sc > load(&bar->sc[p])) {
		b->used_bars |= 1u << (bar - b->bar);
		store(&bar->sc[p], sc);
	}
	if (load(&w->state) & GSAN_WARP_OVER)
		bring_over(b, bar, p);
	ROLLED
	for (int i = 0; i < GSAN_REFS; i++) {
		bring_one(w, bar, p, mine ? l->refs.id[i] : 0);
		bring_one(w, bar, p, ours ? w->refs.id[i] : 0);
	}
	unlock(&b->lock);
}

/* Who came to which use is not known; block's lock held. */
FN void bar_mixed(struct gsan_block *b, struct gsan_bar *bar)
{
	if (load(&bar->mixed))
		return;
	store(&bar->mixed, 1);
	b->used_bars |= 1u << (bar - b->bar);
	count(GSAN_COUNT_BAR_MIXED, 1);
}

/* `lanes` of the warp come to the use under way of a barrier with a count, for which
 * snapshot `id` is being made (0: they are the first); block's lock held.
 *
 * Threads come here before they come to the barrier itself, so that two who are on their
 * way at one moment may get there in another order.  That changes nothing while all of
 * them belong to one use: they name the same count, and only who knows that the last use
 * is over, which nobody does before somebody left, comes to the next. */
FN void bar_came(struct gsan_warp *w, struct gsan_bar *bar, u32 id, u32 lanes, u32 need)
{
	struct gsan_block *b = own_block(w);
	u32 *came = bar->came + (w->id & 31), were = load(came);
	if (load(&bar->left) != bar->gen || (were & lanes) || (id && bar->need != need))
		bar_mixed(b, bar);
	bar->need = need;
	store(came, were | lanes);
	b->used_bars |= 1u << (bar - b->bar);
}

/* One snapshot, that of `lanes`, comes.  Returns the generation. */
SLOW u32 arrive_one(struct gsan_warp *w, struct gsan_bar *bar, u32 snap, u32 lanes, u32 need)
{
	struct gsan_block *b = block_of(w->slot);
	take_lock(&b->lock);
	u32 id = bar->builder, gen = bar->gen;
	bar_came(w, bar, id, lanes, need);
	if (!id) {
		snap_begin(w->slot, w->start, &id, w->floor);
		bar->builder = id;
	}
	snap_join(snap_of(id), snap);
	unlock(&b->lock);
	return gen;
}

/* `n` threads have come; the last ones publish what all of them brought.  Lock held. */
FN void bar_count(struct gsan_bar *bar, u32 n, u32 need)
{
	u32 all = bar->arrived + n, id = bar->builder, gen = bar->gen;
	bar->arrived = all >= need ? 0 : all;
	if (all < need)
		return;
	snap_publish(snap_of(id), id);
	bar->result[gen & 3] = id;
	bar->result_gen[gen & 3] = gen;
	bar->gen = gen + 1;
	bar->builder = 0;
	ROLLED
	for (u32 k = 0; k < 32; k++)
		store(bar->came + k, 0);
}

/* They came to use `first`. */
SLOW void arrive_count(struct gsan_warp *w, struct gsan_bar *bar, u32 n, u32 need, u32 first)
{
	struct gsan_block *b = block_of(w->slot);
	take_lock(&b->lock);
	if (bar->gen != first) {
		bar_mixed(b, bar);
		bar->arrived = 0;
	} else {
		bar_count(bar, n, need);
	}
	unlock(&b->lock);
}

/* All of that by 32 lanes that know the same; false: it is not as simple. */
SLOW bool arrive_warp(struct gsan_warp *w, struct gsan_bar *bar, u32 need, u32 top, u32 *gen)
{
	struct brought x;
	struct gsan_block *b = own_block(w);
	u32 before = load(&bar->builder), lane = sreg_laneid();
	if (!warp_brings(w, top, &x))
		return false;
	if (!lane)
		take_lock(&b->lock);
	meet_all(~0u);
	before = warp_adds(w, &bar->builder, before, &x);
	if (!lane) {
		*gen = bar->gen;
		bar_came(w, bar, before, ~0u, need);
		bar_count(bar, 32, need);
		unlock(&b->lock);
	}
	meet_all(~0u);
	return true;
}

/* A barrier with a count: the snapshots of all who arrive are joined; who
 * waits gets the result. */
SLOW u32 arrive_counted(struct gsan_warp *w, struct gsan_bar *bar, u32 count)
{
	u32 group = of_kind((u32)(u64)bar ^ count << 20), lane = sreg_laneid(), bit = 1u << lane, gen = 0;
	bool leader = lane == __ffs(group) - 1;
	bool whole = agreed(group, !((load(&w->m_refs) | load(&w->m_own)) & group)), all = group == load(&w->live);
	u32 need = (count + 31) & ~31u, n = all ? 32 : __popc(group);
	u32 top = tick(w, all);
	bool entered = whole && group == ~0u && arrive_warp(w, bar, need, highest(group, top), &gen);
	BY_THESE(entered ? 0 : one_or_all(group, whole),
		gen = arrive_one(w, bar, snap_make(w, whole ? group : bit, top, 0, 0), whole ? group : bit, need);
	);
	meet(group);
	if (leader && !entered)
		arrive_count(w, bar, n, need, gen);
	gen = __shfl_sync(group, gen, __ffs(group) - 1);
	return gen & 0x7fffffff;
}

/* By the lanes that are together, where the quick way is not open. */
SLOW u32 arrive_full(struct gsan_warp *w, struct gsan_bar *bar, u32 id)
{
	struct gsan_block *b = own_block(w);
	u32 group = together(), lane = sreg_laneid(), refs = load(&w->m_refs), state = load(&w->state);
	u32 p = load(&w->turns[id]) >> lane & 1;
	bool leader = lane == __ffs(group) - 1, own = refs >> lane & 1;
	/* Each asks about one list, all at once: about the warp's one who has none himself. */
	u32 without = group & ~__ballot_sync(group, own);
	bool more = lane == __ffs(without ? without : group) - 1 && (state & GSAN_WARP_REFS);
	struct gsan_lane *l = lane_of(w, lane);
	u32 sc = own ? l->sc : 0, ours = leader && (w->sc || ((state & GSAN_WARP_OVER) && !load(&b->over)));
	if (leader)
		bring_clock(w, bar, p, group == load(&w->live));
	if (leader && id)
		fetch_or(&b->full_bars, 1u << id);
	if (own || more)
		ours |= sc || list_matters(w, own ? &l->refs : &w->refs);
	if (own && more)
		ours |= list_matters(w, &w->refs);
	BY_THESE(__ballot_sync(group, ours), bring_private(w, bar, p, own, more););
	return FULL_BARRIER | p;
}

/* Mostly a whole warp acquired something, and one of its lanes at most something else: of those two lists
 * each snapshot has a lane that looks at it.  By all 32; false: something may matter, which arrive_full
 * brings. */
FN bool arrive_light(struct gsan_warp *w, struct gsan_bar *bar, u32 id, u32 *p)
{
	/* own refs fence seen; state light live; id start; slot nslots sc sc_cta; clock */
	uint4 m = load_cg(&w->m_own), st = load_cg(&w->state), me = load_ca(&w->id), slot = load_ca(&w->slot);
	const struct gsan_block *b = own_block(w);
	u32 lane = sreg_laneid(), number = load_ca32(&b->launch_number), turns = load_ca32(&w->turns[id]), clock = load(&w->clock);
	u32 ours = load(&w->refs.id[lane & 3]), over = load_ca32(&b->over);
	const struct gsan_lane *l = at<struct gsan_lane>(ROOT_NOW(lanes)) + (((u64)me.x << 5) + lane);
	uint4 mine = load_cg(&l->refs);
	u32 sc = load_ca32(&l->sc), who = __ffs(m.y) - 1, one = 0;
	*p = turns & 1;
	if (m.y) {
		u32 x = __shfl_sync(~0u, mine.x, who), y = __shfl_sync(~0u, mine.y, who), z = __shfl_sync(~0u, mine.z, who), u = __shfl_sync(~0u, mine.w, who);
		one = lane & 2 ? (lane & 1 ? u : z) : lane & 1 ? y : x;
	}
	u32 snap = lane < 4 && (st.x & GSAN_WARP_REFS) ? ours : lane >= 4 && lane < 8 ? one : 0;
	bool more = ((turns + 1) & ~1u) || (m.y & (m.y - 1)) || st.z != ~0u || slot.z || (lane == who && sc) || ((st.x & GSAN_WARP_OVER) && !over);
	const struct gsan_snap *s = snap_of(snap);
	uint4 a = load_cg(s);   /* id flags slot start */
	u32 grids = load(&s->grids);
	bool other = a.x != snap || (a.y & (GSAN_SNAP_CROSS | GSAN_SNAP_LOST)) || a.z != me.x >> 5 || a.w != me.y || grids == number;
	if (__any_sync(~0u, more || (snap && other)))
		return false;
	if (!lane)
		store_ca32(&bar->clocks[*p][me.x & 31], clock);
	if (!lane && id)
		fetch_or(&own_block(w)->full_bars, 1u << id);
	return true;
}

/* Nothing lives across a call in the quick ways of a barrier, or it would be on the
 * stack there, too. */
SLOW u32 arrive_slow(struct gsan_warp *w, struct gsan_bar *bar, u32 id, u32 count, u32 group)
{
	u32 p;
	if (!count && group == ~0u && arrive_light(w, bar, id, &p)) {
		meet(group);
		return FULL_BARRIER | p;
	}
	/* With a count some may arrive and not wait: no turns to go by. */
	u32 t = count ? arrive_counted(w, bar, count) : arrive_full(w, bar, id);
	meet(group);
	return t;
}

API u32 __gsan_v1_arrive(u64 ctx, u32 id, u32 count)
{
	if (!ctx)
		return 0;
	struct gsan_warp *w = WARP(ctx);
	id &= 15;
	uint4 q = load_ca(&w->private_too);     /* private_too special lanes dropped */
	u32 p = load_ca32(&w->turns[id]) & 1, clock = load_ca32(&w->clock), me = load_ca32(&w->id);
	u32 group = together();
	struct gsan_block *b = own_block(w);
	struct gsan_bar *bar = b->bar + (id);
	if (!(q.x | q.y | (group & q.z) + 1 | count)) {
		if (sreg_laneid() == 0) {
			store_ca32(&bar->clocks[p][me & 31], clock);
			if (id)
				fetch_or(&b->full_bars, 1u << (id));
		}
		meet(group);
		return FULL_BARRIER | p;
	}
	return arrive_slow(w, bar, id, count, group);
}

SLOW void leave_counted(struct gsan_warp *w, struct gsan_bar *bar, u32 gen)
{
	u32 group = of_kind((u32)(u64)bar ^ gen << 20), lane = sreg_laneid();
	bool leader = lane == __ffs(group) - 1, whole = agreed(group, group == load(&w->live));
	u32 id = load(&bar->result[gen & 3]), mixed = load(&bar->mixed);
	fetch_max(&bar->left, gen + 1);
	if (mixed || load(&bar->result_gen[gen & 3]) != gen || !id) {
		count(mixed ? GSAN_COUNT_BAR_MIXED : GSAN_COUNT_SNAP_LOST, 1);
		fetch_or(&w->state, GSAN_WARP_LOST);
		id = 0;
	}
	/* The result holds all that this warp knew before. */
	if (whole && leader && id) {
		uint4 d = load_cg((char *)snap_of(id) + 48);
		if (d.x > w->sc)
			w->sc = d.x;
		if (d.y > w->sc_cta)
			w->sc_cta = d.y;
		if (d.w == own_block(w)->launch_number)
			grid_over(w);
		store_ca(&w->refs, four(id, 0, 0, 0));
		fetch_and(&w->m_refs, 0);
		fetch_and(&w->m_own, 0);
		w->private_too = 0;
		w->special |= GSAN_SPECIAL_MORE;
		fetch_or(&w->state, GSAN_WARP_REFS);
	}
	acquire(w, whole ? 0 : id);
	/* More lanes may be together here than came together. */
	meet(group);
}

/* What was brought to a full barrier is the block's. */
SLOW void take_pending(struct gsan_warp *w, struct gsan_bar *bar, u32 p)
{
	struct gsan_block *b = block_of(w->slot);
	u32 *pending = bar->pending[p];
	if (load(pending) | load(&bar->sc[p]) | load(&bar->over[p])) {
		take_lock(&b->lock);
		ROLLED
		for (int i = 0; i < GSAN_PENDING; i++)
			refs_add(w, &b->refs, load(pending + i));
		if (load(&bar->sc[p]) > load(&b->sc))
			store(&b->sc, load(&bar->sc[p]));
		if (load(&bar->over[p]))
			store(&b->over, 1);
		/* Last of all: who sees it empty need not look. */
		__threadfence();
		ROLLED
		for (int i = GSAN_PENDING; i-- > 0; )
			store(pending + i, 0);
		store(&bar->sc[p], 0);
		store(&bar->over[p], 0);
		unlock(&b->lock);
	}
	if (load(&b->over) && !(load(&w->state) & GSAN_WARP_OVER))
		grid_over(w);
	if (load(&b->refs.id[0]))
		fetch_or(&w->state, GSAN_WARP_BLOCK_REFS);
}

/* One lane leaves a full barrier for `group`, to which `top` was brought. */
SLOW void leave_full(struct gsan_warp *w, struct gsan_bar *bar, u32 id, u32 group, u32 p, u32 top)
{
	/* All that is needed, in one go. */
	uint4 m = load_cg(&w->m_own), st = load_cg(&w->state);  /* own refs fence seen; state light live */
	u32 brought = load(&block_of(w->slot)->brought);
	bool whole = group == st.z;
	/* Other lanes of a warp that was split may be leaving too. */
	if (!whole)
		take_lock(&w->lock);
	store(&w->turns[id], load(&w->turns[id]) ^ group);
	if (!whole)
		unlock(&w->lock);
	if (top > w->floor)
		w->floor = top;
	clock_behind(w, whole, top);
	if (group == w->lanes) {
		w->private_too = 0;
		w->sc_cta = 0;
	}
	if (m.x & group)
		fetch_and(&w->m_own, ~group);
	if (m.y & group)
		fetch_and(&w->m_refs, ~group);
	if (m.z & st.y & group) {
		fetch_and(&w->m_fence, ~(st.y & group));
		fetch_and(&w->m_light, ~group);
	}
	if ((st.x & GSAN_WARP_REFS) && whole) {
		store_ca(&w->refs, four(0, 0, 0, 0));
		fetch_and(&w->state, ~GSAN_WARP_REFS);
	}
	if (brought)
		take_pending(w, bar, p);
	else if (group == w->lanes && !w->sc && !(m.z & ~(st.y & group)))
		w->special &= ~GSAN_SPECIAL_MORE;
}

SLOW void leave_rest(struct gsan_warp *w, struct gsan_bar *bar, u32 id, u32 t, u32 group)
{
	u32 lane = sreg_laneid(), p = t & 1;
	if ((t | 1) != (FULL_BARRIER | 1)) {
		leave_counted(w, bar, t);
	} else {
		u32 top = 0;
		ROLLED
		for (u32 k = __popc(group & ((1u << lane) - 1)); k < 32; k += __popc(group)) {
			u32 c = load(&bar->clocks[p][k]);
			top = c > top ? c : top;
		}
		top = highest(group, top);
		if (lane == __ffs(group) - 1)
			leave_full(w, bar, id, group, p, top);
	}
	meet(group);
	perturb(w);
	meet(group);
}

/* Mostly all of a warp leave a barrier of all threads, to which nobody has ever brought anything but
 * clocks: what they had acquired is done with.  As leave_full, in one go. */
SLOW void leave_slow(struct gsan_warp *w, struct gsan_bar *bar, u32 id, u32 t, u32 group)
{
	/* own refs fence seen; state light live; private_too special; clock floor; slot nslots sc sc_cta */
	uint4 m = load_cg(&w->m_own), st = load_cg(&w->state), q = load_ca(&w->private_too), now = load_cg(w), slot = load_ca(&w->slot);
	u32 lane = sreg_laneid(), p = t & 1, brought = load(&own_block(w)->brought), turns = load_ca32(&w->turns[id]);
	u32 top = load_ca32(&bar->clocks[p][lane]);
	if ((group + 1) | (st.z + 1) | brought | (q.y & ~GSAN_SPECIAL_MORE) | ~(t | 1)) {
		leave_rest(w, bar, id, t, group);
		return;
	}
	top = highest(~0u, top);
	if (!lane) {
		u32 light = m.z & st.y;
		store_ca2(&w->clock, now.x > top ? now.x : top + 1, now.y > top ? now.y : top);
		store_ca32(&w->turns[id], ~turns);
		store_ca32(&w->sc_cta, 0);
		store_ca2(&w->private_too, 0, slot.z || light != m.z ? q.y : 0);
		if (m.x | m.y) {
			fetch_and(&w->m_own, 0);
			fetch_and(&w->m_refs, 0);
		}
		if (light) {
			fetch_and(&w->m_fence, ~light);
			fetch_and(&w->m_light, 0);
		}
		if (st.x & GSAN_WARP_REFS) {
			store_ca(&w->refs, four(0, 0, 0, 0));
			fetch_and(&w->state, ~GSAN_WARP_REFS);
		}
	}
	meet(group);
}

API void __gsan_v1_leave(u64 ctx, u32 id, u32 t)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	uint4 q = load_ca(&w->private_too);
	struct gsan_block *b = own_block(w);
	struct gsan_bar *bar = b->bar + (id & 15);
	u32 group = together(), lane = sreg_laneid(), brought = load_ca32(&b->brought), p = t & 1;
	u32 clock = load_ca32(&bar->clocks[p][lane]);   /* at once, though it may not be needed */
	if (!(q.x | q.y | (group & q.z) + 1 | brought | ~(t | 1))) {
		u32 top = highest(~0u, clock);
		if (!lane) {
			store_ca2(&w->clock, top + 1, top);
			store_ca32(&w->turns[id & 15], p - 1);
		}
		meet(group);
		return;
	}
	leave_slow(w, bar, id & 15, t, group);
}

/* Lanes of `mask` get what each of them knows; others learn nothing. */
SLOW void share_private(struct gsan_warp *w, u32 group, u32 clock, bool whole)
{
	struct gsan_refs all;
	all.id[0] = all.id[1] = all.id[2] = all.id[3] = 0;
	struct gsan_own own;
	own.base = 0; own.top = clock; own.mask = group; own.pad = 0;
	u32 sc = w->sc, sc_cta = w->sc_cta, refs = load(&w->m_refs), m_own = load(&w->m_own);
	ROLLED
	for (u32 m = group; m; m &= m - 1) {
		u32 k = __ffs(m) - 1;
		struct gsan_lane *l = lane_of(w, k);
		if (m_own >> k & 1) {
			struct gsan_own e;
			e.base = w->wfloor; e.top = l->own_top; e.mask = l->own_mask; e.pad = 0;
			own = join_own(own, e);
		}
		if (!(refs >> k & 1))
			continue;
		if (l->sc > sc)
			sc = l->sc;
		if (l->sc_cta > sc_cta)
			sc_cta = l->sc_cta;
		ROLLED
		for (int i = 0; i < GSAN_REFS; i++)
			refs_add(w, whole ? &w->refs : &all, l->refs.id[i]);
	}
	if (whole) {
		w->sc = sc;
		w->sc_cta = sc_cta;
		w->special |= GSAN_SPECIAL_MORE;
		if (w->refs.id[0])
			fetch_or(&w->state, GSAN_WARP_REFS);
		return;
	}
	bool more = all.id[0] || sc > w->sc || sc_cta > w->sc_cta;
	ROLLED
	for (u32 m = group; m; m &= m - 1) {
		u32 k = __ffs(m) - 1;
		struct gsan_lane *l = lane_of(w, k);
		l->own_top = own.top;
		l->own_mask = own.mask;
		if (!more)
			continue;
		l->refs = all;
		l->sc = sc;
		l->sc_cta = sc_cta;
		l->told = 0;
	}
	w->private_too = 1;
	if (more)
		fetch_or(&w->m_refs, group);
}

/* As meet, for masks of the program's own. */
FN void meet_named(u32 mask)
{
	if (__match_any_sync(__activemask(), mask) != mask)
		meet_all(mask | sreg_lanemask_eq());
}

API void __gsan_v1_warp_sync(u64 ctx, u32 mask)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	/* Who has left the kernel is not waited for. */
	meet_named(mask);
	u32 group = mask & load(&w->live), lane = sreg_laneid();
	if (lane == __ffs(group) - 1) {
		/* Lanes that have left do not take part. */
		bool whole = group == w->lanes;
		u32 clock = tick(w, whole);
		u32 refs = load(&w->m_refs), own = load(&w->m_own);
		if (!whole || refs)
			share_private(w, group, clock, whole);
		if (whole) {
			w->wfloor = clock;
			if (own)
				fetch_and(&w->m_own, 0);
			if (refs)
				fetch_and(&w->m_refs, 0);
			w->private_too = 0;
		} else {
			fetch_or(&w->m_own, group);
		}
	}
	meet_named(mask);
}

/* The lanes that come to branch `number` together, and are to leave it so: those at another
 * branch are gone by then. */
API u32 __gsan_v1_split(u64 ctx, u32 number)
{
	return !ctx || (load_ca32(&WARP(ctx)->options) & GSAN_WARP_APART) ? 0 : of_kind(number);
}

API void __gsan_v1_join(u32 lanes)
{
	meet(lanes);
}

/* Synchronisation that is not modelled must never invent a race: it orders all
 * that the block did so far before what this warp does next, and from then on
 * the blocks of its cluster are not compared. */
API void __gsan_v1_unmodelled(u64 ctx)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	u32 group = together();
	if (sreg_laneid() == __ffs(group) - 1) {
		struct gsan_block *b = block_of(w->slot);
		u32 top = block_clock(b, w->slot);
		if (top > w->floor)
			w->floor = top;
		clock_least(w, top);
		tick_split(w);
		fetch_or(&w->state, GSAN_WARP_UNMODELLED);
		fetch_add(&w->unmodelled, 1);
	}
	meet(group);
}
