# SPDX-License-Identifier: Apache-2.0
#
# What a reproducer's probes log, without libgsan (ptx.sh has the verdict of that): nothing is left out of the log, the
# detector has to give the expected verdict of it, and no other one of a log of which a part is lost.  One in PROBES (4)
# of them, by their names.
. "$top_srcdir/testsuite/lib.sh"
takes_long

judge='
	file=$0 name=$(basename "$0" .ptx)
	! grep -q -e "^//@ expect.*\(stream\|host\)-race" -e "^//@ faults" "$file" || exit 0        # launches alone, whose log is left
	[ $(($(echo "$name" | cksum | cut -d" " -f1) % PROBES)) = 0 ] || exit 0
	"$top_builddir/gsan-run" --check --events=probes --cuts=3 --device=emu "$file" >"$name.log" 2>&1
	status=$?
	echo "$status $file" >"$name.status"
	[ $status = 0 ] || cat "$name.log"'
export top_builddir PROBES="${PROBES:-4}"
ls "$top_srcdir"/testsuite/race/*.ptx "$top_srcdir"/testsuite/norace/*.ptx |
	xargs -P 2 -n 1 timeout 120 sh -c "$judge"
cat ./*.status | awk '$1 != 0' >wrong
[ ! -s wrong ] || fail "not the expected verdict: $(cat wrong)"
judged=$(cat ./*.status | grep -c '^0 ')
[ "$judged" -ge $((900 / PROBES)) ] || fail "only $judged were judged"
echo "$judged judged"
done_testing
