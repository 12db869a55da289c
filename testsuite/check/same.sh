# SPDX-License-Identifier: Apache-2.0
#
# Logs of the emulated device, judged again, give what the run said, word by word, and under other options what a run
# under those says.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/check/lib.sh"

# again FILE [OPTIONS]: one launch
again()
{
	keeps 66 "${2:-}" $gsan_run "$1"
	run 66 $check kept && same
}

again "$race/01_smem_plain_race.ptx"
again "$race/29_dsmem_exit.ptx"                 # clusters
again "$race/67_pdl_no_wait.ptx"                # a launch that begins early
again "$race/57_tensormap_acquire_first.ptx"    # tensor maps, which the kernel edits
again "$race/tensor_map_parameter.ptx"          # as parameters
again "$race/module_global.ptx"                 # a variable
again "$race/managed_memory.ptx"
keeps 0 "" $gsan_run "$top_srcdir/testsuite/norace/02_smem_bar.ptx"
run 0 $check kept && same
# What the screen holds for clear is judged as well.
keeps 0 report_bugs=0 $gsan_run "$race/01_smem_plain_race.ptx"
run 66 $check kept

# Options: those of the log, of the environment, of the command line; the later ones count.
file=$race/47_tma_st_fence_after.ptx
keeps 66 proxy_fence=own $gsan_run "$file"
mv said own
mv kept of_own
keeps 0 proxy_fence=path $gsan_run "$file"
sed 's/(pid=.*//' own >want
run 0 $check kept && same
run 0 $check -o proxy_fence=path of_own
run 66 $check of_own && { mv own said; same; }
run 66 $check --option proxy_fence=own kept
sed 's/(pid=.*//' err >got
cmp -s want got || fail "another report: $(diff want got)"
run 0 env GSAN_OPTIONS=proxy_fence=path $check of_own
run 66 env GSAN_OPTIONS=proxy_fence=path $check -o proxy_fence=own of_own
run 7 env GSAN_OPTIONS=exitcode=7 $check of_own
run 0 env GSAN_OPTIONS=exitcode=7:log_mb=5 $check -o exitcode=0 of_own
run 66 $check -o report_limit=0 -o halt_on_error=1 of_own && hasnt err "GSan: 1 finding"
echo "proxy-fence-order:*" >supps
run 0 $check -o suppressions=supps of_own && has err "1 finding suppressed"

# Reports name the process of the log.
keeps 66 "" $gsan_run "$race/01_smem_plain_race.ptx"
run 66 $check -o print_cmdline=1 kept
has err "  Command line: $top_builddir/gsan-run"

# Part of the log is lost, as what empties the region fails.
stores "st.global.u32 [%rd0], %r0;" "launch k grid=1 block=256 args=out,u32:3000" sync "expect data-race" >many.ptx
inject=$top_builddir/testsuite/faults/inject.so
if [ "$(uname -m)" = x86_64 ] && LD_AUDIT=$inject FAULT=getpid:1:1:0 true 2>audit && [ ! -s audit ]; then
	keeps 66 log_mb=1 env LD_AUDIT="$inject" FAULT=cuMemcpyHtoDAsync_v2:15:15:1 $gsan_run many.ptx
	has said "1 launch that was not judged to its end"
	run 66 $check kept && same
fi
done_testing
