# SPDX-License-Identifier: Apache-2.0
#
# Logs of programs with several launches and streams, and of several processes.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/check/lib.sh"

LD_LIBRARY_PATH=$CUDA_HOME/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
gencode="-gencode arch=compute_90,code=compute_90"

# build NAME SOURCE
build()
{
	"$top_builddir/gsan-nvcc" -std=c++17 -lineinfo $gencode -I"$top_srcdir/testsuite/programs" "$2" -o "$1" >log 2>&1 ||
		{ cat log; hard "gsan-nvcc refuses $2"; }
}

# Kernels of several streams race with nobody, and one in a step behind another one does.
cat >steps.cu <<'E2'
#include "check.h"

__device__ int total[64];

__global__ void step(int *a, int by)
{
	a[threadIdx.x] += by;
	if (by == 3)
		total[threadIdx.x / 2] = by;
}

template <int N> __global__ void shared(int *a)
{
	__shared__ int s[N];

	s[threadIdx.x] = a[threadIdx.x];
	a[threadIdx.x] = s[(threadIdx.x + 32) % N];
}

int main(void)
{
	cudaStream_t s, t;
	int *a, *b;

	CHECK(cudaStreamCreate(&s));
	CHECK(cudaStreamCreate(&t));
	CHECK(cudaMalloc(&a, 256));
	CHECK(cudaMalloc(&b, 512));
	CHECK(cudaMemset(a, 0, 256));
	CHECK(cudaMemset(b, 0, 512));
	for (int i = 0; i < 4; i++) {
		step<<<1, 64, 0, s>>>(a, i);
		step<<<1, 64, 0, t>>>(b, i + 4);
	}
	shared<64><<<1, 64, 0, s>>>(a);
	shared<128><<<1, 128, 0, t>>>(b);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFree(b));
	CHECK(cudaMalloc(&b, 1024));
	step<<<1, 64>>>(b, 3);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
E2
build steps steps.cu
keeps 66 "" $gsan_run -- ./steps
[ "$(grep -c "WARNING: GSan: data race" said)" = 3 ] || fail "not three findings"
has said "of shared<128><<<(1,1,1),(128,1,1)>>> on stream 0x"
has said "256-byte variable total"
has said "GSan: 3 findings; 11 launches, "
run 66 $check kept
counted said >said.n
counted err >err.n
cmp -s said.n err.n || fail "other reports: $(diff said.n err.n)"

# Of two processes: each finding once, with the counts of both.
cp kept first
keeps 66 "" $gsan_run -- ./steps
run 66 $check first kept
has err "GSan: 3 findings; 22 launches, "
sed -n 's/^  \[\([0-9]*\) time.*/\1/p' err >both
run 66 $check first
sed -n 's/^  \[\([0-9]*\) time.*/\1/p' err | awk '{ print 2 * $1 }' | cmp -s - both ||
	fail "both have $(tr '\n' ' ' <both)times"
run 66 $check -o suppress_equal_stacks=0 first kept
[ "$(grep -c "WARNING: GSan: data race" err)" -gt 6 ] || fail "findings of one place are told as one"
grep -o "pid=[0-9]*" err | sort -u >pids
[ "$(wc -l <pids)" = 2 ] || fail "reports are of $(tr '\n' ' ' <pids)"

# A program that forks before it uses the device: a file of each.
cat >forks.cu <<'E2'
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

__global__ void k(int *a)
{
	*a = threadIdx.x;
}

int main(void)
{
	int *a, status;
	pid_t pid = fork();

	CHECK(cudaMalloc(&a, 4));
	k<<<1, 64>>>(a);
	CHECK(cudaDeviceSynchronize());
	if (pid)
		waitpid(pid, &status, 0);
	return 0;
}
E2
build forks forks.cu
rm -rf logs
mkdir logs
run 66 env GSAN_OPTIONS=log=logs $gsan_run -- ./forks
[ "$(ls logs | grep -c '^forks\.[0-9]*\.gsanlog$')" = 2 ] || fail "files: $(ls logs)"
run 66 $check logs/*
has err "GSan: 1 finding; 2 launches, "

# One that becomes itself again has the same number: neither file goes.  What was judged before a process is killed can be
# read.
cat >execs.cu <<'E2'
#include <signal.h>
#include <unistd.h>
#include "check.h"

__global__ void k(int *a)
{
	*a = threadIdx.x;
}

int main(int argc, char **argv)
{
	int *a;

	CHECK(cudaMalloc(&a, 4));
	k<<<1, 64>>>(a);
	CHECK(cudaDeviceSynchronize());
	sleep(argc != 2);
	if (argc == 3)
		kill(getpid(), SIGKILL);
	if (argc == 1)
		execl(argv[0], argv[0], "again", (char *)NULL);
	return 0;
}
E2
build execs execs.cu
rm -rf logs
mkdir logs
run 66 env GSAN_OPTIONS=log=logs $gsan_run -- ./execs
[ "$(ls logs | sed 's/\.[0-9]*//' | tr '\n' ' ')" = "execs.2.gsanlog execs.gsanlog " ] || fail "files: $(ls logs)"
run 66 $check logs/*
has err "GSan: 1 finding; 2 launches, "
rm -f logs/*
run 137 env GSAN_OPTIONS=log=logs $gsan_run -- ./execs be killed
run 66 $check logs/*
has err "GSan: 1 finding; 1 launch, "
run 0 $check --print logs/*
has out "no end: "
done_testing
