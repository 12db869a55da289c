/* SPDX-License-Identifier: Apache-2.0
 *
 * matrix.c: matrices in shared memory (PTX ISA, "Shared Memory Matrix Layout") and cells of tensor
 * memory ("Tensor Memory").
 */
#include "extent/extent.h"

/* ---- matrices in shared memory ---------------------------------------------------------------------- */

/* PTX ISA, "Matrix Descriptor Format": start, leading and stride in units of 16 bytes. */
static uint32_t field(uint64_t descriptor, unsigned shift)
{
	return (uint32_t)(descriptor >> shift & 0x3fff) << 4;
}

/* PTX ISA, "Canonical Layouts": of byte x of line y, where a line lies along K, or with `mn` along M or N.
 * Patterns have 8 lines of a swizzle's span, or of 16 bytes; 16 bytes lie together. */
static uint32_t address_in(uint64_t descriptor, bool mn, uint32_t x, uint32_t y)
{
	static const uint8_t spans[] = {0, 128, 128, 0, 64, 0, 32, 0};
	uint32_t span = spans[descriptor >> 61], pitch = span ? span : 16;
	uint32_t leading = field(descriptor, 16), stride = field(descriptor, 32), a, phase;

	a = field(descriptor, 0) + y % 8 * pitch;
	if (mn && !span)
		a += y / 8 * leading + x / pitch * stride + x % pitch;
	else
		a += y / 8 * stride + (span && !mn ? x : x / pitch * leading + x % pitch);
	phase = (a >> 7) - (uint32_t)(descriptor >> 49 & 7);
	if (descriptor >> 61 == 1)      /* 128 bytes by 32 */
		return a ^ (phase & 3) << 5;
	return span ? a ^ (phase & (span / 16 - 1)) << 4 : a;
}

enum { LINES_MOST = 1024, LINE_BYTES_MOST = 4096 };     /* of what there are instructions for */

/* size: of an element; rows: of M or N. */
static void give_matrix(const struct extent_to *to, uint64_t descriptor, bool mn, uint32_t size, uint32_t rows, uint32_t columns)
{
	uint32_t lines = mn ? columns : rows, bytes = (mn ? rows : columns) * size;

	if (lines > LINES_MOST || bytes > LINE_BYTES_MOST)
		return;
	for (uint32_t y = 0; y < lines; y++)
		for (uint32_t x = 0; x < bytes; x += 16)
			to->sink(to->shared, event_offset(address_in(descriptor, mn, x, y)), 16);
}

/* Its descriptors have a swizzling mode of 2 bits, from bit 62 on. */
void extent_product(const struct event_unit *u, const struct event_site *s, unsigned lane, const struct extent_to *to)
{
	uint64_t mode = ~(UINT64_C(1) << 61), a = event_get(u, lane, EVENT_WGMMA_A), b = event_get(u, lane, EVENT_WGMMA_B);

	if (!(s->flags & EVENT_A_ELSEWHERE))
		give_matrix(to, a & mode, s->flags & EVENT_A_MN, s->shape[0], 64, s->shape[2]);
	give_matrix(to, b & mode, s->flags & EVENT_B_MN, s->shape[1], s->shape[4], s->shape[3]);
}

/* ---- tensor memory ---------------------------------------------------------------------------------------- */

enum { LANES = 128, COLUMNS = 512, CELL = 4, ROW_BYTES = 32 };  /* ROW_BYTES: of A and B */

/* `n` cells from the column on, in each of `lanes` lanes. */
static void give_cells(const struct extent_to *to, void *operand, uint32_t lane, uint32_t lanes, uint64_t column, uint32_t n)
{
	for (uint32_t l = lane; l < lane + (lanes < LANES ? lanes : LANES); l++)
		to->sink(operand, (l % LANES * COLUMNS + column % COLUMNS) * CELL, n * CELL);
}

/* PTX ISA, "Data Movement Shape": 32 lanes of one column a register, or 16 of two. */
static void load_cells(const struct event_unit *u, const struct event_site *s, unsigned lane, const struct extent_to *to)
{
	uint32_t at = (uint32_t)event_get(u, lane, EVENT_TC_LOAD_AT), split = s->shape[2];
	uint32_t lanes = s->shape[0] == 1 && !split ? 32 : 16, n = s->shape[1] * (s->shape[0] == 1 ? 1 : 2) << (s->shape[3] != 0);

	give_cells(to, to->d, at >> 16, lanes, at, n);
	if (split)
		give_cells(to, to->d, at >> 16, lanes, at + split, n);
}

static void copy_cells(const struct event_unit *u, const struct event_site *s, unsigned lane, const struct extent_to *to)
{
	uint32_t n = s->shape[1] / CELL;

	give_matrix(to, event_get(u, lane, EVENT_TC_COPY_FROM), false, CELL, s->shape[0], n);
	give_cells(to, to->d, 0, (uint32_t)s->shape[0] * s->shape[2], event_get(u, lane, EVENT_TC_COPY_D), n);
}

/* What the instruction descriptor says (PTX ISA, "Instruction descriptor"), for one block of a pair.
 * Of 128 rows row i lies in lane i; of 64 they lie in half of each 32 lanes (folds 0); with .ws and
 * pairs of 128 rows D's columns are folded into the other lanes ("Layout Organization"). */
struct product { uint32_t m, n, folds, columns, d, blocks; bool a_mn, b_mn; };

static struct product product_of(const struct event_unit *u, const struct event_site *s, unsigned lane)
{
	uint32_t shape = (uint32_t)event_get(u, lane, EVENT_TC_MMA_SHAPE), blocks = s->flags & EVENT_PAIR ? 2 : 1;
	uint32_t m = (shape >> 24 & 31) * 16 / blocks, n = (shape >> 17 & 63) * 8, folds = m != 64;

	if (s->flags & (EVENT_WS | EVENT_PAIR))
		folds = m ? LANES / m : 1;
	return (struct product){
		m, n, folds, folds ? n / folds : n, (uint32_t)event_get(u, lane, EVENT_TC_MMA_D), blocks,
		(shape & 1 << 15) != 0, (shape & 1 << 16) != 0
	};
}

/* The lane of row r, from column c on. */
static uint32_t lane_of(const struct product *p, uint32_t r, uint32_t c)
{
	if (!p->folds)
		return r / 16 * 32 + r % 16 + (p->d >> 16);
	return r + c / p->columns * (LANES / p->folds);
}

/* A's cells lie beside D's.  Four words of 64 bits say which lanes of D are left alone, two for each block
 * of a pair. */
static void mma_cells(const struct event_unit *u, const struct event_site *s, unsigned lane, unsigned block,
		      const struct extent_to *to)
{
	struct product p = product_of(u, s, lane);
	uint32_t size = s->shape[0] ? s->shape[0] : 1;
	bool a_cells = s->flags & EVENT_A_ELSEWHERE;

	if (!a_cells)
		give_matrix(to, event_get(u, lane, EVENT_TC_MMA_A), p.a_mn, size, p.m, ROW_BYTES / size);
	give_matrix(to, event_get(u, lane, EVENT_TC_MMA_B), p.b_mn, size, p.n / p.blocks, (ROW_BYTES << s->shape[2]) / size);
	for (uint32_t r = 0; r < p.m && p.columns; r++)
		for (uint32_t c = 0; c < p.n; c += p.columns) {
			uint32_t l = lane_of(&p, r, c);

			if (a_cells)
				give_cells(to, to->a, l, 1, event_get(u, lane, EVENT_TC_MMA_A_CELLS), ROW_BYTES / CELL);
			if (!(event_word(u, lane, 4 + block * 2 + l / 64) >> l % 64 & 1))
				give_cells(to, to->d, l, 1, p.d, p.columns);
		}
	if (s->shape[1]) {
		give_cells(to, to->scales, 0, LANES, event_get(u, lane, EVENT_TC_MMA_SCALE_A), p.m / 32);
		give_cells(to, to->scales, 0, LANES, event_get(u, lane, EVENT_TC_MMA_SCALE_B), (p.columns + 31) / 32);
	}
}

void extent_cells(const struct event_unit *u, const struct event_site *s, unsigned lane, unsigned block,
		  const struct extent_to *to)
{
	switch (event_kind_of(u)) {
	case EVENT_TC_MMA:
		mma_cells(u, s, lane, block, to);
		break;
	case EVENT_TC_COPY:
		copy_cells(u, s, lane, to);
		break;
	case EVENT_TC_LOAD:
	case EVENT_TC_STORE:
		load_cells(u, s, lane, to);
		break;
	case EVENT_TC_FREE:
		give_cells(to, to->d, 0, LANES, event_get(u, lane, EVENT_TC_FREE_AT), (uint32_t)event_get(u, lane, EVENT_TC_FREE_COLUMNS));
		break;
	}
}

uint64_t extent_accumulator(const struct event_unit *u, const struct event_site *s, unsigned lane)
{
	struct product p = product_of(u, s, lane);

	return p.d | (uint64_t)p.m << 32 | (uint64_t)p.n << 42 | (uint64_t)p.folds << 52;
}
