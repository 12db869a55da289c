/* SPDX-License-Identifier: Apache-2.0
 *
 * hang.c: what the emulated device knows of a hang, as data (event/hang.h): where each group of lanes waits, who has
 * not come there yet, who arrived at mbarriers last.
 */
#include <stdio.h>
#include <stdlib.h>

#include "emu/emu.h"
#include "emu/oracle.h"
#include "event/hang.h"

enum { ARRIVALS = 256 };                /* that are remembered */

static struct arrival { const uint64_t *mbar; const struct emu_op *op; uint32_t block, warp, lane; } arrival[ARRIVALS];
static unsigned arrivals, hung[2];      /* hung: lines of the hang; 0 */

struct gathered { struct hang h; struct hang_wait *wait; struct hang_party *party; unsigned capwaits, capparties; };

static void *grown(void *v, unsigned n, unsigned *cap, size_t size)
{
	if (n < *cap)
		return v;
	*cap = *cap ? *cap * 2 : 64;
	v = realloc(v, *cap * size);
	if (!v)
		abort();
	return v;
}

static uint32_t number_of(const struct emu_block *b)
{
	const struct emu_grid *g = b->grid;

	return (b->ctaid[2] * g->dim[1] + b->ctaid[1]) * g->dim[0] + b->ctaid[0];
}

void emu_hang_arrived(const struct emu_warp *w, unsigned lane, const uint64_t *mbar, const struct emu_op *op)
{
	arrival[arrivals++ % ARRIVALS] = (struct arrival){mbar, op, number_of(w->block), w->index, lane};
}

void emu_hang_forget(const uint64_t *mbar)
{
	for (unsigned i = 0; i < ARRIVALS; i++)
		if (arrival[i].mbar == mbar)
			arrival[i].mbar = NULL;
}

static struct hang_place place_of(const struct emu_op *op)
{
	unsigned line = 0;
	struct hang_place p;

	p.file = op->stmt ? emu_source_place(op->func->ptx, op->stmt, &line) : NULL;
	p.line = line;
	if (!p.file) {
		p.file = op->func->mod->name;
		p.line = op->stmt ? op->stmt->line : op->func->ptx->end_line;
	}
	return p;
}

/* ---- who could come ------------------------------------------------------------------------------- */

static void add_party(struct gathered *g, const struct hang_object *o, const struct emu_warp *w, uint32_t lanes)
{
	g->party = grown(g->party, g->h.nparties, &g->capparties, sizeof *g->party);
	g->party[g->h.nparties++] = (struct hang_party){
		.object = *o, .block = number_of(w->block), .warp = w->index, .lanes = lanes, .live = w->live
	};
}

/* Those of the warp that do not wait there, or all of them. */
static void add_others(struct gathered *g, const struct hang_object *o, const struct emu_warp *w, uint32_t there)
{
	add_party(g, o, w, w->live & ~there ? w->live & ~there : ~0u);
}

static uint32_t at_barrier(const struct emu_warp *w, unsigned id)
{
	uint32_t there = w->block->bar[id].lanes[w->index];

	for (unsigned k = 0; k < w->ngroups; k++)
		there |= w->group[k].state == GROUP_WAIT_BAR && w->group[k].bar == id ? w->group[k].mask : 0;
	return there;
}

static void add_block(struct gathered *g, const struct hang_object *o, const struct emu_block *b, unsigned id)
{
	for (unsigned i = 0; i < b->nwarps; i++)
		add_others(g, o, &b->warp[i], at_barrier(&b->warp[i], id));
}

static void add_cluster(struct gathered *g, const struct hang_object *o, const struct emu_cluster *c)
{
	for (unsigned r = 0; r < c->nblocks; r++) {
		for (unsigned i = 0; i < c->block[r]->nwarps; i++) {
			const struct emu_warp *w = &c->block[r]->warp[i];
			uint32_t there = 0;

			EMU_EACH(l, w->live)
				there |= (uint32_t)(c->block[r]->cluster_arrived[emu_thread_index(w, l)] == c->phase + 1) << l;
			add_others(g, o, w, there);
		}
	}
}

static uint32_t at_mbarrier(const struct emu_warp *w, const uint64_t *mbar)
{
	return w->looked == mbar ? w->looks : 0;
}

/* Who arrived before, by whatever line, is there already among the others. */
static void add_arrivals(struct gathered *g, const struct hang_object *o, const struct emu_cluster *c, const uint64_t *mbar)
{
	for (unsigned r = 0; r < c->nblocks; r++)
		for (unsigned i = 0; i < c->block[r]->nwarps; i++)
			add_others(g, o, &c->block[r]->warp[i], at_mbarrier(&c->block[r]->warp[i], mbar));
	for (unsigned i = 0; i < ARRIVALS && i < arrivals; i++) {
		const struct arrival *a = &arrival[(arrivals - 1 - i) % ARRIVALS];

		if (a->mbar != mbar)
			continue;
		g->party = grown(g->party, g->h.nparties, &g->capparties, sizeof *g->party);
		g->party[g->h.nparties++] = (struct hang_party){
			.object = *o, .block = a->block, .warp = a->warp, .came = place_of(a->op)
		};
	}
}

static uint32_t at_word(const struct emu_warp *w, const struct hang_object *o)
{
	uint32_t there = 0;

	EMU_EACH(l, w->live) {
		const struct emu_polled *p = emu_spin_polled(w, l);

		there |= (uint32_t)(p && p->at == o->number && number_of(p->owner) == o->block) << l;
	}
	return there;
}

/* Who could write a word of shared memory: all of the cluster. */
static void add_writers(struct gathered *g, const struct hang_object *o, const struct emu_cluster *c)
{
	for (unsigned r = 0; r < c->nblocks; r++)
		for (unsigned i = 0; i < c->block[r]->nwarps; i++)
			add_others(g, o, &c->block[r]->warp[i], at_word(&c->block[r]->warp[i], o));
}

/* ---- who waits ---------------------------------------------------------------------------------------- */

static void set_barrier(struct hang_wait *w, const struct emu_block *b, unsigned id)
{
	const struct emu_bar *bar = &b->bar[id];

	w->object = (struct hang_object){HANG_BARRIER, w->block, id};
	w->warps = bar->expected != EMU_BAR_ALL;
	w->missing = w->warps ? bar->expected / EMU_LANES - bar->warps : b->live - bar->arrived;
}

static bool is_new(const struct gathered *g, const struct hang_object *o)
{
	for (unsigned i = 0; i + 1 < g->h.nwaits; i++)
		if (g->wait[i].object.kind == o->kind && g->wait[i].object.block == o->block && g->wait[i].object.number == o->number)
			return false;
	return true;
}

/* The last wait is that of a group that polls a word, if it does. */
static void add_poll(struct gathered *g, const struct emu_warp *w, const struct emu_group *q)
{
	struct hang_wait *x = &g->wait[g->h.nwaits - 1];
	const struct emu_polled *p = emu_spin_polled(w, (unsigned)__builtin_ctz(q->mask));

	if (!p || q->state != GROUP_READY)
		return;
	x->object = (struct hang_object){HANG_WORD, number_of(p->owner), p->at};
	x->value = p->value;
	x->at = place_of(p->op);
	if (is_new(g, &x->object))
		add_writers(g, &x->object, w->block->cluster);
}

static void add_group(struct gathered *g, const struct emu_warp *w, const struct emu_group *q, const struct emu_op *at)
{
	const struct emu_cluster *c = w->block->cluster;
	struct hang_wait *x;
	bool mbar = q->state == GROUP_READY && w->looks & q->mask;

	g->wait = grown(g->wait, g->h.nwaits, &g->capwaits, sizeof *g->wait);
	x = &g->wait[g->h.nwaits++];
	*x = (struct hang_wait){.block = number_of(w->block), .warp = w->index, .lanes = q->mask, .at = place_of(at)};
	if (q->state == GROUP_WAIT_BAR) {
		set_barrier(x, w->block, q->bar);
		if (is_new(g, &x->object))
			add_block(g, &x->object, w->block, q->bar);
	} else if (q->state == GROUP_WAIT_CLUSTER) {
		x->object = (struct hang_object){HANG_CLUSTER, number_of(c->block[0]), 0};
		x->missing = c->threads - c->arrived;
		if (is_new(g, &x->object))
			add_cluster(g, &x->object, c);
	} else if (q->state == GROUP_WAIT_WARP) {
		x->object = (struct hang_object){HANG_WARP, x->block, (uint64_t)q->need << 32 | w->index};
		x->missing = (uint32_t)__builtin_popcount(q->need & ~q->mask);
		if (is_new(g, &x->object))
			add_party(g, &x->object, w, q->need & ~q->mask);
	} else if (mbar) {
		x->object = (struct hang_object){HANG_MBARRIER, x->block, w->looked_at};
		emu_mbar_left(w->looked, &x->missing, &x->bytes);
		if (is_new(g, &x->object))
			add_arrivals(g, &x->object, c, w->looked);
	} else {
		add_poll(g, w, q);
	}
}

static void put_line(void *arg, const char *text)
{
	(void)arg;
	fprintf(stderr, "emu: why: %s\n", text);
}

/* Of the first two things that are waited for. */
static void set_lines(const struct gathered *g)
{
	hung[0] = hung[1] = 0;
	for (unsigned i = 0; i < g->h.nwaits && !hung[1]; i++) {
		unsigned line = g->wait[i].object.kind == HANG_RUNS ? 0 : g->wait[i].at.line;

		if (line && line != hung[0])
			hung[hung[0] != 0] = line;
	}
}

EMU_ORACLE_API int emu_hang(unsigned line[2])
{
	line[0] = hung[0];
	line[1] = hung[1];
	return hung[0] != 0;
}

void emu_hang_say(const struct emu_op *(*own)(const struct emu_warp *, const struct emu_group *))
{
	struct gathered g = {.h = {.copies = emu_m.async_due != UINT64_MAX}};

	for (struct emu_grid *grid = emu_m.grids; grid; grid = grid->next)
		for (struct emu_block *b = grid->blocks; b; b = b->next)
			for (unsigned i = 0; b->live && i < b->nwarps; i++)
				for (unsigned k = 0; k < b->warp[i].ngroups; k++)
					add_group(&g, &b->warp[i], &b->warp[i].group[k], own(&b->warp[i], &b->warp[i].group[k]));
	g.h.wait = g.wait;
	g.h.party = g.party;
	if (hang_explain(&g.h, put_line, NULL))
		set_lines(&g);
	free(g.wait);
	free(g.party);
}
