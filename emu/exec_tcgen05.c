/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_tcgen05.c: tcgen05: tensor memory, 128 lanes of 512 columns of 32 bits for each
 * block; loads and stores of warps; products and copies into it, which go on by
 * themselves, in the order of their issue, until a commit's mbarrier says that they
 * are done.  Stores may be as late as their wait, and loads if nothing before that can
 * ask for what they loaded.
 *
 * An address is lane << 16 | column.  Of 128 rows of D that a block has row i lies in lane i; of 64,
 * rows lie in the first or last 16 lanes of each 32; with cta_group::2 the second half of the
 * rows is in the second block.  Of 64 rows of a pair's 128, and of .ws, the second half of
 * D's columns lies in lanes 64 to 127, of 32 rows each quarter in 32 lanes
 * (PTX ISA, "Tensor Memory and Register Load/Store", "Data Path Layout Organization").
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/async.h"
#include "emu/matdesc.h"
#include "emu/mma.h"
#include "emu/oracle_impl.h"
#include "emu/tcgen05.h"

enum { LANES = 128, COLUMNS = 512, UNIT = 32, MAX_M = 128, MAX_N = 256, MAX_K = 64, ROW_BYTES = 32 };

enum item_kind { PRODUCT, COPY, ARRIVAL };

struct item {
	enum item_kind kind;
	struct emu_block *pair[2];      /* pair[1] NULL: one block */
	uint32_t d, a_tmem;
	uint64_t a, b;                  /* descriptors */
	bool from_tmem, a_mn, b_mn, a_neg, accumulate, saturate, stale, spread;
	enum emu_mma_type at, bt, dt;
	unsigned m, n, k, scale, lanes, bytes, copies;
	unsigned folds;                 /* into how many parts D's columns are folded; 0: D takes half of the lanes */
	/* Block scaling: where the factors of A and B are, the first one's byte there, and how many
	 * a row has (0: none); whether they are of E4M3. */
	uint32_t scales[2];
	unsigned first[2], vec;
	bool fine;
	uint32_t skip[8];               /* lanes of D left alone */
	uint64_t *mbar[EMU_LANDINGS];
	unsigned nmbar;
	struct orc_mark mark;           /* the oracle's: what the commit stands for */
};

struct emu_tmem {
	uint32_t cell[LANES][COLUMNS];
	uint16_t used;                  /* a bit for 32 columns */
	bool relinquished;
	struct item *v;
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

static struct emu_matdesc described(uint64_t bits)
{
	static const uint8_t spans[] = {0, 128, 128, 0, 64, 0, 32, 0};
	struct emu_matdesc d = emu_matdesc_of(bits);

	d.span = spans[bits >> 61];
	d.wide_atom = bits >> 61 == 1;
	return d;
}

static uint64_t element(const struct item *it, const struct emu_block *b, uint32_t at, unsigned size)
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

static void rows_of(const struct item *it, const struct emu_block *b, uint64_t bits, bool mn,
		    enum emu_mma_type t, unsigned n, double (*to)[MAX_K])
{
	struct emu_matdesc d = described(bits);
	unsigned size = emu_mma_bits(t) / 8;

	for (unsigned r = 0; r < n; r++)
		for (unsigned c = 0; c < it->k; c++)
			to[r][c] = t == MMA_E2M1 ?
				packed(element(it, b, emu_matdesc_at(&d, mn, 1, r, c / 2), 1), c) :
				emu_mma_value(t, element(it, b, emu_matdesc_at(&d, mn, size, r, c), size));
}

/* Columns of tensor memory that D takes. */
static unsigned columns_of(const struct item *it)
{
	return it->folds ? it->n / it->folds : it->n;
}

/* Where column c of D's row is; A in tensor memory is there for each part of D's columns. */
static unsigned lane_of(const struct item *it, unsigned row, unsigned c)
{
	if (!it->folds)
		return row / 16 * 32 + row % 16 + (it->d >> 16);
	return row + c / columns_of(it) * (LANES / it->folds);
}

static uint32_t column_of(const struct item *it, unsigned c)
{
	return (it->d & 0xffff) + c % columns_of(it);
}

/* The factor for element `k` of row `row` of A or B: those of 32 rows are in a column, in the bytes
 * of as many lanes, and the same in the others; if D's columns are folded, B's rows are as well (PTX ISA,
 * "Block Scaling for tcgen05.mma"; CUTLASS, mma_traits_sm100.hpp: tmem_sf_frg). */
static double factor(const struct item *it, const struct emu_tmem *t, unsigned which, unsigned row, unsigned k)
{
	unsigned byte = (it->first[which] + k * it->vec / it->k) % 4, in = which ? row % columns_of(it) : row;
	unsigned lane = in % 32 + (which ? row / columns_of(it) * (LANES / it->folds) : in / 32 * 32);
	uint32_t cell = t->cell[lane][((it->scales[which] & 0xffff) + in / 32) % COLUMNS];

	if (it->fine)
		return emu_mma_value(MMA_E4M3, cell >> 8 * byte & 0x7f);
	return ldexp(1, (int)(cell >> 8 * byte & 0xff) - 127);
}

/* For column c of D. */
static void rows_of_tmem(const struct item *it, const struct emu_tmem *t, unsigned n, unsigned at,
			 double (*to)[MAX_K])
{
	unsigned bits = it->at == MMA_E2M1 ? 4 : emu_mma_bits(it->at);

	for (unsigned r = 0; r < n; r++)
		for (unsigned c = 0; c < it->k; c++) {
			uint32_t v = t->cell[lane_of(it, r, at)][((it->a_tmem & 0xffff) + c * bits / 32) %
								 COLUMNS] >> c * bits % 32;

			to[r][c] = bits == 4 ? packed(v, 0) :
				emu_mma_value(it->at, bits < 32 ? v & ((1u << bits) - 1) : v);
		}
}

static void product(const struct item *it)
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
			if (it->from_tmem && c % columns_of(it) == 0)
				rows_of_tmem(it, t, m, c, a);
			for (unsigned r = 0; r < m; r++) {
				unsigned lane = lane_of(it, r, c);
				uint32_t *d = &t->cell[lane][column_of(it, c) % COLUMNS];
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

static void copy(const struct item *it)
{
	struct emu_matdesc d = described(it->a);

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
	const struct item *it = &t->v[0];

	if (it->kind == PRODUCT)
		product(it);
	else if (it->kind == COPY)
		copy(it);
	for (unsigned i = 0; i < it->nmbar; i++) {
		if (emu_oracle_on)
			emu_oracle_arrives(it->mbar[i], it->mark, true);
		emu_mbar_arrive(it->mbar[i]);
	}
	memmove(t->v, t->v + 1, --t->n * sizeof *t->v);
}

/* ---- what they touch, for the oracle ---------------------------------------------------------- */

/* A byte for each byte of shared memory, or each cell of tensor memory. */
static uint8_t *empty_map(void)
{
	static uint8_t map[1u << EMU_RANK_SHIFT >> 4];

	memset(map, 0, sizeof map);
	return map;
}

/* n rows of k elements of so many bytes. */
static void mark(uint8_t *map, const struct emu_block *b, uint64_t bits, bool mn, unsigned size,
		 unsigned n, unsigned k)
{
	struct emu_matdesc d = described(bits);

	for (unsigned r = 0; r < n; r++)
		for (unsigned c = 0; c < k; c++) {
			uint32_t at = emu_matdesc_at(&d, mn, size, r, c);

			if (at + size <= b->smem_bytes)
				memset(map + at, 1, size);
		}
}

static void mark_cell(uint8_t *map, unsigned lane, uint32_t column)
{
	map[lane % LANES * COLUMNS + (column & 0xffff) % COLUMNS] = 1;
}

static void tell_product(struct orc_tc *c, const struct item *it)
{
	unsigned blocks = it->pair[1] ? 2 : 1, m = it->m / blocks;
	unsigned size_a = emu_mma_bits(it->at) / 8, size_b = emu_mma_bits(it->bt) / 8;

	for (unsigned h = 0; h < blocks; h++) {
		uint8_t *map = empty_map();

		mark(map, it->pair[h], it->b, it->b_mn, size_b, it->n / blocks, ROW_BYTES / size_b);
		if (!it->from_tmem)
			mark(map, it->pair[h], it->a, it->a_mn, size_a, m, ROW_BYTES / size_a);
		emu_oracle_tc_shared(c, it->pair[h], map);
		map = empty_map();
		for (unsigned r = 0; it->from_tmem && r < m; r++)
			for (unsigned n = 0; n < it->n; n += columns_of(it))
				for (unsigned k = 0; k < ROW_BYTES / 4; k++)
					mark_cell(map, lane_of(it, r, n), it->a_tmem + k);
		emu_oracle_tc_cells(c, it->pair[h], map, LANES * COLUMNS, false, ORC_PIPE_A);
		if (it->vec) {
			map = empty_map();
			for (unsigned r = 0; r < m / 32 * LANES; r++)
				mark_cell(map, r, it->scales[0] + r / LANES);
			for (unsigned r = 0; r < (columns_of(it) + 31) / 32 * LANES; r++)
				mark_cell(map, r, it->scales[1] + r / LANES);
			emu_oracle_tc_cells(c, it->pair[h], map, LANES * COLUMNS, false, ORC_PIPE_SCALE);
		}
		map = empty_map();
		for (unsigned r = 0; r < m; r++)
			for (unsigned n = 0; n < it->n; n++) {
				unsigned lane = lane_of(it, r, n);

				if (!(it->skip[h * 4 + lane / 32] >> lane % 32 & 1))
					mark_cell(map, lane, column_of(it, n));
			}
		emu_oracle_tc_cells(c, it->pair[h], map, LANES * COLUMNS, true, ORC_PIPE_D +
				    ((uint64_t)it->d | (uint64_t)it->m << 32 | (uint64_t)it->n << 42 | (uint64_t)it->folds << 52));
	}
}

static void tell_copy(struct orc_tc *c, const struct item *it)
{
	for (unsigned h = 0; h < 2 && it->pair[h]; h++) {
		uint8_t *map = empty_map();

		mark(map, it->pair[h], it->a, false, 4, it->lanes, it->bytes / 4);
		emu_oracle_tc_shared(c, it->pair[h], map);
		map = empty_map();
		for (unsigned r = 0; r < it->lanes * it->copies; r++)
			for (unsigned k = 0; k < it->bytes / 4; k++)
				mark_cell(map, r, it->d + k);
		emu_oracle_tc_cells(c, it->pair[h], map, LANES * COLUMNS, true, ORC_PIPE_COPY);
	}
}

/* Lane l issues it. */
static void tell(struct emu_x *x, const struct emu_op *op, unsigned l, const struct item *it)
{
	struct orc_tc c;

	if (!emu_oracle_tc(&c, x, op, l, it->kind == PRODUCT ? ORC_TC_MMA : ORC_TC_CP))
		return;
	if (it->kind == PRODUCT)
		tell_product(&c, it);
	else
		tell_copy(&c, it);
	emu_oracle_tc_end(&c);
}

/* ---- the queue ------------------------------------------------------------------------------ */

static struct item *put(struct emu_block *b, enum item_kind kind)
{
	struct emu_tmem *t = tmem(b);
	struct item *it;

	if (t->n == t->cap) {
		t->cap = t->cap ? t->cap * 2 : 8;
		t->v = realloc(t->v, t->cap * sizeof *t->v);
		if (!t->v)
			abort();
	}
	it = &t->v[t->n++];
	memset(it, 0, sizeof *it);
	it->kind = kind;
	it->pair[0] = b;
	if (!t->listed) {
		t->listed = true;
		t->due = emu_async_delay();
		t->next = listed;
		listed = t;
		if (t->due < emu_tc_due)
			emu_tc_due = t->due;
		if (t->due < emu_m.async_due)
			emu_m.async_due = t->due;
	}
	return it;
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

static bool together(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct emu_gather g;

	if (!emu_gather(x, op, m, EMU_ALL, &g))
		return false;
	for (unsigned i = 1; i < g.n; i++)
		if (g.part[i].op != op || g.part[i].base != x->base)
			g.mask = 0;
	if (g.mask == EMU_ALL)
		return true;
	emu_fault(x, op, (unsigned)__builtin_ctz(m), CUDA_ERROR_ILLEGAL_INSTRUCTION,
		  "not all lanes of the warp are here");
	return false;
}

/* Columns [at, at + n), as bits of emu_tmem.used. */
static uint16_t units(unsigned at, unsigned n)
{
	unsigned first = at / UNIT, last = (at + n - 1) / UNIT;

	return (uint16_t)(((1u << (last - first + 1)) - 1) << first);
}

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

	if (!together(x, op, m))
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
		if (emu_oracle_on)
			emu_oracle_tc_alloc(x, op, a);
		return op + 1;
	}
	return emu_yield(x, op);
}

const struct emu_op *emu_tc_dealloc(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	uint32_t at, n;

	if (!together(x, op, m))
		return NULL;
	at = (uint32_t)emu_get(x, op->o[0], 0);
	n = (uint32_t)emu_get(x, op->o[1], 0);
	if (!allocated(x, op, x->b, at, n))
		return NULL;
	tmem(x->b)->used &= (uint16_t)~units(at & 0xffff, n);
	return op + 1;
}

const struct emu_op *emu_tc_relinquish(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	if (!together(x, op, m))
		return NULL;
	tmem(x->b)->relinquished = true;
	return op + 1;
}

struct access { const struct emu_op *op; uint32_t base, a, v[EMU_TC_REGS][EMU_LANES]; };
struct emu_tc_lates { struct access *v; unsigned n, cap; };

/* The cell of register i of a lane, or of half h of it if there are two columns in a register: shape 1 is
 * .32x32b or .16x32bx2; 2 is .16x64b; 4 and 8 are the columns of .16x128b and .16x256b, whose
 * fragments are those of mma's accumulators. */
static uint32_t *cell(struct emu_tmem *t, const struct emu_tc *k, uint32_t a, unsigned lane, unsigned i, unsigned h)
{
	unsigned row = k->twice ? lane % 16 : lane, column = i, per = k->shape / 4;

	if (k->shape == 2) {
		row = lane / 4 + lane % 2 * 8;
		column = lane / 2 % 2 + 2 * i;
	} else if (k->shape > 1) {      /* per: words of a row that a lane has */
		row = lane / 4 + i / per % 2 * 8;
		column = i / (2 * per) * k->shape + lane % 4 * per + i % per;
	}
	column = (k->packed ? 2 * column + h : column) + (k->twice && lane >= 16 ? k->split : 0);
	return &t->cell[((a >> 16) + row) % LANES][((a & 0xffff) + column) % COLUMNS];
}

static void tell_access(struct emu_x *x, const struct emu_op *op, uint32_t a)
{
	const struct emu_tc *k = op->u.tc;
	struct orc_tc c;
	uint8_t *map;

	if (!emu_oracle_tc(&c, x, op, 0, k->store ? ORC_TC_STORE : ORC_TC_LOAD))
		return;
	map = empty_map();
	for (unsigned i = 0; i < k->n; i++)
		for (unsigned l = 0; l < EMU_LANES; l++)
			for (unsigned h = 0; h <= k->packed; h++)
				map[cell(tmem(x->b), k, a, l, i, h) - tmem(x->b)->cell[0]] = 1;
	emu_oracle_tc_cells(&c, x->b, map, LANES * COLUMNS, k->store, 0);
	emu_oracle_tc_end(&c);
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
	struct access *c;
	unsigned columns;
	uint32_t a;

	if (!together(x, op, m))
		return NULL;
	a = (uint32_t)emu_addr_of(x, &k->d, 0);
	if (a >> 16 >= LANES || (a >> 16) / 32 != x->w->index % 4 ||
	    (k->shape == 1 && !k->twice && (a >> 16) % 32) || (a >> 16) % 16)
		return emu_fault(x, op, 0, CUDA_ERROR_ILLEGAL_ADDRESS,
				 "lane %u of tensor memory, where warp %u has no access", a >> 16,
				 x->w->index);
	columns = (k->shape == 1 ? k->n : k->n * 2) << k->packed;
	if (!allocated(x, op, x->b, a, columns) || (k->twice && !allocated(x, op, x->b, a + k->split, columns)))
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
	if (emu_oracle_on)
		tell_access(x, op, a);
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
	unsigned kept = 0;

	if (!together(x, op, m))
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
	if (emu_oracle_on)
		emu_oracle_tc_wait(x, op, op->kind);
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
static const char *instruction(const struct emu_tc *k, uint32_t d, struct item *it)
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

const struct emu_op *emu_tc_mma(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const struct emu_tc *k = op->u.tc;

	EMU_EACH(l, m) {
		struct item it = {.kind = PRODUCT, .scale = k->scale}, *to;
		const char *why;

		if (!peers(x, op, k, it.pair))
			return NULL;
		it.from_tmem = k->a_tmem;
		why = instruction(k, (uint32_t)emu_get(x, k->idesc, l), &it);
		if (why)
			return emu_fault(x, op, l, CUDA_ERROR_NOT_SUPPORTED, "not emulated: %s", why);
		it.d = (uint32_t)emu_addr_of(x, &k->d, l);
		if (k->a_tmem)
			it.a_tmem = (uint32_t)emu_addr_of(x, &k->a, l);
		if (it.d >> 16 > (it.folds ? 0 : 16) || it.d >> 16 & 15 || (k->a_tmem && it.a_tmem >> 16 != it.d >> 16))
			return emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION, "lane %u of tensor memory for a product of %u rows",
					 it.d >> 16, it.m);
		if (!k->a_tmem)
			it.a = emu_get(x, k->a_desc, l);
		it.b = emu_get(x, k->b_desc, l);
		for (unsigned i = 0; k->vec && i < 2; i++)
			it.scales[i] = (uint32_t)emu_addr_of(x, &k->scales[i], l);
		it.accumulate = emu_get(x, k->enable, l) != 0;
		for (unsigned i = 0; i < k->nmask; i++)
			it.skip[i] = (uint32_t)emu_get(x, k->mask[i], l);
		for (unsigned h = 0; h < 2 && it.pair[h]; h++)
			if (!allocated(x, op, it.pair[h], it.d, columns_of(&it)) ||
			    (it.vec && (!allocated(x, op, it.pair[h], it.scales[0], it.m / (1u + k->pair) / 32) ||
					!allocated(x, op, it.pair[h], it.scales[1], (columns_of(&it) + 31) / 32))))
				return NULL;
		it.stale = x->b->stale && emu_async_chance(4);
		if (emu_oracle_on)
			tell(x, op, l, &it);
		to = put(x->b, PRODUCT);
		*to = it;
	}
	return op + 1;
}

const struct emu_op *emu_tc_cp(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const struct emu_tc *k = op->u.tc;

	EMU_EACH(l, m) {
		struct item it = {.kind = COPY}, *to;

		if (!peers(x, op, k, it.pair))
			return NULL;
		it.d = (uint32_t)emu_addr_of(x, &k->d, l);
		it.a = emu_get(x, k->a_desc, l);
		it.lanes = k->lanes;
		it.bytes = k->bytes;
		it.copies = k->copies;
		it.spread = k->spread;
		for (unsigned h = 0; h < 2 && it.pair[h]; h++)
			if (!allocated(x, op, it.pair[h], it.d, k->bytes / 4))
				return NULL;
		it.stale = x->b->stale && emu_async_chance(4);
		if (emu_oracle_on)
			tell(x, op, l, &it);
		to = put(x->b, COPY);
		*to = it;
	}
	return op + 1;
}

const struct emu_op *emu_tc_commit(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const struct emu_tc *k = op->u.tc;
	struct emu_cluster *c = x->b->cluster;

	EMU_EACH(l, m) {
		uint32_t mask = k->multicast ? (uint16_t)emu_get(x, k->mask[0], l) : 0;
		struct emu_block *owner;
		uint8_t *p = emu_range(x, op, l, k->d.base, emu_addr_of(x, &k->d, l), 8, 8, &owner);
		struct item it = {.kind = ARRIVAL, .pair = {x->b}}, *to;

		if (!p)
			return NULL;
		for (unsigned r = 0; owner && r < c->nblocks; r++)
			if (k->multicast ? mask >> r & 1 : c->block[r] == owner)
				it.mbar[it.nmbar++] = (uint64_t *)(void *)(c->block[r]->smem + (p - owner->smem));
		for (unsigned i = 0; i < it.nmbar; i++)
			if (!emu_mbar_live(it.mbar[i]))
				it.nmbar = 0;
		if (!it.nmbar)
			return emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION,
					 "there is no mbarrier to arrive at");
		for (unsigned i = 0; emu_oracle_on && i < it.nmbar; i++)
			it.mark = emu_oracle_tc_mark(x, op, l, it.mbar[i]);
		to = put(x->b, ARRIVAL);
		*to = it;
	}
	return op + 1;
}
