/* SPDX-License-Identifier: Apache-2.0
 *
 * proxy.cuh: fences between the generic and the async proxy.  (PTX ISA, Memory
 * Consistency Model: Proxies; membar/fence: fence.proxy.async)
 *
 * A fence is about what its own thread did before it: each thread that accessed
 * memory has to run one between its access and the barrier, the arrival or the
 * release by which the issuing thread learns of the access.  So a warp keeps the
 * clocks of its fences, and what it accessed is fenced for who knows of one of
 * them.  What another block wrote is the issuing block's to fence.
 */
#define fence_reaches   __gsan_v1_fence_reaches
#define fence_knew      __gsan_v1_fence_knew
#define fence_known     __gsan_v1_fence_known
#define knew_more       __gsan_v1_knew_more

#define PROXY_HALVES    (GSAN_PROXY_RELEASE | GSAN_PROXY_ACQUIRE)

SLOW bool fence_knew(struct gsan_warp *w, u64 prev, bool same, u32 end, u32 space, u32 half = 0);
SLOW bool fence_known(struct gsan_warp *w, u32 space, bool only_full);

/* Of the two halves of a fence, of which `rec` is the first: did somebody of the block run the other, or the
 * whole, when he knew of that? */
FN bool acquired_half(struct gsan_warp *w, u64 rec, u32 end, u32 space)
{
	return fence_knew(w, rec, GSAN_REC_SLOT(rec) == w->slot, end, space, GSAN_PROXY_ACQUIRE) || fence_known(w, space, true);
}

/* Did the threads of `prev` run a fence after their access, which the calling lane
 * knows of? */
SLOW bool fence_reaches(struct gsan_warp *w, u64 prev, u32 end, u32 space)
{
	struct gsan_log *log = log_of((u32)(prev >> 12) & 0x7fffff);
	u32 clock = GSAN_REC_CLOCK(prev), newest = load(&log->fences), before = 0;
	u32 need = GSAN_REC_KIND(prev) == GSAN_KIND_WARP_READ ? ~0u : 1u << GSAN_REC_LANE(prev);
	bool lost = false;
	ROLLED
	for (u32 tries = 0; tries < GSAN_LOG && newest != before && !lost; tries++) {
		u32 oldest = GSAN_CLOCK_MAX, n = 0;
		before = newest;
		/* The last ones first: it is mostly one of those. */
		ROLLED
		for (u32 k = 1; k <= GSAN_LOG && need; k++) {
			uint4 e = load_cg(&log->fence[(newest - k) % GSAN_LOG]);        /* clock mask what */
			u32 half = e.z & PROXY_HALVES;
			n += e.y != 0;
			if (e.y && e.x < oldest)
				oldest = e.x;
			if (e.x < clock || !(e.z & space) || (half && !(half & GSAN_PROXY_RELEASE)))
				continue;
			/* Of a whole warp at once, mostly. */
			u64 all = (u64)e.x << 35 | (prev & (0x3ffffull << 17)) | GSAN_KIND_WARP_READ << 8;
			if (!half && !~(e.y & need) && lane_knows(w, all, true, end))
				need = 0;
			ROLLED
			for (u32 m = of_any_lane(prev) ? 0 : e.y & need; m; m &= m - 1) {
				u64 rec = (u64)e.x << 35 | (prev & (0x3ffffull << 17)) | (u64)(__ffs(m) - 1) << 12;
				if (lane_knows(w, rec, true, end) && (!half || acquired_half(w, rec, end, space)))
					need &= ~(m & (0 - m));
			}
		}
		if (!need)
			return true;
		/* One that was overwritten may have said it; or it was just now. */
		lost = n == GSAN_LOG && oldest > clock;
		fence();        /* of all before it */
		newest = load(&log->fences);
	}
	/* Each lane is asked about by itself then. */
	if (of_any_lane(prev))
		return false;
	lost |= newest != before;
	if (lost)
		count(GSAN_COUNT_ASYNC_LOST, 1);
	return lost;
}

/* Mostly the whole warp of `prev`, an access of the own block, ran a fence next, and the calling lane
 * knows of that, and so of the access.  All that is to be waited for is on its way at once. */
SLOW bool fence_next(struct gsan_warp *w, u64 prev, u32 space)
{
	const struct gsan_log *log = log_of((u32)(prev >> 12) & 0x7fffff);
	u32 clock = GSAN_REC_CLOCK(prev), first = GSAN_CLOCK_MAX;
	ROLLED
	for (u32 k = 0; k < GSAN_LOG; k += 8) {
		uint4 e[8];             /* clock mask what */
#pragma unroll
		for (u32 i = 0; i < 8; i++)
			e[i] = load_cg(&log->fence[k + i]);
#pragma unroll
		for (u32 i = 0; i < 8; i++)
			first = (e[i].x >= clock) & (e[i].x < first) & !~e[i].y & ((e[i].z & space) != 0) & !(e[i].z & PROXY_HALVES) ? e[i].x : first;
	}
	return first != GSAN_CLOCK_MAX &&
	       lane_knows(w, (u64)first << 35 | (prev & (0x3ffffull << 17)) | GSAN_KIND_WARP_READ << 8, true, GSAN_CLOCK_MAX);
}

/* Did a thread of the block run a fence when it knew of `prev`, which the calling lane
 * knows of?  Of those in one direction `half` will do. */
SLOW bool fence_knew(struct gsan_warp *w, u64 prev, bool same, u32 end, u32 space, u32 half)
{
	u32 clock = GSAN_REC_CLOCK(prev), slot = GSAN_REC_SLOT(prev), warp = GSAN_REC_WARP(prev);
	u32 lanes = GSAN_REC_KIND(prev) == GSAN_KIND_WARP_READ ? ~0u : 1u << GSAN_REC_LANE(prev);
	u32 warps = (load(&own_block(w)->ntid) + 31) >> 5, base = w->id & ~31u;
	ROLLED
	for (u32 i = 0; i < warps * GSAN_LOG_KNEW; i++) {
		u32 k = i / GSAN_LOG_KNEW;
		struct gsan_log *log = log_of((base | k) << 5);
		uint4 e = load_cg(&log->knew[i % GSAN_LOG_KNEW]);       /* mask clock what */
		uint4 f = load_cg(&log->knew[i % GSAN_LOG_KNEW].floor); /* floor wfloor */
		const struct gsan_refs *refs = log->knew[i % GSAN_LOG_KNEW].refs;
		if (!e.x || e.y <= w->start || !(e.z & space) || (e.z & PROXY_HALVES & ~half))
			continue;
		bool own = k == (w->id & 31) && (e.x >> lane_in(w) & 1) && e.y <= w->clock;
		u32 who = own ? lane_in(w) : __ffs(e.x) - 1;
		if (!own && !event_known(w, (base | k) << 5 | who, e.y, false))
			continue;
		/* Lanes that ran it together do not know of each other for that. */
		if (same && (clock <= f.x || (warp == k && (clock <= f.y || (clock <= e.y && lanes == 1u << who)))))
			return true;
		if (refs_know(&refs[0], slot, warp, lanes, clock, end) ||
		    refs_know(&refs[1], slot, warp, lanes, clock, end) ||
		    refs_know(&refs[2], slot, warp, lanes, clock, end))
			return true;
	}
	return false;
}

/* Does the calling lane know of a fence that a warp of the block ran, or did it run one itself,
 * with lanes of which it may know less?  `only_full`: of a warp that ran more than are
 * remembered with what it knew.  It may lie on the way. */
SLOW bool fence_known(struct gsan_warp *w, u32 space, bool only_full)
{
	u32 mine = w->id & 31, lane = lane_in(w);
	ROLLED
	for (u32 k = 0; k < (load(&own_block(w)->ntid) + 31) >> 5; k++) {
		struct gsan_log *log = log_of((w->id & ~31u) << 5 | k << 5);
		bool full = true;       /* or all will do */
		ROLLED
		for (u32 i = 0; i < GSAN_LOG_KNEW; i++)
			full &= !only_full || load(&log->knew[i].clock) > w->start;
		ROLLED
		for (u32 i = 0; i < GSAN_LOG && full; i++) {
			uint4 e = load_cg(&log->fence[i]);
			if (!(e.z & space) || !e.y || e.x <= w->start)
				continue;
			u64 rec = (u64)e.x << 35 | (u64)(w->id & ~31u) << 17 | (u64)k << 17 | (u64)(__ffs(e.y) - 1) << 12;
			bool own = k == mine && (e.y >> lane & 1) && e.x <= w->clock;
			if (own || lane_knows(w, rec, true, GSAN_CLOCK_MAX)) {
				count(GSAN_COUNT_MERGED, 1);
				return true;
			}
		}
	}
	return false;
}

FN bool other_fence(struct gsan_warp *w, u32 space) { return fence_known(w, space, true); }

/* After an asynchronous operation of the generic proxy, whose completion the calling
 * lane knows of: that there was a fence at all is taken for one behind it. */
SLOW bool any_fence(struct gsan_warp *w, u32 space) { return fence_known(w, space, false); }

/* The calling lane knows of the generic access `prev` and issues an operation of the
 * async proxy: see issue_status. */
SLOW u32 proxy_status(struct gsan_warp *w, u64 prev, bool same, u32 end, u32 space)
{
	u32 slot = GSAN_REC_SLOT(prev);
	if (chosen(GSAN_CHOICE_proxy_war) && !(prev & 0x100))
		return STATUS_FINE;
	/* Something in between may have been one. */
	if ((load(&w->state) | load(&warp_of(slot, GSAN_REC_WARP(prev))->state)) & (GSAN_WARP_UNMODELLED | GSAN_WARP_LOST))
		return STATUS_FINE;
	/* What a block did to its own memory, where another issues: a fence in either will do. */
	bool own = fence_reaches(w, prev, end, space), theirs = !same && space == GSAN_PROXY_SHARED;
	if (own && (same || theirs))
		return STATUS_FINE;
	if (of_any_lane(prev))
		return STATUS_BAD;
	space = theirs ? GSAN_PROXY_CLUSTER : space;
	bool knew = fence_knew(w, prev, same, end, space);
	if (same) {
		if (chosen(GSAN_CHOICE_proxy_fence) && (knew || other_fence(w, space)))
			return STATUS_FINE;
		if (knew)
			return STATUS_BAD | GSAN_PROXY_FENCE_ORDER << 8 | GSAN_WHY_PROXY_ORDER << 16;
		return STATUS_BAD | GSAN_PROXY_RACE << 8 | GSAN_WHY_PROXY << 16;
	}
	if (knew || other_fence(w, space) || (own && chosen(GSAN_CHOICE_proxy_cta)))
		return STATUS_FINE;
	return STATUS_BAD | GSAN_PROXY_RACE << 8 | (own ? GSAN_WHY_PROXY_BLOCK : GSAN_WHY_PROXY) << 16;
}

FN void copy_refs(struct gsan_refs *to, const struct gsan_refs *from, bool any)
{
	store_cg(to, any ? load_cg(from) : four(0, 0, 0, 0));
}

/* What the calling lane knows, but for its clock and floors. */
SLOW void knew_more(struct gsan_warp *w, struct gsan_knew *k)
{
	u32 lane = sreg_laneid(), bit = 1u << lane, state = load(&w->state), mine = load(&w->m_refs) & bit;
	u32 sc = w->sc, sc_cta = w->sc_cta, most = load(&own_block(w)->sc);
	bool own = (load(&w->m_own) & bit) != 0;
	struct gsan_lane *l = lane_of(w, lane);
	if (most > sc)
		sc = most;
	if (mine && l->sc > sc)
		sc = l->sc;
	if (mine && l->sc_cta > sc_cta)
		sc_cta = l->sc_cta;
	store_ca(&k->own_top, four(own ? l->own_top : 0, own ? l->own_mask : 0, sc, sc_cta));
	copy_refs(&k->refs[0], &l->refs, mine);
	copy_refs(&k->refs[1], &w->refs, state & GSAN_WARP_REFS);
	copy_refs(&k->refs[2], &own_block(w)->refs, state & GSAN_WARP_BLOCK_REFS);
}

API void __gsan_v1_proxy_fence(u64 ctx, u32 what)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	u32 group = of_kind(what), lane = sreg_laneid(), lead = __ffs(group) - 1;
	/* All that is needed, in one go; none of the group is behind any more. */
	uint4 now = load_cg(w), me = load_ca(&w->id), ours = load_cg(&w->refs);         /* clock floor wfloor; id start */
	struct gsan_log *log = log_of(me.x << 5);
	struct gsan_block *b = own_block(w);
	uint4 wgmma = load_cg(&log->wgmma_start), whole = load_cg(&b->refs);            /* start group waited */
	u32 upto = load(&log->wgmma_seen), n = load(&log->fences), clock = now.x;
	u32 refs = load(&w->m_refs), state = load(&w->state), live = load(&w->live);
	u32 mine = __shfl_sync(group, refs, lead), all = group;
	uint4 own = four(0, 0, 0, 0), first;
	/* Lanes that know more than the first, or less, would each have to say what. */
	if (mine & group) {
		own = mine >> lane & 1 ? load_cg(&lane_of(w, lane)->refs) : own;
		first.x = __shfl_sync(group, own.x, lead);
		first.y = __shfl_sync(group, own.y, lead);
		first.z = __shfl_sync(group, own.z, lead);
		first.w = __shfl_sync(group, own.w, lead);
		all = __ballot_sync(group, same4(own, first));
	}
	if (lane == lead) {
		/* wgmma_read_retire=off: what was waited for is over now. */
		if ((what & GSAN_PROXY_SHARED) && !(what & PROXY_HALVES) && wgmma.x == me.y && upto > wgmma.z) {
			wait_noted(w, group, GSAN_WAIT_WGMMA, wgmma.z, upto, clock, 0);
			store(&log->wgmma_waited, upto);
		}
		bool split = group != live;
		if (split) {
			take_lock(&w->lock);
			n = load(&log->fences);
			clock = tick_split(w);
		} else {
			store_ca32(&w->clock, clock + 1);
		}
		store_cg(&log->fence[n % GSAN_LOG], four(clock, group, what, 0));
		u32 at = n % GSAN_LOG_KNEW;
		store(&log->knew[at].mask, 0);
		store_cg(&log->knew[at].floor, four(now.y, now.z, 0, 0));
		store_cg(&log->knew[at].refs[0], own);
		store_cg(&log->knew[at].refs[1], state & GSAN_WARP_REFS ? ours : four(0, 0, 0, 0));
		store_cg(&log->knew[at].refs[2], state & GSAN_WARP_BLOCK_REFS ? whole : four(0, 0, 0, 0));
		/* In any order: who knows of the clock learned of it by what was released behind all of this.
		 * Others only have to see, by the oldest clock that is left, that something is not. */
		store_cg(&log->knew[at], four(all, clock, what, 0));
		store(&log->fences, n + 1);
		if (split)
			unlock(&w->lock);
	}
	meet(group);
}
