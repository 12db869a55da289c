# SPDX-License-Identifier: Apache-2.0
#
# Cases that the device runtime cannot get right under every schedule, or not at all: the
# oracle and the detector of events judge them, each under several schedules, and ptxas takes them.
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
