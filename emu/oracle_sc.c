/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle_sc.c: fences of sequential consistency.  Of two that are morally strong one comes
 * before the other; which, is decided when they run, and only what was observed can tell.
 * The first comes before the second if it does so anyway, or if otherwise an access that the
 * second comes behind would be before one that comes behind the first, although they met at
 * one location the other way round.
 * (PTX ISA, Memory Consistency Model: Fence-SC Order, Axioms: Fence-SC, Coherence, Causality)
 *
 * What is carried is whom one has met: at a location, each strong access leaves what comes
 * before it, and takes what those before it in coherence order left (ORC_MET).  That goes
 * along every edge, until a fence finds in it the fences that it has to come behind.  The
 * emulated device carries out one access after another, so that their order is coherence
 * order, and a fence knows all that it will ever know when it has run: one pass is enough.
 *
 * Accesses that are strong but not morally strong are not told apart: unless something else
 * orders them, they race themselves.
 */
#include <stdlib.h>

#include "emu/oracle_impl.h"

#define EACH_LEAST(w) for (enum orc_world w = 0; w < ORC_WORLDS; w++) if (!ORC_IS_MOST(w))

/* ---- where accesses meet --------------------------------------------------------------- */

void orc_met_drop(struct orc_met *m)
{
	EACH_LEAST(w) {
		orc_drop(m->before[w]);
		orc_drop(m->readers[w]);
	}
	*m = (struct orc_met){{NULL}, {NULL}};
}

/* Who read what was there until now read before whatever comes. */
static void written(struct orc_met *m, enum orc_world w)
{
	orc_learn(&m->before[w], m->readers[w]);
	orc_drop(m->readers[w]);
	m->readers[w] = NULL;
}

void orc_met_written(struct orc_met *m)
{
	EACH_LEAST(w)
		written(m, w);
}

/* A read comes behind the write that it sees and what that came behind, and not behind
 * those who read the same. */
void orc_meet_at(struct orc_met *m, struct orc_thread *t, bool write)
{
	/* Until then nobody can come behind one. */
	if (!t->block->grid->fenced)
		return;
	EACH_LEAST(w) {
		struct orc_clock *mine = orc_keep(t->o[w].know.v[ORC_ALL]);

		/* A fence ends its epoch. */
		orc_raise(&mine, t->id, t->epoch - 1);
		if (write)
			written(m, w);
		orc_learn(&t->o[w].know.v[ORC_MET], m->before[w]);
		orc_learn(write ? &m->before[w] : &m->readers[w], mine);
		orc_drop(mine);
	}
}

/* ---- fences ------------------------------------------------------------------------------- */

struct orc_sc_fence {
	uint32_t epoch;
	struct orc_reach reach;
	struct orc_know know[ORC_WORLDS];
};

static struct orc_thread *thread_at(const struct orc_grid *g, uint64_t id)
{
	const struct orc_launch *l = g->launches;
	const struct orc_block *any = NULL;
	uint64_t n;

	if (id >= g->nthreads)          /* no thread */
		return NULL;
	while (id < l->first_thread)
		l = l->next;
	for (uint64_t i = l->first_block; !any; i++)
		any = g->block[i];
	id -= l->first_thread;
	n = id / any->nthreads;
	return &g->block[l->first_block + n]->thread[id % any->nthreads];
}

struct finding { struct orc_block *block; struct orc_order *o; struct orc_reach reach; enum orc_world w; };

/* One thread's fences until `epoch` have to come before.  What its last one knew, those
 * before it knew. */
static void come_behind(void *arg, uint64_t id, uint32_t epoch)
{
	const struct finding *f = arg;
	const struct orc_thread *t = thread_at(f->block->grid, id);
	unsigned i = t ? t->nsc : 0;

	while (i && t->sc[i - 1].epoch > epoch)
		i--;
	for (; i && t->sc[i - 1].epoch > orc_get(f->o->know.v[ORC_ALL], id); i--) {
		const struct orc_sc_fence *x = &t->sc[i - 1];

		/* Which of two runs first is mostly chance, so that no race is a matter of their
		 * scope. */
		if (!orc_meet(ORC_NARROW(f->w), &x->reach, &f->reach))
			continue;
		orc_know_learn(&f->o->know, &x->know[f->w], x->reach.block == f->reach.block);
		return;
	}
}

/* What one fence knows may name others, of scopes that did not reach it. */
void orc_sc_behind(struct orc_block *b, struct orc_thread *t, const struct orc_op *op, enum orc_world w)
{
	struct finding f = {b, &t->o[w], orc_reach_of(b, op->level), w};
	struct orc_clock *met = NULL, *known = NULL;

	while (met != f.o->know.v[ORC_MET]) {
		orc_drop(met);
		orc_drop(known);
		met = orc_keep(f.o->know.v[ORC_MET]);
		known = orc_keep(f.o->know.v[ORC_ALL]);
		orc_each_beyond(met, known, come_behind, &f);
	}
	orc_drop(met);
	orc_drop(known);
}

void orc_sc_fenced(struct orc_block *b, struct orc_thread *t, const struct orc_op *op)
{
	struct orc_sc_fence *x;

	t->sc = orc_grow(t->sc, t->nsc, &t->capsc, sizeof *x);
	x = &t->sc[t->nsc++];
	*x = (struct orc_sc_fence){.epoch = t->epoch, .reach = orc_reach_of(b, op->level)};
	EACH_LEAST(w) {
		x->know[w] = orc_know_keep(&t->o[w].know);
		orc_raise(&x->know[w].v[ORC_ALL], t->id, t->epoch);
	}
	b->grid->fenced = true;
}

void orc_sc_free(struct orc_thread *t)
{
	for (unsigned i = 0; i < t->nsc; i++)
		EACH_LEAST(w)
			orc_know_drop(&t->sc[i].know[w]);
	free(t->sc);
}
