# SPDX-License-Identifier: Apache-2.0
#
# What a program with the runtime in it prints, and its exit status.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/rt/lib.sh"

# Nothing found: the program's own status, and one line.
go 3 "" use:0 load alloc:4096 run:_Z4ringPi sync
has err "GSan: 0 findings; 1 launch, 6 sites watched; 2 instructions that are not modelled"
[ "$(wc -l <err)" = 1 ] || fail "more than the closing line"
has out "handler ran"
go 3 "quiet=1" use:0 load run:_Z4ringPi sync
[ -s err ] && fail "quiet=1 was not quiet"

# A finding: the report whole, and status 66 after the program's own handlers.
go 66 "strip_path_prefix=/src/:report_delay_ms=60000" use:0 load alloc:4096 gate:0 run:_Z4ringPi race:0 race:0 race:0 open:0 sync
at=$(sed -n 's/^at //p' out)
in=$(printf '0x%x' $((at + 64)))
sed 's/(pid=[0-9]*)/(pid=N)/' err >got
cat >wanted <<END
==================
WARNING: GSan: data race (pid=N)
  Write of size 4 at $in by thread (3,1,0) block (1,0,0):
    #0 producer(int*) ring.cu:41 (ring.ptx:118)
    #1 consumer(int*) ring.cu:70
    #2 ring(int*) ring.cu:90

  Previous read of size 4 at $in by thread (0,0,0) block (0,0,0):
    #0 consumer(int*) ring.cu:57 (ring.ptx:203)

  Location is global memory, 64 bytes inside a 4096-byte allocation at $at
  Launch #2 of ring<<<(2,1,1),(8,4,1)>>> on stream 0x0
  Missing: a release at gpu scope after ring.cu:57 that is acquired at gpu scope before ring.cu:41 (on each side __threadfence() and an atomic flag); __syncthreads() does not order different blocks
  [3 times]
  Suppression: data-race:^producer(int*)\$
SUMMARY: GSan: data race ring.cu:41 in producer(int*)
==================
GSan: 1 finding; 4 launches, 6 sites watched; 2 instructions that are not modelled
END
if c++filt --version >/dev/null 2>&1 || ldconfig -p 2>/dev/null | grep -q 'libstdc++\.so\.6'; then
	diff wanted got || fail "the report is another one"
else
	echo "no demangler here; the report was not compared"
fi
has out "handler ran"

# A variable of the module; shared memory.
go 66 "demangle=0" use:0 load run:_Z4ringPi race:0 race:2 sync
has err "4 bytes inside the 16-byte variable counter at 0x"
has err "Location is shared memory of block (1,1,0) at offset 0x46, reached through the 1024-byte variable tile"
has err "#0 _Z8producerPi (ring.ptx:119)"
has err "Atomic write of size 4 at 0x44 by thread (40,0,0) block (1,1,0):"
has err "Previous read of size 2 at 0x46 by thread (0,0,0) block (1,1,0):"
has err "GSan: 2 findings; "

# Sites of a unit that is linked with another one are numbered behind its.
go 66 "" use:0 linked race:3 sync
has err "Read of size 8 at 0x"
has err "#0 rope(int*) (rope.ptx:22)"
has err "#0 rope(int*) (rope.ptx:21)"
has err "GSan: 1 finding; 1 launch, 8 sites watched"
# Modules of one image are two.
go 66 "" use:0 load load race:0 sync
has err "#0 producer(int*) /src/ring.cu:41 (ring.ptx:118)"
has err "GSan: 1 finding; 1 launch, 12 sites watched"

# The same source lines are reported once, both ways round.
go 66 "report_delay_ms=60000" use:0 load gate:0 run:_Z4ringPi race:0 race:1 open:0 sync
count 1 "WARNING: GSan"
has err "[2 times]"
has err "GSan: 1 finding; 3 launches"
go 66 "suppress_equal_stacks=0" use:0 load race:0 race:1 sync
count 2 "WARNING: GSan"
# ... but PTX lines differ.
go 66 "symbolize=0" use:0 load race:0 race:1 sync
count 2 "WARNING: GSan"
hasnt err "ring.cu:41"

# While launches are under way: after the delay, and the number is a lower bound.
go 66 "report_delay_ms=20" use:0 load gate:0 race:0 gate:1 race:0 open:0 sleep:1000 open:1 exit:3
has err "[at least 1 time]"
# At the end of the process it is exact even if the program never waited.
go 66 "report_delay_ms=60000" use:0 load gate:0 run:_Z4ringPi race:0 race:0 open:0 exit:3
has err "[2 times]"

# Found by way of dlsym and cuGetProcAddress, too.
go 66 "" proc use:0 load alloc:4096 race:0 sync
count 1 "WARNING: GSan"
prog=${prog}_last
go 66 "" use:0 load alloc:4096 race:0 sync
count 1 "WARNING: GSan"
prog=${prog%_last}
# From a library, as the CUDA runtime loads its modules, also before there is a
# context; launched as kernel and as function; in a graph.
for as in "" functions; do
	go 66 "" library use:0 $as run:_Z4ringPi race:0 sync
	count 1 "WARNING: GSan"
	has err "Launch #2 of ring<<<(2,1,1),(8,4,1)>>> on stream 0x0"
	has err "GSan: 1 finding; 2 launches, 6 sites watched"
	go 3 "" use:0 library $as block:512 graph:_Z4ringPi:3 sync
	has err "GSan: 0 findings; 6 launches, 6 sites watched"
	has err "; 2 graph launches"
done
go 66 "" use:0 library race:0 unload sync
has err "inside the 16-byte variable counter"
go 3 "" use:0 bare graph:_Z4copyPi:2 sync
has err "; 2 graph launches; 4 launches of kernels that are not instrumented; not instrumented: copy"

# And with the runtime preloaded into a program that does not have it.  (A runtime
# built with AddressSanitizer cannot be preloaded.)
if ! nm -D "$top_builddir/libgsan.so" | grep -q __asan_init; then
run 3 timeout 60 "${prog}_plain" use:0 bare run:_Z4copyPi sync
[ -s err ] && fail "the plain program is not plain"
run 66 env LD_PRELOAD="$top_builddir/libgsan.so" timeout 60 "${prog}_plain" proc use:0 load race:0 sync
count 1 "WARNING: GSan"
run 66 env LD_PRELOAD="$top_builddir/libgsan.so" timeout 60 "${prog}_plain" use:0 load race:0 sync
count 1 "WARNING: GSan"
# Programs that the preloaded runtime finds nothing to do in stay silent.
run 3 env LD_PRELOAD="$top_builddir/libgsan.so" timeout 60 "${prog}_plain"
[ -s err ] && fail "a word from a program without CUDA"
fi
# Python's way out of a process.
if command -v python3 >/dev/null && ! nm -D "$top_builddir/libgsan.so" | grep -q __asan_init; then
	cat >out.py <<'END'
import ctypes, os, signal, sys
cuda = ctypes.CDLL("libcuda.so.1")
cuda.cuInit(0)
if sys.argv[1] == "term":
    os.kill(os.getpid(), signal.SIGTERM)
os._exit(5)
END
	run 5 env LD_PRELOAD="$top_builddir/libgsan.so" python3 out.py exit
	has err "GSan: nothing was watched: no kernel was launched"
	run 65 env LD_PRELOAD="$top_builddir/libgsan.so" GSAN_OPTIONS=strict=1 python3 out.py exit
	run 143 env LD_PRELOAD="$top_builddir/libgsan.so" python3 out.py term
	has err "GSan: nothing was watched: no kernel was launched"
fi
# One finding that is suppressed at two PTX lines is one.
echo race_top:consumer >list
go 3 "suppressions=list" use:0 load gate:0 run:_Z4ringPi race:0 race:1 open:0 sync
has err "; 1 finding suppressed"
go 3 "kernel_filter=nobody" use:0 load gate:0 run:_Z4ringPi race:0 race:1 open:0 sync
has err "; 1 finding outside kernel_filter"

# Nothing watched is said, and why.
go 3 "" use:0
has err "GSan: nothing was watched: no kernel was launched"
go 3 "" use:0 bare run:_Z4copyPi run:_Z4copyPi sync
has err "GSan: nothing was watched: no kernel that was launched is instrumented; 2 launches of kernels that are not instrumented; not instrumented: copy"
go 3 "" use:0 load run:_Z4ringPi bare run:_Z4copyPi sync
has err "GSan: 0 findings; 2 launches, 6 sites watched"
has err "; 1 launch of a kernel that is not instrumented; 2 instructions that are not modelled; not instrumented: copy"
FAKE_FAIL=cuInit:1
export FAKE_FAIL
go 3 "" init init
has err "GSan: nothing was watched: no kernel was launched; cuInit failed (CUDA_ERROR_NO_DEVICE)"
go 65 "strict=1" init
unset FAKE_FAIL
# ... which is an error where that is asked for, and nowhere else.
go 65 "strict=1" use:0
go 65 "strict=1:quiet=1" use:0
[ -s err ] && fail "quiet=1 was not quiet"
go 65 "strict=1" use:0 bare run:_Z4copyPi sync
go 3 "strict=1" use:0 load run:_Z4ringPi sync
go 66 "strict=1" use:0 load race:0 sync
# A program that has not used CUDA says nothing, with or without a driver.
go 3 "strict=1"
[ -s err ] && fail "a word from a program that has not used CUDA: $(cat err)"
# A driver that is not there.
cat >absent.c <<'END'
#include <dlfcn.h>
int main(void) { return dlopen("libcuda.so.1", RTLD_NOW) ? 9 : 4; }
END
if ! ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1' && ! nm "$top_builddir/libgsan.a" | grep -q __asan_init; then
	$CC -o absent absent.c -Wl,-u,__gsan_v1_runtime_missing__link_with_gsan_nvcc_or_preload_libgsan "$top_builddir/libgsan.a" -ldl -lpthread || hard "absent"
	LD_LIBRARY_PATH= run 4 ./absent
	has err "GSan: nothing was watched: there is no CUDA driver here (libcuda.so.1)"
	LD_LIBRARY_PATH= GSAN_OPTIONS=strict=1 run 65 ./absent
fi
go 3 "" use:0 other run:_Z4ringPi sync
has err "GSan: a module was instrumented for another version of gsan (9, not 2)"
# A kernel that was left alone in an instrumented module.
go 3 "" use:0 load run:_Z4ringPi run:_Z4leftPi run:_Z4leftPi sync
has err "GSan: 0 findings; 3 launches, 6 sites watched"
has err "; 2 launches of kernels that are not instrumented; "
has err "; not instrumented: left"
go 3 "" use:0 library run:_Z4leftPi sync
has err "GSan: nothing was watched: no instrumented kernel was launched"
has err "; 1 launch of a kernel that is not instrumented; "
has err "; not instrumented: left"

done_testing
