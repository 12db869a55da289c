/* SPDX-License-Identifier: Apache-2.0
 *
 * shape.h: where a launch's pieces lie in its region (event/region.h), and what became of the tickets for more.
 */
#ifndef LOG_SHAPE_H
#define LOG_SHAPE_H

#include "event/region.h"

/* Units.  end: of the pieces of the launch's warps; last: as in the region's head; entries: of the queue. */
struct log_shape {
	uint32_t blocks, warps /* of a block */, piece, heads, slots, end, last, entries;
	uint32_t lanes;                 /* that can be there at once, if the region is drained; or 0 */
};

#define LOG_NONE 0xffffffffu

/* A ticket; they are numbered from the launch's first one on. */
struct log_fill {
	struct event_unit *copy;        /* the piece, taken out; NULL: it lies in the region, */
	uint32_t place;                 /* there, in units; 0: nobody was given one */
	uint32_t before;                /* number of the ticket whose piece it is behind; LOG_NONE: its head says so */
	uint32_t warp, since;           /* drain.c's own; since: ms, when it was drawn */
	uint8_t leader;
	bool asked;
};

static inline uint32_t log_warps(const struct log_shape *s) { return s->blocks * s->warps; }
static inline uint32_t log_ticket(const struct log_shape *s, uint32_t number) { return s->end + number * s->piece; }
static inline uint32_t log_places(const struct log_shape *s) { return (s->last - s->end) / s->piece + 1; }
/* The warp of a piece whose `behind` is among the launch's. */
static inline uint32_t log_warp(const struct log_shape *s, uint32_t behind, uint32_t leader)
{
	return behind + 1 < s->slots || behind >= s->end ? LOG_NONE : (behind + (leader != 0) - s->slots) / s->piece;
}

#endif
