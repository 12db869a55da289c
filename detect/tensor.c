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

/* ---- what is freed -------------------------------------------------------------------------------------- */

enum { UNIT = 32, UNITS = 16 };         /* columns in which tensor memory is given away; how many of them there are */

/* Of one block, by the first unit: allocations, and how often they are freed; the last ones. */
struct rooms { const struct event *alloc[UNITS], *freed[UNITS], *before[UNITS]; uint32_t allocs[UNITS], frees[UNITS]; };

static void tell_room(struct detect *d, enum detect_why why, const struct event *e, const struct event *other, uint32_t unit)
{
	struct access a = as_access(d, e, e->lanes & -e->lanes), b;

	a.space |= TENSOR_SPACE;
	a.address = unit * UNIT * CELL_BYTES;
	if (other) {
		b = as_access(d, other, other->lanes & -other->lanes);
		b.space |= TENSOR_SPACE;
		b.address = a.address;
	}
	say(d, DETECT_LIFETIME, why, &a, other ? &b : NULL);
}

static void take_room(const struct detect *d, struct rooms *r, const struct event *e)
{
	bool frees = e->kind == EVENT_TC_FREE;
	uint32_t at = (uint32_t)event_get(record_of(d, e), event_first(e->lanes), frees ? EVENT_TC_FREE_AT : EVENT_TC_ALLOC_AT);
	uint32_t unit = at / UNIT % UNITS;

	if (!frees) {
		r->allocs[unit]++;
		if (!r->alloc[unit] || r->alloc[unit]->clock[EVENT_BEFORE] < e->clock[EVENT_BEFORE])
			r->alloc[unit] = e;
		return;
	}
	r->frees[unit]++;
	if (!r->freed[unit] || r->freed[unit]->clock[EVENT_BEFORE] <= e->clock[EVENT_BEFORE]) {
		r->before[unit] = r->freed[unit];
		r->freed[unit] = e;
	} else if (!r->before[unit] || r->before[unit]->clock[EVENT_BEFORE] < e->clock[EVENT_BEFORE]) {
		r->before[unit] = e;
	}
}

/* PTX ISA, "tcgen05.alloc, dealloc": all that was allocated is freed before the kernel ends, once.  Who frees what no
 * alloc of the block has given is told where another has freed it before. */
static void judge_rooms(struct detect *d, const struct block *block)
{
	struct rooms r = {.allocs = {0}};
	bool ends = false;

	for (unsigned k = 0; k < EVENT_LANES; k++) {
		const struct warp *w = block->warp[k] == NONE ? NULL : &d->warp.v[block->warp[k]];

		for (uint32_t i = 0; w && i < w->n; i++) {
			const struct event *e = &d->event.v[w->first + i];

			ends |= e->kind == EVENT_EXIT && is_judged_now(d, e);
			if (e->kind == EVENT_TC_ALLOC || e->kind == EVENT_TC_FREE)
				take_room(d, &r, e);
		}
	}
	ends &= block->threads && block->ended == block->threads;
	for (uint32_t u = 0; u < UNITS; u++) {
		if (r.frees[u] > r.allocs[u] && r.before[u] && is_judged_now(d, r.freed[u]))
			tell_room(d, DETECT_FREED_TWICE, r.freed[u], r.before[u], u);
		if (r.allocs[u] > r.frees[u] && ends)
			tell_room(d, DETECT_NOT_FREED, r.alloc[u], NULL, u);
	}
}

void judge_tensor(struct detect *d)
{
	bool *allocates = (bool *)arena_get(&d->arena, d->block.n, sizeof *allocates);

	for (uint32_t i = 0; i < d->event.n && !d->opaque; i++)
		allocates[d->warp.v[d->event.v[i].warp].block] |= d->event.v[i].kind == EVENT_TC_ALLOC;
	for (uint32_t i = 0; i < d->block.n; i++)
		if (allocates[i])
			judge_rooms(d, &d->block.v[i]);
}

/* ---- who uses what was freed ------------------------------------------------------------------------------ */

/* Allocations and frees, by block; warp, pos: what was told last. */
struct freed { const struct event **event; struct rows of_block; bool any; uint32_t warp, pos; };

static uint32_t place_of_room(const struct detect *d, const struct event *e, uint32_t *columns)
{
	bool frees = e->kind == EVENT_TC_FREE;
	const struct event_unit *u = record_of(d, e);
	unsigned lane = event_first(e->lanes);

	*columns = (uint32_t)event_get(u, lane, frees ? EVENT_TC_FREE_COLUMNS : EVENT_TC_ALLOC_COLUMNS);
	return (uint32_t)event_get(u, lane, frees ? EVENT_TC_FREE_AT : EVENT_TC_ALLOC_AT) % CELL_COLUMNS;
}

/* Has it any column of the access?  That may go on in the lane below. */
static bool has_column_of(const struct detect *d, const struct event *e, const struct access *a)
{
	uint32_t first = (uint32_t)(a->address / CELL_BYTES % CELL_COLUMNS), end = first + (uint32_t)(a->bytes / CELL_BYTES), columns;
	uint32_t at = place_of_room(d, e, &columns);

	return (first < at + columns && at < end) || (end > CELL_COLUMNS && at < end - CELL_COLUMNS);
}

/* Was it there before the access, as far as clocks tell, or the timer for one of another block?  Behind a barrier of the
 * block an access may seem to be earlier than it is. */
static bool began_before(const struct detect *d, const struct event *e, const struct access *a)
{
	if (d->warp.v[e->warp].block == access_block(d, a))
		return e->clock[EVENT_BEFORE] <= a->clock;
	return e->timer[EVENT_BEFORE] <= a->timer;
}

/* May the columns have been given out again, between the free and the access? */
static enum order given_again(const struct court *c, const struct freed *all, const struct event *free, const struct access *a)
{
	uint32_t block = c->d->warp.v[free->warp].block;
	enum order answer = UNORDERED;

	for (uint32_t i = all->of_block.first[block]; i < all->of_block.first[block + 1] && answer != ORDERED; i++) {
		const struct event *e = all->event[all->of_block.item[i]];
		struct access alloc = as_access(c->d, e, e->lanes);
		enum order o;

		if (e->kind != EVENT_TC_ALLOC || !has_column_of(c->d, e, a) || e->clock[EVENT_BEHIND] < free->clock[EVENT_BEFORE])
			continue;
		o = began_before(c->d, e, a) ? ORDERED : in_order(c, &alloc, a);
		answer = o == UNORDERED ? answer : o;
	}
	return answer;
}

/* As cells see it. */
static struct access free_as_access(struct detect *d, const struct event *e, const struct access *a)
{
	struct access f = as_access(d, e, e->lanes);

	f.space = a->space;
	f.address = a->address;
	f.source = SOURCE(SOURCE_OPERATION, single_operations(d, e, 1));
	f.number = 1;
	f.operation = 1;
	f.at_once = f.writes = true;
	return f;
}

/* PTX ISA, "tcgen05.dealloc": what comes behind it may not use what it has freed.  What is not ordered with it races. */
static bool judge_freed(const struct court *c, struct freed *all, const struct access *a, bool report)
{
	uint32_t block = (a->space & ~TENSOR_SPACE) - 1;
	bool asks = false;

	for (uint32_t i = all->of_block.first[block]; i < all->of_block.first[block + 1]; i++) {
		const struct event *e = all->event[all->of_block.item[i]];
		struct access free;
		enum order o, again;

		if (e->kind != EVENT_TC_FREE || (e->warp == a->warp && e->pos > a->pos) || !has_column_of(c->d, e, a))
			continue;
		free = free_as_access(c->d, e, a);
		o = in_order(c, &free, a);
		again = o == ORDERED ? given_again(c, all, e, a) : ORDERED;
		asks |= o == NOT_KNOWN || again == NOT_KNOWN;
		if (again != UNORDERED || !report)
			continue;
		say(c->d, DETECT_LIFETIME, DETECT_USED_FREED, a, &free);
		all->warp = a->warp;
		all->pos = a->pos;
		return false;
	}
	return asks;
}

static bool judge_uses(const struct court *c, void *arg, bool report)
{
	struct freed *all = (struct freed *)arg;
	bool asks = false;

	for (uint32_t i = 0; i < c->d->access.n; i++) {
		const struct access *a = &c->d->access.v[i];

		/* Each of its rows is an access of its own. */
		if (a->space & TENSOR_SPACE && !a->old && c->d->site.v[a->site].kind != EVENT_TC_FREE &&
		    (a->warp != all->warp || a->pos != all->pos))
			asks |= judge_freed(c, all, a, report);
	}
	return asks;
}

void judge_freed_rooms(struct detect *d)
{
	struct court c = {d, &d->graph, &d->answers};
	uint32_t *row = (uint32_t *)arena_get(&d->arena, d->event.n, sizeof *row), n = 0;
	struct freed all = {.event = (const struct event **)arena_get(&d->arena, d->event.n, sizeof *all.event)};

	for (uint32_t i = 0; i < d->event.n && !d->opaque; i++) {
		const struct event *e = &d->event.v[i];

		if (e->kind != EVENT_TC_ALLOC && e->kind != EVENT_TC_FREE)
			continue;
		all.any |= e->kind == EVENT_TC_FREE;
		row[n] = d->warp.v[e->warp].block;
		all.event[n++] = e;
	}
	if (!all.any)
		return;
	all.of_block = rows_of(&d->arena, row, n, d->block.n);
	settle(&c, judge_uses, &all);
}
