/* SPDX-License-Identifier: Apache-2.0
 *
 * twin.c: blocks that do what another one did (screen.h).  What screen_order says of a block depends on nothing but what
 * it looks at: the records of each of the block's warps in their order, without clocks, and without what concerns global
 * memory alone; and what is one for all blocks of a kernel: its sites, the size of a block, its shared memory.  So a
 * block whose warps log the same as those of a block that was clear is as clear, whatever the clocks say.  That is looked
 * up word by word, in streams that are the logs of such warps, with what counts of each unit.
 *
 * Records that screen_order does not look at may be there or not.  So may a vain try at an mbarrier: blocks that do the
 * same have them or not, as their waits last.  screen_order wants of one that its thread knows of the mbarrier's init.
 * Between the try and the wait that it belongs to the warp learns nothing, and the wait, of the same lanes at the same
 * mbarrier, has to know as much.
 */
#include "detect/bounds.h"
#include "detect/pass.h"

/* ---- what counts of a record ------------------------------------------------------------------------------------ */

/* Of a unit of a stream: the words of it that count, as bits; a record begins there; the record may be missing; where a
 * tensor map's hash is, in which case word 0 is the site; and from AS_HAS on, what the record has in global memory. */
enum { IS_HEAD = 1 << 4, IS_OPTIONAL = 1 << 5, IS_MAP = 1 << 6, AS_HAS = 7 };

/* The first n words of a unit. */
SCREEN_HELPER uint32_t words_of_unit(uint32_t n)
{
	return (1u << n) - 1;
}

/* Records with clocks have their own 64-bit words from unit OPERANDS on: the address, if it is by lane, and operands. */
enum { CLOCKS_UNIT = 1, OPERANDS = 2 };

/* Which operand the first of such a unit's two words is; -1: the address. */
SCREEN_HELPER int32_t first_operand(const struct event_unit *head, uint32_t i)
{
	return (int32_t)(2 * (i - OPERANDS)) - event_by_lane(head);
}

/* Of a tensor map its box's size and its place in shared memory count; 0: the copy is of no form that is followed. */
SCREEN_HELPER uint64_t shape_of_map(const struct screen *s, uint32_t site, uint64_t hash)
{
	const struct event_map *map = screen_map(s, hash);
	struct bounds_box box;

	if (!map || !bounds_shape(&s->table.all[site], map, &box))
		return 0;
	return UINT64_C(1) << 63 | (uint64_t)map->span << 52 | (uint64_t)box.rows << 32 | box.row_bytes;
}

/* Not what is in global memory: where a load reads, what a store writes, a tensor's map, and where its box is; not the state
 * that an arrival returned, nor which phase was tried in vain. */
SCREEN_HELPER bool operand_counts(const struct event_unit *head, bool load, int32_t n)
{
	switch (event_kind_of(head)) {
	case EVENT_MBAR_ARRIVE:
		return n <= (int32_t)event_word_of(EVENT_MBAR_ARRIVE_COUNT);
	case EVENT_MBAR_TRY:
		return n < 0;
	case EVENT_COPY:
		return load ? n != (int32_t)event_word_of(EVENT_COPY_FROM) : n >= 0;
	case EVENT_TENSOR:
		return n == (int32_t)event_word_of(EVENT_TENSOR_HASH) || n == (int32_t)event_word_of(EVENT_TENSOR_MBAR);
	default:
		return true;
	}
}

/* A record with clocks, which has its address in its head or as its first operand. */
SCREEN_HELPER uint32_t what_is_clocked(const struct screen *s, const struct event_unit *head, uint32_t i)
{
	bool load = s->table.all[event_site_of(head)].flags & EVENT_COUNTED;
	int32_t n = first_operand(head, i);

	if (i == 0)
		return words_of_unit(!event_by_lane(head) && (load || event_kind_of(head) != EVENT_COPY) ? 4 : 2);
	if (i == CLOCKS_UNIT)
		return 0;
	return (operand_counts(head, load, n) ? 3u : 0) | (operand_counts(head, load, n + 1) ? 3u << 2 : 0) |
	       (event_kind_of(head) == EVENT_TENSOR && n + 1 == (int32_t)event_word_of(EVENT_TENSOR_HASH) ? IS_MAP : 0);
}

/* May it be missing? */
SCREEN_HELPER bool is_optional(uint32_t kind, uint32_t traits)
{
	return kind == EVENT_CLOCK || kind == EVENT_BEGIN || kind == EVENT_MBAR_TRY ||
	       (kind == EVENT_ACCESS && !(traits & (TRAIT_SHARED_READ | TRAIT_SHARED_WRITE)));
}

SCREEN_HELPER uint32_t has_in_global(uint32_t kind, uint32_t traits)
{
	if (kind == EVENT_TENSOR || kind == EVENT_COPY)
		return SCREEN_READS | SCREEN_WRITES;
	return (traits & TRAIT_GLOBAL_READ ? SCREEN_READS : 0) |
	       (traits & (TRAIT_GLOBAL_WRITE | TRAIT_UNKNOWN) ? SCREEN_WRITES : 0);
}

/* Of a record's i-th unit; SCREEN_NONE: the record is not followed. */
SCREEN_HELPER uint32_t words_that_count(const struct screen *s, const struct event_unit *head, uint32_t i)
{
	switch (event_kind_of(head)) {
	case EVENT_CLOCK:
	case EVENT_BEGIN:
	case EVENT_FENCE:
	case EVENT_COMMIT:
	case EVENT_EXIT:
		return words_of_unit(2);
	case EVENT_BAR_ARRIVE:
	case EVENT_BAR_WAIT:
	case EVENT_WARP_ARRIVE:
	case EVENT_WARP_WAIT:
		return words_of_unit(3);
	case EVENT_ACCESS:
		if (is_optional(EVENT_ACCESS, traits_of(s, head)))
			return words_of_unit(i ? 0 : 2);
		return words_of_unit(i == 0 && event_by_lane(head) ? 2 : 4);
	case EVENT_WAIT_GROUP:
	case EVENT_WGMMA:
		return words_of_unit(4);
	case EVENT_TENSOR:
		return event_by_lane(head) ? SCREEN_NONE : what_is_clocked(s, head, i);
	case EVENT_MBAR_INIT:
	case EVENT_MBAR_ARRIVE:
	case EVENT_MBAR_EXPECT:
	case EVENT_MBAR_WAIT:
	case EVENT_MBAR_TRY:
	case EVENT_COPY:
		return is_one(head) ? what_is_clocked(s, head, i) : SCREEN_NONE;
	default:
		return SCREEN_NONE;
	}
}

/* Does a unit of the log differ from one of a stream? */
SCREEN_HELPER bool differs(const struct screen *s, const struct event_unit *u, const struct event_unit *is, uint32_t what)
{
	return what & IS_MAP ? shape_of_map(s, is->w[0], event_half(u, 1)) != event_half(is, 1) : event_differs(u, is, what);
}

/* ---- a warp's log beside a stream ----------------------------------------------------------------------------------- */

/* Where a warp is, and so many units of the stream.  has: what the piece has in global memory so far; vain: a try of which
 * the wait is to come, no lanes: there is none.  A GPU's lanes are at the same place, and look at a unit each. */
struct walk { struct cursor c; uint32_t warp, done, has; struct { uint32_t lanes; uint64_t address; } vain; };

SCREEN_HELPER void go_units(struct walk *w, uint32_t of_log, uint32_t of_stream)
{
	w->c.at.unit += of_log;
	w->c.at.left -= of_log;
	w->done += of_stream;
}

/* Who tries has to be the one who waits next. */
SCREEN_HELPER bool is_of_try(const struct walk *w, const struct event_unit *at)
{
	uint32_t lanes = event_lanes(at);

	return !w->vain.lanes ||
	       (is_one(at) && lanes == w->vain.lanes && event_address(at, event_first(lanes)) == w->vain.address);
}

/* Behind as many units as are the same, of at most n.  False: what is there is not what somebody tried to wait for. */
SCREEN_HELPER bool go_equal(const struct screen *s, struct walk *w, struct screen_stream is, uint32_t n)
{
	const struct event_unit *at = w->c.at.unit, *unit = s->twins->unit + is.first + w->done;
	const uint16_t *what = s->twins->what + is.first + w->done;
	uint32_t differ = 0, heads = 0, has = 0;
	bool fine = true;

	EACH_LANE(i, n) {
		const struct event_unit u = read_unit(at + i), v = unit[i];

		differ |= (uint32_t)differs(s, &u, &v, what[i]) << i;
		heads |= (uint32_t)(what[i] & IS_HEAD && !(what[i] & IS_OPTIONAL)) << i;
		has |= what[i] >> AS_HAS;
	}
	differ = OF_EACH(differ);
	n = differ ? event_first(differ) : n;
	w->has |= OF_EACH(has);
	if (w->vain.lanes) {
		heads = OF_EACH(heads);
		if (event_first(heads) < n) {
			at += event_first(heads);
			fine = event_kind_of(at) == EVENT_MBAR_WAIT && is_of_try(w, at);
			w->vain.lanes = 0;
		}
	}
	go_units(w, n, n);
	return fine;
}

SCREEN_HELPER void go_to_next_piece(const struct screen *s, struct walk *w)
{
	EACH_LANE(i, 1)
		s->has[w->c.piece] = (uint8_t)w->has;
	w->has = 0;
	next_piece(s, &w->c, w->warp);
}

/* Behind what is in the log or in the stream alone; false: that may not be. */
SCREEN_HELPER bool go_over(const struct screen *s, struct walk *w, struct screen_stream is)
{
	const struct event_unit *at = w->c.at.unit, *unit = s->twins->unit + is.first + w->done;
	uint32_t what = w->done < is.n ? s->twins->what[is.first + w->done] : IS_HEAD, kind, units, traits;

	if (!(what & IS_HEAD))
		return false;
	if (!w->c.at.left || event_kind_of(at) == EVENT_END) {
		go_to_next_piece(s, w);
		return true;
	}
	kind = event_kind_of(at);
	units = event_units(at);
	traits = traits_of(s, at);
	if (units && units <= w->c.at.left && is_optional(kind, traits)) {
		if (kind == EVENT_MBAR_TRY) {
			if (!is_one(at) || !is_of_try(w, at))
				return false;
			w->vain.lanes = event_lanes(at);
			w->vain.address = event_address(at, event_first(w->vain.lanes));
		}
		w->has |= has_in_global(kind, traits);
		go_units(w, units, 0);
		return true;
	}
	if (what & IS_OPTIONAL)
		go_units(w, 0, event_units(unit));
	return what & IS_OPTIONAL;
}

/* Is a warp's log that stream?  By all of a GPU's lanes. */
SCREEN_HELPER bool is_stream(const struct screen *s, uint32_t warp, struct screen_stream is)
{
	struct walk w = {begin_warp(s, warp), warp, 0, 0, {0, 0}};
	bool same = true;

	while (same && !w.c.ended) {
		uint32_t n = is.n - w.done < w.c.at.left ? is.n - w.done : w.c.at.left, was = w.done;

		n = n < EVENT_LANES ? n : EVENT_LANES;
		same = go_equal(s, &w, is, n) && ((n && w.done - was == n) || go_over(s, &w, is));
	}
	return same && w.done == is.n && !w.vain.lanes;
}

/* Those of some classes that have this stream. */
SCREEN_HELPER uint32_t with_stream(const struct screen_twins *t, uint32_t classes, uint32_t warp, struct screen_stream is)
{
	uint32_t with = 0;

	for (uint32_t left = classes; left; left &= left - 1) {
		const struct screen_stream *one = &t->stream[event_first(left)][warp];

		with |= one->first == is.first && one->n == is.n ? left & (~left + 1) : 0;
	}
	return with;
}

/* Those of some classes in which a block's warp does the same: streams that differ are not equal to one. */
SCREEN_HELPER uint32_t equal_classes(const struct screen *s, uint32_t block, uint32_t warp, uint32_t classes)
{
	while (classes) {
		const struct screen_stream is = s->twins->stream[event_first(classes)][warp];
		uint32_t with = with_stream(s->twins, classes, warp, is);

		if (is_stream(s, block * s->log.warps + warp, is))
			return with;
		classes &= ~with;
	}
	return 0;
}

SCREEN_PASS void screen_compare(const struct screen *s, uint32_t warp)
{
	uint32_t block = warp / s->log.warps, classes = s->like[block];
	uint32_t differ = classes & ~equal_classes(s, block, warp % s->log.warps, classes);

	EACH_LANE(i, 1)
		if (!(take_bits(&s->like[block], differ) & ~differ))
			lower(&s->twins->first, (uint64_t)s->log.launch << 32 | block);
}

/* ---- what is kept ------------------------------------------------------------------------------------------------- */

/* As units of a stream; false: it is not followed. */
SCREEN_HELPER bool keep_record(const struct screen *s, const struct event_unit *u, struct event_unit *to, uint16_t *what)
{
	uint32_t kind = event_kind_of(u), traits = traits_of(s, u), units = event_units(u);
	uint32_t of_head = IS_HEAD | (is_optional(kind, traits) ? IS_OPTIONAL : 0) | has_in_global(kind, traits) << AS_HAS;

	for (uint32_t i = 0; i < units; i++) {
		uint32_t counts = words_that_count(s, u, i);
		uint64_t shape;

		if (counts == SCREEN_NONE)
			return false;
		what[i] = (uint16_t)(counts | (i ? 0 : of_head));
		to[i] = u[i];
		if (!(counts & IS_MAP))
			continue;
		shape = shape_of_map(s, event_site_of(u), event_half(&u[i], 1));
		to[i] = (struct event_unit){{event_site_of(u), 0, (uint32_t)shape, (uint32_t)(shape >> 32)}};
	}
	return true;
}

/* Room for a warp's log; of no units: there is none. */
SCREEN_HELPER struct screen_stream make_stream(const struct screen *s, uint32_t warp)
{
	struct screen_twins *t = s->twins;
	struct screen_stream is = {0, 0};

	for (uint32_t piece = warp; piece != SCREEN_NONE && is.n <= t->room; piece = s->after[piece])
		is.n += s->log.piece;
	if (is.n <= t->room)
		is.first = add(&t->taken, is.n);
	if (is.n > t->room || is.first > t->room - is.n)
		is.n = 0;
	return is;
}

/* By one of a GPU's lanes.  units: of a window. */
SCREEN_HELPER bool keep_stream(const struct screen *s, uint32_t warp, struct event_unit *units, struct screen_stream *to)
{
	struct cursor c = begin_warp(s, warp);
	struct window w = {units, 0, 0};
	const struct event_unit *u;
	bool fine;

	*to = make_stream(s, warp);
	fine = to->n;
	to->n = 0;
	while (fine && !c.ended) {
		u = take_record(s, &c.at, &w);
		if (u) {
			fine = keep_record(s, u, s->twins->unit + to->first + to->n, s->twins->what + to->first + to->n);
			to->n += event_units(u);
		} else {
			next_piece(s, &c, warp);
			w.n = 0;
		}
	}
	return fine;
}

/* Blocks like this one are judged by it from the next launches on.  A warp that does what that of another class does has
 * its stream. */
SCREEN_HELPER void learn_block(const struct screen *s, uint32_t block, bool clear)
{
	OF_WARP struct event_unit units[SCREEN_WARPS][WINDOW];
	struct screen_twins *t = s->twins;
	struct screen_stream *to = t->stream[t->tried];
	bool kept = clear;

	for (uint32_t w = 0; clear && w < s->log.warps; w++) {
		uint32_t equal = equal_classes(s, block, w, t->known);

		EACH_LANE(i, 1)
			to[w] = equal ? t->stream[event_first(equal)][w] : (struct screen_stream){0, 0};
	}
	TOGETHER();
	EACH_LANE(i, clear ? s->log.warps : 0)
		kept = (to[i].n || keep_stream(s, block * s->log.warps + i, units[i], &to[i])) && kept;
	kept = OF_ALL(kept);
	EACH_LANE(i, 1) {
		t->known |= (uint32_t)kept << t->tried;
		t->tried++;
	}
}

SCREEN_HELPER bool is_example(const struct screen *s, uint32_t block)
{
	return s->twins && s->twins->first == ((uint64_t)s->log.launch << 32 | block) && s->twins->tried < SCREEN_CLASSES;
}

SCREEN_PASS void screen_judge(const struct screen *s, uint32_t block)
{
	OF_WARP struct screen own;
	OF_WARP uint32_t why[SCREEN_WHYS];
	uint32_t all = 0;

	if (s->twins && s->like[block]) {
		EACH_LANE(i, 1) {
			check_block(s, block);
			add(&s->twins->found, 1);
		}
		return;
	}
	EACH_LANE(i, 1) {
		own = *s;
		own.why = why;
	}
	EACH_LANE(i, SCREEN_WHYS)
		why[i] = 0;
	TOGETHER();
	screen_order(&own, block);
	TOGETHER();
	EACH_LANE(i, SCREEN_WHYS) {
		all |= why[i];
		if (why[i])
			add(&s->why[i], why[i]);
	}
	if (is_example(s, block))
		learn_block(s, block, OF_ALL(!all));
}
