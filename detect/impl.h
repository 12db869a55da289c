/* SPDX-License-Identifier: Apache-2.0
 *
 * impl.h: the detector's tables, in the order in which its passes fill them.
 *
 *   stream.c   pieces             -> events, each warp's in order (d->event)
 *   scan.c     events             -> lane operations: of words, mbarriers, barriers, groups
 *   word.c ... lane operations    -> a graph: who publishes what to whom (struct graph)
 *   access.c   events             -> accesses, of threads and of asynchronous operations
 *   overrun.c  accesses           -> those of shared memory within their variables; findings of the others
 *   ground.c   accesses           -> the same of global memory, by what the program has allocated
 *   cell.c     accesses           -> pairs that conflict; a pair asks the graph
 *   closure.c  the graph, questions -> what a thread knew of another at an event
 *   judge.c    a pair, answers    -> a finding
 *   uninit.c   a read, answers    -> a finding, if no write comes before it
 *
 * Every pass is a function of one index over arrays, called for each index; what a pass
 * appends to a list could be counted first and put in place afterwards.
 */
#ifndef DETECT_IMPL_H
#define DETECT_IMPL_H

#include "detect/detect.h"
#include "detect/ground.h"
#include "detect/memory.h"
#include "extent/extent.h"

#define NONE 0xffffffffu

/* ---- table.c: memory, lists, order ---------------------------------------------------- */

/* Zeroed, or raw; all of it is given back at once.  Only bumped. */
struct arena { struct chunk *chunks; size_t used; };
void *arena_get(struct arena *, size_t n, size_t size);
void *arena_raw(struct arena *, size_t n, size_t size);
void arena_reset(struct arena *);

/* Elements of one size that only become more; v moves. */
struct list { void *v; uint32_t n, cap; };
#define LIST(type) union { struct list list; struct { type *v; uint32_t n, cap; }; }
/* Room for `n` more, zeroed; returns the first of them. */
void *list_more(struct list *, uint32_t n, size_t size);
#define ADD(l) ((__typeof__((l)->v))list_more(&(l)->list, 1, sizeof *(l)->v))
#define ADD_MANY(l, n) ((__typeof__((l)->v))list_more(&(l)->list, n, sizeof *(l)->v))
void list_free(struct list *);

/* Numbers by pairs of keys. */
struct entry { uint64_t a, b; uint32_t value; };
struct index { LIST(struct entry) entry; uint32_t used; };
uint32_t index_get(const struct index *, uint64_t a, uint64_t b);       /* 0: there is none */
void index_set(struct index *, uint64_t a, uint64_t b, uint32_t value); /* of keys that it lacks; not 0 */

/* Numbers and their keys, both in the arena: 0 to n - 1 at first, and any keys. */
struct sorting { struct arena *arena; uint64_t *key; uint32_t *item, n; };
struct sorting new_sorting(struct arena *, uint32_t n);
void sort(struct sorting *);              /* stably, by the keys */
/* A list by the keys of its elements. */
void sort_list(struct arena *, struct list *, size_t size, uint64_t *key);

/* Numbers 0 to n - 1 by their row: those of row r are item[first[r]] to item[first[r + 1] - 1]. */
struct rows { uint32_t *first, *item; };
struct rows rows_of(struct arena *, const uint32_t *row, uint32_t n, uint32_t nrows);

/* Moves `lo` to the first number in [lo, hi) of which the test does not hold; it holds of those before. */
#define BISECT(lo, hi, test_of_mid) \
	while (lo < hi) { \
		uint32_t mid = lo + (hi - lo) / 2; \
		\
		if (test_of_mid) \
			lo = mid + 1; \
		else \
			hi = mid; \
	}

/* For each lane, or other bit, of a mask. */
#define EACH_LANE(l, mask) \
	for (uint32_t left_##l = (mask), l; left_##l && (l = event_first(left_##l), true); left_##l &= left_##l - 1)

/* ---- who ------------------------------------------------------------------------------- */

struct launch {
	uint32_t number, nblocks;
	uint32_t sites, nsites;         /* sites: its first one in d->site */
	uint32_t first_block;           /* of its numbers in d->block_at */
	bool lets_go;                   /* griddepcontrol.launch_dependents */
	bool over;
	uint32_t shared;                /* bytes of each block's memory; 0: not known */
	uint64_t cut;                   /* timer: see EVENT_HOST_CUT; UINT64_MAX: nothing is lost */
	uint32_t gaps, ngaps;           /* of its memory: the first one in d->gap */
};

struct block {
	uint32_t launch, number;        /* launch: in d->launch */
	uint32_t cluster;               /* number of the cluster's first block in the launch */
	uint16_t rank, ranks, sm;
	uint32_t ended;                 /* threads */
	uint64_t waited, let_go;        /* clocks of the first griddepcontrol of either kind; 0 */
	uint32_t threads;
	uint64_t window;
	uint32_t warp[EVENT_LANES];     /* in d->warp; NONE */
};

/* A thread is number of its warp * 32 + lane. */
struct warp {
	uint32_t block, index;
	uint32_t first, n;              /* its events, in order */
	uint32_t last, judged;          /* places: of its last event, of the last one that was judged */
	uint32_t streams;               /* the last one of its leaders' in d->stream; NONE */
	uint32_t actors;                /* its operations that end in order: the first source; NONE */
};

uint32_t find_block(const struct detect *, uint32_t launch, uint32_t number);  /* NONE: the launch has not got it */

/* ---- stream.c: events, by warp and place --------------------------------------------------- */

struct event {
	uint32_t warp, pos;             /* pos: of the warp's events, from 1 on */
	uint32_t lanes, site;           /* site: in d->site */
	uint32_t unit;                  /* the record: in d->unit */
	uint32_t actor;                 /* of the asynchronous operations that it issues: the first */
	uint64_t clock[2], timer[2];    /* before and behind; of those without: the last before */
	uint8_t kind;
	bool clocked, open;             /* open: what is behind has not come */
};

/* A part of a stream from a CLOCK on, or from a piece's start: when that was, and whose; what a leader of a warp has
 * logged last. */
struct run { uint32_t warp, first, n, lanes; uint64_t clock, timer; };
struct stream { uint64_t clock; uint32_t lanes, next; uint8_t leader; };        /* next: of another leader; NONE */

void order_events(struct detect *);
/* Has the event not been judged, and is all known that comes before it?  (doc/detector.md, "Cuts") */
bool is_judged_now(const struct detect *, const struct event *);
void forget_accesses(struct detect *);

/* ---- sources: who can do something that others know of ------------------------------------- */

/* Operations that end one by one have a number each; those of a thread or a warp that end in
 * order have one, and are counted. */
enum source_kind { SOURCE_THREAD, SOURCE_OPERATION, SOURCE_BLOCK, SOURCE_LAUNCH };
#define SOURCE(kind, n) ((uint32_t)(kind) << 30 | (n))
#define SOURCE_KIND(s) ((s) >> 30)
#define SOURCE_NUMBER(s) ((s) & 0x3fffffffu)

/* Of a warp, from its `actors` on; those of each lane come one after the other. */
enum { CP_OPERATIONS = 0, BULK_READS = 32, BULK_WRITES = 64, TENSOR_OPERATIONS = 96, TENSOR_ISSUED = 128,
       WGMMA_OPERATIONS = 160, TENSOR_LOADS, TENSOR_STORES, OPERATIONS };

/* ---- graph.c: who publishes what to whom -----------------------------------------------------
 *
 * What a thread knows of a source is a number for each facet: how far what the source did
 * comes before what the thread does next.  A *hub* is where knowledge lies between threads:
 * a use of a barrier, a phase, what a write publishes.
 */
enum facet {
	F_ALL,                          /* comes before whatever is done next */
	F_SHARED,                       /* the same, where that is in shared memory */
	F_INITS,                        /* the same, of mbarriers' inits */
	F_READS,                        /* the same, of reads and of what is over in the async proxy */
	F_MINE,                         /* operations that the thread saw end itself */
	F_OWN, F_OWN_CLUSTER, F_OWN_GLOBAL,     /* fenced for the async proxy by who accessed */
	F_HERE, F_HERE_CLUSTER, F_HERE_GLOBAL,  /* by somebody in this block who knew of it */
	F_HALF, F_WHOLE,                /* by the releasing half of a fence; by both, in this block */
	F_ALIAS, F_MAP,
	F_TENSOR,                       /* tensor memory, up to tcgen05.fence::before_thread_sync */
	F_CELLS,                        /* tensor memory: done before what the thread does next */
	F_BEGUN,                        /* blocks that have begun */
	FACETS
};
/* What is fenced in one block, by whomever, means nothing in another. */
#define FACETS_IN_BLOCK (1u << F_HERE | 1u << F_HERE_CLUSTER | 1u << F_HERE_GLOBAL | 1u << F_WHOLE)

/* Where a thread or a hub keeps it: what it knows; behind that, of each scope of a fence.sc, what those
 * that it knows of have published (OUT) and what its next one will acquire (IN). */
enum slot { S_KNOW, S_OUT, S_IN };

/* How far apart two threads are: which scope holds both. */
enum apart { A_BLOCK, A_CLUSTER, A_DEVICE };

/* What passes along an edge. */
enum how {
	H_PLAIN,
	H_LOOSE,                        /* what needs no acquire: tensor memory, begun blocks */
	H_SHARED,                       /* what is known is known of shared memory */
	H_READS,                        /* of reads and of the async proxy */
	H_INITS,                        /* the thread's own inits */
	H_FENCES,                       /* what is published in that scope: OUT, into IN */
	H_DONE,                         /* plain, and needs no acquire: the end of an operation */
	H_PUT                           /* from a thread into a hub: all that others may learn */
};

enum act {
	DO_JOIN,                        /* the lane learns from the hub */
	DO_SC,                          /* acquires S_IN and publishes to S_OUT, up to scope `arg` */
	DO_TOLD,                        /* a facet: the source `hub` is known up to `arg` */
	DO_OWN,                         /* a facet: the thread's own doings, so far */
	DO_FACET,                       /* a facet learns from another: `arg` */
	DO_PUT                          /* the hub learns from the lane */
};

struct action { uint64_t timer; uint32_t warp, pos, lanes, hub, arg; uint8_t act, how, apart, facet; };
struct hub_edge { uint32_t from, to; uint8_t how, apart; };
/* When it is joined: at once, or by the thread's next fence that acquires at a scope that holds
 * threads that far apart. */
enum when { NOW, LATER };       /* LATER + enum apart */
struct edge_kind { uint8_t how, when, apart; };
/* An acquiring fence; `shared`: of what lies in shared memory. */
struct take { const struct event *event; uint8_t reach; bool shared; };

struct hub {
	uint32_t source, count;         /* it knows from the start that so much is over; NONE */
	bool cells;                     /* in tensor memory, too */
};
struct step { uint32_t warp, pos, lanes, first, n; };   /* the actions of one event */
struct step_asked { uint32_t warp, lanes, pos, step; };
struct cycle { uint32_t first, end; };                  /* nodes in the walk */

/* As if every scope held everybody, every strong read acquired, every strong write released. */
enum { W_WIDE = 1, W_ACQUIRE = 2, W_RELEASE = 4 };

struct graph {
	struct arena arena;
	unsigned world;
	LIST(struct action) action;
	LIST(struct hub) hub;
	LIST(struct hub_edge) edge;
	struct rows into, out;          /* edges by the hub that they lead to, or from */
	LIST(struct take) take;         /* by warp and place */
	LIST(struct step) step;         /* likewise; */
	uint32_t *of_warp;              /* the first one of each warp */
	struct step_asked *asked;       /* what step_before() has answered lately */
	uint32_t *mates;                /* of each thread: the lanes that learn what it learns; */
	uint32_t *speakers;             /* of each warp: the first lanes of those */
	LIST(uint32_t) walk;            /* nodes, each behind what it needs: steps, and behind the last step hubs; */
	LIST(struct cycle) cycle;       /* but for these parts of it, in which each needs all others */
	bool *goes_round;               /* is a node in one of them? */
	uint64_t *time;                 /* of each node: see let_go() */
	uint64_t *rank;                 /* likewise: later than those of all that it comes behind, but for its cycle's */
	uint8_t fences;                 /* scopes of which there is a fence.sc, as bits */
	bool narrow;                    /* fences acquire by less than device scope, or are of proxies */
	uint32_t facets;                /* those that mean something, as bits */
	uint8_t place[FACETS];          /* of one of them among them */
	unsigned nfacets;
	uint32_t *alike, nalike;        /* of each hub: a number that those have in common that hold the same */
	uint32_t *region, nregions;     /* of each block, and behind the last one of each hub: what goes out of a region does not return */
	uint32_t *ended;                /* hub of what a block's threads knew as they ended, by block */
	uint32_t *dependents;           /* of what goes to a launch's dependents, by launch */
};

uint32_t new_hub(struct graph *);
/* That knows that `count` operations of the source are over. */
uint32_t end_hub(struct graph *, uint32_t source, uint32_t count, bool cells);
struct action *act(struct graph *, const struct event *, uint32_t lanes, enum act);
/* A facet learns of a source, up to so many; of the end of operations, and that as F_MINE, or in tensor
 * memory as F_CELLS. */
void tell(struct graph *, const struct event *, uint32_t lanes, enum facet, uint32_t source, uint32_t upto);
void tell_end(struct graph *, const struct event *, uint32_t lanes, enum facet as, uint32_t source, uint32_t upto);
void put(struct graph *, const struct event *, uint32_t lanes, uint32_t hub, enum how);
void add_take(struct graph *, const struct event *, enum apart reach, bool shared);
void join(struct graph *, const struct event *, uint32_t lanes, uint32_t hub, struct edge_kind);
void join_hubs(struct graph *, uint32_t to, uint32_t from, struct edge_kind);
enum apart apart_of(const struct detect *, uint32_t block, uint32_t other);
/* Are two that far apart in each other's scope? */
bool meets(const struct graph *, enum apart reach, enum apart other, enum apart between);
void finish_graph(struct detect *, struct graph *);
void free_graph(struct graph *);
struct access;
/* When something happened, as far as the timer tells, and not before anything that it comes behind. */
uint64_t time_at(const struct graph *, const struct access *);
/* The same, of use between those that are in no cycle. */
uint64_t rank_of_access(const struct graph *, const struct access *);
/* May an access come before this one that has no lower rank? */
bool in_cycle(const struct graph *, const struct access *);
/* Has the thread of the second learned what the first one's published behind it, in a way that needs no walk?  If not, it
 * may have by another. */
bool is_direct(const struct graph *, const struct access *, const struct access *);
/* Who is asked for all of his mates: the first of them. */
uint32_t speaker(const struct graph *, uint32_t thread);
/* The last step of any of these lanes at that place or before it; NONE. */
uint32_t step_before(const struct graph *, uint32_t warp, uint32_t lanes, uint32_t pos);

/* ---- closure.c: questions --------------------------------------------------------------------- */

/* What do the lanes of a warp know behind a step (NONE: at first) of a source? */
struct question { uint32_t source, step, warp, lanes; };
#define ASK_HUB 0xfffffffeu             /* warp: `step` is a hub, which is asked */
struct answers {
	LIST(struct question) question;
	LIST(uint32_t) value;           /* FACETS for each that is answered, */
	uint32_t asked;                 /* of which there are so many */
	struct index number;            /* of a question */
};
/* The facets; NULL: asked now, and answered by the next answer_all(). */
struct court;
const uint32_t *ask(const struct court *, struct question);
void answer_all(struct detect *, const struct graph *, struct answers *);
void free_answers(struct answers *);

/* Who asks. */
struct court { struct detect *d; const struct graph *g; struct answers *answers; };
/* A pass that asks, until nothing is open; then it says what is wrong. */
typedef bool pass_fn(const struct court *, void *arg, bool report);
void settle(const struct court *, pass_fn *, void *arg);

/* ---- scan.c: what the lanes of a warp do, one after the other --------------------------------- */

/* What a release pattern of a lane publishes, and how far that reaches. */
struct head { uint32_t hub; uint8_t reach, how; };
struct heads { uint32_t first, n; };    /* in d->head */

/* A releasing fence, and the hub of what it published: made when a write asks for it.  By kind: enum
 * apart, of exactly that scope; .sync_restrict; fence.mbarrier_init. */
enum { FENCE_SHARED = A_DEVICE + 1, FENCE_INITS, FENCES };
struct fence { const struct event *event; uint32_t hub; };

struct groups { uint32_t issued; LIST(uint32_t) end; };  /* operations; how many there were at a commit */

struct place { uint32_t space, block; uint64_t address; };      /* block: whose shared memory; NONE */

struct lane {
	struct fence fence[FENCES];     /* the last one of each kind that no wider one has followed */
	struct groups cp, bulk;
	uint32_t product_groups;        /* of wgmma, committed */
	uint32_t tensor, loads, stores; /* tcgen05.mma and .cp issued; .ld; .st */
	const struct event *cluster;    /* its arrival at the cluster's barrier behind which it has not waited; NULL */
	struct place tries;             /* the mbarrier at which it has waited in vain last; space 0: none */
	uint32_t row, tried;            /* so often in a row; the last of them: in d->word_op */
};

/* Where an address of a site may lie, of a launch's blocks; any: that has been looked up.  n 0: anywhere. */
enum { WALLS = 8 };
struct walls { bool any; uint8_t address; uint32_t site, launch; unsigned n; struct event_place place[WALLS]; };

/* Addresses of a launch that are in no gap. */
struct clear { uint32_t launch; uint64_t from, to; };

struct scan {
	struct detect *d;
	struct graph *g;
	uint32_t warp;
	struct lane lane[EVENT_LANES];
	uint32_t products, waited;      /* records of wgmma; their groups that are waited for */
	bool fresh;                     /* the event has not been judged: its accesses are taken */
	struct walls walls;             /* of the last access of shared memory */
	struct clear clear;             /* around the last one of global memory */
};

/* The release patterns that end with a strong write of the lane (memory-model.md 1.2, 1). */
struct pattern { bool release; enum apart reach, clip; };
struct heads heads_of(struct scan *, const struct event *, unsigned lane, struct pattern);
void scan_all(struct detect *, struct graph *);
/* Chapters: what a record means to the graph. */
void scan_word(struct scan *, const struct event *);
void scan_meeting(struct scan *, const struct event *, unsigned lane, const struct place *);
void scan_barrier(struct scan *, const struct event *);
void scan_mbarrier(struct scan *, const struct event *);
void scan_async(struct scan *, const struct event *);
void scan_tensor(struct scan *, const struct event *);
void scan_grid(struct scan *, const struct event *);
/* What is said of all of a log together. */
void link_words(struct detect *, struct graph *);
void find_readers(struct detect *);     /* who may have read a write: the other way round than `pred` */
void link_barriers(struct detect *, struct graph *);
void link_mbarriers(struct detect *, struct graph *);
void link_grid(struct detect *, struct graph *);
enum apart reach_of(const struct event_site *);

/* async.c */
static inline bool is_copy(unsigned kind) { return kind >= EVENT_COPY && kind <= EVENT_CANCEL; }
enum event_operand mbar_operand(const struct event *);  /* of a copy: which one says where the mbarrier is that counts it */
uint32_t single_operations(struct detect *, const struct event *, uint32_t n);  /* the first of its n */
uint32_t ordered_operations(struct detect *, uint32_t warp, unsigned kind, unsigned lane);
uint32_t copy_source(struct detect *, const struct event *, unsigned lane);
bool is_folded(const struct detect *, const struct event *, unsigned lane);
uint32_t copy_blocks(const struct detect *, const struct event *, unsigned lane);       /* of a multicast; 0 */
void products_over(struct scan *, const struct event *, uint32_t groups);

/* word.c: an element of a strong access; of size 0: an operation on an mbarrier, of which only the order of
 * fence.sc is told. */
struct word_op {
	uint64_t address, read, written, begin, end;    /* on the clock that orders the word */
	uint32_t space, event;
	uint16_t size;
	uint8_t lane, reach;
	bool reads, writes, acquire, release, valued_read, valued_write;
	struct heads heads;             /* what it publishes if it writes, */
	uint32_t own;                   /* its own release among that: hub */
	uint32_t chain, any;            /* hubs of what it and its predecessors publish: what reaches all of the
					   word's threads; all, whoever it reaches */
	uint32_t pred, nbits, npred;    /* writes that it may have read: masks in d->pred; writes */
	uint32_t word, first_seen;      /* in d->word; the first of those: in d->word_op; NONE */
	bool seen;                      /* somebody may have read what it wrote */
};
/* Of writes of one word, by when they began, those of number 32 * at on. */
struct seen_bits { uint32_t at, mask; };
struct writing;
struct known_word {
	const uint32_t *op;             /* in d->word_op */
	const struct writing *write;
	bool open;                      /* a read may have seen one of the writes, or what was there before them; */
	bool counted;                   /* that is counted */
};

/* mbarrier.c: an operation on an mbarrier, or one that an mbarrier counts. */
struct mbar_op {
	uint64_t begin, end, state;
	const struct event *event;
	uint32_t owner, address;        /* owner: block */
	uint8_t lane, kind, reach;
	bool acquire, drops;
	bool crowded;                   /* nobody more may be expected in its phase, which waits for bytes; or not so many */
	bool beyond;                    /* it counts more bytes than the mbarrier can, with what its phase has counted before */
	bool more;                      /* it arrives for more than are expected in any phase */
	bool unsaid;                    /* it names neither sem nor scope, at another block's mbarrier */
	uint32_t count, bytes;
	struct heads heads;
	uint32_t source, written, number;       /* which operations it says are over, up to that number; NONE */
	uint32_t visit;                 /* another block's mbarrier: that has to wait for this operation; NONE */
	uint32_t lo, hi;                /* phases that it may be of; a wait: phases that may be over */
	uint32_t seen;                  /* phases that its thread had seen over before */
};
struct mbar_op *add_mbar_op(struct scan *, const struct event *, unsigned lane, uint32_t owner, uint64_t address);
/* Is it one that a copy makes? */
static inline bool by_copy(const struct mbar_op *o) { return is_copy(o->kind); }
/* The arrival of the same thread whose state a wait names, or an attempt; NULL. */
const struct mbar_op *arrival_of(struct mbar_op *const *, uint32_t wait);
struct life { struct mbar_op **op; uint32_t n, before; };       /* by time; before: the one there before it; NONE */

/* parity.c: of a race, says so if a wait was for an older phase than the other side's. */
void find_older_phase(const struct detect *, const struct access *, const struct access *, struct detect_finding *);

/* barrier.c: an arrival or a wait at a barrier.  Of a warp's `count` has its members. */
uint32_t fence_hub(struct scan *, unsigned lane, unsigned kind);
enum { OF_ALL = 16, CLUSTER_BARRIER = 32, WARP_BARRIER };       /* objects: ids, ids without a count, others */
uint32_t lanes_of_warp(const struct detect *, uint32_t warp);    /* that it has */
struct bar_op { const struct event *event; uint32_t block, object, lanes, count; bool wait; struct heads heads; };

/* phase.c: what was brought to a phase of an object, by how far it reaches. */
struct brought { uint64_t object; uint32_t phase, hub, block, next; uint8_t reach, how; };
struct phases { struct detect *d; struct graph *g; LIST(struct brought) brought; struct index first; };
uint32_t brought_hub(struct phases *, const struct brought *);
void bring(struct phases *, const struct brought *, uint32_t hub);
void bring_heads(struct phases *, struct brought, struct heads);
/* To a lane of the block that is named there, which waits for that phase, with that reach. */
void get_brought(struct phases *, const struct event *, unsigned lane, const struct brought *, bool acquire);
void free_phases(struct phases *);

/* ---- access.c: accesses ---------------------------------------------------------------------------- */

enum { GLOBAL_SPACE = 0 };              /* block b's shared memory: 1 + b; its tensor memory: */
#define TENSOR_SPACE 0x40000000u        /* and 1 + b */
enum { CELL_BYTES = 4, CELL_COLUMNS = 512 };     /* bytes of a cell of that, which lie lane by lane; cells of a lane */
/* Of an address as a record has it; false: nobody else's business. */
bool place_of(struct detect *, const struct event *, uint64_t address, struct place *);
bool place_of_shared(struct detect *, const struct event *, uint64_t address, struct place *);

/* By what an operation's end is seen: one of its own, a bulk group's, another's. */
enum ends { ENDS_NOT, ENDS_SINGLE, ENDS_BULK, ENDS_OTHER };
enum proxy { P_GENERIC, P_MULTIMEM, P_ASYNC, P_MAP };
/* Of tensor memory: in which pipeline.  (PTX ISA, "tcgen05: Pipelined Instructions") */
enum pipe { PIPE_NONE, PIPE_COPY, PIPE_A, PIPE_SCALE, PIPE_D };

struct access {
	uint64_t address;
	uint64_t clock, timer;          /* of its event; when accesses are compared, the timer is not earlier
					   than all that it comes behind */
	uint32_t bytes, space, site;
	uint32_t warp, lanes, pos;      /* who knew what when it began */
	uint32_t source, number;        /* whose, and which of those */
	uint32_t operation;             /* 0: a thread's own; accesses of one do not race */
	uint32_t element;               /* bytes, of a strong one */
	uint64_t what;                  /* stores that lanes make as one copy; 0 */
	uint64_t pipe;                  /* which accumulator; which tensor map */
	uint64_t digest;                /* of what a weak write stored */
	uint8_t proxy, pipe_kind, scope;        /* scope: enum apart, of a strong one */
	uint8_t ends;                   /* enum ends */
	uint8_t address_of;             /* of the site's addresses: enum event_address_of, or OF_PRODUCT */
	bool reads, writes, strong, read_only, init, at_once, has_digest;
	bool old;                       /* judged before, with the others that are */
	bool lives;                     /* it counts yet, somewhere */
};
enum { OF_PRODUCT = EVENT_OF_MBAR + 1 };        /* one of its matrices */
void take_accesses(struct scan *, const struct event *);
static inline bool same_element(const struct access *a, const struct access *b) { return a->element == b->element && a->address == b->address; }

/* ---- overrun.c: the bounds of variables ----------------------------------------------------------------------- */

void add_origins(struct detect *, const struct event_sites *);
void add_place(struct detect *, const struct event_host *);
void forget_places(struct detect *);
/* A part of an access to a block's shared memory: tells if it lies outside of its variable.  It becomes what of it lies
 * inside; false: nothing does. */
bool keep_within(struct scan *, const struct access *, uint64_t *address, uint64_t *bytes);
void look_at_mbars(struct scan *, const struct event *);

/* ---- ground.c: what there is of global memory -------------------------------------------------------------------- */

void add_block(struct detect *, const struct event_host *);
void find_ground(struct detect *, struct launch *, bool early); /* of a launch that begins */
void forget_ground(struct detect *);
/* As keep_within(), of global memory. */
bool keep_on_ground(struct scan *, const struct access *, uint64_t *address, uint64_t *bytes);

/* ---- uninit.c: reads of what nobody has written ----------------------------------------------------------------- */

void judge_reads(const struct court *);

/* ---- judge.c: a pair ---------------------------------------------------------------------------- */

/* Questions to the graph of one world. */
enum verdict { FINE, OPEN, UNFENCED, MISFENCED, UNKNOWN };
enum order { UNORDERED, ORDERED, NOT_KNOWN };

/* What who began an access knew of a source; NULL: it is asked, and answered later. */
const uint32_t *knows(const struct court *, uint32_t source, const struct access *by);
/* Does the first come before the second? */
struct map_fence;
enum order map_acquired(const struct court *, const struct map_fence *, const struct access *copy);
enum order map_acquired_by_any(const struct court *, const struct access *copy);
enum order in_order(const struct court *, const struct access *, const struct access *);
/* In order, or an operation that comes before the second one has read what the first one wrote. */
enum order seen_before(const struct court *, const struct access *, const struct access *);
/* May any read of a thread have seen what this strong write wrote? */
bool was_read(const struct detect *, const struct access *);
/* Counts, once a word, that a read of the word of a strong access may have seen a plain write that comes before that. */
void count_plain(struct detect *, const struct access *strong);
/* Is an access that comes before another seen by the async proxy from there on? */
enum verdict seen_by_async(const struct court *, const struct access *, const struct access *);
/* They overlap at `at`; the first one is the earlier by its clock. */
enum verdict judge(const struct court *, const struct access *, const struct access *, uint64_t at);
/* As judge(); *forth: does the first come before the second?  NOT_KNOWN as well where that was not asked. */
enum verdict judge_and_order(const struct court *, const struct access *, const struct access *, uint64_t at, enum order *forth);

/* ---- cell.c ------------------------------------------------------------------------------------------ */

/* Two sites, of threads that far apart, and what is wrong between them: with the first accesses that show it. */
enum { SHOWN = 4 };
struct race {
	uint32_t site[2], last[2];      /* last: accesses that were counted */
	enum verdict verdict;
	enum apart apart;
	bool same_value;
	uint32_t a[SHOWN], b[SHOWN], n;
	uint64_t count;
};
/* ---- misuse.c, finding.c ------------------------------------------------------------------------------ */

void say(struct detect *, enum detect_kind, enum detect_why, const struct access *, const struct access *);      /* NULL: no second */
void misuse_barrier(struct scan *, const struct event *, uint32_t lanes);
/* forms.c */
void misuse_cluster(struct scan *, const struct event *);
void judge_barriers(struct detect *);
void judge_shared_barriers(struct detect *);    /* behind that; builds the tables of operations anew */
void judge_tensor(struct detect *);     /* tensor.c */
void judge_freed_rooms(struct detect *);
struct access as_access(const struct detect *, const struct event *, uint32_t lanes);   /* what they do there */
struct access use_of(const struct detect *, const struct mbar_op *);
bool one_thread(const struct mbar_op *, const struct mbar_op *);
bool is_fresh(const struct detect *, const struct mbar_op *);   /* it has not been judged */
pass_fn judge_mbarriers;
void judge_begins(const struct court *);
void judge_ends(struct detect *, const struct graph *wide);
void tell_races(struct detect *);
/* past.c: tensor maps that an earlier launch wrote; synchronisation that was not logged. */
void keep_past(struct detect *);
void judge_past(struct detect *);
void find_opaque(struct detect *);
/* A finding with one more pair. */
void add_finding(struct detect *, const struct detect_finding *);
struct detect_side side_of(const struct detect *, const struct access *);

/* Compares accesses that overlap: d->race. */
void compare_all(struct detect *);
void forget_superseded(struct detect *);

/* detect.c: the map of a tensor copy; NULL: it is not known. */
const struct event_map *map_of(const struct detect *, const struct event *, unsigned lane);

/* ---- the detector ------------------------------------------------------------------------------ */

/* Numbers of values (detect.c): 0 is what is taken by default. */
enum { ARRIVE_READS, ARRIVE_ANY, ARRIVE_STRICT, WAR_OFF = 2 };
struct choices {
	uint8_t reference, path, war, any_block, per_block, wide_tx, no_tensor_fence, read_fence, no_retire,
		init_fence, lockstep, same_value, exits, trigger, arrive, weak_volatile, no_bounds, uninit;
};

/* The first reads of a write, or of what was made of it, by thread. */
struct observer { uint32_t thread, pos; };
struct observers { uint32_t first, n; bool known, anybody; };
/* fence.proxy.tensormap acquire: of the map at that address, as if it were an access. */
struct map_fence { uint64_t address; struct access at; };
/* An access to a block's shared memory by somebody who that block may not wait for. */
struct guest { uint32_t owner; struct access access; };
struct past { uint64_t address, bytes; struct detect_side by; };
/* Places in a warp of synchronisation that was not logged, and of which lanes. */
struct opaque { uint32_t first, last, first_lanes, last_lanes; };

struct detect {
	struct choices choices;
	uint64_t counter[DETECT_COUNTERS], same_values;
	struct arena arena;             /* of one judgement */

	LIST(struct event_site) site;
	LIST(struct event_run) run_site;
	LIST(struct event_origin) origin;
	LIST(uint32_t) origins_of;      /* of each site: the first one in `origin` */
	LIST(struct event_place) place;
	struct index placed;            /* by launch and variable: number in `place`, from 1 */
	LIST(struct event_block) block_told;    /* for launches that come */
	bool new_blocks;                /* they were told since the last launch began */
	LIST(struct ground_gap) gap;    /* of launches that may be judged yet; the last one's: */
	uint32_t gaps_now;              /* from there on */
	uint32_t sites_now, nsites_now; /* of the launches that come */
	bool fault;                     /* a launch has ended in one */
	bool tensors, asyncs, sc;       /* there may be tensor copies, and so tensor maps; the async proxy; fence.sc */
	LIST(struct event_map) map;
	LIST(struct launch) launch;
	LIST(uint32_t) block_at;        /* by launch and number: in block */
	LIST(struct block) block;
	LIST(struct warp) warp;
	LIST(uint32_t) certain;         /* by thread, if a launch is cut: events up to that place were before */
	LIST(struct event_unit) unit;
	LIST(struct event) event;
	LIST(struct run) run;
	LIST(struct stream) stream;
	uint32_t nactors, noperations;
	bool loose;                     /* there is tensor memory, or a cluster: see H_LOOSE */

	/* Of one judgement. */
	LIST(struct head) head;
	LIST(struct word_op) word_op;
	LIST(struct observer) observer;
	LIST(struct seen_bits) pred;
	LIST(struct known_word) word;
	LIST(struct bar_op) bar;
	LIST(struct mbar_op) mbar;
	LIST(struct life) life;
	struct graph graph;             /* as it happened */
	struct answers answers;

	LIST(struct access) access;     /* those that count yet, and new ones */
	LIST(struct access) wrote;      /* of shared memory, by all that has been judged; uninit=1 */
	LIST(struct race) race;
	LIST(struct map_fence) map_fence;
	LIST(struct guest) guest;       /* of blocks that have not ended */
	LIST(struct past) past;         /* what earlier launches wrote, where tensor maps may be */
	struct rows readers;            /* of a write in word_op: operations that may have read it; found when somebody asks */
	struct observers *observers;    /* likewise: those of it in d->observer; NULL: nobody has asked */
	uint32_t *followed, follows;    /* of each: the last chain that it was followed in; how many there were */
	uint32_t *observer_of;          /* of each thread: the last one in `observer` that is it, from 1 on; 0 */
	uint16_t *clashed;              /* by block: barriers at which two have met that may not, as bits */
	struct opaque *opaque;          /* by warp; NULL: there is none */
	LIST(struct detect_finding) finding;
	detect_touched *touched;        /* detect_walk(); NULL: it judges */
	void *touched_arg;
};

static inline const struct event_site *site_of(const struct detect *d, const struct event *e) { return &d->site.v[e->site]; }
static inline const struct event_unit *record_of(const struct detect *d, const struct event *e) { return &d->unit.v[e->unit]; }
static inline uint32_t access_block(const struct detect *d, const struct access *a) { return d->warp.v[a->warp].block; }
static inline const struct block *block_of(const struct detect *d, uint32_t warp) { return &d->block.v[d->warp.v[warp].block]; }

#endif
