/* SPDX-License-Identifier: Apache-2.0
 *
 * slab.c: memory of gsan's on the device.  A descriptor of it is taken at once, since no call succeeds behind a fault: it keeps
 * the memory when the contexts of the process have ended (doc/hardware.md 19).  It has ranges of addresses of its own, so that
 * an access to a small piece that was freed, or behind its end, does not change it.
 */
#include <fcntl.h>
#include <unistd.h>

#include "rt/drv.h"
#include "rt/slab.h"

#define ARENA_BYTES (UINT64_C(4) << 20) /* what takes less than a quarter shares a slab with others */
#define ARENA_ALIGN 512                 /* as cuMemAlloc aligns */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
RT_LIST_LOCK(lock, RT_LOCK_WHOLE);
static struct rt_slab *slabs;

static bool can_share(CUdevice device)
{
	int yes = 0;

	return rt_drv.cuMemCreate && rt_drv.cuMemRelease && rt_drv.cuMemAddressReserve && rt_drv.cuMemAddressFree && rt_drv.cuMemSetAccess &&
	       rt_drv.cuMemGetAllocationGranularity && rt_drv.cuMemExportToShareableHandle &&
	       rt_drv.cuDeviceGetAttribute(&yes, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, device) == CUDA_SUCCESS && yes;
}

static CUmemAllocationProp props(CUdevice device)
{
	return (CUmemAllocationProp){
		.type = CU_MEM_ALLOCATION_TYPE_PINNED, .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}
	};
}

static void unmap(struct rt_slab *s)
{
	REAL(cuMemUnmap, RT_cuMemUnmap)(s->at, s->mapped);
	rt_drv.cuMemAddressFree(s->at, s->mapped);
}

/* At an address of its own. */
static bool map(CUdevice device, struct rt_slab *s)
{
	const CUmemAccessDesc access = {
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE
	};

	if (rt_drv.cuMemAddressReserve(&s->at, s->mapped, 0, 0, 0) != CUDA_SUCCESS)
		return false;
	if (REAL(cuMemMap, RT_cuMemMap)(s->at, s->mapped, 0, s->handle, 0) != CUDA_SUCCESS) {
		rt_drv.cuMemAddressFree(s->at, s->mapped);
		return false;
	}
	if (rt_drv.cuMemSetAccess(s->at, s->mapped, &access, 1) == CUDA_SUCCESS)
		return true;
	unmap(s);
	return false;
}

static bool make_shared(CUdevice device, struct rt_slab *s)
{
	const CUmemAllocationProp of = props(device);
	size_t page = 0;

	if (!can_share(device) || rt_drv.cuMemGetAllocationGranularity(&page, &of, CU_MEM_ALLOC_GRANULARITY_MINIMUM) != CUDA_SUCCESS || !page)
		return false;
	s->mapped = (s->bytes + page - 1) / page * page;
	if (rt_drv.cuMemCreate(&s->handle, s->mapped, &of, 0) != CUDA_SUCCESS)
		return false;
	if (rt_drv.cuMemExportToShareableHandle(&s->fd, s->handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) == CUDA_SUCCESS) {
		fcntl(s->fd, F_SETFD, FD_CLOEXEC);
		if (s->fd > STDERR_FILENO && map(device, s))
			return true;
		close(s->fd);
	}
	rt_drv.cuMemRelease(s->handle);
	s->fd = -1;
	return false;
}

struct rt_slab *rt_slab_make(CUdevice device, uint64_t bytes, unsigned n)
{
	struct rt_slab new = {.bytes = bytes, .n = n, .fd = -1}, *s;

	if (!make_shared(device, &new) && REAL(cuMemAlloc_v2, RT_cuMemAlloc_v2)(&new.at, bytes) != CUDA_SUCCESS)
		return NULL;
	s = rt_alloc(sizeof *s);
	pthread_mutex_lock(&lock);
	new.next = slabs;
	*s = new;
	slabs = s;
	pthread_mutex_unlock(&lock);
	return s;
}

void rt_slab_give_back(struct rt_slab *s)
{
	pthread_mutex_lock(&lock);
	if (s->fd < 0) {
		REAL(cuMemFree_v2, RT_cuMemFree_v2)(s->at);
	} else {
		unmap(s);
		rt_drv.cuMemRelease(s->handle);
		close(s->fd);
		s->fd = -1;
	}
	pthread_mutex_unlock(&lock);
}

void rt_slab_free(struct rt_slab *s)
{
	struct rt_slab **at = &slabs;

	pthread_mutex_lock(&lock);
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	pthread_mutex_unlock(&lock);
	rt_free(s);
}

bool rt_slab_find(CUdeviceptr at, struct rt_slab *copy)
{
	const struct rt_slab *s;

	pthread_mutex_lock(&lock);
	for (s = slabs; s && (s->fd < 0 || at < s->at || at - s->at >= s->bytes); s = s->next)
		;
	if (s)
		*copy = *s;
	pthread_mutex_unlock(&lock);
	return s;
}

size_t rt_slab_files(int *fd, size_t most)
{
	size_t n = 0;

	pthread_mutex_lock(&lock);
	for (const struct rt_slab *s = slabs; s && n < most; s = s->next)
		if (s->fd >= 0)
			fd[n++] = s->fd;
	pthread_mutex_unlock(&lock);
	return n;
}

/* ---- arenas ------------------------------------------------------------------------------------------------------------ */

static struct rt_slab *add(struct rt_arena *a, CUdevice device, uint64_t bytes)
{
	struct rt_slab *s = rt_slab_make(device, bytes, 1);

	if (s) {
		a->slab = rt_grow(a->slab, &a->cap, a->n + 1, sizeof(struct rt_slab *));
		a->slab[a->n++] = s;
	}
	return s;
}

CUdeviceptr rt_arena_take(struct rt_arena *a, CUdevice device, uint64_t bytes)
{
	struct rt_slab *s;

	bytes = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
	if (bytes > ARENA_BYTES / 4) {
		s = add(a, device, bytes);
		return s ? s->at : 0;
	}
	if (!a->open || bytes > a->open->bytes - a->used) {
		s = add(a, device, ARENA_BYTES);
		if (!s)
			return 0;
		a->open = s;
		a->used = 0;
	}
	a->used += bytes;
	return a->open->at + a->used - bytes;
}

void rt_arena_free(struct rt_arena *a, bool unused)
{
	for (size_t i = 0; i < a->n; i++) {
		if (unused)
			rt_slab_give_back(a->slab[i]);
		rt_slab_free(a->slab[i]);
	}
	rt_free(a->slab);
	*a = (struct rt_arena){0};
}

/* The memory is the parent's, and goes when it does. */
void rt_slab_fork(void)
{
	for (struct rt_slab *s = slabs; s; s = s->next) {
		if (s->fd >= 0)
			close(s->fd);
		s->fd = -1;
	}
}
