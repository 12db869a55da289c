/* SPDX-License-Identifier: Apache-2.0
 *
 * tcgen05.h: an instruction of tcgen05 between its decoding (dec_tcgen05.c) and its
 * execution (exec_tcgen05.c).
 */
#ifndef EMU_TCGEN05_H
#define EMU_TCGEN05_H

#include "emu/emu.h"
#include "emu/mma.h"

enum { EMU_TC_REGS = 128 };     /* of a lane in one load or store, at most */

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

emu_op_fn emu_tc_alloc, emu_tc_dealloc, emu_tc_relinquish, emu_tc_load_store, emu_tc_mma, emu_tc_cp,
	emu_tc_commit, emu_tc_wait;

#endif
