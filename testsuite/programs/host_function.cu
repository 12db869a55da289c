// SPDX-License-Identifier: Apache-2.0
//
// A function of the host in a stream comes behind the copy before it, and before the one behind it.
// prints: 12
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;
}

static int seen;

static void CUDART_CB look(void *arg)
{
	seen += ((volatile int *)arg)[5];
	((volatile int *)arg)[6] = 1;
}

int main()
{
	cudaStream_t s;
	int *h, *a;

	CHECK(cudaStreamCreate(&s));
	CHECK(cudaMallocHost(&h, 4096));
	CHECK(cudaMalloc(&a, 4096));
	CHECK(cudaMemset(a, 0, 4096));
	fill<<<1, 64, 0, s>>>(a, 1);
	CHECK(cudaMemcpyAsync(h, a, 4096, cudaMemcpyDeviceToHost, s));
	CHECK(cudaLaunchHostFunc(s, look, h));
	CHECK(cudaMemcpyAsync(a, h, 4096, cudaMemcpyHostToDevice, s));
	CHECK(cudaMemcpyAsync(h, a, 4096, cudaMemcpyDeviceToHost, s));
	CHECK(cudaLaunchHostFunc(s, look, h));
	CHECK(cudaStreamSynchronize(s));
	printf("%d\n", seen);
	return 0;
}
