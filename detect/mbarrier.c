/* SPDX-License-Identifier: Apache-2.0
 *
 * mbarrier.c: phases of mbarriers (memory-model.md 1.7): which arrivals and copies make one,
 * and which one a wait has seen over.
 *
 * Arrivals in the order of their clocks fill one phase after the other.  That is exact where
 * the first arrival of a phase comes behind a wait that saw the one before over: its clock is
 * later than that wait's.  Elsewhere an arrival may be of either phase, and what it brings
 * goes to both, which is counted.
 */
#include <string.h>

#include "detect/impl.h"

/* ---- collecting ------------------------------------------------------------------------------------ */

struct mbar_op *add_mbar_op(struct scan *s, const struct event *e, unsigned lane)
{
	struct mbar_op *o = ADD(&s->d->mbar);

	o->event = (uint32_t)(e - s->d->event.v);
	o->lane = (uint8_t)lane;
	o->kind = e->kind;
	o->source = o->written = NONE;
	return o;
}

static void set_operands(struct scan *s, struct mbar_op *o, const struct event_unit *u, const struct event_site *site)
{
	switch (o->kind) {
	case EVENT_MBAR_INIT:
		o->count = (uint32_t)event_get(u, o->lane, EVENT_MBAR_INIT_COUNT);
		break;
	case EVENT_MBAR_ARRIVE:
		o->count = (uint32_t)event_get(u, o->lane, EVENT_MBAR_ARRIVE_COUNT);
		o->bytes = (uint32_t)event_get(u, o->lane, EVENT_MBAR_ARRIVE_BYTES);
		o->state = event_get(u, o->lane, EVENT_MBAR_ARRIVE_STATE);
		break;
	case EVENT_MBAR_EXPECT:
		o->bytes = (uint32_t)event_get(u, o->lane, EVENT_MBAR_EXPECT_BYTES);
		break;
	case EVENT_MBAR_COMPLETE:
		o->bytes = (uint32_t)event_get(u, o->lane, EVENT_MBAR_COMPLETE_BYTES);
		break;
	case EVENT_MBAR_WAIT:
	case EVENT_MBAR_TRY:
		o->state = event_get(u, o->lane, EVENT_MBAR_WAIT_PHASE);
		break;
	case EVENT_MBAR_COPIES:
		o->count = 1;
		o->source = ordered_operations(s->d, s->warp, CP_OPERATIONS, o->lane);
		o->number = s->lane[o->lane].cp.issued;
		break;
	default:
		break;
	}
	o->drops = site->flags & EVENT_DROP;
}

/* memory-model.md 2.4, AMB-16: at another block's mbarrier an arrival that names neither sem nor
 * scope is of scope cta, which reaches nobody there. */
static void set_heads(struct scan *s, struct mbar_op *o, const struct event *e, const struct event_site *site)
{
	bool release = site->sem != EVENT_RELAXED;
	enum apart reach = site->scope == EVENT_CLUSTER ? A_CLUSTER : A_BLOCK;

	o->reach = (uint8_t)reach;
	o->unsaid = site->sem == EVENT_SEM_NONE && o->owner != s->d->warp.v[s->warp].block &&
		    s->d->choices.arrive != ARRIVE_STRICT;
	o->heads = heads_of(s, e, o->lane, (struct pattern){release || s->g->world & W_RELEASE, reach, reach});
}

/* Has it waited here in vain before, and done nothing else with mbarriers since? */
static bool again(struct lane *l, const struct event *e, const struct place *p)
{
	bool was = e->kind == EVENT_MBAR_TRY && l->tries.space == p->space && l->tries.address == p->address;

	l->tries = *p;
	l->tries.space = e->kind == EVENT_MBAR_TRY ? p->space : 0;
	return was;
}

void scan_mbarrier(struct scan *s, const struct event *e)
{
	const struct event_site *site = site_of(s->d, e);
	const struct event_unit *u = record_of(s->d, e);
	struct place p;

	for (unsigned l = 0; l < EVENT_LANES; l++) {
		struct mbar_op *o;

		if (!(e->lanes >> l & 1) || !place_of_shared(s->d, e, event_address(u, l), &p) || again(&s->lane[l], e, &p))
			continue;
		o = add_mbar_op(s, e, l);
		o->owner = p.block;
		o->address = (uint32_t)p.address;
		set_operands(s, o, u, site);
		if (e->kind == EVENT_MBAR_ARRIVE)
			set_heads(s, o, e, site);
		o->acquire = site->sem != EVENT_RELAXED || s->g->world & W_ACQUIRE;
		o->reach = site->scope == EVENT_CLUSTER ? A_CLUSTER : A_BLOCK;
		/* Another block's mbarrier: that block has to stay until the operation is over. */
		if (p.block != s->d->warp.v[s->warp].block) {
			struct action *a = act(s->g, e, 1u << l, DO_ENDS);

			o->visits = true;
			o->visit = SOURCE(SOURCE_OPERATION, single_operations(s->d, e, EVENT_LANES) + l);
			a->hub = o->visit;
			a->arg = 1;
		}
	}
}

/* ---- one mbarrier, from its init on ----------------------------------------------------------------- */

struct barrier {
	struct detect *d;
	struct graph *g;
	struct phases *phases;
	struct mbar_op **op;            /* its operations, by when they began; op[0]: its init, if there is one */
	uint32_t n, object;
	uint32_t nphases;               /* that have begun, by arrivals */
	uint64_t *full;                 /* when the last arrival of a phase began, */
	uint64_t *seen;                 /* and when a wait had seen it over, first */
	uint64_t *expected;             /* bytes, of this phase and all before */
	bool *loose;                    /* arrivals at the boundary behind a phase may be of either side */
	uint32_t *waited;               /* by thread: phases that it has seen over */
	bool commits;                   /* tcgen05.commit arrives here */
};

static bool arrives(const struct mbar_op *o)
{
	return o->kind == EVENT_MBAR_ARRIVE || o->kind == EVENT_MBAR_COPIES || o->kind == EVENT_TC_COMMIT;
}

static bool copies(const struct mbar_op *o)
{
	return o->kind == EVENT_COPY || o->kind == EVENT_TENSOR || o->kind == EVENT_ASYNC_STORE ||
	       o->kind == EVENT_CANCEL || o->kind == EVENT_MBAR_COMPLETE;
}

static const struct event *event_of(const struct barrier *b, const struct mbar_op *o)
{
	return &b->d->event.v[o->event];
}

static bool same_thread(const struct barrier *b, const struct mbar_op *x, const struct mbar_op *y)
{
	return event_of(b, x)->warp == event_of(b, y)->warp && x->lane == y->lane;
}

/* Arrivals, one phase after the other. */
static void fill_phases(struct barrier *b)
{
	uint32_t need = b->n && b->op[0]->kind == EVENT_MBAR_INIT ? b->op[0]->count : 1, now = 0, more = 0, dropped = 0, phase = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		struct mbar_op *o = b->op[i];

		o->lo = o->hi = phase;
		b->commits |= o->kind == EVENT_TC_COMMIT;
		if (!arrives(o))
			continue;
		/* PTX ISA, "cp.async.mbarrier.arrive": without .noinc one more is expected first. */
		more += o->kind == EVENT_MBAR_COPIES && !(site_of(b->d, event_of(b, o))->flags & EVENT_NOINC);
		dropped += o->drops ? o->count : 0;
		now += o->count;
		b->full[phase] = o->begin;
		if (now < need + more)
			continue;
		need -= dropped < need ? dropped : need;
		now = more = dropped = 0;
		phase++;
	}
	b->nphases = phase;             /* those that are over */
}

/* The arrival of the same thread whose state a wait names. */
static const struct mbar_op *arrival_of(const struct barrier *b, uint32_t wait)
{
	const struct mbar_op *w = b->op[wait];

	for (uint32_t i = wait; i-- > 0;)
		if (b->op[i]->kind == EVENT_MBAR_ARRIVE && same_thread(b, b->op[i], w) && b->op[i]->state == w->state)
			return b->op[i];
	return NULL;
}

/* Phases are numbered from 1 on in waits: 0 is the one before the first. */
static void find_wait(struct barrier *b, uint32_t i)
{
	struct mbar_op *w = b->op[i];
	uint32_t last = 0, first = 0;

	if (!(site_of(b->d, event_of(b, w))->flags & EVENT_PARITY)) {
		const struct mbar_op *a = arrival_of(b, i);

		w->lo = a ? a->lo + 1 : 0;
		w->hi = a ? a->hi + 1 : b->nphases;
		return;
	}
	while (last < b->nphases && b->full[last] <= w->end)
		last++;
	while (first < last && b->seen[first] < w->begin)
		first++;
	/* Phase k is over, and k + 1 is not: the parity of those counted from 0 is k's. */
	if ((last + 1) % 2 != w->state % 2)
		last -= last > 0;
	if ((first + 1) % 2 != w->state % 2)
		first++;
	w->lo = first < last ? first : last;
	w->hi = last;
}

static void find_waits(struct barrier *b)
{
	for (uint32_t k = 0; k < b->n + 2; k++)
		b->seen[k] = UINT64_MAX;
	for (uint32_t i = 0; i < b->n; i++) {
		struct mbar_op *w = b->op[i];

		if (w->kind != EVENT_MBAR_WAIT)
			continue;
		find_wait(b, i);
		for (uint32_t k = 0; k < w->lo; k++)
			b->seen[k] = w->end < b->seen[k] ? w->end : b->seen[k];
		b->d->counter[DETECT_INEXACT_PHASES] += w->lo != w->hi && !b->g->world;
	}
}

/* An arrival that begins before anybody has seen the phase before over may be of that one, and
 * those of that one may be of this. */
static void loosen(struct barrier *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct mbar_op *o = b->op[i];
		uint32_t phase = o->hi, *waited = &b->waited[event_of(b, o)->warp * EVENT_LANES + o->lane];

		if (o->kind == EVENT_MBAR_WAIT)
			*waited = o->lo > *waited ? o->lo : *waited;
		if (!arrives(o) || !phase || o->begin > b->seen[phase - 1] || *waited >= phase)
			continue;
		o->lo = phase - 1;
		b->loose[phase - 1] = true;
	}
	for (uint32_t i = 0; i < b->n; i++)
		b->waited[event_of(b, b->op[i])->warp * EVENT_LANES + b->op[i]->lane] = 0;
	for (uint32_t i = 0; i < b->n; i++) {
		struct mbar_op *o = b->op[i];

		if (!arrives(o) || !b->loose[o->hi])
			continue;
		o->hi++;
		b->d->counter[DETECT_INEXACT_PHASES] += !b->g->world;
	}
}

/* ---- bytes ---------------------------------------------------------------------------------------------- */

/* expect_tx is for the phase that its thread arrives in next. */
static uint32_t expected_in(const struct barrier *b, uint32_t i)
{
	for (uint32_t k = i + 1; b->op[i]->kind == EVENT_MBAR_EXPECT && k < b->n; k++)
		if (arrives(b->op[k]) && same_thread(b, b->op[k], b->op[i]))
			return b->op[k]->lo;
	return b->op[i]->lo;
}

static void expect(struct barrier *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (b->op[i]->kind == EVENT_MBAR_EXPECT || b->op[i]->kind == EVENT_MBAR_ARRIVE)
			b->expected[expected_in(b, i)] += b->op[i]->bytes;
	for (uint32_t k = 1; k <= b->nphases; k++)
		b->expected[k] += b->expected[k - 1];
}

/* A copy is complete with the first phase for which, with the copies issued before it, enough bytes
 * are expected; with none, if there is no such phase. */
static void find_copies(struct barrier *b)
{
	uint64_t bytes = 0;

	expect(b);
	for (uint32_t i = 0; i < b->n; i++) {
		struct mbar_op *o = b->op[i];

		if (!copies(o))
			continue;
		bytes += o->bytes;
		o->lo = 0;
		while (o->lo <= b->nphases && (b->expected[o->lo] < bytes || b->seen[o->lo] < o->begin))
			o->lo++;
		o->hi = o->lo <= b->nphases && b->loose[o->lo] ? o->lo + 1 : o->lo;
		if (o->lo > b->nphases) {
			o->lo = o->hi = NONE;
			b->d->counter[DETECT_INEXACT_PHASES] += !b->g->world;
		}
	}
}

/* ---- what goes to a phase, and what a wait gets of it ------------------------------------------------------ */

static void bring_to(struct barrier *b, const struct mbar_op *o, uint32_t hub, struct brought x)
{
	x.object = b->object;
	for (x.phase = o->lo; o->lo != NONE && x.phase <= o->hi; x.phase++)
		join_hubs(b->g, bring(b->g, b->phases, &x), hub, (struct edge_kind){H_PLAIN, NOW, A_BLOCK});
}

static void bring_heads(struct barrier *b, const struct mbar_op *o)
{
	bool any = o->unsaid && b->d->choices.arrive == ARRIVE_ANY;
	struct brought x = {.block = any ? o->owner : b->d->warp.v[event_of(b, o)->warp].block};

	for (uint32_t i = o->heads.first; i < o->heads.first + o->heads.n; i++) {
		const struct head *h = &b->d->head.v[i];

		x.reach = any ? A_DEVICE : h->reach;
		x.how = h->how;
		bring_to(b, o, h->hub, x);
	}
	/* An arrival that names no scope: what is over, and reads, reach whoever waits. */
	if (o->unsaid && !any && o->heads.n) {
		x.block = o->owner;
		x.reach = A_DEVICE;
		x.how = H_READS;
		bring_to(b, o, b->d->head.v[o->heads.first].hub, x);
	}
}

/* memory-model.md 2.4, AMB-4: bytes are there for any wait, or by cluster scope. */
static void bring_ends(struct barrier *b, const struct mbar_op *o)
{
	uint32_t issuer = b->d->warp.v[event_of(b, o)->warp].block;
	bool strict = b->d->choices.wide_tx && issuer != o->owner && copies(o);
	struct brought x = {
		.block = strict ? issuer : o->owner, .reach = (uint8_t)(strict ? A_CLUSTER : A_DEVICE),
		.how = (uint8_t)(o->kind == EVENT_TC_COMMIT ? H_DONE : H_PLAIN)
	};

	if (o->source != NONE && o->number)
		bring_to(b, o, end_hub(b->g, o->source, o->number, o->kind == EVENT_TC_COMMIT), x);
	if (o->written != NONE)
		bring_to(b, o, end_hub(b->g, o->written, o->number, false), x);
	if (o->visits && arrives(o)) {
		x.how = H_DONE;
		bring_to(b, o, end_hub(b->g, o->visit, 1, false), x);
	}
}

static void get(struct barrier *b, const struct mbar_op *w, uint32_t phase)
{
	const struct event *e = event_of(b, w);
	uint32_t block = b->d->warp.v[e->warp].block;

	for (uint32_t i = first_brought(b->phases, b->object, phase); i != NONE; i = b->phases->brought.v[i].next) {
		const struct brought *x = &b->phases->brought.v[i];
		enum apart apart = apart_of(b->d, x->block, block);
		bool met = meets(b->g, (enum apart)x->reach, (enum apart)w->reach, apart);
		bool always = x->how == H_LOOSE || x->how == H_DONE;
		unsigned later = b->g->world & W_WIDE ? LATER : (unsigned)LATER + apart;

		if (always || met)
			join(b->g, e, 1u << w->lane, x->hub,
			     (struct edge_kind){x->how, (uint8_t)(always || w->acquire ? NOW : later), (uint8_t)apart});
	}
	/* The thread's own products are done, to itself. */
	for (uint32_t i = 0; b->commits && i < b->n; i++) {
		const struct mbar_op *o = b->op[i];
		struct action *a;

		if (o->kind != EVENT_TC_COMMIT || !same_thread(b, o, w) || o->lo > phase || o->hi < phase || !o->number)
			continue;
		a = act(b->g, e, 1u << w->lane, DO_CELLS);
		a->hub = o->source;
		a->arg = o->number;
	}
}

/* ---- all of one ------------------------------------------------------------------------------------------------ */

static void one_life(struct barrier *b)
{
	struct arena *a = &b->d->arena;

	b->full = (uint64_t *)arena_get(a, b->n + 2, sizeof *b->full);
	b->seen = (uint64_t *)arena_get(a, b->n + 2, sizeof *b->seen);
	b->expected = (uint64_t *)arena_get(a, b->n + 2, sizeof *b->expected);
	b->loose = (bool *)arena_get(a, b->n + 2, sizeof *b->loose);
	fill_phases(b);
	find_waits(b);
	loosen(b);
	find_copies(b);
	for (uint32_t i = 0; i < b->n; i++) {
		if (arrives(b->op[i]))
			bring_heads(b, b->op[i]);
		bring_ends(b, b->op[i]);
	}
	for (uint32_t i = 0; i < b->n; i++)
		for (uint32_t n = b->op[i]->lo; b->op[i]->kind == EVENT_MBAR_WAIT && n <= b->op[i]->hi; n++)
			if (n)
				get(b, b->op[i], n - 1);
}

/* One place: a life from each init on. */
static void one_place(struct barrier *b, struct mbar_op **op, uint32_t n)
{
	for (uint32_t i = 0; i < n; i += b->n) {
		struct life *l = ADD(&b->d->life);

		b->op = op + i;
		b->commits = false;
		b->n = 1;
		while (i + b->n < n && op[i + b->n]->kind != EVENT_MBAR_INIT)
			b->n++;
		b->object = b->d->life.n - 1;
		l->op = b->op;
		l->n = b->n;
		l->before = i ? b->object - 1 : NONE;
		one_life(b);
	}
}

/* Whether the operations are all of one multiprocessor, whose clock orders them. */
static bool one_clock(const struct detect *d, const uint32_t *item, uint32_t n)
{
	const struct block *first = block_of(d, d->event.v[d->mbar.v[item[0]].event].warp);

	for (uint32_t i = 1; i < n; i++)
		if (block_of(d, d->event.v[d->mbar.v[item[i]].event].warp)->sm != first->sm)
			return false;
	return true;
}

static struct mbar_op **in_time(struct detect *d, const uint32_t *item, uint32_t n)
{
	bool clock = one_clock(d, item, n);
	struct sorting o = new_sorting(&d->arena, n);
	struct mbar_op **op = (struct mbar_op **)arena_get(&d->arena, n, sizeof(struct mbar_op *));

	for (uint32_t i = 0; i < n; i++) {
		struct mbar_op *x = &d->mbar.v[item[i]];
		const struct event *e = &d->event.v[x->event];

		x->begin = clock ? e->clock[EVENT_BEFORE] : e->timer[EVENT_BEFORE];
		x->end = clock ? e->clock[EVENT_BEHIND] : e->timer[EVENT_BEHIND];
		/* Of a wait counts when it saw the phase over, or not. */
		o.key[i] = x->kind == EVENT_MBAR_WAIT || x->kind == EVENT_MBAR_TRY ? x->end : x->begin;
	}
	sort(&o);
	for (uint32_t i = 0; i < n; i++)
		op[i] = &d->mbar.v[item[o.item[i]]];
	return op;
}

void link_mbarriers(struct detect *d, struct graph *g)
{
	struct phases phases;
	struct barrier b = {.d = d, .g = g, .phases = &phases};
	struct sorting o = new_sorting(&d->arena, d->mbar.n);

	memset(&phases, 0, sizeof phases);
	b.waited = (uint32_t *)arena_get(&d->arena, d->warp.n * EVENT_LANES, sizeof *b.waited);
	for (uint32_t i = 0; i < o.n; i++)
		o.key[i] = (uint64_t)d->mbar.v[i].owner << 32 | d->mbar.v[i].address;
	sort(&o);
	for (uint32_t i = 0, to; i < o.n; i = to) {
		for (to = i + 1; to < o.n && o.key[to] == o.key[i];)
			to++;
		one_place(&b, in_time(d, o.item + i, to - i), to - i);
	}
	free_phases(&phases);
}
