/* SPDX-License-Identifier: Apache-2.0
 *
 * ground.h: where in global memory a launch has nothing to look for (memory-model.md 1.14).  For the detector and the screen,
 * on a host and on a GPU.
 */
#ifndef DETECT_GROUND_H
#define DETECT_GROUND_H

#include "event/event.h"

/* What belongs to no block that is there: padding behind one, or a part of one that was freed, which `of` tells. */
struct ground_gap { uint64_t from, to; struct event_block of; };
/* In the order of their addresses, and apart. */
struct ground { struct ground_gap *gap; uint32_t n; };

/* The gaps of so many blocks, in any order; its memory is from malloc. */
void screen_ground(struct ground *, const struct event_block *, uint32_t n);

/* The first gap that ends behind an address; n: there is none. */
static inline EVENT_BOTH uint32_t ground_first(const struct ground_gap *gap, uint32_t n, uint64_t address)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (gap[mid].to <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Is any of these bytes in a gap? */
static inline EVENT_BOTH bool ground_lacks(const struct ground_gap *gap, uint32_t n, uint64_t from, uint64_t to)
{
	uint32_t i = ground_first(gap, n, from);

	return i < n && gap[i].from < to;
}

#endif
