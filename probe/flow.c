/* SPDX-License-Identifier: Apache-2.0
 *
 * flow.c: blocks of instructions, dominators, loops, and where registers are written.
 */
#include <string.h>

#include "probe/flow.h"

enum { BLOCKS_MAX = 4096 };     /* of a larger function nothing is found out */

/* ---- blocks ------------------------------------------------------------------------------------ */

static bool ends(const struct ptx_stmt *s)
{
	return s->kind == STMT_INST && ptx_leaves(&s->inst);
}

/* PTX ISA, ".aligned": all threads of the warp carry the instruction out; "bar.warp.sync" and others with a mask: all
 * that it names. */
static bool is_aligned(const struct ptx_inst *in)
{
	const struct ptx_operand *mask = ptx_operand(in, in->nops - 1u);

	if (in->guarded)
		return false;
	switch (in->id) {
	case INST_BAR_WARP_SYNC: case INST_SHFL_SYNC: case INST_VOTE_SYNC: case INST_REDUX_SYNC:
		return (mask->kind == OP_INT || mask->kind == OP_EXPR) && (uint32_t)mask->ival == 0xffffffff;
	default:
		return in->id == INST_BAR || ptx_has(in, MOD_ALIGNED);
	}
}

static void cut(struct flow *f)
{
	struct flow_block *b = NULL;
	uint32_t number = 0;

	for (struct ptx_stmt *s = f->f->body; s; s = s->next, number++) {
		if (!b || s->kind == STMT_LABEL) {
			b = &f->block[f->n++];
			b->first = s;
			b->number = number;
			b->next = b->target = b->idom = b->ipdom = b->loop = b->outer = FLOW_NONE;
		}
		if (s->kind == STMT_LABEL)
			s->sym->user = b;
		b->aligned |= s->kind == STMT_INST && is_aligned(&s->inst);
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

/* Where it jumps to; FLOW_NONE: to no label of the function, which ptxas will not take. */
static uint32_t target_of(const struct flow *f, const struct ptx_inst *in)
{
	const struct ptx_operand *o = in->nops ? &in->ops[0] : NULL;
	bool label = o && o->kind == OP_SYM && o->sym && o->sym->kind == SYM_LABEL;
	uintptr_t at = label ? (uintptr_t)o->sym->user - (uintptr_t)f->block : UINTPTR_MAX;

	return at < f->n * sizeof *f->block ? (uint32_t)(at / sizeof *f->block) : FLOW_NONE;
}

/* False: it has a jump whose targets are not known: by a table, where they are not looked for. */
static bool join(struct flow *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		struct flow_block *b = &f->block[i];
		const struct ptx_inst *in = ends(b->last) ? &b->last->inst : NULL;

		if (in && in->id == INST_BRX_IDX)
			return false;
		if ((!in || in->guarded) && i + 1 < f->n)
			b->next = i + 1;
		if (in && in->id == INST_BRA && (b->target = target_of(f, in)) == FLOW_NONE)
			return false;
		b->jump = in && in->guarded ? in : NULL;
		if (b->next != FLOW_NONE)
			f->block[b->next].ways_in++;
		if (b->target != FLOW_NONE && b->target != b->next)
			f->block[b->target].ways_in++;
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

/* Which blocks come before each one, in rows. */
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

/* Immediate dominators of a walk forth, or back: by going over the blocks until nothing changes.  Returns how many
 * the walk reaches. */
static uint32_t dominators(const struct flow *f, struct graph *g, bool back)
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
	return n;
}

/* ---- loops ----------------------------------------------------------------------------------------- */

static bool dominates(const struct flow *f, const struct graph *g, uint32_t a, uint32_t b)
{
	while (b != FLOW_NONE && g->place[b] < g->place[a])
		b = f->block[b].idom;
	return b == a;
}

/* Blocks of the loop that jumps back to its head come into it: those from which the jumps come, and what is before
 * them. */
static void mark_loop(struct flow *f, const struct graph *g, uint32_t head, uint32_t *stack, uint32_t *in)
{
	uint32_t depth = 0;

	for (uint32_t k = g->first[head]; k < g->first[head + 1]; k++)
		if (f->block[g->from[k]].reached && dominates(f, g, head, g->from[k]))
			stack[depth++] = g->from[k];
	if (!depth)
		return;
	f->block[head].outer = f->block[head].loop;
	f->block[head].loop = head;
	in[head] = head;
	while (depth) {
		uint32_t b = stack[--depth];

		if (in[b] == head)
			continue;
		in[b] = head;
		f->block[b].loop = head;
		for (uint32_t k = g->first[b]; k < g->first[b + 1]; k++)
			if (f->block[g->from[k]].reached)
				stack[depth++] = g->from[k];
	}
}

bool flow_in_loop(const struct flow *f, uint32_t block, uint32_t head)
{
	uint32_t loop = f->block[block].loop;

	while (loop != FLOW_NONE && loop != head)
		loop = f->block[loop].outer;
	return loop == head;
}

/* Can lanes go around a loop without being together? */
static bool keeps_together(const struct flow *f, uint32_t head)
{
	uint32_t *stack = ptx_alloc(f->arena, (2 * (size_t)f->n + 1) * sizeof *stack), depth = 0, to[2];
	uint8_t *seen = ptx_alloc(f->arena, f->n);

	if (f->block[head].aligned)
		return true;
	stack[depth++] = head;
	while (depth) {
		uint32_t b = stack[--depth];

		for (unsigned k = next_of(f, b, to); k--;) {
			if (to[k] == head)
				return false;
			if (to[k] == f->n || seen[to[k]] || f->block[to[k]].aligned || !flow_in_loop(f, to[k], head))
				continue;
			seen[to[k]] = 1;
			stack[depth++] = to[k];
		}
	}
	return true;
}

/* Loops around others come first: their heads dominate those.  `g` is a walk forth.  False: a loop has more than one
 * head. */
static bool find_loops(struct flow *f, const struct graph *g, uint32_t n)
{
	uint32_t *stack = ptx_alloc(f->arena, (2 * (size_t)g->n + 1) * sizeof *stack), *in = ptx_alloc(f->arena, g->n * sizeof *in), to[2];

	for (uint32_t b = 0; b < f->n; b++)
		for (unsigned k = f->block[b].reached ? next_of(f, b, to) : 0; k--;)
			if (g->place[to[k]] >= g->place[b] && !dominates(f, g, to[k], b))
				return false;
	memset(in, 0xff, g->n * sizeof *in);
	for (uint32_t i = n; i-- > 0;)
		if (g->order[i] != f->n)
			mark_loop(f, g, g->order[i], stack, in);
	for (uint32_t b = 0; b < f->n; b++)
		f->block[b].together = f->block[b].loop == b && keeps_together(f, b);
	return true;
}

bool flow_is_fresh(const struct flow *f, const struct ptx_sym *reg, uint32_t block, uint32_t number)
{
	const struct flow_def *d = &f->def[reg->reg];
	uint32_t head = d->stmt ? f->block[d->block].loop : FLOW_NONE;

	if (!d->stmt)
		return false;
	if (head == FLOW_NONE)          /* it is carried out once */
		return true;
	if (d->block == block)
		return d->number < number;
	if (!flow_in_loop(f, block, head))      /* lanes may have left it in different turns */
		return false;
	while (block != head && block != d->block)
		block = f->block[block].idom;
	return block == d->block;
}

static bool find_ways(struct flow *f)
{
	struct graph g = {.n = f->n + 1};
	uint32_t n;
	size_t size = g.n * sizeof *g.order;

	g.first = ptx_alloc(f->arena, size + sizeof *g.first);
	g.from = ptx_alloc(f->arena, 2 * size);
	g.order = ptx_alloc(f->arena, size);
	g.place = ptx_alloc(f->arena, size);
	g.idom = ptx_alloc(f->arena, size);
	g.seen = ptx_alloc(f->arena, g.n);
	rows_before(f, &g);
	n = dominators(f, &g, false);
	for (uint32_t b = 0; b < f->n; b++) {
		f->block[b].reached = g.seen[b];
		f->block[b].idom = b ? g.idom[b] : FLOW_NONE;
	}
	if (!find_loops(f, &g, n))
		return false;
	g.root = f->n;
	dominators(f, &g, true);
	for (uint32_t b = 0; b < f->n; b++)
		f->block[b].ipdom = g.idom[b] == f->n ? FLOW_NONE : g.idom[b];
	return true;
}

/* ---- ways ------------------------------------------------------------------------------------------ */

static void reach(const struct flow *f, uint32_t from, bool apart, uint8_t *set, uint8_t bit)
{
	uint32_t *stack = ptx_alloc(f->arena, (f->n + 1) * sizeof *stack), depth = 0, to[2];

	if (from == FLOW_NONE)
		return;
	set[from] |= bit;
	stack[depth++] = from;
	while (depth) {
		uint32_t b = stack[--depth];

		for (unsigned k = apart && f->block[b].aligned ? 0 : next_of(f, b, to); k--;)
			if (to[k] < f->n && !(set[to[k]] & bit)) {
				set[to[k]] |= bit;
				stack[depth++] = to[k];
			}
	}
}

void flow_ways(const struct flow *f, uint32_t block, bool apart, uint8_t *ways)
{
	memset(ways, 0, f->n);
	reach(f, f->block[block].next, apart, ways, 1);
	reach(f, f->block[block].target, apart, ways, 2);
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

unsigned flow_written(const struct ptx_inst *in)
{
	/* Of what is not known each operand may be one. */
	unsigned n = in->id == INST_UNKNOWN ? in->nops : in->id == INST_TCGEN05_LD_RED ? 2 : 1;

	return n < in->nops ? n : in->nops;
}

void flow_defs(const struct ptx_inst *in, void (*see)(void *, const struct ptx_sym *), void *arg)
{
	for (unsigned i = 0; i < flow_written(in); i++)
		see_operand(&in->ops[i], see, arg);
}

struct defs { struct flow *f; struct flow_def here; uint8_t *seen; };

static void see_def(void *arg, const struct ptx_sym *reg)
{
	struct defs *d = arg;

	d->f->def[reg->reg] = d->seen[reg->reg] ? (struct flow_def){0} : d->here;
	d->seen[reg->reg] = 1;
}

static void find_defs(struct flow *f)
{
	struct defs d = {.f = f, .seen = ptx_alloc(f->arena, (size_t)f->f->nregs + 1)};

	for (uint32_t b = 0, number = 0; b < f->n; b++)
		for (const struct ptx_stmt *s = f->block[b].first;; s = s->next) {
			d.here = (struct flow_def){s, b, number++};
			if (s->kind == STMT_INST)
				flow_defs(&s->inst, see_def, &d);
			if (s == f->block[b].last)
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
		in = f->def[base->sym->reg].stmt ? &f->def[base->sym->reg].stmt->inst : NULL;
		if (!in || (in->id != INST_MOV && in->id != INST_CVTA) || in->guarded)
			return -1;
		base = ptx_operand(in, 1);
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
	for (uint32_t b = 0; b < f->n; b++) {
		f->block[b].reached = f->block[b].meeting = true;
		f->block[b].loop = 0;
	}
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
	cut(f);
	if (!join(f) || f->n > BLOCKS_MAX || !f->n || !find_ways(f)) {
		nothing_known(f);
		return f;
	}
	find_defs(f);
	flow_shapes(f);
	return f;
}
