# SPDX-License-Identifier: Apache-2.0
#
# Memory that the runtime, the detector or who empties logs asks for is refused, once or from some time on, at each
# place: the program goes on as if alone, what was found is reported, and what was not looked at is counted.
. "$top_srcdir/testsuite/lib.sh"
takes_long
. "$top_srcdir/testsuite/faults/lib.sh"
. "$top_srcdir/testsuite/rt/lib.sh"

# sweep OPTIONS COMMAND...
sweep()
{
	GSAN_OPTIONS=$1
	export GSAN_OPTIONS
	shift
	"$prog" "$@" >ref.out 2>ref.err
	[ $? = 66 ] || fail "not even with all memory: $*"
	plain ref.out >ref
	plain ref.err >ref.said
	i=0 hit=1
	while [ $hit = 1 ] && [ $failures -lt 10 ]; do
		i=$((i + 1))
		for to in $i 0; do
			one "calloc,realloc,malloc:$i:$to:0" "$@"
		done
	done
	[ $i -ge 30 ] || fail "only $i allocations"
	echo "$i allocations: $*"
	[ "$(wc -l <kept)" -ge 10 ] || fail "the finding is never kept"
}

# What a closing line says of what was not looked at, in this run.
reasons='; memory ran out, and what came later was not watched|registration failed|that could not be watched|whose log was lost|whose log was not kept'

one()
{
	fault=$1
	shift
	rm -f trace
	got=0
	env LD_AUDIT="$inject" FAULT_TRACE="$tmp/trace" FAULT="$fault" timeout 60 "$prog" "$@" >out 2>err ||
		got=$?
	grep -q '^!' trace || { hit=0; return; }
	plain out | cmp -s - ref || fail "$fault: the program printed something else"
	closes err || fail "$fault: not one closing line"
	# What has no room is a module that does not register, or a launch that is not watched or not judged, and no more;
	# and what cannot grow where it is may find room elsewhere.
	plain err | cmp -s - ref.said || grep -qE "$reasons" err || count 1 "GSan: out of memory: what is "
	case $got in
	66) grep -qE "$reasons" err && echo "$fault" >>kept ;;
	3) grep -E '^GSan: ([0-9]+ finding|nothing)' err | grep -qE "$reasons" ||
		fail "$fault: the finding is gone, and no word of it" ;;
	*) fail "$fault: status $got" ;;
	esac
}

: >kept
sweep "" use:0 load alloc:4096 run:_Z4ringPi race:0 sync exit:3
sweep "log_path=stdout:log_path=stderr:print_cmdline=1" use:0 library host:4096 \
	graph:_Z4ringPi:2 race:2 sync exit:3
mkdir logs
sweep "log=$tmp/logs" use:0 load alloc:4096 race:0 sync exit:3
for file in logs/*; do
	"$top_builddir/gsan-check" "$file" >out 2>err
	case $? in
	0|66) ;;
	*) fail "$file cannot be read: $(cat err)" ;;
	esac
done
# gsan-run's own detector, which asks for memory behind the emulated device, says that it gave up.
unset GSAN_OPTIONS
for from in 70 110; do
	run 3 env LD_AUDIT="$inject" FAULT="realloc,calloc:$from:0:0" timeout 60 "$top_builddir/gsan-run" --events --device=emu \
		"$top_srcdir/testsuite/race/01_global_plain_race.ptx" && has err "gsan-run: out of memory: what was logged cannot be judged"
done
done_testing
