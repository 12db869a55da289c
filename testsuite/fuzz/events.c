/* SPDX-License-Identifier: Apache-2.0
 *
 * events.c: fuzz target for the pieces of a log.  An input is the number of sites, a site, and
 * pieces.  A piece is refused with a reason and a place, or everything in it can be read and
 * printed, and what is written anew from that is read as the same.
 */
#include <stdlib.h>
#include <string.h>

#include "event/event.h"
#include "testsuite/fuzz/fuzz.h"

static const char *const folders[] = { NULL };
const struct fuzz_target fuzz_target = { "events", "", folders, 100000, false };

static void *copy_of(const void *from, size_t bytes)
{
	void *p = malloc(bytes ? bytes : 1);

	if (!p)
		fuzz_broken("out of memory");
	memcpy(p, from, bytes);
	return p;
}

/* As much as fits is printed, and ended by a NUL. */
static void print(const struct event_piece *p, const struct event_unit *e, const struct event_site *s)
{
	static const size_t sizes[] = { 0, 1, 2, 17, 100, 32768 };
	char *last = NULL;

	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		char *to = malloc(sizes[i] ? sizes[i] : 1);

		if (!to)
			fuzz_broken("out of memory");
		event_print(to, sizes[i], p, e, s);
		if (sizes[i] && !memchr(to, 0, sizes[i]))
			fuzz_broken("%zu bytes of text have no end", sizes[i]);
		if (last && strncmp(to, last, strlen(last)))
			fuzz_broken("a text of %zu bytes begins otherwise", sizes[i]);
		free(last);
		last = sizes[i] ? to : (free(to), NULL);
	}
	free(last);
}

static void read_lane(const struct event_unit *e, unsigned lane, struct event_put *put)
{
	enum event_form form = event_form(event_kind_of(e));

	put->address[lane] = form == EVENT_FORM_ADDRESS || form == EVENT_FORM_CLOCKED ? event_address(e, lane) : 0;
	for (unsigned n = 0; n < EVENT_WORDS_MAX; n++)
		put->word[lane][n] = event_word(e, lane, n);
#define OPERAND(kind, id, name, word, shift, bits) \
	if (event_kind_of(e) == EVENT_##kind && (bits) < 64 && event_get(e, lane, EVENT_##kind##_##id) >> (bits) % 64) \
		fuzz_broken("more than %d bits of %s", bits, name);
#include "event/event.def"
}

static void same(const struct event_unit *a, const struct event_unit *b, bool addressed)
{
	uint32_t ca, ta, cb, tb;

	if (event_kind_of(a) != event_kind_of(b) || event_lanes(a) != event_lanes(b) || event_site_of(a) != event_site_of(b))
		fuzz_broken("%s is written as %s", event_name(event_kind_of(a)), event_name(event_kind_of(b)));
	for (unsigned when = EVENT_BEFORE; when <= EVENT_BEHIND; when++)
		if (event_clock(a, (enum event_when)when, &ca, &ta) != event_clock(b, (enum event_when)when, &cb, &tb) ||
		    (event_form(event_kind_of(a)) != EVENT_FORM_NONE && event_form(event_kind_of(a)) != EVENT_FORM_ADDRESS &&
		     event_form(event_kind_of(a)) != EVENT_FORM_PAIR && (ca != cb || ta != tb)))
			fuzz_broken("%s loses its clocks", event_name(event_kind_of(a)));
	for (unsigned l = 0; l < EVENT_LANES; l++) {
		if (!(event_lanes(a) >> l & 1))
			continue;
		if (addressed && event_address(a, l) != event_address(b, l))
			fuzz_broken("lane %u of %s loses its address", l, event_name(event_kind_of(a)));
		for (unsigned n = 0; n < EVENT_WORDS_MAX; n++)
			if (event_word(a, l, n) != event_word(b, l, n))
				fuzz_broken("lane %u of %s loses a word", l, event_name(event_kind_of(a)));
	}
}

static void read_record(const struct event_unit *e)
{
	enum event_form form = event_form(event_kind_of(e));
	bool clocked = form == EVENT_FORM_CLOCK || form == EVENT_FORM_CLOCKED || form == EVENT_FORM_BARRIER;
	struct event_put put = { .kind = (enum event_kind)event_kind_of(e), .site = event_site_of(e), .lanes = event_lanes(e),
		.a = e->w[2], .b = e->w[3], .words = event_words(e), .once = event_once(e) };
	struct event_unit *again = calloc(EVENT_UNITS_MAX, sizeof *again);
	uint32_t clock, timer;

	if (!again)
		fuzz_broken("out of memory");
	for (unsigned when = EVENT_BEFORE; when <= EVENT_BEHIND && clocked; when++) {
		event_clock(e, (enum event_when)when, &clock, &timer);
		put.clock[when] = clock;
		put.timer[when] = timer;
	}
	for (unsigned l = 0; l < EVENT_LANES; l++)
		if (event_lanes(e) >> l & 1)
			read_lane(e, l, &put);
	if (event_encode(again, &put) != event_units(again))
		fuzz_broken("%s is not as long as it says", event_name(event_kind_of(e)));
	same(e, again, form == EVENT_FORM_ADDRESS || form == EVENT_FORM_CLOCKED);
	free(again);
}

static void read_piece(const struct event_piece *p, const struct event_site *s)
{
	for (size_t at = sizeof *p; at < p->bytes;) {
		const struct event_unit *e = event_units_of(p) + (at - sizeof *p) / sizeof *e;

		if (event_kind_of(e) == EVENT_END)
			return;
		print(p, e, s);
		read_record(e);
		at += event_units(e) * sizeof *e;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event_site site;

	if (size < 1 + sizeof site || size > 1 << 14)
		return 0;
	memcpy(&site, data + 1, sizeof site);
	for (size_t at = 1 + sizeof site, bytes; at < size; at += bytes) {
		size_t left = size - at, where = SIZE_MAX;
		struct event_piece *p = copy_of(data + at, left);
		const char *why = event_piece_wrong(p, left, data[0], &where);

		if (why && (!*why || where > left))
			fuzz_broken("refused without a reason or a place");
		bytes = why ? left : p->bytes;
		if (!why) {
			free(p);
			p = copy_of(data + at, bytes);          /* exactly: a sanitizer sees what is read behind it */
			read_piece(p, &site);
		}
		free(p);
	}
	return 0;
}
