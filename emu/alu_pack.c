/* SPDX-License-Identifier: Apache-2.0
 *
 * alu_pack.c: cvt to and from packed floating-point types (.f16x2 .bf16x2
 * .e4m3x2 .e2m1x4 .ue8m0x2 ...), and cvt.pack.
 *
 * The first source is the highest lane.  Lanes of .e2m3 and .e3m2 lie in bytes.
 */
#include "emu/alu_impl.h"
#include "emu/half.h"

enum { PK_DST, PK_SRC, PK_ROUND, PK_MODS, PK_LANES };

enum { PKM_SATFINITE = 1, PKM_RELU = 2, PKM_PACKED = 4 };      /* PACKED: of the source */

struct packed {
	int format;             /* enum fp_format, -1 for none */
	unsigned lanes;
};

static struct packed packed_type(enum ptx_mod t)
{
	switch ((int)t) {
	case MOD_F16X2: return (struct packed){ FP_F16, 2 };
	case MOD_BF16X2: return (struct packed){ FP_BF16, 2 };
	case MOD_E4M3X2: return (struct packed){ FP_E4M3, 2 };
	case MOD_E5M2X2: return (struct packed){ FP_E5M2, 2 };
	case MOD_E2M3X2: return (struct packed){ FP_E2M3, 2 };
	case MOD_E3M2X2: return (struct packed){ FP_E3M2, 2 };
	case MOD_E2M1X2: return (struct packed){ FP_E2M1, 2 };
	case MOD_UE8M0X2: return (struct packed){ FP_UE8M0, 2 };
	case MOD_E4M3X4: return (struct packed){ FP_E4M3, 4 };
	case MOD_E5M2X4: return (struct packed){ FP_E5M2, 4 };
	case MOD_E2M3X4: return (struct packed){ FP_E2M3, 4 };
	case MOD_E3M2X4: return (struct packed){ FP_E3M2, 4 };
	case MOD_E2M1X4: return (struct packed){ FP_E2M1, 4 };
	}
	return (struct packed){ -1, 0 };
}

static inline unsigned lane_bits(enum fp_format f)
{
	return fp_bits(f) == 6 ? 8 : fp_bits(f);
}

/* The random bits of lane `i`, counted from the first source on. */
static void set_random(struct fp_mode *m, enum fp_format dst, unsigned i, unsigned lanes,
		       uint32_t rbits)
{
	const bool upper = i < lanes / 2;

	if (dst == FP_E2M1) {
		const unsigned shift = upper ? 8 : 0;

		m->random = (rbits >> (16 + shift) & 0xff) << 8 | (rbits >> shift & 0xff);
		m->rbits = 16;
		return;
	}
	m->random = upper ? rbits >> 16 : rbits & 0xffff;
	m->rbits = dst == FP_F16 ? 13 : 16;
}

static void cvt_packed(ALU_ARGS)
{
	const enum fp_format dst = (enum fp_format)op->flags[PK_DST];
	const enum fp_format src = (enum fp_format)op->flags[PK_SRC];
	const unsigned lanes = op->flags[PK_LANES], mods = op->flags[PK_MODS];
	struct fp_mode m = {
		.round = (enum fp_round)op->flags[PK_ROUND],
		.satfinite = mods & PKM_SATFINITE,
	};
	uint64_t r = 0;

	for (unsigned i = 0; i < lanes; i++) {
		const uint64_t bits = mods & PKM_PACKED ? s[0] >> (lanes - 1 - i) * lane_bits(src) : s[i];
		struct fp_num n = fp_unpack(src, bits);

		if (mods & PKM_RELU && n.sign && n.kind != FPK_NAN)
			n = (struct fp_num){ .kind = FPK_ZERO };
		if (m.round == FP_RS)
			set_random(&m, dst, i, lanes, (uint32_t)s[op->nsrc - 1]);
		r = r << lane_bits(dst) | fp_pack(dst, n, &m);
	}
	d[0] = r;
}

static bool is_small(int f)
{
	return f == FP_E4M3 || f == FP_E5M2 || f == FP_E2M3 || f == FP_E3M2 || f == FP_E2M1;
}

/* Roundings of a conversion from .f32 or between packed types. */
static bool take_rounding(struct alu_dec *c, int dst)
{
	const enum alu_round r = alu_take_round(c);
	const bool rz = dst == FP_F16 || dst == FP_BF16 || dst == FP_UE8M0;
	int round = -1;

	if (r == RND_RN && dst != FP_UE8M0)
		round = FP_RN;
	else if (r == RND_RZ && rz)
		round = FP_RZ;
	else if (r == RND_RP && dst == FP_UE8M0)
		round = FP_RP;
	else if (r == RND_RS && dst != FP_UE8M0)
		round = FP_RS;
	c->out->flags[PK_ROUND] = (uint8_t)round;
	return round >= 0;
}

bool alu_decode_pack(struct alu_dec *c)
{
	const struct packed dst = packed_type(c->t[0]), src = packed_type(c->t[1]);
	const bool from_f32 = c->t[1] == MOD_F32;
	struct emu_alu *o = c->out;
	bool rs;

	if (dst.format < 0 || (!from_f32 && src.lanes != dst.lanes))
		return alu_fail(c, "no such conversion");
	if (!from_f32 && !(is_small(dst.format) && src.format == FP_F16) &&
	    !(dst.format == FP_F16 && is_small(src.format)) &&
	    !(dst.format == FP_UE8M0 && src.format == FP_BF16) &&
	    !(dst.format == FP_BF16 && src.format == FP_UE8M0))
		return alu_fail(c, "no such conversion between packed types");
	if (!take_rounding(c, dst.format))
		return alu_fail(c, "the conversion has no such rounding");
	rs = o->flags[PK_ROUND] == FP_RS;
	if ((rs && !from_f32) || (dst.lanes == 4 && !rs) || (rs && dst.lanes == 2 && is_small(dst.format)))
		return alu_fail(c, ".rs goes with .f16x2, .bf16x2 and four lanes from .f32");
	o->flags[PK_DST] = (uint8_t)dst.format;
	o->flags[PK_SRC] = (uint8_t)(from_f32 ? FP_F32 : src.format);
	o->flags[PK_LANES] = (uint8_t)dst.lanes;
	o->flags[PK_MODS] = (uint8_t)((from_f32 ? 0 : PKM_PACKED) |
				      (alu_take(c, MOD_SATFINITE) ? PKM_SATFINITE : 0) |
				      (dst.format != FP_UE8M0 && alu_take(c, MOD_RELU) ? PKM_RELU : 0));
	if (is_small(dst.format) && !(o->flags[PK_MODS] & PKM_SATFINITE))
		return alu_fail(c, "a conversion to an 8-bit or smaller float needs .satfinite");
	return alu_set(c, cvt_packed, 1, (from_f32 ? dst.lanes : 1) + rs);
}

/* ---- cvt.pack ----------------------------------------------------------------------- */

enum { CP_BITS, CP_SIGNED, CP_WITH_C };

/* a and b clamped to the type side by side, above them the low bits of c. */
static void cvt_pack(ALU_ARGS)
{
	const unsigned bits = op->flags[CP_BITS];
	const int32_t max = (int32_t)mask_bits(op->flags[CP_SIGNED] ? bits - 1 : bits);
	const int32_t min = op->flags[CP_SIGNED] ? -max - 1 : 0;
	uint64_t r = op->flags[CP_WITH_C] ? s[2] : 0;

	for (unsigned i = 0; i < 2; i++) {
		int32_t v = (int32_t)(uint32_t)s[i];

		v = v > max ? max : v < min ? min : v;
		r = r << bits | ((uint32_t)v & mask_bits(bits));
	}
	d[0] = (uint32_t)r;
}

bool alu_decode_cvt_pack(struct alu_dec *c)
{
	const enum ptx_mod t = c->nt >= 2 ? c->t[0] : MOD_NONE;
	const bool with_c = c->nt == 3;
	const unsigned bits = ptx_type_bits(ptx_mod_type(t));

	if (!alu_take(c, MOD_PACK) || !alu_take(c, MOD_SAT))
		return alu_fail(c, "cvt.pack needs .sat");
	if (c->nt < 2 || c->t[1] != MOD_S32 || (with_c && c->t[2] != MOD_B32))
		return alu_fail(c, "cvt.pack packs .s32, with .b32");
	switch ((int)t) {
	case MOD_U16: case MOD_S16:
		if (with_c)
			return alu_fail(c, "two 16-bit values leave no room for a third");
		break;
	case MOD_U8: case MOD_S8: case MOD_U4: case MOD_S4: case MOD_U2: case MOD_S2:
		if (!with_c)
			return alu_fail(c, "cvt.pack of a narrow type needs .b32");
		break;
	default:
		return alu_fail(c, "cvt.pack has no such type");
	}
	c->out->flags[CP_BITS] = (uint8_t)bits;
	c->out->flags[CP_SIGNED] = t == MOD_S16 || t == MOD_S8 || t == MOD_S4 || t == MOD_S2;
	c->out->flags[CP_WITH_C] = with_c;
	return alu_set(c, cvt_pack, 1, with_c ? 3 : 2);
}
