/* SPDX-License-Identifier: Apache-2.0
 *
 * alu_carry.c: extended-precision integer arithmetic through the condition
 * code register: add.cc addc sub.cc subc mad.cc madc.
 *
 * CC.CF comes in as src[nsrc] and goes out as dst[ndst]; an instruction without
 * .cc passes it on unchanged.  After a subtraction CF is the borrow.
 */
#include "emu/alu_impl.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

enum { CC_WRITES, CC_READS };           /* flags; flags[7] is for emu_alu_uses_cc() */

/* `sum` does not fit its register if it has bits above `bits`. */
#define CARRY_FNS(bits, T, WIDE, SWIDE, ST) \
	static void addc##bits(ALU_ARGS) \
	{ \
		const uint64_t cf = s[2]; \
		const WIDE sum = (WIDE)(T)s[0] + (T)s[1] + (op->flags[CC_READS] ? cf : 0); \
		d[0] = (T)sum; \
		d[1] = op->flags[CC_WRITES] ? (uint64_t)(sum >> bits) : cf; \
	} \
	static void subc##bits(ALU_ARGS) \
	{ \
		const uint64_t cf = s[2]; \
		const WIDE diff = (WIDE)(T)s[0] - (T)s[1] - (op->flags[CC_READS] ? cf : 0); \
		d[0] = (T)diff; \
		d[1] = op->flags[CC_WRITES] ? (uint64_t)(diff >> bits) & 1 : cf; \
	} \
	static inline void madc##bits(const struct emu_alu *op, uint64_t *d, uint64_t c, \
				      uint64_t cf, T part) \
	{ \
		const WIDE sum = (WIDE)part + (T)c + (op->flags[CC_READS] ? cf : 0); \
		d[0] = (T)sum; \
		d[1] = op->flags[CC_WRITES] ? (uint64_t)(sum >> bits) : cf; \
	} \
	static void madc_lo##bits(ALU_ARGS) \
	{ \
		madc##bits(op, d, s[2], s[3], (T)((T)s[0] * (T)s[1])); \
	} \
	static void madc_hi_u##bits(ALU_ARGS) \
	{ \
		madc##bits(op, d, s[2], s[3], (T)((WIDE)(T)s[0] * (T)s[1] >> bits)); \
	} \
	static void madc_hi_s##bits(ALU_ARGS) \
	{ \
		madc##bits(op, d, s[2], s[3], \
			   (T)((WIDE)((SWIDE)(ST)s[0] * (ST)s[1]) >> bits)); \
	}

CARRY_FNS(32, uint32_t, uint64_t, int64_t, int32_t)
CARRY_FNS(64, uint64_t, u128, s128, int64_t)

bool alu_decode_carry(struct alu_dec *c)
{
	const bool reads = c->in->id == INST_ADDC || c->in->id == INST_SUBC ||
			   c->in->id == INST_MADC;
	const enum ptx_mod t = c->nt == 1 ? c->t[0] : MOD_NONE;
	const bool is64 = t == MOD_U64 || t == MOD_S64;
	const bool is_signed = t == MOD_S32 || t == MOD_S64;

	if (!is64 && t != MOD_U32 && t != MOD_S32)
		return alu_fail(c, "carry instructions take .u32 .s32 .u64 .s64");
	c->out->flags[CC_READS] = reads;
	c->out->flags[CC_WRITES] = alu_take(c, MOD_CC);
	c->out->flags[ALU_FLAG_CC] = 1;
	switch ((int)c->in->id) {
	case INST_ADD_CC:
	case INST_ADDC:
		return alu_set(c, is64 ? addc64 : addc32, 1, 2);
	case INST_SUB_CC:
	case INST_SUBC:
		return alu_set(c, is64 ? subc64 : subc32, 1, 2);
	case INST_MAD_CC:
	case INST_MADC:
		if (alu_take(c, MOD_LO))
			return alu_set(c, is64 ? madc_lo64 : madc_lo32, 1, 3);
		if (!alu_take(c, MOD_HI))
			return alu_fail(c, "mad with carry needs .lo or .hi");
		if (is64)
			return alu_set(c, is_signed ? madc_hi_s64 : madc_hi_u64, 1, 3);
		return alu_set(c, is_signed ? madc_hi_s32 : madc_hi_u32, 1, 3);
	}
	return alu_fail(c, "the instruction has no carry form");
}
