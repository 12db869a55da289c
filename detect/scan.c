/* SPDX-License-Identifier: Apache-2.0
 *
 * scan.c: goes through the events of a warp in their order, with what each lane's earlier ones
 * mean to its later ones: fences (memory-model.md 1.4) and release patterns (1.2, 1).
 */
#include <string.h>

#include "detect/impl.h"

enum apart reach_of(const struct event_site *s)
{
	return s->scope == EVENT_CTA ? A_BLOCK : s->scope == EVENT_CLUSTER ? A_CLUSTER : A_DEVICE;
}

/* ---- release patterns ---------------------------------------------------------------------- */

static void add_head(struct scan *s, uint32_t hub, enum apart reach, enum how how)
{
	struct head *h = ADD(&s->d->head);

	h->hub = hub;
	h->reach = (uint8_t)reach;
	h->how = (uint8_t)how;
}

/* The hub of what the lane had published at a fence. */
uint32_t fence_hub(struct scan *s, struct fence *f, unsigned lane, enum how how)
{
	if (f->hub == NONE) {
		f->hub = new_hub(s->g);
		put(s->g, f->event, 1u << lane, f->hub, how);
	}
	return f->hub;
}

static enum apart least(enum apart a, enum apart b)
{
	return a < b ? a : b;
}

/* What an own release publishes holds what an earlier fence of no wider scope did. */
struct heads heads_of(struct scan *s, const struct event *e, unsigned lane, struct pattern p)
{
	struct lane *l = &s->lane[lane];
	struct heads h = {s->d->head.n, 0};
	uint32_t own = NONE;

	if (p.release) {
		own = new_hub(s->g);
		put(s->g, e, 1u << lane, own, H_PLAIN);
		add_head(s, own, least(p.reach, p.clip), H_PLAIN);
	}
	for (unsigned i = p.release ? p.reach + 1u : A_BLOCK; i <= A_DEVICE; i++)
		if (l->fence[i].event)
			add_head(s, fence_hub(s, &l->fence[i], lane, H_PLAIN), least((enum apart)i, p.clip), H_PLAIN);
	if (l->shared.event && !(p.release && p.reach >= A_CLUSTER))
		add_head(s, fence_hub(s, &l->shared, lane, H_PLAIN), least(A_CLUSTER, p.clip), H_SHARED);
	if (l->inits.event && !(p.release && p.reach >= A_CLUSTER))
		add_head(s, fence_hub(s, &l->inits, lane, H_INITS), least(A_CLUSTER, p.clip), H_PLAIN);
	/* PTX ISA, "tcgen05.fence": any synchronisation will do; and that a block has begun is seen
	 * whatever its thread released. */
	if (s->d->loose) {
		if (own == NONE) {
			own = new_hub(s->g);
			put(s->g, e, 1u << lane, own, H_PLAIN);
		}
		add_head(s, own, A_DEVICE, H_LOOSE);
	}
	h.n = s->d->head.n - h.first;
	return h;
}

/* ---- fences ---------------------------------------------------------------------------------- */

static void releases(struct scan *s, const struct event *e, enum apart reach)
{
	EACH_LANE(l, e->lanes) {
		struct lane *x = &s->lane[l];

		for (unsigned i = 0; i <= reach; i++)
			x->fence[i].event = NULL;
		x->fence[reach] = (struct fence){e, NONE};
		if (reach >= A_CLUSTER)
			x->shared.event = x->inits.event = NULL;
	}
}

static void acquires(struct scan *s, const struct event *e, enum apart reach, bool shared)
{
	add_take(s->g, e, reach, shared);
	s->g->narrow |= reach < A_DEVICE;
}

static void facet(struct scan *s, const struct event *e, enum facet to, enum facet from)
{
	struct action *a = act(s->g, e, e->lanes, DO_FACET);

	a->hub = to;
	a->arg = from;
}

/* PTX ISA, "membar/fence": .acq_rel unless said; .sc is that as well. */
static void thread_fence(struct scan *s, const struct event *e, const struct event_site *site)
{
	bool both = site->sem != EVENT_ACQUIRE && site->sem != EVENT_RELEASE;
	enum apart reach = reach_of(site);

	if (both || site->sem == EVENT_ACQUIRE)
		acquires(s, e, reach, false);
	if (site->sem == EVENT_SC) {
		act(s->g, e, e->lanes, DO_SC)->arg = reach;
		s->g->fences = true;
	}
	if (both || site->sem == EVENT_RELEASE)
		releases(s, e, reach);
}

static unsigned spaces_of(const struct event_site *site)
{
	switch (site->space) {
	case EVENT_GLOBAL:
		return SPACE_GLOBAL;
	case EVENT_SHARED:
		return SPACE_OWN;
	case EVENT_CLUSTER_SHARED:
		return SPACE_OWN | SPACE_CLUSTER;
	default:
		return SPACE_OWN | SPACE_CLUSTER | SPACE_GLOBAL;
	}
}

static void async_fence(struct scan *s, const struct event *e, const struct event_site *site)
{
	if (spaces_of(site) & SPACE_OWN)
		products_over(s, e, s->waited);
	act(s->g, e, e->lanes, DO_PROXY)->arg = spaces_of(site);
	s->g->narrow = true;
}

/* Fences with .sync_restrict release and acquire at cluster scope, as far as shared memory goes. */
static void restricted_release(struct scan *s, const struct event *e)
{
	EACH_LANE(l, e->lanes)
		s->lane[l].shared = (struct fence){e, NONE};
}

static void init_fence(struct scan *s, const struct event *e)
{
	EACH_LANE(l, e->lanes)
		s->lane[l].inits = (struct fence){e, NONE};
}

/* Who learns of the fence learns of what it released. */
void scan_map_fence(struct scan *s, const struct event *e)
{
	facet(s, e, F_MAP, F_ALL);
	thread_fence(s, e, site_of(s->d, e));
}

static void map_acquire(struct scan *s, const struct event *e)
{
	thread_fence(s, e, site_of(s->d, e));
	EACH_LANE(l, s->g->world ? 0 : e->lanes) {
		struct map_fence *m = ADD(&s->d->map_fence);

		m->address = event_address(record_of(s->d, e), l);
		m->at.warp = s->warp;
		m->at.lanes = 1u << l;
		m->at.pos = e->pos;
		m->at.source = SOURCE(SOURCE_THREAD, s->warp * EVENT_LANES + l);
	}
}

static void scan_fence(struct scan *s, const struct event *e)
{
	const struct event_site *site = site_of(s->d, e);

	switch ((enum event_fence)site->variant) {
	case EVENT_FENCE_THREAD:
		thread_fence(s, e, site);
		break;
	case EVENT_FENCE_ASYNC:
		async_fence(s, e, site);
		break;
	case EVENT_FENCE_ASYNC_RELEASE:
		act(s->g, e, e->lanes, DO_HALF);
		s->g->narrow = true;
		restricted_release(s, e);
		break;
	case EVENT_FENCE_ASYNC_ACQUIRE:
		acquires(s, e, A_CLUSTER, true);
		facet(s, e, F_WHOLE, F_HALF);
		break;
	case EVENT_FENCE_SHARED_RELEASE:
		restricted_release(s, e);
		break;
	case EVENT_FENCE_SHARED_ACQUIRE:
		acquires(s, e, A_CLUSTER, true);
		break;
	case EVENT_FENCE_INIT:
		init_fence(s, e);
		break;
	case EVENT_FENCE_ALIAS:
		facet(s, e, F_ALIAS, F_ALL);
		break;
	case EVENT_FENCE_MAP:
		scan_map_fence(s, e);
		break;
	case EVENT_FENCE_TENSOR_BEFORE:
		facet(s, e, F_TENSOR, F_CELLS);
		break;
	case EVENT_FENCE_TENSOR_AFTER:
		facet(s, e, F_CELLS, F_TENSOR);
		break;
	}
}

/* ---- all of a warp ------------------------------------------------------------------------------ */

typedef void scan_fn(struct scan *, const struct event *);

/* The chapter of a record; of plain accesses there is none. */
static scan_fn *chapter_of(enum event_kind kind)
{
	if (kind == EVENT_STRONG)
		return scan_word;
	if (kind == EVENT_FENCE)
		return scan_fence;
	if (kind == EVENT_MAP_FENCE)
		return map_acquire;
	if (kind == EVENT_MAP_COPY)
		return scan_map_copy;
	if (kind >= EVENT_BAR_ARRIVE && kind <= EVENT_CLUSTER_WAIT)
		return scan_barrier;
	if (kind >= EVENT_MBAR_INIT && kind <= EVENT_MBAR_COPIES)
		return scan_mbarrier;
	if (kind >= EVENT_CP_ASYNC && kind <= EVENT_WGMMA)
		return scan_async;
	if (kind >= EVENT_TC_MMA && kind <= EVENT_TC_FREE)
		return scan_tensor;
	return kind == EVENT_BEGIN || kind == EVENT_EXIT || kind == EVENT_DEPENDENTS || kind == EVENT_GRID_WAIT ? scan_grid : NULL;
}

static void scan_warp(struct detect *d, struct graph *g, uint32_t warp)
{
	const struct warp *w = &d->warp.v[warp];
	struct scan s;

	memset(&s, 0, sizeof s);
	s.d = d;
	s.g = g;
	s.warp = warp;
	for (uint32_t i = w->first; i < w->first + w->n; i++) {
		struct event *e = &d->event.v[i];
		scan_fn *chapter = chapter_of((enum event_kind)e->kind);

		s.fresh = !g->world && e->pos > w->judged;
		if (chapter)
			chapter(&s, e);
		if (s.fresh)
			take_accesses(&s, e);
	}
	EACH_LANE(l, ~0u) {
		list_free(&s.lane[l].cp.end.list);
		list_free(&s.lane[l].bulk.end.list);
	}
	for (uint32_t i = 0; i < s.meeting.n; i++)
		list_free(&s.meeting.v[i].hub.list);
	list_free(&s.meeting.list);
}

/* ---- which facets mean something ----------------------------------------------------------------- */

static uint32_t facets_of_how(enum how how)
{
	return how == H_SHARED ? 1u << F_SHARED : how == H_READS ? 1u << F_READS : how == H_INITS ? 1u << F_INITS : 0;
}

static uint32_t facets_of(const struct action *a)
{
	switch ((enum act)a->act) {
	case DO_PROXY:
		return 1u << F_MINE | (a->arg & 1 ? 1u << F_OWN | 1u << F_HERE : 0) |
		       (a->arg & 2 ? 1u << F_OWN_CLUSTER | 1u << F_HERE_CLUSTER : 0) |
		       (a->arg & 4 ? 1u << F_OWN_GLOBAL | 1u << F_HERE_GLOBAL : 0);
	case DO_HALF:
		return 1u << F_HALF | 1u << F_WHOLE | 1u << F_MINE;
	case DO_FACET:
		return 1u << a->hub | 1u << a->arg;
	case DO_CELLS:
		return 1u << F_TENSOR | 1u << F_CELLS;
	case DO_KNOW_BLOCK:
		return 1u << F_BEGUN;
	default:
		return facets_of_how((enum how)a->how);
	}
}

static void find_facets(struct graph *g)
{
	g->facets = 1u << F_ALL;
	for (uint32_t i = 0; i < g->action.n; i++)
		g->facets |= facets_of(&g->action.v[i]);
	for (uint32_t i = 0; i < g->edge.n; i++)
		g->facets |= facets_of_how((enum how)g->edge.v[i].how);
	for (uint32_t i = 0; i < g->hub.n; i++)
		g->facets |= g->hub.v[i].cells ? 1u << F_TENSOR | 1u << F_CELLS : 0;
	g->nfacets = 0;
	for (unsigned f = 0; f < FACETS; f++)
		if (g->facets >> f & 1)
			g->place[f] = (uint8_t)g->nfacets++;
}

/* Builds the graph of a world, and of the world as it is takes the accesses. */
void scan_all(struct detect *d, struct graph *g)
{
	d->head.n = d->word_op.n = d->pred.n = d->bar.n = d->mbar.n = d->life.n = 0;
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
	link_words(d, g);
	link_barriers(d, g);
	link_mbarriers(d, g);
	link_grid(d, g);
	find_facets(g);
	finish_graph(d, g);
}
