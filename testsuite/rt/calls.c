/* SPDX-License-Identifier: Apache-2.0
 *
 * calls.c: a program that calls the driver in loops, over fake.c's driver, with libgsan in it (unless PLAIN).
 *
 *   calls WHAT N WARM     N times, behind WARM times that do not count, from some functions below main, and between two calls
 *                 of cuDeviceGet; prints the thread's own time for each in ns, and by how much the process has grown in KiB
 *   calls list    what there is
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rt/gsan.h"
#include "testsuite/rt/prog.h"

#ifdef PLAIN                    /* without the runtime */
static size_t findings(void)
{
	return 0;
}
#else
#define findings gsan_findings
#endif

enum { DEPTH = 6 };

static CUmodule module;
static CUfunction flat;
CUstream stream;
static CUstream second;
static CUevent event;
static CUdeviceptr block;
static char text[256];

void check(CUresult r, const char *what)
{
	if (r == CUDA_SUCCESS)
		return;
	printf("%s: %d\n", what, (int)r);
	exit(9);
}

/* ---- what is called ----------------------------------------------------------------------------------- */

static void launch(void)
{
	struct region_launch nothing = { .magic = 0 };
	uint64_t arg = 0;
	void *params[] = { &arg, &nothing };

	CHECK(cuLaunchKernel(flat, 1, 1, 1, 64, 1, 1, 0, stream, params, NULL));
}

static void pair(void)
{
	CUdeviceptr p;

	CHECK(cuMemAllocAsync(&p, 1 << 16, stream));
	CHECK(cuMemFreeAsync(p, stream));
}

static void pair_around_launch(void)
{
	CUdeviceptr p;

	CHECK(cuMemAllocAsync(&p, 1 << 16, stream));
	launch();
	CHECK(cuMemFreeAsync(p, stream));
}

static void alloc_and_free(void)
{
	CUdeviceptr p;

	CHECK(cuMemAlloc_v2(&p, 1 << 12));
	CHECK(cuMemFree_v2(p));
}

static void copy(void)
{
	CHECK(cuMemcpyHtoDAsync_v2(block, text, sizeof text, stream));
}

static void record(void)
{
	CHECK(cuEventRecord(event, stream));
}

static void record_and_wait(void)
{
	CHECK(cuEventRecord(event, stream));
	CHECK(cuStreamWaitEvent(second, event, 0));
}

static void wait(void)
{
	CHECK(cuStreamSynchronize(stream));
}

static void launch_and_wait(void)
{
	launch();
	CHECK(cuStreamSynchronize(stream));
}

/* Many blocks of a pool, in turns, as programs with caches of their own do not have them. */
static void pairs_of_many(void)
{
	static CUdeviceptr kept[512];
	static unsigned i;

	if (kept[i])
		CHECK(cuMemFreeAsync(kept[i], stream));
	CHECK(cuMemAllocAsync(&kept[i], 4096 + 4096 * (i % 7), stream));
	i = (i + 1) % 512;
}

static const struct what { const char *name; void (*fn)(void); } whats[] = {
	{ "launch", launch }, { "launch_and_wait", launch_and_wait }, { "pair", pair }, { "pair_around_launch", pair_around_launch },
	{ "pairs_of_many", pairs_of_many }, { "alloc_and_free", alloc_and_free }, { "copy", copy }, { "record", record },
	{ "record_and_wait", record_and_wait }, { "wait", wait },
};
enum { WHATS = sizeof whats / sizeof *whats };

/* ---- how often ------------------------------------------------------------------------------------------- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static long grown_kib(void)
{
	long all, here = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%ld %ld", &all, &here) != 2)
		here = 0;
	if (f)
		fclose(f);
	return here * 4;
}

static void run(const struct what *w, long n)
{
	for (long i = 0; i < n; i++)
		w->fn();
}

/* As far below main as calls of the CUDA runtime's are. */
static __attribute__((noinline)) void below(const struct what *w, long n, int depth)
{
	volatile int here = depth;

	if (depth > 0)
		below(w, n, depth - 1);
	else
		run(w, n);
	(void)here;
}

static void set_up(void)
{
	CUcontext ctx;
	CUdevice d;

	CHECK(cuDeviceGet(&d, 0));
	CHECK(cuDevicePrimaryCtxRetain(&ctx, d));
	CHECK(cuCtxSetCurrent(ctx));
	CHECK(cuModuleLoadData(&module, &image));
	CHECK(cuModuleGetFunction(&flat, module, "flat"));
	CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
	CHECK(cuStreamCreate(&second, CU_STREAM_DEFAULT));
	CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	CHECK(cuMemAlloc_v2(&block, 1 << 20));
}

/* All that was launched is over and judged, and what that was done with is there for others. */
static void settle(void)
{
	CHECK(cuCtxSynchronize());
	if (findings())
		exit(9);
}

int main(int argc, char **argv)
{
	const long n = argc > 2 ? atol(argv[2]) : 100000, warm = argc > 3 ? atol(argv[3]) : n;
	const struct what *w = whats;
	double from = 0;
	long least = LONG_MAX;
	CUdevice d;

	if (argc < 2 || !strcmp(argv[1], "list")) {
		for (; w < whats + WHATS; w++)
			printf("%s\n", w->name);
		return 0;
	}
	while (w < whats + WHATS && strcmp(w->name, argv[1]))
		w++;
	if (w == whats + WHATS)
		return 2;
	set_up();
	/* From one place, so that it has one stack.  What waits to be judged is more at some times than at others, and its memory is
	 * kept: what grows with the calls themselves does so both times. */
	for (int counts = 0; counts < 3; counts++) {
		const long many = counts ? n : warm, kib = grown_kib();

		CHECK(cuDeviceGet(&d, 0));
		from = now();
		below(w, many, DEPTH);
		from = now() - from;
		CHECK(cuDeviceGet(&d, 0));
		settle();
		if (counts && grown_kib() - kib < least)
			least = grown_kib() - kib;
	}
	printf("%-20s %8.0f ns %8ld KiB\n", w->name, from / (double)n, least);
	return 0;
}
