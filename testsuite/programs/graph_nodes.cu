// SPDX-License-Identifier: Apache-2.0
//
// A graph made node by node: a fill, a kernel, copies, the host, a graph in it; a node of
// the instance gets other parameters, another is disabled.  An instance cannot be captured.
// prints: 6 nodes, the kernel has grid 2 and 3 = 3
// prints: host: 50 49
// prints: host: 50 53
// prints: host: 50 54
// prints: captured: operation not permitted when stream is capturing
// prints: host: 50 55
// prints: a child: invalid argument, a window: known or not
// prints: without an edge: cudaErrorGraphExecUpdateFailure
// prints: other memory: invalid argument
// says emulated: the emulated device keeps no attribute 1 of launches
#include "check.h"

#if CUDART_VERSION < 13000
#define NO_DATA                 // of edges
#else
#define NO_DATA NULL,
#endif

__global__ void set(int *a, int v)
{
	a[blockIdx.x] += v + blockIdx.x;
}

static int got[2];

static void CUDART_CB say(void *arg)
{
	printf("host: %d %d\n", ((int *)arg)[0], ((int *)arg)[1]);
}

int main()
{
	static int fifty = 50;
	cudaGraph_t g, inner, none;
	cudaGraphNode_t fill, kernel, in, out, host, child, one;
	cudaGraphExec_t exec;
	cudaGraphExecUpdateResultInfo info;
	cudaLaunchAttributeValue window;
	cudaError_t e;
	cudaStream_t s;
	int *a, three = 3;
	void *args[] = {&a, &three};
	size_t n;
	cudaMemsetParams zeros = {};
	cudaKernelNodeParams launch = {}, seen;
	cudaHostNodeParams fn = {say, got};

	CHECK(cudaMalloc(&a, 2 * sizeof *a));
	zeros.dst = a;
	zeros.elementSize = 4;
	zeros.width = 2;
	zeros.height = 1;
	launch.func = (void *)set;
	launch.gridDim = dim3(2);
	launch.blockDim = dim3(1);
	launch.kernelParams = args;
	CHECK(cudaGraphCreate(&g, 0));
	CHECK(cudaGraphCreate(&inner, 0));
	CHECK(cudaGraphAddMemcpyNode1D(&one, inner, NULL, 0, a, &fifty, 4, cudaMemcpyHostToDevice));
	CHECK(cudaGraphAddMemsetNode(&fill, g, NULL, 0, &zeros));
	CHECK(cudaGraphAddKernelNode(&kernel, g, &fill, 1, &launch));
	CHECK(cudaGraphAddChildGraphNode(&child, g, &kernel, 1, inner));
	CHECK(cudaGraphAddEmptyNode(&in, g, &child, 1));
	CHECK(cudaGraphAddMemcpyNode1D(&out, g, &in, 1, got, a, sizeof got, cudaMemcpyDeviceToHost));
	CHECK(cudaGraphAddHostNode(&host, g, &out, 1, &fn));
	CHECK(cudaGraphGetNodes(g, NULL, &n));
	CHECK(cudaGraphKernelNodeGetParams(kernel, &seen));
	printf("%zu nodes, the kernel has grid %u and %d = %d\n", n, seen.gridDim.x, *(int *)seen.kernelParams[1],
	       seen.func == (void *)set ? 3 : 0);
	three = 48;
	CHECK(cudaGraphKernelNodeSetParams(kernel, &launch));
	CHECK(cudaGraphInstantiate(&exec, g, 0));
	CHECK(cudaGraphLaunch(exec, 0));
	CHECK(cudaDeviceSynchronize());
	three = 52;
	CHECK(cudaGraphExecKernelNodeSetParams(exec, kernel, &launch));
	CHECK(cudaGraphLaunch(exec, 0));
	CHECK(cudaDeviceSynchronize());
	three = 0;
	CHECK(cudaGraphExecKernelNodeSetParams(exec, kernel, &launch));
	CHECK(cudaGraphNodeSetEnabled(exec, fill, 0));
	CHECK(cudaGraphLaunch(exec, 0));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	printf("captured: %s\n", cudaGetErrorString(cudaGraphLaunch(exec, s)));
	cudaStreamEndCapture(s, &none);
	cudaGetLastError();
	CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaStreamSynchronize(s));
	printf("a child: %s, ", cudaGetErrorString(cudaGraphNodeSetEnabled(exec, child, 0)));
	e = cudaGraphKernelNodeGetAttribute(kernel, cudaLaunchAttributeAccessPolicyWindow, &window);
	printf("a window: %s\n", !e || e == cudaErrorNotSupported ? "known or not" : cudaGetErrorString(e));
	CHECK(cudaGraphRemoveDependencies(g, &fill, &kernel, NO_DATA 1));
	CHECK(cudaGraphAddDependencies(g, &fill, &in, NO_DATA 1));
	printf("without an edge: %s\n", cudaGetErrorName(cudaGraphExecUpdate(exec, g, &info)));
	printf("other memory: %s\n", cudaGetErrorString(cudaGraphAddMemFreeNode(&one, g, NULL, 0, a)));
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(inner));
	CHECK(cudaGraphDestroy(g));
	return 0;
}
