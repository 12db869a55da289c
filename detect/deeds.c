/* SPDX-License-Identifier: Apache-2.0
 *
 * deeds.c: what the host issued, and touched itself, compared with what nothing orders it with (memory-model.md 1.11).
 *
 * Deeds come in the order of their issue.  What the host knew at the issue of one is known to all that come later, so that
 * of an earlier deed which it knew nothing is needed any more.
 */
#include <stdlib.h>
#include <string.h>

#include "detect/host.h"
#include "detect/memory.h"

enum {
	KEPT = 4096,                    /* deeds that something later may meet */
	LIKE = 16,                      /* of a stream, how many are looked at for one that a later one stands for */
	TOLD = 64                       /* meetings of one pair of deeds, each of other sites */
};

/* From that number on a line may have learned of that through memory, whatever the host ordered. */
struct heard { bool any; uint32_t number; struct detect_clock clock; };

/* A deed, with its place beside it: each one that comes looks at the places of all. */
struct kept { uint32_t line, number; struct detect_deed *deed; };

struct detect_deeds {
	struct kept room[2 * KEPT], *v; /* v: those that are kept, in order; [n - 1] is the last */
	size_t n;
	bool looked;                    /* all that the host knew at `host` is dropped, and none of its own has come since */
	struct detect_clock host;
	struct heard heard[DETECT_LINES];
	struct detect_meeting *meeting; /* that may turn out to be ordered yet */
	size_t nmeetings, cap;
	struct detect_deeds_count count;
};

struct detect_deeds *detect_deeds_new(void)
{
	struct detect_deeds *d = (struct detect_deeds *)detect_zeroed(1, sizeof(struct detect_deeds));

	d->v = d->room;
	return d;
}

void detect_deeds_free(struct detect_deeds *d)
{
	free(d->meeting);
	free(d);
}

struct detect_deeds_count detect_deeds_counts(const struct detect_deeds *d)
{
	return d->count;
}

/* ---- ranges --------------------------------------------------------------------------------------------------- */

static bool alike(const struct detect_range *a, const struct detect_range *b)
{
	return a->site == b->site && a->reads == b->reads && a->writes == b->writes && a->strong == b->strong;
}

/* Strong ones stay what they are: one address, one size. */
static bool unite(struct detect_range *a, const struct detect_range *b)
{
	uint64_t end = b->address + b->bytes;

	if (!alike(a, b) || b->address < a->address || b->address > a->address + a->bytes)
		return false;
	if (a->strong && (a->address != b->address || a->bytes != b->bytes))
		return false;
	if (end > a->address + a->bytes)
		a->bytes = end - a->address;
	return true;
}

static int by_site(const void *x, const void *y)
{
	const struct detect_range *a = (const struct detect_range *)x, *b = (const struct detect_range *)y;
	const uint64_t m = a->site * 8u + a->reads * 4u + a->writes * 2u + a->strong, n = b->site * 8u + b->reads * 4u + b->writes * 2u + b->strong;

	if (m != n)
		return m < n ? -1 : 1;
	return a->address != b->address ? (a->address < b->address ? -1 : 1) : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static int by_address(const void *x, const void *y)
{
	const struct detect_range *a = (const struct detect_range *)x, *b = (const struct detect_range *)y;

	return a->address != b->address ? (a->address < b->address ? -1 : 1) : by_site(x, y);
}

static void shrink(struct detect_ranges *r)
{
	size_t n = 0;

	qsort(r->v, r->n, sizeof *r->v, by_site);
	for (size_t i = 0; i < r->n; i++)
		if (!n || !unite(&r->v[n - 1], &r->v[i]))
			r->v[n++] = r->v[i];
	r->n = r->sorted = n;
}

void detect_range_add(struct detect_ranges *r, const struct detect_range *x)
{
	/* Lanes of a warp come one after the other, and sites in turns. */
	for (size_t i = r->n, left = 8; i-- > r->sorted && left--;)
		if (unite(&r->v[i], x))
			return;
	if (r->n >= 4096 && r->n >= 2 * r->sorted)
		shrink(r);
	if (r->lost || r->n >= DETECT_RANGES_MOST) {
		r->lost = true;
		r->n = r->sorted = 0;
		return;
	}
	if (r->n == r->cap) {
		r->cap = r->cap ? r->cap * 2 : 16;
		r->v = (struct detect_range *)detect_memory(r->v, r->cap * sizeof *r->v);
	}
	r->v[r->n++] = *x;
}

void detect_ranges_end(struct detect_ranges *r)
{
	if (r->n > 1) {
		shrink(r);
		qsort(r->v, r->n, sizeof *r->v, by_address);
	}
	r->longest = 0;
	for (size_t i = 0; i < r->n; i++)
		r->longest = r->v[i].bytes > r->longest ? r->v[i].bytes : r->longest;
}

void detect_ranges_free(struct detect_ranges *r)
{
	free(r->v);
	memset(r, 0, sizeof *r);
}

/* The first range that may overlap what begins there. */
static size_t first_at(const struct detect_ranges *r, uint64_t address)
{
	uint64_t from = address > r->longest ? address - r->longest : 0;
	size_t lo = 0, hi = r->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->v[mid].address < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool overlap(const struct detect_range *a, const struct detect_range *b)
{
	return a->address < b->address + b->bytes && b->address < a->address + a->bytes;
}

/* ---- two deeds -------------------------------------------------------------------------------------------------- */

/* Calls `each` for pairs of ranges that overlap and of which one writes, until it says that it is enough. */
typedef bool each_pair(void *, const struct detect_range *a, const struct detect_range *b);

static bool pairs(const struct detect_deed *a, const struct detect_deed *b, each_pair *each, void *arg)
{
	const bool swap = a->ranges.n > b->ranges.n;
	const struct detect_ranges *few = swap ? &b->ranges : &a->ranges, *many = swap ? &a->ranges : &b->ranges;

	for (size_t i = 0; i < few->n; i++) {
		const struct detect_range *x = &few->v[i];

		for (size_t k = first_at(many, x->address); k < many->n && many->v[k].address < x->address + x->bytes; k++) {
			const struct detect_range *y = &many->v[k];

			if (overlap(x, y) && (x->writes || y->writes) && each(arg, swap ? y : x, swap ? x : y))
				return true;
		}
	}
	return false;
}

static bool is_word(void *arg, const struct detect_range *a, const struct detect_range *b)
{
	(void)arg;
	return a->strong && b->strong;
}

/* ---- synchronisation through memory ------------------------------------------------------------------------------- */

static void hear(struct detect_deeds *d, uint32_t line, uint32_t number, const struct detect_clock *c)
{
	struct heard *h = &d->heard[line];

	h->number = h->any && h->number < number ? h->number : number;
	h->any = true;
	detect_clock_join(&h->clock, c);
}

/* A word that both access strongly may pass anything on, both ways; how is not looked at. */
static void find_talk(struct detect_deeds *d, const struct detect_deed *a, const struct detect_deed *b)
{
	if (a->kind != DETECT_LAUNCH || b->kind != DETECT_LAUNCH || !pairs(a, b, is_word, NULL))
		return;
	hear(d, a->when.line, a->when.number, &b->when.knew);
	hear(d, b->when.line, b->when.number, &a->when.knew);
}

/* The host may have read what the launch wrote strongly when it did or issued anything later.  The launch may have read what
 * the host writes at any time, and with it all that the host came to know until then. */
static void find_talk_with_host(struct detect_deeds *d, const struct detect_deed *x)
{
	struct detect_clock all = x->heard;

	all.upto[0] = UINT32_MAX;
	if (x->tells)
		hear(d, 0, x->when.knew.upto[0] + 1, &x->when.knew);
	if (x->hears)
		hear(d, x->when.line, x->when.number, &all);
}

/* Whoever has heard of somebody has heard what that one had heard. */
static bool heard_of(const struct detect_deeds *d, const struct detect_deed *a, const struct detect_deed *b)
{
	struct detect_clock c = b->when.knew;
	bool taken[DETECT_LINES] = {false}, more = true;

	c.upto[b->when.line] = b->when.number > c.upto[b->when.line] ? b->when.number : c.upto[b->when.line];
	while (more && c.upto[a->when.line] < a->when.number) {
		more = false;
		for (unsigned i = 0; i < DETECT_LINES; i++) {
			const struct heard *h = &d->heard[i];

			if (!h->any || taken[i] || c.upto[i] < h->number)
				continue;
			detect_clock_join(&c, &h->clock);
			taken[i] = more = true;
		}
	}
	return c.upto[a->when.line] >= a->when.number;
}


/* ---- meetings ------------------------------------------------------------------------------------------------------ */

struct telling { struct detect_deeds *d; const struct detect_deed *a, *b; uint32_t told[TOLD][2]; unsigned n; };

static bool note(void *arg, const struct detect_range *a, const struct detect_range *b)
{
	struct telling *t = (struct telling *)arg;
	struct detect_deeds *d = t->d;
	const uint64_t end_a = a->address + a->bytes, end_b = b->address + b->bytes;
	struct detect_meeting m = {{t->a, t->b}, {*a, *b}, a->address > b->address ? a->address : b->address, 0};

	if (a->strong && b->strong)
		return false;
	for (unsigned i = 0; i < t->n; i++)
		if (t->told[i][0] == a->site && t->told[i][1] == b->site)
			return false;
	t->told[t->n][0] = a->site;
	t->told[t->n++][1] = b->site;
	m.bytes = (end_a < end_b ? end_a : end_b) - m.address;
	if (d->nmeetings == d->cap) {
		d->cap = d->cap ? d->cap * 2 : 16;
		d->meeting = (struct detect_meeting *)detect_memory(d->meeting, d->cap * sizeof *d->meeting);
	}
	d->meeting[d->nmeetings++] = m;
	return t->n == TOLD;
}

bool detect_edges_order(const struct detect_edges *e, uint32_t x, uint32_t y)
{
	const uint64_t *const before_x = e->before + (size_t)x * e->words, *const before_y = e->before + (size_t)y * e->words;

	return (before_x[y / 64] >> y % 64 | before_y[x / 64] >> x % 64) & 1;
}

static bool of_one_graph(const struct detect_deed *a, const struct detect_deed *b)
{
	return b->edges && a->edges == b->edges && a->when.line == b->when.line && a->when.number == b->when.number;
}

/* Neither is open.  The one that has come later may still be the earlier one: what a function of the host in a stream did. */
static bool in_order(const struct kept *a, const struct detect_deed *b)
{
	return b->when.knew.upto[a->line] >= a->number || detect_before(&a->deed->when, &b->when) || detect_before(&b->when, &a->deed->when);
}

static void compare_two(struct detect_deeds *d, const struct detect_deed *a, const struct detect_deed *b)
{
	struct telling t = {.d = d, .a = a, .b = b};

	find_talk(d, a, b);
	pairs(a, b, note, &t);
}

/* Memory is given out, or back: nothing is done in it, so that two of these do not race. */
static bool is_hand_over(const struct detect_deed *x)
{
	return x->kind == DETECT_ALLOC || x->kind == DETECT_FREE;
}

/* Of those that their clocks do not order, and, in a graph, of those that its edges do not. */
static void compare(struct detect_deeds *d, const struct detect_deed *b)
{
	for (size_t i = 0; i < d->n && b->edges; i++) {
		const struct detect_deed *a = d->v[i].deed;

		if (of_one_graph(a, b) && !detect_edges_order(b->edges, a->node, b->node))
			compare_two(d, a, b);
	}
	for (size_t i = 0; i < d->n && !b->behind_all; i++)
		if (!in_order(&d->v[i], b) && !(is_hand_over(d->v[i].deed) && is_hand_over(b)))
			compare_two(d, d->v[i].deed, b);
}

/* The host knows what it has done itself (line 0). */
static bool is_known(const struct detect_clock *host, const struct kept *x)
{
	return !x->line || host->upto[x->line] >= x->number;
}

/* Whoever it has met may yet be ordered with it by what comes, as long as it is under way. */
static bool is_waited_for(const struct detect_deeds *d, const struct detect_deed *x, const struct detect_clock *host)
{
	for (size_t i = 0; i < d->nmeetings; i++) {
		const struct detect_meeting *m = &d->meeting[i];
		const struct detect_deed *other = m->deed[m->deed[0] == x];
		const struct kept o = {other->when.line, other->when.number, NULL};

		if ((m->deed[0] == x || m->deed[1] == x) && (!host || !is_known(host, &o)))
			return true;
	}
	return false;
}

static bool is_strong_anywhere(const struct detect_deed *x)
{
	for (size_t i = 0; i < x->ranges.n; i++)
		if (x->ranges.v[i].strong)
			return true;
	return false;
}

/* Clocks do not tell nodes of one graph apart: they may have heard of each other, perhaps by others, if they can talk at all. */
static bool may_have_heard(const struct detect_deeds *d, const struct detect_deed *a, const struct detect_deed *b)
{
	if (of_one_graph(a, b))
		return is_strong_anywhere(a) && is_strong_anywhere(b);
	return heard_of(d, a, b) || heard_of(d, b, a);
}

/* The meetings of one that is dropped: all that may order them has come. */
static void tell_of(struct detect_deeds *d, const struct detect_deed *x, const struct detect_sink *sink)
{
	size_t n = 0;

	for (size_t i = 0; i < d->nmeetings; i++) {
		const struct detect_meeting m = d->meeting[i];

		if (m.deed[0] != x && m.deed[1] != x)
			d->meeting[n++] = m;
		else if (may_have_heard(d, m.deed[0], m.deed[1]))
			d->count.talked++;
		else
			sink->met(sink->arg, &m);
	}
	d->nmeetings = n;
}

/* ---- those that are kept ------------------------------------------------------------------------------------------ */

static void drop(struct detect_deeds *d, size_t i, const struct detect_sink *sink)
{
	struct detect_deed *x = d->v[i].deed;

	tell_of(d, x, sink);
	d->n--;
	if (!i)
		d->v++;
	else
		memmove(&d->v[i], &d->v[i + 1], (d->n - i) * sizeof *d->v);
	sink->gone(sink->arg, x->number);
	detect_ranges_free(&x->ranges);
	free(x);
}

static void keep(struct detect_deeds *d, struct detect_deed *x)
{
	if (d->v + d->n == d->room + 2 * KEPT)
		d->v = (struct kept *)memmove(d->room, d->v, d->n * sizeof *d->v);
	d->v[d->n++] = (struct kept){x->when.line, x->when.number, x};
	d->looked = d->looked && x->when.line;
}

static bool covers(const struct detect_ranges *r, const struct detect_range *x)
{
	for (size_t k = first_at(r, x->address); k < r->n && r->v[k].address <= x->address; k++)
		if (alike(&r->v[k], x) && r->v[k].address + r->v[k].bytes >= x->address + x->bytes)
			return true;
	return false;
}

/* Whatever comes later, and not behind the earlier one, does not come behind the later one of its stream, either.  That does not
 * hold in a graph. */
static bool stands_for(const struct detect_deed *later, const struct detect_deed *x)
{
	if (of_one_graph(later, x) || x->kind != later->kind || x->origin != later->origin || x->ranges.n > later->ranges.n)
		return false;
	if (x->tells != later->tells || x->hears != later->hears)
		return false;
	for (size_t i = 0; i < x->ranges.n; i++)
		if (!covers(&later->ranges, &x->ranges.v[i]))
			return false;
	return true;
}

static void drop_alike(struct detect_deeds *d, const struct detect_deed *x, const struct detect_sink *sink)
{
	for (size_t i = d->n, left = LIKE; i-- > 0 && left;) {
		if (d->v[i].line != x->when.line)
			continue;
		left--;
		if (stands_for(x, d->v[i].deed) && !is_waited_for(d, d->v[i].deed, NULL))
			drop(d, i, sink);
	}
}

static void drop_known(struct detect_deeds *d, const struct detect_clock *host, const struct detect_sink *sink)
{
	/* Its own number, [0], decides nothing. */
	if (d->looked && !memcmp(&d->host.upto[1], &host->upto[1], sizeof host->upto - sizeof host->upto[0]))
		return;
	d->looked = true;
	d->host = *host;
	for (size_t i = 0; i < d->n;)
		if (is_known(host, &d->v[i]) && !is_waited_for(d, d->v[i].deed, host))
			drop(d, i, sink);
		else
			i++;
	for (unsigned i = 0; i < DETECT_LINES; i++) {
		struct heard *h = &d->heard[i];
		bool over = h->any && host->upto[i] >= h->number;

		for (unsigned k = 1; over && k < DETECT_LINES; k++)
			over = h->clock.upto[k] <= host->upto[k];
		if (over && !d->n)
			memset(h, 0, sizeof *h);
	}
}

void detect_deed(struct detect_deeds *d, struct detect_deed *given, const struct detect_sink *sink)
{
	struct detect_deed *x;

	drop_known(d, &given->host, sink);
	d->count.dropped += given->ranges.lost;
	find_talk_with_host(d, given);
	if (!given->ranges.n || given->when.open) {
		detect_ranges_free(&given->ranges);
		sink->gone(sink->arg, given->number);           /* and with it, perhaps, what was given */
		return;
	}
	x = (struct detect_deed *)detect_memory(NULL, sizeof *x);
	*x = *given;
	memset(&given->ranges, 0, sizeof given->ranges);
	compare(d, x);
	drop_alike(d, x, sink);
	if (d->n == KEPT) {
		drop(d, 0, sink);
		d->count.dropped++;
	}
	keep(d, x);
}

void detect_deeds_known(struct detect_deeds *d, const struct detect_clock *host, const struct detect_sink *sink)
{
	if (host)
		drop_known(d, host, sink);
	while (!host && d->n)
		drop(d, 0, sink);
}

void detect_deeds_forget(struct detect_deeds *d, uint64_t address, uint64_t bytes, const struct detect_sink *sink)
{
	for (size_t i = d->n; i-- > 0;) {
		struct detect_ranges *r = &d->v[i].deed->ranges;
		size_t n = 0;

		for (size_t k = 0; k < r->n; k++)
			if (r->v[k].address >= address + bytes || r->v[k].address + r->v[k].bytes <= address)
				r->v[n++] = r->v[k];
		r->n = n;
		if (!n)
			drop(d, i, sink);
	}
}
