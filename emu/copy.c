/* SPDX-License-Identifier: Apache-2.0
 *
 * copy.c: copies and fills, with and without a stream.  All memory is the host's,
 * so one kind of command does for every direction; a pageable source is read at
 * the call, as the driver does.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/api.h"

#define PTR(d) ((void *)(uintptr_t)(d))

enum side { HOST, DEVICE, ANY };

/* Whether the device can get at all of it by itself. */
static bool pinned(uint64_t p, uint64_t bytes)
{
	struct emu_block_mem b;

	return emu_mem_find(p, &b) && p + bytes <= b.base + b.bytes;
}

static bool valid(uint64_t p, uint64_t bytes, enum side side)
{
	return side != DEVICE ? p != 0 || !bytes : emu_mem_range_ok(p, bytes);
}

struct shape {
	uint64_t dst, src, width, height, depth, dst_pitch, src_pitch, dst_slice, src_slice;
	enum side to, from;
};

static bool shape_ok(const struct shape *c)
{
	for (uint64_t i = 0; i < c->height * c->depth; i++) {
		const uint64_t y = i % c->height, z = i / c->height;

		if (!valid(c->dst + y * c->dst_pitch + z * c->dst_slice, c->width, c->to) ||
		    !valid(c->src + y * c->src_pitch + z * c->src_slice, c->width, c->from))
			return false;
	}
	return true;
}

static struct emu_cmd *shape_cmd(const struct shape *c, struct CUstream_st *s)
{
	struct emu_cmd *cmd = emu_cmd_new(CMD_COPY, s);

	cmd->u.copy.dst = PTR(c->dst);
	cmd->u.copy.src = PTR(c->src);
	cmd->u.copy.width = c->width;
	cmd->u.copy.height = c->height;
	cmd->u.copy.depth = c->depth;
	cmd->u.copy.dst_pitch = c->dst_pitch;
	cmd->u.copy.src_pitch = c->src_pitch;
	cmd->u.copy.dst_slice = c->dst_slice;
	cmd->u.copy.src_slice = c->src_slice;
	return cmd;
}

static CUresult copy(const struct shape *c, CUstream h, bool async)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);
	struct emu_cmd *cmd;

	if (!s)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	if (!shape_ok(c))
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	if (!c->width || !c->height || !c->depth)
		LEAVE(CUDA_SUCCESS);
	cmd = shape_cmd(c, s);
	if (!async)
		LEAVE(emu_cmd_do(cmd));
	if (s->capture)
		LEAVE(emu_cmd_submit(cmd));
	if (c->from != DEVICE && !pinned(c->src, c->width)) {
		uint64_t bytes = (c->depth - 1) * c->src_slice + (c->height - 1) * c->src_pitch + c->width;

		cmd->u.copy.staged = malloc(bytes);
		if (!cmd->u.copy.staged)
			abort();
		memcpy(cmd->u.copy.staged, PTR(c->src), bytes);
		cmd->u.copy.src = cmd->u.copy.staged;
	}
	/* Into pageable memory the call returns when the copy is done. */
	if (c->to != DEVICE && !pinned(c->dst, c->width))
		LEAVE(emu_cmd_do(cmd));
	LEAVE(emu_cmd_submit(cmd));
}

static CUresult line(uint64_t dst, enum side to, uint64_t src, enum side from, size_t bytes,
		     CUstream h, bool async)
{
	const struct shape c = {
		.dst = dst, .src = src, .width = bytes, .height = 1, .depth = 1, .to = to, .from = from
	};

	return copy(&c, h, async);
}

EMU_API CUresult CUDAAPI cuMemcpy(CUdeviceptr d, CUdeviceptr s, size_t n)
{
	return line(d, ANY, s, ANY, n, NULL, false);
}

EMU_API CUresult CUDAAPI cuMemcpyHtoD_v2(CUdeviceptr d, const void *s, size_t n)
{
	return line(d, DEVICE, (uintptr_t)s, HOST, n, NULL, false);
}

EMU_API CUresult CUDAAPI cuMemcpyDtoH_v2(void *d, CUdeviceptr s, size_t n)
{
	return line((uintptr_t)d, HOST, s, DEVICE, n, NULL, false);
}

EMU_API CUresult CUDAAPI cuMemcpyDtoD_v2(CUdeviceptr d, CUdeviceptr s, size_t n)
{
	return line(d, DEVICE, s, DEVICE, n, NULL, true);
}

EMU_API CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream h)
{
	return line(d, ANY, s, ANY, n, h, true);
}

EMU_API CUresult CUDAAPI cuMemcpyHtoDAsync_v2(CUdeviceptr d, const void *s, size_t n, CUstream h)
{
	return line(d, DEVICE, (uintptr_t)s, HOST, n, h, true);
}

EMU_API CUresult CUDAAPI cuMemcpyDtoHAsync_v2(void *d, CUdeviceptr s, size_t n, CUstream h)
{
	return line((uintptr_t)d, HOST, s, DEVICE, n, h, true);
}

EMU_API CUresult CUDAAPI cuMemcpyDtoDAsync_v2(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream h)
{
	return line(d, DEVICE, s, DEVICE, n, h, true);
}

static bool end_of(CUmemorytype type, const void *host, CUdeviceptr dev, CUarray array,
		   uint64_t *p, enum side *side)
{
	if (array || type == CU_MEMORYTYPE_ARRAY)
		return false;
	*p = type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : dev;
	*side = type == CU_MEMORYTYPE_HOST ? HOST : type == CU_MEMORYTYPE_DEVICE ? DEVICE : ANY;
	return true;
}

static CUresult copy_2d(const CUDA_MEMCPY2D *p, CUstream h, bool async)
{
	struct shape c = {
		.width = p->WidthInBytes, .height = p->Height, .depth = 1,
		.dst_pitch = p->dstPitch ? p->dstPitch : p->WidthInBytes,
		.src_pitch = p->srcPitch ? p->srcPitch : p->WidthInBytes
	};

	if (!end_of(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, &c.dst, &c.to) ||
	    !end_of(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, &c.src, &c.from))
		return CUDA_ERROR_NOT_SUPPORTED;
	if (c.dst_pitch < c.width || c.src_pitch < c.width)
		return CUDA_ERROR_INVALID_VALUE;
	c.dst += p->dstY * c.dst_pitch + p->dstXInBytes;
	c.src += p->srcY * c.src_pitch + p->srcXInBytes;
	return copy(&c, h, async);
}

EMU_API CUresult CUDAAPI cuMemcpy2D_v2(const CUDA_MEMCPY2D *p)
{
	return p ? copy_2d(p, NULL, false) : CUDA_ERROR_INVALID_VALUE;
}

EMU_API CUresult CUDAAPI cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *p)
{
	return cuMemcpy2D_v2(p);
}

EMU_API CUresult CUDAAPI cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *p, CUstream h)
{
	return p ? copy_2d(p, h, true) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult shape_3d(const CUDA_MEMCPY3D *p, struct shape *c)
{
	const uint64_t dst_rows = p->dstHeight ? p->dstHeight : p->Height;
	const uint64_t src_rows = p->srcHeight ? p->srcHeight : p->Height;

	*c = (struct shape){
		.width = p->WidthInBytes, .height = p->Height, .depth = p->Depth,
		.dst_pitch = p->dstPitch ? p->dstPitch : p->WidthInBytes,
		.src_pitch = p->srcPitch ? p->srcPitch : p->WidthInBytes
	};
	if (!end_of(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, &c->dst, &c->to) ||
	    !end_of(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, &c->src, &c->from))
		return CUDA_ERROR_NOT_SUPPORTED;
	if (c->dst_pitch < c->width || c->src_pitch < c->width || dst_rows < c->height || src_rows < c->height)
		return CUDA_ERROR_INVALID_VALUE;
	c->dst_slice = c->dst_pitch * dst_rows;
	c->src_slice = c->src_pitch * src_rows;
	c->dst += p->dstZ * c->dst_slice + p->dstY * c->dst_pitch + p->dstXInBytes;
	c->src += p->srcZ * c->src_slice + p->srcY * c->src_pitch + p->srcXInBytes;
	return CUDA_SUCCESS;
}

EMU_API CUresult CUDAAPI cuMemcpy3D_v2(const CUDA_MEMCPY3D *p)
{
	struct shape c;
	CUresult r = p ? shape_3d(p, &c) : CUDA_ERROR_INVALID_VALUE;

	return r == CUDA_SUCCESS ? copy(&c, NULL, false) : r;
}

EMU_API CUresult CUDAAPI cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *p, CUstream h)
{
	struct shape c;
	CUresult r = p ? shape_3d(p, &c) : CUDA_ERROR_INVALID_VALUE;

	return r == CUDA_SUCCESS ? copy(&c, h, true) : r;
}

CUresult emu_copy_cmd(const CUDA_MEMCPY3D *p, struct emu_cmd **out)
{
	struct shape c;
	CUresult r = shape_3d(p, &c);

	if (r == CUDA_SUCCESS && !shape_ok(&c))
		r = CUDA_ERROR_INVALID_VALUE;
	if (r == CUDA_SUCCESS)
		*out = shape_cmd(&c, NULL);
	return r;
}

/* ---- fills ----------------------------------------------------------------------------- */

static struct emu_cmd *set_cmd(const CUDA_MEMSET_NODE_PARAMS *p, struct CUstream_st *s)
{
	struct emu_cmd *c = emu_cmd_new(CMD_SET, s);

	c->u.set.dst = PTR(p->dst);
	c->u.set.width = p->width;
	c->u.set.height = p->height;
	c->u.set.pitch = p->pitch;
	c->u.set.value = p->value;
	c->u.set.size = p->elementSize;
	return c;
}

static bool set_ok(const CUDA_MEMSET_NODE_PARAMS *p)
{
	if ((p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) || p->dst % p->elementSize)
		return false;
	for (size_t y = 0; y < p->height; y++)
		if (!emu_mem_range_ok(p->dst + y * p->pitch, p->width * p->elementSize))
			return false;
	return true;
}

CUresult emu_set_cmd(const CUDA_MEMSET_NODE_PARAMS *p, struct emu_cmd **out)
{
	if (!set_ok(p))
		return CUDA_ERROR_INVALID_VALUE;
	*out = set_cmd(p, NULL);
	return CUDA_SUCCESS;
}

static CUresult fill(const CUDA_MEMSET_NODE_PARAMS *p, CUstream h)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);

	if (!s)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	if (!set_ok(p))
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	if (!p->width || !p->height)
		LEAVE(CUDA_SUCCESS);
	LEAVE(emu_cmd_submit(set_cmd(p, s)));
}

static CUresult fill_line(CUdeviceptr d, unsigned value, unsigned size, size_t n, CUstream h)
{
	return fill(&(CUDA_MEMSET_NODE_PARAMS){
		.dst = d, .value = value, .elementSize = size, .width = n, .height = 1
	}, h);
}

static CUresult fill_2d(CUdeviceptr d, size_t pitch, unsigned value, unsigned size, const size_t n[2], CUstream h)
{
	return fill(&(CUDA_MEMSET_NODE_PARAMS){
		.dst = d, .pitch = pitch, .value = value, .elementSize = size, .width = n[0], .height = n[1]
	}, h);
}

EMU_API CUresult CUDAAPI cuMemsetD8_v2(CUdeviceptr d, unsigned char v, size_t n)
{
	return fill_line(d, v, 1, n, NULL);
}

EMU_API CUresult CUDAAPI cuMemsetD16_v2(CUdeviceptr d, unsigned short v, size_t n)
{
	return fill_line(d, v, 2, n, NULL);
}

EMU_API CUresult CUDAAPI cuMemsetD32_v2(CUdeviceptr d, unsigned v, size_t n)
{
	return fill_line(d, v, 4, n, NULL);
}

EMU_API CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr d, unsigned char v, size_t n, CUstream h)
{
	return fill_line(d, v, 1, n, h);
}

EMU_API CUresult CUDAAPI cuMemsetD16Async(CUdeviceptr d, unsigned short v, size_t n, CUstream h)
{
	return fill_line(d, v, 2, n, h);
}

EMU_API CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr d, unsigned v, size_t n, CUstream h)
{
	return fill_line(d, v, 4, n, h);
}

#define FILL_2D(name, type, size) \
	EMU_API CUresult CUDAAPI name##_v2(CUdeviceptr d, size_t pitch, type v, size_t w, size_t h) \
	{ \
		return fill_2d(d, pitch, v, size, (const size_t[]){w, h}, NULL); \
	} \
	EMU_API CUresult CUDAAPI name##Async(CUdeviceptr d, size_t pitch, type v, size_t w, size_t h, \
					     CUstream stream) \
	{ \
		return fill_2d(d, pitch, v, size, (const size_t[]){w, h}, stream); \
	}
FILL_2D(cuMemsetD2D8, unsigned char, 1)
FILL_2D(cuMemsetD2D16, unsigned short, 2)
FILL_2D(cuMemsetD2D32, unsigned, 4)

/* One device: peers are the same. */
EMU_API CUresult CUDAAPI cuMemcpyPeer(CUdeviceptr d, CUcontext dc, CUdeviceptr s, CUcontext sc, size_t n)
{
	(void)dc;
	(void)sc;
	return line(d, DEVICE, s, DEVICE, n, NULL, true);
}

EMU_API CUresult CUDAAPI cuMemcpyPeerAsync(CUdeviceptr d, CUcontext dc, CUdeviceptr s, CUcontext sc, size_t n,
					   CUstream h)
{
	(void)dc;
	(void)sc;
	return line(d, DEVICE, s, DEVICE, n, h, true);
}
