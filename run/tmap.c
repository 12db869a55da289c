/* SPDX-License-Identifier: Apache-2.0
 *
 * tmap.c: tensor maps of a script: the words of a declaration behind the memory
 * block, what they mean together, and the driver's map made of them.
 */
#include "run/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *name; CUtensorMapDataType type; unsigned bytes; } types[] = {
	{ "u8", CU_TENSOR_MAP_DATA_TYPE_UINT8, 1 }, { "u16", CU_TENSOR_MAP_DATA_TYPE_UINT16, 2 },
	{ "u32", CU_TENSOR_MAP_DATA_TYPE_UINT32, 4 }, { "s32", CU_TENSOR_MAP_DATA_TYPE_INT32, 4 },
	{ "u64", CU_TENSOR_MAP_DATA_TYPE_UINT64, 8 }, { "s64", CU_TENSOR_MAP_DATA_TYPE_INT64, 8 },
	{ "f16", CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2 },
	{ "f32", CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4 },
	{ "f64", CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8 },
	{ "bf16", CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2 },
};

bool run_tmap_type(struct run_tmap *t, const char *name)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (!strcmp(types[i].name, name)) {
			t->type = (int)types[i].type;
			t->bytes = types[i].bytes;
			return true;
		}
	}
	return false;
}

/* Numbers from 1 to `max` separated by commas. */
static const char *numbers(const char *s, uint64_t *to, unsigned room, uint64_t max, unsigned *n)
{
	char *end;

	if (*n)
		return "is given a second time";
	for (;; s = end + 1) {
		if (*n == room)
			return "has too many numbers";
		errno = 0;
		to[*n] = *s >= '0' && *s <= '9' ? strtoull(s, &end, 0) : 0;
		if (*s < '0' || *s > '9' || errno || (*end && *end != ','))
			return "is no list of numbers";
		if (!to[*n] || to[*n] > max)
			return "has a number that no tensor map can have";
		++*n;
		if (!*end)
			return NULL;
	}
}

/* The same with a sign, at most 16 bits wide. */
static const char *offsets(const char *s, int *to, unsigned *n)
{
	uint64_t v[3];
	unsigned k = 0;
	const char *why;

	if (*n)
		return "is given a second time";
	for (;;) {
		bool less = *s == '-';
		size_t len = strcspn(s += less, ",");
		char one[8];

		if (*n == 3)
			return "has too many numbers";
		if (len >= sizeof one)
			return "is no list of numbers";
		memcpy(one, s, len);
		one[len] = 0;
		k = 0;
		v[0] = 0;
		why = strcmp(one, "0") ? numbers(one, v, 1, 32767, &k) : NULL;
		if (why)
			return why;
		to[(*n)++] = less ? -(int)v[0] : (int)v[0];
		if (!s[len])
			return NULL;
		s += len + 1;
	}
}

static bool starts(const char **w, const char *key)
{
	size_t n = strlen(key);

	if (strncmp(*w, key, n))
		return false;
	*w += n;
	return true;
}

const char *run_tmap_word(struct run_tmap *t, const char *w)
{
	static const struct { const char *name; CUtensorMapSwizzle mode; unsigned span; } modes[] = {
		{ "none", CU_TENSOR_MAP_SWIZZLE_NONE, 0 }, { "32", CU_TENSOR_MAP_SWIZZLE_32B, 32 },
		{ "64", CU_TENSOR_MAP_SWIZZLE_64B, 64 }, { "128", CU_TENSOR_MAP_SWIZZLE_128B, 128 },
	};

	if (starts(&w, "dims="))
		return numbers(w, t->dims, 5, UINT64_C(1) << 32, &t->rank);
	if (starts(&w, "strides="))
		return numbers(w, t->strides, 4, (UINT64_C(1) << 40) - 1, &t->nstrides);
	if (starts(&w, "box="))
		return numbers(w, t->box, 5, 256, &t->nbox);
	if (starts(&w, "elem="))
		return numbers(w, t->elem, 5, 8, &t->nelem);
	if (starts(&w, "lower="))
		return offsets(w, t->lower, &t->nlower);
	if (starts(&w, "upper="))
		return offsets(w, t->upper, &t->nupper);
	if (starts(&w, "interleave=")) {
		if (t->slice)
			return "is given a second time";
		if (strcmp(w, "16") && strcmp(w, "32"))
			return "is neither 16 nor 32";
		t->slice = *w == '1' ? 16 : 32;
		t->interleave = *w == '1' ? (int)CU_TENSOR_MAP_INTERLEAVE_16B : (int)CU_TENSOR_MAP_INTERLEAVE_32B;
		return NULL;
	}
	if (!starts(&w, "swizzle="))
		return "has no place in a tensor map";
	if (t->have_swizzle)
		return "is given a second time";
	t->have_swizzle = true;
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		if (!strcmp(w, modes[i].name)) {
			t->swizzle = (int)modes[i].mode;
			t->span = modes[i].span;
			return NULL;
		}
	}
	return "is none of none, 32, 64 and 128";
}

const char *run_tmap_end(struct run_tmap *t, uint64_t bytes)
{
	unsigned unit = t->slice ? t->slice : t->bytes;
	uint64_t last = 0;

	if (!t->rank)
		return "expected dims=D0[,D1...]";
	if (t->slice && t->rank < 3)
		return "interleave: fewer than three dimensions";
	if (!t->nbox)
		return "expected box=B0[,B1...]";
	if (t->nlower != t->nupper || (t->nlower && t->nlower + 2 != t->rank))
		return "lower and upper: one for each dimension but the first and the last";
	if (t->nlower && t->nbox != 2)
		return "box: channels and pixels, where there are corners";
	if (!t->nlower && t->nbox != t->rank)
		return "box: another number of dimensions than dims";
	if (t->nelem && t->nelem != t->rank)
		return "elem: another number of dimensions than dims";
	if (t->nstrides && t->nstrides != t->rank - 1)
		return "strides: one for each dimension but the first";
	for (unsigned i = 0; i < t->rank; i++) {
		uint64_t step = i ? t->strides[i - 1] : unit;

		if (!t->nelem)
			t->elem[i] = 1;
		if (i && !t->nstrides) {
			uint64_t below = i == 1 ? unit : t->strides[i - 2];

			if (below > UINT64_MAX / t->dims[i - 1])
				return "the tensor reaches beyond the end of the memory block";
			step = t->strides[i - 1] = below * t->dims[i - 1];
		}
		if (i && step % (t->slice == 32 ? 32 : 16))
			return "strides: no multiple of 16 bytes, or of a slice of 32";
		if (step && t->dims[i] - 1 > (UINT64_MAX - last) / step)
			return "the tensor reaches beyond the end of the memory block";
		last += (t->dims[i] - 1) * step;
	}
	if (last > UINT64_MAX - unit || last + unit > bytes)
		return "the tensor reaches beyond the end of the memory block";
	t->size = last + unit;
	if (t->box[0] * t->bytes % 16)
		return "box: its rows are no multiple of 16 bytes";
	if (t->span && !t->slice && t->box[0] * t->bytes > t->span)
		return "box: its rows are wider than the swizzle";
	return NULL;
}

/* CUTLASS changes maps of small tensors that the driver has made, and so does this: the runtime
 * has to know them still (include/cute/atom/copy_traits_sm90_tma.hpp). */
static CUresult made(const struct run_tmap *t, CUresult r, CUtensorMap *map)
{
	if (r == CUDA_SUCCESS && t->size < 128 << 10)
		map->opaque[1] &= ~(1ull << 21);
	return r;
}

CUresult run_tmap_make(const struct run_tmap *t, const struct run_driver *cu, CUdeviceptr at,
		       CUtensorMap *out)
{
	cuuint32_t box[5], elem[5];

	if (!cu->cuTensorMapEncodeTiled || (t->nlower && !cu->cuTensorMapEncodeIm2col))
		return CUDA_ERROR_NOT_SUPPORTED;
	for (unsigned i = 0; i < t->rank; i++) {
		box[i] = (cuuint32_t)t->box[i];
		elem[i] = (cuuint32_t)t->elem[i];
	}
	if (t->nlower)
		return made(t, cu->cuTensorMapEncodeIm2col(
			out, (CUtensorMapDataType)t->type, t->rank, (void *)(uintptr_t)at, t->dims,
			t->strides, t->lower, t->upper, box[0], box[1], elem,
			(CUtensorMapInterleave)t->interleave, (CUtensorMapSwizzle)t->swizzle,
			CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE), out);
	return made(t, cu->cuTensorMapEncodeTiled(
		out, (CUtensorMapDataType)t->type, t->rank, (void *)(uintptr_t)at, t->dims, t->strides,
		box, elem, (CUtensorMapInterleave)t->interleave, (CUtensorMapSwizzle)t->swizzle,
		CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE), out);
}
