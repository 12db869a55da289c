/* SPDX-License-Identifier: Apache-2.0
 *
 * misuse.c: what may not be done with barriers and with mbarriers (memory-model.md 1.5, 1.7), or
 * with the shared memory of blocks that have not begun or have ended (1.11).
 */
#include "detect/impl.h"

/* ---- saying it ------------------------------------------------------------------------------------ */

struct access as_access(const struct detect *d, const struct event *e, uint32_t lanes)
{
	return (struct access){
		.clock = e->clock[EVENT_BEFORE], .timer = e->timer[EVENT_BEFORE], .space = 1 + d->warp.v[e->warp].block,
		.site = e->site, .warp = e->warp,
		.lanes = lanes, .pos = e->pos, .source = SOURCE(SOURCE_THREAD, e->warp * EVENT_LANES + event_first(lanes)),
		.number = e->pos
	};
}

void say(struct detect *d, enum detect_kind kind, enum detect_why why, const struct access *a, const struct access *b)
{
	struct detect_finding f = {.kind = kind, .why = why, .one = !b, .met = {DETECT_NO_SITE, DETECT_NO_SITE}, .count = 1};

	f.side[0] = side_of(d, a);
	if (b)
		f.side[1] = side_of(d, b);
	add_finding(d, &f);
}

/* Unless the uses of an mbarrier are in order.  What it holds behind misuse is not followed.  True: that was
 * asked. */
static bool misused(const struct court *c, enum order o, const struct access *a, const struct access *b, bool report)
{
	if (report && o == UNORDERED) {
		say(c->d, DETECT_MBARRIER_MISUSE, DETECT_MISUSE, a, b);
		c->d->counter[DETECT_INEXACT_PHASES]++;
	}
	return o == NOT_KNOWN;
}

/* PTX ISA, "bar.warp.sync": undefined if the executing thread is not in the mask. */
void misuse_barrier(struct scan *s, const struct event *e, uint32_t lanes)
{
	struct access a = as_access(s->d, e, lanes & -lanes);

	say(s->d, DETECT_BARRIER_MISUSE, DETECT_BAR_MASK, &a, NULL);
}

/* ---- what is known of a use ---------------------------------------------------------------------------- */

struct access use_of(const struct detect *d, const struct mbar_op *o)
{
	struct access a = as_access(d, o->event, 1u << o->lane);

	a.timer = time_at(&d->graph, &a);
	a.space = 1 + o->owner;
	a.address = o->address;
	a.bytes = 8;
	a.init = a.writes = o->kind == EVENT_MBAR_INIT;
	return a;
}

bool is_fresh(const struct detect *d, const struct mbar_op *o)
{
	return is_judged_now(d, o->event);
}

bool one_thread(const struct mbar_op *a, const struct mbar_op *b)
{
	return a->lane == b->lane && a->event->warp == b->event->warp;
}

/* As if it came just before: without what it acquires itself. */
static struct access just_before(const struct access *use)
{
	struct access before = *use;

	before.pos--;
	return before;
}

/* What ends an mbarrier comes after all that was done with it.  Libraries let one lane speak for those
 * that it has met in a vote or a match, which order no memory; for the end of an mbarrier that is
 * enough. */
static enum order behind_use(const struct court *c, const struct access *end, const struct access *use)
{
	struct access before = just_before(end);
	enum order answer = UNORDERED;

	if (end->warp == use->warp)
		return ORDERED;
	EACH_LANE(l, ~0u) {
		const uint32_t *f = knows(c, SOURCE(SOURCE_THREAD, use->warp * EVENT_LANES + l), &before);

		if (f && (f[F_ALL] >= use->pos || f[F_READS] >= use->pos))
			return ORDERED;
		answer = f ? answer : NOT_KNOWN;
	}
	return answer;
}

/* And after the copies that complete there: acquired or not, who has seen the phase over has seen them
 * end. */
static enum order behind_copy(const struct court *c, const struct life *l, uint32_t end, const struct mbar_op *copy)
{
	struct access inval = use_of(c->d, l->op[end]), before = just_before(&inval);
	const uint32_t *f;

	for (uint32_t i = 0; i < end; i++)
		if (l->op[i]->kind == EVENT_MBAR_WAIT && one_thread(l->op[i], l->op[end]) && l->op[i]->lo > copy->hi)
			return ORDERED;
	f = knows(c, copy->written == NONE ? copy->source : copy->written, &before);
	return !f ? NOT_KNOWN : f[F_ALL] >= copy->number ? ORDERED : UNORDERED;
}

/* ---- the end of an mbarrier --------------------------------------------------------------------------------- */

/* Was it the last of its thread's uses at that instruction before the end? */
static bool last_use(const struct life *l, uint32_t i, uint32_t end)
{
	for (uint32_t k = i + 1; k < end; k++)
		if (one_thread(l->op[k], l->op[i]) && l->op[k]->event->site == l->op[i]->event->site)
			return false;
	return true;
}

static bool judge_end(const struct court *c, const struct life *l, uint32_t end, bool report)
{
	struct access inval = use_of(c->d, l->op[end]);
	bool asks = false;

	for (uint32_t i = 0; i < end; i++) {
		struct access use = use_of(c->d, l->op[i]);
		enum order o = by_copy(l->op[i]) ? behind_copy(c, l, end, l->op[i]) :
			       l->op[i]->kind != EVENT_MBAR_INIT && last_use(l, i, end) ? behind_use(c, &inval, &use) : ORDERED;

		asks |= misused(c, o, &inval, &use, report);
	}
	return asks;
}

/* ---- uses of it ------------------------------------------------------------------------------------------------ */

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
static bool operand_fenced(const struct court *c, const struct access *init, struct access use, bool report)
{
	enum verdict v;

	use.proxy = P_ASYNC;
	use.operation = NONE;
	v = judge(c, init, &use, init->address);
	if (report && (v == UNFENCED || v == MISFENCED) && !init_fenced(c->d, init))
		say(c->d, v == UNFENCED ? DETECT_PROXY_RACE : DETECT_PROXY_FENCE_ORDER,
		    v == UNFENCED ? DETECT_NO_PROXY_FENCE : DETECT_FENCE_ELSEWHERE, init, &use);
	return v == UNKNOWN;
}

/* An arrival that does not return, where nobody more is expected until bytes have come, is what the
 * kernel ended by.  (doc/hardware.md, 1, 2) */
static bool is_fatal(const struct detect *d, const struct mbar_op *o)
{
	return d->fault && o->crowded && o->kind == EVENT_MBAR_ARRIVE && !o->state &&
	       o->owner == d->warp.v[o->event->warp].block;
}

/* By itself, or with what its phase has counted before. */
static bool is_beyond(const struct mbar_op *o)
{
	return o->beyond || (o->bytes >= 1u << 20 && !by_copy(o));
}

/* What it counts, or has counted, is more than there is room for, or than is expected. */
static bool judge_count(const struct court *c, const struct life *l, uint32_t i, bool report)
{
	struct access use = use_of(c->d, l->op[i]), init = use_of(c->d, l->op[0]);
	bool fatal = is_fatal(c->d, l->op[i]), beyond = is_beyond(l->op[i]);

	if (!fatal && !beyond && !l->op[i]->more)
		return false;
	if (report) {
		say(c->d, DETECT_MBARRIER_MISUSE, beyond ? DETECT_MBAR_BYTES : l->op[i]->more ? DETECT_MBAR_COUNT : DETECT_MBAR_MANY,
		    &use, &init);
		c->d->counter[DETECT_INEXACT_PHASES]++;
	}
	return true;
}

/* A record may have the state of its first lane for all. */
static bool knows_state(const struct detect *d, const struct mbar_op *o)
{
	unsigned first = event_first(o->event->lanes);

	return o->kind != EVENT_MBAR_ARRIVE || o->lane == first ||
	       event_get(record_of(d, o->event), first, EVENT_MBAR_ARRIVE_STATE) != o->state;
}

/* PTX ISA, "mbarrier.test_wait, try_wait": a state is of the current phase or of the one before.  Its thread itself has seen
 * the phase behind that of the arrival over.  NULL: it has not, or a parity is waited for. */
static const struct mbar_op *stale_arrival(const struct detect *d, const struct life *l, uint32_t i)
{
	const struct mbar_op *o = l->op[i], *arrival;
	bool old = o->kind == EVENT_MBAR_WAIT ? o->lo && o->seen > o->lo : o->kind == EVENT_MBAR_TRY && o->seen > 1;

	if (!old || site_of(d, o->event)->flags & EVENT_PARITY || !o->state)
		return NULL;
	arrival = arrival_of(l->op, i);
	for (uint32_t k = i; arrival && o->seen >= arrival->hi + 2 && l->op[k] != arrival;)
		if (one_thread(l->op[--k], o) && !knows_state(d, l->op[k]))
			return NULL;
	return arrival && o->seen >= arrival->hi + 2 ? arrival : NULL;
}

static bool judge_state(const struct court *c, const struct life *l, uint32_t i, bool report)
{
	const struct mbar_op *arrival = stale_arrival(c->d, l, i);
	struct access use = use_of(c->d, l->op[i]), was;

	if (!arrival)
		return false;
	was = use_of(c->d, arrival);
	if (report)
		say(c->d, DETECT_MBARRIER_MISUSE, DETECT_MBAR_STALE, &use, &was);
	return true;
}

static bool judge_use(const struct court *c, const struct life *l, uint32_t i, uint32_t end, bool report)
{
	struct access use = use_of(c->d, l->op[i]), other = use_of(c->d, l->op[i > end ? end : 0]);
	struct access before = just_before(&use);
	enum order behind;

	if (i > end)
		return misused(c, UNORDERED, &use, &other, report);
	if (l->op[0]->kind != EVENT_MBAR_INIT)
		return misused(c, UNORDERED, &use, NULL, report);
	if (judge_count(c, l, i, report) || judge_state(c, l, i, report))
		return false;
	behind = in_order(c, &other, &before);
	if (behind == ORDERED && c->d->choices.init_fence && by_copy(l->op[i]))
		return operand_fenced(c, &other, use, report);
	return misused(c, behind, &use, &other, report);
}

/* Its inval; l->n: there is none. */
static uint32_t end_of(const struct life *l)
{
	uint32_t end = 0;

	while (end < l->n && l->op[end]->kind != EVENT_MBAR_INVAL)
		end++;
	return end;
}

/* PTX ISA, "mbarrier.init": an object that is in use may not be initialised again. */
static void judge_init(const struct court *c, const struct life *l, bool report)
{
	const struct life *before = l->before == NONE ? NULL : &c->d->life.v[l->before];

	if (before && before->op[0]->kind == EVENT_MBAR_INIT && end_of(before) == before->n) {
		struct access init = use_of(c->d, l->op[0]), was = use_of(c->d, before->op[0]);

		misused(c, UNORDERED, &init, &was, report);
	}
}

static bool judge_life(const struct court *c, const struct life *l, bool report)
{
	bool inits = l->op[0]->kind == EVENT_MBAR_INIT, asks = false;
	uint32_t end = end_of(l);

	if (inits && is_fresh(c->d, l->op[0]))
		judge_init(c, l, report);
	for (uint32_t i = inits; i < l->n; i++)
		if (is_fresh(c->d, l->op[i]) || is_fatal(c->d, l->op[i]))
			asks |= judge_use(c, l, i, end, report);
	if (end < l->n && is_fresh(c->d, l->op[end]))
		asks |= judge_end(c, l, end, report);
	return asks;
}

/* ---- other accesses to it ---------------------------------------------------------------------------------------- */

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
	misused(c, UNORDERED, a, &init, report);
	return asks;
}

bool judge_mbarriers(const struct court *c, void *arg, bool report)
{
	const struct detect *d = c->d;
	bool asks = false;

	(void)arg;
	for (uint32_t i = 0; i < d->life.n; i++)
		asks |= judge_life(c, &d->life.v[i], report);
	for (uint32_t i = 0; i < d->access.n; i++) {
		const struct access *a = &d->access.v[i];

		for (uint32_t k = 0; a->writes && !a->init && !a->old && a->space && k < d->life.n; k++)
			asks |= judge_store(c, a, &d->life.v[k], report);
	}
	return asks;
}

/* ---- guests: what a block's own threads do is over when they end; what others do in its shared memory,
 * and operations that no thread waits for, may not be ---------------------------------------------- */

static bool is_guest(const struct detect *d, const struct access *a)
{
	if (a->space & TENSOR_SPACE)
		return false;
	if (!a->space)
		return d->choices.exits && a->writes && a->ends == ENDS_BULK;
	return access_block(d, a) != a->space - 1 || a->ends == ENDS_SINGLE || a->ends == ENDS_BULK;
}

static void find_guests(struct detect *d)
{
	for (uint32_t i = 0; i < d->access.n; i++) {
		const struct access *a = &d->access.v[i];

		if (!a->old && is_guest(d, a))
			*ADD(&d->guest) = (struct guest){a->space ? a->space - 1 : access_block(d, a), *a};
	}
	for (uint32_t i = 0; i < d->mbar.n; i++) {
		const struct mbar_op *o = &d->mbar.v[i];
		struct access a = use_of(d, o);

		a.source = o->visit;
		a.number = 1;
		if (is_fresh(d, o) && o->visit != NONE)
			*ADD(&d->guest) = (struct guest){o->owner, a};
	}
}

static bool has_ended(const struct detect *d, uint32_t block)
{
	return d->block.v[block].threads && d->block.v[block].ended == d->block.v[block].threads;
}

/* Had the block begun, as far as who accesses its memory knows? */
static bool begun(const struct court *c, const struct guest *g, const uint32_t **f)
{
	if (g->access.old || !g->access.space || access_block(c->d, &g->access) == g->owner)
		return true;
	*f = knows(c, SOURCE(SOURCE_BLOCK, g->owner), &g->access);
	return *f && (*f)[F_BEGUN];
}

/* Do those who ended last know that it is over?  Scopes do not matter: it has gone past. */
static bool over(const struct court *c, const struct guest *g, const uint32_t **f)
{
	struct question q = {g->access.source, c->g->ended[g->owner], ASK_HUB, 1};

	if (!has_ended(c->d, g->owner) || (c->d->choices.wide_tx && access_block(c->d, &g->access) != g->owner))
		return true;
	*f = ask(c, q);
	return *f && ((*f)[F_ALL] >= g->access.number || (*f)[F_SHARED] >= g->access.number);
}

/* Of begins in the world as it is, of ends in the one where scopes hold everybody. */
static bool judge_guests(const struct court *c, void *arg, bool report)
{
	bool asks = false;

	(void)arg;
	for (uint32_t i = 0; i < c->d->guest.n; i++) {
		const struct guest *g = &c->d->guest.v[i];
		const uint32_t *f = NULL;

		if ((c->g->world & W_WIDE ? over : begun)(c, g, &f))
			continue;
		asks |= !f;
		if (report && f)
			say(c->d, DETECT_LIFETIME, DETECT_MISUSE, &g->access, NULL);
	}
	return asks;
}

void judge_begins(const struct court *c)
{
	find_guests(c->d);
	settle(c, judge_guests, NULL);
}

void judge_ends(struct detect *d, const struct graph *wide)
{
	struct answers answers = {0};
	struct court c = {d, wide, &answers};
	uint32_t n = 0;

	settle(&c, judge_guests, NULL);
	for (uint32_t i = 0; i < d->guest.n; i++) {
		d->guest.v[i].access.old = true;
		if (!has_ended(d, d->guest.v[i].owner))
			d->guest.v[n++] = d->guest.v[i];
	}
	d->guest.n = n;
	free_answers(&answers);
}
