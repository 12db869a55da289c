// SPDX-License-Identifier: Apache-2.0
//
// An allocator of the program's own hands one part to two streams by turns, the second waits for the first's last use; the
// other parts are in use all the time, and what it has allocated itself is freed with parts in it.
// prints: 2080
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"
#include "../../rt/gsan.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;
}

int main()
{
	cudaStream_t s, t;
	cudaEvent_t e;
	int *all, host[64], sum = 0;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&e));
	CHECK(cudaMalloc(&all, 8192));
	gsan_allocated(all + 1024, 4096, t);
	fill<<<1, 64, 0, t>>>(all + 1024, 1);
	for (int i = 0; i < 4; i++) {
		gsan_allocated(all, 4096, s);
		fill<<<1, 64, 0, s>>>(all, 1);
		gsan_freed(all, s);
		CHECK(cudaEventRecord(e, s));
		CHECK(cudaStreamWaitEvent(t, e, 0));
		gsan_allocated(all, 4096, t);
		fill<<<1, 64, 0, t>>>(all, 1);
		gsan_freed(all, t);
		CHECK(cudaEventRecord(e, t));
		CHECK(cudaStreamWaitEvent(s, e, 0));
	}
	CHECK(cudaMemcpyAsync(host, all + 1024, sizeof host, cudaMemcpyDeviceToHost, t));
	CHECK(cudaStreamSynchronize(t));
	for (int i = 0; i < 64; i++)
		sum += host[i];
	gsan_allocated(all, 64, s);
	CHECK(cudaFree(all));
	gsan_freed(all, s);
	CHECK(cudaMalloc(&all, 8192));
	fill<<<1, 64, 0, t>>>(all, 1);
	CHECK(cudaDeviceSynchronize());
	printf("%d\n", sum);
	return 0;
}
