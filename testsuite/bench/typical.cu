/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels as people write them, whose cost is measured as that of kernels.cu is: vectors of 16 bytes,
 * tiles in registers, cp.async with ldmatrix and mma, a scan in one pass, a barrier of the grid.  All
 * state their block size.  `typical NAME` prints
 *	NAME MILLISECONDS MIB_OF_DATA MIB_IN_USE
 * and verifies a result. */
#include <cmath>
#include <cooperative_groups.h>
#include <cstring>
#include <cuda/atomic>
#include <cuda_fp16.h>
#include <vector>

#include "measure.h"

enum { THREADS = 256 };
#define KERNEL(threads) static __global__ void __launch_bounds__(threads)

/* Small whole numbers, so that sums are exact. */
template <class T>
static T *memory(size_t n)
{
	std::vector<T> h(n);
	T *p;

	for (size_t i = 0; i < n; i++)
		h[i] = (T)(float)(i * 7 % 5);
	asked += n * sizeof(T);
	CHECK(cudaMalloc((void **)&p, n * sizeof(T)));
	CHECK(cudaMemcpy(p, h.data(), n * sizeof(T), cudaMemcpyHostToDevice));
	return p;
}

static float word(size_t i) { return (float)(i * 7 % 5); }

template <class T>
static T at(const T *p, size_t i)
{
	T v;

	CHECK(cudaMemcpy(&v, p + i, sizeof v, cudaMemcpyDeviceToHost));
	return v;
}

KERNEL(THREADS) copy(const float4 *a, float4 *b, int n)
{
	for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
		float4 v = a[i];

		v.x += 1;
		b[i] = v;
	}
}

/* A row for each block: what is left of it without its mean. */
KERNEL(THREADS) center(const float4 *a, float4 *b, int columns)
{
	__shared__ float part[THREADS / 32];
	const float4 *from = a + (size_t)blockIdx.x * columns;
	float4 *to = b + (size_t)blockIdx.x * columns;
	float sum = 0, mean = 0;

	for (int i = threadIdx.x; i < columns; i += THREADS)
		sum += from[i].x + from[i].y + from[i].z + from[i].w;
	for (int k = 16; k; k /= 2)
		sum += __shfl_xor_sync(~0u, sum, k);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = sum;
	__syncthreads();
	for (int k = 0; k < THREADS / 32; k++)
		mean += part[k];
	mean /= 4 * columns;
	for (int i = threadIdx.x; i < columns; i += THREADS) {
		float4 v = from[i];

		to[i] = make_float4(v.x - mean, v.y - mean, v.z - mean, v.w - mean);
	}
}

/* 3 x 3 from a tile in shared memory. */
KERNEL(THREADS) convolve(const float *a, float *b, int w)
{
	__shared__ float tile[18][34];
	int left = blockIdx.x * 32, top = blockIdx.y * 16;

	for (int i = threadIdx.x; i < 18 * 34; i += THREADS) {
		int y = min(max(top + i / 34 - 1, 0), w - 1), x = min(max(left + i % 34 - 1, 0), w - 1);

		tile[i / 34][i % 34] = a[(size_t)y * w + x];
	}
	__syncthreads();
	for (int y = threadIdx.x / 32, x = threadIdx.x % 32; y < 16; y += THREADS / 32) {
		float sum = 0;

		for (int j = 0; j < 3; j++)
			for (int i = 0; i < 3; i++)
				sum += tile[y + j][x + i] * (j * 3 + i);
		b[(size_t)(top + y) * w + left + x] = sum;
	}
}

/* c = a b: 64 x 64 of it for each block, 4 x 4 in registers. */
KERNEL(THREADS) sgemm(const float *a, const float *b, float *c, int n)
{
	__shared__ float sa[16][64 + 4], sb[16][64 + 4];
	int t = threadIdx.x, x = t % 16, y = t / 16;
	float acc[4][4] = {};

	a += (size_t)blockIdx.y * 64 * n;
	b += blockIdx.x * 64;
	for (int k = 0; k < n; k += 16) {
		float4 v = *(const float4 *)(a + (size_t)(t / 4) * n + k + t % 4 * 4);

		sa[t % 4 * 4][t / 4] = v.x;
		sa[t % 4 * 4 + 1][t / 4] = v.y;
		sa[t % 4 * 4 + 2][t / 4] = v.z;
		sa[t % 4 * 4 + 3][t / 4] = v.w;
		*(float4 *)&sb[y][x * 4] = *(const float4 *)(b + (size_t)(k + y) * n + x * 4);
		__syncthreads();
#pragma unroll
		for (int i = 0; i < 16; i++) {
			float4 p = *(float4 *)&sa[i][y * 4], q = *(float4 *)&sb[i][x * 4];
			float ps[4] = { p.x, p.y, p.z, p.w }, qs[4] = { q.x, q.y, q.z, q.w };

			for (int r = 0; r < 4; r++)
				for (int s = 0; s < 4; s++)
					acc[r][s] += ps[r] * qs[s];
		}
		__syncthreads();
	}
	for (int r = 0; r < 4; r++)
		*(float4 *)(c + (size_t)(blockIdx.y * 64 + y * 4 + r) * n + blockIdx.x * 64 + x * 4) =
			make_float4(acc[r][0], acc[r][1], acc[r][2], acc[r][3]);
}

static __device__ unsigned shared(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
/* Rows of 64 bytes, whose four pieces change places with the row. */
static __device__ unsigned piece(const __half *tile, int row, int column)
{
	return shared(tile + row * 32 + ((column ^ row >> 1) & 3) * 8);
}
static __device__ void load_piece(unsigned to, const __half *from)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(from) : "memory");
}
static __device__ void load_matrices(unsigned *r, unsigned from)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
		     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
}

/* c = a b': 128 x 128 of it for each block, three stages that cp.async fills. */
KERNEL(128) hgemm(const __half *a, const __half *b, float *c, int n)
{
	__shared__ __align__(128) __half sa[3][128 * 32], sb[3][128 * 32];
	int t = threadIdx.x, lane = t % 32, y = t / 64 * 64, x = t / 32 % 2 * 64;
	float acc[4][8][4] = {};
	auto load = [&](int s, int k) {
		for (int i = t; k < n && i < 512; i += 128) {
			load_piece(piece(sa[s], i / 4, i), a + (size_t)(blockIdx.y * 128 + i / 4) * n + k + i % 4 * 8);
			load_piece(piece(sb[s], i / 4, i), b + (size_t)(blockIdx.x * 128 + i / 4) * n + k + i % 4 * 8);
		}
		asm volatile("cp.async.commit_group;" ::: "memory");
	};

	load(0, 0);
	load(1, 32);
	for (int k = 0, s = 0; k < n; k += 32, s = (s + 1) % 3) {
		asm volatile("cp.async.wait_group 1;" ::: "memory");
		__syncthreads();
		load((s + 2) % 3, k + 64);
		for (int kk = 0; kk < 2; kk++) {
			unsigned p[4][4], q[4][4];

			for (int i = 0; i < 4; i++) {
				load_matrices(p[i], piece(sa[s], y + i * 16 + lane % 16, kk * 2 + lane / 16));
				load_matrices(q[i], piece(sb[s], x + i * 16 + lane % 16, kk * 2 + lane / 16));
			}
			for (int i = 0; i < 4; i++)
				for (int j = 0; j < 8; j++)
					asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
						     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
						     : "+f"(acc[i][j][0]), "+f"(acc[i][j][1]), "+f"(acc[i][j][2]), "+f"(acc[i][j][3])
						     : "r"(p[i][0]), "r"(p[i][1]), "r"(p[i][2]), "r"(p[i][3]),
						       "r"(q[j / 2][j % 2]), "r"(q[j / 2][j % 2 + 2]));
		}
	}
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 8; j++)
			for (int h = 0; h < 2; h++)
				*(float2 *)(c + (size_t)(blockIdx.y * 128 + y + i * 16 + h * 8 + lane / 4) * n +
					    blockIdx.x * 128 + x + j * 8 + lane % 4 * 2) = make_float2(acc[i][j][2 * h], acc[i][j][2 * h + 1]);
}

/* Prefix sums of 4 * THREADS numbers for each block; each looks back at what those before it have. */
KERNEL(THREADS) scan(const int4 *in, int4 *out, unsigned long long *state, unsigned *next)
{
	typedef cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> ref;
	__shared__ int part[THREADS / 32], before;
	__shared__ unsigned mine;

	if (threadIdx.x == 0)
		mine = atomicAdd(next, 1);
	__syncthreads();
	int4 v = in[mine * THREADS + threadIdx.x];
	v.y += v.x;
	v.z += v.y;
	v.w += v.z;
	int sum = v.w, lane = threadIdx.x % 32, base = 0, all = 0;
	for (int k = 1; k < 32; k *= 2) {
		int other = __shfl_up_sync(~0u, sum, k);

		sum += lane >= k ? other : 0;
	}
	if (lane == 31)
		part[threadIdx.x / 32] = sum;
	__syncthreads();
	for (int k = 0; k < THREADS / 32; k++) {
		base += k < threadIdx.x / 32 ? part[k] : 0;
		all += part[k];
	}
	if (threadIdx.x == 0) {
		int sums = 0;

		ref(state[mine]).store((mine ? 1ull : 2ull) << 32 | (unsigned)all, cuda::memory_order_release);
		for (int k = (int)mine - 1; k >= 0; k--) {
			unsigned long long x;

			while (!((x = ref(state[k]).load(cuda::memory_order_acquire)) >> 32))
				;
			sums += (int)x;
			if (x >> 32 == 2)
				break;
		}
		if (mine)
			ref(state[mine]).store(2ull << 32 | (unsigned)(sums + all), cuda::memory_order_release);
		before = sums;
	}
	__syncthreads();
	base += before + sum - v.w;
	out[mine * THREADS + threadIdx.x] = make_int4(v.x + base, v.y + base, v.z + base, v.w + base);
}

/* Numbers move by 77 places, eight times. */
KERNEL(THREADS) rotate(float *a, int n)
{
	auto grid = cooperative_groups::this_grid();

	for (int r = 0; r < 8; r++) {
		for (int i = grid.thread_rank(); i < n; i += grid.size())
			a[(r + 1) % 2 * n + i] = a[r % 2 * n + (i + 77) % n];
		grid.sync();
	}
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	bool right = false;
	float ms, want = 0;

	if (!strcmp(name, "copy")) {
		int n = 16 << 20;
		float *a = memory<float>(n), *b = memory<float>(n);

		ms = time_of(true, [=] { copy<<<1056, THREADS>>>((float4 *)a, (float4 *)b, n / 4); });
		right = at(b, n - 4) == word(n - 4) + 1;
	} else if (!strcmp(name, "center")) {
		int rows = 4096, columns = 4096;
		float *a = memory<float>(rows * columns), *b = memory<float>(rows * columns);

		ms = time_of(true, [=] { center<<<rows, THREADS>>>((float4 *)a, (float4 *)b, columns / 4); });
		for (int i = 0; i < columns; i++)
			want += word(columns + i);
		right = fabsf(at(b, columns + 3) - (word(columns + 3) - want / columns)) < 1e-3f;
	} else if (!strcmp(name, "convolve")) {
		int w = 2048;
		float *a = memory<float>(w * w), *b = memory<float>(w * w);

		ms = time_of(true, [=] { convolve<<<dim3(w / 32, w / 16), THREADS>>>(a, b, w); });
		for (int k = 0; k < 9; k++)
			want += word((20 + k / 3 - 1) * w + 33 + k % 3 - 1) * k;
		right = at(b, 20 * w + 33) == want;
	} else if (!strcmp(name, "sgemm")) {
		int n = 1024;
		float *a = memory<float>(n * n), *b = memory<float>(n * n), *c = memory<float>(n * n);

		ms = time_of(true, [=] { sgemm<<<dim3(n / 64, n / 64), THREADS>>>(a, b, c, n); });
		for (int k = 0; k < n; k++)
			want += word(3 * n + k) * word(k * n + 9);
		right = at(c, 3 * n + 9) == want;
	} else if (!strcmp(name, "hgemm")) {
		int n = 2048;
		__half *a = memory<__half>(n * n), *b = memory<__half>(n * n);
		float *c = memory<float>(n * n);

		ms = time_of(true, [=] { hgemm<<<dim3(n / 128, n / 128), 128>>>(a, b, c, n); });
		for (int k = 0; k < n; k++)
			want += word(77 * n + k) * word(101 * n + k);
		right = at(c, 77 * n + 101) == want;
	} else if (!strcmp(name, "scan")) {
		int blocks = 16384, n = 4 * THREADS * blocks;
		int *a = memory<int>(n), *b = memory<int>(n), sum = 0;
		auto *state = memory<unsigned long long>(blocks + 1);
		auto *next = (unsigned *)(state + blocks);

		ms = time_of(true, [=] {
			CHECK(cudaMemsetAsync(state, 0, (blocks + 1) * sizeof *state));
			scan<<<blocks, THREADS>>>((int4 *)a, (int4 *)b, state, next);
		});
		for (int i = 0; i < n; i++)
			sum += (int)word(i);
		right = at(b, n - 1) == sum;
	} else if (!strcmp(name, "rotate")) {
		int n = 4 << 20, sms = 0, launches = 0;
		float *a = memory<float>(2 * n);
		void *args[] = { &a, &n };

		CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
		ms = time_of(true, [&] {
			launches++;
			CHECK(cudaLaunchCooperativeKernel((void *)rotate, 2 * sms, THREADS, args, 0, 0));
		});
		right = at(a, 0) == word((size_t)launches * 8 * 77 % n);
	} else {
		fprintf(stderr, "usage: typical copy|center|convolve|sgemm|hgemm|scan|rotate\n");
		return 2;
	}
	return measured(name, ms, right);
}
