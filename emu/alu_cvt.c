/* SPDX-License-Identifier: Apache-2.0
 *
 * alu_cvt.c: cvt between scalar types: integer, .f16 .bf16 .tf32 .f32 .f64.
 *
 * A result is extended to the width of its register as "Operand Size Exceeding
 * Instruction-Type Size" says: by sign for signed integers, else by zeros.
 * The common conversions have functions of their own; all others go through
 * fp_unpack() and fp_pack() and are exact by construction.
 */
#include "emu/alu_impl.h"
#include "emu/half.h"

#include <math.h>

enum { CV_DST, CV_SRC, CV_ROUND, CV_MODS, CV_REG, CV_WIDTH };

enum {                          /* bits of CV_MODS */
	CVM_FTZ = 1, CVM_SAT = 2, CVM_SATFINITE = 4, CVM_RELU = 8, CVM_INT = 16,
	CVM_SRC_SIGNED = 32, CVM_DST_SIGNED = 64
};

/* ---- integer to integer -------------------------------------------------------- */

/* CV_SRC and CV_DST are widths here. */
static inline uint64_t sext(uint64_t v, unsigned bits)
{
	return (uint64_t)((int64_t)(v << (64 - bits)) >> (64 - bits));
}

static inline uint64_t zext(uint64_t v, unsigned bits)
{
	return v << (64 - bits) >> (64 - bits);
}

#define INT_CVT(name, from, to) \
	static void name(ALU_ARGS) \
	{ \
		d[0] = zext(to(from(s[0], op->flags[CV_SRC]), op->flags[CV_DST]), \
			    op->flags[CV_REG]); \
	}

INT_CVT(cvt_uu, zext, zext)
INT_CVT(cvt_us, zext, sext)
INT_CVT(cvt_su, sext, zext)
INT_CVT(cvt_ss, sext, sext)

static void cvt_trunc32(ALU_ARGS) { (void)op; d[0] = (uint32_t)s[0]; }
static void cvt_s64_s32(ALU_ARGS) { (void)op; d[0] = (uint64_t)(int64_t)(int32_t)(uint32_t)s[0]; }

static void cvt_int_sat(ALU_ARGS)
{
	const bool ssigned = op->flags[CV_MODS] & CVM_SRC_SIGNED;
	const bool dsigned = op->flags[CV_MODS] & CVM_DST_SIGNED;
	const unsigned dbits = op->flags[CV_DST];
	const uint64_t max = mask_bits(dsigned ? dbits - 1 : dbits);
	uint64_t v = ssigned ? sext(s[0], op->flags[CV_SRC]) : zext(s[0], op->flags[CV_SRC]);

	if (ssigned && v >> 63) {
		if (!dsigned)
			v = 0;
		else if ((int64_t)v < -(int64_t)max - 1)
			v = ~max;
	} else if (v > max) {
		v = max;
	}
	d[0] = zext(v, op->flags[CV_REG]);
}

/* ---- integer to float --------------------------------------------------------------- */

static inline struct fp_mode mode_of(const struct emu_alu *op)
{
	return (struct fp_mode){
		.round = (enum fp_round)op->flags[CV_ROUND],
		.satfinite = op->flags[CV_MODS] & CVM_SATFINITE,
	};
}

/* .sat, .relu and .ftz on a value about to be packed. */
static inline struct fp_num clamp_num(const struct emu_alu *op, struct fp_num n)
{
	const unsigned mods = op->flags[CV_MODS];

	if (mods & CVM_SAT) {
		if (n.kind == FPK_NAN || n.sign)
			n = (struct fp_num){ .kind = FPK_ZERO };
		else if (n.kind == FPK_INF ||
			 (n.kind == FPK_FINITE && n.exp + 63 - __builtin_clzll(n.mant) >= 0))
			n = (struct fp_num){ .mant = 1, .kind = FPK_FINITE };
	}
	if (mods & CVM_RELU && n.sign && n.kind != FPK_NAN)
		n = (struct fp_num){ .kind = FPK_ZERO };
	return n;
}

static inline uint64_t pack(const struct emu_alu *op, struct fp_num n)
{
	const struct fp_mode m = mode_of(op);
	uint64_t u = fp_pack((enum fp_format)op->flags[CV_DST], clamp_num(op, n), &m);

	if (op->flags[CV_MODS] & CVM_FTZ && op->flags[CV_DST] == FP_F32)
		u = f32_flush((uint32_t)u);
	return u;
}

static void cvt_float_uint(ALU_ARGS)
{
	d[0] = pack(op, fp_of_u64(zext(s[0], op->flags[CV_WIDTH])));
}

static void cvt_float_sint(ALU_ARGS)
{
	d[0] = pack(op, fp_of_s64((int64_t)sext(s[0], op->flags[CV_WIDTH])));
}

static void cvt_f32_s32(ALU_ARGS) { (void)op; d[0] = f32_bits((float)(int32_t)(uint32_t)s[0]); }
static void cvt_f32_u32(ALU_ARGS) { (void)op; d[0] = f32_bits((float)(uint32_t)s[0]); }
static void cvt_f64_s32(ALU_ARGS) { (void)op; d[0] = f64_bits((double)(int32_t)(uint32_t)s[0]); }
static void cvt_f64_u32(ALU_ARGS) { (void)op; d[0] = f64_bits((double)(uint32_t)s[0]); }
static void cvt_f32_s64(ALU_ARGS) { (void)op; d[0] = f32_bits((float)(int64_t)s[0]); }
static void cvt_f64_s64(ALU_ARGS) { (void)op; d[0] = f64_bits((double)(int64_t)s[0]); }

/* ---- float to integer ----------------------------------------------------------------- */

/* The source as a double, which holds every value exactly. */
static inline double source(const struct emu_alu *op, uint64_t v)
{
	const uint32_t u = (uint32_t)v;

	switch (op->flags[CV_SRC]) {
	case FP_F16: return half_to_f32((uint16_t)v);
	case FP_BF16: return bf16_to_f32((uint16_t)v);
	case FP_F32: return f32_of(op->flags[CV_MODS] & CVM_FTZ ? f32_flush(u) : u);
	}
	return f64_of(v);
}

static inline double to_integral(const struct emu_alu *op, double v)
{
	switch (op->flags[CV_ROUND]) {
	case FP_RN: return nearbyint(v);
	case FP_RM: return floor(v);
	case FP_RP: return ceil(v);
	}
	return trunc(v);
}

/* Out of range values clamp.  NaN gives 0, or the top bit where a 64-bit type or
 * .f64 is involved ("Data Movement and Conversion Instructions: cvt"). */
static inline uint64_t nan_int(const struct emu_alu *op)
{
	const unsigned bits = op->flags[CV_WIDTH];

	return op->flags[CV_SRC] != FP_F64 && bits != 64 ? 0 : UINT64_C(1) << (bits - 1);
}

static void cvt_sint_float(ALU_ARGS)
{
	const unsigned bits = op->flags[CV_WIDTH];
	const double limit = ldexp(1.0, (int)bits - 1), v = to_integral(op, source(op, s[0]));
	uint64_t r;

	if (v != v)
		r = nan_int(op);
	else if (v >= limit)
		r = mask_bits(bits - 1);
	else if (v < -limit)
		r = ~mask_bits(bits - 1);
	else
		r = (uint64_t)(int64_t)v;
	d[0] = zext(sext(r, bits), op->flags[CV_REG]);
}

static void cvt_uint_float(ALU_ARGS)
{
	const unsigned bits = op->flags[CV_WIDTH];
	const double v = to_integral(op, source(op, s[0]));

	if (v != v)
		d[0] = nan_int(op);
	else if (v >= ldexp(1.0, (int)bits))
		d[0] = mask_bits(bits);
	else
		d[0] = v > 0 ? (uint64_t)v : 0;
}

static void cvt_rzi_s32_f32(ALU_ARGS)
{
	const float v = f32_of(s[0]);

	(void)op;
	if (v >= 0x1p31f)
		d[0] = INT32_MAX;
	else if (v >= -0x1p31f)
		d[0] = (uint32_t)(int32_t)v;
	else
		d[0] = v < 0 ? 0x80000000u : 0;
}

/* ---- float to float -------------------------------------------------------------------- */

static void cvt_float_float(ALU_ARGS)
{
	const enum fp_format src = (enum fp_format)op->flags[CV_SRC];
	const unsigned mods = op->flags[CV_MODS];
	uint64_t u = s[0];
	struct fp_num n;

	if (mods & CVM_FTZ && src == FP_F32)
		u = f32_flush((uint32_t)u);
	n = fp_unpack(src, u);
	if (mods & CVM_INT) {
		const struct fp_mode m = mode_of(op);

		n = fp_round_int(n, &m);
	}
	d[0] = pack(op, n);
}

static void cvt_f32_f16(ALU_ARGS)
{
	(void)op;
	d[0] = f32_result(half_to_f32((uint16_t)s[0]));
}

static void cvt_f32_bf16(ALU_ARGS) { (void)op; d[0] = f32_result(bf16_to_f32((uint16_t)s[0])); }
static void cvt_f16_f32(ALU_ARGS) { (void)op; d[0] = half_of_f32(f32_of(s[0])); }
static void cvt_bf16_f32(ALU_ARGS) { (void)op; d[0] = bf16_of_f32(f32_of(s[0])); }
static void cvt_f32_f64(ALU_ARGS) { (void)op; d[0] = f32_result((float)f64_of(s[0])); }

/* NaN payloads survive widening to .f64. */
static void cvt_f64_f32(ALU_ARGS)
{
	const uint32_t u = (uint32_t)s[0];

	d[0] = f64_bits((double)f32_of(op->flags[CV_MODS] & CVM_FTZ ? f32_flush(u) : u));
}

/* ---- decoding ----------------------------------------------------------------------------- */

static unsigned int_bits(enum ptx_mod t, bool *sgn)
{
	*sgn = false;
	switch ((int)t) {
	case MOD_S8: case MOD_S16: case MOD_S32: case MOD_S64:
		*sgn = true;
		return ptx_type_bits(ptx_mod_type(t));
	case MOD_U8: case MOD_U16: case MOD_U32: case MOD_U64:
		return ptx_type_bits(ptx_mod_type(t));
	}
	return 0;
}

static int float_format(enum ptx_mod t)
{
	switch ((int)t) {
	case MOD_F16: return FP_F16;
	case MOD_BF16: return FP_BF16;
	case MOD_TF32: return FP_TF32;
	case MOD_F32: return FP_F32;
	case MOD_F64: return FP_F64;
	}
	return -1;
}

static bool decode_int_int(struct alu_dec *c, unsigned sbits, bool ssigned, unsigned dbits, bool dsigned)
{
	struct emu_alu *o = c->out;

	o->flags[CV_SRC] = (uint8_t)sbits;
	o->flags[CV_DST] = (uint8_t)dbits;
	o->flags[CV_MODS] = (uint8_t)((ssigned ? CVM_SRC_SIGNED : 0) | (dsigned ? CVM_DST_SIGNED : 0));
	if (alu_take(c, MOD_SAT))
		return alu_set(c, cvt_int_sat, 1, 1);
	if (dbits == 32 && sbits >= 32 && o->flags[CV_REG] == 32)
		return alu_set(c, cvt_trunc32, 1, 1);
	if (dbits == 64 && sbits == 32)
		return alu_set(c, ssigned ? cvt_s64_s32 : cvt_trunc32, 1, 1);
	return alu_set(c, ssigned ? dsigned ? cvt_ss : cvt_su : dsigned ? cvt_us : cvt_uu, 1, 1);
}

static bool fp_rounding(struct alu_dec *c, bool *given)
{
	*given = true;
	switch (alu_take_round(c)) {
	case RND_NONE: *given = false; /* fall through */
	case RND_RN: c->out->flags[CV_ROUND] = FP_RN; return true;
	case RND_RZ: c->out->flags[CV_ROUND] = FP_RZ; return true;
	case RND_RM: c->out->flags[CV_ROUND] = FP_RM; return true;
	case RND_RP: c->out->flags[CV_ROUND] = FP_RP; return true;
	case RND_RNA: c->out->flags[CV_ROUND] = FP_RNA; return true;
	case RND_RS: break;
	}
	return false;
}

/* Takes .rni .rzi .rmi .rpi. */
static bool int_rounding(struct alu_dec *c)
{
	static const struct { enum ptx_mod mod; uint8_t round; } modes[] = {
		{ MOD_RNI, FP_RN }, { MOD_RZI, FP_RZ }, { MOD_RMI, FP_RM }, { MOD_RPI, FP_RP },
	};

	for (unsigned i = 0; i < 4; i++) {
		if (alu_take(c, modes[i].mod)) {
			c->out->flags[CV_ROUND] = modes[i].round;
			return true;
		}
	}
	return false;
}

static bool decode_int_float(struct alu_dec *c, unsigned bits, bool sgn, enum fp_format dst)
{
	struct emu_alu *o = c->out;
	bool given;
	emu_alu_fn *fn = sgn ? cvt_float_sint : cvt_float_uint;

	if (dst == FP_TF32 || !fp_rounding(c, &given) || !given || o->flags[CV_ROUND] == FP_RNA)
		return alu_fail(c, "a conversion from an integer needs .rn .rz .rm or .rp");
	o->flags[CV_DST] = (uint8_t)dst;
	o->flags[CV_WIDTH] = (uint8_t)bits;
	if (dst == FP_F32)
		alu_take(c, MOD_FTZ);           /* no integer is subnormal */
	if (alu_take(c, MOD_SAT))
		o->flags[CV_MODS] |= CVM_SAT;
	else if (o->flags[CV_ROUND] == FP_RN && dst == FP_F32 && (bits == 32 || (sgn && bits == 64)))
		fn = bits == 64 ? cvt_f32_s64 : sgn ? cvt_f32_s32 : cvt_f32_u32;
	else if (o->flags[CV_ROUND] == FP_RN && dst == FP_F64 && (bits == 32 || (sgn && bits == 64)))
		fn = bits == 64 ? cvt_f64_s64 : sgn ? cvt_f64_s32 : cvt_f64_u32;
	return alu_set(c, fn, 1, 1);
}

static bool decode_float_int(struct alu_dec *c, enum fp_format src, unsigned bits, bool sgn)
{
	struct emu_alu *o = c->out;

	if (src == FP_TF32 || !int_rounding(c))
		return alu_fail(c, "a conversion to an integer needs .rni .rzi .rmi or .rpi");
	o->flags[CV_SRC] = (uint8_t)src;
	o->flags[CV_WIDTH] = (uint8_t)bits;
	if (src == FP_F32 && alu_take(c, MOD_FTZ))
		o->flags[CV_MODS] |= CVM_FTZ;
	alu_take(c, MOD_SAT);                   /* is what happens anyway */
	if (src == FP_F32 && bits == 32 && sgn && o->flags[CV_ROUND] == FP_RZ && o->flags[CV_REG] == 32)
		return alu_set(c, cvt_rzi_s32_f32, 1, 1);
	return alu_set(c, sgn ? cvt_sint_float : cvt_uint_float, 1, 1);
}

static emu_alu_fn *plain_float_fn(enum fp_format src, enum fp_format dst)
{
	if (dst == FP_F32)
		return src == FP_F16 ? cvt_f32_f16 : src == FP_BF16 ? cvt_f32_bf16 :
		       src == FP_F64 ? cvt_f32_f64 : cvt_float_float;
	if (src == FP_F32)
		return dst == FP_F16 ? cvt_f16_f32 : dst == FP_BF16 ? cvt_bf16_f32 :
		       dst == FP_F64 ? cvt_f64_f32 : cvt_float_float;
	return cvt_float_float;
}

static bool decode_float_float(struct alu_dec *c, enum fp_format src, enum fp_format dst)
{
	struct emu_alu *o = c->out;
	/* The destinations of .f32 that know .relu and .satfinite. */
	const bool narrowed = src == FP_F32 && (dst == FP_F16 || dst == FP_BF16 || dst == FP_TF32);
	bool given;
	unsigned mods = 0;

	o->flags[CV_SRC] = (uint8_t)src;
	o->flags[CV_DST] = (uint8_t)dst;
	if (src == dst && int_rounding(c))
		mods |= CVM_INT;
	else if (!fp_rounding(c, &given))
		return alu_fail(c, "no such rounding in a scalar conversion");
	else if (!given && fp_bits(dst) < fp_bits(src))
		return alu_fail(c, "a narrowing conversion needs a rounding modifier");
	if (src == FP_TF32 || (dst == FP_TF32 && src != FP_F32) ||
	    (o->flags[CV_ROUND] == FP_RNA && dst != FP_TF32))
		return alu_fail(c, "no such conversion");
	if ((src == FP_F32 || dst == FP_F32) && alu_take(c, MOD_FTZ))
		mods |= CVM_FTZ;
	if (alu_take(c, MOD_SAT))
		mods |= CVM_SAT;
	if (narrowed && alu_take(c, MOD_SATFINITE))
		mods |= CVM_SATFINITE;
	if (narrowed && alu_take(c, MOD_RELU))
		mods |= CVM_RELU;
	o->flags[CV_MODS] = (uint8_t)mods;
	if (src == FP_F32 && dst == FP_F64 && !(mods & ~(unsigned)CVM_FTZ))
		return alu_set(c, cvt_f64_f32, 1, 1);
	return alu_set(c, mods || o->flags[CV_ROUND] != FP_RN ? cvt_float_float :
			  plain_float_fn(src, dst), 1, 1);
}

bool alu_decode_cvt(struct alu_dec *c)
{
	bool ssigned, dsigned;
	unsigned sbits, dbits, reg;
	int src, dst;

	if (c->nt != 2)
		return alu_fail(c, "cvt has two types");
	dbits = int_bits(c->t[0], &dsigned);
	sbits = int_bits(c->t[1], &ssigned);
	dst = float_format(c->t[0]);
	src = float_format(c->t[1]);
	if ((!dbits && dst < 0) || (!sbits && src < 0))
		return alu_decode_pack(c);
	reg = alu_reg_bits(&c->in->ops[0]);
	c->out->flags[CV_REG] = (uint8_t)(reg ? reg : dbits);
	if (dbits)
		return sbits ? decode_int_int(c, sbits, ssigned, dbits, dsigned) :
			       decode_float_int(c, (enum fp_format)src, dbits, dsigned);
	return sbits ? decode_int_float(c, sbits, ssigned, (enum fp_format)dst) :
		       decode_float_float(c, (enum fp_format)src, (enum fp_format)dst);
}
