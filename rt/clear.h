/* SPDX-License-Identifier: Apache-2.0
 *
 * clear.h: the screen (detect/screen.h) on the device; one thread's at a time.
 *
 * All that it needs there is made once for a context of the program's, by rt_clear_begin(), and lasts as long as that.
 * Launches of another context are left to the host.
 */
#ifndef RT_CLEAR_H
#define RT_CLEAR_H

#include "detect/screen.h"
#include "rt/clear_start.h"
#include "rt/judge.h"

enum { RT_CLEAR_BATCH = 64 };   /* launches that are looked at together, at most */

/* A launch that is over, of which nothing was emptied while it ran.  dynamic: bytes of its dynamic shared memory; log.unit:
 * its region, on the device; places and maps: the host's, and `maps` the caller's to free. */
struct rt_question {
	struct rt_launch *launch;
	struct screen_log log;
	uint32_t dynamic;
	uint64_t memory;                /* a number for what the blocks of `places` are, not 0: of all that are asked together one */
	struct screen_places places;
	struct screen_maps maps;
	enum rt_clear answer;
	uint32_t why[SCREEN_WHYS];      /* it is not clear; and what is against its blocks, so many of them: screen_note(), or 0; */
	uint64_t *note;                 /* the caller's to free */
	uint32_t notes;
};

/* The context is current, and nothing of it that is watched runs yet: loading kernels may wait for those that run. */
void rt_clear_begin(CUcontext);
/* Writes what a region begins with, REGION_PLACES units, by a kernel in a stream of such a context, as log_way.write: a copy to
 * memory of another context changes contexts (doc/hardware.md 17).  Any thread's. */
bool rt_clear_can_write(CUcontext);
CUresult rt_clear_write(CUdeviceptr, const void *, size_t, CUstream);
CUresult rt_clear_write_ptsz(CUdeviceptr, const void *, size_t, CUstream);
/* In the same way, as log_way.queue. */
CUresult rt_clear_queue(CUdeviceptr, uint32_t all, const struct log_shape *, CUstream);
CUresult rt_clear_queue_ptsz(CUdeviceptr, uint32_t all, const struct log_shape *, CUstream);
/* What the logs begin with.  False: the device cannot be asked. */
bool rt_clear_starts(CUcontext, struct rt_launch *const *, uint32_t n, struct clear_start *);
/* Are they clear?  UNASKED: that cannot be asked.  empties: the region of one that is clear becomes zero, but for its queue
 * and what log_prepare() writes. */
void rt_clear_ask(CUcontext, struct rt_question *, uint32_t n, bool empties);
/* The device has not done in time what the last call asked: it may still read those regions. */
bool rt_clear_missed(void);
/* The context ends.  True: it was the one that is asked. */
bool rt_clear_forget(CUcontext);

#endif
