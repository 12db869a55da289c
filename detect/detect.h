/* SPDX-License-Identifier: Apache-2.0
 *
 * detect.h: the detector.  It reads a log (event/event.h) in any number of portions and says
 * which accesses race and what was misused, by memory-model.md.  The verdict is the same
 * however the log is divided; nothing but the log and the choices goes into it.
 *
 * No I/O, no CUDA, no PTX; memory from malloc (detect_on_refusal).  One detector is one thread's at a time.
 */
#ifndef DETECT_DETECT_H
#define DETECT_DETECT_H

#include "event/event.h"

struct detect;

struct detect *detect_new(void);
void detect_free(struct detect *);

/* What is called where malloc refuses memory, to a detector or to the screen (screen.h); it must not return.  A detector
 * that it leaves (longjmp) is good for detect_free() alone.  NULL, as at first: abort().  Before any thread uses one. */
void detect_on_refusal(void (*refused)(void));

/* What the documentation leaves open (memory-model.md 2.4), otherwise than by default: a key of
 * GSAN_OPTIONS and one of its values.  detect=reference: each pair of accesses is asked about,
 * the long way.  False: there is no such choice.  Before the first event. */
bool detect_choose(struct detect *, const char *name, const char *value);
bool detect_knows(const char *name);    /* Is there a choice of that name? */
/* Is one taken by which a launch may have findings that the screen (screen.h) holds for clear, or the launch behind it
 * may with what it did? */
bool detect_is_strict(const struct detect *);

/* The sites of the launches that are told from now on; copied. */
void detect_sites(struct detect *, const struct event_sites *);
/* In the order in which it happened; a launch before its pieces, and a cut of it and its variables' places as well. */
void detect_host(struct detect *, const struct event_host *);
/* A piece, of a launch that was told; copied.  NULL, or what is wrong with it. */
const char *detect_feed(struct detect *, const struct event_piece *, size_t bytes);
/* Everything that happened until now has been fed: judges it, and keeps what may matter to
 * what comes.  Launches that are over, and that no early one follows, are forgotten by the
 * next launch. */
void detect_judge(struct detect *);

/* What a right piece of a launch, of these sites, says of its block.  Blocks all of whose pieces are ALONE learn nothing of others: if no
 * piece of their launch says TOGETHER, all pieces of any of them are a portion that may be judged before the rest of the launch is
 * fed, and what is found then is found with the rest, too (alone.c). */
enum detect_alone { DETECT_ALONE, DETECT_LEARNS, DETECT_TOGETHER };
enum detect_alone detect_alone(const struct event_piece *, const struct event_sites *);

/* Instead of being judged, what launches touch in global memory is told: of a thread, or of an operation that it issued;
 * strong: at gpu scope or wider.  Before the first event. */
struct detect_touch;
typedef void detect_touched(void *, const struct detect_touch *);
void detect_walk(struct detect *, detect_touched *, void *arg);

/* ---- the verdict -------------------------------------------------------------------------- */

enum detect_kind {
	DETECT_DATA_RACE, DETECT_SCOPE_RACE, DETECT_ASYNC_RACE, DETECT_PROXY_RACE, DETECT_PROXY_FENCE_ORDER,
	DETECT_TENSORMAP_RACE, DETECT_MBARRIER_MISUSE, DETECT_BARRIER_MISUSE, DETECT_LIFETIME, DETECT_SHARED_BOUNDS,
	DETECT_GLOBAL_BOUNDS, DETECT_USE_AFTER_FREE, DETECT_UNINITIALISED_READ, DETECT_KINDS
};
const char *detect_kind_name(enum detect_kind);         /* "data-race" */

/* What is missing between the two. */
enum detect_why {
	DETECT_NOTHING_MET,             /* the later thread met no release behind the earlier access */
	DETECT_NO_RELEASE,              /* what it met was written without a release (or a fence before it) */
	DETECT_NO_ACQUIRE,              /* or read without an acquire (or a fence behind it) */
	DETECT_NO_RELEASE_NOR_ACQUIRE,
	DETECT_NARROW,                  /* or at too narrow a scope */
	DETECT_MIXED_SIZE,              /* both atomic, of different sizes or places */
	DETECT_NOT_COMPLETED,           /* an operation's completion was not seen */
	DETECT_NO_PROXY_FENCE,          /* no fence of the proxy, or of another space */
	DETECT_FENCE_ELSEWHERE,         /* only one by another thread, behind the barrier */
	DETECT_READ_ONLY,               /* through the read-only path */
	DETECT_MISUSE,                  /* none of this: the kind says it */
	DETECT_BAR_MASK,                /* the mask that a lane names leaves it out */
	DETECT_BAR_COUNT,               /* a barrier's count is no multiple of the warp size */
	DETECT_BAR_COUNTS,              /* two arrivals at one use of it name different ones, or one of them none */
	DETECT_BAR_SHARED,              /* likewise, at two that nothing keeps apart */
	DETECT_BAR_FORMS,               /* one of them is of a reduction, the other is not */
	DETECT_BAR_APART,               /* lanes of one warp came by different instructions that are .aligned */
	DETECT_CLUSTER_TWICE,           /* the thread has not waited at the cluster's barrier since it arrived last */
	DETECT_MBAR_MANY,               /* an arrival at an mbarrier that expects no more of them in this phase */
	DETECT_MBAR_BYTES,              /* more bytes than it can count */
	DETECT_MBAR_COUNT,              /* an arrival that counts more than are pending */
	DETECT_MBAR_STALE,              /* a wait by the state of an arrival of a phase before the last one */
	DETECT_NOT_FREED,               /* tensor memory, when its block ended */
	DETECT_FREED_TWICE,             /* and not allocated in between */
	DETECT_USED_FREED,              /* tensor memory, behind its end */
	DETECT_OLDER_PHASE              /* of a race: a wait passed by the phase before that of the other side */
};

#define DETECT_NO_SITE 0xffffffffu
#define DETECT_NO_VARIABLE 0xffffffffu

struct detect_side {
	uint32_t launch, block;         /* numbers as in the log */
	uint16_t thread;                /* in the block; of an operation: who issued it */
	uint32_t site;                  /* of its launch's table */
	uint64_t address;               /* global, or an offset in shared memory, */
	bool shared, tensor;            /* or lane << 16 | column of tensor memory, */
	uint32_t owner;                 /* of that block */
	uint64_t bytes;                 /* of the access */
	bool reads, writes, async;
};

/* What an mbarrier counts of a lane's tensor copy by that map; 0: the map is none for it. */
uint32_t detect_box_bytes(const struct event_unit *, const struct event_site *, unsigned lane, const struct event_map *);

struct detect_touch { struct detect_side side; bool strong; };

struct detect_finding {
	enum detect_kind kind;
	enum detect_why why;
	struct detect_side side[2];     /* the earlier one; the one behind it.  Of a misuse: who
					   uses, and what it is used against */
	bool one;                       /* there is no second */
	bool same_value;                /* both wrote one value */
	uint32_t met[2];                /* of a race: sites of the write and of the read of it by which the two met,
					   of which `why` is told; DETECT_NO_SITE: by none.  Of OLDER_PHASE: of the
					   arrival or the copy, and of the wait */
	uint32_t phase;                 /* of OLDER_PHASE: the one that the arrival or the copy is of, from 0 on */
	uint64_t count;                 /* pairs of these sites */
	/* Of SHARED_BOUNDS: the variable that the address comes from, of several the nearest, of none all of a block's memory;
	 * bytes by which the access reaches behind its end, or, negative, begins before its start; and the variable in which
	 * that lies, if any. */
	struct event_place variable, in;
	int64_t outside;                /* and of GLOBAL_BOUNDS */
	struct event_block ground;      /* of that: the block behind which it is; of USE_AFTER_FREE: the one that was freed */
};

/* Findings of everything judged so far, each pair of sites and kind once. */
size_t detect_findings(const struct detect *, const struct detect_finding **);

/* What is not exact.  Each hides races and invents none. */
enum detect_counter {
	DETECT_INEXACT_READS,           /* reads that may have seen one of several releases */
	DETECT_INEXACT_PHASES,          /* arrivals or waits that may be of one of several phases */
	DETECT_INEXACT_BARRIERS,        /* uses of a barrier that may be one of several */
	DETECT_CYCLES,                  /* orders that go round, joined */
	DETECT_UNMODELLED,              /* synchronisation, or extents, of which nothing is known */
	DETECT_CUT,                     /* launches that are not judged to their end (EVENT_HOST_CUT) */
	DETECT_COUNTERS
};
const char *detect_counter_name(enum detect_counter);   /* completes "N ..." */
uint64_t detect_count(const struct detect *, enum detect_counter);
/* Pairs of unordered writes of one value, which same_value=ignore leaves out. */
uint64_t detect_same_values(const struct detect *);

#endif
