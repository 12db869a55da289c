/* SPDX-License-Identifier: Apache-2.0
 *
 * screen.c: whether a launch is clear (screen.h): what its sites do, how its pieces follow each other, and what there is to see
 * in each of them.
 */
#include <stdlib.h>
#include <string.h>

#include "detect/bounds.h"
#include "detect/memory.h"
#include "detect/pass.h"

/* ---- sites -------------------------------------------------------------------------------------------- */

static bool is_known(const struct event_site *s)
{
	return s->kind == EVENT_ACCESS && s->size && !s->left_out && s->proxy == EVENT_PLAIN && s->space != EVENT_GENERIC &&
	       (s->sem == EVENT_SEM_NONE || (s->sem == EVENT_RELAXED && s->count == 1));
}

static uint8_t traits(const struct event_site *s)
{
	bool shared = s->space == EVENT_SHARED, writes = s->does & EVENT_WRITES;
	bool wide = shared || s->scope == EVENT_GPU || s->scope == EVENT_SYS || s->scope == EVENT_SCOPE_NONE;

	return (uint8_t)(!is_known(s) ? TRAIT_UNKNOWN : (shared ? (writes ? TRAIT_SHARED_WRITE : TRAIT_SHARED_READ) :
			 writes ? TRAIT_GLOBAL_WRITE : TRAIT_GLOBAL_READ) | (s->sem != EVENT_SEM_NONE && wide ? TRAIT_ATOMIC : 0));
}

static struct screen_span span_of(const struct event_sites *all, const struct event_site *s)
{
	struct screen_span span = {{0, 0}, {0, 0}, s->kind == EVENT_WGMMA};

	for (uint32_t k = 0; span.known && k < s->nrun; k++) {
		const struct event_run *r = &all->run[s->run + k];
		const struct event_site *of = &all->site[r->site];
		int16_t a = (int16_t)r->offset, b = (int16_t)(r->offset >> 16);

		span.a[0] = a < span.a[0] ? a : span.a[0];
		span.a[1] = a > span.a[1] ? a : span.a[1];
		span.b[0] = b < span.b[0] ? b : span.b[0];
		span.b[1] = b > span.b[1] ? b : span.b[1];
		span.known = of->flags == s->flags && !memcmp(of->shape, s->shape, sizeof of->shape);
	}
	return span;
}

static void add_reach(struct screen_reach *to, const struct screen_access *a, uint32_t traits)
{
	if (!(a->traits & traits))
		return;
	to->from = a->offset < to->from ? a->offset : to->from;
	to->to = a->offset + a->bytes > to->to ? a->offset + a->bytes : to->to;
}

/* A site's accesses: those of its run, or its own. */
static uint32_t accesses_of(const struct event_site *s)
{
	return s->nrun ? s->nrun : 1;
}

static const struct event_site *nth_site(const struct event_sites *all, const struct event_site *s, uint32_t k)
{
	return s->nrun ? &all->site[all->run[s->run + k].site] : s;
}

static struct screen_access access_of(const struct event_sites *all, const struct event_site *s, uint32_t k)
{
	const struct event_site *of = nth_site(all, s, k);

	return (struct screen_access){s->nrun ? all->run[s->run + k].offset : 0, (uint16_t)(of->size * of->count), traits(of)};
}

/* How far those of a site's accesses reach that have one of these traits. */
static struct screen_reach reach_of(const struct event_sites *all, const struct event_site *s, uint32_t traits)
{
	struct screen_reach reach = {INT32_MAX, INT32_MIN};

	for (uint32_t k = 0; k < accesses_of(s); k++) {
		const struct screen_access a = access_of(all, s, k);

		add_reach(&reach, &a, traits);
	}
	return reach;
}

void screen_table(struct screen_table *t, const struct event_sites *all)
{
	uint32_t n = 0;

	t->shift = t->fine = SCREEN_FINE;
	t->all = all->site;
	t->run = all->run;
	for (uint32_t i = 0; i < all->nsites; i++) {
		const struct event_site *s = &all->site[i];

		t->site[i].first = n;
		t->traits[i] = 0;
		t->span[i] = span_of(all, s);
		for (uint32_t k = 0; k < accesses_of(s); k++) {
			const struct event_site *of = nth_site(all, s, k);

			t->access[n] = access_of(all, s, k);
			t->traits[i] |= t->access[n++].traits;
			while ((traits(of) & (TRAIT_SHARED_READ | TRAIT_SHARED_WRITE) || of->kind == EVENT_CP_ASYNC) && of->size < 1u << t->shift)
				t->shift--;
			while (traits(of) & (TRAIT_GLOBAL_READ | TRAIT_GLOBAL_WRITE) && of->size < 1u << t->fine)
				t->fine--;
		}
		t->site[i].n = n - t->site[i].first;
		t->site[i].one = t->access[t->site[i].first];
		t->site[i].global = reach_of(all, s, TRAIT_GLOBAL_READ | TRAIT_GLOBAL_WRITE);
	}
}

/* Adds a range to what there is, or makes one of two that touch; false: there are too many. */
static bool add_range(struct screen_wall *w, unsigned *n, const struct event_place *p)
{
	for (unsigned i = 0; i < *n; i++)
		if (p->at == w->to[i] || p->at + p->bytes == w->from[i]) {
			w->from[i] = p->at < w->from[i] ? p->at : w->from[i];
			w->to[i] = p->at + p->bytes > w->to[i] ? p->at + p->bytes : w->to[i];
			return true;
		}
	if (*n == 2)
		return false;
	w->from[*n] = p->at;
	w->to[(*n)++] = p->at + p->bytes;
	return true;
}

static const struct event_place *find_place(const struct screen_places *p, uint32_t variable)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->place[i].variable == variable)
			return &p->place[i];
	return NULL;
}

static const struct screen_wall no_wall = {{0, 0}, {UINT32_MAX, 0}, 0, UINT32_MAX};

/* Rows of one address, from the i-th on; returns how many there are.  Of more than two apart nothing is within. */
static uint32_t make_wall(struct screen_wall *w, const struct event_sites *all, uint32_t i, const struct screen_places *places)
{
	const struct event_origin *o = &all->origin[i];
	const struct event_place *p;
	bool known = true, fits = true;
	unsigned n = 0;
	uint32_t k;

	memset(w, 0, sizeof *w);
	for (k = i; k < all->norigins && all->origin[k].site == o->site && all->origin[k].address == o->address; k++) {
		p = find_place(places, all->origin[k].variable);
		known = known && p;
		fits = fits && p && add_range(w, &n, p);
	}
	if (!known)
		*w = no_wall;
	else if (!fits)
		memset(w, 0, sizeof *w);
	return k - i;
}

/* The record's addresses that are surely right are those of the larger range. */
static void find_room(struct screen_wall *w, struct screen_reach reach)
{
	unsigned k = w->to[1] - w->from[1] > w->to[0] - w->from[0];
	int64_t least = (int64_t)w->from[k] - reach.from, most = (int64_t)w->to[k] - reach.to;

	w->least = 0;
	w->most = UINT32_MAX;
	if (reach.from >= reach.to || !memcmp(w, &no_wall, sizeof *w))
		return;
	w->least = least < 0 ? 0 : (uint32_t)least;
	w->most = most < 0 ? 0 : (uint32_t)most;
	if (most < 0)                   /* no address is right */
		w->least = 1;
}

/* A run's accesses have one base, and so one wall; where they have not nothing is within. */
void screen_walls(struct screen_wall *w, const struct event_sites *all, const struct screen_places *places)
{
	for (uint32_t i = 0; i < SCREEN_ADDRESSES * all->nsites; i++)
		w[i] = no_wall;
	for (uint32_t i = 0; i < all->norigins;)
		i += make_wall(&w[SCREEN_ADDRESSES * all->origin[i].site + all->origin[i].address], all, i, places);
	for (uint32_t i = 0; i < all->nsites; i++)
		for (uint32_t k = 0; k < all->site[i].nrun; k++) {
			uint32_t of = all->run[all->site[i].run + k].site;

			for (unsigned a = 0; a < SCREEN_ADDRESSES; a++) {
				struct screen_wall *run = &w[SCREEN_ADDRESSES * i + a], *one = &w[SCREEN_ADDRESSES * of + a];

				if (!k)
					*run = *one;
				else if (memcmp(run, one, sizeof *run))
					memset(run, 0, sizeof *run);
			}
		}
	for (uint32_t i = 0; i < all->nsites; i++)
		find_room(&w[SCREEN_ADDRESSES * i + EVENT_OF_AT], reach_of(all, &all->site[i], TRAIT_SHARED_READ | TRAIT_SHARED_WRITE));
}

/* ---- pieces -------------------------------------------------------------------------------------------- */

/* A piece of a stream: its place there, and of the first one of a row which warp has it. */
SCREEN_PASS static void link_piece(const struct screen *s, uint32_t piece, const struct region_piece *head)
{
	const struct screen_log *l = &s->log;
	uint32_t rows = rows_of(s), slots = l->blocks * l->warps;

	if (!head->leader || head->behind >= l->end) {
		s->after[head->behind >= l->end ? slots + (head->behind - l->end) / l->piece : (head->behind - l->slots) / l->piece] = piece;
		return;
	}
	s->warp[piece] = (head->behind + 1 - l->slots) / l->piece;
	if (exchange32(&s->first[s->warp[piece] * rows + head->leader / (EVENT_LANES / rows)], piece) != SCREEN_NONE)
		not_clear(s, SCREEN_KIND);
}

/* Does it say that it is behind one of the launch's pieces, or one that was taken before it?  Who writes wildly may have written
 * there. */
SCREEN_HELPER bool is_linked(const struct screen *s, uint32_t piece, const struct region_piece *head)
{
	const struct screen_log *l = &s->log;
	uint32_t slots = l->blocks * l->warps;

	if (head->magic != EVENT_MAGIC || head->leader >= EVENT_LANES)
		return false;
	if (head->behind >= l->end)
		return head->behind < l->end + (piece - slots) * l->piece;
	return (head->behind + (head->leader != 0) - l->slots) / l->piece < slots;
}

/* The warp of a piece that nobody takes as a part of a stream; the launch's first one, and not clear, of one that is not linked. */
SCREEN_PASS static uint32_t find_warp(const struct screen *s, uint32_t piece)
{
	const struct screen_log *l = &s->log;
	const struct region_piece *head = head_of(s, piece);

	while (is_linked(s, piece, head) && head->behind >= l->end) {
		piece = l->blocks * l->warps + (head->behind - l->end) / l->piece;
		head = head_of(s, piece);
	}
	if (is_linked(s, piece, head))
		return (head->behind + (head->leader != 0) - l->slots) / l->piece;
	not_clear(s, SCREEN_SPACE);
	return 0;
}

/* Which piece it is behind, or of a leader whose stream nobody takes, of which warp it is. */
SCREEN_PASS void screen_link(const struct screen *s, uint32_t piece)
{
	const struct screen_log *l = &s->log;
	const struct region_piece *head = piece < l->blocks * l->warps ? NULL : head_of(s, piece);

	if (!piece && s->twins)
		s->twins->first = UINT64_MAX;
	if (s->twins)
		s->has[piece] = SCREEN_READS | SCREEN_WRITES;
	if (s->twins && piece < l->blocks)
		s->like[piece] = s->twins->known;
	if (head && head->magic != EVENT_MAGIC)
		return;
	if (head && is_linked(s, piece, head) && leads_row(s, head->leader) && l->shared)
		link_piece(s, piece, head);
	else
		s->warp[piece] = head ? find_warp(s, piece) : piece;
}

SCREEN_PASS void screen_unlink(const struct screen *s, uint32_t piece)
{
	uint32_t rows = screen_streams(&s->log) / s->log.warps;

	s->after[piece] = SCREEN_NONE;
	for (uint32_t i = 0; rows > 1 && piece < s->log.blocks * s->log.warps && i < rows; i++)
		s->first[piece * rows + i] = SCREEN_NONE;
}

/* ---- pieces, one by one -------------------------------------------------------------------------------------------- */

/* May a record be where neither screen_block nor screen_order looks?  led: it is one of a row's stream. */
SCREEN_PASS static void check_record(const struct screen *s, const struct event_unit *u, bool led)
{
	uint32_t kind = event_kind_of(u);
	bool others = kind > EVENT_EXIT && kind != EVENT_ACCESS && !is_of_warp(kind);   /* concerns others */

	if (!is_simple(kind))
		not_clear(s, SCREEN_KIND);
	/* Without shared memory nobody looks at how barriers are used. */
	if (kind == EVENT_BAR_ARRIVE && !s->log.shared && (event_bar_count(u) || s->table.all[event_site_of(u)].flags & EVENT_REDUCE))
		not_clear(s, SCREEN_KIND);
	check_members(s, u);
	if ((others || traits_of(s, u) & (TRAIT_SHARED_READ | TRAIT_SHARED_WRITE)) && !led)
		not_clear(s, SCREEN_GROUPS);
}

/* A piece that the launch has begun, and that is looked at here: screen_block has seen, at the first look, what is written in
 * the streams of rows. */
SCREEN_PASS static bool is_seen(const struct screen *s, uint32_t piece, bool writes)
{
	/* The pass for reads looks at all addresses of global memory (walk_piece). */
	uint32_t wanted = writes ? SCREEN_WRITES : SCREEN_READS | (!s->closer && s->ground.n ? SCREEN_WRITES : 0);

	if (s->twins && !(s->has[piece] & wanted))
		return false;
	if (piece >= s->log.blocks * s->log.warps && head_of(s, piece)->magic != EVENT_MAGIC)
		return false;
	return s->closer || !writes || !s->log.shared || s->form || !led_by_row(s, piece);
}

/* ---- the lowest and the highest address of a record's lanes ------------------------------------------------------------- */

struct lane_span { uint64_t low, high; };

SCREEN_HELPER void add_address(struct lane_span *s, uint64_t address)
{
	s->low = address < s->low ? address : s->low;
	s->high = address > s->high ? address : s->high;
}

SCREEN_PASS static struct lane_span span_of_lanes(const struct event_unit *u, const struct event_unit *at)
{
	uint32_t lanes = event_lanes(u), n = event_count(lanes), last = EVENT_LANES - 1;
	struct lane_span s = {UINT64_MAX, 0};

	if (event_narrow(u)) {
		for (uint32_t i = 0; i < n; i += 4) {
			const struct event_unit four = *++at;

			for (uint32_t k = 0; k < 4 && i + k < n; k++)
				add_address(&s, four.w[k]);
		}
	} else if (event_by_lane(u)) {
		for (uint32_t i = 0; i < n; i++)
			add_address(&s, event_nth_address(at, i));
	} else {
		while (!(lanes >> last & 1))
			last--;
		add_address(&s, event_base(u));
		add_address(&s, event_base(u) + (uint64_t)((int64_t)event_step(u) * (last - event_first(lanes))));
	}
	return s;
}

/* ---- the bounds of variables ----------------------------------------------------------------------------------- */

SCREEN_HELPER bool is_within(const struct screen_wall *w, uint64_t from, uint64_t to)
{
	return (from >= w->from[0] && to <= w->to[0]) || (from >= w->from[1] && to <= w->to[1]);
}

SCREEN_HELPER const struct screen_wall *wall_of(const struct screen *s, const struct event_unit *u, enum event_address_of which)
{
	return &s->table.wall[SCREEN_ADDRESSES * event_site_of(u) + (uint32_t)which];
}

/* So many bytes at an address, in whatever block's memory. */
SCREEN_HELPER bool is_held(const struct screen *s, const struct event_unit *u, enum event_address_of which, uint64_t address, uint64_t bytes)
{
	return is_within(wall_of(s, u, which), event_offset(address), event_offset(address) + bytes);
}

/* Each access that the record stands for, of lanes from the lowest address to the highest one. */
SCREEN_PASS static bool are_held(const struct screen *s, const struct event_unit *u, uint32_t low, uint32_t high)
{
	const struct screen_site *site = &s->table.site[event_site_of(u)];
	const struct screen_access *all = s->table.access + site->first;
	bool fine = true;

	for (uint32_t k = 0; k < site->n; k++)
		fine = fine && is_held(s, u, EVENT_OF_AT, event_offset(low) + (uint32_t)all[k].offset, (uint64_t)(high - low) + all[k].bytes);
	return fine;
}

SCREEN_PASS static bool lanes_are_held(const struct screen *s, const struct event_unit *u, const struct event_unit *at)
{
	uint32_t n = event_count(event_lanes(u));
	bool fine = true;

	if (!event_by_lane(u)) {
		const struct lane_span span = span_of_lanes(u, at);

		return are_held(s, u, (uint32_t)span.low, (uint32_t)span.high);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t address = (uint32_t)event_nth_address(at, i);

		fine = fine && are_held(s, u, address, address);
	}
	return fine;
}

/* All accesses of the record are looked at as one, and one by one only where that one is not surely within. */
SCREEN_PASS static bool access_is_held(const struct screen *s, const struct event_unit *u, const struct event_unit *at)
{
	const struct screen_wall *w = wall_of(s, u, EVENT_OF_AT);
	const uint32_t least = w->least, most = w->most;
	struct lane_span span;
	uint32_t low;

	if (!least && most == UINT32_MAX)
		return true;
	span = span_of_lanes(u, at);
	low = event_offset(span.low);
	return (low >= least && low + (span.high - span.low) <= most) || lanes_are_held(s, u, at);
}

SCREEN_PASS static bool copy_is_held(const struct screen *s, const struct event_unit *at)
{
	const struct event_site *site = &s->table.all[event_site_of(at)];
	uint32_t lane = event_first(event_lanes(at));
	bool tensor = event_kind_of(at) == EVENT_TENSOR, counted = site->flags & EVENT_COUNTED;
	const struct event_map *map = tensor ? screen_map(s, event_get(at, lane, EVENT_TENSOR_HASH)) : NULL;
	struct bounds shared = {0, 0};
	struct bounds_box box;
	uint64_t bytes;

	if (counted && !is_held(s, at, EVENT_OF_MBAR, event_get(at, lane, tensor ? EVENT_TENSOR_MBAR : EVENT_COPY_MBAR), 8))
		return false;
	if (tensor) {
		if (!map || !bounds_box(at, site, lane, map, &box))
			return false;
		shared = bounds_shared_box(&box, event_offset(event_address(at, lane)));
		return is_within(wall_of(s, at, EVENT_OF_AT), shared.from, shared.to);
	}
	bytes = event_get(at, lane, EVENT_COPY_BYTES);
	return (site->space != EVENT_SHARED || is_held(s, at, EVENT_OF_AT, event_address(at, lane), bytes)) &&
	       (site->from != EVENT_SHARED || is_held(s, at, EVENT_OF_FROM, event_get(at, lane, EVENT_COPY_FROM), bytes));
}

SCREEN_PASS static bool product_is_held(const struct screen *s, const struct event_unit *at)
{
	const struct event_site *site = &s->table.all[event_site_of(at)];
	const struct screen_span *span = &s->table.span[event_site_of(at)];
	uint32_t lane = event_first(event_lanes(at));
	bool fine = true;

	for (uint32_t k = 0; k < 2; k++) {
		uint64_t a = event_get(at, lane, EVENT_WGMMA_A) + (uint64_t)(int64_t)span->a[k];
		uint64_t b = event_get(at, lane, EVENT_WGMMA_B) + (uint64_t)(int64_t)span->b[k];
		struct bounds x = bounds_matrix(a, site->flags & EVENT_A_MN, site->shape[0], 64, site->shape[2]);
		struct bounds y = bounds_matrix(b, site->flags & EVENT_B_MN, site->shape[1], site->shape[4], site->shape[3]);

		fine = fine && (site->flags & EVENT_A_ELSEWHERE || is_within(wall_of(s, at, EVENT_OF_AT), x.from, x.to)) &&
		       is_within(wall_of(s, at, EVENT_OF_FROM), y.from, y.to);
	}
	return fine;
}

/* Of what this screen looks at: accesses, operations on mbarriers, copies and products. */
SCREEN_PASS void screen_hold(const struct screen *s, const struct event_unit *u, const struct event_unit *at, uint32_t block)
{
	uint32_t kind = event_kind_of(u);
	bool fine = true;

	if (!s->table.wall)
		return;
	if (kind == EVENT_ACCESS)
		fine = access_is_held(s, u, at);
	else if (kind >= EVENT_MBAR_INIT && kind <= EVENT_MBAR_COPIES)
		for (uint32_t left = event_lanes(u); left; left &= left - 1)
			fine = fine && is_held(s, u, EVENT_OF_AT, event_address(at, event_first(left)), 8);
	else if (kind == EVENT_CP_ASYNC)
		for (uint32_t left = event_lanes(u); left; left &= left - 1)
			fine = fine && is_held(s, u, EVENT_OF_AT, event_address(at, event_first(left)), s->table.all[event_site_of(u)].size);
	else if (kind == EVENT_COPY || kind == EVENT_TENSOR)
		fine = copy_is_held(s, at);
	else if (kind == EVENT_WGMMA)
		fine = product_is_held(s, at);
	if (!fine)
		against(s, SCREEN_BOUNDS, block, block);
}

/* ---- blocks of global memory ------------------------------------------------------------------------------------------ */

SCREEN_HELPER bool is_there(const struct screen *s, uint64_t from, uint64_t to)
{
	return !ground_lacks(s->ground.gap, s->ground.n, from, to);
}

/* Each access that the record stands for, of lanes from the lowest address to the highest one. */
SCREEN_PASS static bool are_there(const struct screen *s, const struct event_unit *u, uint64_t low, uint64_t high)
{
	const struct screen_site *site = &s->table.site[event_site_of(u)];
	const struct screen_access *all = s->table.access + site->first;
	bool fine = true;

	for (uint32_t k = 0; k < site->n; k++)
		if (all[k].traits & (TRAIT_GLOBAL_READ | TRAIT_GLOBAL_WRITE))
			fine = fine && is_there(s, low + (uint64_t)(int64_t)all[k].offset, high + (uint64_t)(int64_t)all[k].offset + all[k].bytes);
	return fine;
}

SCREEN_PASS static bool lanes_are_there(const struct screen *s, const struct event_unit *u, const struct event_unit *at)
{
	uint32_t n = event_count(event_lanes(u));
	bool fine = true;

	if (!event_by_lane(u)) {
		const struct lane_span span = span_of_lanes(u, at);

		return are_there(s, u, span.low, span.high);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint64_t address = event_nth_address(at, i);

		fine = fine && are_there(s, u, address, address);
	}
	return fine;
}

/* A range without a gap, around what was looked for last; to < from: there is none yet. */
struct gapless { uint64_t from, to; };

SCREEN_HELPER bool is_gapless(const struct screen *s, struct gapless *known, uint64_t from, uint64_t to)
{
	const struct ground_gap *gap = s->ground.gap;
	uint32_t n = s->ground.n, i;

	if (from >= known->from && to <= known->to)
		return true;
	i = ground_first(gap, n, from);
	if (i < n && gap[i].from < to)
		return false;
	known->from = i ? gap[i - 1].to : 0;
	known->to = i < n ? gap[i].from : UINT64_MAX;
	return true;
}

/* As access_is_held(). */
SCREEN_PASS static bool access_is_there(const struct screen *s, const struct event_unit *u, const struct event_unit *at,
					struct gapless *known)
{
	const struct screen_reach reach = s->table.site[event_site_of(u)].global;
	struct lane_span span;

	if (reach.from >= reach.to)
		return true;
	span = span_of_lanes(u, at);
	return is_gapless(s, known, span.low + (uint64_t)(int64_t)reach.from, span.high + (uint64_t)(int64_t)reach.to) ||
	       lanes_are_there(s, u, at);
}

SCREEN_PASS static bool copy_is_there(const struct screen *s, const struct event_unit *at)
{
	const struct event_site *site = &s->table.all[event_site_of(at)];
	uint32_t lane = event_first(event_lanes(at));
	bool tensor = event_kind_of(at) == EVENT_TENSOR, fine = true;
	const struct event_map *map = tensor ? screen_map(s, event_get(at, lane, EVENT_TENSOR_HASH)) : NULL;
	struct bounds_box box;
	uint64_t bytes;

	if (!tensor) {
		bytes = event_get(at, lane, EVENT_COPY_BYTES);
		return (site->space != EVENT_GLOBAL || is_there(s, event_address(at, lane), event_address(at, lane) + bytes)) &&
		       (site->from == EVENT_SHARED || is_there(s, event_get(at, lane, EVENT_COPY_FROM), event_get(at, lane, EVENT_COPY_FROM) + bytes));
	}
	if (!map || !bounds_box(at, site, lane, map, &box))
		return false;
	if (is_there(s, bounds_rows(&box).from, bounds_rows(&box).to))
		return true;
	for (uint32_t i = 0; i < box.rows; i++)
		fine = fine && is_there(s, bounds_row(&box, i).from, bounds_row(&box, i).to);
	return fine;
}

SCREEN_PASS static bool copy_from_is_there(const struct screen *s, const struct event_unit *at, uint32_t lane)
{
	uint64_t from = event_get(at, lane, EVENT_CP_ASYNC_FROM), bytes = event_get(at, lane, EVENT_CP_ASYNC_READ);

	return !bytes || is_there(s, from, from + bytes);
}

/* Of what this screen looks at: accesses and copies. */
SCREEN_PASS static void check_ground(const struct screen *s, const struct event_unit *u, const struct event_unit *at, uint32_t block,
				     struct gapless *known)
{
	uint32_t kind = event_kind_of(u);
	bool fine = true;

	if (kind == EVENT_ACCESS)
		fine = access_is_there(s, u, at, known);
	else if (kind == EVENT_CP_ASYNC)
		for (uint32_t left = event_lanes(u); left; left &= left - 1)
			fine = fine && copy_from_is_there(s, at, event_first(left));
	else if (kind == EVENT_COPY || kind == EVENT_TENSOR)
		fine = copy_is_there(s, at);
	if (!fine)
		against(s, SCREEN_GROUND, block, block);
}

SCREEN_PASS static void walk_piece(const struct screen *s, uint32_t piece, bool writes)
{
	struct at at = begin_of(s, piece);
	const struct event_unit *where;
	struct gapless known = {1, 0};
	struct event_unit u;
	bool led, checks;
	uint32_t block;

	if (!is_seen(s, piece, writes))
		return;
	block = block_of(s, piece);
	led = led_by_row(s, piece);
	checks = writes && !s->closer && !(s->form && led);
	while (next_record(s, &at, &u, &where)) {
		if (checks)
			check_record(s, &u, led);
		/* In the other forms screen_order holds a block's shared memory against its bounds. */
		if (!writes && !s->closer && !s->form)
			screen_hold(s, &u, where, block);
		if (!writes && !s->closer && s->ground.n)
			check_ground(s, &u, where, block, &known);
		screen_touch(s, &u, where, piece, writes);
	}
}

SCREEN_PASS void screen_writes(const struct screen *s, uint32_t piece)
{
	walk_piece(s, piece, true);
}

SCREEN_PASS void screen_reads(const struct screen *s, uint32_t piece)
{
	walk_piece(s, piece, false);
}

bool screen_needs_order(const struct screen_log *l, const struct event_sites *all)
{
	bool needs = false;

	for (uint32_t i = 0; i < all->nsites; i++)
		needs |= all->site[i].kind >= EVENT_MBAR_INIT && all->site[i].kind <= EVENT_WGMMA;
	return needs && l->shared && screen_order_fits(l);
}

/* ---- all of it, on the host ------------------------------------------------------------------------------------------- */

#ifndef __CUDACC__
const char *screen_why(enum screen_why why)
{
	static const char *const words[SCREEN_WHYS] = {
		"events that are not looked at", "accesses that are not looked at", "groups that are no row's", "no room",
		"orders that are not followed", "shared memory", "global memory", "variables of shared memory", "blocks of global memory"
	};

	return words[why];
}

/* Blocks in shared memory. */
static void judge_blocks(const struct screen *s)
{
	for (uint32_t i = 0; s->form && s->twins && i < s->log.blocks * s->log.warps; i++)
		screen_compare(s, i);
	for (uint32_t i = 0; i < s->log.blocks; i++)
		if (s->form)
			screen_judge(s, i);
		else
			screen_block(s, i);
}

static void look_at_pieces(const struct screen *s)
{
	uint32_t n = screen_pieces(&s->log);

	for (uint32_t i = 0; i < n; i++)
		screen_writes(s, i);
	for (uint32_t i = 0; i < n; i++)
		screen_reads(s, i);
}

/* The second look, with the first one's pages; the others' room is enough, or all that there is. */
static void look_closer(const struct screen *s)
{
	uint32_t most = screen_closer_pages(&s->table), pages = 0;
	uint64_t range[2] = {UINT64_MAX, 0};
	struct screen closer = *s;

	closer.closer = true;
	closer.room = *s->pages < most ? *s->pages : most;
	closer.pages = &pages;
	closer.range = range;
	closer.cell = (uint64_t *)detect_zeroed((size_t)closer.room << screen_page_cells(&s->table, true), sizeof *closer.cell);
	memset(s->page, 0, SCREEN_PAGES * sizeof *s->page);
	memset(s->cells, 0, SCREEN_PAGES * sizeof *s->cells);
	memset(s->why, 0, SCREEN_WHYS * sizeof *s->why);
	look_at_pieces(&closer);
	free(closer.cell);
}

/* In its first form, or in the second one with what `of` has for that. */
static void screen_by(const struct screen *of, const struct event_sites *sites, const struct screen_places *places)
{
	const struct screen_log *l = &of->log;
	uint32_t *why = of->why;
	uint32_t n = screen_pieces(l), pages = 0;
	uint64_t range[2] = {UINT64_MAX, 0};
	struct screen s = {
		.log = *l, .maps = of->maps, .form = of->form, .stamp = 1, .together = 1, .room = 2048, .pages = &pages,
		.range = range, .twins = of->twins, .why = why
	};
	void *const tables[] = {
		s.table.site = (struct screen_site *)detect_zeroed(sites->nsites, sizeof *s.table.site),
		s.table.traits = (uint8_t *)detect_zeroed(sites->nsites, 1),
		s.table.access = (struct screen_access *)detect_zeroed(sites->nsites + sites->nruns, sizeof *s.table.access),
		s.table.span = (struct screen_span *)detect_zeroed(sites->nsites, sizeof *s.table.span),
		s.table.wall = places && places->n ? (struct screen_wall *)detect_zeroed(SCREEN_ADDRESSES * sites->nsites, sizeof *s.table.wall) :
			       NULL,
		s.page = (uint64_t *)detect_zeroed(SCREEN_PAGES, sizeof *s.page), s.cells = (uint32_t *)detect_zeroed(SCREEN_PAGES, sizeof *s.cells),
		s.cell = (uint64_t *)detect_zeroed((size_t)s.room << screen_page_cells(&s.table, false), sizeof *s.cell),
		s.first = (uint32_t *)detect_zeroed((size_t)l->blocks * screen_streams(l), sizeof *s.first),
		s.after = (uint32_t *)detect_zeroed(n, sizeof *s.after), s.warp = (uint32_t *)detect_zeroed(n, sizeof *s.warp),
		s.like = (uint32_t *)detect_zeroed(l->blocks, sizeof *s.like), s.has = (uint8_t *)detect_zeroed(n, 1)
	};

	if (places)
		screen_ground(&s.ground, places->block, places->nblocks);
	memset(why, 0, SCREEN_WHYS * sizeof *why);
	memset(s.after, 0xff, n * sizeof *s.after);
	memset(s.first, 0xff, (size_t)l->blocks * screen_streams(l) * sizeof *s.first);
	screen_table(&s.table, sites);
	if (s.table.wall)
		screen_walls(s.table.wall, sites, places);
	for (uint32_t i = 0; i < n; i++)
		screen_link(&s, i);
	if (l->shared)
		judge_blocks(&s);
	look_at_pieces(&s);
	if (screen_looks_closer(why))
		look_closer(&s);
	for (unsigned i = 0; i < sizeof tables / sizeof *tables; i++)
		free(tables[i]);
	free(s.ground.gap);
}

bool screen_launch(const struct screen_log *l, const struct event_sites *sites, const struct screen_maps *maps,
		   const struct screen_places *places, struct screen_twins *twins, uint32_t why[SCREEN_WHYS])
{
	struct screen s = {.log = *l, .maps = *maps, .why = why};
	enum screen_form form = SCREEN_BY_BARRIERS;
	uint32_t all = 0;

	do {
		s.form = form;
		s.twins = form ? twins : NULL;
		screen_by(&s, sites, places);
		form = screen_next_form(l, sites, form, why);
	} while (form != s.form);
	for (unsigned i = 0; i < SCREEN_WHYS; i++)
		all |= why[i];
	return !all;
}
#endif
