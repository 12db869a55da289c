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
	case INST_RED_ASYNC:
	case INST_TENSORMAP_CP_FENCEPROXY:
	case INST_CLUSTERLAUNCHCONTROL_TRY_CANCEL:
		k->tells = true;
		return true;
	case INST_ST_ASYNC:
		k->tells = true;
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

void orc_other_done(struct emu_x *x, const struct emu_op *op, const struct orc_op *k, unsigned lane)
{
	struct orc_block *b = x->b->oracle;
	struct orc_thread *t = orc_thread_of(x->w, lane);

	if (k->in->id != INST_FENCE_PROXY_TENSORMAP_GENERIC) {
		orc_proxy_fence(b, t, k);
		return;
	}
	orc_fence(b, t, k);
	if (k->release)
		orc_map_release(t);
	else
		orc_map_acquire(b, t, emu_addr_of(x, &op->u.mem, lane));
}

/* ---- places ------------------------------------------------------------------------------ */

static const struct orc_op *watched(struct emu_x *x, const struct emu_op *op)
{
	return orc_mine(x->b, op) ? orc_op_of(op) : NULL;
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
	orc_settle(x->b->oracle->grid, t);
	orc_mbar(owner->oracle, p, (uint64_t)((const uint8_t *)p - owner->smem), x->b->oracle, t, k, use);
}

void emu_oracle_mbar_over(const void *p)
{
	orc_mbar_over(p);
}

void emu_oracle_cluster_arrive(struct emu_x *x, const struct emu_op *op, unsigned lane)
{
	const struct orc_op *k = watched(x, op);
	struct orc_thread *t;

	if (!k)
		return;
	t = orc_thread_of(x->w, lane);
	orc_settle(x->b->oracle->grid, t);
	orc_phase_arrive(&x->b->oracle->first->cluster, x->b->oracle, t, k);
}

void emu_oracle_cluster_over(struct emu_cluster *c)
{
	if (c->block[0]->oracle)
		orc_phase_over(&c->block[0]->oracle->cluster);
}

void emu_oracle_cluster_wait(struct emu_x *x, const struct emu_op *op, unsigned lane)
{
	const struct orc_op *k = watched(x, op);
	struct orc_thread *t;

	if (!k)
		return;
	t = orc_thread_of(x->w, lane);
	orc_settle(x->b->oracle->grid, t);
	orc_cluster_wait(x->b->oracle, t, k);
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
	orc_settle(x->b->oracle->grid, t);
	touch = (struct orc_touch){
		.issue = orc_issue(x->b->oracle, t), .op = k,
		.actor = ORC_ACTOR(ORC_CP_ASYNC, t->id), .n = ++t->cp.issued, .read = true
	};
	if (read)
		orc_touch(&touch, 0, from, read);
	touch.read = false;
	touch.write = true;
	orc_touch(&touch, 1 + owner->oracle->number, (uint32_t)to & ((1u << EMU_RANK_SHIFT) - 1), op->size);
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
		struct orc_thread *t = orc_thread_of(x->w, l), *of = t;
		enum orc_actor kind = list == ORC_LIST_CP ? ORC_CP_ASYNC : ORC_BULK_READ;
		uint32_t n;

		if (list == ORC_LIST_WGMMA) {
			kind = ORC_WGMMA;
			of = orc_thread_of(x->w, 0);
		}
		orc_settle(x->b->oracle->grid, t);
		n = orc_grouped(groups_of(of, list), left);
		if (!n)
			continue;
		orc_done(t, ORC_ACTOR(kind, of->id), n);
		if (list == ORC_LIST_BULK && !read)
			orc_done(t, ORC_ACTOR(ORC_BULK_WRITE, of->id), n);
	}
}

/* ---- copies ------------------------------------------------------------------------------------- */

/* The space of a byte of the process, and its address there. */
static uint64_t space_of(const struct emu_block *owner, const uint8_t *p, uint64_t *addr)
{
	*addr = owner ? (uint64_t)(p - owner->smem) : (uint64_t)(uintptr_t)p;
	return owner ? 1 + owner->oracle->number : 0;
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

void emu_oracle_async(struct emu_async *a)
{
	const struct orc_op *k = orc_mine(a->block, a->op) ? orc_op_of(a->op) : NULL;
	struct orc_block *b = a->block->oracle;
	struct orc_touch touch;
	struct orc_thread *t;

	if (!k)
		return;
	t = orc_thread_of(a->warp, a->lane);
	orc_settle(b->grid, t);
	for (unsigned i = 0; i < a->nland; i++) {
		const struct emu_landing *land = &a->land[i];
		const struct emu_block *owner = land->mbar ? owner_of(a->block->cluster, land->mbar) :
							     NULL;

		if (owner)
			orc_mbar(owner->oracle, land->mbar, (uint64_t)((uint8_t *)land->mbar - owner->smem),
				 b, t, k, ORC_OPERAND);
	}
	touch = (struct orc_touch){
		.issue = orc_issue(b, t), .op = k, .n = 1, .read = true,
		.proxy = a->generic ? ORC_GENERIC : ORC_ASYNC
	};
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
	orc_mbar_done(land->mbar, a->actor, 1, false, false);
	orc_mbar_done(land->mbar, a->actor + 1 + (uint64_t)(land - a->land), 1, false, false);
}

void emu_oracle_cp_fenceproxy(struct emu_x *x, const struct emu_op *op, uint32_t lanes, uint64_t to,
			      uint64_t from)
{
	const struct orc_op *k = watched(x, op);
	struct orc_block *b = x->b->oracle;
	unsigned first = x->w->index * EMU_LANES;
	struct orc_touch touch;

	if (!k)
		return;
	touch = (struct orc_touch){
		.issue = orc_issue_warp(b, first, lanes), .op = k, .n = 1, .read = true,
		.actor = orc_singles(b->grid, 1)
	};
	orc_touch(&touch, 1 + b->number, (uint32_t)from & ((1u << EMU_RANK_SHIFT) - 1), 128);
	touch.read = false;
	touch.write = true;
	orc_touch(&touch, 0, to, 128);
	orc_issue_drop(touch.issue);
	orc_together(b, first, lanes, touch.actor);
	EMU_EACH(l, lanes) {
		orc_fence(b, &b->thread[first + l], k);
		orc_map_release(&b->thread[first + l]);
	}
}
