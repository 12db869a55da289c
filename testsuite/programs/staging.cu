// SPDX-License-Identifier: Apache-2.0
//
// A staging buffer is filled again when the copy from it is over.
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
	int *h, *a, *out;

	CHECK(cudaStreamCreate(&s));
	CHECK(cudaMallocHost(&h, 4096));
	CHECK(cudaMalloc(&a, 4096));
	CHECK(cudaMalloc(&out, 4096));
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < 64; i++)
			h[i] = i + k;
		CHECK(cudaMemcpyAsync(a, h, 4096, cudaMemcpyHostToDevice, s));
		use<<<1, 64, 0, s>>>(a, out);
		CHECK(cudaStreamSynchronize(s));
	}
	CHECK(cudaDeviceSynchronize());
	printf("done\n");
	return 0;
}
