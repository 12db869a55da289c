/* SPDX-License-Identifier: Apache-2.0
 *
 * alu_float.c: IEEE arithmetic on .f32, .f32x2 and .f64: add sub mul fma mad
 * div rcp sqrt with every rounding, .ftz and .sat, and the exact operations min
 * max abs neg copysign.
 *
 * The host's processor does the arithmetic.  Outside the functions that change
 * it, its rounding mode is to-nearest; operands and result of an operation under
 * another mode are volatile, so that it stays between the two changes.  Built
 * with -frounding-math and without -ffast-math.
 */
#include "emu/alu_impl.h"
#include "emu/half.h"

#include <fenv.h>
#include <math.h>

enum { FL_ROUND, FL_FTZ, FL_SAT, FL_HALF, FL_NAN, FL_ABS, FL_XORSIGN };
enum { HALF_NONE, HALF_F16, HALF_BF16 };        /* the narrow operands of add.f32.f16 ... */

/* ---- plain forms: to nearest, no flushing, no saturation ----------------------- */

#define F32_2(name, expr) \
	static void name##_f32(ALU_ARGS) \
	{ \
		const float a = f32_of(s[0]), b = f32_of(s[1]); \
		(void)op; \
		d[0] = f32_result(expr); \
	}
#define F64_2(name, expr) \
	static void name##_f64(ALU_ARGS) \
	{ \
		const double a = f64_of(s[0]), b = f64_of(s[1]); \
		(void)op; \
		d[0] = f64_bits(expr); \
	}

F32_2(add, a + b)
F32_2(sub, a - b)
F32_2(mul, a * b)
F32_2(div, a / b)
F64_2(add, a + b)
F64_2(sub, a - b)
F64_2(mul, a * b)
F64_2(div, a / b)

static void fma_f32(ALU_ARGS)
{
	(void)op;
	d[0] = f32_result(fmaf(f32_of(s[0]), f32_of(s[1]), f32_of(s[2])));
}

static void fma_f64(ALU_ARGS)
{
	(void)op;
	d[0] = f64_bits(fma(f64_of(s[0]), f64_of(s[1]), f64_of(s[2])));
}

static void rcp_f32(ALU_ARGS) { (void)op; d[0] = f32_result(1.0f / f32_of(s[0])); }
static void rcp_f64(ALU_ARGS) { (void)op; d[0] = f64_bits(1.0 / f64_of(s[0])); }
static void sqrt_f32(ALU_ARGS) { (void)op; d[0] = f32_result(sqrtf(f32_of(s[0]))); }
static void sqrt_f64(ALU_ARGS) { (void)op; d[0] = f64_bits(sqrt(f64_of(s[0]))); }

/* ---- general forms ---------------------------------------------------------------- */

static void set_round(unsigned round)
{
	switch (round) {
	case FP_RZ: fesetround(FE_TOWARDZERO); break;
	case FP_RM: fesetround(FE_DOWNWARD); break;
	case FP_RP: fesetround(FE_UPWARD); break;
	}
}

/* A source, which .ftz flushes. */
static inline float f32_src(const struct emu_alu *op, uint64_t v)
{
	return f32_of(op->flags[FL_FTZ] ? f32_flush((uint32_t)v) : (uint32_t)v);
}

/* The same of an operand that the mixed forms have in 16 bits. */
static inline float narrow_src(const struct emu_alu *op, uint64_t v)
{
	switch (op->flags[FL_HALF]) {
	case HALF_F16: return half_to_f32((uint16_t)v);
	case HALF_BF16: return bf16_to_f32((uint16_t)v);
	}
	return f32_src(op, v);
}

/* .sat clamps to [0, 1], and NaN to 0. */
static inline uint32_t f32_dst(const struct emu_alu *op, float f)
{
	uint32_t u = f32_result(f);

	if (op->flags[FL_SAT]) {
		if (!(f > 0))
			return 0;
		if (f >= 1)
			return 0x3f800000;
	}
	return op->flags[FL_FTZ] ? f32_flush(u) : u;
}

/* Each operation as: the value for one lane, and functions for .f32 and .f64, and
 * of some for .f32x2. */
#define GENERAL(name, LOAD32, LOAD64, expr32, expr64) \
	static inline uint32_t name##_lane(const struct emu_alu *op, uint32_t x, uint32_t y, \
					   uint32_t z) \
	{ \
		volatile float r; \
		LOAD32 \
		set_round(op->flags[FL_ROUND]); \
		r = (expr32); \
		fesetround(FE_TONEAREST); \
		return f32_dst(op, r); \
	} \
	static void name##_f32_any(ALU_ARGS) \
	{ \
		d[0] = name##_lane(op, (uint32_t)s[0], op->nsrc > 1 ? (uint32_t)s[1] : 0, \
				   op->nsrc > 2 ? (uint32_t)s[2] : 0); \
	} \
	static void name##_f64_any(ALU_ARGS) \
	{ \
		volatile double r; \
		LOAD64 \
		set_round(op->flags[FL_ROUND]); \
		r = (expr64); \
		fesetround(FE_TONEAREST); \
		d[0] = f64_bits(r); \
	}

#define PACKED(name) \
	static void name##_f32x2(ALU_ARGS) \
	{ \
		const uint64_t x = s[0], y = s[1], z = op->nsrc > 2 ? s[2] : 0; \
		const uint32_t lo = name##_lane(op, (uint32_t)x, (uint32_t)y, (uint32_t)z); \
		d[0] = (uint64_t)name##_lane(op, (uint32_t)(x >> 32), (uint32_t)(y >> 32), \
					     (uint32_t)(z >> 32)) << 32 | lo; \
	}

#define LOAD32_1 volatile float a = f32_src(op, x); (void)y; (void)z;
#define LOAD32_2 volatile float a = narrow_src(op, x), b = f32_src(op, y); (void)z;
#define LOAD32_3 volatile float a = narrow_src(op, x), b = narrow_src(op, y), c = f32_src(op, z);
#define LOAD64_1 volatile double a = f64_of(s[0]);
#define LOAD64_2 volatile double a = f64_of(s[0]), b = f64_of(s[1]);
#define LOAD64_3 volatile double a = f64_of(s[0]), b = f64_of(s[1]), c = f64_of(s[2]);

GENERAL(add, LOAD32_2, LOAD64_2, a + b, a + b)
GENERAL(sub, LOAD32_2, LOAD64_2, a - b, a - b)
GENERAL(mul, LOAD32_2, LOAD64_2, a * b, a * b)
GENERAL(div, LOAD32_2, LOAD64_2, a / b, a / b)
GENERAL(fma, LOAD32_3, LOAD64_3, fmaf(a, b, c), fma(a, b, c))
GENERAL(rcp, LOAD32_1, LOAD64_1, 1.0f / a, 1.0 / a)
GENERAL(sqrt, LOAD32_1, LOAD64_1, sqrtf(a), sqrt(a))
PACKED(add)
PACKED(sub)
PACKED(mul)
PACKED(fma)

struct row {
	emu_alu_fn *f32, *f32_any, *f32x2, *f64, *f64_any;
	uint8_t nsrc;
	bool must_round;                /* the rounding must be given */
};

#define ROW(name, n, must) \
	{ name##_f32, name##_f32_any, name##_f32x2, name##_f64, name##_f64_any, n, must }
static const struct row row_add = ROW(add, 2, false), row_sub = ROW(sub, 2, false),
	row_mul = ROW(mul, 2, false), row_fma = ROW(fma, 3, true);
/* No packed form of these. */
#define ROW1(name, n) { name##_f32, name##_f32_any, NULL, name##_f64, name##_f64_any, n, true }
static const struct row row_div = ROW1(div, 2), row_rcp = ROW1(rcp, 1), row_sqrt = ROW1(sqrt, 1);

static bool use_row(struct alu_dec *c, const struct row *r)
{
	uint8_t *flags = c->out->flags;
	const enum alu_round round = alu_take_round(c);
	const enum ptx_mod t = c->nt ? c->t[0] : MOD_NONE;

	switch (round) {
	case RND_NONE:
		if (r->must_round)
			return alu_fail(c, "the instruction needs a rounding modifier");
		/* fall through */
	case RND_RN: flags[FL_ROUND] = FP_RN; break;
	case RND_RZ: flags[FL_ROUND] = FP_RZ; break;
	case RND_RM: flags[FL_ROUND] = FP_RM; break;
	case RND_RP: flags[FL_ROUND] = FP_RP; break;
	case RND_RNA:
	case RND_RS: return alu_fail(c, "the instruction has no such rounding");
	}
	if (t == MOD_F64)
		return c->nt == 1 ? alu_set(c, flags[FL_ROUND] == FP_RN ? r->f64 : r->f64_any,
					    1, r->nsrc)
				  : alu_fail(c, "an .f64 instruction has one type");
	flags[FL_FTZ] = alu_take(c, MOD_FTZ);
	if (t == MOD_F32X2 && r->f32x2 && c->nt == 1)
		return alu_set(c, r->f32x2, 1, r->nsrc);
	if (t != MOD_F32 || c->nt > 2)
		return alu_fail(c, "the instruction has no such type");
	flags[FL_SAT] = alu_take(c, MOD_SAT);
	if (c->nt == 2) {
		if ((r != &row_add && r != &row_sub && r != &row_fma) || flags[FL_FTZ])
			return alu_fail(c, "the instruction has no mixed form");
		flags[FL_HALF] = c->t[1] == MOD_F16 ? HALF_F16 : c->t[1] == MOD_BF16 ? HALF_BF16 : 0;
		if (!flags[FL_HALF])
			return alu_fail(c, "the mixed forms take .f16 and .bf16");
	}
	if (flags[FL_ROUND] != FP_RN || flags[FL_FTZ] || flags[FL_SAT] || flags[FL_HALF])
		return alu_set(c, r->f32_any, 1, r->nsrc);
	return alu_set(c, r->f32, 1, r->nsrc);
}

/* ---- min, max --------------------------------------------------------------------------- */

/* Bits in an order where -0 comes before +0. */
static inline uint32_t key32(uint32_t u)
{
	return u & 0x80000000u ? ~u : u | 0x80000000u;
}

static inline uint64_t key64(uint64_t u)
{
	return u >> 63 ? ~u : u | UINT64_C(1) << 63;
}

static inline bool is_nan32(uint32_t u)
{
	return (u & 0x7fffffff) > 0x7f800000;
}

static inline bool is_nan64(uint64_t u)
{
	return (u & ~(UINT64_C(1) << 63)) > UINT64_C(0x7ff0000000000000);
}

static inline uint32_t pick32(uint32_t a, uint32_t b, bool max, bool nan)
{
	if (is_nan32(a) || is_nan32(b)) {
		if (nan || (is_nan32(a) && is_nan32(b)))
			return F32_NAN;
		return is_nan32(a) ? b : a;
	}
	return (key32(a) < key32(b)) != max ? a : b;
}

static inline uint64_t pick64(uint64_t a, uint64_t b, bool max)
{
	if (is_nan64(a))
		return b;
	if (is_nan64(b))
		return a;
	return (key64(a) < key64(b)) != max ? a : b;
}

static inline void pick_any(const struct emu_alu *op, uint64_t *d, const uint64_t *s, bool max)
{
	uint32_t v[3], sign = 0;

	for (unsigned i = 0; i < op->nsrc; i++) {
		v[i] = op->flags[FL_FTZ] ? f32_flush((uint32_t)s[i]) : (uint32_t)s[i];
		if (op->flags[FL_XORSIGN])
			sign ^= v[i] & 0x80000000u;
		if (op->flags[FL_ABS])
			v[i] &= 0x7fffffff;
	}
	v[0] = pick32(v[0], v[1], max, op->flags[FL_NAN]);
	if (op->nsrc == 3)
		v[0] = pick32(v[0], v[2], max, op->flags[FL_NAN]);
	d[0] = is_nan32(v[0]) ? F32_NAN : v[0] | sign;
}

static void min_f32(ALU_ARGS)
{
	(void)op;
	d[0] = pick32((uint32_t)s[0], (uint32_t)s[1], false, false);
}

static void max_f32(ALU_ARGS)
{
	(void)op;
	d[0] = pick32((uint32_t)s[0], (uint32_t)s[1], true, false);
}

static void min_any(ALU_ARGS) { pick_any(op, d, s, false); }
static void max_any(ALU_ARGS) { pick_any(op, d, s, true); }
static void min_f64(ALU_ARGS) { (void)op; d[0] = pick64(s[0], s[1], false); }
static void max_f64(ALU_ARGS) { (void)op; d[0] = pick64(s[0], s[1], true); }

static bool decode_minmax(struct alu_dec *c, bool max)
{
	uint8_t *flags = c->out->flags;

	if (c->nt != 1)
		return alu_fail(c, "min and max have one type");
	if (c->t[0] == MOD_F64)
		return alu_set(c, max ? max_f64 : min_f64, 1, 2);
	if (c->t[0] != MOD_F32)
		return alu_fail(c, "min and max have no such type");
	flags[FL_FTZ] = alu_take(c, MOD_FTZ);
	flags[FL_NAN] = alu_take(c, MOD_NAN_PROP);
	flags[FL_ABS] = alu_take(c, MOD_ABS);
	flags[FL_XORSIGN] = alu_take(c, MOD_XORSIGN);
	if (flags[FL_XORSIGN] && (!flags[FL_ABS] || c->nsrc != 2))
		return alu_fail(c, ".xorsign goes with .abs and two sources");
	if (!flags[FL_FTZ] && !flags[FL_NAN] && !flags[FL_ABS] && c->nsrc == 2)
		return alu_set(c, max ? max_f32 : min_f32, 1, 2);
	return alu_set(c, max ? max_any : min_any, 1, c->nsrc == 3 ? 3 : 2);
}

/* ---- abs, neg, copysign ------------------------------------------------------------------ */

static void abs_f32(ALU_ARGS) { (void)op; d[0] = s[0] & 0x7fffffff; }
static void abs_f32ftz(ALU_ARGS) { (void)op; d[0] = f32_flush((uint32_t)s[0]) & 0x7fffffff; }
static void abs_f64(ALU_ARGS) { (void)op; d[0] = s[0] & ~(UINT64_C(1) << 63); }
static void neg_f32(ALU_ARGS) { (void)op; d[0] = (uint32_t)s[0] ^ 0x80000000u; }
static void neg_f32ftz(ALU_ARGS) { (void)op; d[0] = f32_flush((uint32_t)s[0]) ^ 0x80000000u; }
static void neg_f64(ALU_ARGS) { (void)op; d[0] = s[0] ^ UINT64_C(1) << 63; }

/* The sign of the first operand on the magnitude of the second. */
static void copysign_f32(ALU_ARGS)
{
	(void)op;
	d[0] = (s[0] & 0x80000000u) | (s[1] & 0x7fffffffu);
}

static void copysign_f64(ALU_ARGS)
{
	const uint64_t sign = UINT64_C(1) << 63;

	(void)op;
	d[0] = (s[0] & sign) | (s[1] & ~sign);
}

static bool decode_sign(struct alu_dec *c, emu_alu_fn *f32, emu_alu_fn *ftz, emu_alu_fn *f64,
			unsigned nsrc)
{
	const enum ptx_mod t = c->nt == 1 ? c->t[0] : MOD_NONE;

	if (t == MOD_F64)
		return alu_set(c, f64, 1, nsrc);
	if (t != MOD_F32)
		return alu_fail(c, "the instruction has no such type");
	return alu_set(c, ftz && alu_take(c, MOD_FTZ) ? ftz : f32, 1, nsrc);
}

bool alu_decode_float(struct alu_dec *c)
{
	switch ((int)c->in->id) {
	case INST_ADD: return use_row(c, &row_add);
	case INST_SUB: return use_row(c, &row_sub);
	case INST_MUL: return use_row(c, &row_mul);
	case INST_FMA:
	case INST_MAD: return use_row(c, &row_fma);
	case INST_DIV: return use_row(c, &row_div);
	case INST_RCP: return use_row(c, &row_rcp);
	case INST_SQRT: return use_row(c, &row_sqrt);
	case INST_MIN: return decode_minmax(c, false);
	case INST_MAX: return decode_minmax(c, true);
	case INST_ABS: return decode_sign(c, abs_f32, abs_f32ftz, abs_f64, 1);
	case INST_NEG: return decode_sign(c, neg_f32, neg_f32ftz, neg_f64, 1);
	case INST_COPYSIGN: return decode_sign(c, copysign_f32, NULL, copysign_f64, 2);
	}
	return alu_fail(c, "the instruction has no floating-point form");
}
