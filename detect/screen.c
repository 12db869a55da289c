/* SPDX-License-Identifier: Apache-2.0
 *
 * screen.c: whether a launch is clear (screen.h).  Between two uses of a block's barriers lies an interval; a thread of
 * the block comes behind all that others did in an earlier one.
 */
#include <stdlib.h>
#include <string.h>

#include "detect/screen.h"

/* ---- what a host and a GPU have in common ---------------------------------------------------------- */

enum { UNITS = 32 };            /* that are looked at together */

#ifdef __CUDACC__
#define LANE (threadIdx.x % 32)
/* For each bit of a mask: on a GPU lane i has bit i. */
#define EACH(i, mask) for (uint32_t i = LANE, once_##i = (mask) >> LANE & 1; once_##i; once_##i = 0)
/* For each warp of a block: on a GPU each warp has its own. */
#define EACH_WARP(w, n) for (uint32_t w = threadIdx.x / 32; w < (n); w += blockDim.x / 32)
#define ALL_OR(x) __syncthreads_or(x)
SCREEN_PASS static uint64_t exchange(uint64_t *p, uint64_t v) { return atomicExch((unsigned long long *)p, v); }
SCREEN_PASS static uint32_t exchange32(uint32_t *p, uint32_t v) { return atomicExch(p, v); }
SCREEN_PASS static uint64_t put_if(uint64_t *p, uint64_t was, uint64_t v) { return atomicCAS((unsigned long long *)p, was, v); }
SCREEN_PASS static uint32_t add(uint32_t *p, uint32_t n) { return atomicAdd(p, n); }
SCREEN_PASS static uint32_t bits(uint32_t m) { return __popc(m); }
SCREEN_PASS static uint32_t lowest(uint32_t m) { return __ffs(m) - 1; }
SCREEN_PASS static uint32_t highest(uint32_t m) { return 31 - __clz(m); }
#else
#define EACH(i, mask) EACH_BIT(i, mask)
#define EACH_BIT(i, mask) \
	for (uint32_t left_##i = (mask), i; left_##i && (i = event_first(left_##i), true); left_##i &= left_##i - 1)
#define EACH_WARP(w, n) for (uint32_t w = 0; w < (n); w++)
#define ALL_OR(x) (x)
static uint64_t exchange(uint64_t *p, uint64_t v) { uint64_t was = *p; *p = v; return was; }
static uint32_t exchange32(uint32_t *p, uint32_t v) { uint32_t was = *p; *p = v; return was; }
static uint64_t put_if(uint64_t *p, uint64_t was, uint64_t v) { uint64_t is = *p; *p = is == was ? v : is; return is; }
static uint32_t add(uint32_t *p, uint32_t n) { uint32_t was = *p; *p += n; return was; }
static uint32_t bits(uint32_t m) { return event_count(m); }
static uint32_t lowest(uint32_t m) { return event_first(m); }
static uint32_t highest(uint32_t m) { return 31 - (uint32_t)__builtin_clz(m); }
#endif

SCREEN_PASS static void not_clear(const struct screen *s, enum screen_why why)
{
	add(&s->why[why], 1);
}

/* ---- records ---------------------------------------------------------------------------------------- */

/* Units that a record takes, if it is of a kind that is known here; 0: it is none of those, or the end. */
SCREEN_PASS static uint32_t units_of(const struct event_unit *u)
{
	uint32_t kind = u->w[0] & 63, lanes = u->w[1];

	switch (kind) {
	case EVENT_CLOCK:
	case EVENT_BEGIN:
	case EVENT_EXIT:
	case EVENT_BAR_ARRIVE:
	case EVENT_BAR_WAIT:
		return 1;
	case EVENT_ACCESS:
		if (event_words(u))
			return 0;
		return !lanes ? 0 : event_narrow(u) ? 1 + (bits(lanes) + 3) / 4 : event_by_lane(u) ? 1 + (bits(lanes) + 1) / 2 : 1;
	default:
		return 0;
	}
}

/* A part of a piece: UNITS of it from `at` on, of which the records begin at the bits of `starts`; `from` is where the
 * next part's first record begins.  ended: none comes behind. */
struct part { uint32_t at, from, starts; bool ended; };

SCREEN_PASS static void next_part(const struct screen *s, const struct event_unit *u, uint32_t units, struct part *p)
{
	uint32_t n = units - p->at < UNITS ? units - p->at : UNITS, i = p->from - p->at;

	p->starts = 0;
#ifdef __CUDACC__
	uint32_t mine = LANE < n ? units_of(u + p->at + LANE) : 0, ones = __ballot_sync(~0u, mine == 1);

	if (i < n && (ones >> i | ~(~0u >> i)) == ~0u && n == UNITS) {
		p->starts = ~0u << i;
		i = n;
	}
#endif
	while (i < n && !p->ended) {
#ifdef __CUDACC__
		uint32_t size = __shfl_sync(~0u, mine, i);
#else
		uint32_t size = units_of(u + p->at + i);
#endif

		if (size && i + size <= units - p->at) {
			p->starts |= 1u << i;
			i += size;
		} else {
			p->ended = true;
			if ((u[p->at + i].w[0] & 63) != EVENT_END)
				not_clear(s, SCREEN_KIND);
		}
	}
	p->from = p->at + i;
}

/* Where the units of a piece are. */
SCREEN_PASS static const struct event_unit *piece_units(const struct screen *s, uint32_t piece, uint32_t *skip)
{
	const struct screen_log *l = &s->log;
	uint32_t slots = l->blocks * l->warps;

	*skip = piece < slots ? 0 : (uint32_t)(sizeof(struct region_piece) / sizeof(struct event_unit));
	return l->unit + (piece < slots ? l->slots + piece * l->piece : l->end + (piece - slots) * l->piece);
}

/* ---- pieces -------------------------------------------------------------------------------------------- */

SCREEN_PASS static const struct region_piece *head_of(const struct screen *s, uint32_t piece)
{
	uint32_t skip;

	return (const struct region_piece *)(const void *)piece_units(s, piece, &skip);
}

/* Which piece it is behind, and of another leader than lane 0, of which warp it is. */
SCREEN_PASS void screen_link(const struct screen *s, uint32_t piece)
{
	const struct screen_log *l = &s->log;
	uint32_t slots = l->blocks * l->warps;
	const struct region_piece *head = piece < slots ? NULL : head_of(s, piece);

	if (!head) {
		s->warp[piece] = piece;
		return;
	}
	if (head->magic != EVENT_MAGIC)
		return;
	if (!head->leader) {
		s->after[head->behind >= l->end ? slots + (head->behind - l->end) / l->piece : (head->behind - l->slots) / l->piece] = piece;
		return;
	}
	while (head->behind >= l->end)
		head = head_of(s, slots + (head->behind - l->end) / l->piece);
	s->warp[piece] = (head->behind + 1 - l->slots) / l->piece;
}

SCREEN_PASS static bool led_by_lane_0(const struct screen *s, uint32_t piece)
{
	return piece < s->log.blocks * s->log.warps || !head_of(s, piece)->leader;
}

/* ---- accesses -------------------------------------------------------------------------------------------- */

/* What an instruction does at an address of its lowest lane. */
struct touch { const struct event_site *site; uint64_t address; int64_t step; uint32_t lanes, bytes; };

SCREEN_PASS static struct touch touch_of(const struct screen *s, const struct event_unit *u, uint32_t n)
{
	const struct event_site *site = &s->log.site[event_site_of(u)];
	const struct event_run *r = site->nrun ? &s->log.run[site->run + n] : NULL;
	struct touch t;

	t.site = r ? &s->log.site[r->site] : site;
	t.address = (u->w[2] | (uint64_t)(u->w[3] & 0xffff) << 32) + (uint64_t)(int64_t)(r ? r->offset : 0);
	t.step = (int16_t)(u->w[3] >> 16);
	t.lanes = u->w[1];
	t.bytes = (uint32_t)t.site->size * t.site->count;
	return t;
}

SCREEN_PASS static uint32_t touches(const struct screen *s, const struct event_unit *u)
{
	uint32_t n = s->log.site[event_site_of(u)].nrun;

	return n ? n : 1;
}

/* The address of a lane, which may be its own. */
SCREEN_PASS static uint64_t address_of(const struct event_unit *u, const struct touch *t, uint32_t lane, uint32_t more)
{
	uint32_t nth = bits(t->lanes & ((1u << lane) - 1));

	if (event_narrow(u))
		return (uint64_t)u[1 + nth / 4].w[nth % 4] + more;
	if (event_by_lane(u))
		return (u[1 + nth / 2].w[nth % 2 * 2] | (uint64_t)(u[1 + nth / 2].w[nth % 2 * 2 + 1] & 0xffff) << 32) + more;
	return t->address + (uint64_t)(t->step * (int64_t)(lane - lowest(t->lanes)));
}

/* A reduction nobody reads the result of; see probe/plan.h. */
SCREEN_PASS static bool is_atomic(const struct event_site *s)
{
	return s->sem != EVENT_SEM_NONE;
}

SCREEN_PASS static bool is_known(const struct event_site *s)
{
	return s->kind == EVENT_ACCESS && s->size && !s->left_out && s->proxy == EVENT_PLAIN && s->space != EVENT_GENERIC &&
	       (!is_atomic(s) || (s->sem == EVENT_RELAXED && s->count == 1));
}

/* ---- shared memory ------------------------------------------------------------------------------------------ */

/* A cell is of as many bytes as the smallest access: the interval in which it was written last, and by whom. */
enum { THREAD_BITS = 11, BY_ATOMICS = 1 << 10, INTERVALS_MAX = 1 << (32 - THREAD_BITS) };

/* Where a warp is: in which piece, at which unit; arrived: at a barrier for which it has not waited. */
struct cursor { uint32_t piece, at; bool ended, arrived; };

struct shared {
	const struct screen *s;
	uint32_t *cell, cells, shift;   /* 1 << shift: bytes of a cell */
	uint32_t interval;
};

SCREEN_PASS static void put_cell(const struct shared *x, uint32_t i, uint32_t who)
{
	uint32_t mine = x->interval << THREAD_BITS | who, was;

	if (i >= x->cells) {
		not_clear(x->s, SCREEN_SPACE);
		return;
	}
	was = exchange32(&x->cell[i], mine);
	if (was >> THREAD_BITS == x->interval && was != mine)
		not_clear(x->s, SCREEN_SHARED);
}

SCREEN_PASS static void look_at_cell(const struct shared *x, uint32_t i, uint32_t who)
{
	uint32_t is = i < x->cells ? x->cell[i] : 0;

	if (is >> THREAD_BITS == x->interval && is != (x->interval << THREAD_BITS | who))
		not_clear(x->s, SCREEN_SHARED);
}

/* All of a record's accesses of shared memory that write, or all that only read; returns how many write. */
SCREEN_PASS static uint32_t touch_shared(const struct shared *x, const struct event_unit *u, uint32_t warp, bool writes)
{
	uint32_t n = touches(x->s, u), did = 0;

	for (uint32_t k = 0; k < n; k++) {
		struct touch t = touch_of(x->s, u, k);
		uint32_t more = event_by_lane(u) ? (uint32_t)t.address : 0;

		if (t.site->space != EVENT_SHARED || writes != !!(t.site->does & EVENT_WRITES))
			continue;
		did++;
		EACH(l, t.lanes) {
			uint32_t at = (uint32_t)address_of(u, &t, l, more) & 0xffffff, who = warp % x->s->log.warps * EVENT_LANES + l;

			for (uint32_t b = at >> x->shift; b <= (at + t.bytes - 1) >> x->shift; b++)
				if (writes)
					put_cell(x, b, is_atomic(t.site) ? BY_ATOMICS : who);
				else
					look_at_cell(x, b, who);
		}
	}
	return did;
}

/* An arrival or a wait of all lanes of the warp at a barrier of all threads. */
SCREEN_PASS static void at_barrier(const struct screen *s, struct cursor *c, const struct event_unit *u, uint32_t warp)
{
	uint32_t rest = s->log.threads - warp % s->log.warps * EVENT_LANES;
	bool wait = (u->w[0] & 63) == EVENT_BAR_WAIT, counted = u->w[2] >> 8 & 0xffff;

	if (counted || c->arrived != wait || u->w[1] != (rest >= EVENT_LANES ? ~0u : (1u << rest) - 1))
		not_clear(s, SCREEN_KIND);
	c->arrived = !wait;
}

/* To the end of the interval, or of the warp's log, with what its records do there; from where the warp is.  Returns
 * how many write. */
SCREEN_PASS static uint32_t walk_interval(const struct shared *x, struct cursor *c, uint32_t warp, bool writes)
{
	const struct screen_log *l = &x->s->log;
	uint32_t did = 0;

	while (!c->ended) {
		uint32_t skip;
		const struct event_unit *u = piece_units(x->s, c->piece, &skip);
		uint32_t i = c->at < skip ? skip : c->at, size = i < l->piece ? units_of(u + i) : 0;

		if (!size || i + size > l->piece) {
			if (i < l->piece && (u[i].w[0] & 63) != EVENT_END)
				not_clear(x->s, SCREEN_KIND);
			c->ended = x->s->after[c->piece] == SCREEN_NONE;
			c->piece = c->ended ? c->piece : x->s->after[c->piece];
			c->at = 0;
			if (!c->ended)
				x->s->warp[c->piece] = warp;
			continue;
		}
		c->at = i + size;
		if ((u[i].w[0] & 63) == EVENT_BAR_ARRIVE || (u[i].w[0] & 63) == EVENT_BAR_WAIT)
			at_barrier(x->s, c, u + i, warp);
		if ((u[i].w[0] & 63) == EVENT_BAR_WAIT)
			return did;
		if ((u[i].w[0] & 63) == EVENT_ACCESS)
			did += touch_shared(x, u + i, warp, writes);
	}
	return did;
}

/* The smallest access decides on the size of a cell. */
SCREEN_PASS static uint32_t cell_shift(const struct screen *s)
{
	uint32_t shift = 4;

	for (uint32_t i = 1; i < s->log.nsites; i++)
		while (s->log.site[i].space == EVENT_SHARED && s->log.site[i].size && s->log.site[i].size < 1u << shift)
			shift--;
	return shift;
}

/* Blocks of a cluster may touch each other's memory. */
SCREEN_PASS static void check_block(const struct screen *s, uint32_t block)
{
	const struct region_block *b = (const struct region_block *)(const void *)(s->log.unit + s->log.heads + block * REGION_BLOCK);

	if (b->magic != EVENT_MAGIC || b->place >> 16 != 1)
		not_clear(s, SCREEN_KIND);
}

enum { RESERVED = 1024 };       /* bytes of shared memory in front of a block's own */

SCREEN_PASS static void walk_block(struct shared *x, uint32_t block, struct cursor *now, struct cursor *was)
{
	uint32_t warps = x->s->log.warps;
	bool writes, more;

	check_block(x->s, block);
	for (x->interval = 1; x->interval < INTERVALS_MAX; x->interval++) {
		writes = false;
		more = false;
		EACH_WARP(w, warps) {
			was[w] = now[w];
			writes |= walk_interval(x, &now[w], block * warps + w, true) != 0;
		}
		if (ALL_OR(writes))
			EACH_WARP(w, warps) {
				now[w] = was[w];
				walk_interval(x, &now[w], block * warps + w, false);
			}
		EACH_WARP(w, warps)
			more |= !now[w].ended;
		if (!ALL_OR(more))
			return;
	}
	not_clear(x->s, SCREEN_SPACE);
}

#ifdef __CUDACC__
extern __shared__ uint32_t screen_memory[];     /* the cells, and behind them two cursors for each warp */

SCREEN_PASS void screen_block(const struct screen *s, uint32_t block)
{
	struct shared x = {s, screen_memory, 0, cell_shift(s), 0};
	struct cursor *now;

	x.cells = ((s->log.shared + RESERVED) >> x.shift) + 1;
	now = (struct cursor *)(screen_memory + x.cells);
	for (uint32_t i = threadIdx.x; i < x.cells; i += blockDim.x)
		x.cell[i] = 0;
	EACH_WARP(w, s->log.warps) {
		now[w].piece = block * s->log.warps + w;
		now[w].at = 0;
		now[w].ended = now[w].arrived = false;
	}
	__syncthreads();
	walk_block(&x, block, now, now + s->log.warps);
}
#else
void screen_block(const struct screen *s, uint32_t block)
{
	struct shared x = {s, NULL, 0, cell_shift(s), 0};
	struct cursor now[EVENT_LANES], was[EVENT_LANES];

	x.cells = ((s->log.shared + RESERVED) >> x.shift) + 1;
	x.cell = (uint32_t *)calloc(x.cells, sizeof *x.cell);
	if (!x.cell)
		abort();
	for (uint32_t w = 0; w < s->log.warps; w++)
		now[w] = (struct cursor){block * s->log.warps + w, 0, false, false};
	walk_block(&x, block, now, was);
	free(x.cell);
}
#endif

/* ---- global memory ----------------------------------------------------------------------------------------------- */

/* What a cell of a line says of who writes there.  ROW: the lanes of a warp, each an element beside the one before;
 * SOME: something else of one warp; ATOMICS: reductions of that size, in a scope that holds everybody. */
enum writer { ROW = 1, SOME, ATOMICS };

static const uint64_t stamp_unit = UINT64_C(1) << 48;

SCREEN_PASS static uint64_t cell_of(const struct screen *s, enum writer kind, uint32_t warp, uint64_t rest)
{
	return s->stamp * stamp_unit | (uint64_t)kind << 46 | (uint64_t)warp << 16 | rest;
}

/* Where the cell of an address is; NULL: its page has none, nor gets one unless that is asked for. */
SCREEN_PASS static uint64_t *find_cell(const struct screen *s, uint64_t address, bool make)
{
	uint64_t page = (address >> SCREEN_PAGE) + 1;
	uint32_t at = (uint32_t)(page * UINT64_C(0x9e3779b97f4a7c15) >> 51), line = (uint32_t)(address >> SCREEN_LINE) % SCREEN_LINES;

	for (uint32_t tries = 0; tries < SCREEN_PAGES; tries++, at = (at + 1) % SCREEN_PAGES) {
		uint64_t is = *(volatile uint64_t *)&s->page[at];
		uint32_t mine, cells;

		if (!is && !make)
			return NULL;
		is = is ? is : put_if(&s->page[at], 0, page);
		if (is && is != page)
			continue;
		cells = *(volatile uint32_t *)&s->cells[at];
		if (!cells && !is) {
			mine = add(s->pages, 1) + 1;
			exchange32(&s->cells[at], mine);
			cells = mine;
		}
		while (!cells)          /* somebody else is about to say it */
			cells = *(volatile uint32_t *)&s->cells[at];
		if (cells > s->room)
			break;
		return &s->cell[(uint64_t)(cells - 1) * SCREEN_LINES + line];
	}
	not_clear(s, SCREEN_SPACE);
	return NULL;
}

SCREEN_PASS static void write_line(const struct screen *s, uint64_t address, uint64_t mine)
{
	uint64_t *cell = find_cell(s, address, true), was = cell ? exchange(cell, mine) : 0;
	bool some = (mine >> 46 & 3) == SOME;

	if (was / stamp_unit == s->stamp && (was != mine || some))
		not_clear(s, SCREEN_GLOBAL);
}

SCREEN_PASS static void read_line(const struct screen *s, uint64_t address, uint64_t mine)
{
	uint64_t *cell = find_cell(s, address, false), is = cell ? *cell : 0;

	if (is / stamp_unit == s->stamp && (is != mine || (mine >> 46 & 3) == SOME))
		not_clear(s, SCREEN_GLOBAL);
}

/* What a cell says of it; row: its lanes access a row of elements. */
SCREEN_PASS static uint64_t writer_of(const struct screen *s, const struct touch *t, uint32_t warp, bool row)
{
	if (is_atomic(t->site) && (t->site->scope == EVENT_GPU || t->site->scope == EVENT_SYS || t->site->scope == EVENT_SCOPE_NONE))
		return cell_of(s, ATOMICS, 0, t->bytes);
	if (row && t->lanes == ~0u && t->step == t->bytes && !is_atomic(t->site))
		return cell_of(s, ROW, warp, (t->address & 127) << 8 | t->bytes);
	return cell_of(s, SOME, warp, 0);
}

/* A row of elements: the lines of all of them, from the lane that is here. */
SCREEN_PASS static void touch_row(const struct screen *s, const struct touch *t, uint32_t warp, bool writes)
{
	uint64_t end = t->address + (uint64_t)t->step * (highest(t->lanes) - lowest(t->lanes)) + t->bytes;
	uint64_t mine = writer_of(s, t, warp, true);

	for (uint64_t line = t->address >> SCREEN_LINE; line <= (end - 1) >> SCREEN_LINE; line++)
		if (writes)
			write_line(s, line << SCREEN_LINE, mine);
		else
			read_line(s, line << SCREEN_LINE, mine);
}

/* Other addresses, lane by lane. */
SCREEN_PASS static void touch_lanes(const struct screen *s, const struct event_unit *u, const struct touch *t, uint32_t warp, bool writes)
{
	uint64_t mine = writer_of(s, t, warp, false);
	uint32_t more = event_by_lane(u) ? (uint32_t)t->address : 0;

	for (uint32_t left = t->lanes; left; left &= left - 1) {
		uint64_t at = address_of(u, t, lowest(left), more);

		for (uint64_t line = at >> SCREEN_LINE; line <= (at + t->bytes - 1) >> SCREEN_LINE; line++)
			if (writes)
				write_line(s, line << SCREEN_LINE, mine);
			else
				read_line(s, line << SCREEN_LINE, mine);
	}
}

SCREEN_PASS static void touch_global(const struct screen *s, const struct event_unit *u, uint32_t warp, bool writes)
{
	uint32_t n = touches(s, u);

	for (uint32_t k = 0; k < n; k++) {
		struct touch t = touch_of(s, u, k);
		bool crowded = bits(t.lanes) > 1 && t.step < (int64_t)t.bytes && !is_atomic(t.site);

		if (t.site->space != EVENT_GLOBAL || writes != !!(t.site->does & EVENT_WRITES))
			continue;
		/* Lanes that write the same, or go backwards. */
		if (!event_by_lane(u) && writes && crowded)
			not_clear(s, SCREEN_GLOBAL);
		else if (event_by_lane(u) || t.step < 0 || t.step > 16)
			touch_lanes(s, u, &t, warp, writes);
		else
			touch_row(s, &t, warp, writes);
	}
}

/* ---- pieces, one by one -------------------------------------------------------------------------------------------- */

SCREEN_PASS static void check_record(const struct screen *s, const struct event_unit *u, bool led)
{
	uint32_t kind = u->w[0] & 63, n = kind == EVENT_ACCESS ? touches(s, u) : 0;

	if (!led && (kind == EVENT_BAR_ARRIVE || kind == EVENT_BAR_WAIT))
		not_clear(s, SCREEN_GROUPS);
	for (uint32_t k = 0; k < n; k++) {
		struct touch t = touch_of(s, u, k);

		if (!is_known(t.site))
			not_clear(s, SCREEN_ACCESS);
		if (!led && t.site->space == EVENT_SHARED)
			not_clear(s, SCREEN_GROUPS);
	}
}

SCREEN_PASS static void walk_piece(const struct screen *s, uint32_t piece, bool writes)
{
	struct part p = {0, 0, 0, false};
	const struct event_unit *u = piece_units(s, piece, &p.from);
	uint32_t warp = s->warp[piece];
	bool led;

	if (p.from && head_of(s, piece)->magic != EVENT_MAGIC)
		return;
	led = led_by_lane_0(s, piece);
	for (; p.at < s->log.piece && !p.ended; p.at += UNITS) {
		if (p.from - p.at >= UNITS)
			continue;
		next_part(s, u, s->log.piece, &p);
		EACH(i, p.starts) {
			const struct event_unit *r = u + p.at + i;

			if (writes)
				check_record(s, r, led);
			if ((r->w[0] & 63) == EVENT_ACCESS)
				touch_global(s, r, warp, writes);
		}
	}
}

SCREEN_PASS void screen_writes(const struct screen *s, uint32_t piece)
{
	walk_piece(s, piece, true);
}

SCREEN_PASS void screen_reads(const struct screen *s, uint32_t piece)
{
	walk_piece(s, piece, false);
}

/* ---- all of it, on the host ------------------------------------------------------------------------------------------- */

#ifndef __CUDACC__
static void *some(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort();
	return p;
}

bool screen_launch(const struct screen_log *l, uint32_t why[SCREEN_WHYS])
{
	uint32_t n = screen_pieces(l), pages = 0, all = 0;
	struct screen s = {.log = *l, .stamp = 1, .room = 64, .pages = &pages, .why = why};

	memset(why, 0, SCREEN_WHYS * sizeof *why);
	s.page = (uint64_t *)some(SCREEN_PAGES, sizeof *s.page);
	s.cells = (uint32_t *)some(SCREEN_PAGES, sizeof *s.cells);
	s.cell = (uint64_t *)some((size_t)s.room * SCREEN_LINES, sizeof *s.cell);
	s.after = (uint32_t *)some(n, sizeof *s.after);
	s.warp = (uint32_t *)some(n, sizeof *s.warp);
	memset(s.after, 0xff, n * sizeof *s.after);
	for (uint32_t i = 0; i < n; i++)
		screen_link(&s, i);
	for (uint32_t i = 0; i < l->blocks; i++)
		screen_block(&s, i);
	for (uint32_t i = 0; i < n; i++)
		screen_writes(&s, i);
	for (uint32_t i = 0; i < n; i++)
		screen_reads(&s, i);
	free(s.page);
	free(s.cells);
	free(s.cell);
	free(s.after);
	free(s.warp);
	for (unsigned i = 0; i < SCREEN_WHYS; i++)
		all |= why[i];
	return !all;
}
#endif
