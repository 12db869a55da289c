/* SPDX-License-Identifier: Apache-2.0
 *
 * hang.h: launches that come to no end.  Whoever calls holds the detector's lock (judge.c).
 */
#ifndef RT_HANG_H
#define RT_HANG_H

#include "rt/judge.h"

enum { RT_HANG_EXIT_SURE = 1 };         /* of hang_exit, which has a value above and one below */

/* Is it time to look at a launch that is under way?  Then: a report, if it hangs, once; what its tickets became of now. */
bool rt_hang_is_due(struct rt_launch *);
struct rt_report *rt_hang_look(struct rt_launch *, const struct log_fill *, uint32_t n);
/* It has logged nothing but polls since it was looked at before the last time. */
bool rt_hang_is_quiet(const struct rt_launch *);
/* Of a launch that the device has ended since it took too long, and whose log has been taken: a report if it hung, or NULL. */
struct rt_report *rt_hang_of(struct rt_launch *, const struct log_copy *, const struct log_fill *, uint32_t n);
void rt_hang_forget(struct rt_launch *);

#endif
