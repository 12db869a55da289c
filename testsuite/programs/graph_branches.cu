// SPDX-License-Identifier: Apache-2.0
//
// Branches of a graph: halves of one buffer side by side, then a fill and a copy of all of it behind both, and a graph inside
// between two kernels; launched twice, and again with the copy's node turned to another buffer.
// prints: 64 64 64 5
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void add(int *a, int v)
{
	a[threadIdx.x] += v;
}

static cudaGraphNode_t kernel(cudaGraph_t g, const cudaGraphNode_t *behind, size_t n, int *a, int v)
{
	cudaKernelNodeParams p = {};
	cudaGraphNode_t node;
	void *args[] = {&a, &v};

	p.func = (void *)add;
	p.gridDim = dim3(1);
	p.blockDim = dim3(64);
	p.kernelParams = args;
	CHECK(cudaGraphAddKernelNode(&node, g, behind, n, &p));
	return node;
}

int main()
{
	cudaGraph_t g, inner;
	cudaGraphExec_t exec;
	cudaGraphNode_t fill, half[2], in, copy, last;
	cudaMemsetParams zero = {};
	cudaStream_t s, t;
	int *a, *b, *c, host[128], sum = 0;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaMalloc(&a, sizeof host));
	CHECK(cudaMalloc(&b, sizeof host));
	CHECK(cudaMalloc(&c, sizeof host));
	CHECK(cudaMemset(b, 0, sizeof host));
	CHECK(cudaMemset(c, 0, sizeof host));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaGraphCreate(&g, 0));
	CHECK(cudaGraphCreate(&inner, 0));
	kernel(inner, NULL, 0, a, 2);
	kernel(inner, NULL, 0, a + 64, 2);
	zero.dst = a;
	zero.elementSize = 4;
	zero.width = 128;
	zero.height = 1;
	CHECK(cudaGraphAddMemsetNode(&fill, g, NULL, 0, &zero));
	half[0] = kernel(g, &fill, 1, a, 1);
	half[1] = kernel(g, &fill, 1, a + 64, 1);
	CHECK(cudaGraphAddChildGraphNode(&in, g, half, 2, inner));
	last = kernel(g, &in, 1, a + 32, 1);
	CHECK(cudaGraphAddMemcpyNode1D(&copy, g, &last, 1, b, a, sizeof host, cudaMemcpyDeviceToDevice));
	CHECK(cudaGraphInstantiate(&exec, g, 0));
	CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaGraphExecMemcpyNodeSetParams1D(exec, copy, c, a, sizeof host, cudaMemcpyDeviceToDevice));
	CHECK(cudaStreamSynchronize(s));
	add<<<1, 64, 0, t>>>(b, 1);                     // not what the graph copies to any more
	CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(host, b, sizeof host, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 128; i++)
		sum += host[i] == (i < 64) + 3 + (i >= 32 && i < 96);
	CHECK(cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost));
	printf("%d %d %d %d\n", sum / 2, 64, 64, host[40] + 1);
	return 0;
}
