/* SPDX-License-Identifier: Apache-2.0
 *
 * device.c: the device that is watched, the first that is used: its contexts, and one of ours, which owns the memory
 * that kernels log into, so that it can be read while the program's own kernels run (doc/hardware.md 9).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/judge.h"

enum { MAILBOX_BYTES = 4096, LEAST_MEMORY = 1 << 20 };
#define MOST_MEMORY (UINT64_C(8) << 30) /* bytes of logs, by default: */
enum { SHARE = 4 };                     /* at most so large a part of what is free */

static struct {
	int state;                      /* 1: ready; -1: off; atomic */
	char off[256];
	CUdevice device;
	uint64_t lanes;
	struct rt_ctx *ctx, *foreign;
	CUcontext second;
	struct { struct log_way way; pthread_mutex_t lock; CUcontext was; } way[RT_WAYS];
	uint64_t most, have;            /* bytes of logs */
	struct rt_memory *spare;
	size_t nspare, spare_cap;
	struct module_mailbox *mailbox;
	CUdeviceptr mailbox_device, lane_table;
} dev;

static _Thread_local CUstreamCaptureMode capture_mode;

/* ---- memory for logs ------------------------------------------------------------------------------ */

const struct log_way *rt_way_begin(enum rt_way w)
{
	pthread_mutex_lock(&dev.way[w].lock);
	rt_inside++;
	if (rt_drv.cuCtxGetCurrent(&dev.way[w].was) == CUDA_SUCCESS && rt_drv.cuCtxSetCurrent(dev.second) == CUDA_SUCCESS)
		return &dev.way[w].way;
	rt_inside--;
	pthread_mutex_unlock(&dev.way[w].lock);
	return NULL;
}

void rt_way_end(enum rt_way w)
{
	rt_drv.cuCtxSetCurrent(dev.way[w].was);
	rt_inside--;
	pthread_mutex_unlock(&dev.way[w].lock);
}

uint64_t rt_lanes(void)
{
	return dev.lanes;
}

static uint64_t round_up(uint64_t n)
{
	uint64_t size = LEAST_MEMORY;

	while (size < n)
		size *= 2;
	return size;
}

/* The least one that will do. */
static bool take_spare(uint64_t bytes, struct rt_memory *m)
{
	size_t best = dev.nspare;

	for (size_t i = 0; i < dev.nspare; i++)
		if (dev.spare[i].bytes >= bytes && (best == dev.nspare || dev.spare[i].bytes < dev.spare[best].bytes))
			best = i;
	if (best == dev.nspare)
		return false;
	*m = dev.spare[best];
	dev.spare[best] = dev.spare[--dev.nspare];
	return true;
}

static void free_spares(void)
{
	for (size_t i = 0; i < dev.nspare; i++) {
		REAL(cuMemFree_v2, RT_cuMemFree_v2)(dev.spare[i].at);
		dev.have -= dev.spare[i].bytes;
	}
	dev.nspare = 0;
}

bool rt_memory_get(const struct log_way *w, uint64_t bytes, struct rt_memory *m)
{
	uint64_t size = round_up(bytes);

	if (take_spare(bytes, m))
		return true;
	if (dev.have + size > dev.most)
		free_spares();
	if (dev.have + size > dev.most && !dev.have && bytes <= dev.most)
		size = bytes;
	if (dev.have + size > dev.most || REAL(cuMemAlloc_v2, RT_cuMemAlloc_v2)(&m->at, size) != CUDA_SUCCESS)
		return false;
	m->bytes = size;
	if (!log_zero(w, m->at, size)) {
		REAL(cuMemFree_v2, RT_cuMemFree_v2)(m->at);
		return false;
	}
	dev.have += size;
	return true;
}

void rt_memory_put(const struct rt_memory *m)
{
	dev.spare = rt_grow(dev.spare, &dev.spare_cap, dev.nspare + 1, sizeof *dev.spare);
	dev.spare[dev.nspare++] = *m;
}

void rt_memory_lose(const struct rt_memory *m)
{
	(void)m;                        /* still written to: it stays what it is */
}

/* ---- set-up ------------------------------------------------------------------------------------------ */

static int attribute(CUdevice_attribute which)
{
	int value = 0;

	return rt_drv.cuDeviceGetAttribute(&value, which, dev.device) == CUDA_SUCCESS ? value : 0;
}

static void turn_off(const char *why)
{
	snprintf(dev.off, sizeof dev.off, "%s", why);
	__atomic_store_n(&dev.state, -1, __ATOMIC_RELEASE);
	rt_say("this process is not watched: %s", why);
}

static bool make_way(struct log_way *w)
{
	void *locked = NULL;

	*w = (struct log_way){.read = rt_drv.cuMemcpyDtoHAsync, .write = rt_drv.cuMemcpyHtoDAsync, .query = REAL(CUresult(CUstream), RT_cuStreamQuery)};
	if (rt_drv.cuStreamCreate(&w->stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS ||
	    REAL(cuMemHostAlloc, RT_cuMemHostAlloc)(&locked, LOG_CHUNK, CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS)
		return false;
	w->locked = locked;
	return true;
}

/* What the second context owns; it is current. */
static const char *set_up_second(void)
{
	const size_t table = (size_t)attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) * REGION_WARPS * EVENT_LANES *
			     sizeof(struct region_lane);
	size_t left = 0, total;
	void *mailbox = NULL;

	for (int i = 0; i < RT_WAYS; i++) {
		pthread_mutex_init(&dev.way[i].lock, NULL);
		if (!make_way(&dev.way[i].way))
			return "the driver gives no memory or no stream to read logs by";
	}
	if (REAL(cuMemHostAlloc, RT_cuMemHostAlloc)(&mailbox, MAILBOX_BYTES, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP) !=
	    CUDA_SUCCESS || rt_drv.cuMemHostGetDevicePointer(&dev.mailbox_device, mailbox, 0) != CUDA_SUCCESS)
		return "the driver maps no host memory into the device";
	dev.mailbox = mailbox;
	if (REAL(cuMemAlloc_v2, RT_cuMemAlloc_v2)(&dev.lane_table, table) != CUDA_SUCCESS ||
	    rt_drv.cuMemGetInfo(&left, &total) != CUDA_SUCCESS)
		return "the device has no memory for logs";
	dev.have = 0;
	dev.most = rt_flags.log_mb ? (uint64_t)rt_flags.log_mb << 20 : left / SHARE < MOST_MEMORY ? left / SHARE : MOST_MEMORY;
	return NULL;
}

static bool set_up(CUcontext ctx)
{
	const char *why = "the driver makes no second context, by which logs are read";

	dev.lanes = (uint64_t)attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) *
		    (uint64_t)attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
	if (rt_drv.cuCtxCreate_v2(&dev.second, 0, dev.device) == CUDA_SUCCESS) {
		why = set_up_second();
		rt_drv.cuCtxSetCurrent(ctx);
		if (why)
			REAL(cuCtxDestroy_v2, RT_cuCtxDestroy_v2)(dev.second);
	}
	if (why) {
		turn_off(why);
		return false;
	}
	*dev.off = '\0';
	__atomic_store_n(&dev.state, 1, __ATOMIC_RELEASE);
	rt_verbose(1, "logs take %llu MiB at most", (unsigned long long)(dev.most >> 20));
	rt_watch_start();
	rt_exit_soon(false);
	return true;
}

/* ---- contexts ------------------------------------------------------------------------------------------ */

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
	if (dev.state == 0 && !set_up(ctx)) {
		rt_free(c);
		return NULL;
	}
	c->next = dev.ctx;
	dev.ctx = c;
	return c;
}

static struct rt_ctx *begin(CUcontext ctx, bool known)
{
	struct rt_ctx *c;

	pthread_mutex_lock(&rt_dev_lock);
	rt_inside++;
	capture_mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	rt_drv.cuThreadExchangeStreamCaptureMode(&capture_mode);
	c = find(dev.ctx, ctx);
	if (!c && !known && dev.state >= 0)
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
	return ctx ? begin(ctx, false) : NULL;
}

struct rt_ctx *rt_dev_begin_known(CUcontext ctx)
{
	return rt_dev_ready() ? begin(ctx, true) : NULL;
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

void *rt_mailbox(CUdeviceptr *device)
{
	*device = dev.mailbox_device;
	return dev.mailbox;
}

CUdeviceptr rt_lane_table(void)
{
	return dev.lane_table;
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
		REAL(cuCtxDestroy_v2, RT_cuCtxDestroy_v2)(dev.second);
		dev.nspare = 0;
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

/* Nothing lies beside the program's memory. */
bool rt_back_range(struct rt_ctx *c, uint64_t addr, uint64_t bytes)
{
	return c && addr && bytes;
}

void rt_unback_range(uint64_t addr, uint64_t bytes)
{
	(void)addr;
	(void)bytes;
}
