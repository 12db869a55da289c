/* SPDX-License-Identifier: Apache-2.0
 *
 * stream.c: from pieces to the events of each warp, in an order that holds the program order
 * of each of its lanes.  A run is what a leader stored from one CLOCK to the next: in order
 * of itself; two runs that share a lane are ordered by their clocks (event.h).
 */
#include <string.h>

#include "detect/impl.h"

/* ---- who ------------------------------------------------------------------------------------ */

static struct launch *launch_of(struct detect *d, uint32_t number)
{
	for (uint32_t i = d->launch.n; i-- > 0;)
		if (d->launch.v[i].number == number)
			return &d->launch.v[i];
	return NULL;
}

uint32_t find_block(const struct detect *d, uint32_t launch, uint32_t number)
{
	const struct launch *l = &d->launch.v[launch];

	return number < l->nblocks ? d->block_at.v[l->first_block + number] : NONE;
}

/* The blocks of the piece's cluster, which may touch each other's memory. */
static void add_cluster(struct detect *d, uint32_t launch, const struct event_piece *p)
{
	const struct launch *l = &d->launch.v[launch];

	for (uint32_t r = 0; r < p->blocks && p->first + r < l->nblocks; r++) {
		uint32_t *at = &d->block_at.v[l->first_block + p->first + r];
		struct block *b;

		if (*at != NONE)
			continue;
		*at = d->block.n;
		b = ADD(&d->block);
		*b = (struct block){
			.launch = launch, .number = p->first + r, .cluster = p->first, .rank = (uint16_t)r,
			.ranks = p->blocks, .window = p->window
		};
		memset(b->warp, 0xff, sizeof b->warp);
	}
	d->loose |= p->blocks > 1;
}

/* The number of the piece's warp; NONE: of no block of the launch. */
static uint32_t find_warp(struct detect *d, uint32_t launch, const struct event_piece *p)
{
	struct block *b;
	uint32_t at;

	add_cluster(d, launch, p);
	at = find_block(d, launch, p->block);
	if (at == NONE)
		return NONE;
	b = &d->block.v[at];
	b->sm = p->sm;
	if (b->warp[p->warp] == NONE) {
		b->warp[p->warp] = d->warp.n;
		*ADD(&d->warp) = (struct warp){.block = at, .index = p->warp, .streams = NONE, .actors = NONE};
	}
	return b->warp[p->warp];
}

/* ---- reading a piece -------------------------------------------------------------------------- */

struct reader { struct detect *d; uint32_t warp, sites; struct event_now now; };

/* What a warp does as one, each group of its lanes that came by itself may have logged: that of the
 * first lane counts.  (Loads and stores of tensor memory are counted for each lane, as groups of products are.) */
static bool repeats(const struct event_unit *u)
{
	unsigned kind = event_kind_of(u);
	bool warp = kind == EVENT_WGMMA || kind == EVENT_TC_ALLOC || kind == EVENT_TC_FREE || kind == EVENT_MAP_COPY;

	return warp && !(event_lanes(u) & 1);
}

static void read_event(struct reader *r, const struct event_unit *u, uint32_t unit)
{
	struct event *e = ADD(&r->d->event);

	*e = (struct event){
		.warp = r->warp, .lanes = event_lanes(u), .site = r->sites + event_site_of(u), .unit = unit,
		.actor = NONE, .kind = (uint8_t)event_kind_of(u)
	};
	r->d->loose |= e->kind >= EVENT_TC_MMA && e->kind <= EVENT_TC_FREE;
	e->clocked = event_times(u, &r->now, e->clock, e->timer);
	e->open = e->clock[EVENT_BEHIND] == UINT64_MAX;
}

/* A record of several products: each gets one of its own. */
static bool read_products(struct reader *r, uint32_t unit)
{
	struct detect *d = r->d;
	const struct event_site *s = &d->site.v[r->sites + event_site_of(&d->unit.v[unit])];

	if (event_kind_of(&d->unit.v[unit]) != EVENT_WGMMA || !s->nrun)
		return false;
	for (uint32_t i = 0; i < s->nrun; i++) {
		const struct event_run run = d->run_site.v[s->run + i];
		uint32_t units = event_units(&d->unit.v[unit]), copy = d->unit.n;

		ADD_MANY(&d->unit, units);
		memcpy(&d->unit.v[copy], &d->unit.v[unit], units * sizeof *d->unit.v);
		event_add(&d->unit.v[copy], 0, (uint64_t)(int16_t)run.offset);
		event_add(&d->unit.v[copy], 1, (uint64_t)(int16_t)(run.offset >> 16));
		read_event(r, &d->unit.v[copy], copy);
		d->event.v[d->event.n - 1].site = run.site;
	}
	return true;
}

/* What the leader of a warp logs: a piece that does not begin with a CLOCK goes on with the run of the one before it
 * (event.h). */
static struct stream *stream_of(struct detect *d, uint32_t warp, const struct event_piece *p)
{
	uint32_t i = d->warp.v[warp].streams;
	struct stream *s;

	while (i != NONE && d->stream.v[i].leader != p->leader)
		i = d->stream.v[i].next;
	if (i != NONE)
		return &d->stream.v[i];
	s = ADD(&d->stream);
	*s = (struct stream){p->clock, 1u << p->leader, d->warp.v[warp].streams, p->leader};
	d->warp.v[warp].streams = d->stream.n - 1;
	return s;
}

static void read_records(struct reader *r, const struct event_piece *p)
{
	struct detect *d = r->d;
	uint32_t unit = d->unit.n, n = (p->bytes - (uint32_t)sizeof *p) / (uint32_t)sizeof(struct event_unit);
	struct run *run = NULL;
	struct stream *s = stream_of(d, r->warp, p);

	memcpy(ADD_MANY(&d->unit, n), event_units_of(p), n * sizeof(struct event_unit));
	for (uint32_t i = 0; i < n; i += event_units(&d->unit.v[unit + i])) {
		const struct event_unit *u = &d->unit.v[unit + i];
		uint64_t clock[2], timer[2];

		if (event_kind_of(u) == EVENT_END)
			break;
		if (event_kind_of(u) == EVENT_CLOCK) {
			/* It may be older than the piece: whoever had to fetch that came later than the other lanes. */
			event_times(u, &r->now, clock, timer);
			s->clock = clock[EVENT_BEFORE];
			s->lanes = event_lanes(u);
		}
		if (!run || event_kind_of(u) == EVENT_CLOCK) {
			run = ADD(&d->run);
			*run = (struct run){r->warp, d->event.n, 0, s->lanes, s->clock, r->now.timer};
		}
		if (event_kind_of(u) == EVENT_CLOCK || repeats(u))
			continue;
		if (read_products(r, unit + i)) {
			run->n += d->site.v[r->sites + event_site_of(&d->unit.v[unit + i])].nrun;
			continue;
		}
		read_event(r, u, unit + i);
		run->n++;
	}
}

const char *detect_feed(struct detect *d, const struct event_piece *p, size_t bytes)
{
	struct reader r = {d, NONE, 0, {p->clock, p->timer}};
	struct launch *l;
	const char *why;
	size_t at;

	if (bytes < sizeof *p)
		return "no piece of a log";
	l = launch_of(d, p->launch);
	if (!l)
		return "a piece of an unknown launch";
	why = event_piece_wrong(p, bytes, l->nsites, &at);
	if (why)
		return why;
	r.sites = l->sites;
	r.warp = find_warp(d, (uint32_t)(l - d->launch.v), p);
	if (r.warp == NONE)
		return "a piece of a block that the launch has not got";
	read_records(&r, p);
	return NULL;
}

/* ---- cuts ----------------------------------------------------------------------------------------- */

static uint64_t cut_of(const struct detect *d, uint32_t warp)
{
	return d->launch.v[block_of(d, warp)->launch].cut;
}

/* These lanes read the timer behind their events up to that place. */
static void reads_timer(struct detect *d, uint32_t warp, uint32_t lanes, uint32_t pos, uint64_t timer)
{
	if (timer >= cut_of(d, warp))
		return;
	if (d->certain.n < d->warp.n * EVENT_LANES)
		ADD_MANY(&d->certain, d->warp.n * EVENT_LANES - d->certain.n);
	EACH_LANE(l, lanes) {
		uint32_t *at = &d->certain.v[warp * EVENT_LANES + l];

		*at = pos > *at ? pos : *at;
	}
}

static bool has_timer(const struct event *e)
{
	enum event_form form = event_form(e->kind);

	return form == EVENT_FORM_CLOCK || form == EVENT_FORM_CLOCKED;
}

/* What one of its lanes has behind it the others have as well: they execute it together. */
bool is_judged_now(const struct detect *d, const struct event *e)
{
	bool certain = cut_of(d, e->warp) == UINT64_MAX;

	EACH_LANE(l, certain || d->certain.n <= e->warp * EVENT_LANES ? 0 : e->lanes)
		certain |= d->certain.v[e->warp * EVENT_LANES + l] >= e->pos;
	return certain && e->pos > d->warp.v[e->warp].judged;
}

/* ---- the order of a warp ------------------------------------------------------------------------ */

/* The places of a run's events, behind those of its warp that have one. */
static void place_run(struct detect *d, const struct run *r)
{
	uint32_t *last = &d->warp.v[r->warp].last;

	reads_timer(d, r->warp, r->lanes, *last, r->timer);
	for (uint32_t k = 0; k < r->n; k++) {
		struct event *e = &d->event.v[r->first + k];

		if (has_timer(e))
			reads_timer(d, r->warp, e->lanes, *last, e->timer[EVENT_BEFORE]);
		e->pos = ++*last;
	}
}

/* Events by warp and place: runs of a warp by their clocks, of which those of one stream come in order
 * anyway. */
void order_events(struct detect *d)
{
	struct sorting o = new_sorting(&d->arena, d->run.n);
	uint64_t *key = (uint64_t *)arena_get(&d->arena, d->event.n, sizeof *key);

	for (uint32_t i = 0; i < o.n; i++)
		o.key[i] = d->run.v[i].clock;
	sort(&o);
	for (uint32_t i = 0; i < o.n; i++)
		place_run(d, &d->run.v[o.item[i]]);
	d->run.n = 0;
	for (uint32_t i = 0; i < d->event.n; i++)
		key[i] = (uint64_t)d->event.v[i].warp << 32 | d->event.v[i].pos;
	sort_list(&d->arena, &d->event.list, sizeof *d->event.v, key);
	for (uint32_t w = 0; w < d->warp.n; w++)
		d->warp.v[w].n = 0;
	for (uint32_t i = 0; i < d->event.n; i++) {
		struct warp *w = &d->warp.v[d->event.v[i].warp];

		w->first = w->n ? w->first : i;
		w->n++;
	}
}

/* Plain accesses are in d->access by now, or have been judged.  Records of others are kept. */
void forget_accesses(struct detect *d)
{
	struct list was = d->unit.list;
	uint32_t n = 0;

	memset(&d->unit, 0, sizeof d->unit);
	for (uint32_t i = 0; i < d->event.n; i++) {
		struct event e = d->event.v[i];
		const struct event_unit *record = (const struct event_unit *)was.v + e.unit;

		if (e.kind == EVENT_ACCESS || e.kind == EVENT_STORED)
			continue;
		e.unit = d->unit.n;
		memcpy(ADD_MANY(&d->unit, event_units(record)), record, event_units(record) * sizeof *record);
		d->event.v[n++] = e;
	}
	d->event.n = n;
	list_free(&was);
	for (uint32_t w = 0; w < d->warp.n; w++)
		d->warp.v[w].judged = d->warp.v[w].last;
}
