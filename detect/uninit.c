/* SPDX-License-Identifier: Apache-2.0
 *
 * uninit.c: reads of shared memory that no write comes before (memory-model.md 1.15), if uninit=1 asks for them.  Writes are
 * kept as long as their block may be read: whatever portion they are in, the order of the two is what counts.
 */
#include <stdlib.h>

#include "detect/impl.h"

/* Writes of this judgement and earlier ones, by space and address; the longest has so many bytes.  fine: reads of which all
 * bytes have one before them. */
struct writes { const struct access *v; struct sorting by_place; uint64_t longest; bool *fine; };

enum { SPACE_SHIFT = 32 };
static uint64_t place_of_access(const struct access *a) { return (uint64_t)a->space << SPACE_SHIFT | a->address; }

static bool is_shared(const struct access *a)
{
	return a->space != GLOBAL_SPACE && !(a->space & TENSOR_SPACE);
}

static void keep_writes(struct detect *d)
{
	for (uint32_t i = 0; i < d->access.n; i++)
		if (is_shared(&d->access.v[i]) && d->access.v[i].writes && !d->access.v[i].old)
			*ADD(&d->wrote) = d->access.v[i];
}

/* Sites have their numbers in the order of the program, and those that share a record are passed in that order. */
static enum order order_of(const struct court *c, const struct access *write, const struct access *read)
{
	if (write->warp == read->warp && write->pos == read->pos && write->operation == read->operation && write->lanes & read->lanes)
		return write->site < read->site ? ORDERED : UNORDERED;
	return in_order(c, write, read);
}

/* What of the read a write has that comes before it.  False: that is not known yet. */
static bool cover(const struct court *c, const struct access *read, const struct access *write, bool *covered)
{
	uint64_t end = write->address + write->bytes, from = write->address > read->address ? write->address : read->address;
	bool news = false;

	end = end < read->address + read->bytes ? end : read->address + read->bytes;
	for (uint64_t i = from; i < end; i++)
		news |= !covered[i - read->address];
	if (!news)
		return true;
	switch (order_of(c, write, read)) {
	case NOT_KNOWN:
		return false;
	case UNORDERED:
		return true;
	case ORDERED:
		break;
	}
	for (uint64_t i = from; i < end; i++)
		covered[i - read->address] = true;
	return true;
}

static void tell_read(struct detect *d, const struct access *read, const bool *covered)
{
	struct detect_finding f = {.kind = DETECT_UNINITIALISED_READ, .why = DETECT_MISUSE, .one = true,
				   .met = {DETECT_NO_SITE, DETECT_NO_SITE}, .count = 1};
	struct access a = *read;
	uint64_t from = 0, to;

	while (from < read->bytes && covered[from])
		from++;
	if (from == read->bytes)
		return;
	for (to = from; to < read->bytes && !covered[to]; to++)
		;
	a.address += from;
	a.bytes = to - from;
	f.side[0] = side_of(d, &a);
	add_finding(d, &f);
}

/* False: something is open. */
static bool look_at(const struct court *c, struct writes *w, uint32_t i, bool report)
{
	struct detect *d = c->d;
	const struct access *read = &d->access.v[i];
	const uint64_t from = place_of_access(read), back = read->address < w->longest ? read->address : w->longest;
	bool *covered = (bool *)detect_zeroed(read->bytes, sizeof *covered), known = true, all = true;
	uint32_t k = 0, hi = w->by_place.n;

	BISECT(k, hi, w->by_place.key[mid] < from - back);
	for (; k < w->by_place.n && w->by_place.key[k] < from + read->bytes; k++) {
		const struct access *x = &w->v[w->by_place.item[k]];

		if (x->address + x->bytes > read->address)
			known = cover(c, read, x, covered) && known;
	}
	for (uint64_t b = 0; b < read->bytes; b++)
		all = all && covered[b];
	w->fine[i] = all;
	if (!all && known && report)
		tell_read(d, read, covered);
	free(covered);
	return known || all;
}

static bool each_read(const struct court *c, void *arg, bool report)
{
	struct writes *w = (struct writes *)arg;
	bool open = false;

	for (uint32_t i = 0; i < c->d->access.n; i++) {
		const struct access *a = &c->d->access.v[i];

		if (a->reads && is_shared(a) && !a->old && !w->fine[i])
			open = !look_at(c, w, i, report) || open;
	}
	return open;
}

/* What is unknown may have written, and so may what is lost. */
static bool is_whole(const struct detect *d)
{
	bool whole = !d->counter[DETECT_UNMODELLED];

	for (uint32_t i = 0; i < d->launch.n; i++)
		whole = whole && d->launch.v[i].cut == UINT64_MAX;
	return whole;
}

void judge_reads(const struct court *c)
{
	struct detect *d = c->d;
	struct writes w;

	if (!d->choices.uninit)
		return;
	keep_writes(d);
	if (!is_whole(d))
		return;
	w = (struct writes){d->wrote.v, new_sorting(&d->arena, d->wrote.n), 0, NULL};
	w.fine = (bool *)arena_get(&d->arena, d->access.n + 1, sizeof *w.fine);
	for (uint32_t i = 0; i < w.by_place.n; i++) {
		w.by_place.key[i] = place_of_access(&w.v[i]);
		w.longest = w.v[i].bytes > w.longest ? w.v[i].bytes : w.longest;
	}
	sort(&w.by_place);
	for (uint32_t i = 0; i < w.by_place.n; i++)
		w.by_place.key[i] = place_of_access(&w.v[w.by_place.item[i]]);
	settle(c, each_read, &w);
}
