/* SPDX-License-Identifier: Apache-2.0
 *
 * order.h: what the program issues and touches itself, in the order of its calls (detect/host.h).  order.c keeps the clocks
 * and the deeds, seen.c says what the driver's functions are, met.c reports what has met.
 */
#ifndef RT_ORDER_H
#define RT_ORDER_H

#include "detect/host.h"
#include "rt/judge.h"

/* ---- stack.c ------------------------------------------------------------------------------------------------- */

enum { RT_STACK = 20, RT_STACK_DEEP = 256 };

/* Where the program is; called: the first frame, too, is where a call returns to; file: what gsan_at() says, or NULL; hash: of
 * all that, not 0. */
struct rt_stack { void *frame[RT_STACK]; unsigned n; bool called; const char *file; unsigned line; uint64_t hash; };
const struct rt_stack *rt_stack_here(void);     /* of the call that the thread is in (rt_call), as long as it is in that */
/* From a place in a signal's handler on; somebody has taken one before. */
void rt_stack_from(struct rt_stack *, const void *pc);
/* All frames from here on, at most RT_STACK_DEEP of them. */
unsigned rt_stack_walk(const void **pc, unsigned most);

/* ---- order.c -------------------------------------------------------------------------------------------------- */

/* From its issue until it is judged and nothing later can meet it. */
struct rt_deed {
	struct rt_deed *next;           /* in the order of issue */
	struct detect_deed d;
	bool ready;                     /* its ranges are there; atomic */
	uint64_t forget, forget_bytes;  /* no deed: memory that is given back */
	uint64_t nth;                   /* of those that came into streams, from 1; 0: not to be spared */
	bool spared;
	bool hears;                     /* a launch that may hear of what the host knows (learn() in order.c) */
	const char *call;               /* NULL: a launch */
	uint64_t stream;
	struct rt_stack stack;
	struct rt_launch of;            /* a launch: what reports need */
};

/* Is there anything that could race?  Not with one stream, and without memory that host and device share. */
bool rt_order_wanted(void);
void rt_order_want(void);

/* Something comes into a stream, through that hook.  NULL: nobody wants to know, or it is captured.  Behind the call: its
 * ranges are there. */
struct rt_deed *rt_deed_put(enum rt_hook, CUstream, enum detect_deed_kind, const char *call);
struct rt_deed *rt_deed_beside(const struct rt_deed *); /* another one of the same place: of a graph; NULL of NULL */
void rt_deed_range(struct rt_deed *, uint64_t address, uint64_t bytes, bool writes);
void rt_deed_ready(struct rt_deed *);                   /* or NULL */
/* A launch that is over need not be looked through for what it touched: the program has never had two things under way that
 * nothing orders, and something came behind this one.  What a program does first is always looked through. */
void rt_deed_spare(const struct rt_launch *);           /* if that is so */
void rt_deed_deaf(struct rt_deed *);                    /* a launch of a kernel that accesses no memory strongly; or NULL */
void rt_deed_keep(struct rt_deed *);                    /* it is not to be spared; or NULL */
bool rt_deed_is_walked(const struct rt_deed *);         /* or NULL */
/* The log of a launch that is over says what it touched. */
void rt_deed_walk(struct rt_launch *, const struct rt_verdict *, const struct log_copy *, const struct log_fill *, uint32_t n);
/* The host has touched that now; in a signal's handler as well, where the program's own code was interrupted. */
void rt_deed_touch(uint64_t address, uint64_t bytes, bool writes, const struct rt_stack *);

/* NULL, or the place of the function of the host that a stream has called, while it runs. */
extern _Thread_local const struct detect_when *rt_order_within;

/* Events and waiting.  What would be known by now, then: it is. */
void rt_order_record(enum rt_hook, CUstream, CUevent);
void rt_order_wait(enum rt_hook, CUstream, CUevent);
void rt_order_open(enum rt_hook, CUstream);
void rt_order_blind(void);              /* from now on anything may be ordered */
void rt_order_stream_end(CUstream);
struct detect_clock rt_order_of_stream(enum rt_hook, CUstream);
struct detect_clock rt_order_of_event(CUevent);
struct detect_clock rt_order_of_all(CUcontext);
void rt_order_learn(const struct detect_clock *);
struct detect_clock rt_order_host(void);        /* what the host knows */
/* All that is issued is known to be over: memory that is given back. */
void rt_order_freed(uint64_t address, uint64_t bytes);
/* A pool gave out memory that it had got back, and ordered the two. */
void rt_order_handed_on(enum rt_hook, CUstream, uint64_t address, uint64_t bytes);
void rt_order_given_back(const struct rt_deed *, uint64_t address, uint64_t bytes);

/* With judge_lock: compares what is there.  last: nothing comes any more. */
void rt_order_catch_up(bool last);
/* Without any lock, in a call of the program's: what waits to be compared does not grow for ever. */
void rt_order_help(void);
bool rt_order_under_way(void);          /* Is there something to compare? */
void rt_order_count(struct rt_totals *);
void rt_order_fork(void);

/* ---- met.c ------------------------------------------------------------------------------------------------------- */

void rt_met(void *unused, const struct detect_meeting *);
/* A place of the host: what it called, and from where. */
void rt_met_call(struct rt_place *, const char *call, const struct rt_stack *);

#endif
