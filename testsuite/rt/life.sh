# SPDX-License-Identifier: Apache-2.0
#
# Programs that hang, die, fork, start over and end in all ways.
. "$top_srcdir/testsuite/lib.sh"
takes_long
. "$top_srcdir/testsuite/rt/lib.sh"

# A kernel hangs: what was found before is reported, and the end comes in time.  What it logged itself is not judged.
go 66 "exit_timeout_ms=200" use:0 load race:0 run:hang exit:3
count 1 "WARNING: GSan"
has err "; kernels still ran when the process ended"
has err "; 1 launch whose log was lost"
hasnt err "died"
GSAN_OPTIONS=report_delay_ms=10 timeout 2 "$prog" use:0 load race:0 run:hang sync >out 2>err
[ $? = 124 ] || fail "the hanging program ended"
count 1 "WARNING: GSan"
# What was launched behind it into another stream, and is over, is judged.
go 66 "exit_timeout_ms=200" use:0 load stream run:hang stream race:0 stream-sync exit:3
count 1 "WARNING: GSan"
has err "; 1 launch whose log was lost"
go 66 "exit_timeout_ms=1000" use:0 load stream run:hang stream race:0 exit:3
count 1 "WARNING: GSan"
has err "; 1 launch whose log was lost"
# ... and what waits for it is not.
go 3 "exit_timeout_ms=200" use:0 load stream run:hang race:0 exit:3
has err "; 2 launches whose log was lost"

# The context dies: what was found before is reported.
go 66 "" mayfail use:0 load alloc:4096 race:0 sync findings run:die sync
count 1 "WARNING: GSan"
has err "Location is global memory, 64 bytes inside a 4096-byte allocation at 0x"
has err "; 1 launch whose log was lost"
has out ": 719"
# What nobody had read by then, since a launch before it was under way, is lost with it, and counted.
go 3 "" mayfail use:0 load stream gate:0 run:_Z4ringPi stream race:0 run:die sync
has err "GSan: nothing was watched: the log of each launch was lost"
has err "; 3 launches whose log was lost"
# It stays lost when another context takes its place, which is watched as the first one was.
go 66 "" mayfail use:0 load stream gate:0 run:_Z4ringPi stream run:die reset null use:0 load race:0 sync
count 1 "WARNING: GSan"
has err "; 2 launches whose log was lost"
go 66 "" mayfail use:0 load run:die sync reset use:0 load alloc:4096 race:0 free release use:0 load race:2 sync
count 2 "WARNING: GSan"
has err "; 1 launch whose log was lost"

# The CUDA runtime's order: its exit handler, the first to be registered, releases
# the context after the driver has shut down.
for how in load library; do
	for FAKE_EXIT in retain launch; do
		export FAKE_EXIT
		go 66 "" cudart use:0 $how alloc:4096 race:0 sync race:2 exit:3
		count 2 "WARNING: GSan"
		hasnt err "lost"
	done
	# The driver shuts down before anybody is told: what was judged by then is all there is.
	FAKE_EXIT=wait
	go 66 "" cudart use:0 $how race:0 sync findings exit:3
	count 1 "WARNING: GSan"
	hasnt err "lost"
	go 66 "" cudart use:0 $how race:0 sync findings gate:0 race:2 exit:3
	count 1 "WARNING: GSan"
	has err "; 1 launch whose log was lost"
	unset FAKE_EXIT
done
# It releases the context itself, while the driver is there.
go 66 "" cudart use:0 library race:0 exit:3
count 1 "WARNING: GSan"
hasnt err "lost"
# What handlers launch behind the runtime's own is judged if they wait for it, or counted.
go 66 "" late:0 use:0 load run:_Z4ringPi exit:3
has err "GSan: 1 finding; 2 launches"
go 3 "" late:0 use:0 load run:_Z4ringPi gate:0 exit:3
has err "GSan: 0 findings; 2 launches"
has err "; 1 launch whose log was lost"
# fork: the child's status is its own, and the parent goes on.
go 66 "" use:0 load race:0 fork race:2 sync
has out "child: 5"
count 2 "WARNING: GSan"
count 1 "GSan: 2 findings"
go 3 "" fork use:0 load run:_Z4ringPi sync
has out "child: 5"
has err "GSan: 0 findings; 1 launch"

# A context that ends, and another that is watched like the first.
for end in release reset; do
	go 66 "" use:0 load alloc:4096 race:0 $end use:0 load alloc:4096 race:2 sync
	count 2 "WARNING: GSan"
	has err "inside a 4096-byte allocation"
	has err "GSan: 2 findings; 2 launches"
	go 66 "" use:0 load alloc:4096 race:0 $end
	count 1 "WARNING: GSan"
	has err "inside a 4096-byte allocation"
done
go 66 "" use:0 load run:_Z4ringPi release use:0 load run:_Z4ringPi release use:0 load race:0
has err "GSan: 1 finding; 3 launches, 18 sites watched"
hasnt err "lost"
# One of two ends: what was launched in it is judged, and so is what the other one does from then on.
go 66 "" use:0 load context load race:2 destroy load race:0 sync
count 2 "WARNING: GSan"
has err "GSan: 2 findings; 2 launches"
go 66 "exit_timeout_ms=200" use:0 context load run:hang destroy load race:0 exit:3
count 1 "WARNING: GSan"
has err "; 1 launch whose log was lost"
# Unloaded, or its memory given back, before it was told.
go 66 "" use:0 load alloc:4096 race:0 unload sync
has err "#0 producer(int*) /src/ring.cu:41 (ring.ptx:118)"
go 66 "" use:0 load race:0 unload sync
has err "inside the 16-byte variable counter"
go 66 "" use:0 load alloc:4096 race:0 free alloc:8192 sync
has err "Location is global memory, 64 bytes inside a 4096-byte allocation at 0x"

# Many threads.
# The first launches of all, by several threads at once, are watched, each of them.
all=0
for i in 1 2 3 4 5 6 7 8; do
	go 66 "" library first:16
	has err "GSan: 1 finding; 16 launches"
	hasnt err "not be watched"
	hasnt err "not watched"
	hasnt out "without their parameter"
	all=$((all + $(grep -c "\[16 times\]" err)))
done
# On a busy machine a report may be told before the last one is launched.
[ "$all" -ge 6 ] || fail "of 8 reports $all count all 16 launches"
go 66 "" use:0 load threads:8
count 1 "WARNING: GSan"
has err "GSan: 1 finding; 408 launches, 6 sites watched"

# All ways to end.
go 66 "" use:0 load race:0 exit:0
go 66 "" use:0 load race:0 quick
count 1 "GSan: 1 finding"
go 4 "" use:0 load run:_Z4ringPi quick
go 3 "" use:0 load race:0 sync findings finish
has out "data-race /src/ring.cu:41 (118) /src/ring.cu:57 (203)"
has out "finish: 1"
count 1 "WARNING: GSan"
count 1 "GSan: 1 finding"
echo race_top:consumer >list
go 3 "suppressions=list" use:0 load race:0 sync findings finish
has out "(203) suppressed"
has out "finish: 0"

# ended STATUS COMMAND...: as go, by a signal perhaps, which a shell says itself
ended()
{
	want=$1
	shift
	(timeout 60 "$prog" "$@" >out 2>err) 2>/dev/null
	got=$?
	[ $got = "$want" ] || { fail "status $got, not $want: $*"; cat err; }
}
# _exit and signals: the closing line comes, and the status is what it was.
ended 7 use:0 load run:_Z4ringPi sync _exit:7
count 1 "GSan: 0 findings; 1 launch"
ended 66 use:0 load race:0 _exit:7
count 1 "WARNING: GSan"
count 1 "GSan: 1 finding; 1 launch"
ended 66 use:0 load race:0 lock _exit:7
count 1 "GSan: 1 finding; 1 launch"
GSAN_OPTIONS=strict=1 ended 65 use:0 _exit:7
count 1 "GSan: nothing was watched"
for signal in 2 15; do
	ended $((128 + signal)) use:0 load race:0 signal:$signal
	count 1 "WARNING: GSan"
	count 1 "GSan: 1 finding; 1 launch"
	ended $((128 + signal)) use:0 signal:$signal
	count 1 "GSan: nothing was watched: no kernel was launched"
	ended $((128 + signal)) signal:$signal
	[ -s err ] && fail "a word from a program that has not used CUDA: $(cat err)"
	# A kernel hangs, and nobody waits for it long.
	GSAN_OPTIONS=exit_timeout_ms=60000 ended $((128 + signal)) use:0 load race:0 run:hang signal:$signal
	count 1 "GSan: 1 finding; 2 launches"
	has err "; kernels still ran when the process ended"
	# Handlers of the program's, from before and from after the driver's first use.
	for at in "handler:$signal use:0" "use:0 handler:$signal"; do
		ended 3 $at load run:_Z4ringPi signal:$signal sync
		has out handled
		count 1 "GSan: 0 findings; 1 launch"
	done
done
# The runtime itself was interrupted: a word, and the end.
ended 143 use:0 load run:_Z4ringPi sync rtlock signal:15
count 1 "GSan: the process was ended before the closing line could be said"
GSAN_OPTIONS=exit_timeout_ms=100 ended 7 use:0 load run:_Z4ringPi sync rtlock _exit:7
count 1 "GSan: the process was ended before the closing line could be said"
GSAN_OPTIONS=quiet=1:exit_timeout_ms=100 ended 7 use:0 load run:_Z4ringPi sync rtlock _exit:7
[ -s err ] && fail "quiet=1 was not quiet: $(cat err)"
# The same signal twice, as from a terminal and from a parent.
"$prog" use:0 load race:0 run:hang sync >out 2>err &
pid=$!
sleep 1
kill -TERM $pid; kill -TERM $pid 2>/dev/null; kill -TERM $pid 2>/dev/null
wait $pid
count 1 "GSan: 1 finding; 2 launches"
# A signal that somebody else sends, while the program waits.
(timeout -s TERM 1 "$prog" use:0 load race:0 run:hang sync >out 2>err) 2>/dev/null
count 1 "GSan: 1 finding; 2 launches"
# Children end without a word, and their parent says its own.
ended 3 use:0 vchild:6 child:5 load run:_Z4ringPi sync
has out "child: 5"
has out "child: 6"
count 1 "GSan: 0 findings; 1 launch"
# gsan_off: not a word, and the program's status.
GSAN_OPTIONS=strict=1 ended 3 use:0 load race:0 off
[ -s err ] && fail "gsan_off: $(cat err)"
ended 7 use:0 load off _exit:7
[ -s err ] && fail "gsan_off: $(cat err)"

done_testing
