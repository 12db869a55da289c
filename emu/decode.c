/* SPDX-License-Identifier: Apache-2.0
 *
 * decode.c: from a parsed function to an array of ops: registers become rows,
 * variables places, labels pointers.  What each instruction does is filled in by
 * the emu_dec_* functions beside the code that runs it.
 *
 * Nothing refuses to load here: an instruction that cannot be executed becomes an
 * op that says so when a thread reaches it.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/listen.h"

struct emu_op *emu_dec_new(struct emu_dec *d)
{
	struct emu_op *op;

	if (d->nops == d->cap) {
		d->cap = d->cap ? d->cap * 2 : 256;
		d->ops = realloc(d->ops, d->cap * sizeof *d->ops);
		if (!d->ops)
			abort();
	}
	op = &d->ops[d->nops++];
	memset(op, 0, sizeof *op);
	op->guard = -1;
	op->func = d->f;
	op->stmt = d->stmt;
	op->n = 1;
	return op;
}

bool emu_dec_refuse(struct emu_dec *d, const char *why)
{
	d->why = why;
	return false;
}

struct emu_opnd *emu_dec_keep(struct emu_dec *d, const struct emu_opnd *o, unsigned n)
{
	struct emu_opnd *p = ptx_alloc(d->arena, (n ? n : 1) * sizeof *p);

	if (n)
		memcpy(p, o, n * sizeof *p);
	return p;
}

/* ---- constants ------------------------------------------------------------------ */

struct emu_const { uint64_t value; uint32_t row; struct emu_const *next; };

#define CONST_BUCKETS 1024

struct emu_opnd emu_dec_const(struct emu_dec *d, uint64_t value)
{
	struct emu_module *mod = d->mod;
	struct emu_opnd o = {.kind = OPND_ROW, .bank = BANK_CONST, .bits = 64};
	struct emu_const **bucket, *c;

	if (!mod->const_index)
		mod->const_index = ptx_alloc(d->arena, CONST_BUCKETS * sizeof(struct emu_const *));
	bucket = mod->const_index +
		 (value * UINT64_C(0x9e3779b97f4a7c15) >> 54);
	for (c = *bucket; c; c = c->next) {
		if (c->value == value) {
			o.at = c->row * EMU_LANES;
			return o;
		}
	}
	if (mod->nconsts == mod->capconsts) {
		mod->capconsts = mod->capconsts ? mod->capconsts * 2 : 64;
		mod->consts = realloc(mod->consts,
				      mod->capconsts * sizeof(uint64_t) * EMU_LANES);
		if (!mod->consts)
			abort();
	}
	c = ptx_alloc(d->arena, sizeof *c);
	c->value = value;
	c->row = mod->nconsts++;
	c->next = *bucket;
	*bucket = c;
	o.at = c->row * EMU_LANES;
	for (unsigned l = 0; l < EMU_LANES; l++)
		mod->consts[o.at + l] = value;
	return o;
}

static struct emu_opnd temp(struct emu_dec *d)
{
	struct emu_opnd o = {.kind = OPND_ROW, .bank = BANK_WARP, .bits = 64};

	if (d->temps == WROW_TEMP_END - WROW_TEMP0) {
		d->why = "too many addresses in one instruction";
		d->temps = 0;
	}
	o.at = (WROW_TEMP0 + d->temps++) * EMU_LANES;
	return o;
}

/* ---- special registers ------------------------------------------------------------ */

struct sreg { const char *name; unsigned row, n; unsigned bits; };

static const struct sreg sregs[] = {
	{"%tid", WROW_TID_X, 3, 32}, {"%ntid", WROW_NTID_X, 3, 32},
	{"%ctaid", WROW_CTAID_X, 3, 32}, {"%nctaid", WROW_NCTAID_X, 3, 32},
	{"%laneid", WROW_LANEID, 1, 32}, {"%warpid", WROW_WARPID, 1, 32},
	{"%nwarpid", WROW_NWARPID, 1, 32}, {"%smid", WROW_SMID, 1, 32},
	{"%nsmid", WROW_NSMID, 1, 32}, {"%gridid", WROW_GRIDID, 1, 64},
	{"%lanemask_eq", WROW_LANEMASK_EQ, 1, 32}, {"%lanemask_le", WROW_LANEMASK_LE, 1, 32},
	{"%lanemask_lt", WROW_LANEMASK_LT, 1, 32}, {"%lanemask_ge", WROW_LANEMASK_GE, 1, 32},
	{"%lanemask_gt", WROW_LANEMASK_GT, 1, 32},
	{"%clusterid", WROW_CLUSTERID_X, 3, 32}, {"%nclusterid", WROW_NCLUSTERID_X, 3, 32},
	{"%cluster_ctaid", WROW_CLUSTER_CTAID_X, 3, 32},
	{"%cluster_nctaid", WROW_CLUSTER_NCTAID_X, 3, 32},
	{"%cluster_ctarank", WROW_CLUSTER_CTARANK, 1, 32},
	{"%cluster_nctarank", WROW_CLUSTER_NCTARANK, 1, 32},
	{"%is_explicit_cluster", WROW_IS_EXPLICIT_CLUSTER, 1, 1},
	{"%total_smem_size", WROW_TOTAL_SMEM_SIZE, 1, 32},
	{"%aggr_smem_size", WROW_AGGR_SMEM_SIZE, 1, 32},
	{"%dynamic_smem_size", WROW_DYNAMIC_SMEM_SIZE, 1, 32},
	{"%reserved_smem_offset_begin", WROW_RESERVED_SMEM_BEGIN, 1, 32},
	{"%reserved_smem_offset_end", WROW_RESERVED_SMEM_END, 1, 32},
	{"%reserved_smem_offset_cap", WROW_RESERVED_SMEM_CAP, 1, 32},
	{"%reserved_smem_offset_0", WROW_RESERVED_SMEM_0, 1, 32},
	{"%reserved_smem_offset_1", WROW_RESERVED_SMEM_1, 1, 32},
	{"%envreg1", WROW_ENVREG1, 1, 32}, {"%envreg2", WROW_ENVREG2, 1, 32},
	{"%current_graph_exec", WROW_CURRENT_GRAPH_EXEC, 1, 64},
	{"WARP_SZ", WROW_WARP_SZ, 1, 32},
};

static const char *const clocks[] = {
	"%clock", "%clock_hi", "%clock64", "%globaltimer_lo", "%globaltimer_hi", "%globaltimer"
};

static unsigned sreg_words(struct emu_dec *d, const struct ptx_operand *p, struct emu_opnd *out,
			   unsigned max)
{
	const char *name = p->sym->name;
	struct emu_opnd o = {.kind = OPND_ROW, .bank = BANK_WARP, .bits = 32};
	static const char elems[] = "xyzw";

	for (unsigned i = 0; i < sizeof sregs / sizeof *sregs; i++) {
		const struct sreg *s = &sregs[i];
		const char *e = p->elem ? strchr(elems, p->elem) : NULL;
		unsigned n = s->n == 1 ? 1 : p->elem ? 1 : 4, first = e ? (unsigned)(e - elems) : 0;

		if (strcmp(s->name, name))
			continue;
		o.bits = (uint8_t)s->bits;
		d->mod->reserved_smem |= s->row == WROW_RESERVED_SMEM_0 || s->row == WROW_RESERVED_SMEM_1;
		for (unsigned k = 0; k < n && k < max; k++) {
			unsigned row = first + k < s->n ? s->row + first + k : WROW_ZERO;

			out[k] = o;
			out[k].at = row * EMU_LANES;
		}
		return n;
	}
	for (unsigned i = 0; i < sizeof clocks / sizeof *clocks; i++) {
		if (!strcmp(clocks[i], name)) {
			struct emu_op *op = emu_dec_new(d);

			o = temp(d);
			op->fn = emu_op_clock;
			op->kind = (uint8_t)i;
			op->o = emu_dec_keep(d, &o, 1);
			out[0] = o;
			return 1;
		}
	}
	d->why = "special register that the emulated device does not have";
	out[0] = emu_dec_const(d, 0);
	return 1;
}

/* ---- operands ----------------------------------------------------------------------- */

static unsigned reg_words(enum ptx_type t)
{
	return ptx_type_bits(t) == 128 ? 2 : 1;
}

unsigned emu_reg_words(const struct ptx_sym *s)
{
	return (s->vec ? s->vec : 1) * reg_words(s->type);
}

struct emu_opnd emu_reg_at(const struct ptx_sym *s, unsigned n)
{
	unsigned bits = ptx_type_bits(s->type);

	if (s->type == TYPE_PRED)
		return (struct emu_opnd){.kind = OPND_PRED, .bits = 1, .at = n};
	return (struct emu_opnd){
		.kind = OPND_ROW, .bank = BANK_REG, .bits = (uint8_t)(bits > 64 ? 64 : bits),
		.at = n * EMU_LANES
	};
}

void emu_reg_new(struct emu_dec *d, const struct ptx_sym *s)
{
	unsigned *end = s->type == TYPE_PRED ? &d->preds : &d->rows;

	d->regs[s->reg] = emu_reg_at(s, *end);
	*end += emu_reg_words(s);
}

/* First row or predicate of a register; later words follow it. */
static struct emu_opnd reg_place(struct emu_dec *d, const struct ptx_sym *s)
{
	if (!d->regs[s->reg].kind)
		emu_reg_new(d, s);
	return d->regs[s->reg];
}

static struct emu_opnd nth(struct emu_opnd o, unsigned n)
{
	o.at += o.kind == OPND_PRED ? n : n * EMU_LANES;
	return o;
}

/* A float literal in the width that the instruction works in. */
static uint64_t literal(const struct emu_dec *d, const struct ptx_operand *p)
{
	const struct ptx_inst *in = &d->stmt->inst;

	if (p->kind == OP_FLOAT && d->stmt->kind == STMT_INST) {
		double v;
		float f;
		uint32_t u = (uint32_t)p->ival;

		if (p->isdouble && ptx_type_bits(in->type) == 32) {
			memcpy(&v, &p->ival, sizeof v);
			f = (float)v;
			memcpy(&u, &f, sizeof u);
			return u;
		}
		if (!p->isdouble && ptx_type_bits(in->type) == 64) {
			uint64_t bits;

			memcpy(&f, &u, sizeof f);
			v = f;
			memcpy(&bits, &v, sizeof bits);
			return bits;
		}
	}
	return p->ival;
}

static void uses_shared(struct emu_dec *d, uint32_t var)
{
	struct emu_func *f = d->f;

	for (unsigned i = 0; i < f->nuses_shared; i++)
		if (f->uses_shared[i] == var)
			return;
	f->uses_shared = realloc(f->uses_shared, (f->nuses_shared + 1) * sizeof *f->uses_shared);
	if (!f->uses_shared)
		abort();
	f->uses_shared[f->nuses_shared++] = var;
}

/* The address of a variable: a constant, or an op that makes it. */
static struct emu_opnd address_of(struct emu_dec *d, const struct ptx_operand *p)
{
	const struct emu_place *at = p->sym->user;
	struct emu_op *op;
	struct emu_opnd o;

	if (!at) {
		d->why = "variable without a place";
		return emu_dec_const(d, 0);
	}
	if (at->space == SPACE_GLOBAL || at->space == SPACE_CONST)
		return emu_dec_const(d, at->at + (uint64_t)p->off);
	op = emu_dec_new(d);
	o = temp(d);
	op->o = emu_dec_keep(d, &o, 1);
	if (at->space == SPACE_SHARED)
		uses_shared(d, (uint32_t)at->at);
	op->imm = (uint32_t)at->at;
	op->u.value = (uint64_t)p->off;
	op->fn = at->space == SPACE_SHARED ? emu_op_shared_addr :
		 at->space == SPACE_LOCAL ? emu_op_local_addr :
		 at->kparam ? emu_op_kparam_addr : emu_op_param_addr;
	return o;
}

static unsigned elem_index(const struct ptx_operand *p)
{
	static const char xyzw[] = "xyzw", rgba[] = "rgba";
	const char *e = p->elem ? strchr(xyzw, p->elem) : NULL;

	if (e)
		return (unsigned)(e - xyzw);
	e = p->elem ? strchr(rgba, p->elem) : NULL;
	return e ? (unsigned)(e - rgba) : 0;
}

static unsigned sym_words(struct emu_dec *d, const struct ptx_operand *p, bool dst,
			  struct emu_opnd *out, unsigned max)
{
	struct emu_func *f;

	switch (p->sym->kind) {
	case SYM_REG: {
		struct emu_opnd o = reg_place(d, p->sym);
		unsigned n = emu_reg_words(p->sym);

		if (p->sym->vec > 1 && p->elem) {
			o = nth(o, elem_index(p) * reg_words(p->sym->type));
			n = reg_words(p->sym->type);
		}
		for (unsigned i = 0; i < n && i < max; i++) {
			out[i] = nth(o, i);
			out[i].neg = p->neg;
		}
		return n;
	}
	case SYM_SREG:
		if (dst)
			d->why = "a special register as a destination";
		return sreg_words(d, p, out, max);
	case SYM_VAR:
		out[0] = address_of(d, p);
		return 1;
	case SYM_FUNC:
		f = p->sym->user;
		if (f)
			f->address_taken = true;
		else
			d->why = "address of an unknown function";
		out[0] = emu_dec_const(d, f ? f->address : 0);
		return 1;
	case SYM_UNRESOLVED:
	case SYM_LABEL:
	case SYM_PROTO:
		break;
	}
	d->why = "an operand that names nothing";
	out[0] = emu_dec_const(d, 0);
	return 1;
}

unsigned emu_dec_words(struct emu_dec *d, const struct ptx_operand *p, bool dst,
		       struct emu_opnd *out, unsigned max)
{
	unsigned n = 0;

	if (!max)
		return 0;
	switch (p->kind) {
	case OP_SINK:
		out[0] = (struct emu_opnd){.kind = OPND_NONE, .bank = BANK_WARP,
					   .at = WROW_SINK * EMU_LANES};
		return 1;
	case OP_SYM:
		return sym_words(d, p, dst, out, max);
	case OP_INT:
	case OP_FLOAT:
	case OP_EXPR:
		out[0] = emu_dec_const(d, literal(d, p));
		if (p->neg)
			out[0] = emu_dec_const(d, !p->ival);
		return 1;
	case OP_VEC:
	case OP_PAIR:
	case OP_LIST:
		for (unsigned i = 0; i < p->n && n < max; i++)
			n += emu_dec_words(d, &p->list[i], dst, out + n, max - n);
		return n;
	case OP_ADDR:
		break;
	}
	d->why = "an address where a value belongs";
	out[0] = emu_dec_const(d, 0);
	return 1;
}

struct emu_opnd emu_dec_word(struct emu_dec *d, const struct ptx_operand *p, bool dst)
{
	struct emu_opnd o[16];

	if (emu_dec_words(d, p, dst, o, 16) != 1)
		d->why = "a vector where one register belongs";
	return o[0];
}

bool emu_dec_addr(struct emu_dec *d, const struct ptx_operand *p, enum ptx_space space,
		  struct emu_addr *out)
{
	const struct ptx_operand *base;
	const struct emu_place *at;

	memset(out, 0, sizeof *out);
	if (p->kind != OP_ADDR || p->n != 1)
		return emu_dec_refuse(d, "an operand that should be one address");
	base = &p->list[0];
	out->base = space == SPACE_SHARED ? BASE_SHARED : space == SPACE_LOCAL ? BASE_LOCAL :
		    space == SPACE_PARAM ? BASE_PARAM : space == SPACE_NONE ? BASE_GENERIC :
		    BASE_GLOBAL;
	if (base->kind != OP_SYM || base->sym->kind == SYM_REG || base->sym->kind == SYM_SREG) {
		out->reg = emu_dec_word(d, base, false);
		out->off = base->kind == OP_SYM ? base->off : 0;
		return true;
	}
	at = base->sym->user;
	if (base->sym->kind != SYM_VAR || !at)
		return emu_dec_refuse(d, "an address that names no variable");
	out->off = base->off;
	switch (at->space) {
	case SPACE_SHARED:
		uses_shared(d, (uint32_t)at->at);
		out->base = BASE_OWN_SHARED;
		out->reg.at = (uint32_t)at->at;
		break;
	case SPACE_LOCAL:
		out->base = BASE_FRAME;
		out->off += (int64_t)at->at;
		break;
	case SPACE_PARAM:
		out->base = at->kparam ? BASE_KPARAM : BASE_FPARAM;
		out->reg.at = at->kparam ? 0 : (uint32_t)at->at;
		if (at->kparam)
			out->off += (int64_t)at->at;
		break;
	default:
		out->base = BASE_GLOBAL;
		out->reg = emu_dec_const(d, at->at);
		break;
	}
	return true;
}

/* ---- arithmetic ------------------------------------------------------------------------ */

static bool dec_alu(struct emu_dec *d, const struct ptx_inst *in)
{
	struct emu_alu alu = {0};
	struct emu_opnd o[40];
	unsigned nd, n = 0, i;
	struct emu_op *op;
	emu_op_fn *fast;

	if (ptx_insts[in->id].model != MODEL_PLAIN)     /* memory, order, or another unit */
		return emu_dec_refuse(d, "an instruction that is not emulated");
	if (!emu_alu_decode(in, &alu, &d->why))
		return false;
	for (i = 0; i < in->nops; i++) {
		const struct ptx_operand *p = &in->ops[i];
		bool dst = n < alu.ndst;

		if (p->kind == OP_INT || p->kind == OP_FLOAT || p->kind == OP_EXPR)
			o[n++] = emu_dec_const(d, emu_alu_literal(in, p));
		else
			n += emu_dec_words(d, p, dst, o + n, 40 - n);
	}
	nd = alu.ndst;
	if (n != nd + alu.nsrc)
		return emu_dec_refuse(d, "operands that do not fit the instruction");
	fast = emu_fast(in, o, nd, alu.nsrc);
	op = emu_dec_new(d);
	op->fn = fast ? fast : emu_op_alu;
	op->nd = (uint8_t)nd;
	op->ns = alu.nsrc;
	op->u.alu = alu;
	if (emu_alu_uses_cc(&alu))
		op->flags |= EMU_F_HAS_CC;
	op->o = emu_dec_keep(d, o, n);
	return true;
}

/* ---- statements ------------------------------------------------------------------------- */

static void dec_inst(struct emu_dec *d)
{
	const struct ptx_inst *in = &d->stmt->inst;
	unsigned first = d->nops;
	struct emu_opnd g = {0};
	bool ok;

	d->why = NULL;
	d->temps = 0;
	if (in->guarded && in->guard && in->guard->kind == SYM_REG)
		g = reg_place(d, in->guard);
	for (unsigned i = 0; i < in->nmods; i++)
		if (in->mod[i] == MOD_NONE)
			d->why = "an unknown modifier";
	ok = (!d->why && emu_dec_mem(d, in)) || (!d->why && emu_dec_atom(d, in)) ||
	     (!d->why && emu_dec_ctl(d, in)) || (!d->why && emu_dec_sync(d, in)) ||
	     (!d->why && emu_dec_warp(d, in)) || (!d->why && emu_dec_space(d, in)) ||
	     (!d->why && emu_dec_mat(d, in)) || (!d->why && emu_dec_mbar(d, in)) ||
	     (!d->why && emu_dec_async(d, in)) || (!d->why && emu_dec_bulk(d, in)) ||
	     (!d->why && emu_dec_tensor(d, in)) || (!d->why && emu_dec_launch(d, in)) ||
	     (!d->why && emu_dec_wgmma(d, in)) || (!d->why && emu_dec_multimem(d, in)) ||
	     (!d->why && emu_dec_tcgen05(d, in)) ||
	     (!d->why && dec_alu(d, in));
	if (!ok || d->why) {
		const char *why = d->why;

		d->nops = first;
		emu_dec_new(d)->fn = emu_op_refuse;
		d->ops[first].u.why = why ? why : "an instruction that is not emulated";
	}
	if (!in->guarded)
		return;
	if (g.kind != OPND_PRED) {
		d->nops = first;
		emu_dec_new(d)->fn = emu_op_refuse;
		d->ops[first].u.why = "a guard that is no predicate register";
		return;
	}
	for (unsigned i = first; i < d->nops; i++) {
		d->ops[i].guard = (int32_t)g.at;
		d->ops[i].guard_neg = in->guard_neg;
	}
}

static uint64_t align_up(uint64_t v, uint64_t a)
{
	return a > 1 ? (v + a - 1) / a * a : v;
}

uint64_t emu_align_of(const struct ptx_sym *s)
{
	uint64_t bytes = ptx_type_bits(s->type) / 8 * (s->vec ? s->vec : 1);

	if (s->align > bytes)
		return s->align;
	return bytes ? bytes : 1;
}

static struct emu_place *place(struct emu_dec *d, struct ptx_sym *s, enum ptx_space space,
			       uint64_t at)
{
	struct emu_place *p = ptx_alloc(d->arena, sizeof *p);

	p->space = space;
	p->at = at;
	s->user = p;
	return p;
}

unsigned emu_shared_new(struct emu_module *mod, const struct ptx_var *v)
{
	if (mod->nshared == mod->capshared) {
		mod->capshared = mod->capshared ? mod->capshared * 2 : 16;
		mod->shared = realloc(mod->shared, mod->capshared * sizeof *mod->shared);
		if (!mod->shared)
			abort();
	}
	mod->shared[mod->nshared] = (struct emu_shared){
		v->sym->bytes, emu_align_of(v->sym),
		v->link && !strcmp(v->link, ".extern") && !v->sym->bytes
	};
	return mod->nshared++;
}

static void dec_var(struct emu_dec *d, struct ptx_var *v)
{
	for (; v; v = v->next) {
		struct ptx_sym *s = v->sym;
		uint64_t align = emu_align_of(s);

		switch (s->space) {
		case SPACE_LOCAL:
			d->f->local_bytes = align_up(d->f->local_bytes, align);
			place(d, s, SPACE_LOCAL, d->f->local_bytes);
			d->f->local_bytes += s->bytes;
			if (align > d->f->local_align)
				d->f->local_align = align;
			break;
		case SPACE_SHARED:
			place(d, s, SPACE_SHARED, emu_shared_new(d->mod, v));
			break;
		case SPACE_PARAM:
			place(d, s, SPACE_PARAM, d->rows);
			d->rows += (unsigned)((s->bytes + 7) / 8);
			break;
		case SPACE_GLOBAL:
		case SPACE_CONST:
			break;                  /* placed with the module's */
		default:
			break;                  /* registers get rows when they are used */
		}
	}
}

/* Parameters and results of a function, or an entry's parameters. */
static void dec_params(struct emu_dec *d)
{
	struct emu_func *f = d->f;
	uint64_t off = 0;
	unsigned i = 0;

	f->params = ptx_alloc(d->arena, (f->ptx->nparams + 1) * sizeof *f->params);
	f->rets = ptx_alloc(d->arena, (f->ptx->nrets + 1) * sizeof *f->rets);
	for (int results = 0; results < 2; results++) {
		struct emu_slot *s = results ? f->rets : f->params;

		i = 0;
		for (struct ptx_var *v = results ? f->ptx->rets : f->ptx->params; v; v = v->next) {
			struct ptx_sym *sym = v->sym;

			s[i].sym = sym;
			s[i].bytes = (uint32_t)sym->bytes;
			if (f->entry) {
				off = align_up(off, emu_align_of(sym));
				s[i].row = (uint32_t)off;
				place(d, sym, SPACE_PARAM, off)->kparam = true;
				off += sym->bytes;
			} else if (sym->space == SPACE_REG || sym->kind == SYM_REG) {
				struct emu_opnd o = reg_place(d, sym);

				s[i].reg = true;
				s[i].pred = o.kind == OPND_PRED;
				s[i].row = s[i].pred ? o.at : o.at / EMU_LANES;
				s[i].bytes = 8 * reg_words(sym->type);
			} else {
				s[i].row = d->rows;
				place(d, sym, SPACE_PARAM, d->rows);
				d->rows += (unsigned)((sym->bytes + 7) / 8);
			}
			i++;
		}
		if (results)
			f->nrets = i;
		else
			f->nparams = i;
	}
	f->param_bytes = off;
}

/* The op that a label stands before: its number plus one is in sym->user until
 * all ops are there. */
static const struct emu_op *label_op(struct emu_dec *d, const struct ptx_sym *s)
{
	uintptr_t at = s && s->kind == SYM_LABEL ? (uintptr_t)s->user : 0;

	return at && at <= d->nops ? &d->ops[at - 1] : NULL;
}

static void refuse_op(struct emu_op *op, const char *why)
{
	op->fn = emu_op_refuse;
	op->u.why = why;
}

static void resolve_table(struct emu_dec *d, struct emu_op *op)
{
	const struct ptx_inst *in = &op->stmt->inst;
	const struct ptx_sym *s = in->nops > 1 ? in->ops[1].sym : NULL;
	const struct ptx_stmt *targets = s && s->kind == SYM_PROTO ? s->stmt : NULL;

	if (!targets || targets->kind != STMT_TARGETS) {
		refuse_op(op, "a list of targets that is not there");
		return;
	}
	op->u.table.n = targets->t.nops;
	op->u.table.list = ptx_alloc(d->arena, (targets->t.nops + 1) * sizeof *op->u.table.list);
	for (unsigned i = 0; i < targets->t.nops; i++) {
		op->u.table.list[i] = label_op(d, targets->t.ops[i].sym);
		if (!op->u.table.list[i]) {
			refuse_op(op, "a target that is no label");
			return;
		}
	}
}

static void resolve(struct emu_dec *d)
{
	for (unsigned i = 0; i < d->nops; i++) {
		struct emu_op *op = &d->ops[i];

		if (op->fn == emu_op_bra) {
			op->u.target = label_op(d, op->stmt->inst.ops[0].sym);
			if (!op->u.target)
				refuse_op(op, "a branch to something that is no label");
		} else if (op->fn == emu_op_brx) {
			resolve_table(d, op);
		}
	}
}

/* Places all variables of the body.  Parameters of calls share rows with those of
 * other scopes. */
static void dec_vars(struct emu_dec *d)
{
	unsigned top = d->rows, depth = 0, cap = 0, *mark = NULL;

	for (struct ptx_stmt *s = d->f->ptx->body; s; s = s->next) {
		if (s->kind == STMT_OPEN) {
			if (depth == cap) {
				cap = cap ? cap * 2 : 16;
				mark = realloc(mark, cap * sizeof *mark);
				if (!mark)
					abort();
			}
			mark[depth++] = d->rows;
		} else if (s->kind == STMT_CLOSE && depth) {
			d->rows = mark[--depth];
		} else if (s->kind == STMT_VAR) {
			dec_var(d, s->var);
		}
		if (d->rows > top)
			top = d->rows;
	}
	d->rows = top;
	free(mark);
}

void emu_decode(struct emu_func *f)
{
	struct emu_dec d = {.mod = f->mod, .f = f, .arena = f->mod->ptx->arena};

	d.rows = FRAME_HEADER;
	d.regs = calloc((size_t)(f->ptx->nregs > 0 ? f->ptx->nregs : 0) + 1, sizeof *d.regs);
	if (!d.regs)
		abort();
	dec_params(&d);
	if (!f->ptx->has_body) {
		free(d.regs);
		return;
	}
	dec_vars(&d);
	emu_regs(&d);
	emu_source_marks(f->ptx);
	for (struct ptx_stmt *s = f->ptx->body; s; s = s->next) {
		d.stmt = s;
		if (s->kind == STMT_INST)
			dec_inst(&d);
		else if (s->kind == STMT_LABEL)
			s->sym->user = (void *)(uintptr_t)(d.nops + 1);
	}
	d.stmt = NULL;
	emu_dec_new(&d)->fn = emu_op_ret;
	resolve(&d);
	free(d.regs);
	f->ops = d.ops;
	f->nops = d.nops;
	f->rows = d.rows > d.preds ? d.rows : d.preds;
	f->local_bytes = align_up(f->local_bytes, 16);
	f->injected = emu_is_injected(f);
	emu_weak_wrap(f);
	if (emu_listening)
		emu_tell_load(f);
}
