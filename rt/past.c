/* SPDX-License-Identifier: Apache-2.0
 *
 * past.c: the program's memory as it was when a launch began, which may be judged after memory has been given back.
 */
#include "rt/judge.h"

enum { GONE = 4096 };

/* With rt_lock: in the order in which they were given back, by their numbers among all, from 1, modulo GONE. */
static struct rt_block gone[GONE];
/* Apart, since each launch looks at them: the number of the last launch before, and of the one at that place that was given back
 * before it; 0: none is known. */
static struct { uint32_t upto; uint64_t before; } when[GONE];
static uint64_t oldest = 1, next = 1;
static struct { uint64_t addr, number; } latest[GONE];  /* by a hash of the address: that was given back there */
static struct rt_blocks past, other;

void rt_mem_gone(const struct rt_block *b)
{
	const unsigned at = (unsigned)(b->addr * UINT64_C(0x9e3779b97f4a7c15) >> 40) % GONE;
	const uint32_t judged = rt_judge_done();
	uint32_t upto = rt_judge_last();

	/* Of two at a time the later one may bring the smaller number. */
	if (next > oldest && when[(next - 1) % GONE].upto > upto)
		upto = when[(next - 1) % GONE].upto;
	while (oldest < next && (next - oldest == GONE || when[oldest % GONE].upto <= judged))
		oldest++;
	gone[next % GONE] = *b;
	when[next % GONE].upto = upto;
	when[next % GONE].before = latest[at].addr == b->addr ? latest[at].number : 0;
	latest[at].addr = b->addr;
	latest[at].number = next++;
}

static bool same(const struct rt_blocks *a, const struct rt_blocks *b)
{
	size_t i = 0;

	while (a->n == b->n && i < a->n && a->list[i].addr == b->list[i].addr && a->list[i].bytes == b->list[i].bytes &&
	       a->list[i].kind == b->list[i].kind && a->list[i].name == b->list[i].name)
		i++;
	return a->n == b->n && i == a->n;
}

/* Was the one before at its place there still?  A part begins where the whole does, perhaps. */
static bool has_earlier(uint64_t i, uint32_t launch)
{
	const uint64_t before = when[i % GONE].before;

	return before >= oldest && when[before % GONE].upto >= launch && gone[before % GONE].part == gone[i % GONE].part;
}

/* Of those at one place the one that was given back first was there. */
static void put_back(struct rt_blocks *to, uint32_t launch)
{
	struct rt_block later;

	for (uint64_t i = next; i-- > oldest && when[i % GONE].upto >= launch;) {
		const struct rt_block *x = &gone[i % GONE];

		if (has_earlier(i, launch))
			continue;
		rt_block_take(to, x->addr, x->part, &later);
		rt_block_add(to, x);
	}
}

const struct rt_blocks *rt_mem_at(const struct rt_launch *l)
{
	static uint64_t number = UINT64_C(1) << 63;     /* none of rt_blocks' */
	struct rt_blocks was;

	if ((next == oldest || when[(next - 1) % GONE].upto < l->number) && !rt_freed_at(l, NULL))
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
