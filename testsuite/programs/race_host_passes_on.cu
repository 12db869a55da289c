// SPDX-License-Identifier: Apache-2.0
//
// A kernel waits for a flag that the host sets, but the host has not waited for the kernel of another stream.
// race: stream-race
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void make(int *data)
{
	data[0] = 6;    // first
}

__global__ void answer(volatile int *flag, int *data)
{
	while (!flag[0])
		;
	__threadfence_system();
	data[1] = data[0] + 1;  // second
}

// Without it the first launch of a kernel would load it, and that waits for what runs.
static void load(const void *kernel)
{
	cudaFuncAttributes a;

	CHECK(cudaFuncGetAttributes(&a, kernel));
}

int main()
{
	cudaStream_t s, t;
	volatile int *flag;
	int *data, got[2];

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaHostAlloc((void **)&flag, 4096, cudaHostAllocMapped));
	CHECK(cudaMalloc(&data, sizeof got));
	flag[0] = 0;
	load((const void *)make);
	load((const void *)answer);
	answer<<<1, 1, 0, t>>>((volatile int *)flag, data);
	make<<<1, 1, 0, s>>>(data);
	__sync_synchronize();
	flag[0] = 1;
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(got, data, sizeof got, cudaMemcpyDeviceToHost));
	return 0;
}
