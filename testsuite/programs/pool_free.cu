// SPDX-License-Identifier: Apache-2.0
//
// Memory is given back to a pool behind its use in another stream.
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
	CHECK(cudaStreamSynchronize(s));
	fill<<<1, 64, 0, s>>>(a, 1);
	CHECK(cudaEventRecord(e, s));
	CHECK(cudaStreamWaitEvent(t, e, 0));
	CHECK(cudaFreeAsync(a, t));
	CHECK(cudaDeviceSynchronize());
	printf("done\n");
	return 0;
}
