/* SPDX-License-Identifier: Apache-2.0 */
/* What probes and the screen (detect/screen.h) cost: `slice NATIVE.cubin PROBES.cubin SITES KERNEL...`, of
 * triad64M, matmul1024, histogram (testsuite/bench/kernels.cu) and gemm (testsuite/kernels/gemm.cu); slice:matmul and
 * so on are those of testsuite/slice, in their small sizes.  SITES is what
 * build/probe/put says of the module.  A line for each: milliseconds of a launch, native, with probes, and until the
 * screen is done; of as many launches in a row as fill a millisecond, the best of five rows; the last of these also of a
 * launch by itself, and of one of whose blocks nothing is known before (with TWINS set nothing ever is); MiB of the log;
 * and why launches are not clear, by the GPU, and by the host of the log of one more, which both have looked at. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

#include "testsuite/bench/tables.h"

/* The host's passes are in detect/libparts.a; a GPU's are made here. */
#include "rt/clear.cu"

static const size_t region_bytes = (size_t)6 << 30;
static const uint32_t pages = 2048, twins_room = 1 << 20;

/* ---- between launches ----------------------------------------------------------------------------------------- */

/* The region as it has to be before a launch. */
__global__ void clean(const struct screen *all)
{
	const struct screen *s = the_launch(all);
	uint4 *u = (uint4 *)s->log.unit;

	for (uint32_t i = s->log.heads + blockIdx.x * blockDim.x + threadIdx.x; i < s->log.next; i += gridDim.x * blockDim.x)
		u[i] = make_uint4(0, 0, 0, 0);
}

__global__ void set_heads(const struct screen *all, struct region_head head)
{
	*(struct region_head *)all[blockIdx.y].log.unit = head;
}

/* ---- a kernel -------------------------------------------------------------------------------------------------- */

struct work {
	std::string function;
	unsigned grid[2], block[2], shared;
	std::vector<void *> args;
};

/* A batch: so many launches that are screened together, each with a region of its own. */
enum { BATCH_MAX = 128 };

struct bench {
	CUmodule native, probes;
	struct tables tables;
	struct screen s, *batch;        /* batch: on the device */
	struct region_head head;
	uint32_t launches;
	struct screen_twins *twins;     /* on the device */
	std::vector<struct event_map> maps;     /* of the kernel's parameters, in their order */
};

template <class T>
static T *device(size_t n, int byte)
{
	T *p;

	CHECK(cudaMalloc((void **)&p, n * sizeof(T)));
	CHECK(cudaMemset(p, byte, n * sizeof(T)));
	return p;
}

template <class T>
static T *upload(const T *v, size_t n)
{
	T *p = device<T>(n + 1, 0);

	CHECK(cudaMemcpy(p, v, n * sizeof(T), cudaMemcpyHostToDevice));
	return p;
}

static struct event_sites sites_of(const struct bench *b)
{
	return {b->tables.site.data(), b->tables.run.data(), "", (uint32_t)b->tables.site.size(), (uint32_t)b->tables.run.size()};
}

/* Room for any log. */
static void prepare(struct bench *b)
{
	const struct event_sites all = sites_of(b);
	struct screen_table table = {};
	struct screen *s = &b->s;
	size_t pieces = region_bytes / 16 / 4;

	s->log.unit = device<struct event_unit>(region_bytes / sizeof(struct event_unit), 0);
	table.site = (struct screen_site *)malloc(all.nsites * sizeof *table.site);
	table.traits = (uint8_t *)malloc(all.nsites);
	table.access = (struct screen_access *)malloc((all.nsites + all.nruns) * sizeof *table.access);
	table.span = (struct screen_span *)malloc(all.nsites * sizeof *table.span);
	screen_table(&table, &all);
	s->table.shift = table.shift;
	s->table.fine = table.fine;
	s->table.site = upload(table.site, all.nsites);
	s->table.traits = upload(table.traits, all.nsites);
	s->table.access = upload(table.access, all.nsites + all.nruns);
	s->table.span = upload(table.span, all.nsites);
	s->table.all = upload(all.site, all.nsites);
	s->table.run = upload(all.run, all.nruns);
	s->room = pages;
	s->pages = device<uint32_t>(1, 0);
	s->page = device<uint64_t>(SCREEN_PAGES, 0);
	s->cells = device<uint32_t>(SCREEN_PAGES, 0);
	s->cell = device<uint64_t>((size_t)pages * SCREEN_LINES, 0);
	s->after = device<uint32_t>(pieces, 0xff);
	s->first = device<uint32_t>(pieces, 0xff);
	s->warp = device<uint32_t>(pieces, 0);
	s->has = device<uint8_t>(pieces, 0);
	s->range = device<uint64_t>(2, 0);
	CHECK(cudaMemset(s->range, 0xff, sizeof *s->range));
	s->why = device<uint32_t>(SCREEN_WHYS, 0);
	b->batch = device<struct screen>(BATCH_MAX, 0);
	b->twins = device<struct screen_twins>(1, 0);
}

static uint32_t round_up(uint64_t n, uint32_t to)
{
	return (uint32_t)((n + to - 1) / to * to);
}

/* Nothing is known of blocks. */
static void forget(struct bench *b)
{
	static struct event_unit *unit;
	static uint16_t *what;
	struct screen_twins none = {};

	unit = unit ? unit : device<struct event_unit>(twins_room, 0);
	what = what ? what : device<uint16_t>(twins_room, 0);
	none.unit = unit;
	none.what = what;
	none.room = twins_room;
	CHECK(cudaMemcpy(b->twins, &none, sizeof none, cudaMemcpyHostToDevice));
}

/* The parameter of a batch's launch. */
static struct region_launch launch_of(const struct bench *b, uint32_t i)
{
	size_t units = region_bytes / 16 / b->launches / REGION_PIECE_MAX * REGION_PIECE_MAX;
	struct region_launch l = {};

	l.region = (uint64_t)(uintptr_t)(b->s.log.unit + i * units);
	l.heads = b->s.log.heads;
	l.slots = b->s.log.slots;
	l.launch = i + 1;
	l.last = b->head.last;
	l.magic = EVENT_MAGIC;
	return l;
}

/* The batch's launches: where each one's region is, and what it begins with. */
static void tell_batch(struct bench *b)
{
	struct screen all[BATCH_MAX];
	size_t units = region_bytes / 16 / b->launches / REGION_PIECE_MAX * REGION_PIECE_MAX;

	for (uint32_t i = 0; i < b->launches; i++) {
		all[i] = b->s;
		all[i].log.unit += i * units;
		all[i].log.launch = i + 1;
		for (size_t k = 0; k < b->maps.size(); k++)
			b->maps[k].hash = REGION_MAP(i + 1, (unsigned)k);
		all[i].maps = {upload(b->maps.data(), b->maps.size()), (uint32_t)b->maps.size()};
		all[i].salt = (uint64_t)i << 40;
		all[i].after += i * units / 4;
		all[i].first += i * units / 4;
		all[i].warp += i * units / 4;
		all[i].has += i * units / 4;
		all[i].like += i * b->s.log.blocks;
	}
	b->head.last = (uint32_t)units - 2 * REGION_PIECE_MAX;
	CHECK(cudaMemcpy(b->batch, all, b->launches * sizeof *all, cudaMemcpyHostToDevice));
	for (uint32_t i = 0; i < b->launches; i++) {
		struct region_launch launch = launch_of(b, i);

		CHECK(cudaMemcpy((void *)launch.region, &b->head, sizeof b->head, cudaMemcpyHostToDevice));
		CHECK(cudaMemcpy((char *)launch.region + REGION_LAUNCH, &launch, sizeof launch, cudaMemcpyHostToDevice));
	}
}

static void shape(struct bench *b, const struct work *w)
{
	const struct event_sites all = sites_of(b);
	struct screen_log *l = &b->s.log;
	uint32_t threads = w->block[0] * w->block[1];

	for (auto &k : b->tables.kernel)
		if (k.first == w->function)
			l->piece = k.second;
	l->blocks = w->grid[0] * w->grid[1];
	l->threads = threads;
	l->warps = (threads + 31) / 32;
	l->shared = w->shared;
	l->rows = screen_rows(w->block[0], threads);
	l->heads = REGION_QUEUE;
	l->slots = round_up(l->heads + (uint64_t)l->blocks * REGION_BLOCK, l->piece);
	l->end = round_up(l->slots + (uint64_t)l->blocks * l->warps * l->piece, REGION_PIECE_MAX);
	b->head = {l->end, 0, 0, 1, UINT64_MAX, 0};
	b->s.form = screen_needs_order(l, &all) ? SCREEN_BY_ORDER : SCREEN_BY_BARRIERS;
	b->s.twins = getenv("TWINS") || !b->s.form ? NULL : b->twins;
	b->s.like = device<uint32_t>((size_t)l->blocks * BATCH_MAX, 0);
	forget(b);
	b->s.together = screen_together(l, b->s.table.shift, 16 << 10);
	CHECK(cudaMemset((void *)l->unit, 0, region_bytes));
	CHECK(cudaMemset(b->s.page, 0, SCREEN_PAGES * sizeof *b->s.page));
	CHECK(cudaMemset(b->s.cells, 0, SCREEN_PAGES * sizeof *b->s.cells));
	CHECK(cudaMemset(b->s.pages, 0, sizeof *b->s.pages));
	CHECK(cudaMemset(b->s.cell, 0, (size_t)pages * SCREEN_LINES * sizeof *b->s.cell));
	CHECK(cudaMemset(b->s.range, 0xff, sizeof *b->s.range));
	CHECK(cudaMemset(b->s.range + 1, 0, sizeof *b->s.range));
}

/* FIRST: of a launch of whose blocks nothing is known before. */
enum stage { NATIVE, PROBES, SCREEN, ALONE, FIRST, STAGES };

/* Where the passes of the last launch began and ended: with LAPS set their times are printed. */
static cudaEvent_t laps[6];

static void lap(int n)
{
	if (!getenv("LAPS"))
		return;
	if (!laps[n])
		CHECK(cudaEventCreate(&laps[n]));
	CHECK(cudaEventRecord(laps[n]));
}

static void print_laps(void)
{
	float ms;

	for (int n = 1; n < 6 && laps[n]; n++) {
		CHECK(cudaEventElapsedTime(&ms, laps[n - 1], laps[n]));
		printf("  pass %d: %.4f ms\n", n, ms);
	}
}

__global__ void next_stamp(struct screen *all)
{
	all[blockIdx.y].stamp = all[blockIdx.y].stamp % 65535 + 1;
}

static void run_launches(struct bench *b, struct work *w, CUfunction f, unsigned dynamic)
{
	for (uint32_t i = 0; i < b->launches; i++) {
		struct region_launch launch = launch_of(b, i);
		std::vector<void *> args = w->args;

		args.push_back(&launch);
		CHECK(cuLaunchKernel(f, w->grid[0], w->grid[1], 1, w->block[0], w->block[1], 1, dynamic, 0, args.data(), NULL));
	}
}

static void judge_batch(struct bench *b)
{
	uint32_t n = b->launches, bytes = gpu::screen_order_bytes(&b->s.log, b->s.form), warps = b->s.log.blocks * b->s.log.warps;

	if (b->s.twins)
		gsan_compare<<<dim3((warps + 7) / 8, n), dim3(EVENT_LANES, 8)>>>(b->batch);
	lap(2);
	gsan_judge<<<dim3(b->s.log.blocks, n), 32, bytes>>>(b->batch);
}

static void screen_batch(struct bench *b)
{
	uint32_t together = b->s.together, bytes = screen_cells(&b->s.log, b->s.table.shift) * 4 * together, n = b->launches;

	next_stamp<<<dim3(1, n), 1>>>(b->batch);
	lap(0);
	gsan_link<<<dim3(256, n), 256>>>(b->batch);
	lap(1);
	if (b->s.form)
		judge_batch(b);
	else if (b->s.log.shared)
		gsan_blocks<<<dim3((b->s.log.blocks + together - 1) / together, n), 32, bytes>>>(b->batch);
	lap(3);
	gsan_writes<<<dim3(132 * 16 / n + 1, n), 128>>>(b->batch);
	lap(4);
	gsan_reads<<<dim3(132 * 16 / n + 1, n), 128>>>(b->batch);
	lap(5);
}

static void clean_batch(struct bench *b)
{
	clean<<<dim3(2048 / b->launches + 1, b->launches), 256>>>(b->batch);
	set_heads<<<dim3(1, b->launches), 1>>>(b->batch, b->head);
}

/* All of the batch's launches, and what comes behind them. */
static void run_batch(struct bench *b, struct work *w, CUfunction f, enum stage stage, unsigned dynamic)
{
	run_launches(b, w, f, dynamic);
	if (stage >= SCREEN)
		screen_batch(b);
	if (stage != NATIVE)
		clean_batch(b);
	CHECK(cudaGetLastError());
}

static double time_of(struct bench *b, struct work *w, CUfunction f, enum stage stage, unsigned dynamic)
{
	cudaEvent_t from, to;
	float best = 1e9f, ms;

	CHECK(cudaEventCreate(&from));
	CHECK(cudaEventCreate(&to));
	for (int i = 0; i < 6; i++) {
		if (stage == FIRST)
			forget(b);
		CHECK(cudaEventRecord(from));
		run_batch(b, w, f, stage, dynamic);
		CHECK(cudaEventRecord(to));
		CHECK(cudaEventSynchronize(to));
		CHECK(cudaEventElapsedTime(&ms, from, to));
		best = i && ms < best ? ms : best;
	}
	return best / b->launches;
}

static bool print_why(const uint32_t why[SCREEN_WHYS])
{
	bool clear = true;

	for (unsigned i = 0; i < SCREEN_WHYS; i++) {
		printf(" %u", why[i]);
		clear = clear && !why[i];
	}
	return clear;
}

static struct screen_twins twins_of(const struct bench *b)
{
	struct screen_twins t;

	CHECK(cudaMemcpy(&t, b->twins, sizeof t, cudaMemcpyDeviceToHost));
	return t;
}

/* Of one launch: with the cells of the first look, made empty. */
static void look_closer(struct bench *b)
{
	struct screen s;
	uint64_t range[2] = {UINT64_MAX, 0};

	CHECK(cudaMemcpy(&s, b->batch, sizeof s, cudaMemcpyDeviceToHost));
	s.closer = true;
	s.room = (uint32_t)(((uint64_t)pages << screen_page_cells(&s.table, false)) >> screen_page_cells(&s.table, true));
	CHECK(cudaMemset(s.page, 0, SCREEN_PAGES * sizeof *s.page));
	CHECK(cudaMemset(s.cells, 0, SCREEN_PAGES * sizeof *s.cells));
	CHECK(cudaMemset(s.pages, 0, sizeof *s.pages));
	CHECK(cudaMemset(s.cell, 0, (size_t)pages * SCREEN_LINES * sizeof *s.cell));
	CHECK(cudaMemcpy(s.range, range, sizeof range, cudaMemcpyHostToDevice));
	CHECK(cudaMemset(s.why, 0, SCREEN_WHYS * sizeof *s.why));
	CHECK(cudaMemcpy(b->batch, &s, sizeof s, cudaMemcpyHostToDevice));
	gsan_writes<<<132 * 16, 128>>>(b->batch);
	gsan_reads<<<132 * 16, 128>>>(b->batch);
}

/* One launch more, of which the host and the GPU have to say the same. */
static void compare(struct bench *b, struct work *w, CUfunction probes, unsigned dynamic)
{
	const struct event_sites all = sites_of(b);
	const struct screen_maps maps = {b->maps.data(), (uint32_t)b->maps.size()};
	struct screen_log l = b->s.log;
	uint32_t why[2][SCREEN_WHYS] = {};
	struct region_head head;
	std::vector<struct event_unit> log;
	bool clear[2];

	b->launches = 1;
	tell_batch(b);
	CHECK(cudaMemset(b->s.why, 0, sizeof why[0]));
	run_launches(b, w, probes, dynamic);
	screen_batch(b);
	CHECK(cudaMemcpy(why[0], b->s.why, sizeof why[0], cudaMemcpyDeviceToHost));
	if (screen_looks_closer(why[0])) {
		look_closer(b);
		CHECK(cudaMemcpy(why[0], b->s.why, sizeof why[0], cudaMemcpyDeviceToHost));
	}
	CHECK(cudaMemcpy(&head, b->s.log.unit, sizeof head, cudaMemcpyDeviceToHost));
	log.resize(head.next);
	CHECK(cudaMemcpy(log.data(), b->s.log.unit, head.next * sizeof log[0], cudaMemcpyDeviceToHost));
	l.unit = log.data();
	l.launch = 1;
	l.next = head.next;
	screen_launch(&l, &all, &maps, NULL, NULL, why[1]);
	printf("  log %.1f MiB%s; one launch: GPU", head.next / 65536.0, head.lost ? " LOST" : "");
	clear[0] = print_why(why[0]);
	printf(", host");
	clear[1] = print_why(why[1]);
	puts(clear[0] != clear[1] ? " DIFFERENT" : "");
	clean_batch(b);
}

static void measure(struct bench *b, const char *name, struct work w, unsigned dynamic)
{
	CUfunction native, probes;
	struct screen_twins twins;
	uint32_t batch;
	double ms[STAGES];
	uint32_t why[SCREEN_WHYS];
	int fixed;

	CHECK(cuModuleGetFunction(&native, b->native, w.function.c_str()));
	CHECK(cuModuleGetFunction(&probes, b->probes, w.function.c_str()));
	if (dynamic) {
		CHECK(cuFuncSetAttribute(native, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)dynamic));
		CHECK(cuFuncSetAttribute(probes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)dynamic));
	}
	CHECK(cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, probes));
	w.shared = (unsigned)fixed + dynamic;
	CHECK(cudaFuncSetAttribute(gsan_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
	CHECK(cudaFuncSetAttribute(gsan_judge, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
	shape(b, &w);
	b->launches = 1;
	tell_batch(b);
	ms[NATIVE] = time_of(b, &w, native, NATIVE, dynamic);
	b->launches = ms[NATIVE] < 1 ? (uint32_t)(1 / ms[NATIVE]) + 1 : 1;
	b->launches = b->launches < BATCH_MAX ? b->launches : BATCH_MAX;
	tell_batch(b);
	ms[NATIVE] = time_of(b, &w, native, NATIVE, dynamic);
	CHECK(cudaMemset(b->s.why, 0, sizeof why));
	ms[PROBES] = time_of(b, &w, probes, PROBES, dynamic);
	ms[SCREEN] = time_of(b, &w, probes, SCREEN, dynamic);
	print_laps();
	batch = b->launches;
	twins = twins_of(b);
	CHECK(cudaMemcpy(why, b->s.why, sizeof why, cudaMemcpyDeviceToHost));
	b->launches = 1;
	tell_batch(b);
	ms[ALONE] = time_of(b, &w, probes, ALONE, dynamic);
	ms[FIRST] = time_of(b, &w, probes, FIRST, dynamic);
	printf("%-12s native %.4f  probes %.4f (%.2f x)  screen %.4f (%.2f x), alone %.4f, first %.4f  why", name, ms[NATIVE],
	       ms[PROBES], ms[PROBES] / ms[NATIVE], ms[SCREEN], ms[SCREEN] / ms[NATIVE], ms[ALONE], ms[FIRST]);
	print_why(why);
	if (b->s.form)
		printf("  blocks: %u of %llu by %u others", twins.found, 6ull * b->s.log.blocks * batch,
		       event_count(twins.known));
	compare(b, &w, probes, dynamic);
}

/* ---- the kernels -------------------------------------------------------------------------------------------------- */

static CUtensorMap map_of(struct bench *b, void *p, unsigned size, unsigned columns, unsigned rows)
{
	cuuint64_t dim[] = {size, size}, stride[] = {size * 2};
	cuuint32_t box[] = {columns, rows}, step[] = {1, 1};
	struct event_map told = {};
	CUtensorMap map;

	told.base = (uint64_t)(uintptr_t)p;
	told.rank = 2;
	for (unsigned i = 0; i < 5; i++) {
		told.stride[i] = i == 1 ? size * 2 : 2;
		told.dim[i] = i < 2 ? size : 1;
		told.box[i] = i < 2 ? box[i] : 1;
		told.every[i] = 1;
	}
	told.span = 128;
	told.atom = 16;
	b->maps.push_back(told);
	CHECK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, p, dim, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
				     CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
	return map;
}

static bool named(const char *name, struct bench *b, void *p[3])
{
	static int n, tiles = 256, across = 16, steps = 32;
	static CUtensorMap maps[3];
	static void *sum;

	sum = (char *)p[2] + (1 << 20);
	if (!strcmp(name, "triad64M")) {
		n = 64 << 20;
		measure(b, name, {"_Z5triadPKfS0_Pfi", {(unsigned)n / 256, 1}, {256, 1}, 0, {&p[0], &p[1], &p[2], &n}}, 0);
	} else if (!strcmp(name, "matmul1024")) {
		n = 1024;
		measure(b, name, {"_Z6matmulILi32EEvPKfS1_Pfi", {32, 32}, {32, 32}, 0, {&p[0], &p[1], &p[2], &n}}, 0);
	} else if (!strcmp(name, "histogram")) {
		n = 4 << 20;
		measure(b, name, {"_Z9histogramPKiPii", {1024, 1}, {256, 1}, 0, {&p[0], &p[2], &n}}, 0);
	} else if (!strcmp(name, "slice:matmul")) {
		n = 64;
		measure(b, name, {"matmul", {2, 2}, {32, 32}, 0, {&p[0], &p[1], &p[2], &n}}, 0);
	} else if (!strcmp(name, "slice:triad")) {
		n = 1700;
		measure(b, name, {"triad", {7, 1}, {256, 1}, 0, {&p[0], &p[1], &p[2], &n, &sum}}, 0);
	} else if (!strcmp(name, "slice:histogram")) {
		n = 8192;
		measure(b, name, {"histogram", {2, 1}, {256, 1}, 0, {&p[0], &p[2], &n}}, 0);
	} else if (!strcmp(name, "gemm")) {
		maps[0] = map_of(b, p[0], 2048, 64, 128);
		maps[1] = map_of(b, p[1], 2048, 64, 128);
		maps[2] = map_of(b, p[2], 2048, 64, 64);
		measure(b, name, {"gemm", {132, 1}, {384, 1}, 0, {&maps[0], &maps[1], &maps[2], &tiles, &across, &steps}}, 163904);
	} else {
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct bench b = {};
	void *p[3];

	if (argc < 5) {
		fprintf(stderr, "usage: slice NATIVE.cubin PROBES.cubin SITES KERNEL...\n");
		return 2;
	}
	CHECK(cudaFree(0));
	CHECK(cuModuleLoad(&b.native, argv[1]));
	CHECK(cuModuleLoad(&b.probes, argv[2]));
	b.tables = read_tables(argv[3]);
	prepare(&b);
	for (void *&x : p)
		x = device<float>(64 << 20, 1);
	for (int i = 4; i < argc; i++)
		if (!named(argv[i], &b, p))
			return 2;
	return 0;
}
