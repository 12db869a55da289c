// SPDX-License-Identifier: Apache-2.0
//
// What there is to know of the device; and the device reset, with modules loaded anew.
// prints: 1 device, warps of 32, at most 1024 threads
// prints: version as built: yes, occupancy at least 1: yes
// prints: flags 2, stack 2048
// prints: before 1, after 1
#include "check.h"

__device__ int counter;

__global__ void count()
{
	counter++;
}

static int once()
{
	int v;

	count<<<1, 1>>>();
	CHECK(cudaMemcpyFromSymbol(&v, counter, sizeof v));
	return v;
}

int main()
{
	cudaDeviceProp p;
	int n, version, grid, block, before;
	unsigned flags;
	size_t stack, free_bytes, total;

	CHECK(cudaGetDeviceCount(&n));
	CHECK(cudaInitDevice(0, cudaDeviceScheduleYield, cudaInitDeviceFlagsAreValid));
	CHECK(cudaSetDevice(0));
	CHECK(cudaGetDeviceFlags(&flags));
	CHECK(cudaGetDeviceProperties(&p, 0));
	printf("%d device, warps of %d, at most %d threads\n", n, p.warpSize, p.maxThreadsPerBlock);
	CHECK(cudaRuntimeGetVersion(&version));
	CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, count, 0, 0));
	printf("version as built: %s, occupancy at least 1: %s\n",
	       version / 1000 == CUDART_VERSION / 1000 ? "yes" : "no", grid >= 1 && block >= 32 ? "yes" : "no");
	CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 2048));
	CHECK(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
	CHECK(cudaMemGetInfo(&free_bytes, &total));
	if (p.totalGlobalMem != total || free_bytes > total || p.name[0] == 0 || p.major < 7)
		return 1;
	printf("flags %u, stack %zu\n", flags & cudaDeviceScheduleMask, stack);
	before = once();
	CHECK(cudaDeviceReset());
	printf("before %d, after %d\n", before, once());
	return 0;
}
