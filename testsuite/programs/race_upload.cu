// SPDX-License-Identifier: Apache-2.0
//
// An asynchronous copy from page-locked memory, and a kernel in another stream.
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
	cudaEvent_t e;
	int *h, *a, *out;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&e));
	CHECK(cudaMallocHost(&h, 256));
	CHECK(cudaMalloc(&a, 256));
	CHECK(cudaMalloc(&out, 256));
	for (int i = 0; i < 64; i++)
		h[i] = i;
	CHECK(cudaMemcpyAsync(a, h, 256, cudaMemcpyHostToDevice, s));   // first
	use<<<1, 64, 0, t>>>(a, out);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
