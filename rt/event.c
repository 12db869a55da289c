/* SPDX-License-Identifier: Apache-2.0
 *
 * event.c: events behind launches, which are used again.
 */
#include "rt/judge.h"

/* Events that nothing is recorded by any more, of one context. */
static struct { pthread_mutex_t lock; CUcontext ctx; CUevent *v; size_t n, cap; } idle = {.lock = PTHREAD_MUTEX_INITIALIZER};
RT_LIST_LOCK(idle.lock, RT_LOCK_WHOLE);

static CUevent event_of(CUcontext ctx)
{
	CUevent e = NULL;

	pthread_mutex_lock(&idle.lock);
	if (idle.ctx == ctx && idle.n)
		e = idle.v[--idle.n];
	pthread_mutex_unlock(&idle.lock);
	if (e)
		return e;
	if (!rt_drv.cuEventCreate || !rt_drv.cuEventDestroy || rt_drv.cuEventCreate(&e, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
		return NULL;
	return e;
}

bool rt_event_over(CUcontext ctx, CUevent e)
{
	CUcontext was;
	CUresult r;

	if (rt_drv.cuCtxGetCurrent(&was) != CUDA_SUCCESS || rt_drv.cuCtxSetCurrent(ctx) != CUDA_SUCCESS)
		return false;
	r = REAL(cuEventQuery, RT_cuEventQuery)(e);
	rt_drv.cuCtxSetCurrent(was);
	return r == CUDA_SUCCESS;
}

void rt_event_leave(CUcontext ctx, CUevent e)
{
	bool kept;

	pthread_mutex_lock(&idle.lock);
	if (!idle.n)
		idle.ctx = ctx;
	kept = idle.ctx == ctx;
	if (kept) {
		idle.v = rt_grow(idle.v, &idle.cap, idle.n + 1, sizeof *idle.v);
		idle.v[idle.n++] = e;
	}
	pthread_mutex_unlock(&idle.lock);
	if (!kept)
		rt_drv.cuEventDestroy(e);
}

void rt_event_record(struct rt_launch *l, enum rt_hook which, CUstream s)
{
	CUevent e = event_of(l->ctx);

	if (!e)
		return;
	if (REAL(cuEventRecord, rt_per_thread(which) ? RT_cuEventRecord_ptsz : RT_cuEventRecord)(e, s) == CUDA_SUCCESS)
		__atomic_store_n(&l->behind, e, __ATOMIC_RELEASE);
	else
		rt_drv.cuEventDestroy(e);
}

void rt_events_forget(CUcontext ctx)
{
	pthread_mutex_lock(&idle.lock);
	if (idle.ctx == ctx)
		idle.n = 0;
	pthread_mutex_unlock(&idle.lock);
}
