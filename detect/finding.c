/* SPDX-License-Identifier: Apache-2.0
 *
 * finding.c: names what was found.  A race is judged again as if scopes were wide, strong reads
 * acquired, strong writes released: what would have been enough is what is missing.
 */
#include <string.h>

#include "detect/impl.h"

/* Lane << 16 | column. */
static uint64_t cell_at(uint64_t address)
{
	return address / CELL_BYTES / CELL_COLUMNS << 16 | address / CELL_BYTES % CELL_COLUMNS;
}

struct detect_side side_of(const struct detect *d, const struct access *a)
{
	const struct block *b = block_of(d, a->warp);
	const struct launch *l = &d->launch.v[b->launch];
	bool tensor = a->space & TENSOR_SPACE;

	return (struct detect_side){
		.launch = l->number, .block = b->number,
		.thread = (uint16_t)(d->warp.v[a->warp].index * EVENT_LANES + event_first(a->lanes)),
		.site = a->site - l->sites, .address = tensor ? cell_at(a->address) : a->address, .shared = a->space && !tensor, .tensor = tensor,
		.owner = a->space ? d->block.v[(a->space & ~TENSOR_SPACE) - 1].number : 0, .bytes = a->bytes,
		.reads = a->reads, .writes = a->writes, .async = a->operation && !a->at_once
	};
}

static bool alike(const struct detect_finding *a, const struct detect_finding *b)
{
	return a->kind == b->kind && a->one == b->one && a->side[0].site == b->side[0].site &&
	       a->side[0].launch == b->side[0].launch && a->same_value == b->same_value &&
	       (a->one || (a->side[1].site == b->side[1].site && a->side[1].launch == b->side[1].launch));
}

void add_finding(struct detect *d, const struct detect_finding *f)
{
	for (uint32_t i = 0; i < d->finding.n; i++) {
		if (alike(&d->finding.v[i], f)) {
			d->finding.v[i].count += f->count;
			return;
		}
	}
	*ADD(&d->finding) = *f;
}

/* ---- what would have been enough ------------------------------------------------------------------ */

enum { WORLDS = 4, CHAIN = 64 };        /* CHAIN: read-modify-writes that are followed */
static const struct { unsigned world; enum detect_why why; } worlds[WORLDS] = {
	{W_WIDE, DETECT_NARROW}, {W_RELEASE, DETECT_NO_RELEASE}, {W_ACQUIRE, DETECT_NO_ACQUIRE},
	{W_RELEASE | W_ACQUIRE, DETECT_NO_RELEASE_NOR_ACQUIRE}
};

/* Which of the shown pairs of open races are none in that world: a bit for each. */
static bool try_races(const struct court *c, void *arg, bool report)
{
	const struct detect *d = c->d;
	uint8_t *enough = (uint8_t *)arg;
	bool asks = false;

	for (uint32_t i = 0; i < d->race.n; i++) {
		const struct race *r = &d->race.v[i];

		enough[i] = 0;
		for (uint32_t k = 0; r->verdict == OPEN && k < r->n; k++) {
			const struct access *a = &d->access.v[r->a[k]], *b = &d->access.v[r->b[k]];
			enum verdict v = judge(c, a, b, a->address > b->address ? a->address : b->address);

			asks |= v == UNKNOWN;
			enough[i] |= (uint8_t)((v != OPEN) << k);
		}
	}
	return asks && !report;
}

static bool both_strong(const struct access *a, const struct access *b)
{
	return a->strong && b->strong && a->proxy == b->proxy;
}

static bool under_way(const struct access *a)
{
	return a->operation && !a->at_once;
}

static enum detect_why why_of(const struct access *a, const struct access *b, uint32_t race, uint32_t k, uint8_t *const *enough)
{
	if (b->read_only)
		return DETECT_READ_ONLY;
	if (both_strong(a, b) && same_element(a, b))
		return DETECT_NARROW;
	for (unsigned w = 0; w < WORLDS; w++)
		if (enough[w][race] >> k & 1)
			return both_strong(a, b) && w ? DETECT_MIXED_SIZE : worlds[w].why;
	if (both_strong(a, b))
		return DETECT_MIXED_SIZE;
	return under_way(a) ? DETECT_NOT_COMPLETED : DETECT_NOTHING_MET;
}

/* Is it a write of the earlier block behind `a`, or, far back, read-modify-writes on of one? */
static const struct event *written_by(const struct detect *d, const struct access *a, const struct word_op *w)
{
	for (unsigned n = 0; n < CHAIN; n++) {
		const struct event *x = &d->event.v[w->event];

		if (d->warp.v[x->warp].block == access_block(d, a) && x->timer[EVENT_BEFORE] >= a->timer)
			return x;
		if (!w->reads || w->first_seen == NONE)
			return NULL;
		w = &d->word_op.v[w->first_seen];
	}
	return NULL;
}

/* Where they met: the later thread's last read before `b` of what the earlier block wrote behind `a`. */
static void find_met(const struct detect *d, const struct access *a, const struct access *b, uint32_t *met)
{
	uint32_t lo = 0, hi = d->word_op.n;

	BISECT(lo, hi, d->event.v[d->word_op.v[mid].event].warp < b->warp);
	for (; lo < d->word_op.n; lo++) {
		const struct word_op *r = &d->word_op.v[lo];
		const struct event *e = &d->event.v[r->event], *x;

		if (e->warp != b->warp || e->pos >= b->pos)
			return;
		if (!(b->lanes >> r->lane & 1) || !r->reads || r->first_seen == NONE)
			continue;
		x = written_by(d, a, &d->word_op.v[r->first_seen]);
		if (!x)
			continue;
		met[0] = x->site - d->launch.v[block_of(d, x->warp)->launch].sites;
		met[1] = e->site - d->launch.v[block_of(d, e->warp)->launch].sites;
	}
}

/* The kind and what is missing, of the k-th pair that is shown. */
static void name(const struct detect *d, struct detect_finding *f, uint32_t race, uint32_t k, uint8_t *const *enough)
{
	const struct race *r = &d->race.v[race];
	const struct access *a = &d->access.v[r->a[k]], *b = &d->access.v[r->b[k]];

	memset(f, 0, sizeof *f);
	f->met[0] = f->met[1] = DETECT_NO_SITE;
	f->side[0] = side_of(d, a);
	f->side[1] = side_of(d, b);
	f->same_value = r->same_value;
	if (a->proxy == P_MAP || b->proxy == P_MAP) {
		f->kind = DETECT_TENSORMAP_RACE;
		f->why = r->verdict == OPEN ? DETECT_NOTHING_MET : DETECT_NO_PROXY_FENCE;
	} else if (r->verdict != OPEN) {
		f->kind = r->verdict == UNFENCED ? DETECT_PROXY_RACE : DETECT_PROXY_FENCE_ORDER;
		f->why = r->verdict == UNFENCED ? DETECT_NO_PROXY_FENCE : DETECT_FENCE_ELSEWHERE;
	} else {
		f->why = why_of(a, b, race, k, enough);
		f->kind = under_way(a) || under_way(b) ? DETECT_ASYNC_RACE : DETECT_DATA_RACE;
		if (f->why == DETECT_NARROW)
			f->kind = DETECT_SCOPE_RACE;
		find_met(d, a, b, f->met);
		find_older_phase(d, a, b, f);
	}
}

/* What a fence.sc of less than the device has published goes no further than its scope (graph.c).  Threads outside of that may
 * order it before another fence.sc inside all the same: two accesses within such a scope may be in order (memory-model.md 1.2, 5). */
static bool may_be_led_back(const struct detect *d, const struct race *r)
{
	for (unsigned scope = r->apart; scope < A_DEVICE; scope++)
		if (d->graph.fences >> scope & 1)
			return true;
	return false;
}

static void tell_race(struct detect *d, uint32_t i, uint8_t *const *enough)
{
	const struct race *r = &d->race.v[i];

	for (uint32_t k = 0; k < r->n; k++) {
		struct detect_finding f;

		name(d, &f, i, k, enough);
		if (f.kind == DETECT_SCOPE_RACE && may_be_led_back(d, r)) {
			d->counter[DETECT_UNMODELLED]++;
			continue;
		}
		/* The pairs that are not shown count with the first. */
		f.count = k ? 1 : r->count - r->n + 1;
		add_finding(d, &f);
	}
}

static void in_world(struct detect *d, unsigned world, uint8_t *enough, bool ends)
{
	struct graph g = {.world = world};
	struct answers answers = {.asked = 0};
	struct court c = {d, &g, &answers};

	scan_all(d, &g);
	settle(&c, try_races, enough);
	if (ends)
		judge_ends(d, &g);
	free_answers(&answers);
	free_graph(&g);
}

void tell_races(struct detect *d)
{
	uint8_t *enough[WORLDS];

	for (unsigned w = 0; w < WORLDS; w++) {
		bool wide = worlds[w].world == W_WIDE;

		enough[w] = (uint8_t *)arena_get(&d->arena, d->race.n, 1);
		if (d->race.n || (wide && d->guest.n))
			in_world(d, worlds[w].world, enough[w], wide);
	}
	for (uint32_t i = 0; i < d->race.n; i++)
		tell_race(d, i, enough);
	d->race.n = 0;
}
