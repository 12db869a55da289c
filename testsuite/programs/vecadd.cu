// SPDX-License-Identifier: Apache-2.0
//
// The first program of every course: arrays to the device, a sum, and back.
// flags: -O2
// prints: 4096 sums, 0 wrong
#include "check.h"

__global__ void add(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

int main()
{
	const int n = 4096;
	static float a[n], b[n], c[n];
	float *da, *db, *dc;
	int wrong = 0;

	for (int i = 0; i < n; i++) {
		a[i] = (float)i;
		b[i] = 0.5f * (float)i;
	}
	CHECK(cudaMalloc(&da, sizeof a));
	CHECK(cudaMalloc(&db, sizeof b));
	CHECK(cudaMalloc(&dc, sizeof c));
	CHECK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b, sizeof b, cudaMemcpyDefault));
	add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++)
		wrong += c[i] != 1.5f * (float)i;
	printf("%d sums, %d wrong\n", n, wrong);
	CHECK(cudaFree(da));
	CHECK(cudaFree(db));
	CHECK(cudaFree(dc));
	return wrong != 0;
}
