/* SPDX-License-Identifier: Apache-2.0
 *
 * prog.c: a program that uses the driver as its arguments say, one after the
 * other.  It has libgsan in it (unless PLAIN), and fake.c's driver under it.
 *
 *   cudart        at exit, unload and release as the CUDA runtime does
 *   proc          find the driver as the CUDA runtime does: dlopen, dlsym,
 *                 cuGetProcAddress; else by name
 *   use:N         retain and use device N's primary context
 *   load, bare    load an instrumented module, one that is not
 *   library       load the instrumented one as a library; kernels are launched as
 *                 kernels, or, after `functions`, as functions
 *   graph:NAME:N  a graph of N such kernels, launched twice
 *   run:NAME[:N]  launch a kernel with that number as its parameter
 *   race:N        launch race with the N-th finding below
 *   block:N       launches from here on have N threads
 *   stream        ... and go to a new stream; stream-sync waits for it
 *   alloc:BYTES, free, host:BYTES    memory; the addresses are printed
 *   map:ADDRESS   cuMemMap of 2 MiB there
 *   shadow:OFFSET:yes|no             is the last allocation's byte watched?
 *   dirty         write a record for the last allocation; clean: it must be gone
 *   slots:BYTES:N shared memory of that many bytes has shadow for N slots
 *   threads:N     so many threads allocate, launch, wait and free at once
 *   init          cuInit; what it returns is printed
 *   sync, release, reset, unload, fork, sleep:MS, exit:N, quick, findings, finish, off
 *   _exit:N, signal:N, handler:N (says so), child:N and vchild:N (a child of fork, of
 *                 vfork, that calls _exit), lock (stdio's locks are held), rtlock (one of
 *                 the runtime's)
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda.h>

#include "rt/abi.h"
#include "rt/gsan.h"
#include "testsuite/rt/fake.h"

#undef cuGetProcAddress

extern pthread_mutex_t rt_lock;         /* the runtime's, rti.h */

#ifdef PLAIN                    /* without the runtime */
#pragma weak gsan_findings
#pragma weak gsan_finding
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

#define CHECK(call) check((call), #call)

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
static CUdeviceptr last;
static unsigned block = 32;             /* threads of a block */
static CUstream stream;
static bool may_fail;

static void check(CUresult r, const char *what)
{
	if (r == CUDA_SUCCESS)
		return;
	printf("%s: %d\n", what, (int)r);
	if (!may_fail)
		exit(9);
}

/* ---- what the module carries ------------------------------------------------------------------ */

static const char strings[] =
	"\0_Z8producerPi\0_Z8consumerPi\0_Z4ringPi\0/src/ring.cu\0/src/ring.ptx\0st.global.u32\0"
	"counter\0tile\0entry\0race\0again\0lost\0hang\0die\0ld.global.u32";
enum { NONE = 0, PRODUCER = 1, CONSUMER = 15, RING = 29, CU = 39, PTX = 52, OP = 66, COUNTER = 80,
       TILE = 88, ENTRY = 93, RACE = 99, AGAIN = 104, LOST = 110, HANG = 115, DIE = 120, LOAD = 124 };

static unsigned counter[4];

static const struct gsan_site sites[] = {
	{ RING, 100, CU, 60, ENTRY, NONE, 0, 0 },
	{ PRODUCER, 118, CU, 41, OP, NONE, 1, GSAN_INFO_WRITE | 4 },
	{ CONSUMER, 203, CU, 57, LOAD, NONE, 0, GSAN_INFO_READ | 4 },
	{ PRODUCER, 119, NONE, 0, OP, TILE, 0, GSAN_INFO_WRITE | GSAN_GPU << GSAN_INFO_LEVEL_SHIFT | 4 },
	{ CONSUMER, 204, CU, 57, LOAD, NONE, 0, GSAN_INFO_READ | 4 },
	{ RACE, 300, NONE, 0, ENTRY, NONE, 0, 0 }, { AGAIN, 310, NONE, 0, ENTRY, NONE, 0, 0 },
	{ LOST, 320, NONE, 0, ENTRY, NONE, 0, 0 }, { HANG, 330, NONE, 0, ENTRY, NONE, 0, 0 },
	{ DIE, 340, NONE, 0, ENTRY, NONE, 0, 0 },
};

static const struct gsan_frame frames[] = { { CONSUMER, CU, 70, 2 }, { RING, CU, 90, 0 } };

static struct gsan_global globals[] = {
	{ 0, sizeof counter, COUNTER, 0 },
	{ 0, 1024, TILE, 1 },
};

static struct gsan_module table = {
	.abi = GSAN_ABI, .nsites = sizeof sites / sizeof *sites, .nframes = 2, .nglobals = 2,
	.nstrings = sizeof strings, .path = PTX, .unmodelled = 2, .missed = 3,
};

static const char *const kernels[] = { "__gsan_v1_init_0123456789abcdef", "_Z4ringPi", "race", "again",
	"lost", "hang", "die", "_Z4leftPi" };
static const char *const bare_kernels[] = { "_Z4copyPi" };
static const char *const other_kernels[] = { "__gsan_v9_init_0123456789abcdef", "_Z4ringPi" };

static struct fake_image image = { kernels, sizeof kernels / sizeof *kernels, &table, 512 };
static const struct fake_image bare = { bare_kernels, 1, NULL, 0 };
static const struct fake_image other = { other_kernels, 2, NULL, 0 };

static void fill_table(void)
{
	globals[0].addr = (uintptr_t)counter;
	table.sites = (uintptr_t)sites;
	table.frames = (uintptr_t)frames;
	table.globals = (uintptr_t)globals;
	table.strings = (uintptr_t)strings;
}

/* Numbers of sites start at 1. */
static struct gsan_finding findings[] = {
	{ .kind = GSAN_DATA_RACE, .why = GSAN_WHY_OTHER_BLOCK, .launch = 1, .kernel = 1,
	  .grid = { 2, 1, 1 }, .block = { 8, 4, 1 },
	  .now = { .site = 2, .kind = GSAN_KIND_WRITE, .bytes = 0xf, .thread = 11, .block = 1 },
	  .before = { .site = 3, .kind = 0, .bytes = 0xf, .thread = 0, .block = 0 } },
	/* the same source lines from other PTX lines */
	{ .kind = GSAN_DATA_RACE, .why = GSAN_WHY_OTHER_BLOCK, .launch = 1, .kernel = 1,
	  .grid = { 2, 1, 1 }, .block = { 8, 4, 1 },
	  .now = { .site = 5, .kind = 0, .bytes = 0xf, .thread = 0, .block = 0 },
	  .before = { .site = 2, .kind = GSAN_KIND_WRITE, .bytes = 0xf, .thread = 11, .block = 1 } },
	/* shared memory, one side without a source line */
	{ .kind = GSAN_DATA_RACE, .why = GSAN_WHY_SAME_BLOCK, .shared = 1, .addr = 0x46, .launch = 2,
	  .kernel = 1, .grid = { 2, 2, 1 }, .block = { 64, 1, 1 },
	  .now = { .site = 4, .kind = GSAN_GPU << 1 | 1, .bytes = 0xf0, .thread = 40, .block = 3 },
	  .before = { .site = 3, .kind = GSAN_KIND_WARP_READ, .bytes = 0xc0, .thread = 0, .block = 3 } },
	/* sites that cannot have left such records: of another size, of a load that writes */
	{ .kind = GSAN_DATA_RACE, .why = GSAN_WHY_SAME_BLOCK, .shared = 1, .addr = 0x46, .launch = 2,
	  .kernel = 1, .grid = { 2, 2, 1 }, .block = { 64, 1, 1 },
	  .now = { .site = 2, .kind = GSAN_KIND_WRITE, .bytes = 0xf0, .thread = 40, .block = 3 },
	  .before = { .site = 3, .kind = 0, .bytes = 0xc0, .thread = 0, .block = 3 } },
	{ .kind = GSAN_DATA_RACE, .why = GSAN_WHY_SAME_BLOCK, .shared = 1, .addr = 0x46, .launch = 2,
	  .kernel = 1, .grid = { 2, 2, 1 }, .block = { 64, 1, 1 },
	  .now = { .site = 2, .kind = GSAN_KIND_WRITE, .bytes = 0xf0, .thread = 40, .block = 3 },
	  .before = { .site = 3, .kind = GSAN_KIND_WRITE, .bytes = 0xf0, .thread = 0, .block = 3 } },
};

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

static CUfunction find(const char *name)
{
	CUfunction f;
	CUkernel k;

	if (!library) {
		CHECK(get_function(&f, module, name));
		return f;
	}
	CHECK(cuLibraryGetKernel(&k, library, name));
	if (!functions)
		return (CUfunction)k;
	CHECK(cuKernelGetFunction(&f, k));
	return f;
}

static void graph(const char *name, int n)
{
	uint64_t arg = 0;
	void *params[] = { &arg };
	CUDA_KERNEL_NODE_PARAMS p = { .gridDimX = 2, .gridDimY = 1, .gridDimZ = 1, .blockDimX = block,
		.blockDimY = 1, .blockDimZ = 1, .kernelParams = params };
	CUgraphNode node;
	CUgraph g;
	CUgraphExec exec;

	if (library && !functions)
		p.kern = (CUkernel)find(name);
	else
		p.func = find(name);
	CHECK(cuGraphCreate(&g, 0));
	for (int i = 0; i < n; i++)
		CHECK(cuGraphAddKernelNode(&node, g, NULL, 0, &p));
	CHECK(cuGraphInstantiateWithFlags(&exec, g, 0));
	CHECK(cuGraphLaunch(exec, stream));
	CHECK(cuGraphLaunch(exec, stream));
}

static void run(const char *name, uint64_t arg)
{
	void *params[] = { &arg };
	CUfunction f = find(name);

	CHECK(launch(f, 2, 1, 1, block, 1, 1, 0, stream, params, NULL));
}

static bool watched(CUdeviceptr at)
{
	const uint64_t unit = (at & GSAN_WINDOW) / GSAN_UNIT;

	return ((const uint32_t *)GSAN_MAP)[unit / 32] >> unit % 32 & 1;
}

static uint64_t *record(CUdeviceptr at)
{
	return (uint64_t *)(uintptr_t)(GSAN_SHADOW + (at & GSAN_WINDOW & ~UINT64_C(7)) * 4);
}

static void expect(bool good, const char *what)
{
	if (!good) {
		printf("not so: %s\n", what);
		exit(9);
	}
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

static void *work(void *ctx)
{
	CUfunction f;
	CUdeviceptr p;
	uint64_t arg = 0;
	void *params[] = { &arg };

	CHECK(set_current(ctx));
	for (int i = 0; i < 50; i++) {
		CHECK(mem_alloc(&p, 100000));
		CHECK(get_function(&f, module, i % 2 ? "_Z4ringPi" : "again"));
		CHECK(launch(f, 2, 1, 1, 32 + 32 * (unsigned)(i % 4), 1, 1, 0, NULL, params, NULL));
		if (i == 25) {
			arg = (uintptr_t)&findings[2];
			CHECK(get_function(&f, module, "race"));
			CHECK(launch(f, 2, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
			arg = 0;
		}
		CHECK(synchronize());
		CHECK(cuMemFree_v2(p));
	}
	return NULL;
}

static void threads(int n)
{
	pthread_t t[64];
	CUcontext ctx;
	CUdevice d;

	CHECK(device_get(&d, 0));
	CHECK(retain(&ctx, d));
	expect(n <= 64, "64 threads");
	for (int i = 0; i < n; i++)
		expect(pthread_create(&t[i], NULL, work, ctx) == 0, "pthread_create");
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

static void command(const char *c)
{
	char name[64] = "";
	unsigned long long n = 0;
	char word[8] = "";

	if (!strcmp(c, "proc"))
		find_as_runtime();
	else if (!strcmp(c, "cudart"))
		expect(atexit(end_as_runtime) == 0, "atexit");
	else if (!strcmp(c, "mayfail"))
		may_fail = true;
	else if (sscanf(c, "use:%llu", &n) == 1)
		use((int)n);
	else if (!strcmp(c, "load"))
		CHECK(load_data(&module, &image));
	else if (!strcmp(c, "library"))
		CHECK(cuLibraryLoadData(&library, &image, NULL, NULL, 0, NULL, NULL, 0));
	else if (!strcmp(c, "functions"))
		functions = true;
	else if (sscanf(c, "graph:%63[^:]:%llu", name, &n) == 2)
		graph(name, (int)n);
	else if (!strcmp(c, "bare"))
		CHECK(load_data(&module, &bare));
	else if (!strcmp(c, "other"))
		CHECK(load_data(&module, &other));
	else if (sscanf(c, "run:%63[^:]:%llu", name, &n) >= 1)
		run(name, n);
	else if (sscanf(c, "race:%llu", &n) == 1) {
		if (!findings[n].shared)
			findings[n].addr = last ? last + 64 : (uintptr_t)&counter[1];
		run("race", (uintptr_t)&findings[n]);
	} else if (sscanf(c, "alloc:%llu", &n) == 1) {
		CHECK(mem_alloc(&last, n));
		printf("at 0x%llx\n", (unsigned long long)last);
	} else if (sscanf(c, "host:%llu", &n) == 1) {
		void *p;

		CHECK(cuMemHostAlloc(&p, n, 0));
		last = (uintptr_t)p;
	} else if (sscanf(c, "block:%llu", &n) == 1)
		block = (unsigned)n;
	else if (!strcmp(c, "stream"))
		CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	else if (!strcmp(c, "stream-sync"))
		CHECK(cuStreamSynchronize(stream));
	else if (!strcmp(c, "free"))
		CHECK(cuMemFree_v2(last));
	else if (sscanf(c, "map:%lli", (long long *)&n) == 1) {
		CUdeviceptr p;

		CHECK(cuMemAddressReserve(&p, 2 << 20, 0, n, 0));
		expect(p == n, "the address asked for");
		CHECK(cuMemMap(p, 2 << 20, 0, 1, 0));
		last = p;
	} else if (sscanf(c, "unmap:%lli", (long long *)&n) == 1)
		CHECK(cuMemUnmap(n, 2 << 20));
	else if (sscanf(c, "shadow:%lli:%7s", (long long *)&n, word) == 2) {
		expect(watched(last + n) == !strcmp(word, "yes"), c);
		if (!strcmp(word, "yes"))
			expect(*record(last + n) == 0, "no record");
	} else if (!strcmp(c, "dirty"))
		*record(last) = 1;
	else if (!strcmp(c, "clean"))
		expect(*record(last) == 0, "no record");
	else if (sscanf(c, "slots:%llu:%7s", &n, word) == 2) {
		const struct gsan_root *root = (const struct gsan_root *)GSAN_ROOT;
		const uint64_t row = (n - 1) / 8192, slots = strtoull(word, NULL, 0);

		expect(root->shared_slots[row] == slots, c);
		if (slots)
			expect(*(uint64_t *)(uintptr_t)(GSAN_SHADOW_SHARED +
				(((row + 1) * root->nslots - root->nslots + slots - 1) << 15)) == 0, c);
	} else if (sscanf(c, "clock:%llu", &n) == 1)
		((struct gsan_root *)GSAN_ROOT)->max_clock = (uint32_t)n;
	else if (!strcmp(c, "clock"))
		printf("clock %u\n", ((struct gsan_root *)GSAN_ROOT)->max_clock);
	else if (sscanf(c, "threads:%llu", &n) == 1)
		threads((int)n);
	else if (!strcmp(c, "sync"))
		CHECK(synchronize());
	else if (!strcmp(c, "release"))
		CHECK(cuDevicePrimaryCtxRelease_v2(0));
	else if (!strcmp(c, "reset"))
		CHECK(cuDevicePrimaryCtxReset_v2(0));
	else if (!strcmp(c, "unload"))
		CHECK(library ? cuLibraryUnload(library) : cuModuleUnload(module));
	else if (!strcmp(c, "fork"))
		in_child();
	else if (!strcmp(c, "init"))
		printf("cuInit: %d\n", (int)cuInit(0));
	else if (sscanf(c, "sleep:%llu", &n) == 1)
		usleep((useconds_t)n * 1000);
	else if (sscanf(c, "exit:%llu", &n) == 1)
		exit((int)n);
	else if (!strcmp(c, "quick"))
		quick_exit(4);
	else if (!strcmp(c, "findings"))
		list_findings();
	else if (!strcmp(c, "finish"))
		printf("finish: %d\n", gsan_finish());
	else
		expect(end(c), c);
}

static void handler(void)
{
	printf("handler ran\n");
}

int main(int argc, char **argv)
{
	fill_table();
	atexit(handler);
	for (int i = 1; i < argc; i++)
		command(argv[i]);
	return 3;
}
