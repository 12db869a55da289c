// SPDX-License-Identifier: Apache-2.0
//
// A stencil whose next step overwrites what neighbours may still have to read.
// race: data-race
#include "check.h"

__global__ void smooth(float *a, int steps)
{
	__shared__ float line[130];
	int i = threadIdx.x + 1;

	line[i] = a[i];
	__syncthreads();
	for (int s = 0; s < steps; s++) {
		float v = line[i - 1] + line[i] + line[i + 1];  // first
		line[i] = v / 3;                                // second
		__syncthreads();
	}
	a[i] = line[i];
}

int main()
{
	float *a;

	CHECK(cudaMalloc(&a, 130 * sizeof *a));
	CHECK(cudaMemset(a, 0, 130 * sizeof *a));
	smooth<<<1, 128>>>(a, 3);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
