# SPDX-License-Identifier: Apache-2.0
#
# ptx.sh FILE.ptx: one reproducer.  Its verdicts must hold on the emulated
# device, where the oracle has to give the same, also by the events that it logs, and,
# where the tests may use one, on the GPU; ptxas must take what the rewriter makes of it, for the device that
# its script names.
file=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
. "$top_srcdir/testsuite/lib.sh"
test_name=$(basename "$file")
one_of_many "$test_name"
[ -f "$file" ] || hard "no such file: $1"
ran=no

verdict()
{
	"$top_builddir/gsan-run" --check --oracle --device="$1" "$file"
	status=$?
	case $status in
	0)	ran=yes ;;
	77)	;;
	2)	hard "$1: the script of the reproducer is wrong" ;;
	*)	ran=yes; fail "$1: status $status" ;;
	esac
}

arch=$(sed -n 's,^[	 ]*//@ *device  *\(sm_[0-9a-f]*\).*,\1,p' "$file" | head -n 1)
arch=${arch:-sm_90}
if "$top_builddir/gsan-ptx" "$file" -o k.ptx; then
	"$PTXAS" -c -arch="$arch" k.ptx -o k.cubin || fail "ptxas refuses the instrumented text"
else
	fail "gsan-ptx: status $?"
fi
verdict emu
# By what the program logs as it is, with the clocks of a good device and of a bad one, and where a part of that is lost.
# Those are logs of launches: what the host has ordered libgsan alone judges.
if [ $ran = yes ] && ! grep -q '^//@ expect.*\(stream\|host\)-race' "$file"; then
	for events in "--events --seed=0" "--events=hostile --seed=1"; do
		"$top_builddir/gsan-run" --check --oracle --device=emu $events --cuts=2 "$file" >log 2>&1 ||
			{ fail "$1: $events: status $?"; cat log; }
	done
fi
check_contents 0
if have_gpu; then
	verdict gpu
fi
[ $ran = yes ] || [ $failures -gt 0 ] || skip "it runs on no device that is here"
done_testing
