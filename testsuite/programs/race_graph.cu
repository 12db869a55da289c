// SPDX-License-Identifier: Apache-2.0
//
// A kernel in a graph: a cooperative launch whose blocks do not wait for each other; it stays
// cooperative when its node gets other parameters.
// race: data-race
// prints: cooperative 1
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void shift(int *a, int *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	b[i] = i;                       // first
	__syncthreads();
	a[i] = b[(i + 64) % n];         // second
	cg::this_grid().sync();
}

int main()
{
	int *a, *b, n = 256;
	void *args[] = {&a, &b, &n};
	cudaStream_t s;
	cudaGraph_t g;
	cudaGraphExec_t exec;
	cudaGraphNode_t node;
	cudaKernelNodeParams p;
	cudaLaunchAttributeValue v;
	size_t one = 1;

	CHECK(cudaStreamCreate(&s));
	CHECK(cudaMalloc(&a, n * sizeof *a));
	CHECK(cudaMalloc(&b, n * sizeof *b));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	CHECK(cudaLaunchCooperativeKernel(shift, dim3(4), dim3(64), args, 0, s));
	CHECK(cudaStreamEndCapture(s, &g));
	CHECK(cudaGraphGetNodes(g, &node, &one));
	CHECK(cudaGraphKernelNodeGetParams(node, &p));
	p.kernelParams = args;
	CHECK(cudaGraphKernelNodeSetParams(node, &p));
	CHECK(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeCooperative, &v));
	printf("cooperative %d\n", v.cooperative);
	CHECK(cudaGraphInstantiate(&exec, g, 0));
	CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaStreamSynchronize(s));
	return 0;
}
