/* SPDX-License-Identifier: Apache-2.0
 *
 * proc.c: cuGetProcAddress: every entry point by its name without a version.  The
 * list is in order of names, with the CUDA version from which on an entry point is the
 * one of its name (0: always); of several the newest stands last.
 */
#include <stdio.h>
#include <string.h>

#include "emu/api.h"

#include <cudaProfiler.h>

CUresult CUDAAPI cuGetProcAddress_v2(const char *, void **, int, cuuint64_t,
				     CUdriverProcAddressQueryResult *);

/* Tables that no document describes: there are none.  NVRTC can do without.  NVIDIA's CUDA
 * runtime cannot, and has the driver prove that it is NVIDIA's: the emulated device has a
 * runtime of its own (cudart/). */
EMU_API CUresult CUDAAPI cuGetExportTable(const void **table, const CUuuid *id)
{
	static const unsigned char runtime[] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a};
	static bool told;

	if (!table || !id)
		return CUDA_ERROR_INVALID_VALUE;
	if (!told && !memcmp(id->bytes, runtime, sizeof runtime)) {
		fputs("emu: the program is using NVIDIA's CUDA runtime, which works with NVIDIA's driver alone;\n"
		      "emu: gsan-run --device=emu -- PROGRAM puts the emulated device's own in its place, unless the\n"
		      "emu: program was stripped: then build it with -cudart shared\n", stderr);
		told = true;
	}
	*table = NULL;
	return CUDA_ERROR_NOT_SUPPORTED;
}

#define ENTRY_POINTS(P) \
	P("cuCtxCreate", cuCtxCreate_v2, 0) \
	P("cuCtxCreate", cuCtxCreate_v3, 11040) \
	P("cuCtxCreate", cuCtxCreate_v4, 12050) \
	P("cuCtxDestroy", cuCtxDestroy_v2, 0) \
	P("cuCtxGetApiVersion", cuCtxGetApiVersion, 0) \
	P("cuCtxGetCurrent", cuCtxGetCurrent, 0) \
	P("cuCtxGetDevice", cuCtxGetDevice, 0) \
	P("cuCtxGetFlags", cuCtxGetFlags, 0) \
	P("cuCtxGetId", cuCtxGetId, 0) \
	P("cuCtxGetLimit", cuCtxGetLimit, 0) \
	P("cuCtxGetStreamPriorityRange", cuCtxGetStreamPriorityRange, 0) \
	P("cuCtxPopCurrent", cuCtxPopCurrent_v2, 0) \
	P("cuCtxPushCurrent", cuCtxPushCurrent_v2, 0) \
	P("cuCtxSetCurrent", cuCtxSetCurrent, 0) \
	P("cuCtxSetLimit", cuCtxSetLimit, 0) \
	P("cuCtxSynchronize", cuCtxSynchronize, 0) \
	P("cuDeviceCanAccessPeer", cuDeviceCanAccessPeer, 0) \
	P("cuDeviceComputeCapability", cuDeviceComputeCapability, 0) \
	P("cuDeviceGet", cuDeviceGet, 0) \
	P("cuDeviceGetAttribute", cuDeviceGetAttribute, 0) \
	P("cuDeviceGetByPCIBusId", cuDeviceGetByPCIBusId, 0) \
	P("cuDeviceGetCount", cuDeviceGetCount, 0) \
	P("cuDeviceGetDefaultMemPool", cuDeviceGetDefaultMemPool, 0) \
	P("cuDeviceGetMemPool", cuDeviceGetMemPool, 0) \
	P("cuDeviceGetName", cuDeviceGetName, 0) \
	P("cuDeviceGetPCIBusId", cuDeviceGetPCIBusId, 0) \
	P("cuDeviceGetUuid", cuDeviceGetUuid, 0) \
	P("cuDeviceGetUuid", cuDeviceGetUuid_v2, 11040) \
	P("cuDevicePrimaryCtxGetState", cuDevicePrimaryCtxGetState, 0) \
	P("cuDevicePrimaryCtxRelease", cuDevicePrimaryCtxRelease_v2, 0) \
	P("cuDevicePrimaryCtxReset", cuDevicePrimaryCtxReset_v2, 0) \
	P("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain, 0) \
	P("cuDevicePrimaryCtxSetFlags", cuDevicePrimaryCtxSetFlags_v2, 0) \
	P("cuDeviceSetMemPool", cuDeviceSetMemPool, 0) \
	P("cuDeviceTotalMem", cuDeviceTotalMem_v2, 0) \
	P("cuDriverGetVersion", cuDriverGetVersion, 0) \
	P("cuEventCreate", cuEventCreate, 0) \
	P("cuEventDestroy", cuEventDestroy_v2, 0) \
	P("cuEventElapsedTime", cuEventElapsedTime, 0) \
	P("cuEventElapsedTime", cuEventElapsedTime_v2, 12080) \
	P("cuEventQuery", cuEventQuery, 0) \
	P("cuEventRecord", cuEventRecord, 0) \
	P("cuEventRecordWithFlags", cuEventRecordWithFlags, 0) \
	P("cuEventSynchronize", cuEventSynchronize, 0) \
	P("cuFuncGetAttribute", cuFuncGetAttribute, 0) \
	P("cuFuncGetModule", cuFuncGetModule, 0) \
	P("cuFuncGetName", cuFuncGetName, 0) \
	P("cuFuncGetParamInfo", cuFuncGetParamInfo, 0) \
	P("cuFuncIsLoaded", cuFuncIsLoaded, 0) \
	P("cuFuncLoad", cuFuncLoad, 0) \
	P("cuFuncSetAttribute", cuFuncSetAttribute, 0) \
	P("cuFuncSetCacheConfig", cuFuncSetCacheConfig, 0) \
	P("cuGetErrorName", cuGetErrorName, 0) \
	P("cuGetErrorString", cuGetErrorString, 0) \
	P("cuGetExportTable", cuGetExportTable, 0) \
	P("cuGetProcAddress", cuGetProcAddress, 0) \
	P("cuGetProcAddress", cuGetProcAddress_v2, 12000) \
	P("cuGraphAddChildGraphNode", cuGraphAddChildGraphNode, 0) \
	P("cuGraphAddDependencies", cuGraphAddDependencies, 0) \
	P("cuGraphAddDependencies", cuGraphAddDependencies_v2, 12030) \
	P("cuGraphAddEmptyNode", cuGraphAddEmptyNode, 0) \
	P("cuGraphAddEventRecordNode", cuGraphAddEventRecordNode, 0) \
	P("cuGraphAddEventWaitNode", cuGraphAddEventWaitNode, 0) \
	P("cuGraphAddHostNode", cuGraphAddHostNode, 0) \
	P("cuGraphAddKernelNode", cuGraphAddKernelNode_v2, 0) \
	P("cuGraphAddMemAllocNode", cuGraphAddMemAllocNode, 0) \
	P("cuGraphAddMemFreeNode", cuGraphAddMemFreeNode, 0) \
	P("cuGraphAddMemcpyNode", cuGraphAddMemcpyNode, 0) \
	P("cuGraphAddMemsetNode", cuGraphAddMemsetNode, 0) \
	P("cuGraphChildGraphNodeGetGraph", cuGraphChildGraphNodeGetGraph, 0) \
	P("cuGraphClone", cuGraphClone, 0) \
	P("cuGraphCreate", cuGraphCreate, 0) \
	P("cuGraphDestroy", cuGraphDestroy, 0) \
	P("cuGraphDestroyNode", cuGraphDestroyNode, 0) \
	P("cuGraphEventRecordNodeGetEvent", cuGraphEventRecordNodeGetEvent, 0) \
	P("cuGraphEventRecordNodeSetEvent", cuGraphEventRecordNodeSetEvent, 0) \
	P("cuGraphEventWaitNodeGetEvent", cuGraphEventWaitNodeGetEvent, 0) \
	P("cuGraphEventWaitNodeSetEvent", cuGraphEventWaitNodeSetEvent, 0) \
	P("cuGraphExecChildGraphNodeSetParams", cuGraphExecChildGraphNodeSetParams, 0) \
	P("cuGraphExecDestroy", cuGraphExecDestroy, 0) \
	P("cuGraphExecEventRecordNodeSetEvent", cuGraphExecEventRecordNodeSetEvent, 0) \
	P("cuGraphExecEventWaitNodeSetEvent", cuGraphExecEventWaitNodeSetEvent, 0) \
	P("cuGraphExecGetFlags", cuGraphExecGetFlags, 0) \
	P("cuGraphExecHostNodeSetParams", cuGraphExecHostNodeSetParams, 0) \
	P("cuGraphExecKernelNodeSetParams", cuGraphExecKernelNodeSetParams_v2, 0) \
	P("cuGraphExecMemcpyNodeSetParams", cuGraphExecMemcpyNodeSetParams, 0) \
	P("cuGraphExecMemsetNodeSetParams", cuGraphExecMemsetNodeSetParams, 0) \
	P("cuGraphExecUpdate", cuGraphExecUpdate_v2, 0) \
	P("cuGraphGetEdges", cuGraphGetEdges, 0) \
	P("cuGraphGetEdges", cuGraphGetEdges_v2, 12030) \
	P("cuGraphGetNodes", cuGraphGetNodes, 0) \
	P("cuGraphGetRootNodes", cuGraphGetRootNodes, 0) \
	P("cuGraphHostNodeGetParams", cuGraphHostNodeGetParams, 0) \
	P("cuGraphHostNodeSetParams", cuGraphHostNodeSetParams, 0) \
	P("cuGraphInstantiate", cuGraphInstantiateWithFlags, 0) \
	P("cuGraphInstantiateWithFlags", cuGraphInstantiateWithFlags, 0) \
	P("cuGraphInstantiateWithParams", cuGraphInstantiateWithParams, 0) \
	P("cuGraphKernelNodeCopyAttributes", cuGraphKernelNodeCopyAttributes, 0) \
	P("cuGraphKernelNodeGetAttribute", cuGraphKernelNodeGetAttribute, 0) \
	P("cuGraphKernelNodeGetParams", cuGraphKernelNodeGetParams_v2, 0) \
	P("cuGraphKernelNodeSetAttribute", cuGraphKernelNodeSetAttribute, 0) \
	P("cuGraphKernelNodeSetParams", cuGraphKernelNodeSetParams_v2, 0) \
	P("cuGraphLaunch", cuGraphLaunch, 0) \
	P("cuGraphMemFreeNodeGetParams", cuGraphMemFreeNodeGetParams, 0) \
	P("cuGraphMemcpyNodeGetParams", cuGraphMemcpyNodeGetParams, 0) \
	P("cuGraphMemcpyNodeSetParams", cuGraphMemcpyNodeSetParams, 0) \
	P("cuGraphMemsetNodeGetParams", cuGraphMemsetNodeGetParams, 0) \
	P("cuGraphMemsetNodeSetParams", cuGraphMemsetNodeSetParams, 0) \
	P("cuGraphNodeFindInClone", cuGraphNodeFindInClone, 0) \
	P("cuGraphNodeGetDependencies", cuGraphNodeGetDependencies, 0) \
	P("cuGraphNodeGetDependencies", cuGraphNodeGetDependencies_v2, 12030) \
	P("cuGraphNodeGetDependentNodes", cuGraphNodeGetDependentNodes, 0) \
	P("cuGraphNodeGetDependentNodes", cuGraphNodeGetDependentNodes_v2, 12030) \
	P("cuGraphNodeGetEnabled", cuGraphNodeGetEnabled, 0) \
	P("cuGraphNodeGetType", cuGraphNodeGetType, 0) \
	P("cuGraphNodeSetEnabled", cuGraphNodeSetEnabled, 0) \
	P("cuGraphRemoveDependencies", cuGraphRemoveDependencies, 0) \
	P("cuGraphRemoveDependencies", cuGraphRemoveDependencies_v2, 12030) \
	P("cuGraphUpload", cuGraphUpload, 0) \
	P("cuInit", cuInit, 0) \
	P("cuKernelGetAttribute", cuKernelGetAttribute, 0) \
	P("cuKernelGetFunction", cuKernelGetFunction, 0) \
	P("cuKernelGetLibrary", cuKernelGetLibrary, 0) \
	P("cuKernelGetName", cuKernelGetName, 0) \
	P("cuKernelGetParamInfo", cuKernelGetParamInfo, 0) \
	P("cuKernelSetAttribute", cuKernelSetAttribute, 0) \
	P("cuLaunchCooperativeKernel", cuLaunchCooperativeKernel, 0) \
	P("cuLaunchHostFunc", cuLaunchHostFunc, 0) \
	P("cuLaunchKernel", cuLaunchKernel, 0) \
	P("cuLaunchKernelEx", cuLaunchKernelEx, 0) \
	P("cuLibraryEnumerateKernels", cuLibraryEnumerateKernels, 0) \
	P("cuLibraryGetGlobal", cuLibraryGetGlobal, 0) \
	P("cuLibraryGetKernel", cuLibraryGetKernel, 0) \
	P("cuLibraryGetKernelCount", cuLibraryGetKernelCount, 0) \
	P("cuLibraryGetManaged", cuLibraryGetManaged, 0) \
	P("cuLibraryGetModule", cuLibraryGetModule, 0) \
	P("cuLibraryLoadData", cuLibraryLoadData, 0) \
	P("cuLibraryLoadFromFile", cuLibraryLoadFromFile, 0) \
	P("cuLibraryUnload", cuLibraryUnload, 0) \
	P("cuMemAddressFree", cuMemAddressFree, 0) \
	P("cuMemAddressReserve", cuMemAddressReserve, 0) \
	P("cuMemAdvise", cuMemAdvise, 0) \
	P("cuMemAlloc", cuMemAlloc_v2, 0) \
	P("cuMemAllocAsync", cuMemAllocAsync, 0) \
	P("cuMemAllocFromPoolAsync", cuMemAllocFromPoolAsync, 0) \
	P("cuMemAllocHost", cuMemAllocHost_v2, 0) \
	P("cuMemAllocManaged", cuMemAllocManaged, 0) \
	P("cuMemAllocPitch", cuMemAllocPitch_v2, 0) \
	P("cuMemCreate", cuMemCreate, 0) \
	P("cuMemExportToShareableHandle", cuMemExportToShareableHandle, 0) \
	P("cuMemFree", cuMemFree_v2, 0) \
	P("cuMemFreeAsync", cuMemFreeAsync, 0) \
	P("cuMemFreeHost", cuMemFreeHost, 0) \
	P("cuMemGetAccess", cuMemGetAccess, 0) \
	P("cuMemGetAddressRange", cuMemGetAddressRange_v2, 0) \
	P("cuMemGetAllocationGranularity", cuMemGetAllocationGranularity, 0) \
	P("cuMemGetInfo", cuMemGetInfo_v2, 0) \
	P("cuMemHostAlloc", cuMemHostAlloc, 0) \
	P("cuMemHostGetDevicePointer", cuMemHostGetDevicePointer_v2, 0) \
	P("cuMemHostGetFlags", cuMemHostGetFlags, 0) \
	P("cuMemHostRegister", cuMemHostRegister_v2, 0) \
	P("cuMemHostUnregister", cuMemHostUnregister, 0) \
	P("cuMemImportFromShareableHandle", cuMemImportFromShareableHandle, 0) \
	P("cuMemMap", cuMemMap, 0) \
	P("cuMemPoolCreate", cuMemPoolCreate, 0) \
	P("cuMemPoolDestroy", cuMemPoolDestroy, 0) \
	P("cuMemPoolGetAccess", cuMemPoolGetAccess, 0) \
	P("cuMemPoolGetAttribute", cuMemPoolGetAttribute, 0) \
	P("cuMemPoolSetAccess", cuMemPoolSetAccess, 0) \
	P("cuMemPoolSetAttribute", cuMemPoolSetAttribute, 0) \
	P("cuMemPoolTrimTo", cuMemPoolTrimTo, 0) \
	P("cuMemPrefetchAsync", cuMemPrefetchAsync, 0) \
	P("cuMemPrefetchAsync", cuMemPrefetchAsync_v2, 12020) \
	P("cuMemRelease", cuMemRelease, 0) \
	P("cuMemSetAccess", cuMemSetAccess, 0) \
	P("cuMemUnmap", cuMemUnmap, 0) \
	P("cuMemcpy", cuMemcpy, 0) \
	P("cuMemcpy2D", cuMemcpy2D_v2, 0) \
	P("cuMemcpy2DAsync", cuMemcpy2DAsync_v2, 0) \
	P("cuMemcpy2DUnaligned", cuMemcpy2DUnaligned_v2, 0) \
	P("cuMemcpy3D", cuMemcpy3D_v2, 0) \
	P("cuMemcpy3DAsync", cuMemcpy3DAsync_v2, 0) \
	P("cuMemcpyAsync", cuMemcpyAsync, 0) \
	P("cuMemcpyDtoD", cuMemcpyDtoD_v2, 0) \
	P("cuMemcpyDtoDAsync", cuMemcpyDtoDAsync_v2, 0) \
	P("cuMemcpyDtoH", cuMemcpyDtoH_v2, 0) \
	P("cuMemcpyDtoHAsync", cuMemcpyDtoHAsync_v2, 0) \
	P("cuMemcpyHtoD", cuMemcpyHtoD_v2, 0) \
	P("cuMemcpyHtoDAsync", cuMemcpyHtoDAsync_v2, 0) \
	P("cuMemcpyPeer", cuMemcpyPeer, 0) \
	P("cuMemcpyPeerAsync", cuMemcpyPeerAsync, 0) \
	P("cuMemsetD16", cuMemsetD16_v2, 0) \
	P("cuMemsetD16Async", cuMemsetD16Async, 0) \
	P("cuMemsetD2D16", cuMemsetD2D16_v2, 0) \
	P("cuMemsetD2D16Async", cuMemsetD2D16Async, 0) \
	P("cuMemsetD2D32", cuMemsetD2D32_v2, 0) \
	P("cuMemsetD2D32Async", cuMemsetD2D32Async, 0) \
	P("cuMemsetD2D8", cuMemsetD2D8_v2, 0) \
	P("cuMemsetD2D8Async", cuMemsetD2D8Async, 0) \
	P("cuMemsetD32", cuMemsetD32_v2, 0) \
	P("cuMemsetD32Async", cuMemsetD32Async, 0) \
	P("cuMemsetD8", cuMemsetD8_v2, 0) \
	P("cuMemsetD8Async", cuMemsetD8Async, 0) \
	P("cuModuleEnumerateFunctions", cuModuleEnumerateFunctions, 0) \
	P("cuModuleGetFunction", cuModuleGetFunction, 0) \
	P("cuModuleGetFunctionCount", cuModuleGetFunctionCount, 0) \
	P("cuModuleGetGlobal", cuModuleGetGlobal_v2, 0) \
	P("cuModuleGetLoadingMode", cuModuleGetLoadingMode, 0) \
	P("cuModuleLoad", cuModuleLoad, 0) \
	P("cuModuleLoadData", cuModuleLoadData, 0) \
	P("cuModuleLoadDataEx", cuModuleLoadDataEx, 0) \
	P("cuModuleLoadFatBinary", cuModuleLoadFatBinary, 0) \
	P("cuModuleUnload", cuModuleUnload, 0) \
	P("cuOccupancyAvailableDynamicSMemPerBlock", cuOccupancyAvailableDynamicSMemPerBlock, 0) \
	P("cuOccupancyMaxActiveBlocksPerMultiprocessor", cuOccupancyMaxActiveBlocksPerMultiprocessor, 0) \
	P("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 0) \
	P("cuOccupancyMaxActiveClusters", cuOccupancyMaxActiveClusters, 0) \
	P("cuOccupancyMaxPotentialBlockSize", cuOccupancyMaxPotentialBlockSize, 0) \
	P("cuOccupancyMaxPotentialClusterSize", cuOccupancyMaxPotentialClusterSize, 0) \
	P("cuPointerGetAttribute", cuPointerGetAttribute, 0) \
	P("cuPointerGetAttributes", cuPointerGetAttributes, 0) \
	P("cuProfilerStart", cuProfilerStart, 0) \
	P("cuProfilerStop", cuProfilerStop, 0) \
	P("cuStreamAddCallback", cuStreamAddCallback, 0) \
	P("cuStreamBeginCapture", cuStreamBeginCapture_v2, 0) \
	P("cuStreamBeginCaptureToGraph", cuStreamBeginCaptureToGraph, 0) \
	P("cuStreamCreate", cuStreamCreate, 0) \
	P("cuStreamCreateWithPriority", cuStreamCreateWithPriority, 0) \
	P("cuStreamDestroy", cuStreamDestroy_v2, 0) \
	P("cuStreamEndCapture", cuStreamEndCapture, 0) \
	P("cuStreamGetCaptureInfo", cuStreamGetCaptureInfo_v2, 0) \
	P("cuStreamGetCaptureInfo", cuStreamGetCaptureInfo_v3, 12030) \
	P("cuStreamGetCtx", cuStreamGetCtx, 0) \
	P("cuStreamGetFlags", cuStreamGetFlags, 0) \
	P("cuStreamGetId", cuStreamGetId, 0) \
	P("cuStreamGetPriority", cuStreamGetPriority, 0) \
	P("cuStreamIsCapturing", cuStreamIsCapturing, 0) \
	P("cuStreamQuery", cuStreamQuery, 0) \
	P("cuStreamSynchronize", cuStreamSynchronize, 0) \
	P("cuStreamUpdateCaptureDependencies", cuStreamUpdateCaptureDependencies, 0) \
	P("cuStreamUpdateCaptureDependencies", cuStreamUpdateCaptureDependencies_v2, 12030) \
	P("cuStreamWaitEvent", cuStreamWaitEvent, 0) \
	P("cuTensorMapEncodeIm2col", cuTensorMapEncodeIm2col, 0) \
	P("cuTensorMapEncodeIm2colWide", cuTensorMapEncodeIm2colWide, 0) \
	P("cuTensorMapEncodeTiled", cuTensorMapEncodeTiled, 0) \
	P("cuTensorMapReplaceAddress", cuTensorMapReplaceAddress, 0) \
	P("cuThreadExchangeStreamCaptureMode", cuThreadExchangeStreamCaptureMode, 0)

#define PROC(name, fn, since) {name, #fn, (proc *)fn, since},

typedef void proc(void);

static const struct { const char *name, *symbol; proc *fn; int since; } procs[] = {
	ENTRY_POINTS(PROC)
};

/* By the name without a version, or the very symbol. */
static proc *find(const char *name, int version)
{
	proc *fn = NULL;

	for (unsigned i = 0; i < sizeof procs / sizeof *procs; i++)
		if (!strcmp(procs[i].name, name) && procs[i].since <= version)
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
	p = find(name, version);
	memcpy(fn, &p, sizeof p);       /* the driver's interface, not C's */
	if (status)
		*status = *fn ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return *fn ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

EMU_API CUresult CUDAAPI cuGetProcAddress(const char *name, void **fn, int version, cuuint64_t flags)
{
	return cuGetProcAddress_v2(name, fn, version, flags, NULL);
}
