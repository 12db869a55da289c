/* SPDX-License-Identifier: Apache-2.0
 *
 * emu_async.c: mbarriers, cp.async and bulk copies on the emulated device: phases and
 * counts, what a wait has waited for, and that without it copies are seen late, in
 * any order, under some seed.
 */
#include "emu_test.h"

#define SEEDS 24u

/* Registers; %d0: out; %r0: tid; %d1: out + 4 * thread; sm: 4 KiB; bar: 8 mbarriers. */
#define BEGIN ".shared .align 1024 .b8 sm[4096]; .shared .align 8 .b64 bar[8];\n" \
	".visible .entry k(.param .u64 p) {\n" \
	".reg .b32 %r<40>; .reg .b64 %d<20>; .reg .pred %p<10>; .reg .f32 %f<10>; .reg .b16 %h<9>;\n" \
	"ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;\n" \
	"mad.lo.u32 %r3, %r1, %r2, %r0; mul.wide.u32 %d1, %r3, 4; add.u64 %d1, %d0, %d1;\n" \
	"setp.eq.u32 %p0, %r0, 0; mov.u32 %r30, sm; mov.u32 %r31, bar;\n"
#define EXIT "ret; }\n"
#define WAIT(name, bar, parity) \
	name ": mbarrier.try_wait.parity.shared.b64 %p9, [" bar "], " parity "; @!%p9 bra " name ";\n"
#define OUT(reg, word) "st.global.u32 [%d0+" #word "*4], " reg ";\n"

static void run_seed(unsigned seed, unsigned blocks, unsigned threads)
{
	emu_set_seed(seed);
	ok(run(blocks, threads, 0));
}

/* ---- mbarriers ------------------------------------------------------------------------- */

static void phases(void **unused)
{
	(void)unused;
	load(PTX(BEGIN
		"mbarrier.init.shared.b64 [%r31], 3;\n"
		"mbarrier.test_wait.parity.shared.b64 %p1, [%r31], 0; selp.u32 %r4, 1, 0, %p1;" OUT("%r4", 0)
		"mbarrier.test_wait.parity.shared.b64 %p1, [%r31], 1; selp.u32 %r4, 1, 0, %p1;" OUT("%r4", 1)
		"mbarrier.arrive.shared.b64 %d4, [%r31]; mbarrier.pending_count.b64 %r4, %d4;" OUT("%r4", 2)
		"mbarrier.arrive.noComplete.shared.b64 %d5, [%r31], 1; mbarrier.pending_count.b64 %r4, %d5;" OUT("%r4", 3)
		"mbarrier.test_wait.shared.b64 %p1, [%r31], %d4; selp.u32 %r4, 1, 0, %p1;" OUT("%r4", 4)
		"mbarrier.arrive.release.cta.shared::cta.b64 _, [%r31];\n"
		"mbarrier.test_wait.shared.b64 %p1, [%r31], %d4; selp.u32 %r4, 1, 0, %p1;" OUT("%r4", 5)
		"mbarrier.test_wait.parity.shared.b64 %p1, [%r31], 0; selp.u32 %r4, 1, 0, %p1;" OUT("%r4", 6)
		"mbarrier.test_wait.parity.shared.b64 %p1, [%r31], 1; selp.u32 %r4, 1, 0, %p1;" OUT("%r4", 7)
		/* one leaves for good: two are expected from the next phase on */
		"mbarrier.arrive_drop.shared.b64 %d6, [%r31]; mbarrier.pending_count.b64 %r4, %d6;" OUT("%r4", 8)
		"mbarrier.arrive.shared.b64 _, [%r31], 2;\n"
		"mbarrier.test_wait.parity.shared.b64 %p1, [%r31], 1; selp.u32 %r4, 1, 0, %p1;" OUT("%r4", 9)
		"mbarrier.arrive.shared.b64 _, [%r31], 2;\n"
		"mbarrier.test_wait.parity.shared.b64 %p1, [%r31], 0; selp.u32 %r4, 1, 0, %p1;" OUT("%r4", 10)
		/* bytes and a departure in one */
		"mbarrier.arrive_drop.expect_tx.relaxed.cta.shared::cta.b64 _, [%r31], 48;\n"
		"mbarrier.arrive.shared.b64 _, [%r31];\n"
		"mbarrier.test_wait.parity.shared.b64 %p1, [%r31], 1; selp.u32 %r4, 1, 0, %p1;" OUT("%r4", 11)
		"mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r31], 48;\n"
		"mbarrier.test_wait.parity.shared.b64 %p1, [%r31], 1; selp.u32 %r4, 1, 0, %p1;" OUT("%r4", 12)
		"mbarrier.arrive.expect_tx.shared.b64 %d6, [%r31], 16;\n"
		"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r31], 16;\n"
		"mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r31], 16;\n"
		"mbarrier.test_wait.shared.b64 %p1, [%r31], %d6; selp.u32 %r4, 1, 0, %p1;" OUT("%r4", 13)
		"mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r31], 16;\n"
		"mbarrier.test_wait.shared.b64 %p1, [%r31], %d6; selp.u32 %r4, 1, 0, %p1;" OUT("%r4", 14)
		"mbarrier.inval.shared.b64 [%r31]; mbarrier.init.shared.b64 [%r31], 1;\n"
		"mbarrier.test_wait.parity.shared.b64 %p1, [%r31], 0; selp.u32 %r4, 1, 0, %p1;" OUT("%r4", 15)
		EXIT));
	static const uint32_t want[] = {0, 1, 3, 2, 0, 1, 1, 0, 3, 1, 1, 0, 1, 0, 1, 0};

	ok(run(1, 1, 0));
	for (unsigned i = 0; i < sizeof want / sizeof *want; i++)
		assert_int_equal(out[i], want[i]);
}

static void faults_of_mbarriers(void **unused)
{
	static const struct { const char *text, *message; } cases[] = {
		{PTX(BEGIN "mbarrier.arrive.shared.b64 _, [%r31];" EXIT), "there is no mbarrier"},
		{PTX(BEGIN "mbarrier.init.shared.b64 [%r31], 1; mbarrier.arrive.shared.b64 _, [%r31], 2;" EXIT),
		 "2 arrivals where 1 are pending"},
		{PTX(BEGIN "mbarrier.init.shared.b64 [%r31], 1;\n"
		     "mbarrier.arrive.noComplete.shared.b64 %d4, [%r31], 1;" EXIT), "completes the phase"},
		{PTX(BEGIN "mbarrier.init.shared.b64 [%r31], 1; mov.u32 %r4, 1048575;\n"
		     "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r31], %r4;\n"
		     "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r31], 1;" EXIT), "can count"},
		{PTX(BEGIN "mbarrier.init.shared.b64 [%r31], 1;\n"
		     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r30], [%d0], 8, [%r31];"
		     EXIT), "no multiples of 16"},
		{PTX(BEGIN "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r30], [%d0], 16, [%r31];"
		     EXIT), "there is no mbarrier"},
	};

	(void)unused;
	emu_set_seed(0);
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct capture c;
		CUresult r;

		load(cases[i].text);
		capture_begin(&c, 2);
		r = run(1, 1, 0);
		if (!strstr(capture_end(&c), cases[i].message))
			fail_msg("case %u: %s", i, c.text);
		assert_int_not_equal(r, CUDA_SUCCESS);
	}
	fresh();
}

/* A ring between two warps: the consumer reads what the producer put in. */
static void ring(void **unused)
{
	(void)unused;
	load(PTX(BEGIN
		"@%p0 mbarrier.init.shared.b64 [%r31], 32; @%p0 mbarrier.init.shared.b64 [%r31+8], 32; bar.sync 0;\n"
		"mov.u32 %r5, 0; mov.u32 %r6, 0; and.b32 %r7, %r0, 31; shl.b32 %r8, %r7, 2; add.u32 %r8, %r8, %r30;\n"
		"setp.ge.u32 %p1, %r0, 32; @%p1 bra CONSUMER;\n"
		"PRODUCER: and.b32 %r9, %r5, 1; xor.b32 %r9, %r9, 1;\n"
		WAIT("EMPTY", "%r31+8", "%r9")
		"mad.lo.u32 %r10, %r5, 100, %r7; st.shared.u32 [%r8], %r10;\n"
		"mbarrier.arrive.shared.b64 %d4, [%r31]; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 10; @%p2 bra PRODUCER;\n"
		"ret;\n"
		"CONSUMER: and.b32 %r9, %r5, 1;\n"
		WAIT("FULL", "%r31", "%r9")
		"ld.shared.u32 %r10, [%r8]; mul.lo.u32 %r6, %r6, 3; add.u32 %r6, %r6, %r10;\n"
		"mbarrier.arrive.shared.b64 %d4, [%r31+8]; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 10; @%p2 bra CONSUMER;\n"
		"st.global.u32 [%d1], %r6;" EXIT));
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		run_seed(seed, 1, 64);
		for (uint32_t l = 0; l < 32; l++) {
			uint32_t v = 0;

			for (uint32_t i = 0; i < 10; i++)
				v = v * 3 + i * 100 + l;
			assert_int_equal(out[32 + l], v);
		}
	}
}

/* ---- cp.async --------------------------------------------------------------------------- */

#define ADDRESSES "mul.wide.u32 %d2, %r0, 16; add.u64 %d2, %d0, %d2; shl.b32 %r8, %r0, 4; add.u32 %r8, %r8, %r30;\n"

static void copies(void **unused)
{
	(void)unused;
	load(PTX(BEGIN ADDRESSES
		"setp.gt.u32 %p1, %r0, 30; mov.u32 %r9, 5;\n"
		"mov.u32 %r4, 0xffffffff; st.shared.v4.u32 [%r8], {%r4, %r4, %r4, %r4};\n"
		"st.shared.v4.u32 [%r8+2048], {%r4, %r4, %r4, %r4};\n"
		"cp.async.ca.shared.global [%r8], [%d2+4096], 16, %r9;\n"
		"cp.async.commit_group;\n"
		"cp.async.ca.shared.global [%r8+2048], [%d2+4100], 4;\n"
		"cp.async.cg.shared.global [%r8+2048], [%d2+4096], 16, %p1;\n"
		"cp.async.commit_group; cp.async.wait_group 1;\n"
		"ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r8];\n"
		"cp.async.wait_all; ld.shared.v4.u32 {%r14, %r15, %r16, %r17}, [%r8+2048];\n"
		"mul.wide.u32 %d3, %r0, 32; add.u64 %d3, %d0, %d3;\n"
		"st.global.v4.u32 [%d3+8192], {%r10, %r11, %r12, %r13}; st.global.v4.u32 [%d3+8208], {%r14, %r15, %r16, %r17};"
		EXIT));
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		for (unsigned i = 0; i < 128; i++)
			out[1024 + i] = 0x01020300 + i;
		run_seed(seed, 1, 32);
		for (unsigned t = 0; t < 32; t++) {
			const uint32_t *r = out + 2048 + 8 * t;

			assert_int_equal(r[0], 0x01020300 + 4 * t);
			assert_int_equal(r[1], (4 * t + 1) & 0xff);
			assert_int_equal(r[2], 0);
			/* Two copies of one group to one place: one of them came last. */
			if (r[4] != 0x01020301 + 4 * t)
				assert_int_equal(r[4], t > 30 ? 0 : 0x01020300 + 4 * t);
			assert_int_equal(r[5], t > 30 ? 0 : 0x01020301 + 4 * t);
		}
	}
}

/* Reading too early gives the old bytes, overwriting the source too early the new ones,
 * under some seed each, and under some seed not. */
static void copies_unwaited(void **unused)
{
	unsigned early = 0, late = 0, mixed = 0;

	(void)unused;
	load(PTX(BEGIN ADDRESSES
		"mov.u32 %r4, 7; st.shared.u32 [%r8], %r4; bar.sync 0;\n"
		"cp.async.ca.shared.global [%r8], [%d2+4096], 4; cp.async.ca.shared.global [%r8+4], [%d2+4100], 4;\n"
		"mov.u32 %r5, 0; L: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 200; @%p1 bra L;\n"
		"ld.shared.u32 %r10, [%r8]; mov.u32 %r4, 9; st.global.u32 [%d2+4100], %r4;\n"
		"cp.async.wait_all; ld.shared.u32 %r11, [%r8+4];\n"
		"mul.wide.u32 %d3, %r0, 8; add.u64 %d3, %d0, %d3; st.global.v2.u32 [%d3], {%r10, %r11};" EXIT));
	for (unsigned seed = 0; seed < 60; seed++) {
		unsigned old = 0, changed = 0;

		for (unsigned i = 0; i < 128; i++)
			out[1024 + i] = 100 + i;
		run_seed(seed, 1, 32);
		for (unsigned t = 0; t < 32; t++) {
			old += out[2 * t] == 7;
			changed += out[2 * t + 1] == 9;
			assert_true(out[2 * t] == 7 || out[2 * t] == 100 + 4 * t);
			assert_true(out[2 * t + 1] == 9 || out[2 * t + 1] == 101 + 4 * t);
		}
		if (!seed)
			assert_int_equal(old, 32);
		early += old == 32;
		late += old == 0;
		mixed += changed && changed < 32;
	}
	assert_true(early && late && mixed);
}

/* cp.async.mbarrier.arrive: the phase is over when the copies are there. */
static void copies_by_mbarrier(void **unused)
{
	(void)unused;
	load(PTX(BEGIN ADDRESSES
		"@%p0 mbarrier.init.shared.b64 [%r31], 64; @%p0 mbarrier.init.shared.b64 [%r31+8], 64; bar.sync 0;\n"
		"cp.async.ca.shared.global [%r8], [%d2+4096], 16;\n"
		"cp.async.mbarrier.arrive.noinc.shared.b64 [%r31];\n"
		"cp.async.ca.shared.global [%r8+1024], [%d2+4100], 4;\n"
		"cp.async.mbarrier.arrive.shared.b64 [%r31+8]; mbarrier.arrive.shared.b64 %d4, [%r31+8];\n"
		WAIT("A", "%r31", "0")
		"sub.u32 %r4, 63, %r0; shl.b32 %r4, %r4, 4; add.u32 %r4, %r4, %r30; ld.shared.u32 %r10, [%r4+8];\n"
		WAIT("B", "%r31+8", "0")
		"ld.shared.u32 %r11, [%r4+1024]; mul.wide.u32 %d3, %r0, 8; add.u64 %d3, %d0, %d3;\n"
		"st.global.v2.u32 [%d3+16384], {%r10, %r11};" EXIT));
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		for (unsigned i = 0; i < 300; i++)
			out[1024 + i] = 100 + i;
		run_seed(seed, 1, 64);
		for (unsigned t = 0; t < 64; t++) {
			assert_int_equal(out[4096 + 2 * t], 100 + 4 * (63 - t) + 2);
			assert_int_equal(out[4096 + 2 * t + 1], 100 + 4 * (63 - t) + 1);
		}
	}
}

/* ---- bulk copies --------------------------------------------------------------------------- */

#define INIT1 "@%p0 mbarrier.init.shared.b64 [%r31], 1; bar.sync 0;\n"
#define BULK_IN "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
#define BULK_OUT "cp.async.bulk.global.shared::cta.bulk_group "

static void bulk_in_and_out(void **unused)
{
	(void)unused;
	load(PTX(BEGIN INIT1
		"@!%p0 bra W; mbarrier.arrive.expect_tx.shared.b64 _, [%r31], 2048;\n"
		BULK_IN "[%r30], [%d0], 1536, [%r31];\n" BULK_IN "[%r30+1536], [%d0+8192], 512, [%r31];\n"
		WAIT("W", "%r31", "0")
		"shl.b32 %r4, %r0, 2; add.u32 %r4, %r4, %r30; ld.shared.u32 %r5, [%r4]; ld.shared.u32 %r6, [%r4+1024];\n"
		"add.u32 %r5, %r5, 1000; add.u32 %r6, %r6, 2000; st.shared.u32 [%r4], %r5; st.shared.u32 [%r4+1024], %r6;\n"
		"fence.proxy.async.shared::cta; bar.sync 0; @!%p0 ret;\n"
		BULK_OUT "[%d0+16384], [%r30], 1024; cp.async.bulk.commit_group;\n"
		BULK_OUT "[%d0+20480], [%r30+1024], 1024; cp.async.bulk.commit_group;\n"
		"cp.async.bulk.wait_group 1; ld.global.u32 %r7, [%d0+17000]; st.global.u32 [%d0+32768], %r7;\n"
		"cp.async.bulk.wait_group.read 0; st.shared.u32 [%r30+1024], 5; cp.async.bulk.wait_group 0;\n"
		"ld.global.u32 %r7, [%d0+20480]; st.global.u32 [%d0+32772], %r7;" EXIT));
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		memset(out, 0, OUT_WORDS * 4);
		for (unsigned i = 0; i < 384; i++)
			out[i] = i;
		for (unsigned i = 0; i < 128; i++)
			out[2048 + i] = 384 + i;
		run_seed(seed, 1, 256);
		for (unsigned i = 0; i < 256; i++) {
			assert_int_equal(out[4096 + i], i + 1000);
			assert_int_equal(out[5120 + i], i + 256 + 2000);
		}
		assert_int_equal(out[8192], 1000 + (17000 - 16384) / 4);
		assert_int_equal(out[8193], 2256);
	}
}

/* How often each of the words that a kernel gives has its right value. */
static void tally(unsigned n, const uint32_t *right, unsigned *hits, unsigned threads)
{
	memset(hits, 0, n * sizeof *hits);
	for (unsigned seed = 0; seed < 60; seed++) {
		memset(out, 0, OUT_WORDS * 4);
		for (unsigned i = 0; i < 4096; i++)
			out[i] = i;
		run_seed(seed, 1, threads);
		for (unsigned i = 0; i < n; i++)
			hits[i] += out[8192 + i] == right[i];
	}
}

#define RESULT(reg, word) "st.global.u32 [%d0+32768+" #word "*4], " reg ";\n"
#define SPIN(name, n) "mov.u32 %r29, 0;" name ": add.u32 %r29, %r29, 1; setp.lt.u32 %p8, %r29, " n "; @%p8 bra " name ";\n"

/* Each of these is wrong, and shows it now and then, but not always. */
static void bulk_unwaited(void **unused)
{
	static const uint32_t right[] = {300, 256, 3, 0};
	unsigned hits[4];

	(void)unused;
	load(PTX(BEGIN INIT1
		/* read before the phase is over */
		"mbarrier.arrive.expect_tx.shared.b64 _, [%r31], 1024;\n"
		BULK_IN "[%r30], [%d0+1024], 1024, [%r31];\n" SPIN("S1", "500")
		"ld.shared.u32 %r4, [%r30+176];" RESULT("%r4", 0) WAIT("W1", "%r31", "0")
		/* fewer bytes expected than come: the phase is over early */
		"mbarrier.init.shared.b64 [%r31+8], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%r31+8], 528;\n"
		BULK_IN "[%r30+1024], [%d0+1024], 1024, [%r31+8];\n" WAIT("W2", "%r31+8", "0")
		"ld.shared.u32 %r4, [%r30+1024]; mov.u32 %r5, 3; ld.shared.u32 %r6, [%r30+2032];\n"
		"setp.ne.u32 %p1, %r6, 508; @%p1 mov.u32 %r4, 0;" RESULT("%r4", 1)
		/* the source is written over before it is read; the destination read too early */
		"mov.u32 %r4, 3; st.shared.u32 [%r30+2048], %r4; fence.proxy.async;\n"
		BULK_OUT "[%d0+16384], [%r30+2048], 16; cp.async.bulk.commit_group;\n" SPIN("S2", "500")
		"mov.u32 %r4, 4; st.shared.u32 [%r30+2048], %r4; fence.proxy.async;\n"
		"ld.global.u32 %r5, [%d0+16384]; cp.async.bulk.wait_group 0;\n"
		"ld.global.u32 %r4, [%d0+16384];" RESULT("%r4", 2) RESULT("%r5", 3) EXIT));
	tally(4, right, hits, 1);
	for (unsigned i = 0; i < 4; i++)
		if (hits[i] < 5 || hits[i] > 55)
			fail_msg("word %u: right %u times of 60", i, hits[i]);
}

/* What no proxy fence has shown to the async proxy it may not see. */
static void bulk_unfenced(void **unused)
{
	static const uint32_t right[] = {77, 77, 77};
	unsigned hits[3];

	(void)unused;
	load(PTX(BEGIN
		"st.shared.u32 [%r30], 77; fence.proxy.async.shared::cta; bar.sync 0;\n"
		BULK_OUT "[%d0+32768], [%r30], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
		"st.shared.u32 [%r30+128], 77; bar.sync 0; fence.proxy.async.global;\n"
		BULK_OUT "[%d0+36864], [%r30+128], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
		"ld.global.u32 %r4, [%d0+36864];" RESULT("%r4", 1)
		"st.shared.u32 [%r30+128], 77; bar.sync 0; fence.proxy.async;\n"
		BULK_OUT "[%d0+36864], [%r30+128], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
		"ld.global.u32 %r4, [%d0+36864];" RESULT("%r4", 2) EXIT));
	tally(3, right, hits, 1);
	assert_int_equal(hits[0], 60);
	assert_true(hits[1] > 5 && hits[1] < 55);
	assert_int_equal(hits[2], 60);
}

/* Global memory that the block itself has written. */
static void bulk_unfenced_global(void **unused)
{
	static const uint32_t right[] = {77, 78, 79};
	unsigned hits[3];

#define ROUND(value, fence, parity, n) \
	"st.global.u32 [%d0+2048], " value ";" fence "mbarrier.arrive.expect_tx.shared.b64 _, [%r31], 64;\n" \
	BULK_IN "[%r30], [%d0+2048], 64, [%r31];\n" WAIT("W" #n, "%r31", parity) "ld.shared.u32 %r4, [%r30];\n" \
	RESULT("%r4", n)
	(void)unused;
	load(PTX(BEGIN INIT1 ROUND("77", "fence.proxy.async.global;", "0", 0)
		ROUND("78", "fence.proxy.async.shared::cta;", "1", 1) ROUND("79", "fence.proxy.async;", "0", 2) EXIT));
	tally(3, right, hits, 1);
	assert_int_equal(hits[0], 60);
	assert_true(hits[1] > 5 && hits[1] < 58);
	assert_int_equal(hits[2], 60);
}

/* Threads end with a copy under way that has not read its source yet. */
static void bulk_at_the_end(void **unused)
{
	unsigned right = 0, wrong = 0;

	(void)unused;
	load(PTX(BEGIN "st.shared.u32 [%r30], 77; fence.proxy.async;\n"
		BULK_OUT "[%d0], [%r30], 16; cp.async.bulk.commit_group;" EXIT));
	for (unsigned seed = 0; seed < 60; seed++) {
		run_seed(seed, 1, 1);
		right += out[0] == 77;
		wrong += out[0] == 0xdddddddd;
	}
	assert_int_equal(right + wrong, 60);
	assert_true(right && wrong);
	load(PTX(BEGIN "st.shared.u32 [%r30], 77; fence.proxy.async;\n"
		BULK_OUT "[%d0], [%r30], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" EXIT));
	for (unsigned seed = 0; seed < 60; seed++) {
		run_seed(seed, 1, 1);
		assert_int_equal(out[0], 77);
	}
}

static void reductions(void **unused)
{
	(void)unused;
	load(PTX(BEGIN INIT1
		"shl.b32 %r4, %r0, 2; add.u32 %r4, %r4, %r30; st.shared.u32 [%r4], %r0;\n"
		"cvt.rn.f32.u32 %f0, %r0; st.shared.f32 [%r4+256], %f0; mov.u32 %r5, 0x3c004000; st.shared.u32 [%r4+512], %r5;\n"
		"fence.proxy.async.shared::cta; bar.sync 0; @!%p0 ret;\n"
		"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0], [%r30], 256;\n"
		"cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%d0+256], [%r30], 256;\n"
		"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%d0+512], [%r30+256], 256;\n"
		"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%d0+768], [%r30+512], 256;\n"
		"cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" EXIT));
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		memset(out, 0, 4096);
		for (unsigned i = 0; i < 64; i++)
			out[64 + i] = i & 1 ? 40 : (uint32_t)-5;
		run_seed(seed, 3, 64);
		for (uint32_t i = 0; i < 64; i++) {
			float f;

			memcpy(&f, &out[128 + i], 4);
			assert_int_equal(out[i], 3 * i);
			assert_int_equal(out[64 + i], i & 1 && i < 40 ? 40 : i);
			assert_true(f == 3.0f * (float)i);
			assert_int_equal(out[192 + i], 0x42004600);
		}
	}
}

static void masked_bytes(void **unused)
{
	(void)unused;
	emu_set_device(100);
	load(PTX(BEGIN "shl.b32 %r4, %r0, 2; add.u32 %r4, %r4, %r30; st.shared.u32 [%r4], 0x0a0b0c0d;\n"
		"fence.proxy.async.shared::cta; bar.sync 0; @!%p0 ret; mov.u16 %h0, 0x8421;\n"
		"cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d0], [%r30], 128, %h0;\n"
		"cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" EXIT));
	for (unsigned seed = 0; seed < 4; seed++) {
		memset(out, 0xff, 4096);
		run_seed(seed, 1, 32);
		for (unsigned i = 0; i < 32; i++)
			assert_int_equal(out[i], i % 4 == 0 ? 0xffffff0d : i % 4 == 1 ? 0xffff0cff :
					 i % 4 == 2 ? 0xff0bffff : 0x0affffff);
		assert_int_equal(out[32], 0xffffffff);
	}
	emu_set_device(90);
}

/* On one device a multimem address is an address. */
static void multimem(void **unused)
{
	(void)unused;
	load(PTX(BEGIN "multimem.ld_reduce.relaxed.gpu.global.add.v4.f32 {%f0, %f1, %f2, %f3}, [%d0+4096];\n"
		"add.f32 %f0, %f0, %f3; multimem.st.weak.global.v2.f32 [%d0+64], {%f0, %f1};\n"
		"multimem.red.relaxed.gpu.global.add.u32 [%d0], 3; multimem.red.release.gpu.global.max.s64 [%d0+8], %d0;\n"
		"multimem.ld_reduce.global.acc::f32.add.bf16x2 %r4, [%d0+4096]; st.global.u32 [%d0+32], %r4;" EXIT));
	for (unsigned i = 0; i < 4; i++) {
		float f = 1.5f + (float)i;

		memcpy(&out[1024 + i], &f, 4);
	}
	ok(run(1, 10, 0));
	assert_int_equal(out[0], 30);
	assert_int_equal(out[2], (uint32_t)out_ptr);
	assert_int_equal(out[16], 0x40c00000);
	assert_int_equal(out[17], 0x40200000);
	assert_int_equal(out[8], 0x3fc00000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases), cmocka_unit_test(faults_of_mbarriers),
		cmocka_unit_test(ring), cmocka_unit_test(copies),
		cmocka_unit_test(copies_unwaited), cmocka_unit_test(copies_by_mbarrier),
		cmocka_unit_test(bulk_in_and_out), cmocka_unit_test(bulk_unwaited),
		cmocka_unit_test(bulk_unfenced), cmocka_unit_test(bulk_unfenced_global),
		cmocka_unit_test(bulk_at_the_end),
		cmocka_unit_test(reductions), cmocka_unit_test(masked_bytes),
		cmocka_unit_test(multimem),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
