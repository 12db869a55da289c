// SPDX-License-Identifier: Apache-2.0
//
// Memory of a pool is used in another stream behind its allocation.
// prints: done
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;
}

int main()
{
	cudaStream_t s, t;
	cudaEvent_t e;
	int *a;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&e));
	CHECK(cudaMallocAsync(&a, 4096, s));
	CHECK(cudaEventRecord(e, s));
	CHECK(cudaStreamWaitEvent(t, e, 0));
	fill<<<1, 64, 0, t>>>(a, 1);
	CHECK(cudaDeviceSynchronize());
	printf("done\n");
	return 0;
}
