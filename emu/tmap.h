/* SPDX-License-Identifier: Apache-2.0
 *
 * tmap.h: tensor maps: the 128 bytes that the emulated driver makes and the emulated
 * device reads, and which bytes a copy through one moves.  The layout is the
 * emulated device's own; programs may only hand maps on and change them by
 * tensormap.replace.
 */
#ifndef EMU_TMAP_H
#define EMU_TMAP_H

#include <stdbool.h>
#include <stdint.h>

enum emu_tmap_mode { TMAP_TILED = 1, TMAP_IM2COL, TMAP_IM2COL_WIDE };

/* Element types as tensormap.replace numbers them. */
enum emu_tmap_elem {
	TMAP_U8, TMAP_U16, TMAP_U32, TMAP_S32, TMAP_U64, TMAP_S64, TMAP_F16, TMAP_F32,
	TMAP_F32_FTZ, TMAP_F64, TMAP_BF16, TMAP_TF32, TMAP_TF32_FTZ,
	TMAP_ELEMS              /* packed types from here on */
};

#define EMU_TMAP_MAGIC 0x70614d54u
/* CUTLASS clears it, of tensors of less than 128 KiB, where the driver is no newer than 13.1: such
 * maps are as good (include/cute/atom/copy_traits_sm90_tma.hpp). */
#define TMAP_LARGE (UINT64_C(1) << 21)

struct emu_tmap {
	uint32_t magic;
	uint8_t mode, rank, elem;
	uint8_t interleave;     /* 0, 1: slices of 16, 2: of 32 bytes */
	uint64_t flags;         /* TMAP_*: they say nothing */
	uint64_t address;
	uint64_t stride[4];     /* bytes, of dimensions 1 to 4 */
	uint32_t last[5];       /* size of each dimension less one */
	uint16_t box[5];        /* im2col: channels of a pixel, pixels of a column */
	uint8_t step[5];
	uint8_t swizzle;        /* 0, 1: 32, 2: 64, 3: 128 bytes */
	uint8_t atomicity;      /* 0: 16, 1: 32, 2: 32 with halves swapped, 3: 64 bytes */
	uint8_t fill;           /* out of bounds: 0: zero, 1: NaN */
	int16_t lower[3], upper[3];     /* im2col: of W, H, D */
	uint8_t unused[18];
};

/* What tensormap.replace changes; of BOX_DIM to ELEMENT_STRIDE it names the dimension, too. */
enum emu_tmap_field {
	FIELD_ADDRESS, FIELD_RANK, FIELD_BOX_DIM, FIELD_GLOBAL_DIM, FIELD_GLOBAL_STRIDE, FIELD_ELEMENT_STRIDE,
	FIELD_ELEMTYPE, FIELD_INTERLEAVE, FIELD_SWIZZLE, FIELD_ATOMICITY, FIELD_FILL
};

unsigned emu_tmap_elem_bytes(const struct emu_tmap *);
/* What keeps a map from being used; NULL: nothing. */
const char *emu_tmap_wrong(const struct emu_tmap *);

/* One copy: where the box lies, and what a walk over it says. */
struct emu_box {
	const struct emu_tmap *map;
	int64_t at[5];                  /* coordinates, innermost first */
	uint32_t offset[3];             /* im2col: of W, H, D */
	const int64_t *rows;            /* gather4, scatter4: the four rows; NULL */
	bool load;                      /* out-of-bounds elements are told of, too */
	/* `n` bytes at `smem` bytes behind the box's start in shared memory, whose shared
	 * address is `base`; `global` is 0 for elements out of bounds.  False: stop. */
	uint32_t base;
	bool (*bytes)(void *arg, uint32_t smem, uint64_t global, uint32_t n);
	void *arg;
};

/* What keeps the copy from being made; NULL: nothing. */
const char *emu_box_wrong(const struct emu_box *);
/* Bytes of shared memory that the box spans, gaps included. */
uint32_t emu_box_span(const struct emu_box *);
bool emu_box_walk(const struct emu_box *);
/* `n` bytes that stand for elements out of bounds. */
void emu_tmap_fill(const struct emu_tmap *, uint8_t *to, uint32_t n);

#endif
