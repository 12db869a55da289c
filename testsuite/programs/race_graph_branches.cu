// SPDX-License-Identifier: Apache-2.0
//
// A graph that is captured from two streams: the second one's kernel reads what the first one's writes, and waits for what
// comes before that alone.
// race: stream-race
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;               // first
}

__global__ void take(const int *a, int *b)
{
	b[threadIdx.x] = a[63 - threadIdx.x];           // second
}

int main()
{
	cudaStream_t s, t;
	cudaEvent_t fork, join;
	cudaGraph_t g;
	cudaGraphExec_t exec;
	int *a, *b, *c;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&fork));
	CHECK(cudaEventCreate(&join));
	CHECK(cudaMalloc(&a, 256));
	CHECK(cudaMalloc(&b, 256));
	CHECK(cudaMalloc(&c, 256));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	CHECK(cudaMemsetAsync(c, 0, 256, s));
	CHECK(cudaEventRecord(fork, s));                // one line too early
	fill<<<1, 64, 0, s>>>(a, 1);
	CHECK(cudaStreamWaitEvent(t, fork, 0));
	take<<<1, 64, 0, t>>>(a, b);
	CHECK(cudaEventRecord(join, t));
	CHECK(cudaStreamWaitEvent(s, join, 0));
	CHECK(cudaStreamEndCapture(s, &g));
	CHECK(cudaGraphInstantiate(&exec, g, 0));
	CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaDeviceSynchronize());
	return 0;
}
