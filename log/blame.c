/* SPDX-License-Identifier: Apache-2.0
 *
 * blame.c: makes a hang (event/hang.h) of where lanes stand.  Blocks of different clusters wait for each other by words in
 * global memory alone, which anybody may write: each cluster is explained by itself, and of those that stand alike one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/stand_impl.h"

enum { ALIKE = 4 };                     /* ways to stand that are explained */

/* A cluster that is explained, from its first block on. */
struct unit {
	struct log_stand *s;
	const struct log_stand *was;
	uint32_t first, blocks;
	struct hang_wait *wait;
	uint32_t *site;                 /* of each wait */
	struct hang_party *party;
	struct hang h;
	unsigned room, party_room;
	bool failed;
};

static void *grown(struct unit *u, void *v, unsigned n, unsigned *room, size_t size)
{
	void *more;

	if (n < *room)
		return v;
	more = realloc(v, (*room ? 2 * *room : 64) * size);
	*room = more ? (*room ? 2 * *room : 64) : *room;
	u->failed = u->failed || !more;
	return more ? more : v;
}

static const struct stand_warp *warp_at(const struct log_stand *s, uint32_t block, uint32_t warp)
{
	uint32_t at = s->at[block * s->of.shape->warps + warp];

	return at ? &s->warp[at - 1] : NULL;
}

/* ---- what a lane waits for ------------------------------------------------------------------------------------ */

/* Does it read the word still? */
static bool polls(const struct unit *u, const struct stand_warp *w, unsigned lane)
{
	const struct stand_lane *l = &w->lane[lane];
	const struct stand_warp *was = u->was ? warp_at(u->was, w->block, w->warp) : NULL;

	return l->run > 1 && (!was || was->lane[lane].run != l->run || was->lane[lane].clock != l->clock);
}

static struct hang_object object_of(const struct unit *u, const struct stand_warp *w, unsigned lane)
{
	const struct stand_lane *l = &w->lane[lane];
	const struct event_site *site = &u->s->of.sites->site[l->site];
	const struct hang_object runs = {HANG_RUNS, 0, 0};

	switch (l->kind) {
	case EVENT_BAR_ARRIVE:
		return l->bars == 1 ? (struct hang_object){HANG_BARRIER, w->block, l->what & 15} : runs;
	case EVENT_CLUSTER_ARRIVE:
		return (struct hang_object){HANG_CLUSTER, w->first, 0};
	case EVENT_WARP_ARRIVE:
		return l->warps == 1 ? (struct hang_object){HANG_WARP, w->block, l->what << 32 | w->warp} : runs;
	case EVENT_MBAR_TRY:
		return stand_mbarrier(w, l->what);
	case EVENT_STRONG:
		if (!(site->does & EVENT_READS) || !polls(u, w, lane))
			return runs;
		if (!stand_is_shared(w, site, l->what))
			return (struct hang_object){HANG_WORD, 0, l->what};
		return (struct hang_object){HANG_WORD, stand_mbarrier(w, l->what).block, event_offset(l->what)};
	}
	return runs;
}

static bool same(const struct hang_object *a, const struct hang_object *b)
{
	return a->kind == b->kind && a->block == b->block && a->number == b->number;
}

static void add_wait(struct unit *u, const struct stand_warp *w, unsigned lane)
{
	const struct hang_object o = object_of(u, w, lane);
	const struct stand_lane *l = &w->lane[lane];
	struct hang_wait *x;

	for (unsigned i = 0; i < u->h.nwaits; i++) {
		x = &u->wait[i];
		if (x->block == w->block && x->warp == w->warp && same(&x->object, &o) && u->site[i] == l->site) {
			x->lanes |= 1u << lane;
			return;
		}
	}
	if (u->h.nwaits == u->room) {
		unsigned room = u->room;

		u->wait = grown(u, u->wait, u->h.nwaits, &room, sizeof *u->wait);
		u->site = grown(u, u->site, u->h.nwaits, &u->room, sizeof *u->site);
	}
	if (u->failed)
		return;
	u->site[u->h.nwaits] = l->site;
	x = &u->wait[u->h.nwaits++];
	*x = (struct hang_wait){.object = o, .block = w->block, .warp = w->warp, .lanes = 1u << lane, .value = l->holds,
				.behind = o.kind == HANG_CLUSTER || o.kind == HANG_RUNS, .at = u->s->of.place(u->s->of.arg, l->site)};
	if (o.kind == HANG_WORD && !stand_is_shared(w, &u->s->of.sites->site[l->site], l->what)) {
		x->open = true;
		x->name = u->s->of.name ? u->s->of.name(u->s->of.arg, l->what) : NULL;
	}
}

static void add_waits(struct unit *u)
{
	for (uint32_t b = u->first; b < u->first + u->blocks; b++) {
		for (uint32_t i = 0; i < u->s->of.shape->warps; i++) {
			const struct stand_warp *w = warp_at(u->s, b, i);

			for (unsigned l = 0; w && l < EVENT_LANES && !u->failed; l++)
				if (w->live >> l & 1)
					add_wait(u, w, l);
		}
	}
}

/* ---- what that lacks ---------------------------------------------------------------------------------------------- */

static uint32_t lanes_at(const struct unit *u, const struct hang_object *o, uint32_t block, uint32_t warp)
{
	uint32_t lanes = 0;

	for (unsigned i = 0; i < u->h.nwaits; i++)
		if (u->wait[i].block == block && u->wait[i].warp == warp && same(&u->wait[i].object, o))
			lanes |= u->wait[i].lanes;
	return lanes;
}

/* How often a lane has arrived there. */
static uint32_t times(const struct stand_lane *l, const struct hang_object *o)
{
	return o->kind == HANG_CLUSTER ? l->clusters : l->bar[o->number & 15];
}

/* What each of these lanes has done at least. */
static uint32_t least(const struct unit *u, const struct hang_wait *w)
{
	const struct stand_warp *x = warp_at(u->s, w->block, w->warp);
	uint32_t n = UINT32_MAX;

	for (unsigned l = 0; l < EVENT_LANES; l++)
		if (w->lanes >> l & 1 && times(&x->lane[l], &w->object) < n)
			n = times(&x->lane[l], &w->object);
	return n;
}

/* Lanes of those blocks that have not arrived as often; none if one has arrived more often, which nobody does before all. */
static uint32_t behind(const struct unit *u, const struct hang_wait *w, uint32_t first, uint32_t blocks)
{
	const uint32_t warps = u->s->of.shape->warps, n = least(u, w);
	uint32_t missing = 0;

	for (uint32_t i = 0; i < blocks * warps; i++) {
		const struct stand_warp *x = warp_at(u->s, first + i / warps, i % warps);

		for (unsigned l = 0; x && l < EVENT_LANES; l++) {
			if (!(x->live >> l & 1))
				continue;
			if (times(&x->lane[l], &w->object) > n)
				return 0;
			missing += times(&x->lane[l], &w->object) < n;
		}
	}
	return missing;
}

/* Each sets what the wait lacks.  False: nothing, so that it is over, or will be at once. */
static bool lacks_at_barrier(const struct unit *u, struct hang_wait *w)
{
	const struct stand_object *o = stand_object(u->s, &w->object, false);

	w->open = w->open || !o || o->unknown || (!o->count && o->arrives);
	if (w->open)
		return true;
	if (!o->count) {
		w->missing = behind(u, w, w->block, 1);
		return w->missing;
	}
	w->warps = true;
	w->missing = (uint32_t)(o->count - o->arrivals % o->count + EVENT_LANES - 1) / EVENT_LANES;
	return o->arrivals % o->count;
}

/* Who has arrived as often waits there, or does something else before its wait. */
static bool lacks_at_cluster(const struct unit *u, struct hang_wait *w)
{
	w->missing = behind(u, w, u->first, u->blocks);
	return w->missing;
}

static bool lacks_at_warp(const struct unit *u, struct hang_wait *w)
{
	const struct stand_warp *x = warp_at(u->s, w->block, w->warp);

	w->missing = event_count((uint32_t)(w->object.number >> 32) & x->live & ~lanes_at(u, &w->object, w->block, w->warp));
	return w->missing;
}

/* Of arrivals and bytes since its one initialisation.  The phase that a wait names has to be the one under way. */
static bool lacks_at_mbarrier(const struct unit *u, struct hang_wait *w, unsigned nth)
{
	const struct stand_object *o = stand_object(u->s, &w->object, false);
	const bool parity = u->s->of.sites->site[u->site[nth]].flags & EVENT_PARITY;
	uint64_t left, phases;

	w->open = w->open || !o || o->unknown || o->inits != 1 || !o->count || o->come > o->expected;
	if (w->open)
		return true;
	left = o->arrivals % o->count;
	phases = o->arrivals / o->count;
	w->bytes = (int64_t)(o->expected - o->come);
	w->missing = (uint32_t)(left || !w->bytes ? o->count - left : 0);
	if (!w->missing && phases)
		phases--;
	/* A state comes of an arrival in its phase. */
	return parity ? (phases & 1) == (w->value & 1) : left || w->bytes;
}

static void find_lacks(struct unit *u)
{
	bool *over = calloc(u->h.nwaits + 1, sizeof *over);

	u->failed = u->failed || !over;
	for (unsigned i = 0; over && i < u->h.nwaits; i++) {
		struct hang_wait *w = &u->wait[i];

		over[i] = (w->object.kind == HANG_BARRIER && !lacks_at_barrier(u, w)) ||
			  (w->object.kind == HANG_CLUSTER && !lacks_at_cluster(u, w)) ||
			  (w->object.kind == HANG_WARP && !lacks_at_warp(u, w)) ||
			  (w->object.kind == HANG_MBARRIER && !lacks_at_mbarrier(u, w, i));
	}
	for (unsigned i = 0; over && i < u->h.nwaits; i++)
		if (over[i])
			u->wait[i] = (struct hang_wait){.block = u->wait[i].block, .warp = u->wait[i].warp, .lanes = u->wait[i].lanes,
							.behind = true, .at = u->wait[i].at};
	free(over);
}

/* ---- who could come -------------------------------------------------------------------------------------------------- */

static void add_party(struct unit *u, const struct hang_party *p)
{
	u->party = grown(u, u->party, u->h.nparties, &u->party_room, sizeof *u->party);
	if (!u->failed)
		u->party[u->h.nparties++] = *p;
}

/* Those of the warp who are not there, or all of them. */
static void add_others(struct unit *u, const struct hang_object *o, uint32_t block, uint32_t warp)
{
	const struct stand_warp *w = warp_at(u->s, block, warp);
	uint32_t live = w ? w->live : 0, others = live & ~lanes_at(u, o, block, warp);

	add_party(u, &(struct hang_party){.object = *o, .block = block, .warp = warp, .lanes = others ? others : ~0u, .live = live});
}

static void add_arrived(struct unit *u, const struct hang_object *o)
{
	const struct stand_object *x = stand_object(u->s, o, false);

	for (unsigned i = 0; x && i < x->nsites; i++)
		add_party(u, &(struct hang_party){.object = *o, .came = u->s->of.place(u->s->of.arg, x->site[i])});
}

static void add_parties(struct unit *u, const struct hang_wait *w)
{
	const uint32_t warps = u->s->of.shape->warps;
	const bool all = w->object.kind != HANG_BARRIER;

	if (w->object.kind == HANG_WARP) {
		add_party(u, &(struct hang_party){.object = w->object, .block = w->block, .warp = w->warp,
						  .lanes = (uint32_t)(w->object.number >> 32) & ~w->lanes,
						  .live = warp_at(u->s, w->block, w->warp)->live});
		return;
	}
	for (uint32_t b = all ? u->first : w->block; b < (all ? u->first + u->blocks : w->block + 1); b++)
		for (uint32_t i = 0; i < warps; i++)
			add_others(u, &w->object, b, i);
	if (w->object.kind == HANG_MBARRIER)
		add_arrived(u, &w->object);
}

static void add_all_parties(struct unit *u)
{
	for (unsigned i = 0; i < u->h.nwaits && !u->failed; i++) {
		const struct hang_wait *w = &u->wait[i];
		bool first = w->object.kind != HANG_RUNS && !(w->object.kind == HANG_WORD && w->open);

		for (unsigned k = 0; k < i && first; k++)
			first = !same(&u->wait[k].object, &w->object);
		if (first)
			add_parties(u, w);
	}
}

/* ---- clusters that stand alike ------------------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t h, uint64_t v)
{
	return (h ^ v) * UINT64_C(0x9e3779b97f4a7c15) ^ h >> 29;
}

/* How its lanes stand: by lines, whatever their addresses. */
static uint64_t way_of(const struct log_stand *s, uint32_t first, uint32_t blocks)
{
	uint64_t h = 1;

	for (uint32_t i = 0; i < blocks * s->of.shape->warps; i++) {
		const struct stand_warp *w = warp_at(s, first + i / s->of.shape->warps, i % s->of.shape->warps);

		h = mix(h, w ? w->live : 0);
		for (unsigned l = 0; w && l < EVENT_LANES; l++)
			h = w->live >> l & 1 ? mix(h, (uint64_t)w->lane[l].site << 8 | w->lane[l].kind) : h;
	}
	return h;
}

struct told { uint64_t way; uint32_t first, blocks, more; };

/* False: there are more ways than are told. */
static bool note(struct told *v, unsigned *n, const struct told *t)
{
	for (unsigned i = 0; i < *n; i++) {
		if (v[i].way == t->way) {
			v[i].more++;
			return true;
		}
	}
	if (*n == ALIKE)
		return false;
	v[(*n)++] = *t;
	return true;
}

static unsigned find_ways(const struct log_stand *s, struct told *v, uint32_t *others)
{
	unsigned n = 0;
	uint32_t next = 0;

	*others = 0;
	for (uint32_t i = 0; i < s->nwarps; i++) {
		const struct stand_warp *w = s->at[i] ? &s->warp[s->at[i] - 1] : NULL;

		if (!w || w->block < next || w->first + w->blocks > s->of.shape->blocks)
			continue;
		next = w->first + w->blocks;
		if (!note(v, &n, &(struct told){way_of(s, w->first, w->blocks), w->first, w->blocks, 0}))
			++*others;
	}
	return n;
}

/* ---- from outside ---------------------------------------------------------------------------------------------------------- */

static enum log_hang explain_one(struct unit *u, void (*line)(void *arg, const char *), void *arg, struct log_waits *first)
{
	enum log_hang r = LOG_MAY_HANG;

	add_waits(u);
	find_lacks(u);
	add_all_parties(u);
	u->h.wait = u->wait;
	u->h.party = u->party;
	if (u->failed)
		return LOG_RUNS;
	for (unsigned i = 0; i < u->h.nwaits; i++) {
		if (u->wait[i].object.kind == HANG_RUNS)
			r = LOG_RUNS;
		else if (first->block == UINT32_MAX)
			*first = (struct log_waits){u->site[i], u->wait[i].block, u->wait[i].warp * EVENT_LANES + event_first(u->wait[i].lanes)};
	}
	hang_explain(&u->h, line, arg);
	return hang_is_sure(&u->h) ? LOG_HANGS : r;
}

enum log_hang log_stand_explain(struct log_stand *s, const struct log_stand *was, void (*line)(void *arg, const char *), void *arg,
				struct log_waits *first)
{
	struct told told[ALIKE];
	uint32_t others;
	const unsigned n = find_ways(s, told, &others);
	bool hangs = false, runs = !n;
	char text[64];

	*first = (struct log_waits){.block = UINT32_MAX};
	for (unsigned i = 0; i < n; i++) {
		struct unit u = {.s = s, .was = was, .first = told[i].first, .blocks = told[i].blocks};
		enum log_hang r = explain_one(&u, line, arg, first);

		hangs = hangs || r == LOG_HANGS;
		runs = runs || r == LOG_RUNS;
		free(u.wait);
		free(u.site);
		free(u.party);
		snprintf(text, sizeof text, "the same in %u other %s%s", told[i].more, told[i].blocks > 1 ? "cluster" : "block",
			 told[i].more == 1 ? "" : "s");
		if (told[i].more)
			line(arg, text);
	}
	snprintf(text, sizeof text, "otherwise in %u more", others);
	if (others)
		line(arg, text);
	return hangs ? LOG_HANGS : runs || others || first->block == UINT32_MAX ? LOG_RUNS : LOG_MAY_HANG;
}
