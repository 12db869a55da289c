/* SPDX-License-Identifier: Apache-2.0
 *
 * mem.c: the program's allocations: hooks that enter and remove them.  An entry is removed before the driver frees the memory, as
 * afterwards another thread may be given the same address.
 */
#include <string.h>

#include "rt/gsan.h"
#include "rt/order.h"
#include "rt/touch.h"

struct rt_blocks rt_blocks;

static void enter(struct rt_block b, const char *call)
{
	if (!b.addr || !b.bytes || rt_short())
		return;
	/* The first one sets the device up: what logs may take is a part of what is free. */
	if (!(rt_dev_ready() && rt_ctx_known(rt_current())) && rt_dev_begin())
		rt_dev_end();
	b.made = call ? rt_made_here(call) : NULL;
	rt_freed_reused(b.addr, b.bytes);
	pthread_mutex_lock(&rt_lock);
	rt_block_add(&rt_blocks, &b);
	pthread_mutex_unlock(&rt_lock);
}

void rt_mem_new(uint64_t addr, uint64_t bytes, enum rt_mem kind, const char *call)
{
	enter((struct rt_block){.addr = addr, .bytes = bytes, .kind = kind}, call);
}

void rt_mem_of_graph(uint64_t addr, uint64_t bytes, const void *graph)
{
	rt_freed_unseen();
	enter((struct rt_block){.addr = addr, .bytes = bytes, .kind = RT_MEM_GRAPH, .owner = graph}, NULL);
}

/* With rt_lock. */
static void parts_gone(const struct rt_block *of)
{
	struct rt_block was;

	while (rt_block_take_part(&rt_blocks, of->addr, of->bytes, &was))
		rt_mem_gone(&was);
}

/* Removes the allocation at `addr`, or the part there; false if it is not in the table. */
static bool gone(uint64_t addr, bool part, struct rt_block *was)
{
	bool found;

	pthread_mutex_lock(&rt_lock);
	found = rt_block_take(&rt_blocks, addr, part, was);
	if (found)
		rt_mem_gone(was);
	if (found && !part)
		parts_gone(was);
	pthread_mutex_unlock(&rt_lock);
	return found;
}

/* After the driver was asked to free it: the end of it, or no change at all. */
static void settle(bool found, const struct rt_block *was, CUresult r)
{
	if (!found || r == CUDA_SUCCESS)
		return;
	pthread_mutex_lock(&rt_lock);
	rt_block_add(&rt_blocks, was);
	pthread_mutex_unlock(&rt_lock);
}

void rt_mem_owner_gone(const void *owner)
{
	struct rt_block was;

	pthread_mutex_lock(&rt_lock);
	while (rt_block_take_owned(&rt_blocks, owner, &was))
		rt_mem_gone(&was);
	pthread_mutex_unlock(&rt_lock);
}

void rt_mem_forget(void)
{
	pthread_mutex_lock(&rt_lock);
	rt_blocks.n = 0;
	rt_blocks.changes++;
	pthread_mutex_unlock(&rt_lock);
	rt_freed_forget();
	rt_touch_end();
}

/* ---- device memory ----------------------------------------------------------------------------- */

CUresult rt_on_alloc(enum rt_hook which, CUdeviceptr *p, size_t n)
{
	CUresult r = REAL(cuMemAlloc_v2, which)(p, n);

	if (r == CUDA_SUCCESS)
		rt_mem_new(*p, n, RT_MEM_DEVICE, "cuMemAlloc");
	return r;
}

CUresult rt_on_alloc_pitch(enum rt_hook which, CUdeviceptr *p, size_t *pitch, size_t width,
			   size_t height, unsigned int each)
{
	CUresult r = REAL(cuMemAllocPitch_v2, which)(p, pitch, width, height, each);

	if (r == CUDA_SUCCESS)
		rt_mem_new(*p, *pitch * height, RT_MEM_DEVICE, "cuMemAllocPitch");
	return r;
}

/* What runs is over when memory of these kinds is given out or back. */
static void all_over(void)
{
	const struct detect_clock c = rt_order_of_all(NULL);

	rt_order_learn(&c);
	rt_touch_over();
}

CUresult rt_on_alloc_managed(enum rt_hook which, CUdeviceptr *p, size_t n, unsigned int flags)
{
	CUresult r = REAL(cuMemAllocManaged, which)(p, n, flags);

	if (r != CUDA_SUCCESS)
		return r;
	rt_touch_new(*p, n, RT_MANAGED_PAGES);
	all_over();
	rt_mem_new(*p, n, RT_MEM_MANAGED, "cuMemAllocManaged");
	return r;
}

/* Memory in the order of a stream: its use begins there, behind all uses of what lay there before. */
static void begins(enum rt_hook which, CUdeviceptr p, size_t n, CUstream stream)
{
	struct rt_deed *d;

	rt_order_handed_on(which, stream, p, n);
	d = rt_deed_put(which, stream, DETECT_ALLOC, "cuMemAllocAsync");
	rt_deed_range(d, p, n, true);
	rt_deed_ready(d);
	rt_mem_new(p, n, RT_MEM_DEVICE, "cuMemAllocAsync");
}

CUresult rt_on_alloc_async(enum rt_hook which, CUdeviceptr *p, size_t n, CUstream stream)
{
	CUresult r = REAL(cuMemAllocAsync, which)(p, n, stream);

	rt_stream_seen(which, stream);
	if (r == CUDA_SUCCESS)
		begins(which, *p, n, stream);
	return r;
}

CUresult rt_on_alloc_pool(enum rt_hook which, CUdeviceptr *p, size_t n, CUmemoryPool pool,
			  CUstream stream)
{
	CUresult r = REAL(cuMemAllocFromPoolAsync, which)(p, n, pool, stream);

	rt_stream_seen(which, stream);
	if (r == CUDA_SUCCESS)
		begins(which, *p, n, stream);
	return r;
}

CUresult rt_on_free(enum rt_hook which, CUdeviceptr p)
{
	struct rt_block was;
	bool found = gone(p, false, &was);
	CUresult r;

	rt_touch_gone(p);
	r = REAL(cuMemFree_v2, which)(p);
	settle(found, &was, r);
	if (r == CUDA_SUCCESS && found) {
		all_over();
		rt_order_freed(was.addr, was.bytes);
		rt_freed_add(&was, "cuMemFree", NULL);
	}
	return r;
}

CUresult rt_on_free_async(enum rt_hook which, CUdeviceptr p, CUstream stream)
{
	struct rt_deed *d = rt_deed_put(which, stream, DETECT_FREE, "cuMemFreeAsync");
	const struct detect_when when = d ? d->d.when : (struct detect_when){0}, *at = d ? &when : NULL;
	const bool captured = rt_stream_captured(stream);
	struct rt_block was;
	bool found = gone(p, false, &was);
	CUresult r;

	if (d && found)
		rt_deed_range(d, was.addr, was.bytes, true);
	if (found)
		rt_order_given_back(d, was.addr, was.bytes);
	r = REAL(cuMemFreeAsync, which)(p, stream);
	rt_deed_ready(d);
	rt_stream_seen(which, stream);
	settle(found, &was, r);
	if (r == CUDA_SUCCESS && found && !captured)
		rt_freed_add(&was, "cuMemFreeAsync", at);
	return r;
}

CUresult rt_on_map(enum rt_hook which, CUdeviceptr p, size_t n, size_t offset,
		   CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	CUresult r = REAL(cuMemMap, which)(p, n, offset, handle, flags);

	if (r == CUDA_SUCCESS)
		rt_mem_new(p, n, RT_MEM_MAPPED, "cuMemMap");
	return r;
}

/* One call may unmap several mappings. */
CUresult rt_on_unmap(enum rt_hook which, CUdeviceptr p, size_t n)
{
	struct rt_block was;
	CUresult r = REAL(cuMemUnmap, which)(p, n);

	if (r != CUDA_SUCCESS)
		return r;
	pthread_mutex_lock(&rt_lock);
	while (rt_block_take_mapped(&rt_blocks, p, n, &was))
		rt_mem_gone(&was);
	pthread_mutex_unlock(&rt_lock);
	return r;
}

/* ---- memory of others --------------------------------------------------------------------------------- */

/* The whole of it, of which the program may know a part. */
static void imported(CUdeviceptr p)
{
	CUdeviceptr base = 0;
	size_t n = 0;

	rt_freed_unseen();
	if (rt_drv.cuMemGetAddressRange && rt_drv.cuMemGetAddressRange(&base, &n, p) == CUDA_SUCCESS)
		rt_mem_new(p, n - (size_t)(p - base), RT_MEM_MAPPED, NULL);
}

/* Opened again it is where it was, until it is closed as often: it is entered each time. */
CUresult rt_on_ipc_open(enum rt_hook which, CUdeviceptr *p, CUipcMemHandle handle, unsigned flags)
{
	CUresult r = REAL(CUresult(CUdeviceptr *, CUipcMemHandle, unsigned), which)(p, handle, flags);

	if (r == CUDA_SUCCESS)
		imported(*p);
	return r;
}

CUresult rt_on_ipc_close(enum rt_hook which, CUdeviceptr p)
{
	struct rt_block was;
	bool found = gone(p, false, &was);
	CUresult r = REAL(cuIpcCloseMemHandle, which)(p);

	settle(found, &was, r);
	if (r == CUDA_SUCCESS && found)
		rt_order_freed(was.addr, was.bytes);
	return r;
}

/* Given back by cuMemFree, as what follows. */
CUresult rt_on_import_pointer(enum rt_hook which, CUdeviceptr *p, CUmemoryPool pool, CUmemPoolPtrExportData *from)
{
	CUresult r = REAL(cuMemPoolImportPointer, which)(p, pool, from);

	if (r == CUDA_SUCCESS)
		imported(*p);
	return r;
}

CUresult rt_on_external_buffer(enum rt_hook which, CUdeviceptr *p, CUexternalMemory from,
			       const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *what)
{
	CUresult r = REAL(cuExternalMemoryGetMappedBuffer, which)(p, from, what);

	rt_freed_unseen();
	if (r == CUDA_SUCCESS)
		rt_mem_new(*p, what->size, RT_MEM_MAPPED, NULL);
	return r;
}

/* How large its allocation is, is not known. */
CUresult rt_on_graphics_pointer(enum rt_hook which, CUdeviceptr *p, size_t *n, CUgraphicsResource resource)
{
	rt_freed_unseen();
	return REAL(CUresult(CUdeviceptr *, size_t *, CUgraphicsResource), which)(p, n, resource);
}

/* ---- host memory that the device can reach --------------------------------------------------------- */

/* Under unified addressing the device uses the host's address.  Where it does not
 * (memory registered on some systems) an access has another address, and a report of it
 * names no allocation. */
static void host_memory(void *p, size_t n, enum rt_pages of)
{
	CUdeviceptr d = 0;

	if (!rt_drv.cuMemHostGetDevicePointer ||
	    rt_drv.cuMemHostGetDevicePointer(&d, p, 0) != CUDA_SUCCESS)
		return;
	rt_touch_new((uintptr_t)p, n, of);
	if (d == (uintptr_t)p)
		rt_mem_new(d, n, RT_MEM_HOST, "cuMemHostAlloc");
}

CUresult rt_on_host_alloc(enum rt_hook which, void **p, size_t n, unsigned int flags)
{
	CUresult r = REAL(cuMemHostAlloc, which)(p, n, flags);

	if (r == CUDA_SUCCESS)
		host_memory(*p, n, RT_OWN_PAGES);
	return r;
}

CUresult rt_on_alloc_host(enum rt_hook which, void **p, size_t n)
{
	CUresult r = REAL(cuMemAllocHost_v2, which)(p, n);

	if (r == CUDA_SUCCESS)
		host_memory(*p, n, RT_OWN_PAGES);
	return r;
}

CUresult rt_on_host_register(enum rt_hook which, void *p, size_t n, unsigned int flags)
{
	CUresult r = REAL(cuMemHostRegister_v2, which)(p, n, flags);

	if (r == CUDA_SUCCESS)
		host_memory(p, n, RT_PROGRAMS_PAGES);
	return r;
}

/* cuMemFreeHost and cuMemHostUnregister */
CUresult rt_on_free_host(enum rt_hook which, void *p)
{
	struct rt_block was;
	bool found = gone((uintptr_t)p, false, &was);
	CUresult r;

	rt_touch_gone((uintptr_t)p);
	r = REAL(cuMemFreeHost, which)(p);
	settle(found, &was, r);
	if (r == CUDA_SUCCESS && found) {
		all_over();
		rt_order_freed(was.addr, was.bytes);
	}
	return r;
}

/* ---- parts, handed out by an allocator of the program's own ------------------------------------------ */

#define EXPORT __attribute__((visibility("default")))

/* In the order of that stream: a deed, which rt_deed_ready() ends; NULL if nobody wants to know. */
static struct rt_deed *part_deed(CUstream stream, enum detect_deed_kind kind, const struct rt_block *part, const char *call)
{
	struct rt_deed *d = rt_deed_put(RT_cuMemAllocAsync, stream, kind, call);

	rt_deed_range(d, part->addr, part->bytes, true);
	return d;
}

EXPORT void gsan_allocated(const void *p, size_t bytes, void *stream)
{
	struct rt_block part = {.addr = (uintptr_t)p, .bytes = bytes, .kind = RT_MEM_MAPPED}, whole;

	if (rt_other()) {
		rt_other()->allocated(p, bytes, stream);
		return;
	}
	if (rt_is_off() || !rt_drv_loaded() || rt_forked())
		return;
	rt_call_begin(__builtin_return_address(0), __builtin_frame_address(0));
	pthread_mutex_lock(&rt_lock);
	if (rt_block_find(&rt_blocks, part.addr, &whole))
		part.kind = whole.kind;
	pthread_mutex_unlock(&rt_lock);
	part.part = true;
	rt_deed_ready(part_deed(stream, DETECT_ALLOC, &part, "gsan_allocated"));
	enter(part, "gsan_allocated");
	rt_call_end();
}

EXPORT void gsan_freed(const void *p, void *stream)
{
	struct rt_block was;

	if (rt_other()) {
		rt_other()->freed(p, stream);
		return;
	}
	if (rt_is_off() || rt_forked())
		return;
	rt_call_begin(__builtin_return_address(0), __builtin_frame_address(0));
	if (gone((uintptr_t)p, true, &was))
		rt_deed_ready(part_deed(stream, DETECT_FREE, &was, "gsan_freed"));
	rt_call_end();
}
