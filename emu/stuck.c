/* SPDX-License-Identifier: Apache-2.0
 *
 * stuck.c: do all who could go on only look for what nobody is left to do?  While nothing changes
 * what lanes look at, a lane does what its registers have it do: one that comes back to an
 * instruction with the registers it had there goes round for ever.  If that is so of each lane that
 * is ready, and no asynchronous operation is under way, nothing will ever change.
 *
 * A lane is followed as long as it executes what hangs on its registers and on its cluster's shared
 * memory alone, and changes neither memory nor what other lanes see of it: arithmetic, branches,
 * loads from shared memory, looks at mbarriers.  The host cannot reach any of that.  Registers that
 * gsan put in hold the time, and decide nothing of the program.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/emu.h"

enum {
	FIRST = 1 << 14,        /* turns of a machine until it is asked for the first time */
	STEPS = 4096            /* ops of a warp, in which its lanes must be back */
};

/* A warp when it is asked about, and what has been seen since. */
struct round {
	const struct emu_op *pc[EMU_LANES];
	uint32_t base[EMU_LANES];
	uint64_t *rows, *were;          /* registers then; before an op of gsan's */
	uint32_t *preds, *pwere;
	bool *ours, *pours;             /* by row: gsan's ops have changed it */
	unsigned nrows;
	uint32_t cc, away;              /* away: lanes that are not back yet */
};

/* ---- what a lane may execute ------------------------------------------------------------------ */

/* Does it tell other lanes of the warp something, or hang on which of them are there? */
static bool is_of_warp(enum ptx_inst_id id)
{
	switch (id) {
	case INST_SHFL:
	case INST_SHFL_SYNC:
	case INST_VOTE:
	case INST_VOTE_SYNC:
	case INST_MATCH_SYNC:
	case INST_ACTIVEMASK:
	case INST_REDUX_SYNC:
	case INST_ELECT_SYNC:
		return true;
	default:
		return false;
	}
}

/* May nobody but the cluster's lanes, or nobody at all, change what is there?  A store to local memory is not followed. */
static bool reads_own(enum ptx_space space)
{
	return space == SPACE_SHARED || space == SPACE_PARAM || space == SPACE_CONST || space == SPACE_LOCAL;
}

static bool only_looks(const struct emu_op *op)
{
	const struct ptx_inst *in;
	const struct ptx_inst_row *row;

	if (op->fn == emu_op_clock || !op->stmt || op->stmt->kind != STMT_INST)
		return false;
	in = &op->stmt->inst;
	row = &ptx_insts[in->id];
	switch (in->id) {
	case INST_MBARRIER_TEST_WAIT:
	case INST_MBARRIER_TRY_WAIT:
		return true;
	case INST_LD:
		return reads_own(ptx_inst_space(in));
	case INST_NANOSLEEP:
		return true;
	case INST_RET:
		return !op->func->entry;
	case INST_CALL:                         /* the last of its ops is the call itself */
		return op[1].stmt == op->stmt || (op->u.call->callee && !op->u.call->callee->builtin);
	case INST_EXIT:
	case INST_TRAP:
	case INST_BRKPT:
	case INST_PMEVENT:
	case INST_ALLOCA:
	case INST_STACKRESTORE:
	case INST_SETMAXNREG:
		return false;
	default:
		return row->model == MODEL_PLAIN && row->access == ACCESS_NONE && row->order == ORDER_NONE && !is_of_warp(in->id);
	}
}

/* Does it set a register of gsan's, and nothing else?  Where gsan's code looks at memory, it may wait for the host to read a log. */
static bool is_ours(const struct emu_op *op)
{
	const struct ptx_stmt *s = op->stmt;
	const struct ptx_operand *to = s && s->kind == STMT_INST && s->inst.nops ? &s->inst.ops[0] : NULL;

	return to && to->kind == OP_SYM && to->sym && !strncmp(to->sym->name, "%__gsan_", 8) &&
	       (op->fn == emu_op_clock || only_looks(op));
}

/* ---- rounds ------------------------------------------------------------------------------------- */

static void *copied(const void *from, size_t n)
{
	void *p = malloc(n ? n : 1);

	if (!p)
		abort();
	return memcpy(p, from, n);
}

static void begin(struct round *r, const struct emu_warp *w)
{
	const size_t rows = (size_t)w->nrows * EMU_LANES * sizeof *w->rows, preds = w->nrows * sizeof *w->preds;

	*r = (struct round){.nrows = w->nrows, .cc = w->cc};
	r->rows = copied(w->rows, rows);
	r->were = copied(w->rows, rows);
	r->preds = copied(w->preds, preds);
	r->pwere = copied(w->preds, preds);
	r->ours = calloc(w->nrows + 1, sizeof *r->ours);
	r->pours = calloc(w->nrows + 1, sizeof *r->pours);
	if (!r->ours || !r->pours)
		abort();
	for (unsigned i = 0; i < w->ngroups; i++) {
		if (w->group[i].state != GROUP_READY)
			continue;
		EMU_EACH(l, w->group[i].mask) {
			r->pc[l] = w->group[i].pc;
			r->base[l] = w->group[i].base;
		}
		r->away |= w->group[i].mask;
	}
}

static void end(struct round *r)
{
	free(r->rows);
	free(r->were);
	free(r->preds);
	free(r->pwere);
	free(r->ours);
	free(r->pours);
}

/* What an op of gsan's has changed since were[] and pwere[] is gsan's. */
static void note_ours(struct round *r, const struct emu_warp *w)
{
	for (unsigned i = 0; i < r->nrows; i++) {
		r->ours[i] |= memcmp(w->rows + i * EMU_LANES, r->were + i * EMU_LANES, EMU_LANES * sizeof *w->rows) != 0;
		r->pours[i] |= w->preds[i] != r->pwere[i];
	}
}

static bool same_registers(const struct round *r, const struct emu_warp *w, unsigned lane)
{
	for (unsigned i = 0; i < r->nrows; i++) {
		if (!r->ours[i] && w->rows[i * EMU_LANES + lane] != r->rows[i * EMU_LANES + lane])
			return false;
		if (!r->pours[i] && (w->preds[i] ^ r->preds[i]) >> lane & 1)
			return false;
	}
	return !((w->cc ^ r->cc) >> lane & 1);
}

static void note_back(struct round *r, const struct emu_warp *w, uint32_t moved)
{
	for (unsigned i = 0; i < w->ngroups; i++)
		EMU_EACH(l, w->group[i].mask & moved & r->away)
			if (w->group[i].pc == r->pc[l] && w->group[i].base == r->base[l] && same_registers(r, w, l))
				r->away &= ~(1u << l);
}

/* Is one of the lanes still at `op`?  It has not been executed, as it takes a while: weak.c. */
static bool is_there(const struct emu_warp *w, const struct emu_op *op, uint32_t lanes)
{
	if (op->stmt->inst.id == INST_BRA)
		return false;
	for (unsigned i = 0; i < w->ngroups; i++)
		if (w->group[i].pc == op && w->group[i].mask & lanes)
			return true;
	return false;
}

/* Executes the next op of group `i`; false if a lane may not, or does something else, too. */
static bool step(struct round *r, struct emu_warp *w, unsigned i)
{
	const struct emu_group g = w->group[i];
	const struct emu_op *op = g.pc;
	const bool ours = is_ours(op);
	struct emu_x x = {.w = w, .b = w->block, .mask = g.mask, .base = g.base, .budget = 1, .forced = true};
	uint32_t m = g.mask;

	if (!ours && !only_looks(op))
		return false;
	if (ours) {
		memcpy(r->were, w->rows, (size_t)r->nrows * EMU_LANES * sizeof *w->rows);
		memcpy(r->pwere, w->preds, r->nrows * sizeof *w->preds);
	}
	w->group[i] = w->group[--w->ngroups];
	x.bank[BANK_CONST] = w->block->grid->func->mod->consts;
	emu_x_banks(&x);
	if (op->guard >= 0)
		m &= op->guard_neg ? ~x.pred[op->guard] : x.pred[op->guard];
	op = m ? op->fn(&x, op, m) : op + 1;
	if (op)
		emu_park(&x, GROUP_READY, op);
	if (m && is_there(w, g.pc, g.mask))
		return false;
	w->ran++;
	emu_m.steps++;
	if (ours)
		note_ours(r, w);
	note_back(r, w, g.mask);
	return w->nrows == r->nrows;
}

/* The ready group that has waited longest; -1: there is none. */
static int oldest(const struct emu_warp *w)
{
	int best = -1;

	for (int i = 0; i < (int)w->ngroups; i++)
		if (w->group[i].state == GROUP_READY && (best < 0 || w->group[i].stamp < w->group[best].stamp))
			best = i;
	return best;
}

/* Do all ready lanes of the warp go round for ever, if nobody else does anything? */
static bool goes_round(struct emu_warp *w)
{
	struct round r;
	bool right = true;

	begin(&r, w);
	for (unsigned n = 0; right && r.away && n < STEPS && !emu_m.fault; n++) {
		const int i = oldest(w);

		right = i >= 0 && step(&r, w, (unsigned)i);
	}
	right = right && !r.away && !emu_m.fault;
	end(&r);
	return right;
}

bool emu_is_stuck(void)
{
	static uint64_t turns, next = FIRST;
	static uint64_t launches;

	if (launches != emu_m.grids_made) {
		launches = emu_m.grids_made;
		turns = 0;
		next = FIRST;
	}
	if (++turns < next || emu_m.patient || emu_m.timing || emu_m.async_due != UINT64_MAX)
		return false;
	next = turns * 2;
	for (unsigned i = 0; i < emu_m.nrun; i++)
		if (!goes_round(emu_m.run[i]))
			return false;
	if (emu_m.fault || emu_m.async_due != UINT64_MAX)
		return false;
	emu_deadlock();
	return true;
}
