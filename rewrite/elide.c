/* SPDX-License-Identifier: Apache-2.0
 *
 * elide.c: leaves out the calls that cannot change a verdict.  rules.def names
 * the rules.  The ones about repeated accesses work within a basic block, from
 * one synchronisation to the next: as long as a thread's clock stands still, a
 * second access to bytes that it has already accessed at least as strongly
 * leaves the same record, and whoever races with one races with the other.
 */
#include <string.h>

#include "rewrite/rw.h"

/* Accesses remembered; of more the oldest is forgotten. */
#define MEMORY 16

/* Bytes that one call checks at most: granules for half a warp. */
#define MERGED 128

/* Elements of a column at most, and how far apart. */
#define COLUMN 64
#define COLUMN_LEAST 4
#define STRIDE_MAX (1 << 20)

struct past {
	const struct ptx_sym *base;     /* register or variable; NULL: slot is free */
	const struct ptx_sym *guard;
	int64_t off;
	unsigned bytes;
	bool write, nc, guard_neg;
	char space;
	struct rw_event *event;         /* that makes the call */
	struct rw_event *last;          /* of its column */
};

struct memory {
	struct past past[MEMORY];
	unsigned next;
	bool any;
	uint64_t names;                 /* a bit for each base and guard of them, and of some more */
	int64_t end;                    /* none has bytes from here on, whatever its base */
	struct rw_event *product;       /* of matrices, with nothing that is told of since */
};

/* Most registers that are written are no base of anything remembered. */
static inline uint64_t bit(const struct ptx_sym *sym)
{
	return (uint64_t)1 << (((uintptr_t)sym >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

static void forget_all(struct memory *m)
{
	if (m->any)
		memset(m, 0, sizeof *m);
}

static void forget(struct memory *m, const struct ptx_operand *o)
{
	if (o->kind == OP_SYM) {
		if (!(m->names & bit(o->sym)))
			return;
		for (unsigned i = 0; i < MEMORY; i++)
			if (m->past[i].base == o->sym || m->past[i].guard == o->sym)
				m->past[i].base = NULL;
	} else if (o->kind == OP_VEC || o->kind == OP_PAIR || o->kind == OP_LIST) {
		for (unsigned i = 0; i < o->n; i++)
			forget(m, &o->list[i]);
	}
}

/* Behind its bytes; of the highest addresses that wraps. */
static inline int64_t end_of(const struct past *p)
{
	return (int64_t)((uint64_t)p->off + p->bytes);
}

/* Does `p` happen whenever `now` does, to at least its bytes? */
static inline bool covers(const struct past *p, const struct past *now)
{
	return p->base == now->base && p->space == now->space &&
		p->off <= now->off && end_of(now) <= end_of(p) &&
		(!p->guard || (p->guard == now->guard && p->guard_neg == now->guard_neg));
}

/* A read of the read-only proxy is only covered by another one: it has rules of
 * its own (PTX ISA "ld.global.nc"). */
static enum rw_rule repeated(const struct memory *m, const struct past *now)
{
	/* Unrolled code goes up. */
	if (end_of(now) > m->end || !(m->names & bit(now->base)))
		return RULE_NONE;
	for (unsigned i = 0; i < MEMORY; i++) {
		const struct past *p = &m->past[i];

		if (!p->base || !covers(p, now))
			continue;
		if (p->write && now->write)
			return RULE_WRITE_WRITE;
		if (!now->write && p->nc == now->nc)
			return p->write ? RULE_READ_WRITE : RULE_READ_READ;
	}
	return RULE_NONE;
}

static bool same_line(const struct ptx_loc *a, const struct ptx_loc *b)
{
	return a && b && a->file == b->file && a->line == b->line && a->inlined_at == b->inlined_at;
}

static bool alike(const struct past *p, const struct past *now)
{
	return p->base == now->base && p->space == now->space && p->write == now->write &&
		p->nc == now->nc && p->guard == now->guard && p->guard_neg == now->guard_neg;
}

/* Bytes that follow on those of an earlier access of the same source line. */
static bool adjoins(const struct past *p, const struct past *now)
{
	return !p->event->n && p->off + p->bytes == now->off &&
		p->bytes + now->bytes <= MERGED && same_line(p->event->stmt->loc, now->event->stmt->loc);
}

/* A read the same distance behind the last element as that from
 * each to the next.  The device looks at granules: each element has its own. */
static bool in_column(const struct past *p, const struct past *now)
{
	int64_t step = now->off - p->off - (int64_t)p->event->n * p->event->stride;

	if (now->write || now->nc || now->bytes > 8 || p->bytes != now->bytes ||
	    p->event->more || p->event->n + 1 == COLUMN)
		return false;
	return p->event->n ? step == p->event->stride : step > 0 && step <= STRIDE_MAX && step % 8 == 0;
}

static void remember(struct memory *m, const struct past *now)
{
	m->past[m->next] = *now;
	m->next = (m->next + 1) % MEMORY;
	m->any = true;
	m->names |= bit(now->base) | bit(now->guard);
}

/* A read that lies nearer to the first of a pair than the second does, where a loop reads two
 * arrays by turns: it is that one's next, and the other begins a column of its own. */
static bool nearer(struct memory *m, struct past *p, const struct past *now)
{
	int64_t step = now->off - p->off;
	struct past other = *p;

	if (p->event->n != 1 || now->write || now->nc || now->bytes > 8 || p->bytes != now->bytes ||
	    step <= 0 || step % 8 || step >= p->event->stride)
		return false;
	other.off += p->event->stride;
	other.event = other.last = p->last;
	other.event->rule = RULE_NONE;
	p->event->stride = (uint32_t)step;
	p->event->next = (uint32_t)(now->event - p->event);
	p->last = now->event;
	remember(m, &other);
	return true;
}

/* Accesses of an unrolled loop: one call checks all of them, at the first.  In global
 * memory, where lanes seldom read the same, one call for them gains nothing. */
static enum rw_rule joined(struct memory *m, const struct past *now)
{
	if (now->space != 's')
		return RULE_NONE;
	for (unsigned i = 0; i < MEMORY; i++) {
		struct past *p = &m->past[i];
		enum rw_rule rule = RULE_NONE;

		if (!p->base || !alike(p, now))
			continue;
		if (adjoins(p, now)) {
			rule = RULE_MERGED;
			p->bytes += now->bytes;
			p->event->more += (unsigned char)now->bytes;
		} else if (in_column(p, now)) {
			rule = RULE_COLUMN;
			p->event->stride = (uint32_t)(now->off - p->off) / ++p->event->n;
			p->last->next = (uint32_t)(now->event - p->last);
			p->last = now->event;
		} else {
			continue;
		}
		/* Not the next to be forgotten. */
		if (i == m->next)
			m->next = (i + 1) % MEMORY;
		return rule;
	}
	for (unsigned i = 0; i < MEMORY; i++)
		if (i != m->next && m->past[i].base && alike(&m->past[i], now) && nearer(m, &m->past[i], now))
			return RULE_COLUMN;
	return RULE_NONE;
}

/* A write stands for reads of its bytes by the same source line, x += y: what is not
 * ordered with the read is not ordered with the write either. */
static void stand_for_reads(struct memory *m, const struct past *now)
{
	if (!now->event->stmt->loc)
		return;
	for (unsigned i = 0; i < MEMORY; i++) {
		struct past *p = &m->past[i];

		if (!p->base || p->write || p->nc || !covers(now, p) ||
		    !same_line(p->event->stmt->loc, now->event->stmt->loc))
			continue;
		p->event->written = true;
		p->base = NULL;
	}
}

static bool weak_scalar(const struct rw_event *e)
{
	const struct ptx_operand *base;

	if ((e->what != WHAT_READ && e->what != WHAT_WRITE) || e->matrix || ptx_inst_left_out(&e->stmt->inst))
		return false;
	base = &e->addr->list[0];
	return base->kind == OP_SYM && !base->elem;
}

static enum rw_rule elide_weak(struct memory *m, struct rw_event *e)
{
	const struct ptx_operand *base = &e->addr->list[0];
	const struct ptx_inst *in = &e->stmt->inst;
	struct past now = {
		.base = base->sym, .off = base->off,
		.guard = in->guarded ? in->guard : NULL, .guard_neg = in->guard_neg,
		.bytes = GSAN_INFO_SIZE(e->info), .write = e->what == WHAT_WRITE,
		.nc = e->info & GSAN_INFO_NC, .space = e->space, .event = e, .last = e
	};
	enum rw_rule rule = repeated(m, &now);

	if (!rule)
		rule = joined(m, &now);
	if (!rule && now.write)
		stand_for_reads(m, &now);
	if (!rule)
		remember(m, &now);
	if (end_of(&now) > m->end)
		m->end = end_of(&now);
	return rule;
}

/* Accesses of memory that no other thread can touch meanwhile. */
static enum rw_rule private_rule(const struct rw_event *e)
{
	if (!e->addr || e->space != 'p')
		return RULE_NONE;
	switch (ptx_inst_space(&e->stmt->inst)) {
	case SPACE_LOCAL:
		return RULE_LOCAL;
	case SPACE_PARAM:
		return RULE_PARAM;
	case SPACE_CONST:
		return RULE_CONST;
	default:
		return RULE_GENERIC_PRIVATE;
	}
}

/* Products of one kind that follow one another are told of together, at the last: what they read is the
 * same as if each were, as the warp learns of nothing in between.  None may be left out. */
static void follow(struct memory *m, struct rw_event *e, const struct ptx_inst *in)
{
	struct rw_event *last = m->product;

	if (e ? e->rule != RULE_NONE : in->id != INST_CALL)
		return;
	m->product = e && e->what == WHAT_WGMMA && !in->guarded ? e : NULL;
	if (!m->product || !last || last->info != e->info || last->more + 1 == GSAN_PRODUCTS)
		return;
	last->put_by = true;
	e->more = last->more + 1;
}

static void statement(struct memory *m, struct rw_event *e, const struct ptx_stmt *s)
{
	const struct ptx_inst *in = &s->inst;

	if (e) {
		e->rule = (unsigned char)private_rule(e);
		if (e->rule == RULE_NONE && weak_scalar(e))
			e->rule = (unsigned char)elide_weak(m, e);
		else if (e->what >= WHAT_STRONG && e->rule == RULE_NONE)
			forget_all(m);
	} else if (in->id == INST_CALL) {
		forget_all(m);
	}
	follow(m, e, in);
	if (m->any && in->nops)
		forget(m, &in->ops[0]);
}

/* Does the call for `e` go a simple way: a weak access, a barrier, the end? */
static bool is_weak(const struct rw_event *e)
{
	switch (e->what) {
	case WHAT_READ:
	case WHAT_WRITE:
		return e->space == 'g' || e->space == 's' || e->space == 'x' || e->space == 'p';
	case WHAT_BARRIER:
	case WHAT_LEAVE:
		return true;
	default:
		return false;
	}
}

/* A column that stayed short gains nothing. */
static void break_up(struct rw_event *e)
{
	struct rw_event *member = e;

	for (unsigned k = 0; k < e->n; k++) {
		member += member->next;
		member->rule = RULE_NONE;
	}
	e->n = 0;
}

void rw_elide(struct rw *r)
{
	for (unsigned i = 0; i < r->nfuncs; i++) {
		struct rw_func *rf = r->funcs[i];
		struct rw_event *e = rf->events, *end = e + rf->nevents;
		struct memory m = { 0 };

		rf->weak = rf->f->entry;
		for (unsigned b = 0; b < rf->nblocks && e < end; b++) {
			struct ptx_stmt *s = rf->blocks[b].first;
			struct rw_event *top = e;

			forget_all(&m);
			m.product = NULL;
			for (;; s = s->next) {
				struct rw_event *now = e < end && e->stmt == s ? e++ : NULL;

				if (s->kind == STMT_INST)
					statement(&m, now, s);
				if (now ? !is_weak(now) : s->kind == STMT_INST && s->inst.id == INST_CALL)
					rf->weak = false;
				if (s == rf->blocks[b].last)
					break;
			}
			rf->blocks[b].events = top;
			rf->blocks[b].nevents = (unsigned)(e - top);
		}
		for (e = rf->events; e < end; e++) {
			if (e->n && e->n + 1 < COLUMN_LEAST)
				break_up(e);
			if (e->written && !e->n)
				e->rule = RULE_READ_FIRST;
			if (e->rule)
				r->stats->elided[e->rule]++;
			rf->columns |= e->n != 0;
		}
	}
}
