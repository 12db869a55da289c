/* SPDX-License-Identifier: Apache-2.0
 *
 * graph.c: the parts that chapters make the graph of, and an order in which it can be walked.
 */
#include <string.h>

#include "detect/impl.h"

uint32_t end_hub(struct graph *g, uint32_t source, uint32_t count, bool cells)
{
	*ADD(&g->hub) = (struct hub){source, count, cells};
	return g->hub.n - 1;
}

uint32_t new_hub(struct graph *g)
{
	return end_hub(g, NONE, 0, false);
}

static struct action action_of(const struct event *e, uint32_t lanes, enum act what)
{
	return (struct action){
		.timer = e->timer[EVENT_BEFORE], .warp = e->warp, .pos = e->pos, .lanes = lanes, .hub = NONE, .act = (uint8_t)what
	};
}

struct action *act(struct graph *g, const struct event *e, uint32_t lanes, enum act what)
{
	struct action *a = ADD(&g->action);

	*a = action_of(e, lanes, what);
	return a;
}

static bool alike(const struct action *a, const struct action *b)
{
	return a->act == b->act && a->facet == b->facet && a->hub == b->hub && a->arg == b->arg && a->how == b->how && a->apart == b->apart;
}

/* Most is done for one lane after the other: where that is the same, it is one action from the start (make_steps). */
static void add_action(struct graph *g, const struct action *a)
{
	struct action *last = g->action.n ? &g->action.v[g->action.n - 1] : NULL;

	if (last && last->warp == a->warp && last->pos == a->pos && alike(last, a))
		last->lanes |= a->lanes;
	else
		*ADD(&g->action) = *a;
}

void tell(struct graph *g, const struct event *e, uint32_t lanes, enum facet f, uint32_t source, uint32_t upto)
{
	struct action a = action_of(e, lanes, DO_TOLD);

	a.facet = (uint8_t)f;
	a.hub = source;
	a.arg = upto;
	add_action(g, &a);
}

void tell_end(struct graph *g, const struct event *e, uint32_t lanes, enum facet as, uint32_t source, uint32_t upto)
{
	tell(g, e, lanes, F_ALL, source, upto);
	tell(g, e, lanes, as, source, upto);
}

void put(struct graph *g, const struct event *e, uint32_t lanes, uint32_t hub, enum how how)
{
	struct action a = action_of(e, lanes, DO_PUT);

	a.hub = hub;
	a.how = (uint8_t)how;
	add_action(g, &a);
}

void add_take(struct graph *g, const struct event *e, enum apart reach, bool shared)
{
	*ADD(&g->take) = (struct take){e, (uint8_t)reach, shared};
}

static void join_now(struct graph *g, const struct event *e, uint32_t lanes, uint32_t hub, struct edge_kind k)
{
	struct action a = action_of(e, lanes, DO_JOIN);

	a.hub = hub;
	a.how = k.how;
	a.apart = k.apart;
	add_action(g, &a);
}

/* Events lie by warp and place. */
void join(struct graph *g, const struct event *e, uint32_t lanes, uint32_t hub, struct edge_kind k)
{
	uint32_t i = 0, n = g->take.n;

	if (k.when == NOW) {
		join_now(g, e, lanes, hub, k);
		return;
	}
	BISECT(i, n, g->take.v[mid].event <= e);
	for (; lanes && i < g->take.n && g->take.v[i].event->warp == e->warp; i++) {
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
	*ADD(&g->edge) = (struct hub_edge){from, to, k.how, k.apart};
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

enum { ASKED = 1 << 10 };       /* answers of step_before() that are kept */
enum { FEW = 16 };      /* actions of a step that are looked through; behind those an index has them */

/* An action that is alike among those of the last step up to the n-th; n: there is none, and it will be the n-th. */
static uint32_t find_same(const struct graph *g, struct index *later, uint32_t n, const struct action *a)
{
	const struct step *s = &g->step.v[g->step.n - 1];
	uint64_t what = (uint64_t)a->arg << 32 | (uint32_t)a->act << 24 | (uint32_t)a->facet << 16 | (uint32_t)a->how << 8 | a->apart;
	uint64_t where = (uint64_t)g->step.n << 32 | a->hub;
	uint32_t k = s->first, x;

	while (k < n && k < s->first + FEW && !alike(&g->action.v[k], a))
		k++;
	if (k < s->first + FEW)
		return k;
	x = index_get(later, where, what);
	if (x)
		return x - 1;
	index_set(later, where, what, n + 1);
	return n;
}

/* What several lanes do alike is one action. */
static void make_steps(struct graph *g, uint32_t warps)
{
	struct index later;
	uint32_t n = 0;

	memset(&later, 0, sizeof later);
	for (uint32_t i = 0; i < g->action.n; i++) {
		const struct action a = g->action.v[i];
		struct step *s = g->step.n ? &g->step.v[g->step.n - 1] : NULL;
		uint32_t k;

		if (!s || s->warp != a.warp || s->pos != a.pos) {
			s = ADD(&g->step);
			*s = (struct step){a.warp, a.pos, 0, n, 0};
		}
		s->lanes |= a.lanes;
		k = find_same(g, &later, n, &a);
		if (k < n) {
			g->action.v[k].lanes |= a.lanes;
			continue;
		}
		g->action.v[n++] = a;
		s->n++;
	}
	g->action.n = n;
	list_free(&later.entry.list);
	g->asked = (struct step_asked *)memset(arena_raw(&g->arena, ASKED, sizeof *g->asked), 0xff, ASKED * sizeof *g->asked);
	g->of_warp = (uint32_t *)arena_get(&g->arena, warps + 1, sizeof *g->of_warp);
	for (uint32_t i = 0; i < g->step.n; i++)
		g->of_warp[g->step.v[i].warp + 1] = i + 1;
	for (uint32_t w = 0; w < warps; w++)
		g->of_warp[w + 1] = g->of_warp[w + 1] > g->of_warp[w] ? g->of_warp[w + 1] : g->of_warp[w];
}

static struct step_asked *asked_at(const struct graph *g, uint32_t warp, uint32_t lanes, uint32_t pos)
{
	const uint64_t h = (((uint64_t)warp << 32 | pos) ^ (uint64_t)lanes << 16) * UINT64_C(0x9e3779b97f4a7c15);

	return &g->asked[(h >> 32) % ASKED];
}

/* Cells that lie beside each other ask for accesses of the same records. */
uint32_t step_before(const struct graph *g, uint32_t warp, uint32_t lanes, uint32_t pos)
{
	struct step_asked *a = asked_at(g, warp, lanes, pos);
	uint32_t first = g->of_warp[warp], lo = first, hi = g->of_warp[warp + 1];

	if (a->warp == warp && a->lanes == lanes && a->pos == pos)
		return a->step;
	BISECT(lo, hi, g->step.v[mid].pos <= pos);
	while (lo > first && !(g->step.v[lo - 1].lanes & lanes))
		lo--;
	*a = (struct step_asked){warp, lanes, pos, lo > first ? lo - 1 : NONE};
	return a->step;
}

/* Lanes that take part in the same actions all learn the same, but for what one has fenced of its own. */
static void find_mates(struct detect *d, struct graph *g)
{
	uint32_t n = d->warp.n * EVENT_LANES;

	g->mates = (uint32_t *)arena_get(&g->arena, n, sizeof *g->mates);
	memset(g->mates, 0xff, n * sizeof *g->mates);
	for (uint32_t i = 0; i < g->action.n; i++) {
		const struct action *a = &g->action.v[i];

		for (uint32_t l = 0; (a->lanes != ~0u || a->act == DO_OWN) && l < EVENT_LANES; l++)
			g->mates[a->warp * EVENT_LANES + l] &= !(a->lanes >> l & 1) ? ~a->lanes : a->act == DO_OWN ? 1u << l : a->lanes;
	}
	g->speakers = (uint32_t *)arena_get(&g->arena, d->warp.n, sizeof *g->speakers);
	for (uint32_t t = 0; t < n; t++)
		g->speakers[t / EVENT_LANES] |= 1u << event_first(g->mates[t]);
}

uint32_t speaker(const struct graph *g, uint32_t thread)
{
	return thread / EVENT_LANES * EVENT_LANES + event_first(g->mates[thread]);
}

/* ---- an order to walk in -------------------------------------------------------------------------
 *
 * Nodes are steps, then hubs.  What a node needs: a step, the last steps of its lanes and the
 * hubs that it joins; a hub, the steps that put into it and the hubs that it joins.  What may
 * have been acquired is a superset, which can go round.  Nodes that need each other are a part;
 * the parts come each behind what it needs.  In one that goes round the first node that waits goes
 * on, and that part is walked until nothing changes.
 */
struct needs {
	LIST(uint32_t) from, to;
	struct rows row;
	uint32_t *left, nnodes;         /* left: of nodes of its own part */
	uint32_t *part, nparts;         /* of each node, from the last part on */
};

static void need(struct needs *n, uint32_t from, uint32_t to)
{
	*ADD(&n->from) = from;
	*ADD(&n->to) = to;
}

static void step_needs(const struct graph *g, struct needs *n, uint32_t i, uint32_t *last)
{
	const struct step *s = &g->step.v[i];
	uint32_t needed = 0;

	EACH_LANE(l, s->lanes) {
		uint32_t *before = &last[s->warp * EVENT_LANES + l];

		if (*before && *before != needed)
			need(n, *before - 1, i);
		needed = *before;
		*before = i + 1;
	}
	for (uint32_t k = s->first; k < s->first + s->n; k++) {
		const struct action *a = &g->action.v[k];

		if (a->act == DO_JOIN)
			need(n, g->step.n + a->hub, i);
		if (a->act == DO_PUT)
			need(n, i, g->step.n + a->hub);
	}
}

static void find_needs(struct detect *d, const struct graph *g, struct needs *n)
{
	uint32_t *last = (uint32_t *)arena_get(&d->arena, d->warp.n * EVENT_LANES, sizeof *last);

	for (uint32_t i = 0; i < g->step.n; i++)
		step_needs(g, n, i, last);
	for (uint32_t i = 0; i < g->edge.n; i++)
		need(n, g->step.n + g->edge.v[i].from, g->step.n + g->edge.v[i].to);
	n->nnodes = g->step.n + g->hub.n;
	n->row = rows_of(&d->arena, n->from.v, n->from.n, n->nnodes);
}

/* Depth first: a part is over when nothing that was entered before its first node is reached from it. */
struct search { struct needs *n; uint32_t *number, *low, *edge, *path, *open, npath, nopen, entered; };

static void enter(struct search *s, uint32_t node)
{
	s->number[node] = s->low[node] = ++s->entered;
	s->edge[node] = s->n->row.first[node];
	s->path[s->npath++] = s->open[s->nopen++] = node;
}

static void lower(uint32_t *low, uint32_t to)
{
	*low = to < *low ? to : *low;
}

static void leave(struct search *s)
{
	uint32_t node = s->path[--s->npath], x;

	if (s->npath)
		lower(&s->low[s->path[s->npath - 1]], s->low[node]);
	if (s->low[node] != s->number[node])
		return;
	do {
		x = s->open[--s->nopen];
		s->n->part[x] = s->n->nparts;
	} while (x != node);
	s->n->nparts++;
}

static void search_from(struct search *s, uint32_t node)
{
	const struct needs *n = s->n;

	enter(s, node);
	while (s->npath) {
		uint32_t at = s->path[s->npath - 1], to;

		if (s->edge[at] == n->row.first[at + 1]) {
			leave(s);
			continue;
		}
		to = n->to.v[n->row.item[s->edge[at]++]];
		if (!s->number[to])
			enter(s, to);
		else if (n->part[to] == NONE)
			lower(&s->low[at], s->number[to]);
	}
}

static void find_parts(struct detect *d, struct needs *n)
{
	struct search s = {.n = n};
	uint32_t **const of_node[] = {&s.number, &s.low, &s.edge, &s.path, &s.open, &n->part, &n->left};

	for (unsigned i = 0; i < sizeof of_node / sizeof *of_node; i++)
		*of_node[i] = (uint32_t *)arena_get(&d->arena, n->nnodes, sizeof **of_node[i]);
	memset(n->part, 0xff, n->nnodes * sizeof *n->part);
	for (uint32_t i = 0; i < n->nnodes; i++)
		if (!s.number[i])
			search_from(&s, i);
	for (uint32_t i = 0; i < n->to.n; i++)
		n->left[n->to.v[i]] += n->part[n->from.v[i]] == n->part[n->to.v[i]];
}

/* An end of operations, of which a hub tells, is of the region that is told. */
static bool tells_end(const struct graph *g, uint32_t node)
{
	const uint32_t source = node < g->step.n ? NONE : g->hub.v[node - g->step.n].source;

	return source != NONE && SOURCE_KIND(source) == SOURCE_OPERATION;
}

/* Blocks, and behind the last one hubs, as nodes: what a block knows of itself cannot have left its part in between. */
static void find_regions(struct detect *d, struct graph *g, const struct needs *n)
{
	const uint32_t nblocks = d->block.n;
	struct needs r;

	memset(&r, 0, sizeof r);
	for (uint32_t i = 0; i < n->to.n; i++) {
		uint32_t ends[2] = {n->from.v[i], n->to.v[i]};
		const bool both = tells_end(g, ends[0]);

		for (unsigned k = 0; k < 2; k++)
			ends[k] = ends[k] < g->step.n ? d->warp.v[g->step.v[ends[k]].warp].block : nblocks + ends[k] - g->step.n;
		if (ends[0] != ends[1])
			need(&r, ends[0], ends[1]);
		if (both)
			need(&r, ends[1], ends[0]);
	}
	r.nnodes = nblocks + g->hub.n;
	r.row = rows_of(&d->arena, r.from.v, r.from.n, r.nnodes);
	find_parts(d, &r);
	g->region = (uint32_t *)arena_get(&g->arena, r.nnodes, sizeof *g->region);
	memcpy(g->region, r.part, r.nnodes * sizeof *g->region);
	g->nregions = r.nparts;
	list_free(&r.from.list);
	list_free(&r.to.list);
}

static void reach(struct graph *g, struct needs *n, uint32_t node)
{
	*ADD(&g->walk) = node;
	n->left[node] = NONE;           /* done */
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Not every event has a timer of its own, and those of two multiprocessors are coarse: what comes
 * behind something gets a later time than that. */
static void let_go(struct graph *g, struct needs *n, uint32_t node)
{
	for (uint32_t k = n->row.first[node]; k < n->row.first[node + 1]; k++) {
		uint32_t to = n->to.v[n->row.item[k]];

		g->time[to] = later(g->time[to], g->time[node] + (node >= g->step.n));
		if (n->part[to] == n->part[node] && n->left[to] != NONE && !--n->left[to])
			reach(g, n, to);
	}
}

/* Nothing in a part that goes round is later than another: all of it gets the latest time as its `rank`, and what
 * comes behind it a later one. */
static void rank_part(struct graph *g, const struct needs *n, const uint32_t *node, uint32_t nodes)
{
	uint64_t rank = 0;

	for (uint32_t i = 0; i < nodes; i++)
		rank = later(rank, later(g->rank[node[i]], g->time[node[i]]));
	for (uint32_t i = 0; i < nodes; i++) {
		g->rank[node[i]] = rank;
		for (uint32_t k = n->row.first[node[i]]; k < n->row.first[node[i] + 1]; k++) {
			uint32_t to = n->to.v[n->row.item[k]];

			if (n->part[to] != n->part[node[i]])
				g->rank[to] = later(g->rank[to], rank + (nodes > 1 || node[i] >= g->step.n));
		}
	}
}

static void order_part(struct detect *d, struct graph *g, struct needs *n, const uint32_t *node, uint32_t nodes)
{
	uint32_t done = g->walk.n, first = done;
	bool goes_round = false;

	for (uint32_t i = 0; i < nodes; i++)
		if (!n->left[node[i]])
			reach(g, n, node[i]);
	for (uint32_t i = 0;; reach(g, n, node[i])) {
		for (; done < g->walk.n; done++)
			let_go(g, n, g->walk.v[done]);
		for (; i < nodes && n->left[node[i]] == NONE;)
			i++;
		if (i == nodes)
			break;
		goes_round = true;      /* a step or a hub waits for what waits for it */
		d->counter[DETECT_CYCLES] += !g->world;
	}
	if (goes_round)
		*ADD(&g->cycle) = (struct cycle){first, g->walk.n};
	for (uint32_t i = 0; goes_round && i < nodes; i++)
		g->goes_round[node[i]] = true;
	rank_part(g, n, node, nodes);
}

static void order_walk(struct detect *d, struct graph *g)
{
	struct needs n;
	struct rows of_part;

	memset(&n, 0, sizeof n);
	find_needs(d, g, &n);
	find_parts(d, &n);
	g->time = (uint64_t *)arena_get(&g->arena, n.nnodes, sizeof *g->time);
	g->rank = (uint64_t *)arena_get(&g->arena, n.nnodes, sizeof *g->rank);
	g->goes_round = (bool *)arena_get(&g->arena, n.nnodes, sizeof *g->goes_round);
	for (uint32_t i = 0; i < g->step.n; i++)
		for (uint32_t k = g->step.v[i].first; k < g->step.v[i].first + g->step.v[i].n; k++)
			g->time[i] = later(g->time[i], g->action.v[k].timer);
	of_part = rows_of(&d->arena, n.part, n.nnodes, n.nparts);
	for (uint32_t i = n.nparts; i-- > 0;)
		order_part(d, g, &n, of_part.item + of_part.first[i], of_part.first[i + 1] - of_part.first[i]);
	find_regions(d, g, &n);
	list_free(&n.from.list);
	list_free(&n.to.list);
}

uint64_t rank_of_access(const struct graph *g, const struct access *a)
{
	uint32_t step = step_before(g, a->warp, a->lanes, a->pos);

	return step == NONE ? a->timer : later(a->timer, g->rank[step]);
}

bool in_cycle(const struct graph *g, const struct access *a)
{
	uint32_t step = g->cycle.n ? step_before(g, a->warp, a->lanes, a->pos) : NONE;

	return step != NONE && g->goes_round[step];
}

uint64_t time_at(const struct graph *g, const struct access *a)
{
	uint32_t step = step_before(g, a->warp, a->lanes, a->pos);

	return step == NONE ? a->timer : later(a->timer, g->time[step]);
}

static void sort_edges(struct detect *d, struct graph *g)
{
	uint32_t *end = (uint32_t *)arena_get(&d->arena, g->edge.n, sizeof *end);

	for (uint32_t i = 0; i < g->edge.n; i++)
		end[i] = g->edge.v[i].to;
	g->into = rows_of(&g->arena, end, g->edge.n, g->hub.n);
	for (uint32_t i = 0; i < g->edge.n; i++)
		end[i] = g->edge.v[i].from;
	g->out = rows_of(&g->arena, end, g->edge.n, g->hub.n);
}

/* Does all that the one holds pass to the other? */
static bool passes_all(const struct graph *g, const struct hub_edge *e)
{
	return e->how == H_PLAIN && (e->apart == A_BLOCK || !(g->facets & FACETS_IN_BLOCK)) && !(g->fences & ((1u << e->apart) - 1));
}

/* Hubs that pass each other all that they hold hold the same. */
static void find_alike(struct detect *d, struct graph *g)
{
	struct needs n;

	memset(&n, 0, sizeof n);
	for (uint32_t i = 0; i < g->edge.n; i++)
		if (passes_all(g, &g->edge.v[i]))
			need(&n, g->edge.v[i].from, g->edge.v[i].to);
	n.nnodes = g->hub.n;
	n.row = rows_of(&d->arena, n.from.v, n.from.n, n.nnodes);
	find_parts(d, &n);
	g->alike = (uint32_t *)arena_get(&g->arena, g->hub.n, sizeof *g->alike);
	memcpy(g->alike, n.part, g->hub.n * sizeof *g->alike);
	g->nalike = n.nparts;
	list_free(&n.from.list);
	list_free(&n.to.list);
}

/* ---- the short way ---------------------------------------------------------------------------------- */

enum { NEAR = 4, JOINED = 16 };         /* steps, hubs and edges that are looked at */

/* Hubs of which a thread has learned all lately, as find_alike() numbers them. */
static unsigned joined_lately(const struct graph *g, const struct access *b, uint32_t *hub)
{
	uint32_t i = step_before(g, b->warp, b->lanes, b->pos);
	unsigned n = 0;

	for (unsigned k = 0; k < NEAR && i != NONE && g->step.v[i].warp == b->warp; k++, i = i ? i - 1 : NONE) {
		const struct step *s = &g->step.v[i];

		for (uint32_t x = s->first; x < s->first + s->n && n < JOINED; x++)
			if (g->action.v[x].act == DO_JOIN && g->action.v[x].how == H_PLAIN && g->action.v[x].lanes & b->lanes)
				hub[n++] = g->alike[g->action.v[x].hub];
	}
	return n;
}

static bool is_among(const uint32_t *hub, unsigned n, uint32_t x)
{
	for (unsigned i = 0; i < n; i++)
		if (hub[i] == x)
			return true;
	return false;
}

static bool put_into(const struct graph *g, const struct action *a, const uint32_t *hub, unsigned n)
{
	if (a->how == H_FENCES || a->how == H_INITS)
		return false;
	if (is_among(hub, n, g->alike[a->hub]))
		return true;
	for (uint32_t i = g->out.first[a->hub]; i < g->out.first[a->hub + 1] && i < g->out.first[a->hub] + JOINED; i++) {
		const struct hub_edge *e = &g->edge.v[g->out.item[i]];

		if (e->how == H_PLAIN && is_among(hub, n, g->alike[e->to]))
			return true;
	}
	return false;
}

bool is_direct(const struct graph *g, const struct access *a, const struct access *b)
{
	uint32_t hub[JOINED], i = step_before(g, a->warp, ~0u, a->pos - 1);
	unsigned n = joined_lately(g, b, hub);

	i = i == NONE ? g->of_warp[a->warp] : i + 1;
	for (unsigned k = 0; n && k < NEAR && i < g->step.n && g->step.v[i].warp == a->warp; k++, i++) {
		const struct step *s = &g->step.v[i];

		for (uint32_t x = s->first; x < s->first + s->n; x++)
			if (g->action.v[x].act == DO_PUT && g->action.v[x].lanes & a->lanes && put_into(g, &g->action.v[x], hub, n))
				return true;
	}
	return false;
}

void finish_graph(struct detect *d, struct graph *g)
{
	sort_actions(d, g);
	sort_edges(d, g);
	make_steps(g, d->warp.n);
	find_mates(d, g);
	order_walk(d, g);
	find_alike(d, g);
}

void free_graph(struct graph *g)
{
	list_free(&g->action.list);
	list_free(&g->hub.list);
	list_free(&g->edge.list);
	list_free(&g->take.list);
	list_free(&g->step.list);
	list_free(&g->walk.list);
	list_free(&g->cycle.list);
	arena_reset(&g->arena);
}
