# SPDX-License-Identifier: Apache-2.0
#
# make install, into a folder that configure was not told of and that is moved afterwards:
# all parts find each other, and nothing gets in a real driver's way.
. "$top_srcdir/testsuite/lib.sh"
takes_long
nm "$top_builddir/libgsan.a" 2>/dev/null | grep -q __asan_init && skip "the runtime needs a sanitizer's"
unset MAKEFLAGS MAKELEVEL MFLAGS
(cd "$top_builddir" && make install DESTDIR="$tmp/dest" prefix=/opt/gs) >log 2>&1 ||
	{ tail -n 5 log; hard "make install"; }
at=$tmp/moved
mv dest/opt/gs "$at"

# gsan.pc has the folders of the installation.
pc=$at/lib/pkgconfig/gsan.pc
for line in prefix=/opt/gs libdir=/opt/gs/lib includedir=/opt/gs/include gsan_nvcc=/opt/gs/bin/gsan-nvcc; do
	grep -qx "$line" "$pc" || fail "gsan.pc lacks $line: $(cat "$pc")"
done
grep -q '^Libs:.* -Wl,-rpath,\${libdir} ' "$pc" || fail "no rpath in $(grep ^Libs "$pc")"
if command -v pkg-config >/dev/null; then
	cat >own.c <<'EOF'
#include <gsan.h>
int main(void) { return (int)gsan_findings(); }
EOF
	flags=$(PKG_CONFIG_PATH=$at/lib/pkgconfig pkg-config --define-variable=prefix="$at" \
		--define-variable=libdir="$at/lib" --define-variable=includedir="$at/include" --cflags --libs gsan)
	$CC own.c $flags -o own || fail "not linked with $flags"
	run 0 ./own
	readelf -d own | grep -q 'NEEDED.*\[libgsan\.so\.1\]' || fail "own does not need libgsan.so.1"
fi

# gsan-run finds the emulated device, which no linker and no loader does.
for library in 'libcuda.so*' 'libcudart.so*'; do
	find "$at" -name "$library" | grep -v "^$at/lib/gsan/emu/" && fail "a linker may find the emulated device"
done
run 66 "$at/bin/gsan-run" --device=emu "$top_srcdir/examples/reverse.ptx"
has err "GSan: 1 finding; 1 launch"

# gsan-nvcc finds what it links.
printf '__global__ void k() { }\nint main() { k<<<1, 1>>>(); return 0; }\n' >k.cu
run 0 "$at/bin/gsan-nvcc" -arch=sm_80 k.cu -o k
run 0 "$at/bin/gsan-run" --device=emu -- ./k
# A program of nvcc's own: gsan-run finds libgsan and gsan-image.
run 0 "$NVCC" -arch=sm_80 k.cu -o plain
run 0 "$at/bin/gsan-run" --device=emu -- ./plain
has err "GSan: "
hasnt err "is loaded as it is"
[ "$(ls "$XDG_CACHE_HOME/gsan" | wc -l)" = 2 ] || fail "gsan-image was not run: $(ls "$XDG_CACHE_HOME/gsan")"
run 0 "$at/bin/gsan-nvcc" -arch=sm_80 -shared -Xcompiler -fPIC k.cu -o libk.so
run 0 "$at/bin/gsan-nvcc" --print-runtime
[ "$(cat out)" -ef "$at/lib/libgsan.so.1" ] || fail "the runtime is $(cat out)"

# What was put there goes again.
mv "$at" dest/opt/gs
(cd "$top_builddir" && make uninstall DESTDIR="$tmp/dest" prefix=/opt/gs) >log 2>&1 || fail "make uninstall"
[ -z "$(find dest ! -type d)" ] || fail "left: $(find dest ! -type d)"
done_testing
