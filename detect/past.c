/* SPDX-License-Identifier: Apache-2.0
 *
 * past.c: what reaches beyond a launch or beyond what was logged.  A launch comes behind the one
 * before it, but for tensor maps that were changed in memory: their proxy has to be told
 * (memory-model.md 1.11).  Synchronisation that could not be logged may have ordered all that
 * its threads do.
 */
#include <string.h>

#include "detect/impl.h"

void keep_past(struct detect *d)
{
	for (uint32_t i = 0; d->tensors && i < d->access.n; i++) {
		const struct access *a = &d->access.v[i];
		struct past *p;

		if (a->space != GLOBAL_SPACE || !a->writes || a->proxy != P_GENERIC)
			continue;
		p = ADD(&d->past);
		p->address = a->address;
		p->bytes = a->bytes;
		p->by = side_of(d, a);
	}
}

static enum order fenced(const struct court *c, const struct access *copy)
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
		o = fenced(c, copy);
		if (o == NOT_KNOWN)
			return true;
		if (o == ORDERED || !report)
			return false;
		memset(&f, 0, sizeof f);
		f.kind = DETECT_TENSORMAP_RACE;
		f.why = DETECT_NO_PROXY_FENCE;
		f.side[0] = p->by;
		f.side[1] = side_of(c->d, copy);
		f.count = 1;
		add_finding(c->d, &f);
		return false;
	}
	return false;
}

void judge_past(struct detect *d)
{
	struct court c = {d, &d->graph, &d->answers};
	bool asks = d->past.n > 0, report = false;

	while (asks || !report) {
		report = !asks;
		asks = false;
		for (uint32_t i = 0; d->past.n && i < d->access.n; i++)
			if (d->access.v[i].proxy == P_MAP && !d->access.v[i].old)
				asks |= judge_copy(&c, &d->access.v[i], report);
		answer_all(d, &d->graph, &d->answers);
	}
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
		o->first = o->first ? o->first : e->pos;
		o->last = e->pos;
		d->counter[DETECT_UNMODELLED] += e->pos > d->warp.v[e->warp].judged;
	}
}
