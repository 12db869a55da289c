/* SPDX-License-Identifier: Apache-2.0
 *
 * tables.c: what a module with probes carries (event/module.h): copied when it is registered, so that reports outlive
 * the context.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/judge.h"

#define MOST_OF_A_TABLE (UINT32_C(1) << 28)     /* bytes; more is no table of ours */

const unsigned rt_tables_version = MODULE_VERSION;

/* With rt_lock; they are added in front, and never freed. */
static struct rt_tables *all;
static struct { uint64_t sites, left_out, unknown; } total;

void rt_tables_count(struct rt_totals *t)
{
	pthread_mutex_lock(&rt_lock);
	t->sites = total.sites;
	t->unmodelled = total.left_out;
	t->unknown = total.unknown;
	pthread_mutex_unlock(&rt_lock);
}

/* ---- kernels --------------------------------------------------------------------------------------- */

/* With rt_lock: of those of its name the only one; NULL: there is none, or several. */
static const struct module_kernel *find(const struct rt_func *f, const struct rt_tables **tables)
{
	const struct module_kernel *found = NULL;
	unsigned n = 0;

	for (const struct rt_tables *t = all; t; t = t->next) {
		for (uint32_t i = 0; t->module == f->module && i < t->n.nkernels; i++) {
			if (strcmp(rt_string(t, t->kernel[i].name), f->name))
				continue;
			found = &t->kernel[i];
			*tables = t;
			n++;
		}
	}
	return n == 1 ? found : NULL;
}

/* With rt_lock. */
static bool is_asked(struct rt_func *f)
{
	const struct rt_tables *t = NULL;
	const struct module_kernel *k;

	if (f->left < 0 && f->module && f->module->watched) {
		k = *f->name ? find(f, &t) : NULL;
		f->logs = k;
		f->tables = k ? t : NULL;
		f->left = !k;
	}
	return f->left >= 0;
}

bool rt_func_left(struct rt_func *f)
{
	return is_asked(f) && f->left;
}

const struct module_kernel *rt_kernel_of(struct rt_func *f, const struct rt_tables **t)
{
	const struct module_kernel *k;

	pthread_mutex_lock(&rt_lock);
	k = is_asked(f) ? f->logs : NULL;
	*t = f->tables;
	pthread_mutex_unlock(&rt_lock);
	return k;
}

size_t rt_own_params(struct rt_func *f)
{
	const struct rt_tables *t;
	const struct module_kernel *k = rt_kernel_of(f, &t);

	return k ? k->nparams : SIZE_MAX;
}

/* Launches have numbers that are never used again. */
void rt_modules_retire(void)
{
}

/* ---- registration ------------------------------------------------------------------------------------ */

static void *fetch(struct rt_ctx *c, uint64_t at, uint32_t n, size_t each)
{
	void *p;

	if (n > MOST_OF_A_TABLE / each)
		return NULL;
	p = rt_try_alloc(n * each + 1);
	if (p && rt_read(c, p, at, n * each))
		return p;
	rt_free(p);
	return NULL;
}

/* Variables are memory like any other; they live as long as the module. */
static void enter_variables(const struct rt_tables *t)
{
	for (uint32_t i = 0; i < t->n.nglobals; i++) {
		const struct module_global *g = &t->global[i];
		struct rt_block b = {.addr = g->address, .bytes = g->bytes, .kind = RT_MEM_VARIABLE, .owner = t->module,
				     .name = rt_string(t, g->name), .counted = true, .backed = true};

		if (g->shared || !g->address || !g->bytes)
			continue;
		pthread_mutex_lock(&rt_lock);
		rt_block_add(&rt_blocks, &b);
		pthread_mutex_unlock(&rt_lock);
	}
}

static bool lets_go(const struct rt_tables *t)
{
	for (uint32_t i = 0; i < t->n.nsites; i++)
		if (t->site[i].kind == EVENT_DEPENDENTS)
			return true;
	return false;
}

static bool fetch_all(struct rt_ctx *c, struct rt_tables *t)
{
	const struct module_tables *n = &t->n;

	return (t->site = fetch(c, n->sites, n->nsites, sizeof *t->site)) &&
	       (t->run = fetch(c, n->runs, n->nruns, sizeof *t->run)) &&
	       (t->spot = fetch(c, n->spots, n->nsites, sizeof *t->spot)) &&
	       (t->frame = fetch(c, n->frames, n->nframes, sizeof *t->frame)) &&
	       (t->kernel = fetch(c, n->kernels, n->nkernels, sizeof *t->kernel)) &&
	       (t->global = fetch(c, n->globals, n->nglobals, sizeof *t->global)) &&
	       (t->strings = fetch(c, n->strings, n->nstrings, 1));
}

static void enter(struct rt_module *m, struct rt_tables *t)
{
	pthread_mutex_lock(&rt_lock);
	t->next = all;
	all = t;
	if (!m->known) {
		total.sites += t->n.nsites - 1;
		total.left_out += t->n.left_out;
		total.unknown += t->n.unknown;
	}
	pthread_mutex_unlock(&rt_lock);
}

bool rt_tables_take(struct rt_ctx *c, struct rt_module *m, CUfunction f)
{
	const uint64_t lanes = rt_lane_table();
	struct module_mailbox *box;
	struct rt_tables *t;
	CUdeviceptr box_device;
	void *params[] = {&box_device};

	box = rt_mailbox(&box_device);
	memset(box, 0, sizeof *box);
	if (!rt_ok(c, REAL(cuLaunchKernel, RT_cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, c->stream, params, NULL), "registering a module") ||
	    !rt_wait(c))
		return false;
	if (!__atomic_load_n(&box->done, __ATOMIC_ACQUIRE) || box->version != MODULE_VERSION) {
		rt_verbose(1, "a module's registration did not finish");
		return false;
	}
	t = rt_alloc(sizeof *t);
	t->module = m;
	if (!rt_read(c, &t->n, box->tables, sizeof t->n) || t->n.version != MODULE_VERSION || !fetch_all(c, t) ||
	    (t->n.lanes && !rt_write(c, t->n.lanes, &lanes, sizeof lanes)))
		return false;
	t->lets_go = lets_go(t);
	enter_variables(t);
	enter(m, t);
	rt_verbose(2, "%s: %u sites", rt_string(t, t->n.path), t->n.nsites - 1);
	return true;
}
