/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle_sync.c: the order of one launch, rule by rule.  (PTX ISA, Memory
 * Consistency Model: Release and Acquire Patterns, Observation Order, Synchronizes,
 * Fence-SC Order, Base Causality Order)
 *
 * Nothing is pruned but what cannot matter: heads of the same scope and block
 * reach the same threads, so their clocks are joined.
 */
#include <stdlib.h>

#include "emu/oracle_impl.h"

#define EACH_WORLD(w) for (enum orc_world w = 0; w < ORC_WORLDS; w++)

bool orc_meet(enum orc_world w, const struct orc_reach *a, const struct orc_reach *b)
{
	uint8_t level = a->level < b->level ? a->level : b->level;

	if (ORC_IS_WIDE(w) || level >= ORC_GPU)
		return true;
	return level == ORC_CLUSTER ? a->cluster == b->cluster : a->block == b->block;
}

/* ---- what is known ---------------------------------------------------------------- */

void orc_know_drop(struct orc_know *k)
{
	for (unsigned f = 0; f < ORC_FACETS; f++) {
		orc_drop(k->v[f]);
		k->v[f] = NULL;
	}
}

struct orc_know orc_know_keep(const struct orc_know *from)
{
	struct orc_know k = *from;

	for (unsigned f = 0; f < ORC_FACETS; f++)
		orc_keep(k.v[f]);
	return k;
}

void orc_know_learn(struct orc_know *k, const struct orc_know *from, bool same_block)
{
	for (unsigned f = 0; f < ORC_FACETS; f++)
		if (from->v[f] && (same_block || !ORC_IN_BLOCK(f)))
			orc_learn(&k->v[f], from->v[f]);
}

/* ---- lists of heads --------------------------------------------------------------- */

void orc_head_drop(struct orc_head *h)
{
	orc_know_drop(&h->know);
	orc_drop(h->narrow);
	*h = (struct orc_head){0};
}

static struct orc_head head_keep(const struct orc_head *h)
{
	struct orc_head x = *h;

	x.know = orc_know_keep(&h->know);
	orc_keep(x.narrow);
	return x;
}

/* Do they reach the same threads in the same way? */
static bool alike(const struct orc_head *a, const struct orc_head *b)
{
	return a->reach.level == b->reach.level && a->reach.block == b->reach.block &&
	       a->done == b->done && a->loose == b->loose;
}

static void head_join(struct orc_head *h, const struct orc_head *from)
{
	orc_know_learn(&h->know, &from->know, true);
	orc_learn(&h->narrow, from->narrow);
}

void orc_heads_add(struct orc_heads *h, const struct orc_head *x)
{
	for (unsigned i = 0; i < h->n; i++) {
		if (alike(&h->v[i], x)) {
			head_join(&h->v[i], x);
			return;
		}
	}
	h->v = orc_grow(h->v, h->n, &h->cap, sizeof *h->v);
	h->v[h->n++] = head_keep(x);
}

static void heads_join(struct orc_heads *h, const struct orc_heads *from)
{
	for (unsigned i = 0; i < from->n; i++)
		orc_heads_add(h, &from->v[i]);
}

void orc_heads_drop(struct orc_heads *h)
{
	for (unsigned i = 0; i < h->n; i++)
		orc_head_drop(&h->v[i]);
	free(h->v);
	*h = (struct orc_heads){0};
}

void orc_note(struct orc_notes *s, const void *word, const struct orc_head *x)
{
	for (unsigned i = 0; i < s->n; i++) {
		if (s->v[i].word == word && alike(&s->v[i].head, x)) {
			head_join(&s->v[i].head, x);
			return;
		}
	}
	s->v = orc_grow(s->v, s->n, &s->cap, sizeof *s->v);
	s->v[s->n++] = (struct orc_noted){word, head_keep(x)};
}

void orc_notes_drop(struct orc_notes *s)
{
	for (unsigned i = 0; i < s->n; i++)
		orc_head_drop(&s->v[i].head);
	free(s->v);
	*s = (struct orc_notes){0};
}

struct orc_head orc_head_of(const struct orc_thread *t, enum orc_world w, struct orc_reach r)
{
	struct orc_head h = {.know = orc_know_keep(&t->o[w].know), .reach = r};

	orc_raise(&h.know.v[ORC_ALL], t->id, t->epoch);
	if (ORC_IS_WIDE(w)) {
		h.narrow = orc_keep(t->o[ORC_NARROW(w)].know.v[ORC_ALL]);
		orc_raise(&h.narrow, t->id, t->epoch);
	}
	return h;
}

void orc_learn_head(struct orc_thread *t, enum orc_world w, const struct orc_head *h)
{
	struct orc_order *o = &t->o[w];

	orc_know_learn(&o->know, &h->know, h->reach.block == t->block->reach.block);
	orc_learn(&o->direct, h->narrow);
	orc_learn(&t->block->direct[w], h->narrow);
	if (!h->done)
		return;
	orc_learn(&o->mine, h->know.v[ORC_ALL]);
	orc_raise(&o->tensor, ORC_ACTOR(ORC_TC, t->id),
		  orc_get(h->know.v[ORC_TENSOR], ORC_ACTOR(ORC_TC, t->id)));
}

struct orc_reach orc_reach_of(const struct orc_block *b, uint8_t level)
{
	struct orc_reach r = b->reach;

	r.level = level;
	return r;
}

/* What is seen with any strong write, even if nobody acquires: that the thread's block
 * has begun, and what it did in tensor memory (PTX ISA, "tcgen05.fence"). */
static struct orc_head loose_of(const struct orc_thread *t, enum orc_world w, struct orc_reach r)
{
	struct orc_head h = {.reach = r, .loose = true};

	if (!orc_choices.no_tensor_fence)
		h.know.v[ORC_TENSOR] = orc_keep(t->o[w].know.v[ORC_TENSOR]);
	if (t->block->grid->clusters)
		orc_raise(&h.know.v[ORC_ALL], t->id, 1);
	return h;
}

static bool empty(const struct orc_head *h)
{
	for (unsigned f = 0; f < ORC_FACETS; f++)
		if (h->know.v[f])
			return false;
	return true;
}

void orc_patterns(struct orc_heads *h, const struct orc_block *b, const struct orc_thread *t,
		  const struct orc_op *op, enum orc_world w)
{
	const struct orc_order *o = &t->o[w];
	struct orc_head x;

	if (op->release) {
		x = orc_head_of(t, w, orc_reach_of(b, op->level));
		orc_heads_add(h, &x);
		orc_head_drop(&x);
	}
	for (uint8_t level = ORC_CTA; level < ORC_LEVELS; level++)
		if (!empty(&o->fence[level]))
			orc_heads_add(h, &o->fence[level]);
	x = loose_of(t, w, orc_reach_of(b, op->level));
	if (!empty(&x))
		orc_heads_add(h, &x);
	orc_head_drop(&x);
}

/* ---- words --------------------------------------------------------------------------- */

struct orc_word *orc_word_at(struct orc_grid *g, uint64_t space, uint64_t addr, unsigned size)
{
	struct orc_word **p = &g->word[(addr / size * 31 + size + space) % ORC_HASH], *x;

	for (; *p; p = &(*p)->chain)
		if ((*p)->addr == addr && (*p)->size == size && (*p)->space == space)
			return *p;
	*p = x = orc_alloc(1, sizeof *x);
	x->space = space;
	x->addr = addr;
	x->size = (uint8_t)size;
	return x;
}

/* The release patterns that a strong write of this thread ends: those of
 * orc_patterns(), and an earlier release at the same place. */
static void own_heads(struct orc_heads *h, const struct orc_block *b, const struct orc_thread *t,
		      const struct orc_op *op, const struct orc_word *word, enum orc_world w)
{
	const struct orc_order *o = &t->o[w];

	orc_patterns(h, b, t, op, w);
	for (unsigned i = 0; i < o->released.n; i++)
		if (o->released.v[i].word == word)
			orc_heads_add(h, &o->released.v[i].head);
}

/* A release sequence goes on through read-modify-writes alone. */
static void inherit(struct orc_access *a, const struct orc_access *from, enum orc_world w)
{
	if (orc_meet(w, &a->reach, &from->reach))
		heads_join(&a->heads[w], &from->heads[w]);
}

/* Was `a` there to be read at some moment since `since`? */
static bool there(const struct orc_access *a, uint64_t since)
{
	return !a->ended || a->ended >= since;
}

/* Does `see` for every write that could be seen since then. */
static void each_there(const struct orc_word *word, uint64_t since, enum orc_world w,
		       void (*see)(void *, struct orc_access *, enum orc_world), void *arg)
{
	for (unsigned i = word->n; i-- > 0 && there(word->w[i], since);)
		see(arg, word->w[i], w);
}

/* ---- reading ----------------------------------------------------------------------------- */

struct look { struct orc_thread *t; uint64_t seq; struct orc_reach reach; bool acquire; };

/* The thread has read what `from` wrote. */
static void observe(void *arg, struct orc_access *from, enum orc_world w)
{
	const struct look *k = arg;
	struct orc_order *o = &k->t->o[w];

	if (!orc_meet(w, &from->reach, &k->reach))
		return;
	for (unsigned i = 0; i < from->heads[w].n; i++) {
		const struct orc_head *h = &from->heads[w].v[i];

		if (h->loose || (k->acquire && orc_meet(w, &h->reach, &k->reach)))
			orc_learn_head(k->t, w, h);
		else
			orc_note(&o->seen, from->word, h);
	}
}

static void add_observer(uint64_t seq, struct orc_access *from, const struct orc_thread *t,
			 struct orc_reach r, bool sure)
{
	for (unsigned i = from->nobs; i-- > 0;) {
		const struct orc_observer *z = &from->obs[i];

		if (z->thread == t->id && z->epoch == t->epoch && z->reach.level == r.level &&
		    z->sure == sure)
			return;
	}
	from->obs = orc_grow(from->obs, from->nobs, &from->capobs, sizeof *from->obs);
	from->obs[from->nobs++] = (struct orc_observer){t->id, seq, t->epoch, sure, r};
}

static void look_again(void *arg, struct orc_access *from, enum orc_world w)
{
	const struct look *k = arg;

	observe(arg, from, w);
	add_observer(k->seq, from, k->t, k->reach, false);
}

void orc_settle(struct orc_grid *g, struct orc_thread *t)
{
	for (unsigned i = 0; i < t->nlook; i++) {
		struct look k = {t, g->seq, t->look[i].reach, t->look[i].acquire};

		EACH_WORLD(w)
			if (ORC_IS_MOST(w))
				each_there(t->look[i].word, t->look[i].since, w, look_again, &k);
	}
	t->nlook = 0;
	if (t->waited.phase)
		orc_phase_settle(t);
}

/* Acquires what was seen and is within reach: at one word, or anywhere. */
static void take(struct orc_thread *t, enum orc_world w, const struct orc_word *word,
		 struct orc_reach r)
{
	struct orc_order *o = &t->o[w];
	unsigned left = 0;

	for (unsigned i = 0; i < o->seen.n; i++) {
		struct orc_noted *s = &o->seen.v[i];

		if ((!word || s->word == word) && orc_meet(w, &s->head.reach, &r)) {
			orc_learn_head(t, w, &s->head);
			orc_head_drop(&s->head);
		} else {
			o->seen.v[left++] = *s;
		}
	}
	o->seen.n = left;
}

void orc_take_shared(struct orc_thread *t, enum orc_world w, struct orc_reach r)
{
	struct orc_order *o = &t->o[w];

	for (unsigned i = 0; i < o->seen.n; i++) {
		const struct orc_head *h = &o->seen.v[i].head;
		struct orc_know k = h->know;

		if (!orc_meet(w, &h->reach, &r))
			continue;
		orc_learn(&o->know.v[ORC_SHARED], k.v[ORC_ALL]);
		k.v[ORC_ALL] = NULL;
		orc_know_learn(&o->know, &k, h->reach.block == t->block->reach.block);
	}
}

static void do_read(struct orc_grid *g, struct orc_thread *t, const struct orc_op *op,
		    struct orc_access *a, struct orc_access *before)
{
	struct look k = {t, g->seq, a->reach, op->acquire};

	EACH_WORLD(w) {
		if (before)
			observe(&k, before, w);
		if (op->acquire)
			take(t, w, a->word, a->reach);
	}
	if (before)
		add_observer(g->seq, before, t, a->reach, true);
	t->look[t->nlook].word = a->word;
	t->look[t->nlook].since = g->seq;
	t->look[t->nlook].reach = a->reach;
	t->look[t->nlook++].acquire = op->acquire;
}

/* ---- writing -------------------------------------------------------------------------------- */

static void do_write(struct orc_block *b, struct orc_thread *t, const struct orc_op *op,
		     struct orc_access *a, struct orc_access *before)
{
	struct orc_word *word = a->word;

	word->w = orc_grow(word->w, word->n, &word->cap, sizeof *word->w);
	word->w[word->n++] = a;
	if (before && op->read)
		before->next = a;
	EACH_WORLD(w) {
		struct orc_head x;

		own_heads(&a->heads[w], b, t, op, word, w);
		if (before && op->read)
			inherit(a, before, w);
		if (!op->release)
			continue;
		x = orc_head_of(t, w, orc_reach_of(b, op->level));
		orc_note(&t->o[w].released, word, &x);
		orc_head_drop(&x);
	}
}

void orc_strong(struct orc_block *b, struct orc_thread *t, const struct orc_op *op,
		struct orc_access *a, struct orc_access *before)
{
	if (!a->word)
		a->word = orc_word_at(b->grid, a->space, a->addr, a->size);
	if (op->read && !op->red)
		do_read(b->grid, t, op, a, before);
	if (op->write || !orc_sees_other(b->grid, a))
		orc_meet_at(&a->word->met, t, op->write);
	if (op->write)
		do_write(b, t, op, a, before);
}

void orc_strong_end(struct orc_thread *t, const struct orc_op *op)
{
	if (op->write && op->release)
		t->epoch++;
}

/* ---- fences ------------------------------------------------------------------------------------ */

/* In the MOST worlds fences of sequential consistency that reach each other are ordered as
 * they run, whether anybody can tell or not (oracle_sc.c). */
static void fence_sc(struct orc_block *b, struct orc_thread *t, const struct orc_op *op,
		     enum orc_world w)
{
	const struct orc_heads *h = &b->grid->sc[w];
	struct orc_reach r = orc_reach_of(b, op->level);
	struct orc_head x;

	for (unsigned i = 0; i < h->n; i++)
		if (orc_meet(ORC_NARROW(w), &h->v[i].reach, &r))
			orc_learn_head(t, w, &h->v[i]);
	x = orc_head_of(t, w, r);
	orc_heads_add(&b->grid->sc[w], &x);
	orc_head_drop(&x);
}

void orc_fence(struct orc_block *b, struct orc_thread *t, const struct orc_op *op)
{
	EACH_WORLD(w) {
		struct orc_order *o = &t->o[w];

		if (op->acquire)
			take(t, w, NULL, orc_reach_of(b, op->level));
		if (op->sc && ORC_IS_MOST(w))
			fence_sc(b, t, op, w);
		else if (op->sc)
			orc_sc_behind(b, t, op, w);
		if (!op->release)
			continue;
		for (unsigned level = ORC_CTA; level <= op->level; level++)
			orc_head_drop(&o->fence[level]);
		o->fence[op->level] = orc_head_of(t, w, orc_reach_of(b, op->level));
	}
	if (op->sc)
		orc_sc_fenced(b, t, op);
	if (op->release)
		t->epoch++;
}

/* ---- barriers ------------------------------------------------------------------------------------ */

/* Adds what the thread knows and did. */
static void bring(struct orc_know *to, const struct orc_thread *t, enum orc_world w,
		  bool same_block)
{
	orc_know_learn(to, &t->o[w].know, same_block);
	orc_raise(&to->v[ORC_ALL], t->id, t->epoch);
}

void orc_arrive(struct orc_block *b, struct orc_thread *t, unsigned id)
{
	EACH_WORLD(w)
		bring(&b->bar[id].know[w], t, w, true);
	t->epoch++;
}

/* `all`: a barrier of all threads of the block.  Those that have ended are not
 * waited for.  No text says whether what they did is ordered before it: memory-model.md 1.5
 * takes it that they have arrived. */
void orc_leave(struct orc_block *b, struct orc_thread *t, unsigned id, bool all)
{
	EACH_WORLD(w) {
		orc_know_learn(&t->o[w].know, &b->bar[id].know[w], true);
		if (all)
			orc_know_learn(&t->o[w].know, &b->ended[w], true);
	}
}

void orc_bar_over(struct orc_block *b, unsigned id)
{
	EACH_WORLD(w)
		orc_know_drop(&b->bar[id].know[w]);
}

void orc_warp_sync(struct orc_block *b, unsigned first, uint32_t lanes)
{
	EACH_WORLD(w) {
		struct orc_know k = {{NULL}};

		EMU_EACH(l, lanes)
			bring(&k, &b->thread[first + l], w, true);
		EMU_EACH(l, lanes)
			orc_know_learn(&b->thread[first + l].o[w].know, &k, true);
		orc_know_drop(&k);
	}
	EMU_EACH(l, lanes)
		b->thread[first + l].epoch++;
}

/* Synchronisation that has no rules here yet: all that its cluster did so far is
 * ordered before what this thread does next. */
void orc_unmodelled(struct orc_block *b, struct orc_thread *t)
{
	struct orc_grid *g = b->grid;

	for (uint64_t i = 0; i < g->nblocks; i++) {
		struct orc_block *o = g->block[i];

		if (!o || o->reach.cluster != b->reach.cluster)
			continue;
		for (unsigned k = 0; k < o->nthreads; k++)
			if (&o->thread[k] != t)
				EACH_WORLD(w)
					bring(&t->o[w].know, &o->thread[k], w, o == b);
	}
	for (uint64_t i = 0; i < g->nblocks; i++)
		if (g->block[i] && g->block[i]->reach.cluster == b->reach.cluster)
			for (unsigned k = 0; k < g->block[i]->nthreads; k++)
				g->block[i]->thread[k].epoch++;
	t->blind = true;
}

/* ---- launches that overlap ---------------------------------------------------------------------- */

/* Launch `l` and those before it are over, and seen through every proxy: in all worlds, or
 * in the MOST worlds alone. */
static void know_over(struct orc_thread *t, const struct orc_launch *l, bool most)
{
	for (; l; l = l->next)
		EACH_WORLD(w)
			if (!most || ORC_IS_MOST(w))
				orc_raise(&t->o[w].know.v[ORC_ALL], ORC_ACTOR(ORC_LAUNCH, l->number), 1);
}

/* PTX ISA, "griddepcontrol": a dependent has to wait if the launch before it lets
 * dependents go (memory-model.md AMB-20); what that one's
 * blocks had all waited for is over by then. */
void orc_begin(struct orc_thread *t)
{
	const struct orc_launch *l = t->block->launch->next;

	if (!l)
		return;
	if (!l->let_go)
		know_over(t, l, orc_choices.dependents_wait);
	if (l->waited == l->nblocks)
		know_over(t, l->next, false);
	EACH_WORLD(w)
		for (unsigned i = 0; i < l->dependents[w].n; i++)
			orc_learn_head(t, w, &l->dependents[w].v[i]);
}

/* Fences before it, wide enough, synchronise with the start of the dependent grid. */
void orc_launch_dependents(struct orc_thread *t)
{
	t->block->let_go = t->block->launch->let_go = true;
	EACH_WORLD(w) {
		const struct orc_head *f = t->o[w].fence;

		for (unsigned level = ORC_IS_WIDE(w) ? ORC_CTA : ORC_GPU; level < ORC_LEVELS; level++)
			if (!empty(&f[level]))
				orc_heads_add(&t->block->launch->dependents[w], &f[level]);
	}
}

void orc_grid_wait(struct orc_thread *t)
{
	struct orc_block *b = t->block;

	if (!b->waited && !b->let_go)
		b->launch->waited++;
	b->waited = true;
	know_over(t, b->launch->next, false);
}

void orc_ended(struct orc_block *b, struct orc_thread *t)
{
	EACH_WORLD(w) {
		const struct orc_notes *seen = &t->o[w].seen;

		bring(&b->ended[w], t, w, true);
		/* An operation that was seen to end, by a relaxed wait, needs the block's memory
		 * no more; whoever meets the thread by its exit has not seen that. */
		for (unsigned i = 0; i < seen->n; i++)
			if (seen->v[i].head.done)
				orc_learn(&b->over[w], seen->v[i].head.know.v[ORC_ALL]);
	}
	t->epoch++;
	if (--b->left)
		return;
	orc_rooms_end(b);
	orc_block_end(b);
}
