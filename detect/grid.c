/* SPDX-License-Identifier: Apache-2.0
 *
 * grid.c: blocks and launches: who has begun, who has ended, and launches that overlap
 * (memory-model.md 1.10, 1.11).
 */
#include "detect/impl.h"

/* Fences before it, wide enough, synchronise with the start of the dependent grid (AMB-13). */
static void let_go(struct scan *s, const struct event *e)
{
	uint32_t launch = block_of(s->d, s->warp)->launch;

	s->d->launch.v[launch].lets_go = true;
	EACH_LANE(l, e->lanes)
		for (unsigned i = s->g->world & W_WIDE ? A_BLOCK : A_DEVICE; i <= A_DEVICE; i++)
			if (s->lane[l].fence[i].event)
				join_hubs(s->g, s->g->dependents[launch], fence_hub(s, l, i),
					  (struct edge_kind){H_PLAIN, NOW, A_BLOCK});
}

void scan_grid(struct scan *s, const struct event *e)
{
	uint32_t block = s->d->warp.v[s->warp].block;
	struct block *b = &s->d->block.v[block];

	switch (e->kind) {
	case EVENT_BEGIN:
		b->threads = (uint32_t)event_get(record_of(s->d, e), 0, EVENT_BEGIN_THREADS);
		if (s->d->loose)
			tell(s->g, e, e->lanes, F_BEGUN, SOURCE(SOURCE_BLOCK, block), 1);
		break;
	case EVENT_EXIT:
		/* What it has seen end, if only by relaxed waits, needs the block's memory no more. */
		add_take(s->g, e, A_DEVICE, false);
		put(s->g, e, e->lanes, s->g->ended[block], H_PLAIN);
		b->ended += e->timer[EVENT_BEFORE] < s->d->launch.v[b->launch].cut ? event_count(e->lanes) : 0;
		break;
	case EVENT_DEPENDENTS:
		let_go(s, e);
		b->let_go = b->let_go && b->let_go < e->clock[EVENT_BEFORE] ? b->let_go : e->clock[EVENT_BEFORE];
		break;
	default:
		b->waited = b->waited && b->waited < e->clock[EVENT_BEHIND] ? b->waited : e->clock[EVENT_BEHIND];
		break;
	}
}

/* ---- launches that overlap ------------------------------------------------------------------------ */

/* These threads know that so many launches are over, seen through every proxy. */
static void over(struct graph *g, const struct event *e, uint32_t launches)
{
	for (uint32_t i = 0; i < launches; i++)
		tell_end(g, e, e->lanes, F_MINE, SOURCE(SOURCE_LAUNCH, i), 1);
}

/* Had all of its blocks waited for the launches before, when they let the next begin? */
static bool all_waited(const struct detect *d, uint32_t launch)
{
	const struct launch *l = &d->launch.v[launch];

	for (uint32_t i = 0; i < l->nblocks; i++) {
		uint32_t at = d->block_at.v[l->first_block + i];
		const struct block *b = at == NONE ? NULL : &d->block.v[at];

		if (!b || !b->waited || (b->let_go && b->let_go < b->waited))
			return false;
	}
	return true;
}

/* PTX ISA, "griddepcontrol": a dependent has to wait if the launch before it lets dependents go; what
 * that one's blocks had all waited for is over by then. */
static void begin(struct detect *d, struct graph *g, const struct event *e, uint32_t launch)
{
	const struct launch *before = &d->launch.v[launch - 1];

	if (!before->lets_go && !d->choices.trigger)
		over(g, e, launch);
	else if (all_waited(d, launch - 1))
		over(g, e, launch - 1);
	join(g, e, e->lanes, g->dependents[launch - 1], (struct edge_kind){H_PLAIN, NOW, A_DEVICE});
}

void link_grid(struct detect *d, struct graph *g)
{
	for (uint32_t i = 0; i < d->event.n; i++) {
		const struct event *e = &d->event.v[i];
		uint32_t launch = block_of(d, e->warp)->launch;

		if (!launch)
			continue;
		if (e->kind == EVENT_BEGIN)
			begin(d, g, e, launch);
		else if (e->kind == EVENT_GRID_WAIT)
			over(g, e, launch);
	}
}
