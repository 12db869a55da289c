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
 * grids.  Hearing of something changes nothing of what is executed, and in what order.
 * With nobody listening a place that tells costs a comparison, and loads, stores and fences,
 * which are wrapped as they are decoded, nothing.
 *
 * Of instructions:
 * - Lanes are carried out in the order of their numbers.
 * - What functions named __gsan_* execute is not told.
 * - One that is told of when it is tried in vain says so (TELL_MBAR, TELL_GRID); of others
 *   that are tried again until they can be carried out only that is told.
 * - One that ends in a fault is told of for the lanes that it was carried out for; loads,
 *   stores and atomics then are not told of.
 */
#ifndef EMU_LISTEN_H
#define EMU_LISTEN_H

#include "emu/emu.h"
#include "emu/tmap.h"

enum emu_tell_kind {
	/* Instructions. */
	TELL_ACCESS,            /* u.access: ld, ldu, st, st.bulk, discard, atom, red, multimem, matrices */
	TELL_FENCE,             /* u.map: membar and fence of any kind, tcgen05.fence, wgmma.fence */
	TELL_UNMODELLED,        /* of order, but not among those that inst.def says anything of */
	TELL_BAR_ARRIVE,        /* u.bar: bar, barrier */
	TELL_BAR_LEAVE,         /* u.bar: lanes of one warp go on behind it; op is where they waited */
	TELL_WARP_SYNC,         /* u.members: bar.warp.sync, all are there */
	TELL_CLUSTER_ARRIVE,    /* barrier.cluster.arrive; .relaxed and .aligned say op's modifiers */
	TELL_CLUSTER_WAIT,      /* barrier.cluster.wait: these go on */
	TELL_TMAP_REPLACE,      /* u.replace: tensormap.replace */
	TELL_GRID,              /* u.done: griddepcontrol */
	TELL_EXIT,              /* threads end; op is NULL */
	TELL_CALL,              /* u.callee: the program calls a function that gsan put there */

	/* What is no instruction. */
	TELL_BAR_OVER,          /* u.bar: a use of barrier `id` of block b is over, all have been told to leave */
	TELL_CLUSTER_OVER,      /* a phase of the barrier of b's cluster is over, b of rank 0 */
	TELL_BLOCK_BEGIN,       /* u.linear: its number in the grid; b's rank, cluster, sm and grid are set */
	TELL_BLOCK_END,         /* its last thread is gone; others of the cluster may go on */
	TELL_LAUNCH,            /* u.launch: a grid's blocks may begin */
	TELL_LAUNCH_END,        /* u.launch: all its blocks have ended, or a fault ended everything */
	TELL_STREAM             /* u.launch: something comes into a stream; from any thread that has emu_lock */
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

struct emu_tell_replace {
	enum emu_base base;
	const uint64_t *addr;           /* by lane, as all that follows */
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
		const struct emu_tell_replace *replace;
		bool done;                      /* false: griddepcontrol.wait, in vain */
		const struct emu_func *callee;
		uint64_t linear;
		const struct emu_tell_launch *launch;
	} u;
};

/* ---- who listens ---------------------------------------------------------------------------- */

struct emu_listener {
	void (*tell)(void *self, const struct emu_tell *);
	/* Functions that are loaded from then on, decoded; and that are gone, which may be older. */
	void (*load)(void *self, struct emu_func *);
	void (*unload)(void *self, struct emu_func *);
	void *self;
	unsigned slot;                  /* its own in heard[]; set by emu_listen() */
};

/* From now on, for good.  What was loaded before is told of as far as it is not wrapped.
 * False: there is no slot left. */
bool emu_listen(struct emu_listener *);

/* ---- for those who tell --------------------------------------------------------------------- */

extern bool emu_listening;

/* Is anybody to hear of what `op` does? */
static inline bool emu_tells(const struct emu_op *op)
{
	return emu_listening && !op->func->injected;
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
void emu_tell_load(struct emu_func *);
void emu_tell_unload(struct emu_func *);

/* ---- for those who listen -------------------------------------------------------------------- */

/* Memory that others may access, too. */
struct emu_spot {
	struct emu_block *owner;        /* whose shared memory it is; NULL: global memory */
	uint64_t at;                    /* offset there, or address */
};

/* What an address of a thread in `by` means.  False: memory of its own. */
bool emu_locate(const struct emu_block *by, enum emu_base, uint64_t a, struct emu_spot *);

#endif
