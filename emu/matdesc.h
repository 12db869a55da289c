/* SPDX-License-Identifier: Apache-2.0
 *
 * matdesc.h: matrices in shared memory as wgmma and tcgen05 take them: a descriptor of
 * 64 bits, and where an element lies (PTX ISA, "Shared Memory Matrix Layout", whose
 * canonical layouts are these).
 */
#ifndef EMU_MATDESC_H
#define EMU_MATDESC_H

#include <stdbool.h>
#include <stdint.h>

struct emu_matdesc {
	uint32_t start, leading, stride;        /* bytes */
	uint32_t span;                  /* of the swizzle: 0, 32, 64, 128 bytes */
	bool wide_atom;                 /* 32 bytes are moved together */
	uint8_t base;                   /* where the pattern starts, in lines of 128 bytes */
};

/* The fields that both kinds of descriptor share; the swizzle is left alone. */
static inline struct emu_matdesc emu_matdesc_of(uint64_t d)
{
	return (struct emu_matdesc){
		.start = (uint32_t)(d & 0x3fff) << 4, .leading = (uint32_t)(d >> 16 & 0x3fff) << 4,
		.stride = (uint32_t)(d >> 32 & 0x3fff) << 4, .base = (uint8_t)(d >> 49 & 7)
	};
}

/* Offset in the block's shared memory of the element in row `r` (of M or N) and column
 * `k`, `size` bytes each; `mn`: rows are next to each other, not columns. */
static inline uint32_t emu_matdesc_at(const struct emu_matdesc *d, bool mn, unsigned size,
				      unsigned r, unsigned k)
{
	uint32_t a, phase, t = 16 / size;

	if (!mn && !d->span)
		a = r / 8 * d->stride + r % 8 * 16 + k / t * d->leading + k % t * size;
	else if (!mn)
		a = r / 8 * d->stride + r % 8 * d->span + k * size;
	else if (!d->span)
		a = r / t * d->stride + r % t * size + k / 8 * d->leading + k % 8 * 16;
	else
		a = r * size / d->span * d->leading + r * size % d->span + k / 8 * d->stride +
		    k % 8 * d->span;
	a += d->start;
	phase = (a >> 7) - d->base;
	if (d->wide_atom)
		return a ^ (phase & 3) << 5;
	return a ^ (phase & (d->span / 16 - (d->span ? 1 : 0))) << 4;
}

#endif
