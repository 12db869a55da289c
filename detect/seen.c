/* SPDX-License-Identifier: Apache-2.0
 *
 * seen.c: which writes of its word an operation may have read (memory-model.md 1.2, 3).
 *
 * Many threads that poll a lock at one time may all have seen each other's attempts: pairs of them are the square of
 * what is logged.  So writes lie side by side in the order in which they began, and sets of them are bits, 32 at a time.
 * Reads come by when they began, and the set of those that had not surely been written over by then goes along; of that
 * a read takes what has the value that it read and began before the read was over.  What remains is asked one by one: its
 * own thread's writes, and those of others that may have been over before that thread wrote itself.
 */
#include <string.h>

#include "detect/word.h"

enum { BITS = EVENT_LANES };            /* of a mask */
enum { FEW = 2 * BITS };                /* writes of a value that have no mask of their own */

/* Writes whose value is not logged, or one value: members in order; `mask`: of many. */
struct value { uint64_t value; uint32_t *member, n, *mask; };
/* A write that goes as reads come to a place; the next one that does, from 1 on. */
struct leaving { uint32_t write, next; };

struct sweep {
	struct word *w;
	uint32_t next;                  /* the read that comes next */
	uint32_t *there, *some, from;   /* writes that may be seen from now on; parts of that that are not empty; nothing is
					   before that part */
	uint32_t *own, *moved;          /* asked one by one: own writes; those whose end is known better than set_over() knew */
	uint32_t *leave;                /* of each read: those that go as it comes, in */
	LIST(struct leaving) leaving;
	struct value *value, unknown;
	uint32_t nvalues;
};

static uint32_t bit(uint32_t i) { return 1u << i % BITS; }
static uint32_t masks(uint32_t n) { return n / BITS + 1; }
static uint32_t *no_bits(const struct word *w, uint32_t n) { return (uint32_t *)arena_get(&w->d->arena, masks(n), sizeof(uint32_t)); }

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- when a write had surely been written over ------------------------------------------------------ */

/* By one that began when it was over, or by a later one of its own thread. */
static void set_over(struct word *w)
{
	uint64_t least = NEVER;

	for (uint32_t i = w->nwrites; i-- > 0;)
		w->least[i] = least = earlier(w->write[i].end, least);
	for (uint32_t i = 0; i < w->nwrites; i++) {
		struct writing *x = &w->write[i];
		uint32_t lo = i + 1, hi = w->nwrites;

		BISECT(lo, hi, w->write[mid].begin <= x->end);
		x->over = earlier(lo < w->nwrites ? w->least[lo] : NEVER, x->over);
		x->ended = x->end;
		if (x->before != NONE)
			w->write[x->before].over = earlier(x->end, w->write[x->before].over);
	}
}

static bool is_first(const struct word *w, const struct word_op *r)
{
	return !w->nwrites || w->least[0] >= r->begin;
}

bool may_see_first(const struct word *w, const struct word_op *r)
{
	return is_first(w, r) && !(w->known && r->valued_read && r->read != w->held);
}

/* ---- values ------------------------------------------------------------------------------------------- */

static void add_value(struct sweep *s, uint32_t *member, uint32_t n)
{
	const struct writing *x = &s->w->write[member[0]];
	struct value v = {x->value, member, n, NULL};

	if (n > FEW || !x->valued)
		v.mask = no_bits(s->w, s->w->nwrites);
	for (uint32_t i = 0; v.mask && i < n; i++)
		v.mask[member[i] / BITS] |= bit(member[i]);
	if (x->valued)
		s->value[s->nvalues++] = v;
	else
		s->unknown = v;
}

static void find_values(struct sweep *s)
{
	struct word *w = s->w;
	struct sorting o = new_sorting(&w->d->arena, w->nwrites);

	s->value = (struct value *)arena_get(&w->d->arena, o.n, sizeof *s->value);
	for (uint32_t i = 0; i < o.n; i++)
		o.key[i] = w->write[i].value;
	sort(&o);
	for (uint32_t i = 0; i < o.n; i++)
		o.key[i] = w->write[o.item[i]].valued;
	sort(&o);
	for (uint32_t i = 0, to; i < o.n; i = to) {
		const struct writing *x = &w->write[o.item[i]], *y = x;

		for (to = i; to < o.n && y->valued == x->valued && (!x->valued || y->value == x->value);)
			y = ++to < o.n ? &w->write[o.item[to]] : y;
		add_value(s, o.item + i, to - i);
	}
}

/* Which has the value that was read; NULL: none. */
static const struct value *value_of(const struct sweep *s, uint64_t value)
{
	uint32_t lo = 0, hi = s->nvalues;

	BISECT(lo, hi, s->value[mid].value < value);
	return lo < s->nvalues && s->value[lo].value == value ? &s->value[lo] : NULL;
}

/* ---- those that may be seen from now on ----------------------------------------------------------------- */

static void leave(struct sweep *s, uint32_t i)
{
	uint32_t *there = &s->there[i / BITS];

	*there &= ~bit(i);
	if (!*there)
		s->some[i / BITS / BITS] &= ~bit(i / BITS);
}

/* It goes as the first read comes that begins when it had been written over. */
static void leaves_then(struct sweep *s, uint32_t i)
{
	const struct word *w = s->w;
	uint64_t over = w->write[i].over;
	uint32_t lo = 0, hi = w->n;

	BISECT(lo, hi, op_of(w, mid)->begin <= over);
	if (lo < s->next) {
		leave(s, i);
	} else if (lo < w->n) {
		*ADD(&s->leaving) = (struct leaving){i, s->leave[lo]};
		s->leave[lo] = s->leaving.n;
	}
}

static void begin_sweep(struct sweep *s)
{
	struct word *w = s->w;

	s->next = s->from = s->leaving.n = 0;
	memset(s->leave, 0, w->n * sizeof *s->leave);
	memset(s->moved, 0, masks(w->nwrites) * sizeof *s->moved);
	for (uint32_t i = 0; i < w->nwrites; i++) {
		s->there[i / BITS] |= bit(i);
		s->some[i / BITS / BITS] |= bit(i / BITS);
	}
	for (uint32_t i = 0; i < w->nwrites; i++)
		leaves_then(s, i);
}

static void come_to(struct sweep *s, uint32_t read)
{
	s->next = read + 1;
	for (uint32_t x = s->leave[read]; x; x = s->leaving.v[x - 1].next)
		leave(s, s->leaving.v[x - 1].write);
	while (s->from < s->w->nwrites / BITS / BITS && !s->some[s->from])
		s->from++;
}

/* ---- what one read may have seen -------------------------------------------------------------------------- */

/* own: when its thread's last write began; all: that may have been over later than this read began. */
struct reading { const struct word_op *op; uint64_t own; uint32_t read, thread, pos, end; bool all; };

static struct reading reading_of(const struct word *w, uint32_t read)
{
	const struct word_op *r = op_of(w, read);
	const struct writing *own = w->wrote[read] == NONE ? NULL : &w->write[w->writing[w->wrote[read]]];
	struct reading x = {.op = r, .read = read, .thread = thread_of(w, r), .pos = event_of(w, r)->pos, .end = w->nwrites};
	uint32_t lo = 0;

	BISECT(lo, x.end, w->write[mid].begin <= r->end);
	x.own = own ? own->begin : 0;
	x.all = own && own->ended >= r->begin;
	return x;
}

/* What came before a write of its own is hidden by that; its later ones come later. */
static bool may_see(const struct writing *x, const struct reading *r)
{
	if (x->thread == r->thread)
		return x->op != r->read && x->pos < r->pos && x->begin >= r->own;
	return x->end >= r->own;
}

/* Its own thread's writes that may be there. */
static void mark_own(struct sweep *s, const struct reading *r, bool set)
{
	const struct word *w = s->w;
	uint32_t behind = NONE;

	for (uint32_t i = w->wrote[r->read] == NONE ? NONE : w->writing[w->wrote[r->read]]; i != NONE; i = w->write[i].before) {
		if (behind != NONE && w->write[behind].ended < r->op->begin)
			break;          /* and so written over */
		s->own[i / BITS] = set ? s->own[i / BITS] | bit(i) : 0;
		behind = i;
	}
	for (uint32_t i = w->next[r->read]; i != NONE && i < r->end; i = w->write[i].behind)
		s->own[i / BITS] = set ? s->own[i / BITS] | bit(i) : 0;
	if (r->op->writes)
		s->own[w->writing[r->read] / BITS] = set ? s->own[w->writing[r->read] / BITS] | bit(w->writing[r->read]) : 0;
}

/* Of 32 writes those that the read may have seen. */
static void take(struct sweep *s, const struct reading *r, struct word_op *op, uint32_t at, uint32_t mask)
{
	mask &= s->there[at] & (at == r->end / BITS ? bit(r->end) - 1 : ~0u);
	EACH_LANE(k, mask & (r->all ? ~0u : s->own[at] | s->moved[at]))
		if (!may_see(&s->w->write[at * BITS + k], r))
			mask &= ~(1u << k);
	if (!mask)
		return;
	*ADD(&s->w->d->pred) = (struct seen_bits){at, mask};
	op->nbits++;
	op->npred += event_count(mask);
}

/* Of those 32, those of the value, of which `*k` are before. */
static uint32_t of_value(const struct value *v, uint32_t at, uint32_t *k)
{
	uint32_t mask = 0;

	if (!v || v->mask)
		return v ? v->mask[at] : 0;
	for (; *k < v->n && v->member[*k] / BITS <= at; ++*k)
		mask |= v->member[*k] / BITS == at ? bit(v->member[*k]) : 0;
	return mask;
}

/* `most`: more are not looked for. */
static void take_all(struct sweep *s, const struct reading *r, struct word_op *op, uint32_t most)
{
	const struct value *v = op->valued_read ? value_of(s, op->read) : NULL;
	uint32_t k = 0;

	if (op->valued_read && !s->unknown.n && (!v || !v->mask)) {
		while (v && k < v->n && v->member[k] < r->end && op->npred < most) {
			uint32_t at = v->member[k] / BITS;

			take(s, r, op, at, of_value(v, at, &k));
		}
		return;
	}
	for (uint32_t part = s->from; part * BITS * BITS < r->end && op->npred < most; part++)
		EACH_LANE(l, s->some[part]) {
			uint32_t at = part * BITS + l, mask = ~0u;

			if (at * BITS >= r->end || op->npred >= most)
				break;
			if (op->valued_read)
				mask = of_value(v, at, &k) | (s->unknown.n ? s->unknown.mask[at] : 0);
			take(s, r, op, at, mask);
		}
}

/* It has seen that one alone, so that was performed; and written over, if it wrote itself. */
static void has_seen(struct sweep *s, const struct word_op *r, uint32_t i)
{
	struct writing *x = &s->w->write[i];

	op_of(s->w, x->op)->end = x->end = earlier(r->end, x->end);
	s->moved[i / BITS] |= bit(i);
	if (!r->writes)
		return;
	x->over = earlier(r->end, x->over);
	leaves_then(s, i);
}

static void find_seen(struct sweep *s, uint32_t read, uint32_t most)
{
	struct word *w = s->w;
	struct word_op *r = op_of(w, read);
	const struct reading now = reading_of(w, read);

	r->pred = w->d->pred.n;
	r->npred = r->nbits = 0;
	mark_own(s, &now, true);
	take_all(s, &now, r, most);
	mark_own(s, &now, false);
	if (!r->npred && r->valued_read && is_first(w, r)) {
		w->known = true;
		w->held = r->read;
	} else if (!r->npred && r->valued_read) {
		w->others = true;
	}
	if (r->npred == 1 && !w->others && !may_see_first(w, r)) {
		const struct seen_bits *x = &w->d->pred.v[r->pred];

		has_seen(s, r, x->at * BITS + event_first(x->mask));
	}
}

/* What was found out of ends took it that nobody else writes the word. */
static void forget_ends(struct word *w)
{
	for (uint32_t i = 0; i < w->nwrites; i++) {
		w->write[i].over = NEVER;
		op_of(w, w->write[i].op)->end = w->write[i].end = w->write[i].logged;
	}
}

void find_all_seen(struct word *w)
{
	enum { ROUNDS = 3 };            /* what one finds out of ends lets the next exclude more */
	struct sweep s = {.w = w};
	uint32_t pred = w->d->pred.n;

	s.there = no_bits(w, w->nwrites);
	s.some = no_bits(w, w->nwrites / BITS);
	s.own = no_bits(w, w->nwrites);
	s.moved = no_bits(w, w->nwrites);
	s.leave = (uint32_t *)arena_get(&w->d->arena, w->n, sizeof *s.leave);
	find_values(&s);
	for (unsigned round = 1; round <= ROUNDS; round++) {
		bool others = w->others;

		w->d->pred.n = pred;
		set_over(w);
		begin_sweep(&s);
		for (uint32_t i = 0; i < w->n; i++) {
			come_to(&s, i);
			if (op_of(w, i)->reads)
				find_seen(&s, i, round < ROUNDS ? 2 : NONE);
		}
		if (w->others && !others) {
			forget_ends(w);
			round = 0;
		}
	}
	list_free(&s.leaving.list);
	for (uint32_t i = 0; i < w->n; i++)
		w->d->counter[DETECT_INEXACT_READS] += op_of(w, i)->size && op_of(w, i)->npred > 1 && !w->g->world;
}

void find_readers(struct detect *d)
{
	uint32_t n = 0, *row, *reader;

	for (uint32_t i = 0; i < d->word_op.n; i++)
		n += d->word_op.v[i].reads ? d->word_op.v[i].npred : 0;
	row = (uint32_t *)arena_get(&d->arena, n, sizeof *row);
	reader = (uint32_t *)arena_get(&d->arena, n, sizeof *reader);
	n = 0;
	for (uint32_t i = 0; i < d->word_op.n; i++) {
		const struct word_op *o = &d->word_op.v[i];
		const struct known_word *w = &d->word.v[o->word];

		EACH_SEEN(d, o, b, l) {
			row[n] = w->op[w->write[b->at * EVENT_LANES + l].op];
			reader[n++] = i;
		}
	}
	d->readers = rows_of(&d->arena, row, n, d->word_op.n);
	for (uint32_t i = 0; i < n; i++)
		d->readers.item[i] = reader[d->readers.item[i]];
	d->observers = (struct observers *)arena_get(&d->arena, d->word_op.n, sizeof *d->observers);
	d->followed = (uint32_t *)arena_get(&d->arena, d->word_op.n, sizeof *d->followed);
	d->observer_of = (uint32_t *)arena_get(&d->arena, d->warp.n * EVENT_LANES, sizeof *d->observer_of);
	d->follows = 0;
	d->observer.n = 0;
}
