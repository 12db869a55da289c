/* SPDX-License-Identifier: Apache-2.0 */
/* Warpgroup matrix instructions of sm_90a, with a producer warp that gives its
 * registers away. */
// archs: 90a
// quick: 90a/plain 90a/G
// contents: 0 16 tiles
#include <cstdint>
#include <cuda_fp16.h>

__device__ uint64_t descriptor(const void *p)
{
	uint64_t at = __cvta_generic_to_shared(p);

	return (at & 0x3FFFF) >> 4 | (uint64_t)(16 >> 4) << 16 | (uint64_t)(1024 >> 4) << 32 | 1ull << 62;
}

__device__ void multiply(float (&d)[8], uint64_t a, uint64_t b)
{
	asm volatile("{\n"
	    ".reg .pred p;\n"
	    "setp.ne.b32 p, 1, 0;\n"
	    "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 "
	    "{%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1, 0, 0;\n"
	    "}" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
	    "+f"(d[6]), "+f"(d[7]) : "l"(a), "l"(b));
}

__global__ void __launch_bounds__(256, 1) tiles(const __half *in, float *out, int n)
{
	__shared__ alignas(1024) __half a[2][64 * 64], b[2][16 * 64];
	__shared__ uint64_t full[2], empty[2];
	int group = threadIdx.x / 128;

	if (threadIdx.x == 0) {
		for (int i = 0; i < 2; i++) {
			uint32_t f = __cvta_generic_to_shared(&full[i]), e = __cvta_generic_to_shared(&empty[i]);
			asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" :: "r"(f) : "memory");
			asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" :: "r"(e) : "memory");
		}
	}
	__syncthreads();
	auto wait = [](uint64_t *bar, int parity) {
		uint32_t at = __cvta_generic_to_shared(bar);
		asm volatile("{\n.reg .pred p;\nLAB_WAIT:\n"
		    "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
		    "@p bra DONE;\nbra LAB_WAIT;\nDONE:\n}" :: "r"(at), "r"(parity) : "memory");
	};
	auto arrive = [](uint64_t *bar) {
		uint32_t at = __cvta_generic_to_shared(bar);
		asm volatile("{ .reg .b64 t; mbarrier.arrive.shared::cta.b64 t, [%0]; }" :: "r"(at) : "memory");
	};
	if (group == 0) {
		asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
		for (int i = 0; i < n; i++) {
			wait(&empty[i % 2], i / 2 % 2 ^ 1);
			for (int j = threadIdx.x; j < 64 * 64; j += 128)
				a[i % 2][j] = in[i * 64 * 64 + j];
			for (int j = threadIdx.x; j < 16 * 64; j += 128)
				b[i % 2][j] = in[j];
			asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
			arrive(&full[i % 2]);
		}
	} else {
		asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
		float d[8] = { };
		for (int i = 0; i < n; i++) {
			wait(&full[i % 2], i / 2 % 2);
			asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
			for (int k = 0; k < 4; k++)
				multiply(d, descriptor(&a[i % 2][k * 16]), descriptor(&b[i % 2][k * 16]));
			asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
			asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
			arrive(&empty[i % 2]);
		}
		for (int i = 0; i < 8; i++)
			out[(threadIdx.x - 128) * 8 + i] = d[i];
	}
}
