/* SPDX-License-Identifier: Apache-2.0 */
/* CUB for whole arrays: radix sort, scan with decoupled look-back, selection.
 * The machine code of a library in real use, well over a megabyte of PTX. */
// archs: 75 80 90a 100a 120a
// quick: 80/plain
// contents: 19
// quickly: -O0
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

cudaError_t sort_pairs(void *room, size_t &size, const unsigned *k, unsigned *k2, const int *v, int *v2, int n)
{
	return cub::DeviceRadixSort::SortPairs(room, size, k, k2, v, v2, n);
}

cudaError_t sort_keys(void *room, size_t &size, const double *k, double *k2, int n)
{
	return cub::DeviceRadixSort::SortKeysDescending(room, size, k, k2, n);
}

cudaError_t scan(void *room, size_t &size, const int *in, int *out, int n)
{
	return cub::DeviceScan::InclusiveSum(room, size, in, out, n);
}

cudaError_t reduce(void *room, size_t &size, const float *in, float *out, int n)
{
	return cub::DeviceReduce::Sum(room, size, in, out, n);
}

cudaError_t unique(void *room, size_t &size, const int *in, int *out, int *count, int n)
{
	return cub::DeviceSelect::Unique(room, size, in, out, count, n);
}

cudaError_t best(void *room, size_t &size, const double *in, cub::KeyValuePair<int, double> *out, int n)
{
	return cub::DeviceReduce::ArgMin(room, size, in, out, n);
}

cudaError_t marked(void *room, size_t &size, const short2 *in, const char *flags, short2 *out, int *count, int n)
{
	return cub::DeviceSelect::Flagged(room, size, in, flags, out, count, n);
}

cudaError_t sort_bytes(void *room, size_t &size, const unsigned char *k, unsigned char *k2, int n)
{
	return cub::DeviceRadixSort::SortKeys(room, size, k, k2, n);
}

cudaError_t sort_wide(void *room, size_t &size, const long long *k, long long *k2, const short *v, short *v2, int n)
{
	return cub::DeviceRadixSort::SortPairs(room, size, k, k2, v, v2, n);
}
