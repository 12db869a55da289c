/* SPDX-License-Identifier: Apache-2.0
 *
 * word.c: strong accesses: which writes a read may have seen, and what it learns by that
 * (memory-model.md 1.2, 1 to 4).
 *
 * A read gets every write that it may have seen: not later by the clocks, of the value that
 * it read where both are logged, and not surely written over when it began.  What is taken
 * too many hides races, and is counted; none is left out.
 */
#include <string.h>

#include "detect/word.h"

/* ---- collecting ------------------------------------------------------------------------------ */

/* A store has no end of its own: it is performed when a fence behind it is over, before whatever
 * the lane does then (PTX ISA, "membar/fence"). */
static void store_end(struct scan *s, const struct event *e, struct word_op *o)
{
	const struct warp *w = &s->d->warp.v[s->warp];
	const struct event *end = s->d->event.v + w->first + w->n;
	bool fenced = false;

	o->end = NEVER;
	for (const struct event *x = e + 1; x < end && x < e + 64; x++) {
		if (!(x->lanes >> o->lane & 1))
			continue;
		if (fenced && x->clocked) {
			o->end = (uint64_t)(x - s->d->event.v);         /* its clock, in link_words() */
			return;
		}
		fenced |= x->kind == EVENT_FENCE && site_of(s->d, x)->variant == EVENT_FENCE_THREAD &&
			  site_of(s->d, x)->sem != EVENT_ACQUIRE;
	}
}

static void scan_element(struct scan *s, const struct event *e, unsigned lane, unsigned i)
{
	const struct event_site *site = site_of(s->d, e);
	const struct event_unit *u = record_of(s->d, e);
	bool acq = site->sem == EVENT_ACQUIRE || site->sem == EVENT_ACQ_REL;
	bool rel = site->sem == EVENT_RELEASE || site->sem == EVENT_ACQ_REL;
	struct word_op *o;
	struct place p;

	if (event_leaves_out(site, i) || !place_of(s->d, e, event_address(u, lane) + i * site->size, &p))
		return;
	o = ADD(&s->d->word_op);
	o->space = p.space;
	o->address = p.address;
	o->event = (uint32_t)(e - s->d->event.v);
	o->size = site->size;
	o->lane = (uint8_t)lane;
	o->reach = (uint8_t)reach_of(site);
	o->reads = site->does & EVENT_READS && (!e->open || site->does & EVENT_NO_RESULT);
	o->writes = site->does & EVENT_WRITES;
	o->acquire = o->reads && !(site->does & EVENT_NO_RESULT) && (acq || s->g->world & W_ACQUIRE);
	o->release = o->writes && (rel || s->g->world & W_RELEASE);
	o->own = o->chain = NONE;
	o->valued_read = o->reads && event_value(u, site, lane, i, EVENT_READS, &o->read);
	o->valued_write = event_value(u, site, lane, i, EVENT_WRITES, &o->written);
	if (!o->writes)
		return;
	o->heads = heads_of(s, e, lane, (struct pattern){o->release, (enum apart)o->reach, A_DEVICE});
	o->own = o->release ? s->d->head.v[o->heads.first].hub : NONE;
	if (e->open)
		store_end(s, e, o);
}

/* Does the lane wait in vain again, with nothing done since it last did? */
static bool in_a_row(const struct scan *s, const struct event *e, unsigned lane, const struct place *p)
{
	const struct word_op *last = s->lane[lane].row ? &s->d->word_op.v[s->lane[lane].tried] : NULL;
	const struct event *x = e;

	if (!last || e->kind != EVENT_MBAR_TRY || last->address != p->address || last->space != p->space)
		return false;
	while (--x > s->d->event.v + last->event && !(x->lanes >> lane & 1));
	return x == s->d->event.v + last->event;
}

/* memory-model.md 1.2, 5: threads meet at an mbarrier, too; who waits reads, whether it saw the phase
 * over or not.  Of tries in a row the first and the last count. */
void scan_meeting(struct scan *s, const struct event *e, unsigned lane, const struct place *p)
{
	bool waits = e->kind == EVENT_MBAR_TRY || e->kind == EVENT_MBAR_WAIT;
	struct lane *l = &s->lane[lane];
	struct word_op *o;

	if (!s->d->sc)
		return;
	l->row = in_a_row(s, e, lane, p) ? l->row + 1 : e->kind == EVENT_MBAR_TRY;
	if (l->row > 2)
		s->d->word_op.v[l->tried].reads = false;
	l->tried = s->d->word_op.n;
	o = ADD(&s->d->word_op);
	*o = (struct word_op){
		.address = p->address, .space = p->space, .event = (uint32_t)(e - s->d->event.v), .lane = (uint8_t)lane,
		.reach = A_CLUSTER, .reads = waits, .writes = !waits, .own = NONE, .chain = NONE
	};
	if (e->open && !waits)
		store_end(s, e, o);
}

void scan_word(struct scan *s, const struct event *e)
{
	if (!event_strong(site_of(s->d, e)))    /* volatile_is_weak=1 */
		return;
	for (unsigned l = 0; l < EVENT_LANES; l++)
		for (unsigned i = 0; e->lanes >> l & 1 && i < site_of(s->d, e)->count; i++)
			scan_element(s, e, l, i);
}

/* ---- one word ---------------------------------------------------------------------------------- */

static bool strong_together(const struct word *w, const struct word_op *a, const struct word_op *b)
{
	return meets(w->g, (enum apart)a->reach, (enum apart)b->reach, apart_of(w->d, block_at(w, a), block_at(w, b)));
}

static void set_times(struct word *w)
{
	const struct block *first = block_of(w->d, event_of(w, op_of(w, 0))->warp);
	struct sorting sorted = new_sorting(&w->d->arena, w->n);

	w->timers = false;
	for (uint32_t i = 0; i < w->n; i++) {
		const struct block *b = block_of(w->d, event_of(w, op_of(w, i))->warp);

		w->timers |= b->sm != first->sm || b->launch != first->launch;
	}
	for (uint32_t i = 0; i < w->n; i++) {
		struct word_op *o = op_of(w, i);
		const struct event *e = event_of(w, o), *x = o->end && o->end != NEVER ? &w->d->event.v[o->end] : NULL;

		o->begin = w->timers ? e->timer[EVENT_BEFORE] : e->clock[EVENT_BEFORE];
		if (!e->open)
			o->end = w->timers ? e->timer[EVENT_BEHIND] : e->clock[EVENT_BEHIND];
		else
			o->end = !x ? NEVER : w->timers ? x->timer[EVENT_BEFORE] : x->clock[EVENT_BEFORE];
		sorted.key[i] = o->begin;
	}
	sort(&sorted);
	for (uint32_t i = 0; i < w->n; i++)
		sorted.item[i] = w->op[sorted.item[i]];
	w->op = sorted.item;
}

/* A thread's operations here, one behind the other. */
static void link_threads(struct word *w, uint32_t *last)
{
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t *at = &last[thread_of(w, op_of(w, i))], p = *at;

		w->previous[i] = p - 1;
		w->wrote[i] = !p ? NONE : op_of(w, p - 1)->writes ? p - 1 : w->wrote[p - 1];
		*at = i + 1;
		for (unsigned k = 0; k < 3; k++) {
			const struct word_op *before = p ? op_of(w, p - 1) : NULL;

			w->released[k][i] = !before ? NONE : before->release && before->reach >= k ? p - 1 : w->released[k][p - 1];
		}
	}
	for (uint32_t i = 0; i < w->n; i++)
		last[thread_of(w, op_of(w, i))] = 0;
}

/* ---- what a write publishes, and a read learns ------------------------------------------------------ */

/* memory-model.md 1.2, 1 b: an earlier release of its own at this place. */
static void add_own_releases(struct word *w, uint32_t i, struct heads *h)
{
	const struct word_op *o = op_of(w, i);
	struct heads all = {w->d->head.n, h->n};

	for (unsigned k = o->release ? o->reach + 1u : 0; k < 3; k++) {
		uint32_t r = w->released[k][i];
		struct head *x;

		if (r == NONE || (k && r == w->released[k - 1][i] && k - 1 >= (o->release ? o->reach + 1u : 0)))
			continue;
		if (all.n == h->n) {
			/* The others first, in a row with it. */
			struct head *to = ADD_MANY(&w->d->head, h->n);

			memcpy(to, &w->d->head.v[h->first], h->n * sizeof *to);
		}
		x = ADD(&w->d->head);
		x->hub = op_of(w, r)->own;
		x->reach = op_of(w, r)->reach;
		x->how = H_PLAIN;
		all.n++;
	}
	if (all.n != h->n)
		*h = all;
}

static struct edge_kind edge(enum how how, unsigned when, enum apart apart)
{
	return (struct edge_kind){(uint8_t)how, (uint8_t)when, (uint8_t)apart};
}

static enum apart op_apart(const struct word *w, uint32_t i, uint32_t k)
{
	return w->block[i] == w->block[k] ? A_BLOCK : w->cluster[i] == w->cluster[k] ? A_CLUSTER : A_DEVICE;
}

static void set_near(struct word *w, uint32_t i, bool set)
{
	uint32_t *near = &w->near[i / EVENT_LANES];

	*near = set ? *near | 1u << i % EVENT_LANES : 0;
}

/* Writes of its own cluster, as far as those go that it may have seen: are in `near`, or no more. */
static void mark_near(struct word *w, uint32_t of, bool set)
{
	const struct word_op *o = op_of(w, of);
	const struct seen_bits *first = w->d->pred.v + o->pred, *last = first + o->nbits - 1;

	for (uint32_t i = w->near_before[of]; i != NONE && i / EVENT_LANES >= first->at; i = w->near_before[w->write[i].op])
		set_near(w, i, set);
	for (uint32_t i = w->near_behind[of]; i != NONE && i / EVENT_LANES <= last->at; i = w->near_behind[w->write[i].op])
		set_near(w, i, set);
}

/* Of 32 writes those that are less far from it than `far`. */
static uint32_t nearer(const struct word *w, uint32_t of, uint32_t at, enum apart far)
{
	uint32_t mask = far == A_BLOCK ? 0 : w->near[at];

	EACH_LANE(k, far == A_CLUSTER ? mask : 0)
		if (op_apart(w, of, w->write[at * EVENT_LANES + k].op) == A_CLUSTER)
			mask &= ~(1u << k);
	return mask;
}

/* Of 32 writes those that are morally strong with it. */
static uint32_t those_together(const struct word *w, const struct word_op *o, const struct seen_bits *x)
{
	uint32_t mask = w->device ? x->mask : 0;

	EACH_LANE(k, w->device ? 0 : x->mask)
		mask |= strong_together(w, o, op_of(w, w->write[x->at * EVENT_LANES + k].op)) ? 1u << k : 0;
	return mask;
}

/* Of writes that `of` may have seen: those that are further from it than `x`, and that `x` may have seen, if
 * nothing is lost on that way: none of them is nearer to `of` than `x` is. */
static void cover_seen(struct word *w, uint32_t of, uint32_t x)
{
	const struct word_op *o = op_of(w, x);
	uint32_t at = w->writing[x], part = at / EVENT_LANES, before = (1u << at % EVENT_LANES) - 1;
	enum apart far = op_apart(w, of, x);

	for (uint32_t k = o->pred; o->reads && k < o->pred + o->nbits; k++) {
		const struct seen_bits *b = &w->d->pred.v[k];
		uint32_t mask = those_together(w, o, b);

		if (b->at == part)
			mask &= x < of ? before : ~before;
		else if (x < of ? b->at > part : b->at < part)
			continue;
		w->covered[b->at] = (w->covers[b->at] == w->stamps ? w->covered[b->at] : 0) | (mask & ~nearer(w, of, b->at, far));
		w->covers[b->at] = w->stamps;
	}
}

/* Of 32 writes that `read` may have seen, in that mask, those that no nearer one has covered; the nearest first. */
static uint32_t take_nearest(struct word *w, uint32_t read, const struct seen_bits *x, uint32_t mask, uint32_t n)
{
	mask &= those_together(w, op_of(w, read), x);
	while (mask &= w->covers[x->at] == w->stamps ? ~w->covered[x->at] : ~0u) {
		uint32_t k = x->at * EVENT_LANES + event_first(mask) < w->writing[read] ? last_bit(mask) : event_first(mask);

		mask &= ~(1u << k);
		w->seen[n] = w->write[x->at * EVENT_LANES + k].op;
		cover_seen(w, read, w->seen[n++]);
	}
	return n;
}

/* Writes that an operation may have seen, the nearest first, but for those that a nearer one on the same side
 * may have seen in turn: what is known there holds what they publish.  Each is left to one that is nearer to
 * it, so that two that may have seen each other do not leave it to each other. */
static uint32_t last_seen(struct word *w, uint32_t read)
{
	const struct word_op *r = op_of(w, read);
	uint32_t at = w->writing[read], n = 0, before = (1u << at % EVENT_LANES) - 1, nbits = r->reads ? r->nbits : 0;

	if (!nbits)
		return 0;
	w->stamps++;
	mark_near(w, read, true);
	for (uint32_t k = nbits; k-- > 0;) {
		const struct seen_bits *x = &w->d->pred.v[r->pred + k];

		if (x->at <= at / EVENT_LANES)
			n = take_nearest(w, read, x, x->at == at / EVENT_LANES ? x->mask & before : x->mask, n);
	}
	for (uint32_t k = 0; k < nbits; k++) {
		const struct seen_bits *x = &w->d->pred.v[r->pred + k];

		if (x->at >= at / EVENT_LANES)
			n = take_nearest(w, read, x, x->at == at / EVENT_LANES ? x->mask & ~before : x->mask, n);
	}
	mark_near(w, read, false);
	return n;
}

/* A release sequence goes on through read-modify-writes alone. */
static void make_chain(struct word *w, uint32_t i)
{
	struct word_op *o = op_of(w, i);
	uint32_t nseen = last_seen(w, i);

	for (uint32_t k = o->heads.first; k < o->heads.first + o->heads.n; k++) {
		const struct head *h = &w->d->head.v[k];

		w->narrow |= h->reach < w->span;
		if (meets(w->g, (enum apart)h->reach, A_DEVICE, w->span))
			join_hubs(w->g, o->chain, h->hub, edge((enum how)h->how, NOW, A_BLOCK));
		if (o->any != o->chain)
			join_hubs(w->g, o->any, h->hub, edge((enum how)h->how, NOW, A_BLOCK));
	}
	for (uint32_t k = nseen; k-- > 0;) {
		const struct word_op *x = op_of(w, w->seen[k]);

		join_hubs(w->g, o->chain, x->chain, edge(H_PLAIN, NOW, apart_of(w->d, block_at(w, o), block_at(w, x))));
		if (o->any != o->chain)
			join_hubs(w->g, o->any, x->any, edge(H_PLAIN, NOW, A_BLOCK));
	}
}

/* What the reader does with a head that reaches him, that far apart. */
static void join_head(const struct word *w, const struct word_op *r, const struct head *h, enum apart apart, bool acquire)
{
	enum apart reach = (enum apart)r->reach;
	bool now = h->how == H_LOOSE || (acquire && meets(w->g, (enum apart)h->reach, reach, apart));
	unsigned when = now ? NOW : w->g->world & W_WIDE ? LATER : (unsigned)LATER + apart;

	if (h->how == H_LOOSE || meets(w->g, (enum apart)h->reach, A_DEVICE, apart))
		join(w->g, event_of(w, r), 1u << r->lane, h->hub, edge((enum how)h->how, when, apart));
}

enum { WALK = 256 };            /* writes of a chain that are looked at one by one, from each that was seen */

/* Of what `x` may have seen, in these 32 writes, one that was not looked at for this read; NONE: there is none. */
static uint32_t walk_on(const struct word *w, const struct word_op *x, const struct seen_bits *b)
{
	EACH_LANE(l, b->mask & ~w->walked[b->at]) {
		const uint32_t p = w->write[b->at * EVENT_LANES + l].op;

		if (!strong_together(w, x, op_of(w, p)))
			continue;
		w->walked[b->at] |= 1u << l;
		return p;
	}
	return NONE;
}

/* Heads of the reader's own block and cluster, back along the chain: they may reach him by less than
 * device scope, and what they say means more in one block. */
static void walk_back(struct word *w, const struct word_op *r, uint32_t from, bool acquire)
{
	uint32_t stack[WALK], n = 1, seen = 0, p;

	stack[0] = from;
	while (n) {
		const struct word_op *x = op_of(w, stack[--n]);
		enum apart apart = apart_of(w->d, block_at(w, x), block_at(w, r));

		for (uint32_t k = x->heads.first; apart < A_DEVICE && k < x->heads.first + x->heads.n; k++)
			join_head(w, r, &w->d->head.v[k], apart, acquire);
		for (uint32_t k = x->pred; x->reads && k < x->pred + x->nbits; k++) {
			while ((p = walk_on(w, x, &w->d->pred.v[k])) != NONE) {
				if (n == WALK || ++seen > WALK) {
					/* Everything before, as if it were of the same block. */
					struct head h = {op_of(w, p)->any, A_DEVICE, H_PLAIN};

					join_head(w, r, &h, A_BLOCK, acquire);
					w->d->counter[DETECT_INEXACT_READS] += !w->g->world;
					continue;
				}
				stack[n++] = p;
			}
		}
	}
}

/* A read of less scope than the chain observes it, if each hop is within scope: a fence behind it acquires. */
static void learn_from(struct word *w, const struct word_op *r, uint32_t from, bool acquire)
{
	const struct word_op *x = op_of(w, from);
	bool wide = w->g->world & W_WIDE;
	enum apart apart = apart_of(w->d, block_at(w, x), block_at(w, r));
	unsigned when = acquire && (wide || r->reach >= w->span) ? NOW : wide ? LATER : (unsigned)LATER + w->span;
	uint32_t *walked = &w->walked[w->writing[from] / EVENT_LANES];

	join(w->g, event_of(w, r), 1u << r->lane, x->chain, edge(H_PLAIN, when, apart));
	if (w->d->loose)
		join(w->g, event_of(w, r), 1u << r->lane, x->chain, edge(H_LOOSE, NOW, apart));
	if (w->span > A_BLOCK && !wide && (w->narrow || r->reach < w->span || w->g->narrow) && !(*walked >> w->writing[from] % EVENT_LANES & 1)) {
		*walked |= 1u << w->writing[from] % EVENT_LANES;
		walk_back(w, r, from, acquire);
	}
}

/* memory-model.md 1.2, 2 b: what the thread has read here before is acquired, too. */
static void learn(struct word *w, uint32_t read)
{
	const struct word_op *r = op_of(w, read);
	uint32_t n;

	memset(w->walked, 0, (w->nwrites + EVENT_LANES - 1) / EVENT_LANES * sizeof *w->walked);
	for (uint32_t q = read; q != NONE; q = w->previous[q]) {
		const struct word_op *x = op_of(w, q);

		if (q != read && x->acquire && x->reach >= r->reach)
			break;
		for (n = last_seen(w, q); n-- > 0;)
			learn_from(w, r, w->seen[n], r->acquire);
		if (!r->acquire)
			break;
	}
}

/* ---- all of a word ------------------------------------------------------------------------------------ */

static uint32_t *numbers(const struct word *w)
{
	return (uint32_t *)arena_get(&w->d->arena, w->n, sizeof(uint32_t));
}

static void find_writes(struct word *w, uint32_t *last)
{
	for (uint32_t i = 0; i < w->n; i++) {
		struct word_op *o = op_of(w, i);

		w->writing[i] = w->nwrites;
		if (!o->writes)
			continue;
		w->write[w->nwrites++] = (struct writing){
			.begin = o->begin, .end = o->end, .over = NEVER, .value = o->written, .logged = o->end, .op = i, .thread = thread_of(w, o),
			.pos = event_of(w, o)->pos, .before = w->wrote[i] == NONE ? NONE : w->writing[w->wrote[i]],
			.valued = o->valued_write
		};
		o->chain = new_hub(w->g);
		o->any = w->span == A_BLOCK ? o->chain : new_hub(w->g);
	}
	for (uint32_t i = w->n; i-- > 0;) {
		uint32_t *next = &last[thread_of(w, op_of(w, i))];

		w->next[i] = *next - 1;
		if (!op_of(w, i)->writes)
			continue;
		w->write[w->writing[i]].behind = *next - 1;
		*next = w->writing[i] + 1;
	}
	for (uint32_t i = 0; i < w->n; i++)
		last[thread_of(w, op_of(w, i))] = 0;
}

/* The nearest writes of the same cluster. */
static void find_near(struct word *w, uint32_t *last)
{
	for (uint32_t i = 0; i < w->n; i++) {
		w->near_before[i] = last[w->cluster[i]] - 1;
		last[w->cluster[i]] = op_of(w, i)->writes ? w->writing[i] + 1 : last[w->cluster[i]];
	}
	for (uint32_t i = 0; i < w->n; i++)
		last[w->cluster[i]] = 0;
	for (uint32_t i = w->n; i-- > 0;) {
		w->near_behind[i] = last[w->cluster[i]] - 1;
		last[w->cluster[i]] = op_of(w, i)->writes ? w->writing[i] + 1 : last[w->cluster[i]];
	}
	for (uint32_t i = 0; i < w->n; i++)
		last[w->cluster[i]] = 0;
}

/* Once its operations are in order. */
static void find_span(struct word *w)
{
	w->span = A_BLOCK;
	w->device = true;
	for (uint32_t i = 0; i < w->n; i++) {
		const struct block *b = &w->d->block.v[w->block[i] = block_at(w, op_of(w, i))];
		enum apart apart;

		w->cluster[i] = w->d->launch.v[b->launch].first_block + b->cluster;
		apart = op_apart(w, 0, i);
		w->span = apart > w->span ? apart : w->span;
		w->device &= op_of(w, i)->reach == A_DEVICE;
	}
}

static struct word new_word(struct detect *d, struct graph *g, uint32_t *op, uint32_t n)
{
	struct word w = {.d = d, .g = g, .op = op, .n = n};
	uint32_t **const of_op[] = {
		&w.writing, &w.previous, &w.wrote, &w.next, &w.walked, &w.seen, &w.block, &w.cluster, &w.near_before, &w.near_behind,
		&w.near, &w.covered, &w.covers, &w.released[0], &w.released[1], &w.released[2]
	};

	for (unsigned i = 0; i < sizeof of_op / sizeof *of_op; i++)
		*of_op[i] = numbers(&w);
	w.write = (struct writing *)arena_get(&d->arena, n, sizeof *w.write);
	w.least = (uint64_t *)arena_get(&d->arena, n, sizeof *w.least);
	return w;
}

/* What is asked when the word is done. */
static void keep_seen(struct word *w)
{
	bool open = false;

	w->stamps++;
	for (uint32_t i = 0; i < w->n; i++) {
		struct word_op *o = op_of(w, i);
		const struct seen_bits *x = w->d->pred.v + o->pred;

		o->word = w->d->word.n;
		open |= o->npred && may_see_first(w, o);
		o->first_seen = o->npred ? w->op[w->write[x->at * EVENT_LANES + event_first(x->mask)].op] : NONE;
		for (uint32_t k = 0; k < o->nbits; k++, x++) {
			w->covered[x->at] = (w->covers[x->at] == w->stamps ? w->covered[x->at] : 0) | x->mask;
			w->covers[x->at] = w->stamps;
		}
	}
	for (uint32_t i = 0; i < w->nwrites; i++)
		op_of(w, w->write[i].op)->seen = w->covers[i / EVENT_LANES] == w->stamps && w->covered[i / EVENT_LANES] >> i % EVENT_LANES & 1;
	*ADD(&w->d->word) = (struct known_word){w->op, w->write, open, false};
}

static void one_word(struct detect *d, struct graph *g, uint32_t *op, uint32_t n, uint32_t *last)
{
	struct word w = new_word(d, g, op, n);

	set_times(&w);
	find_span(&w);
	link_threads(&w, last);
	find_writes(&w, last);
	find_near(&w, last);
	find_all_seen(&w);
	for (uint32_t i = 0; op_of(&w, 0)->size && i < w.nwrites; i++) {
		add_own_releases(&w, w.write[i].op, &op_of(&w, w.write[i].op)->heads);
		make_chain(&w, w.write[i].op);
	}
	for (uint32_t i = 0; op_of(&w, 0)->size && i < n; i++)
		if (op_of(&w, i)->reads && !(site_of(d, event_of(&w, op_of(&w, i)))->does & EVENT_NO_RESULT))
			learn(&w, i);
	if (g->fences)
		link_fences(&w);
	keep_seen(&w);
}

/* Operations by place, then by size, then as they are. */
void link_words(struct detect *d, struct graph *g)
{
	uint32_t threads = d->warp.n * EVENT_LANES, blocks = d->block_at.n;
	uint32_t *last = (uint32_t *)arena_get(&d->arena, threads > blocks ? threads : blocks, sizeof *last);   /* by thread, or cluster */
	struct sorting o = new_sorting(&d->arena, d->word_op.n);

	for (uint32_t i = 0; i < o.n; i++)
		o.key[i] = d->word_op.v[i].address;
	sort(&o);
	for (uint32_t i = 0; i < o.n; i++)
		o.key[i] = (uint64_t)d->word_op.v[o.item[i]].space << 16 | d->word_op.v[o.item[i]].size;
	sort(&o);
	for (uint32_t i = 0, to; i < o.n; i = to) {
		const struct word_op *a = &d->word_op.v[o.item[i]];

		for (to = i + 1; to < o.n && o.key[to] == o.key[i] && d->word_op.v[o.item[to]].address == a->address;)
			to++;
		one_word(d, g, o.item + i, to - i, last);
	}
	d->observers = NULL;
}
