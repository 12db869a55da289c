/* SPDX-License-Identifier: Apache-2.0
 *
 * fake_stream.c: a part of the pretended driver: streams, events, and how kernels are put into streams.
 */
#include <stdlib.h>
#include <string.h>

#include "testsuite/rt/fake_impl.h"

enum { DEEP = 1024 };                   /* kernels in a stream, as a driver has room for so many */

struct event { struct stream *stream; uint64_t at; };

/* One for all; and something has come to a stream, or has gone. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static struct stream *streams;

static CUresult sick(const struct stream *s)
{
	return __atomic_load_n(&s->ctx->sick, __ATOMIC_ACQUIRE);
}

/* ---- streams ------------------------------------------------------------------------------------------ */

/* With lock.  null: the context's null stream. */
static struct stream *add(struct context *ctx)
{
	struct stream *s = calloc(1, sizeof *s);

	s->ctx = ctx;
	s->last = &s->first;
	s->next = streams;
	streams = s;
	return s;
}

static struct stream *null_stream(void)
{
	static struct { struct context *ctx; struct stream *s; } null[64];
	struct context *ctx = fake_current();
	struct stream *s = NULL;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < sizeof null / sizeof *null && !s; i++) {
		if (!null[i].s) {
			null[i].ctx = ctx;
			null[i].s = add(ctx);
		}
		if (null[i].ctx == ctx)
			s = null[i].s;
	}
	pthread_mutex_unlock(&lock);
	return s;
}

struct stream *fake_stream(CUstream stream)
{
	struct stream *s = (uintptr_t)stream <= 2 ? null_stream() : (struct stream *)(void *)stream;

	if (!s || s->ctx->ended)
		fake_misused("a stream of a context that has ended");
	return s;
}

API CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	(void)flags;
	if (fake_state() != CUDA_SUCCESS)
		return fake_state();
	if (fake_fails("cuStreamCreate"))
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&lock);
	*stream = (CUstream)(void *)add(fake_current());
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

API CUresult cuStreamGetFlags(CUstream stream, unsigned int *flags)
{
	fake_stream(stream);
	*flags = CU_STREAM_DEFAULT;
	return fake_state();
}

/* What is in it runs first, and its thread goes on waiting. */
API CUresult cuStreamDestroy_v2(CUstream stream)
{
	return fake_state() == CUDA_SUCCESS ? fake_wait(fake_stream(stream)) : fake_state();
}

/* ---- kernels in streams --------------------------------------------------------------------------------- */

static void *run(void *arg)
{
	struct stream *s = arg;

	pthread_mutex_lock(&lock);
	for (;;) {
		struct launch *l = s->first;

		if (!l) {
			pthread_cond_wait(&moved, &lock);
			continue;
		}
		s->first = l->next;
		if (!s->first)
			s->last = &s->first;
		pthread_mutex_unlock(&lock);
		if (!sick(s))
			fake_run(l);
		free(l);
		pthread_mutex_lock(&lock);
		s->done++;
		pthread_cond_broadcast(&moved);
	}
	return NULL;
}

CUresult fake_issue(struct stream *s, const struct launch *from)
{
	struct launch *l;

	if (s->captured)
		return fake_capture(s->captured, from);
	l = memcpy(malloc(sizeof *l), from, sizeof *l);
	l->next = NULL;
	pthread_mutex_lock(&lock);
	while (s->issued - s->done >= DEEP)
		pthread_cond_wait(&moved, &lock);
	*s->last = l;
	s->last = &l->next;
	s->issued++;
	if (!s->runs)
		s->runs = !pthread_create(&s->thread, NULL, run, s);
	pthread_cond_broadcast(&moved);
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

/* ---- waiting: of what hangs in a context that has died nothing is left -------------------------------------- */

CUresult fake_wait(const struct stream *s)
{
	pthread_mutex_lock(&lock);
	while (s->done < s->issued)
		pthread_cond_wait(&moved, &lock);
	pthread_mutex_unlock(&lock);
	return fake_state();
}

void fake_wait_all(const struct context *ctx)
{
	pthread_mutex_lock(&lock);
	for (const struct stream *s = streams; s; s = s->next)
		while (s->ctx == ctx && s->done < s->issued)
			pthread_cond_wait(&moved, &lock);
	pthread_mutex_unlock(&lock);
}

static bool is_done(const struct stream *s, uint64_t upto)
{
	bool done;

	pthread_mutex_lock(&lock);
	done = s->done >= upto;
	pthread_mutex_unlock(&lock);
	return done;
}

API CUresult cuStreamSynchronize(CUstream stream)
{
	return fake_state() == CUDA_SUCCESS ? fake_wait(fake_stream(stream)) : fake_state();
}

API CUresult cuStreamQuery(CUstream stream)
{
	const struct stream *s;

	if (fake_state() != CUDA_SUCCESS)
		return fake_state();
	s = fake_stream(stream);
	return is_done(s, s->issued) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

API CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	(void)flags;
	if (fake_fails("cuEventCreate"))
		return CUDA_ERROR_OUT_OF_MEMORY;
	*event = (CUevent)calloc(1, sizeof(struct event));
	return fake_state();
}

API CUresult cuEventDestroy_v2(CUevent event)
{
	free(event);
	return fake_state();
}

API CUresult cuEventRecord(CUevent event, CUstream stream)
{
	struct event *e = (struct event *)(void *)event;

	if (fake_fails("cuEventRecord"))
		return CUDA_ERROR_INVALID_HANDLE;
	if (fake_state() != CUDA_SUCCESS)
		return fake_state();
	e->stream = fake_stream(stream);
	pthread_mutex_lock(&lock);
	e->at = e->stream->issued;
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

/* Nothing but a stream's own kernels takes time, and whoever waits for another stream's waits here. */
API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
	(void)flags;
	fake_stream(stream);
	return cuEventSynchronize(event);
}

API CUresult cuEventQuery(CUevent event)
{
	const struct event *e = (const struct event *)(void *)event;

	if (e->stream && e->stream->ctx->ended)
		fake_misused("an event of a context that has ended");
	if (fake_state() != CUDA_SUCCESS)
		return fake_state();
	return !e->stream || is_done(e->stream, e->at) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

API CUresult cuEventSynchronize(CUevent event)
{
	CUresult r;

	while ((r = cuEventQuery(event)) == CUDA_ERROR_NOT_READY) {
		pthread_mutex_lock(&lock);
		pthread_cond_wait(&moved, &lock);
		pthread_mutex_unlock(&lock);
	}
	return r;
}

/* ---- capture ----------------------------------------------------------------------------------------------------- */

API CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
	CUgraph graph;

	(void)mode;
	cuGraphCreate(&graph, 0);
	fake_stream(stream)->captured = (struct graph *)(void *)graph;
	return fake_state();
}

API CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	struct stream *s = fake_stream(stream);

	*graph = (CUgraph)(void *)s->captured;
	s->captured = NULL;
	return fake_state();
}

API CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	*status = fake_stream(stream)->captured ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
	return fake_state();
}
