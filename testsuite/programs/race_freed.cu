// SPDX-License-Identifier: Apache-2.0
//
// A class frees its buffer before the last kernel that uses it is launched, in a function of its own.
// race: use-after-free
// flags: -gencode arch=compute_90,code=compute_90 -g -lineinfo
// says: that was freed
// says: Previous free of 400 bytes
// says: by cudaFree:
// says: Previous allocation of 400 bytes
// says: by cudaMalloc:
// says: Buffer::release
#include "check.h"

struct Buffer {
	float *at;

	explicit Buffer(int n) { CHECK(cudaMalloc(&at, n * sizeof *at)); }       // first
	void release() { CHECK(cudaFree(at)); } // first
};

__global__ void step(float *a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		a[i] = a[i] + 1;        // second
}

int main()
{
	Buffer b(100), other(100);

	CHECK(cudaMemset(b.at, 0, 100 * sizeof *b.at));
	step<<<4, 32>>>(b.at, 100);
	CHECK(cudaDeviceSynchronize());
	b.release();
	step<<<4, 32>>>(b.at, 100);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFree(other.at));
	return 0;
}
