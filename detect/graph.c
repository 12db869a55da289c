/* SPDX-License-Identifier: Apache-2.0
 *
 * graph.c: the parts that chapters make the graph of, and an order in which it can be walked.
 */
#include "detect/impl.h"

uint32_t new_hub(struct graph *g)
{
	struct hub *h = ADD(&g->hub);

	h->source = NONE;
	return g->hub.n - 1;
}

uint32_t end_hub(struct graph *g, uint32_t source, uint32_t count, bool cells)
{
	uint32_t at = new_hub(g);
	struct hub *h = &g->hub.v[at];

	h->source = source;
	h->count = count;
	h->cells = cells;
	return at;
}

struct action *act(struct graph *g, const struct event *e, uint32_t lanes, enum act what)
{
	struct action *a = ADD(&g->action);

	a->timer = e->timer[EVENT_BEFORE];
	a->warp = e->warp;
	a->pos = e->pos;
	a->lanes = lanes;
	a->act = (uint8_t)what;
	a->hub = NONE;
	return a;
}

void put(struct graph *g, const struct event *e, uint32_t lanes, uint32_t hub, enum how how)
{
	struct action *a = act(g, e, lanes, DO_PUT);

	a->hub = hub;
	a->how = (uint8_t)how;
}

void add_take(struct graph *g, const struct event *e, enum apart reach, bool shared)
{
	struct take *t = ADD(&g->take);

	t->event = e;
	t->reach = (uint8_t)reach;
	t->shared = shared;
}

static void join_now(struct graph *g, const struct event *e, uint32_t lanes, uint32_t hub, struct edge_kind k)
{
	struct action *a = act(g, e, lanes, DO_JOIN);

	a->hub = hub;
	a->how = k.how;
	a->apart = k.apart;
}

/* The first fence of that warp behind the event. */
static uint32_t take_behind(const struct graph *g, const struct event *e)
{
	uint32_t lo = 0, hi = g->take.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (g->take.v[mid].event <= e)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Events lie by warp and place. */
void join(struct graph *g, const struct event *e, uint32_t lanes, uint32_t hub, struct edge_kind k)
{
	if (k.when == NOW) {
		join_now(g, e, lanes, hub, k);
		return;
	}
	for (uint32_t i = take_behind(g, e); lanes && i < g->take.n && g->take.v[i].event->warp == e->warp; i++) {
		const struct take *t = &g->take.v[i];
		uint32_t here = t->reach + LATER >= k.when ? lanes & t->event->lanes : 0;
		struct edge_kind some = {H_SHARED, NOW, k.apart};

		if (here && !t->shared)
			join_now(g, t->event, here, hub, k);
		else if (here && (k.how == H_PLAIN || k.how == H_SHARED))
			join_now(g, t->event, here, hub, some);
		lanes &= t->shared ? lanes : ~here;
	}
}

void join_hubs(struct graph *g, uint32_t to, uint32_t from, struct edge_kind k)
{
	struct hub_edge *x = ADD(&g->edge);

	x->from = from;
	x->to = to;
	x->how = k.how;
	x->apart = k.apart;
}

enum apart apart_of(const struct detect *d, uint32_t block, uint32_t other)
{
	const struct block *a = &d->block.v[block], *b = &d->block.v[other];

	if (block == other)
		return A_BLOCK;
	return a->launch == b->launch && a->cluster == b->cluster ? A_CLUSTER : A_DEVICE;
}

bool meets(const struct graph *g, enum apart reach, enum apart other, enum apart between)
{
	return (g->world & W_WIDE) || (reach >= between && other >= between);
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* In one event a thread acquires first, then changes what it knows, then publishes. */
static unsigned rank_of(const struct action *a)
{
	return a->act == DO_PUT ? 2 : a->act == DO_JOIN ? 0 : 1;
}

static void sort_actions(struct detect *d, struct graph *g)
{
	uint64_t *key = (uint64_t *)arena_get(&d->arena, g->action.n, sizeof *key);

	for (uint32_t i = 0; i < g->action.n; i++) {
		const struct action *a = &g->action.v[i];

		key[i] = (uint64_t)a->warp << 34 | (uint64_t)a->pos << 2 | rank_of(a);
	}
	sort_list(&d->arena, &g->action.list, sizeof *g->action.v, key);
}

static void make_steps(struct detect *d, struct graph *g)
{
	g->of_warp = (uint32_t *)arena_get(&g->arena, d->warp.n + 1, sizeof *g->of_warp);
	for (uint32_t i = 0; i < g->action.n; i++) {
		const struct action *a = &g->action.v[i];
		struct step *s = g->step.n ? &g->step.v[g->step.n - 1] : NULL;

		if (!s || s->warp != a->warp || s->pos != a->pos) {
			s = ADD(&g->step);
			s->warp = a->warp;
			s->pos = a->pos;
			s->first = i;
			g->of_warp[a->warp + 1]++;
		}
		s->lanes |= a->lanes;
		s->n++;
	}
	for (uint32_t w = 0; w < d->warp.n; w++)
		g->of_warp[w + 1] += g->of_warp[w];
}

/* The last step of these lanes at that place or before it; NONE. */
uint32_t step_before(const struct graph *g, uint32_t warp, uint32_t lanes, uint32_t pos)
{
	uint32_t lo = g->of_warp[warp], hi = g->of_warp[warp + 1], first = lo;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (g->step.v[mid].pos <= pos)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo > first && !(g->step.v[lo - 1].lanes & lanes))
		lo--;
	return lo > first ? lo - 1 : NONE;
}

/* Edges by the hub that they lead to. */
static void sort_edges(struct detect *d, struct graph *g)
{
	uint64_t *key = (uint64_t *)arena_get(&d->arena, g->edge.n, sizeof *key);

	g->into = (uint32_t *)arena_get(&g->arena, g->hub.n + 1, sizeof *g->into);
	for (uint32_t i = 0; i < g->edge.n; i++) {
		key[i] = g->edge.v[i].to;
		g->into[g->edge.v[i].to + 1]++;
	}
	sort_list(&d->arena, &g->edge.list, sizeof *g->edge.v, key);
	for (uint32_t h = 0; h < g->hub.n; h++)
		g->into[h + 1] += g->into[h];
}

/* ---- an order to walk in -------------------------------------------------------------------------
 *
 * Nodes are steps, then hubs.  What a node needs: a step, the last steps of its lanes and the
 * hubs that it joins; a hub, the steps that put into it and the hubs that it joins.  What may
 * have been acquired is a superset, which can go round: then the first step that waits goes
 * on, and the walk is repeated until nothing changes.
 */
struct needs { uint32_t *first, *to, *left, nnodes; };

struct pair { uint32_t from, to; };
struct pairs { LIST(struct pair) p; };

static void need(struct pairs *l, uint32_t from, uint32_t to)
{
	struct pair *p = ADD(&l->p);

	p->from = from;
	p->to = to;
}

static void step_needs(const struct graph *g, struct pairs *l)
{
	uint32_t last[EVENT_LANES], warp = NONE;

	for (uint32_t i = 0; i < g->step.n; i++) {
		const struct step *s = &g->step.v[i];
		uint32_t needed = NONE;

		if (s->warp != warp)
			for (unsigned k = 0; k < EVENT_LANES; k++)
				last[k] = NONE;
		warp = s->warp;
		for (unsigned k = 0; k < EVENT_LANES; k++) {
			if (!(s->lanes >> k & 1))
				continue;
			if (last[k] != NONE && last[k] != needed)
				need(l, last[k], i);
			needed = last[k];
			last[k] = i;
		}
		for (uint32_t k = s->first; k < s->first + s->n; k++) {
			const struct action *a = &g->action.v[k];

			if (a->act == DO_JOIN)
				need(l, g->step.n + a->hub, i);
			if (a->act == DO_PUT)
				need(l, i, g->step.n + a->hub);
		}
	}
	for (uint32_t i = 0; i < g->edge.n; i++)
		need(l, g->step.n + g->edge.v[i].from, g->step.n + g->edge.v[i].to);
}

static void count_needs(struct detect *d, const struct graph *g, struct needs *n)
{
	struct pairs l = {{{0}}};

	step_needs(g, &l);
	n->nnodes = g->step.n + g->hub.n;
	n->first = (uint32_t *)arena_get(&d->arena, n->nnodes + 1, sizeof *n->first);
	n->left = (uint32_t *)arena_get(&d->arena, n->nnodes, sizeof *n->left);
	n->to = (uint32_t *)arena_get(&d->arena, l.p.n, sizeof *n->to);
	for (uint32_t i = 0; i < l.p.n; i++) {
		n->first[l.p.v[i].from + 1]++;
		n->left[l.p.v[i].to]++;
	}
	for (uint32_t i = 0; i < n->nnodes; i++)
		n->first[i + 1] += n->first[i];
	for (uint32_t i = l.p.n; i-- > 0;)
		n->to[--n->first[l.p.v[i].from + 1]] = l.p.v[i].to;
	/* Counted down to the start of each: the next one's start is its end. */
	for (uint32_t i = 0; i < n->nnodes; i++)
		n->first[i] = n->first[i + 1];
	n->first[n->nnodes] = l.p.n;
	list_free(&l.p.list);
}

static void reach(struct graph *g, struct needs *n, uint32_t node)
{
	*ADD(&g->walk) = node < g->step.n ? node : HUB | (node - g->step.n);
	n->left[node] = NONE;           /* done */
}

/* A step or a hub that waits for what waits for it. */
static bool force(struct detect *d, struct graph *g, struct needs *n, uint32_t *from)
{
	for (; *from < n->nnodes; ++*from) {
		if (n->left[*from] == NONE)
			continue;
		g->cyclic = true;
		if (!(g->world))
			d->counter[DETECT_CYCLES]++;
		reach(g, n, *from);
		return true;
	}
	return false;
}

static void order_walk(struct detect *d, struct graph *g)
{
	struct needs n;
	uint32_t done = 0, from = 0;

	count_needs(d, g, &n);
	for (uint32_t i = 0; i < n.nnodes; i++)
		if (!n.left[i])
			reach(g, &n, i);
	do {
		for (; done < g->walk.n; done++) {
			uint32_t node = g->walk.v[done];

			node = node & HUB ? g->step.n + (node & ~HUB) : node;
			for (uint32_t k = n.first[node]; k < n.first[node + 1]; k++)
				if (n.left[n.to[k]] != NONE && !--n.left[n.to[k]])
					reach(g, &n, n.to[k]);
		}
	} while (force(d, g, &n, &from));
}

/* ---- times ------------------------------------------------------------------------------------ */

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void time_step(const struct graph *g, uint32_t at, uint64_t *lane)
{
	const struct step *s = &g->step.v[at];
	uint64_t t = 0;

	for (unsigned l = 0; l < EVENT_LANES; l++)
		if (s->lanes >> l & 1)
			t = later(t, lane[s->warp * EVENT_LANES + l]);
	for (uint32_t i = s->first; i < s->first + s->n; i++) {
		const struct action *a = &g->action.v[i];

		t = later(t, a->timer);
		if (a->act == DO_JOIN)
			t = later(t, g->time[g->step.n + a->hub] + 1);
	}
	g->time[at] = t;
	for (unsigned l = 0; l < EVENT_LANES; l++)
		if (s->lanes >> l & 1)
			lane[s->warp * EVENT_LANES + l] = t;
	for (uint32_t i = s->first; i < s->first + s->n; i++)
		if (g->action.v[i].act == DO_PUT)
			g->time[g->step.n + g->action.v[i].hub] = later(t, g->time[g->step.n + g->action.v[i].hub]);
}

/* Not every event has a timer of its own, and those of two multiprocessors are coarse: what comes
 * behind something gets a later time than that. */
static void set_times(struct detect *d, struct graph *g)
{
	uint64_t *lane = (uint64_t *)arena_get(&d->arena, d->warp.n * EVENT_LANES, sizeof *lane);

	g->time = (uint64_t *)arena_get(&g->arena, g->step.n + g->hub.n, sizeof *g->time);
	for (uint32_t i = 0; i < g->walk.n; i++) {
		uint32_t node = g->walk.v[i], hub = node & ~HUB;

		if (!(node & HUB)) {
			time_step(g, node, lane);
			continue;
		}
		for (uint32_t k = g->into[hub]; k < g->into[hub + 1]; k++)
			g->time[g->step.n + hub] = later(g->time[g->step.n + hub], g->time[g->step.n + g->edge.v[k].from]);
	}
}

uint64_t time_at(const struct graph *g, const struct access *a)
{
	uint32_t step = step_before(g, a->warp, a->lanes, a->pos);

	return step == NONE ? a->timer : later(a->timer, g->time[step]);
}

void finish_graph(struct detect *d, struct graph *g)
{
	sort_actions(d, g);
	sort_edges(d, g);
	make_steps(d, g);
	order_walk(d, g);
	set_times(d, g);
	make_direct(d, g);
}

void free_graph(struct graph *g)
{
	list_free(&g->action.list);
	list_free(&g->hub.list);
	list_free(&g->edge.list);
	list_free(&g->take.list);
	list_free(&g->step.list);
	list_free(&g->walk.list);
	list_free(&g->direct.put.list);
	arena_reset(&g->arena);
}
