/* SPDX-License-Identifier: Apache-2.0 */
/* c = a b', in halves: persistent blocks, a producer warp that fills a ring of four
 * stages by tensor copies, two warpgroups of wgmma, and an epilogue that stores each
 * tile from shared memory by a tensor copy.  kernels.sh and run.sh read the lines
 * below: what has to be found in mutant N (-DMUTATE=N), between which marked lines. */
// mutant 1 proxy-race @store @write          no proxy fence in the epilogue
// mutant 2 proxy-fence-order @store @write   the fence behind the barrier
// mutant 3 async-race @load @mma             the second full stage is not waited for
// mutant 4 async-race @load @mma             with the parity of the phase before, once
// mutant 5 async-race @load @mma             a stage less than the barriers say
// mutant 6 async-race @load @mma             the first stage to come again: full, not empty
// mutant 7 async-race @store @write          nobody waits for the store
// mutant 8 async-race @load @mma             one warpgroup arrives for both
//@ device sm_90a
//@ buf a 32768
//@ buf b 32768
//@ buf c 32768
//@ buf wrong 4
//@ tmap map_a a f16 dims=128,128 box=64,128 swizzle=128
//@ tmap map_b b f16 dims=128,128 box=64,64 swizzle=128
//@ tmap map_c c f16 dims=128,128 box=64,64 swizzle=128
//@ launch fill grid=1 block=256 args=a,b,u32:128,u32:128,u32:128
//@ launch gemm grid=1 block=384 smem=90160 args=map_a,map_b,map_c,u32:2,u32:2,u32:2
//@ launch verify grid=1 block=256 args=c,u32:128,u32:128,u32:128,u32:29,wrong
#include "product.cuh"
#include "host.h"

struct room {
	uint16_t a[STAGES][BM * BK], b[STAGES][BN * BK], c[2][64 * BN];
	uint64_t full[STAGES], empty[STAGES];
};

DEVICE void produce(room &r, const void *map_a, const void *map_b, int tiles, int across, int steps)
{
	int i = 0;

	for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x)
		for (int k = 0; k < steps; k++, i++) {
			uint64_t *full = &r.full[stage(i)];

			mbar_wait(MUTATE == 6 && i == STAGES ? full : &r.empty[stage(i)], phase(i) ^ 1);
			mbar_expect(full, sizeof r.a[0] + sizeof r.b[0]);
			tma_load(r.a[slot(i)], map_a, k * BK, tile / across * BM, full);        // @load
			tma_load(r.b[slot(i)], map_b, k * BK, tile % across * BN, full);
		}
	/* Whatever the consumers do, the block ends with nothing under way. */
	for (int last = i < STAGES ? 0 : i - STAGES; last < i; last++)
		mbar_wait(&r.full[stage(last)], phase(last));
}

/* The warpgroup's 64 rows of 64 columns, as the tensor map's swizzle wants them. */
DEVICE void write_out(uint16_t *c, const float *acc)
{
	int lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16 + lane / 4;
	char *to = (char *)c;

	for (int j = 0; j < 8; j++) {
		int at = (j ^ (row & 7)) * 16 + lane % 4 * 4;

		*(uint32_t *)(to + row * 128 + at) = halves(acc[4 * j], acc[4 * j + 1]);        // @write
		*(uint32_t *)(to + (row + 8) * 128 + at) = halves(acc[4 * j + 2], acc[4 * j + 3]);
	}
}

DEVICE void consume(room &r, const void *map_c, int tiles, int across, int steps)
{
	int group = threadIdx.x / 128, i = 0;
	bool first = threadIdx.x % 128 == 0, releases = first && (MUTATE != 8 || group == 0);
	float acc[BN / 64][32];

	for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
		for (int k = 0; k < steps; k++, i++) {
			uint64_t a = tile_of(r.a[slot(i)] + group * 64 * BK), b = tile_of(r.b[slot(i)]);

			if (MUTATE != 3 || i != 1)
				mbar_wait(&r.full[stage(i)], phase(i), MUTATE == 4 && i == STAGES);
			wgmma_fence();
#pragma unroll
			for (int s = 0; s < BK / 16; s++)
#pragma unroll
				for (int j = 0; j < BN / 64; j++)
					wgmma(acc[j], a + 2 * s, b + 2 * s + 512 * j, k + s != 0);      // @mma
			wgmma_commit();
			wgmma_wait<1>();
			/* The stage before is free: its products are done.  A group is the
			 * warpgroup's, so that one thread can say so. */
			if (k > 0 && releases)
				mbar_arrive(&r.empty[stage(i - 1)], MUTATE == 8 ? 2 : 1);
		}
		wgmma_wait<0>();
		if (releases)
			mbar_arrive(&r.empty[stage(i - 1)], MUTATE == 8 ? 2 : 1);
		/* The last tile's store has read what is overwritten now. */
		if (MUTATE != 7 && first)
			bulk_wait_read<0>();
		named_barrier(1 + group, 128);
#pragma unroll
		for (int j = 0; j < BN / 64; j++)
			write_out(r.c[group] + j * 64 * 64, acc[j]);
		if (MUTATE != 1 && MUTATE != 2)
			fence_async_shared();
		named_barrier(1 + group, 128);
		if (MUTATE == 2)
			fence_async_shared();
		if (first) {
			int y = tile / across * BM + group * 64, x = tile % across * BN;

			for (int j = 0; j < BN / 64; j++)
				tma_store(map_c, x + 64 * j, y, r.c[group] + j * 64 * 64);      // @store
			bulk_commit();
		}
	}
	if (first)
		bulk_wait_all();
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
     const __grid_constant__ CUtensorMap map_c, int tiles, int across, int steps)
{
	extern __shared__ __align__(1024) char smem[];
	room &r = *(room *)smem;

	if (threadIdx.x == 0)
		for (int s = 0; s < STAGES; s++) {
			mbar_init(&r.full[s], 1);
			mbar_init(&r.empty[s], CONSUMERS);
		}
	__syncthreads();
	if (threadIdx.x >= PRODUCER) {
		fewer_registers<40>();
		if (threadIdx.x == PRODUCER)
			produce(r, &map_a, &map_b, tiles, across, steps);
	} else {
		more_registers<232>();
		consume(r, &map_c, tiles, across, steps);
	}
}

/* Three tiles for each of two blocks; a product of 2,048 cubed with a block on every
 * multiprocessor. */
int main(int argc, char **argv)
{
	bool bench = is_bench(argc, argv);
	int m = bench ? 2048 : 256, n = bench ? 2048 : 384, k = bench ? 2048 : 384;
	int tiles = m / BM * (n / BN), across = n / BN, grid = bench ? multiprocessors() : 2;
	uint16_t *a = memory<uint16_t>(m * k), *b = memory<uint16_t>(n * k), *c = memory<uint16_t>(m * n);
	CUtensorMap map_a = tensor_map(a, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, k, m, BK, BM, CU_TENSOR_MAP_SWIZZLE_128B);
	CUtensorMap map_b = tensor_map(b, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, k, n, BK, BN, CU_TENSOR_MAP_SWIZZLE_128B);
	CUtensorMap map_c = tensor_map(c, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, n, m, 64, 64, CU_TENSOR_MAP_SWIZZLE_128B);

	fill<<<256, 256>>>(a, b, m, n, k);
	shared_memory(gemm, sizeof(room));
	float ms = time_of(bench, [&] {
		gemm<<<grid, THREADS, sizeof(room)>>>(map_a, map_b, map_c, tiles, across, k / BK);
	});
	verify<<<256, 256>>>(c, m, n, k, bench ? 1009 : 1, wrong_count());
	return result("gemm", bench, ms);
}
