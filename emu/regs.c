/* SPDX-License-Identifier: Apache-2.0
 *
 * regs.c: rows for registers.  Compilers give every value a register of its own,
 * thousands in a large function; values that never live at the same time share a
 * row here, so that a warp's registers stay in the cache.
 *
 * A value is taken to live from its register's first mention to its last.  A
 * register of more than one basic block that is mentioned in a loop lives through
 * all of the loop.  Threads run on their own, but each follows the flow of control
 * and has its own column, so what holds for one thread holds for all.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "emu/emu.h"

struct value {
	const struct ptx_sym *sym;
	unsigned first, last;           /* instructions */
	unsigned block;
	bool shared;                    /* mentioned in several blocks, or used before set */
	bool late;                      /* set some time after its instruction */
};

struct loop { unsigned from, to; };

struct scan {
	struct value *value;            /* by ptx_sym.reg */
	unsigned nregs;
	unsigned at, block;
	struct loop *loops;
	unsigned nloops, caploops;
	unsigned last;
};

static void *array(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	if (!p)
		abort();
	return p;
}

static void mention(struct scan *s, const struct ptx_sym *sym, bool sets)
{
	struct value *v;

	if (!sym || sym->kind != SYM_REG || sym->reg < 0 || (unsigned)sym->reg >= s->nregs)
		return;
	v = &s->value[sym->reg];
	if (!v->sym) {
		v->sym = sym;
		v->first = s->at;
		v->block = s->block;
		v->shared = !sets || sym->vec > 1;
	} else if (v->block != s->block) {
		v->shared = true;
	}
	v->last = s->at;
}

static void operand(struct scan *s, const struct ptx_operand *p, bool sets)
{
	mention(s, p->sym, sets && p->kind != OP_ADDR);
	for (unsigned i = 0; i < p->n; i++)
		operand(s, &p->list[i], sets && p->kind != OP_ADDR);
}

/* Results of asynchronous instructions: nobody else may have their rows. */
static void late(struct scan *s, const struct ptx_operand *p)
{
	if (p->sym && p->sym->kind == SYM_REG && p->sym->reg >= 0 && (unsigned)p->sym->reg < s->nregs)
		s->value[p->sym->reg].late = true;
	for (unsigned i = 0; i < p->n; i++)
		late(s, &p->list[i]);
}

/* Whether the first operand, if it is not an address, is where the result goes. */
static bool has_result(const struct ptx_inst *in)
{
	switch (in->id) {
	case INST_UNKNOWN:
	case INST_BAR:
	case INST_BAR_WARP_SYNC:
	case INST_BARRIER:
	case INST_BRX_IDX:
	case INST_NANOSLEEP:
	case INST_STACKRESTORE:
		return false;
	case INST_CALL:
		return in->nops && in->ops[0].kind == OP_LIST;
	default:
		return ptx_insts[in->id].access != ACCESS_COPY;
	}
}

static void add_loop(struct scan *s, unsigned from, unsigned to)
{
	if (s->nloops == s->caploops) {
		s->caploops = s->caploops ? s->caploops * 2 : 32;
		s->loops = realloc(s->loops, s->caploops * sizeof *s->loops);
		if (!s->loops)
			abort();
	}
	s->loops[s->nloops++] = (struct loop){from, to};
}

/* A branch back to a label that has been seen; its number plus one is in user. */
static void branch(struct scan *s, const struct ptx_sym *to)
{
	if (to && to->kind == SYM_LABEL && to->user)
		add_loop(s, (unsigned)(uintptr_t)to->user - 1, s->at);
}

static void instruction(struct scan *s, const struct ptx_inst *in)
{
	bool sets = has_result(in) && !in->guarded;
	const struct ptx_sym *list = in->id == INST_BRX_IDX && in->nops > 1 ? in->ops[1].sym : NULL;
	const struct ptx_stmt *targets = list && list->kind == SYM_PROTO ? list->stmt : NULL;

	mention(s, in->guard, false);
	for (unsigned i = 1; i < in->nops; i++)         /* sources first: "add r, r, 1" */
		operand(s, &in->ops[i], false);
	if (in->nops)
		operand(s, &in->ops[0], sets);
	if ((in->id == INST_WGMMA_MMA_ASYNC || in->id == INST_WGMMA_MMA_ASYNC_SP ||
	     in->id == INST_TCGEN05_LD) && in->nops)
		late(s, &in->ops[0]);
	if (in->id == INST_BRA && in->nops)
		branch(s, in->ops[0].sym);
	for (unsigned i = 0; targets && targets->kind == STMT_TARGETS && i < targets->t.nops; i++)
		branch(s, targets->t.ops[i].sym);
	if (in->id == INST_BRA || in->id == INST_BRX_IDX)
		s->block++;
}

static void look(struct scan *s, const struct ptx_func *f)
{
	for (const struct ptx_stmt *t = f->body; t; t = t->next) {
		if (t->kind == STMT_LABEL) {
			t->sym->user = (void *)(uintptr_t)(s->at + 1);
			s->block++;
		} else if (t->kind == STMT_INST) {
			instruction(s, &t->inst);
			s->at++;
		}
	}
	s->last = s->at;
	for (const struct ptx_stmt *t = f->body; t; t = t->next)
		if (t->kind == STMT_LABEL)
			t->sym->user = NULL;
}

static int by_start(const void *a, const void *b)
{
	const struct loop *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* Loops that overlap become one. */
static void merge_loops(struct scan *s)
{
	unsigned n = 0;

	if (s->nloops)
		qsort(s->loops, s->nloops, sizeof *s->loops, by_start);
	for (unsigned i = 0; i < s->nloops; i++) {
		if (n && s->loops[i].from <= s->loops[n - 1].to) {
			if (s->loops[i].to > s->loops[n - 1].to)
				s->loops[n - 1].to = s->loops[i].to;
		} else {
			s->loops[n++] = s->loops[i];
		}
	}
	s->nloops = n;
}

static const struct loop *loop_at(const struct scan *s, unsigned at)
{
	unsigned lo = 0, hi = s->nloops;

	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;

		if (s->loops[mid].to < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->nloops && s->loops[lo].from <= at ? &s->loops[lo] : NULL;
}

static void stretch(struct scan *s)
{
	for (unsigned i = 0; i < s->nregs; i++) {
		struct value *v = &s->value[i];
		const struct loop *l;

		if (!v->sym || (!v->shared && !v->late))
			continue;
		l = loop_at(s, v->first);
		if (l)
			v->first = l->from;
		l = loop_at(s, v->last);
		if (l)
			v->last = l->to;
		if (v->late)
			v->last = UINT_MAX;
	}
}

/* ---- handing out ------------------------------------------------------------------- */

struct free_list { unsigned *at; unsigned n; };

struct event { unsigned at; unsigned reg; };

static int by_at(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->reg < y->reg ? -1 : x->reg > y->reg;
}

static void hand_out(struct emu_dec *d, const struct scan *s)
{
	struct event *start = array(s->nregs, sizeof *start), *end = array(s->nregs, sizeof *end);
	struct free_list rows = {array(s->nregs, sizeof(unsigned)), 0};
	struct free_list preds = {array(s->nregs, sizeof(unsigned)), 0};
	unsigned n = 0, done = 0;

	for (unsigned i = 0; i < s->nregs; i++) {
		if (!s->value[i].sym || d->regs[i].kind)
			continue;
		start[n] = (struct event){s->value[i].first, i};
		end[n++] = (struct event){s->value[i].last, i};
	}
	qsort(start, n, sizeof *start, by_at);
	qsort(end, n, sizeof *end, by_at);
	for (unsigned i = 0; i < n; i++) {
		struct emu_opnd *o = &d->regs[start[i].reg];
		const struct ptx_sym *sym = s->value[start[i].reg].sym;
		bool pred = sym->type == TYPE_PRED;
		struct free_list *list = pred ? &preds : &rows;

		/* One that ends here may not give its row to one that starts here: an
		 * instruction may write a result before it has read all sources. */
		for (; done < n && end[done].at < start[i].at; done++) {
			const struct emu_opnd *e = &d->regs[end[done].reg];

			if (emu_reg_words(s->value[end[done].reg].sym) != 1)
				continue;
			if (e->kind == OPND_PRED)
				preds.at[preds.n++] = e->at;
			else
				rows.at[rows.n++] = e->at / EMU_LANES;
		}
		if (list->n && emu_reg_words(sym) == 1)
			*o = emu_reg_at(sym, list->at[--list->n]);
		else
			emu_reg_new(d, sym);
	}
	free(start);
	free(end);
	free(rows.at);
	free(preds.at);
}

void emu_regs(struct emu_dec *d)
{
	struct scan s = {.nregs = d->f->ptx->nregs > 0 ? (unsigned)d->f->ptx->nregs : 0};

	s.value = array(s.nregs, sizeof *s.value);
	look(&s, d->f->ptx);
	merge_loops(&s);
	stretch(&s);
	hand_out(d, &s);
	free(s.value);
	free(s.loops);
}
