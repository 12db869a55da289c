# SPDX-License-Identifier: Apache-2.0
#
# Where the PTX goes that gsan-ptx, alone and as gsan-nvcc's wrapper, writes: through
# links, down pipes, and nowhere where there is no room.
. "$top_srcdir/testsuite/lib.sh"
ptx=$top_builddir/gsan-ptx
g=$top_builddir/gsan-nvcc
mkdir tmpdir
TMPDIR=$tmp/tmpdir
export TMPDIR

# What is made of these does not fit where there is room for 64 KiB, and they do.
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	echo "__global__ void k$i(int *p) { p[threadIdx.x] = p[threadIdx.x + 1]; }"
done >k.cu
"$NVCC" -arch=sm_80 -ptx k.cu -o plain.ptx || hard "nvcc"
[ "$(wc -c <plain.ptx)" -lt 20000 ] && [ "$("$ptx" plain.ptx | wc -c)" -gt 80000 ] || hard "k.cu has to be of another size"

cat >cicc <<'EOF'
#!/bin/sh
cp plain.ptx "$2"
EOF
chmod +x cicc

# write OUT: gsan-ptx by itself, in front of a cicc, and as nvcc has it run, by $how
write()
{
	case $how in
	alone) timeout 60 "$ptx" plain.ptx -o "$1" ;;
	wrap) "$ptx" --wrap ./cicc -o "$1" ;;
	nvcc) timeout 60 "$g" -arch=sm_80 -ptx k.cu -o "$1" ;;
	esac
	echo $? >status
	return "$(cat status)"
}
# wrote: the last one came to its end
wrote()
{
	[ "$(cat status)" = 0 ] || fail "$how: status $(cat status) of $1"
}
# instrumented FILE
instrumented()
{
	grep -q __gsan_v3_init_ "$1" || fail "$how: $1 is not instrumented"
}
# no_more FILE...: just these are in the folder, and nothing in that of temporary files
no_more()
{
	printf '%s\n' "$@" | sed '/^$/d' | sort >want
	ls dir | sort | cmp -s want - || fail "$how: in the folder: $(ls dir)"
	[ -z "$(ls tmpdir)" ] || fail "$how: left $(ls tmpdir)"
}

for how in alone wrap nvcc; do
	# A new file, one that is there, links to both, and a link to a link.
	rm -rf dir
	mkdir dir
	umask 027
	write dir/new || fail "$how: new"
	instrumented dir/new
	[ "$(stat -c %a dir/new)" = 640 ] || fail "$how: mode $(stat -c %a dir/new)"
	umask 022
	echo old >dir/there
	chmod 600 dir/there
	ln -s there dir/link
	ln -s "$tmp/dir/link" dir/again
	ln -s later dir/dangling
	write dir/again || fail "$how: link"
	instrumented dir/there
	[ -L dir/again ] && [ -L dir/link ] || fail "$how: a link was replaced"
	[ "$(stat -c %a dir/there)" = 600 ] || fail "$how: mode $(stat -c %a dir/there)"
	write dir/dangling || fail "$how: dangling link"
	instrumented dir/later
	[ -L dir/dangling ] || fail "$how: a dangling link was replaced"
	no_more new there link again dangling later

	# Streams; what stands in a file before stays.
	rm -rf dir
	mkdir dir
	cp -P /dev/stdout dir/stdout
	for to in /dev/stdout /dev/fd/1 dir/stdout; do
		write $to | cat >piped || fail "$how: $to"
		instrumented piped
		wrote "a pipe, $to"
		{ echo first; write $to; echo last; } >file
		wrote "a file, $to"
		instrumented file
		[ "$(sed -n '1p;$p' file | tr '\n' ' ')" = 'first last ' ] || fail "$how: $to lost what stood there"
	done
	[ -L dir/stdout ] && [ -L /dev/stdout ] || fail "$how: a link of a device was replaced"
	rm dir/stdout
	mkfifo dir/fifo
	cat dir/fifo >piped &
	write dir/fifo || fail "$how: fifo"
	wrote "a FIFO"
	wait
	instrumented piped
	[ -p dir/fifo ] || fail "$how: the fifo was replaced"
	no_more fifo

	# Nobody reads; a device that is full; a file that may not grow.
	rm dir/fifo
	(write /dev/full) >out 2>err && fail "$how: a full device did"
	has err "No space left on device"
	[ -c /dev/full ] || fail "$how: /dev/full was replaced"
	# (nvcc's other phases do not come so far.)
	[ $how != nvcc ] || continue
	(ulimit -f 64; write dir/large) >out 2>err && fail "$how: a file that cannot be written was"
	has err "File too large"
	no_more
	echo old >dir/large
	(ulimit -f 64; write dir/large) >out 2>err && fail "$how: a file that cannot be written was"
	[ "$(cat dir/large)" = old ] || fail "$how: what was there is gone"
	no_more large
done

# In front of ptxas the copy has no room: nothing is assembled, the program's own PTX least
# of all.
printf '%s\n' '#!/bin/sh' 'echo ran' >as
chmod +x as
(ulimit -f 64; GSAN_PTXAS=$tmp/as "$top_builddir/gsan-ptxas" -arch=sm_80 plain.ptx -o dir/k.cubin) >out 2>err &&
	fail "ptxas: status 0"
hasnt out ran
has err "File too large"

# Full for good, where a file system of one's own can be had.
mkdir small
if mount -t tmpfs -o size=64k none small 2>/dev/null; then
	for how in alone wrap nvcc; do
		write small/out >out 2>err && fail "$how: a full disk did"
		has err "No space left on device"
		[ -z "$(ls small)" ] || fail "$how: left $(ls small)"
	done
	umount small
fi

# A folder that takes no new files.
if [ "$(id -u)" != 0 ]; then
	mkdir closed
	echo old >closed/out
	chmod a-w closed
	for how in alone wrap nvcc; do
		write closed/out || fail "$how: a folder that takes no new files"
		instrumented closed/out
	done
	chmod u+w closed
fi
# TMPDIR is gone.
(TMPDIR=$tmp/none "$top_builddir/gsan-ptxas" -arch=sm_80 plain.ptx -o dir/k.cubin) >out 2>err && fail "without TMPDIR: status 0"
has err "ptx: No such file or directory"
done_testing
