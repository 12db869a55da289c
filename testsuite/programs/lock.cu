// SPDX-License-Identifier: Apache-2.0
//
// Blocks that take turns by a lock, and one that hands a value to another by a flag.
// prints: 8 turns, handed 42
#include "check.h"
#include <cuda/atomic>

__device__ int lock, turns, flag, value, handed;

__global__ void take_turns()
{
	cuda::atomic_ref<int, cuda::thread_scope_device> l(lock), f(flag);

	if (threadIdx.x)
		return;
	while (l.exchange(1, cuda::memory_order_acquire))
		__nanosleep(20);
	turns++;
	l.store(0, cuda::memory_order_release);
	if (blockIdx.x == 0) {
		value = 42;
		f.store(1, cuda::memory_order_release);
	} else if (blockIdx.x == 1) {
		while (!f.load(cuda::memory_order_acquire))
			;
		handed = value;
	}
}

int main()
{
	int n, h;

	take_turns<<<8, 32>>>();
	CHECK(cudaMemcpyFromSymbol(&n, turns, sizeof n));
	CHECK(cudaMemcpyFromSymbol(&h, handed, sizeof h));
	printf("%d turns, handed %d\n", n, h);
	return 0;
}
