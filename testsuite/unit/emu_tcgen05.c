/* SPDX-License-Identifier: Apache-2.0
 *
 * emu_tcgen05.c: tensor memory on the emulated device, and products in it.
 */
#include "emu_matrix.h"

struct test {
	const char *kind;
	enum type d, a, b;
	unsigned m, n, span_a, span_b;
	bool a_mn, b_mn, a_neg, ws;
};

static const struct test cases[] = {
	{"f16", F32, F16, F16, 128, 64, 128, 128, 0, 0, 0, 0},
	{"f16", F32, BF16, BF16, 128, 96, 64, 32, 0, 0, 1, 0},
	{"f16", F32, F16, F16, 64, 128, 0, 0, 0, 0, 0, 0},
	{"f16", F32, F16, BF16, 128, 32, 128, 64, 1, 1, 0, 0},
	{"f16", F32, F16, F16, 64, 64, 0, 0, 1, 1, 0, 0},
	{"tf32", F32, TF32, TF32, 128, 48, 32, 128, 0, 0, 0, 0},
	{"f8f6f4", F32, E5M2, E4M3, 128, 64, 64, 64, 0, 0, 0, 0},
	{"i8", S32, S8, U8, 128, 64, 128, 0, 0, 0, 0, 0},
	{"f16", F16, F16, F16, 128, 64, 128, 128, 0, 0, 0, 0},
	{"f16", F32, F16, F16, 128, 64, 128, 128, 0, 0, 0, 1},
	{"f16", F32, BF16, F16, 64, 64, 64, 128, 0, 0, 1, 1},
	{"f8f6f4", F16, E4M3, E5M2, 64, 128, 128, 128, 0, 0, 0, 1},
	{"tf32", F32, TF32, TF32, 32, 128, 128, 128, 0, 0, 0, 1},
};

static unsigned depth(const struct test *t)
{
	return 32 / types[t->a].bytes;
}

static uint64_t descriptor(const struct side *s)
{
	uint64_t mode = s->span == 128 ? 2 : s->span == 64 ? 4 : s->span == 32 ? 6 : 0;

	return (uint64_t)(s->lbo >> 4) << 16 | (uint64_t)(s->sbo >> 4) << 32 | UINT64_C(1) << 46 |
	       mode << 61;
}

/* PTX ISA, "Instruction descriptor". */
static uint32_t idesc(const struct test *t)
{
	static const uint8_t format[] = {[F16] = 0, [BF16] = 1, [TF32] = 2, [E4M3] = 0, [E5M2] = 1,
					 [S8] = 1, [U8] = 0};

	return (t->d == S32 ? 2u : t->d == F16 ? 0 : 1u) << 4 | (uint32_t)format[t->a] << 7 | (uint32_t)format[t->b] << 10 |
	       (uint32_t)t->a_neg << 13 | (uint32_t)t->a_mn << 15 | (uint32_t)t->b_mn << 16 |
	       (t->n / 8) << 17 | (t->m / 16) << 24;
}

#define BEGIN(directives) PTX(".visible .entry k(.param .u64 p) " directives " {\n" \
	".shared .align 1024 .b8 sm[49152]; .shared .align 8 .b64 bar; .shared .b32 slot;\n" \
	".reg .b32 %r<40>; .reg .b64 %d<20>; .reg .pred %p<6>; .reg .b32 %x<128>;\n" \
	"ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r30, sm; mov.u32 %r31, bar; mov.u32 %r5, 0;\n" \
	"setp.eq.u32 %p0, %r0, 0; setp.lt.u32 %p1, %r0, 32; mov.u32 %r9, %ctaid.x; mul.wide.u32 %d9, %r9, 49152; add.u64 %d9, %d9, %d0;\n" \
	"@%p0 mbarrier.init.shared.b64 [%r31], 1; mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d1, %d9; shl.b32 %r1, %r0, 2; add.u32 %r1, %r1, %r30;\n" \
	"F: ld.global.u32 %r2, [%d1]; st.shared.u32 [%r1], %r2; add.u64 %d1, %d1, 512; add.u32 %r1, %r1, 512;\n" \
	"add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 96; @%p2 bra F;\n" \
	"@!%p1 bra A; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 256;\n" \
	"tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; A: fence.proxy.async; bar.sync 0;\n" \
	"ld.shared.u32 %r3, [slot]; and.b32 %r4, %r0, 96; shl.b32 %r4, %r4, 16; add.u32 %r4, %r4, %r3;\n" \
	"and.b32 %r6, %r30, 0x3ffff; shr.u32 %r6, %r6, 4; cvt.u64.u32 %d3, %r6;\n")
#define COMMIT "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r31];\n"
#define WAIT "W: mbarrier.try_wait.parity.shared.b64 %p3, [%r31], 0; @!%p3 bra W; tcgen05.fence::after_thread_sync;\n"
#define FREE "bar.sync 0; @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 256; ret; }\n"

/* 32 columns from `first` on, to out + 192 KiB + 128 * (the thread + 128 * turn) bytes. */
static char *read_columns(char *p, unsigned first, unsigned turn)
{
	p += sprintf(p, "tcgen05.ld.sync.aligned.32x32b.x32.b32 {");
	for (unsigned i = 0; i < 32; i++)
		p += sprintf(p, i ? ",%%x%u" : "%%x%u", i);
	p += sprintf(p, "}, [%%r4+%u]; tcgen05.wait::ld.sync.aligned;\n"
		     "mul.wide.u32 %%d6, %%r0, 128; add.u64 %%d6, %%d6, %%d0; add.u64 %%d6, %%d6, %u;\n", first,
		     196608 + turn * 16384);
	for (unsigned i = 0; i < 32; i++)
		p += sprintf(p, "st.global.u32 [%%d6+%u], %%x%u;\n", 4 * i, i);
	return p;
}

static uint32_t bits_of_sum(enum type d, int sum)
{
	float f = (float)sum;
	uint32_t u;

	memcpy(&u, &f, 4);
	return d == S32 ? (uint32_t)sum : d == F16 ? (uint32_t)bits_of(F16, sum) : u;
}

/* Rows of D are right in their lanes: the product, twice.  By .ws its columns' halves or quarters have lanes of
 * their own. */
static bool right(const struct test *t)
{
	unsigned columns = t->ws ? t->n * t->m / 128 : t->n;

	for (unsigned r = 0; r < t->m; r++)
		for (unsigned c = 0; c < t->n; c++) {
			unsigned lane = t->m == 64 && !t->ws ? r / 16 * 32 + r % 16 : r + c / columns * t->m;
			uint32_t got = out[49152 + lane * 32 + c % columns];
			int sum = 0;

			if (c % columns >= 32)
				continue;
			for (unsigned k = 0; k < depth(t); k++)
				sum += value(t->a, r, k) * value(t->b, c, k);
			sum *= t->a_neg ? -2 : 2;
			if (got != bits_of_sum(t->d, sum) && (sum || got & 0x7fffffff))
				return false;
		}
	return true;
}

static const char *kernel(const struct test *t, const struct side *a, const struct side *b,
			  const char *last)
{
	static char text[32768];
	char *p = text;

	p += sprintf(p, "%s", BEGIN(""));
	p += sprintf(p, "or.b64 %%d4, %%d3, 0x%llx; add.u64 %%d5, %%d3, 1536; or.b64 %%d5, %%d5, 0x%llx; @!%%p0 bra W;\n"
		     "setp.ne.u32 %%p4, %%r0, %%r0; mov.u32 %%r7, 0x%x;\n"
		     "tcgen05.mma%s.cta_group::1.kind::%s [%%r3], %%d4, %%d5, %%r7, %%p4;\n"
		     "tcgen05.mma%s.cta_group::1.kind::%s [%%r3], %%d4, %%d5, %%r7, 1;\n",
		     (unsigned long long)descriptor(a), (unsigned long long)descriptor(b), idesc(t),
		     t->ws ? ".ws" : "", t->kind, t->ws ? ".ws" : "", t->kind);
	p += sprintf(p, "%s", COMMIT);
	p += sprintf(p, "%s", last);
	p = read_columns(p, 0, 0);
	strcpy(p, FREE);
	return text;
}

static void inputs(const struct test *t, const struct side *a, const struct side *b)
{
	memset(out, 0, OUT_WORDS * 4);
	lay((uint8_t *)out, a, t->a, t->m, depth(t));
	lay((uint8_t *)out + 24576, b, t->b, t->n, depth(t));
}

static void products(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct test *t = &cases[i];
		struct side a = side(t->span_a, t->a_mn, depth(t)), b = side(t->span_b, t->b_mn, depth(t));

		load(kernel(t, &a, &b, WAIT));
		for (unsigned seed = 0; seed < 4; seed++) {
			emu_set_seed(seed);
			inputs(t, &a, &b);
			ok(run(1, 128, 0));
			if (!right(t))
				fail_msg("case %u, seed %u", i, seed);
		}
	}
}

/* The result is looked at without waiting for the commit. */
static void unwaited(void **unused)
{
	const struct test *t = &cases[0];
	struct side a = side(t->span_a, t->a_mn, depth(t)), b = side(t->span_b, t->b_mn, depth(t));
	unsigned wrong = 0;

	(void)unused;
	load(kernel(t, &a, &b, "mov.u32 %r8, 0; S: add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, 300; @%p3 bra S; W:\n"));
	for (unsigned seed = 0; seed < 30; seed++) {
		emu_set_seed(seed);
		inputs(t, &a, &b);
		ok(run(1, 128, 0));
		wrong += !right(t);
	}
	assert_true(wrong > 3 && wrong < 30);
}

/* Stores, loads of two shapes, and a copy from shared memory. */
static void moves(void **unused)
{
	static char text[32768];
	char *p = text;
	struct side s = side(32, false, 32);

	(void)unused;
	p += sprintf(p, "%s", BEGIN(""));
	for (unsigned i = 0; i < 8; i++)
		p += sprintf(p, "mad.lo.u32 %%x%u, %%r0, 1000, %u;\n", i, i);
	p += sprintf(p, "tcgen05.st.sync.aligned.32x32b.x8.b32 [%%r4+40], {%%x0,%%x1,%%x2,%%x3,%%x4,%%x5,%%x6,%%x7};\n"
		     "tcgen05.wait::st.sync.aligned; or.b64 %%d4, %%d3, 0x%llx; add.u32 %%r7, %%r3, 96;\n"
		     "@%%p0 tcgen05.cp.cta_group::1.128x256b [%%r7], %%d4; @%%p0 %s%s",
		     (unsigned long long)descriptor(&s), COMMIT, WAIT);
	p = read_columns(p, 32, 0);
	p = read_columns(p, 96, 1);
	p += sprintf(p, "tcgen05.ld.sync.aligned.16x256b.x1.b32 {%%x0,%%x1,%%x2,%%x3}, [%%r4+40]; tcgen05.wait::ld.sync.aligned;\n"
		     "mul.wide.u32 %%d6, %%r0, 16; add.u64 %%d6, %%d6, %%d0;\n"
		     "st.global.v4.u32 [%%d6+229376], {%%x0,%%x1,%%x2,%%x3};\n");
	strcpy(p, FREE);
	load(text);
	for (unsigned seed = 0; seed < 4; seed++) {
		emu_set_seed(seed);
		memset(out, 0, OUT_WORDS * 4);
		for (unsigned r = 0; r < 128; r++)
			for (unsigned c = 0; c < 8; c++) {
				uint32_t v = r << 16 | c;

				memcpy((uint8_t *)out + place(32, false, 4, 0, 256, r, c), &v, 4);
			}
		ok(run(1, 128, 0));
		for (unsigned t = 0; t < 128; t++)
			for (unsigned c = 0; c < 8; c++) {
				assert_int_equal(out[49152 + t * 32 + 8 + c], t * 1000 + c);
				assert_int_equal(out[53248 + t * 32 + c], t << 16 | c);
			}
		for (unsigned t = 0; t < 128; t++)
			for (unsigned i = 0; i < 4; i++)
				assert_int_equal(out[57344 + t * 4 + i],
						 (t / 32 * 32 + t % 32 / 4 + i / 2 * 8) * 1000 + t % 4 * 2 + i % 2);
	}
}

/* A word of a warp's 32 lanes and eight columns, as in_shape stores it. */
static uint32_t stored(unsigned row, unsigned column)
{
	return (row << 4 | column) * 0x10001;
}

/* Registers 0 and 1 of a lane, by each shape, loaded, or stored over that and looked at by rows.  Two
 * columns in a register are the lower halves of both.  (PTX ISA, tcgen05.ld; CUTLASS, copy_traits_sm100.hpp) */
static void in_shape(const char *shape, const char *how, const char *split, bool store, bool packed)
{
	static char text[32768];
	char *p = text;

	p += sprintf(p, "%s and.b32 %%r7, %%r0, 31; shl.b32 %%r7, %%r7, 4;\n", BEGIN(""));
	for (unsigned i = 0; i < 8; i++)
		p += sprintf(p, "add.u32 %%x%u, %%r7, %u; mad.lo.u32 %%x%u, %%x%u, 0x10000, %%x%u;\n", i, i, i, i, i);
	p += sprintf(p, "tcgen05.st.sync.aligned.32x32b.x8.b32 [%%r4], {%%x0,%%x1,%%x2,%%x3,%%x4,%%x5,%%x6,%%x7};\n"
		     "tcgen05.wait::st.sync.aligned; mul.wide.u32 %%d6, %%r0, 32; add.u64 %%d6, %%d6, %%d0;\n"
		     "add.u32 %%x0, %%r0, 0x10000; add.u32 %%x1, %%r0, 0x20000;\n");
	if (store)
		p += sprintf(p, "tcgen05.st.sync.aligned.%s.x2%s.b32 [%%r4]%s, {%%x0,%%x1}; tcgen05.wait::st.sync.aligned;\n"
			     "tcgen05.ld.sync.aligned.32x32b.x8.b32 {%%x0,%%x1,%%x2,%%x3,%%x4,%%x5,%%x6,%%x7}, [%%r4];\n",
			     shape, packed ? how : "", split);
	else
		p += sprintf(p, "tcgen05.ld.sync.aligned.%s.x2%s.b32 {%%x0,%%x1}, [%%r4]%s;\n", shape, packed ? how : "", split);
	p += sprintf(p, "tcgen05.wait::ld.sync.aligned;\n");
	for (unsigned i = 0; i < (store ? 8 : 2); i++)
		p += sprintf(p, "st.global.u32 [%%d6+%u], %%x%u;\n", 4 * i, i);
	strcpy(p, FREE);
	load(text);
}

static void shapes(void **unused)
{
	static const struct { const char *name, *split; } by[] = {{"32x32b", ""}, {"16x64b", ""}, {"16x32bx2", ", 4"}};

	(void)unused;
	for (unsigned i = 0; i < 12; i++) {
		bool store = i & 1, packed = i & 2;
		uint32_t want[1024];

		in_shape(by[i / 4].name, store ? ".unpack::16b" : ".pack::16b", by[i / 4].split, store, packed);
		for (unsigned l = 0; l < 128; l++)
			for (unsigned c = 0; c < 8; c++)
				want[l * 8 + c] = stored(l % 32, c);
		for (unsigned l = 0; l < 128; l++)
			for (unsigned r = 0; r < 2; r++) {
				unsigned row = i < 4 ? l % 32 : i < 8 ? l % 32 / 4 + l % 2 * 8 : l % 16;
				unsigned column = i < 4 || i >= 8 ? r : l / 2 % 2 + 2 * r, split = i >= 8 ? l / 16 % 2 * 4 : 0;
				uint32_t v = l + (r + 1) * 0x10000, *to = want + (l / 32 * 32 + row) * 8 + split;

				column *= 1 + packed;
				if (!store)
					want[l * 8 + r] = packed ? (stored(row, column + split) & 0xffff) |
						stored(row, column + split + 1) << 16 : stored(row, column + split);
				else if (packed)
					to[column] = v & 0xffff, to[column + 1] = v >> 16;
				else
					to[column] = v;
			}
		for (unsigned seed = 0; seed < 4; seed++) {
			emu_set_seed(seed);
			memset(out, 0, OUT_WORDS * 4);
			ok(run(1, 128, 0));
			for (unsigned l = 0; l < 128; l++)
				for (unsigned c = 0; c < (store ? 8 : 2); c++)
					if (out[l * 8 + c] != want[l * 8 + c])
						fail_msg("case %u, thread %u, word %u: %x, not %x", i, l, c, out[l * 8 + c],
							 want[l * 8 + c]);
		}
	}
}

/* Two blocks: each has its half of A and half of B, and gets its rows of D; of 64 rows the second half of
 * the columns in lanes of its own. */
static void pair(unsigned rows)
{
	const struct test t = {"f16", F32, F16, F16, 2 * rows, 64, 128, 128, 0, 0, 0, 0};
	struct side s = side(128, false, 16);
	unsigned columns = rows == 128 ? 64 : 32;
	static char text[32768];
	char *p = text;

	p += sprintf(p, "%s", BEGIN(".explicitcluster .reqnctapercluster 2"));
	p += sprintf(p, "or.b64 %%d4, %%d3, 0x%llx; add.u64 %%d5, %%d3, 1536; or.b64 %%d5, %%d5, 0x%llx;\n"
		     "barrier.cluster.arrive; barrier.cluster.wait; setp.ne.u32 %%p4, %%r9, 0; @%%p4 bra W; @!%%p0 bra W;\n"
		     "mov.u32 %%r7, 0x%x; mov.u16 %%h0, 3; tcgen05.mma.cta_group::2.kind::f16 [%%r3], %%d4, %%d5, %%r7, 0;\n"
		     "tcgen05.mma.cta_group::2.kind::f16 [%%r3], %%d4, %%d5, %%r7, 1;\n"
		     "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%%r31], %%h0;\n%s",
		     (unsigned long long)descriptor(&s), (unsigned long long)descriptor(&s), idesc(&t), WAIT);
	/* each block's rows to a place of its own */
	p += sprintf(p, "mul.wide.u32 %%d8, %%r9, 32768; add.u64 %%d0, %%d0, %%d8;\n");
	p = read_columns(p, 0, 0);
	p = read_columns(p, 32, 1);
	strcpy(p, "barrier.cluster.arrive; barrier.cluster.wait;" FREE);
	while ((p = strstr(text, "cta_group::1")))
		p[11] = '2';
	p = strstr(text, ".reg .b32 %r<40>;");
	memmove(p + 17, p, strlen(p) + 1);
	memcpy(p, ".reg .b16 %h<2>; ", 17);
	load(text);
	for (unsigned seed = 0; seed < 4; seed++) {
		emu_set_seed(seed);
		memset(out, 0, OUT_WORDS * 4);
		for (unsigned h = 0; h < 2; h++) {
			uint8_t *base = (uint8_t *)out + h * 49152;

			for (unsigned k = 0; k < 16; k++) {
				for (unsigned r = 0; r < rows; r++) {
					uint32_t v = bits_of(F16, value(F16, h * rows + r, k));

					memcpy(base + place(128, false, 2, 0, 1024, r, k), &v, 2);
				}
				for (unsigned r = 0; r < 32; r++) {
					uint32_t v = bits_of(F16, value(F16, h * 32 + r, k));

					memcpy(base + 24576 + place(128, false, 2, 0, 1024, r, k), &v, 2);
				}
			}
		}
		ok(run(2, 128, 0));
		for (unsigned r = 0; r < 2 * rows; r++)
			for (unsigned c = 0; c < 64; c++) {
				unsigned lane = r % rows + c / columns * rows, at = c % columns;
				int sum = 0;

				for (unsigned k = 0; k < 16; k++)
					sum += value(F16, r, k) * value(F16, c, k);
				assert_int_equal(out[49152 + r / rows * 8192 + at / 32 * 4096 + lane * 32 + at % 32],
						 bits_of_sum(F32, 2 * sum));
			}
	}
}

static void pairs(void **unused)
{
	(void)unused;
	pair(128);
	pair(64);
}

static void faults(void **unused)
{
	static const struct { const char *text, *message; } wrong[] = {
		{"add.u32 %r7, %r4, 250; tcgen05.ld.sync.aligned.32x32b.x8.b32 {%x0,%x1,%x2,%x3,%x4,%x5,%x6,%x7}, [%r7];\n" FREE,
		 "which are not allocated"},
		{"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%x0}, [%r3];\n" FREE, "has no access"},
		{"@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;" FREE, "given that up"},
		{"mov.u32 %r7, 0x8080000; tcgen05.mma.cta_group::1.kind::tf32 [%r3], %d3, %d3, %r7, 1;" FREE,
		 "accumulators of such a type"},
		{"mov.u32 %r7, 0x8080010; add.u32 %r8, %r3, 0x100000; tcgen05.mma.cta_group::1.kind::f16 [%r8], %d3, %d3, %r7, 1;" FREE,
		 "lane 16 of tensor memory"},
		{"mov.u32 %r7, 0x88880480;"
		 "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%r3], %d3, %d3, %r7, [%r3], [%r3], 1;" FREE,
		 "packed elements"},
	};

	(void)unused;
	emu_set_seed(0);
	for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		static char text[8192];
		struct capture c;
		CUresult r;

		sprintf(text, "%s%s", BEGIN(""), wrong[i].text);
		load(text);
		capture_begin(&c, 2);
		r = run(1, 128, 0);
		if (!strstr(capture_end(&c), wrong[i].message))
			fail_msg("case %u: %s", i, c.text);
		assert_int_not_equal(r, CUDA_SUCCESS);
	}
	fresh();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products), cmocka_unit_test(unwaited), cmocka_unit_test(moves),
		cmocka_unit_test(shapes), cmocka_unit_test(pairs), cmocka_unit_test(faults),
	};

	emu_set_device(100);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
