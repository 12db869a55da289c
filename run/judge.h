/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.h: keeps what the emulated device logs (emu/events.h) and has the detector judge it, as
 * a whole and in portions.
 */
#ifndef RUN_JUDGE_H
#define RUN_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "detect/detect.h"
#include "emu/events.h"

enum item_kind { ITEM_SITES, ITEM_HOST, ITEM_PIECE, ITEM_CUT };

struct judge_item {
	struct judge_item *next;
	enum item_kind kind;
	struct event_sites sites;       /* SITES: of the launches behind it */
	struct event_host host;
	struct event_piece *piece;
};

struct judge_log {
	struct judge_item *first, **last;
	size_t bytes;                   /* of all pieces */
	unsigned launches;
	unsigned cuts;                  /* places where a kernel was interrupted */
};

/* Empty, and what fills it. */
void judge_start(struct judge_log *, struct emu_events_sink *);
void judge_free(struct judge_log *);

/* The choices of `options`, those that are the detector's; then `more`, NAME=VALUE, or NULL.  NULL:
 * one of them has no such value. */
struct detect *judge_new(const char *options, const char *more);
/* All of it, and then judged; with `cuts` at each of those places as well.  NULL, or what is wrong
 * with the log. */
const char *judge_log(struct detect *, const struct judge_log *, bool cuts);
/* The log as if, in each launch, a part of it had been lost from a moment on that `seed` chooses (cut.c). */
void judge_cut(struct judge_log *to, const struct judge_log *, uint64_t seed);
/* All of it, but in each launch first some of the blocks that can be judged before the others, which `seed` chooses (part.c);
 * rest: and then the others.  blocks: so many were first. */
const char *judge_part(struct detect *, const struct judge_log *, uint64_t seed, bool rest, unsigned *blocks);
/* A line for each record. */
void judge_print(const struct judge_log *, FILE *);
/* The line of a launch's site; of a finding's side; 0: there is none. */
unsigned judge_site_line(const struct judge_log *, uint32_t launch, uint32_t site);
unsigned judge_line(const struct judge_log *, const struct detect_finding *, unsigned side);
/* Has anything been taken that is not exact (detect.h)? */
bool judge_counted(const struct detect *);
/* What the second one has found and the first one has not, by kinds and lines; NULL: nothing. */
const struct detect_finding *judge_more(const struct judge_log *, const struct detect *, const struct detect *);
/* The same, but for what the first one has of that kind at one of the two lines. */
const struct detect_finding *judge_unlike(const struct judge_log *, const struct detect *, const struct detect *);
/* What one has found and the other has not. */
const struct detect_finding *judge_differs(const struct judge_log *, const struct detect *, const struct detect *);

#endif
