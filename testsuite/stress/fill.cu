/* SPDX-License-Identifier: Apache-2.0 */
/* fill.cu: each lane stores by an instruction of its own, and so has a stream of its own, as long as is wished: a log that
 * fills its region again and again.  A thread's stores in `out` lie one behind the other; in shared memory a block's
 * threads hand values on, round by round. */
// mutant 1 data-race @put @get           a round without its barrier, near the end
//@ device sm_90
//@ buf out 2097152
//@ launch full grid=2 block=256 args=out,u32:256
template <int LEAF, int BITS>
static __device__ __forceinline__ void store(unsigned lane, unsigned *to, unsigned cell, unsigned value)
{
	if constexpr (BITS > 0) {
		if (lane >> (BITS - 1) & 1)
			store<2 * LEAF + 1, BITS - 1>(lane, to, cell, value);
		else
			store<2 * LEAF, BITS - 1>(lane, to, cell, value);
	} else {
		/* Nothing can make one of what is written down as it is. */
		asm volatile("st.global.u32 [%0], %1; // %2" :: "l"(to), "r"(value), "n"(LEAF) : "memory");
		asm volatile("st.shared.u32 [%0], %1; // %2" :: "r"(cell), "r"(value), "n"(LEAF) : "memory");   // @put
	}
}

extern "C" __global__ void __launch_bounds__(1024) full(unsigned *out, unsigned rounds)
{
	__shared__ unsigned cells[2][1024];
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;

	for (unsigned i = 0; i < rounds; i++) {
		unsigned *own = &cells[i & 1][threadIdx.x], *other = &cells[i & 1][threadIdx.x ^ 33];

		store<0, 5>(threadIdx.x % 32, out + (size_t)thread * rounds + i, (unsigned)__cvta_generic_to_shared(own), thread + i + sum);
		if (MUTATE != 1 || i != rounds - 3)
			__syncthreads();
		sum += *(volatile unsigned *)other;                                                                     // @get
	}
	out[(size_t)thread * rounds] = sum;
}
