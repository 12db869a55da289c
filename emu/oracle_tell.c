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
		k->tells = true;
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
	(void)x;
	(void)op;
	(void)k;
	(void)lane;
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
		orc_mbar_done(mbar, mark.actor, mark.n, tensor);
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
