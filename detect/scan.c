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

void tell(struct graph *g, const struct event *e, uint32_t lanes, enum act what, uint32_t hub, uint32_t arg)
{
	struct action *a = act(g, e, lanes, what);

	a->hub = hub;
	a->arg = arg;
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
		tell(s->g, e, e->lanes, DO_SC, NONE, reach);
		s->g->fences = true;
	}
	if (site->sem != EVENT_ACQUIRE)
		releases(s, e, reach);
}

static void async_fence(struct scan *s, const struct event *e)
{
	static const uint8_t spaces[] = {       /* by enum event_space */
		SPACE_OWN | SPACE_CLUSTER | SPACE_GLOBAL, SPACE_GLOBAL, SPACE_OWN, SPACE_OWN | SPACE_CLUSTER
	};
	unsigned of = spaces[site_of(s->d, e)->space];

	if (of & SPACE_OWN)
		products_over(s, e, s->waited);
	tell(s->g, e, e->lanes, DO_PROXY, NONE, of);
	s->g->narrow = true;
}

static void learn(struct scan *s, const struct event *e, enum facet to, enum facet from)
{
	tell(s->g, e, e->lanes, DO_FACET, to, from);
}

/* Who learns of the fence learns of what it released. */
void scan_map_fence(struct scan *s, const struct event *e)
{
	learn(s, e, F_MAP, F_ALL);
	thread_fence(s, e);
}

static void map_acquire(struct scan *s, const struct event *e)
{
	thread_fence(s, e);
	EACH_LANE(l, s->g->world ? 0 : e->lanes)
		*ADD(&s->d->map_fence) = (struct map_fence){event_address(record_of(s->d, e), l), as_access(s->d, e, l)};
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
		act(s->g, e, e->lanes, DO_HALF);
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
		learn(s, e, F_ALIAS, F_ALL);
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
	struct scan s = {.d = d, .g = g, .warp = warp};

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

#define FACET(f) (1u << (f))

/* By enum how. */
static const uint32_t facets_of_how[] = {0, 0, FACET(F_SHARED), FACET(F_READS), FACET(F_INITS), 0, 0};

static uint32_t facets_of(const struct action *a)
{
	switch ((enum act)a->act) {
	case DO_PROXY:
		return FACET(F_HALF) - FACET(F_MINE);   /* F_MINE to F_HERE_GLOBAL */
	case DO_HALF:
		return FACET(F_HALF) | FACET(F_WHOLE) | FACET(F_MINE);
	case DO_FACET:
		return FACET(a->hub) | FACET(a->arg);
	case DO_CELLS:
		return FACET(F_TENSOR) | FACET(F_CELLS);
	case DO_KNOW_BLOCK:
		return FACET(F_BEGUN);
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
