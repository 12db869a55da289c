# SPDX-License-Identifier: Apache-2.0
#
# Kernels in the style of CUTLASS, with mutants: on the emulated device as tests
# (testsuite/kernels.sh), on a GPU by run.sh and as a part of `make bench`.

kernel_tests = \
	testsuite/kernels/attention.cu \
	testsuite/kernels/elementwise.cu \
	testsuite/kernels/gemm.cu \
	testsuite/kernels/multicast.cu
TESTS += $(kernel_tests)
EXTRA_DIST += testsuite/kernels.sh testsuite/kernels/run.sh testsuite/kernels/lib.sh \
	testsuite/kernels/host.h testsuite/kernels/ptx.cuh testsuite/kernels/product.cuh $(kernel_tests)

# Kernels with mutants (testsuite/slice.sh).
slice_tests = \
	testsuite/slice/histogram.cu \
	testsuite/slice/matmul.cu \
	testsuite/slice/triad.cu \
	testsuite/slice/twins.cu
TESTS += $(slice_tests) testsuite/slice/gemm.sh \
	testsuite/stress/calls.sh \
	testsuite/stress/full.sh \
	testsuite/stress/flood.sh \
	testsuite/stress/lanes.sh \
	testsuite/stress/polls.sh testsuite/stress/masks.sh \
	testsuite/stress/records.sh \
	testsuite/stress/rings.sh testsuite/stress/tiles.sh \
	testsuite/stress/shapes.sh
EXTRA_DIST += testsuite/slice.sh testsuite/slice/gemm.sh $(slice_tests) \
	testsuite/bench/slice.cu testsuite/bench/slice.sh testsuite/bench/tables.h \
	testsuite/stress/called.cu testsuite/stress/calls.sh \
	testsuite/stress/clocks.cu testsuite/stress/drain.cu \
	testsuite/stress/fill.cu testsuite/stress/managed.cu testsuite/stress/full.py testsuite/stress/full.sh testsuite/stress/flood.sh \
	testsuite/stress/lanes.py testsuite/stress/lanes.sh testsuite/stress/ways.cu \
	testsuite/stress/waiters.ptx testsuite/stress/polls.sh testsuite/stress/masks.sh \
	testsuite/stress/records.py testsuite/stress/records.sh testsuite/stress/rmw.ptx \
	testsuite/stress/rings.py testsuite/stress/rings.sh testsuite/stress/tiles.py testsuite/stress/tiles.sh \
	testsuite/stress/shapes.py testsuite/stress/shapes.sh
