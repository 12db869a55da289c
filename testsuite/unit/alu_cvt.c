/* SPDX-License-Identifier: Apache-2.0
 *
 * alu_cvt.c: tests of cvt between all types of the emulated device.
 *
 * Values of a floating-point format are computed from its definition, and a
 * conversion to it is checked against a search through them.
 */
#include "testsuite/unit/alu_test.h"

#include <math.h>

struct format {
	const char *name;
	unsigned ebits, mbits;
	int bias;
	unsigned max;           /* largest finite encoding */
	unsigned nan;
	bool inf;
};

static const struct format f16 = { "f16", 5, 10, 15, 0x7bff, 0x7fff, true };
static const struct format bf16 = { "bf16", 8, 7, 127, 0x7f7f, 0x7fff, true };
static const struct format e5m2 = { "e5m2", 5, 2, 15, 0x7b, 0x7f, true };
static const struct format e4m3 = { "e4m3", 4, 3, 7, 0x7e, 0x7f, false };
static const struct format e3m2 = { "e3m2", 3, 2, 3, 0x1f, 0x1f, false };
static const struct format e2m3 = { "e2m3", 2, 3, 1, 0x1f, 0x1f, false };
static const struct format e2m1 = { "e2m1", 2, 1, 1, 0x7, 0x7, false };

static uint32_t fb(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof u);
	return u;
}


static uint64_t db(double f)
{
	uint64_t u;

	memcpy(&u, &f, sizeof u);
	return u;
}

static double value(const struct format *f, unsigned code)
{
	const int e = (int)(code >> f->mbits & ((1u << f->ebits) - 1));
	const double frac = ldexp((double)(code & ((1u << f->mbits) - 1)), -(int)f->mbits);
	const double mag = e ? ldexp(1 + frac, e - f->bias) : ldexp(frac, 1 - f->bias);

	return code >> (f->ebits + f->mbits) & 1 ? -mag : mag;
}

/* 'n' nearest even, 'z' towards zero.  Beyond the largest number: itself if
 * saturating or towards zero, else infinity from halfway on. */
static unsigned encode(const struct format *f, double v, char mode, bool satfinite)
{
	const unsigned sign = signbit(v) ? 1u << (f->ebits + f->mbits) : 0;
	const double mag = fabs(v);
	const double step = value(f, f->max) - value(f, f->max - 1);
	unsigned best = 0;

	if (v != v)
		return f->nan;
	/* Encodings are in the order of their values. */
	for (unsigned bit = 1u << 15; bit; bit >>= 1) {
		if ((best | bit) <= f->max && value(f, best | bit) <= mag)
			best |= bit;
	}
	if (best < f->max) {
		const double down = mag - value(f, best), up = value(f, best + 1) - mag;

		if (mode == 'n' && (up < down || (up == down && best & 1)))
			best++;
	} else if (!satfinite && (isinf(v) || (mode == 'n' && mag >= value(f, f->max) + step / 2))) {
		best++;
	}
	return sign | best;
}

/* Around every value and boundary of a format. */
static float probe(const struct format *f, unsigned n)
{
	const unsigned code = n / 5 % (f->max + 1);
	const double a = value(f, code), b = code < f->max ? value(f, code + 1) : 2 * a;
	const float mid = (float)((a + b) / 2);
	float v = 0;

	switch (n % 5) {
	case 0: v = (float)a; break;
	case 1: v = mid; break;
	case 2: v = nextafterf(mid, INFINITY); break;
	case 3: v = nextafterf(mid, -INFINITY); break;
	case 4: v = nextafterf((float)a, INFINITY); break;
	}
	return alu_test_random() & 1 ? -v : v;
}

/* ---- integers ------------------------------------------------------------------------ */

static void integers(void **state)
{
	(void)state;
	CHECK(0xffffffffffffff80, "cvt.s64.s8 %d1, %r1;", 0x12345680);
	CHECK(0x80, "cvt.u64.u8 %d1, %r1;", 0x12345680);
	CHECK(0xffffff80, "cvt.s32.s8 %r1, %h1;", 0x80);
	CHECK(0xffffff80, "cvt.s8.s32 %r1, %r2;", 0x12345680);
	CHECK(0x80, "cvt.u8.u32 %r1, %r2;", 0x12345680);
	CHECK(0xff80, "cvt.s8.u32 %h1, %r2;", 0x12345680);
	CHECK(0xffffd680, "cvt.s16.s32 %r1, %r2;", 0x1234d680);
	CHECK(0x5678, "cvt.u16.u64 %h1, %d1;", 0x12345678);
	CHECK(0x9abcdef0, "cvt.u32.u64 %r1, %d1;", 0x123456789abcdef0);
	CHECK(0xffffffff9abcdef0, "cvt.s64.s32 %d1, %r1;", 0x9abcdef0);
	CHECK(0x9abcdef0, "cvt.u64.u32 %d1, %r1;", 0x9abcdef0);
	CHECK(0x7f, "cvt.sat.s8.s32 %r1, %r2;", 200);
	CHECK(0xffffff80, "cvt.sat.s8.s32 %r1, %r2;", (uint32_t)-200);
	CHECK(0, "cvt.sat.u8.s32 %r1, %r2;", (uint32_t)-200);
	CHECK(0xff, "cvt.sat.u8.u32 %r1, %r2;", 0xffffffff);
	CHECK(0x7fffffff, "cvt.sat.s32.u32 %r1, %r2;", 0xffffffff);
	CHECK(0xffffffff, "cvt.sat.u32.s64 %r1, %d1;", INT64_MAX);
	CHECK(0xffffffffffff8000, "cvt.sat.s16.s64 %d2, %d1;", (uint64_t)INT64_MIN);
}

static void integer_to_float(void **state)
{
	static const char *const modes[] = { "rn", "rz", "rm", "rp" };

	(void)state;
	CHECK(fb(-5), "cvt.rn.f32.s32 %r1, %r2;", (uint32_t)-5);
	CHECK(fb(4294967296.0f), "cvt.rn.f32.u32 %r1, %r2;", 0xffffffff);
	CHECK(fb(4294967040.0f), "cvt.rz.f32.u32 %r1, %r2;", 0xffffffff);
	CHECK(db(-5), "cvt.rn.f64.s32 %d1, %r2;", (uint32_t)-5);
	CHECK(db(4294967295.0), "cvt.rn.f64.u32 %d1, %r2;", 0xffffffff);
	CHECK(fb(18446744073709551616.0f), "cvt.rn.f32.u64 %r1, %d2;", UINT64_MAX);
	CHECK(db(18446744073709551616.0), "cvt.rn.f64.u64 %d1, %d2;", UINT64_MAX);
	CHECK(db(18446744073709549568.0), "cvt.rm.f64.u64 %d1, %d2;", UINT64_MAX);
	CHECK(0xbc00, "cvt.rn.f16.s8 %h1, %r2;", 0xff);
	CHECK(0x7c00, "cvt.rn.f16.u32 %h1, %r2;", 65520);
	CHECK(0x7bff, "cvt.rz.f16.u32 %h1, %r2;", 65520);
	CHECK(0x4f80, "cvt.rn.bf16.u32 %h1, %r2;", 0xffffffff);
	CHECK(fb(1), "cvt.rn.sat.f32.s32 %r1, %r2;", 7);
	CHECK(0, "cvt.rn.sat.f32.s32 %r1, %r2;", (uint32_t)-7);
	for (unsigned m = 0; m < 4; m++) {
		char text[64];

		snprintf(text, sizeof text, "cvt.%s.f32.s64 %%r1, %%d1;", modes[m]);
		for (unsigned n = 0; n < 500; n++) {
			const int64_t a = (int64_t)alu_test_random() >> (n % 60);
			float want = (float)a;

			/* Comparing as long double is exact. */
			if ((m == 2 || (m == 1 && a > 0)) && (long double)want > (long double)a)
				want = nextafterf(want, -INFINITY);
			if ((m == 3 || (m == 1 && a < 0)) && (long double)want < (long double)a)
				want = nextafterf(want, INFINITY);
			CHECK(fb(want), text, (uint64_t)a);
		}
	}
}

static void float_to_integer(void **state)
{
	(void)state;
	CHECK((uint32_t)-2, "cvt.rzi.s32.f32 %r1, %r2;", fb(-2.75f));
	CHECK((uint32_t)-3, "cvt.rni.s32.f32 %r1, %r2;", fb(-2.75f));
	CHECK((uint32_t)-2, "cvt.rni.s32.f32 %r1, %r2;", fb(-2.5f));
	CHECK((uint32_t)-3, "cvt.rmi.s32.f32 %r1, %r2;", fb(-2.25f));
	CHECK((uint32_t)-2, "cvt.rpi.s32.f32 %r1, %r2;", fb(-2.75f));
	CHECK(0x7fffffff, "cvt.rzi.s32.f32 %r1, %r2;", fb(3e9f));
	CHECK(0x80000000, "cvt.rzi.s32.f32 %r1, %r2;", fb(-INFINITY));
	CHECK(0x7fffffff, "cvt.rni.s32.f32 %r1, %r2;", fb(0x1p31f));
	CHECK(0x80000000, "cvt.rni.s32.f32 %r1, %r2;", fb(-0x1p31f));
	CHECK(0, "cvt.rzi.u32.f32 %r1, %r2;", fb(-0.75f));
	CHECK(0, "cvt.rzi.u32.f32 %r1, %r2;", fb(-5));
	CHECK(0xffffffff, "cvt.rzi.u32.f32 %r1, %r2;", fb(5e9f));
	CHECK(3000000000u, "cvt.rzi.u32.f32 %r1, %r2;", fb(3e9f));
	CHECK(0, "cvt.rzi.s32.f32 %r1, %r2;", 0x7fc00000);
	CHECK(0, "cvt.rni.u32.f32 %r1, %r2;", 0x7fc00000);
	CHECK(0x8000000000000000, "cvt.rzi.s64.f32 %d1, %r2;", 0x7fc00000);
	CHECK(0x80000000, "cvt.rzi.s32.f64 %r1, %d2;", 0x7ff8000000000000);
	CHECK(0x7f, "cvt.rzi.s8.f32 %r1, %r2;", fb(1000));
	CHECK(0xffffff80, "cvt.rzi.s8.f32 %r1, %r2;", fb(-1000));
	CHECK(0xffff, "cvt.rni.u16.f64 %h1, %d2;", db(1e6));
	CHECK(UINT64_MAX, "cvt.rzi.u64.f64 %d1, %d2;", db(1e30));
	CHECK(UINT64_C(0xfffffffffffff800), "cvt.rzi.u64.f64 %d1, %d2;", db(18446744073709549568.0));
	CHECK(INT64_MAX, "cvt.rni.s64.f64 %d1, %d2;", db(0x1p63));
	CHECK(1, "cvt.rpi.u32.f32 %r1, %r2;", 1);
	CHECK(0, "cvt.rpi.ftz.u32.f32 %r1, %r2;", 1);
	CHECK(4, "cvt.rni.s32.f16 %r1, %h2;", 0x4300);
	CHECK((uint16_t)-4, "cvt.rmi.s16.bf16 %h1, %h2;", 0xc060);
	REFUSED("cvt.s32.f32 %r1, %r2;");
	REFUSED("cvt.rn.s32.f32 %r1, %r2;");
}

/* ---- floats ---------------------------------------------------------------------------- */

static void float_to_float(void **state)
{
	(void)state;
	for (unsigned h = 0; h < 0x10000; h++) {
		const double v = value(&f16, h);

		if ((h & 0x7fff) < 0x7c00) {
			CHECK(fb((float)v), "cvt.f32.f16 %r1, %h1;", h);
			CHECK(db(v), "cvt.f64.f16 %d1, %h1;", h);
			CHECK(h, "cvt.rn.f16.f64 %h1, %d1;", db(v));
		}
		if ((h & 0x7fff) < 0x7f80)
			CHECK(fb((float)value(&bf16, h)), "cvt.f32.bf16 %r1, %h1;", h);
	}
	CHECK(fb(INFINITY), "cvt.f32.f16 %r1, %h1;", 0x7c00);
	CHECK(0x7fffffff, "cvt.f32.f16 %r1, %h1;", 0x7e01);
	for (unsigned n = 0; n < 2000; n++) {
		const float a = probe(n & 1 ? &bf16 : &f16, (unsigned)alu_test_random() % 0x20000);

		CHECK(encode(&f16, (double)a, 'n', false), "cvt.rn.f16.f32 %h1, %r1;", fb(a));
		CHECK(encode(&f16, (double)a, 'z', false), "cvt.rz.f16.f32 %h1, %r1;", fb(a));
		CHECK(encode(&bf16, (double)a, 'n', false), "cvt.rn.bf16.f32 %h1, %r1;", fb(a));
		CHECK(encode(&bf16, (double)a, 'z', false), "cvt.rz.bf16.f32 %h1, %r1;", fb(a));
		CHECK(encode(&f16, (double)a, 'n', true), "cvt.rn.satfinite.f16.f32 %h1, %r1;", fb(a));
	}
	CHECK(fb((float)0.1), "cvt.rn.f32.f64 %r1, %d1;", db(0.1));
	CHECK(fb((float)0.1) - 1, "cvt.rz.f32.f64 %r1, %d1;", db(0.1));
	CHECK(db((double)0.1f), "cvt.f64.f32 %d1, %r1;", fb(0.1f));
	CHECK(0, "cvt.rn.ftz.f32.f64 %r1, %d1;", db(0x1p-140));
	CHECK(0x200, "cvt.rz.f32.f64 %r1, %d1;", db(0x1p-140));
	CHECK(0x7fffffff, "cvt.rn.tf32.f32 %r1, %r2;", 0x7fc00000);
	CHECK(0x200, "cvt.rn.f32.f64 %r1, %d1;", db(0x1p-140));
	CHECK(0, "cvt.ftz.f64.f32 %d1, %r1;", 0x200);
	CHECK(0x8000, "cvt.rn.f16.f32 %h1, %r1;", fb(-0x1p-30f));
	CHECK(fb(-3), "cvt.rmi.f32.f32 %r1, %r2;", fb(-2.25f));
	CHECK(fb(-0.0f), "cvt.rni.f32.f32 %r1, %r2;", fb(-0.25f));
	CHECK(fb(2), "cvt.rni.f32.f32 %r1, %r2;", fb(2.5f));
	CHECK(db(3), "cvt.rpi.f64.f64 %d1, %d2;", db(2.25));
	CHECK(0x4000, "cvt.rzi.f16.f16 %h1, %h2;", 0x4100);
	CHECK(fb(1), "cvt.sat.f32.f32 %r1, %r2;", fb(7));
	CHECK(0, "cvt.sat.f32.f32 %r1, %r2;", 0x7fc00000);
	CHECK(fb(0.5f), "cvt.sat.f32.f32 %r1, %r2;", fb(0.5f));
	CHECK(0, "cvt.ftz.f32.f32 %r1, %r2;", 0x7fffff);
	CHECK(0, "cvt.rn.relu.f16.f32 %h1, %r1;", fb(-3));
	CHECK(0x7fff, "cvt.rn.relu.bf16.f32 %h1, %r1;", 0xffc00000);
	CHECK(0x3f804000, "cvt.rna.tf32.f32 %r1, %r2;", 0x3f803000);
	CHECK(0x3f804000, "cvt.rn.tf32.f32 %r1, %r2;", 0x3f803000);
	CHECK(0x3f800000, "cvt.rn.tf32.f32 %r1, %r2;", 0x3f801000);
	CHECK(0x3f802000, "cvt.rna.tf32.f32 %r1, %r2;", 0x3f801000);
	CHECK(0x7f7fe000, "cvt.rna.satfinite.tf32.f32 %r1, %r2;", 0x7f7fffff);
	CHECK(0x4080, "cvt.rn.bf16.f16 %h1, %h2;", 0x4400);
	REFUSED("cvt.rn.relu.f32.f64 %r1, %d1;");
	REFUSED("cvt.rni.f32.f64 %r1, %d1;");
	REFUSED("cvt.f32.s32 %r1, %r2;");
	REFUSED("cvt.f32.f64 %r1, %d1;");
	REFUSED("cvt.rna.f16.f32 %h1, %r1;");
}

/* ---- packed ------------------------------------------------------------------------------ */

static void packed_16(void **state)
{
	(void)state;
	CHECK(0x3c00c000, "cvt.rn.f16x2.f32 %r1, %r2, %r3;", fb(1), fb(-2));
	CHECK(0x3c000000, "cvt.rn.relu.f16x2.f32 %r1, %r2, %r3;", fb(1), fb(-2));
	CHECK(0x3f80c000, "cvt.rn.bf16x2.f32 %r1, %r2, %r3;", fb(1), fb(-2));
	CHECK(0x7bfffbff, "cvt.rz.satfinite.f16x2.f32 %r1, %r2, %r3;", fb(INFINITY), fb(-1e9f));
	/* A quarter of a place up: the random bits decide, three quarters of them and more. */
	CHECK(0x3c013c00, "cvt.rs.f16x2.f32 %r1, %r2, %r3, %r4;", fb(1 + 0x1p-12f), fb(1 + 0x1p-12f), 0x180017ff);
	CHECK(0x3f803f81, "cvt.rs.bf16x2.f32 %r1, %r2, %r3, %r4;", fb(1 + 0x1p-9f), fb(1 + 0x1p-9f), 0xbfffc000);
	CHECK(0x3f803f80, "cvt.rs.bf16x2.f32 %r1, %r2, %r3, %r4;", fb(1), fb(1), 0xffffffff);
	/* Of each half of the random bits the lower 13 count. */
	CHECK(0x3c003c00, "cvt.rs.f16x2.f32 %r1, %r2, %r3, %r4;", fb(1 + 0x1p-12f), fb(1 + 0x1p-12f), 0xe000e000);
	REFUSED("cvt.rp.f16x2.f32 %r1, %r2, %r3;");
	REFUSED("cvt.rp.bf16x2.ue8m0x2 %r1, %h1;");
	REFUSED("cvt.rn.f16x2.ue8m0x2 %r1, %h1;");
	REFUSED("cvt.rm.f16x2.f32 %r1, %r2, %r3;");
	REFUSED("cvt.rn.f16x2.f32 %r1, %r2;");
}

static void small_formats(void **state)
{
	static const struct format *const all[] = { &e5m2, &e4m3, &e3m2, &e2m3, &e2m1 };

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		const struct format *f = all[i];
		const unsigned width = 1 + f->ebits + f->mbits, lane = width == 6 ? 8 : width;
		const char dreg = i == 4 ? 'b' : 'h';
		char from[80], relu[80], half[80], to[80];

		snprintf(from, sizeof from, "cvt.rn.satfinite.%sx2.f32 %%%c1, %%r1, %%r2;", f->name, dreg);
		snprintf(relu, sizeof relu, "cvt.rn.satfinite.relu.%sx2.f32 %%%c1, %%r1, %%r2;", f->name, dreg);
		snprintf(half, sizeof half, "cvt.rn.satfinite.%sx2.f16x2 %%%c1, %%r1;", f->name, dreg);
		snprintf(to, sizeof to, "cvt.rn.f16x2.%sx2 %%r1, %%%c1;", f->name, dreg);
		for (unsigned n = 0; n < 5 * (f->max + 1) + 5; n++) {
			const float a = probe(f, n), b = probe(f, (unsigned)alu_test_random() % 500);
			const unsigned ea = encode(f, (double)a, 'n', true), eb = encode(f, (double)b, 'n', true);
			const unsigned ha = encode(&f16, (double)a, 'n', false);
			const unsigned hb = encode(&f16, (double)b, 'n', false);

			CHECK(ea << lane | eb, from, fb(a), fb(b));
			CHECK((signbit(a) ? 0 : ea) << lane | (signbit(b) ? 0 : eb), relu, fb(a), fb(b));
			CHECK(encode(f, value(&f16, ha), 'n', true) << lane |
			      encode(f, value(&f16, hb), 'n', true), half, (uint32_t)ha << 16 | hb);
			CHECK((uint32_t)encode(&f16, value(f, ea), 'n', true) << 16 |
			      encode(&f16, value(f, eb), 'n', true), to, ea << lane | eb);
		}
		CHECK(f->nan << lane | f->max, from, 0xffc00000, fb(INFINITY));
	}
	CHECK(0x7fff7c00, "cvt.rn.f16x2.e5m2x2 %r1, %h1;", 0x7f7c);
	CHECK(0x7fff7fff, "cvt.rn.f16x2.e4m3x2 %r1, %h1;", 0x7fff);
	CHECK(0x38404448, "cvt.rs.satfinite.e4m3x4.f32 %r1, {%r2, %r3, %r4, %r5}, %r6;",
	      fb(1), fb(2), fb(3), fb(4), 0);
	CHECK(0x2456, "cvt.rs.satfinite.e2m1x4.f32 %h1, {%r2, %r3, %r4, %r5}, %r6;",
	      fb(1), fb(2), fb(3), fb(4), 0xffffffff);
	/* Half a place: up with the upper half of the random numbers. */
	CHECK(0x39383938, "cvt.rs.satfinite.e4m3x4.f32 %r1, {%r2, %r3, %r4, %r5}, %r6;",
	      fb(1.0625f), fb(1), fb(1.0625f), fb(1), 0x8000ffff);
	REFUSED("cvt.rn.e4m3x2.f32 %h1, %r1, %r2;");
	REFUSED("cvt.rn.satfinite.e4m3x4.f32 %r1, {%r2, %r3, %r4, %r5}, %r6;");
}

static void scale_format(void **state)
{
	(void)state;
	CHECK(0x7f80, "cvt.rz.ue8m0x2.f32 %h1, %r1, %r2;", fb(1.5f), fb(2));
	CHECK(0x8080, "cvt.rp.ue8m0x2.f32 %h1, %r1, %r2;", fb(1.5f), fb(2));
	CHECK(0x00ff, "cvt.rz.ue8m0x2.f32 %h1, %r1, %r2;", fb(0), 0x7fc00000);
	CHECK(0xfe00, "cvt.rp.satfinite.ue8m0x2.f32 %h1, %r1, %r2;", fb(INFINITY), fb(0x1p-127f));
	CHECK(0xfeff, "cvt.rp.ue8m0x2.f32 %h1, %r1, %r2;", fb(0x1p127f), fb(0x1.8p127f));
	CHECK(0xfefe, "cvt.rz.ue8m0x2.f32 %h1, %r1, %r2;", fb(0x1p127f), fb(0x1.8p127f));
	CHECK(0x7f80, "cvt.rz.ue8m0x2.bf16x2 %h1, %r1;", 0x3fc04000);
	CHECK(0x3f804000, "cvt.rn.bf16x2.ue8m0x2 %r1, %h1;", 0x7f80);
	CHECK(0x00407fff, "cvt.rn.bf16x2.ue8m0x2 %r1, %h1;", 0x00ff);
}

static void pack_integers(void **state)
{
	(void)state;
	CHECK(0x7fff8000, "cvt.pack.sat.s16.s32 %r1, %r2, %r3;", 70000, (uint32_t)-70000);
	CHECK(0xffff0000, "cvt.pack.sat.u16.s32 %r1, %r2, %r3;", 70000, (uint32_t)-70000);
	CHECK(0xabcd7f80, "cvt.pack.sat.s8.s32.b32 %r1, %r2, %r3, %r4;", 300, (uint32_t)-300, 0x1234abcd);
	CHECK(0x34abcdf0, "cvt.pack.sat.u4.s32.b32 %r1, %r2, %r3, %r4;", 300, (uint32_t)-300, 0x1234abcd);
	CHECK(0x234abcd6, "cvt.pack.sat.s2.s32.b32 %r1, %r2, %r3, %r4;", 300, (uint32_t)-300, 0x1234abcd);
	REFUSED("cvt.pack.s16.s32 %r1, %r2, %r3;");
	REFUSED("cvt.pack.sat.s8.s32 %r1, %r2, %r3;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers), cmocka_unit_test(integer_to_float),
		cmocka_unit_test(float_to_integer), cmocka_unit_test(float_to_float),
		cmocka_unit_test(packed_16), cmocka_unit_test(small_formats),
		cmocka_unit_test(scale_format), cmocka_unit_test(pack_integers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
