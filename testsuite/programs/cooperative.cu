// SPDX-License-Identifier: Apache-2.0
//
// Blocks that all wait for each other: as many as fit, by cooperative groups.
// prints: fits: yes, too many: too many blocks in cooperative launch
// prints: 4 rounds, sum 1024
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void rounds(int *a, int *b, int n)
{
	cg::grid_group grid = cg::this_grid();
	int i = (int)grid.thread_rank(), size = (int)grid.size();

	for (int r = 0; r < n; r++) {
		b[i] = a[(i + 1) % size] + 1;
		grid.sync();
		a[i] = b[i];
		grid.sync();
	}
}

int main()
{
	int blocks, sms, n = 4, sum = 0, h[256], *a, *b;

	CHECK(cudaMalloc(&a, sizeof h));
	CHECK(cudaMalloc(&b, sizeof h));
	CHECK(cudaMemset(a, 0, sizeof h));
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, rounds, 64, 0));
	CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
	void *args[] = {&a, &b, &n};
	cudaError_t e = cudaLaunchCooperativeKernel(rounds, dim3(blocks * sms + 1), dim3(64), args, 0, 0);
	printf("fits: %s, too many: %s\n", blocks * sms >= 4 ? "yes" : "no", cudaGetErrorString(e));
	cudaGetLastError();
	CHECK(cudaLaunchCooperativeKernel(rounds, dim3(4), dim3(64), args, 0, 0));
	CHECK(cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 256; i++)
		sum += h[i];
	printf("%d rounds, sum %d\n", n, sum);
	return 0;
}
