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

#include "rt/edges.h"
#include "rt/touch.h"

/* A kernel node.  child: the node whose graph it lies in; NULL: in the graph itself. */
struct node {
	CUgraphNode handle, child;
	struct rt_issue i;
	CUDA_KERNEL_NODE_PARAMS p;      /* with params, whose values are in `values` */
	void **params, *values;
	struct region_launch param;
	struct rt_launch *launch;       /* on its way */
	struct node *was;               /* of a graph inside, while it is changed there: what the program has made of it */
};

/* A node that records an event, or waits for one. */
struct event { CUgraphNode handle, child; CUevent event; bool waits; };

struct exec {
	CUgraphExec handle;
	CUgraph graph;
	struct node *node;
	size_t n, cap;
	struct event *event;
	size_t nevents, event_cap;
	struct rt_moves moves;
	struct rt_edges *edges;
	struct exec *next;
};
struct dead { CUgraph graph; struct dead *next; };      /* the program has destroyed it */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
RT_LIST_LOCK(lock, RT_LOCK);
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

/* Where values cannot be copied they are pointed to, for as long as the program's call takes. */
static bool point_to(struct node *n, const CUDA_KERNEL_NODE_PARAMS *from)
{
	const struct rt_tables *tables;
	const struct module_kernel *k = rt_kernel_of(n->i.f, &tables);

	if (!k || !from->kernelParams)
		return false;
	free_values(n);
	n->params = rt_alloc((k->nparams + 1) * sizeof *n->params);
	memcpy(n->params, from->kernelParams, k->nparams * sizeof *n->params);
	n->params[k->nparams] = &n->param;
	n->p = *from;
	n->p.kernelParams = n->params;
	return true;
}

static const CUDA_KERNEL_NODE_PARAMS *with_ours(struct with *w, const CUDA_KERNEL_NODE_PARAMS *p)
{
	memset(w, 0, sizeof *w);
	if (!p || !handle_of(p))
		return p;
	set_kernel(&w->n, p);
	return w->n.i.k || point_to(&w->n, p) ? &w->n.p : p;
}

/* As CUDA had them before 12.0: they begin with the same fields, and name functions alone. */
static const CUDA_KERNEL_NODE_PARAMS *of_v1(const CUDA_KERNEL_NODE_PARAMS_v1 *p, CUDA_KERNEL_NODE_PARAMS *to)
{
	if (!p)
		return NULL;
	*to = (CUDA_KERNEL_NODE_PARAMS){
		.func = p->func, .gridDimX = p->gridDimX, .gridDimY = p->gridDimY, .gridDimZ = p->gridDimZ,
		.blockDimX = p->blockDimX, .blockDimY = p->blockDimY, .blockDimZ = p->blockDimZ,
		.sharedMemBytes = p->sharedMemBytes, .kernelParams = p->kernelParams, .extra = p->extra
	};
	return to;
}

static const CUDA_KERNEL_NODE_PARAMS_v1 *with_ours_v1(struct with *w, const CUDA_KERNEL_NODE_PARAMS_v1 *p,
						      CUDA_KERNEL_NODE_PARAMS_v1 *copy)
{
	CUDA_KERNEL_NODE_PARAMS new;
	const CUDA_KERNEL_NODE_PARAMS *ours = with_ours(w, of_v1(p, &new));

	if (ours == NULL || ours == &new)
		return p;
	*copy = *p;
	copy->kernelParams = ours->kernelParams;
	copy->extra = NULL;
	return copy;
}

static CUresult done(struct with *w, CUresult r)
{
	free_values(&w->n);
	return r;
}

/* ---- what was instantiated ---------------------------------------------------------------------------------- */

static void add_event(struct exec *e, CUgraphNode handle, CUgraphNode child, bool waits)
{
	CUresult (*get)(CUgraphNode, CUevent *) = waits ? rt_drv.cuGraphEventWaitNodeGetEvent : rt_drv.cuGraphEventRecordNodeGetEvent;
	struct event new = {.handle = handle, .child = child, .waits = waits};

	if (!get || get(handle, &new.event) != CUDA_SUCCESS)
		return;
	e->event = rt_grow(e->event, &e->event_cap, e->nevents + 1, sizeof *e->event);
	e->event[e->nevents++] = new;
}

static void add_node(void *to, CUgraphNode handle, CUgraphNodeType type, CUgraphNode child)
{
	CUDA_KERNEL_NODE_PARAMS p = {0};
	struct exec *e = to;

	if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD || type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
		add_event(e, handle, child, type == CU_GRAPH_NODE_TYPE_WAIT_EVENT);
	rt_moves_add(&e->moves, handle, type, child);
	if (type != CU_GRAPH_NODE_TYPE_KERNEL || rt_drv.cuGraphKernelNodeGetParams(handle, &p) != CUDA_SUCCESS || !handle_of(&p))
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

static CUresult destroy(CUgraph graph)
{
	rt_mem_owner_gone(graph);
	return REAL(cuGraphDestroy, RT_cuGraphDestroy)(graph);
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
		destroy(this->graph);
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
	rt_free(e->event);
	rt_moves_free(&e->moves);
	rt_edges_drop(e->edges);
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
	rt_graph_nodes(graph, add_node, e);
	read_nodes(e);
	e->edges = rt_edges_of(graph);
	pthread_mutex_lock(&lock);
	forget(find(*handle));
	e->next = execs;
	execs = e;
	bury();
	pthread_mutex_unlock(&lock);
	return r;
}

/* It becomes what another one is, and stays where it is. */
static void become(struct node *n, struct node *other)
{
	CUgraphNode handle = n->handle, child = n->child;

	free_values(n);
	*n = *other;
	n->handle = handle;
	n->child = child;
	if (n->params)
		n->params[n->i.k ? n->i.k->nparams : 0] = &n->param;
	other->params = NULL;
	other->values = NULL;
}

/* What it was updated from has the same nodes in the same order; child: so has the graph in that node, else NULL. */
static void update(struct exec *e, CUgraphNode child, CUgraph graph)
{
	struct exec other = {0};
	size_t k = 0;

	rt_graph_nodes(graph, add_node, &other);
	read_nodes(&other);
	for (size_t i = 0; i < e->n && k < other.n; i++)
		if (!child || e->node[i].child == child)
			become(&e->node[i], &other.node[k++]);
	for (size_t i = 0; i < other.n; i++)
		free_values(&other.node[i]);
	k = 0;
	for (size_t i = 0; i < e->nevents && k < other.nevents; i++)
		if (!child || e->event[i].child == child)
			e->event[i].event = other.event[k++].event;
	rt_moves_update(&e->moves, child, &other.moves);
	rt_free(other.node);
	rt_free(other.event);
	rt_moves_free(&other.moves);
}

static void update_of(CUgraphExec handle, CUgraphNode child, CUgraph graph, CUresult r)
{
	pthread_mutex_lock(&lock);
	if (r == CUDA_SUCCESS && *find(handle))
		update(*find(handle), child, graph);
	pthread_mutex_unlock(&lock);
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* What it is now, which need not be what was instantiated. */
static void save(struct node *n)
{
	CUDA_KERNEL_NODE_PARAMS p = {0};

	if (rt_drv.cuGraphKernelNodeGetParams(n->handle, &p) != CUDA_SUCCESS || !handle_of(&p))
		return;
	n->was = rt_alloc(sizeof *n->was);
	set_kernel(n->was, &p);
}

static void restore(struct node *n)
{
	if (!n->was)
		return;
	if (n->was->i.k)
		REAL(cuGraphKernelNodeSetParams_v2, RT_cuGraphKernelNodeSetParams_v2)(n->handle, &n->was->p);
	free_values(n->was);
	rt_free(n->was);
	n->was = NULL;
}

/* Nodes of graphs inside it are changed there, and then all of such a graph is given to the driver; restore() is left to
 * the caller, since the next node of the graph gives all of it again. */
static bool set_param(const struct exec *e, struct node *n)
{
	CUgraph inner;

	if (!n->child)
		return REAL(cuGraphExecKernelNodeSetParams_v2, RT_cuGraphExecKernelNodeSetParams_v2)(e->handle, n->handle, &n->p) ==
		       CUDA_SUCCESS;
	if (!rt_real(RT_cuGraphKernelNodeSetParams_v2))
		return false;
	save(n);
	return rt_real(RT_cuGraphExecChildGraphNodeSetParams) &&
	       rt_drv.cuGraphChildGraphNodeGetGraph(n->child, &inner) == CUDA_SUCCESS &&
	       REAL(cuGraphKernelNodeSetParams_v2, RT_cuGraphKernelNodeSetParams_v2)(n->handle, &n->p) == CUDA_SUCCESS &&
	       REAL(cuGraphExecChildGraphNodeSetParams, RT_cuGraphExecChildGraphNodeSetParams)(e->handle, n->child, inner) ==
		       CUDA_SUCCESS;
}

static bool is_enabled(const void *of, CUgraphNode handle, CUgraphNode child)
{
	const struct exec *e = of;
	unsigned on = 1;

	return child || !rt_drv.cuGraphNodeGetEnabled || rt_drv.cuGraphNodeGetEnabled(e->handle, handle, &on) != CUDA_SUCCESS || on;
}

/* All nodes have the graph's place, and are told apart by its edges. */
static void prepare(struct exec *e, CUcontext ctx, uint64_t stream, const struct rt_deed *graph)
{
	for (size_t i = 0; i < e->n; i++) {
		struct node *n = &e->node[i];
		struct rt_missed missed;

		n->launch = NULL;
		n->i.ctx = ctx;
		n->i.stream = stream;
		n->i.beside = true;
		if (!n->i.k || !is_enabled(e, n->handle, n->child))
			continue;
		n->i.params = n->params;
		n->i.deed = rt_deed_beside(graph);
		rt_edges_put(e->edges, n->i.deed, n->handle, n->child);
		n->launch = rt_issue_launch(&n->i, &n->param, &missed);
		rt_issue_missed(&missed);
		if (!n->launch)
			rt_deed_ready(n->i.deed);
		if (set_param(e, n) || !n->launch)
			continue;
		rt_judge_unwatched("a graph's node cannot be told where to log");
		rt_judge_drop(n->launch);
		n->launch = NULL;
	}
	for (size_t i = 0; i < e->n; i++)
		restore(&e->node[i]);
}

static void launched(struct exec *e, CUresult r, enum rt_hook which, CUstream s)
{
	for (size_t i = 0; i < e->n; i++) {
		struct node *n = &e->node[i];
		uint32_t nth = 0;

		if (r == CUDA_SUCCESS && n->i.f && is_enabled(e, n->handle, n->child))
			nth = rt_issue_count(n->i.f, n->i.ctx);
		if (n->launch && r == CUDA_SUCCESS)
			rt_judge_issued(n->launch, nth, which, s, true);
		else if (n->launch)
			rt_judge_drop(n->launch);
		n->launch = NULL;
	}
}

/* Those of all its nodes before all of its kernels, or behind them: that is taken as more order than there may be. */
static void pass_events(const struct exec *e, bool waits, enum rt_hook which, CUstream s)
{
	for (size_t i = 0; e && i < e->nevents; i++) {
		if (e->event[i].waits != waits)
			continue;
		if (waits)
			rt_order_wait(which, s, e->event[i].event);
		else
			rt_order_record(which, s, e->event[i].event);
	}
}

CUresult rt_on_graph_launch(enum rt_hook which, CUgraphExec handle, CUstream s)
{
	const uint64_t stream = rt_stream_key(which, s);
	const bool captured = rt_stream_captured(s);
	const CUcontext ctx = rt_current();
	struct rt_deed *deed;
	struct exec *e;
	CUresult r;

	rt_register(NULL);
	rt_stream_seen(which, s);
	pthread_mutex_lock(&lock);
	rt_inside++;
	e = captured ? NULL : *find(handle);
	pass_events(e, true, which, s);
	deed = captured ? NULL : rt_deed_put(which, s, DETECT_LAUNCH, NULL);
	if (e)
		prepare(e, ctx, stream, deed);
	r = REAL(cuGraphLaunch, which)(handle, s);
	if (e)
		launched(e, r, which, s);
	if (r == CUDA_SUCCESS)
		pass_events(e, false, which, s);
	if (e && r == CUDA_SUCCESS)
		rt_moves_put(&e->moves, deed, e->edges, is_enabled, e);
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

	update_of(exec, NULL, graph, r);
	return r;
}

CUresult rt_on_exec_update_v1(enum rt_hook which, CUgraphExec exec, CUgraph graph, CUgraphNode *node, CUgraphExecUpdateResult *result)
{
	CUresult r = REAL(CUresult(CUgraphExec, CUgraph, CUgraphNode *, CUgraphExecUpdateResult *), which)(exec, graph, node, result);

	update_of(exec, NULL, graph, r);
	return r;
}

CUresult rt_on_exec_child(enum rt_hook which, CUgraphExec exec, CUgraphNode node, CUgraph graph)
{
	CUresult r = REAL(cuGraphExecChildGraphNodeSetParams, which)(exec, node, graph);

	update_of(exec, node, graph, r);
	return r;
}

/* The driver has given the node these parameters, or not; NULL: they are not a kernel's. */
static CUresult learn_params(CUresult r, CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct exec *e;

	pthread_mutex_lock(&lock);
	e = r == CUDA_SUCCESS && p && handle_of(p) ? *find(exec) : NULL;
	for (size_t i = 0; e && i < e->n; i++)
		if (e->node[i].handle == node)
			set_kernel(&e->node[i], p);
	pthread_mutex_unlock(&lock);
	return r;
}

static CUresult learn_event(CUresult r, CUgraphExec exec, CUgraphNode node, CUevent event)
{
	struct exec *e;

	pthread_mutex_lock(&lock);
	e = r == CUDA_SUCCESS ? *find(exec) : NULL;
	for (size_t i = 0; e && i < e->nevents; i++)
		if (e->event[i].handle == node)
			e->event[i].event = event;
	pthread_mutex_unlock(&lock);
	return r;
}

static CUresult learn_move(CUresult r, CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *copy, const CUDA_MEMSET_NODE_PARAMS *fill)
{
	pthread_mutex_lock(&lock);
	if (r == CUDA_SUCCESS && *find(exec))
		rt_moves_set(&(*find(exec))->moves, node, copy, fill);
	pthread_mutex_unlock(&lock);
	return r;
}

CUresult rt_on_exec_copy(enum rt_hook which, CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *p, CUcontext ctx)
{
	return learn_move(REAL(cuGraphExecMemcpyNodeSetParams, which)(exec, node, p, ctx), exec, node, p, NULL);
}

CUresult rt_on_exec_fill(enum rt_hook which, CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx)
{
	return learn_move(REAL(cuGraphExecMemsetNodeSetParams, which)(exec, node, p, ctx), exec, node, NULL, p);
}

CUresult rt_on_exec_event(enum rt_hook which, CUgraphExec exec, CUgraphNode node, CUevent event)
{
	return learn_event(REAL(cuGraphExecEventRecordNodeSetEvent, which)(exec, node, event), exec, node, event);
}

CUresult rt_on_exec_params(enum rt_hook which, CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct with w;
	const CUDA_KERNEL_NODE_PARAMS *ours = with_ours(&w, p);

	return done(&w, learn_params(REAL(cuGraphExecKernelNodeSetParams_v2, which)(exec, node, ours), exec, node, p));
}

CUresult rt_on_exec_params_v1(enum rt_hook which, CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
	CUDA_KERNEL_NODE_PARAMS_v1 copy;
	CUDA_KERNEL_NODE_PARAMS new;
	struct with w;
	const CUDA_KERNEL_NODE_PARAMS_v1 *ours = with_ours_v1(&w, p, &copy);
	CUresult r = REAL(CUresult(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1 *), which)(exec, node, ours);

	return done(&w, learn_params(r, exec, node, of_v1(p, &new)));
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

CUresult rt_on_add_kernel_v1(enum rt_hook which, CUgraphNode *node, CUgraph graph, const CUgraphNode *behind, size_t n,
			     const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
	CUDA_KERNEL_NODE_PARAMS_v1 copy;
	struct with w;
	const CUDA_KERNEL_NODE_PARAMS_v1 *ours = with_ours_v1(&w, p, &copy);

	return done(&w, REAL(CUresult(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS_v1 *),
			     which)(node, graph, behind, n, ours));
}

CUresult rt_on_node_params_v1(enum rt_hook which, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
	CUDA_KERNEL_NODE_PARAMS_v1 copy;
	struct with w;
	const CUDA_KERNEL_NODE_PARAMS_v1 *ours = with_ours_v1(&w, p, &copy);

	return done(&w, REAL(CUresult(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1 *), which)(node, ours));
}

/* Memory of a graph is where it is as long as the graph is there. */
static CUresult learn_memory(CUresult r, CUgraph graph, CUdeviceptr p, size_t n)
{
	if (r == CUDA_SUCCESS)
		rt_mem_of_graph(p, n, graph);
	return r;
}

CUresult rt_on_add_memory(enum rt_hook which, CUgraphNode *node, CUgraph graph, const CUgraphNode *behind, size_t n,
			  CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
	CUresult r = REAL(cuGraphAddMemAllocNode, which)(node, graph, behind, n, p);

	return p ? learn_memory(r, graph, p->dptr, p->bytesize) : r;
}

/* Of nodes of all kinds: those of kernels have what both structures begin with.  NULL: another kind. */
static const CUDA_KERNEL_NODE_PARAMS *of_any(const CUgraphNodeParams *p, CUDA_KERNEL_NODE_PARAMS *to)
{
	if (!p || p->type != CU_GRAPH_NODE_TYPE_KERNEL)
		return NULL;
	memset(to, 0, sizeof *to);
	memcpy(to, &p->kernel, sizeof *to < sizeof p->kernel ? sizeof *to : sizeof p->kernel);
	return to;
}

static CUgraphNodeParams *generic_with_ours(struct with *w, CUgraphNodeParams *p, CUgraphNodeParams *copy)
{
	CUDA_KERNEL_NODE_PARAMS own;
	const CUDA_KERNEL_NODE_PARAMS *ours = with_ours(w, of_any(p, &own));

	if (ours == NULL || ours == &own)
		return p;
	*copy = *p;
	copy->kernel.kernelParams = ours->kernelParams;
	copy->kernel.extra = NULL;
	return copy;
}

static CUresult added(struct with *w, CUresult r, CUgraph graph, const CUgraphNodeParams *p)
{
	if (p && p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		learn_memory(r, graph, p->alloc.dptr, p->alloc.bytesize);
	return done(w, r);
}

CUresult rt_on_add_node(enum rt_hook which, CUgraphNode *node, CUgraph graph, const CUgraphNode *behind, const CUgraphEdgeData *edge,
			size_t n, CUgraphNodeParams *p)
{
	CUgraphNodeParams copy;
	struct with w;
	CUgraphNodeParams *ours = generic_with_ours(&w, p, &copy);

	return added(&w, REAL(CUresult(CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t,
				       CUgraphNodeParams *), which)(node, graph, behind, edge, n, ours), graph, p);
}

CUresult rt_on_add_node_v1(enum rt_hook which, CUgraphNode *node, CUgraph graph, const CUgraphNode *behind, size_t n,
			   CUgraphNodeParams *p)
{
	CUgraphNodeParams copy;
	struct with w;
	CUgraphNodeParams *ours = generic_with_ours(&w, p, &copy);

	return added(&w, REAL(CUresult(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraphNodeParams *),
			      which)(node, graph, behind, n, ours), graph, p);
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
	CUDA_KERNEL_NODE_PARAMS own;
	CUgraphNodeParams copy;
	struct with w;
	CUgraphNodeParams *ours = generic_with_ours(&w, p, &copy);
	CUresult r = REAL(cuGraphExecNodeSetParams, which)(exec, node, ours);

	if (p && p->type == CU_GRAPH_NODE_TYPE_GRAPH)
		update_of(exec, node, p->graph.graph, r);
	else if (p && p->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
		learn_event(r, exec, node, p->eventRecord.event);
	else if (p && p->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
		learn_event(r, exec, node, p->eventWait.event);
	else if (p && p->type == CU_GRAPH_NODE_TYPE_MEMCPY)
		learn_move(r, exec, node, &p->memcpy.copyParams, NULL);
	else if (p && p->type == CU_GRAPH_NODE_TYPE_MEMSET)
		learn_move(r, exec, node, NULL, &(CUDA_MEMSET_NODE_PARAMS){
			.dst = p->memset.dst, .pitch = p->memset.pitch, .value = p->memset.value, .elementSize = p->memset.elementSize,
			.width = p->memset.width, .height = p->memset.height
		});
	return done(&w, learn_params(r, exec, node, of_any(p, &own)));
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
	(void)which;
	return used ? CUDA_SUCCESS : destroy(graph);
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
