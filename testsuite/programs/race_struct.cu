// SPDX-License-Identifier: Apache-2.0
//
// A kernel gets to mapped memory by a pointer in a struct.
// race: host-race
// prints: one of two
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

struct job { int n; int *to; };

__global__ void work(job j)
{
	j.to[threadIdx.x] = j.n;                        // first
}

int main()
{
	int *h, v;

	CHECK(cudaMallocHost(&h, 256));
	work<<<1, 64>>>(job{5, h});
	v = h[8];                                       // second
	CHECK(cudaDeviceSynchronize());
	printf("%s\n", v == 5 || !v ? "one of two" : "neither");
	return 0;
}
