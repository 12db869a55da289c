# SPDX-License-Identifier: Apache-2.0
#
# slice.sh FILE.cu: a kernel that logs by probes (doc/probes.md), as nvcc makes it, on the emulated device or, with
# DEVICE=gpu, on a GPU: the right version is silent, RUNS times (default: 3), and each mutant is found, with the kind and
# between the lines that a `// mutant` line says.  Nothing may be left out of the log, and the right version is silent as
# well where a part of it is lost: CUTS times (5) each time, and where the region is as small as may be and not emptied.
source=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/kernels/lib.sh"
name=$(basename "$source" .cu)
test_name=$name
flags="-std=c++17 -O3 -lineinfo -arch=${ARCH:-sm_90a} -DTILE_N=64 -DRING=3 -DTRIES=30000 -I $top_srcdir/testsuite/kernels"

# build MUTANT: the PTX of it, with the script, into k.ptx
build()
{
	"$NVCC" $flags -DMUTATE="$1" -ptx "$source" -o body.ptx >nvcc.log 2>&1 || { cat nvcc.log; hard "nvcc"; }
	{ grep '^//@' "$source"; cat body.ptx; } >k.ptx
}

# judge MUTANT OPTION...: what the detector says into err
judge()
{
	mutant=$1
	shift
	timeout "${LIMIT:-60}" "$top_builddir/gsan-run" --events=probes --device="${DEVICE:-emu}" "$@" k.ptx >out 2>err
	status=$?
	[ $status = 0 ] || [ $status = 66 ] && ! grep -q skipped err || { cat out err; fail "mutant $mutant: status $status"; }
}

# found KIND A B: between those lines of the source
found()
{
	ptx_lines "$2" "$name" k.ptx >a
	ptx_lines "$3" "$name" k.ptx >b
	found_at ": $1 (" a b err
}

build 0
i=0
while [ $i -lt "${RUNS:-3}" ]; do
	judge 0 --cuts="${CUTS:-5}"
	[ $status = 0 ] && ! grep "events: " err || fail "the right version"
	i=$((i + 1))
done
least=$("$top_builddir/gsan-run" --events=probes --device="${DEVICE:-emu}" --no-drain --region=1 k.ptx 2>&1 | sed -n 's/.* at least \([0-9]*\)K.*/\1/p')
for more in 0 8 16 32 64; do
	judge 0 --no-drain --region=$((least + more))K
	[ $status = 0 ] && ! grep "events: .* at lines" err || fail "the right version in $((least + more)) KiB"
done
# The screen (detect/screen.h) has to see that there is nothing to judge.
timeout 60 "$top_builddir/gsan-run" -v --events=probes --device="${DEVICE:-emu}" k.ptx 2>&1 | grep -a "^gsan-run: .*clear" >clear
grep -qx "gsan-run: $name is clear" clear || { cat clear; fail "the right version is not clear"; }
grep '^// mutant' "$source" >mutants
while read -r _ _ number kind a b _; do
	build "$number"
	judge "$number"
	found "$kind" "$(line "$source" "$a")" "$(line "$source" "$b")" || { head -n 20 err; fail "mutant $number is not found"; }
done <mutants
done_testing
