// SPDX-License-Identifier: Apache-2.0
//
// Events that nodes of a graph record and wait for: other streams wait for the one, the graph waits for what they have
// recorded; also where the instance gets another event.  Functions of the host in graphs read what comes before them.
// prints: 31 62 93 124
// prints: the host: 496 496
#include "check.h"

__global__ void fill(int *a)
{
	a[threadIdx.x] = threadIdx.x;
}

__global__ void add(int *a)
{
	a[threadIdx.x] += threadIdx.x;
}

static cudaGraphNode_t kernel(cudaGraph_t g, void (*f)(int *), int *a, const cudaGraphNode_t *behind)
{
	cudaKernelNodeParams p = {};
	cudaGraphNode_t node;
	void *args[] = {&a};

	p.func = (void *)f;
	p.gridDim = 1;
	p.blockDim = 32;
	p.kernelParams = args;
	CHECK(cudaGraphAddKernelNode(&node, g, behind, behind != nullptr, &p));
	return node;
}

struct sum { int *a, got; };

// Far from the driver that has called it.
static __attribute__((noinline)) int far(const int *a, int depth)
{
	volatile int v = depth ? far(a, depth - 1) : *a;

	return v;
}

static void CUDART_CB sum_up(void *arg)
{
	sum *s = (sum *)arg;

	s->got = 0;
	for (int i = 0; i < 32; i++)
		s->got += far(s->a + i, 30);
}

static int last_of(const int *a, cudaStream_t s)
{
	int h[32];

	CHECK(cudaMemcpyAsync(h, a, sizeof h, cudaMemcpyDeviceToHost, s));
	CHECK(cudaStreamSynchronize(s));
	return h[31];
}

int main()
{
	cudaStream_t one, two;
	cudaGraph_t first, second, host;
	cudaGraphExec_t first_exec, second_exec, host_exec;
	cudaGraphNode_t node, record, wait;
	cudaEvent_t event, other;
	int *a, now[3];
	sum s = {};

	CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&event));
	CHECK(cudaEventCreate(&other));
	CHECK(cudaMalloc(&a, 32 * sizeof *a));

	CHECK(cudaGraphCreate(&first, 0));
	node = kernel(first, fill, a, nullptr);
	CHECK(cudaGraphAddEventRecordNode(&record, first, &node, 1, event));
	CHECK(cudaGraphInstantiate(&first_exec, first, 0));
	CHECK(cudaGraphCreate(&second, 0));
	CHECK(cudaGraphAddEventWaitNode(&wait, second, nullptr, 0, event));
	kernel(second, add, a, &wait);
	CHECK(cudaGraphInstantiate(&second_exec, second, 0));

	CHECK(cudaGraphLaunch(first_exec, one));
	CHECK(cudaStreamWaitEvent(two, event, 0));
	now[0] = last_of(a, two);
	add<<<1, 32, 0, two>>>(a);
	CHECK(cudaEventRecord(event, two));
	CHECK(cudaGraphLaunch(second_exec, one));
	now[1] = last_of(a, one);

	// The instances by another event, and then by one of a changed graph.
	CHECK(cudaGraphExecEventRecordNodeSetEvent(first_exec, record, other));
	CHECK(cudaGraphExecEventWaitNodeSetEvent(second_exec, wait, other));
	CHECK(cudaGraphLaunch(first_exec, one));
	CHECK(cudaGraphLaunch(second_exec, two));
	now[2] = last_of(a, two);
	printf("%d %d %d ", now[0], now[1] - 31, now[2] + 31);
	CHECK(cudaGraphLaunch(second_exec, two));
	CHECK(cudaGraphLaunch(second_exec, two));
	printf("%d\n", last_of(a, two));

	CHECK(cudaMallocHost(&s.a, 32 * sizeof *s.a));
	CHECK(cudaGraphCreate(&host, 0));
	cudaHostNodeParams p = {sum_up, &s};
	CHECK(cudaGraphAddHostNode(&node, host, nullptr, 0, &p));
	CHECK(cudaGraphInstantiate(&host_exec, host, 0));
	fill<<<1, 32, 0, one>>>(s.a);
	CHECK(cudaGraphLaunch(host_exec, one));
	CHECK(cudaStreamSynchronize(one));
	printf("the host: %d", s.got);
	CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
	CHECK(cudaLaunchHostFunc(one, sum_up, &s));
	CHECK(cudaStreamEndCapture(one, &host));
	CHECK(cudaGraphInstantiate(&host_exec, host, 0));
	fill<<<1, 32, 0, one>>>(s.a);
	CHECK(cudaGraphLaunch(host_exec, one));
	CHECK(cudaStreamSynchronize(one));
	printf(" %d\n", s.got);
	return 0;
}
