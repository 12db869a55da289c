/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_async.h: what motifs of the asynchronous world share: mbarriers, stages, waits.
 * async.c has those of one block, cluster.c those of two.
 */
#ifndef GEN_ASYNC_H
#define GEN_ASYNC_H

#include "testsuite/gen/gen_impl.h"

enum {
	STAGE = 512,            /* bytes; each thread has a word of it */
	POLLS = 3000            /* until a wait is given up: more than any that has an end */
};

struct bar { unsigned off, phase; };    /* phase: the number of the one under way */
struct part { unsigned off, bytes; };   /* of a stage */

bool take_bar(struct gen *, struct bar *);
bool take_stage(struct gen *, struct place *, bool shared);
void put_init(struct gen *, const struct bar *, unsigned count);
void init_done(struct gen *);
/* Waits a while for a phase; lanes for which it does not end leave, or if `times` is POLLS
 * and no more, may go on. */
void put_polls(struct gen *, const char *instruction, unsigned times);
void put_wait(struct gen *, const struct bar *, const char *parity, bool cluster);
/* Of rings: nothing that gsan has to round, as all that it lacks would be explained. */
void put_await(struct gen *, const struct bar *, unsigned phase, unsigned times);
/* For the phase under way, unless it slips. */
void put_wait_now(struct gen *, const struct bar *);
void put_arrive(struct gen *, const struct bar *, const char *state, bool cluster);
void put_proxy_fence(struct gen *, bool shared);
void hand_over(struct gen *, bool shared);
const char *put_global(struct gen *, const struct place *, unsigned off);
struct part put_part(struct gen *);
unsigned some_thread(struct gen *);
void read_stage(struct gen *, const struct place *);
void write_stage(struct gen *, const struct place *);

void motif_load(struct gen *);
void motif_store(struct gen *);
void motif_through(struct gen *);
void motif_ring(struct gen *);
void motif_groups_of_copies(struct gen *);
void motif_copies_arrive(struct gen *);
void motif_phases(struct gen *);
void motif_async_soup(struct gen *);

/* cluster.c: blocks of a cluster; others do nothing. */
void motif_peer_access(struct gen *);
void motif_peer_arrive(struct gen *);
void motif_peer_copy(struct gen *);
void motif_peer_store(struct gen *);
void motif_multicast(struct gen *);

#endif
