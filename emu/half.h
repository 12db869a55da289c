/* SPDX-License-Identifier: Apache-2.0
 *
 * half.h: the floating-point formats of PTX and exact conversion between them.
 *
 * Every value of every format is sign * mant * 2^exp with a 64-bit mantissa;
 * fp_unpack() and fp_pack() go there and back, rounding once.  Functions that
 * run for every f16 and bf16 operation have short cuts of their own.
 */
#ifndef EMU_HALF_H
#define EMU_HALF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum fp_format {
	FP_F64, FP_F32, FP_TF32, FP_F16, FP_BF16,
	FP_E5M2, FP_E4M3, FP_E3M2, FP_E2M3, FP_E2M1, FP_UE8M0,
	FP_FORMATS
};

enum fp_round {
	FP_RN,                  /* to nearest, ties to even */
	FP_RZ, FP_RM, FP_RP,    /* towards zero, minus infinity, plus infinity */
	FP_RNA,                 /* to nearest, ties away from zero */
	FP_RS                   /* stochastic: random bits added below the last place */
};

enum fp_kind { FPK_ZERO, FPK_FINITE, FPK_INF, FPK_NAN };

struct fp_num {
	uint64_t mant;          /* not 0 if FPK_FINITE */
	int exp;
	bool sign;
	enum fp_kind kind;
};

/* How fp_pack() rounds. */
struct fp_mode {
	enum fp_round round;
	bool satfinite;         /* too large and infinite values become the largest finite */
	unsigned rbits;         /* FP_RS: number of random bits ... */
	uint32_t random;        /* ... and the bits */
};

/* Width in bits of a value of the format (32 for tf32, 6 and 4 for the small ones). */
unsigned fp_bits(enum fp_format);
struct fp_num fp_unpack(enum fp_format, uint64_t bits);
struct fp_num fp_of_u64(uint64_t v);
struct fp_num fp_of_s64(int64_t v);
/* The value rounded to an integer. */
struct fp_num fp_round_int(struct fp_num, const struct fp_mode *);
/* NaN comes out canonical: all bits but the sign set, where the format has one;
 * formats without give their largest number. */
uint64_t fp_pack(enum fp_format, struct fp_num, const struct fp_mode *);
/* fp_pack(), to nearest even, of a double. */
uint64_t fp_pack_f64(enum fp_format, double v);

/* a + b and a * b + c rounded to odd: rounding the result again, to a format with
 * at most 50 bits, gives what rounding the exact value would have given. */
double fp_add_odd(double a, double b);
double fp_fma_odd(double a, double b, double c);

float half_small_to_f32(uint16_t h);
uint16_t half_of_f32_rest(float f);
uint16_t half_of_f64(double v);
uint16_t bf16_of_f64(double v);

static inline float half_to_f32(uint16_t h)
{
	const uint32_t exp = h & 0x7c00;
	uint32_t u;
	float f;

	if (exp == 0)
		return half_small_to_f32(h);
	u = (uint32_t)(h & 0x7fff) << 13;
	u += exp == 0x7c00 ? 0x70000000u : 0x38000000u;
	u |= (uint32_t)(h & 0x8000) << 16;
	memcpy(&f, &u, sizeof f);
	return f;
}

static inline float bf16_to_f32(uint16_t h)
{
	const uint32_t u = (uint32_t)h << 16;
	float f;

	memcpy(&f, &u, sizeof f);
	return f;
}

/* To nearest even. */
static inline uint16_t half_of_f32(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof u);
	/* From 2^-14 to just below the first value that rounds to infinity. */
	if ((u & 0x7fffffff) - 0x38800000u < 0x477ff000u - 0x38800000u) {
		const uint32_t mag = (u & 0x7fffffff) - 0x38000000u;

		return (uint16_t)((u >> 16 & 0x8000) | (mag + 0xfff + (mag >> 13 & 1)) >> 13);
	}
	return half_of_f32_rest(f);
}

static inline uint16_t bf16_of_f32(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof u);
	if ((u & 0x7fffffff) > 0x7f800000)
		return 0x7fff;
	return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

#endif
