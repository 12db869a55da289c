# SPDX-License-Identifier: Apache-2.0
#
# Reports cannot be written where they should go: a full disk, a limit on files, a
# pipe that nobody reads or that is full, a closed stderr.  The program ends as
# ever, and what stderr can take goes there.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/rt/lib.sh"

set -- "$prog" use:0 load alloc:4096 race:0 sync

# told WHY: everything is on stderr, with the reason
told()
{
	count 1 "GSan: cannot write "
	has err "($1); reports go to stderr"
	count 1 "WARNING: GSan: data race"
	count 1 "GSan: 1 finding; "
}

# ended: the status that a command left in the file
ended()
{
	[ "$(cat status)" = 66 ] || fail "$1: status $(cat status)"
	rm -f status
}

# A full disk: the log's name is that of the process that the shell becomes.
run 66 sh -c 'ln -s /dev/full log.$$; GSAN_OPTIONS=log_path=log exec "$0" "$@"' "$@"
told "No space left on device"
has out "handler ran"
rm -f log.*
run 66 sh -c 'GSAN_OPTIONS=log_path=stdout "$0" "$@" >/dev/full' "$@"
told "No space left on device"
run 66 sh -c '"$0" "$@" 2>/dev/full' "$@"
has out "handler ran"
run 66 sh -c '"$0" "$@" 2>&-' "$@"
has out "handler ran"

# A limit on the size of files, which would send SIGXFSZ.
sh -c '{ (ulimit -f 0; GSAN_OPTIONS=log_path=log "$0" "$@" 2>&1 >/dev/null | cat >&3
	) 3>&1; } | cat >err' "$@"
told "File too large"
rm -f log.*
sh -c '{ (ulimit -f 0; GSAN_OPTIONS=log_path=log "$0" "$@" >/dev/null 2>&1; echo $?) | cat; } >status' "$@"
ended "file too large"
rm -f log.*

# Nobody reads, which would send SIGPIPE; `read` ends before anything comes.
sh -c '{ sleep 0.3; "$0" "$@" 2>&1 >/dev/null; echo $? >status; } | true' "$@"
ended "broken pipe"

# The pipe is full and does not wait: the reports do.
LD_LIBRARY_PATH=$top_builddir/emu
"$top_builddir/gsan-ptx" "$top_srcdir/testsuite/faults/kernels.ptx" -o device.ptx || hard "gsan-ptx"
{ { "$top_builddir/testsuite/faults/device" load:device.ptx buf:4096 choke run:race sync 2>&1 >/dev/null
	echo $? >status; } | { sleep 1; cat; }; } >err
ended "full pipe"
count 1 "WARNING: GSan: data race"
count 1 "GSan: 1 finding; "
done_testing
