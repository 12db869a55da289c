// SPDX-License-Identifier: Apache-2.0
//
// A stream gives memory back to its pool, and another one, which waits for that by an event, uses it yet.
// race: use-after-free
// flags: -gencode arch=compute_90,code=compute_90 -g -lineinfo
// says: by cudaFreeAsync
// says: by cudaMallocAsync
#include "check.h"

__global__ void use(int *a)
{
	a[threadIdx.x] = threadIdx.x;   // second
}

int main()
{
	cudaStream_t s, t;
	cudaEvent_t e;
	int *a;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&e));
	CHECK(cudaMallocAsync(&a, 256, s));     // first
	use<<<1, 64, 0, s>>>(a);
	CHECK(cudaFreeAsync(a, s));     // first
	CHECK(cudaEventRecord(e, s));
	CHECK(cudaStreamWaitEvent(t, e, 0));
	use<<<1, 64, 0, t>>>(a);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
