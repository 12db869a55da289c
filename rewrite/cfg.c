/* SPDX-License-Identifier: Apache-2.0
 *
 * cfg.c: cuts every function body into basic blocks.  Two questions are asked of
 * them: what happened since the block's top (elide.c), and whether control can
 * run off the end of an entry's body (insert.c).  As the first pass that sees all
 * statements, it lists those that later ones look for.
 */
#include <string.h>

#include "rewrite/rw.h"

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

void rw_list_add(struct rw *r, struct rw_list *l, struct ptx_stmt *s)
{
	if (l->n == l->cap) {
		struct ptx_stmt **more;

		l->cap = l->cap ? l->cap * 4 : 64;
		more = ptx_alloc(r->m->arena, l->cap * sizeof *more);
		if (l->n)
			memcpy(more, l->p, l->n * sizeof *more);
		l->p = more;
	}
	l->p[l->n++] = s;
}

static void add_var(struct rw *r, struct ptx_stmt *s)
{
	if (s->var->sym->space == SPACE_SHARED || s->var->sym->space == SPACE_GLOBAL)
		rw_list_add(r, &r->vars, s);
}

/* Does the runtime put off going through what it copies? */
static bool posts(unsigned id)
{
	switch (id) {
	case INST_CP_ASYNC_BULK:
	case INST_CP_ASYNC_BULK_TENSOR:
	case INST_CP_REDUCE_ASYNC_BULK:
	case INST_CP_REDUCE_ASYNC_BULK_TENSOR:
		return true;
	default:
		return false;
	}
}

/* May it use the shared memory of a block that has ended? */
static bool outlives(unsigned id)
{
	return posts(id) || id == INST_MAPA || id == INST_ST_ASYNC || id == INST_RED_ASYNC;
}

/* Are parts of a matrix in registers of a warp's threads? */
static bool holds_tile(unsigned id)
{
	switch (id) {
	case INST_WMMA_MMA:
	case INST_MMA:
	case INST_MMA_SP:
	case INST_WGMMA_MMA_ASYNC:
	case INST_WGMMA_MMA_ASYNC_SP:
	case INST_TCGEN05_LD:
	case INST_TCGEN05_LD_RED:
	case INST_TCGEN05_ST:
		return true;
	default:
		return false;
	}
}

/* What its modifiers say: may threads synchronise by it without a fence, or wait for
 * each other? */
static void look_at_mods(struct rw *r, struct rw_block *b, const struct ptx_inst *in)
{
	for (unsigned i = 0; i < in->nmods; i++)
		switch (in->mod[i]) {
		case MOD_RELAXED:
		case MOD_VOLATILE:
			r->loose = true;
			break;
		case MOD_SYNC:
			b->waits = true;
			break;
		default:
			break;
		}
}

/* One walk over the statements; they are spread over memory, so that every walk
 * costs.  What later passes look for is put on lists on the way. */
static void cut(struct rw *r, struct rw_func *rf)
{
	struct rw_block *b = NULL;
	unsigned cap = 0;
	bool reached = true;

	rf->posts = rf->outlives = !rf->f->entry;
	for (struct ptx_stmt *s = rf->f->body; s; s = s->next) {
		if (s->kind == STMT_LABEL)
			reached = true;
		if (!b || s->kind == STMT_LABEL) {
			b = new_block(r, rf, &cap);
			b->first = s;
			if (s->kind == STMT_LABEL)
				s->sym->user = (void *)(uintptr_t)(rf->nblocks - 1);
		}
		b->last = s;
		b->falls = reached;
		if (s->kind == STMT_VAR)
			add_var(r, s);
		if (s->kind == STMT_LOC && !rf->first_loc && s->loc && !s->loc->inlined_at && s->loc->line)
			rf->first_loc = s->loc;
		if (s->kind != STMT_INST)
			continue;
		if (rw_is_bits(&s->inst))
			rw_list_add(r, &rf->bits, s);
		if (s->inst.id == INST_ACTIVEMASK)
			rw_list_add(r, &rf->masks, s);
		r->peers |= s->inst.id == INST_MAPA;
		r->posts |= posts(s->inst.id);
		r->outlives |= outlives(s->inst.id);
		/* Who calls may come to what another function has. */
		rf->posts |= posts(s->inst.id) || s->inst.id == INST_CALL;
		rf->outlives |= outlives(s->inst.id) || s->inst.id == INST_CALL;
		r->loose |= ptx_insts[s->inst.id].access == ACCESS_ATOM ||
			ptx_insts[s->inst.id].access == ACCESS_RED;
		look_at_mods(r, b, &s->inst);
		rf->has_setmaxnreg |= s->inst.id == INST_SETMAXNREG;
		rf->tiles |= holds_tile(s->inst.id);
		b->waits |= s->inst.id == INST_CALL;
		if (ptx_insts[s->inst.id].model != MODEL_PLAIN || s->inst.id == INST_UNKNOWN ||
		    s->inst.id == INST_EXIT || s->inst.id == INST_RET)
			rw_list_add(r, &rf->candidates, s);
		if (ptx_leaves(&s->inst)) {
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

		if (s->kind == STMT_VAR)
			add_var(r, s);
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
