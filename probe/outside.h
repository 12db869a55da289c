/* SPDX-License-Identifier: Apache-2.0
 *
 * outside.h: probes whose text is in functions that are called, one for all records of a shape.
 *
 * Inline text is fast, and ptxas takes more than twice the time for twice the text (doc/performance.md).  In a function that
 * looks for room often a call stands where the text of a record would, or of a new piece.  What these functions are made
 * of is what stands inline elsewhere (emit.c).
 */
#ifndef PROBE_OUTSIDE_H
#define PROBE_OUTSIDE_H

#include "probe/emit.h"
#include "probe/plan.h"

#define OUTSIDE_INLINE_MOST 50

struct outside;

/* Of a module, without functions; in the arena. */
struct outside *outside_new(struct ptx_arena *);
/* Does a function look for room more often than that, and may it call functions? */
bool outside_wanted(const struct plan *, uint32_t most);
/* All functions that were called since; in the arena. */
const char *outside_text(const struct outside *);

/* As the functions of these names in emit.h, outside_refill() as emit_piece(): a call.  What makes a group's first record
 * reads the group's clocks. */
void outside_refill(struct emit *);
void outside_reserve(struct emit *, const struct emit_record *, bool first);
void outside_addresses(struct emit *, const struct emit_record *, unsigned step, bool first);
void outside_poll(struct emit *, const struct emit_record *, bool first);
void outside_poll_end(struct emit *, const struct emit_record *, bool full);

#endif
