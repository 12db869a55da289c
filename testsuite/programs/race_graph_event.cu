// SPDX-License-Identifier: Apache-2.0
//
// A node of a graph records an event; the instance has got another one, for which the other stream does not wait.
// race: stream-race
#include "check.h"

__global__ void fill(int *a)
{
	a[threadIdx.x] = threadIdx.x;                   // first
}

__global__ void use(const int *a, int *out)
{
	out[threadIdx.x] = a[threadIdx.x];              // second
}

int main()
{
	cudaKernelNodeParams p = {};
	cudaGraphNode_t node, record;
	cudaEvent_t event, other;
	cudaGraphExec_t exec;
	cudaStream_t one, two;
	cudaGraph_t g;
	int *a, *out;
	void *args[] = {&a};

	CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&event));
	CHECK(cudaEventCreate(&other));
	CHECK(cudaMalloc(&a, 128));
	CHECK(cudaMalloc(&out, 128));
	p.func = (void *)fill;
	p.gridDim = 1;
	p.blockDim = 32;
	p.kernelParams = args;
	CHECK(cudaGraphCreate(&g, 0));
	CHECK(cudaGraphAddKernelNode(&node, g, nullptr, 0, &p));
	CHECK(cudaGraphAddEventRecordNode(&record, g, &node, 1, event));
	CHECK(cudaGraphInstantiate(&exec, g, 0));
	CHECK(cudaGraphExecEventRecordNodeSetEvent(exec, record, other));
	CHECK(cudaGraphLaunch(exec, one));
	CHECK(cudaStreamWaitEvent(two, event, 0));
	use<<<1, 32, 0, two>>>(a, out);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
