/* SPDX-License-Identifier: Apache-2.0
 *
 * phase.c: what threads bring to the phases of barriers, one hub for all that reaches equally
 * far in the same way from one block; and what who waits for a phase gets of it.
 */
#include "detect/impl.h"

uint32_t brought_hub(struct phases *t, const struct brought *x)
{
	uint32_t first = index_get(&t->first, x->object, x->phase), last = NONE;

	for (uint32_t i = first - 1; i != NONE; last = i, i = t->brought.v[i].next) {
		const struct brought *b = &t->brought.v[i];

		if (b->reach == x->reach && b->how == x->how && b->block == x->block)
			return b->hub;
	}
	*ADD(&t->brought) = *x;
	t->brought.v[t->brought.n - 1].hub = new_hub(t->g);
	t->brought.v[t->brought.n - 1].next = NONE;
	if (first)
		t->brought.v[last].next = t->brought.n - 1;
	else
		index_set(&t->first, x->object, x->phase, t->brought.n);
	return t->brought.v[t->brought.n - 1].hub;
}

void bring(struct phases *t, const struct brought *x, uint32_t hub)
{
	join_hubs(t->g, brought_hub(t, x), hub, (struct edge_kind){H_PLAIN, NOW, A_BLOCK});
}

void bring_heads(struct phases *t, struct brought x, struct heads heads)
{
	for (uint32_t i = heads.first; i < heads.first + heads.n; i++) {
		const struct head *h = &t->d->head.v[i];

		x.reach = h->reach;
		x.how = h->how;
		bring(t, &x, h->hub);
	}
}

void get_brought(struct phases *t, const struct event *e, unsigned lane, const struct brought *by, bool acquire)
{
	for (uint32_t i = index_get(&t->first, by->object, by->phase) - 1; i != NONE; i = t->brought.v[i].next) {
		const struct brought *x = &t->brought.v[i];
		enum apart apart = apart_of(t->d, x->block, by->block);
		bool always = x->how == H_LOOSE || x->how == H_DONE;
		unsigned later = t->g->world & W_WIDE ? LATER : (unsigned)LATER + apart;
		struct edge_kind k = {x->how, (uint8_t)(always || acquire ? NOW : later), (uint8_t)apart};

		if (always || meets(t->g, (enum apart)x->reach, (enum apart)by->reach, apart))
			join(t->g, e, 1u << lane, x->hub, k);
	}
}

void free_phases(struct phases *t)
{
	list_free(&t->brought.list);
	list_free(&t->first.entry.list);
}
