/* SPDX-License-Identifier: Apache-2.0
 *
 * pool.c: memory in the order of streams, and the pools that it comes from.  A pool keeps
 * nothing back: what is freed is free at once, as with a release threshold of 0.
 */
#include <stdlib.h>

#include "emu/api.h"

struct CUmemPoolHandle_st {
	int reuse[3];                   /* CU_MEMPOOL_ATTR_REUSE_*: noted, and without effect */
	cuuint64_t threshold, used, most_used, limit;   /* limit: UINT64_MAX is none */
};

static struct CUmemPoolHandle_st default_pool = {.reuse = {1, 1, 1}, .limit = UINT64_MAX}, *current = &default_pool;

/* Who allocated what; a pool that is destroyed leaves its memory to the default one. */
struct piece {
	struct piece *next;
	CUdeviceptr at;
	size_t bytes;
	struct CUmemPoolHandle_st *pool;        /* NULL: a graph */
};

static struct piece *pieces;

static void note(struct CUmemPoolHandle_st *pool, CUdeviceptr at, size_t bytes)
{
	struct piece *p = malloc(sizeof *p);

	if (!p)
		abort();
	*p = (struct piece){pieces, at, bytes, pool};
	pieces = p;
	if (!pool)
		return;
	pool->used += bytes;
	if (pool->used > pool->most_used)
		pool->most_used = pool->used;
}

void emu_pool_forget(CUdeviceptr at)
{
	for (struct piece **p = &pieces; *p; p = &(*p)->next) {
		struct piece *it = *p;

		if (it->at != at)
			continue;
		if (it->pool)
			it->pool->used -= it->bytes;
		*p = it->next;
		free(it);
		return;
	}
}

CUdeviceptr emu_pool_graph_memory(size_t bytes)
{
	CUdeviceptr p = emu_mem_new(bytes, MEM_DEVICE, 0);

	if (p)
		note(NULL, p, bytes);
	return p;
}

bool emu_pool_is_graph_memory(CUdeviceptr at)
{
	for (const struct piece *p = pieces; p; p = p->next)
		if (p->at == at)
			return !p->pool;
	return false;
}

EMU_API CUresult CUDAAPI cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream h)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);

	if (!out || !bytes || !pool || !s)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	if (s->capture) {
		*out = emu_pool_graph_memory(bytes);
		LEAVE(*out ? emu_capture_memory(s, true, *out, bytes) : CUDA_ERROR_OUT_OF_MEMORY);
	}
	*out = bytes <= pool->limit - pool->used ? emu_mem_new(bytes, MEM_DEVICE, 0) : 0;
	if (!*out)
		LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
	note(pool, *out, bytes);
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream h)
{
	return cuMemAllocFromPoolAsync(out, bytes, current, h);
}

EMU_API CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr p, CUstream h)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);
	struct emu_block_mem b;
	struct emu_cmd *c;

	if (!s || !emu_mem_find(p, &b) || b.base != p || b.kind != MEM_DEVICE)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	if (s->capture)
		LEAVE(emu_pool_is_graph_memory(p) ? emu_capture_memory(s, false, p, b.bytes) :
		      CUDA_ERROR_INVALID_VALUE);
	emu_pool_forget(p);
	c = emu_cmd_new(CMD_FREE, s);
	c->u.free = p;
	LEAVE(emu_cmd_submit(c));
}

/* ---- pools --------------------------------------------------------------------------- */

EMU_API CUresult CUDAAPI cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice dev)
{
	if (!out || dev)
		return CUDA_ERROR_INVALID_VALUE;
	*out = &default_pool;
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuDeviceGetMemPool(CUmemoryPool *out, CUdevice dev)
{
	if (!out || dev)
		return CUDA_ERROR_INVALID_VALUE;
	*out = current;
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
	if (!pool || dev)
		return CUDA_ERROR_INVALID_VALUE;
	current = pool;
	return CUDA_SUCCESS;
}

CUresult emu_pool_check(const CUmemPoolProps *p)
{
	if (p->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || p->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    p->location.id)
		return CUDA_ERROR_INVALID_VALUE;
	return p->handleTypes != CU_MEM_HANDLE_TYPE_NONE || p->usage ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

CUresult emu_pool_check_access(const CUmemAccessDesc *map, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!map || map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || map[i].location.id ||
		    map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
			return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

/* A pool takes memory from the device by the granularity of physical memory: of one with a maximum of 1,024 bytes somebody who
 * had them got 4 more (H100, CUDA 13.0). */
static cuuint64_t limit_of(size_t most)
{
	const cuuint64_t n = most / EMU_GRANULARITY + (most % EMU_GRANULARITY != 0);

	return !most || n > UINT64_MAX / EMU_GRANULARITY ? UINT64_MAX : n * EMU_GRANULARITY;
}

EMU_API CUresult CUDAAPI cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *props)
{
	ENTER(ctx);
	CUresult r = out && props ? emu_pool_check(props) : CUDA_ERROR_INVALID_VALUE;

	if (r != CUDA_SUCCESS)
		LEAVE(r);
	*out = calloc(1, sizeof **out);
	if (!*out)
		LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
	**out = (struct CUmemPoolHandle_st){.reuse = {1, 1, 1}, .limit = limit_of(props->maxSize)};
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuMemPoolDestroy(CUmemoryPool pool)
{
	ENTER(ctx);
	if (!pool || pool == &default_pool)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	for (struct piece *p = pieces; p; p = p->next)
		if (p->pool == pool) {
			p->pool = &default_pool;
			default_pool.used += p->bytes;
		}
	if (current == pool)
		current = &default_pool;
	free(pool);
	LEAVE(CUDA_SUCCESS);
}

static int *reuse_of(CUmemoryPool pool, CUmemPool_attribute a)
{
	switch ((int)a) {
	case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		return &pool->reuse[(int)a - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
	}
	return NULL;
}

EMU_API CUresult CUDAAPI cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute a, void *value)
{
	int *reuse = pool ? reuse_of(pool, a) : NULL;

	if (!pool || !value)
		return CUDA_ERROR_INVALID_VALUE;
	if (reuse) {
		*reuse = *(const int *)value;
		return CUDA_SUCCESS;
	}
	switch ((int)a) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		pool->threshold = *(const cuuint64_t *)value;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		if (*(const cuuint64_t *)value)
			return CUDA_ERROR_INVALID_VALUE;
		pool->most_used = pool->used;
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_INVALID_VALUE;
}

EMU_API CUresult CUDAAPI cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute a, void *value)
{
	int *reuse = pool ? reuse_of(pool, a) : NULL;

	if (!pool || !value)
		return CUDA_ERROR_INVALID_VALUE;
	if (reuse) {
		*(int *)value = *reuse;
		return CUDA_SUCCESS;
	}
	switch ((int)a) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		*(cuuint64_t *)value = pool->threshold;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		*(cuuint64_t *)value = pool->used;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		*(cuuint64_t *)value = pool->most_used;
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_INVALID_VALUE;
}

EMU_API CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
	(void)keep;
	return pool ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EMU_API CUresult CUDAAPI cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t n)
{
	return pool ? emu_pool_check_access(map, n) : CUDA_ERROR_INVALID_VALUE;
}

EMU_API CUresult CUDAAPI cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *where)
{
	if (!flags || !pool || !where)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = where->type == CU_MEM_LOCATION_TYPE_DEVICE && !where->id ?
		 CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
	return CUDA_SUCCESS;
}
