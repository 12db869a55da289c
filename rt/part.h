/* SPDX-License-Identifier: Apache-2.0
 *
 * part.h: which blocks of a launch that is not clear are judged before the others.
 *
 * The host judges some megabytes of log in a second, and a launch may log a gigabyte; but what is wrong with a kernel is mostly
 * wrong with many of its blocks.  So those that learn nothing of others (detect_alone()) come first, in portions, and of them
 * those that the screen has something against, each with the other block that it names.
 */
#ifndef RT_PART_H
#define RT_PART_H

#include "rt/judge.h"

struct rt_part;

/* Is a log of so many units one whose blocks are not all judged at once? */
bool rt_part_is_large(uint64_t units);

/* Of a launch that is over, as rt_screen_is_plain() has it. */
struct rt_part *rt_part_new(const struct rt_launch *);
void rt_part_free(struct rt_part *);
/* Each of its pieces, which are right. */
void rt_part_note(struct rt_part *, const struct event_piece *, const struct event_sites *);
/* Judges portions of its log, which is fill[] of n tickets (log_tell()), until one of them has something to report or judge_s is over, or
 * else all that is left: between rt_verdict_begin() and rt_verdict_end().  False: not all pieces could be told. */
bool rt_part_judge(struct rt_part *, struct rt_verdict *, const struct log_copy *, const struct log_fill *fill, uint32_t n);
/* Blocks that were not judged, of all launches: whether there are any, and how many. */
bool rt_part_left(void);
void rt_part_count(struct rt_totals *);

#endif
