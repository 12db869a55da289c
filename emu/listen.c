/* SPDX-License-Identifier: Apache-2.0
 *
 * listen.c: who listens, and the instructions that are wrapped when they are decoded, so
 * that nothing is asked while nobody does: loads, stores, fences.
 */
#include <string.h>

#include "emu/access.h"
#include "emu/listen.h"

bool emu_listening;

static struct emu_listener *listener[EMU_LISTENERS];
static unsigned nlisteners;

bool emu_listen(struct emu_listener *l)
{
	if (nlisteners == EMU_LISTENERS)
		return false;
	l->slot = nlisteners;
	listener[nlisteners++] = l;
	emu_listening = emu_mem_judged = true;
	return true;
}

void emu_tell(const struct emu_tell *t)
{
	for (unsigned i = 0; i < nlisteners; i++)
		listener[i]->tell(listener[i]->self, t);
}

void emu_tell_groups(enum emu_tell_kind kind, struct emu_x *x, const struct emu_op *op, uint32_t m,
		     const struct emu_tell_groups *g)
{
	struct emu_tell t = emu_tell_of(kind, x, op, m, x->mask);

	t.u.groups = g;
	emu_tell(&t);
}

void emu_tell_host_wrote(const void *to, uint64_t bytes)
{
	struct emu_tell_host h = {(uintptr_t)to, bytes};

	if (emu_listening)
		emu_tell(&(struct emu_tell){.kind = TELL_HOST_WROTE, .u.host = &h});
}

uint64_t emu_serial(void)
{
	static uint64_t last;

	return ++last;
}

/* ---- wrapped instructions ------------------------------------------------------------------- */

struct emu_told {
	emu_op_fn *fn;                  /* what it does */
	enum emu_tell_kind kind;
};

static const struct emu_told *told_of(const struct emu_op *op)
{
	return &op->func->told[op - op->func->ops];
}

static bool loads(const struct emu_op *op)
{
	return ptx_insts[op->stmt->inst.id].access == ACCESS_LOAD;
}

static uint64_t bytes_of(struct emu_x *x, const struct emu_op *op, unsigned l)
{
	switch (op->stmt->inst.id) {
	case INST_ST_BULK:
		return emu_get(x, op->o[0], l);
	case INST_DISCARD:
		return 128;
	default:
		return (uint64_t)op->size * op->n;
	}
}

/* What element i of a load gave.  What goes nowhere is still there. */
static uint64_t loaded(struct emu_x *x, const struct emu_op *op, unsigned l, unsigned i, uint64_t a)
{
	const void *p;
	uint64_t v = 0;

	if (op->o[i].kind == OPND_ROW)
		return emu_row(x, op->o[i])[l];
	p = emu_at(x, l, op->u.mem.base, a + (uint64_t)i * op->size, op->size);
	if (p)
		memcpy(&v, p, op->size);
	return v;
}

static uint64_t stored(struct emu_x *x, const struct emu_op *op, unsigned l, unsigned i)
{
	return op->o[i].kind == OPND_NONE ? 0 : emu_get(x, op->o[i], l);
}

static const struct emu_op *access(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	uint64_t addr[EMU_LANES], bytes[EMU_LANES], value[EMU_LANES][EMU_ELEMS];
	struct emu_tell t = emu_tell_of(TELL_ACCESS, x, op, m, x->mask);
	struct emu_tell_access a = {
		.base = op->u.mem.base, .addr = addr, .bytes = bytes, .size = op->size, .n = op->n
	};
	bool load = loads(op), valued = op->size && (!load || op->flags & EMU_F_STRONG);
	const struct emu_op *next;

	EMU_EACH(l, m) {                /* the result may be where the address is */
		addr[l] = emu_addr_of(x, &op->u.mem, l);
		bytes[l] = bytes_of(x, op, l);
	}
	next = told_of(op)->fn(x, op, m);
	if (emu_m.fault)
		return next;
	EMU_EACH(l, m)
		for (unsigned i = 0; valued && i < op->n; i++)
			value[l][i] = load ? loaded(x, op, l, i, addr[l]) : stored(x, op, l, i);
	a.read = valued && load ? (const uint64_t (*)[EMU_ELEMS])value : NULL;
	a.wrote = valued && !load ? (const uint64_t (*)[EMU_ELEMS])value : NULL;
	t.u.access = &a;
	emu_tell(&t);
	return next;
}

/* Fences, griddepcontrol, what is not modelled. */
static const struct emu_op *order(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const struct ptx_inst *in = &op->stmt->inst;
	struct emu_tell t = emu_tell_of(told_of(op)->kind, x, op, m, x->mask);
	const struct emu_op *next = told_of(op)->fn(x, op, m);
	uint64_t map[EMU_LANES];

	if (emu_m.fault)
		return next;
	if (t.kind == TELL_GRID)
		t.u.done = next == op + 1;
	if (in->id == INST_FENCE_PROXY_TENSORMAP_GENERIC && ptx_has(in, MOD_ACQUIRE)) {
		EMU_EACH(l, m)
			map[l] = emu_addr_of(x, &op->u.mem, l);
		t.u.map = map;
	}
	emu_tell(&t);
	return next;
}

/* Matrices and atomics tell of themselves. */
static bool is_access(const struct emu_op *op)
{
	const struct ptx_inst *in = &op->stmt->inst;

	switch (ptx_insts[in->id].access) {
	case ACCESS_LOAD:
	case ACCESS_STORE:
	case ACCESS_DISCARD:
	case ACCESS_ST_BULK:
		break;
	default:
		return false;
	}
	switch (ptx_inst_space(in)) {
	case SPACE_NONE:
	case SPACE_GLOBAL:
	case SPACE_SHARED:
		return op->flags & EMU_F_ACCESS;
	default:
		return false;
	}
}

static bool is_order(const struct ptx_inst *in, enum emu_tell_kind *kind)
{
	switch (in->id) {
	case INST_MEMBAR:
	case INST_MEMBAR_PROXY:
	case INST_FENCE:
	case INST_FENCE_PROXY_ALIAS:
	case INST_FENCE_PROXY_ASYNC:
	case INST_FENCE_PROXY_ASYNC_GENERIC:
	case INST_FENCE_PROXY_TENSORMAP_GENERIC:
	case INST_FENCE_MBARRIER_INIT:
	case INST_FENCE_ACQUIRE_SYNC_RESTRICT_SHARED_CLUSTER:
	case INST_FENCE_RELEASE_SYNC_RESTRICT_SHARED_CTA:
	case INST_WGMMA_FENCE:
	case INST_TCGEN05_FENCE_BEFORE_THREAD_SYNC:
	case INST_TCGEN05_FENCE_AFTER_THREAD_SYNC:
		*kind = TELL_FENCE;
		return true;
	case INST_GRIDDEPCONTROL_LAUNCH_DEPENDENTS:
	case INST_GRIDDEPCONTROL_WAIT:
		*kind = TELL_GRID;
		return true;
	default:
		*kind = TELL_UNMODELLED;
		return ptx_insts[in->id].model == MODEL_SYNC || in->id == INST_UNKNOWN;
	}
}

static void wrap(struct emu_func *f)
{
	f->told = ptx_alloc(f->mod->ptx->arena, f->nops * sizeof *f->told);
	for (unsigned i = 0; i < f->nops; i++) {
		struct emu_op *op = &f->ops[i];
		bool last = i + 1 == f->nops || f->ops[i + 1].stmt != op->stmt;
		enum emu_tell_kind kind = TELL_ACCESS;
		bool reads;

		if (!op->stmt || op->stmt->kind != STMT_INST || op->stmt->inserted)
			continue;
		reads = is_access(op);
		if (!reads && (!last || !is_order(&op->stmt->inst, &kind)))
			continue;
		f->told[i] = (struct emu_told){op->fn, kind};
		op->fn = reads ? access : order;
	}
}

void emu_tell_load(struct emu_func *f)
{
	if (!f->injected)
		wrap(f);
	for (unsigned i = 0; i < nlisteners; i++)
		listener[i]->load(listener[i]->self, f);
}

void emu_tell_unload(struct emu_func *f)
{
	for (unsigned i = 0; i < nlisteners; i++)
		listener[i]->unload(listener[i]->self, f);
}

/* ---- places ------------------------------------------------------------------------------------ */

bool emu_locate(const struct emu_block *by, enum emu_base base, uint64_t a, struct emu_spot *to)
{
	unsigned rank = (uint32_t)a >> EMU_RANK_SHIFT;

	*to = (struct emu_spot){NULL, a};
	if (base == BASE_GENERIC) {
		if (a - EMU_LOCAL_WINDOW < EMU_WINDOW_BYTES)
			return false;
		if (a - EMU_SHARED_WINDOW >= EMU_WINDOW_BYTES)
			return true;
	} else if (base == BASE_GLOBAL) {
		return true;
	} else if (base != BASE_SHARED && base != BASE_OWN_SHARED) {
		return false;
	}
	if (rank >= by->cluster->nblocks)
		return false;
	to->owner = by->cluster->block[rank];
	to->at = (uint32_t)a & ((1u << EMU_RANK_SHIFT) - 1);
	return true;
}
