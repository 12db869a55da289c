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
	uint32_t idom, ipdom;           /* immediate dominator and post-dominator; FLOW_NONE */
	bool reached, meeting, loops;   /* loops: it is in a loop */
};

struct flow {
	const struct ptx_func *f;
	struct ptx_arena *arena;
	struct flow_block *block;
	uint32_t n;
	struct shape *shape;            /* of each register */
	const struct ptx_stmt **def;    /* of each register, if it has one alone; NULL */
	uint32_t *home;                 /* of each register: the block of that */
};

/* In the module's arena. */
struct flow *flow_of(struct ptx_arena *, const struct ptx_func *);
/* Of an operand: a register, a constant, an address; lanes that are together at its instruction. */
struct shape flow_shape(const struct flow *, const struct ptx_operand *);
bool flow_dominates(const struct flow *, uint32_t a, uint32_t b);

/* Which of the function's parameters, from 0 on, lies at an address; -1: none. */
int flow_param(const struct flow *, const struct ptx_operand *base);

/* shape.c */
void flow_shapes(struct flow *);
/* flow.c, for shape.c: calls `see` for each register that the instruction writes. */
void flow_defs(const struct ptx_inst *, void (*see)(void *arg, const struct ptx_sym *), void *arg);
/* Blocks to which lanes may come by both ways of a jump: as bits of `both`, which is cleared first. */
void flow_both(const struct flow *, uint32_t block, uint8_t *both);

#endif
