/* SPDX-License-Identifier: Apache-2.0 */
/* Sixteen gigabytes of log through one: what a warp reads in a round is a pattern that no record has a short form for.  In front
 * of the last round but two a barrier is missing.  To judge all of it would take the host an hour: it has some seconds. */
// race: data-race
#include "common.h"

#ifndef BLOCKS
#define BLOCKS 1024
#define ROUNDS 20000
#endif
enum { THREADS = 128 };

extern "C" const char *__gsan_default_options(void)
{
	return "judge_all_mb=0:judge_s=5:log_mb=1024";
}

__device__ static unsigned place(unsigned thread, unsigned round)
{
	return (thread * 2654435761u >> 7 ^ round * 40503u) & 127;
}

__global__ void flood(unsigned *out, unsigned rounds)
{
	__shared__ unsigned t[2][128];
	unsigned sum = 0;

	for (unsigned i = 0; i < rounds; i++) {
		unsigned *now = t[i & 1];

		for (unsigned k = threadIdx.x; k < 128; k += blockDim.x)
			now[k] = i + k; // first
#ifndef RIGHT
		if (i != rounds - 3)
#endif
			__syncthreads();
		sum += now[place(threadIdx.x, i)]; // second
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main()
{
	unsigned *out = device<unsigned>(BLOCKS * THREADS);
	unsigned long long all = 0;

	flood<<<BLOCKS, THREADS>>>(out, ROUNDS);
	CHECK(cudaDeviceSynchronize());
	for (unsigned v : host(out, BLOCKS * THREADS))
		all = all * 31 + v;
#ifdef RIGHT
	printf("%llu\n", all);
#endif
	return 0;
}
