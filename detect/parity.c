/* SPDX-License-Identifier: Apache-2.0
 *
 * parity.c: races of a thread whose wait was for an older phase than the other side's (memory-model.md 1.7).  The wait
 * passes at once, since a parity is also that of the last phase that is over, and its thread has learned nothing by it.
 * The race is one without this; what is found here says why.
 */
#include "detect/impl.h"

static bool is_by(const struct mbar_op *o, const struct access *a)
{
	return o->event->warp == a->warp && a->lanes >> o->lane & 1;
}

/* Does the arrival say that the access is over, or the operation? */
static bool tells(const struct detect *d, const struct mbar_op *o, const struct access *a)
{
	const uint8_t kind = a->operation && !a->at_once ? d->site.v[a->site].kind : EVENT_ACCESS;

	if (is_copy(kind))
		return by_copy(o) && o->event->pos == a->pos;
	if (o->event->pos <= a->pos)
		return false;
	switch (kind) {
	case EVENT_CP_ASYNC:
		return o->kind == EVENT_MBAR_COPIES;
	case EVENT_TC_MMA:
	case EVENT_TC_COPY:
		return o->kind == EVENT_TC_COMMIT;
	default:
		return o->kind == EVENT_MBAR_ARRIVE && o->heads.n;
	}
}

/* What says first at that mbarrier that the access is over; NULL. */
static const struct mbar_op *teller(const struct detect *d, const struct life *l, const struct access *a)
{
	const struct mbar_op *first = NULL;

	for (uint32_t i = 0; i < l->n; i++) {
		const struct mbar_op *o = l->op[i];

		if (is_by(o, a) && tells(d, o, a) && (!first || o->event->pos < first->event->pos))
			first = o;
	}
	return first && first->lo == first->hi ? first : NULL;
}

/* The last successful wait there, before the access, of a thread that makes it; NULL. */
static const struct mbar_op *last_wait(const struct life *l, const struct access *a)
{
	const struct mbar_op *last = NULL;

	for (uint32_t i = 0; i < l->n; i++) {
		const struct mbar_op *o = l->op[i];

		if (o->kind == EVENT_MBAR_WAIT && is_by(o, a) && o->event->pos < a->pos && (!last || o->event->pos > last->event->pos))
			last = o;
	}
	return last;
}

/* Its thread had seen that phase over before.  Of a new mbarrier parity 1 is right for who fills what has never been full. */
static bool learns_nothing(const struct mbar_op *wait, const struct access *x, const struct access *y)
{
	return wait->lo == wait->hi && (wait->lo ? wait->seen >= wait->lo : !x->writes && y->writes);
}

static bool is_behind(const struct detect *d, const struct life *l, const struct access *x, const struct access *y,
		      struct detect_finding *f)
{
	const struct mbar_op *wait = last_wait(l, x), *told;

	if (!wait || l->op[0]->kind != EVENT_MBAR_INIT || !(site_of(d, wait->event)->flags & EVENT_PARITY) ||
	    !learns_nothing(wait, x, y))
		return false;
	told = teller(d, l, y);
	/* Waits count phases that are over: the next one has that number. */
	if (!told || told->lo != wait->lo)
		return false;
	f->why = DETECT_OLDER_PHASE;
	f->phase = told->lo;
	f->met[0] = told->event->site - d->launch.v[block_of(d, told->event->warp)->launch].sites;
	f->met[1] = wait->event->site - d->launch.v[block_of(d, wait->event->warp)->launch].sites;
	return true;
}

void find_older_phase(const struct detect *d, const struct access *a, const struct access *b, struct detect_finding *f)
{
	if (f->why != DETECT_NOTHING_MET && f->why != DETECT_NOT_COMPLETED)
		return;
	for (uint32_t i = 0; i < d->life.n; i++)
		if (is_behind(d, &d->life.v[i], b, a, f) || is_behind(d, &d->life.v[i], a, b, f))
			return;
}
