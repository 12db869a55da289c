/* SPDX-License-Identifier: Apache-2.0
 *
 * fence.c: the order of fence.sc (memory-model.md 1.2, 5).  Two of them in each other's scope
 * are ordered if the other order contradicts what was observed: F1 comes before F2 if an
 * access behind F1 comes before one in front of F2 in the order of one word's accesses: it
 * was read, or written over, or read before it was written over.  What is in front and
 * behind reaches through all other order: S_OUT and S_IN go along with what is known.
 *
 * Writes of which either may be the first have one place in a word's order, and order both
 * ways: too many fences are ordered then, and none too few.
 *
 * Fences of a scope need what is told in that scope alone: a wider one tells all that a narrower one does.
 */
#include <string.h>

#include "detect/word.h"

struct places {
	struct word *w;
	uint32_t *of;                   /* a write's place, from 1 on; of others 0 */
	uint32_t n;                     /* the last place */
	uint32_t *alone;                /* is one write alone in it? */
};

/* Writes are in the order in which they began. */
static void find_places(struct places *p)
{
	const struct word *w = p->w;
	uint64_t end = 0;

	for (uint32_t i = 0; i < w->nwrites; i++) {
		const struct writing *x = &w->write[i];

		if (!i || x->begin > end)
			p->n++;
		p->of[x->op] = p->n;
		p->alone[p->n]++;
		w->d->counter[DETECT_INEXACT_READS] += !op_of(w, x->op)->size && p->alone[p->n] > 1 && !w->g->world;
		end = x->end > end ? x->end : end;
	}
}

/* The places of what a read may have seen; 0: what was there before all writes. */
static void seen_places(const struct places *p, uint32_t read, uint32_t *first, uint32_t *last)
{
	const struct word *w = p->w;
	const struct word_op *r = op_of(w, read);
	uint32_t lo = 0, hi = w->nwrites;

	*first = *last = 0;
	if (r->npred) {                 /* in order, as places are */
		const struct seen_bits *x = &w->d->pred.v[r->pred], *y = x + r->nbits - 1;

		*first = p->of[w->write[x->at * EVENT_LANES + event_first(x->mask)].op];
		*last = p->of[w->write[y->at * EVENT_LANES + last_bit(y->mask)].op];
	}
	if (may_see_first(w, r))
		*first = 0;
	if (r->valued_read)
		return;
	/* Any of those that began before it was over. */
	BISECT(lo, hi, w->write[mid].begin <= r->end);
	*last = lo ? p->of[w->write[lo - 1].op] : *last;
}

/* Threads of one scope: hubs of what writers and readers up to a place have behind them; NONE: nobody
 * has. */
struct chains { uint32_t *written, *read; enum apart scope; };

static void get(const struct places *p, const struct chains *c, const struct word_op *o, uint32_t hub)
{
	if (hub != NONE)
		join(p->w->g, event_of(p->w, o), 1u << o->lane, hub, (struct edge_kind){H_FENCES, NOW, (uint8_t)c->scope});
}

/* Where an operation puts what is behind it; NULL: nothing was written over what it read. */
static uint32_t *puts_at(const struct places *p, const struct chains *c, uint32_t i)
{
	uint32_t first, last;

	if (op_of(p->w, i)->writes)
		return &c->written[p->of[i]];
	seen_places(p, i, &first, &last);
	return first == p->n ? NULL : &c->read[first + 1];
}

static void gather(const struct places *p, const struct chains *c, uint32_t i)
{
	const struct word_op *o = op_of(p->w, i);
	uint32_t place = p->of[i], first, last = place, before, *to = puts_at(p, c, i);
	struct action *a;

	if (!o->writes)
		seen_places(p, i, &first, &last);
	before = !o->writes || p->alone[place] > 1 ? last : last - 1;
	get(p, c, o, c->written[before]);
	get(p, c, o, c->read[last]);    /* what was read before that was written */
	if (!to)
		return;
	a = act(p->w->g, event_of(p->w, o), 1u << o->lane, DO_PUT);
	a->hub = *to;
	a->how = H_FENCES;
	a->apart = (uint8_t)c->scope;
}

/* A hub for each place into which somebody puts, behind the one before it; others have that one. */
static void add_chain(const struct places *p, uint32_t *hub, enum apart scope)
{
	uint32_t before = NONE;

	for (uint32_t k = 0; k <= p->n; k++) {
		uint32_t here = hub[k] == NONE ? NONE : new_hub(p->w->g);

		if (here != NONE && before != NONE)
			join_hubs(p->w->g, here, before, (struct edge_kind){H_FENCES, NOW, (uint8_t)scope});
		before = here != NONE ? here : before;
		hub[k] = before;
	}
}

static bool is_of(const struct places *p, const struct chains *c, uint32_t i, uint32_t k)
{
	const struct word_op *o = op_of(p->w, k);

	return (o->reads || o->writes) && apart_of(p->w->d, block_at(p->w, op_of(p->w, i)), block_at(p->w, o)) <= c->scope;
}

/* Of the operations from `i` on those of the same scope as the i-th. */
static void of_scope(const struct places *p, uint32_t i, const struct chains *c, bool *done)
{
	memset(c->written, 0xff, (p->n + 2) * sizeof *c->written);
	memset(c->read, 0xff, (p->n + 2) * sizeof *c->read);
	for (uint32_t k = i; k < p->w->n; k++) {
		uint32_t *to = is_of(p, c, i, k) ? puts_at(p, c, k) : NULL;

		if (to)
			*to = 0;
	}
	add_chain(p, c->written, c->scope);
	add_chain(p, c->read, c->scope);
	for (uint32_t k = i; k < p->w->n; k++) {
		if (!is_of(p, c, i, k))
			continue;
		gather(p, c, k);
		done[k] = true;
	}
}

void link_fences(struct word *w)
{
	struct arena *a = &w->d->arena;
	bool *done = (bool *)arena_raw(a, w->n, sizeof *done);
	struct places p = {w, (uint32_t *)arena_get(a, w->n, sizeof *p.of), 0, (uint32_t *)arena_get(a, w->n + 1, sizeof *p.alone)};
	struct chains c;

	find_places(&p);
	c.written = (uint32_t *)arena_raw(a, p.n + 2, sizeof *c.written);
	c.read = (uint32_t *)arena_raw(a, p.n + 2, sizeof *c.read);
	EACH_LANE(scope, w->g->fences) {
		c.scope = (enum apart)scope;
		memset(done, 0, w->n * sizeof *done);
		for (uint32_t i = 0; i < w->n; i++)
			if (!done[i] && (op_of(w, i)->reads || op_of(w, i)->writes))
				of_scope(&p, i, &c, done);
	}
}
