# SPDX-License-Identifier: Apache-2.0
#
# A kernel that a trap ends wherever its other warps are just then, under many schedules: what they had not logged whole is
# left out, and nothing is found.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"

cat >torn.cu <<'E'
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__device__ unsigned shared(const void *p)
{
	return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void arrive(unsigned m)
{
	asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" :: "r"(m) : "memory");
}

/* A copy into the tile, and the wait for it. */
__device__ void copy(unsigned to, const int *from, unsigned m, int phase)
{
	asm volatile("{ .reg .b64 t; mbarrier.arrive.expect_tx.shared.b64 t, [%0], 64; }" :: "r"(m) : "memory");
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 64, [%2];" ::
		     "r"(to), "l"(from), "r"(m) : "memory");
	asm volatile("{ .reg .pred p; L%=: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra L%=; }" ::
		     "r"(m), "r"(phase & 1) : "memory");
}

__device__ void copy_part(unsigned to, const int *from)
{
	asm volatile("cp.async.ca.shared.global [%0], [%1], 16; cp.async.wait_all;" :: "r"(to), "l"(from) : "memory");
}

__global__ void torn(const int *from, int n)
{
	__shared__ __align__(16) int tile[16];
	__shared__ __align__(16) int part[32][4];
	__shared__ unsigned long long many[32], one;
	__shared__ int word[64];
	const unsigned lane = threadIdx.x % 32;

	/* While others begin. */
	if (threadIdx.x == 128 && n < 0) {
		while (n++ < 0)
			asm volatile("{ .reg .u32 x; mov.u32 x, %clock; }");
		__trap();
	}
	if (threadIdx.x < 32)
		asm volatile("mbarrier.init.shared.b64 [%0], 1000000;" :: "r"(shared(&many[lane])) : "memory");
	if (threadIdx.x == 0)
		asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" :: "r"(shared(&one)) : "memory");
	if (threadIdx.x < 64)
		word[threadIdx.x] = 0;
	__syncthreads();
	for (int i = 0;; i++)
		if (threadIdx.x < 32)
			arrive(shared(&many[lane * 5 % 32]));
		else if (threadIdx.x < 64)
			atomicAdd(&word[lane * 7 % 32], 1);
		else if (threadIdx.x == 64)
			copy(shared(tile), from, shared(&one), i);
		else if (threadIdx.x >= 96 && threadIdx.x < 128)
			copy_part(shared(part[lane]), from + 4 * (lane * 3 % 32));
		else if (threadIdx.x == 128 && i >= n)
			__trap();
}

int main(int, char **argv)
{
	int *a;

	cudaMalloc(&a, 4096);
	torn<<<4, 160>>>(a, atoi(argv[1]));
	puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
E
"$top_builddir/gsan-nvcc" -std=c++17 -lineinfo -gencode arch=compute_90,code=compute_90 torn.cu -o torn || hard "gsan-nvcc"
seed=1
while [ "$seed" -le "${SEEDS:-100}" ] && [ "$failures" = 0 ]; do
	run 0 timeout 60 "$top_builddir/gsan-run" --device=emu --seed="$seed" -- ./torn $((seed * 7 % 60 - 30))
	has out "unspecified launch failure"
	has err "GSan: 0 findings; 1 launch"
	[ "$failures" = 0 ] || { echo "seed $seed"; cat err; }
	seed=$((seed + 1))
done
done_testing
