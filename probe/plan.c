/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.c: which instructions of a function are events, how each is logged, and what they share.
 */
#include <string.h>

#include "probe/plan.h"

enum { START_UNITS = 2, HEAD_UNITS = 2, PIECE_UNITS = 128, ROOM_UNITS = 64, AHEAD_UNITS = 32,
       EACH_UNITS = 1 + EVENT_LANES / 4 /* of an EACH, at most */ };

int plan_address(const struct ptx_inst *in)
{
	switch (ptx_insts[in->id].access) {
	case ACCESS_LOAD:
	case ACCESS_ATOM:
	case ACCESS_LDMATRIX:
	case ACCESS_WMMA_LOAD:
		return 1;
	case ACCESS_STORE:
	case ACCESS_RED:
	case ACCESS_STMATRIX:
	case ACCESS_WMMA_STORE:
	case ACCESS_DISCARD:
	case ACCESS_ST_BULK:
		return 0;
	default:
		return -1;
	}
}

static const struct ptx_operand *address_of(const struct ptx_inst *in)
{
	int at = plan_address(in);

	return at < 0 ? &ptx_no_operand : ptx_operand(in, (unsigned)at);
}

/* PTX ISA, "ldmatrix": of 8, 16 or 32 lanes the addresses count.  The PTX ISA does not say which lane accesses what of
 * a wmma's matrix: each of its rows is one lane's. */
unsigned plan_lanes(const struct plan_item *it)
{
	const struct ptx_inst *in = &it->stmt->inst;

	switch (ptx_insts[in->id].access) {
	case ACCESS_LDMATRIX:
	case ACCESS_STMATRIX:
		return ptx_has(in, MOD_X4) ? EVENT_LANES : ptx_has(in, MOD_X2) ? 16 : 8;
	case ACCESS_WMMA_LOAD:
	case ACCESS_WMMA_STORE:
		return it->site.shape[0];
	default:
		return EVENT_LANES;
	}
}

enum plan_callee plan_callee(const struct ptx_inst *in)
{
	static const struct { const char *name; enum plan_callee is; } known[] = {
		{"vprintf", CALLEE_SILENT}, {"__assertfail", CALLEE_SILENT}, {"free", CALLEE_GIVES}, {"malloc", CALLEE_GETS}
	};
	const struct ptx_func *f = ptx_callee(in);

	if (f && f->has_body)
		return CALLEE_LOGS;
	for (unsigned i = 0; f && i < sizeof known / sizeof *known; i++)
		if (!strcmp(f->name, known[i].name))
			return known[i].is;
	return CALLEE_UNSEEN;
}

/* Who gets memory comes behind whoever gave it back: as if both looked at a word of CUDA's own. */
static void call_site(struct event_site *s, enum plan_callee callee)
{
	bool gives = callee == CALLEE_GIVES;

	*s = (struct event_site){.kind = EVENT_OPAQUE};
	if (gives || callee == CALLEE_GETS)
		*s = (struct event_site){
			.kind = EVENT_STRONG, .sem = gives ? EVENT_RELEASE : EVENT_ACQUIRE, .scope = EVENT_GPU, .space = EVENT_GLOBAL,
			.does = gives ? EVENT_READS | EVENT_WRITES | EVENT_NO_RESULT : EVENT_READS, .size = 4, .count = 1
		};
}

static bool calls(const struct ptx_inst *in)
{
	return in->id == INST_CALL && plan_callee(in) != CALLEE_SILENT;
}

/* ---- reductions whose results nobody looks at ------------------------------------------------------ */

static void use_operand(uint8_t *used, const struct ptx_operand *o)
{
	if (o->kind == OP_SYM && o->sym && o->sym->kind == SYM_REG)
		used[o->sym->reg] = 1;
	if (o->kind == OP_VEC || o->kind == OP_PAIR || o->kind == OP_LIST || o->kind == OP_ADDR)
		for (unsigned i = 0; i < o->n; i++)
			use_operand(used, &o->list[i]);
}

/* Registers that are read; what an instruction writes counts only as the result of an atom. */
static void find_uses(const struct ptx_func *f, uint8_t *used)
{
	for (const struct ptx_stmt *s = f->body; s; s = s->next) {
		if (s->kind != STMT_INST)
			continue;
		for (unsigned i = s->inst.id == INST_ATOM; i < s->inst.nops; i++)
			use_operand(used, &s->inst.ops[i]);
		if (ptx_guard(&s->inst))
			used[ptx_guard(&s->inst)->reg] = 1;
	}
}

static bool is_quiet(const struct ptx_inst *in, const struct event_site *s, const uint8_t *used)
{
	const struct ptx_operand *to = ptx_operand(in, 0);

	if (s->kind == EVENT_FENCE || s->kind == EVENT_MAP_FENCE || s->kind == EVENT_OPAQUE || s->kind == EVENT_GRID_WAIT ||
	    s->kind == EVENT_ASYNC_STORE)
		return false;
	if (s->kind != EVENT_STRONG)
		return true;
	if (s->sem != EVENT_RELAXED || (in->id != INST_RED && in->id != INST_ATOM))
		return false;
	return in->id == INST_RED || to->kind == OP_SINK || (to->kind == OP_SYM && to->sym->kind == SYM_REG && !used[to->sym->reg]);
}

static bool function_is_quiet(struct ptx_arena *arena, const struct ptx_func *f)
{
	uint8_t *used = ptx_alloc(arena, (size_t)f->nregs + 1);
	struct event_site site;

	find_uses(f, used);
	for (const struct ptx_stmt *s = f->body; s; s = s->next)
		if (s->kind == STMT_INST && (calls(&s->inst) || (probe_site(&site, &s->inst) && !is_quiet(&s->inst, &site, used))))
			return false;
	return true;
}

static bool is_flat(const struct ptx_operand *o)
{
	bool flat = o->kind != OP_SYM || !o->sym || o->sym->kind != SYM_SREG || o->sym->reg != SREG_TID || o->elem == 'x';

	if (o->kind == OP_VEC || o->kind == OP_PAIR || o->kind == OP_LIST || o->kind == OP_ADDR)
		for (unsigned i = 0; i < o->n; i++)
			flat = flat && is_flat(&o->list[i]);
	return flat;
}

static bool function_is_flat(const struct ptx_func *f)
{
	for (const struct ptx_stmt *s = f->body; s; s = s->next)
		for (unsigned i = 0; s->kind == STMT_INST && i < s->inst.nops; i++)
			if (!is_flat(&s->inst.ops[i]) || calls(&s->inst))
				return false;
	return true;
}

struct plan_facts plan_facts(const struct ptx_module *m)
{
	struct plan_facts all = {.quiet = true, .flat = true};

	for (const struct ptx_stmt *s = m->first; s; s = s->next) {
		if (s->kind != STMT_FUNC || !s->func->has_body)
			continue;
		all.quiet = all.quiet && function_is_quiet(m->arena, s->func);
		all.flat = all.flat && function_is_flat(s->func);
	}
	return all;
}

/* ---- what a register holds, within a block -------------------------------------------------------------- */

/* That of another register, or of none (a number behind the registers'), and so much more. */
struct value { uint32_t block, root; int64_t more; };

struct planner {
	struct plan *p;
	struct ptx_arena *arena;
	bool stored;                    /* digests are told */
	bool quiet;                     /* strong accesses are accesses like others */
	struct value *value;
	uint32_t roots, block;
	uint32_t open, taken;           /* the first item of those that share room; NONE; units of those */
	uint32_t merges;                /* LINEs from this item on may stand for more */
	bool local;                     /* a generic address may be one of private memory */
};

static struct value value_of(struct planner *p, const struct ptx_sym *reg)
{
	struct value *v = &p->value[reg->reg];

	if (v->block != p->block + 1)
		*v = (struct value){p->block + 1, (uint32_t)reg->reg, 0};
	return *v;
}

static void set_new(void *arg, const struct ptx_sym *reg)
{
	struct planner *p = arg;

	p->value[reg->reg] = (struct value){p->block + 1, p->roots++, 0};
}

static bool is_register(const struct ptx_operand *o)
{
	return o->kind == OP_SYM && o->sym && o->sym->kind == SYM_REG && !o->neg && !o->elem;
}

/* A copy, or the sum with a constant. */
static void set_values(struct planner *p, const struct ptx_inst *in)
{
	bool copy = in->id == INST_MOV || in->id == INST_CVTA, sum = in->id == INST_ADD && in->nops == 3 && in->ops[2].kind == OP_INT;
	struct value v;

	if (in->guarded || in->nops < 2 || !(copy || sum) || !is_register(&in->ops[0]) || !is_register(&in->ops[1]) ||
	    ptx_type_bits(in->ops[0].sym->type) != ptx_type_bits(in->ops[1].sym->type) || in->ops[1].off) {
		flow_defs(in, set_new, p);
		return;
	}
	v = value_of(p, in->ops[1].sym);
	v.more += sum ? (int64_t)in->ops[2].ival : 0;
	p->value[in->ops[0].sym->reg] = v;
}

/* ---- items --------------------------------------------------------------------------------------------------- */

static struct plan_item *add(struct planner *p, struct ptx_stmt *s)
{
	struct plan *plan = p->p;
	struct plan_item *more;

	if (plan->n == plan->cap) {
		plan->cap = plan->cap ? 2 * plan->cap : 64;
		more = ptx_alloc(p->arena, plan->cap * sizeof *more);
		if (plan->n)
			memcpy(more, plan->item, plan->n * sizeof *more);
		plan->item = more;
	}
	more = &plan->item[plan->n++];
	more->stmt = s;
	more->block = p->block;
	return more;
}

/* LINE or EACH. */
static bool is_line(const struct planner *p, struct plan_item *it)
{
	const struct ptx_inst *in = &it->stmt->inst;
	const struct ptx_operand *o = address_of(in);
	struct shape s;

	if (it->site.kind != EVENT_ACCESS || in->guarded || o->kind != OP_ADDR || !it->site.size || plan_lanes(it) < EVENT_LANES ||
	    (it->site.space == EVENT_GENERIC && p->local))
		return false;
	s = p->p->flow->block[p->block].alone ? (struct shape){.kind = SHAPE_SAME} : flow_shape(p->p->flow, &o->list[0]);
	it->step = s.kind == SHAPE_ROW ? s.step : 0;
	it->offset = o->list[0].kind == OP_SYM ? o->list[0].off : 0;
	it->kind = (s.kind == SHAPE_SAME || s.kind == SHAPE_ROW) && it->step == (int16_t)it->step ? PLAN_LINE : PLAN_EACH;
	return it->offset == (int32_t)it->offset && (it->kind == PLAN_LINE || it->site.space == EVENT_SHARED);
}

static bool is_short(const struct plan_item *it)
{
	switch (it->site.kind) {
	case EVENT_EXIT: case EVENT_FENCE: case EVENT_OPAQUE: case EVENT_BAR_ARRIVE: case EVENT_CLUSTER_ARRIVE:
	case EVENT_CLUSTER_WAIT: case EVENT_DEPENDENTS: case EVENT_GRID_WAIT: case EVENT_COMMIT: case EVENT_WAIT_GROUP:
	case EVENT_WGMMA: case EVENT_TC_LOAD: case EVENT_TC_STORE: case EVENT_TC_WAIT: case EVENT_TC_FREE:
		return !it->stmt->inst.guarded;
	default:
		return false;
	}
}

/* Units of an instruction with room of its own, with a CLOCK. */
static uint32_t most_units(const struct plan_item *it)
{
	unsigned words;

	switch (it->site.kind) {
	case EVENT_ACCESS:
		words = 1 + (it->stored || !it->site.size);     /* st.bulk, rows of wmma: so many bytes */
		break;
	case EVENT_STRONG:
		words = 1 + (it->site.size * it->site.count + 7u) / 8 * 2;
		break;
	case EVENT_TENSOR:
		words = 7;
		break;
	case EVENT_MBAR_INIT: case EVENT_MBAR_ARRIVE:
		words = 3;
		break;
	default:
		words = 4;
		break;
	}
	return 1 + 2 + (it->once ? words / 2 : words * EVENT_LANES / 2);
}

/* Are its records of some of the lanes alone, or may be? */
static bool splits(const struct planner *p, const struct plan_item *it)
{
	const struct ptx_inst *in = &it->stmt->inst;
	bool access = it->site.kind == EVENT_ACCESS || it->site.kind == EVENT_STRONG;

	return in->guarded || it->site.kind == EVENT_MBAR_WAIT || it->site.kind == EVENT_WARP_ARRIVE ||
	       it->site.kind == EVENT_TC_MMA || it->site.kind == EVENT_TC_COPY ||
	       (access && it->site.space == EVENT_GENERIC && p->local) || plan_lanes(it) < EVENT_LANES;
}

/* A plain access of all lanes whose pattern only a look at run time shows. */
static bool is_loose(const struct planner *p, const struct plan_item *it)
{
	return it->site.kind == EVENT_ACCESS && address_of(&it->stmt->inst)->kind == OP_ADDR && it->site.size && !splits(p, it) &&
	       it->offset == (int32_t)it->offset;
}

/* One of its class of which this one's address is a constant away; NONE. */
static uint32_t find_line(struct planner *p, const struct plan_item *it, int64_t *offset)
{
	const struct ptx_operand *o = address_of(&it->stmt->inst)->list;
	struct value v;

	if (!is_register(o))
		return FLOW_NONE;
	v = value_of(p, o->sym);
	for (uint32_t i = p->merges; i < p->p->n - 1; i++) {
		const struct plan_item *line = &p->p->item[i];
		const struct ptx_operand *base;
		int64_t more;

		if (line->kind != it->kind || line->step != it->step || line->site.space != it->site.space)
			continue;
		base = address_of(&line->stmt->inst)->list;
		more = v.more - line->more;
		if (!is_register(base) || line->root != v.root || more + it->offset != (int32_t)(more + it->offset))
			continue;
		*offset = more + it->offset;
		return i;
	}
	return FLOW_NONE;
}

static void share_room(struct planner *p, uint32_t at)
{
	struct plan_item *it = &p->p->item[at];

	if (p->open == FLOW_NONE || p->taken + it->units > ROOM_UNITS) {
		it->first = true;
		p->open = at;
		p->taken = 0;
	}
	p->taken += it->units;
}

/* A constant away from one that is logged already, or what others may be a constant away from. */
static bool shares_line(struct planner *p, struct plan_item *it)
{
	const struct ptx_operand *o = address_of(&it->stmt->inst)->list;
	int64_t offset = 0;
	uint32_t line = find_line(p, it, &offset);

	if (line == FLOW_NONE) {
		it->members = 1;
		it->root = is_register(o) ? value_of(p, o->sym).root : FLOW_NONE;
		it->more = is_register(o) ? value_of(p, o->sym).more : 0;
		return false;
	}
	it->kind = PLAN_MEMBER;
	it->leader = line;
	it->offset = offset;
	p->p->item[line].members++;
	return true;
}

static void add_line(struct planner *p, struct plan_item *it)
{
	if (shares_line(p, it))
		return;
	it->units = it->kind == PLAN_EACH ? EACH_UNITS : 1;
	share_room(p, p->p->n - 1);
}

static bool is_same(const struct flow *f, const struct ptx_operand *o)
{
	bool all = true;

	if (o->kind != OP_ADDR && o->kind != OP_VEC)
		return o->kind == OP_SINK || flow_shape(f, o).kind == SHAPE_SAME;
	for (unsigned i = 0; i < o->n; i++)
		all = all && is_same(f, &o->list[i]);
	return all;
}

/* Do all lanes have the same operands?  A result is not one. */
static bool takes_same(const struct flow *f, const struct plan_item *it)
{
	const struct ptx_inst *in = &it->stmt->inst;

	if (it->site.kind == EVENT_TC_ALLOC || it->site.kind == EVENT_MAP_COPY)
		return true;            /* a warp's as one */
	if ((it->site.kind < EVENT_MBAR_INIT || it->site.kind > EVENT_CANCEL || it->site.kind == EVENT_CP_ASYNC) &&
	    it->site.kind != EVENT_TC_COMMIT)
		return false;
	for (unsigned i = in->nops && in->ops[0].kind != OP_ADDR; i < in->nops; i++)
		if (!f->block[it->block].alone && !is_same(f, &in->ops[i]))
			return false;
	return true;
}

/* A product whose descriptors are constants away from those of the one in front of it shares that one's record. */
static bool add_product(struct planner *p, struct plan_item *it)
{
	uint32_t at = p->p->n - 1, lead = at ? at - 1 : 0;
	struct plan_item *first = &p->p->item[lead];
	int64_t delta[2];

	if (!at || p->open == FLOW_NONE || first->site.kind != EVENT_WGMMA || first->block != it->block)
		return false;
	lead = first->kind == PLAN_MEMBER ? first->leader : lead;
	first = &p->p->item[lead];
	for (unsigned i = 0; i < 2; i++) {
		const struct ptx_operand *o = ptx_operand(&it->stmt->inst, 1 + i);
		struct value v = is_register(o) ? value_of(p, o->sym) : (struct value){0, 0, 0};

		if (!is_register(o) || v.root != first->descriptor[i].root)
			return false;
		delta[i] = v.more - first->descriptor[i].more;
		if (delta[i] != (int16_t)delta[i])
			return false;
	}
	it->kind = PLAN_MEMBER;
	it->leader = lead;
	it->offset = (int32_t)((uint32_t)(uint16_t)delta[0] | (uint32_t)(uint16_t)delta[1] << 16);
	first->members++;
	return true;
}

/* What its descriptors are, for others. */
static void open_product(struct planner *p, struct plan_item *it)
{
	it->members = 1;
	for (unsigned i = 0; i < 2; i++) {
		const struct ptx_operand *o = ptx_operand(&it->stmt->inst, 1 + i);
		struct value v = is_register(o) ? value_of(p, o->sym) : (struct value){0, FLOW_NONE, 0};

		it->descriptor[i].root = v.root;
		it->descriptor[i].more = v.more;
	}
}

static void classify(struct planner *p, struct ptx_stmt *s)
{
	const struct ptx_inst *in = &s->inst;
	struct event_site site = {0};
	struct plan_item *it;
	bool leaves = (in->id == INST_RET && p->p->flow->f->entry) || in->id == INST_EXIT;

	if (!leaves && in->id != INST_CALL && !probe_site(&site, in))
		return;
	it = add(p, s);
	it->site = site;
	if (in->id == INST_CALL)
		call_site(&it->site, plan_callee(in));
	it->site.line = s->line;
	if (leaves)
		it->site.kind = EVENT_EXIT;
	if (p->quiet && it->site.kind == EVENT_STRONG)
		it->site.kind = EVENT_ACCESS;
	it->stored = p->stored && it->site.kind == EVENT_ACCESS && it->site.size && it->site.size <= 8 &&
		     ptx_insts[in->id].access == ACCESS_STORE;
	if (!it->stored && is_line(p, it)) {
		add_line(p, it);
		return;
	}
	if (!it->stored && is_loose(p, it)) {
		it->kind = PLAN_OTHER;
		if (shares_line(p, it))
			return;
		it->first = true;
		it->units = most_units(it);
		p->open = FLOW_NONE;
		return;
	}
	p->merges = p->p->n;
	if (it->site.kind == EVENT_WGMMA && is_short(it) && add_product(p, it))
		return;
	if (is_short(it) && in->id != INST_CALL) {
		if (it->site.kind == EVENT_WGMMA)
			open_product(p, it);
		it->kind = PLAN_SHORT;
		it->units = it->site.kind == EVENT_WGMMA || (it->site.kind == EVENT_BAR_ARRIVE && !ptx_has(in, MOD_ARRIVE)) ? 2 : 1;
		share_room(p, p->p->n - 1);
		p->merges = p->p->n;
		return;
	}
	it->kind = in->id == INST_CALL ? PLAN_CALL : PLAN_OTHER;
	it->first = true;
	it->splits = it->kind == PLAN_CALL || splits(p, it);
	it->once = takes_same(p->p->flow, it);
	it->poll = it->kind == PLAN_OTHER && it->site.kind == EVENT_STRONG && it->site.does & EVENT_READS &&
		   !(it->site.does & EVENT_NO_RESULT) && flow_loops(p->p->flow, it->block);
	p->p->polls |= it->poll;
	it->units = it->kind == PLAN_CALL && plan_callee(in) < CALLEE_GIVES ? 0 : most_units(it);
	p->p->calls |= calls(in);
	p->open = FLOW_NONE;
}

static void walk_blocks(struct planner *p)
{
	struct flow *f = p->p->flow;

	for (p->block = 0; p->block < f->n; p->block++) {
		p->open = FLOW_NONE;
		p->merges = p->p->n;
		for (struct ptx_stmt *s = f->block[p->block].first;; s = s->next) {
			if (s->kind == STMT_INST) {
				classify(p, s);
				set_values(p, &s->inst);
			}
			if (s == f->block[p->block].last)
				break;
		}
	}
}

/* ---- groups --------------------------------------------------------------------------------------------------- */

/* Is there a group behind the block if there is one in front of it? */
static bool behind(const struct plan *p, uint32_t *at, uint32_t block, bool group, bool mark)
{
	for (; *at < p->n && p->item[*at].block == block; ++*at) {
		struct plan_item *it = &p->item[*at];

		if (it->kind == PLAN_MEMBER)
			continue;
		if (mark && it->first)
			it->group = !group;
		group = !it->splits;
	}
	return group;
}

static void find_groups(struct plan *p, struct ptx_arena *arena)
{
	struct flow *f = p->flow;
	uint8_t *in = ptx_alloc(arena, f->n + 1);
	bool more = true;

	for (uint32_t b = 0; b < f->n; b++)
		in[b] = !f->block[b].meeting && (b || f->f->entry);
	while (more) {
		uint32_t at = 0;

		more = false;
		for (uint32_t b = 0; b < f->n; b++) {
			const uint32_t to[2] = {f->block[b].next, f->block[b].target};
			bool out = behind(p, &at, b, in[b], false);

			for (unsigned k = 0; k < 2; k++)
				if (to[k] != FLOW_NONE && in[to[k]] && !out) {
					in[to[k]] = 0;
					more = true;
				}
		}
	}
	for (uint32_t b = 0, at = 0; b < f->n; b++)
		behind(p, &at, b, in[b], true);
}

/* What a warp does as one: of all but barriers lane 0's record counts (detect/stream.c). */
static bool is_of_warp(const struct plan_item *it, bool gather)
{
	switch (it->site.kind) {
	case EVENT_WGMMA: case EVENT_TC_LOAD: case EVENT_TC_STORE: case EVENT_TC_WAIT: case EVENT_TC_ALLOC: case EVENT_TC_FREE:
	case EVENT_MAP_COPY:
		return !it->stmt->inst.guarded;
	case EVENT_COMMIT: case EVENT_WAIT_GROUP:
		return !it->stmt->inst.guarded && it->site.variant == EVENT_LIST_WGMMA;
	case EVENT_BAR_ARRIVE:          /* ptxas has the lanes meet in front of it (doc/hardware.md 18) */
		return gather && !it->stmt->inst.guarded && (it->stmt->inst.id == INST_BAR || ptx_has(&it->stmt->inst, MOD_ALIGNED));
	default:
		return false;
	}
}

static bool has_warp_sync(const struct ptx_func *f)
{
	for (const struct ptx_stmt *s = f->body; s; s = s->next)
		if (s->kind == STMT_INST && s->inst.id == INST_BAR_WARP_SYNC)
			return true;
	return false;
}

/* Lanes that come to a block one by one, and do something as one in it: what they log of that has to be one group's,
 * since its place is that of the first lanes' record.  They may wait for each other, since all of them come. */
static void find_whole(struct plan *p, bool gather)
{
	uint32_t block = FLOW_NONE;

	for (uint32_t i = p->n; i-- > 0;) {
		struct plan_item *it = &p->item[i];

		block = is_of_warp(it, gather) ? it->block : block;
		it->whole = it->group && it->block == block && !it->stmt->inst.guarded;
	}
}

/* ---- room ------------------------------------------------------------------------------------------------------- */

/* From its first item on: those that share room with it. */
static void share(struct plan *p, uint32_t first)
{
	struct plan_item *it = &p->item[first];
	uint32_t block = it->block;

	it->room = it->group;
	for (uint32_t i = first; i < p->n && (i == first || !p->item[i].first) && p->item[i].block == block; i++) {
		struct plan_item *x = &p->item[i];

		x->at = it->room;
		it->each += x->kind == PLAN_EACH;
		it->room += x->kind == PLAN_MEMBER || x->kind == PLAN_EACH ? 0 : x->units;
	}
}

/* Units that a record with room of its own, or those that share one, take at most. */
static uint32_t taken_by(const struct plan_item *it)
{
	return it->kind == PLAN_OTHER || it->kind == PLAN_CALL ? it->units : it->room + it->each * EACH_UNITS;
}

/* Which of a block look for room for those of the same group behind them, too.  Returns units, at most. */
static uint32_t find_checks(struct plan *p)
{
	struct plan_item *open = NULL;
	uint32_t taken = 0, most = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		struct plan_item *it = &p->item[i];

		if (!it->first)
			continue;
		it->sure = open && !it->group && it->block == open->block && !it->splits && !it->poll &&
			   taken + taken_by(it) <= AHEAD_UNITS;
		taken = it->sure ? taken + taken_by(it) : taken_by(it);
		if (it->sure)
			open->ahead = taken;
		else
			open = it->splits || it->poll ? NULL : it;
		most = taken > most ? taken : most;
	}
	return most;
}

/* Behind a kernel's start a piece has room for what it is bound to log. */
static void find_first_check(struct plan *p)
{
	struct plan_item *it;
	uint32_t i = 0;

	while (i < p->n && !p->item[i].first)
		i++;
	it = &p->item[i];
	if (i < p->n && p->flow->f->entry && !it->block && !flow_loops(p->flow, 0) && !it->group && !it->splits && !it->poll)
		it->sure = START_UNITS + HEAD_UNITS + (it->ahead ? it->ahead : taken_by(it)) <= p->piece;
}

static void find_room(struct plan *p)
{
	uint64_t all = START_UNITS, most;
	bool loops = false;

	for (uint32_t i = 0; i < p->n; i++) {
		struct plan_item *it = &p->item[i];

		if (!it->first)
			continue;
		if (it->kind == PLAN_LINE || it->kind == PLAN_EACH || it->kind == PLAN_SHORT)
			share(p, i);
		loops |= flow_loops(p->flow, it->block);
		all += taken_by(it);
	}
	most = find_checks(p) + HEAD_UNITS;
	all = loops || all > PIECE_UNITS ? PIECE_UNITS : all;
	for (p->piece = 4; p->piece < all || p->piece < most;)
		p->piece *= 2;
	find_first_check(p);
}

static bool has_local(const struct ptx_func *f)
{
	for (const struct ptx_stmt *s = f->body; s; s = s->next)
		if ((s->kind == STMT_VAR && s->var->sym->space == SPACE_LOCAL) ||
		    (s->kind == STMT_INST && (s->inst.id == INST_ALLOCA || s->inst.id == INST_CALL)))
			return true;
	return !f->entry;
}

/* Blocks that have threads along x alone: those of a warp are a row.  .maxntid bounds the product of a block's
 * extents, and not each of them (PTX ISA, "Performance-Tuning Directives: .maxntid"). */
static bool is_linear(const struct ptx_func *f)
{
	return f->reqntid[0] && f->reqntid[1] == 1 && f->reqntid[2] == 1;
}

struct plan *plan_of(struct ptx_arena *arena, const struct ptx_func *f, struct plan_facts facts)
{
	struct planner p = {
		.arena = arena, .stored = facts.stored, .quiet = facts.quiet, .roots = (uint32_t)f->nregs, .local = has_local(f)
	};

	p.p = ptx_alloc(arena, sizeof *p.p);
	p.p->flow = flow_of(arena, f);
	p.p->rows = facts.flat || is_linear(f);
	p.value = ptx_alloc(arena, ((size_t)f->nregs + 1) * sizeof *p.value);
	walk_blocks(&p);
	find_groups(p.p, arena);
	find_whole(p.p, facts.gather && !has_warp_sync(f));
	find_room(p.p);
	return p.p;
}
