/* SPDX-License-Identifier: Apache-2.0
 *
 * events_impl.h: the parts of the emulated device's log.
 *
 *   events.c        who listens; launches, blocks
 *   events_site.c   the sites of a module
 *   events_tell.c   from what is told (listen.h) to records
 *   events_async.c  likewise, of asynchronous operations and tensor memory
 *   events_log.c    records into pieces, with clocks
 */
#ifndef EMU_EVENTS_IMPL_H
#define EMU_EVENTS_IMPL_H

#include "emu/events.h"
#include "emu/listen.h"

/* ---- events_log.c ------------------------------------------------------------------------ */

struct evt_launch { uint32_t number; bool early; };

struct evt_stream;
struct evt_warp {
	struct evt_stream *stream[EMU_LANES];   /* by leader; NULL until it logs */
	bool begun;
	uint64_t last;                          /* the latest clock that was read in it */
};

struct evt_block {
	struct evt_block *next;
	struct emu_block *b;
	uint32_t launch, number, first;         /* first: block of its cluster */
	unsigned nwarps;
	struct evt_warp warp[];
};

/* Time goes on; true: here is a good place for a cut. */
bool evt_tick(void);
void evt_clocks(enum emu_events_clocks, unsigned long long seed);
/* Appends the record, of lanes that `together` executes, and sets its clocks; `behind`: the end of
 * the instruction is seen as well.  The site is NULL of what is no instruction. */
void evt_put(struct emu_warp *, uint32_t together, struct event_put *, const struct event_site *, bool behind);
/* What has been put goes to the sink, and the streams are gone. */
void evt_block_flush(struct evt_block *);
void evt_block_free(struct evt_block *);

/* ---- events.c ------------------------------------------------------------------------------ */

extern const struct emu_events_sink *evt_sink;
void evt_piece(const struct event_piece *);
struct evt_block *evt_block_of(const struct emu_block *);       /* NULL: nobody hears of it */
void *evt_alloc(size_t bytes);                                  /* zeroed */

/* ---- events_site.c --------------------------------------------------------------------------- */

void evt_load(struct emu_func *, unsigned slot);
void evt_unload(struct emu_func *, unsigned slot);
/* NULL: the instruction is no event.  *number: of its module's sites. */
const struct event_site *evt_site(const struct emu_op *, unsigned slot, uint32_t *number);
void evt_tell_sites(const struct emu_func *, unsigned slot);
/* Where the variables of shared memory of a launch lie. */
void evt_tell_places(const struct emu_grid *, uint32_t launch, unsigned slot);
/* What memory the launch has. */
void evt_tell_memory(const struct emu_grid *, uint32_t launch);
extern unsigned evt_slot;

/* ---- events_tell.c, events_async.c -------------------------------------------------------------- */

/* A record under way: of the tell's instruction, whose lanes may be of several groups. */
struct evt_record {
	const struct emu_tell *t;
	const struct event_site *site;
	struct event_put put;
	bool behind;                    /* the end of the instruction is seen */
};
void evt_tell(const struct emu_tell *);
void evt_async(struct evt_record *);
/* Puts the record for these lanes, group by group. */
void evt_put_lanes(struct evt_record *, uint32_t lanes);
/* An address as events have it; false: memory of the thread's own. */
bool evt_address(const struct emu_block *, enum emu_base, uint64_t a, uint64_t *to);

#endif
