/* SPDX-License-Identifier: Apache-2.0
 *
 * same.h: whether two PTX modules are the same tree, places in the text aside.
 */
#ifndef SAME_H
#define SAME_H

#include "ptxparse/ptx.h"

/* NULL if they are; else what differs first, and *line where in `a`. */
const char *same_module(const struct ptx_module *a, const struct ptx_module *b, unsigned *line);

#endif
