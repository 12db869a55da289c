# SPDX-License-Identifier: Apache-2.0
#
# Probes that are called (gsan-ptx --inline=0): reproducers have the verdicts that they have with what logs inline, from
# libgsan, from the oracle beside it, and of what is logged, one in CALLED (8) of them, by their names; what is logged is
# the same, record by record; ptxas takes it, and leaves what is called where it is.
. "$top_srcdir/testsuite/lib.sh"
takes_long

export top_builddir
for how in --oracle --events=probes; do
	judge_some "${CALLED:-8}" 1 $((800 / ${CALLED:-8})) $how --inline=0
done

# logged FILE N: the records of every lane's stream, without their times, the upper half of addresses, and hashes, in which
# addresses are
logged()
{
	timeout 60 "$top_builddir/gsan-run" -v --events=probes --device=emu --inline="$2" --keep="$2.ptx" "$1" 2>&1 |
		sed -nE '/^[0-9]+\.[0-9]+:0x/{s/ @[^ ]*//;s/hash=0x[0-9a-f]*/hash/;s/0x7f[0-9a-f]{5}([0-9a-f]{5})/\1/g;p;}' | sort >"$2.log"
}

records=0
for name in 04_smem_war_two_bars 26_warp_sync_two_groups 36_mbar_right_parity 36_mbar_ring_parity 39_cpasync_wait 46_tma_ld_two_copies \
	63_tcgen05_accumulate 16_atom_gpu branches_lanes_apart in_a_function_bar loop_left_in_turns mmio_flag tensor_reduce \
	block_of_three_dimensions store_ring wmma_store_gap; do
	file=$top_srcdir/testsuite/norace/$name.ptx
	logged "$file" 1000
	logged "$file" 0
	cmp -s 1000.log 0.log || fail "$name: another log: $(diff 1000.log 0.log | head -n 4)"
	records=$((records + $(wc -l <0.log)))
	! grep -q __gsan_do_ 1000.ptx || fail "$name: what logs is called in a small function"
	grep -q "call.*__gsan_do_" 0.ptx || fail "$name: nothing is called"
done
echo "$judged judged, $records records"
[ "$records" -gt 1000 ] || fail "only $records records were compared"

# A called function that ptxas puts where it is called is as long as one that stands there.
"$top_builddir/gsan-ptx" --inline=0 "$top_srcdir/testsuite/norace/store_ring.ptx" -o called.ptx || fail "gsan-ptx: $?"
"$PTXAS" -v -arch=sm_90 called.ptx -o called.cubin >said 2>&1 || fail "ptxas refuses calls: $(cat said)"
wanted=$(grep -c '^\.func.*__gsan_do_' called.ptx)
[ "$wanted" -gt 1 ] && [ "$(grep -c 'properties for __gsan_do_' said)" -ge "$wanted" ] ||
	fail "of $wanted functions not all are there: $(cat said)"

# Where a call costs what the program counts on, there is none.
sed 's/^	ret;/	setmaxnreg.inc.sync.aligned.u32 232;\n	ret;/;s/^\.target .*/.target sm_90a/;s/^\.version .*/.version 8.0/' \
	"$top_srcdir/testsuite/norace/04_smem_war_two_bars.ptx" >registers.ptx
for file in registers.ptx "$top_srcdir/testsuite/norace/60_wgmma_smem_fence.ptx"; do
	"$top_builddir/gsan-ptx" --inline=0 "$file" -o k.ptx || fail "gsan-ptx: $?"
	grep -qE 'setmaxnreg|wgmma\.fence' k.ptx || fail "$file: it counts on nothing"
	! grep -q __gsan_do_ k.ptx || fail "$file: something is called"
done
done_testing
