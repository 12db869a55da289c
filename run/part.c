/* SPDX-License-Identifier: Apache-2.0
 *
 * part.c: a log of which some blocks of each launch are judged first, as the runtime does with a launch that is not clear
 * (rt/part.c): any of those that learn nothing of others (detect_alone()).
 */
#include <stdlib.h>

#include "run/judge.h"

/* Of a launch: what is known of its blocks, and which come first. */
struct part { uint64_t rng; uint32_t launch, nblocks; unsigned char *is, *first; bool left /* they have not come yet */; };

static uint64_t next(struct part *p)    /* splitmix64 */
{
	uint64_t z = p->rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void look(struct part *p, const struct judge_item *launch, const struct event_sites *sites)
{
	const struct judge_item *i;
	bool together = launch->host.early;

	p->launch = launch->host.launch;
	p->left = true;
	p->nblocks = launch->host.blocks;
	p->is = realloc(p->is, p->nblocks + 1);
	p->first = realloc(p->first, p->nblocks + 1);
	if (!p->is || !p->first)
		abort();
	for (uint32_t b = 0; b < p->nblocks; b++)
		p->is[b] = DETECT_ALONE;
	for (i = launch->next; i; i = i->next) {
		together |= i->kind == ITEM_HOST && i->host.kind == EVENT_HOST_LAUNCH && i->host.early;
		if (i->kind == ITEM_PIECE && i->piece->launch == p->launch && i->piece->block < p->nblocks) {
			const enum detect_alone is = detect_alone(i->piece, sites);
			unsigned char *so_far = &p->is[i->piece->block];

			together |= is == DETECT_TOGETHER;
			*so_far = is > *so_far ? (unsigned char)is : *so_far;
		}
	}
	for (uint32_t b = 0; b < p->nblocks; b++)
		p->first[b] = !together && p->is[b] == DETECT_ALONE && next(p) % 3;
}

static bool is_first(const struct part *p, const struct judge_item *i)
{
	return i->kind == ITEM_PIECE && i->piece->launch == p->launch && i->piece->block < p->nblocks && p->first[i->piece->block];
}

/* Of tensor maps the detector knows all before it judges a launch that may use them. */
static void tell_maps(struct detect *d, const struct judge_item *i)
{
	for (; i; i = i->next)
		if (i->kind == ITEM_HOST && i->host.kind == EVENT_HOST_MAP)
			detect_host(d, &i->host);
}

/* Returns how many blocks it was. */
static unsigned feed_first(struct detect *d, const struct part *p, const struct judge_item *from, const char **wrong)
{
	unsigned n = 0;

	for (const struct judge_item *i = from; i && !*wrong; i = i->next)
		if (is_first(p, i))
			*wrong = detect_feed(d, i->piece, i->piece->bytes);
	for (uint32_t b = 0; b < p->nblocks; b++)
		n += p->first[b];
	if (n)
		detect_judge(d);
	return n;
}

const char *judge_part(struct detect *d, const struct judge_log *l, uint64_t seed, bool rest, unsigned *blocks)
{
	struct part p = {.rng = seed};
	const struct event_sites *sites = NULL;
	const char *wrong = NULL;

	*blocks = 0;
	tell_maps(d, l->first);
	for (const struct judge_item *i = l->first; i && !wrong; i = i->next) {
		if (i->kind == ITEM_SITES)
			detect_sites(d, sites = &i->sites);
		if (i->kind == ITEM_HOST)
			detect_host(d, &i->host);
		if (i->kind == ITEM_HOST && i->host.kind == EVENT_HOST_LAUNCH)
			look(&p, i, sites);
		/* Before its pieces comes what the host tells of the launch. */
		if (i->kind == ITEM_PIECE && p.left) {
			p.left = false;
			*blocks += feed_first(d, &p, i, &wrong);
		}
		if (i->kind == ITEM_PIECE && rest && !is_first(&p, i))
			wrong = detect_feed(d, i->piece, i->piece->bytes);
	}
	detect_judge(d);
	free(p.is);
	free(p.first);
	return wrong;
}
