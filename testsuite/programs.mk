# SPDX-License-Identifier: Apache-2.0
#
# Programs of the CUDA runtime on the emulated device (testsuite/programs.sh), its runtime as
# programs of several versions of CUDA see it, and a newcomer's first hour.  testsuite/programs/lists.sh holds the list
# against the folder.

program_tests = \
	testsuite/programs/async_copy.cu \
	testsuite/programs/calls.cu \
	testsuite/programs/capture.cu \
	testsuite/programs/cluster.cu \
	testsuite/programs/cooperative.cu \
	testsuite/programs/copy3d.cu \
	testsuite/programs/device.cu \
	testsuite/programs/errors.cu \
	testsuite/programs/graph_nodes.cu \
	testsuite/programs/histogram.cu \
	testsuite/programs/lock.cu \
	testsuite/programs/managed.cu \
	testsuite/programs/nvrtc.cu \
	testsuite/programs/optin.cu \
	testsuite/programs/per_thread.cu \
	testsuite/programs/pinned.cu \
	testsuite/programs/pools.cu \
	testsuite/programs/printing.cu \
	testsuite/programs/race_async_copy.cu \
	testsuite/programs/race_cluster.cu \
	testsuite/programs/race_counter.cu \
	testsuite/programs/race_flag.cu \
	testsuite/programs/race_graph.cu \
	testsuite/programs/race_last_warp.cu \
	testsuite/programs/race_lock.cu \
	testsuite/programs/race_next_step.cu \
	testsuite/programs/race_reverse.cu \
	testsuite/programs/race_scope.cu \
	testsuite/programs/race_tile.cu \
	testsuite/programs/reduce.cu \
	testsuite/programs/refused.cu \
	testsuite/programs/streams.cu \
	testsuite/programs/symbols.cu \
	testsuite/programs/tile.cu \
	testsuite/programs/transpose.cu \
	testsuite/programs/vecadd.cu
TESTS += $(program_tests) testsuite/newcomer.sh testsuite/programs/lists.sh \
	testsuite/cudart/versions.sh testsuite/cudart/images.sh
EXTRA_DIST += testsuite/newcomer.sh testsuite/programs.sh testsuite/programs/check.h \
	testsuite/programs/lists.sh $(program_tests) \
	testsuite/cudart/versions.sh testsuite/cudart/images.sh testsuite/cudart/versions.c testsuite/cudart/kernel.cu
