// SPDX-License-Identifier: Apache-2.0
//
// A reduction whose last steps rely on a warp's lanes being in step.
// race: data-race
#include "check.h"

__global__ void sum(const int *a, int *out)
{
	__shared__ int part[64];

	part[threadIdx.x] = a[threadIdx.x];
	__syncthreads();
	if (threadIdx.x < 32)
		for (int d = 32; d; d /= 2)
			part[threadIdx.x] += part[threadIdx.x + d];   // first, second
	if (threadIdx.x == 0)
		*out = part[0];
}

int main()
{
	int *a;

	CHECK(cudaMalloc(&a, 65 * sizeof *a));
	CHECK(cudaMemset(a, 0, 65 * sizeof *a));
	sum<<<1, 64>>>(a, a + 64);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
