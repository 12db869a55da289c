/* SPDX-License-Identifier: Apache-2.0
 *
 * cut.c: a log as if the region had become full at some moment: from then on streams end, each somewhere.
 */
#include <stdlib.h>
#include <string.h>

#include "run/judge.h"

enum { LATER = 12 };            /* records that a stream has behind the moment, at most */

struct stream { uint32_t launch, block; uint8_t warp, leader; bool late, lost; unsigned left; };

struct cut {
	uint64_t rng;
	struct stream *stream;
	unsigned n, cap;
	uint64_t moment, since;         /* of one launch */
};

static uint64_t next_random(struct cut *c)      /* splitmix64 */
{
	uint64_t z = c->rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static struct stream *stream_of(struct cut *c, const struct event_piece *p)
{
	for (unsigned i = c->n; i-- > 0;) {
		struct stream *s = &c->stream[i];

		if (s->launch == p->launch && s->block == p->block && s->warp == p->warp && s->leader == p->leader)
			return s;
	}
	if (c->n == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 64;
		c->stream = realloc(c->stream, c->cap * sizeof *c->stream);
		if (!c->stream)
			abort();
	}
	c->stream[c->n] = (struct stream){p->launch, p->block, p->warp, p->leader, false, false, 0};
	return &c->stream[c->n++];
}

/* The timer that is read first for a record; without one, what is known of it. */
static uint64_t time_of(const struct event_unit *e, struct event_now *now)
{
	enum event_form form = event_form(event_kind_of(e));
	uint64_t clock[2], timer[2], was = now->timer;

	event_times(e, now, clock, timer);
	return form == EVENT_FORM_CLOCK || form == EVENT_FORM_CLOCKED ? timer[EVENT_BEFORE] : was;
}

static const struct event_unit *end_of(const struct event_piece *p)
{
	return event_units_of(p) + (p->bytes - sizeof *p) / sizeof(struct event_unit);
}

/* The time of some record of some piece of the launch. */
static void choose_moment(struct cut *c, const struct judge_log *l, uint32_t launch)
{
	uint64_t seen = 0;

	for (const struct judge_item *i = l->first; i; i = i->next) {
		struct event_now now;
		unsigned left;

		if (i->kind != ITEM_PIECE || i->piece->launch != launch || next_random(c) % ++seen)
			continue;
		now = (struct event_now){i->piece->clock, i->piece->timer};
		c->moment = now.timer;
		left = (unsigned)(next_random(c) % 64);
		for (const struct event_unit *e = event_units_of(i->piece), *end = end_of(i->piece);
		     left-- && e < end && event_units(e); e += event_units(e))
			c->moment = time_of(e, &now);
	}
}

/* Bytes of the piece that are not lost. */
static uint32_t kept(struct cut *c, const struct event_piece *p)
{
	struct stream *s = stream_of(c, p);
	struct event_now now = {p->clock, p->timer};
	const struct event_unit *e = event_units_of(p);

	for (; !s->lost && e < end_of(p) && event_units(e); e += event_units(e)) {
		uint64_t t = time_of(e, &now);

		if (!s->late && t >= c->moment) {
			s->late = true;
			s->left = next_random(c) % 4 ? (unsigned)(next_random(c) % LATER) : ~0u;
		}
		if (!s->late || s->left-- > 0)
			continue;
		s->lost = true;
		c->since = t < c->since ? t : c->since;
		break;
	}
	return s->lost ? (uint32_t)((const unsigned char *)e - (const unsigned char *)p) : p->bytes;
}

static void tell_piece(const struct emu_events_sink *to, const struct event_piece *p, uint32_t bytes)
{
	struct event_piece *copy;

	if (bytes <= sizeof *p)
		return;
	copy = malloc(bytes);
	if (!copy)
		abort();
	memcpy(copy, p, bytes);
	copy->bytes = bytes;
	to->piece(to->arg, copy);
	free(copy);
}

/* The pieces of a launch, those that are behind its start. */
static void cut_launch(struct cut *c, const struct judge_log *l, uint32_t launch, const struct emu_events_sink *to,
		       uint32_t *bytes)
{
	struct event_host h = {.kind = EVENT_HOST_CUT, .launch = launch};
	uint32_t n = 0;

	c->since = UINT64_MAX;
	choose_moment(c, l, launch);
	for (const struct judge_item *i = l->first; i; i = i->next)
		if (i->kind == ITEM_PIECE) {
			if (i->piece->launch == launch)
				bytes[n] = kept(c, i->piece);
			n++;
		}
	h.timer = c->since;
	if (h.timer != UINT64_MAX)
		to->host(to->arg, &h);
}

void judge_cut(struct judge_log *to, const struct judge_log *l, uint64_t seed)
{
	struct cut c = {.rng = seed};
	struct emu_events_sink sink;
	uint32_t *bytes, n = 0;

	judge_start(to, &sink);
	for (const struct judge_item *i = l->first; i; i = i->next)
		n += i->kind == ITEM_PIECE;
	bytes = calloc(n + 1, sizeof *bytes);
	if (!bytes)
		abort();
	n = 0;
	for (const struct judge_item *i = l->first; i; i = i->next) {
		if (i->kind == ITEM_SITES)
			sink.sites(sink.arg, &i->sites);
		if (i->kind == ITEM_HOST)
			sink.host(sink.arg, &i->host);
		if (i->kind == ITEM_HOST && i->host.kind == EVENT_HOST_LAUNCH)
			cut_launch(&c, l, i->host.launch, &sink, bytes);
		if (i->kind == ITEM_PIECE)
			tell_piece(&sink, i->piece, bytes[n++]);
	}
	free(bytes);
	free(c.stream);
}
