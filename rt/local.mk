# SPDX-License-Identifier: Apache-2.0
#
# The runtime: libgsan.a for gsan-nvcc to link, libgsan.so to be preloaded.

lib_LIBRARIES += libgsan.a
include_HEADERS += rt/gsan.h

libgsan_a_SOURCES = \
	rt/entry.h rt/image.h rt/kinds.h rt/pairs.h rt/rti.h rt/drv.h rt/judge.h rt/register.h \
	rt/choices.def rt/flags.def rt/kinds.def rt/drv.def rt/between.def \
	rt/alloc.c rt/cache.c rt/call.c rt/chosen.c rt/clear.c rt/clear.h rt/clear_start.h rt/context.c rt/copy.c rt/copy.h rt/count.c rt/demangle.c rt/device.c rt/drv.c rt/end.c rt/event.c rt/flags.c rt/found.c rt/edges.c rt/edges.h rt/graph.c rt/moves.c rt/image.c rt/init.c \
	rt/rescue.c rt/rescue.h rt/slab.c rt/slab.h \
	rt/found.h rt/hang.c rt/hang.h rt/issue.c rt/judge.c rt/keep.c rt/libc.c rt/locate.c rt/log.c rt/made.c rt/mem.c rt/met.c rt/module.c rt/one.c rt/order.c rt/order.h rt/part.c rt/part.h rt/past.c rt/print.c \
	rt/register.c rt/screen.c rt/screen.h rt/seen.c rt/seen.h rt/spans.c rt/spans.h rt/stack.c rt/supp.c rt/symbol.c rt/symbol.h rt/tables.c rt/take.c rt/take.h rt/tell.c rt/tmap.c rt/tool.c rt/touch.c rt/touch.h rt/units.c rt/util.c rt/verdict.c rt/wait.c rt/way.c rt/why.c \
	$(event_libevent_a_SOURCES) $(log_liblog_a_SOURCES)
libgsan_a_LIBADD = detect/libdetect.o
libgsan_a_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden

# The screen as kernels, in libgsan: machine code of the devices in GPU_ARCHS, and PTX for others.
EXTRA_DIST += rt/clear.cu
CLEANFILES += rt/clear.fatbin
rt/clear.fatbin: rt/clear.cu rt/clear_start.h detect/screen.h detect/screen.c detect/global.c detect/interval.c detect/order.c detect/order.h detect/twin.c detect/bounds.h detect/ground.h \
		detect/memory.h detect/pass.h event/event.h event/region.h
	@$(MKDIR_P) rt
	$(AM_V_GEN)$(NVCC) -std=c++17 -O3 -I$(top_srcdir) -fatbin --no-compress -gencode arch=compute_80,code=compute_80 \
		`for a in $(GPU_ARCHS); do echo "-gencode arch=compute_$$a,code=sm_$$a"; done` -o $@ $(top_srcdir)/rt/clear.cu
rt/libgsan_a-clear.$(OBJEXT): rt/clear.fatbin

# The program that reads logs behind a fault, in libgsan as well.
noinst_PROGRAMS += rt/rescuer
rt_rescuer_SOURCES = rt/rescuer.c rt/rescue.h
rt_rescuer_LDFLAGS = $(AM_LDFLAGS) -s
rt/libgsan_a-rescue.$(OBJEXT): rt/rescuer

# The same objects; the hooks inside call each other's own, not whatever comes
# first in the process.
gsanlibdir = $(libdir)
gsanlib_DATA = $(gsan_so)
CLEANFILES += libgsan.so $(gsan_so)
EXTRA_DIST += rt/gsan.pc.in

# The number is that of what it exports: gsan.h's functions and the symbol of register.h.
gsan_so = libgsan.so.1
noinst_DATA += libgsan.so
libgsan.so: $(gsan_so)
	$(AM_V_GEN)$(LN_S) -f $(gsan_so) $@
# What a program that is linked with the archive cannot have: it may have an NVRTC of its own in it, and is no child of
# gsan-run that has to forget it.
noinst_LIBRARIES += rt/libpreload.a
rt_libpreload_a_SOURCES = rt/follow.c rt/jitlink.c rt/nvrtc.c
rt_libpreload_a_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden

$(gsan_so): libgsan.a rt/libpreload.a
	$(AM_V_CCLD)$(CC) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS) -shared -Wl,-Bsymbolic \
		-Wl,-soname,$(gsan_so) -o $@ -Wl,--whole-archive libgsan.a rt/libpreload.a -Wl,--no-whole-archive $(LIBS)

# The folders are those of `make install`, which may have others than configure.
pkgconfigdir = $(libdir)/pkgconfig
install-data-local: install-gsan-pc
uninstall-local: uninstall-gsan
.PHONY: install-gsan-pc uninstall-gsan
install-gsan-pc:
	$(MKDIR_P) '$(DESTDIR)$(pkgconfigdir)' '$(DESTDIR)$(libdir)'
	$(SED) -e 's|@prefix[@]|$(prefix)|g' -e 's|@exec_prefix[@]|$(exec_prefix)|g' \
		-e 's|@libdir[@]|$(libdir)|g' -e 's|@includedir[@]|$(includedir)|g' \
		-e 's|@bindir[@]|$(bindir)|g' -e 's|@VERSION[@]|$(VERSION)|g' \
		-e 's|@LIBS[@]|$(LIBS)|g' $(top_srcdir)/rt/gsan.pc.in >'$(DESTDIR)$(pkgconfigdir)/gsan.pc'
	cd '$(DESTDIR)$(libdir)' && $(LN_S) -f $(gsan_so) libgsan.so
uninstall-gsan:
	rm -f '$(DESTDIR)$(pkgconfigdir)/gsan.pc' '$(DESTDIR)$(libdir)/libgsan.so'

# Unit tests of what is pure.
if HAVE_CMOCKA
gsan_rt_unit = testsuite/unit/rt_flags testsuite/unit/rt_alloc testsuite/unit/rt_report testsuite/unit/rt_spans testsuite/unit/rt_stack
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
testsuite_unit_rt_spans_SOURCES = testsuite/unit/rt_spans.c
testsuite_unit_rt_spans_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_rt_spans_LDADD = libgsan.a $(CMOCKA_LIBS)
testsuite_unit_rt_stack_SOURCES = testsuite/unit/rt_stack.c
testsuite_unit_rt_stack_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_rt_stack_LDADD = libgsan.a $(CMOCKA_LIBS)
endif

# Tests of the runtime over a pretended driver.
gsan_rt_tests = testsuite/rt/calls.sh testsuite/rt/report.sh testsuite/rt/options.sh testsuite/rt/memory.sh testsuite/rt/graphs.sh testsuite/rt/logs.sh \
	testsuite/rt/life.sh testsuite/rt/shared.sh testsuite/rt/exports.sh testsuite/rt/asked.sh
gsan_rt_fake = testsuite/rt/fake.c testsuite/rt/fake_graph.c testsuite/rt/fake_kernel.c testsuite/rt/fake_memory.c \
	testsuite/rt/fake_module.c testsuite/rt/fake_screen.c testsuite/rt/fake_stream.c
gsan_rt_fake_headers = testsuite/rt/fake.h testsuite/rt/fake_impl.h
EXTRA_DIST += $(gsan_rt_tests) testsuite/rt/lib.sh $(gsan_rt_fake) $(gsan_rt_fake_headers) \
	testsuite/rt/every.c testsuite/rt/asked.c testsuite/rt/unhooked \
	testsuite/rt/asked/cudart-11.8 testsuite/rt/asked/cudart-12.0 testsuite/rt/asked/cudart-12.4 \
	testsuite/rt/asked/cudart-12.9 testsuite/rt/asked/cudart-13.0
check_PROGRAMS += testsuite/rt/calls testsuite/rt/calls_plain testsuite/rt/prog testsuite/rt/prog_last testsuite/rt/prog_plain \
	testsuite/rt/prog_weak
check_DATA += testsuite/rt/libcuda.so.1 libgsan.so
TESTS += $(gsan_rt_tests)
CLEANFILES += testsuite/rt/libcuda.so.1

# What they share with others is not seen from outside.
testsuite/rt/libcuda.so.1: $(gsan_rt_fake) $(gsan_rt_fake_headers) $(event_libevent_a_SOURCES)
	@$(MKDIR_P) testsuite/rt
	$(AM_V_CCLD)$(CC) $(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) \
		$(LDFLAGS) -fvisibility=hidden -shared -Wl,-soname,libcuda.so.1 -o $@ \
		$(addprefix $(top_srcdir)/,$(gsan_rt_fake) event/event.c) -lpthread

# As gsan-nvcc links, as CMake does (the runtime last), without the runtime, and
# with options in the program.
gsan_rt_wanted = $(AM_LDFLAGS) -Wl,-u,__gsan_v1_runtime_missing__link_with_gsan_nvcc_or_preload_libgsan
testsuite_rt_prog_SOURCES = testsuite/rt/prog.c testsuite/rt/prog.h testsuite/rt/prog_graph.c testsuite/rt/prog_module.c \
	$(gsan_rt_fake_headers)
testsuite_rt_prog_LDFLAGS = $(gsan_rt_wanted)
testsuite_rt_prog_LDADD = libgsan.a testsuite/rt/libcuda.so.1
testsuite_rt_calls_SOURCES = testsuite/rt/calls.c testsuite/rt/prog.h testsuite/rt/prog_module.c $(gsan_rt_fake_headers)
testsuite_rt_calls_LDFLAGS = $(gsan_rt_wanted)
testsuite_rt_calls_LDADD = libgsan.a testsuite/rt/libcuda.so.1
testsuite_rt_calls_plain_SOURCES = $(testsuite_rt_calls_SOURCES)
testsuite_rt_calls_plain_CPPFLAGS = $(AM_CPPFLAGS) -DPLAIN
testsuite_rt_calls_plain_LDADD = testsuite/rt/libcuda.so.1
testsuite_rt_prog_last_SOURCES = $(testsuite_rt_prog_SOURCES)
testsuite_rt_prog_last_LDFLAGS = $(gsan_rt_wanted)
testsuite_rt_prog_last_LDADD = testsuite/rt/libcuda.so.1 libgsan.a
testsuite_rt_prog_plain_SOURCES = $(testsuite_rt_prog_SOURCES)
testsuite_rt_prog_plain_CPPFLAGS = $(AM_CPPFLAGS) -DPLAIN
testsuite_rt_prog_plain_LDADD = testsuite/rt/libcuda.so.1
testsuite_rt_prog_weak_SOURCES = $(testsuite_rt_prog_SOURCES)
testsuite_rt_prog_weak_CPPFLAGS = $(AM_CPPFLAGS) -DWEAK
testsuite_rt_prog_weak_LDFLAGS = $(gsan_rt_wanted)
testsuite_rt_prog_weak_LDADD = libgsan.a testsuite/rt/libcuda.so.1
