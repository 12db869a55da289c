/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.c: the driver API's launches and occupancy.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/api.h"

struct launch {
	struct emu_func *f;
	const uint32_t *grid, *block;
	uint32_t cluster[3];
	bool explicit_cluster, cooperative, pdl;
	uint64_t smem;
	CUstream stream;
	void **params, **extra;
};

static CUresult check_block(const struct launch *l)
{
	const unsigned *req = l->f->ptx->reqntid, *max = l->f->ptx->maxntid;
	uint64_t threads = 1;

	for (unsigned i = 0; i < 3; i++) {
		if (!l->grid[i] || !l->block[i])
			return CUDA_ERROR_INVALID_VALUE;
		threads *= l->block[i];
	}
	if (l->grid[0] > 0x7fffffff || l->grid[1] > 65535 || l->grid[2] > 65535 ||
	    l->block[0] > 1024 || l->block[1] > 1024 || l->block[2] > 64 || threads > 1024)
		return CUDA_ERROR_INVALID_VALUE;
	if (max[0] && threads > (uint64_t)max[0] * (max[1] ? max[1] : 1) * (max[2] ? max[2] : 1))
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; req[0] && i < 3; i++)
		if (l->block[i] != (req[i] ? req[i] : 1))
			return CUDA_ERROR_INVALID_VALUE;
	if (l->smem > (uint64_t)emu_func_max_dynamic(l->f))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static CUresult check_cluster(struct launch *l)
{
	uint64_t n = 1;

	for (unsigned i = 0; i < 3; i++) {
		uint32_t need = l->f->cluster[i] ? (uint32_t)l->f->cluster[i] :
				l->f->ptx->cluster[i];

		if (need && l->explicit_cluster && l->cluster[i] && l->cluster[i] != need)
			return CUDA_ERROR_INVALID_CLUSTER_SIZE;
		if (need) {
			l->cluster[i] = need;
			l->explicit_cluster = true;
		}
		if (!l->cluster[i])
			l->cluster[i] = 1;
		if (l->grid[i] % l->cluster[i])
			return CUDA_ERROR_INVALID_CLUSTER_SIZE;
		n *= l->cluster[i];
	}
	if (n > (l->f->nonportable_cluster ? 16u : 8u))
		return CUDA_ERROR_INVALID_CLUSTER_SIZE;
	return CUDA_SUCCESS;
}

/* The parameters as the kernel will see them. */
static CUresult pack(const struct launch *l, uint8_t *to)
{
	const struct emu_func *f = l->f;

	if (l->extra) {
		const void *from = NULL;
		size_t bytes = 0;

		for (void **e = l->extra; *e != CU_LAUNCH_PARAM_END; e += 2) {
			if (*e == CU_LAUNCH_PARAM_BUFFER_POINTER)
				from = e[1];
			else if (*e == CU_LAUNCH_PARAM_BUFFER_SIZE)
				bytes = *(const size_t *)e[1];
			else
				return CUDA_ERROR_INVALID_VALUE;
		}
		if (l->params || bytes > f->param_bytes)
			return CUDA_ERROR_INVALID_VALUE;
		memcpy(to, from, bytes);
		return CUDA_SUCCESS;
	}
	if (f->nparams && !l->params)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < f->nparams; i++)
		memcpy(to + f->params[i].row, l->params[i], f->params[i].bytes);
	return CUDA_SUCCESS;
}

#define WORKSPACE 64u           /* grid_group's: its size and a barrier; the rest is zero */

/* What a cooperative launch needs lies behind the parameters. */
static uint64_t workspace_at(const struct emu_grid *g)
{
	return (g->func->param_bytes + 15) & ~UINT64_C(15);
}

static void make_cooperative(struct emu_grid *g)
{
	g->cooperative = true;
	g->workspace = g->params + workspace_at(g);
	memset((void *)(uintptr_t)g->workspace, 0, WORKSPACE);
}

static bool make_room(struct emu_grid *g)
{
	g->params = emu_mem_new(workspace_at(g) + WORKSPACE, MEM_PARAMS, 0);
	if (g->params && g->cooperative)
		make_cooperative(g);
	return g->params != 0;
}

CUresult emu_grid_set(struct emu_grid *g, CUlaunchAttributeID id, const CUlaunchAttributeValue *v)
{
	switch ((int)id) {
	case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
		g->cooperative = false;
		g->workspace = 0;
		if (v->cooperative)
			make_cooperative(g);
		return CUDA_SUCCESS;
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
		g->cluster[0] = v->clusterDim.x;
		g->cluster[1] = v->clusterDim.y;
		g->cluster[2] = v->clusterDim.z;
		g->explicit_cluster = true;
		return emu_grid_check(g);
	case CU_LAUNCH_ATTRIBUTE_PRIORITY:
	case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult emu_grid_get(const struct emu_grid *g, CUlaunchAttributeID id, CUlaunchAttributeValue *v)
{
	memset(v, 0, sizeof *v);
	if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
		v->cooperative = g->cooperative;
	} else if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
		v->clusterDim.x = g->cluster[0];
		v->clusterDim.y = g->cluster[1];
		v->clusterDim.z = g->cluster[2];
	} else if (id != CU_LAUNCH_ATTRIBUTE_PRIORITY && id != CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW) {
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	return CUDA_SUCCESS;
}

void emu_grid_like(struct emu_grid *g, const struct emu_grid *of)
{
	g->pdl = of->pdl;
	if (of->cooperative && !g->cooperative)
		make_cooperative(g);
	if (of->explicit_cluster && !g->explicit_cluster) {
		memcpy(g->cluster, of->cluster, sizeof g->cluster);
		g->explicit_cluster = true;
	}
}

static CUresult make_grid(const struct launch *l, struct emu_grid **out)
{
	struct emu_grid *g = calloc(1, sizeof *g);
	CUresult r;

	if (!g)
		abort();
	g->func = l->f;
	memcpy(g->dim, l->grid, sizeof g->dim);
	memcpy(g->block, l->block, sizeof g->block);
	memcpy(g->cluster, l->cluster, sizeof g->cluster);
	g->nblocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
	g->explicit_cluster = l->explicit_cluster;
	g->cooperative = l->cooperative;
	g->pdl = l->pdl;
	g->smem_dynamic = l->smem;
	r = make_room(g) ? emu_grid_check(g) : CUDA_ERROR_OUT_OF_MEMORY;
	if (r == CUDA_SUCCESS)
		r = pack(l, (uint8_t *)(uintptr_t)g->params);
	if (r != CUDA_SUCCESS)
		emu_grid_free(g);
	*out = g;
	return r;
}

CUresult emu_launch_cmd(const CUDA_KERNEL_NODE_PARAMS_v2 *p, struct emu_cmd **out)
{
	const uint32_t grid[3] = {p->gridDimX, p->gridDimY, p->gridDimZ};
	const uint32_t block[3] = {p->blockDimX, p->blockDimY, p->blockDimZ};
	struct launch l = {
		.grid = grid, .block = block, .smem = p->sharedMemBytes, .params = p->kernelParams, .extra = p->extra,
		.f = emu_func_handle(p->func ? p->func : (CUfunction)(void *)p->kern)
	};
	struct emu_grid *g;
	CUresult r;

	if (!l.f || !l.f->entry)
		return CUDA_ERROR_INVALID_HANDLE;
	r = check_block(&l);
	if (r == CUDA_SUCCESS)
		r = check_cluster(&l);
	if (r == CUDA_SUCCESS)
		r = make_grid(&l, &g);
	if (r == CUDA_SUCCESS) {
		*out = emu_cmd_new(CMD_LAUNCH, NULL);
		(*out)->u.grid = g;
	}
	return r;
}

struct emu_grid *emu_grid_again(const struct emu_grid *of)
{
	struct emu_grid *g = calloc(1, sizeof *g);

	if (!g)
		abort();
	g->func = of->func;
	memcpy(g->dim, of->dim, sizeof g->dim);
	memcpy(g->block, of->block, sizeof g->block);
	memcpy(g->cluster, of->cluster, sizeof g->cluster);
	g->nblocks = of->nblocks;
	g->explicit_cluster = of->explicit_cluster;
	g->cooperative = of->cooperative;
	g->pdl = of->pdl;
	g->smem_dynamic = of->smem_dynamic;
	if (!make_room(g))
		abort();
	memcpy((void *)(uintptr_t)g->params, (const void *)(uintptr_t)of->params, g->func->param_bytes);
	return g;
}

static CUresult launch(struct launch *l, CUfunction h)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, l->stream);
	struct emu_grid *g;
	struct emu_cmd *c;
	CUresult r;

	l->f = emu_func_handle(h);
	if (!l->f || !l->f->entry || !s)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	r = check_block(l);
	if (r == CUDA_SUCCESS)
		r = check_cluster(l);
	if (r != CUDA_SUCCESS)
		LEAVE(r);
	r = make_grid(l, &g);
	if (r != CUDA_SUCCESS)
		LEAVE(r);
	c = emu_cmd_new(CMD_LAUNCH, s);
	c->u.grid = g;
	LEAVE(emu_cmd_submit(c));
}

EMU_API CUresult CUDAAPI cuLaunchKernel(CUfunction h, unsigned gx, unsigned gy, unsigned gz,
					unsigned bx, unsigned by, unsigned bz, unsigned smem,
					CUstream stream, void **params, void **extra)
{
	const uint32_t grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
	struct launch l = {
		.grid = grid, .block = block, .smem = smem, .stream = stream, .params = params,
		.extra = extra
	};

	return launch(&l, h);
}

EMU_API CUresult CUDAAPI cuLaunchCooperativeKernel(CUfunction h, unsigned gx, unsigned gy,
						   unsigned gz, unsigned bx, unsigned by,
						   unsigned bz, unsigned smem, CUstream stream,
						   void **params)
{
	const uint32_t grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
	struct launch l = {
		.grid = grid, .block = block, .smem = smem, .stream = stream, .params = params,
		.cooperative = true
	};

	return launch(&l, h);
}

EMU_API CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction h, void **params,
					  void **extra)
{
	struct launch l = {.params = params, .extra = extra};
	uint32_t grid[3], block[3];

	if (!config)
		return CUDA_ERROR_INVALID_VALUE;
	grid[0] = config->gridDimX;
	grid[1] = config->gridDimY;
	grid[2] = config->gridDimZ;
	block[0] = config->blockDimX;
	block[1] = config->blockDimY;
	block[2] = config->blockDimZ;
	l.grid = grid;
	l.block = block;
	l.smem = config->sharedMemBytes;
	l.stream = config->hStream;
	for (unsigned i = 0; i < config->numAttrs; i++) {
		const CUlaunchAttributeValue *v = &config->attrs[i].value;

		switch ((int)config->attrs[i].id) {
		case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
			l.cooperative = v->cooperative;
			break;
		case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
			l.cluster[0] = v->clusterDim.x;
			l.cluster[1] = v->clusterDim.y;
			l.cluster[2] = v->clusterDim.z;
			l.explicit_cluster = true;
			break;
		case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
			l.pdl = v->programmaticStreamSerializationAllowed;
			break;
		/* Hints; blocks "may" be grouped in preferred clusters, and here never are. */
		case CU_LAUNCH_ATTRIBUTE_IGNORE:
		case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
		case CU_LAUNCH_ATTRIBUTE_PRIORITY:
		case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
		case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
		case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
		case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
			break;
		default:
			return CUDA_ERROR_NOT_SUPPORTED;
		}
	}
	return launch(&l, h);
}

/* ---- occupancy --------------------------------------------------------------------------- */

EMU_API CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, CUfunction h,
								     int threads, size_t smem)
{
	ENTER(ctx);
	struct emu_func *f = emu_func_handle(h);

	if (!f || !n || threads < 1)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*n = threads > 1024 ? 0 : (int)emu_occupancy(f, (unsigned)threads, smem);
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, CUfunction h,
									      int threads,
									      size_t smem,
									      unsigned flags)
{
	return flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE ? CUDA_ERROR_INVALID_VALUE :
	       cuOccupancyMaxActiveBlocksPerMultiprocessor(n, h, threads, smem);
}

EMU_API CUresult CUDAAPI cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction h,
							  CUoccupancyB2DSize size_of, size_t smem,
							  int limit)
{
	ENTER(ctx);
	struct emu_func *f = emu_func_handle(h);
	unsigned best = 0;

	if (!f || !grid || !block)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	if (limit <= 0 || limit > 1024)
		limit = 1024;
	for (int t = limit / EMU_LANES * EMU_LANES; t > 0; t -= EMU_LANES) {
		unsigned n = emu_occupancy(f, (unsigned)t, size_of ? size_of(t) : smem);

		if (n * (unsigned)t > best) {
			best = n * (unsigned)t;
			*block = t;
			*grid = (int)(n * emu_m.nsm);
		}
	}
	LEAVE(best ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
}

EMU_API CUresult CUDAAPI cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction h, int blocks, int threads)
{
	ENTER(ctx);
	struct emu_func *f = emu_func_handle(h);
	uint64_t room;

	if (!f || !bytes || blocks < 1 || threads < 1 || threads > 1024)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	for (room = emu_m.block_smem; room && emu_occupancy(f, (unsigned)threads, room) < (unsigned)blocks; room -= 128)
		;
	*bytes = room;
	LEAVE(CUDA_SUCCESS);
}

/* How many clusters of that many blocks there is room for: a cluster is not spread over more
 * SMs than it has blocks, and all of the device's are one GPC. */
EMU_API CUresult CUDAAPI cuOccupancyMaxActiveClusters(int *n, CUfunction h, const CUlaunchConfig *config)
{
	ENTER(ctx);
	struct emu_func *f = emu_func_handle(h);
	unsigned size = 1, threads;

	if (!f || !n || !config)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	for (unsigned i = 0; i < config->numAttrs; i++)
		if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
			size = config->attrs[i].value.clusterDim.x * config->attrs[i].value.clusterDim.y *
			       config->attrs[i].value.clusterDim.z;
	threads = config->blockDimX * config->blockDimY * config->blockDimZ;
	if (!size || !threads || threads > 1024)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*n = (int)(emu_occupancy(f, threads, config->sharedMemBytes) * emu_m.nsm / size);
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuOccupancyMaxPotentialClusterSize(int *size, CUfunction h, const CUlaunchConfig *config)
{
	ENTER(ctx);
	struct emu_func *f = emu_func_handle(h);

	if (!f || !size || !config)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	*size = f->nonportable_cluster ? 16 : 8;
	LEAVE(CUDA_SUCCESS);
}
