/* SPDX-License-Identifier: Apache-2.0 */
/* A right program: far more blocks than fit, each with its own shared memory in
 * the place of a block that came before, streams of launches that reuse memory,
 * and a spin lock that every block takes. */
#include "common.h"

__global__ void step(unsigned *data, const unsigned *from, int *lock, unsigned long long *total)
{
	__shared__ unsigned tile[128];
	int i = blockIdx.x * 128 + threadIdx.x;

	tile[threadIdx.x] = from[i] * 2654435761u + blockIdx.x;
	__syncthreads();
	data[i] = tile[threadIdx.x ^ 64];
	if (threadIdx.x == 0 && blockIdx.x % 64 == 0) {
		while (atomicCAS(lock, 0, 1) != 0)
			;
		__threadfence();
		*total += tile[5];
		__threadfence();
		atomicExch(lock, 0);
	}
}

int main()
{
	const int blocks = 20000, n = blocks * 128, rounds = 6;
	std::vector<unsigned> h(n), next(n);
	unsigned long long want = 0;

	for (int i = 0; i < n; i++)
		h[i] = i;
	unsigned *a = device(h), *b = device<unsigned>(n);
	int *lock = device<int>(1);
	unsigned long long *total = device<unsigned long long>(1);
	for (int r = 0; r < rounds; r++) {
		step<<<blocks, 128>>>(b, a, lock, total);
		std::swap(a, b);
		for (int i = 0; i < n; i++)
			next[i / 128 * 128 + (i % 128 ^ 64)] = h[i] * 2654435761u + i / 128;
		for (int i = 0; i < blocks; i += 64)
			want += next[i * 128 + (5 ^ 64)];
		h.swap(next);
	}
	std::vector<unsigned> got = host(a, n);
	unsigned long long sum = host(total, 1)[0];
	return verdict("blocks", got == h && sum == want, digest(got.data(), n * sizeof(unsigned)) ^ sum);
}
