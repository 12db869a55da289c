// SPDX-License-Identifier: Apache-2.0
//
// An event in the null stream covers what that has waited for; one in another blocking stream does not.
// race: stream-race
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;               // first
}

__global__ void use(const int *a, int *out)
{
	out[threadIdx.x] = a[threadIdx.x];              // second
}

int main()
{
	cudaStream_t s, t, n;
	cudaEvent_t e;
	int *a, *out;

	CHECK(cudaStreamCreate(&s));
	CHECK(cudaStreamCreate(&t));
	CHECK(cudaStreamCreateWithFlags(&n, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&e));
	CHECK(cudaMalloc(&a, 256));
	CHECK(cudaMalloc(&out, 256));
	fill<<<1, 64, 0, s>>>(a, 1);
	CHECK(cudaEventRecord(e, t));
	CHECK(cudaStreamWaitEvent(n, e, 0));
	use<<<1, 64, 0, n>>>(a, out);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
