# SPDX-License-Identifier: Apache-2.0
#
# shapes.sh: what probes log of random kernels (shapes.py), on the emulated device or, with DEVICE=gpu, on a GPU: of SEEDS
# (default: 60) programs, from FIRST (1) on, each thread's accesses are where it made them.
. "$top_srcdir/testsuite/lib.sh"
takes_long

command -v python3 >/dev/null || skip "no python3"
shapes="python3 $top_srcdir/testsuite/stress/shapes.py"
seed=${FIRST:-1}
stores=0
while [ $seed -lt $((${FIRST:-1} + ${SEEDS:-60})) ]; do
	$shapes make $seed >k.ptx || hard "shapes.py make $seed"
	timeout 60 "$top_builddir/gsan-run" -v --events=probes --device="${DEVICE:-emu}" k.ptx >out 2>log
	status=$?
	[ $status = 0 ] || [ $status = 66 ] || { tail -n 3 log; fail "seed $seed: status $status"; }
	$shapes check $seed log >wrong || { cat wrong; fail "seed $seed"; }
	stores=$((stores + $(cut -d' ' -f1 wrong)))
	seed=$((seed + 1))
done
echo "$stores stores"
[ $stores -gt 0 ] || fail "nothing was stored"
done_testing
