/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle_host.c: what launches that are over have touched in global memory, for whoever knows how the host ordered them.
 */
#include <stdlib.h>

#include "emu/oracle_impl.h"

static struct emu_oracle_touch *touches;
static size_t ntouches, cap;

void orc_touched(const struct orc_access *a, uint64_t id)
{
	if (a->space || !a->size)
		return;
	if (ntouches == cap) {
		cap = cap ? cap * 2 : 256;
		touches = realloc(touches, cap * sizeof *touches);
		if (!touches)
			abort();
	}
	touches[ntouches++] = (struct emu_oracle_touch){
		.launch = id, .addr = a->addr, .bytes = a->size, .line = a->op->line, .read = a->read, .write = a->write,
		.strong = a->reach.level >= ORC_GPU
	};
}

size_t emu_oracle_touches(const struct emu_oracle_touch **v)
{
	*v = touches;
	return ntouches;
}

unsigned long long emu_oracle_launch(void)
{
	return emu_m.grids_made;
}
