# SPDX-License-Identifier: Apache-2.0
#
# corpus.sh FILE.cu: one source of testsuite/corpus through the rewriter, for
# the targets and build variants that its "// quick:" line names, or for all
# that its "// archs:" line allows with CORPUS=full in the environment.
#
#   1. what --print prints gives the machine code of the original, byte for byte
#   2. the instrumented text goes through ptxas, with the options of its "// quickly:" line
#   3. rewriting it once more changes nothing
#   4. for the first target, at least as many kernels as its "// contents: COUNT
#      [N [KERNEL]...]" line says leave the same in memory with gsan and without; the
#      KERNELs wait for others, or store addresses (samemem.c)
source=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
. "$top_srcdir/testsuite/lib.sh"

[ -f "$source" ] || hard "no such file: $1"
test_name=$(basename "$source" .cu)
one_of_many "$test_name.cu"
gsan_ptx=$top_builddir/gsan-ptx
same=$top_builddir/testsuite/sameelf
samemem=$top_builddir/testsuite/samemem

field()
{
	sed -n "s,^// $1: ,,p" "$source"
}
flags=$(field flags)
combos=$(field quick)
[ -n "$combos" ] && [ -n "$(field archs)" ] && [ -n "$(field contents)" ] ||
	hard "no quick:, archs: or contents: line"
if [ "${CORPUS:-quick}" = full ]; then
	combos=
	for arch in $(field archs); do
		for variant in plain G lineinfo rdc; do
			combos="$combos $arch/$variant"
		done
	done
fi
# Fewer of the many: the first target alone.
[ "${REPRODUCERS:-1}" = 1 ] || combos=${combos%% *}

# The file names are the same in every folder: ptxas writes them into notes.
assemble()
{
	(cd "$1" && "$PTXAS" $as -arch="sm_$arch" k.ptx -o k.cubin) >log 2>&1 && return
	fail "$combo: ptxas refuses the $1 text"
	head -n 10 log | sed 's/^/  /'
	return 1
}

# contents PTX COUNT [N [KERNEL]...]
contents()
{
	ptx=$1
	count=$2
	shift 2
	"$samemem" "$top_builddir/emu/libcuda.so.1" "$ptx" "$@" >same.log 2>&1 ||
		fail "$combo: samemem: status $?"
	tail -n 40 same.log | cut -c1-200
	got=$(sed -n 's/ kernels leave the same in memory, 0 do not.*//p' same.log)
	[ "${got:-0}" -ge "$count" ] || fail "$combo: not $count kernels that leave the same"
}

first=yes
for combo in $combos; do
	arch=${combo%/*}
	case ${combo#*/} in
	plain)	cc= as= rewrite= ;;
	G)	cc=-G as="-g --dont-merge-basicblocks --return-at-end" rewrite= ;;
	lineinfo) cc=-lineinfo as=-lineinfo rewrite= ;;
	rdc)	cc=-rdc=true as=-c rewrite=--relocatable ;;
	*)	hard "unknown variant in $combo" ;;
	esac
	rm -rf original printed instrumented again
	mkdir original printed instrumented again
	if ! "$NVCC" -std=c++17 $flags $cc -arch="sm_$arch" -ptx "$source" \
	    -o original/k.ptx >log 2>&1; then
		cat log
		hard "$combo: nvcc refuses the source"
	fi
	assemble original || hard "$combo: the original"
	[ "$first" = no ] || contents original/k.ptx $(field contents)
	first=no

	if "$gsan_ptx" --print original/k.ptx -o printed/k.ptx 2>log; then
		assemble printed && { "$same" original/k.cubin printed/k.cubin ||
			fail "$combo: printed text gives other machine code"; }
	else
		fail "$combo: gsan-ptx --print: $(head -n 3 log)"
	fi

	if "$gsan_ptx" $rewrite original/k.ptx -o instrumented/k.ptx 2>log; then
		grep -q __gsan_ instrumented/k.ptx || fail "$combo: nothing was instrumented"
		as="$as $(field quickly)" assemble instrumented
		"$gsan_ptx" $rewrite instrumented/k.ptx -o again/k.ptx 2>log &&
			cmp instrumented/k.ptx again/k.ptx ||
			fail "$combo: rewriting twice is not rewriting once: $(head -n 3 log)"
	else
		fail "$combo: gsan-ptx: $(head -n 3 log)"
	fi
	echo "$test_name $combo: $(($(wc -c <original/k.ptx) / 1024)) KiB of PTX"
done
done_testing
