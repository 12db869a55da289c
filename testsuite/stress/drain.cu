/* SPDX-License-Identifier: Apache-2.0 */
/* drain.cu: `drain PROBES.cubin SITES WHAT`: fill.cu on every multiprocessor, in two waves of blocks, with a region that
 * holds a piece for each lane of one of them; log/drain.c empties it while another thread of the program does WHAT: waits,
 * or asks the driver for something for which it waits.  Each store that a thread makes has to be in the log once, or, where
 * a lane has waited too long (log/drain.h) and that is counted, at most once. */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>
#include <time.h>

#include <cuda.h>
#include <cuda_runtime.h>

#include "testsuite/bench/tables.h"

extern "C" {
#include "log/drain.h"
#include "log/region.h"
}

enum { THREADS = 1024, ROUNDS = 128, NOTHINGS = 5000, PATIENCE = 900 /* ms */ };

struct job {
	struct tables tables;
	struct log_way way;             /* of a context of its own, in which the region lies as well */
	CUcontext ctx;
	struct log_shape shape;
	struct region_launch launch;
	CUdeviceptr region;
	size_t bytes;
	unsigned blocks, *out;
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

/* ---- the region ------------------------------------------------------------------------------------------------- */

static CUcontext new_context(void)
{
	CUresult (*create)(CUcontext *, unsigned, CUdevice);
	void *found = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxCreate_v2");
	CUcontext ctx;

	CHECK(!found);
	memcpy(&create, &found, sizeof create);
	CHECK(create(&ctx, 0, 0));
	return ctx;
}

/* It holds a piece for so many lanes, and no more. */
static void make_region(struct job *j, unsigned lanes)
{
	CUcontext own;
	void *locked;

	CHECK(cuCtxGetCurrent(&own));
	j->ctx = new_context();
	CHECK(cuMemHostAlloc(&locked, LOG_CHUNK, 0));
	j->way = {cuMemcpyDtoHAsync, cuMemcpyHtoDAsync, cuStreamQuery, NULL, (unsigned char *)locked};
	CHECK(cuStreamCreate(&j->way.stream, CU_STREAM_NON_BLOCKING));
	j->bytes = log_lay_out(&j->shape, j->blocks, THREADS, j->tables.kernel.at(0).second, lanes);
	log_fit(&j->shape, j->bytes);
	CHECK(cuMemAlloc(&j->region, j->bytes));
	CHECK(cuMemsetD8(j->region, 0, j->bytes));
	CHECK(cuCtxSynchronize());
	CHECK(!log_prepare(&j->way, j->region, &j->shape, NULL, 1, &j->launch));
	CHECK(cuCtxSetCurrent(own));
}

/* ---- what another thread does ---------------------------------------------------------------------------------------- */

__global__ void nothing(void) {}

static void wait_for_something(const std::string &what, CUcontext ctx, cudaStream_t stream, void *device, char *pages)
{
	void *p;

	CHECK(cuCtxSetCurrent(ctx));
	if (what == "cuCtxSynchronize")
		CHECK(cuCtxSynchronize());
	else if (what == "cudaFree")
		CHECK(cudaFree(device));
	else if (what == "cudaMalloc")
		CHECK(cudaMalloc(&p, 64 << 20));
	else if (what == "cudaMallocManaged")
		CHECK(cudaMallocManaged(&p, 1 << 20));
	else if (what == "cudaHostAlloc")
		CHECK(cudaHostAlloc(&p, 64 << 20, 0));
	else if (what == "cudaHostRegister")
		CHECK(cudaHostRegister(pages, 1 << 20, 0));
	else if (what == "cudaMemcpy")
		CHECK(cudaMemcpy(pages, device, 1 << 20, cudaMemcpyDeviceToHost));
	for (int i = 0; what == "launches" && i < NOTHINGS; i++)
		nothing<<<1, 1, 0, stream>>>();
}

/* ---- what the log says ------------------------------------------------------------------------------------------------ */

struct seen { const struct job *j; std::vector<uint8_t> times; uint64_t stores, outside; };

static void read_piece(void *arg, const struct event_piece *p)
{
	struct seen *s = (struct seen *)arg;
	const struct event_unit *u = event_units_of(p), *end = u + (p->bytes - sizeof *p) / sizeof *u;

	for (unsigned units; u < end && (units = event_units(u)); u += units) {
		if (event_kind_of(u) != EVENT_ACCESS || s->j->tables.site[event_site_of(u)].space != EVENT_GLOBAL)
			continue;
		for (unsigned l = 0; l < EVENT_LANES; l++) {
			uint64_t at;

			if (!(event_lanes(u) >> l & 1))
				continue;
			at = (event_address(u, l) - (uint64_t)(uintptr_t)s->j->out) / 4;
			s->stores++;
			if (at < s->times.size())
				s->times[at]++;
			else
				s->outside++;
		}
	}
}

/* Every place of every thread once, and the first one twice; or less, where some are lost.  Returns how many are not so, or
 * all if it cannot be read. */
static uint64_t read_log(const struct job *j, const struct log_copy *log, const struct log_fill *fill, uint32_t n, struct seen *s)
{
	uint64_t wrong = 0;

	s->j = j;
	s->times.resize((size_t)j->blocks * THREADS * ROUNDS);
	const char *damaged = log_tell(log, &j->shape, fill, n, read_piece, s);

	if (damaged) {
		fprintf(stderr, "%s\n", damaged);
		return s->times.size();
	}
	for (size_t i = 0; i < s->times.size(); i++) {
		const unsigned all = 1 + (i % ROUNDS == 0);

		wrong += log->head.lost ? s->times[i] > all : s->times[i] != all;
	}
	return wrong + s->outside;
}

/* ---- all of it ---------------------------------------------------------------------------------------------------------- */

static int resident_blocks(CUfunction f)
{
	int sms, each;

	CHECK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
	CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, f, THREADS, 0));
	return sms * each;
}

static CUfunction prepare(struct job *j, char **argv)
{
	CUmodule module;
	CUfunction f;

	CHECK(cudaFree(0));
	CHECK(cuModuleLoad(&module, argv[1]));
	CHECK(cuModuleGetFunction(&f, module, "full"));
	j->tables = read_tables(argv[2]);
	j->blocks = 2 * (unsigned)resident_blocks(f);
	make_region(j, j->blocks / 2 * THREADS);
	CHECK(cudaMalloc(&j->out, (size_t)j->blocks * THREADS * ROUNDS * 4));
	return f;
}

static void empty(const struct job *j, struct log_drain *drain, const std::atomic<bool> *over)
{
	CHECK(cuCtxSetCurrent(j->ctx));
	while (!*over) {
		log_drain_look(drain);
		usleep(50);
	}
}

/* Milliseconds of the kernel, and of the other thread's call. */
static void run(struct job *j, CUfunction f, const char *what, struct log_drain *drain, double ms[2])
{
	char *pages = (char *)aligned_alloc(4096, 1 << 20);
	unsigned rounds = ROUNDS;
	void *args[] = {&j->out, &rounds, &j->launch}, *device;
	std::atomic<bool> over(false);
	cudaStream_t stream;
	CUcontext ctx;
	double start;

	CHECK(cuCtxGetCurrent(&ctx));
	CHECK(cudaMalloc(&device, 1 << 20));
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	nothing<<<1, 1, 0, stream>>>();
	CHECK(cudaDeviceSynchronize());
	std::thread emptier([&] { empty(j, drain, &over); });
	start = now_ms();
	CHECK(cuLaunchKernel(f, j->blocks, 1, 1, THREADS, 1, 1, 0, strcmp(what, "launches") ? 0 : stream, args, NULL));
	std::thread other([&] { wait_for_something(what, ctx, stream, device, pages); ms[1] = now_ms() - start; });
	CHECK(cuCtxSynchronize());
	ms[0] = now_ms() - start;
	over = true;
	emptier.join();
	other.join();
}

int main(int argc, char **argv)
{
	struct job j = {};
	struct seen seen = {};
	struct log_copy log;
	struct log_drain *drain;
	const struct log_fill *fill;
	unsigned n, taken = 0;
	uint64_t wrong;
	double ms[2];
	CUfunction f;

	if (argc != 4) {
		fprintf(stderr, "usage: drain PROBES.cubin SITES WHAT\n");
		return 2;
	}
	f = prepare(&j, argv);
	CHECK(!(drain = log_drain_begin(&j.way, j.region, &j.shape, PATIENCE)));
	run(&j, f, argv[3], drain, ms);
	CHECK(cuCtxSetCurrent(j.ctx));
	fill = log_drain_end(drain, &n);
	CHECK(!log_take(&j.way, j.region, &j.shape, &log));
	wrong = read_log(&j, &log, fill, n, &seen);
	for (unsigned i = 0; i < n; i++)
		taken += fill && fill[i].copy != NULL;
	printf("%-18s %u lanes, %.0f MiB region, %.0f MiB taken out, kernel %.0f ms, call %.0f ms, %llu stores, %u lost, %llu wrong\n",
	       argv[3], j.blocks / 2 * THREADS, j.bytes / 1048576.0, taken * (double)j.shape.piece * 16 / 1048576, ms[0], ms[1],
	       (unsigned long long)seen.stores, log.head.lost, (unsigned long long)wrong);
	fflush(stdout);
	_exit(wrong || !taken);
}
