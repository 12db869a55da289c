// SPDX-License-Identifier: Apache-2.0
//
// A blocking stream waits for a fill in the null stream.
// prints: done
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void use(const int *a, int *out)
{
	out[threadIdx.x] = a[threadIdx.x];
}

int main()
{
	cudaStream_t s;
	int *a, *out;

	CHECK(cudaStreamCreate(&s));
	CHECK(cudaMalloc(&a, 256));
	CHECK(cudaMalloc(&out, 256));
	CHECK(cudaMemset(a, 1, 256));
	use<<<1, 64, 0, s>>>(a, out);
	CHECK(cudaDeviceSynchronize());
	printf("done\n");
	return 0;
}
