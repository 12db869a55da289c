/* SPDX-License-Identifier: Apache-2.0
 *
 * hang.c: says why nothing goes on (hang.h).  Of lanes that run it is not known what they may do yet: where there are
 * any that could arrive, or asynchronous operations, it is not said that nobody could.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/hang.h"

enum { LINE = 1024, MOST = 4 };         /* bytes of a line; places, or parties, that it names */

struct text { char s[LINE]; size_t n; };

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->s + t->n, LINE - t->n, fmt, ap);
	va_end(ap);
	t->n += n > 0 ? (size_t)n : 0;
	t->n = t->n < LINE ? t->n : LINE - 1;
}

static bool same(const struct hang_object *a, const struct hang_object *b)
{
	return a->kind == b->kind && a->block == b->block && a->number == b->number;
}

static bool same_place(const struct hang_place *a, const struct hang_place *b)
{
	return a->line == b->line && a->file && b->file && !strcmp(a->file, b->file);
}

static void put_object(struct text *t, const struct hang_object *o)
{
	switch (o->kind) {
	case HANG_BARRIER:
		put(t, "barrier %llu of block %u", (unsigned long long)o->number, o->block);
		break;
	case HANG_CLUSTER:
		put(t, "the barrier of the cluster of block %u", o->block);
		break;
	case HANG_WARP:
		put(t, "lanes 0x%x of warp %u of block %u", (unsigned)(o->number >> 32), (unsigned)o->number, o->block);
		break;
	case HANG_MBARRIER:
		put(t, "the mbarrier at 0x%llx of block %u", (unsigned long long)o->number, o->block);
		break;
	case HANG_WORD:
		put(t, "the word at 0x%llx", (unsigned long long)o->number);
		if (!(o->number >> 24))
			put(t, " of block %u", o->block);
		break;
	case HANG_RUNS:
		put(t, "nothing that is known");
		break;
	}
}

/* ---- who could come -------------------------------------------------------------------------------- */

/* Where those lanes are; NULL: they have exited. */
static const struct hang_wait *wait_of(const struct hang *h, const struct hang_party *p)
{
	for (unsigned i = 0; i < h->nwaits; i++)
		if (h->wait[i].block == p->block && h->wait[i].warp == p->warp && h->wait[i].lanes & p->lanes & p->live)
			return &h->wait[i];
	return NULL;
}

/* Of those who could end that wait: the first who waits for something else, or runs; NULL: there is none. */
static const struct hang_wait *who_could(const struct hang *h, const struct hang_object *o)
{
	for (unsigned i = 0; i < h->nparties; i++) {
		const struct hang_wait *w = same(&h->party[i].object, o) ? wait_of(h, &h->party[i]) : NULL;

		if (w && !same(&w->object, o))
			return w;
	}
	return NULL;
}

static void put_lack(struct text *t, const struct hang_wait *w)
{
	put_object(t, &w->object);
	if (w->name)
		put(t, " (%s)", w->name);
	if (w->object.kind == HANG_WORD)
		put(t, " holds 0x%llx", (unsigned long long)w->value);
	if (w->missing)
		put(t, " lacks %u %s%s", w->missing, w->object.kind == HANG_MBARRIER ? "arrival" : w->warps ? "warp" : "thread",
		    w->missing == 1 ? "" : "s");
	if (w->bytes)
		put(t, "%s %lld bytes", w->missing ? " and" : " lacks", (long long)w->bytes);
}

static void put_places(struct text *t, const struct hang *h, const struct hang_object *o)
{
	unsigned n = 0;

	for (unsigned i = 0; i < h->nparties && n < MOST; i++) {
		const struct hang_party *p = &h->party[i];
		bool first = same(&p->object, o) && p->came.file;

		for (unsigned k = 0; k < i && first; k++)
			first = !same(&h->party[k].object, o) || !same_place(&h->party[k].came, &p->came);
		if (first)
			put(t, "%s %s:%u", n++ ? "," : "; the last arrivals came by", p->came.file, p->came.line);
	}
}

/* The others that could end the wait, by what they do; who is named for having arrived before is among them.  False: there
 * is nobody. */
static bool put_parties(struct text *t, const struct hang *h, const struct hang_wait *of)
{
	const struct hang_object *o = &of->object;
	const char *verb = o->kind == HANG_WORD ? "write it" : "arrive";
	unsigned n = 0, ended = 0, here = 0;

	for (unsigned i = 0; i < h->nparties; i++) {
		const struct hang_party *p = &h->party[i];
		const struct hang_wait *w = same(&p->object, o) ? wait_of(h, p) : NULL;

		if (!same(&p->object, o) || p->came.file)
			continue;
		ended += !w;
		here += w && same(&w->object, o);
		if (!w || same(&w->object, o) || n++ >= MOST)
			continue;
		put(t, "; warp %u of block %u could %s, and %s %s %s:%u", p->warp, p->block, verb,
		    w->object.kind == HANG_RUNS ? "is" : "waits", w->behind ? "behind" : "at", w->at.file ? w->at.file : "?", w->at.line);
		if (w->object.kind != HANG_RUNS) {
			put(t, " for ");
			put_object(t, &w->object);
		}
	}
	if (!n && !h->copies && !of->open)
		put(t, "; nobody is left who could %s%s", verb, ended && here ? ": the others have exited, or wait there themselves" :
		    ended ? ": the others have exited" : here ? ": all wait there themselves" : "");
	return n || h->copies || of->open;
}

/* ---- circles ------------------------------------------------------------------------------------------- */

/* From this wait on, to whoever could end it, until one comes up again. */
static bool in_circle(const struct hang *h, const struct hang_object *from, struct text *t)
{
	const struct hang_wait *w = who_could(h, from);

	put(t, "a circle: ");
	put_object(t, from);
	for (unsigned n = 0; w && w->object.kind != HANG_RUNS && n <= h->nwaits; n++) {
		put(t, " needs warp %u of block %u, which waits for ", w->warp, w->block);
		put_object(t, &w->object);
		if (same(&w->object, from))
			return true;
		put(t, ", which");
		w = who_could(h, &w->object);
	}
	return false;
}

bool hang_explain(const struct hang *h, void (*line)(void *arg, const char *text), void *arg)
{
	bool told = false, nobody = false;

	for (unsigned i = 0; i < h->nwaits; i++) {
		const struct hang_wait *w = &h->wait[i];
		struct text t = {.n = 0}, circle = {.n = 0};
		bool first = w->object.kind != HANG_RUNS;

		for (unsigned k = 0; k < i && first; k++)
			first = !same(&h->wait[k].object, &w->object);
		if (!first)
			continue;
		put_lack(&t, w);
		put(&t, ", %s %s %s:%u", w->object.kind == HANG_WORD ? "polled" : "waited for", w->behind ? "behind" : "at",
		    w->at.file ? w->at.file : "?", w->at.line);
		put_places(&t, h, &w->object);
		nobody |= !put_parties(&t, h, w);
		line(arg, t.s);
		if (!told && !w->open && in_circle(h, &w->object, &circle)) {
			line(arg, circle.s);
			told = true;
		}
	}
	return told || nobody;
}

/* ---- what never ends ------------------------------------------------------------------------------------- */

/* Has each who is missing to come, or will any do? */
static bool needs_all(const struct hang_wait *w)
{
	return (w->object.kind == HANG_BARRIER && !w->warps) || w->object.kind == HANG_CLUSTER || w->object.kind == HANG_WARP;
}

/* Of those lanes that are elsewhere: do some wait for what never ends (stuck), or some not? */
static bool any_lane(const struct hang *h, const struct hang_party *p, const bool *doomed, bool stuck)
{
	for (unsigned i = 0; i < h->nwaits; i++) {
		const struct hang_wait *w = &h->wait[i];

		if (w->block == p->block && w->warp == p->warp && w->lanes & p->lanes & p->live && doomed[i] == stuck &&
		    !same(&w->object, &p->object))
			return true;
	}
	return false;
}

/* Can that wait end, if those that are doomed do not? */
static bool may_end(const struct hang *h, const struct hang_wait *w, const bool *doomed)
{
	bool stuck = false, goes_on = false;

	if (w->object.kind == HANG_RUNS || w->open || h->copies)
		return true;
	for (unsigned i = 0; i < h->nparties; i++) {
		const struct hang_party *p = &h->party[i];

		if (p->came.file || !same(&p->object, &w->object))
			continue;
		stuck = stuck || any_lane(h, p, doomed, true);
		goes_on = goes_on || any_lane(h, p, doomed, false);
	}
	return goes_on && !(needs_all(w) && stuck);
}

/* All are doomed that cannot be told to end. */
bool hang_is_sure(const struct hang *h)
{
	bool *doomed = (bool *)malloc(h->nwaits + 1), any = false, changed = true;

	if (!doomed)
		return false;
	memset(doomed, true, h->nwaits + 1);
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < h->nwaits; i++) {
			if (!doomed[i] || !may_end(h, &h->wait[i], doomed))
				continue;
			doomed[i] = false;
			changed = true;
		}
	}
	for (unsigned i = 0; i < h->nwaits; i++)
		any = any || doomed[i];
	free(doomed);
	return any;
}
