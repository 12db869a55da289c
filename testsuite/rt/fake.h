/* SPDX-License-Identifier: Apache-2.0
 *
 * fake.h: what the pretended driver of fake*.c and its test program share.
 */
#ifndef FAKE_H
#define FAKE_H

#include <stdbool.h>
#include <stddef.h>

#include "event/module.h"
#include "event/region.h"

/* A kernel has one parameter of its own, a number.  unit: the tables that it hands over (__gsan_vN_init_*), or those that
 * have its sites: such a kernel logs. */
struct fake_kernel { const char *name; const struct module_tables *unit; };

/* What cuModuleLoadData takes here in place of PTX.  probes: it has the variable __gsan_probes. */
struct fake_image { const struct fake_kernel *kernel; size_t nkernels; bool probes; };

/* An access; address: an offset of shared memory where the site says so. */
struct fake_access { uint32_t site, block, thread; uint64_t address; };

/* What a kernel does that logs, its parameter: 0, or where this is.  In this order: it waits until *gate is not 0; the first
 * `early` accesses; of each warp's lanes so many take pieces and keep them (lanes), and each warp makes so many accesses of
 * nothing that others touch, by that site (fill); the other accesses. */
enum fake_damage { FAKE_WHOLE, FAKE_BAD_RECORD, FAKE_BAD_SITE, FAKE_BAD_HEAD };
struct fake_work {
	const int *gate;
	uint32_t early, naccesses, fill, fill_site, lanes;
	bool deaf;                      /* nothing can be copied from the device while it runs, */
	enum fake_damage damage;        /* and it destroys a part of its log */
	struct fake_access access[2];
};

/* What a launch has behind the program's own parameter if nobody has put anything there. */
#define FAKE_NOTHING 0x0badc0deu        /* region_launch.magic */

#endif
