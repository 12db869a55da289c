/* SPDX-License-Identifier: Apache-2.0
 *
 * module.c: the driver API's modules, libraries and functions.  A library is a
 * module, a kernel is its function: there is one device and nothing is loaded
 * late.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/api.h"
#include "emu/fatbin.h"

static struct emu_module *module_of(struct CUctx_st *ctx, const void *h)
{
	for (struct emu_module *m = ctx->modules; m; m = m->next)
		if (m == h)
			return m;
	return NULL;
}

struct emu_func *emu_func_handle(CUfunction h)
{
	for (struct CUctx_st *ctx = emu_contexts; ctx; ctx = ctx->next)
		for (struct emu_module *m = ctx->modules; m; m = m->next)
			for (unsigned i = 0; i < m->nfuncs; i++)
				if ((const void *)m->funcs[i] == (const void *)h)
					return m->funcs[i];
	return NULL;
}

static void unlink_module(struct CUctx_st *ctx, struct emu_module *mod)
{
	struct emu_module **p;

	for (p = &ctx->modules; *p != mod; p = &(*p)->next)
		;
	*p = mod->next;
	emu_module_free(mod);
}

void emu_modules_free(struct CUctx_st *ctx)
{
	while (ctx->modules)
		unlink_module(ctx, ctx->modules);
}

/* ---- loading ------------------------------------------------------------------------ */


static void *jit_option(unsigned n, const CUjit_option *options, void **values, CUjit_option want,
			unsigned *at)
{
	for (unsigned i = 0; i < n; i++) {
		if (options[i] == want) {
			*at = i;
			return values[i];
		}
	}
	return NULL;
}

static void give_log(unsigned n, const CUjit_option *options, void **values,
		     const struct ptx_buf *log)
{
	unsigned at = 0, size_at = 0;
	char *to = jit_option(n, options, values, CU_JIT_ERROR_LOG_BUFFER, &at);
	size_t size = (size_t)(uintptr_t)jit_option(n, options, values,
						    CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, &size_at);
	size_t len = log->len;

	if (!to || !size) {
		if (len)
			fwrite(log->p, 1, len, stderr);
		return;
	}
	if (len > size - 1)
		len = size - 1;
	memcpy(to, log->p ? log->p : "", len);
	to[len] = 0;
	values[size_at] = (void *)(uintptr_t)(len ? len + 1 : 0);
}

static CUresult load(struct CUctx_st *ctx, const char *name, const char *text, size_t len,
		     unsigned n, const CUjit_option *options, void **values,
		     struct emu_module **out)
{
	static unsigned count;
	struct ptx_buf log = {0};
	char own[32];
	CUresult r;

	count++;
	if (!name) {
		snprintf(own, sizeof own, "PTX module %u", count);
		name = own;
	}
	*out = emu_module_new(name, text, len, &log, &r);
	if (!*out || jit_option(n, options, values, CU_JIT_ERROR_LOG_BUFFER, &(unsigned){0}))
		give_log(n, options, values, &log);
	free(log.p);
	if (*out) {
		(*out)->ctx = ctx;
		(*out)->next = ctx->modules;
		ctx->modules = *out;
	}
	return r;
}

/* Only PTX can be run, as text or in a fat binary; a cubin is something else. */
static bool is_text(const unsigned char *p)
{
	for (unsigned i = 0; i < 16 && p[i]; i++)
		if (p[i] < 9 || p[i] > 126)
			return false;
	return p[0] != 0;
}

static CUresult load_image(struct CUctx_st *ctx, const char *name, const void *image, unsigned n,
			   CUjit_option *options, void **values, struct emu_module **out)
{
	struct ptx_buf text = {0}, log = {0};
	CUresult r;

	if (is_text(image))
		return load(ctx, name, image, strlen(image), n, options, values, out);
	if (!emu_fatbin_is(image)) {
		fprintf(stderr, "emu: an image is %s: the emulated device runs PTX alone, as nvcc -ptx gives it\n",
			emu_image_kind(image));
		return CUDA_ERROR_NO_BINARY_FOR_GPU;
	}
	r = emu_fatbin_text(image, emu_m.sm_version, &text, &log);
	if (r == CUDA_SUCCESS)
		r = load(ctx, name, text.p, text.len, n, options, values, out);
	else
		give_log(n, options, values, &log);
	free(text.p);
	free(log.p);
	return r;
}

static CUresult load_data(struct emu_module **out, const void *image, unsigned n,
			  CUjit_option *options, void **values)
{
	ENTER(ctx);
	if (!out || !image)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	LEAVE(load_image(ctx, NULL, image, n, options, values, out));
}

static CUresult load_file(struct emu_module **out, const char *path, unsigned n,
			  CUjit_option *options, void **values)
{
	ENTER(ctx);
	FILE *f = path ? fopen(path, "rb") : NULL;
	struct ptx_buf b = {0};
	char part[4096];
	size_t len;
	CUresult r;

	if (!f)
		LEAVE(CUDA_ERROR_FILE_NOT_FOUND);
	while ((len = fread(part, 1, sizeof part, f)))
		ptx_put(&b, part, len);
	fclose(f);
	ptx_put(&b, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	if (emu_fatbin_is(b.p) && !emu_fatbin_whole(b.p, b.len - 16)) {
		fprintf(stderr, "emu: %s: the fat binary is damaged\n", path);
		r = CUDA_ERROR_INVALID_IMAGE;
	} else {
		r = load_image(ctx, path, b.p, n, options, values, out);
	}
	free(b.p);
	LEAVE(r);
}

#define MODULE(p) ((struct emu_module **)(void *)(p))

EMU_API CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned n,
					    CUjit_option *options, void **values)
{
	return load_data(MODULE(out), image, n, options, values);
}

EMU_API CUresult CUDAAPI cuModuleLoadData(CUmodule *out, const void *image)
{
	return load_data(MODULE(out), image, 0, NULL, NULL);
}

EMU_API CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule *out, const void *image)
{
	return load_data(MODULE(out), image, 0, NULL, NULL);
}

/* A program will load this: the device is one that has what it was built for.  Before cuInit. */
EMU_API void emu_expect_image(const void *image)
{
	unsigned arch = image && emu_fatbin_is(image) ? emu_fatbin_arch(image) : 0;

	if (!emu_started && arch > EMU_DEFAULT_SM && arch <= EMU_LAST_SM && arch > emu_m.sm_version)
		emu_m.sm_version = arch;
}

EMU_API CUresult CUDAAPI cuModuleLoad(CUmodule *out, const char *path)
{
	return load_file(MODULE(out), path, 0, NULL, NULL);
}

EMU_API CUresult CUDAAPI cuLibraryLoadData(CUlibrary *out, const void *image,
					   CUjit_option *jit, void **jit_values, unsigned njit,
					   CUlibraryOption *options, void **values, unsigned n)
{
	(void)options;                  /* when to load, and whether the text may be kept */
	(void)values;
	(void)n;
	return load_data(MODULE(out), image, njit, jit, jit_values);
}

EMU_API CUresult CUDAAPI cuLibraryLoadFromFile(CUlibrary *out, const char *path,
					       CUjit_option *jit, void **jit_values, unsigned njit,
					       CUlibraryOption *options, void **values, unsigned n)
{
	(void)options;
	(void)values;
	(void)n;
	return load_file(MODULE(out), path, njit, jit, jit_values);
}

static CUresult unload(const void *h)
{
	ENTER(ctx);
	struct emu_module *mod = module_of(ctx, h);
	CUresult r;

	if (!mod)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	r = emu_wait_ctx(ctx);
	if (r == CUDA_SUCCESS)
		unlink_module(ctx, mod);
	LEAVE(r);
}

EMU_API CUresult CUDAAPI cuModuleUnload(CUmodule mod)
{
	return unload(mod);
}

EMU_API CUresult CUDAAPI cuLibraryUnload(CUlibrary lib)
{
	return unload(lib);
}

EMU_API CUresult CUDAAPI cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
	*mode = CU_MODULE_EAGER_LOADING;
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuLibraryGetModule(CUmodule *out, CUlibrary lib)
{
	ENTER(ctx);
	if (!module_of(ctx, lib))
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	*out = (CUmodule)(void *)lib;
	LEAVE(CUDA_SUCCESS);
}

/* ---- looking things up ------------------------------------------------------------------- */

static bool is_kernel(const struct emu_func *f)
{
	return f->entry && f->ops;
}

static CUresult get_function(void **out, const void *h, const char *name)
{
	ENTER(ctx);
	struct emu_module *mod = module_of(ctx, h);
	struct emu_func *f;

	if (!out || !name)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	if (!mod)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	f = emu_func_find(mod, name);
	if (!f || !is_kernel(f))
		LEAVE(CUDA_ERROR_NOT_FOUND);
	*out = f;
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuModuleGetFunction(CUfunction *out, CUmodule mod, const char *name)
{
	return get_function((void **)out, mod, name);
}

EMU_API CUresult CUDAAPI cuLibraryGetKernel(CUkernel *out, CUlibrary lib, const char *name)
{
	return get_function((void **)out, lib, name);
}

static CUresult count(unsigned *n, const void *h)
{
	ENTER(ctx);
	struct emu_module *mod = module_of(ctx, h);

	if (!mod)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	*n = 0;
	for (unsigned i = 0; i < mod->nfuncs; i++)
		*n += is_kernel(mod->funcs[i]);
	LEAVE(CUDA_SUCCESS);
}

static CUresult enumerate(void **out, unsigned n, const void *h)
{
	ENTER(ctx);
	struct emu_module *mod = module_of(ctx, h);
	unsigned k = 0;

	if (!mod)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	for (unsigned i = 0; i < mod->nfuncs && k < n; i++)
		if (is_kernel(mod->funcs[i]))
			out[k++] = mod->funcs[i];
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuModuleGetFunctionCount(unsigned *n, CUmodule mod)
{
	return count(n, mod);
}

EMU_API CUresult CUDAAPI cuModuleEnumerateFunctions(CUfunction *out, unsigned n, CUmodule mod)
{
	return enumerate((void **)out, n, mod);
}

EMU_API CUresult CUDAAPI cuLibraryGetKernelCount(unsigned *n, CUlibrary lib)
{
	return count(n, lib);
}

EMU_API CUresult CUDAAPI cuLibraryEnumerateKernels(CUkernel *out, unsigned n, CUlibrary lib)
{
	return enumerate((void **)out, n, lib);
}

static CUresult get_global(CUdeviceptr *p, size_t *bytes, const void *h, const char *name)
{
	ENTER(ctx);
	struct emu_module *mod = module_of(ctx, h);
	struct ptx_sym *s;
	const struct emu_place *at;

	if (!mod || !name)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	s = ptx_lookup(mod->ptx, name);
	at = s && s->kind == SYM_VAR ? s->user : NULL;
	if (!at || (at->space != SPACE_GLOBAL && at->space != SPACE_CONST))
		LEAVE(CUDA_ERROR_NOT_FOUND);
	if (p)
		*p = at->at;
	if (bytes)
		*bytes = s->bytes;
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuModuleGetGlobal_v2(CUdeviceptr *p, size_t *bytes, CUmodule mod,
					      const char *name)
{
	return get_global(p, bytes, mod, name);
}

EMU_API CUresult CUDAAPI cuLibraryGetGlobal(CUdeviceptr *p, size_t *bytes, CUlibrary lib,
					    const char *name)
{
	return get_global(p, bytes, lib, name);
}

EMU_API CUresult CUDAAPI cuLibraryGetManaged(CUdeviceptr *p, size_t *bytes, CUlibrary lib,
					     const char *name)
{
	return get_global(p, bytes, lib, name);
}

/* ---- functions -------------------------------------------------------------------------------- */

EMU_API CUresult CUDAAPI cuFuncGetName(const char **name, CUfunction h)
{
	ENTER(ctx);
	struct emu_func *f = emu_func_handle(h);

	if (!f || !name)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	*name = f->name;
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuKernelGetName(const char **name, CUkernel h)
{
	return cuFuncGetName(name, (CUfunction)(void *)h);
}

EMU_API CUresult CUDAAPI cuFuncGetModule(CUmodule *out, CUfunction h)
{
	ENTER(ctx);
	struct emu_func *f = emu_func_handle(h);

	if (!f || !out)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	*out = (CUmodule)(void *)f->mod;
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuKernelGetFunction(CUfunction *out, CUkernel h)
{
	ENTER(ctx);
	struct emu_func *f = emu_func_handle((CUfunction)(void *)h);

	if (!f || !out)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	*out = (CUfunction)(void *)f;
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuKernelGetLibrary(CUlibrary *out, CUkernel h)
{
	return cuFuncGetModule((CUmodule *)(void *)out, (CUfunction)(void *)h);
}

EMU_API CUresult CUDAAPI cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction h)
{
	(void)h;
	*state = CU_FUNCTION_LOADING_STATE_LOADED;
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuFuncLoad(CUfunction h)
{
	(void)h;
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuFuncGetParamInfo(CUfunction h, size_t i, size_t *offset, size_t *size)
{
	ENTER(ctx);
	struct emu_func *f = emu_func_handle(h);

	if (!f || !offset)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	if (i >= f->nparams)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*offset = f->params[i].row;
	if (size)
		*size = f->params[i].bytes;
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuKernelGetParamInfo(CUkernel h, size_t i, size_t *offset, size_t *size)
{
	return cuFuncGetParamInfo((CUfunction)(void *)h, i, offset, size);
}

/* Most threads that a block of the kernel may have. */
static int max_threads(const struct emu_func *f)
{
	const unsigned *n = f->ptx->reqntid[0] ? f->ptx->reqntid : f->ptx->maxntid;

	return n[0] ? (int)(n[0] * (n[1] ? n[1] : 1) * (n[2] ? n[2] : 1)) : 1024;
}

static int required(const struct emu_func *f, unsigned i)
{
	return f->cluster[i] ? f->cluster[i] : (int)f->ptx->cluster[i];
}

EMU_API CUresult CUDAAPI cuFuncGetAttribute(int *value, CUfunction_attribute a, CUfunction h)
{
	ENTER(ctx);
	struct emu_func *f = emu_func_handle(h);

	if (!f || !value)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	switch ((int)a) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*value = max_threads(f);
		break;
	case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
		*value = (int)f->static_smem;
		break;
	case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
		*value = 0;
		break;
	case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
		*value = (int)f->local_bytes;
		break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS:
		*value = 32;            /* nothing is assembled, so nothing is allocated */
		break;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*value = (int)f->mod->ptx->sm;
		break;
	case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
		*value = 0;
		break;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*value = emu_func_max_dynamic(f);
		break;
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		*value = f->attr_carveout;
		break;
	case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
		*value = strstr(f->ptx->directives, ".explicitcluster") && !required(f, 0);
		break;
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
		*value = required(f, 0);
		break;
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
		*value = required(f, 1);
		break;
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
		*value = required(f, 2);
		break;
	case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		*value = f->nonportable_cluster;
		break;
	case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		*value = f->spread_policy;
		break;
	default:
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	}
	LEAVE(CUDA_SUCCESS);
}

/* Dynamic shared memory that a launch may ask for. */
int emu_func_max_dynamic(const struct emu_func *f)
{
	int plain = (48 << 10) - (int)f->static_smem;

	return f->attr_smem_set ? f->attr_smem : plain < 0 ? 0 : plain;
}

EMU_API CUresult CUDAAPI cuFuncSetAttribute(CUfunction h, CUfunction_attribute a, int value)
{
	ENTER(ctx);
	struct emu_func *f = emu_func_handle(h);

	if (!f)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	switch ((int)a) {
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		if (value < 0 || (uint64_t)value + f->static_smem > emu_m.block_smem)
			LEAVE(CUDA_ERROR_INVALID_VALUE);
		f->attr_smem = value;
		f->attr_smem_set = true;
		break;
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		f->attr_carveout = value;
		break;
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
		f->cluster[(int)a - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = value;
		break;
	case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		f->nonportable_cluster = value;
		break;
	case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		f->spread_policy = value;
		break;
	default:
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	}
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuKernelGetAttribute(int *value, CUfunction_attribute a, CUkernel h,
					      CUdevice dev)
{
	return dev ? CUDA_ERROR_INVALID_DEVICE : cuFuncGetAttribute(value, a, (CUfunction)(void *)h);
}

EMU_API CUresult CUDAAPI cuKernelSetAttribute(CUfunction_attribute a, int value, CUkernel h,
					      CUdevice dev)
{
	return dev ? CUDA_ERROR_INVALID_DEVICE : cuFuncSetAttribute((CUfunction)(void *)h, a, value);
}

EMU_API CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction h, CUfunc_cache config)
{
	ENTER(ctx);
	(void)config;                   /* there are no caches to configure */
	LEAVE(emu_func_handle(h) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}
