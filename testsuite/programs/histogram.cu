// SPDX-License-Identifier: Apache-2.0
//
// Counts in shared memory by atomics, which blocks add up.
// prints: 16 bins of 512
#include "check.h"

enum { BINS = 16, N = 8192 };

__global__ void count(const unsigned char *a, unsigned *bins)
{
	__shared__ unsigned mine[BINS];

	if (threadIdx.x < BINS)
		mine[threadIdx.x] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x)
		atomicAdd(&mine[a[i] % BINS], 1u);
	__syncthreads();
	if (threadIdx.x < BINS)
		atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

int main()
{
	static unsigned char h[N];
	unsigned char *a;
	unsigned *bins, got[BINS];

	for (int i = 0; i < N; i++)
		h[i] = (unsigned char)(i * 7);
	CHECK(cudaMalloc(&a, N));
	CHECK(cudaMalloc(&bins, sizeof got));
	CHECK(cudaMemcpy(a, h, N, cudaMemcpyHostToDevice));
	CHECK(cudaMemset(bins, 0, sizeof got));
	count<<<4, 128>>>(a, bins);
	CHECK(cudaMemcpy(got, bins, sizeof got, cudaMemcpyDeviceToHost));
	for (int i = 0; i < BINS; i++)
		if (got[i] != N / BINS)
			printf("bin %d: %u\n", i, got[i]);
	printf("%d bins of %d\n", BINS, N / BINS);
	return 0;
}
