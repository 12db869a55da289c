/* SPDX-License-Identifier: Apache-2.0
 *
 * stand_impl.h: what stand.c gathers of a log, and blame.c makes a hang of.
 */
#ifndef LOG_STAND_IMPL_H
#define LOG_STAND_IMPL_H

#include "log/stand.h"

enum { STAND_SITES = 4 };               /* that arrived last at an object */

/* Of a warp's log by one leader: the clock of its last CLOCK, and of its last record. */
struct stand_stream { uint64_t key; struct event_now now; };

/* A lane's last record, by the clocks of CLOCKs.  records: before it and the polls that it repeats; run: it and those. */
struct stand_lane {
	uint64_t key, what, value, holds;       /* what: its address, or operand A; value: of all words; holds: the first */
	uint32_t records, run, site, clock;
	uint32_t clusters, bar[16];     /* arrivals at the cluster's barrier, and at the block's by number */
	int32_t bars, warps;            /* arrivals less waits behind them */
	uint8_t kind;
};

/* A warp that has begun and not ended. */
struct stand_warp {
	uint32_t block, warp, first, live;
	uint16_t blocks;                /* of the cluster */
	uint64_t window;
	struct stand_stream stream[EVENT_LANES];
	struct stand_lane lane[EVENT_LANES];
};

/* A barrier (kind: HANG_BARRIER) or an mbarrier.  unknown: not all that it counts can be told. */
struct stand_object {
	struct hang_object object;
	uint64_t arrivals, expected, come;      /* expected, come: bytes */
	uint32_t count, inits;
	bool unknown, arrives;          /* arrives: some do not wait */
	uint32_t site[STAND_SITES];
	unsigned nsites;
};

struct log_stand {
	struct log_stand_of of;
	uint32_t nwarps;                /* of the launch */
	uint32_t *began, *exited;       /* lanes, by warp */
	uint32_t *at;                   /* a warp's place in `warp`, and one; 0: it has not begun, or has ended */
	bool *open;                     /* by block: its cluster has warps that have not ended */
	struct stand_warp *warp;
	uint32_t nlive, cap;
	struct stand_object *object;    /* open addressing; room: a power of two */
	uint32_t nobjects, room;
	bool failed;
};

/* NULL: there is none, or (make) no memory. */
struct stand_object *stand_object(struct log_stand *, const struct hang_object *, bool make);
/* Of an address in shared memory: its block, and the place in that. */
struct hang_object stand_mbarrier(const struct stand_warp *, uint64_t address);
/* Is it one in shared memory? */
bool stand_is_shared(const struct stand_warp *, const struct event_site *, uint64_t address);

#endif
