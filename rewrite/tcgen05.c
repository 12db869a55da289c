/* SPDX-License-Identifier: Apache-2.0
 *
 * tcgen05.c: what tcgen05 instructions do, in terms of rt/abi.h: as async.c, whose
 * caller this is.  What they touch is known for all but sparse products, .shift and the
 * copies that go with it.
 * (PTX ISA, TensorCore 5th Generation Family Instructions)
 */
#include "rewrite/rw.h"

static bool is_address(const struct ptx_inst *in, unsigned i)
{
	return i < in->nops && in->ops[i].kind == OP_ADDR && in->ops[i].n == 1;
}

static bool is_word(const struct ptx_inst *in, unsigned i)
{
	return i < in->nops && (in->ops[i].kind == OP_SYM || in->ops[i].kind == OP_INT);
}

static unsigned times(const struct ptx_inst *in)
{
	static const enum ptx_mod mods[] = {
		MOD_X1, MOD_X2, MOD_X4, MOD_X8, MOD_X16, MOD_X32, MOD_X64, MOD_X128
	};

	for (unsigned i = 0; i < sizeof mods / sizeof *mods; i++)
		if (ptx_has(in, mods[i]))
			return 1u << i;
	return 1;
}

/* r{, reduced}, [addr]{, split}; [addr]{, split}, r.  Packed, a register stands for the lower
 * halves of two columns.  (PTX ISA, tcgen05.ld, tcgen05.st; how columns are counted then: CUTLASS,
 * copy_traits_sm100.hpp) */
static bool access(const struct ptx_inst *in, bool store, struct rw_event *e)
{
	static const struct { enum ptx_mod mod; unsigned columns; uint32_t op; } shapes[] = {
		{ MOD_32X32B, 1, 0 }, { MOD_16X64B, 2, GSAN_TC_HALF }, { MOD_16X128B, 4, GSAN_TC_HALF },
		{ MOD_16X256B, 8, GSAN_TC_HALF }, { MOD_16X32BX2, 1, GSAN_TC_HALF | GSAN_TC_TWICE }
	};
	bool twice = ptx_has(in, MOD_16X32BX2), reduces = in->id == INST_TCGEN05_LD_RED;
	bool packed = ptx_has(in, MOD_PACK_16B) || ptx_has(in, MOD_UNPACK_16B);
	unsigned k = 0, at = store ? 0 : 1u + reduces;

	while (k < sizeof shapes / sizeof *shapes && !ptx_has(in, shapes[k].mod))
		k++;
	if (k == sizeof shapes / sizeof *shapes || !is_address(in, at) || in->nops != 2u + reduces + twice ||
	    (twice && !is_word(in, at + 1)))
		return false;
	e->addr = &in->ops[at];
	e->arg[0] = twice ? &in->ops[at + 1] : NULL;
	e->info = shapes[k].columns * times(in) << packed | shapes[k].op | (store ? GSAN_TC_STORE : 0);
	return true;
}

/* [d], a, b, idesc{, lanes left alone}, whether to add d{, scale}; a: descriptor or [a].
 * [d], a, b, idesc, [scales of a], [scales of b], whether to add d.
 * .ws: [d], a, b, idesc, whether to add d{, which columns of b count as 0}. */
static bool mma(const struct ptx_inst *in, struct rw_event *e)
{
	bool packed = ptx_has(in, MOD_KIND_MXF4) || ptx_has(in, MOD_KIND_MXF4NVF4);
	bool scaled = ptx_has(in, MOD_BLOCK_SCALE), ws = in->id == INST_TCGEN05_MMA_WS;
	unsigned bytes = ptx_has(in, MOD_KIND_F16) ? 2 : ptx_has(in, MOD_KIND_TF32) ? 4 :
		packed || ptx_has(in, MOD_KIND_F8F6F4) || ptx_has(in, MOD_KIND_MXF8F6F4) ||
		ptx_has(in, MOD_KIND_I8) ? 1 : 0;

	if (!bytes || in->nops < 5 || !is_address(in, 0) ||
	    (!is_address(in, 1) && in->ops[1].kind != OP_SYM) || in->ops[2].kind != OP_SYM || !is_word(in, 3))
		return false;
	if (scaled && (in->nops != 7 || !is_address(in, 4) || !is_address(in, 5)))
		return false;
	if (ws && in->nops > 5 && (in->ops[5].kind != OP_INT || in->ops[5].ival))
		return false;
	e->addr = &in->ops[0];
	e->arg[0] = &in->ops[1];
	e->arg[1] = &in->ops[2];
	e->arg[2] = &in->ops[3];
	e->arg[3] = in->ops[4].kind == OP_VEC ? &in->ops[4] : NULL;
	e->info |= bytes | (is_address(in, 1) ? GSAN_TC_A_TMEM : 0) |
		(scaled ? GSAN_TC_SCALED : 0) | (packed ? GSAN_TC_PACKED : 0) |
		(ptx_has(in, MOD_KIND_I8) ? GSAN_TC_INTEGER : 0) | (ws ? GSAN_TC_WS : 0);
	return true;
}

/* [d], descriptor; PTX ISA "tcgen05.cp".  .4x256b goes to lanes that are not known.  Elements that get
 * wider on their way have as much room before. */
static bool cp(const struct ptx_inst *in, struct rw_event *e)
{
	static const struct { enum ptx_mod mod; uint32_t rows, pieces; } shapes[] = {
		{ MOD_128X256B, 128, 2 }, { MOD_128X128B, 128, 1 }, { MOD_64X128B, 64, 1 },
		{ MOD_32X128B, 32, 1 }
	};

	if (in->nops != 2 || !is_address(in, 0) || in->ops[1].kind != OP_SYM)
		return false;
	for (unsigned k = 0; k < sizeof shapes / sizeof *shapes; k++) {
		if (!ptx_has(in, shapes[k].mod))
			continue;
		e->addr = &in->ops[0];
		e->arg[0] = &in->ops[1];
		e->info |= shapes[k].rows | shapes[k].pieces << 8;
		return true;
	}
	return false;
}

/* An address in shared memory, of an mbarrier or for a result. */
static bool shared(const struct rw_func *rf, const struct ptx_inst *in, struct rw_event *e)
{
	struct rw_value v;

	if (!is_address(in, 0))
		return false;
	e->addr = &in->ops[0];
	v = rw_address(rf, e->addr);
	e->var = v.var;
	if (ptx_has(in, MOD_SHARED_CLUSTER))
		e->info |= v.where == WHERE_SHARED ? 0 : GSAN_MBAR_CLUSTER;
	else if (ptx_inst_space(in) != SPACE_SHARED)
		e->info |= GSAN_MBAR_GENERIC;
	return true;
}

/* [mbarrier]{, blocks} */
static bool commit(const struct rw_func *rf, const struct ptx_inst *in, struct rw_event *e)
{
	bool all = ptx_has(in, MOD_MULTICAST_CLUSTER);

	if (in->nops != 1u + all || (all && in->ops[1].kind != OP_SYM))
		return false;
	e->arg[0] = all ? &in->ops[1] : NULL;
	e->info |= all ? GSAN_TC_MULTICAST : 0;
	return shared(rf, in, e);
}

static bool known(const struct rw *r, const struct rw_func *rf, const struct ptx_inst *in, struct rw_event *e)
{
	/* What comes from elsewhere may synchronise in any way. */
	uint32_t loose = r->loose || r->options->relocatable ? GSAN_TC_LOOSE : 0;

	switch (in->id) {
	case INST_TCGEN05_FENCE_BEFORE_THREAD_SYNC:
		e->info = loose;
		return true;
	case INST_TCGEN05_FENCE_AFTER_THREAD_SYNC:
		e->info = loose | GSAN_TC_AFTER;
		return true;
	case INST_TCGEN05_WAIT_LD:
		return true;
	case INST_TCGEN05_WAIT_ST:
		e->info = GSAN_TC_STORE;
		return true;
	case INST_TCGEN05_LD:
	case INST_TCGEN05_LD_RED:
	case INST_TCGEN05_ST:
		return access(in, in->id == INST_TCGEN05_ST, e);
	case INST_TCGEN05_MMA:
	case INST_TCGEN05_MMA_WS:
		return mma(in, e);
	case INST_TCGEN05_CP:
		return cp(in, e);
	case INST_TCGEN05_COMMIT:
		return commit(rf, in, e);
	case INST_TCGEN05_ALLOC:
		return shared(rf, in, e);
	case INST_TCGEN05_DEALLOC:
		return is_word(in, 0) && is_word(in, 1);
	default:
		return false;
	}
}

bool rw_tcgen05(struct rw *r, const struct rw_func *rf, const struct ptx_inst *in, struct rw_event *e)
{
	uint32_t pair;

	switch (in->id) {
	case INST_TCGEN05_ALLOC:
	case INST_TCGEN05_DEALLOC:
	case INST_TCGEN05_LD:
	case INST_TCGEN05_LD_RED:
	case INST_TCGEN05_ST:
	case INST_TCGEN05_WAIT_LD:
	case INST_TCGEN05_WAIT_ST:
	case INST_TCGEN05_CP:
	case INST_TCGEN05_SHIFT:
	case INST_TCGEN05_MMA:
	case INST_TCGEN05_MMA_SP:
	case INST_TCGEN05_MMA_WS:
	case INST_TCGEN05_MMA_WS_SP:
	case INST_TCGEN05_COMMIT:
	case INST_TCGEN05_FENCE_BEFORE_THREAD_SYNC:
	case INST_TCGEN05_FENCE_AFTER_THREAD_SYNC:
		break;
	default:
		return false;
	}
	pair = ptx_has(in, MOD_CTA_GROUP_2) ? GSAN_TC_PAIR : 0;
	e->what = WHAT_TCGEN05;
	e->info = in->id == INST_TCGEN05_MMA || in->id == INST_TCGEN05_CP ? pair : 0;
	if (known(r, rf, in, e))
		return true;
	r->stats->unmodelled++;
	e->addr = NULL;
	e->what = WHAT_TCGEN05_OTHER;
	e->info = pair;
	return true;
}
