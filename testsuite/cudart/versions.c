/* SPDX-License-Identifier: Apache-2.0
 *
 * versions.c: a program of the CUDA runtime in C, compiled with the headers of one version
 * and linked with its library: it registers a kernel as nvcc's code does, and calls what
 * has other arguments or fields in other versions.  "ok", or what is wrong.
 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.inc"           /* the fat binary, as bytes: fatbin[] */

static const struct { unsigned magic, version; const void *data, *more; } wrapper = { 0x466243b1, 1, fatbin, NULL };

void **__cudaRegisterFatBinary(const void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);

static char stub, variable;     /* their addresses are names */

__attribute__((constructor)) static void enter(void)
{
	static char kernel_name[] = "twice", var_name[] = "factor";
	void **handle = __cudaRegisterFatBinary(&wrapper);

	__cudaRegisterFunction(handle, &stub, kernel_name, kernel_name, -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterVar(handle, &variable, var_name, var_name, 0, sizeof(int), 0, 0);
	__cudaRegisterFatBinaryEnd(handle);
}

#define CHECK(call) \
	do { \
		cudaError_t check_error = (call); \
		if (check_error != cudaSuccess) { \
			printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(check_error)); \
			exit(1); \
		} \
	} while (0)
#define HOLDS(what) \
	do { \
		if (!(what)) { \
			printf("line %d: not so: %s\n", __LINE__, #what); \
			exit(1); \
		} \
	} while (0)

/* What lies behind a structure must stay as it was. */
#define GUARDED(type) struct { type it; unsigned char behind[256]; }

static void look_at_structures(void)
{
	GUARDED(struct cudaDeviceProp) prop;
	GUARDED(struct cudaFuncAttributes) attr;
	GUARDED(struct cudaPointerAttributes) ptr;
	int value, version;

	memset(&prop, 0x5a, sizeof prop);
	memset(&attr, 0x5a, sizeof attr);
	memset(&ptr, 0x5a, sizeof ptr);
	CHECK(cudaGetDeviceProperties(&prop.it, 0));
	HOLDS(prop.it.warpSize == 32 && prop.it.maxThreadsDim[2] == 64 && prop.it.totalConstMem == 65536);
	HOLDS(prop.it.sharedMemPerBlockOptin > prop.it.sharedMemPerBlock && !strncmp(prop.it.name, "gsan", 4));
	CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxBlocksPerMultiprocessor, 0));
	HOLDS(prop.it.maxBlocksPerMultiProcessor == value && prop.it.reservedSharedMemPerBlock == 1024);
#if CUDART_VERSION < 13000
	HOLDS(prop.it.clockRate == 1000000);
#endif
#if CUDART_VERSION >= 12000
	HOLDS(prop.it.clusterLaunch == 1 && prop.it.unifiedFunctionPointers == 1);
#endif
	CHECK(cudaFuncGetAttributes(&attr.it, &stub));
	HOLDS(attr.it.maxThreadsPerBlock == 1024 && attr.it.maxDynamicSharedSizeBytes == 49152);
	CHECK(cudaPointerGetAttributes(&ptr.it, &value));
	HOLDS(ptr.it.type == cudaMemoryTypeUnregistered);
	for (unsigned i = 0; i < 256; i++)
		HOLDS(prop.behind[i] == 0x5a && attr.behind[i] == 0x5a && ptr.behind[i] == 0x5a);
	CHECK(cudaRuntimeGetVersion(&version));
	HOLDS(version / 1000 == CUDART_VERSION / 1000);
}

static void capture(cudaStream_t s, int *a, cudaGraph_t *g)
{
	enum cudaStreamCaptureStatus status;
	unsigned long long id = 0;
	int n = 64;
	void *args[] = { &a, &n };
	dim3 one = { 1, 1, 1 }, block = { 64, 1, 1 };

	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	CHECK(cudaLaunchKernel(&stub, one, block, args, 0, s));
	CHECK(cudaLaunchKernel(&stub, one, block, args, 0, s));
#if CUDART_VERSION < 12000
	CHECK(cudaStreamGetCaptureInfo(s, &status, &id));
#elif CUDART_VERSION < 13000
	CHECK(cudaStreamGetCaptureInfo_v2(s, &status, &id, NULL, NULL, NULL));
#else
	CHECK(cudaStreamGetCaptureInfo(s, &status, &id, NULL, NULL, NULL, NULL));
#endif
	HOLDS(status == cudaStreamCaptureStatusActive && id != 0);
	CHECK(cudaStreamEndCapture(s, g));
}

static void look_at_edges(cudaGraph_t g)
{
	cudaGraphNode_t from[4], to[4], nodes[4];
	size_t n = 4;

#if CUDART_VERSION < 13000
	CHECK(cudaGraphGetEdges(g, from, to, &n));
#else
	cudaGraphEdgeData edges[4];

	CHECK(cudaGraphGetEdges(g, from, to, edges, &n));
	HOLDS(!edges[0].type);
#endif
	HOLDS(n == 1 && from[0] != to[0]);
	n = 4;
#if CUDART_VERSION < 13000
	CHECK(cudaGraphNodeGetDependencies(to[0], nodes, &n));
	CHECK(cudaGraphRemoveDependencies(g, from, to, 1));
	CHECK(cudaGraphAddDependencies(g, from, to, 1));
#else
	CHECK(cudaGraphNodeGetDependencies(to[0], nodes, edges, &n));
	CHECK(cudaGraphRemoveDependencies(g, from, to, edges, 1));
	CHECK(cudaGraphAddDependencies(g, from, to, NULL, 1));
#endif
	HOLDS(n == 1 && nodes[0] == from[0]);
}

static void update(cudaGraphExec_t exec, cudaGraph_t g)
{
#if CUDART_VERSION < 12000
	enum cudaGraphExecUpdateResult result;
	cudaGraphNode_t node;

	CHECK(cudaGraphExecUpdate(exec, g, &node, &result));
	HOLDS(result == cudaGraphExecUpdateSuccess);
#else
	cudaGraphExecUpdateResultInfo info;

	CHECK(cudaGraphExecUpdate(exec, g, &info));
	HOLDS(info.result == cudaGraphExecUpdateSuccess);
#endif
}

static void run(void)
{
	cudaGraphExec_t exec;
	cudaGraph_t g;
	cudaStream_t s;
#if CUDART_VERSION < 12000
	cudaGraphNode_t failed = (cudaGraphNode_t)&exec;
	char text[8] = "x";
#endif
	int *a, h[64], five = 5;
	void *fn = NULL;

	CHECK(cudaStreamCreate(&s));
	CHECK(cudaMallocManaged((void **)&a, sizeof h, cudaMemAttachGlobal));
	for (int i = 0; i < 64; i++)
		a[i] = i;
#if CUDART_VERSION < 13000
	CHECK(cudaMemPrefetchAsync(a, sizeof h, 0, s));
	HOLDS(cudaMemPrefetchAsync(h, sizeof h, 0, s) == cudaErrorInvalidValue);
	CHECK(cudaGetDriverEntryPoint("cuInit", &fn, cudaEnableDefault
#if CUDART_VERSION >= 12000
				      , NULL
#endif
				      ));
	HOLDS(fn);
#else
	CHECK(cudaMemPrefetchAsync(a, sizeof h, (struct cudaMemLocation){ cudaMemLocationTypeDevice, 0 }, 0, s));
	HOLDS(cudaMemPrefetchAsync(h, sizeof h, (struct cudaMemLocation){ cudaMemLocationTypeDevice, 0 }, 0, s) ==
	      cudaErrorInvalidValue);
	CHECK(cudaGetDriverEntryPointByVersion("cuInit", &fn, 12000, cudaEnableDefault, NULL));
	HOLDS(fn);
#endif
	CHECK(cudaMemcpyToSymbol(&variable, &five, sizeof five, 0, cudaMemcpyHostToDevice));
	capture(s, a, &g);
	look_at_edges(g);
#if CUDART_VERSION < 12000
	CHECK(cudaGraphInstantiate(&exec, g, &failed, text, sizeof text));
	HOLDS(!failed && !*text);
#else
	CHECK(cudaGraphInstantiate(&exec, g, 0));
#endif
	CHECK(cudaGraphLaunch(exec, s));
	update(exec, g);
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 64; i++)
		HOLDS(h[i] == 25 * i);
}

int main(void)
{
	look_at_structures();
	run();
	puts("ok");
	return 0;
}
