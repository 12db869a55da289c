/* SPDX-License-Identifier: Apache-2.0
 *
 * drain.h: empties pieces of the log's region (event/region.h) while a kernel runs, so that its log may be larger than
 * the region.
 */
#ifndef RUN_DRAIN_H
#define RUN_DRAIN_H

#include "event/region.h"
#include "run/run.h"

#define DRAIN_NONE 0xffffffffu

/* A launch: where its pieces are, in units, as in its parameter; end: of those of its warps. */
struct drain_shape { uint32_t slots, end, last, piece, entries /* of the queue */, warps /* of all blocks */; };

/* What became of a ticket; they are numbered from the launch's first one on. */
struct drain_fill {
	struct event_unit *copy;        /* the piece, taken out; NULL: it lies in the region, */
	uint32_t place;                 /* there, in units; 0: nobody was given one */
	uint32_t before;                /* number of the ticket whose piece it is behind; DRAIN_NONE: its head says so */
	uint32_t warp, since;           /* drain.c's own; since: ms, when it was drawn */
	uint8_t leader;
	bool asked;
};

/* Memory for the region that can be drained; `emu`: on the emulated device.  False: a driver call failed. */
bool drain_alloc(struct run_driver *, bool emu, CUdevice, size_t bytes, CUdeviceptr *region);
/* From before a launch, whose queue is ready, until it is over.  The tickets are drain.c's until the next launch. */
bool drain_begin(CUdeviceptr region, const struct drain_shape *);
const struct drain_fill *drain_end(uint32_t *n);

static inline uint32_t drain_ticket(const struct drain_shape *s, uint32_t number) { return s->end + number * s->piece; }
static inline uint32_t drain_places(const struct drain_shape *s) { return (s->last - s->end) / s->piece + 1; }
/* The warp of a piece whose `behind` is among the launch's. */
static inline uint32_t drain_warp(const struct drain_shape *s, uint32_t behind, uint32_t leader)
{
	return behind + 1 < s->slots || behind >= s->end ? DRAIN_NONE : (behind + (leader != 0) - s->slots) / s->piece;
}

#endif
