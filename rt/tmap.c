/* SPDX-License-Identifier: Apache-2.0
 *
 * tmap.c: tensor maps.  What the driver makes of a tensor's description is opaque;
 * the device runtime finds the description again in a table in host memory, by a
 * hash of the 128 bytes.
 */
#include <string.h>

#include "rt/drv.h"
#include "rt/state.h"

static struct gsan_map early[GSAN_MAPS], *table = early;

static unsigned bytes_of(CUtensorMapDataType type)
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

static unsigned span_of(CUtensorMapSwizzle swizzle)
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

static unsigned slice_of(CUtensorMapInterleave interleave)
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

/* Enters a description under its key, unless the table is full. */
static void enter(const struct gsan_map *m)
{
	for (uint32_t i = 0; i < GSAN_MAPS; i++) {
		struct gsan_map *at = &table[(m->key + i) & (GSAN_MAPS - 1)];

		if (at->key == m->key)
			return;
		if (at->key)
			continue;
		memcpy((char *)at + sizeof at->key, (const char *)m + sizeof m->key, sizeof *m - sizeof m->key);
		__atomic_store_n(&at->key, m->key, __ATOMIC_RELEASE);
		return;
	}
}

static unsigned long long hash_of(const CUtensorMap *map)
{
	unsigned long long key = 1, word;

	for (unsigned i = 0; i < sizeof *map / 8; i++) {
		memcpy(&word, (const char *)map + 8 * i, 8);
		key = GSAN_MAP_HASH(key, GSAN_MAP_WORD(i, word));
	}
	return key | 1;
}

/* Compilers make maps on the device of nothing: 128 bytes of zeros, and then each field
 * by tensormap.replace (Triton's tl.make_tensor_descriptor). */
static void enter_blank(void)
{
	static const CUtensorMap zeros;
	struct gsan_map m = { .key = hash_of(&zeros), .rank = 1 };

	for (unsigned i = 0; i < 5; i++)
		m.dim[i] = m.box[i] = m.every[i] = 1;
	enter(&m);
}

void rt_maps_into(struct gsan_map *to)
{
	pthread_mutex_lock(&rt_lock);
	if (to != table)
		memcpy(to, table, sizeof early);
	table = to;
	enter_blank();
	pthread_mutex_unlock(&rt_lock);
}

/* What every kind of map has.  False: it is of a kind that is not modelled. */
static bool common(struct gsan_map *m, CUtensorMapDataType type, cuuint32_t rank, const void *base,
		   const cuuint64_t *dim, const cuuint64_t *stride, const cuuint32_t *step,
		   CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle)
{
	*m = (struct gsan_map){ .base = (uintptr_t)base, .rank = rank, .span = span_of(swizzle),
				.slice = slice_of(interleave) };
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

/* `map` is what the driver made of `m`. */
static void made(const CUtensorMap *map, struct gsan_map *m)
{
	m->key = hash_of(map);
	rt_map_made(map, m);
	pthread_mutex_lock(&rt_lock);
	enter(m);
	pthread_mutex_unlock(&rt_lock);
}

CUresult rt_on_tensor_map(enum rt_hook which, CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
			  void *base, const cuuint64_t *dim, const cuuint64_t *stride, const cuuint32_t *box,
			  const cuuint32_t *step, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
			  CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
	CUresult r = REAL(cuTensorMapEncodeTiled, which)(map, type, rank, base, dim, stride, box, step,
							 interleave, swizzle, promotion, fill);
	struct gsan_map m;

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
	struct gsan_map m;

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
	unsigned long long was = map ? hash_of(map) : 0;
	CUresult r = REAL(cuTensorMapReplaceAddress, which)(map, base);
	struct gsan_map m = { 0 };

	if (r != CUDA_SUCCESS)
		return r;
	pthread_mutex_lock(&rt_lock);
	for (uint32_t i = 0; i < GSAN_MAPS && !m.key; i++) {
		const struct gsan_map *at = &table[(was + i) & (GSAN_MAPS - 1)];

		if (!at->key)
			break;
		if (at->key == was)
			m = *at;
	}
	pthread_mutex_unlock(&rt_lock);
	if (!m.key)
		return r;
	m.base = (uintptr_t)base;
	made(map, &m);
	return r;
}
