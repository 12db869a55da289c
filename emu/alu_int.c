/* SPDX-License-Identifier: Apache-2.0
 *
 * alu_int.c: integer arithmetic without carry: add sub mul mad mul24 mad24 sad
 * div rem abs neg min max dp4a dp2a, scalar and .u16x2/.s16x2.
 *
 * Sums and products are computed in unsigned types, where wrapping is defined.
 * Division by zero, which PTX leaves unspecified, gives all ones.
 */
#include "emu/alu_impl.h"

/* Signed and unsigned type of each width, and one wide enough for a product. */
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

/* A function on sources of type T whose result has the unsigned type U. */
#define FN1(name, T, U, expr) \
	static void name(ALU_ARGS) \
	{ \
		const T a = (T)s[0]; \
		(void)op; \
		d[0] = (U)(expr); \
	}
#define FN2(name, T, U, expr) \
	static void name(ALU_ARGS) \
	{ \
		const T a = (T)s[0], b = (T)s[1]; \
		(void)op; \
		d[0] = (U)(expr); \
	}
#define FN3(name, T, U, expr) \
	static void name(ALU_ARGS) \
	{ \
		const T a = (T)s[0], b = (T)s[1], c = (T)s[2]; \
		(void)op; \
		d[0] = (U)(expr); \
	}
/* The same where c has another width than a and b. */
#define FN3W(name, T, W, U, expr) \
	static void name(ALU_ARGS) \
	{ \
		const T a = (T)s[0], b = (T)s[1]; \
		const W c = (W)s[2]; \
		(void)op; \
		d[0] = (U)(expr); \
	}

/* ---- add, sub, neg, abs, min, max ---------------------------------------- */

FN2(add16, u32, u16, a + b)
FN2(add32, u32, u32, a + b)
FN2(add64, u64, u64, a + b)
FN2(sub16, u32, u16, a - b)
FN2(sub32, u32, u32, a - b)
FN2(sub64, u64, u64, a - b)
FN1(neg16, u32, u16, 0u - a)
FN1(neg32, u32, u32, 0u - a)
FN1(neg64, u64, u64, 0u - a)
FN1(abs16, s16, u16, a < 0 ? 0u - (u32)a : (u32)a)
FN1(abs32, s32, u32, a < 0 ? 0u - (u32)a : (u32)a)
FN1(abs64, s64, u64, a < 0 ? 0u - (u64)a : (u64)a)

static inline u32 clamp_s32(s64 v)
{
	return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? (u32)INT32_MIN : (u32)v;
}

FN2(add_sat, s32, u32, clamp_s32((s64)a + b))
FN2(sub_sat, s32, u32, clamp_s32((s64)a - b))

FN2(min_u16, u16, u16, a < b ? a : b)
FN2(min_s16, s16, u16, a < b ? a : b)
FN2(min_u32, u32, u32, a < b ? a : b)
FN2(min_s32, s32, u32, a < b ? a : b)
FN2(min_u64, u64, u64, a < b ? a : b)
FN2(min_s64, s64, u64, a < b ? a : b)
FN2(max_u16, u16, u16, a > b ? a : b)
FN2(max_s16, s16, u16, a > b ? a : b)
FN2(max_u32, u32, u32, a > b ? a : b)
FN2(max_s32, s32, u32, a > b ? a : b)
FN2(max_u64, u64, u64, a > b ? a : b)
FN2(max_s64, s64, u64, a > b ? a : b)

static inline s32 relu(s32 v)
{
	return v < 0 ? 0 : v;
}

FN2(min_s32_relu, s32, u32, relu(a < b ? a : b))
FN2(max_s32_relu, s32, u32, relu(a > b ? a : b))

/* Two 16-bit lanes: T is the lane type, `expr` works on its a and b. */
#define FNX2(name, T, expr) \
	static inline u32 name##_lane(u32 x, u32 y) \
	{ \
		const T a = (T)x, b = (T)y; \
		return (u16)(expr); \
	} \
	FN2(name, u32, u32, name##_lane(a, b) | name##_lane(a >> 16, b >> 16) << 16)

FNX2(add_x2, u16, (u32)a + b)
FNX2(min_u16x2, u16, a < b ? a : b)
FNX2(max_u16x2, u16, a > b ? a : b)
FNX2(min_s16x2, s16, a < b ? a : b)
FNX2(max_s16x2, s16, a > b ? a : b)
FNX2(min_s16x2_relu, s16, relu(a < b ? a : b))
FNX2(max_s16x2_relu, s16, relu(a > b ? a : b))

/* ---- mul, mad -------------------------------------------------------------- */

FN2(mul_lo16, u32, u16, a * b)
FN2(mul_lo32, u32, u32, a * b)
FN2(mul_lo64, u64, u64, a * b)
FN3(mad_lo16, u32, u16, a * b + c)
FN3(mad_lo32, u32, u32, a * b + c)
FN3(mad_lo64, u64, u64, a * b + c)

static inline u32 hi_u16(u16 a, u16 b) { return (u32)a * b >> 16; }
static inline u32 hi_s16(s16 a, s16 b) { return (u32)((s32)a * b) >> 16; }
static inline u32 hi_u32(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
static inline u32 hi_s32(s32 a, s32 b) { return (u32)((u64)((s64)a * b) >> 32); }
static inline u64 hi_u64(u64 a, u64 b) { return (u64)((u128)a * b >> 64); }
static inline u64 hi_s64(s64 a, s64 b) { return (u64)((u128)((s128)a * b) >> 64); }

FN2(mul_hi_u16, u16, u16, hi_u16(a, b))
FN2(mul_hi_s16, s16, u16, hi_s16(a, b))
FN2(mul_hi_u32, u32, u32, hi_u32(a, b))
FN2(mul_hi_s32, s32, u32, hi_s32(a, b))
FN2(mul_hi_u64, u64, u64, hi_u64(a, b))
FN2(mul_hi_s64, s64, u64, hi_s64(a, b))
FN3(mad_hi_u16, u16, u16, hi_u16(a, b) + c)
FN3(mad_hi_s16, s16, u16, hi_s16(a, b) + (u32)c)
FN3(mad_hi_u32, u32, u32, hi_u32(a, b) + c)
FN3(mad_hi_s32, s32, u32, hi_s32(a, b) + (u32)c)
FN3(mad_hi_u64, u64, u64, hi_u64(a, b) + c)
FN3(mad_hi_s64, s64, u64, hi_s64(a, b) + (u64)c)
FN3(mad_hi_sat, s32, u32, clamp_s32((s64)(s32)hi_s32(a, b) + c))

FN2(mul_wide_u16, u16, u32, (u32)a * b)
FN2(mul_wide_s16, s16, u32, (s32)a * b)
FN2(mul_wide_u32, u32, u64, (u64)a * b)
FN2(mul_wide_s32, s32, u64, (s64)a * b)
FN3W(mad_wide_u16, u16, u32, u32, (u32)a * b + c)
FN3W(mad_wide_s16, s16, u32, u32, (u32)((s32)a * b) + c)
FN3W(mad_wide_u32, u32, u64, u64, (u64)a * b + c)
FN3W(mad_wide_s32, s32, u64, u64, (u64)((s64)a * b) + c)

/* The 48-bit product of the low 24 bits of two registers. */
static inline u64 prod24_u(u32 a, u32 b)
{
	return (u64)(a & 0xffffff) * (b & 0xffffff);
}

static inline s32 sext24(u32 v)
{
	return (s32)((v & 0xffffff) ^ 0x800000) - 0x800000;
}

static inline u64 prod24_s(u32 a, u32 b)
{
	return (u64)((s64)sext24(a) * sext24(b));
}

FN2(mul24_lo_u, u32, u32, prod24_u(a, b))
FN2(mul24_lo_s, u32, u32, prod24_s(a, b))
FN2(mul24_hi_u, u32, u32, prod24_u(a, b) >> 16)
FN2(mul24_hi_s, u32, u32, prod24_s(a, b) >> 16)
FN3(mad24_lo_u, u32, u32, prod24_u(a, b) + c)
FN3(mad24_lo_s, u32, u32, prod24_s(a, b) + c)
FN3(mad24_hi_u, u32, u32, (prod24_u(a, b) >> 16) + c)
FN3(mad24_hi_s, u32, u32, (prod24_s(a, b) >> 16) + c)
FN3(mad24_hi_sat, u32, u32, clamp_s32((s64)(s32)(u32)(prod24_s(a, b) >> 16) + (s32)c))

/* ---- sad, div, rem ---------------------------------------------------------- */

FN3(sad_u16, u16, u16, (a < b ? (u32)b - a : (u32)a - b) + c)
FN3(sad_s16, s16, u16, (u32)(a < b ? b - a : a - b) + (u32)c)
FN3(sad_u32, u32, u32, (a < b ? b - a : a - b) + c)
FN3(sad_s32, s32, u32, (a < b ? (u32)b - (u32)a : (u32)a - (u32)b) + (u32)c)
FN3(sad_u64, u64, u64, (a < b ? b - a : a - b) + c)
FN3(sad_s64, s64, u64, (a < b ? (u64)b - (u64)a : (u64)a - (u64)b) + (u64)c)

/* The most negative number divided by -1 overflows to itself. */
FN2(div_u16, u16, u16, b ? a / b : 0xffff)
FN2(div_s16, s16, u16, b == 0 ? -1 : a / b)
FN2(div_u32, u32, u32, b ? a / b : ~0u)
FN2(div_s32, s32, u32, b == 0 ? ~0u : b == -1 ? 0u - (u32)a : (u32)(a / b))
FN2(div_u64, u64, u64, b ? a / b : ~UINT64_C(0))
FN2(div_s64, s64, u64, b == 0 ? ~UINT64_C(0) : b == -1 ? 0u - (u64)a : (u64)(a / b))
FN2(rem_u16, u16, u16, b ? a % b : 0xffff)
FN2(rem_s16, s16, u16, b == 0 ? -1 : a % b)
FN2(rem_u32, u32, u32, b ? a % b : ~0u)
FN2(rem_s32, s32, u32, b == 0 ? -1 : b == -1 ? 0 : a % b)
FN2(rem_u64, u64, u64, b ? a % b : ~UINT64_C(0))
FN2(rem_s64, s64, u64, b == 0 ? -1 : b == -1 ? 0 : a % b)

/* ---- dp4a, dp2a --------------------------------------------------------------- */

enum { DP_A_SIGNED, DP_B_SIGNED, DP_HI };

static inline u32 part(u32 v, unsigned bit, unsigned width, bool sgn)
{
	const u32 sign = 1u << (width - 1);

	v = v >> bit & (u32)mask_bits(width);
	return sgn ? (v ^ sign) - sign : v;
}

static void dp4a(ALU_ARGS)
{
	u32 sum = (u32)s[2];

	for (unsigned i = 0; i < 32; i += 8)
		sum += part((u32)s[0], i, 8, op->flags[DP_A_SIGNED]) *
		       part((u32)s[1], i, 8, op->flags[DP_B_SIGNED]);
	d[0] = sum;
}

static void dp2a(ALU_ARGS)
{
	const unsigned base = op->flags[DP_HI] ? 16 : 0;
	u32 sum = (u32)s[2];

	for (unsigned i = 0; i < 2; i++)
		sum += part((u32)s[0], 16 * i, 16, op->flags[DP_A_SIGNED]) *
		       part((u32)s[1], base + 8 * i, 8, op->flags[DP_B_SIGNED]);
	d[0] = sum;
}

static bool decode_dp(struct alu_dec *c)
{
	const bool is2 = c->in->id == INST_DP2A;

	if (c->nt != 2)
		return alu_fail(c, "dp4a and dp2a have two types");
	for (unsigned i = 0; i < 2; i++) {
		if (c->t[i] != MOD_U32 && c->t[i] != MOD_S32)
			return alu_fail(c, "dp4a and dp2a take .u32 and .s32");
		c->out->flags[DP_A_SIGNED + i] = c->t[i] == MOD_S32;
	}
	if (is2) {
		c->out->flags[DP_HI] = alu_take(c, MOD_HI);
		if (!c->out->flags[DP_HI] && !alu_take(c, MOD_LO))
			return alu_fail(c, "dp2a needs .lo or .hi");
	}
	return alu_set(c, is2 ? dp2a : dp4a, 1, 3);
}

/* ---- decoding -------------------------------------------------------------------- */

enum { U16, S16, U32, S32, U64, S64, U16X2, S16X2, NTYPES };

/* One row: the function for each type, NULL where PTX has none. */
struct row {
	emu_alu_fn *fn[NTYPES];
};

static const struct row row_add = {{ add16, add16, add32, add32, add64, add64, add_x2, add_x2 }};
static const struct row row_sub = {{ sub16, sub16, sub32, sub32, sub64, sub64 }};
static const struct row row_add_sat = {{ [S32] = add_sat }};
static const struct row row_sub_sat = {{ [S32] = sub_sat }};
static const struct row row_neg = {{ [S16] = neg16, [S32] = neg32, [S64] = neg64 }};
static const struct row row_abs = {{ [S16] = abs16, [S32] = abs32, [S64] = abs64 }};
static const struct row row_min = {{ min_u16, min_s16, min_u32, min_s32, min_u64, min_s64,
				     min_u16x2, min_s16x2 }};
static const struct row row_max = {{ max_u16, max_s16, max_u32, max_s32, max_u64, max_s64,
				     max_u16x2, max_s16x2 }};
static const struct row row_min_relu = {{ [S32] = min_s32_relu, [S16X2] = min_s16x2_relu }};
static const struct row row_max_relu = {{ [S32] = max_s32_relu, [S16X2] = max_s16x2_relu }};
static const struct row row_mul_lo = {{ mul_lo16, mul_lo16, mul_lo32, mul_lo32, mul_lo64, mul_lo64 }};
static const struct row row_mul_hi = {{ mul_hi_u16, mul_hi_s16, mul_hi_u32, mul_hi_s32,
					mul_hi_u64, mul_hi_s64 }};
static const struct row row_mul_wide = {{ mul_wide_u16, mul_wide_s16, mul_wide_u32, mul_wide_s32 }};
static const struct row row_mad_lo = {{ mad_lo16, mad_lo16, mad_lo32, mad_lo32, mad_lo64, mad_lo64 }};
static const struct row row_mad_hi = {{ mad_hi_u16, mad_hi_s16, mad_hi_u32, mad_hi_s32,
					mad_hi_u64, mad_hi_s64 }};
static const struct row row_mad_hi_sat = {{ [S32] = mad_hi_sat }};
static const struct row row_mad_wide = {{ mad_wide_u16, mad_wide_s16, mad_wide_u32, mad_wide_s32 }};
static const struct row row_mul24_lo = {{ [U32] = mul24_lo_u, [S32] = mul24_lo_s }};
static const struct row row_mul24_hi = {{ [U32] = mul24_hi_u, [S32] = mul24_hi_s }};
static const struct row row_mad24_lo = {{ [U32] = mad24_lo_u, [S32] = mad24_lo_s }};
static const struct row row_mad24_hi = {{ [U32] = mad24_hi_u, [S32] = mad24_hi_s }};
static const struct row row_mad24_hi_sat = {{ [S32] = mad24_hi_sat }};
static const struct row row_sad = {{ sad_u16, sad_s16, sad_u32, sad_s32, sad_u64, sad_s64 }};
static const struct row row_div = {{ div_u16, div_s16, div_u32, div_s32, div_u64, div_s64 }};
static const struct row row_rem = {{ rem_u16, rem_s16, rem_u32, rem_s32, rem_u64, rem_s64 }};

static int type_index(enum ptx_mod t)
{
	switch ((int)t) {
	case MOD_U16: return U16;
	case MOD_S16: return S16;
	case MOD_U32: return U32;
	case MOD_S32: return S32;
	case MOD_U64: return U64;
	case MOD_S64: return S64;
	case MOD_U16X2: return U16X2;
	case MOD_S16X2: return S16X2;
	}
	return -1;
}

static bool use_row(struct alu_dec *c, const struct row *row, unsigned nsrc)
{
	const int i = c->nt == 1 ? type_index(c->t[0]) : -1;

	if (!row)
		return alu_fail(c, "the instruction needs .lo, .hi or .wide");
	if (i < 0 || !row->fn[i])
		return alu_fail(c, "the instruction has no such type");
	return alu_set(c, row->fn[i], 1, nsrc);
}

/* The row that .lo, .hi, .hi.sat or .wide choose. */
static const struct row *part_row(struct alu_dec *c, const struct row *lo, const struct row *hi,
				  const struct row *hi_sat, const struct row *wide)
{
	if (lo && alu_take(c, MOD_LO))
		return lo;
	if (wide && alu_take(c, MOD_WIDE))
		return wide;
	if (!alu_take(c, MOD_HI))
		return NULL;
	return hi_sat && alu_take(c, MOD_SAT) ? hi_sat : hi;
}

bool alu_decode_int(struct alu_dec *c)
{
	switch ((int)c->in->id) {
	case INST_ADD:
		return use_row(c, alu_take(c, MOD_SAT) ? &row_add_sat : &row_add, 2);
	case INST_SUB:
		return use_row(c, alu_take(c, MOD_SAT) ? &row_sub_sat : &row_sub, 2);
	case INST_MIN:
		return use_row(c, alu_take(c, MOD_RELU) ? &row_min_relu : &row_min, 2);
	case INST_MAX:
		return use_row(c, alu_take(c, MOD_RELU) ? &row_max_relu : &row_max, 2);
	case INST_NEG:
		return use_row(c, &row_neg, 1);
	case INST_ABS:
		return use_row(c, &row_abs, 1);
	case INST_MUL:
		return use_row(c, part_row(c, &row_mul_lo, &row_mul_hi, NULL, &row_mul_wide), 2);
	case INST_MAD:
		return use_row(c, part_row(c, &row_mad_lo, &row_mad_hi, &row_mad_hi_sat,
					   &row_mad_wide), 3);
	case INST_MUL24:
		return use_row(c, part_row(c, &row_mul24_lo, &row_mul24_hi, NULL, NULL), 2);
	case INST_MAD24:
		return use_row(c, part_row(c, &row_mad24_lo, &row_mad24_hi, &row_mad24_hi_sat,
					   NULL), 3);
	case INST_SAD:
		return use_row(c, &row_sad, 3);
	case INST_DIV:
		return use_row(c, &row_div, 2);
	case INST_REM:
		return use_row(c, &row_rem, 2);
	case INST_DP4A:
	case INST_DP2A:
		return decode_dp(c);
	}
	return alu_fail(c, "the instruction has no integer form");
}
