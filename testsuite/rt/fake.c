/* SPDX-License-Identifier: Apache-2.0
 *
 * fake.c: a pretended libcuda.so.1, for tests of the host runtime by itself.
 * Device memory is host memory; kernels do what their names and parameters say
 * (fake_kernel.c), in a thread of their stream.  Here: devices, contexts, and
 * how its functions are looked up.
 *
 * Its functions call each other through the dynamic linker, so that the hooks of
 * a program meet calls that are not the program's.  Whoever uses a handle of
 * something that has ended is told so, and the process aborts.
 *
 * FAKE_FAIL=NAME:N makes the N-th and later calls of that function fail.
 * FAKE_SCREEN=1: fake_screen.c.
 * FAKE_EXIT=retain, launch or wait: the driver shuts down at exit, by a handler that
 * it registers at the first call of that kind; what is called later fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testsuite/rt/fake_impl.h"

API CUresult cuCtxCreate_v2(CUcontext *, unsigned int, CUdevice);

enum { DEVICES = 2, DEPTH = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct context *contexts;                /* with lock */
static struct { struct context *ctx; int retains; } primary[DEVICES];
static _Thread_local struct context *stack[DEPTH];      /* the last one is current */
static _Thread_local int top;
static bool down;                               /* and nothing brings it back */
static bool initialized;

/* ---- what goes wrong ------------------------------------------------------------------------------- */

static void shut_down(void)
{
	down = true;
}

void fake_may_shut_down(const char *when)
{
	static bool registered;
	const char *what = getenv("FAKE_EXIT");

	if (!registered && what && !strcmp(what, when)) {
		registered = true;
		atexit(shut_down);
	}
}

bool fake_fails(const char *name)
{
	static int calls;
	const char *what = getenv("FAKE_FAIL");
	size_t n = strlen(name);

	if (!what || strncmp(what, name, n) || what[n] != ':')
		return false;
	return __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) >= atoi(what + n + 1);
}

void fake_misused(const char *what)
{
	fprintf(stderr, "fake: %s was used\n", what);
	abort();
}

void fake_fault(CUresult why)
{
	pthread_mutex_lock(&lock);
	for (struct context *c = contexts; c; c = c->next)
		if (!c->sick)
			__atomic_store_n(&c->sick, why, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
}

struct context *fake_current(void)
{
	return stack[top];
}

CUresult fake_state(void)
{
	const struct context *c = stack[top];

	if (down)
		return CUDA_ERROR_DEINITIALIZED;
	if (!initialized)
		return CUDA_ERROR_NOT_INITIALIZED;
	return c ? __atomic_load_n(&c->sick, __ATOMIC_ACQUIRE) : CUDA_ERROR_INVALID_CONTEXT;
}

/* ---- devices ---------------------------------------------------------------------------------------- */

API CUresult cuInit(unsigned int flags)
{
	if (fake_fails("cuInit"))
		return CUDA_ERROR_NO_DEVICE;
	initialized = true;
	return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

API CUresult cuGetErrorName(CUresult r, const char **name)
{
	*name = r == CUDA_ERROR_NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : NULL;
	return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	initialized = true;     /* programs here need no cuInit */
	*device = ordinal;
	return ordinal < DEVICES ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device)
{
	(void)device;
	switch ((int)which) {
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
		*value = SMS;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
		*value = THREADS;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
		*value = 227 << 10;
		break;
	default:
		*value = 0;
	}
	return CUDA_SUCCESS;
}

/* ---- contexts ----------------------------------------------------------------------------------------- */

static struct context *new_context(int device)
{
	struct context *c = calloc(1, sizeof *c);

	c->device = device;
	pthread_mutex_lock(&lock);
	c->next = contexts;
	contexts = c;
	pthread_mutex_unlock(&lock);
	return c;
}

/* What still runs in it is cut off. */
static void end_context(struct context *c)
{
	if (!c || c->ended)
		return;
	__atomic_store_n(&c->sick, CUDA_ERROR_CONTEXT_IS_DESTROYED, __ATOMIC_RELEASE);
	fake_wait_all(c);
	c->ended = true;
	fake_memory_end(c);
}

API CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice device)
{
	fake_may_shut_down("retain");
	if (down)
		return CUDA_ERROR_DEINITIALIZED;
	if (!primary[device].ctx)
		primary[device].ctx = new_context(device);
	primary[device].retains++;
	*ctx = (CUcontext)(void *)primary[device].ctx;
	return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
	if (down)
		return CUDA_ERROR_DEINITIALIZED;
	end_context(primary[device].ctx);
	primary[device].ctx = NULL;
	primary[device].retains = 0;
	return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
	if (down)
		return CUDA_ERROR_DEINITIALIZED;
	if (!primary[device].retains)
		return CUDA_ERROR_INVALID_CONTEXT;
	return --primary[device].retains ? CUDA_SUCCESS : cuDevicePrimaryCtxReset_v2(device);
}

API CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned int flags, CUdevice device)
{
	struct context *c;

	(void)flags;
	if (down || fake_fails("cuCtxCreate") || top + 1 == DEPTH)
		return CUDA_ERROR_OUT_OF_MEMORY;
	c = new_context(device);
	stack[++top] = c;
	*ctx = (CUcontext)(void *)c;
	return CUDA_SUCCESS;
}

API CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	struct context *c = (struct context *)(void *)ctx;

	if (down)
		return CUDA_ERROR_DEINITIALIZED;
	if (!c || c->ended)
		fake_misused("a context that has ended");
	end_context(c);
	if (stack[top] == c)
		stack[top] = NULL;
	return CUDA_SUCCESS;
}

API CUresult cuCtxPopCurrent_v2(CUcontext *ctx)
{
	*ctx = (CUcontext)(void *)stack[top];
	stack[top] = NULL;
	if (top)
		top--;
	return CUDA_SUCCESS;
}

API CUresult cuCtxSetCurrent(CUcontext ctx)
{
	struct context *c = (struct context *)(void *)ctx;

	if (down)
		return CUDA_ERROR_DEINITIALIZED;
	if (c && c->ended)
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	stack[top] = c;
	return CUDA_SUCCESS;
}

API CUresult cuCtxGetCurrent(CUcontext *ctx)
{
	if (!initialized)
		return CUDA_ERROR_NOT_INITIALIZED;
	*ctx = (CUcontext)(void *)stack[top];
	return CUDA_SUCCESS;
}

API CUresult cuCtxGetDevice(CUdevice *device)
{
	if (!stack[top] || stack[top]->ended)
		return CUDA_ERROR_INVALID_CONTEXT;
	*device = stack[top]->device;
	return CUDA_SUCCESS;
}

API CUresult cuCtxSynchronize(void)
{
	fake_may_shut_down("wait");
	if (stack[top] && !down)
		fake_wait_all(stack[top]);
	return fake_state();
}

API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	static _Thread_local CUstreamCaptureMode now = CU_STREAM_CAPTURE_MODE_GLOBAL;
	CUstreamCaptureMode was = now;

	now = *mode;
	*mode = was;
	return CUDA_SUCCESS;
}

/* ---- look-ups ---------------------------------------------------------------------------------------------- */

API CUresult cuGetProcAddress_v2(const char *symbol, void **fn, int version, cuuint64_t flags,
				 CUdriverProcAddressQueryResult *status)
{
	typedef void any(void);
	static const struct { const char *base; int version; any *fn; } known[] = {
		{ "cuGetProcAddress", 12000, (any *)cuGetProcAddress_v2 },
		{ "cuInit", 2000, (any *)cuInit },
		{ "cuDeviceGet", 2000, (any *)cuDeviceGet },
		{ "cuDevicePrimaryCtxRetain", 7000, (any *)cuDevicePrimaryCtxRetain },
		{ "cuCtxSetCurrent", 4000, (any *)cuCtxSetCurrent },
		{ "cuCtxSynchronize", 2000, (any *)cuCtxSynchronize },
		{ "cuMemAlloc", 3020, (any *)cuMemAlloc_v2 },
		{ "cuModuleLoadData", 2000, (any *)cuModuleLoadData },
		{ "cuModuleGetFunction", 2000, (any *)cuModuleGetFunction },
		{ "cuLaunchKernel", 4000, (any *)cuLaunchKernel },
	};

	(void)flags;
	*fn = NULL;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(known[i].base, symbol) && version >= known[i].version)
			memcpy(fn, &known[i].fn, sizeof *fn);
	if (status)
		*status = *fn ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return *fn ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
