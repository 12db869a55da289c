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
 */
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
		const struct word_op *o = op_of(w, w->write[i]);

		if (!i || o->begin > end)
			p->n++;
		p->of[w->write[i]] = p->n;
		p->alone[p->n]++;
		w->d->counter[DETECT_INEXACT_READS] += !o->size && p->alone[p->n] > 1 && !w->g->world;
		end = o->end > end ? o->end : end;
	}
}

/* The places of what a read may have seen; 0: what was there before all writes. */
static void seen_places(const struct places *p, uint32_t read, uint32_t *first, uint32_t *last)
{
	const struct word *w = p->w;
	const struct word_op *r = op_of(w, read);

	*first = r->npred ? p->n : 0;
	*last = 0;
	for (uint32_t k = r->pred; k < r->pred + r->npred; k++) {
		uint32_t at = p->of[w->d->pred.v[k]];

		*first = at < *first ? at : *first;
		*last = at > *last ? at : *last;
	}
	if (may_see_first(w, r))
		*first = 0;
	if (!r->valued_read)            /* any of those that began before it was over */
		for (uint32_t i = 0; i < w->nwrites && op_of(w, w->write[i])->begin <= r->end; i++)
			*last = p->of[w->write[i]];
}

/* Threads of one scope: hubs of what writers and readers up to a place have behind them. */
struct chains { uint32_t *written, *read; enum apart scope; };

static void gather(const struct places *p, const struct chains *c, uint32_t i)
{
	const struct word *w = p->w;
	const struct word_op *o = op_of(w, i);
	const struct event *e = event_of(w, o);
	struct edge_kind in = {H_FENCES, NOW, (uint8_t)c->scope};
	uint32_t lanes = 1u << o->lane, place = p->of[i], first = place, last = place, before;
	struct action *a;

	if (!o->writes)
		seen_places(p, i, &first, &last);
	before = !o->writes || p->alone[place] > 1 ? last : last - 1;
	if (before)
		join(w->g, e, lanes, c->written[before], in);
	if (last)                       /* what was read before that was written */
		join(w->g, e, lanes, c->read[last], in);
	if (!o->writes && first == p->n)
		return;                 /* nothing was written over what it read */
	a = act(w->g, e, lanes, DO_PUT);
	a->hub = o->writes ? c->written[place] : c->read[first + 1];
	a->how = H_FENCES;
	a->apart = (uint8_t)c->scope;
}

/* A hub for each place, behind that of the place before. */
static void add_chain(const struct places *p, uint32_t *hub, enum apart scope)
{
	for (uint32_t k = 0; k <= p->n; k++) {
		hub[k] = new_hub(p->w->g);
		if (k)
			join_hubs(p->w->g, hub[k], hub[k - 1], (struct edge_kind){H_FENCES, NOW, (uint8_t)scope});
	}
}

/* Of the operations from `i` on those of the same scope as the i-th. */
static void of_scope(const struct places *p, uint32_t i, struct chains *c, uint32_t *done)
{
	const struct word *w = p->w;

	add_chain(p, c->written, c->scope);
	add_chain(p, c->read, c->scope);
	for (uint32_t k = i; k < w->n; k++) {
		const struct word_op *o = op_of(w, k);

		if (apart_of(w->d, block_at(w, op_of(w, i)), block_at(w, o)) > c->scope)
			continue;
		if (o->reads || o->writes)
			gather(p, c, k);
		done[k] = c->scope + 1;
	}
}

void link_fences(struct word *w)
{
	struct arena *a = &w->d->arena;
	uint32_t *done = (uint32_t *)arena_get(a, w->n, sizeof *done), *of = (uint32_t *)arena_get(a, w->n, sizeof *of);
	struct places p = {w, of, 0, (uint32_t *)arena_get(a, w->n + 1, sizeof *p.alone)};
	struct chains c;

	find_places(&p);
	c.written = (uint32_t *)arena_get(&w->d->arena, p.n + 2, sizeof *c.written);
	c.read = (uint32_t *)arena_get(&w->d->arena, p.n + 2, sizeof *c.read);
	for (unsigned scope = A_BLOCK; scope <= A_DEVICE; scope++) {
		c.scope = (enum apart)scope;
		for (uint32_t i = 0; i < w->n; i++)
			if (done[i] <= scope)
				of_scope(&p, i, &c, done);
	}
}
