/* SPDX-License-Identifier: Apache-2.0
 *
 * interval.c: the screen of blocks whose threads meet at barriers of all of them (screen.h).  Between two uses of a block's
 * barriers lies an interval; a thread of the block comes behind all that others did in an earlier one.
 */
#include <stdlib.h>

#include "detect/memory.h"
#include "detect/pass.h"

/* ---- shared memory ------------------------------------------------------------------------------------------ */

#ifdef __CUDACC__
/* For each stream of a block: on a GPU each lane has one. */
#define EACH_STREAM(x, i) for (uint32_t i = (x)->stream, once_##i = i < (x)->streams; once_##i; once_##i = 0)
#define OF_ALL_STREAMS(x, mine) __reduce_or_sync((x)->lanes, mine)
#else
#define EACH_STREAM(x, i) for (uint32_t i = 0; i < (x)->streams; i++)
#define OF_ALL_STREAMS(x, mine) (mine)
#endif

/* A cell is of as many bytes as the smallest access: the interval in which it was written last, and by whom. */
enum { THREAD_BITS = 11, BY_ATOMICS = 1 << 10, BY_COPY, INTERVALS_MAX = 1 << (32 - THREAD_BITS) };

/* cp.async of a stream: groups that are committed, and of those, the first ones, that are over; how many copies may be under way,
 * which stand behind `from`. */
struct flight { struct cursor from; uint32_t closed, over, pending; };

struct shared {
	const struct screen *s;
	uint32_t *cell, cells, shift;   /* 1 << shift: bytes of a cell */
	uint32_t block, interval;
	uint32_t rows, streams;         /* of a warp; of the block, warp by warp */
	uint32_t stream, lanes;         /* a GPU's: which of the block's streams a lane has, and which lanes have others of it */
};

SCREEN_PASS static void put_cell(const struct shared *x, uint32_t i, uint32_t who)
{
	uint32_t mine = x->interval << THREAD_BITS | who, was;

	if (i >= x->cells) {
		against(x->s, SCREEN_SPACE, x->block, x->block);
		return;
	}
	was = exchange32(&x->cell[i], mine);
	if (was >> THREAD_BITS == x->interval && was != mine)
		against(x->s, SCREEN_SHARED, x->block, x->block);
}

SCREEN_PASS static void look_at_cell(const struct shared *x, uint32_t i, uint32_t who)
{
	uint32_t is = i < x->cells ? x->cell[i] : 0;

	if (is >> THREAD_BITS == x->interval && is != (x->interval << THREAD_BITS | who))
		against(x->s, SCREEN_SHARED, x->block, x->block);
}

/* A copy is behind nothing of its interval, nor before it. */
SCREEN_PASS static void put_copy(const struct shared *x, uint32_t at, uint32_t bytes)
{
	for (uint32_t i = event_offset(at) >> x->shift; i <= (event_offset(at) + bytes - 1) >> x->shift; i++)
		if (i >= x->cells)
			against(x->s, SCREEN_SPACE, x->block, x->block);
		else if (exchange32(&x->cell[i], x->interval << THREAD_BITS | BY_COPY) >> THREAD_BITS == x->interval)
			against(x->s, SCREEN_SHARED, x->block, x->block);
}

/* A lane's access at an address of shared memory. */
SCREEN_PASS static void touch_cells(const struct shared *x, const struct screen_access *a, uint32_t at, uint32_t who)
{
	uint32_t last = (event_offset(at) + a->bytes - 1) >> x->shift;

	for (uint32_t i = event_offset(at) >> x->shift; i <= last; i++)
		if (a->traits & TRAIT_SHARED_WRITE)
			put_cell(x, i, a->traits & TRAIT_ATOMIC ? BY_ATOMICS : who);
		else
			look_at_cell(x, i, who);
}

/* What a lane's thread does that writes in shared memory, or that only reads there. */
SCREEN_PASS static void touch_by(const struct shared *x, const struct screen_site *site, uint32_t address, uint32_t who, uint32_t trait)
{
	const struct screen_access *all = x->s->table.access + site->first;

	if (site->one.traits & trait)
		touch_cells(x, &site->one, address + (uint32_t)site->one.offset, who);
	for (uint32_t k = 1; k < site->n; k++)
		if (all[k].traits & trait)
			touch_cells(x, &all[k], address + (uint32_t)all[k].offset, who);
}

/* All lanes, which are of one row; warp: in its block.  Lanes one step apart take turns, so that warps that begin a row each do
 * not meet in a bank. */
SCREEN_PASS static void touch_shared(const struct shared *x, const struct event_unit *u, const struct event_unit *at, uint32_t warp, uint32_t trait)
{
	const struct screen_site site = x->s->table.site[event_site_of(u)];
	uint32_t lanes = event_lanes(u), low = event_first(lanes), who = warp * EVENT_LANES;
	uint32_t width = EVENT_LANES / x->rows, row = low / width * width;
	int32_t step = event_step(u);

	if (event_narrow(u)) {
		for (uint32_t left = lanes; left;) {
			const struct event_unit four = *++at;

			for (uint32_t k = 0; k < 4 && left; k++, left &= left - 1)
				touch_by(x, &site, four.w[k], who + event_first(left), trait);
		}
		return;
	}
	if (event_by_lane(u)) {
		for (uint32_t i = 0, left = lanes; left; i++, left &= left - 1)
			touch_by(x, &site, (uint32_t)event_nth_address(at, i), who + event_first(left), trait);
		return;
	}
	for (uint32_t i = 0; lanes && i < width; i++) {
		uint32_t l = row + (i + warp) % width;

		if (lanes >> l & 1)
			touch_by(x, &site, (uint32_t)event_base(u) + (uint32_t)(step * (int32_t)(l - low)), who + l, trait);
	}
}

/* The lanes of a stream: those that its warp has of its row; 0: none. */
SCREEN_PASS static uint32_t lanes_of(const struct shared *x, uint32_t stream)
{
	uint32_t width = EVENT_LANES / x->rows, row = x->rows == 1 ? ~0u : ((1u << width) - 1) << stream % x->rows * width;

	return all_lanes(x->s, stream / x->rows) & row;
}

/* An arrival or a wait has to be one of all lanes of a block's stream at a barrier of all threads. */
SCREEN_PASS static void at_barrier(const struct screen *s, struct cursor *c, const struct event_unit *u, uint32_t lanes)
{
	bool wait = event_kind_of(u) == EVENT_BAR_WAIT;

	if (event_bar_count(u) || c->arrived != wait || event_lanes(u) != lanes)
		not_clear(s, SCREEN_KIND);
	c->arrived = !wait;
}

/* ---- cp.async -------------------------------------------------------------------------------------------------- */

SCREEN_HELPER bool is_of_copies(const struct screen *s, const struct event_unit *u)
{
	uint32_t kind = event_kind_of(u);

	return kind == EVENT_CP_ASYNC ||
	       ((kind == EVENT_COMMIT || kind == EVENT_WAIT_GROUP) && s->table.all[event_site_of(u)].variant == EVENT_LIST_CP);
}

SCREEN_PASS static void put_copies(const struct shared *x, const struct event_unit *at)
{
	for (uint32_t left = event_lanes(at); left; left &= left - 1)
		put_copy(x, (uint32_t)event_address(at, event_first(left)), x->s->table.all[event_site_of(at)].size);
}

/* What was under way when the interval began, which is at `c`. */
SCREEN_PASS static void put_pending(const struct shared *x, const struct flight *f, const struct cursor *c, uint32_t warp)
{
	struct cursor at = f->from;
	const struct event_unit *where;
	struct event_unit u;

	while ((at.piece != c->piece || at.at.unit != c->at.unit) && go_on(x->s, &at, warp, &u, &where))
		if (event_kind_of(&u) == EVENT_CP_ASYNC)
			put_copies(x, where);
}

/* So many groups are over. */
SCREEN_PASS static void end_groups(const struct shared *x, struct flight *f, uint32_t over, uint32_t warp)
{
	const struct event_unit *where;
	struct event_unit u;

	while (f->over < over && go_on(x->s, &f->from, warp, &u, &where)) {
		f->pending -= event_kind_of(&u) == EVENT_CP_ASYNC;
		f->over += event_kind_of(&u) == EVENT_COMMIT && is_of_copies(x->s, &u);
	}
}

/* PTX ISA, "cp.async.commit_group", "cp.async.wait_group": groups are a thread's, so that those of a stream's lanes are the same
 * ones if all of them commit and wait.  c: behind the record. */
SCREEN_PASS static void see_copies(const struct shared *x, struct flight *f, const struct event_unit *u, const struct event_unit *where,
				   const struct cursor *c, uint32_t stream)
{
	uint32_t lanes = lanes_of(x, stream), warp = x->block * x->s->log.warps + stream / x->rows, left;

	if (event_kind_of(u) == EVENT_CP_ASYNC) {
		if (event_lanes(u) & ~lanes)
			against(x->s, SCREEN_GROUPS, x->block, x->block);
		put_copies(x, where);
		f->pending++;
		return;
	}
	if (event_lanes(u) != lanes)
		against(x->s, SCREEN_GROUPS, x->block, x->block);
	if (event_kind_of(u) == EVENT_COMMIT) {
		f->closed++;
		return;
	}
	left = (uint32_t)event_get(u, 0, EVENT_WAIT_GROUP_LEFT);
	if (left != EVENT_WAIT_ALL) {
		end_groups(x, f, f->closed > left ? f->closed - left : 0, warp);
		return;
	}
	f->from = *c;
	f->over = f->closed;
	f->pending = 0;
}

/* ---- a block --------------------------------------------------------------------------------------------------- */

/* What is in an interval; whether the barrier at its end reduces. */
enum { HAS_WRITES = 1, HAS_READS = 2, HAS_MORE = 4, HAS_REDUCTION = 8, HAS_NONE = 16 };

/* To the end of the interval, or of the stream, with what its records do in shared memory, and with `writes` what they
 * write in global memory.  Returns what is in it. */
SCREEN_PASS static uint32_t walk_interval(const struct shared *x, struct cursor *c, struct flight *f, uint32_t stream, bool writes)
{
	const struct screen *s = x->s;
	uint32_t has = f->pending ? HAS_WRITES : 0, traits, warp = stream / x->rows, lanes = lanes_of(x, stream);
	const struct event_unit *where;
	struct event_unit u;

	c->barrier = SCREEN_NONE;
	while (go_on(s, c, x->block * s->log.warps + warp, &u, &where)) {
		if (is_of_copies(s, &u)) {
			has |= HAS_WRITES;
			if (writes)
				see_copies(x, f, &u, where, c, stream);
			continue;
		}
		if (!is_simple(event_kind_of(&u)))
			against(s, SCREEN_KIND, x->block, x->block);
		check_members(s, &u);
		if (event_kind_of(&u) == EVENT_BAR_ARRIVE || event_kind_of(&u) == EVENT_BAR_WAIT)
			at_barrier(s, c, &u, lanes);
		if (event_kind_of(&u) == EVENT_BAR_WAIT) {
			c->barrier = event_site_of(&u);
			return has | HAS_MORE | (s->table.all[event_site_of(&u)].flags & EVENT_REDUCE ? HAS_REDUCTION : HAS_NONE);
		}
		traits = traits_of(s, &u);
		/* Lanes of other rows may be in another interval. */
		if (traits & (TRAIT_SHARED_WRITE | TRAIT_SHARED_READ) && event_lanes(&u) & ~lanes)
			against(s, SCREEN_GROUPS, x->block, x->block);
		has |= (traits & TRAIT_SHARED_WRITE ? HAS_WRITES : 0) | (traits & TRAIT_SHARED_READ ? HAS_READS : 0);
		if (traits & (writes ? TRAIT_SHARED_WRITE : TRAIT_SHARED_READ))
			touch_shared(x, &u, where, warp, writes ? TRAIT_SHARED_WRITE : TRAIT_SHARED_READ);
		if (writes && traits & (TRAIT_GLOBAL_WRITE | TRAIT_UNKNOWN))
			screen_touch(s, &u, where, c->piece, true);
	}
	if (f->pending)
		against(s, SCREEN_ORDER, x->block, x->block);
	return has;
}

/* The barrier to which the first row of the stream's warp has come; on a GPU each lane with a stream asks. */
SCREEN_PASS static uint32_t barrier_of_first(const struct shared *x, const struct cursor *now, uint32_t stream)
{
#ifdef __CUDACC__
	uint32_t with = (x->streams < EVENT_LANES ? (1u << x->streams) - 1 : ~0u) << event_first(x->lanes);

	return __shfl_sync(with, now[stream].barrier, (int)(threadIdx.x % EVENT_LANES - stream % x->rows));
#else
	return now[stream - stream % x->rows].barrier;
#endif
}

/* The rows of a warp come to each barrier by one instruction (PTX ISA, "barrier", .aligned), and end in one interval. */
SCREEN_PASS static void check_rows(const struct shared *x, const struct cursor *now)
{
	EACH_STREAM(x, i) {
		uint32_t first = barrier_of_first(x, now, i);

		if (lanes_of(x, i) && now[i].barrier != first)
			against(x->s, SCREEN_KIND, x->block, x->block);
	}
}

/* Of the block's stream, in its first interval. */
SCREEN_PASS static struct cursor begin_stream(const struct shared *x, uint32_t stream)
{
	const struct screen *s = x->s;
	uint32_t warp = x->block * s->log.warps + stream / x->rows, piece = stream % x->rows ? s->first[x->block * x->streams + stream] : warp;
	struct cursor c = {{NULL, 0}, piece, true, false, SCREEN_NONE};

	if (piece != SCREEN_NONE) {
		c.ended = false;
		c.at = begin_of(s, piece);
	}
	return c;
}

/* In the interval, and what they write, too.  Returns what is in it. */
SCREEN_PASS static uint32_t begin_interval(const struct shared *x, struct cursor *now, struct flight *f, uint32_t stream)
{
	if (f->pending)
		put_pending(x, f, now, x->block * x->s->log.warps + stream / x->rows);
	else
		f->from = *now;
	return walk_interval(x, now, f, stream, true);
}

/* was: where each stream was when the interval began. */
SCREEN_PASS static void walk_block(struct shared *x, struct cursor *now, struct cursor *was, struct flight *flight)
{
	uint32_t all = HAS_MORE;

	check_block(x->s, x->block);
	for (x->interval = 1; all & HAS_MORE && x->interval < INTERVALS_MAX; x->interval++) {
		uint32_t mine = 0;

		EACH_STREAM(x, i) {
			was[i] = now[i];
			mine |= begin_interval(x, &now[i], &flight[i], i);
		}
		check_rows(x, now);
		all = OF_ALL_STREAMS(x, mine);
		if (all & HAS_REDUCTION && all & HAS_NONE)
			against(x->s, SCREEN_ORDER, x->block, x->block);
		if ((all & (HAS_WRITES | HAS_READS)) == (HAS_WRITES | HAS_READS))
			EACH_STREAM(x, i) {
				now[i] = was[i];
				walk_interval(x, &now[i], &flight[i], i, false);
			}
		(void)OF_ALL_STREAMS(x, 0);
	}
	if (all & HAS_MORE)
		against(x->s, SCREEN_SPACE, x->block, x->block);
}

#ifdef __CUDACC__
extern __shared__ uint32_t screen_memory[];     /* the cells */

SCREEN_PASS void screen_block(const struct screen *s, uint32_t n)
{
	uint32_t width = EVENT_LANES / s->together, part = threadIdx.x / width, cells = screen_cells(&s->log, s->table.shift);
	struct shared x = {s, screen_memory + part * cells, cells, s->table.shift, n * s->together + part, 0, rows_of(s)};
	struct cursor now, was;
	struct flight flight = {};

	x.streams = s->log.warps * x.rows;
	x.stream = threadIdx.x % width;
	x.lanes = (width < EVENT_LANES ? (1u << width) - 1 : ~0u) << part * width;
	for (uint32_t i = x.stream; i < cells; i += width)
		x.cell[i] = 0;
	if (x.block >= s->log.blocks)
		return;
	if (x.stream < x.streams)
		now = begin_stream(&x, x.stream);
	__syncwarp(x.lanes);
	walk_block(&x, &now - x.stream, &was - x.stream, &flight - x.stream);
}
#else
void screen_block(const struct screen *s, uint32_t n)
{
	struct shared x = {s, NULL, screen_cells(&s->log, s->table.shift), s->table.shift, n, 0, rows_of(s), s->log.warps * rows_of(s), 0, 0};
	struct cursor now[EVENT_LANES], was[EVENT_LANES];
	struct flight flight[EVENT_LANES] = {{.pending = 0}};

	x.cell = (uint32_t *)detect_zeroed(x.cells, sizeof *x.cell);
	for (uint32_t i = 0; i < x.streams; i++)
		now[i] = begin_stream(&x, i);
	walk_block(&x, now, was, flight);
	free(x.cell);
}
#endif
