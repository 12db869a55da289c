/* SPDX-License-Identifier: Apache-2.0 */
/* Bins in shared memory, then in global memory: the kernel of testsuite/bench, with mutants (-DMUTATE=N). */
// mutant 1 data-race @count @count       counted without atomics
// mutant 2 data-race @clear @count       no barrier behind the clearing
// mutant 3 data-race @count @read        no barrier behind the counting
// mutant 4 data-race @out @out           the bins in global memory without atomics
// mutant 5 data-race @clear @clear       two threads clear a bin
// mutant 6 scope-race @out @out          atomics in the block's scope
//@ device sm_90a
//@ buf in 32768 iota
//@ buf bins 1024
//@ launch histogram grid=2 block=256 args=in,bins,u32:8192
extern "C" __global__ void histogram(const int *in, int *bins, int n)
{
	__shared__ int mine[256];

	mine[MUTATE == 5 ? threadIdx.x / 2 : threadIdx.x] = 0;                          // @clear
	if (MUTATE != 2)
		__syncthreads();
	for (int i = blockIdx.x * 4096 + threadIdx.x; i < min(n, (int)(blockIdx.x + 1) * 4096); i += 256) {
		int *bin = &mine[(in[i] * 2654435761u) >> 24];

		MUTATE == 1 ? ++*bin : atomicAdd(bin, 1);                               // @count
	}
	if (MUTATE != 3)
		__syncthreads();
	int *bin = &bins[threadIdx.x];
	int count = mine[threadIdx.x];                                                  // @read
	MUTATE == 4 ? *bin += count : MUTATE == 6 ? atomicAdd_block(bin, count) : atomicAdd(bin, count);        // @out
}
