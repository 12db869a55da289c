// SPDX-License-Identifier: Apache-2.0
//
// One stream works for long, with all in order; then another one copies what its last kernel writes, without waiting for it.
// race: stream-race
// prints: done
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"
#include <unistd.h>

__global__ void step(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;
}

__global__ void last(int *a, int v)
{
	a[threadIdx.x] = v - threadIdx.x;               // first
}

int main()
{
	cudaStream_t s, t;
	int *a, *b, *c;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaMalloc(&a, 256));
	CHECK(cudaMalloc(&b, 256));
	CHECK(cudaMalloc(&c, 256));
	for (int i = 0; i < 100; i++)
		step<<<1, 64, 0, s>>>(a, i);
	CHECK(cudaStreamSynchronize(s));
	for (int i = 0; i < 50; i++)
		step<<<1, 64, 0, s>>>(a, i);
	last<<<1, 64, 0, s>>>(b, 1);
	usleep(300000);                                 // it has been judged
	CHECK(cudaMemcpyAsync(c, b, 256, cudaMemcpyDeviceToDevice, t)); // second
	CHECK(cudaDeviceSynchronize());
	printf("done\n");
	return 0;
}
