/* SPDX-License-Identifier: Apache-2.0
 *
 * issue.c: launches of kernels that log, and synchronisations.  Before a kernel starts it is given memory to log into,
 * and says where in a parameter behind its own; behind it an event is recorded, by which it is known when it is over.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rt/judge.h"

enum { WAIT_FOR_MEMORY_MS = 10000 };

/* With rt_lock. */
static uint64_t launches, watched, graphs, bare, elsewhere;
static const char **bare_names;
static size_t nbare, bare_cap;

static CUcontext current(void)
{
	CUcontext ctx = NULL;

	return rt_drv.cuCtxGetCurrent && rt_drv.cuCtxGetCurrent(&ctx) == CUDA_SUCCESS ? ctx : NULL;
}

/* One number a stream: the null stream of a context is 0, that of a thread is the thread's. */
static uint64_t stream_key(enum rt_hook which, CUstream s)
{
	const uint64_t v = (uintptr_t)s;

	if (v == 2 || (v == 0 && rt_per_thread(which)))
		return (uint64_t)gettid() << 16 | 2;
	return v == 1 ? 0 : v;
}

void rt_launch_count(struct rt_totals *t)
{
	pthread_mutex_lock(&rt_lock);
	t->launches = launches;
	t->kernels_watched = watched;
	t->graphs = graphs;
	t->bare_launches = bare;
	t->bare = bare_names;
	t->nbare = nbare;
	t->other_device = elsewhere;
	pthread_mutex_unlock(&rt_lock);
}

/* A launch into a stream that is being captured runs when its graph does. */
static bool is_captured(CUstream s)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	if ((uintptr_t)s <= 1 || !rt_drv.cuStreamIsCapturing)
		return false;
	return rt_drv.cuStreamIsCapturing(s, &status) == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

/* ---- a launch on its way ------------------------------------------------------------------------------ */

struct issue {
	struct rt_func *f;
	const struct rt_tables *tables;
	const struct module_kernel *k;  /* NULL: it does not log */
	CUcontext ctx;
	CUstream s;
	enum rt_hook which;
	bool captured;
	struct rt_launch *l;            /* NULL: nobody watches it */
	struct region_launch param;
	void **params, *buffer;         /* with one more; or `extra`, with a copy of its buffer */
	size_t size;
	void *extra[5];
};

static uint64_t product(const uint32_t v[3])
{
	return (uint64_t)v[0] * v[1] * v[2];
}

/* What its lanes do suits no block in which a warp has several rows. */
static bool is_suited(const struct issue *i, const struct rt_launch *l)
{
	if (!(i->k->flags & MODULE_FLAT) || l->block[0] % EVENT_LANES == 0 || (uint64_t)l->block[1] * l->block[2] == 1)
		return true;
	rt_judge_unwatched("its kernel looks at threadIdx.x alone, and its block has rows that are no multiple of 32 threads");
	return false;
}

static void nap(void)
{
	const struct timespec ms = {.tv_nsec = 1000000};

	nanosleep(&ms, NULL);
}

/* What is judged gives its memory back. */
static bool find_memory(uint64_t need, struct rt_memory *m)
{
	const uint64_t until = rt_now_ms() + WAIT_FOR_MEMORY_MS;

	do {
		const struct log_way *w = rt_way_begin(RT_WAY_TAKE);
		bool got = w && rt_memory_get(w, need, m);

		if (w)
			rt_way_end(RT_WAY_TAKE);
		if (got)
			return true;
		rt_judge_catch_up(false);
		nap();
	} while (rt_judge_under_way() && rt_now_ms() < until);
	return false;
}

static bool prepare(struct issue *i, struct rt_launch *l)
{
	uint64_t need = log_lay_out(&l->shape, product(l->grid), (uint32_t)product(l->block), i->k->piece, rt_lanes());
	const struct log_way *w;
	bool ok;

	if (need > LOG_MOST || !find_memory(need, &l->memory)) {
		rt_judge_unwatched("there is no memory for its log");
		return false;
	}
	log_fit(&l->shape, l->memory.bytes);
	w = rt_way_begin(RT_WAY_TAKE);
	ok = w && log_prepare(w, l->memory.at, &l->shape, l->number, &i->param);
	if (w)
		rt_way_end(RT_WAY_TAKE);
	if (!ok)
		rt_judge_unwatched("the device's memory cannot be written");
	return ok;
}

/* Whether launches in the context can be watched. */
static bool is_here(CUcontext ctx)
{
	return rt_dev_ready() && rt_ctx_known(ctx);
}

/* ---- parameters ------------------------------------------------------------------------------------------ */

/* Tensor maps that are parameters are named by their number, since the kernel cannot tell what is in them. */
static void find_maps(struct issue *i, void **params)
{
	for (uint32_t n = 0; n < i->k->nparams && n < 64; n++) {
		struct event_map m;

		if (!(i->k->maps >> n & 1) || !rt_map_find(params[n], &m))
			continue;
		m.hash = REGION_MAP(i->l->number, n);
		i->l->map = realloc(i->l->map, (i->l->nmaps + 1) * sizeof *i->l->map);
		if (!i->l->map)
			abort();
		i->l->map[i->l->nmaps++] = m;
	}
}

static void *find_buffer(void **extra, size_t *size)
{
	void *buffer = NULL;

	*size = 0;
	for (; extra && extra[0] != CU_LAUNCH_PARAM_END; extra += 2) {
		if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buffer = extra[1];
		else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
			memcpy(size, extra[1], sizeof *size);
		else
			return NULL;
	}
	return buffer;
}

/* Of parameters in a buffer. */
static void add_to_buffer(struct issue *i, void **extra)
{
	size_t size;
	void *buffer = find_buffer(extra, &size);

	i->size = i->k->offset + sizeof i->param;
	i->buffer = rt_alloc(i->size);
	if (buffer)
		memcpy(i->buffer, buffer, size < i->k->offset ? size : i->k->offset);
	memcpy((char *)i->buffer + i->k->offset, &i->param, sizeof i->param);
	i->extra[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
	i->extra[1] = i->buffer;
	i->extra[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
	i->extra[3] = &i->size;
	i->extra[4] = CU_LAUNCH_PARAM_END;
}

static void add_parameter(struct issue *i, void ***params, void ***extra)
{
	if (!i->k)
		return;
	if (!*params && *extra) {
		add_to_buffer(i, *extra);
		*extra = i->extra;
		return;
	}
	i->params = rt_alloc((i->k->nparams + 1) * sizeof *i->params);
	if (*params)
		memcpy(i->params, *params, i->k->nparams * sizeof *i->params);
	if (i->l && *params)
		find_maps(i, *params);
	i->params[i->k->nparams] = &i->param;
	*params = i->params;
}

/* ---- before and behind --------------------------------------------------------------------------------------- */

struct shape { uint32_t grid[3], block[3], cluster[3]; };

/* Of a kernel that has a cluster of its own: what the driver says. */
static void find_cluster(struct issue *i, uint32_t cluster[3])
{
	static const CUfunction_attribute which[3] = {
		CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
		CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH
	};
	CUfunction fn = (CUfunction)i->f->handle;

	for (int k = 0; k < 3 && !i->f->kernel && !cluster[0]; k++) {
		int n = 0;

		if (rt_drv.cuFuncGetAttribute(&n, which[k], fn) != CUDA_SUCCESS || (!k && n <= 0))
			return;
		cluster[k] = n > 0 ? (uint32_t)n : 1;
	}
}

static void watch(struct issue *i, const struct shape *s, bool early)
{
	struct rt_launch *l = rt_alloc(sizeof *l);

	memcpy(l->grid, s->grid, sizeof l->grid);
	memcpy(l->block, s->block, sizeof l->block);
	memcpy(l->cluster, s->cluster, sizeof l->cluster);
	if (!product(l->grid) || !product(l->block) || !is_suited(i, l)) {
		rt_free(l);
		return;
	}
	l->func = i->f;
	l->name = i->f->name;
	l->tables = i->tables;
	l->kernel = i->k;
	l->ctx = i->ctx;
	l->stream = stream_key(i->which, i->s);
	l->early = early;
	l->nth = (uint32_t)i->f->launches + 1;
	find_cluster(i, l->cluster);
	rt_judge_add(l);
	if (prepare(i, l) && rt_judge_ready(l)) {
		i->l = l;
		return;
	}
	i->param = (struct region_launch){.last = REGION_SINK_LAST};
	rt_judge_drop(l);
}

static void begin(struct issue *i, enum rt_hook which, const void *handle, CUstream stream, const struct shape *s, bool early)
{
	memset(i, 0, sizeof *i);
	i->param.last = REGION_SINK_LAST;       /* nobody watches it, so far */
	i->which = which;
	i->s = stream;
	i->ctx = current();
	i->f = rt_func_of(handle);
	i->captured = is_captured(stream);
	rt_register(i->f);
	rt_mem_catch_up();
	i->k = rt_kernel_of(i->f, &i->tables);
	if (!early)
		rt_judge_settle(i->ctx, which, stream, stream_key(which, stream));
	if (i->k && is_here(i->ctx) && !i->captured && !(i->k->flags & MODULE_UNWATCHED))
		watch(i, s, early);
}

/* With rt_lock. */
static void count(struct rt_func *f, uint64_t stream, bool here)
{
	const bool is_bare = rt_func_bare(f) || f->left > 0;

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
	if (f->launches++ == 0)
		f->stream = stream;
	else if (f->stream != stream)
		f->many_streams = true;
}

static CUresult end(struct issue *i, CUresult r)
{
	rt_free(i->params);
	rt_free(i->buffer);
	rt_context_noted(r);
	if (i->l && r != CUDA_SUCCESS)
		rt_judge_drop(i->l);
	else if (i->l)
		rt_judge_issued(i->l, i->which, i->s, !i->tables->lets_go);
	if (r != CUDA_SUCCESS || i->captured)
		return r;
	if (is_here(i->ctx))
		rt_exit_soon(true);
	pthread_mutex_lock(&rt_lock);
	count(i->f, stream_key(i->which, i->s), is_here(i->ctx));
	pthread_mutex_unlock(&rt_lock);
	return r;
}

CUresult rt_on_launch(enum rt_hook which, CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
		      unsigned int by, unsigned int bz, unsigned int shared, CUstream s, void **params, void **extra)
{
	const struct shape shape = {{gx, gy, gz}, {bx, by, bz}, {0, 0, 0}};
	struct issue i;

	begin(&i, which, f, s, &shape, false);
	add_parameter(&i, &params, &extra);
	return end(&i, REAL(cuLaunchKernel, which)(f, gx, gy, gz, bx, by, bz, shared, s, params, extra));
}

static const CUlaunchAttributeValue *attribute(const CUlaunchConfig *config, CUlaunchAttributeID id)
{
	for (unsigned i = 0; config->attrs && i < config->numAttrs; i++)
		if (config->attrs[i].id == id)
			return &config->attrs[i].value;
	return NULL;
}

CUresult rt_on_launch_ex(enum rt_hook which, const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
{
	const CUlaunchAttributeValue *early, *cluster;
	struct shape shape;
	struct issue i;

	if (!c)
		return REAL(cuLaunchKernelEx, which)(c, f, params, extra);
	early = attribute(c, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
	cluster = attribute(c, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
	shape = (struct shape){{c->gridDimX, c->gridDimY, c->gridDimZ}, {c->blockDimX, c->blockDimY, c->blockDimZ}, {0, 0, 0}};
	if (cluster)
		memcpy(shape.cluster, &cluster->clusterDim, sizeof shape.cluster);
	begin(&i, which, f, c->hStream, &shape, early && early->programmaticStreamSerializationAllowed);
	add_parameter(&i, &params, &extra);
	return end(&i, REAL(cuLaunchKernelEx, which)(c, f, params, extra));
}

CUresult rt_on_launch_coop(enum rt_hook which, CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
			   unsigned int by, unsigned int bz, unsigned int shared, CUstream s, void **params)
{
	const struct shape shape = {{gx, gy, gz}, {bx, by, bz}, {0, 0, 0}};
	struct issue i;
	void **none = NULL;

	begin(&i, which, f, s, &shape, false);
	add_parameter(&i, &params, &none);
	return end(&i, REAL(cuLaunchCooperativeKernel, which)(f, gx, gy, gz, bx, by, bz, shared, s, params));
}

/* What comes between two launches makes the later one wait for the earlier one. */
void rt_stream_seen(enum rt_hook which, CUstream s)
{
	rt_judge_settle(current(), which, s, stream_key(which, s));
}

/* ---- graphs ------------------------------------------------------------------------------------------------ */

CUresult rt_on_instantiate(enum rt_hook which, CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	return REAL(cuGraphInstantiateWithFlags, which)(exec, graph, flags);
}

CUresult rt_on_instantiate_params(enum rt_hook which, CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *how)
{
	return REAL(cuGraphInstantiateWithParams, which)(exec, graph, how);
}

CUresult rt_on_exec_update(enum rt_hook which, CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
	return REAL(cuGraphExecUpdate_v2, which)(exec, graph, info);
}

CUresult rt_on_exec_params(enum rt_hook which, CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
	return REAL(cuGraphExecKernelNodeSetParams_v2, which)(exec, node, p);
}

CUresult rt_on_graph_launch(enum rt_hook which, CUgraphExec exec, CUstream s)
{
	CUresult r = REAL(cuGraphLaunch, which)(exec, s);

	rt_context_noted(r);
	if (r != CUDA_SUCCESS || is_captured(s))
		return r;
	pthread_mutex_lock(&rt_lock);
	graphs++;
	pthread_mutex_unlock(&rt_lock);
	return r;
}

/* ---- synchronisation ------------------------------------------------------------------------------------------ */

static void waited(CUresult r)
{
	rt_context_noted(r);
	rt_tell_idle();
}

CUresult rt_on_ctx_sync(enum rt_hook which)
{
	const uint32_t upto = rt_judge_last();
	CUresult r = REAL(CUresult(void), which)();

	if (r == CUDA_SUCCESS)
		rt_judge_over(current(), NULL, upto);
	waited(r);
	return r;
}

CUresult rt_on_ctx_sync_v2(enum rt_hook which, CUcontext ctx)
{
	const uint32_t upto = rt_judge_last();
	CUresult r = REAL(CUresult(CUcontext), which)(ctx);

	if (r == CUDA_SUCCESS)
		rt_judge_over(ctx ? ctx : current(), NULL, upto);
	waited(r);
	return r;
}

CUresult rt_on_stream_sync(enum rt_hook which, CUstream s)
{
	const uint64_t key = stream_key(which, s);
	const uint32_t upto = rt_judge_last();
	CUresult r = REAL(cuStreamSynchronize, which)(s);

	if (r == CUDA_SUCCESS)
		rt_judge_over(current(), &key, upto);
	waited(r);
	return r;
}

CUresult rt_on_event_sync(enum rt_hook which, CUevent event)
{
	CUresult r = REAL(cuEventSynchronize, which)(event);

	waited(r);
	return r;
}

CUresult rt_on_event_query(enum rt_hook which, CUevent event)
{
	return REAL(cuEventQuery, which)(event);
}

/* A blocking copy waits for the stream that it is ordered in. */
CUresult rt_on_copy_back(enum rt_hook which, void *to, CUdeviceptr from, size_t n)
{
	const uint64_t key = stream_key(which, NULL);
	const uint32_t upto = rt_judge_last();
	CUresult r = REAL(CUresult(void *, CUdeviceptr, size_t), which)(to, from, n);

	if (r == CUDA_SUCCESS)
		rt_judge_over(current(), &key, upto);
	waited(r);
	return r;
}
