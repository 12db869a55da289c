// SPDX-License-Identifier: Apache-2.0
//
// Functions by pointers, virtual functions, recursion, memory from the device's heap.
// prints: 55 by recursion, 30 by a pointer, area 12, heap 99
#include "check.h"

typedef int (*binary)(int, int);

__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ binary op = times;

struct shape {
	__device__ virtual int area() const { return 0; }
};

struct square : shape {
	int side;
	__device__ square(int s) : side(s) {}
	__device__ int area() const override { return side * side; }
};

struct box : square {
	__device__ box(int s) : square(s) {}
	__device__ int area() const override { return side * (side + 1); }
};

__global__ void run(int *out, int which)
{
	shape *s = which ? new box(3) : new square(3);
	int *heap = (int *)malloc(64 * sizeof(int));

	heap[63] = 99;
	out[0] = fib(10);
	out[1] = op(5, 6);
	out[2] = s->area();
	out[3] = heap[63];
	free(heap);
	delete s;
}

int main()
{
	int *out, h[4];

	CHECK(cudaMalloc(&out, sizeof h));
	run<<<1, 1>>>(out, 1);
	CHECK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
	printf("%d by recursion, %d by a pointer, area %d, heap %d\n", h[0], h[1], h[2], h[3]);
	return 0;
}
