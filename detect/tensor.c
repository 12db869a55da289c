/* SPDX-License-Identifier: Apache-2.0
 *
 * tensor.c: tensor memory (memory-model.md 1.9): which of tcgen05's operations are over for
 * whom.
 */
#include "detect/impl.h"

/* What is over in tensor memory before what these lanes do next. */
static void done(struct scan *s, const struct event *e, uint32_t lanes, uint32_t source, uint32_t count)
{
	struct action *a;

	if (!count)
		return;
	a = act(s->g, e, lanes, DO_CELLS);
	a->hub = source;
	a->arg = count;
}

static void issue(struct scan *s, const struct event *e)
{
	for (unsigned l = 0; l < EVENT_LANES; l++)
		if (e->lanes >> l & 1)
			done(s, e, 1u << l, ordered_operations(s->d, s->warp, TENSOR_ISSUED, l), ++s->lane[l].tensor);
}

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
	for (uint32_t r = 0; r < 16; r++) {
		uint32_t owner = multicast ? find_block(s->d, b->launch, b->cluster + r) : p.block;
		struct mbar_op *o;

		if (!(mask >> r & 1) || owner == NONE)
			continue;
		o = add_mbar_op(s, e, lane);
		o->owner = owner;
		o->address = (uint32_t)p.address;
		o->count = 1;
		o->source = ordered_operations(s->d, s->warp, TENSOR_OPERATIONS, lane);
		o->number = s->lane[lane].tensor;
	}
}

/* What a warp does as one, here and now. */
static void together(struct scan *s, const struct event *e)
{
	struct action *a = act(s->g, e, ~0u, DO_ENDS);

	a->hub = SOURCE(SOURCE_OPERATION, single_operations(s->d, e, 1));
	a->arg = 1;
	if (e->kind == EVENT_TC_FREE)
		done(s, e, e->lanes, a->hub, 1);
}

/* Who is given cells that another warp of the block has freed comes behind that. */
static void allocate(struct scan *s, const struct event *e)
{
	const struct block *b = block_of(s->d, s->warp);

	together(s, e);
	for (unsigned k = 0; k < EVENT_LANES; k++) {
		const struct warp *w = b->warp[k] == NONE ? NULL : &s->d->warp.v[b->warp[k]];

		for (uint32_t i = 0; w && i < w->n; i++) {
			const struct event *x = &s->d->event.v[w->first + i];

			if (x->kind == EVENT_TC_FREE && b->warp[k] != s->warp && x->clock[EVENT_BEFORE] <= e->clock[EVENT_BEHIND])
				done(s, e, e->lanes, SOURCE(SOURCE_OPERATION, single_operations(s->d, x, 1)), 1);
		}
	}
}

void scan_tensor(struct scan *s, const struct event *e)
{
	switch (e->kind) {
	case EVENT_TC_MMA:
	case EVENT_TC_COPY:
		issue(s, e);
		break;
	case EVENT_TC_LOAD:
		s->loads++;
		break;
	case EVENT_TC_STORE:
		s->stores++;
		break;
	case EVENT_TC_WAIT:
		if (site_of(s->d, e)->flags & EVENT_OF_STORES)
			done(s, e, e->lanes, ordered_operations(s->d, s->warp, TENSOR_STORES, 0), s->stores);
		else
			done(s, e, e->lanes, ordered_operations(s->d, s->warp, TENSOR_LOADS, 0), s->loads);
		break;
	case EVENT_TC_COMMIT:
		for (unsigned l = 0; l < EVENT_LANES; l++)
			if (e->lanes >> l & 1)
				commit(s, e, l);
		break;
	case EVENT_TC_ALLOC:
		allocate(s, e);
		break;
	default:
		together(s, e);
		break;
	}
}

/* tensormap.cp_fenceproxy: a copy by the warp, then a releasing fence of the tensor maps' proxy. */
void scan_map_copy(struct scan *s, const struct event *e)
{
	together(s, e);
	scan_map_fence(s, e);
}
