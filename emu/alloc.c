/* SPDX-License-Identifier: Apache-2.0
 *
 * alloc.c: the driver API's memory: allocating, page-locking, asking what a
 * pointer is.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/api.h"

#define PTR(d) ((void *)(uintptr_t)(d))
#define DEV(p) ((CUdeviceptr)(uintptr_t)(p))

static bool is_host(enum emu_mem_kind k)
{
	return k == MEM_HOST || k == MEM_REGISTERED;
}

EMU_API CUresult CUDAAPI cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	ENTER(ctx);
	*total = EMU_MEM_TOTAL;
	*free_bytes = EMU_MEM_TOTAL - emu_mem_used();
	LEAVE(CUDA_SUCCESS);
}

static CUresult device_alloc(CUdeviceptr *out, size_t bytes, enum emu_mem_kind kind)
{
	ENTER(ctx);
	if (!out || !bytes)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*out = emu_mem_new(bytes, kind, 0);
	LEAVE(*out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

EMU_API CUresult CUDAAPI cuMemAlloc_v2(CUdeviceptr *out, size_t bytes)
{
	return device_alloc(out, bytes, MEM_DEVICE);
}

EMU_API CUresult CUDAAPI cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags)
{
	if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
		return CUDA_ERROR_INVALID_VALUE;
	return device_alloc(out, bytes, MEM_MANAGED);
}

EMU_API CUresult CUDAAPI cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width,
					    size_t height, unsigned element)
{
	if (!pitch || (element != 4 && element != 8 && element != 16))
		return CUDA_ERROR_INVALID_VALUE;
	*pitch = (width + 511) & ~(size_t)511;
	return device_alloc(out, *pitch * height, MEM_DEVICE);
}

/* Freeing waits for the device: nothing that runs may still use it. */
EMU_API CUresult CUDAAPI cuMemFree_v2(CUdeviceptr p)
{
	ENTER(ctx);
	CUresult r;

	if (!p)
		LEAVE(CUDA_SUCCESS);
	r = emu_wait_ctx(ctx);
	if (r != CUDA_SUCCESS)
		LEAVE(r);
	if (!emu_mem_delete(p, MEM_DEVICE) && !emu_mem_delete(p, MEM_MANAGED))
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	emu_pool_forget(p);
	LEAVE(CUDA_SUCCESS);
}

/* ---- page-locked memory ------------------------------------------------------------- */

EMU_API CUresult CUDAAPI cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
	ENTER(ctx);
	if (!out || !bytes)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*out = PTR(emu_mem_new(bytes, MEM_HOST, flags));
	LEAVE(*out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

EMU_API CUresult CUDAAPI cuMemAllocHost_v2(void **out, size_t bytes)
{
	return cuMemHostAlloc(out, bytes, 0);
}

EMU_API CUresult CUDAAPI cuMemFreeHost(void *p)
{
	ENTER(ctx);
	CUresult r = emu_wait_ctx(ctx);

	if (r != CUDA_SUCCESS)
		LEAVE(r);
	LEAVE(emu_mem_delete(DEV(p), MEM_HOST) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

EMU_API CUresult CUDAAPI cuMemHostRegister_v2(void *p, size_t bytes, unsigned flags)
{
	ENTER(ctx);
	if (!p || !bytes)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	LEAVE(emu_mem_register(DEV(p), bytes, MEM_REGISTERED, flags) ?
	      CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
}

EMU_API CUresult CUDAAPI cuMemHostUnregister(void *p)
{
	ENTER(ctx);
	CUresult r = emu_wait_ctx(ctx);

	if (r != CUDA_SUCCESS)
		LEAVE(r);
	LEAVE(emu_mem_unregister(DEV(p), MEM_REGISTERED) ?
	      CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

EMU_API CUresult CUDAAPI cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *p, unsigned flags)
{
	ENTER(ctx);
	struct emu_block_mem b;

	if (!out || flags || !emu_mem_find(DEV(p), &b) || !is_host(b.kind))
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*out = DEV(p);
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuMemHostGetFlags(unsigned *flags, void *p)
{
	ENTER(ctx);
	struct emu_block_mem b;

	if (!flags || !emu_mem_find(DEV(p), &b) || b.kind != MEM_HOST)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*flags = b.flags;
	LEAVE(CUDA_SUCCESS);
}

/* ---- what is this pointer? -------------------------------------------------------------- */

EMU_API CUresult CUDAAPI cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr p)
{
	ENTER(ctx);
	struct emu_block_mem b;

	if (!emu_mem_find(p, &b))
		LEAVE(CUDA_ERROR_NOT_FOUND);
	if (base)
		*base = b.base;
	if (bytes)
		*bytes = b.bytes;
	LEAVE(CUDA_SUCCESS);
}

static CUresult attribute(void *out, CUpointer_attribute a, CUdeviceptr p, struct CUctx_st *ctx)
{
	struct emu_block_mem b;

	if (!emu_mem_find(p, &b))
		return CUDA_ERROR_INVALID_VALUE;
	switch ((int)a) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(CUcontext *)out = ctx;
		break;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned *)out = is_host(b.kind) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		*(CUdeviceptr *)out = p;
		break;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (!is_host(b.kind) && b.kind != MEM_MANAGED)
			return CUDA_ERROR_INVALID_VALUE;
		*(void **)out = PTR(p);
		break;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(int *)out = b.kind == MEM_MANAGED;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)out = 0;
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(CUdeviceptr *)out = b.base;
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)out = b.bytes;
		break;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		*(int *)out = 1;
		break;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
		*(unsigned long long *)out = b.id;
		break;
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
		*(int *)out = 0;
		break;
	case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		*(int *)out = CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
		break;
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		*(void **)out = NULL;
		break;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuPointerGetAttribute(void *out, CUpointer_attribute a, CUdeviceptr p)
{
	ENTER(ctx);
	LEAVE(out ? attribute(out, a, p, ctx) : CUDA_ERROR_INVALID_VALUE);
}

/* Unlike the one above it is no error if nothing is known of the pointer. */
EMU_API CUresult CUDAAPI cuPointerGetAttributes(unsigned n, CUpointer_attribute *a, void **out,
						CUdeviceptr p)
{
	ENTER(ctx);
	for (unsigned i = 0; i < n; i++) {
		static const size_t eight = sizeof(void *);

		if (attribute(out[i], a[i], p, ctx) == CUDA_SUCCESS)
			continue;
		switch ((int)a[i]) {
		case CU_POINTER_ATTRIBUTE_CONTEXT:
		case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		case CU_POINTER_ATTRIBUTE_BUFFER_ID:
		case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
			memset(out[i], 0, eight);
			break;
		case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
			*(int *)out[i] = -2;
			break;
		case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		case CU_POINTER_ATTRIBUTE_MAPPED:
			memset(out[i], 0, sizeof(int));
			break;
		default:
			LEAVE(CUDA_ERROR_NOT_SUPPORTED);
		}
	}
	LEAVE(CUDA_SUCCESS);
}

/* Managed memory never moves: it is host memory already. */
EMU_API CUresult CUDAAPI cuMemAdvise(CUdeviceptr p, size_t bytes, CUmem_advise advice, CUdevice dev)
{
	ENTER(ctx);
	(void)advice;
	(void)dev;
	LEAVE(emu_mem_range_ok(p, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

EMU_API CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr p, size_t bytes, CUdevice dev, CUstream h)
{
	ENTER(ctx);
	(void)dev;
	LEAVE(emu_stream_of(ctx, h) && emu_mem_range_ok(p, bytes) ?
	      CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

EMU_API CUresult CUDAAPI cuMemPrefetchAsync_v2(CUdeviceptr p, size_t bytes, CUmemLocation to, unsigned flags, CUstream h)
{
	return flags ? CUDA_ERROR_INVALID_VALUE : cuMemPrefetchAsync(p, bytes, to.type == CU_MEM_LOCATION_TYPE_DEVICE ? to.id : CU_DEVICE_CPU, h);
}
