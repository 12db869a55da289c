/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative groups: tiles of every size, coalesced and labelled groups,
 * reductions and scans, the grid's barrier, and a solver that uses it. */
// archs: 75 80 90a 100a 120a
// quick: 80/rdc 120a/lineinfo
// contents: 3
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

template <int N>
__device__ int tile_work(cg::thread_block block, const int *in)
{
	auto tile = cg::tiled_partition<N>(block);
	int v = in[block.thread_rank()];

	v += tile.shfl_down(v, 1);
	v ^= tile.shfl_xor(v, N / 2);
	if (tile.any(v > 3) && !tile.all(v))
		v += tile.ballot(v & 1);
	tile.sync();
	v += tile.match_any(v);
	return cg::reduce(tile, v, cg::plus<int>()) + cg::inclusive_scan(tile, v) +
	    cg::exclusive_scan(tile, v, cg::bit_xor<int>());
}

__global__ void tiles(const int *in, int *out)
{
	auto block = cg::this_thread_block();

	out[block.thread_rank()] = tile_work<2>(block, in) + tile_work<4>(block, in) +
	    tile_work<8>(block, in) + tile_work<16>(block, in) + tile_work<32>(block, in);
}

__global__ void wide_tile(const float *in, float *out)
{
	__shared__ cg::block_tile_memory<256> room;
	auto block = cg::this_thread_block(room);
	auto tile = cg::tiled_partition<128>(block);
	float v = cg::reduce(tile, in[block.thread_rank()], cg::greater<float>());

	tile.sync();
	if (tile.thread_rank() == 0)
		out[tile.meta_group_rank()] = v;
}

__global__ void formed_at_run_time(const int *in, int *out)
{
	auto block = cg::this_thread_block();
	auto warp = cg::tiled_partition<32>(block);
	int v = in[block.thread_rank()];

	if (v & 1) {
		auto active = cg::coalesced_threads();
		if (active.thread_rank() == 0)
			atomicAdd(&out[0], (int)active.size());
		v = active.shfl(v, 0);
		active.sync();
	}
	auto same = cg::labeled_partition(warp, v % 3);
	out[1 + block.thread_rank()] = cg::reduce(same, v, cg::plus<int>());
	auto half = cg::binary_partition(warp, v > 0);
	out[1025 + block.thread_rank()] = half.size();
	auto dynamic = cg::tiled_partition(block, 8);
	dynamic.sync();
	cg::invoke_one(warp, [&] { out[0] += 1; });
}

__global__ void jacobi(float *a, float *b, int n, int rounds, float *change)
{
	auto grid = cg::this_grid();
	auto block = cg::this_thread_block();
	auto warp = cg::tiled_partition<32>(block);

	for (int r = 0; r < rounds; r++) {
		float worst = 0;
		for (int i = 1 + grid.thread_rank(); i < n - 1; i += grid.num_threads()) {
			b[i] = 0.5f * (a[i - 1] + a[i + 1]);
			worst = fmaxf(worst, fabsf(b[i] - a[i]));
		}
		worst = cg::reduce(warp, worst, cg::greater<float>());
		if (warp.thread_rank() == 0)
			atomicMax((int *)&change[r], __float_as_int(worst));
		grid.sync();
		if (change[r] < 1e-6f)
			break;
		float *t = a;
		a = b;
		b = t;
	}
	auto token = grid.barrier_arrive();
	float last = a[0];
	grid.barrier_wait(cuda::std::move(token));
	b[grid.block_rank()] = last;
}

__global__ void block_barrier(int *data)
{
	auto block = cg::this_thread_block();
	auto token = block.barrier_arrive();
	int v = block.thread_index().x + block.group_index().y;

	block.barrier_wait(cuda::std::move(token));
	data[block.thread_rank()] = v;
	cg::sync(block);
}
