# SPDX-License-Identifier: Apache-2.0
#
# What kernels log: what becomes of it, and that it is said and counted where it
# cannot be judged.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/rt/lib.sh"

# Nothing was missed, while launches are under way and behind them.
go 3 "" whole use:0 load gate:0 run:_Z4ringPi incomplete open:0 sync incomplete
[ "$(grep -c "incomplete: 0" out)" = 2 ] || fail "not complete: $(cat out err)"
go 3 "" use:0 load run:_Z4ringPi sync incomplete
has out "incomplete: 1"         # two instructions that are not modelled

# A region that fills, as with little memory it does, is emptied while the kernel runs: the first access of the race is
# in a piece that was taken out, the second one comes at the end.
go 66 log_mb=4 whole use:0 load fill:50000 race:0 sync incomplete
has out "it waited for a piece"
count 1 "WARNING: GSan"
has out "incomplete: 0"
# A kernel's first launch has more than it needs, and a later one as much as that has logged.
go 66 log_mb=8 use:0 load fill:50000 race:0 sync
hasnt out "it waited for a piece"
go 66 log_mb=4 use:0 load fill:50000 run:_Z4ringPi sync incomplete fill:50000 race:0 sync
[ "$(grep -c "it waited for a piece" out)" = 1 ] || fail "first and second: $(cat out)"
# ... and those of several streams at once, which nothing orders: what they fill is one place.
go 66 log_mb=4 use:0 load stream fill:50000 run:_Z4ringPi stream fill:50000 race:0 null fill:50000 race:2 sync
[ "$(grep -c "it waited for a piece" out)" = 3 ] || fail "three regions: $(cat out)"
count 3 "WARNING: GSan"
count 1 "WARNING: GSan: stream race"
hasnt err "judged to"

# Lanes that get no piece in time, since others keep all that there are, are not kept
# waiting: the launch is judged as far as it was logged.
go 66 log_mb=4 whole use:0 load early lanes:32 wide:40 race:0 sync incomplete
has out "it waited for a piece"
count 1 "WARNING: GSan"
has err "; 1 launch that was not judged to its end"
has out "incomplete: 1"
# Nothing can be read while the kernel runs.
go 66 log_mb=4 use:0 load early fill:50000 deaf race:0 sync
count 1 "WARNING: GSan"
has err "; 1 launch that was not judged to its end"
hasnt err "lost"
# What is behind the cut is not known.
go 3 log_mb=4 use:0 load fill:50000 deaf race:0 sync
has err "GSan: 0 findings; 1 launch"
has err "; 1 launch that was not judged to its end"
# The launch behind it has a region as any other.
go 66 log_mb=4 use:0 load fill:50000 deaf run:_Z4ringPi race:0 sync
has err "GSan: 1 finding; 2 launches"
# Nobody is there to read: the threads are made in this order, that which ends the process,
# that which judges, that which reads.
GSAN_TEST_THREAD=3
export GSAN_TEST_THREAD
go 66 log_mb=4 use:0 load early fill:50000 race:0 race:2 sync
count 2 "WARNING: GSan"
hasnt out "it waited for a piece"
has err "; 1 launch that was not judged to its end"
# Nobody judges before the end.
GSAN_TEST_THREAD=2
go 66 "" use:0 load race:0 sync sleep:100 race:2 exit:3
count 2 "WARNING: GSan"
has err "GSan: 2 findings; 2 launches"
# Nobody can be waited for at the end by _exit.
GSAN_TEST_THREAD=1
go 7 "" use:0 load race:0 sync _exit:7
go 66 "" use:0 load race:0 exit:3
unset GSAN_TEST_THREAD

# A log that is damaged: nothing of that launch is believed, it is counted, and others are
# judged.
n=0
for why in "a record of an unknown site" "no record, or one that is longer than its piece" "the kernel wrote where its log is"; do
	n=$((n + 1))
	go 66 "" use:0 load fill:200 early wreck:$n race:0 race:2 sync
	has err "GSan: the log of a launch of ring(int*) cannot be read: "
	count 1 "WARNING: GSan"
	has err "Location is shared memory"
	has err "; 1 launch whose log was lost"
done

# A launch whose blocks do not suit what the kernel looks at.
go 3 "" use:0 load block:32 rows:4 run:flat block:10 rows:1 run:flat sync
hasnt err "not watched"
go 3 "" use:0 load block:16 rows:4 run:flat run:flat sync
count 1 "GSan: a launch is not watched: its kernel looks at threadIdx.x alone, and its block has rows"
has err "; 2 launches that could not be watched"
# One that the user does not want watched, and one that nobody has registered: they get
# their parameter, in which nothing is.
go 3 "" use:0 load run:alone sync
hasnt out "without their parameter"
FAKE_FAIL=init:1
export FAKE_FAIL
for how in "" extra ex coop; do
	go 3 "" use:0 load $how run:_Z4ringPi sync
	hasnt out "without their parameter"
	has err "; 1 module whose registration failed"
done
go 3 "" use:0 library run:_Z4ringPi graph:_Z4ringPi:2 sync
hasnt out "without their parameter"
unset FAKE_FAIL
go 3 "" use:0 other run:_Z4ringPi sync
hasnt out "without their parameter"

# All ways to launch, and the parameter that the program does not see.
for how in "" extra ex coop; do
	go 66 "" use:0 load $how race:0 sync
	count 1 "WARNING: GSan"
	hasnt out "without their parameter"
done
for how in load library "library functions"; do
	go 3 "" use:0 $how params run:_Z4ringPi sync
	has out "parameters: 1"
done

# Launches in several streams are judged in the order in which they were put there.
go 66 "" use:0 load stream gate:0 race:0 stream race:2 stream-sync open:0 event event-sync sync
count 2 "WARNING: GSan"
has err "GSan: 2 findings; 2 launches"
# A launch is known to be over by what the program waits for.
for wait in sync "stream stream-sync null sync" "alloc:4096 copy" "event event-sync"; do
	go 66 "" use:0 load race:0 $wait sleep:100 findings _exit:3
	count 1 "WARNING: GSan"
done
# ... also where events cannot be had.
for what in cuEventCreate:1 cuEventRecord:1; do
	FAKE_FAIL=$what
	export FAKE_FAIL
	go 3 "" use:0 load race:0 sync findings finish
	has out "data-race"
	has out "finish: 1"
	go 66 "" use:0 load race:0 exit:3
done
# A launch that fails stops no other.
go 66 "" mayfail use:0 load block:2000 run:_Z4ringPi race:0 sync
has out ": 1"
has err "GSan: 1 finding; 1 launch"
hasnt err "lost"
# The driver launches nothing: nothing is watched, and nothing is left behind.
FAKE_FAIL=cuLaunchKernel:2
export FAKE_FAIL
go 3 "" mayfail use:0 load race:0 race:2 sync
has err "GSan: nothing was watched: no kernel was launched; cuLaunchKernel failed"
hasnt err "lost"
unset FAKE_FAIL

done_testing
