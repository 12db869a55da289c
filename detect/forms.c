/* SPDX-License-Identifier: Apache-2.0
 *
 * forms.c: which arrivals may not meet in one use of a barrier of a block, and what a thread may not do at the barrier
 * of its cluster (memory-model.md 1.5).  Arrivals are taken by their clocks, which are read before they arrive: where
 * the use that goes on is over before another arrival, all of its arrivals have earlier clocks than that one.  What
 * is told holds of each order in which the log may have come about.
 */
#include "detect/impl.h"

static void tell_misuse(struct detect *d, enum detect_why why, const struct event *e, const struct event *other, uint32_t id)
{
	struct access a = as_access(d, e, e->lanes & -e->lanes), b;

	a.address = id;
	if (other) {
		b = as_access(d, other, other->lanes & -other->lanes);
		b.address = id;
	}
	say(d, DETECT_BARRIER_MISUSE, why, &a, other ? &b : NULL);
}

/* ---- a barrier of the block ------------------------------------------------------------------------ */

/* What has come of a warp in the use of that number. */
struct part { const struct bar_op *first; uint32_t use, lanes; };

/* Arrivals at one barrier of a block. */
struct at {
	struct detect *d;
	const uint32_t *item;           /* in d->bar, by their clocks */
	uint32_t n, id;
	struct part *part;              /* by warp */
	const uint64_t *exits;          /* likewise */
	const struct bar_op *first;     /* of the use that goes on; NULL: nobody has come */
	uint32_t use, whole;            /* its number, among those of all barriers; warps all of whose lanes have come */
};

static uint32_t flags_of(const struct at *at, const struct bar_op *b) { return site_of(at->d, b->event)->flags; }

/* PTX ISA, "barrier": the warps of a use name one count, and .red is not mixed with .sync and .arrive. */
static enum detect_why clash(const struct at *at, const struct bar_op *b)
{
	if (at->first->count != b->count)
		return DETECT_BAR_COUNTS;
	return (flags_of(at, at->first) ^ flags_of(at, b)) & EVENT_REDUCE ? DETECT_BAR_FORMS : DETECT_MISUSE;
}

/* PTX ISA, "barrier", .aligned: the lanes of a warp come by one instruction. */
static bool apart(const struct at *at, const struct bar_op *a, const struct bar_op *b)
{
	return a && a->event->site != b->event->site && flags_of(at, a) & flags_of(at, b) & EVENT_ALIGNED;
}

/* Exits may have made up the use: of a warp that has come in part, or not at all where all threads are counted, a lane has
 * exited by now (PTX ISA, "barrier"). */
static bool exits_end_it(const struct at *at, const struct bar_op *b)
{
	const struct block *block = &at->d->block.v[b->block];
	const bool all = !at->first || !at->first->count;

	for (unsigned k = 0; k < EVENT_LANES; k++) {
		const uint32_t warp = block->warp[k];
		const struct part *p = warp == NONE ? NULL : &at->part[warp];
		const uint32_t lanes = p && p->use == at->use ? p->lanes : 0;

		if (p && (lanes || all) && lanes != lanes_of_warp(at->d, warp) && at->exits[warp] < b->event->clock[EVENT_BEFORE])
			return true;
	}
	return false;
}

/* DETECT_MISUSE: nothing is wrong.  False: from here on it is open which use an arrival is of. */
static bool come(struct at *at, const struct bar_op *b, enum detect_why *why, const struct bar_op **other)
{
	const struct block *block = &at->d->block.v[b->block];
	uint32_t warp = b->event->warp, warps = (block->threads + EVENT_LANES - 1) / EVENT_LANES;
	struct part *p = &at->part[warp];

	if (p->use != at->use)
		*p = (struct part){NULL, at->use, 0};
	*other = at->first;
	*why = at->first ? clash(at, b) : DETECT_MISUSE;
	if (*why == DETECT_MISUSE && apart(at, p->first, b) && !(p->lanes & b->lanes)) {
		*other = p->first;
		*why = DETECT_BAR_APART;
	}
	/* Where lanes have exited it is open when a warp has come, and whether the use is over. */
	if (b->event->clock[EVENT_BEFORE] > at->exits[warp] || (*why != DETECT_MISUSE && exits_end_it(at, b))) {
		*why = DETECT_MISUSE;
		return false;
	}
	/* Whoever comes again has left a use that others had not made up. */
	if (*why != DETECT_MISUSE || p->lanes & b->lanes || b->count % EVENT_LANES)
		return false;
	at->first = at->first ? at->first : b;
	p->first = p->first ? p->first : b;
	p->lanes |= b->lanes;
	at->whole += p->lanes == lanes_of_warp(at->d, warp);
	if (at->whole >= (b->count ? b->count / EVENT_LANES : warps)) {
		at->use++;
		at->first = NULL;
		at->whole = 0;
	}
	return true;
}

/* True: two that may not meet have met. */
static bool one_barrier(struct at *at)
{
	const struct bar_op *b, *other = NULL;
	enum detect_why why = DETECT_MISUSE;
	uint32_t i = 0;

	at->use++;
	at->first = NULL;
	at->whole = 0;
	do
		b = &at->d->bar.v[at->item[i]];
	while (come(at, b, &why, &other) && ++i < at->n);
	if (why != DETECT_MISUSE && is_judged_now(at->d, b->event))
		tell_misuse(at->d, why, b->event, other->event, at->id);
	return why != DETECT_MISUSE;
}

/* By warp: when the first of its lanes has exited. */
static const uint64_t *find_exits(struct detect *d)
{
	uint64_t *exits = (uint64_t *)arena_get(&d->arena, d->warp.n, sizeof *exits);

	for (uint32_t i = 0; i < d->warp.n; i++)
		exits[i] = UINT64_MAX;
	for (uint32_t i = 0; i < d->event.n; i++) {
		const struct event *e = &d->event.v[i];

		if (e->kind == EVENT_EXIT && e->clock[EVENT_BEFORE] < exits[e->warp])
			exits[e->warp] = e->clock[EVENT_BEFORE];
	}
	return exits;
}

/* PTX ISA, "barrier": the count is a multiple of the warp size. */
static void judge_counts(struct detect *d)
{
	for (uint32_t i = 0; i < d->bar.n; i++) {
		const struct bar_op *b = &d->bar.v[i];

		if (b->object < OF_ALL && !b->wait && b->count % EVENT_LANES && is_judged_now(d, b->event))
			tell_misuse(d, DETECT_BAR_COUNT, b->event, NULL, b->object);
	}
}

/* Arrivals at barriers of blocks, by barrier and clock. */
static struct sorting sort_arrivals(struct detect *d)
{
	struct sorting o = new_sorting(&d->arena, d->bar.n);
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->bar.n; i++) {
		if (d->bar.v[i].wait || d->bar.v[i].object >= CLUSTER_BARRIER)
			continue;
		o.item[n] = i;
		o.key[n++] = d->bar.v[i].event->clock[EVENT_BEFORE];
	}
	o.n = n;
	sort(&o);
	for (uint32_t i = 0; i < n; i++)
		o.key[i] = (uint64_t)d->bar.v[o.item[i]].block << 4 | d->bar.v[o.item[i]].object % OF_ALL;
	sort(&o);
	return o;
}

void judge_barriers(struct detect *d)
{
	struct at at = {.d = d};
	struct sorting o;

	judge_counts(d);
	if (d->opaque || !d->bar.n)
		return;
	o = sort_arrivals(d);
	at.exits = find_exits(d);
	d->clashed = (uint16_t *)arena_get(&d->arena, d->block.n, sizeof *d->clashed);
	at.part = (struct part *)arena_get(&d->arena, d->warp.n, sizeof *at.part);
	for (uint32_t i = 0; i < o.n; i += at.n) {
		const struct bar_op *b = &d->bar.v[o.item[i]];

		at.item = o.item + i;
		at.id = b->object % OF_ALL;
		for (at.n = 1; i + at.n < o.n && o.key[i + at.n] == o.key[i];)
			at.n++;
		if (d->block.v[b->block].threads && one_barrier(&at))
			d->clashed[b->block] |= (uint16_t)(1u << at.id);
	}
}

/* ---- a barrier that two share ------------------------------------------------------------------------------ */

/* The last arrival of a warp, and the last one that names another count. */
struct came { const struct bar_op *last, *other; };

/* Barriers whose arrivals name several counts. */
struct shared { struct sorting arrivals; const uint64_t *exits; struct came *came; };

static struct access arrival_of_warp(const struct detect *d, const struct bar_op *b)
{
	return as_access(d, b->event, b->event->lanes);
}

/* What keeps them apart need not order memory: W_ACQUIRE and W_RELEASE. */
static enum order apart_in_time(const struct court *c, const struct bar_op *x, const struct bar_op *y)
{
	struct access a = arrival_of_warp(c->d, x), b = arrival_of_warp(c->d, y);
	enum order forth = in_order(c, &a, &b), back = forth == ORDERED ? UNORDERED : in_order(c, &b, &a);

	return forth == ORDERED || back == ORDERED ? ORDERED : forth == NOT_KNOWN || back == NOT_KNOWN ? NOT_KNOWN : UNORDERED;
}

/* Is one of another warp that names another count not kept from the use of this one?  Who is behind a warp's last one is
 * behind those before it. */
static bool judge_arrival(const struct court *c, const struct shared *s, const struct bar_op *y, bool report)
{
	const struct block *block = &c->d->block.v[y->block];
	bool asks = false;

	for (unsigned k = 0; k < EVENT_LANES && is_judged_now(c->d, y->event); k++) {
		const struct came *came = block->warp[k] == NONE || block->warp[k] == y->event->warp ? NULL : &s->came[block->warp[k]];
		const struct bar_op *x = !came || !came->last ? NULL : came->last->count != y->count ? came->last : came->other;
		enum order o = x ? apart_in_time(c, x, y) : ORDERED;

		asks |= o == NOT_KNOWN;
		if (report && o == UNORDERED)
			tell_misuse(c->d, DETECT_BAR_SHARED, y->event, x->event, y->object % OF_ALL);
	}
	return asks;
}

static bool judge_counts_of(const struct court *c, const struct shared *s, uint32_t first, uint32_t n, bool report)
{
	bool asks = false;

	for (uint32_t i = first; i < first + n; i++)
		s->came[c->d->bar.v[s->arrivals.item[i]].event->warp] = (struct came){NULL, NULL};
	for (uint32_t i = first; i < first + n; i++) {
		const struct bar_op *b = &c->d->bar.v[s->arrivals.item[i]];
		struct came *came = &s->came[b->event->warp];

		/* Where lanes have exited it is open when a warp has come. */
		if (b->event->clock[EVENT_BEFORE] > s->exits[b->event->warp])
			continue;
		asks |= judge_arrival(c, s, b, report);
		if (came->last && came->last->count != b->count)
			came->other = came->last;
		came->last = b;
	}
	return asks;
}

static bool judge_shared(const struct court *c, void *arg, bool report)
{
	const struct shared *s = (const struct shared *)arg;
	bool asks = false;

	for (uint32_t i = 0, n; i < s->arrivals.n; i += n) {
		const struct bar_op *b = &c->d->bar.v[s->arrivals.item[i]];
		bool mixed = false;

		for (n = 1; i + n < s->arrivals.n && s->arrivals.key[i + n] == s->arrivals.key[i]; n++)
			mixed |= c->d->bar.v[s->arrivals.item[i + n]].count != b->count;
		if (mixed && c->d->block.v[b->block].threads && !(c->d->clashed[b->block] >> b->object % OF_ALL & 1))
			asks |= judge_counts_of(c, s, i, n, report);
	}
	return asks;
}

/* Do arrivals at one barrier name several counts? */
static bool any_mixed(const struct detect *d, const struct sorting *o)
{
	bool mixed = false;

	for (uint32_t i = 1; i < o->n; i++)
		mixed |= o->key[i] == o->key[i - 1] && d->bar.v[o->item[i]].count != d->bar.v[o->item[i - 1]].count;
	return mixed;
}

void judge_shared_barriers(struct detect *d)
{
	struct graph g = {.world = W_WIDE | W_ACQUIRE | W_RELEASE};
	struct answers answers = {.asked = 0};
	struct court c = {d, &g, &answers};
	struct shared s = {.came = NULL};

	if (d->opaque || !d->bar.n)
		return;
	s.arrivals = sort_arrivals(d);
	if (!any_mixed(d, &s.arrivals))
		return;
	scan_all(d, &g);
	s.arrivals = sort_arrivals(d);
	s.exits = find_exits(d);
	s.came = (struct came *)arena_get(&d->arena, d->warp.n, sizeof *s.came);
	settle(&c, judge_shared, &s);
	free_answers(&answers);
	free_graph(&g);
}

/* ---- the barrier of the cluster ------------------------------------------------------------------------- */

/* PTX ISA, "barrier.cluster": a thread arrives once, and waits before it arrives again. */
void misuse_cluster(struct scan *s, const struct event *e)
{
	EACH_LANE(l, e->lanes) {
		const struct event **was = &s->lane[l].cluster, *now = e->kind == EVENT_CLUSTER_ARRIVE ? e : NULL;

		if (s->fresh && now && *was)
			tell_misuse(s->d, DETECT_CLUSTER_TWICE, e, *was, 0);
		*was = now;
	}
}
