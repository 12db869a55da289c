/* SPDX-License-Identifier: Apache-2.0 */
/* Warp matrix operations: shapes, types and layouts of nvcuda::wmma, from and
 * to global and shared memory, and the mma.sync and ldmatrix under them. */
// archs: 75 80 90a 100a 120a
// quick: 75/plain 80/G
// contents: 6
#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

template <int M, int N, int K, class T, class ACC, class LA, class LB>
__global__ void multiply(const T *a, const T *b, ACC *c, int lda, int ldb, int ldc)
{
	__shared__ T tile[M * K];
	wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa;
	wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
	wmma::fragment<wmma::accumulator, M, N, K, ACC> fc;

	wmma::fill_fragment(fc, ACC(0));
	for (int k = 0; k < 4; k++) {
		for (int i = threadIdx.x; i < M * K; i += 32)
			tile[i] = a[i + k * M * K];
		__syncwarp();
		wmma::load_matrix_sync(fa, tile, K);
		wmma::load_matrix_sync(fb, b + k * N * K, ldb);
		wmma::mma_sync(fc, fa, fb, fc);
		__syncwarp();
	}
	wmma::load_matrix_sync(fa, a, lda);
	wmma::mma_sync(fc, fa, fb, fc);
	for (int i = 0; i < fc.num_elements; i++)
		fc.x[i] = fc.x[i] + fc.x[i];
	wmma::store_matrix_sync(c, fc, ldc, wmma::mem_row_major);
	wmma::store_matrix_sync(c + M * N, fc, ldc, wmma::mem_col_major);
}

using row = wmma::row_major;
using col = wmma::col_major;
template __global__ void multiply<16, 16, 16, __half, float, row, col>(const __half *, const __half *, float *, int, int, int);
template __global__ void multiply<32, 8, 16, __half, __half, col, row>(const __half *, const __half *, __half *, int, int, int);
template __global__ void multiply<8, 32, 16, __half, float, row, row>(const __half *, const __half *, float *, int, int, int);
template __global__ void multiply<16, 16, 16, signed char, int, row, col>(const signed char *, const signed char *, int *, int, int, int);
template __global__ void multiply<16, 16, 16, unsigned char, int, col, col>(const unsigned char *, const unsigned char *, int *, int, int, int);

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
template __global__ void multiply<16, 16, 16, __nv_bfloat16, float, row, col>(const __nv_bfloat16 *, const __nv_bfloat16 *, float *, int, int, int);
template __global__ void multiply<8, 8, 4, double, double, row, col>(const double *, const double *, double *, int, int, int);
#endif

__global__ void by_hand(const __half *in, float *out)
{
	__shared__ __align__(16) __half tile[16 * 16];
	unsigned a0, a1, a2, a3;
	float d0 = 0, d1 = 0, d2 = 0, d3 = 0;

	for (int i = threadIdx.x; i < 256; i += 32)
		tile[i] = in[i];
	__syncwarp();
	unsigned at = (unsigned)__cvta_generic_to_shared(&tile[(threadIdx.x % 16) * 16 + threadIdx.x / 16 * 8]);
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
	    : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3) : "r"(at) : "memory");
	asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
	    : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a0), "r"(a1), "r"(a2));
	asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
	    : "=r"(a0), "=r"(a1) : "r"(at) : "memory");
	out[threadIdx.x * 4] = d0 + __uint_as_float(a0);
	out[threadIdx.x * 4 + 1] = d1;
	out[threadIdx.x * 4 + 2] = d2;
	out[threadIdx.x * 4 + 3] = d3 + __uint_as_float(a1 ^ a3);
#if __CUDA_ARCH__ >= 900
	asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};"
	    :: "r"(at), "r"(a0), "r"(a1) : "memory");
#endif
}
