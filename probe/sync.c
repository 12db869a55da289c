/* SPDX-License-Identifier: Apache-2.0
 *
 * sync.c: the records of fences, barriers and mbarriers.
 */
#include "probe/place.h"

#define R "%%__gsan_"

/* ---- fences and barriers ------------------------------------------------------------------------ */

/* A record without operands. */
static bool bare(struct place *p, bool behind)
{
	emit_clocks(&p->to->e, behind);
	return place_short(p, (enum event_kind)p->site->kind, behind);
}

bool probe_before(struct place *p) { return bare(p, false); }
bool probe_behind(struct place *p) { return bare(p, true); }

static void barrier_operands(struct place *p)
{
	const struct ptx_inst *in = &p->stmt->inst;
	bool red = ptx_has(in, MOD_RED);
	unsigned id = red, count = red ? (in->nops > 3 ? 2 : 0) : in->nops > 1 ? 1 : 0;
	struct emit *e = &p->to->e;

	place_number(p, "a", id, 32);
	if (!count)
		return;
	place_number(p, "b", count, 32);
	emit(e, "mad.lo.u32 " R "a, " R "b, 256, " R "a");
}

bool probe_barrier(struct place *p)
{
	struct emit_record arrive = place_record(p, EVENT_BAR_ARRIVE, 0), wait = place_record(p, EVENT_BAR_WAIT, 0);
	struct emit *e = &p->to->e;

	barrier_operands(p);
	emit(e, "mov.b32 " R "c0, " R "a");     /* its result may take an operand's register */
	emit_clocks(e, false);
	place_part(p, &arrive, 0);
	place_insert(p, false);
	if (ptx_has(&p->stmt->inst, MOD_ARRIVE))
		return p->ok;
	emit(e, "mov.b32 " R "a, " R "c0");
	emit_clocks(e, true);
	p->group = p->item->splits;
	place_part(p, &wait, 1);
	place_insert(p, true);
	return p->ok;
}

bool probe_warp_barrier(struct place *p)
{
	struct emit_record arrive = place_record(p, EVENT_WARP_ARRIVE, 0), wait = place_record(p, EVENT_WARP_WAIT, 0);
	struct emit *e = &p->to->e;

	for (unsigned behind = 0; behind < 2; behind++) {
		place_number(p, "a", 0, 32);
		emit_clocks(e, behind);
		emit_regroup_by(e, "a");
		emit_reserve(e, behind ? &wait : &arrive, true);
		place_insert(p, behind);
	}
	return p->ok;
}

/* ---- mbarriers -------------------------------------------------------------------------------------- */

/* v = count, or bytes in the upper half and a count of one. */
static void arrive_operand(struct place *p)
{
	struct emit *e = &p->to->e;

	if (ptx_has(&p->stmt->inst, MOD_EXPECT_TX)) {
		place_value(p, 2, 32);
		emit(e, "shl.b64 " R "v, " R "v, 32");
		emit(e, "or.b64 " R "v, " R "v, 1");
	} else if (p->stmt->inst.nops > 2) {
		place_value(p, 2, 32);
	} else {
		emit(e, "mov.b64 " R "v, 1");
	}
}

bool probe_arrive(struct place *p)
{
	struct ptx_operand *state = &p->stmt->inst.ops[0];
	struct emit *e = &p->to->e;
	bool remote = ptx_has(&p->stmt->inst, MOD_SHARED_CLUSTER);
	struct emit_record r;

	if (!p->stmt->inst.nops || state->kind == OP_ADDR)
		return false;
	r = place_open(p, EVENT_MBAR_ARRIVE, 2, 1);
	arrive_operand(p);
	emit_put_word(e, &r, 0);
	place_insert(p, false);
	if (remote)                     /* it returns nothing */
		return p->ok;
	if (state->kind == OP_SINK) {
		*state = (struct ptx_operand){0};
		state->kind = OP_SYM;
		state->sym = &p->to->scratch[1];
	}
	place_value(p, 0, 64);
	emit_put_word(e, &r, 1);
	place_insert(p, true);
	return p->ok;
}

/* init, inval, expect_tx, complete_tx, cp.async.mbarrier.arrive. */
bool probe_mbarrier(struct place *p)
{
	bool counts = p->site->kind != EVENT_MBAR_INVAL && p->site->kind != EVENT_MBAR_COPIES;
	struct emit_record r = place_open(p, (enum event_kind)p->site->kind, counts, 0);

	if (counts) {
		place_value(p, 1, 32);
		emit_put_word(&p->to->e, &r, 0);
	}
	place_insert(p, false);
	return p->ok;
}

/* Behind a wait: from before it are c0, t0.  Lanes that have come apart may meet here: one record is of those that have looked
 * at one moment. */
static void waited(struct place *p, enum event_kind kind)
{
	struct emit_record r = place_record(p, kind, 1);
	struct emit *e = &p->to->e;

	emit_clocks(e, true);
	emit(e, "mov.b32 " R "a, " R "c");
	emit(e, "mov.b32 " R "b, " R "t");
	emit(e, "mov.b32 " R "c, " R "c0");
	emit(e, "mov.b32 " R "t, " R "t0");
	emit_regroup_by(e, "c0");
	emit_reserve(e, &r, true);
	place_value(p, 2, 64);
	emit_put_word(e, &r, 0);
	place_put_address(p, &r, 1);
	emit(e, "mov.b32 " R "c, " R "a");
	emit(e, "mov.b32 " R "t, " R "b");
	emit_put_behind(e, &r);
	emit(e, "mov.b32 " R "tried, %u", kind == EVENT_MBAR_TRY ? p->number : 0);
}

/* A wait that came to something; of those that did not, the first. */
bool probe_mbarrier_wait(struct place *p)
{
	const struct ptx_operand *over = place_operand(p, 0);
	struct emit *e = &p->to->e;
	unsigned vain = e->labels, end = vain + 1;

	if (!over || over->kind != OP_SYM)
		return false;
	e->labels += 2;
	emit_clocks(e, false);
	emit(e, "mov.b32 " R "c0, " R "c");
	emit(e, "mov.b32 " R "t0, " R "t");
	place_insert(p, false);
	emit(e, "@!%s bra $__gsan_L%u", over->sym->name, vain);
	waited(p, EVENT_MBAR_WAIT);
	emit(e, "bra $__gsan_L%u", end);
	emit_label(e, vain);
	emit(e, "setp.eq.u32 " R "full, " R "tried, %u", p->number);
	emit(e, "@" R "full bra $__gsan_L%u", end);
	waited(p, EVENT_MBAR_TRY);
	emit_label(e, end);
	place_insert(p, true);
	return p->ok;
}

/* ---- calls ------------------------------------------------------------------------------------------ */

/* malloc, free.  Behind malloc's loops the lanes may come one by one: the leader's clock is as good as any, since it is later
 * than what the others saw or as late. */
static bool heap(struct place *p)
{
	struct emit_record r = place_record(p, EVENT_STRONG, 0);
	struct emit *e = &p->to->e;

	emit_clocks(e, false);
	place_reserve(p, &r);
	emit(e, "mov.b64 " R "v, " PROBE_LANES);
	emit_put_address(e, &r);
	place_insert(p, false);
	emit_clocks(e, true);
	emit_put_behind(e, &r);
	place_insert(p, true);
	return true;
}

/* What is called goes on where the lanes are.  If that cannot be seen they leave a mark, which it takes away at its start
 * if it logs: the mark that is still there behind the call says that nobody knows what was ordered. */
bool probe_call(struct place *p)
{
	struct emit_record r = place_record(p, EVENT_OPAQUE, 0);
	enum plan_callee callee = plan_callee(&p->stmt->inst);
	struct emit *e = &p->to->e;
	unsigned seen = e->labels;

	if (callee == CALLEE_SILENT)
		return true;
	if (callee == CALLEE_GIVES || callee == CALLEE_GETS)
		return heap(p);
	if (callee == CALLEE_UNSEEN)
		emit(e, "or.b32 " R "tried, " R "tried, 0x80000000");
	emit_save(e);
	place_insert(p, false);
	emit_load(e);
	if (callee == CALLEE_UNSEEN) {
		e->labels++;
		emit(e, "setp.ge.s32 " R "full, " R "tried, 0");
		emit(e, "and.b32 " R "tried, " R "tried, 0x7fffffff");
		emit(e, "@" R "full bra $__gsan_L%u", seen);
		emit_clocks(e, true);
		p->group = true;
		place_reserve(p, &r);
		emit_label(e, seen);
	}
	place_insert(p, true);
	return true;
}
