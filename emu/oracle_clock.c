/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle_clock.c: vector clocks with an entry for every thread.  A clock is a
 * sorted list of warps, each with 32 entries; lists and entries are shared until
 * somebody changes them, so that the threads of a block, which know much the same,
 * cost little.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/oracle_impl.h"

struct warp { uint32_t refs, v[EMU_LANES]; };

struct entry { uint64_t number; struct warp *warp; };

struct orc_clock {
	uint32_t refs, n, cap;
	struct entry e[];
};

void *orc_alloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort();
	return p;
}

void *orc_grow(void *v, unsigned n, unsigned *cap, size_t size)
{
	if (n < *cap)
		return v;
	*cap = *cap ? *cap * 2 : 4;
	v = realloc(v, *cap * size);
	if (!v)
		abort();
	return v;
}

struct orc_clock *orc_keep(struct orc_clock *c)
{
	if (c)
		c->refs++;
	return c;
}

static void warp_drop(struct warp *w)
{
	if (!--w->refs)
		free(w);
}

void orc_drop(struct orc_clock *c)
{
	if (!c || --c->refs)
		return;
	for (uint32_t i = 0; i < c->n; i++)
		warp_drop(c->e[i].warp);
	free(c);
}

/* Index of the first entry that is not below `number`. */
static uint32_t find(const struct orc_clock *c, uint64_t number)
{
	uint32_t lo = 0, hi = c->n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (c->e[mid].number < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint32_t orc_get(const struct orc_clock *c, uint64_t thread)
{
	uint64_t number = thread / EMU_LANES;
	uint32_t i;

	if (!c)
		return 0;
	i = find(c, number);
	return i < c->n && c->e[i].number == number ? c->e[i].warp->v[thread % EMU_LANES] : 0;
}

static struct orc_clock *clock_new(uint32_t cap)
{
	struct orc_clock *c = malloc(sizeof *c + cap * sizeof *c->e);

	if (!c)
		abort();
	c->refs = 1;
	c->n = 0;
	c->cap = cap;
	return c;
}

/* A clock that nobody else has, with room for one more warp. */
static struct orc_clock *own(struct orc_clock *c)
{
	struct orc_clock *d;

	if (c && c->refs == 1 && c->n < c->cap)
		return c;
	d = clock_new(c ? c->n + c->n / 2 + 2 : 2);
	if (!c)
		return d;
	d->n = c->n;
	memcpy(d->e, c->e, c->n * sizeof *c->e);
	for (uint32_t i = 0; i < d->n; i++)
		d->e[i].warp->refs++;
	orc_drop(c);
	return d;
}

static struct warp *own_warp(struct warp *w)
{
	struct warp *d;

	if (w && w->refs == 1)
		return w;
	d = orc_alloc(1, sizeof *d);
	if (w) {
		*d = *w;
		warp_drop(w);
	}
	d->refs = 1;
	return d;
}

void orc_raise(struct orc_clock **at, uint64_t thread, uint32_t to)
{
	uint64_t number = thread / EMU_LANES;
	struct orc_clock *c;
	uint32_t i;

	if (orc_get(*at, thread) >= to)
		return;
	*at = c = own(*at);
	i = find(c, number);
	if (i == c->n || c->e[i].number != number) {
		memmove(c->e + i + 1, c->e + i, (c->n - i) * sizeof *c->e);
		c->e[i] = (struct entry){number, NULL};
		c->n++;
	}
	c->e[i].warp = own_warp(c->e[i].warp);
	c->e[i].warp->v[thread % EMU_LANES] = to;
}

/* Does `a` know all that `b` does? */
static bool warp_holds(const struct warp *a, const struct warp *b)
{
	if (a == b)
		return true;
	for (unsigned l = 0; l < EMU_LANES; l++)
		if (a->v[l] < b->v[l])
			return false;
	return true;
}

static bool holds(const struct orc_clock *a, const struct orc_clock *b)
{
	uint32_t i = 0;

	if (b->n > a->n)
		return false;
	for (uint32_t k = 0; k < b->n; k++, i++) {
		while (i < a->n && a->e[i].number < b->e[k].number)
			i++;
		if (i == a->n || a->e[i].number != b->e[k].number ||
		    !warp_holds(a->e[i].warp, b->e[k].warp))
			return false;
	}
	return true;
}

static struct warp *join_warps(struct warp *a, struct warp *b)
{
	struct warp *d;

	if (warp_holds(a, b)) {
		a->refs++;
		return a;
	}
	if (warp_holds(b, a)) {
		b->refs++;
		return b;
	}
	d = orc_alloc(1, sizeof *d);
	d->refs = 1;
	for (unsigned l = 0; l < EMU_LANES; l++)
		d->v[l] = a->v[l] > b->v[l] ? a->v[l] : b->v[l];
	return d;
}

void orc_learn(struct orc_clock **at, struct orc_clock *b)
{
	struct orc_clock *a = *at, *d;
	uint32_t i = 0, k = 0;

	if (!b || a == b || (a && holds(a, b)))
		return;
	if (!a || holds(b, a)) {
		*at = orc_keep(b);
		orc_drop(a);
		return;
	}
	d = clock_new(a->n + b->n);
	while (i < a->n || k < b->n) {
		struct entry *e = &d->e[d->n++];

		if (k == b->n || (i < a->n && a->e[i].number < b->e[k].number)) {
			*e = a->e[i++];
			e->warp->refs++;
		} else if (i == a->n || b->e[k].number < a->e[i].number) {
			*e = b->e[k++];
			e->warp->refs++;
		} else {
			e->number = a->e[i].number;
			e->warp = join_warps(a->e[i++].warp, b->e[k++].warp);
		}
	}
	orc_drop(a);
	*at = d;
}

void orc_each_beyond(const struct orc_clock *a, const struct orc_clock *b, orc_beyond *f, void *arg)
{
	for (uint32_t i = 0, k = 0; a && i < a->n; i++) {
		const struct entry *x = &a->e[i];
		const struct warp *known = NULL;

		while (b && k < b->n && b->e[k].number < x->number)
			k++;
		if (b && k < b->n && b->e[k].number == x->number)
			known = b->e[k].warp;
		for (unsigned l = 0; x->warp != known && l < EMU_LANES; l++)
			if (x->warp->v[l] > (known ? known->v[l] : 0))
				f(arg, x->number * EMU_LANES + l, x->warp->v[l]);
	}
}
