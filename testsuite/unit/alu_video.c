/* SPDX-License-Identifier: Apache-2.0
 *
 * alu_video.c: tests of the video instructions of the emulated device.
 *
 * Scalar forms are worked out by hand; SIMD forms are compared with a loop over
 * lanes for every selector, mask, type and operation.
 */
#include "testsuite/unit/alu_test.h"

static void scalar(void **state)
{
	const uint32_t a = 0x80ff7f01, b = 0x00010203, c = 0x11223344;

	(void)state;
	CHECK(0x81007f04 + 0x200, "vadd.u32.u32.u32 %r1, %r2, %r3;", a, b);
	CHECK(0x104, "vadd.u32.u32.u32 %r1, %r2.b2, %r3.b3;", a, b + 0x05000000);
	CHECK(4, "vadd.s32.s32.u32 %r1, %r2.b2, %r3.b3;", a, b + 0x05000000);
	CHECK(0xffff8100, "vadd.s32.s32.s32 %r1, %r2.h1, %r3.h1;", a, b);
	CHECK(0x1122ff44, "vadd.u32.u32.u32.sat %r1.b1, %r2.b2, %r3.b0, %r4;", a, b, c);
	CHECK(0x112202 << 8 | 0x44, "vadd.u32.u32.u32 %r1.b1, %r2.b2, %r3.b0, %r4;", a, b, c);
	CHECK(0x80443344 - 0x80440000 + 0x81000000, "vadd.u32.u32.u32.sat %r1.h1, %r2.h1, %r3.h1, %r4;", a, b, c);
	CHECK(0x7fff3344, "vsub.s32.u32.s32.sat %r1.h1, %r2.h1, %r3.b0, %r4;", a, b, c);
	CHECK(5 + c, "vabsdiff.u32.s32.s32.add %r1, %r2, %r3, %r4;", 2, (uint32_t)-3, c);
	CHECK(3, "vmin.u32.u32.u32.max %r1, %r2.b0, %r3.b0, %r4;", 9, 2, 3);
	CHECK((uint32_t)-3, "vmin.s32.s32.s32 %r1, %r2.b0, %r3.b0;", 0xfd, 2);
	CHECK(2, "vmax.s32.s32.s32 %r1, %r2.b0, %r3.b0;", 0xfd, 2);
	/* Without .sat the second operation sees all bits of a sum that does not fit. */
	CHECK(0xffffffff, "vadd.u32.u32.u32.min %r1, %r2, %r3, %r4;", 0xffffffff, 2, 0xffffffff);
	CHECK(0x7fffffff, "vadd.s32.s32.s32.sat %r1, %r2, %r3;", 0x7fffffff, 1);
	CHECK(0, "vsub.u32.u32.u32.sat %r1, %r2, %r3;", 1, 2);
	CHECK(0xffffff00, "vshl.u32.s32.u32.clamp %r1, %r2.b0, %r3;", 0xff, 8);
	CHECK(0x1fe, "vshl.u32.u32.u32.wrap %r1, %r2.b0, %r3;", 0xff, 33);
	CHECK(0, "vshl.u32.u32.u32.clamp %r1, %r2, %r3;", 0xff, 40);
	CHECK(0xffffffff, "vshl.u32.u32.u32.sat.clamp %r1, %r2, %r3;", 0xff, 30);
	CHECK(0xffffffff, "vshr.s32.s32.u32.clamp %r1, %r2.h1, %r3;", a, 31);
	CHECK(0x80, "vshr.u32.u32.u32.wrap %r1, %r2.h1, %r3;", a, 8);
	CHECK(1, "vset.s32.u32.lt %r1, %r2, %r3;", (uint32_t)-1, 0);
	CHECK(0, "vset.u32.u32.lt %r1, %r2, %r3;", (uint32_t)-1, 0);
	CHECK(c + 1, "vset.u32.u32.ge.add %r1, %r2.b0, %r3.b0, %r4;", 5, 5, c);
	CHECK(0x01223344, "vset.u32.u32.ne %r1.b3, %r2.b0, %r3.b0, %r4;", 5, 6, c);
	REFUSED("vadd.u32.u32.u32 %r1.b1, %r2, %r3;");
	REFUSED("vadd.u32.u32.u32 %r1, %r2.b10, %r3;");
	REFUSED("vshl.u32.u32.u32 %r1, %r2, %r3;");
}

static void multiply_add(void **state)
{
	(void)state;
	CHECK(47, "vmad.u32.u32.u32 %r1, %r2, %r3, %r4;", 5, 8, 7);
	CHECK((uint32_t)-33, "vmad.s32.u32.u32 %r1, -%r2, %r3, %r4;", 5, 8, 7);
	CHECK(33, "vmad.s32.u32.u32 %r1, %r2, %r3, -%r4;", 5, 8, 7);
	CHECK(48, "vmad.u32.u32.u32.po %r1, %r2, %r3, %r4;", 5, 8, 7);
	CHECK((uint32_t)-4 + 7, "vmad.s32.s32.u32 %r1, %r2.b0, %r3.b1, %r4;", 0xfe, 0x200, 7);
	CHECK(0xffffffff, "vmad.u32.u32.u32.sat %r1, %r2, %r3, %r4;", ~0u, ~0u, ~0u);
	CHECK(0x80000000, "vmad.s32.u32.u32.sat %r1, -%r2, %r3, %r4;", ~0u, ~0u, 0);
	CHECK(0x7fffffff, "vmad.s32.u32.u32.sat %r1, %r2, %r3, -%r4;", ~0u, ~0u, 1);
	CHECK(3, "vmad.u32.u32.u32.shr7 %r1, %r2, %r3, %r4;", 64, 6, 0);
	CHECK((uint32_t)-1, "vmad.s32.s32.s32.shr15 %r1, %r2, %r3, %r4;", (uint32_t)-1, 1, 0);
	REFUSED("vmad.u32.u32.u32.po %r1, -%r2, %r3, %r4;");
	REFUSED("vadd.u32.u32.u32 %r1, -%r2, %r3;");
}

/* ---- SIMD ------------------------------------------------------------------------------ */

static int64_t lane(uint32_t a, uint32_t b, unsigned sel, unsigned bits, bool sgn)
{
	const uint64_t both = (uint64_t)b << 32 | a;
	const int64_t v = (int64_t)(both >> sel * bits & ((1u << bits) - 1));

	return sgn && v >> (bits - 1) ? v - ((int64_t)1 << bits) : v;
}

static int64_t operation(const char *op, int64_t x, int64_t y)
{
	if (!strcmp(op, "vadd"))
		return x + y;
	if (!strcmp(op, "vsub"))
		return x - y;
	if (!strcmp(op, "vabsdiff"))
		return x > y ? x - y : y - x;
	if (!strcmp(op, "vmin"))
		return x < y ? x : y;
	if (!strcmp(op, "vmax"))
		return x > y ? x : y;
	/* vavrg rounds halves away from minus infinity, below zero towards it. */
	return x + y >= 0 ? (x + y + 1) / 2 : -((1 - (x + y)) / 2);
}

static void simd(void **state)
{
	static const char *const ops[] = { "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vavrg" };

	(void)state;
	for (unsigned n = 0; n < 6000; n++) {
		const uint64_t r = alu_test_random();
		const unsigned lanes = r & 1 ? 2 : 4, bits = 32 / lanes, mask = 1 + (unsigned)(r >> 8) % ((1u << lanes) - 1);
		const bool ds = r >> 1 & 1, as = r >> 2 & 1, bs = r >> 3 & 1;
		const unsigned mode = (unsigned)(r >> 4) % 3;
		const char *op = ops[(r >> 16) % 6], letter = lanes == 2 ? 'h' : 'b';
		const uint32_t a = (uint32_t)alu_test_random(), b = (uint32_t)alu_test_random(), c = (uint32_t)(r >> 32);
		unsigned asel[4], bsel[4];
		char text[128], sa[8] = "", sb[8] = "", sm[8] = "";
		uint32_t want = mode == 2 ? c : 0;
		size_t len = 0;

		for (unsigned i = lanes; i-- > 0;) {
			asel[i] = (unsigned)alu_test_random() % (2 * lanes);
			bsel[i] = (unsigned)alu_test_random() % (2 * lanes);
			sa[lanes - 1 - i] = (char)('0' + asel[i]);
			sb[lanes - 1 - i] = (char)('0' + bsel[i]);
			if (mask >> i & 1)
				sm[len++] = (char)('0' + i);
		}
		for (unsigned i = 0; i < lanes; i++) {
			int64_t t = operation(op, lane(a, b, asel[i], bits, as), lane(a, b, bsel[i], bits, bs));
			const int64_t max = ((int64_t)1 << (ds ? bits - 1 : bits)) - 1, min = ds ? -max - 1 : 0;
			const uint32_t field = (uint32_t)((1u << bits) - 1) << (i * bits);

			if (mode == 1)
				t = t > max ? max : t < min ? min : t;
			if (mode == 2)
				want += mask >> i & 1 ? (uint32_t)t : 0;
			else
				want |= mask >> i & 1 ? (uint32_t)t << (i * bits) & field : c & field;
		}
		snprintf(text, sizeof text, "%s%u.%s.%s.%s%s %%r1.%c%s, %%r2.%c%s, %%r3.%c%s, %%r4;", op, lanes,
			 ds ? "s32" : "u32", as ? "s32" : "u32", bs ? "s32" : "u32",
			 mode == 1 ? ".sat" : mode == 2 ? ".add" : "", letter, sm, letter, sa, letter, sb);
		CHECK(want, text, a, b, c);
	}
	/* Sum of absolute differences, as compilers write it. */
	CHECK(100 + 1 + 2 + 3 + 4, "vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r4;", 0x05050505, 0x01080704, 100);
	CHECK(0x00000001, "vset4.u32.u32.eq %r1, %r2, %r3, %r4;", 0x01020304, 0x04030204, 0);
	CHECK(2, "vset2.s32.s32.lt.add %r1, %r2, %r3, %r4;", 0xffffffff, 0x00000001, 0);
	REFUSED("vadd2.u32.u32.u32.sat.add %r1, %r2, %r3, %r4;");
	REFUSED("vadd2.u32.u32.u32 %r1, %r2, %r3;");
	REFUSED("vadd4.u32.u32.u32 %r1, %r2.h10, %r3, %r4;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scalar), cmocka_unit_test(multiply_add), cmocka_unit_test(simd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
