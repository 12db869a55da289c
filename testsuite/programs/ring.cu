// SPDX-License-Identifier: Apache-2.0
//
// Sums of tiles that cp.async brings, two turns ahead of those that read them.
// prints: 16384 sums are right
#include <cuda_pipeline.h>

#include "check.h"

#ifndef AHEAD
#define AHEAD 2                 /* groups that may be pending where a tile is read */
#endif
#ifndef STAGES
#define STAGES 4
#endif
#ifndef BLOCKS
#define BLOCKS 64
#endif
enum { THREADS = 128, TILE = 256, TURNS = 16 };

__global__ void __launch_bounds__(THREADS) sum(const float4 *a, float4 *b)
{
	__shared__ float4 tile[STAGES][TILE];
	const float4 *from = a + blockIdx.x * TURNS * TILE;
	float4 v[2] = {};

	for (int i = 0; i < TURNS + 2; i++) {
		for (int k = threadIdx.x; i < TURNS && k < TILE; k += THREADS)
			__pipeline_memcpy_async(&tile[i % STAGES][k], &from[i * TILE + k], sizeof v[0]);
		__pipeline_commit();
		__pipeline_wait_prior(AHEAD);
		__syncthreads();
		for (int k = 0; i > 1 && k < 2; k++) {
			float4 x = tile[(i - 2) % STAGES][threadIdx.x ^ 1 | k << 7];

			v[k] = make_float4(v[k].x + x.x, v[k].y + x.y, v[k].z + x.z, v[k].w + x.w);
		}
	}
	for (int k = 0; k < 2; k++)
		b[blockIdx.x * TILE + k * THREADS + threadIdx.x] = v[k];
}

int main()
{
	static float4 h[BLOCKS * TILE], from[BLOCKS * TURNS * TILE];
	float4 *a, *b;
	int right = 0;

	for (int i = 0; i < BLOCKS * TURNS * TILE; i++)
		from[i] = make_float4((float)(i % 5), 1, 2, (float)(i % 3));
	CHECK(cudaMalloc(&a, sizeof from));
	CHECK(cudaMalloc(&b, sizeof h));
	CHECK(cudaMemcpy(a, from, sizeof from, cudaMemcpyHostToDevice));
	sum<<<BLOCKS, THREADS>>>(a, b);
	CHECK(cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost));
	for (int i = 0; i < BLOCKS * TILE; i++) {
		float x = 0;

		for (int k = 0; k < TURNS; k++)
			x += (float)((((i / TILE * TURNS + k) * TILE + i % TILE) ^ 1) % 5);
		right += h[i].x == x && h[i].y == TURNS && h[i].z == 2 * TURNS;
	}
	printf("%d sums are right\n", right);
	return 0;
}
