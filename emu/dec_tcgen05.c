/* SPDX-License-Identifier: Apache-2.0
 *
 * dec_tcgen05.c: decodes tcgen05: which of exec_tcgen05.c's functions carries an
 * instruction out, and what it is told.  A form that is not emulated is refused here,
 * with its name; what only a descriptor says is seen when it runs.
 */
#include <string.h>

#include "emu/tcgen05.h"

static bool bad(struct emu_dec *d)
{
	return d->why ? false : emu_dec_refuse(d, "operands that do not fit the instruction");
}

static bool emit(struct emu_dec *d, emu_op_fn *fn, struct emu_tc *k)
{
	struct emu_op *op = emu_dec_new(d);

	op->fn = fn;
	op->u.tc = k;
	return true;
}

static unsigned times(const struct ptx_inst *in)
{
	static const enum ptx_mod mods[] = {
		MOD_X1, MOD_X2, MOD_X4, MOD_X8, MOD_X16, MOD_X32, MOD_X64, MOD_X128
	};

	for (unsigned i = 0; i < 8; i++)
		if (ptx_has(in, mods[i]))
			return 1u << i;
	return 1;
}

/* What is left of the registers of tcgen05.ld.red, in the second operand. */
static bool dec_reduce(struct emu_dec *d, const struct ptx_inst *in, struct emu_tc *k)
{
	k->reduce = ptx_has(in, MOD_MIN) ? EMU_TC_MIN : EMU_TC_MAX;
	k->as = ptx_has(in, MOD_F32) ? EMU_TC_F32 : ptx_has(in, MOD_S32) ? EMU_TC_S32 : EMU_TC_U32;
	k->magnitude = ptx_has(in, MOD_ABS);
	k->nan = ptx_has(in, MOD_NAN);
	return emu_dec_words(d, &in->ops[1], true, &k->reduced, 1) == 1;
}

/* r{, reduced}, [addr]{, split}; [addr]{, split}, r. */
static bool dec_load_store(struct emu_dec *d, const struct ptx_inst *in, struct emu_tc *k)
{
	struct emu_opnd o[EMU_TC_REGS];
	bool reduces = in->id == INST_TCGEN05_LD_RED;
	unsigned at = k->store ? 0 : 1u + reduces;

	k->twice = ptx_has(in, MOD_16X32BX2);
	k->packed = ptx_has(in, MOD_PACK_16B) || ptx_has(in, MOD_UNPACK_16B);
	k->shape = k->twice || ptx_has(in, MOD_32X32B) ? 1 : ptx_has(in, MOD_16X64B) ? 2 :
		   ptx_has(in, MOD_16X128B) ? 4 : 8;
	k->n = times(in) * (k->shape == 1 ? 1 : k->shape / 2);
	if (in->nops != 2u + reduces + k->twice || k->n > EMU_TC_REGS ||
	    (k->twice && in->ops[at + 1].kind != OP_INT) || (reduces && !dec_reduce(d, in, k)) ||
	    !emu_dec_addr(d, &in->ops[at], SPACE_NONE, &k->d) ||
	    emu_dec_words(d, &in->ops[k->store ? in->nops - 1 : 0], !k->store, o, EMU_TC_REGS) != k->n)
		return bad(d);
	if (k->twice)
		k->split = (unsigned)in->ops[at + 1].ival;
	k->regs = emu_dec_keep(d, o, k->n);
	k->late = k->store || (!reduces && emu_ld_waited(d->stmt));
	return emit(d, emu_tc_load_store, k);
}

/* One factor for each 32 elements of a row, or each 16: PTX ISA, "Block Scaling for tcgen05.mma". */
static bool dec_scales(struct emu_dec *d, const struct ptx_inst *in, struct emu_tc *k)
{
	bool wide = ptx_has(in, MOD_KIND_MXF8F6F4);

	k->fine = ptx_has(in, MOD_KIND_MXF4NVF4);
	k->in = wide ? MMA_E4M3 : MMA_E2M1;
	k->vec = ptx_has(in, MOD_SCALE_VEC_4X) || ptx_has(in, MOD_BLOCK16) ? 4 : wide ? 1 : 2;
	return in->nops == 7 && emu_dec_addr(d, &in->ops[4], SPACE_NONE, &k->scales[0]) &&
	       emu_dec_addr(d, &in->ops[5], SPACE_NONE, &k->scales[1]);
}

/* [d], a, b, idesc (, {lanes}), enable (, scale); [d], a, b, idesc, [scales], [scales], enable;
 * .ws: [d], a, b, idesc, enable (, columns of b). */
static bool dec_mma(struct emu_dec *d, const struct ptx_inst *in, struct emu_tc *k)
{
	unsigned at = 4;

	if (ptx_has(in, MOD_BLOCK_SCALE)) {
		if (!dec_scales(d, in, k))
			return bad(d);
		at = 6;
	} else if (ptx_has(in, MOD_KIND_F16))
		k->in = MMA_F16;
	else if (ptx_has(in, MOD_KIND_TF32))
		k->in = MMA_TF32;
	else if (ptx_has(in, MOD_KIND_F8F6F4))
		k->in = MMA_E4M3;
	else if (ptx_has(in, MOD_KIND_I8))
		k->in = MMA_S8;
	else
		return emu_dec_refuse(d, "a kind of tcgen05.mma that is not emulated");
	if (in->nops < 5 || !emu_dec_addr(d, &in->ops[0], SPACE_NONE, &k->d))
		return bad(d);
	k->a_tmem = in->ops[1].kind == OP_ADDR;
	if (k->a_tmem && !emu_dec_addr(d, &in->ops[1], SPACE_NONE, &k->a))
		return bad(d);
	if (!k->a_tmem)
		k->a_desc = emu_dec_word(d, &in->ops[1], false);
	k->b_desc = emu_dec_word(d, &in->ops[2], false);
	k->idesc = emu_dec_word(d, &in->ops[3], false);
	if (in->ops[at].kind == OP_VEC) {
		k->nmask = emu_dec_words(d, &in->ops[at++], false, k->mask, 8);
		if (k->nmask != (k->pair ? 8 : 4))
			return bad(d);
	}
	if (in->nops <= at)
		return bad(d);
	k->enable = emu_dec_word(d, &in->ops[at++], false);
	if (in->nops == at + 1 && k->ws && (in->ops[at].kind != OP_INT || in->ops[at++].ival))
		return emu_dec_refuse(d, "a zero-column mask that is not emulated");
	if (in->nops == at + 1 && in->ops[at].kind == OP_INT && in->ops[at].ival < 16)
		k->scale = (unsigned)in->ops[at++].ival;
	if (in->nops != at)
		return bad(d);
	d->mod->async_reads = true;
	return emit(d, emu_tc_mma, k);
}

static bool dec_cp(struct emu_dec *d, const struct ptx_inst *in, struct emu_tc *k)
{
	static const struct { enum ptx_mod mod; unsigned lanes, bytes, copies; } shapes[] = {
		{MOD_128X256B, 128, 32, 1}, {MOD_128X128B, 128, 16, 1}, {MOD_4X256B, 4, 32, 1},
		{MOD_64X128B, 64, 16, 2}, {MOD_32X128B, 32, 16, 4}
	};

	for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		if (ptx_has(in, shapes[i].mod)) {
			k->lanes = shapes[i].lanes;
			k->bytes = shapes[i].bytes;
			k->copies = shapes[i].copies;
		}
	}
	for (unsigned i = 0; i < in->nmods; i++)
		if (!strncmp(in->modtext[i], ".b8x16", 6) || !strncmp(in->modtext[i], ".b4x16", 6) ||
		    !strncmp(in->modtext[i], ".b6x16", 6))
			k->lanes = 0;
	if (!k->lanes)
		return emu_dec_refuse(d, "a form of tcgen05.cp that is not emulated");
	k->spread = ptx_has(in, MOD_WARPX2_01_23);
	if (in->nops != 2 || !emu_dec_addr(d, &in->ops[0], SPACE_NONE, &k->d))
		return bad(d);
	k->a_desc = emu_dec_word(d, &in->ops[1], false);
	d->mod->async_reads = true;
	return emit(d, emu_tc_cp, k);
}

static bool dec_room(struct emu_dec *d, const struct ptx_inst *in)
{
	struct emu_addr mem = {0};
	struct emu_opnd o[2];
	struct emu_op *op;

	if (in->nops != 2 || (in->id == INST_TCGEN05_ALLOC &&
			      !emu_dec_addr(d, &in->ops[0], ptx_inst_space(in), &mem)))
		return bad(d);
	if (in->id == INST_TCGEN05_DEALLOC)
		o[0] = emu_dec_word(d, &in->ops[0], false);
	o[in->id == INST_TCGEN05_DEALLOC] = emu_dec_word(d, &in->ops[1], false);
	op = emu_dec_new(d);
	op->fn = in->id == INST_TCGEN05_ALLOC ? emu_tc_alloc : emu_tc_dealloc;
	op->u.mem = mem;
	op->o = emu_dec_keep(d, o, 1 + (in->id == INST_TCGEN05_DEALLOC));
	return true;
}

bool emu_dec_tcgen05(struct emu_dec *d, const struct ptx_inst *in)
{
	struct emu_tc *k;
	struct emu_op *op;

	if (strcmp(ptx_insts[in->id].base ? ptx_insts[in->id].base : "", "tcgen05"))
		return false;
	k = ptx_alloc(d->arena, sizeof *k);
	memset(k, 0, sizeof *k);
	k->pair = ptx_has(in, MOD_CTA_GROUP_2);
	switch (in->id) {
	case INST_TCGEN05_ALLOC:
	case INST_TCGEN05_DEALLOC:
		return dec_room(d, in);
	case INST_TCGEN05_RELINQUISH_ALLOC_PERMIT:
		emu_dec_new(d)->fn = emu_tc_relinquish;
		return true;
	case INST_TCGEN05_LD:
	case INST_TCGEN05_LD_RED:
	case INST_TCGEN05_ST:
		k->store = in->id == INST_TCGEN05_ST;
		return dec_load_store(d, in, k);
	case INST_TCGEN05_WAIT_LD:
	case INST_TCGEN05_WAIT_ST:
		op = emu_dec_new(d);
		op->fn = emu_tc_wait;
		op->kind = in->id == INST_TCGEN05_WAIT_ST;
		return true;
	case INST_TCGEN05_CP:
		return dec_cp(d, in, k);
	case INST_TCGEN05_MMA:
	case INST_TCGEN05_MMA_WS:
		k->ws = in->id == INST_TCGEN05_MMA_WS;
		return dec_mma(d, in, k);
	case INST_TCGEN05_COMMIT:
		k->multicast = ptx_has(in, MOD_MULTICAST_CLUSTER);
		if (in->nops != 1u + k->multicast ||
		    !emu_dec_addr(d, &in->ops[0], ptx_inst_space(in), &k->d))
			return bad(d);
		if (k->multicast)
			k->mask[0] = emu_dec_word(d, &in->ops[1], false);
		return emit(d, emu_tc_commit, k);
	case INST_TCGEN05_FENCE_BEFORE_THREAD_SYNC:
	case INST_TCGEN05_FENCE_AFTER_THREAD_SYNC:
		emu_dec_new(d)->fn = emu_op_nop;
		return true;
	default:
		return emu_dec_refuse(d, "a form of tcgen05 that is not emulated");
	}
}
