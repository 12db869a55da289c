# SPDX-License-Identifier: Apache-2.0
#
# What the tests of programs that were never rebuilt share: driver.c's program, on the emulated device.
# Source it after testsuite/lib.sh.

nm "$top_builddir/libgsan.a" 2>/dev/null | grep -q __asan_init && skip "the runtime needs a sanitizer's"
gsan_run="timeout 60 $top_builddir/gsan-run --device=emu"
unset GSAN_RUN_TOOL GSAN_RUN_ONLY

$CC -I "$CUDA_HOME/include" "$top_srcdir/testsuite/image/driver.c" -o driver "$top_builddir/emu/libcuda.so.1" || hard "driver.c"

# ptx NAME BARRIER: NAME.ptx, whose kernel turns a row of 64 words round in shared memory.
ptx()
{
	cat >"$1.ptx" <<E
.version 7.8
.target sm_90
.address_size 64
.visible .entry turn(.param .u64 out)
{
	.reg .u32 %r<6>;
	.reg .u64 %d<4>;
	.shared .align 4 .b8 row[256];
	ld.param.u64 %d1, [out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, row;
	shl.b32 %r3, %r1, 2;
	add.u32 %r4, %r2, %r3;
	st.shared.u32 [%r4], %r1;
	$2
	sub.u32 %r4, %r2, %r3;
	ld.shared.u32 %r5, [%r4+252];
	mul.wide.u32 %d2, %r1, 4;
	add.u64 %d3, %d1, %d2;
	st.global.u32 [%d3], %r5;
	ret;
}
E
}
ptx racy ""
ptx right "bar.sync 0;"

# by_hand STATUS TOOL COMMAND...: as gsan-run would start it, with a gsan-image of ours
by_hand()
{
	status=$1
	GSAN_RUN_TOOL=$2
	shift 2
	run "$status" env GSAN_RUN_TOOL="$GSAN_RUN_TOOL" LD_LIBRARY_PATH="$top_builddir/emu" LD_PRELOAD="$top_builddir/libgsan.so.1" \
		timeout 60 "$@"
}

# loads_apart: ./apart LIBRARY ARGUMENT... calls the library's start(), which nobody else sees
loads_apart()
{
	cat >apart.c <<'E'
#include <dlfcn.h>
#include <string.h>
int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL, *p = library ? dlsym(library, "start") : NULL;
	int (*start)(int, char **);

	memcpy(&start, &p, sizeof p);
	return p ? start(argc - 1, argv + 1) : 9;
}
E
	$CC apart.c -o apart -ldl || hard "apart.c"
}
