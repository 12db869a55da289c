/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.c: memory: allocating, copying, filling, asking what a pointer is.
 */
#include "cudart/cudart.h"

#include <stdint.h>
#include <string.h>

static CUdeviceptr dev(const void *p)
{
	return (CUdeviceptr)(uintptr_t)p;
}

/* ---- allocating ------------------------------------------------------------------------ */

cudaError_t cudaMalloc(void **p, size_t n)
{
	if (p && !n) {
		*p = NULL;
		return crt_begin_context();
	}
	CALL(DRV(cuMemAlloc)((CUdeviceptr *)p, n));
}

cudaError_t cudaMallocManaged(void **p, size_t n, unsigned flags)
{
	CALL(DRV(cuMemAllocManaged)((CUdeviceptr *)p, n, flags));
}

cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
	CALL(DRV(cuMemAllocPitch)((CUdeviceptr *)p, pitch, width, height, 4));
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent size)
{
	out->xsize = size.width;
	out->ysize = size.height;
	return cudaMallocPitch(&out->ptr, &out->pitch, size.width, size.height * size.depth);
}

cudaError_t cudaFree(void *p)
{
	CALL(DRV(cuMemFree)(dev(p)));
}

cudaError_t cudaHostAlloc(void **p, size_t n, unsigned flags)
{
	CALL(DRV(cuMemHostAlloc)(p, n, flags));
}

cudaError_t cudaMallocHost(void **p, size_t n)
{
	return cudaHostAlloc(p, n, 0);
}

cudaError_t cudaFreeHost(void *p)
{
	if (!p)
		return crt_begin_context();
	CALL(DRV(cuMemFreeHost)(p));
}

cudaError_t cudaHostRegister(void *p, size_t n, unsigned flags)
{
	CALL(DRV(cuMemHostRegister)(p, n, flags));
}

cudaError_t cudaHostUnregister(void *p)
{
	CALL(DRV(cuMemHostUnregister)(p));
}

cudaError_t cudaHostGetDevicePointer(void **out, void *p, unsigned flags)
{
	CALL(DRV(cuMemHostGetDevicePointer)((CUdeviceptr *)out, p, flags));
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *p)
{
	CALL(DRV(cuMemHostGetFlags)(flags, p));
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
	CALL(DRV(cuMemGetInfo)(available, total));
}

/* ---- in the order of streams ------------------------------------------------------------- */

WITH_STREAM(cudaMallocAsync, _ptsz, (void **p, size_t n, cudaStream_t stream), (p, n, stream),
{
	CALL(DRV(cuMemAllocAsync)((CUdeviceptr *)p, n, stream));
})

WITH_STREAM(cudaMallocFromPoolAsync, _ptsz, (void **p, size_t n, cudaMemPool_t pool, cudaStream_t stream),
	    (p, n, pool, stream),
{
	CALL(DRV(cuMemAllocFromPoolAsync)((CUdeviceptr *)p, n, pool, stream));
})

WITH_STREAM(cudaFreeAsync, _ptsz, (void *p, cudaStream_t stream), (p, stream),
{
	CALL(DRV(cuMemFreeAsync)(dev(p), stream));
})

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
	CALL(DRV(cuDeviceGetDefaultMemPool)(pool, device));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
	CALL(DRV(cuDeviceGetMemPool)(pool, device));
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
	CALL(DRV(cuDeviceSetMemPool)(device, pool));
}

_Static_assert(sizeof(CUmemPoolProps) == sizeof(struct cudaMemPoolProps), "pools");

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *p)
{
	CALL(DRV(cuMemPoolCreate)(pool, (const CUmemPoolProps *)(const void *)p));
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
	CALL(DRV(cuMemPoolDestroy)(pool));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr a, void *value)
{
	CALL(DRV(cuMemPoolSetAttribute)(pool, (CUmemPool_attribute)a, value));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr a, void *value)
{
	CALL(DRV(cuMemPoolGetAttribute)(pool, (CUmemPool_attribute)a, value));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep)
{
	CALL(DRV(cuMemPoolTrimTo)(pool, keep));
}

_Static_assert(sizeof(CUmemAccessDesc) == sizeof(struct cudaMemAccessDesc), "access to pools");

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *map, size_t n)
{
	CALL(DRV(cuMemPoolSetAccess)(pool, (const CUmemAccessDesc *)(const void *)map, n));
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool, struct cudaMemLocation *where)
{
	CALL(DRV(cuMemPoolGetAccess)((CUmemAccess_flags *)flags, pool, (CUmemLocation *)(void *)where));
}

/* ---- copies -------------------------------------------------------------------------------- */

static CUresult copy_async(void *to, const void *from, size_t n, enum cudaMemcpyKind kind, cudaStream_t s)
{
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return DRV(cuMemcpyHtoDAsync)(dev(to), from, n, s);
	case cudaMemcpyDeviceToHost:
		return DRV(cuMemcpyDtoHAsync)(to, dev(from), n, s);
	case cudaMemcpyDeviceToDevice:
		return DRV(cuMemcpyDtoDAsync)(dev(to), dev(from), n, s);
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		return DRV(cuMemcpyAsync)(dev(to), dev(from), n, s);
	}
	return (CUresult)cudaErrorInvalidMemcpyDirection;
}

static CUresult copy(void *to, const void *from, size_t n, enum cudaMemcpyKind kind, cudaStream_t s)
{
	CUresult r;

	if (s) {                        /* the thread's own default stream */
		r = copy_async(to, from, n, kind, s);
		return r == CUDA_SUCCESS ? DRV(cuStreamSynchronize)(s) : r;
	}
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return DRV(cuMemcpyHtoD)(dev(to), from, n);
	case cudaMemcpyDeviceToHost:
		return DRV(cuMemcpyDtoH)(to, dev(from), n);
	case cudaMemcpyDeviceToDevice:
		return DRV(cuMemcpyDtoD)(dev(to), dev(from), n);
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		return DRV(cuMemcpy)(dev(to), dev(from), n);
	}
	return (CUresult)cudaErrorInvalidMemcpyDirection;
}

#define NOTHING_TO_DO(n) \
	do { \
		if (!(n)) \
			return crt_begin_context(); \
	} while (0)

cudaError_t cudaMemcpy(void *to, const void *from, size_t n, enum cudaMemcpyKind kind)
{
	NOTHING_TO_DO(n);
	CALL(copy(to, from, n, kind, NULL));
}

cudaError_t cudaMemcpy_ptds(void *, const void *, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpy_ptds(void *to, const void *from, size_t n, enum cudaMemcpyKind kind)
{
	NOTHING_TO_DO(n);
	CALL(copy(to, from, n, kind, cudaStreamPerThread));
}

WITH_STREAM(cudaMemcpyAsync, _ptsz,
	    (void *to, const void *from, size_t n, enum cudaMemcpyKind kind, cudaStream_t stream),
	    (to, from, n, kind, stream),
{
	NOTHING_TO_DO(n);
	CALL(copy_async(to, from, n, kind, stream));
})

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t n)
{
	if (to_device || from_device)
		return crt_note(cudaErrorInvalidDevice);
	NOTHING_TO_DO(n);
	CALL(DRV(cuMemcpyDtoD)(dev(to), dev(from), n));
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t n, cudaStream_t s)
{
	if (to_device || from_device)
		return crt_note(cudaErrorInvalidDevice);
	NOTHING_TO_DO(n);
	CALL(DRV(cuMemcpyDtoDAsync)(dev(to), dev(from), n, s));
}

/* ---- copies of variables --------------------------------------------------------------------- */

cudaError_t crt_var_part(const void *symbol, size_t n, size_t offset, CUdeviceptr *p)
{
	cudaError_t e;
	size_t bytes;

	ENTER();
	e = crt_var_get(symbol, p, &bytes);
	if (e == cudaSuccess && (offset > bytes || n > bytes - offset))
		e = crt_note(cudaErrorInvalidValue);
	*p += offset;
	return e;
}

struct part { const void *symbol; size_t bytes, offset; };

static cudaError_t to_symbol(const struct part *to, const void *from, enum cudaMemcpyKind kind, cudaStream_t s,
			     bool async)
{
	CUdeviceptr p = 0;
	cudaError_t e = crt_var_part(to->symbol, to->bytes, to->offset, &p);

	if (e != cudaSuccess)
		return e;
	return crt_result((async ? copy_async : copy)((void *)(uintptr_t)p, from, to->bytes, kind, s));
}

static cudaError_t from_symbol(void *to, const struct part *from, enum cudaMemcpyKind kind, cudaStream_t s, bool async)
{
	CUdeviceptr p = 0;
	cudaError_t e = crt_var_part(from->symbol, from->bytes, from->offset, &p);

	if (e != cudaSuccess)
		return e;
	return crt_result((async ? copy_async : copy)(to, (const void *)(uintptr_t)p, from->bytes, kind, s));
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t n, size_t offset, enum cudaMemcpyKind kind)
{
	return to_symbol(&(struct part){symbol, n, offset}, from, kind, NULL, false);
}

cudaError_t cudaMemcpyToSymbol_ptds(const void *, const void *, size_t, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpyToSymbol_ptds(const void *symbol, const void *from, size_t n, size_t offset,
				    enum cudaMemcpyKind kind)
{
	return to_symbol(&(struct part){symbol, n, offset}, from, kind, cudaStreamPerThread, false);
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t n, size_t offset, enum cudaMemcpyKind kind)
{
	return from_symbol(to, &(struct part){symbol, n, offset}, kind, NULL, false);
}

cudaError_t cudaMemcpyFromSymbol_ptds(void *, const void *, size_t, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpyFromSymbol_ptds(void *to, const void *symbol, size_t n, size_t offset, enum cudaMemcpyKind kind)
{
	return from_symbol(to, &(struct part){symbol, n, offset}, kind, cudaStreamPerThread, false);
}

WITH_STREAM(cudaMemcpyToSymbolAsync, _ptsz,
	    (const void *symbol, const void *from, size_t n, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream),
	    (symbol, from, n, offset, kind, stream),
{
	return to_symbol(&(struct part){symbol, n, offset}, from, kind, stream, true);
})

WITH_STREAM(cudaMemcpyFromSymbolAsync, _ptsz,
	    (void *to, const void *symbol, size_t n, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream),
	    (to, symbol, n, offset, kind, stream),
{
	return from_symbol(to, &(struct part){symbol, n, offset}, kind, stream, true);
})

/* ---- rows and slices --------------------------------------------------------------------------- */

static bool is_kind(enum cudaMemcpyKind kind)
{
	return (unsigned)kind <= cudaMemcpyDefault;
}

static CUmemorytype type_of(enum cudaMemcpyKind kind, bool to)
{
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return to ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
	case cudaMemcpyDeviceToHost:
		return to ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
	case cudaMemcpyDeviceToDevice:
		return CU_MEMORYTYPE_DEVICE;
	case cudaMemcpyHostToHost:
		return CU_MEMORYTYPE_HOST;
	case cudaMemcpyDefault:
		break;
	}
	return CU_MEMORYTYPE_UNIFIED;
}

struct rows { void *to; size_t to_pitch; const void *from; size_t from_pitch, width, height; };

static CUDA_MEMCPY2D rows_of(const struct rows *r, enum cudaMemcpyKind kind)
{
	return (CUDA_MEMCPY2D){
		.srcMemoryType = type_of(kind, false), .srcHost = r->from, .srcDevice = dev(r->from),
		.srcPitch = r->from_pitch,
		.dstMemoryType = type_of(kind, true), .dstHost = r->to, .dstDevice = dev(r->to),
		.dstPitch = r->to_pitch, .WidthInBytes = r->width, .Height = r->height
	};
}

static cudaError_t copy_rows(const struct rows *r, enum cudaMemcpyKind kind, cudaStream_t s, bool async)
{
	CUDA_MEMCPY2D p = rows_of(r, kind);
	cudaError_t e;

	if (r->width > r->to_pitch || r->width > r->from_pitch)
		return crt_note(cudaErrorInvalidPitchValue);
	if (!is_kind(kind))
		return crt_note(cudaErrorInvalidMemcpyDirection);
	NOTHING_TO_DO(r->width && r->height);
	if (!s && !async)
		CALL(DRV(cuMemcpy2D)(&p));
	ENTER();
	e = crt_result(DRV(cuMemcpy2DAsync)(&p, s));
	return e != cudaSuccess || async ? e : crt_result(DRV(cuStreamSynchronize)(s));
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
			 enum cudaMemcpyKind kind)
{
	return copy_rows(&(struct rows){to, to_pitch, from, from_pitch, width, height}, kind, NULL, false);
}

cudaError_t cudaMemcpy2D_ptds(void *, size_t, const void *, size_t, size_t, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpy2D_ptds(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
			      size_t height, enum cudaMemcpyKind kind)
{
	return copy_rows(&(struct rows){to, to_pitch, from, from_pitch, width, height}, kind, cudaStreamPerThread, false);
}

WITH_STREAM(cudaMemcpy2DAsync, _ptsz,
	    (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
	     enum cudaMemcpyKind kind, cudaStream_t stream),
	    (to, to_pitch, from, from_pitch, width, height, kind, stream),
{
	return copy_rows(&(struct rows){to, to_pitch, from, from_pitch, width, height}, kind, stream, true);
})

cudaError_t crt_copy_3d(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *out)
{
	ENTER();
	if (!p || !is_kind(p->kind))
		return crt_note(p ? cudaErrorInvalidMemcpyDirection : cudaErrorInvalidValue);
	if (p->srcArray || p->dstArray)
		return crt_refuse("arrays (cudaMemcpy3D)");
	*out = (CUDA_MEMCPY3D){
		.srcXInBytes = p->srcPos.x, .srcY = p->srcPos.y, .srcZ = p->srcPos.z,
		.srcMemoryType = type_of(p->kind, false), .srcHost = p->srcPtr.ptr, .srcDevice = dev(p->srcPtr.ptr),
		.srcPitch = p->srcPtr.pitch, .srcHeight = p->srcPtr.ysize,
		.dstXInBytes = p->dstPos.x, .dstY = p->dstPos.y, .dstZ = p->dstPos.z,
		.dstMemoryType = type_of(p->kind, true), .dstHost = p->dstPtr.ptr, .dstDevice = dev(p->dstPtr.ptr),
		.dstPitch = p->dstPtr.pitch, .dstHeight = p->dstPtr.ysize,
		.WidthInBytes = p->extent.width, .Height = p->extent.height, .Depth = p->extent.depth
	};
	return cudaSuccess;
}

static cudaError_t copy_slices(const struct cudaMemcpy3DParms *p, cudaStream_t s, bool async)
{
	CUDA_MEMCPY3D c;
	cudaError_t e = crt_copy_3d(p, &c);

	if (e != cudaSuccess)
		return e;
	if (!s && !async)
		return crt_result(DRV(cuMemcpy3D)(&c));
	e = crt_result(DRV(cuMemcpy3DAsync)(&c, s));
	return e != cudaSuccess || async ? e : crt_result(DRV(cuStreamSynchronize)(s));
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
	return copy_slices(p, NULL, false);
}

cudaError_t cudaMemcpy3D_ptds(const struct cudaMemcpy3DParms *);
cudaError_t cudaMemcpy3D_ptds(const struct cudaMemcpy3DParms *p)
{
	return copy_slices(p, cudaStreamPerThread, false);
}

WITH_STREAM(cudaMemcpy3DAsync, _ptsz, (const struct cudaMemcpy3DParms *p, cudaStream_t stream), (p, stream),
{
	return copy_slices(p, stream, true);
})

/* ---- fills ----------------------------------------------------------------------------------------- */

cudaError_t cudaMemset(void *p, int value, size_t n)
{
	NOTHING_TO_DO(n);
	CALL(DRV(cuMemsetD8)(dev(p), (unsigned char)value, n));
}

cudaError_t cudaMemset_ptds(void *, int, size_t);
cudaError_t cudaMemset_ptds(void *p, int value, size_t n)
{
	return cudaMemsetAsync(p, value, n, cudaStreamPerThread);
}

WITH_STREAM(cudaMemsetAsync, _ptsz, (void *p, int value, size_t n, cudaStream_t stream), (p, value, n, stream),
{
	NOTHING_TO_DO(n);
	CALL(DRV(cuMemsetD8Async)(dev(p), (unsigned char)value, n, stream));
})

WITH_STREAM(cudaMemset2DAsync, _ptsz,
	    (void *p, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
	    (p, pitch, value, width, height, stream),
{
	NOTHING_TO_DO(width && height);
	CALL(DRV(cuMemsetD2D8Async)(dev(p), pitch, (unsigned char)value, width, height, stream));
})

WITH_STREAM(cudaMemset3DAsync, _ptsz,
	    (struct cudaPitchedPtr p, int value, struct cudaExtent size, cudaStream_t stream),
	    (p, value, size, stream),
{
	cudaError_t e = cudaSuccess;

	for (size_t z = 0; z < size.depth && e == cudaSuccess; z++)
		e = cudaMemset2DAsync((char *)p.ptr + z * p.pitch * p.ysize, p.pitch, value, size.width, size.height,
				      stream);
	return e;
})

cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height)
{
	return cudaMemset2DAsync(p, pitch, value, width, height, NULL);
}

cudaError_t cudaMemset2D_ptds(void *, size_t, int, size_t, size_t);
cudaError_t cudaMemset2D_ptds(void *p, size_t pitch, int value, size_t width, size_t height)
{
	return cudaMemset2DAsync(p, pitch, value, width, height, cudaStreamPerThread);
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int value, struct cudaExtent size)
{
	return cudaMemset3DAsync(p, value, size, NULL);
}

cudaError_t cudaMemset3D_ptds(struct cudaPitchedPtr, int, struct cudaExtent);
cudaError_t cudaMemset3D_ptds(struct cudaPitchedPtr p, int value, struct cudaExtent size)
{
	return cudaMemset3DAsync(p, value, size, cudaStreamPerThread);
}

/* ---- what is this pointer? ------------------------------------------------------------------------- */

/* What follows in the structure of CUDA 13 is reserved. */
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *p)
{
	unsigned type = 0, managed = 0;
	CUpointer_attribute ask[] = {
		CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
		CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_HOST_POINTER
	};
	void *device = NULL, *host = NULL, *at[] = {&type, &managed, &device, &host};
	cudaError_t e;

	ENTER();
	if (!out)
		return crt_note(cudaErrorInvalidValue);
	e = crt_result(DRV(cuPointerGetAttributes)(4, ask, at, dev(p)));
	if (e != cudaSuccess)
		return e;
	out->type = managed ? cudaMemoryTypeManaged : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost :
		    type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
	out->device = type ? 0 : -2;
	out->devicePointer = device;
	out->hostPointer = type ? host : (void *)(uintptr_t)p;
	return cudaSuccess;
}

/* All of it is of one allocation. */
static cudaError_t check_range(const void *p, size_t n)
{
	CUdeviceptr base;
	size_t bytes;

	ENTER();
	if (DRV(cuMemGetAddressRange)(&base, &bytes, dev(p)) != CUDA_SUCCESS || n > bytes - (size_t)(dev(p) - base))
		return crt_note(cudaErrorInvalidValue);
	return cudaSuccess;
}

/* Managed memory never moves, so that advice has no effect.  The place that it names is given in
 * another way by CUDA 13 and by the functions of 12 whose names end in _v2. */
#define HINT(id, name) \
	AS(id, name, (const void *p, size_t n)) \
	{ \
		return check_range(p, n); \
	}
HINT(crt_advise, "cudaMemAdvise")
HINT(crt_advise_v2, "cudaMemAdvise_v2")

static cudaError_t prefetch(const void *p, size_t n, CUmemLocation to, unsigned flags, cudaStream_t s)
{
	cudaError_t e = check_range(p, n);

	return e != cudaSuccess ? e : crt_result(DRV(cuMemPrefetchAsync)(dev(p), n, to, flags, s));
}

static CUmemLocation place_of(int device)
{
	return (CUmemLocation){.type = device == cudaCpuDeviceId ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE,
			       .id = device == cudaCpuDeviceId ? 0 : device};
}

/* The place is a structure in one register, as the number of a device is, and has flags behind it. */
#define PREFETCH(id, name, per_thread, with_place) \
	AS(id, name, (const void *p, size_t n, CUmemLocation to, size_t a, cudaStream_t b)) \
	{ \
		cudaStream_t s = with_place ? b : (cudaStream_t)a; \
		int device; \
		\
		memcpy(&device, &to, sizeof device); \
		return prefetch(p, n, with_place ? to : place_of(device), with_place ? (unsigned)a : 0, \
				s || !(per_thread) ? s : cudaStreamPerThread); \
	}
PREFETCH(crt_prefetch, "cudaMemPrefetchAsync", false, crt_version >= 13000)
PREFETCH(crt_prefetch_ptsz, "cudaMemPrefetchAsync_ptsz", true, crt_version >= 13000)
PREFETCH(crt_prefetch_v2, "cudaMemPrefetchAsync_v2", false, true)
PREFETCH(crt_prefetch_v2_ptsz, "cudaMemPrefetchAsync_v2_ptsz", true, true)

/* Whom memory is attached to says who may not use it: a program that keeps to that runs the same. */
WITH_STREAM(cudaStreamAttachMemAsync, _ptsz, (cudaStream_t stream, void *p, size_t n, unsigned flags),
	    (stream, p, n, flags),
{
	unsigned of_stream;
	cudaError_t e = check_range(p, n);

	if (e == cudaSuccess && flags != cudaMemAttachGlobal && flags != cudaMemAttachHost &&
	    flags != cudaMemAttachSingle)
		e = crt_note(cudaErrorInvalidValue);
	return e != cudaSuccess ? e : crt_result(DRV(cuStreamGetFlags)(stream, &of_stream));
})
