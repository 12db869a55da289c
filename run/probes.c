/* SPDX-License-Identifier: Apache-2.0
 *
 * probes.c: a reproducer whose kernels log by probes: the log's memory, and its way to the detector.
 * A launch's log is taken when it is over; those that overlap have a region each.
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
#include "rewrite/rewrite.h"
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
static CUdeviceptr regions;             /* of launches that overlap one behind the other */
static uint64_t region_bytes;           /* of each */
static bool emulated, drained, verbose;
static uint32_t device_lanes;           /* that the device can hold */
static struct logged {
	const struct run_action *a;
	struct region_launch param;
	struct log_shape shape;
	struct log_drain *drain;        /* NULL: none */
} *under_way;
static unsigned nunder_way;
static uint32_t launches;               /* so far */
static uint32_t starting;               /* number of the launch that starts */
static pthread_t drainer;
static atomic_bool stop;

/* By kernel: what its blocks did in launches of one shape. */
enum { TWINS_ROOM = 1 << 16 /* units */, TWINS_TURNS = 3 /* of a launch, in each of which one block is learned from */ };
static struct known { struct screen_twins twins; uint32_t threads, shared; } *known;

static void free_twins(struct screen_twins *t)
{
	free(t->unit);
	free(t->what);
}

static void forget_twins(void)
{
	for (uint32_t i = 0; known && i < sites.nkernels; i++)
		free_twins(&known[i].twins);
	free(known);
	known = NULL;
}

char *run_probes_text(const struct run_script *s, const struct gsan_rewrite_options *asked)
{
	struct probe_what what = {.stored = asked->stored, .marks = asked->marks, .perturb = asked->perturb,
				  .inline_most = asked->inline_most};
	char *text;

	forget_twins();
	text = probe_module(s->path, s->text, what, &sites, NULL, NULL);

	if (text && sites.left_out)
		fprintf(stderr, "%s:%u: skipped: probes cannot log this instruction (nor %u others of the file)\n", s->path,
			sites.first, sites.left_out - 1);
	if (text && sites.unwatched)
		fprintf(stderr, "%s: %u instructions access textures, surfaces or tensor memory by tcgen05.shift: that is not watched\n",
			s->path, sites.unwatched);
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

/* One that may begin early comes right behind the launch before it. */
unsigned run_probes_overlap(const struct run_script *s, const struct run_action *from)
{
	const struct run_action *end = s->actions + s->nactions, *a = from + 1;

	while (a < end && a->kind == ACT_LAUNCH && a->pdl && a->stream == from->stream)
		a++;
	return (unsigned)(a - from);
}

static unsigned most_overlap(const struct run_script *s)
{
	unsigned most = 1;

	for (unsigned i = 0; i < s->nactions; i++)
		if (s->actions[i].kind == ACT_LAUNCH && run_probes_overlap(s, &s->actions[i]) > most)
			most = run_probes_overlap(s, &s->actions[i]);
	return most;
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

static bool make_way(CUdevice device, uint64_t bytes)
{
	if (cu->cuCtxGetCurrent(&first) || cu->cuCtxCreate_v2(&second, 0, device))
		return false;
	way = (struct log_way){.read = cu->cuMemcpyDtoHAsync_v2, .write = cu->cuMemcpyHtoDAsync_v2, .set = cu->cuMemsetD32Async,
			       .query = cu->cuStreamQuery};
	return leave(!cu->cuStreamCreate(&way.stream, CU_STREAM_NON_BLOCKING) && !cu->cuMemAlloc_v2(&regions, bytes) &&
		     !cu->cuMemHostAlloc((void **)&way.locked, LOG_CHUNK, CU_MEMHOSTALLOC_PORTABLE) &&
		     log_zero(&way, regions, bytes));
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
	return region_bytes && make_way(device, region_bytes * most_overlap(s));
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

static struct event_block *blocks;
static uint32_t nblocks;

void run_probes_memory(const struct event_block *b)
{
	const struct emu_events_sink *sink = run_events_sink();
	struct event_host h = {.kind = b ? EVENT_HOST_BLOCK : EVENT_HOST_MEMORY};

	if (b) {
		h.block = *b;
		blocks = realloc(blocks, (nblocks + 1) * sizeof *blocks);
		if (!blocks)
			abort();
		blocks[nblocks++] = *b;
	} else {
		nblocks = 0;
	}
	sink->host(sink->arg, &h);
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
	m->im2col = t->nlower > 0;
	for (unsigned i = 0; i < t->nlower; i++) {
		m->lower[i] = t->lower[i];
		m->upper[i] = t->upper[i];
	}
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

			m.hash = REGION_MAP(starting, number);
			tell_map(&m);
		}
}

static const struct event_sites *all_sites(void)
{
	static struct event_sites all;

	all = (struct event_sites){.site = sites.site, .run = sites.run, .text = "", .nsites = sites.n, .nruns = sites.nruns,
				   .norigins = sites.norigins, .origin = sites.origin};
	return &all;
}

static void *look_after(void *unused)
{
	const struct timespec nap = {.tv_nsec = NAP_US * 1000};

	if (!enter())
		return unused;
	while (!atomic_load(&stop)) {
		for (unsigned i = 0; i < nunder_way; i++)
			log_drain_look(under_way[i].drain);
		nanosleep(&nap, NULL);
	}
	return unused;
}

static bool begin_drain(void)
{
	if (!drained)
		return true;
	for (unsigned i = 0; i < nunder_way; i++) {
		under_way[i].drain = log_drain_begin(&way, under_way[i].param.region, &under_way[i].shape,
						     emulated ? EMU_PATIENCE_MS : PATIENCE_MS);
		if (!under_way[i].drain)
			return false;
	}
	atomic_store(&stop, false);
	return !pthread_create(&drainer, NULL, look_after, NULL);
}

static void end_drain(void)
{
	if (!drained)
		return;
	atomic_store(&stop, true);
	pthread_join(drainer, NULL);
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

/* Nothing of a launch is left to do but to start it: what is written here would come between those that overlap. */
bool run_probes_begin(const struct run_action *a, unsigned n)
{
	bool ok = true;

	under_way = realloc(under_way, n * sizeof *under_way);
	if (!under_way)
		abort();
	nunder_way = n;
	for (unsigned i = 0; i < n && ok; i++) {
		struct logged *l = &under_way[i];

		*l = (struct logged){.a = &a[i]};
		if (!is_suited(&a[i]))
			return false;
		lay_out(&a[i], &l->shape);
		log_fit(&l->shape, region_bytes);
		ok = leave(enter() && log_prepare(&way, regions + i * region_bytes, &l->shape, NULL, ++launches, &l->param));
	}
	return ok && begin_drain();
}

const void *run_probes_launch(unsigned i)
{
	const struct emu_events_sink *sink = run_events_sink();
	struct event_host h = {.kind = EVENT_HOST_LAUNCH, .early = i > 0};

	h.launch = starting = under_way[i].param.launch;
	h.blocks = under_way[i].shape.blocks;
	sink->sites(sink->arg, all_sites());
	sink->host(sink->arg, &h);
	return &under_way[i].param;
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
	return launch && launch <= launches && clear[launch];
}

static void print_screen(const struct logged *l, const uint32_t why[SCREEN_WHYS], uint32_t twins)
{
	if (clear[l->param.launch])
		fprintf(stderr, "gsan-run: %s is clear\n", l->a->kernel);
	for (unsigned i = 0; i < SCREEN_WHYS; i++)
		if (why[i])
			fprintf(stderr, "gsan-run: %s is not clear: %s (%u)\n", l->a->kernel, screen_why((enum screen_why)i), why[i]);
	if (twins)
		fprintf(stderr, "gsan-run: %s: %u of %u blocks do what a clear one did\n", l->a->kernel, twins, l->shape.blocks);
}

/* What is known of a kernel's blocks, of launches of that shape; NULL: there is no memory for it. */
static struct screen_twins *twins_of(const char *kernel, const struct screen_log *l)
{
	const struct probe_kernel *is = find_kernel(kernel);
	struct known *k;

	if (!known)
		known = calloc(sites.nkernels, sizeof *known);
	k = known && is ? &known[is - sites.kernel] : NULL;
	if (k && (k->threads != l->threads || k->shared != l->shared)) {
		free_twins(&k->twins);
		*k = (struct known){{.unit = calloc(TWINS_ROOM, sizeof *k->twins.unit), .what = calloc(TWINS_ROOM, sizeof *k->twins.what),
				     .room = TWINS_ROOM}, l->threads, l->shared};
	}
	return k && k->twins.unit && k->twins.what ? &k->twins : NULL;
}

/* Where the kernel's variables of shared memory lie, as block 0 has said; returns how many. */
static uint32_t places_of(const struct log_copy *log, struct event_place to[REGION_PLACES_MOST])
{
	struct region_places p;
	uint32_t k = 0;

	memcpy(&p, log->unit + REGION_PLACES, sizeof p);
	for (uint32_t i = 0; p.n && i < p.n - 1 && i < REGION_PLACES_MOST; i++) {
		uint32_t n = p.place[i].variable;

		if (n < sites.nvariables)
			to[k++] = (struct event_place){n, p.place[i].at, sites.variable[n].dynamic ? p.dynamic : sites.variable[n].bytes};
	}
	return k;
}

/* Each block by itself, and by what those before it did, which has to come to the same. */
static bool screen(const struct logged *l, const struct log_copy *log)
{
	const struct screen_maps maps_now = {told, ntold};
	const struct log_shape *s = &l->shape;
	struct event_place place[REGION_PLACES_MOST];
	const struct screen_places places = {place, places_of(log, place), blocks, nblocks};
	struct region_block block;
	uint32_t why[SCREEN_WHYS], again[SCREEN_WHYS];
	struct screen_twins *twins;
	struct screen_log x = {
		.unit = log->unit, .launch = l->param.launch, .heads = s->heads, .slots = s->slots,
		.end = s->end, .next = log->end, .piece = s->piece, .blocks = s->blocks, .warps = s->warps
	};
	bool same = true;

	memcpy(&block, log->unit + s->heads, sizeof block);
	x.threads = block.threads;
	x.shared = block.shared;
	x.rows = screen_rows(l->a->block[0], block.threads);
	twins = twins_of(l->a->kernel, &x);
	clear[l->param.launch] = screen_launch(&x, all_sites(), &maps_now, &places, NULL, why);
	for (unsigned i = 0; twins && i < TWINS_TURNS && same; i++) {
		twins->found = 0;
		screen_launch(&x, all_sites(), &maps_now, &places, twins, again);
		same = !memcmp(why, again, sizeof why);
	}
	if (!same)
		fprintf(stderr, "gsan-run: %s: a fault in gsan, please report it: the screen (detect/screen.h) does not judge blocks "
			"that do the same as it judges each\n", l->a->kernel);
	if (verbose)
		print_screen(l, why, twins ? twins->found : 0);
	return same;
}

static void tell_places(const struct logged *l, const struct log_copy *log)
{
	const struct emu_events_sink *sink = run_events_sink();
	struct event_place place[REGION_PLACES_MOST];
	struct event_host h = {.kind = EVENT_HOST_VARIABLE, .launch = l->param.launch};
	uint32_t n = places_of(log, place);

	for (uint32_t i = 0; i < n; i++) {
		h.place = place[i];
		sink->host(sink->arg, &h);
	}
}

static void tell_drained(const struct logged *l, const struct log_fill *fill, uint32_t n)
{
	uint32_t taken = 0;

	for (uint32_t i = 0; fill && i < n; i++)
		taken += fill[i].copy != NULL;
	if (verbose)
		fprintf(stderr, "gsan-run: launch %u: %u pieces were taken out while it ran\n", l->param.launch, taken);
}

/* What is lost is lost from a time on. */
static void tell_cut(const struct logged *l, const struct region_head *head)
{
	const struct emu_events_sink *sink = run_events_sink();
	struct event_host h = {.kind = EVENT_HOST_CUT, .launch = l->param.launch, .timer = head->since};

	if (!head->lost)
		return;
	if (verbose)
		fprintf(stderr, "gsan-run: launch %u: the log was full: %u pieces of it are lost\n", l->param.launch, head->lost);
	sink->host(sink->arg, &h);
}

/* The launch is over, and this is its log. */
static bool tell_log(const struct logged *l, const struct log_copy *log, const struct log_fill *fill, uint32_t n)
{
	const struct emu_events_sink *sink = run_events_sink();

	clear = realloc(clear, (launches + 1) * sizeof *clear);
	if (!clear)
		return false;
	clear[l->param.launch] = false;
	tell_places(l, log);
	tell_cut(l, &log->head);
	tell_drained(l, fill, n);
	return !log_tell(log, &l->shape, fill, n, tell_piece, (void *)(uintptr_t)sink);
}

static bool take(struct logged *l)
{
	const struct emu_events_sink *sink = run_events_sink();
	const struct event_host h = {.kind = EVENT_HOST_OVER, .launch = l->param.launch};
	struct log_copy log;
	uint32_t n = 0;
	const struct log_fill *fill = l->drain ? log_drain_end(l->drain, &n) : NULL;
	bool ok = log_take(&way, l->param.region, &l->shape, &log) && tell_log(l, &log, fill, n);

	if (!ok)
		fputs("gsan-run: the launch's log cannot be read: the kernel may have written where it lies\n", stderr);
	else if (!log.head.lost && !fill && nunder_way == 1)
		ok = screen(l, &log);
	sink->host(sink->arg, &h);
	ok = log_clear(&way, l->param.region, &l->shape, log.end, true) && ok;
	free(log.unit);
	return ok;
}

bool run_probes_take(void)
{
	bool ok = !cu->cuCtxSynchronize(), all;

	end_drain();
	if (!ok || !enter()) {
		fputs("gsan-run: the launch ended in an error, and its log is lost with it\n", stderr);
		return false;
	}
	all = true;
	for (unsigned i = 0; i < nunder_way; i++) {
		all = take(&under_way[i]) && all;
		if (under_way[i].drain)
			log_drain_free(under_way[i].drain);
	}
	return leave(all);
}
