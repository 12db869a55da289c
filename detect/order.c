/* SPDX-License-Identifier: Apache-2.0
 *
 * order.c: the screen of blocks whose warps meet in other ways than at barriers of all their threads (screen.h): at
 * mbarriers and named barriers, by groups of copies and products.  The records of a block are gone through in an order
 * in which they can have happened, with a clock for each of those who act: what each knows of the others.
 *
 * Only what leaves no choice is followed.  An arrival or a copy has to know that the phases before its own are over, so
 * that any order of the records gives the same phases; a barrier has to be of the same warps each time.  What a warp
 * does is of all its lanes, or of lane 0 alone, which may know more than the others.
 */
#include <stdlib.h>
#include <string.h>

#include "detect/bounds.h"
#include "detect/pass.h"

enum { WARPS = 12, MBARS = 12, BARS = 8, ENTRIES = 4, CELL_SHIFT = 10, CELL_WORDS = (1 << CELL_SHIFT) / 4 / 32 };

/* Who has a clock: the lanes of a warp; its lane 0 alone; its groups of bulk copies; its fence of the async proxy; the
 * phases of an mbarrier, and with them the copies that end there; the products of a warpgroup. */
enum { LANES = 0, LANE_0 = WARPS, BULK = 2 * WARPS, FENCE = 3 * WARPS, PHASE = 4 * WARPS, PRODUCTS = PHASE + MBARS, CLOCKS = 64 };
EVENT_ASSERT(PRODUCTS + WARPS / 4 <= CLOCKS);

/* What is known of each clock: of a warp's lanes, and of lane 0; of an mbarrier's arrivals, and of its last two phases; of
 * a barrier's last two uses; of all that have exited. */
enum { KNOWN_BY = 0, KNOWN_AT = 2 * WARPS, KNOWN_IN = KNOWN_AT + 3 * MBARS, KNOWN_AT_EXIT = KNOWN_IN + 2 * BARS, ROWS };

/* An access: whose, and what its clock said; 0: none. */
typedef uint32_t entry;

/* 1 KB of shared memory.  write: what wrote there last; read: what has read since; old: what is behind all that.  Plain
 * writes that nothing orders may share it, in different words. */
struct cell { entry write[ENTRIES], read[ENTRIES], old[ENTRIES]; uint32_t word[CELL_WORDS]; };

struct mbar { uint32_t address, need, left, bytes, over, copies; entry init; };        /* over: phases; copies: the last phase that has some, + 1 */
struct bar { uint32_t members, here, need, uses; };     /* members, here: warps; need: of how many it is */

struct memory {
	struct mbar mbar[MBARS];
	struct bar bar[BARS];
	uint32_t mbars;
	uint16_t known[ROWS][CLOCKS];
	uint16_t now[WARPS];            /* a warp's own clock */
	uint16_t products[WARPS], copies[WARPS], open[WARPS];   /* groups that are committed; copies in one that is not */
	uint16_t at[WARPS], use[WARPS]; /* a barrier at which the warp has arrived, + 1, and which use of it */
	struct cell cell[];
};

/* A warp's next record that concerns others. */
struct step { struct cursor at; struct event_unit u; const struct event_unit *where; bool there; };

struct order {
	const struct screen *s;
	struct memory *m;
	uint32_t block, warp, lanes;    /* warp, lanes: as in struct shared */
	uint32_t cells;
};

/* A record of a warp that is carried out. */
struct action {
	uint32_t warp;
	const struct event_unit *u;     /* all of it is there */
	const struct event_site *site;
	uint32_t mask;
	bool full, alone;               /* of all its lanes; of lane 0 alone */
	uint16_t *known;                /* by those lanes */
	uint32_t self;                  /* what lane 0 alone did is before what it does; CLOCKS */
};

#ifdef __CUDACC__
#define EACH_LANE(i, n) for (uint32_t i = threadIdx.x % EVENT_LANES; i < (n); i += EVENT_LANES)
#define TOGETHER() __syncwarp()
#define LEAST(v) __reduce_min_sync(~0u, v)
#define MOST(v) __reduce_max_sync(~0u, v)
#else
#define EACH_LANE(i, n) for (uint32_t i = 0; i < (n); i++)
#define TOGETHER() ((void)0)
#define LEAST(v) (v)
#define MOST(v) (v)
#endif

/* 1,024 bytes in front of a block's own. */
SCREEN_HELPER uint32_t cells_of(const struct screen_log *l)
{
	return ((l->shared + 1024) >> CELL_SHIFT) + 1;
}

EVENT_BOTH uint32_t screen_order_bytes(const struct screen_log *l)
{
	return (uint32_t)sizeof(struct memory) + (((l->shared + 1024) >> CELL_SHIFT) + 1) * (uint32_t)sizeof(struct cell);
}

/* ---- what is known ------------------------------------------------------------------------------------------ */

SCREEN_HELPER entry entry_of(uint32_t who, uint32_t clock) { return who << 16 | clock; }
SCREEN_HELPER uint32_t who_of(entry e) { return e >> 16; }
SCREEN_HELPER uint32_t clock_of(entry e) { return (uint16_t)e; }
SCREEN_HELPER bool is_plain(entry e) { return who_of(e) < BULK; }

SCREEN_HELPER bool is_before(const struct action *a, entry e)
{
	return who_of(e) == a->self || a->known[who_of(e)] >= clock_of(e);
}

/* PTX ISA, "membar/fence", fence.proxy.async: of a plain access, by its own warp. */
SCREEN_HELPER bool is_fenced(const struct action *a, entry e)
{
	return !is_plain(e) || a->known[FENCE + who_of(e) % WARPS] >= clock_of(e);
}

SCREEN_HELPER void join(uint16_t *to, const uint16_t *from)
{
	EACH_LANE(i, CLOCKS)
		to[i] = to[i] > from[i] ? to[i] : from[i];
	TOGETHER();
}

SCREEN_HELPER void set_row(uint16_t *to, const uint16_t *from)
{
	EACH_LANE(i, CLOCKS)
		to[i] = from ? from[i] : 0;
	TOGETHER();
}

SCREEN_HELPER uint16_t *known_by(const struct order *o, uint32_t warp, bool alone)
{
	return o->m->known[KNOWN_BY + 2 * warp + alone];
}

/* What the lanes know and have done, to a row; what they do next is behind that. */
SCREEN_HELPER void release(const struct order *o, const struct action *a, uint16_t *to)
{
	uint16_t now = o->m->now[a->warp];

	join(to, known_by(o, a->warp, a->mask & 1));
	EACH_LANE(i, 1) {
		to[LANE_0 + a->warp] = a->mask & 1 && now > to[LANE_0 + a->warp] ? now : to[LANE_0 + a->warp];
		to[LANES + a->warp] = a->full && now > to[LANES + a->warp] ? now : to[LANES + a->warp];
		o->m->now[a->warp] = (uint16_t)(now + 1);
		if (now == UINT16_MAX - 1)
			not_clear(o->s, SCREEN_SPACE);
	}
	TOGETHER();
}

SCREEN_HELPER void acquire(const struct order *o, const struct action *a, const uint16_t *from)
{
	join(known_by(o, a->warp, true), from);
	if (a->full)
		join(known_by(o, a->warp, false), from);
}

SCREEN_HELPER void give_up(const struct order *o, enum screen_why why)
{
	EACH_LANE(i, 1)
		not_clear(o->s, why);
}

SCREEN_HELPER struct action action_of(const struct order *o, const struct event_unit *u, uint32_t warp)
{
	struct action a;

	a.warp = warp;
	a.u = u;
	a.site = &o->s->table.all[event_site_of(u)];
	a.mask = event_lanes(u);
	a.full = a.mask == all_lanes(o->s, warp);
	a.alone = a.mask == 1;
	a.known = known_by(o, warp, a.alone);
	a.self = a.alone ? (uint32_t)LANE_0 + warp : CLOCKS;
	return a;
}

/* ---- cells -------------------------------------------------------------------------------------------------- */

/* Of two of one clock the later one, else the first. */
SCREEN_HELPER entry later(entry a, entry b)
{
	return who_of(a) == who_of(b) && clock_of(b) > clock_of(a) ? b : a;
}

/* Does what comes now need not look at it any more, because it is behind `mine`? */
SCREEN_HELPER bool stands_for(const struct action *a, entry mine, entry e)
{
	return who_of(e) == who_of(mine) || (is_before(a, e) && is_fenced(a, e));
}

/* False: there is no room. */
SCREEN_HELPER bool put(const struct action *a, entry list[ENTRIES], entry mine)
{
	uint32_t free = ENTRIES;

	for (uint32_t i = 0; i < ENTRIES; i++) {
		mine = list[i] ? later(mine, list[i]) : mine;
		if (list[i] && stands_for(a, mine, list[i]))
			list[i] = 0;
		free = list[i] ? free : i;
	}
	if (free < ENTRIES)
		list[free] = mine;
	return free < ENTRIES;
}

/* As it is, with whatever is there. */
SCREEN_HELPER bool keep(entry list[ENTRIES], entry e)
{
	uint32_t free = ENTRIES;

	for (uint32_t i = 0; i < ENTRIES; i++)
		if (list[i] && who_of(list[i]) == who_of(e)) {
			list[i] = later(list[i], e);
			return true;
		} else if (!list[i]) {
			free = i;
		}
	if (free < ENTRIES)
		list[free] = e;
	return free < ENTRIES;
}

/* Is all of it before what comes now, through the async proxy if that goes through it? */
SCREEN_HELPER bool all_before(const struct action *a, const entry list[ENTRIES], bool async)
{
	bool all = true;

	for (uint32_t i = 0; i < ENTRIES; i++)
		all = all && (!list[i] || (is_before(a, list[i]) && (!async || is_fenced(a, list[i]))));
	return all;
}

/* PTX ISA, "mbarrier": nothing but its own instructions may touch one. */
SCREEN_HELPER bool has_mbar(const struct order *o, uint32_t from, uint32_t to)
{
	bool any = false;

	for (uint32_t m = 0; m < o->m->mbars; m++)
		any = any || (o->m->mbar[m].address < to && from < o->m->mbar[m].address + 8);
	return any;
}

/* A copy's or a product's access to some bytes, whose end `mine` tells. */
SCREEN_HELPER void touch_async(const struct order *o, const struct action *a, struct bounds b, entry mine, bool writes)
{
	uint32_t first = (uint32_t)(b.from & 0xffffff) >> CELL_SHIFT, last = (uint32_t)((b.to - 1) & 0xffffff) >> CELL_SHIFT;

	if (b.to <= b.from || last < first || last >= o->cells) {
		give_up(o, SCREEN_SPACE);
		return;
	}
	if (writes && has_mbar(o, (uint32_t)b.from & 0xffffff, (uint32_t)b.to & 0xffffff))
		give_up(o, SCREEN_SHARED);
	EACH_LANE(i, last - first + 1) {
		struct cell *c = &o->m->cell[first + i];
		bool fine = all_before(a, c->write, true) && all_before(a, c->old, true) && (!writes || all_before(a, c->read, true));

		if (!fine || !put(a, writes ? c->write : c->read, mine))
			not_clear(o->s, SCREEN_SHARED);
		for (uint32_t k = 0; k < ENTRIES && writes; k++)
			c->read[k] = c->old[k] = 0;
	}
	TOGETHER();
}

/* Of those that are not, is each a plain one? */
SCREEN_HELPER bool rest_is_plain(const struct action *a, const entry list[ENTRIES])
{
	bool plain = true;

	for (uint32_t i = 0; i < ENTRIES; i++)
		plain = plain && (!list[i] || is_plain(list[i]) || is_before(a, list[i]));
	return plain;
}

/* Plain writes begin anew in the cell, all of which have to be behind what was there; what the async proxy has not seen of
 * that stays. */
SCREEN_HELPER bool renew(const struct action *a, struct cell *c, entry mine)
{
	bool room = true;

	for (uint32_t i = 0; i < ENTRIES; i++)
		c->old[i] = c->old[i] && stands_for(a, mine, c->old[i]) ? 0 : c->old[i];
	for (uint32_t i = 0; i < ENTRIES; i++) {
		room = (!c->write[i] || keep(c->old, c->write[i])) && room;
		room = (!c->read[i] || keep(c->old, c->read[i])) && room;
		c->write[i] = c->read[i] = 0;
	}
	for (uint32_t i = 0; i < CELL_WORDS; i++)
		c->word[i] = 0;
	return room;
}

/* A plain write somewhere in the cell. */
SCREEN_HELPER bool open_cell(const struct action *a, struct cell *c, entry mine)
{
	bool reads = all_before(a, c->read, false), fine = reads && all_before(a, c->old, false) && rest_is_plain(a, c->write);

	if (fine && all_before(a, c->write, false))
		fine = renew(a, c, mine);
	return fine && put(a, c->write, mine);
}

/* A plain read somewhere in the cell. */
SCREEN_HELPER bool read_cell(const struct action *a, struct cell *c, entry mine)
{
	return all_before(a, c->old, false) && rest_is_plain(a, c->write) && put(a, c->read, mine);
}

/* The words of bytes at an address. */
SCREEN_HELPER void touch_words(const struct order *o, const struct action *a, uint32_t address, uint32_t bytes, bool writes)
{
	struct cell *c = &o->m->cell[(address & 0xffffff) >> CELL_SHIFT];
	uint32_t word = (address & ((1u << CELL_SHIFT) - 1)) / 4, mine = ((1u << (bytes + 3) / 4) - 1) << word % 32;
	uint32_t was = writes ? add_bits(&c->word[word / 32], mine) : c->word[word / 32];

	if (was & mine && (writes || !all_before(a, c->write, false)))
		not_clear(o->s, SCREEN_SHARED);
}

/* A plain access at an address for each lane, `offset` behind that of the record. */
SCREEN_HELPER void touch_plain(const struct order *o, const struct action *a, const struct screen_access *x)
{
	entry mine = entry_of((a->alone ? LANE_0 : LANES) + a->warp, o->m->now[a->warp]);
	bool writes = x->traits & TRAIT_SHARED_WRITE, fine = true;
	uint32_t from = ~0u, to = 0;

	EACH_LANE(i, EVENT_LANES) {
		uint32_t at = a->mask >> i & 1 ? (uint32_t)(event_address(a->u, i) + (uint64_t)(int64_t)x->offset) & 0xffffff : ~0u;

		from = at < from ? at : from;
		to = at != ~0u && at + x->bytes > to ? at + x->bytes : to;
	}
	from = LEAST(from);
	to = MOST(to);
	if (to > o->cells << CELL_SHIFT || x->bytes > 16 || (writes && has_mbar(o, from, to))) {
		give_up(o, SCREEN_SHARED);
		return;
	}
	EACH_LANE(i, ((to - 1) >> CELL_SHIFT) - (from >> CELL_SHIFT) + 1) {
		struct cell *c = &o->m->cell[(from >> CELL_SHIFT) + i];

		fine = writes ? open_cell(a, c, mine) : read_cell(a, c, mine);
		if (!fine)
			not_clear(o->s, SCREEN_SHARED);
	}
	TOGETHER();
	EACH_LANE(i, EVENT_LANES)
		if (a->mask >> i & 1)
			touch_words(o, a, (uint32_t)(event_address(a->u, i) + (uint64_t)(int64_t)x->offset), x->bytes, writes);
	TOGETHER();
}

SCREEN_HELPER void touch(const struct order *o, const struct action *a)
{
	const struct screen_site site = o->s->table.site[event_site_of(a->u)];

	for (uint32_t k = 0; k < site.n; k++) {
		const struct screen_access *x = &o->s->table.access[site.first + k];

		if (x->traits & TRAIT_ATOMIC)
			give_up(o, SCREEN_ACCESS);
		else if (x->traits & (TRAIT_SHARED_READ | TRAIT_SHARED_WRITE))
			touch_plain(o, a, x);
	}
}

/* ---- barriers ------------------------------------------------------------------------------------------------ */

SCREEN_HELPER struct bar *bar_of(const struct order *o, const struct event_unit *u, uint32_t *id)
{
	*id = event_bar_id(u);
	return *id < BARS ? &o->m->bar[*id] : NULL;
}

SCREEN_HELPER uint16_t *known_in(const struct order *o, uint32_t id, uint32_t use)
{
	return o->m->known[KNOWN_IN + 2 * id + use % 2];
}

SCREEN_HELPER void arrive_bar(const struct order *o, const struct action *a)
{
	uint32_t id, count = event_bar_count(a->u), need = count ? count / EVENT_LANES : o->s->log.warps;
	struct bar *b = bar_of(o, a->u, &id);
	uint32_t me = 1u << a->warp, uses = b ? b->uses : 0;
	bool first = b && !b->here;

	if (!b || !a->full || o->m->at[a->warp] || count % EVENT_LANES || (b->need && b->need != need) ||
	    (event_count(b->members) == need && !(b->members & me))) {
		give_up(o, SCREEN_ORDER);
		return;
	}
	TOGETHER();
	if (first)
		set_row(known_in(o, id, uses), NULL);
	release(o, a, known_in(o, id, uses));
	EACH_LANE(i, 1) {
		b->need = need;
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
	uint32_t id;
	const struct bar *b = bar_of(o, u, &id);

	return !b || o->m->at[warp] != id + 1 || (uint16_t)b->uses != o->m->use[warp];
}

SCREEN_HELPER void wait_bar(const struct order *o, const struct action *a)
{
	uint32_t id;
	const struct bar *b = bar_of(o, a->u, &id);

	if (!b || !a->full || o->m->at[a->warp] != id + 1) {
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

	while (m < o->m->mbars && o->m->mbar[m].address != (address & 0xffffff))
		m++;
	return m;
}

/* A record with one address, of all lanes or of one. */
SCREEN_HELPER bool is_one(const struct event_unit *u)
{
	return event_count(event_lanes(u)) == 1 || (event_once(u) && !event_by_lane(u) && !event_step(u));
}

SCREEN_HELPER void init_mbar(const struct order *o, const struct action *a)
{
	uint32_t lane = event_first(a->mask), n = o->m->mbars, address = (uint32_t)event_address(a->u, lane) & 0xffffff;
	const struct screen_access write = {0, 8, TRAIT_SHARED_WRITE};
	bool again = find_mbar(o, address) < n;

	if (!a->alone || n == MBARS || again) {
		give_up(o, SCREEN_ORDER);
		return;
	}
	touch_plain(o, a, &write);
	EACH_LANE(i, 1) {
		struct mbar *b = &o->m->mbar[n];

		memset(b, 0, sizeof *b);
		b->address = address;
		b->need = b->left = (uint32_t)event_get(a->u, lane, EVENT_MBAR_INIT_COUNT);
		b->init = entry_of(LANE_0 + a->warp, o->m->now[a->warp]);
		o->m->mbars = n + 1;
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
		b->over = over + 1;
		b->left = b->need;
		if (over >= UINT16_MAX - 2)
			not_clear(o->s, SCREEN_SPACE);
	}
	TOGETHER();
}

/* Arrivals, and bytes that are expected. */
SCREEN_HELPER void arrive_mbar(const struct order *o, const struct action *a)
{
	uint32_t lane = event_first(a->mask), m = find_mbar(o, event_address(a->u, lane)), count = 0, bytes;
	bool arrives = event_kind_of(a->u) == EVENT_MBAR_ARRIVE, fine = is_one(a->u) && (a->full || a->alone) && is_in_phase(o, a, m);
	struct mbar *b = &o->m->mbar[m < MBARS ? m : 0];

	bytes = (uint32_t)event_get(a->u, lane, arrives ? EVENT_MBAR_ARRIVE_BYTES : EVENT_MBAR_EXPECT_BYTES);
	if (arrives)
		count = (uint32_t)event_get(a->u, lane, EVENT_MBAR_ARRIVE_COUNT) * event_count(a->mask);
	fine = fine && !(a->site->flags & (EVENT_DROP | EVENT_NOINC)) && a->site->sem != EVENT_RELAXED && count <= b->left &&
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
	}
	TOGETHER();
	if (arrives)
		end_phase(o, m);
}

/* Which phase a wait tells over, counted from 1; 0: none that is not known; NONE: it is not followed. */
SCREEN_HELPER uint32_t waited_phase(const struct order *o, const struct event_unit *u, const uint16_t *known, uint32_t *m)
{
	uint32_t lane = event_first(event_lanes(u));
	const struct event_site *site = &o->s->table.all[event_site_of(u)];

	*m = find_mbar(o, event_address(u, lane));
	if (!is_one(u) || *m == o->m->mbars || !(site->flags & EVENT_PARITY) || site->sem == EVENT_RELAXED)
		return SCREEN_NONE;
	/* The parity is that of the last phase that is over: of the one that is known, or of a later one. */
	if ((known[PHASE + *m] + 1u) % 2 == event_get(u, lane, EVENT_MBAR_WAIT_PHASE) % 2)
		return 0;
	return known[PHASE + *m] + 1u;
}

SCREEN_HELPER bool mbar_is_over(const struct order *o, const struct event_unit *u, const uint16_t *known)
{
	uint32_t m, phase = waited_phase(o, u, known, &m);

	return !phase || phase == SCREEN_NONE || o->m->mbar[m].over >= phase;
}

SCREEN_HELPER void wait_mbar(const struct order *o, const struct action *a)
{
	uint32_t m, phase = waited_phase(o, a->u, a->known, &m);

	if (phase == SCREEN_NONE || !(a->full || a->alone) || !is_before(a, o->m->mbar[m].init))
		give_up(o, SCREEN_ORDER);
	else if (phase && o->m->mbar[m].over > phase + 1)
		give_up(o, SCREEN_SPACE);
	else if (phase)
		acquire(o, a, known_after(o, m, phase - 1));
}

/* ---- copies and products ---------------------------------------------------------------------------------------- */

/* What a copy reads and writes in shared memory, and what it writes in global memory; false: it is of a form that is
 * not looked at. */
SCREEN_HELPER bool copy_bounds(const struct order *o, const struct action *a, struct bounds *shared, struct bounds_box *box, uint32_t *bytes)
{
	uint32_t lane = event_first(a->mask);
	bool load = a->site->flags & EVENT_COUNTED;

	if (event_kind_of(a->u) == EVENT_TENSOR) {
		const struct event_map *map = screen_map(o->s, event_get(a->u, lane, EVENT_TENSOR_HASH));

		if (!map || !bounds_box(a->u, a->site, lane, map, box))
			return false;
		*shared = bounds_shared_box(box, event_address(a->u, lane));
		*bytes = box->rows * box->row_bytes;
		return true;
	}
	*bytes = (uint32_t)event_get(a->u, lane, EVENT_COPY_BYTES);
	shared->from = load ? event_address(a->u, lane) : event_get(a->u, lane, EVENT_COPY_FROM);
	shared->to = shared->from + *bytes;
	return *bytes && a->site->space == (load ? EVENT_SHARED : EVENT_GLOBAL) && a->site->from == (load ? EVENT_GLOBAL : EVENT_SHARED) &&
	       !(a->site->flags & (EVENT_MULTICAST | EVENT_BYTE_MASK | EVENT_REDUCE));
}

/* Into shared memory, with bytes for an mbarrier. */
SCREEN_HELPER void load(const struct order *o, const struct action *a, struct bounds shared, uint32_t bytes)
{
	enum event_operand at = event_kind_of(a->u) == EVENT_TENSOR ? EVENT_TENSOR_MBAR : EVENT_COPY_MBAR;
	uint32_t m = find_mbar(o, event_get(a->u, event_first(a->mask), at));
	struct mbar *b = &o->m->mbar[m < MBARS ? m : 0];

	if (!is_in_phase(o, a, m) || b->bytes < bytes) {
		give_up(o, SCREEN_ORDER);
		return;
	}
	touch_async(o, a, shared, entry_of(PHASE + m, b->over + 1), true);
	EACH_LANE(i, 1) {
		b->bytes -= bytes;
		b->copies = b->over + 1;
	}
	TOGETHER();
	end_phase(o, m);
}

/* Out of it, in a group of lane 0. */
SCREEN_HELPER void store(const struct order *o, const struct action *a, struct bounds shared, const struct bounds_box *box, uint32_t bytes)
{
	uint32_t warp = o->block * o->s->log.warps + a->warp;

	touch_async(o, a, shared, entry_of(BULK + a->warp, o->m->copies[a->warp] + 1u), false);
	EACH_LANE(i, box->map ? box->rows : 0) {
		struct bounds row = bounds_row(box, i);

		screen_bytes(o->s, row.from, row.to - row.from, warp, true);
	}
	EACH_LANE(i, 1) {
		o->m->open[a->warp]++;
		if (!box->map)
			screen_bytes(o->s, event_address(a->u, 0), bytes, warp, true);
	}
	TOGETHER();
}

SCREEN_HELPER void copy(const struct order *o, const struct action *a)
{
	struct bounds_box box = {NULL, 0, 0, 0};
	struct bounds shared;
	uint32_t bytes;

	if (!a->alone || !copy_bounds(o, a, &shared, &box, &bytes))
		give_up(o, SCREEN_ORDER);
	else if (a->site->flags & EVENT_COUNTED)
		load(o, a, shared, bytes);
	else
		store(o, a, shared, &box, bytes);
}

SCREEN_HELPER struct bounds operand_bounds(const struct event_site *s, uint64_t descriptor, bool b)
{
	return b ? bounds_matrix(descriptor, s->flags & EVENT_B_MN, s->shape[1], s->shape[4], s->shape[3]) :
		   bounds_matrix(descriptor, s->flags & EVENT_A_MN, s->shape[0], 64, s->shape[2]);
}

/* All products of a record, of which each adds to the descriptors of the first. */
SCREEN_HELPER void product(const struct order *o, const struct action *a)
{
	uint32_t lane = event_first(a->mask), n = a->site->nrun ? a->site->nrun : 1;
	entry mine = entry_of(PRODUCTS + a->warp / 4, o->m->products[a->warp] + 1u);
	bool shared_a = true;

	for (uint32_t operand = 0; operand < 2; operand++) {
		uint64_t first = event_get(a->u, lane, operand ? EVENT_WGMMA_B : EVENT_WGMMA_A);
		struct bounds all = {UINT64_MAX, 0};

		for (uint32_t i = 0; i < n; i++) {
			const struct event_run *r = a->site->nrun ? &o->s->table.run[a->site->run + i] : NULL;
			const struct event_site *s = r ? &o->s->table.all[r->site] : a->site;
			int64_t more = r ? operand ? r->offset >> 16 : (int16_t)r->offset : 0;

			all = bounds_union(all, operand_bounds(s, first + (uint64_t)more, operand));
			shared_a = !(s->flags & EVENT_A_ELSEWHERE);
		}
		if (operand || shared_a)
			touch_async(o, a, all, mine, false);
	}
	if (!a->full)
		give_up(o, SCREEN_ORDER);
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

SCREEN_HELPER void learn(uint16_t *known, uint32_t who, uint32_t clock)
{
	known[who] = clock > known[who] ? (uint16_t)clock : known[who];
}

/* How many of so many groups are over. */
SCREEN_HELPER uint32_t groups_over(const struct event_unit *u, uint32_t groups)
{
	uint32_t left = (uint32_t)event_get(u, 0, EVENT_WAIT_GROUP_LEFT);

	return groups > left ? groups - left : 0;
}

SCREEN_HELPER void wait_products(const struct order *o, const struct action *a)
{
	EACH_LANE(i, 1)
		for (uint32_t alone = 0; alone < 2; alone++)
			learn(known_by(o, a->warp, alone), PRODUCTS + a->warp / 4, groups_over(a->u, o->m->products[a->warp]));
	TOGETHER();
	if (!a->full)
		give_up(o, SCREEN_ORDER);
}

/* ---- a warp's own records, which its lane looks at ---------------------------------------------------------------- */

SCREEN_HELPER void fence(const struct order *o, const struct event_unit *u, uint32_t warp)
{
	const struct event_site *site = &o->s->table.all[event_site_of(u)];

	if (site->variant != EVENT_FENCE_ASYNC || site->space == EVENT_GLOBAL || event_lanes(u) != all_lanes(o->s, warp))
		return;
	for (uint32_t alone = 0; alone < 2; alone++)
		learn(known_by(o, warp, alone), FENCE + warp, o->m->now[warp]);
	o->m->now[warp]++;
	if (o->m->now[warp] == UINT16_MAX)
		not_clear(o->s, SCREEN_SPACE);
}

/* It orders nothing. */
SCREEN_HELPER void try_mbar(const struct order *o, const struct event_unit *u, uint32_t warp)
{
	struct action a = action_of(o, u, warp);
	uint32_t m = find_mbar(o, event_address(u, event_first(a.mask)));

	if (!is_one(u) || m == o->m->mbars || !is_before(&a, o->m->mbar[m].init))
		not_clear(o->s, SCREEN_ORDER);
}

SCREEN_HELPER void commit(const struct order *o, const struct event_unit *u, uint32_t warp)
{
	unsigned list = o->s->table.all[event_site_of(u)].variant;
	uint16_t *groups = list == EVENT_LIST_WGMMA ? &o->m->products[warp] : &o->m->copies[warp];

	if (list == EVENT_LIST_CP)
		not_clear(o->s, SCREEN_KIND);
	if (list == EVENT_LIST_BULK && !(event_lanes(u) & 1))
		return;
	++*groups;
	if (*groups == UINT16_MAX)
		not_clear(o->s, SCREEN_SPACE);
	if (list == EVENT_LIST_BULK)
		o->m->open[warp] = 0;
}

SCREEN_HELPER void wait_copies(const struct order *o, const struct event_unit *u, uint32_t warp)
{
	if (o->s->table.all[event_site_of(u)].variant != EVENT_LIST_BULK)
		not_clear(o->s, SCREEN_KIND);
	else if (event_lanes(u) & 1)
		learn(known_by(o, warp, true), BULK + warp, groups_over(u, o->m->copies[warp]));
}

/* True: the record concerns others, too. */
SCREEN_HELPER bool concerns_others(const struct order *o, struct step *p, uint32_t warp)
{
	switch (event_kind_of(&p->u)) {
	case EVENT_CLOCK:
	case EVENT_BEGIN:
		return false;
	case EVENT_FENCE:
		fence(o, p->where, warp);
		return false;
	case EVENT_COMMIT:
		commit(o, p->where, warp);
		return false;
	case EVENT_WAIT_GROUP:
		if (o->s->table.all[event_site_of(&p->u)].variant == EVENT_LIST_WGMMA)
			return true;
		wait_copies(o, p->where, warp);
		return false;
	case EVENT_MBAR_TRY:
		try_mbar(o, p->where, warp);
		return false;
	case EVENT_ACCESS:
		screen_record(o->s, p->where, p->where, p->at.piece, true);
		return traits_of(o->s, &p->u) & (TRAIT_SHARED_READ | TRAIT_SHARED_WRITE);
	default:
		return true;
	}
}

/* ---- all of a block ------------------------------------------------------------------------------------------------ */

/* Does nothing hold it up? */
SCREEN_HELPER bool is_ready(const struct order *o, const struct step *p, uint32_t warp)
{
	switch (event_kind_of(&p->u)) {
	case EVENT_BAR_WAIT:
		return bar_is_over(o, p->where, warp);
	case EVENT_MBAR_WAIT:
		return mbar_is_over(o, p->where, known_by(o, warp, event_lanes(&p->u) == 1));
	case EVENT_WAIT_GROUP:
		return products_are_over(o, p->where, warp);
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
	case EVENT_WAIT_GROUP:
		wait_products(o, a);
		break;
	case EVENT_EXIT:
		release(o, a, o->m->known[KNOWN_AT_EXIT]);
		break;
	default:
		give_up(o, SCREEN_KIND);
		break;
	}
}

/* To the warp's next record that concerns others. */
SCREEN_HELPER void advance(const struct order *o, struct step *p, uint32_t warp)
{
	while (!p->there && go_on(o->s, &p->at, o->block * o->s->log.warps + warp, &p->u, &p->where))
		p->there = concerns_others(o, p, warp);
}

/* Copies use the block's memory, which ends with its threads. */
SCREEN_HELPER void check_end(const struct order *o)
{
	const uint16_t *known = o->m->known[KNOWN_AT_EXIT];

	EACH_LANE(i, o->m->mbars)
		if (known[PHASE + i] < o->m->mbar[i].copies)
			not_clear(o->s, SCREEN_ORDER);
	EACH_LANE(i, o->s->log.warps)
		if (known[BULK + i] < o->m->copies[i] || o->m->open[i])
			not_clear(o->s, SCREEN_ORDER);
}

SCREEN_HELPER const struct event_unit *where_of(const struct step *steps, uint32_t warp)
{
#ifdef __CUDACC__
	const struct step *mine = steps + threadIdx.x % EVENT_LANES;

	return (const struct event_unit *)__shfl_sync(~0u, (unsigned long long)mine->where, (int)warp);
#else
	return steps[warp].where;
#endif
}

/* steps: by warp; a GPU's lane has its own. */
SCREEN_HELPER void walk_order(const struct order *o, struct step *steps)
{
	uint32_t open = 1, ready = 1;

	check_block(o->s, o->block);
	while (ready) {
		open = ready = 0;
		EACH_WARP(o, w) {
			advance(o, &steps[w], w);
			open |= (uint32_t)steps[w].there << w;
			ready |= (uint32_t)(steps[w].there && is_ready(o, &steps[w], w)) << w;
			steps[w].there = steps[w].there && !(ready >> w & 1);
		}
		TOGETHER();
		open = OF_ALL_WARPS(o, open);
		ready = OF_ALL_WARPS(o, ready);
		for (uint32_t left = ready; left; left &= left - 1) {
			struct action a = action_of(o, where_of(steps, event_first(left)), event_first(left));

			carry_out(o, &a);
		}
		TOGETHER();
	}
	if (open)
		give_up(o, SCREEN_ORDER);
	check_end(o);
}

#ifdef __CUDACC__
SCREEN_PASS void screen_order(const struct screen *s, uint32_t block)
{
	extern __shared__ uint32_t screen_memory[];
	struct order o = {s, (struct memory *)(void *)screen_memory, block, threadIdx.x % EVENT_LANES, ~0u, cells_of(&s->log)};
	struct step step;

	for (uint32_t i = o.warp; i < screen_order_bytes(&s->log) / 4; i += EVENT_LANES)
		screen_memory[i] = 0;
	__syncwarp();
	if (o.warp < s->log.warps) {
		o.m->now[o.warp] = 1;
		step.at = begin_warp(s, block * s->log.warps + o.warp);
	}
	step.there = false;
	__syncwarp();
	walk_order(&o, &step - o.warp);
}
#else
void screen_order(const struct screen *s, uint32_t block)
{
	struct order o = {s, (struct memory *)calloc(1, screen_order_bytes(&s->log)), block, 0, 0, cells_of(&s->log)};
	struct step steps[WARPS];

	if (!o.m)
		abort();
	for (uint32_t w = 0; w < s->log.warps; w++) {
		o.m->now[w] = 1;
		steps[w] = (struct step){.at = begin_warp(s, block * s->log.warps + w)};
	}
	walk_order(&o, steps);
	free(o.m);
}
#endif


bool screen_order_fits(const struct screen_log *l)
{
	return l->warps <= WARPS;
}
