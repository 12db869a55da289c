// SPDX-License-Identifier: Apache-2.0
//
// A pool hands a block of one stream to another, which waits for its last use, and to the same one.
// prints: done
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;
}

int main()
{
	cudaStream_t s, t;
	int *a, *b;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	for (int i = 0; i < 4; i++) {
		CHECK(cudaMallocAsync(&a, 4096, s));
		fill<<<1, 64, 0, s>>>(a, 1);
		CHECK(cudaFreeAsync(a, s));
		CHECK(cudaMallocAsync(&b, 4096, t));
		fill<<<1, 64, 0, t>>>(b, 1);
		CHECK(cudaFreeAsync(b, t));
	}
	CHECK(cudaDeviceSynchronize());
	printf("done\n");
	return 0;
}
