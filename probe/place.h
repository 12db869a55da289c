/* SPDX-License-Identifier: Apache-2.0
 *
 * place.h: an instruction and the text of its records, before it and behind it.
 *
 *   probe.c    which records an instruction makes, and in whose room
 *   place.c    what all of them are made of
 *   access.c   accesses
 *   sync.c     fences, barriers, mbarriers
 *   async.c    copies, tensor maps, products
 *   tensor.c   tensor memory
 */
#ifndef PROBE_PLACE_H
#define PROBE_PLACE_H

#include "probe/module.h"

struct place {
	struct module *to;
	struct ptx_func *f;
	struct ptx_stmt *stmt;
	const struct plan *plan;
	const struct plan_item *item;
	uint32_t at;                    /* of it in the plan */
	const struct event_site *site;
	const struct flow *flow;
	uint32_t number;                /* of the site */
	bool group;                     /* the lanes that are at a record have to become a group */
	bool ok;                        /* so far all operands could be had */
	bool guarded;                   /* a copy of its guard is there */
	bool open;                      /* the record that place_open() began lacks its address, which is operand open_at */
	struct emit_record opened;
	unsigned open_at;
};

/* NULL: it has not so many. */
const struct ptx_operand *place_operand(const struct place *, unsigned n);
/* What was emitted, for lanes that carry the instruction out: in front of it, or behind. */
void place_insert(struct place *, bool behind);
/* v = an operand, as so many bits; an address; a register of 32 bits = an operand. */
void place_value(struct place *, unsigned n, unsigned bits);
void place_address(struct place *, unsigned n);
void place_number(struct place *, const char *to, unsigned n, unsigned bits);
/* v = two of 32 bits in a word, low | high << 32; of one that is NULL 0. */
void place_pair(struct place *, const struct ptx_operand *low, const struct ptx_operand *high);
struct emit_record place_record(const struct place *, enum event_kind, unsigned words);
void place_put_address(struct place *, const struct emit_record *, unsigned n);
/* In front of a record with room of its own: is it the first one of its group? */
bool place_group(struct place *);
void place_reserve(struct place *, const struct emit_record *);
/* A record in room of its own, with the address that operand n is, and its clocks, if any.  The address is stored last of what
 * comes in front of the instruction: a record without one is not whole (log/region.h). */
struct emit_record place_open(struct place *, enum event_kind, unsigned words, unsigned n);
/* As place_reserve(), of a record of each lane alone: with operands of its own also where a record has those of all. */
void place_alone(struct place *, struct emit_record *);
/* A record of 16 bytes without words, maybe of several of its instruction: in room that is shared, or in its own. */
void place_part(struct place *, const struct emit_record *, unsigned at);
/* All of an instruction that makes one of these, of which what it has is in a and b, or c and t; returns place.ok. */
bool place_short(struct place *, enum event_kind, bool behind);
/* A site for all that the record tells: itself, or a run. */
uint32_t place_site(struct module *, const struct plan *, uint32_t at);

/* The records of an instruction.  False: not all of them can be had. */
bool probe_line(struct place *);
bool probe_access(struct place *);
bool probe_strong(struct place *);
bool probe_before(struct place *);
bool probe_behind(struct place *);
bool probe_barrier(struct place *);
bool probe_warp_barrier(struct place *);
bool probe_arrive(struct place *);
bool probe_mbarrier(struct place *);
bool probe_mbarrier_wait(struct place *);
bool probe_call(struct place *);
bool probe_wait_group(struct place *);
bool probe_tensor_copy(struct place *);
bool probe_wgmma(struct place *);
bool probe_bulk_copy(struct place *);
bool probe_cp_async(struct place *);
bool probe_async_store(struct place *);
bool probe_map_edit(struct place *);
bool probe_map_copy(struct place *);
bool probe_map_fence(struct place *);
bool probe_tensor_access(struct place *);
bool probe_tensor_free(struct place *);
bool probe_tensor_alloc(struct place *);
bool probe_tensor_commit(struct place *);
bool probe_tensor_cp(struct place *);
bool probe_tensor_product(struct place *);

/* A reduction becomes an atom, whose result says which of its word's values it met. */
void probe_as_atom(struct place *);

#endif
