/* SPDX-License-Identifier: Apache-2.0
 *
 * async.c: asynchronous operations (memory-model.md 1.6, 1.8): who issues them, by what their
 * end is seen.  Those of groups end in order and are counted; others are told by a phase of
 * an mbarrier.
 */
#include "detect/impl.h"

/* ---- sources of operations ----------------------------------------------------------------------- */

/* Numbers of operations of their own, kept with the event: it is scanned again. */
uint32_t single_operations(struct detect *d, const struct event *e, uint32_t n)
{
	struct event *own = &d->event.v[e - d->event.v];

	if (own->actor == NONE) {
		own->actor = d->nactors;
		d->nactors += n;
	}
	return own->actor;
}

/* The source of a warp's operations that end in order. */
uint32_t ordered_operations(struct detect *d, uint32_t warp, unsigned kind, unsigned lane)
{
	struct warp *w = &d->warp.v[warp];

	if (w->actors == NONE) {
		w->actors = d->nactors;
		d->nactors += OPERATIONS;
	}
	return SOURCE(SOURCE_OPERATION, w->actors + kind + lane);
}

/* What a counted copy reads has the first, what it writes at the i-th place the i-th behind that. */
enum { LANDINGS = 16 };

uint32_t copy_source(struct detect *d, const struct event *e, unsigned lane)
{
	uint32_t n = event_count(e->lanes) * (1 + LANDINGS);

	return SOURCE(SOURCE_OPERATION, single_operations(d, e, n) +
		      event_count(e->lanes & ((1u << lane) - 1)) * (1 + LANDINGS));
}

/* ---- lanes that make one operation -------------------------------------------------------------------- */

static bool same_operands(const struct event_unit *u, unsigned a, unsigned b)
{
	for (unsigned i = 0; i < event_words(u); i++)
		if (event_word(u, a, i) != event_word(u, b, i))
			return false;
	return event_address(u, a) == event_address(u, b);
}

/* ptxas makes one of stores of the same bytes to the same place (memory-model.md 2.4, AMB-17), and
 * cp.async of that kind is one (AMB-19): is the lane's left out, for an earlier lane's? */
bool is_folded(const struct detect *d, const struct event *e, unsigned lane)
{
	const struct event_site *s = site_of(d, e);
	bool folds = e->kind == EVENT_CP_ASYNC || (!(s->flags & (EVENT_COUNTED | EVENT_REDUCE)) &&
		     (e->kind == EVENT_COPY || e->kind == EVENT_TENSOR));

	EACH_LANE(l, folds ? e->lanes & ((1u << lane) - 1) : 0)
		if (same_operands(record_of(d, e), l, lane))
			return true;
	return false;
}

/* ---- groups ----------------------------------------------------------------------------------------------- */

static uint32_t over(const struct groups *g, uint32_t left)
{
	if (left == EVENT_WAIT_ALL)
		return g->issued;
	return g->end.n > left ? g->end.v[g->end.n - left - 1] : 0;
}

static void wait_group(struct scan *s, const struct event *e, const struct event_site *site)
{
	uint32_t left = (uint32_t)event_get(record_of(s->d, e), event_first(e->lanes), EVENT_WAIT_GROUP_LEFT);
	bool bulk = site->variant == EVENT_LIST_BULK;

	if (site->variant == EVENT_LIST_WGMMA) {
		uint32_t groups = s->lane[event_first(e->lanes)].product_groups;

		s->waited = groups > left ? groups - left : 0;
		if (!s->d->choices.no_retire)
			products_over(s, e, s->waited);
		return;
	}
	EACH_LANE(l, e->lanes) {
		uint32_t n = over(bulk ? &s->lane[l].bulk : &s->lane[l].cp, left);

		tell_end(s->g, e, 1u << l, F_MINE, ordered_operations(s->d, s->warp, bulk ? BULK_READS : CP_OPERATIONS, l), n);
		if (bulk && !(site->flags & EVENT_SOURCES))
			tell_end(s->g, e, 1u << l, F_MINE, ordered_operations(s->d, s->warp, BULK_WRITES, l), n);
	}
}

/* Products that a warp has issued until the end of so many of its groups, of which its first lane's records tell
 * (stream.c). */
static uint32_t products_in(const struct detect *d, const struct warp *w, uint32_t groups)
{
	uint32_t n = 0;

	for (uint32_t i = w->first; groups && i < w->first + w->n; i++) {
		const struct event *e = &d->event.v[i];

		n += e->kind == EVENT_WGMMA;
		groups -= e->kind == EVENT_COMMIT && site_of(d, e)->variant == EVENT_LIST_WGMMA && (e->lanes & 1);
	}
	return n;
}

/* PTX ISA, "wgmma.commit_group": a wgmma-group is the warpgroup's, so that whichever warp waits for
 * it knows that of all four. */
void products_over(struct scan *s, const struct event *e, uint32_t groups)
{
	const struct warp *w = &s->d->warp.v[s->warp];
	const struct block *b = block_of(s->d, s->warp);

	for (uint32_t i = w->index / 4 * 4; groups && i < w->index / 4 * 4 + 4 && i < EVENT_LANES; i++)
		if (b->warp[i] != NONE)
			tell_end(s->g, e, e->lanes, F_MINE, ordered_operations(s->d, b->warp[i], WGMMA_OPERATIONS, 0),
			     products_in(s->d, &s->d->warp.v[b->warp[i]], groups));
}

static void commit(struct scan *s, const struct event *e, unsigned list)
{
	if (list == EVENT_LIST_WGMMA) {
		EACH_LANE(l, e->lanes)
			s->lane[l].product_groups++;
		return;
	}
	EACH_LANE(l, e->lanes) {
		struct groups *g = list == EVENT_LIST_BULK ? &s->lane[l].bulk : &s->lane[l].cp;

		*ADD(&g->end) = g->issued;
	}
}

/* ---- copies that an mbarrier counts -------------------------------------------------------------------------- */

uint32_t copy_blocks(const struct detect *d, const struct event *e, unsigned lane)
{
	const struct event_unit *u = record_of(d, e);

	if (!(site_of(d, e)->flags & EVENT_MULTICAST))
		return 0;
	if (e->kind == EVENT_CANCEL)
		return (1u << block_of(d, e->warp)->ranks) - 1;
	return (uint32_t)event_get(u, lane, e->kind == EVENT_COPY ? EVENT_COPY_MASK : EVENT_TENSOR_MASK);
}

static uint32_t copy_bytes(const struct detect *d, const struct event *e, unsigned lane)
{
	const struct event_site *s = site_of(d, e);

	if (e->kind == EVENT_COPY)
		return (uint32_t)event_get(record_of(d, e), lane, EVENT_COPY_BYTES);
	if (e->kind == EVENT_TENSOR)
		return extent_box(record_of(d, e), s, lane, map_of(d, e, lane), NULL);
	return e->kind == EVENT_CANCEL ? 16 : (uint32_t)s->size * s->count;
}

enum event_operand mbar_operand(const struct event *e)
{
	static const enum event_operand mbar[] = {      /* from COPY on */
		EVENT_COPY_MBAR, EVENT_TENSOR_MBAR, EVENT_ASYNC_STORE_MBAR, EVENT_CANCEL_MBAR
	};

	return mbar[e->kind - EVENT_COPY];
}

/* A place in the shared memory of every block of the mask, or of that of the address; with .cta_group::2
 * hears the one of each pair that has the parity of the mbarrier's (PTX ISA, "cp.async.bulk.tensor"). */
static void count_copy(struct scan *s, const struct event *e, unsigned lane)
{
	const struct block *b = block_of(s->d, s->warp);
	uint32_t mask = copy_blocks(s->d, e, lane), source = copy_source(s->d, e, lane), written = source;
	bool pair = site_of(s->d, e)->flags & EVENT_PAIR;
	struct place p;

	if (!place_of_shared(s->d, e, event_get(record_of(s->d, e), lane, mbar_operand(e)), &p))
		return;
	EACH_LANE(r, mask ? mask : 1) {
		uint32_t told = pair ? (r & ~1u) | (s->d->block.v[p.block].rank & 1) : r;
		uint32_t owner = mask ? find_block(s->d, b->launch, b->cluster + told) : p.block;
		struct mbar_op *o;

		written++;
		if (owner == NONE)
			continue;
		o = add_mbar_op(s, e, lane, owner, p.address);
		o->bytes = copy_bytes(s->d, e, lane);
		o->source = source;
		o->written = written;
		o->number = 1;
	}
}

/* ---- records ------------------------------------------------------------------------------------------------------ */

void scan_async(struct scan *s, const struct event *e)
{
	const struct event_site *site = site_of(s->d, e);

	switch (e->kind) {
	case EVENT_COMMIT:
		commit(s, e, site->variant);
		return;
	case EVENT_WAIT_GROUP:
		wait_group(s, e, site);
		return;
	case EVENT_WGMMA:
		s->products++;
		return;
	default:
		break;
	}
	EACH_LANE(l, e->lanes) {
		if (is_folded(s->d, e, l))
			continue;
		if (e->kind == EVENT_CP_ASYNC)
			s->lane[l].cp.issued++;
		else if (site->flags & EVENT_COUNTED)
			count_copy(s, e, l);
		else
			s->lane[l].bulk.issued++;
	}
}
