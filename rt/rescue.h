/* SPDX-License-Identifier: Apache-2.0
 *
 * rescue.h: the memory of logs, which another process can map, and what is read of it by one when a fault has ended all
 * contexts of this one.
 */
#ifndef RT_RESCUE_H
#define RT_RESCUE_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- rescuer.c, which is started as  rescuer DRIVER DEVICE, with a socket and a file that both have mapped ---------- */

enum { RESCUE_SOCKET, RESCUE_BYTES = 8 << 20 /* at most so many are asked for at once */ };

/* From that byte on, of the memory behind a descriptor, which is so large.  The answer is an int32_t, a CUresult, and, if that is
 * CUDA_SUCCESS, those bytes. */
struct rescue_ask { uint64_t at, bytes, all; int32_t memory, pad; };

/* ---- slab.c ---------------------------------------------------------------------------------------------------------- */

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

/* ---- rescue.c -------------------------------------------------------------------------------------------------------- */

struct log_shape;
struct log_copy;

/* As log_take(), by a program that is started for it.  *why: a constant that says why not. */
bool rt_rescue(CUdeviceptr, const struct log_shape *, struct log_copy *, const char **why);

#endif
