# SPDX-License-Identifier: Apache-2.0
#
# Shadow: where it is, where it is not, and that it is said.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/rt/lib.sh"

mib=$((1 << 20))

go 3 "" use:0 alloc:4096 shadow:0:yes shadow:4095:yes shadow:$((4 * mib)):no shadow:-$((2 * mib)):no
go 3 "" use:0 alloc:$((5 * mib)) shadow:0:yes shadow:$((5 * mib - 1)):yes
go 66 "" use:0 load host:4096 shadow:0:yes race:0 sync
has err "Location is page-locked host memory, 64 bytes inside a 4096-byte allocation at 0x"
# Freed memory stays watched, as a kernel may run; other memory at the same place
# of the window (2^43 bytes on) finds no records in its way.
go 3 "" use:0 alloc:4096 dirty free shadow:4095:yes
go 3 "" use:0 map:0x650000000000 shadow:0:yes dirty unmap:0x650000000000 map:0x6d0000000000 shadow:0:yes clean
# Two at once at one place of the window: neither is watched.
go 3 "" use:0 map:0x650000000000 shadow:0:yes map:0x6d0000000000 shadow:0:no
has err "1 allocation without shadow (2097152 bytes)"
# Mapped before there was a context.
go 3 "" map:0x650000000000 use:0 load run:_Z4ringPi shadow:0:yes

# Shared memory: 512 bytes of static memory, four blocks on each of 3 multiprocessors,
# whatever their size; 32 on each where another stream may be running.
go 3 "" use:0 load slots:512:0 run:_Z4ringPi slots:512:12 slots:8193:0
# Larger blocks, fewer of them; more again when another stream may be running.
go 3 "" use:0 load block:512 run:_Z4ringPi slots:512:12 block:1024 run:_Z4ringPi slots:512:12 \
	stream run:_Z4ringPi slots:512:96
go 3 "" use:0 load block:512 run:_Z4ringPi sync stream run:_Z4ringPi slots:512:12 stream-sync \
	stream run:_Z4ringPi slots:512:12

# Too little memory: said, counted, and the rest goes on.
go 66 "shadow_mb=16" use:0 load alloc:$((64 * mib)) shadow:0:no run:_Z4ringPi race:0 sync
has err "GSan: no device memory is left for shadow; some memory is not watched"
has err "; 1 allocation without shadow (67108864 bytes)"
go 3 "" use:0 load alloc:$((2048 * mib)) shadow:0:no run:_Z4ringPi sync
has err "without shadow (2147483648 bytes)"

# No shadow at all: said, and the program runs as if alone.
for what in cuMemAddressReserve:1 cuMemAddressReserve:4 cuMemCreate:1 cuMemCreate:3 cuMemMap:2 \
	cuMemHostRegister:1 attribute:1; do
	FAKE_FAIL=$what
	export FAKE_FAIL
	go 3 "" use:0 load alloc:4096 run:_Z4ringPi sync
	count 1 "GSan: this process is not watched: "
	has err "GSan: nothing was watched: "
	hasnt err "not instrumented"
done
FAKE_FAIL=init:1
go 3 "" use:0 load run:_Z4ringPi sync
has err "GSan: a module could not be registered: its kernels run unwatched"
has err "; 1 module whose registration failed"
hasnt err "not instrumented"
# The program's own failures are its own.
FAKE_FAIL=cuMemAlloc:1
go 3 "" mayfail use:0 alloc:4096
has out ": 2"
unset FAKE_FAIL

# A second device is not watched.
go 66 "" use:0 load race:0 use:1 load alloc:4096 run:_Z4ringPi sync
has err "GSan: device 1 is not watched, only device 0 is"
has err "; 1 launch on a device that is not watched"

# Clocks start again when they run out, and only then.
go 3 "" use:0 load alloc:4096 dirty clock:402653181 run:_Z4ringPi sync clean clock
has out "clock 0"
go 3 "" use:0 load alloc:4096 clock:402653180 run:_Z4ringPi sync clock
has out "clock 402653180"

done_testing
