/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle_hook.c: from what the emulated device executes to events of the oracle.
 * Loads, stores, atomics and fences of the program are wrapped when they are
 * decoded, so that nothing is asked while the oracle is off; barriers and matrices,
 * whose lanes come together first, say themselves what they did.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/access.h"
#include "emu/oracle_impl.h"

bool emu_oracle_on;

static const struct emu_op *watched(struct emu_x *, const struct emu_op *, uint32_t m);

/* ---- what an instruction means ---------------------------------------------------- */

static uint8_t level_of(const struct ptx_inst *in)
{
	static const struct { enum ptx_mod mod; uint8_t level; } table[] = {
		{MOD_SYS, ORC_SYS}, {MOD_VOLATILE, ORC_SYS}, {MOD_MMIO, ORC_SYS},
		{MOD_GPU, ORC_GPU}, {MOD_GL, ORC_GPU}, {MOD_CLUSTER, ORC_CLUSTER}, {MOD_CTA, ORC_CTA}
	};

	for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
		if (ptx_has(in, table[i].mod))
			return table[i].level;
	return ORC_GPU;                 /* PTX ISA, atom: the default */
}

static void meaning(struct orc_op *k, const struct ptx_inst *in)
{
	const struct ptx_inst_row *row = &ptx_insts[in->id];
	enum ptx_access access = row->access;
	bool acq_rel = ptx_has(in, MOD_ACQ_REL), packed;

	k->in = in;
	/* By addresses of its own. */
	k->multimem = in->id == INST_MULTIMEM_LD_REDUCE || in->id == INST_MULTIMEM_ST || in->id == INST_MULTIMEM_RED;
	k->level = level_of(in);
	k->acquire = acq_rel || ptx_has(in, MOD_ACQUIRE);
	k->release = acq_rel || ptx_has(in, MOD_RELEASE);
	if (orc_other(k, in))
		return;
	if (row->model == MODEL_SYNC || in->id == INST_UNKNOWN) {
		k->unmodelled = true;
		return;
	}
	if (row->order == ORDER_FENCE && row->model == MODEL_FULL) {
		k->fence = true;
		k->sc = in->id == INST_MEMBAR || ptx_has(in, MOD_SC);
		if (k->sc || (!k->acquire && !k->release))
			k->acquire = k->release = true;
		return;
	}
	k->red = access == ACCESS_RED;
	switch (access) {
	case ACCESS_LOAD:
	case ACCESS_LDMATRIX:
	case ACCESS_WMMA_LOAD:
		k->read = true;
		break;
	case ACCESS_STORE:
	case ACCESS_STMATRIX:
	case ACCESS_WMMA_STORE:
	case ACCESS_DISCARD:
	case ACCESS_ST_BULK:
		k->write = true;
		break;
	case ACCESS_ATOM:
	case ACCESS_RED:
		k->read = k->write = k->strong = true;
		break;
	default:
		return;
	}
	switch (ptx_inst_space(in)) {
	case SPACE_NONE:
	case SPACE_GLOBAL:
	case SPACE_SHARED:
		break;
	default:
		return;
	}
	k->access = true;
	k->strong |= k->acquire || k->release || ptx_has(in, MOD_RELAXED) ||
		     ptx_has(in, MOD_VOLATILE) || ptx_has(in, MOD_MMIO);
	k->read_only = ptx_has(in, MOD_NC) || in->id == INST_LDU;
	/* PTX ISA, "multimem": .relaxed.sys unless said. */
	if (k->multimem && !ptx_has(in, MOD_GPU) && !ptx_has(in, MOD_CLUSTER) && !ptx_has(in, MOD_CTA))
		k->level = ORC_SYS;
	/* PTX ISA, Vector and Packed Data-types: elements are accesses of their own. */
	packed = k->red || access == ACCESS_ATOM ?
		 in->type == TYPE_F16X2 || in->type == TYPE_BF16X2 : false;
	k->n = (uint8_t)(ptx_inst_vec(in) * (packed ? 2 : 1));
	k->size = (uint8_t)(ptx_type_bits(in->type) / 8 / (packed ? 2 : 1));
	if (!k->strong) {
		k->size = (uint8_t)(k->size * k->n);
		k->n = 1;
	}
}

static bool tells(const struct ptx_inst *in)
{
	switch (ptx_insts[in->id].access) {
	case ACCESS_LDMATRIX:
	case ACCESS_STMATRIX:
	case ACCESS_WMMA_LOAD:
	case ACCESS_WMMA_STORE:
		return true;
	default:
		return false;
	}
}

void emu_oracle_wrap(struct emu_func *f)
{
	unsigned accesses = 0;

	f->injected = emu_is_runtime(f);
	if (f->injected)
		return;
	f->watch = orc_alloc(f->nops, sizeof *f->watch);
	for (unsigned i = 0; i < f->nops; i++) {
		struct emu_op *op = &f->ops[i];
		bool last = i + 1 == f->nops || f->ops[i + 1].stmt != op->stmt;
		struct orc_op k = {.fn = op->fn, .func = f->name};

		if (!op->stmt || op->stmt->kind != STMT_INST)
			continue;
		meaning(&k, &op->stmt->inst);
		if (k.access ? !(op->flags & EMU_F_ACCESS) :
		    !k.tells && (!last || (!k.fence && !k.unmodelled && !k.other)))
			goto next;
		k.line = emu_source_line(f->name, accesses);
		if (!k.line)
			k.line = op->stmt->line;
		f->watch[i] = orc_alloc(1, sizeof k);
		*f->watch[i] = k;
		/* Matrices say themselves what they access. */
		if (!k.tells && (!k.access || !tells(&op->stmt->inst)))
			op->fn = watched;
next:
		if (last && emu_source_counts(&op->stmt->inst))
			accesses++;
	}
}

void emu_oracle_unwrap(struct emu_func *f)
{
	for (unsigned i = 0; f->watch && i < f->nops; i++)
		free(f->watch[i]);
	free(f->watch);
	f->watch = NULL;
}

const struct orc_op *orc_op_of(const struct emu_op *op)
{
	return op->func->watch ? op->func->watch[op - op->func->ops] : NULL;
}

/* ---- where an access goes ------------------------------------------------------------- */

/* The location in the oracle's words; *owner: whose shared memory it is, NULL for global
 * memory.  False: nobody else's business. */
static bool locate(const struct emu_x *x, enum emu_base base, uint64_t a, struct orc_block **owner,
		   uint64_t *space, uint64_t *addr)
{
	unsigned rank = (uint32_t)a >> EMU_RANK_SHIFT;

	*owner = NULL;
	*space = 0;
	*addr = a;
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
	if (rank >= x->b->cluster->nblocks)
		return false;
	*owner = x->b->cluster->block[rank]->oracle;
	*space = 1 + (*owner)->number;
	*addr = (uint32_t)a & ((1u << EMU_RANK_SHIFT) - 1);
	return true;
}

struct orc_thread *orc_thread_of(const struct emu_warp *w, unsigned lane)
{
	return &w->block->oracle->thread[emu_thread_index(w, lane)];
}

/* ---- accesses and fences ---------------------------------------------------------------- */

static void keep(struct orc_block *b, struct orc_thread *t, struct orc_access *a)
{
	if (orc_check(b->grid, t, a) && a->space && a->space != 1 + b->number)
		orc_guest(b->grid->block[a->space - 1], a);
}

/* What a lane's st stores. */
static void note_stored(struct emu_x *x, const struct emu_op *op, unsigned lane, struct orc_access *a)
{
	unsigned each = op->n ? a->size / op->n : 0;

	a->valued = each && each <= 8 && a->size <= sizeof a->stored;
	for (unsigned i = 0; a->valued && i < op->n; i++) {
		uint64_t v = emu_get(x, op->o[i], lane);

		memcpy(a->stored + i * each, &v, each);
	}
}

static void weak(struct emu_x *x, const struct emu_op *op, unsigned lane, uint64_t space, uint64_t addr,
		 uint64_t bytes)
{
	const struct orc_op *k = orc_op_of(op);
	struct orc_block *b = x->b->oracle;
	struct orc_thread *t = orc_thread_of(x->w, lane);
	unsigned left_out = ptx_inst_left_out(k->in), each = op->n ? (unsigned)bytes / op->n : 0;

	for (uint64_t at = 0, n; at < bytes; at += n) {
		struct orc_access *a;

		n = left_out ? each : bytes - at < 64 ? bytes - at : 64;
		if (left_out >> (left_out ? at / n : 0) & 1)
			continue;
		a = orc_access_new(b, t, k, space, addr + at, (unsigned)n);
		if (k->in->id == INST_ST && !left_out)
			note_stored(x, op, lane, a);
		keep(b, t, a);
	}
}

void orc_strong_access(struct orc_block *b, struct orc_thread *t, const struct emu_op *op,
		       const struct orc_op *k, uint64_t space, uint64_t addr)
{
	unsigned left_out = ptx_inst_left_out(k->in);

	for (unsigned i = 0; i < k->n; i++) {
		uint64_t at = addr + (uint64_t)i * k->size;
		struct orc_access *a = t->announced == op ? t->coming[i] : NULL;

		if (left_out >> i & 1)
			continue;
		if (!a)
			a = orc_access_new(b, t, k, space, at, k->size);
		a->since = t->since;
		a->knew_direct = a->since ? orc_keep(t->o[ORC_WIDE_LEAST].direct) : NULL;
		for (enum orc_world w = 0; a->since && w < ORC_WORLDS; w++)
			a->knew[w] = orc_keep(t->o[w].know.v[ORC_ALL]);
		orc_strong(b, t, k, a, orc_before(b->grid, a));
		keep(b, t, a);
	}
	memset(t->coming, 0, sizeof t->coming);
	t->announced = NULL;
	orc_strong_end(t, k);
}

static void accessed(struct emu_x *x, const struct emu_op *op, const struct orc_op *k, unsigned lane,
		     uint64_t a, uint64_t bytes)
{
	struct orc_thread *t = orc_thread_of(x->w, lane);
	struct orc_block *b = x->b->oracle, *owner;
	uint64_t space, addr;

	orc_settle(b->grid, t);
	if (!locate(x, op->u.mem.base, a, &owner, &space, &addr))
		return;
	if (k->strong)
		orc_strong_access(b, t, op, k, space, addr);
	else
		weak(x, op, lane, space, addr, bytes);
}

static const struct emu_op *watched(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const struct orc_op *k = orc_op_of(op);
	struct orc_block *b = x->b->oracle;
	const struct emu_op *next;
	uint64_t at[EMU_LANES], bytes[EMU_LANES];
	struct emu_warp *w = x->w;

	if (k->access) {
		EMU_EACH(l, m) {
			at[l] = emu_addr_of(x, &op->u.mem, l);
			bytes[l] = k->in->id == INST_ST_BULK ? emu_get(x, op->o[0], l) :
				   k->in->id == INST_DISCARD ? 128 : k->size;
		}
	}
	next = k->fn(x, op, m);
	if (emu_m.fault || !b)
		return next;
	EMU_EACH(l, m) {
		struct orc_thread *t = orc_thread_of(w, l);

		if (k->access) {
			accessed(x, op, k, l, at[l], bytes[l]);
			continue;
		}
		orc_settle(b->grid, t);
		if (k->fence)
			orc_fence(b, t, k);
		else if (!k->other)
			orc_unmodelled(b, t);
		else if (next == op + 1)        /* it does not wait */
			orc_other_done(x, op, k, l);
	}
	return next;
}

void emu_oracle_access(struct emu_x *x, const struct emu_op *op, unsigned lane, uint64_t addr,
		       unsigned size)
{
	const struct orc_op *k = orc_op_of(op);

	if (k && x->b->oracle)
		accessed(x, op, k, lane, addr, size);
}

/* ---- calls of injected functions --------------------------------------------------------- */

/* The instruction of the program that a call stands before; NULL: none. */
static const struct emu_op *behind(const struct emu_op *call)
{
	const struct emu_func *f = call->func;

	for (const struct emu_op *op = call + 1; op < f->ops + f->nops; op++) {
		if (f->watch[op - f->ops])
			return op;
		if (!op->stmt || op->stmt->kind != STMT_INST)
			return NULL;
		switch (op->stmt->inst.id) {
		case INST_CALL:
		case INST_BRA:
		case INST_BRX_IDX:
		case INST_RET:
		case INST_EXIT:
			return NULL;
		default:
			break;
		}
	}
	return NULL;
}

void emu_oracle_call(struct emu_x *x, const struct emu_op *call, uint32_t m)
{
	const char *name = call->u.call->name;
	struct orc_block *b = x->b->oracle;
	const struct emu_op *op;
	const struct orc_op *k;

	/* These belong to the instruction before them. */
	if (!b || !call->func->watch || strstr(name, "_after") || strstr(name, "_leave"))
		return;
	b->grid->calls = true;
	op = behind(call);
	if (!op)
		return;
	k = orc_op_of(op);
	if (!k->fence && !(k->access && k->strong))
		return;
	EMU_EACH(l, m) {
		struct orc_thread *t = orc_thread_of(x->w, l);
		struct orc_block *owner;
		uint64_t space, addr;

		orc_settle(b->grid, t);
		/* One of several calls for one instruction. */
		if (t->announced == op && ptx_inst_left_out(k->in))
			continue;
		t->announced = op;
		t->since = ++b->grid->seq;
		if (k->fence) {
			orc_fence_announce(b, t, k);
			continue;
		}
		if (!k->write || !locate(x, op->u.mem.base, emu_addr_of(x, &op->u.mem, l), &owner,
					 &space, &addr))
			continue;
		for (unsigned i = 0; i < k->n && i < ORC_ELEMS; i++)
			if (!(ptx_inst_left_out(k->in) >> i & 1))
				t->coming[i] = orc_announce(b, t, k, space, addr + (uint64_t)i * k->size);
	}
}

/* ---- barriers and ends --------------------------------------------------------------------- */

bool orc_mine(const struct emu_block *b, const struct emu_op *op)
{
	return b->oracle && !op->func->injected;
}

void emu_oracle_arrive(struct emu_x *x, const struct emu_op *op, uint32_t m, unsigned id)
{
	if (!orc_mine(x->b, op))
		return;
	EMU_EACH(l, m) {
		orc_settle(x->b->oracle->grid, orc_thread_of(x->w, l));
		orc_arrive(x->b->oracle, orc_thread_of(x->w, l), id);
	}
}

void emu_oracle_leave(struct emu_warp *w, const struct emu_op *op, uint32_t m, unsigned id, bool all)
{
	if (!orc_mine(w->block, op))
		return;
	EMU_EACH(l, m)
		orc_leave(w->block->oracle, orc_thread_of(w, l), id, all);
}

void emu_oracle_bar_over(struct emu_block *b, unsigned id)
{
	if (b->oracle)
		orc_bar_over(b->oracle, id);
}

void emu_oracle_warp_sync(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	if (!orc_mine(x->b, op))
		return;
	EMU_EACH(l, m)
		orc_settle(x->b->oracle->grid, orc_thread_of(x->w, l));
	orc_warp_sync(x->b->oracle, x->w->index * EMU_LANES, m);
}

void emu_oracle_exit(struct emu_warp *w, uint32_t m)
{
	if (!w->block->oracle)
		return;
	EMU_EACH(l, m) {
		orc_settle(w->block->oracle->grid, orc_thread_of(w, l));
		orc_ended(w->block->oracle, orc_thread_of(w, l));
	}
}

/* The grid's part in what it shares with the one before it, if it may begin early. */
static struct orc_launch *launch_of(struct emu_grid *e)
{
	struct orc_grid *g = e->oracle;
	struct orc_launch *l;

	if (!g && e->pdl && e->after && e->after->oracle) {
		g = e->oracle = e->after->oracle;
		g->refs++;
	}
	if (!g) {
		g = e->oracle = orc_alloc(1, sizeof *g);
		g->refs = 1;
	}
	for (l = g->launches; l; l = l->next)
		if (l->id == e->id)
			return l;
	l = orc_alloc(1, sizeof *l);
	l->id = e->id;
	l->number = g->launches ? g->launches->number + 1 : 0;
	l->first_block = g->nblocks;
	l->nblocks = e->nblocks;
	l->first_thread = g->nthreads;
	l->next = g->launches;
	g->launches = l;
	g->nblocks += e->nblocks;
	g->nthreads += e->nblocks * (e->blocks->nwarps * EMU_LANES);
	g->clusters |= e->cluster[0] * e->cluster[1] * e->cluster[2] > 1;
	g->block = realloc(g->block, g->nblocks * sizeof(struct orc_block *));
	if (!g->block)
		abort();
	memset(g->block + l->first_block, 0, l->nblocks * sizeof(struct orc_block *));
	return l;
}

void emu_oracle_block(struct emu_block *e, uint64_t linear)
{
	struct orc_launch *l;
	struct orc_block *b;

	e->oracle = NULL;
	if (!emu_oracle_on || !e->grid->func->watch)
		return;
	l = launch_of(e->grid);
	b = orc_alloc(1, sizeof *b);
	b->grid = e->grid->oracle;
	b->launch = l;
	b->number = l->first_block + linear;
	b->nthreads = e->nwarps * EMU_LANES;
	b->left = e->nthreads;
	b->thread = orc_alloc(b->nthreads, sizeof *b->thread);
	b->grid->block[b->number] = b;
	e->oracle = b;
	b->first = e->rank ? e->cluster->block[0]->oracle : b;
	b->reach.block = b->number;
	b->reach.cluster = b->first->number;
	for (unsigned i = 0; i < b->nthreads; i++) {
		struct orc_thread *t = &b->thread[i];

		t->block = b;
		t->id = l->first_thread + linear * b->nthreads + i;
		t->epoch = 2;           /* 1: it has begun */
		t->index = i;
		orc_begin(t);
	}
}

/* What the last launch of a stream leaves, while it may turn out that the next one could
 * have begun before that had ended. */
static struct { const void *stream; struct orc_grid *left; } held[16];

static void pass_on(struct orc_grid *g, struct emu_grid *then)
{
	if (then && then->pdl && !then->oracle)
		then->oracle = g;
	else if (!--g->refs)
		orc_grid_end(g);
}

void emu_oracle_next(const void *stream, struct emu_grid *then)
{
	for (unsigned i = 0; i < sizeof held / sizeof *held; i++) {
		struct orc_grid *g = held[i].left;

		if (!g || (stream && held[i].stream != stream))
			continue;
		held[i].left = NULL;
		pass_on(g, then);
	}
}

void emu_oracle_grid_end(struct emu_grid *e, struct emu_grid *then, const void *stream)
{
	struct orc_grid *g = e->oracle;

	if (!g)
		return;
	e->oracle = NULL;
	for (unsigned i = 0; stream && i < sizeof held / sizeof *held; i++) {
		if (held[i].left)
			continue;
		held[i].stream = stream;
		held[i].left = g;
		return;
	}
	pass_on(g, then);
}
