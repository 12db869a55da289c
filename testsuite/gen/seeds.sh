# SPDX-License-Identifier: Apache-2.0
#
# Reproducers whose point is what comes between a call of gsan and the instruction
# that it stands for: under many schedules of the emulated device.
. "$top_srcdir/testsuite/lib.sh"
takes_long
for name in norace/flag_of_two_writers norace/flag_overwritten race/observed_by_another_launch \
	norace/57_tensormap_cp_fenceproxy_split norace/bulk_st_whole_warp_split; do
	"$top_builddir/gsan-run" --device=emu --oracle --check --seeds=1..64 \
		"$top_srcdir/testsuite/$name.ptx" >log 2>&1 || fail "$name: $(tail -n 1 log)"
done
done_testing
