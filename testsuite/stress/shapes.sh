# SPDX-License-Identifier: Apache-2.0
#
# shapes.sh: what probes log of random kernels (shapes.py), on the emulated device or, with DEVICE=gpu, on a GPU: of SEEDS
# (default: 60) programs, from FIRST (1) on, each thread's accesses are where it made them.
. "$top_srcdir/testsuite/lib.sh"
takes_long

command -v python3 >/dev/null || skip "no python3"
shapes="python3 $top_srcdir/testsuite/stress/shapes.py"
seeds=$(seq "${FIRST:-1}" $((${FIRST:-1} + ${SEEDS:-60} - 1)))
$shapes make $seeds || hard "shapes.py make"
for seed in $seeds; do
	timeout 60 "$top_builddir/gsan-run" -v --events=probes --device="${DEVICE:-emu}" $seed.ptx >out 2>$seed.log
	status=$?
	[ $status = 0 ] || [ $status = 66 ] || { tail -n 3 $seed.log; fail "seed $seed: status $status"; }
done
$shapes check $seeds >stores || { grep -v ' 0 wrong or missing' stores; fail "shapes.py check"; }
stores=$(awk '{ n += $1 } END { print n + 0 }' stores)
echo "$stores stores"
[ $stores -gt 0 ] || fail "nothing was stored"
done_testing
