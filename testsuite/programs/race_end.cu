// SPDX-License-Identifier: Apache-2.0
//
// The last block has threads for which there are no elements, and nothing keeps them back.
// race: global-bounds
// flags: -gencode arch=compute_90,code=compute_90 -g -lineinfo
// says: past the end of a 400-byte allocation
// says: Previous allocation of 400 bytes
#include "check.h"

__global__ void scale(float *a, float by)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	a[i] *= by;     // second
}

int main()
{
	float *a;

	CHECK(cudaMalloc(&a, 100 * sizeof *a)); // first
	CHECK(cudaMemset(a, 0, 100 * sizeof *a));
	scale<<<4, 32>>>(a, 2);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFree(a));
	return 0;
}
