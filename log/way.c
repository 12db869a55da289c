/* SPDX-License-Identifier: Apache-2.0
 *
 * way.c: copies in portions.
 */
#include <string.h>
#include <time.h>

#include "log/way.h"

enum { LOOKS = 16, PAUSE_NS = 2000 };   /* so often without a pause: each look takes a lock of the driver's that others want */

static bool is_done(const struct log_way *w, CUresult r)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};

	for (unsigned looks = 0; !r && (r = w->query(w->stream)) == CUDA_ERROR_NOT_READY; looks++) {
		r = CUDA_SUCCESS;
		if (looks >= LOOKS)
			nanosleep(&pause, NULL);
	}
	return !r;
}

static size_t portion(size_t bytes)
{
	return bytes < LOG_CHUNK ? bytes : LOG_CHUNK;
}

const void *log_look(const struct log_way *w, CUdeviceptr at, size_t bytes)
{
	return is_done(w, w->read(w->locked, at, bytes, w->stream)) ? w->locked : NULL;
}

bool log_read(const struct log_way *w, void *to, CUdeviceptr at, size_t bytes)
{
	for (size_t n; bytes; to = (char *)to + n, at += n, bytes -= n) {
		n = portion(bytes);
		if (!log_look(w, at, n))
			return false;
		memcpy(to, w->locked, n);
	}
	return true;
}

bool log_write(const struct log_way *w, CUdeviceptr at, const void *from, size_t bytes)
{
	if (!w->locked)
		return is_done(w, w->write(at, from, bytes, w->stream));
	for (size_t n; bytes; from = (const char *)from + n, at += n, bytes -= n) {
		n = portion(bytes);
		memcpy(w->locked, from, n);
		if (!is_done(w, w->write(at, w->locked, n, w->stream)))
			return false;
	}
	return true;
}

bool log_zero(const struct log_way *w, CUdeviceptr at, size_t bytes)
{
	if (w->set)
		return is_done(w, w->set(at, 0, bytes / sizeof(uint32_t), w->stream));
	memset(w->locked, 0, portion(bytes));
	for (size_t n; bytes; at += n, bytes -= n) {
		n = portion(bytes);
		if (!is_done(w, w->write(at, w->locked, n, w->stream)))
			return false;
	}
	return true;
}
