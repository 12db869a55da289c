/* SPDX-License-Identifier: Apache-2.0 */
/* A right program: each block sorts a part by merging.  Every thread looks for where its
 * share of two runs begins in a loop that it leaves when it has found it, so that the lanes
 * of a warp come to the next barrier in groups, and those of one group at different times;
 * one of each group takes numbers for all of it, for which the others wait by the mask of
 * those who are together; and warps load and store through shared memory, by __syncwarp(). */
#include <algorithm>

#include "common.h"

const int THREADS = 256, ITEMS = 17, PART = THREADS * ITEMS;

/* How many of the first `diagonal` items of two sorted runs come from the first of them. */
__device__ int from_first(const int *a, int na, const int *b, int nb, int diagonal)
{
	int low = diagonal > nb ? diagonal - nb : 0, high = diagonal < na ? diagonal : na;

	while (low < high) {
		int middle = (low + high) / 2;

		if (b[diagonal - 1 - middle] < a[middle])
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* A number of its own for every lane, with one atomic for those who are together. */
__device__ __noinline__ int draw(int *numbers, int lane)
{
	unsigned group = __activemask();
	int leader = __ffs(group) - 1, first;

	if (lane == leader)
		first = atomicAdd(numbers, __popc(group));
	return __shfl_sync(group, first, leader) + __popc(group & ((1u << lane) - 1));
}

__global__ void merge(const int *in, int *out, int *sums)
{
	__shared__ int room[PART], drawn[THREADS], numbers, sum;
	int t = threadIdx.x, lane = t % 32, *mine = room + t / 32 * 32 * ITEMS, item[ITEMS];

	if (t == 0)
		numbers = sum = 0;
	in += blockIdx.x * PART + (t - lane) * ITEMS;
	out += blockIdx.x * PART + (t - lane) * ITEMS;
	for (int i = 0; i < ITEMS; i++)
		mine[i * 32 + lane] = in[i * 32 + lane];
	__syncwarp();
	for (int i = 0; i < ITEMS; i++)
		item[i] = mine[lane * ITEMS + i];
	for (int i = 0; i < ITEMS; i++)		/* by turns: what is beside another, in order */
		for (int k = i % 2; k + 1 < ITEMS; k += 2)
			if (item[k + 1] < item[k]) {
				int other = item[k];
				item[k] = item[k + 1];
				item[k + 1] = other;
			}
	for (int width = 1; width < THREADS; width *= 2) {
		__syncthreads();
		for (int i = 0; i < ITEMS; i++)
			room[t * ITEMS + i] = item[i];
		__syncthreads();
		int first = t / (2 * width) * 2 * width, n = width * ITEMS;
		const int *a = room + first * ITEMS, *b = a + n;
		int diagonal = (t - first) * ITEMS, x = from_first(a, n, b, n, diagonal), y = diagonal - x;
		drawn[draw(&numbers, lane) % THREADS] = t;
		for (int i = 0; i < ITEMS; i++)
			item[i] = y >= n || (x < n && a[x] <= b[y]) ? a[x++] : b[y++];
	}
	__syncthreads();
	atomicAdd(&sum, drawn[t]);
	for (int i = 0; i < ITEMS; i++)
		mine[lane * ITEMS + i] = item[i];
	__syncwarp();
	for (int i = 0; i < ITEMS; i++)
		out[i * 32 + lane] = mine[i * 32 + lane];
	__syncthreads();
	if (t == 0)
		sums[blockIdx.x] = sum;
}

int main()
{
	const int parts = 200, n = parts * PART;
	std::vector<int> in(n);
	uint32_t seed = 11;

	for (int &v : in)
		v = next_random(seed) >> 1;
	int *a = device(in), *b = device<int>(n), *c = device<int>(parts);
	merge<<<parts, THREADS>>>(a, b, c);
	std::vector<int> got = host(b, n), sums = host(c, parts), all(parts, THREADS * (THREADS - 1) / 2);
	for (int p = 0; p < parts; p++)
		std::sort(in.begin() + p * PART, in.begin() + (p + 1) * PART);
	return verdict("merge", got == in && sums == all, digest(got.data(), n * sizeof(int)));
}
