# SPDX-License-Identifier: Apache-2.0
#
# Libraries with a runtime of their own, in programs with and without one, loaded
# at the start or later: one runtime works for all of them.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/rt/lib.sh"

nm "$top_builddir/libgsan.a" 2>/dev/null | grep -q __asan_init && skip "the runtime needs a sanitizer's"

# A program that has its libraries do what its arguments say:
#   LIBRARY COMMAND... [-- LIBRARY COMMAND...]...
# `close` in front: unloads each when it is done.
cat >host.c <<'EOF'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	int status = 1, closes = argc > 1 && !strcmp(argv[1], "close");

	for (int i = 1 + closes, n; i < argc; i += n + 1) {
		void *lib = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL), *p = lib ? dlsym(lib, "commands") : NULL;
		int (*commands)(int, char **);

		for (n = 0; i + n < argc && strcmp(argv[i + n], "--"); n++)
			;
		if (!p) {
			printf("%s\n", dlerror());
			return 1;
		}
		memcpy(&commands, &p, sizeof p);
		status = commands(n, argv + i);
		if (closes)
			dlclose(lib);
	}
	return status;
}
EOF
inc="-I $top_srcdir -I $top_builddir -I $CUDA_HOME/include"
pretended_driver
LD_LIBRARY_PATH=$tmp:$LD_LIBRARY_PATH
lib()
{
	out=$1
	shift
	$CC $inc -D_GNU_SOURCE -Dmain=commands -fPIC -shared -o "$out" "$top_srcdir"/testsuite/rt/prog*.c "$@" \
		./libcuda.so.1 -ldl -lpthread || hard "cannot link $out"
}
gsan="-Wl,-u,__gsan_v1_runtime_missing__link_with_gsan_nvcc_or_preload_libgsan $top_builddir/libgsan.a"
lib one.so $gsan
lib two.so $gsan
lib bare.so -DPLAIN
$CC -o host host.c -ldl || hard "host"
$CC -o host_gsan host.c -Wl,-u,__gsan_v1_runtime_missing__link_with_gsan_nvcc_or_preload_libgsan "$top_builddir/libgsan.a" -ldl -lpthread || hard "host_gsan"
$CC -o linked -x c - -x none ./one.so -Wl,-rpath,"$tmp" <<'EOF' || hard "linked"
int commands(int, char **);
int main(int argc, char **argv) { return commands(argc, argv); }
EOF

for prog in ./host ./host_gsan; do
	for by in "" proc; do
		go 66 "" ./one.so $by use:0 load alloc:4096 race:0 run:_Z4ringPi sync
		count 1 "WARNING: GSan"
		count 1 "GSan: 1 finding; 2 launches, 6 sites watched"
		count 1 "SUMMARY"
	done
	# Two of them: one set of tables, one closing line.
	go 66 "" ./one.so use:0 load alloc:4096 race:0 sync findings -- ./two.so use:0 load alloc:4096 \
		race:2 sync findings
	count 2 "WARNING: GSan"
	count 1 "GSan: 2 findings; 2 launches, 12 sites watched"
	[ "$(grep -c ^data-race out)" = 3 ] || fail "findings: $(cat out)"
	go 66 "" close ./one.so use:0 load race:0 sync -- ./two.so use:0 load race:2 sync
	count 1 "GSan: 2 findings; 2 launches"
	# One after the other ends it.
	go 3 "" ./one.so use:0 load race:0 -- ./two.so finish
	has out "finish: 1"
	count 1 "GSan: 1 finding"
done
prog=./host
LD_PRELOAD=$top_builddir/libgsan.so go 66 "" ./one.so use:0 load race:0 -- ./bare.so use:0 load race:2 sync
count 1 "GSan: 2 findings; 2 launches"
go 3 "" ./bare.so use:0 load race:0 sync
[ -s err ] && fail "a program without a runtime says: $(cat err)"
# Calls that go past the library's runtime: it says that it saw nothing.
go 3 "" ./one.so -- ./bare.so use:0 load race:0 sync
count 1 "GSan: nothing was watched: CUDA was used past gsan's runtime; start the program with libgsan.so preloaded"
go 65 strict=1 ./one.so -- ./bare.so use:0 load race:0 sync
go 3 strict=1 ./one.so
[ -s err ] && fail "a word from a program that has not used CUDA: $(cat err)"
prog=./linked
go 66 "" use:0 load race:0 sync
count 1 "GSan: 1 finding; 1 launch"
go 66 "" proc use:0 load race:0 fork race:2 sync
has out "child: 5"
count 1 "GSan: 2 findings; 2 launches"

done_testing
