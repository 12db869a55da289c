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

#include "rewrite/call.h"

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
	    !(keep && rw_overwrites(&e->stmt->inst, base->sym)))
		return operand(base);
	if (narrow && base->off) {
		RW_PUT(r, "\tadd.s32 ");
		rw_put_scratch(i, S_WORD);
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
	rw_put_scratch(i, to);
	RW_PUT(r, ", ");
	if (narrow && base->off) {
		rw_put_scratch(i, S_WORD);
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
	struct guard g = rw_guard_of(&e->stmt->inst);

	if (!e->lanes)
		return g;
	RW_PUT(r, "\tmov.u32 ");
	rw_put_scratch(i, S_WORD);
	RW_PUT(r, ", %laneid;\n");
	if (g.name)
		RW_PUT(r, "\tsetp.lt.and.u32 ");
	else
		RW_PUT(r, "\tsetp.lt.u32 ");
	rw_put_scratch(i, S_PRED);
	RW_PUT(r, ", ");
	rw_put_scratch(i, S_WORD);
	RW_PUT(r, ", ");
	rw_putu(r, e->lanes);
	if (g.name) {
		RW_PUT(r, ", ");
		if (g.neg)
			RW_PUT(r, "!");
		rw_puts(r, g.name);
	}
	RW_PUT(r, ";\n");
	return (struct guard){ rw_scratches[S_PRED].name, false };
}

/* Of a vector some elements are left out: the next run of others behind `*to`, elements *from
 * to *to - 1.  False if there is none. */
static bool next_run(const struct ptx_inst *in, unsigned *from, unsigned *to)
{
	unsigned out = ptx_inst_left_out(in), n = ptx_inst_vec(in);

	for (*from = *to; *from < n && (out >> *from & 1);)
		++*from;
	for (*to = *from; *to < n && !(out >> *to & 1);)
		++*to;
	return *from < n;
}

/* A call for each run; `kept`: the address of the vector is in S_ADDR, and no more
 * where the instruction has it. */
static void sparse(struct ins *i, const struct rw_event *e, enum rw_fn fn, struct guard g, bool kept)
{
	const struct ptx_inst *in = &e->stmt->inst;
	unsigned bytes = ptx_type_bits(in->type) / 8;
	bool all = e->what == WHAT_STRONG;

	for (unsigned from, to = 0, calls = 0; next_run(in, &from, &to); calls++) {
		struct ptx_operand base = e->addr->list[0], addr = *e->addr;
		unsigned n = to - from;
		struct arg args[] = { reg(S_CTX), { 0 }, { 0 }, number(e->site), number(0) };

		if (calls)
			RW_PUT(i->r, "\n");
		if (kept) {
			RW_PUT(i->r, "\tadd.s64 ");
			rw_put_scratch(i, S_BYTES);
			RW_PUT(i->r, ", ");
			rw_put_scratch(i, S_ADDR);
			RW_PUT(i->r, ", ");
			rw_putu(i->r, from * bytes);
			RW_PUT(i->r, ";\n");
			args[1] = reg(S_BYTES);
		} else {
			base.off += from * bytes;
			addr.list = &base;
			args[1] = put_place(i, e, &addr, S_ADDR, false);
		}
		args[2] = number(all ? (e->info & ~(255u | 15u << GSAN_INFO_ELEMS_SHIFT)) | bytes | (n > 1 ? n << GSAN_INFO_ELEMS_SHIFT : 0) :
				 (e->info & ~255u) | n * bytes);
		rw_put_call(i, by_space(e, fn), g, args, 0);
	}
}

static void weak(struct ins *i, const struct rw_event *e)
{
	struct arg a = put_address(i, e, false);
	struct guard g = put_lanes(i, e);
	uint32_t info = e->info + e->more;
	struct arg args[] = { reg(S_CTX), a, number(info), number(e->site), number(0) };
	struct arg all[] = { reg(S_CTX), a, number(e->stride), number(e->n + 1u), number(e->info), number(e->site) };

	if (e->space == 'c' || e->space == 'y' || e->space == 'm') {
		rw_put_call(i, by_space(e, RW_FN_BEFORE_G), g, args, 0);
	} else if (e->n) {
		rw_put_call(i, RW_FN_COLUMN, g, all, 0);
	} else if (e->what == WHAT_READ) {
		rw_put_call(i, by_space(e, RW_FN_READ_G), g, args, 0);
	} else {
		args[4] = rw_put_value(i, e, &info);
		args[2] = number(info);
		rw_put_call(i, by_space(e, RW_FN_WRITE_G), g, args, 0);
	}
}

/* An operand of 64 bits, whatever it is written as. */
static struct arg widened(struct ins *i, const struct ptx_operand *o)
{
	if (o->kind != OP_SYM || ptx_type_bits(o->sym->type) == 64)
		return operand(o);
	RW_PUT(i->r, "\tcvt.u64.u32 ");
	rw_put_scratch(i, S_BYTES);
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

	rw_put_call(i, by_space(e, RW_FN_RANGE_G), rw_guard_of(&e->stmt->inst), args, 0);
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
	rw_put_scratch(i, S_BYTES);
	RW_PUT(r, ", ");
	rw_put_operand(r, &in->ops[2]);
	RW_PUT(r, ", ");
	rw_putu(r, e->type_bits);
	RW_PUT(r, ";\n\tshr.u64 ");
	rw_put_scratch(i, S_BYTES);
	RW_PUT(r, ", ");
	rw_put_scratch(i, S_BYTES);
	RW_PUT(r, ", 3;\n");
	return reg(S_BYTES);
}

static void rows(struct ins *i, const struct rw_event *e)
{
	struct arg a = put_address(i, e, false);
	struct arg n = put_stride(i, e);
	struct arg args[] = { reg(S_CTX), a, n, number(e->rows), number(e->info), number(e->site) };

	rw_put_call(i, by_space(e, RW_FN_ROWS_G), rw_guard_of(&e->stmt->inst), args, 0);
}

/* The text before `e`'s instruction and, through *after, the one behind it. */
static const char *strong(struct ins *i, const struct rw_event *e, const char **after)
{
	struct rw *r = i->r;
	const struct ptx_inst *in = &e->stmt->inst;
	const struct ptx_operand *base = &e->addr->list[0];
	bool reads = (e->info & GSAN_INFO_READ) && !(e->info & GSAN_INFO_RED), some = ptx_inst_left_out(in);
	bool lost = base->kind == OP_SYM && base->sym->kind == SYM_REG && rw_overwrites(in, base->sym);
	struct arg args[] = { reg(S_CTX), { 0 }, number(e->info), number(e->site) };
	struct guard g;
	const char *before;

	rw_open(r);
	if (some)
		sparse(i, e, RW_FN_BEFORE_G, rw_guard_of(in), false);
	if (!some || (reads && lost)) {
		if (some)
			RW_PUT(r, "\n");
		args[1] = put_address(i, e, reads);
	}
	g = reads ? rw_guard_after(i, in) : rw_guard_of(in);
	if (!some)
		rw_put_call(i, by_space(e, RW_FN_BEFORE_G), rw_guard_of(in), args, 0);
	before = rw_close(r);
	if (reads) {
		rw_open(r);
		if (some)
			sparse(i, e, RW_FN_AFTER_G, g, lost);
		else
			rw_put_call(i, by_space(e, RW_FN_AFTER_G), g, args, 0);
		*after = rw_close(r);
	}
	return before;
}

static struct arg put_barrier_id(struct ins *i, const struct ptx_inst *in,
				 const struct ptx_operand *id)
{
	if (id->kind != OP_SYM || !rw_overwrites(in, id->sym))
		return operand(id);
	RW_PUT(i->r, "\tmov.b32 ");
	rw_put_scratch(i, S_ID);
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
	/* Who is going to wait has time. */
	if (r->posts && i->rf->posts && !ptx_has(in, MOD_ARRIVE)) {
		const struct arg help[] = { args[0], args[2] };

		rw_put_call(i, RW_FN_HELP, rw_guard_of(in), help, 0);
		RW_PUT(r, "\n");
	}
	g = rw_guard_after(i, in);
	rw_put_call(i, RW_FN_ARRIVE, rw_guard_of(in), args, S_TICKET);
	before = rw_close(r);
	if (!ptx_has(in, MOD_ARRIVE)) {
		args[2] = reg(S_TICKET);
		rw_open(r);
		rw_put_call(i, RW_FN_LEAVE, g, args, 0);
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
	g = rw_guard_after(i, &e->stmt->inst);
	before = rw_close(r);
	rw_open(r);
	rw_put_call(i, fn, g, &ctx, 0);
	*after = rw_close(r);
	return before;
}

static void mbarrier(struct ins *i, const struct rw_event *e)
{
	struct arg args[] = { reg(S_CTX), put_address(i, e, false), number(e->info),
			      e->arg[0] ? operand(e->arg[0]) : number(1), number(e->site) };

	rw_put_call(i, RW_FN_MBAR, rw_guard_of(&e->stmt->inst), args, 0);
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
	g = rw_guard_after(i, in);
	before = rw_close(r);
	rw_open(r);
	RW_PUT(r, "\tselp.b32 ");
	rw_put_scratch(i, S_WORD);
	RW_PUT(r, ", 1, 0, ");
	rw_put_operand(r, &in->ops[0]);
	RW_PUT(r, ";\n");
	rw_put_call(i, RW_FN_MBAR_WAIT, g, args, 0);
	*after = rw_close(r);
	return before;
}

/* PTX ISA "cp.async.bulk": which blocks of the cluster, or bytes of 16, in 16 bits. */
static void put_mask(struct ins *i, const struct ptx_operand *o)
{
	RW_PUT(i->r, "\tcvt.u32.u16 ");
	rw_put_scratch(i, S_TICKET);
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
	rw_put_call(i, RW_FN_COPY, rw_guard_of(&e->stmt->inst), args, 0);
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
	rw_put_scratch(i, S_BYTES);
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
	rw_put_call(i, RW_FN_TENSOR, rw_guard_of(&e->stmt->inst), args, 0);
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
	rw_put_call(i, RW_FN_MAP_EDIT, rw_guard_of(in), args, S_MBAR);
	before = rw_close(r);
	rw_open(r);
	args[3] = widened(i, e->arg[0]);
	rw_put_call(i, RW_FN_MAP_EDITED, rw_guard_of(in), args, 0);
	*after = rw_close(r);
	return before;
}

static void map_copy(struct ins *i, const struct rw_event *e)
{
	struct arg args[] = { reg(S_CTX), put_address(i, e, false), put_place(i, e, e->arg[0], S_FROM, false),
			      number(e->info), number(e->site) };

	rw_put_call(i, RW_FN_MAP_COPY, rw_guard_of(&e->stmt->inst), args, 0);
}

static void map_fence(struct ins *i, const struct rw_event *e)
{
	struct arg args[] = { reg(S_CTX), e->addr ? put_address(i, e, false) : number(0), number(e->info) };

	rw_put_call(i, RW_FN_MAP_FENCE, rw_guard_of(&e->stmt->inst), args, 0);
}

/* Its descriptors go to where the call that tells of it looks for them: none has to stay in its register
 * until then. */
static void put_descriptors(struct ins *i, const struct rw_event *e)
{
	struct rw *r = i->r;

	i->products = true;
	RW_PUT(r, "\t");
	rw_put_guard(r, rw_guard_of(&e->stmt->inst));
	rw_puts(r, e->arg[0] ? "st.local.v2.b64 [__gsan_products+" : "st.local.b64 [__gsan_products+");
	rw_putu(r, 16 * e->more + (e->arg[0] ? 0 : 8));
	rw_puts(r, e->arg[0] ? "], {" : "], ");
	if (e->arg[0]) {
		rw_put_operand(r, e->arg[0]);
		RW_PUT(r, ", ");
	}
	rw_put_operand(r, e->arg[1]);
	rw_puts(r, e->arg[0] ? "};" : ";");
}

static void wgmma(struct ins *i, const struct rw_event *e)
{
	struct arg args[] = { reg(S_CTX), reg(S_FROM), number(e->more + 1u), number(e->info), number(e->site - e->more) };

	put_descriptors(i, e);
	if (e->put_by)
		return;
	RW_PUT(i->r, "\n\tmov.u64 ");
	rw_put_scratch(i, S_FROM);
	RW_PUT(i->r, ", __gsan_products;\n");
	rw_put_call(i, RW_FN_WGMMA, rw_guard_of(&e->stmt->inst), args, 0);
}

/* Are any lanes left alone?  Then the words that say which are not all 0. */
static struct arg put_any(struct ins *i, const struct ptx_operand *lanes)
{
	if (!lanes)
		return number(0);
	for (unsigned k = 0; k < lanes->n; k++) {
		if (k) {
			RW_PUT(i->r, "\tor.b32 ");
			rw_put_scratch(i, S_TICKET);
			RW_PUT(i->r, ", ");
			rw_put_scratch(i, S_TICKET);
		} else {
			RW_PUT(i->r, "\tmov.b32 ");
			rw_put_scratch(i, S_TICKET);
		}
		RW_PUT(i->r, ", ");
		rw_put_operand(i->r, &lanes->list[k]);
		RW_PUT(i->r, ";\n");
	}
	return reg(S_TICKET);
}

/* The scale factors that a product reads. */
static void scales(struct ins *i, const struct rw_event *e)
{
	const struct ptx_inst *in = &e->stmt->inst;
	struct arg args[] = { reg(S_CTX), put_place(i, e, &in->ops[4], S_FROM, false),
			      put_place(i, e, &in->ops[5], S_MBAR, false), operand(e->arg[2]),
			      number(e->info), number(e->site) };

	rw_put_call(i, RW_FN_TC_SCALES, rw_guard_of(in), args, 0);
	RW_PUT(i->r, "\n");
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
	case INST_TCGEN05_LD_RED:
	case INST_TCGEN05_ST:
		fn = RW_FN_TC_ACCESS;
		args[2] = number(e->info);
		args[3] = e->arg[0] ? operand(e->arg[0]) : number(0);
		args[4] = number(e->site);
		break;
	case INST_TCGEN05_MMA:
	case INST_TCGEN05_MMA_WS:
		fn = RW_FN_TC_MMA;
		if (e->info & GSAN_TC_SCALED)
			scales(i, e);
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
	rw_put_call(i, fn, rw_guard_of(in), args, 0);
	text = rw_close(i->r);
	if (fn != RW_FN_TC_WAIT)
		return text;
	*after = text;
	return "";
}

/* A fence in one direction releases or acquires as well, at cluster scope: who learns of it learns of
 * what it fences.  (PTX ISA, "membar/fence": a .release proxy fence can form a release sequence) */
static void proxy_fence(struct ins *i, const struct rw_event *e)
{
	uint32_t order = (e->info & GSAN_PROXY_RELEASE ? GSAN_INFO_RELEASE : 0) |
			 (e->info & GSAN_PROXY_ACQUIRE ? GSAN_INFO_ACQUIRE : 0);
	struct arg args[] = { reg(S_CTX), number(e->info) };
	struct arg fence[] = { reg(S_CTX), number(order | GSAN_CLUSTER << GSAN_INFO_LEVEL_SHIFT) };
	struct guard guard = rw_guard_of(&e->stmt->inst);

	if (order & GSAN_INFO_ACQUIRE) {
		rw_put_call(i, RW_FN_FENCE, guard, fence, 0);
		RW_PUT(i->r, "\n");
	}
	rw_put_call(i, RW_FN_PROXY_FENCE, guard, args, 0);
	if (order & GSAN_INFO_RELEASE) {
		RW_PUT(i->r, "\n");
		rw_put_call(i, RW_FN_FENCE, guard, fence, 0);
	}
}

/* Before a commit; behind a wait. */
static const char *group(struct ins *i, const struct rw_event *e, const char **after)
{
	struct arg args[] = { reg(S_CTX), number(e->info), e->arg[0] ? operand(e->arg[0]) : number(0) };
	const char *text;

	rw_open(i->r);
	rw_put_call(i, GSAN_COPY_HOW(e->info) == GSAN_HOW_WGMMA ? RW_FN_WGMMA_GROUP : RW_FN_GROUP,
		 rw_guard_of(&e->stmt->inst), args, 0);
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
		if (ptx_inst_left_out(in))
			sparse(i, e, e->space == 'y' || e->space == 'c' || e->space == 'm' ? RW_FN_BEFORE_G :
			       e->what == WHAT_READ ? RW_FN_READ_G : RW_FN_WRITE_G, rw_guard_of(in), false);
		else
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
		rw_put_call(i, RW_FN_WARP_SYNC, rw_guard_of(in), args, 0);
		break;
	case WHAT_FENCE:
		rw_put_call(i, RW_FN_FENCE, rw_guard_of(in), args, 0);
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
		rw_put_call(i, RW_FN_TC_OTHER, rw_guard_of(in), args, 0);
		break;
	case WHAT_PROXY_FENCE:
		proxy_fence(i, e);
		break;
	case WHAT_INIT_FENCE:
		rw_put_call(i, RW_FN_INIT_FENCE, rw_guard_of(in), args, 0);
		break;
	case WHAT_CLUSTER_ARRIVE:
		rw_put_call(i, RW_FN_CLUSTER_ARRIVE, rw_guard_of(in), args, 0);
		break;
	case WHAT_GRID_GO:
		rw_put_call(i, RW_FN_LAUNCH_DEPENDENTS, rw_guard_of(in), args, 0);
		break;
	case WHAT_LEAVE:
		if (i->r->outlives && i->rf->outlives) {
			rw_put_call(i, RW_FN_ENDED, rw_guard_of(in), args, 0);
			RW_PUT(i->r, "\n");
		}
		rw_put_call(i, RW_FN_EXIT, rw_guard_of(in), args, 0);
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
	struct arg split[] = { reg(S_CTX), number(++i->r->splits) }, lanes = reg(S_LANES);

	rw_open(i->r);
	rw_put_call(i, RW_FN_SPLIT, none, split, S_LANES);
	ptx_insert_before(i->r->m, i->rf->f, place(j->branch), rw_close(i->r));
	rw_open(i->r);
	rw_put_call(i, RW_FN_JOIN, none, &lanes, 0);
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
			if (!i->used[s] || rw_scratches[s].type != kinds[k].type)
				continue;
			rw_puts(r, first ? kinds[k].text : ", ");
			rw_puts(r, rw_scratches[s].name);
			first = false;
		}
		if (!first)
			RW_PUT(r, ";\n");
	}
	if (i->products) {
		RW_PUT(r, "\t.local .align 16 .b8 __gsan_products[");
		rw_putu(r, 16 * GSAN_PRODUCTS);
		RW_PUT(r, "];\n");
	}
	rw_put_call(i, i->rf->f->entry ? RW_FN_ENTER : RW_FN_SELF, none, &site, S_CTX);
	/* No context has its top bit set. */
	if (i->used[S_ZERO])
		RW_PUT(r, "\tshr.u64 %__gsan_addr, %__gsan_ctx, 63;\n"
			  "\tcvt.u32.u64 %__gsan_zero, %__gsan_addr;\n");
	return rw_close(r);
}

static void insert_func(struct rw *r, struct rw_func *rf)
{
	struct ins i = { .r = r, .rf = rf };
	const struct guard none = { NULL, false };
	struct arg ctx = reg(S_CTX);
	bool any = rf->f->entry;

	if (rf->f->entry) {
		rw_bound_registers(r, rf);
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
		rw_put_call(&i, RW_FN_EXIT, none, &ctx, 0);
		ptx_insert_after(r->m, rf->f, NULL, rw_close(r));
	}
	rw_drop_setmaxnreg(rf->f);
	i.used[S_WORD] |= rw_own_masks(r, rf->f, rw_scratches[S_WORD].name);
	if (rw_hide_zero(r, rf->f, rw_scratches[S_ZERO].name))
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
