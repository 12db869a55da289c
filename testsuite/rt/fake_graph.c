/* SPDX-License-Identifier: Apache-2.0
 *
 * fake_graph.c: a part of the pretended driver: graphs of kernels, and of graphs.  As the real one, it copies the values of
 * parameters when a node is made or changed, and what is instantiated is a copy that names nodes by those of the graph.
 */
#include <stdlib.h>
#include <string.h>

#include "testsuite/rt/fake_impl.h"

/* As they were before CUDA 12. */
#undef cuGraphAddKernelNode
#undef cuGraphAddNode
#undef cuGraphExecKernelNodeSetParams
#undef cuGraphExecUpdate
#undef cuGraphInstantiate
#undef cuGraphKernelNodeSetParams

enum { NODES = 16 };

struct node {
	struct graph *in;
	struct node *made_of;           /* of a copy; else the node itself */
	struct launch launch;           /* of a kernel, */
	const void *handle;             /* as it was named, */
	void *param[2];                 /* and what its parameters are found by */
	struct graph *inner;            /* NULL: a kernel */
	bool off;
};

struct graph { struct node node[NODES]; size_t n; bool destroyed; };

static struct graph *graph_of(const void *handle)
{
	struct graph *g = (struct graph *)handle;

	if (g->destroyed)
		fake_misused("a graph that was destroyed");
	return g;
}

static struct node *node_of(CUgraphNode handle)
{
	struct node *n = (struct node *)(void *)handle;

	graph_of(n->in);
	return n;
}

static struct node *new_node(struct graph *g)
{
	struct node *n = &g->node[g->n++];

	n->in = g;
	n->made_of = n;
	return n;
}

/* The one of an instantiated graph that was made of that node, or NULL. */
static struct node *copy_of(CUgraphExec exec, CUgraphNode handle)
{
	struct graph *g = graph_of(exec);

	for (size_t i = 0; i < g->n; i++)
		if (g->node[i].made_of == node_of(handle))
			return &g->node[i];
	return NULL;
}

static struct graph *copy(const struct graph *from)
{
	struct graph *g = memcpy(malloc(sizeof *g), from, sizeof *g);

	for (size_t i = 0; i < g->n; i++) {
		g->node[i].in = g;
		if (g->node[i].inner)
			g->node[i].inner = copy(g->node[i].inner);
	}
	return g;
}

/* ---- kernel nodes ---------------------------------------------------------------------------------------- */

static const void *handle_of(const CUDA_KERNEL_NODE_PARAMS *p)
{
	return p->func ? (const void *)p->func : (const void *)p->kern;
}

static CUresult set(struct node *n, const CUDA_KERNEL_NODE_PARAMS *p)
{
	const struct fn *f = handle_of(p);
	struct launch l = {
		.fn = f, .grid = { p->gridDimX, p->gridDimY, p->gridDimZ }, .block = { p->blockDimX, p->blockDimY, p->blockDimZ }
	};

	if (!n || !fake_values(f, p->kernelParams, p->extra, l.value))
		return CUDA_ERROR_INVALID_VALUE;
	n->launch = l;
	n->handle = f;
	return CUDA_SUCCESS;
}

API CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n,
				     const CUDA_KERNEL_NODE_PARAMS *params)
{
	struct node *new = new_node(graph_of(graph));

	(void)after, (void)n;
	*node = (CUgraphNode)(void *)new;
	return set(new, params);
}

API CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
	struct node *n = node_of(node);
	const struct launch *l = &n->launch;

	n->param[0] = n->launch.value;
	n->param[1] = n->launch.value + OWN;
	*p = (CUDA_KERNEL_NODE_PARAMS){
		.gridDimX = l->grid[0], .gridDimY = l->grid[1], .gridDimZ = l->grid[2], .blockDimX = l->block[0],
		.blockDimY = l->block[1], .blockDimZ = l->block[2], .kernelParams = n->param
	};
	if (l->fn->kernel)
		p->kern = (CUkernel)n->handle;
	else
		p->func = (CUfunction)n->handle;
	return CUDA_SUCCESS;
}

API CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
	return fake_fails("cuGraphKernelNodeSetParams") ? CUDA_ERROR_NOT_SUPPORTED : set(node_of(node), p);
}

API CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
	return fake_fails("cuGraphExecKernelNodeSetParams") ? CUDA_ERROR_NOT_SUPPORTED : set(copy_of(exec, node), p);
}

static CUDA_KERNEL_NODE_PARAMS of_v1(const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
	return (CUDA_KERNEL_NODE_PARAMS){
		.func = p->func, .gridDimX = p->gridDimX, .gridDimY = p->gridDimY, .gridDimZ = p->gridDimZ,
		.blockDimX = p->blockDimX, .blockDimY = p->blockDimY, .blockDimZ = p->blockDimZ,
		.sharedMemBytes = p->sharedMemBytes, .kernelParams = p->kernelParams, .extra = p->extra
	};
}

API CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n,
				  const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
	const CUDA_KERNEL_NODE_PARAMS p = of_v1(params);

	return cuGraphAddKernelNode_v2(node, graph, after, n, &p);
}

API CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
	const CUDA_KERNEL_NODE_PARAMS p = of_v1(params);

	return cuGraphKernelNodeSetParams_v2(node, &p);
}

API CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
	const CUDA_KERNEL_NODE_PARAMS p = of_v1(params);

	return cuGraphExecKernelNodeSetParams_v2(exec, node, &p);
}

/* ---- nodes of all kinds ------------------------------------------------------------------------------------- */

static CUDA_KERNEL_NODE_PARAMS of_kernel(const CUgraphNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS k;

	memset(&k, 0, sizeof k);
	memcpy(&k, &p->kernel, sizeof k < sizeof p->kernel ? sizeof k : sizeof p->kernel);
	return k;
}

API CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, const CUgraphEdgeData *edge, size_t n,
			       CUgraphNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS k = of_kernel(p);

	(void)edge;
	return p->type == CU_GRAPH_NODE_TYPE_KERNEL ? cuGraphAddKernelNode_v2(node, graph, after, n, &k) : CUDA_ERROR_NOT_SUPPORTED;
}

API CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n, CUgraphNodeParams *p)
{
	return cuGraphAddNode_v2(node, graph, after, NULL, n, p);
}

API CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n,
				    CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
	struct node *new = new_node(graph_of(graph));

	(void)after, (void)n;
	new->inner = calloc(1, sizeof *new->inner);     /* it does nothing */
	*node = (CUgraphNode)(void *)new;
	return cuMemAlloc_v2(&p->dptr, p->bytesize);
}

API CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS k = of_kernel(p);

	return cuGraphKernelNodeSetParams_v2(node, &k);
}

API CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS k = of_kernel(p);

	return cuGraphExecKernelNodeSetParams_v2(exec, node, &k);
}

API CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *n)
{
	struct graph *g = graph_of(graph);

	for (size_t i = 0; nodes && i < g->n; i++)
		nodes[i] = (CUgraphNode)(void *)&g->node[i];
	*n = g->n;
	return CUDA_SUCCESS;
}

API CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
	*type = node_of(node)->inner ? CU_GRAPH_NODE_TYPE_GRAPH : CU_GRAPH_NODE_TYPE_KERNEL;
	return CUDA_SUCCESS;
}

API CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int on)
{
	copy_of(exec, node)->off = !on;
	return CUDA_SUCCESS;
}

API CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int *on)
{
	*on = !copy_of(exec, node)->off;
	return CUDA_SUCCESS;
}

/* ---- graphs in graphs: a copy, whose nodes have handles of their own ------------------------------------------- */

API CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n, CUgraph inner)
{
	struct node *new = new_node(graph_of(graph));

	(void)after, (void)n;
	new->inner = copy(graph_of(inner));
	for (size_t i = 0; i < new->inner->n; i++)
		new->inner->node[i].made_of = &new->inner->node[i];
	*node = (CUgraphNode)(void *)new;
	return CUDA_SUCCESS;
}

API CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *inner)
{
	*inner = (CUgraph)(void *)node_of(node)->inner;
	return *inner ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph inner)
{
	struct node *n = copy_of(exec, node);

	if (!n || !n->inner)
		return CUDA_ERROR_INVALID_VALUE;
	free(n->inner);
	n->inner = copy(graph_of(inner));
	return CUDA_SUCCESS;
}

/* ---- whole graphs ------------------------------------------------------------------------------------------------ */

API CUresult cuGraphCreate(CUgraph *graph, unsigned int flags)
{
	(void)flags;
	*graph = (CUgraph)calloc(1, sizeof(struct graph));
	return CUDA_SUCCESS;
}

API CUresult cuGraphDestroy(CUgraph graph)
{
	graph_of(graph)->destroyed = true;
	return CUDA_SUCCESS;
}

API CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	(void)flags;
	*exec = (CUgraphExec)(void *)copy(graph_of(graph));
	return CUDA_SUCCESS;
}

API CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log, size_t n)
{
	(void)node, (void)log, (void)n;
	return cuGraphInstantiateWithFlags(exec, graph, 0);
}

API CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log, size_t n)
{
	return cuGraphInstantiate_v2(exec, graph, node, log, n);
}

API CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *how)
{
	return cuGraphInstantiateWithFlags(exec, graph, how->flags);
}

API CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
	struct graph *e = graph_of(exec);
	const struct graph *g = graph_of(graph);

	(void)info;
	if (e->n != g->n)
		return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	for (size_t i = 0; i < e->n; i++) {
		e->node[i].launch = g->node[i].launch;
		e->node[i].handle = g->node[i].handle;
	}
	return CUDA_SUCCESS;
}

API CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *node, CUgraphExecUpdateResult *result)
{
	(void)node, (void)result;
	return cuGraphExecUpdate_v2(exec, graph, NULL);
}

API CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	graph_of(exec)->destroyed = true;
	return CUDA_SUCCESS;
}

static CUresult launch(const struct graph *g, struct stream *s)
{
	CUresult r = CUDA_SUCCESS;

	for (size_t i = 0; i < g->n && r == CUDA_SUCCESS; i++) {
		struct launch l = g->node[i].launch;

		l.ctx = fake_current();
		if (g->node[i].inner)
			r = launch(g->node[i].inner, s);
		else if (!g->node[i].off)
			r = fake_issue(s, &l);
	}
	return r;
}

API CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	CUresult r = fake_fails("cuGraphLaunch") ? CUDA_ERROR_INVALID_VALUE : fake_state();

	return r == CUDA_SUCCESS ? launch(graph_of(exec), fake_stream(stream)) : r;
}

CUresult fake_capture(struct graph *g, const struct launch *l)
{
	struct node *n = new_node(g);

	n->launch = *l;
	n->handle = l->fn;
	return CUDA_SUCCESS;
}
