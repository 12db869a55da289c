/* SPDX-License-Identifier: Apache-2.0
 *
 * cfg.c: cuts every function body into basic blocks.  Two questions are asked of
 * them: what happened since the block's top (elide.c), and whether control can
 * run off the end of an entry's body (insert.c).
 */
#include <string.h>

#include "rewrite/rw.h"

/* Does control never reach the statement behind this one, if it has no guard? */
static bool ends_block(const struct ptx_inst *in)
{
	switch (in->id) {
	case INST_BRA:
	case INST_BRX_IDX:
	case INST_RET:
	case INST_EXIT:
	case INST_TRAP:
		return true;
	default:
		return false;
	}
}

static struct rw_block *new_block(struct rw *r, struct rw_func *rf, unsigned *cap)
{
	if (rf->nblocks == *cap) {
		struct rw_block *more;

		*cap = *cap ? *cap * 4 : 16;
		more = ptx_alloc(r->m->arena, *cap * sizeof *more);
		if (rf->nblocks)
			memcpy(more, rf->blocks, rf->nblocks * sizeof *more);
		rf->blocks = more;
	}
	return &rf->blocks[rf->nblocks++];
}

/* One walk over the statements; they are spread over memory, so that every walk
 * costs.  Counts what class.c may find on the way. */
static void cut(struct rw *r, struct rw_func *rf)
{
	struct rw_block *b = NULL;
	unsigned cap = 0;
	bool reached = true;

	for (struct ptx_stmt *s = rf->f->body; s; s = s->next) {
		if (s->kind == STMT_LABEL)
			reached = true;
		if (!b || s->kind == STMT_LABEL) {
			b = new_block(r, rf, &cap);
			b->first = s;
		}
		b->last = s;
		b->falls = reached;
		if (s->kind != STMT_INST)
			continue;
		rf->max_events += ptx_insts[s->inst.id].model != MODEL_PLAIN ||
			s->inst.id == INST_UNKNOWN;
		if (ends_block(&s->inst)) {
			rf->max_events++;
			b->falls = reached = reached && s->inst.guarded;
			b = NULL;
		}
	}
}

void rw_cfg(struct rw *r)
{
	struct ptx_stmt *s;
	unsigned n = 0;

	for (s = r->m->first; s; s = s->next)
		n += s->kind == STMT_FUNC && s->func->has_body;
	r->funcs = ptx_alloc(r->m->arena, (n + 1) * sizeof *r->funcs);
	for (s = r->m->first; s; s = s->next) {
		struct rw_func *rf;

		if (s->kind != STMT_FUNC || !s->func->has_body)
			continue;
		rf = ptx_alloc(r->m->arena, sizeof *rf);
		rf->f = s->func;
		s->func->user = rf;
		r->funcs[r->nfuncs++] = rf;
		cut(r, rf);
	}
}

void rw_dump_cfg(const struct rw *r, FILE *out)
{
	for (unsigned i = 0; i < r->nfuncs; i++) {
		const struct rw_func *rf = r->funcs[i];

		fprintf(out, "%s %s\n", rf->f->entry ? "entry" : "func", rf->f->name);
		for (unsigned b = 0; b < rf->nblocks; b++)
			fprintf(out, "\tblock %u: lines %u to %u%s\n", b,
				rf->blocks[b].first->line, rf->blocks[b].last->line,
				rf->blocks[b].falls ? ", falls through" : "");
	}
}
