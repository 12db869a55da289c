/* SPDX-License-Identifier: Apache-2.0
 *
 * probes.c: a reproducer whose kernels log by probes: the log's memory, and its way to the detector.
 * Launches are one behind the other: each one's log is taken when it is over.
 */
#include <stdlib.h>
#include <string.h>

#include "probe/probe.h"
#include "run/judge.h"
#include "run/run.h"

enum { REGION = 64 << 20 };     /* bytes */

static struct probe_sites sites;
static struct run_driver *cu;
static CUdeviceptr region, variable;
static uint64_t launches;

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

static bool put_head(void)
{
	struct probe_log head = {.next = PROBE_PIECE, .bytes = REGION};

	return !cu->cuMemcpyHtoD_v2(region, &head, sizeof head);
}

bool run_probes_ready(struct run_driver *driver, CUmodule module)
{
	size_t bytes;

	cu = driver;
	return !cu->cuModuleGetGlobal_v2(&variable, &bytes, module, PROBE_LOG) && !cu->cuMemAlloc_v2(&region, REGION + PROBE_PIECE) &&
	       (region = (region + PROBE_PIECE - 1) / PROBE_PIECE * PROBE_PIECE) != 0 && !cu->cuMemsetD8Async(region, 0, REGION, NULL) && !cu->cuCtxSynchronize() && put_head();
}

/* Its events are told with the first launch. */
void run_probes_map(const struct run_tmap *t, CUdeviceptr base, const CUtensorMap *map)
{
	static const uint8_t atoms[] = {16, 32, 32, 64};
	const struct emu_events_sink *sink = run_events_sink();
	struct event_host h = {.kind = EVENT_HOST_MAP};
	struct event_map *m = &h.map;

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
	m->atom = atoms[0];
	m->slice = (uint8_t)t->slice;
	if (!t->nlower)
		sink->host(sink->arg, &h);
}

bool run_probes_launch(const uint32_t *grid)
{
	const struct emu_events_sink *sink = run_events_sink();
	const struct event_sites all = {.site = sites.site, .text = "", .nsites = sites.n};
	struct event_host h = {.kind = EVENT_HOST_LAUNCH, .launch = (uint32_t)++launches};
	uint64_t words[2] = {region, launches};

	h.blocks = grid[0] * grid[1] * grid[2];
	sink->sites(sink->arg, &all);
	sink->host(sink->arg, &h);
	return !cu->cuMemcpyHtoD_v2(variable, words, sizeof words);
}

/* Pieces that were begun, one behind the other. */
static void tell(const unsigned char *log, uint64_t bytes)
{
	const struct emu_events_sink *sink = run_events_sink();

	for (uint64_t at = PROBE_PIECE; at + PROBE_PIECE <= bytes; at += PROBE_PIECE)
		sink->piece(sink->arg, (const struct event_piece *)(const void *)(log + at));
}

bool run_probes_take(void)
{
	const struct emu_events_sink *sink = run_events_sink();
	struct event_host h = {.kind = EVENT_HOST_OVER, .launch = (uint32_t)launches};
	struct probe_log head;
	unsigned char *log;
	bool ok;

	if (cu->cuCtxSynchronize() || cu->cuMemcpyDtoH_v2(&head, region, sizeof head)) {
		fputs("gsan-run: the launch ended in an error, and its log is lost with it\n", stderr);
		return false;
	}
	if (head.lost) {
		fprintf(stderr, "gsan-run: the log is full: %llu pieces of it are lost; use a smaller launch\n",
			(unsigned long long)head.lost);
		return false;
	}
	log = malloc(head.next);
	ok = log && !cu->cuMemcpyDtoH_v2(log, region, head.next < REGION ? head.next : REGION);
	if (ok)
		tell(log, head.next < REGION - PROBE_PIECE ? head.next : REGION - PROBE_PIECE);
	free(log);
	sink->host(sink->arg, &h);
	return ok && !cu->cuMemsetD8Async(region, 0, REGION, NULL) && !cu->cuCtxSynchronize() && put_head();
}
