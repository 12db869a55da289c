// SPDX-License-Identifier: Apache-2.0
//
// Blocks that add to one counter by atomics of their own block.
// race: scope-race
#include "check.h"

__global__ void count(int *n)
{
	if (threadIdx.x == 0)
		atomicAdd_block(n, 1);  // first, second
}

int main()
{
	int *n;

	CHECK(cudaMalloc(&n, sizeof *n));
	CHECK(cudaMemset(n, 0, sizeof *n));
	count<<<4, 64>>>(n);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
