/* SPDX-License-Identifier: Apache-2.0
 *
 * weak.c: what nothing orders between the generic and the async proxy (PTX ISA, "Async
 * Proxy"), made visible under some seeds; with seed 0 the two are one.
 *
 * Generic writes, asynchronous reads: for a block whose kernel reads shared memory
 * through the async proxy there is a second copy of it, what that proxy saw last.
 * Asynchronous writes go to both, a proxy fence brings the copy up to date, and an
 * operation may read either.
 *
 * Likewise for global memory what a block has written since its last proxy fence: what
 * was there before is kept, and an operation of that block may read it.
 *
 * Generic reads, asynchronous writes: a load from shared memory may stay under way
 * until its result is first used, and bytes that the async proxy writes meanwhile are
 * what it gets, unless the thread has run a proxy fence.  Barriers do not matter to it.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/async.h"
#include "emu/listen.h"

/* ---- the second copy ------------------------------------------------------------------- */

void emu_weak_block(struct emu_block *b)
{
	emu_weak_global_fence(b);
	if (!emu_m.seed || !b->grid->func->mod->async_reads) {
		free(b->stale);
		b->stale = NULL;
		return;
	}
	if (!b->stale)
		b->stale = malloc(b->smem_end);
	if (!b->stale)
		abort();
	memcpy(b->stale, b->smem, b->smem_end);
}

void emu_weak_fence(struct emu_block *b)
{
	if (b->stale)
		memcpy(b->stale, b->smem, b->smem_end);
}

/* ---- what was in global memory before ------------------------------------------------------ */

struct undo { uint64_t a; uint8_t size, old[32]; };

enum { UNDOS = 4096 };          /* a block that writes more than this is forgotten about */

struct emu_undos { struct undo *v; unsigned n, cap; };

void emu_weak_global_fence(struct emu_block *b)
{
	if (b->undos)
		b->undos->n = 0;
}

void emu_weak_free(struct emu_block *b)
{
	free(b->stale);
	if (b->undos)
		free(b->undos->v);
	free(b->undos);
}

bool emu_weak_global(const struct emu_block *b)
{
	return b->undos && b->undos->n;
}

/* `to` has the n bytes at `a` as they are: makes them what they were. */
void emu_weak_before(const struct emu_block *b, uint64_t a, uint32_t n, uint8_t *to)
{
	for (unsigned i = b->undos ? b->undos->n : 0; i--;) {
		const struct undo *u = &b->undos->v[i];

		for (unsigned k = 0; u->a < a + n && a < u->a + u->size && k < u->size; k++)
			if (u->a + k - a < n)
				to[u->a + k - a] = u->old[k];
	}
}

static void remember(struct emu_block *b, uint64_t a, unsigned size)
{
	struct emu_undos *s = b->undos;

	if (!s) {
		s = b->undos = calloc(1, sizeof *s);
		if (!s)
			abort();
	}
	if (s->n == UNDOS)
		s->n = 0;
	if (s->n == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 64;
		s->v = realloc(s->v, s->cap * sizeof *s->v);
		if (!s->v)
			abort();
	}
	s->v[s->n].a = a;
	s->v[s->n].size = (uint8_t)size;
	memcpy(s->v[s->n++].old, emu_view(a), size);
}

static void remember_lanes(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	unsigned size = (unsigned)op->size * op->n;

	EMU_EACH(l, m) {
		uint64_t a = emu_addr_of(x, &op->u.mem, l);

		if (size <= sizeof ((struct undo *)0)->old && !(a & (size - 1)) && emu_mem_ok(a, size))
			remember(x->b, a, size);
	}
}

/* ---- loads under way --------------------------------------------------------------------- */

struct late {                   /* one word of one lane */
	const struct emu_op *use;
	const uint8_t *from;
	uint64_t until;
	uint32_t base, at;              /* frame; row * EMU_LANES */
	uint8_t lane, size;
};

struct emu_lates { struct late *v; unsigned n, cap; };

static unsigned live;           /* entries of all warps */

struct emu_weak {
	emu_op_fn *fn;                  /* what it does */
	const struct emu_op *use;       /* of a load that may be late */
	bool store;                     /* to memory that is perhaps global */
};

static struct emu_weak *weak_of(const struct emu_op *op)
{
	return &op->func->weak[op - op->func->ops];
}

static void forget(struct emu_lates *c, unsigned i)
{
	c->v[i] = c->v[--c->n];
	live--;
}

void emu_late_forget(struct emu_warp *w, uint32_t m)
{
	struct emu_lates *c = w->copies ? w->copies->late : NULL;

	if (!c)
		return;
	for (unsigned i = c->n; i--;)
		if (m >> c->v[i].lane & 1)
			forget(c, i);
}

void emu_late_free(struct emu_copies *copies)
{
	if (!copies->late)
		return;
	live -= copies->late->n;
	free(copies->late->v);
	free(copies->late);
	copies->late = NULL;
}

/* The async proxy has written [p, p + n) of the block's shared memory. */
void emu_late_landed(struct emu_block *b, const uint8_t *p, uint32_t n)
{
	if (!live)
		return;
	for (unsigned i = 0; i < b->nwarps; i++) {
		struct emu_warp *w = &b->warp[i];
		struct emu_lates *c = w->copies ? w->copies->late : NULL;

		for (unsigned k = 0; c && k < c->n; k++) {
			const struct late *e = &c->v[k];

			if (e->from + e->size <= p || e->from >= p + n)
				continue;
			/* little endian: the low bytes of the row */
			memcpy(&w->rows[(size_t)e->base * EMU_LANES + e->at + e->lane], e->from,
			       e->size);
		}
	}
}

static void keep(struct emu_x *x, const struct emu_op *op, unsigned l, const uint8_t *from,
		 uint64_t until)
{
	struct emu_copies *copies = emu_copies_of(x->w);
	struct emu_lates *c = copies->late;

	if (!c) {
		c = copies->late = calloc(1, sizeof *c);
		if (!c)
			abort();
	}
	for (unsigned i = 0; i < op->n; i++) {
		if (c->n == c->cap) {
			c->cap = c->cap ? c->cap * 2 : 32;
			c->v = realloc(c->v, c->cap * sizeof *c->v);
			if (!c->v)
				abort();
		}
		c->v[c->n++] = (struct late){
			.use = weak_of(op)->use, .from = from + i * op->size, .until = until,
			.base = x->base, .at = op->o[i].at, .lane = (uint8_t)l, .size = op->size
		};
		live++;
	}
}

/* A load that may stay under way.  A few do, for some thousand steps at most. */
static const struct emu_op *load(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	uint64_t at[EMU_LANES] = {0}, until;
	const struct emu_op *next;
	bool late = emu_m.seed && !emu_m.stepwise && emu_async_chance(2);

	if (late)               /* the result may be where the address is */
		EMU_EACH(l, m)
			at[l] = emu_addr_of(x, &op->u.mem, l);
	next = weak_of(op)->fn(x, op, m);
	if (!late || emu_m.fault)
		return next;
	until = emu_m.steps + (emu_random() & 2047);
	EMU_EACH(l, m) {
		const uint8_t *p = emu_at(x, l, op->u.mem.base, at[l], (unsigned)op->size * op->n);

		if (p >= x->b->smem && p < x->b->smem + x->b->smem_end)
			keep(x, op, l, p, until);
	}
	return next;
}

/* The first use of its result, where it ends; or a store. */
static const struct emu_op *use(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct emu_lates *c = live && x->w->copies ? x->w->copies->late : NULL;

	for (unsigned i = c ? c->n : 0; i--;) {
		const struct late *e = &c->v[i];

		if (e->use != op || e->base != x->base || !(m >> e->lane & 1))
			continue;
		/* It would be told of twice. */
		if (e->until > emu_m.steps && !emu_listening)
			return emu_yield(x, op);
		forget(c, i);
	}
	if (weak_of(op)->store && emu_m.seed)
		remember_lanes(x, op, m);
	return weak_of(op)->fn(x, op, m);
}

/* ---- finding them when a function has been decoded --------------------------------------- */

enum { ASYNC_KNOWN = 1, ASYNC_WRITES = 2, ASYNC_READS_GLOBAL = 4 };

/* Whether the async proxy may write shared memory. */
static bool writes(const struct ptx_inst *in)
{
	switch (in->id) {
	case INST_CP_ASYNC_BULK:
	case INST_CP_ASYNC_BULK_TENSOR:
	case INST_CP_REDUCE_ASYNC_BULK:
		return !ptx_has(in, MOD_BULK_GROUP);
	case INST_CLUSTERLAUNCHCONTROL_TRY_CANCEL:
		return true;
	default:
		return false;
	}
}

/* And whether it may read global memory. */
static bool reads_global(const struct ptx_inst *in)
{
	return (in->id == INST_CP_ASYNC_BULK && ptx_has(in, MOD_GLOBAL) && writes(in)) ||
	       (in->id == INST_CP_ASYNC_BULK_TENSOR && writes(in));
}

static unsigned module_does(struct emu_module *mod)
{
	if (mod->async)
		return mod->async;
	mod->async = ASYNC_KNOWN;
	for (unsigned i = 0; i < mod->nfuncs; i++) {
		for (const struct ptx_stmt *s = mod->funcs[i]->ptx->body; s; s = s->next) {
			if (s->kind != STMT_INST)
				continue;
			if (writes(&s->inst))
				mod->async |= ASYNC_WRITES;
			if (reads_global(&s->inst))
				mod->async |= ASYNC_READS_GLOBAL;
		}
	}
	return mod->async;
}

static bool mentions(const struct ptx_operand *p, const struct ptx_sym *reg)
{
	if (p->sym == reg)
		return true;
	for (unsigned i = 0; i < p->n; i++)
		if (mentions(&p->list[i], reg))
			return true;
	return false;
}

static bool uses(const struct ptx_inst *in, const struct ptx_operand *result)
{
	if (result->n) {
		for (unsigned i = 0; i < result->n; i++)
			if (uses(in, &result->list[i]))
				return true;
		return false;
	}
	if (!result->sym)
		return false;
	if (in->guard == result->sym)
		return true;
	for (unsigned i = 0; i < in->nops; i++)
		if (mentions(&in->ops[i], result->sym))
			return true;
	return false;
}

/* The program's own statement from there on. */
static const struct ptx_stmt *own(const struct ptx_stmt *s)
{
	while (s && s->inserted)
		s = s->next;
	return s;
}

/* A true dependency on a register that tcgen05.ld fills is respected without any wait (PTX
 * ISA, "Register dependencies, same thread"). */
bool emu_ld_waited(const struct ptx_stmt *ld)
{
	for (const struct ptx_stmt *s = own(ld->next); s && s->kind != STMT_LABEL; s = own(s->next)) {
		if (s->kind != STMT_INST)
			continue;
		if (s->inst.id == INST_TCGEN05_WAIT_LD && !s->inst.guarded)
			return true;
		if (ptx_leaves(&s->inst) || uses(&s->inst, &ld->inst.ops[0]))
			return false;
	}
	return false;
}

/* The op at which the result of the load `op` is first used, when every lane gets
 * there; NULL if there is none such: nothing but straight code lies between. */
static struct emu_op *first_use(struct emu_op *op)
{
	struct emu_func *f = op->func;
	const struct ptx_operand *result = &op->stmt->inst.ops[0];

	for (const struct ptx_stmt *s = op->stmt->next; s; s = s->next) {
		if (s->kind == STMT_LABEL)
			return NULL;
		if (s->kind != STMT_INST)
			continue;
		if (ptx_leaves(&s->inst))
			return NULL;
		if (!uses(&s->inst, result))
			continue;
		/* Lanes that meet are compared by what they are at: leave that alone. */
		if (s->inst.guarded || s->inst.id == INST_CALL || ptx_has(&s->inst, MOD_SYNC))
			return NULL;
		for (struct emu_op *u = op + 1; u < f->ops + f->nops; u++)
			if (u->stmt == s)
				return u;
		return NULL;
	}
	return NULL;
}

static bool may_be_late(const struct emu_op *op)
{
	const struct ptx_inst *in = &op->stmt->inst;

	if (in->id != INST_LD || !(op->flags & EMU_F_ACCESS) || (op->flags & EMU_F_STRONG) ||
	    op[1].stmt == op->stmt)
		return false;
	for (unsigned i = 0; i < op->n; i++)
		if (op->o[i].kind != OPND_ROW || op->o[i].bank != BANK_REG)
			return false;
	return op->u.mem.base == BASE_SHARED || op->u.mem.base == BASE_OWN_SHARED ||
	       op->u.mem.base == BASE_GENERIC;
}

/* No copy reads what probes store. */
static bool may_be_seen(const struct emu_op *op)
{
	return op->stmt->inst.id == INST_ST && !op->stmt->inserted && (op->flags & EMU_F_ACCESS) &&
	       (op->u.mem.base == BASE_GLOBAL || op->u.mem.base == BASE_GENERIC);
}

static void wrap(struct emu_op *op, emu_op_fn *fn, const struct emu_op *at)
{
	struct emu_weak *k = weak_of(op);

	if (!k->fn) {
		k->fn = op->fn;
		op->fn = fn;
	}
	if (at)
		k->use = at;
}

void emu_weak_wrap(struct emu_func *f)
{
	unsigned does = f->injected ? 0 : module_does(f->mod);

	if (!(does & (ASYNC_WRITES | ASYNC_READS_GLOBAL)))
		return;
	f->weak = ptx_alloc(f->mod->ptx->arena, f->nops * sizeof *f->weak);
	memset(f->weak, 0, f->nops * sizeof *f->weak);
	for (unsigned i = 0; i < f->nops; i++) {
		struct emu_op *op = &f->ops[i], *u;

		if (!op->stmt || op->stmt->kind != STMT_INST)
			continue;
		if (does & ASYNC_READS_GLOBAL && may_be_seen(op)) {
			wrap(op, use, NULL);
			weak_of(op)->store = true;
		}
		if (!may_be_late(op))
			continue;
		u = first_use(op);
		if (!u || weak_of(op)->fn || weak_of(u)->fn == load)
			continue;
		wrap(op, load, u);
		wrap(u, use, NULL);
	}
}
