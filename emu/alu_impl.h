/* SPDX-License-Identifier: Apache-2.0
 *
 * alu_impl.h: what the alu_*.c files share: the decoder's state, rounding, and
 * the reading and writing of registers.
 *
 * A decoder takes the modifiers it understands with alu_take(); whatever is
 * left untaken makes emu_alu_decode() refuse the instruction, so that no
 * modifier is ever accepted and ignored by accident.
 */
#ifndef EMU_ALU_IMPL_H
#define EMU_ALU_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "emu/alu.h"
#include "ptxparse/ptx.h"

/* Every function here has this shape. */
#define ALU_ARGS const struct emu_alu *op, uint64_t *d, const uint64_t *s

enum { ALU_MAX_TYPES = 6 };

/* emu_alu.flags[7] tells emu_alu_uses_cc(); the others belong to each file. */
enum { ALU_FLAG_CC = 7 };

struct alu_dec {
	const struct ptx_inst *in;
	struct emu_alu *out;
	const char *why;
	uint64_t taken;                 /* bit i: in->mod[i] has been understood */
	unsigned nt;                    /* type modifiers, in the order written */
	enum ptx_mod t[ALU_MAX_TYPES];
	unsigned ndst, nsrc;            /* words, as flattened */
};

/* ---- alu.c -------------------------------------------------------------- */

bool alu_take(struct alu_dec *, enum ptx_mod);
bool alu_fail(struct alu_dec *, const char *why);
/* Sets the function, provided the instruction has this many words. */
bool alu_set(struct alu_dec *, emu_alu_fn *, unsigned ndst, unsigned nsrc);
/* Register width in bits of an operand, 0 if it is no register. */
unsigned alu_reg_bits(const struct ptx_operand *);

enum alu_round {
	RND_NONE,               /* no rounding modifier given */
	RND_RN, RND_RZ, RND_RM, RND_RP,
	RND_RNA,                /* nearest, ties away from zero */
	RND_RS                  /* stochastic: random bits are added, then truncated */
};

/* Takes .rn .rz .rm .rp .rna .rs; RND_NONE if there is none. */
enum alu_round alu_take_round(struct alu_dec *);

/* ---- one decoder per family: true if *out is filled --------------------- */

bool alu_decode_int(struct alu_dec *);          /* alu_int.c */
bool alu_decode_carry(struct alu_dec *);        /* alu_carry.c */
bool alu_decode_bits(struct alu_dec *);         /* alu_bits.c */
bool alu_decode_logic(struct alu_dec *);        /* alu_logic.c */
bool alu_decode_cmp(struct alu_dec *);          /* alu_cmp.c */
bool alu_decode_float(struct alu_dec *);        /* alu_float.c */
bool alu_decode_approx(struct alu_dec *);       /* alu_approx.c */
bool alu_decode_half(struct alu_dec *);         /* alu_half.c */
bool alu_decode_cvt(struct alu_dec *);          /* alu_cvt.c */
bool alu_decode_pack(struct alu_dec *);         /* alu_pack.c, packed cvt */
bool alu_decode_cvt_pack(struct alu_dec *);     /* alu_pack.c */
bool alu_decode_video(struct alu_dec *);        /* alu_video.c */

/* ---- registers as floats ------------------------------------------------ */

#define F32_NAN 0x7fffffffu     /* what an .f32 instruction gives for any NaN */
#define F16_NAN 0x7fffu         /* .f16 and .bf16 */

static inline float f32_of(uint64_t bits)
{
	uint32_t u = (uint32_t)bits;
	float f;

	memcpy(&f, &u, sizeof f);
	return f;
}

static inline uint32_t f32_bits(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof u);
	return u;
}

static inline double f64_of(uint64_t bits)
{
	double f;

	memcpy(&f, &bits, sizeof f);
	return f;
}

static inline uint64_t f64_bits(double f)
{
	uint64_t u;

	memcpy(&u, &f, sizeof u);
	return u;
}

/* .ftz: a subnormal becomes a zero of the same sign. */
static inline uint32_t f32_flush(uint32_t u)
{
	return u & 0x7f800000u ? u : u & 0x80000000u;
}

/* The bits of a result, with the canonical NaN. */
static inline uint32_t f32_result(float f)
{
	return f != f ? F32_NAN : f32_bits(f);
}

static inline uint64_t mask_bits(unsigned n)
{
	return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}

#endif
