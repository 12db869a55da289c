/* SPDX-License-Identifier: Apache-2.0
 *
 * call.c: the program's call that a thread is in: what has to be asked of the driver for it is asked once.
 */
#include <unistd.h>

#include "rt/drv.h"

_Thread_local int rt_inside;
_Thread_local struct rt_call rt_call;

CUcontext rt_current(void)
{
	CUcontext ctx = NULL;

	if (rt_call.has_context)
		return rt_call.context;
	if (!rt_drv.cuCtxGetCurrent || rt_drv.cuCtxGetCurrent(&ctx) != CUDA_SUCCESS)
		return NULL;
	rt_call.context = ctx;
	rt_call.has_context = rt_call.live;
	return ctx;
}

/* One number a stream: the null stream of a context is 0, that of a thread is the thread's. */
uint64_t rt_stream_key(enum rt_hook which, CUstream s)
{
	const uint64_t v = (uintptr_t)s;

	if (v == 2 || (v == 0 && rt_per_thread(which)))
		return (uint64_t)gettid() << 16 | 2;
	return v == 1 ? 0 : v;
}

/* A launch into a stream that is being captured runs when its graph does. */
bool rt_stream_captured(CUstream s)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	if ((uintptr_t)s <= 1 || !rt_drv.cuStreamIsCapturing)
		return false;
	if (rt_call.has_captured && rt_call.stream == s)
		return rt_call.captured;
	rt_call.stream = s;
	rt_call.captured = rt_drv.cuStreamIsCapturing(s, &status) == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
	rt_call.has_captured = rt_call.live;
	return rt_call.captured;
}
