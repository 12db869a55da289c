/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c: the order of what the host issues (memory-model.md 1.11): lines, clocks, events.
 */
#include <stdlib.h>
#include <string.h>

#include "detect/host.h"

enum { HOST = 0 };

struct line {
	struct detect_stream stream;
	bool used, over, open;          /* over: destroyed; open: see detect_open() */
	uint32_t number;                /* of the last deed */
	struct detect_clock clock;      /* what comes next will know */
};

/* What an event covers; event 0: a free place of the table. */
struct covered { uint64_t event; bool open; struct detect_clock clock; };

struct detect_order {
	struct line line[DETECT_LINES];
	unsigned n;                     /* that were ever used */
	struct covered *event;          /* by a hash of the handle */
	size_t nevents, cap;
	bool lost;                      /* there was no memory for an event, or detect_blind(): all that comes is open */
	uint64_t lacking;
};

void detect_clock_join(struct detect_clock *c, const struct detect_clock *with)
{
	for (unsigned i = 0; i < DETECT_LINES; i++)
		c->upto[i] = c->upto[i] > with->upto[i] ? c->upto[i] : with->upto[i];
}

bool detect_before(const struct detect_when *a, const struct detect_when *b)
{
	if (a->open || b->open)
		return true;
	return a->line == b->line ? a->number <= b->number : b->knew.upto[a->line] >= a->number;
}

struct detect_order *detect_order_new(void)
{
	struct detect_order *o = (struct detect_order *)calloc(1, sizeof *o);

	if (!o)
		return NULL;
	o->n = 1;
	o->line[HOST].used = true;
	return o;
}

void detect_order_free(struct detect_order *o)
{
	free(o->event);
	free(o);
}

/* ---- lines ---------------------------------------------------------------------------------------------------- */

static bool is_of(const struct line *l, const struct detect_stream *s)
{
	return l->used && !l->over && l->stream.context == s->context && l->stream.key == s->key;
}

static struct line *find(struct detect_order *o, const struct detect_stream *s)
{
	for (unsigned i = 1; i < o->n; i++)
		if (is_of(&o->line[i], s))
			return &o->line[i];
	return NULL;
}

bool detect_stream_known(struct detect_order *o, const struct detect_stream *s)
{
	return find(o, s);
}

/* A stream that has ended, and of which the host knows everything, leaves its line to another. */
static struct line *room(struct detect_order *o)
{
	for (unsigned i = 1; i < o->n; i++)
		if (o->line[i].over && o->line[HOST].clock.upto[i] >= o->line[i].number)
			return &o->line[i];
	return o->n < DETECT_LINES ? &o->line[o->n++] : NULL;
}

static struct line *line_of(struct detect_order *o, const struct detect_stream *s)
{
	struct line *l = find(o, s);

	if (l)
		return l;
	l = room(o);
	if (!l)
		return NULL;
	*l = (struct line){.stream = *s, .used = true, .number = l->number};
	return l;
}

static bool meet(const struct line *l, const struct detect_stream *s)
{
	return l->used && l->stream.context == s->context && (l->stream.legacy || s->legacy) && l->stream.blocking && s->blocking;
}

/* CUDA C++ Programming Guide, "Default Stream": what is in the legacy stream waits for all blocking streams, and they
 * for it. */
static void join_legacy(struct detect_order *o, struct line *l)
{
	for (unsigned i = 1; i < o->n; i++)
		if (&o->line[i] != l && meet(&o->line[i], &l->stream)) {
			detect_clock_join(&l->clock, &o->line[i].clock);
			l->open |= o->line[i].open;
		}
}

/* The line, with all that something which comes into it now knows. */
static struct line *come(struct detect_order *o, const struct detect_stream *s)
{
	struct line *l = line_of(o, s);

	if (!l)
		return NULL;
	join_legacy(o, l);
	detect_clock_join(&l->clock, &o->line[HOST].clock);
	return l;
}

void detect_put(struct detect_order *o, const struct detect_stream *s, struct detect_when *w)
{
	struct line *l;

	/* What the host does from now on comes behind the issue. */
	o->line[HOST].clock.upto[HOST] = ++o->line[HOST].number;
	l = come(o, s);
	memset(w, 0, sizeof *w);
	w->open = !l || l->open || o->lost;
	o->lacking += !l;
	if (!l)
		return;
	w->line = (uint32_t)(l - o->line);
	l->clock.upto[w->line] = w->number = ++l->number;
	w->knew = l->clock;
}

bool detect_is_behind_all(const struct detect_order *o, const struct detect_when *w)
{
	for (unsigned i = 1; i < o->n; i++)
		if (o->line[i].used && w->knew.upto[i] < o->line[i].number)
			return false;
	return !w->open;
}

void detect_host_now(struct detect_order *o, struct detect_when *w)
{
	*w = (struct detect_when){.line = HOST, .number = o->line[HOST].number + 1, .knew = o->line[HOST].clock};
}

const struct detect_clock *detect_host_clock(const struct detect_order *o)
{
	return &o->line[HOST].clock;
}

uint64_t detect_order_lacking(const struct detect_order *o)
{
	return o->lacking;
}

void detect_open(struct detect_order *o, const struct detect_stream *s)
{
	struct line *l = come(o, s);

	if (l)
		l->open = true;
}

void detect_blind(struct detect_order *o)
{
	o->lost = true;
}

void detect_stream_end(struct detect_order *o, const struct detect_stream *s)
{
	struct line *l = find(o, s);

	if (l)
		l->over = true;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static struct covered *slot(struct covered *table, size_t cap, uint64_t handle)
{
	size_t i = (size_t)(handle * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (cap - 1);

	while (table[i].event && table[i].event != handle)
		i = (i + 1) & (cap - 1);
	return &table[i];
}

/* NULL: it was never recorded. */
static const struct covered *event(const struct detect_order *o, uint64_t handle)
{
	const struct covered *e = o->cap ? slot(o->event, o->cap, handle) : NULL;

	return e && e->event ? e : NULL;
}

static bool grow(struct detect_order *o)
{
	size_t cap = o->cap ? o->cap * 2 : 64;
	struct covered *table;

	if (o->nevents * 2 < o->cap)
		return true;
	table = (struct covered *)calloc(cap, sizeof *table);
	if (!table)
		return false;
	for (size_t i = 0; i < o->cap; i++)
		if (o->event[i].event)
			*slot(table, cap, o->event[i].event) = o->event[i];
	free(o->event);
	o->event = table;
	o->cap = cap;
	return true;
}

void detect_record(struct detect_order *o, uint64_t handle, const struct detect_stream *s)
{
	struct line *l = come(o, s);
	struct covered *e;

	o->lost |= !grow(o);
	if (o->lost || !handle)
		return;
	e = slot(o->event, o->cap, handle);
	o->nevents += !e->event;
	*e = (struct covered){.event = handle, .open = !l || l->open};
	if (l)
		e->clock = l->clock;
}

void detect_wait(struct detect_order *o, const struct detect_stream *s, uint64_t handle)
{
	const struct covered *e = event(o, handle);
	struct line *l = come(o, s);

	if (!l || !e)
		return;
	l->open |= e->open;
	detect_clock_join(&l->clock, &e->clock);
}

/* ---- who waits ------------------------------------------------------------------------------------------------------ */

struct detect_clock detect_clock_of_all(struct detect_order *o, uint64_t context)
{
	struct detect_clock c = {{0}};

	for (unsigned i = 1; i < o->n; i++)
		if (!context || o->line[i].stream.context == context)
			detect_clock_join(&c, &o->line[i].clock);
	return c;
}

/* What was waited for in an open stream may have waited for anything. */
struct detect_clock detect_clock_of_stream(struct detect_order *o, const struct detect_stream *s)
{
	struct line *l = come(o, s);

	return l && !l->open ? l->clock : detect_clock_of_all(o, 0);
}

struct detect_clock detect_clock_of_event(struct detect_order *o, uint64_t handle)
{
	const struct covered *e = event(o, handle);

	if (e && e->open)
		return detect_clock_of_all(o, 0);
	return e ? e->clock : (struct detect_clock){{0}};
}

/* Who has waited for all of a line need not take what comes into it as ordered any more. */
void detect_learn(struct detect_order *o, const struct detect_clock *c)
{
	struct line *host = &o->line[HOST];

	detect_clock_join(&host->clock, c);
	for (unsigned i = 1; i < o->n; i++)
		if (o->line[i].open && host->clock.upto[i] >= o->line[i].number)
			o->line[i].open = false;
}

void detect_learn_stream(struct detect_order *o, const struct detect_stream *s, const struct detect_clock *c)
{
	struct line *l = come(o, s);

	if (l)
		detect_clock_join(&l->clock, c);
}
