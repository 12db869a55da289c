/* SPDX-License-Identifier: Apache-2.0
 *
 * way.h: how the host reads and writes the log's memory while kernels run: asynchronous copies from and to page-locked
 * memory, in a stream that waits for no other, of a context that owns the memory (doc/hardware.md 9).  Whoever copies has
 * that context current.
 */
#ifndef LOG_WAY_H
#define LOG_WAY_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOG_CHUNK = 8 << 20 };   /* bytes that are copied at once */

struct log_shape;

/* One is one thread's at a time.  set: words of 4 bytes; NULL: zeros are written.  queue: writes `all` entries, first those of
 * the shape's queue and then zeros; NULL: it is written as all else is.  locked: LOG_CHUNK bytes, page-locked; NULL:
 * what is written has been read when `write` returns. */
struct log_way {
	CUresult (*read)(void *, CUdeviceptr, size_t, CUstream);
	CUresult (*write)(CUdeviceptr, const void *, size_t, CUstream);
	CUresult (*set)(CUdeviceptr, unsigned, size_t, CUstream);
	CUresult (*queue)(CUdeviceptr, uint32_t all, const struct log_shape *, CUstream);
	CUresult (*query)(CUstream);
	CUstream stream;
	unsigned char *locked;
};

/* False, or NULL: a driver call failed. */
const void *log_look(const struct log_way *, CUdeviceptr, size_t bytes);        /* at most LOG_CHUNK; until the next call */
bool log_read(const struct log_way *, void *to, CUdeviceptr, size_t bytes);
bool log_write(const struct log_way *, CUdeviceptr, const void *from, size_t bytes);
bool log_zero(const struct log_way *, CUdeviceptr, size_t bytes);        /* a multiple of 4 */

#endif
