/* SPDX-License-Identifier: Apache-2.0
 *
 * probes.c: a reproducer whose kernels log by probes: the log's memory, and its way to the detector.
 * Launches are one behind the other: each one's log is taken when it is over.
 */
#include <stdlib.h>
#include <string.h>

#include "detect/screen.h"
#include "probe/probe.h"
#include "run/judge.h"
#include "run/run.h"

enum { REGION = 64 << 20 };     /* bytes, of which these are taken at first: */
enum { HEAD_UNITS = REGION_PIECE_MAX };

static struct probe_sites sites;
static struct run_driver *cu;
static CUdeviceptr region;
static struct region_launch now;
static struct { uint32_t blocks, warps, piece, end; } shape;    /* of it: warps of a block; end of its pieces */

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

bool run_probes_ready(struct run_driver *driver, CUmodule module)
{
	cu = driver;
	return put_lanes(module) && !cu->cuMemAlloc_v2(&region, REGION) && !cu->cuMemsetD8Async(region, 0, REGION, NULL) && !cu->cuCtxSynchronize();
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

static uint32_t round_up(uint64_t n, uint32_t to)
{
	return (uint32_t)((n + to - 1) / to * to);
}

const void *run_probes_launch(const struct run_action *a)
{
	const struct emu_events_sink *sink = run_events_sink();
	struct event_host h = {.kind = EVENT_HOST_LAUNCH};
	struct region_head head = {0};

	shape.blocks = a->grid[0] * a->grid[1] * a->grid[2];
	shape.warps = (a->block[0] * a->block[1] * a->block[2] + EVENT_LANES - 1) / EVENT_LANES;
	for (uint32_t i = 0; i < sites.nkernels; i++) {
		if (strcmp(sites.kernel[i].name, a->kernel))
			continue;
		shape.piece = sites.kernel[i].piece;
		if (sites.kernel[i].flat && a->block[0] % EVENT_LANES && a->block[1] * a->block[2] > 1) {
			fprintf(stderr, "%s: not watched: a block of %u x %u x %u threads, of which the kernel looks at %%tid.x alone\n", a->kernel,
				a->block[0], a->block[1], a->block[2]);
			return NULL;
		}
	}
	now.region = region;
	now.heads = HEAD_UNITS;
	now.slots = round_up(now.heads + (uint64_t)shape.blocks * REGION_BLOCK, shape.piece);
	now.launch++;
	shape.end = round_up(now.slots + (uint64_t)shape.blocks * shape.warps * shape.piece, REGION_PIECE_MAX);
	head.next = shape.end;
	head.last = now.last = REGION / 16 - shape.piece;
	if (shape.end > head.last) {
		fprintf(stderr, "%s: the log is full before it begins: use a smaller launch\n", a->kernel);
		return NULL;
	}
	h.launch = now.launch;
	h.blocks = shape.blocks;
	sink->sites(sink->arg, all_sites());
	sink->host(sink->arg, &h);
	return cu->cuMemcpyHtoD_v2(region, &head, sizeof head) || cu->cuMemcpyHtoD_v2(region + REGION_LAUNCH, &now, sizeof now) ? NULL : &now;
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

/* The warp of a piece, which begins behind another one or, of the first one of another leader than lane 0, in front of
 * the warp's. */
static uint32_t warp_of(const struct region_piece *at, const uint32_t *warp, uint32_t n)
{
	uint32_t i = (at->behind - shape.end) / shape.piece;

	if (at->behind < shape.end)
		return at->behind + 1 < now.slots ? SCREEN_NONE : (at->behind + (at->leader != 0) - now.slots) / shape.piece;
	return i < n ? warp[i] : SCREEN_NONE;
}

/* Those of the launch's warps, then those that were taken, each behind those that it says it is behind.  False: the
 * kernel has written where its log is. */
static bool tell_all(const struct event_unit *log, uint32_t end)
{
	uint32_t n = (end - shape.end) / shape.piece, *warp = calloc(n + 1, sizeof *warp);
	struct region_piece at;
	bool ok = warp;

	for (uint32_t w = 0; w < shape.blocks * shape.warps; w++)
		tell(log, w, log + now.slots + w * shape.piece, NULL);
	for (uint32_t i = 0; ok && i < n; i++) {
		memcpy(&at, log + shape.end + i * shape.piece, sizeof at);
		if (at.magic != EVENT_MAGIC)
			continue;
		warp[i] = warp_of(&at, warp, i);
		ok = warp[i] < shape.blocks * shape.warps;
		if (ok)
			tell(log, warp[i], log + shape.end + i * shape.piece, &at);
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

static void screen(const struct event_unit *log, uint32_t next, const char *kernel, bool verbose)
{
	const struct screen_maps maps_now = {told, ntold};
	struct region_block first;
	uint32_t why[SCREEN_WHYS];
	struct screen_log l = {
		.unit = log, .launch = now.launch, .heads = now.heads, .slots = now.slots,
		.end = shape.end, .next = next, .piece = shape.piece, .blocks = shape.blocks, .warps = shape.warps
	};

	memcpy(&first, log + now.heads, sizeof first);
	l.threads = first.threads;
	l.shared = first.shared;
	clear = realloc(clear, (now.launch + 1) * sizeof *clear);
	if (!clear)
		abort();
	clear[now.launch] = screen_launch(&l, all_sites(), &maps_now, why);
	if (verbose)
		print_screen(kernel, why);
}

bool run_probes_take(const struct run_action *a, bool verbose)
{
	const struct emu_events_sink *sink = run_events_sink();
	struct event_host h = {.kind = EVENT_HOST_OVER, .launch = now.launch};
	struct region_head head;
	struct event_unit *log;
	uint32_t end;
	bool ok;

	if (cu->cuCtxSynchronize() || cu->cuMemcpyDtoH_v2(&head, region, sizeof head)) {
		fputs("gsan-run: the launch ended in an error, and its log is lost with it\n", stderr);
		return false;
	}
	if (head.lost) {
		fprintf(stderr, "gsan-run: the log is full: %u pieces of it are lost; use a smaller launch\n", head.lost);
		return false;
	}
	end = head.next;
	log = malloc((size_t)end * sizeof *log);
	ok = log && !cu->cuMemcpyDtoH_v2(log, region, (size_t)end * sizeof *log);
	ok = ok && tell_all(log, end);
	if (ok)
		screen(log, end, a->kernel, verbose);
	else
		fputs("gsan-run: the launch's log cannot be read: the kernel may have written where it lies\n", stderr);
	free(log);
	sink->host(sink->arg, &h);
	return ok && !cu->cuMemsetD8Async(region, 0, (size_t)end * sizeof *log, NULL) && !cu->cuCtxSynchronize();
}
