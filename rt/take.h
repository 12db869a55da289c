/* SPDX-License-Identifier: Apache-2.0
 *
 * take.h: a launch's log on its way from the device to the host.  Whoever calls holds the detector's lock (judge.c).
 */
#ifndef RT_TAKE_H
#define RT_TAKE_H

#include "rt/judge.h"

struct rt_part;

/* Reads its log, and gives its memory back; rt_take() also where the contexts of the process have ended.  False: it cannot be
 * read, and its memory is lost.  c->unit: the caller's to free. */
bool rt_take_back(struct rt_launch *, struct log_copy *);
bool rt_take(struct rt_launch *, struct log_copy *);
/* A part of a damaged log would lack orders: all of it is right, or nothing is judged.  NULL: it is.  part: NULL, or what is to
 * know of its pieces. */
const char *rt_taken_wrong(const struct rt_launch *, const struct log_copy *, const struct log_fill *, uint32_t n, struct rt_part *part);
/* With verbosity=2: how much it logged, and how large its region is. */
void rt_taken_say_size(const struct rt_launch *, const struct log_copy *, const struct log_fill *, uint32_t n);

#endif
