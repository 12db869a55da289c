/* SPDX-License-Identifier: Apache-2.0
 *
 * emu_wgmma.c: wgmma on the emulated device: every type, layout and swizzle against
 * products of the matrices as they are meant; and what happens without fences and
 * waits.
 */
#include "emu_matrix.h"

struct test {
	enum type d, a, b;
	unsigned n;
	unsigned span_a, span_b;        /* of the swizzle */
	bool a_mn, b_mn, a_regs;
	int scale_a, scale_b;
	bool satfinite;
};

static const struct test cases[] = {
	{F32, F16, F16, 256, 0, 0, 0, 0, 0, 1, 1, 0},
	{F32, F16, F16, 128, 128, 128, 0, 0, 0, 1, 1, 0},
	{F32, BF16, BF16, 8, 64, 32, 0, 0, 0, -1, 1, 0},
	{F32, F16, F16, 128, 128, 128, 1, 1, 0, 1, 1, 0},
	{F32, BF16, BF16, 40, 0, 0, 1, 1, 0, 1, -1, 0},
	{F32, F16, F16, 96, 64, 32, 1, 1, 0, -1, -1, 0},
	{F32, F16, F16, 24, 32, 64, 1, 0, 0, 1, 1, 0},
	{F16, F16, F16, 72, 128, 64, 0, 1, 0, 1, 1, 0},
	{F32, BF16, BF16, 64, 0, 128, 0, 1, 1, 1, 1, 0},
	{F16, F16, F16, 16, 0, 0, 0, 0, 1, -1, 1, 0},
	{F32, TF32, TF32, 48, 128, 32, 0, 0, 0, 1, 1, 0},
	{F32, TF32, TF32, 48, 0, 0, 0, 0, 1, 1, -1, 0},
	{F32, E4M3, E5M2, 32, 128, 128, 0, 0, 0, 1, 1, 0},
	{F16, E5M2, E4M3, 56, 0, 64, 0, 0, 1, 1, 1, 0},
	{S32, S8, U8, 64, 32, 128, 0, 0, 0, 1, 1, 0},
	{S32, U8, S8, 24, 0, 0, 0, 0, 1, 1, 1, 1},
};

static unsigned depth(const struct test *t)
{
	return 32 / types[t->a].bytes;
}

static uint64_t descriptor(const struct side *s)
{
	uint64_t mode = s->span == 128 ? 1 : s->span == 64 ? 2 : s->span == 32 ? 3 : 0;

	return (uint64_t)(s->lbo >> 4) << 16 | (uint64_t)(s->sbo >> 4) << 32 | mode << 62;
}

static char *put(char *to, const char *fmt, unsigned a, unsigned b)
{
	return to + sprintf(to, fmt, a, b);
}

/* 32 KiB of shared memory come from `out`; fragments of A from behind them; D goes to
 * out + 128 KiB.  Two products, the second on top of the first. */
static const char *kernel(const struct test *t, const struct side *a, const struct side *b,
			  const char *before, const char *after)
{
	static char text[32768];
	unsigned nd = t->d == F16 ? t->n / 4 : t->n / 2;
	char *p = text;

	p += sprintf(p, "%s%s", PTX(".visible .entry k(.param .u64 p) {\n"
		".shared .align 1024 .b8 sm[32768]; .reg .b32 %r<40>; .reg .b64 %d<20>; .reg .pred %p<4>;\n"
		".reg .b32 %x<130>; .reg .b32 %a<4>;\n"
		"ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r30, sm; mov.u32 %r5, 0;\n"
		"mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d1, %d0; shl.b32 %r1, %r0, 2; add.u32 %r1, %r1, %r30;\n"
		"F: ld.global.u32 %r2, [%d1]; st.shared.u32 [%r1], %r2; add.u64 %d1, %d1, 512; add.u32 %r1, %r1, 512;\n"
		"add.u32 %r5, %r5, 1; setp.lt.u32 %p0, %r5, 64; @%p0 bra F;\n"
		"mul.wide.u32 %d2, %r0, 16; add.u64 %d2, %d2, %d0; ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%d2+32768];\n"),
		before);
	p += sprintf(p, "and.b32 %%r6, %%r30, 0x3ffff; shr.u32 %%r6, %%r6, 4; cvt.u64.u32 %%d3, %%r6;"
		     "or.b64 %%d4, %%d3, 0x%llx; add.u64 %%d5, %%d3, 1024; or.b64 %%d5, %%d5, 0x%llx;\n"
		     "setp.ne.u32 %%p1, %%r0, %%r0; setp.eq.u32 %%p2, %%r0, %%r0; wgmma.fence.sync.aligned;\n",
		     (unsigned long long)descriptor(a), (unsigned long long)descriptor(b));
	for (unsigned i = 0; i < 2; i++) {
		p += sprintf(p, "wgmma.mma_async.sync.aligned.m64n%uk%u.%s.%s.%s%s {", t->n, depth(t),
			     types[t->d].name, types[t->a].name, types[t->b].name,
			     t->satfinite ? ".satfinite" : "");
		for (unsigned k = 0; k < nd; k++)
			p = put(p, k ? ",%%x%u" : "%%x%u", k, 0);
		p += sprintf(p, "}, %s, %%d5, %%p%u", t->a_regs ? "{%a0,%a1,%a2,%a3}" : "%d4", 1 + i);
		if (t->d != S32)
			p += sprintf(p, ", %d, %d", t->scale_a, t->scale_b);
		if (depth(t) == 16 && !t->a_regs)
			p = put(p, ", %u", t->a_mn, 0);
		if (depth(t) == 16)
			p = put(p, ", %u", t->b_mn, 0);
		p += sprintf(p, ";\n");
	}
	p += sprintf(p, "wgmma.commit_group.sync.aligned;\n%smul.lo.u32 %%r7, %%r0, %u; mul.wide.u32 %%d6, %%r7, 4;"
		     "add.u64 %%d6, %%d6, %%d0; add.u64 %%d6, %%d6, 131072;\n", after, nd);
	for (unsigned k = 0; k < nd; k++)
		p = put(p, "st.global.u32 [%%d6+%u], %%x%u;\n", 4 * k, k);
	sprintf(p, "ret; }\n");
	return text;
}

static void inputs(const struct test *t, const struct side *a, const struct side *b)
{
	uint8_t *bytes = (uint8_t *)out;
	unsigned k = depth(t), size = types[t->a].bytes, per = 4 / size;

	memset(out, 0, OUT_WORDS * 4);
	lay(bytes, a, t->a, 64, k);
	lay(bytes + 16384, b, t->b, t->n, k);
	for (unsigned th = 0; th < 128; th++)
		for (unsigned i = 0; i < 4 * per; i++) {
			unsigned reg = i / per, row = th / 32 * 16 + th % 32 / 4 + (reg & 1) * 8;
			unsigned col = (reg >> 1) * 4 * per + th % 4 * per + i % per;
			uint32_t v = bits_of(t->a, value(t->a, row, col));

			memcpy(bytes + 32768 + th * 16 + i * size, &v, size);
		}
}

/* Twice the product, at the thread and register that hold it. */
static bool right(const struct test *t)
{
	unsigned nd = t->d == F16 ? t->n / 4 : t->n / 2, per = t->d == F16 ? 2 : 1;

	for (unsigned th = 0; th < 128; th++)
		for (unsigned i = 0; i < nd * per; i++) {
			unsigned row = th / 32 * 16 + th % 32 / 4 + (i / 2 & 1) * 8;
			unsigned col = i / 4 * 8 + th % 4 * 2 + (i & 1);
			uint32_t got = out[32768 + th * nd + i / per], want;
			int sum = 0;
			float f;

			for (unsigned k = 0; k < depth(t); k++)
				sum += value(t->a, row, k) * value(t->b, col, k);
			sum *= 2 * (t->d == S32 ? 1 : t->scale_a * t->scale_b);
			f = (float)sum;
			memcpy(&want, &f, 4);
			if (t->d == S32)
				want = (uint32_t)sum;
			if (t->d == F16) {
				got = got >> i % 2 * 16 & 0xffff;
				want = half_of_f32(f);
			}
			/* zero times minus one */
			if (!sum && t->d != S32 && !(got & (t->d == F16 ? 0x7fff : 0x7fffffff)))
				continue;
			if (got != want)
				return false;
		}
	return true;
}

static void products(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct test *t = &cases[i];
		struct side a = side(t->span_a, t->a_mn, depth(t)), b = side(t->span_b, t->b_mn, depth(t));

		load(kernel(t, &a, &b, "fence.proxy.async; bar.sync 0;", "wgmma.wait_group.sync.aligned 0;\n"));
		for (unsigned seed = 0; seed < 4; seed++) {
			emu_set_seed(seed);
			inputs(t, &a, &b);
			ok(run(1, 128, 0));
			if (!right(t))
				fail_msg("case %u, seed %u", i, seed);
		}
	}
}

/* Without the fence, the wait, or the wait before the operands are written over. */
static void mistakes(void **unused)
{
	static const struct { const char *before, *after; bool always; } wrong[] = {
		{"bar.sync 0;", "wgmma.wait_group.sync.aligned 0;\n", false},
		{"fence.proxy.async; bar.sync 0;", "", false},
		{"fence.proxy.async; bar.sync 0;", "wgmma.wait_group.sync.aligned 1;\n", false},
		{"fence.proxy.async; bar.sync 0; wgmma.commit_group.sync.aligned;",
		 "wgmma.wait_group.sync.aligned 1;\n", false},
		{"fence.proxy.async; bar.sync 0;",
		 "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;\n", true},
		{"fence.proxy.async; bar.sync 0;",
		 "mov.u32 %r5, 0; S: add.u32 %r5, %r5, 1; setp.lt.u32 %p0, %r5, 100; @%p0 bra S;\n"
		 "shl.b32 %r1, %r0, 2; add.u32 %r1, %r1, %r30; st.shared.u32 [%r1], 0; fence.proxy.async;\n"
		 "wgmma.wait_group.sync.aligned 0;\n", false},
		{"fence.proxy.async; bar.sync 0;",
		 "wgmma.wait_group.sync.aligned 0; bar.sync 0;\n"
		 "shl.b32 %r1, %r0, 2; add.u32 %r1, %r1, %r30; st.shared.u32 [%r1], 0; fence.proxy.async;\n", true},
	};
	const struct test *t = &cases[1];
	struct side a = side(t->span_a, t->a_mn, depth(t)), b = side(t->span_b, t->b_mn, depth(t));

	(void)unused;
	for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		unsigned n = 0;

		load(kernel(t, &a, &b, wrong[i].before, wrong[i].after));
		for (unsigned seed = 0; seed < 30; seed++) {
			emu_set_seed(seed);
			inputs(t, &a, &b);
			ok(run(1, 128, 0));
			n += !right(t);
		}
		if (wrong[i].always ? n : n < 2)
			fail_msg("case %u: wrong %u times of 30", i, n);
	}
}

/* Results that nobody reads: their registers are no place for anything else. */
static void unread(void **unused)
{
	(void)unused;
	load(PTX(".visible .entry k(.param .u64 p) {\n"
		".shared .align 1024 .b8 sm[4096]; .reg .b32 %r<40>; .reg .b64 %d<20>; .reg .pred %p<4>; .reg .b32 %x<4>;\n"
		"ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, sm; shl.b32 %r2, %r0, 2; add.u32 %r2, %r2, %r1;\n"
		"st.shared.u32 [%r2], 0x3c003c00; fence.proxy.async; bar.sync 0; setp.ne.u32 %p1, %r0, %r0;\n"
		"shr.u32 %r3, %r1, 4; cvt.u64.u32 %d3, %r3; mul.wide.u32 %d4, %r0, 16; add.u64 %d4, %d4, %d0;\n"
		"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%x0,%x1,%x2,%x3}, %d3, %d3, %p1, 1, 1, 0, 0;\n"
		"wgmma.commit_group.sync.aligned;\n"
		"add.u32 %r10, %r0, 1; add.u32 %r11, %r0, 2; add.u32 %r12, %r0, 3; add.u32 %r13, %r0, 4;\n"
		"wgmma.wait_group.sync.aligned 0; st.global.v4.u32 [%d4], {%r10, %r11, %r12, %r13}; ret; }\n"));
	emu_set_seed(0);
	ok(run(1, 128, 0));
	for (unsigned i = 0; i < 512; i++)
		assert_int_equal(out[i], i / 4 + i % 4 + 1);
}

static void outside(void **unused)
{
	struct side a = side(128, false, 16), b = a;
	struct capture c;
	CUresult r;

	(void)unused;
	emu_set_seed(0);
	b.sbo = 8192;
	load(kernel(&cases[1], &a, &b, "bar.sync 0;", "wgmma.wait_group.sync.aligned 0;\n"));
	inputs(&cases[1], &a, &a);
	capture_begin(&c, 2);
	r = run(1, 128, 0);
	assert_non_null(strstr(capture_end(&c), "outside the block's shared memory"));
	assert_int_not_equal(r, CUDA_SUCCESS);
	fresh();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products), cmocka_unit_test(mistakes), cmocka_unit_test(unread),
		cmocka_unit_test(outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
