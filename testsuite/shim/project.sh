# SPDX-License-Identifier: Apache-2.0
#
# What the tests of build systems share: a program whose kernel turns a row round in shared memory, racy as it stands and right
# with RIGHT; and what such a program says on the emulated device.  Source it after testsuite/lib.sh.

nm "$top_builddir/libgsan.a" 2>/dev/null | grep -q __asan_init && skip "the runtime needs a sanitizer's"
g=$top_builddir/gsan-nvcc
gsan_run="timeout 60 $top_builddir/gsan-run --device=emu"

cat >kernel.cu <<'EOK'
__global__ void turn(int *p)
{
	__shared__ int s[64];
	int t = threadIdx.x;

	s[t] = p[t];	// first
#ifdef RIGHT
	__syncthreads();
#endif
	p[t] = s[63 - t];	// second
}

int start()
{
	int *p;

	cudaMalloc(&p, 256);
	turn<<<1, 64>>>(p);
	return cudaDeviceSynchronize();
}
EOK
cat >main.cpp <<'EOK'
int start();
int main() { return start() ? 1 : 3; }
EOK

# racy COMMAND...: built by gsan-nvcc, the race is found, and nothing else
racy()
{
	run 66 $gsan_run -- "$@"
	for mark in first second; do
		has err "kernel.cu:$(sed -n "/\/\/ $mark/=" kernel.cu)"
	done
	has err "GSan: 1 finding; 1 launch"
	built
}

# right STATUS COMMAND...: no finding
right()
{
	run "$@"
	has err "GSan: 0 findings; 1 launch"
	built
}

# gsan-run would instrument what another nvcc built, too, with another name for its PTX.
built()
{
	hasnt err "module-"
}
