# SPDX-License-Identifier: Apache-2.0
#
# The detector: from a log to findings.  It links into users' programs: of its names only those
# of detect.h are seen from outside.

noinst_LIBRARIES += detect/libparts.a
detect_sources = detect/detect.h detect/impl.h detect/memory.h detect/word.h detect/access.c detect/alone.c detect/async.c detect/barrier.c \
	detect/bounds.h detect/cell.c detect/closure.c detect/deeds.c detect/detect.c detect/fence.c detect/finding.c \
	detect/forms.c detect/global.c detect/graph.c detect/grid.c detect/ground.c detect/ground.h detect/host.c detect/host.h detect/interval.c detect/judge.c detect/mbarrier.c detect/misuse.c detect/order.c detect/order.h detect/overrun.c detect/parity.c \
	detect/pass.h detect/past.c detect/phase.c detect/scan.c detect/screen.c detect/screen.h detect/seen.c detect/stream.c \
	detect/table.c detect/tensor.c detect/twin.c detect/uninit.c detect/word.c
detect_libparts_a_SOURCES = $(detect_sources)

detect_libparts_a_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden

noinst_DATA += detect/libdetect.a
CLEANFILES += detect/libdetect.a detect/libdetect.o
detect/libdetect.a: detect/libparts.a extent/libextent.a
	$(AM_V_AR)$(LD) -r -o detect/libdetect.o --whole-archive detect/libparts.a extent/libextent.a && \
	$(OBJCOPY) -w --keep-global-symbol='detect_*' --keep-global-symbol='screen_*' detect/libdetect.o && \
	rm -f $@ && $(AR) cr $@ detect/libdetect.o

detect/libdetect.o: detect/libdetect.a

check_PROGRAMS += testsuite/unit/bounds testsuite/unit/damaged
TESTS += testsuite/unit/bounds testsuite/unit/damaged
testsuite_unit_damaged_SOURCES = testsuite/unit/damaged.c
testsuite_unit_damaged_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_damaged_LDADD = detect/libdetect.a event/libevent.a $(CMOCKA_LIBS)
testsuite_unit_bounds_SOURCES = testsuite/unit/bounds.c
testsuite_unit_bounds_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_bounds_LDADD = extent/libextent.a event/libevent.a $(CMOCKA_LIBS)

check_PROGRAMS += testsuite/unit/host
TESTS += testsuite/unit/host
testsuite_unit_host_SOURCES = testsuite/unit/host.c
testsuite_unit_host_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_host_LDADD = detect/libdetect.a event/libevent.a $(CMOCKA_LIBS)
