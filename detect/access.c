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
	p->address = event_offset(address);
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

struct piece { uint64_t address, bytes; };
struct pieces { LIST(struct piece) p; };

static void add_piece(void *arg, uint64_t address, uint64_t bytes)
{
	struct pieces *l = (struct pieces *)arg;
	struct piece *last = l->p.n ? &l->p.v[l->p.n - 1] : NULL;

	if (last && last->address + last->bytes == address)
		last->bytes += bytes;
	else
		*ADD(&l->p) = (struct piece){address, bytes};
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

static struct access operation_of(struct scan *s, const struct event *e, uint32_t lanes, enum proxy proxy)
{
	struct access a = as_access(s->d, e, lanes);

	a.operation = ++s->d->noperations;
	a.proxy = (uint8_t)proxy;
	a.ends = ENDS_OTHER;
	return a;
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

/* Nothing is longer than a block's shared memory can be, from which or to which it goes. */
enum { EXTENT = 1 << 18 };

static void take(struct scan *s, struct access *a, uint32_t space, struct piece at)
{
	bool known = at.bytes <= EXTENT && at.address <= EVENT_ADDRESS && at.bytes <= EVENT_ADDRESS + 1 - at.address;

	s->d->counter[DETECT_UNMODELLED] += !known;
	if (!known || !at.bytes)
		return;
	a->space = space;
	if (space == GLOBAL_SPACE ? !keep_on_ground(s, a, &at.address, &at.bytes) :
	    !(space & TENSOR_SPACE) && !keep_within(s, a, &at.address, &at.bytes))
		return;
	a->address = at.address;
	a->bytes = at.bytes;
	*ADD(&s->d->access) = *a;
}

static void take_pieces(struct scan *s, struct access *a, uint32_t space, struct pieces *l)
{
	unite(s->d, l);
	for (uint32_t i = 0; i < l->p.n; i++)
		take(s, a, space, l->p.v[i]);
}

/* All of what it accesses there: at an address as the event has it, or of shared memory. */
static void take_at(struct scan *s, const struct event *e, struct access *a, uint64_t address, uint64_t bytes)
{
	struct place p;

	if (place_of(s->d, e, address, &p))
		take(s, a, p.space, (struct piece){p.address, bytes});
}

static void take_shared(struct scan *s, const struct event *e, struct access *a, uint64_t address, uint64_t bytes)
{
	struct place p;

	if (place_of_shared(s->d, e, address, &p))
		take(s, a, p.space, (struct piece){p.address, bytes});
}

static void take_global(struct scan *s, struct access *a, uint64_t address, uint64_t bytes)
{
	take(s, a, GLOBAL_SPACE, (struct piece){address, bytes});
}

static void goes(struct access *a, bool reads, bool writes)
{
	a->reads = reads;
	a->writes = writes;
}

enum { MAP_BYTES = 128 };         /* of a tensor map (PTX ISA, "Tensor-map") */

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

/* What an instruction accesses at an address, of `bytes` bytes where its site does not say how many. */
static void take_site(struct scan *s, const struct event *e, unsigned lane, uint32_t number, struct piece at)
{
	const struct event_site *site = &s->d->site.v[number];
	struct access a = as_access(s->d, e, 1u << lane);
	struct place p;

	a.site = number;
	goes(&a, site->does & EVENT_READS, site->does & EVENT_WRITES);
	a.strong = event_strong(site);
	a.element = site->size;
	a.scope = (uint8_t)reach_of(site);
	a.read_only = site->proxy == EVENT_READ_ONLY;
	a.proxy = site->proxy == EVENT_MULTIMEM ? P_MULTIMEM : P_GENERIC;
	a.has_digest = a.writes && !a.strong && digest_of(s->d, e, lane, &a.digest);
	at.bytes = at.bytes ? at.bytes : (uint64_t)site->size * site->count;
	if (!a.strong && !site->left_out) {
		take_at(s, e, &a, at.address, at.bytes);
		return;
	}
	for (unsigned i = 0; i < site->count; i++)
		if (!event_leaves_out(site, i) && place_of(s->d, e, at.address + i * site->size, &p))
			take(s, &a, p.space, (struct piece){p.address, site->size});
}

/* A record may stand for a run of accesses from one base. */
static void take_plain(struct scan *s, const struct event *e, unsigned lane)
{
	const struct event_site *site = site_of(s->d, e);
	const struct event_unit *u = record_of(s->d, e);
	struct piece at = {event_address(u, lane), event_words(u) ? event_get(u, lane, EVENT_ACCESS_BYTES) : 0};

	if (!site->nrun)
		take_site(s, e, lane, e->site, at);
	for (uint32_t i = 0; i < site->nrun; i++) {
		const struct event_run *r = &s->d->run_site.v[site->run + i];

		take_site(s, e, lane, r->site, (struct piece){at.address + (uint64_t)(int64_t)r->offset, 0});
	}
}

/* PTX ISA, "mbarrier.init", ".inval": plain writes of the object; "tensormap.replace": of the map. */
static void take_object(struct scan *s, const struct event *e, unsigned lane)
{
	struct access a = as_access(s->d, e, 1u << lane);

	a.reads = e->kind == EVENT_MAP_EDIT;
	a.writes = true;
	a.init = !a.reads;
	take_at(s, e, &a, event_address(record_of(s->d, e), lane), a.init ? 8 : MAP_BYTES);
}

static void take_map_copy(struct scan *s, const struct event *e, unsigned lane)
{
	const struct event_unit *u = record_of(s->d, e);
	struct access a = together(s, e);

	goes(&a, true, false);
	a.address_of = EVENT_OF_FROM;
	take_shared(s, e, &a, event_get(u, lane, EVENT_MAP_COPY_FROM), MAP_BYTES);
	goes(&a, false, true);
	take_global(s, &a, event_address(u, lane), MAP_BYTES);
}

/* ---- of copies --------------------------------------------------------------------------------------------------- */

static void take_cp(struct scan *s, const struct event *e, unsigned lane)
{
	const struct event_unit *u = record_of(s->d, e);
	struct access a = operation_of(s, e, 1u << lane, P_GENERIC);

	a.source = ordered_operations(s->d, s->warp, CP_OPERATIONS, lane);
	a.number = s->lane[lane].cp.issued;
	goes(&a, true, false);
	take_global(s, &a, event_get(u, lane, EVENT_CP_ASYNC_FROM), event_get(u, lane, EVENT_CP_ASYNC_READ));
	goes(&a, false, true);
	take_shared(s, e, &a, event_address(u, lane), site_of(s->d, e)->size);
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
struct sides { struct side from, to; };

/* `mask`: of each 16 bytes, those that are copied. */
static void fill(struct side *to, const struct place *p, uint64_t bytes, uint32_t mask)
{
	to->space = p->space;
	if (mask == 0xffff)
		add_piece(&to->l, p->address, bytes);
	else
		for (uint64_t i = 0; i < bytes && i <= EXTENT; i++)
			if (mask >> i % 16 & 1)
				add_piece(&to->l, p->address + i, 1);
}

static void copy_sides(struct scan *s, const struct event *e, unsigned lane, struct sides *x)
{
	const struct event_site *site = site_of(s->d, e);
	const struct event_unit *u = record_of(s->d, e);
	uint64_t bytes = event_get(u, lane, EVENT_COPY_BYTES);
	uint32_t mask = site->flags & EVENT_BYTE_MASK ? (uint32_t)event_get(u, lane, EVENT_COPY_MASK) : 0xffff;
	struct place p = {GLOBAL_SPACE, NONE, event_get(u, lane, EVENT_COPY_FROM)};

	if (site->from != EVENT_SHARED || place_of_shared(s->d, e, p.address, &p))
		fill(&x->from, &p, bytes, mask);
	if (place_of(s->d, e, event_address(u, lane), &p))
		fill(&x->to, &p, bytes, mask);
}

static void tensor_sides(struct scan *s, const struct event *e, unsigned lane, struct sides *x)
{
	const struct event_site *site = site_of(s->d, e);
	const struct event_unit *u = record_of(s->d, e);
	bool load = site->flags & EVENT_COUNTED;
	struct side *shared = load ? &x->to : &x->from, *global = load ? &x->from : &x->to;
	struct extent_to to = {.sink = add_piece, .shared = &shared->l, .global = &global->l};
	struct place p;

	if (!place_of_shared(s->d, e, event_address(u, lane), &p) || !extent_box(u, site, lane, map_of(s->d, e, lane), &to)) {
		s->d->counter[DETECT_UNMODELLED]++;
		return;
	}
	shared->space = p.space;
	global->space = GLOBAL_SPACE;
}

static void find_sides(struct scan *s, const struct event *e, unsigned lane, struct sides *x)
{
	const struct event_site *site = site_of(s->d, e);
	struct place p;

	memset(x, 0, sizeof *x);
	if (e->kind == EVENT_COPY)
		copy_sides(s, e, lane, x);
	else if (e->kind == EVENT_TENSOR)
		tensor_sides(s, e, lane, x);
	else if (place_of_shared(s->d, e, event_address(record_of(s->d, e), lane), &p))
		fill(&x->to, &p, e->kind == EVENT_CANCEL ? 16u : (uint64_t)site->size * site->count, 0xffff);
}

/* Each block of a multicast gets the bytes at the same place. */
static void take_written(struct scan *s, const struct event *e, unsigned lane, struct access *a, struct side *to)
{
	const struct event_site *site = site_of(s->d, e);
	const struct block *b = block_of(s->d, s->warp);
	uint32_t mask = copy_blocks(s->d, e, lane), landing = 0;
	const struct event_map *m = e->kind == EVENT_TENSOR ? map_of(s->d, e, lane) : NULL;

	goes(a, site->flags & EVENT_REDUCE, true);
	a->element = m ? (uint32_t)m->stride[0] : site->size;
	a->strong = site->flags & EVENT_REDUCE && a->element;
	a->scope = (uint8_t)reach_of(site);
	EACH_LANE(rank, mask ? mask : 1) {
		uint32_t block = mask ? find_block(s->d, b->launch, b->cluster + rank) : 0;

		a->source = site->flags & EVENT_COUNTED ? copy_source(s->d, e, lane) + 1 + landing++ :
			    ordered_operations(s->d, s->warp, BULK_WRITES, lane);
		if (block != NONE)
			take_pieces(s, a, mask ? 1 + block : to->space, &to->l);
	}
}

static void take_copy(struct scan *s, const struct event *e, unsigned lane)
{
	const struct event_site *site = site_of(s->d, e);
	bool counted = site->flags & EVENT_COUNTED;
	struct access a = operation_of(s, e, 1u << lane, e->kind == EVENT_ASYNC_STORE ? P_GENERIC : P_ASYNC), map;
	struct sides x;

	find_sides(s, e, lane, &x);
	a.what = site->flags & (EVENT_COUNTED | EVENT_REDUCE) ? 0 : what_of(s, e, lane);
	a.number = counted ? 1 : s->lane[lane].bulk.issued;
	a.ends = counted ? ENDS_SINGLE : ENDS_BULK;
	a.source = counted ? copy_source(s->d, e, lane) : ordered_operations(s->d, s->warp, BULK_READS, lane);
	a.reads = true;
	a.address_of = e->kind == EVENT_COPY ? EVENT_OF_FROM : EVENT_OF_AT;
	take_pieces(s, &a, x.from.space, &x.from.l);
	a.address_of = EVENT_OF_AT;
	if (e->kind == EVENT_TENSOR) {
		map = a;
		map.proxy = P_MAP;
		map.pipe = event_get(record_of(s->d, e), lane, EVENT_TENSOR_MAP);
		take_global(s, &map, map.pipe, MAP_BYTES);
	}
	take_written(s, e, lane, &a, &x.to);
	list_free(&x.from.l.p.list);
	list_free(&x.to.l.p.list);
}

/* ---- of products, and of tensor memory ------------------------------------------------------------------------------ */

static void take_product(struct scan *s, const struct event *e, unsigned lane)
{
	struct access a = operation_of(s, e, e->lanes, P_ASYNC);
	struct pieces l = {{{0}}};
	struct extent_to to = {.sink = add_piece, .shared = &l};

	a.source = ordered_operations(s->d, s->warp, WGMMA_OPERATIONS, 0);
	a.number = s->products;
	a.reads = true;
	a.address_of = OF_PRODUCT;
	extent_product(record_of(s->d, e), site_of(s->d, e), lane, &to);
	take_pieces(s, &a, 1 + s->d->warp.v[s->warp].block, &l);
	list_free(&l.p.list);
}

static void take_cells(struct scan *s, struct access *a, uint32_t block, struct pieces *l, enum pipe pipe)
{
	a->pipe_kind = (uint8_t)pipe;
	take_pieces(s, a, TENSOR_SPACE + 1 + block, l);
	list_free(&l->p.list);
}

static void take_tensor_op(struct scan *s, const struct event *e, unsigned lane)
{
	const struct event_site *site = site_of(s->d, e);
	const struct event_unit *u = record_of(s->d, e);
	const struct block *b = block_of(s->d, s->warp);
	bool pair = site->flags & EVENT_PAIR, mma = e->kind == EVENT_TC_MMA;
	struct access a = operation_of(s, e, 1u << lane, P_ASYNC);

	a.source = ordered_operations(s->d, s->warp, TENSOR_OPERATIONS, lane);
	a.number = s->lane[lane].tensor;
	/* In each block of a pair. */
	for (unsigned h = 0; h < (pair ? 2u : 1u); h++) {
		uint32_t block = pair ? find_block(s->d, b->launch, b->cluster + (b->rank & ~1u) + h) : s->d->warp.v[s->warp].block;
		struct pieces shared = {{{0}}}, cells = {{{0}}}, scales = {{{0}}}, d = {{{0}}};
		struct extent_to to = {add_piece, &shared, NULL, &cells, &scales, &d};

		if (block == NONE)
			continue;
		extent_cells(u, site, lane, h, &to);
		goes(&a, true, false);
		a.pipe = 0;
		a.pipe_kind = PIPE_NONE;
		a.address_of = mma ? (uint8_t)OF_PRODUCT : (uint8_t)EVENT_OF_AT;
		take_pieces(s, &a, 1 + block, &shared);
		list_free(&shared.p.list);
		take_cells(s, &a, block, &cells, PIPE_A);
		take_cells(s, &a, block, &scales, PIPE_SCALE);
		goes(&a, false, true);
		a.pipe = mma ? extent_accumulator(u, site, lane) : 0;
		take_cells(s, &a, block, &d, mma ? PIPE_D : PIPE_COPY);
	}
}

static void take_alloc(struct scan *s, const struct event *e, unsigned lane)
{
	struct access a = together(s, e);

	a.writes = true;
	take_shared(s, e, &a, event_address(record_of(s->d, e), lane), 4);
}

/* tcgen05.ld, .st; .dealloc writes all that it frees. */
static void take_tensor_warp(struct scan *s, const struct event *e, unsigned lane)
{
	bool load = e->kind == EVENT_TC_LOAD, frees = e->kind == EVENT_TC_FREE;
	struct access a = frees ? together(s, e) : operation_of(s, e, e->lanes, P_ASYNC);
	struct pieces l = {{{0}}};
	struct extent_to to = {.sink = add_piece, .d = &l};

	goes(&a, load, !load);
	if (!frees) {
		a.source = ordered_operations(s->d, s->warp, load ? TENSOR_LOADS : TENSOR_STORES, 0);
		a.number = load ? s->lane[lane].loads : s->lane[lane].stores;
	}
	extent_cells(record_of(s->d, e), site_of(s->d, e), lane, 0, &to);
	take_cells(s, &a, s->d->warp.v[s->warp].block, &l, PIPE_NONE);
}

/* ---- all of an event ----------------------------------------------------------------------------------------------------- */

/* What takes what each lane accesses, or, `once`, what a warp accesses, as its first lane's record tells. */
static const struct { uint8_t first, last; bool once; void (*take)(struct scan *, const struct event *, unsigned lane); } takers[] = {
	{EVENT_ACCESS, EVENT_ACCESS, false, take_plain},
	{EVENT_STRONG, EVENT_STRONG, false, take_plain},
	{EVENT_MBAR_INIT, EVENT_MBAR_INVAL, false, take_object},
	{EVENT_CP_ASYNC, EVENT_CP_ASYNC, false, take_cp},
	{EVENT_COPY, EVENT_CANCEL, false, take_copy},
	{EVENT_WGMMA, EVENT_WGMMA, true, take_product},
	{EVENT_TC_MMA, EVENT_TC_COPY, false, take_tensor_op},
	{EVENT_TC_LOAD, EVENT_TC_STORE, true, take_tensor_warp},
	{EVENT_TC_ALLOC, EVENT_TC_ALLOC, true, take_alloc},
	{EVENT_TC_FREE, EVENT_TC_FREE, true, take_tensor_warp},
	{EVENT_MAP_EDIT, EVENT_MAP_EDIT, false, take_object},
	{EVENT_MAP_COPY, EVENT_MAP_COPY, true, take_map_copy}
};

void take_accesses(struct scan *s, const struct event *e)
{
	look_at_mbars(s, e);
	for (unsigned k = 0; k < sizeof takers / sizeof *takers; k++) {
		bool takes = e->kind >= takers[k].first && e->kind <= takers[k].last, once = takers[k].once;

		EACH_LANE(l, !takes ? 0 : once ? e->lanes & 1 : e->lanes)
			if (once || !is_folded(s->d, e, l))
				takers[k].take(s, e, l);
	}
}
