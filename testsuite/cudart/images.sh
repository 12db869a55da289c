# SPDX-License-Identifier: Apache-2.0
#
# What the emulated device makes of what nvcc puts into programs: the newest PTX that there is,
# for whatever device; where there is none it is said what there is, and what to do.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"
takes_long

cat >arch.cu <<'EOF'
#include <cstdio>
__global__ void which(int *a)
{
#ifdef __CUDA_ARCH__
	*a = __CUDA_ARCH__;
#endif
}
int main()
{
	int *a, h = 0, major = 0;

	cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
	cudaMalloc(&a, sizeof h);
	cudaMemset(a, 0, sizeof h);
	which<<<1, 1>>>(a);
	cudaMemcpy(&h, a, sizeof h, cudaMemcpyDeviceToHost);
	printf("%d %d %s\n", major, h, cudaGetErrorString(cudaGetLastError()));
	return 0;
}
EOF

# gets SM WANT FLAG...: built with those flags, it prints that on such a device ("": whatever suits)
gets()
{
	sm=$1
	text=$2
	shift 2
	"$NVCC" "$@" arch.cu -o arch >log 2>&1 || { cat log; hard "nvcc $*"; }
	run 0 env ${sm:+EMU_SM=$sm} timeout 60 "$top_builddir/gsan-run" --device=emu -- ./arch
	[ "$(cat out)" = "$text" ] || fail "$sm $*: $(cat out), not $text: $(cat err)"
}

gets '' '9 750 no error' -gencode arch=compute_75,code=compute_75
gets '' '9 900 no error' -arch=sm_90
gets '' '9 900 no error' -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90a,code=compute_90a
gets 100 '10 800 no error' -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90a,code=compute_90a
gets 80 '8 800 no error' -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=compute_90
gets '' '10 1000 no error' -gencode arch=compute_80,code=compute_80 -gencode arch=compute_100a,code=compute_100a

# Machine code alone, PTX of a newer device, and what the device's linker has made.
none='0 no kernel image is available for execution on the device'
gets '' "9 $none" -gencode arch=compute_90,code=sm_90
has err 'it holds machine code for sm_90'
has err '-gencode arch=compute_90,code=compute_90'
gets 86 "8 $none" -gencode arch=compute_90,code=compute_90
has err 'it holds PTX for compute_90'
gets '' "9 $none" -rdc=true -arch=sm_90
has err '-rdc=true leaves none'
done_testing
