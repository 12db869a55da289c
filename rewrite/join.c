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

/* What the search needs of a block; of most it is asked often. */
struct step {
	unsigned first, last;   /* blocks from which one branches to it; UINT_MAX: none */
	unsigned stops;         /* the next from here on that not all pass through */
	unsigned calls;         /* how many before it have calls */
	int to;                 /* the block that it branches to; -1: not one that is known */
	bool branches;
};

/* Where the ways of the branch that ends block `i` meet; 0 if they need no help, or
 * may not meet. */
static unsigned join_of(const struct rw_func *rf, const struct step *s, unsigned i)
{
	unsigned end = s[i].branches && rf->blocks[i].last->inst.guarded && s[i].to > (int)i ? (unsigned)s[i].to : 0;

	if (s[i + 1].stops < end)
		return 0;
	for (unsigned k = i + 1; k < end; k++) {
		if (!s[k].branches)
			continue;
		if (s[k].to <= (int)k)
			return 0;
		if ((unsigned)s[k].to > end) {
			end = (unsigned)s[k].to;
			if (s[i + 1].stops < end)
				return 0;
		}
	}
	if (!end || s[end].calls == s[i + 1].calls)
		return 0;
	/* Whoever comes to the join came by the branch. */
	for (unsigned k = i + 1; k <= end; k++)
		if (s[k].first < i || (s[k].last >= end && s[k].last != UINT_MAX))
			return 0;
	return end;
}

/* False: it is not known where all branches lead. */
static bool steps_of(const struct rw_func *rf, struct step *s)
{
	unsigned n = rf->nblocks, calling = 0;

	for (unsigned i = 0; i <= n; i++)
		s[i] = (struct step){ .first = UINT_MAX, .last = UINT_MAX, .to = -1 };
	for (unsigned i = 0; i < n; i++) {
		const struct rw_block *b = &rf->blocks[i];

		s[i].calls = calling;
		calling += calls(b);
		if (b->last->kind == STMT_INST && b->last->inst.id == INST_BRX_IDX)
			return false;
		s[i].branches = branches(b);
		if (!s[i].branches)
			continue;
		s[i].to = target(b);
		if (s[i].to < 0)
			return false;
		if (s[s[i].to].first == UINT_MAX)
			s[s[i].to].first = i;
		s[s[i].to].last = i;
	}
	s[n].calls = calling;
	s[n].stops = n;
	for (unsigned i = n; i-- > 0; )
		s[i].stops = passes_through(&rf->blocks[i]) ? s[i + 1].stops : i;
	return true;
}

static void joins_of(struct rw *r, struct rw_func *rf)
{
	struct step *s = ptx_alloc(r->m->arena, (rf->nblocks + 1) * sizeof *s);

	if (!steps_of(rf, s))
		return;
	rf->joins = ptx_alloc(r->m->arena, rf->nblocks * sizeof *rf->joins);
	for (unsigned i = 0; i + 1 < rf->nblocks; ) {
		unsigned end = join_of(rf, s, i);

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
