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
static uint32_t hub_of(struct scan *s, struct fence *f, unsigned lane, enum how how)
{
	if (f->hub == NONE) {
		f->hub = new_hub(s->g);
		put(s->g, f->event, 1u << lane, f->hub, how);
	}
	return f->hub;
}

uint32_t fence_hub(struct scan *s, struct fence *f, unsigned lane)
{
	return hub_of(s, f, lane, H_PLAIN);
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
			add_head(s, hub_of(s, &l->fence[i], lane, H_PLAIN), least((enum apart)i, p.clip), H_PLAIN);
	if (l->shared.event && !(p.release && p.reach >= A_CLUSTER))
		add_head(s, hub_of(s, &l->shared, lane, H_PLAIN), least(A_CLUSTER, p.clip), H_SHARED);
	if (l->inits.event && !(p.release && p.reach >= A_CLUSTER))
		add_head(s, hub_of(s, &l->inits, lane, H_INITS), least(A_CLUSTER, p.clip), H_PLAIN);
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
	for (unsigned l = 0; l < EVENT_LANES; l++) {
		struct lane *x = &s->lane[l];

		if (!(e->lanes >> l & 1))
			continue;
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

/* Fences with .sync_restrict release and acquire at cluster scope, as far as shared memory goes. */
static void restricted_release(struct scan *s, const struct event *e)
{
	for (unsigned l = 0; l < EVENT_LANES; l++)
		if (e->lanes >> l & 1)
			s->lane[l].shared = (struct fence){e, NONE};
}

static void init_fence(struct scan *s, const struct event *e)
{
	for (unsigned l = 0; l < EVENT_LANES; l++)
		if (e->lanes >> l & 1)
			s->lane[l].inits = (struct fence){e, NONE};
}

/* Who learns of the fence learns of what it released. */
void scan_map_fence(struct scan *s, const struct event *e)
{
	act(s->g, e, e->lanes, DO_MAP);
	thread_fence(s, e, site_of(s->d, e));
}

static void map_acquire(struct scan *s, const struct event *e)
{
	thread_fence(s, e, site_of(s->d, e));
	for (unsigned l = 0; !s->g->world && l < EVENT_LANES; l++) {
		struct map_fence *m;

		if (!(e->lanes >> l & 1))
			continue;
		m = ADD(&s->d->map_fence);
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
		if (spaces_of(site) & SPACE_OWN)
			products_over(s, e, s->waited);
		act(s->g, e, e->lanes, DO_PROXY)->arg = spaces_of(site);
		s->g->narrow = true;
		break;
	case EVENT_FENCE_ASYNC_RELEASE:
		act(s->g, e, e->lanes, DO_HALF);
		s->g->narrow = true;
		restricted_release(s, e);
		break;
	case EVENT_FENCE_ASYNC_ACQUIRE:
		acquires(s, e, A_CLUSTER, true);
		act(s->g, e, e->lanes, DO_WHOLE);
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
		act(s->g, e, e->lanes, DO_ALIAS);
		break;
	case EVENT_FENCE_MAP:
		scan_map_fence(s, e);
		break;
	case EVENT_FENCE_TENSOR_BEFORE:
		act(s->g, e, e->lanes, DO_TENSOR_BEFORE);
		break;
	case EVENT_FENCE_TENSOR_AFTER:
		act(s->g, e, e->lanes, DO_TENSOR_AFTER);
		break;
	}
}

/* ---- all of a warp ------------------------------------------------------------------------------ */

static void scan_event(struct scan *s, const struct event *e)
{
	switch ((enum event_kind)e->kind) {
	case EVENT_STRONG:
		scan_word(s, e);
		break;
	case EVENT_FENCE:
		scan_fence(s, e);
		break;
	case EVENT_MAP_FENCE:
		map_acquire(s, e);
		break;
	case EVENT_BAR_ARRIVE:
	case EVENT_BAR_WAIT:
	case EVENT_WARP_ARRIVE:
	case EVENT_WARP_WAIT:
	case EVENT_CLUSTER_ARRIVE:
	case EVENT_CLUSTER_WAIT:
		scan_barrier(s, e);
		break;
	case EVENT_MBAR_INIT:
	case EVENT_MBAR_INVAL:
	case EVENT_MBAR_ARRIVE:
	case EVENT_MBAR_EXPECT:
	case EVENT_MBAR_COMPLETE:
	case EVENT_MBAR_WAIT:
	case EVENT_MBAR_TRY:
	case EVENT_MBAR_COPIES:
		scan_mbarrier(s, e);
		break;
	case EVENT_CP_ASYNC:
	case EVENT_COPY:
	case EVENT_TENSOR:
	case EVENT_ASYNC_STORE:
	case EVENT_CANCEL:
	case EVENT_COMMIT:
	case EVENT_WAIT_GROUP:
	case EVENT_WGMMA:
		scan_async(s, e);
		break;
	case EVENT_TC_MMA:
	case EVENT_TC_COPY:
	case EVENT_TC_LOAD:
	case EVENT_TC_STORE:
	case EVENT_TC_WAIT:
	case EVENT_TC_COMMIT:
	case EVENT_TC_ALLOC:
	case EVENT_TC_FREE:
		scan_tensor(s, e);
		break;
	case EVENT_MAP_COPY:
		scan_map_copy(s, e);
		break;
	case EVENT_BEGIN:
	case EVENT_EXIT:
	case EVENT_DEPENDENTS:
	case EVENT_GRID_WAIT:
		scan_grid(s, e);
		break;
	case EVENT_ACCESS:
	case EVENT_STORED:
	case EVENT_MAP_EDIT:
	case EVENT_OPAQUE:              /* access.c */
	case EVENT_CLOCK:
	case EVENT_END:
	case EVENT_KINDS:
		break;
	}
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

		s.fresh = !g->world && e->pos > w->judged;
		scan_event(&s, e);
		if (s.fresh)
			take_accesses(&s, e);
	}
	for (unsigned l = 0; l < EVENT_LANES; l++) {
		list_free(&s.lane[l].cp.end.list);
		list_free(&s.lane[l].bulk.end.list);
	}
	for (uint32_t i = 0; i < s.meeting.n; i++)
		list_free(&s.meeting.v[i].hub.list);
	list_free(&s.meeting.list);
}

/* ---- which facets mean something ----------------------------------------------------------------- */

static uint32_t facets_of(const struct action *a)
{
	uint32_t set = 1u << F_ALL;

	switch ((enum act)a->act) {
	case DO_PROXY:
		set |= 1u << F_MINE;
		for (unsigned i = 0; i < 3; i++)
			if (a->arg >> i & 1)
				set |= 1u << (F_OWN + i) | 1u << (F_HERE + i);
		break;
	case DO_HALF:
	case DO_WHOLE:
		set |= 1u << F_HALF | 1u << F_WHOLE | 1u << F_MINE;
		break;
	case DO_ALIAS:
		set |= 1u << F_ALIAS;
		break;
	case DO_MAP:
		set |= 1u << F_MAP;
		break;
	case DO_CELLS:
	case DO_TENSOR_BEFORE:
	case DO_TENSOR_AFTER:
		set |= 1u << F_TENSOR | 1u << F_CELLS;
		break;
	case DO_KNOW_BLOCK:
		set |= 1u << F_BEGUN;
		break;
	default:
		break;
	}
	return set | (a->how == H_SHARED ? 1u << F_SHARED : a->how == H_READS ? 1u << F_READS :
		      a->how == H_INITS ? 1u << F_INITS : 0);
}

static void find_facets(struct graph *g)
{
	g->facets = 1u << F_ALL;
	for (uint32_t i = 0; i < g->action.n; i++)
		g->facets |= facets_of(&g->action.v[i]);
	for (uint32_t i = 0; i < g->edge.n; i++)
		g->facets |= g->edge.v[i].how == H_SHARED ? 1u << F_SHARED : g->edge.v[i].how == H_READS ? 1u << F_READS : 0;
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
