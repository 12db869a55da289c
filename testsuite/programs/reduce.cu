// SPDX-License-Identifier: Apache-2.0
//
// A sum by warps, then by the block in dynamic shared memory, then by an atomic.
// prints: sum 524800 of 1024, 8 blocks
#include "check.h"

__global__ void sum(const int *a, int n, int *out)
{
	extern __shared__ int of_warp[];
	int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? a[i] : 0;

	for (int d = 16; d; d /= 2)
		v += __shfl_down_sync(0xffffffffu, v, d);
	if (threadIdx.x % 32 == 0)
		of_warp[threadIdx.x / 32] = v;
	__syncthreads();
	if (threadIdx.x < 32) {
		v = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0;
		v = __reduce_add_sync(0xffffffffu, v);
		if (threadIdx.x == 0)
			atomicAdd(out, v);
	}
}

int main()
{
	const int n = 1024, block = 128, grid = n / block;
	int h[n], *a, *out, result;

	for (int i = 0; i < n; i++)
		h[i] = i + 1;
	CHECK(cudaMalloc(&a, sizeof h));
	CHECK(cudaMalloc(&out, sizeof *out));
	CHECK(cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice));
	CHECK(cudaMemset(out, 0, sizeof *out));
	sum<<<grid, block, block / 32 * sizeof(int)>>>(a, n, out);
	CHECK(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost));
	printf("sum %d of %d, %d blocks\n", result, n, grid);
	return 0;
}
