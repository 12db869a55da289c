#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Every file here, printed, parses again to the same text, does not depend on how
# its lines end, and gives ptxas the same machine code.
. "$top_srcdir/testsuite/lib.sh"

gsan_ptx=$top_builddir/gsan-ptx
count=0
for file in "$top_srcdir"/testsuite/parse/*.ptx; do
	name=$(basename "$file")
	count=$((count + 1))
	mkdir a b
	cp "$file" a/x.ptx
	if ! timeout 60 "$gsan_ptx" --print a/x.ptx -o b/x.ptx; then
		fail "$name: does not parse"
	elif ! timeout 60 "$gsan_ptx" --print b/x.ptx -o again.ptx; then
		fail "$name: its printed text does not parse"
	else
		cmp b/x.ptx again.ptx || fail "$name: printing is not stable"
		awk '{ printf "%s\r\n", $0 }' a/x.ptx >crlf.ptx
		# A .section keeps its bytes, and with them its line ends.
		timeout 60 "$gsan_ptx" --print crlf.ptx -o crlf.out && tr -d '\r' <crlf.out | cmp - b/x.ptx ||
			fail "$name: CR before LF matters"
	fi
	if command -v "$PTXAS" >/dev/null 2>&1; then
		arch=$(sed -n 's/.*\.target[[:space:]]*\(sm_[0-9]*[af]\{0,1\}\).*/\1/p' "$file" | head -n 1)
		# This ptxas has no older device; it takes the older text all the same.
		[ "$arch" = sm_70 ] && arch=sm_75
		# With -g it looks at more, such as a zero offset that is written out.
		for flag in -O3 -g; do
			[ "$name$flag" = odd.ptx-g ] && continue
			for d in a b; do
				(cd $d && timeout 120 "$PTXAS" $flag -arch="$arch" x.ptx -o x.cubin >log 2>&1) ||
					{ fail "$name: ptxas $flag refuses $d"; cat $d/log; }
			done
			"$top_builddir/testsuite/sameelf" a/x.cubin b/x.cubin ||
				fail "$name: printed text gives other machine code with $flag"
		done
	fi
	rm -rf a b again.ptx crlf.ptx crlf.out
done
[ $count -gt 10 ] || fail "only $count files"
[ $failures = 0 ] && ! command -v "$PTXAS" >/dev/null 2>&1 && skip "no ptxas; the texts were compared"
done_testing
