# SPDX-License-Identifier: Apache-2.0
#
# gsan-check.  What it shares with the runtime is compiled for it alone: libgsan.a brings hooks in front of the driver.

bin_PROGRAMS += gsan-check
check_judges = rt/alloc.c rt/demangle.c rt/flags.c rt/found.c rt/locate.c rt/log.c rt/print.c rt/supp.c rt/tell.c rt/units.c \
	rt/util.c rt/verdict.c rt/why.c
gsan_check_SOURCES = check/check.h check/judge.c check/log.c check/main.c check/read.c check/source.c check/text.c log/file.c \
	$(check_judges)
gsan_check_CFLAGS = $(AM_CFLAGS) $(UNPACK_CFLAGS)
gsan_check_LDADD = detect/libdetect.a event/libevent.a $(UNPACK_LIBS)

# Logs that are made and judged again.
check_tests = testsuite/check/same.sh testsuite/check/programs.sh testsuite/check/file.sh
dist_check_SCRIPTS += $(check_tests)
EXTRA_DIST += testsuite/check/lib.sh
TESTS += $(check_tests)

# Logs that are kept here, with their verdicts.
TESTS += testsuite/logs.sh
EXTRA_DIST += testsuite/logs testsuite/logs.sh
