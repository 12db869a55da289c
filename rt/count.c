/* SPDX-License-Identifier: Apache-2.0
 *
 * count.c: launches, for the closing line: how many, those that could not be watched, and of which kernels that are not
 * instrumented; and nodes of graphs.
 */
#include "rt/judge.h"

/* With rt_lock. */
static uint64_t launches, watched, unwatched, graphs, bare, elsewhere;
static const char **bare_names;
static size_t nbare, bare_cap;

void rt_launch_count(struct rt_totals *t)
{
	pthread_mutex_lock(&rt_lock);
	t->launches = launches;
	t->kernels_watched = watched;
	t->unwatched = unwatched;
	t->graphs = graphs;
	t->bare_launches = bare;
	t->bare = bare_names;
	t->nbare = nbare;
	t->other_device = elsewhere;
	pthread_mutex_unlock(&rt_lock);
}

void rt_count_launch(struct rt_func *f, bool here)
{
	const bool is_bare = rt_func_bare(f) || rt_func_left(f);

	launches++;
	if (!here && rt_dev_ready())
		elsewhere++;
	else if (is_bare)
		bare++;
	else if (here && rt_func_watched(f))
		watched++;
	if ((here || !rt_dev_ready()) && !f->told_bare && *f->name && is_bare) {
		f->told_bare = true;
		bare_names = rt_grow(bare_names, &bare_cap, nbare + 1, sizeof *bare_names);
		bare_names[nbare++] = rt_bare_name(rt_demangle(f->name));
	}
	f->launches++;
}

void rt_judge_unwatched(const char *why)
{
	static const char *said[8];
	size_t i = 0;

	pthread_mutex_lock(&rt_lock);
	unwatched++;
	while (why && i < sizeof said / sizeof *said && said[i] && said[i] != why)
		i++;
	if (why && i < sizeof said / sizeof *said && !said[i])
		said[i] = why;
	else
		why = NULL;
	pthread_mutex_unlock(&rt_lock);
	if (why)
		rt_say("a launch is not watched: %s", why);
}

void rt_count_graph(void)
{
	graphs++;
}

/* ---- nodes of a graph ------------------------------------------------------------------------------------ */

enum { DEPTH = 32 };

static void walk(CUgraph graph, CUgraphNode child, rt_each_node *each, void *arg, int depth)
{
	CUgraphNode *node;
	size_t n = 0;

	if (depth > DEPTH || rt_drv.cuGraphGetNodes(graph, NULL, &n) != CUDA_SUCCESS || !n)
		return;
	node = rt_alloc(n * sizeof *node);
	if (rt_drv.cuGraphGetNodes(graph, node, &n) != CUDA_SUCCESS)
		n = 0;
	for (size_t i = 0; i < n; i++) {
		CUgraphNodeType type;
		CUgraph inner;

		if (rt_drv.cuGraphNodeGetType(node[i], &type) != CUDA_SUCCESS)
			continue;
		if (type != CU_GRAPH_NODE_TYPE_GRAPH)
			each(arg, node[i], type, child);
		else if (rt_drv.cuGraphChildGraphNodeGetGraph &&
			 rt_drv.cuGraphChildGraphNodeGetGraph(node[i], &inner) == CUDA_SUCCESS)
			walk(inner, child ? child : node[i], each, arg, depth + 1);
	}
	rt_free(node);
}

void rt_graph_nodes(CUgraph graph, rt_each_node *each, void *arg)
{
	if (rt_drv.cuGraphGetNodes && rt_drv.cuGraphNodeGetType && rt_drv.cuGraphKernelNodeGetParams)
		walk(graph, NULL, each, arg, 0);
}
