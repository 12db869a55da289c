/* SPDX-License-Identifier: Apache-2.0
 *
 * tcgen05.h: an instruction of tcgen05 between its decoding (dec_tcgen05.c) and its
 * execution (exec_tcgen05.c); the operations that it issues, and where in shared and
 * tensor memory they are at work (tc_reach.c).
 *
 * An address is lane << 16 | column.  Of 128 rows of D that a block has row i lies in lane i; of 64,
 * rows lie in the first or last 16 lanes of each 32; with cta_group::2 the second half of the
 * rows is in the second block.  Of 64 rows of a pair's 128, and of .ws, the second half of
 * D's columns lies in lanes 64 to 127, of 32 rows each quarter in 32 lanes
 * (PTX ISA, "Tensor Memory and Register Load/Store", "Data Path Layout Organization").
 */
#ifndef EMU_TCGEN05_H
#define EMU_TCGEN05_H

#include "emu/listen.h"
#include "emu/matdesc.h"
#include "emu/mma.h"

enum { EMU_TC_REGS = 128 };     /* of a lane in one load or store, at most */
enum { EMU_TC_LANES = 128, EMU_TC_COLUMNS = 512 };      /* of a block's tensor memory, cells of 32 bits */

struct emu_tc {                 /* of a decoded instruction */
	struct emu_addr d, a;           /* tensor memory; a: A in tensor memory */
	struct emu_addr scales[2];      /* of A, of B */
	unsigned vec;                   /* how many of them a row has in one product; 0: it is not scaled */
	struct emu_opnd a_desc, b_desc, idesc, enable, mask[8];
	unsigned nmask, scale;
	bool a_tmem, pair, multicast, store;
	bool late;                      /* ld, st: may be as late as its wait */
	enum emu_mma_type in;           /* of its kind: F16, TF32, E4M3, S8; E2M1: two in a byte */
	bool fine;                      /* kind::mxf4nvf4: scale factors of E4M3, if its descriptor says so */
	bool ws;                        /* mma.ws */
	unsigned lanes, bytes, copies;  /* cp: rows, their bytes, how often they are there */
	bool spread;                    /* cp: copies of 32 rows are beside each other, not of all */
	unsigned shape, n;              /* ld, st: columns of a fragment; registers */
	bool twice, packed;             /* a second half of the lanes' columns `split` on; two columns in a register */
	unsigned split;
	struct emu_opnd reduced;        /* ld.red: what is left of the registers, */
	enum { EMU_TC_KEEP, EMU_TC_MIN, EMU_TC_MAX } reduce;
	enum { EMU_TC_U32, EMU_TC_S32, EMU_TC_F32 } as;
	bool magnitude, nan;            /* of their absolute values; NaN if one is */
	struct emu_opnd *regs;
};

/* ---- operations ------------------------------------------------------------------------- */

enum emu_tc_item_kind { EMU_TC_PRODUCT, EMU_TC_COPY, EMU_TC_ARRIVAL };

struct emu_tc_item {
	enum emu_tc_item_kind kind;
	struct emu_block *pair[2];      /* pair[1] NULL: one block */
	uint32_t d, a_tmem;
	uint64_t a, b;                  /* descriptors */
	uint32_t idesc;                 /* of the instruction */
	bool from_tmem, a_mn, b_mn, a_neg, accumulate, saturate, stale, spread;
	enum emu_mma_type at, bt, dt;
	unsigned m, n, k, scale, lanes, bytes, copies;
	unsigned folds;                 /* into how many parts D's columns are folded; 0: D takes half of the lanes */
	/* Block scaling: where the factors of A and B are, the first one's byte there, and how many
	 * a row has (0: none); whether they are of E4M3. */
	uint32_t scales[2];
	unsigned first[2], vec;
	bool fine;
	uint32_t skip[8];               /* lanes of D left alone */
	/* A commit's arrival: at `where`, or there in the blocks of `mask`. */
	uint64_t where;
	uint32_t mask;
	uint64_t *mbar[16];
	unsigned nmbar;
	uint64_t serial;                /* listen.h */
};

static inline struct emu_matdesc emu_tc_described(uint64_t bits)
{
	static const uint8_t spans[] = {0, 128, 128, 0, 64, 0, 32, 0};
	struct emu_matdesc d = emu_matdesc_of(bits);

	d.span = spans[bits >> 61];
	d.wide_atom = bits >> 61 == 1;
	return d;
}

/* Columns of tensor memory that D takes. */
static inline unsigned emu_tc_columns_of(const struct emu_tc_item *it)
{
	return it->folds ? it->n / it->folds : it->n;
}

/* Where column c of D's row is; A in tensor memory is there for each part of D's columns. */
static inline unsigned emu_tc_lane_of(const struct emu_tc_item *it, unsigned row, unsigned c)
{
	if (!it->folds)
		return row / 16 * 32 + row % 16 + (it->d >> 16);
	return row + c / emu_tc_columns_of(it) * (EMU_TC_LANES / it->folds);
}

static inline uint32_t emu_tc_column_of(const struct emu_tc_item *it, unsigned c)
{
	return (it->d & 0xffff) + c % emu_tc_columns_of(it);
}

/* The cell of register i of a lane in a load or store, or of half h of it if there are two columns in
 * a register, as the number of a lane's columns counts them: shape 1 is .32x32b or .16x32bx2; 2 is
 * .16x64b; 4 and 8 are the columns of .16x128b and .16x256b, whose fragments are those of mma's
 * accumulators. */
static inline unsigned emu_tc_cell(const struct emu_tc *k, uint32_t a, unsigned lane, unsigned i, unsigned h)
{
	unsigned row = k->twice ? lane % 16 : lane, column = i, per = k->shape / 4;

	if (k->shape == 2) {
		row = lane / 4 + lane % 2 * 8;
		column = lane / 2 % 2 + 2 * i;
	} else if (k->shape > 1) {      /* per: words of a row that a lane has */
		row = lane / 4 + i / per % 2 * 8;
		column = i / (2 * per) * k->shape + lane % 4 * per + i % per;
	}
	column = (k->packed ? 2 * column + h : column) + (k->twice && lane >= 16 ? k->split : 0);
	return ((a >> 16) + row) % EMU_TC_LANES * EMU_TC_COLUMNS + ((a & 0xffff) + column) % EMU_TC_COLUMNS;
}

/* ---- what they touch ---------------------------------------------------------------------- */

enum emu_tc_role {
	EMU_TC_OPERANDS,                /* in shared memory: A, B, what is copied */
	EMU_TC_A, EMU_TC_SCALES, EMU_TC_D,
	EMU_TC_COPIED,                  /* where tcgen05.cp copies to */
	EMU_TC_REGISTERS                /* tcgen05.ld, .st */
};

struct emu_tc_reach {
	const struct emu_block *b;      /* whose shared or tensor memory it is */
	enum emu_tc_role role;
	bool write;
	const uint8_t *map;             /* for each byte, or cell, whether it is touched */
	uint32_t n;
	uint64_t accumulator;           /* of D: what tells this one from others */
};
typedef void emu_tc_reach_fn(void *arg, const struct emu_tc_reach *);

/* Of TELL_TC_ISSUE, what a lane issued: */
const struct emu_tc_item *emu_tc_item_of(const struct emu_tell *, unsigned lane);
/* Of TELL_TC_ISSUE and TELL_TC_ACCESS, all that it touches, part by part. */
void emu_tc_reach(const struct emu_tell *, unsigned lane, emu_tc_reach_fn *, void *arg);

emu_op_fn emu_tc_alloc, emu_tc_dealloc, emu_tc_relinquish, emu_tc_load_store, emu_tc_mma, emu_tc_cp,
	emu_tc_commit, emu_tc_wait;

#endif
