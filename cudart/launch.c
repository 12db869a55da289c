/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.c: launches, and what is asked of kernels.
 */
#include "cudart/cudart.h"

#include <string.h>

/* ---- <<<grid, block, shared, stream>>>, which nvcc's code pushes and its stub pops -------- */

struct configuration {
	dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
};

#define DEPTH 16
static _Thread_local struct configuration pushed[DEPTH];
static _Thread_local unsigned depth;

unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, struct CUstream_st *);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream)
{
	if (depth == DEPTH)
		return crt_note(cudaErrorMemoryAllocation);     /* the stub is not called */
	pushed[depth++] = (struct configuration){grid, block, shared, stream};
	return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
	const struct configuration *c;

	if (!depth)
		return crt_note(cudaErrorMissingConfiguration);
	c = &pushed[--depth];
	*grid = c->grid;
	*block = c->block;
	*shared = c->shared;
	memcpy(stream, &c->stream, sizeof c->stream);
	return cudaSuccess;
}

/* ---- launches ------------------------------------------------------------------------------ */

/* What the runtime refuses as a configuration, and the driver as a value.  From CUDA 13 on the runtime leaves it to the driver:
 * a block of 2,048 threads is an invalid argument (H100, CUDA 13.0). */
static bool is_bad(const dim3 *grid, const dim3 *block)
{
	if (crt_version >= 13000)
		return false;
	return !grid->x || !grid->y || !grid->z || !block->x || !block->y || !block->z || grid->x > 0x7fffffff ||
	       grid->y > 65535 || grid->z > 65535 || block->x > 1024 || block->y > 1024 || block->z > 64 ||
	       (size_t)block->x * block->y * block->z > 1024;
}

static cudaError_t launch(const struct configuration *c, const void *host, void **args, bool cooperative)
{
	CUfunction f;
	cudaError_t e = crt_func_get(host, &f);

	if (e != cudaSuccess)
		return e;
	if (is_bad(&c->grid, &c->block))
		return crt_note(cudaErrorInvalidConfiguration);
	if (cooperative)
		return crt_result(DRV(cuLaunchCooperativeKernel)(f, c->grid.x, c->grid.y, c->grid.z, c->block.x,
								 c->block.y, c->block.z, (unsigned)c->shared,
								 c->stream, args));
	return crt_result(DRV(cuLaunchKernel)(f, c->grid.x, c->grid.y, c->grid.z, c->block.x, c->block.y, c->block.z,
					      (unsigned)c->shared, c->stream, args, NULL));
}

WITH_STREAM(cudaLaunchKernel, _ptsz,
	    (const void *f, dim3 grid, dim3 block, void **a, size_t shared, cudaStream_t stream),
	    (f, grid, block, a, shared, stream),
{
	return launch(&(struct configuration){grid, block, shared, stream}, f, a, false);
})

WITH_STREAM(__cudaLaunchKernel, _ptsz,
	    (cudaKernel_t f, dim3 grid, dim3 block, void **a, size_t shared, cudaStream_t stream),
	    (f, grid, block, a, shared, stream),
{
	return launch(&(struct configuration){grid, block, shared, stream}, f, a, false);
})

WITH_STREAM(cudaLaunchCooperativeKernel, _ptsz,
	    (const void *f, dim3 grid, dim3 block, void **a, size_t shared, cudaStream_t stream),
	    (f, grid, block, a, shared, stream),
{
	return launch(&(struct configuration){grid, block, shared, stream}, f, a, true);
})

_Static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute), "attributes of launches");

/* A launch as the driver describes it; its attributes are the driver's, under other names. */
static cudaError_t config_of(const cudaLaunchConfig_t *c, const void *host, CUlaunchConfig *out, CUfunction *f)
{
	if (!c)
		return crt_note(cudaErrorInvalidValue);
	*out = (CUlaunchConfig){
		.gridDimX = c->gridDim.x, .gridDimY = c->gridDim.y, .gridDimZ = c->gridDim.z,
		.blockDimX = c->blockDim.x, .blockDimY = c->blockDim.y, .blockDimZ = c->blockDim.z,
		.sharedMemBytes = (unsigned)c->dynamicSmemBytes, .hStream = c->stream,
		.attrs = (CUlaunchAttribute *)(void *)c->attrs, .numAttrs = c->numAttrs
	};
	return crt_func_get(host, f);
}

static cudaError_t launch_ex(const cudaLaunchConfig_t *c, const void *host, void **args, cudaStream_t if_none)
{
	CUlaunchConfig config;
	CUfunction f;
	cudaError_t e = config_of(c, host, &config, &f);

	if (e != cudaSuccess)
		return e;
	if (is_bad(&c->gridDim, &c->blockDim))
		return crt_note(cudaErrorInvalidConfiguration);
	config.hStream = c->stream ? c->stream : if_none;
	return crt_result(DRV(cuLaunchKernelEx)(&config, f, args, NULL));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *host, void **args)
{
	return launch_ex(c, host, args, NULL);
}

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *, const void *, void **);
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *c, const void *host, void **args)
{
	return launch_ex(c, host, args, cudaStreamPerThread);
}

WITH_STREAM(cudaLaunchHostFunc, _ptsz, (cudaStream_t stream, cudaHostFn_t fn, void *arg), (stream, fn, arg),
{
	CALL(DRV(cuLaunchHostFunc)(stream, fn, arg));
})

/* ---- functions -------------------------------------------------------------------------------- */

static cudaError_t attribute(CUfunction f, CUfunction_attribute a, int *value)
{
	return crt_result(DRV(cuFuncGetAttribute)(value, a, f));
}

/* The fields from clusterDimMustBeSet on came with CUDA 12. */
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *host)
{
	int shared = 0, constant = 0, local = 0;
	CUfunction f;
	cudaError_t e;

	if (!out)
		return crt_note(cudaErrorInvalidValue);
	e = crt_func_get(host, &f);
	if (e != cudaSuccess)
		return e;
	if (attribute(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &shared) ||
	    attribute(f, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &constant) ||
	    attribute(f, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &local) ||
	    attribute(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &out->maxThreadsPerBlock) ||
	    attribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS, &out->numRegs) ||
	    attribute(f, CU_FUNC_ATTRIBUTE_PTX_VERSION, &out->ptxVersion) ||
	    attribute(f, CU_FUNC_ATTRIBUTE_BINARY_VERSION, &out->binaryVersion) ||
	    attribute(f, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, &out->cacheModeCA) ||
	    attribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &out->maxDynamicSharedSizeBytes) ||
	    attribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, &out->preferredShmemCarveout))
		return cudaPeekAtLastError();
	out->sharedSizeBytes = (size_t)shared;
	out->constSizeBytes = (size_t)constant;
	out->localSizeBytes = (size_t)local;
	if (crt_version < 12000)
		return cudaSuccess;
	if (attribute(f, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, &out->clusterDimMustBeSet) ||
	    attribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, &out->requiredClusterWidth) ||
	    attribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, &out->requiredClusterHeight) ||
	    attribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, &out->requiredClusterDepth) ||
	    attribute(f, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, &out->clusterSchedulingPolicyPreference) ||
	    attribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, &out->nonPortableClusterSizeAllowed))
		return cudaPeekAtLastError();
	return cudaSuccess;
}

/* The attributes have the driver's numbers. */
cudaError_t cudaFuncSetAttribute(const void *host, enum cudaFuncAttribute a, int value)
{
	CUfunction f;
	cudaError_t e = crt_func_get(host, &f);

	return e != cudaSuccess ? e : crt_result(DRV(cuFuncSetAttribute)(f, (CUfunction_attribute)a, value));
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute a, int value, int device)
{
	return device ? crt_note(cudaErrorInvalidDevice) : cudaFuncSetAttribute(kernel, a, value);
}

/* Hints, which have no effect. */
cudaError_t cudaFuncSetCacheConfig(const void *host, enum cudaFuncCache config)
{
	CUfunction f;

	(void)config;
	return crt_func_get(host, &f);
}

cudaError_t cudaFuncSetSharedMemConfig(const void *host, enum cudaSharedMemConfig config)
{
	(void)config;
	return cudaFuncSetCacheConfig(host, cudaFuncCachePreferNone);
}

/* ---- occupancy ---------------------------------------------------------------------------------- */

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *host, int threads, size_t shared,
								   unsigned flags)
{
	CUfunction f;
	cudaError_t e = crt_func_get(host, &f);

	return e != cudaSuccess ? e :
	       crt_result(DRV(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(n, f, threads, shared, flags));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *host, int threads, size_t shared)
{
	return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(n, host, threads, shared, 0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int blocks, int threads)
{
	CUfunction f;
	cudaError_t e = crt_func_get(host, &f);

	return e != cudaSuccess ? e : crt_result(DRV(cuOccupancyAvailableDynamicSMemPerBlock)(bytes, f, blocks, threads));
}

cudaError_t cudaOccupancyMaxActiveClusters(int *n, const void *host, const cudaLaunchConfig_t *c)
{
	CUlaunchConfig config;
	CUfunction f;
	cudaError_t e = config_of(c, host, &config, &f);

	return e != cudaSuccess ? e : crt_result(DRV(cuOccupancyMaxActiveClusters)(n, f, &config));
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *n, const void *host, const cudaLaunchConfig_t *c)
{
	CUlaunchConfig config;
	CUfunction f;
	cudaError_t e = config_of(c, host, &config, &f);

	return e != cudaSuccess ? e : crt_result(DRV(cuOccupancyMaxPotentialClusterSize)(n, f, &config));
}
