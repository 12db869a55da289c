/* SPDX-License-Identifier: Apache-2.0
 *
 * flow.h: how control flows in a function, and what the lanes of a warp have in common there.
 *
 * Lanes that are together have come the same way: since they were together last at a *meeting*, they have
 * gone on together.  A block of instructions is a meeting where lanes may come to it by more than one way, or
 * only some of those that were together before it.
 */
#ifndef PROBE_FLOW_H
#define PROBE_FLOW_H

#include "ptxparse/ptx.h"

#define FLOW_NONE 0xffffffffu

/* What a register holds in lanes that are together.  SAME: the same; ROW: the same, and `step` more for each
 * thread of a row (threads with the same tid.y, tid.z and tid.x / 32); OWN: whatever. */
enum shape_kind { SHAPE_UNSET, SHAPE_SAME, SHAPE_ROW, SHAPE_OWN };
struct shape {
	uint8_t kind;
	uint8_t zeros;                  /* ROW: that many low bits of what all have in common are 0 */
	int64_t step;
};

struct flow_block {
	struct ptx_stmt *first, *last;
	uint32_t next, target;          /* blocks: the one behind it, the one it jumps to; FLOW_NONE */
	const struct ptx_inst *jump;    /* at its end, if it has a guard; NULL */
	uint32_t ways_in;               /* from how many blocks lanes come */
	uint32_t idom, ipdom;           /* immediate dominator and post-dominator; FLOW_NONE */
	uint32_t loop, outer;           /* head of the innermost loop around it; of a head: that of the next one; FLOW_NONE */
	uint32_t number;                /* of its first statement in the function */
	bool reached, meeting;
	bool alone;                     /* at most one lane of a row comes to it */
	bool aligned;                   /* all lanes of a warp have to be together in it */
	bool together;                  /* a loop's head: each turn has such a block */
};

/* Where a register is written, if that is in one place alone; stmt: NULL. */
struct flow_def { const struct ptx_stmt *stmt; uint32_t block, number; };

struct flow {
	const struct ptx_func *f;
	struct ptx_arena *arena;
	struct flow_block *block;
	uint32_t n;
	struct shape *shape;            /* of each register */
	struct flow_def *def;           /* of each register */
};

/* In the module's arena. */
struct flow *flow_of(struct ptx_arena *, const struct ptx_func *);
/* Of an operand: a register, a constant, an address; lanes that are together at its instruction. */
struct shape flow_shape(const struct flow *, const struct ptx_operand *);
static inline bool flow_loops(const struct flow *f, uint32_t block)
{
	return f->block[block].loop != FLOW_NONE;
}

/* alone.c: finds the blocks to which one lane comes alone; are there any? */
bool flow_find_alone(struct flow *);
/* Which of the function's parameters, from 0 on, lies at an address; -1: none. */
int flow_param(const struct flow *, const struct ptx_operand *base);

/* shape.c */
void flow_shapes(struct flow *);
/* flow.c, for shape.c.  How many operands, the first ones, are written if they are registers. */
unsigned flow_written(const struct ptx_inst *);
/* Calls `see` for each register that the instruction writes. */
void flow_defs(const struct ptx_inst *, void (*see)(void *arg, const struct ptx_sym *), void *arg);
/* Which ways of a jump lead to each block: bit 0, bit 1.  apart: without an instruction on them for which all lanes of
 * the warp have to be together. */
void flow_ways(const struct flow *, uint32_t block, bool apart, uint8_t *ways);
bool flow_in_loop(const struct flow *, uint32_t block, uint32_t head);
/* Each lane at that statement of a block has the register's value from its only definition, and from this turn of the
 * loops around that. */
bool flow_is_fresh(const struct flow *, const struct ptx_sym *reg, uint32_t block, uint32_t number);

#endif
