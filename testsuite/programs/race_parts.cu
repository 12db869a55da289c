// SPDX-License-Identifier: Apache-2.0
//
// An allocator of the program's own hands a part to another stream, which does not wait for its last use.
// race: stream-race
// says: bytes inside a 4096-byte allocation
// says: gsan_allocated
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"
#include "../../rt/gsan.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;               // first
}

int main()
{
	cudaStream_t s, t;
	int *all, *part;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaMalloc(&all, 8192));
	part = all + 1024;
	gsan_allocated(part, 4096, s);
	fill<<<1, 64, 0, s>>>(part, 1);
	gsan_freed(part, s);
	gsan_allocated(part, 4096, t);                  // second
	CHECK(cudaDeviceSynchronize());
	return 0;
}
