# SPDX-License-Identifier: Apache-2.0
#
# Which bytes an instruction touches: boxes of tensor maps, matrices, tensor memory.

noinst_LIBRARIES += extent/libextent.a
extent_libextent_a_SOURCES = extent/extent.h extent/tensor.c extent/matrix.c
extent_libextent_a_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden

if HAVE_CMOCKA
check_PROGRAMS += testsuite/unit/extent
TESTS += testsuite/unit/extent
testsuite_unit_extent_SOURCES = testsuite/unit/extent.c
testsuite_unit_extent_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_extent_LDADD = extent/libextent.a event/libevent.a $(CMOCKA_LIBS)
endif
