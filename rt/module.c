/* SPDX-License-Identifier: Apache-2.0
 *
 * module.c: modules and libraries, and the functions in them.  A module that
 * was instrumented carries kernels __gsan_vN_init_*, one for each translation
 * unit; each is run once in a context before anything else of the module is, and
 * hands over its table of sites, which is copied so that reports outlive the
 * context.  Modules without such a kernel are not watched, and counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/drv.h"
#include "rt/image.h"

#define INIT_PREFIX "__gsan_v"

#define BUCKETS 1024u

/* All with rt_lock. */
static struct rt_module *modules;
static struct rt_func *buckets[BUCKETS];
static struct { uint64_t modules, bare, failed; } total;

static unsigned bucket(const void *handle)
{
	uint64_t h = (uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15);

	return (unsigned)(h >> 40) % BUCKETS;
}

static struct rt_func *find_func(const void *handle)
{
	struct rt_func *f;

	for (f = buckets[bucket(handle)]; f && f->handle != handle; f = f->next)
		;
	return f;
}

static struct rt_module *find_module(const void *handle)
{
	struct rt_module *m;

	for (m = modules; m && m->handle != handle && m->alias != handle; m = m->next)
		;
	return m;
}

static struct rt_module *add_module(const void *handle, bool library)
{
	struct rt_module *m = rt_alloc(sizeof *m);

	m->handle = handle;
	m->library = library;
	pthread_mutex_lock(&rt_lock);
	m->next = modules;
	modules = m;
	pthread_mutex_unlock(&rt_lock);
	return m;
}

/* Enters a handle, or gives a handle met again its new meaning. */
static struct rt_func *add_func(const void *handle, const char *name, struct rt_module *m)
{
	struct rt_func *f = find_func(handle);

	if (f && f->module == m && !strcmp(f->name, name))
		return f;
	if (!f) {
		f = rt_alloc(sizeof *f);
		f->handle = handle;
		f->next = buckets[bucket(handle)];
		buckets[bucket(handle)] = f;
	}
	f->name = rt_copy(name);
	f->module = m;
	f->launches = 0;
	f->told_bare = false;
	f->left = -1;
	f->tables = f->logs = NULL;
	f->unmarked = false;
	f->chosen = -1;
	f->cluster_as_of = 0;
	f->kernel = false;
	return f;
}

static void enter(const void *handle, const char *name, const void *module, bool kernel)
{
	pthread_mutex_lock(&rt_lock);
	add_func(handle, name, find_module(module))->kernel = kernel;
	pthread_mutex_unlock(&rt_lock);
}

struct rt_func *rt_func_of(const void *handle)
{
	struct rt_func *f;
	const char *name = NULL;
	CUmodule module = NULL;

	pthread_mutex_lock(&rt_lock);
	f = find_func(handle);
	pthread_mutex_unlock(&rt_lock);
	if (f)
		return f;
	/* A handle that came by a way without a hook. */
	if (!rt_drv.cuFuncGetName || rt_drv.cuFuncGetName(&name, (CUfunction)handle) != CUDA_SUCCESS ||
	    !name)
		name = "";
	if (!*name || !rt_drv.cuFuncGetModule ||
	    rt_drv.cuFuncGetModule(&module, (CUfunction)handle) != CUDA_SUCCESS)
		module = NULL;
	pthread_mutex_lock(&rt_lock);
	f = add_func(handle, name, module ? find_module(module) : NULL);
	pthread_mutex_unlock(&rt_lock);
	return f;
}

bool rt_func_watched(const struct rt_func *f)
{
	return f->module && f->module->watched;
}

bool rt_func_bare(const struct rt_func *f)
{
	return !f->module || (f->module->known && !f->module->watched && !f->module->failed);
}

void rt_modules_count(struct rt_totals *t)
{
	pthread_mutex_lock(&rt_lock);
	t->modules = total.modules;
	t->bare_modules = total.bare;
	t->unregistered = total.failed;
	pthread_mutex_unlock(&rt_lock);
	rt_tables_count(t);
}

void rt_modules_forget(CUcontext ctx)
{
	pthread_mutex_lock(&rt_lock);
	for (struct rt_module *m = modules; m; m = m->next)
		for (size_t i = 0; i < m->nin; )
			if (m->in[i] == ctx)
				m->in[i] = m->in[--m->nin];
			else
				i++;
	pthread_mutex_unlock(&rt_lock);
}

/* ---- registration --------------------------------------------------------------------------- */

/* nameless: functions that may be anything, as the driver did not say their names */
struct seen { unsigned ours, theirs, failed, nameless; };

/* Runs `f` if its name says that it registers a translation unit. */
static void try_init(struct rt_ctx *c, struct rt_module *m, CUfunction f, const char *name,
		     struct seen *seen)
{
	unsigned version;
	int n = 0;

	if (strncmp(name, INIT_PREFIX, sizeof INIT_PREFIX - 1) ||
	    sscanf(name + sizeof INIT_PREFIX - 1, "%u_init_%n", &version, &n) != 1 || !n)
		return;
	if (version != rt_tables_version)
		seen->theirs = version;
	else if (rt_tables_take(c, m, f, name))
		seen->ours++;
	else
		seen->failed++;
}

static void try_module(struct rt_ctx *c, struct rt_module *m, struct seen *seen)
{
	CUmodule module = (CUmodule)m->handle;
	unsigned n = 0;
	CUfunction *f;

	if (!rt_ok(c, rt_drv.cuModuleGetFunctionCount(&n, module), "cuModuleGetFunctionCount"))
		seen->failed++;
	if (seen->failed || !n)
		return;
	f = rt_alloc(n * sizeof *f);
	if (rt_ok(c, rt_drv.cuModuleEnumerateFunctions(f, n, module), "cuModuleEnumerateFunctions")) {
		for (unsigned i = 0; i < n && !c->sick; i++) {
			const char *name = NULL;

			if (f[i] && rt_drv.cuFuncGetName(&name, f[i]) == CUDA_SUCCESS && name)
				try_init(c, m, f[i], name, seen);
			else
				seen->nameless++;
		}
	} else {
		seen->failed++;
	}
	rt_free(f);
}

static void try_library(struct rt_ctx *c, struct rt_module *m, struct seen *seen)
{
	CUlibrary lib = (CUlibrary)m->handle;
	unsigned n = 0;
	CUkernel *k;

	if (!rt_drv.cuLibraryGetKernelCount || !rt_drv.cuLibraryEnumerateKernels ||
	    !rt_drv.cuKernelGetName || !rt_real(RT_cuKernelGetFunction))
		return;
	if (!rt_ok(c, rt_drv.cuLibraryGetKernelCount(&n, lib), "cuLibraryGetKernelCount"))
		seen->failed++;
	if (seen->failed || !n)
		return;
	k = rt_alloc(n * sizeof *k);
	if (rt_ok(c, rt_drv.cuLibraryEnumerateKernels(k, n, lib), "cuLibraryEnumerateKernels")) {
		for (unsigned i = 0; i < n && !c->sick; i++) {
			const char *name = NULL;
			CUfunction f;

			if (!k[i] || rt_drv.cuKernelGetName(&name, k[i]) != CUDA_SUCCESS || !name) {
				seen->nameless++;
				continue;
			}
			if (strncmp(name, INIT_PREFIX, sizeof INIT_PREFIX - 1))
				continue;
			if (rt_ok(c, REAL(cuKernelGetFunction, RT_cuKernelGetFunction)(&f, k[i]),
				  "cuKernelGetFunction"))
				try_init(c, m, f, name, seen);
			else
				seen->failed++;
		}
	} else {
		seen->failed++;
	}
	rt_free(k);
}

static bool is_in(const struct rt_module *m, CUcontext ctx)
{
	for (size_t i = 0; i < m->nin; i++)
		if (m->in[i] == ctx)
			return true;
	return false;
}

/* Nodes of graphs name functions of it. */
static const void *module_of_library(const void *library)
{
	CUmodule module;

	return rt_real(RT_cuLibraryGetModule) &&
	       REAL(cuLibraryGetModule, RT_cuLibraryGetModule)(&module, (CUlibrary)library) == CUDA_SUCCESS ? module : NULL;
}

static void register_module(struct rt_ctx *c, struct rt_module *m)
{
	struct seen seen = {0};
	bool again;

	pthread_mutex_lock(&rt_lock);
	again = is_in(m, c->ctx);
	pthread_mutex_unlock(&rt_lock);
	if (again)
		return;
	if (m->library && !m->alias)
		m->alias = module_of_library(m->handle);
	if (m->library)
		try_library(c, m, &seen);
	else
		try_module(c, m, &seen);
	if (seen.nameless && !seen.ours && !seen.theirs)
		seen.failed++;
	if (seen.theirs)
		rt_say("a module was instrumented for another version of gsan (%u, not %u): it is not "
		       "watched, build it again", seen.theirs, rt_tables_version);
	if (seen.failed)
		rt_say("a module could not be registered: its kernels run unwatched");
	pthread_mutex_lock(&rt_lock);
	m->watched = m->watched || seen.ours;
	m->failed = m->failed || seen.failed;
	if (!m->known) {
		total.modules++;
		if (!seen.ours && !seen.failed) {
			m->bare = true;
			total.bare++;
			if (m->code && !seen.theirs)
				rt_image_code_alone();
		}
		total.failed += seen.failed != 0;
	}
	m->known = true;
	/* Whoever launches meanwhile waits for the device. */
	m->in = rt_grow(m->in, &m->in_cap, m->nin + 1, sizeof *m->in);
	m->in[m->nin++] = c->ctx;
	pthread_mutex_unlock(&rt_lock);
}

void rt_register(struct rt_func *f)
{
	struct rt_module *one = f ? f->module : NULL;
	struct rt_ctx *c;
	const CUcontext ctx = rt_current();
	bool all = false;

	if (rt_short() || !ctx)
		return;
	pthread_mutex_lock(&rt_lock);
	if (one)
		all = is_in(one, ctx);
	else
		for (all = true, one = modules; one && all; one = one->next)
			all = is_in(one, ctx) || !one->library;
	pthread_mutex_unlock(&rt_lock);
	if (all || !(c = rt_dev_begin()))
		return;
	if (f && f->module) {
		register_module(c, f->module);
	} else {
		/* Entries are added in front and freed by nobody but their owner. */
		for (one = modules; one && !c->sick; one = one->next)
			if (one->library)
				register_module(c, one);
	}
	rt_dev_end();
}

/* ---- hooks -------------------------------------------------------------------------------------- */

/* code: what was loaded has no PTX. */
static CUresult loaded(CUresult r, CUmodule *module, bool code)
{
	struct rt_module *m;
	struct rt_ctx *c;

	if (r != CUDA_SUCCESS && code)
		rt_image_code_alone();
	if (r != CUDA_SUCCESS)
		return r;
	rt_freed_unseen();              /* its variables and its heap */
	m = add_module(*module, false);
	m->code = code;
	c = rt_dev_begin();
	if (c) {
		register_module(c, m);
		rt_dev_end();
	}
	return r;
}

/* The driver has had another text instead of the program's image, has failed, and been given that. */
static void note_refused(const char *made, CUresult r)
{
	if (made && r == CUDA_SUCCESS)
		rt_image_refused();
}

/* Of options for the driver's compiler, which writes into the values of some. */
static void **keep(void **values, unsigned n)
{
	void **kept = values && n ? rt_alloc(n * sizeof *kept) : NULL;

	if (kept)
		memcpy(kept, values, n * sizeof *kept);
	return kept;
}

static void give_back(void **values, void **kept, unsigned n)
{
	if (kept)
		memcpy(values, kept, n * sizeof *kept);
}

CUresult rt_on_module_load(enum rt_hook which, CUmodule *module, const char *file)
{
	bool code;
	char *made = rt_image_of_file(file, false, &code);
	CUresult r = CUDA_SUCCESS;

	if (made)
		r = REAL(cuModuleLoadData, RT_cuModuleLoadData)(module, made);
	if (!made || r != CUDA_SUCCESS) {
		r = REAL(cuModuleLoad, which)(module, file);
		note_refused(made, r);
	}
	rt_free(made);
	return loaded(r, module, code);
}

/* cuModuleLoadData and cuModuleLoadFatBinary */
CUresult rt_on_module_data(enum rt_hook which, CUmodule *module, const void *image)
{
	bool code;
	char *made = rt_image_made(image, NULL, false, &code);
	CUresult r = CUDA_SUCCESS;

	if (made)
		r = REAL(cuModuleLoadData, RT_cuModuleLoadData)(module, made);
	if (!made || r != CUDA_SUCCESS) {
		r = REAL(cuModuleLoadData, which)(module, image);
		note_refused(made, r);
	}
	rt_free(made);
	return loaded(r, module, code);
}

CUresult rt_on_module_data_ex(enum rt_hook which, CUmodule *module, const void *image, unsigned int n,
			      CUjit_option *opts, void **values)
{
	bool code;
	char *made = rt_image_made(image, NULL, false, &code);
	void **kept = made ? keep(values, n) : NULL;
	CUresult r = CUDA_SUCCESS;

	if (made)
		r = REAL(cuModuleLoadDataEx, which)(module, made, n, opts, values);
	if (!made || r != CUDA_SUCCESS) {
		give_back(values, kept, n);
		r = REAL(cuModuleLoadDataEx, which)(module, image, n, opts, values);
		note_refused(made, r);
	}
	rt_free(kept);
	rt_free(made);
	return loaded(r, module, code);
}

/* Takes a module out of the tables; its sites stay, reports may refer to them. */
static void unload(const void *handle)
{
	struct rt_module *m = NULL, **at;

	pthread_mutex_lock(&rt_lock);
	for (at = &modules; *at && (*at)->handle != handle; at = &(*at)->next)
		;
	m = *at;
	if (m) {
		*at = m->next;
		for (unsigned b = 0; b < BUCKETS; b++) {
			for (struct rt_func **f = &buckets[b]; *f; ) {
				if ((*f)->module == m)
					*f = (*f)->next;
				else
					f = &(*f)->next;
			}
		}
	}
	pthread_mutex_unlock(&rt_lock);
	if (m)
		rt_mem_owner_gone(m);
}

CUresult rt_on_module_unload(enum rt_hook which, CUmodule module)
{
	rt_drain();
	unload(module);
	return REAL(cuModuleUnload, which)(module);
}

CUresult rt_on_get_function(enum rt_hook which, CUfunction *f, CUmodule module, const char *name)
{
	CUresult r = REAL(cuModuleGetFunction, which)(f, module, name);

	if (r == CUDA_SUCCESS)
		enter(*f, name, module, false);
	return r;
}

CUresult rt_on_enumerate_functions(enum rt_hook which, CUfunction *f, unsigned int n, CUmodule module)
{
	CUresult r = REAL(cuModuleEnumerateFunctions, which)(f, n, module);

	for (unsigned i = 0; r == CUDA_SUCCESS && i < n; i++) {
		const char *name = NULL;

		if (f[i] && rt_drv.cuFuncGetName(&name, f[i]) == CUDA_SUCCESS && name)
			enter(f[i], name, module, false);
	}
	return r;
}

struct library_options {
	CUjit_option *jit;
	void **jit_values;
	unsigned njit;
	CUlibraryOption *opts;
	void **values;
	unsigned n;
	bool code;              /* it has no PTX */
};

static CUresult load_library(CUlibrary *lib, const char *made, const struct library_options *o)
{
	void **kept = keep(o->jit_values, o->njit);
	CUresult r = REAL(cuLibraryLoadData, RT_cuLibraryLoadData)(lib, made, o->jit, o->jit_values, o->njit, o->opts, o->values, o->n);

	if (r != CUDA_SUCCESS)
		give_back(o->jit_values, kept, o->njit);
	rt_free(kept);
	return r;
}

/* The driver reads it when it likes if CU_LIBRARY_BINARY_IS_PRESERVED was said. */
static CUresult library_loaded(CUresult r, CUlibrary *lib, char *made, const struct library_options *o)
{
	bool stays = false;

	for (unsigned i = 0; i < o->n; i++)
		stays = stays || o->opts[i] == CU_LIBRARY_BINARY_IS_PRESERVED;
	if (!stays || r != CUDA_SUCCESS)
		rt_free(made);
	if (r == CUDA_SUCCESS) {
		rt_freed_unseen();
		add_module(*lib, true)->code = o->code;
	} else if (o->code) {
		rt_image_code_alone();
	}
	return r;
}

CUresult rt_on_library_data(enum rt_hook which, CUlibrary *lib, const void *code, CUjit_option *jit,
			    void **jit_values, unsigned int njit, CUlibraryOption *opts, void **values,
			    unsigned int n)
{
	struct library_options o = {jit, jit_values, njit, opts, values, n, false};
	char *made = rt_image_made(code, NULL, false, &o.code);
	CUresult r = made ? load_library(lib, made, &o) : CUDA_SUCCESS;

	if (!made || r != CUDA_SUCCESS) {
		r = REAL(cuLibraryLoadData, which)(lib, code, jit, jit_values, njit, opts, values, n);
		note_refused(made, r);
	}
	return library_loaded(r, lib, made, &o);
}

CUresult rt_on_library_file(enum rt_hook which, CUlibrary *lib, const char *file, CUjit_option *jit,
			    void **jit_values, unsigned int njit, CUlibraryOption *opts, void **values,
			    unsigned int n)
{
	struct library_options o = {jit, jit_values, njit, opts, values, n, false};
	char *made = rt_image_of_file(file, false, &o.code);
	CUresult r = made ? load_library(lib, made, &o) : CUDA_SUCCESS;

	if (!made || r != CUDA_SUCCESS) {
		r = REAL(cuLibraryLoadFromFile, which)(lib, file, jit, jit_values, njit, opts, values, n);
		note_refused(made, r);
	}
	return library_loaded(r, lib, made, &o);
}

CUresult rt_on_library_unload(enum rt_hook which, CUlibrary lib)
{
	rt_drain();
	unload(lib);
	return REAL(cuLibraryUnload, which)(lib);
}

CUresult rt_on_get_kernel(enum rt_hook which, CUkernel *kernel, CUlibrary lib, const char *name)
{
	CUresult r = REAL(cuLibraryGetKernel, which)(kernel, lib, name);

	if (r == CUDA_SUCCESS)
		enter(*kernel, name, lib, true);
	return r;
}

CUresult rt_on_enumerate_kernels(enum rt_hook which, CUkernel *k, unsigned int n, CUlibrary lib)
{
	CUresult r = REAL(cuLibraryEnumerateKernels, which)(k, n, lib);

	for (unsigned i = 0; r == CUDA_SUCCESS && i < n; i++) {
		const char *name = NULL;

		if (k[i] && rt_drv.cuKernelGetName(&name, k[i]) == CUDA_SUCCESS && name)
			enter(k[i], name, lib, true);
	}
	return r;
}

CUresult rt_on_get_module(enum rt_hook which, CUmodule *module, CUlibrary lib)
{
	CUresult r = REAL(cuLibraryGetModule, which)(module, lib);
	struct rt_module *m;

	if (r == CUDA_SUCCESS) {
		pthread_mutex_lock(&rt_lock);
		m = find_module(lib);
		if (m)
			m->alias = *module;
		pthread_mutex_unlock(&rt_lock);
	}
	return r;
}

CUresult rt_on_kernel_function(enum rt_hook which, CUfunction *f, CUkernel kernel)
{
	CUresult r = REAL(cuKernelGetFunction, which)(f, kernel);
	struct rt_func *from;

	if (r == CUDA_SUCCESS) {
		from = rt_func_of(kernel);
		pthread_mutex_lock(&rt_lock);
		add_func(*f, from->name, from->module);
		pthread_mutex_unlock(&rt_lock);
	}
	return r;
}

/* Of parameters that are the program's own. */
CUresult rt_on_param_info(enum rt_hook which, CUfunction f, size_t i, size_t *offset, size_t *size)
{
	if (i >= rt_own_params(rt_func_of(f)))
		return CUDA_ERROR_INVALID_VALUE;
	return REAL(cuFuncGetParamInfo, which)(f, i, offset, size);
}

CUresult rt_on_kernel_param_info(enum rt_hook which, CUkernel k, size_t i, size_t *offset, size_t *size)
{
	if (i >= rt_own_params(rt_func_of(k)))
		return CUDA_ERROR_INVALID_VALUE;
	return REAL(cuKernelGetParamInfo, which)(k, i, offset, size);
}

/* ---- the driver's linker -------------------------------------------------------------------------- */

static bool is_relocatable(CUjitInputType type)
{
	return type == CU_JIT_INPUT_PTX || type == CU_JIT_INPUT_FATBINARY;
}

CUresult rt_on_link_data(enum rt_hook which, CUlinkState state, CUjitInputType type, void *data, size_t bytes, const char *name,
			 unsigned int n, CUjit_option *opts, void **values)
{
	bool code = false;
	char *made = is_relocatable(type) ? rt_image_made(data, NULL, true, &code) : NULL;
	CUresult r = CUDA_SUCCESS;

	if (made)
		r = REAL(cuLinkAddData, which)(state, CU_JIT_INPUT_PTX, made, strlen(made) + 1, name, n, opts, values);
	if (!made || r != CUDA_SUCCESS) {
		r = REAL(cuLinkAddData, which)(state, type, data, bytes, name, n, opts, values);
		note_refused(made, r);
	}
	if (code)
		rt_image_code_alone();
	rt_free(made);
	return r;
}

CUresult rt_on_link_file(enum rt_hook which, CUlinkState state, CUjitInputType type, const char *file, unsigned int n,
			 CUjit_option *opts, void **values)
{
	bool code = false;
	char *made = is_relocatable(type) && rt_real(RT_cuLinkAddData_v2) ? rt_image_of_file(file, true, &code) : NULL;
	CUresult r = CUDA_SUCCESS;

	if (made)
		r = REAL(cuLinkAddData, RT_cuLinkAddData_v2)(state, CU_JIT_INPUT_PTX, made, strlen(made) + 1, file, n, opts, values);
	if (!made || r != CUDA_SUCCESS) {
		r = REAL(cuLinkAddFile, which)(state, type, file, n, opts, values);
		note_refused(made, r);
	}
	if (code)
		rt_image_code_alone();
	rt_free(made);
	return r;
}
