# SPDX-License-Identifier: Apache-2.0
#
# Tests of nvcc-shim.  They bring a rewriter and a runtime of their own that
# only leave marks, so they need nothing but the two wrappers and nvcc.

shim_tests = \
	testsuite/shim/cmake.sh \
	testsuite/shim/nvcc.sh \
	testsuite/shim/options.sh \
	testsuite/shim/ptxas.sh
dist_check_SCRIPTS += $(shim_tests)
TESTS += $(shim_tests)
EXTRA_DIST += testsuite/shim/stub.sh
