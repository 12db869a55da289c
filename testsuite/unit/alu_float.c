/* SPDX-License-Identifier: Apache-2.0
 *
 * alu_float.c: tests of .f32, .f64, .f16 and .bf16 arithmetic of the emulated
 * device.
 *
 * Directed roundings are checked against exact results in long double, which
 * the test rounds itself by trying neighbours; 16-bit results against a search
 * through all values of the format.
 */
#include "testsuite/unit/alu_test.h"

#include <math.h>

static uint32_t fb(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof u);
	return u;
}

static float ff(uint64_t v)
{
	uint32_t u = (uint32_t)v;
	float f;

	memcpy(&f, &u, sizeof f);
	return f;
}

static uint64_t db(double f)
{
	uint64_t u;

	memcpy(&u, &f, sizeof u);
	return u;
}


/* A float of moderate size with a full mantissa. */
static float some_float(void)
{
	const uint32_t r = (uint32_t)alu_test_random();

	return ff((r & 0x807fffff) | (112 + (r >> 23 & 31)) << 23);
}

/* ---- directed rounding ----------------------------------------------------------- */

static float round_float(long double v, char mode)
{
	float f = (float)v, down = f, up = f;

	if ((long double)f > v)
		down = nextafterf(f, -INFINITY);
	if ((long double)f < v)
		up = nextafterf(f, INFINITY);
	switch (mode) {
	case 'm': return down;
	case 'p': return up;
	case 'z': return v > 0 ? down : up;
	}
	return f;
}

static double round_double(long double v, char mode)
{
	double f = (double)v, down = f, up = f;

	if ((long double)f > v)
		down = nextafter(f, -(double)INFINITY);
	if ((long double)f < v)
		up = nextafter(f, (double)INFINITY);
	switch (mode) {
	case 'm': return down;
	case 'p': return up;
	case 'z': return v > 0 ? down : up;
	}
	return f;
}

static void rounding_modes(void **state)
{
	static const char modes[] = "nzmp";

	(void)state;
	for (unsigned m = 0; m < 4; m++) {
		char add[64], sub[64], mul[64], fma[64], div[64], rcp[64], sqr[64], dadd[64], dmul[64];
		const char r = modes[m];

		snprintf(add, sizeof add, "add.r%c.f32 %%r1, %%r2, %%r3;", r);
		snprintf(sub, sizeof sub, "sub.r%c.f32 %%r1, %%r2, %%r3;", r);
		snprintf(mul, sizeof mul, "mul.r%c.f32 %%r1, %%r2, %%r3;", r);
		snprintf(fma, sizeof fma, "fma.r%c.f32 %%r1, %%r2, %%r3, %%r4;", r);
		snprintf(div, sizeof div, "div.r%c.f32 %%r1, %%r2, %%r3;", r);
		snprintf(rcp, sizeof rcp, "rcp.r%c.f32 %%r1, %%r2;", r);
		snprintf(sqr, sizeof sqr, "sqrt.r%c.f32 %%r1, %%r2;", r);
		snprintf(dadd, sizeof dadd, "add.r%c.f64 %%d1, %%d2, %%d3;", r);
		snprintf(dmul, sizeof dmul, "mul.r%c.f64 %%d1, %%d2, %%d3;", r);
		for (unsigned n = 0; n < 400; n++) {
			const float a = some_float(), b = some_float(), c = a * b * 0x1p-9f;
			const long double la = (long double)a, lb = (long double)b, q = la / lb;
			/* 27 bits each: their product and sum are exact in 64. */
			const double x = (double)a + (double)b * 0x1p-4, y = (double)(float)(a + b) * 3;

			CHECK(fb(round_float(la + lb, r)), add, fb(a), fb(b));
			CHECK(fb(round_float(la - lb, r)), sub, fb(a), fb(b));
			CHECK(fb(round_float(la * lb, r)), mul, fb(a), fb(b));
			CHECK(fb(round_float(la * lb + (long double)c, r)), fma, fb(a), fb(b), fb(c));
			/* No quotient of two floats is so near to a third that 64 bits do not show
			 * on which side, except when it is exact. */
			CHECK(fb(round_float(q, r)), div, fb(a), fb(b));
			CHECK(fb(round_float(1 / lb, r)), rcp, fb(b));
			CHECK(fb(round_float(sqrtl(fabsl(la)), r)), sqr, fb(fabsf(a)));
			CHECK(db(round_double((long double)x + (long double)y, r)), dadd, db(x), db(y));
			CHECK(db(round_double((long double)a * (long double)y, r)), dmul, db((double)a), db(y));
		}
	}
	/* The mode is put back: 1 + 2^-24 ties to even. */
	CHECK(fb(1.0f), "add.f32 %r1, %r2, %r3;", fb(1.0f), fb(0x1p-24f));
}

static void special_values(void **state)
{
	const uint32_t inf = fb(INFINITY), nan = 0x7fc12345, one = fb(1);

	(void)state;
	CHECK(0x7fffffff, "add.f32 %r1, %r2, %r3;", nan, one);
	CHECK(0x7fffffff, "sub.f32 %r1, %r2, %r3;", inf, inf);
	CHECK(0x7fffffff, "mul.rn.f32 %r1, %r2, %r3;", 0, inf);
	CHECK(0x7fffffff, "fma.rn.f32 %r1, %r2, %r3, %r4;", 0x80000000 | nan, one, one);
	CHECK(0x7fffffff, "sqrt.rn.f32 %r1, %r2;", fb(-1));
	CHECK(inf, "rcp.rn.f32 %r1, %r2;", 0);
	CHECK(0x80000000 | inf, "div.rn.f32 %r1, %r2, %r3;", one, 0x80000000);
	CHECK(fb(-2), "neg.f32 %r1, %r2;", fb(2));
	CHECK(fb(2), "abs.f32 %r1, %r2;", fb(-2));
	CHECK(db(2), "abs.f64 %d1, %d2;", db(-2));
	CHECK(db(-2), "neg.f64 %d1, %d2;", db(2));
	CHECK(fb(-3), "copysign.f32 %r1, %r2, %r3;", fb(-1), fb(3));
	CHECK(db(3), "copysign.f64 %d1, %d2, %d3;", db(1), db(-3));
	CHECK(fb(2.5f), "mad.rn.f32 %r1, %r2, %r3, 0f3F000000;", fb(1), fb(2));
	CHECK(fb(1.5f), "add.f32 %r1, %r2, 0.5;", fb(1));
	CHECK(db(7), "fma.rn.f64 %d1, %d2, %d3, %d4;", db(2), db(3), db(1));
	CHECK(db(1 + 0x1p-52), "fma.rp.f64 %d1, %d2, %d3, %d4;", db(1), db(1), db(0x1p-1000));
}

static void flush_and_saturate(void **state)
{
	const uint32_t tiny = 0x00000001, sub = 0x007fffff, min = 0x00800000;

	(void)state;
	CHECK(sub + tiny, "add.f32 %r1, %r2, %r3;", sub, tiny);
	CHECK(0, "add.ftz.f32 %r1, %r2, %r3;", sub, tiny);
	CHECK(min, "add.ftz.f32 %r1, %r2, %r3;", min, sub);
	CHECK(0, "mul.ftz.f32 %r1, %r2, %r3;", min, fb(0.5f));
	CHECK(0x00400000, "mul.f32 %r1, %r2, %r3;", min, fb(0.5f));
	CHECK(0x80000000, "mul.ftz.f32 %r1, %r2, %r3;", min, fb(-0.5f));
	CHECK(fb(INFINITY), "rcp.rn.ftz.f32 %r1, %r2;", sub);
	CHECK(0x80000000, "neg.ftz.f32 %r1, %r2;", sub);
	CHECK(0, "abs.ftz.f32 %r1, %r2;", 0x80000001);
	CHECK(fb(1), "add.sat.f32 %r1, %r2, %r3;", fb(1), fb(2));
	CHECK(0, "add.sat.f32 %r1, %r2, %r3;", fb(-1), fb(-2));
	CHECK(0, "add.sat.f32 %r1, %r2, %r3;", 0x80000000, 0x80000000);
	CHECK(0, "mul.sat.f32 %r1, %r2, %r3;", 0x7fc00000, fb(-2));
	CHECK(fb(0.25f), "fma.rn.sat.f32 %r1, %r2, %r3, %r4;", fb(0.5f), fb(0.5f), 0);
	CHECK(fb(1), "fma.rz.ftz.sat.f32 %r1, %r2, %r3, %r4;", fb(INFINITY), fb(0.5f), 0);
	CHECK(1, "setp.eq.ftz.f32 %p1, %r1, %r2;", sub, 0x80000000);
	CHECK(0, "setp.eq.f32 %p1, %r1, %r2;", sub, 0x80000000);
	REFUSED("add.ftz.f64 %d1, %d2, %d3;");
	REFUSED("fma.f32 %r1, %r2, %r3, %r4;");
	REFUSED("div.f64 %d1, %d2, %d3;");
	REFUSED("add.sat.f64 %d1, %d2, %d3;");
}

static void mixed_and_packed(void **state)
{
	(void)state;
	CHECK(fb(3.5f), "add.f32.f16 %r1, %h1, %r2;", 0x3e00, fb(2));
	CHECK(fb(-0.5f), "sub.f32.bf16 %r1, %h1, %r2;", 0x3fc0, fb(2));
	CHECK(fb(5), "fma.rn.f32.f16 %r1, %h1, %h2, %r2;", 0x3e00, 0x4000, fb(2));
	CHECK((uint64_t)fb(6) << 32 | fb(3), "add.f32x2 %d1, %d2, %d3;",
	      (uint64_t)fb(4) << 32 | fb(1), (uint64_t)fb(2) << 32 | fb(2));
	CHECK((uint64_t)fb(9) << 32 | fb(5), "fma.rn.f32x2 %d1, %d2, %d3, %d4;",
	      (uint64_t)fb(4) << 32 | fb(1), (uint64_t)fb(2) << 32 | fb(2), (uint64_t)fb(1) << 32 | fb(3));
	CHECK((uint64_t)fb(1) << 32, "mul.rz.ftz.f32x2 %d1, %d2, %d3;",
	      (uint64_t)fb(2) << 32 | 0x7fffff, (uint64_t)fb(0.5f) << 32 | fb(1));
}

static void min_max(void **state)
{
	const uint32_t nan = 0x7fc00001, neg0 = 0x80000000;

	(void)state;
	CHECK(neg0, "min.f32 %r1, %r2, %r3;", 0, neg0);
	CHECK(0, "max.f32 %r1, %r2, %r3;", neg0, 0);
	CHECK(fb(-1), "min.f32 %r1, %r2, %r3;", fb(-1), fb(3));
	CHECK(fb(-1), "max.f32 %r1, %r2, %r3;", fb(-1), fb(-3));
	CHECK(fb(3), "max.f32 %r1, %r2, %r3;", nan, fb(3));
	CHECK(fb(3), "min.f32 %r1, %r2, %r3;", fb(3), nan);
	CHECK(0x7fffffff, "min.f32 %r1, %r2, %r3;", nan, nan);
	CHECK(0x7fffffff, "max.NaN.f32 %r1, %r2, %r3;", fb(3), nan);
	CHECK(fb(-1), "min.xorsign.abs.f32 %r1, %r2, %r3;", fb(-1), fb(3));
	CHECK(fb(3), "max.xorsign.abs.f32 %r1, %r2, %r3;", fb(-1), fb(-3));
	CHECK(0, "max.ftz.f32 %r1, %r2, %r3;", 0x00000004, 0x00000005);
	CHECK(fb(1), "min.f32 %r1, %r2, %r3, %r4;", fb(2), fb(1), fb(3));
	CHECK(fb(5), "max.abs.f32 %r1, %r2, %r3, %r4;", fb(2), fb(-5), fb(3));
	CHECK(0x7fffffff, "max.NaN.f32 %r1, %r2, %r3, %r4;", fb(2), fb(1), nan);
	CHECK(db(-3), "min.f64 %d1, %d2, %d3;", db(2), db(-3));
	CHECK(db(2), "max.f64 %d1, %d2, %d3;", db((double)NAN), db(2));
	CHECK(db(-0.0), "min.f64 %d1, %d2, %d3;", db(-0.0), 0);
	REFUSED("min.xorsign.f32 %r1, %r2, %r3;");
}

static void float_compare(void **state)
{
	static const struct { const char *cmp; bool lt, eq, gt, un; } rows[] = {
		{ "eq", 0, 1, 0, 0 }, { "ne", 1, 0, 1, 0 }, { "lt", 1, 0, 0, 0 }, { "le", 1, 1, 0, 0 },
		{ "gt", 0, 0, 1, 0 }, { "ge", 0, 1, 1, 0 }, { "equ", 0, 1, 0, 1 }, { "neu", 1, 0, 1, 1 },
		{ "ltu", 1, 0, 0, 1 }, { "leu", 1, 1, 0, 1 }, { "gtu", 0, 0, 1, 1 }, { "geu", 0, 1, 1, 1 },
		{ "num", 1, 1, 1, 0 }, { "nan", 0, 0, 0, 1 },
	};
	static const struct { const char *type, *reg; uint64_t one, two, nan; } types[] = {
		{ "f32", "%r", 0x3f800000, 0x40000000, 0x7fc00000 },
		{ "f64", "%d", 0x3ff0000000000000, 0x4000000000000000, 0x7ff8000000000000 },
		{ "f16", "%h", 0x3c00, 0x4000, 0xfe00 }, { "bf16", "%h", 0x3f80, 0x4000, 0x7fc0 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		for (unsigned t = 0; t < sizeof types / sizeof *types; t++) {
			char text[80];

			snprintf(text, sizeof text, "setp.%s.%s %%p1, %s1, %s2;", rows[i].cmp,
				 types[t].type, types[t].reg, types[t].reg);
			CHECK(rows[i].lt, text, types[t].one, types[t].two);
			CHECK(rows[i].eq, text, types[t].two, types[t].two);
			CHECK(rows[i].gt, text, types[t].two, types[t].one);
			CHECK(rows[i].un, text, types[t].two, types[t].nan);
			CHECK(rows[i].un, text, types[t].nan, types[t].one);
		}
	}
	assert_int_equal(RUN("setp.lt.f16x2 %p1|%p2, %r1, %r2;", 0x40003c00, 0x3c004000), 1);
	assert_int_equal(RUN_I(1, "setp.lt.f16x2 %p1|%p2, %r1, %r2;", 0x40003c00, 0x3c004000), 0);
	assert_int_equal(RUN_I(1, "setp.lt.f16x2 %p1|%p2, %r1, %r2;", 0x3c003c00, 0x40000000), 1);
	CHECK(0x3c000000, "set.lt.f16x2.f16x2 %r1, %r2, %r3;", 0x3c003c00, 0x40000000);
	CHECK(1, "setp.lt.f16x2 %p1, %r1, %r2;", 0x40003c00, 0x3c004000);
	CHECK(0x00003c00, "set.lt.f16x2.f16x2 %r1, %r2, %r3;", 0x40003c00, 0x3c004000);
	CHECK(0x0000ffff, "set.lt.u32.f16x2 %r1, %r2, %r3;", 0x40003c00, 0x3c004000);
	CHECK(0x3c000000, "set.gt.f16x2.f16x2 %r1, %r2, %r3;", 0x40003c00, 0x3c004000);
	CHECK(0x3f803f80, "set.ne.bf16x2.bf16x2 %r1, %r2, %r3;", 0x40003c00, 0x3c004000);
	CHECK(0xffff, "set.lt.s16.bf16 %h1, %h2, %h3;", 0x3c00, 0x4000);
	REFUSED("set.lt.u16.f32 %h1, %r2, %r3;");
	CHECK(0xffff, "set.lt.u16.f16 %h1, %h2, %h3;", 0x3c00, 0x4000);
	CHECK(0x3f80, "set.lt.bf16.bf16 %h1, %h2, %h3;", 0x3c00, 0x4000);
}

static void properties(void **state)
{
	static const struct { const char *what; bool zero, sub, norm, inf, nan; } rows[] = {
		{ "finite", 1, 1, 1, 0, 0 }, { "infinite", 0, 0, 0, 1, 0 }, { "number", 1, 1, 1, 1, 0 },
		{ "notanumber", 0, 0, 0, 0, 1 }, { "normal", 1, 0, 1, 0, 0 }, { "subnormal", 0, 1, 0, 0, 0 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[64];

		snprintf(text, sizeof text, "testp.%s.f32 %%p1, %%r1;", rows[i].what);
		CHECK(rows[i].zero, text, 0x80000000);
		CHECK(rows[i].sub, text, 0x80000001);
		CHECK(rows[i].norm, text, 0x00800000);
		CHECK(rows[i].inf, text, 0xff800000);
		CHECK(rows[i].nan, text, 0xff800001);
		snprintf(text, sizeof text, "testp.%s.f64 %%p1, %%d1;", rows[i].what);
		CHECK(rows[i].sub, text, 1);
		CHECK(rows[i].norm, text, db(-1));
		CHECK(rows[i].inf, text, db((double)INFINITY));
	}
}

/* ---- approximations ------------------------------------------------------------------ */

static void approximations(void **state)
{
	static const struct { const char *op; double (*f)(double); } ops[] = {
		{ "sin.approx", sin }, { "cos.approx", cos }, { "ex2.approx", exp2 },
		{ "tanh.approx", tanh }, { "sqrt.approx", sqrt }, { "lg2.approx", log2 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++) {
		char text[64];

		snprintf(text, sizeof text, "%s.f32 %%r1, %%r2;", ops[i].op);
		for (unsigned n = 0; n < 50; n++) {
			const float a = fabsf(some_float()) * 0x1p-10f;
			const double want = ops[i].f((double)a), got = (double)ff(RUN(text, fb(a)));

			if (!(fabs(got - want) <= fabs(want) * 0x1p-20))
				fail_msg("%s(%g): %g, not %g", text, (double)a, got, want);
		}
	}
	CHECK(0x7fffffff, "lg2.approx.f32 %r1, %r2;", fb(-1));
	CHECK(fb(-INFINITY), "lg2.approx.f32 %r1, %r2;", 0);
	CHECK(fb(-INFINITY), "lg2.approx.ftz.f32 %r1, %r2;", 0x7fffff);
	CHECK(fb(INFINITY), "rsqrt.approx.f32 %r1, %r2;", 0);
	CHECK(fb(0.5f), "rsqrt.approx.f32 %r1, %r2;", fb(4));
	CHECK(0x7fffffff, "sin.approx.f32 %r1, %r2;", fb(INFINITY));
	CHECK(fb(2.5f), "div.approx.f32 %r1, %r2, %r3;", fb(5), fb(2));
	CHECK(0, "div.approx.f32 %r1, %r2, %r3;", fb(0x1p127f), fb(0x1.8p126f));
	CHECK(fb(0x1.555556p0f), "div.full.f32 %r1, %r2, %r3;", fb(0x1p127f), fb(0x1.8p126f));
	CHECK(0x7fffffff, "div.approx.f32 %r1, %r2, %r3;", fb(INFINITY), fb(0x1.8p126f));
	CHECK(0x7fffffff, "div.approx.f32 %r1, %r2, %r3;", 0x7fc00000, fb(0x1.8p126f));
	CHECK(fb(0.25f), "ex2.approx.ftz.f32 %r1, %r2;", fb(-2));
	CHECK(0, "ex2.approx.ftz.f32 %r1, %r2;", fb(-130));
	CHECK(0x00080000, "ex2.approx.f32 %r1, %r2;", fb(-130));
	CHECK(0x4400, "ex2.approx.f16 %h1, %h2;", 0x4000);
	CHECK(0x44003c00, "ex2.approx.f16x2 %r1, %r2;", 0x40000000);
	CHECK(0x0010, "ex2.approx.f16 %h1, %h2;", 0xcd00);
	REFUSED("ex2.approx.ftz.f16 %h1, %h2;");
	REFUSED("ex2.approx.bf16 %h1, %h2;");
	REFUSED("tanh.approx.ftz.f32 %r1, %r2;");
	CHECK(0x4080, "ex2.approx.ftz.bf16 %h1, %h2;", 0x4000);
	CHECK(0x3c00bc00, "tanh.approx.f16x2 %r1, %r2;", 0x7c00fc00);
	CHECK(db(0.25), "rcp.approx.ftz.f64 %d1, %d2;", db(4) | 0x12345);
	CHECK(db((double)INFINITY), "rcp.approx.ftz.f64 %d1, %d2;", 0x000fffffffffffff);
	CHECK(db(0.5), "rsqrt.approx.ftz.f64 %d1, %d2;", db(4));
	CHECK(db(0x1p+532), "rsqrt.approx.f64 %d1, %d2;", 0x0000000000000400);
	REFUSED("sin.f32 %r1, %r2;");
}

/* ---- 16-bit arithmetic ---------------------------------------------------------------- */

static double half_value(uint16_t h)
{
	const int e = h >> 10 & 31;
	const double m = h & 0x3ff, v = e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);

	return h & 0x8000 ? -v : v;
}

static double bf16_value(uint16_t h)
{
	return (double)ff((uint64_t)h << 16);
}

/* The finite value of the format nearest to v, ties to the even encoding; its infinity
 * from halfway to what would be the next value on. */
static uint16_t nearest(long double v, double (*value)(uint16_t), uint16_t inf)
{
	const uint16_t sign = signbit(v) ? 0x8000 : 0;
	const long double mag = fabsl(v);
	unsigned lo = 0, hi = inf;

	/* lo: the largest encoding not above mag. */
	while (hi - lo > 1) {
		const unsigned mid = (lo + hi) / 2;

		*((long double)value((uint16_t)mid) <= mag ? &lo : &hi) = mid;
	}
	{
		const long double below = (long double)value((uint16_t)lo);
		const long double above = hi == inf ? 2 * below - (long double)value((uint16_t)(lo - 1)) :
						      (long double)value((uint16_t)hi);
		const long double half = (below + above) / 2;

		return sign | (uint16_t)(mag > half || (mag == half && lo & 1) ? hi : lo);
	}
}

static uint16_t finite16(uint16_t inf)
{
	for (;;) {
		const uint16_t h = (uint16_t)alu_test_random();

		if ((h & 0x7fff) < inf)
			return h;
	}
}

static void half_arithmetic(void **state)
{
	static const char *const ops[] = { "add", "sub", "mul" };

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		const bool bf = i >= 3;
		double (*const value)(uint16_t) = bf ? bf16_value : half_value;
		const uint16_t inf = bf ? 0x7f80 : 0x7c00;
		char text[64];

		snprintf(text, sizeof text, "%s.%s %%h1, %%h2, %%h3;", ops[i % 3], bf ? "bf16" : "f16");
		for (unsigned n = 0; n < 20000; n++) {
			const uint16_t a = finite16(inf);
			/* Often of similar size, where sums round interestingly. */
			const uint16_t b = n & 1 ? finite16(inf) : (uint16_t)((a & 0xff00) ^ (alu_test_random() & 0x83ff));
			const long double x = (long double)value(a), y = (long double)value(b);
			long double v = i % 3 == 0 ? x + y : i % 3 == 1 ? x - y : x * y;

			if ((b & 0x7fff) >= inf)
				continue;
			/* A bf16 sum may need more than 64 bits; then the larger one wins unless
			 * it lies on a boundary, which 8 bits never do. */
			CHECK(nearest(v, value, inf), text, a, b);
		}
	}
}

static void half_fma(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 40000; n++) {
		const uint16_t a = finite16(0x7c00), b = finite16(0x7c00), c = finite16(0x7c00);
		const long double v = (long double)half_value(a) * half_value(b) + half_value(c);

		CHECK(nearest(v, half_value, 0x7c00), "fma.rn.f16 %h1, %h2, %h3, %h4;", a, b, c);
	}
	/* 9/16 * 29/16 = 261/256 lies halfway between 130 and 131 places of 1/128; a third
	 * operand too small for any double that holds the product decides. */
	CHECK(0x3f82, "fma.rn.bf16 %h1, %h2, %h3, %h4;", 0x3f10, 0x3fe8, 0);
	CHECK(0x3f83, "fma.rn.bf16 %h1, %h2, %h3, %h4;", 0x3f10, 0x3fe8, 0x0001);
	CHECK(0x3f82, "fma.rn.bf16 %h1, %h2, %h3, %h4;", 0x3f10, 0x3fe8, 0x8001);
	CHECK(0xbf83, "fma.rn.bf16 %h1, %h2, %h3, %h4;", 0xbf10, 0x3fe8, 0x8001);
	CHECK(0x4000, "fma.rn.relu.f16 %h1, %h2, %h3, %h4;", 0x3c00, 0x3c00, 0x3c00);
	CHECK(0, "fma.rn.relu.f16 %h1, %h2, %h3, %h4;", 0xbc00, 0x4000, 0x3c00);
	CHECK(0x7fff, "fma.rn.relu.bf16 %h1, %h2, %h3, %h4;", 0xffc0, 0x4000, 0x3c00);
	CHECK(0x3c00, "fma.rn.sat.f16 %h1, %h2, %h3, %h4;", 0x4000, 0x4000, 0x3c00);
	CHECK(0x44004200, "fma.rn.f16x2 %r1, %r2, %r3, %r4;", 0x3c003c00, 0x40004000, 0x40003c00);
	CHECK(0x40804040, "fma.rn.bf16x2 %r1, %r2, %r3, %r4;", 0x3f803f80, 0x40004000, 0x40003f80);
	REFUSED("fma.rn.oob.f16 %h1, %h2, %h3, %h4;");
	REFUSED("fma.rz.f16 %h1, %h2, %h3, %h4;");
}

static void half_other(void **state)
{
	(void)state;
	CHECK(0x7fff, "add.f16 %h1, %h2, %h3;", 0x7c00, 0xfc00);
	CHECK(0x7c00, "add.f16 %h1, %h2, %h3;", 0x7bff, 0x7bff);
	CHECK(0x3c00, "add.sat.f16 %h1, %h2, %h3;", 0x7bff, 0x7bff);
	CHECK(0, "add.sat.f16 %h1, %h2, %h3;", 0x7e00, 0x7bff);
	CHECK(0, "add.ftz.f16 %h1, %h2, %h3;", 0x0100, 0x0100);
	CHECK(0x0200, "add.f16 %h1, %h2, %h3;", 0x0100, 0x0100);
	CHECK(0x40003c00, "add.f16x2 %r1, %r2, %r3;", 0x3c003800, 0x3c003800);
	CHECK(0x00004000, "sub.bf16x2 %r1, %r2, %r3;", 0x3f804040, 0x3f803f80);
	CHECK(0x40804000, "mul.bf16x2 %r1, %r2, %r3;", 0x40004000, 0x40003f80);
	CHECK(0x8000, "min.f16 %h1, %h2, %h3;", 0, 0x8000);
	CHECK(1, "min.f16 %h1, %h2, %h3;", 1, 2);
	CHECK(0, "min.ftz.f16 %h1, %h2, %h3;", 1, 2);
	CHECK(0x3c00, "max.f16 %h1, %h2, %h3;", 0x3c00, 0xfe00);
	CHECK(0x7fff, "max.NaN.f16 %h1, %h2, %h3;", 0x3c00, 0xfe00);
	CHECK(0x40003c00, "max.bf16x2 %r1, %r2, %r3;", 0x40000000, 0x3f803c00);
	CHECK(0xbc00, "min.xorsign.abs.f16 %h1, %h2, %h3;", 0xbc00, 0x4000);
	REFUSED("min.f16 %h1, %h2, %h3, %h4;");
	CHECK(0xbc008001, "neg.f16x2 %r1, %r2;", 0x3c000001);
	CHECK(0xbc008000, "neg.ftz.f16x2 %r1, %r2;", 0x3c000001);
	CHECK(0x3c000001, "abs.f16x2 %r1, %r2;", 0xbc008001);
	CHECK(0x3c000000, "abs.ftz.f16x2 %r1, %r2;", 0xbc008001);
	CHECK(0, "neg.ftz.f16 %h1, %h2;", 0x8001);
	CHECK(0x3f80, "abs.bf16 %h1, %h2;", 0xbf80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounding_modes), cmocka_unit_test(special_values),
		cmocka_unit_test(flush_and_saturate), cmocka_unit_test(mixed_and_packed),
		cmocka_unit_test(min_max), cmocka_unit_test(float_compare), cmocka_unit_test(properties),
		cmocka_unit_test(approximations), cmocka_unit_test(half_arithmetic),
		cmocka_unit_test(half_fma), cmocka_unit_test(half_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
