/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_wgmma.c: wgmma: products of matrices in shared memory (A also in registers),
 * accumulated in registers.  A warp takes rows 16 * (its number in the warpgroup) on,
 * so each of the four does its own part.  A product reads shared memory and writes
 * its registers at a moment of the seed's choosing until its group is waited for;
 * products of one warp are carried out in order, as their accumulators need it.  A group
 * is the warpgroup's: it is over for all when it is for one (PTX ISA, "wgmma.commit_group":
 * one wgmma-group per warpgroup).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/async.h"
#include "emu/listen.h"
#include "emu/matdesc.h"
#include "emu/mma.h"

enum { ROWS = 16, MAX_N = 256, MAX_K = 32 };

struct emu_wgmma {
	unsigned n, k, nd;              /* nd: words of D */
	enum emu_mma_type dt, at, bt;
	bool a_regs, a_mn, b_mn, satfinite;
	bool sparse;                    /* of each four columns of A two are there */
	bool a_neg, b_neg;
	uint8_t selector;               /* which threads have the metadata */
	/* o[]: D, then A (one descriptor or four registers), B, scale-d, metadata */
};

struct product {
	const struct emu_op *op;
	uint64_t a, b;                  /* descriptors */
	uint32_t areg[4][EMU_LANES], meta[EMU_LANES];
	uint32_t base, group;
	bool accumulate, stale;
};

struct emu_wgmmas {
	struct emu_copies *copies;
	struct product *v;
	unsigned n, cap;
	uint32_t group;                 /* number of the group that is open */
	bool listed;
	uint64_t due;
	struct emu_wgmmas *next;
};

static struct emu_wgmmas *listed;
uint64_t emu_wgmma_due = UINT64_MAX;

/* ---- one product -------------------------------------------------------------------------- */

static struct emu_matdesc described(uint64_t bits)
{
	static const uint8_t spans[] = {0, 128, 64, 32};
	struct emu_matdesc d = emu_matdesc_of(bits);

	d.span = spans[bits >> 62];
	return d;
}

/* An element's bits in shared memory; beyond it there is nothing but zeros: the
 * descriptor was checked when the product was issued. */
static uint64_t element(const uint8_t *smem, uint64_t bytes, uint32_t at, unsigned size)
{
	uint64_t v = 0;

	if (at + size <= bytes)
		memcpy(&v, smem + at, size);
	return v;
}

/* Values of rows [first, first + n) by k columns, as doubles, which hold them all. */
static void from_shared(const struct emu_block *b, const uint8_t *smem, uint64_t bits, bool mn,
			enum emu_mma_type t, unsigned first, unsigned n, unsigned k,
			double (*to)[MAX_K])
{
	struct emu_matdesc d = described(bits);
	unsigned size = emu_mma_bits(t) / 8;

	for (unsigned r = 0; r < n; r++)
		for (unsigned c = 0; c < k; c++)
			to[r][c] = emu_mma_value(t, element(smem, b->smem_bytes,
						emu_matdesc_at(&d, mn, size, first + r, c), size));
}

/* A in registers: the fragment of an mma with 16 rows. */
static void from_registers(const struct product *p, enum emu_mma_type t, unsigned k,
			   double (*to)[MAX_K])
{
	unsigned bits = emu_mma_bits(t), per = 32 / bits;

	for (unsigned l = 0; l < EMU_LANES; l++)
		for (unsigned i = 0; i < 4 * per; i++) {
			unsigned reg = i / per, row = l / 4 + (reg & 1) * 8;
			unsigned col = (reg >> 1) * 4 * per + l % 4 * per + i % per;
			uint64_t v = p->areg[reg][l] >> i % per * bits;

			if (col < k)
				to[row][col] = emu_mma_value(t, bits < 32 ? v & ((1u << bits) - 1) : v);
		}
}

/* PTX ISA, "Sparse matrix storage": of each four columns two have a place of two bits in
 * the metadata; of 16-bit elements the selector names two threads of four, each with 16
 * columns of two rows. */
static void spread(const struct product *p, double (*a)[MAX_K])
{
	const struct emu_wgmma *how = p->op->u.wgmma;

	for (unsigned r = 0; r < ROWS; r++) {
		double there[MAX_K];

		memcpy(there, a[r], sizeof there);
		memset(a[r], 0, sizeof a[r]);
		for (unsigned i = 0; i < how->k / 2; i++) {
			uint32_t m = p->meta[r % 8 * 4 + how->selector * 2 + i / 8] >> r / 8 * 16;

			a[r][i / 2 * 4 + (m >> i % 8 * 2 & 3)] += there[i];
		}
	}
}

static uint64_t result(const struct emu_wgmma *how, const double *a, const double *b, double sum)
{
	for (unsigned k = 0; k < how->k; k++)
		sum += a[k] * b[k];
	return emu_mma_bits_of(how->dt, sum, how->satfinite);
}

/* Columns of A in memory. */
static unsigned stored(const struct emu_wgmma *how)
{
	return how->sparse ? how->k / 2 : how->k;
}

static void carry_out(struct emu_warp *w, const struct product *p)
{
	const struct emu_wgmma *how = p->op->u.wgmma;
	const struct emu_block *b = w->block;
	const uint8_t *smem = p->stale && b->stale ? b->stale : b->smem;
	uint64_t *rows = w->rows + (size_t)p->base * EMU_LANES;
	static double a[ROWS][MAX_K], bt[MAX_N][MAX_K];
	unsigned per = how->dt == MMA_F16 ? 2 : 1, bits = 32 / per;

	if (how->a_regs)
		from_registers(p, how->at, stored(how), a);
	else
		from_shared(b, smem, p->a, how->a_mn, how->at, w->index % 4 * ROWS, ROWS, stored(how), a);
	if (how->sparse)
		spread(p, a);
	from_shared(b, smem, p->b, how->b_mn, how->bt, 0, how->n, how->k, bt);
	for (unsigned r = 0; how->a_neg != how->b_neg && r < ROWS; r++)
		for (unsigned k = 0; k < how->k; k++)
			a[r][k] = -a[r][k];
	for (unsigned i = 0; i < how->nd; i++) {
		struct emu_opnd o = p->op->o[i];

		if (o.kind != OPND_ROW)
			continue;
		for (unsigned l = 0; l < EMU_LANES; l++) {
			uint64_t old = rows[o.at + l], now = 0;

			for (unsigned e = 0; e < per; e++) {
				unsigned at = i * per + e, row = l / 4 + (at >> 1 & 1) * 8;
				unsigned col = at / 4 * 8 + l % 4 * 2 + (at & 1);
				uint64_t c = (old >> e * bits) & (bits < 32 ? 0xffff : EMU_ALL);

				now |= result(how, a[row], bt[col], p->accumulate ?
					      emu_mma_value(how->dt, c) : 0) << e * bits;
			}
			rows[o.at + l] = now;
		}
	}
}

/* ---- a warp's products ------------------------------------------------------------------------- */

static struct emu_wgmmas *of(struct emu_warp *w)
{
	struct emu_copies *c = emu_copies_of(w);

	if (!c->wgmma) {
		c->wgmma = calloc(1, sizeof *c->wgmma);
		if (!c->wgmma)
			abort();
		c->wgmma->copies = c;
	}
	return c->wgmma;
}

/* The warps of the warpgroup that there are: [*first, end). */
static struct emu_warp *warpgroup(const struct emu_x *x, struct emu_warp **first)
{
	unsigned at = x->w->index / 4 * 4, left = x->b->nwarps - at;

	*first = x->b->warp + at;
	return *first + (left < 4 ? left : 4);
}

static void do_first(struct emu_wgmmas *q, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		carry_out(q->copies->warp, &q->v[i]);
	q->n -= n;
	if (q->n)
		memmove(q->v, q->v + n, q->n * sizeof *q->v);
}

static void list(struct emu_wgmmas *q)
{
	if (q->listed)
		return;
	q->listed = true;
	q->due = emu_async_delay();
	q->next = listed;
	listed = q;
	if (q->due < emu_wgmma_due)
		emu_wgmma_due = q->due;
	if (q->due < emu_m.async_due)
		emu_m.async_due = q->due;
}

static void unlist(struct emu_wgmmas *q)
{
	struct emu_wgmmas **p = &listed;

	if (!q->listed)
		return;
	while (*p != q)
		p = &(*p)->next;
	*p = q->next;
	q->listed = false;
}

/* With seed 0 products wait until somebody waits for them. */
void emu_wgmma_run(void)
{
	emu_wgmma_due = UINT64_MAX;
	for (struct emu_wgmmas **p = &listed, *q; (q = *p);) {
		if (q->due <= emu_m.steps) {
			if (emu_m.seed && q->n)
				do_first(q, 1 + (unsigned)(emu_random() % q->n));
			if (!q->n || !emu_m.seed) {
				q->listed = false;
				*p = q->next;
				continue;
			}
			q->due = emu_async_delay();
		}
		if (q->due < emu_wgmma_due)
			emu_wgmma_due = q->due;
		p = &q->next;
	}
}

void emu_wgmma_drop(struct emu_copies *c)
{
	if (!c->wgmma)
		return;
	unlist(c->wgmma);
	c->wgmma->n = 0;
	c->wgmma->group = 0;
}

void emu_wgmma_free(struct emu_copies *c)
{
	if (!c->wgmma)
		return;
	unlist(c->wgmma);
	free(c->wgmma->v);
	free(c->wgmma);
	c->wgmma = NULL;
}

/* ---- the instructions ------------------------------------------------------------------------------ */

/* All lanes of the warp, at one place. */
static bool together(struct emu_x *x, const struct emu_op *op, uint32_t m, struct emu_gather *g)
{
	if (!emu_gather(x, op, m, EMU_ALL, g))
		return false;
	for (unsigned i = 1; i < g->n; i++)
		if (g->part[i].op != op || g->part[i].base != x->base)
			g->mask = 0;
	if (g->mask == EMU_ALL)
		return true;
	emu_fault(x, op, (unsigned)__builtin_ctz(m), CUDA_ERROR_ILLEGAL_INSTRUCTION,
		  "not all lanes of the warp are here");
	return false;
}

/* Whether all of a matrix lies in the block's shared memory: the farthest of its
 * elements in every direction, each within a line of 128 bytes. */
static bool inside(const struct emu_block *b, uint64_t bits, bool mn, unsigned size, unsigned first,
		   unsigned n, unsigned k)
{
	struct emu_matdesc d = described(bits);

	for (unsigned r = first; r < first + n; r++)
		for (unsigned c = 0; c < k; c += mn || !d.span ? 1 : k - 1) {
			uint32_t at = emu_matdesc_at(&d, mn, size, r, c);

			if (at < EMU_SMEM_RESERVED || at + size > b->smem_bytes)
				return false;
		}
	return true;
}

/* Marks the bytes of a matrix. */
static void mark(uint8_t *map, uint64_t bytes, uint64_t bits, bool mn, unsigned size, unsigned n,
		 unsigned k)
{
	struct emu_matdesc d = described(bits);

	for (unsigned r = 0; r < n; r++)
		for (unsigned c = 0; c < k; c++) {
			uint32_t at = emu_matdesc_at(&d, mn, size, r, c);

			if (at + size <= bytes)
				memset(map + at, 1, size);
		}
}

/* PTX ISA, "wgmma.mma_async": the warpgroup reads the matrices; which of its warps reads
 * which rows of A is not for programs to know. */
void emu_wgmma_reach(const struct emu_tell *t, uint8_t *map)
{
	const struct emu_wgmma *how = t->op->u.wgmma;
	uint64_t n = t->b->smem_bytes;

	if (!how->a_regs)
		mark(map, n, t->u.wgmma->a, how->a_mn, emu_mma_bits(how->at) / 8, 4 * ROWS, stored(how));
	mark(map, n, t->u.wgmma->b, how->b_mn, emu_mma_bits(how->bt) / 8, how->n, how->k);
}

static void tell(struct emu_x *x, const struct product *p, const struct emu_gather *g)
{
	struct emu_tell t = emu_tell_of(TELL_WGMMA, x, p->op, g->mask, x->mask);
	struct emu_tell_wgmma w = {.a = p->a, .b = p->b, .a_regs = p->op->u.wgmma->a_regs};

	t.came = g->came;
	t.u.wgmma = &w;
	emu_tell(&t);
}

static void tell_groups(enum emu_tell_kind kind, struct emu_x *x, const struct emu_op *op,
			const struct emu_gather *g)
{
	struct emu_tell t = emu_tell_of(kind, x, op, g->mask, x->mask);
	struct emu_tell_groups groups = {.list = EMU_LIST_WGMMA, .left = op->imm};

	t.came = g->came;
	t.u.groups = &groups;
	emu_tell(&t);
}

static const struct emu_op *mma_async(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const struct emu_wgmma *how = op->u.wgmma;
	const struct emu_opnd *o = op->o + how->nd;
	struct emu_wgmmas *q;
	struct emu_gather g;
	struct product *p;

	if (!together(x, op, m, &g))
		return NULL;
	q = of(x->w);
	if (q->n == q->cap) {
		q->cap = q->cap ? q->cap * 2 : 4;
		q->v = realloc(q->v, q->cap * sizeof *q->v);
		if (!q->v)
			abort();
	}
	p = &q->v[q->n];
	memset(p, 0, sizeof *p);
	p->op = op;
	p->base = x->base;
	p->group = q->group;
	for (unsigned i = 0; how->a_regs && i < 4; i++)
		for (unsigned l = 0; l < EMU_LANES; l++)
			p->areg[i][l] = (uint32_t)emu_get(x, o[i], l);
	if (!how->a_regs)
		p->a = emu_get(x, o[0], 0);
	o += how->a_regs ? 4 : 1;
	p->b = emu_get(x, o[0], 0);
	p->accumulate = emu_get(x, o[1], 0) != 0;
	for (unsigned l = 0; how->sparse && l < EMU_LANES; l++)
		p->meta[l] = (uint32_t)emu_get(x, o[2], l);
	p->stale = x->b->stale && emu_async_chance(4);
	if ((!how->a_regs && !inside(x->b, p->a, how->a_mn, emu_mma_bits(how->at) / 8,
				     x->w->index % 4 * ROWS, ROWS, stored(how))) ||
	    !inside(x->b, p->b, how->b_mn, emu_mma_bits(how->bt) / 8, 0, how->n, how->k))
		return emu_fault(x, op, 0, CUDA_ERROR_ILLEGAL_ADDRESS,
				 "a matrix that lies outside the block's shared memory");
	if (emu_tells(op))
		tell(x, p, &g);
	q->n++;
	if (emu_m.seed)
		list(q);
	return op + 1;
}

static const struct emu_op *commit(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct emu_gather g;

	if (!together(x, op, m, &g))
		return NULL;
	of(x->w)->group++;
	if (emu_tells(op))
		tell_groups(TELL_GROUP_COMMIT, x, op, &g);
	return op + 1;
}

static bool committed(const struct emu_x *x, uint32_t groups)
{
	struct emu_warp *w, *end = warpgroup(x, &w);

	for (; w < end; w++)
		if (w->live && of(w)->group < groups)
			return false;
	return true;
}

static const struct emu_op *wait_group(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	uint32_t group = of(x->w)->group, upto = group > op->imm ? group - op->imm : 0;
	struct emu_warp *w, *end;
	struct emu_gather g;

	/* Before all four warps have issued it, nothing has begun. */
	if (!committed(x, upto))
		return emu_yield(x, op);
	if (!together(x, op, m, &g))
		return NULL;
	for (end = warpgroup(x, &w); w < end; w++) {
		struct emu_wgmmas *q = of(w);
		unsigned n = 0;

		while (n < q->n && q->v[n].group < upto)
			n++;
		do_first(q, n);
	}
	if (emu_tells(op))
		tell_groups(TELL_GROUP_WAIT, x, op, &g);
	return op + 1;
}

/* ---- decoding ---------------------------------------------------------------------------------------- */

static bool type_of(enum ptx_mod m, enum emu_mma_type *t)
{
	static const struct { enum ptx_mod mod; enum emu_mma_type type; } types[] = {
		{MOD_F16, MMA_F16}, {MOD_BF16, MMA_BF16}, {MOD_TF32, MMA_TF32}, {MOD_F32, MMA_F32},
		{MOD_E4M3, MMA_E4M3}, {MOD_E5M2, MMA_E5M2}, {MOD_S32, MMA_S32}, {MOD_S8, MMA_S8},
		{MOD_U8, MMA_U8}
	};

	for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
		if (types[i].mod == m) {
			*t = types[i].type;
			return true;
		}
	}
	return false;
}

static bool types_fit(const struct emu_wgmma *how)
{
	unsigned k = stored(how);

	switch (how->at) {
	case MMA_F16:
		return how->bt == MMA_F16 && k == 16 && (how->dt == MMA_F16 || how->dt == MMA_F32);
	case MMA_BF16:
		return how->bt == MMA_BF16 && k == 16 && how->dt == MMA_F32;
	case MMA_TF32:
		return how->bt == MMA_TF32 && k == 8 && how->dt == MMA_F32;
	case MMA_E4M3:
	case MMA_E5M2:
		return (how->bt == MMA_E4M3 || how->bt == MMA_E5M2) && k == 32 &&
		       (how->dt == MMA_F16 || how->dt == MMA_F32);
	case MMA_S8:
	case MMA_U8:
		return (how->bt == MMA_S8 || how->bt == MMA_U8) && k == 32 && how->dt == MMA_S32;
	default:
		return false;
	}
}

/* .m64nNkK and three types among the modifiers. */
static bool shape_and_types(const struct ptx_inst *in, struct emu_wgmma *how)
{
	enum emu_mma_type t[3];
	unsigned nt = 0;

	for (unsigned i = 0; i < in->nmods; i++) {
		enum ptx_mod m = (enum ptx_mod)in->mod[i];

		if (sscanf(in->modtext[i], ".m64n%uk%u", &how->n, &how->k) == 2 ||
		    ptx_mod_type(m) == TYPE_NONE)
			continue;
		if (nt == 3 || !type_of(m, &t[nt++]))
			return false;
	}
	if (nt != 3 || how->n < 8 || how->n > MAX_N || how->n % 8)
		return false;
	how->dt = t[0];
	how->at = t[1];
	how->bt = t[2];
	how->nd = how->dt == MMA_F16 ? how->n / 4 : how->n / 2;
	return types_fit(how);
}

/* A constant 1 or -1, 0 or 1. */
static bool constant(const struct ptx_operand *p, int64_t a, int64_t b, bool *second)
{
	*second = (int64_t)p->ival == b;
	return p->kind == OP_INT && ((int64_t)p->ival == a || *second);
}

/* d, a, b (, metadata, selector), scale-d (, scale-a, scale-b (, trans-a) (, trans-b)). */
static bool dec_mma(struct emu_dec *d, const struct ptx_inst *in, bool sparse)
{
	struct emu_wgmma *how = ptx_alloc(d->arena, sizeof *how);
	struct emu_opnd o[MAX_N / 2 + 8];
	unsigned n, want, at = sparse ? 6 : 4;
	struct emu_op *op;
	bool floats;

	memset(how, 0, sizeof *how);
	if (ptx_has(in, MOD_B1))
		return emu_dec_refuse(d, "wgmma of .b1 matrices, which is not emulated");
	how->sparse = sparse;
	if (!shape_and_types(in, how))
		return emu_dec_refuse(d, "wgmma of a shape or types that there are not");
	how->satfinite = ptx_has(in, MOD_SATFINITE);
	if (sparse && how->at != MMA_F16 && how->at != MMA_BF16)
		return emu_dec_refuse(d, "wgmma of sparse matrices of other than 16 bits, which is not emulated");
	floats = how->dt != MMA_S32;
	if (in->nops < at)
		return emu_dec_refuse(d, "operands that do not fit the instruction");
	how->a_regs = in->ops[1].kind == OP_VEC;
	want = at + (floats ? 2 : 0);
	if (emu_mma_bits(how->at) == 16)
		want += how->a_regs ? 1 : 2;
	if (in->nops != want)
		return emu_dec_refuse(d, "operands that do not fit the instruction");
	if (floats && (!constant(&in->ops[at], 1, -1, &how->a_neg) ||
		       !constant(&in->ops[at + 1], 1, -1, &how->b_neg)))
		return emu_dec_refuse(d, "a scale that is neither 1 nor -1");
	at += 2;
	if (emu_mma_bits(how->at) == 16 && ((!how->a_regs && !constant(&in->ops[at++], 0, 1, &how->a_mn)) ||
			     !constant(&in->ops[at], 0, 1, &how->b_mn)))
		return emu_dec_refuse(d, "a transposition that is neither 0 nor 1");
	if (sparse) {
		if (in->ops[4].kind != OP_INT || in->ops[4].ival > 1)
			return emu_dec_refuse(d, "a selector that is neither 0 nor 1");
		how->selector = (uint8_t)in->ops[4].ival;
	}
	n = emu_dec_words(d, &in->ops[0], true, o, MAX_N / 2);
	if (n != how->nd)
		return emu_dec_refuse(d, "operands that do not fit the instruction");
	n += emu_dec_words(d, &in->ops[1], false, o + n, 5);
	if (n != how->nd + (how->a_regs ? 4 : 1))
		return emu_dec_refuse(d, "operands that do not fit the instruction");
	o[n++] = emu_dec_word(d, &in->ops[2], false);
	o[n++] = emu_dec_word(d, &in->ops[sparse ? 5 : 3], false);
	if (sparse)
		o[n++] = emu_dec_word(d, &in->ops[3], false);
	d->mod->async_reads = true;
	op = emu_dec_new(d);
	op->fn = mma_async;
	op->u.wgmma = how;
	op->o = emu_dec_keep(d, o, n);
	return true;
}

bool emu_dec_wgmma(struct emu_dec *d, const struct ptx_inst *in)
{
	struct emu_op *op;

	switch (in->id) {
	case INST_WGMMA_MMA_ASYNC:
		return dec_mma(d, in, false);
	case INST_WGMMA_MMA_ASYNC_SP:
		return dec_mma(d, in, true);
	case INST_WGMMA_FENCE:                  /* registers are read and written in order */
		emu_dec_new(d)->fn = emu_op_nop;
		return true;
	case INST_WGMMA_COMMIT_GROUP:
		emu_dec_new(d)->fn = commit;
		return true;
	case INST_WGMMA_WAIT_GROUP:
		if (in->nops != 1 || in->ops[0].kind == OP_SYM)
			return emu_dec_refuse(d, "a wait for a number of groups that is no constant");
		op = emu_dec_new(d);
		op->fn = wait_group;
		op->imm = (uint32_t)in->ops[0].ival;
		return true;
	default:
		return false;
	}
}
