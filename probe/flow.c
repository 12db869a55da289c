/* SPDX-License-Identifier: Apache-2.0
 *
 * flow.c: blocks of instructions, dominators, and where lanes meet.
 */
#include <string.h>

#include "probe/flow.h"

enum { BLOCKS_MAX = 4096 };     /* of a larger function nothing is found out */

/* ---- blocks ------------------------------------------------------------------------------------ */

static bool ends(const struct ptx_stmt *s)
{
	return s->kind == STMT_INST && ptx_leaves(&s->inst);
}

static void cut(struct flow *f)
{
	struct flow_block *b = NULL;

	for (struct ptx_stmt *s = f->f->body; s; s = s->next) {
		if (!b || s->kind == STMT_LABEL) {
			b = &f->block[f->n++];
			b->first = s;
			b->next = b->target = b->idom = b->ipdom = FLOW_NONE;
		}
		if (s->kind == STMT_LABEL)
			s->sym->user = b;
		b->last = s;
		if (ends(s))
			b = NULL;
	}
}

static uint32_t count(const struct ptx_func *f)
{
	uint32_t n = 1;

	for (const struct ptx_stmt *s = f->body; s; s = s->next)
		n += s->kind == STMT_LABEL || ends(s);
	return n;
}

/* False: it jumps who knows where. */
static bool join(struct flow *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		struct flow_block *b = &f->block[i];
		const struct ptx_inst *in = ends(b->last) ? &b->last->inst : NULL;

		if (in && in->id == INST_BRX_IDX)
			return false;
		if ((!in || in->guarded) && i + 1 < f->n)
			b->next = i + 1;
		if (in && in->id == INST_BRA)
			b->target = (uint32_t)((struct flow_block *)in->ops[0].sym->user - f->block);
		b->jump = in && in->guarded ? in : NULL;
	}
	return true;
}

/* ---- dominators ---------------------------------------------------------------------------------- */

/* A graph of blocks, forth or back; `exit` is one more, behind all that leave the function. */
struct graph {
	uint32_t n, root, *first, *from, *order, *place, *idom;
	uint8_t *seen;
};

static unsigned next_of(const struct flow *f, uint32_t b, uint32_t to[2])
{
	unsigned n = 0;

	if (b == f->n)
		return 0;
	if (f->block[b].next != FLOW_NONE)
		to[n++] = f->block[b].next;
	if (f->block[b].target != FLOW_NONE)
		to[n++] = f->block[b].target;
	if (!n || (f->block[b].jump && f->block[b].jump->id != INST_BRA && n < 2))
		to[n++] = f->n;
	return n;
}

/* Who comes before each block, in rows. */
static void rows_before(const struct flow *f, struct graph *g)
{
	uint32_t to[2], total;

	for (uint32_t b = 0; b < f->n; b++)
		for (unsigned k = next_of(f, b, to); k--;)
			g->first[to[k] + 1]++;
	for (uint32_t b = 0; b < g->n; b++)
		g->first[b + 1] += g->first[b];
	total = g->first[g->n];
	for (uint32_t b = f->n; b-- > 0;)
		for (unsigned k = next_of(f, b, to); k--;)
			g->from[--g->first[to[k] + 1]] = b;
	/* Each row has moved down to its start: it is that of the block before. */
	memmove(g->first, g->first + 1, g->n * sizeof *g->first);
	g->first[g->n] = total;
}

static unsigned around(const struct flow *f, const struct graph *g, bool back, uint32_t b, uint32_t k, uint32_t *to)
{
	uint32_t both[2];

	if (back) {
		*to = g->first[b] + k < g->first[b + 1] ? g->from[g->first[b] + k] : 0;
		return g->first[b] + k < g->first[b + 1];
	}
	if (k >= next_of(f, b, both))
		return 0;
	*to = both[k];
	return 1;
}

/* Blocks in the order in which a walk from the root leaves them: order[], and place[] in it. */
static uint32_t walk(const struct flow *f, struct graph *g, bool back, uint32_t *stack, uint32_t *at)
{
	uint32_t depth = 1, n = 0, to;

	stack[0] = g->root;
	g->seen[g->root] = 1;
	while (depth) {
		uint32_t b = stack[depth - 1];

		if (!around(f, g, back, b, at[b]++, &to)) {
			g->place[b] = n;
			g->order[n++] = b;
			depth--;
		} else if (!g->seen[to]) {
			g->seen[to] = 1;
			stack[depth++] = to;
		}
	}
	return n;
}

static uint32_t meet(const struct graph *g, uint32_t a, uint32_t b)
{
	while (a != b) {
		while (g->place[a] < g->place[b])
			a = g->idom[a];
		while (g->place[b] < g->place[a])
			b = g->idom[b];
	}
	return a;
}

/* Immediate dominators of a walk forth, or back: by going over the blocks until nothing changes. */
static void dominators(const struct flow *f, struct graph *g, bool back)
{
	uint32_t n, to;
	uint32_t *stack = ptx_alloc(f->arena, g->n * sizeof *stack), *at = ptx_alloc(f->arena, g->n * sizeof *at);

	memset(g->seen, 0, g->n);
	n = walk(f, g, back, stack, at);
	for (uint32_t b = 0; b < g->n; b++)
		g->idom[b] = FLOW_NONE;
	g->idom[g->root] = g->root;
	for (bool more = true; more;) {
		more = false;
		for (uint32_t i = n - 1; i-- > 0;) {
			uint32_t b = g->order[i], best = FLOW_NONE;

			for (uint32_t k = 0; around(f, g, !back, b, k, &to); k++)
				if (g->idom[to] != FLOW_NONE)
					best = best == FLOW_NONE ? to : meet(g, best, to);
			more |= best != g->idom[b];
			g->idom[b] = best;
		}
	}
}

static void find_dominators(struct flow *f)
{
	struct graph g = {.n = f->n + 1};
	size_t size = g.n * sizeof *g.order;

	g.first = ptx_alloc(f->arena, size + sizeof *g.first);
	g.from = ptx_alloc(f->arena, 2 * size);
	g.order = ptx_alloc(f->arena, size);
	g.place = ptx_alloc(f->arena, size);
	g.idom = ptx_alloc(f->arena, size);
	g.seen = ptx_alloc(f->arena, g.n);
	rows_before(f, &g);
	dominators(f, &g, false);
	for (uint32_t b = 0; b < f->n; b++) {
		f->block[b].reached = g.seen[b];
		f->block[b].idom = b ? g.idom[b] : FLOW_NONE;
	}
	g.root = f->n;
	dominators(f, &g, true);
	for (uint32_t b = 0; b < f->n; b++)
		f->block[b].ipdom = g.idom[b] == f->n ? FLOW_NONE : g.idom[b];
}

bool flow_dominates(const struct flow *f, uint32_t a, uint32_t b)
{
	while (b != FLOW_NONE && b != a)
		b = f->block[b].idom;
	return b == a;
}

/* ---- ways ------------------------------------------------------------------------------------------ */

static void reach(const struct flow *f, uint32_t from, uint8_t *set, uint8_t bit)
{
	uint32_t *stack = ptx_alloc(f->arena, (f->n + 1) * sizeof *stack), depth = 0, to[2];

	if (from == FLOW_NONE || set[from] & bit)
		return;
	set[from] |= bit;
	stack[depth++] = from;
	while (depth) {
		uint32_t b = stack[--depth];

		for (unsigned k = next_of(f, b, to); k--;)
			if (to[k] < f->n && !(set[to[k]] & bit)) {
				set[to[k]] |= bit;
				stack[depth++] = to[k];
			}
	}
}

void flow_both(const struct flow *f, uint32_t block, uint8_t *both)
{
	memset(both, 0, f->n);
	reach(f, f->block[block].next, both, 1);
	reach(f, f->block[block].target, both, 2);
}

static void find_loops(struct flow *f)
{
	uint8_t *set = ptx_alloc(f->arena, f->n + 1);
	uint32_t to[2];

	for (uint32_t b = 0; b < f->n; b++) {
		memset(set, 0, f->n);
		for (unsigned k = next_of(f, b, to); k--;)
			if (to[k] < f->n)
				reach(f, to[k], set, 1);
		f->block[b].loops = set[b];
	}
}

/* ---- registers --------------------------------------------------------------------------------------- */

static void see_operand(const struct ptx_operand *o, void (*see)(void *, const struct ptx_sym *), void *arg)
{
	if (o->kind == OP_SYM && o->sym && o->sym->kind == SYM_REG)
		see(arg, o->sym);
	if (o->kind == OP_VEC || o->kind == OP_PAIR || o->kind == OP_LIST)
		for (unsigned i = 0; i < o->n; i++)
			see_operand(&o->list[i], see, arg);
}

void flow_defs(const struct ptx_inst *in, void (*see)(void *, const struct ptx_sym *), void *arg)
{
	unsigned n = in->id == INST_TCGEN05_LD_RED ? 2 : 1;

	for (unsigned i = 0; i < n && i < in->nops; i++)
		see_operand(&in->ops[i], see, arg);
}

struct defs { struct flow *f; const struct ptx_stmt *s; uint32_t block; uint8_t *seen; };

static void see_def(void *arg, const struct ptx_sym *reg)
{
	struct defs *d = arg;

	d->f->def[reg->reg] = d->seen[reg->reg] ? NULL : d->s;
	d->f->home[reg->reg] = d->block;
	d->seen[reg->reg] = 1;
}

static void find_defs(struct flow *f)
{
	struct defs d = {.f = f, .seen = ptx_alloc(f->arena, (size_t)f->f->nregs + 1)};

	for (d.block = 0; d.block < f->n; d.block++)
		for (d.s = f->block[d.block].first;; d.s = d.s->next) {
			if (d.s->kind == STMT_INST)
				flow_defs(&d.s->inst, see_def, &d);
			if (d.s == f->block[d.block].last)
				break;
		}
}

int flow_param(const struct flow *f, const struct ptx_operand *base)
{
	const struct ptx_inst *in;
	int n = 0;

	/* Copies, of copies. */
	for (int i = 0; i < 8 && base->kind == OP_SYM && base->sym && !base->off; i++) {
		if (base->sym->kind != SYM_REG)
			break;
		in = f->def[base->sym->reg] ? &f->def[base->sym->reg]->inst : NULL;
		if (!in || (in->id != INST_MOV && in->id != INST_CVTA) || in->guarded)
			return -1;
		base = &in->ops[1];
	}
	if (base->kind != OP_SYM || !base->sym || base->sym->kind != SYM_VAR || base->off)
		return -1;
	for (const struct ptx_var *v = f->f->params; v; v = v->next, n++)
		if (v->sym == base->sym)
			return n;
	return -1;
}

/* ---- all ------------------------------------------------------------------------------------------------ */

static void nothing_known(struct flow *f)
{
	for (uint32_t b = 0; b < f->n; b++)
		f->block[b].reached = f->block[b].meeting = f->block[b].loops = true;
	for (int r = 0; r < f->f->nregs; r++)
		f->shape[r].kind = SHAPE_OWN;
}

struct flow *flow_of(struct ptx_arena *arena, const struct ptx_func *func)
{
	struct flow *f = ptx_alloc(arena, sizeof *f);
	size_t nregs = (size_t)func->nregs + 1;

	f->f = func;
	f->arena = arena;
	f->block = ptx_alloc(arena, (count(func) + 1) * sizeof *f->block);
	f->shape = ptx_alloc(arena, nregs * sizeof *f->shape);
	f->def = ptx_alloc(arena, nregs * sizeof *f->def);
	f->home = ptx_alloc(arena, nregs * sizeof *f->home);
	cut(f);
	if (!join(f) || f->n > BLOCKS_MAX || !f->n) {
		nothing_known(f);
		return f;
	}
	find_dominators(f);
	find_loops(f);
	find_defs(f);
	flow_shapes(f);
	return f;
}
