/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle_host.c: judges what a script has the host order (memory-model.md 1.11), from the script alone and from what the
 * emulated device's own detector says that launches have touched.  It knows nothing of how gsan does that: every action is
 * two nodes of a graph, the call and what the call has done, and of two that neither reaches from the other each byte is
 * compared.
 */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

#include "emu/oracle.h"

enum { MOST = 256, RACES = 256 };

struct touch { uint64_t address, bytes; unsigned line; bool write, strong; };
struct doing { uint64_t launch; struct touch at[2]; unsigned n; bool host, launches; };

static struct doing doing[MOST];
static bool edge[2 * MOST][2 * MOST];   /* the call of action k is node 2k, what it does 2k + 1 */
static bool reach[2 * MOST][2 * MOST];
static unsigned ndoing;
static struct emu_oracle_pair race[RACES];
static unsigned nraces;
static struct touch shared[MOST];
static unsigned nshared;

void run_host_block(uint64_t address, uint64_t bytes)
{
	if (nshared < MOST)
		shared[nshared++] = (struct touch){.address = address, .bytes = bytes};
}

/* ---- the script -------------------------------------------------------------------------------------------------- */

void run_host_did(const struct run_script *s, unsigned k, const struct run_host_place *at, unsigned long long launch)
{
	const struct run_action *a = &s->actions[k];
	struct doing *d;

	if (k >= MOST)
		return;
	d = &doing[k];
	ndoing = k + 1;
	d->launch = launch;
	d->launches = a->kind == ACT_LAUNCH;
	if (a->kind == ACT_FREE && a->ordered)
		d->at[d->n++] = (struct touch){at->dst, a->bytes, a->pos.line, true, false};
	if (a->kind == ACT_ALLOC && a->ordered)
		d->at[d->n++] = (struct touch){at->dst, a->bytes, a->pos.line, true, false};
	d->host = a->kind == ACT_HOSTREAD || a->kind == ACT_HOSTWRITE;
	if (a->kind == ACT_COPY)
		d->at[d->n++] = (struct touch){at->src, a->bytes, a->pos.line, false, false};
	if (a->kind == ACT_COPY || a->kind == ACT_SET || d->host)
		d->at[d->n++] = (struct touch){at->dst, a->bytes, a->pos.line, a->kind != ACT_HOSTREAD, false};
}

static bool in_stream(const struct run_action *a)
{
	return a->kind == ACT_LAUNCH || a->kind == ACT_RECORD || a->kind == ACT_WAIT || a->kind == ACT_COPY || a->kind == ACT_SET ||
	       ((a->kind == ACT_FREE || a->kind == ACT_ALLOC) && a->ordered);
}

/* CUDA Driver API, "API synchronization behavior": a copy between two places of host memory is over when it returns. */
static bool is_blocking(const struct run_script *s, const struct run_action *a)
{
	return a->kind == ACT_COPY && s->objs[a->dst].kind == OBJ_HOSTBUF && s->objs[a->src].kind == OBJ_HOSTBUF;
}

/* The last action of that kind before k, of that stream or event; -1. */
static int last(const struct run_script *s, unsigned k, int stream, int event)
{
	for (unsigned i = k; i-- > 0;) {
		const struct run_action *a = &s->actions[i];

		if (event >= 0 ? a->kind == ACT_RECORD && a->event == event : in_stream(a) && a->stream == stream)
			return (int)i;
	}
	return -1;
}

static void add(int from, unsigned to)
{
	if (from >= 0)
		edge[2 * from + 1][to] = true;
}

static void order(const struct run_script *s, unsigned k)
{
	const struct run_action *a = &s->actions[k];
	const unsigned call = 2 * k, done = 2 * k + 1, next = 2 * k + 2;

	edge[call][done] = true;
	edge[call][next] = true;
	if (in_stream(a))
		add(last(s, k, a->stream, -1), done);
	else
		edge[done][next] = true;
	if (a->kind == ACT_WAIT)
		add(last(s, k, 0, a->event), done);
	if (is_blocking(s, a))
		edge[done][next] = true;
	/* Freeing waits for the device. */
	for (unsigned i = 0; a->kind == ACT_FREE && !a->ordered && i < k; i++)
		edge[2 * i + 1][done] = true;
	if (a->kind != ACT_SYNC)
		return;
	if (a->event >= 0)
		add(last(s, k, 0, a->event), done);
	else if (!a->context)
		add(last(s, k, a->stream, -1), done);
	for (unsigned i = 0; a->context && i < k; i++)
		edge[2 * i + 1][done] = true;
}

static void close(unsigned n)
{
	memcpy(reach, edge, sizeof reach);
	for (unsigned m = 0; m < n; m++)
		for (unsigned i = 0; i < n; i++)
			for (unsigned j = 0; reach[i][m] && j < n; j++)
				reach[i][j] |= reach[m][j];
}

/* ---- what is touched --------------------------------------------------------------------------------------------------- */

struct list { struct touch *v; size_t n; };

static struct list touched(const struct doing *d, const struct emu_oracle_touch *t, size_t nt)
{
	struct list l = {calloc(nt + 2, sizeof *l.v), 0};

	if (!l.v)
		abort();
	for (unsigned i = 0; i < d->n; i++)
		l.v[l.n++] = d->at[i];
	for (size_t i = 0; d->launches && i < nt; i++)
		if (t[i].launch == d->launch)
			l.v[l.n++] = (struct touch){t[i].addr, t[i].bytes, t[i].line, t[i].write, t[i].strong};
	return l;
}

static bool meet(const struct touch *a, const struct touch *b)
{
	return a->address < b->address + b->bytes && b->address < a->address + a->bytes;
}

static void note(bool host, unsigned a, unsigned b)
{
	const char *kind = host ? "host-race" : "stream-race";

	for (unsigned i = 0; i < nraces; i++)
		if (!strcmp(race[i].kind, kind) && race[i].line[0] == a && race[i].line[1] == b)
			return;
	if (nraces < RACES)
		race[nraces++] = (struct emu_oracle_pair){kind, {a, b}};
}

static bool talks_to_host(const struct list *l)
{
	for (size_t i = 0; i < l->n; i++)
		for (unsigned k = 0; l->v[i].strong && k < nshared; k++)
			if (meet(&l->v[i], &shared[k]))
				return true;
	return false;
}

/* Two that access one word strongly may synchronise; so may a launch with the host, by memory that it shares with it. */
static bool may_talk(bool host, const struct list *x, const struct list *y)
{
	if (host && (talks_to_host(x) || talks_to_host(y)))
		return true;
	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < y->n; k++)
			if (meet(&x->v[i], &y->v[k]) && (x->v[i].write || y->v[k].write) && x->v[i].strong && y->v[k].strong)
				return true;
	return false;
}

static void compare(const struct doing *a, const struct doing *b, const struct emu_oracle_touch *t, size_t nt)
{
	struct list x = touched(a, t, nt), y = touched(b, t, nt);
	const bool host = a->host || b->host;

	if (!may_talk(host, &x, &y))
		for (size_t i = 0; i < x.n; i++)
			for (size_t k = 0; k < y.n; k++)
				if (meet(&x.v[i], &y.v[k]) && (x.v[i].write || y.v[k].write))
					note(host, x.v[i].line, y.v[k].line);
	free(x.v);
	free(y.v);
}

const struct emu_oracle_pair *run_host_races(const struct run_script *s, const struct emu_oracle_touch *t, size_t nt, unsigned *n)
{
	for (unsigned k = 0; k < ndoing; k++)
		order(s, k);
	close(2 * ndoing);
	for (unsigned i = 0; i < ndoing; i++)
		for (unsigned k = i + 1; k < ndoing; k++)
			if (!reach[2 * i + 1][2 * k + 1] && !reach[2 * k + 1][2 * i + 1])
				compare(&doing[i], &doing[k], t, nt);
	*n = nraces;
	return race;
}
