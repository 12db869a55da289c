/* SPDX-License-Identifier: Apache-2.0
 *
 * alu_video.c: video instructions: vadd vsub vabsdiff vmin vmax vshl vshr vmad
 * vset, and the SIMD forms on two half-words or four bytes, with vavrg.
 *
 * Selectors (%r1.b0, %r2.h32) are decoded here; a word is always the whole
 * register.  Everything is computed in 64 bits, where no intermediate result of
 * the ISA overflows, and cut at the end.
 */
#include "emu/alu_impl.h"

__extension__ typedef __int128 s128;

enum v_op { V_ADD, V_SUB, V_ABSDIFF, V_MIN, V_MAX, V_SHL, V_SHR, V_SET, V_AVRG };
enum v_second { SECOND_NONE, SECOND_ADD, SECOND_MIN, SECOND_MAX };

/* What an instruction needs to know, kept in emu_alu.aux. */
union video {
	struct {
		uint16_t asel, bsel;    /* SIMD: nibble i selects lane i; else enum part */
		uint8_t dsel;           /* SIMD: mask of lanes; else enum part */
		uint8_t op;             /* enum v_op; vmad: bits to shift by */
		uint16_t asigned : 1, bsigned : 1, dsigned : 1, sat : 1, wrap : 1, second : 2;
		uint16_t cmp : 3, negate : 1, negate_c : 1, po : 1;
	} f;
	uint64_t word;
};

_Static_assert(sizeof(union video) == sizeof(uint64_t), "fits in aux");

static inline union video video_of(const struct emu_alu *op)
{
	return (union video){ .word = op->aux };
}

/* ---- parts of a register -------------------------------------------------------- */

enum part { B0, B1, B2, B3, H0, H1, WHOLE };

static inline unsigned part_bits(enum part p)
{
	return p == WHOLE ? 32 : p >= H0 ? 16 : 8;
}

static inline unsigned part_shift(enum part p)
{
	return p == WHOLE ? 0 : p >= H0 ? 16u * (p - H0) : 8u * p;
}

static inline int64_t extend(uint64_t v, unsigned bits, bool sgn)
{
	v &= mask_bits(bits);
	return sgn && v >> (bits - 1) ? (int64_t)(v | ~mask_bits(bits)) : (int64_t)v;
}

static inline int64_t select_part(uint64_t v, enum part p, bool sgn)
{
	return extend(v >> part_shift(p), part_bits(p), sgn);
}

static inline int64_t saturate(int64_t v, unsigned bits, bool sgn)
{
	const int64_t max = (int64_t)mask_bits(sgn ? bits - 1 : bits), min = sgn ? -max - 1 : 0;

	return v > max ? max : v < min ? min : v;
}

/* The result into its part of c, or combined with c, or alone. */
static inline uint32_t finish(union video v, int64_t t, uint64_t cword)
{
	const enum part p = (enum part)v.f.dsel;
	const int64_t c = extend(cword, 32, v.f.dsigned);
	const uint32_t mask = (uint32_t)mask_bits(part_bits(p)) << part_shift(p);

	switch (v.f.second) {
	case SECOND_ADD: return (uint32_t)(t + c);
	case SECOND_MIN: return (uint32_t)(t < c ? t : c);
	case SECOND_MAX: return (uint32_t)(t > c ? t : c);
	}
	return ((uint32_t)t << part_shift(p) & mask) | ((uint32_t)cword & ~mask);
}

/* ---- scalar forms ------------------------------------------------------------------ */

enum { C_EQ, C_NE, C_LT, C_LE, C_GT, C_GE };

static inline bool compare(unsigned cmp, int64_t a, int64_t b)
{
	switch (cmp) {
	case C_EQ: return a == b;
	case C_NE: return a != b;
	case C_LT: return a < b;
	case C_LE: return a <= b;
	case C_GT: return a > b;
	}
	return a >= b;
}

static inline int64_t shift(union video v, int64_t a, int64_t b)
{
	const unsigned n = v.f.wrap ? (unsigned)b & 31 : b > 32 ? 32 : (unsigned)b;

	return v.f.op == V_SHL ? (int64_t)((uint64_t)a << n) : a >> n;
}

static inline int64_t apply(union video v, int64_t a, int64_t b)
{
	switch ((enum v_op)v.f.op) {
	case V_ADD: return a + b;
	case V_SUB: return a - b;
	case V_ABSDIFF: return a > b ? a - b : b - a;
	case V_MIN: return a < b ? a : b;
	case V_MAX: return a > b ? a : b;
	case V_SHL: case V_SHR: return shift(v, a, b);
	case V_SET: return compare(v.f.cmp, a, b);
	case V_AVRG: return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
	}
	return 0;
}

static void video(ALU_ARGS)
{
	const union video v = video_of(op);
	int64_t t = apply(v, select_part(s[0], (enum part)v.f.asel, v.f.asigned),
			  select_part(s[1], (enum part)v.f.bsel, v.f.bsigned));

	if (v.f.sat)
		t = saturate(t, part_bits((enum part)v.f.dsel), v.f.dsigned);
	d[0] = finish(v, t, op->nsrc > 2 ? s[2] : 0);
}

/* (a * b) + c with one of them negated, or one added, and scaled. */
static void vmad(ALU_ARGS)
{
	const union video v = video_of(op);
	const bool sgn = v.f.asigned || v.f.bsigned || v.f.negate || v.f.negate_c;
	const s128 c = extend(s[2], 32, sgn);
	s128 t = (s128)select_part(s[0], (enum part)v.f.asel, v.f.asigned) *
		 select_part(s[1], (enum part)v.f.bsel, v.f.bsigned);

	if (v.f.negate)
		t = -t;
	t = (t + (v.f.negate_c ? -c : c) + v.f.po) >> v.f.op;
	if (v.f.sat && t != saturate((int64_t)t, 32, sgn))
		t = t < 0 ? saturate(INT64_MIN, 32, sgn) : saturate(INT64_MAX, 32, sgn);
	d[0] = (uint32_t)t;
}

/* ---- SIMD forms --------------------------------------------------------------------- */

static inline int64_t select_lane(const uint64_t *s, unsigned sel, unsigned bits, bool sgn)
{
	const uint64_t both = s[1] << 32 | (uint32_t)s[0];

	return extend(both >> (sel * bits), bits, sgn);
}

static inline void simd(const struct emu_alu *op, uint64_t *d, const uint64_t *s, unsigned lanes)
{
	const union video v = video_of(op);
	const unsigned bits = 32 / lanes;
	uint32_t r = v.f.second ? (uint32_t)s[2] : 0;

	for (unsigned i = 0; i < lanes; i++) {
		const int64_t a = select_lane(s, v.f.asel >> (4 * i) & 15, bits, v.f.asigned);
		const int64_t b = select_lane(s, v.f.bsel >> (4 * i) & 15, bits, v.f.bsigned);
		const bool on = v.f.dsel >> i & 1;
		int64_t t = apply(v, a, b);

		if (v.f.sat)
			t = saturate(t, bits, v.f.dsigned);
		if (v.f.second)
			r += on ? (uint32_t)t : 0;
		else
			r |= (uint32_t)((on ? (uint64_t)t << (i * bits) : s[2]) &
					mask_bits(bits) << (i * bits));
	}
	d[0] = r;
}

static void simd2(ALU_ARGS) { simd(op, d, s, 2); }
static void simd4(ALU_ARGS) { simd(op, d, s, 4); }

/* ---- selectors ------------------------------------------------------------------------- */

static bool part_of(const struct ptx_operand *o, unsigned *part)
{
	static const char names[][3] = { "b0", "b1", "b2", "b3", "h0", "h1" };

	*part = WHOLE;
	if (!o->elemtext)
		return true;
	for (*part = 0; *part < WHOLE; ++*part) {
		if (!strcmp(o->elemtext, names[*part]))
			return true;
	}
	return false;
}

/* .hxy or .bxyzw: digits from the highest lane down, out of both sources. */
static bool lanes_of(const struct ptx_operand *o, unsigned lanes, uint16_t deflt, uint16_t *sel)
{
	const char *t = o->elemtext;

	*sel = deflt;
	if (!t)
		return true;
	if (t[0] != (lanes == 2 ? 'h' : 'b') || strlen(t) != lanes + 1)
		return false;
	*sel = 0;
	for (unsigned i = 1; i <= lanes; i++) {
		if (t[i] < '0' || t[i] >= (int)('0' + 2 * lanes))
			return false;
		*sel = (uint16_t)(*sel << 4 | (unsigned)(t[i] - '0'));
	}
	return true;
}

/* .h10, .b20 ...: the lanes written. */
static bool mask_of(const struct ptx_operand *o, unsigned lanes, uint8_t *mask)
{
	const char *t = o->elemtext;

	*mask = (uint8_t)mask_bits(lanes);
	if (!t)
		return true;
	if (t[0] != (lanes == 2 ? 'h' : 'b') || !t[1])
		return false;
	*mask = 0;
	for (t++; *t; t++) {
		if (*t < '0' || *t >= (int)('0' + lanes))
			return false;
		*mask |= (uint8_t)(1u << (*t - '0'));
	}
	return true;
}

/* ---- decoding ---------------------------------------------------------------------------- */

static const struct {
	enum ptx_inst_id id;
	uint8_t op, lanes;
} video_ops[] = {
	{ INST_VADD, V_ADD, 1 }, { INST_VSUB, V_SUB, 1 }, { INST_VABSDIFF, V_ABSDIFF, 1 },
	{ INST_VMIN, V_MIN, 1 }, { INST_VMAX, V_MAX, 1 }, { INST_VSHL, V_SHL, 1 },
	{ INST_VSHR, V_SHR, 1 }, { INST_VSET, V_SET, 1 },
	{ INST_VADD2, V_ADD, 2 }, { INST_VSUB2, V_SUB, 2 }, { INST_VAVRG2, V_AVRG, 2 },
	{ INST_VABSDIFF2, V_ABSDIFF, 2 }, { INST_VMIN2, V_MIN, 2 }, { INST_VMAX2, V_MAX, 2 },
	{ INST_VSET2, V_SET, 2 },
	{ INST_VADD4, V_ADD, 4 }, { INST_VSUB4, V_SUB, 4 }, { INST_VAVRG4, V_AVRG, 4 },
	{ INST_VABSDIFF4, V_ABSDIFF, 4 }, { INST_VMIN4, V_MIN, 4 }, { INST_VMAX4, V_MAX, 4 },
	{ INST_VSET4, V_SET, 4 },
};

/* .dtype.atype.btype; vset has no .dtype and is unsigned. */
static bool take_signs(struct alu_dec *c, union video *v, bool has_dtype)
{
	const unsigned first = has_dtype ? 1 : 0;

	if (c->nt != first + 2)
		return false;
	for (unsigned i = 0; i < c->nt; i++) {
		if (c->t[i] != MOD_U32 && c->t[i] != MOD_S32)
			return false;
	}
	v->f.dsigned = has_dtype && c->t[0] == MOD_S32;
	v->f.asigned = c->t[first] == MOD_S32;
	v->f.bsigned = c->t[first + 1] == MOD_S32;
	return true;
}

static bool take_compare(struct alu_dec *c, union video *v)
{
	static const enum ptx_mod mods[] = { MOD_EQ, MOD_NE, MOD_LT, MOD_LE, MOD_GT, MOD_GE };

	for (unsigned i = 0; i < 6; i++) {
		if (alu_take(c, mods[i])) {
			v->f.cmp = i & 7;
			return true;
		}
	}
	return false;
}

/* Operands from the second on may be negated in vmad alone. */
static bool negated(const struct alu_dec *c)
{
	for (unsigned i = 0; i < c->in->nops; i++) {
		if (c->in->ops[i].neg)
			return true;
	}
	return false;
}

static bool decode_scalar(struct alu_dec *c, union video v)
{
	const struct ptx_operand *o = c->in->ops;
	unsigned d, a, b;

	if (c->in->nops < 3 || !part_of(&o[0], &d) || !part_of(&o[1], &a) || !part_of(&o[2], &b))
		return alu_fail(c, "the video instruction has no such selectors");
	v.f.dsel = (uint8_t)d;
	v.f.asel = (uint16_t)a;
	v.f.bsel = (uint16_t)b;
	if (v.f.op == V_SHL || v.f.op == V_SHR) {
		v.f.wrap = alu_take(c, MOD_WRAP);
		if (!v.f.wrap && !alu_take(c, MOD_CLAMP))
			return alu_fail(c, "vshl and vshr need .clamp or .wrap");
		if (v.f.bsigned)
			return alu_fail(c, "vshl and vshr shift by .u32");
	}
	v.f.second = alu_take(c, MOD_ADD) ? SECOND_ADD : alu_take(c, MOD_MIN) ? SECOND_MIN :
		     alu_take(c, MOD_MAX) ? SECOND_MAX : SECOND_NONE;
	if (v.f.second && d != WHOLE)
		return alu_fail(c, "a video instruction has one secondary operation");
	c->out->aux = v.word;
	return alu_set(c, video, 1, v.f.second || d != WHOLE ? 3 : 2);
}

static bool decode_simd(struct alu_dec *c, union video v, unsigned lanes)
{
	const struct ptx_operand *o = c->in->ops;
	uint16_t asel, bsel;
	uint8_t mask;

	if (c->in->nops < 3 || !mask_of(&o[0], lanes, &mask) ||
	    !lanes_of(&o[1], lanes, lanes == 2 ? 0x10 : 0x3210, &asel) ||
	    !lanes_of(&o[2], lanes, lanes == 2 ? 0x32 : 0x7654, &bsel))
		return alu_fail(c, "the video instruction has no such selectors");
	v.f.dsel = mask;
	v.f.asel = asel;
	v.f.bsel = bsel;
	v.f.second = alu_take(c, MOD_ADD) ? SECOND_ADD : SECOND_NONE;
	if (v.f.second && v.f.sat)
		return alu_fail(c, ".sat does not go with .add");
	c->out->aux = v.word;
	return alu_set(c, lanes == 2 ? simd2 : simd4, 1, 3);
}

static bool decode_vmad(struct alu_dec *c)
{
	const struct ptx_operand *o = c->in->ops;
	union video v = { .word = 0 };
	unsigned a, b;

	if (!take_signs(c, &v, true))
		return alu_fail(c, "vmad takes three types");
	if (c->in->nops != 4 || !part_of(&o[1], &a) || !part_of(&o[2], &b) || o[0].elemtext ||
	    o[3].elemtext)
		return alu_fail(c, "vmad has no such operands");
	v.f.asel = (uint16_t)a;
	v.f.bsel = (uint16_t)b;
	v.f.op = alu_take(c, MOD_SHR7) ? 7 : alu_take(c, MOD_SHR15) ? 15 : 0;
	v.f.sat = alu_take(c, MOD_SAT);
	v.f.po = alu_take(c, MOD_PO);
	v.f.negate = o[1].neg != o[2].neg;
	v.f.negate_c = o[3].neg;
	if (v.f.negate + v.f.negate_c + v.f.po > 1)
		return alu_fail(c, "vmad negates the product or c, or adds one");
	c->out->aux = v.word;
	return alu_set(c, vmad, 1, 3);
}

bool alu_decode_video(struct alu_dec *c)
{
	union video v = { .word = 0 };

	if (c->in->id == INST_VMAD)
		return decode_vmad(c);
	for (unsigned i = 0; i < sizeof video_ops / sizeof *video_ops; i++) {
		if (video_ops[i].id != c->in->id)
			continue;
		v.f.op = video_ops[i].op;
		if (!take_signs(c, &v, v.f.op != V_SET))
			return alu_fail(c, "the video instruction has no such types");
		if (v.f.op == V_SET && !take_compare(c, &v))
			return alu_fail(c, "vset needs a comparison");
		if (negated(c))
			return alu_fail(c, "only vmad negates operands");
		v.f.sat = v.f.op != V_SET && alu_take(c, MOD_SAT);
		return video_ops[i].lanes == 1 ? decode_scalar(c, v) :
			decode_simd(c, v, video_ops[i].lanes);
	}
	return false;
}
