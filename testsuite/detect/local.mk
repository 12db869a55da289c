# SPDX-License-Identifier: Apache-2.0
#
# The detector, held against logs that people wrote as text with their verdicts, a folder for
# each chapter.  A folder's logs are one test with a result for each, as so many names of tests
# would be more than a command line holds.  named.sh holds the list below against the folders,
# and the logs against memory-model.md.

check_PROGRAMS += testsuite/detect/judge testsuite/detect/choices.tap
testsuite_detect_judge_SOURCES = testsuite/detect/judge.c testsuite/detect/ev.c testsuite/detect/ev.h
testsuite_detect_judge_LDADD = detect/libdetect.a event/libevent.a
testsuite_detect_choices_tap_SOURCES = testsuite/detect/choices.c
testsuite_detect_choices_tap_LDADD = detect/libdetect.a event/libevent.a

# work.tap counts what the detector does: its sources once more, with a call in each basic block.
check_LIBRARIES += testsuite/detect/libwork.a
testsuite_detect_libwork_a_SOURCES = $(detect_sources)
testsuite_detect_libwork_a_CFLAGS = $(AM_CFLAGS) $(TRACE_CFLAGS)
check_PROGRAMS += testsuite/detect/work.tap
testsuite_detect_work_tap_SOURCES = testsuite/detect/work.c testsuite/detect/ev.c testsuite/detect/ev.h
testsuite_detect_work_tap_LDADD = testsuite/detect/libwork.a extent/libextent.a event/libevent.a

ev_tests = \
	testsuite/detect/async.evs \
	testsuite/detect/barrier.evs \
	testsuite/detect/bounds.evs \
	testsuite/detect/fence.evs \
	testsuite/detect/ground.evs \
	testsuite/detect/host.evs \
	testsuite/detect/mbarrier.evs \
	testsuite/detect/order.evs \
	testsuite/detect/pdl.evs \
	testsuite/detect/proxy.evs \
	testsuite/detect/tcgen05.evs \
	testsuite/detect/uninit.evs \
	testsuite/detect/wgmma.evs \
	testsuite/detect/why.evs \
	testsuite/detect/words.evs

detect_scripts = testsuite/detect/named.sh testsuite/detect/masks.sh testsuite/cxx.sh
dist_check_SCRIPTS += $(detect_scripts)
TESTS += testsuite/detect/choices.tap testsuite/detect/work.tap $(detect_scripts) $(ev_tests)
EXTRA_DIST += testsuite/detect/logs.sh $(ev_logs)
MOSTLYCLEANFILES += $(ev_tests)

# The names of a folder's logs.
$(ev_tests): testsuite/detect/local.mk
	$(AM_V_GEN)$(MKDIR_P) testsuite/detect && \
	folder=`basename $@ .evs` && \
	printf '%s\n' $(ev_logs) | grep "^testsuite/detect/$$folder/" >$@.tmp && mv $@.tmp $@

ev_logs = \
	testsuite/detect/bounds/across.ev \
	testsuite/detect/bounds/before.ev \
	testsuite/detect/bounds/behind.ev \
	testsuite/detect/bounds/copy.ev \
	testsuite/detect/bounds/copy_mbar_out.ev \
	testsuite/detect/bounds/copy_out.ev \
	testsuite/detect/bounds/copy_source.ev \
	testsuite/detect/bounds/copy_source_out.ev \
	testsuite/detect/bounds/dynamic_names.ev \
	testsuite/detect/bounds/dynamic_none.ev \
	testsuite/detect/bounds/end.ev \
	testsuite/detect/bounds/left_out.ev \
	testsuite/detect/bounds/left_out_none.ev \
	testsuite/detect/bounds/mbarrier_out.ev \
	testsuite/detect/bounds/not_placed.ev \
	testsuite/detect/bounds/of_two.ev \
	testsuite/detect/bounds/of_two_across.ev \
	testsuite/detect/bounds/of_two_neither.ev \
	testsuite/detect/bounds/off.ev \
	testsuite/detect/bounds/peer.ev \
	testsuite/detect/bounds/peer_out.ev \
	testsuite/detect/bounds/product.ev \
	testsuite/detect/bounds/product_out.ev \
	testsuite/detect/bounds/race_beside.ev \
	testsuite/detect/bounds/race_within.ev \
	testsuite/detect/bounds/unknown.ev \
	testsuite/detect/bounds/unknown_last.ev \
	testsuite/detect/bounds/unknown_out.ev \
	testsuite/detect/async/bulk_again_behind_wait.ev testsuite/detect/async/bulk_behind_its_end.ev \
	testsuite/detect/async/bulk_issuer_reads.ev testsuite/detect/async/bulk_other_waited.ev \
	testsuite/detect/async/bulk_over_own_store.ev testsuite/detect/async/bulk_read_before_wait.ev \
	testsuite/detect/async/bulk_says_nothing_of_issuer.ev testsuite/detect/async/bulk_source_read.ev \
	testsuite/detect/async/bulk_source_written.ev \
	testsuite/detect/async/bulk_source_written_waited.ev testsuite/detect/async/bulk_wait_read.ev \
	testsuite/detect/async/bulk_waw.ev testsuite/detect/async/bulk_write_before_wait.ev \
	testsuite/detect/async/cancel_behind.ev testsuite/detect/async/cancel_early.ev \
	testsuite/detect/async/cancel_last_bytes.ev testsuite/detect/async/cancel_multicast.ev \
	testsuite/detect/async/cancel_multicast_early.ev testsuite/detect/async/cancel_wait.ev \
	testsuite/detect/async/cancel_war.ev testsuite/detect/async/cancel_war_fenced.ev \
	testsuite/detect/async/cp_again_behind_wait.ev testsuite/detect/async/cp_barrier_before_wait.ev \
	testsuite/detect/async/cp_barrier_behind_wait.ev \
	testsuite/detect/async/cp_begins_behind_store.ev testsuite/detect/async/cp_beside.ev \
	testsuite/detect/async/cp_each_lane.ev testsuite/detect/async/cp_lanes_other_source.ev \
	testsuite/detect/async/cp_lanes_same_copy.ev \
	testsuite/detect/async/cp_lanes_same_copy_other_waits.ev \
	testsuite/detect/async/cp_lanes_two_instructions.ev testsuite/detect/async/cp_mbar_inc.ev \
	testsuite/detect/async/cp_mbar_later_copy.ev testsuite/detect/async/cp_mbar_noinc.ev \
	testsuite/detect/async/cp_mbar_of_other_lane.ev testsuite/detect/async/cp_mbar_plain_arrive.ev \
	testsuite/detect/async/cp_mbar_releases_nothing.ev testsuite/detect/async/cp_members_of_group.ev \
	testsuite/detect/async/cp_newest_may_be_pending.ev testsuite/detect/async/cp_newest_read.ev \
	testsuite/detect/async/cp_no_wait.ev testsuite/detect/async/cp_not_committed.ev \
	testsuite/detect/async/cp_other_thread_waited.ev testsuite/detect/async/cp_read_source.ev \
	testsuite/detect/async/cp_reads_four.ev testsuite/detect/async/cp_reads_less.ev \
	testsuite/detect/async/cp_reads_nothing.ev testsuite/detect/async/cp_same_group_one_place.ev \
	testsuite/detect/async/cp_source_not_ordered.ev \
	testsuite/detect/async/cp_two_groups_one_place.ev testsuite/detect/async/cp_wait_all.ev \
	testsuite/detect/async/cp_wait_group.ev testsuite/detect/async/cp_write_over.ev \
	testsuite/detect/async/cp_write_source.ev testsuite/detect/async/cp_write_source_waited.ev \
	testsuite/detect/async/groups_apart.ev testsuite/detect/async/groups_apart_cp.ev \
	testsuite/detect/async/load_into_source_of_store.ev \
	testsuite/detect/async/load_into_source_waited.ev testsuite/detect/async/load_lanes_same.ev \
	testsuite/detect/async/multicast_not_in_mask.ev testsuite/detect/async/multicast_not_waited.ev \
	testsuite/detect/async/multicast_own_phase.ev \
	testsuite/detect/async/multicast_peer_phase_destination.ev \
	testsuite/detect/async/multicast_source_any_phase.ev testsuite/detect/async/peer_early.ev \
	testsuite/detect/async/peer_reduce.ev testsuite/detect/async/peer_reduce_early.ev \
	testsuite/detect/async/peer_source_early.ev testsuite/detect/async/peer_source_not_told.ev \
	testsuite/detect/async/peer_source_told.ev testsuite/detect/async/peer_waits.ev \
	testsuite/detect/async/red_async_atom.ev testsuite/detect/async/red_async_atom_cta.ev \
	testsuite/detect/async/red_async_early.ev testsuite/detect/async/red_async_wait.ev \
	testsuite/detect/async/reduce_and_red.ev testsuite/detect/async/reduce_and_weak_store.ev \
	testsuite/detect/async/reduce_reduce.ev testsuite/detect/async/reduce_reduce_cta.ev \
	testsuite/detect/async/reduce_reduce_sizes.ev testsuite/detect/async/st_async_atom.ev \
	testsuite/detect/async/st_async_early.ev testsuite/detect/async/st_async_fence_bulk.ev \
	testsuite/detect/async/st_async_issuer.ev testsuite/detect/async/st_async_then_bulk.ev \
	testsuite/detect/async/st_async_vector.ev testsuite/detect/async/st_async_vector_behind.ev \
	testsuite/detect/async/st_async_vector_early.ev testsuite/detect/async/st_async_wait.ev \
	testsuite/detect/async/store_lanes_apart.ev testsuite/detect/async/store_lanes_first_waits.ev \
	testsuite/detect/async/store_lanes_overlap.ev testsuite/detect/async/store_lanes_reduce.ev \
	testsuite/detect/async/store_lanes_same.ev testsuite/detect/async/store_lanes_second_waits.ev \
	testsuite/detect/async/store_masked_in.ev testsuite/detect/async/store_masked_out.ev \
	testsuite/detect/async/store_not_committed.ev testsuite/detect/async/store_other_thread.ev \
	testsuite/detect/async/store_other_thread_barrier.ev \
	testsuite/detect/async/store_read_back_early.ev \
	testsuite/detect/async/store_read_is_of_source.ev testsuite/detect/async/store_reduce_early.ev \
	testsuite/detect/async/store_reduce_wait.ev testsuite/detect/async/store_reuse_source.ev \
	testsuite/detect/async/store_reuse_source_early.ev testsuite/detect/async/store_ring_newest.ev \
	testsuite/detect/async/store_ring_of_two.ev testsuite/detect/async/store_source_read.ev \
	testsuite/detect/async/store_two_instructions.ev testsuite/detect/async/store_two_issuers.ev \
	testsuite/detect/async/store_wait_read_back.ev testsuite/detect/async/store_wait_twice.ev \
	testsuite/detect/async/tensor_behind.ev testsuite/detect/async/tensor_coordinates.ev \
	testsuite/detect/async/tensor_early.ev testsuite/detect/async/tensor_every_second.ev \
	testsuite/detect/async/tensor_every_second_hit.ev testsuite/detect/async/tensor_gather4.ev \
	testsuite/detect/async/tensor_gather4_other_row.ev testsuite/detect/async/tensor_im2col.ev \
	testsuite/detect/async/tensor_im2col_fewer.ev testsuite/detect/async/tensor_im2col_offset.ev \
	testsuite/detect/async/tensor_im2col_offset_of_5.ev \
	testsuite/detect/async/tensor_lanes_overlap.ev testsuite/detect/async/tensor_lanes_same.ev \
	testsuite/detect/async/tensor_map_beside.ev testsuite/detect/async/tensor_map_written.ev \
	testsuite/detect/async/tensor_map_written_behind.ev \
	testsuite/detect/async/tensor_outside_is_filled.ev \
	testsuite/detect/async/tensor_outside_not_read.ev testsuite/detect/async/tensor_reduce_reduce.ev \
	testsuite/detect/async/tensor_reduce_weak.ev testsuite/detect/async/tensor_source_beside.ev \
	testsuite/detect/async/tensor_source_row.ev testsuite/detect/async/tensor_store_between_rows.ev \
	testsuite/detect/async/tensor_store_early.ev testsuite/detect/async/tensor_store_map_free.ev \
	testsuite/detect/async/tensor_store_map_in_use.ev testsuite/detect/async/tensor_store_outside.ev \
	testsuite/detect/async/tensor_store_source_free.ev testsuite/detect/async/tensor_store_waited.ev \
	testsuite/detect/async/tensor_swizzled.ev testsuite/detect/async/tensor_swizzled_away.ev \
	testsuite/detect/async/tensor_waited.ev testsuite/detect/barrier/aligned.ev \
	testsuite/detect/barrier/count_of_all_and_none.ev \
	testsuite/detect/barrier/aligned_apart.ev \
	testsuite/detect/barrier/aligned_one_instruction.ev \
	testsuite/detect/barrier/all.ev testsuite/detect/barrier/all_global.ev \
	testsuite/detect/barrier/all_id_15.ev testsuite/detect/barrier/arrive_before_write.ev \
	testsuite/detect/barrier/arrive_learns_nothing.ev testsuite/detect/barrier/arrive_then_sync.ev \
	testsuite/detect/barrier/bar_exited_orders.ev testsuite/detect/barrier/cluster_aligned.ev \
	testsuite/detect/barrier/cluster_all.ev testsuite/detect/barrier/cluster_exited.ev \
	testsuite/detect/barrier/cluster_first_phase_only.ev \
	testsuite/detect/barrier/cluster_in_turn.ev \
	testsuite/detect/barrier/cluster_lane_relaxed.ev \
	testsuite/detect/barrier/cluster_lane_released.ev testsuite/detect/barrier/cluster_no_wait.ev \
	testsuite/detect/barrier/cluster_of_four.ev testsuite/detect/barrier/cluster_of_one.ev \
	testsuite/detect/barrier/cluster_orders_no_copies.ev \
	testsuite/detect/barrier/cluster_orders_what_is_over.ev \
	testsuite/detect/barrier/cluster_relaxed.ev \
	testsuite/detect/barrier/cluster_relaxed_within_block.ev \
	testsuite/detect/barrier/cluster_release_acquire.ev \
	testsuite/detect/barrier/cluster_second_phase.ev \
	testsuite/detect/barrier/cluster_twice.ev \
	testsuite/detect/barrier/cluster_within_block.ev \
	testsuite/detect/barrier/cluster_write_between.ev testsuite/detect/barrier/count_multiple.ev \
	testsuite/detect/barrier/count_no_multiple.ev \
	testsuite/detect/barrier/counted.ev testsuite/detect/barrier/counted_mixed.ev \
	testsuite/detect/barrier/counted_outsider.ev \
	testsuite/detect/barrier/counts_differ.ev \
	testsuite/detect/barrier/counts_by_chance.ev \
	testsuite/detect/barrier/counts_flag.ev \
	testsuite/detect/barrier/counts_of_two_roles.ev \
	testsuite/detect/barrier/one_count_two_roles.ev \
	testsuite/detect/barrier/counts_differ_all.ev \
	testsuite/detect/barrier/counts_exited.ev \
	testsuite/detect/barrier/counts_in_turn.ev \
	testsuite/detect/barrier/counts_other_id.ev \
	testsuite/detect/barrier/elected_lane_counts_for_warp.ev \
	testsuite/detect/barrier/exit_is_no_acquire.ev testsuite/detect/barrier/exit_passes_on.ev \
	testsuite/detect/barrier/exited_and_no_wait.ev \
	testsuite/detect/barrier/exited_before_last_use.ev \
	testsuite/detect/barrier/exited_count_as_arrived.ev testsuite/detect/barrier/forms_in_turn.ev \
	testsuite/detect/barrier/forms_mixed.ev \
	testsuite/detect/barrier/handed_on.ev \
	testsuite/detect/barrier/handed_to_nobody.ev testsuite/detect/barrier/ids_differ.ev \
	testsuite/detect/barrier/lanes_arrive_apart.ev testsuite/detect/barrier/lanes_in_two_parts.ev \
	testsuite/detect/barrier/lockstep.ev testsuite/detect/barrier/lockstep_other_warp.ev \
	testsuite/detect/barrier/loop_of_one.ev testsuite/detect/barrier/loop_of_two.ev \
	testsuite/detect/barrier/none.ev testsuite/detect/barrier/orders_no_copies.ev \
	testsuite/detect/barrier/other_block.ev testsuite/detect/barrier/read_before_wait.ev \
	testsuite/detect/barrier/read_then_write.ev testsuite/detect/barrier/read_then_write_none.ev \
	testsuite/detect/barrier/ring_full_and_empty.ev testsuite/detect/barrier/ring_full_only.ev \
	testsuite/detect/barrier/second_use.ev testsuite/detect/barrier/warp_all.ev \
	testsuite/detect/barrier/warp_arrive_alone.ev testsuite/detect/barrier/warp_in_two_parts.ev \
	testsuite/detect/barrier/warp_mask.ev testsuite/detect/barrier/warp_mask_of_more.ev \
	testsuite/detect/barrier/warp_misuse.ev testsuite/detect/barrier/warp_misuse_alone.ev \
	testsuite/detect/barrier/warp_none.ev testsuite/detect/barrier/warp_not_in_mask.ev \
	testsuite/detect/barrier/warp_orders_no_copies.ev \
	testsuite/detect/barrier/warp_orders_what_is_over.ev \
	testsuite/detect/barrier/warp_other_lane_misuse_and_order.ev \
	testsuite/detect/barrier/warp_other_masks.ev testsuite/detect/barrier/warp_other_warp.ev \
	testsuite/detect/barrier/warp_second_use.ev testsuite/detect/barrier/warp_used_once.ev \
	testsuite/detect/barrier/write_behind_arrive.ev testsuite/detect/fence/acquire_block_cluster.ev \
	testsuite/detect/fence/acquire_block_cta.ev testsuite/detect/fence/acquire_block_gpu.ev \
	testsuite/detect/fence/acquire_block_sys.ev testsuite/detect/fence/acquire_cluster_cluster.ev \
	testsuite/detect/fence/acquire_cluster_cta.ev testsuite/detect/fence/acquire_cluster_gpu.ev \
	testsuite/detect/fence/acquire_cluster_sys.ev testsuite/detect/fence/acquire_gpu_cluster.ev \
	testsuite/detect/fence/acquire_gpu_cta.ev testsuite/detect/fence/acquire_gpu_gpu.ev \
	testsuite/detect/fence/acquire_gpu_sys.ev testsuite/detect/fence/as_acquire_acq_rel.ev \
	testsuite/detect/fence/as_acquire_acquire.ev testsuite/detect/fence/as_acquire_release.ev \
	testsuite/detect/fence/as_acquire_sc.ev testsuite/detect/fence/as_release_acq_rel.ev \
	testsuite/detect/fence/as_release_acquire.ev testsuite/detect/fence/as_release_release.ev \
	testsuite/detect/fence/as_release_sc.ev testsuite/detect/fence/bare_acquire.ev \
	testsuite/detect/fence/bare_release.ev testsuite/detect/fence/before_data.ev \
	testsuite/detect/fence/before_flag_read.ev testsuite/detect/fence/behind_data_read.ev \
	testsuite/detect/fence/behind_flag.ev testsuite/detect/fence/between.ev \
	testsuite/detect/fence/map_fence_narrow.ev testsuite/detect/fence/map_fence_orders.ev \
	testsuite/detect/fence/no_thread_fence_alias.ev \
	testsuite/detect/fence/no_thread_fence_mbarrier_init.ev \
	testsuite/detect/fence/no_thread_fence_proxy.ev \
	testsuite/detect/fence/no_thread_fence_tensor_after.ev \
	testsuite/detect/fence/no_thread_fence_tensor_before.ev testsuite/detect/fence/none_at_all.ev \
	testsuite/detect/fence/of_other_lane.ev testsuite/detect/fence/relaxed_arrive_fence.ev \
	testsuite/detect/fence/relaxed_arrive_fence_cta.ev \
	testsuite/detect/fence/relaxed_arrive_fence_gpu.ev \
	testsuite/detect/fence/relaxed_arrive_nothing.ev \
	testsuite/detect/fence/relaxed_arrive_restricted.ev \
	testsuite/detect/fence/relaxed_arrive_restricted_global.ev \
	testsuite/detect/ground/across.ev \
	testsuite/detect/ground/behind.ev \
	testsuite/detect/ground/copy.ev \
	testsuite/detect/ground/copy_out.ev \
	testsuite/detect/ground/early.ev \
	testsuite/detect/ground/end.ev \
	testsuite/detect/ground/far.ev \
	testsuite/detect/ground/freed.ev \
	testsuite/detect/ground/freed_behind.ev \
	testsuite/detect/ground/freed_later.ev \
	testsuite/detect/ground/freed_rest.ev \
	testsuite/detect/ground/freed_used.ev \
	testsuite/detect/ground/no_race.ev \
	testsuite/detect/ground/off.ev \
	testsuite/detect/ground/other_behind.ev \
	testsuite/detect/ground/there_end.ev \
	testsuite/detect/fence/release_block_cluster.ev testsuite/detect/fence/release_block_cta.ev \
	testsuite/detect/fence/release_block_gpu.ev testsuite/detect/fence/release_block_sys.ev \
	testsuite/detect/fence/release_cluster_cluster.ev testsuite/detect/fence/release_cluster_cta.ev \
	testsuite/detect/fence/release_cluster_gpu.ev testsuite/detect/fence/release_cluster_sys.ev \
	testsuite/detect/fence/release_gpu_cluster.ev testsuite/detect/fence/release_gpu_cta.ev \
	testsuite/detect/fence/release_gpu_gpu.ev testsuite/detect/fence/release_gpu_sys.ev \
	testsuite/detect/fence/restricted_global.ev testsuite/detect/fence/restricted_no_acquire.ev \
	testsuite/detect/fence/restricted_no_release.ev testsuite/detect/fence/restricted_shared.ev \
	testsuite/detect/fence/sc_orders_as_acq_rel.ev testsuite/detect/fence/sc_sys.ev \
	testsuite/detect/fence/sc_too_narrow.ev testsuite/detect/fence/wide_and_narrow.ev \
	testsuite/detect/host/copy_not_over_with_block.ev testsuite/detect/host/copy_over_with_kernel.ev \
	testsuite/detect/host/copy_source_under_way.ev testsuite/detect/host/copy_waited.ev \
	testsuite/detect/host/exit_store_waited_by_none.ev \
	testsuite/detect/host/load_under_way_at_end.ev testsuite/detect/host/load_waited_at_end.ev \
	testsuite/detect/host/load_waited_relaxed_at_end.ev \
	testsuite/detect/host/map_acquired_by_other_thread.ev \
	testsuite/detect/host/map_acquired_by_other_thread_untold.ev \
	testsuite/detect/host/map_acquired_in_each_kernel.ev \
	testsuite/detect/host/map_acquired_in_next_kernel.ev \
	testsuite/detect/host/map_acquired_in_one_kernel.ev \
	testsuite/detect/host/map_acquired_in_other_block.ev \
	testsuite/detect/host/map_not_acquired_in_next_kernel.ev \
	testsuite/detect/host/map_of_the_host.ev testsuite/detect/host/next_launch.ev \
	testsuite/detect/host/next_launch_bulk.ev testsuite/detect/host/next_launch_copy.ev \
	testsuite/detect/host/next_launch_overwrites.ev testsuite/detect/host/peer_begun_and_there.ev \
	testsuite/detect/host/peer_load.ev testsuite/detect/host/peer_may_have_ended.ev \
	testsuite/detect/host/peer_mbarrier_at_end.ev testsuite/detect/host/peer_mbarrier_not_begun.ev \
	testsuite/detect/host/peer_mbarrier_waited.ev testsuite/detect/host/peer_not_begun.ev \
	testsuite/detect/host/peer_own_by_rank.ev testsuite/detect/host/peer_own_memory.ev \
	testsuite/detect/host/peer_relaxed_begin.ev testsuite/detect/host/peer_relaxed_end.ev \
	testsuite/detect/host/same_launch.ev testsuite/detect/mbarrier/after_inval_arrive.ev \
	testsuite/detect/mbarrier/after_inval_complete.ev \
	testsuite/detect/mbarrier/after_inval_copies.ev testsuite/detect/mbarrier/after_inval_expect.ev \
	testsuite/detect/mbarrier/after_inval_try.ev testsuite/detect/mbarrier/after_inval_wait.ev \
	testsuite/detect/mbarrier/all_lanes_arrive.ev testsuite/detect/mbarrier/arrive_before_write.ev \
	testsuite/detect/mbarrier/arrive_expect.ev \
	testsuite/detect/mbarrier/arrive_unordered_with_init.ev testsuite/detect/mbarrier/arrive_wait.ev \
	testsuite/detect/mbarrier/arrive_wait_global.ev testsuite/detect/mbarrier/bytes_most.ev \
	testsuite/detect/mbarrier/bytes_too_many.ev \
	testsuite/detect/mbarrier/bytes_less.ev \
	testsuite/detect/mbarrier/bytes_sum.ev \
	testsuite/detect/mbarrier/bytes_sum_came.ev \
	testsuite/detect/mbarrier/bytes_sum_lanes.ev \
	testsuite/detect/mbarrier/bytes_sum_late.ev \
	testsuite/detect/mbarrier/bytes_sum_two_phases.ev \
	testsuite/detect/mbarrier/bytes_sum_two_warps.ev \
	testsuite/detect/mbarrier/count_all.ev \
	testsuite/detect/mbarrier/count_beyond.ev \
	testsuite/detect/mbarrier/count_by_twos.ev \
	testsuite/detect/mbarrier/count_by_twos_no_fault.ev \
	testsuite/detect/mbarrier/count_dropped.ev \
	testsuite/detect/mbarrier/count_open.ev \
	testsuite/detect/mbarrier/complete_tx.ev \
	testsuite/detect/mbarrier/complete_tx_is_no_arrival.ev \
	testsuite/detect/mbarrier/copy_not_expected.ev testsuite/detect/mbarrier/copy_over_live.ev \
	testsuite/detect/mbarrier/copy_relaxed_wait.ev testsuite/detect/mbarrier/count_of_two_at_once.ev \
	testsuite/detect/mbarrier/crowded_at_fault.ev \
	testsuite/detect/mbarrier/crowded_no_bytes_at_fault.ev \
	testsuite/detect/mbarrier/crowded_no_fault.ev testsuite/detect/mbarrier/crowded_returned.ev \
	testsuite/detect/mbarrier/crowded_waited_at_fault.ev \
	testsuite/detect/mbarrier/drop_leaves_one.ev testsuite/detect/mbarrier/drop_twice.ev \
	testsuite/detect/mbarrier/dropped_next_phase.ev testsuite/detect/mbarrier/expect_behind_copy.ev \
	testsuite/detect/mbarrier/expect_then_arrive.ev testsuite/detect/mbarrier/init_again.ev \
	testsuite/detect/mbarrier/init_at_once.ev testsuite/detect/mbarrier/init_fence_and_flag.ev \
	testsuite/detect/mbarrier/init_fence_data.ev testsuite/detect/mbarrier/init_fence_of_other.ev \
	testsuite/detect/mbarrier/init_flag_alone.ev testsuite/detect/mbarrier/init_in_cluster.ev \
	testsuite/detect/mbarrier/init_in_cluster_no_fence.ev \
	testsuite/detect/mbarrier/init_not_ordered.ev testsuite/detect/mbarrier/init_ordered.ev \
	testsuite/detect/mbarrier/init_own_thread.ev testsuite/detect/mbarrier/inval_at_once.ev \
	testsuite/detect/mbarrier/inval_behind_copy.ev \
	testsuite/detect/mbarrier/inval_behind_last_use.ev \
	testsuite/detect/mbarrier/inval_not_ordered.ev \
	testsuite/detect/mbarrier/inval_races_with_load.ev testsuite/detect/mbarrier/inval_then_init.ev \
	testsuite/detect/mbarrier/inval_twice.ev testsuite/detect/mbarrier/inval_under_copy.ev \
	testsuite/detect/mbarrier/its_mbarrier.ev testsuite/detect/mbarrier/load_races_with_init.ev \
	testsuite/detect/mbarrier/one_of_two_arrivals.ev testsuite/detect/mbarrier/opaque_arrives.ev testsuite/detect/mbarrier/opaque_copies.ev \
	testsuite/detect/mbarrier/other_lane_arrives.ev \
	testsuite/detect/mbarrier/other_lane_waits.ev testsuite/detect/mbarrier/other_mbarrier.ev \
	testsuite/detect/mbarrier/parity_again.ev testsuite/detect/mbarrier/parity_of_none.ev \
	testsuite/detect/mbarrier/parity_of_older_phase.ev \
	testsuite/detect/mbarrier/parity_once.ev testsuite/detect/mbarrier/parity_producer.ev \
	testsuite/detect/mbarrier/parity_ring.ev testsuite/detect/mbarrier/state_again.ev \
	testsuite/detect/mbarrier/state_stale.ev testsuite/detect/mbarrier/state_stale_try.ev \
	testsuite/detect/mbarrier/parity_of_third_phase.ev testsuite/detect/mbarrier/peer_arrive_cta.ev \
	testsuite/detect/mbarrier/peer_cluster_cluster.ev \
	testsuite/detect/mbarrier/peer_init_not_ordered.ev testsuite/detect/mbarrier/peer_relaxed.ev \
	testsuite/detect/mbarrier/peer_relaxed_fence_cta.ev \
	testsuite/detect/mbarrier/peer_relaxed_fences.ev testsuite/detect/mbarrier/peer_said_cta_read.ev \
	testsuite/detect/mbarrier/peer_shared.ev testsuite/detect/mbarrier/peer_unsaid_bulk.ev \
	testsuite/detect/mbarrier/peer_unsaid_cp_async.ev \
	testsuite/detect/mbarrier/peer_unsaid_others_read.ev \
	testsuite/detect/mbarrier/peer_unsaid_read.ev \
	testsuite/detect/mbarrier/peer_unsaid_read_wait_cta.ev \
	testsuite/detect/mbarrier/peer_unsaid_write.ev testsuite/detect/mbarrier/peer_wait_cta.ev \
	testsuite/detect/mbarrier/peer_wait_default.ev testsuite/detect/mbarrier/phase_two_by_parity.ev \
	testsuite/detect/mbarrier/phase_unseen.ev testsuite/detect/mbarrier/read_before_wait.ev \
	testsuite/detect/mbarrier/relaxed_arrive.ev testsuite/detect/mbarrier/relaxed_arrive_fence.ev \
	testsuite/detect/mbarrier/relaxed_both_fences.ev \
	testsuite/detect/mbarrier/relaxed_both_one_fence.ev testsuite/detect/mbarrier/relaxed_wait.ev \
	testsuite/detect/mbarrier/relaxed_wait_fence.ev \
	testsuite/detect/mbarrier/release_acquire_cluster.ev \
	testsuite/detect/mbarrier/release_acquire_cta.ev \
	testsuite/detect/mbarrier/second_of_two_relaxed.ev \
	testsuite/detect/mbarrier/second_of_two_releases.ev testsuite/detect/mbarrier/second_phase.ev \
	testsuite/detect/mbarrier/second_phase_missing.ev \
	testsuite/detect/mbarrier/state_of_older_phase.ev testsuite/detect/mbarrier/store_after_inval.ev \
	testsuite/detect/mbarrier/store_before_init.ev testsuite/detect/mbarrier/store_behind_it.ev \
	testsuite/detect/mbarrier/store_over_live.ev testsuite/detect/mbarrier/store_over_second_half.ev \
	testsuite/detect/mbarrier/store_races_with_init.ev testsuite/detect/mbarrier/test_that_fails.ev \
	testsuite/detect/mbarrier/try_in_vain.ev testsuite/detect/mbarrier/two_arrivals.ev \
	testsuite/detect/mbarrier/two_copies_expected.ev \
	testsuite/detect/mbarrier/two_copies_one_expected.ev testsuite/detect/mbarrier/tx_scope_own.ev \
	testsuite/detect/mbarrier/tx_scope_peer_cluster.ev \
	testsuite/detect/mbarrier/tx_scope_peer_cta.ev \
	testsuite/detect/mbarrier/tx_scope_st_async_cluster.ev \
	testsuite/detect/mbarrier/tx_scope_st_async_cta.ev testsuite/detect/mbarrier/wait_by_state.ev \
	testsuite/detect/mbarrier/without_init_arrive.ev \
	testsuite/detect/mbarrier/without_init_complete.ev \
	testsuite/detect/mbarrier/without_init_copies.ev \
	testsuite/detect/mbarrier/without_init_expect.ev testsuite/detect/mbarrier/without_init_inval.ev \
	testsuite/detect/mbarrier/without_init_try.ev testsuite/detect/mbarrier/without_init_wait.ev \
	testsuite/detect/order/barrier_then_flag.ev testsuite/detect/order/chain_acq_rel_atom.ev \
	testsuite/detect/order/chain_acquire_by_atom.ev testsuite/detect/order/chain_atom.ev \
	testsuite/detect/order/chain_atom_narrow.ev \
	testsuite/detect/order/chain_cluster_release_in_cluster.ev \
	testsuite/detect/order/chain_cluster_release_outside.ev \
	testsuite/detect/order/chain_ends_in_red.ev testsuite/detect/order/chain_ends_in_release_atom.ev \
	testsuite/detect/order/chain_gpu_release_outside.ev testsuite/detect/order/chain_narrow_end.ev \
	testsuite/detect/order/chain_narrow_outside.ev testsuite/detect/order/chain_of_two.ev \
	testsuite/detect/order/chain_of_two_broken.ev testsuite/detect/order/chain_red.ev \
	testsuite/detect/order/chain_store.ev testsuite/detect/order/clock_equal.ev \
	testsuite/detect/order/clock_later.ev testsuite/detect/order/clock_records.ev \
	testsuite/detect/order/cut_behind_barrier.ev testsuite/detect/order/cut_race_before.ev \
	testsuite/detect/order/cut_release_kept.ev testsuite/detect/order/cut_release_lost.ev \
	testsuite/detect/order/clock_records_released.ev testsuite/detect/order/flag_in_shared.ev \
	testsuite/detect/order/flag_in_shared_block.ev testsuite/detect/order/flag_in_shared_relaxed.ev \
	testsuite/detect/order/flag_of_8_bytes.ev testsuite/detect/order/flag_of_two_sizes.ev \
	testsuite/detect/order/flag_one_thread.ev testsuite/detect/order/flag_then_barrier.ev \
	testsuite/detect/order/flag_without_barrier.ev testsuite/detect/order/last_block.ev \
	testsuite/detect/order/last_block_fences.ev testsuite/detect/order/last_block_no_second_fence.ev \
	testsuite/detect/order/last_block_one_acquires.ev \
	testsuite/detect/order/last_block_one_relaxed.ev \
	testsuite/detect/order/last_block_one_releases.ev testsuite/detect/order/lock.ev \
	testsuite/detect/order/lock_relaxed_lock.ev testsuite/detect/order/lock_relaxed_unlock.ev \
	testsuite/detect/order/mp_block_cluster.ev testsuite/detect/order/mp_block_cta.ev \
	testsuite/detect/order/mp_block_cta_to_sys.ev testsuite/detect/order/mp_block_gpu.ev \
	testsuite/detect/order/mp_block_sys.ev testsuite/detect/order/mp_block_sys_to_cta.ev \
	testsuite/detect/order/mp_cluster_cluster.ev testsuite/detect/order/mp_cluster_cluster_to_cta.ev \
	testsuite/detect/order/mp_cluster_cluster_to_sys.ev testsuite/detect/order/mp_cluster_cta.ev \
	testsuite/detect/order/mp_cluster_cta_to_cluster.ev testsuite/detect/order/mp_cluster_gpu.ev \
	testsuite/detect/order/mp_cluster_gpu_to_cluster.ev testsuite/detect/order/mp_cluster_sys.ev \
	testsuite/detect/order/mp_fence_fence.ev testsuite/detect/order/mp_fence_store.ev \
	testsuite/detect/order/mp_gpu_cluster.ev testsuite/detect/order/mp_gpu_cluster_to_gpu.ev \
	testsuite/detect/order/mp_gpu_cta.ev testsuite/detect/order/mp_gpu_cta_to_sys.ev \
	testsuite/detect/order/mp_gpu_gpu.ev testsuite/detect/order/mp_gpu_gpu_to_cluster.ev \
	testsuite/detect/order/mp_gpu_sys.ev testsuite/detect/order/mp_gpu_sys_to_gpu.ev \
	testsuite/detect/order/mp_load_fence.ev testsuite/detect/order/mp_relaxed_both.ev \
	testsuite/detect/order/mp_relaxed_load.ev testsuite/detect/order/mp_relaxed_store.ev \
	testsuite/detect/order/mp_volatile_both.ev testsuite/detect/order/mp_volatile_fences.ev \
	testsuite/detect/order/not_observed.ev testsuite/detect/order/observed_by_other_lane.ev \
	testsuite/detect/order/observed_chain.ev testsuite/detect/order/observed_chain_narrow_hop.ev \
	testsuite/detect/order/observed_goes_round.ev testsuite/detect/order/observed_older.ev \
	testsuite/detect/order/observed_other_place.ev testsuite/detect/order/observed_then_load.ev \
	testsuite/detect/order/observed_then_store.ev testsuite/detect/order/observed_this_place.ev \
	testsuite/detect/order/observed_too_narrow.ev testsuite/detect/order/observed_two_hops.ev \
	testsuite/detect/order/opaque_before_read.ev testsuite/detect/order/opaque_behind_read.ev \
	testsuite/detect/order/opaque_behind_write.ev testsuite/detect/order/opaque_both.ev \
	testsuite/detect/order/opaque_heard_before.ev testsuite/detect/order/opaque_not_told_of.ev \
	testsuite/detect/order/opaque_passed_on.ev \
	testsuite/detect/order/other_lane_reads.ev testsuite/detect/order/other_lane_wrote.ev \
	testsuite/detect/order/other_value_seen.ev testsuite/detect/order/other_word.ev \
	testsuite/detect/order/read_before_acquire.ev testsuite/detect/order/read_then_write.ev \
	testsuite/detect/order/read_then_write_relaxed.ev \
	testsuite/detect/order/relaxed_narrow_then_acquire.ev \
	testsuite/detect/order/relaxed_then_acquire.ev \
	testsuite/detect/order/relaxed_then_acquire_again.ev \
	testsuite/detect/order/relaxed_then_acquire_elsewhere.ev \
	testsuite/detect/order/relaxed_then_acquire_narrow_between.ev \
	testsuite/detect/order/relaxed_then_acquire_of_block.ev \
	testsuite/detect/order/relaxed_then_acquire_other_thread.ev \
	testsuite/detect/order/relaxed_then_acquire_other_value.ev \
	testsuite/detect/order/release_after_acquire.ev \
	testsuite/detect/order/release_before_acquire_ends.ev \
	testsuite/detect/order/release_then_relaxed.ev \
	testsuite/detect/order/release_then_relaxed_between.ev \
	testsuite/detect/order/release_then_relaxed_other.ev testsuite/detect/order/sc_atoms_met.ev \
	testsuite/detect/order/sc_both_read.ev testsuite/detect/order/sc_chain.ev \
	testsuite/detect/order/sc_chain_broken.ev testsuite/detect/order/sc_cluster_blocks.ev \
	testsuite/detect/order/sc_cluster_in_cluster.ev \
	testsuite/detect/order/sc_cta_and_gpu_in_block.ev \
	testsuite/detect/order/sc_cta_and_gpu_of_blocks.ev testsuite/detect/order/sc_cta_blocks.ev \
	testsuite/detect/order/sc_fence_behind_access.ev testsuite/detect/order/sc_gpu_and_sys.ev \
	testsuite/detect/order/sc_met_weak.ev testsuite/detect/order/sc_nothing_met.ev \
	testsuite/detect/order/sc_other_places.ev testsuite/detect/order/sc_overwrote_read.ev \
	testsuite/detect/order/sc_overwrote_read_acq_rel.ev testsuite/detect/order/sc_overwrote_write.ev \
	testsuite/detect/order/sc_overwrote_write_acq_rel.ev testsuite/detect/order/sc_read_write.ev \
	testsuite/detect/order/transitive.ev testsuite/detect/order/transitive_narrow_first.ev \
	testsuite/detect/order/transitive_narrow_hop.ev testsuite/detect/order/transitive_no_acquire.ev \
	testsuite/detect/order/cycle_write_behind.ev \
	testsuite/detect/order/transitive_no_release.ev testsuite/detect/order/write_behind_release.ev \
	testsuite/detect/order/written_over.ev \
	testsuite/detect/pdl/acquire_fence_then_trigger.ev \
	testsuite/detect/pdl/chain_let_go_before_wait.ev \
	testsuite/detect/pdl/chain_let_go_behind_wait.ev testsuite/detect/pdl/chain_nobody_waits.ev \
	testsuite/detect/pdl/chain_second_waited.ev testsuite/detect/pdl/chain_third_waits.ev \
	testsuite/detect/pdl/chain_waits.ev testsuite/detect/pdl/copy_of_predecessor.ev \
	testsuite/detect/pdl/copy_of_predecessor_no_wait.ev \
	testsuite/detect/pdl/fence_cluster_then_trigger.ev \
	testsuite/detect/pdl/fence_cta_then_trigger.ev testsuite/detect/pdl/fence_of_who_knows.ev \
	testsuite/detect/pdl/fence_sys_then_trigger.ev testsuite/detect/pdl/fence_then_trigger.ev \
	testsuite/detect/pdl/no_trigger.ev testsuite/detect/pdl/no_trigger_waits.ev \
	testsuite/detect/pdl/no_wait.ev testsuite/detect/pdl/not_early.ev \
	testsuite/detect/pdl/one_block_triggers.ev testsuite/detect/pdl/one_block_triggers_waits.ev \
	testsuite/detect/pdl/other_thread_waits.ev testsuite/detect/pdl/other_thread_waits_barrier.ev \
	testsuite/detect/pdl/overwrites.ev testsuite/detect/pdl/overwrites_waits.ev \
	testsuite/detect/pdl/reads_before_wait.ev testsuite/detect/pdl/relaxed_both.ev \
	testsuite/detect/pdl/release_is_no_fence.ev testsuite/detect/pdl/release_seen.ev \
	testsuite/detect/pdl/shared_memory_apart.ev testsuite/detect/pdl/trigger_of_other_lane.ev \
	testsuite/detect/pdl/waits.ev testsuite/detect/pdl/write_behind_trigger.ev \
	testsuite/detect/proxy/beside.ev testsuite/detect/proxy/edit_address.ev \
	testsuite/detect/proxy/edit_box.ev testsuite/detect/proxy/edit_dim.ev \
	testsuite/detect/proxy/edit_every.ev testsuite/detect/proxy/edit_rank.ev \
	testsuite/detect/proxy/edit_stride.ev testsuite/detect/proxy/edit_type.ev \
	testsuite/detect/proxy/fence_of_one_warp_before.ev \
	testsuite/detect/proxy/fence_of_one_warp_by_each.ev testsuite/detect/proxy/half_acquire_only.ev \
	testsuite/detect/proxy/half_acquire_ordered.ev testsuite/detect/proxy/half_release_only.ev \
	testsuite/detect/proxy/half_release_ordered.ev testsuite/detect/proxy/halves.ev \
	testsuite/detect/proxy/halves_global.ev testsuite/detect/proxy/halves_ordered.ev \
	testsuite/detect/proxy/halves_overwritten.ev testsuite/detect/proxy/multicast_issuer_fences.ev \
	testsuite/detect/proxy/multicast_issuer_fences_cta.ev \
	testsuite/detect/proxy/multicast_no_fence.ev testsuite/detect/proxy/multicast_reader_fences.ev \
	testsuite/detect/proxy/r10_alias_alone.ev testsuite/detect/proxy/r10_alias_and_async.ev \
	testsuite/detect/proxy/r10_alias_fenced.ev testsuite/detect/proxy/r10_alias_not_fenced.ev \
	testsuite/detect/proxy/r10_alias_other_fence.ev testsuite/detect/proxy/r10_async_alone.ev \
	testsuite/detect/proxy/r10_multimem_both.ev testsuite/detect/proxy/r10_multimem_first.ev \
	testsuite/detect/proxy/r10_multimem_first_none.ev testsuite/detect/proxy/r10_on_the_way.ev \
	testsuite/detect/proxy/r10_on_the_way_first.ev testsuite/detect/proxy/r10_on_the_way_none.ev \
	testsuite/detect/proxy/r11_cp_async.ev testsuite/detect/proxy/r11_cp_async_fenced.ev \
	testsuite/detect/proxy/r11_cp_async_read.ev testsuite/detect/proxy/r11_cp_async_read_fenced.ev \
	testsuite/detect/proxy/r11_st_bulk.ev testsuite/detect/proxy/r11_st_bulk_fenced.ev \
	testsuite/detect/proxy/r1_alias_fence.ev testsuite/detect/proxy/r1_atom.ev \
	testsuite/detect/proxy/r1_cumulative.ev testsuite/detect/proxy/r1_fence_behind_barrier.ev \
	testsuite/detect/proxy/r1_fence_too_early.ev testsuite/detect/proxy/r1_global_no_fence.ev \
	testsuite/detect/proxy/r1_global_source.ev testsuite/detect/proxy/r1_global_source_all.ev \
	testsuite/detect/proxy/r1_global_source_shared_fence.ev \
	testsuite/detect/proxy/r1_issuer_fences.ev testsuite/detect/proxy/r1_issuer_wrote.ev \
	testsuite/detect/proxy/r1_issuer_wrote_no_fence.ev testsuite/detect/proxy/r1_no_fence.ev \
	testsuite/detect/proxy/r1_no_order.ev testsuite/detect/proxy/r1_own_fence.ev \
	testsuite/detect/proxy/r1_some_fence.ev testsuite/detect/proxy/r1_space_global.ev \
	testsuite/detect/proxy/r1_space_shared_cluster.ev testsuite/detect/proxy/r1_space_shared_cta.ev \
	testsuite/detect/proxy/r1_thread_fence.ev testsuite/detect/proxy/r2_issuer_fences.ev \
	testsuite/detect/proxy/r2_mbarrier.ev testsuite/detect/proxy/r2_mbarrier_no_fence.ev \
	testsuite/detect/proxy/r2_no_fence.ev testsuite/detect/proxy/r2_no_order.ev \
	testsuite/detect/proxy/r2_own_fence.ev testsuite/detect/proxy/r3_cp_async_over_copy.ev \
	testsuite/detect/proxy/r3_not_seen.ev testsuite/detect/proxy/r3_seen.ev \
	testsuite/detect/proxy/r3_write.ev testsuite/detect/proxy/r4_fenced.ev \
	testsuite/detect/proxy/r4_not_seen.ev testsuite/detect/proxy/r4_seen.ev \
	testsuite/detect/proxy/r4_wait_group_read.ev testsuite/detect/proxy/r4_wait_group_read_fenced.ev \
	testsuite/detect/proxy/r5_completed.ev testsuite/detect/proxy/r5_under_way.ev \
	testsuite/detect/proxy/r6_completed.ev testsuite/detect/proxy/r6_fenced.ev \
	testsuite/detect/proxy/r6_fenced_by_second.ev testsuite/detect/proxy/r6_not_told.ev \
	testsuite/detect/proxy/r7_both.ev testsuite/detect/proxy/r7_fence_of_copier.ev \
	testsuite/detect/proxy/r7_fence_elsewhere_cycle.ev \
	testsuite/detect/proxy/r7_fence_of_writer.ev testsuite/detect/proxy/r7_none.ev \
	testsuite/detect/proxy/r7_other_space.ev testsuite/detect/proxy/r7_shared_copier_fences.ev \
	testsuite/detect/proxy/r7_shared_none.ev testsuite/detect/proxy/r7_shared_writer_fences.ev \
	testsuite/detect/proxy/r8_barrier.ev testsuite/detect/proxy/r8_fence.ev \
	testsuite/detect/proxy/r8_init_fence.ev testsuite/detect/proxy/r8_no_barrier.ev \
	testsuite/detect/proxy/r9_async_fence.ev testsuite/detect/proxy/r9_blocks.ev \
	testsuite/detect/proxy/r9_blocks_narrow.ev testsuite/detect/proxy/r9_cp_fenceproxy.ev \
	testsuite/detect/proxy/r9_cp_fenceproxy_no_acquire.ev \
	testsuite/detect/proxy/r9_cp_fenceproxy_own_source.ev \
	testsuite/detect/proxy/r9_cp_fenceproxy_source.ev testsuite/detect/proxy/r9_edit.ev \
	testsuite/detect/proxy/r9_no_acquire.ev testsuite/detect/proxy/r9_no_order.ev \
	testsuite/detect/proxy/r9_no_release.ev testsuite/detect/proxy/r9_other_map.ev \
	testsuite/detect/proxy/r9_own_edit.ev testsuite/detect/proxy/r9_own_edit_fenced.ev \
	testsuite/detect/proxy/r9_scope_cta.ev testsuite/detect/proxy/r9_store.ev \
	testsuite/detect/proxy/r9_store_beside.ev testsuite/detect/proxy/read_read.ev \
	testsuite/detect/proxy/waw_no_fence.ev testsuite/detect/proxy/waw_own_fence.ev \
	testsuite/detect/proxy/whole_for_release.ev testsuite/detect/proxy/write_after_fence.ev \
	testsuite/detect/tcgen05/a_cells.ev testsuite/detect/tcgen05/a_cells_beside.ev \
	testsuite/detect/tcgen05/alloc_more_later.ev testsuite/detect/tcgen05/alloc_stores_address.ev \
	testsuite/detect/tcgen05/any_synchronisation.ev \
	testsuite/detect/tcgen05/commit_before_product.ev \
	testsuite/detect/tcgen05/commit_releases_nothing.ev \
	testsuite/detect/tcgen05/commit_wait_after_ld.ev \
	testsuite/detect/tcgen05/commit_wait_no_after.ev testsuite/detect/tcgen05/cp_copies.ev \
	testsuite/detect/tcgen05/cp_one_copy.ev testsuite/detect/tcgen05/cp_other_columns.ev \
	testsuite/detect/tcgen05/cp_source_fenced.ev testsuite/detect/tcgen05/cp_source_no_fence.ev \
	testsuite/detect/tcgen05/cp_then_cp.ev testsuite/detect/tcgen05/cp_then_ld.ev \
	testsuite/detect/tcgen05/cp_then_mma.ev testsuite/detect/tcgen05/cp_then_mma_over_it.ev \
	testsuite/detect/tcgen05/cp_waited_ld.ev testsuite/detect/tcgen05/dealloc_behind.ev \
	testsuite/detect/tcgen05/dealloc_behind_product.ev \
	testsuite/detect/tcgen05/dealloc_not_ordered.ev testsuite/detect/tcgen05/dealloc_not_waited.ev \
	testsuite/detect/tcgen05/dealloc_then_alloc.ev testsuite/detect/tcgen05/dealloc_then_use.ev \
	testsuite/detect/tcgen05/dealloc_under_product.ev \
	testsuite/detect/tcgen05/freed_by_other_warp.ev \
	testsuite/detect/tcgen05/freed_each.ev \
	testsuite/detect/tcgen05/freed_twice.ev \
	testsuite/detect/tcgen05/lanes_64_left_alone.ev testsuite/detect/tcgen05/lanes_96_left_alone.ev \
	testsuite/detect/tcgen05/lanes_left_alone.ev testsuite/detect/tcgen05/lanes_not_left_alone.ev \
	testsuite/detect/tcgen05/ld_16x64b.ev testsuite/detect/tcgen05/ld_between_halves.ev \
	testsuite/detect/tcgen05/ld_columns.ev testsuite/detect/tcgen05/ld_last_column.ev \
	testsuite/detect/tcgen05/ld_ld_other_warp.ev testsuite/detect/tcgen05/ld_not_waited.ev \
	testsuite/detect/tcgen05/ld_other_columns.ev testsuite/detect/tcgen05/ld_packed.ev \
	testsuite/detect/tcgen05/ld_second_half.ev testsuite/detect/tcgen05/ld_st_other_warp.ev \
	testsuite/detect/tcgen05/ld_st_other_warp_no_wait.ev testsuite/detect/tcgen05/ld_st_own.ev \
	testsuite/detect/tcgen05/ld_st_own_waited.ev testsuite/detect/tcgen05/ld_not_waited_apart.ev \
	testsuite/detect/tcgen05/ld_waited_apart.ev testsuite/detect/tcgen05/mma_a_apart.ev \
	testsuite/detect/tcgen05/mma_reads_product_before.ev \
	testsuite/detect/tcgen05/mma_then_cp_apart.ev testsuite/detect/tcgen05/mma_then_cp_over_d.ev \
	testsuite/detect/tcgen05/mma_then_cp_over_scale.ev \
	testsuite/detect/tcgen05/not_freed.ev \
	testsuite/detect/tcgen05/used_freed.ev \
	testsuite/detect/tcgen05/used_freed_again.ev \
	testsuite/detect/tcgen05/used_freed_own.ev \
	testsuite/detect/tcgen05/used_given_again.ev \
	testsuite/detect/tcgen05/not_freed_yet.ev \
	testsuite/detect/tcgen05/not_weight_stationary.ev testsuite/detect/tcgen05/operand_b_no_fence.ev \
	testsuite/detect/tcgen05/operand_beside.ev testsuite/detect/tcgen05/operand_fenced.ev \
	testsuite/detect/tcgen05/operand_no_fence.ev testsuite/detect/tcgen05/operand_no_order.ev \
	testsuite/detect/tcgen05/other_thread_not_in_order.ev \
	testsuite/detect/uninit/barrier.ev \
	testsuite/detect/uninit/barrier_later.ev \
	testsuite/detect/uninit/blocks.ev \
	testsuite/detect/uninit/copy.ev \
	testsuite/detect/uninit/global.ev \
	testsuite/detect/uninit/later.ev \
	testsuite/detect/uninit/never.ev \
	testsuite/detect/uninit/own.ev \
	testsuite/detect/uninit/part.ev \
	testsuite/detect/uninit/parts.ev \
	testsuite/detect/uninit/race.ev \
	testsuite/detect/uninit/unknown.ev \
	testsuite/detect/uninit/update.ev \
	testsuite/detect/tcgen05/pair_left_alone.ev testsuite/detect/tcgen05/pair_left_alone_high.ev \
	testsuite/detect/tcgen05/pair_not_left_alone.ev testsuite/detect/tcgen05/pair_of_blocks.ev \
	testsuite/detect/tcgen05/pair_of_blocks_early.ev testsuite/detect/tcgen05/products_apart.ev \
	testsuite/detect/tcgen05/products_in_order.ev testsuite/detect/tcgen05/products_overlap.ev \
	testsuite/detect/tcgen05/products_shifted.ev testsuite/detect/tcgen05/refill_early.ev \
	testsuite/detect/tcgen05/refill_waited.ev testsuite/detect/tcgen05/reuse_early.ev \
	testsuite/detect/tcgen05/reuse_waited.ev testsuite/detect/tcgen05/scale_a.ev \
	testsuite/detect/tcgen05/scale_b.ev testsuite/detect/tcgen05/scale_none.ev \
	testsuite/detect/tcgen05/st_beside_d.ev testsuite/detect/tcgen05/st_ld_no_after.ev \
	testsuite/detect/tcgen05/st_ld_no_barrier.ev testsuite/detect/tcgen05/st_ld_no_before.ev \
	testsuite/detect/tcgen05/st_ld_no_wait.ev testsuite/detect/tcgen05/st_ld_other_warp.ev \
	testsuite/detect/tcgen05/st_ld_own.ev testsuite/detect/tcgen05/st_ld_own_waited.ev \
	testsuite/detect/tcgen05/st_over_d.ev testsuite/detect/tcgen05/st_st_other_warp.ev \
	testsuite/detect/tcgen05/st_wait_of_loads.ev testsuite/detect/tcgen05/tensor_memory_of_block.ev \
	testsuite/detect/tcgen05/weight_stationary.ev testsuite/detect/wgmma/newest_pending.ev \
	testsuite/detect/wgmma/newest_reused.ev testsuite/detect/wgmma/not_transposed_between.ev \
	testsuite/detect/wgmma/of_a_copy.ev testsuite/detect/wgmma/of_a_copy_early.ev \
	testsuite/detect/wgmma/operand_a_in_registers.ev testsuite/detect/wgmma/operand_b.ev \
	testsuite/detect/wgmma/operand_b_behind.ev testsuite/detect/wgmma/operand_fence_behind.ev \
	testsuite/detect/wgmma/operand_fenced.ev testsuite/detect/wgmma/operand_no_fence.ev \
	testsuite/detect/wgmma/operand_no_order.ev testsuite/detect/wgmma/other_warp_of_group_waits.ev \
	testsuite/detect/wgmma/read_of_two.ev testsuite/detect/wgmma/reuse_not_committed.ev \
	testsuite/detect/wgmma/reuse_not_waited.ev testsuite/detect/wgmma/reuse_own_warp.ev \
	testsuite/detect/wgmma/reuse_read.ev testsuite/detect/wgmma/reuse_waited.ev \
	testsuite/detect/wgmma/reuse_waited_fenced.ev testsuite/detect/wgmma/shape_k_of_bytes.ev \
	testsuite/detect/wgmma/shape_n_of_8.ev testsuite/detect/wgmma/shape_n_of_8_inside.ev \
	testsuite/detect/wgmma/swizzle_next_rows.ev testsuite/detect/wgmma/swizzle_rest_of_row.ev \
	testsuite/detect/wgmma/swizzle_row.ev testsuite/detect/wgmma/then_a_copy.ev \
	testsuite/detect/wgmma/then_a_copy_early.ev testsuite/detect/wgmma/transposed_a.ev \
	testsuite/detect/wgmma/transposed_b.ev testsuite/detect/wgmma/wait_not_told.ev \
	testsuite/detect/wgmma/not_waited_apart.ev testsuite/detect/wgmma/waited_apart.ev \
	testsuite/detect/why/acquire.ev testsuite/detect/why/both.ev testsuite/detect/why/chain.ev \
	testsuite/detect/why/completion.ev testsuite/detect/why/fence.ev \
	testsuite/detect/why/fence_elsewhere.ev testsuite/detect/why/nothing.ev \
	testsuite/detect/why/read_only.ev testsuite/detect/why/release.ev testsuite/detect/why/scope.ev \
	testsuite/detect/why/size.ev testsuite/detect/words/atom_16_bytes.ev \
	testsuite/detect/words/plain_store_between.ev \
	testsuite/detect/words/atom_2_in_4.ev testsuite/detect/words/atom_atom_gpu.ev \
	testsuite/detect/words/atom_beside.ev testsuite/detect/words/atom_cta_blocks.ev \
	testsuite/detect/words/atom_cta_warps.ev testsuite/detect/words/atom_lanes.ev \
	testsuite/detect/words/atom_ld_gpu.ev testsuite/detect/words/atom_mixed_size.ev \
	testsuite/detect/words/atom_red_gpu.ev testsuite/detect/words/atom_st_gpu.ev \
	testsuite/detect/words/atom_weak_ld.ev testsuite/detect/words/atom_weak_st.ev \
	testsuite/detect/words/before_8.ev testsuite/detect/words/beside_1.ev \
	testsuite/detect/words/beside_16.ev testsuite/detect/words/beside_2.ev \
	testsuite/detect/words/beside_4.ev testsuite/detect/words/beside_8.ev \
	testsuite/detect/words/bytes_each_lane.ev testsuite/detect/words/bytes_each_lane_more.ev \
	testsuite/detect/words/bytes_of_record.ev testsuite/detect/words/bytes_of_record_behind.ev \
	testsuite/detect/words/four_blocks_own_shared.ev testsuite/detect/words/generic_global.ev \
	testsuite/detect/words/cycle_write_of_a_lane.ev \
	testsuite/detect/words/generic_shared.ev testsuite/detect/words/generic_shared_other_offset.ev \
	testsuite/detect/words/lanes_masked_off.ev testsuite/detect/words/lanes_one_place.ev \
	testsuite/detect/words/lanes_one_place_ld.ev testsuite/detect/words/lanes_overlap.ev \
	testsuite/detect/words/lanes_own_places.ev testsuite/detect/words/ld_counts_behind_portion.ev \
	testsuite/detect/words/ld_ld_blocks.ev testsuite/detect/words/ld_st_blocks.ev \
	testsuite/detect/words/ld_update.ev testsuite/detect/words/nc_after_barrier.ev \
	testsuite/detect/words/nc_after_bulk.ev testsuite/detect/words/nc_beside_st.ev \
	testsuite/detect/words/nc_ld_ld.ev testsuite/detect/words/nc_ld_st.ev \
	testsuite/detect/words/nc_next_kernel.ev testsuite/detect/words/nc_own_st.ev \
	testsuite/detect/words/nc_same_kernel.ev testsuite/detect/words/nc_then_barrier_then_beside.ev \
	testsuite/detect/words/nc_then_barrier_then_st.ev \
	testsuite/detect/words/nc_then_next_kernel_st.ev testsuite/detect/words/other_value.ev \
	testsuite/detect/words/other_value_one_lane.ev testsuite/detect/words/overlap_last_byte_1.ev \
	testsuite/detect/words/overlap_last_byte_16.ev testsuite/detect/words/overlap_last_byte_2.ev \
	testsuite/detect/words/overlap_last_byte_4.ev testsuite/detect/words/overlap_last_byte_8.ev \
	testsuite/detect/words/plain_after_barrier.ev testsuite/detect/words/red_atom_gpu.ev \
	testsuite/detect/words/red_beside.ev testsuite/detect/words/red_blocks.ev \
	testsuite/detect/words/red_cta_blocks.ev testsuite/detect/words/red_cta_warps.ev \
	testsuite/detect/words/red_ld_gpu.ev testsuite/detect/words/red_mixed_size.ev \
	testsuite/detect/words/red_red_gpu.ev testsuite/detect/words/red_st_gpu.ev \
	testsuite/detect/words/red_weak_ld.ev testsuite/detect/words/red_weak_st.ev \
	testsuite/detect/words/relaxed_block_cluster.ev testsuite/detect/words/relaxed_block_cta.ev \
	testsuite/detect/words/relaxed_block_gpu.ev testsuite/detect/words/relaxed_block_sys.ev \
	testsuite/detect/words/relaxed_cluster_and_gpu.ev \
	testsuite/detect/words/relaxed_cluster_cluster.ev testsuite/detect/words/relaxed_cluster_cta.ev \
	testsuite/detect/words/relaxed_cluster_gpu.ev testsuite/detect/words/relaxed_cluster_sys.ev \
	testsuite/detect/words/relaxed_gpu_cluster.ev testsuite/detect/words/relaxed_gpu_cta.ev \
	testsuite/detect/words/relaxed_gpu_gpu.ev testsuite/detect/words/relaxed_gpu_sys.ev \
	testsuite/detect/words/relaxed_ld_weak_st.ev testsuite/detect/words/relaxed_misplaced.ev \
	testsuite/detect/words/relaxed_mixed_size.ev testsuite/detect/words/relaxed_one_side_narrow.ev \
	testsuite/detect/words/relaxed_other_side_narrow.ev testsuite/detect/words/relaxed_st_st.ev \
	testsuite/detect/words/relaxed_st_weak_ld.ev testsuite/detect/words/relaxed_vector_elements.ev \
	testsuite/detect/words/relaxed_vector_left_out.ev \
	testsuite/detect/words/relaxed_vector_other_size.ev \
	testsuite/detect/words/release_acquire_word.ev testsuite/detect/words/same_value.ev \
	testsuite/detect/words/same_value_each_lane.ev testsuite/detect/words/same_value_read.ev \
	testsuite/detect/words/scatter_apart.ev testsuite/detect/words/scatter_meets.ev \
	testsuite/detect/words/shared_of_each_block.ev testsuite/detect/words/spaces_apart.ev \
	testsuite/detect/words/st_ld_blocks.ev testsuite/detect/words/st_ld_lanes.ev \
	testsuite/detect/words/st_ld_thread.ev testsuite/detect/words/st_ld_warps.ev \
	testsuite/detect/words/st_nc_ld.ev testsuite/detect/words/st_st_blocks.ev \
	testsuite/detect/words/stride_4_same_lane.ev testsuite/detect/words/stride_8_of_4.ev \
	testsuite/detect/words/stride_8_of_8.ev testsuite/detect/words/stride_other_place.ev \
	testsuite/detect/words/two_blocks_one_place.ev testsuite/detect/words/update_ld.ev \
	testsuite/detect/words/update_update.ev testsuite/detect/words/value_unknown.ev \
	testsuite/detect/words/vector_behind.ev testsuite/detect/words/vector_last_element.ev \
	testsuite/detect/words/vector_left_out.ev testsuite/detect/words/vector_load_left_out.ev \
	testsuite/detect/words/vector_not_left_out.ev testsuite/detect/words/vector_pair_8.ev \
	testsuite/detect/words/vector_wide.ev testsuite/detect/words/volatile_both.ev \
	testsuite/detect/words/volatile_relaxed_cta.ev testsuite/detect/words/volatile_weak.ev \
	testsuite/detect/words/weak_ld_relaxed_st.ev testsuite/detect/words/weak_st_relaxed_ld.ev
