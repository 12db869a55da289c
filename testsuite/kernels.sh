# SPDX-License-Identifier: Apache-2.0
#
# kernels.sh FILE.cu: a program of testsuite/kernels, whose kernels run on the emulated
# device as nvcc makes them, in small sizes: the `//@` lines of the source are put in
# front of its PTX.  The right version computes what it should and raises nothing under
# gsan and under the oracle, by several schedules; each mutant is found by both, with the
# kind and between the lines that a `// mutant` line says.  ptxas takes what the rewriter
# makes of the right version.  MUTANTS="3 5" tries those alone, SEEDS="A..B ..." and
# MUTANT_SEEDS other schedules.
source=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/kernels/lib.sh"
name=$(basename "$source" .cu)
test_name=$name
gsan_run="timeout ${LIMIT:-100} $top_builddir/gsan-run --device=emu --timeout=${LIMIT:-100}"
flags="-std=c++17 -O3 -lineinfo -arch=sm_90a -DTILE_N=64 -DRING=3 -DTRIES=30000"

# ptx_of MUTANT EXPECT...: its PTX with the script, into the file k.ptx
ptx_of()
{
	"$NVCC" $flags -DMUTATE="$1" -ptx "$source" -o body.ptx >nvcc.log 2>&1 || { cat nvcc.log; hard "nvcc"; }
	shift
	{ grep '^//@' "$source"; echo "//@ expect $*"; cat body.ptx; } >k.ptx
}

# oracle_says KIND A B
oracle_says()
{
	ptx_lines "$2" "$name" k.ptx >a
	ptx_lines "$3" "$name" k.ptx >b
	grep " oracle: " err >oracle
	found_at ": $1 at lines " a b oracle
}

ptx_of 0 clean
[ "$MUTANTS" ] || {
	for seeds in ${SEEDS:-0..0 3..3}; do
		run 0 $gsan_run --check --oracle --seeds="$seeds" --dump=wrong k.ptx && has out "wrong+0000: 00000000"
		hasnt err "unmodelled"
	done
	run 0 $gsan_run --no-instrument --seed=2 --dump=wrong k.ptx && has out "wrong+0000: 00000000"
	# What earlier launches left is nothing to lose sight of.
	sed -n "s/^\(\/\/@ launch gemm .*\),u32:2,u32:2,u32:2\$/\1,u32:8,u32:1,u32:2/
		/^\/\/@ launch $name /{p;p;p;p;}; p" k.ptx >again.ptx
	run 0 $gsan_run --check again.ptx && has err "7 launches" && hasnt err "no longer followed"
	# With the runtime's text it takes ptxas most of a minute; corpus/wgmma.cu has that.
	"$top_builddir/gsan-ptx" k.ptx -o watched.ptx &&
		"$PTXAS" -c -v -arch=sm_90a watched.ptx -o k.cubin 2>ptxas.log ||
		{ tail -n 5 ptxas.log; fail "ptxas refuses the instrumented text"; }
	sed -n "s/.*Function properties for $name\$/$name:/p; s/.*bytes stack frame, //p; s/.* Used/Used/p" ptxas.log |
		grep -A 2 "^$name:" | tr '\n' ' '
	echo
}
grep '^// mutant' "$source" >mutants
while read -r _ _ n kind a b _; do
	case " ${MUTANTS-$n} " in *" $n "*) ;; *) continue ;; esac
	ptx_of "$n" "$kind"
	a=$(line "$source" "$a")
	b=$(line "$source" "$b")
	for seeds in ${MUTANT_SEEDS:-0..0}; do
		at="mutant $n, seeds $seeds"
		run 0 $gsan_run --check --oracle --seeds="$seeds" k.ptx </dev/null
		reported "$name" "$kind" "$a" "$b" err || fail "$at: gsan does not find $kind at lines $a and $b"
		oracle_says "$kind" "$a" "$b" || fail "$at: the oracle does not find $kind at lines $a and $b"
	done
done <mutants
done_testing
