/* SPDX-License-Identifier: Apache-2.0
 *
 * block.cuh: the life of a launch, a block and a thread; and the registration
 * of a module.
 */

/* ---- Launches ------------------------------------------------------------ */

#define LAUNCH_PROBES 32

FN struct gsan_launch *launch_find(u64 grid)
{
	struct gsan_launch *l = (struct gsan_launch *)root()->launches;
	ROLLED
	for (u32 i = 0; i < LAUNCH_PROBES; i++) {
		struct gsan_launch *x = l + ((u32)grid + i) % GSAN_LAUNCHES;
		if (load64(&x->grid) == grid && load(&x->ready))
			return x;
	}
	return 0;
}

/* The n-th launch of that kernel, from 1. */
SLOW u32 launch_ordinal(u32 kernel)
{
	struct gsan_launch *l = (struct gsan_launch *)root()->launches;
	ROLLED
	for (u32 i = 0; i < GSAN_LAUNCHES; i++) {
		struct gsan_launch *x = l + (kernel + i) % GSAN_LAUNCHES;
		u32 k = load(&x->counted_kernel);
		if (!k)
			k = atomicCAS(&x->counted_kernel, 0, kernel);
		if (!k || k == kernel)
			return atomicAdd(&x->counted, 1) + 1;
	}
	return 0;
}

/* With the lock: a launch's first block describes it. */
SLOW void launch_begin(u64 grid, u32 kernel)
{
	struct gsan_root *r = root();
	struct gsan_launch *l = (struct gsan_launch *)r->launches;
	ROLLED
	for (u32 i = 0; i < LAUNCH_PROBES; i++) {
		struct gsan_launch *x = l + ((u32)grid + i) % GSAN_LAUNCHES;
		if (load64(&x->grid))
			continue;
		x->base = load(&r->max_clock) + 1;
		x->kernel = kernel;
		x->ordinal = launch_ordinal(kernel);
		x->finished = 0;
		x->quiet = 0;
		x->blocks = (u64)gridDim.x * gridDim.y * gridDim.z;
		x->grid_dim[0] = gridDim.x; x->grid_dim[1] = gridDim.y; x->grid_dim[2] = gridDim.z;
		x->block_dim[0] = blockDim.x; x->block_dim[1] = blockDim.y; x->block_dim[2] = blockDim.z;
		x->cluster_dim[0] = x->cluster_dim[1] = x->cluster_dim[2] = 1;
#if __CUDA_ARCH__ >= 900
		asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(x->cluster_dim[0]));
		asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(x->cluster_dim[1]));
		asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(x->cluster_dim[2]));
#endif
		u32 number = atomicAdd(&r->launch_next, 1) + 1;
		*(volatile u64 *)&x->grid = grid;
		__threadfence();
		store(&x->ready, number);
		return;
	}
}

/* Blocks of one grid that start together poll for the entry that one makes. */
SLOW struct gsan_launch *launch_enter(u64 grid, u32 kernel)
{
	struct gsan_launch *x = launch_find(grid);
	ROLLED
	while (!x) {
		if (try_lock(&root()->sc_lock)) {
			x = launch_find(grid);
			if (!x) {
				launch_begin(grid, kernel);
				x = launch_find(grid);
			}
			unlock(&root()->sc_lock);
			if (!x)
				return 0;
		} else {
			x = launch_find(grid);
		}
	}
	return x;
}

FN void launch_leave(struct gsan_launch *l)
{
	__threadfence();
	if (atomicAdd(&l->finished, 1) + 1 != l->blocks)
		return;
	store(&l->ready, 0);
	__threadfence();
	*(volatile u64 *)&l->grid = 0;
}

/* ---- Blocks ---------------------------------------------------------------- */

/* The same number for the blocks of one cluster, another for every other. */
FN u32 cluster_number(u32 launch)
{
	u64 n = block_number();
#if __CUDA_ARCH__ >= 900
	u32 x, y, z, nx, ny;
	asm("mov.u32 %0, %%clusterid.x;" : "=r"(x));
	asm("mov.u32 %0, %%clusterid.y;" : "=r"(y));
	asm("mov.u32 %0, %%clusterid.z;" : "=r"(z));
	asm("mov.u32 %0, %%nclusterid.x;" : "=r"(nx));
	asm("mov.u32 %0, %%nclusterid.y;" : "=r"(ny));
	n = x + (u64)nx * (y + (u64)ny * z);
#endif
	return launch * 2654435761u + (u32)n;
}

FN u32 claim_slot(u32 sm)
{
	struct gsan_root *r = root();
	if (sm >= r->nsm)
		return ~0u;
	u32 *used = &((struct gsan_sm *)r->sm)[sm].used;
	ROLLED
	for (u32 old = load(used); ~old; ) {
		u32 bit = __ffs(~old) - 1, slot = bit * r->nsm + sm;
		if (slot >= r->nslots)
			break;
		u32 seen = atomicCAS(used, old, old | 1u << bit);
		if (seen == old)
			return slot;
		old = seen;
	}
	return ~0u;
}

/* One thread of a new block sets up its slot. */
SLOW void block_begin(u32 kernel)
{
	struct gsan_root *r = root();
	u64 grid = sreg_gridid() + 1;
	struct gsan_launch *l = launch_enter(grid, kernel);
	u32 slot = l ? claim_slot(sreg_smid()) : ~0u;
	if (slot == ~0u) {
		/* What an unwatched block orders would be missed by others. */
		count(GSAN_COUNT_NO_SLOT, 1);
		if (l) {
			l->quiet = 1;
			launch_leave(l);
		}
		return;
	}
	struct gsan_block *b = block_of(slot);
	u32 start = b->last > l->base ? b->last : l->base;
	if (start > GSAN_CLOCK_MAX - (1u << 24)) {
		count(GSAN_COUNT_CLOCK_OUT, 1);
		l->quiet = 1;
		start = GSAN_CLOCK_MAX - (1u << 24);
	}
	b->lock = 0;
	b->start = start;
	b->exit_max = start;
	b->launch = (u32)(l - (struct gsan_launch *)r->launches);
	b->launch_number = load(&l->ready);
	b->ntid = blockDim.x * blockDim.y * blockDim.z;
	b->live = b->ntid;
	b->cta = block_number();
	b->cluster = cluster_number(b->launch_number);
	b->missed_slot = ~0u;
	b->missed_clock = 0;
	b->refs.id[0] = b->refs.id[1] = b->refs.id[2] = b->refs.id[3] = 0;
	ROLLED
	for (u32 i = 0; i < 16; i++) {
		struct gsan_bar *bar = b->bar + i;
		bar->max[0] = bar->max[1] = 0;
		ROLLED
		for (u32 k = 0; k < GSAN_PENDING; k++)
			bar->pending[0][k] = bar->pending[1][k] = 0;
		bar->arrived = bar->gen = bar->builder = 0;
		ROLLED
		for (u32 k = 0; k < 4; k++)
			bar->result[k] = 0;
	}
	/* Variables begin behind what the system reserves of shared memory. */
	u32 need = sreg_shared() ? sreg_shared() + 1024 : 0, row = 0;
	ROLLED
	while (row < GSAN_SHARED_ROWS && row << 13 < need && slot < r->shared_slots[row])
		row++;
	b->shared_limit = row << 13;
	if (b->shared_limit < need)
		count(GSAN_COUNT_NO_SHARED, 1);

	u32 n = b->ntenants;
	struct gsan_tenant *t = (struct gsan_tenant *)r->history + (u64)slot * GSAN_HISTORY + n % GSAN_HISTORY;
	store_cg(t, four(start, b->launch_number, (u32)b->cta, (u32)(b->cta >> 32)));
	atomicMax(&r->top_slot, slot + 1);
	__threadfence();
	b->ntenants = n + 1;
	__threadfence();
	*(volatile u64 *)&b->grid = grid;
}

/* The slot of the calling thread's block, ~0 if it has none: the lanes that are
 * together look at the slots of their multiprocessor. */
FN u32 find_slot(u64 grid, u64 cta)
{
	struct gsan_root *r = root();
	u32 group = __activemask(), lane = sreg_laneid();
	u32 n = __popc(group), rank = __popc(group & ((1u << lane) - 1)), sm = sreg_smid(), found = ~0u;
	ROLLED
	for (u32 i = rank; i < GSAN_SLOTS_PER_SM; i += n) {
		u32 slot = i * r->nsm + sm;
		if (slot < r->nslots && load64(&block_of(slot)->grid) == grid && load64(&block_of(slot)->cta) == cta)
			found = slot;
	}
	u32 who = __ballot_sync(group, found != ~0u);
	return who ? __shfl_sync(group, found, __ffs(who) - 1) : ~0u;
}

API u64 __gsan_v1_enter(u32 site)
{
	if (!__gsan_site_base)
		return 0;
	struct gsan_root *r = root();
	if (r->abi != GSAN_ABI || (r->options & GSAN_OPT_OFF))
		return 0;
	u32 thread = thread_number();
	if (!thread)
		block_begin(site + __gsan_site_base);
	/* All threads of the block are here: nothing of the program ran yet. */
	__syncthreads();
	u64 grid = sreg_gridid() + 1, cta = block_number();
	u32 slot = find_slot(grid, cta);
	if (slot == ~0u)
		return 0;
	struct gsan_block *b = block_of(slot);
	struct gsan_warp *w = warp_of(slot, thread >> 5);
	u32 group = __activemask();
	if (sreg_laneid() == __ffs(group) - 1) {
		u32 start = load(&b->start), options = r->options, sm = sreg_smid(), warp = sreg_warpid();
		u32 left = load(&b->ntid) - (thread & ~31u);
		w->clock = start + 1;
		w->floor = w->wfloor = start;
		w->flags = (options & GSAN_OPT_VOLATILE_WEAK ? GSAN_WARP_VOLATILE : 0) |
			   (options & GSAN_OPT_NO_ATOMIC ? GSAN_WARP_NO_ATOMIC : 0);
		w->id = slot << 5 | thread >> 5;
		w->start = start;
		w->launch_base = launch_of(b)->base;
		w->shared_limit = load(&b->shared_limit);
		w->grid = grid;
		w->cta = cta;
		w->slot = slot;
		w->nslots = r->nslots;
		w->live = left >= 32 ? ~0u : (1u << left) - 1;
		w->m_own = w->m_refs = w->m_fence = w->m_seen = 0;
		w->evicted = w->unbacked = w->unmodelled = 0;
		w->refs.id[0] = w->refs.id[1] = w->refs.id[2] = w->refs.id[3] = 0;
		ROLLED
		for (u32 i = 0; i < 16; i++)
			w->parity[i] = 0;
		if (warp < 64)
			*(volatile u64 *)((u64 *)r->self + sm * 64 + warp) = (u64)w;
	}
	__syncwarp(group);
	return (u64)w;
}

/* In a function: the context of the calling warp.  Where it runs may change
 * (PTX ISA, Special Registers: %warpid, %smid), so what the table says is
 * checked. */
API u64 __gsan_v1_self(void)
{
	if (!__gsan_site_base)
		return 0;
	struct gsan_root *r = root();
	if (r->abi != GSAN_ABI || (r->options & GSAN_OPT_OFF))
		return 0;
	u64 grid = sreg_gridid() + 1, cta = block_number();
	u32 sm = sreg_smid(), warp = sreg_warpid(), number = thread_number() >> 5;
	struct gsan_warp *w = 0;
	if (sm < r->nsm && warp < 64)
		w = (struct gsan_warp *)load64((u64 *)r->self + sm * 64 + warp);
	if (w && w->grid == grid && w->cta == cta && (w->id & 31) == number)
		return (u64)w;
	ROLLED
	for (u32 slot = 0; slot < r->top_slot; slot++) {
		struct gsan_block *b = block_of(slot);
		if (load64(&b->grid) == grid && load64(&b->cta) == cta)
			return (u64)warp_of(slot, number);
	}
	return 0;
}

SLOW void block_end(struct gsan_block *b, u32 slot)
{
	struct gsan_root *r = root();
	u32 sm = slot % r->nsm, bit = slot / r->nsm;
	b->last = load(&b->exit_max);
	atomicMax(&r->max_clock, b->last);
	*(volatile u64 *)&b->grid = 0;
	struct gsan_launch *l = launch_of(b);
	__threadfence();
	launch_leave(l);
	atomicAnd(&((struct gsan_sm *)r->sm)[sm].used, ~(1u << bit));
}

API void __gsan_v1_exit(u64 ctx)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	u32 group = __activemask();
	if (sreg_laneid() != __ffs(group) - 1)
		return;
	struct gsan_block *b = block_of(w->slot);
	u32 slot = w->slot, n = __popc(group);
	u32 left = atomicAnd(&w->live, ~group) & ~group;
	atomicMax(&b->exit_max, load(&w->clock));
	if (!left) {
		if (w->evicted)
			count(GSAN_COUNT_EVICTED, w->evicted);
		if (w->unbacked)
			count(GSAN_COUNT_UNBACKED, w->unbacked);
		if (w->unmodelled)
			count(GSAN_COUNT_UNMODELLED, w->unmodelled);
	}
	__threadfence();
	if (atomicSub(&b->live, n) == n)
		block_end(b, slot);
}

/* ---- Modules ------------------------------------------------------------------ */

/* Run once, by one thread, from the module's init kernel. */
API void __gsan_v1_register(u64 mailbox, u64 module)
{
	const struct gsan_module *m = (const struct gsan_module *)module;
	struct gsan_mailbox *box = (struct gsan_mailbox *)mailbox;
	u32 base = 0;
	if (m->abi == GSAN_ABI && root()->abi == GSAN_ABI) {
		base = __gsan_site_base;
		if (!base)
			base = atomicAdd(&root()->next_site, m->nsites ? m->nsites : 1);
		__gsan_site_base = base;
	}
	box->module = *m;
	box->site_base = base;
	__threadfence_system();
	*(volatile u32 *)&box->done = 1;
}
