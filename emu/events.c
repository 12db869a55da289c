/* SPDX-License-Identifier: Apache-2.0
 *
 * events.c: listens to the emulated device in the name of a sink: launches and blocks.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/events_impl.h"

const struct emu_events_sink *evt_sink;
unsigned evt_slot;

static struct emu_events_sink sink;
static struct evt_block *blocks;        /* that run */
static uint32_t launches;
static unsigned running;
static unsigned long long left_out;
static const void *last_stream;         /* where the last command was a launch, which has ended; NULL */

void *evt_alloc(size_t bytes)
{
	void *p = calloc(1, bytes ? bytes : 1);

	if (!p)
		abort();
	return p;
}

struct evt_block *evt_block_of(const struct emu_block *b)
{
	return b->heard[evt_slot];
}

void evt_piece(const struct event_piece *p)
{
	if (evt_sink)
		evt_sink->piece(evt_sink->arg, p);
}

/* ---- blocks -------------------------------------------------------------------------------- */

/* Blocks of a cluster have numbers in a row. */
static void block_begins(struct emu_block *b)
{
	const struct evt_launch *l = b->grid->heard[evt_slot];
	const uint32_t *d = b->grid->dim, *c = b->grid->cluster;
	uint32_t size = b->cluster->nblocks ? b->cluster->nblocks : 1, at[3];
	struct evt_block *x;

	if (!l || !evt_sink)
		return;
	for (unsigned i = 0; i < 3; i++)
		at[i] = b->ctaid[i] / (c[i] ? c[i] : 1);
	x = evt_alloc(sizeof *x + b->nwarps * sizeof *x->warp);
	x->b = b;
	x->launch = l->number;
	x->nwarps = b->nwarps;
	x->first = (uint32_t)((at[2] * (d[1] / (c[1] ? c[1] : 1)) + at[1]) * (d[0] / (c[0] ? c[0] : 1)) + at[0]) * size;
	x->number = x->first + b->rank;
	x->next = blocks;
	blocks = x;
	b->heard[evt_slot] = x;
}

static void forget_block(struct evt_block *b)
{
	struct evt_block **at = &blocks;

	evt_block_flush(b);
	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	b->b->heard[evt_slot] = NULL;
	evt_block_free(b);
}

/* ---- launches -------------------------------------------------------------------------------- */

/* May it begin before the one before it in its stream has ended? */
static void may_begin_early(struct emu_grid *g)
{
	struct evt_launch *l;

	if (!g || !g->pdl || g->heard[evt_slot])
		return;
	g->heard[evt_slot] = l = evt_alloc(sizeof *l);
	l->early = true;
}

static void launch(struct emu_grid *g)
{
	struct event_host h;
	struct evt_launch *l;

	if (!evt_sink || !g->func->heard[evt_slot])
		return;
	if (g->after && g->after->heard[evt_slot])
		may_begin_early(g);
	l = g->heard[evt_slot];
	if (running && !(l && l->early)) {
		left_out++;
		return;
	}
	if (!l)
		g->heard[evt_slot] = l = evt_alloc(sizeof *l);
	memset(&h, 0, sizeof h);
	h.kind = EVENT_HOST_LAUNCH;
	h.launch = l->number = ++launches;
	h.blocks = (uint32_t)g->nblocks;
	h.early = l->early;
	running++;
	evt_tell_memory(g, l->number);
	evt_tell_sites(g->func, evt_slot);
	evt_sink->host(evt_sink->arg, &h);
	evt_tell_places(g, l->number, evt_slot);
}

static void launch_ends(const struct emu_tell_launch *t)
{
	struct evt_launch *l = t->grid->heard[evt_slot];
	struct event_host h;

	if (!l)
		return;
	for (struct evt_block *b = blocks, *next; b; b = next) {
		next = b->next;
		if (b->b->grid == t->grid)
			forget_block(b);
	}
	t->grid->heard[evt_slot] = NULL;
	running--;
	memset(&h, 0, sizeof h);
	h.kind = EVENT_HOST_OVER;
	h.launch = l->number;
	h.fault = emu_m.fault != CUDA_SUCCESS;
	if (evt_sink)
		evt_sink->host(evt_sink->arg, &h);
	free(l);
	may_begin_early(t->then);
	last_stream = t->then ? NULL : t->stream;
}

static void cut(void)
{
	if (!evt_sink || !evt_sink->cut)
		return;
	for (struct evt_block *b = blocks; b; b = b->next)
		evt_block_flush(b);
	evt_sink->cut(evt_sink->arg);
}

static void hear(void *self, const struct emu_tell *t)
{
	(void)self;
	switch (t->kind) {
	case TELL_BLOCK_BEGIN:
		block_begins(t->b);
		break;
	case TELL_BLOCK_END:
		if (evt_block_of(t->b))
			forget_block(evt_block_of(t->b));
		break;
	case TELL_LAUNCH:
		launch(t->u.launch->grid);
		break;
	case TELL_LAUNCH_END:
		launch_ends(t->u.launch);
		break;
	case TELL_STREAM:
		if (last_stream && (!t->u.launch->stream || t->u.launch->stream == last_stream)) {
			may_begin_early(t->u.launch->grid);
			last_stream = NULL;
		}
		break;
	default:
		if (!evt_sink || !t->b || !evt_block_of(t->b) || !t->w)
			break;
		evt_tell(t);
		if (evt_tick())
			cut();
		break;
	}
}

static void load(void *self, struct emu_func *f)
{
	(void)self;
	evt_load(f, evt_slot);
}

static void unload(void *self, struct emu_func *f)
{
	(void)self;
	evt_unload(f, evt_slot);
}

EMU_EVENTS_API int emu_events(const struct emu_events_sink *s, enum emu_events_clocks clocks, unsigned long long seed)
{
	static struct emu_listener me = {.tell = hear, .load = load, .unload = unload};
	static bool on;

	if (s && !on && !emu_listen(&me))
		return -1;
	on = on || s;
	evt_slot = me.slot;
	if (s)
		sink = *s;
	evt_sink = s ? &sink : NULL;
	launches = 0;
	left_out = 0;
	evt_clocks(clocks, seed);
	return 0;
}

EMU_EVENTS_API unsigned long long emu_events_left_out(void)
{
	return left_out;
}
