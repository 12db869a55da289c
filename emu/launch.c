/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.c: the driver API's launches and occupancy.
 */
#include <stdio.h>
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

static unsigned most_in_cluster(const struct emu_func *f)
{
	return f->nonportable_cluster ? 16 : 8;
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
	if (n > most_in_cluster(l->f))
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

static void set_workspace(struct emu_grid *g)
{
	g->workspace = g->cooperative ? g->params + workspace_at(g) : 0;
	if (g->workspace)
		memset((void *)(uintptr_t)g->workspace, 0, WORKSPACE);
}

/* A launch like that one, with memory for parameters of its own; NULL: there is none. */
static struct emu_grid *grid_new(const struct emu_grid *like)
{
	struct emu_grid *g = calloc(1, sizeof *g);

	if (!g)
		abort();
	g->made = ++emu_m.grids_made;
	g->func = like->func;
	memcpy(g->dim, like->dim, sizeof g->dim);
	memcpy(g->block, like->block, sizeof g->block);
	memcpy(g->cluster, like->cluster, sizeof g->cluster);
	g->nblocks = like->nblocks;
	g->explicit_cluster = like->explicit_cluster;
	g->cooperative = like->cooperative;
	g->pdl = like->pdl;
	g->smem_dynamic = like->smem_dynamic;
	g->params = emu_mem_new(workspace_at(g) + WORKSPACE, MEM_PARAMS, 0);
	if (!g->params) {
		free(g);
		return NULL;
	}
	set_workspace(g);
	return g;
}

/* ---- attributes -------------------------------------------------------------------------- */

/* What says how a launch would be fast has no effect, and is not kept; blocks "may" be grouped
 * in preferred clusters, and here never are. */
static bool is_hint(CUlaunchAttributeID id)
{
	switch ((int)id) {
	case CU_LAUNCH_ATTRIBUTE_IGNORE:
	case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
	case CU_LAUNCH_ATTRIBUTE_PRIORITY:
	case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
	case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
	case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
		return true;
	}
	return false;
}

static CUresult unsupported(CUlaunchAttributeID id)
{
	fprintf(stderr, "emu: the emulated device keeps no attribute %d of launches (CUlaunchAttributeID)\n", (int)id);
	return CUDA_ERROR_NOT_SUPPORTED;
}

static void set_cluster(struct launch *l, const CUlaunchAttributeValue *v)
{
	l->cluster[0] = v->clusterDim.x;
	l->cluster[1] = v->clusterDim.y;
	l->cluster[2] = v->clusterDim.z;
	l->explicit_cluster = true;
}

static CUresult set_attribute(struct launch *l, const CUlaunchAttribute *a)
{
	switch ((int)a->id) {
	case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
		l->cooperative = a->value.cooperative;
		return CUDA_SUCCESS;
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
		set_cluster(l, &a->value);
		return CUDA_SUCCESS;
	case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
		l->pdl = a->value.programmaticStreamSerializationAllowed;
		return CUDA_SUCCESS;
	}
	return is_hint(a->id) ? CUDA_SUCCESS : unsupported(a->id);
}

CUresult emu_grid_set(struct emu_grid *g, CUlaunchAttributeID id, const CUlaunchAttributeValue *v)
{
	struct launch l = {.f = g->func, .grid = g->dim};
	struct emu_grid with = *g;
	CUresult r = CUDA_SUCCESS;

	switch ((int)id) {
	case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
		with.cooperative = v->cooperative;
		break;
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
		set_cluster(&l, v);
		r = check_cluster(&l);
		memcpy(with.cluster, l.cluster, sizeof with.cluster);
		with.explicit_cluster = true;
		break;
	default:
		return is_hint(id) ? CUDA_SUCCESS : unsupported(id);
	}
	if (r == CUDA_SUCCESS)
		r = emu_grid_check(&with);
	if (r == CUDA_SUCCESS) {
		*g = with;
		set_workspace(g);
	}
	return r;
}

CUresult emu_grid_get(const struct emu_grid *g, CUlaunchAttributeID id, CUlaunchAttributeValue *v)
{
	memset(v, 0, sizeof *v);
	switch ((int)id) {
	case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
		v->cooperative = g->cooperative;
		return CUDA_SUCCESS;
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
		v->clusterDim.x = g->cluster[0];
		v->clusterDim.y = g->cluster[1];
		v->clusterDim.z = g->cluster[2];
		return CUDA_SUCCESS;
	}
	return unsupported(id);
}

CUresult emu_grid_like(struct emu_grid *g, const struct emu_grid *of)
{
	CUlaunchAttributeValue cooperative = {.cooperative = of->cooperative}, cluster;
	CUresult r = emu_grid_set(g, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &cooperative);

	g->pdl = of->pdl;
	if (r != CUDA_SUCCESS || !of->explicit_cluster || g->explicit_cluster)
		return r;
	emu_grid_get(of, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &cluster);
	return emu_grid_set(g, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &cluster);
}

/* ---- launches ---------------------------------------------------------------------------- */

static CUresult make_grid(const struct launch *l, struct emu_grid **out)
{
	const struct emu_grid like = {
		.func = l->f, .dim = {l->grid[0], l->grid[1], l->grid[2]},
		.block = {l->block[0], l->block[1], l->block[2]},
		.cluster = {l->cluster[0], l->cluster[1], l->cluster[2]},
		.nblocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2],
		.explicit_cluster = l->explicit_cluster, .cooperative = l->cooperative, .pdl = l->pdl,
		.smem_dynamic = l->smem
	};
	CUresult r = emu_grid_check(&like);

	if (r != CUDA_SUCCESS)
		return r;
	*out = grid_new(&like);
	if (!*out)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = pack(l, (uint8_t *)(uintptr_t)(*out)->params);
	if (r != CUDA_SUCCESS)
		emu_grid_free(*out);
	return r;
}

static CUresult make_cmd(struct launch *l, CUfunction h, struct CUstream_st *s, struct emu_cmd **out)
{
	struct emu_grid *g;
	CUresult r;

	l->f = emu_func_handle(h);
	if (!l->f || !l->f->entry)
		return CUDA_ERROR_INVALID_HANDLE;
	r = check_block(l);
	if (r == CUDA_SUCCESS)
		r = check_cluster(l);
	if (r == CUDA_SUCCESS)
		r = make_grid(l, &g);
	if (r == CUDA_SUCCESS) {
		*out = emu_cmd_new(CMD_LAUNCH, s);
		(*out)->u.grid = g;
	}
	return r;
}

CUresult emu_launch_cmd(const CUDA_KERNEL_NODE_PARAMS_v2 *p, struct emu_cmd **out)
{
	const uint32_t grid[3] = {p->gridDimX, p->gridDimY, p->gridDimZ};
	const uint32_t block[3] = {p->blockDimX, p->blockDimY, p->blockDimZ};
	struct launch l = {
		.grid = grid, .block = block, .smem = p->sharedMemBytes, .params = p->kernelParams, .extra = p->extra
	};

	return make_cmd(&l, p->func ? p->func : (CUfunction)(void *)p->kern, NULL, out);
}

struct emu_grid *emu_grid_again(const struct emu_grid *of)
{
	struct emu_grid *g = grid_new(of);

	if (!g)
		abort();
	memcpy((void *)(uintptr_t)g->params, (const void *)(uintptr_t)of->params, g->func->param_bytes);
	return g;
}

static CUresult launch(struct launch *l, CUfunction h)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, l->stream);
	struct emu_cmd *c;
	CUresult r = s ? make_cmd(l, h, s, &c) : CUDA_ERROR_INVALID_HANDLE;

	LEAVE(r == CUDA_SUCCESS ? emu_cmd_submit(c) : r);
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
	CUresult r = CUDA_SUCCESS;

	if (!config)
		return CUDA_ERROR_INVALID_VALUE;
	l.grid = (const uint32_t[]){config->gridDimX, config->gridDimY, config->gridDimZ};
	l.block = (const uint32_t[]){config->blockDimX, config->blockDimY, config->blockDimZ};
	l.smem = config->sharedMemBytes;
	l.stream = config->hStream;
	for (unsigned i = 0; i < config->numAttrs && r == CUDA_SUCCESS; i++)
		r = set_attribute(&l, &config->attrs[i]);
	return r == CUDA_SUCCESS ? launch(&l, h) : r;
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

/* How many blocks of such launches the device has room for. */
static CUresult resident_blocks(CUfunction h, const CUlaunchConfig *config, const struct emu_func **f, unsigned *n)
{
	uint64_t threads;

	*f = emu_func_handle(h);
	if (!*f || !config)
		return CUDA_ERROR_INVALID_VALUE;
	threads = (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;
	if (!threads || threads > 1024)
		return CUDA_ERROR_INVALID_VALUE;
	*n = emu_occupancy(*f, (unsigned)threads, config->sharedMemBytes) * emu_m.nsm;
	return CUDA_SUCCESS;
}

/* A cluster is not spread over more SMs than it has blocks, and all of the device's are one GPC. */
EMU_API CUresult CUDAAPI cuOccupancyMaxActiveClusters(int *n, CUfunction h, const CUlaunchConfig *config)
{
	ENTER(ctx);
	const struct emu_func *f;
	uint64_t size = 1;
	unsigned blocks;
	CUresult r = n ? resident_blocks(h, config, &f, &blocks) : CUDA_ERROR_INVALID_VALUE;

	if (r != CUDA_SUCCESS)
		LEAVE(r);
	for (unsigned i = 0; i < config->numAttrs; i++)
		if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
			size = (uint64_t)config->attrs[i].value.clusterDim.x * config->attrs[i].value.clusterDim.y *
			       config->attrs[i].value.clusterDim.z;
	if (!size || size > most_in_cluster(f))
		LEAVE(CUDA_ERROR_INVALID_CLUSTER_SIZE);
	*n = (int)(blocks / size);
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuOccupancyMaxPotentialClusterSize(int *size, CUfunction h, const CUlaunchConfig *config)
{
	ENTER(ctx);
	const struct emu_func *f;
	unsigned blocks;
	CUresult r = size ? resident_blocks(h, config, &f, &blocks) : CUDA_ERROR_INVALID_VALUE;

	if (r == CUDA_SUCCESS)
		*size = (int)(blocks < most_in_cluster(f) ? blocks : most_in_cluster(f));
	LEAVE(r);
}
