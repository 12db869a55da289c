/* SPDX-License-Identifier: Apache-2.0 */
/* c = a + 3 b: the kernel of testsuite/bench, with mutants (-DMUTATE=N). */
// mutant 1 data-race @out @out           each thread reads the next one's result
// mutant 2 data-race @out @out           two threads for an element
// mutant 3 data-race @out @out           blocks overlap by an element
// mutant 4 data-race @out @out           the element of a thread of the next block
// mutant 5 data-race @sum @sum           all add to one element
// mutant 6 data-race @out @out           the last thread writes the first one's element
//@ device sm_90a
//@ buf a 8192 iota
//@ buf b 8192 iota
//@ buf c 8192
//@ buf sum 4
//@ launch triad grid=7 block=256 args=a,b,c,u32:1700,sum
extern "C" __global__ void triad(const float *a, const float *b, float *c, int n, float *sum)
{
	int i = blockIdx.x * (MUTATE == 3 ? blockDim.x - 1 : blockDim.x) + threadIdx.x;
	int to = MUTATE == 2 ? i / 2 : MUTATE == 6 && i == n - 1 ? 0 : i;

	if (i < n)
		c[to] = a[i] + 3.0f * (MUTATE == 1 ? c[i + 1] : MUTATE == 4 ? c[i + 256] : b[i]);       // @out
	if (MUTATE == 5)
		*sum += 1;                                                                      // @sum
}
