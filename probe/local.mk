# SPDX-License-Identifier: Apache-2.0
#
# What is put into a kernel, so that it logs.

noinst_LIBRARIES += probe/libprobe.a
probe_libprobe_a_SOURCES = probe/emit.c probe/emit.h probe/probe.c probe/probe.h probe/site.c probe/site.h
nodist_probe_libprobe_a_SOURCES = probe/refill.h
BUILT_SOURCES += probe/refill.h
CLEANFILES += probe/refill.h
EXTRA_DIST += probe/refill.ptx

probe/refill.h: probe/refill.ptx
	$(AM_V_GEN)$(MKDIR_P) probe && { echo 'static const char probe_refill[] ='; \
	sed 's/\/\/.*//; s/["\\]/\\&/g; s/.*/	"&\\n"/' $(srcdir)/probe/refill.ptx; echo ';'; } >$@.tmp && mv $@.tmp $@
