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
	uint64_t dst, src, width, height, dst_pitch, src_pitch;
	enum side to, from;
};

static CUresult copy(const struct shape *c, CUstream h, bool async)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);
	struct emu_cmd *cmd;

	if (!s)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	for (uint64_t y = 0; y < c->height; y++)
		if (!valid(c->dst + y * c->dst_pitch, c->width, c->to) ||
		    !valid(c->src + y * c->src_pitch, c->width, c->from))
			LEAVE(CUDA_ERROR_INVALID_VALUE);
	if (!c->width || !c->height)
		LEAVE(CUDA_SUCCESS);
	cmd = emu_cmd_new(CMD_COPY, s);
	cmd->u.copy.dst = PTR(c->dst);
	cmd->u.copy.src = PTR(c->src);
	cmd->u.copy.width = c->width;
	cmd->u.copy.height = c->height;
	cmd->u.copy.dst_pitch = c->dst_pitch;
	cmd->u.copy.src_pitch = c->src_pitch;
	if (!async)
		LEAVE(emu_cmd_do(cmd));
	if (c->from != DEVICE && !pinned(c->src, c->width)) {
		uint64_t bytes = (c->height - 1) * c->src_pitch + c->width;

		cmd->u.copy.staged = malloc(bytes);
		if (!cmd->u.copy.staged)
			abort();
		memcpy(cmd->u.copy.staged, PTR(c->src), bytes);
		cmd->u.copy.src = cmd->u.copy.staged;
	}
	/* Into pageable memory the call returns when the copy is done. */
	if (c->to != DEVICE && !pinned(c->dst, c->width))
		LEAVE(emu_cmd_do(cmd));
	emu_cmd_put(cmd);
	LEAVE(CUDA_SUCCESS);
}

static CUresult line(uint64_t dst, enum side to, uint64_t src, enum side from, size_t bytes,
		     CUstream h, bool async)
{
	const struct shape c = {
		.dst = dst, .src = src, .width = bytes, .height = 1, .to = to, .from = from
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
		.width = p->WidthInBytes, .height = p->Height,
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

/* ---- fills ----------------------------------------------------------------------------- */

static CUresult fill(CUdeviceptr dst, size_t pitch, unsigned value, unsigned size, size_t width,
		     size_t height, CUstream h)
{
	ENTER(ctx);
	struct CUstream_st *s = emu_stream_of(ctx, h);
	struct emu_cmd *c;

	if (!s)
		LEAVE(CUDA_ERROR_INVALID_HANDLE);
	if (dst % size)
		LEAVE(CUDA_ERROR_INVALID_VALUE);
	for (size_t y = 0; y < height; y++)
		if (!emu_mem_range_ok(dst + y * pitch, width * size))
			LEAVE(CUDA_ERROR_INVALID_VALUE);
	if (!width || !height)
		LEAVE(CUDA_SUCCESS);
	c = emu_cmd_new(CMD_SET, s);
	c->u.set.dst = PTR(dst);
	c->u.set.width = width;
	c->u.set.height = height;
	c->u.set.pitch = pitch;
	c->u.set.value = value;
	c->u.set.size = size;
	emu_cmd_put(c);
	LEAVE(CUDA_SUCCESS);
}

EMU_API CUresult CUDAAPI cuMemsetD8_v2(CUdeviceptr d, unsigned char v, size_t n)
{
	return fill(d, 0, v, 1, n, 1, NULL);
}

EMU_API CUresult CUDAAPI cuMemsetD16_v2(CUdeviceptr d, unsigned short v, size_t n)
{
	return fill(d, 0, v, 2, n, 1, NULL);
}

EMU_API CUresult CUDAAPI cuMemsetD32_v2(CUdeviceptr d, unsigned v, size_t n)
{
	return fill(d, 0, v, 4, n, 1, NULL);
}

EMU_API CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr d, unsigned char v, size_t n, CUstream h)
{
	return fill(d, 0, v, 1, n, 1, h);
}

EMU_API CUresult CUDAAPI cuMemsetD16Async(CUdeviceptr d, unsigned short v, size_t n, CUstream h)
{
	return fill(d, 0, v, 2, n, 1, h);
}

EMU_API CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr d, unsigned v, size_t n, CUstream h)
{
	return fill(d, 0, v, 4, n, 1, h);
}

EMU_API CUresult CUDAAPI cuMemsetD2D8_v2(CUdeviceptr d, size_t pitch, unsigned char v, size_t w,
					 size_t h)
{
	return fill(d, pitch, v, 1, w, h, NULL);
}

EMU_API CUresult CUDAAPI cuMemsetD2D32_v2(CUdeviceptr d, size_t pitch, unsigned v, size_t w, size_t h)
{
	return fill(d, pitch, v, 4, w, h, NULL);
}
