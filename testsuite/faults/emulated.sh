# SPDX-License-Identifier: Apache-2.0
#
# What can happen to a device, with instrumented kernels on the emulated one: the
# program prints what it prints without the runtime, what was found is reported,
# and what could not be watched is said.
. "$top_srcdir/testsuite/lib.sh"

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

# Kernels that end their context: what was found before is there.
for end in trapped bad_address; do
	go 66 "" buf:4096 run:race run:$end sync print run:race
	count 1 "WARNING: GSan: data race"
	has err "; the context died and with it the device's counters"
	go 3 "" buf:4096 run:right run:$end sync
	has err "; the context died and with it the device's counters"
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

# Shadow cannot be had for a large allocation: other memory is watched.
go 3 "shadow_mb=40" buf:67108864 run:race sync
has err "GSan: no device memory is left for shadow; some memory is not watched"
has err "; 1 allocation without shadow (67108864 bytes)"
has err " accesses to memory without shadow"
go 66 "shadow_mb=40" buf:67108864 run:race run:shared_race sync
has err "Location is shared memory"
count 1 "WARNING: GSan"
has err "; 1 allocation without shadow (67108864 bytes)"

# The clock runs out: counted, silent; and it starts again at a synchronisation.
clock=$(sed -n 's/^#define GSAN_CLOCK_MAX.*(1u << \([0-9]*\)) - 1).*/\1/p' "$top_srcdir/rt/abi.h")
[ -n "$clock" ] || hard "no GSAN_CLOCK_MAX"
top=$((1 << clock))
plain_go()
{
	want=$1
	shift
	run "$want" timeout 60 "$device" load:device.ptx buf:4096 "$@"
}
plain_go 3 run:right sync clock:$((top - 4096)) run:right print
has err "; 2 blocks after the clock ran out"
plain_go 66 run:right sync clock:$((top - 4096)) run:race sleep:150 sync run:race run:right print
count 1 "WARNING: GSan: data race"
has err "; 2 blocks after the clock ran out"

# More findings than the ring holds: those that fit are reported.
ring=$(sed -n 's/^#define RING_ENTRIES \([0-9]*\)u$/\1/p' "$top_srcdir/rt/shadow.c")
[ -n "$ring" ] || hard "no RING_ENTRIES"
awk -v n=$((ring + 100)) 'BEGIN {
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
has err "GSan: $ring findings; "
has err "; $((ring - 3)) reports left out by report_limit"
has err "; 100 findings that did not fit"
has out "1 1 1 1: $((ring + 100))"
done_testing
