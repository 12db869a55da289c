/* SPDX-License-Identifier: Apache-2.0
 *
 * spans.c: pieces of memory by their addresses (spans.h).
 */
#include <string.h>

#include "rt/spans.h"

/* How many begin below that. */
static unsigned below(const struct rt_spans *s, uint64_t address)
{
	unsigned lo = 0, hi = s->n;

	while (lo < hi) {
		const unsigned mid = lo + (hi - lo) / 2;

		if (s->at[s->by_address[mid]].address < address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void rt_span_remove(struct rt_spans *s, unsigned place)
{
	unsigned i = below(s, s->at[place].address);

	while (s->by_address[i] != place)
		i++;
	s->n--;
	memmove(&s->by_address[i], &s->by_address[i + 1], (s->n - i) * sizeof *s->by_address);
	s->at[place].bytes = 0;
}

unsigned rt_span_add(struct rt_spans *s, uint64_t address, uint64_t bytes)
{
	const unsigned place = s->next++ % RT_SPANS;
	unsigned i;

	if (s->at[place].bytes)
		rt_span_remove(s, place);
	i = below(s, address);
	memmove(&s->by_address[i + 1], &s->by_address[i], (s->n - i) * sizeof *s->by_address);
	s->by_address[i] = (uint16_t)place;
	s->n++;
	s->at[place] = (struct rt_span){address, bytes};
	s->longest = bytes > s->longest ? bytes : s->longest;
	return place;
}

static bool overlaps(const struct rt_span *x, uint64_t address, uint64_t bytes)
{
	return x->address - address < bytes || address - x->address < x->bytes;
}

unsigned rt_span_overlap(const struct rt_spans *s, uint64_t address, uint64_t bytes, unsigned *at)
{
	unsigned i = *at ? *at : below(s, address > s->longest ? address - s->longest : 0);

	for (; i < s->n; i++) {
		const struct rt_span *x = &s->at[s->by_address[i]];

		if (x->address >= address && x->address - address >= bytes)
			break;
		if (overlaps(x, address, bytes)) {
			*at = i + 1;
			return s->by_address[i];
		}
	}
	return RT_NO_SPAN;
}

unsigned rt_span_find(const struct rt_spans *s, uint64_t address, uint64_t bytes)
{
	for (unsigned i = below(s, address); i < s->n && s->at[s->by_address[i]].address == address; i++)
		if (s->at[s->by_address[i]].bytes == bytes)
			return s->by_address[i];
	return RT_NO_SPAN;
}
