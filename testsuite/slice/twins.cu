/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that do the same but for one: a producer fills a ring of two stages by bulk copies, three warps read them, and
 * what they make of them is copied out.  Each mutant is in block ODD alone. */
// mutant 1 async-race @load @early          a read of a stage that is being filled
// mutant 2 proxy-race @write @out           no proxy fence in front of the copy
// mutant 3 async-race @load @read           a stage is given back before all have read it
// mutant 4 async-race @load @read           the other stage is read once
// mutant 5 data-race @note @note            a note where another warp's is
// mutant 6 proxy-race @read @load           no proxy fence in front of what fills a stage again
// mutant 7 async-race @load @read           a copy into the other stage
// mutant 8 async-race @load @read           an arrival more
// mutant 9 async-race @load @read           the parity of the phase before, at last
// mutant 10 async-race @load @read          the other stage's mbarrier is waited for, at last
// mutant 11 async-race @load @read          the other stage is given back, once
// mutant 12 proxy-race @read @load          a proxy fence of half of the lanes
// mutant 13 async-race @load @more          a copy that is longer by what the next one is shorter
// mutant 14 mbarrier-misuse @init @try      a try in vain at an mbarrier whose init nothing orders
//@ device sm_90a
//@ buf in 32768 iota
//@ buf out 32768
//@ launch twins grid=8 block=128 args=in,out
#include <stdint.h>

#define GIVES_UP (MUTATE > 7)
#include "ptx.cuh"

enum { ODD = 5, RING_STAGES = 2, TILES = 6, TILE = 384, FIRST = 256 /* of two copies */, READERS = 96 };

struct room {
	uint32_t stage[RING_STAGES][TILE / 4], sum[READERS], note[READERS];
	uint64_t full[RING_STAGES], empty[RING_STAGES];
};

DEVICE void bulk_store(void *to, const void *from, uint32_t bytes)
{
	asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
		     :: "l"(to), "r"(shared_address(from)), "r"(bytes) : "memory");
}

/* mutant: what is wrong with this block, which the compiler does not know. */
DEVICE void produce(room &r, const char *in, int mutant)
{
#pragma unroll 1
	for (int i = 0; i < TILES; i++) {
		int s = i % RING_STAGES, first = mutant == 13 && i == 3 ? FIRST + 16 : FIRST;

		mbar_wait(&r.empty[s], (i / RING_STAGES & 1) ^ 1);
		mbar_expect(&r.full[s], TILE);
		bulk_load(r.stage[mutant == 7 && i == 3 ? s ^ 1 : s], in + i * TILE, first, &r.full[s]);        // @load
		bulk_load(&r.stage[s][FIRST / 4], in + i * TILE + FIRST, TILE - first, &r.full[s]);             // @more
	}
}

DEVICE void consume(room &r, char *out, int mutant)
{
	int t = threadIdx.x;
	uint32_t sum = 0;

#pragma unroll 1
	for (int i = 0; i < TILES; i++) {
		int s = i % RING_STAGES;
		bool last = i + 1 == TILES;

		if (mutant == 1 && i == 3)
			sum += r.stage[s][t];                           // @early
		mbar_wait(&r.full[mutant == 10 && last ? s ^ 1 : s], (i / RING_STAGES & 1) ^ (mutant == 9 && last));
		__syncwarp();
		if (mutant == 8 && i == 3 && t == 0)
			mbar_arrive(&r.empty[s]);
		sum += r.stage[mutant == 4 && i == 2 ? s ^ 1 : s][t];   // @read
		if (mutant != 6 && (mutant != 12 || t % 32 < 16))
			fence_async_shared();
		if (mutant != 3 || i != 1)
			named_barrier(1, READERS);
		if (t == 0)
			mbar_arrive(&r.empty[mutant == 11 && i == 1 ? s ^ 1 : s]);
	}
	r.note[mutant == 5 && t >= 64 ? t - 64 : t] = sum;              // @note
	r.sum[t] = sum;                                                 // @write
	if (mutant != 2)
		fence_async_shared();
	named_barrier(1, READERS);
	if (t == 0) {
		bulk_store(out, r.sum, sizeof r.sum);                   // @out
		bulk_commit();
		bulk_wait_all();
	}
}

extern "C" __global__ void __launch_bounds__(128) twins(const char *in, char *out)
{
	__shared__ __align__(128) room r;
	int mutant;

	asm volatile("mov.u32 %0, %1;" : "=r"(mutant) : "n"(MUTATE));
	mutant = blockIdx.x == ODD ? mutant : 0;
	if (threadIdx.x == 0)
		for (int s = 0; s < RING_STAGES; s++) {
			mbar_init(&r.full[s], 1);                       // @init
			mbar_init(&r.empty[s], 1);
		}
	if (mutant == 14 && threadIdx.x / 32 == 1)
		mbar_try(&r.full[0], 0);                                // @try
	__syncthreads();
	if (threadIdx.x < READERS)
		consume(r, out + blockIdx.x * 1024, mutant);
	else if (threadIdx.x == READERS)
		produce(r, in, mutant);
}
