/* SPDX-License-Identifier: Apache-2.0
 *
 * register.c: what nvcc's code registers before main: fat binaries, and the kernels and
 * variables in them (crt/host_runtime.h of the toolkit calls it).  A fat binary is loaded
 * when something of it is first used, as the runtime's lazy loading does.
 */
#include "cudart/cudart.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct image {
	struct image *next;
	const void *binary;
	CUlibrary lib;                  /* NULL: not loaded */
	bool gone;
};

struct crt_func {
	struct crt_func *next;
	struct image *image;            /* NULL: of a library that the program loaded */
	const void *host;
	const char *name;
	CUkernel kernel;
	CUfunction function;            /* NULL: not asked for since the module was loaded */
};

struct var {
	struct var *next;
	struct image *image;
	const void *host;
	void **managed;                 /* where the program reads its address */
	const char *name;
	size_t bytes;
};

#define BUCKETS 1024u

/* Recursive: loading runs libgsan's code, and that may call us. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct image *images;
static struct crt_func *funcs[BUCKETS], *loose;
static struct var *vars;

static unsigned bucket(const void *p)
{
	return (unsigned)(((size_t)p * 0x9e3779b97f4a7c15u) >> 40) % BUCKETS;
}

static void *room(size_t n)
{
	void *p = calloc(1, n);

	if (!p)
		abort();
	return p;
}

/* ---- nvcc's code ----------------------------------------------------------------------- */

void **__cudaRegisterFatBinary(void *);
void **__cudaRegisterFatBinary(void *binary)
{
	struct image *m = room(sizeof *m);

	m->binary = binary;
	pthread_mutex_lock(&lock);
	m->next = images;
	images = m;
	pthread_mutex_unlock(&lock);
	return (void **)m;
}

void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

/* At exit, or as a library goes: the driver has ended, or keeps it. */
void __cudaUnregisterFatBinary(void **);
void __cudaUnregisterFatBinary(void **handle)
{
	struct image *m = (struct image *)handle;

	if (!m)
		return;
	pthread_mutex_lock(&lock);
	m->gone = true;
	pthread_mutex_unlock(&lock);
}

void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, void *tid,
			    void *bid, void *block, void *grid, int *warp)
{
	struct crt_func *f = room(sizeof *f);

	(void)device;
	(void)limit;
	(void)tid;
	(void)bid;
	(void)block;
	(void)grid;
	(void)warp;
	f->image = (struct image *)handle;
	f->host = host;
	f->name = name;
	pthread_mutex_lock(&lock);
	f->next = funcs[bucket(host)];
	funcs[bucket(host)] = f;
	pthread_mutex_unlock(&lock);
}

static void add_var(void **handle, const void *host, void **managed, const char *name, size_t bytes)
{
	struct var *v = room(sizeof *v);

	v->image = (struct image *)handle;
	v->host = host;
	v->managed = managed;
	v->name = name;
	v->bytes = bytes;
	pthread_mutex_lock(&lock);
	v->next = vars;
	vars = v;
	pthread_mutex_unlock(&lock);
}

void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t bytes, int constant,
		       int global)
{
	(void)device;
	(void)ext;
	(void)constant;
	(void)global;
	add_var(handle, host, NULL, name, bytes);
}

void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext, size_t bytes,
			      int constant, int global)
{
	(void)device;
	(void)ext;
	(void)constant;
	(void)global;
	add_var(handle, host, host, name, bytes);
}

void crt_register_expect(void *driver)
{
	void *p = dlsym(driver, "emu_expect_image");
	void (*expect)(const void *);

	memcpy(&expect, &p, sizeof p);
	for (struct image *m = images; p && m; m = m->next)
		expect(m->binary);
}

/* ---- loading --------------------------------------------------------------------------- */

/* The module, and where the program looks for its managed variables. */
static CUresult load(struct image *m)
{
	CUresult r;

	if (m->lib)
		return CUDA_SUCCESS;
	r = DRV(cuLibraryLoadData)(&m->lib, m->binary, NULL, NULL, 0, NULL, NULL, 0);
	if (r != CUDA_SUCCESS)
		return r;
	for (struct var *v = vars; v; v = v->next) {
		CUdeviceptr p;
		size_t bytes;

		if (v->image != m || !v->managed ||
		    DRV(cuLibraryGetManaged)(&p, &bytes, m->lib, v->name) != CUDA_SUCCESS)
			continue;
		*v->managed = (void *)(size_t)p;
	}
	return CUDA_SUCCESS;
}

char __cudaInitModule(void **);
char __cudaInitModule(void **handle)
{
	CUresult r;

	if (crt_begin_context() != cudaSuccess)
		return 0;
	pthread_mutex_lock(&lock);
	r = load((struct image *)handle);
	pthread_mutex_unlock(&lock);
	return crt_result(r) == cudaSuccess;
}

void crt_register_reset(void)
{
	pthread_mutex_lock(&lock);
	for (struct image *m = images; m; m = m->next)
		m->lib = NULL;
	for (unsigned b = 0; b < BUCKETS; b++)
		for (struct crt_func *f = funcs[b]; f; f = f->next)
			f->function = NULL;
	pthread_mutex_unlock(&lock);
}

/* ---- kernels ----------------------------------------------------------------------------- */

/* By the address of its stub, or by its cudaKernel_t; NULL: unknown. */
static struct crt_func *find(const void *host)
{
	struct crt_func *f, *found = NULL;

	pthread_mutex_lock(&lock);
	for (f = funcs[bucket(host)]; f && !found; f = f->next)
		if (f->host == host && !f->image->gone)
			found = f;
	for (unsigned b = 0; b < BUCKETS && !found; b++)
		for (f = funcs[b]; f && !found; f = f->next)
			if (f == host)
				found = f;
	for (f = loose; f && !found; f = f->next)
		if (f == host)
			found = f;
	pthread_mutex_unlock(&lock);
	return found;
}

static CUresult get(struct crt_func *f)
{
	CUresult r = CUDA_SUCCESS;

	if (f->function)
		return r;
	if (f->image) {
		r = load(f->image);
		if (r == CUDA_SUCCESS)
			r = DRV(cuLibraryGetKernel)(&f->kernel, f->image->lib, f->name);
	}
	return r == CUDA_SUCCESS ? DRV(cuKernelGetFunction)(&f->function, f->kernel) : r;
}

cudaError_t crt_func_get(const void *host, CUfunction *out)
{
	struct crt_func *f = find(host);
	CUresult r;

	ENTER();
	if (!f)
		return crt_note(cudaErrorInvalidDeviceFunction);
	pthread_mutex_lock(&lock);
	r = get(f);
	*out = f->function;
	pthread_mutex_unlock(&lock);
	return crt_note(r == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidDeviceFunction : (cudaError_t)r);
}

const void *crt_func_name(CUfunction function)
{
	const void *name = NULL;

	pthread_mutex_lock(&lock);
	for (unsigned b = 0; b < BUCKETS; b++)
		for (struct crt_func *f = funcs[b]; f; f = f->next)
			if (f->function == function)
				name = f->host;
	pthread_mutex_unlock(&lock);
	return name ? name : (const void *)function;
}

/* A kernel of a library that the program loads by itself. */
static cudaKernel_t kernel_of(CUkernel kernel)
{
	struct crt_func *f;

	pthread_mutex_lock(&lock);
	for (f = loose; f && f->kernel != kernel; f = f->next)
		;
	if (!f) {
		f = room(sizeof *f);
		f->kernel = kernel;
		f->next = loose;
		loose = f;
	}
	pthread_mutex_unlock(&lock);
	return (cudaKernel_t)(void *)f;
}

static cudaError_t get_kernel(cudaKernel_t *out, const void *host)
{
	struct crt_func *f = find(host);

	if (!out || !f)
		return crt_note(out ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue);
	*out = (cudaKernel_t)(void *)f;
	return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *, const void *);
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host)
{
	return get_kernel(out, host);
}

cudaError_t cudaGetKernel(cudaKernel_t *out, const void *host)
{
	return get_kernel(out, host);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *out, const void *host)
{
	return out ? crt_func_get(host, out) : crt_note(cudaErrorInvalidValue);
}

cudaError_t cudaFuncGetName(const char **name, const void *host)
{
	CUfunction f;
	cudaError_t e = crt_func_get(host, &f);

	return e != cudaSuccess ? e : crt_result(DRV(cuFuncGetName)(name, f));
}

cudaError_t cudaFuncGetParamInfo(const void *host, size_t i, size_t *offset, size_t *bytes)
{
	CUfunction f;
	cudaError_t e = crt_func_get(host, &f);

	return e != cudaSuccess ? e : crt_result(DRV(cuFuncGetParamInfo)(f, i, offset, bytes));
}

/* ---- variables --------------------------------------------------------------------------- */

cudaError_t crt_var_get(const void *symbol, CUdeviceptr *p, size_t *bytes)
{
	CUresult r = CUDA_ERROR_NOT_FOUND;
	struct var *v;

	pthread_mutex_lock(&lock);
	for (v = vars; v && (v->host != symbol || v->image->gone); v = v->next)
		;
	if (v)
		r = load(v->image);
	if (v && r == CUDA_SUCCESS)
		r = DRV(cuLibraryGetGlobal)(p, bytes, v->image->lib, v->name);
	pthread_mutex_unlock(&lock);
	return crt_note(r == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSymbol : (cudaError_t)r);
}

cudaError_t cudaGetSymbolAddress(void **out, const void *symbol)
{
	CUdeviceptr p = 0;
	size_t bytes;
	cudaError_t e;

	ENTER();
	if (!out)
		return crt_note(cudaErrorInvalidValue);
	e = crt_var_get(symbol, &p, &bytes);
	*out = (void *)(size_t)p;
	return e;
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
	CUdeviceptr p;

	ENTER();
	return bytes ? crt_var_get(symbol, &p, bytes) : crt_note(cudaErrorInvalidValue);
}

/* ---- libraries that the program loads by itself ------------------------------------------ */

cudaError_t cudaLibraryLoadData(cudaLibrary_t *out, const void *code, enum cudaJitOption *jit, void **jit_values,
				unsigned njit, enum cudaLibraryOption *options, void **values, unsigned n)
{
	CALL(DRV(cuLibraryLoadData)((CUlibrary *)(void *)out, code, (CUjit_option *)jit, jit_values, njit,
				    (CUlibraryOption *)options, values, n));
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *out, const char *file, enum cudaJitOption *jit, void **jit_values,
				    unsigned njit, enum cudaLibraryOption *options, void **values, unsigned n)
{
	CALL(DRV(cuLibraryLoadFromFile)((CUlibrary *)(void *)out, file, (CUjit_option *)jit, jit_values, njit,
					(CUlibraryOption *)options, values, n));
}

cudaError_t cudaLibraryUnload(cudaLibrary_t lib)
{
	CALL(DRV(cuLibraryUnload)((CUlibrary)(void *)lib));
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *out, cudaLibrary_t lib, const char *name)
{
	CUkernel kernel;
	cudaError_t e;

	ENTER();
	e = crt_result(DRV(cuLibraryGetKernel)(&kernel, (CUlibrary)(void *)lib, name));
	if (e == cudaSuccess)
		*out = kernel_of(kernel);
	return e;
}

cudaError_t cudaLibraryGetGlobal(void **p, size_t *bytes, cudaLibrary_t lib, const char *name)
{
	CALL(DRV(cuLibraryGetGlobal)((CUdeviceptr *)p, bytes, (CUlibrary)(void *)lib, name));
}

cudaError_t cudaLibraryGetManaged(void **p, size_t *bytes, cudaLibrary_t lib, const char *name)
{
	CALL(DRV(cuLibraryGetManaged)((CUdeviceptr *)p, bytes, (CUlibrary)(void *)lib, name));
}

cudaError_t cudaLibraryGetKernelCount(unsigned *n, cudaLibrary_t lib)
{
	CALL(DRV(cuLibraryGetKernelCount)(n, (CUlibrary)(void *)lib));
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *out, unsigned n, cudaLibrary_t lib)
{
	CUkernel *kernels;
	unsigned count = 0;
	cudaError_t e;

	ENTER();
	e = crt_result(DRV(cuLibraryGetKernelCount)(&count, (CUlibrary)(void *)lib));
	if (e != cudaSuccess)
		return e;
	n = n < count ? n : count;
	kernels = room((n + 1) * sizeof *kernels);
	e = crt_result(DRV(cuLibraryEnumerateKernels)(kernels, n, (CUlibrary)(void *)lib));
	for (unsigned i = 0; i < n && e == cudaSuccess; i++)
		out[i] = kernel_of(kernels[i]);
	free(kernels);
	return e;
}
