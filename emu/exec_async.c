/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_async.c: cp.async, and cp.async.bulk between two ranges of memory.  Copies of
 * cp.async are carried out as late as the thread allows: when it waits for their
 * group, hands them to an mbarrier, or ends.  Bulk copies are carried out when they
 * are issued, which is one of the moments that they may choose.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/access.h"

struct copy {
	uint8_t *dst;
	const uint8_t *src;
	uint8_t bytes, from_src;        /* the rest is filled with zeros */
	uint32_t group;
};

struct lane {
	struct copy *list;
	unsigned n, cap;
	uint32_t group;                 /* number of the group that is open */
};

struct emu_copies { struct lane lane[EMU_LANES]; };

static struct lane *lane_of(struct emu_warp *w, unsigned l)
{
	if (!w->copies) {
		w->copies = calloc(1, sizeof *w->copies);
		if (!w->copies)
			abort();
	}
	return &w->copies->lane[l];
}

/* Carries out the copies of groups before `group`. */
static void finish(struct emu_warp *w, unsigned l, uint32_t group)
{
	struct lane *q = lane_of(w, l);
	unsigned i;

	for (i = 0; i < q->n && q->list[i].group < group; i++) {
		const struct copy *c = &q->list[i];

		memcpy(c->dst, c->src, c->from_src);
		memset(c->dst + c->from_src, 0, (size_t)(c->bytes - c->from_src));
	}
	memmove(q->list, q->list + i, (q->n - i) * sizeof *q->list);
	q->n -= i;
}

void emu_copies_finish(struct emu_warp *w, uint32_t m)
{
	if (!w->copies)
		return;
	EMU_EACH(l, m) {
		if (w->copies->lane[l].n)
			finish(w, l, UINT32_MAX);
		w->copies->lane[l].group = 0;
	}
}

void emu_copies_free(struct emu_warp *w)
{
	if (!w->copies)
		return;
	for (unsigned l = 0; l < EMU_LANES; l++)
		free(w->copies->lane[l].list);
	free(w->copies);
	w->copies = NULL;
}

/* ---- the instructions ------------------------------------------------------------------ */

/* o[]: bytes to read, or a predicate to read none; then the source's address.
 * imm: bytes to write. */
static const struct emu_op *cp_async(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct emu_addr from = {
		.base = op->kind, .reg = op->o[1], .off = (int64_t)(int32_t)op->imm
	};

	EMU_EACH(l, m) {
		uint64_t to = emu_addr_of(x, &op->u.mem, l), a = emu_addr_of(x, &from, l);
		uint64_t n = emu_get(x, op->o[0], l);
		struct lane *q = lane_of(x->w, l);
		uint8_t *dst = emu_at(x, l, op->u.mem.base, to, op->size);
		const uint8_t *src;

		if (!dst)
			return emu_access_fault(x, op, l, to, op->size, op->u.mem.base);
		if (op->flags & EMU_F_IGNORE_SRC)
			n = n & 1 ? 0 : op->size;
		if (n > op->size)
			n = op->size;
		src = n ? emu_at(x, l, from.base, a, op->size) : dst;
		if (!src)
			return emu_access_fault(x, op, l, a, op->size, from.base);
		if (q->n == q->cap) {
			q->cap = q->cap ? q->cap * 2 : 8;
			q->list = realloc(q->list, q->cap * sizeof *q->list);
			if (!q->list)
				abort();
		}
		q->list[q->n++] = (struct copy){dst, src, op->size, (uint8_t)n, q->group};
	}
	return op + 1;
}

static const struct emu_op *commit(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	EMU_EACH(l, m)
		lane_of(x->w, l)->group++;
	return op + 1;
}

/* Waits for all groups but the last imm; imm ~0: for everything. */
static const struct emu_op *wait_group(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	EMU_EACH(l, m) {
		struct lane *q = lane_of(x->w, l);

		if (op->imm == UINT32_MAX)
			finish(x->w, l, UINT32_MAX);
		else if (q->group > op->imm)
			finish(x->w, l, q->group - op->imm);
	}
	return op + 1;
}

/* o[]: bytes.  The destination is mem. */
static const struct emu_op *bulk(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const struct emu_addr *to = &op->u.bulk.mem, *from = op->u.bulk.from;

	EMU_EACH(l, m) {
		uint64_t d = emu_addr_of(x, to, l), s = emu_addr_of(x, from, l);
		uint64_t n = (uint32_t)emu_get(x, op->o[0], l), a;
		uint64_t *mbar;

		if ((d | s | n) & 15)
			return emu_fault(x, op, l, CUDA_ERROR_MISALIGNED_ADDRESS,
					 "a bulk copy of %llu bytes that is not a multiple of 16",
					 (unsigned long long)n);
		for (uint64_t i = 0; i < n; i += 16) {
			uint8_t *p = emu_at(x, l, to->base, d + i, 16);
			const uint8_t *q = emu_at(x, l, from->base, s + i, 16);

			if (!p)
				return emu_access_fault(x, op, l, d + i, 16, to->base);
			if (!q)
				return emu_access_fault(x, op, l, s + i, 16, from->base);
			memcpy(p, q, 16);
		}
		if (!op->u.bulk.mbar)
			continue;
		a = emu_addr_of(x, op->u.bulk.mbar, l);
		mbar = emu_at(x, l, op->u.bulk.mbar->base, a, 8);
		if (!mbar)
			return emu_access_fault(x, op, l, a, 8, op->u.bulk.mbar->base);
		if (!emu_mbar_complete_tx(mbar, (uint32_t)n))
			return emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION,
					 "there is no mbarrier at 0x%llx", (unsigned long long)a);
	}
	return op + 1;
}

/* ---- decoding ----------------------------------------------------------------------------- */

static bool dec_copy(struct emu_dec *d, const struct ptx_inst *in)
{
	struct emu_addr to, from;
	struct emu_opnd o[2];
	struct emu_op *op;
	uint64_t bytes;

	if (in->nops < 3 || !emu_dec_addr(d, &in->ops[0], SPACE_SHARED, &to) ||
	    !emu_dec_addr(d, &in->ops[1], SPACE_GLOBAL, &from))
		return emu_dec_refuse(d, "operands that do not fit the instruction");
	bytes = in->ops[2].ival;
	if (in->ops[2].kind == OP_SYM || (bytes != 4 && bytes != 8 && bytes != 16))
		return emu_dec_refuse(d, "a cp.async of an odd size");
	o[0] = in->nops > 3 && !(in->nops == 4 && ptx_has(in, MOD_L2_CACHE_HINT)) ?
	       emu_dec_word(d, &in->ops[3], false) : emu_dec_const(d, bytes);
	o[1] = from.reg;
	if (from.base != BASE_GLOBAL || from.off != (int32_t)from.off)
		return emu_dec_refuse(d, "a cp.async from no global address");
	op = emu_dec_new(d);
	op->fn = cp_async;
	op->size = (uint8_t)bytes;
	op->kind = from.base;
	op->imm = (uint32_t)from.off;
	if (o[0].kind == OPND_PRED)
		op->flags |= EMU_F_IGNORE_SRC;
	op->u.mem = to;
	op->o = emu_dec_keep(d, o, 2);
	return true;
}

/* cp.async.bulk.DST.SRC.COMPLETION [to], [from], bytes (, [mbarrier]) (, policy). */
static bool dec_bulk(struct emu_dec *d, const struct ptx_inst *in)
{
	bool group = ptx_has(in, MOD_BULK_GROUP), out = ptx_has(in, MOD_GLOBAL) && group;
	struct emu_addr to, *from = ptx_alloc(d->arena, sizeof *from);
	struct emu_addr *mbar = group ? NULL : ptx_alloc(d->arena, sizeof *mbar);
	bool shared = ptx_has(in, MOD_SHARED_CLUSTER) && ptx_has(in, MOD_SHARED_CTA);
	struct emu_opnd bytes;
	struct emu_op *op;

	if (ptx_has(in, MOD_MULTICAST_CLUSTER) || ptx_has(in, MOD_CP_MASK) ||
	    ptx_has(in, MOD_IGNORE_SRC))
		return emu_dec_refuse(d, "a form of bulk copy that is not emulated");
	if (in->nops < 3u + !group || !emu_dec_addr(d, &in->ops[0],
						    out ? SPACE_GLOBAL : SPACE_SHARED, &to) ||
	    !emu_dec_addr(d, &in->ops[1], out || shared ? SPACE_SHARED : SPACE_GLOBAL, from) ||
	    (mbar && !emu_dec_addr(d, &in->ops[3], SPACE_SHARED, mbar)))
		return emu_dec_refuse(d, "operands that do not fit the instruction");
	bytes = emu_dec_word(d, &in->ops[2], false);
	op = emu_dec_new(d);
	op->fn = bulk;
	op->u.bulk.mem = to;
	op->u.bulk.from = from;
	op->u.bulk.mbar = mbar;
	op->o = emu_dec_keep(d, &bytes, 1);
	return true;
}

bool emu_dec_async(struct emu_dec *d, const struct ptx_inst *in)
{
	struct emu_op *op;

	switch (in->id) {
	case INST_CP_ASYNC:
		return dec_copy(d, in);
	case INST_CP_ASYNC_COMMIT_GROUP:
		emu_dec_new(d)->fn = commit;
		return true;
	case INST_CP_ASYNC_WAIT_GROUP:
		if (in->nops != 1 || in->ops[0].kind == OP_SYM)
			return emu_dec_refuse(d, "a wait for a number of groups that is no constant");
		op = emu_dec_new(d);
		op->fn = wait_group;
		op->imm = (uint32_t)in->ops[0].ival;
		return true;
	case INST_CP_ASYNC_WAIT_ALL:
		op = emu_dec_new(d);
		op->fn = wait_group;
		op->imm = UINT32_MAX;
		return true;
	case INST_CP_ASYNC_BULK:
		return dec_bulk(d, in);
	case INST_CP_ASYNC_BULK_COMMIT_GROUP:   /* bulk copies are done by now */
	case INST_CP_ASYNC_BULK_WAIT_GROUP:
		emu_dec_new(d)->fn = emu_op_nop;
		return true;
	case INST_CP_ASYNC_MBARRIER_ARRIVE:
		/* The arrival comes when the copies are done: they are, now. */
		op = emu_dec_new(d);
		op->fn = wait_group;
		op->imm = UINT32_MAX;
		return ptx_has(in, MOD_NOINC) ? emu_dec_arrive(d, in) : true;
	default:
		return false;
	}
}
