/* SPDX-License-Identifier: Apache-2.0
 *
 * access.c: from an event to the accesses that it makes: of its lanes, or of asynchronous
 * operations that they issue, one for what each reads and one for each place that it writes
 * (memory-model.md 1.1, 1.6).
 */
#include <string.h>

#include "detect/impl.h"

/* ---- places --------------------------------------------------------------------------------------- */

#define SHARED_WINDOW (UINT64_C(1) << 28)       /* 16 ranks of 16 MiB */

bool place_of_shared(struct detect *d, const struct event *e, uint64_t address, struct place *p)
{
	const struct block *b = block_of(d, e->warp);
	uint32_t rank = (uint32_t)(address >> 24 & 0xff);

	if (address - b->window < SHARED_WINDOW)
		rank = (uint32_t)(address - b->window) >> 24;
	if (rank >= b->ranks)
		return false;
	p->block = rank == b->rank ? d->warp.v[e->warp].block : find_block(d, b->launch, b->cluster + rank);
	p->space = 1 + p->block;
	p->address = address & 0xffffff;
	return p->block != NONE;
}

bool place_of(struct detect *d, const struct event *e, uint64_t address, struct place *p)
{
	unsigned space = site_of(d, e)->space;

	if (space == EVENT_SHARED || (space == EVENT_GENERIC && address - block_of(d, e->warp)->window < SHARED_WINDOW))
		return place_of_shared(d, e, address, p);
	p->block = NONE;
	p->space = GLOBAL_SPACE;
	p->address = address;
	return true;
}

/* ---- pieces ------------------------------------------------------------------------------------------ */

void add_piece(struct pieces *l, uint64_t address, uint64_t bytes)
{
	struct piece *last = l->p.n ? &l->p.v[l->p.n - 1] : NULL;

	if (last && last->address + last->bytes == address) {
		last->bytes += bytes;
		return;
	}
	last = ADD(&l->p);
	last->address = address;
	last->bytes = bytes;
}

/* In order, with none beside or over another. */
static void unite(struct detect *d, struct pieces *l)
{
	uint64_t *key = (uint64_t *)arena_get(&d->arena, l->p.n, sizeof *key);
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->p.n; i++)
		key[i] = l->p.v[i].address;
	sort_list(&d->arena, &l->p.list, sizeof *l->p.v, key);
	for (uint32_t i = 0; i < l->p.n; i++) {
		struct piece *last = n ? &l->p.v[n - 1] : NULL, x = l->p.v[i];

		if (!last || last->address + last->bytes < x.address)
			l->p.v[n++] = x;
		else if (last->address + last->bytes < x.address + x.bytes)
			last->bytes = x.address + x.bytes - last->address;
	}
	l->p.n = n;
}

/* ---- taking ---------------------------------------------------------------------------------------------- */

static struct access access_of(const struct scan *s, const struct event *e, uint32_t lanes)
{
	struct access a;

	memset(&a, 0, sizeof a);
	a.timer = e->timer[EVENT_BEFORE];
	a.site = e->site;
	a.warp = s->warp;
	a.pos = e->pos;
	a.lanes = lanes;
	a.source = SOURCE(SOURCE_THREAD, s->warp * EVENT_LANES + event_first(lanes));
	a.number = e->pos;
	return a;
}

/* Nothing is longer than a block's shared memory can be, from which or to which it goes. */
enum { EXTENT = 1 << 18 };

static void take(struct scan *s, struct access *a, uint32_t space, uint64_t address, uint64_t bytes)
{
	if (bytes > EXTENT || address > EVENT_ADDRESS || bytes > EVENT_ADDRESS + 1 - address)
		s->d->counter[DETECT_UNMODELLED]++;
	if (!bytes || bytes > EXTENT || address > EVENT_ADDRESS || bytes > EVENT_ADDRESS + 1 - address)
		return;
	a->space = space;
	a->address = address;
	a->bytes = bytes;
	*ADD(&s->d->access) = *a;
}

static void take_pieces(struct scan *s, struct access *a, uint32_t space, struct pieces *l)
{
	uint64_t whole = 0;

	unite(s->d, l);
	for (uint32_t i = 0; i < l->p.n; i++)
		whole += l->p.v[i].bytes;
	a->whole = whole;
	for (uint32_t i = 0; i < l->p.n; i++)
		take(s, a, space, l->p.v[i].address, l->p.v[i].bytes);
	list_free(&l->p.list);
}

/* ---- of threads ------------------------------------------------------------------------------------------- */

/* What the write stored, if the record behind it says so. */
static bool digest_of(const struct detect *d, const struct event *e, unsigned lane, uint64_t *v)
{
	const struct event *next = e + 1;
	const struct event_unit *u;

	if (next == d->event.v + d->event.n || next->kind != EVENT_STORED || next->warp != e->warp || !(next->lanes >> lane & 1))
		return false;
	u = record_of(d, next);
	*v = event_words(u) ? event_get(u, lane, EVENT_STORED_EACH) : event_get(u, lane, EVENT_STORED_ALL);
	return true;
}

static void take_plain(struct scan *s, const struct event *e, unsigned lane, const struct event_site *site)
{
	const struct event_unit *u = record_of(s->d, e);
	uint64_t at = event_address(u, lane), bytes = event_words(u) ? event_get(u, lane, EVENT_ACCESS_BYTES) : 0;
	struct access a = access_of(s, e, 1u << lane);
	bool parts = site->left_out || event_strong(site);
	struct place p;

	a.reads = site->does & EVENT_READS;
	a.writes = site->does & EVENT_WRITES;
	a.strong = event_strong(site);
	a.element = site->size;
	a.scope = (uint8_t)reach_of(site);
	a.read_only = site->proxy == EVENT_READ_ONLY;
	a.proxy = site->proxy == EVENT_MULTIMEM ? P_MULTIMEM : P_GENERIC;
	a.has_digest = a.writes && !a.strong && digest_of(s->d, e, lane, &a.digest);
	a.whole = bytes ? bytes : (uint64_t)site->size * site->count;
	for (unsigned i = 0; i < (parts ? site->count : 1u); i++)
		if (!(site->left_out >> i & 1) && place_of(s->d, e, at + (parts ? i * site->size : 0u), &p))
			take(s, &a, p.space, p.address, parts ? site->size : a.whole);
}

/* A record may stand for a run of accesses from one base. */
static void take_run(struct scan *s, const struct event *e, unsigned lane, const struct event_site *site)
{
	for (uint32_t i = 0; i < site->nrun; i++) {
		const struct event_run *r = &s->d->run_site.v[site->run + i];
		const struct event_site *of = &s->d->site.v[r->site];
		struct access a = access_of(s, e, 1u << lane);
		struct place p;

		a.site = r->site;
		a.reads = of->does & EVENT_READS;
		a.writes = of->does & EVENT_WRITES;
		a.whole = (uint64_t)of->size * of->count;
		if (place_of(s->d, e, event_address(record_of(s->d, e), lane) + (uint64_t)(int64_t)r->offset, &p))
			take(s, &a, p.space, p.address, a.whole);
	}
}

/* PTX ISA, "mbarrier.init", ".inval": plain writes of the object. */
static void take_object(struct scan *s, const struct event *e, unsigned lane)
{
	struct access a = access_of(s, e, 1u << lane);
	struct place p;

	a.writes = a.init = true;
	a.whole = 8;
	if (place_of_shared(s->d, e, event_address(record_of(s->d, e), lane), &p))
		take(s, &a, p.space, p.address, 8);
}

/* ---- of operations --------------------------------------------------------------------------------------------- */

static struct access operation_of(struct scan *s, const struct event *e, uint32_t lanes, enum proxy proxy)
{
	struct access a = access_of(s, e, lanes);

	a.operation = ++s->d->noperations;
	a.proxy = (uint8_t)proxy;
	a.ends = ENDS_OTHER;
	return a;
}

static void take_cp(struct scan *s, const struct event *e, unsigned lane, const struct event_site *site)
{
	const struct event_unit *u = record_of(s->d, e);
	struct access a = operation_of(s, e, 1u << lane, P_GENERIC);
	uint64_t read = event_get(u, lane, EVENT_CP_ASYNC_READ);
	struct place p;

	a.source = ordered_operations(s->d, s->warp, CP_OPERATIONS, lane);
	a.number = s->lane[lane].cp.issued;
	a.reads = true;
	a.whole = read;
	if (read)
		take(s, &a, GLOBAL_SPACE, event_get(u, lane, EVENT_CP_ASYNC_FROM), read);
	a.reads = false;
	a.writes = true;
	a.whole = site->size;
	if (place_of_shared(s->d, e, event_address(u, lane), &p))
		take(s, &a, p.space, p.address, site->size);
}

/* Copies that store the same from the same place, by lanes of one warp and one group, are one. */
static uint64_t what_of(const struct scan *s, const struct event *e, unsigned lane)
{
	const struct event_unit *u = record_of(s->d, e);
	uint64_t h = e->site ^ (uint64_t)s->lane[lane].bulk.end.n << 32 ^ (uint64_t)s->warp << 48 ^ event_address(u, lane);

	for (unsigned i = 0; i < event_words(u); i++)
		h = (h ^ event_word(u, lane, i)) * UINT64_C(0x9e3779b97f4a7c15) ^ h >> 29;
	return h | 1;
}

/* Pieces of a copy, on the side that it reads or one that it writes. */
struct side { struct pieces l; uint32_t space; };

static void masked(struct pieces *l, uint64_t at, uint64_t bytes, uint32_t mask)
{
	for (uint64_t i = 0; i < bytes && i <= EXTENT; i++)
		if (mask >> i % 16 & 1)
			add_piece(l, at + i, 1);
}

static void copy_sides(struct scan *s, const struct event *e, unsigned lane, struct side *from, struct side *to)
{
	const struct event_site *site = site_of(s->d, e);
	const struct event_unit *u = record_of(s->d, e);
	uint64_t bytes = event_get(u, lane, EVENT_COPY_BYTES), source = event_get(u, lane, EVENT_COPY_FROM);
	uint32_t mask = site->flags & EVENT_BYTE_MASK ? (uint32_t)event_get(u, lane, EVENT_COPY_MASK) : 0xffff;
	struct place p;

	if (site->from == EVENT_SHARED ? place_of_shared(s->d, e, source, &p) : (p.space = GLOBAL_SPACE, p.address = source, true)) {
		from->space = p.space;
		if (mask == 0xffff)
			add_piece(&from->l, p.address, bytes);
		else
			masked(&from->l, p.address, bytes, mask);
	}
	if (place_of(s->d, e, event_address(u, lane), &p)) {
		to->space = p.space;
		if (mask == 0xffff)
			add_piece(&to->l, p.address, bytes);
		else
			masked(&to->l, p.address, bytes, mask);
	}
}

static void tensor_sides(struct scan *s, const struct event *e, unsigned lane, struct side *from, struct side *to)
{
	bool load = site_of(s->d, e)->flags & EVENT_COUNTED;
	struct side *shared = load ? to : from, *global = load ? from : to;
	struct place p;

	if (!place_of_shared(s->d, e, event_address(record_of(s->d, e), lane), &p) ||
	    !tensor_pieces(s->d, e, lane, &shared->l, &global->l)) {
		s->d->counter[DETECT_UNMODELLED]++;
		return;
	}
	shared->space = p.space;
	global->space = GLOBAL_SPACE;
}

static void no_source_sides(struct scan *s, const struct event *e, unsigned lane, struct side *to)
{
	const struct event_site *site = site_of(s->d, e);
	struct place p;

	if (!place_of_shared(s->d, e, event_address(record_of(s->d, e), lane), &p))
		return;
	to->space = p.space;
	add_piece(&to->l, p.address, e->kind == EVENT_CANCEL ? 16u : (uint64_t)site->size * site->count);
}

static void keep_pieces(struct scan *s, struct access *a, uint32_t space, const struct pieces *l)
{
	struct pieces copy;

	memset(&copy, 0, sizeof copy);
	for (uint32_t i = 0; i < l->p.n; i++)
		add_piece(&copy, l->p.v[i].address, l->p.v[i].bytes);
	take_pieces(s, a, space, &copy);
}

/* Each block of a multicast gets the bytes at the same place. */
static void take_written(struct scan *s, const struct event *e, unsigned lane, struct access *a, struct side *to)
{
	const struct event_site *site = site_of(s->d, e);
	const struct block *b = block_of(s->d, s->warp);
	uint32_t mask = copy_blocks(s->d, e, lane), landing = 0;

	a->writes = true;
	a->reads = site->flags & EVENT_REDUCE;
	a->element = e->kind == EVENT_TENSOR ? tensor_element(s->d, e, lane) : site->size;
	a->strong = site->flags & EVENT_REDUCE && a->element;
	a->scope = (uint8_t)reach_of(site);
	for (uint32_t r = 0; r < 16; r++) {
		uint32_t block = mask ? find_block(s->d, b->launch, b->cluster + r) : 0;

		if (mask ? !(mask >> r & 1) : r > 0)
			continue;
		if (site->flags & EVENT_COUNTED)
			a->source = copy_source(s->d, e, lane) + 1 + landing++;
		else
			a->source = ordered_operations(s->d, s->warp, BULK_WRITES, lane);
		if (block != NONE)
			keep_pieces(s, a, mask ? 1 + block : to->space, &to->l);
	}
}

static void take_copy(struct scan *s, const struct event *e, unsigned lane)
{
	const struct event_site *site = site_of(s->d, e);
	struct access a = operation_of(s, e, 1u << lane, e->kind == EVENT_ASYNC_STORE ? P_GENERIC : P_ASYNC);
	struct side from, to;

	memset(&from, 0, sizeof from);
	memset(&to, 0, sizeof to);
	if (e->kind == EVENT_COPY)
		copy_sides(s, e, lane, &from, &to);
	else if (e->kind == EVENT_TENSOR)
		tensor_sides(s, e, lane, &from, &to);
	else
		no_source_sides(s, e, lane, &to);
	if (!(site->flags & (EVENT_COUNTED | EVENT_REDUCE)))
		a.what = what_of(s, e, lane);
	a.number = site->flags & EVENT_COUNTED ? 1 : s->lane[lane].bulk.issued;
	a.ends = site->flags & EVENT_COUNTED ? ENDS_SINGLE : ENDS_BULK;
	a.source = site->flags & EVENT_COUNTED ? copy_source(s->d, e, lane) :
		   ordered_operations(s->d, s->warp, BULK_READS, lane);
	a.reads = true;
	take_pieces(s, &a, from.space, &from.l);
	if (e->kind == EVENT_TENSOR) {
		a.proxy = P_MAP;
		a.whole = 128;
		a.pipe = event_get(record_of(s->d, e), lane, EVENT_TENSOR_MAP);
		take(s, &a, GLOBAL_SPACE, a.pipe, 128);
		a.proxy = P_ASYNC;
		a.pipe = 0;
	}
	take_written(s, e, lane, &a, &to);
	list_free(&to.l.p.list);
}

/* ---- of a warp ---------------------------------------------------------------------------------------------------- */

static void take_product(struct scan *s, const struct event *e)
{
	struct access a = operation_of(s, e, e->lanes, P_ASYNC);
	struct pieces l;

	memset(&l, 0, sizeof l);
	a.source = ordered_operations(s->d, s->warp, WGMMA_OPERATIONS, 0);
	a.number = s->products;
	a.reads = true;
	product_pieces(s->d, e, &l);
	take_pieces(s, &a, 1 + s->d->warp.v[s->warp].block, &l);
}

/* One access of all lanes, over with the instruction. */
static struct access together(struct scan *s, const struct event *e)
{
	struct access a = operation_of(s, e, e->lanes, P_GENERIC);

	a.source = SOURCE(SOURCE_OPERATION, single_operations(s->d, e, 1));
	a.number = 1;
	a.at_once = true;
	a.ends = ENDS_SINGLE;
	return a;
}

static void take_map_copy(struct scan *s, const struct event *e)
{
	const struct event_unit *u = record_of(s->d, e);
	unsigned lane = event_first(e->lanes);
	struct access a = together(s, e);
	struct place p;

	a.whole = 128;
	a.reads = true;
	if (place_of_shared(s->d, e, event_get(u, lane, EVENT_MAP_COPY_FROM), &p))
		take(s, &a, p.space, p.address, 128);
	a.reads = false;
	a.writes = true;
	take(s, &a, GLOBAL_SPACE, event_address(u, lane), 128);
}

static void take_edit(struct scan *s, const struct event *e, unsigned lane)
{
	struct access a = access_of(s, e, 1u << lane);
	struct place p;

	a.reads = a.writes = true;
	a.whole = 128;
	if (place_of(s->d, e, event_address(record_of(s->d, e), lane), &p))
		take(s, &a, p.space, p.address, 128);
}

/* ---- tensor memory -------------------------------------------------------------------------------------------------- */

static void take_cells(struct scan *s, struct access *a, uint32_t block, struct pieces *l, enum pipe pipe)
{
	a->pipe_kind = (uint8_t)pipe;
	take_pieces(s, a, TENSOR_SPACE + 1 + block, l);
	a->pipe_kind = PIPE_NONE;
}

/* In each block of a pair. */
static void take_tensor_op(struct scan *s, const struct event *e, unsigned lane)
{
	const struct block *b = block_of(s->d, s->warp);
	bool pair = site_of(s->d, e)->flags & EVENT_PAIR, mma = e->kind == EVENT_TC_MMA;
	struct access a = operation_of(s, e, 1u << lane, P_ASYNC);

	a.source = ordered_operations(s->d, s->warp, TENSOR_OPERATIONS, lane);
	a.number = s->lane[lane].tensor;
	for (unsigned h = 0; h < (pair ? 2u : 1u); h++) {
		uint32_t block = pair ? find_block(s->d, b->launch, b->cluster + (b->rank & ~1u) + h) : s->d->warp.v[s->warp].block;
		struct tensor_op t;

		memset(&t, 0, sizeof t);
		t.block = h;
		if (mma)
			mma_cells(s->d, e, lane, &t);
		else
			copy_cells(s->d, e, lane, &t);
		if (block == NONE)
			continue;
		a.reads = true;
		a.writes = false;
		a.pipe = 0;
		take_pieces(s, &a, 1 + block, &t.shared);
		take_cells(s, &a, block, &t.a, PIPE_A);
		take_cells(s, &a, block, &t.scales, PIPE_SCALE);
		a.reads = false;
		a.writes = true;
		a.pipe = t.accumulator;
		take_cells(s, &a, block, &t.d, mma ? PIPE_D : PIPE_COPY);
	}
}

static void take_tensor_warp(struct scan *s, const struct event *e)
{
	uint32_t block = s->d->warp.v[s->warp].block;
	struct access a = e->kind == EVENT_TC_FREE || e->kind == EVENT_TC_ALLOC ? together(s, e) :
			  operation_of(s, e, e->lanes, P_ASYNC);
	struct pieces l;
	struct place p;

	memset(&l, 0, sizeof l);
	a.writes = e->kind != EVENT_TC_LOAD;
	a.reads = e->kind == EVENT_TC_LOAD;
	if (e->kind == EVENT_TC_ALLOC) {
		a.whole = 4;
		if (place_of_shared(s->d, e, event_address(record_of(s->d, e), event_first(e->lanes)), &p))
			take(s, &a, p.space, p.address, 4);
		return;
	}
	if (e->kind == EVENT_TC_FREE) {
			freed_cells(s->d, e, &l);
	} else {
		a.source = ordered_operations(s->d, s->warp, a.reads ? TENSOR_LOADS : TENSOR_STORES, 0);
		a.number = a.reads ? s->loads : s->stores;
		load_cells(s->d, e, &l);
	}
	take_cells(s, &a, block, &l, PIPE_NONE);
}

/* ---- all of an event ----------------------------------------------------------------------------------------------------- */

static void take_lane(struct scan *s, const struct event *e, unsigned lane)
{
	const struct event_site *site = site_of(s->d, e);

	switch (e->kind) {
	case EVENT_ACCESS:
		if (site->nrun)
			take_run(s, e, lane, site);
		else
			take_plain(s, e, lane, site);
		break;
	case EVENT_STRONG:
		take_plain(s, e, lane, site);
		break;
	case EVENT_MBAR_INIT:
	case EVENT_MBAR_INVAL:
		take_object(s, e, lane);
		break;
	case EVENT_CP_ASYNC:
		take_cp(s, e, lane, site);
		break;
	case EVENT_COPY:
	case EVENT_TENSOR:
	case EVENT_ASYNC_STORE:
	case EVENT_CANCEL:
		take_copy(s, e, lane);
		break;
	case EVENT_MAP_EDIT:
		take_edit(s, e, lane);
		break;
	case EVENT_TC_MMA:
	case EVENT_TC_COPY:
		take_tensor_op(s, e, lane);
		break;
	default:
		break;
	}
}

void take_accesses(struct scan *s, const struct event *e)
{
	switch (e->kind) {
	case EVENT_WGMMA:
		take_product(s, e);
		return;
	case EVENT_MAP_COPY:
		take_map_copy(s, e);
		return;
	case EVENT_TC_LOAD:
	case EVENT_TC_STORE:
	case EVENT_TC_ALLOC:
	case EVENT_TC_FREE:
		take_tensor_warp(s, e);
		return;
	default:
		break;
	}
	for (unsigned l = 0; l < EVENT_LANES; l++)
		if (e->lanes >> l & 1 && !is_folded(s->d, e, l))
			take_lane(s, e, l);
}
