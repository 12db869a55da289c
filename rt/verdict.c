/* SPDX-License-Identifier: Apache-2.0
 *
 * verdict.c: what a process's launches are judged by: the detector, and what reports of its findings need.  libgsan has
 * one, gsan-check one for each log.
 */
#include <setjmp.h>
#include <string.h>

#include "rt/judge.h"

enum { KEPT = 1024 };           /* launches of which reports may tell */

struct rt_verdict {
	const struct rt_process *process;       /* NULL: this one */
	struct detect *detect;
	struct rt_launch *kept[KEPT];           /* by number, modulo */
	struct rt_report **report;              /* of each finding; NULL: it is left out */
	uint64_t *count;                        /* and what it had counted when it was reported, or looked at */
	size_t nreports, report_cap, count_cap;
	struct event_map *maps;
	size_t nmaps, maps_cap;
	struct rt_blocks memory;
	struct event_block *ground;             /* the same; */
	size_t nground, ground_cap;
	bool ground_told;
	uint64_t cut;                           /* launches */
	bool ignores_same_value, told_of_stored;
	bool gave_up;                           /* there was no memory: nothing more is asked of the detector */
	const char *wrong;                      /* what detect_feed() says */
};

/* ---- without memory ----------------------------------------------------------------------------------- */

static __thread jmp_buf *way_out;

static void leave(void)
{
	longjmp(*way_out, 1);
}

bool rt_with_memory(void (*work)(void *), void *arg)
{
	jmp_buf here;

	detect_on_refusal(leave);
	if (setjmp(here)) {
		way_out = NULL;
		rt_ran_out();
		return false;
	}
	way_out = &here;
	work(arg);
	way_out = NULL;
	return true;
}

/* What the detector is asked. */
struct question {
	struct rt_verdict *v;
	const struct rt_flags *flags;
	const struct event_sites *sites;
	const struct event_host *host;
	const struct event_piece *piece;
	bool judge;
};

static void choose(void *detect, const char *name, const char *value)
{
	detect_choose(detect, name, value);
}

static void answer(void *arg)
{
	const struct question *q = arg;
	struct rt_verdict *v = q->v;

	if (!v->detect)
		v->detect = detect_new();
	if (q->flags)
		rt_flags_choices(q->flags, choose, v->detect);
	if (q->sites)
		detect_sites(v->detect, q->sites);
	if (q->host)
		detect_host(v->detect, q->host);
	if (q->piece)
		v->wrong = detect_feed(v->detect, q->piece, q->piece->bytes);
	if (q->judge || (q->host && q->host->kind == EVENT_HOST_OVER))
		detect_judge(v->detect);
}

/* What it took so far may be what the program lacks. */
static void ask(struct question q)
{
	if (q.v->gave_up || rt_with_memory(answer, &q))
		return;
	q.v->gave_up = true;
	detect_free(q.v->detect);
	q.v->detect = NULL;
}

struct rt_verdict *rt_verdict_new(const struct rt_flags *flags, const struct rt_process *process)
{
	struct rt_verdict *v = rt_alloc(sizeof *v);

	v->process = process;
	ask((struct question){.v = v, .flags = flags});
	v->ignores_same_value = flags->same_value;
	return v;
}

static void forget(struct rt_launch *l)
{
	rt_free(l->map);
	rt_free(l->place);
	rt_free(l);
}

void rt_verdict_close(struct rt_verdict *v)
{
	for (size_t i = 0; i < v->nreports; i++) {
		if (!v->report[i])
			continue;
		rt_verdict_count(v, v->report[i]);
		v->report[i]->verdict = NULL;
	}
	for (unsigned i = 0; i < KEPT; i++)
		if (v->kept[i])
			forget(v->kept[i]);
	detect_free(v->detect);
	rt_free(v->report);
	rt_free(v->count);
	rt_free(v->maps);
	rt_free(v->memory.list);
	rt_free(v->ground);
	rt_free(v);
}

/* ---- what is known ------------------------------------------------------------------------------------- */

static void tell_map(struct rt_verdict *v, const struct event_map *m)
{
	const struct event_host h = {.kind = EVENT_HOST_MAP, .map = *m};

	ask((struct question){.v = v, .host = &h});
}

void rt_verdict_map(struct rt_verdict *v, const struct event_map *m)
{
	v->maps = rt_grow(v->maps, &v->maps_cap, v->nmaps + 1, sizeof *v->maps);
	v->maps[v->nmaps++] = *m;
	tell_map(v, m);
}

const struct event_map *rt_verdict_maps(const struct rt_verdict *v, size_t *n)
{
	*n = v->nmaps;
	return v->maps;
}

/* Of memory that is there, that alone has padding which routines of the driver have allocated for the device. */
static enum event_block_kind kind_of(enum rt_mem kind)
{
	switch (kind) {
	case RT_MEM_DEVICE:
	case RT_MEM_MANAGED:
		return EVENT_BLOCK_ALLOCATED;
	case RT_MEM_FREED:
		return EVENT_BLOCK_FREED;
	case RT_MEM_HOST:
	case RT_MEM_MAPPED:
	case RT_MEM_GRAPH:
	case RT_MEM_VARIABLE:
		break;
	}
	return EVENT_BLOCK_THERE;
}

void rt_verdict_memory(struct rt_verdict *v, const struct rt_blocks *b)
{
	if (v->memory.changes == b->changes)
		return;
	rt_blocks_copy(&v->memory, b);
	v->ground = rt_grow(v->ground, &v->ground_cap, b->n, sizeof *v->ground);
	for (size_t i = 0; i < b->n; i++)
		v->ground[i] = (struct event_block){b->list[i].addr, b->list[i].bytes, kind_of(b->list[i].kind)};
	v->nground = b->n;
	v->ground_told = false;
}

const struct event_block *rt_verdict_ground(const struct rt_verdict *v, size_t *n)
{
	*n = v->nground;
	return v->ground;
}

static void tell_ground(struct rt_verdict *v)
{
	struct event_host h = {.kind = EVENT_HOST_MEMORY};

	if (v->ground_told)
		return;
	v->ground_told = true;
	ask((struct question){.v = v, .host = &h});
	h.kind = EVENT_HOST_BLOCK;
	for (size_t i = 0; i < v->nground; i++) {
		h.block = v->ground[i];
		ask((struct question){.v = v, .host = &h});
	}
}

const struct rt_blocks *rt_verdict_blocks(const struct rt_verdict *v)
{
	return &v->memory;
}

bool rt_verdict_block(const struct rt_verdict *v, uint64_t address, struct rt_block *b)
{
	return rt_block_find(&v->memory, address, b);
}

bool rt_verdict_is_strict(const struct rt_verdict *v)
{
	return v->detect && detect_is_strict(v->detect);
}

/* ---- launches ------------------------------------------------------------------------------------------ */

/* What weak stores store is told if that was asked for when probes were put in. */
static void say_if_not_stored(struct rt_verdict *v, const struct rt_launch *l)
{
	if (!v->ignores_same_value || v->told_of_stored || l->kernel->flags & MODULE_STORED)
		return;
	v->told_of_stored = true;
	rt_say("same_value=ignore means nothing to %s: it was built without gsan-ptx --stored",
	       rt_demangle(rt_string(l->tables, l->kernel->name)));
}

void rt_verdict_take(struct rt_verdict *v, struct rt_launch *l)
{
	struct rt_launch **at = &v->kept[l->number % KEPT];

	if (*at)
		forget(*at);
	*at = l;
	l->next = NULL;
	for (size_t i = 0; i < l->nmaps; i++)
		tell_map(v, &l->map[i]);
}

const struct rt_launch *rt_verdict_launch(const struct rt_verdict *v, uint32_t number)
{
	const struct rt_launch *l = v->kept[number % KEPT];

	return l && l->number == number ? l : NULL;
}

void rt_verdict_begin(struct rt_verdict *v, const struct rt_launch *l, const uint64_t *cut)
{
	const struct event_sites sites = rt_sites_linked(l->tables);
	struct event_host h = {.kind = EVENT_HOST_LAUNCH, .launch = l->number, .blocks = l->shape.blocks, .early = l->early};

	say_if_not_stored(v, l);
	tell_ground(v);
	ask((struct question){.v = v, .sites = &sites, .host = &h});
	h.kind = EVENT_HOST_VARIABLE;
	for (uint32_t i = 0; i < l->nplaces; i++) {
		h.place = l->place[i];
		ask((struct question){.v = v, .host = &h});
	}
	if (!cut)
		return;
	h.kind = EVENT_HOST_CUT;
	h.timer = *cut;
	ask((struct question){.v = v, .host = &h});
	v->cut++;
}

const char *rt_verdict_feed(struct rt_verdict *v, const struct event_piece *p)
{
	v->wrong = NULL;
	ask((struct question){.v = v, .piece = p});
	return v->wrong;
}

/* NULL: it is left out. */
static struct rt_report *report(const struct rt_verdict *v, const struct detect_finding *f, size_t number)
{
	struct rt_report *r = rt_found(f, v);

	r->process = v->process;
	r->verdict = v;
	r->number = (uint32_t)number;
	return rt_flags.report_atomic_races || !r->now.atomic || !r->before.atomic ? r : NULL;
}

/* Reports what is new.  Returns whether anything is told of what has been found since the last time. */
static bool collect(struct rt_verdict *v)
{
	const struct detect_finding *f;
	const size_t n = detect_findings(v->detect, &f);
	bool any = false;

	v->report = rt_grow(v->report, &v->report_cap, n, sizeof *v->report);
	v->count = rt_grow(v->count, &v->count_cap, n, sizeof *v->count);
	for (size_t i = v->nreports; i < n; i++) {
		v->report[i] = report(v, &f[i], i);
		v->count[i] = 0;
	}
	if (n > v->nreports)
		rt_report_add(v->report + v->nreports, n - v->nreports);
	v->nreports = n;
	for (size_t i = 0; i < n; i++) {
		any = any || (f[i].count != v->count[i] && v->report[i] && rt_is_told(v->report[i]));
		v->count[i] = f[i].count;
	}
	return any;
}

bool rt_verdict_look(struct rt_verdict *v)
{
	ask((struct question){.v = v, .judge = true});
	return !v->gave_up && collect(v);
}

bool rt_verdict_end(struct rt_verdict *v, const struct rt_launch *l)
{
	const struct event_host h = {.kind = EVENT_HOST_OVER, .launch = l->number, .blocks = l->shape.blocks, .early = l->early,
				     .fault = l->failed};

	ask((struct question){.v = v, .host = &h});
	if (v->gave_up)
		return false;
	collect(v);
	return true;
}

/* ---- counts -------------------------------------------------------------------------------------------- */

void rt_verdict_count(const struct rt_verdict *v, struct rt_report *r)
{
	const struct detect_finding *f;

	if (v->detect && r->number < detect_findings(v->detect, &f))
		r->count = f[r->number].count;
	r->exact = true;
}

void rt_verdict_totals(const struct rt_verdict *v, struct rt_totals *t)
{
	t->cut += v->cut;
	if (!v->detect)
		return;
	t->same_values += detect_same_values(v->detect);
	for (unsigned i = 0; i < DETECT_COUNTERS && i < RT_INEXACT; i++) {
		t->inexact[i].name = detect_counter_name((enum detect_counter)i);
		t->inexact[i].n += i == DETECT_CUT ? 0 : detect_count(v->detect, (enum detect_counter)i);
	}
}
