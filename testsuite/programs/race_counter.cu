// SPDX-License-Identifier: Apache-2.0
//
// Blocks that count without atomics.
// race: data-race
#include "check.h"

__device__ int counter;

__global__ void count()
{
	if (threadIdx.x == 0)
		counter += 1;           // first, second
}

int main()
{
	count<<<8, 64>>>();
	CHECK(cudaDeviceSynchronize());
	return 0;
}
