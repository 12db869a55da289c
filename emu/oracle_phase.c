/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle_phase.c: barriers with phases: mbarriers, and the barrier of a cluster.  Who
 * arrives brings release patterns into the phase that goes on; who waits with success
 * gets those of the phase before, as far as the scopes reach, and nothing else.  What
 * may not be done with an mbarrier is told here, too.
 * (PTX ISA, "mbarrier", "barrier.cluster")
 */
#include <stdlib.h>

#include "emu/oracle_impl.h"

#define EACH_WORLD(w) for (enum orc_world w = 0; w < ORC_WORLDS; w++)

/* ---- phases ------------------------------------------------------------------------ */

/* An arrival is a strong write: no pattern that ends with it reaches farther. */
void orc_phase_arrive(struct orc_phase *p, struct orc_block *b, struct orc_thread *t,
		      const struct orc_op *op)
{
	EACH_WORLD(w) {
		struct orc_heads h = {0};

		orc_patterns(&h, b, t, op, w);
		for (unsigned i = 0; i < h.n; i++) {
			if (h.v[i].reach.level > op->level)
				h.v[i].reach.level = op->level;
			orc_heads_add(&p->now[w], &h.v[i]);
		}
		orc_heads_drop(&h);
	}
	t->epoch++;
}

/* What was read, and what the async proxy did, is over; what was written otherwise may
 * not be seen yet. */
static void reads_alone(struct orc_know *k)
{
	static const enum orc_facet lost[] = {ORC_ALL, ORC_SHARED, ORC_INITS, ORC_MET};

	orc_learn(&k->v[ORC_READS], k->v[ORC_ALL]);
	orc_learn(&k->v[ORC_READS], k->v[ORC_SHARED]);
	for (unsigned i = 0; i < sizeof lost / sizeof *lost; i++) {
		orc_drop(k->v[lost[i]]);
		k->v[lost[i]] = NULL;
	}
}

/* An arrival in the block `owner` that names neither sem nor scope: the default scope, cta,
 * is that of nobody who waits there (memory-model.md AMB-16). */
static void arrive_plainly(struct orc_phase *p, const struct orc_block *owner, struct orc_block *b,
			   struct orc_thread *t, const struct orc_op *op)
{
	EACH_WORLD(w) {
		struct orc_heads h = {0};

		orc_patterns(&h, b, t, op, w);
		for (unsigned i = 0; i < h.n; i++) {
			h.v[i].reach = orc_reach_of(owner, ORC_SYS);
			if (w == ORC_LEAST && !h.v[i].loose && orc_choices.arrives == ORC_ARRIVES_READS)
				reads_alone(&h.v[i].know);
			orc_heads_add(&p->now[w], &h.v[i]);
		}
		orc_heads_drop(&h);
	}
	t->epoch++;
}

void orc_phase_over(struct orc_phase *p)
{
	EACH_WORLD(w) {
		orc_heads_drop(&p->before[w]);
		p->before[w] = p->now[w];
		p->now[w] = (struct orc_heads){0};
	}
}

static void learn(const struct orc_heads *h, struct orc_thread *t, const struct orc_op *op,
		  const void *key, enum orc_world w)
{
	struct orc_reach r = orc_reach_of(t->block, op->level);

	for (unsigned i = 0; i < h->n; i++) {
		bool meet = orc_meet(w, &h->v[i].reach, &r);

		if (h->v[i].loose || (op->acquire && meet))
			orc_learn_head(t, w, &h->v[i]);
		else if (meet)          /* a fence behind a wait that reaches no farther gains nothing */
			orc_note(&t->o[w].seen, key, &h->v[i]);
	}
}

/* A call beside the instruction may take the phase that goes on for the one that is
 * over, until the thread's next event. */
void orc_phase_settle(struct orc_thread *t)
{
	const struct orc_phase *p = t->waited.phase;

	t->waited.phase = NULL;
	EACH_WORLD(w) {
		if (!ORC_IS_MOST(w))
			continue;
		learn(&p->before[w], t, t->waited.op, t->waited.key, w);
		learn(&p->now[w], t, t->waited.op, t->waited.key, w);
	}
}

void orc_phase_wait(const struct orc_phase *p, struct orc_thread *t, const struct orc_op *op,
		    const void *key)
{
	EACH_WORLD(w)
		learn(&p->before[w], t, op, key, w);
	t->waited.phase = p;
	t->waited.op = op;
	t->waited.key = key;
}

void orc_phase_drop(struct orc_phase *p)
{
	orc_phase_over(p);
	orc_phase_over(p);
}

/* As with the block's barriers, for those that have ended. */
void orc_cluster_wait(struct orc_block *b, struct orc_thread *t, const struct orc_op *op)
{
	const struct orc_grid *g = b->grid;

	orc_phase_wait(&b->first->cluster, t, op, b->first);
	for (uint64_t i = 0; i < g->nblocks; i++) {
		const struct orc_block *other = g->block[i];

		if (!other || other->first != b->first)
			continue;
		EACH_WORLD(w)
			orc_know_learn(&t->o[w].know, ORC_IS_MOST(w) ? &other->ended[w] : &other->gone[w], other == b);
	}
}

/* An exit takes part in the phase that goes on then, and not in those that were over. */
void orc_cluster_over(struct orc_block *first)
{
	const struct orc_grid *g = first->grid;

	orc_phase_over(&first->cluster);
	for (uint64_t i = 0; i < g->nblocks; i++)
		if (g->block[i] && g->block[i]->first == first)
			EACH_WORLD(w)
				orc_know_learn(&g->block[i]->gone[w], &g->block[i]->ended[w], true);
}

/* ---- mbarriers ------------------------------------------------------------------------ */

/* A use, and what the clocks of its warp were. */
struct use { uint32_t epoch[EMU_LANES]; const struct orc_op *op; };
/* Whose end it hears of. */
struct copy { uint64_t actor; const struct orc_op *op; };
/* An arrival: what it returned, and in which phase. */
struct came { uint64_t state, phase; const struct orc_op *op; };
/* A thread; the last of its uses at each instruction, in their order; its arrivals, of each state the last; how many
 * phases it has seen over. */
struct user {
	uint64_t thread;
	struct use *use;
	unsigned n, cap;
	struct came *came;
	unsigned ncame, capcame;
	uint64_t seen;
};

struct orc_mbar {
	struct orc_mbar *chain, *next;  /* in the table; of its block */
	const void *p;
	struct orc_block *block;
	const struct orc_access *init, *before;         /* `before`: that of a live one, until this one */
	const struct orc_op *inval;     /* NULL: it is alive */
	bool fenced;                    /* fence.mbarrier_init, by who initialised it */
	unsigned flying;                /* copies that have not told it of all their bytes */
	uint64_t phases;                /* that are over */
	struct orc_phase phase;
	struct orc_met met;
	struct user *user;
	struct copy *copy;
	unsigned nusers, capusers, last, ncopies, capcopies;
};

enum { TABLE = 1024 };
static struct orc_mbar *table[TABLE];

static struct orc_mbar **find(const void *p)
{
	struct orc_mbar **m = &table[(uintptr_t)p / 8 % TABLE];

	while (*m && (*m)->p != p)
		m = &(*m)->chain;
	return m;
}

static struct orc_mbar *mbar_new(const void *p, struct orc_block *owner)
{
	struct orc_mbar **at = find(p), *m = *at;

	/* Shared memory of a block that is gone. */
	if (m)
		*at = m->chain;
	m = orc_alloc(1, sizeof *m);
	m->p = p;
	m->block = owner;
	m->next = owner->mbars;
	owner->mbars = m;
	at = find(p);
	m->chain = *at;
	*at = m;
	return m;
}

static void forget_uses(struct orc_mbar *m)
{
	for (unsigned i = 0; i < m->nusers; i++) {
		free(m->user[i].use);
		free(m->user[i].came);
	}
	m->nusers = m->ncopies = 0;
	m->phases = 0;
}

void orc_mbars_free(struct orc_block *b)
{
	while (b->mbars) {
		struct orc_mbar *m = b->mbars, **at = find(m->p);

		b->mbars = m->next;
		if (*at == m)
			*at = m->chain;
		orc_phase_drop(&m->phase);
		orc_met_drop(&m->met);
		forget_uses(m);
		free(m->user);
		free(m->copy);
		free(m);
	}
}

static struct orc_fact misused(const struct orc_block *b, const struct orc_thread *t,
			       const struct orc_op *op, const struct orc_op *other, uint64_t addr,
			       bool certain)
{
	return (struct orc_fact){
		.op = {op, other}, .may = ORC_MAY(ORC_MISUSE), .kind = ORC_MISUSE,
		.certain = certain, .block = {b->number, b->number}, .thread = {t->index, t->index},
		.space = 1 + b->number, .addr = addr
	};
}

static void misuse(const struct orc_block *b, const struct orc_thread *t, const struct orc_op *op,
		   const struct orc_op *other, uint64_t addr, bool certain)
{
	struct orc_fact f = misused(b, t, op, other, addr, certain);

	orc_say(&f);
}

static bool knows_init(const struct orc_thread *t, enum orc_world w, const struct orc_access *init)
{
	const struct orc_know *k = &t->o[w].know;

	return init->thread == t->id || orc_get(k->v[ORC_ALL], init->thread) >= init->epoch ||
	       orc_get(k->v[ORC_SHARED], init->thread) >= init->epoch ||
	       orc_get(k->v[ORC_INITS], init->thread) >= init->epoch;
}

static struct user *user_of(struct orc_mbar *m, const struct orc_thread *t)
{
	unsigned left = m->nusers;

	if (left && m->user[m->last].thread == t->id)
		return &m->user[m->last];
	/* Threads come in turn: most often it is the one behind the last. */
	do
		m->last = m->last + 1 < m->nusers ? m->last + 1 : 0;
	while (left && m->user[m->last].thread != t->id && --left);
	if (!left) {
		m->user = orc_grow(m->user, m->nusers, &m->capusers, sizeof *m->user);
		m->last = m->nusers++;
		m->user[m->last] = (struct user){.thread = t->id};
	}
	return &m->user[m->last];
}

static void used(struct orc_mbar *m, const struct orc_thread *t, const struct orc_op *op)
{
	struct user *u = user_of(m, t);
	struct use now = {.op = op};
	unsigned i = 0;

	while (i < u->n && u->use[i].op != op)
		i++;
	if (i == u->n)
		u->use = orc_grow(u->use, u->n++, &u->cap, sizeof *u->use);
	for (; i + 1 < u->n; i++)
		u->use[i] = u->use[i + 1];
	for (unsigned l = 0; l < EMU_LANES; l++)
		now.epoch[l] = t->block->thread[t->index / EMU_LANES * EMU_LANES + l].epoch;
	u->use[i] = now;
}

/* Is the thread behind that use?  Libraries let one lane speak for those that it has met in
 * a vote or a match, which order no memory; for the end of an mbarrier that is enough. */
static bool behind(const struct orc_thread *t, enum orc_world w, uint64_t thread, const struct use *u)
{
	const struct orc_know *k = &t->o[w].know;
	uint64_t first = thread / EMU_LANES * EMU_LANES;

	for (unsigned l = 0; l < EMU_LANES; l++)
		if (orc_get(k->v[ORC_ALL], first + l) >= u->epoch[l] ||
		    orc_get(k->v[ORC_READS], first + l) >= u->epoch[l])
			return true;
	return t->id / EMU_LANES == thread / EMU_LANES;
}

static bool waits(const struct orc_op *op)
{
	return op->in->id == INST_MBARRIER_TEST_WAIT || op->in->id == INST_MBARRIER_TRY_WAIT;
}

/* What ends an mbarrier comes after all that was done with it.  One of a thread's uses
 * stands for those before it.  That waits come before is asked for; of arrivals it is told
 * (memory-model.md 1.7, mbarrier.inval; gsan(7), BUGS). */
static void all_used(const struct orc_mbar *m, const struct orc_thread *t, const struct orc_op *op,
		     uint64_t addr)
{
	for (unsigned i = 0; i < m->nusers; i++) {
		const struct user *u = &m->user[i];
		unsigned (*line)[2] = orc_alloc(u->n, sizeof *line), n = 0;
		struct orc_fact last = {0};

		for (unsigned k = u->n; k-- > 0;) {
			bool certain = !behind(t, ORC_MOST, u->thread, &u->use[k]);
			struct orc_fact f = misused(m->block, t, op, u->use[k].op, addr, certain);

			if (behind(t, ORC_LEAST, u->thread, &u->use[k]))
				continue;
			orc_found(&f, 1);
			if (!last.op[0])
				last = f;
			line[n][0] = op->line;
			line[n++][1] = u->use[k].op->line;
		}
		if (last.op[0])
			orc_demand(&last, (const unsigned (*)[2])line, n);
		free(line);
	}
}

/* Has the thread seen, acquiring or not, that the copy is over? */
static bool saw_end(const struct orc_thread *t, uint64_t actor)
{
	const struct orc_notes *seen = &t->o[ORC_LEAST].seen;
	bool yes = orc_get(t->o[ORC_LEAST].know.v[ORC_ALL], actor);

	for (unsigned i = 0; i < seen->n && !yes; i++)
		yes = seen->v[i].head.done && orc_get(seen->v[i].head.know.v[ORC_ALL], actor);
	return yes;
}

/* And after the copies that end there. */
static void all_copied(const struct orc_mbar *m, const struct orc_thread *t, const struct orc_op *op,
		       uint64_t addr)
{
	for (unsigned i = 0; i < m->ncopies; i++)
		if (!saw_end(t, m->copy[i].actor))
			misuse(m->block, t, op, m->copy[i].op, addr, false);
}

static const struct orc_access *write_object(struct orc_block *owner, struct orc_block *b,
					     struct orc_thread *t, const struct orc_op *op,
					     uint64_t addr, bool init)
{
	struct orc_access *a = orc_access_new(b, t, op, 1 + owner->number, addr, 8);

	a->read = false;
	a->write = a->init = true;
	a->reach.level = ORC_WEAK;
	orc_check(b->grid, t, a);
	return init ? a : NULL;
}

/* At another block's mbarrier: that block may not end before, which it can know from the
 * thread or by having waited. */
static void visit(struct orc_block *owner, const void *p, uint64_t addr, struct orc_block *b,
		  struct orc_thread *t, const struct orc_op *op)
{
	struct orc_access *a = orc_access_new(b, t, op, 1 + owner->number, addr, 8);

	a->seq = ++b->grid->seq;
	a->thread = orc_singles(b->grid, 1);
	a->epoch = 1;
	orc_mbar_done(p, a->thread, 1, true, false);
	EACH_WORLD(w)
		orc_raise(&t->o[w].know.v[ORC_ALL], a->thread, 1);
	orc_visit(owner, a);
}

/* mbar_init_fence=strict: a copy accesses the mbarrier through the async proxy. */
static void operand_fenced(const struct orc_mbar *m, const struct orc_thread *t,
			   const struct orc_op *op, uint64_t addr)
{
	const struct orc_know *k = &t->o[ORC_LEAST].know;
	const struct orc_access *init = m->init;
	unsigned own = t->block == m->block ? ORC_OWN : ORC_OWN_CLUSTER;
	bool here = orc_get(k->v[own + ORC_HERE - ORC_OWN], init->thread) >= init->epoch;
	struct orc_fact f = {
		.op = {op, init->op}, .may = ORC_MAY(here ? ORC_FENCE_ORDER : ORC_PROXY),
		.kind = here ? ORC_FENCE_ORDER : ORC_PROXY, .certain = true,
		.block = {t->block->number, m->block->number}, .thread = {t->index, init->index},
		.space = 1 + m->block->number, .addr = addr
	};

	if (!m->fenced && orc_get(k->v[own], init->thread) < init->epoch &&
	    !(here && (orc_choices.path || t->block != m->block)) && knows_init(t, ORC_LEAST, init))
		orc_say(&f);
}

void orc_mbars_fenced(const struct orc_thread *t)
{
	for (struct orc_mbar *m = t->block->mbars; m; m = m->next)
		m->fenced |= !m->inval && m->init->thread == t->id;
}

void orc_mbar(struct orc_block *owner, const void *p, uint64_t addr, struct orc_block *b,
	      struct orc_thread *t, const struct orc_op *op, enum orc_use use)
{
	struct orc_mbar *m = *find(p);

	if (m && m->block != owner)
		m = NULL;
	if (use == ORC_INIT) {
		if (m && !m->inval)
			misuse(owner, t, op, m->init->op, addr, true);
		if (!m)
			m = mbar_new(p, owner);
		orc_phase_drop(&m->phase);
		orc_met_drop(&m->met);
		forget_uses(m);
		m->flying = 0;
		m->fenced = false;
		m->before = m->inval ? NULL : m->init;
		m->init = write_object(owner, b, t, op, addr, true);
		m->inval = NULL;
		return;
	}
	if (!m || m->inval || use == ORC_OVERFLOW) {
		misuse(owner, t, op, !m ? NULL : m->inval ? m->inval : m->init->op, addr, true);
		return;
	}
	if (!knows_init(t, ORC_LEAST, m->init))
		misuse(owner, t, op, m->init->op, addr, !knows_init(t, ORC_MOST, m->init));
	/* A use that is unordered with both may have been entered before the second: either may be named. */
	if (m->before && !knows_init(t, ORC_LEAST, m->before)) {
		struct orc_fact f = misused(owner, t, op, m->before->op, addr, false);

		f.moot = true;
		orc_say(&f);
	}
	if (use == ORC_INVAL) {
		all_used(m, t, op, addr);
		all_copied(m, t, op, addr);
		write_object(owner, b, t, op, addr, false);
		m->inval = op;
		return;
	}
	if (use == ORC_OPERAND && orc_choices.init_fence)
		operand_fenced(m, t, op, addr);
	if (owner != b && use != ORC_OPERAND)
		visit(owner, p, addr, b, t, op);
	if (use == ORC_WAIT)
		orc_phase_wait(&m->phase, t, op, m);
	if (use != ORC_OPERAND)
		orc_meet_at(&m->met, t, !waits(op));
	if (use == ORC_ARRIVE && owner != b && op->release && !ptx_has(op->in, MOD_RELEASE) &&
	    orc_choices.arrives != ORC_ARRIVES_STRICT)
		arrive_plainly(&m->phase, owner, b, t, op);
	else if (use == ORC_ARRIVE)
		orc_phase_arrive(&m->phase, b, t, op);
	if (use != ORC_OPERAND)
		used(m, t, op);
}

void orc_mbar_flies(const void *p, uint64_t actor, const struct orc_op *op)
{
	struct orc_mbar *m = *find(p);

	if (!m)
		return;
	m->flying++;
	m->copy = orc_grow(m->copy, m->ncopies, &m->capcopies, sizeof *m->copy);
	m->copy[m->ncopies++] = (struct copy){actor, op};
}

/* A phase that is over before all copies are done was promised too few bytes: whose they
 * were is chance, and nobody can know. */
void orc_mbar_over(const void *p)
{
	struct orc_mbar *m = *find(p);

	if (!m)
		return;
	EACH_WORLD(w) {
		struct orc_heads *h = &m->phase.now[w];

		for (unsigned i = 0; m->flying && !ORC_IS_MOST(w) && i < h->n; i++) {
			if (!h->v[i].done || h->v[i].loose)
				continue;
			orc_head_drop(&h->v[i]);
			h->v[i--] = h->v[--h->n];
		}
	}
	m->phases++;
	orc_phase_over(&m->phase);
	orc_met_written(&m->met);
}

/* ---- states ------------------------------------------------------------------------------ */

void orc_mbar_came(const void *p, const struct orc_thread *t, const struct orc_op *op, uint64_t state)
{
	struct orc_mbar *m = *find(p);
	struct user *u;
	unsigned i = 0;

	if (!m || m->inval || m->block != t->block)
		return;
	u = user_of(m, t);
	while (i < u->ncame && u->came[i].state != state)
		i++;
	if (i == u->ncame)
		u->came = orc_grow(u->came, u->ncame++, &u->capcame, sizeof *u->came);
	u->came[i] = (struct came){state, m->phases, op};
}

/* PTX ISA, "mbarrier.test_wait": a state is of the phase that goes on or of the one before.  Who has seen a later one over
 * itself cannot be right in any order; else it is this run that went so. */
void orc_mbar_waits(const void *p, const struct orc_thread *t, const struct orc_op *op, const struct orc_awaited *a)
{
	struct orc_mbar *m = *find(p);
	const struct came *c = NULL;
	struct orc_fact f;
	struct user *u;

	if (!m || m->inval || m->block != t->block)
		return;
	u = user_of(m, t);
	for (unsigned i = 0; i < u->ncame && !a->parity; i++)
		if (u->came[i].state == a->state)
			c = &u->came[i];
	if (c && m->phases > c->phase + 1) {
		f = misused(m->block, t, op, c->op, m->init->addr, true);
		f.moot = u->seen < c->phase + 2;
		orc_say(&f);
	}
	if (!a->success)
		return;
	if (a->parity)
		u->seen += (u->seen + 1) % 2 != a->state % 2;
	else if (c && u->seen < c->phase + 1)
		u->seen = c->phase + 1;
}

void orc_mbar_lands(const void *p)
{
	struct orc_mbar *m = *find(p);

	if (m && m->flying)
		m->flying--;
}

static void done(const struct orc_reach *reach, struct orc_mbar *m, uint64_t actor, uint32_t n,
		 bool loose, bool tensor)
{
	EACH_WORLD(w) {
		struct orc_head h = {
			.reach = *reach, .done = true, .loose = loose
		};

		orc_raise(&h.know.v[ORC_ALL], actor, n);
		if (tensor)
			orc_raise(&h.know.v[ORC_TENSOR], actor, n);
		if (ORC_IS_WIDE(w))
			h.narrow = orc_keep(h.know.v[ORC_ALL]);
		orc_heads_add(&m->phase.now[w], &h);
		orc_head_drop(&h);
	}
}

void orc_mbar_done(const void *p, uint64_t actor, uint32_t n, bool loose, bool tensor)
{
	struct orc_mbar *m = *find(p);
	struct orc_reach all;

	if (!m)
		return;
	all = orc_reach_of(m->block, ORC_SYS);
	done(&all, m, actor, n, loose, tensor);
}

void orc_mbar_brought(const void *p, uint64_t actor, const struct orc_block *by)
{
	struct orc_mbar *m = *find(p);
	struct orc_reach reach;

	if (!m)
		return;
	reach = orc_choices.wide_tx && by != m->block ? orc_reach_of(by, ORC_CLUSTER) :
		orc_reach_of(m->block, ORC_SYS);
	done(&reach, m, actor, 1, false, false);
}

struct orc_mbar *orc_mbar_under(struct orc_grid *g, const struct orc_access *a)
{
	struct orc_mbar *m = NULL;

	if (a->space && a->space <= g->nblocks && g->block[a->space - 1])
		m = g->block[a->space - 1]->mbars;
	while (m && (m->inval || m->init->addr >= a->addr + a->size || a->addr >= m->init->addr + 8))
		m = m->next;
	return m;
}

const struct orc_op *orc_mbar_init(const struct orc_mbar *m)
{
	return m->init->op;
}
