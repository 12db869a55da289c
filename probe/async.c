/* SPDX-License-Identifier: Apache-2.0
 *
 * async.c: the records of copies and products.
 */
#include "probe/place.h"

#define R "%%__gsan_"

/* ---- copies -------------------------------------------------------------------------------------------- */

bool probe_wait_group(struct place *p)
{
	if (p->stmt->inst.nops)
		place_number(p, "a", 0, 32);
	else
		emit(&p->to->e, "mov.b32 " R "a, 0x%x", EVENT_WAIT_ALL);
	emit(&p->to->e, "mov.b32 " R "b, 0");
	return place_short(p, EVENT_WAIT_GROUP, true);
}

/* Of an im2col copy into shared memory; NULL. */
static const struct ptx_operand *offsets_of(const struct place *p)
{
	const struct ptx_operand *o = place_operand(p, 3);

	return p->site->flags & EVENT_COUNTED && o && o->kind == OP_VEC ? o : NULL;
}

static void put_map(struct place *p, const struct emit_record *r, const struct ptx_operand *map)
{
	struct emit *e = &p->to->e;
	int param = flow_param(p->flow, &map->list[0]);

	param = param < 64 ? param : -1;
	if (param >= 0)
		p->to->maps |= UINT64_C(1) << param;
	p->ok = p->ok && emit_address(e, map);
	emit_map(e, param);
	if (p->site->flags & EVENT_MULTICAST) {
		emit(e, "mov.b64 " R "y, " R "v");
		place_value(p, offsets_of(p) ? 4 : 3, 16);
		emit(e, "shl.b64 " R "v, " R "v, 48");
		emit(e, "or.b64 " R "v, " R "v, " R "y");
	}
	emit_put_word(e, r, 0);
	emit(e, "mov.b64 " R "v, " R "x");
	emit_put_word(e, r, 1);
}

/* The n-th coordinate or offset of a vector; NULL. */
static const struct ptx_operand *nth(const struct ptx_operand *v, unsigned n)
{
	return v && (v->kind == OP_VEC || v->kind == OP_ADDR) && n < v->n ? &v->list[n] : NULL;
}

/* v = two offsets of 16 bits, from bit 32 on, and a coordinate. */
static void last_coordinate(struct place *p, const struct ptx_operand *at, const struct ptx_operand *offsets)
{
	struct emit *e = &p->to->e;

	place_pair(p, nth(at, 4), NULL);
	for (unsigned i = 0; i < 2; i++)
		if (nth(offsets, i)) {
			p->ok = p->ok && emit_value(e, "w", nth(offsets, i), 16);
			emit(e, "shl.b64 " R "w, " R "w, %u", 32 + 16 * i);
			emit(e, "or.b64 " R "v, " R "v, " R "w");
		}
}

bool probe_tensor_copy(struct place *p)
{
	bool load = p->site->flags & EVENT_COUNTED;
	const struct ptx_operand *map = place_operand(p, load), *at = nth(map, 1), *offsets = offsets_of(p);
	struct emit *e = &p->to->e;
	struct emit_record r;

	if (!at || map->kind != OP_ADDR || at->kind != OP_VEC)
		return false;
	r = place_open(p, EVENT_TENSOR, 6, !load);
	put_map(p, &r, map);
	emit(e, "mov.b64 " R "v, 0");
	if (load)
		place_address(p, 2);
	if (nth(offsets, 2)) {
		p->ok = p->ok && emit_value(e, "w", nth(offsets, 2), 16);
		emit(e, "shl.b64 " R "w, " R "w, 48");
		emit(e, "or.b64 " R "v, " R "v, " R "w");
	}
	emit_put_word(e, &r, 2);
	for (unsigned i = 0; i < 4; i += 2) {
		place_pair(p, nth(at, i), nth(at, i + 1));
		emit_put_word(e, &r, 3 + i / 2);
	}
	last_coordinate(p, at, offsets);
	emit_put_word(e, &r, 5);
	place_insert(p, false);
	return p->ok;
}

/* The warp's as one: descriptors, of which A may lie in registers. */
bool probe_wgmma(struct place *p)
{
	struct emit_record r = place_record(p, EVENT_WGMMA, 2);
	struct emit *e = &p->to->e;

	r.site = place_site(p->to, p->plan, p->at);
	if (p->item->kind != PLAN_SHORT)
		return false;
	if (p->site->flags & EVENT_A_ELSEWHERE)
		emit(e, "mov.b64 " R "w, 0");
	else
		p->ok = emit_value(e, "w", place_operand(p, 1), 64);
	place_value(p, 2, 64);
	emit_once(e, &r, p->item->at);
	place_insert(p, false);
	return p->ok;
}

/* Behind the bytes, or the mbarrier, comes the mask of a multicast, or a cache policy, of 64 bits, and that of bytes. */
bool probe_bulk_copy(struct place *p)
{
	unsigned mask = p->site->flags & EVENT_MULTICAST ? 4 : p->site->flags & EVENT_BYTE_MASK ? p->stmt->inst.nops - 1u : 0;
	struct emit_record r = place_open(p, EVENT_COPY, 3, 0);
	struct emit *e = &p->to->e;

	place_address(p, 1);
	emit_put_word(e, &r, 0);
	if (mask) {
		place_value(p, mask, 16);
		emit(e, "shl.b64 " R "w, " R "v, 32");
	}
	place_value(p, 2, 32);
	if (mask)
		emit(e, "or.b64 " R "v, " R "v, " R "w");
	emit_put_word(e, &r, 1);
	if (p->site->flags & EVENT_COUNTED)
		place_address(p, 3);
	else
		emit(e, "mov.b64 " R "v, 0");
	emit_put_word(e, &r, 2);
	place_insert(p, false);
	return p->ok;
}

/* st.async, red.async, clusterlaunchcontrol.try_cancel: into a block's memory, counted by an mbarrier; others are strong
 * accesses with no value. */
bool probe_async_store(struct place *p)
{
	bool counted = p->site->kind != EVENT_STRONG;
	struct emit_record r = place_open(p, (enum event_kind)p->site->kind, counted, 0);

	if (counted) {
		place_address(p, p->site->kind == EVENT_CANCEL ? 1 : 2);
		emit_put_word(&p->to->e, &r, 0);
	}
	place_insert(p, false);
	return p->ok;
}

/* v = bytes that a cp.async reads: as many as it writes, or what an operand says: their number, or that
 * the source is ignored; behind that may be a cache policy, of 64 bits. */
static void source_bytes(struct place *p)
{
	const struct ptx_operand *o = place_operand(p, 3);
	enum ptx_type type = o && o->kind == OP_SYM ? o->sym->type : TYPE_NONE;
	unsigned all = p->site->size;

	if (type == TYPE_PRED)
		emit(&p->to->e, "selp.b64 " R "v, %u, %u, %s", o->neg ? all : 0, o->neg ? 0 : all, o->sym->name);
	else if (!o || ptx_type_bits(type) == 64)
		emit(&p->to->e, "mov.b64 " R "v, %u", all);
	else
		place_value(p, 3, 32);
}

bool probe_cp_async(struct place *p)
{
	struct emit_record r = place_open(p, EVENT_CP_ASYNC, 1, 0);
	struct emit *e = &p->to->e;

	source_bytes(p);
	emit(e, "shl.b64 " R "w, " R "v, 48");
	place_address(p, 1);
	emit(e, "or.b64 " R "v, " R "v, " R "w");
	emit_put_word(e, &r, 0);
	place_insert(p, false);
	return p->ok;
}

/* ---- tensor maps --------------------------------------------------------------------------------------- */

/* v = the generic address of an operand in global or shared memory. */
static void generic_address(struct place *p, unsigned n, unsigned space)
{
	place_address(p, n);
	if (space == EVENT_SHARED)
		emit(&p->to->e, "cvta.shared.u64 " R "v, " R "v");
}

/* tensormap.replace: what the map is before it, and behind it. */
bool probe_map_edit(struct place *p)
{
	struct emit_record r = place_open(p, EVENT_MAP_EDIT, 3, 0);
	struct emit *e = &p->to->e;

	place_value(p, p->stmt->inst.nops - 1u, 64);
	emit_put_word(e, &r, 2);
	for (unsigned behind = 0; behind < 2; behind++) {
		generic_address(p, 0, p->site->space);
		emit_map(e, -1);
		emit(e, "mov.b64 " R "v, " R "x");
		emit_put_word(e, &r, behind);
		place_insert(p, behind);
	}
	return p->ok;
}

bool probe_map_copy(struct place *p)
{
	struct emit_record r = place_open(p, EVENT_MAP_COPY, 1, 0);

	place_address(p, 1);
	emit_put_word(&p->to->e, &r, 0);
	place_insert(p, false);
	return p->ok;
}

bool probe_map_fence(struct place *p)
{
	place_open(p, EVENT_MAP_FENCE, 0, 0);
	place_insert(p, true);
	return p->ok;
}
