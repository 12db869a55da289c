/* SPDX-License-Identifier: Apache-2.0 */
/* What a warp does together: shuffles, votes, matches, reductions, warp
 * barriers with masks, divergence and reconvergence, warp-synchronous code. */
// archs: 75 80 90a 100a 120a
// quick: 75/lineinfo 120a/rdc
// contents: 4
#include <cuda_runtime.h>

__global__ void exchanges(const int *in, int *out, double *d)
{
	int v = in[threadIdx.x];
	unsigned all = 0xffffffffu;
	int pred;

	v += __shfl_sync(all, v, 3);
	v += __shfl_up_sync(all, v, 1, 16);
	v += __shfl_down_sync(all, v, 2, 8);
	v += __shfl_xor_sync(all, v, 5);
	d[threadIdx.x] = __shfl_xor_sync(all, d[threadIdx.x], 1);
	v += __ballot_sync(all, v & 1) + __any_sync(all, v > 7) + __all_sync(all, v) + __activemask();
	v += __match_any_sync(all, v % 4) + __match_all_sync(all, v, &pred) + pred;
#if __CUDA_ARCH__ >= 800
	v += __reduce_add_sync(all, v) + __reduce_max_sync(all, v) + __reduce_or_sync(all, (unsigned)v);
#endif
	out[threadIdx.x] = v;
}

__global__ void masks(int *p)
{
	__shared__ int s[64];
	int lane = threadIdx.x % 32;

	s[threadIdx.x % 64] = p[threadIdx.x];
	__syncwarp();
	if (lane < 8) {
		s[lane] += s[lane + 8];
		__syncwarp(0xff);
		if (lane < 4)
			s[lane] += s[lane + 4];
		__syncwarp(0x0f | 0xf0);
	} else if (lane & 1) {
		s[lane] = s[lane - 1];
		__syncwarp(0xaaaaaa00);
	}
	unsigned rest = __ballot_sync(~0u, p[threadIdx.x] > 0);
	while (rest) {
		int first = __ffs(rest) - 1;
		if (lane == first)
			s[32 + lane] = first;
		rest &= rest - 1;
		__syncwarp();
	}
	p[threadIdx.x] = s[lane];
}

__global__ void scan(int *p, int n)
{
	__shared__ int sums[32];
	int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, w = threadIdx.x / 32;
	int v = i < n ? p[i] : 0;

	for (int d = 1; d < 32; d *= 2) {
		int u = __shfl_up_sync(~0u, v, d);
		if (lane >= d)
			v += u;
	}
	if (lane == 31)
		sums[w] = v;
	__syncthreads();
	if (w == 0) {
		int s = lane < blockDim.x / 32 ? sums[lane] : 0;
		for (int d = 1; d < 32; d *= 2) {
			int u = __shfl_up_sync(~0u, s, d);
			if (lane >= d)
				s += u;
		}
		sums[lane] = s;
	}
	__syncthreads();
	if (i < n)
		p[i] = v + (w ? sums[w - 1] : 0);
}

__global__ void spin_per_lane(int *lock, int *data)
{
	for (bool done = false; !done; ) {
		if (atomicCAS(lock, 0, 1) == 0) {
			__threadfence();
			data[0] += threadIdx.x;
			__threadfence();
			atomicExch(lock, 0);
			done = true;
		}
	}
}
