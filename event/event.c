/* SPDX-License-Identifier: Apache-2.0
 *
 * event.c: what a record holds, and where.
 */
#include <string.h>

#include "event/event.h"

static const struct { const char *name; uint8_t form; } kinds[] = {
#define EVENT(id, name, form, chapter) {name, EVENT_FORM_##form},
#include "event/event.def"
};

const char *event_name(unsigned kind)
{
	return kind < EVENT_KINDS ? kinds[kind].name : "?";
}

enum event_form event_form(unsigned kind)
{
	return kind < EVENT_KINDS ? (enum event_form)kinds[kind].form : EVENT_FORM_NONE;
}

void event_add(struct event_unit *e, unsigned n, uint64_t more)
{
	uint32_t *w = e[event_fixed_units(event_kind_of(e)) + n / 2].w + n % 2 * 2;
	uint64_t v = (w[0] | (uint64_t)w[1] << 32) + more;

	w[0] = (uint32_t)v;
	w[1] = (uint32_t)(v >> 32);
}

unsigned event_clock(const struct event_unit *e, enum event_when when, uint32_t *clock, uint32_t *timer)
{
	enum event_form form = event_form(event_kind_of(e));
	const uint32_t *w = form == EVENT_FORM_CLOCKED ? e[1].w + (when == EVENT_BEHIND ? 2 : 0) : e->w + 2;

	*clock = form == EVENT_FORM_BARRIER ? w[1] : w[0];
	*timer = form == EVENT_FORM_BARRIER ? 0 : w[1];
	return form == EVENT_FORM_CLOCK || form == EVENT_FORM_CLOCKED ? 2 : form == EVENT_FORM_BARRIER;
}

/* The clock with these low bits that is nearest to the last one. */
static uint64_t whole(uint64_t last, uint32_t low)
{
	return last + (uint64_t)(int64_t)(int32_t)(low - (uint32_t)last);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

bool event_times(const struct event_unit *e, struct event_now *now, uint64_t clock[2], uint64_t timer[2])
{
	bool any = false;

	clock[EVENT_BEFORE] = clock[EVENT_BEHIND] = now->clock;
	timer[EVENT_BEFORE] = timer[EVENT_BEHIND] = now->timer;
	for (unsigned when = EVENT_BEFORE; when <= EVENT_BEHIND; when++) {
		uint32_t c, t;
		unsigned n = event_clock(e, (enum event_when)when, &c, &t);

		if (n && when == EVENT_BEHIND && !c && !t && event_form(event_kind_of(e)) == EVENT_FORM_CLOCKED)
			clock[when] = timer[when] = UINT64_MAX;
		if (!n || clock[when] == UINT64_MAX)
			break;
		any = true;
		clock[when] = whole(now->clock, c);
		timer[when] = n > 1 ? whole(now->timer, t) : now->timer;
		now->clock = later(now->clock, clock[when]);
		now->timer = later(now->timer, timer[when]);
	}
	return any;
}

/* Elements are packed as in memory: first all that were read, then all that were written. */
bool event_value(const struct event_unit *e, const struct event_site *s, unsigned lane, unsigned n, enum event_does does, uint64_t *v)
{
	unsigned words = (s->size * s->count + 7u) / 8, bit = n * s->size * 8u, there = event_words(e);
	bool both = s->does & EVENT_READS && s->does & EVENT_WRITES;

	if (s->size > 8 || !(s->does & does) || there != (both ? 2 * words : words))
		return false;
	*v = event_word(e, lane, (both && does == EVENT_WRITES ? words : 0) + bit / 64) >> bit % 64;
	*v &= s->size < 8 ? (UINT64_C(1) << s->size * 8) - 1 : UINT64_MAX;
	return true;
}

const char *event_piece_wrong(const struct event_piece *p, size_t bytes, uint32_t nsites, size_t *at)
{
	const struct event_unit *e = event_units_of(p);

	*at = 0;
	if (bytes < sizeof *p || p->magic != EVENT_MAGIC)
		return "no piece of a log, or of another version";
	if (p->bytes < sizeof *p || p->bytes > bytes || p->bytes % sizeof *e)
		return "a piece that is longer than the log";
	if (!p->blocks || p->blocks > EVENT_BLOCKS_MAX || p->rank >= p->blocks || p->block - p->first != p->rank ||
	    p->warp >= EVENT_LANES || p->leader >= EVENT_LANES)
		return "a piece of no warp";
	for (size_t n = sizeof *p, units; n < p->bytes; n += units * sizeof *e) {
		const struct event_unit *u = e + (n - sizeof *p) / sizeof *e;

		*at = n;
		if (event_kind_of(u) == EVENT_END)
			return NULL;
		/* The lanes' own words have to be there before they are counted. */
		units = event_units(u);
		if (!units || units * sizeof *e > p->bytes - n)
			return "no record, or one that is longer than its piece";
		if (event_site_of(u) >= nsites && event_kind_of(u) != EVENT_CLOCK)
			return "a record of an unknown site";
	}
	return NULL;
}

const char *event_sites_wrong(const struct event_sites *all)
{
	if (!all->nsites || all->nsites > EVENT_SITES_MAX)
		return "no sites, or too many";
	for (uint32_t i = 0; i < all->nruns; i++)
		if (all->run[i].site >= all->nsites)
			return "a run of an unknown site";
	for (uint32_t i = 0; i < all->nsites; i++) {
		const struct event_site *s = &all->site[i];

		if (s->kind >= EVENT_KINDS || s->sem > EVENT_VOLATILE || s->scope > EVENT_SYS || s->space > EVENT_CLUSTER_SHARED ||
		    s->from > EVENT_CLUSTER_SHARED || s->proxy > EVENT_READ_ONLY)
			return "a site of no instruction";
		if (s->nrun > all->nruns || s->run > all->nruns - s->nrun)
			return "a site of a run that is not there";
	}
	for (uint32_t i = 0; i < all->norigins; i++)
		if (all->origin[i].site >= all->nsites || all->origin[i].address > EVENT_OF_MBAR ||
		    (i && all->origin[i].site < all->origin[i - 1].site))
			return "addresses of unknown sites, or in no order";
	return NULL;
}

/* ---- writing -------------------------------------------------------------------------- */

void event_set(struct event_put *p, unsigned lane, enum event_operand o, uint64_t v)
{
	unsigned word = (unsigned)o >> 16, shift = (unsigned)o >> 8 & 255, bits = (unsigned)o & 255;
	uint64_t mask = (bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX) << shift;
	uint32_t *ab = word == EVENT_WORD_A ? &p->a : &p->b;

	v = v << shift & mask;
	if (word >= EVENT_WORD_A) {
		*ab = (uint32_t)((*ab & ~mask) | v);
		return;
	}
	p->word[lane][word] = (p->word[lane][word] & ~mask) | v;
	p->words = word < p->words ? p->words : word + 1;
}

/* What a lane's address is more than that of the lane before it; false: it differs. */
static bool step_of(const struct event_put *p, int64_t *step)
{
	unsigned first = event_first(p->lanes), second = event_first(p->lanes & ~(1u << first));
	uint64_t base = p->address[first];

	*step = second < EVENT_LANES ? (int64_t)(p->address[second] - base) / (int64_t)(second - first) : 0;
	for (unsigned l = second; l < EVENT_LANES; l++)
		if (p->lanes >> l & 1 && p->address[l] != base + (uint64_t)*step * (l - first))
			return false;
	return *step == (int16_t)*step && !(base >> 48);
}

static void put_word(struct event_unit *e, unsigned *n, uint64_t v)
{
	uint32_t *w = e[*n / 2].w + *n % 2 * 2;

	w[0] = (uint32_t)v;
	w[1] = (uint32_t)(v >> 32);
	++*n;
}

unsigned event_encode(struct event_unit *e, const struct event_put *p)
{
	enum event_form form = event_form(p->kind);
	bool addressed = form == EVENT_FORM_ADDRESS || form == EVENT_FORM_CLOCKED;
	uint64_t base = addressed ? p->address[event_first(p->lanes)] : 0;
	unsigned fixed = event_fixed_units(p->kind), n = 0;
	int64_t step = 0;
	bool by_lane = addressed && !step_of(p, &step);

	e->w[0] = event_head(p->kind, p->site, p->words, by_lane) | (uint32_t)p->once << 7;
	e->w[1] = p->lanes;
	e->w[2] = addressed ? (uint32_t)base : form == EVENT_FORM_CLOCK ? (uint32_t)p->clock[0] : p->a;
	e->w[3] = addressed ? (uint32_t)(base >> 32 & 0xffff) | (uint32_t)(uint16_t)step << 16 :
		  form == EVENT_FORM_CLOCK ? (uint32_t)p->timer[0] : form == EVENT_FORM_BARRIER ? (uint32_t)p->clock[0] : p->b;
	for (unsigned i = 0; i < 2 && fixed == 2; i++) {
		e[1].w[2 * i] = (uint32_t)p->clock[i];
		e[1].w[2 * i + 1] = (uint32_t)p->timer[i];
	}
	for (unsigned l = 0; l < EVENT_LANES; l++) {
		if (!(p->lanes >> l & 1))
			continue;
		if (by_lane)
			put_word(e + fixed, &n, p->address[l]);
		for (unsigned i = 0; i < p->words && !p->once; i++)
			put_word(e + fixed, &n, p->word[l][i]);
	}
	for (unsigned i = 0; i < p->words && p->once; i++)
		put_word(e + fixed, &n, p->word[event_first(p->lanes)][i]);
	if (n & 1)
		put_word(e + fixed, &n, 0);
	return fixed + n / 2;
}

uint64_t event_map_hash(const void *map)
{
	uint64_t h = 1, w;

	for (unsigned i = 0; i < 128; i += sizeof w) {
		memcpy(&w, (const unsigned char *)map + i, sizeof w);
		w &= i == 8 ? ~EVENT_MAP_LOOSE : ~UINT64_C(0);
		h = (h ^ w) * UINT64_C(0x9e3779b97f4a7c15) ^ h >> 29;
	}
	return h | 1;
}
