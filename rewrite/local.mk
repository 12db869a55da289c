# SPDX-License-Identifier: Apache-2.0
#
# librewrite (the passes), gsan-ptx (their command line), and the tests of both.

noinst_LIBRARIES += rewrite/librewrite.a
rewrite_librewrite_a_SOURCES = \
	rewrite/pass.c rewrite/resolve.c rewrite/rewrite.h rewrite/rw.h rewrite/site.c \
	rewrite/space.c rewrite/tables.c rewrite/text.c

bin_PROGRAMS += gsan-ptx
gsan_ptx_SOURCES = rewrite/file.c rewrite/main.c rewrite/origin.c \
	rewrite/phase.c rewrite/said.c rewrite/wrap.c
gsan_ptx_LDADD = rewrite/librewrite.a probe/libprobe.a event/libevent.a ptxparse/libptxparse.a

rewrite_tests = \
	testsuite/gsan-ptx.sh \
	testsuite/includes.sh \
	testsuite/rewrite.sh
dist_check_SCRIPTS += $(rewrite_tests)
TESTS += $(rewrite_tests)
EXTRA_DIST += \
	testsuite/rewrite/async.exp testsuite/rewrite/async.ptx \
	testsuite/rewrite/barrier.exp testsuite/rewrite/barrier.ptx \
	testsuite/rewrite/callseq.exp testsuite/rewrite/callseq.ptx \
	testsuite/rewrite/elide.exp testsuite/rewrite/elide.ptx \
	testsuite/rewrite/exits.exp testsuite/rewrite/exits.ptx \
	testsuite/rewrite/func.exp testsuite/rewrite/func.ptx \
	testsuite/rewrite/globals.exp testsuite/rewrite/globals.ptx \
	testsuite/rewrite/guarded.exp testsuite/rewrite/guarded.ptx \
	testsuite/rewrite/kernel.exp testsuite/rewrite/kernel.ptx \
	testsuite/rewrite/lineinfo.exp testsuite/rewrite/lineinfo.ptx \
	testsuite/rewrite/matrix.exp testsuite/rewrite/matrix.ptx \
	testsuite/rewrite/matrix8.exp testsuite/rewrite/matrix8.ptx \
	testsuite/rewrite/old.exp testsuite/rewrite/old.ptx \
	testsuite/rewrite/pragma.exp testsuite/rewrite/pragma.ptx \
	testsuite/rewrite/products.exp testsuite/rewrite/products.ptx \
	testsuite/rewrite/scopes.exp testsuite/rewrite/scopes.ptx \
	testsuite/rewrite/spaces.exp testsuite/rewrite/spaces.ptx \
	testsuite/rewrite/strong.exp testsuite/rewrite/strong.ptx \
	testsuite/rewrite/tcgen05.exp testsuite/rewrite/tcgen05.ptx \
	testsuite/rewrite/tensor.exp testsuite/rewrite/tensor.ptx \
	testsuite/rewrite/unknown.exp testsuite/rewrite/unknown.ptx \
	testsuite/rewrite/unmodelled.exp testsuite/rewrite/unmodelled.ptx \
	testsuite/rewrite/weak.exp testsuite/rewrite/weak.ptx
