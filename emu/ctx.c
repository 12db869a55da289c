/* SPDX-License-Identifier: Apache-2.0
 *
 * ctx.c: starting, the one device, contexts, and the names of errors.
 */
#include <stdio.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "emu/api.h"

#include <cudaProfiler.h>

bool emu_started;

enum { STACK = 32 };
static _Thread_local struct CUctx_st *stack[STACK];     /* current is the top */
static _Thread_local unsigned depth;

struct CUctx_st *emu_ctx_current(void)
{
	return depth ? stack[depth - 1] : NULL;
}

static bool alive(const struct CUctx_st *ctx)
{
	for (const struct CUctx_st *c = emu_contexts; c; c = c->next)
		if (c == ctx)
			return true;
	return false;
}

CUresult emu_enter(struct CUctx_st **ctx)
{
	pthread_mutex_lock(&emu_lock);
	*ctx = emu_ctx_current();
	if (!emu_started)
		return emu_leave(CUDA_ERROR_NOT_INITIALIZED);
	if (!*ctx)
		return emu_leave(CUDA_ERROR_INVALID_CONTEXT);
	if (!alive(*ctx))
		return emu_leave(CUDA_ERROR_CONTEXT_IS_DESTROYED);
	if ((*ctx)->error)
		return emu_leave((*ctx)->error);
	return CUDA_SUCCESS;
}

/* Who is told that something is under way asks again at once: the engine's thread gets the processor first. */
CUresult emu_leave(CUresult r)
{
	pthread_mutex_unlock(&emu_lock);
	if (r == CUDA_ERROR_NOT_READY)
		sched_yield();
	return r;
}

EMU_API CUresult CUDAAPI cuInit(unsigned flags)
{
	CUresult r = CUDA_SUCCESS;

	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&emu_lock);
	if (!emu_started) {
		if (!emu_machine_init()) {
			r = CUDA_ERROR_INVALID_VALUE;
		} else if (!emu_mem_init()) {
			fputs("emu: an address window of the emulated device is in use\n", stderr);
			r = CUDA_ERROR_OUT_OF_MEMORY;
		} else {
			emu_engine_start();
			emu_started = true;
		}
	}
	return emu_leave(r);
}

EMU_API CUresult CUDAAPI cuDriverGetVersion(int *version)
{
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = CUDA_VERSION;
	return CUDA_SUCCESS;
}

/* ---- the device ---------------------------------------------------------------------- */

#define DEVICE(dev) \
	do { \
		if (!emu_started) \
			return CUDA_ERROR_NOT_INITIALIZED; \
		if ((dev) != 0) \
			return CUDA_ERROR_INVALID_DEVICE; \
	} while (0)

EMU_API CUresult CUDAAPI cuDeviceGet(CUdevice *dev, int ordinal)
{
	DEVICE(ordinal);
	if (!dev)
		return CUDA_ERROR_INVALID_VALUE;
	*dev = 0;
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuDeviceGetCount(int *count)
{
	DEVICE(0);
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = 1;
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuDeviceGetName(char *name, int len, CUdevice dev)
{
	DEVICE(dev);
	if (!name || len < 1)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(name, (size_t)len, "gsan emulated device (sm_%u)", emu_m.sm_version);
	return CUDA_SUCCESS;
}

static const char bus_id[] = "0000:01:00.0";

EMU_API CUresult CUDAAPI cuDeviceGetPCIBusId(char *id, int len, CUdevice dev)
{
	DEVICE(dev);
	if (!id || len < 1)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(id, (size_t)len, "%s", bus_id);
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuDeviceGetByPCIBusId(CUdevice *dev, const char *id)
{
	DEVICE(0);
	if (!dev || !id || strcmp(id, bus_id))
		return CUDA_ERROR_INVALID_VALUE;
	*dev = 0;
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	DEVICE(dev);
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	*bytes = EMU_MEM_TOTAL;
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
	DEVICE(dev);
	if (!uuid)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(uuid->bytes, "gsan-emulated-0", 16);
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
	return cuDeviceGetUuid_v2(uuid, dev);
}

EMU_API CUresult CUDAAPI cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
	DEVICE(dev);
	*major = (int)emu_m.sm_version / 10;
	*minor = (int)emu_m.sm_version % 10;
	return CUDA_SUCCESS;
}

/* Attributes that are not here have the value 0: what the device does not do.
 * Among them is PAGEABLE_MEMORY_ACCESS: an access must hit an allocation. */
EMU_API CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute attr, CUdevice dev)
{
	int sm = (int)emu_m.sm_version, v = 0;

	DEVICE(dev);
	if (!value || attr <= 0 || attr >= CU_DEVICE_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	switch ((int)attr) {
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
		v = sm / 10;
		break;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
		v = sm % 10;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
	case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
	case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
		v = 1024;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
		v = 64;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
		v = 0x7fffffff;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
	case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
		v = 65535;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
		v = 48 << 10;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
		v = (int)emu_m.block_smem;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
		v = (int)emu_m.sm_smem;
		break;
	case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
		v = sm == 75 ? 0 : EMU_SMEM_RESERVED;
		break;
	case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
		v = 64 << 10;
		break;
	case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
		v = EMU_LANES;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
	case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
		v = 65536;
		break;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
		v = (int)emu_m.nsm;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
		v = (int)emu_m.max_threads;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
		v = (int)emu_m.max_blocks;
		break;
	case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
	case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
		v = 1000000;
		break;
	case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
		v = 512;
		break;
	case CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT:
		v = 32;
		break;
	case CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT:
		v = 512;
		break;
	case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
		v = 64;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
		v = 0x7fffffff;
		break;
	case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
		v = emu_m.fatal < 2;
		break;
	case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
	case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED:
		v = sm >= 90;
		break;
	case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
		v = 4 << 20;
		break;
	case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
	case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
	case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
	case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
	case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
	case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
	case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
	case CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED:
	case CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED:
	case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
	case CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED:
	case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
	case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
	case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
	case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
	case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
	case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
	case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
	case CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS:
		v = 1;
		break;
	}
	*value = v;
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuDeviceCanAccessPeer(int *can, CUdevice a, CUdevice b)
{
	DEVICE(a);
	DEVICE(b);
	*can = 0;
	return CUDA_SUCCESS;
}

/* ---- contexts --------------------------------------------------------------------------- */

static struct CUctx_st *ctx_new(unsigned flags)
{
	struct CUctx_st *ctx = calloc(1, sizeof *ctx);

	if (!ctx)
		abort();
	ctx->flags = flags;
	ctx->null = emu_stream_new(ctx, 0, 0);
	ctx->per_thread = emu_stream_new(ctx, 0, 0);
	ctx->limits[CU_LIMIT_STACK_SIZE] = 1024;
	ctx->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
	ctx->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
	ctx->next = emu_contexts;
	emu_contexts = ctx;
	return ctx;
}

static void ctx_free(struct CUctx_st *ctx)
{
	struct CUctx_st **p;

	emu_wait_ctx(ctx);
	emu_modules_free(ctx);
	emu_ctx_drop_streams(ctx);
	for (p = &emu_contexts; *p != ctx; p = &(*p)->next)
		;
	*p = ctx->next;
	free(ctx);
}

static CUresult push(struct CUctx_st *ctx)
{
	if (depth == STACK)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stack[depth++] = ctx;
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice dev)
{
	CUresult r;

	DEVICE(dev);
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&emu_lock);
	*out = ctx_new(flags);
	r = push(*out);
	return emu_leave(r);
}

EMU_API CUresult CUDAAPI cuCtxCreate_v3(CUcontext *out, CUexecAffinityParam *affinity, int n,
					unsigned flags, CUdevice dev)
{
	return affinity || n ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY :
	       cuCtxCreate_v2(out, flags, dev);
}

EMU_API CUresult CUDAAPI cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *params, unsigned flags,
					CUdevice dev)
{
	return params && (params->numExecAffinityParams || params->cigParams) ?
	       CUDA_ERROR_NOT_SUPPORTED : cuCtxCreate_v2(out, flags, dev);
}

EMU_API CUresult CUDAAPI cuCtxDestroy_v2(CUcontext ctx)
{
	pthread_mutex_lock(&emu_lock);
	if (!alive(ctx) || ctx->primary)
		return emu_leave(CUDA_ERROR_INVALID_CONTEXT);
	if (emu_ctx_current() == ctx)
		depth--;
	ctx_free(ctx);
	return emu_leave(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuCtxPushCurrent_v2(CUcontext ctx)
{
	return ctx ? push(ctx) : CUDA_ERROR_INVALID_CONTEXT;
}

EMU_API CUresult CUDAAPI cuCtxPopCurrent_v2(CUcontext *ctx)
{
	if (!depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	depth--;
	if (ctx)
		*ctx = stack[depth];
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuCtxSetCurrent(CUcontext ctx)
{
	if (!emu_started)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (depth)
		depth--;
	return ctx ? push(ctx) : CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuCtxGetCurrent(CUcontext *ctx)
{
	if (!emu_started)
		return CUDA_ERROR_NOT_INITIALIZED;
	*ctx = emu_ctx_current();
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuCtxGetDevice(CUdevice *dev)
{
	if (!emu_ctx_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	*dev = 0;
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuCtxGetFlags(unsigned *flags)
{
	ENTER(ctx);
	*flags = ctx->flags;
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuCtxGetId(CUcontext ctx, unsigned long long *id)
{
	if (!ctx)
		ctx = emu_ctx_current();
	if (!ctx)
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	*id = (uintptr_t)ctx;
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuCtxGetApiVersion(CUcontext ctx, unsigned *version)
{
	(void)ctx;
	*version = 3020;
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = 0;
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuCtxSynchronize(void)
{
	ENTER(ctx);
	LEAVE(emu_wait_ctx(ctx));
}

EMU_API CUresult CUDAAPI cuCtxGetLimit(size_t *value, CUlimit limit)
{
	ENTER(ctx);
	if (!value || (unsigned)limit >= CU_LIMIT_MAX)
		LEAVE(CUDA_ERROR_UNSUPPORTED_LIMIT);
	*value = ctx->limits[limit];
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuCtxSetLimit(CUlimit limit, size_t value)
{
	ENTER(ctx);
	switch ((int)limit) {
	case CU_LIMIT_STACK_SIZE:
		if (value > EMU_MAX_LOCAL)
			LEAVE(CUDA_ERROR_INVALID_VALUE);
		break;
	case CU_LIMIT_PRINTF_FIFO_SIZE:
		break;
	case CU_LIMIT_MALLOC_HEAP_SIZE:
		emu_m.heap_limit = value;
		break;
	default:
		LEAVE(CUDA_ERROR_UNSUPPORTED_LIMIT);
	}
	ctx->limits[limit] = value;
	LEAVE(CUDA_SUCCESS);
}

/* ---- the primary context ------------------------------------------------------------------ */

static struct CUctx_st *primary;
static unsigned primary_flags;          /* of the one that there is, and those to come */

EMU_API CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice dev)
{
	DEVICE(dev);
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&emu_lock);
	if (!primary) {
		primary = ctx_new(primary_flags);
		primary->primary = true;
	}
	primary->retained++;
	*out = primary;
	return emu_leave(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	CUresult r = CUDA_SUCCESS;

	DEVICE(dev);
	pthread_mutex_lock(&emu_lock);
	if (!primary) {
		r = CUDA_ERROR_INVALID_CONTEXT;
	} else if (!--primary->retained) {
		ctx_free(primary);
		primary = NULL;
	}
	return emu_leave(r);
}

EMU_API CUresult CUDAAPI cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
	DEVICE(dev);
	pthread_mutex_lock(&emu_lock);
	if (primary) {
		ctx_free(primary);
		primary = NULL;
	}
	primary_flags = 0;
	return emu_leave(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned flags)
{
	DEVICE(dev);
	pthread_mutex_lock(&emu_lock);
	primary_flags = flags;
	if (primary)
		primary->flags = flags;
	return emu_leave(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice dev, unsigned *flags, int *active)
{
	DEVICE(dev);
	pthread_mutex_lock(&emu_lock);
	*flags = primary_flags;
	*active = primary != NULL;
	return emu_leave(CUDA_SUCCESS);
}

/* ---- errors ---------------------------------------------------------------------------------- */

#define ERRORS(E) \
	E(SUCCESS, "no error") \
	E(ERROR_INVALID_VALUE, "invalid argument") \
	E(ERROR_OUT_OF_MEMORY, "out of memory") \
	E(ERROR_NOT_INITIALIZED, "initialization error") \
	E(ERROR_DEINITIALIZED, "driver shutting down") \
	E(ERROR_NO_DEVICE, "no CUDA-capable device is detected") \
	E(ERROR_INVALID_DEVICE, "invalid device ordinal") \
	E(ERROR_INVALID_IMAGE, "device kernel image is invalid") \
	E(ERROR_INVALID_CONTEXT, "invalid device context") \
	E(ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device") \
	E(ERROR_INVALID_PTX, "a PTX JIT compilation failed") \
	E(ERROR_UNSUPPORTED_LIMIT, "limit is not supported on this architecture") \
	E(ERROR_UNSUPPORTED_EXEC_AFFINITY, "execution affinity is not supported") \
	E(ERROR_FILE_NOT_FOUND, "file not found") \
	E(ERROR_INVALID_HANDLE, "invalid resource handle") \
	E(ERROR_NOT_FOUND, "named symbol not found") \
	E(ERROR_NOT_READY, "device not ready") \
	E(ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered") \
	E(ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch") \
	E(ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated") \
	E(ERROR_CONTEXT_IS_DESTROYED, "context is destroyed") \
	E(ERROR_ASSERT, "device-side assert triggered") \
	E(ERROR_HOST_MEMORY_ALREADY_REGISTERED, "part or all of the requested memory range is already mapped") \
	E(ERROR_HOST_MEMORY_NOT_REGISTERED, "pointer does not correspond to a registered memory region") \
	E(ERROR_HARDWARE_STACK_ERROR, "hardware stack error") \
	E(ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction was encountered") \
	E(ERROR_MISALIGNED_ADDRESS, "misaligned address") \
	E(ERROR_INVALID_ADDRESS_SPACE, "operation not supported on global/shared address space") \
	E(ERROR_INVALID_PC, "invalid program counter") \
	E(ERROR_LAUNCH_FAILED, "unspecified launch failure") \
	E(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks in cooperative launch") \
	E(ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state") \
	E(ERROR_NOT_PERMITTED, "operation not permitted") \
	E(ERROR_NOT_SUPPORTED, "operation not supported") \
	E(ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing") \
	E(ERROR_STREAM_CAPTURE_INVALIDATED, "operation failed due to a previous error during capture") \
	E(ERROR_STREAM_CAPTURE_MERGE, "operation would result in a merge of separate capture sequences") \
	E(ERROR_STREAM_CAPTURE_UNMATCHED, "capture was not ended in the same stream as it began") \
	E(ERROR_STREAM_CAPTURE_UNJOINED, "capturing stream has unjoined work") \
	E(ERROR_STREAM_CAPTURE_ISOLATION, "dependency created on uncaptured work in another stream") \
	E(ERROR_STREAM_CAPTURE_IMPLICIT, "operation would make the legacy stream depend on a capturing blocking stream") \
	E(ERROR_CAPTURED_EVENT, "operation not permitted on an event last recorded in a capturing stream") \
	E(ERROR_STREAM_CAPTURE_WRONG_THREAD, "attempt to terminate a thread-local capture sequence from another thread") \
	E(ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the graph update was not performed: the graph has another shape") \
	E(ERROR_INVALID_CLUSTER_SIZE, "the cluster cannot be resident on the device") \
	E(ERROR_UNKNOWN, "unknown error")

struct error_name { CUresult code; const char *name, *text; };

static const struct error_name *error_find(CUresult code)
{
#define E(id, text) {CUDA_##id, "CUDA_" #id, text},
	static const struct error_name table[] = { ERRORS(E) };
#undef E

	for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].code == code)
			return &table[i];
	return NULL;
}

EMU_API CUresult CUDAAPI cuGetErrorName(CUresult code, const char **name)
{
	const struct error_name *e = error_find(code);

	*name = e ? e->name : NULL;
	return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EMU_API CUresult CUDAAPI cuGetErrorString(CUresult code, const char **text)
{
	const struct error_name *e = error_find(code);

	*text = e ? e->text : NULL;
	return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EMU_API CUresult CUDAAPI cuProfilerStart(void)
{
	ENTER(ctx);
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuProfilerStop(void)
{
	ENTER(ctx);
	LEAVE(CUDA_SUCCESS);
}
