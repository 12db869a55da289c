/* SPDX-License-Identifier: Apache-2.0 */
/* Inline PTX in the styles people write: scopes with registers and labels of
 * their own, loops, guards, sinks, selectors, every barrier form, orders and
 * scopes spelled out, cache hints, constants in all notations. */
// archs: 75 80 90a 100a 120a
// quick: 75/plain 100a/lineinfo
// contents: 5
#include <cstdint>

__global__ void scopes(int *p, int n)
{
	int r;

	asm volatile("{\n\t"
	    ".reg .pred done;\n\t"
	    ".reg .b32 old, lim;\n\t"
	    "mov.u32 lim, %2;\n"
	    "AGAIN:\n\t"
	    "atom.global.acquire.gpu.cas.b32 old, [%1], 0, 1;\n\t"
	    "setp.eq.s32 done, old, 0;\n\t"
	    "@done bra.uni OUT;\n\t"
	    "sub.s32 lim, lim, 1;\n\t"
	    "setp.gt.s32 done, lim, 0;\n\t"
	    "@done bra AGAIN;\n"
	    "OUT:\n\t"
	    "mov.u32 %0, old;\n\t"
	    "}" : "=r"(r) : "l"(p), "r"(n) : "memory");
	asm volatile("{ .reg .b32 a, b; { .reg .b64 a; mov.b64 a, %0; st.volatile.global.u32 [a], 7; } mov.u32 b, 1; st.global.release.gpu.u32 [%0+4], b; }" :: "l"(p) : "memory");
	p[threadIdx.x + 2] = r;
}

__global__ void orders(unsigned *g, unsigned long long *l)
{
	unsigned a, b, c, d, e, f;
	unsigned long long x, y;

	asm volatile("ld.relaxed.cta.global.u32 %0, [%1];" : "=r"(a) : "l"(g) : "memory");
	asm volatile("ld.acquire.sys.global.u32 %0, [%1+4];" : "=r"(b) : "l"(g) : "memory");
	asm volatile("ld.global.acquire.gpu.u32 %0, [%1+-4];" : "=r"(c) : "l"(g + 4) : "memory");
	asm volatile("ld.volatile.u32 %0, [%1];" : "=r"(d) : "l"(g) : "memory");
	asm volatile("ld.relaxed.sys.global.v2.u32 {%0, %1}, [%2];" : "=r"(e), "=r"(f) : "l"(g) : "memory");
	asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" :: "l"(g), "r"(a) : "memory");
	asm volatile("st.release.cta.global.u32 [%0], %1;" :: "l"(g + 1), "r"(b) : "memory");
	asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, 0x10};" :: "l"(g + 8), "r"(c), "r"(d), "r"(e) : "memory");
	asm volatile("atom.add.release.sys.global.u32 %0, [%1], 1;" : "=r"(f) : "l"(g) : "memory");
	asm volatile("atom.acq_rel.cta.global.exch.b64 %0, [%1], %2;" : "=l"(x) : "l"(l), "l"((unsigned long long)a) : "memory");
	asm volatile("atom.global.inc.u32 %0, [%1], 0b1111;" : "=r"(a) : "l"(g) : "memory");
	asm volatile("red.release.gpu.global.add.u64 [%0], 012;" :: "l"(l) : "memory");
	asm volatile("red.relaxed.cta.or.b32 [%0], 0xFFU;" :: "l"(g) : "memory");
	asm volatile("atom.global.cas.b64 %0, [%1], 1, 2;" : "=l"(y) : "l"(l) : "memory");
	asm volatile("fence.sc.gpu; fence.acq_rel.cta; fence.acq_rel.sys; membar.cta; membar.gl; membar.sys;" ::: "memory");
	l[threadIdx.x] = x + y + a + f;
}

__global__ void barriers(int *p)
{
	__shared__ int s[128];
	int r, w = threadIdx.x / 32;
	unsigned any;

	s[threadIdx.x] = p[threadIdx.x];
	asm volatile("bar.sync 0;" ::: "memory");
	asm volatile("barrier.cta.sync.aligned 1, 128;" ::: "memory");
	if (w == 0)
		asm volatile("bar.arrive 2, 64;" ::: "memory");
	else if (w == 1)
		asm volatile("barrier.sync 2, 64;" ::: "memory");
	asm volatile("{ .reg .pred q, s; setp.ne.s32 q, %1, 0; barrier.red.or.pred s, 3, q; selp.s32 %0, 1, 0, s; }" : "=r"(r) : "r"(s[0]) : "memory");
	asm volatile("{ .reg .pred q; setp.gt.s32 q, %1, 3; bar.red.popc.u32 %0, 4, 128, !q; }" : "=r"(any) : "r"(r) : "memory");
	asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
	asm volatile("barrier.cta.arrive %0, %1;" :: "r"(5), "r"(128) : "memory");
	asm volatile("barrier.cta.sync %0, %1;" :: "r"(5), "r"(256) : "memory");
	p[threadIdx.x] = s[127 - threadIdx.x] + r + any;
}

__global__ void loads(const int *p, int *q, const uint8_t *bytes)
{
	int a, b, c, d;
	short h;
	long long w;

	asm("ld.global.nc.u32 %0, [%1];" : "=r"(a) : "l"(p));
	asm("ld.global.nc.L1::no_allocate.v2.b32 {%0, %1}, [%2];" : "=r"(b), "=r"(c) : "l"(p));
	asm("ld.global.ca.s8 %0, [%1];" : "=h"(h) : "l"(bytes));
	asm("ld.global.cg.b32 %0, [%1+16];" : "=r"(d) : "l"(p));
	asm("ld.global.L1::evict_last.b64 %0, [%1];" : "=l"(w) : "l"(p));
	asm volatile("prefetch.global.L2 [%0];" :: "l"(p));
	asm volatile("st.global.cs.u32 [%0], %1;" :: "l"(q), "r"(a) : "memory");
	asm volatile("st.global.wt.v2.u16 [%0], {%1, %1};" :: "l"(q + 1), "h"(h) : "memory");
	q[threadIdx.x + 2] = b + c + d + (int)w;
}

__global__ void shared_forms(int *out)
{
	__shared__ __align__(16) int s[64];
	uint32_t at = (uint32_t)__cvta_generic_to_shared(s), v, shared_p;
	uint64_t wide;

	asm volatile("st.shared.v2.b32 [%0], {%1, 5};" :: "r"(at + 8 * (threadIdx.x % 32)), "r"(threadIdx.x) : "memory");
	asm volatile("bar.sync 0;" ::: "memory");
	asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
	asm volatile("atom.shared.add.u32 %0, [%1+4], %2;" : "=r"(v) : "r"(at), "r"(v) : "memory");
	asm volatile("red.shared::cta.max.s32 [%0], -3;" :: "r"(at) : "memory");
	asm volatile("cvta.shared.u64 %0, %1;" : "=l"(wide) : "l"((uint64_t)at));
	asm volatile("{ .reg .pred q; isspacep.shared q, %1; selp.u32 %0, 1, 0, q; }" : "=r"(shared_p) : "l"(wide));
	out[threadIdx.x] = v + shared_p;
}

__global__ void odd_corners(unsigned *p)
{
	unsigned a = p[0], b = p[1], c;

	asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %1;" : "=r"(c) : "r"(a), "r"(b));
	asm("vadd.u32.u32.u32 %0, %1.b0, %2.h1;" : "=r"(a) : "r"(c), "r"(b));
	asm("prmt.b32 %0, %1, %2, 0x3340U;" : "=r"(b) : "r"(a), "r"(c));
	asm("lop3.b32 %0, %1, %2, %3, (0xF0 & 0xCC) ^ 0xAA;" : "=r"(c) : "r"(a), "r"(b), "r"(c));
	asm("{ .reg .pred q, r; setp.lt.u32 q|r, %1, %2; @!q mov.u32 %0, 1; @r mov.u32 %0, WARP_SZ; }" : "+r"(c) : "r"(a), "r"(b));
	asm("{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %1; mov.b32 %0, {hi, lo}; }" : "=r"(a) : "r"(c));
	asm("{ .reg .f32 f; mov.f32 f, 0f3F800000; add.rn.ftz.f32 f, f, 0fBF000000; mov.b32 %0, f; }" : "=r"(b));
	asm("{ .reg .f64 f; mov.f64 f, 0d3FF0000000000000; cvt.rzi.u32.f64 %0, f; }" : "=r"(c));
	asm volatile("nanosleep.u32 20;");
	asm volatile("mov.u32 %0, %%laneid;" : "=r"(b));
	p[threadIdx.x] = a + b + c;
#if __CUDA_ARCH__ >= 800
	asm volatile("{ .reg .b64 pol; createpolicy.fractional.L2::evict_last.b64 pol, 1.0; st.global.L2::cache_hint.u32 [%0], 3, pol; }" :: "l"(p) : "memory");
	asm volatile("discard.global.L2 [%0], 128;" :: "l"(p) : "memory");
	asm volatile("applypriority.global.L2::evict_normal [%0], 128;" :: "l"(p));
#endif
#if __CUDA_ARCH__ >= 900
	asm volatile("{ .reg .pred q; elect.sync _|q, 0xffffffff; @q st.global.u32 [%0], 1; }" :: "l"(p) : "memory");
#endif
}
