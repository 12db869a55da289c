/* SPDX-License-Identifier: Apache-2.0
 *
 * pass.h: what the screen's passes have in common (screen.h): what differs between a host and a GPU, and the way
 * through a log.  For screen.c and order.c; nvcc makes one file of both.
 */
#ifndef DETECT_PASS_H
#define DETECT_PASS_H

#include "detect/screen.h"

#ifdef __CUDACC__
#define SCREEN_HELPER __device__ static inline
SCREEN_HELPER uint64_t exchange(uint64_t *p, uint64_t v) { return atomicExch((unsigned long long *)p, v); }
SCREEN_HELPER uint32_t exchange32(uint32_t *p, uint32_t v) { return atomicExch(p, v); }
SCREEN_HELPER uint64_t put_if(uint64_t *p, uint64_t was, uint64_t v) { return atomicCAS((unsigned long long *)p, was, v); }
SCREEN_HELPER uint32_t add(uint32_t *p, uint32_t n) { return atomicAdd(p, n); }
SCREEN_HELPER uint32_t add_bits(uint32_t *p, uint32_t n) { return atomicOr(p, n); }
SCREEN_HELPER void widen(uint64_t range[2], uint64_t v)
{
	atomicMin((unsigned long long *)&range[0], v);
	atomicMax((unsigned long long *)&range[1], v);
}
SCREEN_HELPER uint32_t highest(uint32_t m) { return 31 - __clz(m); }
#else
#define SCREEN_HELPER static inline
SCREEN_HELPER uint64_t exchange(uint64_t *p, uint64_t v) { uint64_t was = *p; *p = v; return was; }
SCREEN_HELPER uint32_t exchange32(uint32_t *p, uint32_t v) { uint32_t was = *p; *p = v; return was; }
SCREEN_HELPER uint64_t put_if(uint64_t *p, uint64_t was, uint64_t v) { uint64_t is = *p; *p = is == was ? v : is; return is; }
SCREEN_HELPER uint32_t add(uint32_t *p, uint32_t n) { uint32_t was = *p; *p += n; return was; }
SCREEN_HELPER uint32_t add_bits(uint32_t *p, uint32_t n) { uint32_t was = *p; *p |= n; return was; }
SCREEN_HELPER void widen(uint64_t range[2], uint64_t v)
{
	range[0] = v < range[0] ? v : range[0];
	range[1] = v > range[1] ? v : range[1];
}
SCREEN_HELPER uint32_t highest(uint32_t m) { return 31 - (uint32_t)__builtin_clz(m); }
#endif

SCREEN_HELPER void not_clear(const struct screen *s, enum screen_why why)
{
	add(&s->why[why], 1);
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

SCREEN_HELPER bool led_by_lane_0(const struct screen *s, uint32_t piece)
{
	return piece < s->log.blocks * s->log.warps || !head_of(s, piece)->leader;
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

/* Where a warp is; arrived: at a barrier for which it has not waited. */
struct cursor { struct at at; uint32_t piece; bool ended, arrived; };

SCREEN_HELPER struct cursor begin_warp(const struct screen *s, uint32_t warp)
{
	return (struct cursor){begin_of(s, warp), warp, false, false};
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
		not_clear(s, SCREEN_KIND);
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

/* The lanes that a block's warp has. */
SCREEN_HELPER uint32_t all_lanes(const struct screen *s, uint32_t warp)
{
	uint32_t rest = s->log.threads - warp * EVENT_LANES;

	return rest >= EVENT_LANES ? ~0u : (1u << rest) - 1;
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

/* screen.c: what a record reads or writes in global memory, led by lane 0 or not; and some bytes there.  warp: in the
 * launch. */
SCREEN_PASS void screen_record(const struct screen *, const struct event_unit *u, const struct event_unit *at, uint32_t piece, bool writes);
SCREEN_PASS void screen_bytes(const struct screen *, uint64_t address, uint64_t bytes, uint32_t warp, bool writes);

#endif
