/* SPDX-License-Identifier: Apache-2.0
 *
 * scan.c: goes through the events of a warp in their order, with what each lane's earlier ones
 * mean to its later ones: fences (memory-model.md 1.4) and release patterns (1.2, 1).
 */
#include "detect/impl.h"

enum apart reach_of(const struct event_site *s)
{
	return s->scope == EVENT_CTA ? A_BLOCK : s->scope == EVENT_CLUSTER ? A_CLUSTER : A_DEVICE;
}

/* ---- release patterns ---------------------------------------------------------------------- */

static enum apart least(enum apart a, enum apart b)
{
	return a < b ? a : b;
}

static void add_head(struct scan *s, uint32_t hub, enum apart reach, enum how how)
{
	*ADD(&s->d->head) = (struct head){hub, (uint8_t)reach, (uint8_t)how};
}

/* Fences with .sync_restrict and of inits are of cluster scope (PTX ISA, "membar/fence"). */
static enum apart fence_reach(unsigned kind)
{
	return kind > A_DEVICE ? A_CLUSTER : (enum apart)kind;
}

/* The hub of what the lane had published at its last fence of that kind. */
uint32_t fence_hub(struct scan *s, unsigned lane, unsigned kind)
{
	struct fence *f = &s->lane[lane].fence[kind];

	if (f->hub == NONE) {
		f->hub = new_hub(s->g);
		put(s->g, f->event, 1u << lane, f->hub, kind == FENCE_INITS ? H_INITS : H_PLAIN);
	}
	return f->hub;
}

/* What an own release publishes holds what an earlier fence of no wider scope did.  PTX ISA,
 * "tcgen05.fence": any synchronisation will do; and that a block has begun is seen whatever its thread
 * released. */
struct heads heads_of(struct scan *s, const struct event *e, unsigned lane, struct pattern p)
{
	struct heads h = {s->d->head.n, 0};
	uint32_t own = NONE;

	if (p.release || s->d->loose) {
		own = new_hub(s->g);
		put(s->g, e, 1u << lane, own, H_PLAIN);
	}
	if (p.release)
		add_head(s, own, least(p.reach, p.clip), H_PLAIN);
	for (unsigned i = 0; i < FENCES; i++)
		if (s->lane[lane].fence[i].event && !(p.release && p.reach >= fence_reach(i)))
			add_head(s, fence_hub(s, lane, i), least(fence_reach(i), p.clip), i == FENCE_SHARED ? H_SHARED : H_PLAIN);
	if (s->d->loose)
		add_head(s, own, A_DEVICE, H_LOOSE);
	h.n = s->d->head.n - h.first;
	return h;
}

/* ---- fences ---------------------------------------------------------------------------------- */

/* One that is not restricted takes the place of those that reach no further. */
static void releases(struct scan *s, const struct event *e, unsigned kind)
{
	EACH_LANE(l, e->lanes) {
		struct fence *f = s->lane[l].fence;

		for (unsigned i = 0; kind <= A_DEVICE && i < FENCES; i++)
			if (fence_reach(i) <= fence_reach(kind))
				f[i].event = NULL;
		f[kind] = (struct fence){e, NONE};
	}
}

static void acquires(struct scan *s, const struct event *e, enum apart reach, bool shared)
{
	add_take(s->g, e, reach, shared);
	s->g->narrow |= reach < A_DEVICE;
}

/* PTX ISA, "membar/fence": .acq_rel unless said; .sc is that as well. */
static void thread_fence(struct scan *s, const struct event *e)
{
	const struct event_site *site = site_of(s->d, e);
	enum apart reach = reach_of(site);

	if (site->sem != EVENT_RELEASE)
		acquires(s, e, reach, false);
	if (site->sem == EVENT_SC) {
		act(s->g, e, e->lanes, DO_SC)->arg = reach;
		s->g->fences |= (uint8_t)(1u << reach);
	}
	if (site->sem != EVENT_ACQUIRE)
		releases(s, e, reach);
}

static void own(struct scan *s, const struct event *e, enum facet f)
{
	act(s->g, e, e->lanes, DO_OWN)->facet = (uint8_t)f;
}

static void learn(struct scan *s, const struct event *e, enum facet to, enum facet from)
{
	struct action *a = act(s->g, e, e->lanes, DO_FACET);

	a->facet = (uint8_t)to;
	a->arg = from;
}

/* Both ways between the generic and the async proxy, in the space of that facet: for the thread's own
 * accesses and what it saw end; what it knows of otherwise is fenced by another (PTX ISA,
 * "membar/fence"). */
static void fence_space(struct scan *s, const struct event *e, enum facet of)
{
	enum facet here = (enum facet)(of + F_HERE - F_OWN);

	own(s, e, of);
	own(s, e, here);
	learn(s, e, of, F_MINE);
	learn(s, e, here, F_ALL);
	if (of != F_OWN_GLOBAL)
		learn(s, e, here, F_SHARED);
}

static void async_fence(struct scan *s, const struct event *e)
{
	unsigned space = site_of(s->d, e)->space;

	if (space != EVENT_GLOBAL) {
		products_over(s, e, s->waited);
		fence_space(s, e, F_OWN);
		learn(s, e, F_WHOLE, F_HALF);
	}
	if (space == EVENT_GENERIC || space == EVENT_CLUSTER_SHARED)
		fence_space(s, e, F_OWN_CLUSTER);
	if (space == EVENT_GENERIC || space == EVENT_GLOBAL)
		fence_space(s, e, F_OWN_GLOBAL);
	s->g->narrow = true;
}

/* All that the thread has done and knows of passes that fence. */
static void pass(struct scan *s, const struct event *e, enum facet f)
{
	own(s, e, f);
	learn(s, e, f, F_ALL);
}

/* Who learns of the fence learns of what it released. */
static void scan_map_fence(struct scan *s, const struct event *e)
{
	pass(s, e, F_MAP);
	thread_fence(s, e);
}

static void map_acquire(struct scan *s, const struct event *e)
{
	thread_fence(s, e);
	EACH_LANE(l, s->g->world ? 0 : e->lanes)
		*ADD(&s->d->map_fence) = (struct map_fence){event_address(record_of(s->d, e), l), as_access(s->d, e, 1u << l)};
}

static void scan_fence(struct scan *s, const struct event *e)
{
	switch ((enum event_fence)site_of(s->d, e)->variant) {
	case EVENT_FENCE_THREAD:
		thread_fence(s, e);
		break;
	case EVENT_FENCE_ASYNC:
		async_fence(s, e);
		break;
	case EVENT_FENCE_ASYNC_RELEASE:
		own(s, e, F_HALF);
		learn(s, e, F_HALF, F_MINE);
		s->g->narrow = true;
		releases(s, e, FENCE_SHARED);
		break;
	case EVENT_FENCE_ASYNC_ACQUIRE:
		acquires(s, e, A_CLUSTER, true);
		learn(s, e, F_WHOLE, F_HALF);
		break;
	case EVENT_FENCE_SHARED_RELEASE:
		releases(s, e, FENCE_SHARED);
		break;
	case EVENT_FENCE_SHARED_ACQUIRE:
		acquires(s, e, A_CLUSTER, true);
		break;
	case EVENT_FENCE_INIT:
		releases(s, e, FENCE_INITS);
		break;
	case EVENT_FENCE_ALIAS:
		pass(s, e, F_ALIAS);
		break;
	case EVENT_FENCE_MAP:
		scan_map_fence(s, e);
		break;
	case EVENT_FENCE_TENSOR_BEFORE:
		learn(s, e, F_TENSOR, F_CELLS);
		break;
	case EVENT_FENCE_TENSOR_AFTER:
		learn(s, e, F_CELLS, F_TENSOR);
		break;
	}
}

/* ---- all of a warp ------------------------------------------------------------------------------ */

/* Chapters by the kinds of their records; of plain accesses there is none. */
static const struct { uint8_t first, last; void (*scan)(struct scan *, const struct event *); } chapters[] = {
	{EVENT_BEGIN, EVENT_EXIT, scan_grid},
	{EVENT_STRONG, EVENT_STRONG, scan_word},
	{EVENT_FENCE, EVENT_FENCE, scan_fence},
	{EVENT_MAP_FENCE, EVENT_MAP_FENCE, map_acquire},
	{EVENT_BAR_ARRIVE, EVENT_CLUSTER_WAIT, scan_barrier},
	{EVENT_MBAR_INIT, EVENT_MBAR_COPIES, scan_mbarrier},
	{EVENT_CP_ASYNC, EVENT_WGMMA, scan_async},
	{EVENT_TC_MMA, EVENT_TC_FREE, scan_tensor},
	/* tensormap.cp_fenceproxy: a copy by the warp, then a releasing fence of the tensor maps' proxy. */
	{EVENT_MAP_COPY, EVENT_MAP_COPY, scan_tensor},
	{EVENT_MAP_COPY, EVENT_MAP_COPY, scan_map_fence},
	{EVENT_DEPENDENTS, EVENT_GRID_WAIT, scan_grid}
};

static void scan_warp(struct detect *d, struct graph *g, uint32_t warp)
{
	const struct warp *w = &d->warp.v[warp];
	struct scan s = {.d = d, .g = g, .warp = warp};

	for (uint32_t i = w->first; i < w->first + w->n; i++) {
		struct event *e = &d->event.v[i];

		s.fresh = !g->world && is_judged_now(d, e);
		for (unsigned k = 0; k < sizeof chapters / sizeof *chapters; k++)
			if (e->kind >= chapters[k].first && e->kind <= chapters[k].last)
				chapters[k].scan(&s, e);
		if (s.fresh)
			take_accesses(&s, e);
	}
	EACH_LANE(l, ~0u) {
		list_free(&s.lane[l].cp.end.list);
		list_free(&s.lane[l].bulk.end.list);
	}
}

/* ---- which facets mean something ----------------------------------------------------------------- */

#define FACET(f) (1u << (f))

/* By enum how. */
static const uint32_t facets_of_how[] = {0, 0, FACET(F_SHARED), FACET(F_READS), FACET(F_INITS), 0, 0};

static uint32_t facets_of(const struct action *a)
{
	switch ((enum act)a->act) {
	case DO_FACET:
		return FACET(a->facet) | FACET(a->arg);
	case DO_OWN:
		return FACET(a->facet);
	case DO_TOLD:
		return a->facet == F_MINE ? 0 : FACET(a->facet);        /* of use to a fence */
	default:
		return facets_of_how[a->how];
	}
}

static void find_facets(struct graph *g)
{
	g->facets = FACET(F_ALL);
	for (uint32_t i = 0; i < g->action.n; i++)
		g->facets |= facets_of(&g->action.v[i]);
	for (uint32_t i = 0; i < g->edge.n; i++)
		g->facets |= facets_of_how[g->edge.v[i].how];
	for (uint32_t i = 0; i < g->hub.n; i++)
		g->facets |= g->hub.v[i].cells ? FACET(F_TENSOR) | FACET(F_CELLS) : 0;
	g->nfacets = 0;
	for (unsigned f = 0; f < FACETS; f++)
		if (g->facets >> f & 1)
			g->place[f] = (uint8_t)g->nfacets++;
}

/* Builds the graph of a world, and of the world as it is takes the accesses. */
void scan_all(struct detect *d, struct graph *g)
{
	d->head.n = d->word_op.n = d->pred.n = d->word.n = d->bar.n = d->mbar.n = d->life.n = 0;
	d->map_fence.n = g->world ? d->map_fence.n : 0;
	g->ended = (uint32_t *)arena_get(&g->arena, d->block.n, sizeof *g->ended);
	g->dependents = (uint32_t *)arena_get(&g->arena, d->launch.n, sizeof *g->dependents);
	for (uint32_t b = 0; b < d->block.n; b++) {
		d->block.v[b].ended = 0;
		g->ended[b] = new_hub(g);
	}
	for (uint32_t i = 0; i < d->launch.n; i++)
		g->dependents[i] = new_hub(g);
	for (uint32_t w = 0; w < d->warp.n; w++)
		scan_warp(d, g, w);
	if (d->touched)
		return;
	link_words(d, g);
	link_barriers(d, g);
	link_mbarriers(d, g);
	link_grid(d, g);
	find_facets(g);
	finish_graph(d, g);
}
