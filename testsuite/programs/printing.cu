// SPDX-License-Identifier: Apache-2.0
//
// What kernels print, in the order of launches and of one thread's calls.
// prints: block 0 thread 3: 1.500 abc ff
// prints: block 0 thread 3: again 7
// prints: second launch 18446744073709551615 %
// prints: host
#include "check.h"

__global__ void say()
{
	if (threadIdx.x != 3)
		return;
	printf("block %d thread %d: %.3f %s %x\n", blockIdx.x, threadIdx.x, 1.5, "abc", 255);
	printf("block %d thread %d: again %i\n", blockIdx.x, threadIdx.x, 7);
}

__global__ void more(unsigned long long v)
{
	printf("second launch %llu %%\n", v);
}

int main()
{
	say<<<1, 32>>>();
	more<<<1, 1>>>(~0ull);
	CHECK(cudaDeviceSynchronize());
	printf("host\n");
	return 0;
}
