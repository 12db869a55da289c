// SPDX-License-Identifier: Apache-2.0
//
// Memory that host and device share by one pointer, and a variable of that kind.
// prints: device saw 1 and 10
// prints: host sees 11 and 20, managed: 1
#include "check.h"

__managed__ int shared_by_all = 1;
__device__ int seen[2];

__global__ void touch(int *p)
{
	seen[0] = shared_by_all;
	seen[1] = *p;
	shared_by_all += 10;
	*p *= 2;
}

int main()
{
	cudaPointerAttributes attr;
	int *p, h[2];

	CHECK(cudaMallocManaged(&p, sizeof *p));
	*p = 10;
	touch<<<1, 1>>>(p);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpyFromSymbol(h, seen, sizeof h));
	printf("device saw %d and %d\n", h[0], h[1]);
	CHECK(cudaPointerGetAttributes(&attr, p));
	printf("host sees %d and %d, managed: %d\n", shared_by_all, *p, attr.type == cudaMemoryTypeManaged);
	CHECK(cudaFree(p));
	return 0;
}
