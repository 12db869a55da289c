/* SPDX-License-Identifier: Apache-2.0
 *
 * probes.c: a reproducer whose kernels log by probes: the log's memory, and its way to the detector.
 * Launches are one behind the other: each one's log is taken when it is over.
 */
#include <stdlib.h>
#include <string.h>

#include "detect/screen.h"
#include "probe/probe.h"
#include "run/drain.h"
#include "run/judge.h"

enum { REGION_LEAST = 64 << 20 };       /* bytes */
#define REGION_MOST (UINT64_C(16) << 30)
enum { QUEUE_MOST = 1 << 18 };

/* A launch: warps of a block; end of its pieces; lanes that can be there at once; where what it needs ends. */
struct shape { uint32_t blocks, warps, piece, end, entries, lanes; uint64_t need; };

static struct probe_sites sites;
static struct run_driver *cu;
static CUdeviceptr region;
static uint64_t region_units;
static bool drained, verbose;
static uint32_t device_lanes;           /* that the device can hold */
static struct region_launch now;
static struct shape shape;

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

char *run_probes_text(const struct run_script *s)
{
	char *text;

	forget_twins();
	text = probe_module(s->path, s->text, s->len, &sites, NULL, NULL);

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

static uint64_t round_up(uint64_t n, uint32_t to)
{
	return (n + to - 1) / to * to;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static const struct probe_kernel *find_kernel(const char *name)
{
	for (uint32_t i = 0; i < sites.nkernels; i++)
		if (!strcmp(sites.kernel[i].name, name))
			return &sites.kernel[i];
	return NULL;
}

/* Where a launch's arrays are; if the region is drained there is a piece for each lane that can be there, one more,
 * and the one for what is lost. */
static struct shape lay_out(const struct run_action *a, struct region_launch *l)
{
	const struct probe_kernel *k = find_kernel(a->kernel);
	struct shape s = {.blocks = a->grid[0] * a->grid[1] * a->grid[2], .piece = k ? k->piece : REGION_PIECE_MAX, .entries = 1};
	uint64_t slots, end;

	s.warps = (a->block[0] * a->block[1] * a->block[2] + EVENT_LANES - 1) / EVENT_LANES;
	s.lanes = (uint32_t)least((uint64_t)s.blocks * s.warps * EVENT_LANES, device_lanes);
	while (drained && s.entries < least(s.lanes, QUEUE_MOST))
		s.entries *= 2;
	l->heads = REGION_QUEUE + (uint32_t)round_up(s.entries, 2) / 2;
	l->queue = s.entries - 1;
	slots = round_up(l->heads + (uint64_t)s.blocks * REGION_BLOCK, s.piece);
	end = round_up(slots + (uint64_t)s.blocks * s.warps * s.piece, REGION_PIECE_MAX);
	s.need = end + (drained ? (uint64_t)s.lanes + 2 : 2) * s.piece;
	l->slots = (uint32_t)slots;
	s.end = (uint32_t)end;
	return s;
}

/* As many units as are asked for, or else as the launches need.  0: too few, which is said. */
static uint64_t size_of_region(const struct run_script *s, const struct run_job *job)
{
	uint64_t need = 0, bytes;

	for (unsigned i = 0; i < s->nactions; i++) {
		struct region_launch l;
		struct shape x = s->actions[i].kind == ACT_LAUNCH ? lay_out(&s->actions[i], &l) : (struct shape){0};

		need = x.need > need ? x.need : need;
	}
	need = round_up(need, REGION_PIECE_MAX) * sizeof(struct event_unit);
	bytes = job->region ? job->region : need > REGION_LEAST ? need : REGION_LEAST;
	if (need <= bytes && bytes <= REGION_MOST)
		return bytes / (sizeof(struct event_unit) * REGION_PIECE_MAX) * REGION_PIECE_MAX;
	if (need <= REGION_MOST)
		fprintf(stderr, "gsan-run: %s: --region: the launches need at least %lluK%s, and at most %lluG can be had\n", s->path,
			(unsigned long long)need >> 10, drained ? " (a piece of the log for each lane that the device can hold)" : "",
			(unsigned long long)REGION_MOST >> 30);
	else
		fprintf(stderr, "gsan-run: %s: the log is full before it begins: use a smaller launch\n", s->path);
	return 0;
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
	size_t bytes;

	cu = driver;
	drained = !job->no_drain;
	verbose = job->verbose;
	if (drained && !cu->cuCtxCreate_v2) {
		fputs("gsan-run: the driver has no cuCtxCreate_v2: use --no-drain\n", stderr);
		return false;
	}
	if (!find_lanes(device) || !put_lanes(module))
		return false;
	region_units = size_of_region(s, job);
	bytes = region_units * sizeof(struct event_unit);
	return bytes && (drained ? drain_alloc(cu, job->emu, device, bytes, &region) : !cu->cuMemAlloc_v2(&region, bytes)) &&
	       !cu->cuMemsetD8Async(region, 0, bytes, NULL) && !cu->cuCtxSynchronize();
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

/* Whose turn it is at first. */
static bool put_queue(void)
{
	struct region_entry *q = calloc(shape.entries, sizeof *q);
	uint32_t number = now.last / shape.piece + 1;
	bool ok = q;

	for (uint32_t i = 0; ok && i < shape.entries; i++, number++)
		q[number & now.queue].ticket = number * shape.piece;
	ok = ok && !cu->cuMemcpyHtoD_v2(region + 16 * REGION_QUEUE, q, shape.entries * sizeof *q);
	free(q);
	return ok;
}

static struct drain_shape drain_shape(void)
{
	return (struct drain_shape){now.slots, shape.end, now.last, shape.piece, shape.entries, shape.blocks * shape.warps};
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
	struct region_head head = {.cut = !drained, .since = UINT64_MAX};
	struct drain_shape s;

	if (!is_suited(a))
		return NULL;
	shape = lay_out(a, &now);
	now.region = region;
	now.launch++;
	head.next = shape.end;
	head.last = now.last = (uint32_t)region_units / shape.piece * shape.piece - 2 * shape.piece;
	h.launch = now.launch;
	h.blocks = shape.blocks;
	sink->sites(sink->arg, all_sites());
	sink->host(sink->arg, &h);
	s = drain_shape();
	return cu->cuMemcpyHtoD_v2(region, &head, sizeof head) || cu->cuMemcpyHtoD_v2(region + REGION_LAUNCH, &now, sizeof now) ||
	       (drained && (!put_queue() || !drain_begin(region, &s))) ? NULL : &now;
}

/* ---- a log, piece by piece -------------------------------------------------------------------------- */

struct piece { struct event_piece head; struct event_unit unit[REGION_PIECE_MAX]; };

static void tell(const struct event_unit *log, uint32_t warp, const struct event_unit *first, const struct region_piece *at)
{
	const struct emu_events_sink *sink = run_events_sink();
	struct piece p = {0};
	struct region_block b;
	uint32_t skip = at ? sizeof *at / sizeof *first : 0, units = shape.piece - skip;

	memcpy(&b, log + now.heads + warp / shape.warps * REGION_BLOCK, sizeof b);
	p.head = (struct event_piece){
		.magic = b.magic, .launch = b.launch, .block = b.block, .first = b.first, .rank = (uint16_t)b.place,
		.blocks = (uint16_t)(b.place >> 16), .warp = (uint8_t)(warp % shape.warps), .leader = at ? (uint8_t)at->leader : 0,
		.sm = (uint16_t)b.sm, .bytes = (uint32_t)(sizeof p.head + units * sizeof *first), .window = b.window,
		.clock = at ? at->clock : b.clock, .timer = at ? at->timer : b.timer
	};
	memcpy(p.unit, first + skip, units * sizeof *first);
	sink->piece(sink->arg, &p.head);
}

/* Where a ticket's piece is; NULL: nobody has it. */
static const struct event_unit *piece_of(const struct event_unit *log, uint32_t end, const struct drain_fill *f, uint32_t number)
{
	const struct drain_shape s = drain_shape();
	const struct event_unit *u = f->copy ? f->copy : f->place && f->place + shape.piece <= end ? log + f->place : NULL;
	struct region_piece at;

	if (!u)
		return NULL;
	memcpy(&at, u, sizeof at);
	return at.magic == EVENT_MAGIC && at.ticket == drain_ticket(&s, number) ? u : NULL;
}

/* The warp of a piece, which begins behind another one or, of the first one of another leader than lane 0, in front of
 * the warp's. */
static uint32_t warp_of(const struct region_piece *at, const struct drain_fill *f, const uint32_t *warp, uint32_t number)
{
	const struct drain_shape s = drain_shape();
	uint32_t before = f->before != DRAIN_NONE ? f->before : (at->behind - shape.end) / shape.piece;

	if (at->behind < shape.end)
		return drain_warp(&s, at->behind, at->leader);
	return before < number ? warp[before] : DRAIN_NONE;
}

/* Those of the launch's warps, then those that were taken, in the order of their tickets.  False: the kernel has written
 * where its log is. */
static bool tell_all(const struct event_unit *log, uint32_t end, const struct drain_fill *fill, uint32_t n)
{
	uint32_t *warp = calloc(n + 1, sizeof *warp);
	bool ok = warp;

	for (uint32_t w = 0; w < shape.blocks * shape.warps; w++)
		tell(log, w, log + now.slots + w * shape.piece, NULL);
	for (uint32_t i = 0; ok && i < n; i++) {
		const struct event_unit *u = piece_of(log, end, &fill[i], i);
		struct region_piece at;

		if (!u)
			continue;
		memcpy(&at, u, sizeof at);
		warp[i] = warp_of(&at, &fill[i], warp, i);
		ok = warp[i] < shape.blocks * shape.warps;
		if (ok)
			tell(log, warp[i], u, &at);
	}
	free(warp);
	return ok;
}

/* ---- whether there is anything to judge ------------------------------------------------------------------ */

static bool *clear;             /* by launch, from 1 on */

bool run_probes_clear(uint32_t launch)
{
	return launch && launch <= now.launch && clear[launch];
}

static void print_screen(const char *kernel, const uint32_t why[SCREEN_WHYS], uint32_t twins)
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
	if (twins)
		fprintf(stderr, "gsan-run: %s: %u of %u blocks do what a clear one did\n", kernel, twins, shape.blocks);
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

/* Each block by itself, and by what those before it did, which has to come to the same. */
static bool screen(const struct event_unit *log, uint32_t next, const char *kernel)
{
	const struct screen_maps maps_now = {told, ntold};
	struct screen_twins *twins;
	struct region_block first;
	uint32_t why[SCREEN_WHYS], again[SCREEN_WHYS];
	struct screen_log l = {
		.unit = log, .launch = now.launch, .heads = now.heads, .slots = now.slots,
		.end = shape.end, .next = next, .piece = shape.piece, .blocks = shape.blocks, .warps = shape.warps
	};
	bool same = true;

	memcpy(&first, log + now.heads, sizeof first);
	l.threads = first.threads;
	l.shared = first.shared;
	twins = twins_of(kernel, &l);
	clear[now.launch] = screen_launch(&l, all_sites(), &maps_now, NULL, why);
	for (unsigned i = 0; twins && i < TWINS_TURNS && same; i++) {
		twins->found = 0;
		screen_launch(&l, all_sites(), &maps_now, twins, again);
		same = !memcmp(why, again, sizeof why);
	}
	if (!same)
		fprintf(stderr, "gsan-run: %s: a fault in gsan, please report it: the screen (detect/screen.h) does not judge blocks "
			"that do the same as it judges each\n", kernel);
	if (verbose)
		print_screen(kernel, why, twins ? twins->found : 0);
	return same;
}

/* Tickets of a region that is not drained. */
static const struct drain_fill *first_fills(uint32_t *n)
{
	static struct drain_fill *v;
	const struct drain_shape s = drain_shape();

	*n = drain_places(&s);
	free(v);
	v = calloc(*n, sizeof *v);
	for (uint32_t i = 0; v && i < *n; i++)
		v[i] = (struct drain_fill){.place = drain_ticket(&s, i), .before = DRAIN_NONE};
	return v;
}

static void tell_drained(const struct drain_fill *fill, uint32_t n)
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
static bool take_log(const struct event_unit *log, const struct region_head *head, uint32_t end, const struct drain_fill *fill,
		     uint32_t n)
{
	clear = realloc(clear, (now.launch + 1) * sizeof *clear);
	if (!fill || !log || !clear)
		return false;
	clear[now.launch] = false;
	tell_cut(head);
	tell_drained(fill, n);
	return tell_all(log, end, fill, n);
}

bool run_probes_take(const struct run_action *a)
{
	const struct emu_events_sink *sink = run_events_sink();
	struct event_host h = {.kind = EVENT_HOST_OVER, .launch = now.launch};
	struct region_head head;
	struct event_unit *log;
	uint32_t end, n;
	bool ok = !cu->cuCtxSynchronize();
	const struct drain_fill *fill = drained ? drain_end(&n) : first_fills(&n);
	const struct drain_shape places = drain_shape();

	if (!ok || cu->cuMemcpyDtoH_v2(&head, region, sizeof head)) {
		fputs("gsan-run: the launch ended in an error, and its log is lost with it\n", stderr);
		return false;
	}
	end = (uint32_t)least(head.next, now.last + shape.piece);
	log = malloc((size_t)end * sizeof *log);
	ok = log && !cu->cuMemcpyDtoH_v2(log, region, (size_t)end * sizeof *log);
	ok = take_log(ok ? log : NULL, &head, end, fill, n);
	if (!ok)
		fputs("gsan-run: the launch's log cannot be read: the kernel may have written where it lies\n", stderr);
	else if (!head.lost && n == drain_places(&places))
		ok = screen(log, end, a->kernel);
	free(log);
	sink->host(sink->arg, &h);
	return ok && !cu->cuMemsetD8Async(region, 0, (size_t)end * sizeof *log, NULL) && !cu->cuCtxSynchronize();
}
