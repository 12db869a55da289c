/* SPDX-License-Identifier: Apache-2.0
 *
 * wait.c: threads of ours, and waiting for a context, but not for ever.
 */
#include <signal.h>
#include <time.h>

#include "rt/drv.h"

static bool still_running;      /* atomic */
static CUcontext stuck;         /* there; set before; atomic */

/* A thread of ours takes no signal of the program's. */
bool rt_thread(void *(*fn)(void *), void *arg)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&thread, &attr, fn, arg);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r == 0;
}

/* Shared with a thread that may outlive the wait, and so never freed; chained, so
 * that who looks for lost memory in the program finds none of ours. */
struct wait {
	struct wait *next;
	pthread_mutex_t lock;
	pthread_cond_t done;
	CUcontext ctx;
	CUresult result;
	bool ended;
};

static struct wait *waits;

static void *wait_for(void *arg)
{
	struct wait *w = arg;
	CUresult r;

	rt_inside++;
	r = rt_drv.cuCtxSetCurrent(w->ctx);
	if (r == CUDA_SUCCESS)
		r = REAL(CUresult(void), RT_cuCtxSynchronize)();
	pthread_mutex_lock(&w->lock);
	w->result = r;
	w->ended = true;
	pthread_cond_signal(&w->done);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

CUresult rt_wait_all(CUcontext ctx, int timeout_ms)
{
	struct wait *w;
	struct timespec until;
	pthread_condattr_t attr;
	bool ended;

	if (rt_still_running())
		return CUDA_ERROR_NOT_READY;
	w = rt_alloc(sizeof *w);
	w->ctx = ctx;
	w->next = __atomic_exchange_n(&waits, w, __ATOMIC_ACQ_REL);
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->done, &attr);
	pthread_condattr_destroy(&attr);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += timeout_ms % 1000 * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	if (!rt_thread(wait_for, w))
		return CUDA_ERROR_NOT_READY;
	pthread_mutex_lock(&w->lock);
	while (!w->ended && pthread_cond_timedwait(&w->done, &w->lock, &until) == 0)
		;
	ended = w->ended;
	pthread_mutex_unlock(&w->lock);
	if (!ended) {
		__atomic_store_n(&stuck, ctx, __ATOMIC_RELAXED);
		__atomic_store_n(&still_running, true, __ATOMIC_RELEASE);
		return CUDA_ERROR_NOT_READY;
	}
	return w->result;
}

bool rt_still_running(void)
{
	return __atomic_load_n(&still_running, __ATOMIC_ACQUIRE);
}

void rt_wait_forget(CUcontext ctx)
{
	if (rt_still_running() && __atomic_load_n(&stuck, __ATOMIC_RELAXED) == ctx)
		__atomic_store_n(&still_running, false, __ATOMIC_RELEASE);
}
