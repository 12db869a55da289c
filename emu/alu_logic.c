/* SPDX-License-Identifier: Apache-2.0
 *
 * alu_logic.c: logic, shifts and data movement between registers: and or xor
 * not cnot lop3 shl shr shf, mov with packing and unpacking, selp slct.
 */
#include "emu/alu_impl.h"

/* ---- and, or, xor, not, cnot ------------------------------------------------ */

/* Widths as indices of a table row. */
enum { PRED, W16, W32, W64, NWIDTHS };

static int width_index(const struct alu_dec *c)
{
	if (c->nt == 1) {
		switch ((int)c->t[0]) {
		case MOD_PRED: return PRED;
		case MOD_B16: return W16;
		case MOD_B32: return W32;
		case MOD_B64: return W64;
		}
	}
	return -1;
}

static bool use_width(struct alu_dec *c, emu_alu_fn *const row[NWIDTHS], unsigned nsrc)
{
	const int i = width_index(c);

	if (i < 0 || !row[i])
		return alu_fail(c, "the instruction has no such type");
	return alu_set(c, row[i], 1, nsrc);
}

#define LOGIC(name, T, expr) \
	static void name(ALU_ARGS) \
	{ \
		const uint64_t a = s[0], b = s[1]; \
		(void)op; \
		d[0] = (T)(expr); \
	}
#define LOGIC1(name, T, expr) \
	static void name(ALU_ARGS) \
	{ \
		const T a = (T)s[0]; \
		(void)op; \
		d[0] = (T)(expr); \
	}

LOGIC(and1, uint64_t, a & b & 1)
LOGIC(and16, uint16_t, a & b)
LOGIC(and32, uint32_t, a & b)
LOGIC(and64, uint64_t, a & b)
LOGIC(or1, uint64_t, (a | b) & 1)
LOGIC(or16, uint16_t, a | b)
LOGIC(or32, uint32_t, a | b)
LOGIC(or64, uint64_t, a | b)
LOGIC(xor1, uint64_t, (a ^ b) & 1)
LOGIC(xor16, uint16_t, a ^ b)
LOGIC(xor32, uint32_t, a ^ b)
LOGIC(xor64, uint64_t, a ^ b)
LOGIC1(not1, uint64_t, ~a & 1)
LOGIC1(not16, uint16_t, ~a)
LOGIC1(not32, uint32_t, ~a)
LOGIC1(not64, uint64_t, ~a)
LOGIC1(cnot16, uint16_t, a == 0)
LOGIC1(cnot32, uint32_t, a == 0)
LOGIC1(cnot64, uint64_t, a == 0)

static emu_alu_fn *const row_and[NWIDTHS] = { and1, and16, and32, and64 };
static emu_alu_fn *const row_or[NWIDTHS] = { or1, or16, or32, or64 };
static emu_alu_fn *const row_xor[NWIDTHS] = { xor1, xor16, xor32, xor64 };
static emu_alu_fn *const row_not[NWIDTHS] = { not1, not16, not32, not64 };
static emu_alu_fn *const row_cnot[NWIDTHS] = { NULL, cnot16, cnot32, cnot64 };

/* ---- lop3 ------------------------------------------------------------------------ */

/* Bit i of the table is the result for a = i >> 2 & 1, b = i >> 1 & 1, c = i & 1:
 * Shannon expansion over a and b, with c, ~c, 0 or ~0 at the leaves. */
static inline uint32_t leaf(unsigned two_bits, uint32_t c)
{
	return (two_bits & 1 ? ~c : 0) | (two_bits & 2 ? c : 0);
}

static inline uint32_t lop3_eval(uint32_t a, uint32_t b, uint32_t c, unsigned lut)
{
	return (~a & ((~b & leaf(lut, c)) | (b & leaf(lut >> 2, c)))) |
	       (a & ((~b & leaf(lut >> 4, c)) | (b & leaf(lut >> 6, c))));
}

static void lop3_any(ALU_ARGS)
{
	d[0] = lop3_eval((uint32_t)s[0], (uint32_t)s[1], (uint32_t)s[2], op->flags[0]);
}

/* lop3.BoolOp: d | p with p = (d != 0) BoolOp q. */
static void lop3_or(ALU_ARGS)
{
	d[0] = lop3_eval((uint32_t)s[0], (uint32_t)s[1], (uint32_t)s[2], op->flags[0]);
	d[1] = (d[0] != 0) | (s[4] & 1);
}

static void lop3_and(ALU_ARGS)
{
	d[0] = lop3_eval((uint32_t)s[0], (uint32_t)s[1], (uint32_t)s[2], op->flags[0]);
	d[1] = (d[0] != 0) & (s[4] & 1);
}

/* The tables that compilers emit most. */
#define LOP3(lut) \
	static void lop3_##lut(ALU_ARGS) \
	{ \
		(void)op; \
		d[0] = lop3_eval((uint32_t)s[0], (uint32_t)s[1], (uint32_t)s[2], lut); \
	}

LOP3(0x3c) LOP3(0x40) LOP3(0x6a) LOP3(0x78) LOP3(0x80) LOP3(0x96) LOP3(0xb8)
LOP3(0xc0) LOP3(0xc8) LOP3(0xca) LOP3(0xe0) LOP3(0xe2) LOP3(0xe4) LOP3(0xe8)
LOP3(0xea) LOP3(0xec) LOP3(0xf8) LOP3(0xfc) LOP3(0xfe)

static emu_alu_fn *const lop3_common[256] = {
#define ROW(lut) [lut] = lop3_##lut,
	ROW(0x3c) ROW(0x40) ROW(0x6a) ROW(0x78) ROW(0x80) ROW(0x96) ROW(0xb8)
	ROW(0xc0) ROW(0xc8) ROW(0xca) ROW(0xe0) ROW(0xe2) ROW(0xe4) ROW(0xe8)
	ROW(0xea) ROW(0xec) ROW(0xf8) ROW(0xfc) ROW(0xfe)
#undef ROW
};

static bool decode_lop3(struct alu_dec *c)
{
	const bool or = alu_take(c, MOD_OR), and = alu_take(c, MOD_AND);
	const struct ptx_operand *lut = c->in->nops > 4 ? &c->in->ops[4] : NULL;

	if (c->nt != 1 || c->t[0] != MOD_B32)
		return alu_fail(c, "lop3 takes .b32");
	if (!lut || (lut->kind != OP_INT && lut->kind != OP_EXPR))
		return alu_fail(c, "the table of lop3 must be a constant");
	c->out->flags[0] = (uint8_t)lut->ival;
	if (or || and)
		return alu_set(c, or ? lop3_or : lop3_and, 2, 5);
	return alu_set(c, lop3_common[(uint8_t)lut->ival] ? lop3_common[(uint8_t)lut->ival] :
			  lop3_any, 1, 4);
}

/* ---- shifts ---------------------------------------------------------------------- */

/* The amount is a 32-bit register; amounts beyond the width shift everything out. */
#define SHIFT(name, T, U, width, over, expr) \
	static void name(ALU_ARGS) \
	{ \
		const T a = (T)s[0]; \
		const uint32_t n = (uint32_t)s[1]; \
		(void)op; \
		d[0] = (U)(n >= width ? (over) : (expr)); \
	}

SHIFT(shl16, uint16_t, uint16_t, 16, 0, (uint32_t)a << n)
SHIFT(shl32, uint32_t, uint32_t, 32, 0, a << n)
SHIFT(shl64, uint64_t, uint64_t, 64, 0, a << n)
SHIFT(shr16, uint16_t, uint16_t, 16, 0, a >> n)
SHIFT(shr32, uint32_t, uint32_t, 32, 0, a >> n)
SHIFT(shr64, uint64_t, uint64_t, 64, 0, a >> n)
SHIFT(shr_s16, int16_t, uint16_t, 16, a >> 15, a >> n)
SHIFT(shr_s32, int32_t, uint32_t, 32, a >> 31, a >> n)
SHIFT(shr_s64, int64_t, uint64_t, 64, a >> 63, a >> n)

static emu_alu_fn *const row_shl[NWIDTHS] = { NULL, shl16, shl32, shl64 };

static bool decode_shr(struct alu_dec *c)
{
	switch ((int)(c->nt == 1 ? c->t[0] : MOD_NONE)) {
	case MOD_B16: case MOD_U16: return alu_set(c, shr16, 1, 2);
	case MOD_B32: case MOD_U32: return alu_set(c, shr32, 1, 2);
	case MOD_B64: case MOD_U64: return alu_set(c, shr64, 1, 2);
	case MOD_S16: return alu_set(c, shr_s16, 1, 2);
	case MOD_S32: return alu_set(c, shr_s32, 1, 2);
	case MOD_S64: return alu_set(c, shr_s64, 1, 2);
	}
	return alu_fail(c, "the instruction has no such type");
}

/* A funnel shift of b:a. */
#define FUNNEL(name, amount, expr) \
	static void name(ALU_ARGS) \
	{ \
		const uint64_t both = s[1] << 32 | (uint32_t)s[0]; \
		const uint32_t c = (uint32_t)s[2], n = amount; \
		(void)op; \
		d[0] = (uint32_t)(expr); \
	}

FUNNEL(shf_l_wrap, c & 31, both << n >> 32)
FUNNEL(shf_l_clamp, c < 32 ? c : 32, both << n >> 32)
FUNNEL(shf_r_wrap, c & 31, both >> n)
FUNNEL(shf_r_clamp, c < 32 ? c : 32, both >> n)

static bool decode_shf(struct alu_dec *c)
{
	const bool left = alu_take(c, MOD_L), right = alu_take(c, MOD_R);
	const bool wrap = alu_take(c, MOD_WRAP), clamp = alu_take(c, MOD_CLAMP);

	if (c->nt != 1 || c->t[0] != MOD_B32)
		return alu_fail(c, "shf takes .b32");
	if (left == right || wrap == clamp)
		return alu_fail(c, "shf needs .l or .r, and .wrap or .clamp");
	return alu_set(c, left ? wrap ? shf_l_wrap : shf_l_clamp : wrap ? shf_r_wrap : shf_r_clamp,
		       1, 3);
}

/* ---- mov ------------------------------------------------------------------------- */

static void mov1(ALU_ARGS) { (void)op; d[0] = s[0] & 1; }
static void mov16(ALU_ARGS) { (void)op; d[0] = (uint16_t)s[0]; }
static void mov32(ALU_ARGS) { (void)op; d[0] = (uint32_t)s[0]; }
static void mov64(ALU_ARGS) { (void)op; d[0] = s[0]; }
static void pack_2x32(ALU_ARGS) { (void)op; d[0] = s[1] << 32 | (uint32_t)s[0]; }
static void pack_2x16(ALU_ARGS) { (void)op; d[0] = (uint32_t)(s[1] & 0xffff) << 16 | (uint16_t)s[0]; }

static void unpack_2x32(ALU_ARGS)
{
	const uint64_t v = s[0];

	(void)op;
	d[0] = (uint32_t)v;
	d[1] = v >> 32;
}

static void unpack_2x16(ALU_ARGS)
{
	const uint32_t v = (uint32_t)s[0];

	(void)op;
	d[0] = (uint16_t)v;
	d[1] = v >> 16;
}

/* .v2 .v4: vector registers, or their elements, one for one. */
static void mov_vec32(ALU_ARGS)
{
	for (unsigned i = 0; i < op->ndst; i++)
		d[i] = (uint32_t)s[i];
}

static void mov_vec64(ALU_ARGS)
{
	for (unsigned i = 0; i < op->ndst; i++)
		d[i] = s[i];
}

/* Any packing: source words are laid end to end, lowest first, and cut up again. */
enum { MOV_SRC_BITS, MOV_DST_BITS };

static void mov_any(ALU_ARGS)
{
	const unsigned sbits = op->flags[MOV_SRC_BITS], dbits = op->flags[MOV_DST_BITS];
	uint64_t bits[2] = { 0, 0 };

	for (unsigned i = 0; i < op->nsrc; i++)
		bits[i * sbits / 64] |= (s[i] & mask_bits(sbits)) << (i * sbits % 64);
	for (unsigned i = 0; i < op->ndst; i++)
		d[i] = bits[i * dbits / 64] >> (i * dbits % 64) & mask_bits(dbits);
}

static bool decode_mov(struct alu_dec *c)
{
	const unsigned width = c->nt == 1 ? ptx_type_bits(ptx_mod_type(c->t[0])) : 0;
	const unsigned vec = alu_take(c, MOD_V2) ? 2 : alu_take(c, MOD_V4) ? 4 : 0;
	emu_alu_fn *fn = mov_any;

	if (vec)
		return width == 32 ? alu_set(c, mov_vec32, vec, vec) :
		       width == 64 ? alu_set(c, mov_vec64, vec, vec) :
				     alu_fail(c, "mov has no such vector type");
	if (c->ndst == 0 || c->nsrc == 0 || width % c->ndst || width % c->nsrc ||
	    (width != 1 && width < 16) || width > 128 ||
	    width / c->ndst > 64 || width / c->nsrc > 64)
		return alu_fail(c, "the operands of mov do not fit its type");
	c->out->flags[MOV_SRC_BITS] = (uint8_t)(width / c->nsrc);
	c->out->flags[MOV_DST_BITS] = (uint8_t)(width / c->ndst);
	if (c->ndst == 1 && c->nsrc == 1)
		fn = width == 1 ? mov1 : width == 16 ? mov16 : width == 32 ? mov32 : mov64;
	else if (c->ndst == 1 && c->nsrc == 2 && width == 64)
		fn = pack_2x32;
	else if (c->ndst == 1 && c->nsrc == 2 && width == 32)
		fn = pack_2x16;
	else if (c->ndst == 2 && c->nsrc == 1 && width == 64)
		fn = unpack_2x32;
	else if (c->ndst == 2 && c->nsrc == 1 && width == 32)
		fn = unpack_2x16;
	return alu_set(c, fn, c->ndst, c->nsrc);
}

/* ---- selp, slct --------------------------------------------------------------------- */

static void selp16(ALU_ARGS) { (void)op; d[0] = (uint16_t)(s[2] & 1 ? s[0] : s[1]); }
static void selp32(ALU_ARGS) { (void)op; d[0] = (uint32_t)(s[2] & 1 ? s[0] : s[1]); }
static void selp64(ALU_ARGS) { (void)op; d[0] = s[2] & 1 ? s[0] : s[1]; }

/* slct: a if c >= 0, else b; a float that is NaN selects b. */
enum { SL_BITS, SL_FLOAT, SL_FTZ };

static void slct(ALU_ARGS)
{
	bool first;

	if (op->flags[SL_FLOAT]) {
		const uint32_t c = (uint32_t)s[2];

		first = f32_of(op->flags[SL_FTZ] ? f32_flush(c) : c) >= 0;
	} else {
		first = !(s[2] >> 31 & 1);
	}
	d[0] = (first ? s[0] : s[1]) & mask_bits(op->flags[SL_BITS]);
}

static unsigned select_bits(enum ptx_mod t)
{
	const unsigned bits = ptx_type_bits(ptx_mod_type(t));

	switch ((int)t) {
	case MOD_B16: case MOD_U16: case MOD_S16:
	case MOD_B32: case MOD_U32: case MOD_S32: case MOD_F32:
	case MOD_B64: case MOD_U64: case MOD_S64: case MOD_F64:
		return bits;
	}
	return 0;
}

static bool decode_select(struct alu_dec *c)
{
	const unsigned bits = c->nt ? select_bits(c->t[0]) : 0;
	const bool is_slct = c->in->id == INST_SLCT;

	if (!bits || c->nt != (is_slct ? 2 : 1))
		return alu_fail(c, "the instruction has no such type");
	if (!is_slct)
		return alu_set(c, bits == 16 ? selp16 : bits == 32 ? selp32 : selp64, 1, 3);
	if (c->t[1] != MOD_S32 && c->t[1] != MOD_F32)
		return alu_fail(c, "slct selects by .s32 or .f32");
	c->out->flags[SL_BITS] = (uint8_t)bits;
	c->out->flags[SL_FLOAT] = c->t[1] == MOD_F32;
	c->out->flags[SL_FTZ] = c->t[1] == MOD_F32 && alu_take(c, MOD_FTZ);
	return alu_set(c, slct, 1, 3);
}

bool alu_decode_logic(struct alu_dec *c)
{
	switch ((int)c->in->id) {
	case INST_AND: return use_width(c, row_and, 2);
	case INST_OR: return use_width(c, row_or, 2);
	case INST_XOR: return use_width(c, row_xor, 2);
	case INST_NOT: return use_width(c, row_not, 1);
	case INST_CNOT: return use_width(c, row_cnot, 1);
	case INST_SHL: return use_width(c, row_shl, 2);
	case INST_SHR: return decode_shr(c);
	case INST_SHF: return decode_shf(c);
	case INST_LOP3: return decode_lop3(c);
	case INST_MOV: return decode_mov(c);
	case INST_SELP:
	case INST_SLCT: return decode_select(c);
	}
	return alu_fail(c, "the instruction is no logic operation");
}
