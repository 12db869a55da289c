/* SPDX-License-Identifier: Apache-2.0
 *
 * shape.c: what a register holds in lanes that are together, by a fixpoint over all instructions: a
 * shape only grows.  Where lanes may have come by different ways, a register that was set on one of
 * them is each lane's own; and so is, where they may have left a loop in different turns, one that was
 * set in it, unless each turn sets it to the same.
 */
#include <string.h>

#include "probe/flow.h"

static const struct shape same = {SHAPE_SAME, 0, 0}, own = {SHAPE_OWN, 0, 0};

enum { THREADS = 5 };           /* a row's threads differ in so many bits */

static struct shape row(int64_t step, unsigned zeros)
{
	return step ? (struct shape){SHAPE_ROW, (uint8_t)(zeros > 63 ? 63 : zeros), step} : same;
}

static struct shape both(struct shape a, struct shape b)
{
	if (a.kind == SHAPE_UNSET || b.kind == SHAPE_UNSET)
		return a.kind == SHAPE_UNSET ? b : a;
	if (a.kind == SHAPE_SAME && b.kind == SHAPE_SAME)
		return same;
	if (a.kind == SHAPE_ROW && b.kind == SHAPE_ROW && a.step == b.step)
		return row(a.step, a.zeros < b.zeros ? a.zeros : b.zeros);
	return own;
}

/* ---- operands ---------------------------------------------------------------------------------------- */

static bool constant(const struct ptx_operand *o, uint64_t *v)
{
	*v = o->ival;
	return o->kind == OP_INT || o->kind == OP_EXPR;
}

static unsigned zeros_of(uint64_t v)
{
	return v ? (unsigned)__builtin_ctzll(v) : 63;
}

static struct shape of_sreg(const struct ptx_operand *o)
{
	switch ((enum ptx_sreg)o->sym->reg) {
	case SREG_TID:
		return o->elem == 'x' ? row(1, THREADS) : o->elem ? same : own;
	case SREG_LANEID:
		return row(1, 0);
	case SREG_NTID:
	case SREG_CTAID:
	case SREG_NCTAID:
	case SREG_GRIDID:
	case SREG_IS_EXPLICIT_CLUSTER:
	case SREG_CLUSTERID:
	case SREG_NCLUSTERID:
	case SREG_CLUSTER_CTAID:
	case SREG_CLUSTER_NCTAID:
	case SREG_CLUSTER_CTARANK:
	case SREG_CLUSTER_NCTARANK:
		return same;
	default:
		return own;
	}
}

struct shape flow_shape(const struct flow *f, const struct ptx_operand *o)
{
	switch (o->kind) {
	case OP_INT:
	case OP_FLOAT:
	case OP_EXPR:
		return same;
	case OP_ADDR:
		return flow_shape(f, &o->list[0]);
	case OP_SYM:
		if (!o->sym || o->neg)
			return own;
		if (o->sym->kind == SYM_SREG)
			return of_sreg(o);
		/* Where a variable of local memory is, is the same; what is there is not. */
		return o->sym->kind == SYM_VAR || o->sym->kind == SYM_FUNC ? same :
		       o->sym->kind == SYM_REG && !o->elem ? f->shape[o->sym->reg] : own;
	default:
		return own;
	}
}

/* ---- arithmetic ------------------------------------------------------------------------------------------ */

static struct shape sum(struct shape a, struct shape b, bool minus, const struct ptx_operand *with)
{
	uint64_t v = 0;
	unsigned zeros = constant(with, &v) ? zeros_of(v) : 0;

	if (a.kind == SHAPE_UNSET || b.kind == SHAPE_UNSET)
		return (struct shape){0};
	if (a.kind == SHAPE_OWN || b.kind == SHAPE_OWN)
		return own;
	if (a.kind == SHAPE_SAME && b.kind == SHAPE_SAME)
		return same;
	if (a.kind == SHAPE_ROW && b.kind == SHAPE_ROW)
		return row(minus ? a.step - b.step : a.step + b.step, 0);
	if (a.kind == SHAPE_ROW)
		return row(a.step, a.zeros < zeros ? a.zeros : zeros);
	return row(minus ? -b.step : b.step, 0);
}

static struct shape times(struct shape a, const struct ptx_operand *by, const struct shape b)
{
	uint64_t v;

	if (a.kind == SHAPE_UNSET || b.kind == SHAPE_UNSET)
		return (struct shape){0};
	if (a.kind == SHAPE_SAME && b.kind == SHAPE_SAME)
		return same;
	if (a.kind != SHAPE_ROW || !constant(by, &v))
		return own;
	return row((int64_t)((uint64_t)a.step * v), a.zeros + zeros_of(v));
}

static struct shape product(const struct flow *f, const struct ptx_operand *a, const struct ptx_operand *b)
{
	uint64_t v;

	return constant(a, &v) ? times(flow_shape(f, b), a, flow_shape(f, a)) : times(flow_shape(f, a), b, flow_shape(f, b));
}

/* The bits in which the threads of a row differ, if nothing else is there: step is a power of two, and the rest
 * has zeros there; and if all of them are in a register of 32 bits, below its sign. */
static bool own_bits(struct shape a, uint64_t *bits)
{
	unsigned low = zeros_of((uint64_t)a.step);

	*bits = (uint64_t)((1 << THREADS) - 1) << low;
	return a.kind == SHAPE_ROW && a.step == INT64_C(1) << low && a.zeros >= low + THREADS && low + THREADS < 32;
}

static struct shape masked(struct shape a, const struct ptx_operand *with)
{
	uint64_t v, bits;

	if (!constant(with, &v) || !own_bits(a, &bits))
		return own;
	return !(v & bits) ? same : (v & bits) == bits ? a : own;
}

static struct shape joined(struct shape a, const struct ptx_operand *with)
{
	uint64_t v, bits;

	return constant(with, &v) && own_bits(a, &bits) && !(v & bits) ? row(a.step, zeros_of(v) < a.zeros ? zeros_of(v) : a.zeros) : own;
}

static struct shape shifted(struct shape a, const struct ptx_operand *by)
{
	uint64_t v, bits;

	if (!constant(by, &v) || v > 63 || !own_bits(a, &bits))
		return own;
	if (!(bits >> v))
		return same;
	return bits >> v << v == bits ? row(a.step >> v, a.zeros - (unsigned)v) : own;
}

/* ---- instructions ------------------------------------------------------------------------------------------- */

static bool all_same(const struct flow *f, const struct ptx_inst *in)
{
	for (unsigned i = 1; i < in->nops; i++) {
		const struct ptx_operand *o = &in->ops[i];

		for (unsigned k = 0; k < (o->kind == OP_VEC ? o->n : 1u); k++)
			if (flow_shape(f, o->kind == OP_VEC ? &o->list[k] : o).kind != SHAPE_SAME)
				return false;
	}
	return true;
}

static bool any_unset(const struct flow *f, const struct ptx_inst *in)
{
	for (unsigned i = 1; i < in->nops; i++) {
		const struct ptx_operand *o = &in->ops[i];

		for (unsigned k = 0; k < (o->kind == OP_VEC ? o->n : 1u); k++)
			if (flow_shape(f, o->kind == OP_VEC ? &o->list[k] : o).kind == SHAPE_UNSET)
				return true;
	}
	return false;
}

/* Is the result made of the operands alone, and by each lane for itself? */
static bool computes(const struct ptx_inst *in)
{
	switch (in->id) {
	case INST_SHFL: case INST_SHFL_SYNC: case INST_VOTE: case INST_VOTE_SYNC: case INST_MATCH_SYNC:
	case INST_ACTIVEMASK: case INST_REDUX_SYNC: case INST_ELECT_SYNC: case INST_CALL: case INST_ALLOCA:
	case INST_STACKSAVE: case INST_TXQ: case INST_SUQ: case INST_ISTYPEP: case INST_WMMA_MMA: case INST_MMA:
	case INST_MMA_SP: case INST_MOVMATRIX: case INST_MBARRIER_PENDING_COUNT: case INST_ADDC: case INST_SUBC:
	case INST_MADC: case INST_CLUSTERLAUNCHCONTROL_QUERY_CANCEL: case INST_UNKNOWN:
		return false;
	default:
		return ptx_insts[in->id].model == MODEL_PLAIN;
	}
}

/* A value that one lane has for all: with all lanes there, from the same of them. */
static bool told_to_all(const struct flow *f, const struct ptx_inst *in)
{
	const struct ptx_operand *mask = ptx_operand(in, in->nops - 1u);
	uint64_t v;
	bool whole = constant(mask, &v) && (uint32_t)v == 0xffffffff;

	if (in->id == INST_SHFL_SYNC)
		return whole && in->nops == 5 && ptx_has(in, MOD_IDX) && constant(&in->ops[3], &v) && v == 31 &&
		       flow_shape(f, &in->ops[2]).kind == SHAPE_SAME;
	return whole && (in->id == INST_VOTE_SYNC || in->id == INST_REDUX_SYNC);
}

static bool is_param(const struct flow *f, const struct ptx_sym *s)
{
	for (const struct ptx_var *v = f->f->params; v; v = v->next)
		if (v->sym == s)
			return f->f->entry;
	return false;
}

static struct shape loaded(const struct flow *f, const struct ptx_inst *in)
{
	const struct ptx_operand *from = ptx_operand(in, 1), *base = from->list;

	if (in->id != INST_LD || from->kind != OP_ADDR)
		return own;
	if (in->space == SPACE_PARAM)
		return base->kind == OP_SYM && base->sym && is_param(f, base->sym) ? same : own;
	return in->space == SPACE_CONST ? (flow_shape(f, base).kind == SHAPE_SAME ? same : own) : own;
}

static struct shape of_operands(const struct flow *f, const struct ptx_inst *in)
{
	const struct ptx_operand *a = &in->ops[1], *b = &in->ops[in->nops > 2 ? 2 : 1];
	struct shape x = flow_shape(f, a);

	switch (in->id) {
	case INST_MOV:
	case INST_CVTA:
		return a->kind == OP_SYM ? x : own;
	case INST_CVT:
		return x.kind == SHAPE_ROW && (ptx_type_bits(in->type2) < 32 || ptx_type_bits(in->type) < 32 || in->nmods > 2) ? own : x;
	case INST_ADD:
		return sum(x, flow_shape(f, b), false, x.kind == SHAPE_ROW ? b : a);
	case INST_SUB:
		return sum(x, flow_shape(f, b), true, b);
	case INST_MUL:
		return ptx_has(in, MOD_HI) ? own : product(f, a, b);
	case INST_MAD:
		if (ptx_has(in, MOD_HI))
			return own;
		x = product(f, a, b);
		return sum(x, flow_shape(f, ptx_operand(in, 3)), false, ptx_operand(in, 3));
	case INST_SHL: {
		struct ptx_operand by = *b;

		by.ival = UINT64_C(1) << (b->ival & 63);
		return b->kind == OP_INT && b->ival < 64 ? times(x, &by, same) : own;
	}
	case INST_SHR:
		return shifted(x, b);
	case INST_AND:
		return masked(x, b);
	case INST_OR:
		return joined(x, b);
	default:
		return own;
	}
}

static bool integral(enum ptx_type t)
{
	return t == TYPE_U32 || t == TYPE_S32 || t == TYPE_B32 || t == TYPE_U64 || t == TYPE_S64 || t == TYPE_B64;
}

/* Of what the instruction writes. */
static struct shape result(const struct flow *f, const struct ptx_inst *in)
{
	if (ptx_insts[in->id].access == ACCESS_LOAD)
		return loaded(f, in);
	if (told_to_all(f, in))
		return same;
	if (in->nops < 2 || !computes(in))
		return own;
	if (any_unset(f, in))
		return (struct shape){0};
	if (all_same(f, in))
		return same;
	/* Parts of a value do not step as it does. */
	return integral(in->type) && in->ops[0].kind == OP_SYM ? of_operands(f, in) : own;
}

/* ---- the fixpoint --------------------------------------------------------------------------------------------- */

struct round { struct flow *f; const struct ptx_inst *in; uint32_t block; struct shape shape; uint8_t *apart; bool changed; };

static void grow(struct round *r, const struct ptx_sym *reg, struct shape by)
{
	struct shape *s = &r->f->shape[reg->reg], was = *s;

	*s = both(was, by);
	/* A step or zeros that go on changing. */
	if (was.kind == SHAPE_ROW && s->kind == SHAPE_ROW && s->zeros != was.zeros)
		s->zeros = 0;
	r->changed |= memcmp(&was, s, sizeof was) != 0;
}

static void set_result(void *arg, const struct ptx_sym *reg)
{
	struct round *r = arg;
	const struct ptx_sym *guard = ptx_guard(r->in);
	bool partly = r->in->guarded && !(guard && r->f->shape[guard->reg].kind == SHAPE_SAME);
	bool once = r->f->def[reg->reg].stmt && !flow_loops(r->f, r->block);

	grow(r, reg, partly && !once ? own : r->shape);
}

static void see_all(struct round *r)
{
	for (uint32_t b = 0; b < r->f->n; b++)
		for (const struct ptx_stmt *s = r->f->block[b].first;; s = s->next) {
			if (s->kind == STMT_INST && r->f->block[b].reached) {
				r->in = &s->inst;
				r->block = b;
				r->shape = result(r->f, r->in);
				flow_defs(r->in, set_result, r);
			}
			if (s == r->f->block[b].last)
				break;
		}
}

/* ---- ways that come together -------------------------------------------------------------------------------------- */

/* Where lanes part: the registers that may be set differently from there on. */
struct split { struct round *r; uint8_t *set; };

static void set_between(void *arg, const struct ptx_sym *reg)
{
	struct split *s = arg;

	s->set[reg->reg] = 1;
}

static void find_set(struct split *x, uint32_t b)
{
	const struct flow *f = x->r->f;

	for (const struct ptx_stmt *s = f->block[b].first;; s = s->next) {
		if (s->kind == STMT_INST)
			flow_defs(&s->inst, set_between, x);
		if (s == f->block[b].last)
			break;
	}
}

struct use { uint32_t block, number; };

static void use_register(struct split *x, const struct ptx_sym *reg, struct use at)
{
	if (x->set[reg->reg] && !flow_is_fresh(x->r->f, reg, at.block, at.number))
		grow(x->r, reg, own);
}

static void use(struct split *x, const struct ptx_operand *o, struct use at)
{
	if (o->kind == OP_SYM && o->sym && o->sym->kind == SYM_REG)
		use_register(x, o->sym, at);
	if (o->kind == OP_VEC || o->kind == OP_PAIR || o->kind == OP_LIST || o->kind == OP_ADDR)
		for (unsigned i = 0; i < o->n; i++)
			use(x, &o->list[i], at);
}

static void find_used(struct split *x, uint32_t b)
{
	const struct flow *f = x->r->f;
	struct use at = {b, f->block[b].number};

	for (const struct ptx_stmt *s = f->block[b].first;; s = s->next, at.number++) {
		if (s->kind == STMT_INST) {
			for (unsigned i = 0; i < s->inst.nops; i++)
				if (i >= flow_written(&s->inst) || s->inst.ops[i].kind == OP_ADDR || s->inst.id == INST_UNKNOWN)
					use(x, &s->inst.ops[i], at);
			if (ptx_guard(&s->inst))
				use_register(x, ptx_guard(&s->inst), at);
		}
		if (s == f->block[b].last)
			break;
	}
}

/* Blocks behind a jump and before where all its ways meet. */
static void find_between(const struct flow *f, uint32_t jump, uint8_t *between)
{
	uint32_t *stack = ptx_alloc(f->arena, (f->n + 2) * 2 * sizeof *stack), depth = 0, end = f->block[jump].ipdom;

	memset(between, 0, f->n);
	stack[depth++] = f->block[jump].next;
	stack[depth++] = f->block[jump].target;
	while (depth) {
		uint32_t b = stack[--depth];

		if (b == FLOW_NONE || b == end || between[b])
			continue;
		between[b] = 1;
		stack[depth++] = f->block[b].next;
		stack[depth++] = f->block[b].target;
	}
}

static bool is_set(const struct split *x, const struct ptx_operand *o)
{
	bool any = o->kind == OP_SYM && o->sym && o->sym->kind == SYM_REG && x->set[o->sym->reg];

	if (o->kind == OP_VEC || o->kind == OP_PAIR || o->kind == OP_LIST || o->kind == OP_ADDR)
		for (unsigned i = 0; i < o->n; i++)
			any = any || is_set(x, &o->list[i]);
	return any;
}

/* Does the statement make its register of what is not set between, and nobody else that register? */
static bool is_repeated(const struct split *x, const struct ptx_stmt *s)
{
	const struct ptx_inst *in = &s->inst;
	const struct ptx_operand *to = &in->ops[0];
	bool repeated = s->kind == STMT_INST && in->nops > 1 && !in->guarded && computes(in) && to->kind == OP_SYM && to->sym &&
			to->sym->kind == SYM_REG && x->r->f->def[to->sym->reg].stmt == s;

	for (unsigned i = 1; repeated && i < in->nops; i++)
		repeated = !is_set(x, &in->ops[i]);
	return repeated;
}

/* What is made in each turn in front of the jump that lanes leave a loop by, of what the loop does not set, is the same in all
 * turns. */
static void leave_repeated(struct split *x, uint32_t jump, const uint8_t *between)
{
	const struct flow *f = x->r->f;
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t b = jump; b != FLOW_NONE; b = f->block[b].idom)
			for (const struct ptx_stmt *s = f->block[b].first; between[b]; s = s->next) {
				if (is_repeated(x, s) && x->set[s->inst.ops[0].sym->reg]) {
					x->set[s->inst.ops[0].sym->reg] = 0;
					more = true;
				}
				if (s == f->block[b].last)
					break;
			}
	}
}

/* In a loop of which lanes may be in different turns. */
static void see_turns(struct round *r, uint32_t head)
{
	struct flow *f = r->f;
	struct split s = {.r = r, .set = ptx_alloc(f->arena, (size_t)f->f->nregs + 1)};

	r->apart[head] = 1;
	for (uint32_t i = 0; i < f->n; i++)
		if (flow_in_loop(f, i, head))
			find_set(&s, i);
	for (uint32_t i = 0; i < f->n; i++)
		if (flow_in_loop(f, i, head))
			find_used(&s, i);
}

/* Loops to which both ways of a jump lead: some lanes may be turns ahead of those that take the other one. */
static void see_loops(struct round *r, uint32_t b, uint8_t *ways)
{
	struct flow *f = r->f;

	flow_ways(f, b, true, ways);
	for (uint32_t head = 0; head < f->n; head++)
		if (f->block[head].loop == head && ways[head] == 3 && !r->apart[head] && !f->block[head].together)
			see_turns(r, head);
}

static void see_split(struct round *r, uint32_t b, uint8_t *ways, uint8_t *between)
{
	struct flow *f = r->f;
	struct split s = {.r = r, .set = ptx_alloc(f->arena, (size_t)f->f->nregs + 1)};

	flow_ways(f, b, false, ways);
	find_between(f, b, between);
	if (f->block[b].next != FLOW_NONE)
		f->block[f->block[b].next].meeting = true;
	if (f->block[b].target != FLOW_NONE)
		f->block[f->block[b].target].meeting = true;
	for (uint32_t i = 0; i < f->n; i++)
		if (between[i])
			find_set(&s, i);
	leave_repeated(&s, b, between);
	for (uint32_t i = 0; i < f->n; i++) {
		if (ways[i] != 3)
			continue;
		f->block[i].meeting |= f->block[i].ways_in > 1;
		find_used(&s, i);
	}
}

static void find_shapes(struct flow *f)
{
	struct round r = {.f = f, .apart = ptx_alloc(f->arena, f->n)};
	uint8_t *done = ptx_alloc(f->arena, f->n), *ways = ptx_alloc(f->arena, f->n), *between = ptx_alloc(f->arena, f->n);

	for (const struct ptx_var *v = f->f->params; v; v = v->next)
		if (v->sym && v->sym->kind == SYM_REG)
			f->shape[v->sym->reg] = own;
	do {
		r.changed = false;
		see_all(&r);
		for (uint32_t b = 0; b < f->n && !r.changed; b++) {
			const struct ptx_inst *in = f->block[b].jump;

			if (!in || done[b] || !f->block[b].reached || f->block[b].alone || !ptx_guard(in) ||
			    f->shape[ptx_guard(in)->reg].kind != SHAPE_OWN)
				continue;
			done[b] = 1;
			see_split(&r, b, ways, between);
			see_loops(&r, b, ways);
		}
	} while (r.changed);
}

/* A lane that is alone parts from nobody: where there is one, all is looked at again. */
void flow_shapes(struct flow *f)
{
	find_shapes(f);
	if (!flow_find_alone(f))
		return;
	memset(f->shape, 0, ((size_t)f->f->nregs + 1) * sizeof *f->shape);
	for (uint32_t b = 0; b < f->n; b++)
		f->block[b].meeting = false;
	find_shapes(f);
}
