/* SPDX-License-Identifier: Apache-2.0
 *
 * spin.c: will those that still run do so for ever?  From time to time each lane that can run is followed, one op at a
 * time, as long as all that any of them does is to compute and to look at shared memory.  If each comes back to where it
 * was, with the same in all its registers, nothing is left that could change what they look at: so it goes on.  What
 * may have another effect, and what comes from outside (clocks, memory that the host or other blocks may write), ends
 * the trial, and nothing is said.  Registers that gsan put in hold the time, and decide nothing of the program: they are not
 * compared.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/access.h"
#include "emu/listen.h"

enum {
	FIRST = 1 << 15,                /* ops of a launch before the first trial, and between two at least */
	OPS_MOST = 256                  /* of a trial, for each group of a warp: a poll that ends after so many looks must not end in it */
};

/* A lane: where it was when it was looked at last, and its registers then. */
struct lane { const struct emu_op *pc; uint32_t base, ops, next; bool round; };
struct trial {
	struct emu_warp *w;
	unsigned nrows;
	uint64_t *kept;                 /* [lane][row]: registers, and then predicates */
	struct lane lane[EMU_LANES];
	uint64_t *were;                 /* the rows, and predicates, before an op of gsan's */
	uint32_t *pwere;
	bool *ours, *pours;             /* by row: such an op has changed it */
};

/* Who polls a word: what each lane looked at last in the trial. */
static struct spin { const struct emu_warp *w; struct emu_polled lane[EMU_LANES]; } *polled;
static unsigned npolled, cappolled;
static uint64_t due;

/* ---- what an op may do -------------------------------------------------------------------- */

static bool computes(const struct emu_op *op)
{
	switch (op->stmt->inst.id) {
	case INST_MOV: case INST_ADD: case INST_SUB: case INST_MUL: case INST_MAD: case INST_MIN: case INST_MAX: case INST_AND:
	case INST_OR: case INST_XOR: case INST_NOT: case INST_SHL: case INST_SHR: case INST_SETP: case INST_SELP: case INST_CVT:
	case INST_CVTA: case INST_REM: case INST_DIV: case INST_NEG: case INST_LOP3: case INST_BRA: case INST_NANOSLEEP:
	case INST_MBARRIER_TEST_WAIT: case INST_MBARRIER_TRY_WAIT:
		return op->fn != emu_op_clock;
	default:
		return false;
	}
}

static struct spin *spin_of(const struct emu_warp *w)
{
	for (unsigned i = 0; i < npolled; i++)
		if (polled[i].w == w)
			return &polled[i];
	if (npolled == cappolled) {
		cappolled = cappolled ? 2 * cappolled : 32;
		polled = realloc(polled, cappolled * sizeof *polled);
		if (!polled)
			abort();
	}
	memset(&polled[npolled], 0, sizeof *polled);
	polled[npolled].w = w;
	return &polled[npolled++];
}

/* Is what it reads in shared memory, or a parameter? */
static bool reads_inside(struct emu_x *x, const struct emu_op *op)
{
	enum emu_base base = op->u.mem.base;
	uint32_t m = x->mask;
	struct emu_spot spot;

	if (base == BASE_KPARAM || !(op->flags & EMU_F_ACCESS))
		return true;
	if (op->guard >= 0)
		m &= op->guard_neg ? ~x->pred[op->guard] : x->pred[op->guard];
	EMU_EACH(l, m) {
		uint64_t a = emu_addr_of(x, &op->u.mem, l);
		struct emu_polled *s;
		const void *p;

		if (!emu_locate(x->b, base, a, &spot) || !spot.owner || op->size > 8)
			return false;
		s = &spin_of(x->w)->lane[l];
		p = emu_at(x, l, base, a, op->size);
		if (!p)
			return false;
		*s = (struct emu_polled){op, spot.owner, spot.at, 0};
		memcpy(&s->value, p, op->size);
	}
	return true;
}

/* Is it gsan's, and sets registers alone?  Where gsan's code looks at memory, it may wait for the host to read a log. */
static bool is_ours(const struct emu_op *op)
{
	const struct ptx_stmt *s = op->stmt;

	return s && s->kind == STMT_INST && (s->inserted || emu_source_sets_ours(s)) && (op->fn == emu_op_clock || computes(op));
}

static bool is_harmless(struct emu_x *x, const struct emu_op *op)
{
	if (!op->stmt)
		return op->fn == emu_op_nop;
	if (is_ours(op))
		return true;
	if (op->stmt->kind != STMT_INST || op->stmt->inserted)
		return false;
	return op->stmt->inst.id == INST_LD ? reads_inside(x, op) : computes(op);
}

/* ---- one lane -------------------------------------------------------------------------------- */

static const struct emu_group *group_of(const struct emu_warp *w, unsigned l)
{
	for (unsigned i = 0; i < w->ngroups; i++)
		if (w->group[i].mask >> l & 1)
			return &w->group[i];
	return NULL;
}

static uint64_t *kept_of(const struct trial *t, unsigned l)
{
	return t->kept + (size_t)l * (2 * t->nrows + 1);
}

static bool is_as_kept(const struct trial *t, unsigned l)
{
	const uint64_t *kept = kept_of(t, l);

	for (unsigned r = 0; r < t->nrows; r++)
		if ((!t->ours[r] && kept[r] != t->w->rows[(size_t)r * EMU_LANES + l]) ||
		    (!t->pours[r] && kept[t->nrows + r] != (t->w->preds[r] >> l & 1)))
			return false;
	return kept[2 * t->nrows] == (t->w->cc >> l & 1);
}

static void keep(struct trial *t, unsigned l)
{
	uint64_t *kept = kept_of(t, l);

	for (unsigned r = 0; r < t->nrows; r++) {
		kept[r] = t->w->rows[(size_t)r * EMU_LANES + l];
		kept[t->nrows + r] = t->w->preds[r] >> l & 1;
	}
	kept[2 * t->nrows] = t->w->cc >> l & 1;
}

/* The lane has done an op: is it where it was?  It is looked at anew after 1, 2, 4 ops and so on, so that a round of any
 * length is found. */
static bool goes_round(struct trial *t, unsigned l)
{
	const struct emu_group *g = group_of(t->w, l);
	struct lane *a = &t->lane[l];

	if (!g || g->state != GROUP_READY)
		return false;
	a->round |= a->pc == g->pc && a->base == g->base && is_as_kept(t, l);
	if (++a->ops >= a->next) {
		a->next *= 2;
		a->pc = g->pc;
		a->base = g->base;
		keep(t, l);
	}
	return true;
}

/* ---- a warp -------------------------------------------------------------------------------------- */

static void before_ours(struct trial *t)
{
	memcpy(t->were, t->w->rows, (size_t)t->nrows * EMU_LANES * sizeof *t->were);
	memcpy(t->pwere, t->w->preds, t->nrows * sizeof *t->pwere);
}

static void behind_ours(struct trial *t)
{
	for (unsigned r = 0; r < t->nrows; r++) {
		size_t at = (size_t)r * EMU_LANES;

		t->ours[r] |= memcmp(t->w->rows + at, t->were + at, EMU_LANES * sizeof *t->were) != 0;
		t->pours[r] |= t->w->preds[r] != t->pwere[r];
	}
}

/* A group of which some lane has not come round; -1: there is none. */
static int next_group(const struct trial *t)
{
	for (unsigned i = 0; i < t->w->ngroups; i++)
		EMU_EACH(l, t->w->group[i].state == GROUP_READY ? t->w->group[i].mask : 0)
			if (!t->lane[l].round)
				return (int)i;
	return -1;
}

/* Has the lane not got past that op?  Then it waits for some time to pass (weak.c). */
static bool stays(const struct emu_warp *w, unsigned l, const struct emu_op *op)
{
	const struct emu_group *g = group_of(w, l);

	return g && g->pc == op && op->fn != emu_op_bra;
}

static bool follow(struct trial *t)
{
	unsigned left = OPS_MOST * t->w->ngroups;
	int i;

	while ((i = next_group(t)) >= 0) {
		struct emu_x x = {.w = t->w, .b = t->w->block, .mask = t->w->group[i].mask, .base = t->w->group[i].base};
		const struct emu_op *op = t->w->group[i].pc;
		uint32_t lanes = x.mask;

		emu_x_banks(&x);
		x.bank[BANK_CONST] = t->w->block->grid->func->mod->consts;
		if (!left-- || !is_harmless(&x, op))
			return false;
		if (is_ours(op))
			before_ours(t);
		emu_step_group(t->w, (unsigned)i);
		if (emu_m.fault || t->w->nrows != t->nrows)
			return false;
		if (is_ours(op))
			behind_ours(t);
		EMU_EACH(l, lanes)
			if (stays(t->w, l, op) || !goes_round(t, l))
				return false;
	}
	return true;
}

static bool warp_spins(struct emu_warp *w)
{
	struct trial t = {.w = w, .nrows = w->nrows};
	bool yes;

	t.kept = malloc((size_t)EMU_LANES * (2 * t.nrows + 1) * sizeof *t.kept);
	t.were = malloc((size_t)t.nrows * EMU_LANES * sizeof *t.were + 1);
	t.pwere = malloc(t.nrows * sizeof *t.pwere + 1);
	t.ours = calloc(t.nrows + 1, sizeof *t.ours);
	t.pours = calloc(t.nrows + 1, sizeof *t.pours);
	if (!t.kept || !t.were || !t.pwere || !t.ours || !t.pours)
		abort();
	for (unsigned l = 0; l < EMU_LANES; l++)
		t.lane[l].next = 1;
	yes = follow(&t);
	free(t.kept);
	free(t.were);
	free(t.pwere);
	free(t.ours);
	free(t.pours);
	return yes;
}

/* ---- all of them ------------------------------------------------------------------------------------ */

void emu_spin_begin(void)
{
	due = emu_m.steps + FIRST;
	npolled = 0;
}

bool emu_spins(void)
{
	if (emu_m.steps < due)
		return false;
	due = emu_m.steps + FIRST;
	if (emu_m.admit || emu_m.async_due != UINT64_MAX || emu_m.patient || emu_m.timing || emu_m.stepwise || !emu_m.nrun)
		return false;
	npolled = 0;
	for (unsigned i = 0; i < emu_m.nrun; i++)
		if (!warp_spins(emu_m.run[i])) {
			npolled = 0;
			return false;
		}
	return true;
}

const struct emu_polled *emu_spin_polled(const struct emu_warp *w, unsigned lane)
{
	for (unsigned i = 0; i < npolled; i++)
		if (polled[i].w == w)
			return polled[i].lane[lane].op ? &polled[i].lane[lane] : NULL;
	return NULL;
}
