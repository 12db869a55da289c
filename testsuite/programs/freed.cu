// SPDX-License-Identifier: Apache-2.0
//
// A class frees its buffer when the last kernel that uses it was launched; another one gets the same place.
// prints: 3
#include "check.h"

struct Buffer {
	float *at;

	explicit Buffer(int n) { CHECK(cudaMalloc(&at, n * sizeof *at)); }
	void release() { CHECK(cudaFree(at)); }
};

__global__ void step(float *a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		a[i] = a[i] + 1;
}

int main()
{
	Buffer b(100), other(100);

	CHECK(cudaMemset(b.at, 0, 100 * sizeof *b.at));
	step<<<4, 32>>>(b.at, 100);
	CHECK(cudaDeviceSynchronize());
	step<<<4, 32>>>(b.at, 100);
	b.release();

	Buffer again(100);
	float got;

	CHECK(cudaMemset(again.at, 0, 100 * sizeof *again.at));
	for (int i = 0; i < 3; i++)
		step<<<4, 32>>>(again.at, 100);
	CHECK(cudaMemcpy(&got, again.at + 99, sizeof got, cudaMemcpyDeviceToHost));
	printf("%g\n", got);
	again.release();
	CHECK(cudaFree(other.at));
	return 0;
}
