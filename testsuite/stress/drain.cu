/* SPDX-License-Identifier: Apache-2.0 */
/* drain.cu: `drain PROBES.cubin SITES WHAT`: fill.cu on every multiprocessor, in two waves of blocks, with a region that
 * holds a piece for each lane of one of them; log/drain.c empties it while another thread of the program does WHAT: waits,
 * or asks the driver for something for which it waits.  Each store that a thread makes has to be in the log once. */
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
#include "run/drain.h"
}

enum { THREADS = 1024, WARPS = THREADS / EVENT_LANES, ENTRIES = 1 << 18, ROUNDS = 128, NOTHINGS = 5000 };

struct job {
	struct tables tables;
	struct drain_shape shape;
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

static struct run_driver driver(void)
{
	struct run_driver d = {};
	void *create = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxCreate_v2");

	d.cuMemAlloc_v2 = cuMemAlloc;
	d.cuMemHostAlloc = cuMemHostAlloc;
	d.cuCtxGetCurrent = cuCtxGetCurrent;
	d.cuCtxSetCurrent = cuCtxSetCurrent;
	d.cuStreamCreate = cuStreamCreate;
	d.cuStreamQuery = cuStreamQuery;
	d.cuMemcpyDtoHAsync_v2 = cuMemcpyDtoHAsync;
	d.cuMemcpyHtoDAsync_v2 = cuMemcpyHtoDAsync;
	memcpy(&d.cuCtxCreate_v2, &create, sizeof create);
	CHECK(!create);
	return d;
}

/* ---- the region ------------------------------------------------------------------------------------------------- */

static uint32_t round_up(uint64_t n, uint32_t to)
{
	return (uint32_t)((n + to - 1) / to * to);
}

static void lay_out(struct job *j, unsigned resident)
{
	struct drain_shape *s = &j->shape;
	uint32_t piece = j->tables.kernel.at(0).second;

	j->launch.heads = REGION_QUEUE + ENTRIES / 2;
	j->launch.queue = ENTRIES - 1;
	j->launch.launch = 1;
	s->entries = ENTRIES;
	s->piece = piece;
	s->warps = j->blocks * WARPS;
	s->slots = j->launch.slots = round_up(j->launch.heads + j->blocks * REGION_BLOCK, piece);
	s->end = round_up(s->slots + (uint64_t)s->warps * piece, REGION_PIECE_MAX);
	s->last = j->launch.last = s->end + resident * piece;
	j->bytes = (size_t)(s->last + 2 * piece) * 16;
}

static void fill_region(struct job *j)
{
	struct region_head head = {j->shape.end, j->shape.last, 0, 0, UINT64_MAX, 0};
	std::vector<struct region_entry> queue(ENTRIES);
	uint32_t number = j->shape.last / j->shape.piece + 1;

	for (int i = 0; i < ENTRIES; i++, number++)
		queue[number & (ENTRIES - 1)].ticket = number * j->shape.piece;
	j->launch.region = j->region;
	CHECK(cuMemsetD8(j->region, 0, j->bytes));
	CHECK(cuMemcpyHtoD(j->region, &head, sizeof head));
	CHECK(cuMemcpyHtoD(j->region + REGION_LAUNCH, &j->launch, sizeof j->launch));
	CHECK(cuMemcpyHtoD(j->region + 16 * REGION_QUEUE, queue.data(), queue.size() * sizeof queue[0]));
	CHECK(cuCtxSynchronize());
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

struct seen { std::vector<uint8_t> times; uint64_t stores, outside; };

static void read_piece(const struct job *j, const struct event_unit *u, uint32_t n, struct seen *s)
{
	const struct event_unit *end = u + n;

	for (unsigned units; u < end && (units = event_units(u)); u += units) {
		if (event_kind_of(u) != EVENT_ACCESS || j->tables.site[event_site_of(u)].space != EVENT_GLOBAL)
			continue;
		for (unsigned l = 0; l < EVENT_LANES; l++) {
			uint64_t at = event_lanes(u) >> l & 1 ? (event_address(u, l) - (uint64_t)(uintptr_t)j->out) / 4 : 0;

			if (!(event_lanes(u) >> l & 1))
				continue;
			s->stores++;
			if (at < s->times.size())
				s->times[at]++;
			else
				s->outside++;
		}
	}
}

/* Every place of every thread once, and the first one twice.  Returns how many are not so. */
static uint64_t read_log(const struct job *j, const struct drain_fill *fill, uint32_t n, struct seen *s)
{
	const uint32_t skip = sizeof(struct region_piece) / sizeof(struct event_unit);
	std::vector<struct event_unit> log(j->bytes / 16);
	uint64_t wrong = 0;

	CHECK(cuMemcpyDtoH(log.data(), j->region, j->bytes));
	s->times.resize((size_t)j->blocks * THREADS * ROUNDS);
	for (uint32_t w = 0; w < j->shape.warps; w++)
		read_piece(j, &log[j->shape.slots + w * j->shape.piece], j->shape.piece, s);
	for (uint32_t i = 0; i < n; i++) {
		const struct event_unit *u = fill[i].copy ? fill[i].copy : &log[fill[i].place];
		const struct region_piece *head = (const struct region_piece *)(const void *)u;

		if (head->magic == EVENT_MAGIC && head->ticket == drain_ticket(&j->shape, i))
			read_piece(j, u + skip, j->shape.piece - skip, s);
	}
	for (size_t i = 0; i < s->times.size(); i++)
		wrong += s->times[i] != 1 + (i % ROUNDS == 0);
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

static CUfunction prepare(struct job *j, struct run_driver *cu, char **argv)
{
	CUmodule module;
	CUfunction f;

	CHECK(cudaFree(0));
	CHECK(cuModuleLoad(&module, argv[1]));
	CHECK(cuModuleGetFunction(&f, module, "full"));
	j->tables = read_tables(argv[2]);
	j->blocks = 2 * (unsigned)resident_blocks(f);
	lay_out(j, j->blocks / 2 * THREADS);
	CHECK(!drain_alloc(cu, false, 0, j->bytes, &j->region));
	CHECK(cudaMalloc(&j->out, (size_t)j->blocks * THREADS * ROUNDS * 4));
	fill_region(j);
	CHECK(!drain_begin(j->region, &j->shape));
	return f;
}

/* Milliseconds of the kernel, and of the other thread's call. */
static void run(struct job *j, CUfunction f, const char *what, double *kernel, double *call)
{
	char *pages = (char *)aligned_alloc(4096, 1 << 20);
	unsigned rounds = ROUNDS;
	void *args[] = {&j->out, &rounds, &j->launch}, *device;
	cudaStream_t stream;
	CUcontext ctx;
	double start;

	CHECK(cuCtxGetCurrent(&ctx));
	CHECK(cudaMalloc(&device, 1 << 20));
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	nothing<<<1, 1, 0, stream>>>();
	CHECK(cudaDeviceSynchronize());
	start = now_ms();
	CHECK(cuLaunchKernel(f, j->blocks, 1, 1, THREADS, 1, 1, 0, strcmp(what, "launches") ? 0 : stream, args, NULL));
	std::thread other([&] { wait_for_something(what, ctx, stream, device, pages); *call = now_ms() - start; });
	CHECK(cuCtxSynchronize());
	*kernel = now_ms() - start;
	other.join();
}

int main(int argc, char **argv)
{
	struct run_driver cu = driver();
	struct job j = {};
	struct seen seen = {};
	struct region_head head;
	const struct drain_fill *fill;
	unsigned n, taken = 0;
	double kernel, call;
	uint64_t wrong;
	CUfunction f;

	if (argc != 4) {
		fprintf(stderr, "usage: drain PROBES.cubin SITES WHAT\n");
		return 2;
	}
	f = prepare(&j, &cu, argv);
	run(&j, f, argv[3], &kernel, &call);
	fill = drain_end(&n);
	CHECK(cuMemcpyDtoH(&head, j.region, sizeof head));
	wrong = read_log(&j, fill, n, &seen);
	for (unsigned i = 0; i < n; i++)
		taken += fill[i].copy != NULL;
	printf("%-18s %u lanes, %.0f MiB region, %.0f MiB taken out, kernel %.0f ms, call %.0f ms, %llu stores, %u lost, %llu wrong\n",
	       argv[3], j.blocks / 2 * THREADS, j.bytes / 1048576.0, taken * (double)j.shape.piece * 16 / 1048576, kernel,
	       call, (unsigned long long)seen.stores, head.lost, (unsigned long long)wrong);
	fflush(stdout);
	_exit(head.lost || wrong || !taken);
}
