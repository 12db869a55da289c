/* SPDX-License-Identifier: Apache-2.0
 *
 * alone.c: which blocks of a launch can be judged before the others are there.
 *
 * What comes before an event of a block is of that block, as long as none of its events may learn of another one: an order
 * between blocks ends in a read of a strong access, in a fence.sc, or in an arrival or a wait that another block takes part in
 * (memory-model.md 1.2 to 1.5).  Such blocks are a portion of the log like any other (detect.h), whatever their clocks say: of
 * two of their accesses the rest of the log orders none.
 */
#include "detect/impl.h"

/* A word of its own shared memory is no other block's, where it is no cluster's. */
static enum detect_alone strong(const struct event_site *s)
{
	return s->space != EVENT_SHARED && s->does & EVENT_READS ? DETECT_LEARNS : DETECT_ALONE;
}

/* A fence without a read in front of it acquires nothing; fence.sc has an order of its own (1.4). */
static enum detect_alone fence(const struct event_site *s)
{
	return s->sem == EVENT_SC && s->scope != EVENT_CTA ? DETECT_LEARNS : DETECT_ALONE;
}

static enum detect_alone of_record(const struct event_unit *u, const struct event_site *s)
{
	switch ((enum event_kind)event_kind_of(u)) {
	case EVENT_CLOCK: case EVENT_BEGIN: case EVENT_EXIT:
	case EVENT_ACCESS: case EVENT_STORED:
	case EVENT_BAR_ARRIVE: case EVENT_BAR_WAIT: case EVENT_WARP_ARRIVE: case EVENT_WARP_WAIT:
	case EVENT_MBAR_INIT: case EVENT_MBAR_INVAL: case EVENT_MBAR_ARRIVE: case EVENT_MBAR_EXPECT: case EVENT_MBAR_COMPLETE:
	case EVENT_MBAR_WAIT: case EVENT_MBAR_TRY: case EVENT_MBAR_COPIES:
	case EVENT_CP_ASYNC: case EVENT_COPY: case EVENT_TENSOR: case EVENT_COMMIT: case EVENT_WAIT_GROUP: case EVENT_WGMMA:
		return DETECT_ALONE;
	case EVENT_STRONG:
		return strong(s);
	case EVENT_FENCE:
		return fence(s);
	case EVENT_MAP_FENCE:
		return DETECT_LEARNS;
	default:
		/* Clusters, tensor memory, launches that overlap, maps that are edited, and what nobody knows. */
		return DETECT_TOGETHER;
	}
}

enum detect_alone detect_alone(const struct event_piece *p, const struct event_sites *all)
{
	const struct event_unit *u = event_units_of(p), *end = u + (p->bytes - sizeof *p) / sizeof *u;
	enum detect_alone so_far = p->blocks > 1 ? DETECT_TOGETHER : DETECT_ALONE;

	for (; u < end && event_units(u); u += event_units(u)) {
		const enum detect_alone is = of_record(u, &all->site[event_kind_of(u) == EVENT_CLOCK ? 0 : event_site_of(u)]);

		so_far = is > so_far ? is : so_far;
	}
	return so_far;
}
