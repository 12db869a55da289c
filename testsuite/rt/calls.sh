# SPDX-License-Identifier: Apache-2.0
#
# What a call of the program's costs: which calls of the driver are made for it, one by one, its own among them; that its stack
# is not unwound again where it is what it was; and that nothing grows with their number.
. "$top_srcdir/testsuite/lib.sh"
takes_long
. "$top_srcdir/testsuite/faults/lib.sh"
. "$top_srcdir/testsuite/rt/lib.sh"
calls=$top_builddir/testsuite/rt/calls
export FAKE_SCREEN=1

# traced WHAT [NAMES]: calls of the first thread's, of the driver or of those names, between the last two of cuDeviceGet: each with
# how often it was made in one of 100 rounds
traced()
{
	rm -f trace
	env LD_AUDIT="$inject" FAULT_MAIN=1 FAULT_TRACE="$tmp/trace" ${2:+FAULT="$2:1000000:1000000:0"} timeout 60 "$calls" "$1" 100 300 \
		>out 2>err || { fail "$1: status $?"; cat out err; }
	awk '$1 == "cuDeviceGet" { delete n; for (name in now) n[name] = now[name]; delete now; next }
		{ now[$1]++ }
		END { for (name in n) print name, n[name] / 100 }' trace | sort | tr '\n' ' '
}

while read -r what want; do
	got=$(traced "$what")
	[ "$got" = "$want " ] || fail "$what: $got, not $want"
done <<'END'
launch cuCtxGetCurrent 1 cuEventRecord 1 cuLaunchKernel 2 cuStreamIsCapturing 1
pair cuCtxGetCurrent 2 cuMemAllocAsync 1 cuMemFreeAsync 1 cuStreamIsCapturing 2
pair_around_launch cuCtxGetCurrent 3 cuEventRecord 1 cuLaunchKernel 2 cuMemAllocAsync 1 cuMemFreeAsync 1 cuStreamIsCapturing 3
alloc_and_free cuCtxGetCurrent 1 cuMemAlloc_v2 1 cuMemFree_v2 1
copy cuCtxGetCurrent 1 cuMemcpyHtoDAsync_v2 1 cuStreamIsCapturing 1
record cuCtxGetCurrent 1 cuEventRecord 1 cuStreamIsCapturing 1
record_and_wait cuCtxGetCurrent 2 cuEventRecord 1 cuEventSynchronize 1 cuStreamIsCapturing 2 cuStreamWaitEvent 1
wait cuCtxGetCurrent 1 cuStreamSynchronize 1
END

for what in pair copy alloc_and_free; do
	got=$(traced $what _Unwind_Backtrace,cuDeviceGet)
	[ -z "$got" ] || fail "$what: $got"
	grep -q '^_Unwind_Backtrace$' trace || fail "$what: no stack is unwound at all"
done

# 100,000 of each, in KiB.  What the device has is memory of this process as well: logs have some megabytes.
while read -r what n most; do
	GSAN_OPTIONS=log_mb=64 timeout 200 "$calls" "$what" "$n" 20000 >out 2>err || fail "$what: status $?"
	got=$(sed -n "s/^$what .* ns *\(-*[0-9]*\) KiB$/\1/p" out)
	[ "${got:-999999}" -lt "$most" ] || fail "$what: $n of them take $got KiB"
done <<'END'
launch 100000 16384
pair 100000 12288
pairs_of_many 100000 12288
pair_around_launch 40000 16384
copy 100000 12288
record_and_wait 100000 1024
END
done_testing
