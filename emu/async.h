/* SPDX-License-Identifier: Apache-2.0
 *
 * async.h: operations that go on beside the threads: bulk and tensor copies, st.async,
 * red.async, answers of cluster launch control, and the copies of cp.async.
 *
 * An operation is a list of pieces.  Its source is read and its destination written
 * at moments of their own between issue and completion, piece by piece, in an order
 * of the seed's choosing; whoever waits sees the completion through an mbarrier or a
 * group, and nothing else waits.  With seed 0 everything is late and in order.
 */
#ifndef EMU_ASYNC_H
#define EMU_ASYNC_H

#include "emu/access.h"

/* Bytes that are read and written together.  With src NULL they are in the staging
 * area from the start. */
struct emu_piece {
	const uint8_t *src;
	uint8_t *dst;
	uint32_t n;
	uint32_t at;                    /* in the staging area */
};

/* One destination: with multicast there is one in each block of the mask. */
struct emu_landing {
	int64_t shift;                  /* from a piece's dst */
	struct emu_block *block;        /* whose shared memory it is; NULL: global memory */
	uint64_t *mbar;                 /* where the bytes are counted; NULL: a bulk group */
	unsigned written;               /* pieces */
};

enum { EMU_LANDINGS = 16 };

struct emu_async {
	struct emu_async *next;
	uint64_t due;                   /* emu_m.steps at which it goes on */
	struct emu_block *block;        /* that issued it */
	struct emu_warp *warp;
	const struct emu_op *op;
	unsigned lane;
	uint32_t group;                 /* bulk group of the lane */
	bool grouped;
	bool generic;                   /* not through the async proxy */
	bool stale;                     /* reads memory as the async proxy saw it last */
	struct emu_block *from;         /* whose shared memory is read; NULL: global memory */
	struct emu_piece *piece;
	uint32_t *order;                /* in which they are read and written; NULL: as they are */
	unsigned n, cap, read;
	uint8_t *staged;
	uint32_t bytes, cap_staged;
	struct emu_landing land[EMU_LANDINGS];
	unsigned nland;
	/* A reduction; `reduce` is kind + 1 of emu_atom_apply(), 0: a copy. */
	uint8_t reduce, type, size;
	bool sys;
	uint64_t map;                   /* address of its tensor map; 0 */
	uint64_t serial;                /* listen.h */
	uint64_t what;                  /* what a store to global memory is told by; 0: nothing */
};

/* ---- async.c ------------------------------------------------------------------------ */

struct emu_async *emu_async_new(struct emu_x *, const struct emu_op *, unsigned lane);
void emu_async_piece(struct emu_async *, const uint8_t *src, uint8_t *dst, uint32_t n);
/* Bytes that are there from the start. */
void emu_async_bytes(struct emu_async *, const void *bytes, uint8_t *dst, uint32_t n);
/* Where the pieces go: the block whose shared memory their dst lies in, NULL for global
 * memory, or the same place in every block of `mask`; who counts the bytes, or NULL;
 * `pair`: for each block of `mask` one of its pair counts.  False: a fault. */
bool emu_async_land(struct emu_x *, struct emu_async *, const struct emu_addr *mbar,
		    struct emu_block *to, uint32_t mask, bool pair);
void emu_async_group(struct emu_async *);       /* it belongs to the lane's bulk group */
/* It stores what these operands say; others of its warp and of that group may do as much. */
void emu_async_stores(struct emu_async *, const uint64_t *operand, unsigned n);
/* Everything is said: it may go on from now on.  Or it comes to nothing. */
void emu_async_start(struct emu_async *);
void emu_async_free(struct emu_async *);
/* Carries on what is due. */
void emu_async_run(void);
/* All that is under way comes to its end. */
void emu_async_settle(void);
/* The lane's operations of groups before `group`: whether all are done; with `read`,
 * whether all have read their sources. */
bool emu_async_done(const struct emu_warp *, unsigned lane, uint32_t group, bool read);
/* No thread of the cluster is left: what still goes on comes to its end, and its
 * shared memory may be somebody else's by then. */
void emu_async_cluster_end(struct emu_cluster *);
void emu_async_abandon(void);
/* When something that was issued now goes on. */
uint64_t emu_async_delay(void);
/* How often something goes wrong that may: n times of 16, never with seed 0. */
bool emu_async_chance(unsigned n);

/* ---- what a warp has under way: exec_async.c, exec_wgmma.c ---------------------------- */

struct emu_lane_copies;
struct emu_lates;
struct emu_tc_lates;
struct emu_wgmmas;

struct emu_copies {
	struct emu_warp *warp;
	struct emu_lane_copies *lane;           /* 32; cp.async; NULL until the first */
	uint32_t bulk_group[EMU_LANES];         /* number of the bulk group that is open */
	struct emu_wgmmas *wgmma;               /* NULL until the first */
	struct emu_tc_lates *tc;                /* tcgen05.ld, .st; NULL */
	struct emu_lates *late;                 /* weak.c: loads under way; NULL */
	bool listed;                            /* has cp.async that goes on by itself */
	uint64_t due;
	struct emu_copies *next;
};

struct emu_copies *emu_copies_of(struct emu_warp *);
/* Some copies of cp.async of the warps that are due go on. */
void emu_copies_run(void);
extern uint64_t emu_copies_due;
void emu_copies_abandon(void);
/* Likewise, products of wgmma. */
void emu_wgmma_run(void);
extern uint64_t emu_wgmma_due;
void emu_wgmma_drop(struct emu_copies *);       /* the warp ends */
void emu_wgmma_free(struct emu_copies *);
/* exec_tcgen05.c: products and copies into tensor memory; its loads and stores */
void emu_tc_run(void);
extern uint64_t emu_tc_due;
void emu_tc_block_end(struct emu_block *);
void emu_tc_forget(struct emu_copies *);
void emu_tc_free(struct emu_copies *);

/* ---- places ------------------------------------------------------------------------------ */

/* The n bytes at an address of a lane, n and the address multiples of `align`;
 * *owner is the block whose shared memory it is, NULL for global memory.  NULL, with
 * a fault, if a thread may not touch them all. */
uint8_t *emu_range(struct emu_x *, const struct emu_op *, unsigned lane, enum emu_base, uint64_t a,
		   uint64_t n, unsigned align, struct emu_block **owner);

/* ---- weak.c: what one proxy has not yet seen of the other ---------------------------------- */

/* Shared memory of the block, as the async proxy sees it in the worst case. */
void emu_weak_block(struct emu_block *);        /* the block starts */
void emu_weak_fence(struct emu_block *);        /* all that was written is seen */
void emu_weak_global_fence(struct emu_block *); /* likewise, of global memory */
bool emu_weak_global(const struct emu_block *); /* whether some of that is not yet seen */
void emu_weak_before(const struct emu_block *, uint64_t a, uint32_t n, uint8_t *to);
void emu_weak_free(struct emu_block *);
/* Loads of lanes are no longer under way. */
void emu_late_forget(struct emu_warp *, uint32_t m);
void emu_late_free(struct emu_copies *);
void emu_late_landed(struct emu_block *, const uint8_t *, uint32_t n);

/* exec_tensor.c: a kernel starts: no tensor map is seen as it was before */
void emu_tmap_forget(void);

#endif
