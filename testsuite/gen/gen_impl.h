/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_impl.h: what motifs are made of (pieces.c): chance, items, accesses, memory to
 * use, ways to synchronise.
 */
#ifndef GEN_IMPL_H
#define GEN_IMPL_H

#include "testsuite/gen/gen.h"

struct gen {
	struct gen_prog *p;
	uint64_t rng;
	struct ptx_buf text;            /* of the item in the making */
	unsigned labels, pairs, loops;
	unsigned global, shared;        /* bytes given out */
	unsigned slips;                 /* how many more things may go wrong */
	bool whole;                     /* whole warps only: counts of barriers are exact */
};

/* ---- chance ------------------------------------------------------------------------ */

unsigned below(struct gen *g, unsigned n);
bool chance(struct gen *g, unsigned percent);
/* Does something go wrong here?  Never in a program that is made to be right. */
bool slip(struct gen *g, unsigned percent);

#define PICK(g, ...) \
	(((const char *const[]){__VA_ARGS__})[below(g, sizeof((const char *const[]){__VA_ARGS__}) / \
						     sizeof(const char *))])

/* ---- items ----------------------------------------------------------------------------- */

/* A line of the item in the making; plain() ends it. */
void put(struct gen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void put_label(struct gen *g, unsigned n);
void plain(struct gen *g);

struct open { unsigned pair, label, loop; };

/* Lanes for which %p is false go around what follows. */
struct open open_if(struct gen *g);
/* Those whose register has a value, or one below it; one thread of the grid; those
 * whose last poll or attempt came to something. */
struct open open_eq(struct gen *g, const char *reg, unsigned value);
struct open open_lt(struct gen *g, const char *reg, unsigned value);
struct open open_thread(struct gen *g, unsigned block, unsigned thread);
struct open open_found(struct gen *g);
void close_if(struct gen *g, struct open o);
struct open open_loop(struct gen *g);
void close_loop(struct gen *g, struct open o, unsigned times);

/* ---- accesses --------------------------------------------------------------------------- */

enum index {
	IX_ZERO, IX_THREAD, IX_PAIR, IX_NEXT, IX_LANE, IX_WARP, IX_BLOCK, IX_GRID, IX_BACK, IX_FOUR,
	IX_LAST, IX_COUNT
};

struct place {
	char space;             /* g, s; x, y: the same by a generic address */
	unsigned off, stride;
	enum index index;
	bool own_block;         /* g: a part for every block */
};

/* The operand, after code that has it ready. */
const char *put_address(struct gen *g, const struct place *a);
const char *space_text(const struct place *a);
/* Registers of `n` elements. */
const char *regs(unsigned size, unsigned n);
/* ld or st of n elements; `how`: ".relaxed.gpu" or "" and so on. */
void put_load_store(struct gen *g, bool store, const char *how, const struct place *a,
           unsigned size, unsigned n);
/* An atomic of 2 (compare-and-swap), 4 or 8 bytes; the old value is in %v0 or %x0. */
void put_atomic(struct gen *g, bool red, const char *how, const struct place *a, unsigned size);
/* Two 16-bit elements. */
void put_packed(struct gen *g, bool red, const char *how, const struct place *a);

/* ---- memory --------------------------------------------------------------------------------- */

/* Memory of its own for `n` elements; false if there is no more. */
bool take(struct gen *g, struct place *a, bool shared, bool own_block, unsigned stride,
        unsigned n);
unsigned size_of(struct gen *g);
unsigned vec_of(struct gen *g, unsigned size);

/* ---- synchronisation ------------------------------------------------------------------------- */

const char *any_scope(struct gen *g);
/* One that reaches, unless it slips. */
const char *scope(struct gen *g, bool same_block);
const char *strong(const char *sem, const char *sc);
void put_fence(struct gen *g, bool release, const char *sc);
/* A barrier of all threads of the block; the same, or what a slip makes of it. */
void put_barrier(struct gen *g);
void sync_block(struct gen *g);
/* Tells others by `flag` that this thread's work is done; waits a while for it, and %f
 * says whether it came. */
void put_release(struct gen *g, const struct place *flag, bool same_block);
void put_acquire(struct gen *g, const struct place *flag, bool same_block);

/* ---- motifs ---------------------------------------------------------------------------------- */

/* One of those in gen.c; the last one of a program. */
void any_motif(struct gen *g);
void motif_leave(struct gen *g);
/* async.c, cluster.c: what the program consists of; products.c, rows.c, locks.c, wrong.c. */
void async_motifs(struct gen *g);
void product_motifs(struct gen *g);
void row_motifs(struct gen *g);
void lock_motifs(struct gen *g);
void wrong_motifs(struct gen *g);

#endif
