# SPDX-License-Identifier: Apache-2.0
#
# A thousand random programs under three schedules each: gsan and the oracle
# agree about every one.  What they do not agree about is named; soak makes it
# short.
. "$top_srcdir/testsuite/lib.sh"
"$top_builddir/testsuite/gen/soak" --seed=1 --count=1000 --most=10 --no-shrink --save=found >out 2>&1
status=$?
cat out
[ $status = 0 ] || fail "soak: status $status"
# About half and half, so that neither silence nor noise passes.
[ $status != 0 ] || awk '/^1000 programs/ { racy = $5; clean = $7; seen = 1 }
	END { exit !(seen && racy > 300 && clean > 300) }' out || fail "not about half of them race"
done_testing
