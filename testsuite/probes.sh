# SPDX-License-Identifier: Apache-2.0
#
# The reproducers by probes: each whose kernels can be logged whole runs with probes on the emulated device, and
# the detector has to give the expected verdict of that log; ptxas takes what probes make of one in
# twelve.  Of a log of which a part is lost no other verdict may come.
. "$top_srcdir/testsuite/lib.sh"

judge='
	file=$0 name=$(basename "$0" .ptx)
	"$top_builddir/gsan-run" --check --events=probes --cuts=3 --device=emu --keep="$name.ptx" "$file" >"$name.log" 2>&1
	status=$?
	echo "$status $file" >"$name.status"
	[ $status = 0 ] || [ $status = 77 ] || cat "$name.log"
	[ $(($(echo "$name" | cksum | cut -d" " -f1) % 12)) = 0 ] || exit 0
	arch=$(sed -n "s,^[	 ]*//@ *device  *\(sm_[0-9a-f]*\).*,\1,p" "$file" | head -n 1)
	"$PTXAS" -c -arch="${arch:-sm_90}" "$name.ptx" -o "$name.cubin" >"$name.log" 2>&1 || {
		echo "ptxas $file" >"$name.refused"
		cat "$name.log"
	}'
export top_builddir PTXAS
ls "$top_srcdir"/testsuite/race/*.ptx "$top_srcdir"/testsuite/norace/*.ptx |
	xargs -P 2 -n 1 timeout 120 sh -c "$judge"
cat ./*.status | awk '$1 != 0 && $1 != 77' >wrong
[ ! -s wrong ] || fail "not the expected verdict: $(cat wrong)"
[ -z "$(ls | grep '\.refused$')" ] || fail "ptxas refuses: $(cat ./*.refused)"
judged=$(cat ./*.status | grep -c '^0 ')
[ "$judged" -ge 700 ] || fail "only $judged could be logged"
echo "$judged judged"
done_testing
