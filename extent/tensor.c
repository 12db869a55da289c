/* SPDX-License-Identifier: Apache-2.0
 *
 * tensor.c: boxes of tensor maps (PTX ISA, "Tensors").
 */
#include "extent/extent.h"

/* PTX ISA, "tensormap.replace": fields in the order in which they are listed there, and what values of
 * the last four mean in bytes; 0: nothing.  An atom of 32 bytes may flip its halves. */
struct event_map extent_edited(const struct event_unit *u, const struct event_site *s, unsigned lane, const struct event_map *was)
{
	enum { ADDRESS, RANK, BOX, DIM, STRIDE, EVERY, TYPE, INTERLEAVE, SWIZZLE, ATOM, FIELDS };
	static const uint8_t bytes[4][16] = {
		{1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4}, {0, 16, 32}, {0, 32, 64, 128}, {16, 32, 32, 64}
	};
	uint64_t v = event_get(u, lane, EVENT_MAP_EDIT_VALUE);
	unsigned field = s->shape[0], i = s->shape[1];
	uint8_t n = field >= TYPE && field < FIELDS && v < 16 ? bytes[field - TYPE][v] : 0;
	struct event_map m = *was;

	m.hash = event_get(u, lane, EVENT_MAP_EDIT_HASH);
	if (field == ADDRESS)
		m.base = v;
	else if (field == RANK)
		m.rank = (uint8_t)(v + 1);
	else if (field == BOX || field == DIM || field == EVERY)
		(field == BOX ? m.box : field == DIM ? m.dim : m.every)[i % 5] = (uint32_t)v;
	else if (field == STRIDE)
		m.stride[(i + 1) % 5] = v;
	else if (field == TYPE)
		m.stride[0] = n;
	else if (field < FIELDS)
		*(field == INTERLEAVE ? &m.slice : field == SWIZZLE ? &m.span : &m.atom) = n;
	return m;
}

/* A box, row by row.  A row lies along dimension 0; the other dimensions count rows, the lowest one
 * fastest: from `at`, by `step`, up to `to`, and again from `from`.  An element lies `offset` behind
 * where it is counted.  With an interleaved layout the dimensions are W, H, D, C / slice and N, all of
 * them count rows, and a row is a slice: a box has one for each pixel. */
struct dimension { int64_t at, from, to, step, offset; };
struct box {
	const struct event_map *m;
	struct dimension dim[5];
	unsigned outer;                 /* the first dimension that counts rows */
	bool four, load;
	uint32_t rows, row_bytes;
	int64_t first, lo, hi;          /* a row's start in dimension 0; [lo, hi) of it are in the tensor */
};

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

/* PTX ISA, "Tiled mode"; "im2col mode": a row for each pixel of a bounding box, then those of the next
 * image's, each read at its own place plus the offsets. */
static void make_dimensions(struct box *b, const struct event_unit *u, unsigned lane)
{
	static const enum event_operand at[] = {EVENT_TENSOR_AT0, EVENT_TENSOR_AT1, EVENT_TENSOR_AT2, EVENT_TENSOR_AT3,
						EVENT_TENSOR_AT4};
	static const enum event_operand offset[] = {EVENT_TENSOR_OFFSET0, EVENT_TENSOR_OFFSET1, EVENT_TENSOR_OFFSET2};
	const struct event_map *m = b->m;

	for (unsigned i = 0; i < 5; i++) {
		struct dimension *d = &b->dim[i];
		uint32_t box = m->slice && i + 2u == m->rank ? 1 : m->box[i];

		d->at = d->from = (int32_t)event_get(u, lane, at[i]);
		d->to = d->from + box;
		d->step = m->every[i];
		if (i >= b->outer && i < m->rank && b->rows <= BOX_BYTES)
			b->rows *= (box + m->every[i] - 1) / m->every[i];
	}
	for (unsigned i = 0, k = b->outer; m->im2col && i + 2u < m->rank; i++, k++) {
		b->dim[k].from = m->lower[i];
		b->dim[k].to = (int64_t)m->dim[k] + m->upper[i];
		b->dim[k].offset = (int64_t)event_get(u, lane, offset[i]);
	}
	if (m->im2col) {
		b->dim[m->rank - 1].to = INT64_MAX;
		b->dim[m->rank - 1].step = 1;
		b->rows = m->box[1];
	}
}

/* False: the map is not known, or not one for such a copy. */
static bool make_box(struct box *b, const struct event_unit *u, const struct event_site *s, unsigned lane,
		     const struct event_map *m)
{
	int64_t size, width;

	if (!m || !is_map(m) || !m->im2col != !(s->flags & EVENT_IM2COL))
		return false;
	*b = (struct box){.m = m, .outer = m->slice ? 0u : 1u, .rows = 1};
	b->load = s->flags & EVENT_COUNTED;
	b->four = s->flags & EVENT_FOUR_ROWS;
	make_dimensions(b, u, lane);
	if (b->four)
		b->rows = 4;
	size = (int64_t)m->stride[0];
	width = m->slice ? m->slice : m->dim[0] * size;
	b->row_bytes = m->slice ? m->slice : m->box[0] * (uint32_t)size;
	b->first = m->slice ? 0 : b->dim[0].at * size;
	b->lo = clamp(-b->first, 0, b->row_bytes);
	b->hi = clamp(width - b->first, b->lo, b->row_bytes);
	return b->rows <= BOX_BYTES && (uint64_t)b->rows * b->row_bytes <= BOX_BYTES;
}

/* To row `r`, from the one before it.  tile::gather4 and scatter4 have a coordinate for each. */
static void next_row(struct box *b, uint32_t r)
{
	if (b->four && r < 4)
		b->dim[1].at = b->dim[1 + r].from;
	for (unsigned i = b->outer; !b->four && i < b->m->rank; i++) {
		struct dimension *d = &b->dim[i];

		d->at += d->step;
		if (d->at < d->to)
			return;
		d->at = d->from;
	}
}

/* Where the row's part in the tensor starts; 0: outside of it. */
static uint64_t row_address(const struct box *b)
{
	const struct event_map *m = b->m;
	uint64_t a = m->base + (uint64_t)(b->first + b->lo);

	for (unsigned i = b->outer; i < m->rank; i++) {
		int64_t at = b->dim[i].at + b->dim[i].offset;

		if (at < 0 || at >= m->dim[i])
			return 0;
		a += (uint64_t)at * (i ? m->stride[i] : m->slice);
	}
	return a;
}

/* PTX ISA, "Swizzling modes": of the address, bits 4 to 6 change by bits 7 to 9. */
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

/* What a row has in shared memory: of a load what is outside of the tensor as well, which is filled. */
static void row_shared(const struct box *b, uint32_t at, const struct extent_to *to)
{
	int64_t hi = b->load ? b->row_bytes : b->hi;

	for (int64_t i = b->load ? 0 : b->lo, next; i < hi; i = next) {
		next = b->m->span ? clamp((i / 16 + 1) * 16, 0, hi) : hi;
		to->sink(to->shared, swizzled(b->m, at + (uint32_t)i), (uint64_t)(next - i));
	}
}

uint32_t extent_box(const struct event_unit *u, const struct event_site *s, unsigned lane, const struct event_map *m,
		    const struct extent_to *to)
{
	uint32_t at = event_offset(event_address(u, lane));
	struct box b;

	if (!make_box(&b, u, s, lane, m))
		return 0;
	for (uint32_t r = 0; to && r < b.rows; next_row(&b, ++r)) {
		uint64_t a = row_address(&b);

		if (a || b.load)
			row_shared(&b, at, to);
		if (a && b.hi > b.lo)
			to->sink(to->global, a, (uint64_t)(b.hi - b.lo));
		at += m->span && !m->slice ? m->span : b.row_bytes;
	}
	return b.rows * b.row_bytes;
}
