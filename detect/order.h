/* SPDX-License-Identifier: Apache-2.0
 *
 * order.h: what order.c keeps of a block: clocks of those who act in it, what is known of them by whom, and its shared
 * memory in cells.
 */
#ifndef DETECT_ORDER_H
#define DETECT_ORDER_H

#include <string.h>

#include "detect/bounds.h"
#include "detect/pass.h"

/* What there is room for, and no more is looked at.  LEAST_SHIFT: cells have 1 << that many bytes at least; WORDS: of 32
 * bits. */
enum { WARPS = SCREEN_WARPS, MBARS = 10, BARS = 4, BAR_IDS = 16, GROUPS = WARPS / 4, ENTRIES = 4, CELLS = 48, SMALL_CELLS = 1024,
       LEAST_SHIFT = 7, WORDS = 320, MAPS = 4 };

/* Who has a clock: the lanes of a warp; its lane 0 alone; its groups of bulk copies; its fence of the async proxy; the
 * phases of an mbarrier, and with them the copies that end there; the products of a warpgroup. */
enum { LANES = 0, LANE_0 = WARPS, BULK = 2 * WARPS, FENCE = 3 * WARPS, PHASE = 4 * WARPS, PRODUCTS = PHASE + MBARS, CLOCKS = 64 };
EVENT_ASSERT((int)PRODUCTS + (int)GROUPS <= (int)CLOCKS);

/* What is known of each clock: of a warp's lanes, and of lane 0; of an mbarrier's arrivals, and of its last two phases; of
 * a barrier's last two uses; of the warpgroup's warp that was the first with its products; of all that have exited;
 * nothing. */
enum { KNOWN_BY = 0, KNOWN_AT = 2 * WARPS, KNOWN_IN = KNOWN_AT + 3 * MBARS, KNOWN_FIRST = KNOWN_IN + 2 * BARS,
       KNOWN_AT_EXIT = KNOWN_FIRST + GROUPS, KNOWN_TO_NOBODY, ROWS };

/* An access: whose, and what its clock said; 0: none. */
typedef uint32_t entry;

/* The first ones of it are there. */
struct list { entry e[ENTRIES]; };

#define EACH_ENTRY(i, l) NO_UNROLL for (uint32_t i = 0; i < ENTRIES && (l)->e[i]; i++)

/* A part of shared memory.  write: what wrote there last; read: what has read since; old: what is behind all that.
 * Plain writes that nothing orders may share it, in different words: bits from `words` on, counted from 1. */
struct cell { struct list write, read, old; uint32_t words; };

/* over: phases; copies: the last phase that has some, + 1; expect: warps whose lane 0 has to arrive in this phase yet; told:
 * bytes that are expected in it, whether they have come or not. */
struct mbar { uint32_t address, need, left, bytes, expect, told; uint16_t over, copies; entry init; };
struct bar { uint32_t members, here, count, uses, reduces; };   /* members, here: warps; count, reduces: as the first arrival says it */

/* Of a warp: the next units of its log, in which there is its next record; what that one's site is, and which mbarrier it
 * is about, MBARS if that is not known. */
struct slot { struct event_unit unit[WINDOW]; struct event_site site; struct screen_span span; uint32_t mbar; };

/* A record of a warp that is carried out. */
struct action {
	uint32_t warp;
	const struct event_unit *u;     /* all of it is there */
	const struct event_site *site;
	uint32_t mask;
	bool full, alone;               /* of all its lanes; of lane 0 alone */
	uint16_t *known;                /* by those lanes */
	uint32_t self, fenced;          /* what lane 0 alone did is before what it does, and fenced up to then; CLOCKS */
};

struct memory {
	struct action action;
	struct mbar mbar[MBARS];
	struct bar bar[BARS];
	uint32_t mbars;
	uint16_t known[ROWS][CLOCKS];
	uint16_t now[WARPS], fenced[WARPS];     /* a warp's own clock; at its last fence */
	uint16_t products[WARPS], copies[WARPS], open[WARPS];   /* groups that are committed; copies in one that is not */
	uint16_t at[WARPS], use[WARPS]; /* a barrier at which the warp has arrived, + 1, and which use of it */
	uint8_t bar_of[BAR_IDS];        /* + 1 */
	uint32_t bars, words;           /* so many are taken */
	struct { uint64_t a, b; uint32_t clock, site; } first[GROUPS];  /* those products */
	uint32_t maps, low, high;       /* maps that are here; where mbarriers are, the first and behind the last */
	struct event_map map[MAPS];
	struct slot slot[WARPS];
	uint32_t word[WORDS];           /* a bit for each word of 4 bytes */
	struct cell cell[];             /* cells_of() */
};

/* The host says how large it is; a GPU aligns units. */
EVENT_ASSERT(offsetof(struct memory, slot) % 16 == 0 && sizeof(struct slot) % 16 == 0 && sizeof(struct memory) % 16 == 0);

/* A warp's next record that concerns others.  The next units of its log are in its slot; u: all of the record, there or in
 * the log. */
struct step { struct cursor at; const struct event_unit *u; struct window log; bool there; };

struct order {
	const struct screen *s;
	struct memory *m;
	uint32_t block;
	uint32_t cells, shift;          /* 1 << shift: bytes of a cell */
};

#ifdef __CUDACC__
/* For each warp of the block that is looked at, of which each lane has one. */
#define EACH_ONE(o, w) for (uint32_t w = threadIdx.x % EVENT_LANES, once_##w = w < (o)->s->log.warps; once_##w; once_##w = 0)
SCREEN_HELPER uint32_t later_pair(uint32_t a, uint32_t b) { return __vmaxu2(a, b); }
#define LEAST(v) __reduce_min_sync(~0u, v)
#define MOST(v) __reduce_max_sync(~0u, v)
/* A number of each lane. */
#define ADDRESSES(name) uint32_t name[1]
#define ADDRESS_OF(name, i) (name)
/* Accesses of a site, of which each lane has one. */
#define ACCESSES(name, all, n) const uint64_t name = threadIdx.x % EVENT_LANES < (n) ? \
	((const uint64_t *)(const void *)(all))[threadIdx.x % EVENT_LANES] : 0
#define ACCESS_OF(name, all, k) access_of((k) < EVENT_LANES ? __shfl_sync(~0u, (unsigned long long)name, (int)(k)) : \
					  ((const uint64_t *)(const void *)(all))[k])
SCREEN_HELPER struct screen_access access_of(uint64_t bits)
{
	struct screen_access a;

	memcpy(&a, &bits, sizeof a);
	return a;
}
#else
#define EACH_ONE(o, w) for (uint32_t w = 0; w < (o)->s->log.warps; w++)
SCREEN_HELPER uint32_t later_pair(uint32_t a, uint32_t b)
{
	uint32_t low = (uint16_t)a > (uint16_t)b ? (uint16_t)a : (uint16_t)b, high = a >> 16 > b >> 16 ? a >> 16 : b >> 16;

	return high << 16 | low;
}
#define LEAST(v) (v)
#define MOST(v) (v)
#define ADDRESSES(name) uint32_t name[EVENT_LANES]
#define ADDRESS_OF(name, i) (&(name)[i])
#define ACCESSES(name, all, n) (void)(n)
#define ACCESS_OF(name, all, k) (all)[k]
#endif

/* What a kernel has begins behind 1,024 bytes of the system's, and so do cells. */
enum { SYSTEM = 1024 };

/* One more is in front of all others. */
static inline EVENT_BOTH uint32_t shift_of(const struct screen_log *l, enum screen_form form)
{
	uint32_t shift = LEAST_SHIFT, most = form == SCREEN_BY_SMALL_CELLS ? SMALL_CELLS : CELLS;

	while (l->shared >> shift >= most - 1)
		shift++;
	return shift;
}

static inline EVENT_BOTH uint32_t cells_of(const struct screen_log *l, enum screen_form form)
{
	return (l->shared >> shift_of(l, form)) + 2;
}

static inline EVENT_BOTH uint32_t memory_bytes(const struct screen_log *l, enum screen_form form)
{
	return (uint32_t)(sizeof(struct memory) + cells_of(l, form) * sizeof(struct cell));
}

EVENT_BOTH uint32_t screen_order_bytes(const struct screen_log *l, enum screen_form form)
{
	return memory_bytes(l, form);
}

/* ---- what is known ------------------------------------------------------------------------------------------ */

SCREEN_HELPER entry entry_of(uint32_t who, uint32_t clock) { return who << 16 | clock; }
SCREEN_HELPER uint32_t who_of(entry e) { return e >> 16; }
SCREEN_HELPER uint32_t clock_of(entry e) { return (uint16_t)e; }
SCREEN_HELPER bool is_plain(entry e) { return who_of(e) < BULK; }

/* self: what lane 0 alone did is before what it does; CLOCKS. */
SCREEN_HELPER bool knows(const uint16_t *known, entry e, uint32_t self)
{
	return who_of(e) == self || known[who_of(e)] >= clock_of(e);
}

SCREEN_HELPER bool is_before(const struct action *a, entry e)
{
	return knows(a->known, e, a->self);
}

/* PTX ISA, "membar/fence", fence.proxy.async: of a plain access, by its own warp. */
SCREEN_HELPER bool is_fenced(const struct action *a, entry e)
{
	uint32_t who = who_of(e);

	return who >= BULK || a->known[FENCE + (who < LANE_0 ? who : who - LANE_0)] >= clock_of(e) ||
	       (who == a->self && a->fenced >= clock_of(e));
}

SCREEN_HELPER void learn(uint16_t *known, uint32_t who, uint32_t clock)
{
	known[who] = clock > known[who] ? (uint16_t)clock : known[who];
}

/* Two clocks at a time. */
SCREEN_HELPER uint32_t *pairs_of(uint16_t *row) { return (uint32_t *)(void *)row; }
SCREEN_HELPER const uint32_t *pairs_in(const uint16_t *row) { return (const uint32_t *)(const void *)row; }

SCREEN_HELPER void join(uint16_t *to, const uint16_t *from)
{
	EACH_LANE(i, CLOCKS / 2)
		pairs_of(to)[i] = later_pair(pairs_of(to)[i], pairs_in(from)[i]);
	TOGETHER();
}

SCREEN_HELPER void set_row(uint16_t *to, const uint16_t *from)
{
	EACH_LANE(i, CLOCKS / 2)
		pairs_of(to)[i] = from ? pairs_in(from)[i] : 0;
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
		learn(to, LANE_0 + a->warp, a->mask & 1 ? now : 0);
		learn(to, LANES + a->warp, a->full ? now : 0);
		learn(to, FENCE + a->warp, a->full ? o->m->fenced[a->warp] : 0);
		o->m->now[a->warp] = (uint16_t)(now + 1);
		if (now == UINT16_MAX - 1)
			against(o->s, SCREEN_SPACE, o->block, o->block);
	}
	TOGETHER();
}

SCREEN_HELPER void acquire(const struct order *o, const struct action *a, const uint16_t *from)
{
	uint32_t *mine = pairs_of(known_by(o, a->warp, true)), *all = pairs_of(known_by(o, a->warp, false));

	EACH_LANE(i, CLOCKS / 2) {
		uint32_t v = pairs_in(from)[i];

		mine[i] = later_pair(mine[i], v);
		all[i] = a->full ? later_pair(all[i], v) : all[i];
	}
	TOGETHER();
}

SCREEN_HELPER void give_up(const struct order *o, enum screen_why why)
{
	EACH_LANE(i, 1)
		against(o->s, why, o->block, o->block);
}

SCREEN_HELPER struct action action_of(const struct order *o, const struct event_unit *u, uint32_t warp)
{
	struct action a;

	a.warp = warp;
	a.u = u;
	a.site = &o->m->slot[warp].site;
	a.mask = event_lanes(u);
	a.full = a.mask == all_lanes(o->s, warp);
	a.alone = a.mask == 1;
	a.known = known_by(o, warp, a.alone);
	a.self = a.alone ? (uint32_t)LANE_0 + warp : CLOCKS;
	a.fenced = o->m->fenced[warp];
	return a;
}

/* ---- cells -------------------------------------------------------------------------------------------------- */

/* Of two of one clock the later one, else the first. */
SCREEN_HELPER entry later(entry a, entry b)
{
	return who_of(a) == who_of(b) && clock_of(b) > clock_of(a) ? b : a;
}

/* Need nobody look at it any more who is behind `mine`?  `a` says what they know then. */
SCREEN_HELPER bool stands_for(const struct action *a, entry mine, entry e)
{
	return who_of(e) == who_of(mine) || (is_before(a, e) && is_fenced(a, e));
}

/* False: there is no room. */
SCREEN_HELPER bool put(const struct action *a, struct list *l, entry mine)
{
	uint32_t n = 0;

	EACH_ENTRY(i, l) {
		entry e = l->e[i];

		mine = later(mine, e);
		l->e[i] = 0;
		if (!stands_for(a, mine, e))
			l->e[n++] = e;
	}
	if (n < ENTRIES)
		l->e[n] = mine;
	return n < ENTRIES;
}

SCREEN_HELPER void drop(const struct action *a, struct list *l, entry mine)
{
	uint32_t n = 0;

	EACH_ENTRY(i, l) {
		entry e = l->e[i];

		l->e[i] = 0;
		if (!stands_for(a, mine, e))
			l->e[n++] = e;
	}
}

/* As it is, with whatever is there. */
SCREEN_HELPER bool keep(struct list *l, entry e)
{
	uint32_t n = 0;

	EACH_ENTRY(i, l) {
		if (who_of(l->e[i]) == who_of(e)) {
			l->e[i] = later(l->e[i], e);
			return true;
		}
		n = i + 1;
	}
	if (n < ENTRIES)
		l->e[n] = e;
	return n < ENTRIES;
}

/* Is all of it before what comes now, through the async proxy if that goes through it? */
SCREEN_HELPER bool all_before(const struct action *a, const struct list *l, bool async)
{
	EACH_ENTRY(i, l)
		if (!is_before(a, l->e[i]) || (async && !is_fenced(a, l->e[i])))
			return false;
	return true;
}

SCREEN_HELPER void clear_list(struct list *l)
{
	for (uint32_t i = 0; i < ENTRIES; i++)
		l->e[i] = 0;
}

SCREEN_HELPER bool is_empty(const struct list *l)
{
	return !l->e[0];
}

SCREEN_HELPER bool has(const struct list *l, entry e)
{
	EACH_ENTRY(i, l)
		if (l->e[i] == e)
			return true;
	return false;
}

SCREEN_HELPER uint32_t cell_at(const struct order *o, uint32_t address)
{
	return address < SYSTEM ? 0 : ((address - SYSTEM) >> o->shift) + 1;
}

/* PTX ISA, "mbarrier": nothing but its own instructions may touch one. */
SCREEN_HELPER bool has_mbar(const struct order *o, uint32_t from, uint32_t to)
{
	bool any = false;

	NO_UNROLL
	for (uint32_t m = 0; from < o->m->high && o->m->low < to && m < o->m->mbars; m++)
		any = any || (o->m->mbar[m].address < to && from < o->m->mbar[m].address + 8);
	return any;
}

SCREEN_HELPER uint32_t words_of(const struct order *o)
{
	return 1u << (o->shift - LEAST_SHIFT);
}

/* What all lanes know whom a row tells of the end of a copy or a product: not all that its issuer knew. */
SCREEN_HELPER struct action told_by(const struct action *a, uint16_t *row)
{
	struct action told = *a;

	told.known = row;
	told.self = CLOCKS;
	return told;
}

/* Writes begin anew in the cell, all of which have to be behind what was there; of that stays what they do not stand
 * for, to those who know as much as `a` then. */
SCREEN_HELPER bool renew(const struct order *o, const struct action *a, struct cell *c, entry mine)
{
	const struct list old = c->old;
	bool room = true;

	c->old = c->write;
	EACH_ENTRY(i, &c->read)
		room = keep(&c->old, c->read.e[i]) && room;
	EACH_ENTRY(i, &old)
		room = (stands_for(a, mine, old.e[i]) || keep(&c->old, old.e[i])) && room;
	clear_list(&c->write);
	clear_list(&c->read);
	NO_UNROLL
	for (uint32_t i = 0; c->words && c->words + words_of(o) <= WORDS + 1 && i < words_of(o); i++)
		o->m->word[c->words - 1 + i] = 0;
	return room;
}

/* Of a cell: what a copy or a product does there, whose end `mine` tells to those who know as much as `told`. */
SCREEN_HELPER bool touch_cell(const struct order *o, const struct action *a, const struct action *told, struct cell *c, entry mine)
{
	bool writes = who_of(mine) >= PHASE && who_of(mine) < PRODUCTS;
	bool fine = all_before(a, &c->write, true) && all_before(a, &c->old, true) && (!writes || all_before(a, &c->read, true));

	if (!writes)
		return put(told, &c->read, mine) && fine;
	drop(told, &c->write, mine);
	drop(told, &c->read, mine);
	return renew(o, told, c, mine) && put(told, &c->write, mine) && fine;
}

/* In one range of bytes, and in another one; those may be empty. */
SCREEN_HELPER void touch_async(const struct order *o, const struct action *a, const struct action *told, const struct bounds b[2],
			       entry mine)
{
	uint32_t first[2], n[2];

	for (uint32_t k = 0; k < 2; k++) {
		uint32_t from = event_offset(b[k].from), to = from + (uint32_t)(b[k].to - b[k].from);

		first[k] = cell_at(o, from);
		n[k] = to > from ? cell_at(o, to - 1) + 1 - first[k] : 0;
		if (b[k].to < b[k].from || b[k].to - b[k].from > 1 << 18 || first[k] + n[k] > o->cells) {
			give_up(o, SCREEN_SPACE);
			return;
		}
		if (n[k] && has_mbar(o, from, to))
			give_up(o, SCREEN_SHARED);
	}
	/* A lane for each cell. */
	if (first[0] < first[1] + n[1] && first[1] < first[0] + n[0]) {
		uint32_t from = first[0] < first[1] ? first[0] : first[1];
		uint32_t to = first[0] + n[0] > first[1] + n[1] ? first[0] + n[0] : first[1] + n[1];

		first[0] = from;
		n[0] = to - from;
		n[1] = 0;
	}
	EACH_LANE(i, n[0] + n[1])
		if (!touch_cell(o, a, told, &o->m->cell[i < n[0] ? first[0] + i : first[1] + i - n[0]], mine))
			against(o->s, SCREEN_SHARED, o->block, o->block);
	TOGETHER();
}

/* Of those that are not, is each a plain one? */
SCREEN_HELPER bool rest_is_plain(const struct action *a, const struct list *l)
{
	EACH_ENTRY(i, l)
		if (!is_plain(l->e[i]) && !is_before(a, l->e[i]))
			return false;
	return true;
}

/* False: there is no room for them. */
SCREEN_HELPER bool has_words(const struct order *o, struct cell *c)
{
	if (!c->words)
		c->words = add(&o->m->words, words_of(o)) + 1;
	return c->words + words_of(o) <= WORDS + 1;
}

/* A plain write somewhere in the cell.  Where this warp has written since it last let others know of it, and nobody has
 * read, that is in order still. */
SCREEN_HELPER bool open_cell(const struct order *o, const struct action *a, struct cell *c, entry mine)
{
	bool fine;

	if (has(&c->write, mine) && is_empty(&c->read))
		return true;
	fine = all_before(a, &c->read, false) && all_before(a, &c->old, false) && rest_is_plain(a, &c->write);
	if (fine && all_before(a, &c->write, false))
		fine = renew(o, a, c, mine) && has_words(o, c);
	return fine && put(a, &c->write, mine);
}

/* A plain read somewhere in the cell. */
SCREEN_HELPER bool read_cell(const struct action *a, struct cell *c, entry mine)
{
	return all_before(a, &c->old, false) && rest_is_plain(a, &c->write) && put(a, &c->read, mine);
}

/* In a number of 32 words of 4 bytes, those of some bytes. */
SCREEN_HELPER uint32_t words_mask(uint32_t address, uint32_t bytes)
{
	return ((1u << (bytes + 3) / 4) - 1) << (address - SYSTEM) / 4 % 32;
}

/* Where the bits of the words around an address are; NULL: nobody has written plainly in the cell, or that has been told
 * of. */
SCREEN_HELPER uint32_t *words_at(const struct order *o, const struct cell *c, uint32_t address)
{
	uint32_t word = (address - SYSTEM) % (1u << o->shift) / 4;

	return c->words && c->words + words_of(o) <= WORDS + 1 ? &o->m->word[c->words - 1 + word / 32] : NULL;
}

SCREEN_HELPER uint32_t written_words(const struct order *o, const struct cell *c, uint32_t address)
{
	const uint32_t *words = words_at(o, c, address);

	return words ? *words : 0;
}

/* Some bytes, which lie in a cell; mbars: an mbarrier may be there. */
SCREEN_HELPER void touch_words(const struct order *o, const struct action *a, uint32_t address, const struct screen_access *x,
			       bool mbars)
{
	struct cell *c = &o->m->cell[cell_at(o, address)];
	uint32_t mine = words_mask(address, x->bytes), *words = words_at(o, c, address), was = 0;
	bool writes = x->traits & TRAIT_SHARED_WRITE;

	if (words)
		was = writes ? add_bits(words, mine) : *words;
	if ((was & mine && (writes || !all_before(a, &c->write, false))) || (mbars && has_mbar(o, address, address + x->bytes)))
		against(o->s, SCREEN_SHARED, o->block, o->block);
}

/* A plain access at an address for each lane of the mask. */
SCREEN_HELPER void touch_plain(const struct order *o, const struct action *a, const uint32_t *address, const struct screen_access *x)
{
	entry mine = entry_of((a->alone ? LANE_0 : LANES) + a->warp, o->m->now[a->warp]);
	bool writes = x->traits & TRAIT_SHARED_WRITE, mbars;
	uint32_t from = ~0u, to = 0, first;

	EACH_LANE(i, EVENT_LANES) {
		uint32_t at = event_offset(*ADDRESS_OF(address, i) + (uint32_t)x->offset);

		from = a->mask >> i & 1 && at < from ? at : from;
		to = a->mask >> i & 1 && at + x->bytes > to ? at + x->bytes : to;
	}
	from = LEAST(from);
	to = MOST(to);
	first = cell_at(o, from);
	if (from < SYSTEM || cell_at(o, to - 1) >= o->cells || x->bytes > 16) {
		give_up(o, SCREEN_SHARED);
		return;
	}
	mbars = has_mbar(o, from, to);
	EACH_LANE(i, cell_at(o, to - 1) - first + 1) {
		struct cell *c = &o->m->cell[first + i];

		if (!(writes ? open_cell(o, a, c, mine) : read_cell(a, c, mine)))
			against(o->s, SCREEN_SHARED, o->block, o->block);
	}
	TOGETHER();
	EACH_LANE(i, EVENT_LANES)
		if (a->mask >> i & 1)
			touch_words(o, a, event_offset(*ADDRESS_OF(address, i) + (uint32_t)x->offset), x, mbars);
	TOGETHER();
}

SCREEN_HELPER void touch(const struct order *o, const struct action *a)
{
	const struct screen_site site = o->s->table.site[event_site_of(a->u)];
	const struct screen_access *all = o->s->table.access + site.first;
	ADDRESSES(address);
	ACCESSES(some, all, site.n);

	EACH_LANE(i, EVENT_LANES)
		*ADDRESS_OF(address, i) = a->mask >> i & 1 ? (uint32_t)event_address(a->u, i) : 0;
	for (uint32_t k = 0; k < site.n; k++) {
		const struct screen_access x = ACCESS_OF(some, all, k);

		if (x.traits & TRAIT_ATOMIC)
			give_up(o, SCREEN_ACCESS);
		else if (x.traits & (TRAIT_SHARED_READ | TRAIT_SHARED_WRITE))
			touch_plain(o, a, address, &x);
	}
}

#endif
