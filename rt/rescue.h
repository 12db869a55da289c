/* SPDX-License-Identifier: Apache-2.0
 *
 * rescue.h: what another process reads of the memory of logs (slab.h) when a fault has ended all contexts of this one.
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

/* ---- rescue.c -------------------------------------------------------------------------------------------------------- */

struct log_shape;
struct log_copy;

/* As log_take(), by a program that is started for it.  *why: a constant that says why not. */
bool rt_rescue(CUdeviceptr, const struct log_shape *, struct log_copy *, const char **why);

#endif
