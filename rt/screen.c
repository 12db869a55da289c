/* SPDX-License-Identifier: Apache-2.0
 *
 * screen.c: is there nothing to judge in a launch that is over?  The device is asked first, where the log is (clear.c), and else the
 * host.
 */
#include <string.h>

#include "rt/order.h"
#include "rt/part.h"
#include "rt/screen.h"

void rt_screen_places(struct rt_launch *l, const struct event_unit *head)
{
	const struct rt_tables *t = l->tables;
	struct region_places p;

	if (l->place)
		return;
	memcpy(&p, head + REGION_PLACES, sizeof p);
	l->place = rt_alloc((t->n.nvariables + 1) * sizeof *l->place);
	for (uint32_t i = 0; p.n && i < p.n - 1 && i < REGION_PLACES_MOST && i < t->n.nvariables; i++) {
		const uint32_t n = p.place[i].variable;

		if (n < t->n.nvariables)
			l->place[l->nplaces++] = (struct event_place){
				t->variables + n, p.place[i].at, t->variable[n].dynamic ? p.dynamic : t->variable[n].bytes
			};
	}
}

struct screening {
	const struct screen_log *log;
	const struct event_sites *sites;
	const struct screen_maps *maps;
	const struct screen_places *places;
	bool clear;
};

static void screen(void *arg)
{
	struct screening *s = arg;
	uint32_t why[SCREEN_WHYS];

	s->clear = screen_launch(s->log, s->sites, s->maps, s->places, NULL, why);
}

/* Does nothing of it overlap another launch? */
static bool is_by_itself(const struct rt_launch *l, const struct rt_verdict *v)
{
	return rt_flags.report_bugs && !l->early && !l->tables->linked->lets_go && !rt_verdict_is_strict(v);
}

/* May the screen be asked about it?  Of a launch that others overlap, that ended in an error, or of which pieces were taken out
 * while it ran, it may not. */
static bool may_be_clear(const struct rt_launch *l, const struct rt_verdict *v)
{
	return is_by_itself(l, v) && !l->full && !l->failed;
}

/* Those that the driver made, and parameters; to be freed. */
static struct screen_maps maps_of(const struct rt_launch *l, const struct rt_verdict *v)
{
	size_t n;
	const struct event_map *maps = rt_verdict_maps(v, &n);
	struct event_map *all = rt_alloc((n + l->nmaps + 1) * sizeof *all);

	if (n)
		memcpy(all, maps, n * sizeof *all);
	if (l->nmaps)
		memcpy(all + n, l->map, l->nmaps * sizeof *all);
	return (struct screen_maps){all, (unsigned)(n + l->nmaps)};
}

static struct screen_log log_of(const struct rt_launch *l, const struct region_block *b, uint32_t next)
{
	const struct log_shape *s = &l->shape;

	return (struct screen_log){
		.launch = l->number, .heads = s->heads, .slots = s->slots, .end = s->end, .next = next, .piece = s->piece,
		.blocks = s->blocks, .warps = s->warps, .threads = b->threads, .shared = b->shared,
		.rows = screen_rows(l->block[0], b->threads)
	};
}

static struct screen_places places_of(const struct rt_launch *l, const struct rt_verdict *v)
{
	size_t n;
	const struct event_block *ground = rt_verdict_ground(v, &n);

	return (struct screen_places){l->place, rt_flags.bounds ? l->nplaces : 0, ground, rt_flags.bounds ? (uint32_t)n : 0};
}

/* Is there nothing to judge, as the host sees it? */
static bool is_clear(const struct rt_launch *l, const struct rt_verdict *v, const struct log_copy *c)
{
	const struct event_sites sites = rt_sites_linked(l->tables);
	const struct screen_places places = places_of(l, v);
	struct screen_maps maps;
	struct region_block block;
	struct screen_log log;
	struct screening work;

	if (c->head.lost)
		return false;
	maps = maps_of(l, v);
	memcpy(&block, c->unit + l->shape.heads, sizeof block);
	log = log_of(l, &block, c->end);
	log.unit = c->unit;
	work = (struct screening){&log, &sites, &maps, &places, false};
	rt_with_memory(screen, &work);
	rt_free((void *)maps.map);
	return work.clear;
}

bool rt_screen_is_plain(const struct rt_launch *l, const struct rt_verdict *v, const struct log_copy *c)
{
	return is_by_itself(l, v) && !c->head.lost && !rt_keeps() && !l->deed;
}

bool rt_screen_here(const struct rt_launch *l, const struct rt_verdict *v, const struct log_copy *c)
{
	bool here;

	if (!may_be_clear(l, v) || (l->there == RT_CLEAR_NOT && !rt_screen_compares()))
		return false;
	here = is_clear(l, v, c);
	if (l->there == RT_CLEAR_UNASKED || here == (l->there == RT_CLEAR))
		return here;
	rt_say("a fault in gsan, please report it: a launch of %s is clear by the %s alone", rt_demangle(l->func->name), here ? "host" : "device");
	return false;
}

/* ---- the device's own screen ------------------------------------------------------------------------------------------ */

/* To the emulated device its kernels are slower than the host. */
bool rt_screen_is_on(void)
{
	return rt_flags.device_screen > (rt_drv.gsanEmuDeviceThread ? 1 : 0);
}

bool rt_screen_compares(void)
{
	return rt_flags.device_screen > 2;
}

static void tell_left(const struct rt_launch *l, const char *why)
{
	rt_verbose(2, "a launch of %s is left to the host: %s", rt_demangle(l->func->name), why);
}

bool rt_screen_may_ask(const struct rt_launch *l, const struct rt_verdict *v)
{
	if (rt_screen_is_on() && l->full)
		rt_verbose(2, "a launch of %s is left to the host: its log is larger than its region of %llu MiB", rt_demangle(l->func->name),
			   (unsigned long long)(l->memory.bytes >> 20));
	return rt_screen_is_on() && !rt_keeps() && !rt_deed_is_walked(l->deed) && !l->running && may_be_clear(l, v);
}

/* Nothing of it is lost, and nobody has written over what it begins with. */
static bool is_whole(const struct rt_launch *l, const struct clear_start *s)
{
	const struct log_shape *p = &l->shape;

	return !s->head.lost && !s->head.cut == !!p->lanes && s->head.last == p->last && s->head.next >= p->end && s->head.next <= p->last + p->piece &&
	       s->block.magic == EVENT_MAGIC;
}

static struct rt_question question_of(struct rt_launch *l, const struct rt_verdict *v, const struct clear_start *s)
{
	struct event_unit head[REGION_QUEUE];
	struct rt_question q = {.launch = l, .dynamic = s->places.dynamic, .memory = rt_verdict_blocks(v)->changes + 1, .maps = maps_of(l, v)};

	memcpy(head + REGION_PLACES, &s->places, sizeof s->places);
	rt_screen_places(l, head);
	l->large = rt_part_is_large(s->head.next);
	rt_issue_learn(l, s->head.next);
	q.log = log_of(l, &s->block, s->head.next);
	q.log.unit = (const struct event_unit *)(uintptr_t)l->memory.at;
	q.places = places_of(l, v);
	return q;
}

/* Regions that are zero again. */
static void give_back(const struct rt_question *q, uint32_t n)
{
	const bool any = rt_way_begin(RT_WAY_TAKE);

	for (uint32_t i = 0; i < n; i++) {
		struct rt_launch *l = q[i].launch;

		if (q[i].answer != RT_CLEAR)
			continue;
		l->memory.queue = l->shape;
		if (any)
			rt_memory_put(&l->memory);
	}
	if (any)
		rt_way_end(RT_WAY_TAKE);
}

static void tell(const struct rt_question *q)
{
	const char *kernel = rt_demangle(q->launch->func->name);

	if (q->answer == RT_CLEAR)
		rt_verbose(2, "a launch of %s is clear, by the device", kernel);
	if (q->answer == RT_CLEAR_UNASKED)
		tell_left(q->launch, "the device has no room");
	for (unsigned i = 0; q->answer == RT_CLEAR_NOT && i < SCREEN_WHYS; i++)
		if (q->why[i])
			rt_verbose(2, "a launch of %s is not clear: %s (%u)", kernel, screen_why((enum screen_why)i), q->why[i]);
}

void rt_screen_there(struct rt_launch *const *l, uint32_t n, const struct rt_verdict *v)
{
	struct clear_start start[RT_CLEAR_BATCH];
	struct rt_question q[RT_CLEAR_BATCH];
	uint32_t asked = 0;
	bool missed;

	if (rt_clear_starts(l[0]->ctx, l, n, start)) {
		for (uint32_t i = 0; i < n; i++)
			if (is_whole(l[i], &start[i]))
				q[asked++] = question_of(l[i], v, &start[i]);
			else
				tell_left(l[i], "its log is not whole");
		if (asked)
			rt_clear_ask(l[0]->ctx, q, asked, !rt_screen_compares());
	}
	missed = rt_clear_missed();
	for (uint32_t i = 0; i < n && missed; i++)
		l[i]->kept = true;
	for (uint32_t i = 0; i < asked; i++) {
		q[i].launch->there = q[i].answer;
		q[i].launch->note = q[i].note;
		q[i].launch->notes = q[i].notes;
		rt_free((void *)q[i].maps.map);
		tell(&q[i]);
	}
	if (asked && !rt_screen_compares())
		give_back(q, asked);
}
