// SPDX-License-Identifier: Apache-2.0
//
// Right programs that leave it to CUB, Thrust and cooperative groups to synchronise: -DCASE=1 to -DCASE=25 chooses one.  Each
// holds what the device made of so many random numbers, -DELEMENTS, against what the host does.
#include <algorithm>
#include <numeric>

#include "../gpu/common.h"

#ifndef ELEMENTS
#define ELEMENTS 10000
#endif

using numbers = std::vector<unsigned>;

static const int n = ELEMENTS;
static bool right = true;
static uint64_t sum;

// Repeatable numbers below a limit; 0: any
[[maybe_unused]] static numbers random_numbers(unsigned below, uint32_t seed = 7)
{
	numbers v(n);
	for (unsigned &x : v)
		x = below ? next_random(seed) % below : next_random(seed);
	return v;
}

// Room on the device
[[maybe_unused]] static unsigned *room_for(size_t size = n)
{
	return device<unsigned>(size);
}

template <class T>
void expect(const std::vector<T> &got, const std::vector<T> &want)
{
	right = right && got == want;
	sum = sum * 31 + digest(got.data(), got.size() * sizeof(T));
}

// The first of the memory at p must be what is wanted.
template <class T>
void expect(const T *p, const std::vector<T> &want)
{
	expect(host(p, want.size()), want);
}

// Prefix sums, which begin again with each tile of so many
[[maybe_unused]] static numbers prefix_sums(numbers v, int tile = n)
{
	for (int i = 0; i < n; i++)
		v[i] += i % tile ? v[i - 1] : 0;
	return v;
}

[[maybe_unused]] static numbers sorted(numbers v)
{
	std::sort(v.begin(), v.end());
	return v;
}

// Runs of equal keys: the key of each, how long it is, and the sum of its values
struct runs {
	numbers keys, lengths, sums;
	runs(const numbers &k, const numbers &v)
	{
		for (int i = 0; i < n; i++) {
			if (!i || k[i] != k[i - 1]) {
				keys.push_back(k[i]);
				lengths.push_back(0);
				sums.push_back(0);
			}
			lengths.back()++;
			sums.back() += v[i];
		}
	}
};

template <unsigned D>
struct multiple {
	__host__ __device__ bool operator()(unsigned v) const { return v % D == 0; }
};

struct square {
	__host__ __device__ uint64_t operator()(unsigned v) const { return (uint64_t)v * v; }
};

// CUB's way: a first call says how much memory the second one works in.
template <class F>
void with_room(F call)
{
	size_t size = 0;
	void *room = nullptr;
	CHECK(call(room, size));
	CHECK(cudaMalloc(&room, size + 1));
	CHECK(call(room, size));
	CHECK(cudaFree(room));
}

#define CUB(function, ...) with_room([&](void *room, size_t &size) { return cub::function(room, size, __VA_ARGS__); })
#define PROGRAM(text) static const char *const name = #text; static void program()

#if CASE <= 16
#include <cub/cub.cuh>
#elif CASE <= 22
#include <thrust/device_vector.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>
using there = thrust::device_vector<unsigned>;

[[maybe_unused]] static numbers back(const there &d, size_t size)
{
	numbers v(size);
	thrust::copy(d.begin(), d.begin() + size, v.begin());
	return v;
}
#else
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/std/utility>
namespace cg = cooperative_groups;
#endif

#if CASE == 1
PROGRAM(radix_sort_keys)
{
	numbers v = random_numbers(0);
	unsigned *in = device(v), *up = room_for(), *down = room_for();
	CUB(DeviceRadixSort::SortKeys, in, up, n);
	// By some of the bits, of what the first sort left
	CUB(DeviceRadixSort::SortKeysDescending, up, down, n, 4, 12);
	std::sort(v.begin(), v.end());
	expect(up, v);
	std::stable_sort(v.begin(), v.end(), [](unsigned a, unsigned b) { return (a >> 4 & 255) > (b >> 4 & 255); });
	expect(down, v);
}
#elif CASE == 2
PROGRAM(radix_sort_pairs)
{
	numbers v = random_numbers(1000), order(n);
	cudaStream_t stream;
	std::iota(order.begin(), order.end(), 0);
	cub::DoubleBuffer<unsigned> k(device(v), room_for()), o(device(order), room_for());
	CHECK(cudaStreamCreate(&stream));
	CUB(DeviceRadixSort::SortPairs, k, o, n, 0, 32, stream);
	std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return v[a] < v[b]; });
	expect(o.Current(), order);
	expect(k.Current(), sorted(v));
}
#elif CASE == 3
// From one array to another, and in place
PROGRAM(scan_inclusive)
{
	numbers v = random_numbers(0), most(v);
	unsigned *in = device(v), *sums = room_for();
	CUB(DeviceScan::InclusiveSum, in, sums, n);
	expect(sums, prefix_sums(v));
	CUB(DeviceScan::InclusiveScan, in, in, cuda::maximum<>(), n);
	for (int i = 1; i < n; i++)
		most[i] = std::max(most[i], most[i - 1]);
	expect(in, most);
}
#elif CASE == 4
PROGRAM(scan_exclusive_by_key)
{
	numbers k = sorted(random_numbers(n / 20)), v = random_numbers(0, 3), want(n);
	unsigned *keys = device(k), *in = device(v), *out = room_for();
	CUB(DeviceScan::ExclusiveSumByKey, keys, in, out, n);
	for (int i = 1; i < n; i++)
		want[i] = k[i] == k[i - 1] ? want[i - 1] + v[i - 1] : 0;
	expect(out, want);
}
#elif CASE == 5
// A stream reduces what another one copied.
PROGRAM(reduce)
{
	numbers v = random_numbers(0);
	unsigned *in = device(v), *copy = room_for(), *out = room_for(2);
	cudaStream_t s[2];
	cudaEvent_t copied;
	for (cudaStream_t &each : s)
		CHECK(cudaStreamCreateWithFlags(&each, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&copied));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpyAsync(copy, in, n * sizeof(unsigned), cudaMemcpyDeviceToDevice, s[0]));
	CHECK(cudaEventRecord(copied, s[0]));
	CHECK(cudaStreamWaitEvent(s[1], copied, 0));
	CUB(DeviceReduce::Sum, copy, out, n, s[1]);
	CUB(DeviceReduce::Max, copy, out + 1, n, s[1]);
	expect(out, { std::accumulate(v.begin(), v.end(), 0u), *std::max_element(v.begin(), v.end()) });
}
#elif CASE == 6
PROGRAM(reduce_by_key)
{
	numbers k = sorted(random_numbers(n / 10)), v = random_numbers(0, 3);
	unsigned *keys = device(k), *in = device(v), *unique = room_for(), *out = room_for(), *count = room_for(1);
	CUB(DeviceReduce::ReduceByKey, keys, unique, in, out, count, cuda::std::plus<>(), n);
	runs want(k, v);
	expect(count, { (unsigned)want.keys.size() });
	expect(unique, want.keys);
	expect(out, want.sums);
}
#elif CASE == 7
PROGRAM(arg_min)
{
	numbers v = random_numbers(n);
	unsigned *in = device(v), *value = room_for(1), *index = room_for(1);
	unsigned least = (unsigned)(std::min_element(v.begin(), v.end()) - v.begin());
	CUB(DeviceReduce::ArgMin, in, value, index, n);
	expect(value, { v[least] });
	expect(index, { least });
}
#elif CASE == 8
PROGRAM(select)
{
	numbers v = sorted(random_numbers(n / 4)), want;
	unsigned *in = device(v), *chosen = room_for(), *unique = room_for(), *count = room_for(2);
	CUB(DeviceSelect::If, in, chosen, count, n, multiple<3>());
	std::copy_if(v.begin(), v.end(), std::back_inserter(want), multiple<3>());
	int m = (int)want.size();
	expect(chosen, want);
	CUB(DeviceSelect::Unique, chosen, unique, count + 1, m);
	want.erase(std::unique(want.begin(), want.end()), want.end());
	expect(unique, want);
	expect(count, { (unsigned)m, (unsigned)want.size() });
}
#elif CASE == 9
// Into two parts, the second of which comes out backwards, and into three
PROGRAM(partition)
{
	numbers v = random_numbers(1000), parts[3], two;
	unsigned *in = device(v), *out = room_for(), *count = room_for(3);
	unsigned *three[3] = { room_for(), room_for(), room_for() };
	CUB(DevicePartition::If, in, out, count, n, multiple<3>());
	CUB(DevicePartition::If, in, three[0], three[1], three[2], count + 1, n, multiple<3>(), multiple<2>());
	for (unsigned x : v)
		parts[multiple<3>()(x) ? 0 : multiple<2>()(x) ? 1 : 2].push_back(x);
	for (int i = 0; i < 3; i++)
		expect(three[i], parts[i]);
	std::copy_if(v.rbegin(), v.rend(), std::back_inserter(two), [](unsigned x) { return !multiple<3>()(x); });
	two.insert(two.begin(), parts[0].begin(), parts[0].end());
	expect(out, two);
	expect(count, { (unsigned)parts[0].size(), (unsigned)parts[0].size(), (unsigned)parts[1].size() });
}
#elif CASE == 10
// Of few bins, which blocks count in shared memory, and of many, which they count in global memory
PROGRAM(histogram)
{
	numbers v = random_numbers(30000);
	unsigned *in = device(v);
	for (int bins : { 60, 3000 }) {
		unsigned *count = room_for(bins);
		numbers want(bins);
		CUB(DeviceHistogram::HistogramEven, in, count, bins + 1, 0u, 30000u, n);
		for (unsigned x : v)
			want[x / (30000 / bins)]++;
		expect(count, want);
	}
}
#elif CASE == 11
PROGRAM(run_length_encode)
{
	numbers v = sorted(random_numbers(n / 8));
	unsigned *in = device(v), *unique = room_for(), *lengths = room_for(), *count = room_for(1);
	CUB(DeviceRunLengthEncode::Encode, in, unique, lengths, count, n);
	runs want(v, v);
	expect(unique, want.keys);
	expect(lengths, want.lengths);
	expect(count, { (unsigned)want.keys.size() });
}
#elif CASE == 12
// Segments of all sizes: most are small, some empty, and one is a third of all.
PROGRAM(segments)
{
	numbers v = random_numbers(0), sums;
	std::vector<int> ends{ 0, n / 3 };
	uint32_t seed = 11;
	while (ends.back() < n) {
		uint32_t r = next_random(seed);
		ends.push_back(std::min<int>(n, ends.back() + (int)(r % 8 ? r / 8 % 40 : r / 8 % 900)));
	}
	int segments = (int)ends.size() - 1, *offsets = device(ends);
	unsigned *in = device(v), *out = room_for(segments), *order = room_for();
	CUB(DeviceSegmentedReduce::Sum, in, out, segments, offsets, offsets + 1);
	CUB(DeviceSegmentedSort::SortKeys, in, order, n, segments, offsets, offsets + 1);
	for (int i = 0; i < segments; i++) {
		sums.push_back(std::accumulate(v.begin() + ends[i], v.begin() + ends[i + 1], 0u));
		std::sort(v.begin() + ends[i], v.begin() + ends[i + 1]);
	}
	expect(out, sums);
	expect(order, v);
}
#elif CASE == 13
struct by_last_digits {
	__host__ __device__ bool operator()(unsigned a, unsigned b) const { return a % 1000 < b % 1000; }
};

PROGRAM(merge_sort)
{
	numbers v = random_numbers(0), order(n);
	std::iota(order.begin(), order.end(), 0);
	unsigned *k = device(v), *o = device(order);
	CUB(DeviceMergeSort::StableSortPairs, k, o, n, by_last_digits());
	std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return v[a] % 1000 < v[b] % 1000; });
	std::stable_sort(v.begin(), v.end(), by_last_digits());
	expect(o, order);
	expect(k, v);
}
#elif CASE == 14
// Sorts tiles of 512, in shared memory that one step after the other has.
__global__ void sort_tiles(const unsigned *in, unsigned *out, int size)
{
	using load = cub::BlockLoad<unsigned, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
	using sort = cub::BlockRadixSort<unsigned, 128, 4>;
	using store = cub::BlockStore<unsigned, 128, 4, cub::BLOCK_STORE_TRANSPOSE>;
	__shared__ union {
		typename load::TempStorage load;
		typename sort::TempStorage sort;
		typename store::TempStorage store;
	} room;
	unsigned v[4];
	for (int first = blockIdx.x * 512; first < size; first += gridDim.x * 512) {
		load(room.load).Load(in + first, v, size - first, 0xffffffff);
		__syncthreads();
		sort(room.sort).Sort(v);
		__syncthreads();
		store(room.store).Store(out + first, v, size - first);
		__syncthreads();
	}
}

PROGRAM(block_sort)
{
	numbers v = random_numbers(0);
	unsigned *in = device(v), *out = room_for();
	sort_tiles<<<std::min(n / 1024 + 1, 600), 128>>>(in, out, n);
	for (int i = 0; i < n; i += 512)
		std::sort(v.begin() + i, v.begin() + std::min(n, i + 512));
	expect(out, v);
}
#elif CASE == 15
// Scans tiles of 384, which are read striped and have memory of their own for each step, and reduces them.
__global__ void scan_tiles(const unsigned *in, unsigned *out, unsigned *most, int size)
{
	using exchange = cub::BlockExchange<unsigned, 128, 3>;
	using scan = cub::BlockScan<unsigned, 128, cub::BLOCK_SCAN_RAKING>;
	using reduce = cub::BlockReduce<unsigned, 128>;
	__shared__ typename exchange::TempStorage to_blocked, to_striped;
	__shared__ typename scan::TempStorage scanned;
	__shared__ typename reduce::TempStorage reduced;
	int first = blockIdx.x * 384 + threadIdx.x;
	unsigned v[3];
	for (int i = 0; i < 3; i++)
		v[i] = first + i * 128 < size ? in[first + i * 128] : 0;
	exchange(to_blocked).StripedToBlocked(v, v);
	unsigned all = reduce(reduced).Reduce(v, cuda::maximum<>());
	scan(scanned).InclusiveSum(v, v);
	exchange(to_striped).BlockedToStriped(v, v);
	for (int i = 0; i < 3 && first + i * 128 < size; i++)
		out[first + i * 128] = v[i];
	if (threadIdx.x == 0)
		most[blockIdx.x] = all;
}

PROGRAM(block_scan)
{
	numbers v = random_numbers(0), most((n + 383) / 384);
	unsigned *in = device(v), *out = room_for(), *each = room_for(most.size());
	scan_tiles<<<(unsigned)most.size(), 128>>>(in, out, each, n);
	for (int i = 0; i < n; i++)
		most[i / 384] = std::max(most[i / 384], v[i]);
	expect(out, prefix_sums(v, 384));
	expect(each, most);
}
#elif CASE == 16
// Warps scan, and parts of them reduce: 8 threads by shuffles, the first 20, which are no power of two, in shared memory.
__global__ void scan_warps(const unsigned *in, unsigned *out, unsigned *eights, unsigned *twenties, int size)
{
	using scan = cub::WarpScan<unsigned>;
	using eight = cub::WarpReduce<unsigned, 8>;
	using twenty = cub::WarpReduce<unsigned, 20>;
	__shared__ typename scan::TempStorage scanned[4];
	__shared__ typename eight::TempStorage reduced[16];
	__shared__ typename twenty::TempStorage by_twenty[4];
	int i = blockIdx.x * 128 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	unsigned v = i < size ? in[i] : 0, x = 0, s, e = eight(reduced[threadIdx.x / 8]).Sum(v);
	scan(scanned[warp]).InclusiveSum(v, s);
	if (lane < 20)
		x = twenty(by_twenty[warp]).Sum(v);
	if (i >= size)
		return;
	out[i] = s;
	if (lane % 8 == 0)
		eights[i / 8] = e;
	if (lane == 0)
		twenties[i / 32] = x;
}

PROGRAM(warps)
{
	numbers v = random_numbers(0), by8((n + 7) / 8), by20((n + 31) / 32);
	unsigned *in = device(v), *out = room_for(), *eights = room_for(by8.size()), *twenties = room_for(by20.size());
	scan_warps<<<(n + 127) / 128, 128>>>(in, out, eights, twenties, n);
	for (int i = 0; i < n; i++) {
		by8[i / 8] += v[i];
		by20[i / 32] += i % 32 < 20 ? v[i] : 0;
	}
	expect(out, prefix_sums(v, 32));
	expect(eights, by8);
	expect(twenties, by20);
}
#elif CASE == 17
// Of numbers, which is a radix sort, and by a function, which is a merge sort
PROGRAM(thrust_sort)
{
	numbers v = random_numbers(0), order(n);
	there d(v), k(v), o(n);
	thrust::sort(d.begin(), d.end());
	expect(back(d, n), sorted(v));
	thrust::sequence(o.begin(), o.end());
	thrust::stable_sort_by_key(k.begin(), k.end(), o.begin(), thrust::greater<unsigned>());
	std::iota(order.begin(), order.end(), 0);
	std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return v[a] > v[b]; });
	expect(back(o, n), order);
}
#elif CASE == 18
PROGRAM(thrust_reduce_by_key)
{
	numbers k = sorted(random_numbers(n / 10)), v = random_numbers(0, 3);
	there keys(k), values(v), unique(n), sums(n);
	auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), values.begin(), unique.begin(), sums.begin());
	runs want(k, v);
	expect(back(unique, ends.first - unique.begin()), want.keys);
	expect(back(sums, want.keys.size()), want.sums);
}
#elif CASE == 19
// On the default stream, and on another one
PROGRAM(thrust_transform_reduce)
{
	numbers v = random_numbers(0);
	there d(v);
	uint64_t want = 0, got[2];
	cudaStream_t stream;
	got[0] = thrust::transform_reduce(d.begin(), d.end(), square(), (uint64_t)0, thrust::plus<uint64_t>());
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	got[1] = thrust::transform_reduce(thrust::cuda::par.on(stream), d.begin(), d.end(), square(), (uint64_t)0,
			thrust::plus<uint64_t>());
	for (unsigned x : v)
		want += square()(x);
	expect<uint64_t>({ got[0], got[1] }, { want, want });
}
#elif CASE == 20
// Not unique in place: in Thrust 3.0 its blocks write where others read, and what tells them that those have is relaxed.
PROGRAM(thrust_scan_unique)
{
	numbers v = random_numbers(2);
	there d(v), s(n);
	thrust::inclusive_scan(d.begin(), d.end(), s.begin());
	numbers want = prefix_sums(v);
	expect(back(s, n), want);
	size_t left = thrust::unique_copy(s.begin(), s.end(), d.begin()) - d.begin();
	want.erase(std::unique(want.begin(), want.end()), want.end());
	expect(back(d, left), want);
}
#elif CASE == 21
PROGRAM(thrust_set_intersection)
{
	numbers a = sorted(random_numbers(n)), b = sorted(random_numbers(n, 5)), want;
	there da(a), db(b), out(n);
	size_t size = thrust::set_intersection(da.begin(), da.end(), db.begin(), db.end(), out.begin()) - out.begin();
	std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(want));
	expect(back(out, size), want);
}
#elif CASE == 22
// What is copied, and partitioned in place, comes together again.
PROGRAM(thrust_partition_merge)
{
	numbers v = sorted(random_numbers(0)), chosen;
	there d(v), c(n), all(2 * (size_t)n);
	size_t size = thrust::copy_if(d.begin(), d.end(), c.begin(), multiple<3>()) - c.begin();
	size_t first = thrust::stable_partition(d.begin(), d.end(), multiple<3>()) - d.begin();
	std::copy_if(v.begin(), v.end(), std::back_inserter(chosen), multiple<3>());
	expect(back(c, size), chosen);
	thrust::merge(c.begin(), c.begin() + size, d.begin() + first, d.end(), all.begin());
	expect(back(all, n - first + size), v);
}
#elif CASE == 23
// Prefix sums in steps of all blocks together, from one array to the other and back
__global__ void scan_in_steps(unsigned *a, unsigned *b, int size)
{
	auto grid = cg::this_grid();
	for (int d = 1; d < size; d *= 2) {
		for (int i = (int)grid.thread_rank(); i < size; i += (int)grid.size())
			b[i] = a[i] + (i >= d ? a[i - d] : 0);
		grid.sync();
		cuda::std::swap(a, b);
	}
}

PROGRAM(grid_sync)
{
	numbers v = random_numbers(0);
	unsigned *a = device(v), *b = room_for();
	int blocks, sms, size = n, steps = 0;
	void *args[] = { &a, &b, &size };
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scan_in_steps, 128, 0));
	CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
	blocks = std::min(blocks * sms, n / 256 + 1);
	CHECK(cudaLaunchCooperativeKernel(scan_in_steps, dim3(blocks), dim3(128), args, 0, 0));
	while (1 << steps < n)
		steps++;
	expect(steps % 2 ? b : a, prefix_sums(v));
}
#elif CASE == 24
// Tiles of 8 threads, of 32 and of 64: those are two warps, which meet in shared memory.  (They could reduce, too, but in CUDA 13.0
// that leaves it to a shuffle to order memory, and all lanes write one value.)
__global__ void reduce_tiles(const unsigned *in, unsigned *eights, unsigned *scanned, unsigned *swapped, int size)
{
	__shared__ cg::block_tile_memory<128> room;
	__shared__ unsigned other[128];
	cg::thread_block block = cg::this_thread_block(room);
	auto warps = cg::tiled_partition<64>(block);
	auto warp = cg::tiled_partition<32>(block);
	auto eight = cg::tiled_partition<8>(warp);
	int i = blockIdx.x * 128 + threadIdx.x;
	unsigned v = i < size ? in[i] : 0, e = cg::reduce(eight, v, cg::plus<unsigned>()), s = cg::inclusive_scan(warp, v);
	other[threadIdx.x] = v;
	warps.sync();
	v = other[threadIdx.x ^ 63] + warps.shfl(v, 40) + warps.shfl(v, 3);
	if (i >= size)
		return;
	scanned[i] = s;
	swapped[i] = v;
	if (eight.thread_rank() == 0)
		eights[i / 8] = e;
}

PROGRAM(tiles)
{
	numbers v = random_numbers(0), by8((n + 7) / 8), swap(n);
	unsigned *in = device(v), *eights = room_for(by8.size()), *scanned = room_for(), *swapped = room_for();
	auto at = [&](int i) { return i < n ? v[i] : 0; };
	reduce_tiles<<<(n + 127) / 128, 128>>>(in, eights, scanned, swapped, n);
	for (int i = 0; i < n; i++) {
		by8[i / 8] += v[i];
		swap[i] = at(i ^ 63) + at(i / 64 * 64 + 40) + at(i / 64 * 64 + 3);
	}
	expect(eights, by8);
	expect(scanned, prefix_sums(v, 32));
	expect(swapped, swap);
}
#elif CASE == 25
// Who takes a branch shares one atomic, and who has the same digit another.
__global__ void choose(const unsigned *in, unsigned *out, unsigned *count, unsigned *digits, int size)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x) {
		unsigned v = in[i], at = 0;
		if (v % 3 == 0) {
			auto group = cg::coalesced_threads();
			if (group.thread_rank() == 0)
				at = atomicAdd(count, (unsigned)group.size());
			out[group.shfl(at, 0) + group.thread_rank()] = v;
			auto same = cg::labeled_partition(group, v % 7);
			if (same.thread_rank() == 0)
				atomicAdd(digits + v % 7, (unsigned)same.size());
		}
	}
}

PROGRAM(coalesced)
{
	numbers v = random_numbers(0), want, digits(7);
	unsigned *in = device(v), *out = room_for(), *count = room_for(1), *seven = room_for(7);
	choose<<<std::min(n / 512 + 1, 1000), 128>>>(in, out, count, seven, n);
	std::copy_if(v.begin(), v.end(), std::back_inserter(want), multiple<3>());
	for (unsigned x : want)
		digits[x % 7]++;
	expect(count, { (unsigned)want.size() });
	expect(seven, digits);
	expect(sorted(host(out, want.size())), sorted(want));
}
#else
#error CASE is 1 to 25
#endif

int main()
{
	program();
	CHECK(cudaGetLastError());
	return verdict(name, right, sum);
}
