/* SPDX-License-Identifier: Apache-2.0
 *
 * past.c: what reaches beyond a launch or beyond what was logged.  A launch comes behind the one
 * before it, but for tensor maps that were changed in memory: their proxy has to be told
 * (memory-model.md 1.11).  Synchronisation that could not be logged may have ordered all that
 * its threads do.
 */
#include "detect/impl.h"

void keep_past(struct detect *d)
{
	for (uint32_t i = 0; d->tensors && i < d->access.n; i++) {
		const struct access *a = &d->access.v[i];

		if (a->space == GLOBAL_SPACE && a->writes && a->proxy == P_GENERIC)
			*ADD(&d->past) = (struct past){a->address, a->bytes, side_of(d, a)};
	}
}

/* Has an acquiring fence of its map come before the copy, in its block? */
enum order map_acquired_by_any(const struct court *c, const struct access *copy)
{
	enum order answer = UNORDERED;

	for (uint32_t i = 0; i < c->d->map_fence.n && answer != ORDERED; i++) {
		enum order o = map_acquired(c, &c->d->map_fence.v[i], copy);

		answer = o == UNORDERED ? answer : o;
	}
	return answer;
}

static bool judge_copy(const struct court *c, const struct access *copy, bool report)
{
	for (uint32_t i = 0; i < c->d->past.n; i++) {
		const struct past *p = &c->d->past.v[i];
		struct detect_finding f;
		enum order o;

		if (p->address >= copy->address + copy->bytes || copy->address >= p->address + p->bytes)
			continue;
		o = map_acquired_by_any(c, copy);
		if (o != UNORDERED || !report)
			return o == NOT_KNOWN;
		f = (struct detect_finding){
			.kind = DETECT_TENSORMAP_RACE, .why = DETECT_NO_PROXY_FENCE, .side = {p->by, side_of(c->d, copy)},
			.met = {DETECT_NO_SITE, DETECT_NO_SITE}, .count = 1
		};
		add_finding(c->d, &f);
		return false;
	}
	return false;
}

static bool each_copy(const struct court *c, void *arg, bool report)
{
	bool asks = false;

	(void)arg;
	for (uint32_t i = 0; c->d->past.n && i < c->d->access.n; i++)
		if (c->d->access.v[i].proxy == P_MAP && !c->d->access.v[i].old)
			asks |= judge_copy(c, &c->d->access.v[i], report);
	return asks;
}

void judge_past(struct detect *d)
{
	struct court c = {d, &d->graph, &d->answers};

	settle(&c, each_copy, NULL);
}

void find_opaque(struct detect *d)
{
	d->opaque = NULL;
	for (uint32_t i = 0; i < d->event.n; i++) {
		const struct event *e = &d->event.v[i];
		struct opaque *o;

		if (e->kind != EVENT_OPAQUE)
			continue;
		if (!d->opaque)
			d->opaque = (struct opaque *)arena_get(&d->arena, d->warp.n, sizeof *d->opaque);
		o = &d->opaque[e->warp];
		o->first_lanes = o->first ? o->first_lanes : e->lanes;
		o->first = o->first ? o->first : e->pos;
		o->last_lanes = e->lanes;
		o->last = e->pos;
		d->counter[DETECT_UNMODELLED] += e->pos > d->warp.v[e->warp].judged;
	}
}
