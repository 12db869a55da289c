/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_async.c: cp.async.  Each lane has a list of copies under way and, between
 * them, arrivals at mbarriers that come when all copies before them are done.  A
 * wait carries out what it waits for; everything else goes on at moments of the
 * seed's choosing, in any order, reading and writing apart.  With seed 0 copies
 * are as late as they can be.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/async.h"
#include "emu/listen.h"

struct copy {
	uint8_t *dst;
	const uint8_t *src;             /* NULL: there is nothing left to read */
	uint64_t *mbar;                 /* an arrival, and no copy */
	uint8_t bytes, from_src;        /* the rest is filled with zeros */
	bool done;
	uint8_t staged[16];
	uint32_t group;
	uint64_t serial;                /* of an arrival, for who listens */
};

struct emu_lane_copies {
	struct emu_warp *warp;
	struct copy *list;
	unsigned n, cap, arrivals;
	uint32_t group;                 /* number of the group that is open */
};

static struct emu_copies *listed;
uint64_t emu_copies_due = UINT64_MAX;

struct emu_copies *emu_copies_of(struct emu_warp *w)
{
	if (!w->copies) {
		w->copies = calloc(1, sizeof *w->copies);
		if (!w->copies)
			abort();
		w->copies->warp = w;
	}
	return w->copies;
}

static struct emu_lane_copies *lane_of(struct emu_warp *w, unsigned l)
{
	struct emu_copies *c = emu_copies_of(w);

	if (!c->lane) {
		c->lane = calloc(EMU_LANES, sizeof *c->lane);
		if (!c->lane)
			abort();
		for (unsigned i = 0; i < EMU_LANES; i++)
			c->lane[i].warp = w;
	}
	return &c->lane[l];
}

/* ---- one copy ------------------------------------------------------------------------ */

static void read_source(struct copy *c)
{
	if (c->src)
		memcpy(c->staged, c->src, c->from_src);
	c->src = NULL;
}

static void finish(struct copy *c)
{
	if (c->done || c->mbar)
		return;
	read_source(c);
	memcpy(c->dst, c->staged, c->bytes);
	c->done = true;
}

/* Arrivals that nothing holds back any more happen; what is done leaves the list. */
static void settle(struct emu_lane_copies *q)
{
	unsigned i, kept = 0;
	bool all = true;

	for (i = 0; i < q->n; i++) {
		struct copy *c = &q->list[i];

		if (c->mbar && all) {
			if (emu_listening)
				emu_tell(&(struct emu_tell){
					.kind = TELL_ARRIVED, .b = q->warp->block, .w = q->warp,
					.u.arrived = &(struct emu_tell_arrived){c->serial, c->mbar}
				});
			emu_mbar_arrive(c->mbar);
			q->arrivals--;
			continue;
		}
		if (c->done)
			continue;
		all = false;
		if (kept != i)
			q->list[kept] = *c;
		kept++;
	}
	q->n = kept;
}

static void finish_groups(struct emu_lane_copies *q, uint32_t before)
{
	if (!q->n)
		return;
	for (unsigned i = 0; i < q->n; i++)
		if (q->list[i].group < before)
			finish(&q->list[i]);
	settle(q);
}

/* ---- going on by themselves ------------------------------------------------------------ */

static void list(struct emu_warp *w)
{
	struct emu_copies *c = w->copies;

	if (c->listed)
		return;
	c->listed = true;
	c->due = emu_async_delay();
	c->next = listed;
	listed = c;
	if (c->due < emu_copies_due)
		emu_copies_due = c->due;
	if (c->due < emu_m.async_due)
		emu_m.async_due = c->due;
}

/* With seed 0, up to the last arrival: somebody may be waiting for it. */
static void go_on(struct emu_lane_copies *q, bool all)
{
	if (!q->n)
		return;
	if (!emu_m.seed) {
		if (q->arrivals)
			finish_groups(q, UINT32_MAX);
		return;
	}
	if (!all) {
		struct copy *c = &q->list[emu_random() % q->n];

		if (emu_random() & 1)
			read_source(c);
		else
			finish(c);
		settle(q);
		return;
	}
	finish_groups(q, UINT32_MAX);
}

static bool any_left(const struct emu_copies *c)
{
	for (unsigned l = 0; l < EMU_LANES; l++)
		if (c->lane[l].n)
			return true;
	return false;
}

void emu_copies_run(void)
{
	struct emu_copies **p = &listed, *c;

	emu_copies_due = UINT64_MAX;
	while ((c = *p)) {
		if (c->due <= emu_m.steps) {
			bool all = emu_async_chance(4);

			for (unsigned l = 0; l < EMU_LANES; l++)
				if (!emu_m.seed || all || emu_random() % 4 == 0)
					go_on(&c->lane[l], all);
			if (!any_left(c)) {
				c->listed = false;
				*p = c->next;
				continue;
			}
			c->due = emu_async_delay();
		}
		if (c->due < emu_copies_due)
			emu_copies_due = c->due;
		p = &c->next;
	}
}

static void unlist(struct emu_copies *c)
{
	struct emu_copies **p = &listed;

	if (!c->listed)
		return;
	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	c->listed = false;
}

void emu_copies_finish(struct emu_warp *w, uint32_t m)
{
	struct emu_copies *c = w->copies;

	if (!c)
		return;
	emu_late_forget(w, m);
	emu_wgmma_drop(c);
	emu_tc_forget(c);
	EMU_EACH(l, m) {
		c->bulk_group[l] = 0;
		if (!c->lane)
			continue;
		finish_groups(&c->lane[l], UINT32_MAX);
		c->lane[l].group = 0;
	}
}

void emu_copies_abandon(void)
{
	while (listed)
		unlist(listed);
	emu_copies_due = UINT64_MAX;
}

void emu_copies_free(struct emu_warp *w)
{
	struct emu_copies *c = w->copies;

	if (!c)
		return;
	unlist(c);
	for (unsigned l = 0; c->lane && l < EMU_LANES; l++)
		free(c->lane[l].list);
	free(c->lane);
	emu_late_free(c);
	emu_wgmma_free(c);
	emu_tc_free(c);
	free(c);
	w->copies = NULL;
}

/* ---- the instructions ------------------------------------------------------------------ */

static struct copy *put(struct emu_warp *w, unsigned l)
{
	struct emu_lane_copies *q = lane_of(w, l);

	if (q->n == q->cap) {
		q->cap = q->cap ? q->cap * 2 : 8;
		q->list = realloc(q->list, q->cap * sizeof *q->list);
		if (!q->list)
			abort();
	}
	q->list[q->n] = (struct copy){.group = q->group};
	return &q->list[q->n++];
}

/* Does lane `l` copy what an earlier one of `m` does, to the same place?  (memory-model.md 2.4, AMB-19) */
static bool again(struct emu_x *x, const struct emu_op *op, const struct emu_addr *from, uint32_t m, unsigned l)
{
	EMU_EACH(e, m & ((1u << l) - 1))
		if (emu_addr_of(x, &op->u.mem, e) == emu_addr_of(x, &op->u.mem, l) &&
		    emu_addr_of(x, from, e) == emu_addr_of(x, from, l) &&
		    emu_get(x, op->o[0], e) == emu_get(x, op->o[0], l))
			return !(op->flags & EMU_F_IGNORE_SRC);
	return false;
}

static struct emu_addr source(const struct emu_op *op)
{
	return (struct emu_addr){
		.base = op->kind, .reg = op->o[1], .off = (int64_t)(int32_t)op->imm
	};
}

/* What each lane of a cp.async copies. */
struct copied { uint64_t to[EMU_LANES], from[EMU_LANES], read[EMU_LANES]; };

static void tell_copy(struct emu_x *x, const struct emu_op *op, uint32_t m, const struct copied *c)
{
	struct emu_tell t = emu_tell_of(TELL_CP_ASYNC, x, op, m, x->mask);
	struct emu_addr from = source(op);
	struct emu_tell_cp cp = {
		.to_base = op->u.mem.base, .from_base = from.base, .to = c->to, .from = c->from,
		.size = op->size, .read = c->read
	};

	EMU_EACH(l, m)
		cp.folded |= (uint32_t)again(x, op, &from, m, l) << l;
	t.u.cp = &cp;
	emu_tell(&t);
}

/* False: a fault. */
static bool copy_lane(struct emu_x *x, const struct emu_op *op, unsigned l, struct copied *done)
{
	struct emu_addr from = source(op);
	uint64_t to = emu_addr_of(x, &op->u.mem, l), a = emu_addr_of(x, &from, l);
	uint64_t n = emu_get(x, op->o[0], l);
	uint8_t *dst = emu_at(x, l, op->u.mem.base, to, op->size);
	const uint8_t *src = NULL;
	struct copy *c;

	if (!dst) {
		emu_access_fault(x, op, l, to, op->size, op->u.mem.base);
		return false;
	}
	if (op->flags & EMU_F_IGNORE_SRC)
		n = n & 1 ? 0 : op->size;
	if (n > op->size) {
		emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION, "%llu bytes of a source of %u",
			  (unsigned long long)n, op->size);
		return false;
	}
	if (n) {
		src = emu_at(x, l, from.base, a, op->size);
		if (!src) {
			emu_access_fault(x, op, l, a, op->size, from.base);
			return false;
		}
	}
	c = put(x->w, l);
	c->dst = dst;
	c->src = src;
	c->bytes = op->size;
	c->from_src = (uint8_t)n;
	done->to[l] = to;
	done->from[l] = a;
	done->read[l] = n;
	return true;
}

/* o[]: bytes to read, or a predicate to read none; then the source's address.
 * imm: bytes to write. */
static const struct emu_op *cp_async(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct copied copied;
	uint32_t done = 0;

	EMU_EACH(l, m) {
		if (!copy_lane(x, op, l, &copied))
			break;
		done |= 1u << l;
	}
	if (done && emu_tells(op))
		tell_copy(x, op, done, &copied);
	if (emu_m.fault)
		return NULL;
	if (emu_m.seed)
		list(x->w);
	return op + 1;
}

static const struct emu_op *commit(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	EMU_EACH(l, m)
		lane_of(x->w, l)->group++;
	if (emu_tells(op))
		emu_tell_groups(TELL_GROUP_COMMIT, x, op, m, &(struct emu_tell_groups){.list = EMU_LIST_CP});
	return op + 1;
}

/* Waits for all groups but the last imm; imm ~0: for everything. */
static const struct emu_op *wait_group(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	EMU_EACH(l, m) {
		struct emu_lane_copies *q = lane_of(x->w, l);

		if (op->imm == UINT32_MAX)
			finish_groups(q, UINT32_MAX);
		else if (q->group > op->imm)
			finish_groups(q, q->group - op->imm);
	}
	if (emu_tells(op))
		emu_tell_groups(TELL_GROUP_WAIT, x, op, m,
				&(struct emu_tell_groups){.list = EMU_LIST_CP, .left = op->imm});
	return op + 1;
}

/* An arrival of each lane. */
struct arrivals { uint64_t addr[EMU_LANES], serial[EMU_LANES]; struct emu_spot spot[EMU_LANES]; };

static void tell_arrivals(struct emu_x *x, const struct emu_op *op, uint32_t m, const struct arrivals *a)
{
	struct emu_tell t = emu_tell_of(TELL_CP_ARRIVE, x, op, m, x->mask);
	struct emu_tell_cp_arrive arrive = {
		.base = op->u.mem.base, .addr = a->addr, .spot = a->spot, .serial = a->serial, .noinc = !op->kind
	};

	t.u.cp_arrive = &arrive;
	emu_tell(&t);
}

/* False: a fault. */
static bool arrive_lane(struct emu_x *x, const struct emu_op *op, unsigned l, struct arrivals *done)
{
	uint64_t a = emu_addr_of(x, &op->u.mem, l);
	uint64_t *p = emu_at(x, l, op->u.mem.base, a, 8);
	struct copy *c;

	if (!p) {
		emu_access_fault(x, op, l, a, 8, op->u.mem.base);
		return false;
	}
	done->addr[l] = a;
	done->serial[l] = 0;
	emu_locate(x->b, op->u.mem.base, a, &done->spot[l]);
	if (!emu_mbar_live(p))
		return emu_mbar_missing(x, op, l, a, done->spot[l].owner);
	if (op->kind && !emu_mbar_expect(p)) {
		emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION, "more arrivals than an mbarrier can count");
		return false;
	}
	c = put(x->w, l);
	c->mbar = p;
	c->serial = emu_serial();
	lane_of(x->w, l)->arrivals++;
	list(x->w);
	done->serial[l] = c->serial;
	return true;
}

/* PTX ISA, "cp.async.mbarrier.arrive": without .noinc the count of pending arrivals
 * first goes up by one, so that the arrival changes nothing on the whole. */
static const struct emu_op *mbar_arrive(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct arrivals arrivals;
	uint32_t done = 0;

	EMU_EACH(l, m) {
		if (!arrive_lane(x, op, l, &arrivals))
			break;
		done |= 1u << l;
	}
	if (done && emu_tells(op))
		tell_arrivals(x, op, done, &arrivals);
	return emu_m.fault ? NULL : op + 1;
}

/* ---- decoding ----------------------------------------------------------------------------- */

static bool dec_copy(struct emu_dec *d, const struct ptx_inst *in)
{
	struct emu_addr to, from;
	struct emu_opnd o[2];
	struct emu_op *op;
	uint64_t bytes;

	if (in->nops < 3 || !emu_dec_addr(d, &in->ops[0], SPACE_SHARED, &to) ||
	    !emu_dec_addr(d, &in->ops[1], SPACE_GLOBAL, &from))
		return emu_dec_refuse(d, "operands that do not fit the instruction");
	bytes = in->ops[2].ival;
	if (in->ops[2].kind == OP_SYM || (bytes != 4 && bytes != 8 && bytes != 16))
		return emu_dec_refuse(d, "a cp.async of an odd size");
	o[0] = in->nops > 3 && !(in->nops == 4 && ptx_has(in, MOD_L2_CACHE_HINT)) ?
	       emu_dec_word(d, &in->ops[3], false) : emu_dec_const(d, bytes);
	o[1] = from.reg;
	if (from.base != BASE_GLOBAL || from.off != (int32_t)from.off)
		return emu_dec_refuse(d, "a cp.async from no global address");
	op = emu_dec_new(d);
	op->fn = cp_async;
	op->size = (uint8_t)bytes;
	op->kind = from.base;
	op->imm = (uint32_t)from.off;
	if (o[0].kind == OPND_PRED)
		op->flags |= EMU_F_IGNORE_SRC;
	op->u.mem = to;
	op->o = emu_dec_keep(d, o, 2);
	return true;
}

bool emu_dec_async(struct emu_dec *d, const struct ptx_inst *in)
{
	struct emu_addr mem;
	struct emu_op *op;

	switch (in->id) {
	case INST_CP_ASYNC:
		return dec_copy(d, in);
	case INST_CP_ASYNC_COMMIT_GROUP:
		emu_dec_new(d)->fn = commit;
		return true;
	case INST_CP_ASYNC_WAIT_GROUP:
		if (in->nops != 1 || in->ops[0].kind == OP_SYM)
			return emu_dec_refuse(d, "a wait for a number of groups that is no constant");
		op = emu_dec_new(d);
		op->fn = wait_group;
		op->imm = (uint32_t)in->ops[0].ival;
		return true;
	case INST_CP_ASYNC_WAIT_ALL:
		op = emu_dec_new(d);
		op->fn = wait_group;
		op->imm = UINT32_MAX;
		return true;
	case INST_CP_ASYNC_MBARRIER_ARRIVE:
		if (in->nops != 1 || !emu_dec_addr(d, &in->ops[0], ptx_inst_space(in), &mem))
			return emu_dec_refuse(d, "operands that do not fit the instruction");
		op = emu_dec_new(d);
		op->fn = mbar_arrive;
		op->kind = !ptx_has(in, MOD_NOINC);
		op->u.mem = mem;
		return true;
	default:
		return false;
	}
}
