/* SPDX-License-Identifier: Apache-2.0
 *
 * bounds.h: bounds of what copies and products touch: all that extent/extent.h says lies within them.  For the screen
 * (screen.h), on a host and on a GPU.  Units are bytes, addresses as in extent.h.
 */
#ifndef DETECT_BOUNDS_H
#define DETECT_BOUNDS_H

#include "event/event.h"

struct bounds { uint64_t from, to; };   /* to: of the first byte behind */

/* ---- boxes of tensor maps ------------------------------------------------------------------------------- */

/* A box as rows along dimension 0: where the first one begins, and how many there are. */
struct bounds_box { const struct event_map *map; uint64_t first; uint32_t rows, row_bytes; };

/* How large it is, of a copy in tiled mode, of each element, without slices; false: it is of another form. */
static inline EVENT_BOTH bool bounds_shape(const struct event_site *s, const struct event_map *m, struct bounds_box *b)
{
	if (m->im2col || m->slice || !m->rank || m->rank > 5 || s->flags & (EVENT_IM2COL | EVENT_FOUR_ROWS | EVENT_MULTICAST | EVENT_REDUCE))
		return false;
	b->map = m;
	b->rows = 1;
	b->row_bytes = m->box[0] * (uint32_t)m->stride[0];
	for (unsigned i = 0; i < m->rank; i++) {
		if (m->every[i] != 1 || !m->box[i] || m->box[i] > 1024)
			return false;
		b->rows *= i ? m->box[i] : 1;
	}
	return b->rows <= 1 << 18;
}

/* And where it begins. */
static inline EVENT_BOTH bool bounds_box(const struct event_unit *u, const struct event_site *s, unsigned lane,
					 const struct event_map *m, struct bounds_box *b)
{
	if (!bounds_shape(s, m, b))
		return false;
	b->first = m->base;
	for (unsigned i = 0; i < m->rank; i++) {
		uint64_t pair = event_word(u, lane, 3 + i / 2);

		b->first += (uint64_t)(int64_t)(int32_t)(uint32_t)(i % 2 ? pair >> 32 : pair) * m->stride[i];
	}
	return true;
}

/* A row in global memory, whether the tensor has it or not. */
static inline EVENT_BOTH struct bounds bounds_row(const struct bounds_box *b, uint32_t row)
{
	uint64_t at = b->first;

	for (unsigned i = 1; i < b->map->rank; i++) {
		at += row % b->map->box[i] * b->map->stride[i];
		row /= b->map->box[i];
	}
	return (struct bounds){at, at + b->row_bytes};
}

/* From the first row to the last one. */
static inline EVENT_BOTH struct bounds bounds_rows(const struct bounds_box *b)
{
	return (struct bounds){b->first, bounds_row(b, b->rows - 1).to};
}

/* Bytes that lie within lines of 128 wherever a swizzle puts them. */
static inline EVENT_BOTH struct bounds bounds_lines(uint64_t from, uint64_t to)
{
	return (struct bounds){from & ~UINT64_C(127), (to + 127) & ~UINT64_C(127)};
}

/* In shared memory, from that address on. */
static inline EVENT_BOTH struct bounds bounds_shared_box(const struct bounds_box *b, uint64_t address)
{
	uint32_t pitch = b->map->span ? b->map->span : b->row_bytes;
	uint64_t to = address + (uint64_t)pitch * (b->rows - 1) + b->row_bytes;

	return b->map->span ? bounds_lines(address, to) : (struct bounds){address, to};
}

/* ---- matrices of products --------------------------------------------------------------------------------- */

/* PTX ISA, "Matrix Descriptor Format": start, leading and stride in units of 16 bytes. */
static inline EVENT_BOTH uint32_t bounds_field(uint64_t descriptor, unsigned shift)
{
	return (uint32_t)(descriptor >> shift & 0x3fff) << 4;
}

/* PTX ISA, "Canonical Layouts": patterns have 8 lines of a swizzle's span, or of 16 bytes. */
static inline EVENT_BOTH struct bounds bounds_matrix(uint64_t descriptor, bool mn, uint32_t size, uint32_t rows, uint32_t columns)
{
	uint32_t mode = (uint32_t)(descriptor >> 62), shift = mode ? 8 - mode : 4, pitch = 1u << shift;
	uint32_t lines = mn ? columns : rows, bytes = (mn ? rows : columns) * size, start = bounds_field(descriptor, 0);
	uint32_t leading = bounds_field(descriptor, 16), stride = bounds_field(descriptor, 32);
	uint32_t down = (lines - 1) / 8 * (mn && !mode ? leading : stride);
	uint32_t along = ((bytes - 1) >> shift) * (mn && !mode ? stride : leading) + pitch;

	/* A line along K goes on behind a swizzle's span. */
	along = mode && !mn ? bytes : along;
	return bounds_lines(start, (uint64_t)start + 7 * pitch + down + along);
}

static inline EVENT_BOTH struct bounds bounds_union(struct bounds a, struct bounds b)
{
	return (struct bounds){a.from < b.from ? a.from : b.from, a.to > b.to ? a.to : b.to};
}

#endif
