/* SPDX-License-Identifier: Apache-2.0
 *
 * perturb.h: holds warps up by chance where they synchronise.
 */
#ifndef PROBE_PERTURB_H
#define PROBE_PERTURB_H

#include "probe/probe.h"

/* Puts naps into a module's functions, as long as a hash of the seed, the place and %clock says, and the variable
 * MODULE_SEED, which holds the seed.  For PTX 6.3 and sm_70 or later (nanosleep).  Before probes are put in. */
void perturb_put(struct ptx_module *, const struct probe_what *);

#endif
