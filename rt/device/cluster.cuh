/* SPDX-License-Identifier: Apache-2.0
 *
 * cluster.cuh: the blocks of a cluster, and their barrier.  (PTX ISA, Parallel
 * Synchronization and Communication Instructions: barrier.cluster)
 *
 * Everybody comes once to each phase, and nobody to the next before all have come:
 * counting them says which phase it is.  (A block that is a cluster of its own does so in
 * an entry of its slot, and only if it meets the barrier.  Whoever passes it says that its
 * phase is over: who ended before need not be counted.)
 */
#define cluster_enter   __gsan_v1_cluster_enter
#define cluster_leave   __gsan_v1_cluster_leave
#define cluster_exit    __gsan_v1_cluster_exit
#define cluster_alone   __gsan_v1_cluster_alone
#define cluster_passed  __gsan_v1_cluster_passed
#define cluster_over    __gsan_v1_cluster_over
#define cluster_come    __gsan_v1_cluster_come
#define cluster_bring   __gsan_v1_cluster_bring

/* A block that has just got its slot joins its cluster, if that has several. */
SLOW void cluster_enter(struct gsan_block *b, u32 slot)
{
	b->rank = b->cluster_at = 0;
#if __CUDA_ARCH__ >= 900
	struct gsan_root *r = root();
	u32 rank = own_rank(), size;
	asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
	b->rank = rank;
	if (size < 2 || size > 16)
		return;
	u64 key = (u64)b->launch_number << 32 | b->cluster;
	struct gsan_cluster *c = at<struct gsan_cluster>(r->clusters), *free = 0, *found = 0;
	take_lock(&r->launch_lock);
	ROLLED
	for (u32 i = 0; i < r->nslots && !found; i++) {
		u64 k = load64((u64 *)&c[(b->cluster + i) % r->nslots].key);
		if (k == key)
			found = c + (b->cluster + i) % r->nslots;
		if (!k && !free)
			free = c + (b->cluster + i) % r->nslots;
		/* Its entry is there, or the first that was free when it was made. */
		if (!k && i >= GSAN_SLOTS_PER_SM)
			break;
	}
	if (!found && free) {
		found = free;
		store(&found->lock, 0);
		store(&found->live, size);
		store(&found->threads, size * b->ntid);
		found->arrived = found->exited = found->exited_late = 0;
		found->last = found->last_narrow = found->narrow.one = found->narrow.builder = found->phases = 0;
		found->gather.one = found->gather.builder = 0;
		ROLLED
		for (u32 i = 0; i < 16; i++) {
			store(&found->slot[i], 0);
			found->own[i].one = found->own[i].builder = found->last_own[i] = found->top[i] = 0;
		}
		__threadfence();
		*(volatile u64 *)&found->key = key;
	}
	if (found) {
		b->cluster_at = (u32)(found - c) + 1;
		store(&found->slot[rank], slot + 1);
	}
	unlock(&r->launch_lock);
#endif
}

SLOW void cluster_leave(struct gsan_block *b)
{
	struct gsan_cluster *c = cluster_of(b);
	u32 rank = b->rank & 15;
	store(&c->start[rank], b->start);
	__threadfence();
	store(&c->slot[rank], load(&c->slot[rank]) | GSAN_PEER_ENDED);
	__threadfence();
	if (fetch_add(&c->live, ~0u) == 1)
		*(volatile u64 *)&c->key = 0;
}

/* A phase is over; lock held. */
SLOW void cluster_over(struct gsan_cluster *c)
{
	store(&c->last, gather_take(&c->gather));
	store(&c->last_narrow, gather_take(&c->narrow));
	store(&c->phases, c->phases + 1);
	c->gather.one = c->narrow.one = 0;
	ROLLED
	for (u32 i = 0; i < 16; i++) {
		store(&c->last_own[i], gather_take(&c->own[i]));
		c->own[i].one = 0;
	}
	c->arrived = 0;
	c->exited += c->exited_late;
	c->exited_late = 0;
}

/* `come` more have arrived and `gone` will not; lock held. */
SLOW void cluster_come(struct gsan_cluster *c, u32 come, u32 gone, u32 late)
{
	c->arrived += come;
	c->exited += gone;
	c->exited_late += late;
	if (c->arrived && c->arrived + c->exited >= c->threads)
		cluster_over(c);
}

/* What the barrier of a block's cluster is counted in. */
FN struct gsan_cluster *barrier_of(const struct gsan_block *b, u32 slot)
{
	return b->cluster_at ? cluster_of(b) : at<struct gsan_cluster>(ROOT(clusters)) + load(&root()->nslots) + slot;
}

/* The same, NULL where nobody came to it yet. */
FN struct gsan_cluster *barrier_used(const struct gsan_warp *w)
{
	struct gsan_block *b = own_block(w);
	struct gsan_cluster *c = barrier_of(b, w->slot);
	return b->cluster_at || load64((u64 *)&c->key) == (u64)w->start + 1 ? c : 0;
}

SLOW u32 cluster_phases(struct gsan_warp *w)
{
	struct gsan_cluster *c = barrier_used(w);
	return c ? load(&c->phases) : 0;
}

SLOW bool cluster_awaits(struct gsan_warp *w)
{
	struct gsan_cluster *c = barrier_used(w);
	return c && load(&c->arrived);
}

/* Lanes of a block that is a cluster of its own are going to arrive: by one of them. */
SLOW void cluster_alone(struct gsan_warp *w, u32 lanes)
{
	struct gsan_cluster *c = barrier_of(own_block(w), w->slot);
	struct gsan_log *log = log_of(w->id << 5);
	u64 key = (u64)w->start + 1;
	take_lock(&c->lock);
	if (load64((u64 *)&c->key) != key) {
		c->threads = ~0u;
		c->arrived = c->exited = c->exited_late = 0;
		c->last = c->last_narrow = c->narrow.one = c->narrow.builder = c->phases = 0;
		c->gather.one = c->gather.builder = c->own[0].one = c->own[0].builder = c->last_own[0] = c->top[0] = 0;
		__threadfence();
		*(volatile u64 *)&c->key = key;
	}
	u32 odd = load(&c->phases) & 1;
	unlock(&c->lock);
	if (odd)
		fetch_or(&log->at_odd, lanes);
	else
		fetch_and(&log->at_odd, ~lanes);
}

/* They have passed it: so the phase is over at which they arrived. */
SLOW void cluster_passed(struct gsan_warp *w)
{
	struct gsan_cluster *c = barrier_of(own_block(w), w->slot);
	u32 odd = load(&log_of(w->id << 5)->at_odd) >> sreg_laneid() & 1;
	take_lock(&c->lock);
	if (odd == (load(&c->phases) & 1))
		cluster_over(c);
	unlock(&c->lock);
}

/* Lanes that leave the kernel count as arrived from then on. */
SLOW void cluster_exit(struct gsan_warp *w, u32 lanes)
{
	struct gsan_cluster *c = cluster_of(own_block(w));
	struct gsan_log *log = log_of(w->id << 5);
	u32 there = load(&log->at_cluster) & lanes;
	fetch_and(&log->at_cluster, ~lanes);
	take_lock(&c->lock);
	cluster_come(c, 0, __popc(lanes & ~there), __popc(there));
	unlock(&c->lock);
}

/* All have their mbarrier at the same place, and as many phases behind them (copy_all).  What a block that has
 * ended had seen is not known any more when another has its slot. */
SLOW bool read_elsewhere(struct gsan_warp *w, u64 r)
{
	if (!(async_what(r) & GSAN_ASYNC_MBAR) || (r & (MBAR_MANY | ASYNC_WRITES)) != MBAR_MANY)
		return false;
	const struct gsan_mbar *m = mbars_of(GSAN_REC_SLOT(r)) + mbar_in(r);
	const struct gsan_cluster *c = cluster_of(block_of(GSAN_REC_SLOT(r)));
	u32 addr = load(&m->addr), behind = phases_behind(r);
	ROLLED
	for (u32 rank = 0; rank < 16; rank++) {
		u32 v = load(&c->slot[rank]), slot = (v & ~GSAN_PEER_ENDED) - 1;
		if ((v & GSAN_PEER_ENDED) && load(&block_of(slot)->start) != load(&c->start[rank]))
			return true;
		m = slot == ~0u ? 0 : mbar_find((u64)slot << 32 | addr);
		if (m && mbar_over(w, slot, (u32)(m - mbars_of(slot)), (load(&m->first) + behind) & GSAN_MBAR_PHASES, false))
			return true;
	}
	return false;
}

SLOW void cluster_bring(struct gsan_warp *w, struct gsan_cluster *c, u32 info, u32 lanes, u32 top)
{
	u32 snap = mbar_brings(w, info, lanes, top, false);
	u32 own = info & GSAN_INFO_RELEASE ? snap : mbar_brings(w, info, lanes, top, true), rank = own_block(w)->rank & 15;
	take_lock(&c->lock);
	if (top > c->top[rank])
		c->top[rank] = top;
	if (own != snap) {
		gather_add(&c->narrow, own, w->slot, w->start);
		gather_add(&c->own[rank], own, w->slot, w->start);
	}
	gather_add(&c->gather, snap, w->slot, w->start);
	cluster_come(c, __popc(lanes), 0, 0);
	unlock(&c->lock);
}

API void __gsan_v1_cluster_arrive(u64 ctx, u32 info)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	struct gsan_block *b = own_block(w);
	u32 group = of_kind(info), lane = sreg_laneid();
	bool first = lane == __ffs(group) - 1;
	if (!b->cluster_at && first)
		cluster_alone(w, group);
	meet(group);
	struct gsan_cluster *c = barrier_of(b, w->slot);
	bool whole = agreed(group, !((load(&w->m_refs) | load(&w->m_own) |
				      (info & GSAN_INFO_RELEASE ? 0 : load(&w->m_fence))) & group));
	u32 top = highest(group, tick(w, group == load(&w->live)));
	ONE_BY_ONE(
		if (!whole || first)
			cluster_bring(w, c, info, whole ? group : 1u << lane, top);
	);
	meet(group);
	if (first)
		fetch_or(&log_of(w->id << 5)->at_cluster, group);
	meet(group);
}

API void __gsan_v1_cluster_wait(u64 ctx)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	struct gsan_block *b = own_block(w);
	u32 group = together(), lane = sreg_laneid();
	struct gsan_cluster *c = barrier_of(b, w->slot);
	if (lane == __ffs(group) - 1) {
		fetch_and(&log_of(w->id << 5)->at_cluster, ~group);
		if (!b->cluster_at)
			cluster_passed(w);
	}
	meet(group);
	u32 id = load(&c->last);
	mbar_learn(w, id, load(&c->last_own[b->rank & 15]), load(&c->last_narrow), w->slot, GSAN_INFO_ACQUIRE | GSAN_CLUSTER << GSAN_INFO_LEVEL_SHIFT,
		   agreed(group, group == load(&w->live)),
		   load(&w->m_refs) & sreg_lanemask_eq());
	/* A peer's snapshot has one clock for all warps of this block, rounded up: where a warp's own is behind
	 * that, what it does from now on would count as known. */
	if (lane == __ffs(group) - 1)
		clock_behind(w, group == load(&w->live), load(&c->top[b->rank & 15]));
	perturb(w);
	meet(group);
}

/* fence.mbarrier_init: what the calling lane initialised may be used by peers behind
 * their barrier.  (PTX ISA, membar/fence: fence.mbarrier_init is restricted to prior
 * mbarrier.init of the same thread) */
API void __gsan_v1_init_fence(u64 ctx)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	u32 group = together(), me = (w->id & 31) << 5 | sreg_laneid();
	ROLLED
	for (u32 k = 0; k < GSAN_MBARS; k++) {
		struct gsan_mbar *m = mbars_of(w->slot) + k;
		if (load(&m->start) == w->start && load(&m->init_who) == me && (load(&m->flags) & GSAN_MBAR_LIVE)) {
			store(&m->fenced, cluster_phases(w));
			fetch_or(&m->flags, GSAN_MBAR_FENCED);
		}
	}
	meet(group);
}
