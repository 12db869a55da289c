/* SPDX-License-Identifier: Apache-2.0
 *
 * stepwise.c: schedules that hang on the program alone.  A step is an instruction by
 * which threads can tell each other anything: an access to memory that is not
 * private, a barrier, an end, a look at the clock or at who else is there.  Whatever
 * stands between two steps, what gsan put in included, takes no time: lanes are always
 * found right before a step, or waiting for others of their warp in an instruction with
 * a mask.  So the same seed gives the same order of steps to a program and to what
 * gsan made of it, and both must leave the same in memory.
 *
 * By the seed, the warp that goes on is any, any for a while, or always the first in
 * a random order; the last is how a warp gets to the end before another has begun.
 */
#include <string.h>
#include <time.h>

#include "emu/emu.h"

enum {
	SLICE = 512,            /* ops of a group between two steps, until another may go on */
	SLICES = 1 << 20,       /* of them, until another warp may: a copy is compared with all that it covers */
	TURN = 200              /* steps after which the first in the order is the last */
};

/* ---- what is a step --------------------------------------------------------------- */

static bool meets(const struct ptx_inst *in)
{
	const struct ptx_inst_row *row = &ptx_insts[in->id];

	if (row->access != ACCESS_NONE) {
		switch (ptx_inst_space(in)) {
		case SPACE_LOCAL:
		case SPACE_PARAM:
		case SPACE_CONST:
			return false;
		default:
			return true;
		}
	}
	/* With a mask, who takes part is not a matter of time. */
	if (row->order != ORDER_NONE)
		return row->order != ORDER_WARP_BARRIER && row->order != ORDER_TENSOR;
	switch (in->id) {
	case INST_SHFL:
	case INST_VOTE:
	case INST_ACTIVEMASK:
	case INST_EXIT:
	case INST_TRAP:
	case INST_NANOSLEEP:
		return true;
	default:
		return row->model == MODEL_SYNC || (row->access == ACCESS_COPY && row->model == MODEL_FULL && row->order == ORDER_NONE &&
			in->id != INST_WGMMA_MMA_ASYNC && in->id != INST_WGMMA_MMA_ASYNC_SP);
	}
}

static bool step_at(const struct emu_func *f, const struct emu_op *op)
{
	if (op->fn == emu_op_ret)
		return f->entry;
	if (op->stmt && op->stmt->inserted)
		return false;
	if (op->fn == emu_op_clock)
		return true;
	if (!op->stmt || op->stmt->kind != STMT_INST)
		return false;
	if (op->stmt->inst.id == INST_CALL)     /* the last of its ops is the call itself */
		return op[1].stmt != op->stmt && op->u.call->callee && op->u.call->callee->builtin;
	return meets(&op->stmt->inst);
}

static bool is_step(const struct emu_op *op)
{
	struct emu_func *f = op->func;

	if (!f->step) {
		f->step = ptx_alloc(f->mod->ptx->arena, f->nops);
		for (unsigned i = 0; i < f->nops; i++)
			f->step[i] = step_at(f, &f->ops[i]);
	}
	return f->step[op - f->ops];
}

/* ---- from one step to the next ------------------------------------------------------ */

static struct emu_x begin(struct emu_warp *w)
{
	struct emu_x x = {.w = w, .b = w->block};

	x.bank[BANK_CONST] = w->block->grid->func->mod->consts;
	return x;
}

static uint32_t lanes_of(struct emu_x *x, const struct emu_op *op)
{
	uint32_t p;

	if (op->guard < 0)
		return x->mask;
	p = x->pred[op->guard];
	return x->mask & (op->guard_neg ? ~p : p);
}

/* Runs x's lanes until they come to a step or stop before. */
static void run(struct emu_x *x, const struct emu_op *op)
{
	for (;;) {
		const struct emu_op *was = op;
		uint32_t m;

		if (is_step(op)) {
			/* Not awake: nobody makes room for it. */
			emu_park(x, GROUP_READY, op)->nap = true;
			return;
		}
		m = lanes_of(x, op);
		op = m ? op->fn(x, op, m) : op + 1;
		x->budget -= !was->stmt || !was->stmt->inserted;
		if (op && op == x->stop)
			op = emu_arrive(x, op);
		if (!op)
			return;
		if (x->budget <= 0) {
			emu_park(x, GROUP_READY, op);
			return;
		}
	}
}

/* The group that is on its way to a step and goes first; -1: there is none.  One that
 * waited long goes before all others, lest a group wait for it in a loop. */
static int underway(struct emu_x *x)
{
	struct emu_warp *w = x->w;
	int best = -1, oldest = -1;
	bool asleep = false;

	for (int i = 0; i < (int)w->ngroups; i++) {
		struct emu_group *g = &w->group[i], *b = &w->group[best < 0 ? 0 : best];

		if (g->state != GROUP_READY || is_step(g->pc))
			continue;
		if (oldest < 0 || g->stamp < w->group[oldest].stamp)
			oldest = i;
		if (g->nap)
			asleep = true;
		else if (best < 0 || (g->base != b->base ? g->base > b->base : g->pc < b->pc))
			best = i;
	}
	x->forced = oldest >= 0 && (best < 0 || w->ran - w->group[oldest].stamp > 4 * SLICE);
	for (unsigned k = 0; asleep && x->forced && k < w->ngroups; k++)
		if (!is_step(w->group[k].pc))
			w->group[k].nap = false;
	return x->forced ? oldest : best;
}

/* Lanes at the same step, in the same frame, are one group. */
static void gather(struct emu_warp *w)
{
	for (unsigned i = 0; i < w->ngroups; i++) {
		struct emu_group *g = &w->group[i];

		if (g->state != GROUP_READY)
			continue;
		for (unsigned k = w->ngroups; k-- > 0;) {
			struct emu_group *h = &w->group[k];

			if (k == i || h->pc != g->pc || h->base != g->base ||
			    (h->state != GROUP_READY && h->state != GROUP_WAIT_WARP))
				continue;
			g->mask |= h->mask;
			*h = w->group[--w->ngroups];
			if (i == w->ngroups)
				g = &w->group[i = k];
		}
	}
}

/* Group `i` and who is ready at the same place, which is returned.  Who waits there for
 * others goes on waiting: put together anew again and again, they would not end. */
static const struct emu_op *take(struct emu_x *x, unsigned i)
{
	struct emu_warp *w = x->w;
	const struct emu_group first = w->group[i];

	x->mask = 0;
	x->base = first.base;
	x->spin = false;
	x->stop = NULL;
	for (unsigned k = w->ngroups; k-- > 0;) {
		struct emu_group *g = &w->group[k];

		if (g->pc == first.pc && g->base == first.base && g->state == GROUP_READY) {
			x->mask |= g->mask;
			*g = w->group[--w->ngroups];
		}
	}
	emu_x_banks(x);
	if (w->ngroups)
		emu_find_stop(x, first.pc);
	return first.pc;
}

/* A probe asks the host for a piece of its log, and sleeps until it asks again (probe/refill.ptx).  Time that
 * this takes is no step. */
static bool asks(const struct emu_warp *w)
{
	for (unsigned i = 0; i < w->ngroups; i++) {
		const struct emu_group *g = &w->group[i];
		const struct ptx_stmt *done = g->pc > g->pc->func->ops ? g->pc[-1].stmt : NULL;

		if (g->state == GROUP_READY && g->nap && done && done->inserted && done->kind == STMT_INST &&
		    done->inst.id == INST_NANOSLEEP)
			return true;
	}
	return false;
}

/* Takes all lanes of the warp to their next step, unless they go on and on, or wait for the
 * host: false. */
static bool settle(struct emu_warp *w)
{
	struct emu_x x = begin(w);
	uint64_t now = emu_m.steps;
	bool waits = false;

	for (unsigned n = 0; n < SLICES && !emu_m.fault && !waits; n++) {
		int i = underway(&x);
		const struct emu_op *pc;

		if (i < 0)
			break;
		pc = take(&x, (unsigned)i);
		x.budget = SLICE;
		w->ran += SLICE;
		run(&x, pc);
		w->ran -= (uint64_t)x.budget;
		waits = asks(w);
	}
	emu_m.steps = now;              /* what asked for the time in between */
	if (!waits)
		gather(w);
	return !waits;
}

/* One step of all lanes of group `i`: what gsan puts behind it may need all of them. */
static void step(struct emu_warp *w, unsigned i)
{
	struct emu_x x = begin(w);
	const struct emu_op *op = take(&x, i);
	const uint32_t m = lanes_of(&x, op);

	if (m)
		op = op->fn(&x, op, m);
	else
		op++;
	if (op)
		emu_park(&x, GROUP_READY, op);
	w->steps++;
	emu_m.steps++;
}

/* ---- who goes on ------------------------------------------------------------------------ */

enum policy { WHILE, ANY, ORDER, BACKWARDS };

static enum policy policy(void)
{
	return emu_m.seed ? (enum policy)(emu_m.seed % 4) : WHILE;
}

/* A number for the warp that has nothing to do with what ran before. */
static uint64_t key(const struct emu_warp *w)
{
	const struct emu_block *b = w->block;
	const struct emu_grid *g = b->grid;
	uint64_t n = (b->ctaid[2] * (uint64_t)g->dim[1] + b->ctaid[1]) * g->dim[0] + b->ctaid[0];

	for (const struct emu_grid *p = emu_m.grids; p && p != g; p = p->next)
		n += UINT64_C(1) << 50;
	return n << 6 | w->index;
}

static uint64_t mixed(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static bool stands(const struct emu_warp *w)
{
	for (unsigned i = 0; i < w->ngroups; i++)
		if (w->group[i].state == GROUP_READY && is_step(w->group[i].pc))
			return true;
	return false;
}

static bool ready(const struct emu_warp *w)
{
	for (unsigned i = 0; i < w->ngroups; i++)
		if (w->group[i].state == GROUP_READY)
			return true;
	return false;
}

/* All warps to their next step: calls have barriers of their own.  False: not all are there. */
static bool settle_all(void)
{
	bool again, all;

	do {
		again = false;
		all = true;
		for (unsigned i = 0; i < emu_m.nrun && !emu_m.fault;) {
			struct emu_warp *w = emu_m.run[i];
			unsigned n = emu_m.nrun;

			all &= settle(w);
			again |= emu_m.nrun != n;
			if (ready(w))
				i++;
			else
				emu_warp_gone(w);
		}
	} while (again && !emu_m.fault);
	return all;
}

/* Of the warps that stand at a step the one to which `rank` gives the least. */
static struct emu_warp *least(uint64_t (*rank)(struct emu_warp *, uint64_t), uint64_t arg)
{
	struct emu_warp *best = NULL;
	uint64_t low = 0;

	for (unsigned i = 0; i < emu_m.nrun; i++) {
		struct emu_warp *w = emu_m.run[i];
		uint64_t r;

		if (!stands(w))
			continue;
		r = rank(w, arg);
		if (!best || r < low) {
			best = w;
			low = r;
		}
	}
	return best;
}

static uint64_t by_chance(struct emu_warp *w, uint64_t r)
{
	return mixed(r ^ key(w) * UINT64_C(0x9e3779b97f4a7c15));
}

static uint64_t by_place(struct emu_warp *w, uint64_t r)
{
	if (!w->place)
		w->place = 1 + (by_chance(w, r) >> 2);
	return w->place;
}

static uint64_t by_turns(struct emu_warp *w, uint64_t last)
{
	return key(w) - last - 1;
}

static struct emu_warp *next(void)
{
	static const uint8_t lengths[] = {1, 2, 3, 5, 8, 16, 32, 64, 128, 255};

	switch (policy()) {
	case ORDER:
	case BACKWARDS:
		return least(by_place, emu_m.seed);
	case ANY:
		return least(by_chance, emu_random());
	case WHILE:
		break;
	}
	if (emu_m.stays && emu_m.left && stands(emu_m.stays)) {
		emu_m.left--;
		return emu_m.stays;
	}
	if (emu_m.seed) {
		emu_m.left = lengths[emu_random() % sizeof lengths];
		emu_m.stays = least(by_chance, emu_random());
	} else {
		emu_m.left = 16;
		emu_m.stays = least(by_turns, emu_m.last);
		emu_m.last = emu_m.stays ? key(emu_m.stays) : 0;
	}
	return emu_m.stays;
}

/* Which of the groups that stand at a step, by their lowest lanes. */
static unsigned choose(const struct emu_warp *w)
{
	unsigned n = 0, k, at[EMU_LANES];

	for (unsigned i = 0; i < w->ngroups; i++) {
		if (w->group[i].state != GROUP_READY || !is_step(w->group[i].pc))
			continue;
		for (k = n++; k && __builtin_ctz(w->group[at[k - 1]].mask) >
				   __builtin_ctz(w->group[i].mask); k--)
			at[k] = at[k - 1];
		at[k] = i;
	}
	k = (unsigned)(w->steps / 32);
	switch (policy()) {
	case ORDER:
		return at[k % n];
	case BACKWARDS:
		return at[n - 1 - k % n];
	case WHILE:
	case ANY:
		break;
	}
	return at[emu_m.seed ? emu_random() % n : k % n];
}

struct emu_warp *emu_step(void)
{
	static const struct timespec pause = {.tv_nsec = 20000};
	struct emu_warp *w;

	if (!settle_all()) {
		nanosleep(&pause, NULL);
		return NULL;
	}
	w = emu_m.fault ? NULL : next();
	if (!w)
		return NULL;
	step(w, choose(w));
	if (w->steps % TURN == 0)
		w->place = UINT64_MAX / 2 + emu_m.turns++;
	return w;
}

EMU_API void emu_set_stepwise(int on)
{
	emu_m.stepwise = on;
}
