/* SPDX-License-Identifier: Apache-2.0
 *
 * probes.c: a reproducer whose kernels log by probes: the log's memory, and its way to the detector.
 * Launches are one behind the other: each one's log is taken when it is over.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "detect/screen.h"
#include "log/drain.h"
#include "log/region.h"
#include "probe/probe.h"
#include "run/judge.h"
#include "run/run.h"

enum {
	REGION_LEAST = 64 << 20,        /* bytes */
	NAP_US = 50,                    /* between looks */
	/* A clock's low half is told apart from one in the other half of its range up to 2^31 cycles, about a second,
	 * away: nobody waits longer.  The emulated device's clock counts instructions. */
	PATIENCE_MS = 900, EMU_PATIENCE_MS = 20000
};

static struct probe_sites sites;
static struct run_driver *cu;
static CUcontext first, second;
static struct log_way way;              /* of the second context */
static CUdeviceptr region;
static uint64_t region_bytes;
static bool emulated, drained, verbose;
static uint32_t device_lanes;           /* that the device can hold */
static struct region_launch now;
static struct log_shape shape;
static struct log_drain *drain;
static pthread_t drainer;
static atomic_bool stop;

char *run_probes_text(const struct run_script *s)
{
	char *text = probe_module(s->path, s->text, s->len, &sites, NULL, NULL);

	if (text && sites.left_out)
		fprintf(stderr, "%s:%u: skipped: probes cannot log this instruction yet (nor %u others of the file)\n", s->path,
			sites.first, sites.left_out - 1);
	return text;
}

bool run_probes_whole(void)
{
	return !sites.left_out;
}

enum { MULTIPROCESSORS = 256 };

static bool put_lanes(CUmodule module)
{
	size_t bytes = (size_t)MULTIPROCESSORS * REGION_WARPS * EVENT_LANES * sizeof(struct region_lane);
	CUdeviceptr variable, table;

	return cu->cuModuleGetGlobal_v2(&variable, &(size_t){0}, module, PROBE_LANES) ||
	       (!cu->cuMemAlloc_v2(&table, bytes) && !cu->cuMemcpyHtoD_v2(variable, &table, sizeof table));
}

static const struct probe_kernel *find_kernel(const char *name)
{
	for (uint32_t i = 0; i < sites.nkernels; i++)
		if (!strcmp(sites.kernel[i].name, name))
			return &sites.kernel[i];
	return NULL;
}

/* Returns how many bytes it needs. */
static uint64_t lay_out(const struct run_action *a, struct log_shape *s)
{
	const struct probe_kernel *k = find_kernel(a->kernel);

	return log_lay_out(s, (uint64_t)a->grid[0] * a->grid[1] * a->grid[2], a->block[0] * a->block[1] * a->block[2],
			   k ? k->piece : REGION_PIECE_MAX, drained ? device_lanes : 0);
}

/* As many bytes as are asked for, or else as the launches need.  0: too few, which is said. */
static uint64_t size_of_region(const struct run_script *s, const struct run_job *job)
{
	uint64_t need = 0, bytes;

	for (unsigned i = 0; i < s->nactions; i++) {
		struct log_shape l;
		uint64_t x = s->actions[i].kind == ACT_LAUNCH ? lay_out(&s->actions[i], &l) : 0;

		need = x > need ? x : need;
	}
	bytes = job->region ? job->region : need > REGION_LEAST ? need : REGION_LEAST;
	if (need <= bytes && bytes <= LOG_MOST)
		return bytes;
	if (need <= LOG_MOST)
		fprintf(stderr, "gsan-run: %s: --region: the launches need at least %lluK%s, and at most %lluG can be had\n", s->path,
			(unsigned long long)need >> 10, drained ? " (a piece of the log for each lane that the device can hold)" : "",
			(unsigned long long)LOG_MOST >> 30);
	else
		fprintf(stderr, "gsan-run: %s: the log is full before it begins: use a smaller launch\n", s->path);
	return 0;
}

/* Who uses the way has the second context current. */
static bool enter(void)
{
	return !cu->cuCtxSetCurrent(second);
}

static bool leave(bool ok)
{
	return !cu->cuCtxSetCurrent(first) && ok;
}

static bool make_way(CUdevice device)
{
	if (cu->cuCtxGetCurrent(&first) || cu->cuCtxCreate_v2(&second, 0, device))
		return false;
	way = (struct log_way){.read = cu->cuMemcpyDtoHAsync_v2, .write = cu->cuMemcpyHtoDAsync_v2, .query = cu->cuStreamQuery};
	return leave(!cu->cuStreamCreate(&way.stream, CU_STREAM_NON_BLOCKING) && !cu->cuMemAlloc_v2(&region, region_bytes) &&
		     !cu->cuMemHostAlloc((void **)&way.locked, LOG_CHUNK, CU_MEMHOSTALLOC_PORTABLE) &&
		     log_zero(&way, region, region_bytes));
}

static bool find_lanes(CUdevice device)
{
	int sms, threads;

	if (cu->cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device) ||
	    cu->cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, device))
		return false;
	device_lanes = (uint32_t)sms * (uint32_t)threads;
	return true;
}

bool run_probes_ready(struct run_driver *driver, CUmodule module, CUdevice device, const struct run_script *s,
		      const struct run_job *job)
{
	cu = driver;
	emulated = job->emu;
	drained = !job->no_drain;
	verbose = job->verbose;
	if (!cu->cuCtxCreate_v2) {
		fputs("gsan-run: the driver has no cuCtxCreate_v2\n", stderr);
		return false;
	}
	if (!find_lanes(device) || !put_lanes(module))
		return false;
	region_bytes = size_of_region(s, job);
	return region_bytes && make_way(device);
}

static struct { const CUtensorMap *at; struct event_map map; } *maps;
static unsigned nmaps;
static struct event_map *told;          /* those that the detector has been told of */
static unsigned ntold;

static void tell_map(const struct event_map *m)
{
	const struct emu_events_sink *sink = run_events_sink();
	struct event_host h = {.kind = EVENT_HOST_MAP, .map = *m};

	sink->host(sink->arg, &h);
	told = realloc(told, (ntold + 1) * sizeof *told);
	if (!told)
		abort();
	told[ntold++] = *m;
}

/* The detector hears of it with the first launch. */
void run_probes_map(const struct run_tmap *t, CUdeviceptr base, const CUtensorMap *map)
{
	struct event_map new = {0}, *m = &new;

	m->hash = event_map_hash(map);
	m->base = base;
	m->rank = (uint8_t)t->rank;
	for (unsigned i = 0; i < 5; i++) {
		m->stride[i] = i ? t->strides[i - 1] : t->bytes;
		m->dim[i] = i < t->rank ? (uint32_t)t->dims[i] : 1;
		m->box[i] = i < t->nbox ? (uint32_t)t->box[i] : 1;
		m->every[i] = i < t->nelem ? (uint32_t)t->elem[i] : 1;
	}
	m->span = (uint8_t)t->span;
	m->atom = 16;                   /* bytes that a swizzle moves as one: those of the modes that scripts have */
	m->slice = (uint8_t)t->slice;
	if (t->nlower)
		return;
	tell_map(m);
	maps = realloc(maps, (nmaps + 1) * sizeof *maps);
	if (!maps)
		abort();
	maps[nmaps].at = map;
	maps[nmaps++].map = *m;
}

void run_probes_param(unsigned number, const CUtensorMap *map)
{
	for (unsigned i = 0; i < nmaps; i++)
		if (maps[i].at == map) {
			struct event_map m = maps[i].map;

			m.hash = REGION_MAP(now.launch, number);
			tell_map(&m);
		}
}

static const struct event_sites *all_sites(void)
{
	static struct event_sites all;

	all = (struct event_sites){.site = sites.site, .run = sites.run, .text = "", .nsites = sites.n, .nruns = sites.nruns};
	return &all;
}

static void *look_after(void *unused)
{
	const struct timespec nap = {.tv_nsec = NAP_US * 1000};

	if (!enter())
		return unused;
	while (!atomic_load(&stop) && log_drain_look(drain))
		nanosleep(&nap, NULL);
	return unused;
}

static bool begin_drain(void)
{
	if (drain)
		log_drain_free(drain);
	drain = NULL;
	if (!drained)
		return true;
	drain = log_drain_begin(&way, region, &shape, emulated ? EMU_PATIENCE_MS : PATIENCE_MS);
	atomic_store(&stop, false);
	return !pthread_create(&drainer, NULL, look_after, NULL);
}

static const struct log_fill *end_drain(uint32_t *n)
{
	static struct log_fill *fills;

	if (drained) {
		atomic_store(&stop, true);
		pthread_join(drainer, NULL);
		return log_drain_end(drain, n);
	}
	free(fills);
	return fills = log_fills(&shape, n);
}

/* Are the lanes of each warp of one row, if the kernel's probes take that for granted? */
static bool is_suited(const struct run_action *a)
{
	const struct probe_kernel *k = find_kernel(a->kernel);

	if (!k || !k->flat || a->block[0] % EVENT_LANES == 0 || a->block[1] * a->block[2] == 1)
		return true;
	fprintf(stderr, "%s: not watched: a block of %u x %u x %u threads, of which the kernel looks at %%tid.x alone: launch it with a "
		"multiple of 32 along x\n", a->kernel, a->block[0], a->block[1], a->block[2]);
	return false;
}

const void *run_probes_launch(const struct run_action *a)
{
	const struct emu_events_sink *sink = run_events_sink();
	struct event_host h = {.kind = EVENT_HOST_LAUNCH};

	if (!is_suited(a))
		return NULL;
	lay_out(a, &shape);
	log_fit(&shape, region_bytes);
	if (!leave(enter() && log_prepare(&way, region, &shape, now.launch + 1, &now)) || !begin_drain())
		return NULL;
	h.launch = now.launch;
	h.blocks = shape.blocks;
	sink->sites(sink->arg, all_sites());
	sink->host(sink->arg, &h);
	return &now;
}

static void tell_piece(void *arg, const struct event_piece *p)
{
	const struct emu_events_sink *sink = arg;

	sink->piece(sink->arg, p);
}

/* ---- whether there is anything to judge ------------------------------------------------------------------ */

static bool *clear;             /* by launch, from 1 on */

bool run_probes_clear(uint32_t launch)
{
	return launch && launch <= now.launch && clear[launch];
}

static void print_screen(const char *kernel, const uint32_t why[SCREEN_WHYS])
{
	static const char *const words[SCREEN_WHYS] = {
		"events that are not looked at", "accesses that are not looked at", "groups that lane 0 does not lead", "no room",
		"orders that are not followed", "shared memory", "global memory"
	};

	if (clear[now.launch])
		fprintf(stderr, "gsan-run: %s is clear\n", kernel);
	for (unsigned i = 0; i < SCREEN_WHYS; i++)
		if (why[i])
			fprintf(stderr, "gsan-run: %s is not clear: %s (%u)\n", kernel, words[i], why[i]);
}

static void screen(const struct log_copy *log, const char *kernel)
{
	const struct screen_maps maps_now = {told, ntold};
	struct region_block block;
	uint32_t why[SCREEN_WHYS];
	struct screen_log l = {
		.unit = log->unit, .launch = now.launch, .heads = now.heads, .slots = now.slots,
		.end = shape.end, .next = log->end, .piece = shape.piece, .blocks = shape.blocks, .warps = shape.warps
	};

	memcpy(&block, log->unit + now.heads, sizeof block);
	l.threads = block.threads;
	l.shared = block.shared;
	clear[now.launch] = screen_launch(&l, all_sites(), &maps_now, why);
	if (verbose)
		print_screen(kernel, why);
}

static void tell_drained(const struct log_fill *fill, uint32_t n)
{
	uint32_t taken = 0;

	for (uint32_t i = 0; i < n; i++)
		taken += fill[i].copy != NULL;
	if (verbose)
		fprintf(stderr, "gsan-run: launch %u: %u pieces were taken out while it ran\n", now.launch, taken);
}

/* What is lost is lost from a time on. */
static void tell_cut(const struct region_head *head)
{
	const struct emu_events_sink *sink = run_events_sink();
	struct event_host h = {.kind = EVENT_HOST_CUT, .launch = now.launch, .timer = head->since};

	if (!head->lost)
		return;
	if (verbose)
		fprintf(stderr, "gsan-run: launch %u: the log was full: %u pieces of it are lost\n", now.launch, head->lost);
	sink->host(sink->arg, &h);
}

/* The launch is over, and this is its log. */
static bool tell_log(const char *kernel, const struct log_copy *log, const struct log_fill *fill, uint32_t n)
{
	const struct emu_events_sink *sink = run_events_sink();

	clear = realloc(clear, (now.launch + 1) * sizeof *clear);
	if (!fill || !clear)
		return false;
	clear[now.launch] = false;
	tell_cut(&log->head);
	tell_drained(fill, n);
	if (!log_tell(log, &shape, fill, n, tell_piece, (void *)(uintptr_t)sink))
		return false;
	if (!log->head.lost && n == log_places(&shape))
		screen(log, kernel);
	return true;
}

bool run_probes_take(const struct run_action *a)
{
	const struct emu_events_sink *sink = run_events_sink();
	struct event_host h = {.kind = EVENT_HOST_OVER, .launch = now.launch};
	struct log_copy log;
	uint32_t n;
	bool ended = !cu->cuCtxSynchronize(), ok;
	const struct log_fill *fill = end_drain(&n);

	if (!ended || !enter()) {
		fputs("gsan-run: the launch ended in an error, and its log is lost with it\n", stderr);
		return false;
	}
	ok = log_take(&way, region, &shape, &log) && tell_log(a->kernel, &log, fill, n);
	if (!ok)
		fputs("gsan-run: the launch's log cannot be read: the kernel may have written where it lies\n", stderr);
	sink->host(sink->arg, &h);
	ok = log_clear(&way, region, &log) && ok;
	free(log.unit);
	return leave(ok);
}
