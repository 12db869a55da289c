# SPDX-License-Identifier: Apache-2.0
#
# In a container, as gsan(7) has it: gsan is mounted as it was installed, the image has the C library, liblz4 and libzstd, and no
# nvcc; what is missing there is told.  (A folder that is the root of processes of their own.)
. "$top_srcdir/testsuite/lib.sh"
takes_long
nm "$top_builddir/libgsan.a" 2>/dev/null | grep -q __asan_init && skip "the runtime needs a sanitizer's"
mkdir -p root/proc root/dev root/tmp root/bin
# within COMMAND...
within()
{
	unshare --user --map-root-user --pid --mount --fork sh -c \
		'mount -t proc proc root/proc && mount --rbind /dev root/dev && exec timeout 60 chroot root "$@"' sh "$@"
}
# image FILE...: with the libraries that these need
image()
{
	for file do
		ldd "$file" | grep -o '/[^ ]*'
	done | sort -u | while read -r library; do
		mkdir -p "root/$(dirname "$library")"
		cp -L "$library" "root/$library"
	done
}
image /bin/sh
cp /bin/sh root/bin
within /bin/sh -c : 2>err || skip "no folder can be a root here: $(head -n 1 err)"

unset MAKEFLAGS MAKELEVEL MFLAGS
(cd "$top_builddir" && make install DESTDIR="$tmp/root" prefix=/opt/gsan) >log 2>&1 || hard "make install: $(tail -n 1 log)"
"$NVCC" -gencode arch=compute_90,code=compute_90 -lineinfo "$top_srcdir/examples/reverse.cu" -o root/reverse || hard "nvcc"
image root/reverse root/opt/gsan/lib/libgsan.so.1 root/opt/gsan/bin/gsan-run root/opt/gsan/lib/gsan/gsan-image

run 66 within /opt/gsan/bin/gsan-run --device=emu -- /reverse
has err "WARNING: GSan: data race"
has err "examples/reverse.cu:14"
has err "GSan: 1 finding; 1 launch"
run 0 within /opt/gsan/bin/gsan-nvcc --print-runtime
has out /lib/libgsan.so

# An image that lacks a library.
for name in lz4 zstd; do
	for file in $(find root -name "lib$name.so*" ! -path 'root/proc/*' ! -path 'root/dev/*'); do
		mv "$file" "$file.away"
	done
done
export GSAN_OPTIONS=strict=1
run 65 within /opt/gsan/bin/gsan-run --device=emu -- /reverse
has err "there is no CUDA driver (liblz4.so.1: cannot open shared object file"
has err "GSan: nothing was watched"
done_testing
