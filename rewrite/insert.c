/* SPDX-License-Identifier: Apache-2.0
 *
 * insert.c: writes the calls into the function bodies.  Every call is one
 * instruction under the guard of the one it belongs to, with registers and
 * numbers as arguments (PTX ISA "call"): no variables, no scope, so it may stand
 * anywhere, between the parts of another call, in nested scopes, in divergent
 * code; ptxas makes the same machine code of it as of st.param sequences four
 * times as long.  Nothing of the original is moved or changed.  Registers:
 * %__gsan_*, declared at the function's top if used.
 */
#include <string.h>

#include "rewrite/rw.h"

/* Scratch registers.  Each is written right before it is read. */
enum scratch {
	S_CTX,                  /* the thread's context */
	S_ADDR,                 /* address */
	S_FROM,                 /* address of a copy's source */
	S_MBAR,                 /* address of its mbarrier; what a tensor map was */
	S_BYTES,                /* bytes or stride */
	S_WORD,                 /* 32-bit address, lane number */
	S_ID,                   /* barrier */
	S_TICKET,               /* what arrive returned */
	S_LANES,                /* what split returned, until the join */
	S_PRED,                 /* this lane has a row */
	S_GUARD,                /* guard that the instruction overwrites */
	S_ZERO,                 /* 0, see quirk.c */
	S_COUNT
};

static const struct { const char *name; char type; } scratch[S_COUNT] = {
	[S_CTX] = { "%__gsan_ctx", 'l' }, [S_ADDR] = { "%__gsan_addr", 'l' },
	[S_FROM] = { "%__gsan_from", 'l' }, [S_MBAR] = { "%__gsan_mbar", 'l' },
	[S_BYTES] = { "%__gsan_bytes", 'l' }, [S_WORD] = { "%__gsan_word", 'w' },
	[S_ID] = { "%__gsan_id", 'w' }, [S_TICKET] = { "%__gsan_ticket", 'w' },
	[S_LANES] = { "%__gsan_lanes", 'w' },
	[S_PRED] = { "%__gsan_pred", 'p' }, [S_GUARD] = { "%__gsan_guard", 'p' },
	[S_ZERO] = { "%__gsan_zero", 'w' },
};

static const struct {
	const char *name, *result, *params;
	size_t len;
} fns[RW_FN_COUNT] = {
#define FN(id, name, result, params) \
	[RW_FN_##id] = { name, result, params, sizeof name - 1 },
#include "rewrite/calls.def"
};

/* What a call passes: a scratch register, an operand of the instruction, or a
 * number. */
struct arg {
	enum { ARG_NUMBER, ARG_SCRATCH, ARG_OPERAND } kind;
	uint64_t number;                /* or enum scratch */
	const struct ptx_operand *op;
};

static inline struct arg number(uint64_t v)
{
	return (struct arg){ ARG_NUMBER, v, NULL };
}

static inline struct arg reg(enum scratch s)
{
	return (struct arg){ ARG_SCRATCH, s, NULL };
}

static inline struct arg operand(const struct ptx_operand *o)
{
	return (struct arg){ ARG_OPERAND, 0, o };
}

struct guard { const char *name; bool neg; };   /* name NULL: none */

/* State of one function. */
struct ins {
	struct rw *r;
	struct rw_func *rf;
	bool used[S_COUNT];
};

static void put_scratch(struct ins *i, enum scratch s)
{
	i->used[s] = true;
	rw_puts(i->r, scratch[s].name);
}

static void put_arg(struct ins *i, struct arg a)
{
	switch (a.kind) {
	case ARG_NUMBER:
		rw_putu(i->r, a.number);
		break;
	case ARG_SCRATCH:
		put_scratch(i, (enum scratch)a.number);
		break;
	case ARG_OPERAND:
		rw_put_operand(i->r, a.op);
		break;
	}
}

static void put_guard(struct rw *r, struct guard g)
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

static void put_call(struct ins *i, enum rw_fn fn, struct guard g, const struct arg *args,
		     enum scratch result)
{
	struct rw *r = i->r;

	r->used[fn] = true;
	RW_PUT(r, "\t");
	put_guard(r, g);
	RW_PUT(r, "call ");
	if (*fns[fn].result) {
		RW_PUT(r, "(");
		put_scratch(i, result);
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

/* Does the instruction overwrite the register? */
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

static bool overwrites(const struct ptx_inst *in, const struct ptx_sym *sym)
{
	return in->nops && sym && writes(&in->ops[0], sym);
}

static struct guard guard_of(const struct ptx_inst *in)
{
	if (!in->guarded)
		return (struct guard){ NULL, false };
	return (struct guard){ in->guard->name, in->guard_neg };
}

/* The guard for a call behind the instruction; saves it now if it will be gone. */
static struct guard guard_after(struct ins *i, const struct ptx_inst *in)
{
	struct guard g = guard_of(in);

	if (!g.name || !overwrites(in, in->guard))
		return g;
	RW_PUT(i->r, "\tmov.pred ");
	put_scratch(i, S_GUARD);
	RW_PUT(i->r, ", ");
	rw_puts(i->r, g.name);
	RW_PUT(i->r, ";\n");
	return (struct guard){ scratch[S_GUARD].name, g.neg };
}

/* Puts code that has the address ready, in `to` if it needs a register, and returns
 * where it is then; `keep`: it must survive the instruction. */
static struct arg put_place(struct ins *i, const struct rw_event *e, const struct ptx_operand *addr,
			    enum scratch to, bool keep)
{
	struct rw *r = i->r;
	const struct ptx_operand *base = &addr->list[0];
	struct ptx_operand plain = *base;
	bool is_reg = base->kind == OP_SYM && base->sym->kind == SYM_REG;
	bool narrow = is_reg && ptx_type_bits(base->sym->type) == 32;

	plain.off = 0;
	if (is_reg && !narrow && !base->off && !base->elem &&
	    !(keep && overwrites(&e->stmt->inst, base->sym)))
		return operand(base);
	if (narrow && base->off) {
		RW_PUT(r, "\tadd.s32 ");
		put_scratch(i, S_WORD);
		RW_PUT(r, ", ");
		rw_put_operand(r, &plain);
		RW_PUT(r, ", ");
		rw_puti(r, base->off);
		RW_PUT(r, ";\n");
	}
	if (narrow)
		RW_PUT(r, "\tcvt.u64.u32 ");
	else if (is_reg && base->off)
		RW_PUT(r, "\tadd.s64 ");
	else
		RW_PUT(r, "\tmov.b64 ");
	put_scratch(i, to);
	RW_PUT(r, ", ");
	if (narrow && base->off) {
		put_scratch(i, S_WORD);
	} else if (is_reg) {
		rw_put_operand(r, &plain);
		if (base->off && !narrow) {
			RW_PUT(r, ", ");
			rw_puti(r, base->off);
		}
	} else {
		rw_put_operand(r, base);
	}
	RW_PUT(r, ";\n");
	return reg(to);
}

static struct arg put_address(struct ins *i, const struct rw_event *e, bool keep)
{
	return put_place(i, e, e->addr, S_ADDR, keep);
}

static enum rw_fn by_space(const struct rw_event *e, enum rw_fn g)
{
	/* calls.def has each family in the order g, s, x, c, y, m. */
	switch (e->space) {
	case 's':
		return (enum rw_fn)(g + 1);
	case 'x':
		return (enum rw_fn)(g + 2);
	case 'c':
		return (enum rw_fn)(g + 3);
	case 'y':
		return (enum rw_fn)(g + 4);
	case 'm':
		return (enum rw_fn)(g + 5);
	default:
		return g;
	}
}

/* PTX ISA "ldmatrix": lanes beyond the rows in use address nothing. */
static struct guard put_lanes(struct ins *i, const struct rw_event *e)
{
	struct rw *r = i->r;
	struct guard g = guard_of(&e->stmt->inst);

	if (!e->lanes)
		return g;
	RW_PUT(r, "\tmov.u32 ");
	put_scratch(i, S_WORD);
	RW_PUT(r, ", %laneid;\n");
	if (g.name)
		RW_PUT(r, "\tsetp.lt.and.u32 ");
	else
		RW_PUT(r, "\tsetp.lt.u32 ");
	put_scratch(i, S_PRED);
	RW_PUT(r, ", ");
	put_scratch(i, S_WORD);
	RW_PUT(r, ", ");
	rw_putu(r, e->lanes);
	if (g.name) {
		RW_PUT(r, ", ");
		if (g.neg)
			RW_PUT(r, "!");
		rw_puts(r, g.name);
	}
	RW_PUT(r, ";\n");
	return (struct guard){ scratch[S_PRED].name, false };
}

static void weak(struct ins *i, const struct rw_event *e)
{
	struct arg a = put_address(i, e, false);
	struct guard g = put_lanes(i, e);
	struct arg args[] = { reg(S_CTX), a, number(e->info + e->more), number(e->site) };
	struct arg all[] = { reg(S_CTX), a, number(e->stride), number(e->n + 1u), number(e->info), number(e->site) };

	if (e->space == 'c' || e->space == 'y' || e->space == 'm')
		put_call(i, by_space(e, RW_FN_BEFORE_G), g, args, 0);
	else if (e->n)
		put_call(i, RW_FN_COLUMN, g, all, 0);
	else
		put_call(i, by_space(e, e->what == WHAT_READ ? RW_FN_READ_G : RW_FN_WRITE_G), g, args, 0);
}

/* An operand of 64 bits, whatever it is written as. */
static struct arg widened(struct ins *i, const struct ptx_operand *o)
{
	if (o->kind != OP_SYM || ptx_type_bits(o->sym->type) == 64)
		return operand(o);
	RW_PUT(i->r, "\tcvt.u64.u32 ");
	put_scratch(i, S_BYTES);
	RW_PUT(i->r, ", ");
	rw_put_operand(i->r, o);
	RW_PUT(i->r, ";\n");
	return reg(S_BYTES);
}

static void range(struct ins *i, const struct rw_event *e)
{
	struct arg a = put_address(i, e, false);
	struct arg n = widened(i, &e->stmt->inst.ops[1]);
	struct arg args[] = { reg(S_CTX), a, n, number(e->info), number(e->site) };

	put_call(i, by_space(e, RW_FN_RANGE_G), guard_of(&e->stmt->inst), args, 0);
}

/* PTX ISA "wmma.load": the stride is in elements; without one the tile's rows
 * follow each other. */
static struct arg put_stride(struct ins *i, const struct rw_event *e)
{
	const struct ptx_inst *in = &e->stmt->inst;
	struct rw *r = i->r;

	if (in->nops < 3)
		return number(e->row_bytes);
	if (in->ops[2].kind != OP_SYM)
		return number(in->ops[2].ival * e->type_bits / 8);
	RW_PUT(r, "\tmul.wide.u32 ");
	put_scratch(i, S_BYTES);
	RW_PUT(r, ", ");
	rw_put_operand(r, &in->ops[2]);
	RW_PUT(r, ", ");
	rw_putu(r, e->type_bits);
	RW_PUT(r, ";\n\tshr.u64 ");
	put_scratch(i, S_BYTES);
	RW_PUT(r, ", ");
	put_scratch(i, S_BYTES);
	RW_PUT(r, ", 3;\n");
	return reg(S_BYTES);
}

static void rows(struct ins *i, const struct rw_event *e)
{
	struct arg a = put_address(i, e, false);
	struct arg n = put_stride(i, e);
	struct arg args[] = { reg(S_CTX), a, n, number(e->rows), number(e->info), number(e->site) };

	put_call(i, by_space(e, RW_FN_ROWS_G), guard_of(&e->stmt->inst), args, 0);
}

/* The text before `e`'s instruction and, through *after, the one behind it. */
static const char *strong(struct ins *i, const struct rw_event *e, const char **after)
{
	struct rw *r = i->r;
	const struct ptx_inst *in = &e->stmt->inst;
	bool reads = (e->info & GSAN_INFO_READ) && !(e->info & GSAN_INFO_RED);
	struct arg args[] = { reg(S_CTX), { 0 }, number(e->info), number(e->site) };
	struct guard g;
	const char *before;

	rw_open(r);
	args[1] = put_address(i, e, reads);
	g = reads ? guard_after(i, in) : guard_of(in);
	put_call(i, by_space(e, RW_FN_BEFORE_G), guard_of(in), args, 0);
	before = rw_close(r);
	if (reads) {
		rw_open(r);
		put_call(i, by_space(e, RW_FN_AFTER_G), g, args, 0);
		*after = rw_close(r);
	}
	return before;
}

static struct arg put_barrier_id(struct ins *i, const struct ptx_inst *in,
				 const struct ptx_operand *id)
{
	if (id->kind != OP_SYM || !overwrites(in, id->sym))
		return operand(id);
	RW_PUT(i->r, "\tmov.b32 ");
	put_scratch(i, S_ID);
	RW_PUT(i->r, ", ");
	rw_put_operand(i->r, id);
	RW_PUT(i->r, ";\n");
	return reg(S_ID);
}

/* PTX ISA "bar, barrier": a{, b}; .red has its result in front and a predicate
 * behind. */
static const char *barrier(struct ins *i, const struct rw_event *e, const char **after)
{
	struct rw *r = i->r;
	const struct ptx_inst *in = &e->stmt->inst;
	unsigned id = ptx_has(in, MOD_RED);
	bool counted = in->nops == (id ? 4 : 2);
	struct arg args[] = { reg(S_CTX), { 0 }, { 0 } };
	struct guard g;
	const char *before;

	rw_open(r);
	args[1] = put_barrier_id(i, in, &in->ops[id]);
	args[2] = counted ? operand(&in->ops[id + 1]) : number(0);
	g = guard_after(i, in);
	put_call(i, RW_FN_ARRIVE, guard_of(in), args, S_TICKET);
	before = rw_close(r);
	if (!ptx_has(in, MOD_ARRIVE)) {
		args[2] = reg(S_TICKET);
		rw_open(r);
		put_call(i, RW_FN_LEAVE, g, args, 0);
		*after = rw_close(r);
	}
	return before;
}

/* A call behind the instruction that says no more than that it was carried out. */
static const char *call_after(struct ins *i, const struct rw_event *e, enum rw_fn fn, const char **after)
{
	struct rw *r = i->r;
	struct arg ctx = reg(S_CTX);
	const char *before;
	struct guard g;

	rw_open(r);
	g = guard_after(i, &e->stmt->inst);
	before = rw_close(r);
	rw_open(r);
	put_call(i, fn, g, &ctx, 0);
	*after = rw_close(r);
	return before;
}

static void mbarrier(struct ins *i, const struct rw_event *e)
{
	struct arg args[] = { reg(S_CTX), put_address(i, e, false), number(e->info),
			      e->arg[0] ? operand(e->arg[0]) : number(1), number(e->site) };

	put_call(i, RW_FN_MBAR, guard_of(&e->stmt->inst), args, 0);
}

/* Behind it: what it waited for is there only if it says so. */
static const char *mbarrier_wait(struct ins *i, const struct rw_event *e, const char **after)
{
	struct rw *r = i->r;
	const struct ptx_inst *in = &e->stmt->inst;
	struct arg args[] = { reg(S_CTX), { 0 }, number(e->info),
			      e->arg[0] ? operand(e->arg[0]) : number(0), reg(S_WORD), number(e->site) };
	const char *before;
	struct guard g;

	rw_open(r);
	args[1] = put_address(i, e, true);
	g = guard_after(i, in);
	before = rw_close(r);
	rw_open(r);
	RW_PUT(r, "\tselp.b32 ");
	put_scratch(i, S_WORD);
	RW_PUT(r, ", 1, 0, ");
	rw_put_operand(r, &in->ops[0]);
	RW_PUT(r, ";\n");
	put_call(i, RW_FN_MBAR_WAIT, g, args, 0);
	*after = rw_close(r);
	return before;
}

/* PTX ISA "cp.async.bulk": which blocks of the cluster, or bytes of 16, in 16 bits. */
static void put_mask(struct ins *i, const struct ptx_operand *o)
{
	RW_PUT(i->r, "\tcvt.u32.u16 ");
	put_scratch(i, S_TICKET);
	RW_PUT(i->r, ", ");
	rw_put_operand(i->r, o);
	RW_PUT(i->r, ";\n");
}

static void copy(struct ins *i, const struct rw_event *e)
{
	struct arg args[] = { reg(S_CTX), put_address(i, e, false), put_place(i, e, e->arg[0], S_FROM, false),
			      e->arg[1] ? operand(e->arg[1]) : number(e->stride),
			      e->arg[2] ? operand(e->arg[2]) : number(e->stride), number(0), number(e->info),
			      number(e->site) };

	if ((e->info & (GSAN_COPY_MULTICAST | GSAN_COPY_MASKED)) && e->arg[2]) {
		put_mask(i, e->arg[2]);
		args[4] = reg(S_TICKET);
	}
	if (e->arg[3])
		args[5] = put_place(i, e, e->arg[3], S_MBAR, false);
	put_call(i, RW_FN_COPY, guard_of(&e->stmt->inst), args, 0);
}

/* PTX ISA "cp.async.bulk.tensor": the blocks, and above them the offsets of im2col. */
static struct arg put_more(struct ins *i, const struct ptx_operand *blocks, const struct ptx_operand *offsets)
{
	struct rw *r = i->r;

	if (!blocks && !offsets)
		return number(0);
	if (offsets)
		RW_PUT(r, "\tmov.b64 ");
	else
		RW_PUT(r, "\tcvt.u64.u16 ");
	put_scratch(i, S_BYTES);
	RW_PUT(r, ", ");
	if (offsets)
		RW_PUT(r, "{");
	if (blocks)
		rw_put_operand(r, blocks);
	else
		rw_putu(r, 0);
	for (unsigned k = 0; offsets && k < 3; k++) {
		RW_PUT(r, ", ");
		if (k < offsets->n)
			rw_put_operand(r, &offsets->list[k]);
		else
			rw_putu(r, 0);
	}
	if (offsets)
		RW_PUT(r, "}");
	RW_PUT(r, ";\n");
	return reg(S_BYTES);
}

static void tensor(struct ins *i, const struct rw_event *e)
{
	const struct ptx_operand *c = &e->addr->list[1];
	struct arg args[12] = { reg(S_CTX), put_address(i, e, false), put_place(i, e, e->arg[0], S_FROM, false),
				number(0) };

	if (e->arg[1])
		args[3] = put_place(i, e, e->arg[1], S_MBAR, false);
	for (unsigned k = 0; k < 5; k++)
		args[4 + k] = k < c->n ? operand(&c->list[k]) : number(0);
	args[9] = number(e->info);
	args[10] = put_more(i, e->arg[2], e->arg[3]);
	args[11] = number(e->site);
	put_call(i, RW_FN_TENSOR, guard_of(&e->stmt->inst), args, 0);
}

/* Before tensormap.replace and, through *after, behind it: what the map said, and what
 * it says then. */
static const char *map_edit(struct ins *i, const struct rw_event *e, const char **after)
{
	struct rw *r = i->r;
	const struct ptx_inst *in = &e->stmt->inst;
	struct arg args[] = { reg(S_CTX), { 0 }, number(e->info), number(e->site), reg(S_MBAR) };
	const char *before;

	rw_open(r);
	args[1] = put_address(i, e, true);
	put_call(i, RW_FN_MAP_EDIT, guard_of(in), args, S_MBAR);
	before = rw_close(r);
	rw_open(r);
	args[3] = widened(i, e->arg[0]);
	put_call(i, RW_FN_MAP_EDITED, guard_of(in), args, 0);
	*after = rw_close(r);
	return before;
}

static void map_copy(struct ins *i, const struct rw_event *e)
{
	struct arg args[] = { reg(S_CTX), put_address(i, e, false), put_place(i, e, e->arg[0], S_FROM, false),
			      number(e->info), number(e->site) };

	put_call(i, RW_FN_MAP_COPY, guard_of(&e->stmt->inst), args, 0);
}

static void map_fence(struct ins *i, const struct rw_event *e)
{
	struct arg args[] = { reg(S_CTX), e->addr ? put_address(i, e, false) : number(0), number(e->info) };

	put_call(i, RW_FN_MAP_FENCE, guard_of(&e->stmt->inst), args, 0);
}

static void wgmma(struct ins *i, const struct rw_event *e)
{
	struct arg args[] = { reg(S_CTX), e->arg[0] ? operand(e->arg[0]) : number(0),
			      e->arg[1] ? operand(e->arg[1]) : number(0), number(e->info), number(e->site) };

	put_call(i, RW_FN_WGMMA, guard_of(&e->stmt->inst), args, 0);
}

/* Are any lanes left alone?  Then the words that say which are not all 0. */
static struct arg put_any(struct ins *i, const struct ptx_operand *lanes)
{
	if (!lanes)
		return number(0);
	for (unsigned k = 0; k < lanes->n; k++) {
		if (k) {
			RW_PUT(i->r, "\tor.b32 ");
			put_scratch(i, S_TICKET);
			RW_PUT(i->r, ", ");
			put_scratch(i, S_TICKET);
		} else {
			RW_PUT(i->r, "\tmov.b32 ");
			put_scratch(i, S_TICKET);
		}
		RW_PUT(i->r, ", ");
		rw_put_operand(i->r, &lanes->list[k]);
		RW_PUT(i->r, ";\n");
	}
	return reg(S_TICKET);
}

/* The text before its instruction and, for waits, the one behind it. */
static const char *tcgen05(struct ins *i, const struct rw_event *e, const char **after)
{
	const struct ptx_inst *in = &e->stmt->inst;
	struct arg args[8] = { reg(S_CTX), number(e->info) };
	enum rw_fn fn = RW_FN_TC_FENCE;
	const char *text;

	rw_open(i->r);
	if (e->addr)
		args[1] = put_address(i, e, false);
	switch (in->id) {
	case INST_TCGEN05_WAIT_LD:
	case INST_TCGEN05_WAIT_ST:
		fn = RW_FN_TC_WAIT;
		break;
	case INST_TCGEN05_LD:
	case INST_TCGEN05_ST:
		fn = RW_FN_TC_ACCESS;
		args[2] = number(e->info);
		args[3] = e->arg[0] ? operand(e->arg[0]) : number(0);
		args[4] = number(e->site);
		break;
	case INST_TCGEN05_MMA:
		fn = RW_FN_TC_MMA;
		args[2] = e->info & GSAN_TC_A_TMEM ? put_place(i, e, e->arg[0], S_FROM, false) : operand(e->arg[0]);
		args[3] = operand(e->arg[1]);
		args[4] = operand(e->arg[2]);
		args[5] = put_any(i, e->arg[3]);
		args[6] = number(e->info);
		args[7] = number(e->site);
		break;
	case INST_TCGEN05_CP:
		fn = RW_FN_TC_CP;
		args[2] = operand(e->arg[0]);
		args[3] = number(e->info);
		args[4] = number(e->site);
		break;
	case INST_TCGEN05_COMMIT:
		fn = RW_FN_TC_COMMIT;
		if (e->arg[0])
			put_mask(i, e->arg[0]);
		args[2] = e->arg[0] ? reg(S_TICKET) : number(0);
		args[3] = number(e->info);
		args[4] = number(e->site);
		break;
	case INST_TCGEN05_ALLOC:
		fn = RW_FN_TC_ALLOC;
		args[2] = number(e->info);
		args[3] = number(e->site);
		break;
	case INST_TCGEN05_DEALLOC:
		fn = RW_FN_TC_FREE;
		args[1] = operand(&in->ops[0]);
		args[2] = operand(&in->ops[1]);
		break;
	default:
		break;
	}
	put_call(i, fn, guard_of(in), args, 0);
	text = rw_close(i->r);
	if (fn != RW_FN_TC_WAIT)
		return text;
	*after = text;
	return "";
}

/* Before a commit; behind a wait. */
static const char *group(struct ins *i, const struct rw_event *e, const char **after)
{
	struct arg args[] = { reg(S_CTX), number(e->info), e->arg[0] ? operand(e->arg[0]) : number(0) };
	const char *text;

	rw_open(i->r);
	put_call(i, GSAN_COPY_HOW(e->info) == GSAN_HOW_WGMMA ? RW_FN_WGMMA_GROUP : RW_FN_GROUP,
		 guard_of(&e->stmt->inst), args, 0);
	text = rw_close(i->r);
	if (e->info & GSAN_GROUP_COMMIT)
		return text;
	*after = text;
	return "";
}

static const char *simple(struct ins *i, const struct rw_event *e)
{
	const struct ptx_inst *in = &e->stmt->inst;
	struct arg args[] = { reg(S_CTX), number(e->info) };

	rw_open(i->r);
	switch ((enum rw_what)e->what) {
	case WHAT_READ:
	case WHAT_WRITE:
		weak(i, e);
		break;
	case WHAT_RANGE:
		range(i, e);
		break;
	case WHAT_ROWS:
		rows(i, e);
		break;
	case WHAT_WARP_SYNC:
		args[1] = operand(&in->ops[0]);
		put_call(i, RW_FN_WARP_SYNC, guard_of(in), args, 0);
		break;
	case WHAT_FENCE:
		put_call(i, RW_FN_FENCE, guard_of(in), args, 0);
		break;
	case WHAT_MBAR:
		mbarrier(i, e);
		break;
	case WHAT_COPY:
		copy(i, e);
		break;
	case WHAT_TENSOR:
		tensor(i, e);
		break;
	case WHAT_MAP_COPY:
		map_copy(i, e);
		break;
	case WHAT_MAP_FENCE:
		map_fence(i, e);
		break;
	case WHAT_WGMMA:
		wgmma(i, e);
		break;
	case WHAT_TCGEN05_OTHER:
		put_call(i, RW_FN_TC_OTHER, guard_of(in), args, 0);
		break;
	case WHAT_PROXY_FENCE:
		put_call(i, RW_FN_PROXY_FENCE, guard_of(in), args, 0);
		break;
	case WHAT_INIT_FENCE:
		put_call(i, RW_FN_INIT_FENCE, guard_of(in), args, 0);
		break;
	case WHAT_CLUSTER_ARRIVE:
		put_call(i, RW_FN_CLUSTER_ARRIVE, guard_of(in), args, 0);
		break;
	case WHAT_GRID_GO:
		put_call(i, RW_FN_LAUNCH_DEPENDENTS, guard_of(in), args, 0);
		break;
	case WHAT_LEAVE:
		if (i->r->outlives) {
			put_call(i, RW_FN_ENDED, guard_of(in), args, 0);
			RW_PUT(i->r, "\n");
		}
		put_call(i, RW_FN_EXIT, guard_of(in), args, 0);
		break;
	case WHAT_GRID_WAIT:
	case WHAT_CLUSTER_WAIT:
	case WHAT_MBAR_WAIT:
	case WHAT_GROUP:
	case WHAT_MAP_EDIT:
	case WHAT_TCGEN05:
	case WHAT_STRONG:
	case WHAT_BARRIER:
	case WHAT_UNMODELLED:
		break;
	}
	return rw_close(i->r);
}

/* A pragma belongs to the instruction behind it: "used_bytes_mask" to a load,
 * "nounroll" to a branch.  Code goes before it. */
static struct ptx_stmt *place(struct ptx_stmt *s)
{
	struct ptx_stmt *at = s;

	for (struct ptx_stmt *p = s->prev; p; p = p->prev) {
		if (p->kind == STMT_PRAGMA)
			at = p;
		else if (p->kind != STMT_LOC)
			break;
	}
	return at;
}

static void insert_event(struct ins *i, struct rw_event *e)
{
	struct ptx_func *f = i->rf->f;
	const struct rw_event *member = e;
	const char *before, *after = NULL;

	/* What asynchronous operations are told is no access's. */
	if (e->addr || e->what == WHAT_WGMMA)
		e->site = rw_site(i->r, i->rf, e->stmt, e->var, e->space ? e->info : 0);
	/* The sites of a column follow one another. */
	for (unsigned k = 0; k < e->n; k++) {
		member += member->next;
		rw_site(i->r, i->rf, member->stmt, member->var, member->info);
	}
	if (e->what == WHAT_STRONG)
		before = strong(i, e, &after);
	else if (e->what == WHAT_BARRIER)
		before = barrier(i, e, &after);
	else if (e->what == WHAT_MBAR_WAIT)
		before = mbarrier_wait(i, e, &after);
	else if (e->what == WHAT_GROUP)
		before = group(i, e, &after);
	else if (e->what == WHAT_MAP_EDIT)
		before = map_edit(i, e, &after);
	else if (e->what == WHAT_TCGEN05)
		before = tcgen05(i, e, &after);
	else if (e->what == WHAT_UNMODELLED)
		before = call_after(i, e, RW_FN_UNMODELLED, &after);
	else if (e->what == WHAT_CLUSTER_WAIT)
		before = call_after(i, e, RW_FN_CLUSTER_WAIT, &after);
	else if (e->what == WHAT_GRID_WAIT)
		before = call_after(i, e, RW_FN_GRID_WAIT, &after);
	else
		before = simple(i, e);
	if (*before)
		ptx_insert_before(i->r->m, f, place(e->stmt), before);
	if (after)
		ptx_insert_after(i->r->m, f, e->stmt, after);
}

static void insert_join(struct ins *i, const struct rw_join *j)
{
	const struct guard none = { NULL, false };
	struct arg ctx = reg(S_CTX), lanes = reg(S_LANES);

	rw_open(i->r);
	put_call(i, RW_FN_SPLIT, none, &ctx, S_LANES);
	ptx_insert_before(i->r->m, i->rf->f, place(j->branch), rw_close(i->r));
	rw_open(i->r);
	put_call(i, RW_FN_JOIN, none, &lanes, 0);
	ptx_insert_after(i->r->m, i->rf->f, j->label, rw_close(i->r));
}

/* Declarations of the scratch registers used, and the context. */
static const char *prologue(struct ins *i)
{
	static const struct { char type; const char *text; } kinds[] = {
		{ 'l', "\t.reg .b64 " }, { 'w', "\t.reg .b32 " }, { 'p', "\t.reg .pred " }
	};
	struct rw *r = i->r;
	const struct guard none = { NULL, false };
	struct arg site = number(i->rf->site);

	rw_open(r);
	i->used[S_CTX] = true;
	for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		bool first = true;

		for (unsigned s = 0; s < S_COUNT; s++) {
			if (!i->used[s] || scratch[s].type != kinds[k].type)
				continue;
			rw_puts(r, first ? kinds[k].text : ", ");
			rw_puts(r, scratch[s].name);
			first = false;
		}
		if (!first)
			RW_PUT(r, ";\n");
	}
	put_call(i, i->rf->f->entry ? RW_FN_ENTER : RW_FN_SELF, none, &site, S_CTX);
	/* No context has its top bit set. */
	if (i->used[S_ZERO])
		RW_PUT(r, "\tshr.u64 %__gsan_addr, %__gsan_ctx, 63;\n"
			  "\tcvt.u32.u64 %__gsan_zero, %__gsan_addr;\n");
	return rw_close(r);
}

/* A kernel that says nothing of its block size may be launched with 1,024
 * threads, and then has 64 registers a thread.  Left alone, ptxas gives it as
 * many as the runtime's rare paths can use, and such a launch fails. */
static void bound_registers(struct rw *r, struct ptx_func *f)
{
	if (r->options->relocatable || f->maxntid[0] || f->reqntid[0] || f->maxnreg || f->minnctapersm)
		return;
	f->directives = ptx_sprintf(r->m->arena, "%s%s.maxntid 1024, 1, 1", f->directives,
				    *f->directives ? " " : "");
}

static void insert_func(struct rw *r, struct rw_func *rf)
{
	struct ins i = { .r = r, .rf = rf };
	const struct guard none = { NULL, false };
	struct arg ctx = reg(S_CTX);
	bool any = rf->f->entry;

	if (rf->f->entry) {
		bound_registers(r, rf->f);
		rf->site = rw_site(r, rf, NULL, NULL, 0);
	}
	for (unsigned k = 0; k < rf->nevents; k++) {
		if (rf->events[k].rule)
			continue;
		any = true;
		insert_event(&i, &rf->events[k]);
	}
	if (!any)
		return;
	for (unsigned k = 0; k < rf->njoins; k++)
		insert_join(&i, &rf->joins[k]);
	if (rf->f->entry && (!rf->nblocks || rf->blocks[rf->nblocks - 1].falls)) {
		rw_open(r);
		put_call(&i, RW_FN_EXIT, none, &ctx, 0);
		ptx_insert_after(r->m, rf->f, NULL, rw_close(r));
	}
	rw_drop_setmaxnreg(rf->f);
	if (rw_hide_zero(r, rf->f, scratch[S_ZERO].name))
		i.used[S_ZERO] = i.used[S_ADDR] = true;
	ptx_insert_before(r->m, rf->f, NULL, prologue(&i));
}

void rw_insert(struct rw *r)
{
	r->sites = rw_sites_new(r);
	for (unsigned i = 0; i < r->nfuncs; i++)
		if (r->funcs[i]->watched)
			insert_func(r, r->funcs[i]);
}
