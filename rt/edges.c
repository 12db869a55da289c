/* SPDX-License-Identifier: Apache-2.0
 *
 * edges.c: which nodes of a graph come before which (CUDA Driver API, "Graph Management"), those of graphs in it among them.  A
 * graph in a node comes behind what that node comes behind, and before what comes behind that node.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/edges.h"

enum { MOST = 4096, DEPTH = 32 };       /* nodes; graphs in each other */

/* next: the node that is asked for next, most likely: they are asked for in their order. */
struct rt_edges { struct detect_edges order; uint32_t users, next; struct place { CUgraphNode handle, child; } *place; };

/* A node, with the nodes of the graph in it: [from, to). */
struct part { CUgraphNode handle, child; uint32_t to; };
struct edge { uint32_t from, to; };
struct build {
	struct part *part;
	struct edge *edge;
	size_t n, cap, nedges, edge_cap;
	bool lost;              /* more than are looked at, or the driver does not say */
};

static uint32_t number_of(const struct build *b, uint32_t from, CUgraphNode handle)
{
	while (from < b->n && b->part[from].handle != handle)
		from = b->part[from].to;
	return from;
}

/* Of a graph whose nodes begin at `from`. */
static void add_edges(struct build *b, CUgraph graph, uint32_t from)
{
	CUgraphNode *ends;
	CUgraphEdgeData *data;
	size_t n = 0;

	if (rt_drv.cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &n) != CUDA_SUCCESS)
		b->lost = true;
	if (b->lost || !n)
		return;
	ends = rt_alloc(2 * n * sizeof *ends);
	data = rt_alloc(n * sizeof *data);
	b->lost = rt_drv.cuGraphGetEdges_v2(graph, ends, ends + n, data, &n) != CUDA_SUCCESS;
	b->edge = rt_grow(b->edge, &b->edge_cap, b->nedges + n, sizeof *b->edge);
	for (size_t i = 0; i < n && !b->lost; i++) {
		const struct edge e = {number_of(b, from, ends[i]), number_of(b, from, ends[n + i])};

		b->lost = e.from == b->n || e.to == b->n;
		b->edge[b->nedges++] = e;
	}
	rt_free(ends);
	rt_free(data);
}

static void add_graph(struct build *b, CUgraph graph, CUgraphNode child, int depth)
{
	const uint32_t from = (uint32_t)b->n;
	CUgraphNode *node;
	size_t n = 0;

	if (rt_drv.cuGraphGetNodes(graph, NULL, &n) != CUDA_SUCCESS || b->n + n > MOST || depth > DEPTH)
		b->lost = true;
	if (b->lost || !n)
		return;
	node = rt_alloc(n * sizeof *node);
	b->lost = rt_drv.cuGraphGetNodes(graph, node, &n) != CUDA_SUCCESS;
	for (size_t i = 0; i < n && !b->lost; i++) {
		const size_t at = b->n;
		CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
		CUgraph inner;

		b->part = rt_grow(b->part, &b->cap, b->n + 1, sizeof *b->part);
		b->part[b->n++] = (struct part){node[i], child, 0};
		rt_drv.cuGraphNodeGetType(node[i], &type);
		if (type == CU_GRAPH_NODE_TYPE_GRAPH && rt_drv.cuGraphChildGraphNodeGetGraph(node[i], &inner) == CUDA_SUCCESS)
			add_graph(b, inner, child ? child : node[i], depth + 1);
		b->part[at].to = (uint32_t)b->n;
	}
	rt_free(node);
	if (!b->lost)
		add_edges(b, graph, from);
}

/* ---- the order ------------------------------------------------------------------------------------------------------- */

static uint64_t *row(const struct detect_edges *o, uint32_t node)
{
	return o->before + (size_t)node * o->words;
}

static void set(uint64_t *bits, uint32_t i)
{
	bits[i / 64] |= UINT64_C(1) << i % 64;
}

/* What comes before the one, and all of it, comes before all of the other.  Has that changed anything? */
static bool pass_on(const struct build *b, const struct detect_edges *o, const struct edge *e, uint64_t *before)
{
	bool changed = false;

	memcpy(before, row(o, e->from), o->words * sizeof *before);
	for (uint32_t i = e->from; i < b->part[e->from].to; i++)
		set(before, i);
	for (uint32_t i = e->to; i < b->part[e->to].to; i++)
		for (uint32_t k = 0; k < o->words; k++) {
			changed |= (before[k] & ~row(o, i)[k]) != 0;
			row(o, i)[k] |= before[k];
		}
	return changed;
}

static void close_order(const struct build *b, const struct detect_edges *o)
{
	uint64_t *before = rt_alloc(o->words * sizeof *before);
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < b->nedges; i++)
			changed |= pass_on(b, o, &b->edge[i], before);
	}
	rt_free(before);
}

/* A node and what lies in it are one, for that. */
static bool all_in_order(const struct build *b, const struct detect_edges *o)
{
	for (uint32_t i = 0; i < o->n; i++)
		for (uint32_t k = b->part[i].to; k < o->n; k++)
			if (!detect_edges_order(o, i, k))
				return false;
	return true;
}

static struct rt_edges *made_of(const struct build *b)
{
	struct rt_edges *e = rt_alloc(sizeof *e);
	struct detect_edges *o = &e->order;

	e->users = 1;
	o->n = (uint32_t)b->n;
	o->words = (o->n + 63) / 64;
	o->before = rt_alloc((size_t)o->n * o->words * sizeof *o->before);
	e->place = rt_alloc(b->n * sizeof *e->place);
	for (size_t i = 0; i < b->n; i++)
		e->place[i] = (struct place){b->part[i].handle, b->part[i].child};
	close_order(b, o);
	return e;
}

struct rt_edges *rt_edges_of(CUgraph graph)
{
	struct build b = {0};
	struct rt_edges *e = NULL;

	if (!rt_drv.cuGraphGetEdges_v2 || !rt_drv.cuGraphGetNodes || !rt_drv.cuGraphNodeGetType || !rt_drv.cuGraphChildGraphNodeGetGraph)
		return NULL;
	add_graph(&b, graph, NULL, 0);
	if (!b.lost && b.n)
		e = made_of(&b);
	if (e && all_in_order(&b, &e->order)) {
		rt_edges_drop(e);
		e = NULL;
	}
	if (e)
		rt_order_want();
	rt_free(b.part);
	rt_free(b.edge);
	return e;
}

/* ---- users ----------------------------------------------------------------------------------------------------------- */

void rt_edges_use(struct rt_edges *e)
{
	if (e)
		__atomic_add_fetch(&e->users, 1, __ATOMIC_RELAXED);
}

void rt_edges_drop(struct rt_edges *e)
{
	if (!e || __atomic_sub_fetch(&e->users, 1, __ATOMIC_ACQ_REL))
		return;
	rt_free(e->order.before);
	rt_free(e->place);
	rt_free(e);
}

void rt_edges_release(const struct detect_edges *o)
{
	rt_edges_drop((struct rt_edges *)(uintptr_t)o);         /* which it begins with */
}

void rt_edges_put(struct rt_edges *e, struct rt_deed *d, CUgraphNode handle, CUgraphNode child)
{
	const uint32_t n = e ? e->order.n : 0;
	uint32_t k = 0, i = 0;

	for (; d && k < n; k++) {
		i = (e->next + k) % n;
		if (e->place[i].handle == handle && e->place[i].child == child)
			break;
	}
	if (!d || k == n)
		return;
	rt_edges_use(e);
	rt_deed_keep(d);
	d->d.edges = &e->order;
	d->d.node = i;
	e->next = (i + 1) % n;
}
