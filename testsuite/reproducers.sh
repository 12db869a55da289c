# SPDX-License-Identifier: Apache-2.0
#
# Every reproducer once more, without the events that others log of it (ptx.sh): its kernels log by probes, libgsan
# watches and judges, and the oracle has to agree.  For --with-engine=new.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"

cat >one.sh <<'EOF'
timeout 120 "$top_builddir/gsan-run" --check --oracle --device=emu "$1" >"$(basename "$1").log" 2>&1
status=$?
case $status in
0 | 77)	echo "$status $1" ;;
*)	echo "wrong $1 $status: $(tail -n 1 "$(basename "$1").log")" ;;
esac
EOF
export top_builddir
find "$top_srcdir/testsuite/race" "$top_srcdir/testsuite/norace" -name '*.ptx' | xargs -P 2 -n 1 sh one.sh >results
grep '^wrong' results | while read -r _ rest; do echo "$rest"; done
! grep -q '^wrong' results || fail "$(grep -c '^wrong' results) reproducers are judged wrong"
right=$(grep -c '^0 ' results)
[ "$right" -ge 980 ] || fail "only $right reproducers were judged"
echo "$right judged"
done_testing
