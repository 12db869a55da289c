/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_launch.c: what blocks have to do with launches: griddepcontrol, and cluster
 * launch control, by which a cluster takes over the work of one that has not
 * started.  The answer is written by the async proxy:
 *
 *   word 0: bit 0: a cluster was cancelled   word 1: bits 0-31 x, 32-47 y, 48-63 z
 */
#include <string.h>

#include "emu/async.h"
#include "emu/listen.h"

/* ---- griddepcontrol ------------------------------------------------------------------- */

static const struct emu_op *launch_dependents(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	(void)m;
	emu_grid_trigger(x->b);
	return op + 1;
}

static const struct emu_op *wait(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	(void)m;
	return x->b->grid->after ? emu_yield(x, op) : op + 1;
}

/* ---- cluster launch control --------------------------------------------------------------- */

struct emu_cancel {
	struct emu_addr to, mbar;
	bool multicast;
};

/* Takes the next cluster that has not started; false if there is none.  Its blocks count
 * as ended. */
static bool cancel(struct emu_grid *g, uint64_t answer[2])
{
	uint64_t n = (uint64_t)g->cluster[0] * g->cluster[1] * g->cluster[2], at[3];

	answer[0] = answer[1] = 0;
	if (g->next_block >= g->nblocks)
		return false;
	emu_cluster_place(g, g->next_block / n, at);
	g->next_block += n;
	g->done += n;
	g->triggered += n;
	if (g->triggered == g->nblocks)
		atomic_store(&emu_m.attention, true);
	answer[0] = 1;
	answer[1] = at[0] | at[1] << 32 | at[2] << 48;
	return true;
}

static uint32_t all_blocks(const struct emu_x *x)
{
	return (1u << x->b->cluster->nblocks) - 1;
}

/* NULL: a fault. */
static struct emu_async *cancel_lane(struct emu_x *x, const struct emu_op *op, unsigned l)
{
	const struct emu_cancel *k = op->u.cancel;
	uint64_t answer[2];
	struct emu_block *to;
	uint8_t *dst = emu_range(x, op, l, k->to.base, emu_addr_of(x, &k->to, l), 16, 16, &to);
	struct emu_async *a;

	if (!dst)
		return NULL;
	if (!to) {
		emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_ADDRESS, "an address in the wrong space");
		return NULL;
	}
	a = emu_async_new(x, op, l);
	if (!emu_async_land(x, a, &k->mbar, to, k->multicast ? all_blocks(x) : 0, false)) {
		emu_async_free(a);
		return NULL;
	}
	cancel(x->b->grid, answer);
	emu_async_bytes(a, answer, dst, 16);
	emu_async_start(a);
	return a;
}

static void tell_cancel(struct emu_x *x, const struct emu_op *op, uint32_t m, struct emu_async *const *a)
{
	static struct emu_tell_copy told;
	const struct emu_cancel *k = op->u.cancel;
	struct emu_tell t = emu_tell_of(TELL_COPY, x, op, m, x->mask);

	memset(&told, 0, sizeof told);
	told.to_base = k->to.base;
	told.mbar_base = k->mbar.base;
	told.counted = true;
	told.multicast = k->multicast;
	EMU_EACH(l, m) {
		told.to[l] = emu_addr_of(x, &k->to, l);
		told.bytes[l] = 16;
		told.mask[l] = k->multicast ? all_blocks(x) : 0;
		told.mbar[l] = emu_addr_of(x, &k->mbar, l);
		told.async[l] = a[l];
	}
	t.u.copy = &told;
	emu_tell(&t);
}

static const struct emu_op *try_cancel(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct emu_async *a[EMU_LANES];
	uint32_t done = 0;

	EMU_EACH(l, m) {
		a[l] = cancel_lane(x, op, l);
		if (!a[l])
			break;
		done |= 1u << l;
	}
	if (done && emu_tells(op))
		tell_cancel(x, op, done, a);
	return emu_m.fault ? NULL : op + 1;
}

enum query { CANCELED, FIRST_X, FIRST_Y, FIRST_Z, FIRST_ALL };

/* o[]: results, then the answer's two words. */
static const struct emu_op *query_cancel(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	EMU_EACH(l, m) {
		uint64_t w0 = emu_get(x, op->o[op->nd], l), w1 = emu_get(x, op->o[op->nd + 1], l);
		uint64_t at[4] = {(uint32_t)w1, w1 >> 32 & 0xffff, w1 >> 48, 0};

		if (op->kind == CANCELED) {
			emu_set(x, op->o[0], l, w0 & 1);
			continue;
		}
		if (!(w0 & 1))
			return emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION,
					 "asks for the block of a cluster that was not cancelled");
		for (unsigned i = 0; i < op->nd; i++)
			emu_set(x, op->o[i], l, op->kind == FIRST_ALL ? at[i] : at[op->kind - FIRST_X]);
	}
	return op + 1;
}

/* ---- decoding ------------------------------------------------------------------------------- */

static bool bad(struct emu_dec *d)
{
	return d->why ? false : emu_dec_refuse(d, "operands that do not fit the instruction");
}

static bool dec_query(struct emu_dec *d, const struct ptx_inst *in)
{
	enum query q = ptx_has(in, MOD_IS_CANCELED) ? CANCELED :
		       ptx_has(in, MOD_GET_FIRST_CTAID) ? FIRST_ALL :
		       ptx_has(in, MOD_GET_FIRST_CTAID_X) ? FIRST_X :
		       ptx_has(in, MOD_GET_FIRST_CTAID_Y) ? FIRST_Y : FIRST_Z;
	struct emu_opnd o[8];
	struct emu_op *op;
	unsigned nd;

	if (in->nops != 2)
		return bad(d);
	nd = emu_dec_words(d, &in->ops[0], true, o, 5);
	if (nd != (q == FIRST_ALL ? 4 : 1) ||
	    emu_dec_words(d, &in->ops[1], false, o + nd, 3) != 2)
		return bad(d);
	op = emu_dec_new(d);
	op->fn = query_cancel;
	op->kind = (uint8_t)q;
	op->nd = (uint8_t)nd;
	op->o = emu_dec_keep(d, o, nd + 2);
	return true;
}

bool emu_dec_launch(struct emu_dec *d, const struct ptx_inst *in)
{
	struct emu_cancel *k;
	struct emu_op *op;

	switch (in->id) {
	case INST_GRIDDEPCONTROL_LAUNCH_DEPENDENTS:
		emu_dec_new(d)->fn = launch_dependents;
		return true;
	case INST_GRIDDEPCONTROL_WAIT:
		emu_dec_new(d)->fn = wait;
		return true;
	case INST_CLUSTERLAUNCHCONTROL_TRY_CANCEL:
		k = ptx_alloc(d->arena, sizeof *k);
		memset(k, 0, sizeof *k);
		k->multicast = ptx_has(in, MOD_MULTICAST_CLUSTER_ALL);
		if (in->nops != 2 || !emu_dec_addr(d, &in->ops[0], ptx_inst_space(in), &k->to) ||
		    !emu_dec_addr(d, &in->ops[1], ptx_inst_space(in), &k->mbar))
			return bad(d);
		op = emu_dec_new(d);
		op->fn = try_cancel;
		op->u.cancel = k;
		return true;
	case INST_CLUSTERLAUNCHCONTROL_QUERY_CANCEL:
		return dec_query(d, in);
	default:
		return false;
	}
}
