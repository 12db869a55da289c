/* SPDX-License-Identifier: Apache-2.0
 *
 * screen.h: launches that are over and in which there is nothing to judge (detect/screen.h).
 */
#ifndef RT_SCREEN_H
#define RT_SCREEN_H

#include "rt/clear.h"

/* From the first REGION_QUEUE units of its log: where its variables of shared memory lie, as block 0 has said. */
void rt_screen_places(struct rt_launch *, const struct event_unit *head);
/* Is it clear, by the device?  Then its log need not be read, and its memory is given back, unless device_screen compares.  UNASKED,
 * too, where the log is wanted for something else.  nfills: of its pieces, as log_drain_end() has it. */
enum rt_clear rt_screen_there(struct rt_launch *, const struct rt_verdict *, uint32_t nfills);
/* Is it clear, by a copy of its log, and what the device has said? */
bool rt_screen_here(const struct rt_launch *, const struct rt_verdict *, const struct log_copy *, uint32_t nfills, enum rt_clear there);
/* Makes the log zero up to that unit; with RT_WAY_TAKE. */
bool rt_screen_empty(const struct log_way *, const struct rt_launch *, uint32_t end);

#endif
