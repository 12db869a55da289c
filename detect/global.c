/* SPDX-License-Identifier: Apache-2.0
 *
 * global.c: what a launch does in global memory, to the screen (screen.h).
 */
#include "detect/bounds.h"
#include "detect/pass.h"

/* ---- cells --------------------------------------------------------------------------------------------------------- */

/* What a cell says of who writes there.  ROW: the lanes of a warp, each an element beside the one before, or, at the second
 * look, one thread; SOME: something else of one warp; ATOMICS: reductions of that size, in a scope that holds everybody. */
enum writer { ROW = 1, SOME, ATOMICS, THREAD = ROW };

static const uint64_t stamp_unit = UINT64_C(1) << 48;

SCREEN_PASS static uint64_t cell_of(const struct screen *s, enum writer kind, uint32_t warp, uint64_t rest)
{
	return s->stamp * stamp_unit | (uint64_t)kind << 46 | (uint64_t)warp << 16 | rest;
}

/* A warp meets what a cell tells of; reductions do not say whose they are. */
SCREEN_PASS static void against_cell(const struct screen *s, uint64_t cell, uint32_t warp)
{
	uint32_t other = (cell >> 46 & 3) == ATOMICS ? warp : (uint32_t)(cell >> 16) % (1u << 30);

	against(s, SCREEN_GLOBAL, warp / s->log.warps, other / s->log.warps);
}

SCREEN_PASS static uint32_t page_at(uint64_t page)
{
	return (uint32_t)(page * UINT64_C(0x9e3779b97f4a7c15) >> 51);
}

/* Bytes of a cell are 1 << so many. */
SCREEN_PASS static uint32_t shift_of_cells(const struct screen *s)
{
	return SCREEN_PAGE - screen_page_cells(&s->table, s->closer);
}

SCREEN_PASS static uint64_t *cell_in(const struct screen *s, uint32_t cells, uint64_t address)
{
	uint64_t n = UINT64_C(1) << screen_page_cells(&s->table, s->closer);

	return &s->cell[(cells - 1) * n + (address >> shift_of_cells(s)) % n];
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

SCREEN_PASS static void write_cell(const struct screen *s, uint64_t address, uint64_t mine, uint32_t warp)
{
	uint64_t *cell = make_cell(s, address), was = cell ? exchange(cell, mine) : 0;
	bool some = (mine >> 46 & 3) == SOME;

	if (was / stamp_unit == s->stamp && (was != mine || some))
		against_cell(s, was, warp);
}

SCREEN_PASS static void read_cell(const struct screen *s, uint64_t address, uint64_t mine, uint32_t warp)
{
	const uint64_t *cell = find_cell(s, address);
	uint64_t is = cell ? *cell : 0;

	if (is / stamp_unit == s->stamp && (is != mine || (mine >> 46 & 3) == SOME))
		against_cell(s, is, warp);
}

/* The cells of some bytes. */
SCREEN_PASS static void touch_cells_of(const struct screen *s, const struct screen_access *a, uint64_t at, uint64_t bytes, uint64_t mine,
				       uint32_t warp)
{
	uint32_t shift = shift_of_cells(s);

	for (uint64_t cell = at >> shift; cell <= (at + bytes - 1) >> shift; cell++)
		if (a->traits & TRAIT_GLOBAL_WRITE)
			write_cell(s, cell << shift, mine, warp);
		else
			read_cell(s, cell << shift, mine, warp);
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
		against(s, SCREEN_GLOBAL, warp / s->log.warps, warp / s->log.warps);
	else if (step >= 0 && step <= 16)
		touch_cells_of(s, a, at, (uint64_t)(uint32_t)step * n + bytes, mine, warp);
	else
		for (uint32_t left = lanes; left; left &= left - 1)
			touch_cells_of(s, a, at + (uint64_t)((int64_t)step * (event_first(left) - event_first(lanes))), bytes, mine, warp);
}

/* Lanes with an address each. */
SCREEN_PASS static void touch_lanes(const struct screen *s, const struct event_unit *at, const struct screen_access *a, uint32_t warp)
{
	uint64_t mine = a->traits & TRAIT_ATOMIC ? cell_of(s, ATOMICS, 0, a->bytes) : cell_of(s, SOME, warp, 0);

	for (uint32_t n = event_count(event_lanes(at)), i = 0; i < n; i++)
		touch_cells_of(s, a, event_nth_address(at, i) + (uint64_t)(int64_t)a->offset, a->bytes, mine, warp);
}

/* At the second look: each lane for itself.  Barriers between its threads count for nothing. */
SCREEN_PASS static void touch_threads(const struct screen *s, const struct event_unit *at, const struct screen_access *a, uint32_t warp)
{
	uint64_t mine = cell_of(s, ATOMICS, 0, a->bytes);

	for (uint32_t left = event_lanes(at); left; left &= left - 1) {
		uint64_t address = event_address(at, event_first(left)) + (uint64_t)(int64_t)a->offset;

		if (!(a->traits & TRAIT_ATOMIC))
			mine = cell_of(s, THREAD, warp, event_first(left));
		if (a->traits & TRAIT_GLOBAL_WRITE || may_be_written(s, address, address + a->bytes))
			touch_cells_of(s, a, address, a->bytes, mine, warp);
	}
}

SCREEN_PASS static void touch_global(const struct screen *s, const struct event_unit *u, const struct event_unit *at, uint32_t warp, uint32_t trait)
{
	const struct screen_site site = s->table.site[event_site_of(u)];
	const struct screen_access *all = s->table.access + site.first;

	for (uint32_t k = 0; k < site.n; k++) {
		if (!(all[k].traits & trait))
			continue;
		if (s->closer)
			touch_threads(s, at, &all[k], warp);
		else if (event_by_lane(u))
			touch_lanes(s, at, &all[k], warp);
		else
			touch_row(s, u, &all[k], warp);
	}
}

SCREEN_PASS static void touch_bytes(const struct screen *s, uint64_t address, uint64_t bytes, uint32_t warp, bool writes)
{
	const struct screen_access a = {0, 0, (uint8_t)(writes ? TRAIT_GLOBAL_WRITE : TRAIT_GLOBAL_READ)};

	if (bytes && (writes || may_be_written(s, address, address + bytes)))
		touch_cells_of(s, &a, address, bytes, cell_of(s, SOME, warp, 0), warp);
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

/* ---- a record --------------------------------------------------------------------------------------------------- */

SCREEN_HELPER uint32_t warp_of(const struct screen *s, uint32_t piece)
{
	return piece < s->log.blocks * s->log.warps ? piece : s->warp[piece];
}

SCREEN_PASS void screen_touch(const struct screen *s, const struct event_unit *u, const struct event_unit *at, uint32_t piece, bool writes)
{
	uint32_t kind = event_kind_of(u), traits = traits_of(s, u), trait = writes ? TRAIT_GLOBAL_WRITE : TRAIT_GLOBAL_READ;

	if (writes && traits & TRAIT_UNKNOWN)
		against(s, SCREEN_ACCESS, block_of(s, piece), block_of(s, piece));
	if (kind == EVENT_TENSOR || kind == EVENT_COPY)
		touch_copied(s, u, at, warp_of(s, piece), writes);
	if (kind == EVENT_CP_ASYNC && !writes)
		for (uint32_t left = event_lanes(u); left; left &= left - 1)
			touch_bytes(s, event_get(at, event_first(left), EVENT_CP_ASYNC_FROM), event_get(at, event_first(left), EVENT_CP_ASYNC_READ),
				    warp_of(s, piece), false);
	if (traits & trait)
		touch_global(s, u, at, warp_of(s, piece), trait);
}
