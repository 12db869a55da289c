/* SPDX-License-Identifier: Apache-2.0 */
/* A counter that all blocks add to.  At block scope the additions of different
 * blocks are not atomic together. */
// race: scope-race
#include "common.h"

__global__ void count(const int *in, int n, int *total)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		if (in[i] % 3 == 0)
#ifdef RIGHT
			atomicAdd(total, 1);
#else
			atomicAdd_block(total, 1);	// first second
#endif
}

int main()
{
	const int n = 1 << 16;
	std::vector<int> in(n);
	int want = 0;

	for (int i = 0; i < n; i++) {
		in[i] = i ^ i >> 3;
		want += in[i] % 3 == 0;
	}
	int *a = device(in), *total = device<int>(1);
	count<<<32, 128>>>(a, n, total);
	int got = host(total, 1)[0];
#ifndef RIGHT
	got = want;	/* the race may show or not */
#endif
	return verdict("scope", got == want, digest(&got, sizeof got));
}
