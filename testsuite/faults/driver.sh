# SPDX-License-Identifier: Apache-2.0
#
# Every call that the runtime makes of the driver fails once, of those that are made again and again the first 16 and 16 others,
# and from some places on, and with an error that ends the context.  Whatever fails: the program prints what it
# prints and ends as it does, its finding is reported or it is said why not, and
# the closing line comes, once.
. "$top_srcdir/testsuite/lib.sh"
takes_long
. "$top_srcdir/testsuite/faults/lib.sh"
. "$top_srcdir/testsuite/rt/lib.sh"
# What never answers is waited for at the end.
export GSAN_OPTIONS=exit_timeout_ms=500

# own NAME: which calls of a function that the program calls as well are the
# runtime's own, as "FIRST LAST", given the commands below
own()
{
	case $1 in
	cuLaunchKernel) echo 1 1 ;;                     # the module's registration
	cuCtxSetCurrent|cuCtxSynchronize) echo 2 "$2" ;; # at the end
	cuDevicePrimaryCtxRe*|cuMemAlloc_v2|cuMemFree_v2|cuMemHostAlloc|cuModuleLoadData|cuModuleUnload|\
	cuModuleGetFunction|cuLibraryLoadData|cuLibraryGetKernel|cuGraphInstantiate*|cuGraphLaunch|\
	cuGraphCreate|cuGraphAdd*)
		echo 1 0 ;;
	*) echo 1 "$2" ;;
	esac
}

# What a run says if the finding is not among what it says.
reasons='nothing was watched: (the |no instrumented module could|no module could|no launch was on the device)|could not be registered|is not watched|whose log was lost|that could not be watched'

tried=0
# sweep PART COMMAND...: fails them all, or those of every second function from PART on: 0 or 1
sweep()
{
	part=$1
	shift
	rm -f trace
	env LD_AUDIT="$inject" FAULT_TRACE="$PWD/trace" timeout 60 "$prog" "$@" >ref.out 2>ref.err
	[ $? = 66 ] && closes ref.err || { fail "not even without a fault: $*"; cat ref.err; return; }
	plain ref.out >ref
	sort trace | uniq -c >names
	[ "$(wc -l <names)" -ge 20 ] || fail "only $(wc -l <names) functions are called"
	while read -r n name; do
		part=$((1 - part))
		[ $part = 1 ] || continue
		read -r i last <<-END
			$(own "$name" "$n")
		END
		while [ "$i" -le "$last" ]; do
			one "$name:$i:$i:2" "$@"
			# the rest of the ways at some of the places: first ones, middle, end
			case $i in 1|2|$((last / 2))|"$last")
				one "$name:$i:0:2" "$@"
				one "$name:$i:$i:719" "$@" ;;
			esac
			i=$((i + (i < 16 || last < 32 ? 1 : (last - 16) / 16)))
		done
	done <names
}

# one FAULT COMMAND...
one()
{
	fault=$1
	shift
	# All later calls are the program's, too; and nothing is known of kernels that have no function.
	case $fault in cuLaunchKernel:*:0:* | cuKernelGetFunction:*:0:*) return ;; esac
	tried=$((tried + 1))
	got=0
	env LD_AUDIT="$inject" FAULT="$fault" timeout 60 "$prog" "$@" >out 2>err || got=$?
	plain out | cmp -s - ref || fail "$fault: the program printed something else"
	closes err || fail "$fault: not one closing line"
	grep -q '; not instrumented: \|that was launched is instrumented' err &&
		fail "$fault: it is not the module's instrumentation that is missing"
	case $got in
	66) ;;
	3) grep -qE "$reasons" err || fail "$fault: the finding is gone, and no word of it" ;;
	*) fail "$fault: status $got" ;;
	esac
	[ $failures -lt 10 ] || { tail -n 5 err; done_testing; }
}

# parts COMMAND...: most of the time is spent waiting, which they do side by side
parts()
{
	for p in 0 1; do
		n=$((n + 1))
		mkdir sweep$n
		(cd sweep$n && sweep $p "$@"; echo $tried >tried; done_testing) >sweep$n.log 2>&1 &
		pids="$pids $!"
	done
}

pids= n=0
parts use:0 load alloc:4096 run:_Z4ringPi race:0 sync
parts use:0 library host:4096 graph:_Z4ringPi:2 race:2 sync release
for pid in $pids; do
	wait $pid || failures=$((failures + 1))
done
cat sweep*.log
tried=$(cat sweep*/tried | awk '{ n += $1 } END { print n + 0 }')
echo "$tried faults"
[ $tried -ge 250 ] || fail "only $tried faults"

# The reason is the right one.
while IFS=: read -r name why; do
	got=0
	env LD_AUDIT="$inject" FAULT="$name:1:0:2" timeout 60 "$prog" use:0 load alloc:4096 \
		run:_Z4ringPi race:0 sync >out 2>err || got=$?
	[ $got = 3 ] || fail "$name: status $got"
	has err "GSan: nothing was watched: $why"
done <<'END'
cuCtxGetCurrent:the driver does not say which context is current
cuCtxGetDevice:the driver does not say which device a context is of
cuStreamCreate:the driver makes no stream for the runtime
cuCtxCreate_v2:the driver makes no second context, by which logs are read
cuMemHostAlloc:the driver gives no memory or no stream to read logs by
cuModuleEnumerateFunctions:no instrumented module could be registered
END

# No thread can be had: reports come at synchronisations, and at the end.
for at in 1:0 1:1 2:2; do
	got=0
	env LD_AUDIT="$inject" FAULT=pthread_create:$at:11 timeout 60 "$prog" use:0 load alloc:4096 \
		run:_Z4ringPi race:0 sync race:2 >out 2>err || got=$?
	[ $got = 66 ] || fail "pthread_create:$at: status $got"
	# Without any thread nobody waits at the end for what still runs, and that is said.
	if [ $at = 1:0 ] && grep -q "whose log was lost" err; then
		count 1 "WARNING: GSan"
	else
		count 2 "WARNING: GSan"
	fi
	hasnt err "context died"
	closes err || fail "pthread_create:$at: not one closing line"
done
done_testing
