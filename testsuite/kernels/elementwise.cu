/* SPDX-License-Identifier: Apache-2.0 */
/* y = 2 x + 1 by persistent blocks: tiles come by tensor copies into three stages that
 * are filled again as soon as they have been read, by ordinary loads; results are
 * written to one of two places in shared memory and go out by tensor copies.  Thread 0
 * issues them all.  For the lines below see gemm.cu. */
// mutant 1 proxy-race @load @read          no proxy fence behind the loads
// mutant 2 proxy-race @load @read          the fence behind the arrival
// mutant 3 async-race @load @read          the second full stage is not waited for
// mutant 4 async-race @load @read          with the parity of the phase before, once
// mutant 5 async-race @load @read          a stage less than the barriers say
// mutant 6 async-race @load @read          the first stage that comes again is not waited for
// mutant 7 async-race @store @write        nobody waits for the store
// mutant 8 async-race @load @read          one lane arrives for 32
//@ device sm_90a
//@ buf x 65536
//@ buf y 65536
//@ buf wrong 4
//@ tmap map_x x f32 dims=128,128 box=32,32
//@ tmap map_y y f32 dims=128,128 box=32,32
//@ launch fill grid=1 block=256 args=x,u32:16384
//@ launch elementwise grid=2 block=128 smem=20528 args=map_x,map_y,u32:16,u32:4
//@ launch verify grid=1 block=256 args=y,u32:16384,wrong
#include "ptx.cuh"
#include "host.h"

enum { COLUMNS = 32, ROWS = 32, STAGES = 3, OUTPUTS = 2, THREADS = 128, EACH = COLUMNS * ROWS / 4 / THREADS };

struct room {
	float4 in[STAGES][EACH * THREADS], out[OUTPUTS][EACH * THREADS];
	uint64_t full[STAGES], empty[STAGES];
};

DEVICE int slot(int i) { return i % (STAGES - (MUTATE == 5)); }
DEVICE int stage(int i) { return i % STAGES; }
DEVICE int phase(int i) { return i / STAGES & 1; }

extern "C" __global__ void fill(float *x, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		x[i] = i % 100003;
}

extern "C" __global__ void verify(const float *y, int n, int *wrong)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		if (y[i] != 2 * (i % 100003) + 1)
			atomicAdd(wrong, 1);
}

DEVICE void load(room &r, const void *map, int i, int tile, int across)
{
	uint64_t *full = &r.full[stage(i)];

	mbar_expect(full, sizeof r.in[0]);
	tma_load(r.in[slot(i)], map, tile % across * COLUMNS, tile / across * ROWS, full);      // @load
}

extern "C" __global__ void __launch_bounds__(THREADS)
elementwise(const __grid_constant__ CUtensorMap map_x, const __grid_constant__ CUtensorMap map_y, int tiles, int across)
{
	extern __shared__ __align__(1024) char smem[];
	room &r = *(room *)smem;
	int t = threadIdx.x, tile = blockIdx.x;

	if (t == 0) {
		for (int s = 0; s < STAGES; s++) {
			mbar_init(&r.full[s], 1);
			mbar_init(&r.empty[s], THREADS);
		}
		for (int s = 0; s < STAGES && tile + s * gridDim.x < tiles; s++)
			load(r, &map_x, s, tile + s * gridDim.x, across);
	}
	__syncthreads();
	for (int i = 0; tile < tiles; i++, tile += gridDim.x) {
		int ahead = tile + STAGES * gridDim.x, s = stage(i);
		float4 v[EACH];

		if (MUTATE != 3 || i != 1)
			mbar_wait(&r.full[s], phase(i), MUTATE == 4 && i == STAGES);
#pragma unroll
		for (int k = 0; k < EACH; k++)
			v[k] = r.in[slot(i)][k * THREADS + t];                                  // @read
		if (MUTATE != 1 && MUTATE != 2)
			fence_async_shared();
		if (MUTATE != 8)
			mbar_arrive(&r.empty[s]);
		else if (t % 32 == 0)
			mbar_arrive(&r.empty[s], 32);
		if (MUTATE == 2)
			fence_async_shared();
		if (t == 0 && ahead < tiles) {
			if (MUTATE != 6 || i != 0)
				mbar_wait(&r.empty[s], phase(i));
			load(r, &map_x, i + STAGES, ahead, across);
		}
		/* What is overwritten now has been read by its store. */
		if (MUTATE != 7 && t == 0)
			bulk_wait_read<OUTPUTS - 1>();
		__syncthreads();
#pragma unroll
		for (int k = 0; k < EACH; k++)
			r.out[i % OUTPUTS][k * THREADS + t] = make_float4(2 * v[k].x + 1, 2 * v[k].y + 1, 2 * v[k].z + 1, 2 * v[k].w + 1);     // @write
		fence_async_shared();
		__syncthreads();
		if (t == 0) {
			tma_store(&map_y, tile % across * COLUMNS, tile / across * ROWS, r.out[i % OUTPUTS]);   // @store
			bulk_commit();
		}
	}
	if (t == 0)
		bulk_wait_all();
}

int main(int argc, char **argv)
{
	bool bench = is_bench(argc, argv);
	int columns = bench ? 4096 : 256, rows = bench ? 2048 : 256, n = columns * rows;
	int across = columns / COLUMNS, tiles = rows / ROWS * across, grid = bench ? 4 * multiprocessors() : 4;
	float *x = memory<float>(n), *y = memory<float>(n);
	CUtensorMap map_x = tensor_map(x, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, columns, rows, COLUMNS, ROWS, CU_TENSOR_MAP_SWIZZLE_NONE);
	CUtensorMap map_y = tensor_map(y, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, columns, rows, COLUMNS, ROWS, CU_TENSOR_MAP_SWIZZLE_NONE);

	fill<<<256, 256>>>(x, n);
	shared_memory(elementwise, sizeof(room));
	float ms = time_of(bench, [&] {
		elementwise<<<grid, THREADS, sizeof(room)>>>(map_x, map_y, tiles, across);
	});
	verify<<<256, 256>>>(y, n, wrong_count());
	return result("elementwise", bench, ms);
}
