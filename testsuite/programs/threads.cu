// SPDX-License-Identifier: Apache-2.0
//
// Two threads launch into their own null streams, the second one behind the first one's wait.
// prints: done
// flags: -gencode arch=compute_90,code=compute_90 -g --default-stream per-thread
#include <thread>
#include "check.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;
}

__global__ void use(const int *a, int *out)
{
	out[threadIdx.x] = a[threadIdx.x];
}

int main()
{
	int *a, *out;

	CHECK(cudaMalloc(&a, 256));
	CHECK(cudaMalloc(&out, 256));
	std::thread([=] {
		fill<<<1, 64>>>(a, 1);
		CHECK(cudaStreamSynchronize(0));
	}).join();
	std::thread([=] {
		use<<<1, 64>>>(a, out);
	}).join();
	CHECK(cudaDeviceSynchronize());
	printf("done\n");
	return 0;
}
