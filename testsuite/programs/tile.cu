// SPDX-License-Identifier: Apache-2.0
//
// A product by tiles of 16 x 16 threads, each with a place for every thread (memory-model.md 1.13).
// prints: 32 32
#include "check.h"

enum { N = 32, TILE = 16 };

__global__ void multiply(const float *a, const float *b, float *c)
{
	__shared__ float tile_a[TILE][TILE];
	__shared__ float tile_b[TILE][TILE];
	int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
	float sum = 0;

	for (int t = 0; t < N; t += TILE) {
		tile_a[y][x] = a[row * N + t + x];
		tile_b[y][x] = b[(t + y) * N + column];
		__syncthreads();
		for (int k = 0; k < TILE; k++)
			sum += tile_a[y][k] * tile_b[k][x];
		__syncthreads();
	}
	c[row * N + column] = sum;
}

int main()
{
	static float one[2 * N * N], c[N * N];
	float *a;

	for (float &x : one)
		x = 1;
	CHECK(cudaMalloc(&a, 3 * N * N * sizeof *a));
	CHECK(cudaMemcpy(a, one, sizeof one, cudaMemcpyHostToDevice));
	multiply<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(a, a + N * N, a + 2 * N * N);
	CHECK(cudaMemcpy(c, a + 2 * N * N, sizeof c, cudaMemcpyDeviceToHost));
	printf("%g %g\n", c[0], c[N * N - 1]);
	return 0;
}
