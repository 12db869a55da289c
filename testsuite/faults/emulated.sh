# SPDX-License-Identifier: Apache-2.0
#
# What can happen to a device, with instrumented kernels on the emulated one: the
# program prints what it prints without the runtime, what was found is reported,
# and what could not be watched is said.
. "$top_srcdir/testsuite/lib.sh"
takes_long

LD_LIBRARY_PATH=$top_builddir/emu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
device=$top_builddir/testsuite/faults/device
"$top_builddir/gsan-ptx" "$top_srcdir/testsuite/faults/kernels.ptx" -o device.ptx || hard "gsan-ptx"

# count N TEXT: err contains it so often
count()
{
	n=$(grep -cF -e "$2" err)
	[ "$n" = "$1" ] || { fail "$n times, not $1: $2"; sed 's/^/  /' err; }
}

# go STATUS OPTIONS COMMAND...: with the runtime, and before that without, which
# must print the same
go()
{
	want=$1
	options=$2
	shift 2
	timeout 60 "${device}_plain" load:"$top_srcdir/testsuite/faults/kernels.ptx" "$@" >plain 2>/dev/null
	run "$want" env GSAN_OPTIONS="$options" timeout 60 "$device" load:device.ptx "$@"
	cmp -s plain out || fail "$*: prints $(cat out), not $(cat plain)"
	count 1 "GSan: $(grep -c 'WARNING: GSan' err) finding"
}

go 3 "" buf:4096 run:right sync print
go 66 "" buf:4096 run:race sync print

# Kernels that end their context: what was found before is there, and the launch's own log is read as far as it goes.
for end in trapped bad_address; do
	go 66 "" buf:4096 run:race run:$end sync print run:race
	count 1 "WARNING: GSan: data race"
	go 3 "" buf:4096 run:right run:$end sync
done
# ... and after a reset the program is watched again.
go 66 "" buf:4096 run:shared_race run:trapped sync reset load:device.ptx buf:4096 run:race sync print

# A kernel that hangs with findings pending: they come out while it does, and the
# end is not waited for too long.
go 66 "exit_timeout_ms=300" buf:4096 run:race run:hang sleep:100
has err "; kernels still ran when the process ended"
go 66 "exit_timeout_ms=300" buf:4096 run:race run:hang sleep:100 quick
has err "; kernels still ran when the process ended"
GSAN_OPTIONS=report_delay_ms=10 timeout 5 "$device" load:device.ptx buf:4096 run:race run:hang sync >out 2>err
[ $? = 124 ] || fail "the hanging program ended"
count 1 "WARNING: GSan: data race"

# Reset, fork, another context, two threads.
go 66 "" buf:4096 run:race reset
go 66 "" buf:4096 run:race sync fork run:race print
has out "child: 5"
go 3 "" buf:4096 run:right sync fork run:right print
go 66 "" buf:4096 run:right context run:race run:right print leave run:right print
count 1 "WARNING: GSan: data race"
go 66 "" buf:4096 context run:right leave run:race sync
go 3 "" buf:4096 run:right context run:right print leave run:right print
go 3 "" buf:4096 threads:add:8 print
go 66 "" buf:4096 threads:race:8 threads:add:8 print
has err "; 32 launches, "

# There is no memory for a launch's log: the launches that have some are watched.
go 66 "log_mb=1" buf:4096 blocks:20000 run:race blocks:2 run:shared_race sync
has err "GSan: a launch is not watched: there is no memory for its log"
has err "; 1 launch that could not be watched"
has err "Location is shared memory"
count 1 "WARNING: GSan"
run 3 env GSAN_OPTIONS=log_mb=1 timeout 60 "$device" load:device.ptx buf:4096 blocks:20000 run:race sync
has err "GSan: nothing was watched: no launch could be logged; 1 launch that could not be watched"

# More findings than are printed are counted.
awk -v n=4196 'BEGIN {
	print ".version 7.0\n.target sm_75\n.address_size 64"
	print ".visible .entry many(.param .u64 p) {\n.reg .b64 %a;\n.reg .b32 %t;\n.reg .pred %q;"
	print "ld.param.u64 %a, [p];\nmov.u32 %t, %tid.x;\nsetp.ne.u32 %q, %t, 0;\n@%q bra END;"
	for (i = 0; i < n; i++)
		printf "st.global.u32 [%%a+%d], 1;\n", 4 * i
	print "END:\nret;\n}"
}' >many.ptx
"$top_builddir/gsan-ptx" many.ptx -o many.gsan || hard "gsan-ptx"
run 66 env GSAN_OPTIONS=report_limit=3 timeout 120 "$device" load:many.gsan buf:65536 run:many print
count 3 "WARNING: GSan: data race"
has err "GSan: 4196 findings; "
has err "; 4193 reports left out by report_limit"
has out "1 1 1 1: 4196"
done_testing
