// SPDX-License-Identifier: Apache-2.0
//
// A product by tiles of 16 x 16 threads, of which one tile has a column too few: its rows run into one another, and the
// last element of the last row lies in the other tile (memory-model.md 1.13).
// race: shared-bounds
// also: data-race
// says: past the end of multiply(float const*, float const*, float*)::tile_a (960 bytes), in multiply(float const*, float const*, float*)::tile_b
#include "check.h"

enum { N = 32, TILE = 16 };

__global__ void multiply(const float *a, const float *b, float *c)
{
	__shared__ float tile_a[TILE][TILE - 1];
	__shared__ float tile_b[TILE][TILE];
	int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
	float sum = 0;

	for (int t = 0; t < N; t += TILE) {
		tile_a[y][x] = a[row * N + t + x];      // first
		tile_b[y][x] = b[(t + y) * N + column];
		__syncthreads();
		for (int k = 0; k < TILE; k++)
			sum += tile_a[y][k] * tile_b[k][x];     // second
		__syncthreads();
	}
	c[row * N + column] = sum;
}

int main()
{
	float *a;

	CHECK(cudaMalloc(&a, 3 * N * N * sizeof *a));
	CHECK(cudaMemset(a, 0, 3 * N * N * sizeof *a));
	multiply<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(a, a + N * N, a + 2 * N * N);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
