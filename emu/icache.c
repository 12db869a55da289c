/* SPDX-License-Identifier: Apache-2.0
 *
 * icache.c: the instruction caches of multiprocessors, for timing.c.  Each has whole lines and gives
 * up the one that was used longest ago.  Of a kernel that is larger
 * it counts how much else is executed between two executions of an instruction, by all warps.
 *
 * An H200 missed 6,800 times a tile of testsuite/kernels/elementwise.cu, by two blocks of four warps on
 * a multiprocessor (sm__icc_requests_lookup_miss); with this size it is 4,600 here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/emu.h"

enum {
	OP_BYTES = 32,          /* of machine code that ptxas makes of an op, about */
	LINE_BYTES = 128,
	LINES = (32 << 10) / LINE_BYTES,
	FETCH = 75,             /* cycles until a line is there, */
	NEXT = 29,              /* and until another can be asked for */
	SHOWN = 24
};

/* Its lines are a ring from the one used last; place 0 is the head of that. */
struct icache { struct { uint32_t line, next, prev; } e[LINES + 1]; uint32_t n; uint64_t free; };

struct code { const struct emu_func *func; uint64_t fetched; };

static struct icache *caches;   /* by multiprocessor */
static uint32_t *places;        /* of line l on multiprocessor s: [l * nsm + s]; 0: it is not there */
static uint32_t nlines = 1, room;
static struct code *codes;      /* by emu_func.code - 1 */
static unsigned ncodes, most;

static void *larger(void *p, size_t bytes)
{
	p = realloc(p, bytes);
	if (!p) {
		fputs("emu: no memory for timing\n", stderr);
		abort();
	}
	return p;
}

/* A function that was not executed before gets its place. */
static void lay(struct emu_func *f)
{
	if (ncodes == most) {
		most = 2 * most + 64;
		codes = larger(codes, most * sizeof *codes);
	}
	codes[ncodes++] = (struct code){ f, 0 };
	f->code = ncodes;
	f->code_line = nlines;
	nlines += (f->nops * OP_BYTES + LINE_BYTES - 1) / LINE_BYTES;
	if (nlines > room) {
		uint32_t to = 2 * nlines;

		places = larger(places, (size_t)to * emu_m.nsm * sizeof *places);
		memset(places + (size_t)room * emu_m.nsm, 0, (size_t)(to - room) * emu_m.nsm * sizeof *places);
		room = to;
	}
	if (!caches) {
		caches = larger(NULL, emu_m.nsm * sizeof *caches);
		memset(caches, 0, emu_m.nsm * sizeof *caches);
	}
}

uint32_t emu_icache_line(const struct emu_op *op)
{
	struct emu_func *f = op->func;

	if (!f->code)
		lay(f);
	return f->code_line + (uint32_t)(op - f->ops) * OP_BYTES / LINE_BYTES;
}

static void take_out(struct icache *c, uint32_t i)
{
	c->e[c->e[i].prev].next = c->e[i].next;
	c->e[c->e[i].next].prev = c->e[i].prev;
}

static void put_first(struct icache *c, uint32_t i)
{
	uint32_t first = c->e[0].next;

	c->e[i].next = first;
	c->e[i].prev = 0;
	c->e[first].prev = i;
	c->e[0].next = i;
}

uint64_t emu_icache_fetch(unsigned sm, const struct emu_op *op, uint32_t line, uint64_t now)
{
	struct icache *c = caches + sm;
	uint32_t *at = &places[(size_t)line * emu_m.nsm + sm], i = *at;
	uint64_t wait;
	bool has = i;

	if (has) {
		take_out(c, i);
	} else if (c->n < LINES) {
		i = ++c->n;
	} else {
		i = c->e[0].prev;
		places[(size_t)c->e[i].line * emu_m.nsm + sm] = 0;
		take_out(c, i);
	}
	c->e[i].line = line;
	*at = i;
	put_first(c, i);
	if (has)
		return 0;
	codes[op->func->code - 1].fetched++;
	wait = c->free > now ? c->free - now : 0;
	c->free = now + wait + NEXT;
	return wait + FETCH;
}

static int by_fetched(const void *a, const void *b)
{
	const struct code *x = a, *y = b;

	return (x->fetched < y->fetched) - (x->fetched > y->fetched);
}

void emu_icache_write(FILE *f)
{
	struct code *list = larger(NULL, (ncodes + 1) * sizeof *list);

	memcpy(list, codes, ncodes * sizeof *list);
	qsort(list, ncodes, sizeof *list, by_fetched);
	fprintf(f, "%12s  lines of code were not in the cache, of\n", "times");
	for (unsigned i = 0; i < ncodes && i < SHOWN && list[i].fetched; i++)
		fprintf(f, "%12llu  %s\n", (unsigned long long)list[i].fetched, list[i].func->name);
	free(list);
	for (unsigned i = 0; i < ncodes; i++)
		codes[i].fetched = 0;
}
