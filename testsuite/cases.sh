# SPDX-License-Identifier: Apache-2.0
#
# Cases of what is undefined, or needs a given schedule: the oracle judges them, and the detector by the events
# that the emulated device logs, each under several schedules, and ptxas takes them.
. "$top_srcdir/testsuite/lib.sh"

for file in "$top_srcdir"/testsuite/cases/*.ptx; do
	arch=$(sed -n 's,^//@ device ,,p' "$file")
	"$PTXAS" -arch="$arch" "$file" -o k.cubin >log 2>&1 || { fail "$file: ptxas"; cat log; }
	"$top_builddir/gsan-run" --oracle=only --check --seeds=0..9 "$file" >log 2>&1 ||
		{ fail "$file: status $?"; grep expected log || cat log; }
	for events in --events --events=hostile; do
		"$top_builddir/gsan-run" --check --oracle $events --seeds=0..2 "$file" >log 2>&1 ||
			{ fail "$file: $events: status $?"; cat log; }
	done
done
done_testing
