# SPDX-License-Identifier: Apache-2.0
#
# Many random programs under three schedules each, some of them of the
# asynchronous world, of wgmma, of rows or of locks, or with an error that is no race: gsan and the oracle agree about every one.  What they do not
# agree about is named; soak makes it short.
. "$top_srcdir/testsuite/lib.sh"
takes_long

# programs N OPTION...: the first N
programs()
{
	n=$1
	shift
	"$top_builddir/testsuite/gen/soak" "$@" --seed=1 --count="$n" --most=10 --no-shrink --save=found >out 2>&1
	status=$?
	cat out
	[ $status = 0 ] || fail "soak $*: status $status"
	# About half and half, so that neither silence nor noise passes.
	[ $status != 0 ] || awk -v n="$n" '$1 == n && $2 == "programs," { racy = $5; clean = $7; seen = 1 }
		END { exit !(seen && racy > n * 3 / 10 && clean > n * 3 / 10) }' out ||
		fail "soak $*: not about half of them race"
	# What was counted may hide some of the races of a program, but seldom all.
	silent=$(grep -c 'gsan is silent' out)
	[ $((silent * 40)) -le "$n" ] || fail "soak $*: $silent programs that race without a finding"
}

programs 600
programs 120 --async
programs 20 --products
programs 60 --rows
programs 100 --locks
programs 40 --locks --async
programs 48 --errors
programs 48 --errors --events=friendly
programs 48 --errors --events=hostile
# A program, or those from a seed on, that was judged wrong once.
again()
{
	"$top_builddir/testsuite/gen/soak" "$@" --no-shrink --save=found >out 2>&1 || fail "soak $*: $(head -n 2 out)"
}

# Threads that name different counts at one barrier, with the programs before that make up its schedule.
again --seed=64120 --count=48
# An atom of a warp in whose midst the device once parted lanes that its record has together.
again --seed=10167 --count=1
# A thread reads through the read-only path, and writes there later: where orders go round they are compared the other way round.
again --seed=70003935 --count=1
# Where orders go round, a write's value is seen before one that comes behind it in its cell.
again --locks --events=hostile --seed=230001813 --count=1
# Accesses of blocks that are judged first, of which others stand for those that all of the log names.
again --events=hostile --seed=230003517 --count=1
# Accesses that stand for each other, of which detect=reference, or blocks that are judged first, name another.
again --events=hostile --seed=701018447 --count=1
again --events=hostile --seed=701017384 --count=1
# A read that may have found what a plain write left there, though a release wrote the same.
again --events=hostile --seed=700012284 --count=1
# To the oracle: a read finds what an atom of another size left behind a release.
again --events=hostile --seed=701014496 --count=1
# A fence.sc of the cluster, and one of the device in the same block, whose order another block makes
# (norace/fence_sc_led_back).
again --locks --seed=13591903979 --count=1
# Copies of which any may have made up a phase that expects the bytes of one.
again --async --events=hostile --seed=505003964 --count=1
# Bytes that are expected while another thread initialises the mbarrier, and that nothing orders with that.
again --async --seed=600002722 --count=1
# To the oracle: who has seen a copy end by a relaxed wait, and exits, has not told a barrier of it.
again --async --events=hostile --seed=504009516 --count=1
# Lanes that have come to a wait apart, look at their mbarrier at different moments, and find each other behind it.
again --rows --seed=9109939177 --count=1
# Fences of many groups of a warp, more than its log remembers.
again --async --seed=105823 --count=1 --schedules=24
# A log of fences that moves on while others read it; an expect_tx for the next phase where nobody
# waited for the one before; such a copy when its block ends, and when a later one takes its place;
# a look at an mbarrier that the program has spoilt; another at whose init a thread still is;
# copies of cp.async that arrive again where nobody saw the phase over; a copy where more arrivals
# came than its phase needs; a word that eight lanes read at one moment, and one of them writes; a barrier that an exit makes up;
# a barrier that two warps use by one count, and a third by another.
# And two of the oracle: an mbarrier with two inits; the kind of what is in flight.
for seeds in "26548 --count=3" "18855 --count=6" "240 --count=1" "276 --count=1" "7777 --count=5" \
	"231985 --count=5" "206677 --count=1" "264984 --count=2" "263225 --count=1" "423608 --count=1" "426268 --count=1" \
	"923571 --count=1" "250001532 --count=1" "70000942 --count=1"; do
	again --async --seed=$seeds
done
# A wait that is entered when two phases more are over; warps of a warpgroup that earlier programs
# left with different groups; lanes that come to a group apart.
for seeds in "2682 --count=1" "2470 --count=18" "32000300 --count=1"; do
	again --products --seed=$seeds
done
# Asked to end, it says what it has.
"$top_builddir/testsuite/gen/soak" --seed=1 --count=100000 --save=found >out 2>&1 &
soak=$!
sleep 1
kill "$soak"
wait "$soak" || fail "soak that was asked to end: status $?: $(head -n 2 out)"
grep -q '^[1-9][0-9]* programs, ' out || fail "soak that was asked to end: $(head -n 2 out)"
done_testing
