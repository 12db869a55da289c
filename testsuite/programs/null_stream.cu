// SPDX-License-Identifier: Apache-2.0
//
// The legacy null stream waits for blocking streams, and they for it.
// prints: done
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
	int *a, *b, *out;

	CHECK(cudaStreamCreate(&s));
	CHECK(cudaStreamCreate(&t));
	CHECK(cudaMalloc(&a, 256));
	CHECK(cudaMalloc(&b, 256));
	CHECK(cudaMalloc(&out, 256));
	fill<<<1, 64, 0, s>>>(a, 1);
	use<<<1, 64>>>(a, b);
	use<<<1, 64, 0, t>>>(b, out);
	use<<<1, 64, 0, t>>>(a, out);
	CHECK(cudaMemset(out, 0, 256));
	use<<<1, 64, 0, s>>>(b, out);
	CHECK(cudaDeviceSynchronize());
	printf("done\n");
	return 0;
}
