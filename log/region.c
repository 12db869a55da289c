/* SPDX-License-Identifier: Apache-2.0
 *
 * region.c: a launch's region, and its way to who reads pieces.
 */
#include <stdlib.h>
#include <string.h>

#include "log/region.h"

enum { QUEUE_MOST = 1 << 18 };

static uint64_t round_up(uint64_t n, uint32_t to)
{
	return (n + to - 1) / to * to;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* If the region is drained there is a piece for each lane that can be there, one more, and the one for what is lost. */
uint64_t log_lay_out(struct log_shape *s, uint64_t blocks, uint32_t threads, uint32_t piece, uint64_t lanes)
{
	const uint32_t warps = (threads + EVENT_LANES - 1) / EVENT_LANES;
	uint64_t heads, slots, end;

	*s = (struct log_shape){.warps = warps, .piece = piece, .entries = 1};
	s->lanes = (uint32_t)least(blocks * warps * EVENT_LANES, lanes);
	while (s->entries < least(s->lanes, QUEUE_MOST))
		s->entries *= 2;
	heads = REGION_QUEUE + round_up(s->entries, 2) / 2;
	slots = round_up(heads + blocks * REGION_BLOCK, piece);
	end = round_up(slots + blocks * warps * piece, REGION_PIECE_MAX);
	if (end > LOG_MOST / sizeof(struct event_unit))
		return UINT64_MAX;
	s->blocks = (uint32_t)blocks;
	s->heads = (uint32_t)heads;
	s->slots = (uint32_t)slots;
	s->end = (uint32_t)end;
	return round_up(end + ((uint64_t)s->lanes + 2) * piece, REGION_PIECE_MAX) * sizeof(struct event_unit);
}

void log_fit(struct log_shape *s, uint64_t bytes)
{
	uint64_t units = least(bytes, LOG_MOST) / sizeof(struct event_unit) / REGION_PIECE_MAX * REGION_PIECE_MAX;

	s->last = (uint32_t)units / s->piece * s->piece - 2 * s->piece;
}

/* Whose turn it is at first. */
static void fill_queue(const struct log_shape *s, struct region_entry *q)
{
	uint32_t number = s->last / s->piece + 1;

	for (uint32_t i = 0; i < s->entries; i++, number++)
		q[number & (s->entries - 1)].ticket = number * s->piece;
}

bool log_queue_suits(const struct log_shape *s, const struct log_shape *queue)
{
	return s->lanes && queue->lanes && s->entries == queue->entries && s->last == queue->last && s->piece == queue->piece;
}

/* The queue, and zeros for what is left of an old one.  units: in front of which it ends. */
static bool write_queue(const struct log_way *w, CUdeviceptr region, const struct log_shape *s, uint32_t units)
{
	const uint32_t all = (units - REGION_QUEUE) * (sizeof(struct event_unit) / sizeof(struct region_entry));

	return w->queue(region + REGION_QUEUE * sizeof(struct event_unit), all, s, w->stream) == CUDA_SUCCESS;
}

/* One copy: the head, the parameter behind it, and the queue if that is not written apart. */
bool log_prepare(const struct log_way *w, CUdeviceptr region, const struct log_shape *s, const struct log_shape *queue, uint32_t launch,
		 struct region_launch *l)
{
	const struct region_head head = {.next = s->end, .last = s->last, .cut = !s->lanes, .since = UINT64_MAX};
	const bool there = queue && log_queue_suits(s, queue);
	const uint32_t old = queue && queue->lanes && !there ? queue->heads : 0, most = old > s->heads ? old : s->heads;
	size_t bytes = (there || w->queue ? REGION_PLACES : s->heads) * sizeof(struct event_unit);
	struct event_unit *u = calloc(1, bytes);
	bool ok = u;

	*l = (struct region_launch){.region = region, .heads = s->heads, .slots = s->slots, .launch = launch, .last = s->last,
				    .queue = s->entries - 1, .magic = EVENT_MAGIC};
	if (ok) {
		memcpy(u, &head, sizeof head);
		memcpy((char *)u + REGION_LAUNCH, l, sizeof *l);
		if (s->lanes && !there && !w->queue)
			fill_queue(s, (struct region_entry *)(void *)(u + REGION_QUEUE));
		ok = log_write(w, region, u, bytes);
		if (ok && w->queue && !there)
			ok = write_queue(w, region, s, most);
		else if (ok && most > s->heads)
			ok = log_zero(w, region + (uint64_t)s->heads * sizeof *u, (most - s->heads) * sizeof *u);
	}
	free(u);
	return ok;
}

bool log_take(const struct log_way *w, CUdeviceptr region, const struct log_shape *s, struct log_copy *c)
{
	*c = (struct log_copy){0};
	if (!log_read(w, &c->head, region, sizeof c->head))
		return false;
	c->end = (uint32_t)least(c->head.next, s->last + s->piece);
	c->unit = malloc((size_t)c->end * sizeof *c->unit);
	return c->unit && log_read(w, c->unit, region, (size_t)c->end * sizeof *c->unit);
}

bool log_clear(const struct log_way *w, CUdeviceptr region, const struct log_shape *s, uint32_t end, bool was_full)
{
	const size_t unit = sizeof(struct event_unit);

	if (was_full || !s->lanes || end < s->heads)
		return log_zero(w, region, end * unit);
	return log_zero(w, region, REGION_QUEUE * unit) && log_zero(w, region + s->heads * unit, (end - s->heads) * unit);
}

/* ---- piece by piece ---------------------------------------------------------------------------------- */

struct teller { const struct log_copy *log; const struct log_shape *shape; log_piece *to; void *arg; };
struct piece { struct event_piece head; struct event_unit unit[REGION_PIECE_MAX]; };

/* Its lanes have not stored their addresses. */
static bool is_torn(const struct event_unit *u)
{
	const enum event_form form = event_form(event_kind_of(u));

	if ((form != EVENT_FORM_ADDRESS && form != EVENT_FORM_CLOCKED) || !(event_by_lane(u) || event_once(u)))
		return false;
	for (uint32_t left = event_lanes(u); left; left &= left - 1)
		if (event_address(u, event_first(left)))
			return false;
	return true;
}

static void cut_torn(struct event_unit *u, uint32_t units)
{
	uint32_t at = 0, last = 0, n;

	for (; at < units && (n = event_units(u + at)) && n <= units - at; at += n)
		last = at;
	if (at && is_torn(u + last))
		u[last] = (struct event_unit){{0}};
}

static void tell(const struct teller *t, uint32_t warp, const struct event_unit *first, const struct region_piece *at)
{
	const struct log_shape *s = t->shape;
	struct piece p = {0};
	struct region_block b;
	uint32_t skip = at ? sizeof *at / sizeof *first : 0, units = s->piece - skip;

	memcpy(&b, t->log->unit + s->heads + warp / s->warps * REGION_BLOCK, sizeof b);
	if (!b.magic)                   /* it never began: another block has cancelled it (clusterlaunchcontrol), or a fault */
		return;
	p.head = (struct event_piece){
		.magic = b.magic, .launch = b.launch, .block = b.block, .first = b.first, .rank = (uint16_t)b.place,
		.blocks = (uint16_t)(b.place >> 16), .warp = (uint8_t)(warp % s->warps), .leader = at ? (uint8_t)at->leader : 0,
		.sm = (uint16_t)b.sm, .bytes = (uint32_t)(sizeof p.head + units * sizeof *first), .window = b.window,
		.clock = at ? at->clock : b.clock, .timer = at ? at->timer : b.timer
	};
	memcpy(p.unit, first + skip, units * sizeof *first);
	if (t->log->torn)
		cut_torn(p.unit, units);
	t->to(t->arg, &p.head);
}

/* Of a region that was never full. */
static struct log_fill untouched(const struct log_shape *s, uint32_t number)
{
	return (struct log_fill){.place = log_ticket(s, number), .before = LOG_NONE};
}

/* Where a ticket's piece is; NULL: nobody has it. */
static const struct event_unit *piece_of(const struct teller *t, const struct log_fill *f, uint32_t number)
{
	const struct event_unit *u = f->copy ? f->copy :
				     f->place && f->place + t->shape->piece <= t->log->end ? t->log->unit + f->place : NULL;
	struct region_piece at;

	if (!u)
		return NULL;
	memcpy(&at, u, sizeof at);
	return at.magic == EVENT_MAGIC && at.ticket == log_ticket(t->shape, number) ? u : NULL;
}

/* The warp of a piece, which begins behind another one or, of the first one of another leader than lane 0, in front of
 * the warp's. */
static uint32_t warp_of(const struct log_shape *s, const struct region_piece *at, const struct log_fill *f,
			const uint32_t *warp, uint32_t number)
{
	uint32_t before = f->before != LOG_NONE ? f->before : (at->behind - s->end) / s->piece;

	if (at->behind < s->end)
		return log_warp(s, at->behind, at->leader);
	return before < number ? warp[before] : LOG_NONE;
}

const char *log_tell(const struct log_copy *log, const struct log_shape *s, const struct log_fill *fill, uint32_t n, log_piece *to,
		     void *arg)
{
	const struct teller t = {log, s, to, arg};
	uint32_t *warp;
	bool ok = true;

	if (!fill)
		n = log->end > s->end ? (log->end - s->end) / s->piece : 0;
	warp = calloc((size_t)n + 1, sizeof *warp);
	if (!warp)
		return "there is no memory for that";
	for (uint32_t w = 0; w < log_warps(s); w++)
		tell(&t, w, log->unit + s->slots + w * s->piece, NULL);
	for (uint32_t i = 0; ok && i < n; i++) {
		const struct log_fill f = fill ? fill[i] : untouched(s, i);
		const struct event_unit *u = piece_of(&t, &f, i);
		struct region_piece at;

		if (!u)
			continue;
		memcpy(&at, u, sizeof at);
		warp[i] = warp_of(s, &at, &f, warp, i);
		ok = warp[i] < log_warps(s);
		if (ok)
			tell(&t, warp[i], u, &at);
	}
	free(warp);
	return ok ? NULL : "the kernel wrote where its log is";
}
