/* SPDX-License-Identifier: Apache-2.0
 *
 * take.c: a launch's log on its way from the device to the host, and whether it can be read.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/part.h"
#include "rt/rescue.h"
#include "rt/take.h"

/* Makes its memory what rt_memory_put() takes; up to a unit it was used. */
static void give_back(const struct log_way *w, struct rt_launch *l, uint32_t end)
{
	if (l->failed || l->kept || !log_clear(w, l->memory.at, &l->shape, end, l->full)) {
		rt_memory_lose(&l->memory);
		return;
	}
	l->memory.queue = l->full ? (struct log_shape){0} : l->shape;
	rt_memory_put(&l->memory);
}

bool rt_take_back(struct rt_launch *l, struct log_copy *c)
{
	const struct log_way *w = rt_way_begin(RT_WAY_TAKE);
	const bool ok = w && log_take(w, l->memory.at, &l->shape, c);

	if (ok) {
		rt_issue_learn(l, c->head.next);
		give_back(w, l, c->end);
	} else {
		rt_memory_lose(&l->memory);
	}
	if (w)
		rt_way_end(RT_WAY_TAKE);
	return ok;
}

/* On a GPU a fault ends all contexts of the process. */
static bool rescue(const struct rt_launch *l, struct log_copy *c)
{
	const char *why;
	static bool said;

	if (rt_rescue(l->memory.at, &l->shape, c, &why))
		return true;
	if (!said)
		rt_say("the log of a launch of %s went with its context: %s", rt_demangle(l->func->name), why);
	said = true;
	return false;
}

bool rt_take(struct rt_launch *l, struct log_copy *c)
{
	return rt_take_back(l, c) || rescue(l, c);
}

/* part: NULL, or what is to know of its pieces. */
struct checking { const struct event_sites *sites; struct rt_part *part; const char *wrong; };

static void check(void *arg, const struct event_piece *p)
{
	struct checking *c = arg;

	if (!c->wrong)
		c->wrong = event_piece_wrong(p, p->bytes, c->sites->nsites, &(size_t){0});
	if (!c->wrong && c->part)
		rt_part_note(c->part, p, c->sites);
}

const char *rt_taken_wrong(const struct rt_launch *l, const struct log_copy *c, const struct log_fill *fill, uint32_t n, struct rt_part *part)
{
	const struct event_sites sites = rt_sites_linked(l->tables);
	struct checking k = {&sites, part, NULL};
	const char *wrong = log_tell(c, &l->shape, fill, n, check, &k);

	return k.wrong ? k.wrong : wrong;
}

void rt_taken_say_size(const struct rt_launch *l, const struct log_copy *c, const struct log_fill *fill, uint32_t n)
{
	uint64_t units = c->end;

	if (rt_flags.verbosity < 2)
		return;
	for (uint32_t i = 0; i < n; i++)
		units += fill[i].copy ? l->shape.piece : 0;
	rt_verbose(2, "a launch of %s logged %llu KiB, through a region of %llu KiB", rt_demangle(l->func->name),
		(unsigned long long)(units * sizeof(struct event_unit) >> 10), (unsigned long long)(l->memory.bytes >> 10));
}
