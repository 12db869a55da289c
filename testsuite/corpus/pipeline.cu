/* SPDX-License-Identifier: Apache-2.0 */
/* cuda::pipeline and cuda::memcpy_async: one thread's, the block's, producers
 * and consumers apart; the C interface's __pipeline_* as well. */
// archs: 75 80 90a 100a 120a
// flags: -diag-suppress 20054
// quick: 80/plain 100a/rdc
// contents: 6
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;
constexpr int STAGES = 3, CHUNK = 128;

__global__ void unified(const float4 *in, float4 *out, int chunks)
{
	__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
	__shared__ float4 stage[STAGES][CHUNK];
	auto block = cg::this_thread_block();
	auto pipe = cuda::make_pipeline(block, &state);

	for (int done = 0, fetched = 0; done < chunks; done++) {
		for (; fetched < chunks && fetched < done + STAGES; fetched++) {
			pipe.producer_acquire();
			cuda::memcpy_async(block, stage[fetched % STAGES],
			    in + fetched * CHUNK,
			    cuda::aligned_size_t<16>(sizeof(float4) * CHUNK), pipe);
			pipe.producer_commit();
		}
		pipe.consumer_wait();
		float4 v = stage[done % STAGES][block.thread_rank() % CHUNK];
		v.x *= 2;
		out[done * CHUNK + block.thread_rank() % CHUNK] = v;
		pipe.consumer_release();
	}
}

__global__ void partitioned(const int *in, int *out, int chunks)
{
	__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
	__shared__ int stage[2][CHUNK];
	auto block = cg::this_thread_block();
	bool producer = block.thread_rank() < 32;
	auto pipe = cuda::make_pipeline(block, &state,
	    producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);

	for (int i = 0; i < chunks; i++) {
		if (producer) {
			pipe.producer_acquire();
			for (int j = block.thread_rank(); j < CHUNK; j += 32)
				cuda::memcpy_async(&stage[i % 2][j], &in[i * CHUNK + j],
				    sizeof(int), pipe);
			pipe.producer_commit();
		} else {
			pipe.consumer_wait();
			for (unsigned j = block.thread_rank() - 32; j < CHUNK; j += block.size() - 32)
				out[i * CHUNK + j] = stage[i % 2][j] + 1;
			pipe.consumer_release();
		}
	}
}

__global__ void own(const int *in, int *out, int n)
{
	extern __shared__ int mine[];
	auto pipe = cuda::make_pipeline();
	int t = threadIdx.x;

	for (int i = 0; i < n; i += 2) {
		pipe.producer_acquire();
		cuda::memcpy_async(&mine[t], &in[i * blockDim.x + t], sizeof(int), pipe);
		pipe.producer_commit();
		pipe.producer_acquire();
		cuda::memcpy_async(&mine[t + blockDim.x], &in[(i + 1) * blockDim.x + t],
		    sizeof(int), pipe);
		pipe.producer_commit();
		cuda::pipeline_consumer_wait_prior<1>(pipe);
		out[i * blockDim.x + t] = mine[t];
		cuda::pipeline_consumer_wait_prior<0>(pipe);
		out[(i + 1) * blockDim.x + t] = mine[t + blockDim.x];
		pipe.consumer_release();
		pipe.consumer_release();
	}
}

__global__ void primitives(const double2 *in, double2 *out)
{
	__shared__ double2 tile[256];

	__pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 16);
	__pipeline_commit();
	__pipeline_memcpy_async(&tile[threadIdx.x + 128], &in[threadIdx.x + 128], 16, 4);
	__pipeline_commit();
	__pipeline_wait_prior(1);
	__syncthreads();
	out[threadIdx.x] = tile[127 - threadIdx.x];
	__pipeline_wait_prior(0);
	__syncthreads();
	out[threadIdx.x + 128] = tile[255 - threadIdx.x];
}

__global__ void group_copy(const char *in, char *out, int n)
{
	extern __shared__ char room[];
	auto tile = cg::tiled_partition<32>(cg::this_thread_block());

	cg::memcpy_async(tile, room + tile.meta_group_rank() * 256, in, n);
	cg::wait(tile);
	out[threadIdx.x] = room[tile.meta_group_rank() * 256 + tile.thread_rank()];
	cg::memcpy_async(cg::this_thread_block(), room, in + 512, n);
	cg::wait_prior<0>(cg::this_thread_block());
	out[threadIdx.x + 512] = room[threadIdx.x];
}

__global__ void with_barrier(const int *in, int *out)
{
	__shared__ cuda::barrier<cuda::thread_scope_block> bar;
	__shared__ int tile[512];
	auto block = cg::this_thread_block();

	if (block.thread_rank() == 0)
		init(&bar, block.size());
	block.sync();
	cuda::memcpy_async(block, tile, in, sizeof tile, bar);
	bar.arrive_and_wait();
	out[block.thread_rank()] = tile[511 - block.thread_rank()];
}
