# SPDX-License-Identifier: Apache-2.0
#
# The runtime: libgsan.a for gsan-nvcc to link, libgsan.so to be preloaded, and
# the device's part.

include $(top_srcdir)/rt/device/local.mk

lib_LIBRARIES += libgsan.a
include_HEADERS += rt/gsan.h

libgsan_a_SOURCES = \
	rt/abi.h rt/state.h rt/rti.h rt/drv.h rt/register.h \
	rt/flags.def rt/kinds.def rt/drv.def \
	rt/alloc.c rt/collect.c rt/context.c rt/demangle.c rt/drv.c rt/flags.c rt/init.c \
	rt/launch.c rt/log.c rt/mem.c rt/module.c rt/print.c rt/register.c rt/shadow.c \
	rt/supp.c rt/util.c rt/watch.c
libgsan_a_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden

# The same objects; the hooks inside call each other's own, not whatever comes
# first in the process.
gsanlibdir = $(libdir)
gsanlib_DATA = libgsan.so
CLEANFILES += libgsan.so rt/gsan.pc
EXTRA_DIST += rt/gsan.pc.in

libgsan.so: libgsan.a
	$(AM_V_CCLD)$(CC) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS) -shared -Wl,-Bsymbolic \
		-Wl,-soname,libgsan.so -o $@ -Wl,--whole-archive libgsan.a -Wl,--no-whole-archive $(LIBS)

pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = rt/gsan.pc

rt/gsan.pc: rt/gsan.pc.in Makefile
	@$(MKDIR_P) rt
	$(AM_V_GEN)$(SED) -e 's|@prefix[@]|$(prefix)|g' -e 's|@exec_prefix[@]|$(exec_prefix)|g' \
		-e 's|@libdir[@]|$(libdir)|g' -e 's|@includedir[@]|$(includedir)|g' \
		-e 's|@bindir[@]|$(bindir)|g' -e 's|@VERSION[@]|$(VERSION)|g' \
		-e 's|@LIBS[@]|$(LIBS)|g' $(top_srcdir)/rt/gsan.pc.in >$@.tmp
	$(AM_V_at)mv $@.tmp $@

# Unit tests of what is pure.
if HAVE_CMOCKA
gsan_rt_unit = testsuite/unit/rt_flags testsuite/unit/rt_alloc testsuite/unit/rt_report
check_PROGRAMS += $(gsan_rt_unit)
TESTS += $(gsan_rt_unit)
testsuite_unit_rt_flags_SOURCES = testsuite/unit/rt_flags.c
testsuite_unit_rt_flags_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_rt_flags_LDADD = libgsan.a $(CMOCKA_LIBS)
testsuite_unit_rt_alloc_SOURCES = testsuite/unit/rt_alloc.c
testsuite_unit_rt_alloc_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_rt_alloc_LDADD = libgsan.a $(CMOCKA_LIBS)
testsuite_unit_rt_report_SOURCES = testsuite/unit/rt_report.c
testsuite_unit_rt_report_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_rt_report_LDADD = libgsan.a $(CMOCKA_LIBS)
endif
