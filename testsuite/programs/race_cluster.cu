// SPDX-License-Identifier: Apache-2.0
//
// A block reads its neighbour's shared memory without waiting for the cluster.
// race: data-race
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) share(int *out)
{
	__shared__ int mine;
	cg::cluster_group cluster = cg::this_cluster();

	cluster.sync();
	if (threadIdx.x == 0)
		mine = blockIdx.x;      // first
	__syncthreads();
	if (threadIdx.x == 0)
		out[blockIdx.x] = *cluster.map_shared_rank(&mine, cluster.block_rank() ^ 1);    // second
	cluster.sync();
}

int main()
{
	int *out;

	CHECK(cudaMalloc(&out, 2 * sizeof *out));
	share<<<2, 32>>>(out);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
