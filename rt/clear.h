/* SPDX-License-Identifier: Apache-2.0
 *
 * clear.h: the screen (detect/screen.h) on the device, with RT_WAY_TAKE.
 */
#ifndef RT_CLEAR_H
#define RT_CLEAR_H

#include "detect/screen.h"
#include "rt/judge.h"

/* A launch that is over, of which nothing is lost or was emptied.  log.unit: its region, on the device; dynamic: bytes of its
 * dynamic shared memory; places and maps: the host's. */
struct rt_question {
	const struct rt_launch *launch;
	struct screen_log log;
	uint32_t dynamic;
	struct screen_places places;
	struct screen_maps maps;
};
/* Is it clear?  UNASKED: the device cannot be asked that. */
enum rt_clear { RT_CLEAR, RT_CLEAR_NOT, RT_CLEAR_UNASKED };
enum rt_clear rt_clear(const struct log_way *, const struct rt_question *);
/* Makes the units of a log zero.  False: not that way. */
bool rt_clear_empty(const struct log_way *, CUdeviceptr, uint64_t bytes);
/* The context that owns logs is gone. */
void rt_clear_forget(void);

#endif
