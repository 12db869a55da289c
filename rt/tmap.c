/* SPDX-License-Identifier: Apache-2.0
 *
 * tmap.c: tensor maps.  What the driver makes of a tensor's description is opaque;
 * the detector is told the description by a hash of the 128 bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/judge.h"

enum { SWIZZLED_ATOM = 16 };

/* With rt_lock; they are only added. */
static struct event_map *known;
static size_t nknown, known_cap;

static uint8_t bytes_of(CUtensorMapDataType type)
{
	switch (type) {
	case CU_TENSOR_MAP_DATA_TYPE_UINT8:
		return 1;
	case CU_TENSOR_MAP_DATA_TYPE_UINT16:
	case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
	case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
		return 2;
	case CU_TENSOR_MAP_DATA_TYPE_UINT32:
	case CU_TENSOR_MAP_DATA_TYPE_INT32:
	case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
	case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
	case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
	case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
		return 4;
	case CU_TENSOR_MAP_DATA_TYPE_UINT64:
	case CU_TENSOR_MAP_DATA_TYPE_INT64:
	case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
		return 8;
	default:
		return 0;
	}
}

static uint8_t span_of(CUtensorMapSwizzle swizzle)
{
	switch (swizzle) {
	case CU_TENSOR_MAP_SWIZZLE_32B:
		return 32;
	case CU_TENSOR_MAP_SWIZZLE_64B:
		return 64;
	case CU_TENSOR_MAP_SWIZZLE_128B:
		return 128;
	default:
		return 0;
	}
}

static uint8_t slice_of(CUtensorMapInterleave interleave)
{
	switch (interleave) {
	case CU_TENSOR_MAP_INTERLEAVE_16B:
		return 16;
	case CU_TENSOR_MAP_INTERLEAVE_32B:
		return 32;
	default:
		return 0;
	}
}

/* What every kind of map has.  False: it is of a kind that is not modelled. */
static bool common(struct event_map *m, CUtensorMapDataType type, cuuint32_t rank, const void *base,
		   const cuuint64_t *dim, const cuuint64_t *stride, const cuuint32_t *step,
		   CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle)
{
	*m = (struct event_map){ .base = (uintptr_t)base, .rank = (uint8_t)rank, .span = span_of(swizzle),
				 .atom = SWIZZLED_ATOM, .slice = slice_of(interleave) };
	m->stride[0] = bytes_of(type);
	for (unsigned i = 0; i < 5; i++) {
		m->dim[i] = i < rank ? (uint32_t)(dim[i] > UINT32_MAX ? UINT32_MAX : dim[i]) : 1;
		m->box[i] = 1;
		m->every[i] = i < rank ? step[i] : 1;
		if (i)
			m->stride[i] = i < rank ? stride[i - 1] : 0;
	}
	return m->stride[0] && (interleave == CU_TENSOR_MAP_INTERLEAVE_NONE || m->slice) &&
	       (swizzle == CU_TENSOR_MAP_SWIZZLE_NONE || m->span);
}

static void add(const struct event_map *m)
{
	for (size_t i = 0; i < nknown; i++)
		if (known[i].hash == m->hash)
			return;
	known = rt_grow(known, &known_cap, nknown + 1, sizeof *known);
	known[nknown++] = *m;
}

/* Compilers make maps on the device of nothing: 128 bytes of zeros, and then each field by tensormap.replace. */
static void add_blank(void)
{
	static const CUtensorMap zeros;
	struct event_map m = {.hash = event_map_hash(&zeros), .rank = 1};

	for (unsigned i = 0; i < 5; i++)
		m.dim[i] = m.box[i] = m.every[i] = 1;
	add(&m);
}

/* `map` is what the driver made of `m`. */
static void made(const CUtensorMap *map, struct event_map *m)
{
	m->hash = event_map_hash(map);
	pthread_mutex_lock(&rt_lock);
	if (!nknown)
		add_blank();
	add(m);
	pthread_mutex_unlock(&rt_lock);
}

bool rt_map_find(const void *bytes, struct event_map *m)
{
	const uint64_t hash = event_map_hash(bytes);
	bool found = false;

	pthread_mutex_lock(&rt_lock);
	for (size_t i = 0; i < nknown && !found; i++)
		if ((found = known[i].hash == hash))
			*m = known[i];
	pthread_mutex_unlock(&rt_lock);
	return found;
}

bool rt_map_get(size_t i, struct event_map *m)
{
	bool there;

	pthread_mutex_lock(&rt_lock);
	if (!nknown)
		add_blank();
	there = i < nknown;
	if (there)
		*m = known[i];
	pthread_mutex_unlock(&rt_lock);
	return there;
}

CUresult rt_on_tensor_map(enum rt_hook which, CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
			  void *base, const cuuint64_t *dim, const cuuint64_t *stride, const cuuint32_t *box,
			  const cuuint32_t *step, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
			  CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
	CUresult r = REAL(cuTensorMapEncodeTiled, which)(map, type, rank, base, dim, stride, box, step,
							 interleave, swizzle, promotion, fill);
	struct event_map m;

	if (r != CUDA_SUCCESS || !common(&m, type, rank, base, dim, stride, step, interleave, swizzle))
		return r;
	for (unsigned i = 0; i < rank; i++)
		m.box[i] = box[i];
	made(map, &m);
	return r;
}

CUresult rt_on_tensor_map_im2col(enum rt_hook which, CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
				 void *base, const cuuint64_t *dim, const cuuint64_t *stride, const int *lower,
				 const int *upper, cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *step,
				 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
				 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
	CUresult r = REAL(cuTensorMapEncodeIm2col, which)(map, type, rank, base, dim, stride, lower, upper,
							  channels, pixels, step, interleave, swizzle, promotion, fill);
	struct event_map m;

	if (r != CUDA_SUCCESS || !common(&m, type, rank, base, dim, stride, step, interleave, swizzle))
		return r;
	m.im2col = 1;
	m.box[0] = channels;
	m.box[1] = pixels;
	for (unsigned i = 0; i + 2 < rank; i++) {
		m.lower[i] = lower[i];
		m.upper[i] = upper[i];
	}
	made(map, &m);
	return r;
}

CUresult rt_on_tensor_map_address(enum rt_hook which, CUtensorMap *map, void *base)
{
	struct event_map m;
	const bool was_known = map && rt_map_find(map, &m);
	CUresult r = REAL(cuTensorMapReplaceAddress, which)(map, base);

	if (r == CUDA_SUCCESS && was_known) {
		m.base = (uintptr_t)base;
		made(map, &m);
	}
	return r;
}
