/* SPDX-License-Identifier: Apache-2.0
 *
 * barrier.c: barriers of a block, of a cluster and of lanes of a warp (memory-model.md 1.5, 1.2 6
 * and 7).  Who arrives comes before who waits in the same use.  Uses are told by counting: a
 * thread's n-th of a barrier of all threads, of a cluster or of a mask of lanes; those of a
 * barrier with a count by the order of arrivals, since a thread arrives at a later use
 * behind the end of the one before.
 */
#include <string.h>

#include "detect/impl.h"

/* ---- collecting ---------------------------------------------------------------------------------- */

void scan_barrier(struct scan *s, const struct event *e)
{
	const struct event_unit *u = record_of(s->d, e);
	bool release = site_of(s->d, e)->sem != EVENT_RELAXED || s->g->world & W_RELEASE;
	struct bar_op b = {
		.event = e, .block = s->d->warp.v[s->warp].block, .object = CLUSTER_BARRIER, .lanes = e->lanes,
		.wait = e->kind == EVENT_BAR_WAIT || e->kind == EVENT_CLUSTER_WAIT || e->kind == EVENT_WARP_WAIT
	};

	switch (e->kind) {
	case EVENT_WARP_ARRIVE:
	case EVENT_WARP_WAIT:
		b.object = WARP_BARRIER;
		b.count = (uint32_t)event_get(u, event_first(e->lanes), EVENT_WARP_ARRIVE_MEMBERS);
		b.lanes &= b.count;
		if (!b.wait && s->fresh && b.lanes != e->lanes)
			misuse_barrier(s, e, e->lanes & ~b.lanes);
		break;
	case EVENT_BAR_ARRIVE:
	case EVENT_BAR_WAIT:
		b.count = (uint32_t)event_get(u, event_first(e->lanes), EVENT_BAR_ARRIVE_COUNT);
		b.object = (uint32_t)event_get(u, event_first(e->lanes), EVENT_BAR_ARRIVE_ID) + (b.count ? 0 : OF_ALL);
		break;
	default:
		misuse_cluster(s, e);
		break;
	}
	if (b.object != CLUSTER_BARRIER)
		*ADD(&s->d->bar) = b;
	/* Of a cluster's each lane publishes something of its own. */
	EACH_LANE(l, b.object == CLUSTER_BARRIER ? e->lanes : 0) {
		b.lanes = 1u << l;
		if (!b.wait)
			b.heads = heads_of(s, e, l, (struct pattern){release, A_CLUSTER, A_CLUSTER});
		*ADD(&s->d->bar) = b;
	}
}

/* ---- uses -------------------------------------------------------------------------------------------- */

enum { AHEAD = 8 };             /* uses that a thread may be ahead of the one that goes on */

/* Of a thread: the use behind its last one, behind what it waited for.  Of a warp: which lanes have
 * arrived at its last use. */
struct turn { uint32_t next, least; };
struct part { uint32_t use, lanes; };

/* One barrier: of a block, of lanes of a warp, or of a cluster as its first block has it. */
struct uses {
	struct detect *d;
	struct graph *g;
	struct phases phases;
	uint64_t object;
	const uint32_t *item;           /* its operations in d->bar, by warp and place */
	uint32_t n;
	uint32_t *behind;               /* of an operation's lane, [operation * 32 + lane]: the use behind its own */
	struct turn *turn;
	struct part *part;
	const struct event **exit;      /* of each thread: its end; NULL */
	uint32_t last;                  /* the use behind all of them */
	uint32_t now, have[AHEAD];      /* with a count: the use that goes on; arrivals at it and later ones */
	bool mixed;                     /* a thread has left a use that others had not made up: which is whose is open */
};

uint32_t lanes_of_warp(const struct detect *d, uint32_t warp)
{
	const struct warp *w = &d->warp.v[warp];
	uint32_t threads = d->block.v[w->block].threads, rest = threads - w->index * EVENT_LANES;

	return !threads || rest >= EVENT_LANES ? ~0u : (1u << rest) - 1;
}

/* Lanes of its warp that are there when the event comes about. */
static uint32_t lanes_there(const struct uses *u, const struct event *e)
{
	uint32_t lanes = lanes_of_warp(u->d, e->warp);

	EACH_LANE(l, lanes) {
		const struct event *exit = u->exit[e->warp * EVENT_LANES + l];

		if (exit && exit->clock[EVENT_BEFORE] < e->clock[EVENT_BEFORE])
			lanes &= ~(1u << l);
	}
	return lanes;
}

/* With a count: the use that goes on, or the next one where the thread is in that already.  A warp
 * of which all are there counts as 32 threads (PTX ISA, "bar"). */
static uint32_t use_by_count(struct uses *u, const struct bar_op *b, unsigned lane)
{
	const struct event *e = b->event;
	uint32_t least = u->turn[e->warp * EVENT_LANES + lane].least, use = least > u->now ? least : u->now;
	struct part *p = &u->part[e->warp];

	u->mixed |= use > u->now;
	u->d->counter[DETECT_INEXACT_BARRIERS] += use > u->now && !u->g->world;
	if (p->use != use)
		*p = (struct part){use, 0};
	p->lanes |= 1u << lane;
	u->have[use % AHEAD]++;
	if (p->lanes != ~0u && p->lanes == lanes_there(u, e))
		u->have[use % AHEAD] += EVENT_LANES - event_count(p->lanes);
	while (u->have[u->now % AHEAD] >= b->count)
		u->have[u->now++ % AHEAD] = 0;
	return use;
}

static void number_uses(struct uses *u, bool counted)
{
	struct sorting o = new_sorting(&u->d->arena, u->n);

	for (uint32_t i = 0; i < u->n; i++)
		o.key[i] = counted ? u->d->bar.v[u->item[i]].event->clock[EVENT_BEFORE] : 0;
	sort(&o);
	for (uint32_t i = 0; i < u->n; i++) {
		uint32_t op = u->item[o.item[i]];
		const struct bar_op *b = &u->d->bar.v[op];

		EACH_LANE(l, b->lanes) {
			struct turn *t = &u->turn[b->event->warp * EVENT_LANES + l];

			/* Who has waited is behind that use; who only arrived may do so again in the same one. */
			if (b->wait)
				t->least = t->next;
			else
				t->next = 1 + (counted ? use_by_count(u, b, l) : t->next);
			u->behind[op * EVENT_LANES + l] = t->next;
			u->last = t->next > u->last ? t->next : u->last;
		}
	}
}

/* All arrivals, or all waits: those are for the use that their thread arrived at last, or for all where uses are mixed. */
static void link_uses(struct uses *u, bool waits)
{
	for (uint32_t i = 0; i < u->n; i++) {
		const struct bar_op *b = &u->d->bar.v[u->item[i]];

		EACH_LANE(l, b->wait == waits ? b->lanes : 0) {
			uint32_t use = u->behind[u->item[i] * EVENT_LANES + l] - 1;
			struct brought x = {.object = u->object, .phase = use, .block = b->block, .reach = A_CLUSTER}, any = x;

			for (any.phase = u->mixed ? 0 : use; waits && any.phase < (u->mixed ? u->last : use + 1); any.phase++)
				get_brought(&u->phases, b->event, l, &any, true);
			if (!waits && b->object != CLUSTER_BARRIER)
				put(u->g, b->event, 1u << l, brought_hub(&u->phases, &x), H_PLAIN);
			bring_heads(&u->phases, x, b->heads);
		}
	}
}

/* Threads that have ended are not waited for.  No text says whether what they did is ordered
 * before the uses that they left out: it is. */
static void add_ended(struct uses *u, uint32_t block)
{
	for (unsigned k = 0; k < EVENT_LANES; k++) {
		uint32_t warp = u->d->block.v[block].warp[k];

		EACH_LANE(l, warp == NONE ? 0 : ~0u) {
			uint32_t thread = warp * EVENT_LANES + l;
			struct brought x = {.object = u->object, .phase = u->turn[thread].next, .block = block, .reach = A_CLUSTER};
			struct event before = u->exit[thread] ? *u->exit[thread] : (struct event){0};

			before.pos--;           /* its end is an acquire for that of the block alone (grid.c) */
			for (; u->exit[thread] && x.phase < u->last; x.phase++)
				put(u->g, &before, 1u << l, brought_hub(&u->phases, &x), H_PLAIN);
		}
	}
}

static void find_exits(struct uses *u)
{
	u->exit = (const struct event **)arena_get(&u->d->arena, u->d->warp.n * EVENT_LANES, sizeof *u->exit);
	for (uint32_t i = 0; i < u->d->event.n; i++) {
		const struct event *e = &u->d->event.v[i];

		EACH_LANE(l, e->kind == EVENT_EXIT ? e->lanes : 0)
			u->exit[e->warp * EVENT_LANES + l] = e;
	}
}

static void forget_uses(struct uses *u)
{
	for (uint32_t i = 0; i < u->n; i++) {
		uint32_t warp = u->d->bar.v[u->item[i]].event->warp;

		memset(&u->turn[warp * EVENT_LANES], 0, EVENT_LANES * sizeof *u->turn);
		u->part[warp].lanes = 0;
	}
}

static void one_barrier(struct uses *u)
{
	const struct bar_op *b = &u->d->bar.v[u->item[0]];
	const struct block *block = &u->d->block.v[b->block];
	uint32_t cluster = b->object == CLUSTER_BARRIER ? block->ranks : 1;

	number_uses(u, b->object < OF_ALL);
	for (uint32_t r = 0; r < cluster && b->object >= OF_ALL && b->object != WARP_BARRIER; r++) {
		uint32_t other = cluster == 1 ? b->block : find_block(u->d, block->launch, block->cluster + r);

		if (other != NONE)
			add_ended(u, other);
	}
	forget_uses(u);
	link_uses(u, false);
	link_uses(u, true);
}

static uint64_t object_of(const struct detect *d, const struct bar_op *b)
{
	const struct block *block = &d->block.v[b->block];
	uint32_t first = b->object == CLUSTER_BARRIER ? d->launch.v[block->launch].first_block + block->cluster : b->block;

	if (b->object == WARP_BARRIER)
		return UINT64_C(1) << 63 | (uint64_t)b->event->warp << 32 | b->count;
	return (uint64_t)first * 64 + b->object;
}

void link_barriers(struct detect *d, struct graph *g)
{
	struct sorting o = new_sorting(&d->arena, d->bar.n);
	struct uses u = {.d = d, .g = g, .phases = {.d = d, .g = g}};

	u.behind = (uint32_t *)arena_get(&d->arena, d->bar.n * EVENT_LANES, sizeof *u.behind);
	u.turn = (struct turn *)arena_get(&d->arena, d->warp.n * EVENT_LANES, sizeof *u.turn);
	u.part = (struct part *)arena_get(&d->arena, d->warp.n, sizeof *u.part);
	find_exits(&u);
	for (uint32_t i = 0; i < o.n; i++)
		o.key[i] = object_of(d, &d->bar.v[i]);
	sort(&o);
	for (uint32_t i = 0; i < o.n; i += u.n) {
		u.item = o.item + i;
		u.object = o.key[i];
		u.now = u.last = u.n = 0;
		u.mixed = false;
		memset(u.have, 0, sizeof u.have);
		while (i + u.n < o.n && o.key[i + u.n] == u.object)
			u.n++;
		one_barrier(&u);
	}
	free_phases(&u.phases);
}
