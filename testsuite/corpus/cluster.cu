/* SPDX-License-Identifier: Apache-2.0 */
/* Thread-block clusters and what surrounds a kernel: distributed shared memory
 * through cooperative groups, bounds and register limits, constant parameters. */
// archs: 90a 100a 120a
// quick: 90a/G 120a/plain
// contents: 3
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4) __launch_bounds__(128) histogram(const int *in, int n, int *bins)
{
	extern __shared__ int mine[];
	auto cluster = cg::this_cluster();
	int per = 64;

	for (int i = threadIdx.x; i < per; i += blockDim.x)
		mine[i] = 0;
	cluster.sync();
	for (int i = cluster.thread_rank(); i < n; i += cluster.num_threads()) {
		int bin = in[i] & 255;
		int *there = cluster.map_shared_rank(mine, bin / per);
		atomicAdd(there + bin % per, 1);
	}
	cluster.sync();
	for (int i = threadIdx.x; i < per; i += blockDim.x)
		atomicAdd(&bins[cluster.block_rank() * per + i], mine[i]);
}

__global__ void __cluster_dims__(2, 2, 1) split(float *out)
{
	__shared__ float box[32];
	auto cluster = cg::this_cluster();
	auto token = cluster.barrier_arrive();
	float v = threadIdx.x * 2.0f;

	cluster.barrier_wait(cuda::std::move(token));
	unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
	cluster.map_shared_rank(box, next)[threadIdx.x % 32] = v;
	cluster.sync();
	out[blockIdx.x * 32 + threadIdx.x % 32] = box[threadIdx.x % 32];
	if (cluster.query_shared_rank(box) == 0)
		out[0] += cluster.dim_blocks().x + cluster.block_index().y;
}

struct options { int n; float scale; const float *table; int pad[20]; };

__global__ void __launch_bounds__(256, 2, 4) parameters(const __grid_constant__ options o, float *out)
{
	const options *p = &o;

	out[threadIdx.x] = p->table[threadIdx.x % p->n] * o.scale + p->pad[threadIdx.x % 20];
}

__global__ void __maxnreg__(40) few_registers(double *p)
{
	double v[12];

	for (int i = 0; i < 12; i++)
		v[i] = p[threadIdx.x + i * 32];
	for (int k = 0; k < 8; k++)
		for (int i = 0; i < 12; i++)
			v[i] = v[i] * v[(i + 1) % 12] + k;
	for (int i = 0; i < 12; i++)
		p[threadIdx.x + i * 32] = v[i];
}
