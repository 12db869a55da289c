/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle_async.c: operations that go on beside the threads.  Each is an actor of its
 * own for what it reads and one for what it writes: issued, it knows what its thread
 * knew; whoever sees it end knows of it.  And the fences between proxies, without
 * which order alone does not make one see what another did.
 * (PTX ISA, "Async Operations", "Proxies", "Proxy-preserved Base Causality Order")
 */
#include <stdlib.h>
#include <string.h>

#include "emu/oracle_impl.h"

#define EACH_WORLD(w) for (enum orc_world w = 0; w < ORC_WORLDS; w++)

/* ---- issuing ------------------------------------------------------------------------ */

struct orc_issue *orc_issue_warp(struct orc_block *b, unsigned first, uint32_t lanes)
{
	struct orc_issue *i = orc_alloc(1, sizeof *i);

	i->refs = 1;
	i->block = b;
	i->index = first + (unsigned)__builtin_ctz(lanes);
	i->number = ++b->grid->issues;
	EACH_WORLD(w) {
		EMU_EACH(l, lanes) {
			const struct orc_thread *t = &b->thread[first + l];
			struct orc_head h = orc_head_of(t, w, b->reach);

			orc_know_learn(&i->know[w], &h.know, true);
			orc_head_drop(&h);
			orc_learn(&i->tensor[w], t->o[w].tensor);
			if (orc_choices.no_tensor_fence)
				orc_learn(&i->tensor[w], t->o[w].know.v[ORC_TENSOR]);
		}
	}
	return i;
}

struct orc_issue *orc_issue(struct orc_block *b, struct orc_thread *t)
{
	return orc_issue_warp(b, t->index, 1);
}

void orc_issue_drop(struct orc_issue *i)
{
	if (!i || --i->refs)
		return;
	EACH_WORLD(w) {
		orc_know_drop(&i->know[w]);
		orc_drop(i->tensor[w]);
	}
	free(i);
}

uint64_t orc_singles(struct orc_grid *g, unsigned n)
{
	g->singles += n;
	return ORC_ACTOR(ORC_SINGLE, g->singles - n);
}

void orc_touch(const struct orc_touch *t, uint64_t space, uint64_t addr, uint64_t bytes)
{
	struct orc_block *b = t->issue->block;
	uint64_t step = t->size ? t->size : 64;

	for (uint64_t at = 0; at < bytes; at += step) {
		uint64_t n = bytes - at < step ? bytes - at : step;
		struct orc_access *a = orc_access_new(b, &b->thread[t->issue->index], t->op, space,
						      addr + at, (unsigned)n);

		a->thread = t->actor;
		a->epoch = t->n;
		a->read = t->read;
		a->write = t->write;
		a->proxy = (uint8_t)t->proxy;
		a->reach.level = t->level;
		a->pipe = t->pipe;
		a->at_once = t->at_once;
		a->frees = t->frees;
		a->whole = t->whole ? t->whole : bytes;
		a->issue = t->issue;
		t->issue->refs++;
		if (!orc_check(b->grid, NULL, a))
			continue;
		if (space && space < ORC_TMEM && b->grid->block[space - 1])
			orc_guest(b->grid->block[space - 1], a);
		else if (!space && t->write && orc_choices.exits && t->actor >> 48 == ORC_BULK_WRITE)
			orc_visit(b, a);
	}
}

void orc_together(struct orc_block *b, unsigned first, uint32_t lanes, uint64_t actor)
{
	EMU_EACH(l, lanes)
		orc_done(&b->thread[first + l], actor, 1);
}

/* ---- ends ----------------------------------------------------------------------------- */

void orc_commit(struct orc_groups *g)
{
	g->end = orc_grow(g->end, g->n, &g->cap, sizeof *g->end);
	g->end[g->n++] = g->issued;
}

uint32_t orc_grouped(const struct orc_groups *g, uint32_t left)
{
	if (left == UINT32_MAX)
		return g->issued;
	return g->n > left ? g->end[g->n - left - 1] : 0;
}

void orc_done(struct orc_thread *t, uint64_t actor, uint32_t n)
{
	EACH_WORLD(w) {
		orc_raise(&t->o[w].know.v[ORC_ALL], actor, n);
		orc_raise(&t->o[w].mine, actor, n);
	}
}

/* PTX ISA, "wgmma.commit_group": a wgmma-group is the warpgroup's, so that whichever warp
 * waits for it knows that of all four. */
void orc_wgmma_done(struct orc_thread *t, uint32_t groups)
{
	const struct orc_block *b = t->block;
	unsigned first = t->index / 128 * 128;

	for (unsigned i = first; groups && i < first + 128 && i < b->nthreads; i += EMU_LANES) {
		const struct orc_groups *g = &b->thread[i].wgmma;
		uint32_t all = groups < g->n ? groups : g->n;

		if (all && g->end[all - 1])
			orc_done(t, ORC_ACTOR(ORC_WGMMA, b->thread[i].id), g->end[all - 1]);
	}
}

/* ---- fences of the async proxy ----------------------------------------------------------- */

/* PTX ISA, "membar/fence": .shared::cta is part of .shared::cluster. */
static unsigned spaces(const struct ptx_inst *in)
{
	if (ptx_has(in, MOD_GLOBAL))
		return 1u << 2;
	if (ptx_has(in, MOD_SHARED_CTA))
		return 1u;
	if (ptx_has(in, MOD_SHARED_CLUSTER))
		return 3u;
	return 7u;
}

/* All accesses of the thread itself, and those of operations that it saw end, are
 * fenced by who made them; what it knows of otherwise, by somebody of this block. */
static void both_ways(struct orc_thread *t, enum orc_world w, unsigned which)
{
	struct orc_order *o = &t->o[w];
	struct orc_head h = orc_head_of(t, w, t->block->reach);

	for (unsigned s = 0; s < 3; s++) {
		if (!(which >> s & 1))
			continue;
		orc_raise(&o->know.v[ORC_OWN + s], t->id, t->epoch);
		orc_learn(&o->know.v[ORC_OWN + s], o->mine);
		orc_learn(&o->know.v[ORC_HERE + s], h.know.v[ORC_ALL]);
		orc_learn(&o->know.v[ORC_HERE + s], h.know.v[ORC_READS]);
		if (s < 2)
			orc_learn(&o->know.v[ORC_HERE + s], h.know.v[ORC_SHARED]);
	}
	if (which & 1)
		orc_learn(&o->know.v[ORC_WHOLE], o->know.v[ORC_HALF]);
	orc_head_drop(&h);
}

/* Fences with .sync_restrict release and acquire at cluster scope, as far as shared
 * memory goes. */
static void restricted_release(struct orc_block *b, struct orc_thread *t, enum orc_world w)
{
	struct orc_head *f = &t->o[w].fence[ORC_CLUSTER], h;

	h = orc_head_of(t, w, orc_reach_of(b, ORC_CLUSTER));
	orc_learn(&h.know.v[ORC_SHARED], h.know.v[ORC_ALL]);
	orc_drop(h.know.v[ORC_ALL]);
	h.know.v[ORC_ALL] = NULL;
	f->reach = h.reach;
	orc_know_learn(&f->know, &h.know, true);
	orc_head_drop(&h);
}

void orc_proxy_fence(struct orc_block *b, struct orc_thread *t, const struct orc_op *op)
{
	struct orc_reach cluster = orc_reach_of(b, ORC_CLUSTER);

	if (op->in->id == INST_FENCE_PROXY_ASYNC && (spaces(op->in) & 1))
		orc_wgmma_done(t, t->wgmma_waited);
	if (op->in->id == INST_FENCE_MBARRIER_INIT)
		orc_mbars_fenced(t);
	EACH_WORLD(w) {
		struct orc_order *o = &t->o[w];

		switch (op->in->id) {
		case INST_FENCE_PROXY_ASYNC:
			both_ways(t, w, spaces(op->in));
			break;
		case INST_FENCE_PROXY_ASYNC_GENERIC:
			if (op->acquire) {
				orc_take_shared(t, w, cluster);
				orc_learn(&o->know.v[ORC_WHOLE], o->know.v[ORC_HALF]);
			} else {
				orc_raise(&o->know.v[ORC_HALF], t->id, t->epoch);
				orc_learn(&o->know.v[ORC_HALF], o->mine);
				restricted_release(b, t, w);
			}
			break;
		case INST_FENCE_ACQUIRE_SYNC_RESTRICT_SHARED_CLUSTER:
			orc_take_shared(t, w, cluster);
			break;
		case INST_FENCE_RELEASE_SYNC_RESTRICT_SHARED_CTA:
			restricted_release(b, t, w);
			break;
		case INST_FENCE_MBARRIER_INIT:
			o->fence[ORC_CLUSTER].reach = cluster;
			orc_raise(&o->fence[ORC_CLUSTER].know.v[ORC_INITS], t->id, t->epoch);
			break;
		default:                /* .alias */
			orc_learn(&o->know.v[ORC_ALIAS], o->know.v[ORC_ALL]);
			orc_raise(&o->know.v[ORC_ALIAS], t->id, t->epoch);
			break;
		}
	}
	t->epoch++;
}

/* ---- tensor maps ------------------------------------------------------------------------- */

void orc_map_release(struct orc_thread *t)
{
	EACH_WORLD(w) {
		struct orc_head h = orc_head_of(t, w, t->block->reach);

		orc_learn(&t->o[w].know.v[ORC_MAP], h.know.v[ORC_ALL]);
		orc_head_drop(&h);
	}
	t->epoch++;
}

void orc_map_acquire(struct orc_block *b, struct orc_thread *t, uint64_t addr)
{
	struct orc_grid *g = b->grid;
	struct orc_map_fence *f;

	g->map_fence = orc_grow(g->map_fence, g->nmap_fences, &g->capmap_fences, sizeof *f);
	f = &g->map_fence[g->nmap_fences++];
	*f = (struct orc_map_fence){
		.addr = addr, .thread = t->id, .block = b->number, .epoch = t->epoch
	};
	EACH_WORLD(w)
		f->covers[w] = orc_keep(t->o[w].know.v[ORC_MAP]);
	t->epoch++;
}

/* Was what `a` wrote released, and acquired for this map in this block? */
static bool map_fenced(enum orc_world w, const struct orc_access *a, const struct orc_access *b)
{
	const struct orc_block *at = b->issue->block;
	const struct orc_grid *g = at->grid;
	const struct orc_clock *known = b->issue->know[w].v[ORC_ALL];

	for (unsigned i = 0; i < g->nmap_fences; i++) {
		const struct orc_map_fence *f = &g->map_fence[i];

		if (f->addr == b->pipe && f->block == at->number &&
		    orc_get(known, f->thread) >= f->epoch &&
		    orc_get(f->covers[w], a->thread) >= a->epoch)
			return true;
	}
	return false;
}

/* ---- choices ------------------------------------------------------------------------------ */

struct orc_choices orc_choices;

EMU_ORACLE_API int emu_oracle_option(const char *name, const char *value)
{
	const struct { const char *name, *value, *other; bool *to; } table[] = {
		{"proxy_fence", "path", "own", &orc_choices.path},
		{"proxy_war", "off", "error", &orc_choices.no_war},
		{"proxy_war", "warn", "error", &orc_choices.no_war},
		{"proxy_cta", "any", "strict", &orc_choices.any_block},
		{"async_proxy", "per-cta", "cluster", &orc_choices.per_block},
		{"tx_scope", "strict", "any", &orc_choices.wide_tx},
		{"tcgen05_fence", "off", "on", &orc_choices.no_tensor_fence},
		{"async_read_fence", "strict", "off", &orc_choices.read_fence},
		{"wgmma_read_retire", "off", "on", &orc_choices.no_retire},
		{"mbar_init_fence", "strict", "off", &orc_choices.init_fence},
		{"warp_sync_orders", "on", "off", &orc_choices.lockstep},
		{"same_value", "ignore", "report", &orc_choices.same_value},
		{"pdl_no_trigger", "race", "clean", &orc_choices.dependents_wait},
		{"exit_async", "strict", "off", &orc_choices.exits},
		{"uninit", "1", "0", &orc_choices.uninit}
	};
	static const char *const arrives[] = {
		[ORC_ARRIVES_READS] = "reads", [ORC_ARRIVES_ANY] = "any", [ORC_ARRIVES_STRICT] = "strict"
	};

	for (unsigned i = 0; !strcmp(name, "arrive_scope") && i < sizeof arrives / sizeof *arrives; i++) {
		if (strcmp(value, arrives[i]))
			continue;
		orc_choices.arrives = i;
		return 0;
	}
	for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
		bool on = !strcmp(value, table[i].value);

		if (strcmp(name, table[i].name) || (!on && strcmp(value, table[i].other)))
			continue;
		*table[i].to = on;
		return 0;
	}
	return -1;
}

/* ---- verdicts ----------------------------------------------------------------------------- */

/* Where an access lies decides which fence covers it, and in which block that has to
 * run: that of the asynchronous access, or, where it goes to another block's shared
 * memory, either. */
static enum orc_verdict async_fenced(enum orc_world w, const struct orc_access *a,
				     const struct orc_access *b)
{
	const struct orc_know *k = &b->issue->know[w];
	uint64_t here = b->reach.block, by = a->reach.block;
	bool own, path, there = by == here || orc_choices.any_block;

#define HAS(facet) (orc_get(k->v[facet], a->thread) >= a->epoch)
	if (!a->space) {
		own = there && HAS(ORC_OWN_GLOBAL);
		path = HAS(ORC_HERE_GLOBAL);
	} else if (a->space == 1 + here) {
		own = by == here ? HAS(ORC_OWN) || HAS(ORC_WHOLE) : there && HAS(ORC_OWN_CLUSTER);
		path = HAS(ORC_HERE);
	} else if (a->space == 1 + by) {
		own = HAS(ORC_OWN) || HAS(ORC_WHOLE);
		path = HAS(ORC_HERE_CLUSTER);
	} else {
		/* st.async and red.async: whoever saw it end is of the block whose memory it is. */
		own = (there && HAS(ORC_OWN_CLUSTER)) || (a->issue && HAS(ORC_OWN));
		path = HAS(ORC_HERE_CLUSTER);
	}
#undef HAS
	if (own || (path && (by != here || orc_choices.path)) || (orc_choices.no_war && !a->write))
		return ORC_FINE;
	return path ? ORC_MISFENCED : ORC_UNFENCED;
}

struct orc_clock *orc_fenced(const struct orc_know *k, const struct orc_block *b, uint64_t space)
{
	unsigned own = !space ? ORC_OWN_GLOBAL : space == 1 + b->number ? ORC_OWN : ORC_OWN_CLUSTER;
	struct orc_clock *c = NULL;

	orc_learn(&c, k->v[own]);
	orc_learn(&c, k->v[own + ORC_HERE - ORC_OWN]);
	return c;
}

/* Behind an asynchronous operation, by way of a fence. */
static bool behind_fence(enum orc_world w, const struct orc_access *a, const struct orc_access *b)
{
	struct orc_clock *c = b->issue ? orc_fenced(&b->issue->know[w], b->issue->block, a->space) :
			      orc_keep(b->fenced[w]);
	bool yes = orc_get(c, a->thread) >= a->epoch;

	orc_drop(c);
	return yes;
}

/* PTX ISA, "Proxy-preserved Base Causality Order".  The end of an asynchronous operation
 * is a fence to whoever sees it. */
enum orc_verdict orc_proxies(enum orc_world w, const struct orc_access *a,
			     const struct orc_access *b)
{
	if ((a->proxy == ORC_MULTIMEM) != (b->proxy == ORC_MULTIMEM) &&
	    orc_get(b->alias[w], a->thread) < a->epoch)
		return ORC_UNFENCED;
	if (a->proxy == ORC_ASYNC &&
	    (b->proxy == ORC_ASYNC ? orc_choices.per_block && a->reach.block != b->reach.block :
	     b->proxy <= ORC_MULTIMEM && orc_choices.read_fence && !a->write))
		return behind_fence(w, a, b) ? ORC_FINE : ORC_UNFENCED;
	if (a->proxy > ORC_MULTIMEM || b->proxy <= ORC_MULTIMEM)
		return ORC_FINE;
	if (b->proxy == ORC_MAPS)
		return map_fenced(w, a, b) ? ORC_FINE : ORC_UNFENCED;
	return async_fenced(w, a, b);
}

/* ---- tensor memory ----------------------------------------------------------------------- */

/* PTX ISA, "tcgen05: Pipelined Instructions": copies before products, products into the
 * same accumulator.  Libraries take it that copies come behind each other, and behind products whose
 * scale factors they replace, and products behind those whose A they overwrite (CUTLASS,
 * sm100_blockscaled_mma_warpspecialized.hpp, sm100_fmha_fwd_mainloop_tma_warpspecialized.hpp). */
static bool pipelined(const struct orc_access *a, const struct orc_access *b)
{
	if (!a->pipe || !b->pipe)
		return false;
	if (b->pipe == ORC_PIPE_COPY)
		return a->pipe == ORC_PIPE_COPY || a->pipe == ORC_PIPE_SCALE;
	return a->pipe == ORC_PIPE_COPY || (b->pipe >= ORC_PIPE_D && (a->pipe == ORC_PIPE_A || a->pipe == b->pipe));
}

bool orc_tensor_ordered(enum orc_world w, const struct orc_access *a, const struct orc_access *b)
{
	const struct orc_clock *c = b->issue->tensor[w];

	if (orc_get(c, a->thread) >= a->epoch)
		return true;
	return pipelined(a, b) && orc_get(c, ORC_ACTOR(ORC_TC_ISSUED, 0) |
					  (a->thread & (ORC_ACTOR(1, 0) - 1))) >= a->epoch;
}

void orc_tensor_before(struct orc_thread *t)
{
	EACH_WORLD(w)
		orc_learn(&t->o[w].know.v[ORC_TENSOR], t->o[w].tensor);
}

void orc_tensor_after(struct orc_thread *t)
{
	EACH_WORLD(w)
		orc_learn(&t->o[w].tensor, t->o[w].know.v[ORC_TENSOR]);
}

void orc_tensor_done(struct orc_thread *t, uint64_t actor, uint32_t n)
{
	EACH_WORLD(w)
		orc_raise(&t->o[w].tensor, actor, n);
	if (orc_choices.no_tensor_fence)
		orc_tensor_before(t);
}

/* ---- shared memory and its block's life ------------------------------------------------------ */

static void lifetime(const struct orc_block *owner, const struct orc_access *a, bool certain)
{
	struct orc_fact f = {
		.op = {a->op, NULL}, .may = ORC_MAY(ORC_LIFETIME), .kind = ORC_LIFETIME,
		.certain = certain, .block = {a->reach.block, owner->number}, .thread = {a->index, 0},
		.space = a->space, .addr = a->addr
	};

	orc_say(&f);
}

static bool begun(const struct orc_block *owner, enum orc_world w, const struct orc_access *a)
{
	for (unsigned i = 0; i < owner->nthreads; i++)
		if (orc_get(a->knows[w], owner->thread[i].id) || orc_get(a->reads[w], owner->thread[i].id))
			return true;
	return false;
}

void orc_visit(struct orc_block *owner, struct orc_access *a)
{
	if (!owner->left) {
		lifetime(owner, a, true);
		return;
	}
	owner->guest = orc_grow(owner->guest, owner->nguest, &owner->capguest, sizeof *owner->guest);
	owner->guest[owner->nguest++] = a;
}

void orc_guest(struct orc_block *owner, struct orc_access *a)
{
	uint64_t kind = a->thread >> 48;

	if (a->reach.block == owner->number && kind != ORC_SINGLE && kind != ORC_BULK_READ &&
	    kind != ORC_BULK_WRITE)
		return;
	if (a->reach.block != owner->number && owner->left && !begun(owner, ORC_LEAST, a))
		lifetime(owner, a, !begun(owner, ORC_MOST, a));
	orc_visit(owner, a);
}

/* Scopes do not matter: the peer has gone past its access (memory-model.md 1.11). */
static bool left_behind(const struct orc_block *b, enum orc_world w, const struct orc_access *a)
{
	/* Who waited knows that it is there, if not what it brought. */
	if (orc_choices.wide_tx && a->reach.block != b->number)
		return false;
	return orc_get(b->ended[w].v[ORC_ALL], a->thread) < a->epoch &&
	       orc_get(b->ended[w].v[ORC_SHARED], a->thread) < a->epoch && orc_get(b->over[w], a->thread) < a->epoch;
}

void orc_block_end(struct orc_block *b)
{
	for (unsigned i = 0; i < b->nguest; i++)
		if (left_behind(b, ORC_WIDE_LEAST, b->guest[i]))
			lifetime(b, b->guest[i], left_behind(b, ORC_WIDE_MOST, b->guest[i]));
	b->nguest = 0;
}
