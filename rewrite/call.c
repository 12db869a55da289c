/* SPDX-License-Identifier: Apache-2.0
 *
 * call.c: writes one call, under the guard of the instruction it belongs to.
 */
#include "rewrite/call.h"

#define SCRATCH(name, type) { name, sizeof name - 1, type }
const struct rw_scratch rw_scratches[S_COUNT] = {
	[S_CTX] = SCRATCH("%__gsan_ctx", 'l'), [S_ADDR] = SCRATCH("%__gsan_addr", 'l'),
	[S_FROM] = SCRATCH("%__gsan_from", 'l'), [S_MBAR] = SCRATCH("%__gsan_mbar", 'l'),
	[S_BYTES] = SCRATCH("%__gsan_bytes", 'l'), [S_WORD] = SCRATCH("%__gsan_word", 'w'),
	[S_ID] = SCRATCH("%__gsan_id", 'w'), [S_TICKET] = SCRATCH("%__gsan_ticket", 'w'),
	[S_LANES] = SCRATCH("%__gsan_lanes", 'w'),
	[S_PRED] = SCRATCH("%__gsan_pred", 'p'), [S_GUARD] = SCRATCH("%__gsan_guard", 'p'),
	[S_ZERO] = SCRATCH("%__gsan_zero", 'w'), [S_VALUE] = SCRATCH("%__gsan_value", 'w'),
	[S_HIGH] = SCRATCH("%__gsan_high", 'w'),
};

static const struct {
	const char *name, *result, *params;
	size_t len;
} fns[RW_FN_COUNT] = {
#define FN(id, name, result, params) \
	[RW_FN_##id] = { name, result, params, sizeof name - 1 },
#include "rewrite/calls.def"
};

void rw_put_scratch(struct ins *i, enum scratch s)
{
	struct rw_text *t = &i->r->text;

	i->used[s] = true;
	if ((size_t)(t->end - t->p) <= sizeof rw_scratches[s].name)
		rw_reserve(i->r, sizeof rw_scratches[s].name);
	memcpy(t->p, rw_scratches[s].name, sizeof rw_scratches[s].name);
	t->p += rw_scratches[s].len;
}

static void put_arg(struct ins *i, struct arg a)
{
	switch (a.kind) {
	case ARG_NUMBER:
		rw_putu(i->r, a.number);
		break;
	case ARG_SCRATCH:
		rw_put_scratch(i, (enum scratch)a.number);
		break;
	case ARG_OPERAND:
		rw_put_operand(i->r, a.op);
		break;
	}
}

void rw_put_guard(struct rw *r, struct guard g)
{
	if (!g.name)
		return;
	if (g.neg)
		RW_PUT(r, "@!");
	else
		RW_PUT(r, "@");
	rw_puts(r, g.name);
	RW_PUT(r, " ");
}

void rw_put_call(struct ins *i, enum rw_fn fn, struct guard g, const struct arg *args,
		 enum scratch result)
{
	struct rw *r = i->r;

	r->used[fn] = true;
	RW_PUT(r, "\t");
	rw_put_guard(r, g);
	RW_PUT(r, "call ");
	if (*fns[fn].result) {
		RW_PUT(r, "(");
		rw_put_scratch(i, result);
		RW_PUT(r, "), ");
	}
	rw_putn(r, fns[fn].name, fns[fn].len);
	for (unsigned k = 0; fns[fn].params[k]; k++) {
		if (k)
			RW_PUT(r, ", ");
		else
			RW_PUT(r, ", (");
		put_arg(i, args[k]);
	}
	if (*fns[fn].params)
		RW_PUT(r, ");");
	else
		RW_PUT(r, ";");
}

static bool writes(const struct ptx_operand *o, const struct ptx_sym *sym)
{
	if (o->kind == OP_SYM)
		return o->sym == sym;
	if (o->kind == OP_VEC || o->kind == OP_PAIR || o->kind == OP_LIST)
		for (unsigned k = 0; k < o->n; k++)
			if (writes(&o->list[k], sym))
				return true;
	return false;
}

bool rw_overwrites(const struct ptx_inst *in, const struct ptx_sym *sym)
{
	return in->nops && sym && writes(&in->ops[0], sym);
}

struct guard rw_guard_of(const struct ptx_inst *in)
{
	if (!in->guarded)
		return (struct guard){ NULL, false };
	return (struct guard){ in->guard->name, in->guard_neg };
}

struct guard rw_guard_after(struct ins *i, const struct ptx_inst *in)
{
	struct guard g = rw_guard_of(in);

	if (!g.name || !rw_overwrites(in, in->guard))
		return g;
	RW_PUT(i->r, "\tmov.pred ");
	rw_put_scratch(i, S_GUARD);
	RW_PUT(i->r, ", ");
	rw_puts(i->r, g.name);
	RW_PUT(i->r, ";\n");
	return (struct guard){ rw_scratches[S_GUARD].name, g.neg };
}
