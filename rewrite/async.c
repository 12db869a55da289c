/* SPDX-License-Identifier: Apache-2.0
 *
 * async.c: what asynchronous instructions do: mbarriers, asynchronous copies and
 * their groups, fences between proxies.  The forms of one instruction differ in
 * their operands more than rows of inst.def can say, so that this file knows each
 * by its number; for what it does not know the caller has WHAT_UNMODELLED.
 */
#include <stdlib.h>
#include <string.h>

#include "rewrite/rw.h"

static const struct ptx_operand *operand(const struct ptx_inst *in, unsigned i)
{
	return i < in->nops ? &in->ops[i] : NULL;
}

static bool is_address(const struct ptx_operand *o)
{
	return o && o->kind == OP_ADDR && o->n == 1;
}

/* PTX ISA "mbarrier.arrive": .release and .cta unless it says otherwise. */
static uint32_t sem_of(const struct ptx_inst *in, uint32_t sem)
{
	uint32_t level = ptx_has(in, MOD_CLUSTER) ? GSAN_CLUSTER : GSAN_CTA;

	return level << GSAN_INFO_LEVEL_SHIFT | (ptx_has(in, MOD_RELAXED) ? 0 : sem);
}

/* Where the address of an mbarrier points. */
static uint32_t place_of(const struct rw_func *rf, const struct ptx_inst *in,
			 const struct ptx_operand *addr, struct rw_event *e)
{
	struct rw_value v = rw_address(rf, addr);
	bool direct = addr->list[0].kind == OP_SYM && addr->list[0].sym->kind == SYM_VAR;

	e->var = v.var;
	if (ptx_has(in, MOD_SHARED_CLUSTER))
		return v.where == WHERE_SHARED ? 0 : GSAN_MBAR_CLUSTER;
	return ptx_inst_space(in) == SPACE_SHARED || direct ? 0 : GSAN_MBAR_GENERIC;
}

/* Of what the first address is at operand `at`, with a number behind it or not. */
static bool mbarrier(const struct rw_func *rf, const struct ptx_inst *in, uint32_t op, unsigned at,
		     struct rw_event *e)
{
	if (!is_address(operand(in, at)))
		return false;
	e->what = WHAT_MBAR;
	e->addr = &in->ops[at];
	e->arg[0] = operand(in, at + 1);
	e->info = op | place_of(rf, in, e->addr, e);
	if ((e->info & GSAN_MBAR_CLUSTER) && (op & GSAN_INFO_RELEASE) && !ptx_has(in, MOD_RELEASE))
		e->info |= GSAN_MBAR_PLAIN;
	return true;
}

static bool wait(const struct rw_func *rf, const struct ptx_inst *in, struct rw_event *e)
{
	bool parity = ptx_has(in, MOD_PARITY);

	if (in->nops < 3 || in->ops[0].kind != OP_SYM || !is_address(&in->ops[1]))
		return false;
	e->what = WHAT_MBAR_WAIT;
	e->addr = &in->ops[1];
	e->arg[0] = parity ? &in->ops[2] : NULL;
	e->info = (parity ? GSAN_MBAR_PARITY : GSAN_MBAR_STATE) | sem_of(in, GSAN_INFO_ACQUIRE) |
		place_of(rf, in, e->addr, e);
	return true;
}

/* [dst], [src], bytes{, bytes read | whether to ignore the source}{, policy} */
static bool cp_async(const struct rw_func *rf, const struct ptx_inst *in, struct rw_event *e)
{
	unsigned n = in->nops - (ptx_has(in, MOD_L2_CACHE_HINT) && in->nops);
	const struct ptx_operand *from = n > 3 ? &in->ops[3] : NULL;
	bool ignore = from && from->kind == OP_SYM && from->sym->type == TYPE_PRED;

	if (n < 3 || !is_address(&in->ops[0]) || !is_address(&in->ops[1]))
		return false;
	e->what = WHAT_COPY;
	e->addr = &in->ops[0];
	e->var = rw_address(rf, e->addr).var;
	e->arg[0] = &in->ops[1];
	e->arg[1] = &in->ops[2];
	e->arg[2] = from && !ignore ? from : &in->ops[2];
	e->info = GSAN_HOW_CP | GSAN_COPY_TO_SHARED | (ignore ? GSAN_COPY_NO_SOURCE : 0);
	return true;
}

/* The state space named first is the destination's, the other the source's. */
static void spaces(const struct ptx_inst *in, enum ptx_mod *to, enum ptx_mod *from)
{
	*to = *from = MOD_NONE;
	for (unsigned i = 0; i < in->nmods; i++) {
		switch ((enum ptx_mod)in->mod[i]) {
		case MOD_GLOBAL:
		case MOD_SHARED_CTA:
		case MOD_SHARED_CLUSTER:
			if (*to == MOD_NONE)
				*to = (enum ptx_mod)in->mod[i];
			else
				*from = (enum ptx_mod)in->mod[i];
			break;
		default:
			break;
		}
	}
}

/* [dst], [src], bytes{, [mbarrier]{, blocks}}...{, mask of the bytes of each 16}. */
static bool bulk(const struct rw_func *rf, const struct ptx_inst *in, bool reduce, struct rw_event *e)
{
	bool mbar = ptx_has(in, MOD_MBARRIER_COMPLETE_TX_BYTES), all = ptx_has(in, MOD_MULTICAST_CLUSTER);
	bool masked = ptx_has(in, MOD_CP_MASK);
	enum ptx_mod to, from;

	spaces(in, &to, &from);
	if (in->nops < (mbar ? 4 : 3) || !is_address(&in->ops[0]) || !is_address(&in->ops[1]) ||
	    (mbar && !is_address(&in->ops[3])) || from == MOD_NONE ||
	    (all && (in->nops < 5 || in->ops[4].kind != OP_SYM)) ||
	    (masked && (mbar || in->nops < 4 || in->ops[in->nops - 1].kind != OP_SYM)))
		return false;
	e->what = WHAT_COPY;
	e->addr = &in->ops[0];
	e->var = rw_address(rf, to == MOD_GLOBAL ? &in->ops[1] : e->addr).var;
	e->arg[0] = &in->ops[1];
	e->arg[1] = e->arg[2] = &in->ops[2];
	if (all)
		e->arg[2] = &in->ops[4];
	if (masked)
		e->arg[2] = &in->ops[in->nops - 1];
	e->arg[3] = mbar ? &in->ops[3] : NULL;
	e->info = (reduce ? GSAN_HOW_REDUCE : GSAN_HOW_BULK) | (mbar ? GSAN_COPY_MBAR : 0) |
		(all ? GSAN_COPY_MULTICAST : 0) | (masked ? GSAN_COPY_MASKED : 0) | (to == MOD_GLOBAL ? 0 : GSAN_COPY_TO_SHARED) | (from == MOD_GLOBAL ? 0 : GSAN_COPY_FROM_SHARED);
	if (to == MOD_SHARED_CLUSTER && !all && rw_address(rf, e->addr).where != WHERE_SHARED)
		e->info |= GSAN_COPY_CLUSTER;
	return true;
}

/* [dst], [map, {coordinates}], [mbarrier]{, {offsets}}{, blocks}...; [map, {coordinates}],
 * [src]...  Not known: wide im2col. */
static bool tensor(const struct rw_func *rf, const struct ptx_inst *in, bool reduce, struct rw_event *e)
{
	bool mbar = ptx_has(in, MOD_MBARRIER_COMPLETE_TX_BYTES), all = ptx_has(in, MOD_MULTICAST_CLUSTER);
	bool im2col = ptx_has(in, MOD_IM2COL);
	const struct ptx_operand *map = operand(in, mbar), *shared = operand(in, !mbar);
	const struct ptx_operand *offsets = im2col && mbar ? operand(in, 3) : NULL;
	const struct ptx_operand *blocks = all ? operand(in, 3 + !!offsets) : NULL;

	if (!map || map->kind != OP_ADDR || map->n != 2 || map->list[1].kind != OP_VEC || map->list[1].n > 5 ||
	    !is_address(shared) || (mbar && !is_address(operand(in, 2))) ||
	    (all && (!blocks || blocks->kind != OP_SYM)) ||
	    (im2col && mbar && (!offsets || offsets->kind != OP_VEC || !offsets->n || offsets->n > 3)) ||
	    ptx_has(in, MOD_IM2COL_W) || ptx_has(in, MOD_IM2COL_W_128))
		return false;
	e->what = WHAT_TENSOR;
	e->addr = map;
	e->var = rw_address(rf, shared).var;
	e->arg[0] = shared;
	e->arg[1] = mbar ? &in->ops[2] : NULL;
	e->arg[2] = blocks;
	e->arg[3] = offsets;
	e->info = (reduce ? GSAN_HOW_REDUCE : GSAN_HOW_BULK) | (mbar ? GSAN_COPY_MBAR : 0) |
		(all ? GSAN_COPY_MULTICAST | (ptx_has(in, MOD_CTA_GROUP_2) ? GSAN_COPY_PAIR : 0) : 0) |
		(ptx_has(in, MOD_TILE_GATHER4) || ptx_has(in, MOD_TILE_SCATTER4) ? GSAN_COPY_FOUR_ROWS : 0) |
		(im2col || ptx_has(in, MOD_IM2COL_NO_OFFS) ? GSAN_COPY_IM2COL : 0);
	return true;
}

/* [dst], values, [mbarrier]: PTX ISA "st.async", "red.async". */
static bool store(const struct rw_func *rf, const struct ptx_inst *in, bool reduce, struct rw_event *e)
{
	if (in->nops < 3 || !is_address(&in->ops[0]) || !is_address(&in->ops[2]) ||
	    !ptx_has(in, MOD_MBARRIER_COMPLETE_TX_BYTES))
		return false;
	e->what = WHAT_COPY;
	e->addr = e->arg[0] = &in->ops[0];
	e->arg[3] = &in->ops[2];
	e->var = rw_address(rf, e->addr).var;
	e->stride = ptx_type_bits(in->type) / 8 * ptx_inst_vec(in);
	e->info = (reduce ? GSAN_HOW_REDUCE : GSAN_HOW_CP) | GSAN_COPY_MBAR | GSAN_COPY_GENERIC |
		GSAN_COPY_TO_SHARED | GSAN_COPY_NO_SOURCE |
		(rw_address(rf, e->addr).where != WHERE_SHARED ? GSAN_COPY_CLUSTER : 0);
	return e->stride;
}

/* [answer], [mbarrier]: PTX ISA "clusterlaunchcontrol.try_cancel". */
static bool cancel(const struct rw_func *rf, const struct ptx_inst *in, struct rw_event *e)
{
	if (!is_address(operand(in, 0)) || !is_address(operand(in, 1)))
		return false;
	e->what = WHAT_COPY;
	e->addr = e->arg[0] = &in->ops[0];
	e->arg[3] = &in->ops[1];
	e->stride = 16;
	e->info = GSAN_HOW_BULK | GSAN_COPY_MBAR | GSAN_COPY_TO_SHARED | GSAN_COPY_NO_SOURCE | GSAN_COPY_CANCEL |
		(ptx_has(in, MOD_MULTICAST_CLUSTER_ALL) ? GSAN_COPY_MULTICAST : 0) |
		(place_of(rf, in, e->addr, e) & GSAN_MBAR_GENERIC ? GSAN_COPY_ANYWHERE : 0);
	return true;
}

static bool fence(struct rw_event *e, uint32_t info)
{
	e->what = WHAT_FENCE;
	e->info = info | GSAN_CLUSTER << GSAN_INFO_LEVEL_SHIFT;
	return true;
}

static bool group(const struct ptx_inst *in, uint32_t op, struct rw_event *e)
{
	e->what = WHAT_GROUP;
	e->info = op;
	e->arg[0] = operand(in, 0);
	return true;
}

/* d, a, b{, metadata, selector}, whether to add d{, signs}{, whether a and b are major in
 * m and n}: PTX ISA "wgmma.mma_async", "wgmma.mma_async.sp". */
static bool wgmma(const struct ptx_inst *in, bool sparse, struct rw_event *e)
{
	const struct ptx_operand *a = operand(in, 1), *b = operand(in, 2);
	unsigned n = 0, signs = sparse ? 8 : 6, trans = 0;

	for (unsigned i = 0; i < in->nmods; i++) {
		const char *t = strstr(in->modtext[i], "m64n");

		if (t)
			n = (unsigned)strtoul(t + 4, NULL, 10);
	}
	if (!n || !a || !b || b->kind != OP_SYM)
		return false;
	/* Two numbers behind the signs: or one, where a is in registers. */
	if (in->type == TYPE_F16 || in->type == TYPE_BF16)
		trans = in->nops > signs + (a->kind != OP_VEC) ? 1 + (a->kind != OP_VEC) : 0;
	e->what = WHAT_WGMMA;
	e->info = n | (sparse ? GSAN_WGMMA_SPARSE : 0);
	e->arg[1] = b;
	if (trans && in->ops[in->nops - 1].ival)
		e->info |= GSAN_WGMMA_B_MN;
	if (a->kind == OP_SYM) {
		e->arg[0] = a;
		e->info |= GSAN_WGMMA_A | (trans == 2 && in->ops[in->nops - 2].ival ? GSAN_WGMMA_A_MN : 0);
	}
	return true;
}

/* PTX ISA "membar/fence": .release.scope; .acquire.scope [map], 128. */
static uint32_t map_fence(const struct ptx_inst *in, uint32_t sem)
{
	enum gsan_level level = ptx_has(in, MOD_CTA) ? GSAN_CTA : ptx_has(in, MOD_CLUSTER) ? GSAN_CLUSTER :
				ptx_has(in, MOD_SYS) ? GSAN_SYS : GSAN_GPU;

	return sem | (uint32_t)level << GSAN_INFO_LEVEL_SHIFT;
}

/* [map]{, dimension}, value: PTX ISA "tensormap.replace". */
static bool map_edit(const struct ptx_inst *in, struct rw_event *e)
{
	static const struct { enum ptx_mod mod; enum gsan_map_field field; } fields[] = {
		{ MOD_GLOBAL_ADDRESS, GSAN_MAP_ADDRESS }, { MOD_RANK, GSAN_MAP_RANK },
		{ MOD_BOX_DIM, GSAN_MAP_BOX }, { MOD_GLOBAL_DIM, GSAN_MAP_DIM },
		{ MOD_GLOBAL_STRIDE, GSAN_MAP_STRIDE }, { MOD_ELEMENT_STRIDE, GSAN_MAP_STEP },
		{ MOD_ELEMTYPE, GSAN_MAP_TYPE }, { MOD_INTERLEAVE_LAYOUT, GSAN_MAP_INTERLEAVE },
		{ MOD_SWIZZLE_MODE, GSAN_MAP_SWIZZLE }, { MOD_SWIZZLE_ATOMICITY, GSAN_MAP_ATOMICITY },
		{ MOD_FILL_MODE, GSAN_MAP_FILL }
	};
	unsigned f = 0;

	while (f < sizeof fields / sizeof *fields && !ptx_has(in, fields[f].mod))
		f++;
	if (f == sizeof fields / sizeof *fields || !is_address(operand(in, 0)) || in->nops < 2 || in->nops > 3 ||
	    (in->nops == 3 && (in->ops[1].kind == OP_SYM || in->ops[1].ival > 4)))
		return false;
	e->what = WHAT_MAP_EDIT;
	e->addr = &in->ops[0];
	e->arg[0] = &in->ops[in->nops - 1];
	e->info = fields[f].field | (in->nops == 3 ? (uint32_t)in->ops[1].ival << 4 : 0) |
		(ptx_inst_space(in) == SPACE_SHARED ? GSAN_MAP_SHARED : 0);
	return true;
}

static uint32_t proxy_spaces(const struct ptx_inst *in)
{
	switch (ptx_inst_space(in)) {
	case SPACE_GLOBAL:
		return GSAN_PROXY_GLOBAL;
	case SPACE_SHARED:
		return GSAN_PROXY_SHARED | (ptx_has(in, MOD_SHARED_CLUSTER) ? GSAN_PROXY_CLUSTER : 0);
	default:
		return GSAN_PROXY_GLOBAL | GSAN_PROXY_SHARED | GSAN_PROXY_CLUSTER;
	}
}

/* Of its two names the one with .expect_tx or the one without. */
static bool arrive(const struct rw_func *rf, const struct ptx_inst *in, uint32_t plain, uint32_t expect,
		   struct rw_event *e)
{
	return mbarrier(rf, in, (ptx_has(in, MOD_EXPECT_TX) ? expect : plain) | sem_of(in, GSAN_INFO_RELEASE), 1, e);
}

bool rw_async(const struct rw_func *rf, const struct ptx_inst *in, struct rw_event *e)
{
	switch (in->id) {
	case INST_MBARRIER_INIT:
		return mbarrier(rf, in, GSAN_MBAR_INIT, 0, e);
	case INST_MBARRIER_INVAL:
		return mbarrier(rf, in, GSAN_MBAR_INVAL, 0, e);
	case INST_MBARRIER_EXPECT_TX:           /* .arrive.expect_tx may come as either */
		if (ptx_has(in, MOD_ARRIVE))
			return arrive(rf, in, GSAN_MBAR_ARRIVE, GSAN_MBAR_ARRIVE_EXPECT, e);
		if (ptx_has(in, MOD_ARRIVE_DROP))
			return arrive(rf, in, GSAN_MBAR_DROP, GSAN_MBAR_DROP_EXPECT, e);
		return mbarrier(rf, in, GSAN_MBAR_EXPECT, 0, e);
	case INST_MBARRIER_COMPLETE_TX:
		return mbarrier(rf, in, GSAN_MBAR_COMPLETE, 0, e);
	case INST_MBARRIER_ARRIVE:
		return arrive(rf, in, GSAN_MBAR_ARRIVE, GSAN_MBAR_ARRIVE_EXPECT, e);
	case INST_MBARRIER_ARRIVE_DROP:
		return arrive(rf, in, GSAN_MBAR_DROP, GSAN_MBAR_DROP_EXPECT, e);
	case INST_CP_ASYNC_MBARRIER_ARRIVE:
		return mbarrier(rf, in, ptx_has(in, MOD_NOINC) ? GSAN_MBAR_CP_ARRIVE_NOINC : GSAN_MBAR_CP_ARRIVE, 0, e);
	case INST_MBARRIER_TEST_WAIT:
	case INST_MBARRIER_TRY_WAIT:
		return wait(rf, in, e);
	case INST_CP_ASYNC:
		return cp_async(rf, in, e);
	case INST_CP_ASYNC_COMMIT_GROUP:
		return group(in, GSAN_HOW_CP | GSAN_GROUP_COMMIT, e);
	case INST_CP_ASYNC_WAIT_GROUP:
		return group(in, GSAN_HOW_CP, e);
	case INST_CP_ASYNC_WAIT_ALL:
		return group(in, GSAN_HOW_CP | GSAN_GROUP_ALL, e);
	case INST_CP_ASYNC_BULK:
		return bulk(rf, in, false, e);
	case INST_CP_REDUCE_ASYNC_BULK:
		return bulk(rf, in, true, e);
	case INST_CP_ASYNC_BULK_COMMIT_GROUP:
		return group(in, GSAN_HOW_BULK | GSAN_GROUP_COMMIT, e);
	case INST_CP_ASYNC_BULK_WAIT_GROUP:
		return group(in, GSAN_HOW_BULK | (ptx_has(in, MOD_READ) ? GSAN_GROUP_READ : 0), e);
	case INST_CP_ASYNC_BULK_TENSOR:
		return tensor(rf, in, false, e);
	case INST_CP_REDUCE_ASYNC_BULK_TENSOR:
		return tensor(rf, in, true, e);
	case INST_ST_ASYNC:
		return store(rf, in, false, e);
	case INST_RED_ASYNC:
		return store(rf, in, true, e);
	case INST_CLUSTERLAUNCHCONTROL_TRY_CANCEL:
		return cancel(rf, in, e);
	case INST_BARRIER_CLUSTER_ARRIVE:
		e->what = WHAT_CLUSTER_ARRIVE;
		e->info = (ptx_has(in, MOD_RELAXED) ? 0 : GSAN_INFO_RELEASE) | GSAN_CLUSTER << GSAN_INFO_LEVEL_SHIFT;
		return true;
	case INST_BARRIER_CLUSTER_WAIT:
		e->what = WHAT_CLUSTER_WAIT;
		return true;
	case INST_GRIDDEPCONTROL_LAUNCH_DEPENDENTS:
		e->what = WHAT_GRID_GO;
		return true;
	case INST_GRIDDEPCONTROL_WAIT:
		e->what = WHAT_GRID_WAIT;
		return true;
	case INST_FENCE_MBARRIER_INIT:
		e->what = WHAT_INIT_FENCE;
		return true;
	/* They order shared memory alone; that they order all is on the side of silence. */
	case INST_FENCE_ACQUIRE_SYNC_RESTRICT_SHARED_CLUSTER:
		return fence(e, GSAN_INFO_ACQUIRE);
	case INST_FENCE_RELEASE_SYNC_RESTRICT_SHARED_CTA:
		return fence(e, GSAN_INFO_RELEASE);
	case INST_WGMMA_MMA_ASYNC:
		return wgmma(in, false, e);
	case INST_WGMMA_MMA_ASYNC_SP:
		return wgmma(in, true, e);
	case INST_WGMMA_COMMIT_GROUP:
		return group(in, GSAN_HOW_WGMMA | GSAN_GROUP_COMMIT, e);
	case INST_WGMMA_WAIT_GROUP:
		return group(in, GSAN_HOW_WGMMA, e);
	case INST_TENSORMAP_REPLACE:
		e->var = in->nops ? rw_address(rf, &in->ops[0]).var : NULL;
		return map_edit(in, e);
	case INST_TENSORMAP_CP_FENCEPROXY:
		if (!is_address(operand(in, 0)) || !is_address(operand(in, 1)))
			return false;
		e->what = WHAT_MAP_COPY;
		e->addr = &in->ops[0];
		e->arg[0] = &in->ops[1];
		e->info = map_fence(in, GSAN_INFO_RELEASE);
		return true;
	case INST_FENCE_PROXY_TENSORMAP_GENERIC:
		e->what = WHAT_MAP_FENCE;
		e->addr = is_address(operand(in, 0)) ? &in->ops[0] : NULL;
		e->info = map_fence(in, ptx_has(in, MOD_RELEASE) ? GSAN_INFO_RELEASE : GSAN_INFO_ACQUIRE);
		return e->addr || ptx_has(in, MOD_RELEASE);
	case INST_FENCE_PROXY_ASYNC:
		e->what = WHAT_PROXY_FENCE;
		e->info = proxy_spaces(in);
		return true;
	/* PTX ISA "membar/fence": membar.proxy is the older word for fence.proxy. */
	case INST_MEMBAR_PROXY:
	case INST_FENCE_PROXY_ALIAS:
		e->what = WHAT_PROXY_FENCE;
		e->info = GSAN_PROXY_ALIAS;
		return true;
	case INST_FENCE_PROXY_ASYNC_GENERIC:
		/* PTX ISA "membar/fence": .sync_restrict limits it to shared memory. */
		e->what = WHAT_PROXY_FENCE;
		e->info = GSAN_PROXY_SHARED | (ptx_has(in, MOD_RELEASE) ? GSAN_PROXY_RELEASE : GSAN_PROXY_ACQUIRE);
		return true;
	default:
		return false;
	}
}
