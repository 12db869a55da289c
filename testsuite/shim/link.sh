# SPDX-License-Identifier: Apache-2.0
#
# What gsan-nvcc compiled, linked and loaded by others: they are told what is missing and
# what to do, and what gsan-nvcc prints for them is enough.
. "$top_srcdir/testsuite/lib.sh"
takes_long
nm "$top_builddir/libgsan.a" 2>/dev/null | grep -q __asan_init && skip "the runtime needs a sanitizer's"
g=$top_builddir/gsan-nvcc
cure=__gsan_v1_runtime_missing__link_with_gsan_nvcc_or_preload_libgsan
cudart="-L$CUDA_HOME/lib64 -L$CUDA_HOME/targets/x86_64-linux/lib -lcudart_static -lrt -lpthread -ldl"

cat >k.cu <<'EOF'
__global__ void k(int *p) { *p = 1; }
extern "C" int f(int n)
{
	if (n)
		k<<<1, 1>>>(nullptr);
	return 7;
}
EOF
cat >main.c <<'EOF'
int f(int);
int main(void) { return f(0); }
EOF
cat >load.c <<'EOF'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	void *lib = dlopen(argv[argc - 1], RTLD_NOW), *p = lib ? dlsym(lib, "f") : NULL;
	int (*f)(int);
	if (!p)
		return !fprintf(stderr, "%s\n", dlerror());
	memcpy(&f, &p, sizeof p);
	return f(0);
}
EOF
run 0 "$g" -arch=sm_80 -Xcompiler -fPIC -c k.cu -o k.o
$CC -c main.c && $CC load.c -o load -ldl || hard "$CC"

# A program.
$CC main.o k.o $cudart -lstdc++ -o program 2>err && fail "linked without the runtime"
has err $cure
run 0 "$g" --print-libs
$CC main.o k.o $(cat out) $cudart -lstdc++ -o program 2>err || fail "not linked: $(cat err)"
run 7 ./program

# A library that was linked without: who loads it is told, and can preload.
$CC -shared k.o $cudart -lstdc++ -o libk.so || hard "libk.so"
run 0 ./load ./libk.so
has err $cure
run 0 "$g" --print-runtime
runtime=$(cat out)
[ -f "$runtime" ] || fail "there is no $runtime"
run 7 env LD_PRELOAD="$runtime" ./load ./libk.so
# Where programs run there need be no nvcc.
run 0 env GSAN_NVCC=/nonexistent/nvcc "$g" --print-runtime
[ "$(cat out)" = "$runtime" ] || fail "without nvcc the runtime is $(cat out)"

# One that gsan-nvcc links keeps what stands before the driver to itself.
run 0 "$g" -arch=sm_80 -shared -Xcompiler -fPIC k.cu -o libk.so
nm -D --defined-only libk.so | awk '{ print $3 }' >all
grep -qx f all && grep -qx gsan_finish all || fail "it exports too little: $(cat all)"
grep -E '^(cu[A-Z].*|dlsym|dlopen|_exit|_Exit)$' all >extra
[ -s extra ] && fail "it exports $(head -n 5 extra | tr '\n' ' ')"
run 7 ./load ./libk.so

# Where a part is not to be found.
mkdir empty
for option in --print-libs --print-runtime; do
	run 120 env GSAN_HOME=$tmp/empty "$g" $option
	has err "cannot be found; set GSAN_HOME"
	[ -s out ] && fail "$option printed $(cat out)"
done
done_testing
