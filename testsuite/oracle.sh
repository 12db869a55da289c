# SPDX-License-Identifier: Apache-2.0
#
# The oracle's rules for what is asynchronous: each case of oracle/rules.txt gets its
# verdict from the oracle alone, under several schedules, and ptxas takes it.
. "$top_srcdir/testsuite/lib.sh"
mkdir cases || hard "no folder for the cases"
awk -v dir=cases -f "$top_srcdir/testsuite/oracle/rules.awk" "$top_srcdir/testsuite/oracle/rules.txt" ||
	hard "rules.awk"

n=0
for file in cases/*.ptx; do
	arch=$(sed -n 's,^//@ device ,,p' "$file")
	"$PTXAS" -arch="$arch" "$file" -o k.cubin >log 2>&1 || { fail "$file: ptxas"; cat log; }
	"$top_builddir/gsan-run" --oracle=only --check --seeds=0..3 "$file" >log 2>&1 ||
		{ fail "$file"; grep expected log || cat log; }
	n=$((n + 1))
done
echo "$n cases"
[ "$n" -eq "$(grep -c '^case ' "$top_srcdir/testsuite/oracle/rules.txt")" ] || fail "only $n cases were made"
done_testing
