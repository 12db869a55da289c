/* SPDX-License-Identifier: Apache-2.0
 *
 * half.c: packing and unpacking of floating-point formats in integer arithmetic.
 *
 * Nothing here depends on the processor's rounding mode, except the two
 * *_odd functions, which need round-to-nearest.
 */
#include "emu/half.h"

#include <math.h>

struct format {
	uint8_t width, mbits;           /* stored bits, and those of the mantissa field */
	uint8_t shift;                  /* zero bits below the mantissa (tf32) */
	int16_t bias;
	bool has_inf;
	uint64_t max;                   /* encoding of the largest finite magnitude */
	uint64_t nan;                   /* canonical NaN; `max` where there is none */
};

/* E4M3 has NaN but no infinity; the 6 and 4-bit formats have neither. */
static const struct format formats[FP_FORMATS] = {
	[FP_F64] = { 64, 52, 0, 1023, true, 0x7fefffffffffffff, 0x7fffffffffffffff },
	[FP_F32] = { 32, 23, 0, 127, true, 0x7f7fffff, 0x7fffffff },
	[FP_TF32] = { 32, 10, 13, 127, true, 0x3fbff, 0x3ffff },
	[FP_F16] = { 16, 10, 0, 15, true, 0x7bff, 0x7fff },
	[FP_BF16] = { 16, 7, 0, 127, true, 0x7f7f, 0x7fff },
	[FP_E5M2] = { 8, 2, 0, 15, true, 0x7b, 0x7f },
	[FP_E4M3] = { 8, 3, 0, 7, false, 0x7e, 0x7f },
	[FP_E3M2] = { 6, 2, 0, 3, false, 0x1f, 0x1f },
	[FP_E2M3] = { 6, 3, 0, 1, false, 0x1f, 0x1f },
	[FP_E2M1] = { 4, 1, 0, 1, false, 0x7, 0x7 },
	[FP_UE8M0] = { 8, 0, 0, 127, false, 0xfe, 0xff },
};

unsigned fp_bits(enum fp_format f)
{
	return formats[f].width;
}

/* UE8M0 is an unsigned power of two; it has no zero. */
static struct fp_num unpack_ue8m0(uint64_t bits)
{
	struct fp_num n = { .mant = 1, .exp = (int)(bits & 0xff) - 127, .kind = FPK_FINITE };

	if ((bits & 0xff) == 0xff)
		n.kind = FPK_NAN;
	return n;
}

struct fp_num fp_unpack(enum fp_format f, uint64_t bits)
{
	const struct format *fm = &formats[f];
	const unsigned mag_bits = fm->width - 1u - fm->shift;
	const uint64_t mag = bits >> fm->shift & ((UINT64_C(1) << mag_bits) - 1);
	const uint64_t frac = mag & ((UINT64_C(1) << fm->mbits) - 1);
	const int exp = (int)(mag >> fm->mbits);
	struct fp_num n = { .kind = FPK_FINITE };

	if (f == FP_UE8M0)
		return unpack_ue8m0(bits);
	n.sign = bits >> (fm->width - 1) & 1;
	n.mant = exp ? frac | UINT64_C(1) << fm->mbits : frac;
	n.exp = (exp ? exp : 1) - fm->bias - fm->mbits;
	if (mag == 0)
		n.kind = FPK_ZERO;
	else if (mag > fm->max)
		n.kind = fm->has_inf && frac == 0 ? FPK_INF : FPK_NAN;
	return n;
}

struct fp_num fp_of_u64(uint64_t v)
{
	return (struct fp_num){ .mant = v, .kind = v ? FPK_FINITE : FPK_ZERO };
}

struct fp_num fp_of_s64(int64_t v)
{
	struct fp_num n = fp_of_u64(v < 0 ? 0 - (uint64_t)v : (uint64_t)v);

	n.sign = v < 0;
	return n;
}

/* Whether a value whose last kept bit is `odd` and whose dropped part, as a
 * fraction of the last place in 2^-64, is `rem` (plus something below if
 * `sticky`) must be rounded away from zero. */
static bool round_up(const struct fp_mode *m, bool sign, bool odd, uint64_t rem, bool sticky)
{
	const uint64_t half = UINT64_C(1) << 63;

	switch (m->round) {
	case FP_RN:
		return rem > half || (rem == half && (sticky || odd));
	case FP_RNA:
		return rem >= half;
	case FP_RZ:
		return false;
	case FP_RM:
		return sign && (rem || sticky);
	case FP_RP:
		return !sign && (rem || sticky);
	case FP_RS:
		return ((rem >> (64 - m->rbits)) +
			(m->random & ((UINT64_C(1) << m->rbits) - 1))) >> m->rbits;
	}
	return false;
}

/* mant * 2^exp cut at the place 2^lsb, and rounded. */
static uint64_t cut(const struct fp_num *n, int lsb, const struct fp_mode *m)
{
	const int shift = lsb - n->exp;
	uint64_t kept = 0, rem = 0;
	bool sticky = false;

	if (shift <= 0)
		return n->mant << -shift;
	if (shift < 64) {
		kept = n->mant >> shift;
		rem = n->mant << (64 - shift);
	} else if (shift == 64) {
		rem = n->mant;
	} else if (shift < 128) {
		rem = n->mant >> (shift - 64);
		sticky = n->mant << (128 - shift) != 0;
	} else {
		sticky = true;
	}
	return kept + round_up(m, n->sign, kept & 1, rem, sticky);
}

struct fp_num fp_round_int(struct fp_num n, const struct fp_mode *m)
{
	if (n.kind != FPK_FINITE || n.exp >= 0)
		return n;
	n.mant = cut(&n, 0, m);
	n.exp = 0;
	if (!n.mant)
		n.kind = FPK_ZERO;
	return n;
}

/* What a finite value beyond the range, or an infinite one, becomes. */
static uint64_t overflow(const struct format *fm, const struct fp_num *n, const struct fp_mode *m)
{
	const uint64_t inf = fm->max + 1;

	if (m->satfinite || !fm->has_inf)
		return fm->max;
	if (n->kind == FPK_INF)
		return inf;
	switch (m->round) {
	case FP_RZ: return fm->max;
	case FP_RM: return n->sign ? inf : fm->max;
	case FP_RP: return n->sign ? fm->max : inf;
	case FP_RN: case FP_RNA: case FP_RS: break;
	}
	return inf;
}

/* The exponent that holds |n|, rounded up (.rp) or down; negative numbers count by
 * their magnitude. */
static uint64_t pack_ue8m0(const struct fp_num *n, const struct fp_mode *m)
{
	int exp, msb;

	if (n->kind == FPK_NAN)
		return 0xff;
	if (n->kind == FPK_INF)
		return m->satfinite ? 0xfe : 0xff;
	if (n->kind == FPK_ZERO)
		return 0;
	msb = 63 - __builtin_clzll(n->mant);
	exp = n->exp + msb;
	if (m->round == FP_RP && n->mant & ((UINT64_C(1) << msb) - 1))
		exp++;
	if (exp > 127)
		return m->satfinite ? 0xfe : 0xff;
	return exp < -127 ? 0 : (uint64_t)(exp + 127);
}

uint64_t fp_pack(enum fp_format f, struct fp_num n, const struct fp_mode *m)
{
	const struct format *fm = &formats[f];
	const int emin = 1 - fm->bias;
	const uint64_t sign = (uint64_t)n.sign << (fm->width - 1);
	uint64_t mag;
	int exp, lsb;

	if (f == FP_UE8M0)
		return pack_ue8m0(&n, m);
	switch (n.kind) {
	case FPK_ZERO:
		return sign;
	case FPK_NAN:
		mag = fm->nan << fm->shift;
		return fm->shift ? mag | ((UINT64_C(1) << fm->shift) - 1) : mag;
	case FPK_INF:
		return sign | overflow(fm, &n, m) << fm->shift;
	case FPK_FINITE:
		break;
	}
	exp = n.exp + 63 - __builtin_clzll(n.mant);
	lsb = (exp > emin ? exp : emin) - fm->mbits;
	mag = cut(&n, lsb, m);
	/* The implicit bit adds one to the exponent field; carries do the rest. */
	if (exp >= emin)
		mag += (uint64_t)(exp - emin) << fm->mbits;
	if (exp > fm->bias + 1 || mag > fm->max)
		mag = overflow(fm, &n, m);
	return sign | mag << fm->shift;
}

uint64_t fp_pack_f64(enum fp_format f, double v)
{
	static const struct fp_mode rn = { .round = FP_RN };
	uint64_t u;

	memcpy(&u, &v, sizeof u);
	return fp_pack(f, fp_unpack(FP_F64, u), &rn);
}

/* ---- short cuts ------------------------------------------------------------- */

/* Zeros and subnormals: an integer times 2^-24. */
float half_small_to_f32(uint16_t h)
{
	const float mag = (float)(h & 0x3ff) * 0x1p-24f;

	return h & 0x8000 ? -mag : mag;
}

uint16_t half_of_f32_rest(float f)
{
	return half_of_f64((double)f);
}

uint16_t half_of_f64(double v)
{
	const uint64_t lo = (uint64_t)(1023 - 14) << 52;        /* 2^-14 */
	const uint64_t hi = UINT64_C(0x40effe0000000000);       /* 65520, rounds to infinity */
	uint64_t u, mag;

	memcpy(&u, &v, sizeof u);
	mag = u & ~(UINT64_C(1) << 63);
	if (mag - lo >= hi - lo)
		return (uint16_t)fp_pack_f64(FP_F16, v);
	mag -= (uint64_t)(1023 - 15) << 52;
	mag += (UINT64_C(1) << 41) - 1 + (mag >> 42 & 1);
	return (uint16_t)(u >> 48 & 0x8000) | (uint16_t)(mag >> 42);
}

uint16_t bf16_of_f64(double v)
{
	const uint64_t lo = (uint64_t)(1023 - 126) << 52;       /* 2^-126 */
	const uint64_t hi = (uint64_t)(1023 + 127) << 52;       /* 2^127: rounding cannot overflow below */
	uint64_t u, mag;

	memcpy(&u, &v, sizeof u);
	mag = u & ~(UINT64_C(1) << 63);
	if (mag - lo >= hi - lo)
		return (uint16_t)fp_pack_f64(FP_BF16, v);
	mag -= (uint64_t)(1023 - 127) << 52;
	mag += (UINT64_C(1) << 44) - 1 + (mag >> 45 & 1);
	return (uint16_t)(u >> 48 & 0x8000) | (uint16_t)(mag >> 45);
}

/* `sum` is the exact value plus or minus less than half a place, and `err` what
 * is missing: if anything is, the last bit must be odd. */
static double make_odd(double sum, double err)
{
	uint64_t u;

	if (err == 0 || !isfinite(sum))
		return sum;
	memcpy(&u, &sum, sizeof u);
	if (!(u & 1))
		u += (err > 0) == (sum > 0) ? 1 : (uint64_t)-1;
	memcpy(&sum, &u, sizeof sum);
	return sum;
}

double fp_add_odd(double a, double b)
{
	const double sum = a + b;
	const double b_part = sum - a;

	return make_odd(sum, (a - (sum - b_part)) + (b - b_part));
}

double fp_fma_odd(double a, double b, double c)
{
	const double prod = a * b;

	return fp_add_odd(prod, c);
}
