/* SPDX-License-Identifier: Apache-2.0
 *
 * stand.h: where the lanes of a launch stand that is not over, by what it has logged so far, and why it comes to no end.
 *
 * The record of an arrival is stored before its instruction, that of a wait behind it: a lane whose last record is an arrival
 * at a barrier waits there.  A wait at an mbarrier that was in vain is logged once, a poll moves on the clock of its record.
 * barrier.cluster.wait logs nothing before it has waited: of that the line of the arrival is known.
 */
#ifndef LOG_STAND_H
#define LOG_STAND_H

#include "event/hang.h"
#include "log/region.h"

struct log_stand;

/* What is asked of who reads the log.  sites: those that its records name; threads: of a block. */
struct log_stand_of {
	const struct log_shape *shape;
	const struct event_sites *sites;
	uint32_t threads;
	/* Where a site is; what the word at a global address is called, or NULL; bytes that an mbarrier counts of a lane's
	 * tensor copy, 0: unknown. */
	struct hang_place (*place)(void *arg, uint32_t site);
	const char *(*name)(void *arg, uint64_t address);
	uint32_t (*box)(void *arg, const struct event_unit *, const struct event_site *, unsigned lane);
	void *arg;
};

/* A log that was read while nothing else was written into its region than polls.  The log is not needed any more when it
 * returns; what `of` points to is, until log_stand_free().  NULL: there is no memory, or the log is damaged or not whole. */
struct log_stand *log_stand_new(const struct log_stand_of *, const struct log_copy *, const struct log_fill *, uint32_t n);
void log_stand_free(struct log_stand *);
/* Has any lane logged between the two of one launch, but for polls that found what they had found before?  The earlier one
 * first. */
bool log_stand_moved(const struct log_stand *was, const struct log_stand *now);
/* Blocks that have not begun, and that have ended. */
void log_stand_blocks(const struct log_stand *, uint32_t *waiting, uint32_t *ended);

/* Says why, a line a time, as hang_explain(); of blocks, or clusters, that stand alike the first one.  was: the same launch
 * earlier, by which polls are told from what a lane did long ago.  site, block, thread: of a lane that waits. */
enum log_hang {
	LOG_RUNS,                       /* somebody may go on without having logged anything */
	LOG_MAY_HANG,                   /* all wait, some for words that others may write */
	LOG_HANGS                       /* some never end, whatever others do */
};
struct log_waits { uint32_t site, block, thread; };
enum log_hang log_stand_explain(struct log_stand *, const struct log_stand *was, void (*line)(void *arg, const char *), void *arg,
				struct log_waits *first);

#endif
