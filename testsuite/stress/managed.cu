// SPDX-License-Identifier: Apache-2.0
//
// managed.cu: what a driver makes of managed memory whose pages the host has protected, as gsan does to see who touches it
// (doc/design/host.md, "What the host touches").  Plain CUDA, without gsan:
//
//     nvcc -std=c++17 -arch=sm_90 -o managed managed.cu && ./managed [POINT]...
//
// Each point is a process of its own, and one line: right, wrong or how it ended.  Status 1 if one that gsan relies on is not
// right; the others, in brackets, are what it keeps clear of.
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(call) \
	do { \
		cudaError_t check_error = (call); \
		if (check_error != cudaSuccess) { \
			printf("line %d: %s", __LINE__, cudaGetErrorString(check_error)); \
			exit(1); \
		} \
	} while (0)
#define HOLDS(that) \
	do { \
		if (!(that)) { \
			printf("line %d: not %s", __LINE__, #that); \
			exit(1); \
		} \
	} while (0)

static const size_t piece = 2 << 20, page = 4096, words = piece / sizeof(int);

// ---- kernels: word i becomes v + i -------------------------------------------------------------------------------------

__global__ void fill(int *a, size_t n, int v)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		a[i] = v + (int)i;
}

__global__ void add(int *a, size_t n, int v, bool system)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		system ? atomicAdd_system(&a[i], v) : atomicAdd(&a[i], v);
}

// The same for a tenth of a second.
__global__ void fill_on(int *a, size_t n, int v)
{
	for (int k = 0; k < 1000; k++) {
		a[k % n] = v + (int)(k % n);
		__nanosleep(100000);
	}
	for (size_t i = threadIdx.x; i < n; i += blockDim.x)
		a[i] = v + (int)i;
}

// Adds 1 as often, with a nap behind each.
__global__ void count_on(int *a, int times, bool system)
{
	for (int k = 0; k < times; k++) {
		system ? atomicAdd_system(a, 1) : atomicAdd(a, 1);
		__nanosleep(10000);
	}
}

static bool is_filled(const int *a, size_t n, int v)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != v + (int)i)
			return false;
	return true;
}

// ---- guards ----------------------------------------------------------------------------------------------------------------

static uintptr_t guarded, guarded_end;
static size_t step;                             // that many bytes are let go at a fault
static volatile int faults;

static void protect(void *p, size_t n, int how)
{
	HOLDS(!mprotect(p, n, how));
}

static void on_fault(int, siginfo_t *info, void *)
{
	const uintptr_t at = (uintptr_t)info->si_addr, from = at - at % step;

	faults = faults + 1;
	if (at < guarded || at >= guarded_end || mprotect((void *)(from > guarded ? from : guarded),
	    (from + step < guarded_end ? from + step : guarded_end) - (from > guarded ? from : guarded), PROT_READ | PROT_WRITE))
		signal(SIGSEGV, SIG_DFL);
}

static void guard(void *p, size_t n, size_t at_a_time)
{
	struct sigaction a = {};

	a.sa_sigaction = on_fault;
	a.sa_flags = SA_SIGINFO;
	sigaction(SIGSEGV, &a, NULL);
	guarded = (uintptr_t)p;
	guarded_end = guarded + n;
	step = at_a_time;
	protect(p, n, PROT_NONE);
}

static void let_go()
{
	protect((void *)guarded, guarded_end - guarded, PROT_READ | PROT_WRITE);
}

static int *managed(size_t bytes)
{
	int *p;

	CHECK(cudaMallocManaged(&p, bytes));
	return p;
}

static int mappings()
{
	FILE *f = fopen("/proc/self/maps", "r");
	int n = 0;

	for (int c; f && (c = getc(f)) != EOF; )
		n += c == '\n';
	return n;
}

static double milliseconds(int *a, size_t n)
{
	cudaEvent_t begin, end;
	float ms;

	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	CHECK(cudaEventRecord(begin));
	fill<<<256, 256>>>(a, n, 1);
	CHECK(cudaEventRecord(end));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaEventElapsedTime(&ms, begin, end));
	return ms;
}

// ---- points ------------------------------------------------------------------------------------------------------------------

static void whole()
{
	int *a = managed(piece), v;

	fill_on<<<1, 64>>>(a, words, 1);
	guard(a, piece, piece);
	v = ((volatile int *)a)[63];
	HOLDS(v == 64 || v == 0);
	HOLDS(faults == 1);
	CHECK(cudaDeviceSynchronize());
	HOLDS(is_filled(a, words, 1));
}

static void launched_guarded()
{
	int *a = managed(piece);

	fill<<<64, 64>>>(a, words, 1);
	CHECK(cudaDeviceSynchronize());
	guard(a, piece, piece);
	fill<<<64, 64>>>(a, words, 2);
	CHECK(cudaDeviceSynchronize());
	HOLDS(is_filled(a, words, 2) && faults == 1);
}

// The device faults on pages that are the host's, and guarded.
static void device_faults()
{
	int *a = managed(4 * piece);

	memset(a, 1, 4 * piece);
	guard(a, 4 * piece, piece);
	fill<<<64, 64>>>(a, 4 * words, 3);
	CHECK(cudaDeviceSynchronize());
	HOLDS(is_filled(a, 4 * words, 3) && faults == 4);
}

static void device_adds(bool system)
{
	int *a = managed(piece);

	for (size_t i = 0; i < words; i++)
		a[i] = (int)i;
	guard(a, piece, piece);
	add<<<64, 64>>>(a, words, 5, system);
	CHECK(cudaDeviceSynchronize());
	HOLDS(is_filled(a, words, 5) && faults == 1);
}

static void adds() { device_adds(false); }
static void adds_of_the_system() { device_adds(true); }

// The first read of a page, and a write behind it, while it has been guarded again.
static void writes()
{
	int *a = managed(2 * piece);

	fill<<<64, 64>>>(a, 2 * words, 1);
	CHECK(cudaDeviceSynchronize());
	guard(a, 2 * piece, piece);
	fill_on<<<1, 64>>>(a, words, 4);
	HOLDS(((volatile int *)a)[words + 7] == (int)words + 8);
	protect(a, 2 * piece, PROT_NONE);
	((volatile int *)a)[words + 7] = 9;
	protect(a, 2 * piece, PROT_NONE);
	((volatile int *)a)[words + 8] = 10;
	CHECK(cudaDeviceSynchronize());
	HOLDS(faults == 3);
	let_go();
	HOLDS(a[words + 7] == 9 && a[words + 8] == 10 && is_filled(a, words, 4));
	fill<<<64, 64>>>(a, 2 * words, 6);
	CHECK(cudaDeviceSynchronize());
	HOLDS(is_filled(a, 2 * words, 6));
}

// Guarded a thousand times: in pieces there are no more mappings.
static void again_and_again()
{
	int *a = managed(4 * piece), before;

	fill<<<64, 64>>>(a, 4 * words, 1);
	CHECK(cudaDeviceSynchronize());
	guard(a, 4 * piece, piece);
	before = mappings();
	for (int i = 0; i < 1000; i++) {
		protect(a, 4 * piece, PROT_NONE);
		((volatile int *)a)[i * 1001 % (4 * words)] += 0;
	}
	HOLDS(faults == 1000);
	let_go();
	HOLDS(is_filled(a, 4 * words, 1));
	HOLDS(mappings() <= before + 8);
}

// The host reads under guards what the device adds to, both at once.
static void thrash(bool system)
{
	const int times = 20000;
	int *a = managed(piece), last = 0;

	*a = 0;
	guard(a, piece, piece);
	count_on<<<1, 1>>>(a, times, system);
	while (cudaStreamQuery(0) == cudaErrorNotReady) {
		const int now = *(volatile int *)a;

		HOLDS(now >= last);
		last = now;
		protect(a, piece, PROT_NONE);
	}
	CHECK(cudaDeviceSynchronize());
	HOLDS(*a == times);
}

static void thrashes() { thrash(false); }
static void thrashes_of_the_system() { thrash(true); }

// Two small allocations: the pages of the first are guarded.
static void neighbours()
{
	int *a = managed(page), *b = managed(page), *c = (uintptr_t)a < (uintptr_t)b ? a : b, *d = a == c ? b : a;

	fill_on<<<1, 64>>>(c, page / 4, 1);
	fill_on<<<1, 64>>>(d, page / 4, 2);
	guard((void *)((uintptr_t)c / page * page), page, page);
	(void)((volatile int *)d)[5];
	(void)((volatile int *)c)[5];
	CHECK(cudaDeviceSynchronize());
	HOLDS(faults >= 1);
	HOLDS(is_filled(c, page / 4, 1) && is_filled(d, page / 4, 2));
	printf("%s2 MiB, ", (uintptr_t)a / piece == (uintptr_t)b / piece ? "in the same " : "not in the same ");
}

static void one_page()
{
	int *a = managed(piece);

	fill_on<<<1, 64>>>(a, words, 1);
	guard(a + 16 * page / 4, page, page);
	(void)((volatile int *)a)[5];
	HOLDS(faults == 0);
	(void)((volatile int *)a)[16 * page / 4 + 5];
	CHECK(cudaDeviceSynchronize());
	HOLDS(faults == 1 && is_filled(a, words, 1));
}

static void page_by_page()
{
	int *a = managed(piece), before = mappings();
	double ms[2];

	fill<<<256, 256>>>(a, words, 1);
	CHECK(cudaDeviceSynchronize());
	ms[0] = milliseconds(a, words);
	guard(a, piece, page);
	fill<<<64, 64>>>(a, words, 1);
	for (size_t i = 0; i < words; i += 2 * page / 4)
		(void)((volatile int *)a)[i];
	CHECK(cudaDeviceSynchronize());
	HOLDS(faults == (int)(piece / page / 2));
	let_go();
	HOLDS(is_filled(a, words, 1));
	fill<<<256, 256>>>(a, words, 1);
	ms[1] = milliseconds(a, words);
	HOLDS(is_filled(a, words, 1));
	printf("%d more mappings, a fill takes %.3f ms, and %.3f ms before, ", mappings() - before, ms[1], ms[0]);
}

static cudaError_t prefetch(int *a, size_t n, bool to_host)
{
#if CUDART_VERSION < 13000
	return cudaMemPrefetchAsync(a, n, to_host ? cudaCpuDeviceId : 0, 0);
#else
	return cudaMemPrefetchAsync(a, n, cudaMemLocation{to_host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, 0}, 0, 0);
#endif
}

static void prefetched(bool to_host)
{
	int *a = managed(piece);

	fill<<<64, 64>>>(a, words, 1);
	CHECK(cudaDeviceSynchronize());
	if (!to_host)
		memset(a, 1, piece);
	guard(a, piece, piece);
	if (!to_host)
		CHECK(prefetch(a, piece, to_host));
	fill<<<64, 64>>>(a, words, 2);
	if (to_host)
		CHECK(prefetch(a, piece, to_host));
	CHECK(cudaDeviceSynchronize());
	HOLDS(is_filled(a, words, 2));
}

static void to_the_device() { prefetched(false); }
static void to_the_host() { prefetched(true); }

// By the driver, which may fault itself.
static void copies()
{
	int *a = managed(piece), *d, *h = (int *)malloc(piece), at_copy;

	CHECK(cudaMalloc(&d, piece));
	fill<<<64, 64>>>(a, words, 1);
	CHECK(cudaDeviceSynchronize());
	guard(a, piece, piece);
	CHECK(cudaMemcpyAsync(d, a, piece, cudaMemcpyDefault, 0));
	CHECK(cudaMemcpy(h, a, piece, cudaMemcpyDefault));
	HOLDS(is_filled(h, words, 1));
	protect(a, piece, PROT_NONE);
	CHECK(cudaMemset(a, 0, piece));
	CHECK(cudaMemcpyAsync(a, d, piece, cudaMemcpyDefault, 0));
	CHECK(cudaDeviceSynchronize());
	at_copy = faults;
	HOLDS(is_filled(a, words, 1));
	for (size_t i = 0; i < words; i++)
		h[i] = 3 + (int)i;
	protect(a, piece, PROT_NONE);
	CHECK(cudaMemcpy(a, h, piece, cudaMemcpyDefault));
	at_copy += faults - at_copy - 1;
	HOLDS(is_filled(a, words, 3));
	printf("%d faults in copies, ", at_copy);
}

static void free_guarded()
{
	int *a = managed(piece);

	fill<<<64, 64>>>(a, words, 1);
	CHECK(cudaDeviceSynchronize());
	guard(a, piece, piece);
	CHECK(cudaFree(a));
	a = managed(piece);
	fill<<<64, 64>>>(a, words, 2);
	CHECK(cudaDeviceSynchronize());
	HOLDS(is_filled(a, words, 2));
}

static void system_call()
{
	int *a = managed(piece), fd = open("/dev/zero", O_RDONLY);

	fill<<<64, 64>>>(a, words, 1);
	CHECK(cudaDeviceSynchronize());
	guard(a, piece, piece);
	HOLDS(read(fd, a, page) < 0 && errno == EFAULT);
	let_go();
	HOLDS(read(fd, a, page) == (ssize_t)page && a[0] == 0);
}

// ---- all of them ---------------------------------------------------------------------------------------------------------------

static const struct { const char *name; bool relied; void (*run)(); } points[] = {
	{"whole", true, whole}, {"launched_guarded", true, launched_guarded}, {"device_faults", true, device_faults},
	{"adds", true, adds}, {"adds_of_the_system", true, adds_of_the_system}, {"writes", true, writes},
	{"again_and_again", true, again_and_again}, {"thrashes", true, thrashes},
	{"thrashes_of_the_system", false, thrashes_of_the_system}, {"neighbours", true, neighbours},
	{"to_the_device", true, to_the_device}, {"copies", true, copies}, {"system_call", true, system_call},
	{"one_page", false, one_page}, {"page_by_page", false, page_by_page}, {"to_the_host", false, to_the_host},
	{"free_guarded", false, free_guarded}
};

static void about()
{
	char version[256] = "";
	FILE *f = fopen("/proc/driver/nvidia/version", "r");
	int concurrent = 0, tables = 0, driver = 0;

	if (f && !fgets(version, sizeof version, f))
		*version = 0;
	cudaDriverGetVersion(&driver);
	cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, 0);
	cudaDeviceGetAttribute(&tables, cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0);
	printf("CUDA %d, concurrent access %d, the host's page tables %d, %s", driver, concurrent, tables,
	       *version ? version : "no version of the module\n");
}

// In a process of its own; its last word is "right" if it comes to its end.
static bool run(void (*what)(), const char *name, bool relied)
{
	int status;
	pid_t child;

	printf(relied ? "%s: " : "[%s]: ", name);
	fflush(stdout);
	child = fork();
	if (!child) {
		alarm(30);
		what();
		printf("right");
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		printf("signal %d", WTERMSIG(status));
	puts(status ? ", wrong" : "");
	return !status;
}

int main(int argc, char **argv)
{
	bool all = true;
	pid_t child = fork();

	if (!child) {
		about();
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	for (auto &p : points) {
		bool wanted = argc < 2;

		for (int i = 1; i < argc; i++)
			wanted |= !strcmp(argv[i], p.name);
		if (wanted && !run(p.run, p.name, p.relied) && p.relied)
			all = false;
	}
	return !all;
}
