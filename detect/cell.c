/* SPDX-License-Identifier: Apache-2.0
 *
 * cell.c: which accesses overlap.  Memory is looked at in cells of 16 bytes; in each, accesses
 * come in the order of their times (graph.c), and each is compared with those before it that count yet:
 * a write takes the place of what it comes behind, as bad as that.  The order in which they
 * come decides which of several races is named, and not whether there is one.
 */
#include <string.h>

#include "detect/impl.h"

enum { CELL = 16, HOPES = 2 };          /* HOPES: rounds of questions */

/* Of each access of a cell (struct cell), and of each thread. */
struct room { uint32_t *pile[2][2], *previous, *last, *under; uint16_t *bytes, *shown; };

/* ---- accesses in order, cell by cell ------------------------------------------------------------- */

/* An access of which these bytes count no more, as another stands for it; the next one of that other, from 1 on. */
struct left_out { uint32_t item, next; uint16_t bytes; };
struct left_outs { LIST(struct left_out) l; };
/* What is still to be compared with an access. */
struct again { uint32_t item; uint16_t bytes; };
struct agains { LIST(struct again) l; };

/* o.item: numbers of accesses, those of cell i from first[i] to first[i + 1] - 1; number: its space's and its own;
 * written: somebody writes there; over: it is known who counts there yet, and that there is no race. */
struct cells {
	struct sorting o;
	uint32_t *first, ncells;
	uint64_t *number;
	bool *written, *over;
	struct room room;
	struct left_outs left_out;
	struct agains again;
};

static uint64_t space_number(const struct detect *d, uint32_t space)
{
	return space & TENSOR_SPACE ? d->block.n + 1u + (space & ~TENSOR_SPACE) : space;
}

static uint64_t first_cell(const struct access *a) { return a->address / CELL; }
static uint64_t last_cell(const struct access *a) { return (a->address + a->bytes - 1) / CELL; }

/* CELL_NUMBER: of an address, below the number of its space. */
enum { SPACE_SHIFT = 44 };
#define CELL_NUMBER ((UINT64_C(1) << SPACE_SHIFT) - 1)

static void list_cells(struct detect *d, struct cells *c)
{
	uint32_t n = 0, at = 0;

	for (uint32_t i = 0; i < d->access.n; i++)
		n += (uint32_t)(last_cell(&d->access.v[i]) - first_cell(&d->access.v[i]) + 1);
	c->o = new_sorting(&d->arena, n);
	for (uint32_t i = 0; i < d->access.n; i++) {
		const struct access *a = &d->access.v[i];

		for (uint64_t k = first_cell(a); k <= last_cell(a); k++) {
			c->o.item[at] = i;
			c->o.key[at++] = space_number(d, a->space) << SPACE_SHIFT | (k & CELL_NUMBER);
		}
	}
	sort(&c->o);
}

/* Its accesses come in the order of what is known before each, of time, of clock, which is of use between those of one
 * multiprocessor, and of place.  Keys are spoilt. */
static void rank_cell(const struct detect *d, struct cells *c, uint32_t i, struct arena *scratch)
{
	const uint32_t first = c->first[i], n = c->first[i + 1] - first;
	struct sorting o = {scratch, c->o.key + first, c->o.item + first, n};
	enum { BY_PLACE, BY_CLOCK, BY_TIME, BY_RANK, KEYS };

	for (unsigned by = BY_PLACE; by < KEYS; by++) {
		for (uint32_t k = 0; k < n; k++) {
			const struct access *a = &d->access.v[o.item[k]];

			o.key[k] = by == BY_PLACE ? (uint64_t)a->warp << 32 | a->pos : by == BY_CLOCK ? a->clock :
				by == BY_TIME ? a->timer : rank_of_access(&d->graph, a);
		}
		sort(&o);
	}
	if (o.item != c->o.item + first)
		memcpy(c->o.item + first, o.item, n * sizeof *o.item);
	arena_reset(scratch);
}

static void find_cells(struct detect *d, struct cells *c)
{
	struct arena scratch = {0};

	for (uint32_t i = 0; i < d->access.n; i++)
		d->access.v[i].timer = time_at(&d->graph, &d->access.v[i]);
	list_cells(d, c);
	for (uint32_t i = 0; i < c->o.n; i++)
		c->ncells += !i || c->o.key[i] != c->o.key[i - 1];
	c->first = (uint32_t *)arena_raw(&d->arena, c->ncells + 1, sizeof *c->first);
	c->number = (uint64_t *)arena_raw(&d->arena, c->ncells, sizeof *c->number);
	c->written = (bool *)arena_get(&d->arena, c->ncells, sizeof *c->written);
	c->over = (bool *)arena_get(&d->arena, c->ncells, sizeof *c->over);
	c->ncells = 0;
	for (uint32_t i = 0; i < c->o.n; i++) {
		if (!i || c->o.key[i] != c->number[c->ncells - 1]) {
			c->number[c->ncells] = c->o.key[i];
			c->first[c->ncells++] = i;
		}
		c->written[c->ncells - 1] |= d->access.v[c->o.item[i]].writes;
	}
	c->first[c->ncells] = c->o.n;
	for (uint32_t i = 0; i < c->ncells; i++)
		if (c->written[i])
			rank_cell(d, c, i, &scratch);
}

/* ---- one cell ---------------------------------------------------------------------------------------- */

struct pile { uint32_t *item, n; };

struct cell {
	struct court court;
	const uint32_t *item;
	uint32_t n;
	uint64_t base;                  /* address of its first byte */
	uint16_t *bytes, *shown;        /* of each access, as bits: those that count yet; where it raced with
					   what stands for it now */
	const struct access *word;      /* strong, at device scope: those like it race with none like it; NULL */
	struct pile pile[2][2];         /* those before that count yet: [not like it][they write] */
	uint32_t *under;                /* of each access in a cycle: what it stands for, from 1 on: */
	struct left_outs *left_out;
	struct agains *again;
	uint32_t *previous, *last;      /* of one like it: its thread's one before it, from 1 on; by thread: the last one */
	bool asks, report, operations;  /* operations: there are some */
	bool hopes;                     /* it is taken that a write comes behind what it may: that asks less */
	bool told;                      /* of what comes now something is told */
	bool shows;                     /* there is a race, told or not */
	uint32_t hidden;                /* reference: what it races with although something else stands for that; NONE */
};

static uint16_t bytes_of(const struct cell *c, const struct access *a)
{
	uint64_t from = a->address > c->base ? a->address - c->base : 0, to = a->address + a->bytes - c->base;

	return (uint16_t)((to >= CELL ? 0xffffu : (1u << to) - 1) & ~((1u << from) - 1));
}

static const struct access *access_at(const struct cell *c, uint32_t i)
{
	return &c->court.d->access.v[c->item[i]];
}

/* Whatever races with `a` here races with `b`, which comes behind it. */
static bool stands_for(const struct access *b, const struct access *a)
{
	if (!b->writes || a->read_only || (a->proxy != b->proxy && (a->proxy != P_GENERIC || b->proxy != P_ASYNC)))
		return false;
	return !b->strong || (a->strong && same_element(a, b) && b->scope <= a->scope);
}

/* An access that an operation came behind is before whoever sees that operation end, though its
 * issuer says nothing of it: no text calls that ordered, and nothing can come of it. */
static bool in_between(struct cell *c, uint32_t i, uint32_t k)
{
	for (uint32_t m = 0; c->operations && m < c->n; m++) {
		const struct access *x = access_at(c, m);
		enum order first, second;

		if (m == i || m == k || !x->operation || !(bytes_of(c, x) & bytes_of(c, access_at(c, i)) & bytes_of(c, access_at(c, k))))
			continue;
		first = in_order(&c->court, access_at(c, i), x);
		second = first == UNORDERED ? UNORDERED : in_order(&c->court, x, access_at(c, k));
		if (first == ORDERED && second == ORDERED)
			return true;
		c->asks |= first == NOT_KNOWN || second == NOT_KNOWN;
	}
	return false;
}

static void add_race(struct detect *d, uint32_t a, uint32_t b, enum verdict v, bool same)
{
	uint32_t site[2] = {d->access.v[a].site, d->access.v[b].site};
	struct race *r = d->race.v;
	enum apart apart = apart_of(d, access_block(d, &d->access.v[a]), access_block(d, &d->access.v[b]));
	uint32_t n = d->race.n;

	for (; n && (r->site[0] != site[0] || r->site[1] != site[1] || r->verdict != v || r->apart != apart || r->same_value != same); n--)
		r++;
	if (!n) {
		r = ADD(&d->race);
		*r = (struct race){.site = {site[0], site[1]}, .verdict = v, .apart = apart, .same_value = same};
	}
	/* Another cell of the same two. */
	if (r->last[0] == a && r->last[1] == b && r->count)
		return;
	r->last[0] = a;
	r->last[1] = b;
	r->count++;
	if (r->n < SHOWN) {
		r->a[r->n] = a;
		r->b[r->n++] = b;
	}
}

/* A write beside a word's own (word.c): it may be what a strong read has seen, or have ended a chain. */
static bool unseen(const struct access *write, const struct access *strong)
{
	return write->writes && strong->strong && !(write->strong && same_element(write, strong));
}

static void found(struct cell *c, uint32_t i, uint32_t k, enum verdict v)
{
	const struct access *a = access_at(c, i), *b = access_at(c, k);
	bool same = a->has_digest && b->has_digest && a->digest == b->digest && a->writes && b->writes;

	c->shows = true;
	if (a->old && b->old)
		return;
	if (same && c->court.d->choices.same_value) {
		c->court.d->same_values += c->report;
		return;
	}
	c->told = true;
	if (!c->report)
		return;
	c->court.d->counter[DETECT_INEXACT_READS] += unseen(a, b) || unseen(b, a);
	add_race(c->court.d, c->item[i], c->item[k], v, same);
}

/* An operation that is issued in a cycle may come before whatever is here: no step of its thread comes before its end. */
static bool may_be_first(const struct cell *c)
{
	return c->court.g->cycle.n && c->operations;
}

static void leave_out(struct cell *c, uint32_t i, uint32_t k, uint16_t bytes)
{
	c->bytes[i] &= (uint16_t)~bytes;
	if (!in_cycle(c->court.g, access_at(c, k)))
		return;
	*ADD(&c->left_out->l) = (struct left_out){i, c->under[k], bytes};
	c->under[k] = c->left_out->l.n;
}

/* Where orders go round, the k-th may come before one that stands for others: those it is to be compared with. */
static void add_under(struct cell *c, uint32_t i, uint32_t k, uint16_t bytes)
{
	const struct access *a = access_at(c, i), *b = access_at(c, k);
	enum order forth = c->under[i] ? in_order(&c->court, a, b) : ORDERED;
	enum order back = forth == UNORDERED ? seen_before(&c->court, b, a) : UNORDERED;

	c->asks |= forth == NOT_KNOWN || back == NOT_KNOWN;
	for (uint32_t x = back == ORDERED ? c->under[i] : 0; x; x = c->left_out->l.v[x - 1].next) {
		const struct left_out *l = &c->left_out->l.v[x - 1];

		if (l->bytes & bytes)
			*ADD(&c->again->l) = (struct again){l->item, (uint16_t)(l->bytes & bytes)};
	}
}

static void compare_under(struct cell *c, uint32_t i, uint32_t k, uint16_t bytes)
{
	add_under(c, i, k, bytes);
	while (c->again->l.n) {
		struct again x = c->again->l.v[--c->again->l.n];
		const struct access *a = access_at(c, x.item), *b = access_at(c, k);
		enum verdict v = judge(&c->court, a, b, c->base + event_first(x.bytes));

		c->asks |= v == UNKNOWN;
		if (v != UNKNOWN && v != FINE && (a->writes || b->writes))
			found(c, x.item, k, v);
		add_under(c, x.item, k, x.bytes);
	}
}

static void compare_with(struct cell *c, uint32_t i, uint32_t k)
{
	const struct access *a = access_at(c, i), *b = access_at(c, k);
	bool reference = c->court.d->choices.reference;
	uint16_t both = (uint16_t)((reference ? bytes_of(c, a) : c->bytes[i]) & bytes_of(c, b));
	bool counts = both & c->bytes[i], moot;
	enum verdict v, seen;
	enum order o;

	if (!both || (!a->writes && !b->writes))
		return;
	v = judge_and_order(&c->court, a, b, c->base + event_first(both), &o);
	if (v == FINE && unseen(a, b))
		count_plain(c->court.d, b);
	moot = v == OPEN && counts && in_between(c, i, k);
	if (v == UNKNOWN)
		c->asks = true;
	else if (v != FINE && counts && !moot)
		found(c, i, k, v);
	else if (v != FINE && both & ~c->shown[i])
		c->hidden = i;
	/* One that a proxy has not seen has been told of by then. */
	if (c->under[i] && counts)
		compare_under(c, i, k, (uint16_t)(both & c->bytes[i]));
	if ((v == OPEN && !moot) || may_be_first(c) || !stands_for(b, a))
		return;
	/* Many meet at one word whom nothing orders: not asked.  What others read may be no race, where
	 * the one before it is (memory-model.md 1.2, 9). */
	if (a->strong && b->strong && (a->source != b->source || was_read(c->court.d, b)))
		return;
	o = moot ? ORDERED : o == NOT_KNOWN ? in_order(&c->court, a, b) : o;
	/* A thread's fence of the async proxy is for its own accesses. */
	seen = o == UNORDERED ? FINE : seen_by_async(&c->court, a, b);
	c->asks |= o == NOT_KNOWN || seen == UNKNOWN;
	if (o == UNORDERED || (seen != FINE && seen != UNKNOWN) || ((o == NOT_KNOWN || seen == UNKNOWN) && !c->hopes))
		return;
	leave_out(c, i, k, (uint16_t)(c->bytes[i] & bytes_of(c, b)));
	c->shown[i] |= v == FINE ? 0 : both;
}

/* Whoever they are of, two such accesses do not race, and those of two threads do not stand for each other. */
static bool like(const struct access *a, const struct access *word)
{
	return a->strong && a->scope == A_DEVICE && !a->operation && a->proxy == word->proxy && same_element(a, word);
}

static void compare_pile(struct cell *c, struct pile *with, uint32_t k)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < with->n; i++) {
		uint32_t x = with->item[i];

		compare_with(c, x, k);
		if (c->bytes[x] || c->court.d->choices.reference)
			with->item[n++] = x;
	}
	with->n = n;
}

/* With those before it. */
static void compare_next(struct cell *c, uint32_t k)
{
	const struct access *b = access_at(c, k);
	bool other = !c->word || !like(b, c->word), apart = !other || !c->word || !(bytes_of(c, b) & bytes_of(c, c->word));
	uint32_t *last = other ? NULL : &c->last[SOURCE_NUMBER(b->source)];
	/* Nothing takes the place of those of its thread but a write that nobody has read. */
	bool takes = last && b->writes && !may_be_first(c) && !was_read(c->court.d, b);

	compare_pile(c, &c->pile[apart][!b->writes], k);
	for (uint32_t *at = last; takes && *at;) {
		uint32_t i = *at - 1;

		compare_with(c, i, k);
		if (c->bytes[i] || c->court.d->choices.reference)
			at = &c->previous[i];
		else
			*at = c->previous[i];
	}
	for (unsigned i = 0; i <= other; i++)
		for (unsigned j = 0; j <= b->writes; j++)
			c->pile[i][j].item[c->pile[i][j].n++] = k;
	if (!last)
		return;
	c->previous[k] = *last;
	*last = k + 1;
}

static void compare_cell(struct cell *c)
{
	for (unsigned i = 0; i < 4; i++)
		c->pile[i / 2][i % 2].n = 0;
	c->left_out->l.n = 0;
	for (uint32_t k = 0; k < c->n; k++) {
		c->bytes[k] = bytes_of(c, access_at(c, k));
		c->shown[k] = 0;
		c->under[k] = 0;
		c->told = false;
		c->hidden = NONE;
		compare_next(c, k);
		/* detect=reference: a race that none of those that stand for it shows would be lost. */
		if (c->hidden != NONE && !c->told && !in_between(c, c->hidden, k))
			found(c, c->hidden, k, OPEN);
	}
	for (uint32_t k = 0; c->word && k < c->n; k++)
		if (!access_at(c, k)->operation)
			c->last[SOURCE_NUMBER(access_at(c, k)->source)] = 0;
}

/* ---- all of them ---------------------------------------------------------------------------------------- */

static struct cell cell_at(struct detect *d, struct cells *all, uint32_t i)
{
	const struct room *r = &all->room;
	struct cell c = {
		.court = {d, &d->graph, &d->answers}, .item = all->o.item + all->first[i], .n = all->first[i + 1] - all->first[i],
		.base = (all->number[i] & CELL_NUMBER) * CELL, .bytes = r->bytes, .shown = r->shown,
		.pile = {{{r->pile[0][0], 0}, {r->pile[0][1], 0}}, {{r->pile[1][0], 0}, {r->pile[1][1], 0}}},
		.under = r->under, .left_out = &all->left_out, .again = &all->again, .previous = r->previous, .last = r->last
	};

	for (uint32_t k = 0; k < c.n; k++) {
		const struct access *a = access_at(&c, k);

		c.operations |= a->operation != 0;
		c.word = !c.word && like(a, a) ? a : c.word;
	}
	return c;
}

static struct room room_for(struct detect *d, uint32_t accesses)
{
	struct room r;
	uint32_t **const numbers[] = {&r.pile[0][0], &r.pile[0][1], &r.pile[1][0], &r.pile[1][1], &r.previous, &r.under};
	uint16_t **const bits[] = {&r.bytes, &r.shown};

	for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
		*numbers[i] = (uint32_t *)arena_get(&d->arena, accesses, sizeof **numbers[i]);
	for (unsigned i = 0; i < sizeof bits / sizeof *bits; i++)
		*bits[i] = (uint16_t *)arena_get(&d->arena, accesses, sizeof **bits[i]);
	r.last = (uint32_t *)arena_get(&d->arena, d->warp.n * EVENT_LANES, sizeof *r.last);
	return r;
}

/* Whoever still counts in the cell that was compared, or in one that nobody writes. */
static void keep_alive(struct detect *d, const struct cells *all, uint32_t i)
{
	for (uint32_t k = all->first[i]; k < all->first[i + 1]; k++)
		d->access.v[all->o.item[k]].lives |= !all->written[i] || all->room.bytes[k - all->first[i]] != 0;
	/* A later portion may be part of the cycle. */
	for (uint32_t k = 0; all->written[i] && k < all->left_out.l.n; k++)
		d->access.v[all->o.item[all->first[i] + all->left_out.l.v[k].item]].lives = true;
}

/* Compares those cells in which something is open; returns how many remain so. */
static uint32_t compare_open(struct detect *d, struct cells *all, bool *open, bool hopes)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < all->ncells; i++) {
		struct cell c;

		if (!open[i])
			continue;
		c = cell_at(d, all, i);
		c.hopes = hopes;
		compare_cell(&c);
		open[i] = c.asks;
		left += c.asks;
		all->over[i] = !c.asks && !c.shows;
		if (all->over[i])
			keep_alive(d, all, i);
	}
	return left;
}

static void report_cell(struct cell c)
{
	c.report = true;
	compare_cell(&c);
}

void compare_all(struct detect *d)
{
	struct cells all;
	uint32_t left, most = 0, round = 0;
	bool *open;

	memset(&all, 0, sizeof all);
	find_cells(d, &all);
	open = (bool *)arena_raw(&d->arena, all.ncells, sizeof *open);
	for (uint32_t i = 0; i < all.ncells; i++)
		most = all.first[i + 1] - all.first[i] > most ? all.first[i + 1] - all.first[i] : most;
	if (all.ncells)
		memcpy(open, all.written, all.ncells * sizeof *open);
	all.room = room_for(d, most);
	do {
		left = compare_open(d, &all, open, round++ < HOPES);
		answer_all(d, &d->graph, &d->answers);
	} while (left);
	for (uint32_t i = 0; i < all.ncells; i++) {
		if (all.over[i])
			continue;
		if (all.written[i])
			report_cell(cell_at(d, &all, i));
		keep_alive(d, &all, i);
	}
	list_free(&all.left_out.l.list);
	list_free(&all.again.l.list);
}

/* Those that something else stands for wherever they are. */
void forget_superseded(struct detect *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->access.n; i++) {
		struct access *a = &d->access.v[i];

		if (!a->lives && !d->choices.reference)
			continue;
		a->lives = false;
		a->old = true;
		d->access.v[n++] = *a;
	}
	d->access.n = n;
}
