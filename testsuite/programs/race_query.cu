// SPDX-License-Identifier: Apache-2.0
//
// The host asks whether an event is over, and does not look at the answer.
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
	cudaStream_t s;
	cudaEvent_t e;
	int *h, v;

	CHECK(cudaStreamCreate(&s));
	CHECK(cudaEventCreate(&e));
	CHECK(cudaMallocHost(&h, 256));
	CHECK(cudaEventRecord(e, s));
	fill<<<1, 64, 0, s>>>(h, 1);
	while (cudaEventQuery(e) == cudaErrorNotReady)
		;
	v = h[63];                                      // second
	CHECK(cudaDeviceSynchronize());
	printf("%s\n", v == 64 || !v ? "one of two" : "neither");
	return 0;
}
