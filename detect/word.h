/* SPDX-License-Identifier: Apache-2.0
 *
 * word.h: the operations of one word, for word.c and fence.c.
 */
#ifndef DETECT_WORD_H
#define DETECT_WORD_H

#include "detect/impl.h"

#define NEVER UINT64_MAX

/* A write, with what reads ask of it.  Those of a word lie side by side, in the order in which they began. */
struct writing {
	uint64_t begin, end, over, value;       /* over: when it had surely been written over */
	uint64_t ended, logged;         /* the end by which that was found; the end that the log tells */
	uint32_t op, thread, pos;
	uint32_t before, behind;        /* its thread's writes; NONE */
	bool valued;
};

struct word {
	struct detect *d;
	struct graph *g;
	uint32_t *op, n;                /* its operations, by when they began; numbers below are places here */
	struct writing *write;          /* those that write: */
	uint32_t *writing, nwrites;     /* of each operation: its number among them, or that of the next one */
	uint64_t *least;                /* of writes i on: the first end; */
	uint32_t *previous, *wrote;     /* the same thread's operation, its write, before this; NONE */
	uint32_t *next;                 /* its thread's next write: number; NONE */
	uint32_t *released[3];          /* its last release before this that reaches so far at least */
	uint32_t *walked;               /* writes that were looked at for a read, 32 in each */
	uint32_t stamps;                /* those that were looked at */
	uint32_t *seen;                 /* room for writes that one operation has seen */
	uint32_t *block, *cluster;      /* of each: whose it is */
	uint32_t *near_before, *near_behind;    /* the nearest writes of its cluster: numbers; NONE */
	uint32_t *near, *covered, *covers;      /* last_seen(): writes as bits; covers: of which `stamps` those are */
	bool device;                    /* all are of device scope */
	enum apart span;                /* the scope that holds all of them */
	bool timers;                    /* times are the timer's: they are of several multiprocessors */
	bool narrow;                    /* a head reaches less far than that */
	bool others;                    /* a read saw none of the writes, though some had been: plain accesses, or the host, write
					   the word, too, and a value tells nothing for certain */
	bool known;                     /* what the word held before all writes: */
	uint64_t held;
};

static inline struct word_op *op_of(const struct word *w, uint32_t i) { return &w->d->word_op.v[w->op[i]]; }
static inline const struct event *event_of(const struct word *w, const struct word_op *o) { return &w->d->event.v[o->event]; }
static inline uint32_t block_at(const struct word *w, const struct word_op *o) { return w->d->warp.v[event_of(w, o)->warp].block; }
static inline uint32_t thread_of(const struct word *w, const struct word_op *o) { return event_of(w, o)->warp * EVENT_LANES + o->lane; }

/* seen.c: of all operations the writes that they may have seen. */
void find_all_seen(struct word *);
/* May the read have seen what the word held before all writes? */
bool may_see_first(const struct word *, const struct word_op *read);
/* The last one of a mask that is not empty. */
static inline uint32_t last_bit(uint32_t mask)
{
	while (mask & (mask - 1))
		mask &= mask - 1;
	return event_first(mask);
}

#define EACH_SEEN(d, o, b, l) \
	for (const struct seen_bits *b = (d)->pred.v + (o)->pred, *end_##b = b + ((o)->reads ? (o)->nbits : 0); b < end_##b; b++) \
		EACH_LANE(l, b->mask)
/* fence.c: what its operations say of the order of fence.sc. */
void link_fences(struct word *);

#endif
