// SPDX-License-Identifier: Apache-2.0
//
// Streams that wait for each other by events, one that the legacy stream does not wait
// for, work of the host between kernels.
// prints: chain 26
// prints: host saw 10, then 12
// prints: priorities ordered, flags 1
#include "check.h"

__global__ void step(int *a, int mul, int plus)
{
	*a = *a * mul + plus;
}

static int seen[2];

static void CUDART_CB look(void *arg)
{
	seen[0] = *(volatile int *)arg;
}

static void CUDART_CB look_again(cudaStream_t, cudaError_t e, void *arg)
{
	seen[1] = e == cudaSuccess ? *(volatile int *)arg : -1;
}

int main()
{
	cudaStream_t s, t;
	cudaEvent_t first, second;
	int *a, *pinned, least, greatest;
	unsigned flags;
	float ms;

	CHECK(cudaStreamCreate(&s));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&first));
	CHECK(cudaEventCreateWithFlags(&second, cudaEventDefault));
	CHECK(cudaMallocHost(&pinned, sizeof *pinned));
	CHECK(cudaMalloc(&a, sizeof *a));
	CHECK(cudaMemset(a, 0, sizeof *a));
	CHECK(cudaDeviceSynchronize());
	step<<<1, 1, 0, s>>>(a, 1, 5);
	CHECK(cudaEventRecord(first, s));
	CHECK(cudaStreamWaitEvent(t, first, 0));
	step<<<1, 1, 0, t>>>(a, 2, 0);
	CHECK(cudaMemcpyAsync(pinned, a, sizeof *a, cudaMemcpyDeviceToHost, t));
	CHECK(cudaLaunchHostFunc(t, look, pinned));
	step<<<1, 1, 0, t>>>(a, 1, 2);
	CHECK(cudaMemcpyAsync(pinned, a, sizeof *a, cudaMemcpyDeviceToHost, t));
	CHECK(cudaStreamAddCallback(t, look_again, pinned, 0));
	CHECK(cudaEventRecord(second, t));
	CHECK(cudaStreamWaitEvent(s, second, 0));
	step<<<1, 1, 0, s>>>(a, 2, 1);
	step<<<1, 1>>>(a, 1, 1);
	CHECK(cudaMemcpy(pinned, a, sizeof *a, cudaMemcpyDeviceToHost));
	CHECK(cudaEventElapsedTime(&ms, first, second));
	printf("chain %d\n", *pinned);
	printf("host saw %d, then %d\n", seen[0], seen[1]);
	CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	CHECK(cudaStreamGetFlags(t, &flags));
	printf("priorities %s, flags %u\n", greatest <= least && ms >= 0 ? "ordered" : "not ordered", flags);
	while (cudaStreamQuery(s) == cudaErrorNotReady || cudaEventQuery(second) == cudaErrorNotReady)
		;
	CHECK(cudaStreamDestroy(s));
	CHECK(cudaStreamDestroy(t));
	CHECK(cudaEventDestroy(first));
	CHECK(cudaEventDestroy(second));
	return 0;
}
