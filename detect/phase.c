/* SPDX-License-Identifier: Apache-2.0
 *
 * phase.c: what threads bring to the phases of barriers, one hub for all that reaches equally
 * far in the same way from one block.
 */
#include "detect/impl.h"

uint32_t first_brought(const struct phases *t, uint64_t object, uint32_t phase)
{
	return index_get(&t->first, object, phase) - 1;
}

uint32_t bring(struct graph *g, struct phases *t, const struct brought *x)
{
	uint32_t last = NONE, i = first_brought(t, x->object, x->phase);

	for (; i != NONE; last = i, i = t->brought.v[i].next) {
		const struct brought *b = &t->brought.v[i];

		if (b->reach == x->reach && b->how == x->how && b->block == x->block)
			return b->hub;
	}
	i = t->brought.n;
	*ADD(&t->brought) = *x;
	t->brought.v[i].hub = new_hub(g);
	t->brought.v[i].next = NONE;
	if (last == NONE)
		index_set(&t->first, x->object, x->phase, i + 1);
	else
		t->brought.v[last].next = i;
	return t->brought.v[i].hub;
}

void free_phases(struct phases *t)
{
	list_free(&t->brought.list);
	list_free(&t->first.entry.list);
}
