# SPDX-License-Identifier: Apache-2.0
#
# Managed memory is guarded where the driver says that host and device may access it at once: of the attributes that libgsan
# asks for there is one without which the program is watched as ever, but for what the host does there.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/faults/lib.sh"
: "${CUDA_HOME:?}"

"$top_builddir/gsan-nvcc" -std=c++17 -g -gencode arch=compute_90,code=compute_90 \
	"$top_srcdir/testsuite/programs/race_managed_early.cu" -o program >log 2>&1 || {
	cat log
	hard "gsan-nvcc refuses the source"
}
LD_LIBRARY_PATH=$CUDA_HOME/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# without N: the N-th question fails
without()
{
	rm -f trace
	timeout 60 "$top_builddir/gsan-run" --device=emu -- env LD_AUDIT="$inject" FAULT_TRACE="$tmp/trace" \
		FAULT="cuDeviceGetAttribute:$1:$1:2" ./program >out 2>err
	has out 'one of two'
}

without 1000
has err 'WARNING: GSan: host race'
asked=$(wc -l <trace)
unguarded=0
for n in $(seq 1 "$asked"); do
	without "$n"
	! grep -q '^GSan: 0 findings; 1 launch,' err || unguarded=$((unguarded + 1))
done
[ "$unguarded" = 1 ] || fail "of $asked attributes $unguarded say whether managed memory is guarded"
done_testing
