/* SPDX-License-Identifier: Apache-2.0
 *
 * misuse.c: what may not be done with barriers, with mbarriers and with the shared memory of
 * blocks that have not begun or have ended (memory-model.md 1.5, 1.7, 1.11).
 */
#include <string.h>

#include "detect/impl.h"

/* ---- saying it ------------------------------------------------------------------------------------ */

static struct access as_access(const struct detect *d, const struct event *e, unsigned lane)
{
	struct access a;

	memset(&a, 0, sizeof a);
	a.site = e->site;
	a.warp = e->warp;
	a.lanes = 1u << lane;
	a.pos = e->pos;
	a.source = SOURCE(SOURCE_THREAD, e->warp * EVENT_LANES + lane);
	a.number = e->pos;
	a.timer = e->timer[EVENT_BEFORE];
	a.space = 1 + d->warp.v[e->warp].block;
	return a;
}

static void say(struct detect *d, enum detect_kind kind, const struct access *a, const struct access *b)
{
	struct detect_finding f;

	memset(&f, 0, sizeof f);
	f.kind = kind;
	f.why = DETECT_MISUSE;
	f.side[0] = side_of(d, a);
	f.one = !b;
	if (b)
		f.side[1] = side_of(d, b);
	f.count = 1;
	add_finding(d, &f);
}

/* PTX ISA, "bar.warp.sync": undefined if the executing thread is not in the mask. */
void misuse_barrier(struct scan *s, const struct event *e, uint32_t lanes)
{
	struct access a = as_access(s->d, e, event_first(lanes));

	say(s->d, DETECT_BARRIER_MISUSE, &a, NULL);
}

/* ---- mbarriers --------------------------------------------------------------------------------------- */

/* What who does `o` knew just before. */
static const uint32_t *knew(const struct court *c, uint32_t source, const struct access *by)
{
	struct access before = *by;

	before.pos--;
	return knows(c, source, &before);
}

static struct access use_of(const struct detect *d, const struct mbar_op *o)
{
	struct access a = as_access(d, &d->event.v[o->event], o->lane);

	a.timer = time_at(&d->graph, &a);
	a.space = 1 + o->owner;
	a.address = o->address;
	a.whole = a.bytes = 8;
	return a;
}

/* Does who uses it come behind its init?  0: no, 1: yes, -1: asked. */
static int behind_init(const struct court *c, const struct access *use, const struct access *init)
{
	const uint32_t *f = use->source == init->source ? NULL : knew(c, init->source, use);

	if (use->source == init->source)
		return use->pos > init->pos;
	return !f ? -1 : f[F_ALL] >= init->pos || f[F_SHARED] >= init->pos || f[F_INITS] >= init->pos;
}

/* What ends an mbarrier comes after all that was done with it.  Libraries let one lane speak for those
 * that it has met in a vote or a match, which order no memory; for the end of an mbarrier that is
 * enough. */
static int behind_use(const struct court *c, const struct access *end, const struct access *use)
{
	int answer = 0;

	if (end->warp == use->warp)
		return 1;
	for (uint32_t l = 0; l < EVENT_LANES; l++) {
		const uint32_t *f = knew(c, SOURCE(SOURCE_THREAD, use->warp * EVENT_LANES + l), end);

		if (f && (f[F_ALL] >= use->pos || f[F_READS] >= use->pos))
			return 1;
		answer = f ? answer : -1;
	}
	return answer;
}

static bool is_use(const struct mbar_op *o)
{
	return o->kind != EVENT_MBAR_INIT && o->kind != EVENT_MBAR_INVAL && o->kind != EVENT_COPY && o->kind != EVENT_TENSOR &&
	       o->kind != EVENT_ASYNC_STORE && o->kind != EVENT_CANCEL;
}

/* Was it the last of its thread's uses at that instruction before the end? */
static bool last_use(const struct detect *d, const struct life *l, uint32_t i, uint32_t end)
{
	const struct mbar_op *o = l->op[i];

	for (uint32_t k = i + 1; k < end; k++)
		if (l->op[k]->lane == o->lane && d->event.v[l->op[k]->event].warp == d->event.v[o->event].warp &&
		    d->event.v[l->op[k]->event].site == d->event.v[o->event].site)
			return false;
	return true;
}

static bool judge_end(const struct court *c, const struct life *l, uint32_t end, bool report)
{
	struct access inval = use_of(c->d, l->op[end]);
	bool asks = false;

	for (uint32_t i = 0; i < end; i++) {
		struct access use = use_of(c->d, l->op[i]);
		int behind;

		if (!is_use(l->op[i]) || !last_use(c->d, l, i, end))
			continue;
		behind = behind_use(c, &inval, &use);
		asks |= behind < 0;
		if (report && !behind)
			say(c->d, DETECT_MBARRIER_MISUSE, &inval, &use);
	}
	return asks;
}

/* Has who initialised it run fence.mbarrier_init behind that? */
static bool init_fenced(const struct detect *d, const struct access *init)
{
	const struct warp *w = &d->warp.v[init->warp];

	for (uint32_t i = 0; i < w->n; i++) {
		const struct event *e = &d->event.v[w->first + i];

		if (e->kind == EVENT_FENCE && e->pos > init->pos && e->lanes & init->lanes &&
		    site_of(d, e)->variant == EVENT_FENCE_INIT)
			return true;
	}
	return false;
}

/* memory-model.md 2.4, AMB-7: a copy accesses its mbarrier through the async proxy.  True: asked. */
static bool operand_fenced(const struct court *c, const struct mbar_op *o, const struct access *init, bool report)
{
	struct access use = use_of(c->d, o);
	const uint32_t *f = knew(c, init->source, &use);
	bool home = access_block(c->d, &use) == o->owner;
	unsigned own = home ? F_OWN : F_OWN_CLUSTER, here = own + F_HERE - F_OWN;
	struct detect_finding x;

	if (!report || !f || f[own] >= init->pos || init_fenced(c->d, init) ||
	    (f[here] >= init->pos && (c->d->choices.path || !home)))
		return !f;
	memset(&x, 0, sizeof x);
	x.kind = f[here] >= init->pos ? DETECT_PROXY_FENCE_ORDER : DETECT_PROXY_RACE;
	x.why = f[here] >= init->pos ? DETECT_FENCE_ELSEWHERE : DETECT_NO_PROXY_FENCE;
	x.side[0] = side_of(c->d, init);
	x.side[1] = side_of(c->d, &use);
	x.count = 1;
	add_finding(c->d, &x);
	return false;
}

static bool judge_use(const struct court *c, const struct life *l, uint32_t i, uint32_t end, bool report)
{
	struct access use = use_of(c->d, l->op[i]), init = use_of(c->d, l->op[0]);
	int behind;

	if (l->op[0]->kind != EVENT_MBAR_INIT || i > end) {
		/* Before its init, or behind its inval. */
		if (report)
			say(c->d, DETECT_MBARRIER_MISUSE, &use, i > end ? &init : NULL);
		return false;
	}
	behind = behind_init(c, &use, &init);
	if (report && !behind)
		say(c->d, DETECT_MBARRIER_MISUSE, &use, &init);
	if (behind > 0 && c->d->choices.init_fence && !is_use(l->op[i]))
		return operand_fenced(c, l->op[i], &init, report);
	return behind < 0;
}

/* PTX ISA, "mbarrier.init": an object that is in use may not be initialised again. */
static void judge_init(struct detect *d, const struct life *l)
{
	const struct life *before = l->before == NONE ? NULL : &d->life.v[l->before];
	bool live = before && before->op[0]->kind == EVENT_MBAR_INIT;

	for (uint32_t i = 0; before && i < before->n; i++)
		live &= before->op[i]->kind != EVENT_MBAR_INVAL;
	if (live && l->op[0]->kind == EVENT_MBAR_INIT) {
		struct access init = use_of(d, l->op[0]), was = use_of(d, before->op[0]);

		say(d, DETECT_MBARRIER_MISUSE, &init, &was);
	}
}

static bool fresh(const struct detect *d, const struct mbar_op *o)
{
	const struct event *e = &d->event.v[o->event];

	return e->pos > d->warp.v[e->warp].judged;
}

static bool judge_life(const struct court *c, const struct life *l, bool report)
{
	uint32_t end = 0;
	bool asks = false;

	while (end < l->n && l->op[end]->kind != EVENT_MBAR_INVAL)
		end++;
	if (report && fresh(c->d, l->op[0]))
		judge_init(c->d, l);
	for (uint32_t i = l->op[0]->kind == EVENT_MBAR_INIT; i < l->n; i++)
		if (fresh(c->d, l->op[i]))
			asks |= judge_use(c, l, i, end, report);
	if (end < l->n && fresh(c->d, l->op[end]))
		asks |= judge_end(c, l, end, report);
	return asks;
}

/* PTX ISA, "mbarrier": nothing but mbarrier instructions may touch one that lives. */
static bool judge_store(const struct court *c, const struct access *a, const struct life *l, bool report)
{
	struct access init = use_of(c->d, l->op[0]);
	bool asks = false;

	if (l->op[0]->kind != EVENT_MBAR_INIT || a->space != init.space || a->address >= init.address + 8 ||
	    init.address >= a->address + a->bytes || a->timer < init.timer)
		return false;
	for (uint32_t i = 0; i < l->n; i++) {
		struct access x = use_of(c->d, l->op[i]);
		enum order o = !i ? in_order(c, a, &x) : l->op[i]->kind == EVENT_MBAR_INVAL ? in_order(c, &x, a) : UNORDERED;

		if (o == ORDERED)
			return false;
		asks |= o == NOT_KNOWN;
	}
	if (report)
		say(c->d, DETECT_MBARRIER_MISUSE, a, &init);
	return asks;
}

static bool judge_stores(const struct court *c, bool report)
{
	bool asks = false;

	for (uint32_t i = 0; i < c->d->access.n; i++) {
		const struct access *a = &c->d->access.v[i];

		for (uint32_t k = 0; a->writes && !a->init && !a->old && a->space && k < c->d->life.n; k++)
			asks |= judge_store(c, a, &c->d->life.v[k], report);
	}
	return asks;
}

void judge_mbarriers(struct detect *d)
{
	struct court c = {d, &d->graph, &d->answers};
	bool asks;

	do {
		asks = judge_stores(&c, false);
		for (uint32_t i = 0; i < d->life.n; i++)
			asks |= judge_life(&c, &d->life.v[i], false);
		answer_all(d, &d->graph, &d->answers);
	} while (asks);
	for (uint32_t i = 0; i < d->life.n; i++)
		judge_life(&c, &d->life.v[i], true);
	judge_stores(&c, true);
}

/* ---- blocks that have not begun, or have ended ------------------------------------------------------------ */

/* What a block's own threads do is over when they end; what others do there, and operations that
 * no thread waits for, may not be. */
static bool is_guest(const struct detect *d, const struct access *a)
{
	if (a->space & TENSOR_SPACE)
		return false;
	if (!a->space)
		return d->choices.exits && a->writes && a->ends == ENDS_BULK;
	return access_block(d, a) != a->space - 1 || a->ends == ENDS_SINGLE || a->ends == ENDS_BULK;
}

static void add_guest(struct detect *d, const struct access *a)
{
	struct guest *g = ADD(&d->guest);

	g->access = *a;
	g->owner = a->space ? a->space - 1 : access_block(d, a);
}

static void find_guests(struct detect *d)
{
	for (uint32_t i = 0; i < d->access.n; i++)
		if (!d->access.v[i].old && is_guest(d, &d->access.v[i]))
			add_guest(d, &d->access.v[i]);
	for (uint32_t i = 0; i < d->mbar.n; i++) {
		const struct mbar_op *o = &d->mbar.v[i];
		struct access a = use_of(d, o);

		if (!fresh(d, o) || !o->visits)
			continue;
		a.source = o->visit;
		a.number = 1;
		add_guest(d, &a);
	}
}

/* Had the block begun, as far as who accesses its memory knows? */
static bool judge_begun(const struct court *c, const struct guest *g, bool report)
{
	const uint32_t *f = access_block(c->d, &g->access) == g->owner ? NULL : knows(c, SOURCE(SOURCE_BLOCK, g->owner), &g->access);

	if (access_block(c->d, &g->access) == g->owner || !g->access.space)
		return false;
	if (report && f && !f[F_BEGUN])
		say(c->d, DETECT_LIFETIME, &g->access, NULL);
	return !f;
}

/* Do those who ended last know that it is over?  Scopes do not matter: it has gone past. */
static bool judge_left(const struct court *c, const struct guest *g, bool report)
{
	struct question q = {g->access.source, c->g->ended[g->owner], ASK_HUB, 1};
	const uint32_t *f = ask(c->answers, &q);

	if (c->d->choices.wide_tx && access_block(c->d, &g->access) != g->owner)
		return false;
	if (report && f && f[F_ALL] < g->access.number && f[F_SHARED] < g->access.number)
		say(c->d, DETECT_LIFETIME, &g->access, NULL);
	return !f;
}

static bool has_ended(const struct detect *d, uint32_t block)
{
	return d->block.v[block].threads && d->block.v[block].ended == d->block.v[block].threads;
}

static bool each_guest(const struct court *c, bool (*ask_of)(const struct court *, const struct guest *, bool), bool report, bool ended)
{
	bool asks = false;

	for (uint32_t i = 0; i < c->d->guest.n; i++) {
		const struct guest *g = &c->d->guest.v[i];

		if (ended ? has_ended(c->d, g->owner) : !g->access.old)
			asks |= ask_of(c, g, report);
	}
	return asks;
}

void judge_begins(struct detect *d)
{
	struct court c = {d, &d->graph, &d->answers};

	find_guests(d);
	while (each_guest(&c, judge_begun, false, false))
		answer_all(d, &d->graph, &d->answers);
	each_guest(&c, judge_begun, true, false);
}

/* In the world where scopes hold everybody. */
void judge_ends(struct detect *d, const struct graph *wide)
{
	struct answers answers;
	struct court c = {d, wide, &answers};
	uint32_t n = 0;

	memset(&answers, 0, sizeof answers);
	while (each_guest(&c, judge_left, false, true))
		answer_all(d, wide, &answers);
	each_guest(&c, judge_left, true, true);
	for (uint32_t i = 0; i < d->guest.n; i++) {
		struct guest g = d->guest.v[i];

		g.access.old = true;
		if (!has_ended(d, g.owner))
			d->guest.v[n++] = g;
	}
	d->guest.n = n;
	free_answers(&answers);
}
