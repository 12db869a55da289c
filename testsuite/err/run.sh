#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Every file here is in error: X.exp has what gsan-ptx must say of X.ptx, less the
# path in front, and no output may be left behind.  The source line and the caret
# are compared for one of them.
. "$top_srcdir/testsuite/lib.sh"

gsan_ptx=$top_builddir/gsan-ptx
for file in "$top_srcdir"/testsuite/err/*.ptx; do
	name=$(basename "$file" .ptx)
	cp "$file" x.ptx
	run 1 timeout 60 "$gsan_ptx" --print x.ptx -o out.ptx
	[ -e out.ptx ] && { fail "$name: wrote its output"; rm -f out.ptx; }
	sed -n 's/^x\.ptx:\([0-9]*:[0-9]*: error: \)/\1/p' err >got
	diff -u "$top_srcdir/testsuite/err/$name.exp" got || fail "$name: other errors than expected"
done

printf '.version 9.0\n.target sm_90\n.func f()\n{\n\tmov.u32\ta, 5;\n}\n' >x.ptx
run 1 timeout 60 "$gsan_ptx" --print x.ptx -o out.ptx
printf "x.ptx:5:10: error: 'a' is not declared\n \tmov.u32\ta, 5;\n \t       \t^\n" >want
diff -u want err || fail "source line and caret"
done_testing
