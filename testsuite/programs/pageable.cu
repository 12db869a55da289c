// SPDX-License-Identifier: Apache-2.0
//
// The stream of a copy from pageable memory is waited for.
// prints: done
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void use(const int *a, int *out)
{
	out[threadIdx.x] = a[threadIdx.x];
}

int main()
{
	cudaStream_t s, t;
	int h[64] = {0}, *a, *out;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaMalloc(&a, 256));
	CHECK(cudaMalloc(&out, 256));
	CHECK(cudaMemcpyAsync(a, h, 256, cudaMemcpyHostToDevice, s));
	h[0] = 1;
	CHECK(cudaStreamSynchronize(s));
	use<<<1, 64, 0, t>>>(a, out);
	CHECK(cudaDeviceSynchronize());
	printf("done\n");
	return 0;
}
