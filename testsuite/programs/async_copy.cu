// SPDX-License-Identifier: Apache-2.0
//
// Copies into shared memory that nobody waits for until they are needed (cp.async).
// prints: sum 130816
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

namespace cg = cooperative_groups;

__global__ void sum(const int *a, int n, int *out)
{
	__shared__ int stage[2][128];
	auto block = cg::this_thread_block();
	int v = 0, stages = n / 128;

	cg::memcpy_async(block, stage[0], a, sizeof stage[0]);
	for (int s = 0; s < stages; s++) {
		if (s + 1 < stages) {
			cg::memcpy_async(block, stage[(s + 1) % 2], a + (s + 1) * 128, sizeof stage[0]);
			cg::wait_prior<1>(block);
		} else {
			cg::wait(block);
		}
		v += stage[s % 2][threadIdx.x];
		block.sync();
	}
	atomicAdd(out, v);
}

int main()
{
	int h[512], *a, *out;

	for (int i = 0; i < 512; i++)
		h[i] = i;
	CHECK(cudaMalloc(&a, sizeof h));
	CHECK(cudaMalloc(&out, sizeof *out));
	CHECK(cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice));
	CHECK(cudaMemset(out, 0, sizeof *out));
	sum<<<1, 128>>>(a, 512, out);
	CHECK(cudaMemcpy(h, out, sizeof *out, cudaMemcpyDeviceToHost));
	printf("sum %d\n", h[0]);
	return 0;
}
