# SPDX-License-Identifier: Apache-2.0
#
# A shared library of gsan-nvcc's with the CUDA runtime in it, loaded by programs
# with and without gsan: the runtime stands between CUDA's and the driver.
. "$top_srcdir/testsuite/lib.sh"
takes_long
nm "$top_builddir/libgsan.a" 2>/dev/null | grep -q __asan_init && skip "the runtime needs a sanitizer's"
g=$top_builddir/gsan-nvcc

# A driver that does next to nothing, but is there.
pretended_driver
LD_LIBRARY_PATH=$tmp${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

cat >lib.cu <<'EOF'
__global__ void k(int *p) { *p = 1; }
extern "C" int f(void)
{
	int *p;
	k<<<1, 1>>>(cudaMalloc(&p, 4) ? nullptr : p);
	return 5;
}
EOF
cat >host.c <<'EOF'
#include <dlfcn.h>
#include <string.h>
int main(int argc, char **argv)
{
	int status = 1;
	for (int i = 1; i < argc; i++) {
		void *lib = dlopen(argv[i], RTLD_NOW), *p = lib ? dlsym(lib, "f") : NULL;
		int (*f)(void);
		if (!p)
			return 2;
		memcpy(&f, &p, sizeof p);
		status = f();
	}
	return status;
}
EOF
cp host.c host.cu
sed -i 's/NULL/nullptr/' host.cu
run 0 "$g" -arch=sm_80 -shared -Xcompiler -fPIC lib.cu -o libone.so
cp libone.so libtwo.so
$CC host.c -o plain -ldl || hard "host.c"
run 0 "$g" -arch=sm_80 host.cu -o gsan -ldl

for host in ./plain ./gsan; do
	run 5 $host ./libone.so ./libtwo.so
	[ "$(grep -c '^GSan: nothing was watched' err)" = 1 ] || fail "$host: $(cat err)"
	has err "nothing was watched: no kernel was launched"
done
run 5 env LD_PRELOAD="$top_builddir/libgsan.so" ./plain ./libone.so
has err "nothing was watched: no kernel was launched"
# By nvcc's own library: nothing is said, nothing is there.
"$NVCC" -arch=sm_80 -shared -Xcompiler -fPIC lib.cu -o libnone.so || hard "nvcc"
run 5 ./plain ./libnone.so
[ -s err ] && fail "said: $(cat err)"
done_testing
