/* SPDX-License-Identifier: Apache-2.0
 *
 * grid.cuh: launches that overlap.  (PTX ISA, Parallel Synchronization and
 * Communication Instructions: griddepcontrol)
 *
 * A launch may start before the one before it in its stream has ended, if the host
 * allowed it and that one let its dependents go: which launches those are, the host
 * says in a table, by the n-th launch of a kernel.  They make a chain.  What the
 * others of its chain do is no more ordered than what other blocks do, but for those
 * who waited: they know that launches below a number are over, and snapshots carry
 * that along.  What lies before the chain's first launch is ordered as ever.
 */
#define snap_grids      __gsan_v1_snap_grids
#define refs_grids      __gsan_v1_refs_grids
#define grids_known     __gsan_v1_grids_known
#define launch_early    __gsan_v1_launch_early
#define launch_before   __gsan_v1_launch_before
#define launch_give     __gsan_v1_launch_give

/* How far the clocks of a launch that has not ended may come before those of the next
 * one begin: if they come further, it only takes longer. */
#define EARLY_ROOM      1024u
#define CHAIN_MAX       0xffffu         /* 16 bits of a tenant */

/* Below which number launches are over, by snapshot `id` (0: none). */
SLOW u32 snap_grids(u32 id)
{
	struct gsan_snap *s = snap_of(id);
	u32 n = load(&s->flags) & GSAN_SNAP_LOST ? ~0u : load(&s->grids);
	if (!id)
		return 0;
	if (load(&s->id) == id)
		return n;
	count(GSAN_COUNT_SNAP_LOST, 1);
	return ~0u;
}

SLOW u32 refs_grids(const struct gsan_refs *r, u32 most)
{
	ROLLED
	for (int i = 0; i < GSAN_REFS; i++) {
		u32 n = snap_grids(load(&r->id[i]));
		if (n > most)
			most = n;
	}
	return most;
}

/* The same, by what the calling lane knows. */
SLOW u32 grids_known(struct gsan_warp *w)
{
	struct gsan_block *b = own_block(w);
	struct gsan_lane *l = lane_of(w, sreg_laneid());
	const struct gsan_knew *k = present(w).at;
	u32 state = load(&w->state), n = state & GSAN_WARP_OVER ? b->launch_number : b->first;
	ROLLED
	for (u32 i = 0; k && i < 3; i++)
		n = refs_grids(&k->refs[i], n);
	if (k)
		return n;
	if (load(&w->m_refs) >> sreg_laneid() & 1)
		n = refs_grids(&l->refs, n);
	if (state & GSAN_WARP_REFS)
		n = refs_grids(&w->refs, n);
	if (state & GSAN_WARP_BLOCK_REFS)
		n = refs_grids(&b->refs, n);
	return n;
}

SLOW bool launch_beside(struct gsan_warp *w, u32 other, u32 chain)
{
	struct gsan_block *b = own_block(w);
	struct gsan_lane *l = lane_of(w, sreg_laneid());
	if (chain != b->chain)
		return false;
	/* One that waited would not have come while this one runs. */
	if (other > b->launch_number)
		return true;
	if (other < grids_known(w))
		return false;
	/* Numbers of fence.sc do not tell of this. */
	const struct gsan_knew *k = present(w).at;
	u32 sc = k ? k->sc : w->sc | load(&b->sc) | (load(&w->m_refs) >> sreg_laneid() & 1 ? l->sc : 0);
	if (!sc || !load(&launch_of(b)->waits))
		return true;
	count(GSAN_COUNT_MERGED, 1);
	return false;
}

/* With the lock: the launch that the host says `x` need not wait for; NULL. */
SLOW struct gsan_launch *launch_before(struct gsan_launch *x)
{
	struct gsan_root *r = root();
	u64 key = GSAN_EARLY_KEY(x->kernel, x->ordinal), before;
	struct gsan_early *e = at<struct gsan_early>(r->early) + GSAN_EARLY_HASH(key) % GSAN_EARLY;
	if (load64(&e->key) != key)
		return 0;
	before = load64(&e->before);
	__threadfence_system();
	if (load64(&e->key) != key)
		return 0;
	u32 n = load(&r->letting[GSAN_EARLY_HASH(before) % GSAN_LETTING]);
	struct gsan_launch *p = at<struct gsan_launch>(r->launches) + (n - 1);
	if (!n || GSAN_EARLY_KEY(load(&p->kernel), load(&p->ordinal)) != before || !load(&p->let_go))
		return 0;
	return p;
}

/* With the lock: launch `number` begins at clock `base`, or, if it may be early, at the
 * clock returned, with GSAN_LAUNCH_EARLY. */
SLOW u32 launch_early(struct gsan_launch *x, u32 number, u32 base)
{
	struct gsan_launch *p = launch_before(x);
	if (!p || number - load(&p->chain) > CHAIN_MAX)
		return base;
	/* Who waited before they let this one begin had nothing before them any more. */
	bool all = load64(&p->blocks) == load(&p->waited);
	u32 own = load(&p->base) & GSAN_CLOCK_MAX;
	x->chain = load(&p->chain);
	x->first = all ? load(&p->number) : load(&p->first);
	x->from = all ? own : load(&p->from);
	x->given = gather_take(&p->gives);
	x->narrow = gather_take(&p->gives_narrow);
	x->words = 1;
	store(&p->words, 1);
	if (load64(&p->grid) && base < own + EARLY_ROOM)
		base = own + EARLY_ROOM;
	return base | GSAN_LAUNCH_EARLY;
}

/* What the calling lane released by fences is what dependent launches begin with.
 * (PTX ISA, griddepcontrol: .launch_dependents) */
SLOW void launch_give(struct gsan_warp *w, struct gsan_launch *l, const u32 *fence)
{
	take_lock(&root()->launch_lock);
	if (fence[2])
		gather_add(&l->gives, fence[2], w->slot, w->start);
	else
		gather_add(&l->gives_narrow, fence[1] ? fence[1] : fence[0], w->slot, w->start);
	unlock(&root()->launch_lock);
}

API void __gsan_v1_launch_dependents(u64 ctx)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	struct gsan_block *b = own_block(w);
	struct gsan_launch *l = launch_of(b);
	u32 group = together(), lane = sreg_laneid();
	bool leader = lane == __ffs(group) - 1, fenced = load(&w->m_fence) >> lane & 1;
	const u32 *fence = lane_of(w, lane)->fence;
	/* A whole warp's fence is one snapshot. */
	bool alike = __all_sync(group, fenced) &&
		     __match_any_sync(group, (u64)fence[2] << 32 | fence[0]) == group;
	if (leader) {
		struct gsan_root *r = root();
		u64 key = GSAN_EARLY_KEY(load(&l->kernel), load(&l->ordinal));
		store(&b->let_go, 1);
		store(&r->letting[GSAN_EARLY_HASH(key) % GSAN_LETTING], b->launch + 1);
		store(&l->let_go, 1);
		store(&r->let_go, 1);
	}
	ONE_BY_ONE(
		if (fenced && (!alike || leader))
			launch_give(w, l, fence);
	);
	__threadfence();
	meet(group);
}

API void __gsan_v1_grid_wait(u64 ctx)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	struct gsan_block *b = own_block(w);
	u32 group = together(), id = 0;
	bool leader = sreg_laneid() == __ffs(group) - 1;
	if (b->first != b->launch_number) {
		bool whole = agreed(group, group == load(&w->live));
		struct gsan_launch *l = launch_of(b);
		if (leader) {
			store(&l->waits, 1);
			if (!load(&b->let_go) && !exchange(&b->waited, 1))
				fetch_add(&l->waited, 1);
		}
		if (leader && whole) {
			grid_over(w);
			w->special = 1;
		}
		if (leader && !whole) {
			struct gsan_snap *s = snap_new(false, &id);
			snap_header(s, 0, w->slot, w->start, w->start);
			s->grids = b->launch_number;
			snap_publish(s, id);
		}
		acquire(w, __shfl_sync(group, id, __ffs(group) - 1));
	}
	meet(group);
}
