# SPDX-License-Identifier: Apache-2.0
#
# GSAN_OPTIONS=device_screen: launches in which there is nothing to find are clear on the device as they are on the host, and
# their logs are not read; what is racy is found as without it.  DEVICE=gpu: on a GPU.
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

# both STATUS CLEAR: with either value, so many launches are clear by the device
both()
{
	for value in 2 1; do
		run "$1" env GSAN_OPTIONS="device_screen=$value:verbosity=2" timeout 120 "$top_builddir/gsan-run" --device="$DEVICE" -- ./program
		hasnt err "a fault in gsan"
		clear=$(grep -c "is clear, by the device" err)
		[ "$clear" = "$2" ] || fail "device_screen=$value: $clear launches are clear by the device, not $2: $(tail -n 3 err)"
	done
}

# Barriers; lines of global memory; copies, products and mbarriers, of which a block's twin is known at the second launch.
build "$top_srcdir/testsuite/programs/histogram.cu"
both 0 1
build "$top_srcdir/testsuite/programs/race_tile.cu"
both 66 0
has err "WARNING: GSan: shared bounds"
build -DTILE_N=64 -DRING=3 "$top_srcdir/testsuite/kernels/gemm.cu"
both 0 2
build -DTILE_N=64 -DRING=3 -DMUTATE=1 "$top_srcdir/testsuite/kernels/gemm.cu"
both 66 1
has err "WARNING: GSan: "

# More pages than there is room for at first, together with those of launches before, and by themselves.
cat >far.cu <<'END'
#include <cuda_runtime.h>
__global__ void far(char *p, int pages, int racy)
{
	for (int i = threadIdx.x; i < pages; i += blockDim.x)
		p[(size_t)i << 21] = 1;
	if (racy)
		p[0] = (char)threadIdx.x;
}
int main(int argc, char **)
{
	char *p;

	cudaMalloc(&p, (size_t)300 << 21);
	far<<<1, 64>>>(p, 40, 0);
	far<<<1, 64>>>(p + ((size_t)40 << 21), 40, 0);
	far<<<1, 64>>>(p, 150, 0);
	far<<<1, 64>>>(p + ((size_t)150 << 21), 150, 0);
#ifdef RACY
	far<<<1, 64>>>(p, 150, 1);
#endif
	return cudaDeviceSynchronize();
}
END
build far.cu
both 0 4
build -DRACY far.cu
both 66 4
has err "WARNING: GSan: data race"
done_testing
