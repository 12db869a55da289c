# SPDX-License-Identifier: Apache-2.0
#
# GSAN_OPTIONS=judge_all_mb: of a launch with a large log some blocks are judged first, those that the screen has something
# against, and if they show something no more; what they show all show.  DEVICE=gpu: on a GPU.
. "$top_srcdir/testsuite/lib.sh"
takes_long
: "${DEVICE:=emu}"
code=compute_90a
[ "$DEVICE" = emu ] || code=sm_90a

build()
{
	"$top_builddir/gsan-nvcc" -std=c++17 -O3 -lineinfo -gencode arch=compute_90a,code=$code "$@" -o program >log 2>&1 ||
		{ cat log; hard "gsan-nvcc"; }
}

# watch STATUS OPTIONS
watch()
{
	run "$1" env GSAN_OPTIONS="device_screen=2:verbosity=2:$2" timeout 120 "$top_builddir/gsan-run" --device="$DEVICE" -- ./program
}

# What is found: kinds and lines.
found()
{
	sed -n 's/^SUMMARY: GSan: //p' err | sort
}

# same: in portions nothing is found that is not found at once
same()
{
	watch "$1" judge_all_mb=16384
	hasnt err "judged first"
	found >at_once
	watch "$1" judge_all_mb=0
	found >in_part
	[ -z "$(comm -13 at_once in_part)" ] || fail "$2: found in portions alone: $(comm -13 at_once in_part)"
}

cat >blocks.cu <<'END'
#include <cuda_runtime.h>
/* Blocks from `from` on forget the barrier; and all blocks share lines of global memory with the next one. */
__global__ void tile(int *p, int from)
{
	__shared__ int t[64];

	t[threadIdx.x] = threadIdx.x;
	if ((int)blockIdx.x < from)
		__syncthreads();
	p[3 + blockIdx.x * 64 + threadIdx.x] = t[threadIdx.x ^ 32];
}
/* Blocks from `from` + `far` on write what that one wrote that is so far before it. */
__global__ void meet(int *p, int from, int far)
{
	int b = blockIdx.x;

	p[(b >= from + far ? b - far : b) * 64 + threadIdx.x] = b;
}
int main(int argc, char **)
{
	int *p;

	cudaMalloc(&p, 1024 * 64 * sizeof *p);
	tile<<<1000, 64>>>(p, 1000);
#ifdef RACY
	tile<<<1000, 64>>>(p, 900);
	meet<<<1000, 64>>>(p, 600, 200);
#endif
	return cudaDeviceSynchronize();
}
END
build blocks.cu
same 0 tile
hasnt err "not judged"
build -DRACY blocks.cu
same 66 tile
cmp -s at_once in_part || fail "not all is found in portions: $(diff at_once in_part)"
for kernel in "tile(int*, int)" "meet(int*, int, int)"; do
	has err "a launch of $kernel: 16 of 1000 blocks are judged first: there is something to report"
done
has err "; 1968 blocks not judged, since others of their launches had findings"
has err "[at least "
hasnt err "still being judged"
first=$(sed -n '/1000 blocks are judged\|^SUMMARY/p' err | sed -n 2p)
[ "${first#SUMMARY}" != "$first" ] || fail "what was found waits for the next launch to be judged"

# Without the screen nobody knows which: the first ones.  What is suppressed is nothing to report.
watch 66 device_screen=0:judge_all_mb=0
has err "128 of 1000 blocks are judged first: there is nothing to report"
hasnt err "not judged"
watch 0 device_screen=0:judge_all_mb=0:judge_s=0
has err "; 1712 blocks not judged, since their launches took too long (judge_s)"
has err "GSan: 0 findings"
echo "kernel:tile" >supp
watch 66 judge_all_mb=0:suppressions="$tmp/supp"
has err "a launch of tile(int*, int): 128 of 1000 blocks are judged first: there is nothing to report"
has err "; 984 blocks not judged"

# The same of a launch that a fault ends, and of one whose region is emptied while it runs.
cat >long.cu <<'END'
#include <cuda_runtime.h>
__global__ void rounds(int *p, int n, bool trap)
{
	__shared__ int t[64];

	for (int i = 0; i < n; i++) {
		t[threadIdx.x * 7 % 64] = i;
#ifndef RACY
		__syncthreads();
#endif
		p[blockIdx.x * 64 + threadIdx.x] += t[threadIdx.x ^ 32];
		__syncthreads();
	}
	if (trap && blockIdx.x == gridDim.x - 1)
		__trap();
}
int main(int argc, char **)
{
	int *p;

	cudaMalloc(&p, 1024 * 64 * sizeof *p);
	cudaMemset(p, 0, 1024 * 64 * sizeof *p);
	rounds<<<8, 64>>>(p, 1500, false);
	cudaDeviceSynchronize();
	rounds<<<8, 64>>>(p, 100, true);
	return cudaDeviceSynchronize() != cudaErrorLaunchFailure && cudaGetLastError() != cudaErrorAssert;
}
END
build long.cu
EMU_FATAL=1 watch 0 judge_all_mb=0:log_mb=2
hasnt err "not judged"
build -DRACY long.cu
EMU_FATAL=1 watch 66 judge_all_mb=0:log_mb=2
[ "$(grep -c 'of 8 blocks are judged first: there is something' err)" = 2 ] || fail "not both are judged by portions"
hasnt err "part of the log is lost"

# What a thread writes another one of its block reads behind what the last block hands on: by itself, a block that learns of
# others says nothing.
cat >hand.cu <<'END'
#include <cuda_runtime.h>
__device__ static void put(int *p) { asm volatile("st.release.gpu.global.u32 [%0], 1;" :: "l"(p) : "memory"); }
__device__ static void await(int *p)
{
	int v;

	do
		asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
	while (!v);
}
__global__ void hand(int *flag, int *p)
{
	extern __shared__ int t[];
	int b = blockIdx.x, i = threadIdx.x;

	if (b == 39 && i == 0) {
		await(flag);
		put(flag + 1);
	} else if (b == 0 && i == 0) {
		t[0] = 1;
		put(flag);
	} else if (b == 0 && i == 32) {
		await(flag + 1);
		p[0] = t[0];
	}
	p[1 + b * 64 + i] = 1;
	if (i == 0)
		put(flag + 2 + b);
}
int main()
{
	int *p;

	cudaMalloc(&p, 65536);
	cudaMemset(p, 0, 65536);
	hand<<<40, 64, 256>>>(p, p + 64);
	return cudaDeviceSynchronize();
}
END
build hand.cu
same 0 hand
has err "16 of 40 blocks are judged first: there is nothing to report"

# Pipelines, of which two runs are alike.
[ "$DEVICE" = emu ] || done_testing
for k in gemm:3 attention:1 elementwise:1; do
	build -DTILE_N=64 -DRING=3 -DMUTATE="${k#*:}" "$top_srcdir/testsuite/kernels/${k%:*}.cu"
	same 66 "$k"
	cmp -s at_once in_part || fail "$k: not all is found in portions: $(diff at_once in_part)"
done
done_testing
