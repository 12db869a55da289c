/* SPDX-License-Identifier: Apache-2.0
 *
 * bits.h: how a function asks for the bits of a word.
 */
#ifndef PROBE_BITS_H
#define PROBE_BITS_H

#include "ptxparse/ptx.h"

/* Has the function ask whether masked bits of a word are zero in a form, of the same meaning, that ptxas takes with probes
 * around it. */
void bits_put(struct ptx_module *, struct ptx_func *);

#endif
