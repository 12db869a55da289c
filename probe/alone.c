/* SPDX-License-Identifier: Apache-2.0
 *
 * alone.c: blocks of instructions to which at most one lane of a row comes: those behind `if (threadIdx.x == 0)`, say.
 */
#include <string.h>

#include "probe/flow.h"

enum { DEEP = 16 };

static bool is_thread_constant(const char *name)
{
	static const char *const of[] = {"%tid", "%ctaid", "%ntid", "%nctaid", "%laneid"};

	for (unsigned i = 0; i < sizeof of / sizeof *of; i++)
		if (!strncmp(name, of[i], strlen(of[i])))
			return true;
	return false;
}

static bool is_pure(const struct flow *f, const struct ptx_operand *o, int deep);

/* Set once, outside of all loops, from what a thread has all along. */
static bool is_set_purely(const struct flow *f, const struct ptx_sym *reg, int deep)
{
	const struct flow_def *d = &f->def[reg->reg];
	const struct ptx_inst *in = d->stmt ? &d->stmt->inst : NULL;

	if (!in || in->guarded || flow_loops(f, d->block) || !deep)
		return false;
	if (in->id == INST_LD)
		return in->space == SPACE_PARAM && f->f->entry;
	if (in->id != INST_MOV && in->id != INST_CVT && in->id != INST_ADD && in->id != INST_SUB && in->id != INST_MUL && in->id != INST_MAD &&
	    in->id != INST_AND && in->id != INST_OR && in->id != INST_SHL && in->id != INST_SHR)
		return false;
	for (unsigned i = 1; i < in->nops; i++)
		if (!is_pure(f, &in->ops[i], deep - 1))
			return false;
	return true;
}

/* The same each time that a thread looks. */
static bool is_pure(const struct flow *f, const struct ptx_operand *o, int deep)
{
	if (o->kind == OP_INT)
		return true;
	if (o->kind != OP_SYM || !o->sym || o->neg)
		return false;
	return o->sym->kind == SYM_SREG ? is_thread_constant(o->sym->name) :
	       o->sym->kind == SYM_REG && !o->elemtext && is_set_purely(f, o->sym, deep);
}

/* Does it differ in all lanes of a row?  Steps of 2^27 and more come round within 32 lanes. */
static bool is_each_ones(const struct flow *f, const struct ptx_operand *o)
{
	struct shape s = flow_shape(f, o);

	return s.kind == SHAPE_ROW && (uint32_t)s.step % (1u << 27) && is_pure(f, o, DEEP);
}

/* A predicate that at most one lane of a row holds, all along; `not`: that one alone does not. */
static bool picks_one(const struct flow *f, const struct ptx_sym *p, bool *not)
{
	const struct flow_def *d = &f->def[p->reg];
	const struct ptx_inst *in = d->stmt ? &d->stmt->inst : NULL;

	if (!in || in->id != INST_SETP || in->guarded || in->nops != 3 || flow_loops(f, d->block) || ptx_type_bits(in->type) < 32)
		return false;
	*not = ptx_has(in, MOD_NE);
	if ((!*not && !ptx_has(in, MOD_EQ)) || (in->ops[1].kind != OP_INT && in->ops[2].kind != OP_INT))
		return false;
	return is_each_ones(f, &in->ops[1]) || is_each_ones(f, &in->ops[2]);
}

static bool is_behind(const struct flow *f, uint32_t block, uint32_t first)
{
	while (block != FLOW_NONE && block != first)
		block = f->block[block].idom;
	return block == first;
}

bool flow_find_alone(struct flow *f)
{
	bool any = false, not;

	for (uint32_t b = 0; b < f->n; b++) {
		const struct ptx_inst *jump = f->block[b].jump;
		uint32_t first;

		if (!jump || !f->block[b].reached || !picks_one(f, jump->guard, &not))
			continue;
		first = not == jump->guard_neg ? f->block[b].target : f->block[b].next;
		if (first == FLOW_NONE || f->block[first].ways_in != 1 || f->block[b].next == f->block[b].target)
			continue;
		for (uint32_t i = 0; i < f->n; i++)
			f->block[i].alone |= is_behind(f, i, first);
		any = true;
	}
	return any;
}
