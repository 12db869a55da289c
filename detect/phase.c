/* SPDX-License-Identifier: Apache-2.0
 *
 * phase.c: what threads bring to the phases of barriers, one hub for all that reaches equally
 * far in the same way from one block.
 */
#include "detect/impl.h"

static uint32_t hash_of(uint64_t object, uint32_t phase)
{
	uint64_t h = (object * UINT64_C(0x9e3779b97f4a7c15) ^ phase) * UINT64_C(0xc2b2ae3d27d4eb4f);

	return (uint32_t)(h ^ h >> 32);
}

/* The slot of a phase's first entry. */
static uint32_t *slot_of(const struct phases *t, uint64_t object, uint32_t phase)
{
	uint32_t mask = t->slots.n - 1, i = hash_of(object, phase) & mask;

	for (; t->slots.v[i]; i = (i + 1) & mask) {
		const struct brought *b = &t->brought.v[t->slots.v[i] - 1];

		if (b->object == object && b->phase == phase)
			break;
	}
	return &t->slots.v[i];
}

static void make_room(struct phases *t)
{
	uint32_t n = t->slots.n ? t->slots.n * 2 : 256;

	if (t->brought.n * 2 < t->slots.n)
		return;
	t->slots.n = 0;
	ADD_MANY(&t->slots, n);
	for (uint32_t i = 0; i < t->brought.n; i++) {
		uint32_t *slot = slot_of(t, t->brought.v[i].object, t->brought.v[i].phase);

		/* The first of a phase stands for those that hang on it. */
		if (!*slot)
			*slot = i + 1;
	}
}

uint32_t first_brought(const struct phases *t, uint64_t object, uint32_t phase)
{
	return t->slots.n ? *slot_of(t, object, phase) - 1 : NONE;
}

uint32_t bring(struct graph *g, struct phases *t, const struct brought *x)
{
	uint32_t *slot, i, last = NONE;

	make_room(t);
	slot = slot_of(t, x->object, x->phase);
	for (i = *slot - 1; i != NONE; last = i, i = t->brought.v[i].next) {
		const struct brought *b = &t->brought.v[i];

		if (b->reach == x->reach && b->how == x->how && b->block == x->block)
			return b->hub;
	}
	*ADD(&t->brought) = *x;
	i = t->brought.n - 1;
	t->brought.v[i].hub = new_hub(g);
	t->brought.v[i].next = NONE;
	if (last == NONE)
		*slot = i + 1;
	else
		t->brought.v[last].next = i;
	return t->brought.v[i].hub;
}

void free_phases(struct phases *t)
{
	list_free(&t->brought.list);
	list_free(&t->slots.list);
}
