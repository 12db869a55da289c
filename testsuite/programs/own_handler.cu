// SPDX-License-Identifier: Apache-2.0
//
// A program that handles SIGSEGV gets what is its own, beside guarded memory; and what it asks back.
// prints: 2 faults, its own, 2
// flags: -gencode arch=compute_90,code=compute_90 -g
#include <csetjmp>
#include <csignal>
#include "check.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;
}

static sigjmp_buf back;

static void on_fault(int)
{
	siglongjmp(back, 1);
}

int main()
{
	struct sigaction ours = {}, was;
	int *h, *none = (int *)8, faults = 0;

	ours.sa_handler = on_fault;
	sigaction(SIGSEGV, &ours, NULL);
	CHECK(cudaMallocHost(&h, 4096));
	fill<<<1, 64>>>(h, 1);
	if (sigsetjmp(back, 1))
		faults++;
	else
		*(volatile int *)none = 1;
	((volatile int *)h)[64] = 2;
	sigaction(SIGSEGV, &ours, &was);
	if (sigsetjmp(back, 1))
		faults++;
	else
		*(volatile int *)none = 1;
	CHECK(cudaDeviceSynchronize());
	printf("%d faults, %s, %d\n", faults, was.sa_handler == on_fault ? "its own" : "another's", h[64]);
	return 0;
}
