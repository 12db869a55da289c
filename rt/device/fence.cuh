/* SPDX-License-Identifier: Apache-2.0
 *
 * fence.cuh: fence and membar: what was seen by relaxed reads is acquired, what
 * is known is put by for later strong writes, and fence.sc takes its place in
 * the order of all.  (PTX ISA, Memory Consistency Model: Release and Acquire
 * Patterns; Fence-SC)
 */

/* What the lane acquired by other means than fence.sc is passed on with its
 * fence: to all who run one later, or to its block. */
SLOW void fence_share(struct gsan_warp *w, bool gpu)
{
	struct gsan_root *r = root();
	struct gsan_block *b = block_of(w->slot);
	struct gsan_lane *l = lane_of(w, sreg_laneid());
	u32 state = load(&w->state), told = gpu;
	bool mine = load(&w->m_refs) >> sreg_laneid() & 1;
	u32 *last = mine ? &l->told : &w->told;
	struct gsan_refs none, *a = &none, *c = &none, *d = &none;
	none.id[0] = none.id[1] = none.id[2] = none.id[3] = 0;
	if (mine)
		a = &l->refs;
	if (state & GSAN_WARP_REFS)
		c = &w->refs;
	if (state & GSAN_WARP_BLOCK_REFS)
		d = &b->refs;
	ROLLED
	for (int i = 0; i < GSAN_REFS; i++)
		told = (told + a->id[i] * 2654435761u + c->id[i] * 2246822519u + d->id[i] * 3266489917u) * 668265263u;
	if (!(a->id[0] | c->id[0] | d->id[0]) || *last == told)
		return;
	*last = told;
	if (!gpu) {
		/* For all of the block at once: more than it says. */
		count(GSAN_COUNT_MERGED, 1);
		take_lock(&b->lock);
		ROLLED
		for (int i = 0; i < GSAN_REFS; i++) {
			refs_add(w, &b->refs, a->id[i]);
			refs_add(w, &b->refs, c->id[i]);
		}
		unlock(&b->lock);
		fetch_or(&w->state, GSAN_WARP_BLOCK_REFS);
		return;
	}
	take_lock(&r->sc_lock);
	u32 n = load(&r->sc_shared), id;
	struct gsan_snap *s = snap_begin(w->slot, w->start, &id, w->start);
	u32 was = (n - 1) % GSAN_SC_SHARED;
	if (n && load(&r->sc_start[was]) >= w->launch_base)
		snap_join(s, load(&r->sc_snap[was]));
	ROLLED
	for (int i = 0; i < GSAN_REFS; i++) {
		snap_join(s, a->id[i]);
		snap_join(s, c->id[i]);
		snap_join(s, d->id[i]);
	}
	snap_publish(s, id);
	store(&r->sc_busy, 1);
	__threadfence();
	u32 number = fetch_add(&r->sc_next, 1) + 1;
	store(&r->sc_snap[n % GSAN_SC_SHARED], id);
	store(&r->sc_start[n % GSAN_SC_SHARED], w->start);
	store(&r->sc_number[n % GSAN_SC_SHARED], number);
	store(&r->sc_shared, n + 1);
	__threadfence();
	store(&r->sc_busy, 0);
	unlock(&r->sc_lock);
}

/* A fence.sc of `lanes`, all of the warp or the caller alone, at clock `top`.
 * Clusters have no order of their own: theirs is that of the gpu. */
SLOW u32 fence_sc(struct gsan_warp *w, u32 level, u32 lanes, u32 top)
{
	struct gsan_block *b = block_of(w->slot);
	/* Fences of both scopes in the block: what those of one taught its threads is
	 * passed on by the other, as all of the block's and of every earlier fence's. */
	bool gpu = level > GSAN_CTA, mixed = load(gpu ? &b->sc_cta : &b->sc_floor);
	if (load(&w->state) & (GSAN_WARP_REFS | GSAN_WARP_BLOCK_REFS) || (load(&w->m_refs) >> sreg_laneid() & 1))
		fence_share(w, gpu);
	u32 floor = w->floor, base = w->wfloor > floor ? w->wfloor : floor, lane = sreg_laneid();
	struct gsan_lane *l = lane_of(w, lane);
	if (level == GSAN_CLUSTER || mixed)
		count(GSAN_COUNT_MERGED, 1);
	if (gpu && mixed)
		floor = block_clock(b, w->slot);
	if (gpu && load(&b->sc_floor) < floor) {
		take_lock(&b->lock);
		if (load(&b->sc_floor) < floor) {
			fence_enter(fence_log(w->slot, 32), &b->fences, floor, ~0u, floor);
			store(&b->sc_floor, floor);
		}
		unlock(&b->lock);
	}
	/* Before it has a number: others look for it then. */
	if (!gpu)
		store(&b->sc_cta, 1);
	struct gsan_fence *log = fence_log(w->slot, w->id & 31);
	bool split = ring_begin(w, lanes);
	if (split)
		top = ring_clock(w, split);
	if ((load(&w->m_own) >> lane & 1) && l->own_top > w->wfloor)
		fence_enter(log, &w->fences, l->own_top | GSAN_FENCE_BEFORE | (gpu ? 0 : GSAN_FENCE_CTA), l->own_mask, base);
	u32 n = fence_enter(log, &w->fences, top | (gpu ? 0 : GSAN_FENCE_CTA), lanes, base);
	ring_end(w, split);
	u32 cta = load(&b->sc_cta) ? n : 0;
	if (lanes & (lanes - 1)) {
		w->sc = gpu || mixed ? n : w->sc;
		w->sc_cta = cta;
	} else {
		lane_private(w);
		l->sc = gpu || mixed ? n : l->sc;
		l->sc_cta = cta;
	}
	return snap_make(w, lanes, top, 0, gpu ? GSAN_SNAP_FENCE : 0);
}

/* The release side: a snapshot for `lanes`, the caller among them. */
SLOW u32 fence_release(struct gsan_warp *w, u32 info, u32 lanes)
{
	u32 top = info & GSAN_INFO_RELEASE ? tick(w, lanes == load(&w->live)) : 0;
	if (info & GSAN_INFO_SC)
		return fence_sc(w, GSAN_INFO_LEVEL(info), lanes, top);
	return info & GSAN_INFO_RELEASE ? snap_make(w, lanes, top, 0, 0) : 0;
}

/* Only the block's own threads learn from this one, and a full barrier tells
 * them more. */
FN bool fence_is_light(u32 level, u32 snap) { return level == GSAN_CTA && !(snap & GSAN_SNAP_LARGE); }

API void __gsan_v1_fence(u64 ctx, u32 info)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	u32 level = GSAN_INFO_LEVEL(info), lane = sreg_laneid(), bit = 1u << lane;
	u32 group = of_kind(info);
	w->special |= GSAN_SPECIAL_MORE;
	if (info & GSAN_INFO_ACQUIRE)
		take_seen(w, level, 0, (info & GSAN_INFO_SC) && level >= GSAN_GPU);
	step(w);
	meet(group);
	/* A whole warp with nothing private does the rest once for all. */
	bool whole = agreed(group, group == load(&w->live) && !((load(&w->m_refs) | load(&w->m_own)) & group));
	u32 snap = 0;
	ONE_BY_ONE(
		if (!whole || lane == __ffs(group) - 1)
			snap = fence_release(w, info, whole ? group : bit);
	);
	meet(group);
	if (whole)
		snap = __shfl_sync(group, snap, __ffs(group) - 1);
	struct gsan_lane *l = lane_of(w, lane);
	if (!snap)
		return;
	bool light = fence_is_light(level, snap);
	if (!(fetch_or(&w->m_fence, bit) & bit)) {
		l->fence[0] = l->fence[1] = l->fence[2] = 0;
		if (light)
			fetch_or(&w->m_light, bit);
	}
	if (!light)
		fetch_and(&w->m_light, ~bit);
	ROLLED
	for (u32 k = 0; k < 3; k++)
		if (k + 1 <= level)
			l->fence[k] = snap;
}
