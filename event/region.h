/* SPDX-License-Identifier: Apache-2.0
 *
 * region.h: the memory that kernels log into by probes.
 *
 * One region of device memory, all zero at first, at a multiple of 16, and counted in units of 16 bytes: a head; a
 * queue; for each launch an array of heads of its blocks, and one of pieces, one for each of its warps; and pieces that
 * are taken when those are full, or when another lane than the lowest leads.  A piece of a launch's array has no head:
 * its first record is a CLOCK.  A kernel's pieces have one size, and lie at multiples of it.
 *
 * Who takes a piece draws a ticket: where the piece would lie if the region had no end.  If it has an end before that,
 * he asks for a piece that was emptied: in the queue's entry of the ticket, when it is his turn there.  Whoever empties
 * pieces (log/drain.c) answers in the order of tickets.  Who is answered clears the piece.
 */
#ifndef EVENT_REGION_H
#define EVENT_REGION_H

#include "event/event.h"

enum { REGION_PIECE_MAX = 256, REGION_BLOCK = 4 /* of a block; units */, REGION_LAUNCH = 32 /* bytes */ };
enum { REGION_QUEUE = 256, REGION_PLACES = 4 /* where they are; units */, REGION_PLACES_MOST = 64 };

/* Where the kernel's variables of shared memory lie, which is the same in all of its blocks: written by the first thread of
 * block 0.  n: so many, and one; 0: nobody has written it; dynamic: bytes of the launch's dynamic shared memory.  Behind it
 * pairs of a variable's number and its offset. */
struct region_places { uint32_t n, dynamic; struct { uint32_t variable, at; } place[REGION_PLACES_MOST]; };

/* The region's head.  next: the next ticket, a multiple of REGION_PIECE_MAX at first.  The last piece begins at `last`;
 * the one behind that takes what is lost, and is not read.  cut: nobody empties pieces, and those that are asked for
 * are lost: so many, and the first one at `since`, of %globaltimer, or later (UINT64_MAX at first). */
struct region_head { uint32_t next, last, lost, cut; uint64_t since, spare; };
#define REGION_OVER 0x80000000u         /* what `next` stays at, about, when pieces are lost */

/* The parameter.  heads, slots: where the two arrays are; slots are at multiples of their size; last: as in the head;
 * queue: how many entries it has, less one; a power of two is more by one.  magic: EVENT_MAGIC; any other means that
 * nobody watches the launch (a kernel launches it, say, and does not know of the parameter), and that the rest may be
 * anything: it logs into a variable of its module of REGION_SINK units, a region that is full from the start. */
struct region_launch { uint64_t region; uint32_t heads, slots, launch, last, queue, magic; };
enum { REGION_SINK = 3 * REGION_PIECE_MAX, REGION_SINK_LAST = REGION_PIECE_MAX };

/* An entry of the queue, of the ticket / units of a piece.  `ticket`: whose turn it is there.  piece: 0 if he has not
 * asked; he has: the last unit of his piece before, as region_piece.behind; answered: where the new one lies, and
 * REGION_GIVEN.  Then he leaves the entry to the ticket that is one round behind his. */
struct region_entry { uint32_t ticket, piece; };
#define REGION_GIVEN 0x80000000u

/* What a lane keeps across calls, in a table by %smid * 64 + %warpid, and lane; behind the region's head, at
 * REGION_LAUNCH, is a copy of the launch's parameter, for functions that are called, and for who asks for a piece. */
struct region_lane { uint64_t region; uint32_t stored, tried; };
enum { REGION_WARPS = 64 };    /* of a multiprocessor */

/* What EVENT_TENSOR_HASH is for a map that is a launch's parameter of that number. */
#define REGION_MAP(launch, param) ((uint64_t)(2 * (param) + 1) << 32 | (launch))

/* A block's head.  place: rank in the cluster, and blocks of that << 16; piece: units of a piece of this
 * kernel. */
struct region_block {
	uint32_t magic, launch, block, first;   /* event_piece has the same ones */
	uint32_t place, sm, threads, shared;    /* shared: bytes */
	uint64_t window, clock, timer, piece;
};

/* The head of a piece behind the launch's.  behind: the last unit of the leader's piece before it, which is full; of the
 * first piece of another leader than lane 0, the unit before the warp's piece among the launch's. */
struct region_piece { uint32_t magic, behind, leader, ticket; uint64_t clock, timer; };

EVENT_ASSERT(sizeof(struct region_block) == 16 * REGION_BLOCK);
EVENT_ASSERT(sizeof(struct region_piece) == 32 && sizeof(struct region_launch) == 32 && sizeof(struct region_head) == REGION_LAUNCH);
EVENT_ASSERT(sizeof(struct region_entry) == 8);
EVENT_ASSERT(16 * REGION_PLACES + sizeof(struct region_places) <= 16 * REGION_QUEUE && 16 * REGION_PLACES == 2 * REGION_LAUNCH);

#endif
