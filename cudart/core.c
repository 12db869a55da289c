/* SPDX-License-Identifier: Apache-2.0
 *
 * core.c: the driver, contexts, errors.
 */
#include "cudart/cudart.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct crt_driver crt_driver;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cudaError_t begun = cudaErrorNotReady;   /* until the driver was looked for */
static CUcontext primary;
static _Thread_local cudaError_t last;

cudaError_t crt_note(cudaError_t e)
{
	if (e != cudaSuccess)
		last = e;
	return e;
}

#define TEXT1(name) #name
#define TEXT2(name) TEXT1(name)

static bool look_up(void *lib, const char *name, void *fn)
{
	void *p = dlsym(lib, name);

	memcpy(fn, &p, sizeof p);
	if (!p)
		fprintf(stderr, "gsan: the driver has no %s: the emulated device's CUDA runtime works with the libcuda.so.1"
			" beside it, which gsan-run --device=emu -- PROGRAM finds\n", name);
	return p != NULL;
}

/* The program's own dlsym finds it, which may be libgsan's: then that hears of all calls. */
static cudaError_t load(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	int count = 0;

	if (!lib) {
		fprintf(stderr, "gsan: there is no CUDA driver (%s): gsan-run --device=emu -- PROGRAM finds the emulated"
			" device's\n", dlerror());
		return cudaErrorInsufficientDriver;
	}
#define D(name) \
	if (!look_up(lib, TEXT2(name), &crt_driver.name)) \
		return cudaErrorInsufficientDriver;
#include "cudart/driver.def"
	crt_register_expect(lib);
	if (DRV(cuInit)(0) != CUDA_SUCCESS || DRV(cuDeviceGetCount)(&count) != CUDA_SUCCESS)
		return cudaErrorInitializationError;
	return count ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t crt_begin(void)
{
	pthread_mutex_lock(&lock);
	if (begun == cudaErrorNotReady)
		begun = load();
	pthread_mutex_unlock(&lock);
	return crt_note(begun);
}

cudaError_t crt_begin_context(void)
{
	cudaError_t e = crt_begin();
	CUcontext ctx = NULL;

	if (e != cudaSuccess)
		return e;
	if (DRV(cuCtxGetCurrent)(&ctx) == CUDA_SUCCESS && ctx)
		return cudaSuccess;
	pthread_mutex_lock(&lock);
	if (!primary)
		e = (cudaError_t)DRV(cuDevicePrimaryCtxRetain)(&primary, 0);
	ctx = primary;
	pthread_mutex_unlock(&lock);
	return e != cudaSuccess ? crt_note(e) : crt_result(DRV(cuCtxSetCurrent)(ctx));
}

void crt_forget_context(void)
{
	pthread_mutex_lock(&lock);
	primary = NULL;
	pthread_mutex_unlock(&lock);
}

cudaError_t crt_refuse(const char *what)
{
	static _Thread_local const char *told;

	if (told != what)
		fprintf(stderr, "gsan: the emulated device has no %s\n", what);
	told = what;
	return crt_note(cudaErrorNotSupported);
}

/* ---- errors -------------------------------------------------------------------------- */

static const struct { cudaError_t error; const char *name, *text; } errors[] = {
#define E(name, text) { name, #name, text },
#include "cudart/errors.def"
};

static const char *text_of(cudaError_t e, bool name)
{
	const char *text = NULL;

	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].error == e && (name || errors[i].text))
			return name ? errors[i].name : errors[i].text;
	if (!name && crt_begin() == cudaSuccess)
		DRV(cuGetErrorString)((CUresult)e, &text);
	return text ? text : "unrecognized error code";
}

const char *cudaGetErrorName(cudaError_t e)
{
	return text_of(e, true);
}

const char *cudaGetErrorString(cudaError_t e)
{
	return text_of(e, false);
}

cudaError_t cudaPeekAtLastError(void)
{
	return last;
}

cudaError_t cudaGetLastError(void)
{
	cudaError_t e = last;

	last = cudaSuccess;
	return e;
}

/* ---- versions ------------------------------------------------------------------------ */

cudaError_t cudaRuntimeGetVersion(int *version)
{
	if (!version)
		return crt_note(cudaErrorInvalidValue);
	*version = crt_version;
	return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
	cudaError_t e = crt_begin();

	return e != cudaSuccess ? e : crt_result(DRV(cuDriverGetVersion)(version));
}

/* The status came with CUDA 12. */
static cudaError_t entry_point(const char *name, void **fn, int version, unsigned long long flags,
			       enum cudaDriverEntryPointQueryResult *status)
{
	CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
	cudaError_t e = crt_begin();
	CUresult r;

	if (e != cudaSuccess)
		return e;
	r = DRV(cuGetProcAddress)(name, fn, version, flags, &found);
	if (status && crt_version >= 12000) {
		*status = (enum cudaDriverEntryPointQueryResult)found;
		if (r == CUDA_ERROR_NOT_FOUND)
			return cudaSuccess;
	}
	return crt_result(r);
}

cudaError_t cudaGetDriverEntryPoint(const char *name, void **fn, unsigned long long flags,
				    enum cudaDriverEntryPointQueryResult *status)
{
	return entry_point(name, fn, crt_version, flags, status);
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char *, void **, unsigned long long,
					 enum cudaDriverEntryPointQueryResult *);
cudaError_t cudaGetDriverEntryPoint_ptsz(const char *name, void **fn, unsigned long long flags,
					 enum cudaDriverEntryPointQueryResult *status)
{
	return entry_point(name, fn, crt_version, flags, status);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **fn, unsigned version, unsigned long long flags,
					     enum cudaDriverEntryPointQueryResult *status)
{
	return entry_point(name, fn, (int)version, flags, status);
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *, void **, unsigned, unsigned long long,
						  enum cudaDriverEntryPointQueryResult *);
cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *name, void **fn, unsigned version,
						  unsigned long long flags,
						  enum cudaDriverEntryPointQueryResult *status)
{
	return entry_point(name, fn, (int)version, flags, status);
}

cudaError_t cudaProfilerStart(void)
{
	return crt_begin_context();
}

cudaError_t cudaProfilerStop(void)
{
	return crt_begin_context();
}
