// SPDX-License-Identifier: Apache-2.0
//
// What versions.c launches.
extern "C" {
__device__ int factor = 1;

__global__ void twice(int *a, int n)
{
	if (threadIdx.x < n)
		a[threadIdx.x] *= factor;
}
}
