# SPDX-License-Identifier: Apache-2.0
#
# full.sh: a region that fills again and again (fill.cu), on the emulated device or, with DEVICE=gpu, on a GPU, BLOCKS
# (default: 2) blocks, ROUNDS (128) rounds: it is emptied while the kernel runs, no store is lost, the right version is silent
# and the race near the end is found.  Where it is not emptied, or a part of the log is taken away, the right version is
# silent, and what is lost is counted.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/kernels/lib.sh"

command -v python3 >/dev/null || skip "no python3"
source=$top_srcdir/testsuite/stress/fill.cu
blocks=${BLOCKS:-2}
rounds=${ROUNDS:-128}
cut="launches of which a part of the log is lost"

# build MUTANT: the PTX of it, with the script, into k.ptx
build()
{
	"$NVCC" -std=c++17 -O3 -lineinfo -arch=sm_90 -DMUTATE="$1" -ptx "$source" -o body.ptx >nvcc.log 2>&1 || { cat nvcc.log; hard nvcc; }
	{ grep '^//@' "$source" | sed "s/ 2097152/ $((blocks * 256 * rounds * 4))/; s/grid=2/grid=$blocks/; s/u32:256/u32:$rounds/"
	  cat body.ptx; } >k.ptx
}

# judge STATUS OPTION...
judge()
{
	want=$1
	shift
	timeout "${LIMIT:-120}" "$top_builddir/gsan-run" --events=probes --device="${DEVICE:-emu}" "$@" k.ptx >out 2>err
	status=$?
	[ $status = "$want" ] || { tail -n 5 err; fail "$*: status $status, not $want"; }
}

# least OPTION...: the least region in KiB
least()
{
	"$top_builddir/gsan-run" --events=probes --device="${DEVICE:-emu}" --region=1 "$@" k.ptx 2>&1 |
		sed -n 's/.* at least \([0-9]*\)K.*/\1/p'
}

build 0
region=$(least)
judge 3 --region=$((region - 4))K
judge 0 -v --region="$region"K --cuts=5
taken=$(sed -n 's/.*: \([0-9]*\) pieces were taken out .*/\1/p' err)
python3 "$top_srcdir/testsuite/stress/full.py" $((blocks * 256)) "$rounds" err || fail "stores are lost"
[ "${taken:-0}" -ge $((blocks * 256)) ] || fail "only $taken pieces were taken out"
echo "$taken pieces of a region of $region KiB"
grep -q "$cut" err && fail "the log is cut"
for part in 0 1 2 3 4 5 6 7; do
	judge 0 --no-drain --region=$(($(least --no-drain) + part * part * blocks * 32))K
	grep -q "1 $cut" err || fail "a cut is not counted"
done
build 1
judge 66 --region="$region"K
ptx_lines "$(line "$source" @put)" fill k.ptx >a
ptx_lines "$(line "$source" @get)" fill k.ptx >b
found_at ": data-race (" a b err || fail "the race is not found"
done_testing
