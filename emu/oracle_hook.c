/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle_hook.c: from what the emulated device tells of (listen.h) to events of the oracle:
 * the oracle is a listener.  Here are the accesses, fences, barriers, blocks and launches;
 * what is asynchronous is in oracle_tell.c.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/access.h"
#include "emu/oracle_impl.h"

static struct emu_listener me;

struct orc_block *orc_block_of(const struct emu_block *b)
{
	return b->heard[me.slot];
}

/* Of each of its ops; NULL: it was loaded before. */
static struct orc_op **watch_of(const struct emu_func *f)
{
	return f->heard[me.slot];
}

const struct orc_op *orc_op_of(const struct emu_op *op)
{
	struct orc_op **watch = watch_of(op->func);

	return watch ? watch[op - op->func->ops] : NULL;
}

struct orc_thread *orc_thread_of(const struct emu_warp *w, unsigned lane)
{
	return &orc_block_of(w->block)->thread[emu_thread_index(w, lane)];
}

bool orc_space_of(const struct emu_block *by, enum emu_base base, uint64_t a, uint64_t *space, uint64_t *addr)
{
	struct emu_spot spot;

	if (!emu_locate(by, base, a, &spot))
		return false;
	*space = spot.owner ? 1 + orc_block_of(spot.owner)->number : 0;
	*addr = spot.at;
	return true;
}

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

/* A red that probes have made an atom of: its result is nobody's but theirs. */
static bool is_made_atom(const struct ptx_inst *in)
{
	return in->id == INST_ATOM && in->nops && in->ops[0].kind == OP_SYM && !strncmp(in->ops[0].sym->name, "%__gsan_", 8);
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
	k->red = access == ACCESS_RED || is_made_atom(in);
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

static void load(void *self, struct emu_func *f)
{
	unsigned accesses = 0, nlines;
	const unsigned *line = emu_source_lines(f->name, &nlines);
	struct orc_op **watch;

	(void)self;
	if (f->injected)
		return;
	f->heard[me.slot] = watch = orc_alloc(f->nops, sizeof *watch);
	for (unsigned i = 0; i < f->nops; i++) {
		struct emu_op *op = &f->ops[i];
		bool last = i + 1 == f->nops || f->ops[i + 1].stmt != op->stmt;
		struct orc_op k = {.func = f->name};

		if (!op->stmt || op->stmt->kind != STMT_INST || op->stmt->inserted)
			continue;
		meaning(&k, &op->stmt->inst);
		if (k.access ? !(op->flags & EMU_F_ACCESS) :
		    !k.tells && (!last || (!k.fence && !k.unmodelled && !k.other)))
			goto next;
		k.in_func = f;
		k.stmt = op->stmt;
		k.line = accesses < nlines ? line[accesses] : op->stmt->line;
		watch[i] = orc_alloc(1, sizeof k);
		*watch[i] = k;
next:
		if (last && emu_source_counts(&op->stmt->inst))
			accesses++;
	}
}

static void unload(void *self, struct emu_func *f)
{
	struct orc_op **watch = watch_of(f);

	(void)self;
	for (unsigned i = 0; watch && i < f->nops; i++)
		free(watch[i]);
	free(watch);
	orc_bounds_forget();
	f->heard[me.slot] = NULL;
}

/* ---- accesses and fences ---------------------------------------------------------------- */

static void keep(struct orc_block *b, struct orc_thread *t, struct orc_access *a)
{
	if (orc_check(b->grid, t, a) && a->space && a->space != 1 + b->number)
		orc_guest(b->grid->block[a->space - 1], a);
}

/* What a lane's st stores. */
static void note_stored(const struct emu_tell_access *q, unsigned lane, struct orc_access *a)
{
	a->valued = q->wrote && a->size <= sizeof a->stored;
	for (unsigned i = 0; a->valued && i < q->n; i++)
		memcpy(a->stored + i * q->size, &q->wrote[lane][i], q->size);
}

static void weak(const struct emu_tell *e, const struct orc_op *k, unsigned lane, uint64_t space,
		 uint64_t addr, uint64_t bytes)
{
	const struct emu_tell_access *q = e->kind == TELL_ACCESS ? e->u.access : NULL;
	struct orc_block *b = orc_block_of(e->b);
	struct orc_thread *t = orc_thread_of(e->w, lane);
	unsigned left_out = ptx_inst_left_out(k->in), each = q ? q->size : 0;

	for (uint64_t at = 0, n; at < bytes; at += n) {
		struct orc_access *a;

		n = left_out ? each : bytes - at < 64 ? bytes - at : 64;
		if (left_out >> (left_out ? at / n : 0) & 1)
			continue;
		a = orc_access_new(b, t, k, space, addr + at, (unsigned)n);
		a->whole = bytes;
		if (k->in->id == INST_ST && !left_out)
			note_stored(q, lane, a);
		keep(b, t, a);
	}
}

void orc_strong_access(struct orc_block *b, struct orc_thread *t, const struct orc_op *k, uint64_t space,
		       uint64_t addr)
{
	unsigned left_out = ptx_inst_left_out(k->in);

	for (unsigned i = 0; i < k->n; i++) {
		uint64_t at = addr + (uint64_t)i * k->size;
		struct orc_access *a;

		if (left_out >> i & 1)
			continue;
		a = orc_access_new(b, t, k, space, at, k->size);
		orc_strong(b, t, k, a, orc_before(b->grid, a));
		keep(b, t, a);
	}
	orc_strong_end(t, k);
}

static void accessed(const struct emu_tell *e, const struct orc_op *k, unsigned lane, enum emu_base base,
		     uint64_t a, uint64_t bytes)
{
	struct orc_thread *t = orc_thread_of(e->w, lane);
	struct orc_block *b = orc_block_of(e->b);
	uint64_t space, addr;

	orc_settle(b->grid, t);
	if (!orc_space_of(e->b, base, a, &space, &addr))
		return;
	if (k->strong)
		orc_strong_access(b, t, k, space, addr);
	else
		weak(e, k, lane, space, addr, bytes);
}

static void hear_access(const struct emu_tell *e, const struct orc_op *k)
{
	const struct emu_tell_access *q = e->u.access;

	EMU_EACH(l, e->lanes) {
		if (!q->elem)
			accessed(e, k, l, q->base, q->addr[l], q->bytes[l]);
		for (unsigned i = 0; q->elem && i < q->n; i++)
			accessed(e, k, l, q->base, q->elem[l][i], q->size);
	}
}

static void hear_replace(const struct emu_tell *e, const struct orc_op *k)
{
	EMU_EACH(l, e->lanes)
		accessed(e, k, l, e->u.replace->base, e->u.replace->addr[l], sizeof *e->u.replace->before);
}

static void hear_order(const struct emu_tell *e, const struct orc_op *k)
{
	struct orc_block *b = orc_block_of(e->b);

	EMU_EACH(l, e->lanes) {
		struct orc_thread *t = orc_thread_of(e->w, l);

		orc_settle(b->grid, t);
		if (k->fence)
			orc_fence(b, t, k);
		else if (!k->other)
			orc_unmodelled(b, t);
		else if (e->kind != TELL_GRID || e->u.done)
			orc_other_done(e, k, l);
	}
}

/* ---- barriers and ends --------------------------------------------------------------------- */

static void misused(const struct orc_block *b, const struct orc_come *now, const struct orc_come *other, bool moot)
{
	struct orc_fact f = {
		.op = {now->op, other ? other->op : NULL}, .may = ORC_MAY(ORC_BARRIER), .kind = ORC_BARRIER, .certain = true,
		.moot = moot, .block = {b->number, b->number}, .thread = {now->thread, (other ? other : now)->thread}
	};

	orc_say(&f);
}

/* PTX ISA, "barrier": counts are multiples of the warp size, those who meet in a use name one, do not mix .red with the
 * others, and the lanes of a warp come by one instruction if it is .aligned.  Where lanes have exited, others may take
 * it that they are elsewhere. */
static void hear_form(const struct emu_tell *e, const struct orc_op *k)
{
	const struct orc_block *b = orc_block_of(e->b);
	const struct emu_tell_bar *q = e->u.bar;
	struct orc_bar *bar = &orc_block_of(e->b)->bar[q->id];
	struct orc_come now = {k, e->w->index * EMU_LANES + (unsigned)__builtin_ctz(e->lanes), q->aligned}, *mate = &bar->by[e->w->index];
	uint32_t count = q->count ? q->count : (e->b->nthreads + EMU_LANES - 1) / EMU_LANES * EMU_LANES;
	bool red = q->how == EMU_BAR_RED, moot = e->b->live != e->b->nthreads, was = bar->said;

	if (!k || bar->said)
		return;
	bar->said = true;
	if (q->count % EMU_LANES)
		misused(b, &now, NULL, false);
	else if (bar->first.op && (bar->count != count || bar->red != red))
		misused(b, &now, &bar->first, moot);
	else if (mate->op && mate->op != k && mate->aligned && q->aligned)
		misused(b, &now, mate, moot);
	else
		bar->said = was;
	if (!bar->first.op) {
		bar->first = now;
		bar->count = count;
		bar->red = red;
	}
	if (!mate->op)
		*mate = now;
}

/* All of its lanes are there yet. */
static bool is_whole(const struct emu_tell *e)
{
	unsigned left = e->b->nthreads - e->w->index * EMU_LANES;

	return (unsigned)__builtin_popcount(e->w->live) == (left < EMU_LANES ? left : EMU_LANES);
}

/* Nothing but barriers orders what the block does. */
static bool barriers_alone(const struct orc_block *b)
{
	bool words = b->mbars || b->grid->clusters;

	for (unsigned i = 0; i < ORC_HASH && !words; i++)
		words = b->grid->word[i];
	return !words;
}

/* Uses of one barrier by different counts that nothing keeps apart may be one use.  What keeps them apart need not order
 * memory, which is no matter here: where there is anything like that, others may say so. */
static void hear_shared(const struct emu_tell *e, const struct orc_op *k)
{
	struct orc_block *b = orc_block_of(e->b);
	struct orc_bar *bar = &b->bar[e->u.bar->id];
	struct orc_thread *t = orc_thread_of(e->w, (unsigned)__builtin_ctz(e->lanes));
	uint32_t count = e->u.bar->count ? e->u.bar->count : (e->b->nthreads + EMU_LANES - 1) / EMU_LANES * EMU_LANES;
	struct orc_past *own = &bar->last[e->w->index];

	orc_settle(b->grid, t);
	for (unsigned w = 0; k && w < 32 && !bar->said; w++) {
		const struct orc_past *x = bar->last[w].op && bar->last[w].count == count ? &bar->other[w] : &bar->last[w];
		struct orc_come now = {k, t->index, false}, was = {x->op, (uint32_t)(x->thread % b->nthreads), false};

		bool most = x->op && orc_get(t->o[ORC_MOST].know.v[ORC_ALL], x->thread) >= x->epoch;

		if (w == e->w->index || !x->op || orc_get(t->o[ORC_LEAST].know.v[ORC_ALL], x->thread) >= x->epoch)
			continue;
		misused(b, &now, &was, most || !is_whole(e) || !barriers_alone(b));
	}
	if (own->op && own->count != count)
		bar->other[e->w->index] = *own;
	*own = (struct orc_past){k, t->id, t->epoch, count};
}

static void forget_forms(struct orc_bar *bar)
{
	memset(bar->by, 0, sizeof bar->by);
	bar->first.op = NULL;
}

static void hear_bar(const struct emu_tell *e, const struct orc_op *k)
{
	struct orc_block *b = orc_block_of(e->b);
	unsigned id = e->u.bar->id;

	if (e->kind == TELL_BAR_ARRIVE) {
		hear_form(e, k);
		hear_shared(e, k);
	}
	EMU_EACH(l, e->lanes) {
		struct orc_thread *t = orc_thread_of(e->w, l);

		if (e->kind == TELL_BAR_LEAVE) {
			orc_leave(b, t, id, !e->u.bar->count);
			continue;
		}
		orc_settle(b->grid, t);
		orc_arrive(b, t, id);
	}
}

static void outside_mask(const struct orc_thread *t, const struct orc_op *k)
{
	struct orc_fact f = {
		.op = {k, NULL}, .may = ORC_MAY(ORC_BARRIER), .kind = ORC_BARRIER, .certain = true,
		.block = {t->block->number, t->block->number}, .thread = {t->index, t->index}
	};

	orc_say(&f);
}

/* Who names others and not himself is ordered with nobody. */
static void hear_warp_sync(const struct emu_tell *e, const struct orc_op *k)
{
	struct orc_block *b = orc_block_of(e->b);
	uint32_t inside = 0;

	EMU_EACH(l, e->lanes) {
		orc_settle(b->grid, orc_thread_of(e->w, l));
		inside |= e->u.members[l] & 1u << l;
	}
	if (k && inside != e->lanes)
		outside_mask(orc_thread_of(e->w, (unsigned)__builtin_ctz(e->lanes & ~inside)), k);
	if (inside)
		orc_warp_sync(b, e->w->index * EMU_LANES, inside);
}

static void hear_exit(const struct emu_tell *e)
{
	EMU_EACH(l, e->lanes) {
		orc_settle(orc_block_of(e->b)->grid, orc_thread_of(e->w, l));
		orc_ended(orc_block_of(e->b), orc_thread_of(e->w, l));
	}
}

/* ---- blocks and launches -------------------------------------------------------------------- */

static struct orc_grid *grid_of(const struct emu_grid *e)
{
	return e->heard[me.slot];
}

/* The grid's part in what it shares with the one before it, if it may begin early. */
static struct orc_launch *launch_of(struct emu_grid *e)
{
	struct orc_grid *g = grid_of(e);
	struct orc_launch *l;

	if (!g && e->pdl && e->after && grid_of(e->after)) {
		e->heard[me.slot] = g = grid_of(e->after);
		g->refs++;
	}
	if (!g) {
		e->heard[me.slot] = g = orc_alloc(1, sizeof *g);
		g->refs = 1;
	}
	for (l = g->launches; l; l = l->next)
		if (l->id == e->id)
			return l;
	l = orc_alloc(1, sizeof *l);
	l->id = e->id;
	l->made = e->made;
	l->number = g->launches ? g->launches->number + 1 : 0;
	l->first_block = g->nblocks;
	l->nblocks = e->nblocks;
	l->first_thread = g->nthreads;
	l->func = e->func;
	l->dynamic = e->smem_dynamic;
	l->stream = emu_grid_stream(e);
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

static void hear_block(struct emu_block *e, uint64_t linear)
{
	struct orc_launch *l;
	struct orc_block *b;

	if (!watch_of(e->grid->func))
		return;
	l = launch_of(e->grid);
	b = orc_alloc(1, sizeof *b);
	b->grid = grid_of(e->grid);
	b->launch = l;
	b->number = l->first_block + linear;
	b->nthreads = e->nwarps * EMU_LANES;
	b->left = e->nthreads;
	b->thread = orc_alloc(b->nthreads, sizeof *b->thread);
	b->grid->block[b->number] = b;
	e->heard[me.slot] = b;
	b->first = e->rank ? orc_block_of(e->cluster->block[0]) : b;
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
	if (then && then->pdl && !grid_of(then))
		then->heard[me.slot] = g;
	else if (!--g->refs)
		orc_grid_end(g);
}

void orc_next(const void *stream, struct emu_grid *then)
{
	for (unsigned i = 0; i < sizeof held / sizeof *held; i++) {
		struct orc_grid *g = held[i].left;

		if (!g || (stream && held[i].stream != stream))
			continue;
		held[i].left = NULL;
		pass_on(g, then);
	}
}

/* `then` is behind it in its stream; `stream`: nothing is yet. */
static void hear_end(struct emu_grid *e, struct emu_grid *then, const void *stream)
{
	struct orc_grid *g = grid_of(e);

	if (!g)
		return;
	e->heard[me.slot] = NULL;
	for (unsigned i = 0; stream && i < sizeof held / sizeof *held; i++) {
		if (held[i].left)
			continue;
		held[i].stream = stream;
		held[i].left = g;
		return;
	}
	pass_on(g, then);
}

/* ---- all that is told -------------------------------------------------------------------------- */

/* What comes from no instruction. */
static bool hear_other(const struct emu_tell *e)
{
	struct orc_block *b = e->b ? orc_block_of(e->b) : NULL;

	switch (e->kind) {
	case TELL_LANDED:
	case TELL_ARRIVED:
		if (b)
			orc_hear_late(e);
		return true;
	case TELL_MBAR_OVER:
		orc_mbar_over(e->u.object);
		return true;
	case TELL_BAR_OVER:
		if (b) {
			orc_bar_over(b, e->u.bar->id);
			forget_forms(&b->bar[e->u.bar->id]);
		}
		return true;
	case TELL_CLUSTER_OVER:
		if (b)
			orc_cluster_over(b);
		return true;
	case TELL_EXIT:
		if (b)
			hear_exit(e);
		return true;
	case TELL_BLOCK_BEGIN:
		hear_block(e->b, e->u.linear);
		return true;
	case TELL_LAUNCH_END:
		hear_end(e->u.launch->grid, e->u.launch->then, e->u.launch->stream);
		return true;
	case TELL_STREAM:
		orc_next(e->u.launch->stream, e->u.launch->grid);
		return true;
	case TELL_HOST_WROTE:
		orc_host_wrote(e->u.host);
		return true;
	case TELL_BLOCK_END:
	case TELL_LAUNCH:
		return true;
	default:
		return false;
	}
}

static void hear(void *self, const struct emu_tell *e)
{
	const struct orc_op *k;

	(void)self;
	if (hear_other(e) || !orc_block_of(e->b))
		return;
	k = orc_op_of(e->op);
	switch (e->kind) {
	case TELL_BAR_ARRIVE:
	case TELL_BAR_LEAVE:
		hear_bar(e, k);
		break;
	case TELL_WARP_SYNC:
		hear_warp_sync(e, k);
		break;
	case TELL_ACCESS:
		if (k)
			hear_access(e, k);
		break;
	case TELL_TMAP_REPLACE:
		if (k)
			hear_replace(e, k);
		break;
	case TELL_FENCE:
	case TELL_UNMODELLED:
	case TELL_GRID:
		if (k)
			hear_order(e, k);
		break;
	default:
		if (k)
			orc_hear(e, k);
		break;
	}
}

static struct emu_listener me = {.tell = hear, .load = load, .unload = unload};

EMU_ORACLE_API int emu_oracle(const char *text, size_t len)
{
	static bool on;

	if (emu_source_set(NULL, text, len))
		return -1;
	on = on || emu_listen(&me);
	return on ? 0 : -1;
}
