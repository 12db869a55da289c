# SPDX-License-Identifier: Apache-2.0
#
# The reproducers: races that must be found, right programs that must raise
# nothing, and the memory-model shapes that gen.awk makes of a table; and the
# tests of gsan-run itself.  testsuite/run/lists.sh holds these lists against
# the folders and the table.

race_tests = \
	testsuite/race/01_global_plain_race.ptx \
	testsuite/race/01_same_value.ptx \
	testsuite/race/01_smem_plain_race.ptx \
	testsuite/race/01_smem_write_write.ptx \
	testsuite/race/03_smem_war_next_iter.ptx \
	testsuite/race/05_flag_weak.ptx \
	testsuite/race/07_flag_relaxed_nofence.ptx \
	testsuite/race/07_relaxed_acquire.ptx \
	testsuite/race/07_release_relaxed.ptx \
	testsuite/race/08_fence_after_flag.ptx \
	testsuite/race/08_fence_before_data.ptx \
	testsuite/race/09_scope_cta_cross_cta.ptx \
	testsuite/race/10_scope_reader_cta.ptx \
	testsuite/race/10_scope_writer_cta.ptx \
	testsuite/race/11_fence_cluster_apart.ptx \
	testsuite/race/11_fence_narrow_both.ptx \
	testsuite/race/11_fence_narrow_reader.ptx \
	testsuite/race/11_fence_narrow_writer.ptx \
	testsuite/race/11_membar_cta.ptx \
	testsuite/race/13_chain_atom_cta.ptx \
	testsuite/race/13_chain_broken_store.ptx \
	testsuite/race/14_red_not_acquire.ptx \
	testsuite/race/15_sc_store_buffer.ptx \
	testsuite/race/16_atom_cta_two_ctas.ptx \
	testsuite/race/16_atom_one_side_cta.ptx \
	testsuite/race/16_atom_vs_plain.ptx \
	testsuite/race/16_atom_vs_store.ptx \
	testsuite/race/16_red_cta_two_ctas.ptx \
	testsuite/race/17_volatile_data.ptx \
	testsuite/race/17_volatile_nofence.ptx \
	testsuite/race/17_volatile_one_fence.ptx \
	testsuite/race/18_mixed_size.ptx \
	testsuite/race/18_vector_element_size.ptx \
	testsuite/race/19_unobserved_rewrite.ptx \
	testsuite/race/20_vector_partial.ptx \
	testsuite/race/21_named_ids_differ.ptx \
	testsuite/race/21_named_ring_no_empty.ptx \
	testsuite/race/22_arrive_side_reads.ptx \
	testsuite/race/23_partial_count.ptx \
	testsuite/race/24_barrier_other_cta.ptx \
	testsuite/race/25_bar_red_split.ptx \
	testsuite/race/26_shfl_no_order.ptx \
	testsuite/race/26_vote_no_order.ptx \
	testsuite/race/26_warp_no_sync.ptx \
	testsuite/race/26_warp_sync_mask.ptx \
	testsuite/race/26_warp_sync_other_warp.ptx \
	testsuite/race/71_nc_load.ptx \
	testsuite/race/71_nc_load_after_bar.ptx \
	testsuite/race/72_discard_line.ptx \
	testsuite/race/74_st_bulk_zero.ptx \
	testsuite/race/75_ldmatrix_row_15.ptx \
	testsuite/race/75_stmatrix_ldmatrix.ptx \
	testsuite/race/75_stmatrix_row_0.ptx \
	testsuite/race/75_stmatrix_row_17.ptx \
	testsuite/race/75_stmatrix_row_31.ptx \
	testsuite/race/75_stmatrix_row_7.ptx \
	testsuite/race/atom_packed_size.ptx \
	testsuite/race/barrier_late_race.ptx \
	testsuite/race/block_of_three_dimensions_race.ptx \
	testsuite/race/block_that_exited.ptx \
	testsuite/race/blocks_first_and_last.ptx \
	testsuite/race/blocks_following.ptx \
	testsuite/race/byte_in_half.ptx \
	testsuite/race/byte_in_word.ptx \
	testsuite/race/byte_same.ptx \
	testsuite/race/column_third.ptx \
	testsuite/race/counter_too_early.ptx \
	testsuite/race/destination_is_address.ptx \
	testsuite/race/dynamic_shared.ptx \
	testsuite/race/exit_behind_barrier.ptx \
	testsuite/race/exit_in_the_middle.ptx \
	testsuite/race/fence_halves_reader.ptx \
	testsuite/race/fence_halves_swapped.ptx \
	testsuite/race/fence_weak_flag.ptx \
	testsuite/race/generic_atom_shared.ptx \
	testsuite/race/generic_global.ptx \
	testsuite/race/generic_shared.ptx \
	testsuite/race/grid_barrier_fence_cta.ptx \
	testsuite/race/grid_barrier_no_acquire.ptx \
	testsuite/race/grid_barrier_no_first_bar.ptx \
	testsuite/race/grid_barrier_no_last_bar.ptx \
	testsuite/race/grid_barrier_no_release.ptx \
	testsuite/race/groups_by_count_cross.ptx \
	testsuite/race/histogram_plain.ptx \
	testsuite/race/history_read_survives_reads.ptx \
	testsuite/race/history_survives_neighbours.ptx \
	testsuite/race/history_survives_reads.ptx \
	testsuite/race/in_a_function.ptx \
	testsuite/race/in_a_function_by_pointer.ptx \
	testsuite/race/lane_acquire_other_lane.ptx \
	testsuite/race/lane_fence_other_lane.ptx \
	testsuite/race/lane_lockstep.ptx \
	testsuite/race/lane_partial_release.ptx \
	testsuite/race/lane_release_other_lane.ptx \
	testsuite/race/lane_same_instruction.ptx \
	testsuite/race/last_block_no_acquire.ptx \
	testsuite/race/last_block_no_release.ptx \
	testsuite/race/launches_many.ptx \
	testsuite/race/launches_second_races.ptx \
	testsuite/race/lookback_no_acquire.ptx \
	testsuite/race/lookback_relaxed.ptx \
	testsuite/race/loop_over_array.ptx \
	testsuite/race/managed_memory.ptx \
	testsuite/race/mmio_no_fence.ptx \
	testsuite/race/module_global.ptx \
	testsuite/race/nc_own_store.ptx \
	testsuite/race/nc_whole_warp.ptx \
	testsuite/race/observed_by_another_launch.ptx \
	testsuite/race/predicate_on.ptx \
	testsuite/race/read_before_acquire.ptx \
	testsuite/race/release_then_other_word.ptx \
	testsuite/race/second_access_after_sync.ptx \
	testsuite/race/spinlock_no_acquire.ptx \
	testsuite/race/spinlock_no_release.ptx \
	testsuite/race/spinlock_plain_unlock.ptx \
	testsuite/race/ticket_lock_relaxed_give.ptx \
	testsuite/race/ticket_lock_relaxed_wait.ptx \
	testsuite/race/transitive_no_bar.ptx \
	testsuite/race/vec16_last_byte.ptx \
	testsuite/race/vec32.ptx \
	testsuite/race/vec_b8.ptx \
	testsuite/race/vec_two_doubles.ptx \
	testsuite/race/wmma_load.ptx \
	testsuite/race/wmma_store_last.ptx \
	testsuite/race/write_after_read.ptx \
	testsuite/race/write_after_release.ptx \
	testsuite/race/zero_copy.ptx

norace_tests = \
	testsuite/norace/01_reads_only.ptx \
	testsuite/norace/02_smem_bar.ptx \
	testsuite/norace/04_double_buffer.ptx \
	testsuite/norace/04_smem_war_two_bars.ptx \
	testsuite/norace/06_flag_acqrel_gpu.ptx \
	testsuite/norace/06_flag_acqrel_sys.ptx \
	testsuite/norace/06_flag_war.ptx \
	testsuite/norace/07_flag_relaxed_alone.ptx \
	testsuite/norace/08_fence_release_acquire.ptx \
	testsuite/norace/08_fence_sc.ptx \
	testsuite/norace/08_flag_fence_pair.ptx \
	testsuite/norace/09_scope_cta_same_cta.ptx \
	testsuite/norace/10_scope_one_side_same_cta.ptx \
	testsuite/norace/11_fence_cluster.ptx \
	testsuite/norace/11_fence_cta_same_cta.ptx \
	testsuite/norace/12_rmw_chain_add.ptx \
	testsuite/norace/12_rmw_chain_cas.ptx \
	testsuite/norace/12_rmw_chain_exch.ptx \
	testsuite/norace/12_rmw_chain_red.ptx \
	testsuite/norace/14_atom_acquire.ptx \
	testsuite/norace/15_sc_store_buffer_relaxed.ptx \
	testsuite/norace/16_atom_cta_same_cta.ptx \
	testsuite/norace/16_atom_gpu.ptx \
	testsuite/norace/17_volatile_membar.ptx \
	testsuite/norace/18_vector_element_relaxed.ptx \
	testsuite/norace/18_vector_halves.ptx \
	testsuite/norace/19_observed_relaxed_rewrite.ptx \
	testsuite/norace/20_vector_beside.ptx \
	testsuite/norace/21_named_ids.ptx \
	testsuite/norace/21_named_registers.ptx \
	testsuite/norace/21_named_ring.ptx \
	testsuite/norace/22_both_wait.ptx \
	testsuite/norace/23_full_count.ptx \
	testsuite/norace/24_barrier_global_data.ptx \
	testsuite/norace/25_bar_red_and.ptx \
	testsuite/norace/25_bar_red_or.ptx \
	testsuite/norace/25_bar_red_popc.ptx \
	testsuite/norace/26_warp_sync_ok.ptx \
	testsuite/norace/26_warp_sync_pair.ptx \
	testsuite/norace/26_warp_sync_two_groups.ptx \
	testsuite/norace/71_nc_beside.ptx \
	testsuite/norace/71_nc_previous_kernel.ptx \
	testsuite/norace/72_discard_beside.ptx \
	testsuite/norace/72_discard_ordered.ptx \
	testsuite/norace/74_st_bulk_bar.ptx \
	testsuite/norace/74_st_bulk_beside.ptx \
	testsuite/norace/75_ldmatrix_x1_rows.ptx \
	testsuite/norace/75_stmatrix_bar_ldmatrix.ptx \
	testsuite/norace/atom_vector.ptx \
	testsuite/norace/barrier_many_rounds.ptx \
	testsuite/norace/block_of_three_dimensions.ptx \
	testsuite/norace/blocks_own_words.ptx \
	testsuite/norace/blocks_shared_memory.ptx \
	testsuite/norace/byte_neighbours.ptx \
	testsuite/norace/byte_neighbours_blocks.ptx \
	testsuite/norace/byte_neighbours_shared.ptx \
	testsuite/norace/column_between.ptx \
	testsuite/norace/counter_of_writers.ptx \
	testsuite/norace/dynamic_shared_bar.ptx \
	testsuite/norace/fence_halves.ptx \
	testsuite/norace/flag_of_two_writers.ptx \
	testsuite/norace/flag_overwritten.ptx \
	testsuite/norace/generic_shared_bar.ptx \
	testsuite/norace/grid_barrier_acqrel.ptx \
	testsuite/norace/grid_barrier_fences.ptx \
	testsuite/norace/groups_by_count.ptx \
	testsuite/norace/half_beside_byte.ptx \
	testsuite/norace/half_neighbours.ptx \
	testsuite/norace/histogram_atomic.ptx \
	testsuite/norace/history_ordered_reads.ptx \
	testsuite/norace/in_a_function_bar.ptx \
	testsuite/norace/lane_acquire_then_warp_sync.ptx \
	testsuite/norace/lane_lockstep_synced.ptx \
	testsuite/norace/lane_partial_release_covered.ptx \
	testsuite/norace/lane_partial_warp.ptx \
	testsuite/norace/lane_release_after_warp_sync.ptx \
	testsuite/norace/lane_release_own_data.ptx \
	testsuite/norace/last_block.ptx \
	testsuite/norace/launch_copy_launch.ptx \
	testsuite/norace/launches_in_order.ptx \
	testsuite/norace/local_memory.ptx \
	testsuite/norace/lookback.ptx \
	testsuite/norace/lookback_fences.ptx \
	testsuite/norace/lookback_packed.ptx \
	testsuite/norace/mmio_flag.ptx \
	testsuite/norace/module_constant.ptx \
	testsuite/norace/predicate_off.ptx \
	testsuite/norace/qualifiers_in_any_order.ptx \
	testsuite/norace/red_release.ptx \
	testsuite/norace/relaxed_then_acquire.ptx \
	testsuite/norace/release_then_relaxed.ptx \
	testsuite/norace/spinlock_acqrel.ptx \
	testsuite/norace/spinlock_fences.ptx \
	testsuite/norace/spinlock_shared.ptx \
	testsuite/norace/threads_that_exited.ptx \
	testsuite/norace/ticket_lock.ptx \
	testsuite/norace/transitive_three_blocks.ptx \
	testsuite/norace/transitive_through_block.ptx \
	testsuite/norace/two_streams_event.ptx \
	testsuite/norace/unmodelled_bulk_copy.ptx \
	testsuite/norace/unmodelled_cluster_barrier.ptx \
	testsuite/norace/unmodelled_cp_async.ptx \
	testsuite/norace/unmodelled_dsmem.ptx \
	testsuite/norace/unmodelled_mbarrier.ptx \
	testsuite/norace/vec16_beside.ptx \
	testsuite/norace/vec32_beside.ptx \
	testsuite/norace/wmma_store_gap.ptx

litmus_tests = \
	testsuite/litmus/barrier-inscope.ptx \
	testsuite/litmus/barrier-not-inscope.ptx \
	testsuite/litmus/quorum1-fail.ptx \
	testsuite/litmus/quorum1-pass.ptx \
	testsuite/litmus/quorum2-fail.ptx \
	testsuite/litmus/quorum2-pass.ptx \
	testsuite/litmus/Atom-minus-location.ptx \
	testsuite/litmus/Atom-plus-location.ptx \
	testsuite/litmus/Atom-plus-location-weak.ptx \
	testsuite/litmus/Atom-plus-register.ptx \
	testsuite/litmus/Red-minus-location.ptx \
	testsuite/litmus/Red-plus-location.ptx \
	testsuite/litmus/Co-Total-3-threads-scope-same.ptx \
	testsuite/litmus/CoRR-acquire-weak.ptx \
	testsuite/litmus/CoRR-relaxed-acquire-weak.ptx \
	testsuite/litmus/CoRR-weak-acquire-weak.ptx \
	testsuite/litmus/CoRR-weak-acquire.ptx \
	testsuite/litmus/CoRR-weak-weak.ptx \
	testsuite/litmus/CoRW-R.ptx \
	testsuite/litmus/CoRW-WW.ptx \
	testsuite/litmus/CoRW.ptx \
	testsuite/litmus/CoWR-R.ptx \
	testsuite/litmus/CoWR.ptx \
	testsuite/litmus/CoWW-R.ptx \
	testsuite/litmus/CoWW-RR.ptx \
	testsuite/litmus/CoWW.ptx \
	testsuite/litmus/Coherence-weak.ptx \
	testsuite/litmus/Coherence.ptx \
	testsuite/litmus/counter-atomic-store-rmw.ptx \
	testsuite/litmus/counter-plain-store-atomic-load.ptx \
	testsuite/litmus/counter-plain-store-plain-load.ptx \
	testsuite/litmus/counter-plain-store-rmw.ptx \
	testsuite/litmus/Cause-base-strong.ptx \
	testsuite/litmus/Cause-base-weak.ptx \
	testsuite/litmus/MP+RMW.ptx \
	testsuite/litmus/MP-3-transitive.ptx \
	testsuite/litmus/Release-acquire-pattern.ptx \
	testsuite/litmus/MP-cta-gpu.ptx \
	testsuite/litmus/MP-cta.ptx \
	testsuite/litmus/MP-gpu.ptx \
	testsuite/litmus/MP-relaxed.ptx \
	testsuite/litmus/MP-sys.ptx \
	testsuite/litmus/MP-sys-fence.ptx \
	testsuite/litmus/MP-dlb.ptx \
	testsuite/litmus/MP-dlb-no-fence-1.ptx \
	testsuite/litmus/MP-dlb-no-fence-2.ptx \
	testsuite/litmus/LB-dlb.ptx \
	testsuite/litmus/LB-dlb-no-fence-1.ptx \
	testsuite/litmus/LB-dlb-no-fence-2.ptx \
	testsuite/litmus/PC-bar-sync-arrive.ptx \
	testsuite/litmus/PC-bar-sync-sync-1.ptx \
	testsuite/litmus/PC-bar-sync-sync-2.ptx \
	testsuite/litmus/PC-bar-sync-sync-3.ptx \
	testsuite/litmus/PC-bar-sync-sync-4.ptx \
	testsuite/litmus/XF-Barrier-relacq.ptx \
	testsuite/litmus/XF-Barrier-rlx.ptx \
	testsuite/litmus/XF-Barrier-weak.ptx \
	testsuite/litmus/LB+NoThinAir-location.ptx \
	testsuite/litmus/LB+NoThinAir-register.ptx \
	testsuite/litmus/LB+RMW-c.ptx \
	testsuite/litmus/SB-weak.ptx \
	testsuite/litmus/SB+sc-cta-outScope.ptx \
	testsuite/litmus/SB+sc-cta.ptx \
	testsuite/litmus/SB+sc-gpu.ptx \
	testsuite/litmus/SB+sc-sys-gpu.ptx \
	testsuite/litmus/SB+sc-sys.ptx \
	testsuite/litmus/SB-cta.ptx \
	testsuite/litmus/SB+acq_rel-cta.ptx \
	testsuite/litmus/SB+bar-const-equal.ptx \
	testsuite/litmus/SB+bar-const-diff.ptx \
	testsuite/litmus/SB+bar-diff-cta.ptx \
	testsuite/litmus/SB+named-bar-reg-const-equal.ptx \
	testsuite/litmus/SB+named-bar-reg-equal.ptx \
	testsuite/litmus/SB+named-bar-reg-const-diff.ptx \
	testsuite/litmus/SB+named-bar-reg-diff.ptx \
	testsuite/litmus/SB+named-bar-sta-reg-const.ptx \
	testsuite/litmus/SB+twice-bars.ptx \
	testsuite/litmus/barrier-instance-id-exists.ptx \
	testsuite/litmus/barrier-instance-id-forall.ptx \
	testsuite/litmus/barrier-logical-id-exists.ptx \
	testsuite/litmus/barrier-logical-id-forall.ptx \
	testsuite/litmus/Atom-SB-ld.ptx \
	testsuite/litmus/Atom-SB.ptx \
	testsuite/litmus/SL-cas-minus.ptx \
	testsuite/litmus/SL-cas-plus.ptx \
	testsuite/litmus/SL-future-minus.ptx \
	testsuite/litmus/SL-future-plus.ptx \
	testsuite/litmus/Ticketlock-same-gpu.ptx \
	testsuite/litmus/Ticketlock-acq2rlx-1.ptx \
	testsuite/litmus/IRIW1.ptx \
	testsuite/litmus/IRIW2.ptx \
	testsuite/litmus/IRIW_gl_cta.ptx \
	testsuite/litmus/IRIW_uniproc.ptx \
	testsuite/litmus/IRRWIW1.ptx \
	testsuite/litmus/IRRWIW2.ptx \
	testsuite/litmus/IRRWIW3.ptx \
	testsuite/litmus/IRRWIW4.ptx \
	testsuite/litmus/IRRWIW_uniproc.ptx \
	testsuite/litmus/IRWIW1.ptx \
	testsuite/litmus/IRWIW2.ptx \
	testsuite/litmus/IRWIW_gl_cta.ptx \
	testsuite/litmus/RWC1.ptx \
	testsuite/litmus/RWC2.ptx \
	testsuite/litmus/RWC_uniproc.ptx \
	testsuite/litmus/WRC1.ptx \
	testsuite/litmus/WRC2.ptx \
	testsuite/litmus/WRR+2W1.ptx \
	testsuite/litmus/WRR+2W2.ptx \
	testsuite/litmus/WRR+2W.ptx \
	testsuite/litmus/WRW+2W1.ptx \
	testsuite/litmus/WRW+2W2.ptx \
	testsuite/litmus/WRW+WR1.ptx \
	testsuite/litmus/WRW+WR2.ptx \
	testsuite/litmus/WWC1.ptx \
	testsuite/litmus/WWC2.ptx

run_tests = \
	testsuite/run/lists.sh \
	testsuite/run/async.sh \
	testsuite/run/run.sh \
	testsuite/run/script.sh

TESTS += $(race_tests) $(norace_tests) $(litmus_tests) $(run_tests)
dist_check_SCRIPTS += $(run_tests)
EXTRA_DIST += $(race_tests) $(norace_tests) testsuite/litmus/table testsuite/litmus/gen.awk
MOSTLYCLEANFILES += $(litmus_tests)

$(litmus_tests): testsuite/litmus/table testsuite/litmus/gen.awk
	$(AM_V_GEN)$(MKDIR_P) testsuite/litmus && \
	name=`basename $@ .ptx` && \
	$(AWK) -f $(top_srcdir)/testsuite/litmus/gen.awk -v name="$$name" \
		$(top_srcdir)/testsuite/litmus/table >$@.tmp && mv $@.tmp $@

# The device runtime's arithmetic, on the host.
TESTS += testsuite/device.sh
EXTRA_DIST += testsuite/device.sh testsuite/unit/device.cpp

# The oracle's rules for what is asynchronous.
TESTS += testsuite/oracle.sh
EXTRA_DIST += testsuite/oracle.sh testsuite/oracle/rules.awk testsuite/oracle/rules.txt

# Random programs.
include $(top_srcdir)/testsuite/gen/local.mk
