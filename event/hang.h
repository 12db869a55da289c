/* SPDX-License-Identifier: Apache-2.0
 *
 * hang.h: why a launch comes to no end: from who waits where, and who could end that, to words.  Whoever has seen the
 * hang gives both as data; nothing is asked of the device.
 */
#ifndef EVENT_HANG_H
#define EVENT_HANG_H

#include <stdbool.h>
#include <stdint.h>

enum hang_kind {
	HANG_RUNS,                      /* it waits for nothing that is known */
	HANG_BARRIER, HANG_CLUSTER, HANG_WARP, HANG_MBARRIER,
	HANG_WORD                       /* it reads a word again and again */
};

/* What is waited for; block: whose it is (of a cluster its first; of a word in global memory 0).  number: of a barrier; the
 * address of an mbarrier or a word, below 2^24 in shared memory; the warp whose lanes are to meet, and above 32 bits their
 * mask. */
struct hang_object { enum hang_kind kind; uint32_t block; uint64_t number; };

/* Where an instruction is. */
struct hang_place { const char *file; unsigned line; };

/* Lanes of a warp of the block, which are there yet.  missing: arrivals, of threads, or of warps at a barrier with a
 * count (warps); bytes: that an mbarrier waits for; value: what a word holds, called `name` if that is not NULL.  open: others
 * than those who are said to could end it.  behind: `at` is the last place that is known before the wait. */
struct hang_wait {
	struct hang_object object;
	uint32_t block, warp, lanes, missing;
	int64_t bytes;
	uint64_t value;
	bool warps, open, behind;
	struct hang_place at;
	const char *name;
};

/* Lanes that could arrive there; live: those of the warp that have not exited.  Or, with a file, an arrival that was made,
 * by that line. */
struct hang_party { struct hang_object object; uint32_t block, warp, lanes, live; struct hang_place came; };

struct hang {
	const struct hang_wait *wait;
	const struct hang_party *party;
	unsigned nwaits, nparties;
	bool copies;                    /* asynchronous operations are under way, which may yet arrive anywhere */
};

/* Says why, a line a time (without its newline), each object that is waited for once, and who waits for whom in a circle.
 * True: there is a circle, or a wait that nobody is left to end. */
bool hang_explain(const struct hang *, void (*line)(void *arg, const char *text), void *arg);

/* Does one of them never end, whatever those do who run?  The parties are all who could end the waits that are not open. */
bool hang_is_sure(const struct hang *);

#endif
