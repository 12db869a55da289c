/* SPDX-License-Identifier: Apache-2.0
 *
 * space.c: into which variable does the address in a register point?  One answer a
 * register for the whole function, joined over all its definitions, so it holds on
 * every path.  It follows a variable's address through mov, cvta, sums with numbers
 * and masks; a value that comes from anywhere else may be any.  A report names the
 * variable.
 */
#include <string.h>

#include "rewrite/rw.h"

/* Bits of a shared::cluster address from here on say whose block's memory it is (event/event.h). */
enum { RANK_SHIFT = 24 };

static const struct rw_value any = { true, NULL };

/* Rounds of a function after which the rest counts as unknown: a definition
 * normally stands above its uses, so that two rounds do. */
#define MAX_ROUNDS 16

static bool same(struct rw_value a, struct rw_value b)
{
	return a.defined == b.defined && a.var == b.var;
}

static struct rw_value join(struct rw_value a, struct rw_value b)
{
	if (!a.defined)
		return b;
	if (!b.defined)
		return a;
	return a.var == b.var ? a : any;
}

static struct rw_value of_var(const struct ptx_sym *sym)
{
	switch (sym->space) {
	case SPACE_GLOBAL:
	case SPACE_SHARED:
	case SPACE_LOCAL:
	case SPACE_PARAM:
	case SPACE_CONST:
		return (struct rw_value){ true, sym };
	case SPACE_NONE:
	case SPACE_REG:
	case SPACE_SREG:
	case SPACE_TEX:
		break;
	}
	return any;
}

static struct rw_value of(const struct rw_func *rf, const struct ptx_operand *o)
{
	if (o->kind != OP_SYM || o->elem)
		return any;
	if (o->sym->kind == SYM_REG && o->sym->vec <= 1)
		return rf->values[o->sym->reg];
	if (o->sym->kind == SYM_VAR)
		return of_var(o->sym);
	return any;
}

/* An address plus a number is an address in the same variable; of two addresses
 * nobody knows which one is the number. */
static struct rw_value sum(struct rw_value a, struct rw_value b)
{
	if (a.var && b.var)
		return any;
	if (a.var)
		return a;
	if (b.var)
		return b;
	return a.defined && b.defined ? any : (struct rw_value){ 0 };
}

/* An address less a number; less an address it is a distance. */
static struct rw_value difference(struct rw_value a, struct rw_value b)
{
	return b.var ? any : a;
}

/* A 16-bit or floating-point result is no address any more. */
static bool keeps_address(enum ptx_type t)
{
	switch (t) {
	case TYPE_B32: case TYPE_U32: case TYPE_S32:
	case TYPE_B64: case TYPE_U64: case TYPE_S64:
		return true;
	default:
		return false;
	}
}

/* The second source as a number of the instruction's type; 0 if it is a register or too narrow. */
static int64_t second_number(const struct ptx_inst *in)
{
	unsigned bits = ptx_type_bits(in->type);

	return in->ops[2].kind != OP_INT || bits < 32 ? 0 :
		(int64_t)(in->ops[2].ival << (64 - bits)) >> (64 - bits);
}

/* What becomes of address `v`: a number that reaches the rank in it may make of a block's shared
 * address one of its peer's.  CUTLASS clears a bit of the rank so. */
static struct rw_value if_in_block(const struct ptx_inst *in, struct rw_value v)
{
	int64_t n = second_number(in), end = INT64_C(1) << RANK_SHIFT;
	bool shared = v.var && v.var->space == SPACE_SHARED;

	return shared && (n <= -end || n >= end) ? any : v;
}

static struct rw_value result(const struct rw_func *rf, const struct ptx_inst *in)
{
	const struct ptx_operand *o = in->ops;

	switch (in->id) {
	case INST_MOV:
		return in->nops == 2 ? of(rf, &o[1]) : any;
	case INST_CVT:
		return in->nops == 2 && keeps_address(in->type) && keeps_address(in->type2) ?
			of(rf, &o[1]) : any;
	case INST_CVTA:
		return in->nops == 2 ? of(rf, &o[1]) : any;
	case INST_ADD:
	case INST_ADD_CC:
	case INST_OR:   /* of an aligned address and a small number */
	case INST_XOR:  /* swizzled offsets */
		return in->nops == 3 ? if_in_block(in, sum(of(rf, &o[1]), of(rf, &o[2]))) : any;
	case INST_AND:  /* aligning it: a mask with its top bit set */
		return in->nops == 3 && second_number(in) < 0 ? if_in_block(in, of(rf, &o[1])) : any;
	case INST_SUB:
	case INST_SUB_CC:
		return in->nops == 3 ? if_in_block(in, difference(of(rf, &o[1]), of(rf, &o[2]))) : any;
	case INST_MAD:
		return in->nops == 4 && !ptx_has(in, MOD_HI) ? sum(of(rf, &o[3]), any) : any;
	case INST_SELP:
		return in->nops == 4 ? join(of(rf, &o[1]), of(rf, &o[2])) : any;
	default:
		return any;
	}
}

static bool define(struct rw_func *rf, const struct ptx_sym *sym, struct rw_value v)
{
	struct rw_value *at;

	if (!sym || sym->kind != SYM_REG)
		return false;
	at = &rf->values[sym->reg];
	v = join(*at, v);
	if (same(v, *at))
		return false;
	*at = v;
	return true;
}

/* Every register that the operand writes. */
static void define_all(struct rw_func *rf, const struct ptx_operand *o)
{
	if (o->kind == OP_SYM)
		define(rf, o->sym, any);
	else if (o->kind == OP_VEC || o->kind == OP_PAIR || o->kind == OP_LIST)
		for (unsigned i = 0; i < o->n; i++)
			define_all(rf, &o->list[i]);
}

/* Could its result be an address?  Where this says no, result() says "any". */
static bool may_be_address(const struct ptx_inst *in)
{
	switch (in->id) {
	case INST_MOV:
	case INST_CVT:
	case INST_CVTA:
	case INST_ADD:
	case INST_ADD_CC:
	case INST_OR:
	case INST_XOR:
	case INST_AND:
	case INST_SUB:
	case INST_SUB_CC:
	case INST_MAD:
	case INST_SELP:
		return in->ops[0].kind == OP_SYM && in->ops[0].sym->kind == SYM_REG &&
			!in->ops[0].elem;
	default:
		return false;
	}
}

/* Instructions whose results a later round may change. */
struct list { const struct ptx_inst **p; size_t n, cap; };

static void add(struct rw *r, struct list *l, const struct ptx_inst *in)
{
	if (l->n == l->cap) {
		const struct ptx_inst **more;

		l->cap = l->cap ? l->cap * 2 : 1024;
		more = ptx_alloc(r->m->arena, l->cap * sizeof *more);
		if (l->n)
			memcpy(more, l->p, l->n * sizeof *more);
		l->p = more;
	}
	l->p[l->n++] = in;
}

/* The first round: everything that is defined, in order. */
static void first_round(struct rw *r, struct rw_func *rf, struct list *l)
{
	l->n = 0;
	for (struct ptx_stmt *s = rf->f->body; s; s = s->next) {
		const struct ptx_inst *in = &s->inst;

		if (s->kind != STMT_INST || !in->nops)
			continue;
		if (may_be_address(in)) {
			add(r, l, in);
			define(rf, in->ops[0].sym, result(rf, in));
		} else {
			for (unsigned i = 0; i < (in->id == INST_UNKNOWN ? in->nops : 1); i++)
				define_all(rf, &in->ops[i]);
		}
	}
}

static bool next_round(struct rw_func *rf, const struct list *l)
{
	bool changed = false;

	for (size_t i = 0; i < l->n; i++)
		changed |= define(rf, l->p[i]->ops[0].sym, result(rf, l->p[i]));
	return changed;
}

void rw_space(struct rw *r)
{
	struct list l = { 0 };

	for (unsigned i = 0; i < r->nfuncs; i++) {
		struct rw_func *rf = &r->funcs[i];
		int n = rf->f->nregs, rounds = 0;

		rf->values = ptx_alloc(r->m->arena, ((size_t)n + 1) * sizeof *rf->values);
		/* A .reg parameter or result comes from elsewhere. */
		for (struct ptx_var *v = rf->f->params; v; v = v->next)
			define(rf, v->sym, any);
		for (struct ptx_var *v = rf->f->rets; v; v = v->next)
			define(rf, v->sym, any);
		first_round(r, rf, &l);
		while (next_round(rf, &l))
			if (++rounds == MAX_ROUNDS) {
				for (int k = 0; k < n; k++)
					rf->values[k] = any;
				break;
			}
	}
}

const struct ptx_sym *rw_variable(const struct rw_func *rf, const struct ptx_operand *addr)
{
	return addr->n ? of(rf, &addr->list[0]).var : NULL;
}

static void dump_sym(const struct rw_func *rf, const struct ptx_sym *sym, FILE *out)
{
	const struct ptx_sym *var = rf->values[sym->reg].var;

	if (var)
		fprintf(out, "\t%s: in %s\n", sym->name, var->name);
}

void rw_dump_space(const struct rw *r, FILE *out)
{
	for (unsigned i = 0; i < r->nfuncs; i++) {
		const struct rw_func *rf = &r->funcs[i];
		bool *seen = ptx_alloc(r->m->arena, (size_t)rf->f->nregs + 1);

		fprintf(out, "%s %s\n", rf->f->entry ? "entry" : "func", rf->f->name);
		for (struct ptx_stmt *s = rf->f->body; s; s = s->next) {
			const struct ptx_sym *sym;

			if (s->kind != STMT_INST || !s->inst.nops || s->inst.ops[0].kind != OP_SYM)
				continue;
			sym = s->inst.ops[0].sym;
			if (sym->kind == SYM_REG && !seen[sym->reg]) {
				seen[sym->reg] = true;
				dump_sym(rf, sym, out);
			}
		}
	}
}
