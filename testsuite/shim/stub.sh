# SPDX-License-Identifier: Apache-2.0
#
# A gsan whose parts only leave marks, so that the wrappers are tested apart
# from the rewriter: gsan-ptx --wrap notes its command in $home/log and adds a
# line to the PTX; libgsan.a says "runtime" when its program starts.

home="$tmp/${stub_folder-gsan home}"
mkdir -p "$home/gsan-lib" || hard "mkdir"
cat >"$home/gsan-ptx" <<'EOF'
#!/bin/sh
[ "$1" = --wrap ] || exit 3
shift
home=$(dirname "$0")
phase=$(basename "$1")
echo "$phase" "$@" >>"$home/log"
ptx= out= prev=
for word do
	case $word in *.ptx) [ "$prev" = -o ] || ptx=$word ;; esac
	[ "$prev" = -o ] && out=$word
	prev=$word
done
if [ "$phase" != cicc ] && [ -n "$ptx" ]; then
	grep -q '^// gsan-stub' "$ptx" || echo "instrumented input $ptx" >>"$home/log"
	exec "$@"
fi
"$@" || exit
case $out in *.ptx) echo "// gsan-stub" >>"$out"; echo "rewritten $out" >>"$home/log" ;; esac
EOF
chmod +x "$home/gsan-ptx"
cat >runtime.c <<'EOF'
#include <unistd.h>
void __gsan_v1_runtime_missing__link_with_gsan_nvcc_or_preload_libgsan(void) { }
__attribute__((constructor)) static void start(void)
{
	if (write(2, "runtime\n", 8) != 8)
		_exit(1);
}
EOF
$CC -fPIC -c runtime.c -o runtime.o && ar rcs "$home/gsan-lib/libgsan.a" runtime.o || hard "no stub runtime"
: | $CC -x c -c - -o "$home/gsan-lib/gsan-hide.o" || hard "no stub object"
cp "$top_srcdir/nvcc-shim/link.h" "$home/gsan-link.h"
GSAN_HOME=$home
export GSAN_HOME
gsan_nvcc=$top_builddir/gsan-nvcc
gsan_ptxas=$top_builddir/gsan-ptxas

# rewritten N: gsan-ptx rewrote N files since the last call
rewritten()
{
	touch "$home/log"
	n=$(grep -c '^rewritten' "$home/log")
	[ "$n" = "$1" ] || fail "$n files were rewritten, expected $1 ($2)"
	mv "$home/log" "$home/log.old"
}

cat >k.cu <<'EOF'
#include <cstdio>
extern "C" __global__ void k(int *p) { p[threadIdx.x] = 1; }
EOF
cat >main.cu <<'EOF'
#include <cstdio>
extern "C" __global__ void k(int *p);
__global__ void l(int *p) { p[0] = 2; }
int main() { printf("main\n"); return 7; }
EOF
