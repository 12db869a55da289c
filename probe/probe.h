/* SPDX-License-Identifier: Apache-2.0
 *
 * probe.h: puts probes into a module, so that its kernels log what they do (event/event.h).
 *
 * The log's memory is one region of device memory, all zero at first, at a multiple of 16, and counted in units of 16
 * bytes: a head; for each launch an array of heads of its blocks, and one of pieces, one for each of its warps; and
 * pieces that are taken when those are full, or when other lanes than the lowest lead.  Kernels have a parameter
 * PROBE_PARAM behind their own.
 */
#ifndef PROBE_PROBE_H
#define PROBE_PROBE_H

#include "event/event.h"
#include "ptxparse/ptx.h"

#define PROBE_PARAM "__gsan_launch"

enum { PROBE_PIECE_MAX = 256, PROBE_HEAD = 4 /* of a block; units */ };

/* The region's head.  `next`: where the next piece begins, a multiple of PROBE_PIECE_MAX at first; `last`:
 * where the last one that has room begins; `lost`: pieces for which there was none, whose records go to the last
 * one. */
struct probe_log { uint32_t next, last, lost, spare; };

/* The parameter.  heads, slots: where the two arrays are; slots are at multiples of their size. */
struct probe_launch { uint64_t region; uint32_t heads, slots, launch, magic; };

/* What EVENT_TENSOR_HASH is for a map that is a launch's parameter of that number. */
#define PROBE_MAP(launch, param) ((uint64_t)(2 * (param) + 1) << 32 | (launch))

/* A block's head.  place: rank in the cluster, and blocks of that << 16; piece: units of a piece of this
 * kernel. */
struct probe_block {
	uint32_t magic, launch, block, first;   /* event_piece has the same ones */
	uint32_t place, sm, threads, shared;    /* shared: bytes */
	uint64_t window, clock, timer, piece;
};

/* The head of a piece behind the launch's.  behind: the last unit of the leader's piece before it; of the first piece
 * of another leader than lane 0, the unit before the warp's piece among the launch's. */
struct probe_piece { uint32_t magic, behind, leader, launch; uint64_t clock, timer; };

/* A kernel: units of its pieces. */
struct probe_kernel { const char *name; uint32_t piece; };

/* The sites of a module: number 0 is none.  Of `left_out` instructions nothing is logged: of the one at
 * line `first`, and others behind it. */
struct probe_sites {
	struct event_site *site;
	struct event_run *run;
	struct probe_kernel *kernel;
	uint32_t n, nruns, nkernels, left_out, first;
};

/* The module with probes in its entries: malloc'd text, with a NUL behind it.  NULL: `report` has been
 * called for each error.  What cannot be logged in a kernel at all is an error, too.  The sites are
 * freed by probe_sites_free(), also behind an error. */
char *probe_module(const char *path, const char *text, size_t len, struct probe_sites *, ptx_report_fn *report, void *arg);
void probe_sites_free(struct probe_sites *);

#endif
