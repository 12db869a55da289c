// SPDX-License-Identifier: Apache-2.0
//
// To free device memory waits for the device.
// prints: one of two
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;
}

int main()
{
	int *h, *a, v;

	CHECK(cudaMallocHost(&h, 256));
	CHECK(cudaMalloc(&a, 256));
	fill<<<1, 64>>>(h, 1);
	CHECK(cudaFree(a));
	v = h[63];
	CHECK(cudaDeviceSynchronize());
	printf("%s\n", v == 64 || !v ? "one of two" : "neither");
	return 0;
}
