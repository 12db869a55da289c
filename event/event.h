/* SPDX-License-Identifier: Apache-2.0
 *
 * event.h: the contract between who logs (probes, the emulated device, the host) and who
 * judges (detect/).  An event says what happened, in the terms of the PTX ISA, and never
 * what it implies.
 *
 * A log is made of *pieces*: a head, then records of 16 bytes or a multiple, of one warp,
 * stored by one lane on behalf of others; a record of END, or the piece's size, ends it.
 *
 * Order.  Records of one piece, and of the next one of that warp and leader, are in program
 * order.  One lane's records may lie in pieces of several leaders: a record of CLOCK comes
 * wherever lanes have come together or apart, and those order whatever shares a lane: records
 * between two of them, in one piece or several, are at the first one's clock.  The record of a release, an arrival or a fence is stored before its
 * instruction, that of an acquire or a wait behind it, so that a log may end anywhere.
 *
 * Clocks.  %clock64 of the multiprocessor, and %globaltimer in nanoseconds; records have
 * their low 32 bits.  That of a release is read before its instruction, that of an acquire
 * behind the use of its result: a release that is later is not what the acquire saw.
 *
 * Addresses have 48 bits: generic, or where the site says EVENT_SHARED rank in the cluster
 * << 24 | offset, which generic ones of the shared window mean as well.
 */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define EVENT_BOTH __host__ __device__  /* nvcc: a GPU's as well */
#define EVENT_UNIT __align__(16)
#else
#define EVENT_BOTH
#define EVENT_UNIT
#endif

#define EVENT_MAGIC 0x67736e01u         /* the last byte is the version */

enum {
	EVENT_LANES = 32, EVENT_BLOCKS_MAX = 16 /* of a cluster */, EVENT_WORDS_MAX = 15, EVENT_SITES_MAX = 1 << 20, EVENT_SITE_SHIFT = 12,
	EVENT_UNITS_MAX = 2 + EVENT_LANES * (EVENT_WORDS_MAX + 1) / 2
};

/* What the first 16 bytes hold beside kind, site and lanes.
 *   CLOCK    clock, timer           BARRIER  operand A, clock
 *   PAIR     operands A and B       ADDRESS  48 bits of address, 16 bits of step
 *   CLOCKED  ADDRESS, and in 16 bytes more clock and timer before, clock and timer behind */
enum event_form { EVENT_FORM_NONE, EVENT_FORM_CLOCK, EVENT_FORM_PAIR, EVENT_FORM_BARRIER,
		  EVENT_FORM_ADDRESS, EVENT_FORM_CLOCKED };

enum event_kind {
#define EVENT(id, name, form, chapter) EVENT_##id,
#include "event/event.def"
	EVENT_KINDS
};

/* Places of operands: word << 16 | shift << 8 | bits. */
enum { EVENT_WORD_A = 16, EVENT_WORD_B = 17, EVENT_WORD_0 = 0, EVENT_WORD_1, EVENT_WORD_2, EVENT_WORD_3,
       EVENT_WORD_4, EVENT_WORD_5, EVENT_WORD_6, EVENT_WORD_7 };
enum event_operand {
#define OPERAND(kind, id, name, word, shift, bits) \
	EVENT_##kind##_##id = EVENT_WORD_##word << 16 | (shift) << 8 | (bits),
#include "event/event.def"
	EVENT_OPERAND_NONE = 0
};

/* ---- records ---------------------------------------------------------------------------
 *
 *   31        12 11     8   7       6     5    0
 *  +------------+--------+------+---------+------+
 *  | site       | words  | once | by lane | kind |    word 0; word 1: the lanes
 *  +------------+--------+------+---------+------+
 * words: 64-bit words of operands, for each of the lanes, or once, last.  by lane: each one's
 * address comes before its words; else lane l's is address + step * (l - lowest lane).  An ADDRESS
 * by lane and once is narrow: it has no words, and addresses of 32 bits.
 */
struct EVENT_UNIT event_unit { uint32_t w[4]; };

static inline EVENT_BOTH unsigned event_kind_of(const struct event_unit *e) { return e->w[0] & 63; }
static inline EVENT_BOTH uint32_t event_site_of(const struct event_unit *e) { return e->w[0] >> EVENT_SITE_SHIFT; }
static inline EVENT_BOTH uint32_t event_lanes(const struct event_unit *e) { return e->w[1]; }
static inline EVENT_BOTH unsigned event_words(const struct event_unit *e) { return e->w[0] >> 8 & 15; }
static inline EVENT_BOTH bool event_once(const struct event_unit *e) { return e->w[0] >> 7 & 1; }
static inline EVENT_BOTH bool event_by_lane(const struct event_unit *e) { return e->w[0] >> 6 & 1; }
static inline EVENT_BOTH bool event_narrow(const struct event_unit *e) { return (e->w[0] & 0xfc0) == 0xc0; }
/* Of an ADDRESS: that of the lowest lane, and how far each lane is behind the one before; or the n-th lane's. */
static inline EVENT_BOTH uint64_t event_base(const struct event_unit *e) { return e->w[2] | (uint64_t)(e->w[3] & 0xffff) << 32; }
static inline EVENT_BOTH int32_t event_step(const struct event_unit *e) { return (int16_t)(e->w[3] >> 16); }
/* Of an address in shared memory, as a record has it: its place in its block's. */
static inline EVENT_BOTH uint32_t event_offset(uint64_t address) { return (uint32_t)address & 0xffffff; }
static inline EVENT_BOTH uint64_t event_nth_address(const struct event_unit *e, unsigned n)
{
	const uint32_t *w = event_narrow(e) ? e[1 + n / 4].w + n % 4 : e[1 + n / 2].w + n % 2 * 2;

	return event_narrow(e) ? w[0] : w[0] | (uint64_t)(w[1] & 0xffff) << 32;
}
/* Of an arrival or a wait at a barrier: which it is, and of how many threads; 0: of all. */
static inline EVENT_BOTH uint32_t event_bar_id(const struct event_unit *e) { return e->w[2] & 15; }
static inline EVENT_BOTH uint32_t event_bar_count(const struct event_unit *e) { return e->w[2] >> 8 & 0xffff; }

/* Word 0. */
static inline uint32_t event_head(unsigned kind, uint32_t site, unsigned words, bool by_lane)
{
	return site << EVENT_SITE_SHIFT | words << 8 | (uint32_t)by_lane << 6 | kind;
}
/* Of a record whose words are there once; of a narrow ADDRESS. */
static inline uint32_t event_head_once(unsigned kind, uint32_t site, unsigned words) { return event_head(kind, site, words, false) | 1u << 7; }
static inline uint32_t event_head_narrow(unsigned kind, uint32_t site) { return event_head(kind, site, 0, true) | 1u << 7; }

#define EVENT_ADDRESS UINT64_C(0xffffffffffff)

const char *event_name(unsigned kind);
enum event_form event_form(unsigned kind);
/* Lanes in a mask; the lowest of them (32: there is none). */
#ifdef __CUDA_ARCH__
static inline EVENT_BOTH unsigned event_count(uint32_t mask) { return (unsigned)__popc((int)mask); }
static inline EVENT_BOTH unsigned event_first(uint32_t mask) { return mask ? (unsigned)__ffs((int)mask) - 1 : EVENT_LANES; }
#else
static inline EVENT_BOTH unsigned event_count(uint32_t mask) { return (unsigned)__builtin_popcount(mask); }
static inline EVENT_BOTH unsigned event_first(uint32_t mask) { return mask ? (unsigned)__builtin_ctz(mask) : EVENT_LANES; }
#endif
#include "event/record.h"

/* Adds to a word that all lanes have once. */
void event_add(struct event_unit *, unsigned n, uint64_t more);

/* Low words of clock and timer; returns how many of the two the record has.  Both 0: behind has
 * not come yet. */
enum event_when { EVENT_BEFORE, EVENT_BEHIND };
unsigned event_clock(const struct event_unit *, enum event_when, uint32_t *clock, uint32_t *timer);

/* Clocks and timers in full, by enum event_when, from the last ones of its stream, which move on; what a
 * record lacks is as it was last, what has not come UINT64_MAX.  False: it has none. */
struct event_now { uint64_t clock, timer; };
bool event_times(const struct event_unit *, struct event_now *, uint64_t clock[2], uint64_t timer[2]);

/* A record as it is said, for those who write one; what its kind lacks is not looked at. */
struct event_put {
	enum event_kind kind;
	uint32_t site, lanes, a, b;
	unsigned words;
	bool once;
	uint64_t address[EVENT_LANES], word[EVENT_LANES][EVENT_WORDS_MAX];
	uint64_t clock[2], timer[2];    /* by enum event_when; of forms with one: [0] */
};
/* A lane's operand; those behind A and B, which all lanes have, make the words more. */
void event_set(struct event_put *, unsigned lane, enum event_operand, uint64_t v);
/* Units taken of EVENT_UNITS_MAX. */
unsigned event_encode(struct event_unit *, const struct event_put *);

struct event_piece {
	uint32_t magic;                 /* EVENT_MAGIC */
	uint32_t launch, block;         /* numbers of the launch, and of the block in it: those of a cluster
					   are in a row, by rank */
	uint32_t first;                 /* block of its cluster */
	uint16_t rank, blocks;          /* in the cluster; blocks of that */
	uint8_t warp, leader;           /* who stored: the lowest lane */
	uint16_t sm;
	uint32_t number;                /* pieces of that warp and leader before it */
	uint32_t bytes;                 /* with this head */
	uint64_t window;                /* generic address of shared::cluster memory */
	uint64_t clock, timer;          /* when it was begun */
	uint64_t spare;
};
/* Checks a piece of at most `bytes` bytes.  NULL, or what is wrong, and where. */
const char *event_piece_wrong(const struct event_piece *, size_t bytes, uint32_t nsites, size_t *at);
static inline const struct event_unit *event_units_of(const struct event_piece *p)
{
	return (const struct event_unit *)(p + 1);
}

/* ---- sites: what an instruction is --------------------------------------------------------- */

/* NONE: not given, which is not .relaxed.  VOLATILE: .volatile and .mmio. */
enum event_sem { EVENT_SEM_NONE, EVENT_RELAXED, EVENT_ACQUIRE, EVENT_RELEASE, EVENT_ACQ_REL, EVENT_SC, EVENT_VOLATILE };
enum event_scope { EVENT_SCOPE_NONE, EVENT_CTA, EVENT_CLUSTER, EVENT_GPU, EVENT_SYS };
enum event_space { EVENT_GENERIC, EVENT_GLOBAL, EVENT_SHARED, EVENT_CLUSTER_SHARED };
enum event_proxy { EVENT_PLAIN, EVENT_MULTIMEM, EVENT_READ_ONLY };
enum event_does { EVENT_READS = 1, EVENT_WRITES = 2, EVENT_NO_RESULT = 4 };
enum event_fence { EVENT_FENCE_THREAD, EVENT_FENCE_ASYNC, EVENT_FENCE_ASYNC_RELEASE, EVENT_FENCE_ASYNC_ACQUIRE,
		   EVENT_FENCE_SHARED_RELEASE, EVENT_FENCE_SHARED_ACQUIRE, EVENT_FENCE_INIT, EVENT_FENCE_ALIAS,
		   EVENT_FENCE_MAP, EVENT_FENCE_TENSOR_BEFORE, EVENT_FENCE_TENSOR_AFTER };
enum event_list { EVENT_LIST_CP = 32, EVENT_LIST_BULK, EVENT_LIST_WGMMA };
#define EVENT_WAIT_ALL 0xffffffffu
enum event_flag {
	EVENT_ALIGNED = 1 << 0, EVENT_DROP = 1 << 1, EVENT_NOINC = 1 << 2, EVENT_PARITY = 1 << 3,
	EVENT_SOURCES = 1 << 4,         /* wait_group.read */
	EVENT_COUNTED = 1 << 5,         /* by an mbarrier */
	EVENT_MULTICAST = 1 << 6, EVENT_BYTE_MASK = 1 << 7, EVENT_REDUCE = 1 << 8, EVENT_IM2COL = 1 << 9,
	EVENT_FOUR_ROWS = 1 << 10,      /* tile::gather4, scatter4 */
	EVENT_PAIR = 1 << 11,           /* cta_group::2 */
	EVENT_A_ELSEWHERE = 1 << 12,    /* in registers (wgmma), in tensor memory (tcgen05) */
	EVENT_A_MN = 1 << 13, EVENT_B_MN = 1 << 14, EVENT_WS = 1 << 15, EVENT_OF_STORES = 1 << 16
};

/* shape[]  ACCESS    of a matrix (wmma): rows, or columns; elements of each; bits of an element
 *          WGMMA     bytes of an element of A, of B; columns of A, of B; rows of B
 *          TC_MMA    bytes of an element (0: 1); scale factors of a row; whether it is sparse: rows of B are twice
 *                    as long as what is there of A's
 *          TC_COPY   rows, bytes of each, copies of them, whether those lie side by side
 *          TC_LOAD, TC_STORE  columns of a fragment (1: 32x32b), registers, columns to the second
 *                    half (16x32bx2), whether a register has two columns
 *          MAP_EDIT  field, as the PTX ISA lists them; ordinal */
struct event_site {
	uint8_t kind, does, sem, scope;
	uint8_t space, from, proxy, variant;    /* from: a copy's source; variant: of a fence, of groups */
	uint16_t size, count;           /* bytes of an element (0: the record says), elements */
	uint32_t flags, left_out;       /* left_out: elements that are not accessed */
	uint16_t shape[6];
	uint32_t line, text;            /* of the PTX file; of the instruction in event_sites.text */
	uint32_t run, nrun;             /* ACCESS, WGMMA: what one record stands for, which does all that those do; nrun 0: itself */
};
/* Is the access a strong one? */
static inline bool event_strong(const struct event_site *s) { return s->sem != EVENT_SEM_NONE; }
static inline bool event_leaves_out(const struct event_site *s, unsigned element) { return element < 32 && s->left_out >> element & 1; }
/* What a lane's n-th element read, or wrote; false: the record does not have it. */
bool event_value(const struct event_unit *, const struct event_site *, unsigned lane, unsigned n, enum event_does, uint64_t *v);
/* Of an access: so far behind the record's address; of a product: so much is added to the descriptor of A (lower
 * half, signed) and to that of B (upper half). */
struct event_run { uint32_t site; int32_t offset; };
/* From which variables of shared memory an instruction's addresses come, where that is certain: a row for each, those of a
 * site one behind the other, sites in their order.  What an address has no row for may lie anywhere.  Variables have numbers
 * in their module.  Of a product AT and FROM are its descriptors of A and B; of a copy FROM is its source. */
enum event_address_of { EVENT_OF_AT, EVENT_OF_FROM, EVENT_OF_MBAR };
struct event_origin { uint32_t site; uint16_t address, spare; uint32_t variable; };
struct event_sites {
	const struct event_site *site;
	const struct event_run *run;
	const char *text;
	uint32_t nsites, nruns, norigins;
	const struct event_origin *origin;
};
/* NULL, or what is wrong with them. */
const char *event_sites_wrong(const struct event_sites *);

/* A tensor map: what the driver's 128 bytes say. */
struct event_map {
	uint64_t hash, base;            /* hash: of the bytes */
	uint64_t stride[5];             /* bytes; [0]: of an element */
	uint32_t dim[5], box[5], every[5];
	int32_t lower[3], upper[3];     /* im2col */
	uint8_t rank, im2col;
	uint8_t span, atom, slice;      /* bytes of the swizzle's pattern, of what it moves, of an interleaved
					   slice; 0: none */
	uint8_t spare[7];
};
uint64_t event_map_hash(const void *map);
/* A bit of the second eight bytes that programs clear behind the driver (CUTLASS), and that is not hashed. */
#define EVENT_MAP_LOOSE (UINT64_C(1) << 21)

/* Where a variable of shared memory lies in each block of a launch. */
struct event_place { uint32_t variable, at, bytes; };

/* Memory that the device can reach, with generic addresses.  ALLOCATED: by a routine that aligns to 256 bytes, and of which what
 * is left of the last 256 belongs to nobody; THERE: by anybody; FREED: it was there, and was freed before the launch that comes
 * was issued, as far as it is not among the others. */
enum event_block_kind { EVENT_BLOCK_ALLOCATED, EVENT_BLOCK_THERE, EVENT_BLOCK_FREED };
struct event_block { uint64_t at, bytes; enum event_block_kind kind; };

/* What the host tells.  Launches come each behind the one before it, but for one that may
 * begin early (programmatic dependent launch). */
enum event_host_kind {
	EVENT_HOST_LAUNCH, EVENT_HOST_OVER, EVENT_HOST_MAP, EVENT_HOST_CUT, EVENT_HOST_VARIABLE,
	EVENT_HOST_MEMORY,              /* for launches that come, what was told of memory is of no use any more */
	EVENT_HOST_BLOCK                /* and they have this */
};
struct event_host {
	enum event_host_kind kind;
	uint32_t launch, blocks;        /* OVER: all its blocks have ended, */
	bool early, fault;              /* OVER: or it has ended in a fault */
	uint64_t timer;                 /* CUT: before this nothing of the launch that was logged is lost; a part of any
					   stream that comes later may be, up to its end */
	struct event_map map;
	struct event_place place;       /* VARIABLE: of the launch, before its pieces */
	struct event_block block;       /* BLOCK */
};

/* print.c: a record of a piece as a line of text: block.warp:lanes name.modifiers address
 * operands @clocks.  `to` gets as much as fits; the site is that of the record. */
void event_print(char *to, size_t size, const struct event_piece *, const struct event_unit *,
		 const struct event_site *);
/* name.modifiers, does, size x count, what is not zero of the rest. */
void event_print_site(char *to, size_t size, const struct event_site *);

#ifdef __cplusplus
#define EVENT_ASSERT(x) static_assert(x, #x)
#else
#define EVENT_ASSERT(x) _Static_assert(x, #x)
#endif
EVENT_ASSERT(sizeof(struct event_unit) == 16);
EVENT_ASSERT(sizeof(struct event_piece) == 64);
EVENT_ASSERT(sizeof(struct event_site) == 48 && sizeof(struct event_origin) == 12 && sizeof(struct event_place) == 12);
EVENT_ASSERT(EVENT_KINDS <= 64);

#endif
