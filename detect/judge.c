/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c: two accesses that overlap: are they ordered, and seen through their proxies?
 * (memory-model.md 1.1, 1.2, chapter 2)
 */
#include "detect/impl.h"

/* ---- asking ------------------------------------------------------------------------------------- */

static const uint32_t nothing[FACETS] = {0};

const uint32_t *knows(const struct court *c, uint32_t source, const struct access *by)
{
	struct question q = {source, step_before(c->g, by->warp, by->lanes, by->pos), by->warp, by->lanes};

	return q.step == NONE ? nothing : ask(c, q);
}

static bool known(const uint32_t *facets, const struct access *a)
{
	return facets[F_ALL] >= a->number || (a->space && facets[F_SHARED] >= a->number) ||
	       (a->init && facets[F_INITS] >= a->number) ||
	       /* An arrival of no scope passes on what is over and reads. */
	       (facets[F_READS] >= a->number && (!a->writes || a->proxy == P_ASYNC));
}

static bool same_thread(const struct access *a, const struct access *b)
{
	return a->source == b->source && !a->operation && !b->operation;
}

/* ---- order ---------------------------------------------------------------------------------------- */

/* PTX ISA, "tcgen05: Pipelined Instructions": copies before products, products into the same
 * accumulator.  Libraries take it that copies come behind each other, and behind products whose scale
 * factors they replace, and products behind those whose A they overwrite. */
static bool pipelined(const struct access *a, const struct access *b)
{
	if (!a->pipe_kind || !b->pipe_kind)
		return false;
	if (b->pipe_kind == PIPE_COPY)
		return a->pipe_kind == PIPE_COPY || a->pipe_kind == PIPE_SCALE;
	return a->pipe_kind == PIPE_COPY ||
	       (b->pipe_kind == PIPE_D && (a->pipe_kind == PIPE_A || (a->pipe_kind == PIPE_D && a->pipe == b->pipe)));
}

static enum order tensor_order(const struct court *c, const struct access *a, const struct access *b)
{
	const uint32_t *f = knows(c, a->source, b);

	if (!f)
		return NOT_KNOWN;
	/* For the end of an allocation, and its begin, an order is enough (PTX ISA, "tcgen05.dealloc"). */
	if (f[F_CELLS] >= a->number || ((c->d->choices.no_tensor_fence || a->at_once || b->at_once) && f[F_ALL] >= a->number))
		return ORDERED;
	if (!pipelined(a, b))
		return UNORDERED;
	f = knows(c, a->source + TENSOR_ISSUED - TENSOR_OPERATIONS, b);
	return !f ? NOT_KNOWN : f[F_CELLS] >= a->number ? ORDERED : UNORDERED;
}

enum order in_order(const struct court *c, const struct access *a, const struct access *b)
{
	const struct detect *d = c->d;
	uint32_t la = d->block.v[access_block(d, a)].launch, lb = d->block.v[access_block(d, b)].launch;
	const uint32_t *f;

	if (a->space & TENSOR_SPACE)
		return tensor_order(c, a, b);
	/* What a thread did before it issued an operation comes before that. */
	if (same_thread(a, b) || (!a->operation && a->warp == b->warp && a->lanes & b->lanes && a->pos < b->pos))
		return a->pos <= b->pos ? ORDERED : UNORDERED;
	if (d->choices.lockstep && !a->operation && a->warp == b->warp)
		return ORDERED;
	if (la != lb) {
		f = knows(c, SOURCE(SOURCE_LAUNCH, la), b);
		if (!f || f[F_ALL])
			return f ? ORDERED : NOT_KNOWN;
	}
	/* Most are on two sides of a barrier, which need not be asked.  The reference asks, but for cycles: to walk over them takes long. */
	if (!a->operation && (c->g->cycle.n || !d->choices.reference) && is_direct(c->g, a, b))
		return ORDERED;
	f = knows(c, a->source, b);
	return !f ? NOT_KNOWN : known(f, a) ? ORDERED : UNORDERED;
}

/* ---- proxies ----------------------------------------------------------------------------------------- */

/* Has that acquiring fence of the copy's map come before the copy, in its block? */
enum order map_acquired(const struct court *c, const struct map_fence *m, const struct access *copy)
{
	const uint32_t *f;

	if (m->address != copy->pipe || access_block(c->d, &m->at) != access_block(c->d, copy))
		return UNORDERED;
	if (m->at.warp == copy->warp && m->at.lanes & copy->lanes)
		return m->at.pos <= copy->pos ? ORDERED : UNORDERED;
	f = knows(c, m->at.source, copy);
	return !f ? NOT_KNOWN : f[F_ALL] >= m->at.pos ? ORDERED : UNORDERED;
}

/* R9: was what `a` wrote released, and acquired for this map in the block of the copy? */
static enum verdict map_fenced(const struct court *c, const struct access *a, const struct access *b)
{
	enum verdict v = UNFENCED;

	for (uint32_t i = 0; i < c->d->map_fence.n; i++) {
		const struct map_fence *m = &c->d->map_fence.v[i];
		enum order o = map_acquired(c, m, b);
		const uint32_t *f = o == ORDERED ? knows(c, a->source, &m->at) : NULL;

		if (f && f[F_MAP] >= a->number)
			return FINE;
		v = o == NOT_KNOWN || (o == ORDERED && !f) ? UNKNOWN : v;
	}
	return v;
}

/* Where an access lies decides which fence covers it, and in which block that has to run: that of the
 * asynchronous access, or, where it goes to another block's shared memory, either (2.3). */
static enum verdict async_fenced(const struct court *c, const struct access *a, const struct access *b, const uint32_t *f)
{
	const struct choices *ch = &c->d->choices;
	uint32_t here = access_block(c->d, b), by = access_block(c->d, a);
	bool own, path, there = by == here || ch->any_block, whole = f[F_OWN] >= a->number || f[F_WHOLE] >= a->number;
	bool cluster = there && f[F_OWN_CLUSTER] >= a->number;

	if (a->space == GLOBAL_SPACE) {
		own = there && f[F_OWN_GLOBAL] >= a->number;
		path = f[F_HERE_GLOBAL] >= a->number;
	} else if (a->space == 1 + here) {
		own = by == here ? whole : cluster;
		path = f[F_HERE] >= a->number;
	} else {
		/* st.async and red.async: whoever saw it end is of the block whose memory it is. */
		own = a->space == 1 + by ? whole : cluster || (a->operation && f[F_OWN] >= a->number);
		path = f[F_HERE_CLUSTER] >= a->number;
	}
	if (own || (path && (by != here || ch->path)) || (ch->war == WAR_OFF && !a->writes))
		return FINE;
	return path ? MISFENCED : UNFENCED;
}

/* Fenced for the async proxy, by whomever. */
static bool any_fence(const struct access *a, uint32_t block, const uint32_t *f)
{
	unsigned own = a->space == GLOBAL_SPACE ? F_OWN_GLOBAL : a->space == 1 + block ? F_OWN : F_OWN_CLUSTER;

	return f[own] >= a->number || f[own + F_HERE - F_OWN] >= a->number;
}

/* PTX ISA, "Proxy-preserved Base Causality Order".  The end of an asynchronous operation is a fence to
 * whoever sees it. */
static enum verdict proxies(const struct court *c, const struct access *a, const struct access *b)
{
	const struct choices *ch = &c->d->choices;
	uint32_t here = access_block(c->d, b);
	const uint32_t *f;

	if (a->space & TENSOR_SPACE)
		return FINE;
	if ((a->proxy == P_MULTIMEM) == (b->proxy == P_MULTIMEM) && a->proxy == b->proxy && !ch->per_block)
		return FINE;
	if (b->proxy == P_MAP && a->proxy <= P_MULTIMEM)
		return map_fenced(c, a, b);
	f = knows(c, a->source, b);
	if (!f)
		return UNKNOWN;
	if ((a->proxy == P_MULTIMEM) != (b->proxy == P_MULTIMEM) && f[F_ALIAS] < a->number)
		return UNFENCED;
	if (a->proxy == P_ASYNC && (b->proxy == P_ASYNC ? ch->per_block && access_block(c->d, a) != here :
				    b->proxy <= P_MULTIMEM && ch->read_fence && !a->writes))
		return any_fence(a, here, f) ? FINE : UNFENCED;
	if (a->proxy > P_MULTIMEM || b->proxy <= P_MULTIMEM)
		return FINE;
	return async_fenced(c, a, b, f);
}

enum verdict seen_by_async(const struct court *c, const struct access *a, const struct access *b)
{
	struct access x = *b;

	x.proxy = P_ASYNC;
	return c->d->asyncs && a->proxy == P_GENERIC && b->proxy == P_GENERIC && a->source != b->source ? proxies(c, a, &x) : FINE;
}

/* ---- observed --------------------------------------------------------------------------------------------- */

static uint64_t place_in_log(const struct detect *d, const struct word_op *o)
{
	return (uint64_t)d->event.v[o->event].warp << 32 | d->event.v[o->event].pos;
}

/* The element of a strong access of a thread; NULL. */
static const struct word_op *word_of(const struct detect *d, const struct access *a)
{
	uint64_t want = (uint64_t)a->warp << 32 | a->pos;
	uint32_t lo = 0, hi = d->word_op.n;

	BISECT(lo, hi, place_in_log(d, &d->word_op.v[mid]) < want);
	for (; a->strong && !a->operation && lo < d->word_op.n && place_in_log(d, &d->word_op.v[lo]) == want; lo++)
		if (1u << d->word_op.v[lo].lane == a->lanes && d->word_op.v[lo].address == a->address)
			return &d->word_op.v[lo];
	return NULL;
}

bool was_read(const struct detect *d, const struct access *a)
{
	const struct word_op *o = word_of(d, a);

	return o && o->seen;
}

void count_plain(struct detect *d, const struct access *strong)
{
	const struct word_op *o = word_of(d, strong);
	struct known_word *w = o ? &d->word.v[o->word] : NULL;

	if (!w || !w->open || w->counted)
		return;
	w->counted = true;
	d->counter[DETECT_INEXACT_READS]++;
}

static enum apart between(const struct detect *d, const struct word_op *a, const struct word_op *b)
{
	return apart_of(d, d->warp.v[d->event.v[a->event].warp].block, d->warp.v[d->event.v[b->event].warp].block);
}

enum { CHAIN = 4096 };          /* read-modify-writes that are followed */

/* Among those from `from` on. */
static void add_observer(struct detect *d, uint32_t from, uint32_t thread, uint32_t pos)
{
	uint32_t *last = &d->observer_of[thread];
	struct observer *o = *last > from ? &d->observer.v[*last - 1] : NULL;

	if (o) {
		o->pos = pos < o->pos ? pos : o->pos;
		return;
	}
	*ADD(&d->observer) = (struct observer){thread, pos};
	*last = d->observer.n;
}

/* Who read what the write wrote, or what a chain of read-modify-writes made of it; for a chain that is
 * too long, anybody. */
static void find_observers(const struct court *c, const struct word_op *first, struct observers *to)
{
	struct detect *d = c->d;
	const struct word_op *chain[CHAIN];
	uint32_t n = 1, done = 0;

	chain[0] = first;
	d->followed[first - d->word_op.v] = ++d->follows;
	to->first = d->observer.n;
	for (; done < n; done++) {
		uint32_t op = (uint32_t)(chain[done] - d->word_op.v);

		for (uint32_t i = d->readers.first[op]; i < d->readers.first[op + 1]; i++) {
			const uint32_t number = d->readers.item[i];
			const struct word_op *r = &d->word_op.v[number];
			const struct event *e = &d->event.v[r->event];

			/* Where it is open who read whom, a chain comes back to where it was. */
			if (d->followed[number] == d->follows ||
			    !meets(c->g, (enum apart)chain[done]->reach, (enum apart)r->reach, between(d, chain[done], r)))
				continue;
			d->followed[number] = d->follows;
			if (n < CHAIN && r->writes)
				chain[n++] = r;
			if (meets(c->g, (enum apart)first->reach, (enum apart)r->reach, between(d, first, r)))
				add_observer(d, to->first, e->warp * EVENT_LANES + r->lane, e->pos);
		}
	}
	to->n = d->observer.n - to->first;
	to->known = true;
	to->anybody = n == CHAIN;
	d->counter[DETECT_INEXACT_READS] += to->anybody && !c->g->world;
}

/* memory-model.md 1.2, 9: did an operation that comes before `b` read what `a` wrote, or what a chain
 * of read-modify-writes made of it? */
static enum verdict observed(const struct court *c, const struct access *a, const struct access *b)
{
	struct detect *d = c->d;
	const struct word_op *first = a->writes ? word_of(d, a) : NULL;
	struct observers *o;
	enum verdict v = OPEN;

	if (!first)
		return OPEN;
	if (!d->observers)
		find_readers(d);
	o = &d->observers[first - d->word_op.v];
	if (!o->known)
		find_observers(c, first, o);
	if (o->anybody)
		return FINE;
	for (uint32_t i = o->first; i < o->first + o->n; i++) {
		const struct observer *x = &d->observer.v[i];
		uint32_t source = SOURCE(SOURCE_THREAD, x->thread);
		const uint32_t *f = b->source == source ? NULL : knows(c, source, b);

		if (b->source == source ? x->pos < b->pos : f && f[F_ALL] >= x->pos)
			return FINE;
		v = b->source == source || f ? v : UNKNOWN;
	}
	return v;
}

enum order seen_before(const struct court *c, const struct access *a, const struct access *b)
{
	enum order o = in_order(c, a, b);
	enum verdict v = o == UNORDERED ? observed(c, a, b) : OPEN;

	return v == FINE ? ORDERED : v == UNKNOWN ? NOT_KNOWN : o;
}

/* ---- a pair -------------------------------------------------------------------------------------------------- */

/* Morally strong: one element of both, in each other's scope. */
static bool together(const struct court *c, const struct access *a, const struct access *b, uint64_t at)
{
	return a->strong && b->strong && a->proxy == b->proxy && a->element == b->element &&
	       (at - a->address) / a->element * a->element + a->address ==
	       (at - b->address) / b->element * b->element + b->address &&
	       meets(c->g, (enum apart)a->scope, (enum apart)b->scope, apart_of(c->d, access_block(c->d, a), access_block(c->d, b)));
}

/* Synchronisation that was not logged may have ordered whatever its thread did before against all
 * that comes, and the other way round. */
static bool may_be_ordered(const struct detect *d, const struct access *a, const struct access *b)
{
	return d->opaque && (d->opaque[a->warp].last >= a->pos || (d->opaque[b->warp].last && d->opaque[b->warp].first <= b->pos));
}

/* memory-model.md 1.12.  Others may have been told of it: did who ran it in that warp know of `a`, or does who began `b`
 * know of it? */
static enum verdict told_of_opaque(const struct court *c, uint32_t warp, const struct access *a, const struct access *b)
{
	const struct opaque *o = &c->d->opaque[warp];
	const struct access last = {.warp = warp, .lanes = o->last_lanes, .pos = o->last};
	const uint32_t thread = warp * EVENT_LANES + (uint32_t)__builtin_ctz(o->first_lanes);
	const uint32_t *f = knows(c, SOURCE(SOURCE_THREAD, thread), b);

	for (int i = 0; f && i < FACETS; i++)
		if (f[i] >= o->first)
			return FINE;
	if (!f)
		return UNKNOWN;
	f = knows(c, a->source, &last);
	return !f ? UNKNOWN : known(f, a) ? FINE : OPEN;
}

/* What is told of a pair where synchronisation was not logged. */
static enum verdict despite_opaque(const struct court *c, const struct access *a, const struct access *b, enum verdict v)
{
	enum verdict told = OPEN;

	for (uint32_t w = 0; w < c->d->warp.n && told != FINE; w++)
		if (c->d->opaque[w].last) {
			enum verdict t = told_of_opaque(c, w, a, b);

			told = t == OPEN ? told : t;
		}
	return told == OPEN ? v : told;
}

/* A launch comes behind those before it, but for tensor maps that they stored (memory-model.md 1.11). */
static enum verdict ordered(const struct court *c, const struct access *a, const struct access *b)
{
	const struct detect *d = c->d;
	enum order o;

	if (d->block.v[access_block(d, a)].launch == d->block.v[access_block(d, b)].launch)
		return proxies(c, a, b);
	if (b->proxy != P_MAP || a->proxy > P_MULTIMEM)
		return FINE;
	o = map_acquired_by_any(c, b);
	return o == NOT_KNOWN ? UNKNOWN : o == ORDERED ? FINE : UNFENCED;
}

static enum verdict judge_logged(const struct court *c, const struct access *a, const struct access *b, uint64_t at, enum order *told)
{
	const struct detect *d = c->d;
	enum order forth, back;
	enum verdict v = FINE;
	/* Through the read-only path nothing may be read that this launch has written before. */
	const bool stale = b->read_only && a->writes && d->block.v[access_block(d, a)].launch == d->block.v[access_block(d, b)].launch;

	if ((!a->writes && !b->writes) || (a->operation && a->operation == b->operation) ||
	    (same_thread(a, b) && !b->read_only && (a->proxy == P_MULTIMEM) == (b->proxy == P_MULTIMEM)))
		return FINE;
	/* ptxas makes one of stores that lanes make together (AMB-17). */
	if (a->what && a->what == b->what && access_block(d, a) == access_block(d, b))
		return FINE;
	if (may_be_ordered(d, a, b) || together(c, a, b, at))
		return FINE;
	*told = forth = in_order(c, a, b);
	if (forth == ORDERED && !stale && ((v = ordered(c, a, b)) == FINE || v == UNKNOWN))
		return v;
	/* The accesses of one record are in each order, and `a` is the first one. */
	if (forth == ORDERED && stale && same_thread(a, b))
		return OPEN;
	/* Where one order of the two is taken too many, it is the other that counts. */
	back = forth == NOT_KNOWN ? UNORDERED : in_order(c, b, a);
	if (back == ORDERED)
		return ordered(c, b, a);
	if (stale && forth != NOT_KNOWN && back != NOT_KNOWN)
		return OPEN;
	if (forth == ORDERED && back == UNORDERED)
		return v;
	v = forth == NOT_KNOWN || back == NOT_KNOWN ? UNKNOWN : observed(c, a, b);
	return v == OPEN ? observed(c, b, a) : v;
}

enum verdict judge_and_order(const struct court *c, const struct access *a, const struct access *b, uint64_t at, enum order *forth)
{
	enum verdict v;

	*forth = NOT_KNOWN;
	v = judge_logged(c, a, b, at, forth);
	return v == FINE || v == UNKNOWN || !c->d->opaque ? v : despite_opaque(c, a, b, v);
}

enum verdict judge(const struct court *c, const struct access *a, const struct access *b, uint64_t at)
{
	enum order forth;

	return judge_and_order(c, a, b, at, &forth);
}
