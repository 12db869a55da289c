/* SPDX-License-Identifier: Apache-2.0
 *
 * derive.c: what each register may hold, by a fixpoint over all functions of a module: one answer for a register, joined
 * over its definitions, so that it holds wherever control comes from.
 */
#include <stdlib.h>
#include <string.h>

#include "probe/derive.h"
#include "probe/flow.h"

/* UNSET: nothing was seen yet.  NUMBER: no address.  LOADED: from memory in which there may be addresses.  ADDRESS: of
 * one of these variables, and a number.  DESCRIPTOR: such an address / 16, and a number.  MIXED: anything. */
enum kind { UNSET, NUMBER, LOADED, ADDRESS, DESCRIPTOR, MIXED };
struct value { enum kind kind; uint64_t set; };

struct derive_func { struct derive_func *next; const struct ptx_func *f; struct value *reg; };

/* Values of .param variables, by their symbols: a table of a power of two. */
struct param { const struct ptx_sym *sym; struct value v; };
struct derive_params { struct param *p; uint32_t n, cap; };

/* DEPTH_MOST, STATEMENTS_MOST: definitions that a question goes back through one behind the other, and statements that it
 * looks at for all of them: each operand of each of them may have one.
 * MATRIX_SHIFT: of a descriptor (PTX ISA, "Matrix Descriptor Format"); PLACE_BITS: of an address in a block's memory;
 * ALIGN_BITS: of these, those that an alignment may clear. */
enum { ROUNDS_MOST = 24, DEPTH_MOST = 24, STATEMENTS_MOST = 4096, MATRIX_SHIFT = 4, PLACE_BITS = 0x3ffff, ALIGN_BITS = 0xfff };

static const struct value number = {NUMBER, 0}, mixed = {MIXED, 0};

struct deriving {
	struct derive *d;
	struct ptx_arena *arena;
	struct derive_func *in;         /* the function that is looked at */
	const struct ptx_stmt *at;      /* where: what comes right before counts (value_before); NULL: anywhere in it */
	unsigned depth;                 /* definitions that have been gone back through to get there */
	unsigned *left;                 /* statements that may yet be looked at to go back; NULL: as `at` */
	bool changed;
};

/* ---- values -------------------------------------------------------------------------------------------- */

static bool is_plain(struct value v) { return v.kind == NUMBER || v.kind == LOADED; }
static bool is_of_variables(struct value v) { return v.kind == ADDRESS || v.kind == DESCRIPTOR; }

static struct value join(struct value a, struct value b)
{
	if (a.kind == UNSET || b.kind == UNSET)
		return a.kind == UNSET ? b : a;
	if (a.kind == b.kind)
		return (struct value){a.kind, a.set | b.set};
	return is_plain(a) && is_plain(b) ? (struct value){LOADED, 0} : mixed;
}

static struct value sum(struct value a, struct value b)
{
	if (a.kind == UNSET || b.kind == UNSET)
		return (struct value){UNSET, 0};
	if (is_plain(a) && is_plain(b))
		return join(a, b);
	if (is_of_variables(a) && is_plain(b))
		return a;
	return is_plain(a) && is_of_variables(b) ? b : mixed;
}

/* Between two addresses in one variable lies a number; between what was loaded there may lie anything, if addresses
 * were stored. */
static struct value difference(struct value a, struct value b)
{
	if (a.kind == UNSET || b.kind == UNSET)
		return (struct value){UNSET, 0};
	if (a.kind == b.kind && is_of_variables(a) && a.set == b.set && !(a.set & (a.set - 1)))
		return number;
	return b.kind == NUMBER ? a : mixed;
}

/* Of an instruction of which it is not known what it does to addresses. */
static struct value anything_of(struct value a)
{
	return a.kind == UNSET || is_plain(a) ? (struct value){a.kind == LOADED ? NUMBER : a.kind, 0} : mixed;
}

/* ---- what operands hold ------------------------------------------------------------------------------------ */

static uint64_t bit_of(const struct derive *d, const struct ptx_sym *sym)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (d->variable[i].sym == sym)
			return UINT64_C(1) << d->variable[i].bit;
	return 0;
}

static struct value result(struct deriving *, const struct ptx_inst *);

struct wanted { const struct ptx_sym *reg; bool found; };

static void is_wanted(void *arg, const struct ptx_sym *reg)
{
	struct wanted *w = arg;

	w->found |= w->reg == reg;
}

/* The statement that has written a register last, if nothing else can have come in between: no label is; NULL: it is not
 * known. */
static const struct ptx_stmt *writer_before(const struct ptx_stmt *at, const struct ptx_sym *reg, unsigned *left)
{
	struct wanted w = {reg, false};

	for (const struct ptx_stmt *s = at->prev; s && s->kind != STMT_LABEL && *left; s = s->prev, --*left) {
		if (s->kind == STMT_INST)
			flow_defs(&s->inst, is_wanted, &w);
		if (w.found)
			return s->inst.guarded || s->inst.id == INST_CALL || s->inst.id == INST_UNKNOWN || s->inst.ops[0].kind != OP_SYM ?
			       NULL : s;
	}
	return NULL;
}

/* What a register holds there: one that is used for several things in turn is told apart. */
static struct value value_before(const struct deriving *x, const struct ptx_sym *reg)
{
	struct value all = x->in->reg[reg->reg];
	bool sure = is_plain(all) || (is_of_variables(all) && !(all.set & (all.set - 1)));
	const struct ptx_stmt *s = x->at && !sure && x->depth < DEPTH_MOST ? writer_before(x->at, reg, x->left) : NULL;
	struct deriving there = *x;

	if (!s)
		return all;
	there.at = s;
	there.depth++;
	return result(&there, &s->inst);
}

static struct value of_symbol(const struct deriving *x, const struct ptx_operand *o)
{
	uint64_t bit;

	if (!o->sym || o->sym->kind == SYM_UNRESOLVED)
		return mixed;
	if (o->sym->kind == SYM_REG)
		return o->neg || o->elem ? anything_of(value_before(x, o->sym)) : value_before(x, o->sym);
	if (o->sym->kind != SYM_VAR || o->sym->space != SPACE_SHARED)
		return number;
	bit = bit_of(x->d, o->sym);
	return bit ? (struct value){ADDRESS, bit} : mixed;
}

static struct value of(const struct deriving *x, const struct ptx_operand *o);

/* Two halves: of the lower one, if there is nothing but a descriptor's constants in the upper one. */
static struct value of_vector(const struct deriving *x, const struct ptx_operand *o)
{
	struct value all = number, low = o->n ? of(x, &o->list[0]) : mixed;

	for (unsigned i = 0; i < o->n; i++)
		all = join(all, anything_of(of(x, &o->list[i])));
	if (o->n != 2 || !is_of_variables(low))
		return all;
	if (low.kind == DESCRIPTOR)
		return is_plain(of(x, &o->list[1])) ? low : mixed;
	return o->list[1].kind == OP_INT && !o->list[1].ival ? low : mixed;
}

static struct value of(const struct deriving *x, const struct ptx_operand *o)
{
	switch (o->kind) {
	case OP_SYM:
		return of_symbol(x, o);
	case OP_ADDR:
		return o->n ? of(x, &o->list[0]) : mixed;
	case OP_VEC:
		return of_vector(x, o);
	case OP_INT:
	case OP_FLOAT:
	case OP_EXPR:
	case OP_SINK:
		return number;
	default:
		return mixed;
	}
}

static struct value of_nth(const struct deriving *x, const struct ptx_inst *in, unsigned n)
{
	return n < in->nops ? of(x, &in->ops[n]) : mixed;
}

/* ---- parameters ---------------------------------------------------------------------------------------------- */

static struct param *find_param(const struct derive_params *t, const struct ptx_sym *sym)
{
	uint32_t i = (uint32_t)((uintptr_t)sym >> 4) * 0x9e3779b1u & (t->cap - 1);

	while (t->p[i].sym && t->p[i].sym != sym)
		i = (i + 1) & (t->cap - 1);
	return &t->p[i];
}

static struct param *param_of(struct deriving *x, const struct ptx_sym *sym)
{
	struct derive_params *t = x->d->params;
	struct param *p = find_param(t, sym);

	if (p->sym)
		return p;
	if (2 * ++t->n >= t->cap) {
		struct derive_params more = {ptx_alloc(x->arena, 2 * t->cap * sizeof *t->p), t->n, 2 * t->cap};

		for (uint32_t i = 0; i < t->cap; i++)
			if (t->p[i].sym)
				*find_param(&more, t->p[i].sym) = t->p[i];
		*t = more;
		p = find_param(t, sym);
	}
	p->sym = sym;
	return p;
}

static void put(struct deriving *x, struct value *to, struct value v)
{
	struct value now = join(*to, v);

	x->changed |= now.kind != to->kind || now.set != to->set;
	*to = now;
}

/* A parameter or a result, or what is passed as one: in a register, or in the .param space. */
static void put_symbol(struct deriving *x, const struct derive_func *in, const struct ptx_sym *sym, struct value v)
{
	if (sym && sym->kind == SYM_REG && in)
		put(x, &in->reg[sym->reg], v);
	else if (sym && sym->kind == SYM_VAR)
		put(x, &param_of(x, sym)->v, v);
}

static struct value get_symbol(struct deriving *x, const struct derive_func *in, const struct ptx_sym *sym)
{
	if (sym && sym->kind == SYM_REG && in)
		return in->reg[sym->reg];
	return sym && sym->kind == SYM_VAR ? param_of(x, sym)->v : mixed;
}

static struct derive_func *find_func(const struct derive *d, const struct ptx_func *f)
{
	struct derive_func *x = d->func;

	while (x && x->f != f)
		x = x->next;
	return x;
}

/* ---- calls ---------------------------------------------------------------------------------------------------- */

/* Lists of a call: what it returns, which comes before the function's name, and what it passes. */
static const struct ptx_operand *list_of(const struct ptx_inst *in, bool returned)
{
	bool behind = false;

	for (unsigned i = 0; i < in->nops; i++) {
		if (in->ops[i].kind == OP_LIST && behind != returned)
			return &in->ops[i];
		behind |= in->ops[i].kind == OP_SYM;
	}
	return NULL;
}

/* It gets to where loads may find it. */
static void escape(struct deriving *x, struct value v)
{
	bool address = is_of_variables(v), any = v.kind == MIXED;

	x->changed |= (address && !x->d->stored) || (any && !x->d->mixed);
	x->d->stored |= address;
	x->d->mixed |= any;
}

/* to: NULL: a function of which nothing is known, which may store what it gets. */
static void pass(struct deriving *x, const struct ptx_operand *list, const struct derive_func *to)
{
	const struct ptx_var *v = to ? to->f->params : NULL;

	for (unsigned i = 0; list && i < list->n && (v || !to); i++, v = v ? v->next : NULL) {
		const struct ptx_operand *o = &list->list[i];
		bool param = o->kind == OP_SYM && o->sym && o->sym->kind == SYM_VAR && o->sym->space == SPACE_PARAM;
		struct value passed = param ? get_symbol(x, x->in, o->sym) : of(x, o);

		if (to)
			put_symbol(x, to, v->sym, passed);
		else
			escape(x, passed);
	}
}

static void call(struct deriving *x, const struct ptx_inst *in)
{
	const struct ptx_func *f = ptx_callee(in);
	const struct ptx_operand *back = list_of(in, true);
	const struct derive_func *to = f && f->has_body ? find_func(x->d, f) : NULL;
	const struct ptx_var *v = to ? f->rets : NULL;

	pass(x, list_of(in, false), to);
	for (unsigned i = 0; back && i < back->n; i++, v = v ? v->next : NULL)
		if (back->list[i].kind == OP_SYM)
			put_symbol(x, x->in, back->list[i].sym, v ? get_symbol(x, to, v->sym) : mixed);
}

/* ---- instructions ---------------------------------------------------------------------------------------------- */

static bool whole(enum ptx_type t)
{
	return t == TYPE_U32 || t == TYPE_S32 || t == TYPE_B32 || t == TYPE_U64 || t == TYPE_S64 || t == TYPE_B64;
}

/* A mask of an address's upper bits, of all but a rank's: those of lower ones may align it. */
static bool keeps_place(const struct ptx_inst *in, bool descriptor)
{
	const struct ptx_operand *by = ptx_operand(in, 2);
	uint64_t bits = by->ival;

	if (by->kind != OP_INT && by->kind != OP_EXPR)
		return false;
	return descriptor ? (bits & PLACE_BITS >> MATRIX_SHIFT) == PLACE_BITS >> MATRIX_SHIFT :
	       (bits & PLACE_BITS & ~ALIGN_BITS) == (PLACE_BITS & ~ALIGN_BITS);
}

static struct value masked(const struct ptx_inst *in, struct value a, struct value b)
{
	if (is_of_variables(a) && is_plain(b))
		return keeps_place(in, a.kind == DESCRIPTOR) ? a : mixed;
	return a.kind == UNSET || b.kind == UNSET ? (struct value){UNSET, 0} : join(anything_of(a), anything_of(b));
}

static struct value shifted(const struct ptx_inst *in, struct value a)
{
	const struct ptx_operand *by = ptx_operand(in, 2);

	return a.kind == ADDRESS && by->kind == OP_INT && by->ival == MATRIX_SHIFT ? (struct value){DESCRIPTOR, a.set} : anything_of(a);
}

static struct value converted(const struct ptx_inst *in, struct value a)
{
	return whole(in->type) && whole(in->type2) ? a : anything_of(a);
}

/* cvta between generic and shared addresses; of other spaces it is no address of a variable of ours. */
static struct value in_space(const struct ptx_inst *in, struct value a)
{
	return in->space == SPACE_SHARED ? a : anything_of(a);
}

static struct value loaded(struct deriving *x, const struct ptx_inst *in)
{
	const struct ptx_operand *from = ptx_operand(in, 1);
	const struct ptx_sym *sym = from->kind == OP_ADDR && from->n && from->list[0].kind == OP_SYM ? from->list[0].sym : NULL;

	if (in->id == INST_LD && in->space == SPACE_PARAM)
		return sym && sym->kind == SYM_VAR ? param_of(x, sym)->v : x->in->f->entry ? number : mixed;
	return x->d->mixed ? mixed : (struct value){x->d->stored ? LOADED : NUMBER, 0};
}

static struct value all_of(const struct deriving *x, const struct ptx_inst *in)
{
	struct value v = number;

	for (unsigned i = flow_written(in); i < in->nops; i++)
		v = join(v, anything_of(of(x, &in->ops[i])));
	return v;
}

static struct value result(struct deriving *x, const struct ptx_inst *in)
{
	struct value a, b;

	if (ptx_insts[in->id].access != ACCESS_NONE)
		return loaded(x, in);
	a = of_nth(x, in, 1);
	b = in->nops > 2 ? of_nth(x, in, 2) : number;
	switch (in->id) {
	case INST_MOV: case INST_MAPA: case INST_SHFL: case INST_SHFL_SYNC:
		return a;
	case INST_CVTA:
		return in_space(in, a);
	case INST_CVT:
		return converted(in, a);
	case INST_ADD: case INST_ADD_CC: case INST_OR: case INST_XOR:
		return whole(in->type) ? sum(a, b) : all_of(x, in);
	case INST_SUB: case INST_SUB_CC:
		return whole(in->type) ? difference(a, b) : all_of(x, in);
	case INST_AND:
		return is_plain(a) && is_of_variables(b) ? mixed : masked(in, a, b);
	case INST_MAD:
		return whole(in->type) && !ptx_has(in, MOD_HI) ? sum(join(anything_of(a), anything_of(b)), of_nth(x, in, 3)) : all_of(x, in);
	case INST_SHR:
		return shifted(in, a);
	case INST_SELP: case INST_SLCT: case INST_MIN: case INST_MAX:
		return join(a, b);
	default:
		return all_of(x, in);
	}
}

struct definition { struct deriving *x; struct value v; };

static void define(void *arg, const struct ptx_sym *reg)
{
	struct definition *d = arg;

	put(d->x, &d->x->in->reg[reg->reg], d->v);
}

/* The halves of what is unpacked: the lower one of an address or a descriptor is one. */
static void unpack(struct deriving *x, const struct ptx_inst *in, struct value v)
{
	const struct ptx_operand *to = &in->ops[0];

	for (unsigned i = 0; i < to->n; i++)
		if (to->list[i].kind == OP_SYM && to->list[i].sym && to->list[i].sym->kind == SYM_REG)
			put(x, &x->in->reg[to->list[i].sym->reg],
			    !i ? v : v.kind == DESCRIPTOR ? number : anything_of(v));
}

/* What it puts into memory, or passes on. */
static void store(struct deriving *x, const struct ptx_inst *in)
{
	const struct ptx_operand *to = ptx_operand(in, 0);
	bool loads = ptx_insts[in->id].access == ACCESS_LOAD;

	if (in->id == INST_ST && in->space == SPACE_PARAM && to->kind == OP_ADDR && to->n && to->list[0].kind == OP_SYM &&
	    to->list[0].sym && to->list[0].sym->kind == SYM_VAR) {
		put_symbol(x, x->in, to->list[0].sym, of_nth(x, in, 1));
		return;
	}
	for (unsigned i = 0; !loads && ptx_insts[in->id].access != ACCESS_NONE && i < in->nops; i++) {
		const struct ptx_operand *o = &in->ops[i];

		for (unsigned k = 0; o->kind != OP_ADDR && k < (o->kind == OP_VEC ? o->n : 1u); k++)
			escape(x, of(x, o->kind == OP_VEC ? &o->list[k] : o));
	}
}

static void instruction(struct deriving *x, const struct ptx_inst *in)
{
	struct definition d = {x, {UNSET, 0}};

	if (in->id == INST_CALL) {
		call(x, in);
		return;
	}
	store(x, in);
	if (!in->nops)
		return;
	d.v = in->id == INST_UNKNOWN ? mixed : result(x, in);
	if (in->id == INST_MOV && in->ops[0].kind == OP_VEC)
		unpack(x, in, d.v);
	else
		flow_defs(in, define, &d);
}

/* ---- all of a module ------------------------------------------------------------------------------------------- */

/* Is it of launches of that kernel alone? */
static bool is_of_kernel(const struct derive_variable *v)
{
	return v->func && v->func->entry;
}

static void add_variables(struct derive *d, const struct ptx_var *v, const struct ptx_func *f, bool first)
{
	for (; v && d->n < DERIVE_ALL; v = v->next)
		if (v->sym && v->sym->kind == SYM_VAR && v->sym->space == SPACE_SHARED) {
			bool outside = v->link && !strcmp(v->link, ".extern");

			/* One that has a size and is declared elsewhere may be anybody's (nvcc -rdc=true). */
			if (!outside || !v->sym->bytes)
				d->variable[d->n++] = (struct derive_variable){v->sym, f, outside, first, 0};
		}
}

/* One of each, where there are enough.  Else those of two kernels may have one, since a launch is one of one kernel; then
 * a function that is not inlined may have an address of any of them.  Those without a bit are not told apart. */
static void give_bits(struct derive *d)
{
	uint32_t shared = 0, next = 0, kept = 0;

	for (uint32_t i = 0; i < d->n; i++)
		d->variable[i].bit = (uint8_t)i;
	if (d->n <= DERIVE_MOST)
		return;
	for (uint32_t i = 0; i < d->n; i++)
		shared += !is_of_kernel(&d->variable[i]);
	for (uint32_t i = 0, common = 0; i < d->n; i++) {
		struct derive_variable v = d->variable[i];
		uint32_t bit;

		/* Those of a function come one behind the other. */
		if (!i || v.func != d->variable[i - 1].func)
			next = shared;
		bit = is_of_kernel(&v) ? next++ : common++;
		v.bit = (uint8_t)bit;
		if (bit < DERIVE_MOST)
			d->variable[kept++] = v;
	}
	d->n = kept;
}

static void find_in_function(struct derive *d, const struct ptx_func *f)
{
	bool first = true;

	for (const struct ptx_stmt *s = f->body; s; s = s->next) {
		if (s->kind == STMT_VAR)
			add_variables(d, s->var, f, first);
		else
			first = first && s->kind != STMT_INST && s->kind != STMT_LABEL && s->kind != STMT_OPEN && s->kind != STMT_TEXT;
	}
}

static bool is_called_by_pointer(const struct ptx_func *f)
{
	for (const struct ptx_stmt *s = f->body; s; s = s->next)
		if (s->kind == STMT_INST && s->inst.id == INST_CALL && !ptx_callee(&s->inst))
			return true;
	return false;
}

/* Its registers, and what is known of its parameters: of one that others may call nothing. */
static void add_function(struct deriving *x, const struct ptx_func *f)
{
	struct derive_func *df = ptx_alloc(x->arena, sizeof *df);

	df->f = f;
	df->reg = ptx_alloc(x->arena, ((size_t)f->nregs + 1) * sizeof *df->reg);
	df->next = x->d->func;
	x->d->func = df;
	for (const struct ptx_var *v = f->params; v; v = v->next)
		if (f->entry || f->link || x->d->pointers)
			put_symbol(x, df, v->sym, f->entry ? number : mixed);
}

static void look_at_all(struct deriving *x)
{
	for (struct derive_func *f = x->d->func; f; f = f->next) {
		x->in = f;
		for (const struct ptx_stmt *s = f->f->body; s; s = s->next)
			if (s->kind == STMT_INST)
				instruction(x, &s->inst);
	}
}

struct derive *derive_of(struct ptx_arena *arena, const struct ptx_module *m)
{
	struct derive *d = ptx_alloc(arena, sizeof *d);
	struct deriving x = {.d = d, .arena = arena, .changed = true};
	unsigned rounds = 0;

	d->variable = ptx_alloc(arena, DERIVE_ALL * sizeof *d->variable);
	d->params = ptx_alloc(arena, sizeof *d->params);
	*d->params = (struct derive_params){ptx_alloc(arena, 64 * sizeof *d->params->p), 0, 64};
	for (const struct ptx_stmt *s = m->first; s; s = s->next) {
		if (s->kind == STMT_VAR)
			add_variables(d, s->var, NULL, true);
		if (s->kind == STMT_FUNC && s->func->has_body) {
			find_in_function(d, s->func);
			d->pointers |= is_called_by_pointer(s->func);
		}
	}
	give_bits(d);
	for (const struct ptx_stmt *s = m->first; s && d->n; s = s->next)
		if (s->kind == STMT_FUNC && s->func->has_body)
			add_function(&x, s->func);
	while (d->func && x.changed && rounds++ < ROUNDS_MOST) {
		x.changed = false;
		look_at_all(&x);
	}
	/* Nothing is certain that may still change. */
	d->n = d->func && !x.changed ? d->n : 0;
	return d;
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

/* The n-th of its addresses in memory. */
static const struct ptx_operand *nth_address(const struct ptx_inst *in, unsigned n)
{
	for (unsigned i = 0; i < in->nops; i++)
		if (in->ops[i].kind == OP_ADDR && !n--)
			return &in->ops[i];
	return &ptx_no_operand;
}

static bool is_load(const struct ptx_inst *in)
{
	return ptx_has(in, MOD_MBARRIER_COMPLETE_TX_BYTES);
}

/* Which of its operands; of a product, a descriptor. */
static const struct ptx_operand *operand_of(const struct ptx_inst *in, enum event_address_of which)
{
	switch (in->id) {
	case INST_CP_ASYNC_BULK_TENSOR:
	case INST_CP_REDUCE_ASYNC_BULK_TENSOR:
		return which == EVENT_OF_FROM ? &ptx_no_operand : nth_address(in, which == EVENT_OF_MBAR ? 2 : !is_load(in));
	case INST_WGMMA_MMA_ASYNC:
	case INST_WGMMA_MMA_ASYNC_SP:
	case INST_TCGEN05_MMA:
	case INST_TCGEN05_MMA_SP:
	case INST_TCGEN05_MMA_WS:
	case INST_TCGEN05_MMA_WS_SP:
		return which == EVENT_OF_MBAR ? &ptx_no_operand : ptx_operand(in, which == EVENT_OF_FROM ? 2 : 1);
	case INST_TCGEN05_CP:
		return which == EVENT_OF_AT ? ptx_operand(in, 1) : &ptx_no_operand;
	case INST_CP_ASYNC:
	case INST_CP_ASYNC_BULK:
	case INST_CP_REDUCE_ASYNC_BULK:
	case INST_TENSORMAP_CP_FENCEPROXY:
		return nth_address(in, which == EVENT_OF_AT ? 0 : which == EVENT_OF_FROM ? 1 : 2);
	default:
		return which == EVENT_OF_FROM ? &ptx_no_operand : nth_address(in, which == EVENT_OF_MBAR);
	}
}

/* Of an instruction's address, or descriptor: variables, as bits; 0: it is not known. */
static uint64_t address(struct derive *d, const struct ptx_func *f, const struct ptx_stmt *stmt, enum event_address_of which)
{
	unsigned left = STATEMENTS_MOST;
	struct deriving x = {.d = d, .at = stmt, .left = &left};
	const struct ptx_operand *o = operand_of(&stmt->inst, which);
	struct value v;

	if (d->n && (!d->last || d->last->f != f))
		d->last = find_func(d, f);
	x.in = d->last;
	if (!d->n || !x.in || (o->kind != OP_ADDR && o->kind != OP_SYM))
		return 0;
	v = of(&x, o);
	return v.kind == (o->kind == OP_ADDR ? ADDRESS : DESCRIPTOR) ? v.set : 0;
}

/* Can an address in that function be one of this variable?  In what kernels call it can be that of any kernel. */
static bool is_within(const struct derive *d, uint32_t variable, const struct ptx_func *f)
{
	const struct derive_variable *v = &d->variable[variable];

	return !is_of_kernel(v) || v->func == f || !f->entry;
}

static void add_origin(struct event_origin **list, uint32_t *n, struct event_origin o)
{
	/* There is room for a power of two. */
	if (!(*n & (*n - 1)))
		*list = realloc(*list, (*n ? 2 * *n : 1) * sizeof **list);
	if (!*list)
		abort();
	(*list)[(*n)++] = o;
}

void derive_origins(struct derive *d, const struct ptx_func *f, const struct ptx_stmt *stmt, uint32_t site, struct event_origin **list, uint32_t *n)
{
	static const enum event_address_of all[] = {EVENT_OF_AT, EVENT_OF_FROM, EVENT_OF_MBAR};

	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		uint64_t of = address(d, f, stmt, all[i]);

		for (uint32_t k = 0; of && k < d->n; k++)
			if (of >> d->variable[k].bit & 1 && is_within(d, k, f))
				add_origin(list, n, (struct event_origin){site, (uint16_t)all[i], 0, k});
	}
}

/* ---- what a kernel uses ------------------------------------------------------------------------------------------ */

static uint64_t used_by(const struct derive *d, const struct ptx_operand *o)
{
	uint64_t used = o->kind == OP_SYM && o->sym && o->sym->kind == SYM_VAR ? bit_of(d, o->sym) : 0;

	if (o->kind == OP_VEC || o->kind == OP_PAIR || o->kind == OP_LIST || o->kind == OP_ADDR)
		for (unsigned i = 0; i < o->n; i++)
			used |= used_by(d, &o->list[i]);
	return used;
}

/* What a kernel calls by name, and itself: each function once. */
struct reached { const struct ptx_func **f; uint32_t n; };

static void add_callee(struct reached *r, const struct ptx_func *f)
{
	for (uint32_t i = 0; f && i < r->n; i++)
		f = r->f[i] == f ? NULL : f;
	if (f && f->has_body)
		r->f[r->n++] = f;
}

uint32_t derive_used(const struct derive *d, struct ptx_arena *arena, const struct ptx_module *m, const struct ptx_func *kernel,
		     uint32_t *numbers)
{
	struct reached r = {NULL, 0};
	uint64_t used = 0;
	uint32_t n = 0, found = 0;

	for (const struct ptx_stmt *s = m->first; s; s = s->next)
		n += s->kind == STMT_FUNC;
	r.f = ptx_alloc(arena, (n + 1) * sizeof *r.f);
	add_callee(&r, kernel);
	for (uint32_t i = 0; d->n && i < r.n; i++)
		for (const struct ptx_stmt *s = r.f[i]->body; s; s = s->next) {
			for (unsigned k = 0; s->kind == STMT_INST && k < s->inst.nops; k++)
				used |= used_by(d, &s->inst.ops[k]);
			if (s->kind == STMT_INST && s->inst.id == INST_CALL)
				add_callee(&r, ptx_callee(&s->inst));
		}
	for (uint32_t i = 0; i < d->n; i++)
		if (used >> d->variable[i].bit & 1 && (!d->variable[i].func || (d->variable[i].func == kernel && d->variable[i].first)))
			numbers[found++] = i;
	return found;
}
