/* SPDX-License-Identifier: Apache-2.0
 *
 * join.c: where the lanes of an `if` come together again.  ptxas sees to that, but
 * not where there are calls on the way, and lanes that stay apart cost everything
 * behind it twice.  So a branch notes which lanes come to it, and those wait for each
 * other where both its ways end, if all of them are sure to get there: the ways lead
 * forward, and nothing on them ends the thread, waits for others or calls a function
 * of the program.
 */
#include <limits.h>

#include "rewrite/rw.h"

/* The block that a branch leads to; -1: not one that is known. */
static int target(const struct rw_block *b)
{
	const struct ptx_inst *in = &b->last->inst;

	if (in->id != INST_BRA || in->nops != 1 || in->ops[0].kind != OP_SYM ||
	    in->ops[0].sym->kind != SYM_LABEL)
		return -1;
	return (int)(uintptr_t)in->ops[0].sym->user;
}

static bool branches(const struct rw_block *b)
{
	return b->last->kind == STMT_INST && b->last->inst.id == INST_BRA;
}

/* Does every lane that begins it get to its end, whatever others do? */
static bool passes_through(const struct rw_block *b)
{
	if (b->waits)
		return false;
	if (b->last->kind == STMT_INST)
		switch (b->last->inst.id) {
		case INST_BRX_IDX:
		case INST_RET:
		case INST_EXIT:
		case INST_TRAP:
			return false;
		default:
			break;
		}
	for (unsigned i = 0; i < b->nevents; i++)
		switch ((enum rw_what)b->events[i].what) {
		case WHAT_BARRIER:
		case WHAT_WARP_SYNC:
		case WHAT_UNMODELLED:
		case WHAT_LEAVE:
			return false;
		default:
			break;
		}
	return true;
}

static bool calls(const struct rw_block *b)
{
	for (unsigned i = 0; i < b->nevents; i++)
		if (!b->events[i].rule)
			return true;
	return false;
}

/* The first and the last block from which one branches to a block. */
struct sources { unsigned first, last; };

/* Where the ways of the branch that ends block `i` meet; 0 if they need no help, or
 * may not meet. */
static unsigned join_of(const struct rw_func *rf, const struct sources *from, unsigned i)
{
	const struct rw_block *b = &rf->blocks[i];
	int to = branches(b) && b->last->inst.guarded ? target(b) : -1;
	unsigned end = to > (int)i ? (unsigned)to : 0;
	bool any = false;

	for (unsigned k = i + 1; k < end; k++) {
		const struct rw_block *x = &rf->blocks[k];

		if (!passes_through(x))
			return 0;
		any |= calls(x);
		if (!branches(x))
			continue;
		to = target(x);
		if (to <= (int)k)
			return 0;
		end = (unsigned)to > end ? (unsigned)to : end;
	}
	/* Whoever comes to the join came by the branch. */
	for (unsigned k = i + 1; k <= end; k++)
		if (from[k].first < i || (from[k].last >= end && from[k].last != UINT_MAX))
			return 0;
	return any ? end : 0;
}

static void joins_of(struct rw *r, struct rw_func *rf)
{
	struct sources *from = ptx_alloc(r->m->arena, (rf->nblocks + 1) * sizeof *from);

	for (unsigned i = 0; i <= rf->nblocks; i++)
		from[i] = (struct sources){ UINT_MAX, UINT_MAX };
	for (unsigned i = 0; i < rf->nblocks; i++) {
		const struct rw_block *b = &rf->blocks[i];
		int to;

		if (b->last->kind == STMT_INST && b->last->inst.id == INST_BRX_IDX)
			return;
		if (!branches(b))
			continue;
		to = target(b);
		if (to < 0)
			return;
		if (from[to].first == UINT_MAX)
			from[to].first = i;
		from[to].last = i;
	}
	rf->joins = ptx_alloc(r->m->arena, rf->nblocks * sizeof *rf->joins);
	for (unsigned i = 0; i + 1 < rf->nblocks; ) {
		unsigned end = join_of(rf, from, i);

		if (end)
			rf->joins[rf->njoins++] = (struct rw_join){ rf->blocks[i].last, rf->blocks[end].first };
		i = end ? end : i + 1;
	}
}

void rw_join(struct rw *r)
{
	for (unsigned i = 0; i < r->nfuncs; i++)
		if (r->funcs[i]->watched && r->funcs[i]->nevents && r->funcs[i]->nblocks > 2)
			joins_of(r, r->funcs[i]);
}
