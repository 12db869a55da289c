/* SPDX-License-Identifier: Apache-2.0 */
/* A right program: 1024 x 1024 matrices multiplied in shared tiles of 32 x 32,
 * whole numbers so that every order of adding gives the same bits. */
#include "common.h"

const int N = 1024, TILE = 32;

__global__ void multiply(const float *a, const float *b, float *c)
{
	__shared__ float ta[TILE][TILE], tb[TILE][TILE];
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
	float sum = 0;

	for (int k = 0; k < N; k += TILE) {
		ta[threadIdx.y][threadIdx.x] = a[y * N + k + threadIdx.x];
		tb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * N + x];
		__syncthreads();
		for (int i = 0; i < TILE; i++)
			sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
		__syncthreads();
	}
	c[y * N + x] = sum;
}

int main()
{
	std::vector<float> a(N * N), b(N * N), want(N * N);
	uint32_t seed = 1;

	for (int i = 0; i < N * N; i++) {
		a[i] = (int)(next_random(seed) % 9) - 4;
		b[i] = (int)(next_random(seed) % 9) - 4;
	}
	for (int y = 0; y < N; y++)
		for (int k = 0; k < N; k++)
			for (int x = 0; x < N; x++)
				want[y * N + x] += a[y * N + k] * b[k * N + x];
	float *da = device(a), *db = device(b), *dc = device<float>(N * N);
	multiply<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(da, db, dc);
	std::vector<float> got = host(dc, N * N);
	return verdict("matmul", got == want, digest(got.data(), N * N * sizeof(float)));
}
