/* SPDX-License-Identifier: Apache-2.0 */
/* cuda::ptx: mbarriers, bulk copies both ways, reductions, tensor copies, proxy
 * and tensor-map fences, clusters' remote stores, waiting for the grid before. */
// archs: 90a 100a 120a
// quick: 90a/rdc 100a/G 120a/lineinfo
// contents: 4
#include <cuda/barrier>
#include <cuda/ptx>

namespace ptx = cuda::ptx;
using bar_t = uint64_t;

__global__ void bulk_ring(const float *in, float *out, int n)
{
	__shared__ alignas(128) float tile[2][256];
	__shared__ bar_t full[2], empty[2];

	if (threadIdx.x == 0) {
		for (int i = 0; i < 2; i++) {
			ptx::mbarrier_init(&full[i], 1);
			ptx::mbarrier_init(&empty[i], blockDim.x);
		}
		ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
	}
	__syncthreads();
	for (int i = 0; i < n; i++) {
		int s = i % 2, phase = i / 2 % 2;
		if (threadIdx.x == 0) {
			while (!ptx::mbarrier_try_wait_parity(&empty[s], !phase))
				;
			ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta,
			    ptx::space_shared, &full[s], sizeof tile[s]);
			ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[s],
			    in + i * 256, sizeof tile[s], &full[s]);
		}
		while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &full[s], phase))
			;
		float v = tile[s][threadIdx.x] * 2;
		ptx::mbarrier_arrive(&empty[s]);
		out[i * 256 + threadIdx.x] = v;
	}
}

__global__ void bulk_out(float *out, int *counts)
{
	__shared__ alignas(128) float tile[256];
	__shared__ alignas(16) int add[64];

	tile[threadIdx.x] = threadIdx.x;
	add[threadIdx.x % 64] = 1;
	ptx::fence_proxy_async(ptx::space_shared);
	__syncthreads();
	if (threadIdx.x == 0) {
		ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, sizeof tile);
		ptx::cp_async_bulk_commit_group();
		ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add,
		    counts, add, sizeof add);
		ptx::cp_async_bulk_commit_group();
		ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>());
		tile[0] = 7;
		ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
	}
}

__global__ void tensors(const void *map, int x, int y)
{
	__shared__ alignas(128) float tile[32][32];
	__shared__ bar_t bar;
	int at2[2] = { x, y }, at3[3] = { x, y, 1 };

	if (threadIdx.x == 0) {
		ptx::mbarrier_init(&bar, 1);
		ptx::fence_proxy_async();
		ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, map, ptx::n32_t<128>());
		ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, map, at2, &bar);
		ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 4096);
	}
	__syncthreads();
	while (!ptx::mbarrier_try_wait_parity(&bar, 0))
		;
	tile[threadIdx.x % 32][threadIdx.x / 32] += 1;
	ptx::fence_proxy_async(ptx::space_shared);
	__syncthreads();
	if (threadIdx.x == 0) {
		ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, map, at3, tile);
		ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, map, at2, tile);
		ptx::cp_async_bulk_commit_group();
		ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
	}
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 1200
__global__ void tensor_map_edit(void *global_map, const int *base)
{
	__shared__ alignas(128) char map[128];

	if (threadIdx.x < 32) {
		map[threadIdx.x] = ((char *)global_map)[threadIdx.x];
		__syncwarp();
		if (threadIdx.x == 0)
			ptx::tensormap_replace_global_address(ptx::space_shared, &map, base);
		__syncwarp();
		ptx::tensormap_cp_fenceproxy(ptx::sem_release, ptx::scope_gpu, global_map, map, ptx::n32_t<128>());
	}
}
#endif

__global__ void __cluster_dims__(2, 1, 1) remote(int *out)
{
	__shared__ int box;
	__shared__ bar_t bar;

	if (threadIdx.x == 0)
		ptx::mbarrier_init(&bar, 1);
	ptx::barrier_cluster_arrive(ptx::sem_release);
	ptx::barrier_cluster_wait(ptx::sem_acquire);
	unsigned other = ptx::get_sreg_cluster_ctarank() ^ 1;
	if (threadIdx.x == 0) {
		int *there = (int *)__cluster_map_shared_rank(&box, other);
		bar_t *remote_bar = (bar_t *)__cluster_map_shared_rank(&bar, other);
		ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 4);
		ptx::st_async(there, 42, remote_bar);
	}
	while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0))
		;
	out[blockIdx.x] = box + ptx::getctarank(ptx::space_cluster, &box);
	ptx::barrier_cluster_arrive();
	ptx::barrier_cluster_wait();
}

__global__ void dependent(int *p)
{
	cudaGridDependencySynchronize();
	p[threadIdx.x]++;
	cudaTriggerProgrammaticLaunchCompletion();
}
