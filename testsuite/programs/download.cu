// SPDX-License-Identifier: Apache-2.0
//
// The host reads a page-locked buffer when the copy into it is over.
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
	CHECK(cudaMemset(a, 0, 4096));
	fill<<<1, 64, 0, s>>>(a, 1);
	CHECK(cudaMemcpyAsync(h, a, 4096, cudaMemcpyDeviceToHost, s));
	CHECK(cudaStreamSynchronize(s));
	v = h[63];
	CHECK(cudaDeviceSynchronize());
	printf("%s\n", v == 64 || !v ? "one of two" : "neither");
	return 0;
}
