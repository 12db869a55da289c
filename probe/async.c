/* SPDX-License-Identifier: Apache-2.0
 *
 * async.c: the records of copies and products.
 */
#include "probe/place.h"

#define R "%%__gsan_"

/* ---- copies -------------------------------------------------------------------------------------------- */

bool probe_wait_group(struct place *p)
{
	struct emit_record r = place_record(p, EVENT_WAIT_GROUP, 0);
	struct emit *e = &p->to->e;

	if (p->stmt->inst.nops) {
		place_value(p, 0, 32);
		emit(e, "cvt.u32.u64 " R "a, " R "v");
	} else {
		emit(e, "mov.b32 " R "a, 0x%x", EVENT_WAIT_ALL);
	}
	emit(e, "mov.b32 " R "b, 0");
	place_part(p, &r, 0);
	place_insert(p, true);
	return p->ok;
}

/* Two of 32 bits in a word: v = low | high << 32; a missing one is 0. */
static void pair_of(struct place *p, const struct ptx_operand *low, const struct ptx_operand *high)
{
	struct emit *e = &p->to->e;

	p->ok = p->ok && (!high || emit_value(e, "w", high, 32));
	if (high)
		emit(e, "shl.b64 " R "w, " R "w, 32");
	if (low)
		p->ok = p->ok && emit_value(e, "v", low, 32);
	else
		emit(e, "mov.b64 " R "v, 0");
	if (high)
		emit(e, "or.b64 " R "v, " R "v, " R "w");
}

static void put_map(struct place *p, const struct emit_record *r, const struct ptx_operand *map)
{
	struct emit *e = &p->to->e;

	p->ok = p->ok && emit_address(e, map);
	emit_map(e, flow_param(p->flow, &map->list[0]));
	if (p->site->flags & EVENT_MULTICAST) {
		emit(e, "mov.b64 " R "y, " R "v");
		place_value(p, 3, 16);
		emit(e, "shl.b64 " R "v, " R "v, 48");
		emit(e, "or.b64 " R "v, " R "v, " R "y");
	}
	emit_put_word(e, r, 0);
	emit(e, "mov.b64 " R "v, " R "x");
	emit_put_word(e, r, 1);
}

bool probe_tensor_copy(struct place *p)
{
	struct emit_record r = place_record(p, EVENT_TENSOR, 6);
	bool load = p->site->flags & EVENT_COUNTED;
	const struct ptx_operand *map = place_operand(p, load), *at = map && map->kind == OP_ADDR && map->n > 1 ? &map->list[1] : NULL;
	struct emit *e = &p->to->e;

	if (!at || at->kind != OP_VEC || p->site->flags & EVENT_IM2COL)
		return false;
	emit_clocks(e, false);
	place_reserve(p, &r);
	place_put_address(p, &r, !load);
	put_map(p, &r, map);
	emit(e, "mov.b64 " R "v, 0");
	if (load)
		place_address(p, 2);
	emit_put_word(e, &r, 2);
	for (unsigned i = 0; i < 6; i += 2) {
		pair_of(p, i < at->n ? &at->list[i] : NULL, i + 1u < at->n ? &at->list[i + 1] : NULL);
		emit_put_word(e, &r, 3 + i / 2);
	}
	place_insert(p, false);
	return p->ok;
}

/* The warp's as one: descriptors, of which A may lie in registers. */
bool probe_wgmma(struct place *p)
{
	struct emit_record r = place_record(p, EVENT_WGMMA, 2);
	struct emit *e = &p->to->e;

	r.site = place_site(p->to, p->plan, p->at);
	if (ptx_has(&p->stmt->inst, MOD_SP) || p->item->kind != PLAN_SHORT)
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

bool probe_bulk_copy(struct place *p)
{
	struct emit_record r = place_record(p, EVENT_COPY, 3);
	struct emit *e = &p->to->e;

	if (p->site->flags & EVENT_BYTE_MASK)
		return false;
	emit_clocks(e, false);
	place_reserve(p, &r);
	place_put_address(p, &r, 0);
	place_address(p, 1);
	emit_put_word(e, &r, 0);
	if (p->site->flags & EVENT_MULTICAST) {
		place_value(p, 4, 16);
		emit(e, "shl.b64 " R "w, " R "v, 32");
	}
	place_value(p, 2, 32);
	if (p->site->flags & EVENT_MULTICAST)
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

/* v = bytes that a cp.async reads: as many as it writes, or what an operand says: their number, or that
 * the source is ignored; behind that may be a cache policy, of 64 bits. */
static void source_bytes(struct place *p)
{
	const struct ptx_operand *o = place_operand(p, 3);
	enum ptx_type type = o && o->kind == OP_SYM ? o->sym->type : TYPE_NONE;

	if (type == TYPE_PRED)
		emit(&p->to->e, "selp.b64 " R "v, %u, %u, %s", o->neg ? p->site->size : 0, o->neg ? 0 : p->site->size, o->sym->name);
	else if (!o || ptx_type_bits(type) == 64)
		emit(&p->to->e, "mov.b64 " R "v, %u", p->site->size);
	else
		place_value(p, 3, 32);
}

bool probe_cp_async(struct place *p)
{
	struct emit_record r = place_record(p, EVENT_CP_ASYNC, 1);
	struct emit *e = &p->to->e;

	emit_clocks(e, false);
	place_reserve(p, &r);
	place_put_address(p, &r, 0);
	source_bytes(p);
	emit(e, "shl.b64 " R "w, " R "v, 48");
	place_address(p, 1);
	emit(e, "or.b64 " R "v, " R "v, " R "w");
	emit_put_word(e, &r, 0);
	place_insert(p, false);
	return p->ok;
}
