/* SPDX-License-Identifier: Apache-2.0
 *
 * closure.c: answers what was known of a source at a step, by a walk over the graph that
 * carries a number for each facet: as far as the source's doings are known there.  As many
 * sources as there is room for are carried side by side, so that one walk answers all that is asked of them.
 * What a region (graph.c) is asked about itself hangs on that region alone: each has columns of its own then.
 * Everything that happens to the numbers is a maximum, so that a walk over a cycle,
 * repeated until nothing changes, comes to the least that holds.
 * (memory-model.md 1.2, 8: base causality is the closure of all that the chapters say)
 */
#include <string.h>

#include "detect/impl.h"

enum { COLUMNS = 32, MOST_COLUMNS = 128 };      /* columns come by 32 */
enum { ROOM = 64 << 20 };                       /* numbers: beyond that there are no more than 32 columns */

/* Slots lie in a row: those of each speaker (graph.c), then those of hubs, of which all that are alike have one set, then what the speakers knew as
 * a cycle began. */
struct walk {
	struct detect *d;
	const struct graph *g;
	uint32_t *v;                    /* facets of each slot, of so many columns: */
	uint32_t columns;
	uint32_t *any;                  /* those that anything is known of, as bits; others hold nothing */
	uint32_t *speaker, nspeakers;   /* of each thread that is one: its number */
	uint32_t per;                   /* slots of a speaker, or hub: S_KNOW alone without fence.sc */
	uint32_t *of_thread, *of_operation, *of_block, *of_launch;      /* column of a source; NONE */
	bool within;                    /* nothing goes from one region to another */
	uint32_t *taken;                /* columns, by region; [0] of all, if not within */
	uint32_t *home;                 /* of each operation: the region that is told of it first; NONE, NOWHERE: of several */
};
#define NOWHERE (NONE - 1)

static uint32_t *no_columns(struct detect *d, uint32_t n)
{
	return (uint32_t *)memset(arena_raw(&d->arena, n + 1, sizeof(uint32_t)), 0xff, (n + 1) * sizeof(uint32_t));
}

/* ---- where a number lies -------------------------------------------------------------------- */

static uint32_t of_lane(const struct walk *w, uint32_t thread, unsigned slot) { return w->speaker[thread] * w->per + slot; }
static uint32_t of_hub(const struct walk *w, uint32_t hub, unsigned slot) { return (w->nspeakers + w->g->alike[hub]) * w->per + slot; }
/* What a speaker's slot held as a cycle began. */
static uint32_t of_kept(const struct walk *w, uint32_t slot) { return (w->nspeakers + w->g->nalike) * w->per + slot; }
static bool means(const struct walk *w, enum facet f) { return w->g->facets >> f & 1; }

static uint32_t *facet_at(const struct walk *w, uint32_t slot, enum facet f)
{
	return w->v + ((size_t)slot * w->g->nfacets + w->g->place[f]) * w->columns;
}

/* The slot of a scope of which there is a fence.sc. */
static uint32_t of_scope(const struct walk *w, enum slot s, unsigned scope)
{
	return s + 2 * event_count(w->g->fences & ((1u << scope) - 1));
}

static uint32_t *column_of(const struct walk *w, uint32_t source)
{
	uint32_t *const kinds[] = {w->of_thread, w->of_operation, w->of_block, w->of_launch};

	return &kinds[SOURCE_KIND(source)][SOURCE_NUMBER(source)];
}

/* ---- regions ----------------------------------------------------------------------------------- */

static uint32_t region_of_warp(const struct walk *w, uint32_t warp) { return w->g->region[w->d->warp.v[warp].block]; }
static uint32_t region_of_hub(const struct walk *w, uint32_t hub) { return w->g->region[w->d->block.n + hub]; }

static uint32_t region_of_node(const struct walk *w, uint32_t node)
{
	return node < w->g->step.n ? region_of_warp(w, w->g->step.v[node].warp) : region_of_hub(w, node - w->g->step.n);
}

/* May anything go there? */
static bool passes(const struct walk *w, uint32_t thread, uint32_t hub)
{
	return !w->within || region_of_warp(w, thread / EVENT_LANES) == region_of_hub(w, hub);
}

static void tell_home(const struct walk *w, uint32_t source, uint32_t region)
{
	uint32_t *home = &w->home[SOURCE_NUMBER(source)];

	if (SOURCE_KIND(source) == SOURCE_OPERATION)
		*home = *home == NONE || *home == region ? region : NOWHERE;
}

static void find_homes(struct walk *w)
{
	const struct graph *g = w->g;

	w->home = no_columns(w->d, w->d->nactors);
	for (uint32_t i = 0; i < g->hub.n; i++)
		if (g->hub.v[i].source != NONE)
			tell_home(w, g->hub.v[i].source, region_of_hub(w, i));
	for (uint32_t i = 0; i < g->action.n; i++)
		if (g->action.v[i].act == DO_TOLD)
			tell_home(w, g->action.v[i].hub, region_of_warp(w, g->action.v[i].warp));
}

/* The region that a question is about alone; NOWHERE. */
static uint32_t region_asked(const struct walk *w, const struct question *q)
{
	uint32_t by = q->warp == ASK_HUB ? region_of_hub(w, q->step) : region_of_warp(w, q->warp), of = NOWHERE;

	if (SOURCE_KIND(q->source) == SOURCE_THREAD)
		of = region_of_warp(w, SOURCE_NUMBER(q->source) / EVENT_LANES);
	if (SOURCE_KIND(q->source) == SOURCE_OPERATION)
		of = w->home[SOURCE_NUMBER(q->source)];
	return of == by ? by : NOWHERE;
}

/* ---- learning --------------------------------------------------------------------------------- */

/* To be changed: from here on something is known of it. */
static uint32_t *known(const struct walk *w, uint32_t slot, enum facet f)
{
	uint32_t *v = facet_at(w, slot, f);

	if (!(w->any[slot] >> f & 1))
		memset(v, 0, w->columns * sizeof *v);
	w->any[slot] |= 1u << f;
	return v;
}

static void raise(const struct walk *w, uint32_t slot, enum facet f, uint32_t c, uint32_t to)
{
	uint32_t *v = &known(w, slot, f)[c];

	*v = *v < to ? to : *v;
}

static void learn(const struct walk *w, uint32_t *__restrict__ to, const uint32_t *__restrict__ from)
{
	for (const uint32_t *end = to + w->columns; to < end; to += COLUMNS, from += COLUMNS)
		for (unsigned i = 0; i < COLUMNS; i++)
			to[i] = to[i] < from[i] ? from[i] : to[i];
}

/* One facet learns from another, where both mean something. */
static void learn_facet(const struct walk *w, uint32_t slot, enum facet to, enum facet from)
{
	if (w->any[slot] >> from & 1 && means(w, to))
		learn(w, known(w, slot, to), facet_at(w, slot, from));
}

static bool in_block(unsigned f)
{
	return FACETS_IN_BLOCK >> f & 1;
}

/* What a facet of a head becomes for who joins it that way; FACETS: nothing. */
static unsigned becomes(unsigned f, enum how how)
{
	switch (how) {
	case H_LOOSE:
		return f == F_TENSOR || f == F_BEGUN ? f : FACETS;
	case H_SHARED:
		return f == F_ALL ? F_SHARED : f == F_READS ? FACETS : f;
	case H_READS:
		return f == F_ALL || f == F_SHARED ? F_READS : f;
	case H_PUT:
		return f == F_MINE || f == F_CELLS ? FACETS : f;
	default:
		return f;
	}
}

static void learn_slot(const struct walk *w, uint32_t to, uint32_t from, enum how how, enum apart apart)
{
	EACH_LANE(f, w->any[from]) {
		unsigned t = becomes(f, how);

		if (t != FACETS && (apart == A_BLOCK || !in_block(f)) && means(w, (enum facet)t))
			learn(w, known(w, to, (enum facet)t), facet_at(w, from, (enum facet)f));
	}
}

/* Fences that known fences have published, or will acquire: as far as they mean something that
 * far apart.  `to`, `from`: the first slots. */
static void learn_fences(const struct walk *w, uint32_t to, uint32_t from, enum apart apart)
{
	for (unsigned i = of_scope(w, S_OUT, apart); i < w->per; i++)
		learn_slot(w, to + i, from + i, H_PLAIN, apart);
}

/* ---- actions of one lane -------------------------------------------------------------------------- */

/* Along an edge; `to`, `from`: the first slots. */
static void learn_edge(const struct walk *w, uint32_t to, uint32_t from, enum how how, enum apart apart)
{
	if (how == H_FENCES) {
		learn_slot(w, to + of_scope(w, S_OUT, apart), from + of_scope(w, S_OUT, apart), H_PLAIN, A_BLOCK);
		return;
	}
	learn_slot(w, to, from, how, apart);
	if (how != H_LOOSE)
		learn_fences(w, to, from, apart);
}

static void do_join(const struct walk *w, uint32_t thread, const struct action *a)
{
	uint32_t to = of_lane(w, thread, S_KNOW), from = of_hub(w, a->hub, S_KNOW);

	if (!passes(w, thread, a->hub))
		return;
	if (a->how == H_FENCES)
		learn_slot(w, to + of_scope(w, S_IN, a->apart), from + of_scope(w, S_OUT, a->apart), H_PLAIN, A_BLOCK);
	else
		learn_edge(w, to, from, (enum how)a->how, (enum apart)a->apart);
}

/* A thread's own doings are told where it publishes: what it has joined itself may be its mates'. */
static void raise_own(const struct walk *w, uint32_t slot, enum facet f, uint32_t thread, uint32_t pos)
{
	if (w->of_thread[thread] != NONE)
		raise(w, slot, f, w->of_thread[thread], pos);
}

static void do_put(const struct walk *w, uint32_t thread, const struct action *a)
{
	uint32_t from = of_lane(w, thread, S_KNOW), to = of_hub(w, a->hub, S_KNOW);

	if (!passes(w, thread, a->hub))
		return;
	if (a->how != H_FENCES)
		raise_own(w, to, a->how == H_INITS ? F_INITS : F_ALL, thread, a->pos);
	if (a->how != H_INITS)
		learn_edge(w, to, from, a->how == H_FENCES ? H_FENCES : H_PUT, (enum apart)a->apart);
}

static void do_fence_sc(const struct walk *w, uint32_t thread, const struct action *a)
{
	uint32_t own = of_lane(w, thread, S_KNOW), end = own + of_scope(w, S_OUT, a->arg + 1);

	for (uint32_t slot = own + S_IN; slot < end; slot += 2)
		learn_slot(w, own, slot, H_PLAIN, A_BLOCK);
	for (uint32_t slot = own + S_OUT; slot < end; slot += 2) {
		learn_slot(w, slot, own, H_PLAIN, A_BLOCK);
		raise_own(w, slot, F_ALL, thread, a->pos);
	}
}

static void carry_out(const struct walk *w, uint32_t thread, const struct action *a)
{
	uint32_t know = of_lane(w, thread, S_KNOW);
	uint32_t c;

	switch ((enum act)a->act) {
	case DO_JOIN:
		do_join(w, thread, a);
		break;
	case DO_SC:
		do_fence_sc(w, thread, a);
		break;
	case DO_TOLD:
		c = *column_of(w, a->hub);
		if (c != NONE && means(w, (enum facet)a->facet))
			raise(w, know, (enum facet)a->facet, c, a->arg);
		break;
	case DO_OWN:
		if (means(w, (enum facet)a->facet))
			raise_own(w, know, (enum facet)a->facet, thread, a->pos);
		break;
	case DO_FACET:
		learn_facet(w, know, (enum facet)a->facet, (enum facet)a->arg);
		break;
	case DO_PUT:
		do_put(w, thread, a);
		break;
	}
}

/* ---- the walk ---------------------------------------------------------------------------------------- */

static void walk_step(const struct walk *w, const struct step *s)
{
	EACH_LANE(l, s->lanes & w->g->speakers[s->warp]) {
		uint32_t thread = s->warp * EVENT_LANES + l;

		for (uint32_t k = s->first; k < s->first + s->n; k++)
			if (w->g->action.v[k].lanes >> l & 1)
				carry_out(w, thread, &w->g->action.v[k]);
	}
}

static void walk_hub(const struct walk *w, uint32_t hub)
{
	const struct graph *g = w->g;
	const struct hub *h = &g->hub.v[hub];
	uint32_t c = h->source == NONE ? NONE : *column_of(w, h->source);
	uint32_t to = of_hub(w, hub, S_KNOW);

	if (c != NONE) {
		raise(w, to, F_ALL, c, h->count);
		if (means(w, F_MINE))
			raise(w, to, F_MINE, c, h->count);
		if (h->cells)
			raise(w, to, F_TENSOR, c, h->count);
	}
	for (uint32_t i = g->into.first[hub]; i < g->into.first[hub + 1]; i++) {
		const struct hub_edge *e = &g->edge.v[g->into.item[i]];

		if (g->alike[e->from] != g->alike[hub] && (!w->within || region_of_hub(w, e->from) == region_of_hub(w, hub)))
			learn_edge(w, to, of_hub(w, e->from, S_KNOW), (enum how)e->how, (enum apart)e->apart);
	}
}

/* ---- questions ------------------------------------------------------------------------------------------ */

static void answer(const struct walk *w, const struct question *q, uint32_t *to)
{
	uint32_t c = *column_of(w, q->source);

	memset(to, 0, FACETS * sizeof *to);
	EACH_LANE(l, q->lanes) {
		uint32_t know = q->warp == ASK_HUB ? of_hub(w, q->step, S_KNOW) : of_lane(w, q->warp * EVENT_LANES + l, S_KNOW);

		for (unsigned f = 0; f < FACETS; f++) {
			uint32_t v = w->any[know] >> f & 1 ? facet_at(w, know, (enum facet)f)[c] : 0;

			to[f] = v > to[f] ? v : to[f];
		}
	}
}

/* Questions of one batch, by their step. */
struct asked { const uint32_t *item; uint32_t n, *first, *next; };

static void by_step(struct detect *d, const struct graph *g, const struct answers *a, struct asked *q)
{
	q->first = (uint32_t *)arena_get(&d->arena, g->step.n + 1, sizeof *q->first);
	q->next = (uint32_t *)arena_get(&d->arena, q->n, sizeof *q->next);
	for (uint32_t i = 0; i < q->n; i++) {
		const struct question *x = &a->question.v[q->item[i]];

		if (x->warp == ASK_HUB || x->step == NONE)
			continue;
		q->next[i] = q->first[x->step];
		q->first[x->step] = i + 1;
	}
}

static void walk_node(const struct walk *w, uint32_t node, struct answers *a, const struct asked *q)
{
	const struct graph *g = w->g;

	if (node >= g->step.n) {
		walk_hub(w, node - g->step.n);
		return;
	}
	walk_step(w, &g->step.v[node]);
	for (uint32_t k = q->first[node]; k; k = q->next[k - 1])
		answer(w, &a->question.v[q->item[k - 1]], &a->value.v[q->item[k - 1] * FACETS]);
}

/* ---- cycles -------------------------------------------------------------------------------------------- */

static void copy(const struct walk *w, uint32_t to, uint32_t from)
{
	w->any[to] = w->any[from];
	EACH_LANE(f, w->any[from])
		memcpy(facet_at(w, to, (enum facet)f), facet_at(w, from, (enum facet)f), w->columns * sizeof *w->v);
}

/* Threads begin a cycle anew each time, with what lay in its hubs at the end of the last walk. */
static void begin_cycle(const struct walk *w, const struct cycle *c, bool again)
{
	const struct graph *g = w->g;

	for (uint32_t i = c->first; i < c->end; i++) {
		const struct step *s = &g->step.v[g->walk.v[i]];

		if (g->walk.v[i] >= g->step.n)
			continue;
		EACH_LANE(l, s->lanes & g->speakers[s->warp])
			for (uint32_t k = 0; k < w->per; k++) {
				uint32_t slot = of_lane(w, s->warp * EVENT_LANES + l, k), kept = of_kept(w, slot);

				copy(w, again ? slot : kept, again ? kept : slot);
			}
	}
}

/* What a walk has come to in the hubs of a cycle; two that are alike are the same. */
static uint64_t sum_of(const struct walk *w, const struct cycle *c)
{
	uint64_t sum = 0;

	for (uint32_t i = c->first; i < c->end; i++)
		for (uint32_t k = 0; w->g->walk.v[i] >= w->g->step.n && k < w->per; k++) {
			uint32_t slot = of_hub(w, w->g->walk.v[i] - w->g->step.n, k);

			EACH_LANE(f, w->any[slot])
				for (unsigned x = 0; x < w->columns; x++)
					sum += facet_at(w, slot, (enum facet)f)[x];
		}
	return sum;
}

static void walk_cycle(const struct walk *w, const struct cycle *c, struct answers *a, const struct asked *q)
{
	uint64_t before, sum = 0;
	bool again = false;

	do {
		before = sum;
		begin_cycle(w, c, again);
		again = true;
		for (uint32_t i = c->first; i < c->end; i++)
			walk_node(w, w->g->walk.v[i], a, q);
		sum = sum_of(w, c);
	} while (sum != before);
}

/* All questions about the sources that have a column. */
static void batch(const struct walk *w, struct answers *a, struct asked *q)
{
	const struct graph *g = w->g;
	const struct cycle *c = g->cycle.v, *end = c + g->cycle.n;

	memset(w->any, 0, of_kept(w, 0) * sizeof *w->any);
	by_step(w->d, g, a, q);
	for (uint32_t i = 0; i < g->walk.n;) {
		const bool asked = !w->within || w->taken[region_of_node(w, g->walk.v[i])];

		if (c < end && i == c->first) {
			if (asked)
				walk_cycle(w, c, a, q);
			i = c++->end;
		} else if (!asked) {
			i++;
		} else {
			walk_node(w, g->walk.v[i++], a, q);
		}
	}
	for (uint32_t i = 0; i < q->n; i++)
		if (a->question.v[q->item[i]].warp == ASK_HUB)
			answer(w, &a->question.v[q->item[i]], &a->value.v[q->item[i] * FACETS]);
}

static void start(struct walk *w)
{
	struct detect *d = w->d;
	const struct graph *g = w->g;

	w->speaker = (uint32_t *)arena_get(&d->arena, d->warp.n * EVENT_LANES, sizeof *w->speaker);
	for (uint32_t i = 0; i < d->warp.n; i++)
		EACH_LANE(l, g->speakers[i])
			w->speaker[i * EVENT_LANES + l] = w->nspeakers++;
	w->per = of_scope(w, S_OUT, A_DEVICE + 1);
	w->of_thread = no_columns(d, d->warp.n * EVENT_LANES);
	w->of_operation = no_columns(d, d->nactors);
	w->of_block = no_columns(d, d->block.n);
	w->of_launch = no_columns(d, d->launch.n);
	w->taken = (uint32_t *)arena_get(&d->arena, g->nregions + 1, sizeof *w->taken);
	find_homes(w);
}

/* As many columns as the sources of a region are, or of all, if there is room. */
static void make_columns(struct walk *w, const struct answers *a, const uint32_t *item, uint32_t n)
{
	const struct graph *g = w->g;
	const size_t slots = (2 * (size_t)w->nspeakers + g->nalike) * w->per;
	uint32_t most = 0, all = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct question *q = &a->question.v[item[i]];
		const uint32_t region = region_asked(w, q);
		uint32_t *sources = region == NOWHERE ? &all : &w->taken[region];

		if (*column_of(w, q->source) == NONE)
			most = ++*sources > most ? *sources : most;
		*column_of(w, q->source) = 0;
	}
	for (uint32_t i = 0; i < n; i++)
		*column_of(w, a->question.v[item[i]].source) = NONE;
	memset(w->taken, 0, (g->nregions + 1) * sizeof *w->taken);
	for (w->columns = COLUMNS; w->columns < most && w->columns < MOST_COLUMNS && slots * g->nfacets * (w->columns + COLUMNS) <= ROOM;)
		w->columns += COLUMNS;
	w->v = (uint32_t *)arena_raw(&w->d->arena, slots * g->nfacets * w->columns, sizeof *w->v);
	w->any = (uint32_t *)arena_get(&w->d->arena, slots, sizeof *w->any);
}

/* Of the `n` questions, those about a region alone, or the others, go to the front; how many. */
static uint32_t pick(const struct walk *w, const struct answers *a, uint32_t *item, uint32_t n)
{
	uint32_t picked = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t x = item[i];

		if ((region_asked(w, &a->question.v[x]) != NOWHERE) != w->within)
			continue;
		item[i] = item[picked];
		item[picked++] = x;
	}
	return picked;
}

/* Of the `n` questions, those for whose sources there are columns go to the front; how many. */
static uint32_t fill(const struct walk *w, const struct answers *a, uint32_t *item, uint32_t n)
{
	uint32_t filled = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct question *q = &a->question.v[item[i]];
		uint32_t *taken = &w->taken[w->within ? region_asked(w, q) : 0], *column = column_of(w, q->source), x = item[i];

		if (*column == NONE && *taken == w->columns)
			continue;
		if (*column == NONE)
			*column = (*taken)++;
		item[i] = item[filled];
		item[filled++] = x;
	}
	return filled;
}

static void answer_these(struct walk *w, struct answers *a, uint32_t *item, uint32_t n)
{
	while (n) {
		struct asked q = {item, fill(w, a, item, n), NULL, NULL};

		batch(w, a, &q);
		for (uint32_t i = 0; i < q.n; i++)
			*column_of(w, a->question.v[item[i]].source) = NONE;
		memset(w->taken, 0, (w->g->nregions + 1) * sizeof *w->taken);
		item += q.n;
		n -= q.n;
	}
}

void answer_all(struct detect *d, const struct graph *g, struct answers *a)
{
	struct walk w = {.d = d, .g = g};
	uint32_t n = a->question.n - a->asked, within, *item = (uint32_t *)arena_get(&d->arena, n, sizeof *item);

	if (!n)
		return;
	for (uint32_t i = 0; i < n; i++)
		item[i] = a->asked + i;
	ADD_MANY(&a->value, n * FACETS);
	start(&w);
	make_columns(&w, a, item, n);
	w.within = true;
	within = pick(&w, a, item, n);
	answer_these(&w, a, item, within);
	w.within = false;
	answer_these(&w, a, item + within, n - within);
	a->asked = a->question.n;
}

/* ---- asking ------------------------------------------------------------------------------------------------ */

/* Mates all know the same, and the same is known of each. */
static uint32_t speakers(const struct graph *g, uint32_t warp, uint32_t lanes)
{
	uint32_t of = 0;

	EACH_LANE(l, lanes)
		of |= 1u << speaker(g, warp * EVENT_LANES + l) % EVENT_LANES;
	return of;
}

const uint32_t *ask(const struct court *c, struct question q)
{
	struct answers *a = c->answers;
	uint64_t what, whom;
	uint32_t number;

	if (SOURCE_KIND(q.source) == SOURCE_THREAD)
		q.source = SOURCE(SOURCE_THREAD, speaker(c->g, SOURCE_NUMBER(q.source)));
	q.lanes = q.warp == ASK_HUB ? 1 : speakers(c->g, q.warp, q.lanes);
	what = (uint64_t)q.source << 32 | q.step;
	whom = (uint64_t)q.warp << 32 | q.lanes;
	number = index_get(&a->number, what, whom);
	if (number)
		return number <= a->asked ? &a->value.v[(number - 1) * FACETS] : NULL;
	*ADD(&a->question) = q;
	index_set(&a->number, what, whom, a->question.n);
	return NULL;
}

void settle(const struct court *c, pass_fn *pass, void *arg)
{
	while (pass(c, arg, false))
		answer_all(c->d, c->g, c->answers);
	pass(c, arg, true);
}

void free_answers(struct answers *a)
{
	list_free(&a->question.list);
	list_free(&a->value.list);
	list_free(&a->number.entry.list);
	memset(a, 0, sizeof *a);
}
