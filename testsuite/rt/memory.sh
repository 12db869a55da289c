# SPDX-License-Identifier: Apache-2.0
#
# The program's memory in reports, and the memory that kernels log into.
. "$top_srcdir/testsuite/lib.sh"
takes_long
. "$top_srcdir/testsuite/rt/lib.sh"

mib=$((1 << 20))

go 66 "" use:0 load host:4096 race:0 sync
has err "Location is page-locked host memory, 64 bytes inside a 4096-byte allocation at 0x"
# Mapped before there was a context.
go 66 "" map:0x650000000000 use:0 load race:0 sync
has err "Location is global memory, 64 bytes inside a $((2 * mib))-byte mapping at 0x650000000000"
# What was there when the kernel was launched, whatever is there when it is judged.
go 66 "" use:0 load alloc:4096 gate:0 race:0 open:0 free alloc:4096 alloc:100 sync
has err "Location is global memory, 64 bytes inside a 4096-byte allocation at 0x"
go 66 "" map:0x650000000000 use:0 load gate:0 race:0 unmap:0x650000000000 open:0 sync
has err "Location is global memory, 64 bytes inside a $((2 * mib))-byte mapping at 0x650000000000"
# ... and no longer.
go 66 "" use:0 load map:0x650000000000 race:2 sync findings unmap:0x650000000000 race:0 sync
has err "Location is global memory at 0x650000000040"

# Memory of another process, by handles and by a pool, and of another API: as long as it is open.
for open in ipc:4096 ipc-old:4096 import:4096 external:4096; do
	go 66 "" use:0 load $open race:0 sync
	has err "Location is global memory, 64 bytes inside a 4096-byte mapping at 0x"
done
go 66 "" use:0 load ipc:4096 ipc:4096 ipc-close race:0 sync
has err "64 bytes inside a 4096-byte mapping at 0x"
for close in "ipc:4096 ipc-close" "import:4096 free" "external:4096 free"; do
	go 66 "" use:0 load $close alloc:4096 race:0 sync
	has err "64 bytes inside a 4096-byte allocation at 0x"
done

# As much as is asked for: the option says at most how much logs may take.
go 66 "log_mb=1" use:0 load race:0 race:2 sync
count 2 "WARNING: GSan"
go 66 "log_mb=1:verbosity=1" use:0 load grid:2000 run:_Z4ringPi race:0 sync
has err "GSan: logs take 1 MiB at most"
count 1 "GSan: a launch is not watched: there is no memory for its log"
count 1 "WARNING: GSan"
has err "GSan: 1 finding; 2 launches"
has err "; 1 launch that could not be watched"
# Who launches waits for memory that others will give back.
go 66 "log_mb=1" use:0 load stream fill:50000 race:0 stream race:2 sync
count 2 "WARNING: GSan"
hasnt err "not watched"
# A grid of which not even the heads could have a number.
go 3 "" whole use:0 load grid:2000000000 run:flat sync incomplete
has err "GSan: a launch is not watched: there is no memory for its log"
has out "incomplete: 1"
# The driver has none.
FAKE_FAIL=cuMemAlloc:6
export FAKE_FAIL
go 3 "" use:0 load race:0 sync
has err "GSan: a launch is not watched: there is no memory for its log"
has err "; 1 launch that could not be watched"
# It has, but it cannot be written.
FAKE_FAIL=cuMemcpyHtoDAsync:3
go 3 "" use:0 load race:0 sync
has err "GSan: a launch is not watched: "
has err "; 1 launch that could not be watched"

# No way to read logs by: said, and the program runs as if alone.
while read -r what why; do
	FAKE_FAIL=$what
	go 3 "" use:0 load run:_Z4ringPi race:0 sync
	count 1 "GSan: this process is not watched: $why"
	has err "GSan: nothing was watched: $why"
	hasnt err "not instrumented"
	hasnt out "without their parameter"
	go 65 "strict=1" use:0 load run:_Z4ringPi sync
done <<'END'
cuCtxCreate:1 the driver makes no second context, by which logs are read
cuStreamCreate:2 the driver gives no memory or no stream to read logs by
cuStreamCreate:3 the driver gives no memory or no stream to read logs by
cuMemHostAlloc:1 the driver gives no memory or no stream to read logs by
cuMemHostAlloc:2 the driver gives no memory or no stream to read logs by
cuMemHostAlloc:3 the driver gives no memory or no stream to read logs by
cuMemHostAlloc:4 the driver maps no host memory into the device
cuMemHostGetDevicePointer:1 the driver maps no host memory into the device
cuMemAlloc:5 the device has no memory for logs
cuMemGetInfo:1 the device has no memory for logs
END
FAKE_FAIL=cuStreamCreate:1
go 3 "" use:0 load run:_Z4ringPi sync
has err "GSan: nothing was watched: the driver makes no stream for the runtime"

# A module that cannot be looked at.
for what in init:1 cuModuleGetFunctionCount:1 cuModuleEnumerateFunctions:1; do
	FAKE_FAIL=$what
	go 3 "" use:0 load run:_Z4ringPi sync
	has err "GSan: a module could not be registered: its kernels run unwatched"
	has err "; 1 module whose registration failed"
	hasnt err "not instrumented"
done
# The program's own failures are its own.
FAKE_FAIL=cuMemAlloc:7
go 3 "" mayfail use:0 load alloc:4096 race:2 alloc:4096 sync
has out ": 2"
hasnt err "this process is not watched"
unset FAKE_FAIL

# A second device is not watched.
go 66 "" use:0 load race:0 use:1 load alloc:4096 run:_Z4ringPi sync
has err "GSan: device 1 is not watched, only device 0 is"
has err "; 1 launch on a device that is not watched"
hasnt out "without their parameter"

# Nor is a launch on several devices: it runs as if alone, and that is said.
go 3 "" use:0 load several:_Z4ringPi sync
count 1 "GSan: a launch is not watched: it is one of several devices'"
has err "; 2 launches that could not be watched"
hasnt out "without their parameter"

done_testing
