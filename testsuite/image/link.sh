# SPDX-License-Identifier: Apache-2.0
#
# PTX that a program hands to the driver's linker, before a pretended driver: it gets probes; a text that the driver refuses
# is handed over as it was.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/image/lib.sh"
$CC -I "$CUDA_HOME/include" "$top_srcdir/testsuite/image/link.c" -o link "$top_builddir/testsuite/rt/libcuda.so.1" || hard "link.c"

run 3 env GSAN_RUN_TOOL="$top_builddir/gsan-image" LD_LIBRARY_PATH="$top_builddir/testsuite/rt" \
	LD_PRELOAD="$top_builddir/libgsan.so.1" timeout 60 ./link racy.ptx
has out "linked data, type 1, with probes"
has out "linked refused, type 1, without probes"
has out "linked cubin, type 0, without probes"
has out "linked racy.ptx, type 1, with probes"
has err "is loaded as it is, and not watched: the driver does not take its instrumented PTX"
has err "; 1 module that could not be instrumented"
# Without gsan-run nothing is touched.
run 3 env LD_LIBRARY_PATH="$top_builddir/testsuite/rt" LD_PRELOAD="$top_builddir/libgsan.so.1" timeout 60 ./link racy.ptx
has out "linked data, type 1, without probes"
has out "linked the file racy.ptx, type 1"

# Machine code that is instrumented is watched, and not counted as what is not.  (What stands for machine code there begins
# with an address, which may look like text.)
plain="env GSAN_RUN_TOOL=$top_builddir/gsan-image LD_LIBRARY_PATH=$top_builddir/testsuite/rt LD_PRELOAD=$top_builddir/libgsan.so.1
	timeout 60 $top_builddir/testsuite/rt/prog_plain use:0"
run 3 $plain load run:_Z4ringPi sync
has err "GSan: 0 findings; 1 launch, 6 sites watched"
hasnt err "machine code alone"
run 3 $plain bare run:_Z4copyPi sync
grep -q -e "; 1 module that is machine code alone, into which" -e "; 1 module that could not be instrumented" err ||
	fail "bare: $(cat err)"
done_testing
