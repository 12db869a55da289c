/* SPDX-License-Identifier: Apache-2.0
 *
 * fake.c: a pretended libcuda.so.1, for tests of the host runtime by itself.
 * Device memory is host memory and kernels do what their names say, at once:
 *
 *   __gsan_vN_init*   hands over the image's table
 *   race*             puts the finding that its parameter points to into the ring
 *   again*            counts the finding of that number once more
 *   lost*             adds one to a counter of the root
 *   hang*             keeps its stream busy for ever
 *   die*              ends the context with an error
 *
 * Its functions call each other through the dynamic linker, so that the hooks of
 * a program meet calls that are not the program's.
 *
 * FAKE_FAIL=NAME:N makes the N-th and later calls of that function fail.
 * FAKE_EXIT=retain, launch or wait: the driver shuts down at exit, by a handler that
 * it registers at the first call of that kind; what is called later fails.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cuda.h>

#include "rt/abi.h"
#include "testsuite/rt/fake.h"

#undef cuGetProcAddress

#define API __attribute__((visibility("default")))
#define SMS 3
#define PAGE (UINT64_C(2) << 20)

struct stream { bool hung; struct stream *next; };
struct module { const struct fake_image *image; struct fn *fns, *kernels; bool registered; };
struct fn { struct module *module; const char *name; bool kernel; };
struct graph { struct node { CUDA_KERNEL_NODE_PARAMS params; } node[16]; size_t n; };

static struct stream null_stream;
static struct stream *streams;
static char contexts[2];        /* primary ones, by their addresses */
static _Thread_local CUcontext current;
static CUresult broken;
static bool down;               /* and nothing brings it back */
static bool initialized;

static void shut_down(void)
{
	broken = CUDA_ERROR_DEINITIALIZED;
	down = true;
}

static void may_shut_down(const char *when)
{
	static bool registered;
	const char *what = getenv("FAKE_EXIT");

	if (!registered && what && !strcmp(what, when)) {
		registered = true;
		atexit(shut_down);
	}
}

/* Whether this call is to fail. */
static bool fails(const char *name)
{
	static int calls;
	const char *what = getenv("FAKE_FAIL");
	size_t n = strlen(name);

	if (!what || strncmp(what, name, n) || what[n] != ':')
		return false;
	return ++calls >= atoi(what + n + 1);
}

static struct gsan_root *root(void)
{
	return (struct gsan_root *)GSAN_ROOT;
}

/* ---- devices and contexts ---------------------------------------------------------------------- */

API CUresult cuInit(unsigned int flags)
{
	if (fails("cuInit"))
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
	return ordinal < 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device)
{
	(void)device;
	switch ((int)which) {
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
		*value = SMS;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
		*value = 2048;  /* four blocks of 512 bytes */
		break;
	case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
		*value = !fails("attribute");
		break;
	default:
		*value = 0;
	}
	return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice device)
{
	may_shut_down("retain");
	*ctx = (CUcontext)(void *)&contexts[device];
	return down ? broken : CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
	(void)device;
	return down ? broken : CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
	(void)device;
	broken = down ? broken : CUDA_SUCCESS;
	return broken;
}

API CUresult cuCtxSetCurrent(CUcontext ctx)
{
	current = ctx;
	return down ? broken : CUDA_SUCCESS;
}

API CUresult cuCtxGetCurrent(CUcontext *ctx)
{
	if (!initialized)
		return CUDA_ERROR_NOT_INITIALIZED;
	*ctx = current;
	return CUDA_SUCCESS;
}

API CUresult cuCtxGetDevice(CUdevice *device)
{
	*device = current == (CUcontext)(void *)&contexts[0] ? 0 : 1;
	return CUDA_SUCCESS;
}

API CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	(void)ctx;
	return CUDA_SUCCESS;
}

/* ---- streams --------------------------------------------------------------------------------------- */

API CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	struct stream *s = calloc(1, sizeof *s);

	(void)flags;
	s->next = streams;
	streams = s;
	*stream = (CUstream)(void *)s;
	return CUDA_SUCCESS;
}

static struct stream *stream_of(CUstream s)
{
	return (uintptr_t)s <= 2 ? &null_stream : (struct stream *)(void *)s;
}

static CUresult wait_for(const struct stream *s)
{
	while (__atomic_load_n(&s->hung, __ATOMIC_RELAXED))
		usleep(1000);
	return broken;
}

API CUresult cuStreamSynchronize(CUstream stream)
{
	return wait_for(stream_of(stream));
}

API CUresult cuCtxSynchronize(void)
{
	may_shut_down("wait");
	wait_for(&null_stream);
	for (struct stream *s = streams; s; s = s->next)
		wait_for(s);
	return broken;
}

API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	static _Thread_local CUstreamCaptureMode now = CU_STREAM_CAPTURE_MODE_GLOBAL;
	CUstreamCaptureMode was = now;

	now = *mode;
	*mode = was;
	return CUDA_SUCCESS;
}

/* ---- memory ------------------------------------------------------------------------------------------ */

API CUresult cuMemGetInfo_v2(size_t *left, size_t *total)
{
	*left = (size_t)8 << 30;
	*total = (size_t)16 << 30;
	return CUDA_SUCCESS;
}

API CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t n)
{
	void *m = fails("cuMemAlloc") ? MAP_FAILED : mmap(NULL, n, PROT_READ | PROT_WRITE,
							  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (m == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*p = (uintptr_t)m;
	return broken;
}

API CUresult cuMemFree_v2(CUdeviceptr p)
{
	return p ? broken : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuMemHostAlloc(void **p, size_t n, unsigned int flags)
{
	CUdeviceptr d;
	CUresult r = cuMemAlloc_v2(&d, n);

	(void)flags;
	*p = (void *)(uintptr_t)d;
	return r;
}

API CUresult cuMemFreeHost(void *p)
{
	return cuMemFree_v2((uintptr_t)p);
}

API CUresult cuMemHostRegister_v2(void *p, size_t n, unsigned int flags)
{
	(void)p, (void)n, (void)flags;
	return fails("cuMemHostRegister") ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

API CUresult cuMemHostUnregister(void *p)
{
	(void)p;
	return CUDA_SUCCESS;
}

API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *d, void *p, unsigned int flags)
{
	(void)flags;
	*d = (uintptr_t)p;
	return CUDA_SUCCESS;
}

API CUresult cuMemGetAllocationGranularity(size_t *n, const CUmemAllocationProp *prop,
					   CUmemAllocationGranularity_flags option)
{
	(void)prop, (void)option;
	*n = PAGE;
	return CUDA_SUCCESS;
}

API CUresult cuMemAddressReserve(CUdeviceptr *p, size_t n, size_t alignment, CUdeviceptr at,
				 unsigned long long flags)
{
	void *m;

	(void)alignment, (void)flags;
	if (fails("cuMemAddressReserve"))
		return CUDA_ERROR_OUT_OF_MEMORY;
	m = mmap((void *)(uintptr_t)at, n + (at ? 0 : PAGE), PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);
	if (m == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*p = at ? (uintptr_t)m : ((uintptr_t)m + PAGE - 1) / PAGE * PAGE;
	return CUDA_SUCCESS;
}

API CUresult cuMemAddressFree(CUdeviceptr p, size_t n)
{
	return munmap((void *)(uintptr_t)p, n) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

API CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t n,
			 const CUmemAllocationProp *prop, unsigned long long flags)
{
	static CUmemGenericAllocationHandle last;

	(void)prop, (void)flags;
	if (n % PAGE || fails("cuMemCreate"))
		return CUDA_ERROR_OUT_OF_MEMORY;
	*handle = ++last;
	return CUDA_SUCCESS;
}

API CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	(void)handle;
	return CUDA_SUCCESS;
}

/* Not zeroed: what the runtime wants zero, it zeroes. */
API CUresult cuMemMap(CUdeviceptr p, size_t n, size_t offset, CUmemGenericAllocationHandle handle,
		      unsigned long long flags)
{
	(void)offset, (void)handle, (void)flags;
	if (p % PAGE || fails("cuMemMap") ||
	    mmap((void *)(uintptr_t)p, n, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		return CUDA_ERROR_INVALID_VALUE;
	memset((void *)(uintptr_t)p, 0xa5, n);
	return CUDA_SUCCESS;
}

API CUresult cuMemUnmap(CUdeviceptr p, size_t n)
{
	return mmap((void *)(uintptr_t)p, n, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED ?
	       CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

API CUresult cuMemSetAccess(CUdeviceptr p, size_t n, const CUmemAccessDesc *desc, size_t count)
{
	(void)p, (void)n, (void)desc, (void)count;
	return CUDA_SUCCESS;
}

API CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, CUstream stream)
{
	(void)stream;
	if (!broken)
		memcpy(to, (const void *)(uintptr_t)from, n);
	return broken;
}

API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t n, CUstream stream)
{
	(void)stream;
	if (!broken)
		memcpy((void *)(uintptr_t)to, from, n);
	return broken;
}

API CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t n)
{
	wait_for(&null_stream);
	return cuMemcpyDtoHAsync_v2(to, from, n, NULL);
}

/* Whole pages are given back: the next ones are zero. */
API CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char value, size_t n, CUstream stream)
{
	(void)stream;
	if (broken)
		return broken;
	if (value || p % PAGE || n % PAGE)
		memset((void *)(uintptr_t)p, value, n);
	else
		madvise((void *)(uintptr_t)p, n, MADV_DONTNEED);
	return CUDA_SUCCESS;
}

/* ---- modules -------------------------------------------------------------------------------------------- */

API CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	struct module *m = calloc(1, sizeof *m);

	m->image = image;
	m->fns = calloc(m->image->nkernels + 1, sizeof *m->fns);
	m->kernels = calloc(m->image->nkernels + 1, sizeof *m->fns);
	for (size_t i = 0; i < m->image->nkernels; i++) {
		m->fns[i] = (struct fn){ m, m->image->kernel[i], false };
		m->kernels[i] = (struct fn){ m, m->image->kernel[i], true };
	}
	*module = (CUmodule)(void *)m;
	return broken;
}

API CUresult cuModuleUnload(CUmodule module)
{
	(void)module;
	return CUDA_SUCCESS;
}

API CUresult cuModuleGetFunctionCount(unsigned int *n, CUmodule module)
{
	*n = (unsigned)((struct module *)(void *)module)->image->nkernels;
	return CUDA_SUCCESS;
}

API CUresult cuModuleEnumerateFunctions(CUfunction *f, unsigned int n, CUmodule module)
{
	struct module *m = (struct module *)(void *)module;

	for (unsigned i = 0; i < n; i++)
		f[i] = (CUfunction)(void *)&m->fns[i];
	return CUDA_SUCCESS;
}

API CUresult cuModuleGetFunction(CUfunction *f, CUmodule module, const char *name)
{
	struct module *m = (struct module *)(void *)module;

	for (size_t i = 0; i < m->image->nkernels; i++) {
		if (!strcmp(m->fns[i].name, name)) {
			*f = (CUfunction)(void *)&m->fns[i];
			return CUDA_SUCCESS;
		}
	}
	return CUDA_ERROR_NOT_FOUND;
}

API CUresult cuFuncGetName(const char **name, CUfunction f)
{
	*name = ((struct fn *)(void *)f)->name;
	return CUDA_SUCCESS;
}

API CUresult cuFuncGetModule(CUmodule *module, CUfunction f)
{
	*module = (CUmodule)(void *)((struct fn *)(void *)f)->module;
	return CUDA_SUCCESS;
}

/* Functions only, as the real one says. */
API CUresult cuFuncGetAttribute(int *value, CUfunction_attribute which, CUfunction f)
{
	if (((struct fn *)(void *)f)->kernel)
		return CUDA_ERROR_INVALID_HANDLE;
	*value = which == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES ?
		 ((struct fn *)(void *)f)->module->image->shared : 0;
	return CUDA_SUCCESS;
}

/* ---- libraries: modules whose kernels belong to no context ------------------------------------ */

API CUresult cuLibraryLoadData(CUlibrary *lib, const void *code, CUjit_option *jit, void **jit_values,
			       unsigned int njit, CUlibraryOption *options, void **values,
			       unsigned int n)
{
	CUmodule m;
	CUresult r = cuModuleLoadData(&m, code);

	(void)jit, (void)jit_values, (void)njit, (void)options, (void)values, (void)n;
	*lib = (CUlibrary)(void *)m;
	return r;
}

API CUresult cuLibraryUnload(CUlibrary lib)
{
	return lib ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

API CUresult cuLibraryGetKernelCount(unsigned int *n, CUlibrary lib)
{
	return cuModuleGetFunctionCount(n, (CUmodule)(void *)lib);
}

API CUresult cuLibraryEnumerateKernels(CUkernel *k, unsigned int n, CUlibrary lib)
{
	struct module *m = (struct module *)(void *)lib;

	for (unsigned i = 0; i < n; i++)
		k[i] = (CUkernel)(void *)&m->kernels[i];
	return CUDA_SUCCESS;
}

API CUresult cuLibraryGetKernel(CUkernel *k, CUlibrary lib, const char *name)
{
	struct module *m = (struct module *)(void *)lib;
	CUfunction f;
	CUresult r = cuModuleGetFunction(&f, (CUmodule)(void *)lib, name);

	if (r == CUDA_SUCCESS)
		*k = (CUkernel)(void *)&m->kernels[(struct fn *)(void *)f - m->fns];
	return r;
}

API CUresult cuKernelGetName(const char **name, CUkernel k)
{
	*name = ((struct fn *)(void *)k)->name;
	return CUDA_SUCCESS;
}

API CUresult cuKernelGetFunction(CUfunction *f, CUkernel k)
{
	struct fn *fn = (struct fn *)(void *)k;

	if (!current)
		return CUDA_ERROR_INVALID_CONTEXT;
	*f = (CUfunction)(void *)&fn->module->fns[fn - fn->module->kernels];
	return CUDA_SUCCESS;
}

/* ---- kernels ---------------------------------------------------------------------------------------------- */

static void init(struct module *m, uint64_t mailbox)
{
	struct gsan_mailbox *box = (struct gsan_mailbox *)(uintptr_t)mailbox;

	if (fails("init"))
		return;
	box->module = *m->image->table;
	box->site_base = root()->next_site;
	root()->next_site += m->image->table->nsites;
	if (getenv("FAKE_SITES"))       /* so many, of others */
		root()->next_site += (uint32_t)strtoul(getenv("FAKE_SITES"), NULL, 0);
	box->done = 1;
	m->registered = true;
}

static void race(const struct gsan_finding *f)
{
	struct gsan_finding *ring = (struct gsan_finding *)(uintptr_t)root()->ring;
	struct gsan_dedup *dedup = (struct gsan_dedup *)(uintptr_t)root()->dedup;
	uint32_t i = __atomic_fetch_add(&root()->ring_next, 1, __ATOMIC_RELAXED);

	if (i >= root()->nring) {
		root()->counters[GSAN_COUNT_RING_LOST]++;
		return;
	}
	ring[i] = *f;
	ring[i].dedup = i;
	ring[i].count = 1;
	dedup[i].count = 1;
	__atomic_store_n(&ring[i].ready, 1, __ATOMIC_RELEASE);
}

/* The ring is told of powers of two only. */
static void again(uint64_t i)
{
	struct gsan_finding *ring = (struct gsan_finding *)(uintptr_t)root()->ring;
	uint32_t n = __atomic_add_fetch(&((struct gsan_dedup *)(uintptr_t)root()->dedup)[i].count, 1,
					__ATOMIC_RELAXED);

	if (!(n & (n - 1)))
		__atomic_store_n(&ring[i].count, n, __ATOMIC_RELAXED);
}

API CUresult cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
			    unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			    CUstream stream, void **params, void **extra)
{
	struct fn *fn = (struct fn *)(void *)f;
	uint64_t arg = params ? *(uint64_t *)params[0] : 0;

	(void)gy, (void)gz, (void)by, (void)bz, (void)shared, (void)extra;
	may_shut_down("launch");
	if (broken)
		return broken;
	if (!gx || !bx)
		return CUDA_ERROR_INVALID_VALUE;
	if (!strncmp(fn->name, "__gsan_v", 8))
		init(fn->module, arg);
	else if (!fn->module->registered && (!strncmp(fn->name, "race", 4) ||
		 !strncmp(fn->name, "again", 5) || !strncmp(fn->name, "lost", 4)))
		return CUDA_SUCCESS;    /* as instrumented code without a runtime */
	else if (!strncmp(fn->name, "race", 4))
		race((const struct gsan_finding *)(uintptr_t)arg);
	else if (!strncmp(fn->name, "again", 5))
		again(arg);
	else if (!strncmp(fn->name, "lost", 4))
		root()->counters[arg]++;
	else if (!strncmp(fn->name, "hang", 4))
		stream_of(stream)->hung = true;
	else if (!strncmp(fn->name, "die", 3))
		broken = CUDA_ERROR_LAUNCH_FAILED;
	return CUDA_SUCCESS;
}

/* ---- graphs of kernels ---------------------------------------------------------------------------- */

API CUresult cuGraphCreate(CUgraph *graph, unsigned int flags)
{
	(void)flags;
	*graph = (CUgraph)calloc(1, sizeof(struct graph));
	return CUDA_SUCCESS;
}

API CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
				     size_t n, const CUDA_KERNEL_NODE_PARAMS *params)
{
	struct graph *g = (struct graph *)(void *)graph;

	(void)after, (void)n;
	*node = (CUgraphNode)(void *)&g->node[g->n];
	g->node[g->n++].params = *params;
	return CUDA_SUCCESS;
}

API CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *n)
{
	struct graph *g = (struct graph *)(void *)graph;

	for (size_t i = 0; nodes && i < g->n; i++)
		nodes[i] = (CUgraphNode)(void *)&g->node[i];
	*n = g->n;
	return CUDA_SUCCESS;
}

API CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
	(void)node;
	*type = CU_GRAPH_NODE_TYPE_KERNEL;
	return CUDA_SUCCESS;
}

API CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params)
{
	*params = ((struct node *)(void *)node)->params;
	return CUDA_SUCCESS;
}

API CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	(void)flags;
	*exec = (CUgraphExec)memcpy(malloc(sizeof(struct graph)), graph, sizeof(struct graph));
	return CUDA_SUCCESS;
}

API CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	struct graph *g = (struct graph *)(void *)exec;
	CUresult r = CUDA_SUCCESS;

	for (size_t i = 0; i < g->n && r == CUDA_SUCCESS; i++) {
		CUDA_KERNEL_NODE_PARAMS *p = &g->node[i].params;

		r = cuLaunchKernel(p->func ? p->func : (CUfunction)p->kern, p->gridDimX, p->gridDimY,
				   p->gridDimZ, p->blockDimX, p->blockDimY, p->blockDimZ,
				   p->sharedMemBytes, stream, p->kernelParams, p->extra);
	}
	return r;
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
