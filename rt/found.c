/* SPDX-License-Identifier: Apache-2.0
 *
 * found.c: makes a report of what the detector found: looks up its sites, the variable or allocation, the kernel and
 * the launch.
 */
#include <string.h>

#include "rt/found.h"

/* ---- kinds and reasons ---------------------------------------------------------------------------------- */

static enum gsan_kind kind_of(enum detect_kind kind)
{
	for (int k = 0; k < GSAN_KIND_COUNT; k++)
		if (!strcmp(rt_kind_name((enum gsan_kind)k), detect_kind_name(kind)))
			return (enum gsan_kind)k;
	return GSAN_DATA_RACE;
}

static bool begins(const struct rt_place *p, const char *with)
{
	return !strncmp(p->op, with, strlen(with));
}

/* Neither of them is ordered behind the other at all: what would do depends on how far they are apart. */
static enum gsan_why apart(const struct rt_report *r, const struct detect_finding *f)
{
	const struct detect_side *a = &f->side[0], *b = &f->side[1];

	if (a->launch != b->launch)
		return GSAN_WHY_GRID_NOW;
	if (a->block != b->block)
		return r->shared ? GSAN_WHY_PEER_BLOCK : GSAN_WHY_OTHER_BLOCK;
	return a->thread / 32 == b->thread / 32 ? GSAN_WHY_SAME_WARP : GSAN_WHY_SAME_BLOCK;
}

static enum gsan_why of_tensor(const struct rt_report *r, enum detect_why why)
{
	if (why != DETECT_NOT_COMPLETED)
		return GSAN_WHY_TC_SYNC;
	return begins(&r->before, "tcgen05.ld") || begins(&r->before, "tcgen05.st") ? GSAN_WHY_TC_WAIT : GSAN_WHY_TC_COMMIT;
}

static enum gsan_why of_proxy(const struct rt_report *r, const struct detect_finding *f)
{
	const struct rt_place *other = r->before.async ? &r->before : &r->now;
	const struct detect_side *plain = &f->side[r->before.async];

	if (begins(&r->before, "multimem") || begins(&r->now, "multimem"))
		return GSAN_WHY_ALIAS;
	if (begins(other, "st.async") || begins(other, "red.async"))
		return GSAN_WHY_PROXY_END;
	/* A fence for its own block's shared memory alone may have been there. */
	if (plain->shared && plain->owner != plain->block && f->side[0].block == f->side[1].block)
		return GSAN_WHY_PROXY_PEER;
	return GSAN_WHY_PROXY;
}

static enum gsan_why of_mbarrier(const struct rt_report *r, const struct detect_finding *f)
{
	if (f->why == DETECT_MBAR_MANY)
		return GSAN_WHY_MBAR_MANY;
	if (f->why == DETECT_MBAR_BYTES)
		return GSAN_WHY_MBAR_BYTES;
	if (f->why == DETECT_MBAR_COUNT)
		return GSAN_WHY_MBAR_COUNT;
	if (f->why == DETECT_MBAR_STALE)
		return GSAN_WHY_MBAR_STALE;
	if (f->one)
		return GSAN_WHY_MBAR_NONE;
	if (begins(&r->before, "mbarrier.inval"))
		return GSAN_WHY_MBAR_GONE;
	if (begins(&r->now, "mbarrier.inval"))
		return GSAN_WHY_MBAR_INVAL;
	if (begins(&r->before, "mbarrier.init") && begins(&r->now, "mbarrier.init"))
		return GSAN_WHY_MBAR_AGAIN;
	return begins(&r->before, "mbarrier.init") || begins(&r->now, "mbarrier.init") ? GSAN_WHY_MBAR_INIT : GSAN_WHY_MBAR_LIVE;
}

static enum gsan_why of_barrier(enum detect_why why)
{
	switch (why) {
	case DETECT_BAR_COUNT:
		return GSAN_WHY_BAR_COUNT;
	case DETECT_BAR_COUNTS:
		return GSAN_WHY_BAR_COUNTS;
	case DETECT_BAR_SHARED:
		return GSAN_WHY_BAR_SHARED;
	case DETECT_BAR_FORMS:
		return GSAN_WHY_BAR_FORMS;
	case DETECT_BAR_APART:
		return GSAN_WHY_BAR_APART;
	case DETECT_CLUSTER_TWICE:
		return GSAN_WHY_CLUSTER_TWICE;
	default:
		return GSAN_WHY_BAR_MASK;
	}
}

static enum gsan_why of_room(enum detect_why why)
{
	return why == DETECT_NOT_FREED ? GSAN_WHY_NOT_FREED : why == DETECT_FREED_TWICE ? GSAN_WHY_FREED_TWICE : GSAN_WHY_USED_FREED;
}

static enum gsan_why of_race(const struct rt_report *r, const struct detect_finding *f)
{
	switch (f->why) {
	case DETECT_READ_ONLY:
		return GSAN_WHY_READ_ONLY;
	case DETECT_MIXED_SIZE:
		return GSAN_WHY_MIXED_SIZE;
	case DETECT_NARROW:
		return r->before.atomic && r->now.atomic ? GSAN_WHY_SCOPE_ATOMIC : GSAN_WHY_SCOPE_SYNC;
	case DETECT_NOT_COMPLETED:
		return GSAN_WHY_ASYNC;
	case DETECT_NO_PROXY_FENCE:
		return of_proxy(r, f);
	case DETECT_FENCE_ELSEWHERE:
		return GSAN_WHY_PROXY_ORDER;
	default:
		return apart(r, f);
	}
}

static enum gsan_why why_of(const struct rt_report *r, const struct detect_finding *f)
{
	if (f->why == DETECT_OLDER_PHASE)
		return GSAN_WHY_OLDER_PHASE;
	switch (f->kind) {
	case DETECT_ASYNC_RACE:
		return r->tensor ? of_tensor(r, f->why) : GSAN_WHY_ASYNC;
	case DETECT_TENSORMAP_RACE:
		return GSAN_WHY_MAP;
	case DETECT_PROXY_RACE:
		return of_proxy(r, f);
	case DETECT_PROXY_FENCE_ORDER:
		return GSAN_WHY_PROXY_ORDER;
	case DETECT_MBARRIER_MISUSE:
		return of_mbarrier(r, f);
	case DETECT_SHARED_BOUNDS:
		return GSAN_WHY_OUTSIDE;
	case DETECT_GLOBAL_BOUNDS:
		return GSAN_WHY_BEHIND;
	case DETECT_USE_AFTER_FREE:
		return GSAN_WHY_FREED;
	case DETECT_UNINITIALISED_READ:
		return GSAN_WHY_UNWRITTEN;
	case DETECT_BARRIER_MISUSE:
		return of_barrier(f->why);
	case DETECT_LIFETIME:
		if (f->why != DETECT_MISUSE)
			return of_room(f->why);
		return f->one || f->side[0].block == f->side[1].block ? GSAN_WHY_EXIT : GSAN_WHY_PEER;
	case DETECT_SCOPE_RACE:
		return r->before.atomic && r->now.atomic ? GSAN_WHY_SCOPE_ATOMIC : GSAN_WHY_SCOPE_SYNC;
	default:
		return r->tensor ? of_tensor(r, f->why) : of_race(r, f);
	}
}

/* ---- places ------------------------------------------------------------------------------------------------ */

static void unpack(uint64_t linear, const uint32_t dim[3], uint32_t v[3])
{
	const uint32_t x = dim[0] ? dim[0] : 1, y = dim[1] ? dim[1] : 1;

	v[0] = (uint32_t)(linear % x);
	v[1] = (uint32_t)(linear / x % y);
	v[2] = (uint32_t)(linear / x / y);
}

/* Blocks of a cluster have numbers in a row. */
static void place_block(const struct rt_launch *l, uint32_t number, uint64_t at[3])
{
	uint32_t size[3], clusters[3], rank[3], cluster[3], all = 1;

	for (int i = 0; i < 3; i++) {
		size[i] = l->cluster[i] ? l->cluster[i] : 1;
		clusters[i] = l->grid[i] / size[i] ? l->grid[i] / size[i] : 1;
		all *= size[i];
	}
	unpack(number % all, size, rank);
	unpack(number / all, clusters, cluster);
	for (int i = 0; i < 3; i++)
		at[i] = (uint64_t)cluster[i] * size[i] + rank[i];
}

static void add_frames(struct rt_place *p, const struct rt_tables *t, const struct module_spot *spot)
{
	uint32_t next = spot->frames;

	p->frame[0] = (struct rt_frame){.func = rt_string(t, spot->func), .file = rt_string(t, spot->file), .line = spot->line};
	p->nframes = 1;
	while (next && next <= t->n.nframes && p->nframes < RT_FRAMES) {
		const struct module_frame *f = &t->frame[next - 1];

		p->frame[p->nframes++] = (struct rt_frame){.func = rt_string(t, f->func), .file = rt_string(t, f->file),
							   .line = f->line};
		next = f->next;
	}
	for (unsigned i = 0; i < p->nframes; i++)
		p->frame[i].shown = rt_demangle(p->frame[i].func);
}

static enum gsan_level level_of(const struct event_site *s)
{
	static const enum gsan_level levels[] = {
		[EVENT_SCOPE_NONE] = GSAN_GPU, [EVENT_CTA] = GSAN_CTA, [EVENT_CLUSTER] = GSAN_CLUSTER, [EVENT_GPU] = GSAN_GPU,
		[EVENT_SYS] = GSAN_SYS
	};

	return event_strong(s) ? levels[s->scope <= EVENT_SYS ? s->scope : EVENT_SYS] : GSAN_WEAK;
}

static void fill_site(struct rt_place *p, const struct rt_launch *l, uint32_t number)
{
	const struct rt_tables *t = rt_unit_of(l->tables, number);
	const struct event_site *s;

	if (!t)
		return;
	number -= t->base;
	s = &t->site[number];
	p->known = true;
	p->level = level_of(s);
	p->is_volatile = s->sem == EVENT_VOLATILE;
	p->atomic = s->kind == EVENT_STRONG && !p->is_volatile;
	p->read_only = s->proxy == EVENT_READ_ONLY;
	p->op = rt_string(t, t->spot[number].op);
	p->var = rt_string(t, t->spot[number].var);
	p->ptx = rt_string(t, t->n.path);
	p->ptx_line = s->line;
	add_frames(p, t, &t->spot[number]);
}

static void fill_spot(struct rt_place *p, const struct rt_launch *l, uint32_t site)
{
	p->op = p->var = p->ptx = "";
	if (l)
		fill_site(p, l, site);
}

void rt_found_place(struct rt_place *p, const struct detect_side *s, const struct rt_launch *l)
{
	memset(p, 0, sizeof *p);
	p->op = p->var = p->ptx = "";
	if (!l)
		return;
	p->write = s->writes;
	p->async = s->async;
	p->addr = s->address;
	p->size = (uint32_t)s->bytes;
	unpack(s->thread, l->block, p->thread);
	place_block(l, s->block, p->block);
	p->block_known = true;
	fill_site(p, l, s->site);
}

/* ---- the rest -------------------------------------------------------------------------------------------------- */

void rt_found_launch(struct rt_report *r, const struct rt_launch *l)
{
	r->kernel = r->kernel_raw = "";
	if (!l)
		return;
	r->launch = l->nth;
	memcpy(r->grid, l->grid, sizeof r->grid);
	memcpy(r->block, l->block, sizeof r->block);
	memcpy(r->cluster, l->cluster, sizeof r->cluster);
	r->kernel_raw = rt_string(l->tables, l->kernel->name);
	r->kernel = rt_bare_name(rt_demangle(r->kernel_raw));
	r->stream_known = true;
	r->stream = l->stream & 2 ? 2 : l->stream;
}

static uint64_t shared_size(const struct rt_tables *t, const char *var)
{
	for (uint32_t i = 0; t && i < t->n.nglobals; i++)
		if (t->global[i].shared && !strcmp(rt_string(t, t->global[i].name), var))
			return t->global[i].bytes;
	return 0;
}

static void put_where(struct rt_buf *where, struct rt_report *r, const struct rt_block *block)
{
	if (block && block->kind == RT_MEM_VARIABLE)
		r->var = block->name;
	if (block)
		rt_locate_global(where, r, block);
	else
		rt_printf(where, "global memory at 0x%llx", (unsigned long long)r->addr);
}

void rt_found_where(struct rt_report *r, const struct rt_blocks *blocks)
{
	struct rt_buf where = {0};
	struct rt_block block;

	r->var = r->in = "";
	put_where(&where, r, rt_block_find(blocks, r->addr, &block) ? &block : NULL);
	r->where = where.text;
}

/* What the program called to make memory, or to free it. */
static void put_call(struct rt_place *p, const struct rt_made *m, const char *verb, const struct rt_block *b)
{
	if (!m)
		return;
	m->fill(m, p);
	p->verb = verb;
	p->addr = b->addr;
	p->size = b->bytes < UINT32_MAX ? (uint32_t)b->bytes : UINT32_MAX;
}

/* The block that the access is behind, or that was freed. */
static void put_ground(struct rt_buf *where, struct rt_report *r, const struct detect_finding *f, const struct rt_blocks *all)
{
	struct rt_block b = {.addr = f->ground.at, .bytes = f->ground.bytes, .kind = r->kind == GSAN_USE_AFTER_FREE ? RT_MEM_FREED : RT_MEM_DEVICE};

	for (size_t i = 0; i < all->n; i++)
		if (all->list[i].addr == b.addr && all->list[i].bytes == b.bytes && (all->list[i].kind == RT_MEM_FREED) == (b.kind == RT_MEM_FREED))
			b = all->list[i];
	put_call(&r->made, b.made, "Allocation", &b);
	put_call(&r->before, b.freed, "Free", &b);
	r->outside = f->outside;
	if (r->kind == GSAN_GLOBAL_BOUNDS)
		rt_locate_behind(where, r, &b);
	else
		rt_locate_global(where, r, &b);
}

static void locate(struct rt_report *r, const struct detect_finding *f, const struct rt_launch *l, const struct rt_verdict *v)
{
	struct rt_buf where = {0};
	struct rt_block block;

	r->var = r->in = "";
	if (r->kind == GSAN_SHARED_BOUNDS) {
		r->var = l ? rt_variable_name(l->tables, f->variable.variable) : "";
		r->in = l ? rt_variable_name(l->tables, f->in.variable) : "";
		r->var_bytes = f->variable.bytes;
		r->outside = f->outside;
		rt_locate_outside(&where, r);
	} else if (r->kind == GSAN_GLOBAL_BOUNDS || r->kind == GSAN_USE_AFTER_FREE) {
		put_ground(&where, r, f, rt_verdict_blocks(v));
	} else if (r->kind == GSAN_BARRIER_MISUSE) {
		rt_locate_barrier(&where, r);
	} else if (r->shared) {
		r->var = *r->now.var ? r->now.var : r->before.var;
		rt_locate_shared(&where, r, *r->var && l ? shared_size(l->tables, r->var) : 0);
	} else if (r->tensor) {
		rt_locate_tensor(&where, r);
	} else {
		put_where(&where, r, rt_verdict_block(v, r->addr, &block) ? &block : NULL);
	}
	r->where = where.text;
}

static bool is_misuse(enum detect_kind kind)
{
	return kind == DETECT_MBARRIER_MISUSE || kind == DETECT_BARRIER_MISUSE || kind == DETECT_LIFETIME || kind == DETECT_SHARED_BOUNDS ||
	       kind == DETECT_GLOBAL_BOUNDS || kind == DETECT_USE_AFTER_FREE || kind == DETECT_UNINITIALISED_READ;
}

/* Is what it stores logged (probe_what.stored)? */
static bool tells_value(const struct rt_place *p, const struct rt_launch *l)
{
	return l && l->kernel->flags & MODULE_STORED && begins(p, "st.") && !begins(p, "st.bulk");
}

struct rt_report *rt_found(const struct detect_finding *f, const struct rt_verdict *v)
{
	struct rt_report *r = rt_alloc(sizeof *r);
	/* Of a misuse the first one is who uses. */
	const struct detect_side *now = &f->side[!f->one && !is_misuse(f->kind)], *before = &f->side[now == &f->side[0]];
	const struct rt_launch *l = rt_verdict_launch(v, now->launch);

	r->kind = kind_of(f->kind);
	r->shared = now->shared;
	r->tensor = now->tensor;
	/* The first byte that both touch. */
	r->addr = f->one || now->address > before->address ? now->address : before->address;
	r->count = f->count;
	r->seen_ms = rt_now_ms();
	rt_found_launch(r, l);
	rt_found_place(&r->now, now, l);
	rt_found_place(&r->before, before, f->one ? NULL : rt_verdict_launch(v, before->launch));
	if (f->why == DETECT_OLDER_PHASE) {
		fill_spot(&r->arrival, l, f->met[0]);
		fill_spot(&r->wait, l, f->met[1]);
		r->phase = f->phase;
	}
	if (l && (now->shared || now->tensor) && now->owner != now->block)
		r->owner = 1 + now->owner % (uint32_t)((l->cluster[0] ? l->cluster[0] : 1) * (l->cluster[1] ? l->cluster[1] : 1) *
						       (l->cluster[2] ? l->cluster[2] : 1));
	r->values = f->same_value ? GSAN_VALUES_SAME : tells_value(&r->now, l) && tells_value(&r->before, l) ? GSAN_VALUES_DIFFER :
		    GSAN_VALUES_UNKNOWN;
	r->why = why_of(r, f);
	locate(r, f, l, v);
	return r;
}
