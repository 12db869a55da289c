/* SPDX-License-Identifier: Apache-2.0 */
/* product.cuh: what the products c = a b' here share, in halves: tiles, the ring of stages that the
 * producer warp fills for two warpgroups, matrices of small numbers, and the check of c. */
#pragma once
#include "ptx.cuh"

#ifndef TILE_N
#define TILE_N 128
#endif
#ifndef RING
#define RING 4
#endif
enum { BM = 128, BN = TILE_N, BK = 64, STAGES = RING, CONSUMERS = 2, PRODUCER = 256, THREADS = 384 };

/* Where the ring's i-th tile lies, what its barrier is, and in which phase. */
DEVICE int slot(int i) { return i % (STAGES - (MUTATE == 5)); }
DEVICE int stage(int i) { return i % STAGES; }
DEVICE int phase(int i) { return i / STAGES & 1; }

extern "C" __global__ void fill(uint16_t *a, uint16_t *b, int m, int n, int k)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (m + n) * k; i += gridDim.x * blockDim.x) {
		int row = i / k, column = i % k;

		if (row < m)
			a[i] = half(small_number(row, column, 2));
		else
			b[i - m * k] = half(small_number(row - m, column, 3));
	}
}

/* Counts what is wrong in every `step`-th element of c. */
extern "C" __global__ void verify(const uint16_t *c, int m, int n, int k, int step, int *wrong)
{
	for (int i = (blockIdx.x * blockDim.x + threadIdx.x) * step; i < m * n; i += gridDim.x * blockDim.x * step) {
		int row = i / n, column = i % n, sum = 0;

		for (int j = 0; j < k; j++)
			sum += small_number(row, j, 2) * small_number(column, j, 3);
		if (c[i] != half(sum))
			atomicAdd(wrong, 1);
	}
}
