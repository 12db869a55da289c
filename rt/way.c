/* SPDX-License-Identifier: Apache-2.0
 *
 * way.c: a context of ours, by which the memory that kernels log into can be read while the program's own kernels run
 * (doc/hardware.md 9), and which of that memory is whose (slab.c makes it).
 */
#include <stdlib.h>
#include <string.h>

#include "rt/clear.h"
#include "rt/slab.h"

enum { MAILBOX_BYTES = 4096, LEAST_MEMORY = 1 << 20 };
#define MOST_MEMORY (UINT64_C(8) << 30) /* bytes of logs, by default: */
enum { SHARE = 4 };                     /* at most so large a part of what is free */
enum { CLASSES = 44 };
#define SLAB (UINT64_C(64) << 20)       /* bytes that are asked for at once, at most, if one launch's are less */

static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;          /* inside the locks of ways */

static struct {
	CUdevice device;
	uint64_t lanes;
	CUcontext second;               /* NULL: there is none; with the locks of both ways */
	struct { struct log_way way; pthread_mutex_t lock; CUcontext was; } way[RT_WAYS];
	struct { struct log_way way; pthread_mutex_t lock; } here;
	uint64_t most, have;            /* bytes of logs */
	struct { struct rt_memory *v; size_t n, cap; } spare[CLASSES];  /* of one size each: class_of(); with spare_lock; */
	uint64_t made[CLASSES];         /* and how many there are of it, spare or not */
	struct module_mailbox *mailbox;
	CUdeviceptr mailbox_device, lane_table;
	struct rt_arena arena;          /* of that table */
} dev = {
	.way = {[RT_WAY_DRAIN].lock = PTHREAD_MUTEX_INITIALIZER, [RT_WAY_TAKE].lock = PTHREAD_MUTEX_INITIALIZER},
	.here.lock = PTHREAD_MUTEX_INITIALIZER
};
RT_LIST_LOCK(spare_lock, RT_LOCK);
RT_LIST_LOCK(dev.here.lock, RT_LOCK);
RT_LIST_LOCK(dev.way[RT_WAY_DRAIN].lock, RT_LOCK);
RT_LIST_LOCK(dev.way[RT_WAY_TAKE].lock, RT_LOCK);

static CUresult is_done(CUstream s)
{
	(void)s;
	return CUDA_SUCCESS;
}

/* ---- memory for logs ------------------------------------------------------------------------------ */

const struct log_way *rt_way_begin(enum rt_way w)
{
	pthread_mutex_lock(&dev.way[w].lock);
	rt_inside++;
	dev.way[w].was = NULL;
	if (dev.second && rt_drv.cuCtxGetCurrent(&dev.way[w].was) == CUDA_SUCCESS && rt_drv.cuCtxSetCurrent(dev.second) == CUDA_SUCCESS)
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

const struct log_way *rt_way_here(CUcontext ctx)
{
	const CUstream stream = rt_ctx_stream(ctx);

	pthread_mutex_lock(&dev.here.lock);
	dev.here.way.stream = stream;
	if (stream && dev.second) {
		rt_inside++;
		return &dev.here.way;
	}
	pthread_mutex_unlock(&dev.here.lock);
	return NULL;
}

void rt_way_leave(void)
{
	rt_inside--;
	pthread_mutex_unlock(&dev.here.lock);
}

struct log_way rt_way_in_stream(enum rt_hook which, CUstream s)
{
	return (struct log_way){
		.write = rt_per_thread(which) ? rt_clear_write_ptsz : rt_clear_write,
		.queue = rt_per_thread(which) ? rt_clear_queue_ptsz : rt_clear_queue, .query = is_done, .stream = s
	};
}

const struct log_way *rt_way_to_drain(void)
{
	return &dev.way[RT_WAY_DRAIN].way;
}

uint64_t rt_lanes(void)
{
	return dev.lanes;
}

static unsigned class_of(uint64_t n)
{
	unsigned class = 0;

	while ((uint64_t)LEAST_MEMORY << class < n)
		class++;
	return class;
}

/* The least one that will do.  All of a class are as large as it can be, but one that has all that there is. */
bool rt_memory_spare(uint64_t bytes, struct rt_memory *m)
{
	bool got = false;

	pthread_mutex_lock(&spare_lock);
	for (unsigned i = class_of(bytes); i < CLASSES && !got; i++) {
		const size_t n = dev.spare[i].n;

		got = n && dev.spare[i].v[n - 1].bytes >= bytes;
		if (got) {
			*m = dev.spare[i].v[--dev.spare[i].n];
			m->slab->spare--;
		}
	}
	pthread_mutex_unlock(&spare_lock);
	return got;
}

/* Slabs of which all is spare.  gone: with all memory of the device. */
static void free_spares(bool gone)
{
	pthread_mutex_lock(&spare_lock);
	for (unsigned i = 0; i < CLASSES; i++) {
		size_t n = 0;

		for (size_t k = 0; k < dev.spare[i].n; k++) {
			const struct rt_memory m = dev.spare[i].v[k];
			struct rt_slab *s = m.slab;

			s->goes |= gone || s->spare == s->n;
			if (!s->goes) {
				dev.spare[i].v[n++] = m;
				continue;
			}
			if (m.at == s->at && (!gone || s->fd >= 0))
				rt_slab_give_back(s);
			dev.have -= m.bytes;
			dev.made[i]--;
			if (!--s->spare)
				rt_slab_free(s);
		}
		dev.spare[i].n = n;
	}
	pthread_mutex_unlock(&spare_lock);
}

static struct rt_slab *make_slab(const struct log_way *w, uint64_t size, unsigned n)
{
	struct rt_slab *s = rt_slab_make(dev.device, n * size, n);

	if (!s || log_zero(w, s->at, s->bytes))
		return s;
	rt_slab_give_back(s);
	rt_slab_free(s);
	return NULL;
}

/* As many as there are, so that a program which launches a lot at once seldom waits for the driver. */
static unsigned slab_size(uint64_t bytes)
{
	const uint64_t have = dev.made[class_of(bytes)], most = SLAB / bytes, n = have < most ? have : most;

	return n && dev.have + n * bytes <= dev.most ? (unsigned)n : 1;
}

uint64_t rt_memory_most(void)
{
	return dev.most;
}

bool rt_memory_get(const struct log_way *w, uint64_t bytes, bool frees, struct rt_memory *m)
{
	uint64_t size = (uint64_t)LEAST_MEMORY << class_of(bytes);
	struct rt_slab *s;

	if (rt_memory_spare(bytes, m))
		return true;
	if (dev.have + size > dev.most && frees)
		free_spares(false);
	if (dev.have + size > dev.most && frees && !dev.have && bytes <= dev.most)
		size = bytes;
	if (dev.have + size > dev.most)
		return false;
	s = make_slab(w, size, slab_size(size));
	if (!s)
		s = make_slab(w, size, 1);
	if (!s)
		return false;
	dev.have += s->bytes;
	dev.made[class_of(size)] += s->n;
	*m = (struct rt_memory){.at = s->at, .bytes = size, .slab = s};
	for (unsigned i = 1; i < s->n; i++)
		rt_memory_put(&(struct rt_memory){.at = s->at + i * size, .bytes = size, .slab = s});
	return true;
}

void rt_memory_put(const struct rt_memory *m)
{
	const unsigned i = class_of(m->bytes);

	pthread_mutex_lock(&spare_lock);
	dev.spare[i].v = rt_grow(dev.spare[i].v, &dev.spare[i].cap, dev.spare[i].n + 1, sizeof *m);
	dev.spare[i].v[dev.spare[i].n++] = *m;
	m->slab->spare++;
	pthread_mutex_unlock(&spare_lock);
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

/* But for its stream. */
static bool make_here(struct log_way *w)
{
	void *locked = NULL;

	*w = (struct log_way){
		.read = rt_drv.cuMemcpyDtoHAsync, .write = rt_drv.cuMemcpyHtoDAsync, .set = REAL(cuMemsetD32Async, RT_cuMemsetD32Async),
		.query = REAL(CUresult(CUstream), RT_cuStreamQuery)
	};
	if (REAL(cuMemHostAlloc, RT_cuMemHostAlloc)(&locked, LOG_CHUNK, CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS)
		return false;
	w->locked = locked;
	return true;
}

static bool make_way(struct log_way *w)
{
	return make_here(w) && rt_drv.cuStreamCreate(&w->stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
}

/* What the second context owns; it is current. */
static const char *set_up_second(void)
{
	const size_t table = (size_t)attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) * REGION_WARPS * EVENT_LANES *
			     sizeof(struct region_lane);
	size_t left = 0, total;
	void *mailbox = NULL;
	bool ways = make_here(&dev.here.way);

	for (int i = 0; i < RT_WAYS; i++)
		ways = ways && make_way(&dev.way[i].way);
	if (!ways)
		return "the driver gives no memory or no stream to read logs by";
	if (REAL(cuMemHostAlloc, RT_cuMemHostAlloc)(&mailbox, MAILBOX_BYTES, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP) !=
	    CUDA_SUCCESS || rt_drv.cuMemHostGetDevicePointer(&dev.mailbox_device, mailbox, 0) != CUDA_SUCCESS)
		return "the driver maps no host memory into the device";
	dev.mailbox = mailbox;
	dev.lane_table = rt_arena_take(&dev.arena, dev.device, table);
	if (!dev.lane_table ||
	    rt_drv.cuMemGetInfo(&left, &total) != CUDA_SUCCESS)
		return "the device has no memory for logs";
	dev.have = 0;
	dev.most = rt_flags.log_mb ? (uint64_t)rt_flags.log_mb << 20 : left / SHARE < MOST_MEMORY ? left / SHARE : MOST_MEMORY;
	return NULL;
}

void rt_way_forget(void)
{
	dev.second = NULL;
}

/* Whoever is on a way has left it. */
static void set_second(CUcontext to)
{
	for (int i = 0; i < RT_WAYS; i++)
		pthread_mutex_lock(&dev.way[i].lock);
	pthread_mutex_lock(&dev.here.lock);
	dev.second = to;
	pthread_mutex_unlock(&dev.here.lock);
	for (int i = RT_WAYS; i-- > 0;)
		pthread_mutex_unlock(&dev.way[i].lock);
}

bool rt_way_set_up(CUdevice device, const char **why)
{
	CUcontext second;

	dev.device = device;
	dev.lanes = (uint64_t)attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) *
		    (uint64_t)attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
	*why = "the driver makes no second context, by which logs are read";
	if (!rt_drv.cuCtxCreate_v2 || !rt_drv.cuCtxPopCurrent || rt_drv.cuCtxCreate_v2(&second, 0, device) != CUDA_SUCCESS)
		return false;
	*why = set_up_second();
	rt_drv.cuCtxPopCurrent(&second);        /* the program's contexts are as they were */
	if (*why) {
		rt_arena_free(&dev.arena, true);
		REAL(cuCtxDestroy_v2, RT_cuCtxDestroy_v2)(second);
		return false;
	}
	set_second(second);
	rt_verbose(1, "logs take %llu MiB at most", (unsigned long long)(dev.most >> 20));
	return true;
}

void rt_way_tear_down(void)
{
	const CUcontext second = dev.second;

	set_second(NULL);
	REAL(cuCtxDestroy_v2, RT_cuCtxDestroy_v2)(second);
	rt_arena_free(&dev.arena, true);
	free_spares(true);
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
