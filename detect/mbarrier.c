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
#include "detect/impl.h"

/* ---- collecting ------------------------------------------------------------------------------------ */

struct mbar_op *add_mbar_op(struct scan *s, const struct event *e, unsigned lane, uint32_t owner, uint64_t address)
{
	struct mbar_op *o = ADD(&s->d->mbar);

	*o = (struct mbar_op){
		.event = e, .owner = owner, .address = (uint32_t)address, .lane = (uint8_t)lane, .kind = e->kind,
		.source = NONE, .written = NONE, .visit = NONE
	};
	return o;
}

static void set_operands(struct scan *s, struct mbar_op *o, const struct event_unit *u)
{
	static const enum event_operand operands[][3] = {       /* from MBAR_INIT on: count, bytes, state */
		{EVENT_MBAR_INIT_COUNT}, {EVENT_OPERAND_NONE},
		{EVENT_MBAR_ARRIVE_COUNT, EVENT_MBAR_ARRIVE_BYTES, EVENT_MBAR_ARRIVE_STATE},
		{EVENT_OPERAND_NONE, EVENT_MBAR_EXPECT_BYTES}, {EVENT_OPERAND_NONE, EVENT_MBAR_COMPLETE_BYTES},
		{EVENT_OPERAND_NONE, EVENT_OPERAND_NONE, EVENT_MBAR_WAIT_PHASE},
		{EVENT_OPERAND_NONE, EVENT_OPERAND_NONE, EVENT_MBAR_TRY_PHASE}, {EVENT_OPERAND_NONE}
	};
	const enum event_operand *of = operands[o->kind - EVENT_MBAR_INIT];

	o->count = (uint32_t)event_get(u, o->lane, of[0]);
	o->bytes = (uint32_t)event_get(u, o->lane, of[1]);
	o->state = event_get(u, o->lane, of[2]);
	if (o->kind != EVENT_MBAR_COPIES)
		return;
	o->count = 1;
	o->source = ordered_operations(s->d, s->warp, CP_OPERATIONS, o->lane);
	o->number = s->lane[o->lane].cp.issued;
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
	enum apart reach = site->scope == EVENT_CLUSTER ? A_CLUSTER : A_BLOCK;
	bool orders = site->sem != EVENT_RELAXED;

	EACH_LANE(l, e->lanes) {
		struct mbar_op *o;
		struct place p;

		if (!place_of_shared(s->d, e, event_address(record_of(s->d, e), l), &p))
			continue;
		scan_meeting(s, e, l, &p);
		if (again(&s->lane[l], e, &p))
			continue;
		o = add_mbar_op(s, e, l, p.block, p.address);
		set_operands(s, o, record_of(s->d, e));
		o->drops = site->flags & EVENT_DROP;
		o->acquire = orders || s->g->world & W_ACQUIRE;
		o->reach = (uint8_t)reach;
		if (e->kind == EVENT_MBAR_ARRIVE)
			o->heads = heads_of(s, e, l, (struct pattern){orders || s->g->world & W_RELEASE, reach, reach});
		if (p.block == s->d->warp.v[s->warp].block)
			continue;
		/* Another block's mbarrier: that block has to stay until the operation is over. */
		o->visit = SOURCE(SOURCE_OPERATION, single_operations(s->d, e, EVENT_LANES) + l);
		tell_end(s->g, e, 1u << l, F_MINE, o->visit, 1);
		/* memory-model.md 2.4, AMB-16: an arrival there that names neither sem nor scope is of scope cta,
		 * which reaches nobody. */
		o->unsaid = e->kind == EVENT_MBAR_ARRIVE && site->sem == EVENT_SEM_NONE && s->d->choices.arrive != ARRIVE_STRICT;
	}
}

/* ---- one mbarrier, from its init on ----------------------------------------------------------------- */

struct phase {
	uint64_t full, seen;            /* when its last arrival began; when a wait had seen it over, first */
	uint64_t expected, expected_late;       /* bytes, of this phase and all before: as early, as late as can be */
	bool loose;                     /* arrivals at the boundary behind it may be of either side */
	bool crowded;                   /* which copies have made it up is open */
};

struct barrier {
	struct detect *d;
	struct graph *g;
	struct phases phases;
	struct mbar_op **op;            /* its operations, by when they began; op[0]: its init, if there is one */
	uint32_t n, object;
	uint32_t nphases;               /* that are over, by arrivals */
	struct phase *phase;
	uint32_t *waited;               /* by thread: phases that it has seen over */
	const struct life *early;       /* operations that nothing orders with the init, from before it by their
					   clocks; NULL */
	bool commits, bytes;            /* tcgen05.commit arrives here; bytes are expected */
};

static bool arrives(const struct mbar_op *o)
{
	return o->kind == EVENT_MBAR_ARRIVE || o->kind == EVENT_MBAR_COPIES || o->kind == EVENT_TC_COMMIT;
}

static bool copies(const struct mbar_op *o)
{
	return by_copy(o) || o->kind == EVENT_MBAR_COMPLETE;
}

/* Arrivals, one phase after the other. */
static void fill_phases(struct barrier *b)
{
	uint32_t need = b->n && b->op[0]->kind == EVENT_MBAR_INIT ? b->op[0]->count : 1, now = 0, more = 0, dropped = 0, phase = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		struct mbar_op *o = b->op[i];

		o->lo = o->hi = phase;
		b->commits |= o->kind == EVENT_TC_COMMIT;
		b->bytes |= o->bytes != 0;
		if (!arrives(o))
			continue;
		/* PTX ISA, "cp.async.mbarrier.arrive": without .noinc one more is expected first. */
		more += o->kind == EVENT_MBAR_COPIES && !(site_of(b->d, o->event)->flags & EVENT_NOINC);
		dropped += o->drops ? o->count : 0;
		now += o->count;
		b->phase[phase].full = o->begin;
		if (now < need + more)
			continue;
		need -= dropped < need ? dropped : need;
		now = more = dropped = 0;
		phase++;
	}
	b->nphases = phase;
}

const struct mbar_op *arrival_of(struct mbar_op *const *op, uint32_t wait)
{
	for (uint32_t i = wait; i-- > 0;)
		if (op[i]->kind == EVENT_MBAR_ARRIVE && one_thread(op[i], op[wait]) && op[i]->state == op[wait]->state)
			return op[i];
	return NULL;
}

/* Phases are numbered from 1 on in waits: 0 is the one before the first. */
static void find_wait(struct barrier *b, uint32_t i)
{
	struct mbar_op *w = b->op[i];
	uint32_t last = 0, first = 0;

	if (b->early) {                 /* what it has waited for may have come with those */
		w->lo = 1;
		w->hi = b->nphases + 1;
		return;
	}
	while (last < b->nphases && b->phase[last].full <= w->end)
		last++;
	if (!(site_of(b->d, w->event)->flags & EVENT_PARITY)) {
		const struct mbar_op *a = arrival_of(b->op, i);

		w->lo = a ? a->lo + 1 : 0;
		w->hi = a ? a->hi + 1 : b->nphases;
		/* A state of an older phase is taken for the last one's of that parity. */
		w->hi += last > w->hi ? (last - w->hi) / 2 * 2 : 0;
		return;
	}
	while (first < last && b->phase[first].seen < w->begin)
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
		b->phase[k].seen = UINT64_MAX;
	for (uint32_t i = 0; i < b->n; i++) {
		struct mbar_op *w = b->op[i];

		if (w->kind != EVENT_MBAR_WAIT)
			continue;
		find_wait(b, i);
		for (uint32_t k = 0; k < w->lo; k++)
			b->phase[k].seen = w->end < b->phase[k].seen ? w->end : b->phase[k].seen;
		b->d->counter[DETECT_INEXACT_PHASES] += w->lo != w->hi && !b->g->world;
	}
}

/* An arrival that begins before anybody has seen the phase before over may be of that one, and
 * those of that one may be of this. */
static void loosen(struct barrier *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct mbar_op *o = b->op[i];
		uint32_t phase = o->hi, *waited = &b->waited[o->event->warp * EVENT_LANES + o->lane];

		o->seen = *waited;
		if (o->kind == EVENT_MBAR_WAIT)
			*waited = o->lo > *waited ? o->lo : *waited;
		if (!arrives(o) || !phase || o->begin > b->phase[phase - 1].seen || *waited >= phase)
			continue;
		o->lo = phase - 1;
		o->crowded = b->bytes;
		b->phase[phase - 1].loose = true;
	}
	for (uint32_t i = 0; i < b->n; i++) {
		struct mbar_op *o = b->op[i];

		b->waited[o->event->warp * EVENT_LANES + o->lane] = 0;
		if (!arrives(o) || !b->phase[o->hi].loose)
			continue;
		o->hi++;
		b->d->counter[DETECT_INEXACT_PHASES] += !b->g->world;
	}
}

/* ---- bytes ---------------------------------------------------------------------------------------------- */

static bool expects(const struct mbar_op *o)
{
	return o->kind == EVENT_MBAR_EXPECT || o->kind == EVENT_MBAR_ARRIVE;
}

/* Bytes are expected of the phase in which that happens: not of one behind that in which its thread arrives next, and of
 * none that somebody had seen over; arrivals may be complete while bytes are not there yet. */
static void expected_in(const struct barrier *b, uint32_t i, uint32_t *first, uint32_t *last)
{
	const struct mbar_op *o = b->op[i];
	uint32_t next = o->lo;

	for (uint32_t k = i + 1; o->kind == EVENT_MBAR_EXPECT && k < b->n; k++)
		if (arrives(b->op[k]) && one_thread(b->op[k], o)) {
			next = b->op[k]->lo;
			break;
		}
	*last = next > o->lo ? next : o->lo;
	*first = next < o->lo ? next : o->lo;
	if (o->kind == EVENT_MBAR_EXPECT && *first && b->phase[*first - 1].seen >= o->begin)
		--*first;
}

static void expect(struct barrier *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		uint32_t first, last;

		if (!expects(b->op[i]))
			continue;
		expected_in(b, i, &first, &last);
		b->phase[first].expected += b->op[i]->bytes;
		b->phase[last].expected_late += b->op[i]->bytes;
	}
	for (uint32_t i = 0; b->early && i < b->early->n; i++)
		b->phase[0].expected += expects(b->early->op[i]) ? b->early->op[i]->bytes : 0;
	for (uint32_t k = 1; k <= b->nphases; k++) {
		b->phase[k].expected += b->phase[k - 1].expected;
		b->phase[k].expected_late += b->phase[k - 1].expected_late;
	}
}

/* Copies that began before anybody had seen a phase over, and bring more than was expected by then: any of them may have made
 * up the phase, and any may be under way yet. */
static void find_crowded(struct barrier *b)
{
	uint64_t brought = 0, expected = 0;
	uint32_t i = 0, j = 0;

	for (uint32_t k = 0; k <= b->nphases; k++) {
		for (; i < b->n && b->op[i]->begin < b->phase[k].seen; i++)
			brought += copies(b->op[i]) ? b->op[i]->bytes : 0;
		for (; j < b->n && b->op[j]->begin <= b->phase[k].seen; j++)
			expected += expects(b->op[j]) ? b->op[j]->bytes : 0;
		b->phase[k].crowded = brought > expected;
	}
}

/* With the first phase for which, with the copies issued before it, enough bytes are expected, by one count or the
 * other; behind all: with none. */
static uint32_t complete_with(const struct barrier *b, const struct mbar_op *o, uint64_t bytes, bool late)
{
	uint32_t k = 0;

	while (k <= b->nphases && ((late ? b->phase[k].expected_late : b->phase[k].expected) < bytes || b->phase[k].seen < o->begin))
		k++;
	return k;
}

static void find_copies(struct barrier *b)
{
	uint64_t bytes = 0;
	bool more;

	expect(b);
	find_crowded(b);
	for (uint32_t i = 0; i < b->n; i++) {
		struct mbar_op *o = b->op[i];
		uint32_t k, late;

		if (!copies(o))
			continue;
		bytes += o->bytes;
		k = complete_with(b, o, bytes, false);
		late = complete_with(b, o, bytes, true);
		late = late < k || late > b->nphases ? k : late;
		o->lo = k <= b->nphases ? k : NONE;
		o->hi = k <= b->nphases ? late + b->phase[late].loose : NONE;
		/* Of copies that bring more than is expected it is not known which are over. */
		more = k > b->nphases || late > k || b->phase[k].crowded || (k && bytes - o->bytes < b->phase[k - 1].expected);
		b->d->counter[DETECT_INEXACT_PHASES] += more && !b->g->world;
	}
}

/* ---- what it cannot count -------------------------------------------------------------------------------- */

enum { MOST_BYTES = (1 << 20) - 1 };    /* PTX ISA, "mbarrier: Tracking asynchronous operations": down to -MOST_BYTES */

/* Its phase; NONE: that is open. */
static uint32_t phase_of_bytes(const struct barrier *b, uint32_t i)
{
	const struct mbar_op *o = b->op[i];
	uint32_t first = o->lo, last = o->hi;

	if (!b->nphases)
		return 0;
	if (o->kind == EVENT_MBAR_EXPECT)
		expected_in(b, i, &first, &last);
	return first == last ? first : NONE;
}

/* Lanes of one warp run what is logged of them one after the other where they ran the later of two together. */
static bool comes_before(const struct mbar_op *a, const struct mbar_op *b)
{
	return a->event->warp == b->event->warp && a->event->pos <= b->event->pos && b->event->lanes >> a->lane & 1;
}

/* The least that is pending when the operation is done, of its sign: what its warp has counted for the phase until then,
 * less all that may have been taken off.  What begins later by the clocks does not come before it: it may be as late as that. */
static int64_t least_pending(const struct barrier *b, uint32_t i, uint32_t phase)
{
	bool comes = copies(b->op[i]);
	int64_t bytes = 0;

	for (uint32_t k = 0; k < b->n; k++) {
		const struct mbar_op *o = b->op[k];
		uint32_t of = o->bytes ? phase_of_bytes(b, k) : NONE;

		if (copies(o) != comes)
			bytes -= k < i && (of == phase || of == NONE) ? o->bytes : 0;
		else if (of == phase && !by_copy(o) && comes_before(o, b->op[i]) && (k <= i || o->event != b->op[i]->event))
			bytes += o->bytes;
	}
	return bytes;
}

/* Is there a phase that could have too many?  Few are asked the long way. */
static bool may_overflow(struct barrier *b)
{
	uint64_t *sum = (uint64_t *)arena_get(&b->d->arena, 2 * ((size_t)b->n + 2), sizeof *sum);
	bool over = false;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct mbar_op *o = b->op[i];
		uint32_t of = o->bytes && !by_copy(o) ? phase_of_bytes(b, i) : NONE;

		if (of != NONE)
			sum[2 * of + copies(o)] += o->bytes;
	}
	for (uint32_t k = 0; k <= b->nphases; k++)
		over |= sum[2 * k] > MOST_BYTES || sum[2 * k + 1] > MOST_BYTES;
	return over;
}

static void find_overflow(struct barrier *b)
{
	if (!b->bytes || !may_overflow(b))
		return;
	for (uint32_t i = 0; i < b->n; i++) {
		struct mbar_op *o = b->op[i];
		uint32_t phase = o->bytes && !by_copy(o) ? phase_of_bytes(b, i) : NONE;

		/* Behind the first one it is open what is counted. */
		o->beyond = phase != NONE && least_pending(b, i, phase) > MOST_BYTES;
		if (o->beyond)
			return;
	}
}

/* In which order others arrive is open, unless all that do are one thread, or each counts as many. */
static bool order_is_known(const struct barrier *b)
{
	const struct mbar_op *first = NULL;
	bool one = true, even = true;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct mbar_op *o = b->op[i];

		if (o->kind != EVENT_MBAR_ARRIVE)
			continue;
		first = first ? first : o;
		one &= one_thread(o, first);
		even &= o->count == first->count && !o->drops;
	}
	return one || even;
}

/* An arrival that counts more than are expected in any phase; or, all of them taken together, more than are pending. */
static void find_too_many(struct barrier *b)
{
	uint32_t need = b->op[0]->count, now = 0, dropped = 0;
	bool known = order_is_known(b);

	for (uint32_t i = 0; i < b->n; i++)     /* who arrives some time later, or is expected in between */
		if (b->op[0]->kind != EVENT_MBAR_INIT || b->op[i]->kind == EVENT_MBAR_COPIES || b->op[i]->kind == EVENT_TC_COMMIT)
			return;
	for (uint32_t i = 1; i < b->n; i++) {
		struct mbar_op *o = b->op[i];

		if (o->kind != EVENT_MBAR_ARRIVE)
			continue;
		o->more = o->count > b->op[0]->count;
		o->crowded |= known && now + o->count > need;
		if (now + o->count > need)
			return;
		now += o->count;
		dropped += o->drops ? o->count : 0;
		if (now < need)
			continue;
		need -= dropped < need ? dropped : need;
		now = dropped = 0;
	}
}

/* ---- what goes to a phase, and what a wait gets of it ------------------------------------------------------ */

static void bring_end(struct barrier *b, struct brought *x, uint32_t source, uint32_t number, bool cells)
{
	if (source != NONE && number)
		bring(&b->phases, x, end_hub(b->g, source, number, cells));
}

/* What the operation says that is over.  memory-model.md 2.4, AMB-4: bytes are there for any wait, or
 * by cluster scope. */
static void bring_ends(struct barrier *b, const struct mbar_op *o, uint32_t phase)
{
	uint32_t issuer = b->d->warp.v[o->event->warp].block;
	bool strict = b->d->choices.wide_tx && copies(o), commits = o->kind == EVENT_TC_COMMIT;
	struct brought x = {
		.object = b->object, .phase = phase, .block = strict ? issuer : o->owner, .reach = A_CLUSTER,
		.how = (uint8_t)(commits ? H_DONE : H_PLAIN)
	};

	bring_end(b, &x, o->source, o->number, commits);
	bring_end(b, &x, o->written, o->number, false);
	x.how = H_DONE;
	bring_end(b, &x, o->visit, arrives(o), false);
}

/* memory-model.md 2.4, AMB-16: an arrival at another block's that names no scope reaches who waits there
 * with what is over, and with reads, or with all. */
static void bring_to(struct barrier *b, const struct mbar_op *o, uint32_t phase)
{
	bool any = o->unsaid && b->d->choices.arrive == ARRIVE_ANY;
	uint32_t issuer = b->d->warp.v[o->event->warp].block;
	struct brought x = {.object = b->object, .phase = phase, .block = any ? o->owner : issuer, .reach = A_CLUSTER};

	bring_ends(b, o, phase);
	bring_heads(&b->phases, x, o->heads);
	if (o->unsaid && !any && o->heads.n) {
		x.block = o->owner;
		x.how = H_READS;
		bring(&b->phases, &x, b->d->head.v[o->heads.first].hub);
	}
}

static void get(struct barrier *b, const struct mbar_op *w, uint32_t phase)
{
	const struct event *e = w->event;
	struct brought by = {.object = b->object, .phase = phase, .block = b->d->warp.v[e->warp].block, .reach = w->reach};

	get_brought(&b->phases, e, w->lane, &by, w->acquire);
	/* The thread's own products are done, to itself. */
	for (uint32_t i = 0; b->commits && i < b->n; i++) {
		const struct mbar_op *o = b->op[i];

		if (o->kind == EVENT_TC_COMMIT && one_thread(o, w) && o->lo <= phase && o->hi >= phase)
			tell_end(b->g, e, 1u << w->lane, F_CELLS, o->source, o->number);
	}
}

/* Phases may be of fewer arrivals than were logged: a wait then acquires from all that had begun before it was over. */
static void widen(struct barrier *b)
{
	uint32_t *last = (uint32_t *)arena_get(&b->d->arena, b->n + 1, sizeof *last);  /* phase of the first so many */

	for (uint32_t i = 0; i < b->n; i++) {
		const struct mbar_op *o = b->op[i];
		bool counts = (arrives(o) || copies(o)) && o->hi != NONE;

		last[i + 1] = counts && o->hi + 1 > last[i] ? o->hi + 1 : last[i];
	}
	for (uint32_t i = 0; i < b->n; i++) {
		struct mbar_op *w = b->op[i];
		uint32_t lo = i, hi = b->n;

		if (w->kind != EVENT_MBAR_WAIT)
			continue;
		BISECT(lo, hi, b->op[mid]->begin <= w->end);
		w->lo = 0;
		w->hi = last[lo] > w->hi ? last[lo] : w->hi;
	}
}

/* ---- all of one ------------------------------------------------------------------------------------------------ */

static void one_life(struct barrier *b)
{
	bool alive = false;

	b->phase = (struct phase *)arena_get(&b->d->arena, b->n + 2, sizeof *b->phase);
	fill_phases(b);
	find_waits(b);
	loosen(b);
	find_copies(b);
	if (!b->d->opaque && !b->g->world) {
		find_overflow(b);
		find_too_many(b);
	}
	if (b->d->opaque)
		widen(b);
	for (uint32_t i = 0; i < b->n; i++)
		for (uint32_t k = b->op[i]->lo; (arrives(b->op[i]) || copies(b->op[i])) && k != NONE && k <= b->op[i]->hi; k++)
			bring_to(b, b->op[i], k);
	for (uint32_t i = 0; b->early && i < b->early->n; i++)
		if (arrives(b->early->op[i]) || copies(b->early->op[i]))
			bring_to(b, b->early->op[i], 0);
	for (uint32_t i = 0; i < b->n; i++) {
		alive = b->op[i]->kind == EVENT_MBAR_INIT || (alive && b->op[i]->kind != EVENT_MBAR_INVAL);
		b->op[i]->visit = alive ? b->op[i]->visit : NONE;       /* else it is misuse alone */
		/* Behind its end an object may seem to be in any phase. */
		b->d->counter[DETECT_INEXACT_PHASES] += b->op[i]->kind == EVENT_MBAR_INVAL && i + 1 < b->n && !b->g->world;
		for (uint32_t n = b->op[i]->lo; b->op[i]->kind == EVENT_MBAR_WAIT && n <= b->op[i]->hi; n++)
			if (n)
				get(b, b->op[i], n - 1);
	}
}

/* One place: a life from each init on. */
static void one_place(struct barrier *b, struct mbar_op **op, uint32_t n)
{
	for (uint32_t i = 0; i < n; i += b->n) {
		b->op = op + i;
		b->commits = b->bytes = false;
		b->n = 1;
		while (i + b->n < n && op[i + b->n]->kind != EVENT_MBAR_INIT)
			b->n++;
		b->object = b->d->life.n;
		*ADD(&b->d->life) = (struct life){b->op, b->n, i ? b->object - 1 : NONE};
		b->early = i && i == b->d->life.v[b->object - 1].n && op[0]->kind != EVENT_MBAR_INIT ? &b->d->life.v[b->object - 1] : NULL;
		one_life(b);
	}
}

/* Of a wait counts when it saw the phase over, or not. */
static uint64_t when(const struct mbar_op *o, bool clock)
{
	unsigned at = o->kind == EVENT_MBAR_WAIT || o->kind == EVENT_MBAR_TRY ? EVENT_BEHIND : EVENT_BEFORE;

	return clock ? o->event->clock[at] : o->event->timer[at];
}

static uint32_t sm_of(const struct detect *d, const struct mbar_op *o)
{
	return block_of(d, o->event->warp)->sm;
}

/* The timer is coarse: of what seems to be at once, an init comes first and an inval last. */
static bool swapped(const struct detect *d, const struct mbar_op *a, const struct mbar_op *b)
{
	bool init = b->kind == EVENT_MBAR_INIT, inval = a->kind == EVENT_MBAR_INVAL;

	return init != inval && a->kind != EVENT_MBAR_INIT && when(a, false) == when(b, false) && sm_of(d, a) != sm_of(d, b);
}

/* On the clock of the multiprocessor, if all operations are of one; else it orders what its timer does not. */
static struct mbar_op **in_time(struct detect *d, const uint32_t *item, uint32_t n)
{
	struct sorting o = new_sorting(&d->arena, n);
	struct mbar_op **op = (struct mbar_op **)arena_get(&d->arena, n, sizeof(struct mbar_op *));
	bool clock = true;

	for (uint32_t i = 0; i < n; i++) {
		clock &= sm_of(d, &d->mbar.v[item[i]]) == sm_of(d, &d->mbar.v[item[0]]);
		o.key[i] = when(&d->mbar.v[item[i]], true);
	}
	sort(&o);
	for (uint32_t i = 0; i < n; i++)
		o.key[i] = when(&d->mbar.v[item[o.item[i]]], clock);
	sort(&o);
	for (uint32_t i = 0, k; i < n; i++) {
		struct mbar_op *x = &d->mbar.v[item[o.item[i]]];
		const uint64_t *time = clock ? x->event->clock : x->event->timer;

		x->begin = time[EVENT_BEFORE];
		x->end = time[EVENT_BEHIND];
		for (k = i; k && swapped(d, op[k - 1], x); k--)
			op[k] = op[k - 1];
		op[k] = x;
	}
	return op;
}

void link_mbarriers(struct detect *d, struct graph *g)
{
	struct barrier b = {.d = d, .g = g, .phases = {.d = d, .g = g}};
	struct sorting o = new_sorting(&d->arena, d->mbar.n);

	b.waited = (uint32_t *)arena_get(&d->arena, d->warp.n * EVENT_LANES, sizeof *b.waited);
	for (uint32_t i = 0; i < o.n; i++)
		o.key[i] = (uint64_t)d->mbar.v[i].owner << 32 | d->mbar.v[i].address;
	sort(&o);
	for (uint32_t i = 0, to; i < o.n; i = to) {
		for (to = i + 1; to < o.n && o.key[to] == o.key[i];)
			to++;
		one_place(&b, in_time(d, o.item + i, to - i), to - i);
	}
	free_phases(&b.phases);
}
