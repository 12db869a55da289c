// SPDX-License-Identifier: Apache-2.0
//
// The host asks until the event is over.
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
	cudaEvent_t e;
	int *h, v;

	CHECK(cudaStreamCreate(&s));
	CHECK(cudaEventCreate(&e));
	CHECK(cudaMallocHost(&h, 256));
	fill<<<1, 64, 0, s>>>(h, 1);
	CHECK(cudaEventRecord(e, s));
	while (cudaEventQuery(e) == cudaErrorNotReady)
		;
	v = h[63];
	CHECK(cudaDeviceSynchronize());
	printf("%s\n", v == 64 || !v ? "one of two" : "neither");
	return 0;
}
