// SPDX-License-Identifier: Apache-2.0
//
// A copy into shared memory is read before anybody has waited for it.
// race: async-race
#include "check.h"
#include <cuda_pipeline.h>

__global__ void add(const int *a, int *out)
{
	__shared__ int stage[64];

	__pipeline_memcpy_async(&stage[threadIdx.x], &a[threadIdx.x], sizeof(int));
	__pipeline_commit();
	out[threadIdx.x] = stage[threadIdx.x] + 1;      // second
	__pipeline_wait_prior(0);
}

int main()
{
	int *a;

	CHECK(cudaMalloc(&a, 128 * sizeof *a));
	CHECK(cudaMemset(a, 0, 128 * sizeof *a));
	add<<<1, 64>>>(a, a + 64);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
