/* SPDX-License-Identifier: Apache-2.0
 *
 * graph.c: graphs.  Handles are the driver's.
 */
#include "cudart/cudart.h"

#include <stdint.h>

cudaError_t cudaGraphCreate(cudaGraph_t *out, unsigned flags)
{
	CALL(DRV(cuGraphCreate)(out, flags));
}

cudaError_t cudaGraphDestroy(cudaGraph_t g)
{
	CALL(DRV(cuGraphDestroy)(g));
}

cudaError_t cudaGraphClone(cudaGraph_t *out, cudaGraph_t g)
{
	CALL(DRV(cuGraphClone)(out, g));
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *out, cudaGraphNode_t node, cudaGraph_t g)
{
	CALL(DRV(cuGraphNodeFindInClone)(out, node, g));
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
	CALL(DRV(cuGraphDestroyNode)(node));
}

/* ---- what is in a graph ------------------------------------------------------------------- */

cudaError_t cudaGraphGetNodes(cudaGraph_t g, cudaGraphNode_t *out, size_t *n)
{
	CALL(DRV(cuGraphGetNodes)(g, out, n));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t g, cudaGraphNode_t *out, size_t *n)
{
	CALL(DRV(cuGraphGetRootNodes)(g, out, n));
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *out)
{
	CALL(DRV(cuGraphNodeGetType)(node, (CUgraphNodeType *)out));
}

/* Whether a function that is not _v2 has data of edges. */
static bool has_edges(void)
{
	return crt_version >= 13000;
}

AS(crt_edges, "cudaGraphGetEdges", (cudaGraph_t g, cudaGraphNode_t *from, cudaGraphNode_t *to, void *a, size_t *n))
{
	CALL(DRV(cuGraphGetEdges)(g, from, to, has_edges() ? a : NULL, has_edges() ? n : a));
}

AS(crt_edges_v2, "cudaGraphGetEdges_v2",
   (cudaGraph_t g, cudaGraphNode_t *from, cudaGraphNode_t *to, void *edges, size_t *n))
{
	CALL(DRV(cuGraphGetEdges)(g, from, to, edges, n));
}

#define NODES(id, name, call, with_edges) \
	AS(id, name, (cudaGraphNode_t node, cudaGraphNode_t *out, void *a, size_t *n)) \
	{ \
		const bool edges = with_edges; \
		CALL(DRV(call)(node, out, edges ? a : NULL, edges ? n : a)); \
	}
NODES(crt_before, "cudaGraphNodeGetDependencies", cuGraphNodeGetDependencies, has_edges())
NODES(crt_before_v2, "cudaGraphNodeGetDependencies_v2", cuGraphNodeGetDependencies, true)
NODES(crt_behind, "cudaGraphNodeGetDependentNodes", cuGraphNodeGetDependentNodes, has_edges())
NODES(crt_behind_v2, "cudaGraphNodeGetDependentNodes_v2", cuGraphNodeGetDependentNodes, true)

#define EDGES(id, name, call, with_edges) \
	AS(id, name, (cudaGraph_t g, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t a, size_t b)) \
	{ \
		const bool edges = with_edges; \
		CALL(DRV(call)(g, from, to, edges ? (const void *)a : NULL, edges ? b : a)); \
	}
EDGES(crt_add_edges, "cudaGraphAddDependencies", cuGraphAddDependencies, has_edges())
EDGES(crt_add_edges_v2, "cudaGraphAddDependencies_v2", cuGraphAddDependencies, true)
EDGES(crt_remove_edges, "cudaGraphRemoveDependencies", cuGraphRemoveDependencies, has_edges())
EDGES(crt_remove_edges_v2, "cudaGraphRemoveDependencies_v2", cuGraphRemoveDependencies, true)

/* ---- kernels ---------------------------------------------------------------------------------- */

static cudaError_t kernel_node(const struct cudaKernelNodeParams *p, CUDA_KERNEL_NODE_PARAMS *out)
{
	if (!p)
		return crt_note(cudaErrorInvalidValue);
	*out = (CUDA_KERNEL_NODE_PARAMS){
		.gridDimX = p->gridDim.x, .gridDimY = p->gridDim.y, .gridDimZ = p->gridDim.z,
		.blockDimX = p->blockDim.x, .blockDimY = p->blockDim.y, .blockDimZ = p->blockDim.z,
		.sharedMemBytes = p->sharedMemBytes, .kernelParams = p->kernelParams, .extra = p->extra
	};
	return crt_func_get(p->func, &out->func);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *behind, size_t n,
				   const struct cudaKernelNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS node;
	cudaError_t e = kernel_node(p, &node);

	return e != cudaSuccess ? e : crt_result(DRV(cuGraphAddKernelNode)(out, g, behind, n, &node));
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t at, const struct cudaKernelNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS node;
	cudaError_t e = kernel_node(p, &node);

	return e != cudaSuccess ? e : crt_result(DRV(cuGraphKernelNodeSetParams)(at, &node));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t at, const struct cudaKernelNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS node;
	cudaError_t e = kernel_node(p, &node);

	return e != cudaSuccess ? e : crt_result(DRV(cuGraphExecKernelNodeSetParams)(exec, at, &node));
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t at, struct cudaKernelNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS node;
	cudaError_t e;

	ENTER();
	e = crt_result(DRV(cuGraphKernelNodeGetParams)(at, &node));
	if (e == cudaSuccess)
		*p = (struct cudaKernelNodeParams){
			.func = (void *)(uintptr_t)crt_func_name(node.func),
			.gridDim = {node.gridDimX, node.gridDimY, node.gridDimZ},
			.blockDim = {node.blockDimX, node.blockDimY, node.blockDimZ},
			.sharedMemBytes = node.sharedMemBytes, .kernelParams = node.kernelParams
		};
	return e;
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from)
{
	CALL(DRV(cuGraphKernelNodeCopyAttributes)(to, from));
}

_Static_assert(sizeof(CUlaunchAttributeValue) == sizeof(cudaLaunchAttributeValue), "attributes of nodes");

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t at, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value)
{
	CALL(DRV(cuGraphKernelNodeGetAttribute)(at, (CUlaunchAttributeID)id, (CUlaunchAttributeValue *)(void *)value));
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t at, cudaLaunchAttributeID id,
					    const cudaLaunchAttributeValue *value)
{
	CALL(DRV(cuGraphKernelNodeSetAttribute)(at, (CUlaunchAttributeID)id,
						(const CUlaunchAttributeValue *)(const void *)value));
}

/* ---- copies -------------------------------------------------------------------------------------- */

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *behind, size_t n,
				   const struct cudaMemcpy3DParms *p)
{
	CUDA_MEMCPY3D c;
	cudaError_t e = crt_copy_3d(p, &c);

	return e != cudaSuccess ? e : crt_result(DRV(cuGraphAddMemcpyNode)(out, g, behind, n, &c, NULL));
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t at, const struct cudaMemcpy3DParms *p)
{
	CUDA_MEMCPY3D c;
	cudaError_t e = crt_copy_3d(p, &c);

	return e != cudaSuccess ? e : crt_result(DRV(cuGraphMemcpyNodeSetParams)(at, &c));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t at, const struct cudaMemcpy3DParms *p)
{
	CUDA_MEMCPY3D c;
	cudaError_t e = crt_copy_3d(p, &c);

	return e != cudaSuccess ? e : crt_result(DRV(cuGraphExecMemcpyNodeSetParams)(exec, at, &c, NULL));
}

static struct cudaMemcpy3DParms line(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	return (struct cudaMemcpy3DParms){
		.srcPtr = {(void *)(uintptr_t)from, bytes, bytes, 1}, .dstPtr = {to, bytes, bytes, 1},
		.extent = {bytes, 1, 1}, .kind = kind
	};
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *behind, size_t n,
				     void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	const struct cudaMemcpy3DParms p = line(to, from, bytes, kind);

	return cudaGraphAddMemcpyNode(out, g, behind, n, &p);
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t at, void *to, const void *from, size_t bytes,
					   enum cudaMemcpyKind kind)
{
	const struct cudaMemcpy3DParms p = line(to, from, bytes, kind);

	return cudaGraphMemcpyNodeSetParams(at, &p);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t at, void *to, const void *from,
					       size_t bytes, enum cudaMemcpyKind kind)
{
	const struct cudaMemcpy3DParms p = line(to, from, bytes, kind);

	return cudaGraphExecMemcpyNodeSetParams(exec, at, &p);
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *behind, size_t n,
					   const void *symbol, const void *from, size_t bytes, size_t offset,
					   enum cudaMemcpyKind kind)
{
	CUdeviceptr to = 0;
	cudaError_t e = crt_var_part(symbol, bytes, offset, &to);

	return e != cudaSuccess ? e :
	       cudaGraphAddMemcpyNode1D(out, g, behind, n, (void *)(uintptr_t)to, from, bytes, kind);
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *behind,
					     size_t n, void *to, const void *symbol, size_t bytes, size_t offset,
					     enum cudaMemcpyKind kind)
{
	CUdeviceptr from = 0;
	cudaError_t e = crt_var_part(symbol, bytes, offset, &from);

	return e != cudaSuccess ? e :
	       cudaGraphAddMemcpyNode1D(out, g, behind, n, to, (const void *)(uintptr_t)from, bytes, kind);
}

/* ---- fills ------------------------------------------------------------------------------------------ */

_Static_assert(sizeof(CUDA_MEMSET_NODE_PARAMS) == sizeof(struct cudaMemsetParams), "fills");
#define FILL(p) ((CUDA_MEMSET_NODE_PARAMS *)(uintptr_t)(p))

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *behind, size_t n,
				   const struct cudaMemsetParams *p)
{
	CALL(DRV(cuGraphAddMemsetNode)(out, g, behind, n, FILL(p), NULL));
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t at, const struct cudaMemsetParams *p)
{
	CALL(DRV(cuGraphMemsetNodeSetParams)(at, FILL(p)));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t at, const struct cudaMemsetParams *p)
{
	CALL(DRV(cuGraphExecMemsetNodeSetParams)(exec, at, FILL(p), NULL));
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t at, struct cudaMemsetParams *p)
{
	CALL(DRV(cuGraphMemsetNodeGetParams)(at, FILL(p)));
}

/* ---- the host, events, memory, graphs ------------------------------------------------------------------ */

_Static_assert(sizeof(CUDA_HOST_NODE_PARAMS) == sizeof(struct cudaHostNodeParams), "host nodes");
#define HOST(p) ((CUDA_HOST_NODE_PARAMS *)(uintptr_t)(p))

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *behind, size_t n,
				 const struct cudaHostNodeParams *p)
{
	CALL(DRV(cuGraphAddHostNode)(out, g, behind, n, HOST(p)));
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t at, const struct cudaHostNodeParams *p)
{
	CALL(DRV(cuGraphHostNodeSetParams)(at, HOST(p)));
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t at, struct cudaHostNodeParams *p)
{
	CALL(DRV(cuGraphHostNodeGetParams)(at, HOST(p)));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t at, const struct cudaHostNodeParams *p)
{
	CALL(DRV(cuGraphExecHostNodeSetParams)(exec, at, HOST(p)));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *behind, size_t n)
{
	CALL(DRV(cuGraphAddEmptyNode)(out, g, behind, n));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *behind, size_t n,
				       cudaGraph_t child)
{
	CALL(DRV(cuGraphAddChildGraphNode)(out, g, behind, n, child));
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t at, cudaGraph_t *out)
{
	CALL(DRV(cuGraphChildGraphNodeGetGraph)(at, out));
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t at, cudaGraph_t child)
{
	CALL(DRV(cuGraphExecChildGraphNodeSetParams)(exec, at, child));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *behind, size_t n,
					cudaEvent_t event)
{
	CALL(DRV(cuGraphAddEventRecordNode)(out, g, behind, n, event));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *behind, size_t n,
				      cudaEvent_t event)
{
	CALL(DRV(cuGraphAddEventWaitNode)(out, g, behind, n, event));
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t at, cudaEvent_t event)
{
	CALL(DRV(cuGraphEventRecordNodeSetEvent)(at, event));
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t at, cudaEvent_t event)
{
	CALL(DRV(cuGraphEventWaitNodeSetEvent)(at, event));
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t at, cudaEvent_t event)
{
	CALL(DRV(cuGraphExecEventRecordNodeSetEvent)(exec, at, event));
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t at, cudaEvent_t event)
{
	CALL(DRV(cuGraphExecEventWaitNodeSetEvent)(exec, at, event));
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t at, cudaEvent_t *event)
{
	CALL(DRV(cuGraphEventRecordNodeGetEvent)(at, event));
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t at, cudaEvent_t *event)
{
	CALL(DRV(cuGraphEventWaitNodeGetEvent)(at, event));
}

_Static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == sizeof(struct cudaMemAllocNodeParams), "memory of graphs");

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *behind, size_t n,
				     struct cudaMemAllocNodeParams *p)
{
	CALL(DRV(cuGraphAddMemAllocNode)(out, g, behind, n, (CUDA_MEM_ALLOC_NODE_PARAMS *)(void *)p));
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *behind, size_t n, void *p)
{
	CALL(DRV(cuGraphAddMemFreeNode)(out, g, behind, n, (CUdeviceptr)(uintptr_t)p));
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t at, void *out)
{
	CALL(DRV(cuGraphMemFreeNodeGetParams)(at, out));
}

/* ---- instances -------------------------------------------------------------------------------------------- */

/* CUDA 11: flags are zero, and the node that an error is of, and its text, are asked for. */
AS(crt_instantiate, "cudaGraphInstantiate", (cudaGraphExec_t *out, cudaGraph_t g, void *a, char *text, size_t bytes))
{
	if (crt_version >= 12000)
		CALL(DRV(cuGraphInstantiate)(out, g, (uintptr_t)a));
	if (a)
		*(CUgraphNode *)a = NULL;
	if (text && bytes)
		*text = 0;
	CALL(DRV(cuGraphInstantiate)(out, g, 0));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t g, unsigned long long flags)
{
	CALL(DRV(cuGraphInstantiate)(out, g, flags));
}

_Static_assert(sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) == sizeof(cudaGraphInstantiateParams), "instances");

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *out, cudaGraph_t g, cudaGraphInstantiateParams *p)
{
	CALL(DRV(cuGraphInstantiateWithParams)(out, g, (CUDA_GRAPH_INSTANTIATE_PARAMS *)(void *)p));
}

cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t *, cudaGraph_t, cudaGraphInstantiateParams *);
cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t *out, cudaGraph_t g, cudaGraphInstantiateParams *p)
{
	return cudaGraphInstantiateWithParams(out, g, p);
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
	cuuint64_t value = 0;
	cudaError_t e;

	ENTER();
	e = crt_result(DRV(cuGraphExecGetFlags)(exec, &value));
	*flags = value;
	return e;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
	CALL(DRV(cuGraphExecDestroy)(exec));
}

/* CUDA 11: the node that it failed for, and the result. */
AS(crt_exec_update, "cudaGraphExecUpdate", (cudaGraphExec_t exec, cudaGraph_t g, void *a, int *result))
{
	CUgraphExecUpdateResultInfo info = {0};
	cudaError_t e;

	if (crt_version >= 12000)
		CALL(DRV(cuGraphExecUpdate)(exec, g, a));
	ENTER();
	e = crt_result(DRV(cuGraphExecUpdate)(exec, g, &info));
	if (a)
		*(CUgraphNode *)a = info.errorNode;
	if (result)
		*result = (int)info.result;
	return e;
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t at, unsigned enabled)
{
	CALL(DRV(cuGraphNodeSetEnabled)(exec, at, enabled));
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t at, unsigned *enabled)
{
	CALL(DRV(cuGraphNodeGetEnabled)(exec, at, enabled));
}

WITH_STREAM(cudaGraphLaunch, _ptsz, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream),
{
	CALL(DRV(cuGraphLaunch)(exec, stream));
})

WITH_STREAM(cudaGraphUpload, _ptsz, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream),
{
	CALL(DRV(cuGraphUpload)(exec, stream));
})
