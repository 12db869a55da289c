/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h: what a function logs, before a text is written: which instructions are events, which of them share a
 * record, which records share a check for room, and where lanes become a group.
 */
#ifndef PROBE_PLAN_H
#define PROBE_PLAN_H

#include "probe/flow.h"
#include "probe/site.h"

/* LINE: a plain access, of which 16 bytes tell all lanes' addresses.  EACH: one with an address of 32 bits for each
 * lane.  MEMBER: an access or a product that another one's record tells, too.  SHORT: one or two units that the leader
 * stores.  OTHER: a record with room of its own, maybe of some lanes alone.  CALL: what is called logs for itself. */
enum plan_kind { PLAN_LINE, PLAN_EACH, PLAN_MEMBER, PLAN_SHORT, PLAN_OTHER, PLAN_CALL };

struct plan_item {
	struct ptx_stmt *stmt;
	struct event_site site;
	enum plan_kind kind;
	bool once;                      /* OTHER: all lanes have the same operands */
	bool poll;                      /* OTHER: a strong read in a loop */
	bool stored;                    /* OTHER: a digest of what it stores is told as well */
	bool splits;                    /* its records are of some lanes of the group, or may be */
	bool first;                     /* LINE, EACH, SHORT: of those that share room; OTHER: always */
	bool group;                     /* its lanes have to become a group before it, */
	bool whole;                     /* of all lanes of the warp */
	uint32_t units;                 /* that it takes; OTHER: at most */
	uint32_t room, each;            /* of the first: units of all that share it, with a CLOCK, and EACHs among them, */
	uint32_t at;                    /* which are not counted here: units before it */
	uint32_t ahead;                 /* of the first: units, at most, of all for which it looks for room; 0: its own; */
	bool sure;                      /* or one before it has looked */
	uint32_t leader;                /* MEMBER: the one whose record tells it */
	int64_t step, offset;           /* LINE: from lane to lane; behind the LINE's or EACH's register */
	uint32_t root;                  /* LINE, EACH: its register is so much more than a value; */
	int64_t more;                   /* values have numbers */
	struct { uint32_t root; int64_t more; } descriptor[2];  /* the same of a product's */
	uint32_t block, members;        /* members: of a LINE or EACH, with itself */
};

struct plan {
	struct flow *flow;
	struct plan_item *item;
	uint32_t n, cap, piece;         /* piece: units */
	bool rows;                      /* all lanes of a warp are of one row */
	bool polls;                     /* there is one */
	bool calls;                     /* it calls what may log */
};

/* Of all functions of a module.  quiet: its strong accesses are reductions whose results nobody looks at, and there is no
 * fence: nobody can learn anything by them.  stored: weak stores tell a digest of what they store.  flat: they look at
 * %tid.x alone: what they do does not suit blocks in which a warp has several rows.  gather: lanes that come one by one to an
 * aligned barrier wait for each other before they log it, in a function without bar.warp.sync of its own, which they might meet. */
struct plan_facts { bool quiet, flat, stored, gather; };
struct plan_facts plan_facts(const struct ptx_module *);
struct plan *plan_of(struct ptx_arena *, const struct ptx_func *, struct plan_facts);
/* What is called: a function of the module; one of CUDA's of which nothing is to be told; what gives memory to others, or
 * gets what they gave; or what cannot be seen: it logs if probes were put into it. */
enum plan_callee { CALLEE_LOGS, CALLEE_SILENT, CALLEE_GIVES, CALLEE_GETS, CALLEE_UNSEEN };
enum plan_callee plan_callee(const struct ptx_inst *);
/* Where the address of an access is among its operands; -1: not in one. */
int plan_address(const struct ptx_inst *);
/* Of how many lanes the addresses count. */
unsigned plan_lanes(const struct plan_item *);

#endif
