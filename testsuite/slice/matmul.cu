/* SPDX-License-Identifier: Apache-2.0 */
/* c = a b by tiles in shared memory: the kernel of testsuite/bench, with mutants (-DMUTATE=N). */
// mutant 1 data-race @store @load        no barrier before the tiles are read
// mutant 2 data-race @load @store        no barrier before they are written again
// mutant 3 data-race @store @load        the first barrier left out once
// mutant 4 data-race @store @store       rows of a tile overlap by an element
// mutant 5 data-race @out @out           a block's rows overlap the next one's
// mutant 6 data-race @load @early        the next tile's first row stored before the barrier
//@ device sm_90a
//@ buf a 16384 iota
//@ buf b 16384 iota
//@ buf c 16384
//@ launch matmul grid=2,2 block=32,32 args=a,b,c,u32:64
enum { TILE = 32 };

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n)
{
	__shared__ float ta[TILE * TILE], tb[TILE * TILE];
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * (MUTATE == 5 ? TILE - 1 : TILE) + threadIdx.y;
	int row = MUTATE == 4 ? TILE - 1 : TILE;
	float sum = 0;

	for (int k = 0; k < n; k += TILE) {
		ta[threadIdx.y * row + threadIdx.x] = a[y * n + k + threadIdx.x];       // @store
		tb[threadIdx.y * TILE + threadIdx.x] = b[(k + threadIdx.y) * n + x];
		if (MUTATE != 1 && (MUTATE != 3 || k))
			__syncthreads();
		for (int i = 0; i < TILE; i++)
			sum += ta[threadIdx.y * row + i] * tb[i * TILE + threadIdx.x];  // @load
		if (MUTATE == 6 && threadIdx.y == 0)
			ta[threadIdx.x + TILE] = 0;                                     // @early
		if (MUTATE != 2)
			__syncthreads();
	}
	c[y * n + x] = sum;                                                             // @out
}
