# SPDX-License-Identifier: Apache-2.0
#
# gsan-run.  It is a sanitized program like any other: libgsan.a brings its own
# dlsym, which puts the runtime between gsan-run and the driver.

bin_PROGRAMS += gsan-run
gsan_run_SOURCES = \
	run/run.h run/judge.h run/script.h run/check.c run/cut.c run/driver.c run/events.c run/frameworks.c run/hint.c run/judge.c run/part.c \
	run/launch.c run/main.c run/oracle.c run/oracle_host.c run/probes.c run/proc.c run/program.c \
	run/script.c run/tmap.c run/words.c
gsan_run_CPPFLAGS = $(AM_CPPFLAGS) -DHAVE_CONFIG_H -DPKGLIBDIR='"$(pkglibdir)"' -DLIBDIR='"$(libdir)"'
gsan_run_LDADD = log/liblog.a detect/libdetect.a rewrite/librewrite.a probe/libprobe.a event/libevent.a ptxparse/libptxparse.a libgsan.a

if HAVE_CMOCKA
check_PROGRAMS += testsuite/unit/run_check
TESTS += testsuite/unit/run_check
testsuite_unit_run_check_SOURCES = testsuite/unit/run_check.c run/check.c run/script.c \
	run/tmap.c run/words.c
testsuite_unit_run_check_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_run_check_LDADD = $(CMOCKA_LIBS)
endif
