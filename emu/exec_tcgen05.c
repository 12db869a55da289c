/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_tcgen05.c: tcgen05: tensor memory, 128 lanes of 512 columns of 32 bits for each
 * block; loads and stores of warps; products and copies into it, which go on by
 * themselves, in the order of their issue, until a commit's mbarrier says that they
 * are done.  Stores may be as late as their wait, and loads if nothing before that can
 * ask for what they loaded.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/async.h"
#include "emu/tcgen05.h"

enum { LANES = EMU_TC_LANES, COLUMNS = EMU_TC_COLUMNS, UNIT = 32, MAX_M = 128, MAX_N = 256, MAX_K = 64 };

struct emu_tmem {
	uint32_t cell[LANES][COLUMNS];
	uint16_t used;                  /* a bit for 32 columns */
	bool relinquished;
	struct emu_tc_item *v;
	unsigned n, cap;
	bool listed;
	uint64_t due;
	struct emu_tmem *next;
};

static struct emu_tmem *listed;
uint64_t emu_tc_due = UINT64_MAX;

static struct emu_tmem *tmem(struct emu_block *b)
{
	if (!b->tmem) {
		b->tmem = calloc(1, sizeof *b->tmem);
		if (!b->tmem)
			abort();
	}
	return b->tmem;
}

/* ---- products and copies ------------------------------------------------------------------ */

static uint64_t element(const struct emu_tc_item *it, const struct emu_block *b, uint32_t at, unsigned size)
{
	const uint8_t *smem = it->stale && b->stale ? b->stale : b->smem;
	uint64_t v = 0;

	if (at + size <= b->smem_bytes)
		memcpy(&v, smem + at, size);
	return v;
}

/* Element c of the two in a byte. */
static double packed(uint64_t byte, unsigned c)
{
	return emu_mma_value(MMA_E2M1, (byte >> c % 2 * 4 & 15) << 2);
}

static void rows_of(const struct emu_tc_item *it, const struct emu_block *b, uint64_t bits, bool mn,
		    enum emu_mma_type t, unsigned n, double (*to)[MAX_K])
{
	struct emu_matdesc d = emu_tc_described(bits);
	unsigned size = emu_mma_bits(t) / 8;

	for (unsigned r = 0; r < n; r++)
		for (unsigned c = 0; c < it->k; c++)
			to[r][c] = t == MMA_E2M1 ?
				packed(element(it, b, emu_matdesc_at(&d, mn, 1, r, c / 2), 1), c) :
				emu_mma_value(t, element(it, b, emu_matdesc_at(&d, mn, size, r, c), size));
}

/* The factor for element `k` of row `row` of A or B: those of 32 rows are in a column, in the bytes
 * of as many lanes, and the same in the others; if D's columns are folded, B's rows are as well (PTX ISA,
 * "Block Scaling for tcgen05.mma"; CUTLASS, mma_traits_sm100.hpp: tmem_sf_frg). */
static double factor(const struct emu_tc_item *it, const struct emu_tmem *t, unsigned which, unsigned row, unsigned k)
{
	unsigned byte = (it->first[which] + k * it->vec / it->k) % 4, in = which ? row % emu_tc_columns_of(it) : row;
	unsigned lane = in % 32 + (which ? row / emu_tc_columns_of(it) * (LANES / it->folds) : in / 32 * 32);
	uint32_t cell = t->cell[lane][((it->scales[which] & 0xffff) + in / 32) % COLUMNS];

	if (it->fine)
		return emu_mma_value(MMA_E4M3, cell >> 8 * byte & 0x7f);
	return ldexp(1, (int)(cell >> 8 * byte & 0xff) - 127);
}

/* For column c of D. */
static void rows_of_tmem(const struct emu_tc_item *it, const struct emu_tmem *t, unsigned n, unsigned at,
			 double (*to)[MAX_K])
{
	unsigned bits = it->at == MMA_E2M1 ? 4 : emu_mma_bits(it->at);

	for (unsigned r = 0; r < n; r++)
		for (unsigned c = 0; c < it->k; c++) {
			uint32_t v = t->cell[emu_tc_lane_of(it, r, at)][((it->a_tmem & 0xffff) + c * bits / 32) %
								 COLUMNS] >> c * bits % 32;

			to[r][c] = bits == 4 ? packed(v, 0) :
				emu_mma_value(it->at, bits < 32 ? v & ((1u << bits) - 1) : v);
		}
}

static void product(const struct emu_tc_item *it)
{
	static double a[MAX_M][MAX_K], b[MAX_N][MAX_K];
	unsigned blocks = it->pair[1] ? 2 : 1, m = it->m / blocks, half = it->n / blocks;

	for (unsigned h = 0; h < blocks; h++)
		rows_of(it, it->pair[h], it->b, it->b_mn, it->bt, half, b + h * half);
	for (unsigned h = 0; h < blocks; h++) {
		struct emu_tmem *t = tmem(it->pair[h]);

		if (!it->from_tmem)
			rows_of(it, it->pair[h], it->a, it->a_mn, it->at, m, a);
		for (unsigned c = 0; c < it->n; c++) {
			if (it->from_tmem && c % emu_tc_columns_of(it) == 0)
				rows_of_tmem(it, t, m, c, a);
			for (unsigned r = 0; r < m; r++) {
				unsigned lane = emu_tc_lane_of(it, r, c);
				uint32_t *d = &t->cell[lane][emu_tc_column_of(it, c) % COLUMNS];
				double sum = 0;

				if (it->skip[h * 4 + lane / 32] >> lane % 32 & 1)
					continue;
				for (unsigned k = 0; k < it->k; k++)
					sum += a[r][k] * b[c][k] *
					       (it->vec ? factor(it, t, 0, r, k) * factor(it, t, 1, c, k) : 1);
				if (it->a_neg)
					sum = -sum;
				if (it->accumulate)
					sum += ldexp(emu_mma_value(it->dt, *d), -(int)it->scale);
				*d = (uint32_t)emu_mma_bits_of(it->dt, sum, it->saturate);
			}
		}
	}
}

static void copy(const struct emu_tc_item *it)
{
	struct emu_matdesc d = emu_tc_described(it->a);

	for (unsigned h = 0; h < 2 && it->pair[h]; h++) {
		struct emu_tmem *t = tmem(it->pair[h]);

		for (unsigned r = 0; r < it->lanes; r++)
			for (unsigned c = 0; c < it->bytes / 4; c++) {
				uint32_t v = (uint32_t)element(it, it->pair[h],
							       emu_matdesc_at(&d, false, 4, r, c), 4);

				for (unsigned k = 0; k < it->copies; k++)
					t->cell[(it->spread ? r / 32 * 64 + r % 32 + k * 32 : r + k * it->lanes) % LANES]
					       [((it->d & 0xffff) + c) % COLUMNS] = v;
			}
	}
}

static void do_first(struct emu_tmem *t)
{
	const struct emu_tc_item *it = &t->v[0];

	if (it->kind == EMU_TC_PRODUCT)
		product(it);
	else if (it->kind == EMU_TC_COPY)
		copy(it);
	for (unsigned i = 0; i < it->nmbar; i++) {
		if (emu_listening)
			emu_tell(&(struct emu_tell){
				.kind = TELL_ARRIVED, .b = it->pair[0],
				.u.arrived = &(struct emu_tell_arrived){it->serial, it->mbar[i]}
			});
		emu_mbar_arrive(it->mbar[i]);
	}
	memmove(t->v, t->v + 1, --t->n * sizeof *t->v);
}

/* ---- the queue ------------------------------------------------------------------------------ */

static void put(struct emu_block *b, const struct emu_tc_item *it)
{
	struct emu_tmem *t = tmem(b);

	if (t->n == t->cap) {
		t->cap = t->cap ? t->cap * 2 : 8;
		t->v = realloc(t->v, t->cap * sizeof *t->v);
		if (!t->v)
			abort();
	}
	t->v[t->n++] = *it;
	if (t->listed)
		return;
	t->listed = true;
	t->due = emu_async_delay();
	t->next = listed;
	listed = t;
	if (t->due < emu_tc_due)
		emu_tc_due = t->due;
	if (t->due < emu_m.async_due)
		emu_m.async_due = t->due;
}

void emu_tc_run(void)
{
	emu_tc_due = UINT64_MAX;
	for (struct emu_tmem **p = &listed, *t; (t = *p);) {
		if (t->due <= emu_m.steps) {
			unsigned n = emu_m.seed ? 1 + (unsigned)(emu_random() % t->n) : t->n;

			while (n--)
				do_first(t);
			if (!t->n) {
				t->listed = false;
				*p = t->next;
				continue;
			}
			t->due = emu_async_delay();
		}
		if (t->due < emu_tc_due)
			emu_tc_due = t->due;
		p = &t->next;
	}
}

void emu_tc_block_end(struct emu_block *b)
{
	struct emu_tmem **p = &listed;

	if (!b->tmem)
		return;
	while (*p && *p != b->tmem)
		p = &(*p)->next;
	if (*p)
		*p = b->tmem->next;
	free(b->tmem->v);
	free(b->tmem);
	b->tmem = NULL;
}

/* ---- tensor memory: room, loads and stores --------------------------------------------------- */

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

static struct emu_tell telling(enum emu_tell_kind kind, struct emu_x *x, const struct emu_op *op,
			       const struct emu_gather *g)
{
	struct emu_tell t = emu_tell_of(kind, x, op, g->mask, x->mask);

	t.came = g->came;
	return t;
}

static void tell_room(enum emu_tell_kind kind, struct emu_x *x, const struct emu_op *op,
		      const struct emu_gather *g, const struct emu_tell_room *room)
{
	struct emu_tell t = telling(kind, x, op, g);

	t.u.room = room;
	if (emu_tells(op))
		emu_tell(&t);
}

/* Columns [at, at + n), as bits of emu_tmem.used. */
static uint16_t units(unsigned at, unsigned n)
{
	unsigned first = at / UNIT, last = (at + n - 1) / UNIT;

	return (uint16_t)(((1u << (last - first + 1)) - 1) << first);
}

/* False: a fault.  Who listens is told of the access all the same: of what kind it is, others say. */
static bool allocated(struct emu_x *x, const struct emu_op *op, struct emu_block *b, uint32_t a,
		      unsigned n)
{
	unsigned at = a & 0xffff;

	if (n && at + n <= COLUMNS && !(units(at, n) & ~tmem(b)->used))
		return true;
	emu_fault(x, op, 0, CUDA_ERROR_ILLEGAL_ADDRESS,
		  "columns %u to %u of tensor memory, which are not allocated", at, at + n - 1);
	return false;
}

/* A block waits until there is room. */
const struct emu_op *emu_tc_alloc(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	uint32_t n, at;
	struct emu_tmem *t = tmem(x->b);
	struct emu_gather g;

	if (!together(x, op, m, &g))
		return NULL;
	n = (uint32_t)emu_get(x, op->o[0], 0);
	if (n < UNIT || n > COLUMNS || (n & (n - 1)) || t->relinquished)
		return emu_fault(x, op, 0, CUDA_ERROR_ILLEGAL_INSTRUCTION,
				 t->relinquished ? "allocates %u columns after having given that up" :
				 "%u columns of tensor memory", n);
	for (at = 0; at + n <= COLUMNS; at += n) {
		uint32_t *p;
		uint64_t a = emu_addr_of(x, &op->u.mem, 0);

		if (units(at, n) & t->used)
			continue;
		p = emu_at(x, 0, op->u.mem.base, a, 4);
		if (!p)
			return emu_access_fault(x, op, 0, a, 4, op->u.mem.base);
		t->used |= units(at, n);
		*p = at;
		tell_room(TELL_TC_ALLOC, x, op, &g, &(struct emu_tell_room){op->u.mem.base, a, at, n});
		return op + 1;
	}
	return emu_yield(x, op);
}

const struct emu_op *emu_tc_dealloc(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct emu_gather g;
	uint32_t at, n;
	bool fine;

	if (!together(x, op, m, &g))
		return NULL;
	at = (uint32_t)emu_get(x, op->o[0], 0);
	n = (uint32_t)emu_get(x, op->o[1], 0);
	fine = allocated(x, op, x->b, at, n);
	if (fine)
		tmem(x->b)->used &= (uint16_t)~units(at & 0xffff, n);
	if (fine || (n && (at & 0xffff) + n <= COLUMNS))
		tell_room(TELL_TC_DEALLOC, x, op, &g, &(struct emu_tell_room){.at = at, .columns = n});
	return fine ? op + 1 : NULL;
}

const struct emu_op *emu_tc_relinquish(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct emu_gather g;

	if (!together(x, op, m, &g))
		return NULL;
	tmem(x->b)->relinquished = true;
	tell_room(TELL_TC_RELINQUISH, x, op, &g, &(struct emu_tell_room){0});
	return op + 1;
}

struct access { const struct emu_op *op; uint32_t base, a, v[EMU_TC_REGS][EMU_LANES]; };
struct emu_tc_lates { struct access *v; unsigned n, cap; };

static uint32_t *cell(struct emu_tmem *t, const struct emu_tc *k, uint32_t a, unsigned lane, unsigned i, unsigned h)
{
	return &t->cell[0][0] + emu_tc_cell(k, a, lane, i, h);
}

/* What is left of v and w. */
static uint32_t reduced(const struct emu_tc *k, uint32_t v, uint32_t w)
{
	bool greater;
	float a, b;

	if (k->as == EMU_TC_F32) {
		memcpy(&a, &v, 4);
		memcpy(&b, &w, 4);
		if (isnan(a) || isnan(b))
			return k->nan ? 0x7fffffff : isnan(b) ? v : w;
		greater = a > b || (a == b && v >> 31 < w >> 31);
	} else {
		greater = k->as == EMU_TC_S32 ? (int32_t)v > (int32_t)w : v > w;
	}
	return greater == (k->reduce == EMU_TC_MAX) ? v : w;
}

static void access(struct emu_warp *w, const struct access *c)
{
	const struct emu_tc *k = c->op->u.tc;
	uint64_t *rows = w->rows + (size_t)c->base * EMU_LANES;
	uint32_t left[EMU_LANES] = {0}, sign = k->magnitude ? 0x7fffffff : ~0u;

	for (unsigned i = 0; i < k->n; i++)
		for (unsigned l = 0; l < EMU_LANES; l++) {
			uint32_t *p = cell(tmem(w->block), k, c->a, l, i, 0), v = *p;
			uint32_t *q = k->packed ? cell(tmem(w->block), k, c->a, l, i, 1) : NULL;

			if (k->store) {
				*p = q ? c->v[i][l] & 0xffff : c->v[i][l];
				if (q)
					*q = c->v[i][l] >> 16;
				continue;
			}
			if (q)
				v = (v & 0xffff) | *q << 16;
			left[l] = i ? reduced(k, left[l], v & sign) : v & sign;
			if (k->regs[i].kind == OPND_ROW)
				rows[k->regs[i].at + l] = v;
		}
	for (unsigned l = 0; k->reduce && l < EMU_LANES; l++)
		if (k->reduced.kind == OPND_ROW)
			rows[k->reduced.at + l] = left[l];
}

const struct emu_op *emu_tc_load_store(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const struct emu_tc *k = op->u.tc;
	struct emu_tc_lates *q;
	struct emu_copies *copies;
	struct emu_gather g;
	struct access *c;
	unsigned columns;
	uint32_t a;
	bool fine;

	if (!together(x, op, m, &g))
		return NULL;
	a = (uint32_t)emu_addr_of(x, &k->d, 0);
	if (a >> 16 >= LANES || (a >> 16) / 32 != x->w->index % 4 ||
	    (k->shape == 1 && !k->twice && (a >> 16) % 32) || (a >> 16) % 16)
		return emu_fault(x, op, 0, CUDA_ERROR_ILLEGAL_ADDRESS,
				 "lane %u of tensor memory, where warp %u has no access", a >> 16,
				 x->w->index);
	columns = (k->shape == 1 ? k->n : k->n * 2) << k->packed;
	fine = allocated(x, op, x->b, a, columns) && (!k->twice || allocated(x, op, x->b, a + k->split, columns));
	if (emu_tells(op)) {
		struct emu_tell t = telling(TELL_TC_ACCESS, x, op, &g);

		t.u.tmem = a;
		emu_tell(&t);
	}
	if (!fine)
		return NULL;
	copies = emu_copies_of(x->w);
	q = copies->tc;
	if (!q) {
		q = copies->tc = calloc(1, sizeof *q);
		if (!q)
			abort();
	}
	if (q->n == q->cap) {
		q->cap = q->cap ? q->cap * 2 : 2;
		q->v = realloc(q->v, q->cap * sizeof *q->v);
		if (!q->v)
			abort();
	}
	c = &q->v[q->n];
	c->op = op;
	c->base = x->base;
	c->a = a;
	for (unsigned i = 0; k->store && i < k->n; i++)
		for (unsigned l = 0; l < EMU_LANES; l++)
			c->v[i][l] = (uint32_t)emu_get(x, k->regs[i], l);
	if (!k->late || emu_async_chance(8))
		access(x->w, c);
	else
		q->n++;
	return op + 1;
}

/* kind: for stores. */
const struct emu_op *emu_tc_wait(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct emu_tc_lates *q;
	struct emu_gather g;
	unsigned kept = 0;

	if (!together(x, op, m, &g))
		return NULL;
	q = emu_copies_of(x->w)->tc;
	for (unsigned i = 0; q && i < q->n; i++) {
		if (q->v[i].op->u.tc->store == op->kind)
			access(x->w, &q->v[i]);
		else
			q->v[kept++] = q->v[i];
	}
	if (q)
		q->n = kept;
	if (emu_tells(op)) {
		struct emu_tell t = telling(TELL_TC_WAIT, x, op, &g);

		emu_tell(&t);
	}
	return op + 1;
}

void emu_tc_forget(struct emu_copies *c)
{
	if (c->tc)
		c->tc->n = 0;
}

void emu_tc_free(struct emu_copies *c)
{
	if (!c->tc)
		return;
	free(c->tc->v);
	free(c->tc);
	c->tc = NULL;
}

/* ---- issuing ------------------------------------------------------------------------------------- */

static bool peers(struct emu_x *x, const struct emu_op *op, const struct emu_tc *k,
		  struct emu_block *pair[2])
{
	struct emu_cluster *c = x->b->cluster;

	pair[0] = x->b;
	pair[1] = NULL;
	if (!k->pair)
		return true;
	if (c->nblocks < 2 || c->nblocks & 1) {
		emu_fault(x, op, 0, CUDA_ERROR_ILLEGAL_INSTRUCTION,
			  "cta_group::2 in a cluster of %u blocks", c->nblocks);
		return false;
	}
	pair[0] = c->block[x->b->rank & ~1u];
	pair[1] = c->block[x->b->rank | 1];
	return true;
}

/* What the instruction descriptor says; NULL, or what is not emulated of it. */
static const char *instruction(const struct emu_tc *k, uint32_t d, struct emu_tc_item *it)
{
	unsigned at = d >> 7 & 7, bt = d >> 10 & 7, dt = d >> 4 & 3;
	bool pair = it->pair[1];

	it->saturate = d >> 3 & 1;
	it->a_neg = (d >> 13 & 1) != (d >> 14 & 1);
	it->a_mn = d >> 15 & 1;
	it->b_mn = d >> 16 & 1;
	it->n = (d >> 17 & 63) * 8;
	it->m = (d >> 24 & 31) * 16;
	it->k = k->in == MMA_E2M1 ? 64 : 256 / emu_mma_bits(k->in);
	it->dt = k->in == MMA_S8 ? MMA_S32 : MMA_F32;
	it->vec = k->vec;
	it->fine = k->fine && !(d >> 23 & 1);
	it->first[0] = d >> 29 & 3;
	it->first[1] = dt;
	if (d >> 2 & 1)
		return "sparse matrices";
	if (!k->vec && !dt && k->in != MMA_S8 && k->in != MMA_TF32)
		it->dt = MMA_F16;
	else if (!k->vec && dt != (k->in == MMA_S8 ? 2u : 1u))
		return "accumulators of such a type";
	switch (k->in) {
	case MMA_F16:
		it->at = at ? MMA_BF16 : MMA_F16;
		it->bt = bt ? MMA_BF16 : MMA_F16;
		break;
	case MMA_TF32:
		it->at = it->bt = MMA_TF32;
		break;
	case MMA_E2M1:
		it->at = it->bt = MMA_E2M1;
		if (d >> 31 || it->a_mn || it->b_mn)
			return "such a layout of packed elements";
		break;
	case MMA_S8:
		it->at = at ? MMA_S8 : MMA_U8;
		it->bt = bt ? MMA_S8 : MMA_U8;
		break;
	default:
		if (at > 1 || bt > 1)
			return "elements of less than 8 bits";
		it->at = at ? MMA_E5M2 : MMA_E4M3;
		it->bt = bt ? MMA_E5M2 : MMA_E4M3;
		break;
	}
	it->folds = k->ws || pair ? LANES / (it->m / (1u + pair)) : it->m == 64 ? 0 : 1;
	if (it->n < 8 || it->n > MAX_N || it->n % (pair ? 32 : k->ws ? 64 : 8) ||
	    (pair ? it->m != 256 && it->m != 128 :
	     it->m != 128 && (it->vec || (it->m != 64 && (!k->ws || it->m != 32)))))
		return "a product of this shape";
	return NULL;
}

/* Lanes `m` have issued an operation each, from number `first` of the block's queue on.
 * NULL after a fault. */
static const struct emu_op *issued(struct emu_x *x, const struct emu_op *op, uint32_t m, unsigned first)
{
	struct emu_tell t = emu_tell_of(TELL_TC_ISSUE, x, op, m, x->mask);

	if (m && emu_tells(op)) {
		t.u.items = tmem(x->b)->v + first;
		emu_tell(&t);
	}
	return emu_m.fault ? NULL : op + 1;
}

/* Faults unless the columns that a product takes are the blocks' own. */
static void check_product(struct emu_x *x, const struct emu_op *op, const struct emu_tc_item *it)
{
	unsigned rows = it->m / (it->pair[1] ? 2 : 1), columns = emu_tc_columns_of(it);

	for (unsigned h = 0; h < 2 && it->pair[h]; h++)
		if (!allocated(x, op, it->pair[h], it->d, columns) ||
		    (it->vec && (!allocated(x, op, it->pair[h], it->scales[0], rows / 32) ||
				 !allocated(x, op, it->pair[h], it->scales[1], (columns + 31) / 32))))
			return;
}

/* False: a fault before it is known what it accesses. */
static bool mma_lane(struct emu_x *x, const struct emu_op *op, unsigned l)
{
	const struct emu_tc *k = op->u.tc;
	struct emu_tc_item it = {.kind = EMU_TC_PRODUCT, .scale = k->scale};
	const char *why;

	if (!peers(x, op, k, it.pair))
		return false;
	it.from_tmem = k->a_tmem;
	it.idesc = (uint32_t)emu_get(x, k->idesc, l);
	why = instruction(k, it.idesc, &it);
	if (why) {
		emu_fault(x, op, l, CUDA_ERROR_NOT_SUPPORTED, "not emulated: %s", why);
		return false;
	}
	it.d = (uint32_t)emu_addr_of(x, &k->d, l);
	if (k->a_tmem)
		it.a_tmem = (uint32_t)emu_addr_of(x, &k->a, l);
	if (it.d >> 16 > (it.folds ? 0 : 16) || it.d >> 16 & 15 || (k->a_tmem && it.a_tmem >> 16 != it.d >> 16)) {
		emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION, "lane %u of tensor memory for a product of %u rows",
			  it.d >> 16, it.m);
		return false;
	}
	if (!k->a_tmem)
		it.a = emu_get(x, k->a_desc, l);
	it.b = emu_get(x, k->b_desc, l);
	for (unsigned i = 0; k->vec && i < 2; i++)
		it.scales[i] = (uint32_t)emu_addr_of(x, &k->scales[i], l);
	it.accumulate = emu_get(x, k->enable, l) != 0;
	for (unsigned i = 0; i < k->nmask; i++)
		it.skip[i] = (uint32_t)emu_get(x, k->mask[i], l);
	check_product(x, op, &it);
	it.stale = x->b->stale && emu_async_chance(4);
	put(x->b, &it);
	return true;
}

const struct emu_op *emu_tc_mma(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	unsigned first = tmem(x->b)->n;
	uint32_t done = 0;

	EMU_EACH(l, m) {
		if (!mma_lane(x, op, l))
			break;
		done |= 1u << l;
		if (emu_m.fault)
			break;
	}
	return issued(x, op, done, first);
}

/* Likewise. */
static bool cp_lane(struct emu_x *x, const struct emu_op *op, unsigned l)
{
	const struct emu_tc *k = op->u.tc;
	struct emu_tc_item it = {.kind = EMU_TC_COPY};

	if (!peers(x, op, k, it.pair))
		return false;
	it.d = (uint32_t)emu_addr_of(x, &k->d, l);
	it.a = emu_get(x, k->a_desc, l);
	it.lanes = k->lanes;
	it.bytes = k->bytes;
	it.copies = k->copies;
	it.spread = k->spread;
	for (unsigned h = 0; h < 2 && it.pair[h]; h++)
		if (!allocated(x, op, it.pair[h], it.d, k->bytes / 4))
			break;
	it.stale = x->b->stale && emu_async_chance(4);
	put(x->b, &it);
	return true;
}

const struct emu_op *emu_tc_cp(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	unsigned first = tmem(x->b)->n;
	uint32_t done = 0;

	EMU_EACH(l, m) {
		if (!cp_lane(x, op, l))
			break;
		done |= 1u << l;
		if (emu_m.fault)
			break;
	}
	return issued(x, op, done, first);
}

/* False: a fault. */
static bool commit_lane(struct emu_x *x, const struct emu_op *op, unsigned l)
{
	const struct emu_tc *k = op->u.tc;
	struct emu_cluster *c = x->b->cluster;
	struct emu_block *owner;
	struct emu_tc_item it = {
		.kind = EMU_TC_ARRIVAL, .pair = {x->b}, .where = emu_addr_of(x, &k->d, l),
		.mask = k->multicast ? (uint16_t)emu_get(x, k->mask[0], l) : 0, .serial = emu_serial()
	};
	uint8_t *p = emu_range(x, op, l, k->d.base, it.where, 8, 8, &owner);

	if (!p)
		return false;
	for (unsigned r = 0; owner && r < c->nblocks; r++)
		if (k->multicast ? it.mask >> r & 1 : c->block[r] == owner)
			it.mbar[it.nmbar++] = (uint64_t *)(void *)(c->block[r]->smem + (p - owner->smem));
	for (unsigned i = 0; i < it.nmbar; i++)
		if (!emu_mbar_live(it.mbar[i]) && !emu_goes_on(op))
			it.nmbar = 0;
	if (!it.nmbar) {
		emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION, "there is no mbarrier to arrive at");
		return false;
	}
	put(x->b, &it);
	return true;
}

const struct emu_op *emu_tc_commit(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	unsigned first = tmem(x->b)->n;
	uint32_t done = 0;

	EMU_EACH(l, m) {
		if (!commit_lane(x, op, l))
			break;
		done |= 1u << l;
	}
	return issued(x, op, done, first);
}
