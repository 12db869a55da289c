/* SPDX-License-Identifier: Apache-2.0
 *
 * gen.h: random kernels.  A program is a list of items, snippets of PTX that stand
 * for themselves; some open and close a branch or a loop.  What is left when items
 * go is again a program, which is how a long one becomes a short one.
 */
#ifndef GEN_H
#define GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptxparse/ptx.h"

enum gen_kind { GEN_PLAIN, GEN_OPEN, GEN_CLOSE };

struct gen_item {
	char *text;
	enum gen_kind kind;
	unsigned pair;          /* OPEN, CLOSE: number of the pair */
};

/* What a planted error may come to besides. */
enum gen_may {
	GEN_MAY_FAULT = 1,      /* the kernel may end in a fault */
	GEN_MAY_HANG = 2,       /* or not at all */
	GEN_MAY_MISS = 4,       /* whether it is wrong hangs on what the oracle leaves open */
	GEN_IS_HANG = 8,        /* the emulated device says so */
	GEN_POLLS = 16          /* and some thread polls for ever */
};

struct gen_prog {
	uint64_t seed;
	bool safe;              /* made to be free of races; else it may have some */
	bool async;             /* of the asynchronous world */
	unsigned blocks, threads, cluster;      /* cluster: blocks; 0: none */
	/* Of GEN_ERRORS: the kind of the error that is planted, NULL if all is right, at the lines with GEN_MARK; bytes
	 * of its variables, and of dynamic memory. */
	const char *planted;
	unsigned may;           /* enum gen_may */
	unsigned var[4], dynamic;
	struct gen_item *item;
	unsigned n, cap;
};

#define GEN_GLOBAL 65536        /* bytes of its one buffer */
#define GEN_SOURCE 1024         /* of another, which nobody writes: 32-bit words 0, 1 and so on */
/* The tensor map over the first one: words in rows of 32, boxes of 8 by 4. */
enum { GEN_MAP_ROW = 32, GEN_MAP_WIDE = 8, GEN_MAP_HIGH = 4 };

/* The same seed gives the same program; those of the asynchronous world are others, and of
 * them those from GEN_PRODUCTS on are of wgmma, from GEN_ROWS on of tiles that warps access by rows.
 * From GEN_LOCKS on both are of locks, and of chains whose links acquire releases of their own.  From GEN_ERRORS on half of them
 * have an error that is no race. */
#define GEN_PRODUCTS (UINT64_C(1) << 32)
#define GEN_ROWS (UINT64_C(2) << 32)
#define GEN_LOCKS (UINT64_C(3) << 32)
#define GEN_ERRORS (UINT64_C(4) << 32)
void gen_make(struct gen_prog *, uint64_t seed, bool async);
void gen_copy(struct gen_prog *, const struct gen_prog *);
void gen_free(struct gen_prog *);
void gen_drop(struct gen_prog *, unsigned i);

/* Has the program begin with shared memory full of zeros and a barrier: a GPU's holds
 * anything (PTX ISA, State Spaces), and what hangs on that differs. */
void gen_clear(struct gen_prog *);

/* The lines before the kernels, and a kernel. */
extern const char gen_header[];
void gen_print(struct ptx_buf *, const struct gen_prog *, const char *name);
/* Ends the lines of what is planted, of which a finding has to name one. */
#define GEN_MARK " // planted"

#endif
