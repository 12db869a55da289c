/* SPDX-License-Identifier: Apache-2.0
 *
 * direct.c: the short way to an answer that most pairs have: the later thread has joined, not long
 * before, a hub that the earlier one put into behind its access.  It is a part of what closure.c
 * finds, which detect=reference asks instead.
 */
#include "detect/impl.h"

enum { LOOKS = 8 };             /* steps of the later thread that are looked at */

/* ---- tables -------------------------------------------------------------------------------------- */

/* Who put into a hub, itself or by way of one hub before it: by hub and warp, or by hub and source
 * of what has ended. */
static void add(struct direct *t, uint64_t hub, uint32_t who, uint32_t pos, uint32_t lanes)
{
	*ADD(&t->put) = (struct put){hub << 32 | who, pos, lanes};
}

static bool plain(unsigned how)
{
	return how == H_PLAIN || how == H_DONE;
}

static void sort_puts(struct detect *d, struct direct *t)
{
	uint64_t *key = (uint64_t *)arena_get(&d->arena, t->put.n, sizeof *key);

	for (uint32_t i = 0; i < t->put.n; i++)
		key[i] = t->put.v[i].key;
	sort_list(&d->arena, &t->put.list, sizeof *t->put.v, key);
}

void make_direct(struct detect *d, struct graph *g)
{
	struct direct *t = &g->direct;
	uint32_t *first = (uint32_t *)arena_get(&d->arena, g->hub.n + 1, sizeof *first);

	for (uint32_t i = 0; i < g->action.n; i++) {
		const struct action *a = &g->action.v[i];

		if (a->act == DO_PUT && a->how == H_PLAIN)
			add(t, a->hub, a->warp, a->pos, a->lanes);
	}
	for (uint32_t h = 0; h < g->hub.n; h++)
		if (g->hub.v[h].source != NONE)
			add(t, h, g->hub.v[h].source, g->hub.v[h].count, ~0u);
	sort_puts(d, t);
	for (uint32_t i = 0; i < t->put.n; i++)
		first[(t->put.v[i].key >> 32) + 1]++;
	for (uint32_t h = 0; h < g->hub.n; h++)
		first[h + 1] += first[h];
	for (uint32_t k = 0; k < g->edge.n; k++) {
		const struct hub_edge *e = &g->edge.v[k];

		for (uint32_t i = first[e->from]; plain(e->how) && i < first[e->from + 1]; i++)
			add(t, e->to, (uint32_t)t->put.v[i].key, t->put.v[i].pos, t->put.v[i].lanes);
	}
	sort_puts(d, t);
}

/* ---- asking ----------------------------------------------------------------------------------------- */

static bool has_put(const struct direct *t, uint64_t hub, uint32_t who, uint32_t lanes, uint32_t pos)
{
	uint64_t key = hub << 32 | who;
	uint32_t lo = 0, hi = t->put.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->put.v[mid].key < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < t->put.n && t->put.v[lo].key == key; lo++)
		if (t->put.v[lo].pos >= pos && t->put.v[lo].lanes & lanes)
			return true;
	return false;
}

static bool step_tells(const struct graph *g, const struct step *s, const struct access *a, uint32_t pos, uint32_t lanes)
{
	bool thread = SOURCE_KIND(a->source) == SOURCE_THREAD;

	for (uint32_t i = s->first; i < s->first + s->n; i++) {
		const struct action *x = &g->action.v[i];

		if (!(x->lanes & lanes))
			continue;
		if (x->act == DO_ENDS && x->hub == a->source && x->arg >= a->number)
			return true;
		if (x->act == DO_JOIN && plain(x->how) &&
		    has_put(&g->direct, x->hub, thread ? a->warp : a->source, thread ? a->lanes : ~0u, pos))
			return true;
	}
	return false;
}

/* Did the thread of `b` learn of the source of `a` up to that place? */
static bool told(const struct graph *g, const struct access *a, const struct access *b, uint32_t pos)
{
	uint32_t s = step_before(g, b->warp, b->lanes, b->pos);

	for (unsigned n = 0; s != NONE && n < LOOKS; n++) {
		if (step_tells(g, &g->step.v[s], a, pos, b->lanes))
			return true;
		s = s > g->of_warp[b->warp] ? s - 1 : NONE;
	}
	return false;
}

bool direct_order(const struct graph *g, const struct access *a, const struct access *b)
{
	return told(g, a, b, a->number);
}

/* In one block: fence.proxy.async by who made the access, behind it, and then an edge. */
bool direct_fence(const struct graph *g, const struct access *a, const struct access *b, unsigned space)
{
	uint32_t before = step_before(g, a->warp, a->lanes, a->pos);

	if (SOURCE_KIND(a->source) != SOURCE_THREAD)
		return false;
	for (uint32_t s = before == NONE ? g->of_warp[a->warp] : before + 1; s < g->of_warp[a->warp + 1]; s++)
		for (uint32_t i = g->step.v[s].first; i < g->step.v[s].first + g->step.v[s].n; i++) {
			const struct action *x = &g->action.v[i];

			if (x->act == DO_PROXY && x->arg & space && x->lanes & a->lanes)
				return (a->warp == b->warp && a->lanes == b->lanes && x->pos <= b->pos) || told(g, a, b, x->pos);
		}
	return false;
}
