/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle_tell.c: from asynchronous operations, mbarriers, clusters and fences of
 * proxies to events of the oracle, as the emulated device tells of them: issue, arrival,
 * end of a phase, end of an operation, wait.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/async.h"
#include "emu/oracle_impl.h"
#include "emu/tcgen05.h"

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
	case INST_TCGEN05_DEALLOC:
	case INST_TCGEN05_COMMIT:
	case INST_BAR_WARP_SYNC:
	case INST_BAR:
	case INST_BARRIER:
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

/* ---- what is under way ------------------------------------------------------------------- */

/* Copies of which mbarriers will hear, and arrivals, by the number that they were told of with. */
struct orc_mark {
	struct orc_mark *chain;
	uint64_t serial, actor;
	uint32_t n;                     /* of an arrival: how many of its operations it stands for */
	unsigned left;                  /* times that it is still to be heard of */
};

static void mark(struct orc_grid *g, const struct orc_mark *m)
{
	struct orc_mark **at = &g->mark[m->serial % ORC_MARKS], *x = orc_alloc(1, sizeof *x);

	*x = *m;
	x->chain = *at;
	*at = x;
}

/* It is heard of, perhaps for the last time; false: nobody knows of it. */
static bool heard(struct orc_grid *g, uint64_t serial, struct orc_mark *out)
{
	struct orc_mark **at = &g->mark[serial % ORC_MARKS], *x;

	while ((x = *at) && x->serial != serial)
		at = &x->chain;
	if (!x)
		return false;
	*out = *x;
	if (--x->left)
		return true;
	*at = x->chain;
	free(x);
	return true;
}

void orc_marks_free(struct orc_grid *g)
{
	for (unsigned i = 0; i < ORC_MARKS; i++) {
		for (struct orc_mark *m = g->mark[i], *next; m; m = next) {
			next = m->chain;
			free(m);
		}
	}
}

/* ---- places ------------------------------------------------------------------------------ */

/* The block of the cluster in whose shared memory a byte of the process lies; NULL. */
static struct emu_block *owner_of(const struct emu_cluster *c, const void *p)
{
	for (unsigned r = 0; r < c->nblocks; r++) {
		struct emu_block *b = c->block[r];

		if ((const uint8_t *)p >= b->smem && (const uint8_t *)p < b->smem + b->smem_end)
			return b;
	}
	return NULL;
}

/* ---- mbarriers and the barrier of a cluster ------------------------------------------------ */

static void use(const struct emu_tell *e, const struct orc_op *k, unsigned lane, const struct emu_spot *spot,
		enum orc_use use)
{
	struct orc_block *b = orc_block_of(e->b);
	struct orc_thread *t = orc_thread_of(e->w, lane);

	orc_settle(b->grid, t);
	if (use != ORC_INIT && use != ORC_INVAL)
		orc_outside(b, k, ORC_ADDRESS_AT, 1 + orc_block_of(spot->owner)->number, spot->at, 8);
	orc_mbar(orc_block_of(spot->owner), spot->owner->smem + spot->at, spot->at, b, t, k, use);
}

/* Which phase it is of. */
static void use_phase(const struct emu_tell *e, const struct orc_op *k, unsigned l)
{
	const struct emu_tell_mbar *q = e->u.mbar;
	const void *p = q->spot[l].owner->smem + q->spot[l].at;
	const struct orc_thread *t = orc_thread_of(e->w, l);
	struct orc_awaited a = {q->state[l], q->parity, q->success >> l & 1};

	if (q->missing >> l & 1)
		return;
	if (q->what == EMU_MBAR_ARRIVE)
		orc_mbar_came(p, t, k, q->state[l]);
	else if (q->what == EMU_MBAR_WAIT)
		orc_mbar_waits(p, t, k, &a);
}

static void hear_mbar(const struct emu_tell *e, const struct orc_op *k)
{
	static const enum orc_use uses[] = {
		[EMU_MBAR_INIT] = ORC_INIT, [EMU_MBAR_INVAL] = ORC_INVAL, [EMU_MBAR_EXPECT_TX] = ORC_USE,
		[EMU_MBAR_COMPLETE_TX] = ORC_USE, [EMU_MBAR_ARRIVE] = ORC_ARRIVE, [EMU_MBAR_WAIT] = ORC_USE
	};
	const struct emu_tell_mbar *q = e->u.mbar;

	EMU_EACH(l, e->lanes | q->wrong) {
		const struct emu_spot *spot = &q->spot[l];

		if (!spot->owner)
			continue;
		if (e->lanes >> l & 1) {
			use(e, k, l, spot, (q->success & ~q->missing) >> l & 1 ? ORC_WAIT : uses[q->what]);
			use_phase(e, k, l);
		}
		if (q->wrong >> l & 1)
			use(e, k, l, spot, ORC_OVERFLOW);
		if (q->over >> l & 1)
			orc_mbar_over(spot->owner->smem + spot->at);
	}
}

/* PTX ISA, "barrier.cluster": each thread arrives once, and waits before it arrives again. */
static void in_step(struct orc_thread *t, const struct orc_op *arrives)
{
	struct orc_fact f = {
		.op = {arrives, t->clustered}, .may = ORC_MAY(ORC_BARRIER), .kind = ORC_BARRIER, .certain = true,
		.block = {t->block->number, t->block->number}, .thread = {t->index, t->index}
	};

	if (arrives && t->clustered)
		orc_say(&f);
	t->clustered = arrives;
}

static void hear_cluster(const struct emu_tell *e, const struct orc_op *k)
{
	struct orc_block *b = orc_block_of(e->b);

	EMU_EACH(l, e->lanes) {
		struct orc_thread *t = orc_thread_of(e->w, l);

		orc_settle(b->grid, t);
		in_step(t, e->kind == TELL_CLUSTER_ARRIVE ? k : NULL);
		if (e->kind == TELL_CLUSTER_ARRIVE)
			orc_phase_arrive(&b->first->cluster, b, t, k);
		else
			orc_cluster_wait(b, t, k);
	}
}

/* ---- cp.async -------------------------------------------------------------------------------- */

static void hear_cp(const struct emu_tell *e, const struct orc_op *k)
{
	const struct emu_tell_cp *q = e->u.cp;
	struct orc_block *b = orc_block_of(e->b);

	EMU_EACH(l, e->lanes & ~q->folded) {
		struct orc_thread *t = orc_thread_of(e->w, l);
		struct orc_touch touch;
		uint64_t space, addr;

		orc_settle(b->grid, t);
		touch = (struct orc_touch){
			.issue = orc_issue(b, t), .op = k, .actor = ORC_ACTOR(ORC_CP_ASYNC, t->id),
			.n = ++t->cp.issued, .read = true
		};
		if (q->read[l])
			orc_touch(&touch, 0, q->from[l], q->read[l]);
		touch.read = false;
		touch.write = true;
		if (orc_space_of(e->b, q->to_base, q->to[l], &space, &addr))
			orc_touch(&touch, space, addr, q->size);
		orc_issue_drop(touch.issue);
	}
}

static void hear_cp_arrive(const struct emu_tell *e, const struct orc_op *k)
{
	const struct emu_tell_cp_arrive *q = e->u.cp_arrive;

	EMU_EACH(l, e->lanes) {
		const struct orc_thread *t = orc_thread_of(e->w, l);

		use(e, k, l, &q->spot[l], ORC_USE);
		if (t->cp.issued && q->serial[l])
			mark(t->block->grid, &(struct orc_mark){
				.serial = q->serial[l], .actor = ORC_ACTOR(ORC_CP_ASYNC, t->id),
				.n = t->cp.issued, .left = 1
			});
	}
}

static void hear_arrived(const struct emu_tell *e)
{
	struct orc_mark m;
	bool tensor;

	if (!heard(orc_block_of(e->b)->grid, e->u.arrived->serial, &m))
		return;
	tensor = m.actor >> 48 == ORC_TC;
	orc_mbar_done(e->u.arrived->object, m.actor, m.n, tensor, tensor);
}

/* ---- groups ------------------------------------------------------------------------------------ */

static struct orc_groups *groups_of(struct orc_thread *t, enum emu_list list)
{
	return list == EMU_LIST_CP ? &t->cp : list == EMU_LIST_BULK ? &t->bulk : &t->wgmma;
}

/* Those of wgmma are the warp's, of its first thread. */
static void hear_commit(const struct emu_tell *e)
{
	enum emu_list list = e->u.groups->list;

	EMU_EACH(l, list == EMU_LIST_WGMMA ? 1 : e->lanes)
		orc_commit(groups_of(orc_thread_of(e->w, l), list));
}

static void hear_group_wait(const struct emu_tell *e)
{
	enum emu_list list = e->u.groups->list;
	uint32_t left = e->u.groups->left;

	EMU_EACH(l, e->lanes) {
		struct orc_thread *t = orc_thread_of(e->w, l);
		enum orc_actor kind = list == EMU_LIST_CP ? ORC_CP_ASYNC : ORC_BULK_READ;
		uint32_t n;

		orc_settle(orc_block_of(e->b)->grid, t);
		if (list == EMU_LIST_WGMMA) {
			n = orc_thread_of(e->w, 0)->wgmma.n;
			t->wgmma_waited = n > left ? n - left : 0;
			if (!orc_choices.no_retire)
				orc_wgmma_done(t, t->wgmma_waited);
			continue;
		}
		n = orc_grouped(groups_of(t, list), left);
		if (!n)
			continue;
		orc_done(t, ORC_ACTOR(kind, t->id), n);
		if (list == EMU_LIST_BULK && !e->u.groups->read)
			orc_done(t, ORC_ACTOR(ORC_BULK_WRITE, t->id), n);
	}
}

/* ---- copies ------------------------------------------------------------------------------------- */

/* The space of a byte of the process, and its address there. */
static uint64_t space_of(const struct emu_block *owner, const uint8_t *p, uint64_t *addr)
{
	*addr = owner ? (uint64_t)(p - owner->smem) : emu_address(p);
	return owner ? 1 + orc_block_of(owner)->number : 0;
}

/* All that the operation reads, or writes at one place; neighbouring pieces are one. */
static void touch_pieces(const struct emu_async *a, struct orc_touch *touch,
			 const struct emu_landing *land)
{
	touch->whole = 0;
	for (unsigned i = 0; i < a->n; i++)
		touch->whole += a->piece[i].n;
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
	const uint64_t at = (uint64_t)((const uint8_t *)mbar - owner->smem);
	bool one = k->in->id == INST_ST_ASYNC || k->in->id == INST_RED_ASYNC || k->in->id == INST_CLUSTERLAUNCHCONTROL_TRY_CANCEL;

	orc_outside(orc_block_of(b), k, one ? ORC_ADDRESS_FROM : ORC_ADDRESS_MBAR, 1 + orc_block_of(owner)->number, at, 8);
	orc_mbar(orc_block_of(owner), mbar, at, orc_block_of(b), t, k, ORC_OPERAND);
}

static void copied(struct emu_async *a, const struct orc_op *k)
{
	struct orc_block *b = orc_block_of(a->block);
	struct orc_thread *t = orc_thread_of(a->warp, a->lane);
	struct orc_touch touch;
	uint64_t first = 0;             /* the actor that reads; those that write follow */

	orc_settle(b->grid, t);
	/* PTX ISA, "st.async", "red.async": to global memory they are release operations of
	 * their thread. */
	if (a->generic && !a->land[0].mbar) {
		uint64_t addr, space = space_of(a->land[0].block, a->piece[0].dst, &addr);

		orc_strong_access(b, t, k, space, addr);
		return;
	}
	for (unsigned i = 0; i < a->nland; i++)
		if (a->land[i].mbar)
			operand(a->block, t, k, a->land[i].mbar);
	touch = (struct orc_touch){
		.issue = orc_issue(b, t), .op = k, .n = 1, .read = true,
		.proxy = a->generic ? ORC_GENERIC : ORC_ASYNC
	};
	touch.issue->what = a->what;
	if (a->grouped) {
		touch.n = ++t->bulk.issued;
		touch.actor = ORC_ACTOR(ORC_BULK_READ, t->id);
	} else {
		touch.actor = first = orc_singles(b->grid, 1 + a->nland);
		mark(b->grid, &(struct orc_mark){.serial = a->serial, .actor = first, .left = a->nland});
	}
	for (unsigned i = 0; i < a->nland; i++)
		if (a->land[i].mbar)
			orc_mbar_flies(a->land[i].mbar, first + 1 + i, k);
	touch_pieces(a, &touch, NULL);
	if (a->map) {
		touch.whole = 0;
		touch.proxy = ORC_MAPS;
		touch.pipe = a->map;
		orc_touch(&touch, 0, a->map, 128);
		orc_map_used(touch.issue, k, a->map);
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
		touch.actor = a->grouped ? ORC_ACTOR(ORC_BULK_WRITE, t->id) : first + 1 + i;
		touch_pieces(a, &touch, &a->land[i]);
	}
	orc_issue_drop(touch.issue);
}

static void hear_copy(const struct emu_tell *e, const struct orc_op *k)
{
	EMU_EACH(l, e->lanes)
		if (e->u.copy->async[l])
			copied(e->u.copy->async[l], k);
}

static void hear_landed(const struct emu_tell *e)
{
	const struct emu_tell_landed *q = e->u.landed;
	const uint64_t *mbar = q->async->land[q->land].mbar;
	struct orc_block *by = orc_block_of(e->b);
	struct orc_mark m;

	if (!heard(by->grid, q->async->serial, &m))
		return;
	orc_mbar_brought(mbar, m.actor, by);
	orc_mbar_brought(mbar, m.actor + 1 + q->land, by);
	orc_mbar_lands(mbar);
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

static void hear_tmap_copy(const struct emu_tell *e, const struct orc_op *k)
{
	const struct emu_tell_tmap_copy *q = e->u.tmap_copy;
	struct orc_block *b = orc_block_of(e->b);
	unsigned first = e->w->index * EMU_LANES;
	struct orc_touch touch = touch_as_one(b, first, e->lanes, k);

	touch.read = true;
	orc_touch(&touch, 1 + b->number, (uint32_t)q->from & ((1u << EMU_RANK_SHIFT) - 1), 128);
	touch.read = false;
	touch.write = true;
	orc_touch(&touch, 0, q->to, 128);
	touched_as_one(b, first, e->lanes, &touch);
	EMU_EACH(l, e->lanes) {
		orc_map_release(&b->thread[first + l]);
		orc_fence(b, &b->thread[first + l], k);
	}
}

/* ---- products ------------------------------------------------------------------------------------ */

static void touch_map(struct orc_touch *touch, uint64_t space, const uint8_t *map, uint64_t n)
{
	unsigned each = space >= ORC_TMEM ? 4 : 1;

	touch->whole = 0;
	for (uint64_t i = 0; i < n; i++)
		touch->whole += map[i] ? each : 0;
	for (uint64_t i = 0, from; i < n; i++) {
		if (!map[i])
			continue;
		for (from = i; i < n && map[i]; i++)
			;
		orc_touch(touch, space, from, i - from);
	}
}

static void hear_wgmma(const struct emu_tell *e, const struct orc_op *k)
{
	struct orc_block *b = orc_block_of(e->b);
	struct orc_thread *t = orc_thread_of(e->w, 0);
	uint8_t *map = orc_alloc(e->b->smem_bytes, 1);
	struct orc_touch touch = {
		.issue = orc_issue_warp(b, t->index, EMU_ALL), .op = k, .read = true,
		.actor = ORC_ACTOR(ORC_WGMMA, t->id), .n = ++t->wgmma.issued, .proxy = ORC_ASYNC
	};

	emu_wgmma_reach(e, map);
	touch_map(&touch, 1 + b->number, map, e->b->smem_bytes);
	orc_issue_drop(touch.issue);
	free(map);
}

/* What an operation of tcgen05 touches, and whose it is. */
struct part { struct orc_touch touch; const struct orc_thread *by; };

/* PTX ISA, "tcgen05.dealloc": columns that were freed are nobody's.  An access that does not come behind that races. */
static void used_freed(const struct part *p, const struct orc_block *b, const uint8_t *map)
{
	for (unsigned u = 0; u < 16; u++) {
		const struct orc_gone *gone = &b->used_to[u];
		bool uses = false;
		struct orc_fact f = {
			.op = {p->touch.op, gone->op}, .may = ORC_MAY(ORC_LIFETIME), .kind = ORC_LIFETIME, .certain = true,
			.block = {p->by->block->number, b->number}, .thread = {p->by->index, gone->thread},
			.space = ORC_TMEM + b->number, .addr = u * 32
		};

		for (unsigned i = 0; gone->op && i < EMU_TC_LANES * 32 && !uses; i++)
			uses = map[i / 32 * EMU_TC_COLUMNS + u * 32 + i % 32];
		f.moot = orc_get(p->by->o[ORC_LEAST].know.v[ORC_ALL], gone->actor) < 1;
		if (uses)
			orc_say(&f);
	}
}

/* A part of that. */
static void touch_part(void *arg, const struct emu_tc_reach *r)
{
	static const uint64_t pipes[] = {
		[EMU_TC_OPERANDS] = 0, [EMU_TC_A] = ORC_PIPE_A, [EMU_TC_SCALES] = ORC_PIPE_SCALE,
		[EMU_TC_D] = ORC_PIPE_D, [EMU_TC_COPIED] = ORC_PIPE_COPY, [EMU_TC_REGISTERS] = 0
	};
	struct part *part = arg;
	struct orc_touch *touch = &part->touch;
	uint64_t number = orc_block_of(r->b)->number;

	touch->read = !r->write;
	touch->write = r->write;
	touch->pipe = pipes[r->role] + r->accumulator;
	touch_map(touch, r->role == EMU_TC_OPERANDS ? 1 + number : ORC_TMEM + number, r->map, r->n);
	if (r->role != EMU_TC_OPERANDS)
		used_freed(part, orc_block_of(r->b), r->map);
}

static void hear_tc_issue(const struct emu_tell *e, const struct orc_op *k)
{
	struct orc_block *b = orc_block_of(e->b);

	EMU_EACH(l, e->lanes) {
		const struct emu_tc_item *it = emu_tc_item_of(e, l);
		struct orc_thread *t = orc_thread_of(e->w, l);
		struct part part = {.by = t};

		if (it->kind == EMU_TC_ARRIVAL) {
			for (unsigned i = 0; i < it->nmbar; i++)
				operand(e->b, t, k, it->mbar[i]);
			if (t->tc)
				mark(b->grid, &(struct orc_mark){
					.serial = it->serial, .actor = ORC_ACTOR(ORC_TC, t->id), .n = t->tc,
					.left = it->nmbar
				});
			continue;
		}
		orc_settle(b->grid, t);
		part.touch = (struct orc_touch){
			.issue = orc_issue(b, t), .op = k, .actor = ORC_ACTOR(ORC_TC, t->id),
			.proxy = ORC_ASYNC, .n = ++t->tc
		};
		emu_tc_reach(e, l, touch_part, &part);
		orc_tensor_done(t, ORC_ACTOR(ORC_TC_ISSUED, t->id), part.touch.n);
		orc_issue_drop(part.touch.issue);
	}
}

static void hear_tc_access(const struct emu_tell *e, const struct orc_op *k)
{
	bool store = k->in->id == INST_TCGEN05_ST;
	struct orc_block *b = orc_block_of(e->b);
	struct orc_thread *t = orc_thread_of(e->w, 0);
	struct part part = {.by = t};

	orc_settle(b->grid, t);
	part.touch = (struct orc_touch){
		.issue = orc_issue_warp(b, t->index, EMU_ALL), .op = k,
		.actor = ORC_ACTOR(store ? ORC_TC_ST : ORC_TC_LD, t->id), .proxy = ORC_ASYNC,
		.n = store ? ++t->st : ++t->ld
	};
	emu_tc_reach(e, 0, touch_part, &part);
	orc_issue_drop(part.touch.issue);
}

/* What is over goes along with all that the thread knows, for who ends the allocation. */
static void tensor_done(struct orc_thread *t, uint64_t actor, uint32_t n)
{
	orc_tensor_done(t, actor, n);
	for (enum orc_world w = 0; w < ORC_WORLDS; w++)
		orc_raise(&t->o[w].know.v[ORC_ALL], actor, n);
}

static void hear_tc_wait(const struct emu_tell *e, const struct orc_op *k)
{
	bool store = k->in->id == INST_TCGEN05_WAIT_ST;
	const struct orc_thread *first = orc_thread_of(e->w, 0);
	uint32_t n = store ? first->st : first->ld;

	for (unsigned l = 0; n && l < EMU_LANES; l++)
		tensor_done(orc_thread_of(e->w, l), ORC_ACTOR(store ? ORC_TC_ST : ORC_TC_LD, first->id), n);
}

static void misroomed(const struct orc_block *b, const struct orc_come *now, const struct orc_come *before, unsigned unit)
{
	struct orc_fact f = {
		.op = {now->op, before ? before->op : NULL}, .may = ORC_MAY(ORC_LIFETIME), .kind = ORC_LIFETIME, .certain = true,
		.block = {b->number, b->number}, .thread = {now->thread, (before ? before : now)->thread},
		.space = ORC_TMEM + b->number, .addr = unit * 32
	};

	orc_say(&f);
}

/* PTX ISA, "tcgen05.dealloc": what was allocated is freed before the kernel ends, once. */
static void hear_room(const struct emu_tell *e, const struct orc_op *k)
{
	struct orc_block *b = orc_block_of(e->b);
	unsigned unit = (e->u.room->at & 0xffff) / 32 % 16;
	struct orc_come *has = &b->room[unit], *left = &b->left_room[unit], now = {k, e->w->index * EMU_LANES, true};

	if (e->kind == TELL_TC_ALLOC) {
		*has = now;
		left->op = NULL;
		return;
	}
	if (!has->op && left->op)
		misroomed(b, &now, left, unit);
	has->op = NULL;
	*left = now;
}

void orc_rooms_end(const struct orc_block *b)
{
	for (unsigned u = 0; u < 16; u++)
		if (b->room[u].op)
			misroomed(b, &b->room[u], NULL, u);
}

/* The warp writes the address of what it got, in its threads' name. */
static void hear_tc_alloc(const struct emu_tell *e, const struct orc_op *k)
{
	struct orc_block *b = orc_block_of(e->b);
	unsigned first = e->w->index * EMU_LANES;
	struct orc_touch touch = touch_as_one(b, first, EMU_ALL, k);

	touch.write = true;
	orc_touch(&touch, 1 + b->number, (uint32_t)e->u.room->addr & ((1u << EMU_RANK_SHIFT) - 1), 4);
	touched_as_one(b, first, EMU_ALL, &touch);
	for (unsigned u = e->u.room->at / 32; u < (e->u.room->at + e->u.room->columns) / 32; u++)
		b->used_to[u % 16].op = NULL;
	/* What it got, others have given up. */
	for (unsigned l = 0; l < EMU_LANES; l++)
		for (enum orc_world w = 0; w < ORC_WORLDS; w++)
			orc_learn(&b->thread[first + l].o[w].know.v[ORC_ALL], b->freed);
}

/* PTX ISA, "tcgen05.dealloc": it is not asynchronous; all that was done there is over by then. */
static void hear_tc_dealloc(const struct emu_tell *e, const struct orc_op *k)
{
	uint8_t *map = orc_alloc(EMU_TC_LANES * EMU_TC_COLUMNS, 1);
	struct orc_block *b = orc_block_of(e->b);
	unsigned first = e->w->index * EMU_LANES;
	struct orc_touch touch = touch_as_one(b, first, EMU_ALL, k);

	for (unsigned l = 0; l < EMU_TC_LANES; l++)
		memset(map + l * EMU_TC_COLUMNS + (e->u.room->at & 0xffff), 1, e->u.room->columns);
	touch.write = touch.frees = true;
	touch.proxy = ORC_ASYNC;
	touch_map(&touch, ORC_TMEM + b->number, map, EMU_TC_LANES * EMU_TC_COLUMNS);
	orc_raise(&b->freed, touch.actor, touch.n);
	for (unsigned u = (e->u.room->at & 0xffff) / 32; u < ((e->u.room->at & 0xffff) + e->u.room->columns + 31) / 32; u++)
		b->used_to[u % 16] = (struct orc_gone){k, touch.actor, first};
	touched_as_one(b, first, EMU_ALL, &touch);
	free(map);
}

/* ---- what is told ------------------------------------------------------------------------------- */

void orc_hear_late(const struct emu_tell *e)
{
	if (e->kind == TELL_LANDED)
		hear_landed(e);
	else
		hear_arrived(e);
}

void orc_hear(const struct emu_tell *e, const struct orc_op *k)
{
	switch (e->kind) {
	case TELL_CLUSTER_ARRIVE:
	case TELL_CLUSTER_WAIT:
		hear_cluster(e, k);
		break;
	case TELL_MBAR:
		hear_mbar(e, k);
		break;
	case TELL_CP_ASYNC:
		hear_cp(e, k);
		break;
	case TELL_CP_ARRIVE:
		hear_cp_arrive(e, k);
		break;
	case TELL_GROUP_COMMIT:
		hear_commit(e);
		break;
	case TELL_GROUP_WAIT:
		hear_group_wait(e);
		break;
	case TELL_COPY:
		hear_copy(e, k);
		break;
	case TELL_WGMMA:
		hear_wgmma(e, k);
		break;
	case TELL_TC_ISSUE:
		hear_tc_issue(e, k);
		break;
	case TELL_TC_ACCESS:
		hear_tc_access(e, k);
		break;
	case TELL_TC_WAIT:
		hear_tc_wait(e, k);
		break;
	case TELL_TC_ALLOC:
		hear_room(e, k);
		hear_tc_alloc(e, k);
		break;
	case TELL_TC_DEALLOC:
		hear_room(e, k);
		hear_tc_dealloc(e, k);
		break;
	case TELL_TMAP_COPY:
		hear_tmap_copy(e, k);
		break;
	default:
		break;
	}
}
