# SPDX-License-Identifier: Apache-2.0
#
# GSAN_OPTIONS and suppressions, as a program sees them.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/rt/lib.sh"

go 7 "exitcode=7" use:0 load race:0 sync
go 3 "exitcode=0" use:0 load race:0 sync
count 1 "WARNING: GSan"
go 66 "report_limit=1" use:0 load race:0 race:2 sync
count 1 "WARNING: GSan"
has err "GSan: 2 findings; "
has err "; 1 report left out by report_limit"

# Errors name the variable and end the program; unknown keys do neither.
go 2 "exitcode" use:0
has err "GSan: GSAN_OPTIONS: 'exitcode' is not followed by '=' and a value"
go 2 "exitcode=300" use:0
has err "GSan: GSAN_OPTIONS: bad value '300' for exitcode: it is a number from 0 to 255"
go 2 "log_path='x" use:0
has err "GSAN_OPTIONS"
go 3 "exit_code=1" use:0 load run:_Z4ringPi sync
has err "GSan: GSAN_OPTIONS: unknown key 'exit_code'; help=1 lists the known ones"
has err "GSan: 0 findings; 1 launch"
go 3 "help=1" use:0 load run:_Z4ringPi sync
has err "GSan: keys of GSAN_OPTIONS, and their values now"
has err "exit status of the process when something was reported (66)"
has err "GSan: 0 findings; 1 launch"

# Options from inside the program come first.
prog=${prog}_weak
go 5 "" use:0 load race:2 sync
go 6 "exitcode=6" use:0 load race:2 sync
go 3 "" use:0 load race:0 sync
has err "; 1 finding suppressed"
prog=${prog%_weak}

# halt and abort
go 66 "halt_on_error=1" use:0 load race:0 race:2 sync
count 1 "WARNING: GSan"
hasnt out "handler ran"
hasnt err "GSan: 1 finding"
go 134 "abort_on_error=1" use:0 load race:0 sync
has err "GSan: 1 finding; "

# log_path
go 66 "log_path=$tmp/log" use:0 load race:0 sync
[ -s err ] && fail "log_path: text on stderr"
set -- "$tmp"/log.*
[ $# = 1 ] && grep -q 'WARNING: GSan' "$1" && grep -q 'GSan: 1 finding' "$1" || fail "log_path: $*"
rm -f "$tmp"/log.*
go 66 "log_path=$tmp/log:log_exe_name=1:log_suffix=.txt" use:0 load race:0 sync
set -- "$tmp"/log.prog.*.txt
[ -s "$1" ] || fail "log_exe_name, log_suffix: $*"
go 66 "log_path=stdout" use:0 load race:0 sync
has out "WARNING: GSan"
go 66 "log_path=$tmp/none/log" use:0 load race:0 sync
has err "GSan: cannot write $tmp/none/log."
count 1 "WARNING: GSan"

# colour, summary, command line
go 66 "color=always" use:0 load race:0 sync
has err "$(printf '\033[1m\033[31mWARNING: GSan: data race')"
go 66 "print_summary=0:print_cmdline=1" use:0 load race:0 sync
hasnt err SUMMARY
has err "Command line: $prog use:0 load race:0 sync"

# What means nothing any more is said, once; and what kernels would have had to be built for.
for option in reconverge shadow_mb; do
	go 3 "$option=1" use:0 load run:_Z4ringPi sync
	[ "$(grep -c "GSan: GSAN_OPTIONS: '$option' means nothing any more and is ignored" err)" = 1 ] || fail "$option: $(cat err)"
done
go 3 "perturb=7" use:0 load run:_Z4ringPi sync
has err "GSan: perturb=7 means nothing to kernels of"
has err "they were built without gsan-ptx --perturb"
go 66 "same_value=ignore" use:0 load race:0 race:0 sync
[ "$(grep -c "GSan: same_value=ignore means nothing to .*: it was built without gsan-ptx --stored" err)" = 1 ] ||
	fail "not once: $(cat err)"
# Watching alone.
go 3 "report_bugs=0" use:0 load race:0 sync
has err "GSan: 0 findings; 1 launch, 6 sites watched"
# A finding that waits for more of it, and how long.
go 66 "report_delay_ms=60000:log_path=$tmp/late" use:0 load gate:0 race:0 gate:1 race:0 open:0 sleep:300 open:1 sync
has "$(echo "$tmp"/late.*)" "[2 times]"
rm -f "$tmp"/late.*

# suppressions
cat >list <<'END'
# comment

  race_top:^ring
data-race:^consumer(int*)$
END
go 3 "suppressions=list:print_suppressions=1" use:0 load gate:0 run:_Z4ringPi race:0 race:0 race:2 open:0 sync
count 0 "WARNING: GSan"
has err "GSan: 1 suppression used:"
has err "  3 data-race:^consumer(int*)\$"
has err "; 2 findings suppressed"
echo 'race:producer' >"$tmp/list2"
go 3 "suppressions='$tmp/list2'" use:0 load race:0 sync
echo 'races:producer' >list2
go 2 "suppressions=list2" use:0
has err "GSan: list2:1: unknown suppression type 'races'; known are data-race, scope-race, "
go 2 "suppressions=nowhere" use:0
has err "GSan: cannot read suppressions from nowhere"
# The line that a report offers works.
go 66 "" use:0 load race:0 race:2 sync
sed -n 's/^  Suppression: //p' err >list3
go 3 "suppressions=list3" use:0 load race:0 race:2 sync
go 3 "kernel_filter=other" use:0 load race:0 sync
has err "; 1 finding outside kernel_filter"
go 66 "kernel_filter=^ri*g$" use:0 load race:0 sync

done_testing
