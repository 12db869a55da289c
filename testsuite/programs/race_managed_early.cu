// SPDX-License-Identifier: Apache-2.0
//
// Managed memory is read while a kernel may write it.
// needs: emulated
// race: host-race
// prints: one of two
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;               // first
}

int main()
{
	int *m, v;

	CHECK(cudaMallocManaged(&m, 256));
	fill<<<1, 64>>>(m, 1);
	v = m[63];                                      // second
	CHECK(cudaDeviceSynchronize());
	printf("%s\n", v == 64 || !v ? "one of two" : "neither");
	return 0;
}
