/* SPDX-License-Identifier: Apache-2.0
 *
 * copy.h: a copy of the process (kill_watch), which tells what launches logged if the process is ended in a way in which it
 * cannot do that itself: by SIGKILL, or by a fault of its own.
 */
#ifndef RT_COPY_H
#define RT_COPY_H

#include <stdbool.h>
#include <stdint.h>

/* A log is read or emptied, or a region is used again: what a copy made before has in mind of launches does not hold any more. */
void rt_copy_moved(void);
void rt_copy_launched(void);    /* a copy made before lacks that launch */

/* One thread's, which has none of gsan's locks.  No launch is under way: nobody needs a copy.  Or since when (ms) the oldest one
 * runs: is it time to make a copy?  It is made when all that was found has been told. */
void rt_copy_drop(void);
bool rt_copy_is_due(uint64_t since);
void rt_copy_make(void);

void rt_copy_end(void);         /* the process tells itself what there is to tell; any thread's */
void rt_copy_fork(void);        /* in the child of a fork */
bool rt_copy_is_here(void);     /* this process is the copy, and the one it was made of is gone */

#endif
