/* SPDX-License-Identifier: Apache-2.0
 *
 * tensor.c: the records of what is done with tensor memory (PTX ISA, "tcgen05").
 */
#include "probe/place.h"

#define R "%%__gsan_"

/* to = the address of an operand, of 32 bits. */
static void short_address(struct place *p, const char *to, unsigned n)
{
	place_address(p, n);
	emit(&p->to->e, "cvt.u32.u64 " R "%s, " R "v", to);
}

/* tcgen05.ld, .st: the warp's as one. */
bool probe_tensor_access(struct place *p)
{
	bool store = p->site->kind == EVENT_TC_STORE;

	short_address(p, "a", store ? 0 : p->stmt->inst.id == INST_TCGEN05_LD_RED ? 2 : 1);
	emit(&p->to->e, "mov.b32 " R "b, 0");
	return place_short(p, (enum event_kind)p->site->kind, false);
}

bool probe_tensor_free(struct place *p)
{
	struct emit *e = &p->to->e;

	place_number(p, "a", 0, 16);
	place_number(p, "b", 1, 16);
	emit(e, "mad.lo.u32 " R "a, " R "b, 65536, " R "a");
	emit_clocks(e, false);
	return place_short(p, EVENT_TC_FREE, false);
}

/* What was given lies in shared memory behind it. */
bool probe_tensor_alloc(struct place *p)
{
	struct emit_record r = place_open(p, EVENT_TC_ALLOC, 1, 0);
	struct emit *e = &p->to->e;

	place_insert(p, false);
	place_address(p, 0);
	if (p->stmt->inst.space == SPACE_SHARED) {
		emit(e, "cvt.u32.u64 " R "lo, " R "v");
		emit(e, "ld.shared.u32 " R "lo, [" R "lo]");
	} else {
		emit(e, "ld.u32 " R "lo, [" R "v]");
	}
	emit(e, "mov.b32 " R "a, " R "lo");
	place_number(p, "b", 1, 32);
	emit(e, "mov.b64 " R "v, {" R "a, " R "b}");
	emit_put_word(e, &r, 0);
	emit_clocks(e, true);
	emit_put_behind(e, &r);
	place_insert(p, true);
	return p->ok;
}

bool probe_tensor_commit(struct place *p)
{
	struct emit_record r = place_open(p, EVENT_TC_COMMIT, 1, 0);

	if (p->site->flags & EVENT_MULTICAST)
		place_value(p, 1, 16);
	else
		emit(&p->to->e, "mov.b64 " R "v, 0");
	emit_put_word(&p->to->e, &r, 0);
	place_insert(p, false);
	return p->ok;
}

bool probe_tensor_cp(struct place *p)
{
	struct emit_record r = place_record(p, EVENT_TC_COPY, 1);

	short_address(p, "a", 0);
	emit(&p->to->e, "mov.b32 " R "b, 0");
	place_alone(p, &r);
	place_value(p, 1, 64);
	emit_put_word(&p->to->e, &r, 0);
	place_insert(p, false);
	return p->ok;
}

/* [d], a, b (, [which elements of a sparse A are there]), idesc (, [scales], [scales]) (, {lanes left alone}), enable ... */
bool probe_tensor_product(struct place *p)
{
	bool scaled = ptx_has(&p->stmt->inst, MOD_BLOCK_SCALE), cells = p->site->flags & EVENT_A_ELSEWHERE;
	unsigned at = 3u + p->site->shape[2];
	const struct ptx_operand *skip = place_operand(p, at + (scaled ? 3 : 1));
	unsigned left = skip && skip->kind == OP_VEC ? skip->n / 2 : 0;
	struct emit_record r = place_record(p, EVENT_TC_MMA, 4 + left);
	struct emit *e = &p->to->e;

	if (left > 4)
		return false;
	emit(e, "mov.b32 " R "b, 0");
	if (cells)
		short_address(p, "b", 1);
	short_address(p, "a", 0);
	place_alone(p, &r);
	if (cells)
		emit(e, "mov.b64 " R "v, 0");
	else
		place_value(p, 1, 64);
	emit_put_word(e, &r, 0);
	place_value(p, 2, 64);
	emit_put_word(e, &r, 1);
	place_value(p, at, 32);
	emit_put_word(e, &r, 2);
	emit(e, "mov.b64 " R "v, 0");
	if (scaled) {
		short_address(p, "a", at + 1);
		short_address(p, "b", at + 2);
		emit(e, "mov.b64 " R "v, {" R "a, " R "b}");
	}
	emit_put_word(e, &r, 3);
	for (unsigned i = 0; i < left; i++) {
		place_pair(p, &skip->list[2 * i], &skip->list[2 * i + 1]);
		emit_put_word(e, &r, 4 + i);
	}
	place_insert(p, false);
	return p->ok;
}
