/* SPDX-License-Identifier: Apache-2.0
 *
 * guest.c: accesses to the shared memory of blocks that have not begun or have ended
 * (memory-model.md 1.11).  What a block's own threads do is over when they end; what others do
 * there, and operations that no thread waits for, may not be.
 */
#include "detect/impl.h"

static bool is_guest(const struct detect *d, const struct access *a)
{
	if (a->space & TENSOR_SPACE)
		return false;
	if (!a->space)
		return d->choices.exits && a->writes && a->ends == ENDS_BULK;
	return access_block(d, a) != a->space - 1 || a->ends == ENDS_SINGLE || a->ends == ENDS_BULK;
}

static void find_guests(struct detect *d)
{
	for (uint32_t i = 0; i < d->access.n; i++) {
		const struct access *a = &d->access.v[i];

		if (!a->old && is_guest(d, a))
			*ADD(&d->guest) = (struct guest){a->space ? a->space - 1 : access_block(d, a), *a};
	}
	for (uint32_t i = 0; i < d->mbar.n; i++) {
		const struct mbar_op *o = &d->mbar.v[i];
		struct access a = use_of(d, o);

		a.source = o->visit;
		a.number = 1;
		if (is_fresh(d, o) && o->visit != NONE)
			*ADD(&d->guest) = (struct guest){o->owner, a};
	}
}

/* Had the block begun, as far as who accesses its memory knows? */
static bool each_begun(const struct court *c, void *arg, bool report)
{
	bool asks = false;

	(void)arg;
	for (uint32_t i = 0; i < c->d->guest.n; i++) {
		const struct guest *g = &c->d->guest.v[i];
		const uint32_t *f;

		if (g->access.old || !g->access.space || access_block(c->d, &g->access) == g->owner)
			continue;
		f = knows(c, SOURCE(SOURCE_BLOCK, g->owner), &g->access);
		asks |= !f;
		if (report && f && !f[F_BEGUN])
			say(c->d, DETECT_LIFETIME, DETECT_MISUSE, &g->access, NULL);
	}
	return asks;
}

void judge_begins(struct detect *d)
{
	struct court c = {d, &d->graph, &d->answers};

	find_guests(d);
	settle(&c, each_begun, NULL);
}

static bool has_ended(const struct detect *d, uint32_t block)
{
	return d->block.v[block].threads && d->block.v[block].ended == d->block.v[block].threads;
}

/* Do those who ended last know that it is over?  Scopes do not matter: it has gone past. */
static bool each_left(const struct court *c, void *arg, bool report)
{
	bool asks = false;

	(void)arg;
	for (uint32_t i = 0; i < c->d->guest.n; i++) {
		const struct guest *g = &c->d->guest.v[i];
		struct question q = {g->access.source, c->g->ended[g->owner], ASK_HUB, 1};
		const uint32_t *f;

		if (!has_ended(c->d, g->owner) || (c->d->choices.wide_tx && access_block(c->d, &g->access) != g->owner))
			continue;
		f = ask(c, q);
		asks |= !f;
		if (report && f && f[F_ALL] < g->access.number && f[F_SHARED] < g->access.number)
			say(c->d, DETECT_LIFETIME, DETECT_MISUSE, &g->access, NULL);
	}
	return asks;
}

/* In the world where scopes hold everybody. */
void judge_ends(struct detect *d, const struct graph *wide)
{
	struct answers answers = {0};
	struct court c = {d, wide, &answers};
	uint32_t n = 0;

	settle(&c, each_left, NULL);
	for (uint32_t i = 0; i < d->guest.n; i++) {
		d->guest.v[i].access.old = true;
		if (!has_ended(d, d->guest.v[i].owner))
			d->guest.v[n++] = d->guest.v[i];
	}
	d->guest.n = n;
	free_answers(&answers);
}
