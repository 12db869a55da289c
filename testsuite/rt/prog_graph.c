/* SPDX-License-Identifier: Apache-2.0
 *
 * prog_graph.c: the part of the test program that has to do with graphs.
 *
 *   graph:NAME:N      a graph of N such kernels, launched twice
 *   node:N, node-any:N, node-old:N, node-any-old:N    adds a node of the N-th race (prog_module.c) to the graph, by the
 *                     functions for kernels and for all kinds, and by those that CUDA had before
 *   nest              the graph becomes a node of a new one
 *   instantiate:flags, log, params or old
 *   set:N, set-any:N, set-old:N       the first node of what was instantiated gets the N-th race's parameters
 *   set-node:N, set-node-any:N, set-node-old:N        the first node of the graph does
 *   set-child         the first node of what was instantiated, a graph, becomes the graph that is there now
 *   inner             the first node of the graph in the first node is the first node from now on
 *   new               a graph begins
 *   update, update-old        what was instantiated becomes as the graph is
 *   graph-memory:N    memory of the graph
 *   launch, disable (its first node), drop-graph, drop-exec
 *   capture, captured what is launched into the stream meanwhile becomes the graph
 */
#include <stdio.h>
#include <string.h>

#include "testsuite/rt/prog.h"

#undef cuGraphInstantiate_v2
CUresult cuGraphInstantiate_v2(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t);
#undef cuGraphInstantiate
CUresult cuGraphInstantiate(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t);
#undef cuGraphAddKernelNode
CUresult cuGraphAddKernelNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS_v1 *);
#undef cuGraphAddNode
CUresult cuGraphAddNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraphNodeParams *);
#undef cuGraphKernelNodeSetParams
CUresult cuGraphKernelNodeSetParams(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1 *);
#undef cuGraphExecKernelNodeSetParams
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1 *);
#undef cuGraphExecUpdate
CUresult cuGraphExecUpdate(CUgraphExec, CUgraph, CUgraphNode *, CUgraphExecUpdateResult *);

static CUgraph g;
static CUgraphNode first;
static CUgraphExec exec;

/* As the driver wants them.  The value is there until the program ends its call. */
static CUDA_KERNEL_NODE_PARAMS params_of(const struct run *r, void **param)
{
	CUDA_KERNEL_NODE_PARAMS p = {
		.gridDimX = r->grid[0], .gridDimY = r->grid[1], .gridDimZ = r->grid[2], .blockDimX = r->block[0],
		.blockDimY = r->block[1], .blockDimZ = r->block[2], .kernelParams = param
	};

	if (r->k)
		p.kern = r->k;
	else
		p.func = r->f;
	return p;
}

enum what { ADD, SET_NODE, SET_EXEC };
enum way { KERNEL, ANY, OLD, ANY_OLD };

/* All kinds of parameters begin with the same fields. */
union params { CUDA_KERNEL_NODE_PARAMS kernel; CUDA_KERNEL_NODE_PARAMS_v1 old; };

static CUresult add(enum way way, CUgraphNode *node, const union params *p, CUgraphNodeParams *q)
{
	switch (way) {
	case ANY:
		return cuGraphAddNode_v2(node, g, NULL, NULL, 0, q);
	case ANY_OLD:
		return cuGraphAddNode(node, g, NULL, 0, q);
	case OLD:
		return cuGraphAddKernelNode(node, g, NULL, 0, &p->old);
	case KERNEL:
		break;
	}
	return cuGraphAddKernelNode_v2(node, g, NULL, 0, &p->kernel);
}

static CUresult change(enum way way, bool graph, const union params *p, CUgraphNodeParams *q)
{
	if (way == ANY || way == ANY_OLD)
		return graph ? cuGraphNodeSetParams(first, q) : cuGraphExecNodeSetParams(exec, first, q);
	if (way == OLD)
		return graph ? cuGraphKernelNodeSetParams(first, &p->old) : cuGraphExecKernelNodeSetParams(exec, first, &p->old);
	return graph ? cuGraphKernelNodeSetParams_v2(first, &p->kernel) : cuGraphExecKernelNodeSetParams_v2(exec, first, &p->kernel);
}

static void apply(const struct run *r, enum what what, enum way way)
{
	uint64_t arg = r->arg;
	void *param[] = { &arg, NULL };         /* none behind it, whatever the kernel has */
	const union params p = { .kernel = params_of(r, param) };
	CUgraphNodeParams q = { .type = CU_GRAPH_NODE_TYPE_KERNEL };
	CUgraphNode node = first;

	memcpy(&q.kernel, &p, sizeof p < sizeof q.kernel ? sizeof p : sizeof q.kernel);
	if (what == ADD && !g)
		CHECK(cuGraphCreate(&g, 0));
	CHECK(what == ADD ? add(way, &node, &p, &q) : change(way, what == SET_NODE, &p, &q));
	first = first ? first : node;
}

static void make(const char *name, unsigned n)
{
	struct run r;

	plan(&r, name);
	r.grid[0] = 2;
	g = NULL;
	for (unsigned i = 0; i < n; i++)
		apply(&r, ADD, KERNEL);
	CHECK(cuGraphInstantiateWithFlags(&exec, g, 0));
	CHECK(cuGraphLaunch(exec, stream));
	CHECK(cuGraphLaunch(exec, stream));
}

static void nest(void)
{
	CUgraph inner = g;

	CHECK(cuGraphCreate(&g, 0));
	CHECK(cuGraphAddChildGraphNode(&first, g, NULL, 0, inner));
}

static void instantiate(const char *how)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS p = { 0 };

	if (!strcmp(how, "flags"))
		CHECK(cuGraphInstantiateWithFlags(&exec, g, 0));
	else if (!strcmp(how, "old"))
		CHECK(cuGraphInstantiate(&exec, g, NULL, NULL, 0));
	else if (!strcmp(how, "log"))
		CHECK(cuGraphInstantiate_v2(&exec, g, NULL, NULL, 0));
	else
		CHECK(cuGraphInstantiateWithParams(&exec, g, &p));
}

/* By functions of one parameter. */
static bool set(const char *c)
{
	static const struct { const char *name; enum what what; enum way way; } commands[] = {
		{ "node:", ADD, KERNEL }, { "node-any:", ADD, ANY }, { "node-old:", ADD, OLD }, { "node-any-old:", ADD, ANY_OLD },
		{ "set:", SET_EXEC, KERNEL }, { "set-any:", SET_EXEC, ANY }, { "set-old:", SET_EXEC, OLD },
		{ "set-node:", SET_NODE, KERNEL }, { "set-node-any:", SET_NODE, ANY }, { "set-node-old:", SET_NODE, OLD },
	};
	struct run r;
	unsigned n;

	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		size_t length = strlen(commands[i].name);

		if (strncmp(c, commands[i].name, length) || sscanf(c + length, "%u", &n) != 1)
			continue;
		plan_race(&r, n);
		apply(&r, commands[i].what, commands[i].way);
		return true;
	}
	return false;
}

static void memory_of_graph(size_t n)
{
	CUDA_MEM_ALLOC_NODE_PARAMS p = { .bytesize = n };
	CUgraphNode node;

	if (!g)
		CHECK(cuGraphCreate(&g, 0));
	CHECK(cuGraphAddMemAllocNode(&node, g, NULL, 0, &p));
	last = p.dptr;
}

static void into(void)
{
	CUgraph inner;
	size_t n = 1;

	CHECK(cuGraphChildGraphNodeGetGraph(first, &inner));
	CHECK(cuGraphGetNodes(inner, &first, &n));
}

/* What has one form before CUDA 12, and another one now; and graphs in graphs. */
static bool whole(const char *c)
{
	unsigned n;

	if (!strcmp(c, "update"))
		CHECK(cuGraphExecUpdate_v2(exec, g, NULL));
	else if (!strcmp(c, "update-old"))
		CHECK(cuGraphExecUpdate(exec, g, NULL, NULL));
	else if (!strcmp(c, "set-child"))
		CHECK(cuGraphExecChildGraphNodeSetParams(exec, first, g));
	else if (!strcmp(c, "inner"))
		into();
	else if (!strcmp(c, "new"))
		g = NULL;
	else if (sscanf(c, "graph-memory:%u", &n) == 1)
		memory_of_graph(n);
	else
		return false;
	return true;
}

bool graph_command(const char *c)
{
	char name[64];
	unsigned n;

	if (sscanf(c, "graph:%63[^:]:%u", name, &n) == 2)
		make(name, n);
	else if (!strcmp(c, "nest"))
		nest();
	else if (!strncmp(c, "instantiate:", 12))
		instantiate(c + 12);
	else if (!strcmp(c, "launch"))
		CHECK(cuGraphLaunch(exec, stream));
	else if (!strcmp(c, "disable"))
		CHECK(cuGraphNodeSetEnabled(exec, first, 0));
	else if (!strcmp(c, "drop-graph"))
		CHECK(cuGraphDestroy(g));
	else if (!strcmp(c, "drop-exec"))
		CHECK(cuGraphExecDestroy(exec));
	else if (!strcmp(c, "capture"))
		CHECK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	else if (!strcmp(c, "captured"))
		CHECK(cuStreamEndCapture(stream, &g));
	else
		return whole(c) || set(c);
	return true;
}
