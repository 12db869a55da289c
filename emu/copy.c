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

/* Whether the device can get at all of it by itself. */
static bool pinned(uint64_t p, uint64_t bytes)
{
	struct emu_block_mem b;

	return emu_mem_find(p, &b) && p + bytes <= b.base + b.bytes;
}

static bool valid(uint64_t p, uint64_t bytes, enum emu_side side)
{
	return side != SIDE_DEVICE ? p != 0 || !bytes : emu_mem_range_ok(p, bytes);
}

static bool shape_ok(const struct emu_copy *c)
{
	for (uint64_t i = 0; i < c->height * c->depth; i++) {
		const uint64_t y = i % c->height, z = i / c->height;

		if (!valid(c->dst + y * c->dst_pitch + z * c->dst_slice, c->width, c->to) ||
		    !valid(c->src + y * c->src_pitch + z * c->src_slice, c->width, c->from))
			return false;
	}
	return true;
}

static struct emu_cmd *copy_cmd(const struct emu_copy *c, struct CUstream_st *s)
{
	struct emu_cmd *cmd = emu_cmd_new(CMD_COPY, s);

	cmd->u.copy.shape = *c;
	return cmd;
}

static CUresult copy(const struct emu_copy *c, CUstream h, bool async)
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
	cmd = copy_cmd(c, s);
	if (!async)
		LEAVE(emu_cmd_do(cmd));
	if (s->capture)
		LEAVE(emu_cmd_submit(cmd));
	if (c->from != SIDE_DEVICE && !pinned(c->src, c->width)) {
		uint64_t bytes = (c->depth - 1) * c->src_slice + (c->height - 1) * c->src_pitch + c->width;

		cmd->u.copy.staged = malloc(bytes);
		if (!cmd->u.copy.staged)
			abort();
		memcpy(cmd->u.copy.staged, PTR(c->src), bytes);
		cmd->u.copy.shape.src = (uintptr_t)cmd->u.copy.staged;
	}
	/* Into pageable memory the call returns when the copy is done. */
	if (c->to != SIDE_DEVICE && !pinned(c->dst, c->width))
		LEAVE(emu_cmd_do(cmd));
	LEAVE(emu_cmd_submit(cmd));
}

static CUresult line(uint64_t dst, enum emu_side to, uint64_t src, enum emu_side from, size_t bytes,
		     CUstream h, bool async)
{
	const struct emu_copy c = {
		.dst = dst, .src = src, .width = bytes, .height = 1, .depth = 1, .to = to, .from = from
	};

	return copy(&c, h, async);
}

EMU_API CUresult CUDAAPI cuMemcpy(CUdeviceptr d, CUdeviceptr s, size_t n)
{
	return line(d, SIDE_ANY, s, SIDE_ANY, n, NULL, false);
}

EMU_API CUresult CUDAAPI cuMemcpyHtoD_v2(CUdeviceptr d, const void *s, size_t n)
{
	return line(d, SIDE_DEVICE, (uintptr_t)s, SIDE_HOST, n, NULL, false);
}

EMU_API CUresult CUDAAPI cuMemcpyDtoH_v2(void *d, CUdeviceptr s, size_t n)
{
	return line((uintptr_t)d, SIDE_HOST, s, SIDE_DEVICE, n, NULL, false);
}

EMU_API CUresult CUDAAPI cuMemcpyDtoD_v2(CUdeviceptr d, CUdeviceptr s, size_t n)
{
	return line(d, SIDE_DEVICE, s, SIDE_DEVICE, n, NULL, true);
}

EMU_API CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream h)
{
	return line(d, SIDE_ANY, s, SIDE_ANY, n, h, true);
}

EMU_API CUresult CUDAAPI cuMemcpyHtoDAsync_v2(CUdeviceptr d, const void *s, size_t n, CUstream h)
{
	return line(d, SIDE_DEVICE, (uintptr_t)s, SIDE_HOST, n, h, true);
}

EMU_API CUresult CUDAAPI cuMemcpyDtoHAsync_v2(void *d, CUdeviceptr s, size_t n, CUstream h)
{
	return line((uintptr_t)d, SIDE_HOST, s, SIDE_DEVICE, n, h, true);
}

EMU_API CUresult CUDAAPI cuMemcpyDtoDAsync_v2(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream h)
{
	return line(d, SIDE_DEVICE, s, SIDE_DEVICE, n, h, true);
}

static bool end_of(CUmemorytype type, const void *host, CUdeviceptr dev, CUarray array,
		   uint64_t *p, enum emu_side *side)
{
	if (array || type == CU_MEMORYTYPE_ARRAY)
		return false;
	*p = type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : dev;
	*side = type == CU_MEMORYTYPE_HOST ? SIDE_HOST : type == CU_MEMORYTYPE_DEVICE ? SIDE_DEVICE : SIDE_ANY;
	return true;
}

static CUresult copy_2d(const CUDA_MEMCPY2D *p, CUstream h, bool async)
{
	struct emu_copy c = {
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

static CUresult shape_3d(const CUDA_MEMCPY3D *p, struct emu_copy *c)
{
	const uint64_t dst_rows = p->dstHeight ? p->dstHeight : p->Height;
	const uint64_t src_rows = p->srcHeight ? p->srcHeight : p->Height;

	*c = (struct emu_copy){
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
	struct emu_copy c;
	CUresult r = p ? shape_3d(p, &c) : CUDA_ERROR_INVALID_VALUE;

	return r == CUDA_SUCCESS ? copy(&c, NULL, false) : r;
}

EMU_API CUresult CUDAAPI cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *p, CUstream h)
{
	struct emu_copy c;
	CUresult r = p ? shape_3d(p, &c) : CUDA_ERROR_INVALID_VALUE;

	return r == CUDA_SUCCESS ? copy(&c, h, true) : r;
}

CUresult emu_copy_cmd(const CUDA_MEMCPY3D *p, struct emu_cmd **out)
{
	struct emu_copy c;
	CUresult r = shape_3d(p, &c);

	if (r == CUDA_SUCCESS && !shape_ok(&c))
		r = CUDA_ERROR_INVALID_VALUE;
	if (r == CUDA_SUCCESS)
		*out = copy_cmd(&c, NULL);
	return r;
}

/* ---- fills ----------------------------------------------------------------------------- */

static struct emu_cmd *set_cmd(const CUDA_MEMSET_NODE_PARAMS *p, struct CUstream_st *s)
{
	struct emu_cmd *c = emu_cmd_new(CMD_SET, s);

	c->u.set = *p;
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

/* Of elements of one size: in a row and in rows, in the legacy stream and in any. */
#define ROWS(d, step, v, w, h) \
	(&(CUDA_MEMSET_NODE_PARAMS){ \
		.dst = d, .pitch = step, .value = v, .elementSize = sizeof (v), .width = w, .height = h \
	})
#define FILLS(bits, type) \
	EMU_API CUresult CUDAAPI cuMemsetD##bits##_v2(CUdeviceptr d, type v, size_t n) \
	{ \
		return fill(ROWS(d, 0, v, n, 1), NULL); \
	} \
	EMU_API CUresult CUDAAPI cuMemsetD##bits##Async(CUdeviceptr d, type v, size_t n, CUstream stream) \
	{ \
		return fill(ROWS(d, 0, v, n, 1), stream); \
	} \
	EMU_API CUresult CUDAAPI cuMemsetD2D##bits##_v2(CUdeviceptr d, size_t pitch, type v, size_t w, size_t h) \
	{ \
		return fill(ROWS(d, pitch, v, w, h), NULL); \
	} \
	EMU_API CUresult CUDAAPI cuMemsetD2D##bits##Async(CUdeviceptr d, size_t pitch, type v, size_t w, size_t h, \
							  CUstream stream) \
	{ \
		return fill(ROWS(d, pitch, v, w, h), stream); \
	}
FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)

/* One device: peers are the same. */
EMU_API CUresult CUDAAPI cuMemcpyPeer(CUdeviceptr d, CUcontext dc, CUdeviceptr s, CUcontext sc, size_t n)
{
	(void)dc;
	(void)sc;
	return line(d, SIDE_DEVICE, s, SIDE_DEVICE, n, NULL, true);
}

EMU_API CUresult CUDAAPI cuMemcpyPeerAsync(CUdeviceptr d, CUcontext dc, CUdeviceptr s, CUcontext sc, size_t n,
					   CUstream h)
{
	(void)dc;
	(void)sc;
	return line(d, SIDE_DEVICE, s, SIDE_DEVICE, n, h, true);
}
