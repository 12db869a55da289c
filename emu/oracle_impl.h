/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle_impl.h: the oracle's parts.  oracle_hook.c listens to the emulated device
 * (listen.h) and makes events of what it tells; oracle_sync.c, oracle_sc.c and oracle_phase.c
 * build the order from them, on the vector clocks of oracle_clock.c; oracle_race.c keeps every
 * access and finds the pairs that the order leaves open; oracle_say.c keeps what was found and
 * answers questions.
 *
 * Some orders the documentation leaves open, so that the order is built four times, as
 * set out at enum orc_world.
 */
#ifndef EMU_ORACLE_IMPL_H
#define EMU_ORACLE_IMPL_H

#include "emu/listen.h"
#include "emu/oracle.h"

/* LEAST: exactly what the instructions did, when they did it; of what may be
 * either way, the order that is not there.  MOST: the order that is there; a read sees
 * everything that was there at any moment until the thread's next event.  A pair is a
 * race if LEAST leaves it open, and certain if MOST does.  WIDE: either, as if all scopes
 * were .sys: what it closes is a matter of scope. */
enum orc_world { ORC_LEAST, ORC_MOST, ORC_WIDE_LEAST, ORC_WIDE_MOST, ORC_WORLDS };
#define ORC_IS_MOST(w) ((w) & 1)
#define ORC_IS_WIDE(w) ((w) & 2)
#define ORC_NARROW(w) ((enum orc_world)((w) & 1))

enum orc_level { ORC_WEAK, ORC_CTA, ORC_CLUSTER, ORC_GPU, ORC_SYS, ORC_LEVELS };

/* ---- oracle_clock.c: vector clocks ------------------------------------------- */

/* Shared and counted; NULL knows nothing.  Actors are numbered so that a warp's threads
 * are 32 in a row. */
struct orc_clock;

/* Who can do something: threads, and what they set going.  Operations that are
 * finished in the order of their issue have one actor for each thread (or warp: its
 * first thread's number), whose clock counts them; others have one for themselves. */
enum orc_actor {
	ORC_THREAD, ORC_CP_ASYNC, ORC_BULK_READ, ORC_BULK_WRITE, ORC_WGMMA,
	ORC_TC,                         /* tcgen05.mma, .cp */
	ORC_TC_ISSUED,                  /* the same, not yet done: what pipelines go by */
	ORC_TC_LD, ORC_TC_ST,
	ORC_SINGLE,
	ORC_LAUNCH                      /* a grid as a whole */
};
#define ORC_ACTOR(kind, n) ((uint64_t)(kind) << 48 | (n))

struct orc_clock *orc_keep(struct orc_clock *);
void orc_drop(struct orc_clock *);
uint32_t orc_get(const struct orc_clock *, uint64_t thread);
void orc_raise(struct orc_clock **, uint64_t thread, uint32_t to);
void orc_learn(struct orc_clock **, struct orc_clock *from);
/* For every thread of which `a` knows more than `b`: how much. */
typedef void orc_beyond(void *arg, uint64_t thread, uint32_t epoch);
void orc_each_beyond(const struct orc_clock *a, const struct orc_clock *b, orc_beyond *, void *arg);

/* What is known, and what for.  All of it goes along every edge of the order, except
 * that the proxy fences of a block mean nothing in another. */
enum orc_facet {
	ORC_ALL,                        /* what comes before whatever is done next */
	ORC_SHARED,                     /* the same, where that is in shared memory (.sync_restrict) */
	ORC_INITS,                      /* the same, where it is an mbarrier's init */
	ORC_READS,                      /* the same, where it is a read or of the async proxy */
	/* Fenced for the async proxy by whoever made the access: its block's shared
	 * memory, that of the cluster, global memory. */
	ORC_OWN, ORC_OWN_CLUSTER, ORC_OWN_GLOBAL,
	/* By somebody in this block, who knew of it. */
	ORC_HERE, ORC_HERE_CLUSTER, ORC_HERE_GLOBAL,
	ORC_HALF,                       /* by the releasing half of a fence in one direction */
	ORC_WHOLE,                      /* and by the acquiring half, in this block */
	ORC_ALIAS,                      /* fenced between the names of one location */
	ORC_MAP,                        /* released to the tensor maps' proxy */
	ORC_TENSOR,                     /* tensor memory: by tcgen05.fence::before_thread_sync */
	ORC_MET,                        /* whose fence.sc's the next one comes behind (oracle_sc.c) */
	ORC_FACETS
};
#define ORC_IN_BLOCK(f) (((f) >= ORC_HERE && (f) <= ORC_HERE_GLOBAL) || (f) == ORC_WHOLE)

struct orc_know { struct orc_clock *v[ORC_FACETS]; };

/* ---- oracle_sync.c: threads and the order between them --------------------------- */

/* Who did something and how far it reaches: what scopes are compared by. */
struct orc_reach {
	uint64_t block, cluster;        /* linear number of the block; of its cluster */
	uint8_t level;
};

/* What the head of a release pattern publishes.  In the wide worlds `narrow` is what
 * it published in the world beside it: what scopes as they are let it know. */
struct orc_head {
	struct orc_know know;
	struct orc_clock *narrow;
	struct orc_reach reach;
	bool done;                      /* the end of an asynchronous operation */
	bool loose;                     /* goes along with whatever is seen, acquired or not */
};
struct orc_heads { struct orc_head *v; unsigned n, cap; };

struct orc_word;

/* A head that the thread saw by a strong read, or a release of its own, at a word or
 * an mbarrier. */
struct orc_noted {
	const void *word;
	struct orc_head head;
};
struct orc_notes { struct orc_noted *v; unsigned n, cap; };

struct orc_order {              /* what a thread knows in one world */
	struct orc_know know;
	struct orc_clock *mine;         /* asynchronous operations that it saw end itself */
	struct orc_clock *tensor;       /* done in tensor memory before what it does next */
	/* In the wide worlds: what it would know in the world beside it, had the scopes
	 * been wide where it acquires, and nowhere else. */
	struct orc_clock *direct;
	struct orc_head fence[ORC_LEVELS];      /* at its last release fence of that scope */
	struct orc_notes released;      /* rule 1b */
	struct orc_notes seen;          /* rules 2b, 2c */
};

struct orc_observer {           /* read what a write wrote; `sure`: in every world */
	uint64_t thread, seq;
	uint32_t epoch;
	bool sure;
	struct orc_reach reach;
};

/* ORC_MULTIMEM: generic, but by another address of the same memory. */
enum orc_proxy { ORC_GENERIC, ORC_MULTIMEM, ORC_ASYNC, ORC_MAPS };

/* What was known when an operation was issued; its accesses share it. */
struct orc_issue {
	unsigned refs;
	struct orc_block *block;
	uint32_t index;                 /* of the thread, or the first of the warp */
	struct orc_know know[ORC_WORLDS];
	struct orc_clock *tensor[ORC_WORLDS];
	uint64_t number;                /* of operations: what one does itself does not race */
	uint64_t what;                  /* lanes of a warp that store the same make one copy; 0 */
};

/* Tensor memory is a space of its own: 1 + number of the block, and this. */
#define ORC_TMEM (UINT64_C(1) << 40)

/* An access, or an element of a strong one, by one thread. */
struct orc_access {
	const struct orc_op *op;
	uint64_t thread, seq;           /* thread: any actor */
	uint32_t epoch, index;          /* index: of the thread in its block */
	bool read, write, read_only;
	bool init;                      /* of an mbarrier */
	uint8_t proxy;                  /* enum orc_proxy */
	uint8_t size;
	uint64_t space, addr;           /* space 0: global; else 1 + number of the block */
	uint64_t whole;                 /* bytes of all that it is a part of */
	uint64_t launch;                /* number of the launch */
	struct orc_issue *issue;        /* of an operation that is not one thread's own; NULL */
	bool at_once;                   /* which is over with the instruction */
	uint64_t pipe;                  /* of tcgen05: the accumulator; 0: in no pipeline */
	bool frees;                     /* it ends an allocation of tensor memory */
	struct orc_reach reach;         /* level ORC_WEAK: a weak access */
	bool blind;                     /* other blocks of its cluster are not compared */
	bool valued;                    /* a weak write, of which is known what it stores: */
	uint8_t stored[32];
	/* What its thread knew; what else it knew of shared memory, of reads and the async
	 * proxy; what was fenced between aliases. */
	struct orc_clock *knows[ORC_WORLDS], *extra[ORC_WORLDS], *reads[ORC_WORLDS], *alias[ORC_WORLDS];
	struct orc_clock *fenced[ORC_WORLDS];   /* asked for by orc_choices.read_fence */
	struct orc_clock *direct;       /* in WIDE_LEAST */
	/* Of a strong write: */
	struct orc_word *word;
	struct orc_heads heads[ORC_WORLDS];
	struct orc_access *next;        /* the RMW that read it, in coherence order */
	struct orc_observer *obs;
	unsigned nobs, capobs;
	const struct orc_access *asked[ORC_WORLDS];     /* see observed() */
	bool answer[ORC_WORLDS];
	uint64_t ended;                 /* when it was written over; 0: not yet */
};

/* What those brought to a location who accessed it before its last write, or wrote that,
 * and who have read it since: in the LEAST worlds. */
struct orc_met { struct orc_clock *before[ORC_WORLDS], *readers[ORC_WORLDS]; };

/* A location of strong accesses: an address and a size. */
struct orc_word {
	struct orc_word *chain;
	uint64_t space, addr;
	uint8_t size;
	struct orc_access **w;          /* its writes, in order */
	unsigned n, cap;
	struct orc_met met;
};

enum { ORC_ELEMS = 8 };

/* Operations of one kind by a thread, and how many there were when a group ended. */
struct orc_groups { uint32_t issued, *end; unsigned n, cap; };

struct orc_thread {
	struct orc_block *block;
	uint64_t id;
	uint32_t epoch, index;
	bool blind;
	struct orc_order o[ORC_WORLDS];
	struct orc_groups cp, bulk, wgmma;      /* wgmma: of the warp, in its first thread */
	uint32_t wgmma_waited;          /* groups */
	uint32_t tc, ld, st;            /* tcgen05.mma and .cp; .ld, .st: likewise */
	const struct orc_op *clustered; /* its arrival at the cluster's barrier, until it waits; NULL */
	struct orc_sc_fence *sc;        /* its fences of sequential consistency */
	unsigned nsc, capsc;
	/* Strong reads whose moment is not over. */
	struct { struct orc_word *word; uint64_t since; struct orc_reach reach; bool acquire; } look[ORC_ELEMS];
	unsigned nlook;
	/* Likewise, the phase that it waited for. */
	struct { const struct orc_phase *phase; const struct orc_op *op; const void *key; } waited;
};

/* Who has come to it first in this use. */
struct orc_come { const struct orc_op *op; uint32_t thread; bool aligned; };
/* An end of an allocation; op NULL: there is none. */
struct orc_gone { const struct orc_op *op; uint64_t actor; uint32_t thread; };
/* A warp's last arrival at a barrier, by its first lane; op NULL: there is none. */
struct orc_past { const struct orc_op *op; uint64_t thread; uint32_t epoch, count; };
/* A barrier of a block; count, red: as the first one says it; by: of each warp; said: something was wrong with it. */
struct orc_bar {
	struct orc_know know[ORC_WORLDS];
	struct orc_come first, by[32];
	struct orc_past last[32], other[32];    /* of each warp; and the last one that named another count */
	unsigned count;
	bool red, said;
};

/* A barrier with phases: what was brought into this one and into the one before. */
struct orc_phase { struct orc_heads now[ORC_WORLDS], before[ORC_WORLDS]; };

struct orc_mbar;

struct orc_block {
	struct orc_grid *grid;
	uint64_t number;
	struct orc_reach reach;         /* level unused */
	unsigned nthreads, left;        /* left: that have not ended */
	bool waited, let_go;            /* griddepcontrol ran */
	struct orc_block *first;        /* of its cluster */
	struct orc_launch *launch;
	struct orc_phase cluster;       /* of the first: the cluster's barrier */
	struct orc_mbar *mbars;
	struct orc_access **guest;      /* of others and of operations, to its shared memory */
	unsigned nguest, capguest;
	struct orc_thread *thread;
	struct orc_bar bar[16];
	struct orc_clock *direct[ORC_WORLDS];   /* what any of its threads has of that */
	struct orc_come room[16], left_room[16];        /* by 32 columns of tensor memory: who allocated, who freed last */
	struct orc_gone used_to[16];    /* likewise: what ended it and is in force */
	struct orc_clock *freed;        /* what ended allocations of its tensor memory */
	struct orc_know ended[ORC_WORLDS];      /* what its threads that ended knew */
	struct orc_know gone[ORC_WORLDS];       /* that, when the cluster's last phase was over */
	struct orc_clock *over[ORC_WORLDS];     /* operations that they saw end, by relaxed waits as well */
};

/* A grid among those that share memory in time: dependent launches. */
struct orc_launch {
	struct orc_launch *next;
	uint64_t id, made, number, first_block, nblocks, first_thread;
	uint64_t waited;                /* blocks that had waited when they let dependents go */
	bool let_go;                    /* one of them did */
	struct orc_heads dependents[ORC_WORLDS];        /* known to what it launches */
	const struct emu_func *func;
	uint64_t dynamic;               /* bytes of dynamic shared memory */
	const void *stream;             /* emu_grid_stream() */
};

/* An acquiring fence of the tensor maps' proxy. */
struct orc_map_fence {
	uint64_t addr, thread, block;
	uint32_t epoch;
	struct orc_clock *covers[ORC_WORLDS];
};

/* `behind`: the last weak write that came behind everything before it; 0: none.  `unfenced`: a proxy may
 * not have seen some of that.  `freed`: how
 * many there are until its allocation ended last. */
struct orc_cell { struct orc_access **v, *last; unsigned n, cap, behind, freed; bool unfenced; };
struct orc_page { struct orc_page *chain; uint64_t space, number; struct orc_cell cell[64]; };

#define ORC_HASH 4096
#define ORC_MARKS 256

struct orc_grid {
	unsigned refs;                  /* launches that go on */
	struct orc_launch *launches;    /* the last one first */
	struct orc_block **block;       /* by number: of the first launch, then of the next */
	uint64_t nblocks, nthreads;     /* of all of them */
	uint64_t seq, singles, issues;
	bool clusters;
	bool fenced;                    /* a fence.sc has run */
	struct orc_map_fence *map_fence;
	unsigned nmap_fences, capmap_fences;
	struct orc_heads sc[ORC_WORLDS];        /* in the MOST worlds: fence.sc that have run */
	struct orc_word *word[ORC_HASH];
	struct orc_page *page[ORC_HASH];
	struct orc_mark *mark[ORC_MARKS];       /* operations under way, by number */
	struct orc_access **all;
	size_t nall, capall;
	struct orc_race *races;
};

/* Addresses of an instruction: at, from, and of an mbarrier (oracle_bounds.c). */
enum { ORC_ADDRESS_AT, ORC_ADDRESS_FROM, ORC_ADDRESS_MBAR, ORC_ADDRESSES };
enum { ORC_MADE = 16 };         /* variables that one may be made of */

/* What an op of the program means. */
struct orc_op {
	const struct ptx_inst *in;
	const char *func;
	unsigned line;
	bool access, fence, unmodelled;
	bool tells;                     /* an event of its own, not that of an access or fence */
	bool other;                     /* of oracle_tell.c */
	bool read, write, strong, acquire, release, sc, red, read_only, multimem;
	uint8_t level, size, n;         /* bytes of an element, elements */
	const struct emu_func *in_func;
	const struct ptx_stmt *stmt;
	bool looked;                    /* for what its addresses are made of: */
	/* Variables of shared memory, by their numbers in the module; none: not known. */
	struct orc_made { uint16_t of[ORC_MADE]; uint8_t n; } made[ORC_ADDRESSES];
};

/* What is wrong with two accesses, kept in this order: nothing, no order, no proxy
 * fence, or only one on the wrong side. */
enum orc_verdict { ORC_FINE, ORC_OPEN, ORC_UNFENCED, ORC_MISFENCED };

void *orc_alloc(size_t n, size_t size);         /* zeroed; never NULL */
/* Room for one more in v[0..n). */
void *orc_grow(void *v, unsigned n, unsigned *cap, size_t size);

/* oracle_host.c: it is forgotten; of the launch of that number. */
void orc_touched(const struct orc_access *, uint64_t id);

bool orc_meet(enum orc_world, const struct orc_reach *, const struct orc_reach *);
void orc_know_drop(struct orc_know *);
void orc_know_learn(struct orc_know *, const struct orc_know *from, bool same_block);
struct orc_know orc_know_keep(const struct orc_know *);
void orc_head_drop(struct orc_head *);
void orc_heads_add(struct orc_heads *, const struct orc_head *);
void orc_heads_drop(struct orc_heads *);
void orc_note(struct orc_notes *, const void *word, const struct orc_head *);
void orc_notes_drop(struct orc_notes *);
/* What the thread did so far, and knows, as it is published. */
struct orc_head orc_head_of(const struct orc_thread *, enum orc_world, struct orc_reach);
void orc_learn_head(struct orc_thread *, enum orc_world, const struct orc_head *);
struct orc_reach orc_reach_of(const struct orc_block *, uint8_t level);
/* The patterns that end with a strong write, or an arrival, of this thread, but those
 * at one place: its own release, an earlier fence, what goes along anyway. */
void orc_patterns(struct orc_heads *, const struct orc_block *, const struct orc_thread *,
		  const struct orc_op *, enum orc_world);
/* Acquires what was seen and is within reach, as far as it is shared memory's. */
void orc_take_shared(struct orc_thread *, enum orc_world, struct orc_reach);

/* The moment of the thread's last strong reads is over. */
void orc_settle(struct orc_grid *, struct orc_thread *);
struct orc_word *orc_word_at(struct orc_grid *, uint64_t space, uint64_t addr, unsigned size);
/* An element of a strong access of `op`; `before` is what wrote its bytes before, NULL if not one and the same. */
void orc_strong(struct orc_block *, struct orc_thread *, const struct orc_op *,
		struct orc_access *, struct orc_access *before);
/* After the last element of a strong access. */
void orc_strong_end(struct orc_thread *, const struct orc_op *);
void orc_fence(struct orc_block *, struct orc_thread *, const struct orc_op *);
void orc_arrive(struct orc_block *, struct orc_thread *, unsigned id);
void orc_leave(struct orc_block *, struct orc_thread *, unsigned id, bool all);
void orc_bar_over(struct orc_block *, unsigned id);
void orc_warp_sync(struct orc_block *, unsigned first, uint32_t lanes);
void orc_unmodelled(struct orc_block *, struct orc_thread *);
/* The thread starts, knowing what a launch before it let it know. */
void orc_begin(struct orc_thread *);
void orc_ended(struct orc_block *, struct orc_thread *);
/* griddepcontrol */
void orc_launch_dependents(struct orc_thread *);
void orc_grid_wait(struct orc_thread *);

/* ---- oracle_sc.c: fences of sequential consistency, in the LEAST worlds --------------------- */

/* A strong access of the thread at this location. */
void orc_meet_at(struct orc_met *, struct orc_thread *, bool write);
/* Somebody else's write. */
void orc_met_written(struct orc_met *);
void orc_met_drop(struct orc_met *);
/* The thread comes behind the fences that a fence.sc has to come behind; it has run. */
void orc_sc_behind(struct orc_block *, struct orc_thread *, const struct orc_op *, enum orc_world);
void orc_sc_fenced(struct orc_block *, struct orc_thread *, const struct orc_op *);
void orc_sc_free(struct orc_thread *);

/* ---- oracle_phase.c: mbarriers and the barrier of a cluster ------------------------------- */

void orc_phase_arrive(struct orc_phase *, struct orc_block *, struct orc_thread *,
		      const struct orc_op *);
void orc_phase_over(struct orc_phase *);
void orc_cluster_over(struct orc_block *first);
/* `key`: what the thread may acquire of it later. */
void orc_phase_wait(const struct orc_phase *, struct orc_thread *, const struct orc_op *,
		    const void *key);
void orc_phase_settle(struct orc_thread *);
void orc_phase_drop(struct orc_phase *);
void orc_cluster_wait(struct orc_block *, struct orc_thread *, const struct orc_op *);

/* ORC_OPERAND: of an asynchronous operation.  ORC_OVERFLOW: it counts too much. */
enum orc_use { ORC_USE, ORC_ARRIVE, ORC_WAIT, ORC_INIT, ORC_INVAL, ORC_OPERAND, ORC_OVERFLOW };

/* An instruction on the mbarrier at `p`, which is at `addr` in the shared memory of
 * `owner`; ORC_WAIT: with success. */
void orc_mbar(struct orc_block *owner, const void *p, uint64_t addr, struct orc_block *,
	      struct orc_thread *, const struct orc_op *, enum orc_use);
void orc_mbar_over(const void *p);
/* A thread has arrived and got that state; it waits for a state or a parity. */
struct orc_awaited { uint64_t state; bool parity, success; };
void orc_mbar_came(const void *p, const struct orc_thread *, const struct orc_op *, uint64_t state);
void orc_mbar_waits(const void *p, const struct orc_thread *, const struct orc_op *, const struct orc_awaited *);
/* A copy of which it will hear is issued; it has heard of all of it. */
void orc_mbar_flies(const void *p, uint64_t actor, const struct orc_op *);
void orc_mbar_lands(const void *p);
/* An operation ends, and the mbarrier hears of it: its actor, and how many of its
 * operations.  `loose`: whoever waits knows, acquiring or not; `tensor`: so much is done
 * in tensor memory, too. */
void orc_mbar_done(const void *p, uint64_t actor, uint32_t n, bool loose, bool tensor);
/* Likewise of a copy that `by` issued. */
void orc_mbar_brought(const void *p, uint64_t actor, const struct orc_block *by);
/* The thread ran fence.mbarrier_init. */
void orc_mbars_fenced(const struct orc_thread *);
/* The mbarrier that an access falls on; NULL. */
struct orc_mbar *orc_mbar_under(struct orc_grid *, const struct orc_access *);
const struct orc_op *orc_mbar_init(const struct orc_mbar *);
void orc_mbars_free(struct orc_block *);

/* ---- oracle_async.c: asynchronous operations and the fences of their proxy ------------------ */

struct orc_issue *orc_issue(struct orc_block *, struct orc_thread *);
/* By the lanes of a warp together. */
struct orc_issue *orc_issue_warp(struct orc_block *, unsigned first, uint32_t lanes);
void orc_issue_drop(struct orc_issue *);
uint64_t orc_singles(struct orc_grid *, unsigned n);      /* actors in a row: the first */
/* What all accesses of one operation have in common that go one way. */
struct orc_touch {
	struct orc_issue *issue;
	const struct orc_op *op;
	uint64_t actor;
	uint32_t n;                     /* it is the actor's n-th */
	enum orc_proxy proxy;
	bool read, write;
	uint8_t level, size;            /* of a reduction: its scope, bytes of an element */
	uint64_t pipe;
	bool at_once, frees;
	uint64_t whole;                 /* bytes of the operation that way; 0: of this alone */
};
void orc_touch(const struct orc_touch *, uint64_t space, uint64_t addr, uint64_t bytes);
void orc_commit(struct orc_groups *);
/* How many operations are done when all groups but the last `left` are. */
uint32_t orc_grouped(const struct orc_groups *, uint32_t left);
/* The thread has seen that so many of an actor's operations are done. */
void orc_done(struct orc_thread *, uint64_t actor, uint32_t n);
/* Likewise, so many wgmma-groups of its warpgroup. */
void orc_wgmma_done(struct orc_thread *, uint32_t groups);
/* What was fenced for the async proxy, by whomever, as it matters to an access in that
 * space; the caller's. */
struct orc_clock *orc_fenced(const struct orc_know *, const struct orc_block *, uint64_t space);
/* What the lanes of a warp have done together is before what each does next. */
void orc_together(struct orc_block *, unsigned first, uint32_t lanes, uint64_t actor);
void orc_proxy_fence(struct orc_block *, struct orc_thread *, const struct orc_op *);
void orc_map_release(struct orc_thread *);
void orc_map_acquire(struct orc_block *, struct orc_thread *, uint64_t addr);
/* Where the documentation leaves room. */
struct orc_choices {
	/* A fence on the way is enough, whoever made the access; none is needed behind a
	 * read; it may run in another block. */
	bool path, no_war, any_block;
	bool per_block;                 /* each block has an async proxy of its own */
	bool wide_tx;                   /* another block's copies reach waits of cluster scope only */
	bool no_tensor_fence;           /* tensor memory takes no tcgen05.fence */
	/* What another block's arrivals of no scope tell: of reads and the async proxy, all, nothing. */
	enum { ORC_ARRIVES_READS, ORC_ARRIVES_ANY, ORC_ARRIVES_STRICT } arrives;
	bool read_fence;                /* that a copy has read says nothing to the generic proxy */
	bool no_retire;                 /* nor a wait for wgmma, without a fence behind it */
	bool init_fence;                /* an mbarrier's init has to be fenced for copies */
	bool lockstep;                  /* lanes of a warp order each other */
	bool same_value;                /* two weak writes of one value need not be named */
	bool dependents_wait;           /* even if the launch before lets nobody go */
	bool exits;                     /* copies to global memory are over when their block ends */
	bool uninit;                    /* what is read of shared memory was written before */
};
extern struct orc_choices orc_choices;
/* Are accesses in this order, the second through another proxy, seen by it? */
enum orc_verdict orc_proxies(enum orc_world, const struct orc_access *, const struct orc_access *);
/* Are two accesses of tensor memory in order? */
bool orc_tensor_ordered(enum orc_world, const struct orc_access *, const struct orc_access *);
void orc_tensor_before(struct orc_thread *);
void orc_tensor_after(struct orc_thread *);
void orc_tensor_done(struct orc_thread *, uint64_t actor, uint32_t n);
/* Shared memory of others: has its block started, and when it ends, who is still at it? */
void orc_guest(struct orc_block *owner, struct orc_access *);
void orc_visit(struct orc_block *owner, struct orc_access *);   /* it is known to have started */
void orc_block_end(struct orc_block *);
void orc_rooms_end(const struct orc_block *);    /* oracle_tell.c: tensor memory that nobody has freed */

/* ---- oracle_map.c: tensor maps that earlier launches wrote ----------------------------------- */

void orc_map_written(const struct orc_grid *, const struct orc_access *);
/* By an operation of this launch. */
void orc_map_used(const struct orc_issue *, const struct orc_op *, uint64_t map);
bool orc_map_acquired(const struct orc_issue *, enum orc_world, uint64_t map);
/* The host copied something there, or it is no memory any more. */
void orc_host_wrote(const struct emu_tell_host *);

/* ---- oracle_race.c: accesses and races ------------------------------------------------ */

struct orc_access *orc_access_new(struct orc_block *, struct orc_thread *, const struct orc_op *,
				  uint64_t space, uint64_t addr, unsigned size);
/* Who wrote the bytes of `a` last, if that was one strong write of the same location. */
struct orc_access *orc_before(struct orc_grid *, const struct orc_access *);
/* Does a read find what a strong write of other bytes has left in some of its own?  The two race, and where that write is in the
 * order of the read's word is open (PTX ISA, Coherence Order). */
bool orc_sees_other(struct orc_grid *, const struct orc_access *);
/* Compares it with all there is and keeps it; false: it is like one that was kept, and
 * has been freed. */
bool orc_check(struct orc_grid *, struct orc_thread *, struct orc_access *);
/* They were kept in this order. */
enum orc_verdict orc_judge(enum orc_world, struct orc_access *, const struct orc_access *);
void orc_grid_end(struct orc_grid *);

/* ---- oracle_say.c: findings ---------------------------------------------------- */

enum orc_kind {
	ORC_DATA, ORC_SCOPE, ORC_IN_FLIGHT, ORC_PROXY, ORC_FENCE_ORDER, ORC_TMAP, ORC_MISUSE,
	ORC_LIFETIME, ORC_BARRIER, ORC_BOUNDS, ORC_BEHIND, ORC_FREED, ORC_UNINIT, ORC_KINDS
};
#define ORC_MAY(kind) (1u << (kind))

struct orc_fact {
	const struct orc_op *op[2];     /* op[1] NULL: there is no second */
	unsigned may;                   /* what it may be called: bits ORC_MAY */
	enum orc_kind kind;             /* what the oracle calls it */
	bool certain;
	bool moot;                      /* others may call it a race; the oracle does not */
	uint64_t block[2];
	uint32_t thread[2];
	uint64_t space, addr, bytes[2];
};
void orc_found(const struct orc_fact *, unsigned long long count);
/* One of these pairs of lines must be named. */
void orc_demand(const struct orc_fact *, const unsigned (*line)[2], unsigned n);
/* Both, for what is wrong with an instruction and perhaps another one. */
void orc_say(const struct orc_fact *);

/* ---- oracle_hook.c: what the emulated device tells ------------------------------------------ */

/* Something comes into the stream (NULL: or may, into any): a launch, or NULL. */
void orc_next(const void *stream, struct emu_grid *then);
struct orc_block *orc_block_of(const struct emu_block *);       /* NULL: not watched */
const struct orc_op *orc_op_of(const struct emu_op *);
struct orc_thread *orc_thread_of(const struct emu_warp *, unsigned lane);
/* The location of an address in the oracle's words.  False: nobody else's business. */
bool orc_space_of(const struct emu_block *by, enum emu_base, uint64_t a, uint64_t *space, uint64_t *addr);
/* All elements of a strong access, carried out now. */
void orc_strong_access(struct orc_block *, struct orc_thread *,
		       const struct orc_op *, uint64_t space, uint64_t addr);

/* ---- oracle_bounds.c ---------------------------------------------------------------------- */

void orc_bounds_forget(void);   /* a function is gone */
/* Which of at most 64 bytes lie outside of the variables, as bits; says so. */
uint64_t orc_outside(const struct orc_block *, const struct orc_op *, unsigned address, uint64_t space, uint64_t addr, uint64_t bytes);

/* The same of global memory, and what the program has allocated there. */
uint64_t orc_off_ground(const struct orc_block *, const struct orc_op *, uint64_t addr, uint64_t bytes);

/* ---- oracle_tell.c: likewise, of what is asynchronous ---------------------------------------- */

bool orc_other(struct orc_op *, const struct ptx_inst *);       /* it is one of these */
void orc_other_done(const struct emu_tell *, const struct orc_op *, unsigned lane);
void orc_hear(const struct emu_tell *, const struct orc_op *);
void orc_hear_late(const struct emu_tell *);    /* TELL_LANDED, TELL_ARRIVED */
void orc_marks_free(struct orc_grid *);
/* Which pipeline an access of tcgen05 belongs to; of D: more by what tells accumulators apart. */
enum { ORC_PIPE_COPY = 1, ORC_PIPE_A, ORC_PIPE_SCALE, ORC_PIPE_D };

#endif
