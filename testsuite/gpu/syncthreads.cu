/* SPDX-License-Identifier: Apache-2.0 */
/* A reversal through shared memory.  Without the barrier a thread may read its
 * neighbour's element before that is written. */
// race: data-race
#include "common.h"

__global__ void reverse(const int *in, int *out)
{
	__shared__ int tile[256];
	int t = threadIdx.x;

	tile[t] = in[blockIdx.x * 256 + t];	// first
#ifdef RIGHT
	__syncthreads();
#endif
	out[blockIdx.x * 256 + t] = tile[255 - t];	// second
}

int main()
{
	const int n = 64 * 256;
	std::vector<int> in(n);

	for (int i = 0; i < n; i++)
		in[i] = i * 7;
	int *a = device(in), *b = device<int>(n);
	reverse<<<n / 256, 256>>>(a, b);
	std::vector<int> out = host(b, n);
	bool right = true;
	for (int i = 0; i < n; i++)
		right &= out[i] == in[i / 256 * 256 + 255 - i % 256];
#ifndef RIGHT
	right = true;	/* the race may show or not */
	out = in;
#endif
	return verdict("syncthreads", right, digest(out.data(), n * sizeof(int)));
}
