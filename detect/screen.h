/* SPDX-License-Identifier: Apache-2.0
 *
 * screen.h: is there nothing to judge in a launch?
 *
 * In a launch whose blocks synchronise by barriers of all their threads alone, two accesses can be a finding only if
 * they touch the same memory, one writes, and nothing of what is below tells them apart.  Where that holds of no two,
 * the launch is clear; any other is the detector's (detect.h).  The passes are functions of one index over the region
 * as the kernel left it (event/region.h): cc makes them for the host, one index after the other, nvcc for a GPU,
 * where a warp takes an index, or for screen_block a block of threads.
 */
#ifndef DETECT_SCREEN_H
#define DETECT_SCREEN_H

#include "event/event.h"
#include "event/region.h"

#ifdef __CUDACC__
#define SCREEN_PASS __device__
#else
#define SCREEN_PASS
#endif

#define SCREEN_NONE 0xffffffffu

/* A launch that is over, of which nothing is lost.  warps, threads: of a block; shared: bytes of its memory; next: where
 * the region's first free unit is; end: of the launch's own pieces. */
struct screen_log {
	const struct event_unit *unit;
	const struct event_site *site;
	const struct event_run *run;
	uint32_t launch, nsites, heads, slots, end, next, piece, blocks, warps, threads, shared;
};

/* Why a launch is not clear. */
enum screen_why {
	SCREEN_KIND,                    /* an event of another kind than accesses and barriers of all threads */
	SCREEN_ACCESS,                  /* an access that is not looked at here */
	SCREEN_GROUPS,                  /* barriers, or shared memory, and groups that lane 0 does not lead */
	SCREEN_SPACE,                   /* no room for what would have to be kept */
	SCREEN_SHARED, SCREEN_GLOBAL,   /* two accesses of shared, of global memory */
	SCREEN_WHYS
};

/* Global memory is looked at by lines, in pages of which those that are written have a cell for each line. */
enum { SCREEN_LINE = 7, SCREEN_PAGE = 21, SCREEN_LINES = 1 << (SCREEN_PAGE - SCREEN_LINE), SCREEN_PAGES = 1 << 13 };

struct screen {
	struct screen_log log;
	uint32_t shift;                 /* screen_shift() */
	const uint8_t *traits;          /* of each site: screen_traits() */
	uint32_t stamp;                 /* of this launch: 1 to 65535; a cell with another one is empty */
	uint32_t room;                  /* pages that have cells, at most */
	uint32_t *pages;                /* so many have */
	uint64_t *page;                 /* SCREEN_PAGES hashed page numbers + 1; 0: none */
	uint32_t *cells;                /* of each: which of the pages that have cells it is, + 1 */
	uint64_t *cell;                 /* room * SCREEN_LINES */
	uint32_t *after;                /* of each piece: the one behind it; NONE */
	uint32_t *warp;                 /* of each piece: its warp in the launch */
	uint32_t *why;                  /* of each enum screen_why: so often */
};

/* Pieces: those of the launch's warps, and those that were taken. */
static inline EVENT_BOTH uint32_t screen_pieces(const struct screen_log *l)
{
	return l->blocks * l->warps + (l->next > l->end ? (l->next - l->end) / l->piece : 0);
}

/* What a site's accesses are, as bits. */
enum screen_trait { TRAIT_UNKNOWN = 1, TRAIT_SHARED_WRITE = 2, TRAIT_SHARED_READ = 4, TRAIT_GLOBAL_WRITE = 8, TRAIT_GLOBAL_READ = 16 };
uint8_t screen_traits(const struct event_site *, const struct event_run *, uint32_t site);
/* Of the tables of sites: as many bytes as the smallest access of shared memory has are 1 << shift. */
uint32_t screen_shift(const struct event_site *, uint32_t nsites);

/* Of screen_writes and screen_reads: of a GPU's warps each takes several small pieces. */
static inline EVENT_BOTH uint32_t screen_windows(const struct screen_log *l)
{
#ifdef __CUDACC__
	uint32_t per = l->piece < 32 ? 32 / l->piece : 1;
#else
	uint32_t per = 1;
#endif

	return (screen_pieces(l) + per - 1) / per;
}

/* The passes in their order, each for all of its indices: pieces; blocks, if they have shared memory; windows;
 * windows. */
SCREEN_PASS void screen_link(const struct screen *, uint32_t piece);
SCREEN_PASS void screen_block(const struct screen *, uint32_t block);
SCREEN_PASS void screen_writes(const struct screen *, uint32_t window);
SCREEN_PASS void screen_reads(const struct screen *, uint32_t window);

/* All of that on the host: is the launch clear?  why: counts by enum screen_why. */
bool screen_launch(const struct screen_log *, uint32_t why[SCREEN_WHYS]);

#endif
