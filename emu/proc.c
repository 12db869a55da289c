/* SPDX-License-Identifier: Apache-2.0
 *
 * proc.c: cuGetProcAddress: every entry point by its name without a version.  The
 * list is in order of names; of several versions the newest stands last.
 */
#include <string.h>

#include "emu/api.h"

#include <cudaProfiler.h>

CUresult CUDAAPI cuGetProcAddress_v2(const char *, void **, int, cuuint64_t,
				     CUdriverProcAddressQueryResult *);

#define ENTRY_POINTS(P) \
	P("cuCtxCreate", cuCtxCreate_v2) \
	P("cuCtxCreate", cuCtxCreate_v3) \
	P("cuCtxCreate", cuCtxCreate_v4) \
	P("cuCtxDestroy", cuCtxDestroy_v2) \
	P("cuCtxGetApiVersion", cuCtxGetApiVersion) \
	P("cuCtxGetCurrent", cuCtxGetCurrent) \
	P("cuCtxGetDevice", cuCtxGetDevice) \
	P("cuCtxGetFlags", cuCtxGetFlags) \
	P("cuCtxGetId", cuCtxGetId) \
	P("cuCtxGetLimit", cuCtxGetLimit) \
	P("cuCtxGetStreamPriorityRange", cuCtxGetStreamPriorityRange) \
	P("cuCtxPopCurrent", cuCtxPopCurrent_v2) \
	P("cuCtxPushCurrent", cuCtxPushCurrent_v2) \
	P("cuCtxSetCurrent", cuCtxSetCurrent) \
	P("cuCtxSetLimit", cuCtxSetLimit) \
	P("cuCtxSynchronize", cuCtxSynchronize) \
	P("cuDeviceCanAccessPeer", cuDeviceCanAccessPeer) \
	P("cuDeviceComputeCapability", cuDeviceComputeCapability) \
	P("cuDeviceGet", cuDeviceGet) \
	P("cuDeviceGetAttribute", cuDeviceGetAttribute) \
	P("cuDeviceGetCount", cuDeviceGetCount) \
	P("cuDeviceGetName", cuDeviceGetName) \
	P("cuDeviceGetUuid", cuDeviceGetUuid) \
	P("cuDeviceGetUuid", cuDeviceGetUuid_v2) \
	P("cuDevicePrimaryCtxGetState", cuDevicePrimaryCtxGetState) \
	P("cuDevicePrimaryCtxRelease", cuDevicePrimaryCtxRelease_v2) \
	P("cuDevicePrimaryCtxReset", cuDevicePrimaryCtxReset_v2) \
	P("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain) \
	P("cuDevicePrimaryCtxSetFlags", cuDevicePrimaryCtxSetFlags_v2) \
	P("cuDeviceTotalMem", cuDeviceTotalMem_v2) \
	P("cuDriverGetVersion", cuDriverGetVersion) \
	P("cuEventCreate", cuEventCreate) \
	P("cuEventDestroy", cuEventDestroy_v2) \
	P("cuEventElapsedTime", cuEventElapsedTime) \
	P("cuEventElapsedTime", cuEventElapsedTime_v2) \
	P("cuEventQuery", cuEventQuery) \
	P("cuEventRecord", cuEventRecord) \
	P("cuEventRecordWithFlags", cuEventRecordWithFlags) \
	P("cuEventSynchronize", cuEventSynchronize) \
	P("cuFuncGetAttribute", cuFuncGetAttribute) \
	P("cuFuncGetModule", cuFuncGetModule) \
	P("cuFuncGetName", cuFuncGetName) \
	P("cuFuncGetParamInfo", cuFuncGetParamInfo) \
	P("cuFuncIsLoaded", cuFuncIsLoaded) \
	P("cuFuncLoad", cuFuncLoad) \
	P("cuFuncSetAttribute", cuFuncSetAttribute) \
	P("cuFuncSetCacheConfig", cuFuncSetCacheConfig) \
	P("cuGetErrorName", cuGetErrorName) \
	P("cuGetErrorString", cuGetErrorString) \
	P("cuGetProcAddress", cuGetProcAddress) \
	P("cuGetProcAddress", cuGetProcAddress_v2) \
	P("cuInit", cuInit) \
	P("cuKernelGetAttribute", cuKernelGetAttribute) \
	P("cuKernelGetFunction", cuKernelGetFunction) \
	P("cuKernelGetLibrary", cuKernelGetLibrary) \
	P("cuKernelGetName", cuKernelGetName) \
	P("cuKernelGetParamInfo", cuKernelGetParamInfo) \
	P("cuKernelSetAttribute", cuKernelSetAttribute) \
	P("cuLaunchCooperativeKernel", cuLaunchCooperativeKernel) \
	P("cuLaunchHostFunc", cuLaunchHostFunc) \
	P("cuLaunchKernel", cuLaunchKernel) \
	P("cuLaunchKernelEx", cuLaunchKernelEx) \
	P("cuLibraryEnumerateKernels", cuLibraryEnumerateKernels) \
	P("cuLibraryGetGlobal", cuLibraryGetGlobal) \
	P("cuLibraryGetKernel", cuLibraryGetKernel) \
	P("cuLibraryGetKernelCount", cuLibraryGetKernelCount) \
	P("cuLibraryGetManaged", cuLibraryGetManaged) \
	P("cuLibraryGetModule", cuLibraryGetModule) \
	P("cuLibraryLoadData", cuLibraryLoadData) \
	P("cuLibraryLoadFromFile", cuLibraryLoadFromFile) \
	P("cuLibraryUnload", cuLibraryUnload) \
	P("cuMemAddressFree", cuMemAddressFree) \
	P("cuMemAddressReserve", cuMemAddressReserve) \
	P("cuMemAdvise", cuMemAdvise) \
	P("cuMemAlloc", cuMemAlloc_v2) \
	P("cuMemAllocAsync", cuMemAllocAsync) \
	P("cuMemAllocHost", cuMemAllocHost_v2) \
	P("cuMemAllocManaged", cuMemAllocManaged) \
	P("cuMemAllocPitch", cuMemAllocPitch_v2) \
	P("cuMemCreate", cuMemCreate) \
	P("cuMemFree", cuMemFree_v2) \
	P("cuMemFreeAsync", cuMemFreeAsync) \
	P("cuMemFreeHost", cuMemFreeHost) \
	P("cuMemGetAccess", cuMemGetAccess) \
	P("cuMemGetAddressRange", cuMemGetAddressRange_v2) \
	P("cuMemGetAllocationGranularity", cuMemGetAllocationGranularity) \
	P("cuMemGetInfo", cuMemGetInfo_v2) \
	P("cuMemHostAlloc", cuMemHostAlloc) \
	P("cuMemHostGetDevicePointer", cuMemHostGetDevicePointer_v2) \
	P("cuMemHostGetFlags", cuMemHostGetFlags) \
	P("cuMemHostRegister", cuMemHostRegister_v2) \
	P("cuMemHostUnregister", cuMemHostUnregister) \
	P("cuMemMap", cuMemMap) \
	P("cuMemPrefetchAsync", cuMemPrefetchAsync) \
	P("cuMemRelease", cuMemRelease) \
	P("cuMemSetAccess", cuMemSetAccess) \
	P("cuMemUnmap", cuMemUnmap) \
	P("cuMemcpy", cuMemcpy) \
	P("cuMemcpy2D", cuMemcpy2D_v2) \
	P("cuMemcpy2DAsync", cuMemcpy2DAsync_v2) \
	P("cuMemcpy2DUnaligned", cuMemcpy2DUnaligned_v2) \
	P("cuMemcpyAsync", cuMemcpyAsync) \
	P("cuMemcpyDtoD", cuMemcpyDtoD_v2) \
	P("cuMemcpyDtoDAsync", cuMemcpyDtoDAsync_v2) \
	P("cuMemcpyDtoH", cuMemcpyDtoH_v2) \
	P("cuMemcpyDtoHAsync", cuMemcpyDtoHAsync_v2) \
	P("cuMemcpyHtoD", cuMemcpyHtoD_v2) \
	P("cuMemcpyHtoDAsync", cuMemcpyHtoDAsync_v2) \
	P("cuMemsetD16", cuMemsetD16_v2) \
	P("cuMemsetD16Async", cuMemsetD16Async) \
	P("cuMemsetD2D32", cuMemsetD2D32_v2) \
	P("cuMemsetD2D8", cuMemsetD2D8_v2) \
	P("cuMemsetD32", cuMemsetD32_v2) \
	P("cuMemsetD32Async", cuMemsetD32Async) \
	P("cuMemsetD8", cuMemsetD8_v2) \
	P("cuMemsetD8Async", cuMemsetD8Async) \
	P("cuModuleEnumerateFunctions", cuModuleEnumerateFunctions) \
	P("cuModuleGetFunction", cuModuleGetFunction) \
	P("cuModuleGetFunctionCount", cuModuleGetFunctionCount) \
	P("cuModuleGetGlobal", cuModuleGetGlobal_v2) \
	P("cuModuleGetLoadingMode", cuModuleGetLoadingMode) \
	P("cuModuleLoad", cuModuleLoad) \
	P("cuModuleLoadData", cuModuleLoadData) \
	P("cuModuleLoadDataEx", cuModuleLoadDataEx) \
	P("cuModuleUnload", cuModuleUnload) \
	P("cuOccupancyMaxActiveBlocksPerMultiprocessor", cuOccupancyMaxActiveBlocksPerMultiprocessor) \
	P("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) \
	P("cuOccupancyMaxPotentialBlockSize", cuOccupancyMaxPotentialBlockSize) \
	P("cuPointerGetAttribute", cuPointerGetAttribute) \
	P("cuPointerGetAttributes", cuPointerGetAttributes) \
	P("cuProfilerStart", cuProfilerStart) \
	P("cuProfilerStop", cuProfilerStop) \
	P("cuStreamAddCallback", cuStreamAddCallback) \
	P("cuStreamCreate", cuStreamCreate) \
	P("cuStreamCreateWithPriority", cuStreamCreateWithPriority) \
	P("cuStreamDestroy", cuStreamDestroy_v2) \
	P("cuStreamGetCtx", cuStreamGetCtx) \
	P("cuStreamGetFlags", cuStreamGetFlags) \
	P("cuStreamGetId", cuStreamGetId) \
	P("cuStreamGetPriority", cuStreamGetPriority) \
	P("cuStreamIsCapturing", cuStreamIsCapturing) \
	P("cuStreamQuery", cuStreamQuery) \
	P("cuStreamSynchronize", cuStreamSynchronize) \
	P("cuStreamWaitEvent", cuStreamWaitEvent) \
	P("cuTensorMapEncodeIm2col", cuTensorMapEncodeIm2col) \
	P("cuTensorMapEncodeIm2colWide", cuTensorMapEncodeIm2colWide) \
	P("cuTensorMapEncodeTiled", cuTensorMapEncodeTiled) \
	P("cuTensorMapReplaceAddress", cuTensorMapReplaceAddress) \
	P("cuThreadExchangeStreamCaptureMode", cuThreadExchangeStreamCaptureMode)

#define PROC(name, fn) {name, #fn, (proc *)fn},

typedef void proc(void);

static const struct { const char *name, *symbol; proc *fn; } procs[] = {
	ENTRY_POINTS(PROC)
};

/* By the name without a version, or the very symbol. */
static proc *find(const char *name)
{
	proc *fn = NULL;

	for (unsigned i = 0; i < sizeof procs / sizeof *procs; i++)
		if (!strcmp(procs[i].name, name))
			fn = procs[i].fn;
	for (unsigned i = 0; !fn && i < sizeof procs / sizeof *procs; i++)
		if (!strcmp(procs[i].symbol, name))
			fn = procs[i].fn;
	return fn;
}

EMU_API CUresult CUDAAPI cuGetProcAddress_v2(const char *name, void **fn, int version,
					     cuuint64_t flags,
					     CUdriverProcAddressQueryResult *status)
{
	proc *p;

	if (!name || !fn || version < 0)
		return CUDA_ERROR_INVALID_VALUE;
	(void)flags;                    /* there are no variants by default stream */
	p = find(name);
	memcpy(fn, &p, sizeof p);       /* the driver's interface, not C's */
	if (status)
		*status = *fn ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return *fn ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

EMU_API CUresult CUDAAPI cuGetProcAddress(const char *name, void **fn, int version, cuuint64_t flags)
{
	return cuGetProcAddress_v2(name, fn, version, flags, NULL);
}
