# SPDX-License-Identifier: Apache-2.0
#
# What a log holds: the contract between who logs and who judges.

noinst_LIBRARIES += event/libevent.a
event_libevent_a_SOURCES = event/event.def event/event.h event/fatbin.h event/module.h event/record.h event/region.h \
	event/event.c event/hang.c event/hang.h event/print.c

if HAVE_CMOCKA
check_PROGRAMS += testsuite/unit/hang
TESTS += testsuite/unit/hang
testsuite_unit_hang_SOURCES = testsuite/unit/hang.c
testsuite_unit_hang_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_hang_LDADD = event/libevent.a $(CMOCKA_LIBS)
endif
