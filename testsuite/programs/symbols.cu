// SPDX-License-Identifier: Apache-2.0
//
// Variables of the device: written and read by name, by offset, by address.
// prints: table 20 bytes, result 8 bytes
// prints: 3 4 4 6 8
// prints: by address 42
#include "check.h"

__constant__ int table[5] = {1, 2, 3, 4, 5};
__device__ int scale = 1;
__device__ long long result;
__device__ int out[5];

__global__ void apply()
{
	out[threadIdx.x] = table[threadIdx.x] * scale;
	if (threadIdx.x == 0)
		result = 41;
}

int main()
{
	const int front[2] = {3, 4}, two = 2;
	int got[5];
	size_t a, b;
	long long *p, v;

	CHECK(cudaGetSymbolSize(&a, table));
	CHECK(cudaGetSymbolSize(&b, result));
	printf("table %zu bytes, result %zu bytes\n", a, b);
	CHECK(cudaMemcpyToSymbol(table, front, sizeof front));
	CHECK(cudaMemcpyToSymbol(table, &two, sizeof two, 2 * sizeof(int)));
	CHECK(cudaMemcpyFromSymbol(got, table, sizeof got));
	got[2] *= 2;
	CHECK(cudaMemcpyToSymbol(table, &got[2], sizeof(int), 2 * sizeof(int)));
	apply<<<1, 5>>>();
	CHECK(cudaMemcpyFromSymbol(got, out, 3 * sizeof(int)));
	CHECK(cudaMemcpyToSymbolAsync(scale, &two, sizeof two, 0, cudaMemcpyHostToDevice, 0));
	printf("%d %d %d", got[0], got[1], got[2]);
	apply<<<1, 5>>>();
	CHECK(cudaMemcpyFromSymbol(got, out, 2 * sizeof(int), 0));
	printf(" %d %d\n", got[0], got[1]);
	CHECK(cudaGetSymbolAddress((void **)&p, result));
	CHECK(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost));
	printf("by address %lld\n", v + 1);
	return 0;
}
