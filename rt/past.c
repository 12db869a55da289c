/* SPDX-License-Identifier: Apache-2.0
 *
 * past.c: the program's memory as it was when a launch began, which may be judged after memory has been given back.
 */
#include "rt/judge.h"

enum { GONE = 4096 };

/* In the order in which they were given back; with rt_lock. */
static struct gone { struct rt_block block; uint32_t upto; /* number of the last launch before */ } gone[GONE];
static size_t ngone;
static struct rt_blocks past, other;

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

static bool same(const struct rt_blocks *a, const struct rt_blocks *b)
{
	size_t i = 0;

	while (a->n == b->n && i < a->n && a->list[i].addr == b->list[i].addr && a->list[i].bytes == b->list[i].bytes &&
	       a->list[i].kind == b->list[i].kind && a->list[i].name == b->list[i].name)
		i++;
	return a->n == b->n && i == a->n;
}

/* Of those at one place the one that was given back first was there. */
static void put_back(struct rt_blocks *to, uint32_t launch)
{
	struct rt_block later;

	for (size_t i = ngone; i-- > 0;) {
		if (gone[i].upto < launch)
			continue;
		rt_block_take(to, gone[i].block.addr, &later);
		rt_block_add(to, &gone[i].block);
	}
}

const struct rt_blocks *rt_mem_at(const struct rt_launch *l)
{
	static uint64_t number = UINT64_C(1) << 63;     /* none of rt_blocks' */
	struct rt_blocks was;
	bool any = rt_freed_at(l, NULL);

	for (size_t i = 0; i < ngone && !any; i++)
		any = gone[i].upto >= l->number;
	if (!any)
		return &rt_blocks;
	rt_blocks_copy(&other, &rt_blocks);
	put_back(&other, l->number);
	rt_freed_at(l, &other);
	if (same(&past, &other))
		return &past;
	was = past;
	past = other;
	other = was;
	past.changes = ++number;
	return &past;
}
