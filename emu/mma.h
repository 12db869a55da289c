/* SPDX-License-Identifier: Apache-2.0
 *
 * mma.h: matrix multiply-accumulate of a warp on fragments in registers.
 *
 * Fragments are arrays of 32-bit registers, indexed [register][lane].  An .f64
 * element is two of them, low half first.  Where the elements of a fragment lie
 * is what PTX documents for mma ("Matrix Fragments for mma...").  For wmma,
 * where it is left open, the same pattern is continued over the larger tiles,
 * so that wmma.load, wmma.mma and wmma.store fit one another.
 */
#ifndef EMU_MMA_H
#define EMU_MMA_H

#include <stdbool.h>
#include <stdint.h>

struct ptx_inst;

enum emu_mma_type {
	MMA_F16, MMA_BF16, MMA_TF32, MMA_F32, MMA_F64,
	MMA_E4M3, MMA_E5M2, MMA_E3M2, MMA_E2M3, MMA_E2M1,       /* in bytes */
	MMA_S32, MMA_S8, MMA_U8, MMA_S4, MMA_U4, MMA_B1
};

struct emu_mma {
	uint8_t nd, na, nb, nc;         /* 32-bit registers a lane has of each matrix */
	bool wide;                      /* .f64: every operand word is two of them */
	/* Private from here on. */
	uint16_t m, n, k;
	enum emu_mma_type dt, at, bt, ct;
	bool quads;                     /* mma.m8n8k4 of .f16: four products at once */
	bool arow, brow;                /* its layouts */
	bool satfinite;
	bool and_popc;                  /* .b1: .and.popc rather than .xor.popc */
};

/* mma (not .sp, not .block_scale) and wmma.mma.  False with a static text in *why
 * for what is not implemented. */
bool emu_mma_decode(const struct ptx_inst *, struct emu_mma *, const char **why);

/* D = A * B + C for the whole warp.  d may be the same array as c.  Sums of
 * products are formed in double precision and rounded once, where PTX leaves
 * order and intermediate precision open; .f64 is a chain of fma in order of k. */
void emu_mma_eval(const struct emu_mma *, uint32_t (*d)[32], const uint32_t (*a)[32],
		  const uint32_t (*b)[32], const uint32_t (*c)[32]);

/* Which element of its matrix the `elem`-th element (in order of registers, lowest
 * bits first) of a lane's fragment is, for a wmma.load or wmma.store.  False if
 * the fragment has no such element, or the instruction is not implemented. */
bool emu_wmma_elem(const struct ptx_inst *, unsigned lane, unsigned elem,
		   unsigned *row, unsigned *col, unsigned *elem_bits);

/* An element's bits; its value; the bits of a result, an integer with or without
 * saturation. */
unsigned emu_mma_bits(enum emu_mma_type);
double emu_mma_value(enum emu_mma_type, uint64_t bits);
uint64_t emu_mma_bits_of(enum emu_mma_type, double value, bool satfinite);

#endif
