/* SPDX-License-Identifier: Apache-2.0 */
/* A part of an attention's backward pass: a block keeps 64 keys and their values and
 * goes through all queries, whose tiles come by tensor copies and whose statistics (the
 * logarithm of each row's sum, and delta) by raw bulk copies, all on one mbarrier a
 * stage; three stages.  p = 2^(k q' - lse), ds = p (v do' - delta), dk = sum of ds q.
 * The statistics are read by ordinary loads, so whoever read them fences before he
 * gives the stage back.  For the lines below see gemm.cu. */
// mutant 1 proxy-race @load @read          no proxy fence behind the loads
// mutant 2 proxy-race @load @read          the fence behind the arrival
// mutant 3 async-race @load @read          the second full stage is not waited for
// mutant 4 async-race @load @read          with the parity of the phase before, once
// mutant 5 async-race @load @read          a stage less than the barriers say
// mutant 6 async-race @load @read          the first stage to come again: full, not empty
// mutant 8 async-race @load @read          one lane arrives for 32
//@ device sm_90a
//@ buf k 8192
//@ buf v 8192
//@ buf q 40960
//@ buf d_o 40960
//@ buf qt 40960
//@ buf lse 1280
//@ buf delta 1280
//@ buf dk 16384
//@ buf wrong 4
//@ tmap map_k k f16 dims=64,64 box=64,64 swizzle=128
//@ tmap map_v v f16 dims=64,64 box=64,64 swizzle=128
//@ tmap map_q q f16 dims=64,320 box=64,64 swizzle=128
//@ tmap map_do d_o f16 dims=64,320 box=64,64 swizzle=128
//@ tmap map_qt qt f16 dims=320,64 box=64,64 swizzle=128
//@ launch fill grid=1 block=256 args=k,v,q,d_o,qt,lse,delta,u32:64,u32:320
//@ launch attention grid=1 block=160 smem=91704 args=map_k,map_v,map_q,map_do,map_qt,lse,delta,dk,u32:5
//@ launch verify grid=1 block=256 args=dk,u32:64,u32:320,u32:16,wrong
#include "ptx.cuh"
#include "host.h"

enum { D = 64, KEYS = 64, QUERIES = 64, STAGES = 3, CONSUMERS = 128, THREADS = 160 };

struct room {
	uint16_t k[KEYS * D], v[KEYS * D];
	uint16_t q[STAGES][QUERIES * D], d_o[STAGES][QUERIES * D], q_transposed[STAGES][D * QUERIES];
	float lse[STAGES][QUERIES], delta[STAGES][QUERIES];
	uint64_t full[STAGES], empty[STAGES], keys;
};

DEVICE int slot(int i) { return i % (STAGES - (MUTATE == 5)); }
DEVICE int stage(int i) { return i % STAGES; }
DEVICE int phase(int i) { return i / STAGES & 1; }

/* A key has a number other than 0 in one column of 16, so that products stay small, all
 * powers of two are halves, and every sum is exact. */
DEVICE int key_at(int row, int column) { return column % 16 == row % 16 ? small_number(row, column, 1) : 0; }
DEVICE int value_at(int row, int column) { return key_at(row, column + 1); }
DEVICE int query_at(int row, int column) { return small_number(row, column, 1); }
DEVICE int gradient_at(int row, int column) { return small_number(column, row, 1); }
DEVICE int lse_at(int row) { return row % 4; }
DEVICE int delta_at(int row) { return row % 5 - 2; }

extern "C" __global__ void fill(uint16_t *k, uint16_t *v, uint16_t *q, uint16_t *d_o, uint16_t *q_transposed,
				float *lse, float *delta, int keys, int queries)
{
	int n = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;

	for (int i = n; i < keys * D; i += all) {
		k[i] = half(key_at(i / D, i % D));
		v[i] = half(value_at(i / D, i % D));
	}
	for (int i = n; i < queries * D; i += all) {
		q[i] = half(query_at(i / D, i % D));
		d_o[i] = half(gradient_at(i / D, i % D));
		q_transposed[i % D * queries + i / D] = q[i];
	}
	for (int i = n; i < queries; i += all) {
		lse[i] = lse_at(i);
		delta[i] = delta_at(i);
	}
}

extern "C" __global__ void verify(const float *dk, int keys, int queries, int step, int *wrong)
{
	for (int i = (blockIdx.x * blockDim.x + threadIdx.x) * step; i < keys * D; i += gridDim.x * blockDim.x * step) {
		int row = i / D, column = i % D;
		float sum = 0;

		for (int j = 0; j < queries; j++) {
			int s = 0, dp = 0;

			for (int c = row % 16; c < D; c += 16)
				s += key_at(row, c) * query_at(j, c);
			for (int c = (row + 15) % 16; c < D; c += 16)
				dp += value_at(row, c) * gradient_at(j, c);
			sum += exp2f(s - lse_at(j)) * (dp - delta_at(j)) * query_at(j, column);
		}
		if (fabsf(dk[i] - sum) > 1e-3f * fmaxf(1, fabsf(sum)))
			atomicAdd(wrong, 1);
	}
}

DEVICE void produce(room &r, const void *map_k, const void *map_v, const void *map_q, const void *map_do,
		    const void *map_qt, const float *lse, const float *delta, int tiles)
{
	mbar_expect(&r.keys, sizeof r.k + sizeof r.v);
	tma_load(r.k, map_k, 0, blockIdx.x * KEYS, &r.keys);
	tma_load(r.v, map_v, 0, blockIdx.x * KEYS, &r.keys);
	for (int i = 0; i < tiles; i++) {
		uint64_t *full = &r.full[stage(i)];
		int s = slot(i);

		mbar_wait(MUTATE == 6 && i == STAGES ? full : &r.empty[stage(i)], phase(i) ^ 1);
		mbar_expect(full, sizeof r.q[0] + sizeof r.d_o[0] + sizeof r.q_transposed[0] +
				  sizeof r.lse[0] + sizeof r.delta[0]);
		tma_load(r.q[s], map_q, 0, i * QUERIES, full);
		tma_load(r.d_o[s], map_do, 0, i * QUERIES, full);
		tma_load(r.q_transposed[s], map_qt, i * QUERIES, 0, full);
		bulk_load(r.lse[s], lse + i * QUERIES, sizeof r.lse[0], full);                  // @load
		bulk_load(r.delta[s], delta + i * QUERIES, sizeof r.delta[0], full);
	}
	/* Whatever the consumers do, the block ends with nothing under way. */
	for (int last = tiles < STAGES ? 0 : tiles - STAGES; last < tiles; last++)
		mbar_wait(&r.full[stage(last)], phase(last));
}

DEVICE void consume(room &r, float *dk, int tiles)
{
	int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
	float acc[32];

	mbar_wait(&r.keys, 0);
	for (int i = 0; i < tiles; i++) {
		int s = slot(i);
		uint64_t q = tile_of(r.q[s]), d_o = tile_of(r.d_o[s]), qt = tile_of(r.q_transposed[s]);
		float p[32], dp[32];
		uint32_t ds[16];

		if (MUTATE != 3 || i != 1)
			mbar_wait(&r.full[stage(i)], phase(i), MUTATE == 4 && i == STAGES);
		wgmma_fence();
#pragma unroll
		for (int c = 0; c < D / 16; c++)
			wgmma(p, tile_of(r.k) + 2 * c, q + 2 * c, c != 0);
#pragma unroll
		for (int c = 0; c < D / 16; c++)
			wgmma(dp, tile_of(r.v) + 2 * c, d_o + 2 * c, c != 0);
		wgmma_commit();
		wgmma_wait<0>();
#pragma unroll
		for (int j = 0; j < 8; j++) {
			float2 lse = *(float2 *)&r.lse[s][8 * j + lane % 4 * 2];                // @read
			float2 delta = *(float2 *)&r.delta[s][8 * j + lane % 4 * 2];
			const float *x = &p[4 * j], *y = &dp[4 * j];

			ds[2 * j] = halves(exp2f(x[0] - lse.x) * (y[0] - delta.x),
					   exp2f(x[1] - lse.y) * (y[1] - delta.y));
			ds[2 * j + 1] = halves(exp2f(x[2] - lse.x) * (y[2] - delta.x),
					       exp2f(x[3] - lse.y) * (y[3] - delta.y));
		}
		wgmma_fence();
#pragma unroll
		for (int c = 0; c < QUERIES / 16; c++)
			wgmma(acc, &ds[4 * c], qt + 2 * c, i + c != 0);
		wgmma_commit();
		wgmma_wait<0>();
		if (MUTATE != 1 && MUTATE != 2)
			fence_async_shared();
		if (MUTATE != 8)
			mbar_arrive(&r.empty[stage(i)]);
		else if (lane == 0)
			mbar_arrive(&r.empty[stage(i)], 32);
		if (MUTATE == 2)
			fence_async_shared();
	}
#pragma unroll
	for (int j = 0; j < 8; j++) {
		float *to = dk + (blockIdx.x * KEYS + row) * D + 8 * j + lane % 4 * 2;

		*(float2 *)to = make_float2(acc[4 * j], acc[4 * j + 1]);
		*(float2 *)(to + 8 * D) = make_float2(acc[4 * j + 2], acc[4 * j + 3]);
	}
}

extern "C" __global__ void __launch_bounds__(THREADS)
attention(const __grid_constant__ CUtensorMap map_k, const __grid_constant__ CUtensorMap map_v,
	  const __grid_constant__ CUtensorMap map_q, const __grid_constant__ CUtensorMap map_do,
	  const __grid_constant__ CUtensorMap map_qt, const float *lse, const float *delta, float *dk, int tiles)
{
	extern __shared__ __align__(1024) char smem[];
	room &r = *(room *)smem;

	if (threadIdx.x == 0) {
		for (int s = 0; s < STAGES; s++) {
			mbar_init(&r.full[s], 1);
			mbar_init(&r.empty[s], CONSUMERS);
		}
		mbar_init(&r.keys, 1);
	}
	__syncthreads();
	if (threadIdx.x < CONSUMERS)
		consume(r, dk, tiles);
	else if (threadIdx.x == CONSUMERS)
		produce(r, &map_k, &map_v, &map_q, &map_do, &map_qt, lse, delta, tiles);
}

int main(int argc, char **argv)
{
	bool bench = is_bench(argc, argv);
	int keys = bench ? 64 * 256 : 256, queries = bench ? 2048 : 512;
	uint16_t *k = memory<uint16_t>(keys * D), *v = memory<uint16_t>(keys * D);
	uint16_t *q = memory<uint16_t>(queries * D), *d_o = memory<uint16_t>(queries * D);
	uint16_t *qt = memory<uint16_t>(queries * D);
	float *lse = memory<float>(queries), *delta = memory<float>(queries), *dk = memory<float>(keys * D);
	auto map = [](void *p, int columns, int rows) {
		return tensor_map(p, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, columns, rows, 64, 64, CU_TENSOR_MAP_SWIZZLE_128B);
	};
	CUtensorMap map_k = map(k, D, keys), map_v = map(v, D, keys), map_q = map(q, D, queries);
	CUtensorMap map_do = map(d_o, D, queries), map_qt = map(qt, queries, D);

	fill<<<256, 256>>>(k, v, q, d_o, qt, lse, delta, keys, queries);
	shared_memory(attention, sizeof(room));
	float ms = time_of(bench, [&] {
		attention<<<keys / KEYS, THREADS, sizeof(room)>>>(map_k, map_v, map_q, map_do, map_qt, lse, delta,
								  dk, queries / QUERIES);
	});
	verify<<<256, 256>>>(dk, keys, queries, bench ? 1009 : 1, wrong_count());
	return result("attention", bench, ms);
}
