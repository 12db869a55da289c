/* SPDX-License-Identifier: Apache-2.0
 *
 * emu_run.c: kernels on the emulated device: threads on their own, barriers,
 * collectives, atomics, calls, and how kernels fail.
 */
#include "emu_test.h"

#define ENTRY ".visible .entry k(.param .u64 p) {\n" \
	".reg .b32 %r<40>; .reg .b64 %d<20>; .reg .pred %p<10>; .reg .f32 %f<10>; .reg .b16 %h<9>;\n" \
	"ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;\n" \
	"mad.lo.u32 %r3, %r1, %r2, %r0; mul.wide.u32 %d1, %r3, 4; add.u64 %d1, %d0, %d1;\n"
#define EXIT "ret; }\n"

/* ---- grids and control flow ------------------------------------------------------ */

static void grid(void **unused)
{
	(void)unused;
	load(PTX(ENTRY "mad.lo.u32 %r4, %r1, 1000, %r0; st.global.u32 [%d1], %r4;" EXIT));
	ok(run(300, 100, 0));
	for (unsigned i = 0; i < 30000; i++)
		assert_int_equal(out[i], i / 100 * 1000 + i % 100);
}

static void divergence(void **unused)
{
	(void)unused;
	load(PTX(ENTRY
		"mov.u32 %r4, 0; mov.u32 %r5, %r0;\n"
		"L: setp.eq.u32 %p0, %r5, 0; @%p0 bra D;\n"
		"and.b32 %r6, %r5, 1; setp.eq.u32 %p1, %r6, 0; @%p1 bra E;\n"
		"add.u32 %r4, %r4, %r5; bra N;\n"
		"E: xor.b32 %r4, %r4, %r5;\n"
		"N: sub.u32 %r5, %r5, 1; bra L;\n"
		"D: st.global.u32 [%d1], %r4;" EXIT));
	ok(run(2, 64, 0));
	for (unsigned i = 0; i < 128; i++) {
		unsigned v = 0;

		for (unsigned k = i % 64; k; k--)
			v = k & 1 ? v + k : v ^ k;
		assert_int_equal(out[i], v);
	}
}

static void branch_table(void **unused)
{
	(void)unused;
	load(PTX(ENTRY
		"rem.u32 %r4, %r0, 3;\n"
		"T: .branchtargets A, B, C;\n"
		"brx.idx %r4, T;\n"
		"A: mov.u32 %r5, 10; bra.uni Z;\n"
		"B: mov.u32 %r5, 20; bra.uni Z;\n"
		"C: mov.u32 %r5, 30;\n"
		"Z: st.global.u32 [%d1], %r5;" EXIT));
	ok(run(1, 32, 0));
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(out[i], i % 3 * 10 + 10);
}

/* ---- threads of one warp that wait for one another --------------------------------- */

/* The classic that lockstep cannot run: the lock is taken and released in different
 * iterations of different lanes. */
static void spin_lock_in_a_warp(void **unused)
{
	(void)unused;
	load(PTX(ENTRY
		"L: atom.global.cas.b32 %r4, [%d0], 0, 1; setp.ne.u32 %p0, %r4, 0; @%p0 bra L;\n"
		"ld.volatile.global.u32 %r5, [%d0+4]; add.u32 %r5, %r5, 1;\n"
		"st.volatile.global.u32 [%d0+4], %r5; membar.gl;\n"
		"atom.global.exch.b32 %r6, [%d0], 0;" EXIT));
	ok(run(6, 96, 0));
	assert_int_equal(out[1], 6 * 96);
}

static void lane_waits_for_lane(void **unused)
{
	(void)unused;
	load(PTX(ENTRY
		"setp.eq.u32 %p0, %r0, 31; @%p0 bra W;\n"
		"L: ld.relaxed.gpu.global.u32 %r4, [%d0+400]; setp.eq.u32 %p1, %r4, 0; @%p1 bra L;\n"
		"st.global.u32 [%d1], %r4; ret;\n"
		"W: mov.u32 %r5, 7; st.relaxed.gpu.global.u32 [%d0+400], %r5;" EXIT));
	ok(run(1, 32, 0));
	for (unsigned i = 0; i < 31; i++)
		assert_int_equal(out[i], 7);
}

/* A loop that looks like no spinning still lets the other lanes go. */
static void plain_loop_is_fair(void **unused)
{
	(void)unused;
	load(PTX(ENTRY
		"setp.eq.u32 %p0, %r0, 31; @%p0 bra W;\n"
		"L: ld.global.u32 %r4, [%d0+400]; setp.eq.u32 %p1, %r4, 0; @%p1 bra L;\n"
		"st.global.u32 [%d1], %r4; ret;\n"
		"W: mov.u32 %r5, 7; st.global.u32 [%d0+400], %r5;" EXIT));
	ok(run(1, 32, 0));
	assert_int_equal(out[0], 7);
}

/* ---- barriers --------------------------------------------------------------------- */

static void barrier_orders(void **unused)
{
	(void)unused;
	load(PTX(".shared .align 4 .b8 sm[1024];\n" ENTRY
		"mov.u32 %r4, sm; shl.b32 %r5, %r0, 2; add.u32 %r5, %r4, %r5;\n"
		"st.shared.u32 [%r5], %r0; bar.sync 0;\n"
		"sub.u32 %r6, 255, %r0; shl.b32 %r6, %r6, 2; add.u32 %r6, %r4, %r6;\n"
		"ld.shared.u32 %r7, [%r6]; st.global.u32 [%d1], %r7;" EXIT));
	for (unsigned seed = 0; seed < 4; seed++) {
		emu_set_seed(seed);
		ok(run(3, 256, 0));
		for (unsigned i = 0; i < 768; i++)
			assert_int_equal(out[i], 255 - i % 256);
	}
	emu_set_seed(0);
}

static void barrier_counts_and_results(void **unused)
{
	(void)unused;
	load(PTX(ENTRY
		"setp.lt.u32 %p0, %r0, 32; and.b32 %r4, %r0, 1; setp.eq.u32 %p1, %r4, 0;\n"
		"@%p0 bar.arrive 3, 64; @!%p0 bar.sync 3, 64;\n"
		"bar.red.popc.u32 %r5, 0, %p1;\n"
		"setp.lt.u32 %p2, %r0, 64; barrier.cta.red.and.aligned.pred %p3, 1, %p2;\n"
		"barrier.red.or.pred %p4, 2, 64, !%p2;\n"
		"selp.u32 %r6, 100, 0, %p3; add.u32 %r5, %r5, %r6;\n"
		"selp.u32 %r6, 1000, 0, %p4; add.u32 %r5, %r5, %r6;\n"
		"st.global.u32 [%d1], %r5;" EXIT));
	ok(run(2, 64, 0));
	for (unsigned i = 0; i < 128; i++)
		assert_int_equal(out[i], 32 + 100);
}

/* Threads that ended are not waited for. */
static void barrier_without_the_dead(void **unused)
{
	(void)unused;
	load(PTX(ENTRY
		"setp.gt.u32 %p0, %r0, 40; @%p0 exit; bar.sync 0; bar.sync 0;\n"
		"st.global.u32 [%d1], 5;" EXIT));
	ok(run(1, 128, 0));
	assert_int_equal(out[40], 5);
	assert_int_equal(out[41], 0);
}

static void cluster_barrier(void **unused)
{
	CUlaunchAttribute at = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
	CUlaunchConfig config = {
		.gridDimX = 8, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 64, .blockDimY = 1,
		.blockDimZ = 1, .attrs = &at, .numAttrs = 1
	};
	void *args[] = {&out_ptr};
	CUfunction f;

	(void)unused;
	load(PTX(".shared .align 4 .b8 sm[256];\n" ENTRY
		"mov.u32 %r4, sm; shl.b32 %r5, %r0, 2; add.u32 %r5, %r4, %r5;\n"
		"mov.u32 %r6, %cluster_ctarank; mad.lo.u32 %r7, %r6, 1000, %r0;\n"
		"st.shared.u32 [%r5], %r7; barrier.cluster.arrive; barrier.cluster.wait;\n"
		"xor.b32 %r8, %r6, 1; mapa.shared::cluster.u32 %r9, %r5, %r8;\n"
		"ld.shared::cluster.u32 %r10, [%r9]; st.global.u32 [%d1], %r10;\n"
		"getctarank.shared::cluster.u32 %r11, %r9; setp.ne.u32 %p0, %r11, %r8; @%p0 trap;\n"
		"barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" EXIT));
	at.value.clusterDim.x = 4;
	at.value.clusterDim.y = at.value.clusterDim.z = 1;
	ok(cuModuleGetFunction(&f, module, "k"));
	ok(cuLaunchKernelEx(&config, f, args, NULL));
	ok(cuCtxSynchronize());
	for (unsigned i = 0; i < 512; i++)
		assert_int_equal(out[i], (i / 64 % 4 ^ 1) * 1000 + i % 64);
}

static void deadlock(void **unused)
{
	struct capture c;
	CUresult r;

	(void)unused;
	load(PTX(ENTRY "setp.lt.u32 %p0, %r0, 32; @%p0 bar.sync 1, 96; @!%p0 bar.sync 2, 96;" EXIT));
	capture_begin(&c, 2);
	r = run(1, 64, 0);
	assert_non_null(strstr(capture_end(&c), "barrier 1, where 1 of 3 warps are"));
	assert_int_equal(r, CUDA_ERROR_LAUNCH_TIMEOUT);
	/* The context is lost. */
	assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_TIMEOUT);
}

/* ---- collectives ---------------------------------------------------------------------- */

static void shuffles_and_votes(void **unused)
{
	(void)unused;
	load(PTX(ENTRY
		"mul.lo.u32 %r4, %r0, 3;\n"
		"shfl.sync.bfly.b32 %r5|%p0, %r4, 1, 31, -1;\n"
		"shfl.sync.up.b32 %r6|%p1, %r4, 2, 0, -1; selp.u32 %r7, 1, 0, %p1;\n"
		"shfl.sync.idx.b32 %r8, %r4, 5, 0x1807, -1;\n"
		"vote.sync.ballot.b32 %r9, %p1, -1;\n"
		"and.b32 %r10, %r0, 3; match.any.sync.b32 %r11, %r10, -1;\n"
		"redux.sync.max.u32 %r12, %r4, -1; elect.sync _|%p2, -1; selp.u32 %r13, 1, 0, %p2;\n"
		"mad.lo.u32 %r14, %r0, 32, 0; cvt.u64.u32 %d2, %r14; add.u64 %d2, %d2, %d0;\n"
		"st.global.v4.u32 [%d2], {%r5, %r6, %r7, %r8};\n"
		"st.global.v4.u32 [%d2+16], {%r9, %r11, %r12, %r13};" EXIT));
	ok(run(1, 32, 0));
	for (unsigned i = 0; i < 32; i++) {
		const uint32_t *o = out + i * 8;

		assert_int_equal(o[0], (i ^ 1) * 3);
		assert_int_equal(o[1], i < 2 ? i * 3 : (i - 2) * 3);
		assert_int_equal(o[2], i >= 2);
		assert_int_equal(o[3], (i / 8 * 8 + 5) * 3);
		assert_int_equal(o[4], 0xfffffffc);
		assert_int_equal(o[5], 0x11111111u << i % 4);
		assert_int_equal(o[6], 93);
		assert_int_equal(o[7], i == 0);
	}
}

/* The same instruction, reached at two places by the two halves of the warp. */
static void collective_at_two_places(void **unused)
{
	(void)unused;
	load(PTX(ENTRY
		"setp.lt.u32 %p0, %r0, 16; @%p0 bra A;\n"
		"shfl.sync.bfly.b32 %r4, %r0, 16, 31, -1; add.u32 %r4, %r4, 100; bra Z;\n"
		"A: shfl.sync.bfly.b32 %r4, %r0, 16, 31, -1;\n"
		"Z: st.global.u32 [%d1], %r4;" EXIT));
	ok(run(1, 32, 0));
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(out[i], (i ^ 16) + (i < 16 ? 0 : 100));
}

static void collective_waits(void **unused)
{
	(void)unused;
	load(PTX(ENTRY
		"mov.u32 %r4, 0; setp.eq.u32 %p0, %r0, 9; @!%p0 bra S;\n"
		"L: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 20000; @%p1 bra L;\n"
		"st.global.u32 [%d0+400], %r4;\n"
		"S: bar.warp.sync -1; ld.global.u32 %r5, [%d0+400]; st.global.u32 [%d1], %r5;" EXIT));
	ok(run(1, 32, 0));
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(out[i], 20000);
}

/* ---- atomics ---------------------------------------------------------------------------- */

static void atomics(void **unused)
{
	(void)unused;
	load(PTX(ENTRY
		"red.global.add.u32 [%d0], 2; red.global.max.s32 [%d0+4], %r3;\n"
		"neg.s32 %r4, %r3; red.global.min.s32 [%d0+8], %r4;\n"
		"atom.global.inc.u32 %r5, [%d0+12], 6; atom.global.dec.u32 %r5, [%d0+16], 6;\n"
		"and.b32 %r6, %r0, 31; mov.u32 %r7, 1; shl.b32 %r7, %r7, %r6;\n"
		"atom.global.or.b32 _, [%d0+20], %r7; not.b32 %r8, %r7;\n"
		"atom.global.and.b32 %r9, [%d0+24], %r8; atom.global.xor.b32 %r9, [%d0+28], %r0;\n"
		"atom.global.add.f32 %f0, [%d0+32], 0f3F000000;\n"
		"mov.b32 %r10, 0x40003c00; atom.global.add.noftz.f16x2 %r11, [%d0+36], %r10;\n"
		"mov.u64 %d2, 0x100000001; atom.global.add.u64 %d3, [%d0+40], %d2;\n"
		"atom.sys.global.add.u32 %r12, [%d0+48], 1;\n"
		"add.u64 %d4, %d0, 64; { .reg .b128 %q<3>; mov.b128 %q0, {%d2, %d2};\n"
		"  atom.global.exch.b128 %q1, [%d4], %q0; }\n"
		"atom.global.v2.f32.add {%f1, %f2}, [%d0+80], {0f3F800000, 0f40000000};" EXIT));
	out[4] = 3;
	out[6] = 0xffffffff;
	ok(run(2, 128, 0));
	assert_int_equal(out[0], 512);
	assert_int_equal(out[1], 255);
	assert_int_equal((int)out[2], -255);
	assert_int_equal(out[3], 256 % 7);
	assert_int_equal(out[4], (3 + 7 * 40 - 256) % 7);
	assert_int_equal(out[5], 0xffffffff);
	assert_int_equal(out[6], 0);
	assert_int_equal(out[7], 0);
	assert_int_equal(out[8], 0x43000000);           /* 128.0f */
	assert_int_equal(out[9], 0x60005c00);           /* 512, 256 */
	assert_int_equal(out[10], 256);
	assert_int_equal(out[11], 256);
	assert_int_equal(out[12], 256);
	assert_int_equal(out[16], 1);
	assert_int_equal(out[19], 1);
	assert_int_equal(out[20], 0x43800000);          /* 256.0f */
	assert_int_equal(out[21], 0x44000000);          /* 512.0f */
}

/* ---- calls and memory ----------------------------------------------------------------------- */

static void calls(void **unused)
{
	(void)unused;
	load(PTX(
		".func (.param .b32 r) fib(.param .b32 n) {\n"
		".reg .b32 %r<8>; .reg .pred %p0; .param .b32 a; .param .b32 b;\n"
		"ld.param.u32 %r1, [n]; setp.lt.u32 %p0, %r1, 2; @%p0 bra D;\n"
		"sub.u32 %r2, %r1, 1; st.param.b32 [a], %r2; call.uni (b), fib, (a);\n"
		"ld.param.b32 %r3, [b]; sub.u32 %r2, %r1, 2; st.param.b32 [a], %r2;\n"
		"call.uni (b), fib, (a); ld.param.b32 %r4, [b]; add.u32 %r1, %r3, %r4;\n"
		"D: st.param.b32 [r], %r1; ret; }\n"
		".func (.param .b32 r) twice(.param .b32 n) { .reg .b32 %r1; ld.param.u32 %r1, [n];\n"
		"shl.b32 %r1, %r1, 1; st.param.b32 [r], %r1; ret; }\n"
		".func (.param .align 4 .b8 r[12]) pack(.reg .u32 x, .param .align 4 .b8 s[8]) {\n"
		".reg .b32 %r<4>; ld.param.v2.u32 {%r1, %r2}, [s]; st.param.b32 [r], %r2;\n"
		"st.param.b32 [r+4], x; st.param.b32 [r+8], %r1; ret; }\n"
		".global .u64 table[2] = {fib, twice};\n" ENTRY
		"and.b32 %r4, %r0, 1; mul.wide.u32 %d2, %r4, 8; mov.u64 %d3, table; add.u64 %d2, %d2, %d3;\n"
		"ld.global.u64 %d4, [%d2]; { .param .b32 a; .param .b32 b; st.param.b32 [a], %r0;\n"
		"P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
		"call (b), %d4, (a), P; ld.param.b32 %r5, [b]; }\n"
		"{ .param .align 4 .b8 s[8]; .param .align 4 .b8 r[12];\n"
		"st.param.b32 [s], %r5; st.param.b32 [s+4], 77; call (r), pack, (%r0, s);\n"
		"ld.param.b32 %r6, [r]; ld.param.b32 %r7, [r+4]; ld.param.b32 %r8, [r+8]; }\n"
		"add.u32 %r6, %r6, %r7; mad.lo.u32 %r6, %r8, 1000, %r6; st.global.u32 [%d1], %r6;" EXIT));
	ok(run(1, 24, 0));
	for (unsigned i = 0; i < 24; i++) {
		unsigned a = 0, b = 1;

		for (unsigned k = 0; k < i; k++) {
			b += a;
			a = b - a;
		}
		assert_int_equal(out[i], (i & 1 ? 2 * i : a) * 1000 + 77 + i);
	}
}

static void spaces(void **unused)
{
	(void)unused;
	load(PTX(
		".const .align 4 .u32 c[4] = {5, 6, 7, 8}; .global .align 8 .u64 g = generic(c)+4;\n"
		".global .align 4 .b8 m[4] = {0xff(c), 0xff00(c), 1, 2};\n"
		".extern .shared .align 16 .b8 dyn[];\n" ENTRY
		".local .align 8 .b8 l[64];\n"
		"mov.u64 %d2, l; cvta.local.u64 %d3, %d2; mul.wide.u32 %d4, %r0, 1;\n"
		"st.u32 [%d3+8], %r0; ld.local.u32 %r4, [l+8];\n"
		"isspacep.local %p0, %d3; isspacep.global %p1, %d3; isspacep.shared %p2, %d3;\n"
		"selp.u32 %r5, 1, 0, %p0; selp.u32 %r6, 2, 0, %p1; selp.u32 %r7, 4, 0, %p2;\n"
		"or.b32 %r5, %r5, %r6; or.b32 %r5, %r5, %r7;\n"
		"mov.u32 %r8, dyn; shl.b32 %r9, %r0, 2; add.u32 %r8, %r8, %r9; cvt.u64.u32 %d5, %r8;\n"
		"cvta.shared.u64 %d6, %d5; st.u32 [%d6], %r0; ld.shared.u32 %r10, [%r8];\n"
		"ld.global.u64 %d7, [g]; ld.u32 %r11, [%d7]; ld.const.u32 %r12, [c+12];\n"
		"isspacep.const %p3, %d7; selp.u32 %r13, 8, 0, %p3; or.b32 %r5, %r5, %r13;\n"
		"ld.global.s8 %r14, [m+3]; ld.param.u32 %r15, [p]; cvt.u32.u64 %r16, %d0;\n"
		"sub.u32 %r15, %r15, %r16; mov.u64 %d8, c; cvt.u32.u64 %r17, %d8; ld.global.u16 %r18, [m];\n"
		"xor.b32 %r18, %r18, %r17; and.b32 %r18, %r18, 0xffff; add.u32 %r15, %r15, %r18;\n"
		"add.u32 %r4, %r4, %r10; mad.lo.u32 %r4, %r11, 100, %r4;\n"
		"mad.lo.u32 %r4, %r12, 1000, %r4; mad.lo.u32 %r4, %r5, 10000, %r4;\n"
		"mad.lo.u32 %r4, %r14, 1000000, %r4; add.u32 %r4, %r4, %r15; st.global.u32 [%d1], %r4;" EXIT));
	ok(run(2, 32, 4096));
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(out[i], i % 32 * 2 + 600 + 8000 + 90000 + 2000000);
}

static void stack(void **unused)
{
	(void)unused;
	load(PTX(ENTRY
		"stacksave.u64 %d2; cvt.u64.u32 %d3, %r0; add.u64 %d3, %d3, 8; alloca.u64 %d4, %d3, 16;\n"
		"and.b64 %d5, %d4, 15; setp.ne.u64 %p0, %d5, 0; @%p0 trap;\n"
		"st.local.u32 [%d4+4], %r0; ld.local.u32 %r4, [%d4+4]; stackrestore.u64 %d2;\n"
		"st.global.u32 [%d1], %r4;" EXIT));
	ok(run(1, 32, 0));
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(out[i], i);
}

static void async_copies(void **unused)
{
	(void)unused;
	load(PTX(".shared .align 16 .b8 sm[1024]; .shared .align 8 .b64 bar;\n" ENTRY
		"mov.u32 %r4, sm; shl.b32 %r5, %r0, 4; add.u32 %r4, %r4, %r5; mul.wide.u32 %d2, %r5, 1;\n"
		"add.u64 %d2, %d0, %d2; cp.async.ca.shared.global [%r4], [%d2+4096], 16;\n"
		"cp.async.commit_group; cp.async.ca.shared.global [%r4+512], [%d2+4096], 8, 4;\n"
		"cp.async.commit_group; ld.shared.u32 %r6, [%r4]; cp.async.wait_group 1;\n"
		"ld.shared.u32 %r7, [%r4+4]; cp.async.wait_all; ld.shared.v2.u32 {%r8, %r9}, [%r4+512];\n"
		"setp.ne.u32 %p0, %r0, 0; @!%p0 mbarrier.init.shared.b64 [bar], 32; bar.sync 0;\n"
		"mbarrier.arrive.shared.b64 %d3, [bar];\n"
		"W: mbarrier.try_wait.shared.b64 %p1, [bar], %d3; @!%p1 bra W;\n"
		"mad.lo.u32 %r7, %r8, 1000, %r7; add.u32 %r7, %r7, %r9; st.global.u32 [%d1], %r7;" EXIT));
	for (unsigned i = 0; i < 1024; i++)
		out[1024 + i] = i;
	ok(run(1, 32, 0));
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(out[i], i * 4 * 1000 + i * 4 + 1);
}

static void matrices(void **unused)
{
	(void)unused;
	load(PTX(".shared .align 16 .b8 sm[512];\n" ENTRY
		"mov.u32 %r4, sm; shl.b32 %r5, %r0, 4; add.u32 %r5, %r4, %r5;\n"
		"shl.b32 %r6, %r0, 3; mov.u32 %r7, 0;\n"
		"L: add.u32 %r8, %r6, %r7; cvt.u16.u32 %h0, %r8; shl.b32 %r9, %r7, 1; add.u32 %r9, %r9, %r5;\n"
		"st.shared.u16 [%r9], %h0; add.u32 %r7, %r7, 1; setp.lt.u32 %p0, %r7, 8; @%p0 bra L;\n"
		"bar.warp.sync -1; ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r10, %r11}, [%r5];\n"
		"ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r12}, [%r5];\n"
		"movmatrix.sync.aligned.m8n8.trans.b16 %r13, %r10; sub.u32 %r13, %r13, %r12;\n"
		"mul.wide.u32 %d2, %r0, 16; add.u64 %d2, %d2, %d0;\n"
		"st.global.v4.u32 [%d2], {%r10, %r11, %r12, %r13};" EXIT));
	ok(run(1, 32, 0));
	for (unsigned l = 0; l < 32; l++) {
		unsigned e = l / 4 * 8 + l % 4 * 2, t = l % 4 * 16 + l / 4;

		assert_int_equal(out[l * 4], e | (e + 1) << 16);
		assert_int_equal(out[l * 4 + 1], (e + 64) | (e + 65) << 16);
		assert_int_equal(out[l * 4 + 2], t | (t + 8) << 16);
		assert_int_equal(out[l * 4 + 3], 0);
	}
}

/* ---- what device code may call ------------------------------------------------------------------- */

static void printf_and_heap(void **unused)
{
	struct capture c;
	CUresult r;

	(void)unused;
	load(PTX(
		".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
		".extern .func (.param .b64 r) malloc(.param .b64 n); .extern .func free(.param .b64 p);\n"
		".global .align 1 .b8 fmt[22] = {37,100,32,37,115,32,37,46,50,102,32,37,120,32,37,108,108,100,10,0};\n"
		".global .align 1 .b8 str[4] = {97, 98, 99, 0};\n" ENTRY
		".local .align 8 .b8 l[48]; mov.u64 %d2, l; cvta.local.u64 %d3, %d2;\n"
		"st.local.u32 [l], %r0; mov.u64 %d4, str; st.local.u64 [l+8], %d4;\n"
		"st.local.u64 [l+16], 0x3FF8000000000000; st.local.u32 [l+24], 255;\n"
		"st.local.u64 [l+32], -5; mov.u64 %d5, fmt;\n"
		"{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %d5; st.param.b64 [b], %d3;\n"
		"call.uni (r), vprintf, (a, b); }\n"
		"{ .param .b64 n; .param .b64 r; st.param.b64 [n], 64; call.uni (r), malloc, (n);\n"
		"ld.param.b64 %d6, [r]; } st.u32 [%d6+60], %r0; ld.u32 %r4, [%d6+60];\n"
		"{ .param .b64 q; st.param.b64 [q], %d6; call.uni free, (q); }\n"
		"st.global.u32 [%d1], %r4;" EXIT));
	capture_begin(&c, 1);
	r = run(1, 2, 0);
	assert_string_equal(capture_end(&c), "0 abc 1.50 ff -5\n1 abc 1.50 ff -5\n");
	ok(r);
	assert_int_equal(out[1], 1);
}

/* A size that GPUs do not have is said to be one, once. */
static void printf_of_a_char(void **unused)
{
	struct capture printed, said;

	(void)unused;
	load(PTX(
		".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
		".global .align 1 .b8 fmt[6] = {37, 104, 104, 100, 10, 0};\n" ENTRY
		".local .align 8 .b8 l[8]; mov.u64 %d2, l; cvta.local.u64 %d3, %d2; st.local.u32 [l], 7; mov.u64 %d5, fmt;\n"
		"{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %d5; st.param.b64 [b], %d3;\n"
		"call.uni (r), vprintf, (a, b); }" EXIT));
	capture_begin(&printed, 1);
	capture_begin(&said, 2);
	ok(run(1, 2, 0));
	ok(run(1, 1, 0));
	capture_end(&said);
	assert_string_equal(capture_end(&printed), "7\n7\n7\n");
	assert_non_null(strstr(said.text, "emu: device code prints with the size hh"));
	assert_ptr_equal(strchr(said.text, '\n') + 1, said.text + strlen(said.text));
}

/* ---- failing ---------------------------------------------------------------------------------------- */

/* Runs 32 threads; expects the code and the words in the message. */
static void fails(const char *text, CUresult code, const char *words)
{
	struct capture c;
	CUresult r;

	load(text);
	capture_begin(&c, 2);
	r = run(1, 32, 0);
	if (!strstr(capture_end(&c), words) || r != code)
		fail_msg("%d, and not \"%s\": %s", r, words, c.text);
	assert_int_equal(cuMemAlloc(&(CUdeviceptr){0}, 16), code);
}

static void failures(void **unused)
{
	(void)unused;
	fails(PTX(ENTRY "setp.eq.u32 %p0, %r0, 7; @%p0 st.global.u32 [%d0+262144], 1;" EXIT),
	      CUDA_ERROR_ILLEGAL_ADDRESS, "thread (7,0,0), PTX module");
	fails(PTX(ENTRY "ld.global.v2.u32 {%r4, %r5}, [%d0+4];" EXIT), CUDA_ERROR_MISALIGNED_ADDRESS,
	      "misaligned global address");
	fails(PTX(".shared .b8 s[8];\n" ENTRY "ld.shared.u32 %r4, [s+8];" EXIT),
	      CUDA_ERROR_ILLEGAL_ADDRESS, "illegal shared address");
	fails(PTX(ENTRY "mov.u64 %d2, 4096; call %d2, (), X; X: .callprototype _ ();" EXIT),
	      CUDA_ERROR_INVALID_PC, "which is no function");
	fails(PTX(ENTRY "trap;" EXIT), CUDA_ERROR_LAUNCH_FAILED, "trap");
	fails(PTX(".extern .func nowhere();\n" ENTRY "call nowhere;" EXIT), CUDA_ERROR_NOT_SUPPORTED,
	      "call of nowhere, which is not defined");
	fails(PTX(ENTRY "tcgen05.shift.cta_group::1.down [%r1];" EXIT), CUDA_ERROR_NOT_SUPPORTED,
	      "tcgen05.shift.cta_group::1.down [%r1]");
	fails(PTX(ENTRY "mov.u32 %r4, 0xf; shfl.sync.idx.b32 %r5, %r0, 0, 31, %r4;" EXIT),
	      CUDA_ERROR_ILLEGAL_INSTRUCTION, "not in its member mask 0xf");
}

/* An instruction that nobody reaches harms nobody. */
static void refused_only_when_reached(void **unused)
{
	(void)unused;
	load(PTX(ENTRY "setp.gt.u32 %p0, %r0, 99; @%p0 tcgen05.shift.cta_group::1.down [%r1];\n"
		"st.global.u32 [%d1], 3;" EXIT));
	ok(run(1, 32, 0));
	assert_int_equal(out[31], 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grid), cmocka_unit_test(divergence), cmocka_unit_test(branch_table),
		cmocka_unit_test(spin_lock_in_a_warp), cmocka_unit_test(lane_waits_for_lane),
		cmocka_unit_test(plain_loop_is_fair), cmocka_unit_test(barrier_orders),
		cmocka_unit_test(barrier_counts_and_results),
		cmocka_unit_test(barrier_without_the_dead), cmocka_unit_test(cluster_barrier),
		cmocka_unit_test(deadlock), cmocka_unit_test(shuffles_and_votes),
		cmocka_unit_test(collective_at_two_places), cmocka_unit_test(collective_waits),
		cmocka_unit_test(atomics), cmocka_unit_test(calls), cmocka_unit_test(spaces),
		cmocka_unit_test(stack), cmocka_unit_test(async_copies), cmocka_unit_test(matrices),
		cmocka_unit_test(printf_and_heap), cmocka_unit_test(printf_of_a_char), cmocka_unit_test(failures),
		cmocka_unit_test(refused_only_when_reached)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
