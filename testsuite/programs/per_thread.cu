// SPDX-License-Identifier: Apache-2.0
//
// Built so that the default stream is each thread's own.
// flags: --default-stream per-thread -gencode arch=compute_90,code=compute_90
// prints: 100 and 200
// prints: capture of the default stream: no error
#include "check.h"
#include <thread>

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v;
}

static void work(int v, int *out)
{
	int *a, h[64];

	CHECK(cudaMalloc(&a, sizeof h));
	CHECK(cudaMemset(a, 0, sizeof h));
	fill<<<1, 64>>>(a, v);
	CHECK(cudaStreamSynchronize(0));
	CHECK(cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost));
	CHECK(cudaFree(a));
	*out = h[63];
}

int main()
{
	cudaGraph_t graph;
	int a = 0, b = 0;
	std::thread one(work, 100, &a), two(work, 200, &b);

	one.join();
	two.join();
	printf("%d and %d\n", a, b);
	printf("capture of the default stream: %s\n",
	       cudaGetErrorString(cudaStreamBeginCapture(0, cudaStreamCaptureModeRelaxed)));
	CHECK(cudaStreamEndCapture(0, &graph));
	return 0;
}
