/* SPDX-License-Identifier: Apache-2.0 */
/* The last block to finish adds up what all blocks wrote.  Without the fences
 * it may read a sum that is not there yet. */
// race: data-race
#include "common.h"

#ifdef RIGHT
#define FENCE() __threadfence()
#else
#define FENCE() (void)0
#endif

__global__ void sum(const int *in, int n, int *partial, int *out, unsigned *done)
{
	__shared__ int room[128];
	__shared__ bool last;
	int v = 0;

	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		v += in[i];
	room[threadIdx.x] = v;
	__syncthreads();
	for (int s = 64; s > 0; s >>= 1) {
		if (threadIdx.x < s)
			room[threadIdx.x] += room[threadIdx.x + s];
		__syncthreads();
	}
	if (threadIdx.x == 0) {
		partial[blockIdx.x] = room[0];	// first
		FENCE();
		last = atomicAdd(done, 1u) == gridDim.x - 1;
		FENCE();
	}
	__syncthreads();
	if (last && threadIdx.x == 0) {
		int total = 0;

		for (unsigned i = 0; i < gridDim.x; i++)
			total += partial[i];	// second
		*out = total;
	}
}

int main()
{
	const int n = 1 << 18, blocks = 64;
	std::vector<int> in(n);
	int want = 0;

	for (int i = 0; i < n; i++)
		want += in[i] = i % 1000 - 300;
	int *a = device(in), *partial = device<int>(blocks), *out = device<int>(1);
	unsigned *done = device<unsigned>(1);
	sum<<<blocks, 128>>>(a, n, partial, out, done);
	int got = host(out, 1)[0];
#ifndef RIGHT
	got = want;	/* the race may show or not */
#endif
	return verdict("threadfence", got == want, digest(&got, sizeof got));
}
