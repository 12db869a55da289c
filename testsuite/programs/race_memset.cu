// SPDX-License-Identifier: Apache-2.0
//
// A fill does not wait, and a non-blocking stream does not wait for the null stream.
// race: stream-race
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void use(const int *a, int *out)
{
	out[threadIdx.x] = a[threadIdx.x];              // second
}

int main()
{
	cudaStream_t s;
	int *a, *out;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaMalloc(&a, 256));
	CHECK(cudaMalloc(&out, 256));
	CHECK(cudaMemset(a, 1, 256));                   // first
	use<<<1, 64, 0, s>>>(a, out);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
