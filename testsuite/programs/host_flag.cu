// SPDX-License-Identifier: Apache-2.0
//
// A kernel waits for a flag that the host sets while it runs, and tells the host when it is done.
// prints: 7
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void answer(volatile int *flag, int *data)
{
	while (!flag[0])
		;
	__threadfence_system();
	data[1] = data[0] + 1;
	__threadfence_system();
	flag[1] = 1;
}

int main()
{
	volatile int *flag;
	int *data;

	CHECK(cudaHostAlloc((void **)&flag, 4096, cudaHostAllocMapped));
	CHECK(cudaHostAlloc(&data, 4096, cudaHostAllocMapped));
	flag[0] = flag[1] = 0;
	answer<<<1, 1>>>(flag, data);
	data[0] = 6;
	__sync_synchronize();
	flag[0] = 1;
	while (!flag[1])
		;
	__sync_synchronize();
	printf("%d\n", data[1]);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
