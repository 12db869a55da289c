/* SPDX-License-Identifier: Apache-2.0
 *
 * shape.c: which bytes a tensor copy or a matrix product touches: boxes of tensor maps (PTX
 * ISA, "Tensors"), matrices in shared memory ("Shared Memory Matrix Layout"), cells of tensor
 * memory ("Tensor Memory").
 */
#include <string.h>

#include "detect/impl.h"

/* ---- tensor maps ---------------------------------------------------------------------------- */

const struct event_map *find_map(const struct detect *d, uint64_t hash)
{
	for (uint32_t i = d->map.n; i-- > 0;)
		if (d->map.v[i].hash == hash)
			return &d->map.v[i];
	return NULL;
}

/* PTX ISA, "tensormap.replace": fields in the order in which they are listed there. */
static void edit(struct event_map *m, unsigned field, unsigned i, uint64_t v)
{
	enum { ADDRESS, RANK, BOX, DIM, STRIDE, EVERY, TYPE, INTERLEAVE, SWIZZLE, ATOM };
	static const uint8_t element_bytes[16] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};

	if (field == ADDRESS)
		m->base = v;
	else if (field == RANK)
		m->rank = (uint8_t)(v + 1);
	else if (field == BOX || field == DIM || field == EVERY)
		(field == BOX ? m->box : field == DIM ? m->dim : m->every)[i % 5] = (uint32_t)v;
	else if (field == STRIDE)
		m->stride[(i + 1) % 5] = v;
	else if (field == TYPE)
		m->stride[0] = v < sizeof element_bytes ? element_bytes[v] : 0;
	else if (field == INTERLEAVE)
		m->slice = v ? (uint8_t)(8u << (v & 7)) : 0;
	else if (field == SWIZZLE)
		m->span = v ? (uint8_t)(16u << (v & 7)) : 0;
	else if (field == ATOM)
		m->atom = (uint8_t)(v == 0 ? 16 : v == 3 ? 64 : 32);
}

/* A map that an edit makes of one that is known is known. */
static bool add_edit(struct detect *d, const struct event *e, unsigned lane)
{
	const struct event_unit *u = record_of(d, e);
	const struct event_map *was = find_map(d, event_get(u, lane, EVENT_MAP_EDIT_WAS));
	struct event_map m;

	if (!was || find_map(d, event_get(u, lane, EVENT_MAP_EDIT_HASH)))
		return false;
	m = *was;
	m.hash = event_get(u, lane, EVENT_MAP_EDIT_HASH);
	edit(&m, site_of(d, e)->shape[0], site_of(d, e)->shape[1], event_get(u, lane, EVENT_MAP_EDIT_VALUE));
	*ADD(&d->map) = m;
	return true;
}

void learn_maps(struct detect *d)
{
	bool more;

	do {
		more = false;
		for (uint32_t i = 0; i < d->event.n; i++) {
			const struct event *e = &d->event.v[i];

			EACH_LANE(l, e->kind == EVENT_MAP_EDIT ? e->lanes : 0)
				more |= add_edit(d, e, l);
		}
	} while (more);
}

/* ---- boxes ------------------------------------------------------------------------------------- */

/* With an interleaved layout the dimensions are W, H, D, C / slice and N, and dimension 0 lies slice
 * by slice, of which a box has one for each pixel. */
struct box {
	const struct event_map *m;
	int64_t at[5];
	uint32_t offset[3], row_bytes, rows;
	unsigned outer;                 /* the first dimension that counts rows */
	int64_t first, lo, hi;          /* bytes: of a row's start in dimension 0; [lo, hi) of it are in the tensor */
	bool four, load;
};

static uint32_t elements(const struct event_map *m, unsigned i)
{
	return m->slice && i + 2u == m->rank ? 1 : (m->box[i] + m->every[i] - 1) / m->every[i];
}

static int64_t clamp(int64_t v, int64_t lo, int64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/* A box lies in a block's shared memory, and a dimension of it has no more. */
enum { BOX_BYTES = 1 << 18, BOX_MOST = 1024, ELEMENT_MOST = 16 };

/* Is it one that a driver makes?  Kernels write others. */
static bool is_map(const struct event_map *m)
{
	if (!m->rank || m->rank > 5 || ((m->im2col || m->slice) && m->rank < 3) || !m->stride[0] || m->stride[0] > ELEMENT_MOST)
		return false;
	for (unsigned i = 0; i < 5; i++)
		if (!m->every[i] || m->every[i] > BOX_MOST || m->box[i] > BOX_MOST ||
		    (i < m->rank && !m->box[i] && !m->im2col))
			return false;
	return true;
}

/* The extent of a row, and how many there are; false: more than there may be. */
static bool make_rows(struct box *b)
{
	const struct event_map *m = b->m;
	int64_t width = m->slice ? m->slice : (int64_t)m->dim[0] * (int64_t)m->stride[0];

	b->outer = m->slice ? 0 : 1;
	b->row_bytes = m->slice ? m->slice : m->box[0] * (uint32_t)m->stride[0];
	b->first = m->slice ? 0 : b->at[0] * (int64_t)m->stride[0];
	b->lo = clamp(-b->first, 0, b->row_bytes);
	b->hi = clamp(width - b->first, b->lo, b->row_bytes);
	b->rows = b->four ? 4 : m->im2col ? m->box[1] : 1;
	for (unsigned i = b->outer; !b->four && !m->im2col && i < m->rank; i++)
		b->rows = b->rows > BOX_BYTES ? b->rows : b->rows * elements(m, i);
	return b->rows <= BOX_BYTES && (uint64_t)b->rows * b->row_bytes <= BOX_BYTES;
}

static bool make_box(const struct detect *d, const struct event *e, unsigned lane, struct box *b)
{
	static const enum event_operand at[] = {EVENT_TENSOR_AT0, EVENT_TENSOR_AT1, EVENT_TENSOR_AT2, EVENT_TENSOR_AT3,
						EVENT_TENSOR_AT4};
	static const enum event_operand off[] = {EVENT_TENSOR_OFFSET0, EVENT_TENSOR_OFFSET1, EVENT_TENSOR_OFFSET2};
	const struct event_unit *u = record_of(d, e);
	uint32_t flags = site_of(d, e)->flags;
	const struct event_map *m = find_map(d, event_get(u, lane, EVENT_TENSOR_HASH));

	if (!m || !is_map(m) || !m->im2col != !(flags & EVENT_IM2COL))
		return false;
	*b = (struct box){.m = m, .four = (flags & EVENT_FOUR_ROWS) != 0, .load = (flags & EVENT_COUNTED) != 0};
	for (unsigned i = 0; i < 5; i++)
		b->at[i] = (int32_t)event_get(u, lane, at[i]);
	for (unsigned i = 0; i < 3; i++)
		b->offset[i] = (uint32_t)event_get(u, lane, off[i]);
	return make_rows(b);
}

/* The next pixel of the bounding box; true: the first one of the next image. */
static bool next_pixel(const struct box *b, int64_t *c)
{
	const struct event_map *m = b->m;

	for (unsigned i = 0; i + 2u < m->rank; i++) {
		unsigned k = i + b->outer;

		c[k] += m->every[k];
		if (c[k] < (int64_t)m->dim[k] + m->upper[i])
			return false;
		c[k] = m->lower[i];
	}
	return true;
}

/* The coordinates of row `r`: of a tile, or of pixels of the bounding box one after another, each read
 * at its own place plus the offsets (PTX ISA, "im2col mode"). */
static void place_row(const struct box *b, uint32_t r, int64_t *c)
{
	const struct event_map *m = b->m;

	memcpy(c, b->at, sizeof b->at);
	if (b->four)
		c[1] = b->at[1 + r];
	for (unsigned i = b->outer; !b->four && !m->im2col && i < m->rank; i++) {
		c[i] += (int64_t)(r % elements(m, i)) * m->every[i];
		r /= elements(m, i);
	}
	for (; m->im2col && r; r--)
		c[m->rank - 1] += next_pixel(b, c);
	for (unsigned i = 0; m->im2col && i + 2u < m->rank; i++)
		c[i + b->outer] += b->offset[i];
}

/* Where the row's part in the tensor starts; 0: outside of it. */
static uint64_t row_address(const struct box *b, const int64_t *c)
{
	const struct event_map *m = b->m;
	uint64_t a = m->base + (uint64_t)(b->first + b->lo);

	for (unsigned i = b->outer; i < m->rank; i++) {
		if (c[i] < 0 || c[i] >= m->dim[i])
			return 0;
		a += (uint64_t)c[i] * (i ? m->stride[i] : m->slice);
	}
	return a;
}

/* Address bits take part in a swizzle: bits 4 to 6 change by bits 7 to 9. */
static uint32_t swizzled(const struct event_map *m, uint32_t a)
{
	if (!m->span)
		return a;
	if (m->atom == 32)
		return a ^ (a >> 2 & 0x60);
	if (m->atom == 64)
		return a ^ (a >> 1 & 0x40);
	return a ^ (a >> 3 & (m->span - 16u));
}

/* What a row has in shared memory: of a load what is outside as well, which is filled. */
static void row_shared(const struct box *b, uint32_t at, struct pieces *to)
{
	int64_t lo = b->load ? 0 : b->lo, hi = b->load ? b->row_bytes : b->hi;

	for (int64_t i = lo, next; i < hi; i = next) {
		next = b->m->span ? clamp((i / 16 + 1) * 16, 0, hi) : hi;
		add_piece(to, swizzled(b->m, at + (uint32_t)i), (uint64_t)(next - i));
	}
}

bool tensor_pieces(const struct detect *d, const struct event *e, unsigned lane, struct pieces *shared, struct pieces *global)
{
	uint32_t start = (uint32_t)event_address(record_of(d, e), lane) & 0xffffff;
	struct box b;

	if (!make_box(d, e, lane, &b))
		return false;
	for (uint32_t r = 0; r < b.rows; r++) {
		int64_t c[5];
		uint64_t a;

		place_row(&b, r, c);
		a = row_address(&b, c);
		if (a || b.load)
			row_shared(&b, start + r * (b.m->span && !b.m->slice ? b.m->span : b.row_bytes), shared);
		if (a && b.hi > b.lo)
			add_piece(global, a, (uint64_t)(b.hi - b.lo));
	}
	return true;
}

uint16_t tensor_element(const struct detect *d, const struct event *e, unsigned lane)
{
	struct box b;

	return make_box(d, e, lane, &b) ? (uint16_t)b.m->stride[0] : 0;
}

uint32_t tensor_bytes(const struct detect *d, const struct event *e, unsigned lane)
{
	struct box b;

	return make_box(d, e, lane, &b) ? b.rows * b.row_bytes : 0;
}

/* ---- matrices in shared memory ---------------------------------------------------------------------- */

struct matrix { uint64_t descriptor; uint32_t span; bool wide, mn; uint32_t size, rows, columns; };

/* PTX ISA, "Matrix Descriptor Format": start, leading and stride in units of 16 bytes. */
static uint32_t field(uint64_t descriptor, unsigned shift)
{
	return (uint32_t)(descriptor >> shift & 0x3fff) << 4;
}

/* Of the element in row r (of M or N) and column k: 16 bytes lie together. */
static uint32_t element_at(const struct matrix *m, uint32_t r, uint32_t k)
{
	uint32_t leading = field(m->descriptor, 16), stride = field(m->descriptor, 32), t = 16 / m->size, a, phase;

	if (!m->mn && !m->span)
		a = r / 8 * stride + r % 8 * 16 + k / t * leading + k % t * m->size;
	else if (!m->mn)
		a = r / 8 * stride + r % 8 * m->span + k * m->size;
	else if (!m->span)
		a = r / t * stride + r % t * m->size + k / 8 * leading + k % 8 * 16;
	else
		a = r * m->size / m->span * leading + r * m->size % m->span + k / 8 * stride + k % 8 * m->span;
	a += field(m->descriptor, 0);
	phase = (a >> 7) - (uint32_t)(m->descriptor >> 49 & 7);
	if (m->wide)
		return a ^ (phase & 3) << 5;
	return m->span ? a ^ (phase & (m->span / 16 - 1)) << 4 : a;
}

enum { MATRIX_MOST = 1024 };

static void matrix_pieces(const struct matrix *m, struct pieces *to)
{
	uint32_t t = 16 / m->size;

	if (!t || m->rows > MATRIX_MOST || m->columns > MATRIX_MOST)
		return;
	for (uint32_t r = 0; r < m->rows; r += m->mn ? t : 1)
		for (uint32_t k = 0; k < m->columns; k += m->mn ? 1 : t)
			add_piece(to, element_at(m, r, k) & 0xffffff, 16);
}

void product_pieces(const struct detect *d, const struct event *e, struct pieces *to)
{
	static const uint8_t spans[] = {0, 128, 64, 32};
	const struct event_site *s = site_of(d, e);
	const struct event_unit *u = record_of(d, e);
	uint64_t a = event_get(u, 0, EVENT_WGMMA_A), b = event_get(u, 0, EVENT_WGMMA_B);
	struct matrix ma = {a, spans[a >> 62], false, (s->flags & EVENT_A_MN) != 0, s->shape[0], 64, s->shape[2]};
	struct matrix mb = {b, spans[b >> 62], false, (s->flags & EVENT_B_MN) != 0, s->shape[1], s->shape[4], s->shape[3]};

	if (!(s->flags & EVENT_A_ELSEWHERE) && ma.size)
		matrix_pieces(&ma, to);
	if (mb.size)
		matrix_pieces(&mb, to);
}

/* ---- tensor memory ---------------------------------------------------------------------------------------- */

enum { ROWS = 128, COLUMNS = 512, CELL = 4, ROW_BYTES = 32 };

/* `n` cells from the column on in each of the rows from lane << 16 | column on. */
static void add_cells(struct pieces *to, uint32_t at, uint32_t rows, uint32_t n)
{
	for (uint32_t r = at >> 16; r < (at >> 16) + (rows < ROWS ? rows : ROWS); r++)
		add_piece(to, (r % ROWS * COLUMNS + at % COLUMNS) * CELL, n * CELL);
}

static uint32_t column_of(const struct event_unit *u, unsigned lane, enum event_operand o)
{
	return (uint32_t)event_get(u, lane, o) & 0xffff;
}

/* tcgen05.ld and .st: 32 rows of one column a register, or 16 rows of two. */
void load_cells(const struct detect *d, const struct event *e, struct pieces *to)
{
	const struct event_site *s = site_of(d, e);
	uint32_t at = (uint32_t)event_get(record_of(d, e), 0, EVENT_TC_LOAD_AT), split = s->shape[2];
	uint32_t rows = s->shape[0] == 1 && !split ? 32 : 16, n = s->shape[1] * (s->shape[0] == 1 ? 1 : 2) << (s->shape[3] != 0);

	add_cells(to, at, rows, n);
	if (split)
		add_cells(to, at + split, rows, n);
}

void freed_cells(const struct detect *d, const struct event *e, struct pieces *to)
{
	const struct event_unit *u = record_of(d, e);

	add_cells(to, column_of(u, 0, EVENT_TC_FREE_AT), ROWS, column_of(u, 0, EVENT_TC_FREE_COLUMNS));
}

static struct matrix tensor_matrix(uint64_t descriptor, bool mn, uint32_t size, uint32_t rows)
{
	static const uint8_t spans[] = {0, 128, 128, 0, 64, 0, 32, 0};

	return (struct matrix){descriptor, spans[descriptor >> 61], descriptor >> 61 == 1, mn, size, rows, ROW_BYTES / size};
}

void copy_cells(const struct detect *d, const struct event *e, unsigned lane, struct tensor_op *t)
{
	const struct event_site *s = site_of(d, e);
	const struct event_unit *u = record_of(d, e);
	struct matrix m = tensor_matrix(event_get(u, lane, EVENT_TC_COPY_FROM), false, 4, s->shape[0]);

	m.columns = s->shape[1] / 4u;
	matrix_pieces(&m, &t->shared);
	add_cells(&t->d, column_of(u, lane, EVENT_TC_COPY_D), (uint32_t)s->shape[0] * s->shape[2], s->shape[1] / 4u);
}

/* What the instruction descriptor says (PTX ISA, "Instruction descriptor"), for one block of a pair:
 * of 128 rows row i lies in lane i; of 64 they lie in half of each 32 lanes; with .ws and pairs of 128
 * rows D's columns are folded into the other lanes. */
struct product { uint32_t m, n, folds, columns; uint32_t d, a; bool a_mn, b_mn; };

static struct product product_of(const struct event_unit *u, const struct event_site *s, unsigned lane)
{
	uint32_t shape = (uint32_t)event_get(u, lane, EVENT_TC_MMA_SHAPE), blocks = s->flags & EVENT_PAIR ? 2 : 1;
	struct product p = {
		(shape >> 24 & 31) * 16 / blocks, (shape >> 17 & 63) * 8, 1, 0, (uint32_t)event_get(u, lane, EVENT_TC_MMA_D),
		(uint32_t)event_get(u, lane, EVENT_TC_MMA_A_CELLS), (shape >> 15 & 1) != 0, (shape >> 16 & 1) != 0
	};

	if (s->flags & (EVENT_WS | EVENT_PAIR))
		p.folds = p.m ? ROWS / p.m : 1;
	else if (p.m == 64)
		p.folds = 0;
	p.columns = p.folds ? p.n / p.folds : p.n;
	return p;
}

static uint32_t row_of(const struct product *p, uint32_t r, uint32_t c)
{
	if (!p->folds)
		return r / 16 * 32 + r % 16 + (p->d >> 16);
	return r + c / p->columns * (ROWS / p->folds);
}

/* Four words of 64 bits say which lanes of D are left alone, two for each block of a pair. */
static void product_cells(const struct product *p, const struct event_unit *u, unsigned lane, struct tensor_op *t)
{
	for (uint32_t r = 0; r < p->m && p->columns; r++)
		for (uint32_t c = 0; c < p->n; c += p->columns) {
			uint32_t row = row_of(p, r, c);

			if (t->a_cells)
				add_cells(&t->a, row << 16 | (p->a & 0xffff), 1, ROW_BYTES / 4);
			if (!(event_word(u, lane, 4 + t->block * 2 + row / 64) >> row % 64 & 1))
				add_cells(&t->d, row << 16 | (p->d & 0xffff), 1, p->columns);
		}
}

void mma_cells(const struct detect *d, const struct event *e, unsigned lane, struct tensor_op *t)
{
	const struct event_site *s = site_of(d, e);
	const struct event_unit *u = record_of(d, e);
	struct product p = product_of(u, s, lane);
	uint32_t blocks = s->flags & EVENT_PAIR ? 2 : 1, size = s->shape[0] ? s->shape[0] : 1;
	struct matrix a = tensor_matrix(event_get(u, lane, EVENT_TC_MMA_A), p.a_mn, size, p.m);
	struct matrix b = tensor_matrix(event_get(u, lane, EVENT_TC_MMA_B), p.b_mn, size, p.n / blocks);

	t->a_cells = s->flags & EVENT_A_ELSEWHERE;
	t->accumulator = p.d | (uint64_t)p.m << 32 | (uint64_t)p.n << 42 | (uint64_t)p.folds << 52;
	matrix_pieces(&b, &t->shared);
	if (!t->a_cells)
		matrix_pieces(&a, &t->shared);
	product_cells(&p, u, lane, t);
	if (s->shape[1]) {
		add_cells(&t->scales, column_of(u, lane, EVENT_TC_MMA_SCALE_A), ROWS, p.m / 32);
		add_cells(&t->scales, column_of(u, lane, EVENT_TC_MMA_SCALE_B), ROWS, (p.columns + 31) / 32);
	}
}
