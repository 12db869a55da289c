# SPDX-License-Identifier: Apache-2.0
#
# Logs written as text, with their verdicts.

check_PROGRAMS += testsuite/detect/judge
testsuite_detect_judge_SOURCES = testsuite/detect/judge.c testsuite/detect/ev.c testsuite/detect/ev.h
testsuite_detect_judge_LDADD = detect/libdetect.a event/libevent.a

TESTS += testsuite/cxx.sh
EXTRA_DIST += testsuite/cxx.sh
