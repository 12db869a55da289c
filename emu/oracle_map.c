/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle_map.c: tensor maps that an earlier launch made or changed in memory.  What orders
 * launches is no fence of the tensor maps' proxy (PTX ISA, "Causality Order": proxy-preserved
 * base causality order, host operations), so that who uses such a map has to acquire it in
 * its own kernel.  Any 64 bytes of global memory may become half of a map, so of all of them
 * is kept which launch stored there last.
 *
 * Copies and fills by the host end that.  Its own stores, to memory that it shares with the
 * device, are not seen.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/oracle_impl.h"

enum { PART = 64, PARTS = 64, PAGE = PART * PARTS };

/* What is left of an instruction whose module may be gone. */
struct writer {
	struct writer *next;
	struct orc_op op;
	char func[64];
};

struct part { uint64_t launch, block; const struct writer *by; uint32_t thread; };
struct page { struct page *chain; uint64_t number; struct part part[PARTS]; };

static struct page *pages[ORC_HASH];
static struct writer *writers;

static struct page **find(uint64_t number)
{
	struct page **p = &pages[number % ORC_HASH];

	while (*p && (*p)->number != number)
		p = &(*p)->chain;
	return p;
}

static const struct writer *writer_of(const struct orc_op *op)
{
	struct writer *x = writers;

	while (x && (x->op.line != op->line || strncmp(x->func, op->func, sizeof x->func - 1)))
		x = x->next;
	if (x)
		return x;
	x = orc_alloc(1, sizeof *x);
	x->next = writers;
	x->op.line = op->line;
	x->op.func = x->func;
	strncpy(x->func, op->func, sizeof x->func - 1);
	writers = x;
	return x;
}

static uint64_t launch_of(const struct orc_grid *g, uint64_t number)
{
	const struct orc_launch *l = g->launches;

	while (l->number != number)
		l = l->next;
	return l->id;
}

void orc_map_written(const struct orc_grid *g, const struct orc_access *a)
{
	uint64_t launch = launch_of(g, a->launch);

	for (uint64_t at = a->addr / PART; at * PART < a->addr + a->size; at++) {
		struct page **p = find(at / PARTS);
		struct part *x;

		if (!*p) {
			*p = orc_alloc(1, sizeof **p);
			(*p)->number = at / PARTS;
		}
		x = &(*p)->part[at % PARTS];
		if (x->launch != launch)
			*x = (struct part){launch, a->reach.block, writer_of(a->op), a->index};
	}
}

void orc_host_wrote(const struct emu_tell_host *h)
{
	uint64_t from = h->addr / PART, end = (h->addr + h->bytes + PART - 1) / PART;

	while (from < end) {
		struct page *p = *find(from / PARTS);
		uint64_t next = (from / PARTS + 1) * PARTS;

		if (next > end)
			next = end;
		if (p)
			memset(&p->part[from % PARTS], 0, (next - from) * sizeof *p->part);
		from = next;
	}
}

/* Was the map acquired in the block that uses it, on the way? */
bool orc_map_acquired(const struct orc_issue *i, enum orc_world w, uint64_t map)
{
	const struct orc_grid *g = i->block->grid;

	for (unsigned k = 0; k < g->nmap_fences; k++) {
		const struct orc_map_fence *f = &g->map_fence[k];

		if (f->addr == map && f->block == i->block->number &&
		    orc_get(i->know[w].v[ORC_ALL], f->thread) >= f->epoch)
			return true;
	}
	return false;
}

/* Launches that share a world are compared access by access (orc_judge). */
static bool of_this_world(const struct orc_grid *g, uint64_t launch)
{
	const struct orc_launch *l = g->launches;

	while (l && l->id != launch)
		l = l->next;
	return l;
}

void orc_map_used(const struct orc_issue *i, const struct orc_op *op, uint64_t map)
{
	const struct orc_grid *g = i->block->grid;

	for (uint64_t at = map / PART; at * PART < map + 128; at++) {
		const struct page *p = *find(at / PARTS);
		const struct part *x = p ? &p->part[at % PARTS] : NULL;

		if (x && x->by && !of_this_world(g, x->launch) && !orc_map_acquired(i, ORC_LEAST, map)) {
			const struct orc_fact f = {
				.op = {&x->by->op, op}, .may = ORC_MAY(ORC_TMAP), .kind = ORC_TMAP,
				.block = {x->block, i->block->number}, .thread = {x->thread, i->index},
				.addr = map
			};

			orc_say(&f);
			return;
		}
	}
}
