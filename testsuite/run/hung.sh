# SPDX-License-Identifier: Apache-2.0
#
# Programs whose kernels come to no end, or end in a fault: libgsan says why, by what they have logged, behind what was
# found until then; right ones that take as long raise nothing.  EMU_PATIENT: the emulated device waits for a deadlock, as a
# GPU does.  DEVICE=gpu runs what can be seen there on a GPU.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"
takes_long

# More than a second, which is hang_timeout here: LONG turns of a loop; 24,000 rounds, in each a nap of NAP ns; 50 times POLLS
# polls, a nap behind each, and each time in less than that second.  On the emulated device a nap takes no time.
device=${DEVICE:-emu}
case $device in
gpu) long=300000000 nap=100000 polls=1000 patience=5 ;;
*)  long=36000000 nap=0 polls=90000 patience=3 ;;
esac

cat >hung.cu <<'E'
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <unistd.h>

__device__ int flag, lock;

__device__ void take_long()
{
	for (int i = 0; i < LONG; i++)
		asm volatile("{ .reg .u32 x; mov.u32 x, %clock; }");
}

/* Of three warps that barrier 1 counts one does not come. */
__global__ void barrier(int *a, bool right)
{
	a[threadIdx.x] = blockIdx.x;                                            // race
	if (threadIdx.x >= 32 || right) {
		if (right && threadIdx.x < 32)
			take_long();
		asm volatile("barrier.sync 1, 96;");                            // counted
	}
}

/* Warp 0 waits for an arrival that others would make behind the barrier, to which it does not come. */
__global__ void mbarrier(int *a, bool right)
{
	__shared__ __align__(8) unsigned long long m;
	const unsigned s = (unsigned)__cvta_generic_to_shared(&m);

	if (threadIdx.x == 0)
		asm volatile("mbarrier.init.shared.b64 [%0], 2;" :: "r"(s));
	__syncthreads();
	if (threadIdx.x == 0 || (right && threadIdx.x == 32)) {
		if (threadIdx.x)
			take_long();
		asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" :: "r"(s)); // arrives
	}
	if (threadIdx.x < 32)
		asm volatile("{ .reg .pred p; L%=: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra L%=; }" :: "r"(s)); // tries
	__syncthreads();                                                        // all
}

/* Block 1 waits for what nobody sets, or block 0 late. */
__global__ void polls(int *a, bool right)
{
	if (blockIdx.x == 0 && right) {
		take_long();
		*(volatile int *)&flag = 1;
	}
	while (blockIdx.x == 1 && *(volatile int *)&flag == 0)                  // polled
		;
}

/* The same in shared memory, which nobody else can set. */
__global__ void polls_shared(int *a, bool right)
{
	__shared__ volatile int f;

	if (threadIdx.x == 0)
		f = 0;
	__syncthreads();
	if (threadIdx.x == 32) {
		take_long();
		if (right)
			f = 1;
	}
	while (threadIdx.x == 0 && f == 0)                                      // shared
		;
}

/* Lanes of one warp at two barriers. */
__global__ void apart(int *a, bool right)
{
	if (threadIdx.x & 1 && !right)
		__syncwarp();                                                   // together
	else if (!right)
		__syncthreads();
	if (blockIdx.x == 0 && threadIdx.x < 32)
		take_long();
	__syncthreads();
}

/* Right as it is: two warps let each other go on again and again, and somebody waits at any moment. */
__global__ void turns(int *a, bool right)
{
	for (int i = 0; i < 24000; i++) {
		if (threadIdx.x / 32 == (i & 1))
			__nanosleep(NAP);
		asm volatile("barrier.sync 1, 64;");
		asm volatile("barrier.sync 2, 64;");
	}
}

/* Polls that give up, and go on. */
__global__ void gives_up(int *a, bool right)
{
	for (int i = 0; i < 50; i++) {
#pragma unroll 1
		for (int n = 0; n < POLLS && *(volatile int *)&flag == 0; n++)
			__nanosleep(NAP);
		a[i] = i;
	}
}

__global__ void faults(int *a, bool right)
{
	a[right ? threadIdx.x : 0] = threadIdx.x;                               // first
	__syncthreads();
	if (!right && threadIdx.x == 5)
		__trap();
}

__global__ void asserts(int *a, bool right)
{
	a[right ? threadIdx.x : 0] = threadIdx.x;                               // second
	__syncthreads();
	assert(right || threadIdx.x != 5);
}

__global__ void reaches(int *a, bool right)
{
	a[right ? threadIdx.x : 0] = threadIdx.x;                               // third
	__syncthreads();
	if (!right && threadIdx.x == 5)
		a[1 << 26] = 1;
}

int main(int argc, char **argv)
{
	static const struct { char name; void (*kernel)(int *, bool); int blocks, threads; } all[] = {
		{'b', barrier, 2, 96}, {'m', mbarrier, 3, 96}, {'p', polls, 2, 32}, {'s', polls_shared, 2, 64}, {'w', apart, 2, 64}, {'t', turns, 2, 64}, {'g', gives_up, 1, 1},
		{'f', faults, 1, 64}, {'a', asserts, 1, 64}, {'r', reaches, 1, 64}
	};
	int *a;

	cudaMalloc(&a, 4096);
	printf("begins\n");
	for (auto &k : all)
		if (k.name == argv[1][0])
			k.kernel<<<argc > 2 && k.name == 'b' ? 1 : k.blocks, k.threads>>>(a, argc > 2);
	if (cudaDeviceSynchronize() == cudaSuccess)
		printf("ends\n");
	return 5;
}
E
"$top_builddir/gsan-nvcc" -std=c++17 -lineinfo -DLONG="${LONG:-$long}" -DNAP="${NAP:-$nap}" -DPOLLS="${POLLS:-$polls}" -gencode arch=compute_90,code=compute_90 hung.cu -o hung >log 2>&1 || {
	cat log
	hard "gsan-nvcc refuses the source"
}
gsan_run="$top_builddir/gsan-run --device=$device"
LD_LIBRARY_PATH=$CUDA_HOME/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

line()
{
	grep -n "// $1\$" hung.cu | cut -d: -f1
}

# hung STATUS OPTIONS ARGUMENT...: a run on a device that waits as a GPU does
hung()
{
	status=$1 options=$2
	shift 2
	EMU_PATIENT=1 GSAN_OPTIONS=$options run $status timeout 60 $gsan_run -- ./hung "$@"
}

# why TEXT: the hang is told so, before the closing line and behind all findings
why()
{
	grep -q "why: $1" err || fail "not said why: $1: $(cat err)"
	tail -n 1 err | grep -q '^GSan: [1-9][0-9]* findings*; 1 launch' || fail "no closing line: $(tail -n 1 err)"
	grep 'WARNING: GSan' err | tail -n 1 | grep -q deadlock || fail "the deadlock is not told last"
	grep -q '^begins' out || fail "what the program wrote is lost"
}

# Who waits for ever.
hung 66 hang_timeout=1 b
why "barrier 1 of block 0 lacks 1 warp, waited for at hung.cu:$(line counted); nobody is left who could arrive"
has err 'WARNING: GSan: data race'
has err "why: the same in 1 other block"
has err "hung.cu:$(line race)"
hung 66 hang_timeout=1 m
why "the mbarrier at 0x[0-9a-f]* of block 0 lacks 1 arrival, waited for at hung.cu:$(line tries); the last arrivals came by hung.cu:$(line arrives); warp 1 of block 0 could arrive, and waits at hung.cu:$(line all) for barrier 0"
has err 'why: a circle: '
has err 'why: the same in 2 other blocks'
hasnt err 'data race'
hung 66 hang_timeout=1 s
why "the word at 0x[0-9a-f]* of block 0 holds 0x0, polled at hung.cu:$(line shared); nobody is left who could write it"
# Only here: a GPU lets them go on.
if [ "$device" = emu ]; then
	hung 66 hang_timeout=1 w
	why "lanes 0xffffffff of warp 0 of block 0 lacks 16 threads, waited for at hung.cu:$(line together)"
fi
hung 66 hang_timeout=1,hang_exit=2 p
why "the word at 0x[0-9a-f]* (global memory, 0 bytes inside the 4-byte variable flag at 0x[0-9a-f]*) holds 0x0, polled at hung.cu:$(line polled)"

# What may be set yet is told, and waited for; who does not want the end waits as well.
EMU_PATIENT=1 GSAN_OPTIONS=hang_timeout=1 run 124 timeout -k 10 $patience $gsan_run -- ./hung p
has err 'GSan: launch #1 of polls(int*, bool) has logged nothing for '
hasnt err WARNING
EMU_PATIENT=1 GSAN_OPTIONS=hang_timeout=1,hang_exit=0 run 124 timeout -k 10 $patience $gsan_run -- ./hung m
has err 'WARNING: GSan: deadlock'
[ "$(grep -c WARNING err)" = 1 ] || fail "told again and again"
echo 'deadlock:^mbarrier' >list
EMU_PATIENT=1 GSAN_OPTIONS=hang_timeout=1,suppressions=list run 124 timeout -k 10 $patience $gsan_run -- ./hung m
hasnt err WARNING

# Right ones that take as long.
for k in b m p s w t; do
	hung 5 hang_timeout=1 $k right
	grep -q '^GSan: 0 findings; 1 launch' err || fail "$k: not silent: $(cat err)"
	hasnt err hang
	has out ends
done

hung 5 hang_timeout=1,hang_exit=2 g right
has err 'GSan: 0 findings; 1 launch'
has out ends

# Faults end all contexts of a GPU, and of the emulated device with EMU_FATAL: the log outlives them.
for k in "f first" "a second" "r third"; do
	EMU_FATAL=1 run 66 timeout 60 $gsan_run -- ./hung ${k% *}
	has err 'WARNING: GSan: data race'
	has err "hung.cu:$(line ${k#* })"
	has err 'GSan: 1 finding; 1 launch'
	hasnt out ends
	EMU_FATAL=1 run 5 timeout 60 $gsan_run -- ./hung ${k% *} right
	has err 'GSan: 0 findings; 1 launch'
done
[ "$device" = emu ] || done_testing

# A device that ends it itself; without hang_timeout nothing is told of it.
run 66 timeout 60 $gsan_run -- ./hung b
why "barrier 1 of block 0 lacks 1 warp"
has err 'The device has ended it'
run 66 timeout 60 $gsan_run --timeout=2 -- ./hung m
why "the mbarrier at 0x[0-9a-f]* of block 0 lacks 1 arrival"
GSAN_OPTIONS=hang_timeout=0 run 5 timeout 60 $gsan_run --timeout=2 -- ./hung m
hasnt err WARNING

# Faults: what was found until then is told.
for k in "f first" "a second" "r third"; do
	run 66 timeout 60 $gsan_run -- ./hung ${k% *}
	has err 'WARNING: GSan: data race'
	has err "hung.cu:$(line ${k#* })"
	hasnt out ends
	has err 'GSan: 1 finding; 1 launch'
	run 5 timeout 60 $gsan_run -- ./hung ${k% *} right
	has err 'GSan: 0 findings; 1 launch'
done

# Memory that other processes cannot have goes with its context.
EMU_FATAL=2 run 5 timeout 60 $gsan_run -- ./hung f
has err 'went with its context: its memory cannot be shared with another process'
has err 'GSan: nothing was watched: the log of each launch was lost'
EMU_FATAL=1 run 66 timeout 60 $gsan_run -- ./hung b
why "barrier 1 of block 0 lacks 1 warp"
done_testing
