// SPDX-License-Identifier: Apache-2.0
//
// The last block has threads for which there are no elements, which leave; and elements of a pitched row.
// prints: 14
#include "check.h"

__global__ void scale(float *a, float by, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		a[i] = a[i] * by + 7;
}

__global__ void rows(char *a, size_t pitch)
{
	((float *)(a + blockIdx.x * pitch))[threadIdx.x] = 1;
}

int main()
{
	float *a, got;
	char *b;
	size_t pitch;

	CHECK(cudaMalloc(&a, 100 * sizeof *a));
	CHECK(cudaMallocPitch(&b, &pitch, 25 * sizeof *a, 3));
	CHECK(cudaMemset(a, 0, 100 * sizeof *a));
	scale<<<4, 32>>>(a, 2, 100);
	scale<<<4, 32>>>(a, 1, 100);
	rows<<<3, 25>>>(b, pitch);
	CHECK(cudaMemcpy(&got, a + 99, sizeof got, cudaMemcpyDeviceToHost));
	printf("%g\n", got);
	CHECK(cudaFree(a));
	CHECK(cudaFree(b));
	return 0;
}
