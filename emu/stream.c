/* SPDX-License-Identifier: Apache-2.0
 *
 * stream.c: streams, events, and the engine: one thread that takes commands from
 * the streams as their order allows and carries them out.
 *
 * An idle engine starts when the host waits for something, or a moment after the
 * last command came: launches that a program makes one after the other are then
 * all there when the first one runs, and their interleaving depends on the seed
 * and not on how fast the host was.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "emu/api.h"
#include "emu/listen.h"

#define IDLE_NS 20000000L       /* how long the engine waits for more commands */

pthread_mutex_t emu_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;  /* for the engine */
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;  /* for hosts that wait */
static bool kicked;
static uint64_t next_seq, next_stream;
static unsigned pending;        /* commands in all streams */

struct CUctx_st *emu_contexts;

/* ---- who listens ------------------------------------------------------------------------ */

/* Something comes into the stream (NULL: or may, into any): a launch, or NULL. */
static void tell_next(const struct CUstream_st *s, struct emu_grid *g)
{
	struct emu_tell_launch l = {.grid = g, .stream = s};

	if (emu_listening)
		emu_tell(&(struct emu_tell){.kind = TELL_STREAM, .u.launch = &l});
}

/* ---- streams ------------------------------------------------------------------------ */

struct CUstream_st *emu_stream_new(struct CUctx_st *ctx, unsigned flags, int priority)
{
	struct CUstream_st *s = calloc(1, sizeof *s);

	if (!s)
		abort();
	s->ctx = ctx;
	s->flags = flags;
	s->priority = priority;
	s->id = ++next_stream;
	s->tail = &s->head;
	s->next = ctx->streams;
	ctx->streams = s;
	return s;
}

struct CUstream_st *emu_stream_of(struct CUctx_st *ctx, CUstream h)
{
	if (!h || h == CU_STREAM_LEGACY)
		return ctx->null;
	if (h == CU_STREAM_PER_THREAD)
		return ctx->per_thread;
	for (struct CUstream_st *s = ctx->streams; s; s = s->next)
		if (s == h && !s->doomed)
			return s;
	return NULL;
}

static void stream_reap(struct CUstream_st *s)
{
	struct CUstream_st **p;

	if (!s->doomed || s->head)
		return;
	emu_capture_leave(s);
	tell_next(s, NULL);
	for (p = &s->ctx->streams; *p != s; p = &(*p)->next)
		;
	*p = s->next;
	free(s);
}

/* ---- commands --------------------------------------------------------------------------- */

struct emu_cmd *emu_cmd_new(enum emu_cmd_kind kind, struct CUstream_st *s)
{
	struct emu_cmd *c = calloc(1, sizeof *c);

	if (!c)
		abort();
	c->kind = kind;
	c->stream = s;
	return c;
}

/* What waits for a legacy stream's commands, or makes them wait, see may_start. */
static bool meet(const struct CUstream_st *s, const struct CUstream_st *t)
{
	return s == t || (!((s->flags | t->flags) & CU_STREAM_NON_BLOCKING) && s->ctx == t->ctx &&
			  (s == s->ctx->null || t == s->ctx->null));
}

void emu_cmd_put(struct emu_cmd *c)
{
	tell_next(c->stream, c->kind == CMD_LAUNCH ? c->u.grid : NULL);
	for (struct CUstream_st *s = c->stream->ctx->streams; s; s = s->next)
		if (meet(s, c->stream))
			tell_next(s, NULL);
	c->seq = ++next_seq;
	*c->stream->tail = c;
	c->stream->tail = &c->next;
	pending++;
	atomic_store(&emu_m.attention, true);
	pthread_cond_signal(&work);
}

CUresult emu_cmd_submit(struct emu_cmd *c)
{
	CUresult r;

	if (c->stream->capture)
		return emu_capture_cmd(c);
	r = emu_capture_refuse(c->stream);
	if (r != CUDA_SUCCESS)
		emu_cmd_free(c);
	else
		emu_cmd_put(c);
	return r;
}

static void event_free(struct CUevent_st *e)
{
	emu_capture_forget(e);
	free(e);
}

static void event_release(struct CUevent_st *e)
{
	if (!--e->users && e->doomed)
		event_free(e);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

void emu_cmd_free(struct emu_cmd *c)
{
	switch (c->kind) {
	case CMD_LAUNCH:
		emu_grid_free(c->u.grid);
		break;
	case CMD_COPY:
		free(c->u.copy.staged);
		break;
	case CMD_RECORD:
	case CMD_WAIT:
		event_release(c->u.event.event);
		break;
	case CMD_FREE:
	case CMD_SET:
	case CMD_HOST:
		break;
	}
	free(c);
}

struct emu_cmd *emu_cmd_again(const struct emu_cmd *c, struct CUstream_st *s)
{
	struct emu_cmd *n = emu_cmd_new(c->kind, s);

	n->u = c->u;
	if (c->kind == CMD_LAUNCH) {
		n->u.grid = emu_grid_again(c->u.grid);
	} else if (c->kind == CMD_RECORD || c->kind == CMD_WAIT) {
		n->u.event.event->users++;
		n->u.event.number = n->u.event.event->recorded += c->kind == CMD_RECORD;
	}
	return n;
}

const void *emu_grid_stream(const struct emu_grid *g)
{
	return g->owner ? ((const struct emu_cmd *)g->owner)->stream : NULL;
}

/* Takes a command off its stream, done or dropped. */
static void cmd_end(struct emu_cmd *c)
{
	struct CUstream_st *s = c->stream;

	if (c->kind == CMD_RECORD) {
		c->u.event.event->when = now_ms();
	} else if (c->kind == CMD_FREE) {
		emu_mem_delete(c->u.free, MEM_DEVICE);
		emu_mem_freed_in(c->u.free, s);
	}
	s->head = c->next;
	if (!s->head)
		s->tail = &s->head;
	emu_cmd_free(c);
	pending--;
	stream_reap(s);
	pthread_cond_broadcast(&done);
}

/* Is that recording of the event over?  A later one, in another stream, may be before it is. */
static bool is_reached(const struct CUevent_st *e, uint64_t number)
{
	for (const struct CUctx_st *ctx = emu_contexts; ctx; ctx = ctx->next)
		for (const struct CUstream_st *s = ctx->streams; s; s = s->next)
			for (const struct emu_cmd *c = s->head; c; c = c->next)
				if (c->kind == CMD_RECORD && c->u.event.event == e && c->u.event.number == number)
					return false;
	return true;
}

/* CUDA C++ Programming Guide, "Default Stream": commands of the legacy stream wait
 * for all earlier ones of blocking streams, and later ones of those for it. */
static bool may_start(const struct emu_cmd *c)
{
	const struct CUstream_st *s = c->stream;
	const struct CUctx_st *ctx = s->ctx;

	if (c->running)
		return false;
	if (c->kind == CMD_WAIT && !is_reached(c->u.event.event, c->u.event.number))
		return false;
	if (s->flags & CU_STREAM_NON_BLOCKING)
		return true;
	if (s != ctx->null)
		return !ctx->null->head || ctx->null->head->seq > c->seq;
	for (const struct CUstream_st *t = ctx->streams; t; t = t->next)
		if (t != s && !(t->flags & CU_STREAM_NON_BLOCKING) && t->head &&
		    t->head->seq < c->seq)
			return false;
	return true;
}

static void do_copy(const struct emu_copy *c)
{
	for (uint64_t i = 0; i < c->height * c->depth; i++) {
		const uint64_t y = i % c->height, z = i / c->height;
		void *to = (void *)(c->dst + y * c->dst_pitch + z * c->dst_slice);

		memmove(emu_view((uintptr_t)to), emu_view(c->src + y * c->src_pitch + z * c->src_slice), c->width);
		emu_tell_host_wrote(to, c->width);
	}
}

/* The memory behind whole pages is given back, which leaves zeros: where it is shared with a file (emu/vmm.c), or the
 * device's alone. */
static bool give_pages_back(uint8_t *p, size_t bytes)
{
	const CUdeviceptr at = (CUdeviceptr)(uintptr_t)p;
	struct emu_block_mem b;

	if (!madvise(p, bytes, MADV_REMOVE))
		return true;
	return emu_mem_find(at, &b) && b.kind == MEM_DEVICE && at + bytes <= b.base + b.bytes && !madvise(p, bytes, MADV_DONTNEED);
}

/* Large memory need not be touched to be zero. */
static void set_bytes(uint8_t *p, int value, size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t first = -(uintptr_t)p & (page - 1);
	size_t whole = n < first ? 0 : (n - first) & ~(page - 1);

	if (value || whole < 1 << 20 || !give_pages_back(p + first, whole)) {
		memset(p, value, n);
		return;
	}
	memset(p, 0, first);
	memset(p + first + whole, 0, n - first - whole);
}

static void do_set(const CUDA_MEMSET_NODE_PARAMS *c)
{
	for (uint64_t y = 0; y < c->height; y++) {
		uint8_t *p = emu_view(c->dst + y * c->pitch);

		emu_tell_host_wrote((void *)(c->dst + y * c->pitch), c->width * c->elementSize);
		if (c->elementSize == 1 || !c->value) {
			set_bytes(p, (uint8_t)c->value, c->width * c->elementSize);
			continue;
		}
		for (uint64_t i = 0; i < c->width; i++)
			memcpy(p + i * c->elementSize, &c->value, c->elementSize);
	}
}

/* A launch that was allowed to start early does, when every block of the one before it
 * has let it.  They end in the order of the stream. */
static struct emu_cmd *next_in(struct CUstream_st *s)
{
	struct emu_cmd *c = s->head;

	while (c && c->running && c->kind == CMD_LAUNCH && c->next &&
	       c->next->kind == CMD_LAUNCH && c->next->u.grid->pdl &&
	       c->u.grid->triggered == c->u.grid->nblocks) {
		if (!c->next->running)
			c->next->u.grid->after = c->over ? NULL : c->u.grid;
		c = c->next;
	}
	return c;
}

static void grid_end(struct emu_cmd *c)
{
	struct CUstream_st *s = c->stream;
	struct emu_cmd *then = c->next;

	if (emu_listening)
		emu_tell(&(struct emu_tell){.kind = TELL_LAUNCH_END, .u.launch = &(struct emu_tell_launch){
			.grid = c->u.grid, .stream = then ? NULL : s,
			.then = then && then->kind == CMD_LAUNCH && !then->over ? then->u.grid : NULL
		}});
	c->over = true;
	while (s->head && s->head->over) {
		struct emu_cmd *n = s->head->next;
		bool last = s->doomed && !n;

		if (n && n->kind == CMD_LAUNCH)
			n->u.grid->after = NULL;
		cmd_end(s->head);
		if (last)
			return;
	}
}

/* This thread is the device's, and runs no function of the program's. */
static _Thread_local bool device_thread;

EMU_API int gsanEmuDeviceThread(void);
EMU_API int gsanEmuDeviceThread(void)
{
	return device_thread;
}

/* The program's own code. */
static void call_host(const struct emu_cmd *c)
{
	device_thread = false;
	if (c->u.host.callback)
		c->u.host.callback(c->stream, CUDA_SUCCESS, c->u.host.arg);
	else
		c->u.host.fn(c->u.host.arg);
	device_thread = true;
}

/* Everything but a kernel is carried out at once. */
static void start(struct emu_cmd *c)
{
	c->running = true;
	if (c->kind == CMD_LAUNCH) {
		c->u.grid->owner = c;
		emu_grid_start(c->u.grid);
		return;
	}
	pthread_mutex_unlock(&emu_lock);
	if (c->kind == CMD_COPY)
		do_copy(&c->u.copy.shape);
	else if (c->kind == CMD_SET)
		do_set(&c->u.set);
	else if (c->kind == CMD_HOST)
		call_host(c);
	pthread_mutex_lock(&emu_lock);
	cmd_end(c);
}

/* The command that came first among those that may start. */
static struct emu_cmd *next_cmd(void)
{
	struct emu_cmd *best = NULL, *c;

	for (struct CUctx_st *ctx = emu_contexts; ctx; ctx = ctx->next)
		for (struct CUstream_st *s = ctx->streams; s; s = s->next)
			if ((c = next_in(s)) && may_start(c) && (!best || c->seq < best->seq))
				best = c;
	return best;
}

/* ---- the engine ---------------------------------------------------------------------------- */

/* A kernel failed: its context and all that was running are lost. */
static void fail(void)
{
	struct emu_grid *g = emu_machine_abandon();
	CUresult why = emu_m.fault;

	emu_m.fault = CUDA_SUCCESS;
	for (; g; g = g->next)
		((struct emu_cmd *)g->owner)->stream->ctx->error = why;
	for (struct CUctx_st *ctx = emu_contexts; ctx; ctx = ctx->next) {
		if (emu_m.fatal)
			ctx->error = why;
		if (!ctx->error)
			continue;
		for (struct CUstream_st *s = ctx->streams, *n; s; s = n) {
			bool last = false;

			n = s->next;
			while (s->head && !last) {
				last = s->doomed && !s->head->next;
				cmd_end(s->head);
			}
		}
	}
	pthread_cond_broadcast(&done);
}

static void wait_for_more(void)
{
	struct timespec until;
	unsigned seen;

	if (kicked)
		return;
	do {
		seen = pending;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += IDLE_NS;
		if (until.tv_nsec >= 1000000000L) {
			until.tv_nsec -= 1000000000L;
			until.tv_sec++;
		}
		while (!kicked && seen == pending &&
		       pthread_cond_timedwait(&work, &emu_lock, &until) != ETIMEDOUT)
			;
	} while (!kicked && seen != pending);
}

static void *engine(void *arg)
{
	(void)arg;
	device_thread = true;
	pthread_mutex_lock(&emu_lock);
	for (;;) {
		struct emu_cmd *c;
		struct emu_grid *g;

		atomic_store(&emu_m.attention, false);
		if (!pending) {
			kicked = false;
			pthread_cond_wait(&work, &emu_lock);
			continue;
		}
		if (!emu_m.grids)
			wait_for_more();
		while ((c = next_cmd()))
			start(c);
		if (!emu_m.grids) {
			/* All that is left waits for an event that nobody has recorded. */
			if (pending)
				pthread_cond_wait(&work, &emu_lock);
			continue;
		}
		pthread_mutex_unlock(&emu_lock);
		g = emu_run();
		pthread_mutex_lock(&emu_lock);
		if (emu_m.fault)
			fail();
		else if (g)
			grid_end(g->owner);
	}
	return NULL;
}

void emu_engine_start(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, engine, NULL))
		abort();
	pthread_detach(t);
}

/* ---- waiting -------------------------------------------------------------------------------- */

static void wait_a_bit(void)
{
	kicked = true;
	pthread_cond_signal(&work);
	pthread_cond_wait(&done, &emu_lock);
}

/* Until the stream has no command up to that one. */
static CUresult wait_until(struct CUstream_st *s, uint64_t last)
{
	struct CUctx_st *ctx = s->ctx;

	while (!ctx->error && s->head && s->head->seq <= last)
		wait_a_bit();
	tell_next(s, NULL);
	emu_print_flush();
	return ctx->error;
}

CUresult emu_wait_stream(struct CUstream_st *s)
{
	CUresult r = emu_capture_refuse(s);

	return r == CUDA_SUCCESS ? wait_until(s, next_seq) : r;
}

bool emu_ctx_idle(const struct CUctx_st *ctx)
{
	for (const struct CUstream_st *s = ctx->streams; s; s = s->next)
		if (s->head)
			return false;
	return true;
}

CUresult emu_wait_ctx(struct CUctx_st *ctx)
{
	while (!ctx->error && !emu_ctx_idle(ctx))
		wait_a_bit();
	tell_next(NULL, NULL);
	emu_print_flush();
	return ctx->error;
}

CUresult emu_cmd_do(struct emu_cmd *c)
{
	struct CUstream_st *s = c->stream;
	CUresult r = emu_capture_refuse(s);

	if (r != CUDA_SUCCESS) {
		emu_cmd_free(c);
		return r;
	}
	emu_cmd_put(c);
	return wait_until(s, c->seq);
}

void emu_ctx_drop_streams(struct CUctx_st *ctx)
{
	while (ctx->streams) {
		ctx->streams->doomed = true;
		stream_reap(ctx->streams);
	}
}

/* ---- the API: streams --------------------------------------------------------------------------- */

EMU_API CUresult CUDAAPI cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority)
{
	ENTER(ctx);
	if (!out || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING))
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*out = emu_stream_new(ctx, flags, priority);
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuStreamCreate(CUstream *out, unsigned flags)
{
	return cuStreamCreateWithPriority(out, flags, 0);
}

EMU_API CUresult CUDAAPI cuStreamDestroy_v2(CUstream h)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);

	if (!s || s == ctx->null || s == ctx->per_thread)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	s->doomed = true;
	stream_reap(s);
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuStreamSynchronize(CUstream h)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);

	LEAVE(s ? emu_wait_stream(s) : CUDA_ERROR_INVALID_HANDLE);
}

EMU_API CUresult CUDAAPI cuStreamQuery(CUstream h)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);

	if (!s)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	if (s->capture)
		LEAVE(emu_capture_refuse(s));
	if (!s->head)
		tell_next(s, NULL);
	kicked = true;
	pthread_cond_signal(&work);
	LEAVE(s->head ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuStreamGetCtx(CUstream h, CUcontext *out)
{
	ENTER(ctx);
	if (!emu_stream_of(ctx, h))
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	*out = ctx;
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuStreamGetFlags(CUstream h, unsigned *flags)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);

	if (!s)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	*flags = s->flags;
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuStreamGetPriority(CUstream h, int *priority)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);

	if (!s)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	*priority = s->priority;
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuStreamGetId(CUstream h, unsigned long long *id)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);

	if (!s)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	*id = s->id;
	LEAVE(CUDA_SUCCESS);
}

static CUresult put_host(CUstream h, CUhostFn fn, CUstreamCallback callback, void *arg)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);
	struct emu_cmd *c;

	if (!s || (!fn && !callback))
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	c = emu_cmd_new(CMD_HOST, s);
	c->u.host.fn = fn;
	c->u.host.callback = callback;
	c->u.host.arg = arg;
	LEAVE(emu_cmd_submit(c));
}

EMU_API CUresult CUDAAPI cuLaunchHostFunc(CUstream h, CUhostFn fn, void *arg)
{
	return put_host(h, fn, NULL, arg);
}

EMU_API CUresult CUDAAPI cuStreamAddCallback(CUstream h, CUstreamCallback callback, void *arg,
					     unsigned flags)
{
	return flags ? CUDA_ERROR_INVALID_VALUE : put_host(h, NULL, callback, arg);
}

/* ---- the API: events ---------------------------------------------------------------------------- */

EMU_API CUresult CUDAAPI cuEventCreate(CUevent *out, unsigned flags)
{
	ENTER(ctx);
	if (!out)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*out = calloc(1, sizeof **out);
	if (!*out)
		LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
	(*out)->ctx = ctx;
	(*out)->flags = flags;
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuEventDestroy_v2(CUevent e)
{
	ENTER(ctx);
	if (!e)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	e->doomed = true;
	if (!e->users)
		event_free(e);
	LEAVE(CUDA_SUCCESS);
}

static CUresult record(CUevent e, CUstream h, unsigned flags)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);
	struct emu_cmd *c;

	if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	if (!e || !s)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	if (s->capture && !flags)
		LEAVE(emu_capture_record(e, s));
	emu_capture_forget(e);
	c = emu_cmd_new(CMD_RECORD, s);
	c->u.event.event = e;
	c->u.event.number = s->capture ? e->recorded : ++e->recorded;
	e->users++;
	LEAVE(emu_cmd_submit(c));
}

EMU_API CUresult CUDAAPI cuEventRecord(CUevent e, CUstream h)
{
	return record(e, h, 0);
}

EMU_API CUresult CUDAAPI cuEventRecordWithFlags(CUevent e, CUstream h, unsigned flags)
{
	return record(e, h, flags);
}

EMU_API CUresult CUDAAPI cuStreamWaitEvent(CUstream h, CUevent e, unsigned flags)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);
	struct emu_cmd *c;

	if (flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	if (!e || !s)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	if (!flags && (s->capture || e->capture))
		LEAVE(emu_capture_wait(s, e));
	if (is_reached(e, e->recorded) && !s->capture)
		LEAVE(CUDA_SUCCESS);
	c = emu_cmd_new(CMD_WAIT, s);
	c->u.event.event = e;
	c->u.event.number = e->recorded;
	e->users++;
	LEAVE(emu_cmd_submit(c));
}

EMU_API CUresult CUDAAPI cuEventSynchronize(CUevent e)
{
	ENTER(ctx);
	uint64_t number;

	if (!e)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	if (e->capture)
		LEAVE(CUDA_ERROR_CAPTURED_EVENT);
	number = e->recorded;
	while (!ctx->error && !is_reached(e, number))
		wait_a_bit();
	emu_print_flush();
	LEAVE(ctx->error);
}

EMU_API CUresult CUDAAPI cuEventQuery(CUevent e)
{
	ENTER(ctx);
	if (!e)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	if (e->capture)
		LEAVE(CUDA_ERROR_CAPTURED_EVENT);
	kicked = true;
	pthread_cond_signal(&work);
	LEAVE(is_reached(e, e->recorded) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY);
}

EMU_API CUresult CUDAAPI cuEventElapsedTime_v2(float *ms, CUevent a, CUevent b)
{
	ENTER(ctx);
	if (!ms || !a || !b || (a->flags | b->flags) & CU_EVENT_DISABLE_TIMING ||
	    !a->recorded || !b->recorded)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	if (!is_reached(a, a->recorded) || !is_reached(b, b->recorded))
		LEAVE(CUDA_ERROR_NOT_READY);
	*ms = (float)(b->when - a->when);
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuEventElapsedTime(float *ms, CUevent a, CUevent b)
{
	return cuEventElapsedTime_v2(ms, a, b);
}
