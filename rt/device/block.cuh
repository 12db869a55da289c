/* SPDX-License-Identifier: Apache-2.0
 *
 * block.cuh: the life of a launch, a block and a thread; and the registration
 * of a module.
 */

/* ---- Launches ------------------------------------------------------------ */

#define LAUNCH_PROBES 32        /* bits of a word, see launch_find */

FN struct gsan_launch *launch_at(u64 grid, u32 probe)
{
	return at<struct gsan_launch>(ROOT(launches)) + ((u32)grid + probe) % GSAN_LAUNCHES;
}

/* Is `head` (grid, ready, base) that of the launch? */
FN bool launch_is(uint4 head, u64 grid)
{
	return head.x == (u32)grid && head.y == (u32)(grid >> 32) && head.z;
}

/* All places at once, by half of the number: a launch that is not there yet is looked for
 * everywhere. */
FN struct gsan_launch *launch_find(u64 grid)
{
	u32 found = 0;
#pragma unroll
	for (u32 i = 0; i < LAUNCH_PROBES; i++)
		found |= load((const u32 *)&launch_at(grid, i)->grid) == (u32)grid ? 1u << i : 0;
	ROLLED
	for (; found; found &= found - 1)
		if (load64(&launch_at(grid, __ffs(found) - 1)->grid) == grid)
			return launch_at(grid, __ffs(found) - 1);
	return 0;
}

/* The n-th launch of that kernel, from 1. */
FN u32 launch_ordinal(u32 kernel)
{
	struct gsan_launch *l = at<struct gsan_launch>(ROOT(launches));
	ROLLED
	for (u32 i = 0; i < GSAN_LAUNCHES; i++) {
		struct gsan_launch *x = l + (kernel + i) % GSAN_LAUNCHES;
		u32 k = load(&x->counted_kernel);
		if (!k)
			k = swap32(&x->counted_kernel, 0, kernel);
		if (!k || k == kernel)
			return fetch_add(&x->counted, 1) + 1;
	}
	return 0;
}

/* Of a launch that cancels blocks nobody knows which is its last: has `x` none left?  It
 * may be taken for over between two of its blocks: what comes then is another launch. */
SLOW bool launch_deserted(struct gsan_launch *x)
{
	u64 grid = load64(&x->grid);
	bool found = !load(&x->cancels);
	ROLLED
	for (u32 slot = 0; slot < load(&root()->top_slot) && !found; slot++)
		found = load64(&block_of(slot)->grid) == grid;
	return !found;
}

/* With the lock: a launch's first block describes it.  All others wait for that: what can be
 * asked for early is.  0 if there is no room. */
SLOW struct gsan_launch *launch_begin(u64 grid, u32 kernel)
{
	struct gsan_root *r = root();
	struct gsan_launch *x = launch_at(grid, 0);
	u64 taken = load64(&x->grid);
	u32 base = load(&r->max_clock) + 1, let_go = load(&r->let_go), number = fetch_add(&r->launch_next, 1) + 1;
	u32 ordinal = launch_ordinal(kernel);
	ROLLED
	for (u32 i = 1; taken && !launch_deserted(x); i++) {
		if (i == LAUNCH_PROBES)
			return 0;
		x = launch_at(grid, i);
		taken = load64(&x->grid);
	}
	x->kernel = kernel;
	x->ordinal = ordinal;
	x->finished = 0;
	x->quiet = x->words = x->cancels = 0;
	x->let_go = x->waited = x->waits = x->given = x->narrow = x->opened = 0;
	x->gives.one = x->gives.builder = x->gives_narrow.one = x->gives_narrow.builder = 0;
	x->blocks = (u64)gridDim.x * gridDim.y * gridDim.z;
	x->grid_dim[0] = gridDim.x; x->grid_dim[1] = gridDim.y; x->grid_dim[2] = gridDim.z;
	x->block_dim[0] = blockDim.x; x->block_dim[1] = blockDim.y; x->block_dim[2] = blockDim.z;
	x->cluster_dim[0] = x->cluster_dim[1] = x->cluster_dim[2] = 1;
#if __CUDA_ARCH__ >= 900
	asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(x->cluster_dim[0]));
	asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(x->cluster_dim[1]));
	asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(x->cluster_dim[2]));
#endif
	x->number = x->first = x->chain = number;
	x->from = base;
	if (let_go)
		base = launch_early(x, number, base);
	fence();
	store_cg(x, four((u32)grid, (u32)(grid >> 32), number, base));
	return x;
}

/* Blocks of one grid that start together poll for the entry that one makes. */
SLOW struct gsan_launch *launch_enter(u64 grid, u32 kernel)
{
	struct gsan_launch *x;
	ROLLED
	do {
		bool mine = try_lock(&root()->launch_lock);
		x = launch_find(grid);
		if (!mine)
			continue;
		x = x ? x : launch_begin(grid, kernel);
		unlock(&root()->launch_lock);
		break;
	} while (!x);
	return x;
}

/* One of its `blocks`, of which `finished` were done before, has ended. */
FN void launch_leave(struct gsan_launch *l, u32 finished, u64 blocks)
{
	if (finished + 1 != blocks)
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

/* Which of the slots of multiprocessor `sm` is free, one below `limit` if one comes free soon: a
 * block may start before the word that the one before it has gone.  The search begins with the
 * `k`-th.  ~0 if none is. */
FN u32 claim_slot(u32 sm, u32 limit, u32 k, u32 *last)
{
	struct gsan_root *r = root();
	u32 nsm = r->nsm;
	ROLLED
	for (u32 tries = 0; tries < 1000 && sm < nsm; tries++, k++) {
		u32 end = tries < 500 ? limit : r->nslots;
		k = k * nsm + sm < end ? k : 0;
		if (k * nsm + sm >= end)
			continue;
		*last = fetch_or(&block_of(k * nsm + sm)->last, GSAN_BLOCK_BUSY);
		if (!(*last & GSAN_BLOCK_BUSY))
			return k;
	}
	return ~0u;
}

SLOW void clear_bars(struct gsan_block *b)
{
	ROLLED
	for (u32 m = b->used_bars; m; m &= m - 1) {
		struct gsan_bar *bar = b->bar + __ffs(m) - 1;
		ROLLED
		for (u32 k = 0; k < GSAN_PENDING; k++)
			bar->pending[0][k] = bar->pending[1][k] = 0;
		bar->sc[0] = bar->sc[1] = bar->over[0] = bar->over[1] = 0;
		bar->arrived = bar->builder = bar->mixed = 0;
		bar->left = bar->gen;
		ROLLED
		for (u32 k = 0; k < 4; k++)
			bar->result[k] = 0;
		ROLLED
		for (u32 k = 0; k < 32; k++)
			bar->came[k] = 0;
	}
	b->used_bars = 0;
}

/* In what a warp is told of its launch's base: the block has refs. */
#define BEGINS_WITH     (1u << 31)

/* One thread of a new block sets up its slot; returns which of the multiprocessor's it is,
 * from 1, 0 if there is none, and what the contexts of the block's warps need to know.  The
 * block's other threads see it behind the barrier in enter, other blocks only once they meet
 * one of its records.  What can be asked for before it is known to be needed is: each answer
 * takes as long as many instructions. */
SLOW u32 block_begin(u32 kernel, uint4 *info)
{
	struct gsan_root *r = root();
	u64 grid = sreg_gridid() + 1, cta = block_number();
	u32 sm = sreg_smid(), limit = r->nslots;
	/* Variables begin behind what the system reserves of shared memory. */
	u32 need = sreg_shared() ? sreg_shared() + 1024 : 0;
	struct gsan_launch *l = launch_at(grid, 0);
	u32 n = blockDim.x * blockDim.y * blockDim.z, last = 0;
	uint4 head = load_cg(l);
	ROLLED
	for (u32 row = 0; row < GSAN_SHARED_ROWS && row << 13 < need; row++)
		if (r->shared_slots[row] < limit)
			limit = r->shared_slots[row];
	/* Blocks that are there at one time have warps of their own: mostly the first is free. */
	u32 k = claim_slot(sm, limit, sreg_warpid() / ((n + 31) >> 5), &last), slot = k == ~0u ? 0 : k * r->nsm + sm;
	struct gsan_block *b = block_of(slot);
	u32 ntenants = load(&b->ntenants);
	if (!launch_is(head, grid)) {
		l = launch_enter(grid, kernel);
		if (l)
			head = load_cg(l);
	}
	if (k == ~0u || !l) {
		/* What an unwatched block orders would be missed by others. */
		count(GSAN_COUNT_NO_SLOT, 1);
		if (k != ~0u)
			fetch_and(&b->last, ~GSAN_BLOCK_BUSY);
		if (l) {
			l->quiet = 1;
			launch_leave(l, fetch_add(&l->finished, 1), l->blocks);
		}
		return 0;
	}
	u32 base = head.w & GSAN_CLOCK_MAX, number = head.z, start = last > base ? last : base;
	u32 from = base, first = number, chain = number, given = 0, narrow = 0;
	if (head.w & GSAN_LAUNCH_EARLY) {
		from = load(&l->from);
		first = load(&l->first);
		chain = load(&l->chain);
		given = load(&l->given);
		narrow = load(&l->narrow);
	}
	if (start > GSAN_ASYNC_CLOCK - (1u << 24)) {
		count(GSAN_COUNT_CLOCK_OUT, 1);
		l->quiet = 1;
		start = GSAN_ASYNC_CLOCK - (1u << 24);
	}
	u32 row = 0;
	ROLLED
	while (row < GSAN_SHARED_ROWS && row << 13 < need && slot < r->shared_slots[row])
		row++;
	if (row << 13 < need)
		count(GSAN_COUNT_NO_SHARED, 1);
	b->lock = 0;
	*info = four(start, from, row << 13, n);
	store_ca(&b->start, *info);
	info->y |= given ? BEGINS_WITH : 0;
	b->launch = (u32)(l - at<struct gsan_launch>(ROOT(launches)));
	b->launch_number = number;
	b->first = first;
	b->chain = chain;
	b->over = b->waited = b->let_go = b->wide = b->opened = b->lines = b->sent = 0;
	b->live = info->w;
	b->full_bars = b->sc = b->sc_floor = b->sc_cta = b->brought = b->words = b->unmarked[0] = b->unmarked[1] = 0;
	ROLLED
	for (u32 i = 0; i < GSAN_RELEASERS; i += 4)
		store_cg(b->releasers + i, four(0, 0, 0, 0));
	b->cluster = cluster_number(number);
	cluster_enter(b, slot);
	store_cg(&b->refs, four(given, 0, 0, 0));
	store_cg(&b->missed, four(narrow, 0, 0, 0));
	struct gsan_tenant *t = at<struct gsan_tenant>(ROOT(history)) + (u64)slot * GSAN_HISTORY + ntenants % GSAN_HISTORY;
	store_cg(t, four(start, number, (u32)cta, (u32)(cta >> 32) | (number - chain) << 16));
	b->ntenants = ntenants + 1;
	fetch_max(&r->top_slot, slot + 1);
	/* In one piece: a new grid beside the number of the block that was here
	 * before may be another block of this launch. */
	store_ca(b, four((u32)grid, (u32)(grid >> 32), (u32)cta, (u32)(cta >> 32)));
	return k + 1;
}

/* The context of a warp whose lanes are `lanes`. */
FN void warp_begin(u32 slot, u32 warp, u32 lanes, uint4 info)
{
	struct gsan_root *r = root();
	struct gsan_warp *w = warp_of(slot, warp);
	u64 grid = sreg_gridid() + 1, cta = block_number(), b = (u64)block_of(slot);
	u32 options = r->options;
	u32 mode = (options & GSAN_OPT_VOLATILE_WEAK ? GSAN_WARP_VOLATILE : 0) |
		    (options & GSAN_OPT_NO_ATOMIC ? GSAN_WARP_NO_ATOMIC : 0) |
		    (options & GSAN_OPT_CHOICE(GSAN_CHOICE_warp_sync_orders) ? GSAN_WARP_LOCKSTEP : 0) |
		    (options & GSAN_OPT_APART ? GSAN_WARP_APART : 0);
	store_ca(w, four(info.x + 1, info.x, info.x, mode));
	store_ca((char *)w + 16, four(slot << 5 | warp, info.x, info.y & GSAN_CLOCK_MAX, info.z));
	/* In one piece: self() looks at it from other blocks. */
	store_ca(&w->grid, four((u32)grid, (u32)(grid >> 32), (u32)cta, (u32)(cta >> 32)));
	store_ca(&w->block, four((u32)b, (u32)(b >> 32), 0, 0));
	store_ca(&w->slot, four(slot, r->nslots, 0, 0));
	store_ca(&w->private_too, four(0, r->perturb ? GSAN_SPECIAL_HELD_UP : 0, lanes, 0)); /* and special, lanes, dropped */
	store_ca(&w->m_own, four(0, 0, 0, 0));
	w->state = info.y & BEGINS_WITH ? GSAN_WARP_BLOCK_REFS : 0;
	w->m_light = w->m_release = w->lock = w->told = w->over = 0;
	w->live = lanes;
	store_ca(&w->evicted, four(0, 0, 0, 0));
	store_ca(&w->refs, four(0, 0, 0, 0));
	ROLLED
	for (u32 i = 0; i < 16; i += 4)
		store_ca(w->turns + i, four(0, 0, 0, 0));
}

/* The first `n` lanes of a warp, of those that exist. */
FN u32 lanes_of(u32 n) { return n >= 32 ? ~0u : (1u << n) - 1; }

API u64 __gsan_v1_enter(u32 site)
{
	if (!__gsan_site_base)
		return 0;
	struct gsan_root *r = root();
	if (r->options & GSAN_OPT_OFF)
		return 0;
	u32 thread = thread_number(), lane = sreg_laneid(), n = blockDim.x * blockDim.y * blockDim.z;
	u32 index = 0, warp = sreg_warpid(), sm = sreg_smid(), group = lanes_of(n - (thread & ~31u));
	/* The first warp sets up all; the others learn the slot from how many of its
	 * lanes count at the barrier, behind which all that is there.  All threads of
	 * the block are here: nothing of the program ran yet. */
	if (thread < 32) {
		uint4 info = four(0, 0, 0, 0);
		if (!lane)
			index = block_begin(site + __gsan_site_base, &info);
		meet(group);
		index = __shfl_sync(group, index, 0);
		info.x = __shfl_sync(group, info.x, 0);
		info.y = __shfl_sync(group, info.y, 0);
		info.z = __shfl_sync(group, info.z, 0);
		ROLLED
		for (u32 k = lane; index && k << 5 < n; k += 32)
			warp_begin((index - 1) * r->nsm + sm, k, lanes_of(n - (k << 5)), info);
	}
	u32 said = __syncthreads_count(thread < 32 && lane < index);
	if (n >= 32)
		index = said;
	meet(group);
	if (!index)
		return 0;
	struct gsan_warp *w = warp_of((index - 1) * r->nsm + sm, thread >> 5);
	if (!lane && warp < 64)
		*(volatile u64 *)(at<u64>(r->self) + sm * 64 + warp) = (u64)w;
	meet(group);
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
	if (r->options & GSAN_OPT_OFF)
		return 0;
	u64 grid = sreg_gridid() + 1, cta = block_number();
	u32 sm = sreg_smid(), warp = sreg_warpid(), number = thread_number() >> 5;
	struct gsan_warp *w = 0;
	if (sm < r->nsm && warp < 64)
		w = at<struct gsan_warp>(load64(at<u64>(r->self) + sm * 64 + warp));
	uint4 me = four((u32)grid, (u32)(grid >> 32), (u32)cta, (u32)(cta >> 32));
	if (w && same4(load_cg(&w->grid), me) && (w->id & 31) == number)
		return (u64)w;
	ROLLED
	for (u32 slot = 0; slot < r->top_slot; slot++) {
		if (same4(load_cg(block_of(slot)), me))
			return (u64)warp_of(slot, number);
	}
	return 0;
}

/* What a warp leaves behind is its highest clock.  `launch`: the block's. */
SLOW void block_end(struct gsan_block *b, u32 launch)
{
	struct gsan_root *r = root();
	struct gsan_launch *l = at<struct gsan_launch>(ROOT(launches)) + launch;
	u32 top = load(&b->last) & ~GSAN_BLOCK_BUSY, clustered = b->cluster_at;
	u64 blocks = load64((u64 *)&l->blocks);
	u32 finished = fetch_add(&l->finished, 1);
	store_ca(b, four(0, 0, 0, 0));
	fetch_max(&r->max_clock, top);
	if (clustered)
		cluster_leave(b);
	if (b->used_bars)
		clear_bars(b);
	fence();
	fetch_and(&b->last, ~GSAN_BLOCK_BUSY);
	launch_leave(l, finished, blocks);
}

API void __gsan_v1_exit(u64 ctx)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	u32 group = together();
	if (sreg_laneid() != __ffs(group) - 1)
		return;
	/* All that is needed of the warp, and then of the block, in one go. */
	struct gsan_block *b = own_block(w);
	u32 n = __popc(group), dropped = w->dropped, lane = sreg_laneid();
	uint4 counts = load_cg(&w->evicted);
	u32 turn = load(&w->turns[0]), live = load(&w->live), clock = load(&w->clock);
	u32 bars = load(&b->full_bars), launch = b->launch, clustered = b->cluster_at;
	/* Nobody waits for them any more: as if they came to the next barrier. */
	bring_clock(w, b->bar, turn >> lane & 1, live == group);
	ROLLED
	for (; bars; bars &= bars - 1) {
		u32 id = __ffs(bars) - 1;
		bring_clock(w, b->bar + id, load(&w->turns[id]) >> lane & 1, live == group);
	}
	fetch_and(&w->live, ~group);
	fetch_max(&b->last, clock | GSAN_BLOCK_BUSY);
	if (counts.x | counts.y | counts.z | dropped) {
		u32 evicted = counts.x + dropped, unbacked = counts.y, unmodelled = counts.z;
		if (live != group) {
			/* Lanes that leave later find them at zero. */
			evicted = exchange(&w->evicted, 0) + exchange(&w->dropped, 0);
			unbacked = exchange(&w->unbacked, 0);
			unmodelled = exchange(&w->unmodelled, 0);
		}
		if (evicted)
			count(GSAN_COUNT_EVICTED, evicted);
		if (unbacked)
			count(GSAN_COUNT_UNBACKED, unbacked);
		if (unmodelled)
			count(GSAN_COUNT_UNMODELLED, unmodelled);
	}
	/* What it leaves behind is read on this multiprocessor. */
	__threadfence_block();
	if (clustered)
		cluster_exit(w, group);
	if (fetch_add(&b->live, 0 - n) == n)
		block_end(b, launch);
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
			base = fetch_add(&root()->next_site, m->nsites ? m->nsites : 1);
		__gsan_site_base = base;
		if (m->perturb && !root()->perturb)
			root()->perturb = m->perturb;
	}
	box->module = *m;
	box->site_base = base;
	__threadfence_system();
	*(volatile u32 *)&box->done = 1;
}
