/* SPDX-License-Identifier: Apache-2.0
 *
 * emu_cluster.c: what blocks of a cluster do with each other, cluster launch control,
 * dependent launches, and loads that asynchronous writes overtake.
 */
#include <stdbool.h>

#include "emu_test.h"

#define SEEDS 16u
#define BEGIN(directives) ".visible .entry k(.param .u64 p) " directives " {\n" \
	".shared .align 128 .b8 sm[2048]; .shared .align 8 .b64 bar[4]; .shared .align 16 .b8 answer[32];\n" \
	".reg .b32 %r<40>; .reg .b64 %d<20>; .reg .pred %p<10>; .reg .b16 %h<9>; .reg .b128 %q;\n" \
	"ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %cluster_ctarank;\n" \
	"setp.eq.u32 %p0, %r0, 0; mov.u32 %r30, sm; mov.u32 %r31, bar; mov.u32 %r32, answer;\n"
#define CLUSTER_SYNC "barrier.cluster.arrive; barrier.cluster.wait;\n"
#define WAIT(name, bar, parity) \
	name ": mbarrier.try_wait.parity.shared.b64 %p9, [" bar "], " parity "; @!%p9 bra " name ";\n"

/* Shared memory of the other block: stores, loads, atomics, ranks, barriers. */
static void distributed(void **unused)
{
	(void)unused;
	load(PTX(BEGIN(".explicitcluster .reqnctapercluster 2")
		"xor.b32 %r3, %r2, 1; mapa.shared::cluster.u32 %r4, %r30, %r3; mapa.shared::cluster.u32 %r5, %r31, %r3;\n"
		"shl.b32 %r6, %r0, 2; add.u32 %r7, %r30, %r6; add.u32 %r8, %r4, %r6;\n"
		"@%p0 mbarrier.init.shared.b64 [%r31], 33; st.shared.u32 [%r30+1024], 0;\n" CLUSTER_SYNC
		"mad.lo.u32 %r9, %r1, 100, %r0; st.shared::cluster.u32 [%r8], %r9;\n"
		"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];\n"
		"cvta.shared.u64 %d2, sm; mapa.u64 %d3, %d2, %r3; red.relaxed.cluster.add.u32 [%d3+1024], 1;\n"
		"@%p0 mbarrier.arrive.shared.b64 _, [%r31];\n"
		WAIT("W", "%r31", "0")
		"ld.shared.u32 %r10, [%r7]; " CLUSTER_SYNC "ld.shared::cluster.u32 %r11, [%r4+1024];\n"
		"getctarank.shared::cluster.u32 %r12, %r4; getctarank.u64 %r13, %d3; shl.b32 %r12, %r12, 4; or.b32 %r12, %r12, %r13;\n"
		"shl.b32 %r14, %r1, 5; add.u32 %r14, %r14, %r0; mul.wide.u32 %d4, %r14, 16; add.u64 %d4, %d4, %d0;\n"
		"st.global.v4.u32 [%d4], {%r10, %r11, %r12, %r2}; " CLUSTER_SYNC "ret; }\n"));
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		emu_set_seed(seed);
		memset(out, 0, OUT_WORDS * 4);
		ok(run(4, 32, 0));
		for (unsigned i = 0; i < 128; i++) {
			unsigned b = i / 32, t = i % 32;

			assert_int_equal(out[4 * i], (b ^ 1) * 100 + t);
			assert_int_equal(out[4 * i + 1], 32);
			assert_int_equal(out[4 * i + 2], (1 - b % 2) * 0x11);
			assert_int_equal(out[4 * i + 3], b % 2);
		}
	}
}

/* Values sent to the next block, counted by its mbarrier; and bulk copies between
 * blocks, plain and to all. */
static void sent(void **unused)
{
	(void)unused;
	load(PTX(BEGIN(".explicitcluster .reqnctapercluster 4")
		"add.u32 %r3, %r2, 1; and.b32 %r3, %r3, 3; mapa.shared::cluster.u32 %r4, %r30, %r3; mapa.shared::cluster.u32 %r5, %r31, %r3;\n"
		"@%p0 mbarrier.init.shared.b64 [%r31], 1; @%p0 mbarrier.init.shared.b64 [%r31+8], 1; @%p0 mbarrier.init.shared.b64 [%r31+16], 1;\n"
		"st.shared.u32 [%r30+1024], 1000; mov.u32 %r20, 0;\n"
		"shl.b32 %r6, %r0, 4; add.u32 %r7, %r4, %r6; add.u32 %r8, %r30, %r6; add.u32 %r15, %r30, 1536; shl.b32 %r21, %r0, 2; add.u32 %r15, %r15, %r21;\n"
		"mad.lo.u32 %r16, %r1, 50, %r0; st.shared.u32 [%r15], %r16; fence.proxy.async; " CLUSTER_SYNC
		"@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r31], 512; @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r31+8], 128;\n"
		"@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r31+16], 128;\n"
		"mad.lo.u32 %r9, %r1, 100, %r0; add.u32 %r10, %r9, 1000;\n"
		"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%r7], {%r9, %r10, %r9, %r0}, [%r5];\n"
		"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r4+1024], %r0, [%r5+8];\n"
		"add.u32 %r17, %r4, 1280; add.u32 %r18, %r5, 16; add.u32 %r19, %r30, 1536;\n"
		"@%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r17], [%r19], 128, [%r18];\n"
		WAIT("W0", "%r31", "0") WAIT("W1", "%r31+8", "0") WAIT("W2", "%r31+16", "0")
		"ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r8]; add.u32 %r22, %r30, %r21; ld.shared.u32 %r23, [%r22+1280];\n"
		"ld.shared.u32 %r14, [%r30+1024]; add.u32 %r11, %r11, %r14; mov.u32 %r12, %r23;\n"
		"shl.b32 %r14, %r1, 5; add.u32 %r14, %r14, %r0; mul.wide.u32 %d4, %r14, 16; add.u64 %d4, %d4, %d0;\n"
		"st.global.v4.u32 [%d4], {%r10, %r11, %r12, %r13}; " CLUSTER_SYNC "ret; }\n"));
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		emu_set_seed(seed);
		memset(out, 0, OUT_WORDS * 4);
		ok(run(8, 32, 0));
		for (unsigned i = 0; i < 256; i++) {
			unsigned from = i / 128 * 4 + (i / 32 + 3) % 4, t = i % 32;

			assert_int_equal(out[4 * i], from * 100 + t);
			assert_int_equal(out[4 * i + 1], from * 100 + t + 1000 + 1000 + 496);
			assert_int_equal(out[4 * i + 2], from * 50 + t);
			assert_int_equal(out[4 * i + 3], t);
		}
	}
}

/* Waiting only for some of what is on its way, or overwriting what is to be sent. */
static void sent_unwaited(void **unused)
{
	unsigned early = 0, late = 0;

	(void)unused;
	load(PTX(BEGIN(".explicitcluster .reqnctapercluster 2")
		"xor.b32 %r3, %r2, 1; mapa.shared::cluster.u32 %r4, %r30, %r3; mapa.shared::cluster.u32 %r5, %r31, %r3;\n"
		"mbarrier.init.shared.b64 [%r31], 1; st.shared.u32 [%r30], 7; " CLUSTER_SYNC
		"mbarrier.arrive.expect_tx.shared.b64 _, [%r31], 4;\n"
		"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r4], 9, [%r5];\n"
		"mov.u32 %r8, 0; SPIN: add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 200; @%p1 bra SPIN;\n"
		CLUSTER_SYNC "ld.shared.u32 %r6, [%r30];\n" WAIT("W", "%r31", "0") "ld.shared.u32 %r7, [%r30];\n"
		"mul.wide.u32 %d4, %r1, 8; add.u64 %d4, %d4, %d0; st.global.v2.u32 [%d4], {%r6, %r7};" CLUSTER_SYNC "ret; }\n"));
	for (unsigned seed = 0; seed < 40; seed++) {
		emu_set_seed(seed);
		ok(run(2, 1, 0));
		assert_int_equal(out[1], 9);
		assert_int_equal(out[3], 9);
		early += out[0] == 7;
		late += out[0] == 9;
	}
	assert_true(early > 3 && late > 3 && early + late == 40);
}

/* Every cluster's work is done once, by itself or by one that took it over. */
static void taken_over(void **unused)
{
	(void)unused;
	emu_set_device(100);
	load(PTX(BEGIN(".explicitcluster .reqnctapercluster 2")
		"mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y; mov.u32 %r5, 0; mov.u32 %r20, 0;\n"
		"@%p0 mbarrier.init.shared.b64 [%r31], 1;" CLUSTER_SYNC
		"LOOP: mad.lo.u32 %r6, %r4, 60, %r3; mul.wide.u32 %d2, %r6, 4; add.u64 %d2, %d2, %d0;\n"
		"@%p0 red.global.add.u32 [%d2], 1; @%p0 red.global.add.u32 [%d0+65536], %r20;\n"
		"@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r31], 16;\n" CLUSTER_SYNC
		"setp.eq.u32 %p1, %r2, 0; and.pred %p1, %p1, %p0;\n"
		"@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [%r32], [%r31];\n"
		WAIT("W", "%r31", "%r5")
		"ld.shared.b128 %q, [%r32]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q;\n"
		"fence.proxy.async.shared::cta;" CLUSTER_SYNC
		"@!%p2 bra DONE;\n"
		"clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r3, %r4, %r7, _}, %q;\n"
		"clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r8, %q; setp.ne.u32 %p3, %r8, %r3; @%p3 trap;\n"
		"clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r8, %q; setp.ne.u32 %p3, %r8, %r4; @%p3 trap;\n"
		"add.u32 %r3, %r3, %r2; xor.b32 %r5, %r5, 1; mov.u32 %r20, 1; bra LOOP;\n"
		"DONE: ret; }\n"));
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		void *args[] = {&out_ptr};
		CUfunction f;

		emu_set_seed(seed);
		memset(out, 0, OUT_WORDS * 4);
		ok(cuModuleGetFunction(&f, module, "k"));
		ok(cuLaunchKernel(f, 60, 3, 1, 64, 1, 1, 0, NULL, args, NULL));
		ok(cuCtxSynchronize());
		for (unsigned i = 0; i < 180; i++)
			assert_int_equal(out[i], 1);
		assert_true(out[16384] > 0 && out[16384] < 180);
	}
	emu_set_device(90);
}

/* The bug of persistent kernels: every thread has read its stage, all have met at a
 * barrier, and still the next copy is what some of them get; unless each has run a
 * proxy fence before the barrier. */
static unsigned overtaken(const char *sync)
{
	static char text[8192];
	unsigned wrong = 0;

	snprintf(text, sizeof text, "%s%s%s", PTX(BEGIN("")
		"@%p0 mbarrier.init.shared.b64 [%r31], 1; bar.sync 0; mov.u32 %r5, 0; shl.b32 %r6, %r0, 2; add.u32 %r7, %r6, %r30;\n"
		"mul.wide.u32 %d2, %r0, 4; add.u64 %d2, %d2, %d0; add.u64 %d2, %d2, 65536; mov.u64 %d3, %d0;\n"
		"LOOP: @!%p0 bra W; mbarrier.arrive.expect_tx.shared.b64 _, [%r31], 512;\n"
		"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r30], [%d3], 512, [%r31];\n"
		"W: and.b32 %r8, %r5, 1;\n" WAIT("V", "%r31", "%r8")
		"ld.shared.u32 %r9, [%r7];\n"), sync,
		"add.u32 %r9, %r9, 5; st.global.u32 [%d2], %r9; add.u64 %d2, %d2, 512; add.u64 %d3, %d3, 512;\n"
		"add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 6; @%p1 bra LOOP; ret; }\n");
	load(text);
	for (unsigned seed = 0; seed < 40; seed++) {
		bool same = true;

		emu_set_seed(seed);
		for (unsigned i = 0; i < 1024; i++)
			out[i] = i;
		ok(run(1, 128, 0));
		for (unsigned i = 0; i < 6 * 128; i++)
			same = same && out[16384 + i] == i + 5;
		assert_true(same || seed);
		wrong += !same;
	}
	return wrong;
}

static void reads_overtaken(void **unused)
{
	unsigned n;

	(void)unused;
	assert_int_equal(overtaken("fence.proxy.async.shared::cta; bar.sync 0;\n"), 0);
	n = overtaken("bar.sync 0;\n");
	assert_true(n > 2 && n < 38);
	n = overtaken("bar.sync 0; fence.proxy.async.shared::cta;\n");
	assert_true(n > 0 && n < 38);
	/* a fence of the wrong space */
	n = overtaken("fence.proxy.async.global; bar.sync 0;\n");
	assert_true(n > 2 && n < 38);
}

/* Launches that may start early: in a chain, each waits for the one before it. */
static void dependents(void **unused)
{
	CUlaunchAttribute attr = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION};
	CUlaunchConfig config = {
		.gridDimX = 40, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 64, .blockDimY = 1,
		.blockDimZ = 1, .attrs = &attr, .numAttrs = 1
	};
	void *args[] = {&out_ptr};
	CUfunction f;

	(void)unused;
	attr.value.programmaticStreamSerializationAllowed = 1;
	load(PTX(BEGIN("") "griddepcontrol.launch_dependents; shl.b32 %r3, %r1, 6; add.u32 %r3, %r3, %r0;\n"
		"mul.wide.u32 %d2, %r3, 4; add.u64 %d2, %d2, %d0; sub.u32 %r4, 2559, %r3; mul.wide.u32 %d3, %r4, 4; add.u64 %d3, %d3, %d0;\n"
		"@%p0 red.global.add.u32 [%d0+32768], 1;\n"
		"griddepcontrol.wait; ld.global.u32 %r5, [%d2]; ld.global.u32 %r6, [%d0+32768]; add.u32 %r5, %r5, 1;\n"
		"st.global.u32 [%d2], %r5; @%p0 red.global.max.u32 [%d0+32772], %r6; ret; }\n"));
	ok(cuModuleGetFunction(&f, module, "k"));
	for (unsigned seed = 0; seed < 6; seed++) {
		emu_set_seed(seed);
		memset(out, 0, OUT_WORDS * 4);
		for (unsigned i = 0; i < 5; i++)
			ok(cuLaunchKernelEx(&config, f, args, NULL));
		ok(cuCtxSynchronize());
		for (unsigned i = 0; i < 2560; i++)
			assert_int_equal(out[i], 5);
		assert_int_equal(out[8192], 200);
		assert_true(out[8193] > 160);
	}
}

/* Preferred clusters: the driver may make the regular ones all the same. */
static void preferred(void **unused)
{
	CUlaunchAttribute attr[] = {
		{.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION},
		{.id = CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION}
	};
	CUlaunchConfig config = {
		.gridDimX = 8, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1,
		.blockDimZ = 1, .attrs = attr, .numAttrs = 2
	};
	void *args[] = {&out_ptr};
	CUfunction f;

	(void)unused;
	for (unsigned i = 0; i < 2; i++) {
		attr[i].value.clusterDim.x = i ? 4 : 2;
		attr[i].value.clusterDim.y = attr[i].value.clusterDim.z = 1;
	}
	load(PTX(BEGIN("") "mov.u32 %r3, %cluster_nctaid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d2, %d0;\n"
		"@%p0 st.global.u32 [%d2], %r3; ret; }\n"));
	ok(cuModuleGetFunction(&f, module, "k"));
	memset(out, 0, OUT_WORDS * 4);
	ok(cuLaunchKernelEx(&config, f, args, NULL));
	ok(cuCtxSynchronize());
	for (unsigned i = 0; i < 8; i++)
		assert_true(out[i] == 2 || out[i] == 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distributed), cmocka_unit_test(sent), cmocka_unit_test(sent_unwaited),
		cmocka_unit_test(taken_over), cmocka_unit_test(reads_overtaken),
		cmocka_unit_test(dependents), cmocka_unit_test(preferred),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
