# SPDX-License-Identifier: Apache-2.0
#
# Programs of testsuite/programs, built by nvcc alone: gsan-run finds in them what it finds in those that gsan-nvcc built.
. "$top_srcdir/testsuite/lib.sh"
takes_long
. "$top_srcdir/testsuite/image/lib.sh"
PROGRAMS_NVCC=$NVCC
export PROGRAMS_NVCC
for name in race_reverse race_cluster race_graph race_flag histogram capture nvrtc managed; do
	if ! sh "$top_srcdir/testsuite/programs.sh" "$top_srcdir/testsuite/programs/$name.cu" >log 2>&1; then
		cat log
		fail "$name"
	fi
done

# With machine code alone it is told why nothing is seen.
"$NVCC" -std=c++17 -gencode arch=compute_90,code=sm_90 "$top_srcdir/testsuite/programs/race_reverse.cu" -o code || hard "nvcc"
$gsan_run -- ./code >out 2>err
has err "GSan: nothing was watched"
has err "; 1 module that is machine code alone, into which gsan cannot look"

# On a GPU, where machine code stands beside the PTX.
if have_gpu; then
	"$NVCC" -std=c++17 -lineinfo -arch=sm_90 "$top_srcdir/testsuite/programs/race_reverse.cu" -o both || hard "nvcc"
	for run in first second; do
		run 66 timeout 120 "$top_builddir/gsan-run" --device=gpu -- ./both
		has err "WARNING: GSan: data race"
		has err "GSan: 1 finding; 1 launch, "
	done
fi
done_testing
