# SPDX-License-Identifier: Apache-2.0
#
# GSAN_OPTIONS=kill_watch: a program that is killed, or ends by a fault of its own, while a kernel runs for long: a copy of it
# tells what was logged.  DEVICE=gpu: on a GPU.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"
takes_long
device=${DEVICE:-emu}
code=compute_90
[ "$device" = emu ] || code=sm_90
EMU_PATIENT=1   # the emulated device waits for a deadlock, as a GPU does
export EMU_PATIENT
LD_LIBRARY_PATH=$CUDA_HOME/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

cat >killed.cu <<'E'
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

__global__ void before(int *a)
{
	a[threadIdx.x & 1] = threadIdx.x;                                       // first
}

__global__ void waits(volatile int *go)
{
	while (!*go)
		;
}

/* Of three warps that barrier 1 counts one does not come. */
__global__ void hangs(int *a)
{
	a[256 + threadIdx.x] = blockIdx.x;                                      // race
	if (threadIdx.x >= 32)
		asm volatile("barrier.sync 1, 96;");                            // counted
}

/* Is there a copy of the process?  It has another name. */
static bool is_copied()
{
	char command[120];

	snprintf(command, sizeof command, "grep -qsx PPid:.%d $(grep -lsx Name:.gsan-copy /proc/[0-9]*/status) /dev/null", (int)getpid());
	return !system(command);
}

static void await_copy(bool there)
{
	for (int i = 0; i < 600 && is_copied() != there; i++)
		usleep(50000);
	if (is_copied() != there)
		printf("no copy\n");
}

int main(int argc, char **argv)
{
	const char *how = argv[1];
	cudaStream_t a, b;
	int *p, *go, *there;

	cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
	cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
	cudaMalloc(&p, 4096);
	cudaHostAlloc(&go, 4, cudaHostAllocMapped);
	*go = 0;
	cudaHostGetDevicePointer(&there, go, 0);
	before<<<1, 64, 0, a>>>(p);
	cudaStreamSynchronize(a);
	if (strstr(how, "waits")) {
		waits<<<1, 1, 0, a>>>(there);
		await_copy(true);
	}
	if (!strstr(how, "none"))
		hangs<<<2, 96, 0, b>>>(p);
	if (!strstr(how, "waits") && !strstr(how, "none"))
		await_copy(!strstr(how, "off"));
	if (strstr(how, "ends")) {
		*(volatile int *)go = 1;
		cudaStreamSynchronize(a);
		usleep(200000);
	}
	if (strstr(how, "leaves")) {
		await_copy(false);
		printf("none is left\n");
		return 5;
	}
	fflush(stdout);
	if (strstr(how, "aborts"))
		abort();
	if (strstr(how, "syncs"))
		cudaDeviceSynchronize();
	if (strstr(how, "exits"))
		_exit(5);
	if (strstr(how, "becomes"))
		execlp("sh", "sh", "-c", "sleep 1; echo another", NULL);
	kill(getpid(), SIGKILL);
	return 1;
}
E
"$top_builddir/gsan-nvcc" -std=c++17 -lineinfo -gencode arch=compute_90,code=$code killed.cu -o killed >log 2>&1 || {
	cat log
	hard "gsan-nvcc refuses the source"
}

line()
{
	grep -n "// $1\$" killed.cu | cut -d: -f1
}

# killed OPTIONS HOW: all that comes of it, also what a copy of the program says when that is gone, for which gsan-run waits
killed()
{
	GSAN_OPTIONS=$1:exit_timeout_ms=500 timeout 120 "$top_builddir/gsan-run" --device="$device" -- ./killed "$2" >err 2>&1
	cp err out
	hasnt err 'no copy'
}

# told: what the launch logged that was under way, and what came before it, once
told()
{
	[ "$(grep -c 'WARNING: GSan: data race' err)" = 2 ] || fail "$1: not both races: $(cat err)"
	has err "killed.cu:$(line first)"
	has err "killed.cu:$(line race)"
	has err 'is gone, and has not told what launches logged that were under way: a copy of it does'
	has err "why: barrier 1 of block 0 lacks 1 warp, waited for at killed.cu:$(line counted)"
	has err 'It ran when the process ended'
	has err "GSan: 3 findings; 2 launches"
	pid=$(sed -n 's/.*process \([0-9]*\) is gone.*/\1/p' err)
	[ "$(grep -c "(pid=$pid)" err)" = 3 ] || fail "$1: reports name another process"
}

killed kill_watch=1 dies
told dies
killed kill_watch=1 aborts
told aborts
# It has become another program, which has nothing to tell.
killed kill_watch=1:hang_timeout=0 becomes
has out another
hasnt err 'is gone'

# Without it nothing is told.
killed kill_watch=0 off-dies
hasnt err "killed.cu:$(line race)"
hasnt err 'is gone'

# A process that ends by itself tells itself.
killed kill_watch=1 exits
hasnt err 'is gone'
has err 'kernels still ran when the process ended'
killed kill_watch=1:hang_timeout=3 syncs
hasnt err 'is gone'
has err 'Nothing was logged for 3 seconds'
[ "$(grep -c 'WARNING: GSan' err)" = 3 ] || fail "syncs: $(cat err)"

# None is left when no kernel runs any more.
killed kill_watch=1 waits-none-ends-leaves
has out 'none is left'
has err 'GSan: 1 finding; 2 launches'

# A launch that came behind the copy is not in it.
killed kill_watch=3 waits-dies
has err 'a copy of it does'
[ "$(grep -c 'WARNING: GSan' err)" = 1 ] || fail "later: $(cat err)"
has err 'GSan: 1 finding; 2 launches'
has err '1 launch whose log was lost'
# A log that the process has read since is not there any more: what hangs on it is not judged.
killed kill_watch=3 waits-ends-dies
has err 'is gone, and what launches logged that were under way with it'
[ "$(grep -c 'WARNING: GSan' err)" = 1 ] || fail "read since: $(cat err)"
done_testing
