/* SPDX-License-Identifier: Apache-2.0
 *
 * extent.h: which bytes an instruction touches, where its operands say so in layouts: boxes of
 * tensor maps, matrices in shared memory, cells of tensor memory.  What is asked about is one
 * lane's part of a record, with the record's site (event/event.h); of a record by which a warp
 * acts as one, the part of any of its lanes.
 *
 * Sources: PTX ISA, "Tensors" (tiled mode, im2col mode, interleave layout, swizzling modes),
 * "tensormap.replace", "wgmma: Shared Memory Matrix Layout", "Matrix Descriptor Format",
 * "tcgen05: Tensor Memory", "Instruction descriptor", "Data Movement Shape", "Layout
 * Organization".
 *
 * Units are bytes.  Addresses are global ones, or offsets in a block's shared memory, or of a
 * cell of tensor memory: 4 bytes each, (lane * 512 + column) * 4.
 *
 * Pure functions: nothing is allocated or kept, and what is passed stays the caller's.  What a
 * record says is taken as it is: extents may reach out of their memory.
 */
#ifndef EXTENT_EXTENT_H
#define EXTENT_EXTENT_H

#include "event/event.h"

/* It is given the pieces of one operand, in no certain order; some may overlap. */
typedef void extent_sink(void *arg, uint64_t address, uint64_t bytes);

/* The argument for each operand; those that an instruction lacks are not looked at. */
struct extent_to {
	extent_sink *sink;
	void *shared, *global;          /* in shared memory; in global memory */
	void *a, *scales, *d;           /* cells: a product's; what others touch is d's */
};

/* ---- tensor.c: boxes of tensor maps ------------------------------------------------------ */

/* TENSOR.  Of a load into shared memory, what is filled counts as well.  Returns what an mbarrier counts: all
 * of the box, in the tensor or not; 0: the map is not known (NULL), or not one for such a copy.  `to` may be
 * NULL. */
uint32_t extent_box(const struct event_unit *, const struct event_site *, unsigned lane, const struct event_map *,
		    const struct extent_to *);  /* shared, global */
/* MAP_EDIT: the map that tensormap.replace makes of one. */
struct event_map extent_edited(const struct event_unit *, const struct event_site *, unsigned lane, const struct event_map *was);

/* ---- matrix.c: matrices and cells ----------------------------------------------------------- */

/* WGMMA: A, unless it is in registers, and B. */
void extent_product(const struct event_unit *, const struct event_site *, unsigned lane,
		    const struct extent_to *);  /* shared */
/* TC_MMA, TC_COPY, TC_LOAD, TC_STORE, TC_FREE, in one block: of a pair the even one, 0, or the odd one, 1. */
void extent_cells(const struct event_unit *, const struct event_site *, unsigned lane, unsigned block,
		  const struct extent_to *);    /* shared, a, scales, d */
/* TC_MMA: one number for products whose accumulators have the same place and shape. */
uint64_t extent_accumulator(const struct event_unit *, const struct event_site *, unsigned lane);

#endif
