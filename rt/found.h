/* SPDX-License-Identifier: Apache-2.0
 *
 * found.h: parts of reports, of what a thread did.  found.c and met.c.
 */
#ifndef RT_FOUND_H
#define RT_FOUND_H

#include "rt/judge.h"

void rt_found_place(struct rt_place *, const struct detect_side *, const struct rt_launch *);   /* NULL: it is not known any more */
void rt_found_launch(struct rt_report *, const struct rt_launch *);
void rt_found_where(struct rt_report *, const struct rt_blocks *);      /* global memory: its variable or allocation */

#endif
