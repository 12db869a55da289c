/* SPDX-License-Identifier: Apache-2.0
 *
 * print.c: records as text, in the words of event.def.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "event/event.h"

struct out { char *to; size_t left; };

__attribute__((format(printf, 2, 3)))
static void say(struct out *o, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(o->to, o->left, fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < o->left) {
		o->to += n;
		o->left -= (size_t)n;
	} else {
		o->left = o->left != 0;
	}
}

static void say_modifiers(struct out *o, const struct event_site *s)
{
#define MODIFIER(name, field, value) \
	if ((value) && (sizeof s->field < 4 ? s->field == (value) : (s->field & (value)) == (value))) \
		say(o, ".%s", name);
#include "event/event.def"
}

static void say_address(struct out *o, const struct event_unit *e, const struct event_site *s)
{
	const char *before = " ";

	for (unsigned l = event_first(event_lanes(e)); l < EVENT_LANES; l++) {
		uint64_t a;

		if (!(event_lanes(e) >> l & 1))
			continue;
		a = event_address(e, l);
		if (s->space == EVENT_SHARED)
			say(o, "%ss%" PRIu64 ":0x%" PRIx32, before, a >> 24, event_offset(a));
		else
			say(o, "%sg:0x%" PRIx64, before, a);
		before = ",";
	}
}

static void say_operand(struct out *o, const struct event_unit *e, const char *name, enum event_operand at)
{
	const char *before = "=";

	if ((unsigned)at >> 16 < EVENT_WORD_A && (unsigned)at >> 16 >= event_words(e))
		return;
	say(o, " %s", name);
	for (unsigned l = event_first(event_lanes(e)); l < EVENT_LANES; l++) {
		bool alike = event_once(e) || (unsigned)at >> 16 >= EVENT_WORD_A;

		if (!(event_lanes(e) >> l & 1) || (alike && *before == ','))
			continue;
		say(o, "%s0x%" PRIx64, before, event_get(e, l, at));
		before = ",";
	}
}

void event_print(char *to, size_t size, const struct event_piece *p, const struct event_unit *e,
		 const struct event_site *s)
{
	enum event_form form = event_form(event_kind_of(e));
	struct out o = {to, size};
	uint32_t clock, timer;

	say(&o, "%u.%u:0x%08x %s", p->block, p->warp, event_lanes(e), event_name(event_kind_of(e)));
	say_modifiers(&o, s);
	if (form == EVENT_FORM_ADDRESS || form == EVENT_FORM_CLOCKED)
		say_address(&o, e, s);
#define OPERAND(kind, id, name, word, shift, bits) \
	if (event_kind_of(e) == EVENT_##kind) \
		say_operand(&o, e, name, EVENT_##kind##_##id);
#include "event/event.def"
	for (unsigned i = 0; event_kind_of(e) == EVENT_STRONG && i < event_words(e); i++)
		say(&o, " word=0x%" PRIx64, event_word(e, event_first(event_lanes(e)), i));
	if (event_clock(e, EVENT_BEFORE, &clock, &timer))
		say(&o, " @%u/%u", clock, timer);
	if (form == EVENT_FORM_CLOCKED && event_clock(e, EVENT_BEHIND, &clock, &timer))
		say(&o, "..%u/%u", clock, timer);
	say(&o, " line=%u", s->line);
}

void event_print_site(char *to, size_t size, const struct event_site *s)
{
	struct out o = {to, size};

	say(&o, "%s", event_name(s->kind));
	say_modifiers(&o, s);
	say(&o, "%s%s%s", s->does & EVENT_READS ? " reads" : "", s->does & EVENT_WRITES ? " writes" : "",
	    s->does & EVENT_NO_RESULT ? " no_result" : "");
	if (s->size || s->count)
		say(&o, " %ux%u", s->size, s->count);
	if (s->left_out)
		say(&o, " left_out=0x%x", s->left_out);
	for (size_t i = 0; i < sizeof s->shape / sizeof *s->shape; i++)
		if (s->shape[i])
			say(&o, " shape%zu=%u", i, s->shape[i]);
	if (s->nrun)
		say(&o, " for=%u", s->nrun);
}
