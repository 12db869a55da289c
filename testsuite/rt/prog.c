/* SPDX-License-Identifier: Apache-2.0
 *
 * prog.c: a program that uses the driver as its arguments say, one after the
 * other.  It has libgsan in it (unless PLAIN), and fake.c's driver under it.
 *
 *   cudart        at exit, unload and release as the CUDA runtime does
 *   proc          find the driver as the CUDA runtime does: dlopen, dlsym,
 *                 cuGetProcAddress; else by name
 *   use:N         retain and use device N's primary context
 *   context, destroy      make one more of device 0, which is current, destroy it, and use the one before
 *   whole         no instruction of the modules was left out
 *   load, linked, bare, other     load an instrumented module, one of two units, one that is not instrumented, one that
 *                 another version has instrumented
 *   library       load the instrumented one as a library; kernels are launched as
 *                 kernels, or, after `functions`, as functions
 *   run:NAME      launch a kernel
 *   several:NAME  launch it on several devices, as one
 *   race:N        launch the kernel of the N-th race (prog_module.c)
 *   late:N        ... when the process ends, behind the runtime's own handler, and wait for it if it has no gate
 *   gate:N, fill:N, lanes:N, early, deaf, wreck:N the next launch does that as well (struct fake_work); open:N: the gate
 *   wide:N        races from here on have N times as many blocks in x
 *   grid:N, block:N       launches of run: from here on have N blocks, of N threads,
 *   rows:N        ... and N rows of threads
 *   extra, ex, coop       launches pass a buffer; go by cuLaunchKernelEx; by cuLaunchCooperativeKernel
 *   stream        ... and go to a new stream; null: to the null stream; stream-sync waits for it
 *   event, event-sync     record an event in the stream, wait for it
 *   alloc:BYTES, free, host:BYTES    memory; the addresses are printed
 *   map:ADDRESS, unmap:ADDRESS    cuMemMap of 2 MiB there
 *   ipc:BYTES, ipc-old:BYTES, ipc-close, import:BYTES, external:BYTES     memory of another process, by a handle or by a
 *                 pool's, and of another API
 *   copy          a blocking copy from the last allocation
 *   threads:N     so many threads allocate, launch, wait and free at once
 *   first:N       so many threads launch the kernel of race 2 at once
 *   init          cuInit; what it returns is printed
 *   params        how many parameters ring has is printed
 *   sync, release, reset, unload, fork, sleep:MS, exit:N, quick, findings, incomplete, finish, off
 *   _exit:N, signal:N, handler:N (says so), child:N and vchild:N (a child of fork, of
 *                 vfork, that calls _exit), lock (stdio's locks are held), rtlock (one of
 *                 the runtime's)
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/gsan.h"
#include "testsuite/rt/prog.h"

#undef cuGetProcAddress
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"      /* old programs still call that */

CUresult cuCtxCreate_v2(CUcontext *, unsigned int, CUdevice);   /* newer headers have another version alone */
extern pthread_mutex_t rt_lock;         /* the runtime's, rti.h */

#ifdef PLAIN                    /* without the runtime */
#pragma weak gsan_findings
#pragma weak gsan_finding
#pragma weak gsan_incomplete
#pragma weak gsan_finish
#pragma weak gsan_off
#pragma weak rt_lock
#endif

#ifdef WEAK                     /* with options of its own */
const char *__gsan_default_options(void)
{
	return "exitcode=5";
}

const char *__gsan_default_suppressions(void)
{
	return "race:^ring(\nrace_top:nobody\n";
}
#endif

static __typeof__(&cuDeviceGet) device_get = cuDeviceGet;
static __typeof__(&cuDevicePrimaryCtxRetain) retain = cuDevicePrimaryCtxRetain;
static __typeof__(&cuCtxSetCurrent) set_current = cuCtxSetCurrent;
static __typeof__(&cuCtxSynchronize) synchronize = cuCtxSynchronize;
static __typeof__(&cuMemAlloc_v2) mem_alloc = cuMemAlloc_v2;
static __typeof__(&cuModuleLoadData) load_data = cuModuleLoadData;
static __typeof__(&cuModuleGetFunction) get_function = cuModuleGetFunction;
static __typeof__(&cuLaunchKernel) launch = cuLaunchKernel;

static CUmodule module;
static CUlibrary library;
static bool functions;
CUdeviceptr last;
CUstream stream;
static CUevent event;
static CUcontext before;                /* that was current when one more was made */
static unsigned wide = 1, grid = 2, block = 32, rows = 1;
static enum { BY_PARAMS, BY_BUFFER, BY_CONFIG, COOPERATIVE } way;
static struct fake_work more;           /* that the next launch does */
static int open_now[2];
static bool may_fail;

void check(CUresult r, const char *what)
{
	if (r == CUDA_SUCCESS)
		return;
	printf("%s: %d\n", what, (int)r);
	if (!may_fail)
		exit(9);
}

void expect(bool good, const char *what)
{
	if (!good) {
		printf("not so: %s\n", what);
		exit(9);
	}
}

/* ---- launches ------------------------------------------------------------------------------------- */

void plan(struct run *r, const char *kernel)
{
	memset(r, 0, sizeof *r);
	r->grid[0] = grid;
	r->block[0] = block;
	r->block[1] = rows;
	r->grid[1] = r->grid[2] = r->block[2] = 1;
	if (!library) {
		CHECK(get_function(&r->f, module, kernel));
		return;
	}
	CHECK(cuLibraryGetKernel(&r->k, library, kernel));
	r->f = (CUfunction)r->k;
	if (functions) {
		CHECK(cuKernelGetFunction(&r->f, r->k));
		r->k = NULL;
	}
}

/* What a kernel is to do, as long as it may run: what `more` has beside its accesses. */
static uint64_t work(const struct fake_work *accesses)
{
	static struct kept { struct fake_work work; struct kept *next; } *all;
	/* Not the memory that malloc refuses (testsuite/faults/malloc.sh). */
	struct kept *k = mmap(NULL, sizeof *k, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	expect(k != MAP_FAILED, "memory for a kernel's work");
	k->work = more;
	k->work.fill_site = FILL_SITE;
	k->work.naccesses = accesses->naccesses;
	memcpy(k->work.access, accesses->access, sizeof k->work.access);
	k->next = all;
	all = k;
	memset(&more, 0, sizeof more);
	more.early = 1;
	return (uintptr_t)&k->work;
}

void plan_race(struct run *r, unsigned n)
{
	struct fake_work w = races[n].work;

	expect(n < RACES, "the number of a race");
	plan(r, races[n].kernel);
	memcpy(r->grid, races[n].grid, sizeof r->grid);
	memcpy(r->block, races[n].block, sizeof r->block);
	r->grid[0] *= wide;
	for (unsigned i = 0; i < w.naccesses; i++)
		if (!w.access[i].address)
			w.access[i].address = last ? last + 64 : (uintptr_t)&counter[1];
	r->arg = work(&w);
}

static void go(const struct run *r)
{
	struct region_launch nothing = { .magic = FAKE_NOTHING };
	uint64_t arg = r->arg;
	void *params[] = { &arg, &nothing };
	size_t size = sizeof arg;
	void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, &arg, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END };
	const unsigned *g = r->grid, *b = r->block;
	CUlaunchConfig config = { .gridDimX = g[0], .gridDimY = g[1], .gridDimZ = g[2], .blockDimX = b[0], .blockDimY = b[1],
				  .blockDimZ = b[2], .hStream = stream };

	if (way == BY_BUFFER)
		CHECK(launch(r->f, g[0], g[1], g[2], b[0], b[1], b[2], 0, stream, NULL, extra));
	else if (way == BY_CONFIG)
		CHECK(cuLaunchKernelEx(&config, r->f, params, NULL));
	else if (way == COOPERATIVE)
		CHECK(cuLaunchCooperativeKernel(r->f, g[0], g[1], g[2], b[0], b[1], b[2], 0, stream, params));
	else
		CHECK(launch(r->f, g[0], g[1], g[2], b[0], b[1], b[2], 0, stream, params, NULL));
}

static void run(const char *name)
{
	static const struct fake_work nothing;
	struct run r;

	plan(&r, name);
	r.arg = work(&nothing);
	go(&r);
}

/* On two devices at once, as far as the pretended driver cares. */
static void several(const char *name)
{
	static const struct fake_work nothing;
	struct run r;
	uint64_t arg = work(&nothing);
	void *params[] = { &arg, NULL };        /* none behind it, whatever the kernel has */
	CUDA_LAUNCH_PARAMS list[2];

	plan(&r, name);
	list[0] = list[1] = (CUDA_LAUNCH_PARAMS){
		.function = r.f, .gridDimX = r.grid[0], .gridDimY = 1, .gridDimZ = 1, .blockDimX = r.block[0], .blockDimY = 1,
		.blockDimZ = 1, .kernelParams = params
	};
	CHECK(cuLaunchCooperativeKernelMultiDevice(list, 2, 0));
}

static void race(unsigned n)
{
	struct run r;

	plan_race(&r, n);
	go(&r);
}

static unsigned late_race;

static void race_late(void)
{
	const bool ends = !more.gate;

	race(late_race);
	if (ends)
		CHECK(synchronize());
}

/* True: it was one of these. */
static bool launch_command(const char *c)
{
	char name[64];
	unsigned n;

	if (sscanf(c, "run:%63s", name) == 1)
		run(name);
	else if (sscanf(c, "several:%63s", name) == 1)
		several(name);
	else if (sscanf(c, "race:%u", &n) == 1)
		race(n);
	else if (sscanf(c, "late:%u", &late_race) == 1)
		expect(atexit(race_late) == 0, "atexit");
	else if (sscanf(c, "gate:%u", &n) == 1)
		more.gate = &open_now[n];
	else if (sscanf(c, "open:%u", &n) == 1)
		__atomic_store_n(&open_now[n], 1, __ATOMIC_RELEASE);
	else if (sscanf(c, "fill:%u", &n) == 1)
		more.fill = n;
	else if (sscanf(c, "lanes:%u", &n) == 1)
		more.lanes = n;
	else if (!strcmp(c, "early"))
		more.early = 2;
	else if (!strcmp(c, "deaf"))
		more.deaf = true;
	else if (sscanf(c, "wreck:%u", &n) == 1)
		more.damage = (enum fake_damage)n;
	else if (sscanf(c, "wide:%u", &n) == 1)
		wide = n;
	else if (sscanf(c, "grid:%u", &n) == 1)
		grid = n;
	else if (sscanf(c, "block:%u", &n) == 1)
		block = n;
	else if (sscanf(c, "rows:%u", &n) == 1)
		rows = n;
	else if (!strcmp(c, "extra"))
		way = BY_BUFFER;
	else if (!strcmp(c, "ex"))
		way = BY_CONFIG;
	else if (!strcmp(c, "coop"))
		way = COOPERATIVE;
	else
		return false;
	return true;
}

/* ---- commands -------------------------------------------------------------------------------------- */

static void find_as_runtime(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	CUresult (*first)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
	CUresult (*proc)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
	void *p = lib ? dlsym(lib, "cuGetProcAddress_v2") : NULL;

	if (!p || dlsym(lib, "cuMemAllocPitch_v2") || dlsym(lib, "cuNoSuchThing")) {
		printf("dlsym is wrong\n");
		exit(9);
	}
	memcpy(&first, &p, sizeof p);
	CHECK(first("cuGetProcAddress", &p, 13000, 0, NULL));
	memcpy(&proc, &p, sizeof p);
#define FIND(var, name) (CHECK(proc(name, &p, 13000, 0, NULL)), memcpy(&var, &p, sizeof p))
	FIND(device_get, "cuDeviceGet");
	FIND(retain, "cuDevicePrimaryCtxRetain");
	FIND(set_current, "cuCtxSetCurrent");
	FIND(synchronize, "cuCtxSynchronize");
	FIND(mem_alloc, "cuMemAlloc");
	FIND(load_data, "cuModuleLoadData");
	FIND(get_function, "cuModuleGetFunction");
	FIND(launch, "cuLaunchKernel");
	if (proc("cuNoSuchThing", &p, 13000, 0, NULL) == CUDA_SUCCESS || p)
		exit(9);
}

/* What goes wrong there goes wrong in silence. */
static void end_as_runtime(void)
{
	if (library)
		cuLibraryUnload(library);
	else if (module)
		cuModuleUnload(module);
	cuDevicePrimaryCtxRelease_v2(0);
}

static void use(int n)
{
	CUdevice d;
	CUcontext ctx;

	CHECK(device_get(&d, n));
	CHECK(retain(&ctx, d));
	CHECK(set_current(ctx));
}

static void in_child(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		/* Its own status counts, and the driver is passed through. */
		CUdeviceptr p;

		mem_alloc(&p, 4096);
		exit(5);
	}
	waitpid(pid, &status, 0);
	printf("child: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void list_findings(void)
{
	struct gsan_report r;

	for (size_t i = 0; i < gsan_findings(); i++) {
		expect(gsan_finding(i, &r) == 0, "gsan_finding");
		printf("%s %s:%u (%u) %s:%u (%u)%s\n", r.kind, r.now.file, r.now.line, r.now.ptx_line,
		       r.before.file, r.before.line, r.before.ptx_line, r.suppressed ? " suppressed" : "");
	}
	expect(gsan_finding(gsan_findings(), &r) == -1, "the end of the findings");
}

static void *in_thread(void *ctx)
{
	CUfunction f;
	CUdeviceptr p;
	uint64_t arg = 0;
	void *params[] = { &arg };

	CHECK(set_current(ctx));
	for (int i = 0; i < 50; i++) {
		CHECK(mem_alloc(&p, 100000));
		CHECK(get_function(&f, module, i % 2 ? "_Z4ringPi" : "flat"));
		CHECK(launch(f, 2, 1, 1, 32 + 32 * (unsigned)(i % 4), 1, 1, 0, NULL, params, NULL));
		if (i == 25) {
			arg = (uintptr_t)&races[2].work;
			CHECK(get_function(&f, module, "_Z4ringPi"));
			CHECK(launch(f, 2, 2, 1, 64, 1, 1, 0, NULL, params, NULL));
			arg = 0;
		}
		CHECK(synchronize());
		CHECK(cuMemFree_v2(p));
	}
	return NULL;
}

static pthread_barrier_t start;

/* The first use of the device and of the kernel by any thread is everybody's. */
static void *first_launch(void *ctx)
{
	struct run r;
	uint64_t arg = (uintptr_t)&races[2].work;
	void *params[] = { &arg, NULL };

	pthread_barrier_wait(&start);
	CHECK(set_current(ctx));
	plan(&r, races[2].kernel);
	CHECK(launch(r.f, 2, 2, 1, 64, 1, 1, 0, NULL, params, NULL));
	CHECK(synchronize());
	return NULL;
}

static void threads(int n, void *(*fn)(void *))
{
	pthread_t t[64];
	CUcontext ctx;
	CUdevice d;

	CHECK(device_get(&d, 0));
	CHECK(retain(&ctx, d));
	expect(n <= 64, "64 threads");
	pthread_barrier_init(&start, NULL, (unsigned)n);
	for (int i = 0; i < n; i++)
		expect(pthread_create(&t[i], NULL, fn, ctx) == 0, "pthread_create");
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

/* ---- ends ------------------------------------------------------------------------------------------ */

static void on_signal(int n)
{
	static const char text[] = "handled\n";

	(void)n;
	expect(write(STDOUT_FILENO, text, sizeof text - 1) > 0, "write");
}

static void child_exits(pid_t pid, int n)
{
	int status;

	if (pid == 0)
		_exit(n);
	waitpid(pid, &status, 0);
	printf("child: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void *hold(void *unused)
{
	(void)unused;
	flockfile(stderr);
	flockfile(stdout);
	for (;;)
		pause();
	return NULL;
}

/* True: it was one of these. */
static bool end(const char *c)
{
	unsigned n = 0;
	pthread_t t;

	if (sscanf(c, "_exit:%u", &n) == 1)
		_exit((int)n);
	else if (sscanf(c, "signal:%u", &n) == 1)
		raise((int)n);
	else if (sscanf(c, "handler:%u", &n) == 1)
		signal((int)n, on_signal);
	else if (sscanf(c, "child:%u", &n) == 1)
		child_exits(fork(), (int)n);
	else if (sscanf(c, "vchild:%u", &n) == 1)
		child_exits(vfork(), (int)n);
	else if (!strcmp(c, "lock"))
		expect(!pthread_create(&t, NULL, hold, NULL) && !usleep(20000), c);
	else if (!strcmp(c, "rtlock"))
		pthread_mutex_lock(&rt_lock);
	else if (!strcmp(c, "off"))
		gsan_off();
	else
		return false;
	return true;
}

static void show_params(void)
{
	struct run r;
	size_t offset, size, n = 0;

	plan(&r, "_Z4ringPi");
	while ((r.k ? cuKernelGetParamInfo(r.k, n, &offset, &size) : cuFuncGetParamInfo(r.f, n, &offset, &size)) == CUDA_SUCCESS)
		n++;
	printf("parameters: %zu\n", n);
}

static void one_more_context(void)
{
	CUcontext ctx;

	CHECK(cuCtxGetCurrent(&before));
	CHECK(cuCtxCreate_v2(&ctx, 0, 0));
	CHECK(cuCtxPopCurrent_v2(&ctx));
	CHECK(set_current(ctx));
}

static void destroy_context(void)
{
	CUcontext ctx;

	CHECK(cuCtxGetCurrent(&ctx));
	CHECK(cuCtxDestroy_v2(ctx));
	CHECK(set_current(before));
}

static void map(CUdeviceptr at)
{
	CHECK(cuMemAddressReserve(&last, 2 << 20, 0, at, 0));
	expect(last == at, "the address asked for");
	CHECK(cuMemMap(last, 2 << 20, 0, 1, 0));
}

#undef cuIpcOpenMemHandle
CUresult cuIpcOpenMemHandle(CUdeviceptr *, CUipcMemHandle, unsigned int);

static bool foreign(const char *c)
{
	CUDA_EXTERNAL_MEMORY_BUFFER_DESC part = { .offset = 0, .size = 0 };
	union { unsigned long long n; CUipcMemHandle ipc; CUmemPoolPtrExportData pool; } from = { .n = 0 };

	if (sscanf(c, "ipc:%llu", &from.n) == 1)
		CHECK(cuIpcOpenMemHandle_v2(&last, from.ipc, 0));
	else if (sscanf(c, "ipc-old:%llu", &from.n) == 1)
		CHECK(cuIpcOpenMemHandle(&last, from.ipc, 0));
	else if (!strcmp(c, "ipc-close"))
		CHECK(cuIpcCloseMemHandle(last));
	else if (sscanf(c, "import:%llu", &from.n) == 1)
		CHECK(cuMemPoolImportPointer(&last, NULL, &from.pool));
	else if (sscanf(c, "external:%llu", &part.size) == 1)
		CHECK(cuExternalMemoryGetMappedBuffer(&last, NULL, &part));
	else
		return false;
	return true;
}

static bool memory_command(const char *c)
{
	unsigned long long n;

	if (sscanf(c, "alloc:%llu", &n) == 1) {
		CHECK(mem_alloc(&last, n));
		printf("at 0x%llx\n", (unsigned long long)last);
	} else if (sscanf(c, "host:%llu", &n) == 1) {
		void *p;

		CHECK(cuMemHostAlloc(&p, n, 0));
		last = (uintptr_t)p;
	} else if (!strcmp(c, "free")) {
		CHECK(cuMemFree_v2(last));
	} else if (!strcmp(c, "copy")) {
		CHECK(cuMemcpyDtoH_v2(&n, last, sizeof n));
	} else if (sscanf(c, "map:%lli", (long long *)&n) == 1) {
		map(n);
	} else if (sscanf(c, "unmap:%lli", (long long *)&n) == 1) {
		CHECK(cuMemUnmap(n, 2 << 20));
	} else {
		return foreign(c);
	}
	return true;
}

static bool context_command(const char *c)
{
	int n;

	if (sscanf(c, "use:%d", &n) == 1)
		use(n);
	else if (!strcmp(c, "context"))
		one_more_context();
	else if (!strcmp(c, "destroy"))
		destroy_context();
	else if (!strcmp(c, "release"))
		CHECK(cuDevicePrimaryCtxRelease_v2(0));
	else if (!strcmp(c, "reset"))
		CHECK(cuDevicePrimaryCtxReset_v2(0));
	else if (!strcmp(c, "sync"))
		CHECK(synchronize());
	else if (!strcmp(c, "stream"))
		CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	else if (!strcmp(c, "null"))
		stream = NULL;
	else if (!strcmp(c, "stream-sync"))
		CHECK(cuStreamSynchronize(stream));
	else if (!strcmp(c, "event"))
		CHECK(cuEventCreate(&event, 0) ? CUDA_ERROR_UNKNOWN : cuEventRecord(event, stream));
	else if (!strcmp(c, "event-sync"))
		CHECK(cuEventSynchronize(event));
	else
		return false;
	return true;
}

static bool module_command(const char *c)
{
	if (!strcmp(c, "load"))
		CHECK(load_data(&module, &image));
	else if (!strcmp(c, "linked"))
		CHECK(load_data(&module, &linked));
	else if (!strcmp(c, "bare"))
		CHECK(load_data(&module, &bare));
	else if (!strcmp(c, "other"))
		CHECK(load_data(&module, &other));
	else if (!strcmp(c, "library"))
		CHECK(cuLibraryLoadData(&library, &image, NULL, NULL, 0, NULL, NULL, 0));
	else if (!strcmp(c, "functions"))
		functions = true;
	else if (!strcmp(c, "unload"))
		CHECK(library ? cuLibraryUnload(library) : cuModuleUnload(module));
	else if (!strcmp(c, "whole"))
		unit.left_out = 0;
	else if (!strcmp(c, "params"))
		show_params();
	else
		return false;
	return true;
}

static void command(const char *c)
{
	int n;

	if (!strcmp(c, "proc"))
		find_as_runtime();
	else if (!strcmp(c, "cudart"))
		expect(atexit(end_as_runtime) == 0, "atexit");
	else if (!strcmp(c, "mayfail"))
		may_fail = true;
	else if (sscanf(c, "threads:%d", &n) == 1)
		threads(n, in_thread);
	else if (sscanf(c, "first:%d", &n) == 1)
		threads(n, first_launch);
	else if (!strcmp(c, "fork"))
		in_child();
	else if (!strcmp(c, "init"))
		printf("cuInit: %d\n", (int)cuInit(0));
	else if (sscanf(c, "sleep:%d", &n) == 1)
		usleep((useconds_t)n * 1000);
	else if (sscanf(c, "exit:%d", &n) == 1)
		exit(n);
	else if (!strcmp(c, "quick"))
		quick_exit(4);
	else if (!strcmp(c, "findings"))
		list_findings();
	else if (!strcmp(c, "incomplete"))
		printf("incomplete: %d\n", gsan_incomplete());
	else if (!strcmp(c, "finish"))
		printf("finish: %d\n", gsan_finish());
	else
		expect(launch_command(c) || memory_command(c) || context_command(c) || module_command(c) || graph_command(c) ||
		       end(c), c);
}

#ifndef PLAIN
/* GSAN_TEST_THREAD=N: the N-th thread cannot be made. */
int pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	static int made;
	const char *fails = getenv("GSAN_TEST_THREAD");
	void *p;

	if (!real) {
		p = dlsym(RTLD_NEXT, "pthread_create");
		memcpy(&real, &p, sizeof p);
	}
	if (fails && __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED) == atoi(fails))
		return EAGAIN;
	return real(t, attr, fn, arg);
}
#endif

static void handler(void)
{
	printf("handler ran\n");
}

int main(int argc, char **argv)
{
	atexit(handler);
	more.early = 1;
	for (int i = 1; i < argc; i++)
		command(argv[i]);
	return 3;
}
