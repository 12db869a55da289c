/* SPDX-License-Identifier: Apache-2.0
 *
 * rewrite.h: what librewrite offers to programs that instrument PTX in their
 * own process.  Everything it needs comes in and goes out by
 * value or by malloc'd memory.  Needs ptxparse for the form of an error only.
 */
#ifndef REWRITE_H
#define REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "ptxparse/ptx.h"

struct gsan_rewrite_options {
	const char *kernel;     /* instrument only entries that this fnmatch(3)
	                           pattern names; NULL: all of them */
	const char *const *leave;       /* but not these, NULL at the end; or NULL */
	bool relocatable;       /* for ptxas -c: it will be linked with others */
	bool marks;             /* labels around what is put in (probe.h) */
	bool stored;            /* log what weak stores store, for same_value=ignore */
	bool gather;            /* struct probe_what's: for ptxas, which does as much */
	unsigned perturb;       /* seed to hold warps up by; 0: none */
	unsigned inline_most;   /* struct probe_what's */
	const char *dump;       /* letters of the passes to print after, or NULL */
	FILE *dump_to;          /* where to; NULL: stderr */
};

/* Why the text came back as it was. */
enum gsan_rewrite_pass {
	GSAN_REWRITTEN,         /* it did not */
	GSAN_PASSED_MARKED,     /* it is gsan's own output */
	GSAN_PASSED_32BIT       /* .address_size 32: probes have addresses of 64 bits */
};

struct gsan_rewrite_stats {
	enum gsan_rewrite_pass passed;
	unsigned entries;       /* instrumented */
	unsigned entries_left;  /* left alone because of `kernel` */
	unsigned funcs;         /* .func bodies with something to instrument */
	unsigned insts;         /* instructions of the module */
	unsigned sites;
	unsigned reads, writes, strong, ranges, matrices;
	unsigned barriers, warp_syncs, fences;
	unsigned asyncs;        /* mbarriers, asynchronous copies and their groups */
	unsigned unmodelled;    /* MODEL_SYNC, MODEL_COUNT */
	unsigned unknown;       /* in no row of inst.def */
	unsigned old_version;   /* .version raised from this; 0: not raised */
	unsigned old_sm;        /* .target raised from this; 0: not raised */
};

/* Instruments the `len` bytes of PTX at `text`; `path` is for messages and for
 * the site table.  Returns malloc'd text of *out_len bytes (with a NUL behind
 * it), or NULL if the input was rejected: `report` (NULL: stderr) has been
 * called for every error by then.  `stats` may be NULL. */
char *gsan_rewrite(const char *path, const char *text, size_t len,
		   const struct gsan_rewrite_options *options,
		   struct gsan_rewrite_stats *stats, size_t *out_len,
		   ptx_report_fn *report, void *arg);

/* Sets what a value of GSAN_OPTIONS (NULL: none) asks for: same_value=ignore `stored`, perturb=SEED `perturb`.  What is
 * wrong in it is left to the runtime, which reads the same. */
void gsan_rewrite_asked(struct gsan_rewrite_options *, const char *list);
/* A seed from 1 to 2147483647; false: it is none, and *seed is as it was. */
bool gsan_rewrite_seed(const char *text, unsigned *seed);
/* --inline: a number of looks for room, from 0 to 2147483647; false: it is none, and *most is as it was. */
bool gsan_rewrite_inline(const char *text, unsigned *most);

/* Letters of the passes with their names, for -d and --help. */
struct gsan_rewrite_pass_name { char letter; const char *name, *text; };
extern const struct gsan_rewrite_pass_name gsan_rewrite_passes[]; /* name NULL ends it */

#endif
