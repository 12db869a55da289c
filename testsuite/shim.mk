# SPDX-License-Identifier: Apache-2.0
#
# Tests of nvcc-shim, and of build systems that call it (project.sh).  Those that include stub.sh bring a rewriter and a runtime of
# their own that only leave marks, so they need nothing but the two wrappers and
# nvcc; the others take all parts as they are.

shim_tests = \
	testsuite/shim/cmake.sh \
	testsuite/shim/fallback.sh \
	testsuite/shim/link.sh \
	testsuite/shim/files.sh \
	testsuite/shim/make.sh \
	testsuite/shim/matrix.sh \
	testsuite/shim/meson.sh \
	testsuite/shim/noise.sh \
	testsuite/shim/nvcc.sh \
	testsuite/shim/options.sh \
	testsuite/shim/ptxas.sh \
	testsuite/shim/rdc.sh \
	testsuite/shim/setuptools.sh \
	testsuite/shim/shared.sh
dist_check_SCRIPTS += $(shim_tests)
TESTS += $(shim_tests)
EXTRA_DIST += testsuite/shim/project.sh testsuite/shim/stub.sh
