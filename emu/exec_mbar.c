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
#include "emu/access.h"
#include "emu/oracle_impl.h"

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

static uint64_t *object(struct emu_x *x, const struct emu_op *op, unsigned l, bool live)
{
	uint64_t a = emu_addr_of(x, &op->u.mem, l);
	uint64_t *p = emu_at(x, l, op->u.mem.base, a, 8);

	if (!p) {
		emu_access_fault(x, op, l, a, 8, op->u.mem.base);
		return NULL;
	}
	/* The device runtime looks where the program left something, as it may on a GPU. */
	if (live && !(*p & LIVE) && !emu_is_runtime(op->func)) {
		if (emu_oracle_on)
			emu_oracle_mbar(x, op, l, p, ORC_OVERFLOW);
		emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION,
			  "there is no mbarrier at 0x%llx", (unsigned long long)a);
		return NULL;
	}
	return p;
}

enum kind {
	INIT, INVAL, EXPECT_TX, COMPLETE_TX,
	ARRIVE, ARRIVE_EXPECT_TX, ARRIVE_DROP, ARRIVE_DROP_EXPECT_TX
};

/* Changes the object; a phase may be over by it. */
static void set(uint64_t *p, uint64_t w)
{
	bool over = PHASE(*p) != PHASE(w);

	*p = w;
	if (over && emu_oracle_on)
		emu_oracle_mbar_over(p);
}

static enum orc_use use_of(enum kind k)
{
	return k == INIT ? ORC_INIT : k == INVAL ? ORC_INVAL : k < ARRIVE ? ORC_USE : ORC_ARRIVE;
}

/* The tx-count ranges over -(2^20 - 1) to 2^20 - 1 (PTX ISA, "Tracking asynchronous
 * operations by the mbarrier object"). */
static bool add_tx(uint64_t *w, int64_t n)
{
	int64_t tx = TX(*w) + n;

	*w = word(EXPECTED(*w), PENDING(*w), (int32_t)tx, PHASE(*w));
	return tx <= (int64_t)MAX_COUNT && tx >= -(int64_t)MAX_COUNT;
}

static const struct emu_op *too_many(struct emu_x *x, const struct emu_op *op, unsigned l,
				     const uint64_t *p, uint32_t n)
{
	if (emu_oracle_on)
		emu_oracle_mbar(x, op, l, p, ORC_OVERFLOW);
	return emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION,
			 "%u bytes are more than the mbarrier can count", n);
}

/* o[]: state or sink (arrivals), count. */
static const struct emu_op *update(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	EMU_EACH(l, m) {
		uint64_t *p = object(x, op, l, op->kind != INIT), w;
		bool drop;
		uint32_t n;

		if (!p)
			return NULL;
		w = *p;
		n = (uint32_t)emu_get(x, op->o[op->nd], l);
		if (emu_oracle_on)
			emu_oracle_mbar(x, op, l, p, use_of(op->kind));
		switch ((enum kind)op->kind) {
		case INIT:
			if (!n || n > MAX_COUNT)
				return emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION,
						 "an mbarrier of %u arrivals", n);
			*p = word(n, n, 0, 0);
			break;
		case INVAL:
			*p = 0;
			break;
		case EXPECT_TX:
			if (!add_tx(p, n))
				return too_many(x, op, l, p, n);
			break;
		case COMPLETE_TX:
			if (!add_tx(p, -(int64_t)n))
				return too_many(x, op, l, p, n);
			set(p, settle(*p));
			break;
		case ARRIVE_EXPECT_TX:
		case ARRIVE_DROP_EXPECT_TX:
			if (!add_tx(&w, n))
				return too_many(x, op, l, p, n);
			n = 1;
			/* fall through */
		case ARRIVE:
		case ARRIVE_DROP:
			if (n > PENDING(w) && emu_oracle_on)
				emu_oracle_mbar(x, op, l, p, ORC_OVERFLOW);
			if (n > PENDING(w))
				return emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION,
						 "%u arrivals where %u are pending", n, PENDING(w));
			emu_set(x, op->o[0], l, *p);
			drop = op->kind == ARRIVE_DROP || op->kind == ARRIVE_DROP_EXPECT_TX;
			w = word(EXPECTED(w) - (drop ? n : 0), PENDING(w) - n, TX(w), PHASE(w));
			set(p, settle(w));
			if (op->imm && *p != w)
				return emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION,
						 "an arrival with .noComplete completes the phase");
			break;
		}
	}
	return op + 1;
}

/* o[]: predicate, state or parity.  A try_wait that fails lets others go first. */
static const struct emu_op *wait(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	bool all = true;

	EMU_EACH(l, m) {
		uint64_t *p = object(x, op, l, true), v;
		uint64_t a = emu_addr_of(x, &op->u.mem, l);
		bool over;

		if (!p)
			return NULL;
		/* (PTX ISA, mbarrier.test_wait: only .shared::cta) */
		if ((a >> EMU_RANK_SHIFT & 0xff) != x->b->rank)
			return emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION,
					 "a wait at the mbarrier at 0x%llx of another block", (unsigned long long)a);
		v = emu_get(x, op->o[1], l);
		over = PHASE(*p) != (op->imm ? (unsigned)v & 1 : PHASE(v));
		emu_set(x, op->o[0], l, over);
		if (emu_oracle_on)
			emu_oracle_mbar(x, op, l, p, over ? ORC_WAIT : ORC_USE);
		all &= over;
	}
	x->spin = true;
	return all || !op->kind ? op + 1 : emu_yield(x, op + 1);
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
	set(p, settle(word(EXPECTED(*p), PENDING(*p), TX(*p) - (int32_t)bytes, PHASE(*p))));
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
	set(p, settle(word(EXPECTED(*p), PENDING(*p) - 1, TX(*p), PHASE(*p))));
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
