/* SPDX-License-Identifier: Apache-2.0
 *
 * events_async.c: asynchronous operations, tensor maps and tensor memory, from what is told
 * to records.
 */
#include <string.h>

#include "emu/events_impl.h"
#include "emu/tcgen05.h"
#include "emu/tmap.h"

static uint64_t address(const struct evt_record *r, enum emu_base base, uint64_t a)
{
	uint64_t to;

	return (evt_address(r->t->b, base, a, &to) ? to : a) & UINT64_C(0xffffffffffff);
}

/* ---- tensor maps ----------------------------------------------------------------------------- */

static void tell_map(const struct emu_tmap *m, uint64_t hash)
{
	static const uint8_t spans[] = {0, 32, 64, 128}, atoms[] = {16, 32, 32, 64}, slices[] = {0, 16, 32};
	struct event_host h;
	struct event_map *to = &h.map;

	memset(&h, 0, sizeof h);
	h.kind = EVENT_HOST_MAP;
	to->hash = hash;
	to->base = m->address;
	to->stride[0] = emu_tmap_elem_bytes(m);
	for (unsigned i = 0; i < 5; i++) {
		to->stride[i] = i ? m->stride[i - 1] : to->stride[0];
		to->dim[i] = m->last[i] + 1;
		to->box[i] = m->box[i];
		to->every[i] = m->step[i] ? m->step[i] : 1;
	}
	for (unsigned i = 0; i < 3; i++) {
		to->lower[i] = m->lower[i];
		to->upper[i] = m->upper[i];
	}
	to->rank = m->rank;
	to->im2col = m->mode == TMAP_IM2COL;
	to->span = spans[m->swizzle & 3];
	to->atom = atoms[m->atomicity & 3];
	to->slice = slices[m->interleave % 3];
	evt_sink->host(evt_sink->arg, &h);
}

/* Of the 128 bytes; the sink is told of maps whenever they are used, and keeps one of each. */
static uint64_t hash_of(const struct emu_tmap *m)
{
	uint64_t hash = m ? event_map_hash(m) : 0;

	if (m && m->magic == EMU_TMAP_MAGIC && m->mode != TMAP_IM2COL_WIDE && m->rank && m->rank <= 5)
		tell_map(m, hash);
	return hash;
}

static void replace(struct evt_record *r)
{
	const struct emu_tell_replace *q = r->t->u.replace;

	r->put.kind = EVENT_MAP_EDIT;
	r->put.words = 3;
	EMU_EACH(l, r->t->lanes) {
		r->put.address[l] = address(r, q->base, q->addr[l]);
		r->put.word[l][0] = event_map_hash(q->before);
		r->put.word[l][1] = hash_of(q->after);
		r->put.word[l][2] = q->value[l];
	}
	evt_put_lanes(r, r->t->lanes);
}

static void map_copy(struct evt_record *r)
{
	const struct emu_tell_tmap_copy *q = r->t->u.tmap_copy;

	r->put.kind = EVENT_MAP_COPY;
	r->put.words = 1;
	hash_of(q->tmap);
	EMU_EACH(l, r->t->lanes) {
		r->put.address[l] = address(r, q->to_base, q->to);
		r->put.word[l][0] = address(r, q->from_base, q->from);
	}
	evt_put_lanes(r, r->t->lanes);
}

/* ---- copies ----------------------------------------------------------------------------------------- */

static void cp_async(struct evt_record *r)
{
	const struct emu_tell_cp *q = r->t->u.cp;

	r->put.kind = EVENT_CP_ASYNC;
	EMU_EACH(l, r->t->lanes) {
		r->put.address[l] = address(r, q->to_base, q->to[l]);
		event_set(&r->put, l, EVENT_CP_ASYNC_FROM, address(r, q->from_base, q->from[l]));
		event_set(&r->put, l, EVENT_CP_ASYNC_READ, q->read[l]);
	}
	evt_put_lanes(r, r->t->lanes);
}

static void set_copy(struct evt_record *r, unsigned l)
{
	const struct emu_tell_copy *q = r->t->u.copy;

	r->put.address[l] = address(r, q->to_base, q->to[l]);
	event_set(&r->put, l, EVENT_COPY_FROM, address(r, q->from_base, q->from[l]));
	event_set(&r->put, l, EVENT_COPY_BYTES, q->bytes[l]);
	event_set(&r->put, l, EVENT_COPY_MASK, q->mask[l]);
	event_set(&r->put, l, EVENT_COPY_MBAR, q->counted ? address(r, q->mbar_base, q->mbar[l]) : 0);
}

static void set_tensor(struct evt_record *r, unsigned l)
{
	static const enum event_operand at[] = {EVENT_TENSOR_AT0, EVENT_TENSOR_AT1, EVENT_TENSOR_AT2, EVENT_TENSOR_AT3,
						EVENT_TENSOR_AT4};
	static const enum event_operand offset[] = {EVENT_TENSOR_OFFSET0, EVENT_TENSOR_OFFSET1, EVENT_TENSOR_OFFSET2};
	const struct emu_tell_copy *q = r->t->u.copy;

	r->put.address[l] = q->counted ? address(r, q->to_base, q->to[l]) : address(r, q->from_base, q->from[l]);
	event_set(&r->put, l, EVENT_TENSOR_MAP, address(r, q->map_base, q->map[l]));
	event_set(&r->put, l, EVENT_TENSOR_MASK, q->mask[l]);
	event_set(&r->put, l, EVENT_TENSOR_HASH, hash_of(q->tmap[l]));
	event_set(&r->put, l, EVENT_TENSOR_MBAR, q->counted ? address(r, q->mbar_base, q->mbar[l]) : 0);
	for (unsigned i = 0; i < 5; i++)
		event_set(&r->put, l, at[i], (uint32_t)q->at[l][i]);
	for (unsigned i = 0; i < 3; i++)
		event_set(&r->put, l, offset[i], q->offset[l][i]);
}

static void copy(struct evt_record *r)
{
	const struct emu_tell_copy *q = r->t->u.copy;

	r->put.kind = r->site->kind;
	EMU_EACH(l, r->t->lanes) {
		if (r->put.kind == EVENT_TENSOR) {
			set_tensor(r, l);
		} else if (r->put.kind == EVENT_COPY) {
			set_copy(r, l);
		} else {
			r->put.address[l] = address(r, q->to_base, q->to[l]);
			r->put.word[l][0] = q->counted ? address(r, q->mbar_base, q->mbar[l]) : 0;
			r->put.words = r->put.kind != EVENT_STRONG;
		}
	}
	evt_put_lanes(r, r->t->lanes);
}

/* ---- products and tensor memory -------------------------------------------------------------------------- */

/* The warp executes it as one, by whichever groups it came. */
static void as_one(struct evt_record *r, enum event_kind kind)
{
	r->put.kind = kind;
	r->put.lanes = r->t->lanes;
	evt_put(r->t->w, r->t->lanes, &r->put, r->site, r->behind);
}

static void wgmma(struct evt_record *r)
{
	r->put.words = 2;
	EMU_EACH(l, r->t->lanes) {
		r->put.word[l][0] = r->t->u.wgmma->a;
		r->put.word[l][1] = r->t->u.wgmma->b;
	}
	as_one(r, EVENT_WGMMA);
}

static bool any(const uint32_t *v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (v[i])
			return true;
	return false;
}

static void set_product(struct evt_record *r, const struct emu_tc_item *it, unsigned l)
{
	static const enum event_operand skip[] = {EVENT_TC_MMA_SKIP0, EVENT_TC_MMA_SKIP1, EVENT_TC_MMA_SKIP2, EVENT_TC_MMA_SKIP3};

	r->put.words = 0;
	event_set(&r->put, l, EVENT_TC_MMA_D, it->d);
	event_set(&r->put, l, EVENT_TC_MMA_A_CELLS, it->a_tmem);
	event_set(&r->put, l, EVENT_TC_MMA_A, it->a);
	event_set(&r->put, l, EVENT_TC_MMA_B, it->b);
	event_set(&r->put, l, EVENT_TC_MMA_SHAPE, it->idesc);
	event_set(&r->put, l, EVENT_TC_MMA_SCALE_A, it->scales[0]);
	event_set(&r->put, l, EVENT_TC_MMA_SCALE_B, it->scales[1]);
	for (unsigned i = 0; i < 4 && any(it->skip, 8); i++)
		event_set(&r->put, l, skip[i], it->skip[2 * i] | (uint64_t)it->skip[2 * i + 1] << 32);
}

/* Each lane has operands of its own in the first words as well. */
static void tc_issue(struct evt_record *r)
{
	r->put.kind = r->site->kind;
	EMU_EACH(l, r->t->lanes) {
		const struct emu_tc_item *it = emu_tc_item_of(r->t, l);

		if (it->kind == EMU_TC_PRODUCT) {
			set_product(r, it, l);
		} else if (it->kind == EMU_TC_COPY) {
			r->put.a = it->d;
			r->put.words = 1;
			r->put.word[l][0] = it->a;
		} else {
			r->put.address[l] = address(r, r->t->op->u.tc->d.base, it->where);
			r->put.words = 0;
			event_set(&r->put, l, EVENT_TC_COMMIT_MASK, it->mask);
		}
		evt_put_lanes(r, 1u << l);
	}
}

static void tc_room(struct evt_record *r)
{
	const struct emu_tell_room *q = r->t->u.room;

	if (r->t->kind == TELL_TC_DEALLOC) {
		event_set(&r->put, 0, EVENT_TC_FREE_AT, q->at);
		event_set(&r->put, 0, EVENT_TC_FREE_COLUMNS, q->columns);
		as_one(r, EVENT_TC_FREE);
		return;
	}
	EMU_EACH(l, r->t->lanes) {
		r->put.address[l] = address(r, q->base, q->addr);
		event_set(&r->put, l, EVENT_TC_ALLOC_AT, q->at);
		event_set(&r->put, l, EVENT_TC_ALLOC_COLUMNS, q->columns);
	}
	r->behind = true;
	as_one(r, EVENT_TC_ALLOC);
}

void evt_async(struct evt_record *r)
{
	switch (r->t->kind) {
	case TELL_CP_ASYNC:
		cp_async(r);
		break;
	case TELL_COPY:
		copy(r);
		break;
	case TELL_WGMMA:
		wgmma(r);
		break;
	case TELL_TC_ISSUE:
		tc_issue(r);
		break;
	case TELL_TC_ACCESS:
		r->put.a = r->t->u.tmem;
		as_one(r, (enum event_kind)r->site->kind);
		break;
	case TELL_TC_WAIT:
		as_one(r, EVENT_TC_WAIT);
		break;
	case TELL_TC_ALLOC:
	case TELL_TC_DEALLOC:
		tc_room(r);
		break;
	case TELL_TMAP_REPLACE:
		replace(r);
		break;
	case TELL_TMAP_COPY:
		map_copy(r);
		break;
	default:
		break;
	}
}
