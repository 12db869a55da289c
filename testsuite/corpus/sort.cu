/* SPDX-License-Identifier: Apache-2.0 */
/* CUB inside a block: sorts, scans, reductions, exchanges, loads and stores of
 * each sort.  Unrolled by the library into long stretches of shared memory. */
// archs: 75 80 90a 100a 120a
// quick: 120a/plain
// contents: 4
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

template <class T, int THREADS, int ITEMS>
__global__ void sort(const T *in, T *out)
{
	using load = cub::BlockLoad<T, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
	using radix = cub::BlockRadixSort<T, THREADS, ITEMS, int>;
	using store = cub::BlockStore<T, THREADS, ITEMS, cub::BLOCK_STORE_WARP_TRANSPOSE>;
	__shared__ union {
		typename load::TempStorage l;
		typename radix::TempStorage r;
		typename store::TempStorage s;
	} room;
	T v[ITEMS];
	int rank[ITEMS];

	load(room.l).Load(in + blockIdx.x * THREADS * ITEMS, v);
	for (int i = 0; i < ITEMS; i++)
		rank[i] = threadIdx.x * ITEMS + i;
	__syncthreads();
	radix(room.r).Sort(v, rank);
	__syncthreads();
	for (int i = 0; i < ITEMS; i++)
		v[i] += (T)rank[i];
	store(room.s).Store(out + blockIdx.x * THREADS * ITEMS, v);
}
template __global__ void sort<int, 128, 8>(const int *, int *);
template __global__ void sort<double, 64, 5>(const double *, double *);

template <class T, int THREADS, cub::BlockScanAlgorithm A>
__global__ void scan(T *p)
{
	using block = cub::BlockScan<T, THREADS, A>;
	__shared__ typename block::TempStorage room;
	T v[4], total;

	for (int i = 0; i < 4; i++)
		v[i] = p[threadIdx.x * 4 + i];
	block(room).ExclusiveSum(v, v, total);
	for (int i = 0; i < 4; i++)
		p[threadIdx.x * 4 + i] = v[i] + total;
}
template __global__ void scan<int, 256, cub::BLOCK_SCAN_RAKING>(int *);
template __global__ void scan<float, 128, cub::BLOCK_SCAN_WARP_SCANS>(float *);
template __global__ void scan<long long, 96, cub::BLOCK_SCAN_RAKING_MEMOIZE>(long long *);

struct later { __device__ bool operator()(const int2 &a, const int2 &b) const { return a.x > b.x; } };

__global__ void others(int2 *pairs, unsigned char *bytes, unsigned *bins, float *f)
{
	using merge = cub::BlockMergeSort<int2, 128, 3>;
	using hist = cub::BlockHistogram<unsigned char, 128, 4, 64>;
	using red = cub::BlockReduce<float, 128, cub::BLOCK_REDUCE_RAKING>;
	using exch = cub::BlockExchange<int, 128, 3>;
	__shared__ typename merge::TempStorage m;
	__shared__ typename hist::TempStorage h;
	__shared__ typename red::TempStorage r;
	__shared__ typename exch::TempStorage e;
	__shared__ unsigned counts[64];
	int2 v[3];
	int w[3];
	unsigned char b[4];

	for (int i = 0; i < 3; i++)
		v[i] = pairs[threadIdx.x * 3 + i];
	merge(m).Sort(v, later());
	for (int i = 0; i < 3; i++)
		w[i] = v[i].y;
	exch(e).BlockedToStriped(w, w);
	for (int i = 0; i < 3; i++)
		pairs[threadIdx.x * 3 + i] = make_int2(v[i].x, w[i]);
	for (int i = 0; i < 4; i++)
		b[i] = bytes[threadIdx.x * 4 + i] & 63;
	hist(h).Histogram(b, counts);
	__syncthreads();
	if (threadIdx.x < 64)
		bins[threadIdx.x] = counts[threadIdx.x];
	float total = red(r).Reduce(f[threadIdx.x], [](float x, float y) { return x > y ? x : y; });
	if (threadIdx.x == 0)
		f[0] = total;
}
