// SPDX-License-Identifier: Apache-2.0
//
// A kernel waits for the copy in another stream, by an event.
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
	cudaEvent_t e;
	int *h, *a, *out;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&e));
	CHECK(cudaMallocHost(&h, 256));
	CHECK(cudaMalloc(&a, 256));
	CHECK(cudaMalloc(&out, 256));
	for (int i = 0; i < 64; i++)
		h[i] = i;
	CHECK(cudaMemcpyAsync(a, h, 256, cudaMemcpyHostToDevice, s));
	CHECK(cudaEventRecord(e, s));
	CHECK(cudaStreamWaitEvent(t, e, 0));
	use<<<1, 64, 0, t>>>(a, out);
	CHECK(cudaDeviceSynchronize());
	printf("done\n");
	return 0;
}
