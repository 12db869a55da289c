# SPDX-License-Identifier: Apache-2.0
#
# Kernels that Triton compiles (testsuite/triton/kernels.py; it needs no GPU), on the emulated
# device, and on the GPU where there is one: right ones raise nothing, with the fences that Triton
# leaves out not asked for.  Older ones lack more, or initialise mbarriers in memory that they use otherwise.
. "$top_srcdir/testsuite/lib.sh"
: "${PYTHON:=python3}"
takes_long
"$PYTHON" -c 'import sys, triton; sys.exit([int(n) for n in triton.__version__.split(".")[:2]] < [3, 8])' \
	2>/dev/null || skip "there is no Triton, 3.8 or later"
TRITON_CACHE_DIR=$tmp/cache
GSAN_OPTIONS=proxy_fence=path:tcgen05_fence=off
export TRITON_CACHE_DIR GSAN_OPTIONS
mkdir k
"$PYTHON" "$top_srcdir/testsuite/triton/kernels.py" k >log 2>&1 || { tail log; hard "Triton"; }
n=0
for file in k/*.ptx; do
	for device in emu $(have_gpu && echo gpu); do
		"$top_builddir/gsan-run" --check --oracle --device=$device "$file" >log 2>&1
		status=$?
		[ $status = 0 ] || [ $status = 77 ] || { fail "$device: $file"; grep -E 'expected|oracle: k|^GSan' log | cut -c1-200 | tail -n 5; }
		[ $status != 0 ] || n=$((n + 1))
	done
done
echo "$n kernels"
[ "$n" -ge 20 ] || fail "only $n kernels ran"
done_testing
