/* SPDX-License-Identifier: Apache-2.0
 *
 * ground.c: accesses of global memory behind a block of it, or in one that was freed (memory-model.md 1.14).  What lies outside is
 * told here, and is no access of what lies there.
 */
#include <stdlib.h>

#include "detect/ground.h"
#include "detect/impl.h"

/* CUDA C++ Programming Guide, "Device Memory Accesses": what a routine allocates is aligned to 256 bytes at least, so that what
 * is left of the last 256 is nobody's. */
enum { ALIGNMENT = 256 };

/* ---- gaps ------------------------------------------------------------------------------------------------- */

static int by_place(const void *x, const void *y)
{
	const struct event_block *a = (const struct event_block *)x, *b = (const struct event_block *)y;

	return a->at != b->at ? (a->at < b->at ? -1 : 1) : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static int by_start(const void *x, const void *y)
{
	const struct ground_gap *a = (const struct ground_gap *)x, *b = (const struct ground_gap *)y;

	return a->from != b->from ? (a->from < b->from ? -1 : 1) : (a->to > b->to) - (a->to < b->to);
}

/* Those that are there, as ranges in order that do not touch; returns how many. */
static uint32_t there(struct event_block *to, const struct event_block *sorted, uint32_t n)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct event_block *b = &sorted[i];

		if (b->kind == EVENT_BLOCK_FREED)
			continue;
		if (!k || b->at > to[k - 1].at + to[k - 1].bytes)
			to[k++] = *b;
		else if (b->at + b->bytes > to[k - 1].at + to[k - 1].bytes)
			to[k - 1].bytes = b->at + b->bytes - to[k - 1].at;
	}
	return k;
}

/* Adds what of it no block has. */
static void add_gaps(struct ground *g, uint32_t *cap, struct ground_gap x, const struct event_block *is, uint32_t nis)
{
	uint32_t i = 0, hi = nis;

	BISECT(i, hi, is[mid].at + is[mid].bytes <= x.from);
	for (; x.from < x.to; i++) {
		bool any = i < nis && is[i].at < x.to;
		struct ground_gap part = {x.from, any ? is[i].at : x.to, x.of};

		if (part.from < part.to) {
			if (g->n == *cap) {
				*cap = *cap ? *cap * 2 : 16;
				g->gap = (struct ground_gap *)detect_memory(g->gap, *cap * sizeof *g->gap);
			}
			g->gap[g->n++] = part;
		}
		x.from = any ? is[i].at + is[i].bytes : x.to;
	}
}

/* Of two that overlap the later one gets what is left. */
static void part(struct ground *g)
{
	uint32_t n = 0;

	if (g->n)
		qsort(g->gap, g->n, sizeof *g->gap, by_start);
	for (uint32_t i = 0; i < g->n; i++) {
		struct ground_gap x = g->gap[i];

		if (n && x.from < g->gap[n - 1].to)
			x.from = g->gap[n - 1].to;
		if (x.from < x.to)
			g->gap[n++] = x;
	}
	g->n = n;
}

void screen_ground(struct ground *g, const struct event_block *block, uint32_t n)
{
	struct event_block *sorted = (struct event_block *)detect_zeroed(n + 1, sizeof *sorted);
	struct event_block *is = (struct event_block *)detect_zeroed(n + 1, sizeof *is);
	uint32_t cap = 0, nis;

	*g = (struct ground){NULL, 0};
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = block[i];
	qsort(sorted, n, sizeof *sorted, by_place);
	nis = there(is, sorted, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct event_block *b = &sorted[i];
		uint64_t end = b->at + b->bytes;

		if (b->kind == EVENT_BLOCK_FREED)
			add_gaps(g, &cap, (struct ground_gap){b->at, end, *b}, is, nis);
		else if (b->kind == EVENT_BLOCK_ALLOCATED)
			add_gaps(g, &cap, (struct ground_gap){end, (end + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1), *b}, is, nis);
	}
	part(g);
	free(sorted);
	free(is);
}

/* ---- what launches have ---------------------------------------------------------------------------------------- */

void add_block(struct detect *d, const struct event_host *h)
{
	d->new_blocks = true;
	if (h->kind == EVENT_HOST_MEMORY)
		d->block_told.n = 0;
	else
		*ADD(&d->block_told) = h->block;
}

/* An early launch may have others of the one before it, which is not judged yet. */
void find_ground(struct detect *d, struct launch *l, bool early)
{
	struct ground g;

	if (d->new_blocks) {
		screen_ground(&g, d->block_told.v, d->block_told.n);
		d->gap.n = early ? d->gap.n : 0;
		d->gaps_now = d->gap.n;
		for (uint32_t i = 0; i < g.n; i++)
			*ADD(&d->gap) = g.gap[i];
		free(g.gap);
		d->new_blocks = false;
	}
	l->gaps = d->gaps_now;
	l->ngaps = d->gap.n - d->gaps_now;
}

void forget_ground(struct detect *d)
{
	list_free(&d->gap.list);
	list_free(&d->block_told.list);
}

/* ---- accesses ----------------------------------------------------------------------------------------------------- */

static void tell_gap(struct detect *d, const struct access *of, uint64_t address, uint64_t bytes, const struct ground_gap *gap)
{
	bool freed = gap->of.kind == EVENT_BLOCK_FREED;
	uint64_t end = gap->of.at + gap->of.bytes;
	struct detect_finding f = {.kind = freed ? DETECT_USE_AFTER_FREE : DETECT_GLOBAL_BOUNDS, .why = DETECT_MISUSE, .one = true,
				   .met = {DETECT_NO_SITE, DETECT_NO_SITE}, .count = 1,
				   .outside = freed ? 0 : (int64_t)(address + bytes - end), .ground = gap->of};
	struct access a = *of;

	a.address = address;
	a.bytes = bytes;
	f.side[0] = side_of(d, &a);
	add_finding(d, &f);
}

/* Looks up what lies around an address: a gap, which is returned, or what is between two, which is kept. */
static const struct ground_gap *gap_at(struct scan *s, const struct launch *l, uint64_t from, uint64_t to)
{
	const struct ground_gap *gap = s->d->gap.v + l->gaps;
	uint32_t i = ground_first(gap, l->ngaps, from);

	if (i < l->ngaps && gap[i].from < to)
		return &gap[i];
	s->clear = (struct clear){l->number, i ? gap[i - 1].to : 0, i < l->ngaps ? gap[i].from : UINT64_MAX};
	return NULL;
}

bool keep_on_ground(struct scan *s, const struct access *a, uint64_t *address, uint64_t *bytes)
{
	const struct launch *l = &s->d->launch.v[block_of(s->d, s->warp)->launch];
	uint64_t from = *address, to = from + *bytes;
	const struct ground_gap *gap;

	if (!l->ngaps || s->d->choices.no_bounds)
		return true;
	if (s->clear.launch == l->number && from >= s->clear.from && to <= s->clear.to)
		return true;
	gap = gap_at(s, l, from, to);
	if (!gap)
		return true;
	tell_gap(s->d, a, from, *bytes, gap);
	if (from < gap->from)
		to = gap->from;
	else
		from = gap->to;
	*address = from;
	*bytes = to > from ? to - from : 0;
	return to > from;
}
