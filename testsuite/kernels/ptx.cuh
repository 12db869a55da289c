/* SPDX-License-Identifier: Apache-2.0 */
/* ptx.cuh: the instructions of sm_90a that the kernels here are made of, one small
 * function each: mbarriers, tensor and bulk copies and their groups, proxy fences,
 * wgmma.  -DMUTATE=N makes a mutant.  A wait has no end in a right program; in mutants
 * that could hang it gives up after TRIES looks, the mutant's own wait before those who
 * wait for him. */
#pragma once
#include <cstdint>

#ifndef MUTATE
#define MUTATE 0
#endif
#ifndef TRIES
#define TRIES 100000
#endif
/* Those in which somebody may fall behind by two phases. */
#ifndef GIVES_UP
#define GIVES_UP (MUTATE == 3 || MUTATE == 4 || MUTATE == 6 || MUTATE == 8)
#endif

#define DEVICE __device__ __forceinline__

DEVICE uint32_t shared_address(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

/* ---- mbarriers --------------------------------------------------------------- */

DEVICE void mbar_init(uint64_t *bar, uint32_t count)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(shared_address(bar)), "r"(count) : "memory");
}

DEVICE void mbar_expect(uint64_t *bar, uint32_t bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
		     :: "r"(shared_address(bar)), "r"(bytes) : "memory");
}

DEVICE void mbar_arrive(uint64_t *bar, uint32_t count = 1)
{
	asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" :: "r"(shared_address(bar)), "r"(count) : "memory");
}

DEVICE bool mbar_try(uint64_t *bar, uint32_t parity)
{
	uint32_t done;

	asm volatile("{\n\t.reg .pred p;\n\t"
		     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, %3;\n\t"
		     "selp.u32 %0, 1, 0, p;\n\t}"
		     : "=r"(done) : "r"(shared_address(bar)), "r"(parity), "n"(1000 /* ns */) : "memory");
	return done;
}

DEVICE void mbar_wait(uint64_t *bar, uint32_t parity, bool wrong = false)
{
	int tries = wrong ? TRIES / 8 : TRIES;

	for (int i = 0; (!GIVES_UP || i < tries) && !mbar_try(bar, parity ^ wrong); i++)
		;
}

/* ---- clusters ---------------------------------------------------------------- */

DEVICE uint32_t cluster_rank()
{
	uint32_t rank;

	asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
	return rank;
}

DEVICE void cluster_barrier()
{
	asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}

DEVICE void fence_mbar_init()
{
	asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* At the mbarrier at that place in the block of a rank. */
DEVICE void mbar_arrive_at(uint64_t *bar, uint32_t rank, uint32_t count)
{
	asm volatile("{\n\t.reg .b32 a;\n\t"
		     "mapa.shared::cluster.u32 a, %0, %1;\n\t"
		     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a], %2;\n\t}"
		     :: "r"(shared_address(bar)), "r"(rank), "r"(count) : "memory");
}

/* For what peers say as well. */
DEVICE void mbar_wait_cluster(uint64_t *bar, uint32_t parity)
{
	uint32_t done = 0;

	for (int i = 0; (!GIVES_UP || i < TRIES) && !done; i++)
		asm volatile("{\n\t.reg .pred p;\n\t"
			     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2, %3;\n\t"
			     "selp.u32 %0, 1, 0, p;\n\t}"
			     : "=r"(done) : "r"(shared_address(bar)), "r"(parity), "n"(1000 /* ns */) : "memory");
}

/* ---- copies ------------------------------------------------------------------ */

DEVICE void tma_load(void *to, const void *map, int x, int y, uint64_t *bar)
{
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
		     :: "r"(shared_address(to)), "l"(map), "r"(x), "r"(y), "r"(shared_address(bar)) : "memory");
}

/* To that place in each block of the cluster whose bit is in `mask`. */
DEVICE void tma_multicast(void *to, const void *map, int x, int y, uint64_t *bar, uint16_t mask)
{
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
		     " [%0], [%1, {%2, %3}], [%4], %5;"
		     :: "r"(shared_address(to)), "l"(map), "r"(x), "r"(y), "r"(shared_address(bar)), "h"(mask) : "memory");
}

DEVICE void tma_store(const void *map, int x, int y, const void *from)
{
	asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
		     :: "l"(map), "r"(x), "r"(y), "r"(shared_address(from)) : "memory");
}

DEVICE void bulk_load(void *to, const void *from, uint32_t bytes, uint64_t *bar)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
		     :: "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(bar)) : "memory");
}

DEVICE void bulk_commit()
{
	asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* All but the last N groups have read their sources. */
template <int N>
DEVICE void bulk_wait_read()
{
	asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(N) : "memory");
}

DEVICE void bulk_wait_all()
{
	asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

DEVICE void fence_async_shared()
{
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* ---- threads ----------------------------------------------------------------- */

DEVICE void named_barrier(int id, int threads)
{
	asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(threads) : "memory");
}

template <int N>
DEVICE void fewer_registers()
{
	asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(N));
}

template <int N>
DEVICE void more_registers()
{
	asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(N));
}

/* ---- wgmma ------------------------------------------------------------------- */

/* A tile that is major in k, whose rows are 64 halves under the swizzle of 128 bytes;
 * eight rows are 1,024 bytes. */
DEVICE uint64_t tile_of(const void *p)
{
	return (uint64_t)(shared_address(p) >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

DEVICE void wgmma_fence()
{
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

DEVICE void wgmma_commit()
{
	asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int N>
DEVICE void wgmma_wait()
{
	asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(N) : "memory");
}

#define FOUR(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define ALL_OF(d) FOUR(d, 0), FOUR(d, 4), FOUR(d, 8), FOUR(d, 12), FOUR(d, 16), FOUR(d, 20), FOUR(d, 24), FOUR(d, 28)
#define D_REGISTERS \
	"{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
	"%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"

/* d = a b' or d += a b', 64x64x16. */
DEVICE void wgmma(float *d, uint64_t a, uint64_t b, int accumulate)
{
	asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %34, 0;\n\t"
		     "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " D_REGISTERS ", %32, %33, p, 1, 1, 0, 0;\n\t}"
		     : ALL_OF(d) : "l"(a), "l"(b), "r"(accumulate) : "memory");
}

/* The same with a in registers. */
DEVICE void wgmma(float *d, const uint32_t *a, uint64_t b, int accumulate)
{
	asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %37, 0;\n\t"
		     "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " D_REGISTERS ", {%32, %33, %34, %35}, %36, p, 1, 1, 0;\n\t}"
		     : ALL_OF(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate) : "memory");
}

/* ---- numbers ----------------------------------------------------------------- */

DEVICE uint32_t halves(float low, float high)
{
	uint32_t d;

	asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
	return d;
}

DEVICE uint16_t half(float f)
{
	return (uint16_t)halves(f, 0);
}

/* What the matrices are filled with: small whole numbers, -`most` to `most`. */
DEVICE int small_number(int row, int column, int most)
{
	return (row * 5 + column * 3 + row / 64 * 2 + column / 64) % (2 * most + 1) - most;
}
