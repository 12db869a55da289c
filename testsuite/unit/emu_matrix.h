/* SPDX-License-Identifier: Apache-2.0
 *
 * emu_matrix.h: matrices for the tests of wgmma and tcgen05: values, their bits in each
 * type, and the canonical layouts in shared memory.
 */
#ifndef EMU_MATRIX_H
#define EMU_MATRIX_H

#include <stdbool.h>

#include "emu/half.h"
#include "emu_test.h"

enum type { F16, BF16, TF32, E4M3, E5M2, S8, U8, F32, S32 };

static const struct { const char *name; unsigned bytes; } types[] = {
	{"f16", 2}, {"bf16", 2}, {"tf32", 4}, {"e4m3", 1}, {"e5m2", 1}, {"s8", 1}, {"u8", 1},
	{"f32", 4}, {"s32", 4}
};

/* Values that all sums hold exactly. */
static inline int value(enum type t, unsigned r, unsigned k)
{
	int v = (int)((r * 7 + k * 13 + r * k) % 9) - 4;

	return t == U8 ? v + 200 : t == S8 ? v * 30 : v;
}

static inline uint32_t bits_of(enum type t, int v)
{
	float f = (float)v;
	uint32_t u;

	memcpy(&u, &f, 4);
	switch (t) {
	case F16: return half_of_f32(f);
	case BF16: return bf16_of_f32(f);
	case TF32: return u | 0x123;    /* the low bits do not count */
	case E4M3: return (uint32_t)fp_pack_f64(FP_E4M3, v);
	case E5M2: return (uint32_t)fp_pack_f64(FP_E5M2, v);
	default: return (uint8_t)v;
	}
}

/* The canonical layouts, in units of T elements that make 16 bytes. */
static inline unsigned place(unsigned span, bool mn, unsigned size, unsigned lbo, unsigned sbo, unsigned r,
		      unsigned k)
{
	unsigned t = 16 / size, units = span / 16, at;

	if (!mn)
		at = span ? r % 8 * span + r / 8 * sbo + k / t * 16 :
		     r % 8 * 16 + r / 8 * sbo + k / t * lbo;
	else
		at = span ? r / t % units * 16 + r / t / units * lbo + k % 8 * span + k / 8 * sbo :
		     r / t * sbo + k % 8 * 16 + k / 8 * lbo;
	at += (mn ? r % t : k % t) * size;
	return span ? at ^ (at >> 7 & (units - 1)) << 4 : at;
}

struct side { unsigned span, lbo, sbo; bool mn; };

static inline struct side side(unsigned span, bool mn, unsigned k)
{
	struct side s = {span, 128, 256, mn};

	if (span && !mn)
		s.sbo = 8 * span;
	if (span && mn) {
		s.lbo = span * k;
		s.sbo = 8 * span;
	}
	return s;
}

static inline void lay(uint8_t *to, const struct side *s, enum type t, unsigned rows, unsigned k)
{
	for (unsigned r = 0; r < rows; r++)
		for (unsigned c = 0; c < k; c++) {
			uint32_t v = bits_of(t, value(t, r, c));

			memcpy(to + place(s->span, s->mn, types[t].bytes, s->lbo, s->sbo, r, c), &v,
			       types[t].bytes);
		}
}

#endif
