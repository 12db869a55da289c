/* SPDX-License-Identifier: Apache-2.0
 *
 * enter.c: what an instrumented module carries: its table of sites, which is copied so that reports outlive the
 * context, and its variables.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/drv.h"

const unsigned rt_tables_version = GSAN_ABI;

/* With rt_lock. */
static struct rt_sites *all_sites;
static struct { uint64_t sites, missed, unmodelled, unknown; } total;

static const char *string(const struct rt_sites *s, uint32_t at)
{
	return at < s->nstrings ? s->strings + at : "";
}

/* Entries that are instrumented have a site of their own: how many of that name, and
 * the last one's number. */
static unsigned find_entry(const struct rt_module *m, const char *name, uint32_t *site)
{
	unsigned n = 0;

	for (const struct rt_sites *s = all_sites; s; s = s->next) {
		for (uint32_t i = 0; s->module == m && i < s->n; i++) {
			if (strcmp(string(s, s->site[i].op), "entry") ||
			    strcmp(string(s, s->site[i].func), name))
				continue;
			*site = s->base + i;
			n++;
		}
	}
	return n;
}

bool rt_func_left(struct rt_func *f)
{
	uint32_t site;

	if (f->left < 0)
		f->left = rt_func_watched(f) && *f->name && !find_entry(f->module, f->name, &site);
	return f->left;
}

uint32_t rt_func_site(const struct rt_func *f)
{
	uint32_t site = 0;

	return *f->name && find_entry(f->module, f->name, &site) == 1 ? site : 0;
}

const struct rt_sites *rt_sites_of(uint32_t site)
{
	for (const struct rt_sites *s = all_sites; s; s = s->next)
		if (site >= s->base && site - s->base < s->n)
			return s;
	return NULL;
}

void rt_tables_count(struct rt_totals *t)
{
	pthread_mutex_lock(&rt_lock);
	t->sites = total.sites;
	t->missed = total.missed;
	t->unmodelled = total.unmodelled;
	t->unknown = total.unknown;
	pthread_mutex_unlock(&rt_lock);
}

/* Site numbers start from 1 again. */
void rt_modules_retire(void)
{
	pthread_mutex_lock(&rt_lock);
	for (struct rt_sites *s = all_sites; s; s = s->next)
		s->n = 0;
	pthread_mutex_unlock(&rt_lock);
}

/* Variables are memory like any other; they live as long as the module. */
static void enter_variables(struct rt_ctx *c, const struct rt_sites *s)
{
	for (uint32_t i = 0; i < s->nglobals; i++) {
		const struct gsan_global *g = &s->global[i];
		struct rt_block b = { .addr = g->addr, .bytes = g->bytes, .kind = RT_MEM_VARIABLE,
			.owner = s->module, .name = string(s, g->name), .counted = true };

		if (g->shared || !g->addr || !g->bytes)
			continue;
		b.backed = rt_back_range(c, g->addr, g->bytes);
		pthread_mutex_lock(&rt_lock);
		rt_block_add(&rt_blocks, &b);
		pthread_mutex_unlock(&rt_lock);
	}
}

static bool take_tables(struct rt_ctx *c, struct rt_module *m, const struct gsan_mailbox *box)
{
	const struct gsan_module *g = &box->module;
	struct rt_sites *s = rt_alloc(sizeof *s);

	s->base = box->site_base;
	s->n = g->nsites;
	s->nframes = g->nframes;
	s->nglobals = g->nglobals;
	s->nstrings = g->nstrings;
	s->module = m;
	if (!(s->site = rt_fetch(c, g->sites, g->nsites, sizeof *s->site)) ||
	    !(s->frame = rt_fetch(c, g->frames, g->nframes, sizeof *s->frame)) ||
	    !(s->global = rt_fetch(c, g->globals, g->nglobals, sizeof *s->global)) ||
	    !(s->strings = rt_fetch(c, g->strings, g->nstrings, 1)))
		return false;
	s->path = string(s, g->path);
	enter_variables(c, s);
	pthread_mutex_lock(&rt_lock);
	s->next = all_sites;
	all_sites = s;
	if (!m->known) {
		total.sites += g->nsites;
		total.missed += g->missed;
		total.unmodelled += g->unmodelled;
		total.unknown += g->unknown;
	}
	pthread_mutex_unlock(&rt_lock);
	rt_verbose(2, "%s: %u sites from %u", s->path, s->n, s->base);
	return true;
}

bool rt_tables_take(struct rt_ctx *c, struct rt_module *m, CUfunction f, const char *name)
{
	CUdeviceptr box_device;
	struct gsan_mailbox *box = rt_mailbox(&box_device);
	void *params[] = { &box_device };

	(void)name;
	memset(box, 0, sizeof *box);
	if (!rt_ok(c, REAL(cuLaunchKernel, RT_cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, c->stream, params,
							      NULL), "registering a module") ||
	    !rt_wait(c))
		return false;
	if (!__atomic_load_n(&box->done, __ATOMIC_ACQUIRE) || !box->site_base ||
	    box->module.abi != GSAN_ABI) {
		rt_verbose(1, "a module's registration did not finish");
		return false;
	}
	return take_tables(c, m, box);
}

size_t rt_own_params(struct rt_func *f)
{
	(void)f;
	return SIZE_MAX;
}
