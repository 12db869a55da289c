/* SPDX-License-Identifier: Apache-2.0 */
/* host.h: what the main functions of the kernels here share: memory, tensor maps (the
 * driver's function by its entry point, so that nothing but cudart is linked), times,
 * the verdict.  A program prints `ok` or `wrong`, and ends with status 0 or 1; with the
 * argument `bench` it prints
 *	NAME MILLISECONDS MIB_OF_DATA MIB_IN_USE
 * as the programs of testsuite/bench do. */
#pragma once
#include <cstring>
#include <cuda.h>

#include "../bench/measure.h"

static inline bool is_bench(int argc, char **argv)
{
	return argc > 1 && !strcmp(argv[1], "bench");
}

template <class T>
static T *memory(size_t n)
{
	T *p;

	asked += n * sizeof(T);
	CHECK(cudaMalloc((void **)&p, n * sizeof(T)));
	CHECK(cudaMemset(p, 0, n * sizeof(T)));
	return p;
}

static inline int *wrong_count()
{
	static int *p;

	if (!p)
		p = memory<int>(1);
	return p;
}

static inline int multiprocessors()
{
	int n;

	CHECK(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0));
	return n;
}

template <class K>
static void shared_memory(K *kernel, int bytes)
{
	CHECK(cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

/* A packed matrix of `rows` rows, in boxes. */
static inline CUtensorMap tensor_map(void *p, CUtensorMapDataType type, uint64_t columns, uint64_t rows,
				     uint32_t box_columns, uint32_t box_rows, CUtensorMapSwizzle swizzle)
{
	static decltype(&cuTensorMapEncodeTiled) encode;
	cudaDriverEntryPointQueryResult found;
	uint64_t size = type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 ? 4 : 2;
	uint64_t dim[] = { columns, rows }, stride[] = { columns * size };
	uint32_t box[] = { box_columns, box_rows }, step[] = { 1, 1 };
	CUtensorMap map;

	if (!encode)
		CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000,
						       cudaEnableDefault, &found));
	if (!encode || encode(&map, type, 2, p, (cuuint64_t *)dim, (cuuint64_t *)stride, box, step,
			      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
			      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
		fprintf(stderr, "cuTensorMapEncodeTiled fails\n");
		exit(2);
	}
	/* As CUTLASS does (include/cute/atom/copy_traits_sm90_tma.hpp). */
	if (columns * rows * size < 131072)
		map.opaque[1] &= ~(1ull << 21);
	return map;
}

/* What the kernel `verify` counted. */
static inline int result(const char *name, bool bench, float ms)
{
	size_t left, all;
	int wrong;

	CHECK(cudaMemcpy(&wrong, wrong_count(), sizeof wrong, cudaMemcpyDeviceToHost));
	CHECK(cudaMemGetInfo(&left, &all));
	if (bench)
		printf("%s %.4f %.1f %.1f\n", name, ms, asked / 1048576.0, (all - left) / 1048576.0);
	else
		puts(wrong ? "wrong" : "ok");
	if (wrong)
		fprintf(stderr, "%s: %d elements are wrong\n", name, wrong);
	return wrong ? 1 : 0;
}
