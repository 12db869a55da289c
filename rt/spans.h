/* SPDX-License-Identifier: Apache-2.0
 *
 * spans.h: the pieces of memory that were given last, by their addresses.  Each has a place, a number below RT_SPANS, for as long
 * as it is there; what is known of it is the caller's.
 */
#ifndef RT_SPANS_H
#define RT_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RT_SPANS = 1024, RT_NO_SPAN = RT_SPANS };

/* Zero: empty. */
struct rt_spans {
	struct rt_span { uint64_t address, bytes; } at[RT_SPANS];       /* bytes 0: none */
	uint16_t by_address[RT_SPANS];  /* the places of those that are there, n of them; of one address the latest first */
	unsigned n, next;
	uint64_t longest;               /* that ever was */
};

/* Its place; the one that was given RT_SPANS times before, if it is still there, leaves that.  bytes: not 0. */
unsigned rt_span_add(struct rt_spans *, uint64_t address, uint64_t bytes);
void rt_span_remove(struct rt_spans *, unsigned place);
/* Those that overlap it, one after the other: from where (*at is 0 at first); RT_NO_SPAN: no more.  The one that came last may be
 * removed if *at is counted down. */
unsigned rt_span_overlap(const struct rt_spans *, uint64_t address, uint64_t bytes, unsigned *at);
/* That very piece, or RT_NO_SPAN. */
unsigned rt_span_find(const struct rt_spans *, uint64_t address, uint64_t bytes);

#endif
