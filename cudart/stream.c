/* SPDX-License-Identifier: Apache-2.0
 *
 * stream.c: streams, events and the capture of streams.
 */
#include "cudart/cudart.h"

#include <string.h>

/* There is such a stream. */
static cudaError_t check(cudaStream_t stream)
{
	unsigned flags;

	CALL(DRV(cuStreamGetFlags)(stream, &flags));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
{
	CALL(DRV(cuStreamCreateWithPriority)(out, flags, priority));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
	return cudaStreamCreateWithPriority(out, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t *out)
{
	return cudaStreamCreateWithPriority(out, 0, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	CALL(DRV(cuStreamDestroy)(stream));
}

#define ONE_STREAM(name, call) \
	WITH_STREAM(name, _ptsz, (cudaStream_t stream), (stream), { CALL(DRV(call)(stream)); })
ONE_STREAM(cudaStreamSynchronize, cuStreamSynchronize)
ONE_STREAM(cudaStreamQuery, cuStreamQuery)

#define ASK_STREAM(name, call, type) \
	WITH_STREAM(name, _ptsz, (cudaStream_t stream, type *out), (stream, out), { CALL(DRV(call)(stream, out)); })
ASK_STREAM(cudaStreamGetFlags, cuStreamGetFlags, unsigned)
ASK_STREAM(cudaStreamGetPriority, cuStreamGetPriority, int)
ASK_STREAM(cudaStreamGetId, cuStreamGetId, unsigned long long)

WITH_STREAM(cudaStreamGetDevice, _ptsz, (cudaStream_t stream, int *device), (stream, device),
{
	cudaError_t e = check(stream);

	return e != cudaSuccess ? e : cudaGetDevice(device);
})

WITH_STREAM(cudaStreamWaitEvent, _ptsz, (cudaStream_t stream, cudaEvent_t event, unsigned flags), (stream, event, flags),
{
	CALL(DRV(cuStreamWaitEvent)(stream, event, flags));
})

WITH_STREAM(cudaStreamAddCallback, _ptsz,
	    (cudaStream_t stream, cudaStreamCallback_t fn, void *arg, unsigned flags), (stream, fn, arg, flags),
{
	CUstreamCallback theirs;

	memcpy(&theirs, &fn, sizeof theirs);    /* the errors have the same numbers */
	CALL(DRV(cuStreamAddCallback)(stream, theirs, arg, flags));
})

/* What says how a stream's launches would be fast has no effect, and is not kept. */
static bool is_hint(cudaLaunchAttributeID a)
{
	return a == cudaLaunchAttributeAccessPolicyWindow || a == cudaLaunchAttributeSynchronizationPolicy ||
	       a == cudaLaunchAttributeMemSyncDomain || a == cudaLaunchAttributeMemSyncDomainMap;
}

WITH_STREAM(cudaStreamSetAttribute, _ptsz,
	    (cudaStream_t stream, cudaLaunchAttributeID a, const cudaLaunchAttributeValue *value), (stream, a, value),
{
	if (!value)
		return crt_note(cudaErrorInvalidValue);
	if (!is_hint(a))
		return crt_refuse("such attribute of streams (cudaStreamSetAttribute)");
	return check(stream);
})

WITH_STREAM(cudaStreamGetAttribute, _ptsz,
	    (cudaStream_t stream, cudaLaunchAttributeID a, cudaLaunchAttributeValue *value), (stream, a, value),
{
	if (!value)
		return crt_note(cudaErrorInvalidValue);
	if (a != cudaLaunchAttributePriority)
		return crt_refuse("other attribute of streams than the priority (cudaStreamGetAttribute)");
	CALL(DRV(cuStreamGetPriority)(stream, &value->priority));
})

/* There are none to be copied. */
cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t, cudaStream_t);
cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t to, cudaStream_t from)
{
	cudaError_t e = check(to);

	return e != cudaSuccess ? e : check(from);
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
	return cudaStreamCopyAttributes_ptsz(to, from);
}

/* ---- events ---------------------------------------------------------------------------- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
	CALL(DRV(cuEventCreate)(out, flags));
}

cudaError_t cudaEventCreate(cudaEvent_t *out)
{
	return cudaEventCreateWithFlags(out, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	CALL(DRV(cuEventDestroy)(event));
}

WITH_STREAM(cudaEventRecordWithFlags, _ptsz, (cudaEvent_t event, cudaStream_t stream, unsigned flags),
	    (event, stream, flags),
{
	CALL(DRV(cuEventRecordWithFlags)(event, stream, flags));
})

WITH_STREAM(cudaEventRecord, _ptsz, (cudaEvent_t event, cudaStream_t stream), (event, stream),
{
	return cudaEventRecordWithFlags(event, stream, 0);
})

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	CALL(DRV(cuEventSynchronize)(event));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	CALL(DRV(cuEventQuery)(event));
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
	CALL(DRV(cuEventElapsedTime)(ms, from, to));
}

cudaError_t cudaEventElapsedTime_v2(float *, cudaEvent_t, cudaEvent_t);
cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t from, cudaEvent_t to)
{
	return cudaEventElapsedTime(ms, from, to);
}

/* ---- capture ----------------------------------------------------------------------------- */

WITH_STREAM(cudaStreamBeginCapture, _ptsz, (cudaStream_t stream, enum cudaStreamCaptureMode mode), (stream, mode),
{
	CALL(DRV(cuStreamBeginCapture)(stream, (CUstreamCaptureMode)mode));
})

WITH_STREAM(cudaStreamBeginCaptureToGraph, _ptsz,
	    (cudaStream_t stream, cudaGraph_t g, const cudaGraphNode_t *behind, const cudaGraphEdgeData *edges, size_t n,
	     enum cudaStreamCaptureMode mode),
	    (stream, g, behind, edges, n, mode),
{
	CALL(DRV(cuStreamBeginCaptureToGraph)(stream, g, behind, (const CUgraphEdgeData *)(const void *)edges, n,
					      (CUstreamCaptureMode)mode));
})

WITH_STREAM(cudaStreamEndCapture, _ptsz, (cudaStream_t stream, cudaGraph_t *g), (stream, g),
{
	CALL(DRV(cuStreamEndCapture)(stream, g));
})

WITH_STREAM(cudaStreamIsCapturing, _ptsz, (cudaStream_t stream, enum cudaStreamCaptureStatus *status), (stream, status),
{
	CALL(DRV(cuStreamIsCapturing)(stream, (CUstreamCaptureStatus *)status));
})

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
	CALL(DRV(cuThreadExchangeStreamCaptureMode)((CUstreamCaptureMode *)mode));
}

static cudaError_t capture_info(cudaStream_t s, enum cudaStreamCaptureStatus *status, unsigned long long *id,
				cudaGraph_t *g, const cudaGraphNode_t **last, size_t *n)
{
	cuuint64_t number = 0;
	cudaError_t e;

	ENTER();
	e = crt_result(DRV(cuStreamGetCaptureInfo)(s, (CUstreamCaptureStatus *)status, &number, g, last, NULL, n));
	if (id)
		*id = number;
	return e;
}

WITH_STREAM(cudaStreamGetCaptureInfo_v2, _ptsz,
	    (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *g,
	     const cudaGraphNode_t **last, size_t *n),
	    (stream, status, id, g, last, n),
{
	return capture_info(stream, status, id, g, last, n);
})

WITH_STREAM(cudaStreamGetCaptureInfo_v3, _ptsz,
	    (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *g,
	     const cudaGraphNode_t **last, const cudaGraphEdgeData **edges, size_t *n),
	    (stream, status, id, g, last, edges, n),
{
	if (edges)
		*edges = NULL;
	return capture_info(stream, status, id, g, last, n);
})

/* CUDA 11 knows two arguments behind the stream; 13 has the one of 12 that is _v3. */
WITH_STREAM(cudaStreamGetCaptureInfo, _ptsz,
	    (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *g,
	     const cudaGraphNode_t **last, const cudaGraphEdgeData **edges, size_t *n),
	    (stream, status, id, g, last, edges, n),
{
	return crt_version < 13000 ? capture_info(stream, status, id, NULL, NULL, NULL) :
	       cudaStreamGetCaptureInfo_v3(stream, status, id, g, last, edges, n);
})

/* CUDA 13 has data of edges in front of the number, as _v2 of 12. */
static cudaError_t update(cudaStream_t s, cudaGraphNode_t *nodes, const void *edges, size_t n, unsigned flags)
{
	CALL(DRV(cuStreamUpdateCaptureDependencies)(s, nodes, edges, n, flags));
}

#define UPDATE(id, name, per_thread, with_edges) \
	AS(id, name, (cudaStream_t s, cudaGraphNode_t *nodes, size_t a, size_t b, unsigned c)) \
	{ \
		s = s || !(per_thread) ? s : cudaStreamPerThread; \
		return with_edges ? update(s, nodes, (const void *)a, b, c) : update(s, nodes, NULL, a, (unsigned)b); \
	}
UPDATE(crt_update, "cudaStreamUpdateCaptureDependencies", false, crt_version >= 13000)
UPDATE(crt_update_ptsz, "cudaStreamUpdateCaptureDependencies_ptsz", true, crt_version >= 13000)
UPDATE(crt_update_v2, "cudaStreamUpdateCaptureDependencies_v2", false, true)
UPDATE(crt_update_v2_ptsz, "cudaStreamUpdateCaptureDependencies_v2_ptsz", true, true)
