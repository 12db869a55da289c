/* SPDX-License-Identifier: Apache-2.0
 *
 * alu.h: instructions that only compute on one thread's registers.
 *
 * A module's instruction is decoded once into a struct emu_alu, whose function
 * is then called once per lane.  Nothing here knows of memory, warps or
 * scheduling; every function is pure.
 *
 * Registers are raw 64-bit words: a narrower register holds its value
 * zero-extended, a predicate is 0 or 1, a float its bits; a .b128 register is
 * two words, low half first.  Functions look at no more bits of a source than
 * its type has, and leave the bits above a destination's width zero.
 */
#ifndef EMU_ALU_H
#define EMU_ALU_H

#include <stdbool.h>
#include <stdint.h>

struct ptx_inst;
struct ptx_operand;
struct emu_alu;

typedef void emu_alu_fn(const struct emu_alu *op, uint64_t *dst, const uint64_t *src);

struct emu_alu {
	emu_alu_fn *fn;
	uint8_t ndst, nsrc;     /* words of dst[] and src[]: the destination operand and the
	                           source operands flattened in the order written.  a|b gives
	                           two words, {..} one per element, a .b128 register two; a
	                           sink has its word all the same.  The caller negates !p.
	                           Of %r1.b0 and -%r1 (video) it gives all of %r1. */
	uint8_t flags[8];       /* private to the implementation */
	uint64_t aux;           /* private */
};

/* Fills *out, or returns false with a static text in *why if `in` is no such
 * instruction, or a form of one that is not implemented. */
bool emu_alu_decode(const struct ptx_inst *in, struct emu_alu *out, const char **why);

/* Instructions of the carry chain (add.cc, addc, subc, madc.hi.cc ...) find CC.CF
 * as one more source word, src[nsrc], and always write dst[ndst]. */
bool emu_alu_uses_cc(const struct emu_alu *);

/* The raw word of a literal operand (OP_INT, OP_FLOAT, OP_EXPR) of `in`: a
 * floating-point literal takes the width that the instruction's source has. */
uint64_t emu_alu_literal(const struct ptx_inst *in, const struct ptx_operand *);

#endif
