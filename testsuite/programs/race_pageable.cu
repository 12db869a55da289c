// SPDX-License-Identifier: Apache-2.0
//
// An asynchronous copy from pageable memory has read that when it returns, and is not over.
// race: stream-race
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void use(const int *a, int *out)
{
	out[threadIdx.x] = a[threadIdx.x];              // second
}

int main()
{
	cudaStream_t s, t;
	int h[64] = {0}, *a, *out;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaMalloc(&a, 256));
	CHECK(cudaMalloc(&out, 256));
	CHECK(cudaMemcpyAsync(a, h, 256, cudaMemcpyHostToDevice, s));   // first
	h[0] = 1;
	use<<<1, 64, 0, t>>>(a, out);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
