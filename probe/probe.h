/* SPDX-License-Identifier: Apache-2.0
 *
 * probe.h: puts probes into a module, so that its kernels log what they do (event/event.h).
 *
 * Kernels have a parameter PROBE_PARAM behind their own: where their log is (event/region.h).  A module with kernels has
 * two variables: PROBE_MARK, by which it is known, and PROBE_SINK, for launches that nobody watches (REGION_SINK).  Where a
 * module has functions, or calls some, the variable PROBE_LANES is to be set: to where the table of lanes is.  Modules that
 * are linked share it, and the mark.
 */
#ifndef PROBE_PROBE_H
#define PROBE_PROBE_H

#include "event/event.h"
#include "event/region.h"
#include "ptxparse/ptx.h"

#define PROBE_PARAM "__gsan_launch"
#define PROBE_LANES "__gsan_lanes"
#define PROBE_SINK "__gsan_sink"
#define PROBE_MARK "__gsan_probes"
#define PROBE_FIRST "__gsan_first_"

/* A kernel: units of its pieces; flat: what is logged is right only where all lanes of a warp have the same %tid.y and
 * %tid.z, which it does not look at; how many parameters of its own it has, where PROBE_PARAM lies behind them, and which of
 * the first 64 are tensor maps that are named by their number (REGION_MAP). */
struct probe_kernel { const char *name; uint32_t piece; bool flat; uint32_t nparams, offset; uint64_t maps; };

/* Where a site is; NULL: a run's, or none's. */
struct probe_place { const struct ptx_func *func; const struct ptx_stmt *stmt; };

/* A variable of shared memory, by its number in struct event_origin. */
struct probe_variable { const char *name; uint32_t bytes; bool dynamic; };

/* The sites of a module: number 0 is none.  Of `left_out` instructions not all is logged: of the one at
 * line `first`, and others behind it.  `unwatched` ones order nothing, and what they access is not looked at: textures,
 * surfaces, what tcgen05.shift moves. */
struct probe_sites {
	struct event_site *site;
	struct probe_place *place;      /* of each; as long as the module lives */
	struct event_run *run;
	struct probe_kernel *kernel;
	struct event_origin *origin;
	struct probe_variable *variable;
	uint32_t n, nruns, nkernels, left_out, first, unwatched, norigins, nvariables;
	bool called;                    /* it has functions that are called, and with them PROBE_LANES */
};

/* What a module's probes log beside what they always log.  stored: a digest of what weak stores store (EVENT_STORED), by
 * a record of its own for each store.  unit: a name for the module, of letters and digits, if it may be linked with others
 * (nvcc -rdc=true): its sites are numbered from what the variable PROBE_FIRST and that name says, << 12; NULL.
 * gather: lanes wait for each other in front of aligned barriers (plan.h).
 * marks: labels that begin with PROBE_IN and PROBE_OUT, around all that is put in.  perturb: a seed by which warps are
 * held up (perturb.h); 0: nothing holds them up.  leave: names of kernels that stay as they are, NULL at the end, or NULL;
 * not where some of the module's functions are called, which log for the kernels that call them.  inline_most: how often a
 * function may look for room before its records are made by functions that it calls (outside.h); 0: as is best. */
struct probe_what { bool stored, gather, marks; const char *unit; uint32_t perturb; const char *const *leave; uint32_t inline_most; };
#define PROBE_INLINE_NONE UINT32_MAX    /* inline_most: no function may look for room by itself */
/* Is it one of those names? */
bool probe_leaves(const struct ptx_func *, const char *const *leave);
#define PROBE_IN "$__gsan_in"
#define PROBE_OUT "$__gsan_out"
/* So begin the names of functions that probes call. */
#define PROBE_OUTSIDE "__gsan_do_"

/* Puts probes into a module's functions.  The sites are freed by probe_sites_free(). */
void probe_put(struct ptx_module *, struct probe_what, struct probe_sites *);
/* The same in a text with a NUL behind it; so is the result, which is malloc'd.  NULL: `report` has been called for each
 * error; there are sites to be freed all the same. */
char *probe_module(const char *path, const char *text, struct probe_what, struct probe_sites *, ptx_report_fn *report,
		   void *arg);
void probe_sites_free(struct probe_sites *);

#endif
