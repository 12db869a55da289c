/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of every sort: through pointers and tables of pointers, virtual, with
 * recursion, structures by value both ways, noinline, tail positions, alloca. */
// archs: 75 80 90a 100a 120a
// quick: 75/rdc 80/G
// contents: 5 16 recursive
#include <cuda_runtime.h>

struct big {
	double m[5];
	char tail[3];
};

struct shape {
	__device__ virtual ~shape() {}
	__device__ virtual float area() const = 0;
	__device__ virtual int sides(int n) { return n; }
	float *where;
};

struct square : shape {
	float a;
	__device__ square(float x) : a(x) {}
	__device__ float area() const override { return a * a * *where; }
};

struct circle : shape {
	float r;
	__device__ circle(float x) : r(x) {}
	__device__ float area() const override { return 3.14159f * r * r; }
	__device__ int sides(int n) override { *where += n; return 1; }
};

__device__ __noinline__ int add(int *p, int v) { return *p += v; }
__device__ __noinline__ int mul(int *p, int v) { return *p *= v; }
__device__ __noinline__ int put(int *p, int v) { return p[threadIdx.x] = v; }
__device__ int (*const table[])(int *, int) = { add, mul, put, add };
__device__ int (*changing)(int *, int) = mul;

__device__ __noinline__ big turn(big b, int k)
{
	for (int i = 0; i < 5; i++)
		b.m[i] += b.m[(i + k) % 5];
	b.tail[k % 3]++;
	return b;
}

__device__ __noinline__ int ackermann(int m, int n)
{
	if (m == 0)
		return n + 1;
	if (n == 0)
		return ackermann(m - 1, 1);
	return ackermann(m - 1, ackermann(m, n - 1));
}

__device__ int odd(int *p, int n);
__device__ __noinline__ int even(int *p, int n) { return n == 0 ? *p : odd(p + 1, n - 1); }
__device__ __noinline__ int odd(int *p, int n) { return n == 0 ? -*p : even(p + 1, n - 1); }

__global__ void pointers(int *p, int n)
{
	__shared__ int s[64];

	s[threadIdx.x % 64] = table[n % 4](p, n);
	__syncthreads();
	changing(&s[n % 64], threadIdx.x);
	if (threadIdx.x == 0)
		changing = table[(n + 1) % 4];
	p[threadIdx.x] = s[(threadIdx.x + 1) % 64];
}

__global__ void methods(float *f, int n)
{
	square q(f[1]);
	circle c(f[2]);
	shape *s = n & 1 ? static_cast<shape *>(&q) : &c;

	s->where = f;
	f[threadIdx.x + 3] = s->area() + s->sides(n);
	shape *heap = new square(2);
	heap->where = f;
	f[0] += heap->area();
	delete heap;
}

__global__ void structures(big *b, int n)
{
	b[threadIdx.x] = turn(turn(b[threadIdx.x], n), n + 1);
}

__global__ void recursive(int *p, int m, int n)
{
	p[threadIdx.x] = ackermann(m, n) + even(p, n);
}

__global__ void dense_switch(int *p, int n)
{
	switch (n) {
	case 0: p[0] = 1; break;
	case 1: add(p, 5); break;
	case 2: p[2] = mul(p, 3); break;
	case 3: __syncthreads(); break;
	case 4: p[4] += 1; /* fall through */
	case 5: p[5] += 2; break;
	case 6: atomicAdd(p, 1); break;
	case 7: put(p, 3); return;
	case 8: __threadfence(); p[8] = 1; break;
	case 9: p[threadIdx.x] = 9; break;
	default: p[1] = n;
	}
	p[10] = 1;
}

__global__ void stack(int *p, int n)
{
	int *room = (int *)alloca(n * sizeof *room);

	for (int i = 0; i < n; i++)
		room[i] = p[i] * i;
	int big_local[64];
	for (int i = 0; i < 64; i++)
		big_local[i] = room[i % n];
	p[threadIdx.x] = big_local[p[0] % 64] + add(&big_local[n % 64], 1);
}
