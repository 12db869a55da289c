/* SPDX-License-Identifier: Apache-2.0
 *
 * events_log.c: records, with their clocks, into pieces: a stream for each warp and leader.
 * The last record of a stream is held back: its instruction's end may be seen later, and a poll
 * may go on.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/events_impl.h"

enum { PIECE = 4096 };          /* bytes, and room for one record more */

struct evt_stream {
	uint32_t together;              /* lanes of its last CLOCK; 0: one of them has logged elsewhere since */
	uint32_t used, size;            /* bytes of the piece; of this one at most */
	bool held;
	struct event_put put;           /* that is held back */
	bool behind;                    /* its end is seen, */
	uint64_t ended;                 /* at that time or later */
	struct event_piece head;        /* and its records: */
	struct event_unit unit[PIECE / sizeof(struct event_unit) + EVENT_UNITS_MAX + 1];
};

/* ---- clocks ------------------------------------------------------------------------------------ */

static struct {
	bool hostile;
	uint64_t now;                   /* nanoseconds, which are cycles as well */
	uint64_t random, step;
	uint64_t base[EMU_MAX_SMS], start;      /* of the multiprocessors' clocks, of the timer */
} time_;

static uint64_t below(uint64_t n)
{
	time_.random = time_.random * UINT64_C(6364136223846793005) + 1442695040888963407;
	return n ? (time_.random >> 24) % n : 0;
}

void evt_clocks(enum emu_events_clocks clocks, unsigned long long seed)
{
	time_.hostile = clocks == EMU_CLOCKS_HOSTILE;
	time_.now = 1 << 20;
	time_.random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	time_.step = !time_.hostile ? 1 : below(2) ? 32 : 1024;
	time_.start = time_.hostile ? UINT64_C(1) << 50 : 0;
	for (unsigned i = 0; i < EMU_MAX_SMS; i++)
		time_.base[i] = time_.hostile ? below(UINT64_C(1) << 40) : 0;
}

bool evt_tick(void)
{
	time_.now += time_.hostile ? 16 + below(200) : 16;
	return time_.hostile && !below(3000);
}

/* Some time from `from` on, until now: mostly near the end that is `near`. */
static uint64_t some_time(uint64_t from, bool near_now)
{
	uint64_t gap = time_.now > from ? time_.now - from : 0, some;

	if (!time_.hostile || !gap)
		return near_now ? time_.now : from;
	some = below(8) ? below(gap < 400 ? gap + 1 : 400) : below(gap + 1);
	return near_now ? time_.now - some : from + some;
}

static uint64_t clock_at(const struct emu_block *b, uint64_t t) { return t + time_.base[b->sm]; }
static uint64_t timer_at(uint64_t t) { return time_.start + t / time_.step * time_.step; }

/* ---- pieces -------------------------------------------------------------------------------------- */

static void end_piece(struct evt_stream *s)
{
	if (s->used == sizeof s->head)
		return;
	s->head.bytes = s->used;
	evt_piece(&s->head);
	s->head.number++;
	s->used = sizeof s->head;
	s->together = 0;
	s->size = time_.hostile ? (uint32_t)(128 + below(PIECE - 128)) : PIECE;
}

static void append(struct evt_stream *s, const struct event_put *p)
{
	struct event_unit *to = (struct event_unit *)((char *)&s->head + s->used);

	s->used += event_encode(to, p) * (uint32_t)sizeof *to;
}

static void set_end(const struct emu_block *b, struct evt_warp *w, struct evt_stream *s)
{
	uint64_t t = some_time(s->ended, false);

	if (!s->behind)
		return;
	s->put.clock[EVENT_BEHIND] = clock_at(b, t);
	s->put.timer[EVENT_BEHIND] = timer_at(t);
	w->last = t > w->last ? t : w->last;
}

static void settle(const struct emu_block *b, struct evt_warp *w, struct evt_stream *s)
{
	if (!s->held)
		return;
	set_end(b, w, s);
	append(s, &s->put);
	s->held = false;
}

/* ---- records --------------------------------------------------------------------------------------- */

static struct evt_stream *stream_of(const struct emu_warp *w, struct evt_warp *of, unsigned leader)
{
	const struct evt_block *b = evt_block_of(w->block);
	struct evt_stream *s = of->stream[leader];

	if (s)
		return s;
	of->stream[leader] = s = evt_alloc(sizeof *s);
	s->head = (struct event_piece){
		.magic = EVENT_MAGIC, .launch = b->launch, .block = b->number, .first = b->first,
		.rank = (uint16_t)w->block->rank, .blocks = (uint16_t)w->block->cluster->nblocks,
		.warp = (uint8_t)w->index, .leader = (uint8_t)leader, .sm = (uint16_t)w->block->sm,
		.window = EMU_SHARED_WINDOW
	};
	s->used = sizeof s->head;
	s->size = time_.hostile ? (uint32_t)(128 + below(PIECE - 128)) : PIECE;
	return s;
}

static bool same_operands(const struct event_put *a, const struct event_put *b)
{
	EMU_EACH(l, a->lanes) {
		if (a->address[l] != b->address[l])
			return false;
		for (unsigned i = 0; i < a->words; i++)
			if (a->word[l][i] != b->word[l][i])
				return false;
	}
	return true;
}

/* Did it leave the word as it was?  Values that were read come before those that were written. */
static bool unchanged(const struct event_put *p, const struct event_site *site)
{
	EMU_EACH(l, p->lanes)
		for (unsigned i = 0; site->does & EVENT_WRITES && i < p->words / 2u; i++)
			if (p->word[l][i] != p->word[l][i + p->words / 2])
				return false;
	return true;
}

/* A poll: the same read of the same value once more, or a wait in vain. */
static bool goes_on(const struct evt_stream *s, const struct event_put *p, const struct event_site *site)
{
	if (!s->held || s->put.kind != p->kind || s->put.site != p->site || s->put.lanes != p->lanes ||
	    p->lanes & ~s->together || s->put.words != p->words || !same_operands(&s->put, p))
		return false;
	return p->kind == EVENT_MBAR_TRY ||
	       (p->kind == EVENT_STRONG && site->does & EVENT_READS && !(site->does & EVENT_NO_RESULT) && p->words &&
		unchanged(p, site));
}

/* What the stream is told first in a piece, and when lanes have come together or apart. */
static void tell_clock(const struct emu_block *b, struct evt_stream *s, uint32_t together, uint64_t t)
{
	struct event_put *c = evt_alloc(sizeof *c);

	c->kind = EVENT_CLOCK;
	c->lanes = together;
	c->clock[0] = clock_at(b, t);
	c->timer[0] = timer_at(t);
	append(s, c);
	free(c);
	s->together = together;
}

/* Records that are stored behind their instruction, with the one clock that they have. */
static bool waits(enum event_kind kind)
{
	return kind == EVENT_OPAQUE || kind == EVENT_BAR_WAIT || kind == EVENT_WARP_WAIT || kind == EVENT_CLUSTER_WAIT ||
	       kind == EVENT_TC_WAIT || kind == EVENT_GRID_WAIT;
}

static void hold(struct emu_warp *w, struct evt_warp *of, struct evt_stream *s, uint32_t together, const struct event_put *p)
{
	/* A clock behind a barrier of the block proves nothing (doc/hardware.md, 3) */
	bool early = time_.hostile && p->kind == EVENT_BAR_WAIT && below(2);
	uint64_t t = early ? of->last : waits(p->kind) ? time_.now : some_time(of->last, true);

	/* No two reads of the clock by one thread give the same (doc/hardware.md, 4) */
	t = t > of->last ? t : of->last + 1;
	if (s->used >= s->size)
		end_piece(s);
	if (s->used == sizeof s->head) {
		s->head.clock = clock_at(w->block, t);
		s->head.timer = timer_at(t);
	}
	if (p->lanes & ~s->together)
		tell_clock(w->block, s, together, t);
	s->put = *p;
	s->put.clock[EVENT_BEFORE] = clock_at(w->block, t);
	s->put.timer[EVENT_BEFORE] = timer_at(t);
	s->put.clock[EVENT_BEHIND] = s->put.timer[EVENT_BEHIND] = 0;
	s->held = true;
	/* What comes next comes behind the record, which is an access of memory. */
	of->last = waits(p->kind) && time_.now > t ? time_.now : t;
	s->ended = (t > time_.now ? t : time_.now) + 1;
}

static void begin(struct emu_warp *w, struct evt_warp *of)
{
	struct event_put *p = evt_alloc(sizeof *p);
	unsigned n = w->block->nthreads - w->index * EMU_LANES;

	of->begun = true;
	of->last = time_.now;
	p->kind = EVENT_BEGIN;
	p->lanes = n >= EMU_LANES ? EMU_ALL : (1u << n) - 1;
	p->a = w->block->nthreads;
	p->b = (uint32_t)w->block->smem_bytes;
	evt_put(w, p->lanes, p, NULL, false);
	free(p);
}

static bool once(const struct event_put *p)
{
	unsigned first = event_first(p->lanes);

	EMU_EACH(l, p->lanes)
		if (memcmp(p->word[l], p->word[first], p->words * sizeof **p->word))
			return false;
	return p->words > 0;
}

void evt_put(struct emu_warp *w, uint32_t together, struct event_put *p, const struct event_site *site, bool behind)
{
	struct evt_warp *of = &evt_block_of(w->block)->warp[w->index];
	struct evt_stream *s;

	if (!of->begun)
		begin(w, of);
	s = stream_of(w, of, event_first(together));
	if (goes_on(s, p, site)) {
		s->ended = (s->ended > time_.now ? s->ended : time_.now) + 1;
		return;
	}
	for (unsigned l = 0; l < EMU_LANES; l++) {
		struct evt_stream *other = of->stream[l];

		if (!other || (other != s && !(other->together & together)))
			continue;
		settle(w->block, of, other);
		if (other != s)
			other->together = 0;
	}
	p->once = once(p);
	hold(w, of, s, together, p);
	s->behind = behind;
}

void evt_block_flush(struct evt_block *b)
{
	for (unsigned w = 0; w < b->nwarps; w++)
		for (unsigned l = 0; l < EMU_LANES; l++) {
			struct evt_stream *s = b->warp[w].stream[l];

			if (!s)
				continue;
			settle(b->b, &b->warp[w], s);
			end_piece(s);
		}
}

void evt_block_free(struct evt_block *b)
{
	for (unsigned w = 0; w < b->nwarps; w++)
		for (unsigned l = 0; l < EMU_LANES; l++)
			free(b->warp[w].stream[l]);
	free(b);
}
