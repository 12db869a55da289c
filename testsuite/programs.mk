# SPDX-License-Identifier: Apache-2.0
#
# Programs of the CUDA runtime on the emulated device (testsuite/programs.sh), its runtime as
# programs of several versions of CUDA see it, and a newcomer's first hour.  testsuite/programs/lists.sh holds the list
# against the folder.

program_tests = \
	testsuite/programs/async_copy.cu \
	testsuite/programs/blocked_signals.cu \
	testsuite/programs/blocking_copies.cu \
	testsuite/programs/boxes.cu \
	testsuite/programs/calls.cu \
	testsuite/programs/capture.cu \
	testsuite/programs/cluster.cu \
	testsuite/programs/cooperative.cu \
	testsuite/programs/copy3d.cu \
	testsuite/programs/device.cu \
	testsuite/programs/download.cu \
	testsuite/programs/elapsed.cu \
	testsuite/programs/end.cu \
	testsuite/programs/errors.cu \
	testsuite/programs/freed.cu \
	testsuite/programs/freed_module.cu \
	testsuite/programs/freed_place.cu \
	testsuite/programs/graph_branches.cu \
	testsuite/programs/graph_events.cu \
	testsuite/programs/graph_nodes.cu \
	testsuite/programs/guards_end.cu \
	testsuite/programs/histogram.cu \
	testsuite/programs/host_flag.cu \
	testsuite/programs/host_function.cu \
	testsuite/programs/host_passes_on.cu \
	testsuite/programs/implicit.cu \
	testsuite/programs/lock.cu \
	testsuite/programs/managed.cu \
	testsuite/programs/managed_early.cu \
	testsuite/programs/managed_moved.cu \
	testsuite/programs/memset.cu \
	testsuite/programs/memset_locked.cu \
	testsuite/programs/null_event.cu \
	testsuite/programs/null_stream.cu \
	testsuite/programs/nvrtc.cu \
	testsuite/programs/optin.cu \
	testsuite/programs/own_handler.cu \
	testsuite/programs/pageable.cu \
	testsuite/programs/parts.cu \
	testsuite/programs/per_thread.cu \
	testsuite/programs/pinned.cu \
	testsuite/programs/pitched.cu \
	testsuite/programs/pool_again.cu \
	testsuite/programs/pool_alloc.cu \
	testsuite/programs/pool_free.cu \
	testsuite/programs/pools.cu \
	testsuite/programs/printing.cu \
	testsuite/programs/query.cu \
	testsuite/programs/race_after_many.cu \
	testsuite/programs/race_async_copy.cu \
	testsuite/programs/race_boxes.cu \
	testsuite/programs/race_cluster.cu \
	testsuite/programs/race_counter.cu \
	testsuite/programs/race_download.cu \
	testsuite/programs/race_end.cu \
	testsuite/programs/race_flag.cu \
	testsuite/programs/race_freed.cu \
	testsuite/programs/race_freed_event.cu \
	testsuite/programs/race_graph.cu \
	testsuite/programs/race_graph_branches.cu \
	testsuite/programs/race_graph_copy.cu \
	testsuite/programs/race_graph_event.cu \
	testsuite/programs/race_host_passes_on.cu \
	testsuite/programs/race_implicit.cu \
	testsuite/programs/race_last_warp.cu \
	testsuite/programs/race_lock.cu \
	testsuite/programs/race_managed_early.cu \
	testsuite/programs/race_managed_moved.cu \
	testsuite/programs/race_memset.cu \
	testsuite/programs/race_memset_locked.cu \
	testsuite/programs/race_next_step.cu \
	testsuite/programs/race_null_event.cu \
	testsuite/programs/race_pageable.cu \
	testsuite/programs/race_parts.cu \
	testsuite/programs/race_parts_freed.cu \
	testsuite/programs/race_pitched.cu \
	testsuite/programs/race_pool_alloc.cu \
	testsuite/programs/race_pool_free.cu \
	testsuite/programs/race_query.cu \
	testsuite/programs/race_read_into.cu \
	testsuite/programs/race_reverse.cu \
	testsuite/programs/race_scope.cu \
	testsuite/programs/race_staging.cu \
	testsuite/programs/race_stream_query.cu \
	testsuite/programs/race_struct.cu \
	testsuite/programs/race_threads.cu \
	testsuite/programs/race_tile.cu \
	testsuite/programs/race_upload.cu \
	testsuite/programs/race_zero_copy.cu \
	testsuite/programs/read_into.cu \
	testsuite/programs/reduce.cu \
	testsuite/programs/refused.cu \
	testsuite/programs/ring.cu \
	testsuite/programs/staging.cu \
	testsuite/programs/stream_query.cu \
	testsuite/programs/streams.cu \
	testsuite/programs/struct.cu \
	testsuite/programs/symbols.cu \
	testsuite/programs/threads.cu \
	testsuite/programs/tile.cu \
	testsuite/programs/transpose.cu \
	testsuite/programs/upload.cu \
	testsuite/programs/vecadd.cu \
	testsuite/programs/zero_copy.cu
TESTS += $(program_tests) testsuite/newcomer.sh testsuite/programs/lists.sh \
	testsuite/cudart/versions.sh testsuite/cudart/images.sh
EXTRA_DIST += testsuite/newcomer.sh testsuite/programs.sh testsuite/programs/check.h \
	testsuite/programs/lists.sh $(program_tests) \
	testsuite/cudart/versions.sh testsuite/cudart/images.sh testsuite/cudart/versions.c testsuite/cudart/kernel.cu
