// SPDX-License-Identifier: Apache-2.0
//
// A lock that is let go without a fence.
// race: data-race
#include "check.h"

__device__ int lock, total;

__global__ void add()
{
	if (threadIdx.x)
		return;
	while (atomicCAS(&lock, 0, 1))
		;
	__threadfence();
	total += 1;                     // first, second
	atomicExch(&lock, 0);
}

int main()
{
	add<<<4, 32>>>();
	CHECK(cudaDeviceSynchronize());
	return 0;
}
