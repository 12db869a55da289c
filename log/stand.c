/* SPDX-License-Identifier: Apache-2.0
 *
 * stand.c: reads a log twice: which lanes have ended, then what the others logged last and what was done to the barriers
 * and mbarriers of their clusters.
 */
#include <stdlib.h>
#include <string.h>

#include "log/stand_impl.h"

#define SHARED_WINDOW (UINT64_C(1) << 28)       /* 16 ranks of 16 MiB */

/* ---- objects ------------------------------------------------------------------------------------------- */

static uint32_t hash(const struct hang_object *o)
{
	uint64_t h = (o->number * UINT64_C(0x9e3779b97f4a7c15)) ^ ((uint64_t)o->block * UINT64_C(0xd1342543de82ef95)) ^ (uint64_t)o->kind;

	return (uint32_t)(h >> 32 ^ h);
}

static struct stand_object *find(struct stand_object *v, uint32_t room, const struct hang_object *o)
{
	for (uint32_t i = hash(o);; i++) {
		struct stand_object *x = &v[i & (room - 1)];

		if (x->object.kind == HANG_RUNS || (x->object.kind == o->kind && x->object.block == o->block && x->object.number == o->number))
			return x;
	}
}

static bool grow(struct log_stand *s)
{
	uint32_t room = s->room ? 2 * s->room : 64;
	struct stand_object *more = calloc(room, sizeof *more);

	for (uint32_t i = 0; more && i < s->room; i++)
		if (s->object[i].object.kind != HANG_RUNS)
			*find(more, room, &s->object[i].object) = s->object[i];
	if (!more)
		return false;
	free(s->object);
	s->object = more;
	s->room = room;
	return true;
}

struct stand_object *stand_object(struct log_stand *s, const struct hang_object *o, bool make)
{
	struct stand_object *x;

	if (make && 2 * s->nobjects >= s->room && !grow(s))
		return NULL;
	x = s->room ? find(s->object, s->room, o) : NULL;
	if (x && x->object.kind != HANG_RUNS)
		return x;
	if (x && make) {
		x->object = *o;
		s->nobjects++;
	}
	return make ? x : NULL;
}

struct hang_object stand_mbarrier(const struct stand_warp *w, uint64_t address)
{
	uint64_t in = address - w->window < SHARED_WINDOW ? address - w->window : address;

	return (struct hang_object){HANG_MBARRIER, w->first + (uint32_t)(in >> 24 & 0xff), event_offset(in)};
}

bool stand_is_shared(const struct stand_warp *w, const struct event_site *s, uint64_t address)
{
	return s->space == EVENT_SHARED || (s->space == EVENT_GENERIC && address - w->window < SHARED_WINDOW);
}

/* ---- the first time: who has ended --------------------------------------------------------------------- */

static uint32_t warp_of(const struct log_stand *s, const struct event_piece *p)
{
	uint64_t w = (uint64_t)p->block * s->of.shape->warps + p->warp;

	return p->warp < s->of.shape->warps && w < s->nwarps ? (uint32_t)w : s->nwarps;
}

static uint32_t lanes_of(const struct log_stand *s, uint32_t warp)
{
	uint32_t left = s->of.threads - warp * EVENT_LANES;

	return left >= EVENT_LANES ? ~0u : (1u << left) - 1;
}

static void find_ends(void *arg, const struct event_piece *p)
{
	struct log_stand *s = arg;
	const struct event_unit *u = event_units_of(p);
	uint32_t w = warp_of(s, p), n = (uint32_t)((p->bytes - sizeof *p) / sizeof *u);
	size_t at;

	s->failed = s->failed || w == s->nwarps || event_piece_wrong(p, p->bytes, s->of.sites->nsites, &at);
	for (uint32_t i = 0, units; !s->failed && i < n && (units = event_units(u + i)); i += units) {
		s->began[w] |= event_lanes(u + i);
		s->exited[w] |= event_kind_of(u + i) == EVENT_EXIT ? event_lanes(u + i) : 0;
	}
}

static bool is_live(const struct log_stand *s, uint32_t w)
{
	return s->began[w] && lanes_of(s, w % s->of.shape->warps) & ~s->exited[w];
}

static bool make_room(struct log_stand *s)
{
	for (uint32_t w = 0; w < s->nwarps; w++)
		s->at[w] = is_live(s, w) ? ++s->nlive : 0;
	s->warp = calloc(s->nlive + 1, sizeof *s->warp);
	return s->warp;
}

/* ---- the second time: what the others did last -------------------------------------------------------------- */

/* Clusters of which some warp has not ended. */
static void find_open(void *arg, const struct event_piece *p)
{
	struct log_stand *s = arg;
	const uint32_t w = warp_of(s, p);
	struct stand_warp *x;

	if (!s->at[w])
		return;
	x = &s->warp[s->at[w] - 1];
	x->block = p->block;
	x->warp = p->warp;
	x->first = p->first;
	x->blocks = p->blocks;
	x->window = p->window;
	x->live = lanes_of(s, p->warp) & ~s->exited[w];
	for (uint32_t b = p->first; b < p->first + p->blocks && b < s->of.shape->blocks; b++)
		s->open[b] = true;
}

static bool only_arrives(const struct log_stand *s, const struct event_site *site)
{
	const char *text = s->of.sites->text + site->text;

	return s->of.sites->text && strstr(text, ".arrive");
}

static uint64_t what_of(const struct event_unit *u, unsigned lane)
{
	enum event_form form = event_form(event_kind_of(u));

	return form == EVENT_FORM_ADDRESS || form == EVENT_FORM_CLOCKED ? event_address(u, lane) : u->w[2];
}

/* What a strong read has found, all of it; of a wait its phase. */
static uint64_t value_of(const struct event_unit *u, unsigned lane)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < event_words(u); i++)
		v = i ? v * UINT64_C(0x9e3779b97f4a7c15) + event_word(u, lane, i) : event_word(u, lane, i);
	return v;
}

/* A read that found what the lane's last record has found there, or has found nothing yet. */
static bool is_poll(const struct stand_lane *l, const struct event_unit *u, const struct event_site *site, unsigned lane)
{
	uint32_t clock, timer;

	if (l->kind != EVENT_STRONG || event_kind_of(u) != EVENT_STRONG || l->site != event_site_of(u) || !(site->does & EVENT_READS) ||
	    l->what != what_of(u, lane))
		return false;
	event_clock(u, EVENT_BEHIND, &clock, &timer);
	return l->value == value_of(u, lane) || (!clock && !timer);
}

static void count_waits(struct stand_lane *l, const struct log_stand *s, const struct event_unit *u, const struct event_site *site)
{
	switch (event_kind_of(u)) {
	case EVENT_BAR_ARRIVE:
		l->bars += !only_arrives(s, site);
		l->bar[event_bar_id(u)]++;
		break;
	case EVENT_BAR_WAIT:
		l->bars--;
		break;
	case EVENT_WARP_ARRIVE:
		l->warps++;
		break;
	case EVENT_WARP_WAIT:
		l->warps--;
		break;
	case EVENT_CLUSTER_ARRIVE:
		l->clusters++;
		break;
	}
}

static void add_record(struct stand_lane *l, uint64_t key, const struct event_unit *u, const struct event_site *site, unsigned lane)
{
	bool poll = is_poll(l, u, site, lane);
	uint32_t timer;

	if (key < l->key) {
		l->records++;
		return;
	}
	if (!poll)
		l->records += l->run;
	l->run = poll ? l->run + 1 : 1;
	l->value = poll ? l->value : value_of(u, lane);
	l->holds = poll ? l->holds : event_word(u, lane, 0);
	l->key = key;
	l->kind = (uint8_t)event_kind_of(u);
	l->site = event_site_of(u);
	l->what = what_of(u, lane);
	event_clock(u, EVENT_BEFORE, &l->clock, &timer);
}

static void came(struct stand_object *o, uint32_t site)
{
	for (unsigned i = 0; i < o->nsites; i++)
		if (o->site[i] == site)
			return;
	if (o->nsites < STAND_SITES)
		o->site[o->nsites++] = site;
}

static void count_barrier(struct log_stand *s, const struct event_piece *p, const struct event_unit *u, const struct event_site *site)
{
	const struct hang_object object = {HANG_BARRIER, p->block, event_bar_id(u)};
	struct stand_object *o = stand_object(s, &object, true);

	if (!o) {
		s->failed = true;
		return;
	}
	o->unknown = o->unknown || (o->arrivals && o->count != event_bar_count(u));
	o->count = event_bar_count(u);
	o->arrives = o->arrives || only_arrives(s, site);
	o->arrivals += event_count(event_lanes(u));
}

/* ---- mbarriers -------------------------------------------------------------------------------------------------- */

/* What one lane's part of a record does to an mbarrier. */
struct deed { uint64_t address; uint32_t inits, arrivals, expected, come, blocks /* of a multicast */; bool unknown; };

static bool copy_deed(struct log_stand *s, const struct event_unit *u, const struct event_site *site, unsigned lane, struct deed *d)
{
	switch (event_kind_of(u)) {
	case EVENT_COPY:
		d->address = event_get(u, lane, EVENT_COPY_MBAR);
		d->come = (uint32_t)event_get(u, lane, EVENT_COPY_BYTES);
		d->blocks = (uint32_t)event_get(u, lane, EVENT_COPY_MASK);
		break;
	case EVENT_TENSOR:
		d->address = event_get(u, lane, EVENT_TENSOR_MBAR);
		d->come = s->of.box ? s->of.box(s->of.arg, u, site, lane) : 0;
		d->blocks = (uint32_t)event_get(u, lane, EVENT_TENSOR_MASK);
		d->unknown = !d->come;
		break;
	case EVENT_ASYNC_STORE:
		d->address = event_get(u, lane, EVENT_ASYNC_STORE_MBAR);
		d->come = (uint32_t)site->size * site->count;
		break;
	case EVENT_CANCEL:
		d->address = event_get(u, lane, EVENT_CANCEL_MBAR);
		d->come = 16;
		d->blocks = ~0u;
		break;
	default:
		return false;
	}
	return site->flags & EVENT_COUNTED || event_kind_of(u) == EVENT_ASYNC_STORE || event_kind_of(u) == EVENT_CANCEL;
}

/* False: it does nothing to any. */
static bool deed_of(struct log_stand *s, const struct event_unit *u, const struct event_site *site, unsigned lane, struct deed *d)
{
	*d = (struct deed){.address = what_of(u, lane)};
	switch (event_kind_of(u)) {
	case EVENT_MBAR_INIT:
		d->inits = 1;
		d->arrivals = (uint32_t)event_get(u, lane, EVENT_MBAR_INIT_COUNT);
		return true;
	case EVENT_MBAR_ARRIVE:
		d->arrivals = (uint32_t)event_get(u, lane, EVENT_MBAR_ARRIVE_COUNT);
		d->expected = (uint32_t)event_get(u, lane, EVENT_MBAR_ARRIVE_BYTES);
		d->unknown = site->flags & EVENT_DROP;
		return true;
	case EVENT_MBAR_EXPECT:
		d->expected = (uint32_t)event_get(u, lane, EVENT_MBAR_EXPECT_BYTES);
		return true;
	case EVENT_MBAR_COMPLETE:
		d->come = (uint32_t)event_get(u, lane, EVENT_MBAR_COMPLETE_BYTES);
		return true;
	case EVENT_MBAR_COPIES:         /* without .noinc it expects one more */
		d->arrivals = site->flags & EVENT_NOINC ? 1 : 0;
		return true;
	case EVENT_TC_COMMIT:
		d->arrivals = 1;
		d->blocks = (uint32_t)event_get(u, lane, EVENT_TC_COMMIT_MASK);
		return true;
	}
	return copy_deed(s, u, site, lane, d);
}

static void count_at(struct log_stand *s, const struct hang_object *object, const struct deed *d, uint32_t site)
{
	struct stand_object *o = stand_object(s, object, true);

	if (!o) {
		s->failed = true;
		return;
	}
	o->inits += d->inits;
	if (d->inits)
		o->count = d->arrivals;
	else
		o->arrivals += d->arrivals;
	o->expected += d->expected;
	o->come += d->come;
	o->unknown = o->unknown || d->unknown;
	if (d->arrivals && !d->inits)
		came(o, site);
}

static void count_mbarriers(struct log_stand *s, const struct event_piece *p, const struct event_unit *u, const struct event_site *site)
{
	const struct stand_warp w = {.block = p->block, .first = p->first, .blocks = p->blocks, .window = p->window};
	struct deed d;

	for (unsigned l = event_first(event_lanes(u)); l < EVENT_LANES; l++) {
		struct hang_object o;

		if (!(event_lanes(u) >> l & 1) || !deed_of(s, u, site, l, &d))
			continue;
		o = stand_mbarrier(&w, d.address);
		d.blocks = site->flags & EVENT_MULTICAST ? d.blocks : 0;
		if (site->flags & EVENT_PAIR) {         /* it may be the other one's of the pair */
			d.blocks = ~0u;
			d.unknown = true;
		}
		if (!d.blocks)
			count_at(s, &o, &d, event_site_of(u));
		for (unsigned r = 0; r < p->blocks; r++) {
			o.block = p->first + r;
			if (d.blocks >> r & 1)
				count_at(s, &o, &d, event_site_of(u));
		}
	}
}

/* ---- records --------------------------------------------------------------------------------------------------------- */

static void add_lanes(struct log_stand *s, struct stand_warp *w, struct stand_stream *t, const struct event_unit *u, const struct event_site *site)
{
	for (unsigned l = event_first(event_lanes(u)); l < EVENT_LANES; l++) {
		if (!(event_lanes(u) & w->live) >> l)
			break;
		if (!((event_lanes(u) & w->live) >> l & 1))
			continue;
		count_waits(&w->lane[l], s, u, site);
		add_record(&w->lane[l], t->key, u, site, l);
	}
}

static void go_through(void *arg, const struct event_piece *p)
{
	struct log_stand *s = arg;
	const struct event_unit *u = event_units_of(p);
	uint32_t n = (uint32_t)((p->bytes - sizeof *p) / sizeof *u), w = warp_of(s, p);
	struct stand_warp *warp = s->at[w] ? &s->warp[s->at[w] - 1] : NULL;
	struct stand_stream none = {0}, *t = warp ? &warp->stream[p->leader] : &none;

	if (!s->open[p->block])
		return;
	if (p->clock > t->now.clock)
		t->now = (struct event_now){p->clock, p->timer};
	for (uint32_t i = 0, units; i < n && (units = event_units(u + i)); i += units) {
		const struct event_site *site = &s->of.sites->site[event_site_of(u + i)];
		uint64_t clock[2], timer[2];

		event_times(u + i, &t->now, clock, timer);
		if (event_kind_of(u + i) == EVENT_CLOCK) {
			t->key = clock[EVENT_BEFORE];
			continue;
		}
		if (event_kind_of(u + i) == EVENT_BAR_ARRIVE)
			count_barrier(s, p, u + i, site);
		else
			count_mbarriers(s, p, u + i, site);
		if (warp)
			add_lanes(s, warp, t, u + i, site);
	}
}

/* ---- from outside ---------------------------------------------------------------------------------------------------------- */

static bool read_log(struct log_stand *s, const struct log_copy *c, const struct log_fill *fill, uint32_t n)
{
	return !c->head.lost && !log_tell(c, s->of.shape, fill, n, find_ends, s) && !s->failed && make_room(s) &&
	       !log_tell(c, s->of.shape, fill, n, find_open, s) && !log_tell(c, s->of.shape, fill, n, go_through, s) && !s->failed;
}

struct log_stand *log_stand_new(const struct log_stand_of *of, const struct log_copy *c, const struct log_fill *fill, uint32_t n)
{
	struct log_stand *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->of = *of;
	s->nwarps = log_warps(of->shape);
	s->began = calloc(s->nwarps + 1, sizeof *s->began);
	s->exited = calloc(s->nwarps + 1, sizeof *s->exited);
	s->at = calloc(s->nwarps + 1, sizeof *s->at);
	s->open = calloc(of->shape->blocks + 1, sizeof *s->open);
	if (s->began && s->exited && s->at && s->open && read_log(s, c, fill, n))
		return s;
	log_stand_free(s);
	return NULL;
}

void log_stand_free(struct log_stand *s)
{
	if (!s)
		return;
	free(s->began);
	free(s->exited);
	free(s->at);
	free(s->open);
	free(s->warp);
	free(s->object);
	free(s);
}

static bool lane_moved(const struct stand_lane *a, const struct stand_lane *b)
{
	return a->kind != b->kind || a->site != b->site || a->what != b->what || a->value != b->value || a->records != b->records;
}

bool log_stand_moved(const struct log_stand *was, const struct log_stand *now)
{
	if (was->nwarps != now->nwarps || was->nlive != now->nlive || memcmp(was->began, now->began, now->nwarps * sizeof *now->began) ||
	    memcmp(was->exited, now->exited, now->nwarps * sizeof *now->exited))
		return true;
	for (uint32_t i = 0; i < now->nlive; i++)
		for (unsigned l = 0; l < EVENT_LANES; l++)
			if (now->warp[i].live >> l & 1 && lane_moved(&was->warp[i].lane[l], &now->warp[i].lane[l]))
				return true;
	return false;
}

void log_stand_blocks(const struct log_stand *s, uint32_t *waiting, uint32_t *ended)
{
	*waiting = *ended = 0;
	for (uint32_t b = 0; b < s->of.shape->blocks; b++) {
		bool began = false, live = false;

		for (uint32_t w = b * s->of.shape->warps; w < (b + 1) * s->of.shape->warps; w++) {
			began = began || s->began[w];
			live = live || s->at[w] || !s->began[w];
		}
		*waiting += !began;
		*ended += began && !live;
	}
}
