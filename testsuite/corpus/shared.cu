/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory as kernels use it: dynamic with several arrays carved out of
 * it, static of every type, padded, volatile, unions, and through generic
 * pointers that may point anywhere. */
// archs: 75 80 90a 100a 120a
// quick: 75/G 100a/rdc
// contents: 5
#include <cuda_runtime.h>

extern __shared__ __align__(16) unsigned char dynamic[];

template <class T>
__device__ T reduce_block(T v, T *room)
{
	room[threadIdx.x] = v;
	__syncthreads();
	for (int s = blockDim.x / 2; s > 0; s >>= 1) {
		if (threadIdx.x < s)
			room[threadIdx.x] += room[threadIdx.x + s];
		__syncthreads();
	}
	T r = room[0];
	__syncthreads();
	return r;
}

__global__ void carved(const float *in, double *out, int n)
{
	float *f = (float *)dynamic;
	double *d = (double *)(dynamic + n * sizeof(float));
	short *s = (short *)(d + n);

	out[0] = reduce_block(in[threadIdx.x], f);
	out[1] = reduce_block((double)in[threadIdx.x] * 2, d);
	s[threadIdx.x] = (short)in[threadIdx.x];
	__syncthreads();
	out[2 + threadIdx.x] = s[n - 1 - threadIdx.x];
}

__global__ void old_style(int *out)
{
	volatile int *v = (volatile int *)dynamic;
	int lane = threadIdx.x % 32;

	v[threadIdx.x] = threadIdx.x;
	if (lane < 16) {
		v[threadIdx.x] += v[threadIdx.x + 16];
		v[threadIdx.x] += v[threadIdx.x + 8];
		v[threadIdx.x] += v[threadIdx.x + 4];
	}
	out[threadIdx.x] = v[threadIdx.x];
}

__global__ void types(float4 *out, int n)
{
	__shared__ char c[128];
	__shared__ short2 s[64];
	__shared__ float4 f[64];
	__shared__ double padded[16][17];
	__shared__ union { int i; float f; unsigned char b[4]; } u[32];
	__shared__ struct { char a; int b; short c; long long d; } r[8];
	int t = threadIdx.x;

	c[t % 128] = t;
	s[t % 64] = make_short2(t, -t);
	f[t % 64] = make_float4(t, 1, 2, 3);
	padded[t % 16][t / 16 % 16] = t;
	u[t % 32].f = t;
	r[t % 8].d = t;
	r[t % 8].c = 3;
	__syncthreads();
	float4 v = f[n % 64];
	v.x += c[n % 128] + s[n % 64].y;
	v.y += padded[n % 16][n % 17];
	v.z += u[n % 32].b[n % 4];
	v.w += r[n % 8].d + r[n % 8].a;
	out[t] = v;
}

__device__ __noinline__ void anywhere(int *p, const int *q, int n)
{
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		p[i] = q[i] + 1;
}

__global__ void generic(int *g, int n)
{
	__shared__ int a[256];
	int local[4] = { 1, 2, 3, (int)threadIdx.x };

	anywhere(a, g, 256);
	__syncthreads();
	anywhere(g, a, 256);
	__syncthreads();
	int *p = n < 1 ? a : n < 2 ? g : local;
	p[n & 3] += 1;
	g[300 + threadIdx.x] = local[n & 3] + __isShared(p) + __isGlobal(p) * 2 + __isLocal(p) * 4;
}

template <int TILE>
__global__ void matmul(const float *a, const float *b, float *c, int n)
{
	__shared__ float ta[TILE][TILE], tb[TILE][TILE + 1];
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
	float sum = 0;

	for (int k = 0; k < n; k += TILE) {
		ta[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
		tb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
		__syncthreads();
#pragma unroll
		for (int i = 0; i < TILE; i++)
			sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
		__syncthreads();
	}
	c[y * n + x] = sum;
}
template __global__ void matmul<16>(const float *, const float *, float *, int);
template __global__ void matmul<32>(const float *, const float *, float *, int);
