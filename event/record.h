/* SPDX-License-Identifier: Apache-2.0
 *
 * record.h: a part of event.h: where a record holds what, for hosts and GPUs.
 */
#ifndef EVENT_RECORD_H
#define EVENT_RECORD_H

/* 16 bytes, and 16 more of clocks. */
static inline EVENT_BOTH unsigned event_fixed_units(unsigned kind)
{
	const uint64_t clocked = 0
#define EVENT(id, name, form, chapter) | (uint64_t)(EVENT_FORM_##form == EVENT_FORM_CLOCKED) << EVENT_##id
#include "event/event.def"
		;

	return 1 + (unsigned)(clocked >> kind & 1);
}

/* Units of 16 bytes that the record takes; 0: it is END, or none. */
static inline EVENT_BOTH unsigned event_units(const struct event_unit *e)
{
	unsigned lanes = event_count(event_lanes(e)), kind = event_kind_of(e);
	unsigned words = event_words(e) * (event_once(e) ? 1 : lanes) + (event_by_lane(e) ? lanes : 0);

	words = event_narrow(e) ? (lanes + 1) / 2 : words;

	return kind == EVENT_END || kind >= EVENT_KINDS || !lanes ? 0 : event_fixed_units(kind) + (words + 1) / 2;
}

/* A unit's first or second 64-bit word. */
static inline EVENT_BOTH uint64_t event_half(const struct event_unit *unit, unsigned second)
{
	return unit->w[2 * second] | (uint64_t)unit->w[2 * second + 1] << 32;
}

/* Do two units differ in one of some words of 32 bits?  words: as bits. */
static inline EVENT_BOTH bool event_differs(const struct event_unit *a, const struct event_unit *b, unsigned words)
{
	uint32_t differ = 0;

	for (unsigned i = 0; i < 4; i++)
		differ |= words >> i & 1 ? a->w[i] ^ b->w[i] : 0;
	return differ;
}

/* The i-th 64-bit word behind the fixed part. */
static inline EVENT_BOTH uint64_t event_word_at(const struct event_unit *e, unsigned i)
{
	return event_half(&e[event_fixed_units(event_kind_of(e)) + i / 2], i % 2);
}

/* Which 64-bit word of operands an operand is in. */
static inline EVENT_BOTH unsigned event_word_of(enum event_operand o)
{
	return (unsigned)o >> 16;
}

/* Words of lanes below that one. */
static inline EVENT_BOTH unsigned event_words_below(const struct event_unit *e, unsigned lane)
{
	unsigned nth = event_count(event_lanes(e) & ((1u << lane) - 1));

	return nth * ((event_once(e) ? 0 : event_words(e)) + event_by_lane(e));
}

/* The n-th word of operands of a lane that the record names; 0: the record lacks it. */
static inline EVENT_BOTH uint64_t event_word(const struct event_unit *e, unsigned lane, unsigned n)
{
	unsigned at = event_once(e) ? event_by_lane(e) * event_count(event_lanes(e)) : event_words_below(e, lane) + event_by_lane(e);

	return n < event_words(e) ? event_word_at(e, at + n) : 0;
}

/* The address of a lane that the record names. */
static inline EVENT_BOTH uint64_t event_address(const struct event_unit *e, unsigned lane)
{
	int64_t lanes = (int64_t)lane - event_first(event_lanes(e));

	if (event_narrow(e))
		return event_nth_address(e, event_words_below(e, lane));
	if (event_by_lane(e))
		return event_word_at(e, event_words_below(e, lane)) & EVENT_ADDRESS;
	return (event_base(e) + (uint64_t)(event_step(e) * lanes)) & EVENT_ADDRESS;
}

/* Its operand; 0: the record lacks it. */
static inline EVENT_BOTH uint64_t event_get(const struct event_unit *e, unsigned lane, enum event_operand o)
{
	unsigned word = event_word_of(o), shift = (unsigned)o >> 8 & 255, bits = (unsigned)o & 255;
	uint64_t v = word == EVENT_WORD_A ? e->w[2] : word == EVENT_WORD_B ? e->w[3] : event_word(e, lane, word);

	v >>= shift;
	return bits < 64 ? v & ((UINT64_C(1) << bits) - 1) : v;
}

#endif
