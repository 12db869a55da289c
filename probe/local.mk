# SPDX-License-Identifier: Apache-2.0
#
# What is put into a kernel, so that it logs.

noinst_LIBRARIES += probe/libprobe.a
probe_libprobe_a_SOURCES = probe/access.c probe/alone.c probe/async.c probe/bits.c probe/bits.h probe/derive.c probe/derive.h probe/emit.c probe/emit.h probe/flow.c probe/flow.h \
	probe/module.c probe/module.h probe/outside.c probe/outside.h probe/perturb.c probe/perturb.h probe/place.c probe/place.h probe/plan.c probe/plan.h probe/probe.c probe/probe.h \
	probe/shape.c probe/site.c probe/site.h probe/sync.c probe/tensor.c
nodist_probe_libprobe_a_SOURCES = probe/text.h
BUILT_SOURCES += probe/text.h
probe/emit.$(OBJEXT) probe/perturb.$(OBJEXT): probe/text.h
CLEANFILES += probe/text.h
probe_texts = probe/start.ptx probe/rows.ptx probe/slot.ptx probe/place.ptx probe/place_cluster.ptx probe/refill.ptx \
	probe/lane.ptx probe/save.ptx probe/load.ptx probe/hash.ptx probe/perturb.ptx
EXTRA_DIST += $(probe_texts)

# place.ptx as the string probe_place, and so on.
probe/text.h: $(probe_texts)
	$(AM_V_GEN)$(MKDIR_P) probe && for i in $(probe_texts); do \
		echo "static const char probe_`basename $$i .ptx`[] __attribute__((unused)) =" && \
		sed 's/\/\/.*//; s/["\\]/\\&/g; s/.*/	"&\\n"/' $(srcdir)/$$i && echo ';' || exit 1; \
	done >$@.tmp && mv $@.tmp $@

# Puts probes into a file, to look at.
noinst_PROGRAMS += probe/put
probe_put_SOURCES = probe/main.c
probe_put_LDADD = probe/libprobe.a event/libevent.a ptxparse/libptxparse.a

if HAVE_CMOCKA
check_PROGRAMS += testsuite/unit/unwatched
TESTS += testsuite/unit/unwatched
testsuite_unit_unwatched_SOURCES = testsuite/unit/unwatched.c testsuite/unit/emu_test.h
testsuite_unit_unwatched_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_unwatched_LDADD = $(emu_libs) $(CMOCKA_LIBS)
endif
