/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c: a log in memory, in the order in which it came, read by a detector as often as is wished.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "run/judge.h"

/* ---- keeping ------------------------------------------------------------------------------- */

static void *copy_of(const void *from, size_t bytes)
{
	void *p = malloc(bytes ? bytes : 1);

	if (!p)
		abort();
	if (bytes)
		memcpy(p, from, bytes);
	return p;
}

static struct judge_item *add(struct judge_log *l, enum item_kind kind)
{
	struct judge_item *i = calloc(1, sizeof *i);

	if (!i)
		abort();
	i->kind = kind;
	*l->last = i;
	l->last = &i->next;
	return i;
}

static void add_sites(void *arg, const struct event_sites *s)
{
	struct judge_item *i = add(arg, ITEM_SITES);

	memset(&i->sites, 0, sizeof i->sites);
	i->sites.site = copy_of(s->site, s->nsites * sizeof *s->site);
	i->sites.run = copy_of(s->run, s->nruns * sizeof *s->run);
	i->sites.origin = copy_of(s->origin, s->norigins * sizeof *s->origin);
	i->sites.nsites = s->nsites;
	i->sites.nruns = s->nruns;
	i->sites.norigins = s->norigins;
}

static void add_host(void *arg, const struct event_host *h)
{
	struct judge_log *l = arg;

	add(l, ITEM_HOST)->host = *h;
	l->launches += h->kind == EVENT_HOST_LAUNCH;
}

static void add_piece(void *arg, const struct event_piece *p)
{
	struct judge_log *l = arg;

	add(l, ITEM_PIECE)->piece = copy_of(p, p->bytes);
	l->bytes += p->bytes;
}

static void add_cut(void *arg)
{
	struct judge_log *l = arg;

	add(l, ITEM_CUT);
	l->cuts++;
}

void judge_start(struct judge_log *l, struct emu_events_sink *s)
{
	memset(l, 0, sizeof *l);
	l->last = &l->first;
	s->sites = add_sites;
	s->host = add_host;
	s->piece = add_piece;
	s->cut = add_cut;
	s->arg = l;
}

void judge_free(struct judge_log *l)
{
	while (l->first) {
		struct judge_item *i = l->first;

		l->first = i->next;
		free((void *)i->sites.site);
		free((void *)i->sites.run);
		free((void *)i->sites.origin);
		free(i->piece);
		free(i);
	}
	l->last = &l->first;
}

/* ---- judging ---------------------------------------------------------------------------------- */

/* False: it is a choice of the detector's, which has no such value. */
static bool choose(struct detect *d, const char *word, size_t n)
{
	char copy[96], *value;

	if (n >= sizeof copy)
		return true;
	memcpy(copy, word, n);
	copy[n] = 0;
	value = strchr(copy, '=');
	if (!value)
		return true;
	*value++ = 0;
	return detect_choose(d, copy, value) || !detect_knows(copy);
}

struct detect *judge_new(const char *options, const char *more)
{
	struct detect *d = detect_new();
	bool ok = !more || choose(d, more, strlen(more));

	for (size_t n; ok && options && *options; options += n + (options[n] == ':')) {
		n = strcspn(options, ":");
		ok = choose(d, options, n);
	}
	if (ok)
		return d;
	detect_free(d);
	return NULL;
}

const char *judge_log(struct detect *d, const struct judge_log *l, bool cuts)
{
	const char *wrong = NULL;

	for (const struct judge_item *i = l->first; i && !wrong; i = i->next) {
		switch (i->kind) {
		case ITEM_SITES:
			detect_sites(d, &i->sites);
			break;
		case ITEM_HOST:
			detect_host(d, &i->host);
			break;
		case ITEM_PIECE:
			wrong = detect_feed(d, i->piece, i->piece->bytes);
			break;
		case ITEM_CUT:
			if (cuts)
				detect_judge(d);
			break;
		}
	}
	detect_judge(d);
	return wrong;
}

/* The line of a record's instruction; or those of all that it stands for, each with what is added to its operand. */
static void print_lines(FILE *f, const struct event_sites *sites, const struct event_site *s)
{
	if (!s->nrun)
		fprintf(f, "    # line %u", s->line);
	for (uint32_t i = 0; i < s->nrun; i++) {
		const struct event_run *r = &sites->run[s->run + i];

		fprintf(f, "%s%u%+" PRId32, i ? ", " : "    # lines ", sites->site[r->site].line, r->offset);
	}
	fputc('\n', f);
}

void judge_print(const struct judge_log *l, FILE *f)
{
	const struct event_sites *sites = NULL;
	char line[4096];

	for (const struct judge_item *i = l->first; i; i = i->next) {
		const struct event_unit *e = i->kind == ITEM_PIECE ? event_units_of(i->piece) : NULL;
		const struct event_unit *end = e ? e + (i->piece->bytes - sizeof *i->piece) / sizeof *e : NULL;

		if (i->kind == ITEM_SITES)
			sites = &i->sites;
		if (i->kind == ITEM_CUT)
			fputs("cut\n", f);
		if (e)
			fprintf(f, "%u.%u: piece of lane %u @%u/%u\n", i->piece->block, i->piece->warp, i->piece->leader,
				(uint32_t)i->piece->clock, (uint32_t)i->piece->timer);
		for (; e < end && event_units(e); e += event_units(e)) {
			event_print(line, sizeof line, i->piece, e, &sites->site[event_site_of(e)]);
			fputs(line, f);
			print_lines(f, sites, &sites->site[event_site_of(e)]);
		}
	}
}

/* ---- findings ------------------------------------------------------------------------------------- */

unsigned judge_site_line(const struct judge_log *l, uint32_t launch, uint32_t site)
{
	const struct event_sites *sites = NULL;

	for (const struct judge_item *i = l->first; i; i = i->next) {
		if (i->kind == ITEM_SITES)
			sites = &i->sites;
		else if (i->kind == ITEM_HOST && i->host.kind == EVENT_HOST_LAUNCH && i->host.launch == launch)
			break;
	}
	return sites && site < sites->nsites ? sites->site[site].line : 0;
}

unsigned judge_line(const struct judge_log *l, const struct detect_finding *f, unsigned side)
{
	return side && f->one ? 0 : judge_site_line(l, f->side[side].launch, f->side[side].site);
}

bool judge_counted(const struct detect *d)
{
	bool any = false;

	for (unsigned c = 0; c < DETECT_COUNTERS; c++)
		any |= detect_count(d, (enum detect_counter)c) != 0;
	return any;
}

/* Of that kind, at both lines; `one`: at one of them is enough. */
static bool has(const struct judge_log *l, const struct detect *d, const struct detect_finding *f, bool one)
{
	const struct detect_finding *g;
	size_t n = detect_findings(d, &g);
	unsigned a = judge_line(l, f, 0), b = judge_line(l, f, 1);

	for (size_t i = 0; i < n; i++) {
		unsigned x = judge_line(l, &g[i], 0), y = judge_line(l, &g[i], 1);

		if (f->kind != g[i].kind)
			continue;
		if ((a == x && b == y) || (a == y && b == x) || (one && (a == x || a == y || b == x || b == y)))
			return true;
	}
	return false;
}

static const struct detect_finding *more(const struct judge_log *l, const struct detect *a, const struct detect *b, bool one)
{
	const struct detect_finding *f;
	size_t n = detect_findings(b, &f);

	for (size_t i = 0; i < n; i++)
		if (!has(l, a, &f[i], one))
			return &f[i];
	return NULL;
}

const struct detect_finding *judge_more(const struct judge_log *l, const struct detect *a, const struct detect *b)
{
	return more(l, a, b, false);
}

const struct detect_finding *judge_unlike(const struct judge_log *l, const struct detect *a, const struct detect *b)
{
	return more(l, a, b, true);
}

const struct detect_finding *judge_differs(const struct judge_log *l, const struct detect *a, const struct detect *b)
{
	const struct detect_finding *f = judge_more(l, a, b);

	return f ? f : judge_more(l, b, a);
}
