# SPDX-License-Identifier: Apache-2.0
#
# librewrite (the passes), gsan-ptx (their command line), and the tests of both.
# The device runtime's PTX becomes a part of the library.

noinst_LIBRARIES += rewrite/librewrite.a
rewrite_librewrite_a_SOURCES = \
	rewrite/asked.c rewrite/async.c rewrite/attach.c rewrite/call.c rewrite/call.h rewrite/calls.def rewrite/cfg.c \
	rewrite/class.c rewrite/elide.c rewrite/insert.c rewrite/join.c rewrite/pass.c rewrite/quirk.c rewrite/resolve.c \
	rewrite/rewrite.h rewrite/rules.def rewrite/rw.h rewrite/site.c \
	rewrite/space.c rewrite/tables.c rewrite/tcgen05.c rewrite/text.c rewrite/value.c
nodist_rewrite_librewrite_a_SOURCES = rewrite/runtime.c

bin_PROGRAMS += gsan-ptx
gsan_ptx_SOURCES = rewrite/file.c rewrite/main.c rewrite/origin.c \
	rewrite/phase.c rewrite/said.c rewrite/wrap.c
gsan_ptx_LDADD = rewrite/librewrite.a probe/libprobe.a event/libevent.a ptxparse/libptxparse.a

# Takes the runtime's PTX apart at build time, with the parser.
noinst_PROGRAMS += rewrite/embed
rewrite_embed_SOURCES = rewrite/embed.c
rewrite_embed_LDADD = ptxparse/libptxparse.a

CLEANFILES += rewrite/runtime.c
rewrite/runtime.c: rewrite/embed$(EXEEXT) rt/device/runtime.ptx rt/device/runtime_sm90.ptx
	$(AM_V_GEN)rewrite/embed$(EXEEXT) rt/device/runtime.ptx rt/device/runtime_sm90.ptx \
		>$@.tmp && mv $@.tmp $@

rewrite_tests = \
	testsuite/gsan-ptx.sh \
	testsuite/includes.sh \
	testsuite/rewrite.sh
dist_check_SCRIPTS += $(rewrite_tests)
# What is expected is what probes log.
if ENGINE_PROBES
TESTS += $(rewrite_tests)
else
TESTS += testsuite/includes.sh
endif
EXTRA_DIST += \
	testsuite/rewrite/async.exp testsuite/rewrite/async.ptx \
	testsuite/rewrite/barrier.exp testsuite/rewrite/barrier.ptx \
	testsuite/rewrite/callseq.exp testsuite/rewrite/callseq.ptx \
	testsuite/rewrite/derive.exp testsuite/rewrite/derive.ptx testsuite/rewrite/elide.exp testsuite/rewrite/elide.ptx \
	testsuite/rewrite/join.exp testsuite/rewrite/join.ptx \
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
	testsuite/rewrite/scopes.exp testsuite/rewrite/scopes.ptx \
	testsuite/rewrite/spaces.exp testsuite/rewrite/spaces.ptx \
	testsuite/rewrite/strong.exp testsuite/rewrite/strong.ptx \
	testsuite/rewrite/tcgen05.exp testsuite/rewrite/tcgen05.ptx \
	testsuite/rewrite/tensor.exp testsuite/rewrite/tensor.ptx \
	testsuite/rewrite/unknown.exp testsuite/rewrite/unknown.ptx \
	testsuite/rewrite/unmodelled.exp testsuite/rewrite/unmodelled.ptx \
	testsuite/rewrite/weak.exp testsuite/rewrite/weak.ptx
