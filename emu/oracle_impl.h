/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle_impl.h: the oracle's parts.  oracle_hook.c makes events of what the
 * emulated device executes; oracle_sync.c builds the order from them, on the vector
 * clocks of oracle_clock.c; oracle_race.c keeps every access and finds the pairs
 * that the order leaves open; oracle_say.c names lines and answers questions.
 *
 * Watching an instrumented program has one difficulty: its calls stand beside the
 * instruction that they belong to, and other threads may come between.  So the
 * order is built four times, as set out at enum orc_world.
 */
#ifndef EMU_ORACLE_IMPL_H
#define EMU_ORACLE_IMPL_H

#include "emu/emu.h"
#include "emu/oracle.h"

/* LEAST: exactly what the instructions did, when they did it; of what may be
 * either way, the order that is not there.  MOST: a write counts from the call
 * before it, and a read sees everything that was there at any moment from the call
 * before it until the thread's next event.  What others did between the call of an
 * instruction and the instruction could as well have come behind both: in LEAST it is
 * not ordered by what the instruction acquired.  A pair is a race if LEAST leaves it
 * open, and must be found if MOST does.  WIDE: either, as if all scopes were .sys:
 * what it closes is a matter of scope. */
enum orc_world { ORC_LEAST, ORC_MOST, ORC_WIDE_LEAST, ORC_WIDE_MOST, ORC_WORLDS };
#define ORC_IS_MOST(w) ((w) & 1)
#define ORC_IS_WIDE(w) ((w) & 2)
#define ORC_NARROW(w) ((enum orc_world)((w) & 1))

enum orc_level { ORC_WEAK, ORC_CTA, ORC_CLUSTER, ORC_GPU, ORC_SYS, ORC_LEVELS };

/* ---- oracle_clock.c: vector clocks ------------------------------------------- */

/* Shared and counted; NULL knows nothing.  Threads are numbered so that a warp's are
 * 32 in a row. */
struct orc_clock;

struct orc_clock *orc_keep(struct orc_clock *);
void orc_drop(struct orc_clock *);
uint32_t orc_get(const struct orc_clock *, uint64_t thread);
void orc_raise(struct orc_clock **, uint64_t thread, uint32_t to);
void orc_learn(struct orc_clock **, struct orc_clock *from);

/* ---- oracle_sync.c: threads and the order between them --------------------------- */

/* Who did something and how far it reaches: what scopes are compared by. */
struct orc_reach {
	uint64_t block, cluster;        /* linear number of the block; of its cluster */
	uint8_t level;
};

/* What the head of a release pattern publishes.  In the wide worlds `narrow` is what
 * it published in the world beside it: what scopes as they are let it know. */
struct orc_head {
	struct orc_clock *clock, *narrow;
	struct orc_reach reach;
};
struct orc_heads { struct orc_head *v; unsigned n, cap; };

struct orc_word;

/* A head that the thread saw by a strong read, or a release of its own, at a word. */
struct orc_noted {
	const struct orc_word *word;
	struct orc_head head;
};
struct orc_notes { struct orc_noted *v; unsigned n, cap; };

struct orc_order {              /* what a thread knows in one world */
	struct orc_clock *knows;
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

/* An access, or an element of a strong one, by one thread. */
struct orc_access {
	const struct orc_op *op;
	uint64_t thread, seq;
	uint32_t epoch, index;          /* index: of the thread in its block */
	bool read, write, read_only;
	uint8_t size;
	uint64_t space, addr;           /* space 0: global; else 1 + number of the block */
	struct orc_reach reach;         /* level ORC_WEAK: a weak access */
	bool blind;                     /* other blocks of its cluster are not compared */
	struct orc_clock *knows[ORC_WORLDS];    /* what its thread knew */
	struct orc_clock *direct;       /* in WIDE_LEAST */
	/* Announced then; and if it acquires, what its thread knew then. */
	uint64_t since;
	struct orc_clock *knew[ORC_WORLDS], *knew_direct;
	/* Of a strong write: */
	struct orc_word *word;
	struct orc_heads heads[ORC_WORLDS];
	struct orc_access *next;        /* the RMW that read it, in coherence order */
	struct orc_observer *obs;
	unsigned nobs, capobs;
	const struct orc_access *asked[ORC_WORLDS];     /* see observed() */
	bool answer[ORC_WORLDS];
	uint64_t begun, ended;          /* as since; when written over; 0: not yet */
};

/* A location of strong accesses: an address and a size. */
struct orc_word {
	struct orc_word *chain;
	uint64_t space, addr;
	uint8_t size;
	struct orc_access **w;          /* its writes, in order */
	unsigned n, cap;
	struct orc_access **coming;     /* announced, not yet carried out */
	unsigned ncoming, capcoming;
};

enum { ORC_ELEMS = 8 };

struct orc_thread {
	struct orc_block *block;
	uint64_t id;
	uint32_t epoch, index;
	bool blind;
	struct orc_order o[ORC_WORLDS];
	/* The instruction whose call was just made. */
	const struct emu_op *announced;
	uint64_t since;
	struct orc_access *coming[ORC_ELEMS];
	struct orc_heads sc[ORC_WORLDS];        /* fences before that call */
	/* Strong reads whose moment is not over. */
	struct { struct orc_word *word; uint64_t since; struct orc_reach reach; bool acquire; } look[ORC_ELEMS];
	unsigned nlook;
};

struct orc_bar { struct orc_clock *clock[ORC_WORLDS]; };

struct orc_block {
	struct orc_grid *grid;
	uint64_t number;
	struct orc_reach reach;         /* level unused */
	unsigned nthreads;
	struct orc_thread *thread;
	struct orc_bar bar[16];
	struct orc_clock *direct[ORC_WORLDS];   /* what any of its threads has of that */
	struct orc_clock *ended[ORC_WORLDS];    /* what its threads that ended knew */
};

struct orc_cell { struct orc_access **v, *last; unsigned n, cap; };
struct orc_page { struct orc_page *chain; uint64_t space, number; struct orc_cell cell[64]; };

#define ORC_HASH 4096

struct orc_grid {
	struct orc_block **block;       /* by linear number */
	uint64_t nblocks;
	uint64_t seq;
	struct orc_heads sc[ORC_WORLDS];
	struct orc_word *word[ORC_HASH];
	struct orc_page *page[ORC_HASH];
	struct orc_access **all;
	size_t nall, capall;
	struct orc_race *races;
};

/* What an op of the program means. */
struct orc_op {
	emu_op_fn *fn;                  /* what it does */
	const struct ptx_inst *in;
	const char *func;
	unsigned line;
	bool access, fence, unmodelled;
	bool read, write, strong, acquire, release, sc, red, read_only, cluster;
	uint8_t level, size, n;         /* bytes of an element, elements */
};

void *orc_alloc(size_t n, size_t size);         /* zeroed; never NULL */
/* Room for one more in v[0..n). */
void *orc_grow(void *v, unsigned n, unsigned *cap, size_t size);

bool orc_meet(enum orc_world, const struct orc_reach *, const struct orc_reach *);
void orc_head_drop(struct orc_head *);
void orc_heads_drop(struct orc_heads *);
void orc_notes_drop(struct orc_notes *);

/* The moment of the thread's last strong reads is over. */
void orc_settle(struct orc_grid *, struct orc_thread *);
struct orc_word *orc_word_at(struct orc_grid *, uint64_t space, uint64_t addr, unsigned size);
/* An element of a strong access of `op` will come. */
struct orc_access *orc_announce(struct orc_block *, struct orc_thread *, const struct orc_op *,
				uint64_t space, uint64_t addr);
/* It has come; `before` is what wrote its bytes before, NULL if not one and the same. */
void orc_strong(struct orc_block *, struct orc_thread *, const struct orc_op *,
		struct orc_access *, struct orc_access *before);
/* After the last element of a strong access. */
void orc_strong_end(struct orc_thread *, const struct orc_op *);
void orc_fence_announce(struct orc_block *, struct orc_thread *, const struct orc_op *);
void orc_fence(struct orc_block *, struct orc_thread *, const struct orc_op *);
void orc_arrive(struct orc_block *, struct orc_thread *, unsigned id);
void orc_leave(struct orc_block *, struct orc_thread *, unsigned id, bool all);
void orc_bar_over(struct orc_block *, unsigned id);
void orc_warp_sync(struct orc_block *, unsigned first, uint32_t lanes);
void orc_unmodelled(struct orc_block *, struct orc_thread *);
void orc_ended(struct orc_block *, struct orc_thread *);

/* ---- oracle_race.c: accesses and races ------------------------------------------------ */

struct orc_access *orc_access_new(struct orc_block *, struct orc_thread *, const struct orc_op *,
				  uint64_t space, uint64_t addr, unsigned size);
/* Who wrote the bytes of `a` last, if that was one strong write of the same location. */
struct orc_access *orc_before(struct orc_grid *, const struct orc_access *);
/* Compares it with all there is and keeps it. */
void orc_check(struct orc_grid *, struct orc_thread *, struct orc_access *);
/* Do two accesses race, kept in this order? */
bool orc_race(enum orc_world, struct orc_access *, const struct orc_access *);
void orc_grid_end(struct orc_grid *);

/* ---- oracle_say.c: lines and findings ---------------------------------------------------- */

/* The line of the n-th access of a function in the text that was given; 0: unknown. */
unsigned orc_line(const char *func, unsigned n);
/* Two accesses race.  `wrong` has a bit for each kind that it may be called, and
 * ORC_NAMED if the oracle itself calls it a scope race. */
enum { ORC_DATA = 1, ORC_SCOPE = 2, ORC_NAMED = 4 };
void orc_found(const struct orc_access *, const struct orc_access *, unsigned wrong, bool certain,
	       uint64_t addr, unsigned long long count);
/* One of these pairs of lines must be named. */
void orc_demand(unsigned wrong, const unsigned (*line)[2], unsigned n);

/* ---- oracle_hook.c: called where things happen -------------------------------------------- */

extern bool emu_oracle_on;

void emu_oracle_wrap(struct emu_func *);
void emu_oracle_unwrap(struct emu_func *);
void emu_oracle_call(struct emu_x *, const struct emu_op *call, uint32_t m);
void emu_oracle_block(struct emu_block *, uint64_t linear);
void emu_oracle_grid_end(struct emu_grid *);
void emu_oracle_access(struct emu_x *, const struct emu_op *, unsigned lane, uint64_t addr,
		       unsigned size);
void emu_oracle_arrive(struct emu_x *, const struct emu_op *, uint32_t m, unsigned id);
void emu_oracle_leave(struct emu_warp *, const struct emu_op *, uint32_t m, unsigned id, bool all);
void emu_oracle_bar_over(struct emu_block *, unsigned id);
void emu_oracle_warp_sync(struct emu_x *, const struct emu_op *, uint32_t m);
void emu_oracle_exit(struct emu_warp *, uint32_t m);

#endif
