/* SPDX-License-Identifier: Apache-2.0
 *
 * collect.c: makes a report of a finding: looks up its sites, the variable or
 * allocation, the kernel and the launch.  It is done when the finding is taken
 * from the ring, while what it refers to is still there.  Formats nothing but
 * the location; the strings it points to are never freed.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/drv.h"

static const char *string(const struct rt_sites *s, uint32_t at)
{
	return at < s->nstrings ? s->strings + at : "";
}

static void unpack(uint64_t linear, const uint32_t dim[3], uint64_t v[3])
{
	const uint64_t x = dim[0] ? dim[0] : 1, y = dim[1] ? dim[1] : 1;

	v[0] = linear % x;
	v[1] = linear / x % y;
	v[2] = linear / x / y;
}

/* With rt_lock.  Frame 0 is where the access is; the others are what it was
 * inlined into. */
static void frames(struct rt_place *p, const struct rt_sites *s, const struct gsan_site *site)
{
	uint32_t next = site->frames;

	p->frame[0] = (struct rt_frame){ .func = string(s, site->func), .file = string(s, site->file),
		.line = site->line };
	p->nframes = 1;
	while (next && next <= s->nframes && p->nframes < RT_FRAMES) {
		const struct gsan_frame *f = &s->frame[next - 1];

		p->frame[p->nframes++] = (struct rt_frame){ .func = string(s, f->func),
			.file = string(s, f->file), .line = f->line };
		next = f->next;
	}
}

/* Where the access starts.  The ring has the first byte that both touch and the
 * bytes of one granule; an access of up to a power of two bytes is aligned to its
 * size (PTX ISA, "Addresses as Operands"), which gives the rest. */
static uint64_t start(uint64_t addr, uint32_t size, uint32_t mask)
{
	const uint64_t granule = addr & ~UINT64_C(7);

	if (size && size <= 32 && !(size & (size - 1)))
		return addr & ~(uint64_t)(size - 1);
	return mask ? granule + (uint64_t)__builtin_ctz(mask) : addr;
}

/* Does an access of that size have those bytes in a granule? */
static bool sized(const struct gsan_access *a, uint32_t size)
{
	bool weak = a->kind <= GSAN_KIND_WRITE;

	return size > 8 && !weak ? (a->bytes & 255) == GSAN_REC_WIDE :
	       (uint32_t)__builtin_popcount(a->bytes & 255) == (size < 8 ? size : 8);
}

/* With rt_lock.  Could the finding's earlier access be by the site that it names?  A word
 * left from before may pass for its record's own, if there are many sites
 * (rt/device/report.cuh).  Accesses are aligned to their size (PTX ISA, "Addresses as
 * Operands"), so that one has min(size, 8) bytes in its granule. */
static bool fits(const struct gsan_finding *f)
{
	const struct gsan_access *a = &f->before;
	const struct rt_sites *s = a->site ? rt_sites_of(a->site) : NULL;
	const struct gsan_site *site = s ? &s->site[a->site - s->base] : NULL;
	const char *op = s ? string(s, site->op) : "";
	uint32_t size = s ? GSAN_INFO_SIZE(site->info) : 0;

	if (!size || (f->kind != GSAN_DATA_RACE && f->kind != GSAN_SCOPE_RACE) ||
	    (a->kind & GSAN_ACCESS_ASYNC) || a->kind == GSAN_KIND_ASYNC || a->kind == GSAN_KIND_WARP_READ)
		return true;
	return sized(a, size) && *op != (a->kind & GSAN_KIND_WRITE ? 'l' : 's');
}

/* With rt_lock. */
static void place(struct rt_place *p, const struct gsan_access *a, const struct gsan_finding *f)
{
	const struct rt_sites *s = a->site ? rt_sites_of(a->site) : NULL;
	const struct gsan_site *site;
	uint64_t thread[3];

	memset(p, 0, sizeof *p);
	p->var = p->op = p->ptx = "";
	p->size = f->shared == GSAN_IN_TENSOR ? 4 : (a->bytes & 255) == GSAN_REC_WIDE ? 16 : (uint32_t)__builtin_popcount(a->bytes & 255);
	p->addr = f->addr;
	p->async = (a->kind & GSAN_ACCESS_ASYNC) != 0;
	p->write = a->kind != GSAN_KIND_WARP_READ && (a->kind & GSAN_KIND_WRITE);
	p->whole_warp = a->kind == GSAN_KIND_WARP_READ;
	unpack(a->thread, f->block, thread);
	for (int i = 0; i < 3; i++)
		p->thread[i] = (uint32_t)thread[i];
	p->block_known = a->block != ~UINT64_C(0);
	if (p->block_known)
		unpack(a->block, f->grid, p->block);
	if (!s)
		return;
	site = &s->site[a->site - s->base];
	p->known = true;
	p->level = (enum gsan_level)GSAN_INFO_LEVEL(site->info);
	p->is_volatile = (site->info & GSAN_INFO_VOLATILE) != 0;
	p->atomic = p->level != GSAN_WEAK && !p->is_volatile;
	p->read_only = (site->info & GSAN_INFO_NC) != 0;
	p->reduction = (site->info & GSAN_INFO_RED) != 0;
	if (GSAN_INFO_SIZE(site->info))
		p->size = GSAN_INFO_SIZE(site->info);
	if (f->shared != GSAN_IN_TENSOR)
		p->addr = start(f->addr, p->size, a->bytes);
	p->op = string(s, site->op);
	p->var = string(s, site->var);
	p->ptx = s->path;
	p->ptx_line = site->ptx_line;
	frames(p, s, site);
}

static void name_frames(struct rt_place *p)
{
	for (unsigned i = 0; i < p->nframes; i++)
		p->frame[i].shown = rt_demangle(p->frame[i].func);
}

/* With rt_lock: the size of a shared variable, 0 if it is in no table. */
static uint64_t shared_size(const struct gsan_finding *f, const char *var)
{
	const struct rt_sites *s = rt_sites_of(f->now.site ? f->now.site : f->before.site);

	for (uint32_t i = 0; s && i < s->nglobals; i++)
		if (s->global[i].shared && !strcmp(string(s, s->global[i].name), var))
			return s->global[i].bytes;
	return 0;
}

struct rt_report *rt_collect(const struct gsan_finding *from)
{
	struct gsan_finding copy = *from, *f = &copy;
	struct rt_report *r = rt_alloc(sizeof *r);
	struct rt_buf where = {0};
	struct rt_block block;
	const struct rt_sites *s;
	const struct rt_func *fn;
	bool found = false;
	uint64_t size = 0;

	r->kind = f->kind < GSAN_KIND_COUNT ? (enum gsan_kind)f->kind : GSAN_DATA_RACE;
	r->why = f->why < GSAN_WHY_COUNT ? (enum gsan_why)f->why : GSAN_WHY_NOTHING;
	r->values = f->values <= GSAN_VALUES_DIFFER ? (enum gsan_values)f->values : GSAN_VALUES_UNKNOWN;
	r->shared = f->shared == 1;
	/* Blocks that meet in shared memory are of one cluster. */
	if (r->shared && r->why == GSAN_WHY_OTHER_BLOCK)
		r->why = GSAN_WHY_PEER_BLOCK;
	r->tensor = f->shared == GSAN_IN_TENSOR;
	r->addr = f->addr;
	r->count = f->count ? f->count : 1;
	r->launch = f->launch;
	r->owner = f->owner;
	r->dedup = f->dedup;
	memcpy(r->grid, f->grid, sizeof r->grid);
	memcpy(r->block, f->block, sizeof r->block);
	memcpy(r->cluster, f->cluster, sizeof r->cluster);
	r->kernel = r->kernel_raw = r->var = "";
	r->seen_ms = rt_now_ms();

	pthread_mutex_lock(&rt_lock);
	if (!fits(f))       /* no line rather than a wrong one */
		f->before.site = 0;
	place(&r->now, &f->now, f);
	place(&r->before, &f->before, f);
	s = f->kernel ? rt_sites_of(f->kernel) : NULL;
	if (s) {
		r->kernel_raw = string(s, s->site[f->kernel - s->base].func);
		fn = rt_func_named(s->module, r->kernel_raw);
		if (fn && fn->launches && !fn->many_streams) {
			r->stream_known = true;
			r->stream = fn->stream & 2 ? 2 : fn->stream;
		}
	}
	if (r->shared) {
		r->var = *r->now.var ? r->now.var : r->before.var;
		size = *r->var ? shared_size(f, r->var) : 0;
	} else if (!r->tensor) {
		found = rt_block_find(&rt_blocks, r->addr, &block);
		if (found && block.kind == RT_MEM_VARIABLE)
			r->var = block.name;
	}
	pthread_mutex_unlock(&rt_lock);

	name_frames(&r->now);
	name_frames(&r->before);
	r->kernel = rt_bare_name(rt_demangle(r->kernel_raw));
	if (r->shared)
		rt_locate_shared(&where, r, size);
	else if (r->tensor)
		rt_locate_tensor(&where, r);
	else if (found)
		rt_locate_global(&where, r, &block);
	else
		rt_printf(&where, "global memory at 0x%llx", (unsigned long long)r->addr);
	r->where = where.text;
	return r;
}
