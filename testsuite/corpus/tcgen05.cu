/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor memory of sm_100a: allocation, copies, loads and stores, matrix
 * multiplication with its commit, and cluster launch control. */
// archs: 100a
// quick: 100a/plain 100a/rdc
// contents: 1
#include <cstdint>

__device__ uint32_t at(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

__global__ void tensor_memory(float *out, uint64_t a, uint64_t b, uint32_t idesc)
{
	__shared__ uint32_t where;
	__shared__ uint64_t bar;
	uint32_t r0, r1, r2, r3;

	if (threadIdx.x < 32) {
		asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" :: "r"(at(&where)) : "memory");
		asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
	}
	if (threadIdx.x == 0)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at(&bar)) : "memory");
	asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
	__syncthreads();
	asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
	uint32_t tmem = where;
	if (threadIdx.x == 0) {
		asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, 0;\n"
		    "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }"
		    :: "r"(tmem), "l"(a), "l"(b), "r"(idesc), "r"(0) : "memory");
		asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" :: "r"(at(&bar)) : "memory");
		asm volatile("tcgen05.cp.cta_group::1.128x256b [%0], %1;" :: "r"(tmem + 32), "l"(a) : "memory");
	}
	asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra W; }" :: "r"(at(&bar)) : "memory");
	asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(tmem));
	asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
	asm volatile("tcgen05.st.sync.aligned.16x64b.x1.b32 [%0], {%1};" :: "r"(tmem), "r"(r0) : "memory");
	asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
	out[threadIdx.x] = __uint_as_float(r0 + r1 + r2 + r3);
	__syncthreads();
	if (threadIdx.x < 32)
		asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" :: "r"(tmem));
}

__global__ void stealing(int *out)
{
	__shared__ alignas(16) uint4 answer;
	__shared__ uint64_t bar;
	int block = blockIdx.x, phase = 0;
	uint32_t got;

	if (threadIdx.x == 0)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at(&bar)) : "memory");
	do {
		__syncthreads();
		if (threadIdx.x == 0) {
			asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], 16;" :: "r"(at(&bar)) : "memory");
			asm volatile("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
			asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" :: "r"(at(&answer)), "r"(at(&bar)) : "memory");
		}
		out[block * blockDim.x + threadIdx.x] = block;
		asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%0], %1; @!p bra W; }" :: "r"(at(&bar)), "r"(phase) : "memory");
		phase ^= 1;
		asm volatile("{ .reg .pred p; .reg .b128 r; ld.shared.b128 r, [%2];\n"
		    "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r;\n"
		    "selp.u32 %0, 1, 0, p; mov.u32 %1, 0;\n"
		    "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %1, r; }"
		    : "=r"(got), "=r"(block) : "r"(at(&answer)) : "memory");
	} while (got);
}
