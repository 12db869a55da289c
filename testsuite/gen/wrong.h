/* SPDX-License-Identifier: Apache-2.0
 *
 * wrong.h: what programs with a planted error have in common.  A form is a piece of a kernel of which there is a right
 * version and one with an error in it; what is wrong, and by which lines, is known where it is written.
 */
#ifndef WRONG_H
#define WRONG_H

#include "testsuite/gen/gen_impl.h"

/* A program in the making. */
struct wrong {
	struct gen *g;
	bool bad;                       /* the next form has its error */
	unsigned vars, bars, ids;       /* variables, mbarriers and barriers given out */
};

/* False: it does not fit the program, which has it not. */
typedef bool wrong_form(struct wrong *);

/* What is planted is told as `kind`; `may`: bits of enum gen_may. */
void wrong_plant(struct wrong *, const char *kind, unsigned may);
/* Ends the line of an instruction that has to be named. */
const char *wrong_mark(const struct wrong *);
/* A variable of shared memory; one that is missing: false. */
bool wrong_var(struct wrong *, unsigned bytes, unsigned *number);
/* An mbarrier: its offset in `eb`; a barrier's number. */
bool wrong_bar(struct wrong *, unsigned *at);
bool wrong_id(struct wrong *, unsigned *id);
/* By thread 0, which the others then know of. */
void wrong_init(struct wrong *, unsigned at, unsigned count);
/* For ever, until it comes. */
void wrong_wait(struct wrong *, unsigned at, const char *phase, const char *mark);

extern wrong_form *const wrong_bounds[], *const wrong_barriers[], *const wrong_mbarriers[];
/* Behind them a block's threads may be gone, or wait for ever. */
extern wrong_form *const wrong_ends[], *const wrong_hangs[];
extern const unsigned wrong_nbounds, wrong_nbarriers, wrong_nmbarriers, wrong_nends, wrong_nhangs;

#endif
