/* SPDX-License-Identifier: Apache-2.0
 *
 * alu_cmp.c: comparisons: set, setp and testp of every type.
 *
 * Every comparison is one function of two words.  The common setp (one
 * predicate, no Boolean operator) gets a function of its own; all other forms
 * call the comparison through emu_alu.aux.
 */
#include "emu/alu_impl.h"
#include "emu/half.h"

typedef bool cmp_fn(uint64_t a, uint64_t b);

/* The order of these is that of the tables below. */
enum { EQ, NE, LT, LE, GT, GE, EQU, NEU, LTU, LEU, GTU, GEU, NUM, NAN_, NCMP };

/* ---- comparisons ------------------------------------------------------------ */

/* One comparison `expr` on x and y of type T, as a function and as a setp. */
#define CMP(name, T, of, expr) \
	static bool name(uint64_t a, uint64_t b) \
	{ \
		const T x = of(a), y = of(b); \
		return expr; \
	} \
	static void setp_##name(ALU_ARGS) \
	{ \
		(void)op; \
		d[0] = name(s[0], s[1]); \
	}

#define CMP_INT(type, T) \
	CMP(eq_##type, T, (T), x == y) \
	CMP(ne_##type, T, (T), x != y) \
	CMP(lt_##type, T, (T), x < y) \
	CMP(le_##type, T, (T), x <= y) \
	CMP(gt_##type, T, (T), x > y) \
	CMP(ge_##type, T, (T), x >= y)

/* The unordered forms are true if either operand is NaN; .num and .nan test that. */
#define CMP_FLOAT(type, T, of) \
	CMP(eq_##type, T, of, x == y) \
	CMP(ne_##type, T, of, x < y || x > y) \
	CMP(lt_##type, T, of, x < y) \
	CMP(le_##type, T, of, x <= y) \
	CMP(gt_##type, T, of, x > y) \
	CMP(ge_##type, T, of, x >= y) \
	CMP(equ_##type, T, of, !(x < y || x > y)) \
	CMP(neu_##type, T, of, x != y) \
	CMP(ltu_##type, T, of, !(x >= y)) \
	CMP(leu_##type, T, of, !(x > y)) \
	CMP(gtu_##type, T, of, !(x <= y)) \
	CMP(geu_##type, T, of, !(x < y)) \
	CMP(num_##type, T, of, x == x && y == y) \
	CMP(nan_##type, T, of, x != x || y != y)

static inline float f32_flushed(uint64_t v)
{
	return f32_of(f32_flush((uint32_t)v));
}

static inline float f16_flushed(uint64_t v)
{
	return half_to_f32(v & 0x7c00 ? (uint16_t)v : (uint16_t)(v & 0x8000));
}

static inline float f16_plain(uint64_t v)
{
	return half_to_f32((uint16_t)v);
}

static inline float bf16_plain(uint64_t v)
{
	return bf16_to_f32((uint16_t)v);
}

CMP_INT(u16, uint16_t)
CMP_INT(s16, int16_t)
CMP_INT(u32, uint32_t)
CMP_INT(s32, int32_t)
CMP_INT(u64, uint64_t)
CMP_INT(s64, int64_t)
CMP_FLOAT(f32, float, f32_of)
CMP_FLOAT(f32ftz, float, f32_flushed)
CMP_FLOAT(f64, double, f64_of)
CMP_FLOAT(f16, float, f16_plain)
CMP_FLOAT(f16ftz, float, f16_flushed)
CMP_FLOAT(bf16, float, bf16_plain)

struct cmp {
	cmp_fn *cmp;
	emu_alu_fn *setp;
};

#define ROW_INT(type) \
	{ [EQ] = { eq_##type, setp_eq_##type }, [NE] = { ne_##type, setp_ne_##type }, \
	  [LT] = { lt_##type, setp_lt_##type }, [LE] = { le_##type, setp_le_##type }, \
	  [GT] = { gt_##type, setp_gt_##type }, [GE] = { ge_##type, setp_ge_##type } }
#define ROW_FLOAT(type) \
	{ [EQ] = { eq_##type, setp_eq_##type }, [NE] = { ne_##type, setp_ne_##type }, \
	  [LT] = { lt_##type, setp_lt_##type }, [LE] = { le_##type, setp_le_##type }, \
	  [GT] = { gt_##type, setp_gt_##type }, [GE] = { ge_##type, setp_ge_##type }, \
	  [EQU] = { equ_##type, setp_equ_##type }, [NEU] = { neu_##type, setp_neu_##type }, \
	  [LTU] = { ltu_##type, setp_ltu_##type }, [LEU] = { leu_##type, setp_leu_##type }, \
	  [GTU] = { gtu_##type, setp_gtu_##type }, [GEU] = { geu_##type, setp_geu_##type }, \
	  [NUM] = { num_##type, setp_num_##type }, [NAN_] = { nan_##type, setp_nan_##type } }

static const struct cmp cmp_u16[NCMP] = ROW_INT(u16), cmp_s16[NCMP] = ROW_INT(s16),
	cmp_u32[NCMP] = ROW_INT(u32), cmp_s32[NCMP] = ROW_INT(s32),
	cmp_u64[NCMP] = ROW_INT(u64), cmp_s64[NCMP] = ROW_INT(s64),
	cmp_f32[NCMP] = ROW_FLOAT(f32), cmp_f32ftz[NCMP] = ROW_FLOAT(f32ftz),
	cmp_f64[NCMP] = ROW_FLOAT(f64), cmp_f16[NCMP] = ROW_FLOAT(f16),
	cmp_f16ftz[NCMP] = ROW_FLOAT(f16ftz), cmp_bf16[NCMP] = ROW_FLOAT(bf16);

/* The comparisons of a type; *lanes is 2 for a packed type. */
static const struct cmp *type_row(struct alu_dec *c, enum ptx_mod t, unsigned *lanes)
{
	*lanes = t == MOD_F16X2 || t == MOD_BF16X2 ? 2 : 1;
	switch ((int)t) {
	case MOD_B16: case MOD_U16: return cmp_u16;
	case MOD_B32: case MOD_U32: return cmp_u32;
	case MOD_B64: case MOD_U64: return cmp_u64;
	case MOD_S16: return cmp_s16;
	case MOD_S32: return cmp_s32;
	case MOD_S64: return cmp_s64;
	case MOD_F32: return alu_take(c, MOD_FTZ) ? cmp_f32ftz : cmp_f32;
	case MOD_F64: return cmp_f64;
	case MOD_F16: case MOD_F16X2: return alu_take(c, MOD_FTZ) ? cmp_f16ftz : cmp_f16;
	case MOD_BF16: case MOD_BF16X2: return cmp_bf16;
	}
	return NULL;
}

/* lo, ls, hi, hs are the unsigned spellings of lt, le, gt, ge. */
static const struct { enum ptx_mod mod; uint8_t cmp; } cmp_mods[] = {
	{ MOD_EQ, EQ }, { MOD_NE, NE }, { MOD_LT, LT }, { MOD_LE, LE }, { MOD_GT, GT }, { MOD_GE, GE },
	{ MOD_LO, LT }, { MOD_LS, LE }, { MOD_HI, GT }, { MOD_HS, GE },
	{ MOD_EQU, EQU }, { MOD_NEU, NEU }, { MOD_LTU, LTU }, { MOD_LEU, LEU },
	{ MOD_GTU, GTU }, { MOD_GEU, GEU }, { MOD_NUM, NUM }, { MOD_NAN, NAN_ },
};

static const struct cmp *take_cmp(struct alu_dec *c, enum ptx_mod t, unsigned *lanes)
{
	const struct cmp *row = type_row(c, t, lanes);

	if (!row)
		return NULL;
	for (unsigned i = 0; i < sizeof cmp_mods / sizeof *cmp_mods; i++) {
		if (alu_take(c, cmp_mods[i].mod))
			return row[cmp_mods[i].cmp].cmp ? &row[cmp_mods[i].cmp] : NULL;
	}
	return NULL;
}

/* ---- Boolean operators, set and setp ------------------------------------------------- */

enum { CF_BOOL, CF_LANES, CF_DEST };
enum { BOOL_NONE, BOOL_AND, BOOL_OR, BOOL_XOR };
enum { DEST_MASK16, DEST_MASK32, DEST_F32, DEST_F16, DEST_BF16 };

static inline bool compare(const struct emu_alu *op, uint64_t a, uint64_t b)
{
	return ((cmp_fn *)(uintptr_t)op->aux)(a, b);
}

static inline bool with_bool(const struct emu_alu *op, bool t, uint64_t c)
{
	const bool q = c & 1;

	switch (op->flags[CF_BOOL]) {
	case BOOL_AND: return t && q;
	case BOOL_OR: return t || q;
	case BOOL_XOR: return t != q;
	}
	return t;
}

static inline uint64_t third(const struct emu_alu *op, const uint64_t *s)
{
	return op->flags[CF_BOOL] ? s[2] : 0;
}

static void setp_one(ALU_ARGS)
{
	d[0] = with_bool(op, compare(op, s[0], s[1]), third(op, s));
}

/* p|q: q is the same with the comparison negated. */
static void setp_pair(ALU_ARGS)
{
	const bool t = compare(op, s[0], s[1]);
	const uint64_t c = third(op, s);

	d[0] = with_bool(op, t, c);
	d[1] = with_bool(op, !t, c);
}

/* Packed types: p is the low lane's result and q the high lane's. */
static void setp_lanes(ALU_ARGS)
{
	const bool lo = compare(op, s[0] & 0xffff, s[1] & 0xffff);
	const bool hi = compare(op, s[0] >> 16 & 0xffff, s[1] >> 16 & 0xffff);
	const uint64_t c = third(op, s);

	d[0] = with_bool(op, lo, c);
	d[1] = with_bool(op, hi, c);
}

/* p alone: the low lane. */
static void setp_low(ALU_ARGS)
{
	d[0] = with_bool(op, compare(op, s[0] & 0xffff, s[1] & 0xffff), third(op, s));
}

static inline uint32_t truth(const struct emu_alu *op, bool t)
{
	if (!t)
		return 0;
	switch (op->flags[CF_DEST]) {
	case DEST_MASK16: return 0xffff;
	case DEST_F32: return 0x3f800000;
	case DEST_F16: return 0x3c00;
	case DEST_BF16: return 0x3f80;
	}
	return 0xffffffff;
}

static void set_one(ALU_ARGS)
{
	d[0] = truth(op, with_bool(op, compare(op, s[0], s[1]), third(op, s)));
}

static void set_lanes(ALU_ARGS)
{
	const bool lo = compare(op, s[0] & 0xffff, s[1] & 0xffff);
	const bool hi = compare(op, s[0] >> 16 & 0xffff, s[1] >> 16 & 0xffff);
	const uint64_t c = third(op, s);

	d[0] = truth(op, with_bool(op, lo, c)) | truth(op, with_bool(op, hi, c)) << 16;
}

static void take_bool(struct alu_dec *c)
{
	c->out->flags[CF_BOOL] = alu_take(c, MOD_AND) ? BOOL_AND : alu_take(c, MOD_OR) ? BOOL_OR :
				 alu_take(c, MOD_XOR) ? BOOL_XOR : BOOL_NONE;
}

static bool decode_setp(struct alu_dec *c)
{
	unsigned lanes, nsrc;
	const struct cmp *cmp = c->nt == 1 ? take_cmp(c, c->t[0], &lanes) : NULL;

	if (!cmp)
		return alu_fail(c, "setp has no such comparison of this type");
	take_bool(c);
	nsrc = c->out->flags[CF_BOOL] ? 3 : 2;
	c->out->aux = (uintptr_t)cmp->cmp;
	if (lanes == 2)
		return alu_set(c, c->ndst == 2 ? setp_lanes : setp_low, c->ndst == 2 ? 2 : 1, nsrc);
	if (c->ndst == 2)
		return alu_set(c, setp_pair, 2, nsrc);
	return alu_set(c, nsrc == 2 ? cmp->setp : setp_one, 1, nsrc);
}

static bool decode_set(struct alu_dec *c)
{
	unsigned lanes;
	const struct cmp *cmp = c->nt == 2 ? take_cmp(c, c->t[1], &lanes) : NULL;
	const bool from_half = c->nt == 2 && (c->t[1] == MOD_F16 || c->t[1] == MOD_BF16);
	const enum ptx_mod dt = cmp ? c->t[0] : MOD_NONE;
	int dest = -1;

	if (!cmp)
		return alu_fail(c, "set has no such comparison of this type");
	take_bool(c);
	if (lanes == 2)
		dest = dt == MOD_U32 || dt == MOD_S32 ? DEST_MASK16 :
		       dt != c->t[1] ? -1 : dt == MOD_F16X2 ? DEST_F16 : DEST_BF16;
	else if (dt == MOD_U32 || dt == MOD_S32)
		dest = DEST_MASK32;
	else if (dt == MOD_F32)
		dest = DEST_F32;
	else if (from_half && (dt == MOD_U16 || dt == MOD_S16))
		dest = DEST_MASK16;
	else if (dt == MOD_F16)
		dest = DEST_F16;
	else if (dt == MOD_BF16)
		dest = DEST_BF16;
	if (dest < 0)
		return alu_fail(c, "set has no such result type");
	c->out->flags[CF_DEST] = (uint8_t)dest;
	c->out->aux = (uintptr_t)cmp->cmp;
	return alu_set(c, lanes == 2 ? set_lanes : set_one, 1, c->out->flags[CF_BOOL] ? 3 : 2);
}

/* ---- testp --------------------------------------------------------------------------- */

enum { TP_WHAT, TP_F64 };
enum { TP_FINITE, TP_INFINITE, TP_NUMBER, TP_NOTANUMBER, TP_NORMAL, TP_SUBNORMAL };

static void testp(ALU_ARGS)
{
	const bool wide = op->flags[TP_F64];
	const uint64_t exp_mask = wide ? 0x7ffu : 0xffu;
	const uint64_t exp = (wide ? s[0] >> 52 : s[0] >> 23) & exp_mask;
	const uint64_t frac = s[0] & mask_bits(wide ? 52 : 23);

	d[0] = 0;
	switch (op->flags[TP_WHAT]) {
	case TP_FINITE: d[0] = exp != exp_mask; break;
	case TP_INFINITE: d[0] = exp == exp_mask && !frac; break;
	case TP_NUMBER: d[0] = !(exp == exp_mask && frac); break;
	case TP_NOTANUMBER: d[0] = exp == exp_mask && frac; break;
	case TP_NORMAL: d[0] = exp != exp_mask && (exp || !frac); break; /* zeros are normal */
	case TP_SUBNORMAL: d[0] = exp == 0 && frac; break;
	}
}

static bool decode_testp(struct alu_dec *c)
{
	static const enum ptx_mod what[] = {
		[TP_FINITE] = MOD_FINITE, [TP_INFINITE] = MOD_INFINITE, [TP_NUMBER] = MOD_NUMBER,
		[TP_NOTANUMBER] = MOD_NOTANUMBER, [TP_NORMAL] = MOD_NORMAL,
		[TP_SUBNORMAL] = MOD_SUBNORMAL,
	};

	if (c->nt != 1 || (c->t[0] != MOD_F32 && c->t[0] != MOD_F64))
		return alu_fail(c, "testp takes .f32 and .f64");
	c->out->flags[TP_F64] = c->t[0] == MOD_F64;
	for (unsigned i = 0; i < sizeof what / sizeof *what; i++) {
		if (alu_take(c, what[i])) {
			c->out->flags[TP_WHAT] = (uint8_t)i;
			return alu_set(c, testp, 1, 1);
		}
	}
	return alu_fail(c, "testp has no such test");
}

bool alu_decode_cmp(struct alu_dec *c)
{
	switch ((int)c->in->id) {
	case INST_SETP: return decode_setp(c);
	case INST_SET: return decode_set(c);
	case INST_TESTP: return decode_testp(c);
	}
	return alu_fail(c, "the instruction is no comparison");
}
