/* SPDX-License-Identifier: Apache-2.0
 *
 * past.c: the program's memory as it was when a launch began, which may be judged after memory has been given back.
 */
#include "rt/judge.h"

enum { GONE = 4096 };

/* In the order in which they were given back, a ring of which the first is at `oldest`; with rt_lock. */
static struct gone { struct rt_block block; uint32_t upto; /* number of the last launch before */ } gone[GONE];
static size_t oldest, ngone;
static struct rt_blocks past, other;

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

	for (size_t i = ngone; i-- > 0 && nth(i)->upto >= launch;) {
		const struct rt_block *x = &nth(i)->block;

		rt_block_take(to, x->addr, x->part, &later);
		rt_block_add(to, x);
	}
}

const struct rt_blocks *rt_mem_at(const struct rt_launch *l)
{
	static uint64_t number = UINT64_C(1) << 63;     /* none of rt_blocks' */
	struct rt_blocks was;

	if ((!ngone || nth(ngone - 1)->upto < l->number) && !rt_freed_at(l, NULL))
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
