/* SPDX-License-Identifier: Apache-2.0
 *
 * drain.c: empties pieces while a kernel runs.  A thread looks whether somebody asks for a piece; then it takes those
 * out that are full, which is what their leader's next piece or question says, and those of lanes that have ended, and
 * gives them away.  There are more pieces than lanes that can be resident, so that some can always be taken.
 *
 * It does so in a second context, whose copies go on while the first one's kernel runs and whatever else the program
 * waits for: if that context owns the memory, by asynchronous copies from and to page-locked memory in a stream that waits
 * for no other, and by asking whether they are done (doc/hardware.md 9).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run/drain.h"

enum {
	CHUNK = 8 << 20,                /* bytes that are read at once */
	SLAB = 1 << 19,                 /* units */
	NAP_US = 50,                    /* between looks */
	TURN_MS = 5,                    /* by then what a lane stored before it ended can be seen */
	/* A clock's low half is told apart from one in the other half of its range up to 2^31 cycles, about a second,
	 * away: nobody waits longer.  The emulated device's clock counts instructions. */
	PATIENCE_MS = 900, EMU_PATIENCE_MS = 20000
};
#define KEEP_MAX (UINT64_C(8) << 30)    /* bytes of pieces that are taken out */

enum state { HELD, FULL, FREE };
struct place { uint32_t number; uint8_t state; bool seen, settled; };   /* number: of the ticket that has it */

static struct {
	struct run_driver *cu;
	CUcontext second;
	CUstream stream;
	unsigned char *locked;          /* page-locked: CHUNK bytes */
	CUdeviceptr region;
	struct drain_shape shape;
	uint32_t patience;              /* ms */
	pthread_t thread;
	atomic_bool stop;

	struct drain_fill *fill;
	uint32_t nfills, room;
	struct place *place;
	uint32_t *free_place, nfree;
	uint32_t answered, heard;       /* tickets that need no answer any more; that have one or have asked for it */
	struct region_entry *queue;
	uint32_t *exited, *exiting;     /* lanes, by warp: seen in an earlier turn; in this one */
	uint32_t last_turn;             /* ms */
	struct event_unit *slab;        /* of pieces that are taken out; its first unit says where the one before is */
	uint32_t slab_used;             /* units of SLAB */
	uint64_t kept;
} d;

static uint32_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint32_t)((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000);
}

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort();
	return p;
}

/* ---- copies ------------------------------------------------------------------------------------------ */

static bool done(CUresult e)
{
	while (!e && (e = d.cu->cuStreamQuery(d.stream)) == CUDA_ERROR_NOT_READY)
		e = CUDA_SUCCESS;
	return !e;
}

/* At most CHUNK bytes, to where they can be read.  NULL: a driver call failed. */
static const void *get_bytes(uint64_t at, size_t bytes)
{
	return done(d.cu->cuMemcpyDtoHAsync_v2(d.locked, d.region + at, bytes, d.stream)) ? d.locked : NULL;
}

static const void *get(uint32_t unit, size_t bytes)
{
	return get_bytes((uint64_t)unit * 16, bytes);
}

static bool put(uint64_t at, const void *from, size_t bytes)
{
	memcpy(d.locked, from, bytes);
	return done(d.cu->cuMemcpyHtoDAsync_v2(d.region + at, d.locked, bytes, d.stream));
}

/* Nobody is answered any more: what is asked for is lost (event/region.h). */
static bool give_up(void)
{
	const uint32_t cut = 1;

	return put(offsetof(struct region_head, cut), &cut, sizeof cut);
}

/* ---- tickets and places ---------------------------------------------------------------------------------- */

static struct drain_fill *fill_of(uint32_t number)
{
	uint32_t now = now_ms();

	while (number >= d.room) {
		d.room = d.room ? 2 * d.room : 1024;
		d.fill = realloc(d.fill, d.room * sizeof *d.fill);
		if (!d.fill)
			abort();
	}
	for (; d.nfills <= number; d.nfills++)
		d.fill[d.nfills] = (struct drain_fill){.before = DRAIN_NONE, .warp = DRAIN_NONE, .since = now};
	return &d.fill[number];
}

/* What is behind that unit says that its piece is full.  False: there is no such piece. */
static bool is_behind(struct drain_fill *f, uint32_t number, uint32_t behind)
{
	uint32_t i = (behind - d.shape.end) / d.shape.piece;

	if (behind < d.shape.end)
		return behind + 1 >= d.shape.slots;
	if (i >= drain_places(&d.shape) || d.place[i].number >= number || d.place[i].state == FREE)
		return false;
	f->before = d.place[i].number;
	d.place[i].state = FULL;
	return true;
}

/* The head of a piece that is held, which may not be there yet.  False: it is damaged. */
static bool see(struct place *p, const struct region_piece *head)
{
	struct drain_fill *f = &d.fill[p->number];

	if (head->magic != EVENT_MAGIC || head->ticket != drain_ticket(&d.shape, p->number))
		return true;
	p->seen = true;
	f->leader = (uint8_t)(head->leader % EVENT_LANES);
	if (!f->asked && !is_behind(f, p->number, head->behind))
		return false;
	f->warp = f->before == DRAIN_NONE ? drain_warp(&d.shape, head->behind, f->leader) : d.fill[f->before].warp;
	return true;
}

static struct event_unit *room_for(uint32_t units)
{
	struct event_unit *was = d.slab;

	if (!was || d.slab_used + units > SLAB) {
		d.slab = malloc(SLAB * sizeof *d.slab);
		if (!d.slab)
			abort();
		memcpy(d.slab, &was, sizeof was);
		d.slab_used = 1;
	}
	d.slab_used += units;
	return d.slab + d.slab_used - units;
}

static void take(uint32_t i, const struct event_unit *u)
{
	size_t bytes = d.shape.piece * sizeof *u;
	struct drain_fill *f = &d.fill[d.place[i].number];

	f->copy = room_for(d.shape.piece);
	memcpy(f->copy, u, bytes);
	d.kept += bytes;
	d.place[i].state = FREE;
	d.free_place[d.nfree++] = d.shape.end + i * d.shape.piece;
}

/* ---- questions and answers --------------------------------------------------------------------------------- */

static uint32_t entry_of(uint32_t number)
{
	return drain_ticket(&d.shape, number) / d.shape.piece & (d.shape.entries - 1);
}

/* What these tickets, which lie side by side in the queue, ask for.  False: as hear(). */
static bool hear_some(uint32_t number, uint32_t n)
{
	const struct region_entry *e = get_bytes(16 * REGION_QUEUE + entry_of(number) * sizeof *e, n * sizeof *e);

	for (uint32_t k = number; e && k < number + n; k++, e++) {
		struct drain_fill *f = &d.fill[k];

		if (f->asked || e->ticket != drain_ticket(&d.shape, k) || !e->piece || e->piece & REGION_GIVEN)
			continue;
		f->asked = true;
		if (!is_behind(f, k, e->piece))
			return false;
	}
	return e;
}

/* Reads the head and, if somebody may wait, who does.  False: a driver call failed, or the region is damaged. */
static bool hear(void)
{
	const struct region_head *h = get(0, sizeof *h);
	uint32_t drawn;
	bool ok = h;

	if (!h)
		return false;
	if (h->next <= d.shape.last || h->cut)
		return true;
	drawn = (h->next - d.shape.end) / d.shape.piece;
	fill_of(drawn - 1);
	drawn = drawn - d.answered < d.shape.entries ? drawn : d.answered + d.shape.entries;
	for (uint32_t k = d.heard, n; ok && k < drawn; k += n) {
		n = d.shape.entries - entry_of(k);
		n = drawn - k < n ? drawn - k : n;
		ok = hear_some(k, n);
	}
	while (d.heard < drawn && d.fill[d.heard].asked)
		d.heard++;
	return ok;
}

static bool somebody_waits(void)
{
	return d.answered < d.nfills && d.fill[d.answered].asked;
}

/* Those that wait, in order, as long as there are pieces. */
static bool answer(void)
{
	bool ok = true;

	while (ok && d.nfree && somebody_waits()) {
		uint32_t from = entry_of(d.answered), n = 0;

		for (; d.nfree && somebody_waits() && from + n < d.shape.entries; n++) {
			struct drain_fill *f = &d.fill[d.answered];

			f->place = d.free_place[--d.nfree];
			d.place[(f->place - d.shape.end) / d.shape.piece] = (struct place){.number = d.answered};
			d.queue[n] = (struct region_entry){drain_ticket(&d.shape, d.answered), f->place | REGION_GIVEN};
			d.answered++;
		}
		ok = put(16 * REGION_QUEUE + from * sizeof *d.queue, d.queue, n * sizeof *d.queue);
	}
	return ok;
}

/* ---- pieces that are full -------------------------------------------------------------------------------------- */

static uint32_t places_at_once(void)
{
	return CHUNK / (16 * d.shape.piece);
}

static bool has_news(uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		if (d.place[i].state == FULL || (d.place[i].state == HELD && !d.place[i].seen))
			return true;
	return false;
}

/* What is known to be full before it is read is all there.  False: as hear(). */
static bool take_full(void)
{
	uint32_t n = drain_places(&d.shape), to;

	for (uint32_t from = 0; from < n; from = to) {
		const struct event_unit *u;
		bool ok = true;

		to = n - from < places_at_once() ? n : from + places_at_once();
		if (!has_news(from, to))
			continue;
		u = get(d.shape.end + from * d.shape.piece, (to - from) * d.shape.piece * sizeof *u);
		for (uint32_t i = from; u && i < to; i++, u += d.shape.piece) {
			bool full = d.place[i].state == FULL;

			if (d.place[i].state != FREE && !d.place[i].seen)
				ok = see(&d.place[i], (const struct region_piece *)(const void *)u) && ok;
			if (full)
				take(i, u);
		}
		if (!u || !ok || !hear() || !answer())
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

static bool find_ends_in_slots(void)
{
	for (uint32_t w = 0, n; w < d.shape.warps; w += n) {
		const struct event_unit *u;

		n = d.shape.warps - w < places_at_once() ? d.shape.warps - w : places_at_once();
		u = get(d.shape.slots + w * d.shape.piece, n * d.shape.piece * sizeof *u);
		if (!u)
			return false;
		for (uint32_t i = 0; i < n; i++)
			d.exiting[w + i] |= ended(u + i * d.shape.piece, d.shape.piece);
	}
	return true;
}

/* A piece whose head was there a turn ago has nothing in it that is older; a lane whose end was there a turn ago has
 * nothing on its way to it. */
static void look_for_end(uint32_t i, const struct event_unit *u)
{
	const uint32_t skip = sizeof(struct region_piece) / sizeof *u;
	struct place *p = &d.place[i];
	const struct drain_fill *f = &d.fill[p->number];

	if (p->state != HELD || !p->seen || f->warp >= d.shape.warps)
		return;
	if (p->settled && d.exited[f->warp] >> f->leader & 1) {
		take(i, u);
		return;
	}
	if (p->settled)
		d.exiting[f->warp] |= ended(u + skip, d.shape.piece - skip);
	p->settled = true;
}

static bool take_ended(void)
{
	uint32_t n = drain_places(&d.shape), to;

	if (now_ms() - d.last_turn < TURN_MS)
		return true;
	memset(d.exiting, 0, d.shape.warps * sizeof *d.exiting);
	if (!find_ends_in_slots())
		return false;
	for (uint32_t from = 0; from < n; from = to) {
		const struct event_unit *u;

		to = n - from < places_at_once() ? n : from + places_at_once();
		u = get(d.shape.end + from * d.shape.piece, (to - from) * d.shape.piece * sizeof *u);
		for (uint32_t i = from; u && i < to; i++, u += d.shape.piece)
			look_for_end(i, u);
		if (!u || !hear() || !answer())
			return false;
	}
	for (uint32_t w = 0; w < d.shape.warps; w++)
		d.exited[w] |= d.exiting[w];
	d.last_turn = now_ms();
	return true;
}

/* ---- the thread ------------------------------------------------------------------------------------------------------ */

/* Looking for lanes that have ended takes long: where nothing else helps.  False: it cannot go on, or nobody would want it
 * to. */
static bool look(void)
{
	uint64_t before = d.kept;

	if (!hear() || !answer())
		return false;
	if (!somebody_waits())
		return true;
	if (!take_full())
		return false;
	if (d.kept == before && somebody_waits() && !take_ended())
		return false;
	return d.kept <= KEEP_MAX && !(somebody_waits() && now_ms() - d.fill[d.answered].since > d.patience);
}

static void *drain(void *arg)
{
	const struct timespec nap = {.tv_nsec = NAP_US * 1000};

	(void)arg;
	if (d.cu->cuCtxSetCurrent(d.second))
		return NULL;
	while (!atomic_load(&d.stop)) {
		if (!look()) {
			give_up();
			break;
		}
		nanosleep(&nap, NULL);
	}
	return NULL;
}

/* ---- from outside ------------------------------------------------------------------------------------------------------ */

bool drain_alloc(struct run_driver *cu, bool emu, CUdevice device, size_t bytes, CUdeviceptr *region)
{
	CUcontext first;
	bool ok;

	d.cu = cu;
	d.patience = emu ? EMU_PATIENCE_MS : PATIENCE_MS;
	if (cu->cuCtxGetCurrent(&first) || cu->cuCtxCreate_v2(&d.second, 0, device))
		return false;
	ok = !cu->cuStreamCreate(&d.stream, CU_STREAM_NON_BLOCKING) && !cu->cuMemAlloc_v2(region, bytes) &&
	     !cu->cuMemHostAlloc((void **)&d.locked, CHUNK, CU_MEMHOSTALLOC_PORTABLE);
	return !cu->cuCtxSetCurrent(first) && ok;
}

static void forget(void)
{
	while (d.slab) {
		struct event_unit *was;

		memcpy(&was, d.slab, sizeof was);
		free(d.slab);
		d.slab = was;
	}
	free(d.place);
	free(d.free_place);
	free(d.queue);
	free(d.exited);
	free(d.exiting);
	d.nfills = d.nfree = 0;
	d.kept = 0;
}

bool drain_begin(CUdeviceptr region, const struct drain_shape *shape)
{
	uint32_t n = drain_places(shape);

	forget();
	d.region = region;
	d.shape = *shape;
	d.place = zeroed(n, sizeof *d.place);
	d.free_place = zeroed(n, sizeof *d.free_place);
	d.queue = zeroed(shape->entries, sizeof *d.queue);
	d.exited = zeroed(shape->warps, sizeof *d.exited);
	d.exiting = zeroed(shape->warps, sizeof *d.exiting);
	for (uint32_t i = 0; i < n; i++) {
		fill_of(i)->place = drain_ticket(shape, i);
		d.place[i].number = i;
	}
	d.answered = d.heard = n;
	d.last_turn = now_ms();
	atomic_store(&d.stop, false);
	return !pthread_create(&d.thread, NULL, drain, NULL);
}

const struct drain_fill *drain_end(uint32_t *n)
{
	atomic_store(&d.stop, true);
	pthread_join(d.thread, NULL);
	*n = d.answered;
	return d.fill;
}
