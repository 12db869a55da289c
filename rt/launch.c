/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.c: launches and synchronisations.  Before a kernel starts, its module
 * is registered and the shared memory that it can use has shadow.  Afterwards
 * the launch is counted, and its stream is busy until the program waits for it:
 * when none is, the device is idle and counts on it are final.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rt/drv.h"

#define BUSY 256
#define CLOCK_CHECK_MS 100

struct busy { CUcontext ctx; uint64_t stream; };

struct exec { CUgraphExec handle; struct rt_func **f; size_t n, cap; struct exec *next; };

/* All with rt_lock. */
static struct busy busy[BUSY];
static size_t nbusy;
static bool overflow;                   /* more were busy: only a context's wait ends it */
static struct exec *execs;
static uint64_t checked_ms;

static CUcontext current(void)
{
	CUcontext ctx = NULL;

	return rt_drv.cuCtxGetCurrent && rt_drv.cuCtxGetCurrent(&ctx) == CUDA_SUCCESS ? ctx : NULL;
}

static bool same_stream(const struct busy *b, CUcontext ctx, uint64_t stream)
{
	return b->stream == stream && (b->ctx == ctx || stream > 2);
}

static void set_busy(CUcontext ctx, uint64_t stream)
{
	for (size_t i = 0; i < nbusy; i++)
		if (same_stream(&busy[i], ctx, stream))
			return;
	if (nbusy < BUSY)
		busy[nbusy++] = (struct busy){ ctx, stream };
	else
		overflow = true;
}

static void stream_done(CUcontext ctx, uint64_t stream)
{
	pthread_mutex_lock(&rt_lock);
	for (size_t i = 0; i < nbusy; i++) {
		if (same_stream(&busy[i], ctx, stream)) {
			busy[i] = busy[--nbusy];
			break;
		}
	}
	pthread_mutex_unlock(&rt_lock);
}

static void context_done(CUcontext ctx)
{
	pthread_mutex_lock(&rt_lock);
	for (size_t i = 0; i < nbusy; )
		if (busy[i].ctx == ctx)
			busy[i] = busy[--nbusy];
		else
			i++;
	if (!nbusy)
		overflow = false;
	pthread_mutex_unlock(&rt_lock);
}

void rt_all_done(void)
{
	pthread_mutex_lock(&rt_lock);
	nbusy = 0;
	overflow = false;
	pthread_mutex_unlock(&rt_lock);
}

bool rt_idle(void)
{
	bool idle;

	pthread_mutex_lock(&rt_lock);
	idle = !nbusy && !overflow;
	pthread_mutex_unlock(&rt_lock);
	return idle;
}

/* ---- before a launch --------------------------------------------------------------------------- */

/* Its static shared memory, asked once; false if the driver does not say. */
static bool ask_shared(struct rt_func *f, int *bytes)
{
	CUfunction fn = (CUfunction)f->handle;

	pthread_mutex_lock(&rt_lock);
	*bytes = f->fixed_shared;
	pthread_mutex_unlock(&rt_lock);
	if (*bytes >= 0)
		return true;
	if (f->kernel && REAL(cuKernelGetFunction, RT_cuKernelGetFunction)(&fn, (CUkernel)f->handle) !=
			 CUDA_SUCCESS)
		return false;
	if (rt_drv.cuFuncGetAttribute(bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, fn) != CUDA_SUCCESS)
		return false;
	pthread_mutex_lock(&rt_lock);
	f->fixed_shared = *bytes;
	pthread_mutex_unlock(&rt_lock);
	return true;
}

/* Shadow for the shared memory of all blocks that can be resident at a time:
 * slots are numbered multiprocessor by multiprocessor, lowest free one first.
 * `alone`: no other kernel can have taken low ones. */
static void back_shared(struct rt_func *f, unsigned dynamic, bool alone)
{
	uint64_t bytes;
	uint32_t slots;
	struct rt_ctx *c;
	int fixed;

	if (!ask_shared(f, &fixed))
		return;
	bytes = (uint64_t)fixed + dynamic;
	if (!bytes)
		return;
	slots = rt_shared_slots(bytes, alone);
	if (rt_shared_backed(bytes, slots) || !(c = rt_dev_begin()))
		return;
	rt_back_shared(c, bytes, slots);
	rt_dev_end();
}

/* `stream`: ~0 if the kernel may run beside any other. */
static struct rt_func *before(const void *handle, unsigned dynamic, CUcontext ctx, uint64_t stream)
{
	struct rt_func *f = rt_func_of(handle);
	bool alone = stream != ~UINT64_C(0);

	rt_register(f);
	rt_mem_catch_up();
	if (!rt_func_watched(f) || !rt_dev_ready())
		return f;
	pthread_mutex_lock(&rt_lock);
	for (size_t i = 0; i < nbusy; i++)
		alone = alone && same_stream(&busy[i], ctx, stream);
	alone = alone && !overflow;
	pthread_mutex_unlock(&rt_lock);
	back_shared(f, dynamic, alone);
	return f;
}

/* ---- after a launch ------------------------------------------------------------------------------ */

/* Whether launches in the context can be watched.  What was known stays known:
 * contexts that end are not launched into. */
static bool is_here(CUcontext ctx)
{
	static _Thread_local CUcontext last;
	static _Thread_local bool here;

	if (!rt_dev_ready())
		return false;
	if (ctx != last || !here) {
		last = ctx;
		here = rt_ctx_known(ctx);
	}
	return here;
}

/* With rt_lock.  `here`: is_here() of the context. */
static void count(struct rt_func *f, CUcontext ctx, uint64_t stream, bool here)
{
	if (here)
		rt_context_launched();
	rt_count_launch(f, stream, here);
	set_busy(ctx, stream);
}

/* A launch on its way. */
struct launch { struct rt_func *f; CUcontext ctx; uint64_t stream; bool captured; struct rt_begun begun; };

/* `early`: it need not wait for what is before it; `beside`: it may run beside any other. */
static void begin(struct launch *l, enum rt_hook which, const void *handle, unsigned shared, CUstream s,
		  bool early, bool beside)
{
	l->ctx = current();
	l->stream = rt_stream_key(which, s);
	l->captured = rt_stream_captured(s);
	l->f = before(handle, shared, l->ctx, beside ? ~UINT64_C(0) : l->stream);
	if (l->captured)
		rt_early_graph(l->f);
	else
		rt_early_begin(l->f, l->ctx, l->stream, early, &l->begun);
}

static CUresult after(CUresult r, const struct launch *l)
{
	struct rt_func *f = l->f;
	CUcontext ctx = l->ctx;
	const uint64_t stream = l->stream;
	bool here;

	rt_context_noted(r);
	if (!l->captured)
		rt_early_end(&l->begun, r == CUDA_SUCCESS);
	if (r != CUDA_SUCCESS || l->captured)
		return r;
	here = is_here(ctx);
	if (here)
		rt_exit_soon(true);
	pthread_mutex_lock(&rt_lock);
	count(f, ctx, stream, here);
	pthread_mutex_unlock(&rt_lock);
	return r;
}

CUresult rt_on_launch(enum rt_hook which, CUfunction f, unsigned int gx, unsigned int gy,
		      unsigned int gz, unsigned int bx, unsigned int by, unsigned int bz,
		      unsigned int shared, CUstream s, void **params, void **extra)
{
	struct launch l;

	begin(&l, which, f, shared, s, false, false);
	return after(REAL(cuLaunchKernel, which)(f, gx, gy, gz, bx, by, bz, shared, s, params, extra), &l);
}

static const CUlaunchAttributeValue *attribute(const CUlaunchConfig *config, CUlaunchAttributeID id)
{
	for (unsigned i = 0; config->attrs && i < config->numAttrs; i++)
		if (config->attrs[i].id == id)
			return &config->attrs[i].value;
	return NULL;
}

CUresult rt_on_launch_ex(enum rt_hook which, const CUlaunchConfig *config, CUfunction f, void **params,
			 void **extra)
{
	const CUlaunchAttributeValue *early;
	struct launch l;
	bool may;

	if (!config)
		return REAL(cuLaunchKernelEx, which)(config, f, params, extra);
	early = attribute(config, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
	may = early && early->programmaticStreamSerializationAllowed;
	begin(&l, which, f, config->sharedMemBytes, config->hStream, may,
	      may || attribute(config, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT));
	return after(REAL(cuLaunchKernelEx, which)(config, f, params, extra), &l);
}

CUresult rt_on_launch_coop(enum rt_hook which, CUfunction f, unsigned int gx, unsigned int gy,
			   unsigned int gz, unsigned int bx, unsigned int by, unsigned int bz,
			   unsigned int shared, CUstream s, void **params)
{
	struct launch l;

	begin(&l, which, f, shared, s, false, false);
	return after(REAL(cuLaunchCooperativeKernel, which)(f, gx, gy, gz, bx, by, bz, shared, s, params), &l);
}

void rt_stream_seen(enum rt_hook which, CUstream s)
{
	rt_early_other(current(), rt_stream_key(which, s));
}

/* ---- graphs ----------------------------------------------------------------------------------------- */

static void add_node(void *to, CUgraphNode node, CUgraphNode child, const CUDA_KERNEL_NODE_PARAMS *p)
{
	const void *handle = p->func ? (const void *)p->func : (const void *)p->kern;
	struct exec *e = to;

	(void)node;
	(void)child;
	if (!handle)
		return;
	e->f = rt_grow(e->f, &e->cap, e->n + 1, sizeof *e->f);
	/* Other nodes may run beside it: as if on a stream of its own. */
	e->f[e->n] = before(handle, p->sharedMemBytes, NULL, ~UINT64_C(0));
	rt_early_graph(e->f[e->n++]);
}

/* What `handle` will launch, now that it was made of `graph`. */
static void learn(CUgraphExec handle, CUgraph graph)
{
	struct exec *e = rt_alloc(sizeof *e), **at;

	rt_graph_kernels(graph, add_node, e);
	e->handle = handle;
	pthread_mutex_lock(&rt_lock);
	for (at = &execs; *at && (*at)->handle != handle; at = &(*at)->next)
		;
	if (*at) {
		struct exec *old = *at;

		*at = old->next;
		rt_free(old->f);
		rt_free(old);
	}
	e->next = execs;
	execs = e;
	pthread_mutex_unlock(&rt_lock);
}

CUresult rt_on_instantiate(enum rt_hook which, CUgraphExec *exec, CUgraph graph,
			   unsigned long long flags)
{
	CUresult r = REAL(cuGraphInstantiateWithFlags, which)(exec, graph, flags);

	if (r == CUDA_SUCCESS)
		learn(*exec, graph);
	return r;
}

CUresult rt_on_instantiate_log(enum rt_hook which, CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log, size_t n)
{
	CUresult r = REAL(CUresult(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t), which)(exec, graph, node, log, n);

	if (r == CUDA_SUCCESS)
		learn(*exec, graph);
	return r;
}

CUresult rt_on_instantiate_params(enum rt_hook which, CUgraphExec *exec, CUgraph graph,
				  CUDA_GRAPH_INSTANTIATE_PARAMS *how)
{
	CUresult r = REAL(cuGraphInstantiateWithParams, which)(exec, graph, how);

	if (r == CUDA_SUCCESS)
		learn(*exec, graph);
	return r;
}

CUresult rt_on_exec_update(enum rt_hook which, CUgraphExec exec, CUgraph graph,
			   CUgraphExecUpdateResultInfo *info)
{
	CUresult r = REAL(cuGraphExecUpdate_v2, which)(exec, graph, info);

	if (r == CUDA_SUCCESS)
		learn(exec, graph);
	return r;
}

/* The node's kernel may be another one now: what it needs is seen to, and it is
 * counted as what it was. */
CUresult rt_on_exec_params(enum rt_hook which, CUgraphExec exec, CUgraphNode node,
			   const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct exec e = {0};

	if (p)
		add_node(&e, node, NULL, p);
	rt_free(e.f);
	return REAL(cuGraphExecKernelNodeSetParams_v2, which)(exec, node, p);
}

CUresult rt_on_add_kernel(enum rt_hook which, CUgraphNode *node, CUgraph graph, const CUgraphNode *behind, size_t n,
			  const CUDA_KERNEL_NODE_PARAMS *p)
{
	return REAL(cuGraphAddKernelNode_v2, which)(node, graph, behind, n, p);
}

CUresult rt_on_node_params(enum rt_hook which, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
	return REAL(cuGraphKernelNodeSetParams_v2, which)(node, p);
}

CUresult rt_on_add_node(enum rt_hook which, CUgraphNode *node, CUgraph graph, const CUgraphNode *behind, const CUgraphEdgeData *edge,
			size_t n, CUgraphNodeParams *p)
{
	return REAL(CUresult(CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUgraphNodeParams *),
		    which)(node, graph, behind, edge, n, p);
}

CUresult rt_on_set_node(enum rt_hook which, CUgraphNode node, CUgraphNodeParams *p)
{
	return REAL(cuGraphNodeSetParams, which)(node, p);
}

CUresult rt_on_set_exec_node(enum rt_hook which, CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *p)
{
	return REAL(cuGraphExecNodeSetParams, which)(exec, node, p);
}

CUresult rt_on_graph_destroy(enum rt_hook which, CUgraph graph)
{
	return REAL(cuGraphDestroy, which)(graph);
}

CUresult rt_on_exec_destroy(enum rt_hook which, CUgraphExec exec)
{
	return REAL(cuGraphExecDestroy, which)(exec);
}

CUresult rt_on_graph_launch(enum rt_hook which, CUgraphExec exec, CUstream s)
{
	const uint64_t stream = rt_stream_key(which, s);
	CUcontext ctx = current();
	CUresult r;
	bool here;

	rt_register(NULL);
	rt_mem_catch_up();
	rt_early_other(ctx, stream);
	r = REAL(cuGraphLaunch, which)(exec, s);
	rt_context_noted(r);
	if (r != CUDA_SUCCESS || rt_stream_captured(s))
		return r;
	here = is_here(ctx);
	if (here)
		rt_exit_soon(true);
	pthread_mutex_lock(&rt_lock);
	rt_count_graph();
	if (here)
		rt_context_launched();
	for (struct exec *e = execs; e; e = e->next)
		if (e->handle == exec)
			for (size_t i = 0; i < e->n; i++)
				count(e->f[i], ctx, stream, here);
	set_busy(ctx, stream);
	pthread_mutex_unlock(&rt_lock);
	return r;
}

/* ---- synchronisation ------------------------------------------------------------------------------------ */

/* After the program waited: findings are printed, the device's counters read, and
 * now and then its clocks looked after. */
static void waited(CUresult r)
{
	const uint64_t now = rt_now_ms();
	struct rt_ctx *c;
	bool due;

	rt_context_noted(r);
	rt_early_waited();
	rt_tell_idle();
	rt_context_glance();
	pthread_mutex_lock(&rt_lock);
	due = !nbusy && !overflow && now - checked_ms >= CLOCK_CHECK_MS;
	if (due)
		checked_ms = now;
	pthread_mutex_unlock(&rt_lock);
	if (due && rt_dev_ready() && (c = rt_dev_begin())) {
		rt_restart_clocks(c);
		rt_dev_end();
	}
}

CUresult rt_on_ctx_sync(enum rt_hook which)
{
	CUresult r = REAL(CUresult(void), which)();

	context_done(current());
	waited(r);
	return r;
}

CUresult rt_on_ctx_sync_v2(enum rt_hook which, CUcontext ctx)
{
	CUresult r = REAL(CUresult(CUcontext), which)(ctx);

	context_done(ctx ? ctx : current());
	waited(r);
	return r;
}

CUresult rt_on_stream_sync(enum rt_hook which, CUstream s)
{
	CUresult r = REAL(cuStreamSynchronize, which)(s);

	stream_done(current(), rt_stream_key(which, s));
	waited(r);
	return r;
}

CUresult rt_on_event_sync(enum rt_hook which, CUevent event)
{
	CUresult r = REAL(cuEventSynchronize, which)(event);

	rt_context_noted(r);
	rt_early_waited();
	rt_tell_idle();
	return r;
}

CUresult rt_on_event_query(enum rt_hook which, CUevent event)
{
	CUresult r = REAL(cuEventQuery, which)(event);

	if (r == CUDA_SUCCESS)
		rt_early_waited();
	return r;
}

/* A blocking copy waits for the stream that it is ordered in. */
CUresult rt_on_copy_back(enum rt_hook which, void *to, CUdeviceptr from, size_t n)
{
	CUresult r = REAL(CUresult(void *, CUdeviceptr, size_t), which)(to, from, n);

	if (r == CUDA_SUCCESS)
		stream_done(current(), rt_stream_key(which, NULL));
	waited(r);
	return r;
}
