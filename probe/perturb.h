/* SPDX-License-Identifier: Apache-2.0
 *
 * perturb.h: holds warps up by chance where they synchronise.
 */
#ifndef PROBE_PERTURB_H
#define PROBE_PERTURB_H

#include "ptxparse/ptx.h"

/* Puts naps into a module's functions, as long as a hash of the seed, the place and %clock says, and the variable
 * MODULE_SEED, which holds the seed: 32 bits, 0 for none.  For PTX 6.3 and sm_70 or later (nanosleep).  marks: as in
 * struct probe_what.  Before probes are put in. */
void perturb_put(struct ptx_module *, uint32_t seed, bool marks);

#endif
