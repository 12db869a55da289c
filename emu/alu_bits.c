/* SPDX-License-Identifier: Apache-2.0
 *
 * alu_bits.c: counting, finding, extracting and permuting bits: popc clz bfind
 * fns brev bfe bfi bmsk szext prmt.
 */
#include "emu/alu_impl.h"

/* ---- counting ------------------------------------------------------------- */

static unsigned popc_of(uint64_t v)
{
	return (unsigned)__builtin_popcountll(v);
}

static void popc32(ALU_ARGS) { (void)op; d[0] = popc_of((uint32_t)s[0]); }
static void popc64(ALU_ARGS) { (void)op; d[0] = popc_of(s[0]); }

static void clz32(ALU_ARGS)
{
	const uint32_t a = (uint32_t)s[0];

	(void)op;
	d[0] = a ? (unsigned)__builtin_clz(a) : 32;
}

static void clz64(ALU_ARGS)
{
	(void)op;
	d[0] = s[0] ? (unsigned)__builtin_clzll(s[0]) : 64;
}

/* Position of the most significant bit that is no sign bit; all ones if there
 * is none. */
static void bfind(ALU_ARGS)
{
	enum { WIDE, SIGNED, SHIFTAMT };
	const unsigned width = op->flags[WIDE] ? 64 : 32;
	uint64_t a = s[0] & mask_bits(width);
	unsigned pos;

	if (op->flags[SIGNED] && a >> (width - 1))
		a = ~a & mask_bits(width);
	if (!a) {
		d[0] = 0xffffffff;
		return;
	}
	pos = 63 - (unsigned)__builtin_clzll(a);
	d[0] = op->flags[SHIFTAMT] ? width - 1 - pos : pos;
}

/* The offset-th set bit of `mask`, counted from bit `base` on; backwards if the
 * offset is negative; 0 asks whether the base bit itself is set. */
static void fns(ALU_ARGS)
{
	const uint32_t mask = (uint32_t)s[0], base = (uint32_t)s[1];
	const int32_t offset = (int32_t)(uint32_t)s[2];
	const int step = offset < 0 ? -1 : 1;
	int64_t left = offset < 0 ? -(int64_t)offset : offset;

	(void)op;
	d[0] = 0xffffffff;
	if (base > 31)
		return;
	if (left == 0) {
		if (mask >> base & 1)
			d[0] = base;
		return;
	}
	for (int pos = (int)base; pos >= 0 && pos < 32; pos += step) {
		if (mask >> pos & 1 && --left == 0) {
			d[0] = (uint64_t)pos;
			return;
		}
	}
}

/* ---- reversing, fields -------------------------------------------------------- */

static uint64_t reverse64(uint64_t v)
{
	v = __builtin_bswap64(v);
	v = (v & 0x0f0f0f0f0f0f0f0fu) << 4 | (v >> 4 & 0x0f0f0f0f0f0f0f0fu);
	v = (v & 0x3333333333333333u) << 2 | (v >> 2 & 0x3333333333333333u);
	return (v & 0x5555555555555555u) << 1 | (v >> 1 & 0x5555555555555555u);
}

static void brev32(ALU_ARGS) { (void)op; d[0] = reverse64((uint32_t)s[0]) >> 32; }
static void brev64(ALU_ARGS) { (void)op; d[0] = reverse64(s[0]); }

/* Position and length are 8-bit numbers.  Bits of the field that lie beyond the
 * register repeat its sign bit (signed) or are zero. */
static inline uint64_t extract(uint64_t a, unsigned width, bool sgn, unsigned pos, unsigned len)
{
	const unsigned msb = width - 1;
	const unsigned last = pos + len - 1 < msb ? pos + len - 1 : msb;
	const bool sign = sgn && len && a >> last & 1;
	const uint64_t field = pos > msb ? 0 : a >> pos & mask_bits(len);
	/* Bits of the field that the register really has. */
	const unsigned have = len == 0 || pos > msb ? 0 : last - pos + 1;

	if (have >= width)
		return field;
	return sign ? (field | ~mask_bits(have)) & mask_bits(width) : field & mask_bits(have);
}

#define BFE(name, width, mask, sgn) \
	static void name(ALU_ARGS) \
	{ \
		(void)op; \
		d[0] = extract(s[0] & mask, width, sgn, (uint8_t)s[1], (uint8_t)s[2]); \
	}

BFE(bfe_u32, 32, 0xffffffffu, false)
BFE(bfe_s32, 32, 0xffffffffu, true)
BFE(bfe_u64, 64, ~UINT64_C(0), false)
BFE(bfe_s64, 64, ~UINT64_C(0), true)

static inline uint64_t insert(uint64_t a, uint64_t b, unsigned pos, unsigned len)
{
	const uint64_t field = pos > 63 ? 0 : mask_bits(len) << pos;

	return pos > 63 ? b : (a << pos & field) | (b & ~field);
}

static void bfi32(ALU_ARGS)
{
	(void)op;
	d[0] = (uint32_t)insert((uint32_t)s[0], (uint32_t)s[1], (uint8_t)s[2], (uint8_t)s[3]);
}

static void bfi64(ALU_ARGS)
{
	(void)op;
	d[0] = insert(s[0], s[1], (uint8_t)s[2], (uint8_t)s[3]);
}

enum { BF_WRAP, BF_SIGNED };

static void bmsk(ALU_ARGS)
{
	unsigned pos = (uint32_t)s[0], len = (uint32_t)s[1];

	if (op->flags[BF_WRAP]) {
		pos &= 31;
		len &= 31;
	}
	d[0] = pos > 31 ? 0 : (uint32_t)(mask_bits(len > 32 ? 32 : len) << pos);
}

static void szext(ALU_ARGS)
{
	const uint32_t a = (uint32_t)s[0];
	const uint32_t n = op->flags[BF_WRAP] ? (uint32_t)s[1] & 31 : (uint32_t)s[1];

	if (n > 31)
		d[0] = a;
	else if (n == 0)
		d[0] = 0;
	else if (op->flags[BF_SIGNED] && a >> (n - 1) & 1)
		d[0] = a | ~(uint32_t)mask_bits(n);
	else
		d[0] = a & (uint32_t)mask_bits(n);
}

/* ---- prmt ------------------------------------------------------------------------ */

/* The selector nibbles that each mode makes of the low two bits of c. */
static const uint16_t prmt_mode[6][4] = {
	{ 0x3210, 0x4321, 0x5432, 0x6543 },     /* .f4e */
	{ 0x5670, 0x6701, 0x7012, 0x0123 },     /* .b4e */
	{ 0x0000, 0x1111, 0x2222, 0x3333 },     /* .rc8 */
	{ 0x3210, 0x3211, 0x3222, 0x3333 },     /* .ecl */
	{ 0x0000, 0x1110, 0x2210, 0x3210 },     /* .ecr */
	{ 0x1010, 0x3232, 0x1010, 0x3232 },     /* .rc16 */
};

static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t sel)
{
	const uint64_t bytes = (uint64_t)b << 32 | a;
	uint32_t r = 0;

	for (unsigned i = 0; i < 4; i++) {
		const unsigned nibble = sel >> (4 * i) & 15;
		uint32_t byte = (uint8_t)(bytes >> (8 * (nibble & 7)));

		if (nibble & 8)
			byte = byte & 0x80 ? 0xff : 0;
		r |= byte << (8 * i);
	}
	return r;
}

static void prmt(ALU_ARGS)
{
	(void)op;
	d[0] = permute((uint32_t)s[0], (uint32_t)s[1], (uint32_t)s[2]);
}

static void prmt_by_mode(ALU_ARGS)
{
	d[0] = permute((uint32_t)s[0], (uint32_t)s[1], prmt_mode[op->flags[0]][s[2] & 3]);
}

static bool decode_prmt(struct alu_dec *c)
{
	static const enum ptx_mod modes[] = { MOD_F4E, MOD_B4E, MOD_RC8, MOD_ECL, MOD_ECR, MOD_RC16 };

	if (c->nt != 1 || c->t[0] != MOD_B32)
		return alu_fail(c, "prmt takes .b32");
	for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
		if (alu_take(c, modes[i])) {
			c->out->flags[0] = (uint8_t)i;
			return alu_set(c, prmt_by_mode, 1, 3);
		}
	}
	return alu_set(c, prmt, 1, 3);
}

/* ---- decoding ------------------------------------------------------------------------ */

static bool decode_bfind(struct alu_dec *c, enum ptx_mod t)
{
	if (t != MOD_U32 && t != MOD_S32 && t != MOD_U64 && t != MOD_S64)
		return alu_fail(c, "bfind takes .u32 .s32 .u64 .s64");
	c->out->flags[0] = t == MOD_U64 || t == MOD_S64;
	c->out->flags[1] = t == MOD_S32 || t == MOD_S64;
	c->out->flags[2] = alu_take(c, MOD_SHIFTAMT);
	return alu_set(c, bfind, 1, 1);
}

static bool decode_wrap_clamp(struct alu_dec *c, emu_alu_fn *fn)
{
	c->out->flags[BF_WRAP] = alu_take(c, MOD_WRAP);
	if (!c->out->flags[BF_WRAP] && !alu_take(c, MOD_CLAMP))
		return alu_fail(c, "the instruction needs .clamp or .wrap");
	return alu_set(c, fn, 1, 2);
}

static bool pick(struct alu_dec *c, emu_alu_fn *fn32, emu_alu_fn *fn64, unsigned nsrc)
{
	const enum ptx_mod t = c->nt == 1 ? c->t[0] : MOD_NONE;

	if (t == MOD_B32)
		return alu_set(c, fn32, 1, nsrc);
	if (t == MOD_B64)
		return alu_set(c, fn64, 1, nsrc);
	return alu_fail(c, "the instruction takes .b32 and .b64");
}

bool alu_decode_bits(struct alu_dec *c)
{
	const enum ptx_mod t = c->nt == 1 ? c->t[0] : MOD_NONE;

	switch ((int)c->in->id) {
	case INST_POPC:
		return pick(c, popc32, popc64, 1);
	case INST_CLZ:
		return pick(c, clz32, clz64, 1);
	case INST_BREV:
		return pick(c, brev32, brev64, 1);
	case INST_BFI:
		return pick(c, bfi32, bfi64, 4);
	case INST_BFIND:
		return decode_bfind(c, t);
	case INST_PRMT:
		return decode_prmt(c);
	case INST_FNS:
		if (t != MOD_B32)
			return alu_fail(c, "fns takes .b32");
		return alu_set(c, fns, 1, 3);
	case INST_BFE:
		switch ((int)t) {
		case MOD_U32: return alu_set(c, bfe_u32, 1, 3);
		case MOD_S32: return alu_set(c, bfe_s32, 1, 3);
		case MOD_U64: return alu_set(c, bfe_u64, 1, 3);
		case MOD_S64: return alu_set(c, bfe_s64, 1, 3);
		}
		return alu_fail(c, "bfe takes .u32 .s32 .u64 .s64");
	case INST_BMSK:
		if (t != MOD_B32)
			return alu_fail(c, "bmsk takes .b32");
		return decode_wrap_clamp(c, bmsk);
	case INST_SZEXT:
		if (t != MOD_U32 && t != MOD_S32)
			return alu_fail(c, "szext takes .u32 and .s32");
		c->out->flags[BF_SIGNED] = t == MOD_S32;
		return decode_wrap_clamp(c, szext);
	}
	return alu_fail(c, "the instruction is no bit operation");
}
