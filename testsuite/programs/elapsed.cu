// SPDX-License-Identifier: Apache-2.0
//
// The time between two events, which is told only when both are over: the host has waited.
// prints: 63
#include "check.h"

__global__ void fill(int *a)
{
	a[threadIdx.x] = threadIdx.x;
}

int main()
{
	cudaEvent_t begin, end;
	cudaStream_t s;
	cudaError_t e;
	float ms;
	int *a;

	CHECK(cudaStreamCreate(&s));
	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	CHECK(cudaMallocHost(&a, 64 * sizeof *a));
	CHECK(cudaEventRecord(begin, s));
	fill<<<1, 64, 0, s>>>(a);
	CHECK(cudaEventRecord(end, s));
	do
		e = cudaEventElapsedTime(&ms, begin, end);
	while (e == cudaErrorNotReady);
	CHECK(e);
	printf("%d\n", a[63]);
	return 0;
}
