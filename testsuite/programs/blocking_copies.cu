// SPDX-License-Identifier: Apache-2.0
//
// Copies that return when they are over: into pageable memory, asynchronous or not; from it, if they are not.
// prints: 8
// flags: -gencode arch=compute_90,code=compute_90 -g
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
	cudaStream_t s, t;
	int h[64], *a, *out;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaMalloc(&a, 256));
	CHECK(cudaMalloc(&out, 256));
	CHECK(cudaMemset(a, 0, 256));
	CHECK(cudaMemcpy(h, a, 256, cudaMemcpyDeviceToHost));
	fill<<<1, 64, 0, s>>>(a, 3);
	CHECK(cudaMemcpyAsync(h, a, 256, cudaMemcpyDeviceToHost, s));
	use<<<1, 64, 0, t>>>(a, out);
	CHECK(cudaMemcpyAsync(h, out, 256, cudaMemcpyDeviceToHost, t));
	printf("%d\n", h[5]);
	CHECK(cudaMemcpy(a, h, 256, cudaMemcpyHostToDevice));
	use<<<1, 64, 0, s>>>(a, out);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
