/* SPDX-License-Identifier: Apache-2.0
 *
 * alu_int.c: tests of integer arithmetic, carries, bit operations, comparisons
 * and logic of the emulated device.
 *
 * Expected values come from formulas in wider types, from the ISA's bit-by-bit
 * pseudocode, or are worked out by hand.
 */
#include "testsuite/unit/alu_test.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

static const uint64_t edges[] = {
	0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 100, 255, 256, 0x7f, 0x80, 0x7fff, 0x8000, 0xffff,
	0x10000, 0x12345678, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x123456789abcdef0,
	0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0xfffffffffffffffe,
};

enum { EDGES = sizeof edges / sizeof *edges };

static wide as(uint64_t v, unsigned bits, bool sgn)
{
	v &= bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
	return sgn && v >> (bits - 1) ? (wide)v - ((wide)1 << bits) : (wide)v;
}

static uint64_t cut(wide v, unsigned bits)
{
	return (uint64_t)v & (bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1);
}

/* ---- two operands, every type ---------------------------------------------------- */

struct binary {
	const char *op;
	wide (*f)(wide a, wide b, unsigned bits);
};

static wide f_add(wide a, wide b, unsigned n) { (void)n; return a + b; }
static wide f_sub(wide a, wide b, unsigned n) { (void)n; return a - b; }
static wide f_mul(wide a, wide b, unsigned n) { (void)n; return (wide)((uwide)a * (uwide)b); }
static wide f_min(wide a, wide b, unsigned n) { (void)n; return a < b ? a : b; }
static wide f_max(wide a, wide b, unsigned n) { (void)n; return a > b ? a : b; }
static wide f_div(wide a, wide b, unsigned n) { (void)n; return b ? a / b : -1; }
static wide f_rem(wide a, wide b, unsigned n) { (void)n; return b ? a % b : -1; }

static wide f_hi(wide a, wide b, unsigned n)
{
	/* Unsigned 64 x 64 does not fit a signed 128-bit product, but its bits do. */
	return (wide)((uwide)a * (uwide)b >> n);
}

static void binary_all_types(void **state)
{
	static const struct binary ops[] = {
		{ "add", f_add }, { "sub", f_sub }, { "mul.lo", f_mul }, { "mul.hi", f_hi },
		{ "min", f_min }, { "max", f_max }, { "div", f_div }, { "rem", f_rem },
	};
	static const struct { const char *type, *reg; unsigned bits; bool sgn; } types[] = {
		{ "u16", "%h", 16, false }, { "s16", "%h", 16, true }, { "u32", "%r", 32, false },
		{ "s32", "%r", 32, true }, { "u64", "%d", 64, false }, { "s64", "%d", 64, true },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++) {
		for (unsigned t = 0; t < sizeof types / sizeof *types; t++) {
			const unsigned bits = types[t].bits;
			char text[80];

			snprintf(text, sizeof text, "%s.%s %s1, %s2, %s3;", ops[i].op, types[t].type,
				 types[t].reg, types[t].reg, types[t].reg);
			for (unsigned x = 0; x < EDGES * EDGES; x++) {
				const uint64_t a = cut((wide)edges[x / EDGES], bits);
				const uint64_t b = cut((wide)edges[x % EDGES], bits);
				const wide want = ops[i].f(as(a, bits, types[t].sgn),
							   as(b, bits, types[t].sgn), bits);

				CHECK(cut(want, bits), text, a, b);
			}
		}
	}
}

static void wide_and_mad(void **state)
{
	(void)state;
	for (unsigned x = 0; x < EDGES * EDGES; x++) {
		const uint64_t a = edges[x / EDGES], b = edges[x % EDGES], c = edges[(x * 7) % EDGES];
		const uint64_t r = (uint32_t)a, q = (uint32_t)b, h = (uint16_t)a, g = (uint16_t)b;

		CHECK(r * q, "mul.wide.u32 %d1, %r1, %r2;", r, q);
		CHECK(as(r, 32, true) * as(q, 32, true), "mul.wide.s32 %d1, %r1, %r2;", r, q);
		CHECK((uint32_t)(h * g), "mul.wide.u16 %r1, %h1, %h2;", h, g);
		CHECK((uint32_t)(as(h, 16, true) * as(g, 16, true)), "mul.wide.s16 %r1, %h1, %h2;", h, g);
		CHECK(r * q + c, "mad.wide.u32 %d1, %r1, %r2, %d2;", r, q, c);
		CHECK((uint32_t)(h * g + (uint32_t)c), "mad.wide.u16 %r1, %h1, %h2, %r2;", h, g, (uint32_t)c);
		CHECK((uint32_t)(as(h, 16, true) * as(g, 16, true) + (wide)c),
		      "mad.wide.s16 %r1, %h1, %h2, %r2;", h, g, (uint32_t)c);
		CHECK((uint16_t)(h * g + c), "mad.lo.u16 %h1, %h2, %h3, %h4;", h, g, (uint16_t)c);
		CHECK(cut((as(h, 16, true) * as(g, 16, true) >> 16) + (wide)c, 16),
		      "mad.hi.s16 %h1, %h2, %h3, %h4;", h, g, (uint16_t)c);
		CHECK(a * b + c, "mad.lo.s64 %d1, %d2, %d3, %d4;", a, b, c);
		CHECK(cut(as(r, 32, true) * as(q, 32, true) + (wide)c, 64),
		      "mad.wide.s32 %d1, %r1, %r2, %d2;", r, q, c);
		CHECK(cut(as(r, 32, true) * as(q, 32, true) + (wide)c, 32),
		      "mad.lo.s32 %r1, %r2, %r3, %r4;", r, q, (uint32_t)c);
		CHECK(cut((as(r, 32, true) * as(q, 32, true) >> 32) + (wide)c, 32),
		      "mad.hi.s32 %r1, %r2, %r3, %r4;", r, q, (uint32_t)c);
		CHECK(cut((wide)((uwide)a * b >> 64) + (wide)c, 64),
		      "mad.hi.u64 %d1, %d2, %d3, %d4;", a, b, c);
		CHECK(cut((as(r, 24, true) * as(q, 24, true) >> 16) + (wide)c, 32),
		      "mad24.hi.s32 %r1, %r2, %r3, %r4;", r, q, (uint32_t)c);
		CHECK(cut(as(r, 24, false) * as(q, 24, false), 32), "mul24.lo.u32 %r1, %r2, %r3;", r, q);
	}
}

static void saturation(void **state)
{
	(void)state;
	for (unsigned x = 0; x < EDGES * EDGES; x++) {
		const uint64_t a = (uint32_t)edges[x / EDGES], b = (uint32_t)edges[x % EDGES];
		const wide sum = as(a, 32, true) + as(b, 32, true), dif = as(a, 32, true) - as(b, 32, true);
		const wide hi = as(a, 32, true) * as(b, 32, true) >> 32;
		const wide lim = INT32_MAX, low = INT32_MIN;
		const wide mad = hi + as(b, 32, true);
		/* A third operand near the limits, whatever the product. */
		const uint64_t c = x & 1 ? 0x7fffff00 : 0x800000ff;
		const wide mad24 = (as(a, 24, true) * as(b, 24, true) >> 16) + as(c, 32, true);

		CHECK(cut(sum > lim ? lim : sum < low ? low : sum, 32), "add.sat.s32 %r1, %r2, %r3;", a, b);
		CHECK(cut(dif > lim ? lim : dif < low ? low : dif, 32), "sub.sat.s32 %r1, %r2, %r3;", a, b);
		CHECK(cut(mad > lim ? lim : mad < low ? low : mad, 32),
		      "mad.hi.sat.s32 %r1, %r2, %r3, %r4;", a, b, b);
		CHECK(cut(mad24 > lim ? lim : mad24 < low ? low : mad24, 32),
		      "mad24.hi.sat.s32 %r1, %r2, %r3, %r4;", a, b, c);
	}
	REFUSED("add.sat.u32 %r1, %r2, %r3;");
	REFUSED("mul.sat.lo.s32 %r1, %r2, %r3;");
}

static void unary(void **state)
{
	(void)state;
	CHECK(0x80000000, "abs.s32 %r1, %r2;", 0x80000000);
	CHECK(5, "abs.s32 %r1, %r2;", (uint32_t)-5);
	CHECK(5, "abs.s16 %h1, %h2;", (uint16_t)-5);
	CHECK((uint16_t)-5, "neg.s16 %h1, %h2;", 5);
	CHECK((uint64_t)-5, "neg.s64 %d1, %d2;", 5);
	CHECK(7, "sad.s32 %r1, %r2, %r3, %r4;", (uint32_t)-3, 2, 2);
	CHECK(7, "sad.u32 %r1, %r2, %r3, %r4;", 2, 7, 2);
	CHECK(0x00010000, "sad.s32 %r1, %r2, %r3, %r4;", 0x7fffffff, 0x80000000, 0x10001);
}

static void packed16(void **state)
{
	(void)state;
	CHECK(0x0000ffff, "add.u16x2 %r1, %r2, %r3;", 0xffff0001, 0x0001fffe);
	CHECK(0xffff0001, "min.s16x2 %r1, %r2, %r3;", 0xffff0001, 0x00017fff);
	CHECK(0x00010001, "min.u16x2 %r1, %r2, %r3;", 0xffff0001, 0x00017fff);
	CHECK(0x00000001, "min.s16x2.relu %r1, %r2, %r3;", 0xffff0001, 0x00017fff);
	CHECK(0x00017fff, "max.s16x2 %r1, %r2, %r3;", 0xffff0001, 0x00017fff);
	CHECK(0, "max.relu.s32 %r1, %r2, %r3;", (uint32_t)-4, (uint32_t)-2);
	REFUSED("neg.s16x2 %r1, %r2;");
	REFUSED("sub.s16x2 %r1, %r2, %r3;");
}

static void dot_products(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 500; n++) {
		const uint32_t a = (uint32_t)alu_test_random(), b = (uint32_t)alu_test_random();
		const uint32_t c = (uint32_t)alu_test_random();
		uint32_t ss = c, us = c, uu = c, lo = c, hi = c;

		for (unsigned i = 0; i < 4; i++) {
			const int8_t sa = (int8_t)(a >> 8 * i), sb = (int8_t)(b >> 8 * i);

			ss += (uint32_t)(sa * sb);
			us += (uint32_t)((uint8_t)sa * sb);
			uu += (uint32_t)((uint8_t)sa * (uint8_t)sb);
		}
		for (unsigned i = 0; i < 2; i++) {
			lo += (uint32_t)((int16_t)(a >> 16 * i) * (int8_t)(b >> 8 * i));
			hi += (uint32_t)((int16_t)(a >> 16 * i) * (int)(uint8_t)(b >> (16 + 8 * i)));
		}
		CHECK(ss, "dp4a.s32.s32 %r1, %r2, %r3, %r4;", a, b, c);
		CHECK(us, "dp4a.u32.s32 %r1, %r2, %r3, %r4;", a, b, c);
		CHECK(uu, "dp4a.u32.u32 %r1, %r2, %r3, %r4;", a, b, c);
		CHECK(lo, "dp2a.lo.s32.s32 %r1, %r2, %r3, %r4;", a, b, c);
		CHECK(hi, "dp2a.hi.s32.u32 %r1, %r2, %r3, %r4;", a, b, c);
	}
}

/* ---- carries ------------------------------------------------------------------------- */

/* 128-bit sums, differences and products by chains of 32 and 64-bit instructions. */
static void carry_chains(void **state)
{
	(void)state;
	for (unsigned x = 0; x < EDGES * EDGES; x++) {
		const uint64_t a = edges[x / EDGES], b = edges[x % EDGES], c = edges[(x * 5) % EDGES];
		const uwide sum = ((uwide)c << 64 | a) + ((uwide)a << 64 | b);
		const uwide dif = ((uwide)c << 64 | a) - ((uwide)a << 64 | b);
		uint64_t lo, cf;

		lo = RUN("add.cc.u64 %d1, %d2, %d3;", a, b, 1);
		cf = RUN_I(1, "add.cc.u64 %d1, %d2, %d3;", a, b, 1);
		assert_int_equal(lo, (uint64_t)sum);
		CHECK((uint64_t)(sum >> 64), "addc.u64 %d1, %d2, %d3;", c, a, cf);
		assert_int_equal(RUN_I(1, "addc.u64 %d1, %d2, %d3;", c, a, cf), cf);
		lo = RUN("sub.cc.u64 %d1, %d2, %d3;", a, b, 1);
		cf = RUN_I(1, "sub.cc.u64 %d1, %d2, %d3;", a, b, 1);
		assert_int_equal(lo, (uint64_t)dif);
		CHECK((uint64_t)(dif >> 64), "subc.u64 %d1, %d2, %d3;", c, a, cf);
	}
	for (unsigned n = 0; n < 300; n++) {
		const uint32_t a = (uint32_t)alu_test_random(), b = (uint32_t)alu_test_random();
		const uint64_t c = alu_test_random(), want = (uint64_t)a * b + c;
		const uint64_t cf = RUN_I(1, "mad.lo.cc.u32 %r1, %r2, %r3, %r4;", a, b, (uint32_t)c, 0);

		CHECK((uint32_t)want, "mad.lo.cc.u32 %r1, %r2, %r3, %r4;", a, b, (uint32_t)c, 0);
		CHECK(want >> 32, "madc.hi.u32 %r1, %r2, %r3, %r4;", a, b, c >> 32, cf);
	}
	CHECK(0xffffffffffffffff, "madc.hi.s64 %d1, %d2, %d3, %d4;", (uint64_t)-1, 5, 0, 0);
	CHECK(5, "madc.hi.u64 %d1, %d2, %d3, %d4;", (uint64_t)-1, 5, 0, 1);
	CHECK(0xfffffffb, "madc.lo.s32 %r1, %r2, %r3, %r4;", (uint32_t)-1, 6, 0, 1);
	CHECK(0xfffffffffffffffb, "madc.lo.u64 %d1, %d2, %d3, %d4;", (uint64_t)-1, 6, 0, 1);
	CHECK(0xffffffff, "madc.hi.s32 %r1, %r2, %r3, %r4;", (uint32_t)-1, 5, 0, 0);
	assert_int_equal(RUN_I(1, "addc.cc.u32 %r1, %r2, %r3;", 0xffffffff, 0, 1), 1);
}

/* ---- bits ------------------------------------------------------------------------------- */

static void bfe_bfi(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 4000; n++) {
		const uint64_t a = alu_test_random(), b = alu_test_random();
		const unsigned pos = (unsigned)alu_test_random() % 70, len = (unsigned)alu_test_random() % 70;
		uint64_t ref[4] = { 0 }, ins[2] = { (uint32_t)b, b };

		for (unsigned form = 0; form < 4; form++) {
			const unsigned msb = form & 1 ? 63 : 31;
			const unsigned top = pos + len - 1 < msb ? pos + len - 1 : msb;
			const uint64_t sign = form & 2 && len ? a >> top & 1 : 0;

			for (unsigned i = 0; i <= msb; i++)
				ref[form] |= (i < len && pos + i <= msb ? a >> (pos + i) & 1 : sign) << i;
		}
		for (unsigned form = 0; form < 2; form++) {
			const unsigned msb = form & 1 ? 63 : 31;

			for (unsigned i = 0; i < len && pos + i <= msb; i++) {
				ins[form] &= ~(UINT64_C(1) << (pos + i));
				ins[form] |= (a >> i & 1) << (pos + i);
			}
		}
		CHECK(ref[0], "bfe.u32 %r1, %r2, %r3, %r4;", (uint32_t)a, pos, len);
		CHECK(ref[1], "bfe.u64 %d1, %d2, %r3, %r4;", a, pos, len);
		CHECK(ref[2], "bfe.s32 %r1, %r2, %r3, %r4;", (uint32_t)a, pos, len);
		CHECK(ref[3], "bfe.s64 %d1, %d2, %r3, %r4;", a, pos, len);
		CHECK(ins[0], "bfi.b32 %r1, %r2, %r3, %r4, %r5;", (uint32_t)a, (uint32_t)b, pos, len);
		CHECK(ins[1], "bfi.b64 %d1, %d2, %d3, %r4, %r5;", a, b, pos, len);
	}
}

static void counting(void **state)
{
	(void)state;
	CHECK(32, "clz.b32 %r1, %r2;", 0);
	CHECK(64, "clz.b64 %r1, %d2;", 0);
	CHECK(31, "clz.b32 %r1, %r2;", 1);
	CHECK(33, "popc.b64 %r1, %d2;", 0x1ffffffff);
	CHECK(16, "popc.b32 %r1, %r2;", 0x5555aaaa);
	CHECK(0x80000000, "brev.b32 %r1, %r2;", 1);
	CHECK(0x1e6a2c4800000000, "brev.b64 %d1, %d2;", 0x12345678);
	CHECK(0xffffffff, "bfind.u32 %r1, %r2;", 0);
	CHECK(0xffffffff, "bfind.s32 %r1, %r2;", 0xffffffff);
	CHECK(30, "bfind.s32 %r1, %r2;", 0x80000000);
	CHECK(31, "bfind.u32 %r1, %r2;", 0x80000000);
	CHECK(28, "bfind.shiftamt.u32 %r1, %r2;", 0xf);
	CHECK(62, "bfind.s64 %r1, %d2;", 0x8000000000000000);
	CHECK(5, "fns.b32 %r1, %r2, %r3, %r4;", 0xa8, 0, 2);
	CHECK(3, "fns.b32 %r1, %r2, %r3, %r4;", 0xa8, 5, (uint32_t)-2);
	CHECK(7, "fns.b32 %r1, %r2, %r3, %r4;", 0xa8, 7, 0);
	CHECK(0xffffffff, "fns.b32 %r1, %r2, %r3, %r4;", 0xa8, 6, 0);
	CHECK(0xffffffff, "fns.b32 %r1, %r2, %r3, %r4;", 0xa8, 0, 4);
}

static void masks(void **state)
{
	(void)state;
	for (unsigned a = 0; a < 40; a++) {
		for (unsigned b = 0; b < 40; b++) {
			uint32_t clamp = 0, wrap = 0;

			for (unsigned i = 0; i < 32; i++) {
				clamp |= (i >= a && i < a + b) ? 1u << i : 0;
				wrap |= (i >= a % 32 && i < a % 32 + b % 32) ? 1u << i : 0;
			}
			const uint32_t v = 0x5a3cf096, n = b % 32;
			const uint32_t low = n ? v << (32 - n) : 0;

			if (!a) {
				CHECK(n ? low >> (32 - n) : 0, "szext.wrap.u32 %r1, %r2, %r3;", v, b);
				CHECK(n ? (uint32_t)((int32_t)low >> (32 - n)) : 0, "szext.wrap.s32 %r1, %r2, %r3;", v, b);
			}
			CHECK(clamp, "bmsk.clamp.b32 %r1, %r2, %r3;", a, b);
			CHECK(wrap, "bmsk.wrap.b32 %r1, %r2, %r3;", a, b);
		}
	}
	CHECK(0xfffffff8, "szext.wrap.s32 %r1, %r2, %r3;", 0x78, 36);
	CHECK(0x78, "szext.clamp.s32 %r1, %r2, %r3;", 0x78, 36);
	CHECK(0x8, "szext.wrap.u32 %r1, %r2, %r3;", 0x78, 4);
	CHECK(0, "szext.wrap.s32 %r1, %r2, %r3;", 0x78, 0);
}

static void permute(void **state)
{
	const uint32_t a = 0x83828180, b = 0x77767574;

	(void)state;
	CHECK(0x77838075, "prmt.b32 %r1, %r2, %r3, 0x7305;", a, b);
	CHECK(0x00ff0077, "prmt.b32 %r1, %r2, %r3, 0xc8e7;", a, b);
	CHECK(0x75748382, "prmt.b32.f4e %r1, %r2, %r3, 2;", a, b);
	CHECK(0x75767780, "prmt.b32.b4e %r1, %r2, %r3, 0;", a, b);
	CHECK(0x82828282, "prmt.b32.rc8 %r1, %r2, %r3, 6;", a, b);
	CHECK(0x83828181, "prmt.b32.ecl %r1, %r2, %r3, 1;", a, b);
	CHECK(0x82828180, "prmt.b32.ecr %r1, %r2, %r3, 2;", a, b);
	CHECK(0x83828382, "prmt.b32.rc16 %r1, %r2, %r3, 3;", a, b);
}

/* ---- logic, shifts, mov --------------------------------------------------------------------- */

static void logic(void **state)
{
	(void)state;
	CHECK(0x0f00, "and.b16 %h1, %h2, %h3;", 0xff00, 0x0ff0);
	CHECK(1, "xor.pred %p1, %p2, %p3;", 1, 0);
	CHECK(1, "and.pred %p1, %p2, !%p3;", 1, 0);
	CHECK(0, "not.pred %p1, %p2;", 1);
	CHECK(0xffff0000, "not.b32 %r1, %r2;", 0xffff);
	CHECK(0xff0f, "not.b16 %h1, %h2;", 0x00f0);
	CHECK(1, "cnot.b32 %r1, %r2;", 0);
	CHECK(0, "cnot.b64 %d1, %d2;", UINT64_C(1) << 40);
	for (unsigned n = 0; n < 256; n++) {
		const uint32_t a = (uint32_t)alu_test_random(), b = (uint32_t)alu_test_random();
		const uint32_t c = (uint32_t)alu_test_random();
		uint32_t want = 0;
		char text[96];

		for (unsigned i = 0; i < 32; i++)
			want |= (n >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
		snprintf(text, sizeof text, "lop3.b32 %%r1, %%r2, %%r3, %%r4, %u;", n);
		CHECK(want, text, a, b, c);
	}
	assert_int_equal(RUN_I(1, "lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x80, %p2;", 1, 1, 1, 0), 1);
	assert_int_equal(RUN_I(1, "lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x80, %p2;", 1, 1, 0, 0), 0);
	assert_int_equal(RUN_I(1, "lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x80, %p2;", 1, 1, 0, 1), 1);
	assert_int_equal(RUN_I(1, "lop3.and.b32 _|%p1, %r2, %r3, %r4, 0x80, %p2;", 1, 1, 1, 0), 0);
	assert_int_equal(RUN_I(1, "lop3.and.b32 %r1|%p1, %r2, %r3, %r4, 0x80, !%p2;", 1, 1, 1, 0), 1);
}

static void shifts(void **state)
{
	static const uint32_t amounts[] = { 0, 1, 15, 16, 31, 32, 33, 63, 64, 65, 0x80000000, ~0u };

	(void)state;
	for (unsigned i = 0; i < sizeof amounts / sizeof *amounts; i++) {
		const uint32_t n = amounts[i], a = 0x87654321, b = 0xfedcba98;
		const uint64_t w = 0x8765432112345678, both = (uint64_t)b << 32 | a;
		const uint32_t m = n % 32, k = n < 32 ? n : 32;

		CHECK(n < 32 ? a << n : 0, "shl.b32 %r1, %r2, %r3;", a, n);
		CHECK(n < 16 ? (uint16_t)(a << n) : 0, "shl.b16 %h1, %h2, %r3;", a & 0xffff, n);
		CHECK(n < 64 ? w << n : 0, "shl.b64 %d1, %d2, %r3;", w, n);
		CHECK(n < 64 ? w >> n : 0, "shr.u64 %d1, %d2, %r3;", w, n);
		CHECK((uint32_t)((int32_t)a >> (n < 31 ? n : 31)), "shr.s32 %r1, %r2, %r3;", a, n);
		CHECK(n < 16 ? 0x8765 >> n : 0, "shr.u16 %h1, %h2, %r3;", 0x8765, n);
		CHECK(n < 32 ? a >> n : 0, "shr.b32 %r1, %r2, %r3;", a, n);
		CHECK((uint64_t)((int64_t)w >> (n < 63 ? n : 63)), "shr.s64 %d1, %d2, %r3;", w, n);
		CHECK((uint16_t)((int16_t)0x8765 >> (n < 15 ? n : 15)), "shr.s16 %h1, %h2, %r3;", 0x8765, n);
		CHECK((uint32_t)(both >> m), "shf.r.wrap.b32 %r1, %r2, %r3, %r4;", a, b, n);
		CHECK((uint32_t)(both >> k), "shf.r.clamp.b32 %r1, %r2, %r3, %r4;", a, b, n);
		CHECK((uint32_t)(both << m >> 32), "shf.l.wrap.b32 %r1, %r2, %r3, %r4;", a, b, n);
		CHECK(k == 32 ? a : (uint32_t)(both << k >> 32), "shf.l.clamp.b32 %r1, %r2, %r3, %r4;", a, b, n);
	}
}

static void shift_refusals(void **state)
{
	(void)state;
	REFUSED("shf.l.b32 %r1, %r2, %r3, %r4;");
	REFUSED("shf.wrap.b32 %r1, %r2, %r3, %r4;");
	REFUSED("shl.u32 %r1, %r2, %r3;");
	REFUSED("shr.b32 %r1, %r2;");
}

static void moves(void **state)
{
	const uint64_t *d;

	(void)state;
	CHECK(0x89abcdef, "mov.b32 %r1, %r2;", 0x89abcdef);
	CHECK((uint64_t)-1, "mov.u64 %d1, -1;", 0);
	CHECK(0xffffffff, "mov.u32 %r1, -1;", 0);
	CHECK(0x3f800000, "mov.f32 %r1, 1.0;", 0);
	CHECK(0x3ff0000000000000, "mov.f64 %d1, 1.0;", 0);
	CHECK(0x12345678, "mov.b32 %r1, {%h1, %h2};", 0x5678, 0x1234);
	CHECK(0x1234567889abcdef, "mov.b64 %d1, {%r1, %r2};", 0x89abcdef, 0x12345678);
	CHECK(0x4444333322221111, "mov.b64 %d1, {%h1, %h2, %h3, %h4};", 0x1111, 0x2222, 0x3333, 0x4444);
	CHECK(0x04030201, "mov.b32 %r1, {%b1, %b2, %b3, %b4};", 1, 2, 3, 4);
	CHECK(1, "mov.pred %p1, %p2;", 1);
	CHECK(0xbeef, "mov.b16 %h1, %h2;", 0xbeef);
	d = alu_test_run("mov.b32 {%h1, %h2}, %r1;", (const uint64_t[]){ 0x89abcdef });
	assert_int_equal(d[0], 0xcdef);
	assert_int_equal(d[1], 0x89ab);
	d = alu_test_run("mov.v2.b64 {%d1, %d2}, {%d3, %d4};", (const uint64_t[]){ UINT64_MAX, 6 });
	assert_int_equal(d[0], UINT64_MAX);
	assert_int_equal(d[1], 6);
	d = alu_test_run("mov.b64 {%r1, %r2}, %d1;", (const uint64_t[]){ 0x1234567889abcdef });
	assert_int_equal(d[0], 0x89abcdef);
	assert_int_equal(d[1], 0x12345678);
	d = alu_test_run("mov.b64 {_, %h1, _, %h2}, %d1;", (const uint64_t[]){ 0x1234567889abcdef });
	assert_int_equal(d[1], 0x89ab);
	assert_int_equal(d[3], 0x1234);
	d = alu_test_run("mov.b128 %q1, {%d1, %d2};", (const uint64_t[]){ 5, 6 });
	assert_int_equal(d[0], 5);
	assert_int_equal(d[1], 6);
	d = alu_test_run("mov.b128 {%d1, %d2}, %q1;", (const uint64_t[]){ 7, 8 });
	assert_int_equal(d[0], 7);
	assert_int_equal(d[1], 8);
	d = alu_test_run("mov.v4.b32 {%r1, %r2, _, %r4}, {%r5, 7, %r6, %r7};", (const uint64_t[]){ 1, 2, 3 });
	assert_int_equal(d[0], 1);
	assert_int_equal(d[1], 7);
	assert_int_equal(d[3], 3);
	REFUSED("mov.b32 %r1, {%h1, %h2, %h3};");
	REFUSED("mov.v2.b32 {%r1, %r2}, %r3;");
}

/* ---- comparisons --------------------------------------------------------------------------- */

static void integer_compare(void **state)
{
	(void)state;
	CHECK(1, "setp.lt.s32 %p1, %r1, %r2;", 0xffffffff, 0);
	CHECK(0, "setp.lt.u32 %p1, %r1, %r2;", 0xffffffff, 0);
	CHECK(1, "setp.hi.u32 %p1, %r1, %r2;", 0xffffffff, 0);
	CHECK(1, "setp.ls.u64 %p1, %d1, %d2;", 3, 3);
	CHECK(1, "setp.ge.s16 %p1, %h1, %h2;", 0, 0x8000);
	CHECK(0, "setp.ge.u16 %p1, %h1, %h2;", 0, 0x8000);
	CHECK(1, "setp.ne.b64 %p1, %d1, %d2;", UINT64_C(1) << 63, 0);
	CHECK(1, "setp.eq.b32 %p1, %r1, %r2;", 4, 4);
	CHECK(0, "setp.lt.and.s32 %p1, %r1, %r2, %p2;", 1, 2, 0);
	CHECK(1, "setp.lt.xor.s32 %p1, %r1, %r2, !%p2;", 1, 2, 1);
	assert_int_equal(RUN_I(1, "setp.lt.and.s32 %p1|%p2, %r1, %r2, %p3;", 3, 2, 1), 1);
	assert_int_equal(RUN_I(1, "setp.lt.and.s32 _|%p2, %r1, %r2, %p3;", 3, 2, 0), 0);
	assert_int_equal(RUN_I(1, "setp.eq.or.u32 %p1|%p2, %r1, %r2, %p3;", 3, 3, 1), 1);
	CHECK(0xffffffff, "set.gt.u32.s32 %r1, %r2, %r3;", 1, 0xffffffff);
	CHECK(0x3f800000, "set.gt.f32.u32 %r1, %r2, %r3;", 0xffffffff, 1);
	CHECK(0, "set.gt.and.u32.u32 %r1, %r2, %r3, %p1;", 0xffffffff, 1, 0);
	CHECK(8, "selp.b32 %r1, %r2, %r3, %p1;", 8, 9, 1);
	CHECK(9, "selp.b64 %d1, %d2, %d3, !%p1;", 8, 9, 1);
	CHECK(9, "slct.u32.s32 %r1, %r2, %r3, %r4;", 8, 9, 0x80000000);
	CHECK(8, "slct.u32.s32 %r1, %r2, %r3, %r4;", 8, 9, 0);
	CHECK(9, "slct.b64.f32 %d1, %d2, %d3, %r4;", 8, 9, 0x7fc00000);
	CHECK(9, "slct.b64.f32 %d1, %d2, %d3, %r4;", 8, 9, 0x80000001);
	CHECK(8, "slct.ftz.b64.f32 %d1, %d2, %d3, %r4;", 8, 9, 0x80000001);
	CHECK(8, "slct.b64.f32 %d1, %d2, %d3, %r4;", 8, 9, 0x80000000);
	REFUSED("setp.ltu.s32 %p1, %r1, %r2;");
	REFUSED("setp.lt.ftz.s32 %p1, %r1, %r2;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(binary_all_types), cmocka_unit_test(wide_and_mad),
		cmocka_unit_test(saturation), cmocka_unit_test(unary), cmocka_unit_test(packed16),
		cmocka_unit_test(dot_products), cmocka_unit_test(carry_chains),
		cmocka_unit_test(bfe_bfi), cmocka_unit_test(counting), cmocka_unit_test(masks),
		cmocka_unit_test(permute), cmocka_unit_test(logic), cmocka_unit_test(shifts),
		cmocka_unit_test(moves), cmocka_unit_test(shift_refusals),
		cmocka_unit_test(integer_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
