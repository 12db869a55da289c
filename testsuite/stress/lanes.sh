# SPDX-License-Identifier: Apache-2.0
#
# lanes.sh: lanes that part and meet (ways.cu), on the emulated device or, with DEVICE=gpu, on a GPU: of SEEDS (default:
# 2) programs no record that shares a lane with another is out of order in what the detector reads.
. "$top_srcdir/testsuite/lib.sh"

command -v python3 >/dev/null || skip "no python3"
"$NVCC" -O3 -arch=sm_90 -DPLACES=1024 -ptx -o body.ptx "$top_srcdir/testsuite/stress/ways.cu" >nvcc.log 2>&1 ||
	{ cat nvcc.log; hard "nvcc"; }
seed=1
while [ $seed -le "${SEEDS:-2}" ]; do
	{ grep '^//@' "$top_srcdir/testsuite/stress/ways.cu" |
		sed "s/grid=4/grid=${BLOCKS:-4}/; s/u32:1\$/u32:$((seed * 101))/"
	  cat body.ptx; } >k.ptx
	timeout 120 "$top_builddir/gsan-run" -v --events=probes --device="${DEVICE:-emu}" k.ptx >out 2>log || { tail -n 3 log; fail "seed $seed"; }
	python3 "$top_srcdir/testsuite/stress/lanes.py" log || fail "seed $seed: out of order"
	seed=$((seed + 1))
done
done_testing
