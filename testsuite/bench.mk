# SPDX-License-Identifier: Apache-2.0
#
# `make bench`: numbers, not verdicts; no part of `make check`.

EXTRA_PROGRAMS += testsuite/bench/text
CLEANFILES += testsuite/bench/text
testsuite_bench_text_SOURCES = testsuite/bench/text.c
testsuite_bench_text_LDADD = rewrite/librewrite.a probe/libprobe.a event/libevent.a ptxparse/libptxparse.a
EXTRA_DIST += testsuite/bench/cpu.sh testsuite/bench/gpu.sh testsuite/bench/host.cu testsuite/bench/host.sh testsuite/bench/kernels.cu testsuite/bench/typical.cu \
	testsuite/bench/measure.h

.PHONY: bench bench-cpu bench-gpu
bench: bench-cpu bench-gpu
bench-cpu: all testsuite/bench/text
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(top_srcdir)/testsuite/bench/cpu.sh
bench-gpu: all testsuite/rt/calls testsuite/rt/calls_plain testsuite/rt/libcuda.so.1
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(top_srcdir)/testsuite/bench/gpu.sh || test $$? = 77
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(top_srcdir)/testsuite/bench/host.sh || test $$? = 77
