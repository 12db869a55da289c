/* SPDX-License-Identifier: Apache-2.0
 *
 * probe.h: puts probes into a module, so that its kernels log what they do (event/event.h).
 *
 * The log's memory is one region of device memory, all zero before the first launch, at a multiple of
 * PROBE_PIECE: a head, then pieces, each at such a multiple and as long.  The module has a variable PROBE_LOG of two 64-bit
 * words, which are to be set before a launch: where the region is, and the launch's number.
 */
#ifndef PROBE_PROBE_H
#define PROBE_PROBE_H

#include "event/event.h"
#include "ptxparse/ptx.h"

#define PROBE_LOG "__gsan_log"

/* The region's head.  `next`: where the next piece begins, from the region's start, which is
 * PROBE_PIECE at first; `bytes`: of the region; `lost`: pieces for which there was no room, whose
 * records go to the last one. */
struct probe_log { uint64_t next, bytes, lost; };
enum { PROBE_PIECE = 2048 };

/* The sites of a module: number 0 is none.  Of `left_out` instructions nothing is logged: of the one at
 * line `first`, and others behind it. */
struct probe_sites { struct event_site *site; uint32_t n, left_out, first; };

/* The module with probes in its entries: malloc'd text, with a NUL behind it.  NULL: `report` has been
 * called for each error.  What cannot be logged in a kernel at all is an error, too.  The sites are
 * freed by probe_sites_free(), also behind an error. */
char *probe_module(const char *path, const char *text, size_t len, struct probe_sites *, ptx_report_fn *report, void *arg);
void probe_sites_free(struct probe_sites *);

#endif
