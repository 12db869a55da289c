/* SPDX-License-Identifier: Apache-2.0
 *
 * module.h: a module that probes are being put into.
 */
#ifndef PROBE_MODULE_H
#define PROBE_MODULE_H

#include "probe/derive.h"
#include "probe/emit.h"
#include "probe/plan.h"

struct module {
	struct ptx_module *m;
	struct plan_facts facts;
	const struct ptx_func *f;       /* the one that probes are being put into, */
	uint64_t maps;                  /* probe_kernel.maps of it, */
	uint32_t *number;               /* and the sites of its items */
	bool marks;                     /* probe_what.marks */
	bool called;                    /* there are functions that are called */
	uint32_t inline_most;           /* probe_what.inline_most */
	struct probe_sites *sites;
	struct derive *derive;
	struct emit e;
	struct outside *outside;        /* functions that make records, of all that were wanted so far */
	struct ptx_sym *scratch;        /* two: registers for results that the program does not want: of 32 and 64 bits */
};

/* What was emitted since the last call, in the module's arena. */
const char *module_text(struct module *);
/* A site; stmt NULL: of a run. */
uint32_t module_site(struct module *, const struct event_site *, const struct ptx_stmt *);
/* Counts an instruction that cannot be logged whole. */
void module_leave_out(struct module *, const struct ptx_stmt *);

/* probe.c: puts the probes of item `at` of the function's plan around its instruction. */
void probe_instruction(struct module *, struct ptx_func *, const struct plan *, uint32_t at);

#endif
