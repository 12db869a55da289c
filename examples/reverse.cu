/* SPDX-License-Identifier: Apache-2.0 */
/* Each block reverses 64 numbers in shared memory, and forgets the barrier
 * between writing and reading.  reverse.ptx is this kernel for gsan-run; as a
 * program:  gsan-nvcc -lineinfo reverse.cu -o reverse && ./reverse */
#include <cstdio>

__global__ void reverse(const int *in, int *out)
{
	__shared__ int tile[64];
	int t = threadIdx.x, base = blockIdx.x * 64;

	tile[t] = in[base + t];
	/* __syncthreads() belongs here */
	out[base + t] = tile[63 - t];
}

int main()
{
	int *p;

	cudaMalloc(&p, 2 * 256 * sizeof *p);
	cudaMemset(p, 1, 2 * 256 * sizeof *p);
	reverse<<<4, 64>>>(p, p + 256);
	printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
	return 0;
}
