/* SPDX-License-Identifier: Apache-2.0
 *
 * past.c: the program's memory as it was when a launch began, which may be judged after memory has been given back.
 */
#include "rt/judge.h"

enum { GONE = 4096 };

/* In the order in which they were given back, a ring of which the first is at `oldest`; with rt_lock. */
static struct gone { struct rt_block block; uint32_t upto; /* number of the last launch before */ } gone[GONE];
static size_t oldest, ngone;
static struct rt_blocks past;

static struct gone *nth(size_t i)
{
	return &gone[(oldest + i) % GONE];
}

void rt_mem_gone(const struct rt_block *b)
{
	const uint32_t judged = rt_judge_done();
	uint32_t upto = rt_judge_last();

	pthread_mutex_lock(&rt_lock);
	/* Of two at a time the later one may bring the smaller number. */
	if (ngone && nth(ngone - 1)->upto > upto)
		upto = nth(ngone - 1)->upto;
	for (; ngone && (ngone == GONE || nth(0)->upto <= judged); ngone--)
		oldest = (oldest + 1) % GONE;
	*nth(ngone++) = (struct gone){*b, upto};
	pthread_mutex_unlock(&rt_lock);
}

const struct rt_blocks *rt_mem_at(uint32_t launch)
{
	struct rt_block later;

	if (!ngone || nth(ngone - 1)->upto < launch)
		return &rt_blocks;
	rt_blocks_copy(&past, &rt_blocks);
	/* Of those at one place the one that was given back first was there. */
	for (size_t i = ngone; i-- > 0;) {
		const struct rt_block *x = &nth(i)->block;

		if (nth(i)->upto < launch)
			break;
		rt_block_take(&past, x->addr, &later);
		rt_block_add(&past, x);
	}
	past.changes = UINT64_MAX - launch;     /* no other one's */
	return &past;
}
