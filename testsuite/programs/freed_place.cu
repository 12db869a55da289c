// SPDX-License-Identifier: Apache-2.0
//
// What judges launches lies apart from the program's memory: places that were freed before the first launch, and between
// launches, are there for the program's next pieces, and an access to what was freed changes nothing of gsan's.
// options: device_screen=2
// prints: 32 of 32, 32 of 32
#include <set>
#include "check.h"

enum { PIECES = 64, BYTES = 4096 };

__global__ void fill(int *p)
{
	p[threadIdx.x] = threadIdx.x;
}

// Frees every second piece, launches, and counts of how many pieces the next ones get the places.
static int again()
{
	std::set<int *> freed;
	int *p[PIECES], *kept, got = 0;

	CHECK(cudaMalloc(&kept, BYTES));
	for (int i = 0; i < PIECES; i++)
		CHECK(cudaMalloc(&p[i], BYTES));
	for (int i = 0; i < PIECES; i += 2) {
		CHECK(cudaFree(p[i]));
		freed.insert(p[i]);
	}
	fill<<<1, 64>>>(kept);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < PIECES; i += 2) {
		CHECK(cudaMalloc(&p[i], BYTES));
		got += (int)freed.count(p[i]);
	}
	return got;
}

int main()
{
	int before, between;

	before = again();
	between = again();
	printf("%d of %d, %d of %d\n", before, PIECES / 2, between, PIECES / 2);
	return 0;
}
