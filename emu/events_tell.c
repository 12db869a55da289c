/* SPDX-License-Identifier: Apache-2.0
 *
 * events_tell.c: from what is told (listen.h) to records, as probes would store them.
 */
#include <string.h>

#include "emu/events_impl.h"

/* ---- records ------------------------------------------------------------------------------------ */

bool evt_address(const struct emu_block *b, enum emu_base base, uint64_t a, uint64_t *to)
{
	struct emu_spot spot;

	if (!emu_locate(b, base, a, &spot))
		return false;
	*to = base == BASE_GENERIC || !spot.owner ? a : (uint64_t)spot.owner->rank << EMU_RANK_SHIFT | spot.at;
	return true;
}

/* Lanes that came together log together. */
void evt_put_lanes(struct evt_record *r, uint32_t lanes)
{
	const struct emu_tell *t = r->t;

	while (lanes) {
		unsigned first = event_first(lanes);
		uint32_t group = t->came ? t->came[first] : t->group;

		r->put.lanes = lanes & group;
		if (!r->put.lanes)
			r->put.lanes = group = 1u << first;
		lanes &= ~r->put.lanes;
		evt_put(t->w, group, &r->put, r->site, r->behind);
	}
}

/* As evt_put_lanes(), by whoever goes on together behind the instruction. */
static void put_behind(struct evt_record *r, uint32_t lanes)
{
	r->put.lanes = lanes;
	evt_put(r->t->w, r->t->group | lanes, &r->put, r->site, r->behind);
}

/* ---- accesses ------------------------------------------------------------------------------------- */

/* Elements as they lie in memory, in words of 64 bits. */
static void pack(uint64_t *to, const uint64_t *element, unsigned size, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		memcpy((uint8_t *)to + i * size, &element[i], size);
}

static uint32_t digest(const uint64_t *element, unsigned size, unsigned n, uint32_t left_out)
{
	uint64_t v[EMU_ELEMS] = {0}, h = 0;

	pack(v, element, size, n);
	for (unsigned i = 0; i < n; i++)
		if (left_out >> i & 1)
			memset((uint8_t *)v + i * size, 0, size);
	for (unsigned i = 0; i < EMU_ELEMS; i++)
		h = (h ^ v[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ h >> 29;
	return (uint32_t)(h >> 32);
}

static void stored(struct evt_record *r, const struct emu_tell_access *q, uint32_t lanes)
{
	bool all = true;
	uint32_t first = 0;

	EMU_EACH(l, lanes) {
		r->put.word[l][0] = digest(q->wrote[l], q->size, q->n, r->site->left_out);
		first = l == event_first(lanes) ? (uint32_t)r->put.word[l][0] : first;
		all &= r->put.word[l][0] == first;
	}
	r->put.kind = EVENT_STORED;
	r->put.a = first;
	r->put.words = all ? 0 : 1;
	evt_put_lanes(r, lanes);
}

/* Values that are read, then those that are written. */
static void set_values(struct evt_record *r, const struct emu_tell_access *q, uint32_t lanes)
{
	unsigned words = (q->size * q->n + 7) / 8, n = (q->read ? words : 0) + (q->wrote ? words : 0);

	if (q->size > 8 || n > EVENT_WORDS_MAX)
		return;
	r->put.words = n;
	EMU_EACH(l, lanes) {
		memset(r->put.word[l], 0, n * sizeof **r->put.word);
		if (q->read)
			pack(r->put.word[l], q->read[l], q->size, q->n);
		if (q->wrote)
			pack(r->put.word[l] + (q->read ? words : 0), q->wrote[l], q->size, q->n);
	}
}

static void access(struct evt_record *r)
{
	const struct emu_tell_access *q = r->t->u.access;
	bool strong = r->site->kind == EVENT_STRONG;

	/* The record of a store is there before anybody can see its end. */
	r->behind = strong && r->site->does & EVENT_READS;
	for (unsigned i = 0; i < (q->elem ? q->n : 1); i++) {
		uint32_t lanes = 0;

		EMU_EACH(l, r->t->lanes)
			if (evt_address(r->t->b, q->base, q->elem ? q->elem[l][i] : q->addr[l], &r->put.address[l]))
				lanes |= 1u << l;
		if (!lanes)
			continue;
		r->put.kind = r->site->kind;
		r->put.words = 0;
		if (strong)
			set_values(r, q, lanes);
		else if (!r->site->size) {
			r->put.words = 1;
			EMU_EACH(l, lanes)
				r->put.word[l][0] = q->elem ? q->size : q->bytes[l];
		}
		evt_put_lanes(r, lanes);
		if (!strong && q->wrote && r->site->size && r->site->does & EVENT_WRITES)
			stored(r, q, lanes);
	}
}

/* ---- fences and barriers ---------------------------------------------------------------------------- */

static void fence(struct evt_record *r)
{
	uint32_t lanes = r->t->lanes;

	r->put.kind = r->site->kind;
	if (r->put.kind == EVENT_MAP_FENCE)
		EMU_EACH(l, lanes)
			r->put.address[l] = r->t->u.map[l];
	evt_put_lanes(r, lanes);
}

static void barrier(struct evt_record *r)
{
	const struct emu_tell_bar *q = r->t->u.bar;
	bool arrives = r->t->kind == TELL_BAR_ARRIVE;

	r->put.kind = arrives ? EVENT_BAR_ARRIVE : EVENT_BAR_WAIT;
	event_set(&r->put, 0, EVENT_BAR_ARRIVE_ID, q->id);
	event_set(&r->put, 0, EVENT_BAR_ARRIVE_COUNT, q->count);
	if (arrives)
		evt_put_lanes(r, r->t->lanes);
	else
		put_behind(r, r->t->lanes);
}

/* Lanes that name the same mask. */
static void warp_sync(struct evt_record *r)
{
	const struct emu_tell *t = r->t;

	for (uint32_t left = t->lanes, same; left; left &= ~same) {
		same = 0;
		r->put.a = t->u.members[event_first(left)];
		EMU_EACH(l, left)
			same |= t->u.members[l] == r->put.a ? 1u << l : 0;
		r->put.kind = EVENT_WARP_ARRIVE;
		evt_put_lanes(r, same);
	}
	r->put.kind = EVENT_WARP_WAIT;
	r->put.a = t->u.members[event_first(t->lanes)];
	put_behind(r, t->lanes);
}

/* ---- mbarriers ------------------------------------------------------------------------------------------ */

static void set_mbar(struct evt_record *r, uint32_t lanes)
{
	const struct emu_tell_mbar *q = r->t->u.mbar;

	r->put.words = q->what == EMU_MBAR_INVAL ? 0 : 1;
	EMU_EACH(l, lanes) {
		uint64_t *w = r->put.word[l];

		if (!evt_address(r->t->b, q->base, q->addr[l], &r->put.address[l]))
			r->put.address[l] = q->addr[l];
		w[0] = q->what == EMU_MBAR_INIT ? q->count[l] : q->what == EMU_MBAR_WAIT ? q->state[l] : q->bytes[l];
		if (q->what != EMU_MBAR_ARRIVE)
			continue;
		event_set(&r->put, l, EVENT_MBAR_ARRIVE_COUNT, q->count[l]);
		event_set(&r->put, l, EVENT_MBAR_ARRIVE_BYTES, q->expects ? q->bytes[l] : 0);
		/* One that ends in a fault returns none, nor does one at another block's (doc/hardware.md, 1, 2). */
		if (!(q->wrong >> l & 1) && q->spot[l].owner == r->t->b)
			event_set(&r->put, l, EVENT_MBAR_ARRIVE_STATE, q->state[l]);
	}
}

static void mbarrier(struct evt_record *r)
{
	static const enum event_kind kinds[] = {
		[EMU_MBAR_INIT] = EVENT_MBAR_INIT, [EMU_MBAR_INVAL] = EVENT_MBAR_INVAL, [EMU_MBAR_EXPECT_TX] = EVENT_MBAR_EXPECT,
		[EMU_MBAR_COMPLETE_TX] = EVENT_MBAR_COMPLETE, [EMU_MBAR_ARRIVE] = EVENT_MBAR_ARRIVE, [EMU_MBAR_WAIT] = EVENT_MBAR_WAIT
	};
	const struct emu_tell_mbar *q = r->t->u.mbar;
	uint32_t lanes = r->t->lanes | q->wrong, vain = q->what == EMU_MBAR_WAIT ? r->t->lanes & ~q->success : 0;

	r->behind = q->what == EMU_MBAR_WAIT;
	set_mbar(r, lanes);
	r->put.kind = EVENT_MBAR_TRY;
	evt_put_lanes(r, vain);
	r->put.kind = kinds[q->what];
	/* A wait that ends in a fault has no end to be logged. */
	evt_put_lanes(r, q->what == EMU_MBAR_WAIT ? q->success : lanes);
}

static void cp_arrive(struct evt_record *r)
{
	const struct emu_tell_cp_arrive *q = r->t->u.cp_arrive;

	r->put.kind = EVENT_MBAR_COPIES;
	EMU_EACH(l, r->t->lanes)
		if (!evt_address(r->t->b, q->base, q->addr[l], &r->put.address[l]))
			r->put.address[l] = q->addr[l];
	evt_put_lanes(r, r->t->lanes);
}

/* ---- groups, launches ------------------------------------------------------------------------------------ */

static void wait_group(struct evt_record *r)
{
	r->put.kind = EVENT_WAIT_GROUP;
	r->put.a = r->t->u.groups->left == UINT32_MAX ? EVENT_WAIT_ALL : r->t->u.groups->left;
	put_behind(r, r->t->lanes);
}

static void plain(struct evt_record *r, enum event_kind kind)
{
	r->put.kind = kind;
	evt_put_lanes(r, r->t->lanes);
}

static void of_instruction(struct evt_record *r)
{
	switch (r->t->kind) {
	case TELL_ACCESS:
		access(r);
		break;
	case TELL_FENCE:
		fence(r);
		break;
	case TELL_UNMODELLED:
		plain(r, EVENT_OPAQUE);
		break;
	case TELL_BAR_ARRIVE:
	case TELL_BAR_LEAVE:
		barrier(r);
		break;
	case TELL_WARP_SYNC:
		warp_sync(r);
		break;
	case TELL_CLUSTER_ARRIVE:
		plain(r, EVENT_CLUSTER_ARRIVE);
		break;
	case TELL_CLUSTER_WAIT:
		r->put.kind = EVENT_CLUSTER_WAIT;
		put_behind(r, r->t->lanes);
		break;
	case TELL_MBAR:
		mbarrier(r);
		break;
	case TELL_CP_ARRIVE:
		cp_arrive(r);
		break;
	case TELL_GROUP_COMMIT:
		plain(r, EVENT_COMMIT);
		break;
	case TELL_GROUP_WAIT:
		wait_group(r);
		break;
	case TELL_GRID:
		if (r->t->u.done)
			plain(r, (enum event_kind)r->site->kind);
		break;
	default:
		evt_async(r);
		break;
	}
}

void evt_tell(const struct emu_tell *t)
{
	static struct evt_record r;
	uint32_t number;

	memset(&r, 0, sizeof r);
	r.t = t;
	if (t->kind == TELL_EXIT) {
		plain(&r, EVENT_EXIT);
		return;
	}
	r.site = evt_site(t->op, evt_slot, &number);
	r.put.site = number;
	if (r.site)
		of_instruction(&r);
}
