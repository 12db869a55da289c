/* SPDX-License-Identifier: Apache-2.0
 *
 * graph_node.c: the driver API's nodes: made, asked what they do, made to do something
 * else, in a graph or in one instance of it.
 */
#include <stdlib.h>

#include "emu/graph.h"

/* What a node is to do, as the caller describes it: a command, or why there is none. */
typedef CUresult make_fn(const void *params, struct emu_cmd **);

static CUresult make_kernel(const void *params, struct emu_cmd **out)
{
	return emu_launch_cmd(params, out);
}

static CUresult make_copy(const void *params, struct emu_cmd **out)
{
	return emu_copy_cmd(params, out);
}

static CUresult make_set(const void *params, struct emu_cmd **out)
{
	return emu_set_cmd(params, out);
}

static CUresult make_host(const void *params, struct emu_cmd **out)
{
	const CUDA_HOST_NODE_PARAMS *p = params;

	if (!p->fn)
		return CUDA_ERROR_INVALID_VALUE;
	*out = emu_cmd_new(CMD_HOST, NULL);
	(*out)->u.host.fn = p->fn;
	(*out)->u.host.arg = p->userData;
	return CUDA_SUCCESS;
}

static CUresult make_event(CUevent e, enum emu_cmd_kind kind, struct emu_cmd **out)
{
	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	*out = emu_cmd_new(kind, NULL);
	(*out)->u.event.event = e;
	e->users++;
	return CUDA_SUCCESS;
}

static CUresult make_record(const void *params, struct emu_cmd **out)
{
	return make_event(*(const CUevent *)params, CMD_RECORD, out);
}

static CUresult make_wait(const void *params, struct emu_cmd **out)
{
	return make_event(*(const CUevent *)params, CMD_WAIT, out);
}

static CUresult make_nothing(const void *params, struct emu_cmd **out)
{
	(void)params;
	*out = NULL;
	return CUDA_SUCCESS;
}

/* Where a new node goes. */
struct place {
	CUgraphNode *out;
	CUgraph graph;
	const CUgraphNode *behind;
	size_t n;
};

static CUresult add(const struct place *at, CUgraphNodeType type, make_fn *make, const void *params)
{
	ENTER(ctx);
	struct emu_cmd *c = NULL;
	struct emu_nodes before;
	CUresult r;

	if (!at->out || !at->graph || !params || !emu_nodes_are_in(at->graph, at->behind, at->n))
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	r = make(params, &c);
	if (r != CUDA_SUCCESS)
		LEAVE(r);
	before = emu_nodes_of(at->behind, at->n);
	*at->out = emu_node_new(at->graph, type, &before, c);
	emu_nodes_drop(&before);
	LEAVE(CUDA_SUCCESS);
}

/* Another command for a node of that type. */
static CUresult change(struct CUgraphNode_st *node, CUgraphNodeType type, make_fn *make, const void *params)
{
	ENTER(ctx);
	struct emu_cmd *c = NULL;
	CUresult r;

	if (!node || !params || node->type != type)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	r = make(params, &c);
	if (r == CUDA_SUCCESS && type == CU_GRAPH_NODE_TYPE_KERNEL)
		r = emu_grid_like(c->u.grid, node->cmd->u.grid);        /* parameters are no attributes */
	if (r != CUDA_SUCCESS) {
		if (c)
			emu_cmd_free(c);
		LEAVE(r);
	}
	emu_cmd_free(node->cmd);
	node->cmd = c;
	free(node->params);
	node->params = NULL;
	LEAVE(CUDA_SUCCESS);
}

/* One kind of node: to add it, to change it in a graph, and in an instance.  `more` is what
 * some have behind the others' arguments. */
#define NODE(add_name, set_name, exec_name, type, make, params_type, more) \
	EMU_API CUresult CUDAAPI add_name(CUgraphNode *out, CUgraph g, const CUgraphNode *behind, size_t n, \
					  const params_type *p more) \
	{ \
		return add(&(struct place){out, g, behind, n}, type, make, p); \
	} \
	EMU_API CUresult CUDAAPI set_name(CUgraphNode node, const params_type *p) \
	{ \
		return change(node, type, make, p); \
	} \
	EMU_API CUresult CUDAAPI exec_name(CUgraphExec e, CUgraphNode node, const params_type *p more) \
	{ \
		return change(emu_exec_node(e, node), type, make, p); \
	}
#define AND_CONTEXT , CUcontext ctx __attribute__((unused))     /* all have the same memory */

NODE(cuGraphAddKernelNode_v2, cuGraphKernelNodeSetParams_v2, cuGraphExecKernelNodeSetParams_v2,
     CU_GRAPH_NODE_TYPE_KERNEL, make_kernel, CUDA_KERNEL_NODE_PARAMS_v2,)
NODE(cuGraphAddHostNode, cuGraphHostNodeSetParams, cuGraphExecHostNodeSetParams,
     CU_GRAPH_NODE_TYPE_HOST, make_host, CUDA_HOST_NODE_PARAMS,)
NODE(cuGraphAddMemcpyNode, cuGraphMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams,
     CU_GRAPH_NODE_TYPE_MEMCPY, make_copy, CUDA_MEMCPY3D, AND_CONTEXT)
NODE(cuGraphAddMemsetNode, cuGraphMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams,
     CU_GRAPH_NODE_TYPE_MEMSET, make_set, CUDA_MEMSET_NODE_PARAMS, AND_CONTEXT)

EMU_API CUresult CUDAAPI cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph g, const CUgraphNode *behind, size_t n,
						   CUevent e)
{
	return add(&(struct place){out, g, behind, n}, CU_GRAPH_NODE_TYPE_EVENT_RECORD, make_record, &e);
}

EMU_API CUresult CUDAAPI cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph g, const CUgraphNode *behind, size_t n,
						 CUevent e)
{
	return add(&(struct place){out, g, behind, n}, CU_GRAPH_NODE_TYPE_WAIT_EVENT, make_wait, &e);
}

#define EVENT_NODE(set_name, exec_name, type, make) \
	EMU_API CUresult CUDAAPI set_name(CUgraphNode node, CUevent e) \
	{ \
		return change(node, type, make, &e); \
	} \
	EMU_API CUresult CUDAAPI exec_name(CUgraphExec exec, CUgraphNode node, CUevent e) \
	{ \
		return change(emu_exec_node(exec, node), type, make, &e); \
	}

EVENT_NODE(cuGraphEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent, CU_GRAPH_NODE_TYPE_EVENT_RECORD, make_record)
EVENT_NODE(cuGraphEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent, CU_GRAPH_NODE_TYPE_WAIT_EVENT, make_wait)

EMU_API CUresult CUDAAPI cuGraphAddEmptyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *behind, size_t n)
{
	return add(&(struct place){out, g, behind, n}, CU_GRAPH_NODE_TYPE_EMPTY, make_nothing, "");
}

EMU_API CUresult CUDAAPI cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph g, const CUgraphNode *behind, size_t n,
						  CUgraph child)
{
	CUresult r = add(&(struct place){out, g, behind, n}, CU_GRAPH_NODE_TYPE_GRAPH, make_nothing, child);

	if (r == CUDA_SUCCESS)
		(*out)->child = emu_graph_copy(child);
	return r;
}

EMU_API CUresult CUDAAPI cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *out)
{
	ENTER(ctx);
	if (!node || !node->child || !out)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*out = node->child;
	LEAVE(CUDA_SUCCESS);
}

static CUresult make_memory(const void *params, struct emu_cmd **out)
{
	CUDA_MEM_ALLOC_NODE_PARAMS *p = *(CUDA_MEM_ALLOC_NODE_PARAMS *const *)params;
	CUresult r = p && p->bytesize ? emu_pool_check(&p->poolProps) : CUDA_ERROR_INVALID_VALUE;

	*out = NULL;
	if (r == CUDA_SUCCESS)
		r = emu_pool_check_access(p->accessDescs, p->accessDescCount);
	if (r != CUDA_SUCCESS)
		return r;
	p->dptr = emu_pool_graph_memory(p->bytesize);
	return p->dptr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult make_free(const void *params, struct emu_cmd **out)
{
	*out = NULL;
	return emu_pool_is_graph_memory(*(const CUdeviceptr *)params) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EMU_API CUresult CUDAAPI cuGraphAddMemAllocNode(CUgraphNode *out, CUgraph g, const CUgraphNode *behind, size_t n,
						CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
	CUresult r = add(&(struct place){out, g, behind, n}, CU_GRAPH_NODE_TYPE_MEM_ALLOC, make_memory, &p);

	if (r != CUDA_SUCCESS)
		return r;
	(*out)->memory = p->dptr;
	(*out)->bytes = p->bytesize;
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuGraphAddMemFreeNode(CUgraphNode *out, CUgraph g, const CUgraphNode *behind, size_t n,
					       CUdeviceptr p)
{
	CUresult r = add(&(struct place){out, g, behind, n}, CU_GRAPH_NODE_TYPE_MEM_FREE, make_free, &p);

	if (r == CUDA_SUCCESS)
		(*out)->memory = p;
	return r;
}

/* ---- what nodes do ------------------------------------------------------------------- */

static CUresult check(const struct CUgraphNode_st *node, CUgraphNodeType type, const void *out)
{
	return node && out && node->type == type ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Parameters are where the node keeps them. */
static void **params_of(struct CUgraphNode_st *node)
{
	const struct emu_grid *g = node->cmd->u.grid;

	if (node->params || !g->func->nparams)
		return node->params;
	node->params = calloc(g->func->nparams, sizeof *node->params);
	if (!node->params)
		abort();
	for (unsigned i = 0; i < g->func->nparams; i++)
		node->params[i] = (uint8_t *)(uintptr_t)g->params + g->func->params[i].row;
	return node->params;
}

EMU_API CUresult CUDAAPI cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2 *p)
{
	ENTER(ctx);
	const struct emu_grid *g;
	CUresult r = check(node, CU_GRAPH_NODE_TYPE_KERNEL, p);

	if (r != CUDA_SUCCESS)
		LEAVE(r);
	g = node->cmd->u.grid;
	*p = (CUDA_KERNEL_NODE_PARAMS_v2){
		.func = (CUfunction)(void *)g->func,
		.gridDimX = g->dim[0], .gridDimY = g->dim[1], .gridDimZ = g->dim[2],
		.blockDimX = g->block[0], .blockDimY = g->block[1], .blockDimZ = g->block[2],
		.sharedMemBytes = (unsigned)g->smem_dynamic, .kernelParams = params_of(node), .ctx = ctx
	};
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuGraphKernelNodeSetAttribute(CUgraphNode node, CUlaunchAttributeID id,
						       const CUlaunchAttributeValue *v)
{
	ENTER(ctx);
	CUresult r = check(node, CU_GRAPH_NODE_TYPE_KERNEL, v);

	LEAVE(r == CUDA_SUCCESS ? emu_grid_set(node->cmd->u.grid, id, v) : r);
}

EMU_API CUresult CUDAAPI cuGraphKernelNodeGetAttribute(CUgraphNode node, CUlaunchAttributeID id,
						       CUlaunchAttributeValue *v)
{
	ENTER(ctx);
	CUresult r = check(node, CU_GRAPH_NODE_TYPE_KERNEL, v);

	LEAVE(r == CUDA_SUCCESS ? emu_grid_get(node->cmd->u.grid, id, v) : r);
}

EMU_API CUresult CUDAAPI cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from)
{
	ENTER(ctx);
	CUresult r = check(to, CU_GRAPH_NODE_TYPE_KERNEL, from);

	if (r == CUDA_SUCCESS)
		r = check(from, CU_GRAPH_NODE_TYPE_KERNEL, to);
	if (r == CUDA_SUCCESS)
		r = emu_grid_like(to->cmd->u.grid, from->cmd->u.grid);
	LEAVE(r);
}

EMU_API CUresult CUDAAPI cuGraphExecChildGraphNodeSetParams(CUgraphExec e, CUgraphNode node, CUgraph child)
{
	ENTER(ctx);
	struct CUgraphNode_st *c = emu_exec_node(e, node);
	CUgraphNode where;

	if (!c || !c->child || !child || emu_graph_differs(c->child, child, &where) != CU_GRAPH_EXEC_UPDATE_SUCCESS)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	emu_graph_free(c->child);
	c->child = emu_graph_copy(child);
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *p)
{
	ENTER(ctx);
	const struct emu_copy *c;
	CUresult r = check(node, CU_GRAPH_NODE_TYPE_MEMCPY, p);

	if (r != CUDA_SUCCESS)
		LEAVE(r);
	c = &node->cmd->u.copy.shape;
	*p = (CUDA_MEMCPY3D){
		.srcMemoryType = CU_MEMORYTYPE_UNIFIED, .srcDevice = c->src, .srcPitch = c->src_pitch,
		.srcHeight = c->src_pitch ? c->src_slice / c->src_pitch : 0,
		.dstMemoryType = CU_MEMORYTYPE_UNIFIED, .dstDevice = c->dst, .dstPitch = c->dst_pitch,
		.dstHeight = c->dst_pitch ? c->dst_slice / c->dst_pitch : 0,
		.WidthInBytes = c->width, .Height = c->height, .Depth = c->depth
	};
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *p)
{
	ENTER(ctx);
	CUresult r = check(node, CU_GRAPH_NODE_TYPE_MEMSET, p);

	if (r == CUDA_SUCCESS)
		*p = node->cmd->u.set;
	LEAVE(r);
}

EMU_API CUresult CUDAAPI cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *p)
{
	ENTER(ctx);
	CUresult r = check(node, CU_GRAPH_NODE_TYPE_HOST, p);

	if (r == CUDA_SUCCESS)
		*p = (CUDA_HOST_NODE_PARAMS){.fn = node->cmd->u.host.fn, .userData = node->cmd->u.host.arg};
	LEAVE(r);
}

static CUresult get_event(CUgraphNode node, CUgraphNodeType type, CUevent *out)
{
	ENTER(ctx);
	CUresult r = check(node, type, out);

	if (r == CUDA_SUCCESS)
		*out = node->cmd->u.event.event;
	LEAVE(r);
}

EMU_API CUresult CUDAAPI cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *out)
{
	return get_event(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, out);
}

EMU_API CUresult CUDAAPI cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *out)
{
	return get_event(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, out);
}

EMU_API CUresult CUDAAPI cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *out)
{
	ENTER(ctx);
	CUresult r = check(node, CU_GRAPH_NODE_TYPE_MEM_FREE, out);

	if (r == CUDA_SUCCESS)
		*out = node->memory;
	LEAVE(r);
}
