# SPDX-License-Identifier: Apache-2.0
#
# Fuzz targets.  Every build has them over drive.c, as tests that try what was
# found, the seeds and inputs made of those; with --enable-fuzz also as libFuzzer
# programs, which `make fuzz` runs for FUZZ_SECONDS each.

fuzz_parts = testsuite/fuzz/fuzz.c testsuite/fuzz/fuzz.h testsuite/fuzz/mutate.c
fuzz_parse_parts = testsuite/fuzz/parse.c $(fuzz_parts) \
	testsuite/fuzz/same.c testsuite/fuzz/same.h
fuzz_rewrite_parts = testsuite/fuzz/rewrite.c $(fuzz_parts)
fuzz_script_parts = testsuite/fuzz/script.c $(fuzz_parts) \
	run/check.c run/script.c run/tmap.c run/words.c
fuzz_flags_parts = testsuite/fuzz/flags.c $(fuzz_parts) \
	rt/flags.c rt/log.c rt/util.c
# Without libgsan.a, whose dlsym stands in front of the C library's.
fuzz_supp_parts = testsuite/fuzz/supp.c $(fuzz_parts) \
	rt/demangle.c rt/flags.c rt/log.c rt/supp.c rt/util.c

fuzz_events_parts = testsuite/fuzz/events.c $(fuzz_parts)
fuzz_ev_parts = testsuite/fuzz/ev.c $(fuzz_parts) \
	testsuite/detect/ev.c testsuite/detect/ev.h
fuzz_detect_parts = testsuite/fuzz/detect.c $(fuzz_parts) \
	testsuite/detect/ev.c testsuite/detect/ev.h
# As gsan-check is made, but for its command line.
fuzz_log_parts = testsuite/fuzz/log.c $(fuzz_parts) check/check.h check/judge.c check/log.c check/read.c check/source.c check/text.c \
	log/file.c $(check_judges)

fuzz_tests = testsuite/fuzz/parse testsuite/fuzz/rewrite testsuite/fuzz/script \
	testsuite/fuzz/flags testsuite/fuzz/supp testsuite/fuzz/events \
	testsuite/fuzz/ev testsuite/fuzz/detect testsuite/fuzz/log
check_PROGRAMS += $(fuzz_tests)
TESTS += $(fuzz_tests)
testsuite_fuzz_parse_SOURCES = $(fuzz_parse_parts) testsuite/fuzz/drive.c
testsuite_fuzz_parse_LDADD = ptxparse/libptxparse.a
testsuite_fuzz_rewrite_SOURCES = $(fuzz_rewrite_parts) testsuite/fuzz/drive.c
testsuite_fuzz_rewrite_LDADD = rewrite/librewrite.a probe/libprobe.a event/libevent.a ptxparse/libptxparse.a
testsuite_fuzz_script_SOURCES = $(fuzz_script_parts) testsuite/fuzz/drive.c
testsuite_fuzz_flags_SOURCES = $(fuzz_flags_parts) testsuite/fuzz/drive.c
testsuite_fuzz_supp_SOURCES = $(fuzz_supp_parts) testsuite/fuzz/drive.c
testsuite_fuzz_events_SOURCES = $(fuzz_events_parts) testsuite/fuzz/drive.c
testsuite_fuzz_events_LDADD = event/libevent.a
testsuite_fuzz_ev_SOURCES = $(fuzz_ev_parts) testsuite/fuzz/drive.c
testsuite_fuzz_ev_LDADD = event/libevent.a
testsuite_fuzz_detect_SOURCES = $(fuzz_detect_parts) testsuite/fuzz/drive.c
testsuite_fuzz_detect_LDADD = detect/libdetect.a event/libevent.a
testsuite_fuzz_log_SOURCES = $(fuzz_log_parts) testsuite/fuzz/drive.c
testsuite_fuzz_log_CFLAGS = $(AM_CFLAGS) $(UNPACK_CFLAGS)
testsuite_fuzz_log_LDADD = detect/libdetect.a event/libevent.a $(UNPACK_LIBS)

if FUZZ
fuzz_programs = testsuite/fuzz/long_parse testsuite/fuzz/long_rewrite \
	testsuite/fuzz/long_script testsuite/fuzz/long_flags testsuite/fuzz/long_supp \
	testsuite/fuzz/long_events testsuite/fuzz/long_ev testsuite/fuzz/long_detect testsuite/fuzz/long_log
noinst_PROGRAMS += $(fuzz_programs)
fuzz_ldflags = $(AM_LDFLAGS) -fsanitize=fuzzer
testsuite_fuzz_long_parse_SOURCES = $(fuzz_parse_parts)
testsuite_fuzz_long_parse_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_long_parse_LDADD = ptxparse/libptxparse.a
testsuite_fuzz_long_rewrite_SOURCES = $(fuzz_rewrite_parts)
testsuite_fuzz_long_rewrite_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_long_rewrite_LDADD = rewrite/librewrite.a probe/libprobe.a event/libevent.a ptxparse/libptxparse.a
testsuite_fuzz_long_script_SOURCES = $(fuzz_script_parts)
testsuite_fuzz_long_script_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_long_flags_SOURCES = $(fuzz_flags_parts)
testsuite_fuzz_long_flags_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_long_supp_SOURCES = $(fuzz_supp_parts)
testsuite_fuzz_long_supp_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_long_events_SOURCES = $(fuzz_events_parts)
testsuite_fuzz_long_events_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_long_events_LDADD = event/libevent.a
testsuite_fuzz_long_ev_SOURCES = $(fuzz_ev_parts)
testsuite_fuzz_long_ev_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_long_ev_LDADD = event/libevent.a
testsuite_fuzz_long_detect_SOURCES = $(fuzz_detect_parts)
testsuite_fuzz_long_detect_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_long_detect_LDADD = detect/libdetect.a event/libevent.a
testsuite_fuzz_long_log_SOURCES = $(fuzz_log_parts)
testsuite_fuzz_long_log_CFLAGS = $(AM_CFLAGS) $(UNPACK_CFLAGS)
testsuite_fuzz_long_log_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_long_log_LDADD = detect/libdetect.a event/libevent.a $(UNPACK_LIBS)
endif

FUZZ_SECONDS = 600
.PHONY: fuzz
fuzz: $(fuzz_programs)
	@test -n '$(fuzz_programs)' || { echo 'configure with CC=clang --enable-fuzz' >&2; exit 1; }
	$(SHELL) $(top_srcdir)/testsuite/fuzz/long.sh $(top_srcdir) $(FUZZ_SECONDS) $(FUZZ_TARGETS)

EXTRA_DIST += testsuite/fuzz/long.sh testsuite/fuzz/corpus testsuite/fuzz/found
