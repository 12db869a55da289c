/* SPDX-License-Identifier: Apache-2.0
 *
 * file.h: a process's log as a file (gsan-log(5)): a head, and parts one behind the other.  What libgsan appends
 * (rt/keep.c) and gsan-check reads (check/).  Numbers are of the byte order that the head tells.
 *
 * A part is a struct log_part and `bytes` bytes, a multiple of 16, of what its kind says; behind that zeros.  Strings
 * end with a NUL.
 */
#ifndef LOG_FILE_H
#define LOG_FILE_H

#include "event/module.h"

#define LOG_FILE_MAGIC "GSANLOG\n"
enum { LOG_FILE_VERSION = 1, LOG_FILE_ORDER = 0x01020304, LOG_FILE_UNIT = 16 };
struct log_file { char magic[8]; uint32_t version, order; };

enum log_part_kind {
	LOG_PROCESS = 1, LOG_UNIT, LOG_MAPS, LOG_ALLOCATIONS, LOG_LAUNCH, LOG_PIECES, LOG_OVER, LOG_END
};
#define LOG_PART_OPTIONAL 0x80000000u   /* bit of a kind: who does not know it leaves the part out */

/* number: of the part, from 0; check: CRC-32 over this, with 0 in `check`, and what is behind it. */
struct log_part { uint32_t kind, bytes, number, check; };
enum { LOG_PART_MOST = 1 << 28 };       /* bytes */
/* CRC-32 of ISO 3309 over more bytes; of none it is 0.  One thread's at a time. */
uint32_t log_crc(uint32_t of_those_before, const void *, size_t);

/* First.  event: EVENT_MAGIC; module: MODULE_VERSION; major, minor: of the compute capability.  Then strings: version
 * of gsan, program, its command line, choices that are taken as GSAN_OPTIONS has them, name of the device. */
struct log_process { uint32_t pid, event, module, major, minor, spare[3]; };
enum { LOG_PROCESS_STRINGS = 5 };

/* A translation unit of a module (event/module.h), before the first launch of its module: arrays of so many struct
 * event_site, event_run, module_spot (one for each site), module_frame, module_kernel, module_global, event_origin and
 * module_variable (of these two none before version 3 of a module's tables), and `nstrings` bytes of strings.  Units have numbers from 0 by their order; those of a module come in the order of their sites. */
struct log_unit {
	uint32_t module, nsites, nruns, nframes, nkernels, nglobals, nstrings;
	uint32_t path, left_out, unknown, norigins, nvariables; /* as in struct module_tables */
};

/* MAPS: an array of struct event_map, of tensor maps that the program has made since. */

/* All of the program's memory as it is from now on: so many of the latter, and `strings` bytes.  kind: enum
 * log_memory; name: of a variable; an offset, 0: none. */
struct log_allocations { uint32_t n, strings, spare[2]; };
struct log_allocation { uint64_t at, bytes; uint32_t kind, name; };
enum log_memory { LOG_MEM_DEVICE, LOG_MEM_MANAGED, LOG_MEM_HOST, LOG_MEM_MAPPED, LOG_MEM_VARIABLE, LOG_MEM_FREED, LOG_MEMORIES };

/* A launch that is over; behind it struct event_map of tensor maps that are its parameters, and struct event_place of its
 * kernel's variables, `places` of them.  number: as in its pieces;
 * nth: of its kernel, from 1; kernel: of the unit; since: of a cut, as in struct event_host. */
struct log_launch {
	uint32_t number, nth, unit, kernel;
	uint64_t stream, since;
	uint32_t flags, grid[3], block[3], cluster[3], maps, places;
};
enum log_launch_flag { LOG_EARLY = 1, LOG_FAULT = 2, LOG_CUT = 4 };

/* PIECES: struct event_piece of the launch, each with its records. */

/* All pieces of the launch have come: so many. */
struct log_over { uint64_t pieces, spare; };

/* Last, when the process ends: what it counted (struct rt_totals); not_kept: launches that are not in the file.  Then
 * strings: the first of the program's calls that failed, its error, why nothing was watched, and names of kernels that
 * were launched and are not instrumented, as many as `names`. */
struct log_end {
	uint64_t launches, graphs, kernels_watched, sites, zero, unmodelled, unknown, modules, bare_modules, bare_launches;
	uint64_t zeros[2], other_device, unregistered, unwatched, lost_logs, not_kept;
	uint32_t flags, names;
};
enum { LOG_END_STRINGS = 3 };
enum log_end_flag { LOG_MEMORY_OUT = 1, LOG_STILL_RUNNING = 2 };

EVENT_ASSERT(sizeof(struct log_file) == 16 && sizeof(struct log_part) == 16 && sizeof(struct log_process) == 32);
EVENT_ASSERT(sizeof(struct log_unit) == 48 && sizeof(struct log_allocations) == 16 && sizeof(struct log_allocation) == 24);
EVENT_ASSERT(sizeof(struct log_launch) == 80 && sizeof(struct log_over) == 16 && sizeof(struct log_end) == 144);
EVENT_ASSERT(sizeof(struct event_site) == 48 && sizeof(struct event_run) == 8 && sizeof(struct event_map) == 152);
EVENT_ASSERT(sizeof(struct module_spot) == 24 && sizeof(struct module_frame) == 16);

#endif
