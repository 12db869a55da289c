/* SPDX-License-Identifier: Apache-2.0
 *
 * weak.c: what the async proxy has not yet seen.  For a block whose kernel reads
 * shared memory through the async proxy there is a second copy of its shared memory:
 * what that proxy saw last.  Asynchronous writes go to both, a proxy fence brings the
 * copy up to date, and an operation may read either, by the seed (PTX ISA, "Async
 * Proxy": without a fence nothing orders the two).  With seed 0 there is no copy.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/async.h"

void emu_weak_block(struct emu_block *b)
{
	if (!emu_m.seed || !b->grid->func->mod->async_reads) {
		free(b->stale);
		b->stale = NULL;
		return;
	}
	if (!b->stale)
		b->stale = malloc(b->smem_bytes);
	if (!b->stale)
		abort();
	memcpy(b->stale, b->smem, b->smem_bytes);
}

void emu_weak_fence(struct emu_block *b)
{
	if (b->stale)
		memcpy(b->stale, b->smem, b->smem_bytes);
}
