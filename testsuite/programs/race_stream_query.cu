// SPDX-License-Identifier: Apache-2.0
//
// The host asks the wrong stream.
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
	cudaStream_t s, t;
	int *h, v;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaMallocHost(&h, 256));
	fill<<<1, 64, 0, s>>>(h, 1);
	while (cudaStreamQuery(t) == cudaErrorNotReady)
		;
	v = h[63];                                      // second
	CHECK(cudaDeviceSynchronize());
	printf("%s\n", v == 64 || !v ? "one of two" : "neither");
	return 0;
}
