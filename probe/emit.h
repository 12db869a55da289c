/* SPDX-License-Identifier: Apache-2.0
 *
 * emit.h: the text of probes, for probe.c.
 */
#ifndef PROBE_EMIT_H
#define PROBE_EMIT_H

#include "probe/probe.h"

/* Text in the making, in one function; registers are %__gsan_ and one of these names:
 *   p            the lane's next record as a leader; a piece ends at a multiple of PROBE_PIECE
 *   last         lanes of the last record that it took part in
 *   lt           lanes below it
 *   m            lanes of the record in the making
 *   k, kl        that record; the lane's own words in it
 *   leader       it stores what all have in common
 *   line         the lanes' addresses are one step apart, which is in a
 *   c, t; c0, t0 low words of clock and timer; those from before an instruction
 *   tried        the site of a wait that has been in vain since the last that was not; 0
 *   v, x         64-bit operands and what is made of them; a, b: 32-bit ones
 *   w, y         operands of a read-modify-write, from before it
 */
struct emit { struct ptx_buf out; unsigned labels; };

/* A line: an instruction without its semicolon. */
void emit(struct emit *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void emit_label(struct emit *, unsigned label);

/* v (or another 64-bit register) = the operand, as so many bits; false: it cannot be had. */
bool emit_value(struct emit *, const char *to, const struct ptx_operand *, unsigned bits);
/* v = the address, as the instruction has it. */
bool emit_address(struct emit *, const struct ptx_operand *);
/* Jumps there if v is a generic address of private memory; behind an instruction: if it was, in front of that. */
void emit_skip_private(struct emit *, unsigned label, bool behind);
/* Jumps there from that lane on. */
void emit_skip_lanes(struct emit *, unsigned lane, unsigned label);

/* A record: `words` 64-bit words for each lane, behind its address if the form has one. */
struct emit_record { enum event_kind kind; uint32_t site; unsigned words; };

/* The registers, and what they hold at first. */
void emit_registers(struct emit *);
void emit_start(struct emit *);
/* Clocks: of a release, in front of it; of an acquire, behind it. */
void emit_clocks(struct emit *, bool behind);
/* Takes room for it and stores what does not depend on operands; clocks are in c, t.  Of forms with A
 * and B those are in a and b. */
void emit_reserve(struct emit *, const struct emit_record *);
/* The same, and the addresses, v, of a record without words: one for all where they lie in a row, that many
 * bytes apart, or are the same. */
void emit_addresses(struct emit *, const struct emit_record *, unsigned step);
/* Stores v as the lane's address, or as its n-th word. */
void emit_put_address(struct emit *, const struct emit_record *);
void emit_put_word(struct emit *, const struct emit_record *, unsigned n);
/* The clocks behind, c and t, in a record that has them. */
void emit_put_behind(struct emit *, const struct emit_record *);

#endif
