/* SPDX-License-Identifier: Apache-2.0
 *
 * tables.c: what a module with probes carries (event/module.h): copied when it is registered, so that reports outlive
 * the context.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/judge.h"

const unsigned rt_tables_version = MODULE_VERSION;

static struct { uint64_t sites, left_out, unknown; } total;     /* with rt_lock */

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

	for (const struct rt_tables *t = rt_units(); t; t = t->next) {
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

/* Of a module that has probes and was not registered: what has to be known of a kernel to launch it all the same. */
static const struct module_kernel *unregistered(struct rt_func *f)
{
	struct module_kernel k = {.flags = MODULE_UNWATCHED}, *copy;
	CUfunction fn = (CUfunction)f->handle;
	CUmodule module;
	CUdeviceptr mark;
	size_t at, size, bytes = 0, offset = 0;

	if (!rt_drv.cuFuncGetModule || !rt_drv.cuModuleGetGlobal || !rt_real(RT_cuFuncGetParamInfo) ||
	    (f->kernel && REAL(cuKernelGetFunction, RT_cuKernelGetFunction)(&fn, (CUkernel)f->handle) != CUDA_SUCCESS) ||
	    rt_drv.cuFuncGetModule(&module, fn) != CUDA_SUCCESS ||
	    rt_drv.cuModuleGetGlobal(&mark, &bytes, module, "__gsan_probes") != CUDA_SUCCESS)
		return NULL;
	for (; REAL(cuFuncGetParamInfo, RT_cuFuncGetParamInfo)(fn, k.nparams, &at, &size) == CUDA_SUCCESS; k.nparams++)
		offset = at;
	if (!k.nparams--)
		return NULL;
	k.offset = (uint32_t)offset;
	copy = rt_alloc(sizeof *copy);
	*copy = k;
	return copy;
}

const struct module_kernel *rt_kernel_of(struct rt_func *f, const struct rt_tables **t)
{
	const struct module_kernel *k;
	bool asked;

	pthread_mutex_lock(&rt_lock);
	asked = is_asked(f);
	k = f->logs;
	*t = f->tables;
	pthread_mutex_unlock(&rt_lock);
	if (asked || k || f->unmarked || rt_is_off())
		return k;
	rt_inside++;
	k = unregistered(f);
	rt_inside--;
	pthread_mutex_lock(&rt_lock);
	f->unmarked = !k;
	f->logs = k;
	pthread_mutex_unlock(&rt_lock);
	return k;
}

size_t rt_own_params(struct rt_func *f)
{
	const struct rt_tables *t;
	const struct module_kernel *k = rt_kernel_of(f, &t);

	return k ? k->nparams : SIZE_MAX;
}

/* ---- registration ------------------------------------------------------------------------------------ */

/* Variables are memory like any other; they live as long as the module. */
static void enter_variables(const struct rt_tables *t)
{
	for (uint32_t i = 0; i < t->n.nglobals; i++) {
		const struct module_global *g = &t->global[i];
		struct rt_block b = {.addr = g->address, .bytes = g->bytes, .kind = RT_MEM_VARIABLE, .owner = t->module,
				     .name = rt_string(t, g->name)};

		if (g->shared || !g->address || !g->bytes)
			continue;
		pthread_mutex_lock(&rt_lock);
		rt_block_add(&rt_blocks, &b);
		pthread_mutex_unlock(&rt_lock);
	}
}

/* ---- fetching ------------------------------------------------------------------------------------------- */

/* With rt_lock. */
static struct rt_tables *find_unit(const struct rt_module *m, const char *name)
{
	struct rt_tables *t = rt_units();

	while (t && (t->module != m || strcmp(t->name, name)))
		t = t->next;
	return t;
}

static bool fetch_all(struct rt_ctx *c, struct rt_tables *t)
{
	const struct module_tables *n = &t->n;

	return (t->site = rt_fetch(c, n->sites, n->nsites, sizeof *t->site)) &&
	       (t->run = rt_fetch(c, n->runs, n->nruns, sizeof *t->run)) &&
	       (t->spot = rt_fetch(c, n->spots, n->nsites, sizeof *t->spot)) &&
	       (t->frame = rt_fetch(c, n->frames, n->nframes, sizeof *t->frame)) &&
	       (t->kernel = rt_fetch(c, n->kernels, n->nkernels, sizeof *t->kernel)) &&
	       (t->global = rt_fetch(c, n->globals, n->nglobals, sizeof *t->global)) &&
	       (t->strings = rt_fetch(c, n->strings, n->nstrings, 1));
}

static void enter(struct rt_module *m, struct rt_tables *t)
{
	enter_variables(t);
	pthread_mutex_lock(&rt_lock);
	rt_unit_add(t);
	if (!m->known) {
		total.sites += t->n.nsites - 1;
		total.left_out += t->n.left_out;
		total.unknown += t->n.unknown;
	}
	pthread_mutex_unlock(&rt_lock);
	rt_verbose(2, "%s: %u sites", rt_string(t, t->n.path), t->n.nsites - 1);
}

/* Whether it holds warps up was decided when it was built; by which seed, if GSAN_OPTIONS says one, is decided here. */
static void set_seed(struct rt_ctx *c, const struct rt_module *m, const struct rt_tables *t)
{
	const uint32_t seed = (uint32_t)rt_flags.perturb;
	const void *module = m->library ? m->alias : m->handle;
	size_t bytes = 0;
	CUdeviceptr at;

	if (!seed || !module || !rt_drv.cuModuleGetGlobal)
		return;
	if (rt_drv.cuModuleGetGlobal(&at, &bytes, (CUmodule)module, MODULE_SEED) == CUDA_SUCCESS && bytes == sizeof seed)
		rt_write(c, at, &seed, sizeof seed);
	else
		rt_say("perturb=%u means nothing to kernels of %s: they were built without gsan-ptx --perturb", seed,
		       rt_string(t, t->n.path));
}

/* Variables of the module in this context. */
static bool set_variables(struct rt_ctx *c, const struct rt_tables *t, const struct module_tables *here)
{
	const uint64_t lanes = rt_lane_table();
	const uint32_t first = t->base << EVENT_SITE_SHIFT;

	return (!here->lanes || rt_write(c, here->lanes, &lanes, sizeof lanes)) &&
	       (!here->first || rt_write(c, here->first, &first, sizeof first));
}

/* Runs its kernel, which says where the tables are. */
static uint64_t ask(struct rt_ctx *c, CUfunction f)
{
	struct module_mailbox *box;
	CUdeviceptr box_device;
	void *params[] = {&box_device};

	box = rt_mailbox(&box_device);
	memset(box, 0, sizeof *box);
	if (!rt_ok(c, REAL(cuLaunchKernel, RT_cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, c->stream, params, NULL), "registering a module") ||
	    !rt_wait(c))
		return 0;
	if (__atomic_load_n(&box->done, __ATOMIC_ACQUIRE) && box->version == MODULE_VERSION)
		return box->tables;
	rt_verbose(1, "a module's registration did not finish");
	return 0;
}

bool rt_tables_take(struct rt_ctx *c, struct rt_module *m, CUfunction f, const char *name)
{
	uint64_t at = ask(c, f);
	struct module_tables here;
	struct rt_tables *t;

	if (!at || !rt_read(c, &here, at, sizeof here) || here.version != MODULE_VERSION)
		return false;
	pthread_mutex_lock(&rt_lock);
	t = find_unit(m, name);
	pthread_mutex_unlock(&rt_lock);
	if (!t) {
		t = rt_alloc(sizeof *t);
		t->module = m;
		t->name = rt_copy(name);
		t->n = here;
		if (!fetch_all(c, t))
			return false;
		enter(m, t);
	}
	set_seed(c, m, t);
	return set_variables(c, t, &here);
}
