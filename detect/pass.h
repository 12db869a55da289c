/* SPDX-License-Identifier: Apache-2.0
 *
 * pass.h: what the screen's passes have in common (screen.h): what differs between a host and a GPU, and the way
 * through a log.  For screen.c, interval.c, global.c, order.c and twin.c; nvcc makes one file of them.
 */
#ifndef DETECT_PASS_H
#define DETECT_PASS_H

#include "detect/screen.h"

#ifdef __CUDACC__
#define SCREEN_HELPER __device__ static inline
/* A GPU's warp: each lane takes some; all have come there; does it hold for each; what they say together;
 * memory of its lanes, where it is all of its block. */
#define NO_UNROLL _Pragma("unroll 1")
#define EACH_LANE(i, n) for (uint32_t i = threadIdx.x % EVENT_LANES; i < (n); i += EVENT_LANES)
#define TOGETHER() __syncwarp()
#define OF_ALL(mine) __all_sync(~0u, mine)
#define OF_EACH(mine) __reduce_or_sync(~0u, mine)
#define OF_WARP __shared__
SCREEN_HELPER uint64_t exchange(uint64_t *p, uint64_t v) { return atomicExch((unsigned long long *)p, v); }
SCREEN_HELPER uint32_t exchange32(uint32_t *p, uint32_t v) { return atomicExch(p, v); }
SCREEN_HELPER uint64_t put_if(uint64_t *p, uint64_t was, uint64_t v) { return atomicCAS((unsigned long long *)p, was, v); }
SCREEN_HELPER uint32_t add(uint32_t *p, uint32_t n) { return atomicAdd(p, n); }
SCREEN_HELPER uint32_t add_bits(uint32_t *p, uint32_t n) { return atomicOr(p, n); }
SCREEN_HELPER uint32_t take_bits(uint32_t *p, uint32_t n) { return atomicAnd(p, ~n); }
SCREEN_HELPER void lower(uint64_t *p, uint64_t v) { atomicMin((unsigned long long *)p, v); }
SCREEN_HELPER void raise_to(uint64_t *p, uint64_t v) { atomicMax((unsigned long long *)p, v); }
SCREEN_HELPER uint32_t highest(uint32_t m) { return 31 - __clz(m); }
SCREEN_HELPER void look_ahead(const void *at) { asm volatile("prefetch.global.L1 [%0];" :: "l"(at)); }
SCREEN_HELPER void look_far_ahead(const void *at) { asm volatile("prefetch.global.L2 [%0];" :: "l"(at)); }
/* Past the first cache, of which other lines are in need. */
SCREEN_HELPER struct event_unit read_unit(const struct event_unit *at)
{
	const uint4 v = __ldcg((const uint4 *)(const void *)at);

	return {{v.x, v.y, v.z, v.w}};
}
#else
#define SCREEN_HELPER static inline
#define NO_UNROLL
#define EACH_LANE(i, n) for (uint32_t i = 0; i < (n); i++)
#define TOGETHER() ((void)0)
#define OF_ALL(mine) (mine)
#define OF_EACH(mine) (mine)
#define OF_WARP
SCREEN_HELPER uint64_t exchange(uint64_t *p, uint64_t v) { uint64_t was = *p; *p = v; return was; }
SCREEN_HELPER uint32_t exchange32(uint32_t *p, uint32_t v) { uint32_t was = *p; *p = v; return was; }
SCREEN_HELPER uint64_t put_if(uint64_t *p, uint64_t was, uint64_t v) { uint64_t is = *p; *p = is == was ? v : is; return is; }
SCREEN_HELPER uint32_t add(uint32_t *p, uint32_t n) { uint32_t was = *p; *p += n; return was; }
SCREEN_HELPER uint32_t add_bits(uint32_t *p, uint32_t n) { uint32_t was = *p; *p |= n; return was; }
SCREEN_HELPER uint32_t take_bits(uint32_t *p, uint32_t n) { uint32_t was = *p; *p &= ~n; return was; }
SCREEN_HELPER void lower(uint64_t *p, uint64_t v) { *p = v < *p ? v : *p; }
SCREEN_HELPER void raise_to(uint64_t *p, uint64_t v) { *p = v > *p ? v : *p; }
SCREEN_HELPER uint32_t highest(uint32_t m) { return 31 - (uint32_t)__builtin_clz(m); }
SCREEN_HELPER void look_ahead(const void *at) { (void)at; }
SCREEN_HELPER void look_far_ahead(const void *at) { (void)at; }
SCREEN_HELPER struct event_unit read_unit(const struct event_unit *at) { return *at; }
#endif

SCREEN_HELPER void not_clear(const struct screen *s, enum screen_why why)
{
	add(&s->why[why], 1);
}

/* And it is known of which block, and of which other one. */
SCREEN_HELPER void against(const struct screen *s, enum screen_why why, uint32_t block, uint32_t other)
{
	volatile uint64_t *note = s->against && block < s->log.blocks && block < SCREEN_NOTED ? &s->against[block] : NULL;

	not_clear(s, why);
	if (note && (why != SCREEN_GLOBAL || screen_note_look(*note) != s->look))
		*note = screen_note(s->look, why, other < SCREEN_NOTED ? other : block);
}

/* Where the units of a piece are. */
SCREEN_HELPER const struct event_unit *piece_units(const struct screen *s, uint32_t piece, uint32_t *skip)
{
	const struct screen_log *l = &s->log;
	uint32_t slots = l->blocks * l->warps;

	*skip = piece < slots ? 0 : (uint32_t)(sizeof(struct region_piece) / sizeof(struct event_unit));
	return l->unit + (piece < slots ? l->slots + piece * l->piece : l->end + (piece - slots) * l->piece);
}

SCREEN_HELPER const struct region_piece *head_of(const struct screen *s, uint32_t piece)
{
	uint32_t skip;

	return (const struct region_piece *)(const void *)piece_units(s, piece, &skip);
}

/* Rows of a warp that are a stream each to screen_block: by lane 0 alone, where another pass is for the block. */
SCREEN_HELPER uint32_t rows_of(const struct screen *s)
{
	return s->log.rows > 1 && !s->form && s->log.shared ? s->log.rows : 1;
}

/* Does that lane lead a row's stream? */
SCREEN_HELPER bool leads_row(const struct screen *s, uint32_t lane)
{
	return lane % (EVENT_LANES / rows_of(s)) == 0;
}

/* Is the piece one of a row's stream? */
SCREEN_HELPER bool led_by_row(const struct screen *s, uint32_t piece)
{
	return piece < s->log.blocks * s->log.warps || leads_row(s, head_of(s, piece)->leader);
}

/* The block whose piece it is, once pieces are linked. */
SCREEN_HELPER uint32_t block_of(const struct screen *s, uint32_t piece)
{
	return (piece < s->log.blocks * s->log.warps ? piece : s->warp[piece]) / s->log.warps;
}

/* A place in a piece. */
struct at { const struct event_unit *unit; uint32_t left; };

SCREEN_HELPER struct at begin_of(const struct screen *s, uint32_t piece)
{
	uint32_t skip;
	const struct event_unit *u = piece_units(s, piece, &skip);

	return (struct at){u + skip, s->log.piece - skip};
}

/* The next record, of which the first unit is copied; false: there is none. */
SCREEN_HELPER bool next_record(const struct screen *s, struct at *at, struct event_unit *u, const struct event_unit **where)
{
	uint32_t units;

	if (!at->left)
		return false;
	*u = *at->unit;
	units = event_units(u);
	if (!units || units > at->left) {
		if (event_kind_of(u) != EVENT_END)
			not_clear(s, SCREEN_KIND);
		return false;
	}
	*where = at->unit;
	at->unit += units;
	at->left -= units;
	return true;
}

/* Units that are read together, since each way to the log is a long one to a GPU: it does not ask for the next one before the
 * last is stored, if the two may be one. */
enum { WINDOW = 8 };

SCREEN_HELPER void read_units(struct event_unit *to, const struct event_unit *from, uint32_t n)
{
	struct event_unit got[WINDOW];

	for (uint32_t i = 0; i < WINDOW; i++)
		if (i < n)
			got[i] = read_unit(from + i);
	for (uint32_t i = 0; i < WINDOW; i++)
		if (i < n)
			to[i] = got[i];
}

/* The next n units of a log, from `first` on. */
struct window { struct event_unit *unit; uint32_t first, n; };

SCREEN_HELPER void fill_window(struct window *w, const struct at *at)
{
	w->n = at->left < WINDOW ? at->left : WINDOW;
	w->first = 0;
	read_units(w->unit, at->unit, w->n);
	look_far_ahead(at->unit + w->n);
}

/* The next record of a piece: all of it, in the window or in the log; NULL: there is none. */
SCREEN_HELPER const struct event_unit *take_record(const struct screen *s, struct at *at, struct window *w)
{
	const struct event_unit *u;
	uint32_t units;

	if (!at->left)
		return NULL;
	if (!w->n)
		fill_window(w, at);
	units = event_units(w->unit + w->first);
	if (!units || units > at->left) {
		if (event_kind_of(w->unit + w->first) != EVENT_END)
			not_clear(s, SCREEN_KIND);
		return NULL;
	}
	if (units > w->n && units <= WINDOW)
		fill_window(w, at);
	u = units <= w->n ? w->unit + w->first : at->unit;
	at->unit += units;
	at->left -= units;
	w->first += units;
	w->n = units < w->n ? w->n - units : 0;
	return u;
}

/* Where a stream is; arrived: at a barrier for which it has not waited; barrier: the site of the wait that has ended its
 * interval; NONE: its log has. */
struct cursor { struct at at; uint32_t piece; bool ended, arrived; uint32_t barrier; };

SCREEN_HELPER struct cursor begin_warp(const struct screen *s, uint32_t warp)
{
	return (struct cursor){begin_of(s, warp), warp, false, false, SCREEN_NONE};
}

/* To the next piece of a warp, if it has one. */
SCREEN_HELPER void next_piece(const struct screen *s, struct cursor *c, uint32_t warp)
{
	c->piece = s->after[c->piece];
	c->ended = c->piece == SCREEN_NONE;
	if (!c->ended) {
		s->warp[c->piece] = warp;
		c->at = begin_of(s, c->piece);
	}
}

/* To the next record of a warp, in its next piece if it has one; false: it has ended. */
SCREEN_HELPER bool go_on(const struct screen *s, struct cursor *c, uint32_t warp, struct event_unit *u, const struct event_unit **where)
{
	while (!c->ended) {
		if (next_record(s, &c->at, u, where))
			return true;
		next_piece(s, c, warp);
	}
	return false;
}

/* Blocks of a cluster may touch each other's memory. */
SCREEN_HELPER void check_block(const struct screen *s, uint32_t block)
{
	const struct region_block *b = (const struct region_block *)(const void *)(s->log.unit + s->log.heads + block * REGION_BLOCK);

	if (b->launch != s->log.launch || b->place >> 16 != 1)
		against(s, SCREEN_KIND, block, block);
}

/* bar.warp.sync: without the orders of some there are fewer, but who is not a member may not be there. */
SCREEN_HELPER bool is_of_warp(uint32_t kind)
{
	return kind == EVENT_WARP_ARRIVE || kind == EVENT_WARP_WAIT;
}

SCREEN_HELPER void check_members(const struct screen *s, const struct event_unit *u)
{
	if (is_of_warp(event_kind_of(u)) && event_lanes(u) & ~(uint32_t)event_get(u, 0, EVENT_WARP_ARRIVE_MEMBERS))
		not_clear(s, SCREEN_KIND);
}

/* Is it of a kind that screen_block looks at wherever it is? */
SCREEN_HELPER bool is_simple(uint32_t kind)
{
	return kind == EVENT_CLOCK || kind == EVENT_BEGIN || kind == EVENT_EXIT || kind == EVENT_BAR_ARRIVE || kind == EVENT_BAR_WAIT ||
	       kind == EVENT_ACCESS || is_of_warp(kind);
}

/* The lanes that a block's warp has. */
SCREEN_HELPER uint32_t all_lanes(const struct screen *s, uint32_t warp)
{
	uint32_t rest = s->log.threads - warp * EVENT_LANES;

	return rest >= EVENT_LANES ? ~0u : (1u << rest) - 1;
}

/* A record with one address, of all lanes or of one. */
SCREEN_HELPER bool is_one(const struct event_unit *u)
{
	return event_count(event_lanes(u)) == 1 || (event_once(u) && !event_by_lane(u) && !event_step(u));
}

/* What an access does. */
SCREEN_HELPER uint32_t traits_of(const struct screen *s, const struct event_unit *u)
{
	if (event_kind_of(u) != EVENT_ACCESS)
		return 0;
	return event_words(u) ? TRAIT_UNKNOWN : s->table.traits[event_site_of(u)];
}

SCREEN_HELPER const struct event_map *screen_map(const struct screen *s, uint64_t hash)
{
	for (uint32_t i = 0; i < s->maps.n; i++)
		if (s->maps.map[i].hash == hash)
			return &s->maps.map[i];
	return NULL;
}

/* global.c: what a record does in global memory.  at: where it is; u: a copy of its first unit. */
SCREEN_PASS void screen_touch(const struct screen *, const struct event_unit *u, const struct event_unit *at, uint32_t piece, bool writes);
/* screen.c: is what a record does in shared memory within its variables?  Against its block if not; as screen_touch(). */
SCREEN_PASS void screen_hold(const struct screen *, const struct event_unit *u, const struct event_unit *at, uint32_t block);
/* order.c: a block, by itself. */
SCREEN_PASS void screen_order(const struct screen *, uint32_t block);

#endif
