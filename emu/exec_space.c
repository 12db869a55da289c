/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_space.c: addresses as values: cvta, isspacep, mapa, getctarank, alloca.
 */
#include "emu/emu.h"

static const struct emu_op *cvta(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const uint64_t *a = emu_row(x, op->o[1]);
	uint64_t *d = emu_row(x, op->o[0]), add = op->u.value;

	EMU_EACH(l, m)
		d[l] = a[l] + add;
	return op + 1;
}

enum { IN_GLOBAL, IN_CONST, IN_LOCAL, IN_SHARED_CTA, IN_SHARED_CLUSTER, IN_PARAM };

static bool is_const(uint64_t a)
{
	struct emu_block_mem b;

	return emu_mem_find(a, &b) && b.kind == MEM_MODULE && b.flags;
}

static bool lies_in(const struct emu_x *x, unsigned space, uint64_t a)
{
	const struct emu_block *b = x->b;
	uint64_t off = a - EMU_SHARED_WINDOW;
	bool shared = off < EMU_WINDOW_BYTES && off >> EMU_RANK_SHIFT < b->cluster->nblocks;
	bool local = a - EMU_LOCAL_WINDOW < EMU_WINDOW_BYTES;

	switch (space) {
	case IN_GLOBAL:
		return a - EMU_SHARED_WINDOW >= EMU_WINDOW_BYTES && !local && !is_const(a);
	case IN_CONST:
		return is_const(a);
	case IN_LOCAL:
		return local;
	case IN_SHARED_CTA:
		return shared && off >> EMU_RANK_SHIFT == b->rank;
	case IN_SHARED_CLUSTER:
		return shared;
	}
	return a - b->grid->params < b->grid->func->param_bytes;
}

static const struct emu_op *isspacep(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const uint64_t *a = emu_row(x, op->o[1]);

	EMU_EACH(l, m)
		emu_set(x, op->o[0], l, lies_in(x, op->kind, a[l]));
	return op + 1;
}

#define RANK_MASK (UINT64_C(0xff) << EMU_RANK_SHIFT)

static const struct emu_op *mapa(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const uint64_t *a = emu_row(x, op->o[1]), *rank = emu_row(x, op->o[2]);
	uint64_t *d = emu_row(x, op->o[0]);

	EMU_EACH(l, m) {
		uint32_t r = (uint32_t)rank[l];

		if (r >= x->b->cluster->nblocks)
			return emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION,
					 "mapa to block %u of a cluster of %u", r,
					 x->b->cluster->nblocks);
		d[l] = (a[l] & ~RANK_MASK) | (uint64_t)r << EMU_RANK_SHIFT;
	}
	return op + 1;
}

static const struct emu_op *getctarank(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const uint64_t *a = emu_row(x, op->o[1]);
	uint64_t *d = emu_row(x, op->o[0]);

	EMU_EACH(l, m)
		d[l] = (a[l] & RANK_MASK) >> EMU_RANK_SHIFT;
	return op + 1;
}

/* The stack grows upwards; alloca's memory lives until the function returns. */
static const struct emu_op *alloca_op(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct emu_warp *w = x->w;
	uint64_t align = op->imm;

	EMU_EACH(l, m) {
		uint64_t at = (w->sp[l] + align - 1) / align * align;
		uint64_t end = at + ((emu_get(x, op->o[1], l) + 7) & ~UINT64_C(7));

		if (end > w->local_bytes && !emu_warp_grow_local(w, end))
			return emu_fault(x, op, l, CUDA_ERROR_LAUNCH_FAILED,
					 "stack overflow: %llu bytes of local memory",
					 (unsigned long long)end);
		w->sp[l] = end;
		emu_set(x, op->o[0], l, at);
	}
	return op + 1;
}

static const struct emu_op *stacksave(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	EMU_EACH(l, m)
		emu_set(x, op->o[0], l, x->w->sp[l]);
	return op + 1;
}

static const struct emu_op *stackrestore(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	EMU_EACH(l, m) {
		uint64_t sp = emu_get(x, op->o[0], l);

		if (sp > x->w->sp[l])
			return emu_fault(x, op, l, CUDA_ERROR_LAUNCH_FAILED,
					 "stackrestore to what stacksave never gave");
		x->w->sp[l] = sp;
	}
	return op + 1;
}

/* ---- decoding ------------------------------------------------------------------------ */

static bool dec(struct emu_dec *d, const struct ptx_inst *in, emu_op_fn *fn, bool dst, unsigned n)
{
	struct emu_opnd o[4];
	struct emu_op *op;

	if (in->nops < n)
		return emu_dec_refuse(d, "operands that do not fit the instruction");
	for (unsigned i = 0; i < n; i++)
		o[i] = emu_dec_word(d, &in->ops[i], dst && i == 0);
	op = emu_dec_new(d);
	op->fn = fn;
	op->o = emu_dec_keep(d, o, n);
	return true;
}

static uint64_t window(const struct ptx_inst *in)
{
	switch (ptx_inst_space(in)) {
	case SPACE_SHARED:
		return EMU_SHARED_WINDOW;
	case SPACE_LOCAL:
		return EMU_LOCAL_WINDOW;
	default:
		return 0;               /* global, const, param: addresses are generic ones */
	}
}

bool emu_dec_space(struct emu_dec *d, const struct ptx_inst *in)
{
	uint64_t add;

	switch (in->id) {
	case INST_CVTA:
		if (!dec(d, in, cvta, true, 2))
			return false;
		add = window(in);
		d->ops[d->nops - 1].u.value = ptx_has(in, MOD_TO) ? 0 - add : add;
		return true;
	case INST_ISSPACEP:
		if (!dec(d, in, isspacep, true, 2))
			return false;
		d->ops[d->nops - 1].kind =
			ptx_has(in, MOD_GLOBAL) ? IN_GLOBAL : ptx_has(in, MOD_CONST) ? IN_CONST :
			ptx_has(in, MOD_LOCAL) ? IN_LOCAL :
			ptx_has(in, MOD_SHARED_CLUSTER) ? IN_SHARED_CLUSTER :
			ptx_inst_space(in) == SPACE_SHARED ? IN_SHARED_CTA : IN_PARAM;
		return true;
	case INST_MAPA:
		return dec(d, in, mapa, true, 3);
	case INST_GETCTARANK:
		return dec(d, in, getctarank, true, 2);
	case INST_ALLOCA:
		if (!dec(d, in, alloca_op, true, 2))
			return false;
		d->ops[d->nops - 1].imm = in->nops > 2 && in->ops[2].ival ?
					  (uint32_t)in->ops[2].ival : 8;
		return true;
	case INST_STACKSAVE:
		return dec(d, in, stacksave, true, 1);
	case INST_STACKRESTORE:
		return dec(d, in, stackrestore, false, 1);
	default:
		return false;
	}
}
