# SPDX-License-Identifier: Apache-2.0
#
# A thousand random programs under three schedules each, some of them of the
# asynchronous world: gsan and the oracle agree about every one.  What they do not
# agree about is named; soak makes it short.
. "$top_srcdir/testsuite/lib.sh"

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
}

# REPRODUCERS=N: fewer of them as well.
programs $((850 / ${REPRODUCERS:-1}))
programs $((150 / ${REPRODUCERS:-1})) --async
done_testing
