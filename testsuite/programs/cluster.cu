// SPDX-License-Identifier: Apache-2.0
//
// Blocks of a cluster that read each other's shared memory, launched by
// cudaLaunchKernelEx.
// prints: clusters fit: yes
// prints: 2 clusters of 4: sums 6 22
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void share(int *out)
{
	__shared__ int mine;
	cg::cluster_group cluster = cg::this_cluster();
	int sum = 0;

	if (threadIdx.x == 0)
		mine = blockIdx.x;
	cluster.sync();
	if (threadIdx.x == 0 && cluster.block_rank() == 0) {
		for (unsigned r = 0; r < cluster.num_blocks(); r++)
			sum += *cluster.map_shared_rank(&mine, r);
		out[blockIdx.x / cluster.num_blocks()] = sum;
	}
	cluster.sync();
}

int main()
{
	cudaLaunchConfig_t config = {};
	cudaLaunchAttribute attribute = {};
	int *out, h[2], n;

	CHECK(cudaMalloc(&out, sizeof h));
	config.gridDim = dim3(8);
	config.blockDim = dim3(32);
	attribute.id = cudaLaunchAttributeClusterDimension;
	attribute.val.clusterDim.x = 4;
	attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
	config.attrs = &attribute;
	config.numAttrs = 1;
	CHECK(cudaOccupancyMaxActiveClusters(&n, share, &config));
	printf("clusters fit: %s\n", n > 0 ? "yes" : "no");
	CHECK(cudaLaunchKernelEx(&config, share, out));
	CHECK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
	printf("2 clusters of 4: sums %d %d\n", h[0], h[1]);
	return 0;
}
