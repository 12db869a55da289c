// SPDX-License-Identifier: Apache-2.0
//
// A thread that has blocked all signals touches guarded memory; and a program that ignores SIGTRAP is sent one.
// prints: 2, and goes on
// flags: -gencode arch=compute_90,code=compute_90 -g
#include <csignal>
#include <thread>
#include "check.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;
}

static void touch(volatile int *h)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	h[64] = 2;
}

int main()
{
	int *h;

	CHECK(cudaMallocHost(&h, 4096));
	fill<<<1, 64>>>(h, 1);
	std::thread(touch, h).join();
	signal(SIGTRAP, SIG_IGN);
	raise(SIGTRAP);
	CHECK(cudaDeviceSynchronize());
	printf("%d, and goes on\n", h[64]);
	return 0;
}
