/* SPDX-License-Identifier: Apache-2.0
 *
 * fake.h: what the pretended driver of fake.c and its test program share.
 */
#ifndef FAKE_H
#define FAKE_H

#include <stddef.h>

#include "rt/abi.h"

/* What cuModuleLoadData takes here in place of PTX. */
struct fake_image {
	const char *const *kernel;
	size_t nkernels;
	const struct gsan_module *table;        /* handed over by __gsan_v1_init_* */
	int shared;                             /* bytes of static shared memory */
};

#endif
