/* SPDX-License-Identifier: Apache-2.0
 *
 * prog_graph.c: the part of the test program that has to do with graphs.
 *
 *   graph:NAME:N      a graph of N such kernels, launched twice
 *   node:N, node-any:N        adds a node of the N-th race (prog_module.c) to the graph, by either function
 *   nest              the graph becomes a node of a new one
 *   instantiate:flags, log or params
 *   set:N, set-any:N  the first node of what was instantiated gets the N-th race's parameters, by either function
 *   set-node:N, set-node-any:N        the first node of the graph does
 *   update            what was instantiated becomes as the graph is
 *   launch, disable (its first node), drop-graph, drop-exec
 *   capture, captured what is launched into the stream meanwhile becomes the graph
 */
#include <stdio.h>
#include <string.h>

#include "testsuite/rt/prog.h"

#undef cuGraphInstantiate_v2
CUresult cuGraphInstantiate_v2(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t);

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

static void apply(const struct run *r, enum what what, bool any)
{
	uint64_t arg = r->arg;
	void *param[] = { &arg };
	CUDA_KERNEL_NODE_PARAMS p = params_of(r, param);
	CUgraphNodeParams q = { .type = CU_GRAPH_NODE_TYPE_KERNEL };
	CUgraphNode node = first;

	memcpy(&q.kernel, &p, sizeof p < sizeof q.kernel ? sizeof p : sizeof q.kernel);
	if (what == ADD && !g)
		CHECK(cuGraphCreate(&g, 0));
	if (what == ADD)
		CHECK(any ? cuGraphAddNode_v2(&node, g, NULL, NULL, 0, &q) : cuGraphAddKernelNode_v2(&node, g, NULL, 0, &p));
	else if (what == SET_NODE)
		CHECK(any ? cuGraphNodeSetParams(first, &q) : cuGraphKernelNodeSetParams_v2(first, &p));
	else
		CHECK(any ? cuGraphExecNodeSetParams(exec, first, &q) : cuGraphExecKernelNodeSetParams_v2(exec, first, &p));
	first = first ? first : node;
}

static void make(const char *name, unsigned n)
{
	struct run r;

	plan(&r, name);
	r.grid[0] = 2;
	g = NULL;
	for (unsigned i = 0; i < n; i++)
		apply(&r, ADD, false);
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
	else if (!strcmp(how, "log"))
		CHECK(cuGraphInstantiate_v2(&exec, g, NULL, NULL, 0));
	else
		CHECK(cuGraphInstantiateWithParams(&exec, g, &p));
}

/* By functions of one parameter. */
static bool set(const char *c)
{
	static const struct { const char *name; enum what what; bool any; } commands[] = {
		{ "node:", ADD, false }, { "node-any:", ADD, true }, { "set:", SET_EXEC, false }, { "set-any:", SET_EXEC, true },
		{ "set-node:", SET_NODE, false }, { "set-node-any:", SET_NODE, true },
	};
	struct run r;
	unsigned n;

	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		size_t length = strlen(commands[i].name);

		if (strncmp(c, commands[i].name, length) || sscanf(c + length, "%u", &n) != 1)
			continue;
		plan_race(&r, n);
		apply(&r, commands[i].what, commands[i].any);
		return true;
	}
	return false;
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
	else if (!strcmp(c, "update"))
		CHECK(cuGraphExecUpdate_v2(exec, g, NULL));
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
		return set(c);
	return true;
}
