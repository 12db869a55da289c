/* SPDX-License-Identifier: Apache-2.0 */
/* A right program: CUB sorts 131,072 pairs, and scans and reduces what
 * comes out; its kernels look back over blocks by themselves. */
#include <algorithm>
#include <cub/cub.cuh>

#include "common.h"

int main()
{
	const int n = 1 << 17;
	std::vector<unsigned> keys(n);
	std::vector<int> values(n);
	uint32_t seed = 7;

	for (int i = 0; i < n; i++) {
		keys[i] = next_random(seed);
		values[i] = i;
	}
	unsigned *k = device(keys), *k2 = device<unsigned>(n);
	int *v = device(values), *v2 = device<int>(n), *sums = device<int>(n), *best = device<int>(1);
	size_t size[3] = { };
	CHECK(cub::DeviceRadixSort::SortPairs(nullptr, size[0], k, k2, v, v2, n));
	CHECK(cub::DeviceScan::InclusiveSum(nullptr, size[1], v2, sums, n));
	CHECK(cub::DeviceReduce::Max(nullptr, size[2], sums, best, n));
	char *room = device<char>(std::max({ size[0], size[1], size[2] }));
	CHECK(cub::DeviceRadixSort::SortPairs(room, size[0], k, k2, v, v2, n));
	CHECK(cub::DeviceScan::InclusiveSum(room, size[1], v2, sums, n));
	CHECK(cub::DeviceReduce::Max(room, size[2], sums, best, n));

	std::vector<unsigned> got = host(k2, n);
	std::vector<int> order = host(v2, n), scanned = host(sums, n);
	std::stable_sort(values.begin(), values.end(), [&](int a, int b) { return keys[a] < keys[b]; });
	bool right = order == values;
	int sum = 0, most = INT32_MIN;
	for (int i = 0; i < n; i++) {
		sum = (int)((unsigned)sum + (unsigned)order[i]);
		most = std::max(most, sum);
		right &= got[i] == keys[order[i]] && scanned[i] == sum;
	}
	right &= host(best, 1)[0] == most;
	return verdict("radix", right, digest(scanned.data(), n * sizeof(int)) ^ digest(got.data(), n * sizeof(unsigned)));
}
