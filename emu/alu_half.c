/* SPDX-License-Identifier: Apache-2.0
 *
 * alu_half.c: arithmetic on .f16 .f16x2 .bf16 .bf16x2: add sub mul fma min max
 * abs neg.
 *
 * Sums and products are formed in double precision, exactly or rounded to odd,
 * so that the one rounding to 16 bits is the only one.
 */
#include "emu/alu_impl.h"
#include "emu/half.h"

enum { HF_FTZ, HF_SAT, HF_RELU, HF_NAN, HF_ABS, HF_XORSIGN };

static inline bool h_is_nan(uint16_t h, uint16_t inf)
{
	return (h & 0x7fff) > inf;
}

#define F16_INF 0x7c00
#define BF16_INF 0x7f80

/* The exponent field of a format is all of its infinity. */
static inline uint16_t h_flush(const struct emu_alu *op, uint16_t h, uint16_t inf)
{
	return !op->flags[HF_FTZ] || h & inf ? h : h & 0x8000;
}

/* Saturation of a result: .sat to [+0, 1], NaN to 0; .relu negative values to +0. */
static inline uint16_t h_dst(const struct emu_alu *op, uint16_t h, uint16_t inf, uint16_t one)
{
	if (op->flags[HF_SAT]) {
		if (h & 0x8000 || h_is_nan(h, inf))
			return 0;
		if (h > one)
			return one;
	}
	if (op->flags[HF_RELU] && h & 0x8000 && !h_is_nan(h, inf))
		return 0;
	return h_flush(op, h, inf);
}

static inline double h_src(const struct emu_alu *op, uint16_t h)
{
	return (double)half_to_f32(h_flush(op, h, F16_INF));
}

static inline double b_src(uint16_t h)
{
	return (double)bf16_to_f32(h);
}

/* One operation: on a lane of each format, and as the four functions. */
#define ARITH(name, expr) \
	static inline uint16_t name##_h(const struct emu_alu *op, uint16_t x, uint16_t y, uint16_t z) \
	{ \
		const double a = h_src(op, x), b = h_src(op, y), c = h_src(op, z); \
		(void)c; \
		return h_dst(op, half_of_f64(expr), F16_INF, 0x3c00); \
	} \
	static inline uint16_t name##_b(const struct emu_alu *op, uint16_t x, uint16_t y, uint16_t z) \
	{ \
		const double a = b_src(x), b = b_src(y), c = b_src(z); \
		(void)c; \
		return h_dst(op, bf16_of_f64(expr), BF16_INF, 0x3f80); \
	} \
	LANES(name##_f16, name##_h) \
	LANES(name##_bf16, name##_b)

/* A lane function as an instruction, and as its packed form. */
#define LANES(name, lane) \
	static void name(ALU_ARGS) \
	{ \
		d[0] = lane(op, (uint16_t)s[0], (uint16_t)s[1], op->nsrc > 2 ? (uint16_t)s[2] : 0); \
	} \
	static void name##x2(ALU_ARGS) \
	{ \
		const uint32_t x = (uint32_t)s[0], y = (uint32_t)s[1]; \
		const uint32_t z = op->nsrc > 2 ? (uint32_t)s[2] : 0; \
		const uint32_t lo = lane(op, (uint16_t)x, (uint16_t)y, (uint16_t)z); \
		d[0] = lo | (uint32_t)lane(op, x >> 16, y >> 16, z >> 16) << 16; \
	}

ARITH(add, fp_add_odd(a, b))
ARITH(sub, fp_add_odd(a, -b))
ARITH(mul, a * b)
ARITH(fma, fp_fma_odd(a, b, c))

/* ---- min, max ------------------------------------------------------------------- */

/* Bits in an order where -0 comes before +0. */
static inline uint16_t h_key(uint16_t h)
{
	return h & 0x8000 ? (uint16_t)~h : h | 0x8000;
}

static inline uint16_t pick2(const struct emu_alu *op, uint16_t a, uint16_t b, bool max, uint16_t inf)
{
	const bool na = h_is_nan(a, inf), nb = h_is_nan(b, inf);

	if (na || nb)
		return op->flags[HF_NAN] || (na && nb) ? F16_NAN : na ? b : a;
	return (h_key(a) < h_key(b)) != max ? a : b;
}

static inline uint16_t pick(const struct emu_alu *op, uint16_t x, uint16_t y, bool max, uint16_t inf)
{
	uint16_t v[2] = { x, y }, sign = 0, r;

	for (unsigned i = 0; i < 2; i++) {
		v[i] = h_flush(op, v[i], inf);
		if (op->flags[HF_XORSIGN])
			sign ^= v[i] & 0x8000;
		if (op->flags[HF_ABS])
			v[i] &= 0x7fff;
	}
	r = pick2(op, v[0], v[1], max, inf);
	return h_is_nan(r, inf) ? F16_NAN : r | sign;
}

#define PICK(name, max) \
	static inline uint16_t name##_h(const struct emu_alu *op, uint16_t x, uint16_t y, uint16_t z) \
	{ \
		(void)z; \
		return pick(op, x, y, max, F16_INF); \
	} \
	static inline uint16_t name##_b(const struct emu_alu *op, uint16_t x, uint16_t y, uint16_t z) \
	{ \
		(void)z; \
		return pick(op, x, y, max, BF16_INF); \
	} \
	LANES(name##_f16, name##_h) \
	LANES(name##_bf16, name##_b)

PICK(min, false)
PICK(max, true)

/* ---- abs, neg --------------------------------------------------------------------- */

/* Only .f16 has .ftz here. */
static inline uint32_t flush_lanes(const struct emu_alu *op, uint32_t v)
{
	return h_flush(op, (uint16_t)v, F16_INF) | (uint32_t)h_flush(op, v >> 16, F16_INF) << 16;
}

static void abs_h(ALU_ARGS) { d[0] = h_flush(op, (uint16_t)s[0], F16_INF) & 0x7fff; }
static void neg_h(ALU_ARGS) { d[0] = h_flush(op, (uint16_t)s[0], F16_INF) ^ 0x8000; }
static void abs_hx2(ALU_ARGS) { d[0] = flush_lanes(op, (uint32_t)s[0]) & 0x7fff7fff; }
static void neg_hx2(ALU_ARGS) { d[0] = flush_lanes(op, (uint32_t)s[0]) ^ 0x80008000u; }

static bool decode_sign(struct alu_dec *c, bool f16, bool x2)
{
	c->out->flags[HF_FTZ] = f16 && alu_take(c, MOD_FTZ);
	if (c->in->id == INST_ABS)
		return alu_set(c, x2 ? abs_hx2 : abs_h, 1, 1);
	return alu_set(c, x2 ? neg_hx2 : neg_h, 1, 1);
}

/* ---- decoding ----------------------------------------------------------------------- */

struct row {
	emu_alu_fn *f16, *f16x2, *bf16, *bf16x2;
};

#define ROW(name) { name##_f16, name##_f16x2, name##_bf16, name##_bf16x2 }
static const struct row row_add = ROW(add), row_sub = ROW(sub), row_mul = ROW(mul),
	row_fma = ROW(fma), row_min = ROW(min), row_max = ROW(max);

static emu_alu_fn *row_fn(const struct row *r, bool f16, bool x2)
{
	return f16 ? x2 ? r->f16x2 : r->f16 : x2 ? r->bf16x2 : r->bf16;
}

static bool decode_arith(struct alu_dec *c, const struct row *r, bool f16, bool x2)
{
	const enum alu_round round = alu_take_round(c);
	const bool is_fma = r == &row_fma;
	uint8_t *flags = c->out->flags;

	if (round != RND_RN && (is_fma || round != RND_NONE))
		return alu_fail(c, "16-bit arithmetic rounds with .rn");
	flags[HF_FTZ] = f16 && alu_take(c, MOD_FTZ);
	flags[HF_SAT] = f16 && alu_take(c, MOD_SAT);
	flags[HF_RELU] = is_fma && alu_take(c, MOD_RELU);
	return alu_set(c, row_fn(r, f16, x2), 1, is_fma ? 3 : 2);
}

static bool decode_minmax(struct alu_dec *c, const struct row *r, bool f16, bool x2)
{
	uint8_t *flags = c->out->flags;

	flags[HF_FTZ] = f16 && alu_take(c, MOD_FTZ);
	flags[HF_NAN] = alu_take(c, MOD_NAN_PROP);
	flags[HF_ABS] = alu_take(c, MOD_ABS);
	flags[HF_XORSIGN] = alu_take(c, MOD_XORSIGN);
	if (flags[HF_XORSIGN] != flags[HF_ABS])
		return alu_fail(c, ".xorsign goes with .abs");
	return alu_set(c, row_fn(r, f16, x2), 1, 2);
}

bool alu_decode_half(struct alu_dec *c)
{
	const enum ptx_mod t = c->nt == 1 ? c->t[0] : MOD_NONE;
	const bool f16 = t == MOD_F16 || t == MOD_F16X2;
	const bool x2 = t == MOD_F16X2 || t == MOD_BF16X2;

	if (!f16 && t != MOD_BF16 && t != MOD_BF16X2)
		return alu_fail(c, "the instruction has no such type");
	switch ((int)c->in->id) {
	case INST_ADD: return decode_arith(c, &row_add, f16, x2);
	case INST_SUB: return decode_arith(c, &row_sub, f16, x2);
	case INST_MUL: return decode_arith(c, &row_mul, f16, x2);
	case INST_FMA: return decode_arith(c, &row_fma, f16, x2);
	case INST_MIN: return decode_minmax(c, &row_min, f16, x2);
	case INST_MAX: return decode_minmax(c, &row_max, f16, x2);
	case INST_ABS:
	case INST_NEG: return decode_sign(c, f16, x2);
	}
	return alu_fail(c, "the instruction has no 16-bit floating-point form");
}
