/* SPDX-License-Identifier: Apache-2.0
 *
 * detect.c: the detector from outside, and the order of its passes.
 */
#include <stdlib.h>
#include <string.h>

#include "detect/impl.h"

struct detect *detect_new(void)
{
	return (struct detect *)detect_zeroed(1, sizeof(struct detect));
}

static void forget_log(struct detect *d)
{
	struct list *const lists[] = {
		&d->launch.list, &d->block_at.list, &d->block.list, &d->warp.list, &d->certain.list, &d->unit.list, &d->event.list,
		&d->run.list, &d->stream.list, &d->head.list, &d->word_op.list, &d->pred.list, &d->word.list, &d->observer.list, &d->bar.list, &d->mbar.list,
		&d->life.list,
		&d->access.list, &d->wrote.list, &d->race.list, &d->map_fence.list, &d->guest.list
	};

	for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++)
		list_free(lists[i]);
	forget_places(d);
	d->nactors = d->noperations = 0;
	d->loose = false;
}

void detect_free(struct detect *d)
{
	if (!d)
		return;
	forget_log(d);
	list_free(&d->site.list);
	list_free(&d->run_site.list);
	list_free(&d->origin.list);
	list_free(&d->origins_of.list);
	list_free(&d->map.list);
	list_free(&d->past.list);
	forget_ground(d);
	list_free(&d->finding.list);
	free_graph(&d->graph);
	free_answers(&d->answers);
	arena_reset(&d->arena);
	free(d);
}

/* ---- choices: what the documentation leaves open (memory-model.md 2.4) --------------------------------- */

/* Values of a choice, in the order of their numbers; 0 is the default. */
static const struct choice { const char *name, *value[3]; size_t at; } choices[] = {
	{"detect", {"normal", "reference"}, offsetof(struct choices, reference)},
	{"proxy_fence", {"own", "path"}, offsetof(struct choices, path)},
	{"proxy_war", {"error", "warn", "off"}, offsetof(struct choices, war)},
	{"proxy_cta", {"strict", "any"}, offsetof(struct choices, any_block)},
	{"async_proxy", {"cluster", "per-cta"}, offsetof(struct choices, per_block)},
	{"tx_scope", {"any", "strict"}, offsetof(struct choices, wide_tx)},
	{"tcgen05_fence", {"on", "off"}, offsetof(struct choices, no_tensor_fence)},
	{"async_read_fence", {"off", "strict"}, offsetof(struct choices, read_fence)},
	{"wgmma_read_retire", {"on", "off"}, offsetof(struct choices, no_retire)},
	{"mbar_init_fence", {"off", "strict"}, offsetof(struct choices, init_fence)},
	{"warp_sync_orders", {"off", "on"}, offsetof(struct choices, lockstep)},
	{"same_value", {"report", "ignore"}, offsetof(struct choices, same_value)},
	{"exit_async", {"off", "strict"}, offsetof(struct choices, exits)},
	{"pdl_no_trigger", {"clean", "race"}, offsetof(struct choices, trigger)},
	{"arrive_scope", {"reads", "any", "strict"}, offsetof(struct choices, arrive)},
	{"volatile_is_weak", {"0", "1"}, offsetof(struct choices, weak_volatile)},
	{"bounds", {"1", "0"}, offsetof(struct choices, no_bounds)},
	{"uninit", {"0", "1"}, offsetof(struct choices, uninit)}
};

static const struct choice *find(const char *name)
{
	for (unsigned i = 0; i < sizeof choices / sizeof *choices; i++)
		if (!strcmp(name, choices[i].name))
			return &choices[i];
	return NULL;
}

bool detect_is_strict(const struct detect *d)
{
	const struct choices *c = &d->choices;

	return c->read_fence || c->init_fence || c->exits || c->per_block || c->no_retire || c->wide_tx || c->weak_volatile ||
	       c->trigger || c->uninit;
}

bool detect_knows(const char *name)
{
	return find(name) != NULL;
}

bool detect_choose(struct detect *d, const char *name, const char *value)
{
	const struct choice *c = find(name);

	for (uint8_t i = 0; c && i < 3; i++) {
		if (!c->value[i] || strcmp(value, c->value[i]))
			continue;
		*((uint8_t *)&d->choices + c->at) = i;
		return true;
	}
	return false;
}

/* ---- input ----------------------------------------------------------------------------------------- */

void detect_sites(struct detect *d, const struct event_sites *s)
{
	uint32_t runs = d->run_site.n;

	add_origins(d, s);
	d->sites_now = d->site.n;
	d->nsites_now = s->nsites;
	for (uint32_t i = 0; i < s->nsites; i++) {
		struct event_site *to = ADD(&d->site);

		*to = s->site[i];
		to->run += runs;
		if (d->choices.weak_volatile && to->sem == EVENT_VOLATILE)
			to->sem = EVENT_SEM_NONE;
		if (to->run + to->nrun > runs + s->nruns)
			to->nrun = 0;
		d->tensors |= to->kind == EVENT_TENSOR;
		d->sc |= to->kind == EVENT_FENCE && to->sem == EVENT_SC;
		d->asyncs |= to->kind == EVENT_COPY || to->kind == EVENT_TENSOR || to->kind == EVENT_CANCEL ||
			     to->kind == EVENT_WGMMA || to->kind == EVENT_TC_MMA || to->kind == EVENT_TC_COPY;
	}
	for (uint32_t i = 0; i < s->nruns; i++) {
		struct event_run *r = ADD(&d->run_site);

		*r = s->run[i];
		r->site = d->sites_now + (r->site < s->nsites ? r->site : 0);
	}
}

/* A launch that does not begin early comes behind all before it: nothing of them is needed any more,
 * but what may be a tensor map. */
static void add_launch(struct detect *d, const struct event_host *h)
{
	if (!h->early) {
		keep_past(d);
		forget_log(d);
	}
	*ADD(&d->launch) = (struct launch){
		.number = h->launch, .nblocks = h->blocks, .sites = d->sites_now, .nsites = d->nsites_now,
		.first_block = d->block_at.n, .cut = UINT64_MAX
	};
	find_ground(d, &d->launch.v[d->launch.n - 1], h->early);
	for (uint32_t i = 0; i < h->blocks; i++)
		*ADD(&d->block_at) = NONE;
}

static const struct event_map *find_map(const struct detect *d, uint64_t hash)
{
	for (uint32_t i = d->map.n; i-- > 0;)
		if (d->map.v[i].hash == hash)
			return &d->map.v[i];
	return NULL;
}

const struct event_map *map_of(const struct detect *d, const struct event *e, unsigned lane)
{
	return find_map(d, event_get(record_of(d, e), lane, EVENT_TENSOR_HASH));
}

/* Kernels may begin with 128 bytes of zeros (Triton's compiler does): what each field means by 0. */
static const struct event_map *map_of_zeros(uint64_t hash)
{
	static const unsigned char zeros[128] = {0};
	static const struct event_map m = {.stride = {1}, .every = {1, 1, 1, 1, 1}, .rank = 1, .atom = 16};

	return hash == event_map_hash(zeros) ? &m : NULL;
}

/* A map that an edit makes of one that is known is known. */
static bool add_edit(struct detect *d, const struct event *e, unsigned lane)
{
	const struct event_unit *u = record_of(d, e);
	uint64_t hash = event_get(u, lane, EVENT_MAP_EDIT_WAS);
	const struct event_map *known = find_map(d, hash), *was = known ? known : map_of_zeros(hash);
	struct event_map m;

	if (!was || find_map(d, event_get(u, lane, EVENT_MAP_EDIT_HASH)))
		return false;
	m = extent_edited(u, site_of(d, e), lane, was);
	*ADD(&d->map) = m;
	return true;
}

static void learn_maps(struct detect *d)
{
	for (bool more = true; more;) {
		more = false;
		for (uint32_t i = 0; i < d->event.n; i++) {
			const struct event *e = &d->event.v[i];

			EACH_LANE(l, e->kind == EVENT_MAP_EDIT ? e->lanes : 0)
				more |= add_edit(d, e, l);
		}
	}
}

static void judge_all(struct detect *d);

static void note_end(struct detect *d, const struct event_host *h)
{
	for (uint32_t i = 0; i < d->launch.n; i++) {
		struct launch *l = &d->launch.v[i];

		if (l->number != h->launch)
			continue;
		l->cut = h->kind == EVENT_HOST_CUT ? h->timer : l->cut;
		l->over |= h->kind == EVENT_HOST_OVER;
		d->counter[DETECT_CUT] += h->kind == EVENT_HOST_CUT;
	}
}

void detect_host(struct detect *d, const struct event_host *h)
{
	if (h->kind == EVENT_HOST_LAUNCH) {
		judge_all(d);
		add_launch(d, h);
	} else if (h->kind == EVENT_HOST_MAP && !find_map(d, h->map.hash)) {
		*ADD(&d->map) = h->map;
	} else if (h->kind == EVENT_HOST_VARIABLE) {
		add_place(d, h);
	} else if (h->kind == EVENT_HOST_MEMORY || h->kind == EVENT_HOST_BLOCK) {
		add_block(d, h);
	}
	if (h->kind == EVENT_HOST_CUT || h->kind == EVENT_HOST_OVER)
		note_end(d, h);
	d->fault |= h->kind == EVENT_HOST_OVER && h->fault;
}

/* ---- judging ------------------------------------------------------------------------------------------- */

static void end_judgement(struct detect *d)
{
	forget_accesses(d);
	free_graph(&d->graph);
	memset(&d->graph, 0, sizeof d->graph);
	free_answers(&d->answers);
	arena_reset(&d->arena);
}

static void walk_all(struct detect *d)
{
	order_events(d);
	learn_maps(d);
	scan_all(d, &d->graph);
	for (uint32_t i = 0; i < d->access.n; i++) {
		const struct access *a = &d->access.v[i];
		struct detect_touch t = {.strong = a->strong && a->scope == A_DEVICE};

		if (a->space != GLOBAL_SPACE || a->old || a->proxy == P_MAP)
			continue;
		t.side = side_of(d, a);
		d->touched(d->touched_arg, &t);
	}
	d->access.n = 0;
	end_judgement(d);
}

void detect_walk(struct detect *d, detect_touched *touched, void *arg)
{
	d->touched = touched;
	d->touched_arg = arg;
}

static void judge_all(struct detect *d)
{
	struct court c = {d, &d->graph, &d->answers};

	if (d->touched && d->run.n)
		walk_all(d);
	if (d->touched || (!d->run.n && !d->fault))
		return;
	order_events(d);
	learn_maps(d);
	find_opaque(d);
	scan_all(d, &d->graph);
	judge_barriers(d);
	judge_tensor(d);
	compare_all(d);
	judge_reads(&c);
	settle(&c, judge_mbarriers, NULL);
	judge_freed_rooms(d);
	judge_begins(&c);
	judge_past(d);
	tell_races(d);
	judge_shared_barriers(d);
	forget_superseded(d);
	end_judgement(d);
}

/* What is certain of a launch that is cut shows when all of it is there. */
void detect_judge(struct detect *d)
{
	for (uint32_t i = 0; i < d->launch.n; i++)
		if (d->launch.v[i].cut != UINT64_MAX && !d->launch.v[i].over)
			return;
	judge_all(d);
}

/* ---- output ---------------------------------------------------------------------------------------------- */

size_t detect_findings(const struct detect *d, const struct detect_finding **f)
{
	*f = d->finding.v;
	return d->finding.n;
}

uint32_t detect_box_bytes(const struct event_unit *u, const struct event_site *site, unsigned lane, const struct event_map *m)
{
	return extent_box(u, site, lane, m, NULL);
}

const char *detect_kind_name(enum detect_kind kind)
{
	static const char *const names[DETECT_KINDS] = {
		"data-race", "scope-race", "async-race", "proxy-race", "proxy-fence-order", "tensormap-race",
		"mbarrier-misuse", "barrier-misuse", "lifetime", "shared-bounds", "global-bounds", "use-after-free",
		"uninitialised-read"
	};

	return names[kind];
}

uint64_t detect_count(const struct detect *d, enum detect_counter c)
{
	return d->counter[c];
}

uint64_t detect_same_values(const struct detect *d)
{
	return d->same_values;
}

const char *detect_counter_name(enum detect_counter c)
{
	static const char *const names[DETECT_COUNTERS] = {
		"reads that may have seen one of several releases", "arrivals or waits that may be of one of several phases",
		"uses of a barrier that may be one of several", "orders that go round, joined",
		"instructions of which not all is known", "launches of which a part of the log is lost: they are not judged to their end"
	};

	return names[c];
}
