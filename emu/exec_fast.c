/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_fast.c: the arithmetic that programs consist of, over whole rows.  Every
 * function here computes what emu_alu computes for the same instruction; a unit
 * test holds the two against each other.  Rows are either the same or apart, so
 * the loops carry nothing from lane to lane.
 */
#include <math.h>
#include <string.h>

#include "emu/emu.h"

typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;

#define FN(name) static const struct emu_op *name(struct emu_x *x, const struct emu_op *op, uint32_t m)

#if defined(__GNUC__) && !defined(__clang__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif

#define LANES(expr) \
	if (m == EMU_ALL) { \
		INDEPENDENT \
		for (unsigned l = 0; l < EMU_LANES; l++) \
			d[l] = (expr); \
	} else { \
		EMU_EACH(l, m) \
			d[l] = (expr); \
	} \
	return op + 1;

#define FN1(name, expr) \
	FN(name) \
	{ \
		u64 *d = emu_row(x, op->o[0]); \
		const u64 *a = emu_row(x, op->o[1]); \
		LANES(expr) \
	}
#define FN2(name, expr) \
	FN(name) \
	{ \
		u64 *d = emu_row(x, op->o[0]); \
		const u64 *a = emu_row(x, op->o[1]), *b = emu_row(x, op->o[2]); \
		LANES(expr) \
	}
#define FN3(name, expr) \
	FN(name) \
	{ \
		u64 *d = emu_row(x, op->o[0]); \
		const u64 *a = emu_row(x, op->o[1]), *b = emu_row(x, op->o[2]); \
		const u64 *c = emu_row(x, op->o[3]); \
		LANES(expr) \
	}

/* ---- integers -------------------------------------------------------------------- */

FN2(add32, (u32)(a[l] + b[l]))
FN2(add64, a[l] + b[l])
FN2(sub32, (u32)(a[l] - b[l]))
FN2(sub64, a[l] - b[l])
FN2(mul32, (u32)a[l] * (u32)b[l])
FN2(mul64, a[l] * b[l])
FN2(mulh_u32, (u64)(u32)a[l] * (u32)b[l] >> 32)
FN2(mulh_s32, (u32)((s64)(s32)a[l] * (s32)b[l] >> 32))
FN2(mulw_u32, (u64)(u32)a[l] * (u32)b[l])
FN2(mulw_s32, (u64)((s64)(s32)a[l] * (s32)b[l]))
FN3(mad32, (u32)a[l] * (u32)b[l] + (u32)c[l])
FN3(mad64, a[l] * b[l] + c[l])
FN3(madw_u32, (u64)(u32)a[l] * (u32)b[l] + c[l])
FN3(madw_s32, (u64)((s64)(s32)a[l] * (s32)b[l]) + c[l])
FN2(min_u32, (u32)a[l] < (u32)b[l] ? (u32)a[l] : (u32)b[l])
FN2(max_u32, (u32)a[l] > (u32)b[l] ? (u32)a[l] : (u32)b[l])
FN2(min_s32, (u32)((s32)a[l] < (s32)b[l] ? (s32)a[l] : (s32)b[l]))
FN2(max_s32, (u32)((s32)a[l] > (s32)b[l] ? (s32)a[l] : (s32)b[l]))
FN2(min_u64, a[l] < b[l] ? a[l] : b[l])
FN2(max_u64, a[l] > b[l] ? a[l] : b[l])
FN1(neg32, (u32)(0 - a[l]))
FN1(neg64, 0 - a[l])

FN2(and32, (u32)(a[l] & b[l]))
FN2(and64, a[l] & b[l])
FN2(or32, (u32)(a[l] | b[l]))
FN2(or64, a[l] | b[l])
FN2(xor32, (u32)(a[l] ^ b[l]))
FN2(xor64, a[l] ^ b[l])
FN1(not32, (u32)~a[l])
FN1(not64, ~a[l])
FN2(shl32, (u32)b[l] < 32 ? (u32)((u32)a[l] << (b[l] & 31)) : 0)
FN2(shl64, (u32)b[l] < 64 ? a[l] << (b[l] & 63) : 0)
FN2(shr_u32, (u32)b[l] < 32 ? (u32)a[l] >> (b[l] & 31) : 0)
FN2(shr_u64, (u32)b[l] < 64 ? a[l] >> (b[l] & 63) : 0)
FN2(shr_s32, (u32)((s32)a[l] >> ((u32)b[l] < 31 ? b[l] & 31 : 31)))
FN2(shr_s64, (u64)((s64)a[l] >> ((u32)b[l] < 63 ? b[l] & 63 : 63)))

FN1(mov32, (u32)a[l])
FN1(mov64, a[l])
FN1(sext32, (u64)(s64)(s32)a[l])
FN1(low16, (uint16_t)a[l])

/* ---- floats: a NaN comes out canonical ------------------------------------------- */

static inline float f32(u64 v)
{
	u32 u = (u32)v;
	float f;

	memcpy(&f, &u, sizeof f);
	return f;
}

static inline u64 r32(float f)
{
	u32 u;

	memcpy(&u, &f, sizeof u);
	return f != f ? 0x7fffffffu : u;
}

static inline double f64(u64 v)
{
	double f;

	memcpy(&f, &v, sizeof f);
	return f;
}

FN2(add_f32, r32(f32(a[l]) + f32(b[l])))
FN2(sub_f32, r32(f32(a[l]) - f32(b[l])))
FN2(mul_f32, r32(f32(a[l]) * f32(b[l])))
FN3(fma_f32, r32(fmaf(f32(a[l]), f32(b[l]), f32(c[l]))))

/* ---- comparison and selection ------------------------------------------------------ */

#define CMP(name, T, CONV, OP) \
	FN(name) \
	{ \
		u32 *p = &x->pred[op->o[0].at], r = 0; \
		const u64 *a = emu_row(x, op->o[1]), *b = emu_row(x, op->o[2]); \
		if (m == EMU_ALL) { \
			for (unsigned l = 0; l < EMU_LANES; l++) \
				r |= (u32)((T)CONV(a[l]) OP (T)CONV(b[l])) << l; \
		} else { \
			EMU_EACH(l, m) \
				r |= (u32)((T)CONV(a[l]) OP (T)CONV(b[l])) << l; \
		} \
		*p = (*p & ~m) | r; \
		return op + 1; \
	}
#define CMPS(T, CONV) \
	CMP(eq_##T, T, CONV, ==) CMP(ne_##T, T, CONV, !=) CMP(lt_##T, T, CONV, <) \
	CMP(le_##T, T, CONV, <=) CMP(gt_##T, T, CONV, >) CMP(ge_##T, T, CONV, >=)

CMPS(u32, )
CMPS(s32, )
CMPS(u64, )
CMPS(s64, )
CMPS(float, f32)
CMPS(double, f64)

#define CMP_ROW(T) { eq_##T, ne_##T, lt_##T, le_##T, gt_##T, ge_##T }

static emu_op_fn *const compares[][6] = {
	CMP_ROW(u32), CMP_ROW(s32), CMP_ROW(u64), CMP_ROW(s64), CMP_ROW(float), CMP_ROW(double)
};

#define SELP(name, expr_a, expr_b) \
	FN(name) \
	{ \
		u64 *d = emu_row(x, op->o[0]); \
		const u64 *a = emu_row(x, op->o[1]), *b = emu_row(x, op->o[2]); \
		u32 p = emu_pred(x, op->o[3]); \
		LANES(p >> l & 1 ? (expr_a) : (expr_b)) \
	}
SELP(selp32, (u32)a[l], (u32)b[l])
SELP(selp64, a[l], b[l])

#define PRED2(name, OP) \
	FN(name) \
	{ \
		u32 *p = &x->pred[op->o[0].at]; \
		*p = (*p & ~m) | ((emu_pred(x, op->o[1]) OP emu_pred(x, op->o[2])) & m); \
		return op + 1; \
	}
PRED2(and_pred, &)
PRED2(or_pred, |)
PRED2(xor_pred, ^)

/* not and mov. */
FN(not_pred)
{
	u32 *p = &x->pred[op->o[0].at];

	*p = (*p & ~m) | (~emu_pred(x, op->o[1]) & m);
	return op + 1;
}

FN(mov_pred)
{
	u32 *p = &x->pred[op->o[0].at];

	*p = (*p & ~m) | (emu_pred(x, op->o[1]) & m);
	return op + 1;
}

/* ---- choosing ------------------------------------------------------------------------ */

enum width { W_NONE, W_PRED, W32, W64 };

static enum width width(enum ptx_type t)
{
	switch (t) {
	case TYPE_B32:
	case TYPE_U32:
	case TYPE_S32:
		return W32;
	case TYPE_B64:
	case TYPE_U64:
	case TYPE_S64:
		return W64;
	case TYPE_PRED:
		return W_PRED;
	default:
		return W_NONE;
	}
}

static bool is_signed(enum ptx_type t)
{
	return t == TYPE_S32 || t == TYPE_S64;
}

/* The instruction has `n` modifiers that are no types, all of them among the two. */
static bool only(const struct ptx_inst *in, unsigned types, enum ptx_mod a, enum ptx_mod b)
{
	unsigned t = 0;

	for (unsigned i = 0; i < in->nmods; i++) {
		if (ptx_mod_type((enum ptx_mod)in->mod[i]) != TYPE_NONE)
			t++;
		else if (in->mod[i] != a && in->mod[i] != b)
			return false;
	}
	return t == types;
}

#define BY_WIDTH(w, f32_, f64_) ((w) == W32 ? (f32_) : (w) == W64 ? (f64_) : NULL)

static emu_op_fn *fast_setp(const struct ptx_inst *in, const struct emu_opnd *o)
{
	static const enum ptx_mod ops[2][6] = {
		{MOD_EQ, MOD_NE, MOD_LT, MOD_LE, MOD_GT, MOD_GE},
		{MOD_EQ, MOD_NE, MOD_LO, MOD_LS, MOD_HI, MOD_HS}
	};
	unsigned row, k = 6;

	if (o[0].kind != OPND_PRED || in->nmods != 2)
		return NULL;
	switch (in->type) {
	case TYPE_B32:
	case TYPE_U32:
		row = 0;
		break;
	case TYPE_S32:
		row = 1;
		break;
	case TYPE_B64:
	case TYPE_U64:
		row = 2;
		break;
	case TYPE_S64:
		row = 3;
		break;
	case TYPE_F32:
		row = 4;
		break;
	case TYPE_F64:
		row = 5;
		break;
	default:
		return NULL;
	}
	for (unsigned i = 0; i < 6; i++)
		if (ptx_has(in, ops[0][i]) || (row < 4 && ptx_has(in, ops[1][i])))
			k = i;
	/* A float is unequal to a NaN only under .neu. */
	if (k == 6 || (row >= 4 && k == 1))
		return NULL;
	return compares[row][k];
}

static emu_op_fn *fast_cvt(const struct ptx_inst *in, const struct emu_opnd *o)
{
	enum width from = width(in->type), to = width(in->type2);

	if (!only(in, 2, MOD_NONE, MOD_NONE) || from < W32)
		return NULL;
	if (to == W32)
		return o[0].bits == 32 ? mov32 : NULL;
	if (to == W64 && from == W64)
		return mov64;
	if (to == W64)
		return is_signed(in->type) ? sext32 : mov32;
	if ((in->type2 == TYPE_U16 || in->type2 == TYPE_S16) && o[0].bits == 16)
		return low16;
	return NULL;
}

emu_op_fn *emu_fast(const struct ptx_inst *in, const struct emu_opnd *o, unsigned nd, unsigned ns)
{
	enum width w = width(in->type);
	bool s = is_signed(in->type), plain = only(in, 1, MOD_NONE, MOD_NONE);
	bool lo = only(in, 1, MOD_LO, MOD_NONE) && in->nmods == 2;
	bool rn = only(in, 1, MOD_RN, MOD_NONE) && in->type == TYPE_F32;

	if (nd != 1 || o[0].kind == OPND_NONE)
		return NULL;
	for (unsigned i = 0; i < 1 + ns; i++)
		if (o[i].kind != OPND_ROW && !(o[i].kind == OPND_PRED &&
		    (in->id == INST_SETP ? i == 0 : in->id == INST_SELP ? i == 3 : w == W_PRED)))
			return NULL;
	if (w == W_PRED) {
		for (unsigned i = 0; i < 1 + ns; i++)
			if (o[i].kind != OPND_PRED)
				return NULL;
		if (!plain)
			return NULL;
		return in->id == INST_AND ? and_pred : in->id == INST_OR ? or_pred :
		       in->id == INST_XOR ? xor_pred : in->id == INST_NOT ? not_pred :
		       in->id == INST_MOV ? mov_pred : NULL;
	}
	switch (in->id) {
	case INST_ADD:
		return rn ? add_f32 : plain ? BY_WIDTH(w, add32, add64) : NULL;
	case INST_SUB:
		return rn ? sub_f32 : plain ? BY_WIDTH(w, sub32, sub64) : NULL;
	case INST_MUL:
		if (rn)
			return mul_f32;
		if (only(in, 1, MOD_WIDE, MOD_NONE) && w == W32)
			return s ? mulw_s32 : mulw_u32;
		if (only(in, 1, MOD_HI, MOD_NONE) && w == W32)
			return s ? mulh_s32 : mulh_u32;
		return lo ? BY_WIDTH(w, mul32, mul64) : NULL;
	case INST_MAD:
		if (only(in, 1, MOD_WIDE, MOD_NONE) && w == W32)
			return s ? madw_s32 : madw_u32;
		return lo ? BY_WIDTH(w, mad32, mad64) : NULL;
	case INST_FMA:
		return rn ? fma_f32 : NULL;
	case INST_MIN:
		return !plain ? NULL : w == W32 ? (s ? min_s32 : min_u32) :
		       w == W64 && !s ? min_u64 : NULL;
	case INST_MAX:
		return !plain ? NULL : w == W32 ? (s ? max_s32 : max_u32) :
		       w == W64 && !s ? max_u64 : NULL;
	case INST_NEG:
		return plain ? BY_WIDTH(w, neg32, neg64) : NULL;
	case INST_AND:
		return plain ? BY_WIDTH(w, and32, and64) : NULL;
	case INST_OR:
		return plain ? BY_WIDTH(w, or32, or64) : NULL;
	case INST_XOR:
		return plain ? BY_WIDTH(w, xor32, xor64) : NULL;
	case INST_NOT:
		return plain ? BY_WIDTH(w, not32, not64) : NULL;
	case INST_SHL:
		return plain ? BY_WIDTH(w, shl32, shl64) : NULL;
	case INST_SHR:
		return !plain ? NULL : s ? BY_WIDTH(w, shr_s32, shr_s64) :
		       BY_WIDTH(w, shr_u32, shr_u64);
	case INST_MOV:                          /* two sources: a vector to pack */
		return !plain || ns != 1 ? NULL : in->type == TYPE_F32 ? mov32 : in->type == TYPE_F64 ? mov64 :
		       BY_WIDTH(w, mov32, mov64);
	case INST_SELP:
		return !plain || o[3].kind != OPND_PRED ? NULL : in->type == TYPE_F32 ? selp32 :
		       in->type == TYPE_F64 ? selp64 : BY_WIDTH(w, selp32, selp64);
	case INST_SETP:
		return fast_setp(in, o);
	case INST_CVT:
		return fast_cvt(in, o);
	default:
		return NULL;
	}
}
