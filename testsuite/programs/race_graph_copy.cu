// SPDX-License-Identifier: Apache-2.0
//
// A graph copies what a kernel in another stream writes.
// race: stream-race
// says: Read of size 256
// says: by cudaGraphLaunch
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;               // first
}

int main()
{
	cudaStream_t s, t;
	cudaGraph_t g;
	cudaGraphExec_t exec;
	cudaGraphNode_t copy;
	int *a, *b;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaMalloc(&a, 256));
	CHECK(cudaMalloc(&b, 256));
	CHECK(cudaGraphCreate(&g, 0));
	CHECK(cudaGraphAddMemcpyNode1D(&copy, g, NULL, 0, b, a, 256, cudaMemcpyDeviceToDevice));
	CHECK(cudaGraphInstantiate(&exec, g, 0));
	fill<<<1, 64, 0, t>>>(a, 1);
	CHECK(cudaGraphLaunch(exec, s));                // second
	CHECK(cudaDeviceSynchronize());
	return 0;
}
