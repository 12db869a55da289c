/* SPDX-License-Identifier: Apache-2.0
 *
 * graph.c: graphs as such: nodes and edges, copies, instances, and their launch.  A launch
 * puts an instance's commands into its stream one behind the other, so that branches which
 * no edge orders run in the order in which their nodes were made: one of those that the
 * graph allows.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/graph.h"

/* ---- sets of nodes ------------------------------------------------------------------ */

void emu_nodes_drop(struct emu_nodes *s)
{
	free(s->node);
	*s = (struct emu_nodes){0};
}

static bool has(const struct emu_nodes *s, const struct CUgraphNode_st *node)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->node[i] == node)
			return true;
	return false;
}

static void add(struct emu_nodes *s, struct CUgraphNode_st *node)
{
	if (!node || has(s, node))
		return;
	s->node = realloc(s->node, (s->n + 1) * sizeof *s->node);
	if (!s->node)
		abort();
	s->node[s->n++] = node;
}

static void leave_out(struct emu_nodes *s, const struct CUgraphNode_st *node)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->node[i] == node)
			s->node[i--] = s->node[--s->n];
}

void emu_nodes_add(struct emu_nodes *s, const struct emu_nodes *more)
{
	for (size_t i = 0; i < more->n; i++)
		add(s, more->node[i]);
}

void emu_nodes_set(struct emu_nodes *s, const struct emu_nodes *to)
{
	struct emu_nodes all = {0};

	emu_nodes_add(&all, to);
	emu_nodes_drop(s);
	*s = all;
}

struct emu_nodes emu_nodes_of(const CUgraphNode *node, size_t n)
{
	struct emu_nodes s = {0};

	for (size_t i = 0; i < n; i++)
		add(&s, node[i]);
	return s;
}

bool emu_nodes_are_in(const struct CUgraph_st *g, const CUgraphNode *node, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!node || !node[i] || node[i]->graph != g)
			return false;
	return true;
}

static bool reaches(const struct emu_nodes *from, const struct CUgraphNode_st *node, unsigned mark)
{
	for (size_t i = 0; i < from->n; i++) {
		struct CUgraphNode_st *m = from->node[i];

		if (m == node)
			return true;
		if (m->mark == mark)
			continue;
		m->mark = mark;
		if (reaches(&m->before, node, mark))
			return true;
	}
	return false;
}

static unsigned new_mark(void)
{
	static unsigned mark;

	return ++mark;
}

bool emu_nodes_reach(const struct emu_nodes *from, const struct CUgraphNode_st *node)
{
	return reaches(from, node, new_mark());
}

/* ---- graphs --------------------------------------------------------------------------- */

struct CUgraph_st *emu_graph_new(void)
{
	struct CUgraph_st *g = calloc(1, sizeof *g);

	if (!g)
		abort();
	g->end = &g->first;
	return g;
}

struct CUgraphNode_st *emu_node_new(struct CUgraph_st *g, CUgraphNodeType type, const struct emu_nodes *before,
				    struct emu_cmd *cmd)
{
	struct CUgraphNode_st *node = calloc(1, sizeof *node);

	if (!node)
		abort();
	node->graph = g;
	node->type = type;
	node->cmd = cmd;
	emu_nodes_add(&node->before, before);
	*g->end = node;
	g->end = &node->next;
	return node;
}

static void node_free(struct CUgraphNode_st *node)
{
	emu_nodes_drop(&node->before);
	if (node->cmd)
		emu_cmd_free(node->cmd);
	if (node->child)
		emu_graph_free(node->child);
	free(node->params);
	free(node);
}

void emu_graph_free(struct CUgraph_st *g)
{
	while (g->first) {
		struct CUgraphNode_st *node = g->first;

		g->first = node->next;
		node_free(node);
	}
	free(g);
}

CUgraphNodeType emu_node_type(const struct emu_cmd *c)
{
	switch (c->kind) {
	case CMD_LAUNCH:
		return CU_GRAPH_NODE_TYPE_KERNEL;
	case CMD_COPY:
		return CU_GRAPH_NODE_TYPE_MEMCPY;
	case CMD_SET:
		return CU_GRAPH_NODE_TYPE_MEMSET;
	case CMD_HOST:
		return CU_GRAPH_NODE_TYPE_HOST;
	case CMD_RECORD:
		return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
	case CMD_WAIT:
		return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
	case CMD_FREE:
		return CU_GRAPH_NODE_TYPE_MEM_FREE;
	}
	return CU_GRAPH_NODE_TYPE_EMPTY;
}

static struct CUgraphNode_st *copy_of(const struct CUgraph_st *in, const struct CUgraphNode_st *node)
{
	for (struct CUgraphNode_st *c = in->first; c; c = c->next)
		if (c->of == node)
			return c;
	return NULL;
}

struct CUgraphNode_st *emu_exec_node(const struct CUgraphExec_st *e, const struct CUgraphNode_st *node)
{
	return e && node ? copy_of(e->graph, node) : NULL;
}

struct CUgraph_st *emu_graph_copy(const struct CUgraph_st *g)
{
	struct CUgraph_st *copy = emu_graph_new();
	const struct emu_nodes none = {0};
	struct CUgraphNode_st *c;

	for (struct CUgraphNode_st *node = g->first; node; node = node->next) {
		c = emu_node_new(copy, node->type, &none, node->cmd ? emu_cmd_again(node->cmd, NULL) : NULL);
		c->of = node;
		c->child = node->child ? emu_graph_copy(node->child) : NULL;
		c->memory = node->memory;
		c->bytes = node->bytes;
	}
	for (struct CUgraphNode_st *node = g->first; node; node = node->next) {
		c = copy_of(copy, node);
		for (size_t i = 0; i < node->before.n; i++)
			add(&c->before, copy_of(copy, node->before.node[i]));
	}
	return copy;
}

/* ---- the API: graphs -------------------------------------------------------------------- */

EMU_API CUresult CUDAAPI cuGraphCreate(CUgraph *out, unsigned flags)
{
	ENTER(ctx);
	if (!out || flags)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*out = emu_graph_new();
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuGraphDestroy(CUgraph g)
{
	ENTER(ctx);
	if (!g)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	emu_graph_free(g);
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuGraphClone(CUgraph *out, CUgraph g)
{
	ENTER(ctx);
	if (!out || !g)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*out = emu_graph_copy(g);
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuGraphNodeFindInClone(CUgraphNode *out, CUgraphNode node, CUgraph clone)
{
	ENTER(ctx);
	if (!out || !node || !clone)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*out = copy_of(clone, node);
	LEAVE(*out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

EMU_API CUresult CUDAAPI cuGraphDestroyNode(CUgraphNode node)
{
	ENTER(ctx);
	struct CUgraphNode_st **p;
	struct CUgraph_st *g;

	if (!node)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	g = node->graph;
	for (p = &g->first; *p != node; p = &(*p)->next)
		;
	*p = node->next;
	if (!*p)
		g->end = p;
	for (struct CUgraphNode_st *o = g->first; o; o = o->next)
		leave_out(&o->before, node);
	node_free(node);
	LEAVE(CUDA_SUCCESS);
}

/* Gives as many as the caller has room for; without room, how many there are. */
static CUresult give(const struct emu_nodes *s, CUgraphNode *out, size_t *n)
{
	size_t room;

	if (!n)
		return CUDA_ERROR_INVALID_VALUE;
	room = out ? *n : 0;
	*n = out && room < s->n ? room : s->n;
	for (size_t i = 0; i < room; i++)
		out[i] = i < s->n ? s->node[i] : NULL;
	return CUDA_SUCCESS;
}

static CUresult nodes_that(CUgraph g, CUgraphNode *out, size_t *n, bool (*want)(const struct CUgraphNode_st *, const void *),
			   const void *arg)
{
	ENTER(ctx);
	struct emu_nodes all = {0};
	CUresult r;

	if (!g)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	for (struct CUgraphNode_st *node = g->first; node; node = node->next)
		if (want(node, arg))
			add(&all, node);
	r = give(&all, out, n);
	emu_nodes_drop(&all);
	LEAVE(r);
}

static bool any(const struct CUgraphNode_st *node, const void *arg)
{
	(void)node;
	(void)arg;
	return true;
}

static bool is_root(const struct CUgraphNode_st *node, const void *arg)
{
	(void)arg;
	return !node->before.n;
}

static bool comes_behind(const struct CUgraphNode_st *node, const void *arg)
{
	return has(&node->before, arg);
}

EMU_API CUresult CUDAAPI cuGraphGetNodes(CUgraph g, CUgraphNode *out, size_t *n)
{
	return nodes_that(g, out, n, any, NULL);
}

EMU_API CUresult CUDAAPI cuGraphGetRootNodes(CUgraph g, CUgraphNode *out, size_t *n)
{
	return nodes_that(g, out, n, is_root, NULL);
}

EMU_API CUresult CUDAAPI cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *out, size_t *n)
{
	ENTER(ctx);
	LEAVE(node ? give(&node->before, out, n) : CUDA_ERROR_INVALID_VALUE);
}

EMU_API CUresult CUDAAPI cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *out, size_t *n)
{
	return node ? nodes_that(node->graph, out, n, comes_behind, node) : CUDA_ERROR_INVALID_VALUE;
}

EMU_API CUresult CUDAAPI cuGraphGetEdges(CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
	ENTER(ctx);
	size_t k = 0;

	if (!g || !n || !from != !to)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	for (struct CUgraphNode_st *node = g->first; node; node = node->next)
		for (size_t i = 0; i < node->before.n; i++, k++)
			if (from && k < *n) {
				from[k] = node->before.node[i];
				to[k] = node;
			}
	if (!from || k < *n)
		*n = k;
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
	ENTER(ctx);
	if (!g || !emu_nodes_are_in(g, from, n) || !emu_nodes_are_in(g, to, n))
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	for (size_t i = 0; i < n; i++)
		if (emu_nodes_reach(&from[i]->before, to[i]))
			LEAVE(CUDA_ERROR_INVALID_VALUE);
	for (size_t i = 0; i < n; i++)
		add(&to[i]->before, from[i]);
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuGraphRemoveDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
	ENTER(ctx);
	if (!g || !emu_nodes_are_in(g, from, n) || !emu_nodes_are_in(g, to, n))
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	for (size_t i = 0; i < n; i++)
		leave_out(&to[i]->before, from[i]);
	LEAVE(CUDA_SUCCESS);
}

/* All edges are of the plain kind, whose data is zeros. */
static CUresult plain_edges(CUresult r, CUgraphEdgeData *data, const size_t *n)
{
	if (r == CUDA_SUCCESS && data)
		memset(data, 0, *n * sizeof *data);
	return r;
}

EMU_API CUresult CUDAAPI cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *out, CUgraphEdgeData *data,
						       size_t *n)
{
	return plain_edges(cuGraphNodeGetDependencies(node, out, n), data, n);
}

EMU_API CUresult CUDAAPI cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *out, CUgraphEdgeData *data,
							 size_t *n)
{
	return plain_edges(cuGraphNodeGetDependentNodes(node, out, n), data, n);
}

EMU_API CUresult CUDAAPI cuGraphGetEdges_v2(CUgraph g, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
					    size_t *n)
{
	return plain_edges(cuGraphGetEdges(g, from, to, n), data, n);
}

bool emu_edges_are_plain(const CUgraphEdgeData *data, size_t n)
{
	static const CUgraphEdgeData none;

	for (size_t i = 0; data && i < n; i++)
		if (memcmp(&data[i], &none, sizeof none))
			return false;
	return true;
}

EMU_API CUresult CUDAAPI cuGraphAddDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
						   const CUgraphEdgeData *data, size_t n)
{
	return emu_edges_are_plain(data, n) ? cuGraphAddDependencies(g, from, to, n) : CUDA_ERROR_NOT_SUPPORTED;
}

EMU_API CUresult CUDAAPI cuGraphRemoveDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
						      const CUgraphEdgeData *data, size_t n)
{
	return emu_edges_are_plain(data, n) ? cuGraphRemoveDependencies(g, from, to, n) : CUDA_ERROR_NOT_SUPPORTED;
}

EMU_API CUresult CUDAAPI cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
	ENTER(ctx);
	if (!node || !type)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*type = node->type;
	LEAVE(CUDA_SUCCESS);
}

/* ---- the API: instances ------------------------------------------------------------------- */

/* Puts the node behind all that it comes behind. */
static void put_in_order(struct emu_nodes *order, struct CUgraphNode_st *node, unsigned mark)
{
	if (node->mark == mark)
		return;
	node->mark = mark;
	for (size_t i = 0; i < node->before.n; i++)
		put_in_order(order, node->before.node[i], mark);
	order->node[order->n++] = node;
}

static void find_order(struct CUgraphExec_st *e)
{
	unsigned mark = new_mark();
	size_t n = 0;

	for (struct CUgraphNode_st *node = e->graph->first; node; node = node->next)
		n++;
	e->order = (struct emu_nodes){calloc(n + 1, sizeof *e->order.node), 0};
	if (!e->order.node)
		abort();
	for (struct CUgraphNode_st *node = e->graph->first; node; node = node->next)
		put_in_order(&e->order, node, mark);
}

/* Memory needs no freeing at a launch, uploading is nothing, and priorities order nothing. */
#define KNOWN_FLAGS ((unsigned long long)(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | \
					  CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | \
					  CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | \
					  CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY))

EMU_API CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph g, unsigned long long flags)
{
	ENTER(ctx);
	struct CUgraphExec_st *e;

	if (!out || !g || flags & ~KNOWN_FLAGS)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
		LEAVE(CUDA_ERROR_NOT_SUPPORTED);
	e = calloc(1, sizeof *e);
	if (!e)
		abort();
	e->graph = emu_graph_copy(g);
	e->flags = flags & ~(unsigned long long)CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;     /* no property of it */
	find_order(e);
	*out = e;
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph g,
						      CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
	CUresult r;

	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	r = cuGraphInstantiateWithFlags(out, g, p->flags);
	p->hErrNode_out = NULL;
	p->result_out = r == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
	return r;
}

EMU_API CUresult CUDAAPI cuGraphExecGetFlags(CUgraphExec e, cuuint64_t *flags)
{
	ENTER(ctx);
	if (!e || !flags)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*flags = e->flags;
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec e)
{
	ENTER(ctx);
	if (!e)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	emu_graph_free(e->graph);
	emu_nodes_drop(&e->order);
	free(e);
	LEAVE(CUDA_SUCCESS);
}

/* A child graph's nodes come where it stands. */
static void run_in_order(const struct emu_nodes *order, struct CUstream_st *s)
{
	for (size_t i = 0; i < order->n; i++) {
		const struct CUgraphNode_st *node = order->node[i];

		if (node->child) {
			struct CUgraphExec_st inner = {.graph = node->child};

			find_order(&inner);
			run_in_order(&inner.order, s);
			emu_nodes_drop(&inner.order);
		} else if (node->cmd && !node->disabled) {
			emu_cmd_put(emu_cmd_again(node->cmd, s));
		}
	}
}

EMU_API CUresult CUDAAPI cuGraphLaunch(CUgraphExec e, CUstream h)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);
	CUresult r;

	if (!e || !s)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	r = emu_capture_refuse(s);      /* an instance is nothing that can be captured (H100, CUDA 13.0) */
	if (r == CUDA_SUCCESS)
		run_in_order(&e->order, s);
	LEAVE(r);
}

EMU_API CUresult CUDAAPI cuGraphUpload(CUgraphExec e, CUstream h)
{
	ENTER(ctx);
	LEAVE(e && emu_stream_of(ctx, h) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

/* Both come behind the same places. */
static bool is_behind_same(const struct CUgraphNode_st *a, const struct CUgraphNode_st *b)
{
	for (size_t i = 0; i < a->before.n; i++) {
		size_t k = 0;

		while (k < b->before.n && b->before.node[k]->place != a->before.node[i]->place)
			k++;
		if (k == b->before.n)
			return false;
	}
	return a->before.n == b->before.n;
}

CUgraphExecUpdateResult emu_graph_differs(struct CUgraph_st *a, struct CUgraph_st *b, CUgraphNode *where)
{
	CUgraphExecUpdateResult r = CU_GRAPH_EXEC_UPDATE_SUCCESS;
	struct CUgraphNode_st *x, *y;
	size_t n = 0;

	for (x = a->first, y = b->first; x && y; x = x->next, y = y->next) {
		*where = y;
		if (x->type != y->type)
			return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
		if (x->child)
			r = emu_graph_differs(x->child, y->child, where);
		if (r != CU_GRAPH_EXEC_UPDATE_SUCCESS)
			return r;
		x->place = y->place = n++;
	}
	*where = y;
	if (x || y)
		return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
	for (x = a->first, y = b->first; x; x = x->next, y = y->next) {
		*where = y;
		if (!is_behind_same(x, y))
			return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
	}
	*where = NULL;
	return r;
}

/* The instance is of that graph, and is still asked for by the nodes that it was made of. */
static void take_over(struct CUgraphExec_st *e, struct CUgraph_st *g)
{
	struct CUgraphNode_st *old = e->graph->first;

	for (struct CUgraphNode_st *node = g->first; node; node = node->next, old = old->next) {
		node->of = old->of;
		node->disabled = old->disabled;
	}
	emu_graph_free(e->graph);
	emu_nodes_drop(&e->order);
	e->graph = g;
	find_order(e);
}

EMU_API CUresult CUDAAPI cuGraphExecUpdate_v2(CUgraphExec e, CUgraph g, CUgraphExecUpdateResultInfo *info)
{
	ENTER(ctx);

	if (!e || !g || !info)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*info = (CUgraphExecUpdateResultInfo){0};
	info->result = emu_graph_differs(e->graph, g, &info->errorNode);
	if (info->result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
		LEAVE(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	take_over(e, emu_graph_copy(g));
	LEAVE(CUDA_SUCCESS);
}

/* The instance's node, if it is of a kind that can be disabled. */
static struct CUgraphNode_st *can_be_disabled(const struct CUgraphExec_st *e, const struct CUgraphNode_st *node)
{
	struct CUgraphNode_st *c = emu_exec_node(e, node);

	return c && (c->type == CU_GRAPH_NODE_TYPE_KERNEL || c->type == CU_GRAPH_NODE_TYPE_MEMCPY ||
		     c->type == CU_GRAPH_NODE_TYPE_MEMSET) ? c : NULL;
}

EMU_API CUresult CUDAAPI cuGraphNodeSetEnabled(CUgraphExec e, CUgraphNode node, unsigned enabled)
{
	ENTER(ctx);
	struct CUgraphNode_st *c = can_be_disabled(e, node);

	if (!c)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	c->disabled = !enabled;
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuGraphNodeGetEnabled(CUgraphExec e, CUgraphNode node, unsigned *enabled)
{
	ENTER(ctx);
	struct CUgraphNode_st *c = can_be_disabled(e, node);

	if (!c || !enabled)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*enabled = !c->disabled;
	LEAVE(CUDA_SUCCESS);
}
