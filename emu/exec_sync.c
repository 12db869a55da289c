/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_sync.c: barriers of the block (bar, barrier) and of the cluster, fences.
 * A warp has arrived when its lanes have that have not exited; warps that have exited are not
 * waited for by barriers without a count.  Fences do nothing: execution is sequentially
 * consistent, but for what weak.c keeps from the async proxy.
 */
#include <stdio.h>
#include <string.h>

#include "emu/async.h"
#include "emu/listen.h"

/* ---- barriers of the block ---------------------------------------------------------- */

enum kind { BAR_SYNC, BAR_ARRIVE, BAR_POPC, BAR_AND, BAR_OR };

static uint64_t reduced(const struct emu_op *op, const struct emu_bar *bar)
{
	switch ((enum kind)op->kind) {
	case BAR_POPC:
		return bar->popc;
	case BAR_AND:
		return bar->popc == bar->arrived;
	case BAR_OR:
		return bar->popc != 0;
	case BAR_SYNC:
	case BAR_ARRIVE:
		break;
	}
	return 0;
}

/* The result of bar.red for lanes of some warp of the block. */
static void set_result(struct emu_warp *w, const struct emu_op *op, uint32_t base, uint32_t m,
		       const struct emu_bar *bar)
{
	struct emu_opnd o;
	uint64_t v = reduced(op, bar);

	if (!op->nd)
		return;
	o = op->o[0];
	if (o.kind == OPND_PRED) {
		uint32_t *p = &w->preds[base + o.at];

		*p = v ? *p | m : *p & ~m;
	} else if (o.kind == OPND_ROW) {
		EMU_EACH(l, m)
			w->rows[(size_t)base * EMU_LANES + o.at + l] = v;
	}
}

/* A warp has arrived when all its lanes have that have not exited (PTX ISA, "barrier": the
 * arrival count goes up by the warp size, not by the number of threads). */
static void count_warp(const struct emu_warp *w, struct emu_bar *bar)
{
	uint32_t *lanes = &bar->lanes[w->index];

	if (!*lanes || w->live & ~*lanes)
		return;
	*lanes = 0;
	bar->warps++;
}

static bool complete(const struct emu_block *b, const struct emu_bar *bar)
{
	return bar->arrived && (bar->expected == EMU_BAR_ALL ? bar->arrived >= b->live :
				bar->warps * EMU_LANES >= bar->expected);
}

static struct emu_tell_bar told(const struct emu_op *op, unsigned id, uint32_t expected)
{
	const struct ptx_inst *in = &op->stmt->inst;

	return (struct emu_tell_bar){
		.id = id, .count = expected == EMU_BAR_ALL ? 0 : expected,
		.how = op->kind == BAR_SYNC ? EMU_BAR_SYNC : op->kind == BAR_ARRIVE ? EMU_BAR_ARRIVE : EMU_BAR_RED,
		.aligned = in->id == INST_BAR || ptx_has(in, MOD_ALIGNED)
	};
}

static void tell_leave(struct emu_warp *w, const struct emu_op *op, uint32_t m, unsigned id,
		       uint32_t expected)
{
	struct emu_tell_bar bar = told(op, id, expected);

	emu_tell(&(struct emu_tell){
		.kind = TELL_BAR_LEAVE, .b = w->block, .w = w, .op = op, .lanes = m, .group = m, .u.bar = &bar
	});
}

static void release(struct emu_block *b, unsigned id)
{
	struct emu_bar *bar = &b->bar[id];
	struct emu_tell_bar over = {.id = id, .count = bar->expected == EMU_BAR_ALL ? 0 : bar->expected};

	for (unsigned i = 0; i < b->nwarps; i++) {
		struct emu_warp *w = &b->warp[i];

		for (unsigned k = 0; k < w->ngroups; k++) {
			struct emu_group *g = &w->group[k];

			if (g->state != GROUP_WAIT_BAR || g->bar != id)
				continue;
			set_result(w, g->at, g->base, g->mask, bar);
			if (emu_tells(g->at))
				tell_leave(w, g->at, g->mask, id, bar->expected);
			g->state = GROUP_READY;
			emu_warp_ready(w);
		}
	}
	memset(bar, 0, sizeof *bar);
	if (emu_listening)
		emu_tell(&(struct emu_tell){.kind = TELL_BAR_OVER, .b = b, .u.bar = &over});
}

void emu_bar_recheck(struct emu_block *b)
{
	for (unsigned id = 0; id < 16; id++) {
		for (unsigned i = 0; b->bar[id].expected && i < b->nwarps; i++)
			count_warp(&b->warp[i], &b->bar[id]);
		if (b->bar[id].expected && complete(b, &b->bar[id]))
			release(b, id);
	}
}

static void tell_arrive(struct emu_x *x, const struct emu_op *op, uint32_t lanes, uint32_t group, unsigned id, uint32_t expected)
{
	struct emu_tell t = emu_tell_of(TELL_BAR_ARRIVE, x, op, lanes, group);
	struct emu_tell_bar bar = told(op, id, expected);

	t.u.bar = &bar;
	emu_tell(&t);
}

/* What is undefined ends the kernel, once it is told.  False: it did. */
static bool may_come(struct emu_x *x, const struct emu_op *op, uint32_t lanes, unsigned id, uint32_t expected)
{
	const struct emu_bar *bar = &x->b->bar[id];
	bool whole = expected == EMU_BAR_ALL || (expected && expected % EMU_LANES == 0);

	if (whole && (!bar->expected || bar->expected == expected))
		return true;
	if (emu_tells(op))
		tell_arrive(x, op, lanes, x->mask, id, expected);
	if (!whole)
		emu_fault(x, op, (unsigned)__builtin_ctz(lanes), CUDA_ERROR_ILLEGAL_INSTRUCTION,
			  "a barrier of %u threads, no multiple of %u", expected, EMU_LANES);
	else
		emu_fault(x, op, (unsigned)__builtin_ctz(lanes), CUDA_ERROR_ILLEGAL_INSTRUCTION,
			  "barrier %u expects %d threads here and %d elsewhere (-1: all)", id, (int)expected, (int)bar->expected);
	return false;
}

/* o[]: result (red only), id, count (0: all), predicate (red only).  Lanes that name another
 * barrier come by themselves. */
static const struct emu_op *barrier(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const struct emu_opnd *o = op->o + op->nd;
	unsigned first = (unsigned)__builtin_ctz(m);
	uint32_t id = (uint32_t)emu_get(x, o[0], first), count = (uint32_t)emu_get(x, o[1], first);
	uint32_t expected = op->imm ? count : EMU_BAR_ALL, same = 0, again, group = x->mask;
	struct emu_block *b = x->b;
	struct emu_bar *bar;

	if (id > 15)
		return emu_fault(x, op, first, CUDA_ERROR_ILLEGAL_INSTRUCTION, "barrier %u of 16", id);
	EMU_EACH(l, m)
		same |= (uint32_t)(emu_get(x, o[0], l) == id && emu_get(x, o[1], l) == count) << l;
	if (!may_come(x, op, same, id, expected))
		return NULL;
	if (x->mask & ~m)
		emu_split(x, x->mask & ~m, op + 1, x->base);
	if (m & ~same)
		emu_split(x, m & ~same, op, x->base);
	bar = &b->bar[id];
	/* None comes again before the rest of its warp has. */
	again = bar->lanes[x->w->index] & same;
	if (again == same)
		return emu_yield(x, op);
	if (again)
		emu_split(x, again, op, x->base);
	same &= ~again;
	bar->lanes[x->w->index] |= same;
	count_warp(x->w, bar);
	bar->expected = expected;
	bar->arrived += (uint32_t)__builtin_popcount(same);
	if (op->nd)
		EMU_EACH(l, same)
			bar->popc += (uint32_t)(emu_get(x, o[2], l) & 1);
	if (emu_tells(op))
		tell_arrive(x, op, x->mask, group, id, expected);
	if (complete(b, bar)) {
		set_result(x->w, op, x->base, same, bar);
		if (emu_tells(op) && op->kind != BAR_ARRIVE)
			tell_leave(x->w, op, same, id, expected);
		release(b, id);
		return op + 1;
	}
	if (op->kind == BAR_ARRIVE)
		return op + 1;
	{
		struct emu_group *g = emu_park(x, GROUP_WAIT_BAR, op + 1);

		g->bar = (uint8_t)id;
		g->at = op;
	}
	return NULL;
}

/* ---- barrier of the cluster ----------------------------------------------------------- */

static void cluster_check(struct emu_cluster *c)
{
	if (!c->threads || c->arrived < c->threads)
		return;
	c->arrived = 0;
	c->phase++;
	if (emu_listening)
		emu_tell(&(struct emu_tell){.kind = TELL_CLUSTER_OVER, .b = c->block[0]});
	for (unsigned r = 0; r < c->nblocks; r++) {
		struct emu_block *b = c->block[r];

		for (unsigned i = 0; i < b->nwarps; i++) {
			struct emu_warp *w = &b->warp[i];

			for (unsigned k = 0; k < w->ngroups; k++) {
				if (w->group[k].state == GROUP_WAIT_CLUSTER) {
					w->group[k].state = GROUP_READY;
					emu_warp_ready(w);
				}
			}
		}
	}
}

void emu_cluster_exit(struct emu_block *b, const struct emu_warp *w, uint32_t m)
{
	struct emu_cluster *c = b->cluster;

	EMU_EACH(l, m) {
		uint32_t *arrived = &b->cluster_arrived[emu_thread_index(w, l)];

		c->threads--;
		if (*arrived == c->phase + 1)
			c->arrived--;
		*arrived = 0;
	}
	cluster_check(c);
}

static void tell_cluster(enum emu_tell_kind kind, struct emu_x *x, const struct emu_op *op,
			 uint32_t m, uint32_t group)
{
	struct emu_tell t = emu_tell_of(kind, x, op, m, group);

	if (m && emu_tells(op))
		emu_tell(&t);
}

static const struct emu_op *cluster_arrive(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct emu_cluster *c = x->b->cluster;
	uint32_t done = 0;

	EMU_EACH(l, m) {
		uint32_t *arrived = &x->b->cluster_arrived[emu_thread_index(x->w, l)];

		if (*arrived == c->phase + 1) {
			emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION, "arrives twice at the cluster barrier");
			done |= 1u << l;
			break;
		}
		*arrived = c->phase + 1;
		done |= 1u << l;
	}
	tell_cluster(TELL_CLUSTER_ARRIVE, x, op, done, x->mask);
	if (emu_m.fault)
		return NULL;
	c->arrived += (uint32_t)__builtin_popcount(m);
	cluster_check(c);
	return op + 1;
}

static const struct emu_op *cluster_wait(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct emu_cluster *c = x->b->cluster;
	uint32_t pending = 0;

	EMU_EACH(l, m) {
		uint32_t *arrived = &x->b->cluster_arrived[emu_thread_index(x->w, l)];

		if (!*arrived)
			return emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION,
					 "waits at the cluster barrier without having arrived");
		if (*arrived == c->phase + 1)
			pending |= 1u << l;
	}
	EMU_EACH(l, m & ~pending)
		x->b->cluster_arrived[emu_thread_index(x->w, l)] = 0;
	tell_cluster(TELL_CLUSTER_WAIT, x, op, m & ~pending, x->mask & ~pending);
	if (!pending)
		return op + 1;
	if (x->mask & ~pending)
		emu_split(x, x->mask & ~pending, op + 1, x->base);
	emu_park(x, GROUP_WAIT_CLUSTER, op);
	return NULL;
}

/* ---- proxy fences --------------------------------------------------------------------- */

enum { FENCE_SHARED = 1, FENCE_GLOBAL = 2 };

/* What was written is seen by the async proxy from now on, and what these threads read
 * is read. */
static const struct emu_op *proxy_fence(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	if (op->kind & FENCE_GLOBAL)
		emu_weak_global_fence(x->b);
	if (!(op->kind & FENCE_SHARED))
		return op + 1;
	emu_late_forget(x->w, m);
	for (unsigned r = 0; r < x->b->cluster->nblocks; r++)
		emu_weak_fence(x->b->cluster->block[r]);
	return op + 1;
}

/* ---- decoding ------------------------------------------------------------------------------ */

static bool dec_barrier(struct emu_dec *d, const struct ptx_inst *in)
{
	bool red = ptx_has(in, MOD_RED), arrive = ptx_has(in, MOD_ARRIVE);
	unsigned id = red ? 1 : 0, counted;
	struct emu_opnd o[4];
	struct emu_op *op;
	unsigned n = 0;

	if (in->nops < id + 1u + red)
		return emu_dec_refuse(d, "operands that do not fit the instruction");
	counted = in->nops - id - red == 2;
	if (red)
		o[n++] = emu_dec_word(d, &in->ops[0], true);
	o[n++] = emu_dec_word(d, &in->ops[id], false);
	o[n++] = counted ? emu_dec_word(d, &in->ops[id + 1], false) : emu_dec_const(d, 0);
	if (red)
		o[n++] = emu_dec_word(d, &in->ops[in->nops - 1], false);
	if (arrive && !counted)
		return emu_dec_refuse(d, "an arrival without a count");
	op = emu_dec_new(d);
	op->fn = barrier;
	op->nd = red;
	op->imm = counted;
	op->kind = !red ? (arrive ? BAR_ARRIVE : BAR_SYNC) : ptx_has(in, MOD_POPC) ? BAR_POPC :
		   ptx_has(in, MOD_AND) ? BAR_AND : BAR_OR;
	op->o = emu_dec_keep(d, o, n);
	return true;
}

bool emu_dec_sync(struct emu_dec *d, const struct ptx_inst *in)
{
	struct emu_op *op;

	switch (in->id) {
	case INST_BAR:
	case INST_BARRIER:
		return dec_barrier(d, in);
	case INST_BARRIER_CLUSTER_ARRIVE:
		emu_dec_new(d)->fn = cluster_arrive;
		return true;
	case INST_BARRIER_CLUSTER_WAIT:
		emu_dec_new(d)->fn = cluster_wait;
		return true;
	case INST_FENCE_PROXY_ASYNC:
	case INST_FENCE_PROXY_ASYNC_GENERIC:
		op = emu_dec_new(d);
		op->fn = proxy_fence;
		op->kind = ptx_has(in, MOD_GLOBAL) ? FENCE_GLOBAL :
			   ptx_inst_space(in) == SPACE_SHARED ||
			   in->id == INST_FENCE_PROXY_ASYNC_GENERIC ? FENCE_SHARED :
			   FENCE_SHARED | FENCE_GLOBAL;
		return true;
	case INST_MEMBAR:
	case INST_MEMBAR_PROXY:
	case INST_FENCE:
	case INST_FENCE_PROXY_ALIAS:
	case INST_FENCE_MBARRIER_INIT:
	case INST_FENCE_ACQUIRE_SYNC_RESTRICT_SHARED_CLUSTER:
	case INST_FENCE_RELEASE_SYNC_RESTRICT_SHARED_CTA:
		emu_dec_new(d)->fn = emu_op_nop;
		return true;
	default:
		return false;
	}
}
