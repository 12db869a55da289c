/* SPDX-License-Identifier: Apache-2.0 */
/* c = a b', in halves, by clusters of two blocks: both need the same tile of b, of which each
 * loads one half into both by multicast, and a tile of a of their own.  A stage is free when
 * the consumers of both blocks say so to both producers. */
// mutant 2 async-race @multicast @mma        the peer's consumers are not heard
// mutant 3 async-race @load @mma             the second full stage is not waited for
// mutant 5 async-race @load @mma             a stage less than the barriers say
// mutant 6 async-race @multicast @mma        the first stage to come again: full, not empty
//@ device sm_90a
//@ buf a 65536
//@ buf b 32768
//@ buf c 65536
//@ buf wrong 4
//@ tmap map_a a f16 dims=128,256 box=64,128 swizzle=128
//@ tmap map_b b f16 dims=128,128 box=64,32 swizzle=128
//@ launch fill grid=1 block=256 args=a,b,u32:256,u32:128,u32:128
//@ launch multicast grid=2 block=384 smem=74752 cluster=2 args=map_a,map_b,c,u32:128,u32:2
//@ launch verify grid=1 block=256 args=c,u32:256,u32:128,u32:128,u32:29,wrong
#include "product.cuh"
#include "host.h"

struct room {
	uint16_t a[STAGES][BM * BK], b[STAGES][BN * BK];
	uint64_t full[STAGES], empty[STAGES];
};

/* Fills stage after stage for tiles `x` of b and, in this block, `y` of a. */
DEVICE void produce(room &r, const void *map_a, const void *map_b, int y, int across, int steps)
{
	int half = cluster_rank(), i = 0;

	for (int x = 0; x < across; x++)
		for (int k = 0; k < steps; k++, i++) {
			uint64_t *full = &r.full[stage(i)];

			if (MUTATE == 6 && i == STAGES)
				mbar_wait(full, phase(i) ^ 1);
			else
				mbar_wait_cluster(&r.empty[stage(i)], phase(i) ^ 1);
			mbar_expect(full, sizeof r.a[0] + sizeof r.b[0]);
			tma_load(r.a[slot(i)], map_a, k * BK, y * BM, full);                                    // @load
			tma_multicast(r.b[slot(i)] + half * (BN / 2) * BK, map_b, k * BK, x * BN + half * (BN / 2), full, 3);   // @multicast
		}
	/* Whatever the consumers do, the block ends with nothing under way. */
	for (int last = i < STAGES ? 0 : i - STAGES; last < i; last++)
		mbar_wait(&r.full[stage(last)], phase(last));
}

/* The stage is free, as far as the caller's half of the block is concerned: both producers hear of it. */
DEVICE void release(room &r, int i)
{
	for (uint32_t rank = 0; rank < 2; rank++)
		if (MUTATE != 2 || rank == cluster_rank())
			mbar_arrive_at(&r.empty[stage(i)], rank, MUTATE == 2 ? 2 : 1);
}

DEVICE void consume(room &r, uint16_t *c, int y, int n, int across, int steps)
{
	int group = threadIdx.x / 128, i = 0, lane = threadIdx.x % 32, row = y * BM + group * 64 + threadIdx.x / 32 % 4 * 16 + lane / 4;
	bool releases = threadIdx.x % 128 == 0;
	float acc[BN / 64][32];

	for (int x = 0; x < across; x++) {
		for (int k = 0; k < steps; k++, i++) {
			uint64_t a = tile_of(r.a[slot(i)] + group * 64 * BK), b = tile_of(r.b[slot(i)]);

			if (MUTATE != 3 || i != 1)
				mbar_wait(&r.full[stage(i)], phase(i));
			wgmma_fence();
#pragma unroll
			for (int s = 0; s < BK / 16; s++)
#pragma unroll
				for (int j = 0; j < BN / 64; j++)
					wgmma(acc[j], a + 2 * s, b + 2 * s + 512 * j, k + s != 0);      // @mma
			wgmma_commit();
			wgmma_wait<1>();
			if (k > 0 && releases)
				release(r, i - 1);
		}
		wgmma_wait<0>();
		if (releases)
			release(r, i - 1);
#pragma unroll
		for (int j = 0; j < BN / 64; j++)
#pragma unroll
			for (int e = 0; e < 8; e++) {
				int at = row * n + x * BN + 64 * j + 8 * e + lane % 4 * 2;

				*(uint32_t *)(c + at) = halves(acc[j][4 * e], acc[j][4 * e + 1]);
				*(uint32_t *)(c + at + 8 * n) = halves(acc[j][4 * e + 2], acc[j][4 * e + 3]);
			}
	}
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
multicast(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, uint16_t *c, int n, int steps)
{
	extern __shared__ __align__(1024) char smem[];
	room &r = *(room *)smem;
	int y = blockIdx.x, across = n / BN;

	if (threadIdx.x == 0) {
		for (int s = 0; s < STAGES; s++) {
			mbar_init(&r.full[s], 1);
			mbar_init(&r.empty[s], 2 * CONSUMERS);
		}
		fence_mbar_init();
	}
	cluster_barrier();
	if (threadIdx.x >= PRODUCER) {
		fewer_registers<40>();
		if (threadIdx.x == PRODUCER)
			produce(r, &map_a, &map_b, y, across, steps);
	} else {
		more_registers<232>();
		consume(r, c, y, n, across, steps);
	}
	/* A peer's arrivals and copies find the block's shared memory. */
	__syncwarp();
	cluster_barrier();
}

/* Two tiles for each of two blocks; or as many rows as there are multiprocessors, in pairs. */
int main(int argc, char **argv)
{
	bool bench = is_bench(argc, argv);
	int blocks = bench ? multiprocessors() / 4 * 2 : 2, m = blocks * BM, n = bench ? 512 : 384, k = bench ? 2048 : 384;
	uint16_t *a = memory<uint16_t>(m * k), *b = memory<uint16_t>(n * k), *c = memory<uint16_t>(m * n);
	CUtensorMap map_a = tensor_map(a, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, k, m, BK, BM, CU_TENSOR_MAP_SWIZZLE_128B);
	CUtensorMap map_b = tensor_map(b, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, k, n, BK, BN / 2, CU_TENSOR_MAP_SWIZZLE_128B);
	cudaLaunchAttribute cluster = {};
	cudaLaunchConfig_t config = {};

	cluster.id = cudaLaunchAttributeClusterDimension;
	cluster.val.clusterDim = { 2, 1, 1 };
	config.gridDim = blocks;
	config.blockDim = THREADS;
	config.dynamicSmemBytes = sizeof(room);
	config.attrs = &cluster;
	config.numAttrs = 1;
	fill<<<256, 256>>>(a, b, m, n, k);
	shared_memory(multicast, sizeof(room));
	float ms = time_of(bench, [&] {
		CHECK(cudaLaunchKernelEx(&config, multicast, map_a, map_b, c, n, k / BK));
	});
	verify<<<256, 256>>>(c, m, n, k, bench ? 1009 : 1, wrong_count());
	return result("multicast", bench, ms);
}
