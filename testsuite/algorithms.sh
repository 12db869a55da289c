# SPDX-License-Identifier: Apache-2.0
#
# algorithms.sh: right programs of CUB, Thrust and cooperative groups (algorithms/right.cu), built by gsan-nvcc, in which nothing must be
# found.  On a GPU all of them, with more elements, JOBS compilations at a time, and what they print must be what plain nvcc's
# build of them prints; on the emulated device a few.  CASES: of these numbers only; ELEMENTS: of so many elements.
. "$top_srcdir/testsuite/lib.sh"
device=${DEVICE:-$(have_gpu && echo gpu || echo emu)}
jobs=${JOBS:-$(nproc)}
[ "$jobs" -le 16 ] || jobs=16
if [ "$device" = gpu ]; then
	arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .)
	[ -n "$arch" ] || hard "nvidia-smi does not say what the GPU is"
	flags="-arch=sm_$arch -DELEMENTS=${ELEMENTS:-50000}"
	cases=${CASES:-$(seq 25)}
	builds="native watched"
	set --
else
	# PTX alone, which is what the emulated device runs
	flags="-gencode arch=compute_90,code=compute_90 ${ELEMENTS:+-DELEMENTS=$ELEMENTS}"
	cases=${CASES:-15 23}
	builds=watched
	set -- "$top_builddir/gsan-run" --device=emu --
fi
LD_LIBRARY_PATH=$CUDA_HOME/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
native=$NVCC
watched=$top_builddir/gsan-nvcc
export LD_LIBRARY_PATH native watched flags

seconds()
{
	date +%s.%N
}

# there FILE: it has been built
there()
{
	[ -x "$1" ] && return
	fail "$1 cannot be built"
	tail -n 20 "$1.log"
	return 1
}

for c in $cases; do
	for b in $builds; do
		echo "$b $c"
	done
done | xargs -P "$jobs" -n 2 sh -c '
	[ "$0" = native ] && compiler=$native || compiler=$watched
	"$compiler" -std=c++17 -O2 -lineinfo $flags -DCASE="$1" "$top_srcdir/testsuite/algorithms/right.cu" -o "$0.$1" >"$0.$1.log" 2>&1'

for c in $cases; do
	there "watched.$c" || continue
	start=$(seconds)
	run 0 timeout -k 10 120 "$@" "./watched.$c"
	echo "case $c: $(cat out), $(echo "$start $(seconds)" | awk '{ printf "%.1f", $2 - $1 }') s; $(grep '^GSan: ' err | tail -n 1)"
	hasnt err "WARNING: GSan" || sed -n '/^WARNING/,/^SUMMARY/p' err
	grep -q '^GSan: 0 findings; [1-9]' err || fail "case $c: nothing was watched, or something found: $(tail -n 3 err)"
	hasnt err "could not be watched"
	hasnt err "not watched"
	[ "$device" = gpu ] && there "native.$c" || continue
	timeout -k 10 120 "./native.$c" >want 2>native.err || fail "case $c fails without gsan, too: $(cat want native.err)"
	cmp -s want out || fail "case $c: computes something else: $(cat out) instead of $(cat want)"
done
done_testing
