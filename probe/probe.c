/* SPDX-License-Identifier: Apache-2.0
 *
 * probe.c: which records an instruction makes, and in whose room.
 */
#include "probe/place.h"

#define R "%%__gsan_"

static const struct { uint8_t kind; bool (*put)(struct place *); } probes[] = {
	{EVENT_EXIT, probe_before}, {EVENT_OPAQUE, probe_behind}, {EVENT_ACCESS, probe_access}, {EVENT_STRONG, probe_strong},
	{EVENT_FENCE, probe_before}, {EVENT_MAP_FENCE, probe_map_fence}, {EVENT_BAR_ARRIVE, probe_barrier},
	{EVENT_WARP_ARRIVE, probe_warp_barrier}, {EVENT_CLUSTER_ARRIVE, probe_before}, {EVENT_CLUSTER_WAIT, probe_behind},
	{EVENT_MBAR_INIT, probe_mbarrier}, {EVENT_MBAR_INVAL, probe_mbarrier}, {EVENT_MBAR_ARRIVE, probe_arrive},
	{EVENT_MBAR_EXPECT, probe_mbarrier}, {EVENT_MBAR_COMPLETE, probe_mbarrier}, {EVENT_MBAR_WAIT, probe_mbarrier_wait},
	{EVENT_MBAR_COPIES, probe_mbarrier}, {EVENT_CP_ASYNC, probe_cp_async}, {EVENT_COPY, probe_bulk_copy},
	{EVENT_TENSOR, probe_tensor_copy}, {EVENT_ASYNC_STORE, probe_async_store}, {EVENT_CANCEL, probe_async_store},
	{EVENT_COMMIT, probe_before}, {EVENT_WAIT_GROUP, probe_wait_group}, {EVENT_WGMMA, probe_wgmma},
	{EVENT_TC_MMA, probe_tensor_product}, {EVENT_TC_COPY, probe_tensor_cp}, {EVENT_TC_LOAD, probe_tensor_access},
	{EVENT_TC_STORE, probe_tensor_access}, {EVENT_TC_WAIT, probe_behind}, {EVENT_TC_COMMIT, probe_tensor_commit},
	{EVENT_TC_ALLOC, probe_tensor_alloc}, {EVENT_TC_FREE, probe_tensor_free}, {EVENT_MAP_EDIT, probe_map_edit},
	{EVENT_MAP_COPY, probe_map_copy}, {EVENT_DEPENDENTS, probe_before}, {EVENT_GRID_WAIT, probe_behind}
};

static bool is_product(const struct ptx_inst *in)
{
	return in->id == INST_WGMMA_MMA_ASYNC || in->id == INST_WGMMA_MMA_ASYNC_SP;
}

/* Nothing may branch between wgmma.fence and the products behind it. */
static struct ptx_stmt *before_products(struct ptx_stmt *first)
{
	struct ptx_stmt *at = first;

	for (struct ptx_stmt *s = first; is_product(&first->inst) && s; s = s->prev) {
		if (s->kind == STMT_TEXT || s->kind == STMT_LABEL || (s->kind == STMT_INST && ptx_leaves(&s->inst)))
			break;
		if (s->kind == STMT_INST && s->inst.id == INST_WGMMA_FENCE)
			at = s;
	}
	return at;
}

/* Do lanes arrive one by one at a barrier among those that share room?  The leader's clock has to be no later than
 * their arrivals: they have to wait for it while it fetches a piece. */
static bool has_arrivals(const struct plan *plan, uint32_t first)
{
	for (uint32_t i = first; i < plan->n && (i == first || !plan->item[i].first); i++) {
		const struct ptx_inst *in = &plan->item[i].stmt->inst;

		if (plan->item[i].site.kind == EVENT_BAR_ARRIVE && in->id == INST_BARRIER && !ptx_has(in, MOD_ALIGNED))
			return true;
	}
	return false;
}

/* In front of the first of those that share room. */
static void make_room(struct place *p)
{
	struct emit *e = &p->to->e;

	if (p->item->group)
		emit_regroup(e);
	emit_room(e, p->item->room, p->item->each);
	if (has_arrivals(p->plan, p->at))
		emit(e, "bar.warp.sync " R "m");
	if (p->item->group)
		emit_clock_record(e, 0);
	ptx_insert_before(p->to->m, p->f, before_products(p->stmt), module_text(p->to));
}

/* One that cannot be logged whole is counted; what of it could be logged may stay. */
void probe_instruction(struct module *t, struct ptx_func *f, const struct plan *plan, uint32_t at)
{
	const struct plan_item *it = &plan->item[at];
	struct place p = {
		.to = t, .f = f, .stmt = it->stmt, .plan = plan, .item = it, .at = at, .flow = plan->flow, .site = &it->site,
		.number = t->number[at], .ok = true
	};
	bool put = false;

	t->e.most = it->units;
	t->e.ahead = it->ahead;
	t->e.sure = it->sure;
	if (it->whole) {
		emit(&t->e, "bar.warp.sync 0xffffffff");
		ptx_insert_before(t->m, f, before_products(it->stmt), module_text(t));
	}
	if (it->first && it->kind != PLAN_OTHER && it->kind != PLAN_CALL)
		make_room(&p);
	p.group = it->group || it->splits;
	if (it->site.kind == EVENT_STRONG && it->kind != PLAN_CALL)
		probe_as_atom(&p);
	if (it->kind == PLAN_LINE || it->kind == PLAN_EACH)
		put = probe_line(&p);
	else if (it->kind == PLAN_CALL)
		put = probe_call(&p);
	for (unsigned k = 0; k < sizeof probes / sizeof *probes && (it->kind == PLAN_SHORT || it->kind == PLAN_OTHER); k++)
		if (probes[k].kind == it->site.kind)
			put = probes[k].put(&p);
	if (!put)
		module_leave_out(t, it->stmt);
	t->e.out.len = 0;
}
