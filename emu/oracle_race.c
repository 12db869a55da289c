/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle_race.c: all accesses of a launch, byte by byte, and which of them race.
 * (PTX ISA, Memory Consistency Model: Conflict and Data-races, Causality Order)
 */
#include <stdlib.h>

#include "emu/oracle_impl.h"

/* Accesses of one pair of instructions that race, for what they demand. */
enum { INSTANCES = 24 };
/* How far back an access like another is looked for. */
enum { POLLERS = 1024 };

struct orc_race {
	struct orc_race *next;
	const struct orc_op *op[2];
	unsigned may;
	enum orc_kind kind;
	bool certain, moot;
	unsigned n;
	unsigned long long count;
	uint64_t addr;
	const struct orc_access *last[2];
	struct { struct orc_access *a, *b; uint64_t addr; } at[INSTANCES];
};

/* ---- keeping -------------------------------------------------------------------- */

static struct orc_cell *cell_at(struct orc_grid *g, uint64_t space, uint64_t addr)
{
	uint64_t number = addr / 64;
	struct orc_page **p = &g->page[(number * 31 + space) % ORC_HASH], *x;

	for (; *p; p = &(*p)->chain)
		if ((*p)->number == number && (*p)->space == space)
			return &(*p)->cell[addr % 64];
	*p = x = orc_alloc(1, sizeof *x);
	x->number = number;
	x->space = space;
	return &x->cell[addr % 64];
}

struct orc_access *orc_access_new(struct orc_block *b, struct orc_thread *t, const struct orc_op *op,
				  uint64_t space, uint64_t addr, unsigned size)
{
	struct orc_grid *g = b->grid;
	struct orc_access *a = orc_alloc(1, sizeof *a);

	if (g->nall == g->capall) {
		g->capall = g->capall ? g->capall * 2 : 256;
		g->all = realloc(g->all, g->capall * sizeof *g->all);
		if (!g->all)
			abort();
	}
	g->all[g->nall++] = a;
	a->op = op;
	a->thread = t->id;
	a->epoch = t->epoch;
	a->index = t->index;
	a->read = op->read;
	a->write = op->write;
	a->read_only = op->read_only;
	a->proxy = op->multimem ? ORC_MULTIMEM : ORC_GENERIC;
	a->launch = b->launch->number;
	a->blind = t->blind;
	a->size = (uint8_t)size;
	a->whole = op->strong && op->access ? (uint64_t)op->size * op->n : size;
	a->space = space;
	a->addr = addr;
	a->reach = b->reach;
	a->reach.level = op->strong ? op->level : ORC_WEAK;
	return a;
}

struct orc_access *orc_before(struct orc_grid *g, const struct orc_access *a)
{
	struct orc_access *w = cell_at(g, a->space, a->addr)->last;

	if (!w || !w->reach.level || w->issue || w->addr != a->addr || w->size != a->size)
		return NULL;
	for (unsigned i = 1; i < a->size; i++)
		if (cell_at(g, a->space, a->addr + i)->last != w)
			return NULL;
	return w;
}

bool orc_sees_other(struct orc_grid *g, const struct orc_access *a)
{
	for (unsigned i = 0; i < a->size; i++) {
		const struct orc_access *w = cell_at(g, a->space, a->addr + i)->last;

		if (w && w->reach.level && (w->addr != a->addr || w->size != a->size))
			return true;
	}
	return false;
}

/* ---- judging --------------------------------------------------------------------- */

static bool known(enum orc_world w, const struct orc_access *by, uint64_t thread, uint32_t epoch)
{
	return thread == by->thread || orc_get(by->knows[w], thread) >= epoch ||
	       (by->extra[w] && orc_get(by->extra[w], thread) >= epoch);
}

/* Does the thread of `b` know of `a` when it comes to `b`?  Operations know nothing of
 * those of their own actor that went before. */
static bool ordered(enum orc_world w, const struct orc_access *a, const struct orc_access *b)
{
	/* What ends an allocation is no asynchronous operation, for which tcgen05.fence would be
	 * needed: whether it races is uncertain. */
	if (ORC_IS_MOST(w) && (a->frees || b->frees))
		return true;
	if (a->space >= ORC_TMEM && !a->frees && !b->frees)
		return orc_tensor_ordered(w, a, b);
	if (orc_choices.lockstep && !a->issue && a->launch == b->launch &&
	    a->reach.block == b->reach.block && a->index / EMU_LANES == b->index / EMU_LANES)
		return true;
	if (a->launch != b->launch && orc_get(b->knows[w], ORC_ACTOR(ORC_LAUNCH, a->launch)))
		return true;
	if (a->issue && a->thread == b->thread)
		return orc_get(b->knows[w], a->thread) >= a->epoch;
	return known(w, b, a->thread, a->epoch) ||
	       ((!a->write || a->proxy > ORC_MULTIMEM) && orc_get(b->reads[w], a->thread) >= a->epoch);
}

static bool same_place(const struct orc_access *a, const struct orc_access *b)
{
	return a->addr == b->addr && a->size == b->size;
}

static bool both_strong(const struct orc_access *a, const struct orc_access *b)
{
	return a->reach.level && b->reach.level && a->proxy == b->proxy;
}

/* Does whatever meets one of them meet the other? */
static bool alike(const struct orc_reach *a, const struct orc_reach *b)
{
	return a->level == b->level && (a->level >= ORC_GPU || a->block == b->block);
}

/* Did an operation that comes before `b` read what `a` itself wrote, morally strong
 * with that write?  If the chain began with a write of narrower scope that it is not
 * morally strong with, the two of them race, and so may what comes behind it. */
static bool read_before(enum orc_world w, const struct orc_access *a, const struct orc_reach *began,
			const struct orc_access *b)
{
	for (unsigned i = 0; i < a->nobs; i++) {
		const struct orc_observer *z = &a->obs[i];

		if (!ORC_IS_MOST(w) && !orc_meet(w, began, &z->reach))
			continue;
		/* Not b itself, which is no later operation than the one that observed. */
		if ((z->sure || ORC_IS_MOST(w)) && orc_meet(w, &a->reach, &z->reach) &&
		    z->seq + (z->sure && z->thread == b->thread) < b->seq && known(w, b, z->thread, z->epoch))
			return true;
	}
	/* Whether a reduction, which has no result, observes: either way. */
	return ORC_IS_MOST(w) && a->next && orc_meet(w, &a->reach, &a->next->reach) &&
	       a->next->seq && a->next->seq < b->seq && known(w, b, a->next->thread, a->next->epoch);
}

/* Rule 9: somebody read what `a` wrote, or what a chain of read-modify-writes made
 * of it.  Many writes of one chain are asked about for one `b`: answers are kept. */
static bool observed(enum orc_world w, struct orc_access *a, const struct orc_access *b)
{
	const struct orc_reach *began = &a->reach;
	struct orc_access *end = a, *next;
	bool yes = false;

	if (!a->write || !a->reach.level)
		return false;
	for (; end && !yes; end = next) {
		if (end->asked[w] == b && alike(began, &end->reach)) {
			yes = end->answer[w];
			break;
		}
		yes = read_before(w, end, began, b);
		next = end->next && orc_meet(w, &end->reach, &end->next->reach) ? end->next : NULL;
	}
	for (; a != end; a = a->next) {
		if (alike(began, &a->reach)) {
			a->asked[w] = b;
			a->answer[w] = yes;
		}
		if (!a->next || !orc_meet(w, &a->reach, &a->next->reach))
			break;
	}
	return yes;
}

/* They were kept in this order. */
enum orc_verdict orc_judge(enum orc_world w, struct orc_access *a, const struct orc_access *b)
{
	if (!a->write && !b->write)
		return ORC_FINE;
	/* Through the read-only proxy nothing written in this launch may be read. */
	if (b->read_only && a->write && a->launch == b->launch)
		return ORC_OPEN;
	if (a->issue && b->issue ? a->issue->number == b->issue->number :
	    a->thread == b->thread && (a->proxy == ORC_MULTIMEM) == (b->proxy == ORC_MULTIMEM))
		return ORC_FINE;
	/* ptxas makes one UTMASTG or UBLKCP of stores that lanes make together. */
	if (a->issue && b->issue && a->issue->what && a->issue->what == b->issue->what &&
	    a->issue->block == b->issue->block)
		return ORC_FINE;
	if (ordered(w, a, b) && a->launch == b->launch)
		return orc_proxies(w, a, b);
	/* What orders launches is a fence of all proxies but the tensor maps'. */
	if (ordered(w, a, b))
		return b->proxy == ORC_MAPS && a->proxy <= ORC_MULTIMEM && !ORC_IS_MOST(w) &&
		       !orc_map_acquired(b->issue, w, b->pipe) ? ORC_UNFENCED : ORC_FINE;
	if ((a->blind || b->blind) && a->reach.block != b->reach.block &&
	    a->reach.cluster == b->reach.cluster)
		return ORC_FINE;
	if (both_strong(a, b) && same_place(a, b) && orc_meet(w, &a->reach, &b->reach))
		return ORC_FINE;
	return observed(w, a, b) ? ORC_FINE : ORC_OPEN;
}

/* Has a thread of a's or b's block acquired in vain what would have told it of the
 * other? */
static bool missed(const struct orc_grid *g, const struct orc_access *a, const struct orc_access *b)
{
	return orc_get(g->block[b->reach.block]->direct[ORC_WIDE_MOST], a->thread) >= a->epoch ||
	       orc_get(g->block[a->reach.block]->direct[ORC_WIDE_MOST], b->thread) >= b->epoch;
}

/* What it may be called.  It is a scope race if the two would be ordered, or atomic
 * together, had scopes been wide; it has to be called that where one acquire by the
 * later thread itself, or the scopes of the two, would have been enough, and may be
 * where another thread of its block acquired.  Whether an access was before an operation
 * that it races with or in its window is chance. */
static unsigned kinds(const struct orc_grid *g, struct orc_access *a, const struct orc_access *b,
		      enum orc_kind *name)
{
	enum orc_verdict most = orc_judge(ORC_MOST, a, b), wide;
	bool flies = (a->issue && !a->at_once) || (b->issue && !b->at_once);
	unsigned plain = ORC_MAY(ORC_DATA) | (flies ? ORC_MAY(ORC_IN_FLIGHT) : 0);
	unsigned may = most == ORC_UNFENCED ? ORC_MAY(ORC_PROXY) :
		       most == ORC_MISFENCED ? ORC_MAY(ORC_FENCE_ORDER) : 0;

	if (a->proxy == ORC_MAPS || b->proxy == ORC_MAPS) {
		*name = ORC_TMAP;
		return ORC_MAY(ORC_TMAP);
	}
	switch (orc_judge(ORC_LEAST, a, b)) {
	case ORC_UNFENCED:
		*name = ORC_PROXY;
		return may | ORC_MAY(ORC_PROXY);
	case ORC_MISFENCED:
		*name = ORC_FENCE_ORDER;
		return may | ORC_MAY(ORC_FENCE_ORDER);
	default:
		break;
	}
	*name = flies ? ORC_IN_FLIGHT : ORC_DATA;
	if (b->read_only)
		return plain;
	wide = orc_judge(ORC_WIDE_LEAST, a, b);
	if ((both_strong(a, b) && same_place(a, b)) || orc_get(b->direct, a->thread) >= a->epoch) {
		*name = ORC_SCOPE;
		return may | ORC_MAY(ORC_SCOPE) | (flies ? ORC_MAY(ORC_IN_FLIGHT) : 0);
	}
	if (wide == ORC_FINE)
		*name = ORC_SCOPE;
	if (wide == ORC_FINE || orc_judge(ORC_WIDE_MOST, a, b) == ORC_FINE || missed(g, a, b))
		may |= ORC_MAY(ORC_SCOPE);
	return may | plain;
}

/* `over`: its allocation of tensor memory has ended since `a`: uncertain. */
static void race(struct orc_grid *g, struct orc_access *a, struct orc_access *b,
		 uint64_t addr, bool moot, bool over)
{
	enum orc_kind kind;
	unsigned may = kinds(g, a, b, &kind);
	bool certain = !moot && !over && orc_judge(ORC_MOST, a, b) != ORC_FINE;
	struct orc_race *r = g->races;

	while (r && (r->op[0] != a->op || r->op[1] != b->op || r->may != may || r->kind != kind ||
		     r->moot != moot))
		r = r->next;
	if (!r) {
		r = orc_alloc(1, sizeof *r);
		r->next = g->races;
		g->races = r;
		r->op[0] = a->op;
		r->op[1] = b->op;
		r->may = may;
		r->kind = kind;
		r->moot = moot;
		r->addr = addr;
		r->at[0].a = a;
		r->at[0].b = b;
	}
	if (r->last[0] == a && r->last[1] == b)
		return;                 /* at another byte */
	r->last[0] = a;
	r->last[1] = b;
	r->count++;
	r->certain |= certain;
	/* Did a reduction read?  Either way. */
	if (moot || observed(ORC_MOST, a, b))
		return;
	if (r->n < INSTANCES) {
		r->at[r->n].a = a;
		r->at[r->n].b = b;
		r->at[r->n++].addr = addr;
	}
}

/* Who polls reads the same again and again, and learns nothing new about who comes
 * before: one of them stands for all, until somebody else writes. */
static bool repeated(const struct orc_cell *c, const struct orc_access *a)
{
	if (a->write || a->read_only)
		return false;
	for (unsigned i = c->n; i-- > 0 && c->n - i <= POLLERS;) {
		const struct orc_access *o = c->v[i];

		if (o->thread == a->thread && o->op == a->op && o->epoch == a->epoch &&
		    same_place(o, a))
			return true;
		if (o->write && o->thread != a->thread)
			return false;
	}
	return false;
}

/* An access that an operation came behind, at the same byte, is before whatever sees
 * that operation end, though its issuer says nothing of it: no text calls that ordered, and
 * nothing can come of it. */
static bool between(const struct orc_cell *c, unsigned k, const struct orc_access *b)
{
	for (unsigned i = k + 1; i < c->n; i++) {
		const struct orc_access *x = c->v[i];

		if (x->issue && ordered(ORC_LEAST, x, b) && ordered(ORC_LEAST, c->v[k], x))
			return true;
	}
	return false;
}

/* PTX ISA, "mbarrier": nothing but mbarrier instructions may touch one. */
static void check_mbar(struct orc_grid *g, const struct orc_access *a)
{
	const struct orc_mbar *m = a->write && !a->init ? orc_mbar_under(g, a) : NULL;
	struct orc_fact f = {
		.may = ORC_MAY(ORC_MISUSE), .kind = ORC_MISUSE, .certain = true,
		.block = {a->reach.block, a->space - 1}, .thread = {a->index, 0},
		.space = a->space, .addr = a->addr
	};

	if (!m)
		return;
	f.op[0] = a->op;
	f.op[1] = orc_mbar_init(m);
	orc_say(&f);
}

/* The first access that `a` has to be compared with.  What comes behind a weak write is
 * behind all that the write is behind; what a proxy has not seen, only if the write was
 * through the proxy itself.  What is moot matters where another detector is asked. */
static unsigned first_open(const struct orc_cell *c, const struct orc_access *a)
{
	const struct orc_access *x = c->behind ? c->v[c->behind - 1] : NULL;

	if (!x || x->blind || a->read_only || (a->proxy != ORC_GENERIC && x->proxy != a->proxy) ||
	    !ordered(ORC_LEAST, x, a))
		return 0;
	return c->behind - 1;
}

/* Do both store the same there? */
static bool same_value(const struct orc_access *a, const struct orc_access *b, uint64_t addr)
{
	return a->valued && b->valued && a->stored[addr - a->addr] == b->stored[addr - b->addr];
}

static void compare(struct orc_grid *g, struct orc_cell *c, struct orc_access *a, uint64_t addr)
{
	unsigned open = first_open(c, a);
	bool fine = true;

	/* What a proxy has not seen, and an operation of that proxy came behind, has been told with that
	 * one, and may be told again. */
	for (unsigned k = c->unfenced ? 0 : open; k < c->n; k++) {
		enum orc_verdict v = orc_judge(ORC_LEAST, c->v[k], a);
		bool moot = v != ORC_FINE && (k < open || between(c, k, a) ||
					      (orc_choices.same_value && same_value(c->v[k], a, addr)));

		if (v == ORC_FINE)
			continue;
		c->unfenced |= moot || v != ORC_OPEN;
		race(g, c->v[k], a, addr, moot, k < c->freed);
		fine &= moot || v != ORC_OPEN;
	}
	c->v = orc_grow(c->v, c->n, &c->cap, sizeof *c->v);
	c->v[c->n++] = a;
	if (a->frees)
		c->freed = c->n;
	if (fine && a->write && !a->reach.level)
		c->behind = c->n;
}

static void access_free(struct orc_access *a)
{
	for (enum orc_world w = 0; w < ORC_WORLDS; w++) {
		orc_drop(a->knows[w]);
		orc_drop(a->extra[w]);
		orc_drop(a->reads[w]);
		orc_drop(a->alias[w]);
		orc_drop(a->fenced[w]);
		orc_heads_drop(&a->heads[w]);
	}
	orc_drop(a->direct);
	orc_issue_drop(a->issue);
	free(a->obs);
	free(a);
}

/* What of it lies outside of its variable, or of what is allocated, as bits: that is no access of what lies there. */
static uint64_t outside_of(struct orc_grid *g, const struct orc_access *a)
{
	bool copied = a->issue && !a->write && (a->op->in->id == INST_CP_ASYNC_BULK || a->op->in->id == INST_CP_REDUCE_ASYNC_BULK ||
						a->op->in->id == INST_TENSORMAP_CP_FENCEPROXY);

	if (!a->space)
		return orc_off_ground(g->block[a->reach.block], a->op, a->addr, a->size);
	return orc_outside(g->block[a->reach.block], a->op, copied ? ORC_ADDRESS_FROM : ORC_ADDRESS_AT, a->space, a->addr, a->size);
}

/* Does a write of the byte come before it, by the orders of that world? */
static bool written(enum orc_world w, const struct orc_cell *c, const struct orc_access *a)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->v[i]->write && ordered(w, c->v[i], a))
			return true;
	return false;
}

static void check_written(struct orc_grid *g, const struct orc_access *a, uint64_t outside)
{
	struct orc_fact f = {.op = {a->op, NULL}, .may = ORC_MAY(ORC_UNINIT), .kind = ORC_UNINIT, .block = {a->reach.block, a->space - 1},
			     .thread = {a->index, 0}, .space = a->space, .addr = a->addr};
	bool any = false;

	for (unsigned i = 0; i < a->size; i++) {
		const struct orc_cell *c = cell_at(g, a->space, a->addr + i);

		if ((i < 64 && outside >> i & 1) || written(ORC_LEAST, c, a))
			continue;
		any = true;
		f.certain |= !written(ORC_MOST, c, a);
	}
	if (f.certain)
		orc_say(&f);
	else if (any)
		orc_found(&f, 1);
}

bool orc_check(struct orc_grid *g, struct orc_thread *t, struct orc_access *a)
{
	uint64_t outside = outside_of(g, a);
	bool kept = outside;

	for (enum orc_world w = 0; w < ORC_WORLDS; w++) {
		const struct orc_know *k = t ? &t->o[w].know : &a->issue->know[w];

		a->knows[w] = orc_keep(k->v[ORC_ALL]);
		a->reads[w] = orc_keep(k->v[ORC_READS]);
		a->alias[w] = orc_keep(k->v[ORC_ALIAS]);
		if (a->space)
			a->extra[w] = orc_keep(k->v[ORC_SHARED]);
		if (t && orc_choices.read_fence)
			a->fenced[w] = orc_fenced(k, t->block, a->space);
	}
	if (t)
		a->direct = orc_keep(t->o[ORC_WIDE_LEAST].direct);
	a->seq = ++g->seq;
	if (!outside)
		check_mbar(g, a);
	if (orc_choices.uninit && a->read && a->space && a->space < ORC_TMEM)
		check_written(g, a, outside);
	if (a->write && !a->space && a->proxy <= ORC_MULTIMEM)
		orc_map_written(g, a);
	for (unsigned i = 0; i < a->size; i++) {
		struct orc_cell *c = cell_at(g, a->space, a->addr + i);

		if (i < 64 && outside >> i & 1)
			continue;
		if (!repeated(c, a)) {
			compare(g, c, a, a->addr + i);
			kept = true;
		}
		if (!a->write)
			continue;
		if (c->last && !c->last->ended)
			c->last->ended = g->seq;
		c->last = a;
	}
	if (kept || g->all[g->nall - 1] != a)
		return true;
	g->nall--;
	access_free(a);
	return false;
}

/* ---- what must be named ------------------------------------------------------------ */

/* Does a race of `a` and `b` mean one of `x` and `b`, as far as the kind of access goes?  Being
 * strong is of use to those alone who are both; of a device's threads, sys holds no more than gpu. */
static bool as_bad(const struct orc_access *x, const struct orc_access *a, const struct orc_access *b)
{
	if (a->write && !x->write)
		return false;
	return !x->reach.level || !b->reach.level ||
	       (a->reach.level && same_place(x, a) && (x->reach.level <= a->reach.level || a->reach.level >= ORC_GPU));
}

/* Are both reads by operations of one group?  Whoever has waited for one has waited for the other
 * (PTX ISA, cp.async.bulk.wait_group), and gsan keeps one record for what they read. */
static bool of_group(const struct orc_access *x, const struct orc_access *a)
{
	const struct orc_thread *t;
	const struct orc_groups *g;
	unsigned k = 0;

	if (!x->issue || x->write || a->write)
		return false;
	t = &x->issue->block->thread[x->issue->index];
	switch (x->thread >> 48) {
	case ORC_CP_ASYNC:
		g = &t->cp;
		break;
	case ORC_BULK_READ:
		g = &t->bulk;
		break;
	case ORC_WGMMA:
		g = &t->wgmma;
		break;
	default:
		return false;
	}
	while (k < g->n && g->end[k] < a->epoch)
		k++;
	return x->epoch > (k ? g->end[k - 1] : 0) && (k == g->n || x->epoch <= g->end[k]);
}

/* x instead of a, in a race with b: the same thread's before it has published anything in
 * between, or one that comes after it in the order. */
static bool stands_for(enum orc_world w, const struct orc_access *x, const struct orc_access *a,
		       const struct orc_access *b)
{
	if (x == a)
		return true;
	/* What was written before is a race of its own through the read-only proxy; what is
	 * written afterwards is one as for any read. */
	if ((a->read_only && !x->read_only && b->seq < a->seq) || !as_bad(x, a, b))
		return false;
	/* An operation is no better than what it came behind; where a fence is missing between the
	 * two, that is a race of its own. */
	if (a->proxy != x->proxy && (a->proxy != ORC_GENERIC || !x->issue))
		return false;
	if (x->thread == a->thread)
		return x->epoch >= a->epoch || of_group(x, a);
	return x->seq > a->seq && orc_get(x->knows[w], a->thread) >= a->epoch;
}

static bool open(struct orc_access *x, struct orc_access *y)
{
	return x->seq < y->seq ? orc_judge(ORC_LEAST, x, y) : orc_judge(ORC_LEAST, y, x);
}

static void add_lines(unsigned (**v)[2], unsigned *n, unsigned *cap, unsigned a, unsigned b)
{
	for (unsigned i = 0; i < *n; i++)
		if (((*v)[i][0] == a && (*v)[i][1] == b) || ((*v)[i][0] == b && (*v)[i][1] == a))
			return;
	*v = orc_grow(*v, *n, cap, sizeof **v);
	(*v)[*n][0] = a;
	(*v)[(*n)++][1] = b;
}

static void fact_of(const struct orc_race *r, struct orc_fact *f)
{
	const struct orc_access *a = r->at[0].a, *b = r->at[0].b;

	*f = (struct orc_fact){
		.op = {a->op, b->op}, .may = r->may, .kind = r->kind, .certain = r->certain,
		.moot = r->moot, .block = {a->reach.block, b->reach.block}, .thread = {a->index, b->index},
		.space = a->space, .addr = r->addr, .bytes = {a->whole, b->whole}
	};
}

static void demand(struct orc_grid *g, const struct orc_race *r, unsigned i)
{
	const struct orc_access *a = r->at[i].a, *b = r->at[i].b;
	const struct orc_cell *c = cell_at(g, a->space, r->at[i].addr);
	unsigned (*line)[2] = NULL, n = 0, cap = 0;
	struct orc_fact f;

	add_lines(&line, &n, &cap, a->op->line, b->op->line);
	for (unsigned k = 0; k < c->n; k++) {
		if (!stands_for(ORC_LEAST, c->v[k], a, b))
			continue;
		for (unsigned m = 0; m < c->n; m++)
			if (stands_for(ORC_LEAST, c->v[m], b, a) && open(c->v[k], c->v[m]))
				add_lines(&line, &n, &cap, c->v[k]->op->line, c->v[m]->op->line);
	}
	fact_of(r, &f);
	orc_demand(&f, (const unsigned (*)[2])line, n);
	free(line);
}

static void thread_free(struct orc_thread *t)
{
	for (enum orc_world w = 0; w < ORC_WORLDS; w++) {
		orc_know_drop(&t->o[w].know);
		orc_drop(t->o[w].mine);
		orc_drop(t->o[w].tensor);
		orc_drop(t->o[w].direct);
		for (unsigned i = 0; i < ORC_LEVELS; i++)
			orc_head_drop(&t->o[w].fence[i]);
		orc_notes_drop(&t->o[w].released);
		orc_notes_drop(&t->o[w].seen);
	}
	orc_sc_free(t);
	free(t->cp.end);
	free(t->bulk.end);
	free(t->wgmma.end);
}

static void block_free(struct orc_block *b)
{
	for (unsigned i = 0; i < b->nthreads; i++)
		thread_free(&b->thread[i]);
	for (unsigned i = 0; i < 16; i++)
		orc_bar_over(b, i);
	for (enum orc_world w = 0; w < ORC_WORLDS; w++) {
		orc_know_drop(&b->ended[w]);
		orc_know_drop(&b->gone[w]);
		orc_drop(b->over[w]);
		orc_drop(b->direct[w]);
	}
	orc_drop(b->freed);
	orc_phase_drop(&b->cluster);
	orc_mbars_free(b);
	free(b->guest);
	free(b->thread);
	free(b);
}

static void pages_free(struct orc_page *p)
{
	while (p) {
		struct orc_page *next = p->chain;

		for (unsigned i = 0; i < 64; i++)
			free(p->cell[i].v);
		free(p);
		p = next;
	}
}

static void words_free(struct orc_word *x)
{
	while (x) {
		struct orc_word *next = x->chain;

		free(x->w);
		orc_met_drop(&x->met);
		free(x);
		x = next;
	}
}

static void launches_free(struct orc_grid *g)
{
	while (g->launches) {
		struct orc_launch *l = g->launches;

		g->launches = l->next;
		for (enum orc_world w = 0; w < ORC_WORLDS; w++)
			orc_heads_drop(&l->dependents[w]);
		free(l);
	}
	for (unsigned i = 0; i < g->nmap_fences; i++)
		for (enum orc_world w = 0; w < ORC_WORLDS; w++)
			orc_drop(g->map_fence[i].covers[w]);
	free(g->map_fence);
}

static uint64_t launch_id(const struct orc_grid *g, uint64_t number)
{
	const struct orc_launch *l = g->launches;

	while (l && l->number != number)
		l = l->next;
	return l ? l->made : 0;
}

/* The launch is over, and those that depend on it: tells what was found, and lets go of
 * everything. */
void orc_grid_end(struct orc_grid *g)
{
	while (g->races) {
		struct orc_race *r = g->races;
		struct orc_fact f;

		g->races = r->next;
		fact_of(r, &f);
		orc_found(&f, r->count);
		for (unsigned i = 0; i < r->n; i++)
			demand(g, r, i);
		free(r);
	}
	for (size_t i = 0; i < g->nall; i++) {
		orc_touched(g->all[i], launch_id(g, g->all[i]->launch));
		access_free(g->all[i]);
	}
	free(g->all);
	for (unsigned i = 0; i < ORC_HASH; i++) {
		pages_free(g->page[i]);
		words_free(g->word[i]);
	}
	for (uint64_t i = 0; i < g->nblocks; i++)
		if (g->block[i])
			block_free(g->block[i]);
	for (enum orc_world w = 0; w < ORC_WORLDS; w++)
		orc_heads_drop(&g->sc[w]);
	launches_free(g);
	orc_marks_free(g);
	free(g->block);
	free(g);
}
