// SPDX-License-Identifier: Apache-2.0
//
// To allocate device memory is no synchronisation.
// race: host-race
// prints: one of two
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;               // first
}

int main()
{
	int *h, *a, v;

	CHECK(cudaMallocHost(&h, 256));
	CHECK(cudaMalloc(&a, 256));
	fill<<<1, 64>>>(h, 1);
	CHECK(cudaMalloc(&a, 512));
	v = h[63];                                      // second
	CHECK(cudaDeviceSynchronize());
	printf("%s\n", v == 64 || !v ? "one of two" : "neither");
	return 0;
}
