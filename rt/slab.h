/* SPDX-License-Identifier: Apache-2.0
 *
 * slab.h: memory of the device that is gsan's: for logs, which another process can map, and for what judges them.
 */
#ifndef RT_SLAB_H
#define RT_SLAB_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

/* What the driver gave: launches' memory in a row, of which so many are spare. */
struct rt_slab {
	CUdeviceptr at;
	uint64_t bytes, mapped;         /* mapped: with what it takes to make whole pages */
	unsigned n, spare;
	bool goes;
	CUmemGenericAllocationHandle handle;
	int fd;                         /* of its memory; -1: it cannot be shared, or is gone */
	struct rt_slab *next;
};

/* With a context of the device current.  NULL: there is no memory. */
struct rt_slab *rt_slab_make(CUdevice, uint64_t bytes, unsigned n);
void rt_slab_give_back(struct rt_slab *);       /* its memory; who may still refer to it, may */
void rt_slab_free(struct rt_slab *);            /* nobody does */
/* Of all that can be shared: with that address, and each descriptor.  False, 0: none. */
bool rt_slab_find(CUdeviceptr, struct rt_slab *copy);
size_t rt_slab_files(int *fd, size_t most);
void rt_slab_fork(void);                        /* in the child of a fork */

/* Pieces of slabs that go together.  Zeroed: none. */
struct rt_arena { struct rt_slab **slab, *open; size_t n, cap; uint64_t used /* of the open one */; };

CUdeviceptr rt_arena_take(struct rt_arena *, CUdevice, uint64_t bytes);         /* with a context of it current; 0: no memory */
void rt_arena_free(struct rt_arena *, bool unused);     /* unused: nothing on the device uses it; else its memory is left there */

#endif
