/* SPDX-License-Identifier: Apache-2.0
 *
 * screen.c: whether a launch is clear (screen.h).  Between two uses of a block's barriers lies an interval; a thread of
 * the block comes behind all that others did in an earlier one.
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

void screen_table(struct screen_table *t, const struct event_sites *all)
{
	uint32_t n = 0;

	t->shift = 4;
	t->all = all->site;
	t->run = all->run;
	for (uint32_t i = 0; i < all->nsites; i++) {
		const struct event_site *s = &all->site[i];

		t->site[i].first = n;
		t->traits[i] = 0;
		t->span[i] = span_of(all, s);
		for (uint32_t k = 0; k < (s->nrun ? s->nrun : 1); k++) {
			const struct event_run *r = s->nrun ? &all->run[s->run + k] : NULL;
			const struct event_site *of = r ? &all->site[r->site] : s;

			t->access[n] = (struct screen_access){r ? r->offset : 0, (uint16_t)(of->size * of->count), traits(of)};
			t->traits[i] |= t->access[n++].traits;
			while (traits(of) & (TRAIT_SHARED_READ | TRAIT_SHARED_WRITE) && of->size < 1u << t->shift)
				t->shift--;
		}
		t->site[i].n = n - t->site[i].first;
		t->site[i].one = t->access[t->site[i].first];
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

static const struct screen_wall no_wall = {{0, 0}, {UINT32_MAX, 0}};

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
}

/* ---- pieces -------------------------------------------------------------------------------------------- */

/* Which piece it is behind, and of another leader than lane 0, of which warp it is. */
SCREEN_PASS void screen_link(const struct screen *s, uint32_t piece)
{
	const struct screen_log *l = &s->log;
	uint32_t slots = l->blocks * l->warps;
	const struct region_piece *head = piece < slots ? NULL : head_of(s, piece);

	if (!piece && s->twins)
		s->twins->first = UINT64_MAX;
	if (s->twins)
		s->has[piece] = SCREEN_READS | SCREEN_WRITES;
	if (s->twins && piece < l->blocks)
		s->like[piece] = s->twins->known;
	if (!head) {
		s->warp[piece] = piece;
		return;
	}
	if (head->magic != EVENT_MAGIC)
		return;
	if (!head->leader && l->shared) {
		s->after[head->behind >= l->end ? slots + (head->behind - l->end) / l->piece : (head->behind - l->slots) / l->piece] = piece;
		return;
	}
	while (head->behind >= l->end)
		head = head_of(s, slots + (head->behind - l->end) / l->piece);
	s->warp[piece] = (head->behind + (head->leader != 0) - l->slots) / l->piece;
}

/* ---- shared memory ------------------------------------------------------------------------------------------ */

#ifdef __CUDACC__
/* For each warp of a block: on a GPU each lane has one. */
#define EACH_WARP(x, w) for (uint32_t w = (x)->warp, once_##w = w < (x)->s->log.warps; once_##w; once_##w = 0)
#define OF_ALL_WARPS(x, mine) __reduce_or_sync((x)->lanes, mine)
#else
#define EACH_WARP(x, w) for (uint32_t w = 0; w < (x)->s->log.warps; w++)
#define OF_ALL_WARPS(x, mine) (mine)
#endif

/* A cell is of as many bytes as the smallest access: the interval in which it was written last, and by whom. */
enum { THREAD_BITS = 11, BY_ATOMICS = 1 << 10, INTERVALS_MAX = 1 << (32 - THREAD_BITS) };

struct shared {
	const struct screen *s;
	uint32_t *cell, cells, shift;   /* 1 << shift: bytes of a cell */
	uint32_t block, interval;
	uint32_t warp, lanes;           /* a GPU's: which of the block's warps a lane has, and which lanes have others of it */
};

SCREEN_PASS static void put_cell(const struct shared *x, uint32_t i, uint32_t who)
{
	uint32_t mine = x->interval << THREAD_BITS | who, was;

	if (i >= x->cells) {
		not_clear(x->s, SCREEN_SPACE);
		return;
	}
	was = exchange32(&x->cell[i], mine);
	if (was >> THREAD_BITS == x->interval && was != mine)
		not_clear(x->s, SCREEN_SHARED);
}

SCREEN_PASS static void look_at_cell(const struct shared *x, uint32_t i, uint32_t who)
{
	uint32_t is = i < x->cells ? x->cell[i] : 0;

	if (is >> THREAD_BITS == x->interval && is != (x->interval << THREAD_BITS | who))
		not_clear(x->s, SCREEN_SHARED);
}

/* A lane's access at an address of shared memory. */
SCREEN_PASS static void touch_cells(const struct shared *x, const struct screen_access *a, uint32_t at, uint32_t who)
{
	uint32_t last = (event_offset(at) + a->bytes - 1) >> x->shift;

	for (uint32_t i = event_offset(at) >> x->shift; i <= last; i++)
		if (a->traits & TRAIT_SHARED_WRITE)
			put_cell(x, i, a->traits & TRAIT_ATOMIC ? BY_ATOMICS : who);
		else
			look_at_cell(x, i, who);
}

/* What a lane's thread does that writes in shared memory, or that only reads there. */
SCREEN_PASS static void touch_by(const struct shared *x, const struct screen_site *site, uint32_t address, uint32_t who, uint32_t trait)
{
	const struct screen_access *all = x->s->table.access + site->first;

	if (site->one.traits & trait)
		touch_cells(x, &site->one, address + (uint32_t)site->one.offset, who);
	for (uint32_t k = 1; k < site->n; k++)
		if (all[k].traits & trait)
			touch_cells(x, &all[k], address + (uint32_t)all[k].offset, who);
}

/* All lanes; warp: in its block.  Lanes one step apart take turns, so that warps that begin a row each do not meet in a
 * bank. */
SCREEN_PASS static void touch_shared(const struct shared *x, const struct event_unit *u, const struct event_unit *at, uint32_t warp, uint32_t trait)
{
	const struct screen_site site = x->s->table.site[event_site_of(u)];
	uint32_t lanes = event_lanes(u), low = event_first(lanes), who = warp * EVENT_LANES;
	int32_t step = event_step(u);

	if (event_narrow(u)) {
		for (uint32_t left = lanes; left;) {
			const struct event_unit four = *++at;

			for (uint32_t k = 0; k < 4 && left; k++, left &= left - 1)
				touch_by(x, &site, four.w[k], who + event_first(left), trait);
		}
		return;
	}
	for (uint32_t i = 0; i < EVENT_LANES; i++) {
		uint32_t l = (i + warp) % EVENT_LANES;

		if (lanes >> l & 1)
			touch_by(x, &site, (uint32_t)event_base(u) + (uint32_t)(step * (int32_t)(l - low)), who + l, trait);
	}
}

/* An arrival or a wait has to be one of all lanes of a block's warp at a barrier of all threads. */
SCREEN_PASS static void at_barrier(const struct screen *s, struct cursor *c, const struct event_unit *u, uint32_t warp)
{
	bool wait = event_kind_of(u) == EVENT_BAR_WAIT;

	if (event_bar_count(u) || c->arrived != wait || event_lanes(u) != all_lanes(s, warp))
		not_clear(s, SCREEN_KIND);
	c->arrived = !wait;
}

/* Is it of a kind that screen_block looks at? */
SCREEN_HELPER bool is_simple(uint32_t kind)
{
	return kind == EVENT_CLOCK || kind == EVENT_BEGIN || kind == EVENT_EXIT || kind == EVENT_BAR_ARRIVE || kind == EVENT_BAR_WAIT ||
	       kind == EVENT_ACCESS || is_of_warp(kind);
}

SCREEN_PASS static void touch_record(const struct screen *s, const struct event_unit *u, const struct event_unit *at,
				     uint32_t piece, bool writes);

/* What is in an interval; whether the barrier at its end reduces. */
enum { HAS_WRITES = 1, HAS_READS = 2, HAS_MORE = 4, HAS_REDUCTION = 8, HAS_NONE = 16 };

/* To the end of the interval, or of the warp's log, with what its records do in shared memory, and with `writes` what they
 * write in global memory.  Returns what is in it. */
SCREEN_PASS static uint32_t walk_interval(const struct shared *x, struct cursor *c, uint32_t warp, bool writes)
{
	const struct screen *s = x->s;
	uint32_t has = 0, traits;
	const struct event_unit *where;
	struct event_unit u;

	while (go_on(s, c, x->block * s->log.warps + warp, &u, &where)) {
		if (!is_simple(event_kind_of(&u)))
			not_clear(s, SCREEN_KIND);
		check_members(s, &u);
		if (event_kind_of(&u) == EVENT_BAR_ARRIVE || event_kind_of(&u) == EVENT_BAR_WAIT)
			at_barrier(s, c, &u, warp);
		if (event_kind_of(&u) == EVENT_BAR_WAIT)
			return has | HAS_MORE | (s->table.all[event_site_of(&u)].flags & EVENT_REDUCE ? HAS_REDUCTION : HAS_NONE);
		traits = traits_of(s, &u);
		has |= (traits & TRAIT_SHARED_WRITE ? HAS_WRITES : 0) | (traits & TRAIT_SHARED_READ ? HAS_READS : 0);
		if (traits & (writes ? TRAIT_SHARED_WRITE : TRAIT_SHARED_READ))
			touch_shared(x, &u, where, warp, writes ? TRAIT_SHARED_WRITE : TRAIT_SHARED_READ);
		if (writes && traits & (TRAIT_GLOBAL_WRITE | TRAIT_UNKNOWN))
			touch_record(s, &u, where, c->piece, true);
	}
	return has;
}

SCREEN_PASS static void walk_block(struct shared *x, struct cursor *now, struct cursor *was)
{
	uint32_t all = HAS_MORE;

	check_block(x->s, x->block);
	for (x->interval = 1; all & HAS_MORE && x->interval < INTERVALS_MAX; x->interval++) {
		uint32_t mine = 0;

		EACH_WARP(x, w) {
			was[w] = now[w];
			mine |= walk_interval(x, &now[w], w, true);
		}
		all = OF_ALL_WARPS(x, mine);
		if (all & HAS_REDUCTION && all & HAS_NONE)
			not_clear(x->s, SCREEN_ORDER);
		if ((all & (HAS_WRITES | HAS_READS)) == (HAS_WRITES | HAS_READS))
			EACH_WARP(x, w) {
				now[w] = was[w];
				walk_interval(x, &now[w], w, false);
			}
		(void)OF_ALL_WARPS(x, 0);
	}
	if (all & HAS_MORE)
		not_clear(x->s, SCREEN_SPACE);
}

#ifdef __CUDACC__
extern __shared__ uint32_t screen_memory[];     /* the cells */

SCREEN_PASS void screen_block(const struct screen *s, uint32_t n)
{
	uint32_t width = EVENT_LANES / s->together, part = threadIdx.x / width, cells = screen_cells(&s->log, s->table.shift);
	struct shared x = {s, screen_memory + part * cells, cells, s->table.shift, n * s->together + part, 0};
	struct cursor now, was;

	x.warp = threadIdx.x % width;
	x.lanes = (width < EVENT_LANES ? (1u << width) - 1 : ~0u) << part * width;
	for (uint32_t i = x.warp; i < cells; i += width)
		x.cell[i] = 0;
	if (x.block >= s->log.blocks)
		return;
	if (x.warp < s->log.warps)
		now = begin_warp(s, x.block * s->log.warps + x.warp);
	__syncwarp(x.lanes);
	walk_block(&x, &now - x.warp, &was - x.warp);
}
#else
void screen_block(const struct screen *s, uint32_t n)
{
	struct shared x = {s, NULL, screen_cells(&s->log, s->table.shift), s->table.shift, n, 0, 0, 0};
	struct cursor now[EVENT_LANES], was[EVENT_LANES];

	x.cell = (uint32_t *)detect_zeroed(x.cells, sizeof *x.cell);
	for (uint32_t w = 0; w < s->log.warps; w++)
		now[w] = begin_warp(s, n * s->log.warps + w);
	walk_block(&x, now, was);
	free(x.cell);
}
#endif

/* ---- global memory ----------------------------------------------------------------------------------------------- */

/* What a cell of a line says of who writes there.  ROW: the lanes of a warp, each an element beside the one before;
 * SOME: something else of one warp; ATOMICS: reductions of that size, in a scope that holds everybody. */
enum writer { ROW = 1, SOME, ATOMICS };

static const uint64_t stamp_unit = UINT64_C(1) << 48;

SCREEN_PASS static uint64_t cell_of(const struct screen *s, enum writer kind, uint32_t warp, uint64_t rest)
{
	return s->stamp * stamp_unit | (uint64_t)kind << 46 | (uint64_t)warp << 16 | rest;
}

SCREEN_PASS static uint32_t page_at(uint64_t page)
{
	return (uint32_t)(page * UINT64_C(0x9e3779b97f4a7c15) >> 51);
}

SCREEN_PASS static uint64_t *cell_in(const struct screen *s, uint32_t cells, uint64_t address)
{
	return &s->cell[(uint64_t)(cells - 1) * SCREEN_LINES + (uint32_t)(address >> SCREEN_LINE) % SCREEN_LINES];
}

/* Where the cell of an address is, whose page gets some if it has none; NULL: there is no room. */
SCREEN_PASS static uint64_t *make_cell(const struct screen *s, uint64_t address)
{
	uint64_t page = (address >> SCREEN_PAGE) + 1 + s->salt;

	for (uint32_t tries = 0, at = page_at(page); tries < SCREEN_PAGES; tries++, at = (at + 1) % SCREEN_PAGES) {
		uint64_t is = *(volatile uint64_t *)&s->page[at];
		uint32_t cells = *(volatile uint32_t *)&s->cells[at];

		is = is ? is : put_if(&s->page[at], 0, page);
		if (is && is != page)
			continue;
		if (!is) {
			cells = add(s->pages, 1) + 1;
			lower(&s->range[0], page - s->salt);
			raise_to(&s->range[1], page - s->salt);
			exchange32(&s->cells[at], cells);
		}
		while (!cells)          /* somebody else is about to say it */
			cells = *(volatile uint32_t *)&s->cells[at];
		if (cells <= s->room)
			return cell_in(s, cells, address);
		break;
	}
	not_clear(s, SCREEN_SPACE);
	return NULL;
}

/* When all that is written is there; NULL: nothing of the page is. */
SCREEN_PASS static const uint64_t *find_cell(const struct screen *s, uint64_t address)
{
	uint64_t page = (address >> SCREEN_PAGE) + 1 + s->salt;

	for (uint32_t tries = 0, at = page_at(page); tries < SCREEN_PAGES && s->page[at]; tries++, at = (at + 1) % SCREEN_PAGES)
		if (s->page[at] == page)
			return s->cells[at] <= s->room ? cell_in(s, s->cells[at], address) : NULL;
	return NULL;
}

SCREEN_PASS static void write_line(const struct screen *s, uint64_t address, uint64_t mine)
{
	uint64_t *cell = make_cell(s, address), was = cell ? exchange(cell, mine) : 0;
	bool some = (mine >> 46 & 3) == SOME;

	if (was / stamp_unit == s->stamp && (was != mine || some))
		not_clear(s, SCREEN_GLOBAL);
}

SCREEN_PASS static void read_line(const struct screen *s, uint64_t address, uint64_t mine)
{
	const uint64_t *cell = find_cell(s, address);
	uint64_t is = cell ? *cell : 0;

	if (is / stamp_unit == s->stamp && (is != mine || (mine >> 46 & 3) == SOME))
		not_clear(s, SCREEN_GLOBAL);
}

/* The lines of some bytes. */
SCREEN_PASS static void touch_lines(const struct screen *s, const struct screen_access *a, uint64_t at, uint64_t bytes, uint64_t mine)
{
	for (uint64_t line = at >> SCREEN_LINE; line <= (at + bytes - 1) >> SCREEN_LINE; line++)
		if (a->traits & TRAIT_GLOBAL_WRITE)
			write_line(s, line << SCREEN_LINE, mine);
		else
			read_line(s, line << SCREEN_LINE, mine);
}

/* May somebody write what lies between two addresses? */
SCREEN_PASS static bool may_be_written(const struct screen *s, uint64_t from, uint64_t to)
{
	return (to >> SCREEN_PAGE) + 1 >= s->range[0] && (from >> SCREEN_PAGE) + 1 <= s->range[1];
}

/* Lanes one step apart. */
SCREEN_PASS static void touch_row(const struct screen *s, const struct event_unit *u, const struct screen_access *a, uint32_t warp)
{
	uint32_t lanes = event_lanes(u), bytes = a->bytes, n = highest(lanes) - event_first(lanes);
	int32_t step = event_step(u);
	uint64_t at = event_base(u) + (uint64_t)(int64_t)a->offset;
	uint64_t mine;

	if (a->traits & TRAIT_GLOBAL_READ && step >= 0 && !may_be_written(s, at, at + (uint64_t)(uint32_t)step * n + bytes))
		return;
	mine = a->traits & TRAIT_ATOMIC ? cell_of(s, ATOMICS, 0, bytes) : lanes == ~0u && step == (int32_t)bytes ?
	       cell_of(s, ROW, warp, (at & 127) << 8 | bytes) : cell_of(s, SOME, warp, 0);
	/* Lanes that write the same, or over each other. */
	if (n && step < (int32_t)bytes && (a->traits & (TRAIT_GLOBAL_WRITE | TRAIT_ATOMIC)) == TRAIT_GLOBAL_WRITE)
		not_clear(s, SCREEN_GLOBAL);
	else if (step >= 0 && step <= 16)
		touch_lines(s, a, at, (uint64_t)(uint32_t)step * n + bytes, mine);
	else
		for (uint32_t left = lanes; left; left &= left - 1)
			touch_lines(s, a, at + (uint64_t)((int64_t)step * (event_first(left) - event_first(lanes))), bytes, mine);
}

/* Lanes with an address each. */
SCREEN_PASS static void touch_lanes(const struct screen *s, const struct event_unit *at, const struct screen_access *a, uint32_t warp)
{
	uint64_t mine = a->traits & TRAIT_ATOMIC ? cell_of(s, ATOMICS, 0, a->bytes) : cell_of(s, SOME, warp, 0);

	for (uint32_t n = event_count(event_lanes(at)), i = 0; i < n; i++)
		touch_lines(s, a, event_nth_address(at, i) + (uint64_t)(int64_t)a->offset, a->bytes, mine);
}

SCREEN_PASS static void touch_global(const struct screen *s, const struct event_unit *u, const struct event_unit *at, uint32_t warp, uint32_t trait)
{
	const struct screen_site site = s->table.site[event_site_of(u)];
	const struct screen_access *all = s->table.access + site.first;

	for (uint32_t k = 0; k < site.n; k++) {
		if (!(all[k].traits & trait))
			continue;
		if (event_by_lane(u))
			touch_lanes(s, at, &all[k], warp);
		else
			touch_row(s, u, &all[k], warp);
	}
}

SCREEN_PASS static void touch_bytes(const struct screen *s, uint64_t address, uint64_t bytes, uint32_t warp, bool writes)
{
	const struct screen_access a = {0, 0, (uint8_t)(writes ? TRAIT_GLOBAL_WRITE : TRAIT_GLOBAL_READ)};

	if (bytes && (writes || may_be_written(s, address, address + bytes)))
		touch_lines(s, &a, address, bytes, cell_of(s, SOME, warp, 0));
}

/* What a copy reads or writes there, and the tensor map. */
SCREEN_PASS static void touch_copied(const struct screen *s, const struct event_unit *u, const struct event_unit *at,
				     uint32_t warp, bool writes)
{
	const struct event_site *site = &s->table.all[event_site_of(u)];
	uint32_t lane = event_first(event_lanes(u));
	bool tensor = event_kind_of(u) == EVENT_TENSOR;
	bool store = tensor ? !(site->flags & EVENT_COUNTED) : site->space == EVENT_GLOBAL;
	const struct event_map *map = tensor ? screen_map(s, event_get(at, lane, EVENT_TENSOR_HASH)) : NULL;
	struct bounds_box box;

	if (tensor && !writes)
		touch_bytes(s, event_get(at, lane, EVENT_TENSOR_MAP), 128, warp, false);
	if (store != writes)
		return;
	if (!tensor)
		touch_bytes(s, store ? event_address(at, lane) : event_get(at, lane, EVENT_COPY_FROM),
			    event_get(at, lane, EVENT_COPY_BYTES), warp, writes);
	if (!map || !bounds_box(at, site, lane, map, &box) ||
	    (!writes && !may_be_written(s, bounds_rows(&box).from, bounds_rows(&box).to)))
		return;
	for (uint32_t i = 0; i < box.rows; i++)
		touch_bytes(s, bounds_row(&box, i).from, box.row_bytes, warp, writes);
}

/* ---- pieces, one by one -------------------------------------------------------------------------------------------- */

SCREEN_HELPER uint32_t warp_of(const struct screen *s, uint32_t piece)
{
	return piece < s->log.blocks * s->log.warps ? piece : s->warp[piece];
}

/* What a record does in global memory.  at: where it is; u: a copy of its first unit. */
SCREEN_PASS static void touch_record(const struct screen *s, const struct event_unit *u, const struct event_unit *at,
				     uint32_t piece, bool writes)
{
	uint32_t kind = event_kind_of(u), traits = traits_of(s, u), trait = writes ? TRAIT_GLOBAL_WRITE : TRAIT_GLOBAL_READ;

	if (writes && traits & TRAIT_UNKNOWN)
		not_clear(s, SCREEN_ACCESS);
	if (kind == EVENT_TENSOR || kind == EVENT_COPY)
		touch_copied(s, u, at, warp_of(s, piece), writes);
	if (traits & trait)
		touch_global(s, u, at, warp_of(s, piece), trait);
}

/* May a record be where neither screen_block nor screen_order looks? */
SCREEN_PASS static void check_record(const struct screen *s, const struct event_unit *u, bool lane_0)
{
	uint32_t kind = event_kind_of(u);
	bool others = kind > EVENT_EXIT && kind != EVENT_ACCESS && !is_of_warp(kind);   /* concerns others */

	if (!is_simple(kind))
		not_clear(s, SCREEN_KIND);
	/* Without shared memory nobody looks at how barriers are used. */
	if (kind == EVENT_BAR_ARRIVE && !s->log.shared && (event_bar_count(u) || s->table.all[event_site_of(u)].flags & EVENT_REDUCE))
		not_clear(s, SCREEN_KIND);
	check_members(s, u);
	if ((others || traits_of(s, u) & (TRAIT_SHARED_READ | TRAIT_SHARED_WRITE)) && !lane_0)
		not_clear(s, SCREEN_GROUPS);
}

/* A piece that the launch has begun, and that is looked at here: screen_block has seen what is written where lane 0
 * leads. */
SCREEN_PASS static bool is_seen(const struct screen *s, uint32_t piece, bool writes)
{
	/* What a twin does in global memory is known, but not whether the one that it is like keeps to its variables and blocks. */
	if (s->twins && !(s->has[piece] & (writes ? SCREEN_WRITES : SCREEN_READS)) && (writes || !(s->table.wall || s->ground.n)))
		return false;
	if (piece >= s->log.blocks * s->log.warps && head_of(s, piece)->magic != EVENT_MAGIC)
		return false;
	return !writes || !s->log.shared || s->order || !led_by_lane_0(s, piece);
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
	uint32_t lanes = event_lanes(u), n = event_count(lanes), base = (uint32_t)event_base(u);
	bool fine = true;

	if (!event_narrow(u)) {
		uint32_t left = lanes;
		int32_t last;

		while (left & (left - 1))
			left &= left - 1;
		last = event_step(u) * (int32_t)(event_first(left) - event_first(lanes));
		return last < 0 ? are_held(s, u, base + (uint32_t)last, base) : are_held(s, u, base, base + (uint32_t)last);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t address = (uint32_t)event_nth_address(at, i);

		fine = fine && are_held(s, u, address, address);
	}
	return fine;
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
SCREEN_PASS static void check_walls(const struct screen *s, const struct event_unit *u, const struct event_unit *at)
{
	uint32_t kind = event_kind_of(u);
	bool fine = true;

	if (kind == EVENT_ACCESS)
		fine = !(s->table.traits[event_site_of(u)] & (TRAIT_SHARED_READ | TRAIT_SHARED_WRITE)) || lanes_are_held(s, u, at);
	else if (kind >= EVENT_MBAR_INIT && kind <= EVENT_MBAR_COPIES)
		for (uint32_t left = event_lanes(u); left; left &= left - 1)
			fine = fine && is_held(s, u, EVENT_OF_AT, event_address(at, event_first(left)), 8);
	else if (kind == EVENT_COPY || kind == EVENT_TENSOR)
		fine = copy_is_held(s, at);
	else if (kind == EVENT_WGMMA)
		fine = product_is_held(s, at);
	if (!fine)
		not_clear(s, SCREEN_BOUNDS);
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
	uint32_t lanes = event_lanes(u), n = event_count(lanes), left = lanes;
	uint64_t base = event_base(u), last;
	bool fine = true;

	for (uint32_t i = 0; event_by_lane(u) && i < n; i++) {
		uint64_t address = event_nth_address(at, i);

		fine = fine && are_there(s, u, address, address);
	}
	if (event_by_lane(u))
		return fine;
	while (left & (left - 1))
		left &= left - 1;
	last = base + (uint64_t)((int64_t)event_step(u) * (event_first(left) - event_first(lanes)));
	return last < base ? are_there(s, u, last, base) : are_there(s, u, base, last);
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

/* Of what this screen looks at: accesses and copies. */
SCREEN_PASS static void check_ground(const struct screen *s, const struct event_unit *u, const struct event_unit *at)
{
	uint32_t kind = event_kind_of(u);

	if (!(kind == EVENT_ACCESS ? lanes_are_there(s, u, at) : (kind != EVENT_COPY && kind != EVENT_TENSOR) || copy_is_there(s, at)))
		not_clear(s, SCREEN_GROUND);
}

SCREEN_PASS static void walk_piece(const struct screen *s, uint32_t piece, bool writes)
{
	struct at at = begin_of(s, piece);
	const struct event_unit *where;
	struct event_unit u;
	bool lane_0, checks;

	if (!is_seen(s, piece, writes))
		return;
	lane_0 = led_by_lane_0(s, piece);
	checks = writes && !(s->order && lane_0);
	while (next_record(s, &at, &u, &where)) {
		if (checks)
			check_record(s, &u, lane_0);
		if (!writes && s->table.wall)
			check_walls(s, &u, where);
		if (!writes && s->ground.n)
			check_ground(s, &u, where);
		touch_record(s, &u, where, piece, writes);
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
/* Blocks in shared memory. */
static void judge_blocks(const struct screen *s)
{
	for (uint32_t i = 0; s->order && s->twins && i < s->log.blocks * s->log.warps; i++)
		screen_compare(s, i);
	for (uint32_t i = 0; i < s->log.blocks; i++)
		if (s->order)
			screen_judge(s, i);
		else
			screen_block(s, i);
}

bool screen_launch(const struct screen_log *l, const struct event_sites *sites, const struct screen_maps *maps,
		   const struct screen_places *places, struct screen_twins *twins, uint32_t why[SCREEN_WHYS])
{
	uint32_t n = screen_pieces(l), pages = 0, all = 0;
	uint64_t range[2] = {UINT64_MAX, 0};
	struct screen s = {
		.log = *l, .maps = *maps, .order = screen_needs_order(l, sites), .stamp = 1, .together = 1, .room = 2048, .pages = &pages,
		.range = range, .twins = twins, .why = why
	};
	void *const tables[] = {
		s.table.site = (struct screen_site *)detect_zeroed(sites->nsites, sizeof *s.table.site),
		s.table.traits = (uint8_t *)detect_zeroed(sites->nsites, 1),
		s.table.access = (struct screen_access *)detect_zeroed(sites->nsites + sites->nruns, sizeof *s.table.access),
		s.table.span = (struct screen_span *)detect_zeroed(sites->nsites, sizeof *s.table.span),
		s.table.wall = places && places->n ? (struct screen_wall *)detect_zeroed(SCREEN_ADDRESSES * sites->nsites, sizeof *s.table.wall) :
			       NULL,
		s.page = (uint64_t *)detect_zeroed(SCREEN_PAGES, sizeof *s.page), s.cells = (uint32_t *)detect_zeroed(SCREEN_PAGES, sizeof *s.cells),
		s.cell = (uint64_t *)detect_zeroed((size_t)s.room * SCREEN_LINES, sizeof *s.cell),
		s.after = (uint32_t *)detect_zeroed(n, sizeof *s.after), s.warp = (uint32_t *)detect_zeroed(n, sizeof *s.warp),
		s.like = (uint32_t *)detect_zeroed(l->blocks, sizeof *s.like), s.has = (uint8_t *)detect_zeroed(n, 1)
	};

	if (places)
		screen_ground(&s.ground, places->block, places->nblocks);
	memset(why, 0, SCREEN_WHYS * sizeof *why);
	memset(s.after, 0xff, n * sizeof *s.after);
	screen_table(&s.table, sites);
	if (s.table.wall)
		screen_walls(s.table.wall, sites, places);
	for (uint32_t i = 0; i < n; i++)
		screen_link(&s, i);
	if (l->shared)
		judge_blocks(&s);
	for (uint32_t i = 0; i < n; i++)
		screen_writes(&s, i);
	for (uint32_t i = 0; i < n; i++)
		screen_reads(&s, i);
	for (unsigned i = 0; i < sizeof tables / sizeof *tables; i++)
		free(tables[i]);
	free(s.ground.gap);
	for (unsigned i = 0; i < SCREEN_WHYS; i++)
		all |= why[i];
	return !all;
}
#endif
