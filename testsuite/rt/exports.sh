# SPDX-License-Identifier: Apache-2.0
#
# The runtime shows the driver's names, NVRTC's and nvJitLink's that it stands before, dlsym, its own interface and what it has before functions of libc (rt/libc.c), and
# needs libc only.
. "$top_srcdir/testsuite/lib.sh"

nm -D --defined-only "$top_builddir/libgsan.so" | awk '{ print $3 }' |
	grep -vx -e 'p\?readv\?' -e 'p\?writev\?' -e 'pread64' -e 'pwrite64' -e 'fread' -e 'fwrite' -e 'recv' -e 'recvfrom' -e 'recvmsg' \
		-e 'send' -e 'sendto' -e 'sendmsg' -e 'sigaction' -e 'signal' -e 'sigprocmask' -e 'pthread_sigmask' |
	grep -v -e '^cu[A-Z]' -e '^dlsym$' -e '^dlopen$' -e '^_exit$' -e '^_Exit$' -e '^gsan_' -e '^nvrtcGetCUBIN$' \
		-e '^\(__\)\?nvJitLink\(Create\|AddData\|AddFile\|GetLinkedCubin\|Destroy\)\(_1[23]_[0-9]\)\?$' -e '^__gsan_v1_runtime_missing__link_with_gsan_nvcc_or_preload_libgsan$' >extra
[ -s extra ] && fail "libgsan.so shows $(tr '\n' ' ' <extra)"

# The archive's other symbols are hidden: none shows in a program made of it.
sanitize=
nm "$top_builddir/libgsan.a" 2>/dev/null | grep -q __asan_init && sanitize=-fsanitize=address,undefined
printf 'int main(void) { return 0; }\n' >main.c
$CC $sanitize -rdynamic -o main main.c -Wl,-u,__gsan_v1_runtime_missing__link_with_gsan_nvcc_or_preload_libgsan "$top_builddir/libgsan.a" -ldl -lpthread ||
	hard "cannot link libgsan.a"
# Nor does it say anything of a program that has not asked for a driver.
./main 2>err || fail "a program with libgsan.a: status $?"
[ -s err ] && fail "a word from a program that has not used CUDA: $(cat err)"
nm -D --defined-only main | awk '{ print $3 }' | grep -e '^rt_' >extra
[ -s extra ] && fail "libgsan.a shows $(tr '\n' ' ' <extra)"
nm -D --defined-only main | awk '{ print $3 }' >all
for name in cuMemAlloc_v2 cuLaunchKernel cuGetProcAddress_v2 cuCtxSynchronize dlsym gsan_finish; do
	grep -qx "$name" all || fail "-u __gsan_v1_runtime_missing__link_with_gsan_nvcc_or_preload_libgsan does not bring in $name"
done

# Neither the CUDA runtime nor anything but libc.
nm -D --undefined-only "$top_builddir/libgsan.so" | awk '{ print $2 }' |
	grep -e '^cuda[A-Z]' -e '^__cuda' -e '^_Z' >extra
[ -s extra ] && fail "libgsan.so wants $(tr '\n' ' ' <extra)"
if command -v readelf >/dev/null; then
	readelf -d "$top_builddir/libgsan.so" | grep -q 'SONAME.*\[libgsan\.so\.1\]' || fail "libgsan.so has no version"
	readelf -d "$top_builddir/libgsan.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
		grep -v -e '^libc\.' -e '^libm\.' -e '^libdl\.' -e '^libpthread\.' -e '^libasan\.' \
			-e '^libubsan\.' -e '^ld-linux' >extra
	[ -s extra ] && fail "libgsan.so needs $(tr '\n' ' ' <extra)"
fi

# A runtime of another version is an error of the linker.
$CC $sanitize -o main main.c -Wl,-u,__gsan_v9_runtime_missing -Wl,--require-defined=__gsan_v9_runtime_missing \
	"$top_builddir/libgsan.a" 2>err && fail "linked a runtime of another version"

done_testing
