/* SPDX-License-Identifier: Apache-2.0
 *
 * host.h: what the host puts in order (memory-model.md 1.11): streams, events and synchronisation as they are called give
 * each deed (a launch, a copy, a fill, an access by the host itself) its place; deeds that nothing orders, and of which one
 * writes what the other touches, race.
 *
 * A line is what is in order by itself: the host, all of its threads together, since how they synchronise is not seen; and
 * each stream.  A clock says for each line up to which number everything is known.
 *
 * No I/O, no CUDA.  Each object is one thread's at a time.
 */
#ifndef DETECT_HOST_H
#define DETECT_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DETECT_LINES = 64 };     /* the host's and those of streams that are under way; what comes beyond is taken as ordered */
struct detect_clock { uint32_t upto[DETECT_LINES]; };

/* The place of a deed.  open: it is taken as ordered with everything. */
struct detect_when { uint32_t line, number; bool open; struct detect_clock knew; };

bool detect_before(const struct detect_when *, const struct detect_when *);
void detect_clock_join(struct detect_clock *, const struct detect_clock *);

/* ---- the order, in the order of the calls ------------------------------------------------------------------- */

struct detect_order;
struct detect_order *detect_order_new(void);            /* NULL: there is no memory */
void detect_order_free(struct detect_order *);

/* A stream by its context and handle; one that is destroyed may be followed by another of its name. */
struct detect_stream { uint64_t context, key; bool legacy, blocking; };

/* Something comes into the stream.  A line that is not to be had makes it open. */
void detect_put(struct detect_order *, const struct detect_stream *, struct detect_when *);
/* Does that come behind all that has come into streams until now? */
bool detect_is_behind_all(const struct detect_order *, const struct detect_when *);
/* An event by its handle: it covers what is in the stream now; again: that alone. */
void detect_record(struct detect_order *, uint64_t event, const struct detect_stream *);
/* What comes into the stream later waits for what the event covers now; never recorded: for nothing. */
void detect_wait(struct detect_order *, const struct detect_stream *, uint64_t event);
/* What comes into the stream waits for something that is not seen: until the host has waited for the stream it is open. */
void detect_open(struct detect_order *, const struct detect_stream *);
/* Streams wait for something, and which ones is not known: all that comes is open. */
void detect_blind(struct detect_order *);
void detect_stream_end(struct detect_order *, const struct detect_stream *);
/* By its context and handle: it has a line.  Then what else is said of it is as it was. */
bool detect_stream_known(struct detect_order *, const struct detect_stream *);

/* What somebody who waits for it now will know: a stream, an event, all streams of a context (0: of all). */
struct detect_clock detect_clock_of_stream(struct detect_order *, const struct detect_stream *);
struct detect_clock detect_clock_of_event(struct detect_order *, uint64_t event);
struct detect_clock detect_clock_of_all(struct detect_order *, uint64_t context);
/* The host has waited for that. */
void detect_learn(struct detect_order *, const struct detect_clock *);
/* A stream waits for that: memory that a pool hands on. */
void detect_learn_stream(struct detect_order *, const struct detect_stream *, const struct detect_clock *);
/* The host itself does something now. */
void detect_host_now(struct detect_order *, struct detect_when *);
const struct detect_clock *detect_host_clock(const struct detect_order *);
uint64_t detect_order_lacking(const struct detect_order *);     /* deeds for which there was no line */

/* ---- deeds ------------------------------------------------------------------------------------------------------ */

enum detect_deed_kind { DETECT_LAUNCH, DETECT_COPY, DETECT_FILL, DETECT_ALLOC, DETECT_FREE, DETECT_TOUCH };

/* Bytes that a deed touches; size: of the first of its accesses; site, block, thread: of a launch.  strong: at gpu scope or wider. */
struct detect_range { uint64_t address, bytes; uint32_t size, site, block; uint16_t thread; bool reads, writes, strong; };

/* Becomes ranges in order of their addresses; those of one site are united. */
struct detect_ranges { struct detect_range *v; size_t n, cap, sorted; uint64_t longest; bool lost; };
/* Beyond DETECT_RANGES_MOST it is lost, and empty. */
#define DETECT_RANGES_MOST ((size_t)1 << 20)
void detect_range_add(struct detect_ranges *, const struct detect_range *);
void detect_ranges_end(struct detect_ranges *);
void detect_ranges_free(struct detect_ranges *);

/* Which of n nodes of a graph come before which: of each the nodes before it, as bits, in `words` words. */
struct detect_edges { uint32_t n, words; uint64_t *before; };
/* Does the one come before the other, or the other before it? */
bool detect_edges_order(const struct detect_edges *, uint32_t, uint32_t);

/* edges, node: of a launch of a graph, whose deeds have one `when` and one `edges`; NULL: they are in order.
 * number: whatever the caller calls it; origin: of two that are alike the later one will do, if it is the same.  host: what
 * the host knew when it was issued.  behind_all: detect_is_behind_all() of it, when it was put.  tells, hears: it writes, or reads, strongly what the host can reach. */
struct detect_deed {
	uint64_t number, origin;
	enum detect_deed_kind kind;
	bool tells, hears, behind_all;
	struct detect_when when;
	struct detect_clock host;
	struct detect_clock heard;      /* what the host came to know before it knew that this is over: of one that hears */
	struct detect_ranges ranges;
	const struct detect_edges *edges;
	uint32_t node;
};

/* Two that nothing orders, the earlier issued first. */
struct detect_meeting { const struct detect_deed *deed[2]; struct detect_range range[2]; uint64_t address, bytes; };

/* met: two have met, and nothing that comes later can order them; gone: the number is needed no more. */
struct detect_sink {
	void (*met)(void *, const struct detect_meeting *);
	void (*gone)(void *, uint64_t number);
	void *arg;
};

struct detect_deeds;
struct detect_deeds *detect_deeds_new(void);
void detect_deeds_free(struct detect_deeds *);          /* all are gone: detect_deeds_known() of NULL */
/* In the order in which they were issued; the deed's ranges are taken over. */
void detect_deed(struct detect_deeds *, struct detect_deed *, const struct detect_sink *);
/* All that was issued has come, and the host knows that; NULL: nothing comes any more. */
void detect_deeds_known(struct detect_deeds *, const struct detect_clock *, const struct detect_sink *);
/* Memory that is given back when all deeds until now are over: nothing that comes meets them there. */
void detect_deeds_forget(struct detect_deeds *, uint64_t address, uint64_t bytes, const struct detect_sink *);
/* Pairs taken as ordered since deeds synchronise through memory; deeds that were dropped for want of room, or ranges. */
struct detect_deeds_count { uint64_t talked, dropped; };
struct detect_deeds_count detect_deeds_counts(const struct detect_deeds *);

#endif
