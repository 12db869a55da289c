#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What PTX ISA 9.1 to 9.5 brought, a file each in testsuite/parse/newer: printed, it parses again to the same text and
# gives the same machine code; ptxas takes what is made of it; and as many of its instructions as its "// counted:"
# line says are counted as not, or not fully, understood.  For each target ptxas takes a kernel with probes.
. "$top_srcdir/testsuite/lib.sh"

gsan_ptx=$top_builddir/gsan-ptx
newer_ptxas 9.5 || newer=

# assemble TARGET FILE: into FILE without its suffix, with .cubin
assemble()
{
	[ -n "$newer" ] || return 0
	(cd "$(dirname "$2")" && timeout 120 "$newer" $flag -arch="$1" "$(basename "$2")" -o x.cubin) >log 2>&1 ||
		{ fail "$name: ptxas $flag -arch=$1 refuses $2"; head -n 5 log; return 1; }
}

# counted FILE: how many of its instructions gsan says that it does not know, or not fully
counted()
{
	timeout 60 "$gsan_ptx" --stats "$1" -o made/x.ptx 2>stats || { fail "$name: gsan-ptx: $(head -n 3 stats)"; return; }
	n=$(sed -n 's/.*: \([0-9]*\) not modelled, \([0-9]*\) unknown.*/\1 + \2/p' stats)
	want=$(sed -n 's,^// counted: ,,p' "$1")
	[ "$((${n:-0}))" = "$want" ] || fail "$name: $((${n:-0})) counted, not $want"
}

count=0 flag=-O3
for file in "$top_srcdir"/testsuite/parse/newer/*.ptx; do
	name=$(basename "$file")
	target=$(sed -n 's/^\.target //p' "$file")
	rm -rf a b made
	mkdir a b made
	count=$((count + 1))
	cp "$file" a/x.ptx
	timeout 60 "$gsan_ptx" --print a/x.ptx -o b/x.ptx || { fail "$name: does not parse"; continue; }
	timeout 60 "$gsan_ptx" --print b/x.ptx -o again.ptx && cmp b/x.ptx again.ptx || fail "$name: printing is not stable"
	counted "$file"
	for flag in -O3 -g; do
		assemble "$target" a/x.ptx && assemble "$target" b/x.ptx && [ -n "$newer" ] || continue
		"$top_builddir/testsuite/sameelf" a/x.cubin b/x.cubin ||
			fail "$name: printed text gives other machine code with $flag"
	done
	flag=-O3
	assemble "$target" made/x.ptx
done
[ $count -gt 30 ] || fail "only $count files"

name=targets
for target in 75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 107 107a 107f 110 110a 110f 120 120a 120f 121 121a 121f; do
	sed "s/^\.version .*/.version 9.5/; s/^\.target .*/.target sm_$target/" "$top_srcdir/testsuite/parse/newer/volatile_local.ptx" >a/x.ptx
	timeout 60 "$gsan_ptx" a/x.ptx -o made/x.ptx || fail "sm_$target: gsan-ptx"
	assemble "sm_$target" made/x.ptx
done
[ $failures = 0 ] && [ -z "$newer" ] && skip "no ptxas for PTX 9.5 (NEWER_PTXAS, or nvidia-cuda-nvcc of PyPI); the texts were compared"
done_testing
