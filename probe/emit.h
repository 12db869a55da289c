/* SPDX-License-Identifier: Apache-2.0
 *
 * emit.h: the text of probes.
 */
#ifndef PROBE_EMIT_H
#define PROBE_EMIT_H

#include "probe/probe.h"

/* Text in the making, in one function; registers are %__gsan_ and one of these names:
 *   base         the region
 *   p            number of the last unit that the lane stored as a leader, or of the last one of a piece
 *   row          lanes of the same row (probe/flow.h)
 *   m            lanes of the group
 *   leader       it stores what all have in common
 *   k, kl        where the group's records lie; the lane's own words in a record
 *   each, own    bytes of a narrow record; of those, what lanes below have of its addresses
 *   line         the lanes' addresses are one step apart, which is in a
 *   c, t; c0, t0 low words of clock and timer; those from before an instruction
 *   gc, gt       the same from when the group's lanes were together
 *   tried        the site of a wait that has been in vain since the last that was not; 0
 *   first, head  of modules that are linked: the number of the first site, << 12; a record's first word.  Where that is
 *                made by a function: of its site, less one
 *   polled       the site of a poll that the lane has logged last; 0: another record came behind it, or none has
 *                (emit_poll, as pm, pk, sk)
 *   v, x         64-bit operands and what is made of them; a, b: 32-bit ones
 *   w, y         operands of a read-modify-write, from before it
 *   lo, hi, n    whatever
 */
struct emit {
	struct ptx_buf out;
	unsigned labels;
	unsigned piece;                 /* units of this function's pieces: a power of two */
	bool clusters;                  /* there may be some */
	bool called;                    /* it is no entry */
	bool rows;                      /* all lanes of a warp are of one row */
	bool polls;                     /* there are polls in the function */
	bool untimed;                   /* gc and gt are not read yet, though the lanes are a group */
	char number[16];                /* as text */
	const char *unit;               /* of modules that are linked; NULL */
	struct outside *outside;        /* what records are made by, where that is called (outside.h); NULL: it stands here */
	bool given;                     /* it is such a function: of site 1, to whose number `first` is added */
	unsigned most;                  /* units that a record with room of its own may take */
	unsigned ahead;                 /* units that the next record looks for room for, with those behind it; 0: its own */
	bool sure;                      /* one before it has done that */
	unsigned room;                  /* units that the group took last, which lie in front of what p says; */
	bool running;                   /* or from k on, which moves on by what EACHs take */
	const struct emit_variable *variable;   /* of shared memory, whose places the kernel tells */
	uint32_t nvariables;
};
struct emit_variable { const char *name; uint32_t number; };

/* A line: an instruction without its semicolon. */
void emit(struct emit *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void emit_label(struct emit *, unsigned label);

/* v (or another 64-bit register) = the operand, as so many bits; false: it cannot be had. */
bool emit_value(struct emit *, const char *to, const struct ptx_operand *, unsigned bits);
/* v = the address, as the instruction has it. */
bool emit_address(struct emit *, const struct ptx_operand *);
/* x = which tensor map lies at v: that of a parameter, by its number, or any (-1). */
void emit_map(struct emit *, int param);
/* Jumps there if v is a generic address of private memory; behind an instruction: if it was, in front of that. */
void emit_skip_private(struct emit *, unsigned label, bool behind);
/* Jumps there from that lane on. */
void emit_skip_lanes(struct emit *, unsigned lane, unsigned label);

/* The registers, and what they hold at first; the block's head; CLOCK and BEGIN of the first groups. */
void emit_start(struct emit *, uint32_t begin);

/* The registers alone; leader, by m; a new piece for the lane that is here (refill.ptx). */
void emit_registers(struct emit *);
void emit_leader(struct emit *);
void emit_piece(struct emit *);

/* The same at a function's start; what a lane keeps, into the table of lanes and back. */
void emit_called(struct emit *);
void emit_save(struct emit *);
void emit_load(struct emit *);

/* The lanes that are together here become a group.  Its first record has to be a CLOCK. */
void emit_regroup(struct emit *);
/* The same, of those that have the same in that register. */
void emit_regroup_by(struct emit *, const char *reg);
/* A mask of lanes, which has the lane's own bit, with that put in: ptxas does not take it then that all that are there have
 * the same mask.  Groups that came apart may meet (doc/hardware.md 12).  Under the guard of that instruction, if any. */
void emit_mask_of_lane(struct emit *, const struct ptx_inst *, const char *mask);
/* Each lane that is here becomes a group. */
void emit_alone(struct emit *);
/* Room for so many units and narrow records with an address for each lane.  Records lie `at` units behind its start. */
void emit_room(struct emit *, unsigned units, unsigned each);

/* Clocks: of a release, in front of it; of an acquire, behind it. */
void emit_clocks(struct emit *, bool behind);
void emit_clock_record(struct emit *, unsigned at);

/* A record: `words` 64-bit words for each lane, behind its address if the form has one; or once, with one address for
 * all. */
struct emit_record { enum event_kind kind; uint32_t site; unsigned words; bool once; };

/* One of 16 bytes, without words: clocks are in c, t; operands A and B in a and b. */
void emit_short(struct emit *, const struct emit_record *, unsigned at);
/* One of 32 bytes: A and B are 0, and its words, once, w and v. */
void emit_once(struct emit *, const struct emit_record *, unsigned at);
/* One of 16 bytes with the address for all, which is the operand's without its offset. */
bool emit_line(struct emit *, const struct emit_record *, const struct ptx_operand *, int64_t step, unsigned at);
/* One with words: room for it and, if that is `first` in its group, a CLOCK; what does not depend on operands. */
void emit_reserve(struct emit *, const struct emit_record *, bool first);
/* Polls: strong reads in loops.  One that finds what the one before it has found, where nothing else was logged since, is
 * told by that one's record.  That has to be there before its instruction, though: so there are two of them, the first
 * one for all polls but the last, and the last one's, which gives its place to the next.
 * In front of one: as emit_reserve(); behind it, when all of its record is there; `full`: `same` says whether a
 * read-modify-write has left the word as it was. */
void emit_poll(struct emit *, const struct emit_record *, bool first);
void emit_poll_end(struct emit *, const struct emit_record *, bool full);
/* A narrow one with an address for each lane, which is the operand's without its offset. */
bool emit_each(struct emit *, const struct emit_record *, const struct ptx_operand *, unsigned at);
/* One with an address v for each lane, or of 16 bytes where those lie in a row, that many bytes apart, or are the
 * same. */
void emit_addresses(struct emit *, const struct emit_record *, unsigned step, bool first);
/* Stores v as the lane's address, or as its n-th word; or the leader's for all. */
void emit_put_address(struct emit *, const struct emit_record *);
void emit_put_word(struct emit *, const struct emit_record *, unsigned n);
/* The clocks behind, c and t, in a record that has them. */
void emit_put_behind(struct emit *, const struct emit_record *);

#endif
