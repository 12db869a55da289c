/* SPDX-License-Identifier: Apache-2.0
 *
 * clear_start.h: what is read of a log before the device is asked about it (clear.c, clear.cu).
 */
#ifndef RT_CLEAR_START_H
#define RT_CLEAR_START_H

#include "event/region.h"

/* What a region begins with, for the kernel that writes it. */
struct clear_begin { struct event_unit *region; uint64_t unused; struct event_unit unit[REGION_PLACES]; };
/* The queue of a region: `all` entries are written, which is all zero but for the first ones, as log/region.c fills them. */
struct clear_queue { struct region_entry *at; uint32_t all, entries, number, piece, unused; };
/* A region, and where the heads of its blocks are; units. */
struct clear_region { const struct event_unit *unit; uint64_t heads; };
/* Its head, the places of variables, and its first block. */
struct clear_start { struct region_head head; struct region_places places; struct region_block block; };
EVENT_ASSERT(sizeof(struct clear_start) == sizeof(struct region_head) + sizeof(struct region_places) + sizeof(struct region_block));

#endif
