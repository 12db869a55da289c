/* SPDX-License-Identifier: Apache-2.0
 *
 * tensor.c: tensor memory (memory-model.md 1.9): which of tcgen05's operations are over for
 * whom.
 */
#include "detect/impl.h"

/* An arrival that comes when all products and copies before it are done, at one mbarrier or at the
 * same place in several blocks. */
static void commit(struct scan *s, const struct event *e, unsigned lane)
{
	const struct block *b = block_of(s->d, s->warp);
	bool multicast = site_of(s->d, e)->flags & EVENT_MULTICAST;
	uint32_t mask = multicast ? (uint32_t)event_get(record_of(s->d, e), lane, EVENT_TC_COMMIT_MASK) : 1;
	struct place p;

	if (!place_of_shared(s->d, e, event_address(record_of(s->d, e), lane), &p))
		return;
	EACH_LANE(r, mask) {
		uint32_t owner = multicast ? find_block(s->d, b->launch, b->cluster + r) : p.block;
		struct mbar_op *o;

		if (owner == NONE)
			continue;
		o = add_mbar_op(s, e, lane, owner, p.address);
		o->count = 1;
		o->source = ordered_operations(s->d, s->warp, TENSOR_OPERATIONS, lane);
		o->number = s->lane[lane].tensor;
	}
}

/* What a warp does as one, here and now. */
static void together(struct scan *s, const struct event *e)
{
	uint32_t source = SOURCE(SOURCE_OPERATION, single_operations(s->d, e, 1));

	tell_end(s->g, e, ~0u, F_MINE, source, 1);
	if (e->kind == EVENT_TC_FREE)
		tell_end(s->g, e, e->lanes, F_CELLS, source, 1);
}

/* Who is given cells that another warp of the block has freed comes behind that. */
static void allocate(struct scan *s, const struct event *e)
{
	const struct block *b = block_of(s->d, s->warp);

	for (unsigned k = 0; k < EVENT_LANES; k++) {
		const struct warp *w = b->warp[k] == NONE || b->warp[k] == s->warp ? NULL : &s->d->warp.v[b->warp[k]];

		for (uint32_t i = 0; w && i < w->n; i++) {
			const struct event *x = &s->d->event.v[w->first + i];

			if (x->kind == EVENT_TC_FREE && x->clock[EVENT_BEFORE] <= e->clock[EVENT_BEHIND])
				tell_end(s->g, e, e->lanes, F_CELLS, SOURCE(SOURCE_OPERATION, single_operations(s->d, x, 1)), 1);
		}
	}
}

void scan_tensor(struct scan *s, const struct event *e)
{
	bool store = e->kind == EVENT_TC_STORE || site_of(s->d, e)->flags & EVENT_OF_STORES;
	const struct lane *lane = &s->lane[event_first(e->lanes)];

	switch (e->kind) {
	case EVENT_TC_MMA:
	case EVENT_TC_COPY:
		EACH_LANE(l, e->lanes)
			tell_end(s->g, e, 1u << l, F_CELLS, ordered_operations(s->d, s->warp, TENSOR_ISSUED, l),
			     ++s->lane[l].tensor);
		break;
	case EVENT_TC_LOAD:
	case EVENT_TC_STORE:
		EACH_LANE(l, e->lanes)
			++*(store ? &s->lane[l].stores : &s->lane[l].loads);
		break;
	case EVENT_TC_WAIT:
		tell_end(s->g, e, e->lanes, F_CELLS, ordered_operations(s->d, s->warp, store ? TENSOR_STORES : TENSOR_LOADS, 0),
		     store ? lane->stores : lane->loads);
		break;
	case EVENT_TC_COMMIT:
		EACH_LANE(l, e->lanes)
			commit(s, e, l);
		break;
	default:
		together(s, e);
		if (e->kind == EVENT_TC_ALLOC)
			allocate(s, e);
		break;
	}
}
