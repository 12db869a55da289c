/* SPDX-License-Identifier: Apache-2.0
 *
 * stepwise.c: schedules that hang on the program alone.  A step is an instruction by
 * which threads can tell each other anything: an access to memory that is not
 * private, a barrier, what lanes do together, an end, a look at the clock.  Whatever
 * stands between two steps, calls of functions named __gsan_* with all that happens
 * in them included, takes no time: lanes are always found right before a step.  So
 * the same seed gives the same order of steps to a program and to what gsan made of
 * it, and both must leave the same in memory.
 *
 * By the seed, the warp that goes on is any, any for a while, or always the first in
 * a random order; the last is how a warp gets to the end before another has begun.
 */
#include <string.h>

#include "emu/emu.h"

enum {
	SLICE = 512,            /* ops of a group between two steps, until another may go on */
	SLICES = 1 << 15,       /* of them, until another warp may */
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
	if (row->order != ORDER_NONE)
		return true;
	switch (in->id) {
	case INST_SHFL:
	case INST_SHFL_SYNC:
	case INST_VOTE:
	case INST_VOTE_SYNC:
	case INST_MATCH_SYNC:
	case INST_REDUX_SYNC:
	case INST_ELECT_SYNC:
	case INST_ACTIVEMASK:
	case INST_WMMA_MMA:
	case INST_MMA:
	case INST_MMA_SP:
	case INST_EXIT:
	case INST_TRAP:
	case INST_NANOSLEEP:
		return true;
	default:
		return row->model == MODEL_SYNC || row->model == MODEL_COPY;
	}
}

static bool step_at(const struct emu_func *f, const struct emu_op *op)
{
	if (op->fn == emu_op_ret)
		return f->entry;
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
		bool ours = !strncmp(f->name, "__gsan_", 7);

		f->step = ptx_alloc(f->mod->ptx->arena, f->nops);
		for (unsigned i = 0; i < f->nops; i++)
			f->step[i] = !ours && step_at(f, &f->ops[i]);
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
		uint32_t m;

		if (is_step(op)) {
			/* Not awake: nobody makes room for it. */
			emu_park(x, GROUP_READY, op)->nap = true;
			return;
		}
		m = lanes_of(x, op);
		op = m ? op->fn(x, op, m) : op + 1;
		x->budget--;
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

/* Takes all lanes to their next step.  False: some wait for others, or go on and on. */
static bool settle(struct emu_warp *w)
{
	struct emu_x x = begin(w);
	uint64_t now = emu_m.steps;
	int i = 0;

	for (unsigned n = 0; n < SLICES && !emu_m.fault; n++) {
		const struct emu_op *pc;

		i = underway(&x);
		if (i < 0)
			break;
		pc = emu_take(&x, (unsigned)i);
		if (w->ngroups)
			emu_find_stop(&x, pc);
		emu_x_banks(&x);
		x.budget = SLICE;
		w->ran += SLICE;
		run(&x, pc);
		w->ran -= (uint64_t)x.budget;
	}
	emu_m.steps = now;              /* what asked for the time in between */
	gather(w);
	return i < 0;
}

/* One step of group `i`, or of some of its lanes. */
static void step(struct emu_warp *w, unsigned i, uint32_t lanes)
{
	struct emu_x x = begin(w);
	const struct emu_op *op = emu_take(&x, i);
	uint32_t m;

	emu_x_banks(&x);
	if ((x.mask & lanes) && (x.mask & ~lanes))
		emu_split(&x, x.mask & ~lanes, op, x.base);
	m = lanes_of(&x, op);
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

static struct emu_warp *first_in_order(void)
{
	struct emu_warp *best = NULL;

	for (unsigned i = 0; i < emu_m.nrun; i++) {
		struct emu_warp *w = emu_m.run[i];

		if (!w->place)
			w->place = 1 + (emu_random() >> 2);
		if (!best || w->place < best->place)
			best = w;
	}
	return best;
}

static struct emu_warp *next(void)
{
	static const uint8_t lengths[] = {1, 2, 3, 5, 8, 16, 32, 64, 128, 255};

	switch (policy()) {
	case ORDER:
	case BACKWARDS:
		return first_in_order();
	case ANY:
		return emu_m.run[emu_random() % emu_m.nrun];
	case WHILE:
		break;
	}
	if (emu_m.stays && emu_m.left) {
		emu_m.left--;
		return emu_m.stays;
	}
	if (emu_m.cursor >= emu_m.nrun)
		emu_m.cursor = 0;
	emu_m.left = emu_m.seed ? lengths[emu_random() % sizeof lengths] : 16;
	emu_m.stays = emu_m.run[emu_m.seed ? emu_random() % emu_m.nrun : emu_m.cursor++];
	return emu_m.stays;
}

/* Which of the groups that stand at a step, by their lowest lanes; -1: none does. */
static int choose(const struct emu_warp *w)
{
	unsigned n = 0, k;
	int at[EMU_LANES];

	for (int i = 0; i < (int)w->ngroups; i++) {
		if (w->group[i].state != GROUP_READY || !is_step(w->group[i].pc))
			continue;
		for (k = n++; k && __builtin_ctz(w->group[at[k - 1]].mask) >
				   __builtin_ctz(w->group[i].mask); k--)
			at[k] = at[k - 1];
		at[k] = i;
	}
	if (!n)
		return -1;
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
	struct emu_warp *w = next();
	uint32_t lanes = EMU_ALL;
	int i;

	if (!settle(w)) {               /* whom they wait for may be another's turn */
		emu_m.left = 0;
		w->place = UINT64_MAX / 2 + emu_m.turns++;
		return w;
	}
	if (emu_m.fault)
		return w;
	i = choose(w);
	if (i < 0)
		return w;
	if (emu_m.seed && policy() <= ANY && emu_random() % 8 == 0)
		lanes = (uint32_t)emu_random();
	step(w, (unsigned)i, lanes);
	if (w->steps % TURN == 0)
		w->place = UINT64_MAX / 2 + emu_m.turns++;
	return w;
}

EMU_API void emu_set_stepwise(int on)
{
	emu_m.stepwise = on;
}
