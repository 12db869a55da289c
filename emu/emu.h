/* SPDX-License-Identifier: Apache-2.0
 *
 * emu.h: the emulated device, from inside: memory, decoded modules, execution
 * state, scheduling, streams.  From outside there is only the driver API
 * (cuda.h) and the few emu_* functions at the end.
 *
 * Device memory is host memory: a device pointer is a host pointer.  Every
 * access of a kernel goes through emu_at() in access.h; order is created only in
 * exec_sync.c, exec_warp.c, exec_mbar.c and by blocks starting and ending in
 * sched.c.  Both are told to whoever listens (listen.h), as the oracle does.
 */
#ifndef EMU_H
#define EMU_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define __CUDA_API_VERSION_INTERNAL 1      /* names as they are exported, with their _v2 */
#include <cuda.h>

#include "emu/alu.h"
#include "ptxparse/ptx.h"

#define EMU_API __attribute__((visibility("default")))
#define EMU_LANES 32
#define EMU_LISTENERS 4         /* who can listen at once: listen.h */
#define EMU_ALL 0xffffffffu

/* ---- Windows of generic addresses (mem.c) --------------------------------
 *
 * Ranges of the address space that hold no memory of the process.  A shared
 * address is rank in the cluster << 24 | offset, as on hardware; a local address is
 * the offset in the thread's own stack, the same number in every thread.
 */
#define EMU_WINDOW_BYTES (UINT64_C(1) << 32)
#define EMU_FUNC_WINDOW  UINT64_C(0x7b0000000000)   /* addresses of functions */
#define EMU_PARAM_WINDOW UINT64_C(0x7b8000000000)   /* .param of functions */
#define EMU_LOCAL_WINDOW UINT64_C(0x7d0000000000)
#define EMU_SHARED_WINDOW UINT64_C(0x7e0000000000)
#define EMU_RANK_SHIFT   24

/* ---- mem.c: what is allocated ----------------------------------------------
 *
 * A page is 64 KiB; a granule is 256 bytes.  For each page a table says how many
 * bytes of each granule a kernel may touch, so that bounds are exact and an
 * access, aligned and at most 32 bytes wide, is checked by one comparison.
 */
#define EMU_PAGE_SHIFT    16
#define EMU_GRANULE_SHIFT 8
#define EMU_GRANULES      (1u << (EMU_PAGE_SHIFT - EMU_GRANULE_SHIFT))

struct emu_page { uint16_t bytes[EMU_GRANULES]; };
struct emu_leaf { _Atomic(struct emu_page *) page[65536]; };       /* 4 GiB */

extern _Atomic(struct emu_leaf *) emu_leaves[1 << 15];              /* 47 bits */

/* Is it in what is allocated? */
static inline bool emu_mem_within(uint64_t a, unsigned size)
{
	struct emu_leaf *leaf;
	struct emu_page *page;

	if (a >> 47)
		return false;
	leaf = atomic_load_explicit(&emu_leaves[a >> 32], memory_order_acquire);
	if (!leaf)
		return false;
	page = atomic_load_explicit(&leaf->page[a >> EMU_PAGE_SHIFT & 0xffff],
				    memory_order_acquire);
	return page && (a & 255) + size <= page->bytes[a >> EMU_GRANULE_SHIFT & 255];
}

/* Somebody judges what kernels do: an access behind an allocation, or in one that was freed, ends no kernel, as on a device on
 * which that has no walls. */
extern bool emu_mem_judged;
/* Then: is it there, though it is in nothing that is allocated? */
bool emu_mem_beside(uint64_t a, unsigned size);

/* May a kernel touch it? */
static inline bool emu_mem_ok(uint64_t a, unsigned size)
{
	return emu_mem_within(a, size) || (emu_mem_judged && emu_mem_beside(a, size));
}

/* Whether all of a longer range is allocated; whether a kernel may touch it. */
bool emu_mem_range_ok(uint64_t a, uint64_t bytes);
bool emu_mem_range_open(uint64_t a, uint64_t bytes);

/* Memory that the program's own code shares with the device (page-locked, managed) the device sees at another place of the
 * process, as a device does that does not go by the host's page tables: pages that are protected from the program are
 * not from kernels. */
#define EMU_HOST_BYTES (UINT64_C(1) << 36)
extern uint64_t emu_host_window, emu_host_delta;

static inline void *emu_view(uint64_t a)
{
	return (void *)(uintptr_t)(a - emu_host_window < EMU_HOST_BYTES ? a + emu_host_delta : a);
}

static inline uint64_t emu_address(const void *p)
{
	const uint64_t a = (uintptr_t)p - emu_host_delta;

	return a - emu_host_window < EMU_HOST_BYTES ? a : (uintptr_t)p;
}

enum emu_mem_kind {
	MEM_DEVICE, MEM_MANAGED, MEM_HOST, MEM_REGISTERED, MEM_VMM, MEM_MODULE,
	MEM_HEAP,               /* malloc() of a kernel */
	MEM_PARAMS              /* parameters of a launch */
};

struct emu_block_mem {          /* one live allocation, or one that was freed */
	uint64_t base, bytes;
	const void *stream;     /* freed in its order; NULL: for all that comes */
	enum emu_mem_kind kind;
	unsigned flags;         /* of cuMemHostAlloc, cuMemHostRegister */
	uint64_t id;            /* for CU_POINTER_ATTRIBUTE_BUFFER_ID */
};

/* Memory of `bytes` bytes, zeroed or as the last owner left it, registered; 0 if
 * there is none. */
uint64_t emu_mem_new(uint64_t bytes, enum emu_mem_kind, unsigned flags);
/* Ends an allocation of emu_mem_new() of that kind; false if there is none at `base`. */
bool emu_mem_delete(uint64_t base, enum emu_mem_kind);
/* Memory that somebody else owns becomes accessible, and stops being so. */
bool emu_mem_register(uint64_t base, uint64_t bytes, enum emu_mem_kind, unsigned flags);
bool emu_mem_unregister(uint64_t base, enum emu_mem_kind);
/* A copy of the allocation that holds `a`; false if there is none. */
bool emu_mem_find(uint64_t a, struct emu_block_mem *);
/* Each allocation, or each that was freed and not given out again. */
typedef void emu_mem_seen(void *arg, const struct emu_block_mem *);
void emu_mem_each(bool freed, emu_mem_seen *, void *arg);
void emu_mem_freed_in(uint64_t base, const void *stream);
uint64_t emu_mem_used(void);    /* bytes of device memory in use */
bool emu_mem_init(void);        /* once; false if a window is taken */

#define EMU_MEM_TOTAL (UINT64_C(16) << 30)

/* ---- decode.c: a function, ready to run --------------------------------------
 *
 * The registers of a warp are rows of 32 words, one a lane.  A call moves a
 * lane's frame up by the caller's rows: lane l's register r is row base[l] + r,
 * column l, so that lanes of different call depth share the rows without
 * meeting.  Predicates are bits of one 32-bit word a register, indexed alike.
 */
enum emu_bank {
	BANK_REG,               /* rows of the current frame */
	BANK_CONST,             /* rows of constants of the module */
	BANK_WARP               /* special registers and scratch rows of the warp */
};

enum emu_opnd_kind { OPND_NONE, OPND_ROW, OPND_PRED };

struct emu_opnd {
	uint8_t kind;           /* enum emu_opnd_kind; NONE: a sink */
	uint8_t bank;
	bool neg;               /* of a predicate */
	uint8_t bits;           /* width of the register, 64 for others */
	uint32_t at;            /* ROW: index of its first word; PRED: number */
};

/* Rows of BANK_WARP. */
enum emu_wrow {
	WROW_SINK, WROW_TEMP0, WROW_TEMP_END = WROW_TEMP0 + 12,
	WROW_TID_X = WROW_TEMP_END, WROW_TID_Y, WROW_TID_Z,
	WROW_LANEID, WROW_LANEMASK_EQ, WROW_LANEMASK_LE, WROW_LANEMASK_LT,
	WROW_LANEMASK_GE, WROW_LANEMASK_GT, WROW_WARPID,
	/* from here on the same for all lanes of the block */
	WROW_BLOCK,
	WROW_NTID_X = WROW_BLOCK, WROW_NTID_Y, WROW_NTID_Z, WROW_NWARPID,
	WROW_CTAID_X, WROW_CTAID_Y, WROW_CTAID_Z,
	WROW_NCTAID_X, WROW_NCTAID_Y, WROW_NCTAID_Z, WROW_SMID, WROW_NSMID, WROW_GRIDID,
	WROW_CLUSTERID_X, WROW_CLUSTERID_Y, WROW_CLUSTERID_Z,
	WROW_NCLUSTERID_X, WROW_NCLUSTERID_Y, WROW_NCLUSTERID_Z,
	WROW_CLUSTER_CTAID_X, WROW_CLUSTER_CTAID_Y, WROW_CLUSTER_CTAID_Z,
	WROW_CLUSTER_NCTAID_X, WROW_CLUSTER_NCTAID_Y, WROW_CLUSTER_NCTAID_Z,
	WROW_CLUSTER_CTARANK, WROW_CLUSTER_NCTARANK, WROW_IS_EXPLICIT_CLUSTER,
	WROW_TOTAL_SMEM_SIZE, WROW_AGGR_SMEM_SIZE, WROW_DYNAMIC_SMEM_SIZE,
	WROW_RESERVED_SMEM_BEGIN, WROW_RESERVED_SMEM_END, WROW_RESERVED_SMEM_CAP,
	WROW_RESERVED_SMEM_0, WROW_RESERVED_SMEM_1,
	WROW_ENVREG1, WROW_ENVREG2, WROW_CURRENT_GRAPH_EXEC, WROW_WARP_SZ, WROW_ZERO,
	WROW_COUNT
};

struct emu_x;
struct emu_op;

/* Executes `op` for the lanes in `m` (the group's lanes whose guard is true; never
 * none) and returns the op to go on with.  NULL: the group stops here, and
 * x->stop_reason says why. */
typedef const struct emu_op *emu_op_fn(struct emu_x *, const struct emu_op *op, uint32_t m);

/* How the address of a memory access is made. */
enum emu_base {
	BASE_GENERIC,           /* a register, generic */
	BASE_GLOBAL,            /* a register or constant, .global or .const */
	BASE_SHARED,            /* a register, .shared */
	BASE_OWN_SHARED,        /* constant offset in the block's own shared memory */
	BASE_LOCAL,             /* a register, .local */
	BASE_FRAME,             /* constant offset in the frame's local variables */
	BASE_KPARAM,            /* constant offset in the kernel's parameters */
	BASE_FPARAM,            /* constant offset from a row: .param of a function or a call */
	BASE_PARAM              /* a register that holds the address of a parameter */
};

struct emu_addr {
	uint8_t base;           /* enum emu_base */
	struct emu_opnd reg;
	int64_t off;
};

/* Values that one parameter or result of a function takes in the frame's rows. */
struct emu_slot {
	const struct ptx_sym *sym;
	uint32_t row;           /* first row; 8 bytes a row */
	uint32_t bytes;
	bool reg;               /* a .reg: row or predicate number */
	bool pred;
};

struct emu_call {
	struct emu_func *callee;        /* NULL: through `target` */
	struct emu_opnd target;
	const char *name;               /* for messages */
	unsigned nargs, nrets;
	struct emu_slot *args;          /* where the caller keeps them; .sym NULL: constant */
	struct emu_opnd *argv;          /* registers and constants among them */
	struct emu_slot *rets;
	struct emu_opnd *retv;
};

struct emu_op {
	emu_op_fn *fn;
	int32_t guard;                  /* number of the predicate, -1: none */
	bool guard_neg;
	uint8_t nd, ns;                 /* destination and source words in o[] */
	uint8_t size, n;                /* of an access: bytes and number of elements */
	uint8_t flags;                  /* EMU_F_* */
	uint8_t kind;                   /* the op's own: enum of the file that runs it */
	uint8_t type;                   /* enum ptx_type, where the op needs it */
	uint32_t imm;                   /* the op's own */
	const struct emu_opnd *o;
	union {
		struct emu_alu alu;
		struct emu_addr mem;
		const struct emu_op *target;            /* bra */
		struct { const struct emu_op **list; uint32_t n; } table;      /* brx.idx */
		struct emu_call *call;
		struct emu_mma *mma;
		struct { struct emu_addr mem; struct emu_tile *tile; } tile;    /* wmma.load */
		struct emu_bulk *bulk;                  /* cp.async.bulk and the like */
		struct emu_tensor *tensor;
		struct emu_cancel *cancel;
		struct emu_wgmma *wgmma;
		struct emu_tc *tc;
		uint64_t value;
		const char *why;                        /* refused */
	} u;
	struct emu_func *func;
	const struct ptx_stmt *stmt;    /* where it comes from */
};

#define EMU_F_STRONG 1u         /* volatile, relaxed, acquire ..., atomics: may be spinning */
#define EMU_F_SYS    2u         /* .sys scope: the host may be at it, too */
#define EMU_F_SEXT   4u
#define EMU_F_HAS_CC 8u
#define EMU_F_IGNORE_SRC 32u             /* cp.async with a predicate */
#define EMU_F_STRIDE 64u                 /* wmma.load with one */
#define EMU_F_NO_MASK 16u               /* a warp instruction without .sync */
#define EMU_F_ACCESS 128u               /* it is what accesses memory, for its statement */

struct emu_func {
	const char *name;
	struct emu_profile *profile;    /* NULL: not known yet */
	struct emu_module *mod;
	struct ptx_func *ptx;
	uint64_t address;               /* in EMU_FUNC_WINDOW */
	bool entry;
	int builtin;                    /* enum emu_builtin, 0: none */
	struct emu_func *alias;         /* .alias: the function that it is */
	struct emu_op *ops;             /* NULL: declared, not defined */
	unsigned nops;
	uint32_t code, code_line;       /* icache.c: its number + 1, and where it lies; 0: not executed yet */
	unsigned rows;                  /* of a frame */
	uint64_t local_bytes, local_align;      /* of a frame */
	unsigned nparams, nrets;
	struct emu_slot *params, *rets; /* of an entry: offsets in bytes in .row */
	uint64_t param_bytes;           /* of an entry */
	/* What it refers to itself, and an entry with all that it can call. */
	uint32_t *uses_shared;          /* numbers of .shared variables */
	unsigned nuses_shared;
	struct emu_func **calls;
	unsigned ncalls;
	bool calls_any, address_taken;
	uint32_t *shared_at;            /* of an entry: offset by number, ~0: not reachable */
	uint64_t static_smem;           /* of an entry, without the system's part */
	int attr_smem, attr_carveout;   /* set by cuFuncSetAttribute */
	bool attr_smem_set;
	int cluster[3];                 /* required, likewise */
	bool nonportable_cluster;
	int spread_policy;
	uint8_t *step;                  /* stepwise.c: by number of the op; NULL: not known yet */
	struct emu_weak *weak;          /* weak.c: by number of the op; NULL */
	bool injected;                  /* by gsan: no part of the program */
	enum { PROBES_UNKNOWN, PROBES_NONE, PROBES_THERE } probes;      /* sched.c: does it log? */
	struct emu_told *told;          /* listen.c: by number of the op; NULL: nobody listened */
	void *heard[EMU_LISTENERS];     /* what each listener keeps of it */
};

/* Does it register a module, and is no part of the program? */
static inline bool emu_is_injected(const struct emu_func *f)
{
	return !strncmp(f->name, "__gsan_", 7);
}

/* Rows at the start of every frame: where to go on, with which frame and which
 * end of the stack; where this frame's local variables start. */
enum { FRAME_RETURN, FRAME_BASE, FRAME_STACK, FRAME_LOCAL, FRAME_HEADER };

struct emu_module {
	struct ptx_module *ptx;
	char *name;                     /* for messages: "file.ptx" or "PTX module 3" */
	struct emu_func **funcs;
	unsigned nfuncs;
	uint64_t segment[2];            /* device memory of all .global, of all .const; 0 */
	struct emu_shared *shared;      /* every .shared variable, of any scope */
	bool reserved_smem;             /* asks where the system's part is, as barriers of cooperative groups do */
	unsigned nshared, capshared;
	uint64_t *consts;               /* rows of constants */
	unsigned nconsts, capconsts;
	struct emu_const **const_index; /* hash from value to row */
	bool async_reads;               /* something reads shared memory in the async proxy */
	unsigned async;                 /* weak.c: what else the async proxy may do; 0: not known */
	bool instrumented;              /* there is a kernel that gsan put there */
	CUcontext ctx;
	struct emu_module *next;
};

/* Where a variable lies: sym->user. */
struct emu_place {
	enum ptx_space space;
	uint64_t at;            /* address; number of a .shared variable; offset in the frame
	                           (.local) or the parameters of the entry; row */
	bool kparam;            /* .param of an entry */
};

/* A .shared variable.  Each kernel lays out those that it can reach. */
struct emu_shared {
	uint64_t bytes, align;
	bool dynamic;           /* extern and without a size: behind all the others */
};

/* Reads PTX and decodes all of it; NULL with `*err` set and a message in `log`. */
struct emu_module *emu_module_new(const char *name, const char *text, size_t len,
				  struct ptx_buf *log, CUresult *err);
void emu_module_free(struct emu_module *);
struct emu_func *emu_func_find(struct emu_module *, const char *name);
struct emu_func *emu_func_at(uint64_t address);
void emu_func_calls(struct emu_func *, struct emu_func *callee);

#define EMU_SMEM_UNIT 128u              /* shared memory is given to blocks in these (CUDA, "Occupancy Calculator") */
#define EMU_SMEM_RESERVED 1024u         /* at the start of each block's, by the system */

/* ---- grid.c, sched.c: grids, blocks, warps, groups of lanes --------------------- */

enum emu_state {
	GROUP_READY,
	GROUP_WAIT_WARP,        /* at a .sync instruction, for other lanes of the warp */
	GROUP_WAIT_BAR,         /* at a barrier of the block; pc is behind it */
	GROUP_WAIT_CLUSTER      /* likewise, of the cluster */
};

/* Lanes of a warp with the same pc and the same frame, not running just now. */
struct emu_group {
	const struct emu_op *pc;
	uint32_t mask;
	uint32_t base;          /* first row of their frame */
	uint8_t state;          /* enum emu_state */
	uint8_t bar;            /* GROUP_WAIT_BAR: its number */
	bool nap;               /* spinning or asleep: others go first */
	uint32_t need;          /* GROUP_WAIT_WARP: member mask */
	const struct emu_op *at;        /* the op that it waits in */
	uint64_t stamp;         /* warp->ran when it stopped */
};

struct emu_warp {
	struct emu_block *block;
	struct emu_timing *timing;      /* NULL: nobody asked */
	unsigned index;         /* in the block */
	unsigned slot;          /* on its SM: %warpid */
	uint32_t live;          /* lanes that have not exited */
	uint64_t *rows;
	uint32_t *preds;
	unsigned nrows;
	uint64_t *wrows;        /* BANK_WARP */
	uint8_t *local;         /* 32 stacks of local_bytes bytes */
	uint64_t local_bytes;
	uint64_t sp[EMU_LANES]; /* end of the part of the stack in use */
	uint32_t cc;            /* carry flags */
	bool loose;             /* bar.warp.sync with masks that lack the lane: see exec_warp.c */
	uint32_t outside;       /* lanes that wait at such a one */
	uint32_t looks;         /* lanes whose last look at an mbarrier found its phase under way: */
	const uint64_t *looked; /* that one, the last for all of them */
	uint64_t looked_at;     /* its address */
	const struct emu_op *looked_by;  /* the instruction that looked */
	unsigned ngroups;
	struct emu_group group[EMU_LANES];
	int run_at;             /* index in the list of runnable warps, -1 */
	uint64_t ran;           /* ops */
	uint64_t steps, place;  /* stepwise: done; place in the order, 0: none yet */
	uint32_t came[EMU_LANES];       /* of lanes that wait for others, if somebody listens: their group till then */
	struct emu_copies *copies;      /* cp.async of each lane; NULL until the first */
};

struct emu_bar {
	uint32_t arrived;       /* threads */
	uint32_t expected;      /* EMU_BAR_ALL: all that have not exited; 0: not in use */
	uint32_t popc;          /* bar.red: threads with a true predicate */
	uint32_t warps;         /* that have arrived, counted again if they do it again */
	uint32_t lanes[32];     /* of each warp, those that have arrived before the others */
};
#define EMU_BAR_ALL 0xffffffffu

struct emu_cluster {
	unsigned nblocks, running;      /* running: blocks that have threads left */
	struct emu_block *block[16];
	uint32_t threads;               /* not exited */
	uint32_t arrived;               /* of them, in this phase of the barrier */
	uint32_t phase;
};

struct emu_block {
	struct emu_grid *grid;
	struct emu_cluster *cluster;
	unsigned rank;
	uint32_t ctaid[3];
	unsigned sm;
	uint8_t *smem;
	uint64_t smem_bytes;            /* with the reserved part */
	uint64_t smem_end;              /* of what may be accessed */
	uint32_t smem_first;            /* that may be accessed: behind it, or its start if it is asked for */
	unsigned nwarps, nthreads, live; /* live: threads not exited */
	bool triggered;                 /* counted in grid->triggered */
	struct emu_warp *warp;
	struct emu_bar bar[16];
	uint32_t *cluster_arrived;      /* per thread: phase + 1 that it arrived in, 0 */
	struct emu_cluster own_cluster; /* used by the block of rank 0 */
	struct emu_block *next;         /* of its grid */
	struct emu_block *pool_next;
	struct emu_tmem *tmem;          /* exec_tcgen05.c; NULL until used */
	uint8_t *stale;                 /* weak.c: smem as the async proxy saw it; NULL */
	struct emu_undos *undos;        /* weak.c: global memory as it saw it; NULL */
	void *heard[EMU_LISTENERS];     /* as emu_func's; NULL when it starts */
};

struct emu_grid {
	struct emu_func *func;
	uint32_t dim[3], block[3], cluster[3];
	bool explicit_cluster, cooperative;
	bool pdl;                       /* may start before the one before it has ended */
	struct emu_grid *after;         /* that one, until it has ended */
	uint64_t nblocks, next_block, done;
	uint64_t triggered;             /* blocks that let dependent grids start, or ended */
	uint64_t smem_dynamic;
	uint64_t params;                /* address of the parameters */
	uint64_t workspace;             /* of a cooperative launch, for grid barriers; 0 */
	uint64_t id;
	uint64_t made;                  /* its number, in the order of the calls */
	struct emu_block *blocks, *pool;        /* all it ever had, those to use again */
	void *owner;                    /* the command it came with */
	struct emu_grid *next;
	void *heard[EMU_LISTENERS];
};

struct emu_sm { unsigned blocks, threads; uint64_t smem, warps; };

/* Execution of one group for a while; the group is not in warp->group meanwhile. */
struct emu_x {
	uint64_t *bank[3];
	uint32_t *pred;
	uint32_t mask;
	uint32_t base;
	int budget;
	const struct emu_op *stop;      /* another group of the warp waits there */
	struct emu_warp *w;
	struct emu_block *b;
	bool spin;                      /* it looked at memory that others may change */
	bool forced;                    /* runs out of turn: smaller pcs do not take over */
	uint8_t why;                    /* enum emu_why, when an op returned NULL */
};

enum emu_why {
	WHY_PARKED,             /* the group waits, or has no lanes left */
	WHY_YIELD,              /* it is ready, but others should go first */
	WHY_FAULT
};

#define EMU_MAX_SMS 64
#define EMU_FIRST_SM 75           /* compute capabilities, as 10 * major + minor */
#define EMU_DEFAULT_SM 90
#define EMU_LAST_SM 121

struct emu_machine {
	unsigned sm_version;            /* 90 */
	unsigned nsm, max_blocks, max_threads;          /* of an SM */
	uint64_t sm_smem, block_smem;   /* shared memory of an SM; most of one block */
	struct emu_sm sm[EMU_MAX_SMS];
	struct emu_grid *grids;         /* running, in order of start */
	struct emu_warp **run;          /* runnable warps */
	unsigned nrun, caprun, cursor;
	unsigned resident;              /* blocks */
	bool admit;                     /* there may be room for more blocks */
	uint64_t seed, rng;
	uint64_t steps;                 /* ops executed by any warp: the clock */
	uint64_t async_due;             /* the step at which async.c has something to do */
	uint64_t next_grid;             /* %gridid */
	uint64_t grids_made;
	uint64_t launches;              /* since the seed was set */
	CUresult fault;                 /* CUDA_SUCCESS, or why everything stops */
	uint64_t heap_limit, heap_used; /* of malloc() in kernels */
	/* stepwise.c */
	bool stepwise;
	bool patient;                   /* EMU_PATIENT: a deadlock is waited for, as on a GPU */
	unsigned fatal;                 /* EMU_FATAL: a fault ends all contexts of the process, as on a GPU; 2: memory cannot be shared */
	struct emu_warp *stays;         /* has the turn for `left` more steps; NULL */
	unsigned left;
	uint64_t last;                  /* key of the warp that stayed last */
	uint64_t turns;                 /* how often somebody went to the end of the order */
	const char *profile, *timing;   /* EMU_PROFILE, EMU_TIMING, files; NULL: none is asked for */
	atomic_bool attention;          /* the host wants the engine to look at its queues */
};

extern struct emu_machine emu_m;

/* grid.c */
bool emu_machine_init(void);            /* once; false if the environment is wrong */
/* Shared memory of a block, as %total_smem_size counts it. */
uint64_t emu_grid_smem(const struct emu_grid *);
/* Whether all of one cluster, or of a cooperative grid, could be resident. */
CUresult emu_grid_check(const struct emu_grid *);
unsigned emu_occupancy(const struct emu_func *, unsigned threads, uint64_t dynamic_smem);
void emu_grid_start(struct emu_grid *);
void emu_grid_free(struct emu_grid *);
void emu_admit(void);
/* A block has no threads left; returns its grid if that is at its end, off the list. */
struct emu_grid *emu_block_end(struct emu_block *);
/* %ctaid of the first block of a cluster. */
void emu_cluster_place(const struct emu_grid *, uint64_t cluster, uint64_t at[3]);
void emu_grid_trigger(struct emu_block *);      /* the block lets dependent grids start */
struct emu_grid *emu_machine_abandon(void);     /* stops everything; the grids to free */
void emu_warp_grow(struct emu_warp *, unsigned rows);
/* Local memory of at least so much a thread; false beyond the limit. */
bool emu_warp_grow_local(struct emu_warp *, uint64_t bytes);
#define EMU_MAX_ROWS (1u << 20)         /* of a warp's registers, 256 MiB */
#define EMU_MAX_LOCAL (UINT64_C(512) << 10)     /* a thread; PTX ISA has 512 KiB */

/* sched.c */
/* Runs resident blocks until a grid ends, which it returns; NULL: a fault,
 * emu_m.attention, or nothing left to run. */
struct emu_grid *emu_run(void);
void emu_step_group(struct emu_warp *, unsigned group);         /* one op of that one, which joins nobody */
void emu_reseed(uint64_t salt);
uint64_t emu_random(void);
void emu_warp_ready(struct emu_warp *);         /* some group became ready */
void emu_warp_gone(struct emu_warp *);          /* off the list of runnable ones */
/* The lanes of `m` leave x's group and go on at `pc` by themselves. */
void emu_split(struct emu_x *, uint32_t m, const struct emu_op *pc, uint32_t base);
/* x's lanes are about to run `pc`: joins lanes that are there; if others should go
 * first, parks the group and returns NULL. */
const struct emu_op *emu_arrive(struct emu_x *, const struct emu_op *pc);
void emu_find_stop(struct emu_x *, const struct emu_op *pc);    /* x->stop, running at pc */
/* x's group stops here. */
struct emu_group *emu_park(struct emu_x *, enum emu_state, const struct emu_op *pc);
const struct emu_op *emu_yield(struct emu_x *, const struct emu_op *pc);
void emu_exit(struct emu_x *, uint32_t m);      /* threads end */
void emu_x_banks(struct emu_x *);               /* after base or rows changed */

/* stepwise.c: one step of some warp, which it returns; NULL: none can */
struct emu_warp *emu_step(void);

/* weak.c: loads that may be overtaken by asynchronous writes */
void emu_weak_wrap(struct emu_func *);
/* Whether the tcgen05.ld is waited for before anything else can ask for its result. */
bool emu_ld_waited(const struct ptx_stmt *);

/* exec_async.c: carries out the copies of lanes that end; drops all of a warp's */
void emu_copies_finish(struct emu_warp *, uint32_t m);
void emu_copies_free(struct emu_warp *);

/* exec_warp.c: lanes that execute one collective instruction together, perhaps at
 * different places */
struct emu_part { const struct emu_op *op; uint32_t mask, base; };

struct emu_gather {
	unsigned n;
	uint32_t mask;          /* all of them */
	struct emu_part part[EMU_LANES];
	uint32_t came[EMU_LANES];       /* by lane, if somebody listens: the group that it came in */
};

/* Waits until the live lanes of `need` have arrived at an op like this one.  false:
 * the group has been parked, return NULL. */
bool emu_gather(struct emu_x *, const struct emu_op *, uint32_t m, uint32_t need,
		struct emu_gather *);
void emu_read_part(struct emu_x *, const struct emu_part *, struct emu_opnd, uint64_t *row);
void emu_write_part(struct emu_x *, const struct emu_part *, struct emu_opnd, const uint64_t *row);

/* exec_mbar.c: bytes of a copy have come, a thread arrives by way of cp.async;
 * false if there is no mbarrier */
bool emu_mbar_complete_tx(uint64_t *object, uint32_t bytes);
bool emu_mbar_arrive(uint64_t *object);
bool emu_mbar_expect(uint64_t *object);         /* one more arrival in this phase; false: full */
bool emu_mbar_live(const uint64_t *object);
/* It is not there, at `addr` in the owner's memory: a fault, or, if emu_goes_on(), true: the lane
 * does.  NULL: it could not be there. */
bool emu_mbar_missing(struct emu_x *, const struct emu_op *, unsigned lane, uint64_t addr,
		      const struct emu_block *owner);

/* exec_atom.c: the operation of an instruction, and one element of it; the old value */
bool emu_atom_kind(const struct ptx_inst *, uint8_t *kind);
uint64_t emu_atom_update(void *, unsigned size, bool sys, unsigned kind, enum ptx_type, uint64_t b,
			 uint64_t c);

/* exec_sync.c */
/* A thread ended: barriers that waited for it alone are complete. */
void emu_bar_recheck(struct emu_block *);
void emu_cluster_exit(struct emu_block *, const struct emu_warp *, uint32_t m);
/* exec_mbar.c: prints what is under way at an mbarrier. */
void emu_mbar_say(const uint64_t *);
/* where.c: nothing can go on: says where warps stand, and makes it a fault. */
void emu_deadlock(void);
void emu_wait_a_moment(void);
/* hang.c: a thread arrives at an mbarrier; that is a new one; why nothing goes on, `own` being the program's op where a group is */
void emu_hang_arrived(const struct emu_warp *, unsigned lane, const uint64_t *mbar, const struct emu_op *);
void emu_hang_forget(const uint64_t *mbar);
void emu_hang_say(const struct emu_op *(*own)(const struct emu_warp *, const struct emu_group *));
void emu_mbar_left(const uint64_t *word, uint32_t *arrivals, int64_t *bytes);    /* what its phase waits for */
/* Whether the time is up; then it does the same. */
bool emu_is_late(void);
void emu_where_begin(uint64_t seconds); /* EMU_TIMEOUT begins; 0: there is none */

/* ---- exec*.c ------------------------------------------------------------------- */

/* spin.c: a launch begins; do all that run go round for ever?  A word of shared memory that a lane polled then, NULL:
 * none: by which op, whose it is, where it lies there, and what it holds. */
struct emu_polled { const struct emu_op *op; const struct emu_block *owner; uint64_t at, value; };
void emu_spin_begin(void);
bool emu_spins(void);
const struct emu_polled *emu_spin_polled(const struct emu_warp *, unsigned lane);

/* Runs a group until it stops, or `budget` ops are done. */
void emu_exec(struct emu_x *, const struct emu_op *pc);

/* source.c: the text that modules were instrumented from; NULL: there is none.  Without a name
 * the last one stays.  -1: it is no PTX. */
int emu_source_set(const char *name, const char *text, size_t len);
/* Notes of each statement whether gsan put it in, where marks say so (probe/probe.h). */
void emu_source_marks(struct ptx_func *);
bool emu_source_sets_ours(const struct ptx_stmt *);     /* does it set a register of gsan's?  NULL: no */
/* The lines of a function's n accesses, and the like, there; none where the function is unknown. */
const unsigned *emu_source_lines(const char *func, unsigned *n);
bool emu_source_counts(const struct ptx_inst *);        /* it is one of those */
/* The file of which an instruction of `f` is, and the line there; NULL: not known. */
const char *emu_source_place(const struct ptx_func *f, const struct ptx_stmt *, unsigned *line);

/* profile.c: instructions of warps by the name of their function, and of lanes; calls, and
 * which of its instructions were executed at all. */
struct emu_profile {
	struct emu_profile *next;
	char *name;
	uint64_t ops, lanes, calls;
	unsigned nops, used;
	unsigned char *seen;            /* of each of its `nops` instructions */
};
void emu_profile_begin(void);
struct emu_profile *emu_profile_of(struct emu_func *);
void emu_profile_write(void);

/* timing.c: how long warps would take on a GPU, if emu_m.timing. */
void emu_timing_init(void);
void emu_timing_begin(struct emu_warp *);       /* it starts */
void emu_timing_ready(struct emu_warp *);       /* it waited for the warp that ran last */
uint64_t emu_timing_of(const struct emu_warp *);
void emu_timing_op(struct emu_x *, const struct emu_op *, uint32_t m);  /* executed by lanes `m`; 0: none */
void emu_timing_end(const struct emu_grid *);   /* writes of it what there is to tell */

/* icache.c: instruction caches of multiprocessors. */
uint32_t emu_icache_line(const struct emu_op *);        /* where it lies */
/* How many cycles until it is there, at `now`; 0: it is. */
uint64_t emu_icache_fetch(unsigned sm, const struct emu_op *, uint32_t line, uint64_t now);
void emu_icache_write(FILE *);          /* what was fetched since the last time */

/* Ends everything with `code` and a message; returns NULL. */
void emu_print_thread(const struct emu_warp *, unsigned lane, const struct emu_op *);
const struct emu_op *emu_fault(struct emu_x *, const struct emu_op *, unsigned lane, CUresult code,
			       const char *fmt, ...) __attribute__((format(printf, 5, 6)));

static inline uint64_t *emu_row(struct emu_x *x, struct emu_opnd o)
{
	return x->bank[o.bank] + o.at;
}

static inline uint32_t emu_pred(struct emu_x *x, struct emu_opnd o)
{
	return o.neg ? ~x->pred[o.at] : x->pred[o.at];
}

/* Value of any operand in one lane. */
static inline uint64_t emu_get(struct emu_x *x, struct emu_opnd o, unsigned l)
{
	if (o.kind == OPND_PRED)
		return emu_pred(x, o) >> l & 1;
	return emu_row(x, o)[l];
}

static inline void emu_set(struct emu_x *x, struct emu_opnd o, unsigned l, uint64_t v)
{
	if (o.kind == OPND_ROW)
		emu_row(x, o)[l] = v;
	else if (o.kind == OPND_PRED)
		x->pred[o.at] = (x->pred[o.at] & ~(1u << l)) | (uint32_t)(v & 1) << l;
}

#define EMU_EACH(l, m) \
	for (uint32_t m_##l = (m), l; m_##l && (l = (uint32_t)__builtin_ctz(m_##l), 1); \
	     m_##l &= m_##l - 1)

uint64_t emu_thread_index(const struct emu_warp *, unsigned lane);

/* Pseudo-instructions that the decoder inserts. */
emu_op_fn emu_op_alu, emu_op_refuse, emu_op_clock, emu_op_shared_addr, emu_op_local_addr,
	emu_op_param_addr, emu_op_kparam_addr, emu_op_nop, emu_op_bra, emu_op_brx, emu_op_ret;

/* Fast forms; NULL if there is none for this instruction. */
emu_op_fn *emu_fast(const struct ptx_inst *, const struct emu_opnd *, unsigned nd, unsigned ns);

/* ---- decoding: each fills fn and the rest; false: not mine --------------------- */

struct emu_dec {
	struct emu_module *mod;
	struct emu_func *f;
	struct ptx_arena *arena;
	struct emu_op *ops;
	unsigned nops, cap;
	unsigned temps;                 /* BANK_WARP scratch rows used by this statement */
	struct emu_opnd *regs;          /* by ptx_sym.reg */
	unsigned rows, preds;
	const struct ptx_stmt *stmt;
	const char *why;                /* of a refusal */
};

void emu_decode(struct emu_func *);
unsigned emu_reg_words(const struct ptx_sym *);
struct emu_opnd emu_reg_at(const struct ptx_sym *, unsigned number);
void emu_reg_new(struct emu_dec *, const struct ptx_sym *);     /* a row of its own */
void emu_regs(struct emu_dec *);        /* regs.c: rows for the registers of the body */
/* A new .shared variable of the module; returns its number. */
unsigned emu_shared_new(struct emu_module *, const struct ptx_var *);
uint64_t emu_align_of(const struct ptx_sym *);
struct emu_op *emu_dec_new(struct emu_dec *);   /* appends an op for the statement */
/* Flattens operands into words; sources that are special registers or addresses
 * make ops of their own, before the one that uses them. */
unsigned emu_dec_words(struct emu_dec *, const struct ptx_operand *, bool dst,
		       struct emu_opnd *out, unsigned max);
struct emu_opnd emu_dec_word(struct emu_dec *, const struct ptx_operand *, bool dst);
struct emu_opnd emu_dec_const(struct emu_dec *, uint64_t);
bool emu_dec_addr(struct emu_dec *, const struct ptx_operand *, enum ptx_space,
		  struct emu_addr *);
bool emu_dec_refuse(struct emu_dec *, const char *why);         /* returns false */
struct emu_opnd *emu_dec_keep(struct emu_dec *, const struct emu_opnd *, unsigned n);

typedef bool emu_dec_fn(struct emu_dec *, const struct ptx_inst *);
emu_dec_fn emu_dec_mem, emu_dec_atom, emu_dec_ctl, emu_dec_sync, emu_dec_warp, emu_dec_space,
	emu_dec_mat, emu_dec_mbar, emu_dec_async, emu_dec_bulk, emu_dec_tensor,
	emu_dec_launch, emu_dec_wgmma, emu_dec_multimem, emu_dec_tcgen05;

/* ---- printf.c: what device code may call ----------------------------------------- */

enum emu_builtin {
	BUILTIN_NONE, BUILTIN_VPRINTF, BUILTIN_MALLOC, BUILTIN_FREE, BUILTIN_ASSERTFAIL
};
int emu_builtin_find(const char *name);
/* Runs it; arguments are raw words by lane, in callee order.  NULL on a fault. */
const struct emu_op *emu_builtin_run(struct emu_x *, const struct emu_op *, uint32_t m, int which,
				     uint64_t (*args)[EMU_LANES], uint64_t *ret);
void emu_print_flush(void);

/* ---- entry points beside the driver API's ------------------------------------------ */

/* The device's compute capability, 75 to 121 (90 at first, or EMU_SM), before cuInit or
 * after it; 0 or a CUresult. */
EMU_API int emu_set_device(int sm);
/* A program will load this image: unless EMU_SM says otherwise the device is one that has
 * what it was built for.  Before cuInit. */
EMU_API void emu_expect_image(const void *image);
/* Schedules of the launches to come (0 at first, or EMU_SEED). */
EMU_API void emu_set_seed(unsigned long long seed);
/* Whether they are such that what gsan puts in does not change them (EMU_STEPWISE):
 * see stepwise.c. */
EMU_API void emu_set_stepwise(int on);

#endif
