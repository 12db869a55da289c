/* SPDX-License-Identifier: Apache-2.0
 *
 * state.h: the device runtime's own arrays, in device memory behind the
 * pointers of struct gsan_root.  The host runtime needs their sizes, zeroes
 * them, and otherwise leaves them alone.
 *
 * A resident block has a slot; slots are numbered i * nsm + %smid, so that a
 * slot belongs to one multiprocessor.  The clocks of a slot only grow.  What a
 * thread knows of others is the union of
 *   warp->floor    every thread of its block, up to this clock   (full barriers)
 *   warp->wfloor   every lane of its warp                         (bar.warp.sync)
 *   lane->own_*    some lanes of its warp                         (partial masks)
 *   sc             what fence.sc of gpu scope up to this number published
 *   refs           snapshots of other threads' knowledge, acquired by the lane,
 *                  by the whole warp, or by the whole block
 * so that nothing needs copying when a thread learns something, and a full
 * barrier costs a maximum.
 */
#ifndef GSAN_STATE_H
#define GSAN_STATE_H

#include "rt/abi.h"

#define GSAN_HISTORY    1024    /* blocks remembered per slot */
#define GSAN_LAUNCHES   1024    /* power of two */
#define GSAN_REFS       4
#define GSAN_PENDING    8
#define GSAN_WORD_ENTRIES 4
#define GSAN_WORD_WRITERS 3

/* 16 bytes: snapshots acquired; 0 is none. */
struct gsan_refs { uint32_t id[GSAN_REFS]; };

/* One barrier resource (0 to 15) of a block. */
struct gsan_bar {
	uint32_t clocks[2][32]; /* full barriers: what each warp brings, by turns; what
				   earlier blocks left is lower */
	uint32_t sc[2];         /* and fence.sc known */
	uint32_t pending[2][GSAN_PENDING];      /* and snapshots brought along */
	uint32_t arrived;       /* barriers with a count */
	uint32_t gen;
	uint32_t builder;       /* snapshot under construction */
	uint32_t over[2];       /* full barriers: somebody knows that earlier launches are over */
	uint32_t left;          /* with a count: uses before this number are over, as somebody left one */
	uint32_t mixed;         /* who came to which use is not known any more */
	uint32_t need;          /* how many threads the use under way is for */
	uint32_t pad[2];
	uint32_t came[32];      /* lanes of each warp that came to the use under way */
	uint32_t result[4], result_gen[4];
};

#define GSAN_RELEASERS          8
struct gsan_block {
	/* What a warp that enters needs, in two 16-byte loads. */
	unsigned long long grid;        /* %gridid + 1; 0: slot is free */
	unsigned long long cta;         /* linear block number */
	uint32_t start;         /* clock before the block's first */
	uint32_t base;          /* launch->base */
	uint32_t shared_limit;  /* bytes of shared memory with shadow */
	uint32_t ntid;
	uint32_t lock;
	uint32_t live;          /* threads not exited */
	uint32_t last;          /* highest clock of threads that ended, of all tenants, and
				   GSAN_BLOCK_BUSY while the slot has one: who claims it
				   learns both at one moment */
	uint32_t launch;        /* index into launches */
	uint32_t launch_number; /* its number, unique */
	uint32_t cluster;       /* same number: same cluster */
	uint32_t ntenants;      /* blocks that the slot has had */
	uint32_t used_bars;     /* barriers to clear for the next block */
	uint32_t full_bars;     /* ids, other than 0, of barriers without a count */
	uint32_t sc;            /* fences up to here are known to the block */
	uint32_t sc_floor;      /* highest floor in the block's fence log */
	uint32_t fences;        /* entries ever made in that log, by all tenants */
	uint32_t sc_cta;        /* a fence.sc of block scope ran */
	uint32_t brought;       /* something was brought to a full barrier, ever */
	uint32_t words;         /* a word of its shared memory was released at */
	uint32_t rank;          /* in its cluster */
	struct gsan_refs refs;
	struct gsan_refs missed;        /* snapshots met at too narrow a scope */
	uint32_t cluster_at;    /* number of its struct gsan_cluster + 1; 0: a cluster of its own */
	uint32_t unmarked[2];   /* where atoms whose results nobody uses may have observed
				   what no record says: a bit of a hash of the granule */
	uint32_t first;         /* launches of its chain below this number are over; its own
				   number if there is no chain (grid.cuh) */
	uint32_t chain;         /* the number of the chain's first launch */
	uint32_t over;          /* all its threads know that earlier launches are over */
	uint32_t waited, let_go;        /* griddepcontrol ran */
	uint32_t wide;          /* it ran a strong access of more than block scope */
	uint32_t opened;        /* lines that were linked and then opened (line.cuh) */
	uint32_t lines;         /* GSAN_LINES_* */
	uint32_t sent;          /* ranks of peers in whose queues it posted copies */
	uint32_t releasers[GSAN_RELEASERS];     /* by hash of a word, thread + 1 of who released there;
						   0: nobody, GSAN_RELEASER_SEVERAL: more than one */
	struct gsan_bar bar[16];
};

#define GSAN_BLOCK_BUSY         (1u << 31)
#define GSAN_RELEASER_SEVERAL   (~0u)

/* Of gsan_block.lines: may what copies and whole warps access of its shared memory be linked? */
#define GSAN_LINES_MAY          1u      /* 0: no copy has come yet */
#define GSAN_LINES_NO_MORE      2u

/* Of gsan_warp.options, as the block found them. */
#define GSAN_WARP_VOLATILE      1u      /* volatile is weak */
#define GSAN_WARP_NO_ATOMIC     2u
#define GSAN_WARP_LOCKSTEP      4u      /* the lanes of a warp order each other */
#define GSAN_WARP_APART         8u      /* lanes of an if stay apart */
#define GSAN_WARP_GHOST         16u     /* it is that of a gsan_post; of the lane in the top bits */
#define GSAN_WARP_LANE_SHIFT    27

/* Of gsan_warp.state. */
#define GSAN_WARP_REFS          1u      /* the warp has acquired snapshots */
#define GSAN_WARP_BLOCK_REFS    2u      /* its block has */
#define GSAN_WARP_UNMODELLED    4u      /* ran an unmodelled synchronisation */
#define GSAN_WARP_LOST          8u      /* knowledge was lost: report nothing */
#define GSAN_WARP_OVER          16u     /* it knows that earlier launches are over */

/* Of gsan_warp.special. */
#define GSAN_SPECIAL_MORE       1u      /* there may be more to it than clock and floor */
#define GSAN_SPECIAL_HELD_UP    2u      /* perturb= was given; always or never */

/* L1 does not see atomics, not even of its own multiprocessor: what they change
 * (m_*, state, live, fences, the counts) is read with load() or load_cg(),
 * the rest is changed by stores alone. */
struct gsan_warp {
	uint32_t clock, floor, wfloor, options; /* one 16-byte load */
	uint32_t id;            /* slot << 5 | warp: the record's actor but its lane */
	uint32_t start;         /* block->start */
	uint32_t launch_base;   /* clocks below belong to earlier launches */
	uint32_t shared_limit;
	unsigned long long grid, cta;           /* to recognise it again */
	unsigned long long block;               /* its struct gsan_block */
	uint32_t turns_held;    /* how often it came to where perturb= may hold it up */
	uint32_t pad;
	uint32_t slot, nslots;
	uint32_t sc, sc_cta;    /* fence.sc known to all lanes: of gpu scope, of the block */
	/* One 16-byte load: with the first two 0, full barriers are quick. */
	uint32_t private_too;   /* some lane may know more than the warp does */
	uint32_t special;       /* GSAN_SPECIAL_* */
	uint32_t lanes;         /* lanes that exist */
	uint32_t dropped;       /* reads were left out */
	uint32_t m_own, m_refs; /* lanes with own_*; with refs and sc of their own */
	uint32_t m_fence;       /* lanes that released by a fence */
	uint32_t m_seen;        /* lanes with snapshots seen, not yet acquired */
	uint32_t state;
	uint32_t m_light;       /* lanes of m_fence with nothing that outlives a full barrier */
	uint32_t live;          /* lanes that exist and have not exited */
	uint32_t fences;        /* entries ever made in its fence log, by all tenants */
	uint32_t m_release;     /* lanes that released at a word */
	uint32_t lock;          /* of the clock and turns, where the warp is split */
	uint32_t told;          /* as in a lane, of what the warp and its block acquired */
	uint32_t over;          /* as in a lane, of what all lanes knew (row.cuh) */
	uint32_t evicted, unbacked, unmodelled;
	uint32_t m_late;        /* lanes with an access to judge once they have acquired */
	struct gsan_refs refs;
	uint32_t turns[16];     /* full barriers left, by id: odd or even, a bit a lane */
};

struct gsan_lane {
	struct gsan_refs refs;
	uint32_t seen[4];       /* snapshots read by relaxed loads */
	uint32_t seen_level[4]; /* how far each reaches, and where it was (words.cuh) */
	uint32_t fence[3];      /* snapshot at the last fence of cta, cluster, gpu scope */
	uint32_t own_top, own_mask;
	uint32_t sc, sc_cta;
	uint32_t told;          /* which refs its last fence.sc passed on: a hash */
	/* Words it released at last, by hash of the key, and what: pattern 1b. */
	uint32_t released[2], release[2];
	unsigned long long late_rec;    /* put off until it has acquired: the other record, */
	uint32_t late_site;             /* and its site */
	uint32_t moment;        /* strong accesses and fences, modulo 8 | version of the word
				   that the last one found << 3 */
	/* Operations that it knew to be over by a plain read, and a write, in its block: hashes
	 * of their records; see over_hash. */
	uint32_t over[2];
	/* Likewise, that its product or copy came behind (line.cuh): the last that it waited for,
	 * and another. */
	uint32_t fine, found;
	uint32_t stored[4];     /* what it was to store when something stood beside (value.cuh) */
};

/* The fence.sc of gpu scope have one order, and a number each.  Who ran number n
 * knows what every lower one published: looked up where it is asked for, in the
 * log of the warp (or block: 33rd of each slot) that the question is about. */
#define GSAN_FENCES     16      /* entries remembered per log */
#define GSAN_FENCE_LOGS 33
#define GSAN_FENCE_BUSY 0xffffffffu     /* a number is being taken */
#define GSAN_FENCE_CTA  0x80000000u     /* in `top`: of block scope */
struct gsan_fence {
	uint32_t number;        /* 0: none */
	uint32_t top, mask;     /* lanes of the warp up to top */
	uint32_t base;          /* all its lanes */
};

/* What is known of the threads that ran in one slot: all with clocks start to
 * base, and the lanes in mask of one warp up to top.  The warp's number is in
 * the three top bits of `top` and two of `start`. */
struct gsan_cross { uint32_t start, base, top, mask; };

/* What is known of one warp of the snapshot's own block. */
struct gsan_own { uint32_t base, top, mask, pad; };

/* What a thread knew at a release.  A small one is the header alone.  Ids count
 * up and are not reduced: an object whose `id` differs was overwritten. */
struct gsan_snap {
	uint32_t id, flags;
	uint32_t slot, start;
	uint32_t floor, warp, top, mask;        /* lanes of `warp` up to top */
	uint32_t nslots;        /* entries of cross that count | their object << 14, of those of few blocks first */
	uint32_t holds;         /* all that this one says is in it, too; 0: none such */
	uint32_t base;          /* all lanes of `warp` */
	/* Of two of one line, the later holds all that the other does.  Without
	 * GSAN_SNAP_LARGE: the line has gone on from here. */
	uint32_t line;
	uint32_t sc, sc_cta;    /* fence.sc known, the latter of its block */
	uint32_t maker;         /* the id it was made for */
	uint32_t grids;         /* launches of the chain below this number are over */
};
#define GSAN_SNAP_LARGE         0x80000000u     /* bit of the id */
#define GSAN_SNAP_NUMBER        0x7fffffffu
#define GSAN_SNAP_OWN           1u
#define GSAN_SNAP_CROSS         2u
#define GSAN_SNAP_LOST          4u      /* something it should hold was overwritten:
                                           whoever has it is silent */
#define GSAN_SNAP_FENCE         8u      /* the order of fence.sc of gpu scope says it all */
#define GSAN_SNAP_FIRST         16u     /* asks snap_make for the first of a line */
/* Of a large one: entries of own that count, its block's warps. */
#define GSAN_SNAP_ROWS_SHIFT    8
#define GSAN_SNAP_ROWS(flags)   ((flags) >> GSAN_SNAP_ROWS_SHIFT & 63)

#define GSAN_CROSS_SLOTS(n)     ((n) & 0x3fff)
#define GSAN_CROSS_SHIFT        14
/* Large snapshots: header, own[32].  What they know of other blocks, which most know nothing of,
 * is an object of its own: the id of the snapshot that has it, in 16 bytes, and cross[nslots]; or, of few
 * blocks, slot << 5 | warp of each and cross[GSAN_FEW]: 24 times 16 bytes. */
#define GSAN_LARGE_BYTES        (64 + 32 * 16)
#define GSAN_CROSS_BYTES(nslots) (16 + (nslots) * 16)
#define GSAN_FEW                19
#define GSAN_FEW_SLOTS          20
#define GSAN_FEW_BYTES          (16 + GSAN_FEW_SLOTS * 4 + GSAN_FEW * 16)
#define GSAN_MOST_FEWS          (1u << 17)

/* A synchronisation word: who published what there. */
struct gsan_word_entry { uint32_t snap, level, slot, cluster; };
struct gsan_word {
	unsigned long long key; /* address; for shared memory with the slot; 0 free */
	uint32_t lock;
	uint32_t launch;        /* number of the launch that used it last */
	uint32_t n;
	uint32_t writer_level, writer_slot, writer_cluster;     /* last strong write */
	/* Entered, and perhaps not yet carried out: thread (slot << 10 | thread) + 1, 0 for
	 * none; clock << 3 | its lane's moment. */
	struct { uint32_t who, when; } writing[GSAN_WORD_WRITERS];
	uint32_t version;       /* counts what is done to the list */
	uint32_t pad;
	struct gsan_word_entry e[GSAN_WORD_ENTRIES];
};

/* cta: the upper 16 bits say how far back the launch's chain began. */
struct gsan_tenant { uint32_t start, launch; unsigned long long cta; };
#define GSAN_TENANT_CTA(cta)    ((cta) & 0xffffffffffffull)
#define GSAN_TENANT_CHAIN(launch, cta)  ((launch) - (uint32_t)((cta) >> 48))

/* What threads bring to an mbarrier's phase, or to the launch behind theirs: one
 * snapshot, or one under construction. */
struct gsan_gather { uint32_t one, builder; };

struct gsan_launch {
	unsigned long long grid;        /* %gridid + 1; 0 free */
	uint32_t ready;         /* its number, once the rest is written */
	uint32_t base;          /* clocks of its blocks are above; | GSAN_LAUNCH_EARLY */
	uint32_t kernel;        /* site */
	uint32_t ordinal;       /* n-th launch of that kernel, from 1 */
	uint32_t finished;      /* blocks */
	unsigned long long blocks;
	uint32_t grid_dim[3], block_dim[3], cluster_dim[3];
	uint32_t quiet;         /* something needed to judge it was lost: no reports */
	/* An independent hash table in the same array: launches per kernel. */
	uint32_t counted_kernel, counted;
	uint32_t words;         /* a word of global memory was released at */
	uint32_t cancels;       /* some of its blocks may never start: cluster launch control */
	/* Chains of launches that may overlap, see grid.cuh. */
	uint32_t number, first, chain;
	uint32_t from;          /* clocks below belong to launches before the chain */
	uint32_t let_go;        /* it let the launch behind it begin */
	uint32_t waited;        /* blocks that had waited when they did */
	uint32_t waits;         /* somebody waited */
	uint32_t given, narrow; /* snapshots that its blocks begin with; at too narrow a scope */
	struct gsan_gather gives, gives_narrow; /* what it gives the next */
	uint32_t opened;        /* blocks that link no more lines, for having opened many */
	uint32_t pad[2];
};      /* a multiple of 16 bytes, as all that is loaded in vectors */
#define GSAN_LAUNCH_EARLY       (1u << 31)

/* Launch `key` may start before launch `before` of its stream has ended: each the n-th
 * launch of a kernel's site.  Written by the host, key last, before the launch. */
#define GSAN_EARLY      256     /* power of two */
#define GSAN_EARLY_KEY(kernel, n)       ((kernel) | (unsigned long long)(n) << 32)
#define GSAN_EARLY_HASH(key)    ((uint32_t)((key) * 0x9e3779b97f4a7c15ull >> 40))
struct gsan_early { unsigned long long key, before; };

/* ---- Asynchronous operations ------------------------------------------------
 *
 * Nobody is ordered after one before somebody has observed its completion: it is
 * remembered by whom, and at which of his clocks.  Who knows of that thread up to
 * that clock knows that the operation is over.  So knowledge as it is carries
 * completed operations, and fences of proxies in the same way: a fence is noted
 * with its clock where the threads it is about find it.
 */

struct gsan_seen { uint32_t clock, mask; };     /* lanes of a warp, from then on */

#define GSAN_MBARS              64      /* per slot, power of two; 6 bits of a record */
#define GSAN_MBAR_PHASES        ((1u << 25) - 1)
struct gsan_mbar {
	uint32_t start;         /* of the block it belongs to; others': free */
	uint32_t addr;          /* shared::cta offset */
	uint32_t lock;
	uint32_t flags;         /* GSAN_MBAR_* */
	/* Phases known to be over, from where the mbarrier's last tenant ended; the
	 * lowest bit is that of the phase under way. */
	uint32_t phase, first;
	uint32_t expected, later;       /* arrivals of this phase, and of the next ones */
	uint32_t ahead;         /* arrivals entered, but those of the phases that are over */
	uint32_t narrow;        /* brought at too narrow a scope; for the kind of a finding */
	uint32_t last_own, last_peer;   /* what those of the phase before brought */
	uint32_t init_who, init_clock, init_site;       /* warp << 5 | lane */
	uint32_t wait_site;     /* of the last wait */
	uint32_t tried[2], tried_site;  /* the last one in vain: warp << 5 | lane, clock */
	uint32_t tx_first;      /* bytes of the phase's first copy */
	uint32_t tx_expected, tx_issued;
	uint32_t issuer[2];     /* by the phase's lowest bit: slot << 10 | thread, of a copy */
	struct gsan_gather own, peer;   /* what this phase's brought; by the block, and its cluster */
	/* The last copy in each of two phases, by the phase's lowest bit. */
	uint32_t tx_phase[2], tx_site[2], tx_at[2];     /* sites: 0, none since the init */
	uint32_t fenced;        /* GSAN_MBAR_FENCED: phases of the cluster's barrier over by then */
	uint32_t wide[2];       /* by the same: warps that waited with cluster scope */
	uint32_t pad[3];
	struct gsan_seen seen[2][32];   /* by the same: who of which warp saw it over */
};
#define GSAN_MBAR_LIVE          1u
#define GSAN_MBAR_DIRTY         2u      /* some who came to the last phase may be of this one */
#define GSAN_MBAR_LOST          4u      /* phases are not followed: it orders everything */
#define GSAN_MBAR_FENCED        32u     /* fence.mbarrier_init, by who initialised it */
#define GSAN_MBAR_SHORT         8u      /* << lowest bit of the phase: more bytes than expected */
#define GSAN_MBAR_UNSEEN        64u     /* << the same: found to be over when the next was entered */
#define GSAN_MBAR_EITHER        256u    /* << the same: its bytes may be those of the next */

/* What the driver encoded in a tensor map, which is opaque; found by a hash of its 128
 * bytes, but for a bit of word 1: CUTLASS clears it of maps that the driver made, and they stay
 * maps of the same tensor (include/cute/atom/copy_traits_sm90_tma.hpp). */
#define GSAN_MAPS       1024    /* power of two */
#define GSAN_MAP_WORD(i, word) ((i) == 1 ? (word) & ~(1ull << 21) : (word))
#define GSAN_MAP_HASH(h, word) (((h) ^ (word)) * 0x9e3779b97f4a7c15ull ^ ((h) ^ (word)) >> 29)
struct gsan_map {
	unsigned long long key; /* 0: free; written last */
	unsigned long long base;
	unsigned long long stride[5];   /* bytes; of dimension 0 an element's */
	uint32_t dim[5], box[5], every[5];      /* elements; every how many-th */
	uint32_t rank;
	uint32_t span;          /* of the swizzle, bytes; 0: none */
	uint32_t im2col;        /* box is channels and pixels, the corners are those of W, H, D */
	int32_t lower[3], upper[3];
	uint32_t slice;         /* of an interleaved layout, bytes; 0: none */
	uint32_t pad;
};
/* And what tensormap.replace made of them, by the same hash: sets of some. */
#define GSAN_EDITS      2048    /* powers of two */
#define GSAN_EDIT_WAYS  8
#define GSAN_EDIT_BUSY  2ull    /* being written; keys are odd */

/* A cluster: what its barrier is counted in. */
struct gsan_cluster {
	unsigned long long key; /* launch number and cluster; 0: free.  Of one block: its start */
	uint32_t lock;
	uint32_t live;          /* blocks that have not ended */
	uint32_t threads;       /* of all its blocks */
	/* barrier.cluster: who arrived at this phase; who will not come any more, from this
	 * phase on and from the next. */
	uint32_t arrived, exited, exited_late;
	uint32_t last, last_narrow;     /* what the phase before brought */
	struct gsan_gather gather;
	struct gsan_gather narrow;      /* at too narrow a scope; for the kind of a finding */
	struct gsan_gather own[16];     /* of that, what a block's threads brought each other, by rank */
	uint32_t last_own[16];
	uint32_t top[16];       /* highest clock at which a block's threads arrived, by rank */
	uint32_t phases;        /* that are over */
	uint32_t pad;
	uint32_t slot[16];      /* + 1, by rank; GSAN_PEER_ENDED if it has left */
	uint32_t start[16];     /* of who has left */
};
#define GSAN_PEER_ENDED (1u << 31)

/* A thread's groups.  Numbers go on from one tenant of the slot to the next. */
struct gsan_groups {
	uint32_t start;         /* of the block that used it last */
	uint32_t cp, bulk;      /* the groups under way */
	uint32_t first;         /* the block's first << 1 | did some of cp.async arrive at an
				   mbarrier, and so end as well? */
	uint32_t waited[4];     /* up to here, by enum gsan_wait */
};
enum gsan_wait { GSAN_WAIT_CP, GSAN_WAIT_CP_MBAR, GSAN_WAIT_BULK, GSAN_WAIT_READ, GSAN_WAIT_WGMMA };

/* A fence of the tensor maps' proxy, and what who ran it knew then. */
struct gsan_noted {
	uint32_t mask, clock, what, map;        /* GSAN_NOTED_*; address >> GSAN_NOTED_SHIFT */
	uint32_t floor, wfloor, sc, start;      /* the block's, by which it is recognised */
	struct gsan_refs refs[3];               /* lane's, warp's, block's */
};
#define GSAN_NOTED_RELEASE      1u
#define GSAN_NOTED_ACQUIRE      2u
#define GSAN_NOTED_MORE         4u      /* it knew more than is noted */
#define GSAN_NOTED_SHIFT        6       /* maps are aligned to 64 bytes */

/* The waits and the proxy fences of a warp: rings. */
#define GSAN_LOG        16
#define GSAN_LOG_KNEW   4
#define GSAN_LOG_PEERS  32
#define GSAN_LOG_MAPS   8
#define GSAN_INITS      16      /* power of two */
#define GSAN_PEER_MAX   ((1u << 18) - 1)
#define GSAN_PEER_ALIAS (1u << 18)
struct gsan_log {
	struct {
		uint32_t clock; /* or mbarrier << 28 (two words): see GSAN_WAIT_CP_MBAR */
		uint32_t mask;
		uint32_t upto;  /* groups | enum gsan_wait << 28 */
		uint32_t from;  /* groups waited for before; | mbarrier << 24 */
	} wait[GSAN_LOG];
	struct { uint32_t clock, mask, what, pad; } fence[GSAN_LOG];
	/* What those who ran the last fences knew then. */
	struct {
		uint32_t mask, clock, what, pad;
		uint32_t floor, wfloor, more[2];
		struct gsan_refs refs[3];       /* lane's, warp's, block's */
	} knew[GSAN_LOG_KNEW];
	uint32_t waits, fences; /* entries ever made */
	uint32_t peers;         /* intervals in which it accessed peers' shared memory, ever */
	uint32_t at_cluster;    /* lanes that arrived at their cluster's barrier and did not wait */
	uint32_t peer[GSAN_LOG_PEERS][2];       /* the last: number, clock */
	/* As in gsan_groups, of wgmma: groups are the warp's. */
	uint32_t wgmma_start, wgmma, wgmma_waited;
	uint32_t maps;          /* entries ever made in: */
	struct gsan_noted map[GSAN_LOG_MAPS];
	/* By lane: its last bulk copy out of shared memory. */
	uint32_t last_group[32], last_site[32], last_at[32];
	/* Of peers that it knows to have begun, by rank; of the block with that start. */
	uint32_t begun_start, begun, begun_told;
	uint32_t at_odd;        /* lanes whose last phase of a barrier of one block was odd */
	/* In the first warp's: threads that are leaving | the block's start << 32, and the start
	 * again when all have gone. */
	unsigned long long leaving;
	unsigned long long stored[8];   /* hashes of stores that lanes made as one, by themselves */
	uint32_t closed;
	uint32_t wgmma_seen;    /* groups waited for, whatever that ends */
	/* By hash of the address: mbarriers of the block whose init `lanes` are known to know of,
	 * and which init that was. */
	struct { uint32_t addr, init_who, init_clock, lanes; } inits[GSAN_INITS];
	uint32_t wgmma_before;  /* the last group of the slot's earlier blocks */
	/* Rounds of lines of products (wgmma.cuh): the warp's last one, and in the first warp's of four,
	 * up to which of them one has taken on to put records in. */
	uint32_t round, rounds;
	uint32_t pad;
};

/* The last access of a peer's warp to a block's shared memory, and its last arrival at an
 * mbarrier there; who of the block knew of it when he left stores its clock.  An arrival is
 * known as well to who saw its phase over: GSAN_MBAR_PHASES + 1 times (1 + the mbarrier's
 * number), and the phase; 0 for others.  Of the block's own warps it is the last copy to a
 * peer: mask and clock are its record. */
#define GSAN_GUESTS     64      /* per slot, power of two */
struct gsan_guest {
	uint32_t start;         /* of the block that is visited */
	uint32_t who, mask, clock;      /* who: of lane 0; of an arrival, 1 on */
	uint32_t site, at, known, arrival;
};

/* What lanes of a warp knew at some moment. */
struct gsan_knew {
	uint32_t mask, clock, floor, wfloor;
	uint32_t own_top, own_mask, sc, sc_cta;
	struct gsan_refs refs[3];       /* lane's, warp's, block's */
};

/* Tensor memory of a block: the accesses that may matter yet, each a rectangle, exact
 * to a column and to four lanes.  All of it is changed under the lock. */
#define GSAN_CELLS      96
struct gsan_cells {
	unsigned long long rec; /* of an asynchronous operation; its group: see pipe */
	unsigned long long via; /* a product that read it later; 0: none */
	uint32_t site;
	uint32_t lanes;         /* a bit for four */
	uint32_t columns;       /* first | end << 16 */
	uint32_t seq;           /* gsan_tc.issued */
	uint32_t pipe;          /* GSAN_PIPE_* */
	uint32_t d, shape;      /* accumulator: address; how many rows and columns */
	uint32_t when;          /* clock of the warp that issued it */
};
struct gsan_tmem {
	uint32_t start;         /* of the block it belongs to */
	uint32_t lock, n, pad;
	struct gsan_cells e[GSAN_CELLS];
};
/* What is done in the order of issue: PTX ISA, tcgen05, Pipelined Instructions. */
#define GSAN_PIPE_NONE  0u      /* ld, st: the group is one of gsan_tc.ld or .st */
#define GSAN_PIPE_CP    1u
#define GSAN_PIPE_A     2u      /* reads its first matrix */
#define GSAN_PIPE_D     3u
#define GSAN_PIPE_SCALE 4u      /* reads scale factors */

/* A warp's tcgen05 operations.  Groups of mma and cp go on from one tenant of the slot
 * to the next, as records of shared memory name them. */
#define GSAN_COMMITS    32
#define GSAN_BEFORES    8
#define GSAN_AFTERS     4
struct gsan_tc {
	uint32_t start;         /* of the block that used it last */
	uint32_t group, done;   /* of mma and cp: under way; of earlier tenants */
	uint32_t issued;        /* mma and cp */
	uint32_t ld, st;        /* the groups under way */
	uint32_t waited_ld, waited_st;          /* up to here */
	uint32_t commits, befores, afters;      /* entries ever made */
	/* What entries that were overwritten said at most. */
	uint32_t lost_group, lost_ld, lost_st, lost_issued;
	uint32_t lost_after;    /* lanes whose last fence::after_thread_sync is not kept */
	/* Groups up to `upto` of a lane end with a phase: slot << 8 | mbarrier. */
	struct { uint32_t upto, lane, mbar, phase; } commit[GSAN_COMMITS];
	/* fence::before_thread_sync by the lanes of mask: what was over by then.  `again`: the
	 * last one that said no more. */
	struct { uint32_t clock, mask, ld, st, issued, again, pad[2]; } before[GSAN_BEFORES];
	struct gsan_knew after[GSAN_AFTERS];    /* the last of each lane */
};

/* ---- Copies whose granules are yet to be walked: post.cuh -------------------- */

/* A box of a tensor. */
struct gsan_tile {
	struct gsan_map m;
	uint32_t inner, rows;   /* bytes of a row in shared memory, rows */
	uint32_t op;
	int32_t c[5];
	uint32_t offset[3];     /* im2col: of W, H, D */
	uint32_t pad;
};

/* A range of memory, or the box there, in pieces of 16 bytes, or lines (line.cuh). */
struct gsan_side {
	unsigned long long rec, at;     /* its records; where it begins */
	uint32_t flags;         /* ISSUE_* */
	uint32_t slot;          /* whose shared memory */
	uint32_t bytes;
	uint32_t pieces;
};
#define GSAN_SIDES      3
#define GSAN_SAID       16      /* power of two */
struct gsan_work {
	struct gsan_tile tile;
	struct gsan_side side[GSAN_SIDES];
	uint32_t sides, pieces; /* of the side that has most */
	uint32_t site, from;    /* see gsan_post */
};

struct gsan_post {
	unsigned long long next;        /* number << 40 | pieces << 20 | the next to be taken */
	uint32_t done;          /* pieces */
	uint32_t from;          /* slot + 1 of the queue where what it reads was posted, as work.from; 0: nowhere else */
	struct gsan_work work;
	/* Who issued it, as he was then: of his warp what tells who he is. */
	struct gsan_knew knew;
	struct gsan_warp w;
	uint32_t clock[32];     /* of the block's warps, then */
	/* What was found of records so far, by hash: a record without its bytes | side + 1. */
	struct { unsigned long long key; uint32_t val, pad; } said[GSAN_SAID];
};
#define GSAN_POST_NUMBER(v)     ((uint32_t)((v) >> 40))
#define GSAN_POST_PIECES(v)     ((uint32_t)((v) >> 20) & 0xfffff)
#define GSAN_POST_NEXT(v)       ((uint32_t)(v) & 0xfffff)
#define GSAN_POST_MAX   0x7ffffu        /* pieces */

/* What a tensor map says that lies in the parameters of the block's kernel, where nobody changes it: of a box without
 * gaps in shared memory.  Written and read under the queue's lock. */
#define GSAN_FORMS      16      /* power of two */
struct gsan_form {
	unsigned long long map; /* address */
	uint32_t start;         /* of the block it belongs to */
	uint32_t rows, inner;   /* as in a tile */
	uint32_t base, apart;   /* of the map's base and first stride; a line's last byte and 0: rows are not alike */
	/* By dimension, the last one first: from 0 on, where the box may begin and be inside of the tensor. */
	uint32_t begins4, begins[4];
	struct gsan_map m;
};

#define GSAN_POSTS      16      /* per slot, power of two */
struct gsan_queue {
	uint32_t start;         /* of the block it belongs to */
	uint32_t posted, walked;        /* numbers: one more than the last, the first that may not be done */
	uint32_t lock;
	uint32_t first;         /* that this block posted */
	uint32_t pad;
	uint32_t came, uses;    /* threads at the barrier of all under way; such as are over: one 64-bit word */
	uint32_t by[32];        /* by warp: lanes that posted and have not left */
	struct gsan_post e[GSAN_POSTS];
	struct gsan_form form[GSAN_FORMS];
};

/* Snapshots without vectors, behind the large ones: root->snaps points to
 * nsnaps large objects, root->knows to nknows small ones of 64 bytes. */
#define GSAN_SMALL_BYTES        64

#endif
