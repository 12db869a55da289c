// SPDX-License-Identifier: Apache-2.0
//
// A blocking fill of page-locked memory is over when it returns.
// prints: one of two
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;
}

int main()
{
	cudaStream_t s;
	int *h, *a, v;

	CHECK(cudaStreamCreate(&s));
	CHECK(cudaMallocHost(&h, 4096));
	CHECK(cudaMalloc(&a, 4096));
	fill<<<1, 64, 0, s>>>(a, 1);
	CHECK(cudaMemset(h, 1, 4096));
	v = h[16];
	CHECK(cudaDeviceSynchronize());
	printf("%s\n", v == h[17] || !v ? "one of two" : "neither");
	return 0;
}
