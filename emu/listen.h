/* SPDX-License-Identifier: Apache-2.0
 *
 * listen.h: what happens on the emulated device, told to whoever listens; the oracle does.
 *
 * The files that carry instructions out tell of each when it has been carried out, in one
 * call for all its lanes, with operands as the program gave them; what goes on beside the
 * threads (a copy lands, an arrival comes, a phase is over) is told when it happens.  What
 * that means for anybody is for listeners to know: nothing here knows of races.
 *
 * Several can listen.  Each keeps what he likes in heard[his slot] of functions, blocks and
 * grids.  What is executed, and in what order, is the same, but that no use of a load waits
 * for it (weak.c), and that some of what is undefined is told and ends nothing (emu_goes_on).
 * With nobody listening a place that tells costs a comparison, and loads,
 * stores and fences, which are wrapped as they are decoded, nothing.
 *
 * Of instructions:
 * - Lanes are carried out in the order of their numbers.
 * - What kernels named __gsan_* execute is not told.
 * - One that is told of when it is tried in vain says so (TELL_MBAR, TELL_GRID); of others
 *   that are tried again until they can be carried out only that is told.
 * - One that ends in a fault is told of for the lanes that it was carried out for until then;
 *   a load, store or atomic, or what a warp does as one, is not.
 * What it says more than `u` does, `op` has: modifiers and types are those of op->stmt->inst.
 */
#ifndef EMU_LISTEN_H
#define EMU_LISTEN_H

#include "emu/emu.h"
#include "emu/tmap.h"

enum emu_tell_kind {
	/* Instructions. */
	TELL_ACCESS,            /* u.access: ld, ldu, st, st.bulk, discard, atom, red, multimem, matrices */
	TELL_FENCE,             /* u.map: membar and fence of any kind, tcgen05.fence, wgmma.fence */
	TELL_UNMODELLED,        /* MODEL_SYNC in inst.def, or not there at all */
	TELL_BAR_ARRIVE,        /* u.bar: bar, barrier */
	TELL_BAR_LEAVE,         /* u.bar: lanes of one warp go on behind it; op is what they waited in */
	/* u.members: bar.warp.sync, all are there, of one mask; a lane that is outside its mask when
	 * it comes, in an event of such lanes. */
	TELL_WARP_SYNC,
	TELL_CLUSTER_ARRIVE,    /* barrier.cluster.arrive */
	TELL_CLUSTER_WAIT,      /* barrier.cluster.wait: these go on */
	TELL_MBAR,              /* u.mbar: mbarrier.* but pending_count */
	TELL_CP_ASYNC,          /* u.cp: cp.async */
	TELL_CP_ARRIVE,         /* u.cp_arrive: cp.async.mbarrier.arrive */
	TELL_GROUP_COMMIT,      /* u.groups: of cp.async, bulk copies, wgmma */
	TELL_GROUP_WAIT,        /* u.groups: wait_group, wait_all, that is over */
	TELL_COPY,              /* u.copy: bulk and tensor copies and reductions, st.async, red.async, try_cancel */
	TELL_WGMMA,             /* u.wgmma: wgmma.mma_async of a warp */
	TELL_TC_ISSUE,          /* u.items (tcgen05.h): tcgen05.mma, cp, commit */
	TELL_TC_ACCESS,         /* u.tmem: tcgen05.ld, st of a warp */
	TELL_TC_WAIT,           /* tcgen05.wait::ld, ::st of a warp */
	TELL_TC_ALLOC, TELL_TC_DEALLOC, TELL_TC_RELINQUISH,     /* u.room, of a warp */
	TELL_TMAP_REPLACE,      /* u.replace: tensormap.replace */
	TELL_TMAP_COPY,         /* u.tmap_copy: tensormap.cp_fenceproxy */
	TELL_GRID,              /* u.done: griddepcontrol */
	TELL_EXIT,              /* threads end; op is NULL */

	/* What is no instruction. */
	TELL_BAR_OVER,          /* u.bar: a use of barrier `id` of block b is over, all have been told to leave */
	TELL_CLUSTER_OVER,      /* a phase of the barrier of b's cluster is over, b of rank 0 */
	/* Of what b issued: */
	TELL_LANDED,            /* u.landed: a copy's last bytes are at one of its destinations, not yet counted */
	TELL_ARRIVED,           /* u.arrived: an arrival of TELL_CP_ARRIVE or of a commit comes, not yet counted */
	TELL_MBAR_OVER,         /* u.object: a phase is over by something that is no instruction */
	TELL_BLOCK_BEGIN,       /* u.linear: its number in the grid; b's rank, cluster, sm and grid are set */
	TELL_BLOCK_END,         /* its last thread is gone; others of the cluster may go on */
	TELL_LAUNCH,            /* u.launch: a grid's blocks may begin */
	TELL_LAUNCH_END,        /* u.launch: all its blocks have ended, or a fault ended everything */
	TELL_STREAM,            /* u.launch: something comes into a stream; from any thread that has emu_lock */
	/* u.host: the host has copied or set something there, or it is no memory any more.  Stores of
	 * its own, to memory that it shares with the device, are not seen.  From the engine, or a
	 * thread that has emu_lock. */
	TELL_HOST_WROTE
};

/* ---- what is told of them ----------------------------------------------------------------- */

enum { EMU_ELEMS = 8, EMU_TILE_ELEMS = 64 };    /* of an access; of a lane's part of a matrix */

/* The accesses of an instruction.  Addresses are as the program used them: `base` says of
 * what space, emu_locate() what they mean. */
struct emu_tell_access {
	enum emu_base base;
	const uint64_t *addr;           /* by lane */
	const uint64_t *bytes;          /* by lane: of all its elements */
	unsigned size, n;               /* bytes of an element, elements; size 0: one range */
	/* By lane and element, in the low `size` bytes: what strong loads and atomics of elements
	 * of at most 8 bytes read, what those and all stores of registers wrote, in each element
	 * that is not left out.  One of 16 bytes counts as two in loads and stores.  NULL: not known. */
	const uint64_t (*read)[EMU_ELEMS], (*wrote)[EMU_ELEMS];
	/* wmma: where each of the `n` elements of a lane's fragment is, accesses of their own;
	 * elements from one row to the next, or one column; else NULL. */
	const uint64_t (*elem)[EMU_TILE_ELEMS], *stride;
};

struct emu_tell_bar {
	unsigned id, count;             /* threads; 0: all of the block */
	enum { EMU_BAR_SYNC, EMU_BAR_ARRIVE, EMU_BAR_RED } how;
	bool aligned;
};

/* Memory that others may access, too. */
struct emu_spot {
	struct emu_block *owner;        /* whose shared memory it is; NULL: global memory */
	uint64_t at;                    /* offset there, or address */
};

/* Arrays are by lane, here and below. */
struct emu_tell_mbar {
	enum {
		EMU_MBAR_INIT, EMU_MBAR_INVAL, EMU_MBAR_EXPECT_TX, EMU_MBAR_COMPLETE_TX, EMU_MBAR_ARRIVE,
		EMU_MBAR_WAIT           /* test_wait, try_wait */
	} what;
	bool drop, no_complete, expects;        /* arrive: .expect_tx, too */
	bool parity, try;
	enum emu_base base;
	uint64_t addr[EMU_LANES];
	struct emu_spot spot[EMU_LANES];
	uint32_t count[EMU_LANES];      /* init, arrive */
	uint32_t bytes[EMU_LANES];      /* expect_tx, complete_tx, arrive.expect_tx */
	uint64_t state[EMU_LANES];      /* arrive: the result; wait: the state or parity that is waited for */
	uint32_t success;               /* lanes that did not wait in vain */
	uint32_t over;                  /* lanes by which the phase is over */
	uint32_t missing;               /* of `lanes`: there is no mbarrier; a wait succeeds, nothing changes */
	/* For this one there is no mbarrier, or it counts more than the mbarrier can: a fault.
	 * It is not among `lanes` if that was seen before anything was done. */
	uint32_t wrong;
};

struct emu_tell_cp {
	enum emu_base to_base, from_base;
	const uint64_t *to, *from;
	unsigned size;                  /* bytes that are written */
	const uint64_t *read;           /* and bytes of them that are read, the rest is zeros */
	uint32_t folded;                /* lanes that copy what an earlier one does, to the same place */
};

struct emu_tell_cp_arrive {
	enum emu_base base;
	const uint64_t *addr;
	const struct emu_spot *spot;
	const uint64_t *serial;         /* of the arrival, for TELL_ARRIVED; 0: there is no mbarrier, it never comes */
	bool noinc;
};

enum emu_list { EMU_LIST_CP, EMU_LIST_BULK, EMU_LIST_WGMMA };

struct emu_tell_groups {
	enum emu_list list;
	/* Of a wait: */
	uint32_t left;                  /* groups that may still go on; UINT32_MAX: all is over, committed or not */
	bool read;                      /* .read: that have read their sources */
};

struct emu_async;

struct emu_tell_copy {
	enum emu_base to_base, from_base, mbar_base, map_base;
	bool counted;                   /* by an mbarrier; else it belongs to a bulk group, or to nothing */
	bool multicast, byte_mask;      /* what `mask` is: of blocks, of the bytes of each 16 */
	uint64_t to[EMU_LANES], from[EMU_LANES];        /* of a tensor copy one of them, in shared memory */
	uint64_t bytes[EMU_LANES];
	uint32_t mask[EMU_LANES];
	uint64_t mbar[EMU_LANES];
	uint64_t value[EMU_LANES][EMU_ELEMS];           /* st.async, red.async: each element */
	/* Of a tensor copy: coordinates, or gather4's and scatter4's column and four rows; im2col's
	 * offsets; the map as it is in memory: the copy may still go by an older one. */
	unsigned rank;                  /* 0: it is none */
	uint64_t map[EMU_LANES];
	const struct emu_tmap *tmap[EMU_LANES];
	int32_t at[EMU_LANES][5];
	uint16_t offset[EMU_LANES][3];
	uint32_t folded;                /* lanes whose store is an earlier lane's, which hardware makes one of */
	/* The operation with its serial number and pieces (async.h); NULL: folded. */
	struct emu_async *async[EMU_LANES];
};

struct emu_tell_wgmma {
	uint64_t a, b;                  /* descriptors */
	bool a_regs;                    /* A is in registers, not at `a` */
};

struct emu_tell_room {
	enum emu_base base;             /* alloc: where the address is written */
	uint64_t addr;
	uint32_t at, columns;           /* address in tensor memory */
};

struct emu_tell_tmap_copy {             /* all lanes copy the same */
	enum emu_base to_base, from_base;
	uint64_t to, from;
	const struct emu_tmap *tmap;
};

struct emu_tell_landed {
	const struct emu_async *async;
	unsigned land;                  /* index of its landings */
};

struct emu_tell_arrived {
	uint64_t serial;
	const uint64_t *object;         /* the mbarrier's place in the process */
};

struct emu_tell_replace {
	enum emu_base base;
	const uint64_t *addr;
	enum emu_tmap_field field;
	unsigned ordinal;               /* of the dimension */
	const uint64_t *value;
	const struct emu_tmap *before, *after;
};

struct emu_tell_launch {
	struct emu_grid *grid;          /* TELL_STREAM: what comes, if that is a launch; NULL */
	/* TELL_LAUNCH_END: the launch behind it in its stream; NULL. */
	struct emu_grid *then;
	/* TELL_LAUNCH_END: its stream, if nothing is behind it there as yet; NULL.
	 * TELL_STREAM: NULL: something may come into any. */
	const void *stream;
};

struct emu_tell_host { uint64_t addr, bytes; };

struct emu_tell {
	enum emu_tell_kind kind;
	struct emu_block *b;            /* NULL: of no block */
	struct emu_warp *w;
	struct emu_x *x;                /* NULL: nobody executes it now */
	const struct emu_op *op;        /* NULL: no instruction */
	uint32_t lanes;                 /* that it is about: their guard was true */
	/* The converged lanes that executed it, whether their guard was true or not; the lowest
	 * of them is their leader.  Of lanes that go on behind something (TELL_BAR_LEAVE,
	 * TELL_CLUSTER_WAIT): those that go on together. */
	uint32_t group;
	/* Where lanes of a warp wait for each other, as at all .sync instructions: the group that each
	 * of `lanes` came in, by lane.  NULL: all are of `group`. */
	const uint32_t *came;
	union {
		const struct emu_tell_access *access;
		const uint64_t *map;            /* by lane: the tensor map that a fence acquires; NULL: none */
		const struct emu_tell_bar *bar;
		const uint32_t *members;        /* by lane: its mask operand */
		const struct emu_tell_mbar *mbar;
		const struct emu_tell_cp *cp;
		const struct emu_tell_cp_arrive *cp_arrive;
		const struct emu_tell_groups *groups;
		const struct emu_tell_copy *copy;
		const struct emu_tell_wgmma *wgmma;
		const struct emu_tc_item *items;        /* of each lane, one behind the other */
		uint32_t tmem;                  /* address in tensor memory */
		const struct emu_tell_room *room;
		const struct emu_tell_replace *replace;
		const struct emu_tell_tmap_copy *tmap_copy;
		const struct emu_tell_landed *landed;
		const struct emu_tell_arrived *arrived;
		const uint64_t *object;         /* the mbarrier's place in the process */
		bool done;                      /* false: griddepcontrol.wait, in vain */
		uint64_t linear;
		const struct emu_tell_launch *launch;
		const struct emu_tell_host *host;
	} u;
};

/* ---- who listens ---------------------------------------------------------------------------- */

struct emu_listener {
	void (*tell)(void *self, const struct emu_tell *);
	/* Functions that are loaded from then on, decoded; and that are gone, also older ones. */
	void (*load)(void *self, struct emu_func *);
	void (*unload)(void *self, struct emu_func *);
	void *self;
	unsigned slot;                  /* its own in heard[]; set by emu_listen() */
};

/* From now on, for good.  Functions that were loaded before are told of, too, but for what is
 * wrapped if nobody listened then; heard[] of them is NULL.  False: there is no slot left. */
bool emu_listen(struct emu_listener *);

/* ---- for those who tell --------------------------------------------------------------------- */

extern bool emu_listening;

/* Is anybody to hear of what `op` does? */
static inline bool emu_tells(const struct emu_op *op)
{
	return emu_listening && !op->func->injected && !(op->stmt && op->stmt->inserted);
}

/* Does the launch go on behind what is undefined, if that is told?  Yes if somebody listened when
 * the function was loaded, and nobody judges beside the program's own instructions: its module
 * is not instrumented. */
static inline bool emu_goes_on(const struct emu_op *op)
{
	return op->func->told && !op->func->mod->instrumented;
}

static inline struct emu_tell emu_tell_of(enum emu_tell_kind kind, struct emu_x *x,
					  const struct emu_op *op, uint32_t lanes, uint32_t group)
{
	return (struct emu_tell){
		.kind = kind, .b = x->b, .w = x->w, .x = x, .op = op, .lanes = lanes, .group = group
	};
}

/* To all who listen. */
void emu_tell(const struct emu_tell *);
void emu_tell_groups(enum emu_tell_kind, struct emu_x *, const struct emu_op *, uint32_t lanes,
		     const struct emu_tell_groups *);
void emu_tell_host_wrote(const void *, uint64_t bytes);
/* The number of an operation or arrival that is issued now; never 0. */
uint64_t emu_serial(void);
void emu_tell_load(struct emu_func *);
void emu_tell_unload(struct emu_func *);

/* ---- for those who listen -------------------------------------------------------------------- */

/* What an address of a thread in `by` means.  False: memory of its own. */
bool emu_locate(const struct emu_block *by, enum emu_base, uint64_t a, struct emu_spot *);
/* stream.c: the stream that a launch is in, told apart from others by that alone. */
const void *emu_grid_stream(const struct emu_grid *);
/* exec_wgmma.c: sets a byte of `map` for each byte of the block's shared memory that the
 * warpgroup reads for a product. */
void emu_wgmma_reach(const struct emu_tell *, uint8_t *map);

#endif
