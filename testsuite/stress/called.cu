// SPDX-License-Identifier: Apache-2.0
//
// called.cu: a kernel that calls by pointers, calls itself, and calls what is CUDA's: each thread has a cell of its own, in
// memory that others had before it. RACE: threads of two warps write one cell, and print, which orders nothing.
#include <cassert>
#include <cstdio>
#include <cstdlib>

typedef int (*function)(int);
__device__ __noinline__ int one(int a) { return a + 1; }
__device__ __noinline__ int two(int a) { return a + 2; }
__device__ function table[2] = {one, two};

__device__ __noinline__ int deep(int n)
{
	int b[8];

	for (int i = 0; i < 8; i++)
		b[i] = n * i;
	if (n > 1)
		b[n & 7] += deep(n - 1);
	return b[(n + 3) & 7];
}

extern "C" __global__ void k(int *p, int n)
{
	int *mine = p + blockIdx.x * blockDim.x + threadIdx.x, *got;

	*mine = table[(n ^ threadIdx.x) & 1](threadIdx.x) + deep(n);
	assert(*mine >= 0);
	got = (int *)malloc(4 * n);
	got[0] = n;
	*mine += got[0];
	free(got);
#ifdef RACE
	if (threadIdx.x % 32 == 0) {
		printf("%d\n", n);
		*p = n;
	}
#endif
}
