/* SPDX-License-Identifier: Apache-2.0
 *
 * graph.c: graphs.  Their kernels' nodes have the parameter behind the program's own, too; before each
 * launch of the graph it says of each node where that one logs.
 *
 * Nodes of a graph that is instantiated are named by handles of the graph that it was made of: such a graph is not
 * destroyed before what was made of it.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/order.h"
#include "rt/touch.h"

/* A kernel node.  child: the node whose graph it lies in; NULL: in the graph itself. */
struct node {
	CUgraphNode handle, child;
	struct rt_issue i;
	CUDA_KERNEL_NODE_PARAMS p;      /* with params, whose values are in `values` */
	void **params, *values;
	struct region_launch param;
	struct rt_launch *launch;       /* on its way */
};

struct exec { CUgraphExec handle; CUgraph graph; struct node *node; size_t n, cap; struct exec *next; };
struct dead { CUgraph graph; struct dead *next; };      /* the program has destroyed it */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct exec *execs;
static struct dead *dead;

/* ---- a node's parameters ----------------------------------------------------------------------------------- */

static const void *handle_of(const CUDA_KERNEL_NODE_PARAMS *p)
{
	return p->func ? (const void *)p->func : (const void *)p->kern;
}

static bool param_info(const struct rt_func *f, size_t i, size_t *offset, size_t *size)
{
	if (f->kernel)
		return rt_real(RT_cuKernelGetParamInfo) &&
		       REAL(cuKernelGetParamInfo, RT_cuKernelGetParamInfo)((CUkernel)f->handle, i, offset, size) == CUDA_SUCCESS;
	return rt_real(RT_cuFuncGetParamInfo) &&
	       REAL(cuFuncGetParamInfo, RT_cuFuncGetParamInfo)((CUfunction)f->handle, i, offset, size) == CUDA_SUCCESS;
}

static void free_values(struct node *n)
{
	rt_free(n->params);
	rt_free(n->values);
	n->params = NULL;
	n->values = NULL;
}

/* Copies the program's own parameters, and adds ours behind them.  False: the driver does not say how large they are. */
static bool copy_params(struct node *n, const CUDA_KERNEL_NODE_PARAMS *from)
{
	const struct module_kernel *k = n->i.k;
	size_t bytes, offset, size;
	const char *buffer = from->kernelParams ? NULL : rt_param_buffer(from->extra, &bytes);

	free_values(n);
	n->values = rt_alloc(k->offset + 1);
	n->params = rt_alloc((k->nparams + 1) * sizeof *n->params);
	for (uint32_t i = 0; i < k->nparams; i++) {
		if (!param_info(n->i.f, i, &offset, &size) || offset + size > k->offset)
			return false;
		n->params[i] = (char *)n->values + offset;
		if (from->kernelParams)
			memcpy(n->params[i], from->kernelParams[i], size);
		else if (buffer && offset + size <= bytes)
			memcpy(n->params[i], buffer + offset, size);
	}
	n->params[k->nparams] = &n->param;
	n->p = *from;
	n->p.kernelParams = n->params;
	n->p.extra = NULL;
	return true;
}

/* What the node launches. */
static void set_kernel(struct node *n, const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct rt_issue *i = &n->i;

	memset(i, 0, sizeof *i);
	i->f = rt_func_of(handle_of(p));
	rt_register(i->f);
	i->k = rt_kernel_of(i->f, &i->tables);
	i->grid[0] = p->gridDimX;
	i->grid[1] = p->gridDimY;
	i->grid[2] = p->gridDimZ;
	i->block[0] = p->blockDimX;
	i->block[1] = p->blockDimY;
	i->block[2] = p->blockDimZ;
	n->param = rt_issue_nowhere();
	if (i->k && !copy_params(n, p))
		i->k = NULL;
}

/* The same parameters with ours, for the driver, until done() is called. */
struct with { CUDA_KERNEL_NODE_PARAMS p; struct node n; };

static const CUDA_KERNEL_NODE_PARAMS *with_ours(struct with *w, const CUDA_KERNEL_NODE_PARAMS *p)
{
	memset(w, 0, sizeof *w);
	if (!p || !handle_of(p))
		return p;
	set_kernel(&w->n, p);
	return w->n.i.k ? &w->n.p : p;
}

static CUresult done(struct with *w, CUresult r)
{
	free_values(&w->n);
	return r;
}

/* ---- what was instantiated ---------------------------------------------------------------------------------- */

static void add_node(void *to, CUgraphNode handle, CUgraphNode child, const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct exec *e = to;

	if (!handle_of(p))
		return;
	e->node = rt_grow(e->node, &e->cap, e->n + 1, sizeof *e->node);
	memset(&e->node[e->n], 0, sizeof *e->node);
	e->node[e->n].handle = handle;
	e->node[e->n].child = child;
	e->n++;
}

/* Nodes do not move while their values are pointed to. */
static void read_nodes(struct exec *e)
{
	for (size_t i = 0; i < e->n; i++) {
		CUDA_KERNEL_NODE_PARAMS p;

		memset(&p, 0, sizeof p);
		if (rt_drv.cuGraphKernelNodeGetParams(e->node[i].handle, &p) == CUDA_SUCCESS && handle_of(&p))
			set_kernel(&e->node[i], &p);
	}
}

static bool is_used(CUgraph graph)
{
	for (const struct exec *e = execs; e; e = e->next)
		if (e->graph == graph)
			return true;
	return false;
}

/* With the lock; a graph that nothing needs any more is destroyed as the program wished. */
static void bury(void)
{
	for (struct dead **d = &dead; *d;) {
		struct dead *this = *d;

		if (is_used(this->graph)) {
			d = &this->next;
			continue;
		}
		*d = this->next;
		REAL(cuGraphDestroy, RT_cuGraphDestroy)(this->graph);
		rt_free(this);
	}
}

static struct exec **find(CUgraphExec handle)
{
	struct exec **e = &execs;

	while (*e && (*e)->handle != handle)
		e = &(*e)->next;
	return e;
}

static void forget(struct exec **at)
{
	struct exec *e = *at;

	if (!e)
		return;
	*at = e->next;
	for (size_t i = 0; i < e->n; i++)
		free_values(&e->node[i]);
	rt_free(e->node);
	rt_free(e);
}

static CUresult learn(CUresult r, const CUgraphExec *handle, CUgraph graph)
{
	struct exec *e;

	if (r != CUDA_SUCCESS)
		return r;
	e = rt_alloc(sizeof *e);
	e->handle = *handle;
	e->graph = graph;
	rt_graph_kernels(graph, add_node, e);
	read_nodes(e);
	pthread_mutex_lock(&lock);
	forget(find(*handle));
	e->next = execs;
	execs = e;
	bury();
	pthread_mutex_unlock(&lock);
	return r;
}

/* What it was updated from has the same nodes in the same order. */
static void update(struct exec *e, CUgraph graph)
{
	struct exec other = {0};

	rt_graph_kernels(graph, add_node, &other);
	read_nodes(&other);
	for (size_t i = 0; i < e->n && i < other.n; i++) {
		CUgraphNode handle = e->node[i].handle, child = e->node[i].child;

		free_values(&e->node[i]);
		e->node[i] = other.node[i];
		e->node[i].handle = handle;
		e->node[i].child = child;
		if (e->node[i].params)
			e->node[i].params[e->node[i].i.k ? e->node[i].i.k->nparams : 0] = &e->node[i].param;
	}
	for (size_t i = e->n; i < other.n; i++)
		free_values(&other.node[i]);
	rt_free(other.node);
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* Nodes of graphs inside it are changed there, and then all of such a graph is given to the driver. */
static bool set_param(const struct exec *e, struct node *n)
{
	CUgraph inner;

	if (!n->child)
		return REAL(cuGraphExecKernelNodeSetParams_v2, RT_cuGraphExecKernelNodeSetParams_v2)(e->handle, n->handle, &n->p) ==
		       CUDA_SUCCESS;
	return rt_drv.cuGraphExecChildGraphNodeSetParams && rt_real(RT_cuGraphKernelNodeSetParams_v2) &&
	       rt_drv.cuGraphChildGraphNodeGetGraph(n->child, &inner) == CUDA_SUCCESS &&
	       REAL(cuGraphKernelNodeSetParams_v2, RT_cuGraphKernelNodeSetParams_v2)(n->handle, &n->p) == CUDA_SUCCESS &&
	       rt_drv.cuGraphExecChildGraphNodeSetParams(e->handle, n->child, inner) == CUDA_SUCCESS;
}

static bool is_enabled(const struct exec *e, const struct node *n)
{
	unsigned on = 1;

	return n->child || !rt_drv.cuGraphNodeGetEnabled ||
	       rt_drv.cuGraphNodeGetEnabled(e->handle, n->handle, &on) != CUDA_SUCCESS || on;
}

/* All nodes have the graph's place: what orders them among each other is not looked at. */
static void prepare(struct exec *e, CUcontext ctx, uint64_t stream, const struct rt_deed *graph)
{
	for (size_t i = 0; i < e->n; i++) {
		struct node *n = &e->node[i];

		n->launch = NULL;
		n->i.ctx = ctx;
		n->i.stream = stream;
		if (!n->i.k || !is_enabled(e, n))
			continue;
		n->i.params = n->params;
		n->i.deed = rt_deed_beside(graph);
		n->launch = rt_issue_launch(&n->i, &n->param);
		if (!n->launch)
			rt_deed_ready(n->i.deed);
		if (set_param(e, n) || !n->launch)
			continue;
		rt_judge_unwatched("a graph's node cannot be told where to log");
		rt_judge_drop(n->launch);
		n->launch = NULL;
	}
}

static void launched(struct exec *e, CUresult r, enum rt_hook which, CUstream s)
{
	for (size_t i = 0; i < e->n; i++) {
		struct node *n = &e->node[i];
		uint32_t nth = 0;

		if (r == CUDA_SUCCESS && n->i.f && is_enabled(e, n))
			nth = rt_issue_count(n->i.f, n->i.ctx);
		if (n->launch && r == CUDA_SUCCESS)
			rt_judge_issued(n->launch, nth, which, s, true);
		else if (n->launch)
			rt_judge_drop(n->launch);
		n->launch = NULL;
	}
}

CUresult rt_on_graph_launch(enum rt_hook which, CUgraphExec handle, CUstream s)
{
	const uint64_t stream = rt_stream_key(which, s);
	const bool captured = rt_stream_captured(s);
	CUcontext ctx = NULL;
	struct rt_deed *deed;
	struct exec *e;
	CUresult r;

	rt_drv.cuCtxGetCurrent(&ctx);
	rt_register(NULL);
	rt_stream_seen(which, s);
	pthread_mutex_lock(&lock);
	rt_inside++;
	e = captured ? NULL : *find(handle);
	deed = captured ? NULL : rt_deed_put(which, s, DETECT_LAUNCH, NULL);
	if (e)
		prepare(e, ctx, stream, deed);
	r = REAL(cuGraphLaunch, which)(handle, s);
	if (e)
		launched(e, r, which, s);
	rt_deed_ready(deed);
	rt_inside--;
	pthread_mutex_unlock(&lock);
	rt_context_noted(r);
	if (r != CUDA_SUCCESS || captured)
		return r;
	pthread_mutex_lock(&rt_lock);
	rt_count_graph();
	pthread_mutex_unlock(&rt_lock);
	return r;
}

/* ---- hooks ---------------------------------------------------------------------------------------------------------- */

CUresult rt_on_instantiate(enum rt_hook which, CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	return learn(REAL(cuGraphInstantiateWithFlags, which)(exec, graph, flags), exec, graph);
}

CUresult rt_on_instantiate_log(enum rt_hook which, CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log, size_t n)
{
	return learn(REAL(CUresult(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t), which)(exec, graph, node, log, n), exec,
		     graph);
}

CUresult rt_on_instantiate_params(enum rt_hook which, CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *how)
{
	return learn(REAL(cuGraphInstantiateWithParams, which)(exec, graph, how), exec, graph);
}

CUresult rt_on_exec_update(enum rt_hook which, CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
	CUresult r = REAL(cuGraphExecUpdate_v2, which)(exec, graph, info);

	pthread_mutex_lock(&lock);
	if (r == CUDA_SUCCESS && *find(exec))
		update(*find(exec), graph);
	pthread_mutex_unlock(&lock);
	return r;
}

CUresult rt_on_exec_params(enum rt_hook which, CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct with w;
	CUresult r = REAL(cuGraphExecKernelNodeSetParams_v2, which)(exec, node, with_ours(&w, p));
	struct exec *e;

	pthread_mutex_lock(&lock);
	e = r == CUDA_SUCCESS && p ? *find(exec) : NULL;
	for (size_t i = 0; e && i < e->n; i++)
		if (e->node[i].handle == node)
			set_kernel(&e->node[i], p);
	pthread_mutex_unlock(&lock);
	return done(&w, r);
}

CUresult rt_on_add_kernel(enum rt_hook which, CUgraphNode *node, CUgraph graph, const CUgraphNode *behind, size_t n,
			  const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct with w;
	const CUDA_KERNEL_NODE_PARAMS *ours = with_ours(&w, p);

	return done(&w, REAL(cuGraphAddKernelNode_v2, which)(node, graph, behind, n, ours));
}

CUresult rt_on_node_params(enum rt_hook which, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct with w;
	const CUDA_KERNEL_NODE_PARAMS *ours = with_ours(&w, p);

	return done(&w, REAL(cuGraphKernelNodeSetParams_v2, which)(node, ours));
}

/* Of nodes of all kinds: those of kernels have what both structures begin with. */
static CUgraphNodeParams *generic_with_ours(struct with *w, CUgraphNodeParams *p, CUgraphNodeParams *copy)
{
	const CUDA_KERNEL_NODE_PARAMS *ours;
	CUDA_KERNEL_NODE_PARAMS own;

	memset(w, 0, sizeof *w);
	if (!p || p->type != CU_GRAPH_NODE_TYPE_KERNEL)
		return p;
	memset(&own, 0, sizeof own);
	memcpy(&own, &p->kernel, sizeof own < sizeof p->kernel ? sizeof own : sizeof p->kernel);
	ours = with_ours(w, &own);
	if (ours == &own)
		return p;
	*copy = *p;
	copy->kernel.kernelParams = ours->kernelParams;
	copy->kernel.extra = NULL;
	return copy;
}

CUresult rt_on_add_node(enum rt_hook which, CUgraphNode *node, CUgraph graph, const CUgraphNode *behind, const CUgraphEdgeData *edge,
			size_t n, CUgraphNodeParams *p)
{
	CUgraphNodeParams copy;
	struct with w;
	CUgraphNodeParams *ours = generic_with_ours(&w, p, &copy);

	if (p && p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		rt_freed_unseen();
	return done(&w, REAL(CUresult(CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t,
				      CUgraphNodeParams *), which)(node, graph, behind, edge, n, ours));
}

CUresult rt_on_set_node(enum rt_hook which, CUgraphNode node, CUgraphNodeParams *p)
{
	CUgraphNodeParams copy;
	struct with w;
	CUgraphNodeParams *ours = generic_with_ours(&w, p, &copy);

	return done(&w, REAL(cuGraphNodeSetParams, which)(node, ours));
}

CUresult rt_on_set_exec_node(enum rt_hook which, CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *p)
{
	CUgraphNodeParams copy;
	struct with w;
	CUgraphNodeParams *ours = generic_with_ours(&w, p, &copy);
	CUresult r = REAL(cuGraphExecNodeSetParams, which)(exec, node, ours);
	struct exec *e;

	pthread_mutex_lock(&lock);
	e = r == CUDA_SUCCESS && ours == &copy ? *find(exec) : NULL;
	for (size_t i = 0; e && i < e->n; i++)
		if (e->node[i].handle == node)
			set_kernel(&e->node[i], &w.n.p);
	pthread_mutex_unlock(&lock);
	return done(&w, r);
}

CUresult rt_on_graph_destroy(enum rt_hook which, CUgraph graph)
{
	struct dead *d;
	bool used;

	pthread_mutex_lock(&lock);
	used = is_used(graph);
	if (used) {
		d = rt_alloc(sizeof *d);
		d->graph = graph;
		d->next = dead;
		dead = d;
	}
	pthread_mutex_unlock(&lock);
	return used ? CUDA_SUCCESS : REAL(cuGraphDestroy, which)(graph);
}

CUresult rt_on_exec_destroy(enum rt_hook which, CUgraphExec exec)
{
	CUresult r;

	pthread_mutex_lock(&lock);
	forget(find(exec));
	r = REAL(cuGraphExecDestroy, which)(exec);
	bury();
	pthread_mutex_unlock(&lock);
	return r;
}
