/* SPDX-License-Identifier: Apache-2.0
 *
 * screen.h: launches that are over and in which there is nothing to judge (detect/screen.h).
 */
#ifndef RT_SCREEN_H
#define RT_SCREEN_H

#include "rt/clear.h"

/* From the first REGION_QUEUE units of its log: where its variables of shared memory lie, as block 0 has said. */
void rt_screen_places(struct rt_launch *, const struct event_unit *head);
/* Is the device asked at all?  Is the host asked as well, and compared? */
bool rt_screen_is_on(void);
bool rt_screen_compares(void);
/* May the device be asked whether that launch, which is over, is clear? */
bool rt_screen_may_ask(const struct rt_launch *, const struct rt_verdict *);
/* Is its log all there, and did nothing else run beside it?  By a copy of its log. */
bool rt_screen_is_plain(const struct rt_launch *, const struct rt_verdict *, const struct log_copy *);
/* Asks it of launches of one context, at most RT_CLEAR_BATCH, at all of which the program's memory was as the verdict has it.
 * The log of one that is clear need not be read, and its memory is given back, unless device_screen compares. */
void rt_screen_there(struct rt_launch *const *, uint32_t n, const struct rt_verdict *);
/* Is it clear, by a copy of its log, and what the device has said? */
bool rt_screen_here(const struct rt_launch *, const struct rt_verdict *, const struct log_copy *);

#endif
