/* SPDX-License-Identifier: Apache-2.0
 *
 * alu.c: from an instruction to the function that executes it.
 *
 * Counts the words of the operands, collects the types, asks the family's
 * decoder, and refuses the instruction if a modifier was not understood.
 */
#include "emu/alu_impl.h"

/* ---- modifiers ----------------------------------------------------------------- */

bool alu_take(struct alu_dec *c, enum ptx_mod m)
{
	bool found = false;

	for (unsigned i = 0; i < c->in->nmods; i++) {
		if (c->in->mod[i] == m) {
			c->taken |= UINT64_C(1) << i;
			found = true;
		}
	}
	return found;
}

bool alu_fail(struct alu_dec *c, const char *why)
{
	c->why = why;
	return false;
}

bool alu_set(struct alu_dec *c, emu_alu_fn *fn, unsigned ndst, unsigned nsrc)
{
	if (c->ndst != ndst || c->nsrc != nsrc)
		return alu_fail(c, "the number of operands does not fit the instruction");
	c->out->fn = fn;
	c->out->ndst = (uint8_t)ndst;
	c->out->nsrc = (uint8_t)nsrc;
	return true;
}

enum alu_round alu_take_round(struct alu_dec *c)
{
	static const struct { enum ptx_mod mod; enum alu_round round; } modes[] = {
		{ MOD_RN, RND_RN }, { MOD_RZ, RND_RZ }, { MOD_RM, RND_RM }, { MOD_RP, RND_RP },
		{ MOD_RNA, RND_RNA }, { MOD_RS, RND_RS },
	};

	for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
		if (alu_take(c, modes[i].mod))
			return modes[i].round;
	}
	return RND_NONE;
}

/* Every modifier that names a type is taken here. */
static bool take_types(struct alu_dec *c)
{
	for (unsigned i = 0; i < c->in->nmods; i++) {
		const enum ptx_mod m = (enum ptx_mod)c->in->mod[i];

		if (ptx_mod_type(m) == TYPE_NONE)
			continue;
		if (c->nt == ALU_MAX_TYPES)
			return false;
		c->taken |= UINT64_C(1) << i;
		c->t[c->nt++] = m;
	}
	return true;
}

/* ---- operands --------------------------------------------------------------------- */

unsigned alu_reg_bits(const struct ptx_operand *o)
{
	if (o->kind != OP_SYM || o->sym->kind != SYM_REG)
		return 0;
	return ptx_type_bits(o->sym->type);
}

/* Words of an operand; must agree with how the caller lays them out. */
static unsigned words(const struct ptx_operand *o)
{
	unsigned n = 0;

	switch (o->kind) {
	case OP_VEC:
	case OP_PAIR:
		for (unsigned i = 0; i < o->n; i++)
			n += words(&o->list[i]);
		return n;
	case OP_SYM:
		if (o->sym->kind == SYM_REG && !o->elem) {
			const unsigned vec = o->sym->vec ? o->sym->vec : 1;

			return o->sym->type == TYPE_B128 ? 2 * vec : vec;
		}
		return 1;
	case OP_SINK: case OP_INT: case OP_FLOAT: case OP_ADDR: case OP_LIST: case OP_EXPR:
		break;
	}
	return 1;
}

uint64_t emu_alu_literal(const struct ptx_inst *in, const struct ptx_operand *o)
{
	if (o->kind != OP_FLOAT)
		return o->ival;
	if (o->isdouble && in->type == TYPE_F32)
		return f32_bits((float)f64_of(o->ival));
	if (!o->isdouble && in->type == TYPE_F64)
		return f64_bits((double)f32_of(o->ival));
	return o->ival;
}

/* ---- families ------------------------------------------------------------------------ */

static bool is_half(enum ptx_mod t)
{
	return t == MOD_F16 || t == MOD_F16X2 || t == MOD_BF16 || t == MOD_BF16X2;
}

static bool is_float(enum ptx_mod t)
{
	return t == MOD_F32 || t == MOD_F64 || t == MOD_F32X2;
}

/* Arithmetic whose type decides where it belongs. */
static bool decode_arith(struct alu_dec *c)
{
	const enum ptx_mod t = c->nt ? c->t[0] : MOD_NONE;

	if (is_float(t))
		return alu_decode_float(c);
	if (is_half(t))
		return alu_decode_half(c);
	return alu_decode_int(c);
}

static bool decode(struct alu_dec *c)
{
	switch (c->in->id) {
	case INST_ADD: case INST_SUB: case INST_MUL: case INST_MAD: case INST_FMA:
	case INST_MIN: case INST_MAX: case INST_ABS: case INST_NEG:
		return decode_arith(c);
	case INST_MUL24: case INST_MAD24: case INST_SAD: case INST_REM:
	case INST_DP4A: case INST_DP2A:
		return alu_decode_int(c);
	case INST_ADD_CC: case INST_ADDC: case INST_SUB_CC: case INST_SUBC:
	case INST_MAD_CC: case INST_MADC:
		return alu_decode_carry(c);
	case INST_POPC: case INST_CLZ: case INST_BFIND: case INST_FNS: case INST_BREV:
	case INST_BFE: case INST_BFI: case INST_BMSK: case INST_SZEXT: case INST_PRMT:
		return alu_decode_bits(c);
	case INST_AND: case INST_OR: case INST_XOR: case INST_NOT: case INST_CNOT:
	case INST_LOP3: case INST_SHL: case INST_SHR: case INST_SHF: case INST_MOV:
	case INST_SELP: case INST_SLCT:
		return alu_decode_logic(c);
	case INST_SET: case INST_SETP: case INST_TESTP:
		return alu_decode_cmp(c);
	case INST_COPYSIGN:
		return alu_decode_float(c);
	case INST_DIV:
		if (ptx_has(c->in, MOD_APPROX) || ptx_has(c->in, MOD_FULL))
			return alu_decode_approx(c);
		return decode_arith(c);
	case INST_RCP: case INST_SQRT:
		if (ptx_has(c->in, MOD_APPROX))
			return alu_decode_approx(c);
		return alu_decode_float(c);
	case INST_RSQRT: case INST_SIN: case INST_COS: case INST_LG2: case INST_EX2: case INST_TANH:
		return alu_decode_approx(c);
	case INST_CVT:
		return alu_decode_cvt(c);
	case INST_CVT_PACK:
		return alu_decode_cvt_pack(c);
	default:
		return alu_decode_video(c);
	}
}

bool emu_alu_decode(const struct ptx_inst *in, struct emu_alu *out, const char **why)
{
	struct alu_dec c = { .in = in, .out = out, .why = "not an arithmetic instruction" };
	bool ok;

	memset(out, 0, sizeof *out);
	if (in->nmods > 64 || !take_types(&c)) {
		*why = "too many modifiers";
		return false;
	}
	for (unsigned i = 0; i < in->nops; i++)
		*(i ? &c.nsrc : &c.ndst) += words(&in->ops[i]);
	ok = decode(&c);
	if (ok && c.taken != mask_bits(in->nmods)) {
		ok = false;
		c.why = "a modifier is not implemented for this instruction";
	}
	if (!ok)
		*why = c.why;
	return ok;
}

bool emu_alu_uses_cc(const struct emu_alu *op)
{
	return op->flags[ALU_FLAG_CC];
}
