/* SPDX-License-Identifier: Apache-2.0
 *
 * overrun.c: accesses of shared memory outside of the variable that their address comes from (memory-model.md 1.13).
 * What of an access lies outside is told here, and is no access of the variable that lies there: who has been told that
 * an index is too large need not be told of the races that come of it.
 */
#include "detect/impl.h"

/* PTX ISA, "%reserved_smem_offset_begin": the system has the first bytes of a block's memory, which %total_smem_size does
 * not count. */
enum { SYSTEM_BYTES = 1024 };

/* ---- where variables lie --------------------------------------------------------------------------------- */

void add_place(struct detect *d, const struct event_host *h)
{
	for (uint32_t i = 0; i < d->launch.n; i++)
		if (d->launch.v[i].number == h->launch && !index_get(&d->placed, i, h->place.variable)) {
			*ADD(&d->place) = h->place;
			index_set(&d->placed, i, h->place.variable, d->place.n);
		}
}

void forget_places(struct detect *d)
{
	list_free(&d->place.list);
	list_free(&d->placed.entry.list);
	d->placed.used = 0;
}

void add_origins(struct detect *d, const struct event_sites *s)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < s->nsites; i++) {
		*ADD(&d->origins_of) = d->origin.n;
		for (; at < s->norigins && s->origin[at].site <= i; at++)
			*ADD(&d->origin) = s->origin[at];
	}
}

/* ---- where an address may lie ------------------------------------------------------------------------------- */

/* Adds the variables of one of a site's addresses; false: it is not known of all. */
static bool add_variables(const struct detect *d, struct walls *w, enum event_address_of address)
{
	uint32_t first = d->origins_of.v[w->site], last = w->site + 1 < d->origins_of.n ? d->origins_of.v[w->site + 1] : d->origin.n;
	unsigned was = w->n;

	for (uint32_t i = first; i < last; i++) {
		const struct event_origin *o = &d->origin.v[i];
		uint32_t at = o->address == address ? index_get(&d->placed, w->launch, o->variable) : 0;

		if (o->address != address)
			continue;
		if (!at || w->n == WALLS)
			return false;
		w->place[w->n++] = d->place.v[at - 1];
	}
	return w->n > was;
}

/* Of a product each piece may be of either matrix. */
static void find_walls(const struct detect *d, struct walls *w)
{
	bool known;

	w->n = 0;
	if (w->address == OF_PRODUCT)
		known = add_variables(d, w, EVENT_OF_FROM) &&
			(d->site.v[w->site].flags & EVENT_A_ELSEWHERE || add_variables(d, w, EVENT_OF_AT));
	else
		known = add_variables(d, w, (enum event_address_of)w->address);
	w->n = known ? w->n : 0;
}

static const struct walls *walls_of(struct scan *s, const struct access *a)
{
	struct walls *w = &s->walls;
	uint32_t launch = block_of(s->d, s->warp)->launch;

	if (!w->any || w->site != a->site || w->launch != launch || w->address != a->address_of) {
		*w = (struct walls){.any = true, .address = a->address_of, .site = a->site, .launch = launch};
		find_walls(s->d, w);
	}
	return w;
}

/* ---- what lies outside ------------------------------------------------------------------------------------------ */

/* How far it reaches: behind the end, or, less than 0, before the start. */
static int64_t outside_of(const struct event_place *p, uint64_t from, uint64_t to)
{
	uint64_t start = p->at, end = start + p->bytes;

	return to > end ? (int64_t)(to - end) : from < start ? (int64_t)from - (int64_t)start : 0;
}

static int64_t distance(int64_t n)
{
	return n < 0 ? -n : n;
}

/* The first variable that has any of these bytes; none: an empty one. */
static struct event_place place_with(const struct detect *d, uint32_t launch, uint64_t from, uint64_t to)
{
	struct event_place first = {DETECT_NO_VARIABLE, UINT32_MAX, 0};

	for (uint32_t i = 0; i < d->placed.entry.n; i++) {
		const struct entry *e = &d->placed.entry.v[i];
		const struct event_place *p = e->value ? &d->place.v[e->value - 1] : NULL;

		if (p && e->a == launch && to > p->at && from < (uint64_t)p->at + p->bytes && p->at < first.at)
			first = *p;
	}
	return first;
}

static void tell_outside(struct detect *d, const struct access *of, uint64_t address, uint64_t bytes, const struct event_place *p)
{
	int64_t outside = outside_of(p, address, address + bytes);
	uint64_t end = (uint64_t)p->at + p->bytes;
	struct detect_finding f = {.kind = DETECT_SHARED_BOUNDS, .why = DETECT_MISUSE, .one = true, .met = {DETECT_NO_SITE, DETECT_NO_SITE},
				   .count = 1, .variable = *p, .outside = outside};
	struct access a = *of;

	a.address = address;
	a.bytes = bytes;
	f.side[0] = side_of(d, &a);
	f.in = outside > 0 ? place_with(d, block_of(d, a.warp)->launch, address > end ? address : end, address + bytes) :
			     place_with(d, block_of(d, a.warp)->launch, address, p->at < address + bytes ? p->at : address + bytes);
	add_finding(d, &f);
}

/* What of the piece lies within the variable becomes the piece; false: nothing does. */
static bool cut(const struct event_place *p, uint64_t *address, uint64_t *bytes)
{
	uint64_t from = *address, to = from + *bytes, end = (uint64_t)p->at + p->bytes;

	from = from > p->at ? from : p->at;
	to = to < end ? to : end;
	*address = from;
	*bytes = to > from ? to - from : 0;
	return to > from;
}

/* A piece of a product may be the end of one matrix and the begin of the other one, in variables side by side. */
static bool is_covered(const struct walls *w, uint64_t from, uint64_t to)
{
	for (unsigned i = 0; i < w->n && from < to; i++)
		for (unsigned k = 0; k < w->n; k++)
			if (from >= w->place[k].at && from < (uint64_t)w->place[k].at + w->place[k].bytes)
				from = (uint64_t)w->place[k].at + w->place[k].bytes;
	return from >= to;
}

/* Of several variables the nearest; of none all of a block's memory, if its size is known. */
static const struct event_place *nearest_of(const struct walls *w, const struct event_place *all, uint64_t from, uint64_t to)
{
	const struct event_place *nearest = w->n ? &w->place[0] : all;

	for (unsigned i = 1; i < w->n; i++)
		if (distance(outside_of(&w->place[i], from, to)) < distance(outside_of(nearest, from, to)))
			nearest = &w->place[i];
	return nearest;
}

static bool tell_part(struct scan *s, const struct walls *w, const struct access *a, uint64_t *address, uint64_t *bytes)
{
	uint32_t shared = s->d->launch.v[w->launch].shared;
	const struct event_place all = {DETECT_NO_VARIABLE, 0, shared + SYSTEM_BYTES};
	const struct event_place *nearest = nearest_of(w, &all, *address, *address + *bytes);

	if (!outside_of(nearest, *address, *address + *bytes) || (nearest == &all && !shared) ||
	    (a->address_of == OF_PRODUCT && is_covered(w, *address, *address + *bytes)))
		return true;
	tell_outside(s->d, a, *address, *bytes, nearest);
	return cut(nearest, address, bytes);
}

bool keep_within(struct scan *s, const struct access *a, uint64_t *address, uint64_t *bytes)
{
	const struct walls *w;

	if (s->d->choices.no_bounds)
		return true;
	w = walls_of(s, a);
	for (unsigned i = 0; i < w->n; i++)
		if (*address >= w->place[i].at && *address + *bytes <= (uint64_t)w->place[i].at + w->place[i].bytes)
			return true;
	return tell_part(s, w, a, address, bytes);
}

/* ---- what is no access: operations on mbarriers, and those that copies name --------------------------------------- */

static void look_at_mbar(struct scan *s, const struct event *e, unsigned lane, uint64_t address, enum event_address_of which)
{
	struct access a = as_access(s->d, e, 1u << lane);
	uint64_t bytes = 8;
	struct place p;

	a.reads = a.writes = true;
	a.address_of = (uint8_t)which;
	if (!place_of_shared(s->d, e, address, &p))
		return;
	a.space = p.space;
	keep_within(s, &a, &p.address, &bytes);
}

void look_at_mbars(struct scan *s, const struct event *e)
{
	const struct event_unit *u = record_of(s->d, e);
	bool counted = e->kind == EVENT_CANCEL || (is_copy(e->kind) && site_of(s->d, e)->flags & EVENT_COUNTED);

	EACH_LANE(l, e->lanes)
		if ((e->kind >= EVENT_MBAR_ARRIVE && e->kind <= EVENT_MBAR_COPIES) || e->kind == EVENT_TC_COMMIT)
			look_at_mbar(s, e, l, event_address(u, l), EVENT_OF_AT);
		else if (counted)
			look_at_mbar(s, e, l, event_get(u, l, mbar_operand(e)), EVENT_OF_MBAR);
}
