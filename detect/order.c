/* SPDX-License-Identifier: Apache-2.0
 *
 * order.c: the screen of blocks whose warps meet in other ways than at barriers of all their threads (screen.h): at
 * mbarriers and named barriers, by groups of copies and products.  The records of a block are gone through in an order
 * in which they can have happened, with a clock for each of those who act: what each knows of the others.
 *
 * Only what leaves no choice is followed.  An arrival or a copy has to know that the phases before its own are over, so
 * that any order of the records gives the same phases; a barrier has to be of the same warps each time.  What a warp
 * does is of all its lanes, or of lane 0 alone, which may know more than the others.  Global memory is screen.c's.
 */
#include <stdlib.h>

#include "detect/memory.h"
#include "detect/order.h"

/* ---- barriers ------------------------------------------------------------------------------------------------ */

/* BARS: there is none of that number. */
SCREEN_HELPER uint32_t bar_of(const struct order *o, const struct event_unit *u)
{
	uint32_t b = o->m->bar_of[event_bar_id(u)];

	return b ? b - 1 : BARS;
}

/* The same, of which there is one from now on, if there is room. */
SCREEN_HELPER uint32_t make_bar(const struct order *o, const struct event_unit *u)
{
	uint32_t n = o->m->bars, b = bar_of(o, u);

	TOGETHER();
	if (b < BARS || n == BARS)
		return b;
	EACH_LANE(i, 1) {
		o->m->bar_of[event_bar_id(u)] = (uint8_t)(n + 1);
		o->m->bars = n + 1;
	}
	TOGETHER();
	return n;
}

SCREEN_HELPER uint16_t *known_in(const struct order *o, uint32_t id, uint32_t use)
{
	return o->m->known[KNOWN_IN + 2 * id + use % 2];
}

SCREEN_HELPER void arrive_bar(const struct order *o, const struct action *a)
{
	uint32_t id = make_bar(o, a->u), count = event_bar_count(a->u), need = count ? count / EVENT_LANES : o->s->log.warps;
	struct bar *b = &o->m->bar[id < BARS ? id : 0];
	uint32_t me = 1u << a->warp, uses = b->uses;
	bool first = !b->here;
	uint32_t reduces = a->site->flags & EVENT_REDUCE;

	if (id == BARS || (!first && b->reduces != reduces) || !a->full || o->m->at[a->warp] || count % EVENT_LANES || (b->members && b->count != count) ||
	    (event_count(b->members) == need && !(b->members & me))) {
		give_up(o, SCREEN_ORDER);
		return;
	}
	TOGETHER();
	if (first)
		set_row(known_in(o, id, uses), NULL);
	release(o, a, known_in(o, id, uses));
	EACH_LANE(i, 1) {
		b->count = count;
		b->reduces = reduces;
		b->members |= me;
		b->here |= me;
		o->m->at[a->warp] = (uint16_t)(id + 1);
		o->m->use[a->warp] = (uint16_t)uses;
		if (event_count(b->here) == need) {
			b->here = 0;
			b->uses = uses + 1;
		}
	}
	TOGETHER();
}

SCREEN_HELPER bool bar_is_over(const struct order *o, const struct event_unit *u, uint32_t warp)
{
	uint32_t id = bar_of(o, u);

	return id == BARS || o->m->at[warp] != id + 1 || (uint16_t)o->m->bar[id].uses != o->m->use[warp];
}

SCREEN_HELPER void wait_bar(const struct order *o, const struct action *a)
{
	uint32_t id = bar_of(o, a->u);

	if (id == BARS || !a->full || o->m->at[a->warp] != id + 1) {
		give_up(o, SCREEN_ORDER);
		return;
	}
	acquire(o, a, known_in(o, id, o->m->use[a->warp]));
	EACH_LANE(i, 1)
		o->m->at[a->warp] = 0;
	TOGETHER();
}

/* ---- mbarriers ------------------------------------------------------------------------------------------------ */

SCREEN_HELPER uint16_t *known_at(const struct order *o, uint32_t m, uint32_t which)
{
	return o->m->known[KNOWN_AT + 3 * m + which];
}

/* Which of the two rows of phases that are over. */
SCREEN_HELPER uint16_t *known_after(const struct order *o, uint32_t m, uint32_t phase)
{
	return known_at(o, m, 1 + phase % 2);
}

SCREEN_HELPER uint32_t find_mbar(const struct order *o, uint64_t address)
{
	uint32_t m = 0;

	NO_UNROLL
	while (m < o->m->mbars && o->m->mbar[m].address != event_offset(address))
		m++;
	return m;
}

/* That of a warp's next record; MBARS: there is none. */
SCREEN_HELPER uint32_t mbar_of(const struct order *o, uint32_t warp, uint64_t address)
{
	uint32_t m = o->m->slot[warp].mbar;

	m = m < MBARS ? m : find_mbar(o, address);
	return m < o->m->mbars ? m : MBARS;
}

/* Is all that may have used those 8 bytes before?  What comes behind that and is no use of an mbarrier is seen by
 * has_mbar(). */
SCREEN_HELPER bool is_unused(const struct order *o, const struct action *a, uint32_t address)
{
	const struct cell *c = &o->m->cell[cell_at(o, address)];

	return all_before(a, &c->read, false) && all_before(a, &c->old, false) &&
	       (all_before(a, &c->write, false) ||
		(rest_is_plain(a, &c->write) && !(written_words(o, c, address) & words_mask(address, 8))));
}

SCREEN_HELPER void init_mbar(const struct order *o, const struct action *a)
{
	uint32_t lane = event_first(a->mask), n = o->m->mbars, address = event_offset(event_address(a->u, lane));

	if (!a->alone || n == MBARS || address < SYSTEM || cell_at(o, address) >= o->cells || has_mbar(o, address, address + 8) ||
	    !is_unused(o, a, address)) {
		give_up(o, SCREEN_ORDER);
		return;
	}
	TOGETHER();
	EACH_LANE(i, 1) {
		struct mbar *b = &o->m->mbar[n];

		memset(b, 0, sizeof *b);
		b->address = address;
		b->need = b->left = (uint32_t)event_get(a->u, lane, EVENT_MBAR_INIT_COUNT);
		b->init = entry_of(LANE_0 + a->warp, o->m->now[a->warp]);
		o->m->mbars = n + 1;
		o->m->low = n && o->m->low < address ? o->m->low : address;
		o->m->high = n && o->m->high > address + 8 ? o->m->high : address + 8;
	}
	TOGETHER();
}

/* What brings something to a phase has to know the ones before over. */
SCREEN_HELPER bool is_in_phase(const struct order *o, const struct action *a, uint32_t m)
{
	return m < o->m->mbars && is_before(a, o->m->mbar[m].init) && a->known[PHASE + m] == (uint16_t)o->m->mbar[m].over;
}

/* Is the phase over? */
SCREEN_HELPER void end_phase(const struct order *o, uint32_t m)
{
	struct mbar *b = &o->m->mbar[m];
	uint32_t over = b->over;

	if (b->left || b->bytes)
		return;
	TOGETHER();
	EACH_LANE(i, 1)
		known_at(o, m, 0)[PHASE + m] = (uint16_t)(over + 1);
	TOGETHER();
	set_row(known_after(o, m, over), known_at(o, m, 0));
	set_row(known_at(o, m, 0), NULL);
	EACH_LANE(i, 1) {
		/* What is expected is for the phase that its thread arrives in next: who has not may do that too late. */
		if (b->expect)
			against(o->s, SCREEN_ORDER, o->block, o->block);
		b->over = (uint16_t)(over + 1);
		b->left = b->need;
		b->told = 0;
		if (over >= UINT16_MAX - 2)
			against(o->s, SCREEN_SPACE, o->block, o->block);
	}
	TOGETHER();
}

enum { MOST_BYTES = (1 << 20) - 1 };    /* PTX ISA, "mbarrier: Tracking asynchronous operations" */

/* Arrivals, and bytes that are expected. */
SCREEN_HELPER void arrive_mbar(const struct order *o, const struct action *a)
{
	uint32_t lane = event_first(a->mask), m = mbar_of(o, a->warp, event_address(a->u, lane)), count = 0, bytes;
	bool arrives = event_kind_of(a->u) == EVENT_MBAR_ARRIVE, fine = is_one(a->u) && (a->full || a->alone) && is_in_phase(o, a, m);
	struct mbar *b = &o->m->mbar[m < MBARS ? m : 0];

	bytes = (uint32_t)event_get(a->u, lane, arrives ? EVENT_MBAR_ARRIVE_BYTES : EVENT_MBAR_EXPECT_BYTES);
	if (arrives)
		count = (uint32_t)event_get(a->u, lane, EVENT_MBAR_ARRIVE_COUNT) * event_count(a->mask);
	fine = fine && !(a->site->flags & (EVENT_DROP | EVENT_NOINC)) && (!arrives || a->site->sem != EVENT_RELAXED) &&
	       count <= b->left && bytes <= MOST_BYTES && b->told + bytes <= MOST_BYTES &&
	       (event_count(a->mask) == 1 || !bytes);
	if (!fine) {
		give_up(o, SCREEN_ORDER);
		return;
	}
	TOGETHER();
	if (arrives)
		release(o, a, known_at(o, m, 0));
	EACH_LANE(i, 1) {
		b->left -= count;
		b->bytes += bytes;
		b->told += bytes;
		b->expect = arrives ? b->expect & ~((a->mask & 1) << a->warp) : b->expect | 1u << a->warp;
	}
	TOGETHER();
	if (arrives)
		end_phase(o, m);
}

/* Which phase a warp's next record, a wait, tells over, counted from 1; 0: none that is not known; NONE: it is not followed. */
SCREEN_HELPER uint32_t waited_phase(const struct order *o, uint32_t warp, const struct event_unit *u, const uint16_t *row)
{
	const struct event_site *site = &o->m->slot[warp].site;
	uint32_t lane = event_first(event_lanes(u)), m = mbar_of(o, warp, event_address(u, lane)), known;

	if (!is_one(u) || m == MBARS || !(site->flags & EVENT_PARITY) || site->sem == EVENT_RELAXED)
		return SCREEN_NONE;
	/* The parity is that of the last phase that is over: of the one that is known, or of a later one. */
	known = row[PHASE + m];
	return (known + 1) % 2 == event_get(u, lane, EVENT_MBAR_WAIT_PHASE) % 2 ? 0 : known + 1;
}

SCREEN_HELPER bool mbar_is_over(const struct order *o, uint32_t warp, const struct event_unit *u)
{
	uint32_t phase = waited_phase(o, warp, u, known_by(o, warp, event_lanes(u) == 1));
	uint32_t m = mbar_of(o, warp, event_address(u, event_first(event_lanes(u))));

	return !phase || phase == SCREEN_NONE || o->m->mbar[m].over >= phase;
}

SCREEN_HELPER void wait_mbar(const struct order *o, const struct action *a)
{
	uint32_t phase = waited_phase(o, a->warp, a->u, a->known), m = mbar_of(o, a->warp, event_address(a->u, event_first(a->mask)));

	if (phase == SCREEN_NONE || !(a->full || a->alone) || !is_before(a, o->m->mbar[m].init))
		give_up(o, SCREEN_ORDER);
	else if (phase && o->m->mbar[m].over > phase + 1)
		give_up(o, SCREEN_SPACE);
	else if (phase)
		acquire(o, a, known_after(o, m, phase - 1));
}

/* ---- copies and products ---------------------------------------------------------------------------------------- */

/* The tensor map of that hash, which is kept for the next copy; NULL: it is not known. */
SCREEN_HELPER const struct event_map *map_of(const struct order *o, uint64_t hash)
{
	uint32_t n = o->m->maps;
	const struct event_map *map;

	for (uint32_t i = 0; i < n; i++)
		if (o->m->map[i].hash == hash)
			return &o->m->map[i];
	map = screen_map(o->s, hash);
	if (!map || n == MAPS)
		return map;
	TOGETHER();
	EACH_LANE(i, sizeof *map / 8)
		((uint64_t *)(void *)&o->m->map[n])[i] = ((const uint64_t *)(const void *)map)[i];
	EACH_LANE(i, 1)
		o->m->maps = n + 1;
	TOGETHER();
	return &o->m->map[n];
}
EVENT_ASSERT(sizeof(struct event_map) % 8 == 0);

/* What a copy reads and writes in shared memory; false: it is of a form that is not looked at. */
SCREEN_HELPER bool copy_bounds(const struct order *o, const struct action *a, struct bounds *shared, uint32_t *bytes)
{
	uint32_t lane = event_first(a->mask);
	bool load = a->site->flags & EVENT_COUNTED;
	struct bounds_box box;

	if (event_kind_of(a->u) == EVENT_TENSOR) {
		const struct event_map *map = map_of(o, event_get(a->u, lane, EVENT_TENSOR_HASH));

		if (!map || !bounds_box(a->u, a->site, lane, map, &box))
			return false;
		*shared = bounds_shared_box(&box, event_address(a->u, lane));
		*bytes = box.rows * box.row_bytes;
		return true;
	}
	*bytes = (uint32_t)event_get(a->u, lane, EVENT_COPY_BYTES);
	shared->from = load ? event_address(a->u, lane) : event_get(a->u, lane, EVENT_COPY_FROM);
	shared->to = shared->from + *bytes;
	return *bytes && a->site->space == (load ? EVENT_SHARED : EVENT_GLOBAL) && a->site->from == (load ? EVENT_GLOBAL : EVENT_SHARED) &&
	       !(a->site->flags & (EVENT_MULTICAST | EVENT_BYTE_MASK | EVENT_REDUCE));
}

/* Into shared memory, with bytes for an mbarrier. */
SCREEN_HELPER void load(const struct order *o, const struct action *a, const struct bounds shared[2], uint32_t bytes)
{
	enum event_operand at = event_kind_of(a->u) == EVENT_TENSOR ? EVENT_TENSOR_MBAR : EVENT_COPY_MBAR;
	uint32_t m = mbar_of(o, a->warp, event_get(a->u, event_first(a->mask), at));
	struct mbar *b = &o->m->mbar[m < MBARS ? m : 0];
	struct action told;

	if (!is_in_phase(o, a, m) || b->bytes < bytes) {
		give_up(o, SCREEN_ORDER);
		return;
	}
	told = told_by(a, known_at(o, m, 0));
	touch_async(o, a, &told, shared, entry_of(PHASE + m, b->over + 1));
	EACH_LANE(i, 1) {
		b->bytes -= bytes;
		b->copies = (uint16_t)(b->over + 1);
	}
	TOGETHER();
	end_phase(o, m);
}

/* Out of it, in a group of lane 0. */
SCREEN_HELPER void store(const struct order *o, const struct action *a, const struct bounds shared[2])
{
	touch_async(o, a, a, shared, entry_of(BULK + a->warp, o->m->copies[a->warp] + 1u));
	EACH_LANE(i, 1)
		o->m->open[a->warp]++;
	TOGETHER();
}

SCREEN_HELPER void copy(const struct order *o, const struct action *a)
{
	struct bounds shared[2] = {{0, 0}, {0, 0}};
	uint32_t bytes;

	if (!a->alone || !copy_bounds(o, a, shared, &bytes))
		give_up(o, SCREEN_ORDER);
	else if (a->site->flags & EVENT_COUNTED)
		load(o, a, shared, bytes);
	else
		store(o, a, shared);
}

/* What a record's products read as one operand: their descriptors are that far behind the record's, and
 * any between. */
SCREEN_HELPER struct bounds operand_bounds(const struct event_site *s, uint64_t descriptor, const int16_t span[2], bool b)
{
	struct bounds all = {UINT64_MAX, 0};

	for (uint32_t k = 0; k < 2; k++) {
		uint64_t at = descriptor + (uint64_t)(int64_t)span[k];

		all = bounds_union(all, b ? bounds_matrix(at, s->flags & EVENT_B_MN, s->shape[1], s->shape[4], s->shape[3]) :
					    bounds_matrix(at, s->flags & EVENT_A_MN, s->shape[0], 64, s->shape[2]));
	}
	return all;
}

/* Is it of the products that the warpgroup's first warp has been judged by, of which this one knows no less?  Then it is
 * as fine as those. */
SCREEN_HELPER bool follows_first(const struct order *o, const struct action *a, uint64_t first_a, uint64_t first_b, uint32_t clock)
{
	uint32_t g = a->warp / 4;
	bool all = o->m->first[g].a == first_a && o->m->first[g].b == first_b && o->m->first[g].clock == clock &&
		   o->m->first[g].site == event_site_of(a->u);

	EACH_LANE(i, CLOCKS / 2)
		all = all && later_pair(pairs_in(a->known)[i], pairs_in(o->m->known[KNOWN_FIRST + g])[i]) == pairs_in(a->known)[i];
	return OF_ALL(all);
}

/* All products of a record, of which each adds to the descriptors of the first. */
SCREEN_HELPER void product(const struct order *o, const struct action *a)
{
	const struct screen_span *span = &o->m->slot[a->warp].span;
	uint32_t lane = event_first(a->mask), clock = o->m->products[a->warp] + 1u, g = a->warp / 4;
	uint64_t first_a = event_get(a->u, lane, EVENT_WGMMA_A), first_b = event_get(a->u, lane, EVENT_WGMMA_B);
	const struct action told = told_by(a, o->m->known[KNOWN_TO_NOBODY]);
	struct bounds all[2] = {{0, 0}, {0, 0}};

	if (!a->full || !span->known) {
		give_up(o, SCREEN_ORDER);
		return;
	}
	if (follows_first(o, a, first_a, first_b, clock))
		return;
	if (!(a->site->flags & EVENT_A_ELSEWHERE))
		all[0] = operand_bounds(a->site, first_a, span->a, false);
	all[1] = operand_bounds(a->site, first_b, span->b, true);
	touch_async(o, a, &told, all, entry_of(PRODUCTS + g, clock));
	EACH_LANE(i, 1) {
		o->m->first[g].a = first_a;
		o->m->first[g].b = first_b;
		o->m->first[g].clock = clock;
		o->m->first[g].site = event_site_of(a->u);
	}
	set_row(o->m->known[KNOWN_FIRST + g], a->known);
}

/* PTX ISA, "wgmma.commit_group": a group is the warpgroup's, and over when it is for all four warps. */
SCREEN_HELPER bool products_are_over(const struct order *o, const struct event_unit *u, uint32_t warp)
{
	uint32_t left = (uint32_t)event_get(u, 0, EVENT_WAIT_GROUP_LEFT), mine = o->m->products[warp];

	for (uint32_t w = warp / 4 * 4; w < warp / 4 * 4 + 4 && w < o->s->log.warps; w++)
		if (o->m->products[w] + left < mine)
			return false;
	return true;
}

/* How many of so many groups are over. */
SCREEN_HELPER uint32_t groups_over(const struct event_unit *u, uint32_t groups)
{
	uint32_t left = (uint32_t)event_get(u, 0, EVENT_WAIT_GROUP_LEFT);

	return groups > left ? groups - left : 0;
}

/* ---- a warp's own records, which its lane looks at ---------------------------------------------------------------- */

SCREEN_HELPER void fence(const struct order *o, const struct event_unit *u, uint32_t warp)
{
	const struct event_site *site = &o->s->table.all[event_site_of(u)];

	if (site->variant != EVENT_FENCE_ASYNC || site->space == EVENT_GLOBAL || event_lanes(u) != all_lanes(o->s, warp))
		return;
	o->m->fenced[warp] = o->m->now[warp]++;
	if (o->m->now[warp] == UINT16_MAX)
		against(o->s, SCREEN_SPACE, o->block, o->block);
}

/* PTX ISA, "bar.warp.sync": behind one of all lanes each knows what lane 0 knew, and what all have done. */
SCREEN_HELPER void meet(const struct order *o, const struct event_unit *u, uint32_t warp)
{
	uint32_t all = all_lanes(o->s, warp), now = o->m->now[warp];

	check_members(o->s, u);
	if (event_kind_of(u) == EVENT_WARP_ARRIVE || event_lanes(u) != all)
		return;
	for (uint32_t alone = 0; alone < 2; alone++) {
		uint16_t *known = known_by(o, warp, alone);

		for (uint32_t i = 0; i < CLOCKS; i++)
			learn(known, i, known_by(o, warp, true)[i]);
		learn(known, LANES + warp, now);
		learn(known, LANE_0 + warp, now);
		learn(known, FENCE + warp, o->m->fenced[warp]);
	}
	o->m->now[warp] = (uint16_t)(now + 1);
	if (now == UINT16_MAX - 1)
		against(o->s, SCREEN_SPACE, o->block, o->block);
}

/* It orders nothing. */
SCREEN_HELPER void try_mbar(const struct order *o, const struct event_unit *u, uint32_t warp)
{
	bool alone = event_lanes(u) == 1;
	uint32_t m = find_mbar(o, event_address(u, event_first(event_lanes(u))));

	if (!is_one(u) || !(o->s->table.all[event_site_of(u)].flags & EVENT_PARITY) || m == o->m->mbars ||
	    !knows(known_by(o, warp, alone), o->m->mbar[m].init, alone ? (uint32_t)LANE_0 + warp : CLOCKS))
		against(o->s, SCREEN_ORDER, o->block, o->block);
}

SCREEN_HELPER void commit(const struct order *o, const struct event_unit *u, uint32_t warp)
{
	unsigned list = o->s->table.all[event_site_of(u)].variant;
	uint16_t *groups = list == EVENT_LIST_WGMMA ? &o->m->products[warp] : &o->m->copies[warp];

	if (list == EVENT_LIST_CP)
		against(o->s, SCREEN_KIND, o->block, o->block);
	if (list == EVENT_LIST_BULK && !(event_lanes(u) & 1))
		return;
	++*groups;
	if (*groups == UINT16_MAX)
		against(o->s, SCREEN_SPACE, o->block, o->block);
	if (list == EVENT_LIST_BULK)
		o->m->open[warp] = 0;
}

SCREEN_HELPER void wait_products(const struct order *o, const struct event_unit *u, uint32_t warp)
{
	for (uint32_t alone = 0; alone < 2; alone++)
		learn(known_by(o, warp, alone), PRODUCTS + warp / 4, groups_over(u, o->m->products[warp]));
	if (event_lanes(u) != all_lanes(o->s, warp))
		against(o->s, SCREEN_ORDER, o->block, o->block);
}

SCREEN_HELPER void wait_copies(const struct order *o, const struct event_unit *u, uint32_t warp)
{
	if (o->s->table.all[event_site_of(u)].variant != EVENT_LIST_BULK)
		against(o->s, SCREEN_KIND, o->block, o->block);
	else if (event_lanes(u) & 1)
		learn(known_by(o, warp, true), BULK + warp, groups_over(u, o->m->copies[warp]));
}

/* True: the record concerns others, too. */
SCREEN_HELPER bool concerns_others(const struct order *o, struct step *p, uint32_t warp)
{
	switch (event_kind_of(p->u)) {
	case EVENT_CLOCK:
	case EVENT_BEGIN:
		return false;
	case EVENT_FENCE:
		fence(o, p->u, warp);
		return false;
	case EVENT_WARP_ARRIVE:
	case EVENT_WARP_WAIT:
		meet(o, p->u, warp);
		return false;
	case EVENT_COMMIT:
		commit(o, p->u, warp);
		return false;
	case EVENT_WAIT_GROUP:
		if (o->s->table.all[event_site_of(p->u)].variant != EVENT_LIST_WGMMA)
			wait_copies(o, p->u, warp);
		else if (products_are_over(o, p->u, warp))
			wait_products(o, p->u, warp);
		else
			return true;
		return false;
	case EVENT_MBAR_TRY:
		try_mbar(o, p->u, warp);
		return false;
	case EVENT_ACCESS:
		return traits_of(o->s, p->u) & (TRAIT_SHARED_READ | TRAIT_SHARED_WRITE);
	default:
		return true;
	}
}

/* ---- all of a block ------------------------------------------------------------------------------------------------ */

/* Does nothing hold it up? */
SCREEN_HELPER bool is_ready(const struct order *o, const struct step *p, uint32_t warp)
{
	switch (event_kind_of(p->u)) {
	case EVENT_BAR_WAIT:
		return bar_is_over(o, p->u, warp);
	case EVENT_MBAR_WAIT:
		return mbar_is_over(o, warp, p->u);
	case EVENT_WAIT_GROUP:
		return products_are_over(o, p->u, warp);
	default:
		return true;
	}
}

SCREEN_HELPER void carry_out(const struct order *o, const struct action *a)
{
	switch (event_kind_of(a->u)) {
	case EVENT_ACCESS:
		touch(o, a);
		break;
	case EVENT_BAR_ARRIVE:
		arrive_bar(o, a);
		break;
	case EVENT_BAR_WAIT:
		wait_bar(o, a);
		break;
	case EVENT_MBAR_INIT:
		init_mbar(o, a);
		break;
	case EVENT_MBAR_ARRIVE:
	case EVENT_MBAR_EXPECT:
		arrive_mbar(o, a);
		break;
	case EVENT_MBAR_WAIT:
		wait_mbar(o, a);
		break;
	case EVENT_COPY:
	case EVENT_TENSOR:
		copy(o, a);
		break;
	case EVENT_WGMMA:
		product(o, a);
		break;
	case EVENT_WAIT_GROUP:          /* which has been held up by the warpgroup's other warps */
		EACH_LANE(i, 1)
			wait_products(o, a->u, a->warp);
		TOGETHER();
		break;
	case EVENT_EXIT:
		release(o, a, o->m->known[KNOWN_AT_EXIT]);
		break;
	default:
		give_up(o, SCREEN_KIND);
		break;
	}
}

/* What is known of the record where the warp is. */
SCREEN_HELPER void set_slot(const struct order *o, const struct step *p, uint32_t warp)
{
	uint32_t site = event_site_of(p->u), kind = event_kind_of(p->u), lane = event_first(event_lanes(p->u)), m = MBARS;
	struct slot *to = &o->m->slot[warp];

	to->site = o->s->table.all[site];
	to->span = o->s->table.span[site];
	if (kind >= EVENT_MBAR_ARRIVE && kind <= EVENT_MBAR_WAIT)
		m = find_mbar(o, event_address(p->u, lane));
	else if (kind == EVENT_TENSOR)
		m = find_mbar(o, event_get(p->u, lane, EVENT_TENSOR_MBAR));
	to->mbar = m < o->m->mbars ? m : MBARS;
}

/* To the warp's next record that concerns others. */
SCREEN_HELPER void advance(const struct order *o, struct step *p, uint32_t warp)
{
	while (!p->there && !p->at.ended)
		if ((p->u = take_record(o->s, &p->at.at, &p->log))) {
			screen_hold(o->s, p->u, p->u, o->block);
			p->there = concerns_others(o, p, warp);
			if (p->there)
				set_slot(o, p, warp);
		} else {
			next_piece(o->s, &p->at, o->block * o->s->log.warps + warp);
			p->log.n = 0;
		}
}

/* Copies use the block's memory, which ends with its threads. */
SCREEN_HELPER void check_end(const struct order *o)
{
	const uint16_t *known = o->m->known[KNOWN_AT_EXIT];

	EACH_LANE(i, o->m->mbars)
		if (known[PHASE + i] < o->m->mbar[i].copies)
			against(o->s, SCREEN_ORDER, o->block, o->block);
	EACH_LANE(i, o->s->log.warps)
		if (known[BULK + i] < o->m->copies[i] || o->m->open[i])
			against(o->s, SCREEN_ORDER, o->block, o->block);
}

SCREEN_HELPER const struct event_unit *where_of(const struct step *steps, uint32_t warp)
{
#ifdef __CUDACC__
	const struct step *mine = steps + threadIdx.x % EVENT_LANES;

	return (const struct event_unit *)__shfl_sync(~0u, (unsigned long long)mine->u, (int)warp);
#else
	return steps[warp].u;
#endif
}

/* steps: by warp; a GPU's lane has its own. */
SCREEN_HELPER void walk_order(const struct order *o, struct step *steps)
{
	struct action *a = &o->m->action;
	uint32_t open = 1, ready = 1;

	check_block(o->s, o->block);
	while (ready) {
		open = ready = 0;
		EACH_ONE(o, w) {
			advance(o, &steps[w], w);
			open |= (uint32_t)steps[w].there << w;
			ready |= (uint32_t)(steps[w].there && is_ready(o, &steps[w], w)) << w;
			steps[w].there = steps[w].there && !(ready >> w & 1);
		}
		TOGETHER();
		open = OF_EACH(open);
		ready = OF_EACH(ready);
		for (uint32_t left = ready; left; left &= left - 1) {
			const struct event_unit *u = where_of(steps, event_first(left));

			EACH_LANE(i, 1)
				*a = action_of(o, u, event_first(left));
			TOGETHER();
			carry_out(o, a);
			TOGETHER();
		}
	}
	if (open)
		give_up(o, SCREEN_ORDER);
	check_end(o);
}

#ifdef __CUDACC__
SCREEN_PASS void screen_order(const struct screen *s, uint32_t block)
{
	extern __shared__ uint32_t screen_memory[];
	__shared__ struct order o;
	uint32_t lane = threadIdx.x % EVENT_LANES;
	struct step step = {};

	for (uint32_t i = lane; i < memory_bytes(&s->log, s->form) / 4; i += EVENT_LANES)
		screen_memory[i] = 0;
	if (lane == 0)
		o = {s, (struct memory *)(void *)screen_memory, block, cells_of(&s->log, s->form), shift_of(&s->log, s->form)};
	__syncwarp();
	if (lane < s->log.warps) {
		o.m->now[lane] = 1;
		step.at = begin_warp(s, block * s->log.warps + lane);
		step.log.unit = o.m->slot[lane].unit;
	}
	__syncwarp();
	walk_order(&o, &step - lane);
}
#else
void screen_order(const struct screen *s, uint32_t block)
{
	struct order o = {
		s, (struct memory *)detect_zeroed(1, memory_bytes(&s->log, s->form)), block, cells_of(&s->log, s->form),
		shift_of(&s->log, s->form)
	};
	struct step steps[WARPS];

	for (uint32_t w = 0; w < s->log.warps; w++) {
		o.m->now[w] = 1;
		steps[w] = (struct step){.at = begin_warp(s, block * s->log.warps + w), .log = {o.m->slot[w].unit, 0, 0}};
	}
	walk_order(&o, steps);
	free(o.m);
}
#endif

bool screen_order_fits(const struct screen_log *l)
{
	return l->warps <= WARPS;
}
