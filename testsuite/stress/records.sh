# SPDX-License-Identifier: Apache-2.0
#
# records.sh: what probes log of the reproducers with asynchronous instructions is what the emulated device logs of them
# (records.py), record by record; and the values of read-modify-writes.
. "$top_srcdir/testsuite/lib.sh"
takes_long

command -v python3 >/dev/null || skip "no python3"

# log FILE NAME: what both log of it
log()
{
	timeout 60 "$top_builddir/gsan-run" -v --events --device=emu "$1" >out 2>"$2.emu"
	timeout 60 "$top_builddir/gsan-run" -v --events=probes --device=emu "$1" >out 2>"$2.probes"
	names="$names $2"
}

names=
log "$top_srcdir/testsuite/stress/rmw.ptx" values
for file in $(grep -lE 'tcgen05|tensormap|im2col|cp_mask|st\.async|red\.async|try_cancel|wgmma.*\.sp|griddepcontrol' \
	"$top_srcdir"/testsuite/race/*.ptx "$top_srcdir"/testsuite/norace/*.ptx); do
	grep -q '^//@ faults' "$file" && continue       # its log goes with the context
	log "$file" "$(basename "$(dirname "$file")").$(basename "$file" .ptx)"
done
python3 "$top_srcdir/testsuite/stress/records.py" $names >wrong || fail "other records: $(head -n 30 wrong)"
records=$(sed -n 's/^\([0-9]*\) records$/\1/p' wrong)
echo "$records records"
[ "${records:-0}" -gt 10000 ] || fail "few were compared"
done_testing
