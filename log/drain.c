/* SPDX-License-Identifier: Apache-2.0
 *
 * drain.c: empties pieces while a kernel runs.  Who calls looks whether somebody asks for a piece; then it takes those
 * out that are full, which is what their leader's next piece or question says, and those of lanes that have ended, and
 * gives them away.  There are more pieces than lanes that can be resident, so that some can always be taken.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log/drain.h"

enum {
	SLAB = 1 << 19,                 /* units */
	TURN_MS = 5                     /* by then what a lane stored before it ended can be seen */
};
#define KEEP_MOST (UINT64_C(64) << 30)  /* bytes of pieces that are taken out: */
enum { KEEP_SHARE = 4 };                /* at most so large a part of the host's memory, */
#define KEEP_LEAST (UINT64_C(2) << 30)  /* but so many */

enum state { HELD, FULL, FREE };
struct place { uint32_t number; uint8_t state; bool seen, settled; };   /* number: of the ticket that has it */

struct log_drain {
	const struct log_way *way;
	CUdeviceptr region;
	struct log_shape shape;
	uint32_t patience;              /* ms */

	struct log_fill *fill;
	uint32_t nfills, room;
	struct place *place;
	uint32_t *free_place, nfree;
	uint32_t answered, heard;       /* tickets that need no answer any more; that have one or have asked for it */
	struct region_entry *queue;
	uint32_t *exited, *exiting;     /* lanes, by warp: seen in an earlier turn; in this one */
	uint32_t last_turn;             /* ms */
	struct event_unit *slab;        /* of pieces that are taken out; its first unit says where the one before is */
	uint32_t slab_used;             /* units of SLAB */
	uint64_t kept, most;            /* bytes of them, and at most */
	bool ended;                     /* nobody is answered any more */
};

static uint32_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint32_t)((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000);
}

static uint64_t most_kept(void)
{
	const uint64_t share = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / KEEP_SHARE;

	return share < KEEP_LEAST ? KEEP_LEAST : share < KEEP_MOST ? share : KEEP_MOST;
}

/* ---- copies ------------------------------------------------------------------------------------------ */

static const void *get(struct log_drain *d, uint32_t unit, size_t bytes)
{
	return log_look(d->way, d->region + (uint64_t)unit * 16, bytes);
}

static bool put(struct log_drain *d, uint64_t at, const void *from, size_t bytes)
{
	return log_write(d->way, d->region + at, from, bytes);
}

/* Nobody is answered any more: what is asked for is lost (event/region.h). */
static bool give_up(struct log_drain *d)
{
	const uint32_t cut = 1;

	return put(d, offsetof(struct region_head, cut), &cut, sizeof cut);
}

/* ---- tickets and places ---------------------------------------------------------------------------------- */

/* NULL: there is no memory. */
static struct log_fill *fill_of(struct log_drain *d, uint32_t number)
{
	uint32_t now = now_ms();

	while (number >= d->room) {
		uint32_t room = d->room ? 2 * d->room : 1024;
		struct log_fill *more = realloc(d->fill, room * sizeof *d->fill);

		if (!more)
			return NULL;
		d->fill = more;
		d->room = room;
	}
	for (; d->nfills <= number; d->nfills++)
		d->fill[d->nfills] = (struct log_fill){.before = LOG_NONE, .warp = LOG_NONE, .since = now};
	return &d->fill[number];
}

/* What is behind that unit says that its piece is full.  False: there is no such piece. */
static bool is_behind(struct log_drain *d, struct log_fill *f, uint32_t number, uint32_t behind)
{
	uint32_t i = (behind - d->shape.end) / d->shape.piece;

	if (behind < d->shape.end)
		return behind + 1 >= d->shape.slots;
	if (i >= log_places(&d->shape) || d->place[i].number >= number || d->place[i].state == FREE)
		return false;
	f->before = d->place[i].number;
	d->place[i].state = FULL;
	return true;
}

/* The head of a piece that is held, which may not be there yet.  False: it is damaged. */
static bool see(struct log_drain *d, struct place *p, const struct region_piece *head)
{
	struct log_fill *f = &d->fill[p->number];

	if (head->magic != EVENT_MAGIC || head->ticket != log_ticket(&d->shape, p->number))
		return true;
	p->seen = true;
	f->leader = (uint8_t)(head->leader % EVENT_LANES);
	if (!f->asked && !is_behind(d, f, p->number, head->behind))
		return false;
	f->warp = f->before == LOG_NONE ? log_warp(&d->shape, head->behind, f->leader) : d->fill[f->before].warp;
	return true;
}

/* NULL: there is no memory. */
static struct event_unit *room_for(struct log_drain *d, uint32_t units)
{
	struct event_unit *was = d->slab;

	if (!was || d->slab_used + units > SLAB) {
		struct event_unit *more = malloc(SLAB * sizeof *d->slab);

		if (!more)
			return NULL;
		d->slab = more;
		memcpy(d->slab, &was, sizeof was);
		d->slab_used = 1;
	}
	d->slab_used += units;
	return d->slab + d->slab_used - units;
}

/* False: there is no memory, and the piece stays where it is. */
static bool take(struct log_drain *d, uint32_t i, const struct event_unit *u)
{
	size_t bytes = d->shape.piece * sizeof *u;
	struct log_fill *f = &d->fill[d->place[i].number];

	f->copy = room_for(d, d->shape.piece);
	if (!f->copy)
		return false;
	memcpy(f->copy, u, bytes);
	d->kept += bytes;
	d->place[i].state = FREE;
	d->free_place[d->nfree++] = d->shape.end + i * d->shape.piece;
	return true;
}

/* ---- questions and answers --------------------------------------------------------------------------------- */

static uint32_t entry_of(struct log_drain *d, uint32_t number)
{
	return log_ticket(&d->shape, number) / d->shape.piece & (d->shape.entries - 1);
}

/* What these tickets, which lie side by side in the queue, ask for.  False: as hear(d). */
static bool hear_some(struct log_drain *d, uint32_t number, uint32_t n)
{
	const struct region_entry *e = log_look(d->way, d->region + 16 * REGION_QUEUE + entry_of(d, number) * sizeof *e, n * sizeof *e);

	for (uint32_t k = number; e && k < number + n; k++, e++) {
		struct log_fill *f = &d->fill[k];

		if (f->asked || e->ticket != log_ticket(&d->shape, k) || !e->piece || e->piece & REGION_GIVEN)
			continue;
		f->asked = true;
		if (!is_behind(d, f, k, e->piece))
			return false;
	}
	return e;
}

/* What has to be kept of each place and each lane, once a region is full.  False: there is no memory. */
static bool set_up(struct log_drain *d)
{
	const struct log_shape *s = &d->shape;
	uint32_t n = log_places(s);

	if (d->place)
		return true;
	d->free_place = calloc(n + 1, sizeof *d->free_place);
	d->queue = calloc(s->entries + 1, sizeof *d->queue);
	d->exited = calloc(log_warps(s) + 1, sizeof *d->exited);
	d->exiting = calloc(log_warps(s) + 1, sizeof *d->exiting);
	d->place = calloc(n + 1, sizeof *d->place);
	if (!d->place || !d->free_place || !d->queue || !d->exited || !d->exiting || (n && !fill_of(d, n - 1)))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		fill_of(d, i)->place = log_ticket(s, i);
		d->place[i].number = i;
	}
	d->most = most_kept();
	d->answered = d->heard = n;
	d->last_turn = now_ms();
	return true;
}

/* Reads the head and, if somebody may wait, who does.  False: a driver call failed, there is no memory, or the region is
 * damaged. */
static bool hear(struct log_drain *d)
{
	const struct region_head *h = get(d, 0, sizeof *h);
	uint32_t drawn;
	bool ok = h;

	if (!h)
		return false;
	if (h->next <= d->shape.last || h->cut)
		return true;
	drawn = (h->next - d->shape.end) / d->shape.piece;
	if (!set_up(d) || !fill_of(d, drawn - 1))
		return false;
	drawn = drawn - d->answered < d->shape.entries ? drawn : d->answered + d->shape.entries;
	for (uint32_t k = d->heard, n; ok && k < drawn; k += n) {
		n = d->shape.entries - entry_of(d, k);
		n = drawn - k < n ? drawn - k : n;
		ok = hear_some(d, k, n);
	}
	while (d->heard < drawn && d->fill[d->heard].asked)
		d->heard++;
	return ok;
}

static bool somebody_waits(struct log_drain *d)
{
	return d->answered < d->nfills && d->fill[d->answered].asked;
}

/* Those that wait, in order, as long as there are pieces. */
static bool answer(struct log_drain *d)
{
	bool ok = true;

	while (ok && d->nfree && somebody_waits(d)) {
		uint32_t from = entry_of(d, d->answered), n = 0;

		for (; d->nfree && somebody_waits(d) && from + n < d->shape.entries; n++) {
			struct log_fill *f = &d->fill[d->answered];

			f->place = d->free_place[--d->nfree];
			d->place[(f->place - d->shape.end) / d->shape.piece] = (struct place){.number = d->answered};
			d->queue[n] = (struct region_entry){log_ticket(&d->shape, d->answered), f->place | REGION_GIVEN};
			d->answered++;
		}
		ok = put(d, 16 * REGION_QUEUE + from * sizeof *d->queue, d->queue, n * sizeof *d->queue);
	}
	return ok;
}

/* ---- pieces that are full -------------------------------------------------------------------------------------- */

static uint32_t places_at_once(struct log_drain *d)
{
	return LOG_CHUNK / (16 * d->shape.piece);
}

static bool has_news(struct log_drain *d, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		if (d->place[i].state == FULL || (d->place[i].state == HELD && !d->place[i].seen))
			return true;
	return false;
}

/* What is known to be full before it is read is all there.  False: as hear(d). */
static bool take_full(struct log_drain *d)
{
	uint32_t n = log_places(&d->shape), to;

	for (uint32_t from = 0; from < n; from = to) {
		const struct event_unit *u;
		bool ok = true;

		to = n - from < places_at_once(d) ? n : from + places_at_once(d);
		if (!has_news(d, from, to))
			continue;
		u = get(d, d->shape.end + from * d->shape.piece, (to - from) * d->shape.piece * sizeof *u);
		for (uint32_t i = from; u && i < to; i++, u += d->shape.piece) {
			bool full = d->place[i].state == FULL;

			if (d->place[i].state != FREE && !d->place[i].seen)
				ok = see(d, &d->place[i], (const struct region_piece *)(const void *)u) && ok;
			if (full)
				ok = take(d, i, u) && ok;
		}
		if (!u || !ok || !hear(d) || !answer(d))
			return false;
	}
	return true;
}

/* ---- pieces of lanes that have ended ------------------------------------------------------------------------------ */

/* Lanes that the records say have ended. */
static uint32_t ended(const struct event_unit *u, uint32_t n)
{
	uint32_t lanes = 0, units;

	for (uint32_t i = 0; i < n && (units = event_units(u + i)) && units <= n - i; i += units)
		lanes |= event_kind_of(u + i) == EVENT_EXIT ? event_lanes(u + i) : 0;
	return lanes;
}

static bool find_ends_in_slots(struct log_drain *d)
{
	for (uint32_t w = 0, n; w < log_warps(&d->shape); w += n) {
		const struct event_unit *u;

		n = log_warps(&d->shape) - w < places_at_once(d) ? log_warps(&d->shape) - w : places_at_once(d);
		u = get(d, d->shape.slots + w * d->shape.piece, n * d->shape.piece * sizeof *u);
		if (!u)
			return false;
		for (uint32_t i = 0; i < n; i++)
			d->exiting[w + i] |= ended(u + i * d->shape.piece, d->shape.piece);
	}
	return true;
}

/* A piece whose head was there a turn ago has nothing in it that is older; a lane whose end was there a turn ago has
 * nothing on its way to it.  False: as take(). */
static bool look_for_end(struct log_drain *d, uint32_t i, const struct event_unit *u)
{
	const uint32_t skip = sizeof(struct region_piece) / sizeof *u;
	struct place *p = &d->place[i];
	const struct log_fill *f = &d->fill[p->number];

	if (p->state != HELD || !p->seen || f->warp >= log_warps(&d->shape))
		return true;
	if (p->settled && d->exited[f->warp] >> f->leader & 1)
		return take(d, i, u);
	if (p->settled)
		d->exiting[f->warp] |= ended(u + skip, d->shape.piece - skip);
	p->settled = true;
	return true;
}

static bool take_ended(struct log_drain *d)
{
	uint32_t n = log_places(&d->shape), to;

	if (now_ms() - d->last_turn < TURN_MS)
		return true;
	memset(d->exiting, 0, log_warps(&d->shape) * sizeof *d->exiting);
	if (!find_ends_in_slots(d))
		return false;
	for (uint32_t from = 0; from < n; from = to) {
		const struct event_unit *u;
		bool ok = true;

		to = n - from < places_at_once(d) ? n : from + places_at_once(d);
		u = get(d, d->shape.end + from * d->shape.piece, (to - from) * d->shape.piece * sizeof *u);
		for (uint32_t i = from; u && i < to; i++, u += d->shape.piece)
			ok = look_for_end(d, i, u) && ok;
		if (!u || !ok || !hear(d) || !answer(d))
			return false;
	}
	for (uint32_t w = 0; w < log_warps(&d->shape); w++)
		d->exited[w] |= d->exiting[w];
	d->last_turn = now_ms();
	return true;
}

/* ---- from outside ------------------------------------------------------------------------------------------------------ */

/* Looking for lanes that have ended takes long: where nothing else helps.  False: it cannot go on, or nobody would want it
 * to. */
static bool look(struct log_drain *d)
{
	uint64_t before = d->kept;

	if (!hear(d) || !answer(d))
		return false;
	if (!somebody_waits(d))
		return true;
	if (!take_full(d))
		return false;
	if (d->kept == before && somebody_waits(d) && !take_ended(d))
		return false;
	return (!d->place || d->kept <= d->most) && !(somebody_waits(d) && now_ms() - d->fill[d->answered].since > d->patience);
}

bool log_drain_look(struct log_drain *d)
{
	if (!d->ended && !look(d)) {
		d->ended = true;
		give_up(d);
	}
	return !d->ended;
}

bool log_drain_is_busy(const struct log_drain *d)
{
	return d->place && !d->ended;
}

/* Until a region is full nothing is kept of it: most never are. */
struct log_drain *log_drain_begin(const struct log_way *way, CUdeviceptr region, const struct log_shape *shape, uint32_t patience)
{
	struct log_drain *d = calloc(1, sizeof *d);

	if (!d)
		return NULL;
	d->way = way;
	d->region = region;
	d->shape = *shape;
	d->patience = patience;
	return d;
}

const struct log_fill *log_drain_end(struct log_drain *d, uint32_t *n)
{
	*n = d->answered;
	return d->place ? d->fill : NULL;
}

void log_drain_free(struct log_drain *d)
{
	while (d->slab) {
		struct event_unit *was;

		memcpy(&was, d->slab, sizeof was);
		free(d->slab);
		d->slab = was;
	}
	free(d->fill);
	free(d->place);
	free(d->free_place);
	free(d->queue);
	free(d->exited);
	free(d->exiting);
	free(d);
}
