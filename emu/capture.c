/* SPDX-License-Identifier: Apache-2.0
 *
 * capture.c: streams whose commands become nodes of a graph instead of being carried out.
 * A stream joins a capture by waiting for an event that was recorded in a stream of it,
 * and all have to come back to the first one before it ends (CUDA C++ Programming Guide,
 * "Creating a Graph Using Stream Capture").  A mode says which calls outside the capture, as
 * of cuMemAlloc, are errors meanwhile: here none is, since none would disturb it.
 */
#include <stdlib.h>

#include "emu/graph.h"

struct emu_capture {
	struct CUgraph_st *graph;
	struct CUstream_st *first;
	uint64_t id;
	bool broken;                    /* something was done that cannot be captured */
	bool given;                     /* the graph is the program's */
	unsigned users;                 /* streams and events */
};

static _Thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

static void drop(struct emu_capture **p)
{
	struct emu_capture *c = *p;

	*p = NULL;
	if (!c || --c->users)
		return;
	if (!c->given)
		emu_graph_free(c->graph);
	free(c);
}

void emu_capture_forget(struct CUevent_st *e)
{
	drop(&e->capture);
	emu_nodes_drop(&e->last);
}

void emu_capture_leave(struct CUstream_st *s)
{
	drop(&s->capture);
	emu_nodes_drop(&s->last);
}

static CUresult state(const struct emu_capture *c)
{
	return c->broken ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

CUresult emu_capture_refuse(struct CUstream_st *s)
{
	if (s->capture) {
		s->capture->broken = true;
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	if (s != s->ctx->null)
		return CUDA_SUCCESS;
	for (struct CUstream_st *t = s->ctx->streams; t; t = t->next) {
		if (!t->capture || t->flags & CU_STREAM_NON_BLOCKING)
			continue;
		t->capture->broken = true;
		return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	}
	return CUDA_SUCCESS;
}

/* A node behind what the stream's last commands were. */
static struct CUgraphNode_st *capture(struct CUstream_st *s, CUgraphNodeType type, struct emu_cmd *c)
{
	struct CUgraphNode_st *node = emu_node_new(s->capture->graph, type, &s->last, c);

	emu_nodes_set(&s->last, &(struct emu_nodes){&node, 1});
	return node;
}

CUresult emu_capture_cmd(struct emu_cmd *c)
{
	struct CUstream_st *s = c->stream;
	CUresult r = state(s->capture);

	if (r != CUDA_SUCCESS) {
		emu_cmd_free(c);
		return r;
	}
	c->stream = NULL;
	capture(s, emu_node_type(c), c);
	return CUDA_SUCCESS;
}

CUresult emu_capture_memory(struct CUstream_st *s, bool alloc, CUdeviceptr p, size_t bytes)
{
	CUresult r = state(s->capture);
	struct CUgraphNode_st *node;

	if (r != CUDA_SUCCESS)
		return r;
	node = capture(s, alloc ? CU_GRAPH_NODE_TYPE_MEM_ALLOC : CU_GRAPH_NODE_TYPE_MEM_FREE, NULL);
	node->memory = p;
	node->bytes = bytes;
	return CUDA_SUCCESS;
}

CUresult emu_capture_record(struct CUevent_st *e, struct CUstream_st *s)
{
	CUresult r = state(s->capture);

	if (r != CUDA_SUCCESS)
		return r;
	emu_capture_forget(e);
	e->capture = s->capture;
	e->capture->users++;
	emu_nodes_set(&e->last, &s->last);
	return CUDA_SUCCESS;
}

CUresult emu_capture_wait(struct CUstream_st *s, struct CUevent_st *e)
{
	CUresult r = e->capture ? state(e->capture) : CUDA_SUCCESS;

	if (r != CUDA_SUCCESS)
		return r;
	if (s == s->ctx->null)
		return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	if (!e->capture || (s->capture && s->capture != e->capture)) {
		s->capture->broken = true;
		return e->capture ? CUDA_ERROR_STREAM_CAPTURE_MERGE : CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
	}
	if (!s->capture) {
		s->capture = e->capture;
		s->capture->users++;
	}
	emu_nodes_add(&s->last, &e->last);
	return CUDA_SUCCESS;
}

/* ---- the API ------------------------------------------------------------------------- */

static bool is_mode(CUstreamCaptureMode mode)
{
	return (unsigned)mode <= CU_STREAM_CAPTURE_MODE_RELAXED;
}

EMU_API CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	CUstreamCaptureMode old = thread_mode;

	if (!mode || !is_mode(*mode))
		return CUDA_ERROR_INVALID_VALUE;
	thread_mode = *mode;
	*mode = old;
	return CUDA_SUCCESS;
}

static CUresult begin(CUstream h, CUgraph g, const struct emu_nodes *behind)
{
	ENTER(ctx);
	static uint64_t count;
	struct CUstream_st *s = emu_stream_of(ctx, h);

	if (!s)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	if (s == ctx->null)
		LEAVE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	if (s->capture)
		LEAVE(CUDA_ERROR_ILLEGAL_STATE);
	s->capture = calloc(1, sizeof *s->capture);
	if (!s->capture)
		abort();
	*s->capture = (struct emu_capture){
		.graph = g ? g : emu_graph_new(), .given = g != NULL, .first = s, .id = ++count, .users = 1
	};
	emu_nodes_set(&s->last, behind);
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuStreamBeginCapture_v2(CUstream h, CUstreamCaptureMode mode)
{
	return is_mode(mode) ? begin(h, NULL, &(struct emu_nodes){0}) : CUDA_ERROR_INVALID_VALUE;
}

EMU_API CUresult CUDAAPI cuStreamBeginCaptureToGraph(CUstream h, CUgraph g, const CUgraphNode *behind,
						     const CUgraphEdgeData *edges, size_t n,
						     CUstreamCaptureMode mode)
{
	struct emu_nodes nodes;
	CUresult r;

	if (!g || !emu_nodes_are_in(g, behind, n) || !is_mode(mode))
		return CUDA_ERROR_INVALID_VALUE;
	if (!emu_edges_are_plain(edges, n))
		return CUDA_ERROR_NOT_SUPPORTED;
	nodes = emu_nodes_of(behind, n);
	r = begin(h, g, &nodes);
	emu_nodes_drop(&nodes);
	return r;
}

/* All that other streams have done comes before what the first one has done last. */
static bool is_joined(const struct emu_capture *c)
{
	for (struct CUstream_st *t = c->first->ctx->streams; t; t = t->next)
		for (size_t i = 0; t->capture == c && t != c->first && i < t->last.n; i++)
			if (!emu_nodes_reach(&c->first->last, t->last.node[i]))
				return false;
	return true;
}

EMU_API CUresult CUDAAPI cuStreamEndCapture(CUstream h, CUgraph *out)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);
	struct emu_capture *c;
	CUresult r;

	if (!s || !out)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*out = NULL;
	c = s->capture;
	if (!c)
		LEAVE(CUDA_ERROR_ILLEGAL_STATE);
	if (c->first != s)
		LEAVE(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
	r = state(c);
	if (r == CUDA_SUCCESS && !is_joined(c))
		r = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
	if (r == CUDA_SUCCESS) {
		*out = c->graph;
		c->given = true;
	}
	c->broken = true;
	c->users++;
	for (struct CUstream_st *t = ctx->streams; t; t = t->next)
		if (t->capture == c)
			emu_capture_leave(t);
	drop(&c);
	LEAVE(r);
}

static CUstreamCaptureStatus status_of(const struct CUstream_st *s)
{
	return !s->capture ? CU_STREAM_CAPTURE_STATUS_NONE :
	       state(s->capture) == CUDA_SUCCESS ? CU_STREAM_CAPTURE_STATUS_ACTIVE :
	       CU_STREAM_CAPTURE_STATUS_INVALIDATED;
}

EMU_API CUresult CUDAAPI cuStreamIsCapturing(CUstream h, CUstreamCaptureStatus *status)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);

	if (!s || !status)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	*status = status_of(s);
	LEAVE(CUDA_SUCCESS);
}

/* The nodes stay the stream's own. */
EMU_API CUresult CUDAAPI cuStreamGetCaptureInfo_v2(CUstream h, CUstreamCaptureStatus *status, cuuint64_t *id,
						   CUgraph *graph, const CUgraphNode **last, size_t *n)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);

	if (!s || !status)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*status = status_of(s);
	if (*status == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
		if (id)
			*id = s->capture->id;
		if (graph)
			*graph = s->capture->graph;
		if (last)
			*last = s->last.node;
		if (n)
			*n = s->last.n;
	}
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuStreamGetCaptureInfo_v3(CUstream h, CUstreamCaptureStatus *status, cuuint64_t *id,
						   CUgraph *graph, const CUgraphNode **last,
						   const CUgraphEdgeData **edges, size_t *n)
{
	if (edges)
		*edges = NULL;
	return cuStreamGetCaptureInfo_v2(h, status, id, graph, last, n);
}

EMU_API CUresult CUDAAPI cuStreamUpdateCaptureDependencies(CUstream h, CUgraphNode *node, size_t n, unsigned flags)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);
	struct emu_nodes nodes;

	if (!s || flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	if (status_of(s) != CU_STREAM_CAPTURE_STATUS_ACTIVE)
		LEAVE(CUDA_ERROR_ILLEGAL_STATE);
	if (!emu_nodes_are_in(s->capture->graph, node, n))
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	nodes = emu_nodes_of(node, n);
	if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
		emu_nodes_set(&s->last, &nodes);
	else
		emu_nodes_add(&s->last, &nodes);
	emu_nodes_drop(&nodes);
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuStreamUpdateCaptureDependencies_v2(CUstream h, CUgraphNode *node, const CUgraphEdgeData *edges,
							      size_t n, unsigned flags)
{
	return emu_edges_are_plain(edges, n) ? cuStreamUpdateCaptureDependencies(h, node, n, flags) :
	       CUDA_ERROR_NOT_SUPPORTED;
}
