/* SPDX-License-Identifier: Apache-2.0
 *
 * alu_approx.c: the approximations: div.approx div.full rcp.approx sqrt.approx
 * rsqrt sin cos lg2 ex2 tanh, of .f32, .f64 and the 16-bit formats.
 *
 * PTX bounds their error and fixes their special values, not their bits.  Here
 * they are computed in double precision and rounded once, hence more exact than
 * on hardware, with the special values that the ISA lists.
 */
#include "emu/alu_impl.h"
#include "emu/half.h"

#include <math.h>

enum { AP_FTZ };

static inline double src(const struct emu_alu *op, uint64_t v)
{
	return (double)f32_of(op->flags[AP_FTZ] ? f32_flush((uint32_t)v) : (uint32_t)v);
}

static inline uint32_t dst(const struct emu_alu *op, double v)
{
	const uint32_t u = f32_result((float)v);

	return op->flags[AP_FTZ] ? f32_flush(u) : u;
}

static void div_full(ALU_ARGS)
{
	d[0] = dst(op, src(op, s[0]) / src(op, s[1]));
}

/* Divisors between 2^126 and 2^128 are out of range: the quotient of a finite number
 * becomes a zero, that of an infinity NaN ("Floating Point Instructions: div"). */
static void div_approx(ALU_ARGS)
{
	const double a = src(op, s[0]), b = src(op, s[1]);
	double q = a / b;

	if (fabs(b) > 0x1p126 && isfinite(b) && !isnan(a))
		q = isinf(a) ? (double)NAN : copysign(0.0, q);
	d[0] = dst(op, q);
}

#define APPROX(name, expr) \
	static inline double name##_of(double a) \
	{ \
		return (expr); \
	} \
	static void name##_f32(ALU_ARGS) \
	{ \
		d[0] = dst(op, name##_of(src(op, s[0]))); \
	}

APPROX(rcp, 1.0 / a)
APPROX(sqrt, sqrt(a))
APPROX(rsqrt, 1.0 / sqrt(a))
APPROX(sin, sin(a))
APPROX(cos, cos(a))
APPROX(lg2, log2(a))
APPROX(ex2, exp2(a))
APPROX(tanh, tanh(a))

/* Subnormal inputs and results become zeros where `ftz`.  The .ftz forms of rcp
 * and rsqrt see, and give, only the upper half of a register. */
static inline uint64_t f64_flush(uint64_t u)
{
	return u >> 52 & 0x7ff ? u : u & UINT64_C(1) << 63;
}

#define UPPER UINT64_C(0xffffffff00000000)

static void rcp_ftz_f64(ALU_ARGS)
{
	(void)op;
	d[0] = f64_flush(f64_bits(1.0 / f64_of(f64_flush(s[0] & UPPER))) & UPPER);
}

static void rsqrt_ftz_f64(ALU_ARGS)
{
	(void)op;
	d[0] = f64_bits(1.0 / sqrt(f64_of(f64_flush(s[0] & UPPER)))) & UPPER;
}

static void rsqrt_f64(ALU_ARGS)
{
	(void)op;
	d[0] = f64_bits(1.0 / sqrt(f64_of(s[0])));
}

/* ---- 16-bit formats -------------------------------------------------------------- */

#define HALF_APPROX(name) \
	static inline uint32_t name##_h(uint16_t h) \
	{ \
		return half_of_f64(name##_of(half_to_f32(h))); \
	} \
	static inline uint32_t name##_b(const struct emu_alu *op, uint16_t h) \
	{ \
		uint32_t u = (uint32_t)h << 16; \
		if (op->flags[AP_FTZ]) \
			u = f32_flush(u); \
		u = (uint32_t)bf16_of_f64(name##_of(f32_of(u))) << 16; \
		return (op->flags[AP_FTZ] ? f32_flush(u) : u) >> 16; \
	} \
	static void name##_f16(ALU_ARGS) { (void)op; d[0] = name##_h((uint16_t)s[0]); } \
	static void name##_bf16(ALU_ARGS) { d[0] = name##_b(op, (uint16_t)s[0]); } \
	static void name##_f16x2(ALU_ARGS) \
	{ \
		(void)op; \
		d[0] = name##_h((uint16_t)s[0]) | name##_h((uint16_t)(s[0] >> 16)) << 16; \
	} \
	static void name##_bf16x2(ALU_ARGS) \
	{ \
		d[0] = name##_b(op, (uint16_t)s[0]) | name##_b(op, (uint16_t)(s[0] >> 16)) << 16; \
	}

HALF_APPROX(ex2)
HALF_APPROX(tanh)

/* ---- decoding ----------------------------------------------------------------------- */

static bool use_f32(struct alu_dec *c, emu_alu_fn *fn, unsigned nsrc)
{
	if (c->nt != 1 || c->t[0] != MOD_F32)
		return alu_fail(c, "the approximation has no such type");
	c->out->flags[AP_FTZ] = alu_take(c, MOD_FTZ);
	return alu_set(c, fn, 1, nsrc);
}

static bool use_any(struct alu_dec *c, emu_alu_fn *f32, emu_alu_fn *f16, emu_alu_fn *f16x2,
		    emu_alu_fn *bf16, emu_alu_fn *bf16x2)
{
	const bool is_ex2 = c->in->id == INST_EX2;
	emu_alu_fn *fn = NULL;

	switch ((int)(c->nt == 1 ? c->t[0] : MOD_NONE)) {
	case MOD_F32: fn = f32; break;
	case MOD_F16: fn = f16; break;
	case MOD_F16X2: fn = f16x2; break;
	case MOD_BF16: fn = bf16; break;
	case MOD_BF16X2: fn = bf16x2; break;
	}
	if (!fn)
		return alu_fail(c, "the approximation has no such type");
	/* ex2 of .bf16 comes with .ftz alone, of .f16 without; tanh knows no .ftz. */
	if (is_ex2 && fn != f16 && fn != f16x2)
		c->out->flags[AP_FTZ] = alu_take(c, MOD_FTZ);
	if (is_ex2 && (fn == bf16 || fn == bf16x2) && !c->out->flags[AP_FTZ])
		return alu_fail(c, "ex2 of .bf16 needs .ftz");
	return alu_set(c, fn, 1, 1);
}

/* The .f64 forms of rcp and rsqrt. */
static bool use_f64(struct alu_dec *c, emu_alu_fn *fn, emu_alu_fn *ftz)
{
	if (alu_take(c, MOD_FTZ))
		return alu_set(c, ftz, 1, 1);
	return fn ? alu_set(c, fn, 1, 1) : alu_fail(c, "rcp.approx.f64 needs .ftz");
}

bool alu_decode_approx(struct alu_dec *c)
{
	const bool f64 = c->nt == 1 && c->t[0] == MOD_F64;
	const bool full = alu_take(c, MOD_FULL);

	if (!full && !alu_take(c, MOD_APPROX))
		return alu_fail(c, "the instruction needs .approx");
	if (full && c->in->id != INST_DIV)
		return alu_fail(c, "only div has .full");
	switch ((int)c->in->id) {
	case INST_DIV: return use_f32(c, full ? div_full : div_approx, 2);
	case INST_RCP: return f64 ? use_f64(c, NULL, rcp_ftz_f64) : use_f32(c, rcp_f32, 1);
	case INST_RSQRT: return f64 ? use_f64(c, rsqrt_f64, rsqrt_ftz_f64) : use_f32(c, rsqrt_f32, 1);
	case INST_SQRT: return use_f32(c, sqrt_f32, 1);
	case INST_SIN: return use_f32(c, sin_f32, 1);
	case INST_COS: return use_f32(c, cos_f32, 1);
	case INST_LG2: return use_f32(c, lg2_f32, 1);
	case INST_EX2: return use_any(c, ex2_f32, ex2_f16, ex2_f16x2, ex2_bf16, ex2_bf16x2);
	case INST_TANH: return use_any(c, tanh_f32, tanh_f16, tanh_f16x2, tanh_bf16, tanh_bf16x2);
	}
	return alu_fail(c, "the instruction is no approximation");
}
