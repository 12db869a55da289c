/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle_tell.c: from asynchronous operations, mbarriers, clusters and fences of
 * proxies to events of the oracle.  What carries them out calls here at the moment
 * when it happens: issue, arrival, end of a phase, end of an operation, wait.
 */
#include <stdlib.h>

#include "emu/async.h"
#include "emu/oracle_impl.h"

/* ---- what an instruction means ------------------------------------------------------- */

bool orc_other(struct orc_op *k, const struct ptx_inst *in)
{
	bool relaxed = ptx_has(in, MOD_RELAXED);

	switch (in->id) {
	case INST_MBARRIER_ARRIVE:
	case INST_MBARRIER_ARRIVE_DROP:
	case INST_MBARRIER_EXPECT_TX:           /* .arrive.expect_tx may come as either */
		k->release = !relaxed;
		break;
	case INST_MBARRIER_TEST_WAIT:
	case INST_MBARRIER_TRY_WAIT:
		k->acquire = !relaxed;
		break;
	case INST_BARRIER_CLUSTER_ARRIVE:
		k->release = !relaxed;
		k->level = ORC_CLUSTER;
		k->tells = true;
		return true;
	case INST_BARRIER_CLUSTER_WAIT:
		k->acquire = true;
		k->level = ORC_CLUSTER;
		k->tells = true;
		return true;
	case INST_MBARRIER_INIT:
	case INST_MBARRIER_INVAL:
	case INST_MBARRIER_COMPLETE_TX:
	case INST_CP_ASYNC_MBARRIER_ARRIVE:
		break;
	case INST_CP_ASYNC:
	case INST_CP_ASYNC_COMMIT_GROUP:
	case INST_CP_ASYNC_WAIT_GROUP:
	case INST_CP_ASYNC_WAIT_ALL:
	case INST_CP_ASYNC_BULK:
	case INST_CP_ASYNC_BULK_TENSOR:
	case INST_CP_ASYNC_BULK_COMMIT_GROUP:
	case INST_CP_ASYNC_BULK_WAIT_GROUP:
	case INST_CP_REDUCE_ASYNC_BULK:
	case INST_CP_REDUCE_ASYNC_BULK_TENSOR:
	case INST_TENSORMAP_CP_FENCEPROXY:
	case INST_CLUSTERLAUNCHCONTROL_TRY_CANCEL:
	case INST_WGMMA_MMA_ASYNC:
	case INST_WGMMA_MMA_ASYNC_SP:
	case INST_WGMMA_COMMIT_GROUP:
	case INST_WGMMA_WAIT_GROUP:
	case INST_TCGEN05_MMA:
	case INST_TCGEN05_MMA_WS:
	case INST_TCGEN05_CP:
	case INST_TCGEN05_LD:
	case INST_TCGEN05_LD_RED:
	case INST_TCGEN05_ST:
	case INST_TCGEN05_WAIT_LD:
	case INST_TCGEN05_WAIT_ST:
	case INST_TCGEN05_ALLOC:
	case INST_TCGEN05_COMMIT:
		k->tells = true;
		return true;
	case INST_TCGEN05_FENCE_BEFORE_THREAD_SYNC:
	case INST_TCGEN05_FENCE_AFTER_THREAD_SYNC:
	case INST_GRIDDEPCONTROL_LAUNCH_DEPENDENTS:
	case INST_GRIDDEPCONTROL_WAIT:
		k->other = true;
		return true;
	case INST_ST_ASYNC:
	case INST_ST_ASYNC_RELEASE:
	case INST_RED_ASYNC:
	case INST_RED_ASYNC_RELEASE:
		k->red = k->read = in->id == INST_RED_ASYNC || in->id == INST_RED_ASYNC_RELEASE;
		k->write = k->strong = k->tells = true;
		k->n = (uint8_t)ptx_inst_vec(in);
		k->size = (uint8_t)(ptx_type_bits(in->type) / 8);
		return true;
	case INST_TENSORMAP_REPLACE:
		k->read = k->write = k->tells = true;
		return true;
	case INST_MEMBAR_PROXY:
	case INST_FENCE_PROXY_ALIAS:
	case INST_FENCE_PROXY_ASYNC:
	case INST_FENCE_PROXY_ASYNC_GENERIC:
	case INST_FENCE_PROXY_TENSORMAP_GENERIC:
	case INST_FENCE_MBARRIER_INIT:
	case INST_FENCE_ACQUIRE_SYNC_RESTRICT_SHARED_CLUSTER:
	case INST_FENCE_RELEASE_SYNC_RESTRICT_SHARED_CTA:
		k->other = true;
		return true;
	default:
		return false;
	}
	/* PTX ISA, "mbarrier": the default scope is .cta. */
	if (!ptx_has(in, MOD_CLUSTER))
		k->level = ORC_CTA;
	k->tells = true;
	return true;
}

void orc_other_done(const struct emu_tell *e, const struct orc_op *k, unsigned lane)
{
	struct orc_block *b = orc_block_of(e->b);
	struct orc_thread *t = orc_thread_of(e->w, lane);

	switch (k->in->id) {
	case INST_FENCE_PROXY_TENSORMAP_GENERIC:
		/* Who learns of the fence learns of what it released. */
		if (k->release)
			orc_map_release(t);
		orc_fence(b, t, k);
		if (!k->release)
			orc_map_acquire(b, t, e->u.map[lane]);
		break;
	case INST_TCGEN05_FENCE_BEFORE_THREAD_SYNC:
		orc_tensor_before(t);
		break;
	case INST_TCGEN05_FENCE_AFTER_THREAD_SYNC:
		orc_tensor_after(t);
		break;
	case INST_GRIDDEPCONTROL_LAUNCH_DEPENDENTS:
		orc_launch_dependents(t);
		break;
	case INST_GRIDDEPCONTROL_WAIT:
		orc_grid_wait(t);
		break;
	default:
		orc_proxy_fence(b, t, k);
		break;
	}
}

/* ---- places ------------------------------------------------------------------------------ */

static const struct orc_op *watched(struct emu_x *x, const struct emu_op *op)
{
	return orc_block_of(x->b) && !op->func->injected ? orc_op_of(op) : NULL;
}

/* The block of the cluster in whose shared memory a byte of the process lies; NULL. */
static struct emu_block *owner_of(const struct emu_cluster *c, const void *p)
{
	for (unsigned r = 0; r < c->nblocks; r++) {
		struct emu_block *b = c->block[r];

		if ((const uint8_t *)p >= b->smem && (const uint8_t *)p < b->smem + b->smem_bytes)
			return b;
	}
	return NULL;
}

/* ---- mbarriers and the barrier of a cluster ------------------------------------------------ */

void emu_oracle_mbar(struct emu_x *x, const struct emu_op *op, unsigned lane, const void *p,
		     enum orc_use use)
{
	const struct orc_op *k = watched(x, op);
	const struct emu_block *owner;
	struct orc_thread *t;

	if (!k)
		return;
	owner = owner_of(x->b->cluster, p);
	t = orc_thread_of(x->w, lane);
	orc_settle(orc_block_of(x->b)->grid, t);
	orc_mbar(orc_block_of(owner), p, (uint64_t)((const uint8_t *)p - owner->smem), orc_block_of(x->b), t, k, use);
}

void emu_oracle_mbar_over(const void *p)
{
	orc_mbar_over(p);
}

static void hear_cluster(const struct emu_tell *e, const struct orc_op *k)
{
	struct orc_block *b = orc_block_of(e->b);

	EMU_EACH(l, e->lanes) {
		struct orc_thread *t = orc_thread_of(e->w, l);

		orc_settle(b->grid, t);
		if (e->kind == TELL_CLUSTER_ARRIVE)
			orc_phase_arrive(&b->first->cluster, b, t, k, NULL);
		else
			orc_cluster_wait(b, t, k);
	}
}

/* ---- cp.async -------------------------------------------------------------------------------- */

void emu_oracle_cp(struct emu_x *x, const struct emu_op *op, unsigned lane, uint64_t to, uint64_t from,
		   uint64_t read)
{
	const struct orc_op *k = watched(x, op);
	struct orc_thread *t;
	struct orc_touch touch;
	const struct emu_block *owner;

	if (!k)
		return;
	t = orc_thread_of(x->w, lane);
	owner = x->b->cluster->block[(uint32_t)to >> EMU_RANK_SHIFT];
	orc_settle(orc_block_of(x->b)->grid, t);
	touch = (struct orc_touch){
		.issue = orc_issue(orc_block_of(x->b), t), .op = k,
		.actor = ORC_ACTOR(ORC_CP_ASYNC, t->id), .n = ++t->cp.issued, .read = true
	};
	if (read)
		orc_touch(&touch, 0, from, read);
	touch.read = false;
	touch.write = true;
	orc_touch(&touch, 1 + orc_block_of(owner)->number, (uint32_t)to & ((1u << EMU_RANK_SHIFT) - 1), op->size);
	orc_issue_drop(touch.issue);
}

struct orc_mark emu_oracle_cp_mark(struct emu_x *x, const struct emu_op *op, unsigned lane,
				   const void *mbar)
{
	const struct orc_thread *t;

	if (!watched(x, op))
		return (struct orc_mark){0, 0};
	emu_oracle_mbar(x, op, lane, mbar, ORC_USE);
	t = orc_thread_of(x->w, lane);
	return (struct orc_mark){ORC_ACTOR(ORC_CP_ASYNC, t->id), t->cp.issued};
}

void emu_oracle_arrives(const void *mbar, struct orc_mark mark, bool tensor)
{
	if (mark.n)
		orc_mbar_done(mbar, mark.actor, mark.n, tensor, tensor);
}

/* ---- groups ------------------------------------------------------------------------------------ */

static struct orc_groups *groups_of(struct orc_thread *t, enum orc_list list)
{
	return list == ORC_LIST_CP ? &t->cp : list == ORC_LIST_BULK ? &t->bulk : &t->wgmma;
}

void emu_oracle_commit(struct emu_x *x, const struct emu_op *op, uint32_t m, enum orc_list list)
{
	if (!watched(x, op))
		return;
	EMU_EACH(l, m)
		orc_commit(groups_of(orc_thread_of(x->w, l), list));
}

void emu_oracle_group_wait(struct emu_x *x, const struct emu_op *op, uint32_t m, enum orc_list list,
			   uint32_t left, bool read)
{
	if (!watched(x, op))
		return;
	EMU_EACH(l, m) {
		struct orc_thread *t = orc_thread_of(x->w, l);
		enum orc_actor kind = list == ORC_LIST_CP ? ORC_CP_ASYNC : ORC_BULK_READ;
		uint32_t n;

		orc_settle(orc_block_of(x->b)->grid, t);
		if (list == ORC_LIST_WGMMA) {
			n = orc_thread_of(x->w, 0)->wgmma.n;
			t->wgmma_waited = n > left ? n - left : 0;
			if (!orc_choices.no_retire)
				orc_wgmma_done(t, t->wgmma_waited);
			continue;
		}
		n = orc_grouped(groups_of(t, list), left);
		if (!n)
			continue;
		orc_done(t, ORC_ACTOR(kind, t->id), n);
		if (list == ORC_LIST_BULK && !read)
			orc_done(t, ORC_ACTOR(ORC_BULK_WRITE, t->id), n);
	}
}

/* ---- copies ------------------------------------------------------------------------------------- */

/* The space of a byte of the process, and its address there. */
static uint64_t space_of(const struct emu_block *owner, const uint8_t *p, uint64_t *addr)
{
	*addr = owner ? (uint64_t)(p - owner->smem) : (uint64_t)(uintptr_t)p;
	return owner ? 1 + orc_block_of(owner)->number : 0;
}

/* All that the operation reads, or writes at one place; neighbouring pieces are one. */
static void touch_pieces(const struct emu_async *a, const struct orc_touch *touch,
			 const struct emu_landing *land)
{
	for (unsigned i = 0, next; i < a->n; i = next) {
		const struct emu_piece *p = &a->piece[i];
		const uint8_t *from = land ? p->dst + land->shift : p->src, *to = from + p->n;
		uint64_t addr, space;

		for (next = i + 1; next < a->n; next++) {
			const struct emu_piece *q = &a->piece[next];
			const uint8_t *at = land ? q->dst + land->shift : q->src;

			if (!from || at != to)
				break;
			to += q->n;
		}
		if (!from)
			continue;
		space = space_of(land ? land->block : a->from, from, &addr);
		orc_touch(touch, space, addr, (uint64_t)(to - from));
	}
}

static void operand(const struct emu_block *b, struct orc_thread *t, const struct orc_op *k,
		    const void *mbar)
{
	const struct emu_block *owner = owner_of(b->cluster, mbar);

	orc_mbar(orc_block_of(owner), mbar, (uint64_t)((const uint8_t *)mbar - owner->smem), orc_block_of(b), t, k,
		 ORC_OPERAND);
}

void emu_oracle_async(struct emu_async *a)
{
	const struct orc_op *k = orc_block_of(a->block) && !a->op->func->injected ? orc_op_of(a->op) : NULL;
	struct orc_block *b = orc_block_of(a->block);
	struct orc_touch touch;
	struct orc_thread *t;

	if (!k)
		return;
	t = orc_thread_of(a->warp, a->lane);
	orc_settle(b->grid, t);
	/* PTX ISA, "st.async", "red.async": to global memory they are release operations of
	 * their thread. */
	if (a->generic && !a->land[0].mbar) {
		uint64_t addr, space = space_of(a->land[0].block, a->piece[0].dst, &addr);

		orc_strong_access(b, t, a->op, k, space, addr);
		return;
	}
	for (unsigned i = 0; i < a->nland; i++) {
		if (!a->land[i].mbar)
			continue;
		operand(a->block, t, k, a->land[i].mbar);
		orc_mbar_flies(a->land[i].mbar);
	}
	touch = (struct orc_touch){
		.issue = orc_issue(b, t), .op = k, .n = 1, .read = true,
		.proxy = a->generic ? ORC_GENERIC : ORC_ASYNC
	};
	touch.issue->what = a->what;
	if (a->grouped) {
		touch.n = ++t->bulk.issued;
		touch.actor = ORC_ACTOR(ORC_BULK_READ, t->id);
	} else {
		touch.actor = a->actor = orc_singles(b->grid, 1 + a->nland);
	}
	touch_pieces(a, &touch, NULL);
	if (a->map) {
		touch.proxy = ORC_MAPS;
		touch.pipe = a->map;
		orc_touch(&touch, 0, a->map, 128);
		touch.proxy = ORC_ASYNC;
		touch.pipe = 0;
	}
	touch.write = true;
	touch.read = a->reduce != 0;
	if (a->reduce) {
		touch.level = k->level;
		touch.size = a->size;
	}
	for (unsigned i = 0; i < a->nland; i++) {
		touch.actor = a->grouped ? ORC_ACTOR(ORC_BULK_WRITE, t->id) : a->actor + 1 + i;
		touch_pieces(a, &touch, &a->land[i]);
	}
	orc_issue_drop(touch.issue);
}

void emu_oracle_landed(const struct emu_async *a, const struct emu_landing *land)
{
	if (!a->actor)
		return;
	orc_mbar_brought(land->mbar, a->actor, orc_block_of(a->block));
	orc_mbar_brought(land->mbar, a->actor + 1 + (uint64_t)(land - a->land), orc_block_of(a->block));
	orc_mbar_lands(land->mbar);
}

/* An access that lanes of a warp make as one, here and now. */
static struct orc_touch touch_as_one(struct orc_block *b, unsigned first, uint32_t lanes,
				     const struct orc_op *k)
{
	return (struct orc_touch){
		.issue = orc_issue_warp(b, first, lanes), .op = k, .n = 1, .at_once = true,
		.actor = orc_singles(b->grid, 1)
	};
}

static void touched_as_one(struct orc_block *b, unsigned first, uint32_t lanes,
			   const struct orc_touch *touch)
{
	orc_issue_drop(touch->issue);
	orc_together(b, first, lanes, touch->actor);
}

void emu_oracle_cp_fenceproxy(struct emu_x *x, const struct emu_op *op, uint32_t lanes, uint64_t to,
			      uint64_t from)
{
	const struct orc_op *k = watched(x, op);
	struct orc_block *b = orc_block_of(x->b);
	unsigned first = x->w->index * EMU_LANES;
	struct orc_touch touch;

	if (!k)
		return;
	touch = touch_as_one(b, first, lanes, k);
	touch.read = true;
	orc_touch(&touch, 1 + b->number, (uint32_t)from & ((1u << EMU_RANK_SHIFT) - 1), 128);
	touch.read = false;
	touch.write = true;
	orc_touch(&touch, 0, to, 128);
	touched_as_one(b, first, lanes, &touch);
	EMU_EACH(l, lanes) {
		orc_map_release(&b->thread[first + l]);
		orc_fence(b, &b->thread[first + l], k);
	}
}

/* ---- products ------------------------------------------------------------------------------------ */

static void touch_map(const struct orc_touch *touch, uint64_t space, const uint8_t *map, uint64_t n)
{
	for (uint64_t i = 0, from; i < n; i++) {
		if (!map[i])
			continue;
		for (from = i; i < n && map[i]; i++)
			;
		orc_touch(touch, space, from, i - from);
	}
}

void emu_oracle_wgmma(struct emu_x *x, const struct emu_op *op, const uint8_t *map)
{
	const struct orc_op *k = watched(x, op);
	struct orc_block *b = orc_block_of(x->b);
	struct orc_thread *t;
	struct orc_touch touch;

	if (!k)
		return;
	t = orc_thread_of(x->w, 0);
	touch = (struct orc_touch){
		.issue = orc_issue_warp(b, t->index, EMU_ALL), .op = k, .read = true,
		.actor = ORC_ACTOR(ORC_WGMMA, t->id), .n = ++t->wgmma.issued, .proxy = ORC_ASYNC
	};
	touch_map(&touch, 1 + b->number, map, x->b->smem_bytes);
	orc_issue_drop(touch.issue);
}

bool emu_oracle_tc(struct orc_tc *c, struct emu_x *x, const struct emu_op *op, unsigned lane,
		   enum orc_tc_kind kind)
{
	static const enum orc_actor actors[] = {
		[ORC_TC_MMA] = ORC_TC, [ORC_TC_CP] = ORC_TC, [ORC_TC_LOAD] = ORC_TC_LD,
		[ORC_TC_STORE] = ORC_TC_ST
	};
	const struct orc_op *k = watched(x, op);
	struct orc_block *b = orc_block_of(x->b);
	bool warp = kind == ORC_TC_LOAD || kind == ORC_TC_STORE;
	struct orc_thread *t;

	if (!k)
		return false;
	c->t = t = orc_thread_of(x->w, lane);
	orc_settle(b->grid, t);
	c->touch = (struct orc_touch){
		.issue = warp ? orc_issue_warp(b, t->index, EMU_ALL) : orc_issue(b, t), .op = k,
		.actor = ORC_ACTOR(actors[kind], t->id), .proxy = ORC_ASYNC,
		.n = kind == ORC_TC_LOAD ? ++t->ld : kind == ORC_TC_STORE ? ++t->st : ++t->tc
	};
	return true;
}

void emu_oracle_tc_shared(struct orc_tc *c, const struct emu_block *b, const uint8_t *map)
{
	c->touch.read = true;
	c->touch.write = false;
	c->touch.pipe = 0;
	touch_map(&c->touch, 1 + orc_block_of(b)->number, map, b->smem_bytes);
}

void emu_oracle_tc_cells(struct orc_tc *c, const struct emu_block *b, const uint8_t *map,
			 unsigned cells, bool write, uint64_t pipe)
{
	c->touch.read = !write;
	c->touch.write = write;
	c->touch.pipe = pipe;
	touch_map(&c->touch, ORC_TMEM + orc_block_of(b)->number, map, cells);
}

void emu_oracle_tc_end(struct orc_tc *c)
{
	if (c->touch.actor >> 48 == ORC_TC)
		orc_tensor_done(c->t, ORC_ACTOR(ORC_TC_ISSUED, c->t->id), c->touch.n);
	orc_issue_drop(c->touch.issue);
}

void emu_oracle_tc_wait(struct emu_x *x, const struct emu_op *op, bool store)
{
	const struct orc_thread *first;
	uint32_t n;

	if (!watched(x, op))
		return;
	first = orc_thread_of(x->w, 0);
	n = store ? first->st : first->ld;
	for (unsigned l = 0; n && l < EMU_LANES; l++)
		orc_tensor_done(orc_thread_of(x->w, l), ORC_ACTOR(store ? ORC_TC_ST : ORC_TC_LD, first->id),
				n);
}

/* The warp writes the address of what it got, in its threads' name. */
void emu_oracle_tc_alloc(struct emu_x *x, const struct emu_op *op, uint64_t addr)
{
	const struct orc_op *k = watched(x, op);
	struct orc_block *b = orc_block_of(x->b);
	unsigned first = x->w->index * EMU_LANES;
	struct orc_touch touch;

	if (!k)
		return;
	touch = touch_as_one(b, first, EMU_ALL, k);
	touch.write = true;
	orc_touch(&touch, 1 + b->number, (uint32_t)addr & ((1u << EMU_RANK_SHIFT) - 1), 4);
	touched_as_one(b, first, EMU_ALL, &touch);
}

struct orc_mark emu_oracle_tc_mark(struct emu_x *x, const struct emu_op *op, unsigned lane,
				   const void *mbar)
{
	const struct orc_op *k = watched(x, op);
	struct orc_thread *t;

	if (!k)
		return (struct orc_mark){0, 0};
	t = orc_thread_of(x->w, lane);
	operand(x->b, t, k, mbar);
	return (struct orc_mark){ORC_ACTOR(ORC_TC, t->id), t->tc};
}

/* ---- what is told ------------------------------------------------------------------------------- */

void orc_hear(const struct emu_tell *e, const struct orc_op *k)
{
	switch (e->kind) {
	case TELL_CLUSTER_ARRIVE:
	case TELL_CLUSTER_WAIT:
		hear_cluster(e, k);
		break;
	default:
		break;
	}
}
