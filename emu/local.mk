# SPDX-License-Identifier: Apache-2.0
#
# The emulated device: libcuda.so.1, found by those who ask for it, and installed where
# no linker looks.  Its entry points are all that it exports.

include $(top_srcdir)/emu/alu.mk

EMU_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden $(UNPACK_CFLAGS)
noinst_LIBRARIES += emu/libemu.a
emu_libemu_a_CFLAGS = $(EMU_CFLAGS)
emu_libemu_a_SOURCES = emu/emu.h emu/api.h emu/access.h emu/listen.h emu/listen.c \
	emu/mem.c emu/load.c emu/decode.c emu/regs.c emu/grid.c emu/sched.c emu/hang.c emu/spin.c emu/where.c emu/stepwise.c \
	emu/exec.c emu/source.c emu/profile.c emu/timing.c emu/icache.c emu/exec_fast.c emu/exec_mem.c emu/exec_atom.c emu/exec_ctl.c \
	emu/exec_sync.c emu/exec_warp.c emu/exec_space.c emu/exec_mat.c \
	emu/exec_mbar.c emu/async.h emu/async.c emu/weak.c emu/exec_async.c emu/exec_bulk.c \
	emu/tmap.h emu/tmap.c emu/exec_tensor.c emu/exec_launch.c emu/matdesc.h emu/exec_wgmma.c \
	emu/tcgen05.h emu/dec_tcgen05.c emu/exec_tcgen05.c emu/tc_reach.c emu/printf.c \
	emu/ctx.c emu/stream.c emu/module.c emu/launch.c emu/alloc.c emu/copy.c \
	emu/vmm.c emu/proc.c emu/fatbin.h emu/fatbin.c emu/graph.h emu/graph.c emu/graph_node.c emu/capture.c \
	emu/pool.c \
	emu/events.h emu/events_impl.h emu/events.c emu/events_site.c emu/events_log.c \
	emu/events_tell.c emu/events_async.c \
	emu/oracle.h emu/oracle_impl.h emu/oracle_clock.c emu/oracle_sync.c emu/oracle_sc.c \
	emu/oracle_phase.c emu/oracle_async.c emu/oracle_bounds.c emu/oracle_race.c emu/oracle_hook.c \
	emu/oracle_tell.c emu/oracle_host.c emu/oracle_map.c emu/oracle_say.c

emulatedlibdir = $(pkglibdir)/emu
emulatedlib_DATA = emu/libcuda.so.1
CLEANFILES += emu/libcuda.so.1
emu/libcuda.so.1: emu/libemu.a emu/libalu.a probe/libprobe.a event/libevent.a ptxparse/libptxparse.a
	$(AM_V_CCLD)$(CC) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS) -shared \
		-Wl,-soname,libcuda.so.1 -Wl,--exclude-libs,libalu.a:libprobe.a:libevent.a:libptxparse.a \
		-o $@ -Wl,--whole-archive emu/libemu.a -Wl,--no-whole-archive \
		emu/libalu.a probe/libprobe.a event/libevent.a ptxparse/libptxparse.a $(UNPACK_LIBS) -lpthread -lm

emu_libs = emu/libemu.a emu/libalu.a probe/libprobe.a event/libevent.a ptxparse/libptxparse.a $(UNPACK_LIBS) -lpthread -lm
noinst_PROGRAMS += emu/bench
emu_bench_SOURCES = emu/bench.c
emu_bench_LDADD = $(emu_libs)

if HAVE_CMOCKA
emu_unit = testsuite/unit/emu_fast testsuite/unit/emu_run testsuite/unit/emu_api \
	testsuite/unit/emu_async testsuite/unit/emu_tensor testsuite/unit/emu_cluster \
	testsuite/unit/emu_wgmma testsuite/unit/emu_tcgen05 testsuite/unit/emu_listen testsuite/unit/emu_oracle
check_PROGRAMS += $(emu_unit)
TESTS += $(emu_unit)
testsuite_unit_emu_fast_SOURCES = testsuite/unit/emu_fast.c
testsuite_unit_emu_fast_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_emu_fast_LDADD = $(emu_libs) $(CMOCKA_LIBS)
testsuite_unit_emu_run_SOURCES = testsuite/unit/emu_run.c testsuite/unit/emu_test.h
testsuite_unit_emu_run_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_emu_run_LDADD = $(emu_libs) $(CMOCKA_LIBS)
testsuite_unit_emu_api_SOURCES = testsuite/unit/emu_api.c testsuite/unit/emu_test.h
testsuite_unit_emu_api_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_emu_api_LDADD = $(emu_libs) $(CMOCKA_LIBS)
testsuite_unit_emu_async_SOURCES = testsuite/unit/emu_async.c testsuite/unit/emu_test.h
testsuite_unit_emu_async_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_emu_async_LDADD = $(emu_libs) $(CMOCKA_LIBS)
testsuite_unit_emu_tensor_SOURCES = testsuite/unit/emu_tensor.c testsuite/unit/emu_test.h
testsuite_unit_emu_tensor_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_emu_tensor_LDADD = $(emu_libs) $(CMOCKA_LIBS)
testsuite_unit_emu_cluster_SOURCES = testsuite/unit/emu_cluster.c testsuite/unit/emu_test.h
testsuite_unit_emu_cluster_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_emu_cluster_LDADD = $(emu_libs) $(CMOCKA_LIBS)
testsuite_unit_emu_wgmma_SOURCES = testsuite/unit/emu_wgmma.c testsuite/unit/emu_test.h testsuite/unit/emu_matrix.h
testsuite_unit_emu_wgmma_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_emu_wgmma_LDADD = $(emu_libs) $(CMOCKA_LIBS)
testsuite_unit_emu_tcgen05_SOURCES = testsuite/unit/emu_tcgen05.c testsuite/unit/emu_test.h testsuite/unit/emu_matrix.h
testsuite_unit_emu_tcgen05_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_emu_tcgen05_LDADD = $(emu_libs) $(CMOCKA_LIBS)
testsuite_unit_emu_listen_SOURCES = testsuite/unit/emu_listen.c testsuite/unit/emu_test.h
testsuite_unit_emu_listen_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_emu_listen_LDADD = $(emu_libs) $(CMOCKA_LIBS)
testsuite_unit_emu_oracle_SOURCES = testsuite/unit/emu_oracle.c testsuite/unit/emu_test.h
testsuite_unit_emu_oracle_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_emu_oracle_LDADD = $(emu_libs) $(CMOCKA_LIBS)
endif
