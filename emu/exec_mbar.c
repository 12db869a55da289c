/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_mbar.c: mbarrier objects in shared memory.
 *
 *   63     62    61         40 39        20 19         0
 *  +------+-----+-------------+------------+------------+
 *  | live |phase| tx (22)     | pending    | expected   |
 *  +------+-----+-------------+------------+------------+
 * tx counts in two's complement.  A phase is complete when nothing is pending and
 * tx is zero.  The state that an arrival returns is the word before it.
 */
#include <stdio.h>

#include "emu/access.h"
#include "emu/listen.h"

#define COUNT(w, at) ((uint32_t)((w) >> (at)) & 0xfffff)
#define EXPECTED(w)  COUNT(w, 0)
#define PENDING(w)   COUNT(w, 20)
#define TX(w)        ((int32_t)((uint32_t)((w) >> 40) << 10) >> 10)
#define PHASE(w)     ((unsigned)((w) >> 62) & 1)
#define LIVE         (UINT64_C(1) << 63)
#define MAX_COUNT    0xfffffu

static uint64_t word(uint32_t expected, uint32_t pending, int32_t tx, unsigned phase)
{
	return LIVE | (uint64_t)phase << 62 | (uint64_t)((uint32_t)tx & 0x3fffff) << 40 |
	       (uint64_t)pending << 20 | expected;
}

static uint64_t settle(uint64_t w)
{
	if (!PENDING(w) && !TX(w))
		return word(EXPECTED(w), EXPECTED(w), 0, !PHASE(w));
	return w;
}

enum kind {
	INIT, INVAL, EXPECT_TX, COMPLETE_TX,
	ARRIVE, ARRIVE_EXPECT_TX, ARRIVE_DROP, ARRIVE_DROP_EXPECT_TX
};

/* ---- who listens ------------------------------------------------------------------------ */

/* One instruction: what is told of it is noted lane by lane. */
struct use {
	struct emu_x *x;
	const struct emu_op *op;
	uint32_t done;                  /* lanes */
	struct emu_tell_mbar told;
};

static void begin(struct use *u, struct emu_x *x, const struct emu_op *op)
{
	struct emu_tell_mbar *t = &u->told;

	u->x = x;
	u->op = op;
	u->done = t->success = t->over = t->missing = t->wrong = 0;
	t->drop = t->expects = t->no_complete = t->parity = t->try = false;
}

/* Returns NULL if it ended in a fault. */
static const struct emu_op *end(struct use *u)
{
	struct emu_tell t = emu_tell_of(TELL_MBAR, u->x, u->op, u->done, u->x->mask);

	u->told.base = u->op->u.mem.base;
	t.u.mbar = &u->told;
	if ((u->done | u->told.wrong) && emu_tells(u->op))
		emu_tell(&t);
	return emu_m.fault ? NULL : u->op + 1;
}

static bool drops(enum kind k)
{
	return k == ARRIVE_DROP || k == ARRIVE_DROP_EXPECT_TX;
}

static void note_update(struct use *u, unsigned l, enum kind k, uint32_t n)
{
	struct emu_tell_mbar *t = &u->told;

	t->what = k == INIT ? EMU_MBAR_INIT : k == INVAL ? EMU_MBAR_INVAL : k == EXPECT_TX ? EMU_MBAR_EXPECT_TX :
		  k == COMPLETE_TX ? EMU_MBAR_COMPLETE_TX : EMU_MBAR_ARRIVE;
	t->drop = drops(k);
	t->expects = k == ARRIVE_EXPECT_TX || k == ARRIVE_DROP_EXPECT_TX;
	t->no_complete = u->op->imm;
	t->bytes[l] = n;
	t->count[l] = t->expects ? 1 : n;
}

static void tell_over(const uint64_t *p)
{
	if (emu_listening)
		emu_tell(&(struct emu_tell){.kind = TELL_MBAR_OVER, .u.object = p});
}

/* ---- the instructions -------------------------------------------------------------------- */

bool emu_mbar_missing(struct emu_x *x, const struct emu_op *op, unsigned l, uint64_t a,
		      const struct emu_block *owner)
{
	if (owner && emu_goes_on(op))
		return true;
	emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION, "there is no mbarrier at 0x%llx",
		  (unsigned long long)a);
	return false;
}

/* NULL: a fault.  `live`: one has to be there; if the lane goes on without, it is among `missing`. */
static uint64_t *object(struct use *u, unsigned l, bool live)
{
	const struct emu_op *op = u->op;
	struct emu_x *x = u->x;
	uint64_t a = emu_addr_of(x, &op->u.mem, l);
	uint64_t *p = emu_at(x, l, op->u.mem.base, a, 8);

	if (!p) {
		emu_access_fault(x, op, l, a, 8, op->u.mem.base);
		return NULL;
	}
	u->told.addr[l] = a;
	emu_locate(x->b, op->u.mem.base, a, &u->told.spot[l]);
	if (!live || *p & LIVE)
		return p;
	if (emu_mbar_missing(x, op, l, a, u->told.spot[l].owner)) {
		u->told.missing |= 1u << l;
		return p;
	}
	u->told.wrong |= 1u << l;
	return NULL;
}

/* Changes the object; returns whether a phase is over by it. */
static bool set(uint64_t *p, uint64_t w)
{
	bool over = PHASE(*p) != PHASE(w);

	*p = w;
	return over;
}

/* The tx-count ranges over -(2^20 - 1) to 2^20 - 1 (PTX ISA, "Tracking asynchronous
 * operations by the mbarrier object"). */
static bool add_tx(uint64_t *w, int64_t n)
{
	int64_t tx = TX(*w) + n;

	*w = word(EXPECTED(*w), PENDING(*w), (int32_t)tx, PHASE(*w));
	return tx <= (int64_t)MAX_COUNT && tx >= -(int64_t)MAX_COUNT;
}

static bool too_many(struct use *u, unsigned l, uint32_t n)
{
	u->told.wrong |= 1u << l;
	emu_fault(u->x, u->op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION,
		  "%u bytes are more than the mbarrier can count", n);
	return false;
}

/* n threads arrive in a phase that is to be `w`.  False: a fault. */
static bool arrive(struct use *u, unsigned l, uint64_t *p, uint64_t w, uint32_t n)
{
	const struct emu_op *op = u->op;

	if (n > PENDING(w)) {
		u->told.wrong |= 1u << l;
		emu_fault(u->x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION, "%u arrivals where %u are pending", n,
			  PENDING(w));
		return false;
	}
	emu_hang_arrived(u->x->w, l, p, op);
	u->told.state[l] = *p;
	emu_set(u->x, op->o[0], l, *p);
	w = word(EXPECTED(w) - (drops(op->kind) ? n : 0), PENDING(w) - n, TX(w), PHASE(w));
	u->told.over |= (uint32_t)set(p, settle(w)) << l;
	if (op->imm && *p != w)
		emu_fault(u->x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION,
			  "an arrival with .noComplete completes the phase");
	return !emu_m.fault;
}

/* False: a fault. */
static bool update_lane(struct use *u, unsigned l)
{
	const struct emu_op *op = u->op;
	uint32_t n = (uint32_t)emu_get(u->x, op->o[op->nd], l);
	uint64_t *p = object(u, l, op->kind != INIT), w;

	note_update(u, l, op->kind, n);
	if (!p)
		return false;
	u->done |= 1u << l;
	w = *p;
	if (u->told.missing >> l & 1) {
		u->told.state[l] = w;
		if (op->kind >= ARRIVE)
			emu_set(u->x, op->o[0], l, w);
		return true;
	}
	switch ((enum kind)op->kind) {
	case INIT:
		if (!n || n > MAX_COUNT) {
			emu_fault(u->x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION, "an mbarrier of %u arrivals", n);
			return false;
		}
		emu_hang_forget(p);
		*p = word(n, n, 0, 0);
		return true;
	case INVAL:
		*p = 0;
		return true;
	case EXPECT_TX:
		return add_tx(p, n) || too_many(u, l, n);
	case COMPLETE_TX:
		if (!add_tx(p, -(int64_t)n))
			return too_many(u, l, n);
		u->told.over |= (uint32_t)set(p, settle(*p)) << l;
		return true;
	case ARRIVE_EXPECT_TX:
	case ARRIVE_DROP_EXPECT_TX:
		if (!add_tx(&w, n))
			return too_many(u, l, n);
		return arrive(u, l, p, w, 1);
	case ARRIVE:
	case ARRIVE_DROP:
		return arrive(u, l, p, w, n);
	}
	return true;
}

/* o[]: state or sink (arrivals), count. */
static const struct emu_op *update(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct use u;

	begin(&u, x, op);
	EMU_EACH(l, m)
		if (!update_lane(&u, l))
			break;
	return end(&u);
}

/* False: a fault. */
static bool wait_lane(struct use *u, unsigned l)
{
	const struct emu_op *op = u->op;
	struct emu_x *x = u->x;
	uint64_t *p = object(u, l, true), v;
	uint64_t a = emu_addr_of(x, &op->u.mem, l);
	bool over;

	if (!p)
		return false;
	/* (PTX ISA, mbarrier.test_wait: only .shared::cta) */
	if ((a >> EMU_RANK_SHIFT & 0xff) != x->b->rank && !(u->told.missing >> l & 1)) {
		emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION,
			  "a wait at the mbarrier at 0x%llx of another block", (unsigned long long)a);
		return false;
	}
	v = emu_get(x, op->o[1], l);
	/* Nobody can end it where none is. */
	over = u->told.missing >> l & 1 || PHASE(*p) != (op->imm ? (unsigned)v & 1 : PHASE(v));
	emu_set(x, op->o[0], l, over);
	u->told.state[l] = v;
	u->told.success |= (uint32_t)over << l;
	u->done |= 1u << l;
	if (over) {
		x->w->looks &= ~(1u << l);
	} else {
		x->w->looks |= 1u << l;
		x->w->looked = p;
		x->w->looked_at = a;
		x->w->looked_by = op;
	}
	return true;
}

void emu_mbar_left(const uint64_t *word, uint32_t *arrivals, int64_t *bytes)
{
	*arrivals = PENDING(*word);
	*bytes = TX(*word);
}

void emu_mbar_say(const uint64_t *word)
{
	fprintf(stderr, "phase %u is under way, for which %u of %u arrivals are missing", PHASE(*word), PENDING(*word),
		EXPECTED(*word));
	if (TX(*word))
		fprintf(stderr, " and %d bytes", TX(*word));
}

/* o[]: predicate, state or parity.  A try_wait that fails lets others go first. */
static const struct emu_op *wait(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct use u;

	begin(&u, x, op);
	u.told.what = EMU_MBAR_WAIT;
	u.told.parity = op->imm;
	u.told.try = op->kind;
	EMU_EACH(l, m)
		if (!wait_lane(&u, l))
			break;
	if (!end(&u))
		return NULL;
	x->spin = true;
	return u.told.success == m || !op->kind ? op + 1 : emu_yield(x, op + 1);
}

static const struct emu_op *pending_count(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	EMU_EACH(l, m)
		emu_set(x, op->o[0], l, PENDING(emu_get(x, op->o[1], l)));
	return op + 1;
}

/* ---- decoding ------------------------------------------------------------------------- */

static bool dec_update(struct emu_dec *d, const struct ptx_inst *in, enum kind kind)
{
	bool arrive = kind >= ARRIVE;
	struct emu_opnd o[2];
	struct emu_addr mem;
	struct emu_op *op;
	unsigned at = arrive ? 1 : 0, n = 0;

	if (in->nops < at + 1 || !emu_dec_addr(d, &in->ops[at], ptx_inst_space(in), &mem))
		return emu_dec_refuse(d, "operands that do not fit the instruction");
	if (arrive)
		o[n++] = emu_dec_word(d, &in->ops[0], true);
	o[n++] = in->nops > at + 1 ? emu_dec_word(d, &in->ops[at + 1], false) : emu_dec_const(d, 1);
	op = emu_dec_new(d);
	op->fn = update;
	op->kind = kind;
	op->nd = arrive;
	op->imm = ptx_has(in, MOD_NOCOMPLETE);
	op->u.mem = mem;
	op->o = emu_dec_keep(d, o, n);
	return true;
}

static bool dec_wait(struct emu_dec *d, const struct ptx_inst *in, bool try)
{
	struct emu_opnd o[2];
	struct emu_addr mem;
	struct emu_op *op;

	if (in->nops < 3 || !emu_dec_addr(d, &in->ops[1], ptx_inst_space(in), &mem))
		return emu_dec_refuse(d, "operands that do not fit the instruction");
	o[0] = emu_dec_word(d, &in->ops[0], true);
	o[1] = emu_dec_word(d, &in->ops[2], false);
	op = emu_dec_new(d);
	op->fn = wait;
	op->kind = try;
	op->imm = ptx_has(in, MOD_PARITY);
	op->u.mem = mem;
	op->o = emu_dec_keep(d, o, 2);
	return true;
}

/* A copy put `bytes` bytes into the phase of the object at `p`. */
bool emu_mbar_complete_tx(uint64_t *p, uint32_t bytes)
{
	if (!(*p & LIVE))
		return false;
	if (set(p, settle(word(EXPECTED(*p), PENDING(*p), TX(*p) - (int32_t)bytes, PHASE(*p)))))
		tell_over(p);
	return true;
}

bool emu_mbar_live(const uint64_t *p)
{
	return *p & LIVE;
}

bool emu_mbar_expect(uint64_t *p)
{
	if (PENDING(*p) == MAX_COUNT)
		return false;
	*p = word(EXPECTED(*p), PENDING(*p) + 1, TX(*p), PHASE(*p));
	return true;
}

bool emu_mbar_arrive(uint64_t *p)
{
	if (!(*p & LIVE) || !PENDING(*p))
		return false;
	if (set(p, settle(word(EXPECTED(*p), PENDING(*p) - 1, TX(*p), PHASE(*p)))))
		tell_over(p);
	return true;
}

bool emu_dec_mbar(struct emu_dec *d, const struct ptx_inst *in)
{
	struct emu_opnd o[2];
	struct emu_op *op;

	switch (in->id) {
	case INST_MBARRIER_INIT:
		return dec_update(d, in, INIT);
	case INST_MBARRIER_INVAL:
		return dec_update(d, in, INVAL);
	case INST_MBARRIER_EXPECT_TX:           /* .arrive.expect_tx may come as either */
		if (ptx_has(in, MOD_ARRIVE))
			return dec_update(d, in, ARRIVE_EXPECT_TX);
		if (ptx_has(in, MOD_ARRIVE_DROP))
			return dec_update(d, in, ARRIVE_DROP_EXPECT_TX);
		return dec_update(d, in, EXPECT_TX);
	case INST_MBARRIER_COMPLETE_TX:
		return dec_update(d, in, COMPLETE_TX);
	case INST_MBARRIER_ARRIVE:
		return dec_update(d, in, ptx_has(in, MOD_EXPECT_TX) ? ARRIVE_EXPECT_TX : ARRIVE);
	case INST_MBARRIER_ARRIVE_DROP:
		return dec_update(d, in, ptx_has(in, MOD_EXPECT_TX) ? ARRIVE_DROP_EXPECT_TX :
						 ARRIVE_DROP);
	case INST_MBARRIER_TEST_WAIT:
		return dec_wait(d, in, false);
	case INST_MBARRIER_TRY_WAIT:
		return dec_wait(d, in, true);
	case INST_MBARRIER_PENDING_COUNT:
		if (in->nops != 2)
			return emu_dec_refuse(d, "operands that do not fit the instruction");
		o[0] = emu_dec_word(d, &in->ops[0], true);
		o[1] = emu_dec_word(d, &in->ops[1], false);
		op = emu_dec_new(d);
		op->fn = pending_count;
		op->o = emu_dec_keep(d, o, 2);
		return true;
	default:
		return false;
	}
}
