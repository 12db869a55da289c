# SPDX-License-Identifier: Apache-2.0
#
# CUDA programs that run on a GPU (testsuite/gpu.sh); without one each is
# skipped.

gpu_tests = \
	testsuite/gpu/blocks.cu \
	testsuite/gpu/driver.cu \
	testsuite/gpu/flood.cu \
	testsuite/gpu/matmul.cu \
	testsuite/gpu/merge.cu \
	testsuite/gpu/radix.cu \
	testsuite/gpu/scan.cu \
	testsuite/gpu/scope.cu \
	testsuite/gpu/solver.cu \
	testsuite/gpu/syncthreads.cu \
	testsuite/gpu/threadfence.cu
TESTS += $(gpu_tests)
EXTRA_DIST += testsuite/gpu.sh testsuite/gpu-run.sh testsuite/stuck.sh testsuite/gpu/common.h \
	testsuite/gpu/kernel.cu $(gpu_tests)
