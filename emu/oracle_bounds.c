/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle_bounds.c: does an access of shared memory lie in the variable that its address was made of?  Which that may be is
 * looked up backwards, from the instruction: all variables whose addresses go into the register, by any way.  Where the
 * variables lie is what the device has laid out.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/oracle_impl.h"

/* Instructions that write a register of a function: those of register r are item[first[r]] to item[first[r + 1] - 1]. */
static struct { const struct ptx_func *f; uint32_t *first; const struct ptx_inst **item; } written;

struct back {
	const struct ptx_module *m;
	const void **seen;              /* registers, parameters and instructions */
	unsigned n, cap;
	struct orc_made made;           /* what goes into the value */
	unsigned found;                 /* how often a variable has been come to */
	bool lost;                      /* something is not followed, or is one variable too many */
};

/* at: the operand's instruction; NULL: it may be any of the function. */
static void follow(struct back *, const struct ptx_func *, const struct ptx_operand *, const struct ptx_stmt *at);

static bool is_new(struct back *b, const void *s)
{
	for (unsigned i = 0; i < b->n; i++)
		if (b->seen[i] == s)
			return false;
	b->seen = orc_grow(b->seen, b->n, &b->cap, sizeof *b->seen);
	b->seen[b->n++] = s;
	return true;
}

/* ---- calls: from a parameter to what is passed, from a result to what is returned ----------------------- */

/* Its n-th argument, or result. */
static const struct ptx_operand *nth(const struct ptx_inst *call, unsigned n, bool result)
{
	bool behind = false;

	for (unsigned i = 0; i < call->nops; i++) {
		if (call->ops[i].kind == OP_LIST && behind != result)
			return n < call->ops[i].n ? &call->ops[i].list[n] : NULL;
		behind |= call->ops[i].kind == OP_SYM;
	}
	return NULL;
}

static int place_in(const struct ptx_var *v, const struct ptx_sym *s)
{
	for (int n = 0; v; v = v->next, n++)
		if (v->sym == s)
			return n;
	return -1;
}

static void from_callers(struct back *b, const struct ptx_func *f, unsigned n)
{
	b->lost |= f->link != NULL;
	for (const struct ptx_stmt *x = b->m->first; x && !f->entry; x = x->next) {
		if (x->kind != STMT_FUNC || !x->func->has_body)
			continue;
		for (const struct ptx_stmt *s = x->func->body; s; s = s->next) {
			const struct ptx_operand *o;

			if (s->kind != STMT_INST || s->inst.id != INST_CALL)
				continue;
			b->lost |= !ptx_callee(&s->inst);
			o = ptx_callee(&s->inst) == f ? nth(&s->inst, n, false) : NULL;
			if (o)
				follow(b, x->func, o, s);
		}
	}
}

static void from_result(struct back *b, const struct ptx_inst *call, const struct ptx_sym *s)
{
	const struct ptx_func *f = ptx_callee(call);
	const struct ptx_operand *o;
	unsigned n = 0;

	for (; (o = nth(call, n, true)) && o->sym != s; n++)
		;
	if (!o)
		return;
	b->lost |= !f || !f->has_body;
	for (const struct ptx_var *v = f && f->has_body ? f->rets : NULL; v; v = v->next, n--)
		if (!n) {
			const struct ptx_operand back = {.kind = OP_SYM, .sym = v->sym};

			follow(b, f, &back, NULL);
		}
}

/* ---- instructions --------------------------------------------------------------------------------------------- */

static bool writes(const struct ptx_operand *o, const struct ptx_sym *s)
{
	if (o->kind == OP_VEC || o->kind == OP_PAIR)
		for (unsigned i = 0; i < o->n; i++)
			if (writes(&o->list[i], s))
				return true;
	return o->kind == OP_SYM && o->sym == s;
}

/* Does it make an address of an address and numbers? */
static bool is_followed(const struct ptx_inst *in)
{
	switch (in->id) {
	case INST_MOV: case INST_MAPA: case INST_CVTA: case INST_CVT: case INST_ADD: case INST_SUB: case INST_OR: case INST_XOR:
	case INST_MAD: case INST_SELP: case INST_SHFL_SYNC: case INST_MIN: case INST_MAX:
		return true;
	case INST_AND:
		return in->nops > 2 && in->ops[2].kind == OP_INT;
	case INST_SHR:
		return in->nops > 2 && in->ops[2].kind == OP_INT && in->ops[2].ival == 4;       /* a descriptor's */
	default:
		return false;
	}
}

static void from_instruction(struct back *b, const struct ptx_func *f, const struct ptx_inst *in, const struct ptx_stmt *at)
{
	const struct ptx_operand *from = ptx_operand(in, 1);
	unsigned was = b->found, last = in->id == INST_SELP ? 3 : in->nops;

	if (ptx_insts[in->id].access != ACCESS_NONE) {
		if (in->id == INST_LD && in->space == SPACE_PARAM && from->kind == OP_ADDR)
			follow(b, f, from, NULL);
		return;
	}
	for (unsigned i = 1; i < last && i < in->nops; i++)
		follow(b, f, &in->ops[i], at);
	b->lost |= b->found != was && !is_followed(in);
}

static void from_register(struct back *b, const struct ptx_sym *s)
{
	for (uint32_t i = written.first[s->reg]; i < written.first[s->reg + 1]; i++)
		if (written.item[i]->id == INST_CALL)
			from_result(b, written.item[i], s);
		else
			from_instruction(b, written.f, written.item[i], NULL);
}

static void from_definitions(struct back *b, const struct ptx_func *f, const struct ptx_sym *s)
{
	if (f == written.f && s->kind == SYM_REG) {
		from_register(b, s);
		return;
	}
	for (const struct ptx_stmt *x = f->body; x; x = x->next) {
		if (x->kind != STMT_INST || !x->inst.nops)
			continue;
		if (x->inst.id == INST_CALL)
			from_result(b, &x->inst, s);
		else if (x->inst.id == INST_ST && x->inst.space == SPACE_PARAM) {
			if (x->inst.ops[0].kind == OP_ADDR && x->inst.ops[0].list[0].sym == s)
				follow(b, f, ptx_operand(&x->inst, 1), NULL);
		} else if (writes(&x->inst.ops[0], s)) {
			from_instruction(b, f, &x->inst, NULL);
		}
	}
}

/* May control come to it from elsewhere?  To labels of what gsan has put there it does not. */
static bool is_place(const struct ptx_stmt *s)
{
	return s->kind == STMT_LABEL && !s->inserted;
}

/* Between labels, what is written comes from right above: false: that is not so. */
static bool from_above(struct back *b, const struct ptx_func *f, const struct ptx_sym *s, const struct ptx_stmt *at)
{
	for (const struct ptx_stmt *x = at ? at->prev : NULL; x && !is_place(x); x = x->prev) {
		const struct ptx_inst *in = &x->inst;

		if (x->kind != STMT_INST || x->inserted || !in->nops || !writes(&in->ops[0], s))
			continue;
		if (in->guarded || in->ops[0].kind != OP_SYM || in->id == INST_CALL)
			return false;
		if (is_new(b, x))
			from_instruction(b, f, in, x);
		return true;
	}
	return false;
}

static void add_variable(struct back *b, const struct emu_place *p)
{
	unsigned i = 0;

	b->found++;
	while (p && i < b->made.n && b->made.of[i] != p->at)
		i++;
	if (!p || p->at > UINT16_MAX || i == ORC_MADE)
		b->lost = true;
	else if (i == b->made.n)
		b->made.of[b->made.n++] = (uint16_t)p->at;
}

static void follow(struct back *b, const struct ptx_func *f, const struct ptx_operand *o, const struct ptx_stmt *at)
{
	const struct emu_place *p;

	if (o->kind == OP_VEC || o->kind == OP_ADDR)
		for (unsigned i = 0; i < (o->kind == OP_ADDR ? 1u : o->n); i++)
			follow(b, f, &o->list[i], at);
	if (o->kind != OP_SYM || !o->sym || (o->sym->kind != SYM_REG && o->sym->kind != SYM_VAR) || o->sym->type == TYPE_PRED)
		return;
	p = o->sym->user;
	if (o->sym->kind == SYM_VAR && o->sym->space == SPACE_SHARED) {
		add_variable(b, p);
	} else if (o->sym->kind == SYM_REG || o->sym->space == SPACE_PARAM) {
		int n = place_in(f->params, o->sym);

		if ((o->sym->kind == SYM_REG && from_above(b, f, o->sym, at)) || !is_new(b, o->sym))
			return;
		if (n >= 0)
			from_callers(b, f, (unsigned)n);
		from_definitions(b, f, o->sym);
	}
}

/* ---- operands --------------------------------------------------------------------------------------------------- */

static bool is_product(const struct ptx_inst *in)
{
	switch (in->id) {
	case INST_WGMMA_MMA_ASYNC: case INST_WGMMA_MMA_ASYNC_SP: case INST_TCGEN05_MMA: case INST_TCGEN05_MMA_SP:
	case INST_TCGEN05_MMA_WS: case INST_TCGEN05_MMA_WS_SP:
		return true;
	default:
		return false;
	}
}

/* Its n-th address; of a product, both descriptors; of a copy of a box, the one that is no map's. */
static void follow_address(struct back *b, const struct ptx_func *f, const struct ptx_stmt *at, unsigned n)
{
	const struct ptx_inst *in = &at->inst;
	bool box = in->id == INST_CP_ASYNC_BULK_TENSOR || in->id == INST_CP_REDUCE_ASYNC_BULK_TENSOR;

	if (is_product(in) || in->id == INST_TCGEN05_CP) {
		for (unsigned i = 1; i < (is_product(in) ? 3u : 2u) && i < in->nops; i++)
			if (in->ops[i].kind == OP_SYM)
				follow(b, f, &in->ops[i], at);
		return;
	}
	n = box && n < 2 ? !ptx_has(in, MOD_MBARRIER_COMPLETE_TX_BYTES) : n;
	for (unsigned i = 0; i < in->nops; i++)
		if (in->ops[i].kind == OP_ADDR && !n--)
			follow(b, f, &in->ops[i], at);
}

/* Registers that it writes; of a call, those of its results. */
static void each_written(const struct ptx_operand *o, void (*see)(const struct ptx_inst *, int reg), const struct ptx_inst *in)
{
	if (o->kind == OP_VEC || o->kind == OP_PAIR || o->kind == OP_LIST)
		for (unsigned i = 0; i < o->n; i++)
			each_written(&o->list[i], see, in);
	if (o->kind == OP_SYM && o->sym && o->sym->kind == SYM_REG)
		see(in, o->sym->reg);
}

static void count(const struct ptx_inst *in, int reg)
{
	(void)in;
	written.first[reg + 1]++;
}

static void enter(const struct ptx_inst *in, int reg)
{
	written.item[--written.first[reg + 1]] = in;
}

static void each_instruction(const struct ptx_func *f, void (*see)(const struct ptx_inst *, int reg))
{
	for (const struct ptx_stmt *s = f->body; s; s = s->next)
		if (s->kind == STMT_INST && s->inst.nops && (s->inst.id != INST_ST || s->inst.space != SPACE_PARAM))
			each_written(&s->inst.ops[0], see, &s->inst);
}

void orc_bounds_forget(void)
{
	free(written.first);
	free(written.item);
	memset(&written, 0, sizeof written);
}

/* Counts go one place up, so that what is filled from its end begins where the one before ends. */
static void look_at(const struct ptx_func *f)
{
	uint32_t n = 0;

	orc_bounds_forget();
	written.f = f;
	written.first = orc_alloc((size_t)f->nregs + 2, sizeof *written.first);
	each_instruction(f, count);
	for (int r = 0; r < f->nregs; r++) {
		n += written.first[r + 1];
		written.first[r + 1] = n;
	}
	written.item = orc_alloc(n + 1, sizeof *written.item);
	each_instruction(f, enter);
	for (int r = 0; r < f->nregs; r++)
		written.first[r] = written.first[r + 1];
	written.first[f->nregs] = n;
}

/* What they are made of; when the first is asked for, since variables of other functions come later. */
static const struct orc_made *made_of(struct orc_op *k, unsigned address)
{
	for (unsigned i = 0; !k->looked && i < ORC_ADDRESSES; i++) {
		struct back b = {.m = k->in_func->mod->ptx};

		if (written.f != k->in_func->ptx)
			look_at(k->in_func->ptx);
		follow_address(&b, k->in_func->ptx, k->stmt, i);
		if (!b.lost)
			k->made[i] = b.made;
		free(b.seen);
	}
	k->looked = true;
	return &k->made[address];
}

/* ---- judging ------------------------------------------------------------------------------------------------------ */

/* Where a variable lies in a block. */
static bool part_of(const struct orc_block *b, unsigned i, uint64_t *from, uint64_t *to)
{
	const struct emu_func *f = b->launch->func;

	if (i >= f->mod->nshared || f->shared_at[i] == EMU_ALL)
		return false;
	*from = f->shared_at[i];
	*to = *from + (f->mod->shared[i].dynamic ? b->launch->dynamic : f->mod->shared[i].bytes);
	return true;
}

static bool is_inside(const struct orc_block *b, const struct orc_made *made, uint64_t at)
{
	bool known = false;
	uint64_t from, to;

	for (unsigned i = 0; i < made->n; i++) {
		if (!part_of(b, made->of[i], &from, &to))
			continue;
		known = true;
		if (at >= from && at < to)
			return true;
	}
	return !known;
}

uint64_t orc_outside(const struct orc_block *b, const struct orc_op *k, unsigned address, uint64_t space, uint64_t addr, uint64_t bytes)
{
	const struct orc_made *made = space && space < ORC_TMEM ? made_of((struct orc_op *)(uintptr_t)k, address) : NULL;
	uint64_t outside = 0;
	struct orc_fact f = {
		.op = {k, NULL}, .may = ORC_MAY(ORC_BOUNDS), .kind = ORC_BOUNDS, .certain = true, .block = {b->number, b->number},
		.space = space, .addr = addr
	};

	for (uint64_t i = 0; made && i < bytes && i < 64; i++)
		outside |= (uint64_t)!is_inside(b, made, addr + i) << i;
	/* Of several variables only the detector knows which of them are summed up. */
	if (outside && made->n > 1)
		orc_found(&f, 1);
	else if (outside)
		orc_say(&f);
	return outside;
}

/* ---- global memory ------------------------------------------------------------------------------------------------- */

struct lookup { uint64_t addr; bool found; const void *stream; };

static void look_up(void *arg, const struct emu_block_mem *b)
{
	struct lookup *l = arg;

	if (l->addr - b->base >= b->bytes)
		return;
	l->found = true;
	l->stream = b->stream;
}

/* The device knows what there is to the byte.  What another stream has freed is that one's affair: it is a race. */
uint64_t orc_off_ground(const struct orc_block *b, const struct orc_op *k, uint64_t addr, uint64_t bytes)
{
	uint64_t outside = 0;
	struct lookup l = {0};
	struct orc_fact f = {.op = {k, NULL}, .certain = true, .block = {b->number, b->number}, .addr = addr};

	for (uint64_t i = 0; i < bytes && i < 64; i++)
		outside |= (uint64_t)!emu_mem_within(addr + i, 1) << i;
	if (!outside)
		return 0;
	l.addr = addr + (uint64_t)__builtin_ctzll(outside);
	emu_mem_each(true, look_up, &l);
	f.kind = l.found ? ORC_FREED : ORC_BEHIND;
	f.may = ORC_MAY(f.kind);
	f.moot = l.stream && l.stream != b->launch->stream;
	orc_say(&f);
	return outside;
}
