/* SPDX-License-Identifier: Apache-2.0
 *
 * issue.c: launches and synchronisations.  Before a kernel starts it is given memory to log into,
 * and says where in a parameter behind its own; behind it an event is recorded, by which it is known when it is over.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/clear.h"
#include "rt/order.h"
#include "rt/seen.h"
#include "rt/touch.h"

enum {
	FIRST_TIMES = 16, FIRST_SHARE = 4,      /* a kernel's first launch gets so many times what it needs, at most that part of all */
	LARGE = 1 << 24, WAIT_FOR_FIRST_MS = 250,       /* later launches that need so many bytes wait so long from its issue on */
	WAIT_FOR_MEMORY_MS = 10000,
	/* Launches under way, as many as a driver keeps; then memory may come back as fast as more is had. */
	MANY = 1024, WAIT_FOR_MANY_MS = 5
};

/* ---- memory --------------------------------------------------------------------------------------------- */

static uint64_t product(const uint32_t v[3])
{
	return (uint64_t)v[0] * v[1] * v[2];
}

/* What its lanes do suits no block in which a warp has several rows.  NULL: it is no such block. */
static const char *unsuited(const struct rt_launch *l)
{
	if (!(l->kernel->flags & MODULE_FLAT) || l->block[0] % EVENT_LANES == 0 || (uint64_t)l->block[1] * l->block[2] == 1)
		return NULL;
	return "its kernel looks at threadIdx.x alone, and its block has rows that are no multiple of 32 threads";
}

/* What is screened takes less than a millisecond. */
static void nap(unsigned tries)
{
	rt_pause_us(tries < 100 ? 20 : 1000);
}

/* Memory that is given back in time where launches come faster than they are judged. */
static bool find_spare(uint64_t need, uint32_t number, struct rt_memory *m)
{
	const uint64_t until = rt_now_ms() + WAIT_FOR_MANY_MS;
	bool got = rt_memory_spare(need, m);

	while (!got && number - rt_judge_done() > MANY && rt_now_ms() < until) {
		rt_judge_catch_up(false);
		got = rt_memory_spare(need, m);
		if (!got)
			nap(0);
	}
	return got;
}

/* What is judged gives its memory back: launches before that one. */
static bool find_memory(uint64_t need, uint32_t number, struct rt_memory *m)
{
	const uint64_t until = rt_now_ms() + WAIT_FOR_MEMORY_MS;
	bool may_come = true;
	unsigned tries = 0;

	if (find_spare(need, number, m))
		return true;
	while (may_come && rt_now_ms() < until) {
		const struct log_way *w;
		bool got;

		may_come = rt_judge_done() + 1 < number;
		w = rt_way_begin(RT_WAY_TAKE);
		got = w && rt_memory_get(w, need, true, m);
		if (w)
			rt_way_end(RT_WAY_TAKE);
		if (got)
			return true;
		rt_judge_catch_up(false);
		nap(tries++);
	}
	return false;
}

/* Nobody can tell how much a kernel logs before it has run.  Where there is not so much more left, the launch gets what it needs. */
static bool find_for_first(uint64_t need, struct rt_memory *m)
{
	const uint64_t all = rt_memory_most(), most = FIRST_TIMES * need < all / FIRST_SHARE ? FIRST_TIMES * need : all / FIRST_SHARE;
	const struct log_way *w;
	bool got;

	if (most <= need)
		return false;
	if (rt_memory_spare(most, m))
		return true;
	w = rt_way_begin(RT_WAY_TAKE);
	got = w && rt_memory_get(w, most, false, m);
	if (w)
		rt_way_end(RT_WAY_TAKE);
	return got;
}

/* So many bytes a launch of its kernel logs, by those before it; 0: that is not known yet. */
static uint64_t bytes_by_others(const struct rt_launch *l, uint64_t need)
{
	const uint64_t first = __atomic_load_n(&l->func->first_issued, __ATOMIC_ACQUIRE);
	uint64_t logged;

	while (!(logged = __atomic_load_n(&l->func->logged, __ATOMIC_ACQUIRE)) && first && need >= LARGE &&
	       rt_now_ms() - first < WAIT_FOR_FIRST_MS)
		nap(0);
	return logged * log_warps(&l->shape);
}

/* A region that fills is emptied to the host, which then judges the launch by itself: so the launch gets room for what the kernel
 * has logged before, and for a little more. */
static bool find_enough(const struct rt_launch *l, uint64_t need, struct rt_memory *m)
{
	const uint64_t logged = bytes_by_others(l, need), more = logged + logged / 8;

	if (!logged && !__atomic_exchange_n(&l->func->first_looked, true, __ATOMIC_ACQ_REL) && find_for_first(need, m))
		return true;
	if (more > need && more <= rt_memory_most() / 2 && more <= LOG_MOST && find_memory(more, l->number, m))
		return true;
	return find_memory(need, l->number, m);
}

void rt_issue_learn(const struct rt_launch *l, uint32_t next)
{
	const uint64_t logged = (uint64_t)next * sizeof(struct event_unit) / log_warps(&l->shape) + 1;

	if (next < REGION_OVER && logged > __atomic_load_n(&l->func->logged, __ATOMIC_ACQUIRE))
		__atomic_store_n(&l->func->logged, logged, __ATOMIC_RELEASE);
}

/* Writes what the region begins with, before the launch. */
static bool begin_region(const struct rt_issue *i, struct rt_launch *l, struct region_launch *param)
{
	const struct log_way in_stream = rt_way_in_stream(i->which, i->s), *w;
	bool ok;

	/* Nobody waits for a kernel in the stream of the launch; but what must not wait for the one before has none in between. */
	if (i->in_stream && !l->early && rt_clear_can_write(l->ctx))
		return log_prepare(&in_stream, l->memory.at, &l->shape, &l->memory.queue, l->number, param);
	w = rt_way_here(l->ctx);
	ok = w && log_prepare(w, l->memory.at, &l->shape, &l->memory.queue, l->number, param);
	if (w)
		rt_way_leave();
	return ok;
}

/* NULL, or why it cannot log. */
static const char *prepare(const struct rt_issue *i, struct rt_launch *l, struct region_launch *param)
{
	uint64_t need = log_lay_out(&l->shape, product(l->grid), (uint32_t)product(l->block), l->kernel->piece,
				    rt_judge_drains() ? rt_lanes() : 0);

	if (need > LOG_MOST || !find_enough(l, need, &l->memory))
		return "there is no memory for its log";
	log_fit(&l->shape, l->memory.bytes);
	return begin_region(i, l, param) ? NULL : "the device's memory cannot be written";
}

/* ---- a launch that is watched ------------------------------------------------------------------------- */

/* Tensor maps that are parameters are named by their number, since the kernel cannot tell what is in them. */
static void find_maps(struct rt_launch *l, void *const *params)
{
	for (uint32_t n = 0; params && n < l->kernel->nparams && n < 64; n++) {
		struct event_map m;

		if (!(l->kernel->maps >> n & 1) || !rt_map_find(params[n], &m))
			continue;
		m.hash = REGION_MAP(l->number, n);
		l->map = rt_grow(l->map, &l->map_cap, l->nmaps + 1, sizeof *l->map);
		l->map[l->nmaps++] = m;
	}
}

static uint64_t attributes_set = 1;     /* and one; atomic */

CUresult rt_on_func_attribute(enum rt_hook which, CUfunction f, CUfunction_attribute what, int value)
{
	const CUresult r = REAL(cuFuncSetAttribute, which)(f, what, value);

	__atomic_add_fetch(&attributes_set, 1, __ATOMIC_RELEASE);
	return r;
}

CUresult rt_on_kernel_attribute(enum rt_hook which, CUfunction_attribute what, int value, CUkernel k, CUdevice d)
{
	const CUresult r = REAL(cuKernelSetAttribute, which)(what, value, k, d);

	__atomic_add_fetch(&attributes_set, 1, __ATOMIC_RELEASE);
	return r;
}

/* Stays 0 where there is none. */
static void ask_cluster(CUfunction f, uint32_t cluster[3])
{
	static const CUfunction_attribute which[3] = {
		CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
		CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH
	};

	for (int k = 0; k < 3; k++) {
		int n = 0;

		if (rt_drv.cuFuncGetAttribute(&n, which[k], f) != CUDA_SUCCESS || (!k && n <= 0))
			return;
		cluster[k] = n > 0 ? (uint32_t)n : 1;
	}
}

/* Of a kernel that has a cluster of its own: what the driver says. */
static void find_cluster(struct rt_func *f, uint32_t cluster[3])
{
	const uint64_t now = __atomic_load_n(&attributes_set, __ATOMIC_ACQUIRE);
	uint32_t asked[3] = {0, 0, 0};
	bool known;

	if (f->kernel)
		return;
	pthread_mutex_lock(&rt_lock);
	known = f->cluster_as_of == now;
	memcpy(cluster, known ? f->cluster : asked, sizeof f->cluster);
	pthread_mutex_unlock(&rt_lock);
	if (known)
		return;
	ask_cluster((CUfunction)f->handle, asked);
	memcpy(cluster, asked, sizeof asked);
	pthread_mutex_lock(&rt_lock);
	memcpy(f->cluster, asked, sizeof asked);
	f->cluster_as_of = now;
	pthread_mutex_unlock(&rt_lock);
}

static struct rt_launch *launch_of(const struct rt_issue *i)
{
	struct rt_launch *l = rt_alloc(sizeof *l);

	memcpy(l->grid, i->grid, sizeof l->grid);
	memcpy(l->block, i->block, sizeof l->block);
	memcpy(l->cluster, i->cluster, sizeof l->cluster);
	l->func = i->f;
	l->tables = i->tables;
	l->kernel = i->k;
	l->ctx = i->ctx;
	l->stream = i->stream;
	l->early = i->early;
	l->beside = i->beside;
	if (!l->cluster[0])
		find_cluster(i->f, l->cluster);
	return l;
}

struct region_launch rt_issue_nowhere(void)
{
	return (struct region_launch){.last = REGION_SINK_LAST};
}

struct rt_launch *rt_issue_launch(const struct rt_issue *i, struct region_launch *param, struct rt_missed *missed)
{
	struct rt_launch *l;

	*missed = (struct rt_missed){0};
	*param = rt_issue_nowhere();
	if (!product(i->grid) || !product(i->block) || i->k->flags & MODULE_UNWATCHED || !rt_dev_ready() || !rt_ctx_known(i->ctx))
		return NULL;
	if (!rt_launch_chosen(i->f))
		return NULL;
	missed->any = true;
	if (rt_short())
		return NULL;
	l = launch_of(i);
	missed->why = unsuited(l);
	if (missed->why) {
		rt_free(l);
		return NULL;
	}
	l->deed = i->deed;
	rt_judge_begin(i->ctx);
	rt_judge_add(l);
	find_maps(l, i->params);
	missed->why = prepare(i, l, param);
	if (!missed->why)
		missed->why = rt_judge_ready(l);
	missed->any = missed->why;
	if (!missed->any)
		return l;
	*param = rt_issue_nowhere();
	l->deed = NULL;
	rt_judge_drop(l);
	return NULL;
}

void rt_issue_missed(const struct rt_missed *missed)
{
	if (missed->any)
		rt_judge_unwatched(missed->why);
}

/* ---- parameters ------------------------------------------------------------------------------------------ */

/* One more: in a new array, which is `few` if that will do, or in a copy of the buffer in `extra`. */
struct more {
	struct region_launch param;
	void **params, *few[32], *buffer;
	size_t size;
	void *extra[5];
};

void *rt_param_buffer(void **extra, size_t *size)
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

static void add_to_buffer(struct more *m, const struct module_kernel *k, void **extra)
{
	size_t size;
	void *buffer = rt_param_buffer(extra, &size);

	m->size = k->offset + sizeof m->param;
	m->buffer = rt_alloc(m->size);
	if (buffer)
		memcpy(m->buffer, buffer, size < k->offset ? size : k->offset);
	memcpy((char *)m->buffer + k->offset, &m->param, sizeof m->param);
	m->extra[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
	m->extra[1] = m->buffer;
	m->extra[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
	m->extra[3] = &m->size;
	m->extra[4] = CU_LAUNCH_PARAM_END;
}

static void add_parameter(struct more *m, const struct module_kernel *k, void ***params, void ***extra)
{
	if (!k)
		return;
	if (!*params && *extra) {
		add_to_buffer(m, k, *extra);
		*extra = m->extra;
		return;
	}
	m->params = k->nparams < sizeof m->few / sizeof *m->few ? m->few : rt_alloc((k->nparams + 1) * sizeof *m->params);
	if (*params)
		memcpy(m->params, *params, k->nparams * sizeof *m->params);
	m->params[k->nparams] = &m->param;
	*params = m->params;
}

/* ---- before and behind --------------------------------------------------------------------------------------- */

struct start {
	struct rt_issue i;
	struct rt_missed missed;
	struct more more;
	struct rt_launch *l;
	void **extra;
	enum rt_hook which;
	CUstream s;
	bool captured;
};

static void begin(struct start *t, enum rt_hook which, const void *handle, CUstream s)
{
	struct rt_issue *i = &t->i;

	t->which = which;
	t->s = s;
	t->captured = rt_stream_captured(s);
	t->more.param = rt_issue_nowhere();
	i->ctx = rt_current();
	i->stream = rt_stream_key(which, s);
	i->in_stream = true;
	i->which = which;
	i->s = s;
	i->f = rt_func_of(handle);
	rt_register(i->f);
	i->k = rt_kernel_of(i->f, &i->tables);
	if (!i->early)
		rt_judge_settle(i->ctx, which, s, i->stream);
	if (i->stream)
		rt_order_want();
	i->deed = t->captured ? NULL : rt_deed_put(which, s, DETECT_LAUNCH, NULL);
	if (!i->k || !i->tables || !i->tables->linked->talks)
		rt_deed_deaf(i->deed);
}

static void watch(struct start *t, void ***params, void ***extra)
{
	t->i.params = *params;
	t->extra = *extra;
	if (t->i.k && !t->captured)
		t->l = rt_issue_launch(&t->i, &t->more.param, &t->missed);
	add_parameter(&t->more, t->i.k, params, extra);
}

uint32_t rt_issue_count(struct rt_func *f, CUcontext ctx)
{
	const bool here = rt_dev_ready() && rt_ctx_known(ctx);
	uint32_t nth;

	if (here)
		rt_exit_soon(true);
	pthread_mutex_lock(&rt_lock);
	rt_count_launch(f, here);
	nth = (uint32_t)f->launches;
	if (nth == 1)
		__atomic_store_n(&f->first_issued, rt_now_ms(), __ATOMIC_RELEASE);
	pthread_mutex_unlock(&rt_lock);
	return nth;
}

static CUresult end(struct start *t, CUresult r)
{
	uint32_t nth = 0;

	if (t->more.params != t->more.few)
		rt_free(t->more.params);
	rt_free(t->more.buffer);
	rt_context_noted(r);
	if (r == CUDA_SUCCESS)
		rt_issue_missed(&t->missed);
	if (r == CUDA_SUCCESS && !t->captured)
		nth = rt_issue_count(t->i.f, t->i.ctx);
	if (t->i.deed && r == CUDA_SUCCESS)
		rt_touch_guard_params(t->i.deed, t->i.f, t->i.k, t->i.params, t->extra);
	if (!t->l)
		rt_deed_ready(t->i.deed);
	if (t->l && r != CUDA_SUCCESS)
		rt_judge_drop(t->l);
	else if (t->l)
		rt_judge_issued(t->l, nth, t->which, t->s, !t->i.tables->linked->lets_go);
	return r;
}

CUresult rt_on_launch(enum rt_hook which, CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
		      unsigned int by, unsigned int bz, unsigned int shared, CUstream s, void **params, void **extra)
{
	struct start t = {.i = {.grid = {gx, gy, gz}, .block = {bx, by, bz}}};

	begin(&t, which, f, s);
	watch(&t, &params, &extra);
	return end(&t, REAL(cuLaunchKernel, which)(f, gx, gy, gz, bx, by, bz, shared, s, params, extra));
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
	struct start t = {0};

	if (!c)
		return REAL(cuLaunchKernelEx, which)(c, f, params, extra);
	early = attribute(c, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
	cluster = attribute(c, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
	t.i = (struct rt_issue){.grid = {c->gridDimX, c->gridDimY, c->gridDimZ}, .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
				.early = early && early->programmaticStreamSerializationAllowed};
	if (cluster)
		memcpy(t.i.cluster, &cluster->clusterDim, sizeof t.i.cluster);
	begin(&t, which, f, c->hStream);
	watch(&t, &params, &extra);
	return end(&t, REAL(cuLaunchKernelEx, which)(c, f, params, extra));
}

CUresult rt_on_launch_coop(enum rt_hook which, CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
			   unsigned int by, unsigned int bz, unsigned int shared, CUstream s, void **params)
{
	struct start t = {.i = {.grid = {gx, gy, gz}, .block = {bx, by, bz}}};
	void **none = NULL;

	begin(&t, which, f, s);
	watch(&t, &params, &none);
	return end(&t, REAL(cuLaunchCooperativeKernel, which)(f, gx, gy, gz, bx, by, bz, shared, s, params));
}

/* One kernel for each of several devices, of which at most one is watched: none of them is. */
CUresult rt_on_launch_devices(enum rt_hook which, CUDA_LAUNCH_PARAMS *list, unsigned n, unsigned flags)
{
	CUDA_LAUNCH_PARAMS *ours = rt_alloc((n + 1) * sizeof *ours);
	struct more *more = rt_alloc((n + 1) * sizeof *more);
	void **none = NULL;
	CUresult r;

	for (unsigned i = 0; list && i < n; i++) {
		struct rt_func *f = rt_func_of(list[i].function);
		const struct rt_tables *tables;

		rt_register(f);
		ours[i] = list[i];
		more[i].param = rt_issue_nowhere();
		add_parameter(&more[i], rt_kernel_of(f, &tables), &ours[i].kernelParams, &none);
	}
	r = REAL(CUresult(CUDA_LAUNCH_PARAMS *, unsigned, unsigned), which)(list ? ours : NULL, n, flags);
	for (unsigned i = 0; list && i < n; i++) {
		if (r == CUDA_SUCCESS) {
			rt_issue_count(rt_func_of(list[i].function), rt_current());
			rt_judge_unwatched("it is one of several devices'");
		}
		if (more[i].params != more[i].few)
			rt_free(more[i].params);
	}
	rt_free(more);
	rt_free(ours);
	return r;
}

/* What comes between two launches makes the later one wait for the earlier one. */
void rt_stream_seen(enum rt_hook which, CUstream s)
{
	rt_judge_settle(rt_current(), which, s, rt_stream_key(which, s));
	rt_order_help();
}

/* ---- synchronisation ------------------------------------------------------------------------------------------ */

static void waited(CUresult r, const struct detect_clock *c)
{
	rt_context_noted(r);
	if (r == CUDA_SUCCESS) {
		rt_order_learn(c);
		rt_touch_over();
	}
	rt_tell_idle();
}

CUresult rt_on_ctx_sync(enum rt_hook which)
{
	const struct detect_clock c = rt_order_of_all(rt_current());
	const uint32_t upto = rt_judge_last();
	CUresult r = REAL(CUresult(void), which)();

	if (r == CUDA_SUCCESS)
		rt_judge_over(rt_current(), NULL, upto);
	waited(r, &c);
	return r;
}

CUresult rt_on_ctx_sync_v2(enum rt_hook which, CUcontext ctx)
{
	const struct detect_clock c = rt_order_of_all(ctx ? ctx : rt_current());
	const uint32_t upto = rt_judge_last();
	CUresult r = REAL(CUresult(CUcontext), which)(ctx);

	if (r == CUDA_SUCCESS)
		rt_judge_over(ctx ? ctx : rt_current(), NULL, upto);
	waited(r, &c);
	return r;
}

CUresult rt_on_stream_sync(enum rt_hook which, CUstream s)
{
	const struct detect_clock c = rt_order_of_stream(which, s);
	const uint64_t key = rt_stream_key(which, s);
	const uint32_t upto = rt_judge_last();
	CUresult r = REAL(cuStreamSynchronize, which)(s);

	if (r == CUDA_SUCCESS)
		rt_judge_over(rt_current(), &key, upto);
	waited(r, &c);
	return r;
}

CUresult rt_on_event_sync(enum rt_hook which, CUevent event)
{
	const struct detect_clock c = rt_order_of_event(event);
	CUresult r = REAL(cuEventSynchronize, which)(event);

	waited(r, &c);
	return r;
}

CUresult rt_on_event_query(enum rt_hook which, CUevent event)
{
	const struct detect_clock c = rt_order_of_event(event);
	CUresult r = REAL(cuEventQuery, which)(event);

	if (r == CUDA_SUCCESS) {
		rt_order_learn(&c);
		rt_touch_over();
	}
	return r;
}

/* It is said only when both are over. */
CUresult rt_on_elapsed(enum rt_hook which, float *ms, CUevent first, CUevent last)
{
	const struct detect_clock a = rt_order_of_event(first), b = rt_order_of_event(last);
	CUresult r = REAL(CUresult(float *, CUevent, CUevent), which)(ms, first, last);

	if (r == CUDA_SUCCESS) {
		rt_order_learn(&a);
		rt_order_learn(&b);
		rt_touch_over();
	}
	return r;
}

/* A blocking copy waits for the stream that it is ordered in. */
CUresult rt_on_copy_back(enum rt_hook which, void *to, CUdeviceptr from, size_t n)
{
	const uint64_t key = rt_stream_key(which, NULL);
	const uint32_t upto = rt_judge_last();
	struct rt_seen seen;
	CUresult r;

	if (rt_seen_begin(&seen, which, NULL, "cuMemcpyDtoH"))
		rt_seen_line(&seen, (uintptr_t)to, from, n, RT_BLOCKING);
	r = REAL(CUresult(void *, CUdeviceptr, size_t), which)(to, from, n);
	rt_seen_end_of(&seen, r);
	if (r == CUDA_SUCCESS)
		rt_judge_over(rt_current(), &key, upto);
	waited(r, &seen.clock);
	return r;
}
