// SPDX-License-Identifier: Apache-2.0
//
// A graph captured from two streams, instantiated, launched, updated; errors of capture.
// prints: 5 nodes, 1 root
// prints: after three launches 6 6
// prints: updated: 6 9
// prints: a copy that blocks: operation would make the legacy stream depend on a capturing blocking stream
#include "check.h"

__global__ void add(int *a, int v)
{
	a[threadIdx.x] += v;
}

static cudaGraph_t record(cudaStream_t s, cudaStream_t t, int *a, int *b, int v)
{
	cudaEvent_t fork, join;
	cudaGraph_t g;

	CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	add<<<1, 32, 0, s>>>(a, 1);
	CHECK(cudaEventRecord(fork, s));
	CHECK(cudaStreamWaitEvent(t, fork, 0));
	add<<<1, 32, 0, t>>>(b, v);
	add<<<1, 32, 0, s>>>(a, 1);
	CHECK(cudaEventRecord(join, t));
	CHECK(cudaStreamWaitEvent(s, join, 0));
	add<<<1, 32, 0, s>>>(b, 0);
	CHECK(cudaMemsetAsync(a + 32, 0, 4, s));
	CHECK(cudaStreamEndCapture(s, &g));
	CHECK(cudaEventDestroy(fork));
	CHECK(cudaEventDestroy(join));
	return g;
}

int main()
{
	cudaStream_t s, t;
	cudaGraph_t g, other;
	cudaGraphExec_t exec;
	cudaGraphExecUpdateResultInfo info;
	int *a, *b, h[2];
	size_t nodes, roots;

	CHECK(cudaStreamCreate(&s));
	CHECK(cudaStreamCreate(&t));
	CHECK(cudaMalloc(&a, 34 * sizeof *a));
	CHECK(cudaMalloc(&b, 34 * sizeof *b));
	CHECK(cudaMemset(a, 0, 34 * sizeof *a));
	CHECK(cudaMemset(b, 0, 34 * sizeof *b));
	g = record(s, t, a, b, 2);
	CHECK(cudaGraphGetNodes(g, NULL, &nodes));
	CHECK(cudaGraphGetRootNodes(g, NULL, &roots));
	printf("%zu nodes, %zu root\n", nodes, roots);
	CHECK(cudaGraphInstantiate(&exec, g, 0));
	for (int i = 0; i < 3; i++)
		CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaMemcpy(&h[0], a, 4, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(&h[1], b, 4, cudaMemcpyDeviceToHost));
	printf("after three launches %d %d\n", h[0], h[1]);
	other = record(s, t, b, a, 0);
	CHECK(cudaGraphDestroy(other));
	other = record(s, t, a + 1, b, 3);
	CHECK(cudaGraphExecUpdate(exec, other, &info));
	CHECK(cudaGraphDestroy(other));
	CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaMemcpy(&h[0], a, 4, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(&h[1], b, 4, cudaMemcpyDeviceToHost));
	printf("updated: %d %d\n", h[0], h[1]);
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
	printf("a copy that blocks: %s\n", cudaGetErrorString(cudaMemcpy(h, a, 4, cudaMemcpyDeviceToHost)));
	cudaStreamEndCapture(s, &other);
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(g));
	return 0;
}
