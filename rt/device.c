/* SPDX-License-Identifier: Apache-2.0
 *
 * device.c: the device that is watched, the first one that is used, and its contexts.
 */
#include <stdio.h>
#include <string.h>

#include "rt/drv.h"

static struct {
	int state;                      /* 1: ready; -1: off; atomic */
	char off[256];
	CUdevice device;
	struct rt_ctx *ctx, *foreign;
} dev;

static _Thread_local CUstreamCaptureMode capture_mode;

static void turn_off(const char *why)
{
	snprintf(dev.off, sizeof dev.off, "%s", why);
	__atomic_store_n(&dev.state, -1, __ATOMIC_RELEASE);
	rt_say("this process is not watched: %s", why);
}

static bool set_up(void)
{
	const char *why = NULL;

	if (!rt_way_set_up(dev.device, &why)) {
		turn_off(why);
		return false;
	}
	*dev.off = '\0';
	__atomic_store_n(&dev.state, 1, __ATOMIC_RELEASE);
	rt_watch_start();
	rt_exit_soon(false);
	return true;
}

static struct rt_ctx *find(struct rt_ctx *list, CUcontext ctx)
{
	for (; list; list = list->next)
		if (list->ctx == ctx)
			return list;
	return NULL;
}

/* What keeps the first context from being set up: it is tried again, and if that never helps, the closing line says
 * why. */
static void trouble(const char *why)
{
	if (dev.state == 0)
		snprintf(dev.off, sizeof dev.off, "%s", why);
}

/* A context not seen before, which is current. */
static struct rt_ctx *adopt(CUcontext ctx)
{
	struct rt_ctx *c;
	CUdevice d;

	if (find(dev.foreign, ctx))
		return NULL;
	if (rt_drv.cuCtxGetDevice(&d) != CUDA_SUCCESS) {
		trouble("the driver does not say which device a context is of");
		return NULL;
	}
	c = rt_alloc(sizeof *c);
	c->ctx = ctx;
	if (dev.state == 1 && d != dev.device) {
		c->next = dev.foreign;
		dev.foreign = c;
		rt_say("device %d is not watched, only device %d is", d, dev.device);
		return NULL;
	}
	dev.device = d;
	if (!rt_ok(c, rt_drv.cuStreamCreate(&c->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate")) {
		trouble("the driver makes no stream for the runtime");
		rt_free(c);
		return NULL;
	}
	if (dev.state == 0 && !set_up()) {
		rt_free(c);
		return NULL;
	}
	c->next = dev.ctx;
	dev.ctx = c;
	return c;
}

static struct rt_ctx *begin(CUcontext ctx)
{
	struct rt_ctx *c;

	pthread_mutex_lock(&rt_dev_lock);
	rt_inside++;
	capture_mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	rt_drv.cuThreadExchangeStreamCaptureMode(&capture_mode);
	c = find(dev.ctx, ctx);
	if (!c && dev.state >= 0)
		c = adopt(ctx);
	if (c && !c->sick)
		return c;
	rt_dev_end();
	return NULL;
}

struct rt_ctx *rt_dev_begin(void)
{
	CUcontext ctx = NULL;

	if (!rt_drv_load() || __atomic_load_n(&dev.state, __ATOMIC_ACQUIRE) < 0)
		return NULL;
	if (rt_drv_lacks()) {
		char why[128];

		snprintf(why, sizeof why, "the driver is too old: it has no %s", rt_drv_lacks());
		pthread_mutex_lock(&rt_dev_lock);
		if (!dev.state)
			turn_off(why);
		pthread_mutex_unlock(&rt_dev_lock);
		return NULL;
	}
	if (rt_drv.cuCtxGetCurrent(&ctx) != CUDA_SUCCESS) {
		pthread_mutex_lock(&rt_dev_lock);
		trouble("the driver does not say which context is current");
		pthread_mutex_unlock(&rt_dev_lock);
		return NULL;
	}
	return ctx ? begin(ctx) : NULL;
}

void rt_dev_end(void)
{
	rt_drv.cuThreadExchangeStreamCaptureMode(&capture_mode);
	rt_inside--;
	pthread_mutex_unlock(&rt_dev_lock);
}

const char *rt_dev_off(void)
{
	return __atomic_load_n(&dev.state, __ATOMIC_ACQUIRE) != 1 && *dev.off ? dev.off : NULL;
}

bool rt_dev_ready(void)
{
	return __atomic_load_n(&dev.state, __ATOMIC_ACQUIRE) == 1;
}

struct rt_ctx *rt_contexts(void)
{
	return dev.ctx;
}

CUdevice rt_device(void)
{
	return dev.device;
}

static bool drop(struct rt_ctx **list, CUcontext ctx)
{
	for (; *list; list = &(*list)->next) {
		if ((*list)->ctx == ctx) {
			struct rt_ctx *c = *list;

			*list = c->next;
			rt_free(c);
			return true;
		}
	}
	return false;
}

bool rt_ctx_ends(CUcontext ctx, bool teardown)
{
	bool torn_down = false;

	pthread_mutex_lock(&rt_dev_lock);
	rt_inside++;
	if (!drop(&dev.foreign, ctx) && drop(&dev.ctx, ctx) && !dev.ctx && dev.state == 1 && teardown) {
		__atomic_store_n(&dev.state, 0, __ATOMIC_RELEASE);
		rt_way_tear_down();
		torn_down = true;
	}
	rt_inside--;
	pthread_mutex_unlock(&rt_dev_lock);
	return torn_down;
}

bool rt_ctx_known(CUcontext ctx)
{
	bool known;

	pthread_mutex_lock(&rt_dev_lock);
	known = find(dev.ctx, ctx) != NULL;
	pthread_mutex_unlock(&rt_dev_lock);
	return known;
}

CUstream rt_ctx_stream(CUcontext ctx)
{
	const struct rt_ctx *c;
	CUstream s;

	pthread_mutex_lock(&rt_dev_lock);
	c = find(dev.ctx, ctx);
	s = c ? c->stream : NULL;
	pthread_mutex_unlock(&rt_dev_lock);
	return s;
}
