// SPDX-License-Identifier: Apache-2.0
//
// A block turns an array round in shared memory and does not wait for all of it.
// race: data-race
// flags: -arch=sm_90
#include "check.h"

__global__ void reverse(int *a, int n)
{
	__shared__ int tile[256];

	tile[threadIdx.x] = a[threadIdx.x];             // first
	a[threadIdx.x] = tile[n - 1 - threadIdx.x];     // second
}

int main()
{
	int *a;

	CHECK(cudaMalloc(&a, 256 * sizeof *a));
	CHECK(cudaMemset(a, 0, 256 * sizeof *a));
	reverse<<<1, 256>>>(a, 256);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
