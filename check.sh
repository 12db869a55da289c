#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Everything that must hold, from a fresh checkout: builds with warnings as
# errors, runs the tests (on the GPU too, where there is one), builds the host
# code with AddressSanitizer and UBSan and runs its unit tests, and makes the tarball,
# builds that apart and tests it.  Logs are in build-check/.
# The last line counts: N passed, N failed, N skipped.
cd "$(dirname "$0")" || exit 1
. testsuite/packages.sh
need_packages test && need_nvcc || exit 1

top=$PWD
logs=$top/build-check
jobs=-j$(nproc)
tests=-j$(($(nproc) + 1))       # some of them wait
[ ! -e /dev/nvidiactl ] || tests=$jobs  # or for the GPU
passed=0 failed=0 skipped=0
mkdir -p "$logs"

# step NAME SECONDS COMMAND...: its output goes to a log, the end of which is
# shown if it fails
step()
{
	name=$1
	limit=$2
	shift 2
	start=$(date +%s)
	timeout -k 30 "$limit" "$@" >"$logs/$name.log" 2>&1
	status=$?
	printf '%-12s %s (%s s)\n' "$name" \
		"$([ $status = 0 ] && echo ok || echo "FAILED, status $status")" \
		$(($(date +%s) - start))
	[ $status = 0 ] || tail -n 30 "$logs/$name.log" | sed 's/^/    /'
	return $status
}

# count NAME: adds the totals that Automake's harness left in that step's log
count()
{
	eval "$(awk '
		/^# PASS:|^# XFAIL:/ { p += $3 }
		/^# FAIL:|^# XPASS:|^# ERROR:/ { f += $3 }
		/^# SKIP:/ { s += $3 }
		END { printf "p=%d f=%d s=%d", p, f, s }' "$logs/$1.log")"
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + s))
	[ $((p + f + s)) -gt 0 ] || failed=$((failed + 1))
	grep -hE '^(FAIL|XPASS|ERROR): ' "$logs/$1.log" | sed 's/^/    /'
	# What those that failed said, which lies beside their names.
	grep -hE '^(FAIL|ERROR): ' "$logs/$1.log" | cut -d' ' -f2 | sort -u | head -n 8 | while read -r test; do
		echo "    == $test"
		{ grep -B 12 '^not ok' "${test%.*}.log" || tail -n 12 "${test%.*}.log"; } | tail -n 26 | cut -c1-300 | sed 's/^/    /'
	done
}

give_up()
{
	echo "$passed passed, $((failed + 1)) failed, $skipped skipped"
	exit 1
}

step autogen 120 ./autogen.sh || give_up
mkdir -p "$logs/plain" "$logs/san"
cd "$logs/plain" || give_up
# Machine code for one device is enough here, and takes a quarter of the time.
step configure 120 ../../configure --enable-werror GPU_ARCHS=90 || give_up
sed -n '/is configured:$/,$p' "$logs/configure.log"
step make 900 make $jobs || give_up
step check 2400 make -k check $tests
count check

cd "$logs/san" || give_up
step san-conf 120 ../../configure --enable-werror GPU_ARCHS=90 --enable-asan --enable-ubsan --disable-gpu-tests &&
step san-make 900 make $jobs || failed=$((failed + 1))
# the tests that are programs of our own, which is where the sanitizers look
step san-check 600 make check $tests TESTS="$(make -s list-tests | grep -vE '\.(sh|ptxs|cu|tap)$' | tr '\n' ' ')"
count san-check

# The tarball has the same tests: one in eight of those that are many shows that it has, and
# those that take long are left out; inputs of fuzz targets are those that were tried above.
cd "$logs/plain" || give_up
if step distcheck 1500 env REPRODUCERS=8 FUZZ_RUNS=1000 make distcheck $jobs; then
	passed=$((passed + 1))
else
	failed=$((failed + 1))
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
