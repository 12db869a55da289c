/* SPDX-License-Identifier: Apache-2.0
 *
 * region.h: the memory that one launch logs into (event/region.h): how it is laid out, made ready, and read when the
 * launch is over.
 */
#ifndef LOG_REGION_H
#define LOG_REGION_H

#include "log/shape.h"
#include "log/way.h"

#define LOG_MOST (UINT64_C(16) << 30)   /* bytes of a region, whose units have numbers of 31 bits */

/* Fills in all but `last`.  lanes: that the device can hold; 0: the region is not drained.  Returns how many bytes the
 * region has to have at least; more than LOG_MOST: the launch is too large. */
uint64_t log_lay_out(struct log_shape *, uint64_t blocks, uint32_t threads /* of a block */, uint32_t piece, uint64_t lanes);
/* What a region of so many bytes gives: `last`. */
void log_fit(struct log_shape *, uint64_t bytes);

/* A region that is all zero, but for the queue of a launch of the shape `queue` (NULL: of none), becomes that of a launch; the
 * launch's parameter. */
bool log_prepare(const struct log_way *, CUdeviceptr, const struct log_shape *, const struct log_shape *queue, uint32_t launch,
		 struct region_launch *);
/* Does a launch of that shape want that queue? */
bool log_queue_suits(const struct log_shape *, const struct log_shape *queue);

/* A log in the host's memory.  torn: the kernel did not end by itself, or has not ended; who takes the log sets it.  Lanes store a
 * record's head first and their addresses last (probe/place.h): the last record of a piece that has none yet is left out. */
struct log_copy { struct event_unit *unit; uint32_t end; struct region_head head; bool torn; };
/* The launch is over.  False: a driver call failed, or there is no memory. */
bool log_take(const struct log_way *, CUdeviceptr, const struct log_shape *, struct log_copy *);
/* Makes what the launch has used zero again, up to a unit; but for its queue, if that is as it was (was_full: the region's pieces
 * were asked for again). */
bool log_clear(const struct log_way *, CUdeviceptr, const struct log_shape *, uint32_t end, bool was_full);

/* Pieces of the launch's warps, then those that were taken, in the order of their tickets: `n` of them became of tickets
 * what `fill` says; NULL: each one's piece lies at its ticket.  Returns NULL, or a constant that says why not all can be told. */
typedef void log_piece(void *, const struct event_piece *);
const char *log_tell(const struct log_copy *, const struct log_shape *, const struct log_fill *fill, uint32_t n, log_piece *, void *);

#endif
