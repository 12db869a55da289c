/* SPDX-License-Identifier: Apache-2.0
 *
 * call.h: the calls that insert.c puts in, and what they pass.
 */
#ifndef REWRITE_CALL_H
#define REWRITE_CALL_H

#include "rewrite/rw.h"

/* Scratch registers.  Each is written right before it is read. */
enum scratch {
	S_CTX,                  /* the thread's context */
	S_ADDR,                 /* address */
	S_FROM,                 /* address of a copy's source */
	S_MBAR,                 /* address of its mbarrier; what a tensor map was */
	S_BYTES,                /* bytes or stride */
	S_WORD,                 /* 32-bit address, lane number */
	S_ID,                   /* barrier */
	S_TICKET,               /* what arrive returned */
	S_LANES,                /* what split returned, until the join */
	S_PRED,                 /* this lane has a row */
	S_GUARD,                /* guard that the instruction overwrites */
	S_ZERO,                 /* 0, see quirk.c */
	S_VALUE,                /* what is stored, see value.c */
	S_HIGH,                 /* upper half of an element of that */
	S_COUNT
};

/* All of `name` can be copied without a look at its length. */
struct rw_scratch { char name[16]; unsigned char len; char type; };     /* 'l' .b64, 'w' .b32, 'p' .pred */
extern const struct rw_scratch rw_scratches[S_COUNT];

/* What a call passes: a scratch register, an operand of the instruction, or a
 * number. */
struct arg {
	enum { ARG_NUMBER, ARG_SCRATCH, ARG_OPERAND } kind;
	uint64_t number;                /* or enum scratch */
	const struct ptx_operand *op;
};

static inline struct arg number(uint64_t v)
{
	return (struct arg){ ARG_NUMBER, v, NULL };
}

static inline struct arg reg(enum scratch s)
{
	return (struct arg){ ARG_SCRATCH, s, NULL };
}

static inline struct arg operand(const struct ptx_operand *o)
{
	return (struct arg){ ARG_OPERAND, 0, o };
}

struct guard { const char *name; bool neg; };   /* name NULL: none */

/* State of one function that calls are inserted into. */
struct ins {
	struct rw *r;
	struct rw_func *rf;
	bool used[S_COUNT];
	bool products;                  /* some of matrices: it has room for their descriptors */
};

/* Its name; it will be declared. */
void rw_put_scratch(struct ins *, enum scratch);
/* `result`: where what it returns goes, if it returns anything. */
void rw_put_call(struct ins *, enum rw_fn, struct guard, const struct arg *args, enum scratch result);

/* What a weak store stores (value.c), after code that has it ready, and in *info what that
 * is; 0, and *info as it was, where it cannot be told. */
struct arg rw_put_value(struct ins *, const struct rw_event *, uint32_t *info);

/* Does the instruction overwrite the register? */
bool rw_overwrites(const struct ptx_inst *, const struct ptx_sym *);
struct guard rw_guard_of(const struct ptx_inst *);
void rw_put_guard(struct rw *, struct guard);
/* The guard for a call behind the instruction; saves it now if it will be gone. */
struct guard rw_guard_after(struct ins *, const struct ptx_inst *);

#endif
