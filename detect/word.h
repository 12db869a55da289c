/* SPDX-License-Identifier: Apache-2.0
 *
 * word.h: the operations of one word, for word.c and fence.c.
 */
#ifndef DETECT_WORD_H
#define DETECT_WORD_H

#include "detect/impl.h"

#define NEVER UINT64_MAX

/* A write, with what reads ask of it: those of a word lie side by side. */
struct writing {
	uint64_t begin, end, over, value;       /* over: when it had surely been written over */
	uint32_t op, thread, pos;
	bool valued;
};

struct word {
	struct detect *d;
	struct graph *g;
	uint32_t *op, n;                /* its operations, by when they began; numbers below are places here */
	struct writing *write;          /* those that write: */
	uint32_t *writing, nwrites;     /* the number of an operation among them */
	uint64_t *least;                /* of writes i on: the first end; */
	uint64_t *gone;                 /* of writes before i + 1: when all had surely been written over */
	uint32_t *previous, *wrote;     /* the same thread's operation, its write, before this; NONE */
	uint32_t *released[3];          /* its last release before this that reaches so far at least */
	uint32_t *stamp, stamps;        /* those that were looked at */
	uint32_t *seen;                 /* room for writes that one operation has seen */
	uint32_t *block, *cluster;      /* of each: whose it is */
	bool device;                    /* all are of device scope */
	enum apart span;                /* the scope that holds all of them */
	bool timers;                    /* times are the timer's: they are of several multiprocessors */
	bool narrow;                    /* a head reaches less far than that */
	bool known;                     /* what the word held before all writes: */
	uint64_t held;
};

static inline struct word_op *op_of(const struct word *w, uint32_t i) { return &w->d->word_op.v[w->op[i]]; }
static inline const struct event *event_of(const struct word *w, const struct word_op *o) { return &w->d->event.v[o->event]; }
static inline uint32_t block_at(const struct word *w, const struct word_op *o) { return w->d->warp.v[event_of(w, o)->warp].block; }
static inline uint32_t thread_of(const struct word *w, const struct word_op *o) { return event_of(w, o)->warp * EVENT_LANES + o->lane; }

/* May the read have seen what the word held before all writes? */
bool may_see_first(const struct word *, const struct word_op *read);
/* fence.c: what its operations say of the order of fence.sc. */
void link_fences(struct word *);

#endif
