/* SPDX-License-Identifier: Apache-2.0
 *
 * past.c: the program's memory as it was when a launch began, which may be judged after memory has been given back.
 */
#include "rt/judge.h"

enum { GONE = 4096 };

/* In the order in which they were given back; with rt_lock. */
static struct gone { struct rt_block block; uint32_t upto; /* number of the last launch before */ } gone[GONE];
static size_t ngone;
static struct rt_blocks past;

void rt_mem_gone(const struct rt_block *b)
{
	const uint32_t upto = rt_judge_last(), judged = rt_judge_done();
	size_t n = 0;

	pthread_mutex_lock(&rt_lock);
	for (size_t i = ngone == GONE; i < ngone; i++)
		if (gone[i].upto > judged)
			gone[n++] = gone[i];
	gone[n++] = (struct gone){*b, upto};
	ngone = n;
	pthread_mutex_unlock(&rt_lock);
}

const struct rt_blocks *rt_mem_at(uint32_t launch)
{
	struct rt_block later;
	bool any = false;

	for (size_t i = 0; i < ngone && !any; i++)
		any = gone[i].upto >= launch;
	if (!any)
		return &rt_blocks;
	rt_blocks_copy(&past, &rt_blocks);
	/* Of those at one place the one that was given back first was there. */
	for (size_t i = ngone; i-- > 0;) {
		if (gone[i].upto < launch)
			continue;
		rt_block_take(&past, gone[i].block.addr, &later);
		rt_block_add(&past, &gone[i].block);
	}
	past.changes = UINT64_MAX - launch;     /* no other one's */
	return &past;
}
